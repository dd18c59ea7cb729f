//! `fetch`: downloads the pages of the plan, politely.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use anyhow::Result;
use serde::{Deserialize, Serialize};
use tidings_fetch::{CrawlKind, FetchJob, JobSource};
use tidings_model::{Row, Status as PageStatus, address};
use tidings_store::pages::{Archivist, PageWriter};
use tidings_store::removed::Removed;
use tidings_store::{Home, PendingDraft, PendingEntries, Stale, plan};

use super::{Data, Due, Stage, StageId, StageOutcome, StageRun, Unit};
use crate::config::Config;
use crate::context::{RunContext, StageLog};
use crate::discover::{self, GrowOutcome};
use crate::display::{count, span_s};
use crate::ingest::host_memory::{HostMemory, remembered_rules, require_contact};
use crate::ingest::pages::PageProcessor;
use crate::ingest::{self, Counters, CrawlWork};
use crate::outcome::{Ending, Outcome, Status};
use crate::why::conservation::Balances;

/// The plan → pages.
#[derive(Debug, Clone, Default)]
pub struct Fetch {
    /// Only report what would be fetched.
    pub dry_run: bool,
    /// Seed of the order of requests; random if absent.
    pub seed: Option<u64>,
}

/// The outcome of `fetch`.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct FetchOutcome {
    /// Whether all that could be done was done.
    pub done: bool,
    /// The name of the run.
    pub run: String,
    /// Entries in the plan.
    pub entries: u64,
    /// Entries that were to be fetched.
    pub pending: u64,
    /// Pages that were stored.
    pub fetched: u64,
    /// Pages that were tried and not stored.
    pub failed: u64,
    /// Pages by status.
    pub statuses: Counters,
    /// Pages that are left for a later run.
    pub left: u64,
    /// Hosts to be contacted.
    pub hosts: u64,
    /// Hosts postponed to a later run.
    pub hosts_given_up: u64,
    /// Requests that were sent.
    pub requests: u64,
    /// Bytes that were received.
    pub bytes: u64,
    /// Duration in seconds.
    pub seconds: f64,
    /// Feeds found in the new pages, if `discover.grow` is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub discover: Option<GrowOutcome>,
    /// The text that `Display` shows.
    #[serde(skip)]
    text: String,
}

impl Outcome for FetchOutcome {
    fn status(&self) -> Status {
        if self.done { Status::Done } else { Status::NotDone }
    }
}

impl fmt::Display for FetchOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Stage for Fetch {
    fn id(&self) -> StageId {
        StageId::Fetch
    }

    fn version(&self) -> u32 {
        1
    }

    fn inputs(&self) -> &'static [Data] {
        &[Data::Plan, Data::Web]
    }

    fn outputs(&self) -> &'static [Data] {
        &[Data::Pages]
    }

    fn settings(&self, config: &Config) -> serde_json::Value {
        serde_json::json!({ "fetch": config.fetch })
    }

    fn balance(&self, home: &Home, balances: &mut Balances) -> Result<()> {
        balances.fetch(home)
    }

    fn minutes_in_a_round(&self) -> u64 {
        40
    }

    fn due(&self, _: &Home, _: &Config) -> Result<Due> {
        // The pending entries are only known after reading the plan, which is part of the work.
        Ok(Due { units: vec![Unit { name: "pages".to_owned(), why: Stale::PlanMayHoldPages }], ..Due::default() })
    }

    fn begin<'a>(&'a self, context: &'a RunContext, _: &Due) -> Result<Box<dyn StageRun + 'a>> {
        Ok(Box::new(FetchRun { stage: self, context, outcome: None }))
    }
}

/// The stage at work.
struct FetchRun<'a> {
    stage: &'a Fetch,
    context: &'a RunContext,
    outcome: Option<FetchOutcome>,
}

