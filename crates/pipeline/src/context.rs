//! The context of one run: the home under its lock, the settings, a name, the clock, cancellation.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use jiff::Timestamp;
use serde::Serialize;
use tidings_store::removed::Removed;
use tidings_store::runs::RunLog;
use tidings_store::{Home, Lock, apply_journal, plan, rfc3339, runs};

use crate::cancel::{CancelToken, StopReason};
use crate::config::Config;
use crate::display::count;
use crate::outcome::Ending;
use crate::pipeline::Pipeline;
use crate::reporter::{ProgressScope, Reporter};
use crate::shard::Shard;

/// One run that changes a home.
pub struct RunContext {
    /// The home.
    pub home: Home,
    /// Its settings, with what the caller put over them.
    pub config: Config,
    /// The name of the run: when it began and what it does.
    pub run: String,
    /// When it began, by the wall clock.
    pub started: Timestamp,
    /// When it began, by the monotonic clock.
    pub began: Instant,
    /// Ends it early.
    pub cancel: CancelToken,
    /// Receives its events.
    pub reporter: Arc<dyn Reporter>,
    /// The time it may take; no limit if absent.
    pub time_limit: Option<Duration>,
    /// The part of the work that it does.
    pub shard: Shard,
    lock: Arc<Lock>,
}

impl RunContext {
    /// Takes the home, recovers what an earlier run left unfinished, and says so.
    pub fn open(pipeline: &Pipeline, verb: &str) -> Result<RunContext> {
        let shard = pipeline.shard();
        let (home, lock) = match shard.is_whole() {
            true => (pipeline.home().clone(), pipeline.home().lock()?),
            false => {
                let home = pipeline.home().for_shard(&shard.file_name());
                let lock = home.lock_shard(&shard.file_name())?;
                (home, lock)
            }
        };
        let started = tidings_model::clock::now();
        // Shards share the home: what a crash left is recovered by the next run that has it alone.
        if shard.is_whole() {
            recover(&home, started)?;
            if verb != "remove" && Removed::read(&home)?.unfinished().next().is_some() {
                log::warn!("something that was to be removed is not gone yet; `tidings remove` finishes that");
            }
        }
        let verb = if shard.is_whole() { verb.to_owned() } else { format!("{verb}-{}", shard.file_name()) };
        Ok(RunContext {
            run: unused_name(&home, started, &verb)?,
            home,
            config: pipeline.config().clone(),
            started,
            began: Instant::now(),
            cancel: pipeline.cancel_token().child(),
            reporter: pipeline.reporter().clone(),
            time_limit: pipeline.time_limit(),
            shard,
            lock: Arc::new(lock),
        })
    }

    /// Another run under the same lock; the journal of this one must have been applied.
    pub fn follow_up(&self, verb: &str) -> Result<RunContext> {
        let started = tidings_model::clock::now();
        Ok(RunContext {
            home: self.home.clone(),
            config: self.config.clone(),
            run: unused_name(&self.home, started, verb)?,
            started,
            began: self.began,
            cancel: self.cancel.clone(),
            reporter: self.reporter.clone(),
            time_limit: self.time_limit,
            shard: self.shard,
            lock: self.lock.clone(),
        })
    }

    /// Whether the run has had its time; no limit, or 0, is never over.
    pub fn is_over(&self) -> bool {
        self.time_limit.is_some_and(|limit| !limit.is_zero() && self.began.elapsed() >= limit)
    }

    /// What is left of its time; nothing if there is no limit.
    pub fn time_left(&self) -> Option<Duration> {
        let limit = self.time_limit.filter(|limit| !limit.is_zero());
        limit.map(|limit| limit.saturating_sub(self.began.elapsed()))
    }

    /// An error once the run shall end; what is in hand is then dropped.
    pub fn check_cancelled(&self) -> Result<()> {
        Ok(self.cancel.check()?)
    }

    /// Seconds since it began.
    pub fn seconds(&self) -> f64 {
        self.began.elapsed().as_secs_f64()
    }

    /// How it ended, with so many units left.
    pub fn ending(&self, left: u64) -> Ending {
        Ending { left, reason: self.cancel.reason(), min_free_mib: self.config.store.min_free_mib }
    }

    /// Whether the disk has less free space than the settings want.
    pub fn is_disk_low(&self) -> bool {
        let least = self.config.store.min_free_mib << 20;
        self.home.free_bytes().is_some_and(|free| free < least)
    }

