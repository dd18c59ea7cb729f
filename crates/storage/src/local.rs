//! A folder of the local file system as storage.

use std::fs;
use std::io::{self, BufRead, BufReader, Read as _, Seek as _, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::bucketed::BucketPrefix;
use crate::error::{Context, Error, Result};
use crate::file::{self, AtomicFile};
use crate::object_url::ObjectUrl;
use crate::pointer::Pointer;
use crate::source::{self, Source};
use crate::storage::{AtomicWrite, Stat, Storage};

/// Storage in a folder: the key is the path below it. The data of large files may be in a bucket.
#[derive(Debug, Clone)]
pub struct LocalStorage {
    root: PathBuf,
    bucket: Option<Arc<BucketPrefix>>,
}

impl LocalStorage {
    /// Storage in a folder, which is created with the first object.
    pub fn new(root: &Path) -> LocalStorage {
        LocalStorage { root: root.to_owned(), bucket: None }
    }

    /// The same with the data of pages and documents in a bucket. Files that are there already stay where they are.
    pub fn with_bucket(self, prefix: ObjectUrl) -> LocalStorage {
        let bucket = Some(Arc::new(BucketPrefix::new(&self.root, prefix)));
        LocalStorage { bucket, ..self }
    }

    /// The bucket.
    pub fn bucket(&self) -> Option<&BucketPrefix> {
        self.bucket.as_deref()
    }

    /// Publishes a local file at the path of a key; the object in the bucket has the name of another key.
    pub(crate) fn publish_as(&self, local: &Path, key: &str, name: &str) -> Result<()> {
        let target = self.resolve(key)?;
        if let Some(bucket) = &self.bucket
            && BucketPrefix::takes(name)
        {
            return bucket.publish(local, name, &target);
        }
        file::make_folder(file::parent(&target))?;
        file::rename(local, &target)
    }

    /// The folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    fn resolve(&self, key: &str) -> Result<PathBuf> {
        let is_part = |part: &str| !matches!(part, "" | "." | "..") && !part.contains('\0');
        match key.split('/').all(is_part) {
            true => Ok(self.root.join(key)),
            false => Err(Error::Key { key: key.to_owned() }),
        }
    }

    /// Keys of the entries of a folder that `is_wanted`; names that are not UTF-8 are ignored.
    /// The sorted keys of the files or folders directly in a folder; empty if it is missing.
    fn entries(&self, prefix: &str, are_folders: bool) -> Result<Vec<String>> {
        let folder = if prefix.is_empty() { self.root.clone() } else { self.resolve(prefix)? };
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error).context("read the folder", &folder).map_err(Into::into),
        };
        let mut keys = Vec::new();
        for entry in entries {
            let entry = entry.context("read the folder", &folder)?;
            let kind = entry.file_type().context("inspect", &folder)?;
            // A folder may have a file for each day: only the targets of links are inspected.
            let is_wanted = match (kind.is_symlink(), are_folders) {
                (false, true) => kind.is_dir(),
                (false, false) => kind.is_file(),
                (true, true) => entry.path().is_dir(),
                (true, false) => entry.path().is_file(),
            };
            let name = entry.file_name();
            if let (true, Some(name)) = (is_wanted, name.to_str()) {
                keys.push(if prefix.is_empty() { name.to_owned() } else { format!("{prefix}/{name}") });
            }
        }
        keys.sort_unstable();
        Ok(keys)
    }
}

impl Storage for LocalStorage {
    fn open(&self, key: &str) -> Result<Box<dyn BufRead + Send>> {
        let path = self.resolve(key)?;
        match Source::stored(&path)? {
            Source::File(file) => Ok(Box::new(BufReader::with_capacity(1 << 18, file))),
            Source::Object(object) => Ok(object),
        }
    }

    fn read_range(&self, key: &str, range: Range<u64>) -> Result<Vec<u8>> {
        let path = self.resolve(key)?;
        let mut file = Source::stored(&path)?;
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(range.start)).context("read", &path)?;
        file.take(range.end.saturating_sub(range.start)).read_to_end(&mut bytes).context("read", &path)?;
        Ok(bytes)
    }

    fn stat(&self, key: &str) -> Result<Option<Stat>> {
        source::stat(&self.resolve(key)?)
    }

    fn list(&self, prefix: &str) -> Result<Vec<String>> {
        self.entries(prefix, false)
    }

    fn folders(&self, prefix: &str) -> Result<Vec<String>> {
        self.entries(prefix, true)
    }

    fn create(&self, key: &str) -> Result<Box<dyn AtomicWrite>> {
        Ok(Box::new(AtomicFile::create(&self.resolve(key)?)?))
    }

    fn publish_file(&self, local: &Path, key: &str) -> Result<()> {
        self.publish_as(local, key, key)
    }

    fn retire(&self, key: &str) -> Result<()> {
        let path = self.resolve(key)?;
        let Some(pointer) = Pointer::at(&path).context("read", &path)? else { return Ok(()) };
        match self.bucket.as_ref().and_then(|bucket| bucket.retire(&pointer.url)) {
            Some(retired) => retired,
            None => Err(Error::Elsewhere { path, url: pointer.url.to_string() }),
        }
    }

    fn remove(&self, key: &str) -> Result<()> {
        self.retire(key)?;
        file::remove(&self.resolve(key)?)
    }

    fn path(&self, key: &str) -> PathBuf {
        self.root.join(key)
    }
}

