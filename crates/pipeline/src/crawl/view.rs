//! Crawls as `status` and `why` show them: the tables of the last checkpoint.

use anyhow::Result;
use serde::Serialize;
use tidings_crawl::inspect::{self, read_table};
use tidings_crawl::saved::{CRAWL_TABLE, DOMAIN_TABLE};
use tidings_crawl::shape;
use tidings_crawl::steward::{DomainRow, Row, SectionRow};
use tidings_store::Home;

use crate::display::{count, grouped};

/// Sections of a domain that are shown.
const MAX_SECTIONS: usize = 20;

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

impl std::fmt::Display for CrawlSummary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{}: {} and {:.1} MB requested, {} new words; {} met, {} closed; {} wait",
            self.name,
            count(self.pages, "page"),
            self.bytes as f64 / 1e6,
            grouped(self.tokens),
            count(self.domains, "site"),
            grouped(self.closed),
            count(self.waiting, "URL"),
        )
    }
}

/// The lines about a URL or registered domain: what each crawl knows of the domain, its sections and the URL.
pub(crate) fn lines(home: &Home, domain: &str, url: Option<&str>) -> Result<Vec<String>> {
    let mut lines = Vec::new();
    for DomainTrace { crawl, domain: row, sections } in domain_trace(home, domain)? {
        let evidence = row.evidence;
        let state = row.closed.map_or("open".to_owned(), |why| format!("closed: {why}"));
        let source = if row.source.is_empty() { "a seed".to_owned() } else { format!("linked by {}", row.source) };
        lines.push(format!(
            "crawl {crawl}: {} is {source}; {}, {:.1} kB, {} new words; {state}",
            row.name,
            count(evidence.pages, "page"),
            evidence.bytes as f64 / 1e3,
            grouped(evidence.tokens as u64),
        ));
        let own = url.and_then(|url| url::Url::parse(url).ok()).map(|url| shape::section(&url));
        let shown = sections.into_iter().filter(|row| own.as_ref().is_none_or(|own| row.section == *own));
        for row in
            shown.filter(|row| row.evidence.pages > 0 || row.waiting > 0 || row.closed.is_some()).take(MAX_SECTIONS)
        {
            let state = row.closed.map_or("open".to_owned(), |why| format!("closed: {why}"));
            let (pages, waiting) = (count(row.evidence.pages, "page"), count(row.waiting, "URL"));
            let words = grouped(row.evidence.tokens as u64);
            lines.push(format!(
                "crawl {crawl}: section {}: {pages}, {words} new words, {waiting} wait; {state}",
                row.section
            ));
        }
        if let Some(url) = url {
            let folder = home.crawl(&crawl);
            if let Some(refused) = inspect::refused_page(&folder, url)? {
                lines.push(format!("crawl {crawl}: fetched on {} and not kept: {}", refused.day, refused.reason));
            } else if inspect::is_known(&folder, url)? {
                lines.push(format!("crawl {crawl}: the URL is known"));
            }
        }
    }
    Ok(lines)
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
