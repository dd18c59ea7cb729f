//! The context of one run: the locked home, the settings, a name, the clock, cancellation.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use jiff::Timestamp;
use serde::Serialize;
use tidings_model::clock;
use tidings_store::clock_jump::ClockJump;
use tidings_store::removed::Removed;
use tidings_store::runs::RunLog;
use tidings_store::{Home, Lock, apply_journal, history, plan, rfc3339, runs};

use crate::cancel::{CancelToken, StopReason};
use crate::config::Config;
use crate::display::count;
use crate::health::day_of;
use crate::outcome::Ending;
use crate::pipeline::Pipeline;
use crate::reporter::{ProgressScope, Reporter};
use crate::shard::Shard;
use crate::stage::annotate::OneLanguage;

/// One run that changes a home.
pub struct RunContext {
    /// The home.
    pub home: Home,
    /// Its settings, with the overrides of the caller.
    pub config: Config,
    /// The name of the run: its start time and its verb.
    pub run: String,
    /// Start by the wall clock.
    pub started: Timestamp,
    /// Start by the monotonic clock.
    pub began: Instant,
    /// Cancels the run.
    pub cancel: CancelToken,
    /// Receives its events.
    pub reporter: Arc<dyn Reporter>,
    /// The time limit; none if absent.
    pub time_limit: Option<Duration>,
    /// The shard of the work that this run does.
    pub shard: Shard,
    /// Whether this run does the work that cannot be divided.
    pub takes_undivided: bool,
    /// A jump of the clock ahead that is not confirmed yet: nothing is deleted by age.
    pub clock_jump: Option<ClockJump>,
    /// The rebuild of one language that this run is part of.
    pub(crate) one_language: Option<Arc<OneLanguage>>,
    lock: Arc<Lock>,
}

impl RunContext {
    /// Locks the home, recovers after an interrupted run, and logs the recovery.
    pub fn open(pipeline: &Pipeline, verb: &str) -> Result<RunContext> {
        let shard = pipeline.shard();
        let (home, lock) = match (pipeline.held_lock(), shard.is_whole()) {
            (Some(lock), _) => (pipeline.home().clone(), lock),
            (None, true) => (pipeline.home().clone(), Arc::new(pipeline.home().lock()?)),
            (None, false) => {
                let home = pipeline.home().for_shard(&shard.file_name());
                let lock = home.lock_shared()?;
                (home, Arc::new(lock))
            }
        };
        let started = tidings_model::clock::now();
        let mut clock_jump = None;
        // Shards share the home: the next run that holds it exclusively does the recovery.
        if shard.is_whole() {
            recover(&home, started)?;
            clock_jump = ClockJump::observe(&home, started)?;
            if verb != "remove" && Removed::read(&home)?.unfinished().next().is_some() {
                log::warn!("an interrupted takedown left data behind; run `tidings remove` to finish it");
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
            takes_undivided: pipeline.takes_undivided(),
            clock_jump,
            one_language: pipeline.one_language(),
            lock,
        })
    }

