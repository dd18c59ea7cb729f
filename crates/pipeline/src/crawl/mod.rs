//! Crawls that follow links: sites without feeds, and text-rich parts of the web.
//!
//! ```text
//!  engine (scheduler, seen-set, waiting URLs) ──queues──▶ crawler ──results──▶ processors ──▶ committer ─┐
//!     ▲                                                                                                 │
//!     └────────────────────────────── reports of durable pages ─────────────────────────────────────────┘
//! ```
//!
//! Kept pages are stored with `feed = "crawl:NAME"` beside those of feeds, so that all later stages treat them alike. The
//! state of a crawl is in `crawl/NAME/` ([`tidings_crawl::CrawlState`]).

mod addresses;
mod engine;
mod exchange;
mod finds;
mod follow;
mod order;
mod processor;
mod seeds;
pub(crate) mod sharding;
mod sitemaps;
mod topic;
mod view;

use std::cell::Cell;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tidings_crawl::CrawlState;
pub use tidings_crawl::CrawlSummary;
use tidings_crawl::steward::{End, Settings};
use tidings_crawl::tables::PageCounts;
use tidings_fetch::CrawlKind;
use tidings_store::Home;
use tidings_store::pages::{Archivist, PageWriter};
use tidings_store::removed::Removed;

use crate::config::Config;
use crate::context::{RunContext, StageLog};
use crate::discover;
use crate::display::{count, grouped, span_s};
use crate::ingest::host_memory::{HostMemory, remembered_rules, require_contact};
use crate::ingest::{self, Counters, CrawlWork, JobFeeder};
use crate::outcome::{Outcome, Status};
use crate::pipeline::Pipeline;
use crate::shard::Shard;

use addresses::Addresses;
pub use engine::Budget;
use engine::{Channels, Crawled, Engine, EngineSetup};
use exchange::inboxes;
pub(crate) use finds::{Finds, FoundSource};
pub use order::{Order, Scope};
use processor::{CrawlJobs, CrawlProcessor, ProcessorSettings};
pub use seeds::{SeedSource, seeds};
use sharding::{Division, ShardMap};
use topic::Topic;
pub use topic::terms as topic_terms;
use view::reasons;
pub use view::{DomainTrace, domain_trace, summaries};
pub(crate) use view::{lines, summary_text};

/// The most hosts that have a request in flight or wait for an address.
const MAX_HOSTS: usize = 20_000;
/// Stored policies of hosts that are read at the start.
const MAX_REMEMBERED: usize = 20_000;

/// The parameters of a crawl.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Its name; several crawls may be in one home.
    pub name: String,
    /// Sites, URLs and files of them; none to go on.
    pub seeds: Vec<String>,
    /// Lists of further seeds.
    pub from: Vec<SeedSource>,
    /// The part of the web that it may enter; unchanged if absent.
    pub scope: Option<Scope>,
    /// Languages whose text counts; unchanged if empty.
    pub languages: Vec<String>,
    /// Top-level domains where they are expected.
    pub tld: Vec<String>,
    /// Terms of a topic, or files of them; unchanged if empty.
    pub topic: Vec<String>,
    /// Budgets of this run.
    pub budget: Budget,
    /// Only show what would be asked for first.
    pub dry_run: bool,
    /// Seed of the random draws.
    pub seed: Option<u64>,
    /// The part of the crawl on this machine; as before if absent.
    pub shard: Option<Shard>,
    /// Folders with links that other shards found, besides `crawl/NAME/inbox/`.
    pub inboxes: Vec<PathBuf>,
}

/// The outcome of a crawl.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CrawlOutcome {
    /// Whether it ended by its budget or because nothing is left.
    pub done: bool,
    /// The name of the run.
    pub run: String,
    /// The name of the crawl.
    pub name: String,
    /// The reason of the end.
    pub end: Option<End>,
    /// Pages that were stored.
    pub kept: u64,
    /// Pages that were not stored, with the reason in `crawl/NAME/refused/`.
    pub refused: u64,
    /// URLs that gave no page.
    pub failed: u64,
    /// URLs that led to another shard.
    pub moved: u64,
    /// Responses by status.
    pub statuses: Counters,
    /// New words in the wanted languages.
    pub tokens: u64,
    /// Registered domains that were met so far.
    pub domains: u64,
    /// URLs that were met so far.
    pub seen: u64,
    /// URLs that wait.
    pub waiting: u64,
    /// Whether all that is left waits for hosts that did not answer.
    pub unreachable: bool,
    /// Requests that were sent, policy files included.
    pub requests: u64,
    /// Bytes that were received.
    pub bytes: u64,
    /// Duration in seconds.
    pub seconds: f64,
    /// With a dry run: URLs that would be asked for first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub next: Vec<String>,
    #[serde(skip)]
    text: String,
}

