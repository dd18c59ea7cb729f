//! How much of a site's history a backfill found: its own estimate.
//!
//! The plan knows articles of the site that its feed brought. The share of them that the backfill found by other ways is
//! an estimate of its recall, with a binomial interval (Wilson's score interval).

use std::collections::{BTreeMap, HashMap};

use anyhow::Result;
use serde::Serialize;
use tidings_model::{Fingerprint, Row, is_archive};
use tidings_store::archive::{self, FoundArticles};
use tidings_store::{Home, plan, yields};

use super::site::{DateRange, day_of, site_of};

/// The quantile of the normal distribution for an interval of 95 %.
const Z: f64 = 1.959_964;

/// The share of known articles that a backfill found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Recall {
    /// Articles of the site that its feeds brought.
    pub known: u64,
    /// Of these, articles that the backfill found too.
    pub found_too: u64,
    /// The share; `None` without known articles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    /// The lower end of the 95 % interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// The upper end of the 95 % interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
}

impl Recall {
    /// The estimate from counts.
    pub fn of(found_too: u64, known: u64) -> Recall {
        if known == 0 {
            return Recall::default();
        }
        let (n, p) = (known as f64, found_too as f64 / known as f64);
        let centre = (p + Z * Z / (2.0 * n)) / (1.0 + Z * Z / n);
        let half = Z / (1.0 + Z * Z / n) * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
        Recall {
            known,
            found_too,
            share: Some(p),
            low: Some((centre - half).max(0.0)),
            high: Some((centre + half).min(1.0)),
        }
    }
}

impl std::fmt::Display for Recall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.share, self.low, self.high) {
            (Some(share), Some(low), Some(high)) => {
                write!(f, "{:.0} % ({:.0}–{:.0} %, {} known)", share * 100.0, low * 100.0, high * 100.0, self.known)
            }
            _ => f.write_str("unknown (no articles of a feed to compare with)"),
        }
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_wilsons() {
        let near = |left: Option<f64>, right: f64| (left.unwrap() - right).abs() < 0.0005;
        // Values of the literature for 95 %: 8 of 10, and 0 of 10.
        let eight = Recall::of(8, 10);
        assert!(near(eight.low, 0.4902) && near(eight.high, 0.9433), "{eight:?}");
        let none = Recall::of(0, 10);
        assert!(near(none.low, 0.0) && near(none.high, 0.2775), "{none:?}");
        assert_eq!(Recall::of(0, 0).share, None);
        assert!(Recall::of(100, 100).high == Some(1.0));
    }
}
