//! Immutable files as bytes in memory.
//!
//! The workspace forbids unsafe code, and mapping a file needs one unsafe call: the bytes change under the program if
//! somebody writes into the file, and a file that is cut short kills the process when the lost part is touched. Index
//! files are written under a temporary name, synced, renamed, and never opened for writing again; removing one leaves
//! existing maps alone. So the call is sound for them, and it stands alone in this package, where it can be looked at.

use std::fs::File;
use std::io;
use std::ops::Deref;
use std::path::Path;

use memmap2::Mmap;

/// The bytes of a file that nobody writes to any more.
#[derive(Debug)]
pub struct Mapped(Option<Mmap>);

impl Mapped {
    /// Maps a file that was published under its name and will not change.
    pub fn open(path: &Path) -> io::Result<Mapped> {
        let file = File::open(path)?;
        if file.metadata()?.len() == 0 {
            return Ok(Mapped(None)); // Nothing cannot be mapped.
        }
        // SAFETY: see above; published files are never written to or cut.
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
