//! Temporary records of a run, in memory while they are few and on disk beyond.

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::ops::Range;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use tidings_storage::file;

use super::draft_folder;
use crate::error::{Context, Result};
use crate::home::Home;

/// The records that are held in memory: those of a usual day, so that a round writes no file for them.
const MEMORY_BYTES: usize = 16 << 20;

/// Temporary records, deleted at the end of a run.
pub struct Spool {
    path: PathBuf,
    /// The first records.
    memory: Vec<u8>,
    memory_bytes: usize,
    /// The others.
    file: Option<BufWriter<File>>,
    len: u64,
}

impl Spool {
    /// Creates a spool. Its file is unlinked at once, so that it is deleted with the process.
    pub fn create(home: &Home, name: &str) -> Result<Spool> {
        Spool::within(&draft_folder(home)?, name)
    }

    /// Creates a spool in a folder of the caller.
    pub fn within(folder: &Path, name: &str) -> Result<Spool> {
        let path = folder.join(format!("{name}.tmp"));
        Ok(Spool { path, memory: Vec::new(), memory_bytes: MEMORY_BYTES, file: None, len: 0 })
    }

    /// Appends a record; returns its byte range.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Range<u64>> {
        match &mut self.file {
            Some(file) => file.write_all(bytes).context("write", &self.path)?,
            None if self.memory.len() + bytes.len() <= self.memory_bytes => self.memory.extend_from_slice(bytes),
            None => {
                let file = file::create_scratch(&self.path)?;
                fs::remove_file(&self.path).context("unlink", &self.path)?;
                let file = self.file.insert(BufWriter::with_capacity(1 << 18, file));
                file.write_all(bytes).context("write", &self.path)?;
            }
        }
        let start = self.len;
        self.len += bytes.len() as u64;
        Ok(start..self.len)
    }

    /// Reads a record.
    pub fn read(&mut self, place: &Range<u64>, bytes: &mut Vec<u8>) -> Result<()> {
        let in_memory = self.memory.len() as u64;
        if place.end <= in_memory {
            bytes.clear();
            bytes.extend_from_slice(&self.memory[place.start as usize..place.end as usize]);
            return Ok(());
        }
        let file = self.file.as_mut().expect("records beyond the memory are in the file");
        file.flush().context("write", &self.path)?;
        bytes.resize((place.end - place.start) as usize, 0);
        Ok(file.get_ref().read_exact_at(bytes, place.start - in_memory).context("read", &self.path)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_read_back_from_memory_and_from_disk() {
        let folder = tempfile::tempdir().unwrap();
        let mut spool = Spool { memory_bytes: 10, ..Spool::within(folder.path(), "texts").unwrap() };
        let records: [&[u8]; 6] = [b"four", b"five5", b"beyond", b"", b"x", b"in memory it would fit"];
        let places: Vec<Range<u64>> = records.iter().map(|record| spool.push(record).unwrap()).collect();
        assert_eq!((spool.memory.len(), spool.file.is_some()), (9, true));
        let mut bytes = Vec::new();
        for (record, place) in records.iter().zip(&places).rev() {
            spool.read(place, &mut bytes).unwrap();
            assert_eq!(&bytes, record);
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "the file is unlinked at once");
    }

    #[test]
    fn few_records_write_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let mut spool = Spool::within(folder.path(), "texts").unwrap();
        spool.push(b"one").unwrap();
        assert!(spool.file.is_none());
    }
}
