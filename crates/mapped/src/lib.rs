//! Immutable files as memory maps.
//!
//! The workspace forbids unsafe code, and mapping a file needs one unsafe call: the bytes change under the program if
//! another process writes to the file, and reading a truncated part kills the process. Index files are written under a
//! temporary name, synced, renamed, and never opened for writing again; deleting one does not affect existing maps. The
//! call is therefore sound for them, and it is isolated in this package for review.

use std::fs::File;
use std::io;
use std::ops::Deref;
use std::path::Path;

use memmap2::Mmap;

/// The bytes of a file that is no longer written to.
#[derive(Debug)]
pub struct Mapped(Option<Mmap>);

impl Mapped {
    /// Maps a published file, which will not change.
    pub fn open(path: &Path) -> io::Result<Mapped> {
        let file = File::open(path)?;
        if file.metadata()?.len() == 0 {
            return Ok(Mapped(None)); // An empty file cannot be mapped.
        }
        // SAFETY: see above; published files are never written to or truncated.
        unsafe { Mmap::map(&file) }.map(Some).map(Mapped)
    }
}

impl Deref for Mapped {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.0.as_deref().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_outlives_the_name_of_its_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let (full, empty) = (folder.path().join("full"), folder.path().join("empty"));
        std::fs::write(&full, b"bytes").expect("written");
        std::fs::write(&empty, b"").expect("written");
        let (full_map, empty_map) = (Mapped::open(&full).expect("mapped"), Mapped::open(&empty).expect("mapped"));
        std::fs::remove_file(&full).expect("removed");
        assert_eq!((&full_map[..], &empty_map[..]), (&b"bytes"[..], &b""[..]));
    }
}