impl Outcome for CrawlOutcome {
    fn status(&self) -> Status {
        match (self.done, self.unreachable) {
            (false, _) => Status::NotDone,
            (true, true) => Status::Partly,
            (true, false) => Status::Done,
        }
    }
}

impl fmt::Display for CrawlOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Crawls until a budget is spent, nothing is left that is worth a request, or the run is stopped.
pub fn run(pipeline: &Pipeline, options: &Options) -> Result<CrawlOutcome> {
    check_name(&options.name)?;
    check_languages(&options.languages)?;
    pipeline.config().crawl.rule()?;
    let named = seeds(&options.seeds)?;
    let topic = topic_terms(&options.topic)?;
    let context = RunContext::open(pipeline, "crawl")?;
    let mut all = named;
    for source in &options.from {
        let found = source.read(&context.home)?;
        if found.is_empty() {
            bail!("{source} has no seeds");
        }
        all.extend(found);
    }
    let mut log = context.log();
    let outcome = run_in(&context, &mut log, &Options { topic, ..options.clone() }, all)?;
    log.finish(&outcome)?;
    grow(&context, outcome.kept)?;
    Ok(outcome)
}

/// A crawl within a run: the terms of its topic and its seeds are read already.
pub(crate) fn run_in(
    context: &RunContext,
    log: &mut StageLog<'_>,
    options: &Options,
    mut seeds: Vec<String>,
) -> Result<CrawlOutcome> {
    let folder = context.home.crawl(&options.name);
    let mut order = Order::read(&folder)?;
    let ended = PageCounts::read(&folder)?.ended;
    let is_seeded = ended.is_some_and(|ended| ended.seeds == order.seeds.len());
    seeds.retain(|seed| !order.seeds.contains(seed));
    if order.seeds.is_empty() && seeds.is_empty() && !CrawlState::exists(&folder) {
        let others = context.home.crawls()?;
        let known = if others.is_empty() { String::new() } else { format!(" (there is {})", others.join(", ")) };
        bail!(
            "the crawl `{}` does not exist yet{known}: give it seeds, such as `tidings crawl example.org`",
            options.name
        );
    }
    let new_seeds = seeds.len();
    if !is_seeded {
        // A run that crashed may have noted seeds without asking for them.
        seeds.extend(order.seeds.iter().cloned());
    }
    order.seeds.extend(seeds.iter().cloned());
    order.scope = options.scope.unwrap_or(order.scope);
    order.set_shard(options.shard, CrawlState::exists(&folder))?;
    for (kept, given) in
        [(&mut order.languages, &options.languages), (&mut order.tld, &options.tld), (&mut order.topic, &options.topic)]
    {
        if !given.is_empty() {
            kept.clone_from(given);
        }
    }
    let config = &context.config;
    if order.languages.is_empty() {
        order.languages.clone_from(&config.crawl.languages);
    }
    if options.dry_run {
        return preview(context, options, order, &seeds[..new_seeds]);
    }
    let seed_hosts = order.seeds.iter().filter_map(|seed| tidings_model::address::host(seed));
    require_contact(config, &context.home, seed_hosts)?;
    order.write(&folder)?;
    crawl(context, log, options, order, &seeds)
}

/// The seeds in the file of `crawl.seeds`, for the crawls of rounds.
pub(crate) fn round_seeds(home: &Home, config: &Config) -> Result<Vec<String>> {
    match config.crawl.seeds.as_str() {
        "" => Ok(Vec::new()),
        file => SeedSource::File(home.root().join(file)).read(home).context("setting crawl.seeds"),
    }
}

/// Whether a crawl of rounds may find something to ask for. Reads its order and a small table.
pub(crate) fn is_due(home: &Home, name: &str, seeds: &[String], now: Timestamp) -> Result<bool> {
    let folder = home.crawl(name);
    let order = Order::read(&folder)?;
    if seeds.iter().any(|seed| !order.seeds.contains(seed)) {
        return Ok(true);
    }
    if order.seeds.is_empty() && !CrawlState::exists(&folder) {
        bail!(
            "the crawl `{name}` of crawl.names does not exist; begin it with `tidings crawl --name {name} SITE`, or \
             name a file of sites in crawl.seeds"
        );
    }
    Ok(PageCounts::read(&folder)?.is_due(order.seeds.len(), now))
}

/// Adds the feeds that stored pages link to to the candidates, if there are new pages.
pub(crate) fn grow(context: &RunContext, new_pages: u64) -> Result<()> {
    if context.config.crawl.grow && new_pages > 0 && !context.cancel.is_cancelled() {
        discover::gather_pages(&context.follow_up("discover")?)?;
    }
    Ok(())
}

