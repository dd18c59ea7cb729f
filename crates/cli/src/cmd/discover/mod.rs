//! `tidings discover`: finds feeds nobody told us about.
//!
//! The verb has two halves that meet in `state/candidates.tsv`. One half gathers candidates: from
//! addresses, from pages that were fetched anyway, from archives, lists and streams of links. The
//! other half spends requests on them, the most promising first: it asks whether they are feeds, and
//! in a trial whether their articles can be had.

mod bulk;
mod climb;
mod trial;

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};
use tidings_feeds::discover::{Beliefs, Evidence, Filter, Ladder, Options, Outline};
use tidings_feeds::discover::{is_shared, read_opml, site, write_opml};
use tidings_store::candidates::{self, Barren, Candidate, Fate};
use tidings_store::{feeds, rfc3339};

use super::{HarvestArgs, Report};
use crate::args::Global;
use crate::console::count;
use crate::session::Session;
use climb::{Climb, Cost};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Addresses whose feeds are wanted; with --from, files and folders (`-` is standard input)
    what: Vec<String>,
    /// Gather candidates from many pages or links instead of asking for addresses
    #[arg(long, value_enum, value_name = "SOURCE", conflicts_with_all = ["opml", "trial", "opml_out"])]
    from: Option<Source>,
    /// Take in the feeds of an OPML list as candidates
    #[arg(long, value_name = "FILE", conflicts_with_all = ["trial", "opml_out"])]
    opml: Option<PathBuf>,
    /// Write feeds.txt as an OPML list; `-` is standard output
    #[arg(long, value_name = "FILE", conflicts_with = "trial")]
    opml_out: Option<PathBuf>,
    /// Ask for the best candidates, for at most this many requests
    #[arg(long, value_name = "REQUESTS", conflicts_with = "trial")]
    probe: Option<u64>,
    /// Try confirmed candidates in a scratch home and adopt those that give pages
    #[arg(long)]
    trial: bool,
    /// With --trial: candidates tried at most
    #[arg(long, value_name = "N", default_value_t = 100, requires = "trial")]
    limit: usize,
    /// With --trial: articles fetched for each candidate
    #[arg(long, value_name = "N", default_value_t = 3, requires = "trial",
          value_parser = clap::value_parser!(u32).range(1..=1000))]
    pages_per_feed: u32,
    /// Add the feeds that were found to feeds.txt
    #[arg(long, conflicts_with_all = ["trial", "from", "opml", "opml_out"])]
    add: bool,
    /// Ask again for what was found to have no feed; read files again that were searched
    #[arg(long)]
    again: bool,
    /// With --from: also guess common paths on the sites of feeds that pass the filter
    #[arg(long, requires = "from")]
    expand: bool,
    /// Pages that must link to a feed [default: discover.min_seen of the settings, 20]
    #[arg(long, value_name = "N")]
    min_seen: Option<u64>,
    /// Good pages that a site outside the languages' countries needs [default: 20]
    #[arg(long, value_name = "N")]
    min_good_pages: Option<u64>,
    /// A language that is wanted, such as de; may be repeated [default: discover.languages]
    #[arg(long, value_name = "CODE", value_delimiter = ',')]
    language: Vec<String>,
    /// Requests for one address, at most [default: discover.max_requests of the settings, 12]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    max_requests: Option<u32>,
    /// Look at declared links and /rss, /rss.xml, /feed only: for comparison
    #[arg(long, hide = true)]
    paper_rule: bool,
    #[command(flatten)]
    harvest: HarvestArgs,
}

