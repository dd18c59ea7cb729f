//! Ordered parallelism: work on all cores, results in the order of the items, bounded memory.
//!
//! ```text
//!  source ──▶ one thread that takes the next item ──▶ workers ──▶ results, put back in order ──▶ sink
//! ```
//!
//! Every item has a weight, and the source is paused while the weight of the items in progress exceeds the budget. The
//! order of the results, and so the bytes written by the sink, do not depend on the number of workers.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, channel, sync_channel};
use std::sync::{Condvar, Mutex};
use std::thread;

use anyhow::{Result, anyhow};

use crate::guard::{Panicked, guarded};

/// Pages nest deeply, on purpose or not.
const STACK_BYTES: usize = 16 << 20;

/// The bounds of the work.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Number of workers; at least one.
    pub threads: usize,
    /// Maximum weight in progress. A single item may exceed it; then it is processed alone.
    pub weight: usize,
}

/// The cores to work on, within reason.
pub fn cores() -> usize {
    thread::available_parallelism().map_or(1, |cores| cores.get()).min(64)
}

/// Maps the items of `source`, each with its weight, through `work` on several threads and passes the results to `sink`
/// in the order of the items. An error of the source or the sink, or a panic in a worker, ends the run.
pub fn ordered<T: Send, R: Send>(
    bounds: Bounds,
    mut source: impl FnMut() -> Result<Option<(T, usize)>> + Send,
    work: impl Fn(T) -> R + Sync,
    mut sink: impl FnMut(R) -> Result<()>,
) -> Result<()> {
    let threads = bounds.threads.max(1);
    let budget = &MemoryBudget::default();
    // The channel is short, because weight is no bound for a million tiny items.
    let (to_workers, items) = sync_channel::<(u64, usize, T)>(threads * 4);
    let (to_sink, results) = channel::<(u64, usize, Result<R, Panicked>)>();
    let (items, work) = (&Mutex::new(items), &work);
    thread::scope(move |scope| {
        let workers: Vec<_> = (0..threads)
            .map(|_| {
                let to_sink = to_sink.clone();
                let builder = thread::Builder::new().stack_size(STACK_BYTES);
                builder.spawn_scoped(scope, move || {
                    while let Some((number, weight, item)) = next(items) {
                        let result = guarded(|| work(item));
                        if to_sink.send((number, weight, result)).is_err() {
                            break;
                        }
                    }
                })
            })
            .collect::<std::io::Result<_>>()
            .map_err(|error| anyhow!("cannot start threads: {error}"))?;
        drop(to_sink);
        let reader = scope.spawn(move || -> Result<()> {
            let mut number = 0;
            while let Some((item, weight)) = source()? {
                if !budget.enter(weight, bounds.weight) || to_workers.send((number, weight, item)).is_err() {
                    break;
                }
                number += 1;
            }
            Ok(())
        });
        let sunk = put_in_order(results, |weight, result| {
            let sunk = sink(result.map_err(|_| anyhow!("a worker thread panicked"))?);
            budget.leave(weight);
            sunk
        });
        budget.close();
        // Items still in the channel are not needed any more, and the reader must not block on a worker.
        while next(items).is_some() {}
        let read = reader.join().map_err(|_| anyhow!("the reader thread panicked"))?;
        for worker in workers {
            worker.join().map_err(|_| anyhow!("a worker thread panicked"))?;
        }
        sunk.and(read)
    })
}

fn next<T>(items: &Mutex<Receiver<T>>) -> Option<T> {
    items.lock().expect("no panic while held").recv().ok()
}

fn put_in_order<R>(results: Receiver<(u64, usize, R)>, mut sink: impl FnMut(usize, R) -> Result<()>) -> Result<()> {
    let mut early = BTreeMap::new();
    let mut due = 0;
    for (number, weight, result) in results {
        early.insert(number, (weight, result));
        while let Some((weight, result)) = early.remove(&due) {
            sink(weight, result)?;
            due += 1;
        }
    }
    Ok(())
}

/// The weight of the items in progress.
#[derive(Default)]
struct MemoryBudget {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    items: usize,
    weight: usize,
    closed: bool,
}

impl MemoryBudget {
    /// Waits until the weight fits; false if no more items are needed.
    fn enter(&self, weight: usize, limit: usize) -> bool {
        let state = self.state.lock().expect("no panic while held");
        let is_full =
            |state: &mut State| !state.closed && state.items > 0 && state.weight.saturating_add(weight) > limit;
        let mut state = self.changed.wait_while(state, is_full).expect("no panic while held");
        state.items += 1;
        state.weight += weight;
        !state.closed
    }

