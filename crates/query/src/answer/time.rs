//! Hits and words in time.

use super::as_text;
use crate::cql::Attribute;
use crate::measure::interval::{Band, rate_band};
use crate::measure::per_million;
use crate::trend::{
    Bin, Collected, NewWordConfig, Persistence, Rise, RiseConfig, Rises, Shape, Sighting, Step, Table, Verdict, health,
    judge,
};
use jiff::ToSpan;
use jiff::civil::Date;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;

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
    /// Days of the bin.
    pub days: u32,
    /// Days of the bin with documents.
    pub days_with_documents: u32,
    /// How well the bin was collected, from 0 to 1: see [`crate::trend::health()`].
    pub health: f64,
    /// Hits per million tokens.
    pub per_million: Option<f64>,
    /// Where that rate may lie by chance.
    pub band: Option<Band>,
}

impl TimelinePoint {
    /// A point of counts, the last of which are the days with documents. `spread` as in [`rate_band`].
    pub fn of(
        bin: Bin,
        hits: u64,
        (tokens, documents, sites, days_with_documents): (u64, u64, u64, u32),
        spread: f64,
        confidence: f64,
    ) -> Self {
        let (hits_f, tokens_f) = (hits as f64, tokens as f64);
        TimelinePoint {
            bin,
            hits,
            tokens,
            documents,
            sites,
            days: bin.days(),
            days_with_documents,
            health: 0.0,
            per_million: per_million(hits_f, tokens_f),
            band: rate_band(hits_f, tokens_f, spread, confidence),
        }
    }
}

impl Timeline {
    /// A timeline of points: how well each was collected shows beside the others.
    pub fn of(step: Step, confidence: f64, mut points: Vec<TimelinePoint>) -> Timeline {
        let collected: Vec<Collected> = points
            .iter()
            .map(|point| Collected {
                days: point.days,
                days_with_documents: point.days_with_documents,
                sites: point.sites,
            })
            .collect();
        points.iter_mut().zip(health(&collected)).for_each(|(point, health)| point.health = health);
        Timeline { step, confidence, points }
    }
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

impl Trends {
    /// Makes the answer of a test of all words. `bins` are those of the tables; `name` gives the word of a
    /// row.
    pub fn of(
        attribute: Attribute,
        bins: &[Bin],
        config: &RiseConfig,
        outcome: &Rises,
        (hits, documents): (&Table<'_>, &Table<'_>),
        name: impl Fn(usize) -> String,
    ) -> Trends {
        let width = bins.len();
        let used = |table: &Table<'_>, row: usize| -> Vec<u32> {
            outcome.bins.iter().map(|bin| table.counts[row * width + bin]).collect()
        };
        let sum = |counts: &[u32]| counts.iter().map(|count| u64::from(*count)).sum();
        let row = |rise: &Rise| {
            let (hits_by_bin, documents_by_bin) = (used(hits, rise.row), used(documents, rise.row));
            let rate = |(count, bin): (&u32, &usize)| per_million(f64::from(*count), hits.tokens[*bin]).unwrap_or(0.0);
            TrendRow {
                value: name(rise.row),
                hits: sum(&hits_by_bin),
                documents: sum(&documents_by_bin),
                shape: rise.shape,
                growth: rise.growth,
                score: rise.score,
                p: rise.p,
                q: rise.q,
                kendall_z: rise.kendall.z,
                per_million: hits_by_bin.iter().zip(&outcome.bins).map(rate).collect(),
            }
        };
        Trends {
            attribute,
            bins: outcome.bins.iter().map(|bin| bins[*bin]).collect(),
            tested: outcome.tested as u64,
            false_discovery_rate: config.false_discovery_rate,
            rows: outcome.found.iter().map(row).collect(),
        }
    }
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
    /// Candidates that were left out, by the rule that dropped them.
    pub dropped: BTreeMap<&'static str, u64>,
    /// The words, most widely spread first, equals by value.
    pub rows: Vec<NewWordRow>,
}

