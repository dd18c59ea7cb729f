//! Crawls as `status` and `why` show them: the tables of the last checkpoint.

use std::collections::BTreeMap;

use anyhow::Result;
use serde::Serialize;
use tidings_crawl::steward::{DomainRow, Row, SectionRow};
use tidings_crawl::{CrawlSummary, for_each_row, inspect, shape};
use tidings_store::Home;

use super::waiting_text;
use crate::display::{count, grouped};

/// Sections of a domain that are shown.
const MAX_SECTIONS: usize = 20;

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

/// The reasons of most pages, for a line of text: `short 12, off-topic 3`.
pub(super) fn reasons(counts: &BTreeMap<String, u64>) -> String {
    const SHOWN: usize = 3;
    let mut sorted: Vec<(&String, &u64)> = counts.iter().collect();
    sorted.sort_by_key(|(name, number)| (std::cmp::Reverse(**number), name.as_str()));
    let mut shown: Vec<String> =
        sorted.iter().take(SHOWN).map(|(name, number)| format!("{name} {}", grouped(**number))).collect();
    if sorted.len() > SHOWN {
        shown.push("…".to_owned());
    }
    if shown.is_empty() { String::new() } else { format!(" ({})", shown.join(", ")) }
}

/// A crawl in a line of text.
pub(crate) fn summary_text(crawl: &CrawlSummary) -> String {
    format!(
        "{}: {} and {:.1} MB requested: {} kept, {} refused{}, {} failed{}; {}; {} met, {} closed; {}",
        crawl.name,
        count(crawl.pages, "page"),
        crawl.bytes as f64 / 1e6,
        grouped(crawl.counts.kept),
        grouped(crawl.refused()),
        reasons(&crawl.counts.refused),
        grouped(crawl.failed()),
        reasons(&crawl.counts.failed),
        count(crawl.tokens, "new word"),
        count(crawl.domains, "site"),
        grouped(crawl.closed),
        waiting_text(crawl.waiting),
    )
}

/// The lines about a URL or registered domain: what each crawl knows of the domain, its sections and the URL.
pub(crate) fn lines(home: &Home, domain: &str, url: Option<&str>) -> Result<Vec<String>> {
    let mut lines = Vec::new();
    for DomainTrace { crawl, domain: row, sections } in domain_trace(home, domain)? {
        let evidence = row.evidence;
        let state = row.closed.map_or("open".to_owned(), |why| format!("closed: {why}"));
        let source = if row.source.is_empty() { "a seed".to_owned() } else { format!("linked by {}", row.source) };
        lines.push(format!(
            "crawl {crawl}: {} is {source}; {}, {:.1} kB, {}; {state}",
            row.name,
            count(evidence.pages, "page"),
            evidence.bytes as f64 / 1e3,
            count(evidence.tokens as u64, "new word"),
        ));
        let own = url.and_then(|url| url::Url::parse(url).ok()).map(|url| shape::section(&url));
        let shown = sections.into_iter().filter(|row| own.as_ref().is_none_or(|own| row.section == *own));
        for row in
            shown.filter(|row| row.evidence.pages > 0 || row.waiting > 0 || row.closed.is_some()).take(MAX_SECTIONS)
        {
            let state = row.closed.map_or("open".to_owned(), |why| format!("closed: {why}"));
            let (pages, waiting) = (count(row.evidence.pages, "page"), waiting_text(row.waiting));
            let words = count(row.evidence.tokens as u64, "new word");
            lines.push(format!("crawl {crawl}: section {}: {pages}, {words}, {waiting}; {state}", row.section));
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
    let names = home.crawls()?.into_iter();
    names.map(|name| Ok(CrawlSummary::read(&name, &home.crawl(&name))?)).collect()
}

/// What crawls know of a registered domain.
pub fn domain_trace(home: &Home, domain: &str) -> Result<Vec<DomainTrace>> {
    let mut traces = Vec::new();
    for name in home.crawls()? {
        let mut trace: Option<DomainTrace> = None;
        for_each_row(&home.crawl(&name), |row| match row {
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

#[cfg(test)]
mod tests {
    use super::*;
    use tidings_crawl::tables::PageCounts;

    #[test]
    fn a_crawl_is_a_line_with_the_most_common_reasons() {
        let refused = [("short", 1200), ("off-topic", 30), ("language fr", 4), ("list-like", 1)];
        let refused = refused.map(|(name, number)| (name.to_owned(), number)).into();
        let counts = PageCounts { kept: 7, refused, ..PageCounts::default() };
        let (name, tokens, waiting) = ("web".to_owned(), 1, 1);
        let text = summary_text(&CrawlSummary { name, tokens, waiting, counts, ..CrawlSummary::default() });
        assert!(
            text.contains("7 kept, 1,235 refused (short 1,200, off-topic 30, language fr 4, …), 0 failed; "),
            "{text}"
        );
        assert!(text.ends_with("; 1 new word; 0 sites met, 0 closed; 1 URL waits"), "{text}");
    }
}