    fn leave(&self, weight: usize) {
        let mut state = self.state.lock().expect("no panic while held");
        state.items -= 1;
        state.weight -= weight;
        self.changed.notify_all();
    }

    fn close(&self) {
        self.state.lock().expect("no panic while held").closed = true;
        self.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    fn bounds(threads: usize, weight: usize) -> Bounds {
        Bounds { threads, weight }
    }

    #[test]
    fn results_come_in_order_and_the_weight_stays_within_the_budget() {
        for threads in [1, 2, 7] {
            let under_way = AtomicUsize::new(0);
            let most = AtomicUsize::new(0);
            let mut numbers = 0..200u64;
            let source = || {
                Ok(numbers.next().map(|number| {
                    most.fetch_max(under_way.fetch_add(10, Ordering::SeqCst) + 10, Ordering::SeqCst);
                    (number, 10)
                }))
            };
            let mut seen = Vec::new();
            // With several threads each second item is finished before the first of its pair.
            let done: Vec<AtomicBool> = (0..200).map(|_| AtomicBool::new(false)).collect();
            let work = |number: u64| {
                let index = number as usize;
                while threads > 1 && index.is_multiple_of(2) && !done[index + 1].load(Ordering::SeqCst) {
                    thread::yield_now();
                }
                done[index].store(true, Ordering::SeqCst);
                number
            };
            ordered(bounds(threads, 50), source, work, |number| {
                under_way.fetch_sub(10, Ordering::SeqCst);
                seen.push(number);
                Ok(())
            })
            .unwrap();
            assert_eq!(seen, (0..200).collect::<Vec<_>>());
            // One more item may wait for the budget, and one be at the sink.
            assert!(most.into_inner() <= 70, "{threads} threads");
        }
    }

    #[test]
    fn an_item_over_the_budget_is_processed_alone() {
        let mut items = [5usize, 500, 5].into_iter();
        let mut sum = 0;
        ordered(
            bounds(2, 10),
            || Ok(items.next().map(|item| (item, item))),
            |item| item,
            |item| {
                sum += item;
                Ok(())
            },
        )
        .unwrap();
        assert_eq!(sum, 510);
    }

    #[test]
    fn a_panic_in_a_worker_ends_the_run() {
        let mut numbers = 0..1000;
        let source = || Ok(numbers.next().map(|number| (number, 1)));
        let work = |number: u32| assert!(number != 30, "a mistake");
        assert_eq!(
            ordered(bounds(2, 5), source, work, |()| Ok(())).unwrap_err().to_string(),
            "a worker thread panicked"
        );
    }

    #[test]
    fn errors_of_source_and_sink_end_the_run() {
        let mut numbers = 0..;
        let endless = || Ok(numbers.next().map(|number| (number, 1)));
        let error = ordered(
            bounds(3, 100),
            endless,
            |number: u32| number,
            |number| match number {
                50 => Err(anyhow!("full")),
                _ => Ok(()),
            },
        );
        assert_eq!(error.unwrap_err().to_string(), "full");
        let mut left = 20;
        let broken = || match left {
            0 => Err(anyhow!("torn")),
            _ => {
                left -= 1;
                Ok(Some(((), 1)))
            }
        };
        let mut seen = 0;
        let error = ordered(
            bounds(3, 100),
            broken,
            |()| (),
            |()| {
                seen += 1;
                Ok(())
            },
        );
        assert_eq!((error.unwrap_err().to_string().as_str(), seen), ("torn", 20));
    }

    #[test]
    fn a_source_without_items_calls_no_worker() {
        let never = |(): ()| -> () { panic!("there is nothing to do") };
        ordered(bounds(0, 0), || Ok(None), never, |()| Ok(())).unwrap();
    }

    proptest::proptest! {
        #[test]
        fn results_keep_the_order_of_the_items(
            weights in proptest::collection::vec(0usize..100, 0..80), threads in 1usize..5, limit in 0usize..200,
        ) {
            let mut items = weights.iter().enumerate().map(|(at, weight)| (at, *weight));
            let mut seen = Vec::new();
            let take = |at| {
                seen.push(at);
                Ok(())
            };
            ordered(bounds(threads, limit), || Ok(items.next()), |at| at, take).unwrap();
            proptest::prop_assert_eq!(seen, (0..weights.len()).collect::<Vec<_>>());
        }
    }
}
