//! A home: the folder of a corpus, and its locks.

use std::fs::{File, TryLockError};
use std::io::{BufRead, Read as _, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::SystemTime;

use jiff::Timestamp;

use crate::claims::{self, Claim, KnownClaims};
use crate::clean_end;
use crate::crash_search::CrashSearch;
use crate::error::{Context, Error, Result};
use crate::frames;
use crate::rebuild_draft;
use crate::runs::DayLogCache;
use tidings_storage::file::{self, files_in};
use tidings_storage::{LocalStorage, ObjectUrl, Storage, Swept, write_atomic};

/// The settings file, which marks a folder as a home.
pub const SETTINGS: &str = "tidings.toml";

/// The lock of a stage, and that of a run over all stages.
const LOCKS: [&str; 2] = [".lock", ".run.lock"];

/// The beginning of the names of the locks of shards of earlier versions, which had no claims.
const SHARD_LOCK: &str = ".lock.";

/// The folder of drafts under a root; those of shards have a suffix.
pub(crate) const DRAFTS: &str = "draft";

/// A corpus directory.
#[derive(Debug, Clone)]
pub struct Home {
    root: PathBuf,
    /// The storage of the home itself, also if derived data goes to a draft.
    base: LocalStorage,
    storage: Arc<dyn Storage>,
    /// The shard of this process, for the names of its drafts.
    shard: Option<Arc<str>>,
    /// The folders of derived data that are in the draft of a rebuild.
    drafted: Vec<&'static str>,
    pub(crate) crashes: Arc<CrashSearch>,
    pub(crate) day_log: Arc<DayLogCache>,
    pub(crate) known: Arc<KnownClaims>,
}

/// A lock on a home, which is released at the latest when the process ends.
#[derive(Debug)]
pub struct Lock {
    /// The claim on the whole home, for machines that do not see the lock of the file.
    _claim: Option<Claim>,
    /// The folders of drafts of this process.
    _drafts: Option<DraftFolders>,
    _file: File,
}

/// Folders of drafts that are deleted with the lock if they are empty.
#[derive(Debug)]
struct DraftFolders(Vec<PathBuf>);

impl Drop for DraftFolders {
    fn drop(&mut self) {
        for folder in &self.0 {
            // One with files is of a unit that failed; the next process that locks the whole home deletes it.
            let _ = std::fs::remove_dir(folder);
        }
    }
}

impl Home {
    fn over(root: &Path) -> Home {
        let base = LocalStorage::new(root);
        Home {
            root: root.to_owned(),
            storage: Arc::new(base.clone()),
            base,
            shard: None,
            drafted: Vec::new(),
            crashes: Arc::default(),
            day_log: Arc::default(),
            known: Arc::default(),
        }
    }

    /// The same home with the data of new pages and documents in a bucket, such as `s3://corpora/news`. What is in the
    /// folder stays there, and is found by its name as before.
    pub fn with_bucket(self, prefix: ObjectUrl) -> Home {
        let base = self.base.with_bucket(prefix);
        Home { storage: Arc::new(base.clone()), base, ..self }
    }

    /// Deletes objects of the bucket that nothing in the home stands for any more; `None` without a bucket. The caller
    /// holds the lock.
    pub fn sweep_bucket(&self) -> Result<Option<Swept>> {
        let Some(bucket) = self.base.bucket() else { return Ok(None) };
        Ok(Some(bucket.sweep(&[&self.root.join(rebuild_draft::NEW)])?))
    }

    /// The storage of the home itself.
    pub(crate) fn base(&self) -> &LocalStorage {
        &self.base
    }

    /// The same home for one of several processes that share the work, with claims and drafts of its own. The same
    /// shard may be at work twice, so drafts have a random name.
    pub fn for_shard(&self, shard: &str) -> Home {
        let name = format!("{shard}-{}", &claims::random_id()[..12]);
        Home { shard: Some(name.into()), known: Arc::default(), ..self.clone() }
    }

    /// The same home with some folders of derived data in the draft of a rebuild.
    pub(crate) fn over_draft(&self, storage: Arc<dyn Storage>, drafted: &[&'static str]) -> Home {
        Home { storage, drafted: drafted.to_vec(), ..self.clone() }
    }

    /// Whether derived data goes to the draft of a rebuild.
    pub fn is_draft(&self) -> bool {
        !self.drafted.is_empty()
    }

    /// The path of a folder of derived data.
    pub(crate) fn derived(&self, root: &str) -> PathBuf {
        match self.drafted.contains(&root) {
            true => self.root.join(rebuild_draft::NEW).join(root),
            false => self.root.join(root),
        }
    }

    /// The name of the folder in which files of a root are drafted.
    pub(crate) fn draft_name(&self) -> String {
        self.shard.as_ref().map_or_else(|| DRAFTS.to_owned(), |shard| format!("{DRAFTS}-{shard}"))
    }

    /// The storage of raw pages, documents, text and verdicts. Lock, plan, journal and indexes are local files.
    pub fn storage(&self) -> &dyn Storage {
        &*self.storage
    }

    /// Opens a file of the home by its key and decompresses it if needed.
    pub fn open_file(&self, file: &str) -> Result<Box<dyn BufRead + Send>> {
        frames::decompressed(self.storage.open(file)?, &self.storage.path(file))
    }

    /// The size of a file of the home; `None` if it is missing.
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

    /// Whether a language has an index folder.
    pub fn has_index(&self, language: &str) -> bool {
        self.index_of(language).exists()
    }

    /// Removes the index of a language, or all indexes.
    pub fn clear_index(&self, language: Option<&str>) -> Result<()> {
        remove_folder(&language.map_or(self.index(), |code| self.index_of(code)))
    }

    /// The default path of the report.
    pub fn report(&self) -> PathBuf {
        self.root.join("report.html")
    }

    /// The time of the report; `None` if there is none.
    pub fn report_time(&self) -> Option<SystemTime> {
        self.storage.stat("report.html").ok()??.modified
    }

    /// An empty folder for the trial home; deletes an earlier one.
    pub fn empty_trial(&self) -> Result<PathBuf> {
        let path = self.root.join("trial");
        remove_folder(&path)?;
        Ok(path)
    }

    /// The existing lock files, for diagnosis: acquiring a lock to check it would hold it for a moment.
    pub fn lock_files(&self) -> Vec<PathBuf> {
        LOCKS.map(|name| self.root.join(name)).into_iter().filter(|path| path.is_file()).collect()
    }

    /// Whether there is a journal: a run is active or was interrupted.
    pub fn has_journal(&self) -> bool {
        self.journal().exists()
    }

    /// The storage key of a path inside the home, as in recipes and journals.
    pub fn key(&self, path: &Path) -> String {
        self.shown(path)
    }

    /// Opens the home in a folder, which must contain the settings.
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

    /// Creates a home: settings, feed list and an empty plan. Existing files are not replaced, and a new folder is closed
    /// to other users. Returns the names of the created files.
    pub fn create(root: &Path, settings: &str, feeds: &str) -> Result<Vec<&'static str>> {
        file::make_private_folder(root)?;
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
        // The settings are written last: a folder is a home only when it is complete.
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

    /// The existing plan: of Tidings, or of FeedFetcher under its own name.
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

    /// The path of a state file.
    pub(crate) fn state(&self, name: &str) -> PathBuf {
        self.root.join("state").join(name)
    }

    /// Raw pages.
    pub fn pages(&self) -> PathBuf {
        self.root.join("pages")
    }

    /// Documents.
    pub fn docs(&self) -> PathBuf {
        self.derived("docs")
    }

    /// The annotated text.
    pub fn text(&self) -> PathBuf {
        self.derived("text")
    }

    /// The indexes, a folder for each language.
    pub fn index(&self) -> PathBuf {
        self.derived("index")
    }

    /// The languages that have an index.
    pub fn indexed(&self) -> Result<Vec<String>> {
        let folders = files_in(&self.index())?.into_iter().filter(|path| path.join("MANIFEST").is_file());
        Ok(folders.filter_map(|path| Some(path.file_name()?.to_str()?.to_owned())).collect())
    }

    /// The folder of verdicts and fingerprints.
    pub fn seen(&self) -> PathBuf {
        self.derived("seen")
    }

    /// The folder of a crawl.
    pub fn crawl(&self, name: &str) -> PathBuf {
        self.root.join("crawl").join(name)
    }

    /// The names of the crawls of the home.
    pub fn crawls(&self) -> Result<Vec<String>> {
        let folders = files_in(&self.root.join("crawl"))?.into_iter().filter(|path| path.is_dir());
        Ok(folders.filter_map(|path| Some(path.file_name()?.to_str()?.to_owned())).collect())
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
        let path = path.strip_prefix(&self.root).unwrap_or(path);
        let is_drafted = |rest: &&Path| self.drafted.iter().any(|root| rest.starts_with(root));
        let drafted = path.strip_prefix(rebuild_draft::NEW).ok().filter(is_drafted);
        drafted.unwrap_or(path).display().to_string()
    }

    /// Locks the home for writing; the error contains the process that holds the lock.
    pub fn lock(&self) -> Result<Lock> {
        let last_locked = self.root.join(LOCKS[0]).metadata().and_then(|meta| meta.modified()).ok();
        let (mut lock, holder) = self.take(LOCKS[0])?;
        lock._claim = Some(self.claim_whole()?);
        // Only another process can have crashed since this one had the lock.
        let is_own = holder.as_ref().is_some_and(|holder| *holder == std::process::id().to_string());
        let is_searched = is_own && self.crashes.is_done.load(Ordering::Acquire);
        let end = self.take_mark(!is_searched)?;
        match end.filter(|end| end.is_valid(holder.as_deref(), clean_end::now())) {
            _ if is_searched => {}
            Some(end) => self.skip_search(&end),
            None => {
                self.recover(last_locked)?;
                self.crashes.note_search(clean_end::now());
            }
        }
        self.crashes.is_done.store(true, Ordering::Release);
        Ok(lock)
    }

    /// Locks the rounds of all stages; each stage locks the home itself.
    pub fn lock_rounds(&self) -> Result<Lock> {
        Ok(self.take(LOCKS[1])?.0)
    }

    /// Locks the home for one of several processes that do units of work, which each [claims](Home::claim) before it
    /// begins. Any number of them can have this lock at the same time; while one has it, the whole home is not locked.
    pub fn lock_shared(&self) -> Result<Lock> {
        // The lock has no single holder, so it contains no process number.
        let (file, path) = self.open_lock(LOCKS[0])?;
        self.acquired(file.try_lock_shared(), &path, || lock_holder(&path))?;
        self.take_mark(true)?;
        let name = self.shard.is_some().then(|| self.draft_name());
        let roots = [self.docs(), self.seen(), self.text(), self.index()];
        let drafts = name.map(|name| DraftFolders(roots.map(|root| root.join(&name)).to_vec()));
        Ok(Lock { _claim: None, _drafts: drafts, _file: file })
    }

    /// The free space on the disk of the home, if the system provides it.
    pub fn free_bytes(&self) -> Option<u64> {
        let stat = rustix::fs::statvfs(&self.root).ok()?;
        Some(stat.f_bavail * stat.f_frsize)
    }

    /// Writes the report of the home.
    pub fn write_report(&self, html: &[u8]) -> Result<()> {
        Ok(write_atomic(&self.report(), html)?)
    }

    /// Creates a scratch home inside this one for trials of feeds; deletes an old one.
    pub fn create_trial(&self, settings: &str, feeds: &str) -> Result<Home> {
        let root = self.empty_trial()?;
        Home::create(&root, settings, feeds)?;
        Home::at(&root)
    }

    /// Opens a lock file without truncating it; creates it if missing.
    fn open_lock(&self, name: &str) -> Result<(File, PathBuf)> {
        let path = self.root.join(name);
        Ok((file::open_lock(&path)?, path))
    }

    /// Checks that a lock was acquired; otherwise `holder` returns the process that holds it.
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

    /// Takes a lock; returns it with the process that held it before.
    fn take(&self, name: &str) -> Result<(Lock, Option<String>)> {
        let (mut file, path) = self.open_lock(name)?;
        self.acquired(file.try_lock(), &path, || lock_holder(&path))?;
        let holder = holder_in(&mut file);
        let own = std::process::id().to_string();
        if holder.as_ref() != Some(&own) {
            // The process number is for messages, and to know whether another process had the lock.
            let _ = file.set_len(0).and_then(|()| file.rewind()).and_then(|()| writeln!(file, "{own}"));
        }
        Ok((Lock { _claim: None, _drafts: None, _file: file }, holder))
    }

    /// Deletes the drafts that a crash left, completes rebuilds and imports, and searches for unpublished pages.
    fn recover(&self, last_locked: Option<SystemTime>) -> Result<()> {
        [self.root.clone(), self.root.join("state"), self.state("archive"), self.runs()]
            .iter()
            .try_for_each(|path| file::remove_temp(path))?;
        // No process of an earlier version is active while the whole home is locked.
        let is_shard_lock = |path: &PathBuf| {
            path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(SHARD_LOCK.as_bytes()))
        };
        for path in files_in(&self.root)?.iter().filter(|path| is_shard_lock(path)) {
            file::remove(path)?;
        }
        rebuild_draft::recover(self)?;
        let parts = crate::pages::parts_written_since(self, last_locked)?;
        crate::import_log::recover(self, &parts)?;
        crate::docs::remove_temp(self)?;
        crate::dedup_state::remove_temp(self)?;
        crate::text::remove_temp(self)?;
        self.crashes.has_parts.store(!parts.is_empty(), Ordering::Release);
        self.crashes.has_no_open_logs.store(false, Ordering::Release);
        self.crashes.has_no_single_logs.store(false, Ordering::Release);
        Ok(())
    }
}

/// The process number in a lock file; `None` if the file is empty or unreadable.
fn lock_holder(path: &Path) -> Option<String> {
    holder_in(&mut file::open_lock(path).ok()?)
}

fn holder_in(file: &mut File) -> Option<String> {
    let mut pid = String::new();
    // Of what is no process number, the beginning is enough for the message.
    file.take(32).read_to_string(&mut pid).ok()?;
    let pid = pid.trim().to_owned();
    (!pid.is_empty()).then_some(pid)
}

/// Deletes a folder with its contents, if it exists.
pub(crate) fn remove_folder(path: &Path) -> Result<()> {
    match std::fs::remove_dir_all(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Ok(Err(error).context("remove", path)?),
        _ => Ok(()),
    }
}

/// A time in file names: to the millisecond, sortable, without characters that some systems forbid.
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
    fn creating_a_home_again_replaces_nothing() {
        let folder = tempfile::tempdir().unwrap();
        assert!(matches!(Home::at(folder.path()), Err(Error::NoHome { .. })));
        let made = Home::create(folder.path(), "# mine", "http://e.org/feed").unwrap();
        assert_eq!(made, ["feeds.txt", "plan.tsv.zst", SETTINGS]);
        assert!(Home::create(folder.path(), "# other", "").unwrap().is_empty());
        let home = Home::at(folder.path()).unwrap();
        assert_eq!(fs::read_to_string(home.settings()).unwrap(), "# mine");
    }

    #[test]
    fn a_plan_of_feedfetcher_counts_as_a_plan() {
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
    fn a_home_with_a_path_that_is_not_utf_8_works() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join(std::ffi::OsStr::from_bytes(b"h\xff"));
        Home::create(&root, "", "").unwrap();
        let home = Home::at(&root).unwrap();
        home.storage().put_atomic("docs/de/1", b"rain").unwrap();
        assert_eq!(home.file_bytes("docs/de/1").unwrap(), Some(4));
        assert_eq!(home.key(&home.storage().path("docs/de/1")), "docs/de/1");
    }

    #[test]
    fn a_lock_is_exclusive_and_contains_the_process() {
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
    fn a_lock_that_is_a_link_is_refused_and_its_target_stays() {
        let (folder, home) = home();
        let victim = folder.path().join("victim");
        fs::write(&victim, "precious").unwrap();
        for name in LOCKS {
            std::os::unix::fs::symlink(&victim, home.root().join(name)).unwrap();
        }
        for refused in [home.lock(), home.lock_rounds(), home.lock_shared()] {
            let error = crate::in_full(&refused.unwrap_err());
            assert!(error.contains("symbolic link") && error.contains(".lock"), "{error}");
        }
        assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
    }

    #[test]
    fn a_new_home_is_closed_to_other_users_and_an_existing_folder_is_not_changed() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        Home::create(&folder.path().join("new"), "", "").unwrap();
        assert_eq!(mode(&folder.path().join("new")) & 0o027, 0);
        let open = folder.path().join("open");
        fs::create_dir(&open).unwrap();
        fs::set_permissions(&open, fs::Permissions::from_mode(0o755)).unwrap();
        Home::create(&open, "", "").unwrap();
        assert_eq!(mode(&open), 0o755);
    }

    #[test]
    fn locking_deletes_drafts_left_by_a_crash() {
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
    fn a_home_is_searched_again_after_another_process_had_the_lock() {
        let (_folder, home) = home();
        drop(home.lock().unwrap());
        home.storage().put_atomic("docs/draft/de.tmp", b"half").unwrap();
        home.storage().put_atomic("pages/2026-03-01/a.0.jsonl.zst.part", b"half").unwrap();
        drop(home.lock().unwrap());
        assert!(!home.has_parts(), "a process knows its own files");
        assert_eq!(home.file_bytes("docs/draft/de.tmp").unwrap(), Some(4));
        fs::write(home.root().join(LOCKS[0]), "1\n").unwrap();
        drop(home.lock().unwrap());
        assert!(home.has_parts());
        assert_eq!(home.file_bytes("docs/draft/de.tmp").unwrap(), None);
    }

    #[test]
    fn files_are_opened_by_key_compressed_or_not() {
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
    fn a_trial_starts_with_an_empty_folder_and_a_report_has_a_time() {
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
    fn processes_that_claim_units_share_a_home_and_exclude_one_that_locks_it() {
        let (_folder, home) = home();
        let [first, second] = ["1-of-2", "2-of-3"].map(|shard| home.for_shard(shard).lock_shared().unwrap());
        assert!(home.lock().is_err());
        drop((first, second));
        let lock = home.lock().unwrap();
        assert!(home.for_shard("1-of-2").lock_shared().is_err());
        drop(lock);
        assert!(home.for_shard("1-of-2").lock_shared().is_ok());
    }
}