    /// Starts another run under the same lock. The journal of this one must have been applied.
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
            takes_undivided: self.takes_undivided,
            clock_jump: self.clock_jump,
            one_language: self.one_language.clone(),
            lock: self.lock.clone(),
        })
    }

    /// The lock of the home, for runs that are part of this one.
    pub(crate) fn lock(&self) -> Arc<Lock> {
        self.lock.clone()
    }

    /// Whether the time limit is reached; false without a limit or with a limit of 0.
    pub fn is_over(&self) -> bool {
        self.time_limit.is_some_and(|limit| !limit.is_zero() && self.began.elapsed() >= limit)
    }

    /// The remaining time; `None` if there is no limit.
    pub fn time_left(&self) -> Option<Duration> {
        let limit = self.time_limit.filter(|limit| !limit.is_zero());
        limit.map(|limit| limit.saturating_sub(self.began.elapsed()))
    }

    /// Returns an error after cancellation; the work in progress is then dropped.
    pub fn check_cancelled(&self) -> Result<()> {
        Ok(self.cancel.check()?)
    }

    /// Seconds since the start.
    pub fn seconds(&self) -> f64 {
        self.began.elapsed().as_secs_f64()
    }

    /// The ending of the run with this many units left.
    pub fn ending(&self, left: u64) -> Ending {
        Ending { left, reason: self.cancel.reason(), min_free_mib: self.config.store.min_free_mib, ..Ending::default() }
    }

    /// Whether less disk space is free than `store.min_free_mib`.
    pub fn is_disk_low(&self) -> bool {
        let least = self.config.store.min_free_mib << 20;
        self.home.free_bytes().is_some_and(|free| free < least)
    }

    /// Starts progress reports over `total` units.
    pub fn progress(&self, unit: &'static str, total: u64) -> ProgressScope {
        ProgressScope::begin(&self.reporter, unit, total)
    }

    /// Begins to report the progress of work of unknown size.
    pub fn counting(&self, unit: &'static str) -> ProgressScope {
        ProgressScope::counting(&self.reporter, unit)
    }

    /// Applies the journal of the run to the plan and prunes the history. A cancelled run must end within seconds, and
    /// applying a journal to a plan of millions of entries takes longer. In that case this returns `None`, and the next
    /// run applies the journal.
    pub fn apply_journal(&self) -> Result<Option<apply_journal::Applied>> {
        /// About two million entries, which take a second or two.
        const LARGE_BYTES: u64 = 80 << 20;
        let in_a_hurry = matches!(self.cancel.reason(), Some(StopReason::Cancelled(_) | StopReason::TimeLimit));
        if in_a_hurry && plan::size(&self.home)? > LARGE_BYTES {
            log::info!("the results are safe in the journal; the next run applies them to the plan");
            return Ok(None);
        }
        let applied = apply_journal::apply_journal(&self.home)?.unwrap_or_default();
        self.thin()?;
        Ok(Some(applied))
    }

    /// Deletes old copies of the plan and old run logs, as far as the clock can be relied on.
    fn thin(&self) -> Result<()> {
        let tolerated = self.started.checked_add(clock::TOLERANCE).unwrap_or(self.started);
        let split = self.clock_jump.map_or(tolerated, |jump| jump.to);
        history::thin(&self.home, self.config.store.history, split)?;
        match self.clock_jump {
            Some(jump) => log::warn!("{jump}"),
            None => _ = runs::thin(&self.home, self.started, self.config.store.runs_days)?,
        }
        Ok(())
    }

    /// Writes the log of a run that consists of its outcome only.
    pub fn log_outcome(&self, outcome: &impl Serialize) -> Result<()> {
        let mut log = self.log();
        let begun = log.take()?;
        log.put_back(begun);
        log.finish(outcome)
    }

    /// The log of this run; the file is created with the first line.
    pub fn log(&self) -> StageLog<'_> {
        StageLog { context: self, log: None }
    }
}

/// Recovers after a crash: closes unfinished run logs and applies the journal.
fn recover(home: &Home, now: Timestamp) -> Result<()> {
    runs::recover(home)?;
    let applied = apply_journal::recover(home, now)?;
    if applied.as_ref().is_some_and(|applied| applied.damaged) {
        log::error!("the journal of an interrupted run is damaged; its stored pages were recovered from their files");
    }
    match applied {
        Some(applied) if applied.run.is_empty() => log::info!("an earlier run was interrupted right after its start"),
        Some(applied) => log::info!(
            "recovered the interrupted run {}: {} stored, {} failed, {} added to the plan",
            applied.run,
            count(applied.stored, "page"),
            applied.failed,
            count(applied.added, "entry"),
        ),
        None => {}
    }
    Ok(())
}

/// A name that no earlier run has, even if the clock was set back. Names sort in the order of the starts.
pub fn unused_name(home: &Home, started: Timestamp, verb: &str) -> Result<String> {
    let taken = runs::names_of_day(home, day_of(started))?;
    let mut time = started;
    loop {
        let stamp = tidings_store::stamp(time);
        if !taken.iter().any(|run| run.starts_with(&stamp)) {
            return Ok(format!("{stamp}-{verb}"));
        }
        time += Duration::from_millis(1);
    }
}

/// The time since a timestamp; zero if the timestamp is in the future.
pub fn elapsed(then: Timestamp, now: Timestamp) -> Duration {
    Duration::try_from(now.duration_since(then)).unwrap_or_default()
}

