//! Old days that are known to be up to date, so that a round with work looks at the newest days only.
//!
//! A stage decides by the recipes of all days what is due. In a round in which some pages arrived, reading all of them
//! would cost more than the work, and more every year. After a look at all days that left nothing to do, a stamp of the
//! days before the newest is recorded; while it is the same, the next rounds leave these days out. Once a day all days
//! are looked at again, because the stamp does not cover the contents of old files. See [`tidings_store::fresh`].

use std::time::SystemTime;

use anyhow::Result;
use jiff::Timestamp;
use tidings_store::docs;
use tidings_store::fresh::{self, RECENT_DAYS, SettledDays, Stamp};
use tidings_store::{Home, rfc3339};

use crate::config::Config;
use crate::freshness::LOOK_AGE;
use crate::stage::{Due, Stage};

/// The work of a stage, and what it tells about later rounds.
pub(crate) struct Look {
    pub(crate) due: Due,
    /// The days that need not be looked at again if nothing of this work is left.
    settled: Option<SettledDays>,
}

impl Look {
    /// Looks at all days.
    pub(crate) fn at_all(stage: &dyn Stage, home: &Home, config: &Config) -> Result<Look> {
        Ok(Look { due: stage.due(home, config)?, settled: None })
    }

    /// Looks at the newest days, or at all if something may have changed in the others.
    pub(crate) fn at_newest(stage: &dyn Stage, home: &Home, config: &Config, now: Timestamp) -> Result<Look> {
        // Other stages do not look at days.
        if home.is_draft() || !stage.is_derived() {
            return Look::at_all(stage, home, config);
        }
        if let Some(first) = first_unsettled(stage, home, config, now)? {
            log::debug!("{}: looking at the days from {first} on", stage.id());
            return Ok(Look { due: stage.due_since(home, config, &first)?, settled: None });
        }
        // The stamp is taken before the look: a later change is noticed by the next round.
        let settled = settle(stage, home, config, now)?;
        Ok(Look { due: stage.due(home, config)?, settled })
    }

    /// The days that are up to date, if the stage had nothing left to do; `None` if its work has changed them.
    pub(crate) fn into_settled(self, stage: &dyn Stage, home: &Home, config: &Config) -> Result<Option<SettledDays>> {
        let Some(days) = self.settled else { return Ok(None) };
        let now = stamp(stage, home, config, &days.first)?;
        Ok(now.is_some_and(|now| now.text() == days.stamp).then_some(days))
    }
}

/// The first day that must be looked at, if the days before it are known to be up to date.
fn first_unsettled(stage: &dyn Stage, home: &Home, config: &Config, now: Timestamp) -> Result<Option<String>> {
    let known = fresh::read_settled(home)?.into_iter().find(|row| row.stage == stage.id().name());
    let is_recent = |row: &SettledDays| {
        let looked: Option<Timestamp> = row.looked.parse().ok();
        looked.is_some_and(|looked| looked <= now && now.duration_since(looked) < LOOK_AGE)
    };
    let Some(known) = known.filter(is_recent) else { return Ok(None) };
    let now = stamp(stage, home, config, &known.first)?;
    Ok(now.is_some_and(|now| now.text() == known.stamp).then_some(known.first))
}

/// The days before the newest; `None` if there are none, or if a change of them might go unnoticed.
fn settle(stage: &dyn Stage, home: &Home, config: &Config, now: Timestamp) -> Result<Option<SettledDays>> {
    let days = docs::document_days(home)?;
    let Some(first) = days.len().checked_sub(RECENT_DAYS).filter(|old| *old > 0).map(|old| &days[old]) else {
        return Ok(None);
    };
    let stamp = stamp(stage, home, config, first)?.filter(|stamp| stamp.is_settled(SystemTime::now()));
    Ok(stamp.map(|stamp| SettledDays {
        stage: stage.id().name().to_owned(),
        first: first.clone(),
        stamp: stamp.text(),
        looked: rfc3339(now),
    }))
}