/// Checks the name of a crawl, which is that of its folder.
pub(crate) fn check_name(name: &str) -> Result<()> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    match !name.is_empty() && name.len() <= 40 && name.bytes().all(is_plain) {
        true => Ok(()),
        false => bail!("`{name}` cannot be the name of a crawl; use letters, digits, - and _"),
    }
}

/// Text in an unknown language would never count.
fn check_languages(languages: &[String]) -> Result<()> {
    match languages.iter().find(|code| tidings_lang::language(code).is_none()) {
        Some(code) => bail!("the language `{code}` is unknown; give a code such as `de`"),
        None => Ok(()),
    }
}

/// The crawl sends no more requests some time before it is cut off, so that those in flight are not wasted.
fn before_the_limit(time: Duration) -> Duration {
    time.saturating_sub((time / 10).min(Duration::from_secs(5)))
}

/// The time in which requests are sent: that of the run, or a share of it.
fn time_budget(context: &RunContext, options: &Options) -> Option<Duration> {
    let left = context.time_left().map(before_the_limit);
    match (options.budget.time, left) {
        (Some(own), Some(left)) => Some(own.min(left)),
        (own, left) => own.or(left),
    }
}

/// The settings of the crawler.
fn fetch_settings(context: &RunContext, options: &Options) -> Result<tidings_fetch::Settings> {
    let mut settings = context.config.fetch.for_pages(crate::stage::seed(options.seed))?;
    settings.delay = Duration::from_secs_f64(context.config.crawl.host_delay_s);
    Ok(settings)
}

fn setup(context: &RunContext, options: &Options, order: Order, removed: Arc<Removed>) -> Result<EngineSetup> {
    let config = &context.config;
    let fetch = fetch_settings(context, options)?;
    let settings = Settings {
        rule: config.crawl.rule()?,
        floor: config.crawl.floor,
        largest_share: config.crawl.largest_share,
        seed: crate::stage::seed(options.seed),
        max_pages_per_site_day: config.crawl.max_pages_per_site_day,
        ..Settings::default()
    };
    let shard = order.shard()?;
    let folder = context.home.crawl(&options.name);
    Ok(EngineSetup {
        shard,
        shards: shard.map(|shard| Arc::new(ShardMap::new(Division::Even { shard }, fetch.shared_networks.clone()))),
        inboxes: if shard.is_some() { inboxes(&folder, &options.inboxes) } else { Vec::new() },
        folder,
        order,
        removed,
        settings,
        budget: Budget { time: time_budget(context, options), ..options.budget },
        addresses: Addresses::new(fetch.ip_delay.min(fetch.delay), fetch.shared_networks.clone()),
        host_delay: Duration::from_secs_f64(config.crawl.host_delay_s),
        max_in_flight: (config.fetch.concurrency * 2).min(MAX_HOSTS),
        cancel: context.cancel.clone(),
    })
}

/// Shows what would be asked for first: new seeds, then the URLs of an existing crawl. Nothing of it is stored.
fn preview(context: &RunContext, options: &Options, order: Order, seeds: &[String]) -> Result<CrawlOutcome> {
    const SHOWN: usize = 20;
    let mut next: Vec<String> = seeds.iter().take(SHOWN).cloned().collect();
    if CrawlState::exists(&context.home.crawl(&options.name)) {
        let removed = Arc::new(Removed::read(&context.home)?);
        let mut engine = Engine::open(setup(context, options, order, removed)?, &[])?;
        next.extend(engine.preview(SHOWN - next.len())?);
    }
    let text = match next.is_empty() {
        true => "nothing would be requested\n".to_owned(),
        false => format!("would request first:\n{}\n", next.join("\n")),
    };
    Ok(CrawlOutcome { done: true, name: options.name.clone(), next, text, ..CrawlOutcome::default() })
}

