//! Words that are more frequent in one part of a corpus than in another: two periods, two countries, two sites.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::keywords::two_subcorpora;
use super::params::{AttributeParams, ConfidenceParams, ScopeParams, TestParams, WordRowParams};
use super::{Answered, Cost, Exactness, Parsed, Question, QuestionContext, QuestionError, Request};
use crate::cql::{Attribute, MatchRule};
use crate::filter::Filter;
use crate::measure::interval::{Band, bunching};
use crate::measure::keyness::{Contrast, Keyness};
use crate::measure::per_million;
use crate::measure::special::{chi_square_survival, gamma_quantile};
use crate::trend::false_discovery;

/// The hits of a word in a part, and the documents with it.
type Met = (u64, u64);

/// Tests which words became more or less frequent from one part of the corpus to another.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct CompareRequest {
    /// The documents to compare with, a filter such as date=2026-05.
    #[schemars(extend("x-value-name" = "BEFORE"))]
    pub before: Parsed<Filter>,
    /// The documents in which words rose or fell, a filter such as date=2026-06.
    #[schemars(extend("x-value-name" = "AFTER"))]
    pub after: Parsed<Filter>,
    /// Minimum documents of a tested word.
    #[serde(default = "usual_min")]
    #[schemars(range(min = 1))]
    pub min: u64,
    /// The documents that both parts are taken from.
    #[serde(flatten)]
    pub scope: ScopeParams,
    /// The attribute to count.
    #[serde(flatten)]
    pub attribute: AttributeParams,
    /// The test.
    #[serde(flatten)]
    pub test: TestParams,
    /// The confidence of the intervals.
    #[serde(flatten)]
    pub confidence: ConfidenceParams,
    /// Only sites with documents in both parts, so that new feeds do not look like news.
    #[serde(default)]
    pub panel: bool,
    /// The rows.
    #[serde(flatten)]
    pub rows: WordRowParams,
}

fn usual_min() -> u64 {
    CompareConfig::default().min_documents
}

/// The conditions of a change.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CompareConfig {
    /// Words in fewer documents of both parts together are not tested.
    pub min_documents: u64,
    /// The share of false ones that is admitted among the rows.
    pub false_discovery_rate: f64,
    /// The confidence of the bands.
    pub confidence: f64,
    /// Whether punctuation is compared too.
    pub punctuation: bool,
}

impl Default for CompareConfig {
    fn default() -> CompareConfig {
        CompareConfig { min_documents: 10, false_discovery_rate: 0.05, confidence: 0.95, punctuation: false }
    }
}

answer! {
    /// Words whose frequency differs between two parts of a corpus, by how much they changed at least.
    pub struct Comparison {
        /// The attribute that was counted.
        pub attribute: Attribute,
        /// The filter of the first part.
        pub before: String,
        /// The filter of the second part.
        pub after: String,
        /// Tokens of the first part.
        pub before_tokens: u64,
        /// Tokens of the second part.
        pub after_tokens: u64,
        /// The number of words tested.
        pub tested: u64,
        /// The accepted share of false discoveries among the rows.
        pub false_discovery_rate: f64,
        /// The confidence of the intervals.
        pub confidence: f64,
        /// The number of words that changed; null if the answer is cut off.
        pub values: Option<u64>,
        /// The words.
        pub rows: Vec<Change>,
    }

    /// A word whose frequency differs.
    pub struct Change {
        /// The word.
        pub value: String,
        /// Hits in the first part.
        pub before: u64,
        /// Hits in the second part.
        pub after: u64,
        /// Documents of the first part with it.
        pub before_documents: u64,
        /// Documents of the second part with it.
        pub after_documents: u64,
        /// Hits per million tokens of the first part.
        pub before_per_million: f64,
        /// Hits per million tokens of the second part.
        pub after_per_million: f64,
        /// Binary logarithm of the ratio of the rates; half a hit stands for none.
        #[schemars(with = "Option<f64>")]
        pub log_ratio: f64,
        /// The interval of the logarithm.
        pub band: Band,
        /// Probability of such a difference by chance: the log-likelihood ratio, with hits that bunch in documents counting as
        /// fewer.
        #[schemars(with = "Option<f64>")]
        pub p: f64,
        /// The same, controlled for the number of words tested (Benjamini–Hochberg).
        #[schemars(with = "Option<f64>")]
        pub q: f64,
    }
}