/// The stamp of the days before one; `None` if the stage looks at all days.
fn stamp(stage: &dyn Stage, home: &Home, config: &Config, first: &str) -> Result<Option<Stamp>> {
    let settings = serde_json::json!([crate::program(), stage.version(), config]);
    let mut stamp = Stamp::new(settings.to_string().as_bytes());
    Ok(stage.stamp_before(home, config, first, &mut stamp)?.then_some(stamp))
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::Duration;

    use jiff::SignedDuration;
    use tempfile::TempDir;
    use tidings_model::clock;
    use tidings_store::Stale;

    use super::*;
    use crate::Pipeline;
    use crate::round::{RoundOptions, run_round};
    use crate::stage::StageId;
    use crate::testing::{article, home, page, store_pages};

    const DERIVED: [StageId; 4] = [StageId::Clean, StageId::Dedup, StageId::Annotate, StageId::Compile];
    const DAYS: usize = RECENT_DAYS + 3;
    const OLD_DAY: &str = "2026-03-02";

    fn day(number: usize) -> String {
        format!("2026-03-{number:02}")
    }

    fn round(pipeline: &Pipeline) {
        let options = RoundOptions { from: Some(StageId::Clean), ..RoundOptions::default() };
        run_round(pipeline, &options, &|_| {}, &|_, _| {}).unwrap();
    }

    /// Sets the times of all files and folders back, as if they were written an hour ago.
    fn age(folder: &Path) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                age(&path);
            }
            let file = std::fs::File::open(&path).unwrap();
            let earlier = file.metadata().unwrap().modified().unwrap() - Duration::from_secs(3600);
            file.set_modified(earlier).unwrap();
        }
    }

    /// A home of some days, all of them up to date, whose old days are known to be.
    fn settled_home() -> (TempDir, Pipeline) {
        let (folder, _) = home();
        // The articles are much alike.
        std::fs::write(folder.path().join("tidings.toml"), "[annotate]\nduplicates = 'keep'\n").unwrap();
        let pipeline = Pipeline::open(folder.path()).unwrap();
        for number in 1..=DAYS {
            let url = format!("https://gazette.example/{number}");
            store_pages(&pipeline, &day(number), &[page(&url, &article(&format!("ferry {number}")))]);
        }
        round(&pipeline);
        age(folder.path());
        round(&pipeline);
        (folder, pipeline)
    }

    fn documents(pipeline: &Pipeline) -> u64 {
        tidings_index::Snapshot::open(&pipeline.home().index_of("en")).unwrap().documents()
    }

    fn look(pipeline: &Pipeline, stage: StageId) -> Due {
        Look::at_newest(stage.stage().as_ref(), pipeline.home(), pipeline.config(), clock::now()).unwrap().due
    }

    /// The stages that leave the old days out.
    fn settled(pipeline: &Pipeline) -> Vec<StageId> {
        DERIVED.into_iter().filter(|stage| !look(pipeline, *stage).since.is_empty()).collect()
    }

    #[test]
    fn a_round_with_work_looks_at_the_newest_days_only() {
        let (_folder, pipeline) = settled_home();
        assert_eq!(settled(&pipeline), DERIVED);
        for stage in DERIVED {
            let (all, newest) =
                (stage.stage().due(pipeline.home(), pipeline.config()).unwrap(), look(&pipeline, stage));
            assert_eq!((newest.units, newest.up_to_date), (all.units, all.up_to_date), "{stage}");
        }
        let new = page("https://gazette.example/new", &article("harbour"));
        store_pages(&pipeline, &day(DAYS + 1), &[new]);
        let due = look(&pipeline, StageId::Clean);
        assert_eq!((due.since, due.units.len()), (day(DAYS + 1 - RECENT_DAYS), 1));
        round(&pipeline);
        assert_eq!(settled(&pipeline), DERIVED, "old days stay known after a round with work");
        for stage in DERIVED {
            assert_eq!(stage.stage().due(pipeline.home(), pipeline.config()).unwrap().units, [], "{stage}");
        }
        assert_eq!(documents(&pipeline), DAYS as u64 + 1);
    }

    #[test]
    fn changes_of_old_days_are_noticed() {
        let (folder, pipeline) = settled_home();
        let lose = |file: String| std::fs::remove_file(folder.path().join(file)).unwrap();
        lose(format!("text/recipes/{OLD_DAY}.json"));
        assert_eq!(settled(&pipeline), [StageId::Clean, StageId::Dedup]);
        assert_eq!(look(&pipeline, StageId::Annotate).units[0].name, OLD_DAY);
        lose(format!("seen/verdicts/{OLD_DAY}.jsonl.zst"));
        assert_eq!(settled(&pipeline), [StageId::Clean]);
        assert_eq!(look(&pipeline, StageId::Dedup).units[0].why, Stale::VerdictsMissing);
        lose(format!("docs/en/{OLD_DAY}.jsonl.zst"));
        assert_eq!(settled(&pipeline), []);
        assert_eq!(look(&pipeline, StageId::Clean).units[0].why, Stale::Missing);
        round(&pipeline);
        for stage in DERIVED {
            assert_eq!(look(&pipeline, stage).units, [], "{stage} made it again");
        }
    }

    #[test]
    fn lost_and_new_pages_of_old_days_are_noticed() {
        let (folder, pipeline) = settled_home();
        let lost = folder.path().join("pages").join(OLD_DAY);
        let kept = folder.path().join("kept");
        std::fs::rename(&lost, &kept).unwrap();
        let why = look(&pipeline, StageId::Clean).units[0].why;
        assert_eq!(why, Stale::PagesLost);
        std::fs::rename(&kept, &lost).unwrap();
        assert_eq!(look(&pipeline, StageId::Clean).units, []);
        store_pages(&pipeline, "2026-02-01", &[page("https://gazette.example/old", &article("pier"))]);
        assert_eq!(look(&pipeline, StageId::Clean).units[0].name, "2026-02-01");
    }

    #[test]
    fn a_deleted_index_is_made_from_all_days() {
        let (folder, pipeline) = settled_home();
        // The second time, a round has just made it from nothing.
        for _ in 0..2 {
            std::fs::remove_dir_all(folder.path().join("index/en")).unwrap();
            assert_eq!(look(&pipeline, StageId::Compile).since, "");
            round(&pipeline);
            assert_eq!(documents(&pipeline), DAYS as u64);
        }
    }

    #[test]
    fn other_settings_and_time_make_a_stage_look_at_all_days() {
        let (_folder, pipeline) = settled_home();
        let stage = StageId::Clean.stage();
        let since =
            |config: &Config, now| Look::at_newest(stage.as_ref(), pipeline.home(), config, now).unwrap().due.since;
        assert_ne!(since(pipeline.config(), clock::now()), "");
        assert_eq!(since(pipeline.config(), clock::now() + LOOK_AGE), "", "once a day");
        assert_eq!(since(pipeline.config(), clock::now() - SignedDuration::from_hours(2)), "", "a clock set back");
        let mut other = pipeline.config().clone();
        other.clean.memory_mib += 1;
        assert_eq!(since(&other, clock::now()), "");
        let mut tool = pipeline.config().clone();
        tool.annotate.models = "models.bin".to_owned();
        let annotate = StageId::Annotate.stage();
        let first = day(DAYS + 1 - RECENT_DAYS);
        assert!(
            stamp(annotate.as_ref(), pipeline.home(), &tool, &first).unwrap().is_none(),
            "files outside of the home"
        );
    }
}
