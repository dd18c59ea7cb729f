//! Recall of backfills, requests for each article, and the error of their own estimate.
//!
//! The simulated web knows all articles of its sites and logs all requests; its sites show their history in every way
//! of `HistoryAccess`. The feeds are polled for months first and bring a sample of the articles, then
//! `tidings crawl --archive` and `tidings fetch` run. Nothing is measured in time, so any build profile will do.
//!
//! ```text
//! cargo run -p bench-backfill -- --json bench/results/DATE-backfill.json
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result};
use clap::Parser;
use serde::Serialize;
use tidings_model::Fingerprint;
use tidings_pipeline::Pipeline;
use tidings_pipeline::archive::{self, ArchiveOptions};
use tidings_pipeline::stage::StageOutcome;
use tidings_pipeline::stage::fetch::Fetch;
use tidings_pipeline::stage::update::Update;
use tidings_simweb::{HistoryAccess, Host, SimWeb, Spec};

/// Bars: recall with a complete sitemap, recall by other ways, requests for an article, points of the estimate.
const MIN_RECALL_SITEMAP: f64 = 0.95;
const MIN_RECALL_OTHER: f64 = 0.80;
const MAX_REQUESTS: f64 = 1.2;
const MAX_ERROR: f64 = 0.03;

/// Measures backfills against the simulated web.
#[derive(Parser)]
struct Args {
    /// Seeds of the simulated webs
    #[arg(long, value_delimiter = ',', default_value = "1,2,3")]
    seeds: Vec<u64>,
    /// Sites of each way to show history
    #[arg(long, default_value_t = 2)]
    sites: usize,
    /// Articles of a site before the first poll
    #[arg(long, default_value_t = 500)]
    history: usize,
    /// Polls of each feed
    #[arg(long, default_value_t = 20)]
    polls: u32,
    /// Do not fetch the pages: one request for each article is assumed
    #[arg(long)]
    no_fetch: bool,
    /// Write the results to this file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// The result of a site.
#[derive(Debug, Clone, Serialize)]
struct SiteResult {
    seed: u64,
    access: &'static str,
    /// Articles that the site has published.
    articles: usize,
    /// Articles that its feed brought.
    known: u64,
    /// Share of the articles that the backfill found.
    recall: f64,
    /// The same by its own estimate.
    estimate: f64,
    /// Requests for listings, robots.txt included, by the log of the server.
    listing_requests: usize,
    /// Requests for pages that the backfill added.
    page_requests: usize,
    /// Articles that the backfill added to the plan.
    added: usize,
    ended: String,
}

/// The results of all sites with one way to show history.
#[derive(Debug, Clone, Serialize)]
struct Row {
    access: String,
    sites: usize,
    articles: usize,
    recall: f64,
    lowest_recall: f64,
    estimate: f64,
    /// Difference of the means of estimate and recall, and the largest of a site, in points.
    error_points: f64,
    largest_error_points: f64,
    requests_per_article: f64,
}

#[derive(Serialize)]
struct Results {
    benchmark: &'static str,
    seeds: Vec<u64>,
    rows: Vec<Row>,
    bars_met: bool,
    sites: Vec<SiteResult>,
}

fn main() -> Result<()> {
    let args = Args::parse();
    let mut sites = Vec::new();
    for seed in &args.seeds {
        sites.extend(run(&args, *seed)?);
    }
    let rows = rows(&sites, &args);
    println!(
        "| way | sites | articles | recall | lowest | own estimate | error, points | largest | requests per article |"
    );
    println!("| --- | --: | --: | --: | --: | --: | --: | --: | --: |");
    for row in &rows {
        println!(
            "| {} | {} | {} | {:.3} | {:.3} | {:.3} | {:.1} | {:.1} | {:.3} |",
            row.access,
            row.sites,
            row.articles,
            row.recall,
            row.lowest_recall,
            row.estimate,
            row.error_points,
            row.largest_error_points,
            row.requests_per_article
        );
    }
    let bars_met = rows.iter().all(meets_bars);
    println!("bars met: {bars_met}");
    if let Some(path) = &args.json {
        let results = Results { benchmark: "backfill", seeds: args.seeds.clone(), rows, bars_met, sites };
        let text = serde_json::to_string_pretty(&results)? + "\n";
        std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

fn meets_bars(row: &Row) -> bool {
    let way = HistoryAccess::ALL.into_iter().find(|access| access.name() == row.access);
    let least = match way {
        Some(way) if way.has_complete_sitemap() => MIN_RECALL_SITEMAP,
        // A site that shows seven of ten articles and nothing else is there for the estimate.
        Some(HistoryAccess::Partial) => 0.0,
        _ => MIN_RECALL_OTHER,
    };
    let few = row.requests_per_article <= MAX_REQUESTS;
    row.recall >= least && few && row.error_points.abs() <= MAX_ERROR * 100.0
}

/// Runs a web with one seed.
fn run(args: &Args, seed: u64) -> Result<Vec<SiteResult>> {
    let spec = Spec {
        seed,
        sites: args.sites * HistoryAccess::ALL.len(),
        items_per_feed: 20,
        history: args.history,
        publish_every: Duration::from_secs(4 * 3600),
        histories: HistoryAccess::ALL.to_vec(),
        full_text_percent: 0,
        ..Spec::default()
    };
    let web = SimWeb::start(spec)?;
    let folder = tempfile::tempdir()?;
    let pipeline = home(folder.path(), &web)?;
    let update = Update { all: true, seed: Some(seed), ..Update::default() };
    for _ in 0..args.polls {
        pipeline.run(&update)?;
        web.advance(Duration::from_secs(5 * 86_400));
    }
    pipeline.run(&update)?;
    let mut known = BTreeSet::new();
    tidings_store::plan::read(pipeline.home(), |row| {
        known.insert(row.url.to_owned());
    })?;
    web.clear_log();
    let outcome = archive::run(&pipeline, &ArchiveOptions { seed: Some(seed), ..ArchiveOptions::default() })?;
    let listings = requests_by_site(&web);
    web.clear_log();
    if !args.no_fetch {
        let StageOutcome::Fetch(fetched) = pipeline.run(&Fetch { dry_run: false, seed: Some(seed) })? else {
            anyhow::bail!("fetch has another outcome");
        };
        anyhow::ensure!(fetched.failed == 0 && fetched.left == 0, "pages failed: {fetched}");
    }
    let pages = pages_by_site(&web, &known);
    let mut results = Vec::new();
    for site in web.sites() {
        let name = format!("{}:{}", site.address(), web.port());
        let of_site = outcome.sites.iter().find(|row| row.figures.site == name).context("every site has an outcome")?;
        let found = tidings_store::archive::found(pipeline.home(), &name)?;
        let all: Vec<String> = site.articles().map(|article| article.url).collect();
        let is_found = |url: &&String| found.contains(Fingerprint::of(url));
        let hits = all.iter().filter(is_found).count();
        let added = all.iter().filter(is_found).filter(|url| !known.contains(*url)).count();
        results.push(SiteResult {
            seed,
            access: site.history().map_or("", HistoryAccess::name),
            articles: all.len(),
            known: of_site.figures.recall.known,
            recall: hits as f64 / all.len().max(1) as f64,
            estimate: of_site.figures.recall.share.unwrap_or(0.0),
            listing_requests: listings.get(&site.number()).copied().unwrap_or(0),
            page_requests: if args.no_fetch { added } else { pages.get(&site.number()).copied().unwrap_or(0) },
            added,
            ended: of_site.ended.clone(),
        });
    }
    Ok(results)
}

/// A home with the feeds of the web and without pauses.
fn home(folder: &Path, web: &SimWeb) -> Result<Pipeline> {
    let pipeline = Pipeline::create(folder)?;
    std::fs::write(pipeline.home().feed_list(), web.feeds().join("\n"))?;
    let mut config = pipeline.config().clone();
    (config.fetch.delay_s, config.fetch.feed_delay_s, config.fetch.ip_delay_s) = (0.0, 0.0, 0.0);
    config.fetch.allow_private = vec!["127.0.0.0/8".to_owned()];
    config.fetch.archive_pages = 1_000_000;
    config.store.min_free_mib = 16;
    Ok(pipeline.with_config(config))
}

/// All requests in the log. A site may answer a request for a listing with an article.
fn requests_by_site(web: &SimWeb) -> BTreeMap<usize, usize> {
    let mut sites = BTreeMap::new();
    for request in web.requests() {
        if let Host::Site(site) = request.host {
            *sites.entry(site).or_default() += 1;
        }
    }
    sites
}

/// Requests for pages that no feed had brought, and for files that pages need.
fn pages_by_site(web: &SimWeb, known: &BTreeSet<String>) -> BTreeMap<usize, usize> {
    let mut sites = BTreeMap::new();
    for request in web.requests() {
        if let Host::Site(site) = request.host
            && !known.contains(&web.site(site).url(&request.path))
        {
            *sites.entry(site).or_default() += 1;
        }
    }
    sites
}

fn rows(sites: &[SiteResult], args: &Args) -> Vec<Row> {
    let mut rows = Vec::new();
    for access in HistoryAccess::ALL {
        let of: Vec<&SiteResult> = sites.iter().filter(|site| site.access == access.name()).collect();
        let sum = |part: fn(&SiteResult) -> usize| of.iter().map(|site| part(site)).sum::<usize>();
        let mean = |part: fn(&SiteResult) -> f64| of.iter().map(|site| part(site)).sum::<f64>() / of.len() as f64;
        let requests = sum(|site| site.listing_requests) + sum(|site| site.page_requests);
        let errors = of.iter().map(|site| (site.estimate - site.recall) * 100.0);
        rows.push(Row {
            access: access.name().to_owned(),
            sites: args.sites * args.seeds.len(),
            articles: sum(|site| site.articles),
            recall: mean(|site| site.recall),
            lowest_recall: of.iter().map(|site| site.recall).fold(1.0, f64::min),
            estimate: mean(|site| site.estimate),
            error_points: (mean(|site| site.estimate) - mean(|site| site.recall)) * 100.0,
            largest_error_points: errors.map(f64::abs).fold(0.0, f64::max),
            requests_per_article: requests as f64 / sum(|site| site.added).max(1) as f64,
        });
    }
    rows
}