impl Change {
    /// By how much it changed at least: the end of the band that is nearer to nothing, and nothing if that lies inside.
    fn at_least(&self) -> f64 {
        if self.band.low > 0.0 { self.band.low } else { (-self.band.high).max(0.0) }
    }
}

impl Comparison {
    /// Makes the answer of counts: each word with its hits and documents before and after.
    pub fn of(
        attribute: Attribute,
        (before_tokens, after_tokens): (u64, u64),
        config: &CompareConfig,
        words: impl IntoIterator<Item = (String, Met, Met)>,
    ) -> Comparison {
        let comparable = before_tokens > 0 && after_tokens > 0;
        // The square of a normal variable is a gamma variable of shape ½ and scale 2.
        let z = (2.0 * gamma_quantile(0.5, config.confidence)).sqrt();
        let least = config.min_documents.max(1);
        let tested = words.into_iter().filter(|(value, before, after)| {
            comparable && !value.is_empty() && before.1.saturating_add(after.1) >= least
        });
        let mut rows: Vec<Change> = tested
            .map(|(value, before, after)| change(value, before, after, (before_tokens, after_tokens), z))
            .collect();
        let p: Vec<f64> = rows.iter().map(|row| row.p).collect();
        rows.iter_mut().zip(false_discovery(&p, p.len())).for_each(|(row, q)| row.q = q);
        rows.retain(|row| row.q <= config.false_discovery_rate);
        rows.sort_by(|a, b| {
            (b.at_least().total_cmp(&a.at_least())).then(a.p.total_cmp(&b.p)).then_with(|| a.value.cmp(&b.value))
        });
        Comparison {
            attribute,
            before: String::new(),
            after: String::new(),
            before_tokens,
            after_tokens,
            tested: p.len() as u64,
            false_discovery_rate: config.false_discovery_rate,
            confidence: config.confidence,
            values: Some(rows.len() as u64),
            rows,
        }
    }
}

fn change(value: String, before: Met, after: Met, tokens: (u64, u64), z: f64) -> Change {
    let contrast = Contrast {
        focus: after.0 as f64,
        focus_tokens: tokens.1 as f64,
        reference: before.0 as f64,
        reference_tokens: tokens.0 as f64,
    };
    let spread = bunching((before.0 + after.0) as f64, (before.1 + after.1) as f64);
    let log_ratio = Keyness::LogRatio.score(&contrast);
    let doubt = |hits: u64| spread / (hits as f64).max(0.5);
    let half = z * (doubt(before.0) + doubt(after.0)).sqrt() / std::f64::consts::LN_2;
    let rate = |hits: u64, tokens: u64| per_million(hits as f64, tokens as f64).unwrap_or(0.0);
    Change {
        value,
        before: before.0,
        after: after.0,
        before_documents: before.1,
        after_documents: after.1,
        before_per_million: rate(before.0, tokens.0),
        after_per_million: rate(after.0, tokens.1),
        log_ratio,
        band: Band { low: log_ratio - half, high: log_ratio + half },
        p: chi_square_survival(Keyness::LogLikelihood.score(&contrast).abs() / spread, 1.0),
        q: 1.0,
    }
}