/// Where candidates are gathered from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Source {
    /// Pages of this home that were not searched yet, or files of pages
    Pages,
    /// WARC or WET files, packed or not
    Warc,
    /// Folders of saved web pages
    Html,
    /// Links: JSON lines or plain addresses, from files or standard input
    Links,
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let (home, config) = super::open_home(global)?;
    let mut config = args.harvest.over(&config)?;
    let settings = &mut config.discover;
    settings.min_seen = args.min_seen.unwrap_or(settings.min_seen);
    settings.min_good_pages = args.min_good_pages.unwrap_or(settings.min_good_pages);
    settings.max_requests = args.max_requests.unwrap_or(settings.max_requests);
    if !args.language.is_empty() {
        settings.languages = args.language.iter().map(|code| code.to_ascii_lowercase()).collect();
    }
    if let Some(path) = &args.opml_out {
        return export(&home, path);
    }
    let mut session = Session::open(home, config, "discover")?;
    if args.trial {
        return trial::run(&mut session, args, global);
    }
    if let Some(source) = args.from {
        let gathered = bulk::gather(&session, source, &args.what, args.expand, args.again)?;
        let report = gathered.report(&session);
        return match args.probe {
            Some(budget) => Ok(joined(report, probe(&mut session, args, budget)?)),
            None => Ok(report),
        };
    }
    if let Some(path) = &args.opml {
        let report = import(&session, path)?;
        return match args.probe {
            Some(budget) => Ok(joined(report, probe(&mut session, args, budget)?)),
            None => Ok(report),
        };
    }
    match args.probe {
        Some(budget) => probe(&mut session, args, budget),
        None if args.what.is_empty() => {
            bail!("nothing to look for: name addresses, or a source with --from, --opml, --probe or --trial")
        }
        None => search(&mut session, args),
    }
}

fn joined(first: Report, second: Report) -> Report {
    let mut json = first.json;
    if let (Some(all), Some(more)) = (json.as_object_mut(), second.json.as_object()) {
        all.extend(more.clone());
    }
    Report { text: first.text + &second.text, json, failed: first.failed || second.failed, ..Report::default() }
}

/// What a list of feeds knows, whatever scheme or slash it is written with.
pub(super) fn plain(feed: &str) -> String {
    let rest = feed.split_once("://").map_or(feed, |(_, rest)| rest);
    rest.trim_start_matches("www.").trim_end_matches('/').to_ascii_lowercase()
}

/// The feeds that the user's list has already.
fn listed(session: &Session) -> Result<HashSet<String>> {
    Ok(feeds::list(&session.home)?.feeds.iter().map(|feed| plain(&feed.url)).collect())
}

/// Whether a candidate may be asked for. Only feeds met in a crawl must prove themselves by numbers:
/// what a person or a list says need not, and a link that somebody shared is where a climb begins.
fn fits(filter: &Filter, row: &Candidate) -> bool {
    let verdict = filter.judge(&row.feed, row.seen, row.good_pages);
    match Evidence::of_word(&row.evidence).unwrap_or(Evidence::Page) {
        Evidence::Listed | Evidence::Given => true,
        Evidence::Page => verdict.err().is_none_or(|unfit| !unfit.is_final()),
        _ => verdict.is_ok(),
    }
}

fn filter(session: &Session) -> Filter {
    let settings = &session.config.discover;
    Filter {
        min_seen: settings.min_seen,
        min_good_pages: settings.min_good_pages,
        languages: settings.languages.clone(),
    }
}

fn barren(session: &Session) -> Result<HashSet<String>> {
    let mut sites = HashSet::new();
    candidates::read_barren(&session.home, |row| {
        sites.insert(row.site);
    })?;
    Ok(sites)
}

/// Searches the sites of addresses that somebody named.
fn search(session: &mut Session, args: &Args) -> Result<Report> {
    let options = Options {
        max_requests: session.config.discover.max_requests,
        paper_rule: args.paper_rule,
        ..Options::default()
    };
    let barren = barren(session)?;
    let (mut climbs, mut skipped) = (Vec::new(), Vec::new());
    for given in &args.what {
        let address = if given.contains("://") { given.clone() } else { format!("http://{given}") };
        let Some(ladder) = Ladder::new(&address, options) else { bail!("`{given}` is not a web address") };
        if !args.again && barren.contains(&ladder.site()) {
            skipped.push(ladder.site());
            continue;
        }
        let candidate = Candidate {
            feed: ladder.start().to_owned(),
            site: ladder.site(),
            evidence: Evidence::Given.word().to_owned(),
            ..Candidate::default()
        };
        climbs.push(Climb { ladder, candidate });
    }
    let mut outcome = Outcome::new(session)?;
    let seed = args.harvest.seed();
    let cost = climb::climb(session, seed, climbs, None, |session, ended| outcome.settle(session, ended))?;
    if args.add {
        outcome.adopt(session)?;
    }
    for site in &skipped {
        let _ = writeln!(outcome.text, "{site}: searched before and without a feed (--again searches it again)");
    }
    Ok(outcome.report(session, cost, skipped.len() as u64))
}

