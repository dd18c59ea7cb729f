//! Errors of the index, with the file and the remedy.

use std::io;
use std::path::{Path, PathBuf};

/// A failure of the index.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)] // The messages say it.
pub enum Error {
    #[error("cannot {doing} {}", path.display())]
    Io { doing: &'static str, path: PathBuf, source: io::Error },
    #[error("{} is damaged ({fault}); rebuild the index with `tidings compile --verify`", path.display())]
    Damaged { path: PathBuf, fault: String },
    #[error("{} is not a file of a Tidings index; move it away and rebuild the index with `tidings compile --verify`", path.display())]
    Foreign { path: PathBuf },
    #[error("{} was written by a newer Tidings (format {found}, Tidings {} reads up to {known}); install a newer version, or rebuild the index with `tidings rebuild --from compile`", path.display(), env!("CARGO_PKG_VERSION"))]
    Newer { path: PathBuf, found: u32, known: u32 },
    #[error("there is no index in {}; build one with `tidings compile`", folder.display())]
    NoIndex { folder: PathBuf },
    #[error("the document {id:032x} ({url}) has neither a publication day nor a first-seen day: {fault}")]
    Undated { id: u128, url: String, fault: String },
    #[error("a segment would exceed {limit} tokens; lower the batch size")]
    TooLarge { limit: u64 },
    #[error(
        "the layer {name} is declared as {known} ({known_origin}) and as {found} ({found_origin}); rename one of them, or rebuild the index with `tidings rebuild --from compile`"
    )]
    LayerKind { name: String, known: &'static str, known_origin: String, found: &'static str, found_origin: String },
    #[error(
        "“{name}” is not a name for a layer; use up to 32 of a-z, A-Z, 0-9 and _, with a small letter first, and not the name of another attribute"
    )]
    LayerName { name: String },
    #[error("the layer {name} would be one of more than {limit} further layers; leave out some")]
    TooManyLayers { name: String, limit: usize },
    #[error(transparent)]
    Formats(#[from] tidings_formats::Error),
    #[error(transparent)]
    Storage(#[from] tidings_storage::Error),
}

impl Error {
    /// The name of the file that is damaged; `None` for other errors.
    pub fn damaged_file(&self) -> Option<&str> {
        match self {
            Error::Damaged { path, .. } | Error::Foreign { path } => path.file_name()?.to_str(),
            _ => None,
        }
    }
}

/// Result of the index.
pub type Result<T> = std::result::Result<T, Error>;

/// Error for a file that is damaged.
pub(crate) fn damaged<T>(path: &Path, fault: impl Into<String>) -> Result<T> {
    Err(Error::Damaged { path: path.to_owned(), fault: fault.into() })
}

/// Adds the operation and the path to an I/O error.
pub(crate) trait IoContext<T> {
    fn context(self, doing: &'static str, path: &Path) -> Result<T>;
}

impl<T> IoContext<T> for io::Result<T> {
    fn context(self, doing: &'static str, path: &Path) -> Result<T> {
        self.map_err(|source| Error::Io { doing, path: path.to_owned(), source })
    }
}
