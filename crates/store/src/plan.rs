//! The plan on disk: read and rewritten as a stream.
//!
//! A plan of five million entries is a gigabyte of text. It is never held in memory: readers get one row at a time, and
//! a rewrite copies compressed frames without changes.

use std::path::{Path, PathBuf};

use tidings_model::{BadRow, Entry, Fingerprint, FingerprintSet, Row, Status};
use tidings_storage::AtomicFile;
use tidings_storage::file::{self, files_in};

use crate::error::{Context, Error, Result};
use crate::fetched;
use crate::frames::{self, Blocks, FrameEncoder};
use crate::home::Home;
use crate::removed::{Removed, STATUS};

pub(crate) const FORMAT: &str = "plan";
pub(crate) const VERSION: u32 = 1;

/// The plan is rewritten by every run: speed of compression matters more than size.
const LEVEL: i32 = 1;

/// The text size of a frame. A fetch changes rows of the newest entries, and copies the frames of the others as they are;
/// frames of 4 MB would be smaller by 4 %.
const PLAN_FRAME_BYTES: usize = 256 << 10;

/// The bytes of a plan without entries.
pub(crate) fn empty() -> Vec<u8> {
    frames::header(FORMAT, VERSION, "")
}

/// A change to a row of the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change<'a> {
    /// Leaves it as it is.
    Keep,
    /// Changes its age.
    Age(u32),
    /// Records the outcome of a fetch.
    Outcome {
        /// The status.
        status: &'a str,
        /// The number of attempts so far.
        retries: u32,
    },
    /// Deletes it.
    Drop,
    /// Leaves of it only that it must not be fetched again.
    Remove,
}

/// Shows every row of the home's plan to `see`, in order.
pub fn read(home: &Home, see: impl FnMut(&Row<'_>)) -> Result<()> {
    read_file(&path(home)?, see)
}

/// Calls `see` with every row of a plan file: of Tidings or FeedFetcher, plain or compressed.
pub fn read_file(path: &Path, mut see: impl FnMut(&Row<'_>)) -> Result<()> {
    let mut blocks = open(path)?;
    loop {
        let before = blocks.lines_before();
        let Some(block) = blocks.next().map_err(about_plan)? else { return Ok(()) };
        for_each_row(block.text, |place, row| {
            see(&row.map_err(|fault| Error::Row { path: path.to_owned(), line: before + place.line, fault })?);
            Ok(())
        })?;
    }
}

fn open(path: &Path) -> Result<Blocks> {
    Blocks::open(path, FORMAT, VERSION).map_err(about_plan)
}

/// A damaged plan has a remedy of its own.
fn about_plan(error: Error) -> Error {
    match error {
        Error::Damaged { path, at } => Error::DamagedPlan { path, at },
        other => other,
    }
}

/// The position of a row in its block.
struct LinePosition<'a> {
    line: u64,
    start: usize,
    text: &'a str,
}

fn for_each_row<'a>(
    text: &'a str,
    mut see: impl FnMut(LinePosition<'a>, std::result::Result<Row<'a>, BadRow>) -> Result<()>,
) -> Result<()> {
    let mut start = 0;
    for (line, end) in memchr::memchr_iter(b'\n', text.as_bytes()).enumerate() {
        let row = text[start..end].trim_end_matches('\r');
        if !row.is_empty() {
            see(LinePosition { line: line as u64 + 1, start, text: row }, Row::parse(row))?;
        }
        start = end + 1;
    }
    Ok(())
}

/// The size of the plan in bytes; 0 if it cannot be seen.
pub fn size(home: &Home) -> Result<u64> {
    Ok(std::fs::metadata(path(home)?).map_or(0, |meta| meta.len()))
}

/// Copies a file to the plan of a home without changes, compressed or not.
pub fn adopt(home: &Home, file: &Path) -> Result<()> {
    let target = home.plan();
    std::fs::copy(file, &target).context("copy the plan to", &target)?;
    Ok(())
}

/// The path of the plan, or an error with the way to restore it.
pub fn path(home: &Home) -> Result<PathBuf> {
    match home.existing_plan() {
        Some(path) => Ok(path),
        None => Err(Error::NoPlan { path: home.plan(), has_history: !files_in(&home.history())?.is_empty() }),
    }
}

/// The run whose results were last applied to the plan.
pub(crate) fn folded_run(home: &Home) -> Result<Option<String>> {
    let blocks = open(&path(home)?)?;
    Ok(blocks.note().map(str::to_owned))
}

/// A rewrite of the plan in progress.
pub(crate) struct Rewrite {
    draft: AtomicFile,
    encoder: FrameEncoder,
    text: String,
}

