//! Settings of feed discovery.

use anyhow::Result;
use serde::{Deserialize, Serialize};

use super::{languages, within};

/// The `[discover]` table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[allow(missing_docs)] // The template documents each key to users.
pub struct DiscoverConfig {
    pub grow: bool,
    pub budget_requests: u64,
    pub max_requests: u32,
    pub min_seen: u64,
    pub min_good_pages: u64,
    pub languages: Vec<String>,
}

impl Default for DiscoverConfig {
    fn default() -> DiscoverConfig {
        DiscoverConfig {
            grow: false,
            budget_requests: 200,
            max_requests: 12,
            min_seen: 20,
            min_good_pages: 20,
            languages: Vec::new(),
        }
    }
}

impl DiscoverConfig {
    pub(super) fn check(&self) -> Result<()> {
        languages("discover", &self.languages)?;
        within("discover.", [("max_requests", self.max_requests, 1..=1000)])
    }
}
