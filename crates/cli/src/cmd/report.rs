//! `tidings report`: a page of charts about what was gathered, in one file.

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use jiff::civil::Date;
use serde_json::json;
use tidings_model::clock;

use super::Report;
use crate::args::Global;
use crate::console;
use tidings_pipeline::health::day_of;
use tidings_pipeline::report::{self, Period};

#[derive(Debug, clap::Args)]
#[command(
    after_help = "The page needs nothing but itself: no script, no request to anybody. It shows volume by day and language, what \
    became of pages and why, what each feed brought, the yield of hosts, documents by month of publication, and \
    gaps in the harvest; the numbers of every chart are beside it as a table."
)]
pub struct Args {
    /// Where to write it; - is standard output [default: report.html in the home]
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
    /// The last seven days
    #[arg(long, group = "period")]
    week: bool,
    /// The last thirty days, which is the default
    #[arg(long, group = "period")]
    month: bool,
    /// The last year
    #[arg(long, group = "period")]
    year: bool,
    /// The last so many days
    #[arg(long, group = "period", value_name = "N", value_parser = clap::value_parser!(u32).range(1..=20_000))]
    days: Option<u32>,
    /// The last day of the report, such as 2026-03-01 [default: today]
    #[arg(long, value_name = "DAY")]
    until: Option<Date>,
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let (home, _) = super::open_home(global)?;
    let now = clock::now();
    let days = match (args.days, args.week, args.year) {
        (Some(days), ..) => days,
        (_, true, _) => 7,
        (.., true) => 365,
        _ => 30,
    };
    let period = Period::ending(args.until.unwrap_or_else(|| day_of(now)), days);
    let html = report::html(&home, period, now)?;
    let out = args.out.clone().unwrap_or_else(|| home.root().join("report.html"));
    if out.as_os_str() == "-" {
        console::print(&html);
        return Ok(Report::default());
    }
    tidings_store::write_whole(&out, html.as_bytes()).context("cannot write the report")?;
    let text = format!("{} to {} in {}\n", period.first, period.last, out.display());
    let json = json!({ "done": true, "file": out, "first": period.first, "last": period.last, "bytes": html.len() });
    Ok(Report { text, json, ..Report::default() })
}
