//! Backfill: the old articles of a site, beside its feed.
//!
//! A feed lists the newest articles; a backfill finds the others by sitemaps, pages of months and days, and lists with
//! several pages, and adds them to the plan as entries of `archive:SITE`. `fetch` downloads them after the entries of
//! feeds. Requests go through the same crawler as all others: robots.txt, pauses, request log. The state is on disk
//! after each round, so that a backfill can be interrupted at any time.

mod article;
mod planner;
mod processor;
pub mod recall;
mod sequence;
mod site;

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex};

use anyhow::{Result, bail};
use jiff::tz::TimeZone;
use serde::Serialize;
use tidings_feeds::discover::in_robots;
use tidings_fetch::{CrawlKind, FetchJob, JobSource};
use tidings_store::archive::{self, Backfill, BackfillOrder, ListingState};
use tidings_store::{rfc3339, rules};

use crate::Pipeline;
use crate::context::RunContext;
use crate::display::{count, grouped, span_s};
use crate::ingest::{self, Counters, CrawlWork};
use crate::outcome::{Outcome, Status};
use planner::{ListingResult, Planner};
use processor::{ListingJob, ListingProcessor, ListingWork, SiteRules};
use recall::{MonthFigures, SiteFigures};
pub use site::DateRange;

/// The most listings of a site in one round.
const ROUND: usize = 32;
/// Months that are shown of each site.
const SHOWN_MONTHS: usize = 12;

/// Options of a backfill.
#[derive(Debug, Clone, Default)]
pub struct ArchiveOptions {
    /// Sites; empty: those of all feeds in the list.
    pub sites: Vec<String>,
    /// The days of the history.
    pub range: DateRange,
    /// The most requests for listings in this run.
    pub max_requests: Option<u64>,
    /// Read listings again that were read before.
    pub again: bool,
    /// Only list what would be asked for first.
    pub dry_run: bool,
    /// Seed of the order of requests; random if absent.
    pub seed: Option<u64>,
}

/// The outcome for one site.
#[derive(Debug, Clone, Default, Serialize)]
pub struct SiteOutcome {
    /// Figures of the backfill so far.
    #[serde(flatten)]
    pub figures: SiteFigures,
    /// Articles that this run found first.
    pub new: u64,
    /// Listings that wait.
    pub waiting: u64,
    /// Of these, listings whose host did not answer.
    pub postponed: u64,
    /// Listings that could not be read.
    pub failed: u64,
    /// Why nothing is left to read, or empty.
    pub ended: String,
    /// The listings to be asked for first, in a dry run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub next: Vec<String>,
}

/// The outcome of a backfill.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ArchiveOutcome {
    /// Whether all that could be done was done.
    pub done: bool,
    /// Sites.
    pub sites: Vec<SiteOutcome>,
    /// Requests that were sent, robots.txt included.
    pub requests: u64,
    /// Bytes that were received.
    pub bytes: u64,
    /// Rounds of requests.
    pub rounds: u64,
    /// Articles that are new in the plan.
    pub added: u64,
    /// Duration in seconds.
    pub seconds: f64,
    #[serde(skip)]
    ending: String,
    #[serde(skip)]
    dry_run: bool,
}

impl Outcome for ArchiveOutcome {
    fn status(&self) -> Status {
        let is_unreached = |site: &SiteOutcome| site.figures.found == 0 && site.postponed > 0;
        match self.done {
            false => Status::NotDone,
            true if !self.dry_run && self.sites.iter().any(is_unreached) => Status::Partly,
            true => Status::Done,
        }
    }
}

impl fmt::Display for ArchiveOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for site in &self.sites {
            site.fmt_site(f)?;
        }
        if self.dry_run {
            return Ok(());
        }
        let (articles, requests) = (count(self.added, "article"), count(self.requests, "request"));
        writeln!(f, "{articles} added to the plan with {requests}{}, {}", self.ending, span_s(self.seconds))
    }
}

