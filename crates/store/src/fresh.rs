//! Stages that had nothing left to do, and a stamp of the files that this depends on.
//!
//! Whether a stage is due follows from recipes, one for each day, so that the answer costs more every year. A stamp of
//! the names, sizes and modification times of all these files is compared instead: while it is the same, a stage that
//! was up to date still is. `state/fresh.tsv` holds the stamps; without it everything is looked at.

use std::fs::{self, Metadata};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tidings_storage::write_atomic;
use xxhash_rust::xxh3::Xxh3;

use crate::error::{Context, Result};
use crate::home::Home;
use crate::table::{self, columns};

/// A file that was modified less than this before the stamp may be modified again without another time: the clock of
/// file systems ticks every few milliseconds.
const TICK: Duration = Duration::from_millis(50);
/// The same for file systems that store whole seconds.
const COARSE_TICK: Duration = Duration::from_secs(2);

/// A stage that had nothing left to do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FreshStage {
    /// The stage.
    pub stage: String,
    /// The stamp of the files that it depends on.
    pub stamp: String,
    /// The number of its units.
    pub units: u64,
}

columns!(FreshStage { stage, stamp, units });

/// The stages that had nothing left to do.
pub fn read(home: &Home) -> Result<Vec<FreshStage>> {
    let mut stages = Vec::new();
    table::read(&home.state("fresh.tsv"), |row| stages.push(row))?;
    Ok(stages)
}

/// Replaces the list. The caller holds the lock.
pub fn write(home: &Home, stages: Vec<FreshStage>) -> Result<()> {
    Ok(write_atomic(&home.state("fresh.tsv"), table::text(stages.into_iter()).as_bytes())?)
}

/// A stamp of the names, sizes and modification times of files.
pub struct Stamp {
    hasher: Xxh3,
    newest: SystemTime,
}

impl Stamp {
    /// The stamp of some settings and no file.
    pub fn new(settings: &[u8]) -> Stamp {
        let mut hasher = Xxh3::new();
        hasher.update(settings);
        Stamp { hasher, newest: UNIX_EPOCH }
    }

    /// Adds a file or folder of the home by itself, or its absence.
    pub fn add(&mut self, home: &Home, key: &str) -> Result<()> {
        let path = home.root().join(key);
        match fs::symlink_metadata(&path) {
            Ok(meta) => self.add_entry(key.as_bytes(), &meta),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => self.hasher.update(key.as_bytes()),
            Err(error) => Err(error).context("inspect", &path)?,
        }
        Ok(())
    }

    /// Adds a folder of the home with all files below it.
    pub fn add_tree(&mut self, home: &Home, key: &str) -> Result<()> {
        self.add(home, key)?;
        self.add_below(&home.root().join(key))
    }

    fn add_below(&mut self, folder: &Path) -> Result<()> {
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(error) => Err(error).context("read the folder", folder)?,
        };
        let mut found = Vec::new();
        for entry in entries {
            let entry = entry.context("read the folder", folder)?;
            let meta = entry.metadata().context("inspect", &entry.path())?;
            found.push((entry.file_name(), meta));
        }
        // The order of a folder is not that of names, and may change.
        found.sort_by(|a, b| a.0.cmp(&b.0));
        for (name, meta) in found {
            self.add_entry(name.as_encoded_bytes(), &meta);
            if meta.is_dir() {
                self.add_below(&folder.join(&name))?;
            }
        }
        Ok(())
    }

    fn add_entry(&mut self, name: &[u8], meta: &Metadata) {
        let modified = meta.modified().unwrap_or(UNIX_EPOCH);
        let since = modified.duration_since(UNIX_EPOCH).unwrap_or_default();
        self.newest = self.newest.max(modified);
        self.hasher.update(name);
        // The size of a folder depends on the file system, its time on its names.
        let bytes = if meta.is_dir() { 0 } else { meta.len() };
        for number in [name.len() as u64, bytes, since.as_secs(), since.subsec_nanos().into()] {
            self.hasher.update(&number.to_le_bytes());
        }
    }

    /// The stamp as text.
    pub fn text(&self) -> String {
        format!("{:032x}", self.hasher.digest128())
    }

    /// Whether every later change will change the stamp: no file is so new that its time might stay the same.
    pub fn is_settled(&self, now: SystemTime) -> bool {
        let is_coarse = self.newest.duration_since(UNIX_EPOCH).is_ok_and(|since| since.subsec_nanos() == 0);
        let tick = if is_coarse { COARSE_TICK } else { TICK };
        now.duration_since(self.newest).is_ok_and(|age| age > tick)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::home;

    const FILE: &str = "docs/recipes/2026-03-01.json";

    fn stamp(home: &Home) -> String {
        let mut stamp = Stamp::new(b"settings");
        stamp.add_tree(home, "docs").unwrap();
        stamp.add(home, "removed.tsv").unwrap();
        stamp.text()
    }

    /// Gives a file another time, as if it was written a while ago.
    fn age(home: &Home, key: &str, seconds: u64) {
        let file = fs::File::open(home.root().join(key)).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(seconds)).unwrap();
    }

    #[test]
    fn a_stamp_changes_with_names_sizes_and_times() {
        let (_folder, home) = home();
        home.storage().put_atomic(FILE, b"recipe").unwrap();
        let mut known = vec![stamp(&home)];
        assert_eq!(stamp(&home), known[0]);
        let mut is_new = |what: &str| {
            let now = stamp(&home);
            assert!(!known.contains(&now), "{what}");
            known.push(now);
        };
        fs::write(home.root().join(FILE), b"cut").unwrap();
        is_new("the size of a file");
        age(&home, FILE, 3600);
        is_new("the time of a file");
        home.storage().remove(FILE).unwrap();
        is_new("a file less");
        fs::write(home.root().join("removed.tsv"), b"url\n").unwrap();
        is_new("a file that was missing");
        fs::remove_dir_all(home.root().join("docs")).unwrap();
        is_new("a missing folder");
    }

    #[test]
    fn files_of_this_moment_are_not_settled() {
        let (_folder, home) = home();
        home.storage().put_atomic(FILE, b"recipe").unwrap();
        let at = |age: Duration| {
            let mut stamp = Stamp::new(b"");
            stamp.add(&home, FILE).unwrap();
            stamp.is_settled(stamp.newest + age)
        };
        assert_eq!([at(Duration::ZERO), at(TICK), at(COARSE_TICK + TICK)], [false, false, true]);
    }

    #[test]
    fn fresh_stages_are_kept() {
        let (_folder, home) = home();
        assert!(read(&home).unwrap().is_empty());
        let rows = vec![FreshStage { stage: "clean".into(), stamp: "0a".into(), units: 7 }];
        write(&home, rows.clone()).unwrap();
        assert_eq!(read(&home).unwrap(), rows);
    }
}