fn crawl(
    context: &RunContext,
    log: &mut StageLog<'_>,
    options: &Options,
    order: Order,
    seeds: &[String],
) -> Result<CrawlOutcome> {
    let config = &context.config;
    let removed = Arc::new(Removed::read(&context.home)?);
    let engine = Engine::open(setup(context, options, order.clone(), removed.clone())?, seeds)?;
    let mut settings = fetch_settings(context, options)?;
    settings.partition = engine.partition();
    let memory = HostMemory::load(context, CrawlKind::Page, |_| false)?;
    let all_hosts_idle_for = memory.all_hosts_idle_for;
    let read = Cell::new(0);
    let remembered = remembered_rules(context, |_| read.replace(read.get() + 1) < MAX_REMEMBERED)?;
    let jobs = Arc::new(Mutex::default());
    let archivist = Archivist {
        software: format!("Tidings/{}", env!("CARGO_PKG_VERSION")),
        operator: config.fetch.contact.clone(),
    };
    let finds: Arc<Mutex<Finds>> = Arc::default();
    let processing = ProcessorSettings {
        feed: format!("{}{}", tidings_model::CRAWL, options.name),
        topic: Arc::new(Topic::of(&order.topic)),
        order: Arc::new(order),
        keep: config.crawl.keep,
        options: Arc::new((config.clean.options(), config.postprocess_options())),
        removed,
        ceiling: settings.ceiling(),
        compression: config.store.compression,
        warc: config.fetch.warc,
        finds: config.crawl.grow.then(|| Arc::clone(&finds)),
    };
    let work = CrawlWork {
        kind: CrawlKind::Page,
        settings,
        queues: memory.queues([]),
        all_hosts_idle_for,
        remembered,
        source: CrawlJobs(Arc::clone(&jobs)),
        page_writer: PageWriter::open(&context.home, &context.run, config.fetch.warc.then_some(archivist)),
    };
    let (queues, arriving) = tokio::sync::mpsc::unbounded_channel();
    let (reporting, reports) = std::sync::mpsc::channel();
    let channel_jobs = Arc::clone(&jobs);
    let feeder = JobFeeder {
        arriving,
        work: Box::new(move |commits, stats| {
            engine.run(Channels { queues: Some(queues), reports, jobs: channel_jobs, commits, stats })
        }),
    };
    let make_processor = move || CrawlProcessor::new(processing.clone(), Arc::clone(&jobs), reporting.clone());
    let (ingested, crawled) = ingest::run_open(context, log, work, make_processor, feeder)?;
    context.apply_journal()?;
    ingest::log_given_up(&ingested);
    let crawled = crawled?;
    if config.crawl.grow {
        let finds = std::mem::take(&mut *finds.lock().expect("no panic while held"));
        discover::add_found(context, finds, &crawled.news)?;
    }
    Ok(outcome(context, options, ingested, crawled))
}

/// `1 URL waits`, `2 URLs wait`.
fn waiting_text(urls: u64) -> String {
    format!("{} {}", count(urls, "URL"), if urls == 1 { "waits" } else { "wait" })
}

fn outcome(context: &RunContext, options: &Options, ingested: ingest::Ingested, crawled: Crawled) -> CrawlOutcome {
    let ending = context.ending(0);
    let unreachable = crawled.unreachable;
    let why = match (&crawled.end, ending.is_done()) {
        (Some(_), true) if unreachable => {
            "; ended: what is left waits for hosts that did not answer; `tidings why HOST` has the reason, and a later \
             `tidings crawl` asks them again"
                .to_owned()
        }
        (Some(end), true) => format!("; ended: {end}"),
        _ => ending.after(String::new()),
    };
    let moved = if crawled.moved > 0 { format!(", {} of other shards", grouped(crawled.moved)) } else { String::new() };
    let twins = match crawled.twins {
        0 => String::new(),
        twins => format!(", {} skipped because a mirror had them", grouped(twins)),
    };
    let text = format!(
        "crawl `{}`: {} stored, {} without wanted text{}, {} failed{}{moved}{twins}; {}; {} met, {}{why}, {}\n",
        options.name,
        count(crawled.kept, "page"),
        grouped(crawled.refused),
        reasons(&crawled.counts.refused),
        grouped(crawled.failed),
        reasons(&crawled.counts.failed),
        count(crawled.tokens, "new word"),
        count(crawled.domains, "site"),
        waiting_text(crawled.waiting),
        span_s(context.seconds()),
    );
    CrawlOutcome {
        done: ending.is_done() && !ingested.offline,
        run: context.run.clone(),
        name: options.name.clone(),
        end: crawled.end,
        kept: crawled.kept,
        refused: crawled.refused,
        failed: crawled.failed,
        moved: crawled.moved,
        statuses: ingested.counters,
        tokens: crawled.tokens,
        domains: crawled.domains,
        seen: crawled.seen,
        waiting: crawled.waiting,
        unreachable,
        requests: ingested.requests,
        bytes: ingested.bytes,
        seconds: context.seconds(),
        next: Vec::new(),
        text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_crawls_are_names_of_folders() {
        assert!(check_name("web").is_ok() && check_name("tg-2026_1").is_ok());
        assert!(["", "a/b", "..", "a b"].iter().all(|name| check_name(name).is_err()));
    }

    #[test]
    fn a_crawl_without_seeds_does_not_begin() {
        let (_folder, pipeline) = crate::testing::home();
        let options = Options { name: "web".into(), ..Options::default() };
        let error = run(&pipeline, &options).unwrap_err().to_string();
        assert!(error.contains("give it seeds"), "{error}");
    }
}
