//! `fetch`: downloads the pages of the plan, politely.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use anyhow::{Result, anyhow};
use http::header::{self, HeaderName, HeaderValue};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tidings_fetch::{CrawlKind, FetchJob, JobSource};
use tidings_model::{FailureKind, Prospect, Row, address, is_archive};
use tidings_store::failures::Retries;
use tidings_store::feed_texts::FeedTexts;
use tidings_store::pages::{Archivist, PageWriter};
use tidings_store::removed::Removed;
use tidings_store::revisits::{Revisits, VisitedPage};
use tidings_store::{Home, PendingDraft, PendingEntries, Stale, plan};

use super::{Data, Due, Stage, StageId, StageOutcome, StageRun, Unit};
use crate::config::Config;
use crate::context::{RunContext, StageLog, elapsed};
use crate::discover::{self, GrowOutcome};
use crate::display::{count, grouped, span, span_s};
use crate::harvest::{HarvestPart, MovedFeeds};
use crate::ingest::equivalents::Equivalents;
use crate::ingest::host_memory::{HostMemory, remembered_rules, require_contact};
use crate::ingest::page_sources::page_sources;
use crate::ingest::pages::{FROM_FEED, PageProcessor, PageWork, REVISED, UNCHANGED};
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
    /// Pages that were stored, including those refused by the server whose text is that of the feed.
    pub fetched: u64,
    /// Those of them whose text is that of the feed.
    pub from_feeds: u64,
    /// Pages that were fetched again and stored, because their feeds announced a change.
    pub revised: u64,
    /// Pages that were fetched again and had not changed.
    pub unchanged: u64,
    /// Pages that were tried and not stored.
    pub failed: u64,
    /// Pages by status.
    pub statuses: Counters,
    /// Pages that are left for a later run.
    pub left: u64,
    /// Pages of backfills that are left for later runs, beyond `fetch.archive_pages` of a host.
    pub archive_left: u64,
    /// Pages that failed before and wait for their next attempt.
    pub waiting: u64,
    /// Pages that were given up although their feeds still list them.
    pub given_up: u64,
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

    fn up_to_date(&self, context: &RunContext, entries: u64) -> Option<StageOutcome> {
        let (run, text, seconds) = (context.run.clone(), nothing_to_fetch(entries), context.seconds());
        Some(StageOutcome::Fetch(FetchOutcome { done: true, run, entries, text, seconds, ..FetchOutcome::default() }))
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
        let config = &self.context.config;
        // A search for feeds asks hosts of other machines.
        let is_alone = config.harvest.machines.is_empty();
        let grows = config.discover.grow && is_alone && !self.context.cancel.is_cancelled();
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
        let part = HarvestPart::open(context)?;
        if let Some(part) = part.as_ref().filter(|_| !self.dry_run) {
            part.send(context, &MovedFeeds::default())?;
        }
        let Backlog { rows, again, queues, archive_left, entries, waiting, next_attempt, given_up } =
            backlog(context, part.as_ref())?;
        let (pending, hosts) = (rows.len() as u64 - archive_left, queues.len() as u64);
        if pending == 0 || self.dry_run {
            if given_up > 0 && !self.dry_run {
                // `status` reads the number from the log.
                let run_log = log.take()?;
                log.put_back(run_log);
            }
            let text = match (pending, next_attempt) {
                (0, None) => nothing_to_fetch(entries),
                (0, Some(next)) => format!(
                    "nothing to fetch now: {} for the next attempt, the first in {}\n",
                    if waiting == 1 { "1 page waits".to_owned() } else { format!("{} wait", count(waiting, "page")) },
                    span(elapsed(context.started, next))
                ),
                _ => format!("would fetch {} from {}\n", count(pending, "page"), count(hosts, "host")),
            };
            let outcome = FetchOutcome {
                entries,
                pending,
                hosts,
                waiting,
                given_up,
                archive_left,
                text,
                ..FetchOutcome::default()
            };
            return Ok(FetchOutcome { done: true, ..outcome });
        }
        require_contact(&context.config, &context.home, queues.keys().map(String::as_str))?;
        let memory = HostMemory::load(context, CrawlKind::Page, |host| queues.contains_key(host))?;
        let remembered = remembered_rules(context, |host| queues.contains_key(host))?;
        let all_hosts_idle_for = memory.all_hosts_idle_for;
        let mut settings = context.config.fetch.for_pages(super::seed(self.seed))?;
        settings.partition = part.as_ref().map(HarvestPart::partition);
        let (ceiling, compression, warc) =
            (settings.ceiling(), context.config.store.compression, context.config.fetch.warc);
        let pages = PageWork { rows: Arc::new(rows), again: Arc::new(again) };
        let work = CrawlWork {
            kind: CrawlKind::Page,
            settings,
            queues: memory.queues_with_later(queues.into_iter().map(|(host, jobs)| (host, jobs.listed, jobs.archive))),
            all_hosts_idle_for,
            remembered,
            source: PageJobs(pages.clone()),
            page_writer: PageWriter::open(&context.home, &context.run, warc.then(|| archivist(&context.config))),
        };
        let removed = Arc::new(Removed::read(&context.home)?);
        let texts = Arc::new(FeedTexts::open(&context.home)?);
        let page_sources = Arc::new(page_sources(&context.home)?);
        let processor = || {
            PageProcessor::new(pages.clone(), texts.clone(), removed.clone(), ceiling, compression, warc)
                .with_page_sources(page_sources.clone())
        };
        let mut ingested = ingest::run(context, log, work, processor)?;
        let applied = context.apply_journal()?;
        ingest::log_given_up(&ingested);
        let moved = ingested.counters.get(FailureKind::MovedShard.word());
        if let Some(part) = part.filter(|_| applied.is_some()) {
            part.send(context, &MovedFeeds::default())?;
        }
        let fetched = ingested.counters.get("ok");
        // It counts pages that are `ok` once more.
        let from_feeds = ingested.counters.0.remove(FROM_FEED).unwrap_or_default();
        let [revised, unchanged] = [REVISED, UNCHANGED].map(|word| ingested.counters.get(word));
        let (failed, failures) =
            ingest::failures(&ingested.counters, &["ok", REVISED, UNCHANGED, FailureKind::MovedShard.word()]);
        let (ending, done) = ingested.ending(context);
        let failures = if failed > 0 { format!(", {failed} failed ({failures})") } else { String::new() };
        let refused = match from_feeds {
            0 => String::new(),
            number => format!(", {number} of them refused and replaced by the text of the feed"),
        };
        let again = [(revised, "revised"), (unchanged, "unchanged")].into_iter().filter(|(number, _)| *number > 0);
        let again: String = again.map(|(number, what)| format!(", {} {what}", grouped(number))).collect();
        let moved = match moved {
            0 => String::new(),
            number => format!(", {} of hosts of other machines handed over", grouped(number)),
        };
        let fetched_text = format!("{} fetched{refused}{again}{moved}", count(fetched, "page"));
        let history = match archive_left {
            0 => String::new(),
            left => format!("; {} of backfills left for later runs (fetch.archive_pages)", count(left, "page")),
        };
        let text = format!("{fetched_text}{failures}{ending}{history}, {}\n", span_s(context.seconds()));
        Ok(FetchOutcome {
            done,
            entries,
            pending,
            fetched,
            from_feeds,
            revised,
            unchanged,
            failed,
            left: ingested.left,
            archive_left,
            waiting,
            given_up,
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

fn nothing_to_fetch(entries: u64) -> String {
    format!("nothing to fetch: all {} in the plan are finished\n", count(entries, "entry"))
}

/// The pending entries of the plan.
struct Backlog {
    rows: PendingEntries,
    /// Of these, stored pages that are fetched again, by job.
    again: HashMap<u32, VisitedPage>,
    queues: HashMap<String, HostJobs>,
    /// Entries of backfills that are left for later runs; they have rows, but are in no queue.
    archive_left: u64,
    entries: u64,
    /// Entries that wait for their next attempt, and the time of the first.
    waiting: u64,
    next_attempt: Option<Timestamp>,
    /// Entries that were given up although their feeds still list them.
    given_up: u64,
}

/// The jobs of a host.
#[derive(Debug, Default)]
struct HostJobs {
    /// Entries of feeds.
    listed: Vec<u32>,
    /// Entries of backfills, the newest first.
    archive: Vec<u32>,
    /// The dates of entries of backfills, in seconds, with their jobs.
    undecided: Vec<(i64, u32)>,
}

impl HostJobs {
    /// Keeps the newest entries of backfills; returns the number of the others.
    fn limit_archive(&mut self, most: usize) -> u64 {
        let mut dated = std::mem::take(&mut self.undecided);
        dated.sort_unstable_by_key(|(date, job)| (std::cmp::Reverse(*date), *job));
        let left = dated.len().saturating_sub(most);
        self.archive = dated.into_iter().take(most).map(|(_, job)| job).collect();
        left as u64
    }
}

fn backlog(context: &RunContext, part: Option<&HarvestPart>) -> Result<Backlog> {
    let mut draft = PendingDraft::create(&context.home)?;
    let mut queues: HashMap<String, HostJobs> = HashMap::new();
    let (mut entries, mut waiting, mut given_up) = (0, 0, 0);
    let mut next_attempt = None::<Timestamp>;
    let mut written = Ok(());
    let mut again = HashMap::new();
    let revisits = Revisits::load(&context.home, context.config.fetch.revisions, context.started)?;
    let mut equivalents = Equivalents::default();
    let mut enqueue = |row: &Row<'_>| -> Result<u32> {
        let job = draft.push(row)?;
        let host = address::host(row.url).unwrap_or_default().to_ascii_lowercase();
        let jobs = queues.entry(host).or_default();
        match is_archive(row.feed) {
            true => jobs.undecided.push((row.published.parse().map_or(0, Timestamp::as_second), job)),
            false => jobs.listed.push(job),
        }
        Ok(job)
    };
    let removed = Removed::read(&context.home)?;
    let retries = Retries::load(&context.home, context.config.fetch.retry_policy(), context.started)?;
    plan::read(&context.home, |row| {
        entries += 1;
        if part.is_some_and(|part| !part.owns(row.url)) {
            return;
        }
        let prospect = retries.prospect(row);
        if prospect != Prospect::Due {
            equivalents.settle(row.url);
        }
        let revisit = if row.status == "ok" { revisits.of(row.url) } else { None };
        let is_settled = prospect == Prospect::Settled && revisit.is_none();
        if is_settled || written.is_err() || removed.covers(row.url).is_some() {
            return;
        }
        if let Some(known) = revisit {
            let title = if known.new_title.is_empty() { row.title } else { &known.new_title };
            written = enqueue(&Row { title, ..*row }).map(|job| {
                again.insert(job, known.clone());
            });
            return;
        }
        match prospect {
            Prospect::Waits(until) => {
                waiting += 1;
                next_attempt = Some(next_attempt.map_or(until, |next| next.min(until)));
            }
            Prospect::GivenUp => given_up += u64::from(row.age == 0 && !is_archive(row.feed)),
            Prospect::Due if equivalents.hold(row.url, || row.line()) => {}
            Prospect::Due => written = enqueue(row).map(drop),
            Prospect::Settled => {}
        }
    })?;
    written?;
    for line in equivalents.unique() {
        enqueue(&Row::parse(&line).map_err(|fault| anyhow!("an entry of the plan {fault}"))?)?;
    }
    let most = context.config.fetch.archive_pages;
    let archive_left = queues.values_mut().map(|jobs| jobs.limit_archive(most)).sum();
    queues.retain(|_, jobs| !jobs.listed.is_empty() || !jobs.archive.is_empty());
    Ok(Backlog { rows: draft.finish()?, again, queues, archive_left, entries, waiting, next_attempt, given_up })
}

fn archivist(config: &Config) -> Archivist {
    Archivist { software: format!("Tidings/{}", env!("CARGO_PKG_VERSION")), operator: config.fetch.contact.clone() }
}

struct PageJobs(PageWork);

impl JobSource for PageJobs {
    fn job(&mut self, job: u32) -> Result<FetchJob, Box<dyn std::error::Error + Send + Sync>> {
        let line = self.0.rows.line(job)?;
        let row = Row::parse(&line).map_err(|fault| fault.to_string())?;
        let headers = self.0.again.get(&job).map(conditional).unwrap_or_default();
        Ok(FetchJob { url: row.url.to_owned(), headers })
    }
}

/// The headers that make a request for a stored page conditional.
fn conditional(page: &VisitedPage) -> Vec<(HeaderName, HeaderValue)> {
    let validators = [(header::IF_NONE_MATCH, &page.etag), (header::IF_MODIFIED_SINCE, &page.last_modified)];
    let sent = validators.into_iter().filter(|(_, value)| !value.is_empty());
    sent.filter_map(|(name, value)| Some((name, HeaderValue::from_str(value).ok()?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidings_store::journal::{Failure, JournalBatch, Record};
    use tidings_store::removed::{Tombstone, TombstoneKind as RemovedKind};

    use crate::testing::{apply, context, home, logged_runs, plan_entries};

    #[test]
    fn entries_of_backfills_follow_those_of_feeds_the_newest_first_and_within_the_limit() {
        let (_folder, pipeline) = home();
        let mut batch = JournalBatch::default();
        for (path, published) in [("old", "2019-01-01T00:00:00Z"), ("new", "2025-01-01T00:00:00Z"), ("undated", "")] {
            batch.push(&Record::Listed {
                feed: "archive:a.example".into(),
                seen: "2026-03-01T10:00:00.000Z".into(),
                published: published.into(),
                url: format!("https://a.example/{path}").into(),
                title: "".into(),
                updated: "".into(),
                text: None,
            });
        }
        apply(pipeline.home(), "20260301T090000000Z-crawl", batch);
        plan_entries(pipeline.home(), &["https://a.example/1"]);
        let mut context = context(&pipeline);
        context.config.fetch.archive_pages = 2;
        let backlog = backlog(&context, None).unwrap();
        let urls = |jobs: &[u32]| -> Vec<String> {
            let url = |job: &u32| Row::parse(&backlog.rows.line(*job).unwrap()).unwrap().url.to_owned();
            jobs.iter().map(url).collect()
        };
        let jobs = &backlog.queues["a.example"];
        assert_eq!(urls(&jobs.listed), ["https://a.example/1"]);
        assert_eq!(urls(&jobs.archive), ["https://a.example/new", "https://a.example/old"]);
        assert_eq!(backlog.archive_left, 1);
    }

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
    fn of_entries_with_equal_urls_one_is_pending() {
        let (_folder, pipeline) = home();
        let urls = ["https://a.example/caf%c3%a9", "https://a.example/caf%C3%A9", "https://a.example/%7Eada"];
        plan_entries(pipeline.home(), &urls);
        let stage = Fetch { dry_run: true, ..Fetch::default() };
        assert_eq!(pipeline.run(&stage).unwrap().to_string(), "would fetch 2 pages from 1 host\n");
    }

    #[test]
    fn finished_and_removed_entries_are_not_pending() {
        let (_folder, pipeline) = home();
        let urls =
            ["https://a.example/ok", "https://a.example/404", "https://a.example/timeout", "https://b.example/new"];
        plan_entries(pipeline.home(), &urls);
        let mut batch = JournalBatch::default();
        for (url, status) in urls.iter().zip(["ok", "404", "timeout"]) {
            batch.push(&Record::Outcome { url: (*url).into(), status: status.into(), retries: 1, failure: None });
        }
        apply(pipeline.home(), "20260301T120000000Z-fetch", batch);
        let mut removed = Removed::default();
        removed.add(Tombstone { kind: RemovedKind::Host, what: "b.example".into(), ..Tombstone::default() });
        removed.write(pipeline.home()).unwrap();
        let backlog = backlog(&context(&pipeline), None).unwrap();
        assert_eq!((backlog.entries, backlog.rows.len()), (4, 1));
        assert!(backlog.rows.line(0).unwrap().contains("https://a.example/timeout"));
        assert_eq!(backlog.queues.keys().collect::<Vec<_>>(), ["a.example"]);
    }

    #[test]
    fn entries_wait_for_their_next_attempt_and_are_given_up_after_days() {
        let (_folder, pipeline) = home();
        let urls = ["https://a.example/recent", "https://a.example/failing", "https://a.example/new"];
        plan_entries(pipeline.home(), &urls);
        for (run, at) in [("1", "2026-03-01T00:00:00Z"), ("2", "2026-03-05T00:00:00Z")] {
            let mut batch = JournalBatch::default();
            let failing: &[&str] = if run == "1" { &urls[1..2] } else { &urls[..2] };
            for url in failing {
                let failure = Some(Failure { at: at.into(), detail: "test".into() });
                batch.push(&Record::Outcome { url: (*url).into(), status: "500".into(), retries: 3, failure });
            }
            apply(pipeline.home(), run, batch);
        }
        let mut context = context(&pipeline);
        context.started = "2026-03-05T00:10:00Z".parse().unwrap();
        let found = backlog(&context, None).unwrap();
        assert_eq!((found.rows.len(), found.waiting, found.given_up), (1, 1, 1));
        assert_eq!(found.next_attempt, Some("2026-03-05T00:15:00Z".parse().unwrap()));
        context.started = "2026-03-05T00:15:00Z".parse().unwrap();
        assert_eq!(backlog(&context, None).unwrap().rows.len(), 2);
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
