//! The cause of an I/O failure with its remedy, shared by the error types of all crates that open files.

use std::{fmt, io};

/// An I/O error that prints with what a person can do about it.
///
/// The remedy is part of the cause, because error reports print each cause of a chain once, behind the error itself.
#[derive(Debug)]
pub struct Cause(pub io::Error);

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.0, remedy(&self.0))
    }
}

impl std::error::Error for Cause {}

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
    fn a_chain_is_one_line() {
        assert_eq!(in_full(&io::Error::other("odd")), "odd");
    }
}