/// Spends requests on the candidates that promise most.
fn probe(session: &mut Session, args: &Args, budget: u64) -> Result<Report> {
    let climbs = best(session, args.again, budget)?;
    let mut outcome = Outcome::new(session)?;
    let seed = args.harvest.seed();
    let cost = climb::climb(session, seed, climbs, Some(budget), |session, ended| outcome.settle(session, ended))?;
    if args.add {
        outcome.adopt(session)?;
    }
    Ok(outcome.report(session, cost, 0))
}

/// The candidates worth asking for, the best first, as many as a budget could pay for.
fn best(session: &Session, again: bool, budget: u64) -> Result<Vec<Climb>> {
    let filter = filter(session);
    let barren = barren(session)?;
    let listed = listed(session)?;
    let mut beliefs = Beliefs::default();
    let mut on_site: HashMap<String, u64> = HashMap::new();
    let mut open = Vec::new();
    candidates::read(&session.home, |row| {
        let evidence = Evidence::of_word(&row.evidence).unwrap_or(Evidence::Page);
        let is_feed = matches!(row.fate, Fate::ProbedFeed | Fate::Trial | Fate::Promoted);
        let led_on = row.reason.starts_with("leads to") || row.reason.starts_with("moved to");
        if row.requests > 0 {
            beliefs.learn(evidence, is_feed || led_on, row.requests);
        }
        if is_feed {
            *on_site.entry(row.site.clone()).or_default() += 1;
        }
        let asked = matches!(row.fate, Fate::NotAFeed | Fate::Unreachable);
        let is_barren = evidence == Evidence::Page && barren.contains(&row.site);
        let fit = fits(&filter, &row);
        let open_still = row.fate == Fate::New || (asked && again && !led_on);
        if open_still && fit && (again || !is_barren) && !listed.contains(&plain(&row.feed)) {
            open.push((evidence, row));
        }
    })?;
    let mut ranked: Vec<(f64, Evidence, Candidate)> = open
        .into_iter()
        .map(|(evidence, row)| {
            let known = on_site.get(&row.site).copied().unwrap_or(0);
            (beliefs.worth(evidence, row.seen, known), evidence, row)
        })
        .collect();
    // The best first; among equals the address decides, so that the same state asks the same.
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.2.feed.cmp(&b.2.feed)));
    let options = Options { max_requests: session.config.discover.max_requests, ..Options::default() };
    let climbs = ranked.into_iter().take(budget as usize).filter_map(|(_, evidence, candidate)| {
        let ladder = match evidence {
            Evidence::Page => Ladder::new(&candidate.feed, options)?,
            _ => Ladder::confirm(&candidate.feed, evidence, &candidate.found_on)?,
        };
        Some(Climb { ladder, candidate })
    });
    Ok(climbs.collect())
}

/// After a fetch: the links in the pages that it stored become candidates, and the best of them are
/// asked for within the budget. Gives a line for people.
pub(super) fn grow(session: &mut Session, seed: u64) -> Result<(String, Value)> {
    session.next_run("discover")?;
    let gathered = bulk::gather(session, Source::Pages, &[], false, false)?;
    let budget = session.config.discover.budget_requests;
    let climbs = best(session, false, budget)?;
    let mut outcome = Outcome::new(session)?;
    let cost = climb::climb(session, seed, climbs, Some(budget), |session, ended| outcome.settle(session, ended))?;
    let text = format!(
        "{} linked from {}, {} confirmed with {}\n",
        count(gathered.links, "feed"),
        count(gathered.pages, "page"),
        count(outcome.feeds.len() as u64, "new feed"),
        count(cost.requests, "request"),
    );
    let json = json!({
        "pages_searched": gathered.pages,
        "feeds_linked": gathered.links,
        "feeds_found": outcome.feeds.len(),
        "requests": cost.requests,
    });
    Ok((text, json))
}

