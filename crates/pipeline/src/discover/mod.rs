//! Feed discovery.
//!
//! Two halves share `state/candidates.tsv`. The first gathers candidates: from URLs, stored pages, archives, lists and
//! streams of links. The second spends requests on them, the most promising first: probes find out whether they are
//! feeds, and a trial whether their articles yield documents.

mod gather;
pub mod opml;
mod probe;
mod search_outcome;
mod trial;

use std::collections::{HashMap, HashSet};
use std::fmt::{self, Write as _};
use std::path::PathBuf;

use anyhow::{Result, bail};
use serde::{Deserialize, Serialize};
use tidings_feeds::discover::{Evidence, EvidencePriors, Filter, ProbeOptions, ProbeSequence};
use tidings_feeds::discover::{is_shared, site};
use tidings_store::candidates::{self, Candidate, CandidateStatus, SiteWithoutFeed};
use tidings_store::{feeds, rfc3339};

use crate::context::RunContext;
use crate::crawl::{Finds, FoundSource};
use crate::display::count;
use crate::outcome::{Outcome, Status};
use crate::pipeline::Pipeline;
use crate::stage::seed;
pub use gather::Gathered;
use probe::{Cost, Probe};
pub use search_outcome::{FoundFeed, FoundPage, SearchOutcome};
pub use trial::{Gain, TrialOptions, TrialOutcome};

/// The task of a run.
#[derive(Debug, Clone)]
pub enum Task {
    /// Find the feeds of these addresses.
    Search(Vec<String>),
    /// Gather candidates from a source, and add common paths on the sites of those that pass the filter.
    Gather {
        /// The kind of source.
        source: CandidateSource,
        /// Files and folders.
        paths: Vec<String>,
        /// Also guess common paths.
        expand: bool,
    },
    /// Import the feeds of an OPML list as candidates.
    Opml(PathBuf),
    /// Only spend requests on candidates.
    Probe,
    /// Try confirmed candidates in a scratch home.
    Trial(TrialOptions),
}

/// Options of discovery.
#[derive(Debug, Clone)]
pub struct Options {
    /// The task.
    pub task: Task,
    /// Afterwards, spend this many requests on the best candidates.
    pub probe: Option<u64>,
    /// Add the feeds that were found to the list.
    pub add: bool,
    /// Probe sites without a feed again; read files again that were searched before.
    pub again: bool,
    /// Use only declared links and three common paths, for comparison with the FeedFetcher paper.
    pub paper_rule: bool,
    /// Seed of the order of requests; random if absent.
    pub seed: Option<u64>,
}

/// Sources of candidates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CandidateSource {
    /// Pages of this home that were not searched yet, or files of pages.
    Pages,
    /// WARC or WET files, packed or not.
    Warc,
    /// Folders of saved web pages.
    Html,
    /// Links: JSON lines or plain URLs, from files or standard input.
    Links,
}

/// The outcome of discovery: one for each step.
#[derive(Debug, Clone, Default, Serialize)]
pub struct DiscoverOutcome {
    /// Whether all steps were completed.
    pub done: bool,
    /// Candidates that were gathered.
    #[serde(flatten)]
    pub gathered: Option<Gathered>,
    /// Candidates that were read from a list.
    #[serde(flatten)]
    pub imported: Option<opml::ImportOutcome>,
    /// Feeds that were found by requests.
    #[serde(flatten)]
    pub search: Option<SearchOutcome>,
    /// The outcome of a trial.
    #[serde(flatten)]
    pub trial: Option<TrialOutcome>,
}

impl Outcome for DiscoverOutcome {
    fn status(&self) -> Status {
        if self.done { Status::Done } else { Status::NotDone }
    }
}

impl fmt::Display for DiscoverOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.gathered.iter().try_for_each(|part| part.fmt(f))?;
        self.imported.iter().try_for_each(|part| part.fmt(f))?;
        self.search.iter().try_for_each(|part| part.fmt(f))?;
        self.trial.iter().try_for_each(|part| part.fmt(f))
    }
}

