//! A home: the folder in which a corpus lives, and who may write to it.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::disk;
use crate::error::{During, Error, Result};

/// The settings file, whose presence makes a folder a home.
pub const SETTINGS: &str = "tidings.toml";

/// A corpus directory.
#[derive(Debug, Clone)]
pub struct Home {
    root: PathBuf,
}

/// The right to write into a home; it ends with the process, however that ends.
#[derive(Debug)]
pub struct Lock {
    _file: File,
    /// The lock that shards hold together.
    _common: Option<File>,
}

impl Home {
    /// The home at a folder, which must hold the settings.
    pub fn at(root: &Path) -> Result<Home> {
        if root.join(SETTINGS).is_file() {
            Ok(Home { root: root.to_owned() })
        } else {
            Err(Error::NoHome { start: root.to_owned() })
        }
    }

    /// The nearest folder at or above `start` that is a home.
    pub fn find(start: &Path) -> Result<Home> {
        start
            .ancestors()
            .find(|folder| folder.join(SETTINGS).is_file())
            .map(|root| Home { root: root.to_owned() })
            .ok_or_else(|| Error::NoHome { start: start.to_owned() })
    }

    /// Makes a home: settings, feed list and an empty plan, none of which replaces what is there.
    /// Gives the names of what was made.
    pub fn create(root: &Path, settings: &str, feeds: &str) -> Result<Vec<&'static str>> {
        disk::make_folder(root)?;
        let mut made = Vec::new();
        let mut missing = |name: &'static str, bytes: &[u8]| -> Result<()> {
            let path = root.join(name);
            if !path.exists() {
                disk::write_whole(&path, bytes)?;
                made.push(name);
            }
            Ok(())
        };
        missing("feeds.txt", feeds.as_bytes())?;
        let home = Home { root: root.to_owned() };
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

    /// Where the plan is written.
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

    /// Where a run collects its results until they are folded into the plan.
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
        let lock = self.take(".lock")?;
        self.sweep()?;
        Ok(lock)
    }

    /// Takes the right to go through all stages, which take the home for themselves one after the other.
    pub fn lock_rounds(&self) -> Result<Lock> {
        self.take(".run.lock")
    }

    /// Takes one shard of the work: others may take other shards at the same time, and nothing else.
    pub fn lock_shard(&self, shard: &str) -> Result<Lock> {
        let path = self.root.join(".lock");
        let common =
            OpenOptions::new().create(true).truncate(false).read(true).write(true).open(&path).during("open", &path)?;
        match common.try_lock_shared() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(Error::Locked { root: self.root.clone(), pid: None }),
            Err(TryLockError::Error(error)) => return Err(error).during("lock", &path),
        }
        let own = self.take(&format!(".lock.{shard}"))?;
        Ok(Lock { _file: own._file, _common: Some(common) })
    }

    /// The free space on the disk of the home, where the system tells.
    pub fn free_bytes(&self) -> Option<u64> {
        let stat = rustix::fs::statvfs(&self.root).ok()?;
        Some(stat.f_bavail * stat.f_frsize)
    }

    /// Deletes the index of a language, or all of them.
    pub fn remove_index(&self, language: Option<&str>) -> Result<()> {
        let folder = language.map_or(self.index(), |code| self.index().join(code));
        match fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error).during("remove", &folder),
            _ => Ok(()),
        }
    }

    /// When the report was written; none if there is none.
    pub fn report_written(&self) -> Option<std::time::SystemTime> {
        fs::metadata(self.report()).and_then(|meta| meta.modified()).ok()
    }

    /// The report of the home.
    pub fn report(&self) -> PathBuf {
        self.root.join("report.html")
    }

    /// A new scratch home inside this one, for trials of feeds; an old one is deleted.
    pub fn create_trial(&self, settings: &str, feeds: &str) -> Result<Home> {
        let root = self.root.join("trial");
        if root.exists() {
            fs::remove_dir_all(&root).during("empty", &root)?;
        }
        Home::create(&root, settings, feeds)?;
        Home::at(&root)
    }

    /// Opens a file of the home, packed or not, by the name that recipes give it.
    pub fn open_file(&self, file: &str) -> Result<Box<dyn std::io::BufRead + Send>> {
        crate::frames::open_any(&self.root.join(file))
    }

    /// The size of a file of the home; none if it is not there.
    pub fn file_bytes(&self, file: &str) -> Result<Option<u64>> {
        let path = self.root.join(file);
        match fs::metadata(&path) {
            Ok(meta) => Ok(Some(meta.len())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).during("look at", &path),
        }
    }

    /// The folder of the index of a language.
    pub fn index_of(&self, language: &str) -> PathBuf {
        self.index().join(language)
    }

    /// The files of the locks that are there.
    pub fn lock_files(&self) -> Vec<PathBuf> {
        [".lock", ".run.lock"].map(|name| self.root.join(name)).into_iter().filter(|path| path.exists()).collect()
    }

    /// Whether there is a journal that was not applied to the plan yet.
    pub fn has_journal(&self) -> bool {
        self.journal().exists()
    }

    fn take(&self, name: &str) -> Result<Lock> {
        let path = self.root.join(name);
        let mut file =
            OpenOptions::new().create(true).truncate(false).read(true).write(true).open(&path).during("open", &path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut pid = String::new();
                let _ = file.read_to_string(&mut pid);
                let pid = Some(pid.trim().to_owned()).filter(|pid| !pid.is_empty());
                return Err(Error::Locked { root: self.root.clone(), pid });
            }
            Err(TryLockError::Error(error)) => return Err(error).during("lock", &path),
        }
        // The process number is for people; nothing depends on it.
        let _ = file.set_len(0).and_then(|()| file.rewind()).and_then(|()| writeln!(file, "{}", std::process::id()));
        Ok(Lock { _file: file, _common: None })
    }

    /// Removes drafts that a crash left behind; nothing refers to them.
    fn sweep(&self) -> Result<()> {
        for folder in [self.root.clone(), self.root.join("state"), self.runs()] {
            for path in files_in(&folder)? {
                if path.extension().is_some_and(|extension| extension == "tmp") {
                    disk::remove(&path)?;
                }
            }
        }
        crate::doors::ledger::recover(self)?;
        crate::docs::sweep(self)?;
        crate::seen::sweep(self)?;
        crate::text::sweep(self)
    }
}

/// The files of a folder in the order of their names; none if the folder is not there.
pub(crate) fn files_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error).during("read the folder", folder),
    };
    let mut files = Vec::new();
    for entry in entries {
        files.push(entry.during("read the folder", folder)?.path());
    }
    files.sort();
    Ok(files)
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
