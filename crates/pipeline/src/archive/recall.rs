//! How much of a site's history a backfill found: its own estimate.
//!
//! The plan knows articles of the site that its feed brought. The share of them that the backfill found by other ways is
//! an estimate of its recall, with a binomial interval (Wilson's score interval).

use std::collections::{BTreeMap, HashMap};

use anyhow::Result;
use serde::Serialize;
use tidings_model::{Fingerprint, Row, is_archive};
use tidings_store::archive::{self, FoundArticles};
pub use tidings_store::recall::Recall;
use tidings_store::{Home, plan, yields};

use super::site::{DateRange, day_of, site_of};

/// The figures of a month.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct MonthFigures {
    /// The month of publication, `2019-03`.
    pub month: String,
    /// Articles that the backfill found, also those that the feed brought.
    pub found: u64,
    /// Of these, articles that were fetched.
    pub fetched: u64,
    /// The estimate.
    pub recall: Recall,
}

/// The figures of a site.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct SiteFigures {
    /// The site.
    pub site: String,
    /// Articles that the backfill found.
    pub found: u64,
    /// Of these, articles that were fetched.
    pub fetched: u64,
    /// Documents of pages that the backfill added.
    pub documents: u64,
    /// Requests for listings, robots.txt included.
    pub listing_requests: u64,
    /// The estimate.
    pub recall: Recall,
    /// The same by month of publication, the newest first.
    pub months: Vec<MonthFigures>,
}

#[derive(Default)]
struct Counts {
    found: u64,
    fetched: u64,
    known: u64,
    found_too: u64,
}

/// The counts of a site while the plan is read.
struct Census {
    found: FoundArticles,
    range: DateRange,
    /// The end of the last round of the backfill.
    updated: String,
    months: BTreeMap<String, Counts>,
}

impl Census {
    fn count(&mut self, row: &Row<'_>) {
        let day = day_of(row);
        if day.is_some_and(|day| !self.range.contains(day)) {
            return;
        }
        let month = day.map_or_else(|| "unknown".to_owned(), |day| day.to_string()[..7].to_owned());
        let counts = self.months.entry(month).or_default();
        let is_found = self.found.contains(Fingerprint::of(row.url));
        counts.found += u64::from(is_found);
        counts.fetched += u64::from(is_found && row.status == "ok");
        if !is_archive(row.feed) && row.seen <= self.updated.as_str() {
            counts.known += 1;
            counts.found_too += u64::from(is_found);
        }
    }
}

/// The figures of all backfills of a home, from the plan. Articles that a feed brought after the backfill read its
/// listings are not counted as missed.
pub fn figures(home: &Home) -> Result<Vec<SiteFigures>> {
    let orders = archive::orders(home)?;
    if orders.is_empty() {
        return Ok(Vec::new());
    }
    let mut sites: HashMap<String, Census> = HashMap::new();
    for order in &orders {
        let range = DateRange { since: order.since.parse().ok(), until: order.until.parse().ok() };
        let (found, updated) = (archive::found(home, &order.site)?, order.updated.clone());
        sites.insert(order.site.clone(), Census { found, range, updated, months: BTreeMap::new() });
    }
    plan::read(home, |row| {
        if let Some(census) = sites.get_mut(site_of(row.url)) {
            census.count(row);
        }
    })?;
    let mut documents: HashMap<String, u64> = HashMap::new();
    yields::read(home, |row| {
        if row.kind == "feed" && is_archive(&row.name) {
            *documents.entry(row.name).or_default() += row.sum.documents;
        }
    })?;
    let figures = orders.into_iter().filter_map(|order| {
        let Census { found, months, .. } = sites.remove(&order.site)?;
        let sum = |part: fn(&Counts) -> u64| months.values().map(part).sum::<u64>();
        Some(SiteFigures {
            found: found.len() as u64,
            fetched: sum(|counts| counts.fetched),
            documents: documents.get(&format!("{}{}", tidings_model::ARCHIVE, order.site)).copied().unwrap_or(0),
            listing_requests: order.requests,
            recall: Recall::of(sum(|counts| counts.found_too), sum(|counts| counts.known)),
            months: months.into_iter().rev().map(month_figures).collect(),
            site: order.site,
        })
    });
    Ok(figures.collect())
}

fn month_figures((month, counts): (String, Counts)) -> MonthFigures {
    let Counts { found, fetched, known, found_too } = counts;
    MonthFigures { month, found, fetched, recall: Recall::of(found_too, known) }
}
