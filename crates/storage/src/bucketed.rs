//! Files of a home whose data is in a bucket: published as objects, with a [`Pointer`] in their place.
//!
//! An object is uploaded under the key of the file with the digest of its content, so it never changes; then the pointer
//! is written, which is the commit point. A log in the home (`state/objects.log`) names every object before it is uploaded
//! (`+`), and every one that takedowns replace (`-`). [`BucketPrefix::sweep`] deletes the objects of the log that nothing
//! points to, so that no other object of the bucket is ever deleted. A prefix belongs to one home: the home that creates
//! the object `tidings-home` there, which only one can.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use xxhash_rust::xxh3::Xxh3;

use crate::crash;
use crate::error::{Context, Error, Result};
use crate::file::{self, AtomicFile, write_atomic};
use crate::object_url::ObjectUrl;
use crate::objects::{Bucket, ObjectFailure, Upload, about};
use crate::pointer::{Pointer, may_be_pointer};

/// The folders of a home whose files go to the bucket.
pub const ROOTS: [&str; 2] = ["pages", "docs"];
/// The folder of raw data, which nothing can replace.
const RAW: &str = "pages/";
/// The object that names the home of a prefix.
const OWNER: &str = "tidings-home";
const LOG: &str = "objects.log";
const CLAIM: &str = "bucket.txt";

/// The place in a bucket where a home keeps its objects.
#[derive(Debug)]
pub struct BucketPrefix {
    url: ObjectUrl,
    /// The folder of the home.
    root: PathBuf,
    /// Whether the prefix is known to belong to the home.
    is_claimed: Mutex<bool>,
}

/// What a sweep did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Swept {
    /// Objects that files of the home point to.
    pub kept: u64,
    /// Objects that were deleted.
    pub deleted: u64,
}

impl BucketPrefix {
    /// The objects of the home in a folder below an address.
    pub fn new(root: &Path, url: ObjectUrl) -> BucketPrefix {
        BucketPrefix { url, root: root.to_owned(), is_claimed: Mutex::default() }
    }

    /// The address.
    pub fn url(&self) -> &ObjectUrl {
        &self.url
    }

    /// Whether the data of a file goes to the bucket.
    pub(crate) fn takes(key: &str) -> bool {
        may_be_pointer(key) && ROOTS.iter().any(|root| key.strip_prefix(root).is_some_and(|rest| rest.starts_with('/')))
    }

    /// Uploads a finished local file, and writes a pointer to it at the target. The local file is deleted.
    pub(crate) fn publish(&self, local: &Path, key: &str, target: &Path) -> Result<()> {
        self.claim()?;
        let (bytes, digest) = digest_of(local)?;
        let object = with_digest(key, &digest);
        let url = self.url.join(&object);
        self.log('+', &object)?;
        crash::point();
        self.upload(local, bytes, &url)?;
        crash::point();
        file::make_folder(file::parent(target))?;
        write_atomic(target, &Pointer { url, bytes }.encode())?;
        if local == target { Ok(()) } else { file::discard(local) }
    }

    fn upload(&self, local: &Path, bytes: u64, url: &ObjectUrl) -> Result<()> {
        let bucket = about(Bucket::of(url), "open", url)?;
        // A process that was killed may have uploaded it already.
        let known = about(bucket.stat(&url.key), "inspect", url)?;
        if known.is_some_and(|known| known.bytes == bytes) {
            return Ok(());
        }
        let mut file = File::open(local).context("open", local)?;
        let mut upload = about(Upload::begin(url), "write", url)?;
        let mut buffer = vec![0; 1 << 18];
        loop {
            let read = file.read(&mut buffer).context("read", local)?;
            if read == 0 {
                break;
            }
            about(upload.push(&buffer[..read]), "write", url)?;
        }
        about(upload.publish(), "write", url)
    }

    /// Records that an object will be replaced or deleted; `None` if it is elsewhere.
    pub(crate) fn retire(&self, url: &ObjectUrl) -> Option<Result<()>> {
        Some(self.log('-', self.inside(url)?))
    }

