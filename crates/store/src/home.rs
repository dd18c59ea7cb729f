//! A home: the folder in which a corpus lives, and who may write to it.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{BufRead, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use jiff::Timestamp;

use crate::error::{Context, Error, Result};
use crate::frames;
use tidings_storage::file::{self, files_in};
use tidings_storage::{LocalStorage, Storage, write_atomic};

/// The settings file, whose presence makes a folder a home.
pub const SETTINGS: &str = "tidings.toml";

/// The lock of a stage, and that of a run over all stages.
const LOCKS: [&str; 2] = [".lock", ".run.lock"];

/// The beginning of the names of the locks of shards.
const SHARD_LOCK: &str = ".lock.";

/// The folder of drafts under a root; those of shards have a suffix.
pub(crate) const DRAFTS: &str = "draft";

/// A corpus directory.
#[derive(Debug, Clone)]
pub struct Home {
    root: PathBuf,
    storage: Arc<dyn Storage>,
    /// The part of the work that this process does beside others, for the names of its drafts.
    shard: Option<Arc<str>>,
}

/// The right to write into a home; it ends with the process, however that ends.
#[derive(Debug)]
pub struct Lock {
    _file: File,
    /// The lock that shards hold together.
    _common: Option<File>,
}

impl Home {
    fn over(root: &Path) -> Home {
        Home { root: root.to_owned(), storage: Arc::new(LocalStorage::new(root)), shard: None }
    }

    /// The same home for one of several processes that share the work: its drafts have names of their own.
    pub fn for_shard(&self, shard: &str) -> Home {
        Home { shard: Some(shard.into()), ..self.clone() }
    }

    /// Whether other processes work in this home at the same time.
    pub(crate) fn is_shared(&self) -> bool {
        self.shard.is_some()
    }

    /// The name of the folder in which files of a root are drafted.
    pub(crate) fn draft_name(&self) -> String {
        self.shard.as_ref().map_or_else(|| DRAFTS.to_owned(), |shard| format!("{DRAFTS}-{shard}"))
    }

    /// The storage of raw pages, documents, text and verdicts. Lock, plan, journal and indexes are local files.
    pub fn storage(&self) -> &dyn Storage {
        &*self.storage
    }

    /// Opens a file of the home by its key and decompresses it if it is compressed.
    pub fn open_file(&self, file: &str) -> Result<Box<dyn BufRead + Send>> {
        frames::decompressed(self.storage.open(file)?, &self.storage.path(file))
    }

    /// The size of a file of the home; nothing if it is not there.
    pub fn file_bytes(&self, file: &str) -> Result<Option<u64>> {
        Ok(self.storage.stat(file)?.map(|stat| stat.bytes))
    }

    /// The folder of the index of a language, for [memory maps](tidings_storage::Storage::path).
    pub fn index_of(&self, language: &str) -> PathBuf {
        self.index().join(language)
    }

    /// The files of all indexes, by language and name.
    pub fn index_files(&self) -> Result<Vec<PathBuf>> {
        let mut files = Vec::new();
        for language in files_in(&self.index())? {
            files.extend(files_in(&language)?.into_iter().filter(|path| path.is_file()));
        }
        Ok(files)
    }

    /// Whether a language has a folder for its index.
    pub fn has_index(&self, language: &str) -> bool {
        self.index_of(language).exists()
    }

    /// Removes the index of a language, or all indexes.
    pub fn clear_index(&self, language: Option<&str>) -> Result<()> {
        remove_folder(&language.map_or(self.index(), |code| self.index_of(code)))
    }

    /// The report that `tidings report` writes unless it is told otherwise.
    pub fn report(&self) -> PathBuf {
        self.root.join("report.html")
    }

    /// When the report was written; nothing if there is none.
    pub fn report_time(&self) -> Option<SystemTime> {
        self.storage.stat("report.html").ok()??.modified
    }

