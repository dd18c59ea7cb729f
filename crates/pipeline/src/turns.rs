//! Turns: which of several processes in one home does a unit of work.
//!
//! A unit belongs to a shard, and whoever does it claims it first: the same shard may have been started twice, and
//! shards of different divisions overlap. A unit that a living process has claimed is left to it. Of a process on
//! another machine it is not known at once whether it lives, so its units are tried again until it gives a sign of life
//! or its claim has run out.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::Result;
use tidings_store::Error;
use tidings_store::claims::{ALL_UNITS, Attempt, Claim, OtherClaim};

use crate::context::RunContext;
use crate::stage::{Stage, Unit};

/// The interval at which the claims of other machines are looked at.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Who does a unit.
pub(crate) enum Turn {
    /// This process; the claim is released when the unit ends. A run that has the whole home needs none.
    Ours(Option<Claim>),
    /// Another process has done it since this one looked.
    Done,
    /// A living process is at work on it.
    Theirs,
    /// A process on another machine has claimed it, and may be dead.
    Later,
}

/// Who does a stage that cannot be divided.
pub(crate) enum Undivided {
    /// The stage can be divided, or this run has the whole home, or does not do it.
    NotNeeded,
    /// This process.
    Ours(Claim),
    /// Another process.
    Theirs,
}

/// Claims a stage that one process does as a whole.
pub(crate) fn claim_all(stage: &dyn Stage, context: &RunContext) -> Result<Undivided> {
    if context.shard.is_whole() || stage.is_divisible() || !context.takes_undivided {
        return Ok(Undivided::NotNeeded);
    }
    let stage = stage.id();
    let mut is_told = false;
    loop {
        match context.home.claim(stage.name(), ALL_UNITS)? {
            Attempt::Taken(claim) => return Ok(Undivided::Ours(claim)),
            Attempt::Held(other) if other.is_alive => {
                log::info!("{stage} is being done by process {}, so it is left to it", other.shown());
                return Ok(Undivided::Theirs);
            }
            Attempt::Held(other) => tell_wait(&other, &mut is_told),
        }
        if context.cancel.wait(LOOK_EVERY) {
            return Ok(Undivided::Theirs);
        }
    }
}

fn tell_wait(other: &OtherClaim, is_told: &mut bool) {
    if !std::mem::replace(is_told, true) {
        log::info!("waiting for a sign of life of process {}", other.shown());
    }
}

/// The turns of a run.
pub(crate) struct Turns<'a> {
    stage: &'a dyn Stage,
    context: &'a RunContext,
    /// Units that others have, with their processes.
    theirs: BTreeMap<String, String>,
    /// Whether other processes work on the same units, so that a unit may be done meanwhile.
    is_contended: bool,
    /// Units in a row that had to be put off.
    put_off: usize,
}

impl<'a> Turns<'a> {
    pub(crate) fn new(stage: &'a dyn Stage, context: &'a RunContext) -> Turns<'a> {
        Turns { stage, context, theirs: BTreeMap::new(), is_contended: false, put_off: 0 }
    }

    /// Who does a unit.
    pub(crate) fn of(&mut self, unit: &Unit) -> Result<Turn> {
        if self.context.shard.is_whole() || !self.stage.is_divisible() {
            return Ok(Turn::Ours(None));
        }
        let stage = self.stage.id();
        match self.context.home.claim(stage.name(), &unit.name)? {
            Attempt::Taken(claim) => {
                self.put_off = 0;
                match self.is_contended && !self.is_due(unit)? {
                    true => Ok(Turn::Done),
                    false => Ok(Turn::Ours(Some(claim))),
                }
            }
            Attempt::Held(other) if other.is_alive => {
                let since = other.holder.as_ref().map(|holder| format!(" since {}", holder.started));
                log::info!(
                    "{stage} {}: left to process {}, which is at work on it{}",
                    unit.name,
                    other.shown(),
                    since.unwrap_or_default()
                );
                self.is_contended = true;
                self.theirs.insert(unit.name.clone(), other.shown());
                Ok(Turn::Theirs)
            }
            Attempt::Held(other) => {
                tell_wait(&other, &mut self.is_contended);
                self.put_off += 1;
                Ok(Turn::Later)
            }
        }
    }

    fn is_due(&self, unit: &Unit) -> Result<bool> {
        let due = self.stage.due(&self.context.home, &self.context.config)?;
        Ok(due.units.iter().any(|due| due.name == unit.name))
    }

    /// Waits a moment if all of the units that are left had to be put off.
    pub(crate) fn wait(&mut self, left: usize) {
        if self.put_off >= left {
            self.put_off = 0;
            self.context.cancel.wait(LOOK_EVERY);
        }
    }

    /// Whether a unit failed because another process has taken it over, which is no failure.
    pub(crate) fn is_lost(&mut self, error: &anyhow::Error) -> bool {
        let lost = error.chain().find_map(|cause| match cause.downcast_ref() {
            Some(Error::ClaimLost { unit, .. }) => Some(unit.clone()),
            _ => None,
        });
        let Some(unit) = lost.filter(|_| !self.context.shard.is_whole() && self.stage.is_divisible()) else {
            return false;
        };
        log::warn!("{error:#}");
        self.is_contended = true;
        self.theirs.insert(unit, String::new());
        true
    }

    /// The number of units that other processes do.
    pub(crate) fn left_to_others(&self) -> u64 {
        self.theirs.len() as u64
    }
}