/// Discovers feeds.
pub fn run(pipeline: &Pipeline, options: &Options) -> Result<DiscoverOutcome> {
    let mut context = RunContext::open(pipeline, "discover")?;
    context.time_limit = context.time_limit.or_else(|| context.config.fetch.time_limit());
    pipeline.cancel_token().set_grace(None);
    let mut outcome = DiscoverOutcome { done: true, ..DiscoverOutcome::default() };
    match &options.task {
        Task::Trial(trial) => outcome.trial = Some(trial::run(&context, pipeline, trial)?),
        Task::Gather { source, paths, expand } => {
            outcome.gathered = Some(gather::gather(&context, *source, paths, *expand, options.again)?);
        }
        Task::Opml(path) => outcome.imported = Some(opml::import(&context, path)?),
        Task::Search(addresses) if options.probe.is_none() => {
            outcome.search = Some(search(&context, addresses, options)?);
        }
        Task::Search(_) | Task::Probe => {}
    }
    if let Some(budget) = options.probe {
        let context = context.follow_up("discover")?;
        outcome.search = Some(probe_best(&context, options, budget)?);
    }
    outcome.done = outcome.search.as_ref().is_none_or(|search| !search.offline);
    Ok(outcome)
}

/// A URL without its scheme, `www.` and final slash, for comparing lists.
pub(crate) fn plain(feed: &str) -> String {
    let rest = feed.split_once("://").map_or(feed, |(_, rest)| rest);
    rest.trim_start_matches("www.").trim_end_matches('/').to_ascii_lowercase()
}

/// The feeds that the user's list has already.
fn listed(context: &RunContext) -> Result<HashSet<String>> {
    Ok(feeds::list(&context.home)?.feeds.iter().map(|feed| plain(&feed.url)).collect())
}

/// Whether a candidate may be probed. The minimum number of links applies only to feeds found in a crawl; feeds given
/// by the user or a list always pass, and a shared link starts a probe sequence.
fn fits(filter: &Filter, row: &Candidate) -> bool {
    let verdict = filter.check(&row.feed, row.seen, row.good_pages);
    match Evidence::from_name(&row.evidence).unwrap_or(Evidence::Page) {
        Evidence::Listed | Evidence::Given => true,
        Evidence::Page => verdict.err().is_none_or(|unfit| !unfit.is_final()),
        _ => verdict.is_ok(),
    }
}

fn filter(context: &RunContext) -> Filter {
    let settings = &context.config.discover;
    Filter {
        min_seen: settings.min_seen,
        min_good_pages: settings.min_good_pages,
        languages: settings.languages.clone(),
    }
}

fn sites_without_feed(context: &RunContext) -> Result<HashSet<String>> {
    let mut sites = HashSet::new();
    candidates::read_sites_without_feed(&context.home, |row| {
        sites.insert(row.site);
    })?;
    Ok(sites)
}

/// Searches the sites of addresses.
fn search(context: &RunContext, addresses: &[String], options: &Options) -> Result<SearchOutcome> {
    let probe_options = ProbeOptions {
        max_requests: context.config.discover.max_requests,
        paper_rule: options.paper_rule,
        ..ProbeOptions::default()
    };
    let sites_without_feed = sites_without_feed(context)?;
    let (mut probes, mut skipped) = (Vec::new(), Vec::new());
    for given in addresses {
        let address = if given.contains("://") { given.clone() } else { format!("http://{given}") };
        let Some(sequence) = ProbeSequence::new(&address, probe_options) else {
            bail!("`{given}` is not a valid http or https URL")
        };
        if !options.again && sites_without_feed.contains(&sequence.site()) {
            skipped.push(sequence.site());
            continue;
        }
        let candidate = Candidate {
            feed: sequence.start().to_owned(),
            site: sequence.site(),
            evidence: Evidence::Given.name().to_owned(),
            ..Candidate::default()
        };
        probes.push(Probe { sequence, candidate });
    }
    let mut search = Search::new(context)?;
    let cost =
        probe::run_probes(context, seed(options.seed), probes, None, |context, ended| search.record(context, ended))?;
    if options.add {
        search.adopt(context)?;
    }
    for site in &skipped {
        let _ = writeln!(search.text, "{site}: no feed found in an earlier search (use --again to repeat it)");
    }
    Ok(search.outcome(context, cost, skipped.len() as u64))
}

