//! Cancellation: one token that all parts of a run check.
//!
//! A program holds one [`CancelToken`] and cancels it, for instance on a signal. Each run uses a
//! [`child`](CancelToken::child) of it, which may also end for its own reasons: its time limit, a full disk, a failed
//! write. Cancelling a parent cancels all of its children; cancelling a child does not affect its parent.

use std::sync::{Arc, Condvar, Mutex, Weak};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::sync::watch;

/// The reason why a run ended early.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StopReason {
    /// The time limit was reached: the normal end of a batch.
    TimeLimit,
    /// The caller cancelled it; the text names the cause, such as `SIGTERM`.
    Cancelled(String),
    /// The disk has less free space than `store.min_free_mib`.
    DiskFull,
    /// A write failed.
    Failure,
}

/// Ends a run from any thread. The first reason counts.
#[derive(Debug, Clone)]
pub struct CancelToken {
    state: Arc<State>,
}

#[derive(Debug)]
struct State {
    flag: watch::Sender<bool>,
    inner: Mutex<Inner>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Inner {
    reason: Option<StopReason>,
    grace: Option<Duration>,
    children: Vec<Weak<State>>,
}

impl Default for CancelToken {
    fn default() -> CancelToken {
        CancelToken::new()
    }
}

impl CancelToken {
    /// A token that is not cancelled.
    pub fn new() -> CancelToken {
        let state = State { flag: watch::Sender::new(false), inner: Mutex::default(), changed: Condvar::new() };
        CancelToken { state: Arc::new(state) }
    }

    /// A token that is cancelled with this one and can be cancelled alone.
    pub fn child(&self) -> CancelToken {
        let child = CancelToken::new();
        let mut inner = self.state.inner.lock().expect("no panic while held");
        inner.children.retain(|known| known.strong_count() > 0);
        inner.children.push(Arc::downgrade(&child.state));
        let reason = inner.reason.clone();
        drop(inner);
        if let Some(reason) = reason {
            child.cancel(reason);
        }
        child
    }

    /// Cancels the run and all of its children.
    pub fn cancel(&self, reason: StopReason) {
        let children = {
            let mut inner = self.state.inner.lock().expect("no panic while held");
            inner.reason.get_or_insert_with(|| reason.clone());
            std::mem::take(&mut inner.children)
        };
        self.state.flag.send_replace(true);
        self.state.changed.notify_all();
        for child in children.iter().filter_map(Weak::upgrade) {
            CancelToken { state: child }.cancel(reason.clone());
        }
    }

    /// A channel that becomes true on cancellation, for asynchronous code.
    pub fn watch(&self) -> watch::Receiver<bool> {
        self.state.flag.subscribe()
    }

    /// Whether the run is cancelled.
    pub fn is_cancelled(&self) -> bool {
        *self.state.flag.borrow()
    }

    /// The reason of the cancellation, if there was one.
    pub fn reason(&self) -> Option<StopReason> {
        self.state.inner.lock().expect("no panic while held").reason.clone()
    }

    /// Returns an error after cancellation; long loops call this in every iteration.
    pub fn check(&self) -> Result<(), Cancelled> {
        if self.is_cancelled() { Err(Cancelled) } else { Ok(()) }
    }

    /// Waits for this time or until the token is cancelled. Returns whether it is cancelled.
    pub fn wait(&self, time: Duration) -> bool {
        let inner = self.state.inner.lock().expect("no panic while held");
        let waited = self.state.changed.wait_timeout_while(inner, time, |inner| inner.reason.is_none());
        waited.expect("no panic while held").0.reason.is_some()
    }

    /// Sets the time that the current work may continue after a cancellation before the process may exit. Work not
    /// published by then is lost and repeated by the next run. `None`: wait for the work to end.
    pub fn set_grace(&self, grace: Option<Duration>) {
        self.state.inner.lock().expect("no panic while held").grace = grace;
    }

    /// The time that [`CancelToken::set_grace`] declared.
    pub fn grace(&self) -> Option<Duration> {
        self.state.inner.lock().expect("no panic while held").grace
    }
}

/// The error of cancelled work: its partial results are dropped, and the next run repeats it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cancelled;

impl std::fmt::Display for Cancelled {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the run was cancelled")
    }
}

impl std::error::Error for Cancelled {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_reason_is_kept() {
        let token = CancelToken::new();
        assert_eq!((token.reason(), token.check()), (None, Ok(())));
        token.cancel(StopReason::TimeLimit);
        token.cancel(StopReason::DiskFull);
        assert_eq!((token.reason(), token.check()), (Some(StopReason::TimeLimit), Err(Cancelled)));
    }

    #[test]
    fn cancelling_reaches_children_and_not_parents() {
        let parent = CancelToken::new();
        let [first, second] = [parent.child(), parent.child()];
        first.cancel(StopReason::DiskFull);
        assert!(first.is_cancelled() && !parent.is_cancelled() && !second.is_cancelled());
        parent.cancel(StopReason::Cancelled("SIGINT".into()));
        assert_eq!(second.reason(), Some(StopReason::Cancelled("SIGINT".into())));
        assert_eq!(first.reason(), Some(StopReason::DiskFull));
        assert_eq!(parent.child().reason(), Some(StopReason::Cancelled("SIGINT".into())));
    }

    #[test]
    fn waiting_ends_at_once_when_cancelled() {
        let token = CancelToken::new();
        let other = token.clone();
        let waiting = std::thread::spawn(move || other.wait(Duration::from_secs(3600)));
        token.cancel(StopReason::Failure);
        assert!(waiting.join().unwrap());
        assert!(!CancelToken::new().wait(Duration::ZERO));
    }

    #[test]
    fn a_cancellation_reaches_grandchildren_and_the_channel() {
        let token = CancelToken::new();
        let child = token.child();
        let grandchild = child.child();
        let channel = grandchild.watch();
        token.cancel(StopReason::TimeLimit);
        assert!(*channel.borrow());
        assert_eq!(grandchild.reason(), Some(StopReason::TimeLimit));
    }

    #[test]
    fn the_grace_period_is_that_of_the_current_work() {
        let token = CancelToken::new();
        assert_eq!(token.grace(), None);
        token.set_grace(Some(Duration::from_secs(15)));
        assert_eq!(token.clone().grace(), Some(Duration::from_secs(15)));
        token.set_grace(None);
        assert_eq!(token.grace(), None);
    }
}