impl Request for CompareRequest {
    fn example() -> CompareRequest {
        CompareRequest {
            before: Parsed::new("date=2026-05").expect("examples parse"),
            after: Parsed::new("date=2026-06").expect("examples parse"),
            min: usual_min(),
            scope: ScopeParams::default(),
            attribute: AttributeParams::default(),
            test: TestParams::default(),
            confidence: ConfidenceParams::default(),
            panel: false,
            rows: WordRowParams::default(),
        }
    }
}

impl Question for CompareRequest {
    const NAME: &'static str = "compare";
    const SUMMARY: &'static str = "Show which words rose or fell from one part of the corpus to another";
    const ROWS: &'static str = "rows";
    const COST: Cost = Cost::Heavy;
    type Answer = Comparison;

    fn answer(&self, context: &QuestionContext<'_>) -> Result<Answered<Comparison>, QuestionError> {
        context.check_attribute("attribute", self.attribute.attribute)?;
        context.check_filter("before", &self.before)?;
        context.check_filter("after", &self.after)?;
        let within = context.filter(&self.scope)?;
        let (before, after, within) = two_subcorpora(context, (&self.before, &self.after), within, self.panel)?;
        let config = CompareConfig {
            min_documents: self.min,
            false_discovery_rate: self.test.fdr,
            confidence: self.confidence.confidence,
            punctuation: self.rows.punctuation,
        };
        let mut found = context.engine.compare(&before, &after, self.attribute.attribute, &config);
        self.test.keep(&mut found.rows, |row| row.log_ratio);
        found.values = Some(self.rows.limit.cut(&mut found.rows));
        if context.is_cut_off() {
            // Parts that are not counted to the end cannot be compared.
            found = Comparison { tested: 0, values: None, rows: Vec::new(), ..found };
        }
        (found.before, found.after) = (self.before.to_string(), self.after.to_string());
        Ok(context.answered((None, within.as_ref()), MatchRule::default(), Exactness::Exact, Vec::new(), found))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compared(words: &[(&str, Met, Met)]) -> Comparison {
        let words = words.iter().map(|(value, before, after)| ((*value).to_owned(), *before, *after));
        Comparison::of(Attribute::Lc, (1_000_000, 2_000_000), &CompareConfig::default(), words)
    }

    #[test]
    fn what_changed_most_for_sure_comes_first_and_what_stayed_is_no_row() {
        let found = compared(&[
            ("rose", (50, 50), (400, 400)),
            ("fell", (300, 300), (75, 75)),
            ("stayed", (100, 100), (200, 200)),
            ("rare", (0, 0), (5, 5)),
        ]);
        let names: Vec<&str> = found.rows.iter().map(|row| row.value.as_str()).collect();
        assert_eq!((names, found.tested), (vec!["fell", "rose"], 3));
        let rose = &found.rows[1];
        assert_eq!((rose.before_per_million, rose.after_per_million, rose.log_ratio), (50.0, 200.0, 2.0));
        // ln 4 ± 1.96 √(1/50 + 1/400), as powers of two.
        assert!((rose.band.low - 1.5758).abs() < 1e-3 && (rose.band.high - 2.4242).abs() < 1e-3, "{rose:?}");
        assert!(rose.p < 1e-6 && rose.q >= rose.p);
    }

    #[test]
    fn a_word_that_a_few_documents_repeat_is_no_change() {
        let even = compared(&[("word", (50, 50), (300, 300))]);
        let bunched = compared(&[("word", (50, 10), (300, 8))]);
        assert_eq!((even.rows.len(), bunched.rows.len()), (1, 0));
    }

    #[test]
    fn nothing_is_compared_with_nothing() {
        let words = [("word".to_owned(), (0, 0), (30, 30))];
        let found = Comparison::of(Attribute::Lc, (0, 1000), &CompareConfig::default(), words.clone());
        assert!(found.rows.is_empty() && found.tested == 0);
        let new = Comparison::of(Attribute::Lc, (1000, 1000), &CompareConfig::default(), words);
        assert!(new.rows[0].log_ratio.is_finite() && new.rows[0].band.low.is_finite());
    }
}
