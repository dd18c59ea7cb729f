//! Words that are more frequent in one part of a corpus than in another: two periods, two countries, two sites.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::focus::two_parts;
use super::params::{ConfidenceParams, ContentParams, ScopeParams, TestParams, TestedAttributeParams, WordRowParams};
use super::shards::WordContrast;
use super::{Answered, ContrastBasis, Cost, Exactness, Parsed, Question, QuestionContext, QuestionError, Request};
use crate::cql::{Attribute, MatchRule};
use crate::filter::Filter;
use crate::measure::interval::Band;
use crate::measure::special::gamma_quantile;
use crate::measure::{per_million, share};
use crate::trend::Difference;

/// The hits of a word in a part, and the documents with it.
type Met = (u64, u64);

/// The size of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PartSize {
    /// Tokens.
    pub tokens: u64,
    /// Documents.
    pub documents: u64,
}

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
    pub attribute: TestedAttributeParams,
    /// The test.
    #[serde(flatten)]
    pub test: TestParams,
    /// The confidence of the intervals.
    #[serde(flatten)]
    pub confidence: ConfidenceParams,
    /// Only sites with documents in both parts, so that new feeds do not look like news.
    #[serde(default)]
    pub panel: bool,
    /// The words that are listed.
    #[serde(flatten)]
    pub content: ContentParams,
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
        /// Documents of the first part.
        pub before_documents: u64,
        /// Documents of the second part.
        pub after_documents: u64,
        /// The number of words tested.
        pub tested: u64,
        /// The accepted share of false discoveries among the rows.
        pub false_discovery_rate: f64,
        /// The confidence of the intervals.
        pub confidence: f64,
        /// What the test rests on; missing if the answer is cut off.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(with = "ContrastBasis")]
        pub basis: Option<ContrastBasis>,
        /// Remarks on what the test rests on.
        pub notes: Vec<String>,
        /// Punctuation, numbers, dates and function words that changed, but are not listed.
        pub left_out: u64,
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
        /// Their share among the documents of the first part.
        pub before_document_share: f64,
        /// Their share among the documents of the second part.
        pub after_document_share: f64,
        /// Hits per million tokens of the first part.
        pub before_per_million: f64,
        /// Hits per million tokens of the second part.
        pub after_per_million: f64,
        /// Binary logarithm of the ratio of the rates, within the sites of both parts if they are compared so
        /// (Mantel–Haenszel); half a hit stands for none.
        #[schemars(with = "Option<f64>")]
        pub log_ratio: f64,
        /// The interval of the logarithm.
        pub band: Band,
        /// Probability of such a difference by chance, measured by how the word varies from unit to unit.
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
    /// Makes the answer of the words tested: each with its hits and documents before and after, and its difference.
    pub fn of(
        attribute: Attribute,
        (before_size, after_size): (PartSize, PartSize),
        basis: ContrastBasis,
        config: &CompareConfig,
        words: impl IntoIterator<Item = (String, Met, Met, Difference)>,
    ) -> Comparison {
        // The square of a normal variable is a gamma variable of shape ½ and scale 2.
        let z = (2.0 * gamma_quantile(0.5, config.confidence)).sqrt();
        let (before_tokens, after_tokens) = (before_size.tokens, after_size.tokens);
        let sizes = (before_size, after_size);
        let mut rows: Vec<Change> = words
            .into_iter()
            .map(|(value, before, after, difference)| change(value, before, after, sizes, &difference, z))
            .collect();
        let tested = rows.len() as u64;
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
            before_documents: before_size.documents,
            after_documents: after_size.documents,
            tested,
            false_discovery_rate: config.false_discovery_rate,
            confidence: config.confidence,
            notes: if before_tokens > 0 && after_tokens > 0 { basis.notes() } else { Vec::new() },
            basis: Some(basis),
            left_out: 0,
            values: Some(rows.len() as u64),
            rows,
        }
    }
}

fn change(
    value: String,
    before: Met,
    after: Met,
    sizes: (PartSize, PartSize),
    difference: &Difference,
    z: f64,
) -> Change {
    let Difference { log_ratio, error, p, q } = *difference;
    let rate = |hits: u64, tokens: u64| per_million(hits as f64, tokens as f64).unwrap_or(0.0);
    Change {
        value,
        before: before.0,
        after: after.0,
        before_documents: before.1,
        after_documents: after.1,
        before_document_share: share(before.1, sizes.0.documents).unwrap_or(0.0),
        after_document_share: share(after.1, sizes.1.documents).unwrap_or(0.0),
        before_per_million: rate(before.0, sizes.0.tokens),
        after_per_million: rate(after.0, sizes.1.tokens),
        log_ratio,
        band: Band { low: log_ratio - z * error, high: log_ratio + z * error },
        p,
        q,
    }
}

