//! Container format of all binary files of an index: named sections, each with a digest.
//!
//! A file begins with 16 bytes of magic and 4 of version. Sections follow, aligned so that numbers can be read in place
//! from the memory map. At the end are a table of the sections in JSON and a trailer with its length and digest. Opening a
//! file checks header, trailer and table; [`Sections::verify`] reads every byte.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use bytemuck::Pod;
use serde::{Deserialize, Serialize};
use tidings_mapped::{FileState, Mapped};
use tidings_storage::AtomicFile;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::error::{Error, IoContext, Result, damaged};

/// Kinds of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileKind {
    Segment,
    Lexicon,
    Deleted,
}

/// First version of all kinds; what needs no newer one is written in this.
pub(crate) const FIRST: u32 = 1;
/// Version of lexicon segments with features.
pub(crate) const WITH_FEATS: u32 = 2;
/// Version of lexicon segments with further layers and of segments with spans.
pub(crate) const WITH_LAYERS: u32 = 3;
/// Newest version that is read.
const NEWEST: u32 = WITH_LAYERS;
const HEADER_BYTES: usize = 32;
const TRAILER_BYTES: usize = 32;
const TRAILER_MAGIC: &[u8; 8] = b"tidings.";
/// Alignment of the widest number that is read in place.
const ALIGNMENT: u64 = 16;

impl FileKind {
    fn magic(self) -> &'static [u8; 16] {
        match self {
            FileKind::Segment => b"tidings segment\n",
            FileKind::Lexicon => b"tidings lexicon\n",
            FileKind::Deleted => b"tidings removed\n",
        }
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct Entry {
    name: String,
    at: u64,
    bytes: u64,
    xxh3: String,
}

/// Writer of a file; the file appears whole or not at all.
pub(crate) struct SectionWriter {
    draft: AtomicFile,
    at: u64,
    entries: Vec<Entry>,
    digest: Xxh3,
}

impl SectionWriter {
    pub(crate) fn create(path: &Path, kind: FileKind) -> Result<SectionWriter> {
        SectionWriter::create_as(path, kind, FIRST)
    }

    /// Begins a file of a version.
    pub(crate) fn create_as(path: &Path, kind: FileKind, version: u32) -> Result<SectionWriter> {
        let mut draft = AtomicFile::create(path)?;
        let mut header = [0; HEADER_BYTES];
        header[..16].copy_from_slice(kind.magic());
        header[16..20].copy_from_slice(&version.to_le_bytes());
        draft.write(&header)?;
        Ok(SectionWriter { draft, at: HEADER_BYTES as u64, entries: Vec::new(), digest: Xxh3::new() })
    }

    /// Begins a section, to which the next writes belong.
    pub(crate) fn begin(&mut self, name: &str) -> Result<()> {
        self.seal();
        let padding = (ALIGNMENT - self.at % ALIGNMENT) % ALIGNMENT;
        self.draft.write(&[0; ALIGNMENT as usize][..padding as usize])?;
        self.at += padding;
        self.entries.push(Entry { name: name.to_owned(), at: self.at, bytes: 0, xxh3: String::new() });
        self.digest.reset();
        Ok(())
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.digest.update(bytes);
        self.at += bytes.len() as u64;
        Ok(self.draft.write(bytes)?)
    }

    /// A whole section of numbers or bytes.
    pub(crate) fn section<T: Pod>(&mut self, name: &str, values: &[T]) -> Result<()> {
        self.begin(name)?;
        self.write(bytemuck::cast_slice(values))
    }

    fn seal(&mut self) {
        if let Some(entry) = self.entries.last_mut() {
            entry.bytes = self.at - entry.at;
            entry.xxh3 = format!("{:016x}", self.digest.digest());
        }
    }

    /// Ends the file and publishes it durably under its name; returns its size in bytes.
    pub(crate) fn publish(mut self) -> Result<u64> {
        self.seal();
        let table = serde_json::to_vec(&self.entries).expect("plain values");
        let mut trailer = [0; TRAILER_BYTES];
        trailer[..8].copy_from_slice(&(table.len() as u64).to_le_bytes());
        trailer[8..16].copy_from_slice(&xxh3_64(&table).to_le_bytes());
        trailer[16..24].copy_from_slice(&(self.at + (table.len() + TRAILER_BYTES) as u64).to_le_bytes());
        trailer[24..].copy_from_slice(TRAILER_MAGIC);
        self.draft.write(&table)?;
        self.draft.write(&trailer)?;
        self.draft.publish()?;
        Ok(self.at + (table.len() + TRAILER_BYTES) as u64)
    }
}

/// A file of sections, open for reading.
#[derive(Debug)]
pub(crate) struct Sections {
    path: PathBuf,
    map: Mapped,
    table: BTreeMap<String, (Range<usize>, String)>,
}

impl Sections {
    pub(crate) fn open(path: &Path, kind: FileKind) -> Result<Sections> {
        let map = Mapped::open(path).context("open", path)?;
        if map.len() < 20 || map[..16] != kind.magic()[..] {
            return Err(Error::Foreign { path: path.to_owned() });
        }
        let version = u32::from_le_bytes([map[16], map[17], map[18], map[19]]);
        if version > NEWEST {
            return Err(Error::Newer { path: path.to_owned(), found: version, known: NEWEST });
        }
        let table = Sections::read_table(path, &map)?;
        Ok(Sections { path: path.to_owned(), map, table })
    }