impl SiteOutcome {
    fn fmt_site(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let figures = &self.figures;
        if !self.next.is_empty() {
            writeln!(f, "{}: would ask for", figures.site)?;
            return self.next.iter().try_for_each(|url| writeln!(f, "  {url}"));
        }
        let fetched = format!("{} fetched, {}", grouped(figures.fetched), count(figures.documents, "document"));
        let found = count(figures.found, "article");
        writeln!(f, "{}: {found} found ({} new), {fetched}; recall {}", figures.site, self.new, figures.recall)?;
        let has_figures = |month: &&MonthFigures| month.found > 0 || month.recall.known > 0;
        for month in figures.months.iter().filter(has_figures).take(SHOWN_MONTHS) {
            let recall = month.recall.share.map_or(String::new(), |_| format!("; recall {}", month.recall));
            writeln!(f, "  {}  {} found, {} fetched{recall}", month.month, month.found, month.fetched)?;
        }
        if figures.months.len() > SHOWN_MONTHS {
            writeln!(f, "  … and {} earlier months", figures.months.len() - SHOWN_MONTHS)?;
        }
        match (self.ended.as_str(), self.waiting) {
            ("", 0) => Ok(()),
            ("", waiting) if self.postponed == waiting => writeln!(
                f,
                "  {} left: the host did not answer; `tidings why {}` has the reason, and a later run asks again",
                count(waiting, "listing"),
                figures.site.split(':').next().unwrap_or_default(),
            ),
            ("", waiting) => writeln!(f, "  {} left; the same command continues", count(waiting, "listing")),
            (ended, _) => writeln!(f, "  ended: {ended}"),
        }
    }
}

/// Runs the backfill of some sites until their sources are dry, or time or requests are used up.
pub fn run(pipeline: &Pipeline, options: &ArchiveOptions) -> Result<ArchiveOutcome> {
    if !pipeline.shard().is_whole() {
        bail!("a backfill keeps pauses between requests and is not divided; run it without --shard");
    }
    if let DateRange { since: Some(since), until: Some(until) } = options.range
        && since > until
    {
        bail!("the history would begin on {since}, after its end on {until}; exchange --since and --until");
    }
    let mut context = RunContext::open(pipeline, "crawl")?;
    context.time_limit = context.time_limit.or_else(|| context.config.fetch.time_limit());
    pipeline.cancel_token().set_grace(None);
    let mut planners = planners(&context, options)?;
    let mut spent = Spent::default();
    if options.dry_run {
        return dry_run(&context, planners);
    }
    let mut new: HashMap<String, u64> = HashMap::new();
    while !context.is_over() && !context.cancel.is_cancelled() && !spent.offline {
        let left = options.max_requests.map_or(u64::MAX, |most| most.saturating_sub(spent.requests));
        let jobs = choose(&context, &mut planners, left)?;
        if jobs.is_empty() {
            break;
        }
        round(&context, &mut planners, jobs, options.seed, &mut spent, &mut new)?;
    }
    // Sites that end without a request are written too.
    for planner in &mut planners {
        archive::write(&context.home, &mut planner.backfill)?;
    }
    outcome(&context, &mut planners, &spent, &new)
}

/// What a run used.
#[derive(Debug, Default)]
struct Spent {
    requests: u64,
    bytes: u64,
    rounds: u64,
    added: u64,
    offline: bool,
}

/// The backfills of the sites, continued or new.
fn planners(context: &RunContext, options: &ArchiveOptions) -> Result<Vec<Planner>> {
    let mut sites = site::select(&context.home, &options.sites)?;
    if sites.is_empty() {
        bail!("no site to read the archive of: {} has no feeds; name sites", context.home.feed_list().display());
    }
    let mut known = site::knowledge(&context.home, &mut sites, options.range)?;
    let today = context.started.to_zoned(TimeZone::UTC).date();
    let text = |day: Option<jiff::civil::Date>| day.map(|day| day.to_string()).unwrap_or_default();
    let (since, until) = (text(options.range.since), text(options.range.until));
    sites
        .into_iter()
        .map(|site| {
            let mut backfill = archive::read(&context.home, &site.name)?.unwrap_or_else(|| Backfill {
                order: BackfillOrder {
                    site: site.name.clone(),
                    origin: site.origin.clone(),
                    since: since.clone(),
                    until: until.clone(),
                    started: rfc3339(context.started),
                    ..BackfillOrder::default()
                },
                ..Backfill::default()
            });
            // Another range may need entries of listings that were left out before.
            let is_other = (&backfill.order.since, &backfill.order.until) != (&since, &until);
            if options.again || is_other {
                backfill.listings.clear();
                (backfill.order.ended, backfill.order.requests) = (String::new(), 0);
                (backfill.order.since, backfill.order.until) = (since.clone(), until.clone());
            }
            let known = known.remove(&site.name).unwrap_or_default();
            Ok(Planner::new(backfill, Arc::new(known.rule), options.range, known.sample, today))
        })
        .collect()
}

