//! Hits and words in time.

use crate::cql::Attribute;
use crate::measure::interval::{Band, rate_band};
use crate::measure::per_million;
use crate::trend::{Bin, Fate, Shape, Step};
use serde::{Serialize, Serializer};

/// Hits in time, with what was collected beside them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Timeline {
    /// How long each point lasts.
    pub step: Step,
    /// The confidence of the bands.
    pub confidence: f64,
    /// Every bin from the first to the last, also those without documents.
    pub points: Vec<TimelinePoint>,
}

/// One bin. Without tokens nothing was collected, and there is no rate; with tokens and without hits the
/// rate is zero.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TimelinePoint {
    /// When.
    #[serde(serialize_with = "as_text")]
    pub bin: Bin,
    /// Hits.
    pub hits: u64,
    /// Tokens collected.
    pub tokens: u64,
    /// Documents collected.
    pub documents: u64,
    /// Sites they came from.
    pub sites: u64,
    /// Hits per million tokens.
    pub per_million: Option<f64>,
    /// Where that rate may lie by chance.
    pub band: Option<Band>,
}

impl TimelinePoint {
    /// A point of counts. `spread` as in [`rate_band`].
    pub fn of(bin: Bin, hits: u64, (tokens, documents, sites): (u64, u64, u64), spread: f64, confidence: f64) -> Self {
        let (hits_f, tokens_f) = (hits as f64, tokens as f64);
        TimelinePoint {
            bin,
            hits,
            tokens,
            documents,
            sites,
            per_million: per_million(hits_f, tokens_f),
            band: rate_band(hits_f, tokens_f, spread, confidence),
        }
    }
}

fn as_text<S: Serializer>(value: &impl ToString, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&value.to_string())
}

fn as_texts<S: Serializer>(values: &[Bin], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(values.iter().map(ToString::to_string))
}

/// Words that became more or less frequent.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Trends {
    /// What was counted.
    pub attribute: Attribute,
    /// The time axis: bins with enough tokens.
    #[serde(serialize_with = "as_texts")]
    pub bins: Vec<Bin>,
    /// How many words were tested.
    pub tested: u64,
    /// The share of false ones that was admitted among the rows.
    pub false_discovery_rate: f64,
    /// The words, surest first.
    pub rows: Vec<TrendRow>,
}

/// A word that became more or less frequent.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TrendRow {
    /// The word.
    pub value: String,
    /// How often it occurs in all bins.
    pub hits: u64,
    /// In how many documents.
    pub documents: u64,
    /// When it changed, if the test tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shape: Option<Shape>,
    /// By how many times its own mean rate it grows from the first bin to the last (Theil–Sen).
    pub growth: f64,
    /// The same as Sketch Engine shows it: the tangent of whole degrees.
    pub score: f64,
    /// Probability by chance.
    pub p: f64,
    /// The same, controlled for the number of words tested (Benjamini–Hochberg).
    pub q: f64,
    /// Mann–Kendall's z.
    pub kendall_z: f64,
    /// Hits per million tokens in each bin.
    pub per_million: Vec<f64>,
}

/// Words that were not there before.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NewWords {
    /// What was looked at.
    pub attribute: Attribute,
    /// The words, most widely spread first.
    pub rows: Vec<NewWordRow>,
}

/// A word that was not there before.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NewWordRow {
    /// The word.
    pub value: String,
    /// The day of its first document.
    pub first_seen: jiff::civil::Date,
    /// How often it occurs.
    pub hits: u64,
    /// In how many documents.
    pub documents: u64,
    /// On how many independent sites.
    pub sites: u64,
    /// On how many days.
    pub days: u64,
    /// Whether it stayed.
    pub fate: Fate,
}