impl NewWords {
    /// Judges candidates and makes the answer. Days are counted from 1970-01-01.
    pub fn of<'w>(
        attribute: Attribute,
        config: &NewWordConfig,
        candidates: impl IntoIterator<Item = Sighting<'w>>,
    ) -> NewWords {
        let mut answer = NewWords { attribute, dropped: BTreeMap::new(), rows: Vec::new() };
        for candidate in candidates {
            let rule = match judge(&candidate, config) {
                Verdict::New { first_day, persistence: fate } => {
                    let sum = |count: fn(&(i32, u32, u32)) -> u32| {
                        candidate.days.iter().map(|day| u64::from(count(day))).sum()
                    };
                    answer.rows.push(NewWordRow {
                        value: candidate.value.to_owned(),
                        first_seen: Date::constant(1970, 1, 1).saturating_add(i64::from(first_day).days()),
                        hits: sum(|day| day.1),
                        documents: sum(|day| day.2),
                        sites: u64::from(candidate.sites),
                        days: candidate.days.len() as u64,
                        fate,
                    });
                    continue;
                }
                Verdict::Known => "known",
                Verdict::Shape => "shape",
                Verdict::Name => "name",
                Verdict::Rare => "rare",
            };
            *answer.dropped.entry(rule).or_default() += 1;
        }
        answer.rows.sort_by(|a, b| {
            (b.sites, b.documents, b.hits).cmp(&(a.sites, a.documents, a.hits)).then_with(|| a.value.cmp(&b.value))
        });
        answer
    }
}

/// A word that was not there before.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NewWordRow {
    /// The word.
    pub value: String,
    /// The day of its first document.
    pub first_seen: Date,
    /// How often it occurs.
    pub hits: u64,
    /// In how many documents.
    pub documents: u64,
    /// On how many independent sites.
    pub sites: u64,
    /// On how many days.
    pub days: u64,
    /// Whether it stayed.
    pub fate: Persistence,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trend::rises;
    use jiff::civil::date;

    #[test]
    fn trends_name_their_words_and_show_their_rates() {
        let bins = Step::Month.bins(date(2024, 1, 1), date(2025, 12, 31));
        let tokens = vec![1e6; bins.len()];
        let documents: Vec<u32> = std::iter::repeat_n(50, bins.len()).chain(10..10 + bins.len() as u32).collect();
        let hits: Vec<u32> = documents.iter().map(|count| 2 * count).collect();
        let tables = (Table { counts: &hits, tokens: &tokens }, Table { counts: &documents, tokens: &tokens });
        let config = RiseConfig::default();
        let outcome = rises(&tables.1, &config);
        let answer = Trends::of(Attribute::Lemma, &bins, &config, &outcome, (&tables.0, &tables.1), |row| {
            ["flat", "rising"][row].to_owned()
        });
        let [row] = &answer.rows[..] else { panic!("{answer:?}") };
        assert_eq!((row.value.as_str(), row.hits, row.documents), ("rising", 1032, 516));
        assert_eq!((row.per_million[0], answer.tested), (20.0, 2));
        let json = serde_json::to_value(&answer).unwrap();
        assert_eq!((json["bins"][0].as_str(), json["rows"][0]["shape"].as_str()), (Some("2024-01"), Some("steady")));
    }

    #[test]
    fn new_words_come_with_what_was_dropped() {
        let days = [(20_000, 2, 2), (20_001, 2, 2), (20_002, 3, 3)];
        let sighting = |value, sites| Sighting { value, days: &days, sites, capitalised: 0.0, known: false };
        let config = NewWordConfig { today: 20_002, ..NewWordConfig::default() };
        let answer =
            NewWords::of(Attribute::Lc, &config, [sighting("a1", 9), sighting("greenlash", 4), sighting("x", 1)]);
        assert_eq!(answer.dropped, BTreeMap::from([("rare", 1), ("shape", 1)]));
        let [row] = &answer.rows[..] else { panic!("{answer:?}") };
        assert_eq!((row.first_seen, row.hits, row.documents, row.fate), (date(2024, 10, 4), 7, 7, Persistence::Open));
    }
}
