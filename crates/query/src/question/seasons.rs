//! Seasons: words that come back every year.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::params::{SeriesParams, usual_effect, usual_fdr};
use super::series::SeriesTest;
use super::trends::as_texts;
use super::{Answered, Cost, Exactness, Question, QuestionContext, QuestionError, Request};
use crate::cql::{Attribute, MatchRule};
use crate::engine::{SeriesConfig, TestedWord, WordSeason};
use crate::trend::{Bin, Step};

/// Tests the whole vocabulary for words with a season.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct SeasonsRequest {
    /// The series of words.
    #[serde(flatten)]
    pub series: SeriesParams,
    /// The accepted share of false discoveries among the rows (Benjamini–Hochberg).
    #[serde(default = "usual_fdr")]
    #[schemars(range(min = 0.0, max = 1.0), extend("x-value-name" = "SHARE"))]
    pub fdr: f64,
    /// The minimum factor of the rate in the three months around the peak by that of the other months.
    #[serde(default = "usual_effect")]
    #[schemars(range(min = 1.0, max = 1e6), extend("x-value-name" = "FACTOR"))]
    pub effect: f64,
}

answer! {
    /// Words with a season, the surest first.
    pub struct Seasons {
        /// The attribute that was counted.
        pub attribute: Attribute,
        /// The time steps with enough tokens.
        #[serde(serialize_with = "as_texts")]
        #[schemars(with = "Vec<String>")]
        pub bins: Vec<Bin>,
        /// Tokens of the documents counted.
        pub tokens: u64,
        /// Sites with text; words are tested within them.
        pub sites: u64,
        /// The number of words tested.
        pub tested: u64,
        /// The number of words that are frequent enough and not tested: punctuation, numbers, dates, function words.
        pub left_out: u64,
        /// The accepted share of false discoveries among the rows.
        pub false_discovery_rate: f64,
        /// Remarks on the time.
        pub notes: Vec<String>,
        /// The number of words with a season; null if the answer is cut off.
        pub values: Option<u64>,
        /// The words.
        pub rows: Vec<SeasonRow>,
    }

    /// A word with a season.
    pub struct SeasonRow {
        /// The word.
        pub value: String,
        /// Hits in all steps.
        pub hits: u64,
        /// Documents with it.
        pub documents: u64,
        /// The month of the peak, from 1 to 12.
        pub peak: u64,
        /// Binary logarithm of the rate in the three months around the peak by that of the other months, within sites.
        #[schemars(with = "Option<f64>")]
        pub log_ratio: f64,
        /// The share of the variance of scores that the season explains.
        #[schemars(with = "Option<f64>")]
        pub strength: f64,
        /// Probability by chance.
        #[schemars(with = "Option<f64>")]
        pub p: f64,
        /// The same, controlled for the number of words tested (Benjamini–Hochberg).
        #[schemars(with = "Option<f64>")]
        pub q: f64,
        /// The rate in each month of the year, from January, relative to that expected from the sites; null if nothing was
        /// collected.
        pub months: Vec<Option<f64>>,
        /// Hits per million tokens in each step.
        pub per_million: Vec<f64>,
    }
}

impl SeasonRow {
    fn of(word: TestedWord<WordSeason>) -> SeasonRow {
        let TestedWord { value, hits, documents, per_million, p, q, found } = word;
        let WordSeason { peak, strength, log_ratio, months } = found;
        SeasonRow { value, hits, documents, peak: peak.into(), log_ratio, strength, p, q, months, per_million }
    }
}

/// The days of two years, less a day of a leap year.
const DAYS_OF_TWO_YEARS: i32 = 730;

/// What a reader has to know about the time.
fn notes(bins: &[Bin]) -> Vec<String> {
    let days = match (bins.first(), bins.last()) {
        (Some(first), Some(last)) => last.last.since(first.first).map_or(0, |span| span.get_days()) + 1,
        _ => 0,
    };
    let is_short = days < DAYS_OF_TWO_YEARS;
    let note = format!("A season needs text of two years at least; the documents cover {days} days.");
    is_short.then_some(note).into_iter().collect()
}

impl Request for SeasonsRequest {
    fn example() -> SeasonsRequest {
        SeasonsRequest { series: SeriesParams::default(), fdr: usual_fdr(), effect: usual_effect() }
    }
}

impl Question for SeasonsRequest {
    const NAME: &'static str = "seasons";
    const SUMMARY: &'static str = "Show which words come back every year";
    const ROWS: &'static str = "rows";
    const COST: Cost = Cost::Heavy;
    type Answer = Seasons;

    fn evaluate(&self, context: &QuestionContext<'_>) -> Result<Answered<Seasons>, QuestionError> {
        let SeriesParams { by, min, .. } = &self.series;
        let attribute = self.series.attribute.of(context)?;
        if matches!(by, Step::Quarter | Step::HalfYear | Step::Year) {
            return Err(QuestionError::parameter("by", "a season has months: give month, ten-days, week or day"));
        }
        let config = SeriesConfig { min_documents: *min, false_discovery_rate: self.fdr };
        let SeriesTest { found, values, tokens, filter } = SeriesTest::new(
            context,
            &self.series,
            |cells, bins| cells.seasons(*by, bins, &config),
            |rows| rows.retain(|row| row.found.log_ratio >= self.effect.log2()),
        )?;
        let body = Seasons {
            attribute,
            tokens,
            sites: found.sites,
            tested: found.tested,
            left_out: found.left_out,
            false_discovery_rate: self.fdr,
            notes: if values.is_some() { notes(&found.bins) } else { Vec::new() },
            bins: found.bins,
            values,
            rows: found.rows.into_iter().map(SeasonRow::of).collect(),
        };
        Ok(context.answered((None, filter.as_ref()), MatchRule::default(), Exactness::Exact, Vec::new(), body))
    }
}
