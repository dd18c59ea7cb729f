//! Storage in which some folders are elsewhere: a draft of derived data over the data that it is made from.

use std::io::BufRead;
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::local::LocalStorage;
use crate::storage::{AtomicWrite, Stat, Storage};

/// A folder in which keys below some top folders are in another place.
#[derive(Debug, Clone)]
pub struct OverlayStorage {
    base: LocalStorage,
    /// The place of the moved folders, below the root.
    place: String,
    /// The moved top folders.
    moved: Vec<String>,
}

impl OverlayStorage {
    /// Storage over another; keys below the top folders in `moved` are in the folder `place` of the same root.
    pub fn new(base: LocalStorage, place: &str, moved: &[&str]) -> OverlayStorage {
        let moved = moved.iter().map(|folder| (*folder).to_owned()).collect();
        OverlayStorage { base, place: place.to_owned(), moved }
    }

    /// The key in the underlying storage.
    fn inner(&self, key: &str) -> String {
        let top = key.split('/').next().unwrap_or_default();
        if self.moved.iter().any(|folder| folder == top) { format!("{}/{key}", self.place) } else { key.to_owned() }
    }

    /// Keys of the underlying storage as callers know them.
    fn outer(&self, keys: Vec<String>) -> Vec<String> {
        let outer = |key: String| match key.strip_prefix(&self.place).and_then(|rest| rest.strip_prefix('/')) {
            Some(rest) => rest.to_owned(),
            None => key,
        };
        keys.into_iter().map(outer).collect()
    }
}

impl Storage for OverlayStorage {
    fn open(&self, key: &str) -> Result<Box<dyn BufRead + Send>> {
        self.base.open(&self.inner(key))
    }

    fn read_range(&self, key: &str, range: Range<u64>) -> Result<Vec<u8>> {
        self.base.read_range(&self.inner(key), range)
    }

    fn stat(&self, key: &str) -> Result<Option<Stat>> {
        self.base.stat(&self.inner(key))
    }

    fn list(&self, prefix: &str) -> Result<Vec<String>> {
        Ok(self.outer(self.base.list(&self.inner(prefix))?))
    }

    fn folders(&self, prefix: &str) -> Result<Vec<String>> {
        Ok(self.outer(self.base.folders(&self.inner(prefix))?))
    }

    fn create(&self, key: &str) -> Result<Box<dyn AtomicWrite>> {
        self.base.create(&self.inner(key))
    }

    fn publish_file(&self, local: &Path, key: &str) -> Result<()> {
        self.base.publish_as(local, &self.inner(key), key)
    }

    fn retire(&self, key: &str) -> Result<()> {
        self.base.retire(&self.inner(key))
    }

    fn remove(&self, key: &str) -> Result<()> {
        self.base.remove(&self.inner(key))
    }

    fn path(&self, key: &str) -> PathBuf {
        self.base.path(&self.inner(key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moved_folders_hide_those_of_the_base() {
        let folder = tempfile::tempdir().unwrap();
        let base = LocalStorage::new(folder.path());
        base.put_atomic("docs/de/1", b"old").unwrap();
        base.put_atomic("pages/1", b"page").unwrap();
        let overlay = OverlayStorage::new(base.clone(), "rebuild/new", &["docs"]);
        assert_eq!((overlay.read("docs/de/1").unwrap(), overlay.stat("docs/de/1").unwrap()), (None, None));
        overlay.put_atomic("docs/en/1", b"new").unwrap();
        assert_eq!(overlay.list("docs/en").unwrap(), ["docs/en/1"]);
        assert_eq!(overlay.folders("docs").unwrap(), ["docs/en"]);
        assert_eq!(overlay.list("pages").unwrap(), ["pages/1"]);
        assert_eq!(overlay.read_range("docs/en/1", 0..2).unwrap(), b"ne");
        assert_eq!(overlay.path("docs/en/1"), folder.path().join("rebuild/new/docs/en/1"));
        overlay.remove("docs/en/1").unwrap();
        assert_eq!(base.read("docs/de/1").unwrap().as_deref(), Some(&b"old"[..]));
    }
}