    /// Begins to report progress over `total` units.
    pub fn progress(&self, unit: &'static str, total: u64) -> ProgressScope {
        ProgressScope::begin(&self.reporter, unit, total)
    }

    /// Applies the run's journal to the plan and thins the history. A run that is told to end must end within
    /// seconds: with a plan of millions applying the journal takes longer, and the next run does it as well,
    /// so it is left to that. Nothing is returned then.
    pub fn apply_journal(&self) -> Result<Option<apply_journal::Applied>> {
        /// About two million entries, which take a second or two.
        const LARGE_BYTES: u64 = 80 << 20;
        let in_a_hurry = matches!(self.cancel.reason(), Some(StopReason::Cancelled(_) | StopReason::TimeLimit));
        if in_a_hurry && plan::size(&self.home)? > LARGE_BYTES {
            log::info!("the results are safe in the journal; the next run brings them into the plan");
            return Ok(None);
        }
        let applied = apply_journal::apply_journal(&self.home)?.unwrap_or_default();
        plan::thin_history(&self.home, self.config.store.history)?;
        runs::thin(&self.home, self.started, self.config.store.runs_days)?;
        Ok(Some(applied))
    }

    /// Writes the log of a run of which only its outcome is worth a line.
    pub fn log_outcome(&self, outcome: &impl Serialize) -> Result<()> {
        let mut log = self.log();
        let begun = log.take()?;
        log.put_back(begun);
        log.finish(outcome)
    }

    /// The log of this run; no file is made before the first line.
    pub fn log(&self) -> StageLog<'_> {
        StageLog { context: self, log: None }
    }
}

/// Recovers what a crash left: run logs without an end, a journal that was not applied.
fn recover(home: &Home, now: Timestamp) -> Result<()> {
    runs::recover(home)?;
    match apply_journal::recover(home, now)? {
        Some(applied) if applied.run.is_empty() => log::info!("an earlier run ended when it had hardly begun"),
        Some(applied) => log::info!(
            "recovered the run {}, which had not finished: {} stored, {} failed, {} added to the plan",
            applied.run,
            count(applied.stored, "page"),
            applied.failed,
            count(applied.added, "entry"),
        ),
        None => {}
    }
    Ok(())
}

/// A name that no earlier run has, even if the clock went back. Names sort as the runs began.
pub fn unused_name(home: &Home, started: Timestamp, verb: &str) -> Result<String> {
    let taken: Vec<String> = runs::files(home)?.iter().map(|path| home.shown(path)).collect();
    let mut time = started;
    loop {
        let stamp = tidings_store::stamp(time);
        if !taken.iter().any(|path| path.contains(&stamp)) {
            return Ok(format!("{stamp}-{verb}"));
        }
        time += Duration::from_millis(1);
    }
}

/// The time since a moment; zero if the clock says it is yet to come.
pub fn elapsed(then: Timestamp, now: Timestamp) -> Duration {
    Duration::try_from(now.duration_since(then)).unwrap_or_default()
}

/// The log of a run, which begins with its first line: runs that find nothing to do leave none.
pub struct StageLog<'a> {
    context: &'a RunContext,
    log: Option<RunLog>,
}

#[derive(Serialize)]
struct Began {
    began: String,
}

#[derive(Serialize)]
struct Summary<'a, T> {
    summary: &'a T,
}

impl StageLog<'_> {
    /// Adds a line.
    pub fn push(&mut self, line: &impl Serialize) -> Result<()> {
        let mut log = self.take()?;
        let pushed = log.push(line);
        self.put_back(log);
        Ok(pushed?)
    }

    /// Hands the log out to another thread; [`StageLog::put_back`] returns it.
    pub fn take(&mut self) -> Result<RunLog> {
        if let Some(log) = self.log.take() {
            return Ok(log);
        }
        let mut log = RunLog::create(&self.context.home, &self.context.run)?;
        log.push(&Began { began: rfc3339(self.context.started) })?;
        Ok(log)
    }

    /// Takes the log back.
    pub fn put_back(&mut self, log: RunLog) {
        self.log = Some(log);
    }

    /// Ends the log, if it was begun, with the outcome of the run.
    pub fn finish(self, outcome: &impl Serialize) -> Result<()> {
        let Some(mut log) = self.log else { return Ok(()) };
        log.push(&Summary { summary: outcome })?;
        log.publish()?;
        Ok(())
    }
}
