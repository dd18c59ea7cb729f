//! Limits after which a search stops with a partial result, and what was seen until then.
//!
//! All passes over a corpus ask their limits whether to go on. The limits remember the first time that the answer was no,
//! so that an answer cannot be called exact by mistake: [`Limits::cut_off`] is the one place that says so.

use super::memory::{MemoryPool, Reserved};
use std::fmt;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

choices! {
    /// The limit that stopped a search.
    pub enum Limit {
        /// The time limit.
        Time = "time",
        /// The client no longer waits for the answer.
        Cancelled = "cancelled",
        /// The number of steps.
        Steps = "steps",
        /// The number of distinct values in memory.
        Values = "values",
        /// The memory of one question.
        Memory = "memory",
    }
}

/// A search that a limit stopped.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct CutOff {
    /// Tokens of the pass that was stopped, as far as it came.
    pub seen_tokens: u64,
    /// Tokens that the pass would have seen.
    pub of_tokens: u64,
    /// The limit.
    pub limit: Limit,
    /// The time limit, if that stopped it.
    pub time_limit: Option<Duration>,
}

/// The limits of the answer to one question. Clones share their state.
#[derive(Debug, Clone, Default)]
pub struct Limits(Arc<LimitState>);

#[derive(Debug, Default)]
struct LimitState {
    time: Option<(Instant, Duration)>,
    cancelled: Option<Arc<AtomicBool>>,
    /// The checks that still pass.
    steps: Option<AtomicU64>,
    struck: OnceLock<Limit>,
    seen_tokens: AtomicU64,
    of_tokens: AtomicU64,
    /// A pass was begun after the one that a limit stopped; it adds nothing.
    is_past: AtomicBool,
    check: Option<Hook>,
    /// The threads of the question and the least tokens of a block; by default one thread for each core.
    threads: Option<(usize, u32)>,
    thread_end: Option<Hook>,
    memory: Option<Arc<MemoryPool>>,
    /// The bytes that the question may use, if not the share of the pool.
    share: Option<u64>,
    /// Bytes that the question has reserved.
    reserved: AtomicU64,
}

/// A function of the owner of a search.
struct Hook(Box<dyn Fn() + Send + Sync>);

impl fmt::Debug for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hook")
    }
}

/// The least tokens of a block of documents that a thread takes at a time.
const BLOCK_TOKENS: u32 = 1 << 20;

/// The number of cores that this process may use.
fn cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from))
}

impl Limits {
    /// Stops at a time, which is that of the question plus `limit`.
    pub fn until(time: Instant, limit: Duration) -> Limits {
        Limits(Arc::new(LimitState { time: Some((time, limit)), ..LimitState::default() }))
    }

    /// Stops after a duration; never, if the clock cannot count so far.
    pub fn within(limit: Duration) -> Limits {
        Instant::now().checked_add(limit).map_or_else(Limits::default, |time| Limits::until(time, limit))
    }

    /// Stops when the flag is set.
    pub fn cancelled_by(cancelled: Arc<AtomicBool>) -> Limits {
        Limits(Arc::new(LimitState { cancelled: Some(cancelled), ..LimitState::default() }))
    }

    /// Stops at a time or when the flag is set.
    pub fn until_or_cancelled(time: Instant, limit: Duration, cancelled: Arc<AtomicBool>) -> Limits {
        let time = Some((time, limit));
        Limits(Arc::new(LimitState { time, cancelled: Some(cancelled), ..LimitState::default() }))
    }

    /// Stops at the check after this many, however long they take.
    pub fn steps(steps: u64) -> Limits {
        Limits(Arc::new(LimitState { steps: Some(AtomicU64::new(steps)), ..LimitState::default() }))
    }

    /// Calls a function at each check, on the thread that searches. For limits that are not shared yet.
    pub fn with_check(mut self, check: impl Fn() + Send + Sync + 'static) -> Limits {
        self.state_mut().check = Some(Hook(Box::new(check)));
        self
    }

