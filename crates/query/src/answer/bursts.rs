//! Words that were in the news for a while.

use serde::Serialize;

use crate::cql::Attribute;
use crate::trend::{Bin, Sequel, Step};

/// Words that burst: much more in one bin than before.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Bursts {
    /// What was counted.
    pub attribute: Attribute,
    /// How long a bin lasts.
    pub step: Step,
    /// The words, strongest burst first.
    pub rows: Vec<BurstRow>,
}

/// A word that burst.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BurstRow {
    /// The word.
    pub value: String,
    /// When.
    #[serde(serialize_with = "super::as_text")]
    pub bin: Bin,
    /// Log-likelihood against the bins before, times documents by hits.
    pub score: f64,
    /// How many times the rate before, log2.
    pub log_ratio: f64,
    /// Hits in the bin.
    pub hits: u64,
    /// Documents with it in the bin.
    pub documents: u64,
    /// What came then.
    pub sequel: Sequel,
}
