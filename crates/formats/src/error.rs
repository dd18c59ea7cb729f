//! Errors of readers: each names the file, the line or byte, and the cause.

use std::io;
use std::path::PathBuf;

pub(crate) use tidings_model::Context;
use tidings_model::{Cause, FileError};

/// An error that ends the reading of a file.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)] // See the messages.
pub enum Error {
    #[error(transparent)]
    Io(#[from] FileError),
    #[error("{}, line {line}: {fault}", path.display())]
    Line { path: PathBuf, line: u64, fault: String },
    #[error("{} is damaged {at}; download or create it again, or omit it", path.display())]
    Damaged { path: PathBuf, at: String },
}

/// The result of a reader.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl From<tidings_storage::Error> for Error {
    fn from(error: tidings_storage::Error) -> Error {
        match error {
            tidings_storage::Error::Io(error) => Error::Io(error),
            // Readers open files and objects; the other errors are of homes.
            other => {
                Error::Io(FileError { doing: "open", path: PathBuf::new(), source: Cause(io::Error::other(other)) })
            }
        }
    }
}
