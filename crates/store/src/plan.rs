//! The plan on disk: read as a stream, rewritten as a stream.
//!
//! A plan of five million entries is a gigabyte of text. It is never held in memory: readers see
//! one row at a time, and a rewrite copies packed frames in which nothing changed.

use std::path::{Path, PathBuf};

use tidings_model::{BadRow, Entry, Fingerprint, FingerprintSet, Row, Status};

use crate::disk::{self, Draft};
use crate::error::{During, Error, Result};
use crate::fetched;
use crate::frames::{self, Blocks, FRAME_BYTES, Packer};
use crate::home::{Home, files_in};
use crate::removed::{Removed, STATUS};

const FORMAT: &str = "plan";
const VERSION: u32 = 1;

/// The plan is rewritten by every run and read by people: quick to pack beats small.
const LEVEL: i32 = 1;

/// The bytes of a plan without entries.
pub(crate) fn empty() -> Vec<u8> {
    frames::label(FORMAT, VERSION, "")
}

/// What a rewrite does with a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change<'a> {
    /// Leaves it as it is.
    Keep,
    /// Gives it another age.
    Age(u32),
    /// Records what a fetch found out.
    Fate {
        /// The status word.
        status: &'a str,
        /// How often it was tried by now.
        retries: u32,
    },
    /// Takes it out.
    Drop,
    /// Leaves of it only that it must not be fetched again.
    Remove,
}

/// Shows every row of the home's plan to `see`, in order.
pub fn read(home: &Home, see: impl FnMut(&Row<'_>)) -> Result<()> {
    read_file(&path(home)?, see)
}

/// Shows every row of any plan file to `see`: ours or FeedFetcher's, plain or compressed.
pub fn read_file(path: &Path, mut see: impl FnMut(&Row<'_>)) -> Result<()> {
    let mut blocks = Blocks::open(path, FORMAT, VERSION)?;
    loop {
        let before = blocks.lines_before();
        let Some(block) = blocks.next()? else { return Ok(()) };
        for_each_row(block.text, |place, row| {
            see(&row.map_err(|fault| Error::Row { path: path.to_owned(), line: before + place.line, fault })?);
            Ok(())
        })?;
    }
}

/// Where a row stands in its block.
struct Place<'a> {
    line: u64,
    start: usize,
    text: &'a str,
}

fn for_each_row<'a>(
    text: &'a str,
    mut see: impl FnMut(Place<'a>, std::result::Result<Row<'a>, BadRow>) -> Result<()>,
) -> Result<()> {
    let mut start = 0;
    for (line, end) in memchr::memchr_iter(b'\n', text.as_bytes()).enumerate() {
        let row = text[start..end].trim_end_matches('\r');
        if !row.is_empty() {
            see(Place { line: line as u64 + 1, start, text: row }, Row::parse(row))?;
        }
        start = end + 1;
    }
    Ok(())
}

/// The size of the plan in bytes; 0 if it cannot be seen.
pub fn size(home: &Home) -> Result<u64> {
    Ok(std::fs::metadata(path(home)?).map_or(0, |meta| meta.len()))
}

/// Makes a copy of a file the plan of a home, as it is: it may be packed or not.
pub fn adopt(home: &Home, file: &Path) -> Result<()> {
    let target = home.plan();
    std::fs::copy(file, &target).during("copy the plan to", &target)?;
    Ok(())
}

/// The plan that is there, or an error that tells how to get it back.
pub fn path(home: &Home) -> Result<PathBuf> {
    match home.existing_plan() {
        Some(path) => Ok(path),
        None => {
            let newest = files_in(&home.history())?.pop();
            Err(Error::NoPlan { path: home.plan(), newest })
        }
    }
}

/// The name of the run whose results the plan holds already.
pub(crate) fn folded_run(home: &Home) -> Result<Option<String>> {
    let blocks = Blocks::open(&path(home)?, FORMAT, VERSION)?;
    Ok(blocks.note().map(str::to_owned))
}

/// A plan being written anew.
pub(crate) struct Rewrite {
    draft: Draft,
    packer: Packer,
    text: String,
}

impl Rewrite {
    fn create(home: &Home, run: &str) -> Result<Rewrite> {
        let mut draft = Draft::create(&home.plan())?;
        draft.write(&frames::label(FORMAT, VERSION, run))?;
        Ok(Rewrite { draft, packer: Packer::new(LEVEL), text: String::new() })
    }

    fn flush(&mut self) -> Result<()> {
        if !self.text.is_empty() {
            self.draft.write(&self.packer.pack(self.text.as_bytes()))?;
            self.text.clear();
        }
        Ok(())
    }

