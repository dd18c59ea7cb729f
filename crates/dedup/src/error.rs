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
    #[error("{} was written by a newer Tidings (format {found}, Tidings {} reads up to {known}); install a newer version", path.display(), env!("CARGO_PKG_VERSION"))]
    Newer { path: PathBuf, found: u8, known: u8 },
}

/// What the memory gives.
pub type Result<T> = std::result::Result<T, Error>;

/// Rejects a file whose magic number, a name and a digit for the version, has the known name and a higher digit.
pub(crate) fn refuse_newer(path: &Path, found: &[u8], magic: &[u8; 8]) -> Result<()> {
    match (found.get(..8), magic) {
        (Some([name @ .., version @ b'1'..=b'9']), [known_name @ .., known])
            if name == known_name && version > known =>
        {
            Err(Error::Newer { path: path.to_owned(), found: version - b'0', known: known - b'0' })
        }
        _ => Ok(()),
    }
}

/// Turns an I/O error into ours by saying what was being done to what.
pub(crate) trait During<T> {
    fn during(self, doing: &'static str, path: &Path) -> Result<T>;
}

impl<T> During<T> for io::Result<T> {
    fn during(self, doing: &'static str, path: &Path) -> Result<T> {
        self.map_err(|source| Error::Io { doing, path: path.to_owned(), source })
    }
}
