//! The one place where results become durable, in the order that recovery relies on: pages, then
//! the journal that names them, and only then the count that is reported.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use anyhow::{Result, anyhow};
use tidings_fetch::CrawlStats;
use tidings_model::FailureKind;
use tidings_store::journal::{Journal, JournalBatch};
use tidings_store::pages::PageWriter;

use super::{Batch, Counters};
use crate::cancel::{CancelToken, StopReason};

/// Failed requests from which on, if no host answers at all, our own network is taken to be down.
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
    thread: JoinHandle<Result<Commits>>,
}

pub(super) struct Committed {
    pub(super) counters: Counters,
    pub(super) offline: bool,
}

struct Commits {
    journal: Journal,
    shelf: PageWriter,
    stats: Arc<CrawlStats>,
    counters: Counters,
    provisional: JournalBatch,
    provisional_counters: Counters,
}

impl Committer {
    pub(super) fn start(journal: Journal, shelf: PageWriter, stats: Arc<CrawlStats>, cancel: CancelToken) -> Committer {
        let (sender, batches) = sync_channel(4);
        let commits = Commits {
            journal,
            shelf,
            stats,
            counters: Counters::default(),
            provisional: JournalBatch::default(),
            provisional_counters: Counters::default(),
        };
        let thread = std::thread::spawn(move || {
            let result = commits.work(batches);
            if result.is_err() {
                cancel.cancel(StopReason::Failure);
            }
            result
        });
        Committer { sender: Sender(sender), thread }
    }

    pub(super) fn sender(&self) -> Sender {
        self.sender.clone()
    }

    /// Waits for everything to be durable, with a last step.
    pub(super) fn finish(self, last: JournalBatch) -> Result<Committed> {
        drop(self.sender);
        let mut commits = self.thread.join().map_err(|_| anyhow!("the committer failed"))??;
        let failing: u64 = commits.provisional_counters.0.values().sum();
        let offline = commits.stats.answering_hosts.load(Relaxed) == 0 && failing >= SURELY_OFFLINE;
        if !offline {
            commits.accept_provisional()?;
        }
        commits.journal.commit(last)?;
        commits.shelf.publish()?;
        Ok(Committed { counters: commits.counters, offline })
    }
}

impl Commits {
    fn work(mut self, batches: Receiver<Batch>) -> Result<Commits> {
        for batch in batches {
            self.take(batch)?;
        }
        Ok(self)
    }

    fn take(&mut self, batch: Batch) -> Result<()> {
        let Batch { frame, warc, mut step, provisional, mut counters } = batch;
        if !frame.is_empty() {
            for record in self.shelf.append(tidings_model::clock::now(), &frame, &warc)? {
                step.push(&record);
            }
        }
        self.journal.commit(step)?;
        if !provisional.is_empty() {
            self.provisional.append(provisional);
            let (troubles, others) = counters.0.into_iter().partition(|(name, _)| is_network_trouble(name));
            self.provisional_counters.absorb(Counters(troubles));
            counters = Counters(others);
        }
        self.counters.absorb(counters);
        if self.stats.answering_hosts.load(Relaxed) > 0 {
            self.accept_provisional()?;
        }
        Ok(())
    }

    /// The network is up, so failures to reach a host are that host's.
    fn accept_provisional(&mut self) -> Result<()> {
        self.journal.commit(std::mem::take(&mut self.provisional))?;
        self.counters.absorb(std::mem::take(&mut self.provisional_counters));
        Ok(())
    }
}

fn is_network_trouble(word: &str) -> bool {
    word.parse::<FailureKind>().is_ok_and(FailureKind::is_network_trouble)
}
