//! The directory of a ZIP file, as needed for WACZ: the archives in it and their positions.
//!
//! WACZ is a ZIP file of WARC files, their indexes and lists of pages. Only names, positions and two compression
//! methods are supported, no encryption and no split files.

use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use tidings_storage::Source;

use crate::error::{Context, Error, Result};

const END: [u8; 4] = *b"PK\x05\x06";
const END_64: [u8; 4] = *b"PK\x06\x06";
const LOCATOR_64: [u8; 4] = *b"PK\x06\x07";
const CENTRAL: [u8; 4] = *b"PK\x01\x02";
const LOCAL: [u8; 4] = *b"PK\x03\x04";

/// The size of the end record with the longest comment.
const END_BYTES: u64 = 22 + 65_535 + 20;
/// A directory is at most this large.
const MAX_DIRECTORY_BYTES: u64 = 64 << 20;
/// The marker of an offset or size that is in the ZIP64 extra field.
const ELSEWHERE: u32 = u32::MAX;

/// A file inside of a ZIP file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// Its size, packed.
    pub bytes: u64,
    /// The offset of its local header.
    at: u64,
    is_deflated: bool,
}

/// True if a file starts like a ZIP file.
pub fn is_zip(first: &[u8]) -> bool {
    first.starts_with(&LOCAL)
}

/// Lists the files in a ZIP file, in the order of its directory.
pub fn entries(path: &Path) -> Result<Vec<Entry>> {
    directory(&mut Source::open(path)?, path)
}

/// Reads the central directory; `path` is for error messages.
pub fn directory(file: &mut (impl Read + Seek), path: &Path) -> Result<Vec<Entry>> {
    let fault = |what: &str| Error::Damaged { path: path.to_owned(), at: format!("({what})") };
    let size = file.seek(SeekFrom::End(0)).context("read", path)?;
    let tail_at = size.saturating_sub(END_BYTES);
    let tail = bytes_at(file, tail_at, size - tail_at).context("read", path)?;
    let end = memchr::memmem::rfind(&tail, &END).filter(|end| tail.len() - end >= 22);
    let end = end.ok_or_else(|| fault("no central directory"))?;
    let end_record = Fields(&tail[end..]);
    let (mut length, mut at) = (u64::from(end_record.four(12)), u64::from(end_record.four(16)));
    if end >= 20 && tail[end - 20..].starts_with(&LOCATOR_64) {
        let large = bytes_at(file, Fields(&tail[end - 20..]).eight(8), 56).context("read", path)?;
        if large.starts_with(&END_64) {
            (length, at) = (Fields(&large).eight(40), Fields(&large).eight(48));
        }
    }
    if length > MAX_DIRECTORY_BYTES || at.saturating_add(length) > size {
        return Err(fault("the central directory is outside the file"));
    }
    let directory = bytes_at(file, at, length).context("read", path)?;
    let mut entries = Vec::new();
    let mut rest = &directory[..];
    while rest.starts_with(&CENTRAL) && rest.len() >= 46 {
        let fields = Fields(rest);
        let (name_len, extra_len, comment_len) =
            (usize::from(fields.two(28)), usize::from(fields.two(30)), usize::from(fields.two(32)));
        let next = 46 + name_len + extra_len + comment_len;
        if rest.len() < next {
            return Err(fault("the central directory is truncated"));
        }
        let name = String::from_utf8_lossy(&rest[46..46 + name_len]).into_owned();
        let extra = &rest[46 + name_len..46 + name_len + extra_len];
        let (bytes, at) = places(&fields, extra).ok_or_else(|| fault("the central directory is invalid"))?;
        let (method, is_encrypted) = (fields.two(10), fields.two(8) & 1 != 0);
        if matches!(method, 0 | 8) && !is_encrypted && at.saturating_add(bytes) <= size {
            entries.push(Entry { name, bytes, at, is_deflated: method == 8 });
        }
        rest = &rest[next..];
    }
    Ok(entries)
}

/// Size and offset of an entry; large values are in the ZIP64 extra field.
fn places(fields: &Fields<'_>, extra: &[u8]) -> Option<(u64, u64)> {
    let (packed, unpacked, at) = (fields.four(20), fields.four(24), fields.four(42));
    let mut large = extra_field(extra, 1).unwrap_or_default();
    let mut real = |short: u32| {
        if short != ELSEWHERE {
            return Some(u64::from(short));
        }
        let (first, rest) = large.split_first_chunk::<8>()?;
        large = rest;
        Some(u64::from_le_bytes(*first))
    };
    real(unpacked)?;
    let packed = real(packed)?;
    Some((packed, real(at)?))
}

