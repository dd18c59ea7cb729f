//! Restores a plan that is damaged or missing.
//!
//! Three sources know entries: the sound frames of the damaged plan, the newest sound copy in `history/`, and the pages
//! that were stored since that copy. Entries that none of them knows are listed again by their feeds, which is why the
//! validators of all feeds are forgotten: a 304 would hide them.

use std::io::BufRead;
use std::path::{Path, PathBuf};

use tidings_model::{Entry, Fingerprint, FingerprintSet, Row, Status};
use tidings_storage::file::files_in;

use crate::error::{Context, Result};
use crate::home::Home;
use crate::pages::{self, PageReader};
use crate::plan::{self, Rewrite};
use crate::removed::Removed;
use crate::sound_frames::SoundFrames;
use crate::{feeds, fetched};

/// The number of entries of a restored plan, by where they were found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RestoredPlan {
    /// Entries in the sound parts of the damaged plan.
    pub sound: u64,
    /// Further entries in the newest sound copy.
    pub copied: u64,
    /// Further entries whose page was stored after the copy was made.
    pub stored: u64,
}

/// A plan in the course of its restoration.
struct Restoration {
    new: Rewrite,
    removed: Removed,
    known: FingerprintSet,
    /// Pages stored since the copy was made.
    stored: FingerprintSet,
}

impl Restoration {
    /// Adds an entry unless it is known; returns whether it was added.
    fn take(&mut self, row: &Row<'_>) -> Result<bool> {
        let fingerprint = Fingerprint::of(row.url);
        if !self.known.insert(fingerprint) {
            return Ok(false);
        }
        let status = if self.stored.contains(&fingerprint) { "ok" } else { row.status };
        self.new.add_row(&Row { status, ..*row }, self.removed.covers(row.url).is_some())?;
        Ok(true)
    }
}

/// Writes a new plan from all that is known of the old one, under the name of a run. The home must be locked.
pub fn restore(home: &Home, run: &str) -> Result<RestoredPlan> {
    let damaged = home.existing_plan();
    let copy = newest_sound_copy(home)?;
    let since = copy.as_deref().and_then(Path::file_name).and_then(|name| name.to_str()).unwrap_or_default();
    let files: Vec<PathBuf> = pages::files(home)?
        .into_iter()
        .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().as_ref() >= run_of(since)))
        .collect();
    let mut stored = FingerprintSet::default();
    for_each_stored(&files, |entry| {
        stored.insert(Fingerprint::of(&entry.url));
        Ok(())
    })?;
    let removed = Removed::read(home)?;
    let known = pruned(home, copy.as_deref())?;
    let mut plan = Restoration { new: Rewrite::create(home, run)?, removed, known, stored };
    let mut restored = RestoredPlan::default();
    if let Some(damaged) = &damaged {
        for_each_sound_row(damaged, |row| {
            restored.sound += u64::from(plan.take(row)?);
            Ok(())
        })?;
    }
    if let Some(copy) = &copy {
        let mut result = Ok(());
        plan::read_file(copy, |row| match plan.take(row) {
            Ok(is_new) => restored.copied += u64::from(is_new),
            Err(error) => result = Err(error),
        })?;
        result?;
    }
    for_each_stored(&files, |entry| {
        restored.stored += u64::from(plan.take(&Row { status: "ok", retries: 1, ..entry.row() })?);
        Ok(())
    })?;
    if let Some(damaged) = &damaged {
        plan::keep_in_history(home, damaged, run)?;
    }
    plan.new.publish()?;
    plan::remove_others(home)?;
    feeds::forget_validators(home)?;
    Ok(restored)
}

/// The run in the name of a file of the history.
fn run_of(name: &str) -> &str {
    name.split('.').next().unwrap_or_default()
}

/// The newest plan of the history that can be read to its end.
fn newest_sound_copy(home: &Home) -> Result<Option<PathBuf>> {
    let copies = files_in(&home.history())?;
    Ok(copies.into_iter().rev().find(|copy| plan::read_file(copy, |_| {}).is_ok()))
}

/// The pending entries of a copy that were fetched and pruned since.
fn pruned(home: &Home, copy: Option<&Path>) -> Result<FingerprintSet> {
    let Some(copy) = copy else { return Ok(FingerprintSet::default()) };
    let mut pending = FingerprintSet::default();
    plan::read_file(copy, |row| {
        if !row.status.parse::<Status>().expect("any string is a status").is_final() {
            pending.insert(Fingerprint::of(row.url));
        }
    })?;
    let mut left = pending.clone();
    fetched::subtract(home, &mut left)?;
    pending.retain(|entry| !left.contains(entry));
    Ok(pending)
}

/// Calls `see` with every valid row in the sound frames of a plan.
fn for_each_sound_row(path: &Path, mut see: impl FnMut(&Row<'_>) -> Result<()>) -> Result<()> {
    let mut frames = SoundFrames::open(path)?;
    let mut line = String::new();
    loop {
        line.clear();
        match frames.read_line(&mut line) {
            Ok(0) => return Ok(()),
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::InvalidData => continue,
            Err(error) => Err(error).context("read", path)?,
        }
        if let Ok(row) = Row::parse(line.trim_end_matches(['\n', '\r'])) {
            see(&row)?;
        }
    }
}

/// Calls `see` with the entry of every page of these files that can be read. Damaged frames are skipped: the alert
/// about them is raised where pages are used.
pub(crate) fn for_each_stored(files: &[PathBuf], mut see: impl FnMut(&Entry) -> Result<()>) -> Result<()> {
    for page in files.iter().map(|file| PageReader::open(file)).filter_map(Result::ok).flatten().filter_map(Result::ok)
    {
        let entry =
            Entry { seen: page.seen, published: page.published, feed: page.feed, url: page.url, title: page.title };
        see(&entry)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{fill_plan, home, rows};

    const RUN: &str = "20260302T000000000Z-doctor";

    #[test]
    fn a_missing_plan_is_restored_from_the_newest_sound_copy_and_the_stored_pages() {
        let (_folder, home) = home();
        fill_plan(&home, "http://e.org/feed", &["http://e.org/1", "http://e.org/2"]);
        std::fs::remove_dir_all(home.history()).unwrap();
        plan::keep_in_history(&home, &home.plan(), "20260301T000000000Z-fetch").unwrap();
        std::fs::write(home.history().join("20260301T000000001Z-update.plan.tsv.zst"), b"damaged").unwrap();
        std::fs::remove_file(home.plan()).unwrap();
        crate::testing::store_pages(&home, "20260301T000000000Z-fetch", &["http://e.org/2", "http://e.org/3"]);
        let restored = restore(&home, RUN).unwrap();
        assert_eq!(restored, RestoredPlan { sound: 0, copied: 2, stored: 1 });
        let found: Vec<_> = rows(&home).into_iter().map(|(url, status, ..)| (url, status)).collect();
        let row = |at: u32, status: &str| (format!("http://e.org/{at}"), status.to_owned());
        assert_eq!(found, [row(1, "new"), row(2, "ok"), row(3, "ok")]);
    }

    #[test]
    fn without_a_copy_stored_pages_are_not_requested_again() {
        let (_folder, home) = home();
        std::fs::write(home.plan(), b"nonsense").unwrap();
        crate::testing::store_pages(&home, "20260301T000000000Z-fetch", &["http://e.org/1"]);
        assert_eq!(restore(&home, RUN).unwrap(), RestoredPlan { sound: 0, copied: 0, stored: 1 });
        assert_eq!(rows(&home).len(), 1);
    }
}
