//! The work that an upgrade of the program has to do: units that another version of a stage made.

use std::fmt;

use anyhow::Result;
use serde::{Deserialize, Serialize};
use tidings_store::{Home, Stale, runs};

use crate::config::Config;
use crate::display::{count, span_s};
use crate::stage::StageId;

/// Runs of a stage whose speed is looked at.
const RECENT_RUNS: usize = 20;

/// What the next run makes again because a stage has another version, in the order of the stages.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Upgrade {
    /// The stages that have something to make again, those that follow from an earlier one included.
    pub stages: Vec<Remake>,
}

/// What one stage makes again.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Remake {
    /// The stage.
    pub stage: StageId,
    /// Units that it makes again: days, or languages of the index.
    pub units: u64,
    /// About how long that takes, by the speed of earlier runs; unknown if there were none.
    pub seconds: Option<f64>,
}

impl Upgrade {
    /// Looks at the recipes of a home. A stage that follows one that makes units again makes at least as many again.
    pub fn of(home: &Home, config: &Config) -> Result<Upgrade> {
        let mut stages = Vec::new();
        let mut inherited = 0;
        for stage in StageId::ALL.iter().map(|id| id.stage()).filter(|stage| stage.is_derived()) {
            let due = stage.due(home, config)?;
            let own = due.units.iter().filter(|unit| unit.why == Stale::Version).count() as u64;
            // A day that is made again changes all that follows; days that were never made are not the upgrade's.
            let units = own.max(inherited.min(due.up_to_date + own));
            inherited = inherited.max(own);
            if units > 0 {
                let seconds = seconds_per_unit(home, stage.id())?.map(|seconds| seconds * units as f64);
                stages.push(Remake { stage: stage.id(), units, seconds });
            }
        }
        Ok(Upgrade { stages })
    }

    /// Whether the upgrade leaves everything as it is.
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

/// What of a run's summary tells the speed of a stage.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Speed {
    days: u64,
    days_added: u64,
    seconds: f64,
}

/// The seconds that a stage takes for a unit, on average over its recent runs.
fn seconds_per_unit(home: &Home, stage: StageId) -> Result<Option<f64>> {
    let (mut units, mut seconds) = (0, 0.0);
    let logs = runs::files(home)?;
    let own = logs.iter().rev().filter(|path| runs::name_of(path).is_some_and(|(_, verb)| verb == stage.name()));
    for path in own.take(RECENT_RUNS) {
        let speed: Speed = runs::summary(path)?.unwrap_or_default();
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
    fn an_upgrade_is_told_with_what_is_known_of_its_time() {
        let remake = |stage, units, seconds| Remake { stage, units, seconds };
        let upgrade =
            Upgrade { stages: vec![remake(StageId::Clean, 30, Some(90.0)), remake(StageId::Compile, 1, None)] };
        assert_eq!(upgrade.to_string(), "clean 30 units (about 1 min 30 s), compile 1 unit (time unknown)");
        assert!(!upgrade.is_empty() && Upgrade::default().is_empty());
    }

    /// Writes into the recipe of a day that another version of the stage made it.
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
    fn a_home_of_this_version_has_nothing_to_make_again() {
        let (_folder, pipeline) = test_home::built();
        assert_eq!(remade(&pipeline), []);
    }

    #[test]
    fn a_day_of_another_version_is_made_again_by_its_stage_and_those_behind_it() {
        let (_folder, pipeline) = test_home::built();
        age(pipeline.home(), "docs", test_home::FIRST_DAY);
        // The verdicts name the digest of the recipe, which the test had to change: they are due for that reason.
        let stages = [StageId::Clean, StageId::Annotate, StageId::Compile];
        assert_eq!(remade(&pipeline), stages.map(|stage| (stage, 1)));
        test_home::run_derived(&pipeline);
        assert_eq!(remade(&pipeline), []);
    }

    #[test]
    fn an_upgrade_of_a_late_stage_leaves_the_earlier_ones_alone() {
        let (_folder, pipeline) = test_home::built();
        age(pipeline.home(), "text", test_home::FIRST_DAY);
        age(pipeline.home(), "text", test_home::SECOND_DAY);
        assert_eq!(remade(&pipeline), [(StageId::Annotate, 2), (StageId::Compile, 2)]);
    }

    #[test]
    fn days_that_were_never_made_are_not_the_upgrades() {
        let (_folder, pipeline) = test_home::built();
        test_home::put_pages(pipeline.home().root(), "2026-03-03", "a.0", &test_home::articles()[..1]);
        assert_eq!(remade(&pipeline), []);
    }
}