impl StageRun for FetchRun<'_> {
    fn unit(&mut self, _: &Unit, log: &mut StageLog<'_>) -> Result<()> {
        self.outcome = Some(self.stage.download(self.context, log)?);
        Ok(())
    }

    fn finish(self: Box<Self>, ending: Ending, _: &mut StageLog<'_>) -> Result<StageOutcome> {
        let mut outcome = self.outcome.unwrap_or_else(|| {
            let text = match ending.left {
                0 => super::LEFT_TO_FIRST_SHARD.to_owned(),
                _ => format!("0 pages fetched{}\n", ending.after(String::new())),
            };
            FetchOutcome { done: ending.is_done(), text, ..FetchOutcome::default() }
        });
        let grows = self.context.config.discover.grow && !self.context.cancel.is_cancelled();
        if grows && !outcome.statuses.0.is_empty() {
            let grown = discover::grow(&self.context.follow_up("discover")?, super::seed(self.stage.seed))?;
            outcome.text.push_str(&grown.to_string());
            outcome.discover = Some(grown);
        }
        outcome.run.clone_from(&self.context.run);
        outcome.seconds = self.context.seconds();
        Ok(StageOutcome::Fetch(outcome))
    }
}

impl Fetch {
    fn download(&self, context: &RunContext, log: &mut StageLog<'_>) -> Result<FetchOutcome> {
        let Backlog { rows, queues, entries } = backlog(context)?;
        let (pending, hosts) = (rows.len() as u64, queues.len() as u64);
        if rows.is_empty() || self.dry_run {
            let text = match pending {
                0 => format!("nothing to fetch: all {} in the plan are finished\n", count(entries, "entry")),
                _ => format!("would fetch {} from {}\n", count(pending, "page"), count(hosts, "host")),
            };
            return Ok(FetchOutcome { done: true, entries, pending, hosts, text, ..FetchOutcome::default() });
        }
        require_contact(&context.config, &context.home, queues.keys().map(String::as_str))?;
        let memory = HostMemory::load(context, |host| queues.contains_key(host))?;
        let remembered = remembered_rules(context, |host| queues.contains_key(host))?;
        let all_hosts_idle_for = memory.all_hosts_idle_for;
        let settings = context.config.fetch.for_pages(super::seed(self.seed))?;
        let (ceiling, compression, warc) =
            (settings.ceiling(), context.config.store.compression, context.config.fetch.warc);
        let rows = Arc::new(rows);
        let work = CrawlWork {
            kind: CrawlKind::Page,
            settings,
            queues: memory.queues(queues),
            all_hosts_idle_for,
            remembered,
            source: PageJobs(rows.clone()),
            page_writer: PageWriter::open(&context.home, &context.run, warc.then(|| archivist(&context.config))),
        };
        let removed = Arc::new(Removed::read(&context.home)?);
        let processor = || PageProcessor::new(rows.clone(), removed.clone(), ceiling, compression, warc);
        let ingested = ingest::run(context, log, work, processor)?;
        context.apply_journal()?;
        ingest::log_given_up(&ingested);
        let fetched = ingested.counters.get("ok");
        let (failed, failures) = ingest::failures(&ingested.counters, &["ok"]);
        let (ending, done) = ingested.ending(context);
        let failures = if failed > 0 { format!(", {failed} failed ({failures})") } else { String::new() };
        let text = format!("{} fetched{failures}{ending}, {}\n", count(fetched, "page"), span_s(context.seconds()));
        Ok(FetchOutcome {
            done,
            entries,
            pending,
            fetched,
            failed,
            left: ingested.left,
            hosts,
            hosts_given_up: ingested.outcome.given_up.len() as u64,
            requests: ingested.requests,
            bytes: ingested.bytes,
            statuses: ingested.counters,
            text,
            ..FetchOutcome::default()
        })
    }
}

/// The pending entries of the plan.
struct Backlog {
    rows: PendingEntries,
    queues: HashMap<String, Vec<u32>>,
    entries: u64,
}