fn extra_field(extra: &[u8], wanted: u16) -> Option<&[u8]> {
    let mut rest = extra;
    while rest.len() >= 4 {
        let (id, len) = (Fields(rest).two(0), usize::from(Fields(rest).two(2)));
        let field = rest.get(4..4 + len)?;
        if id == wanted {
            return Some(field);
        }
        rest = &rest[4 + len..];
    }
    None
}

/// Opens a file inside, from its beginning.
pub fn open(path: &Path, entry: &Entry) -> Result<Box<dyn Read + Send>> {
    read_entry(Source::open(path)?, entry, path)
}

/// Reads and inflates an entry; `path` is for error messages.
pub fn read_entry(
    mut file: impl Read + Seek + Send + 'static,
    entry: &Entry,
    path: &Path,
) -> Result<Box<dyn Read + Send>> {
    let head = bytes_at(&mut file, entry.at, 30).context("read", path)?;
    if !head.starts_with(&LOCAL) {
        return Err(Error::Damaged { path: path.to_owned(), at: format!("at byte {}", entry.at) });
    }
    let fields = Fields(&head);
    let start = entry.at + 30 + u64::from(fields.two(26)) + u64::from(fields.two(28));
    file.seek(SeekFrom::Start(start)).context("read", path)?;
    let inside = file.take(entry.bytes);
    Ok(match entry.is_deflated {
        true => Box::new(flate2::read::DeflateDecoder::new(inside)),
        false => Box::new(inside),
    })
}

fn bytes_at(file: &mut (impl Read + Seek), at: u64, length: u64) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(at))?;
    let mut bytes = Vec::new();
    let read = file.take(length).read_to_end(&mut bytes)?;
    if (read as u64) < length { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(bytes) }
}

/// Little-endian numbers by offset; zero beyond the end.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn number<const N: usize>(&self, at: usize) -> [u8; N] {
        self.0.get(at..).and_then(|bytes| bytes.first_chunk::<N>()).copied().unwrap_or([0; N])
    }

    fn two(&self, at: usize) -> u16 {
        u16::from_le_bytes(self.number(at))
    }

    fn four(&self, at: usize) -> u32 {
        u32::from_le_bytes(self.number(at))
    }

    fn eight(&self, at: usize) -> u64 {
        u64::from_le_bytes(self.number(at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A ZIP file of one stored file.
    pub(crate) fn zipped(name: &str, bytes: &[u8]) -> Vec<u8> {
        let sizes = [(bytes.len() as u32).to_le_bytes(), (bytes.len() as u32).to_le_bytes()].concat();
        let name_len = (name.len() as u16).to_le_bytes();
        let mut file = [&LOCAL[..], &[20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], &sizes, &name_len, &[0, 0]].concat();
        file.extend_from_slice(name.as_bytes());
        file.extend_from_slice(bytes);
        let at = file.len() as u32;
        let mut central =
            [&CENTRAL[..], &[20, 0, 20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], &sizes, &name_len].concat();
        central.resize(46, 0);
        central.extend_from_slice(name.as_bytes());
        file.extend_from_slice(&central);
        file.extend_from_slice(&END);
        file.extend([0, 0, 0, 0, 1, 0, 1, 0]);
        file.extend((central.len() as u32).to_le_bytes());
        file.extend(at.to_le_bytes());
        file.extend([0, 0]);
        file
    }

    #[test]
    fn an_entry_is_found_and_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.wacz");
        std::fs::write(&path, zipped("archive/data.warc", b"WARC/1.0 hello")).unwrap();
        let found = entries(&path).unwrap();
        assert_eq!((found.len(), found[0].name.as_str(), found[0].bytes), (1, "archive/data.warc", 14));
        let mut text = String::new();
        open(&path, &found[0]).unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "WARC/1.0 hello");
    }

    #[test]
    fn invalid_bytes_are_an_error_and_not_a_panic() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.wacz");
        let whole = zipped("archive/data.warc", b"WARC/1.0 hello");
        for at in 0..whole.len() {
            for damage in [0xff, 0x00] {
                let mut bytes = whole.clone();
                bytes[at] = damage;
                std::fs::write(&path, &bytes).unwrap();
                for entry in entries(&path).unwrap_or_default() {
                    let _ = open(&path, &entry).map(|mut file| file.read_to_end(&mut Vec::new()));
                }
            }
            std::fs::write(&path, &whole[..at]).unwrap();
            assert!(entries(&path).is_err());
        }
    }
}
