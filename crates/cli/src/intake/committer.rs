//! The one place where results become durable, in the order that recovery relies on: pages, then
//! the journal that vouches for them, and only then the count that people see.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use anyhow::{Result, anyhow};
use tidings_fetch::CrawlStats;
use tidings_store::journal::{Journal, Step};
use tidings_store::pages::Shelf;

use super::{Batch, Tally};
use crate::session::{Stop, Stopper};

/// Failing hosts from which on, if nobody at all answers, the fault is taken to be our own network.
const SURELY_OFFLINE: u64 = 10;

/// Hands batches to the committer.
#[derive(Clone)]
pub(super) struct Sender(SyncSender<Batch>);

impl Sender {
    /// Waits for a place. A committer that failed has stopped the run, so its silence is no error.
    pub(super) fn batch(&self, batch: Batch) {
        let _ = self.0.send(batch);
    }
}

pub(super) struct Committer {
    sender: Sender,
    thread: JoinHandle<Result<Desk>>,
}

pub(super) struct Committed {
    pub(super) tally: Tally,
    pub(super) offline: bool,
}

struct Desk {
    journal: Journal,
    shelf: Shelf,
    stats: Arc<CrawlStats>,
    tally: Tally,
    doubtful: Step,
    doubtful_tally: Tally,
}

impl Committer {
    pub(super) fn start(journal: Journal, shelf: Shelf, stats: Arc<CrawlStats>, stopper: Stopper) -> Committer {
        let (sender, batches) = sync_channel(4);
        let desk = Desk {
            journal,
            shelf,
            stats,
            tally: Tally::default(),
            doubtful: Step::default(),
            doubtful_tally: Tally::default(),
        };
        let thread = std::thread::spawn(move || {
            let result = desk.work(batches);
            if result.is_err() {
                stopper.stop(Stop::Failure);
            }
            result
        });
        Committer { sender: Sender(sender), thread }
    }

    pub(super) fn sender(&self) -> Sender {
        self.sender.clone()
    }

    /// Waits for everything to be durable, with a last step.
    pub(super) fn finish(self, last: Step) -> Result<Committed> {
        drop(self.sender);
        let mut desk = self.thread.join().map_err(|_| anyhow!("the committer failed"))??;
        let failing: u64 = desk.doubtful_tally.0.values().sum();
        let offline = desk.stats.answering_hosts.load(Relaxed) == 0 && failing >= SURELY_OFFLINE;
        if !offline {
            desk.settle_doubts()?;
        }
        desk.journal.commit(last)?;
        desk.shelf.publish()?;
        Ok(Committed { tally: desk.tally, offline })
    }
}

impl Desk {
    fn work(mut self, batches: Receiver<Batch>) -> Result<Desk> {
        for batch in batches {
            self.take(batch)?;
        }
        Ok(self)
    }

    fn take(&mut self, batch: Batch) -> Result<()> {
        let Batch { frame, warc, mut step, doubtful, mut tally } = batch;
        if !frame.is_empty() {
            for record in self.shelf.append(tidings_model::clock::now(), &frame, &warc)? {
                step.push(&record);
            }
        }
        self.journal.commit(step)?;
        if !doubtful.is_empty() {
            self.doubtful.append(doubtful);
            let names = ["timeout", "slow", "dns", "connect", "tls", "cut"];
            for name in names {
                if let Some(number) = tally.0.remove(name) {
                    self.doubtful_tally.add(name, number);
                }
            }
        }
        self.tally.absorb(tally);
        if self.stats.answering_hosts.load(Relaxed) > 0 {
            self.settle_doubts()?;
        }
        Ok(())
    }

    /// The network is there, so failures to reach somebody are theirs.
    fn settle_doubts(&mut self) -> Result<()> {
        self.journal.commit(std::mem::take(&mut self.doubtful))?;
        self.tally.absorb(std::mem::take(&mut self.doubtful_tally));
        Ok(())
    }
}
