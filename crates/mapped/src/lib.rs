//! Immutable files as memory maps.
//!
//! The workspace forbids unsafe code, and mapping a file needs one unsafe call: the bytes change under the program if
//! another process writes to the file, and reading a truncated part kills the process. Index files are written under a
//! temporary name, synced, renamed, and never opened for writing again; deleting one does not affect existing maps. The
//! call is therefore sound for them, and it is isolated in this package for review.

pub mod allocator;

use std::fs::File;
use std::io;
use std::ops::Deref;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use memmap2::Mmap;

/// The bytes of a file that is no longer written to.
#[derive(Debug)]
pub struct Mapped {
    map: Option<Mmap>,
    identity: (u64, u64),
}

/// The state of a mapped file on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileState {
    /// It is as it was mapped.
    Intact,
    /// Its name is gone or belongs to another file; the map is still valid.
    Replaced,
    /// It is shorter than the map: reading the missing part kills the process.
    Truncated,
}

impl Mapped {
    /// Maps a published file, which will not change.
    pub fn open(path: &Path) -> io::Result<Mapped> {
        let file = File::open(path)?;
        let about = file.metadata()?;
        let identity = (about.dev(), about.ino());
        if about.len() == 0 {
            return Ok(Mapped { map: None, identity }); // An empty file cannot be mapped.
        }
        // SAFETY: see above; published files are never written to or truncated.
        let map = unsafe { Mmap::map(&file) }?;
        Ok(Mapped { map: Some(map), identity })
    }

    /// The state of the file under the path that was mapped.
    pub fn state(&self, path: &Path) -> FileState {
        match std::fs::metadata(path) {
            Ok(about) if (about.dev(), about.ino()) != self.identity => FileState::Replaced,
            Ok(about) if about.len() < self.len() as u64 => FileState::Truncated,
            Ok(_) => FileState::Intact,
            Err(_) => FileState::Replaced,
        }
    }
}

impl Deref for Mapped {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.map.as_deref().unwrap_or_default()
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

    #[test]
    fn a_truncated_or_replaced_file_is_noticed() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        std::fs::write(&path, b"some bytes").expect("written");
        let map = Mapped::open(&path).expect("mapped");
        assert_eq!(map.state(&path), FileState::Intact);
        File::options().write(true).open(&path).expect("opened").set_len(4).expect("cut");
        assert_eq!(map.state(&path), FileState::Truncated);
        std::fs::rename(&path, folder.path().join("old")).expect("renamed");
        assert_eq!(map.state(&path), FileState::Replaced);
        std::fs::write(&path, b"other bytes").expect("written");
        assert_eq!(map.state(&path), FileState::Replaced);
    }
}