/// The sitemaps that robots.txt of each site names, for sites whose robots.txt is known.
fn robots_maps(context: &RunContext, planners: &[Planner]) -> Result<HashMap<String, Vec<String>>> {
    let mut named = HashMap::new();
    let is_asked = |origin: &str| planners.iter().any(|planner| planner.backfill.order.origin == origin);
    let wanted = |answer: &rules::RulesAnswer| answer.kind == "robots" && is_asked(&answer.origin);
    rules::read(&context.home, wanted, |answer| {
        let maps = in_robots(answer.body.as_deref().unwrap_or_default(), &answer.origin);
        named.insert(answer.origin, maps);
    })?;
    Ok(named)
}

/// The listings of the next round, at most `left`.
fn choose(context: &RunContext, planners: &mut [Planner], left: u64) -> Result<Vec<ListingJob>> {
    let robots = robots_maps(context, planners)?;
    let mut jobs = Vec::new();
    let left = usize::try_from(left).unwrap_or(usize::MAX);
    let share = (left / planners.len().max(1)).max(1);
    for (site, planner) in planners.iter_mut().enumerate() {
        let room = left.saturating_sub(jobs.len()).min(share).min(ROUND);
        if room == 0 {
            break;
        }
        let maps = robots.get(&planner.backfill.order.origin).map(Vec::as_slice);
        for at in planner.next(maps, room) {
            let listing = &planner.backfill.listings[at];
            jobs.push(ListingJob { site, listing: at, url: listing.url.clone(), source: listing.source });
        }
    }
    Ok(jobs)
}

/// A round in the run log.
#[derive(Serialize)]
struct RoundSummary<'a> {
    done: bool,
    run: &'a str,
    round: u64,
    listings: usize,
    answers: &'a Counters,
    added: u64,
    requests: u64,
    bytes: u64,
}

/// Asks for listings, adds their articles to the plan, and writes the state of the sites.
fn round(
    context: &RunContext,
    planners: &mut [Planner],
    jobs: Vec<ListingJob>,
    seed: Option<u64>,
    spent: &mut Spent,
    new: &mut HashMap<String, u64>,
) -> Result<()> {
    let follow_up = if spent.rounds > 0 { Some(context.follow_up("crawl")?) } else { None };
    let context = follow_up.as_ref().unwrap_or(context);
    let sites = planners.iter().map(site_rules).collect();
    let today = context.started.to_zoned(TimeZone::UTC).date();
    let work = Arc::new(ListingWork { jobs, sites, today, results: Mutex::default() });
    let mut log = context.log();
    let ingested = ask(context, &mut log, &work, seed)?;
    let applied = context.apply_journal()?.unwrap_or_default();
    spent.rounds += 1;
    spent.requests += ingested.requests;
    spent.bytes += ingested.bytes;
    spent.added += applied.added;
    spent.offline |= ingested.offline;
    log.finish(&RoundSummary {
        done: !ingested.offline,
        run: &context.run,
        round: spent.rounds,
        listings: work.jobs.len(),
        answers: &ingested.counters,
        added: applied.added,
        requests: ingested.requests,
        bytes: ingested.bytes,
    })?;
    let mut results = std::mem::take(&mut *work.results.lock().expect("no panic while held"));
    // In the order of the jobs, so that the state does not depend on the order of answers.
    results.sort_by_key(|(job, _)| *job);
    let now = rfc3339(tidings_model::clock::now());
    let mut asked: BTreeMap<usize, u64> = BTreeMap::new();
    for (job, result) in results {
        let ListingJob { site, listing, .. } = work.jobs[job as usize];
        let is_network_down = ingested.offline && matches!(result, ListingResult::Postponed(_));
        if !is_network_down {
            let before = planners[site].backfill.found.len();
            planners[site].record(listing, result, &now);
            let found = planners[site].backfill.found.len() - before;
            *new.entry(planners[site].backfill.order.site.clone()).or_default() += found as u64;
        }
        *asked.entry(site).or_default() += 1;
    }
    // Robots.txt and redirects are shared out by the listings of each site.
    let listings: u64 = asked.values().sum();
    for (site, number) in asked {
        let order = &mut planners[site].backfill.order;
        order.requests += (ingested.requests * number).div_ceil(listings.max(1));
        order.updated.clone_from(&now);
        archive::write(&context.home, &mut planners[site].backfill)?;
    }
    Ok(())
}

fn site_rules(planner: &Planner) -> SiteRules {
    SiteRules {
        name: planner.backfill.order.site.clone(),
        origin: planner.backfill.order.origin.clone(),
        rule: planner.rule().clone(),
        range: planner.range(),
    }
}