impl Request for CompareRequest {
    fn example() -> CompareRequest {
        CompareRequest {
            before: Parsed::new("date=2026-05").expect("examples parse"),
            after: Parsed::new("date=2026-06").expect("examples parse"),
            min: usual_min(),
            scope: ScopeParams::default(),
            attribute: TestedAttributeParams::default(),
            test: TestParams::default(),
            confidence: ConfidenceParams::default(),
            panel: false,
            content: ContentParams::default(),
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

    fn evaluate(&self, context: &QuestionContext<'_>) -> Result<Answered<Comparison>, QuestionError> {
        let attribute = self.attribute.of(context)?;
        context.check_filter("before", &self.before)?;
        context.check_filter("after", &self.after)?;
        let within = context.filter(&self.scope)?;
        let (before, after, within) = two_parts(context, (&self.before, &self.after), within, self.panel)?;
        let config = CompareConfig {
            min_documents: self.min,
            false_discovery_rate: self.test.fdr,
            confidence: self.confidence.confidence,
            punctuation: self.rows.punctuation,
        };
        let mut found = match context.is_sharded() {
            true => WordContrast::new(context, (&before, &after), attribute, &config)?.comparison(attribute, &config),
            false => {
                let (before, after) = (context.subcorpus(Some(&before))?, context.subcorpus(Some(&after))?);
                context.engine.compare(&before, &after, attribute, &config)
            }
        };
        self.test.keep(&mut found.rows, |row| row.log_ratio);
        let (content, has_punctuation) = (&self.content, self.rows.punctuation);
        found.left_out = content.keep(context, attribute, &mut found.rows, has_punctuation, |row| &row.value)?;
        found.values = Some(self.rows.limit.cut(&mut found.rows));
        if context.is_cut_off() {
            // Parts that are not counted to the end cannot be compared.
            let (basis, notes) = (None, Vec::new());
            found = Comparison { tested: 0, basis, notes, values: None, rows: Vec::new(), ..found };
        }
        (found.before, found.after) = (self.before.to_string(), self.after.to_string());
        Ok(context.answered((None, within.as_ref()), MatchRule::default(), Exactness::Exact, Vec::new(), found))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::question::ContrastUnit;

    const BASIS: ContrastBasis = ContrastBasis { within_sites: true, unit: ContrastUnit::Month, sites: 9, shared: 1.0 };

    #[test]
    fn what_changed_most_for_sure_comes_first_and_what_stayed_is_no_row() {
        let difference = |log_ratio: f64, error: f64, q: f64| Difference { log_ratio, error, p: q / 2.0, q };
        let words = [
            ("rose", (50, 50), (400, 400), difference(2.0, 0.2, 1e-9)),
            ("fell", (300, 300), (75, 75), difference(-3.0, 0.2, 1e-9)),
            ("stayed", (100, 100), (200, 200), difference(0.0, 0.1, 0.8)),
        ];
        let words = words.map(|(value, before, after, difference)| (value.to_owned(), before, after, difference));
        let size = |tokens: u64| PartSize { tokens, documents: tokens / 500 };
        let sizes = (size(1_000_000), size(2_000_000));
        let found = Comparison::of(Attribute::Lc, sizes, BASIS, &CompareConfig::default(), words);
        let names: Vec<&str> = found.rows.iter().map(|row| row.value.as_str()).collect();
        assert_eq!((names, found.tested), (vec!["fell", "rose"], 3));
        let rose = &found.rows[1];
        assert_eq!((rose.before_per_million, rose.after_per_million, rose.log_ratio), (50.0, 200.0, 2.0));
        assert_eq!((rose.before_document_share, rose.after_document_share), (0.025, 0.1));
        assert!((rose.band.low - (2.0 - 1.96 * 0.2)).abs() < 1e-3 && rose.p < rose.q, "{rose:?}");
    }

    #[test]
    fn nothing_is_compared_with_nothing() {
        let empty = ContrastBasis { within_sites: false, unit: ContrastUnit::Document, sites: 0, shared: 0.0 };
        let sizes = (PartSize { tokens: 0, documents: 0 }, PartSize { tokens: 1000, documents: 2 });
        let found = Comparison::of(Attribute::Lc, sizes, empty, &CompareConfig::default(), []);
        assert!(found.rows.is_empty() && found.tested == 0 && found.notes.is_empty());
    }
}
