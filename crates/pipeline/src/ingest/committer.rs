//! Makes results durable in the order that recovery relies on: first pages, then the journal that refers to them, then
//! the reported counts.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use anyhow::{Result, anyhow};
use tidings_fetch::CrawlStats;
use tidings_model::FailureKind;
use tidings_store::Home;
use tidings_store::apply_journal::apply_journal;
use tidings_store::journal::{Journal, JournalBatch};
use tidings_store::pages::PageWriter;

use super::{Batch, Counters};
use crate::cancel::{CancelToken, StopReason};

/// The number of failed requests after which the local network counts as down if no host responded.
const SURELY_OFFLINE: u64 = 10;

/// Sends batches to the committer.
#[derive(Clone)]
pub(super) struct Sender(SyncSender<Batch>);

impl Sender {
    /// Waits for space in the channel. A failed committer has stopped the run, so a closed channel is no error.
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
    home: Home,
    run: String,
    journal: Journal,
    page_writer: PageWriter,
    stats: Arc<CrawlStats>,
    counters: Counters,
    provisional: JournalBatch,
    provisional_counters: Counters,
}

impl Committer {
    /// Starts the committer of a run of a home.
    pub(super) fn start_for(
        home: &Home,
        run: &str,
        journal: Journal,
        page_writer: PageWriter,
        stats: Arc<CrawlStats>,
        cancel: CancelToken,
    ) -> Committer {
        let (sender, batches) = sync_channel(4);
        let commits = Commits {
            home: home.clone(),
            run: run.to_owned(),
            journal,
            page_writer,
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

    #[cfg(test)]
    pub(super) fn start(
        home: &Home,
        journal: Journal,
        page_writer: PageWriter,
        stats: Arc<CrawlStats>,
        cancel: CancelToken,
    ) -> Committer {
        Committer::start_for(home, "20260301T120000000Z-fetch", journal, page_writer, stats, cancel)
    }

    pub(super) fn sender(&self) -> Sender {
        self.sender.clone()
    }

    /// Waits for everything to be durable, with a last step that depends on whether the network was down.
    pub(super) fn finish(self, last: impl FnOnce(bool) -> JournalBatch) -> Result<Committed> {
        drop(self.sender);
        let mut commits = self.thread.join().map_err(|_| anyhow!("the committer thread panicked"))??;
        let failing: u64 = commits.provisional_counters.0.values().sum();
        let offline = commits.stats.answering_hosts.load(Relaxed) == 0 && failing >= SURELY_OFFLINE;
        if !offline {
            commits.accept_provisional()?;
        }
        commits.journal.commit(last(offline))?;
        commits.page_writer.publish()?;
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
        let Batch { frame, warc, mut step, provisional, mut counters, on_commit, checkpoint } = batch;
        if !frame.is_empty() {
            for record in self.page_writer.append(tidings_model::clock::now(), &frame, &warc)? {
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
        if let Some(on_commit) = on_commit {
            on_commit();
        }
        if checkpoint { self.checkpoint() } else { Ok(()) }
    }

    /// Publishes the pages so far and applies the journal, so that a run of days does not end in a journal of days.
    fn checkpoint(&mut self) -> Result<()> {
        self.page_writer.publish()?;
        apply_journal(&self.home)?;
        self.journal = Journal::create(&self.home, &self.run)?;
        Ok(())
    }

    /// The network is up, so that failures to reach a host are recorded for that host.
    fn accept_provisional(&mut self) -> Result<()> {
        self.journal.commit(std::mem::take(&mut self.provisional))?;
        self.counters.absorb(std::mem::take(&mut self.provisional_counters));
        Ok(())
    }
}

fn is_network_trouble(word: &str) -> bool {
    word.parse::<FailureKind>().is_ok_and(FailureKind::is_network_trouble)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidings_store::journal::Record;

    use crate::testing::{home, page, plan_entries, planned};

    fn trouble(hosts: std::ops::Range<u32>) -> Batch {
        let mut batch = Batch::default();
        for host in hosts {
            let url = format!("https://h{host}.example/");
            batch.provisional.push(&Record::Outcome {
                url: url.into(),
                status: "timeout".into(),
                retries: 1,
                failure: None,
            });
            batch.counters.add("timeout", 1);
        }
        batch
    }

    /// The counts, whether the network counts as down, and the failures in the plan.
    fn committed(batches: Vec<Batch>, answering: u64) -> (u64, bool, usize) {
        let (_folder, pipeline) = home();
        let home = pipeline.home();
        let urls: Vec<String> = (0..20).map(|host| format!("https://h{host}.example/")).collect();
        plan_entries(home, &urls.iter().map(String::as_str).collect::<Vec<_>>());
        let stats = Arc::new(CrawlStats::default());
        stats.answering_hosts.store(answering, Relaxed);
        let run = "20260301T120000000Z-fetch";
        let journal = Journal::create(home, run).unwrap();
        let committer = Committer::start(home, journal, PageWriter::open(home, run, None), stats, CancelToken::new());
        let sender = committer.sender();
        batches.into_iter().for_each(|batch| sender.batch(batch));
        drop(sender);
        let committed = committer.finish(|_| JournalBatch::default()).unwrap();
        tidings_store::apply_journal::apply_journal(home).unwrap();
        let failed = planned(home).into_iter().filter(|row| row.1 == "timeout").count();
        (committed.counters.get("timeout"), committed.offline, failed)
    }

    #[test]
    fn failures_count_once_a_host_has_responded() {
        assert_eq!(committed(vec![trouble(0..6), trouble(6..12)], 1), (12, false, 12));
    }

    #[test]
    fn many_failures_without_any_response_are_a_network_outage_and_not_recorded() {
        assert_eq!(committed(vec![trouble(0..6), trouble(6..12)], 0), (0, true, 0));
    }

    #[test]
    fn a_few_failures_without_any_response_are_recorded() {
        assert_eq!(committed(vec![trouble(0..9)], 0), (9, false, 9));
    }

    #[test]
    fn other_counts_of_a_batch_with_failures_are_not_held_back() {
        let (_folder, pipeline) = home();
        let run = "20260301T120000000Z-fetch";
        let journal = Journal::create(pipeline.home(), run).unwrap();
        let page_writer = PageWriter::open(pipeline.home(), run, None);
        let committer = Committer::start(pipeline.home(), journal, page_writer, Arc::default(), CancelToken::new());
        let mut batch = trouble(0..15);
        batch.counters.add("404", 2);
        committer.sender().batch(batch);
        let committed = committer.finish(|_| JournalBatch::default()).unwrap();
        assert_eq!((committed.counters.get("404"), committed.counters.get("timeout")), (2, 0));
        assert!(committed.offline);
    }

    #[test]
    fn a_frame_of_pages_is_stored_and_published() {
        let (_folder, pipeline) = home();
        let run = "20260301T120000000Z-fetch";
        let journal = Journal::create(pipeline.home(), run).unwrap();
        let page_writer = PageWriter::open(pipeline.home(), run, None);
        let committer = Committer::start(pipeline.home(), journal, page_writer, Arc::default(), CancelToken::new());
        let mut line = Vec::new();
        page("https://gazette.example/1", "<p>x").write_line(&mut line).unwrap();
        let frame = tidings_store::FrameEncoder::new(3).encode(&line);
        committer.sender().batch(Batch { frame, ..Batch::default() });
        committer.finish(|_| JournalBatch::default()).unwrap();
        let files = tidings_store::pages::files(pipeline.home()).unwrap();
        let stored: Vec<_> = tidings_store::pages::PageReader::open(&files[0]).unwrap().map(Result::unwrap).collect();
        assert_eq!((files.len(), stored.len(), stored[0].url.as_str()), (1, 1, "https://gazette.example/1"));
    }

    #[test]
    fn only_network_failures_are_held_back() {
        assert!(["timeout", "slow", "dns", "connect", "tls", "cut"].into_iter().all(is_network_trouble));
        assert!(!["ok", "404", "robots", "empty", "entries listed"].into_iter().any(is_network_trouble));
    }
}
