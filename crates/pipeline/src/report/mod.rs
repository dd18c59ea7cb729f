//! The report: a page of charts about what a home has gathered, in one file that needs nothing else.
//!
//! No script, no font, no picture from elsewhere: what is written today can be read in twenty years, and nobody learns that
//! it was opened. Every chart has its numbers beside it as a table, for those who cannot see it and for those who
//! want to calculate. One file here is one chart.

mod calendar;
mod funnel;
mod gain;
mod matter;
mod months;
mod page;
mod scatter;
mod svg;
mod volume;

use std::fmt;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use jiff::Timestamp;
use jiff::civil::Date;
use serde::Serialize;
use tidings_store::Home;

use crate::Pipeline;
use crate::health::day_of;
use crate::outcome::Outcome;
use matter::Matter;
pub use matter::Period;

/// The days that a report is about by default.
const USUAL_DAYS: u32 = 30;

/// Where a report goes.
#[derive(Debug, Clone, Default)]
pub enum Target {
    /// `report.html` in the home.
    #[default]
    Home,
    /// A file.
    File(PathBuf),
}

/// Options of a report.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Days that it is about; 30 by default.
    pub days: Option<u32>,
    /// Its last day; today by default.
    pub until: Option<Date>,
}

impl Options {
    fn period(&self, now: Timestamp) -> Period {
        Period::ending(self.until.unwrap_or_else(|| day_of(now)), self.days.unwrap_or(USUAL_DAYS))
    }
}

/// A report that was written.
#[derive(Debug, Clone, Serialize)]
pub struct ReportOutcome {
    /// Always true.
    pub done: bool,
    /// The file.
    #[serde(serialize_with = "crate::outcome::serialize_path")]
    pub file: PathBuf,
    /// Its first day.
    pub first: Date,
    /// Its last day.
    pub last: Date,
    /// Its size.
    pub bytes: usize,
}

impl Outcome for ReportOutcome {}

impl fmt::Display for ReportOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} to {} in {}", self.first, self.last, self.file.display())
    }
}

/// Writes a report.
pub fn run(pipeline: &Pipeline, options: &Options, target: &Target) -> Result<ReportOutcome> {
    let now = tidings_model::clock::now();
    let period = options.period(now);
    let html = html(pipeline.home(), period, now)?;
    let file = match target {
        Target::Home => pipeline.home().report(),
        Target::File(file) => file.clone(),
    };
    tidings_storage::write_atomic(&file, html.as_bytes()).context("cannot write the report")?;
    Ok(ReportOutcome { done: true, file, first: period.first, last: period.last, bytes: html.len() })
}

/// The page of a report, for callers that write it elsewhere.
pub fn render(pipeline: &Pipeline, options: &Options) -> Result<String> {
    let now = tidings_model::clock::now();
    html(pipeline.home(), options.period(now), now)
}

/// Writes the report of the last days into the home.
pub fn write(pipeline: &Pipeline) -> Result<()> {
    run(pipeline, &Options::default(), &Target::Home).map(drop)
}

/// The whole page.
pub fn html(home: &Home, period: Period, now: Timestamp) -> Result<String> {
    let matter = Matter::read(home, period, now)?;
    let sections = [
        volume::section(&matter),
        funnel::section(&matter),
        gain::section(&matter),
        scatter::section(&matter),
        months::section(&matter),
        calendar::section(&matter),
    ];
    Ok(page::page(&matter, &sections))
}
