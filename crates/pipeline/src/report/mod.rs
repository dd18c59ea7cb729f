//! The report: a self-contained HTML page of charts about a home.
//!
//! The page has no scripts, fonts or external images, so that it stays readable and opening it sends no request. Every
//! chart has its numbers in a table, for accessibility and reuse. Each chart has its own file here.

mod backfill;
mod calendar;
mod crawls;
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

/// The target of a report.
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

/// Renders the page, for callers that write it elsewhere.
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
    let mut sections = vec![
        volume::section(&matter),
        funnel::section(&matter),
        gain::section(&matter),
        scatter::section(&matter),
        months::section(&matter),
        calendar::section(&matter),
    ];
    sections.extend(crawls::section(&crate::crawl::summaries(home)?));
    sections.extend(backfill::section(&crate::archive::recall::figures(home)?));
    Ok(page::page(&matter, &sections))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_home;

    fn period() -> Period {
        Period::ending(test_home::SECOND_DAY.parse().unwrap(), 7)
    }

    fn now() -> Timestamp {
        "2026-03-03T12:00:00Z".parse().unwrap()
    }

    #[test]
    fn every_chart_has_a_table_of_its_numbers() {
        let (_folder, pipeline) = test_home::built();
        // The numbers of the calendar are its gaps: three days without a crawl.
        test_home::put_pages(pipeline.home().root(), "2026-02-25", "a.0", &test_home::articles()[..1]);
        let page = html(pipeline.home(), period(), now()).unwrap();
        let sections: Vec<&str> = page.split("<section ").skip(1).collect();
        assert_eq!(sections.len(), 6);
        for section in &sections {
            let has_chart = section.contains("<svg viewBox") && section.contains("role=\"img\"");
            assert!(!has_chart || section.contains("<table>"), "{}", &section[..40]);
        }
        assert!(sections[0].contains("role=\"img\"") && sections[0].contains("4 documents in 2 languages"));
    }

    #[test]
    fn a_report_loads_nothing_from_elsewhere() {
        let (_folder, pipeline) = test_home::built();
        let page = html(pipeline.home(), period(), now()).unwrap();
        for word in ["<script", "<link", "<img", "src=", "@import", "url("] {
            assert!(!page.contains(word), "{word}");
        }
        assert!(page.contains("default-src 'none'"));
    }

    #[test]
    fn names_of_feeds_and_homes_are_never_markup() {
        let folder = tempfile::tempdir().unwrap();
        let pipeline = Pipeline::create(&folder.path().join("a<b>&\"c")).unwrap();
        std::fs::write(pipeline.home().root().join("feeds.txt"), "https://e.org/feed?a=<b>&c='d\n").unwrap();
        let page = html(pipeline.home(), period(), now()).unwrap();
        assert!(!page.contains("<b>") && page.contains("a&lt;b&gt;&amp;&quot;c"), "{page}");
    }

    #[test]
    fn a_home_without_pages_has_a_report() {
        let (_folder, pipeline) = test_home::empty();
        let page = html(pipeline.home(), period(), now()).unwrap();
        assert!(page.contains("No documents in this period."));
    }

    #[test]
    fn a_period_ends_on_its_last_day_and_has_at_least_one_day() {
        let options = |days, until: &str| Options { days, until: Some(until.parse().unwrap()) };
        let first = |options: Options| options.period(now()).first.to_string();
        assert_eq!(first(options(Some(7), "2026-03-07")), "2026-03-01");
        assert_eq!(first(options(Some(0), "2026-03-07")), "2026-03-07");
        assert_eq!(first(options(None, "2026-03-31")), "2026-03-02");
        assert_eq!(Options::default().period(now()).last.to_string(), "2026-03-03");
    }
}