impl Rewrite {
    pub(crate) fn create(home: &Home, run: &str) -> Result<Rewrite> {
        let mut draft = AtomicFile::create(&home.plan())?;
        draft.write(&frames::header(FORMAT, VERSION, run))?;
        Ok(Rewrite { draft, encoder: FrameEncoder::new(LEVEL), text: String::new() })
    }

    fn flush(&mut self) -> Result<()> {
        if !self.text.is_empty() {
            self.draft.write(&self.encoder.encode(self.text.as_bytes()))?;
            self.text.clear();
        }
        Ok(())
    }

    /// Replaces the plan.
    pub(crate) fn publish(mut self) -> Result<()> {
        self.flush()?;
        Ok(self.draft.publish()?)
    }

    /// Appends a new entry.
    pub(crate) fn add(&mut self, entry: &Entry, is_removed: bool) -> Result<()> {
        self.add_row(&entry.row(), is_removed)
    }

    /// Appends a row; if the page was removed, only the tombstone status is kept of it.
    pub(crate) fn add_row(&mut self, row: &Row<'_>, is_removed: bool) -> Result<()> {
        match is_removed {
            true => Row { status: STATUS, title: "", ..*row }.write(&mut self.text),
            false => row.write(&mut self.text),
        }
        self.flush_full()
    }

    /// Ends a frame that is full.
    fn flush_full(&mut self) -> Result<()> {
        if self.text.len() >= PLAN_FRAME_BYTES { self.flush() } else { Ok(()) }
    }
}

/// Rewrites the plan under the name of a run: `decide` is called for every row, then `extend` may add entries. The old
/// plan is moved to the history.
pub(crate) fn rewrite<'c>(
    home: &Home,
    run: &str,
    mut decide: impl FnMut(&Row<'_>) -> Change<'c>,
    extend: impl FnOnce(&mut Rewrite) -> Result<()>,
) -> Result<()> {
    let before = path(home)?;
    let mut blocks = open(&before)?;
    let mut new = Rewrite::create(home, run)?;
    loop {
        let lines = blocks.lines_before();
        let Some(block) = blocks.next().map_err(about_plan)? else { break };
        // A compressed frame is copied unless one of its rows changes, or it is so small that it should be merged with
        // its neighbours.
        let copied = block.packed.filter(|_| block.text.len() >= PLAN_FRAME_BYTES / 2);
        let mut rewriting = copied.is_none();
        for_each_row(block.text, |place, row| {
            let row = row.map_err(|fault| Error::Row { path: before.clone(), line: lines + place.line, fault })?;
            let change = decide(&row);
            if !rewriting {
                if change == Change::Keep {
                    return Ok(());
                }
                rewriting = true;
                new.text.push_str(&block.text[..place.start]);
            }
            match change {
                Change::Keep => row.write(&mut new.text),
                Change::Age(age) => Row::write_aged(place.text, age, &mut new.text),
                Change::Outcome { status, retries } => Row { status, retries, ..row }.write(&mut new.text),
                Change::Drop => {}
                Change::Remove => Row { status: STATUS, title: "", ..row }.write(&mut new.text),
            }
            new.flush_full()
        })?;
        match copied {
            Some(packed) if !rewriting => {
                new.flush()?;
                new.draft.write(packed)?;
            }
            _ => {}
        }
    }
    extend(&mut new)?;
    keep_in_history(home, &before, run)?;
    new.publish()?;
    if before != home.plan() { remove_others(home) } else { Ok(()) }
}

/// Deletes plans under the names of another program, because Tidings continues them.
pub(crate) fn remove_others(home: &Home) -> Result<()> {
    for path in home.plans().into_iter().skip(1).filter(|path| home.plan().is_file() && path.is_file()) {
        file::remove(&path)?;
    }
    Ok(())
}

/// The result of merging another plan.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TakenIn {
    /// Entries that it has.
    pub read: u64,
    /// Of these, entries that were not in the plan.
    pub added: u64,
}

