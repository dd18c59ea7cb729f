//! Saved state: one row for the crawl, one a domain, one a section.

use serde::{Deserialize, Serialize};

use super::types::CloseReason;
use crate::policy::{DomainHints, Evidence};

/// A row of saved state, in any serde format.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Row {
    /// The crawl as a whole.
    Crawl(CrawlRow),
    /// A registered domain.
    Domain(DomainRow),
    /// A section of a domain; it follows the row of its domain.
    Section(SectionRow),
}

/// Totals of a crawl and what its rule learned.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CrawlRow {
    /// Requests, also those without a page.
    pub pages: u64,
    /// Bytes on the wire.
    pub bytes: u64,
    /// New tokens.
    pub tokens: f64,
    /// Numbers that the rule learned, by its own order.
    pub learned: Vec<f64>,
}

/// A registered domain.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct DomainRow {
    /// Its name.
    pub name: String,
    /// Why it is closed, if it is.
    pub closed: Option<CloseReason>,
    /// Facts before its first page.
    pub hints: DomainHints,
    /// The domain that linked to it first; empty for seeds.
    pub source: String,
    /// Whether a second domain links to it.
    pub confirmed: bool,
    /// Evidence of all its pages.
    pub evidence: Evidence,
    /// Sum of value and cost of its first pages, from which the prior is learned.
    pub probe: (f64, f64),
}

/// A section of the domain whose row is before it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SectionRow {
    /// Its domain.
    pub domain: String,
    /// Host and shape of the path.
    pub section: String,
    /// Whether it is an arm of its own.
    pub arm: bool,
    /// URLs that wait.
    pub waiting: u64,
    /// Why it is closed, if it is.
    pub closed: Option<CloseReason>,
    /// Evidence of its pages.
    pub evidence: Evidence,
}
