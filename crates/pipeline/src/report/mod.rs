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

use anyhow::Result;
use jiff::Timestamp;
use tidings_store::Home;

use crate::Pipeline;
use crate::health::day_of;
use matter::Matter;
pub use matter::Period;

/// The days that a report is about by default.
const USUAL_DAYS: u32 = 30;

/// Writes the report of the last days into the home.
pub fn write(pipeline: &Pipeline) -> Result<()> {
    let now = tidings_model::clock::now();
    let html = html(pipeline.home(), Period::ending(day_of(now), USUAL_DAYS), now)?;
    Ok(pipeline.home().write_report(html.as_bytes())?)
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
