//! Errors of the storage: each names the operation, the file and the cause.

use std::io;
use std::path::PathBuf;

pub(crate) use tidings_model::Context;
use tidings_model::FileError;

/// A failed operation.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)] // See the messages.
pub enum Error {
    #[error(transparent)]
    Io(#[from] FileError),
    #[error("{url} belongs to another home; give this one another prefix in `store.bucket`")]
    Owned { url: String },
    #[error("the data of {} is {url}, which is not in `store.bucket`; set it to the prefix of this object", path.display())]
    Elsewhere { path: PathBuf, url: String },
    #[error("invalid storage key `{key}`; a key is a relative path such as `docs/de/2026-03-01.jsonl.zst`")]
    Key { key: String },
}

/// The result of an operation.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// True if the cause is a missing file.
    pub fn is_not_found(&self) -> bool {
        matches!(self, Error::Io(error) if error.source.0.kind() == io::ErrorKind::NotFound)
    }

    /// True if an object store failed, which says nothing about the data in it.
    pub fn is_unavailable(&self) -> bool {
        matches!(self, Error::Io(error) if crate::source::is_unavailable(&error.source.0))
    }
}
