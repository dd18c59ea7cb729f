//! `tidings report`: a page of charts about what was gathered, in one file.

use std::path::PathBuf;

use anyhow::Result;
use jiff::civil::Date;
use tidings_pipeline::report::{self, Options, Target};

use super::Report;
use crate::args::Global;
use crate::console;

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
