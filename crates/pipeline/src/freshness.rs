//! Stages of a round that are known to have nothing to do, because no file changed since they had nothing left.
//!
//! A stage decides by the recipes of all days whether it is due. In a round in which nothing arrived, this would be all
//! of the cost, and grow with the years. See [`tidings_store::fresh`].

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::SystemTime;

use anyhow::Result;
use jiff::{SignedDuration, Timestamp};
use tidings_model::clock;
use tidings_store::fresh::{self, FreshStage, SettledDays, Stamp};
use tidings_store::{Home, rfc3339};

use crate::config::Config;
use crate::outcome::{Outcome as _, Status};
use crate::stage::{StageId, StageOutcome};

/// After this time a stage looks at all files again: stamps do not cover the files of old days.
pub(crate) const LOOK_AGE: SignedDuration = SignedDuration::from_hours(20);
/// The same for `fetch`, because pages become due again with time.
const FETCH_LOOK_AGE: SignedDuration = SignedDuration::from_hours(1);

/// The files that decide whether a stage is due.
struct Watched {
    /// Folders with all their files: input that only this stage looks at, and its own output.
    trees: &'static [&'static str],
    /// Single files, and folders whose names change with each change of the output of an earlier stage.
    entries: &'static [&'static str],
}

/// The files that decide whether a stage is due; `None` for a stage that always runs.
fn watched(stage: StageId) -> Option<Watched> {
    Some(match stage {
        StageId::Fetch => Watched {
            trees: &[],
            entries: &["plan.tsv.zst", "removed.tsv", "state/revisits.tsv", "state/failures.tsv", "state/hosts.tsv"],
        },
        StageId::Clean => Watched { trees: &["pages", "docs"], entries: &["removed.tsv"] },
        StageId::Dedup => Watched { trees: &["seen"], entries: &["docs/recipes"] },
        StageId::Annotate => Watched {
            trees: &["text"],
            entries: &["docs/recipes", "feeds.txt", "models", "seen", "seen/verdicts", "seen/amendments"],
        },
        StageId::Compile => Watched { trees: &["index"], entries: &["text/recipes", "hidden.tsv", "state/damage.tsv"] },
        _ => return None,
    })
}

/// The names of the files that a stage depends on; `None` if they cannot be relied on.
fn watch(stage: StageId, home: &Home, config: &Config) -> Result<Option<String>> {
    let Some(watched) = watched(stage) else { return Ok(None) };
    // Tools and models of the user may change without any file of the home.
    let annotate = &config.annotate;
    let is_foreign = stage == StageId::Annotate && !(annotate.external.is_empty() && annotate.models.is_empty());
    if home.is_draft() || is_foreign {
        return Ok(None);
    }
    Ok(Some(fresh::watch(home, watched.trees, watched.entries)?))
}

/// The stamp of the files that a stage depends on.
fn stamp(stage: StageId, home: &Home, config: &Config, watched: &str) -> Result<Stamp> {
    let settings = serde_json::json!([crate::program(), stage.stage().version(), config]);
    let mut stamp = Stamp::new(settings.to_string().as_bytes());
    stamp.add_all(home, watched)?;
    Ok(stamp)
}

/// Whether a stage looked at all files a short time ago.
fn is_recent(row: &FreshStage, stage: StageId, now: Timestamp) -> bool {
    let most = if stage == StageId::Fetch { FETCH_LOOK_AGE } else { LOOK_AGE };
    let looked: Option<Timestamp> = row.looked.parse().ok();
    looked.is_some_and(|looked| looked <= now && now.duration_since(looked) < most)
}

/// The stages of a round that have nothing left to do.
#[derive(Debug, Default)]
pub(crate) struct Freshness {
    /// Stages that were skipped, because no file changed since they had nothing left to do.
    skipped: AtomicUsize,
    /// Whether a stage looked for work and found none.
    has_news: AtomicBool,
    /// All of them, with the stamps at their ends.
    settled: Mutex<Vec<(StageId, FreshStage)>>,
    /// The list as it was at the beginning of the round, read on first use. It stays true: a stamp shows the rest.
    recorded: OnceLock<Vec<FreshStage>>,
    /// Stages that looked at all days, with the days that need not be looked at again.
    settled_days: Mutex<Vec<SettledDays>>,
}

