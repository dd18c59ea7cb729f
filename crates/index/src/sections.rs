//! Container format of all binary files of an index: named sections, each with a digest.
//!
//! A file begins with 16 bytes of magic and 4 of version. Sections follow, aligned so that numbers can be read in place
//! from the memory map. At the end are a table of the sections in JSON and a trailer with its length and digest. Opening a
//! file checks header, trailer and table; [`CheckedSlice`] checks each block of a section when it is first read, with the
//! digests of [`block_sums`] or, without them, with that of the section; [`Sections::verify`] reads every byte.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering::Release};

use bytemuck::Pod;
use serde::{Deserialize, Serialize};
use tidings_mapped::{FileState, Mapped};
use tidings_storage::AtomicFile;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::block_sums::{self, BlockHasher, blocks_for};
use crate::checked::{CHECK_BYTES, CheckedSlice};
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
    path: PathBuf,
    draft: AtomicFile,
    at: u64,
    entries: Vec<Entry>,
    digest: Xxh3,
    blocks: BlockHasher,
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
        Ok(SectionWriter {
            path: path.to_owned(),
            draft,
            at: HEADER_BYTES as u64,
            entries: Vec::new(),
            digest: Xxh3::new(),
            blocks: BlockHasher::default(),
        })
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
        self.blocks.write(bytes);
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
        self.blocks.end_section();
    }

    /// Ends the file and publishes it durably under its name, then the digests of its blocks; returns its size in bytes.
    pub(crate) fn publish(mut self) -> Result<u64> {
        self.seal();
        let table = serde_json::to_vec(&self.entries).expect("plain values");
        let table_digest = xxh3_64(&table);
        let mut trailer = [0; TRAILER_BYTES];
        trailer[..8].copy_from_slice(&(table.len() as u64).to_le_bytes());
        trailer[8..16].copy_from_slice(&table_digest.to_le_bytes());
        trailer[16..24].copy_from_slice(&(self.at + (table.len() + TRAILER_BYTES) as u64).to_le_bytes());
        trailer[24..].copy_from_slice(TRAILER_MAGIC);
        self.draft.write(&table)?;
        self.draft.write(&trailer)?;
        self.draft.publish()?;
        self.blocks.publish(&self.path, table_digest)?;
        Ok(self.at + (table.len() + TRAILER_BYTES) as u64)
    }
}

/// A section of an open file. The default is a section that the file does not have; it reads as empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SectionId(usize);

impl Default for SectionId {
    fn default() -> SectionId {
        SectionId(usize::MAX)
    }
}

#[derive(Debug)]
struct Section {
    name: String,
    range: Range<usize>,
    /// Digest of all bytes; `None`, which matches nothing, if the table has no number there.
    digest: Option<u64>,
    /// Number of its first block among all blocks of the file.
    first_block: usize,
}

impl Section {
    fn blocks(&self) -> Range<usize> {
        self.first_block..self.first_block + blocks_for(self.range.len())
    }
}

