//! Memory of questions: what one may use, and all that run at once.
//!
//! A question reserves memory before it builds something whose size the client decides: sets of words, lines, distinct
//! values. What does not fit is refused or cut off, so that a short question cannot take all the memory there is.

use super::Limits;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// Memory that the questions of a server share.
#[derive(Debug)]
pub struct MemoryPool {
    bytes: u64,
    share: u64,
    taken: AtomicU64,
}

impl MemoryPool {
    /// A pool of `bytes`, of which one question may use `share`.
    pub fn new(bytes: u64, share: u64) -> Arc<MemoryPool> {
        Arc::new(MemoryPool { bytes, share, taken: AtomicU64::new(0) })
    }

    /// The bytes that one question may use.
    pub fn share(&self) -> u64 {
        self.share
    }

    /// The bytes of the pool.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The bytes that are reserved.
    pub fn taken(&self) -> u64 {
        self.taken.load(Relaxed)
    }

    pub(super) fn take(&self, bytes: u64) -> bool {
        let add = |taken: u64| taken.checked_add(bytes).filter(|taken| *taken <= self.bytes);
        self.taken.fetch_update(Relaxed, Relaxed, add).is_ok()
    }

    pub(super) fn give_back(&self, bytes: u64) {
        self.taken.fetch_sub(bytes, Relaxed);
    }
}

/// The least that is reserved at once, so that growing costs little.
const STEP_BYTES: u64 = 1 << 16;

/// Memory that a question has reserved; given back on drop.
#[derive(Debug)]
pub(crate) struct Reserved {
    limits: Limits,
    bytes: u64,
    used: u64,
}

impl Reserved {
    pub(super) fn new(limits: Limits) -> Reserved {
        Reserved { limits, bytes: 0, used: 0 }
    }

    /// Adds bytes that are about to be used; returns false if they do not fit.
    #[must_use]
    pub(crate) fn grow(&mut self, bytes: u64) -> bool {
        self.used = self.used.saturating_add(bytes);
        let missing = self.used.saturating_sub(self.bytes);
        if missing == 0 {
            return true;
        }
        let step = [missing.max(STEP_BYTES), missing].into_iter().find(|step| self.limits.reserve(*step));
        self.bytes += step.unwrap_or(0);
        if step.is_none() {
            self.used -= bytes;
        }
        step.is_some()
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        self.limits.release(self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_has_its_share_and_all_have_the_pool() {
        let pool = MemoryPool::new(3 << 20, 2 << 20);
        let [one, other] = [(); 2].map(|()| Limits::default().with_memory(pool.clone()));
        let (mut first, mut second) = (one.memory(), one.memory());
        assert!(first.grow(1 << 20) && second.grow(1 << 20) && !second.grow(1));
        let mut third = other.memory();
        assert!(third.grow(1 << 20) && !third.grow(1), "the pool is empty");
        drop((first, second));
        assert!(third.grow(1));
        drop(third);
        assert_eq!(pool.taken(), 0);
    }

    #[test]
    fn without_a_pool_everything_fits() {
        assert!(Limits::default().memory().grow(u64::MAX));
    }
}
