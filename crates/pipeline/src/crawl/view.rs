//! Crawls as `status` and `why` show them: the tables of the last checkpoint.

use anyhow::Result;
use serde::Serialize;
use tidings_crawl::read_table;
use tidings_crawl::steward::{DomainRow, Row, SectionRow};
use tidings_store::Home;

use super::engine::{CRAWL_TABLE, DOMAIN_TABLE};

/// A crawl in numbers.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct CrawlSummary {
    /// Its name.
    pub name: String,
    /// Requests for pages.
    pub pages: u64,
    /// Bytes on the wire.
    pub bytes: u64,
    /// New words in wanted languages.
    pub tokens: u64,
    /// Registered domains that were met.
    pub domains: u64,
    /// Of these, closed ones.
    pub closed: u64,
    /// URLs that wait.
    pub waiting: u64,
}

/// A domain in a crawl.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DomainTrace {
    /// The crawl.
    pub crawl: String,
    /// The domain.
    pub domain: DomainRow,
    /// Its sections.
    pub sections: Vec<SectionRow>,
}

fn for_each_row(home: &Home, name: &str, mut see: impl FnMut(Row)) -> Result<()> {
    for table in [CRAWL_TABLE, DOMAIN_TABLE] {
        read_table(&home.crawl(name), table, |text| {
            text.lines().filter_map(|line| serde_json::from_str(line).ok()).for_each(&mut see);
        })?;
    }
    Ok(())
}

/// All crawls of a home at their last checkpoints.
pub fn summaries(home: &Home) -> Result<Vec<CrawlSummary>> {
    let mut summaries = Vec::new();
    for name in home.crawls()? {
        let mut summary = CrawlSummary { name: name.clone(), ..CrawlSummary::default() };
        for_each_row(home, &name, |row| match row {
            Row::Crawl(row) => {
                (summary.pages, summary.bytes, summary.tokens) = (row.pages, row.bytes, row.tokens as u64);
            }
            Row::Domain(row) => {
                summary.domains += 1;
                summary.closed += u64::from(row.closed.is_some());
            }
            Row::Section(row) => summary.waiting += row.waiting,
        })?;
        summaries.push(summary);
    }
    Ok(summaries)
}

/// What crawls know of a registered domain.
pub fn domain_trace(home: &Home, domain: &str) -> Result<Vec<DomainTrace>> {
    let mut traces = Vec::new();
    for name in home.crawls()? {
        let mut trace: Option<DomainTrace> = None;
        for_each_row(home, &name, |row| match row {
            Row::Domain(row) if row.name == domain => {
                trace = Some(DomainTrace { crawl: name.clone(), domain: row, sections: Vec::new() });
            }
            Row::Section(row) if row.domain == domain => {
                if let Some(trace) = &mut trace {
                    trace.sections.push(row);
                }
            }
            _ => {}
        })?;
        traces.extend(trace);
    }
    Ok(traces)
}
