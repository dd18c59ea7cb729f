//! Stages of a round that are known to have nothing to do, because no file changed since they had nothing left.
//!
//! A stage decides by the recipes of all days whether it is due. In a round in which nothing arrived, this would be all
//! of the cost, and grow with the years. See [`tidings_store::fresh`].

use std::time::SystemTime;

use anyhow::Result;
use tidings_store::Home;
use tidings_store::fresh::{self, FreshStage, Stamp};

use crate::config::Config;
use crate::outcome::{Outcome as _, Status};
use crate::stage::{StageId, StageOutcome};

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
        StageId::Clean => Watched { trees: &["pages", "docs"], entries: &["removed.tsv"] },
        StageId::Dedup => Watched { trees: &["seen"], entries: &["docs/recipes"] },
        StageId::Annotate => {
            Watched { trees: &["text"], entries: &["docs/recipes", "feeds.txt", "seen", "seen/verdicts"] }
        }
        StageId::Compile => Watched { trees: &["index"], entries: &["text/recipes", "hidden.tsv", "state/damage.tsv"] },
        _ => return None,
    })
}

/// The stamp of the files that a stage depends on; `None` if it cannot be relied on.
fn stamp(stage: StageId, home: &Home, config: &Config) -> Result<Option<String>> {
    let Some(watched) = watched(stage) else { return Ok(None) };
    // Tools and models of the user may change without any file of the home.
    let annotate = &config.annotate;
    let is_foreign = stage == StageId::Annotate && !(annotate.external.is_empty() && annotate.models.is_empty());
    if home.is_draft() || is_foreign {
        return Ok(None);
    }
    let settings = serde_json::json!([crate::program(), stage.stage().version(), config]);
    let mut stamp = Stamp::new(settings.to_string().as_bytes());
    for tree in watched.trees {
        stamp.add_tree(home, tree)?;
    }
    for entry in watched.entries {
        stamp.add(home, entry)?;
    }
    Ok(stamp.finish(SystemTime::now()))
}

/// The number of units of a stage, if it had nothing left to do and no file has changed since.
pub(crate) fn units(stage: StageId, home: &Home, config: &Config) -> Result<Option<u64>> {
    let known = fresh::read(home)?.into_iter().find(|row| row.stage == stage.name());
    let Some(known) = known else { return Ok(None) };
    Ok((stamp(stage, home, config)?.as_ref() == Some(&known.stamp)).then_some(known.units))
}

/// Records the stages that have nothing left to do, by the outcomes of a round. The caller holds the lock.
pub(crate) fn record<'a>(
    home: &Home,
    config: &Config,
    outcomes: impl IntoIterator<Item = (StageId, &'a StageOutcome)>,
) -> Result<()> {
    let known = fresh::read(home)?;
    let mut rows = Vec::new();
    for (stage, outcome) in outcomes {
        let Some(units) = settled_units(outcome) else { continue };
        if let Some(stamp) = stamp(stage, home, config)? {
            rows.push(FreshStage { stage: stage.name().to_owned(), stamp, units });
        }
    }
    if rows != known {
        fresh::write(home, rows)?;
    }
    Ok(())
}

/// The number of units that are up to date after a run that left nothing to do.
fn settled_units(outcome: &StageOutcome) -> Option<u64> {
    if outcome.status() != Status::Done {
        return None;
    }
    let (units, left) = match outcome {
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
        let outcome = clean(0);
        record(home, config, [(StageId::Clean, &outcome)]).unwrap();
        let known = || units(StageId::Clean, home, config).unwrap();
        assert_eq!((known(), units(StageId::Dedup, home, config).unwrap()), (Some(7), None));
        let mut other = config.clone();
        other.clean.memory_mib += 1;
        assert_eq!(units(StageId::Clean, home, &other).unwrap(), None, "other settings");
        let pages = tidings_store::pages::files(home).unwrap().remove(0);
        let bytes = std::fs::read(&pages).unwrap();
        std::fs::write(&pages, &bytes[..bytes.len() - 1]).unwrap();
        assert_eq!(known(), None, "a truncated file of pages");
        std::fs::write(&pages, bytes).unwrap();
        age(folder.path());
        record(home, config, [(StageId::Clean, &outcome)]).unwrap();
        assert_eq!(known(), Some(7));
        std::fs::remove_file(&pages).unwrap();
        assert_eq!(known(), None, "a missing file of pages");
    }
}