/// Spends requests on the candidates that promise most.
fn probe_best(context: &RunContext, options: &Options, budget: u64) -> Result<SearchOutcome> {
    let probes = best(context, options.again, budget)?;
    let mut search = Search::new(context)?;
    let seed = seed(options.seed);
    let cost = probe::run_probes(context, seed, probes, Some(budget), |context, ended| search.record(context, ended))?;
    if options.add {
        search.adopt(context)?;
    }
    Ok(search.outcome(context, cost, 0))
}

/// The best candidates to probe, in order, as many as the budget allows.
fn best(context: &RunContext, again: bool, budget: u64) -> Result<Vec<Probe>> {
    let filter = filter(context);
    let sites_without_feed = sites_without_feed(context)?;
    let listed = listed(context)?;
    let mut priors = EvidencePriors::default();
    let mut on_site: HashMap<String, u64> = HashMap::new();
    let mut open = Vec::new();
    candidates::read(&context.home, |row| {
        let evidence = Evidence::from_name(&row.evidence).unwrap_or(Evidence::Page);
        let is_feed =
            matches!(row.status, CandidateStatus::ProbedFeed | CandidateStatus::Trial | CandidateStatus::Promoted);
        let led_on = row.reason.starts_with("leads to") || row.reason.starts_with("moved to");
        if row.requests > 0 {
            priors.record(evidence, is_feed || led_on, row.requests);
        }
        if is_feed {
            *on_site.entry(row.site.clone()).or_default() += 1;
        }
        let asked = matches!(row.status, CandidateStatus::NotAFeed | CandidateStatus::Unreachable);
        let has_no_feed = evidence == Evidence::Page && sites_without_feed.contains(&row.site);
        let fit = fits(&filter, &row);
        let open_still = row.status == CandidateStatus::New || (asked && again && !led_on);
        if open_still && fit && (again || !has_no_feed) && !listed.contains(&plain(&row.feed)) {
            open.push((evidence, row));
        }
    })?;
    let mut ranked: Vec<(f64, Evidence, Candidate)> = open
        .into_iter()
        .map(|(evidence, row)| {
            let known = on_site.get(&row.site).copied().unwrap_or(0);
            (priors.score(evidence, row.seen, known), evidence, row)
        })
        .collect();
    // The best first; ties are broken by URL, so that the same state gives the same requests.
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.2.feed.cmp(&b.2.feed)));
    let options = ProbeOptions { max_requests: context.config.discover.max_requests, ..ProbeOptions::default() };
    let probes = ranked.into_iter().take(budget as usize).filter_map(|(_, evidence, candidate)| {
        let sequence = match evidence {
            Evidence::Page => ProbeSequence::new(&candidate.feed, options)?,
            _ => ProbeSequence::confirm(&candidate.feed, evidence, &candidate.found_on)?,
        };
        Some(Probe { sequence, candidate })
    });
    Ok(probes.collect())
}

/// Feeds that were found in the pages of a fetch.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct GrowOutcome {
    /// Pages that were searched.
    pub pages_searched: u64,
    /// Feeds that they link to.
    pub feeds_linked: u64,
    /// Feeds that were confirmed.
    pub feeds_found: u64,
    /// Requests that were sent.
    pub requests: u64,
}