    /// Appends a new entry.
    pub(crate) fn add(&mut self, entry: &Entry, is_removed: bool) -> Result<()> {
        match is_removed {
            // It was taken out before it came: only that it must not be fetched is kept.
            true => self.add_row(&Row { status: STATUS, title: "", ..entry.row() }),
            false => self.add_row(&entry.row()),
        }
    }

    /// Appends an entry with what is known of it.
    fn add_row(&mut self, row: &Row<'_>) -> Result<()> {
        row.write(&mut self.text);
        if self.text.len() >= FRAME_BYTES { self.flush() } else { Ok(()) }
    }
}

/// Writes the plan anew under the name of a run: `decide` is asked about every row, then `extend`
/// may add entries. The plan before it goes to the history.
pub(crate) fn rewrite<'c>(
    home: &Home,
    run: &str,
    mut decide: impl FnMut(&Row<'_>) -> Change<'c>,
    extend: impl FnOnce(&mut Rewrite) -> Result<()>,
) -> Result<()> {
    let before = path(home)?;
    let mut blocks = Blocks::open(&before, FORMAT, VERSION)?;
    let mut new = Rewrite::create(home, run)?;
    loop {
        let lines = blocks.lines_before();
        let Some(block) = blocks.next()? else { break };
        // A packed frame is copied as it is unless one of its rows changes, or it is so small
        // that it should grow together with its neighbours.
        let copied = block.packed.filter(|_| block.text.len() >= FRAME_BYTES / 2);
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
                Change::Fate { status, retries } => Row { status, retries, ..row }.write(&mut new.text),
                Change::Drop => {}
                Change::Remove => Row { status: STATUS, title: "", ..row }.write(&mut new.text),
            }
            Ok(())
        })?;
        match copied {
            Some(packed) if !rewriting => {
                new.flush()?;
                new.draft.write(packed)?;
            }
            _ if new.text.len() >= FRAME_BYTES => new.flush()?,
            _ => {}
        }
    }
    extend(&mut new)?;
    new.flush()?;
    keep_in_history(home, &before, run)?;
    new.draft.publish()?;
    if before != home.plan() { remove_others(home) } else { Ok(()) }
}

/// Removes plans under another program's names: where ours is, it goes on, and two would be one too many.
pub(crate) fn remove_others(home: &Home) -> Result<()> {
    for path in home.plans().into_iter().skip(1).filter(|path| home.plan().is_file() && path.is_file()) {
        disk::remove(&path)?;
    }
    Ok(())
}

/// What a plan from elsewhere brought.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TakenIn {
    /// Entries that it has.
    pub read: u64,
    /// Of these, entries that were not in the plan.
    pub added: u64,
}

/// Adds the entries of another plan, FeedFetcher's or ours, that the home's plan does not have, each as it stands there. Of
/// what was taken out of the home only that is added, and of what waits to be fetched only what is not there yet.
pub fn take_in(home: &Home, run: &str, other: &Path, dry_run: bool) -> Result<TakenIn> {
    let (mut new, mut open) = (FingerprintSet::default(), FingerprintSet::default());
    let mut taken = TakenIn::default();
    read_file(other, |row| {
        taken.read += 1;
        new.insert(Fingerprint::of(row.url));
        if !row.status.parse::<Status>().expect("any word is a status").is_final() {
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
                        full = match removed.covers(row.url) {
                            Some(_) => plan.add_row(&Row { status: STATUS, title: "", ..*row }),
                            None => plan.add_row(row),
                        };
                    }
                })?;
                full
            },
        )?;
    }
    Ok(taken)
}

/// Leaves each feed its first `most` entries and takes the others out of the plan.
pub fn keep_first(home: &Home, run: &str, most: u32) -> Result<()> {
    let mut kept = std::collections::HashMap::<String, u32>::new();
    let decide = |row: &Row<'_>| {
        let number = kept.entry(row.feed.to_owned()).or_default();
        *number += 1;
        if *number > most { Change::Drop } else { Change::Keep }
    };
    rewrite(home, run, decide, |_| Ok(()))
}

fn keep_in_history(home: &Home, plan: &Path, run: &str) -> Result<()> {
    let name = plan.file_name().unwrap_or_default().to_string_lossy();
    let copy = home.history().join(format!("{run}.{name}"));
    disk::make_folder(&home.history())?;
    match std::fs::hard_link(plan, &copy) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        // Some file systems know no hard links.
        Err(_) => std::fs::copy(plan, &copy).map(drop).during("copy the plan to", &copy),
        Ok(()) => Ok(()),
    }
}

/// Removes the oldest plans of the history until `keep` are left.
pub fn thin_history(home: &Home, keep: usize) -> Result<usize> {
    let copies = files_in(&home.history())?;
    let surplus = copies.len().saturating_sub(keep);
    for copy in &copies[..surplus] {
        std::fs::remove_file(copy).during("remove", copy)?;
    }
    Ok(surplus)
}
