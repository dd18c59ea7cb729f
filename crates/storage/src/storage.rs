//! The storage interface.

use std::fmt;
use std::io::{BufRead, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::error::Result;

/// Size and age of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stat {
    /// Its size in bytes.
    pub bytes: u64,
    /// The time of its last change, if the storage provides it.
    pub modified: Option<SystemTime>,
}

/// Objects under keys: relative paths with slashes, such as `pages/2026-03-01/run.0.jsonl.zst`.
///
/// An object is written atomically. Keys are UTF-8 and have no empty, `.` or `..` components. Completed operations
/// survive a power failure.
pub trait Storage: fmt::Debug + Send + Sync {
    /// Opens an object for reading from its beginning.
    fn open(&self, key: &str) -> Result<Box<dyn BufRead + Send>>;

    /// Reads the bytes of a range; fewer if the object ends before it does.
    fn read_range(&self, key: &str, range: Range<u64>) -> Result<Vec<u8>>;

    /// Size and age of an object; `None` if it is missing.
    fn stat(&self, key: &str) -> Result<Option<Stat>>;

    /// Keys of the objects directly in a folder, sorted; empty if there is no such folder. The root is the empty
    /// prefix.
    fn list(&self, prefix: &str) -> Result<Vec<String>>;

    /// Keys of the folders directly in a folder, sorted.
    fn folders(&self, prefix: &str) -> Result<Vec<String>>;

    /// Creates an object that replaces the one under the key when it is published.
    fn create(&self, key: &str) -> Result<Box<dyn AtomicWrite>>;

    /// Moves a finished and synced local file into the storage, in place of the object under the key.
    ///
    /// Over a local folder this is a rename, so the file must be on the same file system; an object store uploads it.
    fn publish_file(&self, local: &Path, key: &str) -> Result<()>;

    /// Records that the object under the key will be replaced or deleted for good, because its content must go: what is
    /// left of it elsewhere is deleted by the next sweep.
    fn retire(&self, _key: &str) -> Result<()> {
        Ok(())
    }

    /// Deletes an object if it exists.
    fn remove(&self, key: &str) -> Result<()>;

    /// The path of an object for messages and for local code (memory maps, appenders).
    fn path(&self, key: &str) -> PathBuf;

    /// Reads a whole object; `None` if it is missing.
    fn read(&self, key: &str) -> Result<Option<Vec<u8>>> {
        let mut bytes = Vec::new();
        match self.open(key) {
            Ok(mut object) => {
                let path = self.path(key);
                crate::error::Context::context(object.read_to_end(&mut bytes), "read", &path)?;
                Ok(Some(bytes))
            }
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Replaces a small object atomically.
    fn put_atomic(&self, key: &str, bytes: &[u8]) -> Result<()> {
        let mut object = self.create(key)?;
        object.write(bytes)?;
        object.publish()
    }
}

/// An object in progress; if it is dropped without [`publish`](AtomicWrite::publish), it never appears.
pub trait AtomicWrite: Send {
    /// Appends bytes.
    fn write(&mut self, bytes: &[u8]) -> Result<()>;

    /// Makes the object durable and visible under its key.
    fn publish(self: Box<Self>) -> Result<()>;

    /// Discards it.
    fn discard(self: Box<Self>);
}