    fn read_table(path: &Path, map: &[u8]) -> Result<BTreeMap<String, (Range<usize>, String)>> {
        let Some(end) = map.len().checked_sub(TRAILER_BYTES).filter(|end| *end >= HEADER_BYTES) else {
            return damaged(path, "truncated");
        };
        let number =
            |at: usize| u64::from_le_bytes(map[end + at..end + at + 8].try_into().expect("the slice has eight bytes"));
        if map[end + 24..] != TRAILER_MAGIC[..] || number(16) != map.len() as u64 {
            return damaged(path, "wrong length");
        }
        let start = usize::try_from(number(0)).ok().and_then(|bytes| end.checked_sub(bytes));
        let Some(text) = start.filter(|start| *start >= HEADER_BYTES).map(|start| &map[start..end]) else {
            return damaged(path, "the section table is out of bounds");
        };
        if xxh3_64(text) != number(8) {
            return damaged(path, "digest mismatch in the section table");
        }
        let entries: Vec<Entry> = serde_json::from_slice(text)
            .map_err(|fault| Error::Damaged { path: path.to_owned(), fault: fault.to_string() })?;
        let mut table = BTreeMap::new();
        for entry in entries {
            let range = usize::try_from(entry.at)
                .ok()
                .zip(usize::try_from(entry.bytes).ok())
                .and_then(|(at, bytes)| Some(at..at.checked_add(bytes)?));
            match range {
                Some(range) if range.end <= map.len() => table.insert(entry.name, (range, entry.xxh3)),
                _ => return damaged(path, format!("the section {} is out of bounds", entry.name)),
            };
        }
        Ok(table)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The state of the file on disk.
    pub(crate) fn state(&self) -> FileState {
        self.map.state(&self.path)
    }

    pub(crate) fn bytes_on_disk(&self) -> u64 {
        self.map.len() as u64
    }

    /// Returns true if a section exists.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.table.contains_key(name)
    }

    /// Range of a section; an error if there is none.
    pub(crate) fn find(&self, name: &str) -> Result<Range<usize>> {
        match self.table.get(name) {
            Some((range, _)) => Ok(range.clone()),
            None => damaged(&self.path, format!("the section {name} is missing")),
        }
    }

    /// Range of a section of `count` numbers.
    pub(crate) fn find_numbers<T: Pod>(&self, name: &str, count: usize) -> Result<Range<usize>> {
        let range = self.find(name)?;
        let sound = bytemuck::try_cast_slice::<u8, T>(&self.map[range.clone()]).is_ok_and(|all| all.len() == count);
        if sound { Ok(range) } else { damaged(&self.path, format!("the section {name} has the wrong size")) }
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = (&str, usize)> {
        self.table.iter().map(|(name, (range, _))| (name.as_str(), range.len()))
    }

    pub(crate) fn bytes(&self, range: &Range<usize>) -> &[u8] {
        &self.map[range.clone()]
    }

    /// The numbers of a section that [`Sections::find_numbers`] found.
    #[inline]
    pub(crate) fn numbers<T: Pod>(&self, range: &Range<usize>) -> &[T] {
        bytemuck::try_cast_slice(&self.map[range.clone()]).unwrap_or_default()
    }

    /// Parses a section in JSON. Its digest is checked, because the layout of the other sections
    /// depends on it.
    pub(crate) fn json<T: for<'de> Deserialize<'de>>(&self, name: &str) -> Result<T> {
        self.check(name)?;
        serde_json::from_slice(self.bytes(&self.find(name)?))
            .map_err(|fault| Error::Damaged { path: self.path.clone(), fault: fault.to_string() })
    }

    /// Compares a section with its digest.
    pub(crate) fn check(&self, name: &str) -> Result<()> {
        match self.table.get(name) {
            Some((range, digest)) if format!("{:016x}", xxh3_64(&self.map[range.clone()])) == *digest => Ok(()),
            Some(_) => damaged(&self.path, format!("digest mismatch in the section {name}")),
            None => damaged(&self.path, format!("the section {name} is missing")),
        }
    }

    /// Reads every byte and checks all digests.
    pub(crate) fn verify(&self) -> Result<()> {
        self.table.keys().try_for_each(|name| self.check(name))
    }
}

#[cfg(test)]
mod tests;