fn backlog(context: &RunContext) -> Result<Backlog> {
    let mut draft = PendingDraft::create(&context.home)?;
    let mut queues: HashMap<String, Vec<u32>> = HashMap::new();
    let mut entries = 0;
    let mut written = Ok(());
    let removed = Removed::read(&context.home)?;
    plan::read(&context.home, |row| {
        entries += 1;
        // Most rows of a grown plan are finished, which the status shows.
        if row.status == "ok" || written.is_err() {
            return;
        }
        let status: PageStatus = row.status.parse().expect("any string is a status");
        if status.is_pending(row.retries, context.config.fetch.retries) && removed.covers(row.url).is_none() {
            match draft.push(row) {
                Ok(job) => {
                    let host = address::host(row.url).unwrap_or_default().to_ascii_lowercase();
                    queues.entry(host).or_default().push(job);
                }
                Err(error) => written = Err(error),
            }
        }
    })?;
    written?;
    Ok(Backlog { rows: draft.finish()?, queues, entries })
}

fn archivist(config: &Config) -> Archivist {
    Archivist { software: format!("Tidings/{}", env!("CARGO_PKG_VERSION")), operator: config.fetch.contact.clone() }
}

struct PageJobs(Arc<PendingEntries>);

impl JobSource for PageJobs {
    fn job(&mut self, job: u32) -> Result<FetchJob, Box<dyn std::error::Error + Send + Sync>> {
        let line = self.0.line(job)?;
        let row = Row::parse(&line).map_err(|fault| fault.to_string())?;
        Ok(FetchJob { url: row.url.to_owned(), headers: Vec::new() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidings_store::journal::{JournalBatch, Record};
    use tidings_store::removed::{Tombstone, TombstoneKind as RemovedKind};

    use crate::testing::{apply, context, home, logged_runs, plan_entries};

    #[test]
    fn a_dry_run_counts_pages_and_hosts_and_sends_nothing() {
        let (_folder, pipeline) = home();
        plan_entries(pipeline.home(), &["https://a.example/1", "https://A.example/2", "https://b.example/1"]);
        let stage = Fetch { dry_run: true, ..Fetch::default() };
        let outcome = pipeline.run(&stage).unwrap();
        assert_eq!(outcome.to_string(), "would fetch 3 pages from 2 hosts\n");
        assert!(logged_runs(pipeline.home()).is_empty());
    }

    #[test]
    fn finished_and_removed_entries_are_not_pending() {
        let (_folder, pipeline) = home();
        let urls =
            ["https://a.example/ok", "https://a.example/404", "https://a.example/timeout", "https://b.example/new"];
        plan_entries(pipeline.home(), &urls);
        let mut batch = JournalBatch::default();
        for (url, status) in urls.iter().zip(["ok", "404", "timeout"]) {
            batch.push(&Record::Outcome { url: (*url).into(), status: status.into(), retries: 1 });
        }
        apply(pipeline.home(), "20260301T120000000Z-fetch", batch);
        let mut removed = Removed::default();
        removed.add(Tombstone { kind: RemovedKind::Host, what: "b.example".into(), ..Tombstone::default() });
        removed.write(pipeline.home()).unwrap();
        let backlog = backlog(&context(&pipeline)).unwrap();
        assert_eq!((backlog.entries, backlog.rows.len()), (4, 1));
        assert!(backlog.rows.line(0).unwrap().contains("https://a.example/timeout"));
        assert_eq!(backlog.queues.keys().collect::<Vec<_>>(), ["a.example"]);
    }

    #[test]
    fn an_empty_plan_has_nothing_to_fetch() {
        let (_folder, pipeline) = home();
        let outcome = pipeline.run(&Fetch::default()).unwrap();
        assert_eq!((outcome.status(), outcome.to_string().starts_with("nothing to fetch")), (Status::Done, true));
    }

    #[test]
    fn public_hosts_are_not_contacted_without_a_contact_setting() {
        let (_folder, pipeline) = home();
        plan_entries(pipeline.home(), &["https://a.example/1"]);
        let error = pipeline.run(&Fetch::default()).unwrap_err().to_string();
        assert!(error.starts_with("no contact set"), "{error}");
    }

    #[test]
    fn only_the_first_shard_uses_the_network() {
        let (_folder, pipeline) = home();
        let shard = crate::shard::Shard::new(2, 2).unwrap();
        let outcome = pipeline.with_shard(shard).run(&Fetch::default()).unwrap();
        assert_eq!((outcome.status(), outcome.to_string().as_str()), (Status::Done, super::super::LEFT_TO_FIRST_SHARD));
    }
}
