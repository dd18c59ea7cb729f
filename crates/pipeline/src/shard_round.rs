//! The derived stages by several processes: each does the units of its shard, stage after stage.
//!
//! A stage begins when the one before has nothing left in any shard: verdicts depend on all earlier days. So a process
//! that has done its part waits, as long as others are at work on the stage and a little longer. Then it ends without
//! an error and says what it has waited for: the same command, given again, continues where the work is. A stage that
//! cannot be divided is done by the process that claims it first. No process coordinates the others, and recipes alone
//! say what is done.

use std::collections::BTreeMap;
use std::fmt;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use serde::Serialize;
use tidings_store::{Error, Stale};

use crate::display::{count, span_s};
use crate::outcome::{Outcome, Status};
use crate::pipeline::Pipeline;
use crate::shard::Shard;
use crate::stage::{Stage, StageId, StageOutcome};

/// The time for which a process waits for units that no process is at work on.
pub const USUAL_WAIT: Duration = Duration::from_secs(60);
/// The interval at which a process looks whether a home is free.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// The first and the longest interval at which it looks whether others have done their units. Each look reads all recipes.
const POLLS: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(5)];
/// A shard makes its days again so many times while other shards change what they depend on; the rest is left to the next
/// run.
const MOST_AGAIN: u32 = 8;
/// Units that an outcome names.
const NAMED: usize = 5;

/// Options of the work of one of several processes.
#[derive(Debug, Clone)]
pub struct ShardOptions {
    /// The first stage; `clean` if absent.
    pub from: Option<StageId>,
    /// The stages, in their own order; all derived ones if empty.
    pub stages: Vec<StageId>,
    /// Time after which no unit is started and nothing is waited for.
    pub time_limit: Option<Duration>,
    /// Time to wait for units that no process is at work on.
    pub wait: Duration,
}

impl Default for ShardOptions {
    fn default() -> ShardOptions {
        ShardOptions { from: None, stages: Vec::new(), time_limit: None, wait: USUAL_WAIT }
    }
}

/// Units that other shards have not done.
#[derive(Debug, Clone, Serialize)]
pub struct AwaitedUnits {
    /// Their stage.
    pub stage: StageId,
    /// Their number.
    pub number: u64,
    /// The first of them.
    pub units: Vec<String>,
}

/// The outcome of the work of one of several processes.
#[derive(Debug, Clone, Serialize)]
pub struct ShardOutcome {
    /// Whether this process did all it could.
    pub done: bool,
    /// Its shard.
    #[serde(serialize_with = "crate::shard::as_text")]
    pub shard: Shard,
    /// The outcome of each stage.
    pub stages: BTreeMap<StageId, StageOutcome>,
    /// What it waited for in vain, so that later stages were left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub awaited: Option<AwaitedUnits>,
    /// Duration in seconds.
    pub seconds: f64,
}

impl ShardOutcome {
    /// Whether nothing of these stages is left in any shard.
    pub fn is_complete(&self) -> bool {
        self.done && self.awaited.is_none()
    }
}

impl Outcome for ShardOutcome {
    fn status(&self) -> Status {
        let worst = self.stages.values().map(Outcome::status).max().unwrap_or_default();
        if self.done { worst } else { Status::NotDone }
    }
}

impl fmt::Display for ShardOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let took = span_s(self.seconds);
        match &self.awaited {
            None => writeln!(f, "shard {}: nothing is left in any shard, {took}", self.shard),
            Some(AwaitedUnits { stage, number, units }) => {
                let more = if *number > units.len() as u64 { ", …" } else { "" };
                let named = units.join(", ");
                writeln!(
                    f,
                    "shard {}: its part of {stage} is done; {} of other shards missing ({named}{more}), so the following \
                     stages are left; run their shards, then this command again, {took}",
                    self.shard,
                    count(*number, "unit")
                )
            }
        }
    }
}

/// The stages of one of several processes.
pub fn selected(options: &ShardOptions) -> Result<Vec<StageId>> {
    let is_network = |stage: &&StageId| !stage.stage().is_derived();
    if let Some(stage) = options.stages.iter().chain(&options.from).find(is_network) {
        bail!(
            "{stage} is done by one process, which keeps the delays between requests; run `tidings {stage}` without --shard"
        );
    }
    let is_selected = |stage: &StageId| match options.stages.is_empty() {
        true => options.from.is_none_or(|from| *stage >= from),
        false => options.stages.contains(stage),
    };
    Ok(StageId::ALL.iter().copied().filter(|stage| stage.stage().is_derived() && is_selected(stage)).collect())
}

