//! Backfills: articles found, fetched and extracted by site and month, with the recall that each estimates for itself.

use super::page::{Numbers, Section};
use crate::archive::recall::{Recall, SiteFigures};
use crate::display::{count, grouped};

/// Months that are shown of each site.
const MONTHS: usize = 24;

/// The section; `None` in a home without backfills.
pub fn section(sites: &[SiteFigures]) -> Option<Section> {
    if sites.is_empty() {
        return None;
    }
    let mut table = Numbers::new(
        &["site", "month", "found", "fetched", "documents", "listing requests", "recall", "interval", "known"],
        2,
    );
    for site in sites {
        let requests = grouped(site.listing_requests);
        let counts = [grouped(site.found), grouped(site.fetched), grouped(site.documents), requests];
        table.rows.push(row(&site.site, "all", counts, &site.recall));
        for month in site.months.iter().take(MONTHS) {
            let counts = [grouped(month.found), grouped(month.fetched), String::new(), String::new()];
            table.rows.push(row(&site.site, &month.month, counts, &month.recall));
        }
    }
    let sum = |part: fn(&SiteFigures) -> u64| sites.iter().map(part).sum::<u64>();
    let (known, found_too) = (sum(|site| site.recall.known), sum(|site| site.recall.found_too));
    let lead = format!(
        "{} of {} found, {} fetched; recall {}, by the articles that feeds brought.",
        count(sum(|site| site.found), "article"),
        count(sites.len() as u64, "site"),
        grouped(sum(|site| site.fetched)),
        Recall::of(found_too, known)
    );
    let (id, title) = ("backfills", "History of sites");
    Some(Section { id, title, lead, chart: String::new(), legend: Vec::new(), table, open: true })
}

fn row(site: &str, month: &str, counts: [String; 4], recall: &Recall) -> Vec<String> {
    let percent = |share: Option<f64>| share.map_or(String::new(), |share| format!("{:.0} %", share * 100.0));
    let interval = match (recall.low, recall.high) {
        (Some(low), Some(high)) => format!("{:.0}–{:.0} %", low * 100.0, high * 100.0),
        _ => String::new(),
    };
    let names = [site.to_owned(), month.to_owned()].into_iter();
    names.chain(counts).chain([percent(recall.share), interval, grouped(recall.known)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::recall::MonthFigures;

    #[test]
    fn sites_and_months_have_rows_with_their_recall() {
        assert!(section(&[]).is_none());
        let month = MonthFigures { month: "2019-03".into(), found: 7, fetched: 3, recall: Recall::of(2, 4) };
        let site = SiteFigures {
            site: "g.example".into(),
            found: 9,
            recall: Recall::of(8, 10),
            months: vec![month],
            ..SiteFigures::default()
        };
        let section = section(&[site]).unwrap();
        assert!(section.lead.starts_with("9 articles of 1 site found, 0 fetched; recall 80 %"), "{}", section.lead);
        assert_eq!(section.table.rows.len(), 2);
        assert_eq!(section.table.rows[1][..3], ["g.example", "2019-03", "7"]);
        assert!(section.table.rows.iter().all(|row| row.len() == section.table.columns.len()));
    }
}