    /// Sets the threads of the question, by default one for each core, and the least tokens of a block that one of them
    /// takes at a time. Answers are the same for every number. For limits that are not shared yet.
    pub fn with_threads(mut self, threads: usize, block_tokens: u32) -> Limits {
        self.state_mut().threads = Some((threads.max(1), block_tokens.max(1)));
        self
    }

    /// Calls a function at the end of each further thread of the question, on that thread, to account for its time. For
    /// limits that are not shared yet.
    pub fn with_thread_end(mut self, end: impl Fn() + Send + Sync + 'static) -> Limits {
        self.state_mut().thread_end = Some(Hook(Box::new(end)));
        self
    }

    fn state_mut(&mut self) -> &mut LimitState {
        Arc::get_mut(&mut self.0).expect("limits are set before they are shared")
    }

    pub(super) fn threads(&self) -> usize {
        self.0.threads.map_or_else(cores, |(threads, _)| threads)
    }

    pub(super) fn block_tokens(&self) -> u32 {
        self.0.threads.map_or(BLOCK_TOKENS, |(_, tokens)| tokens)
    }

    /// Called by each further thread of the question when it ends.
    pub(super) fn end_thread(&self) {
        if let Some(Hook(end)) = &self.0.thread_end {
            end();
        }
    }

    /// Sets the memory that the question takes its share of. For limits that are not shared yet.
    pub fn with_memory(mut self, memory: Arc<MemoryPool>) -> Limits {
        self.state_mut().memory = Some(memory);
        self
    }

    /// Sets the bytes of the pool that this question may use, for one that is known to need more than the others. For
    /// limits that are not shared yet.
    pub fn with_share(mut self, bytes: u64) -> Limits {
        self.state_mut().share = Some(bytes);
        self
    }

    /// Memory of the question, none at first.
    pub(crate) fn memory(&self) -> Reserved {
        Reserved::new(self.clone())
    }

    /// Takes bytes of the question's share and of the pool; returns false if they do not fit.
    pub(super) fn reserve(&self, bytes: u64) -> bool {
        let Some(memory) = &self.0.memory else { return true };
        let reserved = self.0.reserved.fetch_add(bytes, Relaxed) + bytes;
        if reserved <= self.0.share.unwrap_or(memory.share()) && memory.take(bytes) {
            return true;
        }
        self.0.reserved.fetch_sub(bytes, Relaxed);
        false
    }

    pub(super) fn release(&self, bytes: u64) {
        let Some(memory) = &self.0.memory else { return };
        self.0.reserved.fetch_sub(bytes, Relaxed);
        memory.give_back(bytes);
    }

    /// Returns true if the client no longer waits for the answer. For work that is needed although the time is over, such as
    /// the lines of the hits that were found.
    pub(crate) fn is_cancelled(&self) -> bool {
        if let Some(Hook(check)) = &self.0.check {
            check();
        }
        self.0.cancelled.as_ref().is_some_and(|cancelled| cancelled.load(Relaxed))
    }

    /// Returns true if a limit is reached; the search that asks must stop, and its result is partial.
    pub(crate) fn is_over(&self) -> bool {
        if self.0.struck.get().is_some_and(|limit| *limit != Limit::Values) {
            return true;
        }
        let limit = self.reached();
        limit.inspect(|limit| self.strike(*limit)).is_some()
    }

    fn reached(&self) -> Option<Limit> {
        let LimitState { time, steps, .. } = &*self.0;
        if self.is_cancelled() {
            return Some(Limit::Cancelled);
        }
        let take = |left: u64| left.checked_sub(1);
        if steps.as_ref().is_some_and(|steps| steps.fetch_update(Relaxed, Relaxed, take).is_err()) {
            return Some(Limit::Steps);
        }
        time.is_some_and(|(until, _)| Instant::now() >= until).then_some(Limit::Time)
    }

    /// Records that a limit stops the search. Only the first one counts.
    pub(crate) fn strike(&self, limit: Limit) {
        let _ = self.0.struck.set(limit);
    }

