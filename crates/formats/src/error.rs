//! Errors of readers: each names the file, the line or byte, and the cause.

use std::io;
use std::path::{Path, PathBuf};

use tidings_model::Cause;

/// A failure that ends the reading of one file.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)] // The messages say it.
pub enum Error {
    #[error("cannot {doing} {}", path.display())]
    Io { doing: &'static str, path: PathBuf, source: Cause },
    #[error("{}, line {line}: {fault}", path.display())]
    Line { path: PathBuf, line: u64, fault: String },
    #[error("{} is damaged {at}; fetch or make it again, or leave it out", path.display())]
    Damaged { path: PathBuf, at: String },
}

/// The result of a reader.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Names the operation and the file of an I/O error.
pub(crate) trait Context<T> {
    fn context(self, doing: &'static str, path: &Path) -> Result<T>;
}

impl<T> Context<T> for io::Result<T> {
    fn context(self, doing: &'static str, path: &Path) -> Result<T> {
        self.map_err(|source| Error::Io { doing, path: path.to_owned(), source: Cause(source) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_io_error_names_the_operation_the_file_and_the_cause() {
        let missing: io::Result<()> = Err(io::ErrorKind::NotFound.into());
        let error = missing.context("open", Path::new("a.vert")).unwrap_err();
        assert_eq!(tidings_model::in_full(&error), "cannot open a.vert: entity not found");
    }
}