/// Adds the entries of another plan (FeedFetcher or Tidings) that are not in the plan of the home, unchanged. Removed
/// entries are added with that status only, and pending ones only if they were not fetched.
pub fn take_in(home: &Home, run: &str, other: &Path, dry_run: bool) -> Result<TakenIn> {
    let (mut new, mut open) = (FingerprintSet::default(), FingerprintSet::default());
    let mut taken = TakenIn::default();
    read_file(other, |row| {
        taken.read += 1;
        new.insert(Fingerprint::of(row.url));
        if !row.status.parse::<Status>().expect("any string is a status").is_final() {
            open.insert(Fingerprint::of(row.url));
        }
    })?;
    let mut wanted = open.clone();
    fetched::subtract(home, &mut wanted)?;
    new.retain(|entry| wanted.contains(entry) || !open.contains(entry));
    read(home, |row| {
        new.remove(&Fingerprint::of(row.url));
    })?;
    taken.added = new.len() as u64;
    if !dry_run && taken.added > 0 {
        let removed = Removed::read(home)?;
        rewrite(
            home,
            run,
            |_| Change::Keep,
            |plan| {
                let mut full = Ok(());
                read_file(other, |row| {
                    if new.remove(&Fingerprint::of(row.url)) && full.is_ok() {
                        full = plan.add_row(row, removed.covers(row.url).is_some());
                    }
                })?;
                full
            },
        )?;
    }
    Ok(taken)
}

/// Keeps the first `most` entries of each feed and deletes the others from the plan.
pub fn keep_first(home: &Home, run: &str, most: u32) -> Result<()> {
    let mut kept = std::collections::HashMap::<String, u32>::new();
    let decide = |row: &Row<'_>| {
        let number = kept.entry(row.feed.to_owned()).or_default();
        *number += 1;
        if *number > most { Change::Drop } else { Change::Keep }
    };
    rewrite(home, run, decide, |_| Ok(()))
}

