//! `tidings discover`: finds feeds.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use serde::Serialize;
use tidings_pipeline::discover::{self, CandidateSource, Options, Task, TrialOptions, opml};
use tidings_pipeline::display::count;
use tidings_pipeline::outcome::Outcome;

use super::{CrawlArgs, Report};
use crate::args::Global;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Addresses whose feeds are wanted; with --from, files and folders (`-` is standard input)
    what: Vec<String>,
    /// Gather candidates from many pages or links instead of asking for addresses
    #[arg(long, value_enum, value_name = "SOURCE", conflicts_with_all = ["opml", "trial", "opml_out"])]
    from: Option<SourceArg>,
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
    crawl: CrawlArgs,
}

/// Where candidates are gathered from.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum SourceArg {
    /// Pages of this home that were not searched yet, or files of pages
    Pages,
    /// WARC or WET files, packed or not
    Warc,
    /// Folders of saved web pages
    Html,
    /// Links: JSON lines or plain addresses, from files or standard input
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
    let (limit, pages_per_feed, seed) = (args.limit, args.pages_per_feed, args.crawl.seed);
    Ok(match (args.from, &args.opml) {
        _ if args.trial => Task::Trial(TrialOptions { limit, pages_per_feed, seed }),
        (Some(source), _) => Task::Gather { source: source.into(), paths: args.what.clone(), expand: args.expand },
        (None, Some(path)) => Task::Opml(path.clone()),
        (None, None) if args.probe.is_some() => Task::Probe,
        (None, None) if args.what.is_empty() => {
            bail!("nothing to look for: name addresses, or a source with --from, --opml, --probe or --trial")
        }
        (None, None) => Task::Search(args.what.clone()),
    })
}

/// A list that was written.
#[derive(Serialize)]
struct Exported {
    done: bool,
    feeds: u64,
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
    let (list, feeds) = opml::export(&super::find_home(global)?)?;
    let text = if path == Path::new("-") {
        list
    } else {
        std::fs::write(path, list).with_context(|| format!("cannot write {}", path.display()))?;
        format!("{} written to {}\n", count(feeds, "feed"), path.display())
    };
    Ok(Exported { done: true, feeds, text }.into())
}
