//! A crawl in numbers, from the tables of its last checkpoint.

use std::path::Path;

use serde::Serialize;

use crate::error::Result;
use crate::inspect::read_table;
use crate::row_text;
use crate::steward::Row;
use crate::tables::{CRAWL_TABLE, DOMAIN_TABLE, PageCounts};

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
    /// Pages by outcome.
    #[serde(flatten)]
    pub counts: PageCounts,
}

impl CrawlSummary {
    /// The crawl with a name, in its folder.
    pub fn read(name: &str, folder: &Path) -> Result<CrawlSummary> {
        let counts = PageCounts::read(folder)?;
        let mut summary = CrawlSummary { name: name.to_owned(), counts, ..CrawlSummary::default() };
        for_each_row(folder, |row| match row {
            Row::Crawl(row) => {
                (summary.pages, summary.bytes, summary.tokens) = (row.pages, row.bytes, row.tokens as u64);
            }
            Row::Domain(row) => {
                summary.domains += 1;
                summary.closed += u64::from(row.closed.is_some());
            }
            Row::Section(row) => summary.waiting += row.waiting,
        })?;
        Ok(summary)
    }

    /// Pages that were not kept.
    pub fn refused(&self) -> u64 {
        self.counts.refused.values().sum()
    }

    /// URLs that gave no page.
    pub fn failed(&self) -> u64 {
        self.counts.failed.values().sum()
    }
}

/// Shows the rows of the last checkpoint: the crawl, then each domain before its sections.
pub fn for_each_row(folder: &Path, mut see: impl FnMut(Row)) -> Result<()> {
    for table in [CRAWL_TABLE, DOMAIN_TABLE] {
        read_table(folder, table, |text| row_text::for_each(text, &mut see))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::steward::{CrawlRow, DomainRow, SectionRow};
    use crate::tables::COUNT_TABLE;
    use crate::{CrawlState, TablePart};

    #[test]
    fn a_summary_adds_up_the_tables() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(CrawlSummary::read("web", folder.path()).unwrap().pages, 0);
        let mut state = CrawlState::open(folder.path()).unwrap();
        let rows = [
            Row::Domain(DomainRow { name: "a.example".into(), ..DomainRow::default() }),
            Row::Section(SectionRow { domain: "a.example".into(), waiting: 3, ..SectionRow::default() }),
        ];
        let domains: String = rows.iter().map(|row| serde_json::to_string(row).unwrap() + "\n").collect();
        let crawl = serde_json::to_string(&Row::Crawl(CrawlRow { pages: 7, ..CrawlRow::default() })).unwrap();
        let counts = r#"{"kept":4,"refused":{"off-topic":2},"failed":{"http-404":1}}"#.to_owned();
        let parts = [(CRAWL_TABLE, crawl), (DOMAIN_TABLE, domains), (COUNT_TABLE, counts)];
        let parts = parts.map(|(table, text)| TablePart { table, shard: 0, text });
        state.checkpoint(parts, Vec::new()).unwrap();
        let summary = CrawlSummary::read("web", folder.path()).unwrap();
        assert_eq!((summary.pages, summary.domains, summary.waiting), (7, 1, 3));
        assert_eq!((summary.counts.kept, summary.refused(), summary.failed()), (4, 2, 1));
    }
}
