//! `tidings report`: an HTML page with charts about the collection.

use std::path::PathBuf;

use anyhow::Result;
use jiff::civil::Date;
use tidings_pipeline::report::{self, Options, Target};

use super::Report;
use crate::args::Global;
use crate::console;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "The page is a single file without scripts or external resources. It shows the volume by day and language, the \
    results of downloads and why pages were rejected, articles by feed, yield by host, documents by month of publication, and gaps \
    in the collection. Every chart has a table with its numbers."
)]
pub struct Args {
    /// File to write; - is standard output [default: report.html in the home]
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Cover the last seven days
    #[arg(long, group = "period")]
    week: bool,
    /// Cover the last thirty days; this is the default
    #[arg(long, group = "period")]
    month: bool,
    /// Cover the last year
    #[arg(long, group = "period")]
    year: bool,
    /// Cover the last N days
    #[arg(long, group = "period", value_name = "N", value_parser = clap::value_parser!(u32).range(1..=20_000))]
    days: Option<u32>,
    /// Last day of the report, such as 2026-03-01 [default: today]
    #[arg(long, value_name = "DAY")]
    until: Option<Date>,
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let pipeline = super::open_interruptible(global)?;
    let days = args.days.or(args.week.then_some(7)).or(args.year.then_some(365));
    let options = Options { days, until: args.until };
    let target = match &args.out {
        Some(out) if out.as_os_str() == "-" => {
            console::print(&report::render(&pipeline, &options)?);
            return Ok(Report::default());
        }
        Some(out) => Target::File(out.clone()),
        None => Target::Home,
    };
    Ok(report::run(&pipeline, &options, &target)?.into())
}