impl fmt::Display for GrowOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} linked from {}, {} confirmed with {}",
            count(self.feeds_linked, "feed"),
            count(self.pages_searched, "page"),
            count(self.feeds_found, "new feed"),
            count(self.requests, "request"),
        )
    }
}

/// After a crawl: adds the links of the stored pages to the candidates, without requests.
pub(crate) fn gather_pages(context: &RunContext) -> Result<()> {
    gather::gather(context, CandidateSource::Pages, &[], false, false).map(drop)
}

/// After a crawl: adds the feeds of pages that were not stored, the news sitemaps that were read, and the pages that list
/// the articles of sites without a known feed.
pub(crate) fn add_found(context: &RunContext, finds: Finds, news: &[FoundSource]) -> Result<()> {
    let mut sources = news.to_vec();
    let mut hubs: HashMap<String, FoundSource> =
        finds.hubs().map(|(site, hub)| (site.to_owned(), hub.clone())).collect();
    gather::add(context, finds.feeds, false)?;
    for source in news {
        hubs.remove(&site(&source.url).unwrap_or_default());
    }
    candidates::read(&context.home, |row| {
        if row.evidence != Evidence::Page.name() {
            hubs.remove(&row.site);
        }
    })?;
    sources.extend(hubs.into_values());
    let listed = listed(context)?;
    let now = rfc3339(tidings_model::clock::now());
    let row = |source: FoundSource| Candidate {
        site: site(&source.url).unwrap_or_default(),
        evidence: if source.label == "kind=page" { Evidence::Page } else { Evidence::Sitemap }.name().to_owned(),
        seen: 1,
        status: CandidateStatus::ProbedFeed,
        checked: now.clone(),
        entries: source.entries,
        latest: source.latest.map(rfc3339).unwrap_or_default(),
        labels: source.label.to_owned(),
        feed: source.url,
        ..Candidate::default()
    };
    let rows = sources.into_iter().filter(|source| !listed.contains(&plain(&source.url))).map(row).collect();
    Ok(candidates::add(&context.home, rows)?)
}

/// After a fetch: adds the links of the stored pages to the candidates, and probes the best within the budget.
pub fn grow(context: &RunContext, seed: u64) -> Result<GrowOutcome> {
    let gathered = gather::gather(context, CandidateSource::Pages, &[], false, false)?;
    let budget = context.config.discover.budget_requests;
    let probes = best(context, false, budget)?;
    let mut search = Search::new(context)?;
    let cost = probe::run_probes(context, seed, probes, Some(budget), |context, ended| search.record(context, ended))?;
    Ok(GrowOutcome {
        pages_searched: gathered.pages,
        feeds_linked: gathered.links,
        feeds_found: search.feeds.len() as u64,
        requests: cost.requests,
    })
}

/// A search in progress.
struct Search {
    listed: HashSet<String>,
    languages: Vec<String>,
    feeds: Vec<Candidate>,
    pages: Vec<FoundPage>,
    searched: u64,
    without: u64,
    unreachable: u64,
    text: String,
}

impl Search {
    fn new(context: &RunContext) -> Result<Search> {
        Ok(Search {
            listed: listed(context)?,
            languages: context.config.discover.languages.clone(),
            feeds: Vec::new(),
            pages: Vec::new(),
            searched: 0,
            without: 0,
            unreachable: 0,
            text: String::new(),
        })
    }