impl Freshness {
    /// The number of derived stages that were skipped.
    pub(crate) fn skipped(&self) -> usize {
        self.skipped.load(Ordering::Relaxed)
    }

    /// Whether a stage looked for work in this round and found none.
    pub(crate) fn has_news(&self) -> bool {
        self.has_news.load(Ordering::Relaxed)
    }

    /// The number of units of a stage, if it had nothing left to do and no file has changed since: it can be skipped.
    pub(crate) fn units(&self, stage: StageId, home: &Home, config: &Config) -> Result<Option<u64>> {
        if self.recorded.get().is_none() {
            let _ = self.recorded.set(fresh::read(home)?);
        }
        let known = self.recorded.get().into_iter().flatten().find(|row| row.stage == stage.name()).cloned();
        let Some(known) = known.filter(|row| is_recent(row, stage, clock::now())) else { return Ok(None) };
        let may_skip = !home.is_draft() && stamp(stage, home, config, &known.watched)?.text() == known.stamp;
        if !may_skip {
            return Ok(None);
        }
        if stage.stage().is_derived() {
            self.skipped.fetch_add(1, Ordering::Relaxed);
        }
        let units = known.units;
        self.settled.lock().expect("no panic while held").push((stage, known));
        Ok(Some(units))
    }

    /// Notes the outcome of a stage. The caller holds the lock since before the stage looked for work, so that the stamp
    /// is that of the files it has seen.
    pub(crate) fn note(
        &self,
        outcome: &StageOutcome,
        stage: StageId,
        home: &Home,
        config: &Config,
        days: Option<SettledDays>,
    ) -> Result<()> {
        let Some(units) = settled_units(outcome) else { return Ok(()) };
        if let Some(days) = days {
            self.settled_days.lock().expect("no panic while held").push(days);
            self.has_news.store(true, Ordering::Relaxed);
        }
        if let Some(watched) = watch(stage, home, config)? {
            let stamp = stamp(stage, home, config, &watched)?.text();
            let row =
                FreshStage { stage: stage.name().to_owned(), stamp, units, looked: rfc3339(clock::now()), watched };
            self.settled.lock().expect("no panic while held").push((stage, row));
            self.has_news.store(true, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Records the stages that have nothing left to do, as far as no other process changed their files since, and the
    /// next change will be noticed. The caller holds the lock.
    pub(crate) fn record(&self, home: &Home, config: &Config) -> Result<()> {
        let mut rows = Vec::new();
        for (stage, row) in self.settled.lock().expect("no panic while held").drain(..) {
            let now = stamp(stage, home, config, &row.watched)?;
            if now.text() == row.stamp && now.is_settled(SystemTime::now()) {
                rows.push(row);
            }
        }
        if rows != fresh::read(home)? {
            fresh::write(home, rows)?;
        }
        let news = std::mem::take(&mut *self.settled_days.lock().expect("no panic while held"));
        if !news.is_empty() {
            let mut days = fresh::read_settled(home)?;
            days.retain(|known| !news.iter().any(|new| new.stage == known.stage));
            days.extend(news);
            fresh::write_settled(home, days)?;
        }
        Ok(())
    }
}

/// The number of units that are up to date after a run that left nothing to do.
fn settled_units(outcome: &StageOutcome) -> Option<u64> {
    if outcome.status() != Status::Done {
        return None;
    }
    let (units, left) = match outcome {
        // After a crawl, pages may have to be fetched again.
        StageOutcome::Fetch(fetch) => (fetch.entries, fetch.pending + fetch.waiting + fetch.given_up),
        StageOutcome::Clean(clean) => {
            (clean.days + clean.days_up_to_date, clean.days_left + clean.days_failed.len() as u64)
        }
        StageOutcome::Dedup(dedup) => (dedup.days + dedup.days_up_to_date, dedup.days_left),
        StageOutcome::Annotate(text) => {
            (text.days + text.days_up_to_date, text.days_left + text.days_waiting + text.days_undone)
        }
        StageOutcome::Compile(index) => {
            let languages = index.languages.len() as u64 + index.languages_up_to_date;
            let days_left: u64 = index.languages.values().map(|language| language.days_left).sum();
            (languages, index.languages_left + days_left)
        }
        _ => return None,
    };
    (left == 0).then_some(units)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::stage::clean::CleanOutcome;
    use crate::stage::fetch::FetchOutcome;
    use crate::test_home;

    /// An outcome of `clean` over two new and five known days.
    fn clean(days_left: u64) -> StageOutcome {
        let mut outcome = CleanOutcome::default();
        (outcome.done, outcome.days, outcome.days_up_to_date, outcome.days_left) = (true, 2, 5, days_left);
        StageOutcome::Clean(outcome)
    }

    #[test]
    fn a_stage_is_settled_if_nothing_is_left() {
        assert_eq!((settled_units(&clean(0)), settled_units(&clean(1))), (Some(7), None));
        assert_eq!(settled_units(&StageOutcome::Clean(CleanOutcome::default())), None, "it was not done");
    }

    #[test]
    fn fetch_is_settled_if_no_entry_is_pending_or_waits() {
        let fetch = |pending: u64, waiting: u64| {
            let mut outcome = FetchOutcome::default();
            (outcome.done, outcome.entries, outcome.pending, outcome.waiting) = (true, 7, pending, waiting);
            settled_units(&StageOutcome::Fetch(outcome))
        };
        assert_eq!([fetch(0, 0), fetch(1, 0), fetch(0, 1)], [Some(7), None, None]);
    }

    #[test]
    fn a_stage_looks_at_all_files_again_after_most_of_a_day_and_fetch_after_an_hour() {
        let looked = "2026-03-01T12:00:00.000Z";
        let row = FreshStage { looked: looked.to_owned(), ..FreshStage::default() };
        let now: Timestamp = looked.parse().unwrap();
        let after = |stage, minutes| is_recent(&row, stage, now + SignedDuration::from_mins(minutes));
        assert_eq!([0, 19 * 60, 20 * 60, -1].map(|at| after(StageId::Clean, at)), [true, true, false, false]);
        assert_eq!([0, 59, 60].map(|at| after(StageId::Fetch, at)), [true, true, false]);
        assert!(!is_recent(&FreshStage::default(), StageId::Clean, now), "a row of an earlier version");
    }

    /// Sets the times of all files and folders back, as if they were written an hour ago.
    fn age(folder: &std::path::Path) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                age(&path);
            }
            let earlier = SystemTime::now() - Duration::from_secs(3600);
            std::fs::File::open(&path).unwrap().set_modified(earlier).unwrap();
        }
    }

