//! Size and digest of a file of the home, as recorded in recipes.

use std::io::{BufRead as _, Read as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tidings_storage::Source;
use xxhash_rust::xxh3::Xxh3;

use crate::error::{Context, Result};
use crate::home::Home;

/// An input or output file of a day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileDigest {
    /// Its key in the home's storage, such as `docs/de/2026-03-01.jsonl.zst`.
    pub file: String,
    /// Its size.
    pub bytes: u64,
    /// The digest of its bytes: XXH3, 128 bits, in hexadecimal.
    pub xxh3: String,
    /// The number of its lines, for files of Tidings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<u64>,
}

impl FileDigest {
    /// Reads a file and digests it.
    pub fn of(home: &Home, file: &str) -> Result<FileDigest> {
        let storage = home.storage();
        let mut source = storage.open(file)?;
        let mut hash = Xxh3::new();
        let mut bytes = 0;
        loop {
            // Most files are small: a buffer of its own would cost more than reading them.
            let read = source.fill_buf().context("read", &storage.path(file))?;
            if read.is_empty() {
                break;
            }
            let len = read.len();
            hash.update(read);
            source.consume(len);
            bytes += len as u64;
        }
        Ok(FileDigest { file: file.to_owned(), bytes, xxh3: format!("{:032x}", hash.digest128()), lines: None })
    }

    /// The digest of a copy of a file of the home, such as one that was fetched from other storage.
    pub fn of_copy(path: &Path, file: &str) -> Result<FileDigest> {
        let mut source = Source::stored(path)?;
        let (mut hash, mut bytes, mut buffer) = (Xxh3::new(), 0, vec![0; 1 << 18]);
        loop {
            let read = source.read(&mut buffer).context("read", path)?;
            if read == 0 {
                break;
            }
            hash.update(&buffer[..read]);
            bytes += read as u64;
        }
        Ok(FileDigest { file: file.to_owned(), bytes, xxh3: format!("{:032x}", hash.digest128()), lines: None })
    }

    /// The digest of bytes that will be written under a key.
    pub(crate) fn of_bytes(file: String, bytes: &[u8], lines: u64) -> FileDigest {
        let xxh3 = format!("{:032x}", xxhash_rust::xxh3::xxh3_128(bytes));
        FileDigest { file, bytes: bytes.len() as u64, xxh3, lines: Some(lines) }
    }

    /// The local path of the file, for code that maps it into memory.
    pub fn path(&self, home: &Home) -> PathBuf {
        home.storage().path(&self.file)
    }

    /// Whether the home has a file of this name with these bytes. Reads the file. That its object store does not answer
    /// says nothing about it: it counts as sound.
    pub fn is_sound(&self, home: &Home) -> bool {
        self.check(home).unwrap_or(true)
    }

    /// The same; that its object store does not answer is an error.
    pub fn check(&self, home: &Home) -> Result<bool> {
        match FileDigest::of(home, &self.file) {
            Ok(found) => Ok((found.bytes, &found.xxh3) == (self.bytes, &self.xxh3)),
            Err(error) if error.is_unavailable() => Err(error),
            Err(_) => Ok(false),
        }
    }

    /// The language of a file of documents or text; `None` for dropped pages and for files without a language.
    pub fn language(&self) -> Option<&str> {
        let mut parts = self.file.split('/');
        let (root, folder) = (parts.next()?, parts.next()?);
        (matches!(root, "docs" | "text") && !matches!(folder, "dropped" | "yield" | "recipes" | "growth"))
            .then_some(folder)
    }

    /// Whether the home has a file of this name and size. The bytes are not compared, because that would read all
    /// files.
    pub fn is_present(&self, home: &Home) -> bool {
        home.storage().stat(&self.file).is_ok_and(|stat| stat.is_some_and(|stat| stat.bytes == self.bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_the_digest_of_its_bytes_and_is_present_by_its_size() {
        let folder = tempfile::tempdir().unwrap();
        Home::create(folder.path(), "", "").unwrap();
        let home = Home::at(folder.path()).unwrap();
        home.storage().put_atomic("docs/a", b"rain").unwrap();
        let digest = FileDigest::of(&home, "docs/a").unwrap();
        let expected = FileDigest::of_bytes("docs/a".to_owned(), b"rain", 1);
        assert_eq!(FileDigest { lines: Some(1), ..digest.clone() }, expected);
        assert!(digest.is_present(&home));
        home.storage().put_atomic("docs/a", b"rains").unwrap();
        assert!(!digest.is_present(&home));
        assert!(FileDigest::of(&home, "docs/b").is_err());
        assert_eq!(
            FileDigest::of_copy(&digest.path(&home), "b").unwrap().xxh3,
            FileDigest::of(&home, "docs/a").unwrap().xxh3
        );
    }
}
