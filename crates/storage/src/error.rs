//! Errors of the storage: each names the operation, the file and the cause.

use std::io;
use std::path::{Path, PathBuf};

use tidings_model::Cause;

/// A failed operation.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)] // The messages say it.
pub enum Error {
    #[error("cannot {doing} {}", path.display())]
    Io { doing: &'static str, path: PathBuf, source: Cause },
    #[error("`{key}` is no storage key; a key is a relative path such as `docs/de/2026-03-01.jsonl.zst`")]
    Key { key: String },
}

/// The result of an operation.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Whether the cause is that a file is not there.
    pub fn is_not_found(&self) -> bool {
        matches!(self, Error::Io { source, .. } if source.0.kind() == io::ErrorKind::NotFound)
    }
}

/// Names the operation and the file of an I/O error.
pub(crate) trait Context<T> {
    fn context(self, doing: &'static str, path: &Path) -> Result<T>;
}

impl<T> Context<T> for io::Result<T> {
    fn context(self, doing: &'static str, path: &Path) -> Result<T> {
        self.map_err(|source| Error::Io { doing, path: path.to_owned(), source: Cause(source) })
    }
}
