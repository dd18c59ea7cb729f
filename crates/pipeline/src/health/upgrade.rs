//! Work caused by an upgrade: units made by another version of a stage.

use std::fmt;

use anyhow::Result;
use serde::{Deserialize, Serialize};
use tidings_store::runs::{self, LoggedRun};
use tidings_store::{Home, Stale};

use crate::config::Config;
use crate::display::{count, span_s};
use crate::stage::StageId;

/// The number of runs from which the speed of a stage is computed.
const RECENT_RUNS: usize = 20;

/// The units that the next run rebuilds because a stage has a new version, in the order of the stages.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Upgrade {
    /// The stages with units to rebuild, including those that depend on an earlier one.
    pub stages: Vec<Remake>,
}

/// The units that one stage rebuilds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Remake {
    /// The stage.
    pub stage: StageId,
    /// Units to rebuild: days, or languages of the index.
    pub units: u64,
    /// The estimated duration from the speed of earlier runs; `None` if there were none.
    pub seconds: Option<f64>,
}

impl Upgrade {
    /// Reads the recipes of a home. A stage that depends on a rebuilt one rebuilds at least as many units.
    pub fn of(home: &Home, config: &Config) -> Result<Upgrade> {
        let mut stages = Vec::new();
        let mut inherited = 0;
        for stage in StageId::ALL.iter().map(|id| id.stage()).filter(|stage| stage.is_derived()) {
            let due = stage.due(home, config)?;
            let own = due.units.iter().filter(|unit| unit.why == Stale::Version).count() as u64;
            // A rebuilt day changes all dependent stages; days that were never built are not part of the upgrade.
            let units = own.max(inherited.min(due.up_to_date + own));
            inherited = inherited.max(own);
            if units > 0 {
                let seconds = seconds_per_unit(home, stage.id())?.map(|seconds| seconds * units as f64);
                stages.push(Remake { stage: stage.id(), units, seconds });
            }
        }
        Ok(Upgrade { stages })
    }

    /// Whether there is nothing to rebuild.
    pub fn is_empty(&self) -> bool {
        self.stages.is_empty()
    }
}

impl fmt::Display for Upgrade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = self.stages.iter().map(|remake| {
            let time = remake.seconds.map_or("time unknown".to_owned(), |seconds| format!("about {}", span_s(seconds)));
            format!("{} {} ({time})", remake.stage, count(remake.units, "unit"))
        });
        f.write_str(&parts.collect::<Vec<_>>().join(", "))
    }
}

/// The fields of a run summary that give the speed of a stage.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Speed {
    days: u64,
    days_added: u64,
    seconds: f64,
}

/// The average number of seconds per unit over recent runs.
fn seconds_per_unit(home: &Home, stage: StageId) -> Result<Option<f64>> {
    let (mut units, mut seconds) = (0, 0.0);
    let is_own = |run: &tidings_store::Result<LoggedRun>| run.as_ref().map_or(true, |run| run.verb() == stage.name());
    for run in runs::newest_first(home)?.filter(is_own).take(RECENT_RUNS) {
        let speed: Speed = runs::summary(&run?)?.unwrap_or_default();
        let made = speed.days.max(speed.days_added);
        if made > 0 {
            units += made;
            seconds += speed.seconds;
        }
    }
    Ok((units > 0).then(|| seconds / units as f64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_home;

    #[test]
    fn an_upgrade_is_shown_with_its_estimated_time() {
        let remake = |stage, units, seconds| Remake { stage, units, seconds };
        let upgrade =
            Upgrade { stages: vec![remake(StageId::Clean, 30, Some(90.0)), remake(StageId::Compile, 1, None)] };
        assert_eq!(upgrade.to_string(), "clean 30 units (about 1 min 30 s), compile 1 unit (time unknown)");
        assert!(!upgrade.is_empty() && Upgrade::default().is_empty());
    }

    /// Changes the version in the recipe of a day.
    fn age(home: &Home, folder: &str, day: &str) {
        let path = home.root().join(folder).join("recipes").join(format!("{day}.json"));
        let mut recipe: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        recipe["version"] = 999.into();
        std::fs::write(path, recipe.to_string()).unwrap();
    }

    fn remade(pipeline: &crate::Pipeline) -> Vec<(StageId, u64)> {
        let upgrade = Upgrade::of(pipeline.home(), pipeline.config()).unwrap();
        upgrade.stages.iter().map(|remake| (remake.stage, remake.units)).collect()
    }

    #[test]
    fn a_home_of_this_version_has_nothing_to_rebuild() {
        let (_folder, pipeline) = test_home::built();
        assert_eq!(remade(&pipeline), []);
    }

    #[test]
    fn a_day_of_another_version_is_rebuilt_by_its_stage_and_the_following_ones() {
        let (_folder, pipeline) = test_home::built();
        age(pipeline.home(), "docs", test_home::FIRST_DAY);
        // The verdicts contain the digest of the recipe, which the test changes: they are due for that reason.
        let stages = [StageId::Clean, StageId::Annotate, StageId::Compile];
        assert_eq!(remade(&pipeline), stages.map(|stage| (stage, 1)));
        test_home::run_derived(&pipeline);
        assert_eq!(remade(&pipeline), []);
    }

    #[test]
    fn an_upgrade_of_a_late_stage_does_not_affect_earlier_ones() {
        let (_folder, pipeline) = test_home::built();
        age(pipeline.home(), "text", test_home::FIRST_DAY);
        age(pipeline.home(), "text", test_home::SECOND_DAY);
        assert_eq!(remade(&pipeline), [(StageId::Annotate, 2), (StageId::Compile, 2)]);
    }

    #[test]
    fn days_that_were_never_built_are_not_part_of_the_upgrade() {
        let (_folder, pipeline) = test_home::built();
        test_home::put_pages(pipeline.home().root(), "2026-03-03", "a.0", &test_home::articles()[..1]);
        assert_eq!(remade(&pipeline), []);
    }
}
