//! Settings of the index.

use anyhow::Result;
use serde::{Deserialize, Serialize};

use super::within;

/// The `[index]` table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[allow(missing_docs)] // The template documents each key to users.
pub struct IndexConfig {
    pub memory_mib: usize,
}

impl Default for IndexConfig {
    fn default() -> IndexConfig {
        IndexConfig { memory_mib: 300 }
    }
}

impl IndexConfig {
    pub(super) fn check(&self) -> Result<()> {
        within("index.", [("memory_mib", self.memory_mib, 32..=1_000_000)])
    }
}