/// A file of sections, open for reading.
#[derive(Debug)]
pub(crate) struct Sections {
    path: PathBuf,
    map: Mapped,
    /// Sorted by name.
    sections: Vec<Section>,
    table_digest: u64,
    /// Blocks of all sections that were compared with their digests.
    checked: Box<[AtomicBool]>,
    /// Digests of the blocks of all sections in the order of the file; `None` if they cannot be read.
    sums: OnceLock<Option<Vec<u64>>>,
    /// The first section with a block that differs from its digest.
    damage: OnceLock<String>,
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
        let (mut sections, table_digest) = Sections::read_table(path, &map)?;
        let blocks = sections.last().map_or(0, |section| section.blocks().end);
        sections.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(Sections {
            path: path.to_owned(),
            map,
            sections,
            table_digest,
            checked: (0..blocks).map(|_| AtomicBool::new(false)).collect(),
            sums: OnceLock::new(),
            damage: OnceLock::new(),
        })
    }

    /// Reads the sections in the order of the file, and the digest of their table.
    fn read_table(path: &Path, map: &[u8]) -> Result<(Vec<Section>, u64)> {
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
        let mut sections: Vec<Section> = Vec::with_capacity(entries.len());
        for entry in entries {
            let range = usize::try_from(entry.at)
                .ok()
                .zip(usize::try_from(entry.bytes).ok())
                .and_then(|(at, bytes)| Some(at..at.checked_add(bytes)?));
            let Some(range) = range.filter(|range| range.end <= map.len()) else {
                return damaged(path, format!("the section {} is out of bounds", entry.name));
            };
            let first_block = sections.last().map_or(0, |before| before.blocks().end);
            let digest = u64::from_str_radix(&entry.xxh3, 16).ok();
            sections.push(Section { name: entry.name, range, digest, first_block });
        }
        Ok((sections, number(8)))
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

    fn section_named(&self, name: &str) -> Option<SectionId> {
        self.sections.binary_search_by(|section| section.name.as_str().cmp(name)).ok().map(SectionId)
    }

    /// Returns true if a section exists.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.section_named(name).is_some()
    }

    /// A section; an error if there is none.
    pub(crate) fn find(&self, name: &str) -> Result<SectionId> {
        match self.section_named(name) {
            Some(section) => Ok(section),
            None => damaged(&self.path, format!("the section {name} is missing")),
        }
    }

    /// A section of `count` numbers.
    pub(crate) fn find_numbers<T: Pod>(&self, name: &str, count: usize) -> Result<SectionId> {
        let section = self.find(name)?;
        let bytes = &self.map[self.sections[section.0].range.clone()];
        let is_sound = bytemuck::try_cast_slice::<u8, T>(bytes).is_ok_and(|all| all.len() == count);
        if is_sound { Ok(section) } else { damaged(&self.path, format!("the section {name} has the wrong size")) }
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = (&str, usize)> {
        self.sections.iter().map(|section| (section.name.as_str(), section.range.len()))
    }

    /// The bytes of a section.
    #[inline]
    pub(crate) fn bytes(&self, section: SectionId) -> CheckedSlice<'_, u8> {
        self.numbers(section)
    }

    /// The numbers of a section that [`Sections::find_numbers`] found.
    #[inline]
    pub(crate) fn numbers<T: Pod>(&self, section: SectionId) -> CheckedSlice<'_, T> {
        let Some(found) = self.sections.get(section.0) else { return CheckedSlice::default() };
        let values = bytemuck::try_cast_slice(&self.map[found.range.clone()]).unwrap_or_default();
        CheckedSlice::of_section(values, &self.checked[found.blocks()], (self, section))
    }

    /// All numbers of a section, compared with its digest at once.
    pub(crate) fn whole<T: Pod>(&self, section: SectionId) -> Result<&[T]> {
        let found = &self.sections[section.0];
        self.check_section(found)?;
        Ok(bytemuck::try_cast_slice(&self.map[found.range.clone()]).unwrap_or_default())
    }

    /// The numbers of a section that was compared with its digest when the file was opened.
    #[inline]
    pub(crate) fn known_numbers<T: Pod>(&self, section: SectionId) -> &[T] {
        let range = self.sections[section.0].range.clone();
        bytemuck::try_cast_slice(&self.map[range]).unwrap_or_default()
    }

    /// Parses a section in JSON. Its digest is checked, because the layout of the other sections
    /// depends on it.
    pub(crate) fn json<T: for<'de> Deserialize<'de>>(&self, name: &str) -> Result<T> {
        serde_json::from_slice(self.whole(self.find(name)?)?)
            .map_err(|fault| Error::Damaged { path: self.path.clone(), fault: fault.to_string() })
    }

    /// Compares a section with its digest.
    fn check_section(&self, section: &Section) -> Result<()> {
        if section.digest != Some(xxh3_64(&self.map[section.range.clone()])) {
            let fault = format!("digest mismatch in the section {}", section.name);
            return damaged(&self.path, self.damage.get_or_init(|| fault));
        }
        self.checked[section.blocks()].iter().for_each(|is_checked| is_checked.store(true, Release));
        Ok(())
    }

    /// Compares a block of a section with its digest, or the whole section without digests of blocks. A difference is
    /// recorded; see [`Sections::intact`].
    pub(crate) fn check_block(&self, section: SectionId, block: usize) {
        let section = &self.sections[section.0];
        let number = section.first_block + block;
        if self.damage.get().is_some() {
            return self.checked[number].store(true, Release); // One difference is enough.
        }
        if section.blocks().len() > 1
            && let Some(sum) = self.sums().and_then(|sums| sums.get(number))
        {
            let start = section.range.start + block * CHECK_BYTES;
            if xxh3_64(&self.map[start..section.range.end.min(start + CHECK_BYTES)]) == *sum {
                return self.checked[number].store(true, Release);
            }
        }
        // The digest of the section decides; the blocks only save reading all of it.
        if self.check_section(section).is_err() {
            self.checked[number].store(true, Release);
        }
    }

    fn sums(&self) -> Option<&[u64]> {
        let read = || block_sums::read(&self.path, self.table_digest, self.checked.len());
        self.sums.get_or_init(read).as_deref()
    }

    /// Returns an error if a block that was read differs from its digest.
    #[inline]
    pub(crate) fn intact(&self) -> Result<()> {
        match self.damage.get() {
            None => Ok(()),
            Some(fault) => damaged(&self.path, fault),
        }
    }

    /// Forgets which blocks were checked, so that they are checked again when they are read.
    pub(crate) fn forget_checks(&self) {
        self.checked.iter().for_each(|is_checked| is_checked.store(false, Release));
    }

    /// Reads every byte and checks all digests.
    pub(crate) fn verify(&self) -> Result<()> {
        self.sections.iter().try_for_each(|section| self.check_section(section))
    }

    /// Verifies the file and writes the digests of its blocks, if it needs some and has none: those of an older version
    /// and of an interrupted writer have none.
    pub(crate) fn write_missing_sums(&self) -> Result<()> {
        let is_long = |section: &Section| section.blocks().len() > 1;
        if !self.sections.iter().any(is_long) || self.sums().is_some() {
            return Ok(());
        }
        self.verify()?;
        let mut blocks = BlockHasher::default();
        let mut in_file: Vec<&Section> = self.sections.iter().collect();
        in_file.sort_by_key(|section| section.first_block);
        for section in in_file {
            blocks.write(&self.map[section.range.clone()]);
            blocks.end_section();
        }
        blocks.publish(&self.path, self.table_digest)
    }
}

#[cfg(test)]
mod tests;
