//! The work that several processes do in a home at this moment: units done, left and claimed, and by whom.

use std::collections::BTreeMap;
use std::fmt;

use anyhow::Result;
use serde::Serialize;
use tidings_store::claims::Holder;
use tidings_store::{Home, OpenRebuild, RebuildDraft};

use crate::config::Config;
use crate::display::count;
use crate::pipeline::Pipeline;
use crate::rebuild;
use crate::shard_round::left_in;
use crate::stage::StageId;

/// Claims that are shown for each stage.
const SHOWN: usize = 8;

/// A unit that a process is at work on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ClaimedUnit {
    /// The day or language; `all` for a stage that one process does.
    pub unit: String,
    /// The process.
    pub pid: u32,
    /// Its host.
    pub host: String,
    /// The time of the claim.
    pub since: String,
}

/// The work in a stage.
#[derive(Debug, Clone, Serialize)]
pub struct StageWork {
    /// The stage.
    pub stage: StageId,
    /// Units that are up to date.
    pub units_done: u64,
    /// Units that are due, with those that are claimed.
    pub units_left: u64,
    /// Units that a process is at work on.
    pub claimed: Vec<ClaimedUnit>,
}

/// The work of several processes.
#[derive(Debug, Clone, Serialize)]
pub struct ShardWorkView {
    /// The rebuild that they make, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rebuild: Option<OpenRebuild>,
    /// The derived stages.
    pub stages: Vec<StageWork>,
}

/// The work of several processes; `None` if no process has a claim and no rebuild by several is open. Otherwise it would
/// cost a look at all recipes.
pub fn shard_work(home: &Home, config: &Config) -> Result<Option<ShardWorkView>> {
    let rebuild = OpenRebuild::read(home)?;
    let mut claims: BTreeMap<String, Vec<ClaimedUnit>> = BTreeMap::new();
    for Holder { stage, unit, pid, host, started, .. } in home.claims()? {
        claims.entry(stage).or_default().push(ClaimedUnit { unit, pid, host, since: started });
    }
    let is_derived = |name: &String| name.parse().is_ok_and(|id: StageId| id.stage().is_derived());
    if rebuild.is_none() && !claims.keys().any(is_derived) {
        return Ok(None);
    }
    let from = rebuild.as_ref().map_or(StageId::Clean, |open| open.order.from.parse().unwrap_or(StageId::Clean));
    let home = match &rebuild {
        Some(open) => {
            RebuildDraft::open_shared(home, &rebuild::folders_from(from), &open.order.from, open.order.shards)?
                .home()
                .clone()
        }
        None => home.clone(),
    };
    let pipeline = Pipeline::new(home, config.clone());
    let mut stages = Vec::new();
    for stage in rebuild::derived_from(from) {
        let name = pipeline.home().claimed_stage(stage.id().name());
        stages.push(StageWork {
            stage: stage.id(),
            units_done: stage.due(pipeline.home(), config)?.up_to_date,
            units_left: left_in(&pipeline, stage.as_ref())?.len() as u64,
            claimed: claims.remove(&name).unwrap_or_default(),
        });
    }
    Ok(Some(ShardWorkView { rebuild, stages }))
}

impl ShardWorkView {
    /// The lines of the status.
    pub(crate) fn lines(&self) -> Vec<String> {
        let open = self.rebuild.iter().map(|open| {
            let (done, all) = (open.done.len(), open.order.shards);
            format!("rebuild from {}: {done} of {all} shards done", open.order.from)
        });
        open.chain(self.stages.iter().map(ToString::to_string)).collect()
    }
}

impl fmt::Display for StageWork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let StageWork { stage, units_done, units_left, claimed } = self;
        write!(f, "{stage}: {} done, {units_left} left", count(*units_done, "unit"))?;
        let by = |unit: &ClaimedUnit| format!("{} by {} on {} since {}", unit.unit, unit.pid, unit.host, unit.since);
        let mut shown: Vec<String> = claimed.iter().take(SHOWN).map(by).collect();
        if claimed.len() > SHOWN {
            shown.push(format!("{} more", claimed.len() - SHOWN));
        }
        if !shown.is_empty() {
            write!(f, "; claimed: {}", shown.join(", "))?;
        }
        Ok(())
    }
}