pub(crate) fn keep_in_history(home: &Home, plan: &Path, run: &str) -> Result<()> {
    let name = plan.file_name().unwrap_or_default().to_string_lossy();
    let copy = home.history().join(format!("{run}.{name}"));
    file::make_folder(&home.history())?;
    match std::fs::hard_link(plan, &copy) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        // Some file systems have no hard links.
        Err(_) => Ok(std::fs::copy(plan, &copy).map(drop).context("copy the plan to", &copy)?),
        Ok(()) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history;
    use crate::testing::{fill_plan, home, rows};
    use proptest::prelude::*;
    use std::fs;

    fn names(folder: &Path) -> Vec<String> {
        let name = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
        files_in(folder).unwrap().iter().map(name).collect()
    }

    fn line(url: &str, status: &str) -> String {
        format!("0\t{status}\t0\t2026-03-01T00:00:00Z\t\thttp://e.org/feed\t{url}\tA title\n")
    }

    #[test]
    fn every_change_is_applied() {
        let (_folder, home) = home();
        fill_plan(&home, "f", &["keep", "age", "outcome", "drop", "remove"]);
        let decide = |row: &Row<'_>| match row.url {
            "age" => Change::Age(7),
            "outcome" => Change::Outcome { status: "http-404", retries: 3 },
            "drop" => Change::Drop,
            "remove" => Change::Remove,
            _ => Change::Keep,
        };
        rewrite(&home, "run", decide, |_| Ok(())).unwrap();
        let row = |url: &str, status: &str, retries, age| (url.to_owned(), status.to_owned(), retries, age);
        let expected = [
            row("keep", "new", 0, 0),
            row("age", "new", 0, 7),
            row("outcome", "http-404", 3, 0),
            row("remove", STATUS, 0, 0),
        ];
        assert_eq!(rows(&home), expected);
        let mut titles = Vec::new();
        read(&home, |row| titles.push(row.title.to_owned())).unwrap();
        assert_eq!(titles, ["A title", "A title", "A title", ""], "removed entries have no title");
        assert_eq!(folded_run(&home).unwrap().as_deref(), Some("run"));
    }

    #[test]
    fn the_plan_before_a_rewrite_is_in_the_history() {
        let (_folder, home) = home();
        for run in ["1", "2", "3"] {
            fill_plan(&home, "f", &[run]);
            rewrite(&home, run, |_| Change::Keep, |_| Ok(())).unwrap();
        }
        assert_eq!(names(&home.history()).len(), 4, "one for each run: fill, 1, 2, 3");
        assert_eq!(history::thin(&home, 4, jiff::Timestamp::MAX).unwrap(), 2);
        assert_eq!(names(&home.history()), ["3.plan.tsv.zst", "fill.plan.tsv.zst"]);
        assert_eq!(history::thin(&home, 5, jiff::Timestamp::MAX).unwrap(), 0);
    }

    #[test]
    fn the_errors_about_a_missing_or_damaged_plan_name_the_repair() {
        let (_folder, home) = home();
        fill_plan(&home, "f", &["a"]);
        fs::remove_file(home.plan()).unwrap();
        let error = read(&home, |_| ()).unwrap_err().to_string();
        assert!(error.contains("is missing; `tidings doctor --repair` restores it"), "{error}");
        let copy = files_in(&home.history()).unwrap().pop().unwrap();
        fs::write(home.plan(), fs::read(copy).unwrap()).unwrap();
        fill_plan(&home, "f", &["a"]);
        let whole = fs::read(home.plan()).unwrap();
        fs::write(home.plan(), &whole[..whole.len() - 3]).unwrap();
        let error = read(&home, |_| ()).unwrap_err().to_string();
        assert!(error.contains("is damaged") && error.contains("`tidings doctor --repair` restores it"), "{error}");
    }

    #[test]
    fn a_plan_of_feedfetcher_is_read_and_replaced_by_ours() {
        let (_folder, home) = home();
        fs::remove_file(home.plan()).unwrap();
        let theirs = home.root().join("plan.txt");
        fs::write(&theirs, line("a", "ok") + &line("b", "new")).unwrap();
        assert_eq!(rows(&home).len(), 2);
        fill_plan(&home, "f", &["c"]);
        assert!(home.plan().is_file() && !theirs.exists());
        assert_eq!(rows(&home).iter().map(|row| row.0.as_str()).collect::<Vec<_>>(), ["a", "b", "c"]);
    }

    #[test]
    fn a_faulty_row_is_an_error_with_its_line() {
        let (folder, _home) = home();
        let path = folder.path().join("other.tsv");
        fs::write(&path, line("a", "ok") + "\nfour\tfields\tin\tall\n").unwrap();
        let error = read_file(&path, |_| ()).unwrap_err().to_string();
        assert!(error.contains("line 3: has 4 tab-separated fields instead of 8"), "{error}");
    }

    #[test]
    fn another_plan_adds_missing_entries() {
        let (folder, home) = home();
        fill_plan(&home, "f", &["a"]);
        let path = folder.path().join("other.tsv");
        fs::write(&path, line("a", "ok") + &line("b", "ok") + &line("c", "new")).unwrap();
        assert_eq!(take_in(&home, "in", &path, true).unwrap(), TakenIn { read: 3, added: 2 });
        assert_eq!(rows(&home).len(), 1, "a dry run changes nothing");
        take_in(&home, "in", &path, false).unwrap();
        let states: Vec<(String, String)> = rows(&home).into_iter().map(|row| (row.0, row.1)).collect();
        let own = |url: &str, status: &str| (url.to_owned(), status.to_owned());
        assert_eq!(states, [own("a", "new"), own("b", "ok"), own("c", "new")]);
        assert_eq!(take_in(&home, "in", &path, false).unwrap().added, 0);
    }

    #[test]
    fn each_feed_keeps_its_first_entries() {
        let (_folder, home) = home();
        fill_plan(&home, "f", &["a", "b", "c"]);
        fill_plan(&home, "g", &["d"]);
        keep_first(&home, "run", 2).unwrap();
        assert_eq!(rows(&home).iter().map(|row| row.0.as_str()).collect::<Vec<_>>(), ["a", "b", "d"]);
    }

    #[test]
    fn a_frame_without_changes_is_copied_byte_for_byte() {
        let (_folder, home) = home();
        let urls: Vec<String> =
            (0..30_000u32).map(|n| format!("http://e.org/{:x}/{n}", n.wrapping_mul(2_654_435_761))).collect();
        let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
        fill_plan(&home, "http://e.org/feed", &urls);
        rewrite(&home, "fill", |_| Change::Keep, |_| Ok(())).unwrap();
        let before = fs::read(home.plan()).unwrap();
        rewrite(&home, "fill", |_| Change::Keep, |_| Ok(())).unwrap();
        assert_eq!(fs::read(home.plan()).unwrap(), before);
        let change = |row: &Row<'_>| if row.url == urls[17] { Change::Age(1) } else { Change::Keep };
        rewrite(&home, "fill", change, |_| Ok(())).unwrap();
        assert_eq!(rows(&home).iter().filter(|row| row.3 == 1).count(), 1);
        assert_eq!(rows(&home).len(), urls.len());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn a_rewrite_changes_the_chosen_rows_only(urls in prop::collection::btree_set("[a-z]{1,6}", 0..20), chosen in "[a-z]", age in 0u32..9) {
            let (_folder, home) = home();
            let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
            fill_plan(&home, "f", &urls);
            rewrite(&home, "run", |row| if row.url.starts_with(&chosen) { Change::Age(age) } else { Change::Keep }, |_| Ok(())).unwrap();
            let expected: Vec<(String, u32)> =
                urls.iter().map(|url| ((*url).to_owned(), if url.starts_with(&chosen) { age } else { 0 })).collect();
            let found: Vec<(String, u32)> = rows(&home).into_iter().map(|row| (row.0, row.3)).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