    /// Begins a pass over this many tokens. An answer may need several; the one that is stopped counts.
    pub(crate) fn begin_pass(&self, tokens: u64) {
        let state = &*self.0;
        if state.struck.get().is_some() {
            // A limit that was reached before the first pass has seen nothing of it.
            let _ = state.of_tokens.compare_exchange(0, tokens, Relaxed, Relaxed);
            state.is_past.store(true, Relaxed);
            return;
        }
        state.of_tokens.store(tokens, Relaxed);
        state.seen_tokens.store(0, Relaxed);
    }

    /// Adds to the tokens that the pass has seen: those of documents that were searched to their end, so that counts and
    /// seen tokens are of the same documents.
    pub(crate) fn saw(&self, tokens: u64) {
        if !self.0.is_past.load(Relaxed) {
            self.0.seen_tokens.fetch_add(tokens, Relaxed);
        }
    }

    /// The search that was stopped, if one was.
    pub fn cut_off(&self) -> Option<CutOff> {
        let limit = *self.0.struck.get()?;
        let of_tokens = self.0.of_tokens.load(Relaxed);
        Some(CutOff {
            seen_tokens: self.0.seen_tokens.load(Relaxed).min(of_tokens),
            of_tokens,
            limit,
            time_limit: self.0.time.filter(|_| limit == Limit::Time).map(|(_, limit)| limit),
        })
    }
}

/// Checks the limits every few thousand steps: reading the clock before each step would cost more than the step.
#[derive(Debug, Clone)]
pub(crate) struct Deadline {
    limits: Limits,
    steps: u32,
    pub(super) is_over: bool,
}

impl Deadline {
    /// The number of steps between two checks, a few hundred microseconds.
    const STEPS: u32 = 1 << 14;

    pub(crate) fn new(limits: &Limits) -> Deadline {
        Deadline { limits: limits.clone(), steps: 0, is_over: false }
    }

    /// Counts a step; returns false once a limit is reached.
    #[inline]
    pub(crate) fn tick(&mut self) -> bool {
        self.tick_by(1)
    }

    /// Ends the search because of another limit.
    pub(crate) fn stop(&mut self, limit: Limit) {
        self.limits.strike(limit);
        self.is_over = true;
    }

    /// Counts many small steps at once; returns false once a limit is reached.
    #[inline]
    pub(crate) fn tick_by(&mut self, steps: u32) -> bool {
        self.steps = self.steps.saturating_add(steps);
        if self.steps >= Deadline::STEPS {
            self.steps = 0;
            self.is_over |= self.limits.is_over();
        }
        !self.is_over
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_limit_is_remembered_with_the_tokens_of_its_pass() {
        let limits = Limits::steps(2);
        limits.begin_pass(100);
        limits.saw(100);
        assert!(!limits.is_over() && limits.cut_off().is_none());
        limits.begin_pass(50);
        limits.saw(20);
        assert!(!limits.is_over() && limits.clone().is_over() && limits.is_over());
        limits.saw(5); // The document that the limit interrupted was complete before.
        limits.begin_pass(7);
        limits.saw(7);
        limits.strike(Limit::Values);
        let cut = CutOff { seen_tokens: 25, of_tokens: 50, limit: Limit::Steps, time_limit: None };
        assert_eq!(limits.cut_off(), Some(cut));
    }

    #[test]
    fn too_many_values_do_not_stop_the_next_pass() {
        let limits = Limits::default();
        limits.strike(Limit::Values);
        assert!(!limits.is_over() && limits.cut_off().is_some());
    }

    #[test]
    fn a_limit_before_the_first_pass_has_seen_nothing_of_it() {
        let limits = Limits::steps(0);
        assert!(limits.is_over());
        limits.begin_pass(50);
        limits.saw(50);
        assert_eq!(limits.cut_off().map(|cut| (cut.seen_tokens, cut.of_tokens)), Some((0, 50)));
    }

    #[test]
    fn a_time_that_has_come_stops_and_says_which_limit_it_was() {
        let limits = Limits::until(Instant::now(), Duration::from_secs(3));
        assert!(limits.is_over());
        assert_eq!(limits.cut_off().and_then(|cut| cut.time_limit), Some(Duration::from_secs(3)));
    }
}