    /// The key of an object relative to the prefix; `None` if it is elsewhere.
    fn inside<'a>(&self, url: &'a ObjectUrl) -> Option<&'a str> {
        if (url.scheme, &url.bucket) != (self.url.scheme, &self.url.bucket) {
            return None;
        }
        match &*self.url.key {
            "" => Some(&url.key),
            prefix => url.key.strip_prefix(prefix)?.strip_prefix('/'),
        }
    }

    fn state(&self, name: &str) -> PathBuf {
        self.root.join("state").join(name)
    }

    /// Appends a line to the log of objects, durably. Lines are short, so that those of several processes do not mix.
    fn log(&self, sign: char, object: &str) -> Result<()> {
        let path = self.state(LOG);
        file::make_folder(file::parent(&path))?;
        let is_new = !path.exists();
        let mut log = file::no_follow().create(true).append(true).open(&path).context("open", &path)?;
        log.write_all(format!("{sign}{object}\n").as_bytes()).context("write", &path)?;
        log.sync_data().context("sync", &path)?;
        if is_new { file::sync_folder(file::parent(&path)) } else { Ok(()) }
    }

    /// Makes sure that the prefix belongs to this home. The home keeps the answer.
    fn claim(&self) -> Result<()> {
        let mut is_claimed = self.is_claimed.lock().expect("no panic while held");
        if *is_claimed {
            return Ok(());
        }
        let path = self.state(CLAIM);
        let known = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Ok(Err(error).context("read", &path)?),
        };
        let mut lines = known.lines();
        let (id, urls): (String, Vec<&str>) = (lines.next().map_or_else(random_id, str::to_owned), lines.collect());
        let url = self.url.to_string();
        if !urls.contains(&url.as_str()) {
            // The home remembers its name before the object has it, so that a crash in between does no harm.
            write_atomic(&path, lines_of(&id, &urls).as_bytes())?;
            self.own(&id)?;
            write_atomic(&path, lines_of(&id, &[&urls[..], &[&url]].concat()).as_bytes())?;
        }
        *is_claimed = true;
        Ok(())
    }

    /// Creates the object with the name of the home, or reads it.
    fn own(&self, id: &str) -> Result<()> {
        let owner = self.url.join(OWNER);
        let bucket = about(Bucket::of(&owner), "open", &owner)?;
        match bucket.put(&owner.key, format!("{id}\n").as_bytes(), true) {
            Ok(()) => Ok(()),
            Err(fault) if fault.failure == ObjectFailure::AlreadyExists => {
                let found = about(bucket.read(&owner.key), "read", &owner)?.unwrap_or_default();
                match String::from_utf8_lossy(&found).trim() == id {
                    true => Ok(()),
                    false => Err(Error::Owned { url: self.url.to_string() }),
                }
            }
            Err(fault) => about(Err(fault), "write", &owner),
        }
    }

    /// Deletes objects of the log that nothing points to any more. The caller holds the whole home, so that no object is
    /// between its upload and its pointer. `drafts` are further folders with pointers.
    pub fn sweep(&self, drafts: &[&Path]) -> Result<Swept> {
        let path = self.state(LOG);
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Swept::default()),
            Err(error) => return Ok(Err(error).context("read", &path)?),
        };
        // A crash may have cut the last line: its object was not uploaded.
        let end = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let text = String::from_utf8_lossy(&text[..end]).into_owned();
        let retired: BTreeSet<&str> = text.lines().filter_map(|line| line.strip_prefix('-')).collect();
        let logged: BTreeSet<&str> =
            text.lines().filter_map(|line| line.get(1..)).filter(|key| !key.is_empty()).collect();
        let mut pointed: BTreeMap<PathBuf, Option<String>> = BTreeMap::new();
        let (mut swept, mut kept) = (Swept::default(), String::new());
        for object in logged {
            let is_pointed = self.files_of(object, drafts).into_iter().any(|file| {
                let found = pointed.entry(file).or_insert_with_key(|file| {
                    let pointer = Pointer::at(file).ok().flatten();
                    pointer.and_then(|pointer| self.inside(&pointer.url).map(str::to_owned))
                });
                found.as_deref() == Some(object)
            });
            // Raw pages are only deleted if a takedown said so: their files may have been moved away for a while.
            let is_garbage = !is_pointed && (!object.starts_with(RAW) || retired.contains(object));
            if is_garbage {
                let url = self.url.join(object);
                about(Bucket::of(&url).and_then(|bucket| bucket.delete(&url.key)), "remove", &url)?;
                swept.deleted += 1;
            } else {
                swept.kept += 1;
                kept.push_str(&format!("+{object}\n"));
                if retired.contains(object) && !is_pointed {
                    kept.push_str(&format!("-{object}\n"));
                }
            }
        }
        let mut log = AtomicFile::create(&path)?;
        log.write(kept.as_bytes())?;
        log.publish()?;
        Ok(swept)
    }

    /// The files that may point to an object.
    fn files_of(&self, object: &str, drafts: &[&Path]) -> Vec<PathBuf> {
        let Some(key) = without_digest(object) else { return Vec::new() };
        let folders = std::iter::once(self.root.as_path()).chain(drafts.iter().copied());
        folders.map(|folder| folder.join(&key)).collect()
    }
}

