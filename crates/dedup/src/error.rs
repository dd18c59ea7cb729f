//! Why the memory cannot go on.

use std::io;
use std::path::{Path, PathBuf};

/// A failure that stops the run.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)] // The messages say it.
pub enum Error {
    #[error("cannot {doing} {}", path.display())]
    Io { doing: &'static str, path: PathBuf, source: io::Error },
    #[error("{} is damaged or was written by another version; remove the folder it lies in to have it made again", path.display())]
    Damaged { path: PathBuf },
}

/// What the memory gives.
pub type Result<T> = std::result::Result<T, Error>;

/// Turns an I/O error into ours by saying what was being done to what.
pub(crate) trait During<T> {
    fn during(self, doing: &'static str, path: &Path) -> Result<T>;
}

impl<T> During<T> for io::Result<T> {
    fn during(self, doing: &'static str, path: &Path) -> Result<T> {
        self.map_err(|source| Error::Io { doing, path: path.to_owned(), source })
    }
}