    /// Records the results of finished probe sequences.
    fn record(&mut self, context: &RunContext, ended: Vec<Probe>) -> Result<()> {
        let now = rfc3339(tidings_model::clock::now());
        let (mut rows, mut sites): (Vec<Candidate>, Vec<SiteWithoutFeed>) = (Vec::new(), Vec::new());
        for Probe { sequence, candidate } in ended {
            self.searched += 1;
            let given = candidate.evidence == Evidence::Given.name();
            let requests = candidate.requests + sequence.requests();
            let start = Candidate { checked: now.clone(), requests, ..candidate.clone() };
            let mut first = true;
            for found in sequence.found() {
                let language = if found.feed.language.is_empty() { sequence.language() } else { &found.feed.language };
                let itself = plain(&found.url) == plain(&candidate.feed);
                let wanted = language.is_empty()
                    || self.languages.is_empty()
                    || self.languages.iter().any(|code| code == language);
                let in_list = self.listed.contains(&plain(&found.url));
                let (status, reason) = match (in_list, wanted) {
                    (true, _) => (CandidateStatus::Promoted, "already in the list".to_owned()),
                    (_, false) => (CandidateStatus::Rejected, format!("language {language}")),
                    _ => (CandidateStatus::ProbedFeed, String::new()),
                };
                let row = Candidate {
                    feed: found.url.clone(),
                    site: site(&found.url).unwrap_or_default(),
                    evidence: if itself { candidate.evidence.clone() } else { found.evidence.name().to_owned() },
                    seen: candidate.seen.max(1),
                    found_on: if itself && !given { candidate.found_on.clone() } else { found.found_on.clone() },
                    status,
                    reason,
                    checked: now.clone(),
                    entries: found.feed.entries,
                    latest: found.feed.latest.map(rfc3339).unwrap_or_default(),
                    language: language.to_owned(),
                    // Requests are counted for the candidate with which the search began, if it has a row.
                    requests: if itself || (given && first) { requests } else { 0 },
                    good_pages: candidate.good_pages,
                    title: if found.feed.title.is_empty() { candidate.title.clone() } else { found.feed.title.clone() },
                    labels: candidate.labels.clone(),
                };
                first = false;
                // Two URLs of one site may lead to the same feed.
                if !self.feeds.iter().any(|known| known.feed == row.feed) {
                    self.describe(&row, in_list);
                    self.feeds.push(row.clone());
                }
                rows.push(row);
            }
            let itself = sequence.found().iter().any(|found| plain(&found.url) == plain(&candidate.feed));
            match (sequence.found().first(), sequence.unreachable()) {
                (Some(_), _) if itself => {}
                (Some(found), _) => {
                    let evidence = Evidence::from_name(&candidate.evidence);
                    let (status, word) = match evidence {
                        Some(Evidence::Page) => (CandidateStatus::NotAFeed, "leads to"),
                        _ => (CandidateStatus::Rejected, "moved to"),
                    };
                    if !given {
                        rows.push(Candidate { status, reason: format!("{word} {}", found.url), ..start });
                    }
                }
                (None, Some(why)) => {
                    self.unreachable += 1;
                    let _ = writeln!(self.text, "{}: unreachable ({why})", sequence.start());
                    if !given {
                        rows.push(Candidate { status: CandidateStatus::Unreachable, reason: why.to_owned(), ..start });
                    }
                }
                (None, None) => {
                    self.without += 1;
                    let cost = count(sequence.requests().into(), "request");
                    let _ = writeln!(self.text, "{}: no feed found, {cost}", sequence.start());
                    self.suggest(&sequence);
                    let whole_site = given || candidate.evidence == Evidence::Page.name();
                    if whole_site && !is_shared(&sequence.site()) {
                        sites.push(SiteWithoutFeed {
                            site: sequence.site(),
                            checked: now.clone(),
                            requests: sequence.requests(),
                            start: sequence.start().to_owned(),
                        });
                    }
                    if !given {
                        rows.push(Candidate { status: CandidateStatus::NotAFeed, ..start });
                    }
                }
            }
        }
        candidates::replace(&context.home, rows)?;
        candidates::add_sites_without_feed(&context.home, sites)?;
        Ok(())
    }

    /// Suggests to poll a page of a site without a feed.
    fn suggest(&mut self, sequence: &ProbeSequence) {
        let Some((page, articles)) = sequence.article_list() else { return };
        let listed = if self.listed.contains(&plain(page)) { "; already in feeds.txt" } else { "" };
        let found = count(articles.into(), "article");
        let _ = writeln!(self.text, "{page}\tkind=page\t{found} linked; the line can be polled without a feed{listed}");
        self.pages.push(FoundPage { page: page.to_owned(), site: sequence.site(), articles });
    }

