//! `tidings discover`: finds feeds.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde::Serialize;
use tidings_pipeline::discover::opml::{self, ExportedList};
use tidings_pipeline::discover::{self, CandidateSource, Options, Task, TrialOptions};
use tidings_pipeline::display::count;
use tidings_pipeline::init::read_sites;
use tidings_pipeline::outcome::Outcome;
use tidings_pipeline::usage_error::UsageError;

use super::{CrawlArgs, Report};
use crate::args::Global;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// URLs of sites or pages; with --from, files and folders (`-` is standard input)
    what: Vec<String>,
    /// File with websites, one URL per line
    #[arg(long, value_name = "FILE", conflicts_with_all = ["what", "from", "opml", "opml_out", "trial", "probe"])]
    sites: Option<PathBuf>,
    /// Collect candidate feeds from pages or links, without requests
    #[arg(long, value_enum, value_name = "SOURCE", conflicts_with_all = ["opml", "trial", "opml_out"])]
    from: Option<SourceArg>,
    /// Add the feeds of an OPML file as candidates
    #[arg(long, value_name = "FILE", conflicts_with_all = ["trial", "opml_out"])]
    opml: Option<PathBuf>,
    /// Write feeds.txt as OPML; `-` is standard output
    #[arg(long, value_name = "FILE", conflicts_with = "trial")]
    opml_out: Option<PathBuf>,
    /// Check the best candidates, with at most this many requests
    #[arg(long, value_name = "REQUESTS", conflicts_with = "trial")]
    probe: Option<u64>,
    /// Test confirmed candidates in a temporary home, and add those with usable articles
    #[arg(long)]
    trial: bool,
    /// With --trial: maximum number of candidates
    #[arg(long, value_name = "N", default_value_t = 100, requires = "trial")]
    limit: usize,
    /// With --trial: articles to fetch per candidate
    #[arg(long, value_name = "N", default_value_t = 3, requires = "trial",
          value_parser = clap::value_parser!(u32).range(1..=1000))]
    pages_per_feed: u32,
    /// Add the found feeds to feeds.txt
    #[arg(long, conflicts_with_all = ["trial", "from", "opml", "opml_out"])]
    add: bool,
    /// Repeat checks that found no feed, and read files again
    #[arg(long)]
    again: bool,
    /// With --from: also check common feed paths on the sites of accepted feeds
    #[arg(long, requires = "from")]
    expand: bool,
    /// Minimum number of pages that link to a feed [default: setting discover.min_seen, 20]
    #[arg(long, value_name = "N")]
    min_seen: Option<u64>,
    /// Minimum number of good pages of a site outside the languages' countries [default: 20]
    #[arg(long, value_name = "N")]
    min_good_pages: Option<u64>,
    /// Language to accept, such as de; may be repeated [default: setting discover.languages]
    #[arg(long = "lang", alias = "language", value_name = "CODE", value_delimiter = ',')]
    language: Vec<String>,
    /// Maximum number of requests per URL [default: setting discover.max_requests, 12]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    max_requests: Option<u32>,
    /// Check only declared links and /rss, /rss.xml, /feed; for comparison
    #[arg(long, hide = true)]
    paper_rule: bool,
    #[command(flatten)]
    crawl: CrawlArgs,
}

/// A source of candidates.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum SourceArg {
    /// Pages of this home that were not searched yet, or page files
    Pages,
    /// WARC or WET files, compressed or not
    Warc,
    /// Folders of saved web pages
    Html,
    /// Links from files or standard input: JSON lines or plain URLs
    Links,
}

impl From<SourceArg> for CandidateSource {
    fn from(source: SourceArg) -> CandidateSource {
        match source {
            SourceArg::Pages => CandidateSource::Pages,
            SourceArg::Warc => CandidateSource::Warc,
            SourceArg::Html => CandidateSource::Html,
            SourceArg::Links => CandidateSource::Links,
        }
    }
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    if let Some(path) = &args.opml_out {
        return export(global, path);
    }
    let pipeline = args.crawl.steps().over(super::open(global)?);
    let mut config = pipeline.config().clone();
    args.crawl.over(&mut config);
    let settings = &mut config.discover;
    settings.min_seen = args.min_seen.unwrap_or(settings.min_seen);
    settings.min_good_pages = args.min_good_pages.unwrap_or(settings.min_good_pages);
    settings.max_requests = args.max_requests.unwrap_or(settings.max_requests);
    if !args.language.is_empty() {
        settings.languages = args.language.iter().map(|code| code.to_ascii_lowercase()).collect();
    }
    let options = Options {
        task: task(args)?,
        probe: args.probe,
        add: args.add,
        again: args.again,
        paper_rule: args.paper_rule,
        seed: args.crawl.seed,
    };
    Ok(discover::run(&pipeline.with_config(config), &options)?.into())
}

fn task(args: &Args) -> Result<Task> {
    if let Some(file) = &args.sites {
        return Ok(Task::Search(read_sites(file)?));
    }
    let (limit, pages_per_feed, seed) = (args.limit, args.pages_per_feed, args.crawl.seed);
    Ok(match (args.from, &args.opml) {
        _ if args.trial => Task::Trial(TrialOptions { limit, pages_per_feed, seed }),
        (Some(source), _) => Task::Gather { source: source.into(), paths: args.what.clone(), expand: args.expand },
        (None, Some(path)) => Task::Opml(path.clone()),
        (None, None) if args.probe.is_some() => Task::Probe,
        (None, None) if args.what.is_empty() => {
            let message =
                "nothing to do: give the URL of a site, or one of --sites, --from, --opml, --probe and --trial";
            return Err(UsageError::new(message).into());
        }
        (None, None) => Task::Search(args.what.clone()),
    })
}

/// The outcome of `--opml-out`.
#[derive(Serialize)]
struct Exported {
    done: bool,
    feeds: u64,
    left_out: u64,
    #[serde(skip)]
    text: String,
}

impl Outcome for Exported {}

impl std::fmt::Display for Exported {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

fn export(global: &Global, path: &Path) -> Result<Report> {
    let ExportedList { opml, feeds, left_out } = opml::export(&super::find_home(global)?)?;
    let note = match left_out {
        0 => "",
        _ => ", without the pages and sitemaps of the list, which feed readers cannot read",
    };
    let text = if path == Path::new("-") {
        opml
    } else {
        std::fs::write(path, opml).with_context(|| format!("cannot write {}", path.display()))?;
        format!("{} written to {}{note}\n", count(feeds, "feed"), path.display())
    };
    Ok(Exported { done: true, feeds, left_out, text }.into())
}