    /// An empty folder for the home in which candidates are tried; what an earlier trial left is removed.
    pub fn empty_trial(&self) -> Result<PathBuf> {
        let path = self.root.join("trial");
        remove_folder(&path)?;
        Ok(path)
    }

    /// The lock files that are there, for diagnosis: taking a lock to look at it would hold it for a moment.
    pub fn lock_files(&self) -> Vec<PathBuf> {
        LOCKS.map(|name| self.root.join(name)).into_iter().filter(|path| path.is_file()).collect()
    }

    /// Whether there is a journal: a run is at work, or was cut off.
    pub fn has_journal(&self) -> bool {
        self.journal().exists()
    }

    /// The storage key of a path inside the home, as recipes and journals write it.
    pub fn key(&self, path: &Path) -> String {
        self.shown(path)
    }

    /// The home at a folder, which must hold the settings.
    pub fn at(root: &Path) -> Result<Home> {
        if root.join(SETTINGS).is_file() { Ok(Home::over(root)) } else { Err(Error::NoHome { start: root.to_owned() }) }
    }

    /// The nearest folder at or above `start` that is a home.
    pub fn find(start: &Path) -> Result<Home> {
        start
            .ancestors()
            .find(|folder| folder.join(SETTINGS).is_file())
            .map(Home::over)
            .ok_or_else(|| Error::NoHome { start: start.to_owned() })
    }

