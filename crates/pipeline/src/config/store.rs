//! Settings of storage.

use anyhow::Result;
use serde::{Deserialize, Serialize};

use super::within;

/// The `[store]` table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[allow(missing_docs)] // The template documents each key to users.
pub struct StoreConfig {
    pub history: usize,
    pub prune_after: u32,
    pub runs_days: u32,
    pub compression: i32,
    pub min_free_mib: u64,
}

impl Default for StoreConfig {
    fn default() -> StoreConfig {
        StoreConfig { history: 12, prune_after: 100, runs_days: 400, compression: 3, min_free_mib: 512 }
    }
}

impl StoreConfig {
    pub(super) fn check(&self) -> Result<()> {
        within("store.", [("compression", self.compression, 1..=19)])
    }
}
