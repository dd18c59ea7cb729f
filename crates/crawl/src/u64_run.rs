//! Files of sorted 64-bit numbers, in blocks with checksums.
//!
//! A file never changes. Its bytes depend on its set of numbers only, whatever runs were merged into it.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use tidings_storage::AtomicFile;
use xxhash_rust::xxh3::xxh3_64;

use crate::error::{Error, Result};

/// The start of a file.
const MAGIC: &[u8; 16] = b"tidings numbers1";
/// The most numbers of a block.
const BLOCK: usize = 8192;

/// Writes a file of ascending numbers; equal neighbours are written once.
pub(crate) struct U64Writer {
    file: AtomicFile,
    block: Vec<u8>,
    last: Option<u64>,
    len: u64,
}

impl U64Writer {
    pub(crate) fn create(path: &Path) -> Result<U64Writer> {
        let mut file = AtomicFile::create(path)?;
        file.write(MAGIC)?;
        Ok(U64Writer { file, block: Vec::with_capacity(BLOCK * 8), last: None, len: 0 })
    }

    pub(crate) fn push(&mut self, number: u64) -> Result<()> {
        debug_assert!(self.last.is_none_or(|last| last <= number), "numbers ascend");
        if self.last == Some(number) {
            return Ok(());
        }
        self.last = Some(number);
        self.len += 1;
        self.block.extend(number.to_be_bytes());
        if self.block.len() == BLOCK * 8 { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        if !self.block.is_empty() {
            self.file.write(&((self.block.len() / 8) as u32).to_be_bytes())?;
            self.file.write(&xxh3_64(&self.block).to_be_bytes())?;
            self.file.write(&self.block)?;
            self.block.clear();
        }
        Ok(())
    }

    /// Publishes the file, which is durable after the checkpoint; returns how many numbers it has.
    pub(crate) fn publish(mut self) -> Result<u64> {
        self.flush()?;
        self.file.publish_unsynced()?;
        Ok(self.len)
    }
}

/// Reads a file of ascending numbers.
pub(crate) struct U64Reader {
    path: PathBuf,
    reader: BufReader<File>,
    block: Vec<u8>,
    at: usize,
}

impl U64Reader {
    pub(crate) fn open(path: &Path) -> Result<U64Reader> {
        let file = File::open(path).map_err(Error::read(path))?;
        let mut reader = BufReader::with_capacity(BLOCK * 8 + 12, file);
        let mut magic = [0; MAGIC.len()];
        reader.read_exact(&mut magic).map_err(Error::read(path))?;
        if &magic != MAGIC {
            return Err(Error::damaged(path, "it does not begin as a file of numbers"));
        }
        Ok(U64Reader { path: path.to_owned(), reader, block: Vec::new(), at: 0 })
    }

    /// The next number; `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<u64>> {
        if self.at == self.block.len() && !self.read_block()? {
            return Ok(None);
        }
        let eight = self.block[self.at..self.at + 8].try_into().expect("eight bytes");
        self.at += 8;
        Ok(Some(u64::from_be_bytes(eight)))
    }

    fn read_block(&mut self) -> Result<bool> {
        let mut head = Vec::with_capacity(12);
        self.reader.by_ref().take(12).read_to_end(&mut head).map_err(Error::read(&self.path))?;
        if head.is_empty() {
            return Ok(false);
        }
        let damaged = || Error::damaged(&self.path, "a checksum is wrong");
        let (count, checksum) = head.split_first_chunk::<4>().ok_or_else(damaged)?;
        let bytes = u32::from_be_bytes(*count) as usize * 8;
        if bytes == 0 || bytes > BLOCK * 8 || checksum.len() != 8 {
            return Err(damaged());
        }
        self.block.clear();
        self.at = 0;
        self.reader.by_ref().take(bytes as u64).read_to_end(&mut self.block).map_err(Error::read(&self.path))?;
        match self.block.len() == bytes && xxh3_64(&self.block).to_be_bytes() == checksum {
            true => Ok(true),
            false => Err(damaged()),
        }
    }
}

/// Merges files into a new one; returns how many numbers it has.
pub(crate) fn merge(sources: &[PathBuf], target: &Path) -> Result<u64> {
    let mut readers = sources.iter().map(|path| U64Reader::open(path)).collect::<Result<Vec<_>>>()?;
    let mut heads = readers.iter_mut().map(U64Reader::next).collect::<Result<Vec<_>>>()?;
    let mut writer = U64Writer::create(target)?;
    while let Some(least) = heads.iter().flatten().min().copied() {
        writer.push(least)?;
        for (head, reader) in heads.iter_mut().zip(&mut readers) {
            if *head == Some(least) {
                *head = reader.next()?;
            }
        }
    }
    writer.publish()
}

/// Writes a file of numbers in any order.
pub(crate) fn write(path: &Path, mut numbers: Vec<u64>) -> Result<u64> {
    numbers.sort_unstable();
    let mut writer = U64Writer::create(path)?;
    numbers.into_iter().try_for_each(|number| writer.push(number))?;
    writer.publish()
}

/// Reads all numbers of a file.
pub(crate) fn read_all(path: &Path) -> Result<Vec<u64>> {
    let mut reader = U64Reader::open(path)?;
    let mut numbers = Vec::new();
    while let Some(number) = reader.next()? {
        numbers.push(number);
    }
    Ok(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn damage_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.u64");
        write(&path, (0..20_000).collect()).unwrap();
        let whole = std::fs::read(&path).unwrap();
        for at in [3, 20, 30, 70_000, whole.len() - 1] {
            let mut bytes = whole.clone();
            bytes[at] ^= 1;
            std::fs::write(&path, bytes).unwrap();
            assert!(read_all(&path).is_err(), "byte {at}");
        }
        std::fs::write(&path, &whole[..whole.len() - 5]).unwrap();
        assert!(read_all(&path).is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn files_merged_in_any_order_have_the_same_bytes(
            sets in prop::collection::vec(prop::collection::vec(0u64..60, 0..20), 1..5)
        ) {
            let folder = tempfile::tempdir().unwrap();
            let at = |name: String| folder.path().join(name);
            let mut paths: Vec<PathBuf> = (0..sets.len()).map(|n| at(format!("{n}.u64"))).collect();
            for (path, set) in paths.iter().zip(&sets) {
                write(path, set.clone()).unwrap();
            }
            merge(&paths, &at("one".into())).unwrap();
            paths.reverse();
            merge(&paths, &at("other".into())).unwrap();
            write(&at("direct".into()), sets.concat()).unwrap();
            let bytes = |name: &str| std::fs::read(at(name.to_owned())).unwrap();
            prop_assert_eq!(bytes("one"), bytes("other"));
            prop_assert_eq!(bytes("one"), bytes("direct"));
            let all: std::collections::BTreeSet<u64> = sets.concat().into_iter().collect();
            prop_assert_eq!(read_all(&at("one".into())).unwrap(), all.into_iter().collect::<Vec<_>>());
        }
    }
}