    /// Makes a home: settings, feed list and an empty plan, none of which replaces what is there.
    /// Gives the names of what was made.
    pub fn create(root: &Path, settings: &str, feeds: &str) -> Result<Vec<&'static str>> {
        file::make_folder(root)?;
        let mut made = Vec::new();
        let mut missing = |name: &'static str, bytes: &[u8]| -> Result<()> {
            let path = root.join(name);
            if !path.exists() {
                write_atomic(&path, bytes)?;
                made.push(name);
            }
            Ok(())
        };
        missing("feeds.txt", feeds.as_bytes())?;
        let home = Home::over(root);
        if home.existing_plan().is_none() {
            missing("plan.tsv.zst", &crate::plan::empty())?;
        }
        // The settings come last: a folder is a home only once everything else is there.
        missing(SETTINGS, settings.as_bytes())?;
        Ok(made)
    }

    /// The folder itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The settings file.
    pub fn settings(&self) -> PathBuf {
        self.root.join(SETTINGS)
    }

    /// The user's list of feeds.
    pub fn feed_list(&self) -> PathBuf {
        self.root.join("feeds.txt")
    }

    /// The plan.
    pub fn plan(&self) -> PathBuf {
        self.root.join("plan.tsv.zst")
    }

    /// The plan that is there: ours, or one that FeedFetcher left under its own name.
    pub(crate) fn existing_plan(&self) -> Option<PathBuf> {
        self.plans().into_iter().find(|path| path.is_file())
    }

    /// The names that a plan may have, ours first.
    pub(crate) fn plans(&self) -> [PathBuf; 4] {
        ["plan.tsv.zst", "plan.tsv", "plan.txt", "plan.txt.zst"].map(|name| self.root.join(name))
    }

    /// The journal of a run, until it is applied to the plan.
    pub(crate) fn journal(&self) -> PathBuf {
        self.root.join("plan.journal.zst")
    }

    /// Small files that a stage remembers things in.
    pub(crate) fn state(&self, name: &str) -> PathBuf {
        self.root.join("state").join(name)
    }

    /// Raw pages.
    pub fn pages(&self) -> PathBuf {
        self.root.join("pages")
    }

    /// Documents.
    pub fn docs(&self) -> PathBuf {
        self.root.join("docs")
    }

    /// The annotated text.
    pub fn text(&self) -> PathBuf {
        self.root.join("text")
    }

    /// The indexes, a folder for each language.
    pub fn index(&self) -> PathBuf {
        self.root.join("index")
    }

    /// The languages that have an index.
    pub fn indexed(&self) -> Result<Vec<String>> {
        let folders = files_in(&self.index())?.into_iter().filter(|path| path.join("MANIFEST").is_file());
        Ok(folders.filter_map(|path| Some(path.file_name()?.to_str()?.to_owned())).collect())
    }

    /// Verdicts on duplicates, and what was seen.
    pub fn seen(&self) -> PathBuf {
        self.root.join("seen")
    }

    /// Plans as they were before each run.
    pub fn history(&self) -> PathBuf {
        self.root.join("history")
    }

    /// Logs and summaries of runs.
    pub fn runs(&self) -> PathBuf {
        self.root.join("runs")
    }

    /// A path as a person in the home would write it.
    pub fn shown(&self, path: &Path) -> String {
        path.strip_prefix(&self.root).unwrap_or(path).display().to_string()
    }

    /// Takes the home for writing, or says who has it.
    pub fn lock(&self) -> Result<Lock> {
        let lock = self.take(LOCKS[0])?;
        self.remove_temp()?;
        Ok(lock)
    }

    /// Takes the right to go through all stages, which take the home for themselves one after the other.
    pub fn lock_rounds(&self) -> Result<Lock> {
        self.take(LOCKS[1])
    }

    /// Takes one shard of the work: others may take other shards at the same time, and nothing else.
    pub fn lock_shard(&self, shard: &str) -> Result<Lock> {
        // Shards hold the lock of the home together, so that it names none of them.
        let (common, path) = self.open_lock(LOCKS[0])?;
        self.acquired(common.try_lock_shared(), &path, || None)?;
        let own = self.take(&format!("{SHARD_LOCK}{shard}"))?;
        self.check_division(shard)?;
        Ok(Lock { _file: own._file, _common: Some(common) })
    }

    /// Refuses a shard while one of another division is at work: 1 of 2 and 1 of 3 have units of work in common.
    fn check_division(&self, shard: &str) -> Result<()> {
        let division = |name: &str| name.rsplit_once("-of-").map(|(_, count)| count.to_owned());
        for path in files_in(&self.root)? {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if !name.starts_with(SHARD_LOCK) || division(&name) == division(shard) {
                continue;
            }
            let other = OpenOptions::new().read(true).open(&path).context("open", &path)?;
            if matches!(other.try_lock_shared(), Err(TryLockError::WouldBlock)) {
                return Err(Error::Locked { root: self.root.clone(), pid: lock_holder(&path) });
            }
        }
        Ok(())
    }

    /// The free space on the disk of the home, where the system tells.
    pub fn free_bytes(&self) -> Option<u64> {
        let stat = rustix::fs::statvfs(&self.root).ok()?;
        Some(stat.f_bavail * stat.f_frsize)
    }

    /// Writes the report of the home.
    pub fn write_report(&self, html: &[u8]) -> Result<()> {
        Ok(write_atomic(&self.report(), html)?)
    }

    /// A new scratch home inside this one, for trials of feeds; an old one is deleted.
    pub fn create_trial(&self, settings: &str, feeds: &str) -> Result<Home> {
        let root = self.empty_trial()?;
        Home::create(&root, settings, feeds)?;
        Home::at(&root)
    }

    /// Opens a lock file, which is made if it is missing, and keeps what it says.
    fn open_lock(&self, name: &str) -> Result<(File, PathBuf)> {
        let path = self.root.join(name);
        let mut options = OpenOptions::new();
        let file = options.create(true).truncate(false).read(true).write(true).open(&path).context("open", &path)?;
        Ok((file, path))
    }

    /// Checks that a lock was acquired; `holder` gives the process that has it otherwise.
    fn acquired(
        &self,
        attempt: std::result::Result<(), TryLockError>,
        path: &Path,
        holder: impl FnOnce() -> Option<String>,
    ) -> Result<()> {
        match attempt {
            Ok(()) => Ok(()),
            Err(TryLockError::WouldBlock) => Err(Error::Locked { root: self.root.clone(), pid: holder() }),
            Err(TryLockError::Error(error)) => Ok(Err(error).context("lock", path)?),
        }
    }

    fn take(&self, name: &str) -> Result<Lock> {
        let (mut file, path) = self.open_lock(name)?;
        self.acquired(file.try_lock(), &path, || lock_holder(&path))?;
        // The process number is for people; nothing depends on it.
        let _ = file.set_len(0).and_then(|()| file.rewind()).and_then(|()| writeln!(file, "{}", std::process::id()));
        Ok(Lock { _file: file, _common: None })
    }

    /// Removes drafts that a crash left behind; nothing refers to them.
    fn remove_temp(&self) -> Result<()> {
        for folder in [self.root.clone(), self.root.join("state"), self.runs()] {
            file::remove_temp(&folder)?;
        }
        // No shard is at work while the whole home is locked.
        let is_shard_lock = |path: &PathBuf| {
            path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(SHARD_LOCK.as_bytes()))
        };
        for path in files_in(&self.root)?.iter().filter(|path| is_shard_lock(path)) {
            file::remove(path)?;
        }
        crate::import_log::recover(self)?;
        crate::docs::remove_temp(self)?;
        crate::dedup_state::remove_temp(self)?;
        crate::text::remove_temp(self)
    }
}