/// What came of a search, as it is written down and told.
struct Outcome {
    listed: HashSet<String>,
    languages: Vec<String>,
    feeds: Vec<Candidate>,
    searched: u64,
    without: u64,
    unreachable: u64,
    text: String,
}

impl Outcome {
    fn new(session: &Session) -> Result<Outcome> {
        Ok(Outcome {
            listed: listed(session)?,
            languages: session.config.discover.languages.clone(),
            feeds: Vec::new(),
            searched: 0,
            without: 0,
            unreachable: 0,
            text: String::new(),
        })
    }

    /// Writes down what ladders found that came to their end.
    fn settle(&mut self, session: &Session, ended: Vec<Climb>) -> Result<()> {
        let now = rfc3339(tidings_model::clock::now());
        let (mut rows, mut sites): (Vec<Candidate>, Vec<Barren>) = (Vec::new(), Vec::new());
        for Climb { ladder, candidate } in ended {
            self.searched += 1;
            let given = candidate.evidence == Evidence::Given.word();
            let requests = candidate.requests + ladder.requests();
            let start = Candidate { checked: now.clone(), requests, ..candidate.clone() };
            let mut first = true;
            for found in ladder.found() {
                let language = if found.feed.language.is_empty() { ladder.language() } else { &found.feed.language };
                let itself = plain(&found.url) == plain(&candidate.feed);
                let wanted = language.is_empty()
                    || self.languages.is_empty()
                    || self.languages.iter().any(|code| code == language);
                let in_list = self.listed.contains(&plain(&found.url));
                let (fate, reason) = match (in_list, wanted) {
                    (true, _) => (Fate::Promoted, "in the list already".to_owned()),
                    (_, false) => (Fate::Rejected, format!("language {language}")),
                    _ => (Fate::ProbedFeed, String::new()),
                };
                let row = Candidate {
                    feed: found.url.clone(),
                    site: site(&found.url).unwrap_or_default(),
                    evidence: if itself { candidate.evidence.clone() } else { found.evidence.word().to_owned() },
                    seen: candidate.seen.max(1),
                    found_on: if itself && !given { candidate.found_on.clone() } else { found.found_on.clone() },
                    fate,
                    reason,
                    checked: now.clone(),
                    entries: found.feed.entries,
                    latest: found.feed.latest.map(rfc3339).unwrap_or_default(),
                    language: language.to_owned(),
                    // Requests stand with the address that the search began with, if that has a row.
                    requests: if itself || (given && first) { requests } else { 0 },
                    good_pages: candidate.good_pages,
                    title: if found.feed.title.is_empty() { candidate.title.clone() } else { found.feed.title.clone() },
                    labels: candidate.labels.clone(),
                };
                first = false;
                // Two addresses of one site lead to the same feed.
                if !self.feeds.iter().any(|known| known.feed == row.feed) {
                    self.tell(&row, in_list);
                    self.feeds.push(row.clone());
                }
                rows.push(row);
            }
            let itself = ladder.found().iter().any(|found| plain(&found.url) == plain(&candidate.feed));
            match (ladder.found().first(), ladder.unreachable()) {
                (Some(_), _) if itself => {}
                (Some(found), _) => {
                    let evidence = Evidence::of_word(&candidate.evidence);
                    let (fate, word) = match evidence {
                        Some(Evidence::Page) => (Fate::NotAFeed, "leads to"),
                        _ => (Fate::Rejected, "moved to"),
                    };
                    if !given {
                        rows.push(Candidate { fate, reason: format!("{word} {}", found.url), ..start });
                    }
                }
                (None, Some(why)) => {
                    self.unreachable += 1;
                    let _ = writeln!(self.text, "{}: not reached ({why})", ladder.start());
                    if !given {
                        rows.push(Candidate { fate: Fate::Unreachable, reason: why.to_owned(), ..start });
                    }
                }
                (None, None) => {
                    self.without += 1;
                    let cost = count(ladder.requests().into(), "request");
                    let _ = writeln!(self.text, "{}: no feed found, {cost}", ladder.start());
                    let whole_site = given || candidate.evidence == Evidence::Page.word();
                    if whole_site && !is_shared(&ladder.site()) {
                        sites.push(Barren {
                            site: ladder.site(),
                            checked: now.clone(),
                            requests: ladder.requests(),
                            start: ladder.start().to_owned(),
                        });
                    }
                    if !given {
                        rows.push(Candidate { fate: Fate::NotAFeed, ..start });
                    }
                }
            }
        }
        candidates::replace(&session.home, rows)?;
        candidates::add_barren(&session.home, sites)?;
        Ok(())
    }

