//! The list of run logs: sections of the files of days, and files of single runs in homes of earlier versions.

use std::collections::BTreeMap;
use std::io::BufRead;
use std::ops::Range;
use std::path::{Path, PathBuf};

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use super::EXTENSION;
use super::day_log::{self, Sections};
use crate::error::{Context, Error, Result};
use crate::frames;
use crate::home::Home;

/// The name of a run: its start and its verb.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunName {
    /// The start of the run.
    pub began: Timestamp,
    /// The verb, such as `fetch`.
    pub verb: String,
}

impl RunName {
    /// Parses the name of a run, such as `20260301T120000000Z-fetch`.
    pub fn parse(name: &str) -> Option<RunName> {
        let (stamp, verb) = name.split_once("Z-")?;
        let time = DateTime::strptime("%Y%m%dT%H%M%S", stamp.get(..15)?).ok()?;
        let ms: i64 = stamp.get(15..)?.parse().ok()?;
        let began = time.to_zoned(TimeZone::UTC).ok()?.timestamp() + SignedDuration::from_millis(ms);
        Some(RunName { began, verb: verb.to_owned() })
    }

    /// The day of the start, in UTC.
    pub fn day(&self) -> Date {
        self.began.to_zoned(TimeZone::UTC).date()
    }
}

/// The log of a run that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedRun {
    name: String,
    parsed: RunName,
    path: PathBuf,
    /// The section of the file; the whole file if absent.
    section: Option<Range<u64>>,
}

impl LoggedRun {
    fn new(name: &str, path: PathBuf, section: Option<Range<u64>>) -> Option<LoggedRun> {
        let parsed = RunName::parse(name)?;
        Some(LoggedRun { name: name.to_owned(), parsed, path, section })
    }

    /// The name of the run.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The start of the run.
    pub fn began(&self) -> Timestamp {
        self.parsed.began
    }

    /// The verb of the run.
    pub fn verb(&self) -> &str {
        &self.parsed.verb
    }

    /// The day of the start, in UTC.
    pub fn day(&self) -> Date {
        self.parsed.day()
    }

    /// The file that contains the log.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens the lines of the log.
    pub(super) fn open(&self) -> Result<Box<dyn BufRead + Send>> {
        match &self.section {
            Some(section) => frames::decompressed(Box::new(day_log::open(&self.path, section)?), &self.path),
            None => frames::open_any(&self.path),
        }
    }

    /// The text of the last frame; `None` if it is damaged.
    pub(super) fn last_frame(&self) -> Result<Option<String>> {
        let whole = || std::fs::metadata(&self.path).context("inspect", &self.path).map(|meta| 0..meta.len());
        let section = self.section.clone().map_or_else(whole, Ok)?;
        frames::last(&self.path, section)
    }
}

/// The file of a day.
pub(super) fn day_path(home: &Home, day: Date) -> PathBuf {
    home.runs().join(format!("{day}{EXTENSION}"))
}

/// The files of a day.
#[derive(Debug, Default)]
struct DayFiles {
    shared: Option<PathBuf>,
    single: Vec<LoggedRun>,
}

impl DayFiles {
    /// The runs of the day, oldest first.
    fn runs(self) -> Result<Vec<LoggedRun>> {
        self.runs_of(day_log::read)
    }

    /// The same with another way to read the file of the day.
    fn runs_of(self, read: impl FnOnce(&Path) -> Result<Sections>) -> Result<Vec<LoggedRun>> {
        let mut runs = self.single;
        if let Some(path) = self.shared {
            let sections = read(&path)?.sections.into_iter();
            runs.extend(sections.filter_map(|found| LoggedRun::new(&found.run, path.clone(), Some(found.bytes))));
        }
        runs.sort_by(|a, b| a.name.cmp(&b.name));
        // A crash may leave a single file whose section is already written.
        runs.dedup_by(|a, b| a.name == b.name);
        Ok(runs)
    }
}

/// The files of run logs by day. Only names are read.
fn files_by_day(home: &Home) -> Result<BTreeMap<Date, DayFiles>> {
    let mut days = BTreeMap::<Date, DayFiles>::new();
    for file in names(home, |name| name.ends_with(EXTENSION))? {
        let path = home.runs().join(&file);
        let Some(name) = file.strip_suffix(EXTENSION) else { continue };
        if let Some(day) = name.parse::<Date>().ok().filter(|day| day.to_string() == name) {
            days.entry(day).or_default().shared = Some(path);
        } else if let Some(run) = LoggedRun::new(name, path, None) {
            days.entry(run.day()).or_default().single.push(run);
        }
    }
    Ok(days)
}

/// Whether a day has the file of its run logs. Logs of earlier versions have none.
pub fn has_day(home: &Home, day: Date) -> bool {
    day_path(home, day).exists()
}

