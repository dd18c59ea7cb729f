//! Errors of the fingerprint store.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

/// An error that stops the run.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)] // The messages document the variants.
pub enum Error {
    #[error("cannot {action} {}", path.display())]
    Io { action: &'static str, path: PathBuf, source: io::Error },
    #[error("{} is damaged: its bytes are not those that were written; delete the file to have it made again", path.display())]
    Damaged { path: PathBuf },
    #[error("{} was written by a newer Tidings (format {found}, Tidings {} reads up to {known}); install a newer version", path.display(), env!("CARGO_PKG_VERSION"))]
    Newer { path: PathBuf, found: u8, known: u8 },
}

/// The result of an operation of the store.
pub type Result<T> = std::result::Result<T, Error>;

/// Creates an empty file in place of what has its name. A link under the name is replaced, not followed.
#[allow(clippy::disallowed_methods)] // `create_new` does not follow links.
pub(crate) fn create(path: &Path) -> Result<File> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error).context("remove", path),
        _ => File::options().create_new(true).read(true).write(true).open(path).context("create", path),
    }
}

/// Reads bytes at an offset. A file that ends before is damaged.
pub(crate) fn read_at(file: &File, bytes: &mut [u8], at: u64, path: &Path) -> Result<()> {
    match file.read_exact_at(bytes, at) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Err(Error::Damaged { path: path.to_owned() }),
        read => read.context("read", path),
    }
}

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

/// Adds the failed action and the path to an I/O error.
pub(crate) trait IoContext<T> {
    fn context(self, action: &'static str, path: &Path) -> Result<T>;
}

impl<T> IoContext<T> for io::Result<T> {
    fn context(self, action: &'static str, path: &Path) -> Result<T> {
        self.map_err(|source| Error::Io { action, path: path.to_owned(), source })
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn a_link_under_the_name_of_a_file_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let (victim, path) = (folder.path().join("victim"), folder.path().join("run.tmp"));
        std::fs::write(&victim, b"precious").unwrap();
        std::os::unix::fs::symlink(&victim, &path).unwrap();
        create(&path).unwrap().write_all(b"run").unwrap();
        assert_eq!(std::fs::read(&victim).unwrap(), b"precious");
        assert_eq!(std::fs::read(&path).unwrap(), b"run");
    }
}