fn lines_of(id: &str, urls: &[&str]) -> String {
    [&[id][..], urls].concat().join("\n") + "\n"
}

/// A name that no other home has.
fn random_id() -> String {
    format!("{:016x}{:016x}", RandomState::new().hash_one(0), RandomState::new().hash_one(1))
}

/// Size and digest of a file: XXH3, 128 bits, in hexadecimal.
fn digest_of(path: &Path) -> Result<(u64, String)> {
    let mut file = File::open(path).context("open", path)?;
    let (mut hash, mut bytes, mut buffer) = (Xxh3::new(), 0, vec![0; 1 << 18]);
    loop {
        let read = file.read(&mut buffer).context("read", path)?;
        if read == 0 {
            return Ok((bytes, format!("{:032x}", hash.digest128())));
        }
        hash.update(&buffer[..read]);
        bytes += read as u64;
    }
}

/// The extensions of files that go to the bucket; they stay at the end of the names of objects.
const ENDINGS: [&str; 4] = [".jsonl.zst", ".warc.gz", ".zst", ".gz"];

/// The key of an object: that of its file, with the digest before the extension.
fn with_digest(key: &str, digest: &str) -> String {
    let ending = ENDINGS.iter().find(|ending| key.ends_with(*ending)).copied().unwrap_or_default();
    format!("{}.{digest}{ending}", &key[..key.len() - ending.len()])
}

/// The key of the file of an object.
fn without_digest(object: &str) -> Option<String> {
    let ending = ENDINGS.iter().find(|ending| object.ends_with(*ending))?;
    let (key, digest) = object[..object.len() - ending.len()].rsplit_once('.')?;
    let is_digest = digest.len() == 32 && digest.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_digest.then(|| format!("{key}{ending}"))
}

#[cfg(all(test, feature = "object-storage"))]
mod tests {
    use super::*;
    use crate::{LocalStorage, OverlayStorage, Storage as _};

    const KEY: &str = "pages/2026-03-01/run.0.jsonl.zst";

    fn prefix(name: &str) -> ObjectUrl {
        ObjectUrl::parse(&format!("memory://{name}/news")).unwrap().unwrap()
    }

    fn storage(bucket: &str) -> (tempfile::TempDir, LocalStorage) {
        let folder = tempfile::tempdir().unwrap();
        let storage = LocalStorage::new(folder.path()).with_bucket(prefix(bucket));
        (folder, storage)
    }

    fn publish(storage: &dyn crate::Storage, folder: &Path, key: &str, bytes: &[u8]) -> Result<()> {
        let draft = folder.join("draft.part");
        fs::write(&draft, bytes).unwrap();
        storage.publish_file(&draft, key)?;
        assert!(!draft.exists());
        Ok(())
    }

    fn objects(bucket: &str) -> Vec<String> {
        let url = prefix(bucket);
        Bucket::of(&url).unwrap().list("news").unwrap().into_iter().map(|object| object.key).collect()
    }

    #[test]
    fn a_published_file_is_an_object_and_reads_as_a_file() {
        let (folder, storage) = storage("published");
        publish(&storage, folder.path(), KEY, b"pages of a day").unwrap();
        assert!(fs::metadata(folder.path().join(KEY)).unwrap().len() < 200, "only a pointer is in the home");
        assert_eq!(storage.read(KEY).unwrap().unwrap(), b"pages of a day");
        assert_eq!(storage.read_range(KEY, 6..8).unwrap(), b"of");
        assert_eq!(storage.stat(KEY).unwrap().unwrap().bytes, 14);
        assert_eq!(storage.list("pages/2026-03-01").unwrap(), [KEY]);
        let objects = objects("published");
        assert!(objects[0].starts_with("news/pages/2026-03-01/run.0.") && objects[0].ends_with(".jsonl.zst"));
        assert_eq!(objects[1], "news/tidings-home");
    }