/// The days with run logs, oldest first.
pub fn days(home: &Home) -> Result<Vec<Date>> {
    Ok(files_by_day(home)?.into_keys().collect())
}

/// All runs that have ended, oldest first.
pub fn all(home: &Home) -> Result<Vec<LoggedRun>> {
    let mut runs = Vec::new();
    for day in files_by_day(home)?.into_values() {
        runs.extend(day.runs()?);
    }
    Ok(runs)
}

/// The runs that have ended, newest first. The file of a day is read when its runs are reached.
pub fn newest_first(home: &Home) -> Result<impl Iterator<Item = Result<LoggedRun>>> {
    let days = files_by_day(home)?.into_values().rev();
    Ok(days.flat_map(|day| match day.runs() {
        Ok(runs) => runs.into_iter().rev().map(Ok).collect(),
        Err(error) => vec![Err(error)],
    }))
}

/// The names of the runs of a day, in no order. Every run asks for those of its day, so that they are not parsed.
pub fn names_of_day(home: &Home, day: Date) -> Result<Vec<String>> {
    let files = files_of_day(home, day)?;
    let mut names: Vec<String> = files.single.into_iter().map(|run| run.name).collect();
    if let Some(path) = files.shared {
        names.extend(home.day_log.read(&path)?.sections.into_iter().map(|section| section.run));
    }
    Ok(names)
}

/// The runs of a day, oldest first.
pub fn of_day(home: &Home, day: Date) -> Result<Vec<LoggedRun>> {
    files_of_day(home, day)?.runs_of(|path| home.day_log.read(path))
}

/// The files of a day. Names of other days are skipped without parsing.
fn files_of_day(home: &Home, day: Date) -> Result<DayFiles> {
    let stamp = format!("{}T", day.strftime("%Y%m%d"));
    let shared = Some(day_path(home, day)).filter(|path| path.exists());
    let mut files = DayFiles { shared, single: Vec::new() };
    // After a year the folder has a file for each day: it is searched only in homes of earlier versions.
    if home.may_have_single_logs() {
        let is_single = |name: &str| name.strip_suffix(EXTENSION).is_some_and(|run| RunName::parse(run).is_some());
        let single = names(home, is_single)?;
        if single.is_empty() {
            home.note_no_single_logs();
        }
        for name in single.iter().filter(|name| name.starts_with(&stamp)) {
            let path = home.runs().join(name);
            files.single.extend(LoggedRun::new(name.trim_end_matches(EXTENSION), path, None));
        }
    }
    Ok(files)
}

/// The names of some files of run logs, oldest first.
pub(super) fn names(home: &Home, is_wanted: impl Fn(&str) -> bool) -> Result<Vec<String>> {
    let folder = home.runs();
    let entries = match std::fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => Err(error).context("read the folder", &folder)?,
    };
    let mut names = Vec::new();
    for entry in entries {
        let name = entry.context("read the folder", &folder)?.file_name();
        names.extend(name.to_str().filter(|name| is_wanted(name)).map(str::to_owned));
    }
    names.sort_unstable();
    Ok(names)
}

/// Rejects files of days with bytes that belong to no run: their logs cannot be read.
pub fn check(home: &Home) -> Result<()> {
    files_by_day(home)?.into_values().filter_map(|day| day.shared).try_for_each(|path| day_log::check(&path))
}

/// Deletes the logs of days that ended more than this many days ago; 0 keeps all. Returns the number of deleted files.
pub fn thin(home: &Home, now: Timestamp, days: u32) -> Result<usize> {
    let oldest = now.checked_sub(SignedDuration::from_hours(24 * i64::from(days))).unwrap_or(Timestamp::MIN);
    let oldest = oldest.to_zoned(TimeZone::UTC).date();
    if days == 0 {
        return Ok(0);
    }
    let mut deleted = 0;
    for (_, files) in files_by_day(home)?.into_iter().take_while(|(day, _)| *day < oldest) {
        for path in files.single.into_iter().map(|run| run.path).chain(files.shared) {
            std::fs::remove_file(&path).context("remove", &path)?;
            deleted += 1;
        }
    }
    Ok(deleted)
}

/// Moves at most `most` files of single runs, as earlier versions wrote them, to the files of their days. Returns the
/// number of moved files. The home must be locked.
pub fn fold(home: &Home, most: usize) -> Result<usize> {
    let single = files_by_day(home)?.into_values().flat_map(|day| day.single);
    let runs: Vec<LoggedRun> = single.take(most).collect();
    for run in &runs {
        match day_log::append(&day_path(home, run.day()), &run.name, &run.path, &home.day_log) {
            // The log of a newer version is left to that version.
            Err(Error::Newer { .. }) => {}
            appended => appended?,
        }
    }
    Ok(runs.len())
}

