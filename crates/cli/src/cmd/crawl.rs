//! `tidings crawl`: finds articles without feeds.

use anyhow::{Result, bail};
use jiff::civil::Date;
use tidings_pipeline::archive::{self, ArchiveOptions, DateRange};

use super::{CrawlArgs, Report};
use crate::args::Global;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Sites, as host names or URLs [default: the sites of all feeds]
    sites: Vec<String>,
    /// Find the old articles of the sites and add them to the plan (backfill)
    #[arg(long)]
    archive: bool,
    /// First day of the history: a year, a month or a day, such as 2019, 2019-03 or 2019-03-01
    #[arg(long, value_name = "DATE", value_parser = parse_first, requires = "archive")]
    since: Option<Date>,
    /// Last day of the history: a year, a month or a day
    #[arg(long, value_name = "DATE", value_parser = parse_last, requires = "archive")]
    until: Option<Date>,
    /// Maximum number of requests for sitemaps and archive pages in this run
    #[arg(long, value_name = "N", requires = "archive")]
    pages: Option<u64>,
    /// Read sitemaps and archive pages again that were read before
    #[arg(long, requires = "archive")]
    again: bool,
    /// Show what would be asked for first, without requests
    #[arg(long, requires = "archive")]
    dry_run: bool,
    #[command(flatten)]
    crawl: CrawlArgs,
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
    if !args.archive {
        bail!("`tidings crawl` needs --archive, which finds the old articles of sites");
    }
    let pipeline = args.crawl.steps().over(super::open(global)?);
    let mut config = pipeline.config().clone();
    args.crawl.over(&mut config);
    let options = ArchiveOptions {
        sites: args.sites.clone(),
        range: DateRange { since: args.since, until: args.until },
        max_requests: args.pages,
        again: args.again,
        dry_run: args.dry_run,
        seed: args.crawl.seed,
    };
    Ok(archive::run(&pipeline.with_config(config), &options)?.into())
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
