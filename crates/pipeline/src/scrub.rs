//! Scrub: reads a share of all files in each round and compares them with their digests.
//!
//! Bits flip on disks without a word, and a file that is never read is noticed when it is needed. Each round reads as
//! much as is needed to read everything once a month. Derived files that are damaged are marked to be made again by the
//! next round; all damaged files are listed in `state/damage.tsv`, from which `status` raises an alert, until they are
//! sound again.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use anyhow::Result;
use jiff::Timestamp;
use tidings_index::Snapshot;
use tidings_store::scrub::{self, DamagedFile, ScrubPosition, Scrubbed};
use tidings_store::{FileDigest, Home, docs, pages, rfc3339};

use crate::context::elapsed;
use crate::repair;

/// The time in which everything is read once.
const PERIOD: Duration = Duration::from_secs(30 * 24 * 3600);
/// The bytes that every scrub reads at least: small corpora are read more often than necessary.
const LEAST_BYTES: u64 = 16 << 20;
/// The bytes that a scrub reads at most, so that a round after a long pause does not read everything.
const MOST_BYTES: u64 = 8 << 30;

/// A file that can be checked.
enum Checked {
    Recorded(Scrubbed, String, FileDigest),
    /// A segment or a part of the lexicon of the index of a language.
    Index(String, u64),
    /// A file because of which an index does not open.
    Unreadable,
}

impl Checked {
    fn bytes(&self) -> u64 {
        match self {
            Checked::Recorded(_, _, file) => file.bytes,
            Checked::Index(_, bytes) => *bytes,
            Checked::Unreadable => 0,
        }
    }
}

/// The files that a scrub found to be damaged.
pub fn scrub(home: &Home, now: Timestamp) -> Result<Vec<String>> {
    let files = files(home)?;
    let position = ScrubPosition::read(home)?;
    let total: u64 = files.values().map(Checked::bytes).sum();
    let since = position.at.parse::<Timestamp>().map_or(Duration::ZERO, |at| elapsed(at, now));
    let mut left = share(total, since);
    let known = scrub::damaged_files(home)?;
    // Files that were damaged are read again first: they may have been restored or made again.
    let mut names: Vec<&String> =
        known.iter().filter_map(|row| files.get_key_value(&row.file)).map(|(n, _)| n).collect();
    let after = files.range::<String, _>((std::ops::Bound::Excluded(&position.file), std::ops::Bound::Unbounded));
    let mut last = position.file.clone();
    for (name, file) in after.chain(files.range(..=position.file.clone())) {
        if left == 0 {
            break;
        }
        left = left.saturating_sub(file.bytes().max(1));
        last.clone_from(name);
        names.push(name);
    }
    let checked: BTreeSet<&String> = names.into_iter().collect();
    let mut damaged = Vec::new();
    for name in checked {
        if !is_sound(home, name, &files[name])? {
            log::error!("{name} is damaged: its bytes have changed since it was written");
            damaged.push(name.clone());
        }
    }
    let found_at = |file: &String| known.iter().find(|row| row.file == *file).map(|row| row.found.clone());
    let rows = damaged
        .iter()
        .map(|file| DamagedFile { file: file.clone(), found: found_at(file).unwrap_or_else(|| rfc3339(now)) });
    let rows: Vec<DamagedFile> = rows.collect();
    if rows != known {
        scrub::write_damaged_files(home, rows)?;
    }
    if !files.is_empty() {
        ScrubPosition { file: last, at: rfc3339(now) }.write(home)?;
    }
    Ok(damaged)
}

/// The time since the last scrub; `None` if there was none, or if the clock was set back.
pub fn age(home: &Home, now: Timestamp) -> Result<Option<Duration>> {
    let at = ScrubPosition::read(home)?.at.parse::<Timestamp>().ok().filter(|at| *at <= now);
    Ok(at.map(|at| elapsed(at, now)))
}

/// The bytes to read after a pause.
fn share(total: u64, since: Duration) -> u64 {
    let due = total as f64 * since.as_secs_f64() / PERIOD.as_secs_f64();
    (due as u64).clamp(LEAST_BYTES, MOST_BYTES)
}

