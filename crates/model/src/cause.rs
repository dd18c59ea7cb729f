//! I/O errors that name the operation, the file, the cause and its remedy, shared by the crates that open files.

use std::path::{Path, PathBuf};
use std::{fmt, io};

/// An I/O error that prints its remedy.
///
/// The remedy is part of the cause because error reports print each cause of a chain once, after the error itself.
#[derive(Debug)]
pub struct Cause(pub io::Error);

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.0, remedy(&self.0))
    }
}

impl std::error::Error for Cause {}

/// An I/O error of a file.
#[derive(Debug)]
pub struct FileError {
    /// The operation that failed, a verb such as `open`.
    pub doing: &'static str,
    /// The file.
    pub path: PathBuf,
    /// The error of the operating system.
    pub source: Cause,
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot {} {}", self.doing, self.path.display())
    }
}

impl std::error::Error for FileError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

/// Names the operation and the file of an I/O error.
pub trait Context<T> {
    /// Turns the error into a [`FileError`].
    fn context(self, doing: &'static str, path: &Path) -> Result<T, FileError>;
}

impl<T> Context<T> for io::Result<T> {
    fn context(self, doing: &'static str, path: &Path) -> Result<T, FileError> {
        self.map_err(|source| FileError { doing, path: path.to_owned(), source: Cause(source) })
    }
}

/// Formats an error and its chain of causes in one line, as `{:#}` of `anyhow` does.
pub fn in_full(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

/// Linux error codes (`errno`) that have a remedy.
const ENOSPC: i32 = 28;
const EROFS: i32 = 30;
const EDQUOT: i32 = 122;

fn remedy(source: &io::Error) -> &'static str {
    match (source.raw_os_error(), source.kind()) {
        (Some(ENOSPC), _) => "; free some space and run again, nothing acknowledged is lost",
        (Some(EDQUOT), _) => "; the disk quota is used up, free some space and run again",
        (Some(EROFS), _) => "; the file system is read-only",
        (_, io::ErrorKind::PermissionDenied) => "; check who owns it and its permissions",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_and_a_closed_file_print_their_remedy() {
        let full = Cause(io::Error::from_raw_os_error(ENOSPC)).to_string();
        assert!(
            full.starts_with("No space left on device") && full.ends_with("nothing acknowledged is lost"),
            "{full}"
        );
        let closed = Cause(io::ErrorKind::PermissionDenied.into()).to_string();
        assert!(closed.ends_with("check who owns it and its permissions"), "{closed}");
        assert_eq!(Cause(io::Error::other("odd")).to_string(), "odd");
    }

    #[test]
    fn a_file_error_names_the_operation_the_file_the_cause_and_the_remedy() {
        let missing: io::Result<()> = Err(io::ErrorKind::NotFound.into());
        let error = missing.context("open", Path::new("a.vert")).unwrap_err();
        assert_eq!(in_full(&error), "cannot open a.vert: entity not found");
        let full: io::Result<()> = Err(io::Error::from_raw_os_error(ENOSPC));
        let error = full.context("write", Path::new("plan.tsv")).unwrap_err();
        assert_eq!(error.to_string(), "cannot write plan.tsv");
        let told = in_full(&error);
        assert!(told.starts_with("cannot write plan.tsv: No space left on device"), "{told}");
        assert!(told.ends_with("; free some space and run again, nothing acknowledged is lost"), "{told}");
        assert_eq!(told.matches("No space").count(), 1, "{told}");
    }

    #[test]
    fn a_chain_is_one_line() {
        assert_eq!(in_full(&io::Error::other("odd")), "odd");
    }
}
