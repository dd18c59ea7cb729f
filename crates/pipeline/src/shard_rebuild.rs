//! A rebuild by several processes: they make one draft together, and the last of them puts it in the place of the old
//! data.
//!
//! The draft outlives its processes: a killed one is started again with the same command. The old data stays searchable
//! until every shard has done its part.

use std::fmt;
use std::time::Duration;

use anyhow::{Result, bail};
use serde::Serialize;
use tidings_store::claims::{ALL_UNITS, Attempt, Claim};
use tidings_store::{Error, OpenRebuild, RebuildDraft, abandon_rebuild};

use crate::context::RunContext;
use crate::display::count;
use crate::outcome::{Outcome, Status};
use crate::pipeline::Pipeline;
use crate::rebuild::{self, RebuildOutcome};
use crate::shard::Shard;
use crate::shard_round::{self, ShardOptions, ShardOutcome, left_in};
use crate::stage::{StageId, StageOutcome};

/// The interval at which a process looks whether others have released the home.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// The name of the draft in claims.
const DRAFT: &str = "draft";

/// The outcome of the part of one process in a rebuild.
#[derive(Debug, Clone, Serialize)]
pub struct ShardRebuildOutcome {
    /// Its work.
    #[serde(flatten)]
    pub work: ShardOutcome,
    /// Whether the new data has taken the place of the old.
    pub replaced: bool,
    /// The shards that have not done their part, counted from 1.
    pub missing: Vec<u32>,
}

impl Outcome for ShardRebuildOutcome {
    fn status(&self) -> Status {
        self.work.status()
    }
}

impl fmt::Display for ShardRebuildOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.replaced {
            return writeln!(f, "shard {}: the rebuild is complete and has replaced the old data", self.work.shard);
        }
        self.work.fmt(f)?;
        let missing: Vec<String> =
            self.missing.iter().map(|index| format!("{index}/{}", self.work.shard.count())).collect();
        match missing.is_empty() {
            true => Ok(()),
            false => writeln!(f, "the old data stays until {} done: {}", are(missing.len()), missing.join(", ")),
        }
    }
}

fn are(shards: usize) -> String {
    let verb = if shards == 1 { "is" } else { "are" };
    format!("{} {verb}", count(shards as u64, "shard"))
}

/// Does the part of one process in a rebuild of the stages from one on; the last process replaces the old data.
pub fn rebuild_shard(
    pipeline: &Pipeline,
    from: StageId,
    options: &ShardOptions,
    after: &dyn Fn(StageId, &StageOutcome),
) -> Result<ShardRebuildOutcome> {
    let folders = rebuild::folders_from(from);
    let work = work_on_draft(pipeline, from, &folders, options, after)?;
    let open = OpenRebuild::read(pipeline.home())?;
    let missing = open.as_ref().map(OpenRebuild::missing).unwrap_or_default();
    let is_last = work.is_complete() && missing.is_empty();
    let replaced = is_last && (open.is_none() || replace(pipeline, from, &folders)?);
    Ok(ShardRebuildOutcome { work, replaced, missing })
}

/// Does the units of a shard in the draft.
fn work_on_draft(
    pipeline: &Pipeline,
    from: StageId,
    folders: &[&'static str],
    options: &ShardOptions,
    after: &dyn Fn(StageId, &StageOutcome),
) -> Result<ShardOutcome> {
    let context = open(pipeline)?;
    if from <= StageId::Clean {
        rebuild::check_pages(&context.home)?;
    }
    let claim = claim_draft(&context)?;
    let shards = pipeline.shard().count();
    let draft = RebuildDraft::open_shared(&context.home, folders, from.name(), shards)?;
    drop(claim);
    let inner = pipeline.clone().over_draft(draft.home().clone(), context.lock());
    let options = ShardOptions { from: Some(from), stages: Vec::new(), ..options.clone() };
    let outcome = shard_round::run_shard(&inner, &options, after)?;
    if outcome.is_complete() {
        draft.note_shard(pipeline.shard().index())?;
    }
    Ok(outcome)
}

/// Opens the home, as soon as no process has all of it.
fn open(pipeline: &Pipeline) -> Result<RunContext> {
    loop {
        match RunContext::open(pipeline, "rebuild") {
            Err(error) if is_locked(&error) && !pipeline.cancel_token().wait(LOOK_EVERY) => {}
            opened => return opened,
        }
    }
}

fn is_locked(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(Error::Locked { .. }))
}

/// Claims the draft, so that one process starts it.
fn claim_draft(context: &RunContext) -> Result<Claim> {
    loop {
        match context.home.claim(DRAFT, ALL_UNITS)? {
            Attempt::Taken(claim) => return Ok(claim),
            Attempt::Held(_) => {}
        }
        if context.cancel.wait(LOOK_EVERY) {
            bail!("the rebuild was cancelled before it began");
        }
    }
}

/// Puts a complete draft in the place of the old data, as soon as all other processes have ended; returns whether it
/// is there.
fn replace(pipeline: &Pipeline, from: StageId, folders: &[&'static str]) -> Result<bool> {
    let whole = pipeline.clone().with_shard(Shard::WHOLE);
    let context = open(&whole)?;
    let Some(draft) = RebuildDraft::complete_shared(&context.home, folders)? else {
        // Another process has replaced the data, or a takedown has deleted the draft.
        return Ok(OpenRebuild::read(&context.home)?.is_none());
    };
    let inner = whole.over_draft(draft.home().clone(), context.lock());
    // Pages may have been added since the shards ended.
    let stages: Vec<_> = rebuild::derived_from(from).collect();
    for stage in &stages {
        if !left_in(&inner, stage.as_ref())?.is_empty() {
            log::info!("pages were added since the rebuild began; making the rest of {}", stage.id());
            let rest: RebuildOutcome = rebuild::remake(&inner, from)?;
            if !rest.done {
                log::error!("the rebuild is incomplete, so nothing was replaced");
                return Ok(false);
            }
            break;
        }
    }
    draft.commit()?;
    Ok(true)
}

/// The outcome of giving up a rebuild.
#[derive(Debug, Clone, Serialize)]
pub struct AbandonOutcome {
    /// Always true.
    pub done: bool,
    /// Whether there was one.
    pub was_open: bool,
}

impl Outcome for AbandonOutcome {}

impl fmt::Display for AbandonOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.was_open {
            true => "the unfinished rebuild was deleted; the old data stays\n",
            false => "nothing to abandon: no rebuild by several processes is open\n",
        })
    }
}

/// Deletes the draft of a rebuild by several processes.
pub fn abandon(pipeline: &Pipeline) -> Result<AbandonOutcome> {
    let context = RunContext::open(&pipeline.clone().with_shard(Shard::WHOLE), "rebuild")?;
    Ok(AbandonOutcome { done: true, was_open: abandon_rebuild(&context.home)? })
}
