//! The pending entries of a run, stored on disk.
//!
//! A backlog of millions of entries must not fill memory with URLs and titles. Their rows are copied to a scratch file,
//! and each is referred to by a job number of four bytes; its row is read when its host is next.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use tidings_model::Row;
use tidings_storage::file;

use crate::error::{Context, Result};
use crate::home::Home;

/// The scratch file while it is being filled.
pub struct PendingDraft {
    path: PathBuf,
    file: BufWriter<File>,
    starts: Vec<u64>,
    end: u64,
    line: String,
}

/// Pending rows by ticket.
pub struct PendingEntries {
    path: PathBuf,
    file: File,
    /// The offset of each row; the last element is the end of the file.
    starts: Vec<u64>,
}

impl PendingDraft {
    /// Creates a scratch file. It is unlinked at once, so that it is deleted with the process.
    pub fn create(home: &Home) -> Result<PendingDraft> {
        let path = home.root().join("work.tmp");
        let file = file::create_scratch(&path)?;
        std::fs::remove_file(&path).context("unlink", &path)?;
        Ok(PendingDraft {
            path,
            file: BufWriter::with_capacity(1 << 18, file),
            starts: Vec::new(),
            end: 0,
            line: String::new(),
        })
    }

    /// Adds a row; returns its job number.
    pub fn push(&mut self, row: &Row<'_>) -> Result<u32> {
        self.line.clear();
        row.write(&mut self.line);
        self.file.write_all(self.line.as_bytes()).context("write", &self.path)?;
        self.starts.push(self.end);
        self.end += self.line.len() as u64;
        Ok(self.starts.len() as u32 - 1)
    }

    /// Ends the filling.
    pub fn finish(mut self) -> Result<PendingEntries> {
        self.starts.push(self.end);
        self.starts.shrink_to_fit();
        let file = self.file.into_inner().map_err(|error| error.into_error()).context("write", &self.path)?;
        Ok(PendingEntries { path: self.path, file, starts: self.starts })
    }
}

impl PendingEntries {
    /// The number of rows.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Whether there are no pending entries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The line of a ticket, to be read as a [`Row`].
    pub fn line(&self, ticket: u32) -> Result<String> {
        let [start, end] = [self.starts[ticket as usize], self.starts[ticket as usize + 1]];
        let mut bytes = vec![0; (end - start) as usize - 1];
        self.file.read_exact_at(&mut bytes, start).context("read", &self.path)?;
        Ok(String::from_utf8(bytes).expect("rows were written as text"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::home;
    use tidings_model::Entry;

    #[test]
    fn rows_are_read_by_job_number_and_the_file_is_unlinked() {
        let (folder, home) = home();
        let mut draft = PendingDraft::create(&home).unwrap();
        let entries: Vec<Entry> = ["a", "é", ""]
            .map(|title| {
                let own = |text: &str| text.to_owned();
                Entry { seen: own("s"), published: own(""), feed: own("f"), url: own("u"), title: own(title) }
            })
            .to_vec();
        for (at, entry) in entries.iter().enumerate() {
            assert_eq!(draft.push(&entry.row()).unwrap() as usize, at);
        }
        let work = draft.finish().unwrap();
        assert_eq!((work.len(), work.is_empty()), (3, false));
        for ticket in [2, 0, 1] {
            let line = work.line(ticket).unwrap();
            assert_eq!(Row::parse(&line).unwrap(), entries[ticket as usize].row());
        }
        assert!(!folder.path().join("work.tmp").exists());
        assert!(PendingDraft::create(&home).unwrap().finish().unwrap().is_empty());
    }
}
