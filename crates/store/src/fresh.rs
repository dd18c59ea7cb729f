//! Stages that had nothing left to do, and a stamp of the files that this depends on.
//!
//! Whether a stage is due follows from recipes, one for each day, so that the answer costs more every year. A stamp of
//! the sizes and modification times of some files is compared instead: while it is the same, a stage that was up to date
//! still is. The stamp covers all folders, whose times change with the names in them, and the files of the newest days;
//! older files are looked at once a day. `state/fresh.tsv` holds the stamps with the names of the files, so that no
//! folder is read; without it everything is looked at.
//!
//! In a round with work only the newest days have changed. `state/settled.tsv` holds, for each stage, a day before which
//! it had nothing to do, and a stamp of those days alone ([`Stamp::add_days_before`]): while it is the same, only the days
//! from there on are looked at.

use std::fs::{self, Metadata};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tidings_storage::write_atomic;
use xxhash_rust::xxh3::Xxh3;

use crate::error::{Context, Result};
use crate::home::Home;
use crate::table::{self, columns};

/// A file that was modified less than this before the stamp may be modified again without another time: the clock of
/// file systems ticks every few milliseconds.
const TICK: Duration = Duration::from_millis(50);
/// The newest days, whose files are in a stamp and which are looked at in each round with work.
pub const RECENT_DAYS: usize = 8;
/// The folder of recipes, which change whenever their day does.
const RECIPES: &str = "/recipes";
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
    /// The time when the stage looked at all files, RFC 3339.
    pub looked: String,
    /// The files and folders of the stamp, one in each line.
    pub watched: String,
}

columns!(FreshStage { stage, stamp, units, looked, watched });

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

/// A stage whose old days are up to date.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SettledDays {
    /// The stage.
    pub stage: String,
    /// The first day that is looked at.
    pub first: String,
    /// The stamp of the days before it.
    pub stamp: String,
    /// The time when the stage looked at all days, RFC 3339.
    pub looked: String,
}

columns!(SettledDays { stage, first, stamp, looked });

/// The stages whose old days are up to date.
pub fn read_settled(home: &Home) -> Result<Vec<SettledDays>> {
    let mut stages = Vec::new();
    table::read(&home.state("settled.tsv"), |row| stages.push(row))?;
    Ok(stages)
}

