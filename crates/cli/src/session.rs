//! A run in a home: the lock, the mending of what a crash left, a name, and the reasons to stop.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::Result;
use jiff::Timestamp;
use tidings_store::removed::Removed;
use tidings_store::{Home, Lock, fold, plan, runs};
use tokio::sync::watch;

use crate::config::Config;
use crate::console::count;
use crate::signals;

/// Why a run ended before all was done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// Its time was over: the ordinary end of a batch.
    TimeLimit,
    /// Somebody asked it to.
    Signal(&'static str),
    /// The disk is nearly full.
    DiskFull,
    /// Something could not be written.
    Failure,
}

/// Ends a run, from wherever the reason shows up. The first reason counts.
#[derive(Clone)]
pub struct Stopper {
    flag: watch::Sender<bool>,
    reason: Arc<Mutex<Option<Stop>>>,
}

impl Stopper {
    pub fn new() -> Stopper {
        Stopper { flag: watch::Sender::new(false), reason: Arc::default() }
    }

    /// Asks the run to end.
    pub fn stop(&self, why: Stop) {
        self.reason.lock().expect("no panic while held").get_or_insert(why);
        let _ = self.flag.send_replace(true);
    }

    /// What turns true when the run shall end.
    pub fn watch(&self) -> watch::Receiver<bool> {
        self.flag.subscribe()
    }

    /// Why it was asked to end, if it was.
    pub fn reason(&self) -> Option<Stop> {
        self.reason.lock().expect("no panic while held").clone()
    }
}

/// Somebody wants the run to end: what is in hand is given up, and made again by the next.
#[derive(Debug)]
pub struct GivenUp;

impl std::fmt::Display for GivenUp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("given up, because somebody wants the run to end")
    }
}

impl std::error::Error for GivenUp {}

/// How long a stage of text may take to notice a signal: merging large files does not look up.
const GRACE: Duration = Duration::from_secs(15);

/// One run of a verb that changes the home.
pub struct Session {
    /// The home.
    pub home: Home,
    /// Its settings.
    pub config: Config,
    /// The name of the run: when it began and what it does.
    pub run: String,
    /// When it began, by the clock on the wall.
    pub started: Timestamp,
    /// When it began, by a clock that nobody sets.
    pub began: Instant,
    /// Ends it early.
    pub stopper: Stopper,
    _lock: Lock,
}

impl Session {
    /// Takes the home, mends what an earlier run left unfinished, and says so.
    pub fn open(home: Home, config: Config, verb: &str) -> Result<Session> {
        let lock = home.lock()?;
        let started = tidings_model::clock::now();
        runs::recover(&home)?;
        match fold::recover(&home, started)? {
            Some(folded) if folded.run.is_empty() => log::info!("an earlier run ended when it had hardly begun"),
            Some(folded) => log::info!(
                "recovered the run {}, which had not finished: {} stored, {} failed, {} added to the plan",
                folded.run,
                count(folded.stored, "page"),
                folded.failed,
                count(folded.added, "entry"),
            ),
            None => {}
        }
        if verb != "remove" && Removed::read(&home)?.unfinished().next().is_some() {
            log::warn!("something that was to be removed is not gone yet; `tidings remove` finishes that");
        }
        let run = unused_name(&home, started, verb)?;
        let stopper = Stopper::new();
        Ok(Session { home, config, run, started, began: Instant::now(), stopper, _lock: lock })
    }

    /// Begins another run under the same lock; the last one must have ended and been folded.
    pub fn next_run(&mut self, verb: &str) -> Result<()> {
        self.started = tidings_model::clock::now();
        self.run = unused_name(&self.home, self.started, verb)?;
        Ok(())
    }

    /// Takes step after step until all are done, time is over, or somebody wants an end; gives how many were done.
    /// However short the time, one step is taken, so that every run brings the work forward. A step that is
    /// begun is brought to its end, unless a signal comes and it notices by [`Session::keep_going`].
    pub fn steps<T>(
        &self,
        limit: Option<Duration>,
        steps: impl IntoIterator<Item = T>,
        mut step: impl FnMut(T) -> Result<()>,
    ) -> Result<u64> {
        signals::heed(&self.stopper, Some(GRACE));
        let mut done = 0;
        for next in steps {
            if done > 0 && self.is_over(limit) {
                self.stopper.stop(Stop::TimeLimit);
            }
            if self.stopper.reason().is_some() {
                break;
            }
            match step(next) {
                Err(error) if error.is::<GivenUp>() => break,
                ended => ended?,
            }
            done += 1;
        }
        Ok(done)
    }

    /// Whether a run with this limit has had its time; no limit, or 0, is never over.
    pub fn is_over(&self, limit: Option<Duration>) -> bool {
        limit.is_some_and(|limit| !limit.is_zero() && self.began.elapsed() >= limit)
    }

    /// An error once somebody wants the run to end.
    pub fn keep_going(&self) -> Result<()> {
        if *self.stopper.flag.borrow() { Err(GivenUp.into()) } else { Ok(()) }
    }

    /// Folds the run's journal into the plan and thins the history. Whoever wants a run to end gets
    /// that within seconds: with a plan of millions the fold may take longer, and the next run
    /// does it just as well, so it is left to that. Nothing is given then.
    pub fn finish(&self) -> Result<Option<fold::Folded>> {
        /// About two million entries, which fold in a second or two.
        const LARGE_BYTES: u64 = 80 << 20;
        let in_a_hurry = matches!(self.stopper.reason(), Some(Stop::Signal(_) | Stop::TimeLimit));
        let plan = std::fs::metadata(plan::path(&self.home)?).map_or(0, |meta| meta.len());
        if in_a_hurry && plan > LARGE_BYTES {
            log::info!("the results are safe in the journal; the next run brings them into the plan");
            return Ok(None);
        }
        let folded = fold::fold(&self.home)?.unwrap_or_default();
        plan::thin_history(&self.home, self.config.store.history)?;
        runs::thin(&self.home, self.started, self.config.store.runs_days)?;
        Ok(Some(folded))
    }
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

/// How long ago something was; nothing if the clock says it is yet to come.
pub fn elapsed(then: Timestamp, now: Timestamp) -> Duration {
    Duration::try_from(now.duration_since(then)).unwrap_or_default()
}