    #[test]
    fn a_stage_stays_fresh_until_a_file_changes() {
        let (folder, pipeline) = test_home::built();
        let (home, config) = (pipeline.home(), pipeline.config());
        age(folder.path());
        let round = || {
            let round = Freshness::default();
            round.note(&clean(0), StageId::Clean, home, config, None).unwrap();
            round
        };
        round().record(home, config).unwrap();
        let known = || Freshness::default().units(StageId::Clean, home, config).unwrap();
        assert_eq!(known(), Some(7));
        assert_eq!(Freshness::default().units(StageId::Dedup, home, config).unwrap(), None);
        let mut other = config.clone();
        other.clean.memory_mib += 1;
        assert_eq!(Freshness::default().units(StageId::Clean, home, &other).unwrap(), None, "other settings");
        let pages = tidings_store::pages::files(home).unwrap().remove(0);
        let bytes = std::fs::read(&pages).unwrap();
        std::fs::write(&pages, &bytes[..bytes.len() - 1]).unwrap();
        assert_eq!(known(), None, "a truncated file of pages");
        std::fs::write(&pages, bytes).unwrap();
        age(folder.path());
        round().record(home, config).unwrap();
        assert_eq!(known(), Some(7));
        std::fs::remove_file(&pages).unwrap();
        assert_eq!(known(), None, "a missing file of pages");
    }

    #[test]
    fn pages_that_arrive_between_a_stage_and_the_end_of_its_round_are_not_hidden() {
        let (folder, pipeline) = test_home::built();
        let (home, config) = (pipeline.home(), pipeline.config());
        age(folder.path());
        let round = Freshness::default();
        round.note(&clean(0), StageId::Clean, home, config, None).unwrap();
        test_home::put_pages(home.root(), test_home::SECOND_DAY, "b.0", &test_home::articles()[..1]);
        age(folder.path());
        round.record(home, config).unwrap();
        assert_eq!(Freshness::default().units(StageId::Clean, home, config).unwrap(), None);
    }
}