/// All files with digests, by name.
fn files(home: &Home) -> Result<BTreeMap<String, Checked>> {
    let recorded = scrub::recorded(home)?.into_iter();
    let mut files: BTreeMap<String, Checked> =
        recorded.map(|(name, (kind, day, file))| (name, Checked::Recorded(kind, day, file))).collect();
    for code in home.indexed()? {
        let snapshot = match Snapshot::open(&home.index_of(&code)) {
            Ok(snapshot) => snapshot,
            // `compile` rebuilds it.
            Err(error) => {
                let file = error.damaged_file().unwrap_or("MANIFEST");
                files.insert(format!("index/{code}/{file}"), Checked::Unreadable);
                continue;
            }
        };
        for (file, bytes) in snapshot.files() {
            files.insert(format!("index/{code}/{file}"), Checked::Index(code.clone(), bytes));
        }
    }
    Ok(files)
}

/// Whether a file has the bytes that were written. A damaged derived file is marked to be made again.
fn is_sound(home: &Home, name: &str, file: &Checked) -> Result<bool> {
    let (kind, day, file) = match file {
        Checked::Recorded(kind, day, file) => (kind, day, file),
        Checked::Unreadable => return Ok(false),
        Checked::Index(code, _) => {
            let Ok(snapshot) = Snapshot::open(&home.index_of(code)) else { return Ok(false) };
            let file = name.rsplit('/').next().unwrap_or_default();
            return match snapshot.verify_file(file) {
                Ok(()) => Ok(true),
                Err(error) if error.damaged_file().is_some() => Ok(false),
                Err(error) => Err(error.into()),
            };
        }
    };
    if file.check(home)? {
        return Ok(true);
    }
    let marked = match kind {
        // Missing and truncated files are reported by the recipe.
        Scrubbed::Pages if !file.is_present(home) => return Ok(true),
        Scrubbed::Pages if pages::is_intact(home, name)? => {
            log::error!("docs/recipes/{day}.json is damaged: it has a wrong digest of {name}");
            docs::forget(home, day)?;
            return Ok(true);
        }
        Scrubbed::Pages => return Ok(false),
        Scrubbed::Documents => repair::check_documents(home, day),
        Scrubbed::Verdicts => repair::check_verdicts(home, day, file),
        Scrubbed::Text => repair::check_text(home, day, file),
        Scrubbed::Fingerprints => Ok(scrub::forget_fingerprints(home, file)?),
    };
    match marked {
        Err(error) if !error.is::<repair::DamagedFiles>() => Err(error),
        _ => Ok(false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_home;

    fn now() -> Timestamp {
        "2026-03-15T12:00:00Z".parse().unwrap()
    }

    fn flip(home: &Home, file: &str) {
        let path = home.root().join(file);
        let mut bytes = std::fs::read(&path).unwrap();
        // Sections of an index are padded, so that a single byte may be one that nothing reads.
        let (start, end) = (bytes.len() / 3, bytes.len() * 2 / 3);
        bytes[start..end].iter_mut().step_by(7).for_each(|byte| *byte ^= 1);
        std::fs::write(path, bytes).unwrap();
    }

    #[test]
    fn the_share_grows_with_the_pause_and_is_bounded() {
        let day = Duration::from_secs(24 * 3600);
        assert_eq!(share(0, day), LEAST_BYTES);
        assert_eq!(share(30 << 30, day), 1 << 30);
        assert_eq!(share(30 << 40, 30 * day), MOST_BYTES);
    }

    #[test]
    fn a_sound_home_has_no_damaged_files() {
        let (_folder, pipeline) = test_home::built();
        assert!(scrub(pipeline.home(), now()).unwrap().is_empty());
        assert!(!ScrubPosition::read(pipeline.home()).unwrap().file.is_empty());
    }

    #[test]
    fn every_kind_of_damaged_file_is_found_and_derived_ones_are_made_again() {
        let (_folder, pipeline) = test_home::built();
        let home = pipeline.home();
        let names: Vec<String> = files(home).unwrap().into_keys().collect();
        for folder in ["docs/", "index/", "pages/", "seen/keys/", "seen/pieces/", "seen/verdicts/", "text/"] {
            let name = names.iter().find(|name| name.starts_with(folder)).unwrap_or_else(|| panic!("{folder}"));
            let whole = std::fs::read(home.root().join(name)).unwrap();
            flip(home, name);
            assert!(scrub(home, now()).unwrap().contains(name), "{name}");
            assert!(scrub::damaged_files(home).unwrap().iter().any(|row| row.file == *name), "{name}");
            if folder == "pages/" {
                std::fs::write(home.root().join(name), whole).unwrap();
            }
            test_home::run_derived(&pipeline);
            assert!(scrub(home, now()).unwrap().is_empty(), "{name}");
            assert!(scrub::damaged_files(home).unwrap().is_empty(), "{name}");
        }
    }
}