    #[test]
    fn small_files_and_other_folders_stay_local() {
        let (folder, storage) = storage("local");
        storage.put_atomic("docs/recipes/2026-03-01.json", b"{}").unwrap();
        publish(&storage, folder.path(), "text/de/2026-03-01.vert.zst", b"text").unwrap();
        assert_eq!(fs::read(folder.path().join("text/de/2026-03-01.vert.zst")).unwrap(), b"text");
        assert!(objects("local").is_empty());
    }

    #[test]
    fn a_prefix_belongs_to_the_home_that_came_first() {
        let (folder, first) = storage("owned");
        publish(&first, folder.path(), KEY, b"first").unwrap();
        let (other, second) = storage("owned");
        let refused = publish(&second, other.path(), KEY, b"second").unwrap_err().to_string();
        assert!(refused.contains("memory://owned/news") && refused.contains("another home"), "{refused}");
        assert!(!other.path().join(KEY).exists() && other.path().join("draft.part").exists());
        // The first home is not asked again, also not in a new process.
        let again = LocalStorage::new(folder.path()).with_bucket(prefix("owned"));
        publish(&again, folder.path(), "docs/de/2026-03-01.jsonl.zst", b"documents").unwrap();
    }

    #[test]
    fn replaced_documents_are_deleted_by_a_sweep_and_raw_pages_only_by_a_takedown() {
        let (folder, storage) = storage("swept");
        let document = "docs/de/2026-03-01.jsonl.zst";
        for (key, text) in [(KEY, "pages"), (document, "one"), (document, "two"), (document, "two")] {
            publish(&storage, folder.path(), key, text.as_bytes()).unwrap();
        }
        assert_eq!(objects("swept").len(), 4);
        let sweep = || storage.bucket().unwrap().sweep(&[]).unwrap();
        assert_eq!(sweep(), Swept { kept: 2, deleted: 1 });
        assert_eq!(storage.read(document).unwrap().unwrap(), b"two");
        // The file is moved away.
        fs::rename(folder.path().join("pages"), folder.path().join("elsewhere")).unwrap();
        assert_eq!(sweep(), Swept { kept: 2, deleted: 0 });
        fs::rename(folder.path().join("elsewhere"), folder.path().join("pages")).unwrap();
        storage.remove(KEY).unwrap();
        assert_eq!(sweep(), Swept { kept: 1, deleted: 1 });
        assert_eq!((sweep(), objects("swept").len()), (Swept { kept: 1, deleted: 0 }, 2));
    }

    #[test]
    fn a_draft_over_the_home_shares_objects_and_keeps_them() {
        let (folder, storage) = storage("drafted");
        let key = "docs/de/2026-03-01.jsonl.zst";
        publish(&storage, folder.path(), key, b"old").unwrap();
        let overlay = OverlayStorage::new(storage.clone(), "rebuild/new", &["docs"]);
        publish(&overlay, folder.path(), key, b"new").unwrap();
        assert_eq!(
            (storage.read(key).unwrap().unwrap(), overlay.read(key).unwrap().unwrap()),
            (b"old".into(), b"new".into())
        );
        let new = folder.path().join("rebuild/new");
        assert_eq!(storage.bucket().unwrap().sweep(&[&new]).unwrap(), Swept { kept: 2, deleted: 0 });
        assert!(objects("drafted").iter().all(|key| !key.contains("rebuild")));
    }

    #[test]
    fn an_object_that_a_killed_process_uploaded_is_adopted() {
        let (folder, storage) = storage("adopted");
        publish(&storage, folder.path(), KEY, b"pages").unwrap();
        fs::remove_file(folder.path().join(KEY)).unwrap();
        publish(&storage, folder.path(), KEY, b"pages").unwrap();
        let mut text = String::new();
        storage.open(KEY).unwrap().read_to_string(&mut text).unwrap();
        assert_eq!((text.as_str(), objects("adopted").len()), ("pages", 2));
    }

    #[test]
    fn the_name_of_an_object_is_that_of_its_file_with_a_digest() {
        let digest = "0123456789abcdef0123456789abcdef";
        for key in [KEY, "pages/2026-03-01/run.0.warc.gz", "docs/de/2026-03-01.jsonl.zst", "docs/dropped/1.zst"] {
            let object = with_digest(key, digest);
            assert_ne!(object, key);
            assert_eq!(without_digest(&object).as_deref(), Some(key));
        }
        assert_eq!(without_digest(KEY), None);
    }
}
