//! Temporary records of a run on disk.

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::ops::Range;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use tidings_storage::file;

use super::draft_folder;
use crate::error::{Context, Result};
use crate::home::Home;

/// Temporary records on disk, deleted at the end of a run.
pub struct Spool {
    path: PathBuf,
    file: BufWriter<File>,
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
        let file = file::create_scratch(&path)?;
        fs::remove_file(&path).context("unlink", &path)?;
        Ok(Spool { path, file: BufWriter::with_capacity(1 << 18, file), len: 0 })
    }

    /// Appends a record; returns its byte range.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Range<u64>> {
        self.file.write_all(bytes).context("write", &self.path)?;
        let start = self.len;
        self.len += bytes.len() as u64;
        Ok(start..self.len)
    }

    /// Reads a record.
    pub fn read(&mut self, place: &Range<u64>, bytes: &mut Vec<u8>) -> Result<()> {
        self.file.flush().context("write", &self.path)?;
        bytes.resize((place.end - place.start) as usize, 0);
        Ok(self.file.get_ref().read_exact_at(bytes, place.start).context("read", &self.path)?)
    }
}
