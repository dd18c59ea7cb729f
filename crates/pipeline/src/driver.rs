//! The one driver of stages.
//!
//! For every stage alike: take the lock, recover, find out what is due, do it unit by unit within the time limit while
//! the disk has space and nobody cancels, keep the run log, report events, and return what came of it.

use std::time::Duration;

use anyhow::Result;

use crate::cancel::{Cancelled, StopReason};
use crate::context::{RunContext, StageLog};
use crate::pipeline::Pipeline;
use crate::reporter::Event;
use crate::shard::Shard;
use crate::stage::{Due, Stage, StageOutcome, StageRun};

/// The time that stages of text may take to notice a cancellation: merging large files does not look up.
const GRACE: Duration = Duration::from_secs(15);

impl Pipeline {
    /// Runs a stage over all that is due.
    pub fn run(&self, stage: &dyn Stage) -> Result<StageOutcome> {
        // A stage that asks the web is not divided: shard 1 takes the whole home for it.
        let has_all = !stage.is_derived() && self.shard().takes_undivided();
        let shard = if has_all { Shard::WHOLE } else { self.shard() };
        let mut context = RunContext::open(&self.clone().with_shard(shard), stage.id().name())?;
        context.time_limit = context.time_limit.or_else(|| stage.time_limit(&context.config));
        self.cancel_token().set_grace(stage.can_be_cut().then_some(GRACE));
        self.reporter().event(&Event::StageBegan { stage: stage.id() });
        let outcome = run_stage(stage, &context)?;
        self.reporter().event(&Event::StageEnded { stage: stage.id(), outcome: &outcome });
        Ok(outcome)
    }
}

fn run_stage(stage: &dyn Stage, context: &RunContext) -> Result<StageOutcome> {
    let mut due = stage.due(&context.home, &context.config)?;
    if !context.shard.is_whole() {
        due.units.retain(|unit| match stage.is_divisible() {
            true => context.shard.takes(&unit.name),
            false => context.shard.takes_undivided(),
        });
    }
    let mut log = context.log();
    let mut run = stage.begin(context, &due)?;
    let mut done = 0;
    let ended = run_units(context, &due, run.as_mut(), &mut log, &mut done);
    let outcome = run.finish(context.ending(due.units.len() as u64 - done), &mut log)?;
    // What was done is logged even if the run failed; the failure is what the caller hears of.
    let logged = log.finish(&outcome);
    ended?;
    logged?;
    Ok(outcome)
}

/// Does unit after unit until all are done, time is over, the disk is full or the run is cancelled. However short the
/// time, one unit is done, so that every run brings the work forward.
fn run_units(
    context: &RunContext,
    due: &Due,
    run: &mut dyn StageRun,
    log: &mut StageLog<'_>,
    done: &mut u64,
) -> Result<()> {
    for unit in &due.units {
        if *done > 0 && context.is_over() {
            context.cancel.cancel(StopReason::TimeLimit);
        }
        if context.is_disk_low() {
            context.cancel.cancel(StopReason::DiskFull);
        }
        if context.cancel.is_cancelled() {
            break;
        }
        match run.unit(unit, log) {
            Err(error) if error.is::<Cancelled>() => break,
            ended => ended?,
        }
        *done += 1;
    }
    Ok(())
}
