//! Errors of the files of a crawl.

use std::path::{Path, PathBuf};

/// Result of an operation on the files of a crawl.
pub type Result<T> = std::result::Result<T, Error>;

/// Why the state of a crawl cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)] // See the messages.
pub enum Error {
    #[error(transparent)]
    Storage(#[from] tidings_storage::Error),
    #[error("cannot read {}: {source}", path.display())]
    Read { path: PathBuf, source: std::io::Error },
    #[error(
        "{} is damaged ({fault}); restore the folder of the crawl from a backup, or delete it to start the crawl again",
        path.display()
    )]
    Damaged { path: PathBuf, fault: &'static str },
    #[error(
        "{} has more than {limit} bytes of text, which no shard writes; see where it comes from, and delete it",
        path.display()
    )]
    TooLong { path: PathBuf, limit: usize },
    #[error("{} was written by a newer Tidings (format {found}, this one reads {known}); update Tidings", path.display())]
    Newer { path: PathBuf, found: u32, known: u32 },
}

impl Error {
    pub(crate) fn damaged(path: &Path, fault: &'static str) -> Error {
        Error::Damaged { path: path.to_owned(), fault }
    }

    pub(crate) fn read(path: &Path) -> impl Fn(std::io::Error) -> Error + '_ {
        |source| Error::Read { path: path.to_owned(), source }
    }
}