impl AtomicWrite for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        AtomicFile::write(self, bytes)
    }

    fn publish(self: Box<Self>) -> Result<()> {
        AtomicFile::publish(*self)
    }

    fn discard(self: Box<Self>) {
        AtomicFile::discard(*self);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn storage() -> (tempfile::TempDir, Box<dyn Storage>) {
        let folder = tempfile::tempdir().unwrap();
        let storage = Box::new(LocalStorage::new(folder.path()));
        (folder, storage)
    }

    #[test]
    fn objects_are_listed_by_folder_in_the_order_of_their_keys() {
        let (_folder, storage) = storage();
        for key in ["docs/de/2", "docs/de/10", "docs/en/1", "docs/recipe", "plan"] {
            storage.put_atomic(key, key.as_bytes()).unwrap();
        }
        assert_eq!(storage.list("docs/de").unwrap(), ["docs/de/10", "docs/de/2"]);
        assert_eq!(storage.list("docs").unwrap(), ["docs/recipe"]);
        assert_eq!(storage.folders("docs").unwrap(), ["docs/de", "docs/en"]);
        assert_eq!(
            (storage.list("").unwrap(), storage.folders("").unwrap()),
            (vec!["plan".into()], vec!["docs".into()])
        );
        assert!(storage.list("missing").unwrap().is_empty());
    }

    #[test]
    fn a_missing_object_reads_as_none_but_is_an_error_to_open() {
        let (_folder, storage) = storage();
        assert_eq!((storage.read("a/b").unwrap(), storage.stat("a/b").unwrap()), (None, None));
        let error = storage.open("a/b").err().expect("it is missing");
        assert!(error.is_not_found() && error.to_string().starts_with("cannot open"), "{error}");
        storage.remove("a/b").unwrap();
    }

    #[test]
    fn a_folder_is_not_an_object() {
        let (_folder, storage) = storage();
        storage.put_atomic("a/b", b"x").unwrap();
        assert_eq!(storage.stat("a").unwrap(), None);
        assert_eq!(storage.stat("a/b/c").unwrap(), None);
        assert_eq!(storage.stat("a/b").unwrap().map(|stat| stat.bytes), Some(1));
    }

    #[test]
    fn keys_do_not_leave_the_root() {
        let (_folder, storage) = storage();
        for key in ["../a", "/a", "a//b", "a/./b", "", "a/..", "a\0b"] {
            assert!(matches!(storage.put_atomic(key, b"x"), Err(Error::Key { .. })), "{key:?}");
            assert!(matches!(storage.read(key), Err(Error::Key { .. })), "{key:?}");
        }
    }

    #[test]
    fn a_local_file_is_moved_atomically() {
        let (folder, storage) = storage();
        let draft = folder.path().join("draft");
        fs::write(&draft, b"pages").unwrap();
        storage.put_atomic("pages/1", b"old").unwrap();
        storage.publish_file(&draft, "pages/1").unwrap();
        assert_eq!(storage.read("pages/1").unwrap().unwrap(), b"pages");
        assert!(!draft.exists());
    }

    #[test]
    fn an_object_that_is_dropped_or_discarded_never_appears() {
        let (_folder, storage) = storage();
        let mut dropped = storage.create("a").unwrap();
        dropped.write(b"x").unwrap();
        drop(dropped);
        storage.create("b").unwrap().discard();
        assert_eq!((storage.read("a").unwrap(), storage.read("b").unwrap()), (None, None));
    }

    proptest! {
        // Every case syncs files, which is slow.
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn a_range_is_the_slice_of_the_object(bytes in prop::collection::vec(any::<u8>(), 0..100), start in 0u64..120, len in 0u64..120) {
            let (_folder, storage) = storage();
            storage.put_atomic("a", &bytes).unwrap();
            let clamp = |at: u64| (at as usize).min(bytes.len());
            let expected = &bytes[clamp(start)..clamp(start + len)];
            prop_assert_eq!(storage.read_range("a", start..start + len).unwrap(), expected);
        }

        #[test]
        #[allow(clippy::reversed_empty_ranges)]
        fn a_reversed_range_is_empty(start in 1u64..50) {
            let (_folder, storage) = storage();
            storage.put_atomic("a", b"0123456789").unwrap();
            prop_assert!(storage.read_range("a", start..0).unwrap().is_empty());
        }

        #[test]
        fn the_storage_is_a_map(steps in prop::collection::vec(("[ab]/[cd]", prop::option::of(prop::collection::vec(any::<u8>(), 0..20))), 0..20)) {
            let (_folder, storage) = storage();
            let mut model: BTreeMap<String, Vec<u8>> = BTreeMap::new();
            for (key, value) in steps {
                match value {
                    Some(bytes) => {
                        storage.put_atomic(&key, &bytes).unwrap();
                        model.insert(key, bytes);
                    }
                    None => {
                        storage.remove(&key).unwrap();
                        model.remove(&key);
                    }
                }
                for prefix in ["a", "b"] {
                    let expected: Vec<&String> = model.keys().filter(|key| key.starts_with(prefix)).collect();
                    let listed = storage.list(prefix).unwrap();
                    prop_assert_eq!(listed.iter().collect::<Vec<_>>(), expected);
                }
                for (key, bytes) in &model {
                    prop_assert_eq!(&storage.read(key).unwrap(), &Some(bytes.clone()));
                }
            }
        }
    }
}