    fn tell(&mut self, row: &Candidate, in_list: bool) {
        let _ = write!(self.text, "{}\t{}", row.feed, count(row.entries.into(), "entry"));
        if !row.language.is_empty() {
            let _ = write!(self.text, ", {}", row.language);
        }
        if let Some(day) = row.latest.get(..10) {
            let _ = write!(self.text, ", latest {day}");
        }
        let _ = write!(self.text, "; {}", origin(row));
        if in_list {
            self.text.push_str("; in feeds.txt already");
        } else if row.fate == Fate::Rejected {
            let _ = write!(self.text, "; not wanted ({})", row.reason);
        }
        self.text.push('\n');
    }

    /// Adds what was found to the list of feeds.
    fn adopt(&mut self, session: &Session) -> Result<()> {
        let mut fit: Vec<Candidate> =
            self.feeds.iter().filter(|row| row.fate == Fate::ProbedFeed && row.entries > 0).cloned().collect();
        fit.iter_mut().for_each(|row| row.fate = Fate::Promoted);
        let added = adopt(session, fit)?;
        let _ = writeln!(self.text, "{} added to {}", count(added, "feed"), session.home.feed_list().display());
        Ok(())
    }

    fn report(self, session: &Session, cost: Cost, skipped: u64) -> Report {
        let mut text = self.text;
        let offline = if cost.offline { "; no host answered, so the network seems to be down" } else { "" };
        let left = if cost.left > 0 { format!("; {} left for a later run", cost.left) } else { String::new() };
        let _ = writeln!(
            text,
            "{} found from {} with {}; {} without a feed, {} not reached{left}{offline}, {}",
            count(self.feeds.len() as u64, "feed"),
            if self.searched == 1 { "1 address".to_owned() } else { format!("{} addresses", self.searched) },
            count(cost.requests, "request"),
            self.without,
            self.unreachable,
            super::took(session),
        );
        let feeds: Vec<Value> = self.feeds.iter().map(as_json).collect();
        let json = json!({
            "done": !cost.offline,
            "feeds": feeds,
            "addresses": self.searched,
            "without_feed": self.without,
            "unreachable": self.unreachable,
            "skipped": skipped,
            "left": cost.left,
            "requests": cost.requests,
            "rounds": cost.rounds,
            "bytes": cost.bytes,
            "seconds": session.began.elapsed().as_secs_f64(),
        });
        Report { text, json, failed: cost.offline, ..Report::default() }
    }
}

fn as_json(row: &Candidate) -> Value {
    json!({
        "feed": row.feed,
        "site": row.site,
        "evidence": row.evidence,
        "found_on": row.found_on,
        "fate": row.fate.word(),
        "entries": row.entries,
        "latest": row.latest,
        "language": row.language,
        "title": row.title,
    })
}

/// Where a feed comes from, in words.
fn origin(row: &Candidate) -> String {
    let on = |what: &str| if row.found_on.is_empty() { what.to_owned() } else { format!("{what} {}", row.found_on) };
    match Evidence::of_word(&row.evidence) {
        Some(Evidence::Given) => "as given".to_owned(),
        Some(Evidence::Listed) => on("listed in"),
        Some(Evidence::Declared | Evidence::Loose) => on("declared on"),
        Some(Evidence::Rule) => on("by the site's rule for"),
        Some(Evidence::Program) => on("where the site's program puts it, from"),
        Some(Evidence::Sitemap) => on("in the site map"),
        Some(Evidence::Path) => on("at a common path, from"),
        Some(Evidence::Address | Evidence::Text | Evidence::Page) | None => on("linked from"),
    }
}