/// The process that wrote its number into a lock file; nothing if the file is empty or cannot be read.
fn lock_holder(path: &Path) -> Option<String> {
    let pid = std::fs::read_to_string(path).unwrap_or_default().trim().to_owned();
    (!pid.is_empty()).then_some(pid)
}

/// Removes a folder with all that is in it, if it is there.
fn remove_folder(path: &Path) -> Result<()> {
    match std::fs::remove_dir_all(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Ok(Err(error).context("remove", path)?),
        _ => Ok(()),
    }
}

/// A time as names of files carry it: to the millisecond, sortable, without characters that some
/// systems refuse.
pub fn stamp(time: Timestamp) -> String {
    time.strftime("%Y%m%dT%H%M%S%3fZ").to_string()
}

/// A time as files of ours carry it.
pub fn rfc3339(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::home;
    use std::fs;
    use std::os::unix::ffi::OsStrExt as _;

    #[test]
    fn a_home_is_made_once_and_nothing_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        assert!(matches!(Home::at(folder.path()), Err(Error::NoHome { .. })));
        let made = Home::create(folder.path(), "# mine", "http://e.org/feed").unwrap();
        assert_eq!(made, ["feeds.txt", "plan.tsv.zst", SETTINGS]);
        assert!(Home::create(folder.path(), "# other", "").unwrap().is_empty());
        let home = Home::at(folder.path()).unwrap();
        assert_eq!(fs::read_to_string(home.settings()).unwrap(), "# mine");
    }

    #[test]
    fn a_plan_under_another_name_is_no_missing_plan() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("plan.txt"), "").unwrap();
        assert_eq!(Home::create(folder.path(), "", "").unwrap(), ["feeds.txt", SETTINGS]);
    }

    #[test]
    fn a_home_is_found_from_any_folder_inside() {
        let (folder, home) = home();
        let inner = folder.path().join("pages/2026-03-01");
        fs::create_dir_all(&inner).unwrap();
        assert_eq!(Home::find(&inner).unwrap().root(), home.root());
        let error = Home::find(Path::new("/")).unwrap_err().to_string();
        assert!(error.contains("tidings init"), "{error}");
    }

    #[test]
    fn a_home_whose_path_is_no_utf8_works() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join(std::ffi::OsStr::from_bytes(b"h\xff"));
        Home::create(&root, "", "").unwrap();
        let home = Home::at(&root).unwrap();
        home.storage().put_atomic("docs/de/1", b"rain").unwrap();
        assert_eq!(home.file_bytes("docs/de/1").unwrap(), Some(4));
        assert_eq!(home.key(&home.storage().path("docs/de/1")), "docs/de/1");
    }

    #[test]
    fn a_lock_is_held_once_and_names_the_process() {
        let (_folder, home) = home();
        assert!(home.lock_files().is_empty());
        let lock = home.lock().unwrap();
        let error = home.lock().unwrap_err().to_string();
        assert!(error.contains(&format!("(process {})", std::process::id())), "{error}");
        let rounds = home.lock_rounds().unwrap();
        assert_eq!(home.lock_files().len(), 2);
        drop((lock, rounds));
        home.lock().unwrap();
    }

    #[test]
    fn taking_the_lock_removes_what_a_crash_left() {
        let (_folder, home) = home();
        let left = [
            "plan.tsv.zst.tmp",
            "state/feeds.tsv.tmp",
            "docs/draft/de.tmp",
            "text/recipes/1.json.tmp",
            "seen/draft/a.tmp",
        ];
        for key in left {
            home.storage().put_atomic(key, b"half").unwrap();
        }
        home.storage().put_atomic("state/feeds.tsv", b"feed\n").unwrap();
        drop(home.lock().unwrap());
        assert!(left.iter().all(|key| home.file_bytes(key).unwrap().is_none()));
        assert_eq!(home.file_bytes("state/feeds.tsv").unwrap(), Some(5));
    }

    #[test]
    fn files_are_opened_by_their_keys_compressed_or_not() {
        let (_folder, home) = home();
        home.storage().put_atomic("a", b"plain").unwrap();
        home.storage().put_atomic("b", &zstd::encode_all(&b"packed"[..], 3).unwrap()).unwrap();
        let text = |key: &str| {
            let mut text = String::new();
            home.open_file(key).map(|mut file| file.read_to_string(&mut text).unwrap()).map(|_| text)
        };
        assert_eq!((text("a").unwrap(), text("b").unwrap()), ("plain".to_owned(), "packed".to_owned()));
        assert!(text("c").is_err());
    }

    #[test]
    fn indexes_are_listed_by_their_manifests_and_removed_by_language() {
        let (_folder, home) = home();
        for key in ["index/de/MANIFEST", "index/en/MANIFEST", "index/fr/half"] {
            home.storage().put_atomic(key, b"").unwrap();
        }
        assert_eq!(home.indexed().unwrap(), ["de", "en"]);
        home.clear_index(Some("de")).unwrap();
        assert!(!home.has_index("de") && home.has_index("fr"));
        home.clear_index(None).unwrap();
        home.clear_index(None).unwrap();
        assert!(home.indexed().unwrap().is_empty());
    }

    #[test]
    fn a_trial_begins_with_an_empty_folder_and_a_report_has_a_time() {
        let (_folder, home) = home();
        home.storage().put_atomic("trial/pages/1", b"").unwrap();
        assert!(!home.empty_trial().unwrap().exists());
        assert_eq!(home.report_time(), None);
        fs::write(home.report(), "x").unwrap();
        assert!(home.report_time().is_some() && !home.has_journal());
    }

    #[test]
    fn times_are_written_so_that_they_sort() {
        let time: Timestamp = "2026-03-01T12:00:00.25Z".parse().unwrap();
        assert_eq!((stamp(time), rfc3339(time)), ("20260301T120000250Z".into(), "2026-03-01T12:00:00.250Z".into()));
    }

    #[test]
    fn shards_of_one_division_share_a_home_and_nothing_else_does() {
        let folder = tempfile::tempdir().unwrap();
        Home::create(folder.path(), "", "").unwrap();
        let home = Home::at(folder.path()).unwrap();
        let first = home.lock_shard("1-of-2").unwrap();
        let second = home.lock_shard("2-of-2").unwrap();
        assert!(home.lock_shard("1-of-2").is_err(), "the shard is taken");
        assert!(home.lock_shard("3-of-3").is_err(), "another division has units in common");
        assert!(home.lock().is_err());
        drop((first, second));
        assert!(home.lock_shard("3-of-3").is_ok());
        assert!(home.lock().is_ok());
    }
}
