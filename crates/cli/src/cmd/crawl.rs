//! `tidings crawl`: finds articles without feeds, by following links or from the archives of sites.

use std::path::PathBuf;

use anyhow::Result;
use jiff::civil::Date;
use tidings_pipeline::archive::{self, ArchiveOptions, DateRange};
use tidings_pipeline::crawl::{self, Budget, Options, Scope};
use tidings_pipeline::shard::Shard;

use super::{CrawlArgs, Report};
use crate::args::Global;

#[derive(Debug, clap::Args)]
#[command(mut_arg("shard", |arg| arg.help(
    "Part of this machine, such as 2/4: it asks only the sites that belong to it, and writes links to the others to \
     crawl/NAME/outbox/"
)))]
pub struct Args {
    /// Sites, URLs or files of them to begin with [default: go on; with --archive, the sites of all feeds]
    sites: Vec<String>,
    /// Name of the crawl: several can be in a home
    #[arg(long, value_name = "NAME", default_value = "web", conflicts_with = "archive")]
    name: String,
    /// Language whose text is wanted, such as de; may be repeated [default: setting crawl.languages]
    #[arg(long = "lang", alias = "language", value_name = "CODE", value_delimiter = ',', conflicts_with = "archive")]
    language: Vec<String>,
    /// Top-level domain where the languages are expected, such as ch; may be repeated
    #[arg(long, value_name = "TLD", value_delimiter = ',', conflicts_with = "archive")]
    tld: Vec<String>,
    /// Part of the web to enter: all of it, or the sites or hosts of the seeds [default: web]
    #[arg(long, value_enum, value_name = "SCOPE", conflicts_with = "archive")]
    scope: Option<ScopeArg>,
    /// Maximum number of requests for pages in this run; with --archive, for sitemaps and archive pages
    #[arg(long, value_name = "N")]
    pages: Option<u64>,
    /// Maximum size of downloads in this run, in MB
    #[arg(long, value_name = "MB", conflicts_with = "archive")]
    mb: Option<u64>,
    /// Number of new words in the wanted languages after which this run ends
    #[arg(long, value_name = "N", conflicts_with = "archive")]
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
    parse_date(text, |date| date)
}

fn parse_last(text: &str) -> Result<Date, String> {
    parse_date(text, |date| match text.len() {
        4 => date.last_of_year(),
        7 => date.last_of_month(),
        _ => date,
    })
}

fn parse_date(text: &str, change: impl Fn(Date) -> Date) -> Result<Date, String> {
    let full = match text.len() {
        4 => format!("{text}-01-01"),
        7 => format!("{text}-01"),
        _ => text.to_owned(),
    };
    full.parse()
        .map(change)
        .map_err(|_| "expected a year, a month or a day, such as 2019, 2019-03 or 2019-03-01".to_owned())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_year_or_month_stands_for_its_first_or_last_day() {
        assert_eq!(parse_first("2019"), Ok(Date::constant(2019, 1, 1)));
        assert_eq!(parse_last("2019"), Ok(Date::constant(2019, 12, 31)));
        assert_eq!(parse_last("2020-02"), Ok(Date::constant(2020, 2, 29)));
        assert_eq!(parse_first("2019-03-04"), Ok(Date::constant(2019, 3, 4)));
        assert!(parse_first("last year").is_err());
    }
}