/// Puts candidates into the list of feeds, each with a comment where it came from.
fn adopt(session: &Session, rows: Vec<Candidate>) -> Result<u64> {
    let listed = listed(session)?;
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
    candidates::append_feeds(&session.home, &lines)?;
    candidates::replace(&session.home, rows)?;
    Ok(added)
}

/// What a list of feeds from another program came to.
struct Outlined {
    shown: String,
    read: u64,
    rows: Vec<Candidate>,
    known: u64,
    faulty: u64,
}

/// Reads a list of feeds from another program.
fn outlined(session: &Session, path: &std::path::Path) -> Result<Outlined> {
    let body = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let listed = listed(session)?;
    let shown = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let outlines = read_opml(&body);
    let read = outlines.len() as u64;
    let (mut rows, mut known, mut faulty) = (Vec::new(), 0, 0);
    for outline in outlines {
        let address = outline.feed.strip_prefix("feed:").map(|rest| rest.trim_start_matches("//").to_owned());
        let address = address.unwrap_or(outline.feed);
        let address = if address.contains("://") { address } else { format!("http://{address}") };
        let Some(site) = site(&address) else {
            faulty += 1;
            continue;
        };
        if listed.contains(&plain(&address)) {
            known += 1;
            continue;
        }
        let label = |text: &str| text.replace(['\t', '\n', '\r', '='], " ").trim().to_owned();
        let topics: Vec<String> = outline.labels.iter().map(|text| label(text)).collect();
        rows.push(Candidate {
            site,
            evidence: Evidence::Listed.word().to_owned(),
            seen: 1,
            found_on: shown.clone(),
            language: outline.language.split(['-', '_']).next().unwrap_or_default().to_ascii_lowercase(),
            title: label(&outline.title),
            labels: if topics.is_empty() { String::new() } else { format!("topic={}", topics.join("/")) },
            feed: address,
            ..Candidate::default()
        });
    }
    Ok(Outlined { shown, read, rows, known, faulty })
}

/// Takes in a list of feeds from another program as candidates.
fn import(session: &Session, path: &std::path::Path) -> Result<Report> {
    let Outlined { shown, read, rows, known, faulty } = outlined(session, path)?;
    let new = rows.len() as u64;
    candidates::add(&session.home, rows)?;
    let text = format!(
        "{} read from {shown}: {new} taken in as candidates, {known} in feeds.txt already, {faulty} without an address\n",
        count(read, "feed")
    );
    let json = json!({ "done": true, "read": read, "candidates": new, "known": known, "faulty": faulty });
    Ok(Report { text, json, ..Report::default() })
}

/// Takes a list of feeds from another program into feeds.txt; says in words what came of it.
pub(super) fn take_in(session: &Session, path: &std::path::Path) -> Result<String> {
    let Outlined { shown, read, mut rows, known, faulty } = outlined(session, path)?;
    rows.iter_mut().for_each(|row| row.fate = Fate::Promoted);
    let new = adopt(session, rows)?;
    Ok(format!(
        "{} read from {shown}: {new} added to feeds.txt, {known} there already, {faulty} without an address\n",
        count(read, "feed")
    ))
}

/// Writes the user's list for other programs.
fn export(home: &tidings_store::Home, path: &std::path::Path) -> Result<Report> {
    let states = feeds::states(home)?;
    let outlines: Vec<Outline> = feeds::list(home)?
        .feeds
        .into_iter()
        .map(|feed| Outline {
            title: states.get(&feed.url).map(|state| state.title.clone()).unwrap_or_default(),
            language: feed
                .labels
                .iter()
                .find(|label| label.0 == "lang")
                .map(|label| label.1.clone())
                .unwrap_or_default(),
            labels: feed.labels.iter().filter(|label| label.0 == "topic").map(|label| label.1.clone()).collect(),
            feed: feed.url,
            site: String::new(),
        })
        .collect();
    let text = write_opml("Tidings", &outlines);
    let json = json!({ "done": true, "feeds": outlines.len() });
    if path == std::path::Path::new("-") {
        return Ok(Report { text, json, ..Report::default() });
    }
    std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))?;
    let text = format!("{} written to {}\n", count(outlines.len() as u64, "feed"), path.display());
    Ok(Report { text, json, ..Report::default() })
}