/// Replaces the list. The caller holds the lock.
pub fn write_settled(home: &Home, stages: Vec<SettledDays>) -> Result<()> {
    Ok(write_atomic(&home.state("settled.tsv"), table::text(stages.into_iter()).as_bytes())?)
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

    /// Adds the files and folders of a list of [`watch`].
    pub fn add_all(&mut self, home: &Home, watched: &str) -> Result<()> {
        watched.lines().try_for_each(|key| self.add(home, key))
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

    /// Adds other data, such as digests that recipes and lists have.
    pub fn add_bytes(&mut self, bytes: &[u8]) {
        self.hasher.update(&(bytes.len() as u64).to_le_bytes());
        self.hasher.update(bytes);
    }

    /// Adds the days before one in a folder tree: the names of their files, and the sizes and times of their folders and
    /// recipes. Later days and files without a day are left out.
    pub fn add_days_before(&mut self, home: &Home, tree: &str, first: &str) -> Result<()> {
        let names = list(home, tree)?.unwrap_or_default();
        for (names, are_folders) in [(names.files, false), (names.folders, true)] {
            for name in names {
                let key = format!("{tree}/{name}");
                match day_of(&name) {
                    Some(day) if day >= first => {}
                    Some(_) if are_folders || tree.ends_with(RECIPES) => self.add(home, &key)?,
                    Some(_) => self.add_bytes(key.as_bytes()),
                    None if are_folders => self.add_days_before(home, &key, first)?,
                    None => {}
                }
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

/// Lists what a stamp covers, one name in each line: single files, and of folder trees all folders, the files of the
/// newest days, and files without a day. Only names are read.
pub fn watch(home: &Home, trees: &[&str], single: &[&str]) -> Result<String> {
    let mut watched: Vec<String> = single.iter().map(|key| (*key).to_owned()).collect();
    for tree in trees {
        watch_below(home, (*tree).to_owned(), &mut watched)?;
    }
    Ok(watched.join("\n"))
}

/// The sorted names in a folder.
#[derive(Default)]
struct FolderNames {
    folders: Vec<String>,
    files: Vec<String>,
}

/// The names in a folder of a home; `None` if it is missing.
fn list(home: &Home, key: &str) -> Result<Option<FolderNames>> {
    let folder = home.root().join(key);
    let entries = match fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => Err(error).context("read the folder", &folder)?,
    };
    let mut names = FolderNames::default();
    for entry in entries {
        let entry = entry.context("read the folder", &folder)?;
        let is_folder = entry.file_type().context("inspect", &entry.path())?.is_dir();
        let name = entry.file_name().to_string_lossy().into_owned();
        if is_folder { names.folders.push(name) } else { names.files.push(name) }
    }
    names.folders.sort_unstable();
    names.files.sort_unstable();
    Ok(Some(names))
}

fn watch_below(home: &Home, key: String, watched: &mut Vec<String>) -> Result<()> {
    let Some(FolderNames { folders, files }) = list(home, &key)? else {
        watched.push(key);
        return Ok(());
    };
    let [old_folders, old_files] = [&folders, &files].map(|names| {
        let is_old = |name: &&String| day_of(name).is_some_and(|day| newer(names, day) >= RECENT_DAYS);
        names.iter().take_while(is_old).count()
    });
    watched.push(key.clone());
    watched.extend(files.iter().skip(old_files).map(|name| format!("{key}/{name}")));
    watched.extend(folders.iter().take(old_folders).map(|name| format!("{key}/{name}")));
    folders.iter().skip(old_folders).try_for_each(|name| watch_below(home, format!("{key}/{name}"), watched))
}

/// The day with which a name begins.
fn day_of(name: &str) -> Option<&str> {
    let day = name.get(..10)?;
    let is_day =
        day.bytes().enumerate().all(|(at, byte)| if at == 4 || at == 7 { byte == b'-' } else { byte.is_ascii_digit() });
    is_day.then_some(day)
}

/// The number of sorted names that are of a later day, or of none.
fn newer(names: &[String], day: &str) -> usize {
    let after = names.partition_point(|name| name.get(..10).unwrap_or(name) <= day);
    names.len() - after
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::home;

    const FILE: &str = "docs/recipes/2026-03-01.json";

    fn stamp(home: &Home) -> String {
        let mut stamp = Stamp::new(b"settings");
        stamp.add_all(home, &watch(home, &["docs"], &["removed.tsv"]).unwrap()).unwrap();
        stamp.text()
    }

    #[test]
    fn a_stamp_covers_all_folders_and_the_files_of_the_newest_days() {
        let (_folder, home) = home();
        let count = |days: u32| {
            for day in 1..=days {
                let day = format!("2026-{:02}-{:02}", day / 28 + 1, day % 28 + 1);
                home.storage().put_atomic(&format!("docs/en/{day}.jsonl.zst"), b"").unwrap();
                home.storage().put_atomic(&format!("pages/{day}/run.0.jsonl.zst"), b"").unwrap();
            }
            let [docs, pages] = ["docs", "pages"].map(|tree| watch(&home, &[tree], &[]).unwrap().lines().count());
            (docs, pages)
        };
        assert_eq!(count(8), (2 + 8, 1 + 8 * 2));
        assert_eq!(count(200), (2 + 8, 1 + 200 + 8), "folders of old days, without their files");
        let before = stamp(&home);
        home.storage().remove("docs/en/2026-01-02.jsonl.zst").unwrap();
        assert_ne!(stamp(&home), before, "a lost file of an old day");
    }

    #[test]
    fn a_stamp_of_old_days_covers_their_names_recipes_and_folders() {
        let (_folder, home) = home();
        let put = |key: &str, bytes: &[u8]| home.storage().put_atomic(key, bytes).unwrap();
        for day in ["2026-03-01", "2026-03-02", "2026-03-03"] {
            put(&format!("docs/en/{day}.jsonl.zst"), b"");
            put(&format!("docs/recipes/{day}.json"), b"");
            put(&format!("pages/{day}/run.0.jsonl.zst"), b"");
        }
        let stamp = || {
            let mut stamp = Stamp::new(b"settings");
            ["pages", "docs"].iter().for_each(|tree| stamp.add_days_before(&home, tree, "2026-03-03").unwrap());
            stamp.text()
        };
        let settled = stamp();
        put("docs/en/2026-03-03.jsonl.zst", b"longer");
        put("docs/recipes/2026-03-03.json", b"other");
        put("pages/2026-03-03/run.1.jsonl.zst", b"");
        put("docs/draft/en.tmp", b"");
        assert_eq!(stamp(), settled, "later days, and files without a day");
        let mut stamps = vec![settled];
        let mut changed = |what: &str| {
            let now = stamp();
            assert!(!stamps.contains(&now), "{what}");
            stamps.push(now);
        };
        put("docs/recipes/2026-03-01.json", b"other");
        changed("a recipe");
        home.storage().remove("docs/en/2026-03-02.jsonl.zst").unwrap();
        changed("a lost file");
        put("pages/2026-03-02/run.1.jsonl.zst", b"");
        changed("pages of an old day");
        put("pages/2026-02-01/run.1.jsonl.zst", b"");
        changed("another old day");
        std::fs::remove_dir_all(home.root().join("docs/recipes")).unwrap();
        changed("a lost folder");
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
        let rows = vec![FreshStage {
            stage: "clean".into(),
            stamp: "0a".into(),
            units: 7,
            looked: "2026-03-01T00:00:00.000Z".into(),
            watched: "docs\ndocs/en".into(),
        }];
        write(&home, rows.clone()).unwrap();
        assert_eq!(read(&home).unwrap(), rows);
    }
}
