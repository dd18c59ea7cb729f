//! Work on all cores: blocks of documents and of words that threads take one after the other.
//!
//! Each thread adds up what it counts, and the sums of the threads are merged ([`Merge`]), so that results do not depend on
//! the number of threads. Small work stays on the thread of the question: beginning a thread costs as much as a quick search.

use super::Limits;
use super::scope::Scope;
use crate::merge::Merge;
use std::ops::Range;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use tidings_index::Segment;

/// Blocks for each thread, so that none waits long for the last one.
const BLOCKS_PER_THREAD: usize = 4;

/// Documents of one segment that one thread reads at a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Block {
    /// The number of the segment.
    pub(super) index: usize,
    pub(super) documents: Range<u32>,
}

/// Divides the selected documents of segments into blocks of about equal size.
pub(super) fn blocks<'p>(limits: &Limits, parts: impl Iterator<Item = (&'p Segment, &'p Scope)>) -> Vec<Block> {
    let parts: Vec<(usize, &Segment, Range<u32>)> =
        parts.enumerate().map(|(index, (segment, scope))| (index, segment, scope.documents())).collect();
    let tokens: u64 = parts.iter().map(|(_, segment, all)| segment.tokens_in(all.clone()).len() as u64).sum();
    let share = tokens / (limits.threads() * BLOCKS_PER_THREAD) as u64;
    let size = match limits.threads() {
        1 => u32::MAX,
        _ => u32::try_from(share).unwrap_or(u32::MAX).max(limits.block_tokens()),
    };
    let mut blocks = Vec::new();
    for (index, segment, mut rest) in parts {
        let starts = segment.starts();
        while !rest.is_empty() {
            let goal = starts[rest.start as usize].saturating_add(size);
            let end = starts[..=rest.end as usize].partition_point(|start| *start <= goal) as u32 - 1;
            let end = end.clamp(rest.start + 1, rest.end);
            blocks.push(Block { index, documents: rest.start..end });
            rest.start = end;
        }
    }
    blocks
}

/// Runs `work` on several threads. Each call gets the numbers of the tasks that are left, which the threads share, and
/// returns the sum of its tasks.
pub(super) fn fold<A: Merge + Send>(
    limits: &Limits,
    tasks: usize,
    work: impl Fn(&mut dyn Iterator<Item = usize>) -> A + Sync,
) -> A {
    let next = AtomicUsize::new(0);
    let run = || work(&mut std::iter::from_fn(|| Some(next.fetch_add(1, Relaxed)).filter(|task| *task < tasks)));
    let helpers = limits.threads().min(tasks).saturating_sub(1);
    if helpers == 0 {
        return run();
    }
    let help = || {
        let sum = run();
        limits.end_thread();
        sum
    };
    thread::scope(|scope| {
        let thread = |_| thread::Builder::new().name("query".to_owned()).spawn_scoped(scope, help).ok();
        // Without a further thread the ones there are do all the work.
        let started: Vec<_> = (0..helpers).map_while(thread).collect();
        let mut sum = run();
        for helper in started {
            match helper.join() {
                Ok(part) => sum.merge_from(part),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        sum
    })
}

/// The results of tasks with their numbers.
struct Results<T>(Vec<(usize, T)>);

impl<T> Merge for Results<T> {
    fn merge_from(&mut self, other: Results<T>) {
        self.0.extend(other.0);
    }
}

/// The results of tasks in the order of the tasks. `work` is called once on each thread and makes the function that does the
/// tasks, so that this may keep memory between them.
pub(super) fn map<T: Send, F: FnMut(usize) -> T>(limits: &Limits, tasks: usize, work: impl Fn() -> F + Sync) -> Vec<T> {
    let Results(mut found) = fold(limits, tasks, |tasks| {
        let mut each = work();
        Results(tasks.map(|task| (task, each(task))).collect())
    });
    found.sort_unstable_by_key(|(task, _)| *task);
    found.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_the_same_for_every_number_of_threads() {
        for threads in [1, 2, 3, 7] {
            let limits = Limits::default().with_threads(threads, 1);
            assert_eq!(map(&limits, 20, || |task| task * task), (0..20).map(|task| task * task).collect::<Vec<_>>());
            assert_eq!(fold(&limits, 100, |tasks| tasks.map(|task| task as u64).sum::<u64>()), 4950);
            assert_eq!(fold(&limits, 0, |tasks| tasks.count() as u64), 0);
        }
    }

    #[test]
    fn every_thread_says_when_it_ends_but_the_first() {
        let ended = std::sync::Arc::new(AtomicUsize::new(0));
        let count = ended.clone();
        let limits = Limits::default().with_threads(3, 1).with_thread_end(move || {
            count.fetch_add(1, Relaxed);
        });
        map(&limits, 50, || |task| task);
        assert_eq!(ended.load(Relaxed), 2);
    }

    #[test]
    fn a_panic_of_a_thread_is_that_of_the_question() {
        let limits = Limits::default().with_threads(2, 1);
        let work = || map(&limits, 8, || |task| assert!(task != 5));
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
        assert!(outcome.is_err());
    }
}