#[cfg(test)]
mod tests {
    use tidings_storage::file::files_in;

    use super::super::{RunLog, summary};
    use super::*;
    use crate::testing::home;

    fn publish(home: &Home, run: &str) {
        let mut log = RunLog::create(home, run).unwrap();
        log.push(&serde_json::json!({ "summary": { "run": run } })).unwrap();
        log.publish().unwrap();
    }

    /// Writes a log as version 1 did.
    fn publish_single(home: &Home, run: &str) {
        let text = format!("{{\"summary\":{{\"run\":\"{run}\"}}}}\n");
        let mut bytes = frames::header(super::super::FORMAT, 1, "");
        bytes.extend(frames::FrameEncoder::new(3).encode(text.as_bytes()));
        std::fs::create_dir_all(home.runs()).unwrap();
        std::fs::write(home.runs().join(format!("{run}{EXTENSION}")), bytes).unwrap();
    }

    fn names(runs: impl IntoIterator<Item = LoggedRun>) -> Vec<String> {
        runs.into_iter().map(|run| run.name().to_owned()).collect()
    }

    const OLD: [&str; 3] = ["20250101T000000000Z-fetch", "20260301T090000000Z-update", "20260301T110000000Z-fetch"];
    const NEW: [&str; 2] = ["20260301T100000000Z-fetch", "20260302T080000000Z-run"];

    fn mixed() -> (tempfile::TempDir, Home) {
        let (folder, home) = home();
        OLD.iter().for_each(|run| publish_single(&home, run));
        NEW.iter().for_each(|run| publish(&home, run));
        (folder, home)
    }

    #[test]
    fn logs_of_both_layouts_are_listed_in_the_order_of_their_starts() {
        let (_folder, home) = mixed();
        let sorted = [OLD[0], OLD[1], NEW[0], OLD[2], NEW[1]];
        let runs = all(&home).unwrap();
        assert_eq!(names(runs.clone()), sorted);
        let reversed: Vec<LoggedRun> = newest_first(&home).unwrap().map(Result::unwrap).collect();
        assert!(reversed.iter().rev().eq(&runs));
        let day = "2026-03-01".parse().unwrap();
        assert_eq!(names(of_day(&home, day).unwrap()), sorted[1..4]);
        let mut unsorted = names_of_day(&home, day).unwrap();
        unsorted.sort();
        assert_eq!(unsorted, sorted[1..4]);
        assert_eq!(days(&home).unwrap().len(), 3);
        for run in &runs {
            assert_eq!(summary::<serde_json::Value>(run).unwrap().unwrap()["run"], run.name());
        }
    }

    #[test]
    fn single_files_are_folded_into_days_and_stay_readable() {
        let (_folder, home) = mixed();
        let before = names(all(&home).unwrap());
        // A crash left a file whose section is written.
        assert_eq!(fold(&home, 2).unwrap(), 2);
        publish_single(&home, OLD[1]);
        assert_eq!(names(all(&home).unwrap()), before);
        assert_eq!(fold(&home, 100).unwrap(), 2);
        assert_eq!(fold(&home, 100).unwrap(), 0);
        let runs = all(&home).unwrap();
        assert_eq!((names(runs.clone()), files_in(&home.runs()).unwrap().len()), (before, 3));
        for run in &runs {
            assert_eq!(summary::<serde_json::Value>(run).unwrap().unwrap()["run"], run.name());
        }
        check(&home).unwrap();
    }

    #[test]
    fn old_days_are_deleted() {
        let (_folder, home) = mixed();
        let now = "2026-03-03T00:00:00Z".parse().unwrap();
        assert_eq!((thin(&home, now, 0).unwrap(), thin(&home, now, 400).unwrap()), (0, 1));
        assert_eq!(all(&home).unwrap().len(), 4);
        assert_eq!((thin(&home, now, 1).unwrap(), all(&home).unwrap().len()), (3, 1));
        assert_eq!(thin(&home, Timestamp::MIN, u32::MAX).unwrap(), 0);
    }

    #[test]
    fn a_name_that_is_not_of_a_run_has_no_time() {
        for name in ["x", "20260301T120000000Z", "2026Z-fetch", "20261301T120000000Z-fetch"] {
            assert_eq!(RunName::parse(name), None, "{name}");
        }
        let name = RunName::parse("20260301T120000250Z-update").unwrap();
        assert_eq!((name.began.to_string().as_str(), name.verb.as_str()), ("2026-03-01T12:00:00.25Z", "update"));
        assert_eq!(name.day().to_string(), "2026-03-01");
    }
}
