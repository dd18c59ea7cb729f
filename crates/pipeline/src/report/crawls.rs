//! Crawls: pages asked for, kept and refused by reason, with new words and waiting URLs.

use tidings_crawl::CrawlSummary;

use super::page::{Numbers, Section};
use crate::display::{bytes, count, grouped};

/// The section; `None` in a home without crawls.
pub fn section(crawls: &[CrawlSummary]) -> Option<Section> {
    if crawls.is_empty() {
        return None;
    }
    let mut table = Numbers::new(&["crawl", "outcome", "reason", "URLs", "share"], 3);
    for crawl in crawls {
        let all = crawl.counts.kept + crawl.refused() + crawl.failed();
        let mut row = |outcome: &str, reason: &str, urls: u64| {
            let share = if all == 0 { String::new() } else { format!("{:.1} %", 100.0 * urls as f64 / all as f64) };
            table.rows.push(vec![crawl.name.clone(), outcome.to_owned(), reason.to_owned(), grouped(urls), share]);
        };
        row("kept", "", crawl.counts.kept);
        for (outcome, counts) in [("refused", &crawl.counts.refused), ("failed", &crawl.counts.failed)] {
            let mut sorted: Vec<(&String, &u64)> = counts.iter().collect();
            sorted.sort_by_key(|(name, urls)| (std::cmp::Reverse(**urls), name.as_str()));
            sorted.into_iter().for_each(|(reason, urls)| row(outcome, reason, *urls));
        }
        table.rows.push(vec![
            crawl.name.clone(),
            "waiting".into(),
            String::new(),
            grouped(crawl.waiting),
            String::new(),
        ]);
    }
    let sum = |part: fn(&CrawlSummary) -> u64| crawls.iter().map(part).sum::<u64>();
    let lead = format!(
        "{}: {} kept of {} requested ({}), {}; {} met, {} closed.",
        count(crawls.len() as u64, "crawl"),
        grouped(sum(|crawl| crawl.counts.kept)),
        count(sum(|crawl| crawl.pages), "page"),
        bytes(sum(|crawl| crawl.bytes) as f64),
        count(sum(|crawl| crawl.tokens), "new word"),
        count(sum(|crawl| crawl.domains), "site"),
        grouped(sum(|crawl| crawl.closed)),
    );
    let (id, title) = ("crawls", "Crawls");
    Some(Section { id, title, lead, chart: String::new(), legend: Vec::new(), table, open: true })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidings_crawl::tables::PageCounts;

    #[test]
    fn outcomes_have_rows_with_their_reasons_the_most_common_first() {
        assert!(section(&[]).is_none());
        let refused = [("off-topic".to_owned(), 2), ("short".to_owned(), 5)].into();
        let counts = PageCounts { kept: 3, refused, ..PageCounts::default() };
        let crawl =
            CrawlSummary { name: "web".into(), pages: 10, tokens: 900, waiting: 4, counts, ..Default::default() };
        let section = section(&[crawl]).unwrap();
        assert!(section.lead.starts_with("1 crawl: 3 kept of 10 pages requested"), "{}", section.lead);
        let rows: Vec<String> = section.table.rows.iter().map(|row| row.join(" ")).collect();
        assert_eq!(rows[..2], ["web kept  3 30.0 %", "web refused short 5 50.0 %"]);
        assert_eq!(rows[3], "web waiting  4 ");
    }
}