/// The log of a run. The file is created with the first line: runs with nothing to do leave no log.
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

    /// Moves the log to another thread; [`StageLog::put_back`] returns it.
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

    /// Ends the log with the outcome of the run, if it was started.
    pub fn finish(self, outcome: &impl Serialize) -> Result<()> {
        let Some(mut log) = self.log else { return Ok(()) };
        log.push(&Summary { summary: outcome })?;
        log.publish()?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{context, home, logged_runs, time};

    #[test]
    fn a_run_has_a_unique_name_even_if_the_clock_is_set_back() {
        let (_folder, pipeline) = home();
        let home = pipeline.home();
        let noon = time("2026-03-01T12:00:00Z");
        let first = unused_name(home, noon, "clean").unwrap();
        assert_eq!(first, "20260301T120000000Z-clean");
        RunLog::create(home, &first).unwrap().publish().unwrap();
        let second = unused_name(home, noon, "clean").unwrap();
        assert_eq!(second, "20260301T120000001Z-clean");
        RunLog::create(home, &second).unwrap().publish().unwrap();
        // Another verb at the same moment gets a later timestamp too: names sort in the order of the starts.
        assert_eq!(unused_name(home, noon, "dedup").unwrap(), "20260301T120000002Z-dedup");
    }

    #[test]
    fn a_log_file_is_created_with_its_first_line() {
        let (_folder, pipeline) = home();
        let context = context(&pipeline);
        context.log().finish(&"nothing").unwrap();
        assert!(logged_runs(&context.home).is_empty());
        let mut log = context.log();
        log.push(&"a line").unwrap();
        log.finish(&"something").unwrap();
        assert_eq!(logged_runs(&context.home), ["test"]);
    }

    #[test]
    fn a_log_holds_its_beginning_its_lines_and_the_outcome() {
        let (_folder, pipeline) = home();
        let context = context(&pipeline);
        let mut log = context.log();
        log.push(&serde_json::json!({ "day": "2026-03-01" })).unwrap();
        log.push(&serde_json::json!({ "day": "2026-03-02" })).unwrap();
        log.finish(&serde_json::json!({ "done": true })).unwrap();
        let mut lines = Vec::new();
        let logged = runs::all(&context.home).unwrap();
        runs::read(&logged[0], |line| lines.push(line.to_owned())).unwrap();
        let began = format!("{{\"began\":\"{}\"}}", rfc3339(context.started));
        let rest = [r#"{"day":"2026-03-01"}"#, r#"{"day":"2026-03-02"}"#, r#"{"summary":{"done":true}}"#];
        assert_eq!(lines[0], began);
        assert_eq!(lines[1..], rest);
    }

    #[test]
    fn a_log_may_consist_of_an_outcome() {
        let (_folder, pipeline) = home();
        let context = context(&pipeline);
        context.log_outcome(&serde_json::json!({ "done": true })).unwrap();
        let logged = runs::all(&context.home).unwrap();
        let summary: serde_json::Value = runs::summary(&logged[0]).unwrap().unwrap();
        assert_eq!(summary["done"], true);
    }

    #[test]
    fn a_run_without_a_limit_is_never_over() {
        let (_folder, pipeline) = home();
        let mut context = context(&pipeline);
        for no_limit in [None, Some(Duration::ZERO)] {
            context.time_limit = no_limit;
            assert_eq!((context.is_over(), context.time_left()), (false, None));
        }
    }

    #[test]
    fn no_time_is_left_after_the_limit() {
        let (_folder, pipeline) = home();
        let mut context = context(&pipeline);
        context.time_limit = Some(Duration::from_nanos(1));
        assert_eq!((context.is_over(), context.time_left()), (true, Some(Duration::ZERO)));
        context.time_limit = Some(Duration::from_secs(1 << 20));
        assert!(!context.is_over() && context.time_left().unwrap() > Duration::from_secs(1 << 19));
    }

    #[test]
    fn a_follow_up_shares_lock_token_and_clock_under_another_name() {
        let (_folder, pipeline) = home();
        let context = context(&pipeline);
        context.log_outcome(&"first").unwrap();
        let next = context.follow_up("discover").unwrap();
        assert!(next.run.ends_with("-discover") && next.run != context.run);
        assert_eq!(next.began, context.began);
        next.cancel.cancel(StopReason::TimeLimit);
        assert!(context.check_cancelled().is_err());
        drop(context);
        assert!(pipeline.home().lock().is_err(), "the follow-up holds the lock");
    }

    #[test]
    fn elapsed_time_is_never_negative() {
        let (noon, later) = (time("2026-03-01T12:00:00Z"), time("2026-03-01T12:00:05Z"));
        assert_eq!(elapsed(noon, later), Duration::from_secs(5));
        assert_eq!(elapsed(later, noon), Duration::ZERO);
    }

    #[test]
    fn an_ending_has_the_reason_of_the_token_and_the_disk_limit_of_the_settings() {
        let (_folder, pipeline) = home();
        let context = context(&pipeline);
        assert_eq!(context.ending(0).reason, None);
        context.cancel.cancel(StopReason::DiskFull);
        let ending = context.ending(3);
        assert_eq!((ending.left, ending.reason), (3, Some(StopReason::DiskFull)));
        assert_eq!(ending.min_free_mib, pipeline.config().store.min_free_mib);
    }

    #[test]
    fn two_runs_cannot_lock_the_same_home() {
        let (_folder, pipeline) = home();
        let _first = context(&pipeline);
        assert!(RunContext::open(&pipeline, "test").is_err());
    }

    #[test]
    fn shards_of_one_division_share_a_home_and_block_undivided_runs() {
        let (_folder, pipeline) = home();
        let shard = |index| pipeline.clone().with_shard(Shard::new(index, 2).unwrap());
        let first = RunContext::open(&shard(1), "test").unwrap();
        let second = RunContext::open(&shard(2), "test").unwrap();
        assert!(first.run.ends_with("-test-1-of-2") && second.run.ends_with("-test-2-of-2"));
        assert!(RunContext::open(&pipeline, "test").is_err());
        drop((first, second));
        assert!(RunContext::open(&pipeline, "test").is_ok());
    }
}