    fn describe(&mut self, row: &Candidate, in_list: bool) {
        let _ = write!(self.text, "{}\t{}", row.feed, count(row.entries.into(), "entry"));
        if !row.language.is_empty() {
            let _ = write!(self.text, ", {}", row.language);
        }
        if let Some(day) = row.latest.get(..10) {
            let _ = write!(self.text, ", latest {day}");
        }
        let _ = write!(self.text, "; {}", origin(row));
        if in_list {
            self.text.push_str("; already in feeds.txt");
        } else if row.status == CandidateStatus::Rejected {
            let _ = write!(self.text, "; rejected ({})", row.reason);
        }
        self.text.push('\n');
    }

    /// Adds the found feeds to the feed list.
    fn adopt(&mut self, context: &RunContext) -> Result<()> {
        let mut fit: Vec<Candidate> = self
            .feeds
            .iter()
            .filter(|row| row.status == CandidateStatus::ProbedFeed && row.entries > 0)
            .cloned()
            .collect();
        fit.iter_mut().for_each(|row| row.status = CandidateStatus::Promoted);
        let added = adopt(context, fit)?;
        let _ = writeln!(self.text, "{} added to {}", count(added, "feed"), context.home.feed_list().display());
        Ok(())
    }

    fn outcome(self, context: &RunContext, cost: Cost, skipped: u64) -> SearchOutcome {
        SearchOutcome {
            feeds: self.feeds.iter().map(FoundFeed::from).collect(),
            pages: self.pages,
            addresses: self.searched,
            without_feed: self.without,
            unreachable: self.unreachable,
            skipped,
            left: cost.left,
            requests: cost.requests,
            rounds: cost.rounds,
            bytes: cost.bytes,
            seconds: context.seconds(),
            offline: cost.offline,
            text: self.text,
        }
    }
}

/// The origin of a feed, as text.
fn origin(row: &Candidate) -> String {
    let on = |what: &str| if row.found_on.is_empty() { what.to_owned() } else { format!("{what} {}", row.found_on) };
    match Evidence::from_name(&row.evidence) {
        Some(Evidence::Given) => "as given".to_owned(),
        Some(Evidence::Listed) => on("listed in"),
        Some(Evidence::Declared | Evidence::Loose) => on("declared on"),
        Some(Evidence::Rule) => on("by a site-specific rule for"),
        Some(Evidence::Program) => on("at the default path of the site's CMS, from"),
        Some(Evidence::Sitemap) => on("in the site map"),
        Some(Evidence::Path) => on("at a common path, from"),
        Some(Evidence::Address | Evidence::Text | Evidence::Page) | None => on("linked from"),
    }
}

/// Adds candidates to the feed list, each with a comment about its origin.
fn adopt(context: &RunContext, rows: Vec<Candidate>) -> Result<u64> {
    let listed = listed(context)?;
    let today = tidings_model::clock::now().strftime("%Y-%m-%d");
    let mut known = HashSet::new();
    let mut rows = rows;
    rows.retain(|row| !listed.contains(&plain(&row.feed)) && known.insert(plain(&row.feed)));
    let lines: Vec<(String, String)> = rows
        .iter()
        .map(|row| {
            let mut line = row.feed.clone();
            if !row.labels.is_empty() {
                line.push('\t');
                line.push_str(&row.labels);
            }
            if !row.language.is_empty() && !row.labels.contains("lang=") {
                let _ = write!(line, "\tlang={}", row.language);
            }
            (format!("found by discover on {today}, {}", origin(row)), line)
        })
        .collect();
    let added = lines.len() as u64;
    candidates::append_feeds(&context.home, &lines)?;
    candidates::replace(&context.home, rows)?;
    Ok(added)
}

#[cfg(test)]
mod tests;