/// Does the units of the shard of a pipeline in some stages, each after the one before is complete in all shards. `after`
/// gets the outcome of each stage.
pub fn run_shard(
    pipeline: &Pipeline,
    options: &ShardOptions,
    after: &dyn Fn(StageId, &StageOutcome),
) -> Result<ShardOutcome> {
    let began = Instant::now();
    let limit = options.time_limit.filter(|limit| !limit.is_zero());
    let work = ShardWork { pipeline: pipeline.clone().with_undivided_work(), began, limit, wait: options.wait };
    let mut outcome =
        ShardOutcome { done: true, shard: pipeline.shard(), stages: BTreeMap::new(), awaited: None, seconds: 0.0 };
    for stage in selected(options)? {
        let ended = work.stage(stage)?;
        after(stage, &ended);
        outcome.done &= ended.status() != Status::NotDone;
        outcome.stages.insert(stage, ended);
        outcome.awaited = work.await_others(stage.stage().as_ref())?;
        if outcome.awaited.is_some() {
            break;
        }
    }
    outcome.seconds = began.elapsed().as_secs_f64();
    Ok(outcome)
}

struct ShardWork {
    pipeline: Pipeline,
    began: Instant,
    limit: Option<Duration>,
    wait: Duration,
}

impl ShardWork {
    fn time_left(&self) -> Option<Duration> {
        self.limit.map(|limit| limit.saturating_sub(self.began.elapsed()))
    }

    fn is_over(&self) -> bool {
        self.time_left().is_some_and(|left| left.is_zero()) || self.pipeline.cancel_token().is_cancelled()
    }

    /// Does the units of a stage, as soon as no process has the whole home.
    fn stage(&self, stage: StageId) -> Result<StageOutcome> {
        let mut is_told = false;
        loop {
            // A limit of zero would be none.
            let left = self.time_left().map(|left| left.max(Duration::from_millis(1)));
            let ran = self.pipeline.clone().with_time_limit(left).run(stage.stage().as_ref());
            let Err(error) = ran else { return ran };
            let is_locked = matches!(error.downcast_ref(), Some(Error::Locked { .. }));
            if !is_locked || self.is_over() {
                return Err(error);
            }
            if !std::mem::replace(&mut is_told, true) {
                log::info!("{error}; waiting");
            }
            self.pipeline.cancel_token().wait(LOOK_EVERY);
        }
    }

    /// Waits until a stage has nothing left in any shard, while others are at work; returns what is left.
    fn await_others(&self, stage: &dyn Stage) -> Result<Option<AwaitedUnits>> {
        let mut quiet_since = Instant::now();
        let (mut poll, mut before, mut is_told, mut again) = (POLLS[0], usize::MAX, false, 0);
        loop {
            let units = left_in(&self.pipeline, stage)?;
            if units.is_empty() {
                return Ok(None);
            }
            if again < MOST_AGAIN && !self.is_over() && self.is_overtaken(stage)? {
                again += 1;
                self.stage(stage.id())?;
                continue;
            }
            if units.len() < before || self.is_claimed(stage)? {
                quiet_since = Instant::now();
            }
            before = units.len();
            let number = units.len() as u64;
            if self.is_over() || quiet_since.elapsed() >= self.wait {
                let units = units.into_iter().take(NAMED).collect();
                return Ok(Some(AwaitedUnits { stage: stage.id(), number, units }));
            }
            if !std::mem::replace(&mut is_told, true) {
                log::info!("{}: waiting for {} of other shards", stage.id(), count(number, "unit"));
            }
            self.pipeline.cancel_token().wait(poll);
            poll = (poll * 3 / 2).min(POLLS[1]);
        }
    }

    /// Whether days of this shard are due again, because other shards have made days before them that show which of their
    /// texts are no articles.
    fn is_overtaken(&self, stage: &dyn Stage) -> Result<bool> {
        if stage.id() != StageId::Clean {
            return Ok(false);
        }
        let due = stage.due(self.pipeline.home(), self.pipeline.config())?;
        Ok(due.units.iter().any(|unit| unit.why == Stale::Walls && self.pipeline.shard().takes(&unit.name)))
    }

    /// Whether another process is at work on a stage.
    fn is_claimed(&self, stage: &dyn Stage) -> Result<bool> {
        let name = self.pipeline.home().claimed_stage(stage.id().name());
        Ok(self.pipeline.home().claims()?.iter().any(|claim| claim.stage == name))
    }
}

/// The units of a stage that are left in all shards. Those that are only checked are due in every run, and a day whose
/// pages are lost waits for the user.
pub(crate) fn left_in(pipeline: &Pipeline, stage: &dyn Stage) -> Result<Vec<String>> {
    let due = stage.due(pipeline.home(), pipeline.config())?;
    let is_left = |why: Stale| !matches!(why, Stale::CheckWanted | Stale::PagesLost);
    Ok(due.units.into_iter().filter(|unit| is_left(unit.why)).map(|unit| unit.name).collect())
}