/// Sends the requests of a round.
fn ask(
    context: &RunContext,
    log: &mut crate::context::StageLog<'_>,
    work: &Arc<ListingWork>,
    seed: Option<u64>,
) -> Result<ingest::Ingested> {
    let mut settings = context.config.fetch.for_probes(crate::stage::seed(seed))?;
    settings.max_body_bytes = settings.max_body_bytes.max(tidings_feeds::sitemap::MAX_BYTES);
    let ceiling = settings.ceiling();
    let urls = work.jobs.iter().map(|job| job.url.as_str());
    let crawl = CrawlWork::of_urls(context, CrawlKind::Probe, settings, urls, ListingJobs(work.clone()))?;
    ingest::run(context, log, crawl, || ListingProcessor::new(work.clone(), ceiling))
}

struct ListingJobs(Arc<ListingWork>);

impl JobSource for ListingJobs {
    fn job(&mut self, job: u32) -> Result<FetchJob, Box<dyn std::error::Error + Send + Sync>> {
        Ok(FetchJob { url: self.0.jobs[job as usize].url.clone(), headers: Vec::new() })
    }
}

/// The first requests of each site, without sending them.
fn dry_run(context: &RunContext, mut planners: Vec<Planner>) -> Result<ArchiveOutcome> {
    let jobs = choose(context, &mut planners, u64::MAX)?;
    let sites = planners.iter().enumerate().map(|(number, planner)| {
        let next: Vec<String> = jobs.iter().filter(|job| job.site == number).map(|job| job.url.clone()).collect();
        let figures = SiteFigures { site: planner.backfill.order.site.clone(), ..SiteFigures::default() };
        SiteOutcome {
            figures,
            waiting: planner.waiting(),
            ended: planner.backfill.order.ended.clone(),
            next,
            ..SiteOutcome::default()
        }
    });
    let sites = sites.collect();
    Ok(ArchiveOutcome { done: true, sites, seconds: context.seconds(), dry_run: true, ..ArchiveOutcome::default() })
}

fn outcome(
    context: &RunContext,
    planners: &mut [Planner],
    spent: &Spent,
    new: &HashMap<String, u64>,
) -> Result<ArchiveOutcome> {
    let mut figures: HashMap<String, SiteFigures> =
        recall::figures(&context.home)?.into_iter().map(|figures| (figures.site.clone(), figures)).collect();
    for planner in planners.iter_mut() {
        let order = &mut planner.backfill.order;
        if let Some(figures) = figures.get(&order.site) {
            (order.known, order.found_too) = (figures.recall.known, figures.recall.found_too);
            archive::write_order(&context.home, order)?;
        }
    }
    let sites: Vec<SiteOutcome> = planners
        .iter()
        .map(|planner| {
            let order = &planner.backfill.order;
            let is_failed = |state| state == ListingState::Failed;
            SiteOutcome {
                figures: figures.remove(&order.site).unwrap_or_default(),
                new: new.get(&order.site).copied().unwrap_or(0),
                waiting: planner.waiting(),
                postponed: planner.postponed(),
                failed: planner.backfill.listings.iter().filter(|listing| is_failed(listing.state)).count() as u64,
                ended: order.ended.clone(),
                next: Vec::new(),
            }
        })
        .collect();
    let ending = context.ending(sites.iter().map(|site| site.waiting).sum());
    let (text, done) = match spent.offline {
        true => ("; no host answered at all, so the network seems to be down".to_owned(), false),
        false => (ending.text("listing"), ending.is_done()),
    };
    Ok(ArchiveOutcome {
        done,
        added: spent.added,
        sites,
        requests: spent.requests,
        bytes: spent.bytes,
        rounds: spent.rounds,
        seconds: context.seconds(),
        ending: text,
        dry_run: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::home;

    #[test]
    fn a_history_that_ends_before_it_begins_is_an_error() {
        let (_folder, pipeline) = home();
        let day = |text: &str| text.parse().ok();
        let range = DateRange { since: day("2021-01-01"), until: day("2019-12-31") };
        let options = ArchiveOptions { sites: vec!["a.example".into()], range, ..ArchiveOptions::default() };
        let error = run(&pipeline, &options).unwrap_err().to_string();
        assert!(error.contains("2021-01-01, after its end on 2019-12-31"), "{error}");
    }

    #[test]
    fn a_site_that_did_not_answer_is_told_from_one_with_listings_left() {
        let figures = SiteFigures { site: "a.example:8080".into(), ..SiteFigures::default() };
        let site =
            |waiting, postponed| SiteOutcome { figures: figures.clone(), waiting, postponed, ..Default::default() };
        let outcome = |site| ArchiveOutcome { sites: vec![site], ..ArchiveOutcome::default() }.to_string();
        assert!(outcome(site(1, 1)).contains("1 listing left: the host did not answer; `tidings why a.example`"));
        assert!(outcome(site(3, 1)).contains("3 listings left; the same command continues"));
    }
}
