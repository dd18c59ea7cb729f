//! `tidings crawl`: finds articles without feeds, by following links or from the archives of sites.

use std::path::PathBuf;

use anyhow::Result;
use jiff::civil::Date;
use tidings_model::period;
use tidings_pipeline::archive::{self, ArchiveOptions, DateRange};
use tidings_pipeline::crawl::{self, Budget, Options, Scope, SeedSource};
use tidings_pipeline::shard::Shard;

use super::{CrawlArgs, Report};
use crate::args::Global;

/// A crawl that follows links has no limit of its own; a backfill has that of all commands with requests.
const TIME_LIMIT: &str =
    "Time after which no more requests are sent, such as 90s, 30m or 2h [default: no limit; with --archive, 55m]";

/// The help of `--shard`, which means another thing for other stages.
const SHARD: &str = "Part of this machine, such as 2/4: links to other parts go to crawl/NAME/outbox/";

#[derive(Debug, clap::Args)]
#[command(mut_arg("time_limit", |arg| arg.help(TIME_LIMIT)))]
#[command(mut_arg("shard", |arg| arg.help(SHARD)))]
pub struct Args {
    /// Sites, URLs or files of them to begin with [default: go on; with --archive, the sites of all feeds]
    sites: Vec<String>,
    /// Further seeds: a file of lines, - for standard input, or feeds, plan, pages, sitemaps of the home
    #[arg(long, value_name = "FILE", conflicts_with = "archive")]
    from: Vec<SeedSource>,
    /// Name of the crawl: several can be in a home
    #[arg(long, value_name = "NAME", default_value = "web", conflicts_with = "archive")]
    name: String,
    /// Language whose text is wanted, such as de; may be repeated [default: setting crawl.languages]
    #[arg(long = "lang", alias = "language", value_name = "CODE", value_delimiter = ',', conflicts_with = "archive")]
    language: Vec<String>,
    /// Top-level domain where the languages are expected, such as ch; may be repeated
    #[arg(long, value_name = "TLD", value_delimiter = ',', conflicts_with = "archive")]
    tld: Vec<String>,
    /// Words that pages must have, such as "glacier*, ice sheet", or a file of them; may be repeated
    #[arg(long, value_name = "WORDS", conflicts_with = "archive")]
    topic: Vec<String>,
    /// Part of the web to enter: all of it, or the sites or hosts of the seeds [default: web]
    #[arg(long, value_enum, value_name = "SCOPE", conflicts_with = "archive")]
    scope: Option<ScopeArg>,
    /// Maximum number of requests for pages in this run; with --archive, for sitemaps and archive pages
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pages: Option<u64>,
    /// Maximum size of downloads in this run, in MB
    #[arg(long, value_name = "MB", value_parser = clap::value_parser!(u64).range(1..), conflicts_with = "archive")]
    mb: Option<u64>,
    /// Number of new words in the wanted languages after which this run ends
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), conflicts_with = "archive")]
    tokens: Option<u64>,
    /// Rule that orders requests: tidings, spiderling, macocu or breadth-first [default: setting crawl.rule]
    #[arg(long, value_name = "RULE", conflicts_with = "archive")]
    rule: Option<String>,
    /// Folder with links that other shards found, such as the outbox of another home; may be repeated
    #[arg(long, value_name = "DIR", conflicts_with = "archive")]
    inbox: Vec<PathBuf>,
    /// Find the old articles of the sites and add them to the plan (backfill)
    #[arg(long)]
    archive: bool,
    /// First day of the history: a year, a month or a day, such as 2019, 2019-03 or 2019-03-01
    #[arg(long, value_name = "DATE", value_parser = parse_first, requires = "archive")]
    since: Option<Date>,
    /// Last day of the history: a year, a month or a day
    #[arg(long, value_name = "DATE", value_parser = parse_last, requires = "archive")]
    until: Option<Date>,
    /// Read sitemaps and archive pages again that were read before
    #[arg(long, requires = "archive")]
    again: bool,
    /// Show what would be asked for first, without requests
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    crawl: CrawlArgs,
}

/// The part of the web that a crawl may enter.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum ScopeArg {
    /// All sites
    Web,
    /// The registered domains of the seeds
    Site,
    /// The hosts of the seeds
    Host,
}

fn parse_first(text: &str) -> Result<Date, String> {
    period::first_day(text).ok_or_else(|| format!("expected {}", period::PERIOD_FORM))
}

fn parse_last(text: &str) -> Result<Date, String> {
    period::last_day(text).ok_or_else(|| format!("expected {}", period::PERIOD_FORM))
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let pipeline = args.crawl.steps().over(super::open(global)?);
    let mut config = pipeline.config().clone();
    args.crawl.over(&mut config);
    if args.archive {
        let options = ArchiveOptions {
            sites: args.sites.clone(),
            range: DateRange { since: args.since, until: args.until },
            max_requests: args.pages,
            again: args.again,
            dry_run: args.dry_run,
            seed: args.crawl.seed,
        };
        return Ok(archive::run(&pipeline.with_config(config), &options)?.into());
    }
    if let Some(rule) = &args.rule {
        config.crawl.rule.clone_from(rule);
    }
    if let Some(delay) = args.crawl.delay {
        config.crawl.host_delay_s = delay;
    }
    // The shards of a crawl have homes of their own.
    let pipeline = pipeline.with_shard(Shard::WHOLE);
    let lower = |codes: &[String]| codes.iter().map(|code| code.trim_start_matches('.').to_ascii_lowercase()).collect();
    let options = Options {
        name: args.name.clone(),
        seeds: args.sites.clone(),
        from: args.from.clone(),
        topic: args.topic.clone(),
        scope: args.scope.map(|scope| match scope {
            ScopeArg::Web => Scope::Web,
            ScopeArg::Site => Scope::Site,
            ScopeArg::Host => Scope::Host,
        }),
        languages: lower(&args.language),
        tld: lower(&args.tld),
        budget: Budget { pages: args.pages, bytes: args.mb.map(|mb| mb * 1_000_000), tokens: args.tokens, time: None },
        dry_run: args.dry_run,
        seed: args.crawl.seed,
        shard: Some(args.crawl.shard).filter(|shard| !shard.is_whole()),
        inboxes: args.inbox.clone(),
    };
    Ok(crawl::run(&pipeline.with_config(config), &options)?.into())
}
