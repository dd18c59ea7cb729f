//! Keywords: words that are typical of one part of the corpus against another.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::params::{ContentParams, NgramParams, ScopeParams, TestedAttributeParams, USUAL_EFFECT, WordRowParams};
use super::shards::{SharedSitesPart, WordContrast, gram_contrast};
use super::{
    Answered, CompareConfig, ContrastBasis, Cost, Exactness, Parsed, PartSize, Question, QuestionContext,
    QuestionError, Request,
};
use crate::cql::{Attribute, MatchRule};
use crate::engine::{is_wordlike, of_sites};
use crate::filter::Filter;
use crate::measure::keyness::{Contrast, Keyness, KeynessMeasure};
use crate::measure::per_million;
use crate::trend::Difference;
use hashbrown::HashMap;

choices! {
    /// What keywords are counted in.
    pub enum KeywordUnit {
        /// Occurrences.
        Hits = "hits",
        /// Documents with the word, whatever its hits.
        Documents = "documents" | "stories",
    }
}

/// Ranks the words that are typical of one part of the corpus against another.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct KeywordsRequest {
    /// The documents in focus, a filter such as date>=2026-03.
    pub focus: Parsed<Filter>,
    /// The documents to compare with, a filter [default: all others].
    #[serde(default)]
    pub against: Option<Parsed<Filter>>,
    /// The keyness measure that orders the rows.
    #[serde(default = "simple_maths")]
    #[schemars(extend("x-value-name" = "MEASURE"))]
    pub measure: KeynessMeasure,
    /// The constant that simple maths adds to both rates: 1 favours rare words, 1000 common ones.
    #[serde(default = "one")]
    #[schemars(range(min = 1e-9, max = 1e6))]
    pub add: f64,
    /// What is counted: hits, or documents with the word (the share of stories). The test of significance is of hits.
    #[serde(default = "hits")]
    pub unit: KeywordUnit,
    /// Minimum hits, or documents, in the focus subcorpus.
    #[serde(default = "usual_min")]
    #[schemars(range(min = 1))]
    pub min: u64,
    /// Only sites with documents in both parts, so that new feeds do not look like new words.
    #[serde(default)]
    pub panel: bool,
    /// The accepted share of false discoveries among the words that come first (Benjamini–Hochberg); 0 orders all by the
    /// measure.
    #[serde(default = "usual_fdr")]
    #[schemars(range(min = 0.0, max = 1.0), extend("x-value-name" = "SHARE"))]
    pub fdr: f64,
    /// The documents that both parts are taken from.
    #[serde(flatten)]
    pub scope: ScopeParams,
    /// The attribute to count.
    #[serde(flatten)]
    pub attribute: TestedAttributeParams,
    /// The tokens of a row.
    #[serde(flatten)]
    pub ngram: NgramParams,
    /// The words that are listed.
    #[serde(flatten)]
    pub content: ContentParams,
    /// The rows.
    #[serde(flatten)]
    pub rows: WordRowParams,
}

fn simple_maths() -> KeynessMeasure {
    KeynessMeasure::SimpleMaths
}

fn hits() -> KeywordUnit {
    KeywordUnit::Hits
}

fn one() -> f64 {
    1.0
}

fn usual_min() -> u64 {
    5
}

fn usual_fdr() -> f64 {
    CompareConfig::default().false_discovery_rate
}

answer! {
    /// Words that are typical of one part of the corpus against another: those that differ significantly first, then by
    /// score, equals by value.
    pub struct Keywords {
        /// The attribute that was counted.
        pub attribute: Attribute,
        /// The filter of the documents in focus.
        pub focus: String,
        /// The filter of the documents compared with.
        pub against: String,
        /// What is counted.
        pub unit: KeywordUnit,
        /// Tokens in focus.
        pub focus_tokens: u64,
        /// Tokens of the reference.
        pub reference_tokens: u64,
        /// The measure that orders the rows.
        pub order: KeynessMeasure,
        /// The constant of simple maths.
        pub add: f64,
        /// The accepted share of false discoveries among the rows that come first.
        pub false_discovery_rate: f64,
        /// What the test rests on; missing for n-grams, which are not tested.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(with = "ContrastBasis")]
        pub basis: Option<ContrastBasis>,
        /// Remarks on what the test rests on.
        pub notes: Vec<String>,
        /// The number of words that differ significantly and at least 1.25-fold; they come first.
        pub significant: u64,
        /// Punctuation, numbers, dates and function words that are frequent enough, but not listed.
        pub left_out: u64,
        /// The number of different values; null if the answer is cut off.
        pub values: Option<u64>,
        /// The words.
        pub rows: Vec<Keyword>,
    }

    /// A word, in focus and in the reference.
    pub struct Keyword {
        /// The word.
        pub value: String,
        /// The score by the measure that orders the rows.
        #[schemars(with = "Option<f64>")]
        pub score: f64,
        /// Hits, or documents with it, in focus.
        pub focus: u64,
        /// Hits, or documents with it, in the reference.
        pub reference: u64,
        /// Hits per million tokens in focus, or documents with it per million documents.
        #[schemars(with = "Option<f64>")]
        pub focus_per_million: f64,
        /// The same of the reference.
        #[schemars(with = "Option<f64>")]
        pub reference_per_million: f64,
        /// Log-likelihood, negative if rarer in focus.
        #[schemars(with = "Option<f64>")]
        pub log_likelihood: f64,
        /// Binary logarithm of the ratio of the rates.
        #[schemars(with = "Option<f64>")]
        pub log_ratio: f64,
        /// Difference of the rates divided by their sum, in percent.
        #[schemars(with = "Option<f64>")]
        pub din: f64,
        /// Binary logarithm of the ratio of the rates within the sites of both parts (Mantel–Haenszel), if the word is
        /// tested.
        pub site_log_ratio: Option<f64>,
        /// Probability of such a difference by chance, measured by how the word varies from unit to unit; none if the word
        /// is not tested.
        pub p: Option<f64>,
        /// The same, controlled for the number of words tested (Benjamini–Hochberg).
        pub q: Option<f64>,
    }
}

impl Keywords {
    /// Ranks counts: (value, in focus, in the reference). Words with fewer than `at_least` hits in focus are left out.
    /// Without tokens in both parts there are no rows.
    pub fn rank(
        attribute: Attribute,
        (focus_tokens, reference_tokens): (u64, u64),
        order: Keyness,
        at_least: u64,
        counts: impl IntoIterator<Item = (String, u64, u64)>,
    ) -> Keywords {
        let comparable = focus_tokens > 0 && reference_tokens > 0;
        let mut rows: Vec<Keyword> = counts
            .into_iter()
            .filter(|(value, focus, _)| comparable && !value.is_empty() && *focus >= at_least)
            .map(|(value, focus, reference)| {
                let contrast = Contrast {
                    focus: focus as f64,
                    focus_tokens: focus_tokens as f64,
                    reference: reference as f64,
                    reference_tokens: reference_tokens as f64,
                };
                let rate = |hits: f64, tokens: f64| per_million(hits, tokens).unwrap_or(0.0);
                Keyword {
                    value,
                    focus,
                    reference,
                    focus_per_million: rate(contrast.focus, contrast.focus_tokens),
                    reference_per_million: rate(contrast.reference, contrast.reference_tokens),
                    score: order.score(&contrast),
                    log_likelihood: Keyness::LogLikelihood.score(&contrast),
                    log_ratio: Keyness::LogRatio.score(&contrast),
                    din: Keyness::Din.score(&contrast),
                    site_log_ratio: None,
                    p: None,
                    q: None,
                }
            })
            .collect();
        rows.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.value.cmp(&b.value)));
        let (order, add) = order.measure();
        let (focus, against) = (String::new(), String::new());
        let values = Some(rows.len() as u64);
        Keywords {
            attribute,
            unit: KeywordUnit::Hits,
            focus,
            against,
            focus_tokens,
            reference_tokens,
            order,
            add,
            false_discovery_rate: usual_fdr(),
            basis: None,
            notes: Vec::new(),
            significant: 0,
            left_out: 0,
            values,
            rows,
        }
    }

    /// Adds the test, and moves the words that differ significantly to the front.
    fn test(&mut self, fdr: f64, basis: ContrastBasis, differences: &HashMap<String, Difference>) {
        for row in &mut self.rows {
            let Some(difference) = differences.get(&row.value) else { continue };
            row.site_log_ratio = basis.within_sites.then_some(difference.log_ratio);
            (row.p, row.q) = (Some(difference.p), Some(difference.q));
        }
        let is_significant = |row: &Keyword| {
            // A word may be more frequent in focus only because other sites have it.
            let ratio = row.site_log_ratio.unwrap_or(row.log_ratio);
            let is_alike = (ratio > 0.0) == (row.log_ratio > 0.0) && ratio.abs() >= USUAL_EFFECT.log2();
            is_alike && row.q.is_some_and(|q| q <= fdr)
        };
        self.rows.sort_by_key(|row| !is_significant(row));
        self.significant = self.rows.iter().filter(|row| is_significant(row)).count() as u64;
        self.notes = if self.focus_tokens > 0 && self.reference_tokens > 0 { basis.notes() } else { Vec::new() };
        (self.false_discovery_rate, self.basis) = (fdr, Some(basis));
    }
}

impl Request for KeywordsRequest {
    fn example() -> KeywordsRequest {
        KeywordsRequest {
            focus: Parsed::example(),
            against: None,
            measure: simple_maths(),
            add: one(),
            unit: hits(),
            min: usual_min(),
            panel: false,
            fdr: usual_fdr(),
            scope: ScopeParams::default(),
            attribute: TestedAttributeParams::default(),
            ngram: NgramParams::default(),
            content: ContentParams::default(),
            rows: WordRowParams::default(),
        }
    }
}

/// The filters of two parts of a corpus within a common filter, with the filter that both are taken from.
pub(super) fn two_parts(
    context: &QuestionContext<'_>,
    (one, other): (&Filter, &Filter),
    within: Option<Filter>,
    panel: bool,
) -> Result<(Filter, Filter, Option<Filter>), QuestionError> {
    let part = |within: &Option<Filter>, own: &Filter| {
        Filter::both(within.clone(), Some(own.clone())).expect("one of both is there")
    };
    if !panel {
        return Ok((part(&within, one), part(&within, other), within));
    }
    context.refuse_partial_test()?;
    let asked = SharedSitesPart { one: Parsed::of(part(&within, one)), other: Parsed::of(part(&within, other)) };
    let sites = context.gather(&asked)?;
    let within = Filter::both(within, Some(of_sites(sites.iter().map(String::as_str))));
    Ok((part(&within, one), part(&within, other), within))
}

impl KeywordsRequest {
    /// The words of an index, tested unless they are n-grams.
    fn of_index(
        &self,
        context: &QuestionContext<'_>,
        (focus, against): (&Filter, &Filter),
        min: u64,
    ) -> Result<Keywords, QuestionError> {
        let (focus, against) = (context.subcorpus(Some(focus))?, context.subcorpus(Some(against))?);
        let (attribute, n) = (self.attribute.of(context)?, self.ngram.ngram as usize);
        let order = self.measure.with(self.add);
        let mut found = match self.unit {
            KeywordUnit::Documents => context.engine.keywords_by_documents((&focus, &against), attribute, order, min),
            KeywordUnit::Hits => context.engine.keywords(&focus, &against, attribute, n, order, min)?,
        };
        if n == 1 {
            let (basis, differences) = context.engine.keyword_differences(&focus, &against, attribute, &self.config());
            found.test(self.fdr, basis, &differences);
        }
        Ok(found)
    }

    /// The same over shards.
    fn of_shards(
        &self,
        context: &QuestionContext<'_>,
        (focus, against): (&Filter, &Filter),
        min: u64,
    ) -> Result<Keywords, QuestionError> {
        let (attribute, order) = (self.attribute.of(context)?, self.measure.with(self.add));
        if self.ngram.ngram > 1 {
            let (tokens, terms) = gram_contrast(context, (focus, against), attribute, self.ngram.ngram, min)?;
            let terms = terms.into_iter().filter(|(value, ..)| is_wordlike(value));
            return Ok(Keywords::rank(attribute, tokens, order, min, terms));
        }
        // The reference is the first part of the test.
        let found = WordContrast::new(context, (against, focus), attribute, &self.config())?;
        let [(there, reference_size), (here, focus_size)] = &found.counts;
        let counted = |(hits, documents): (u64, u64)| match self.unit {
            KeywordUnit::Hits => hits,
            KeywordUnit::Documents => documents,
        };
        let size = |size: &PartSize| counted((size.tokens, size.documents));
        let words = here
            .iter()
            .filter(|(_, here)| counted(**here) >= min.max(1))
            .map(|(value, here)| (value.clone(), counted(*here), there.get(value).map_or(0, |there| counted(*there))));
        let ranked = Keywords::rank(attribute, (size(focus_size), size(reference_size)), order, min, words);
        let (focus_tokens, reference_tokens) = (focus_size.tokens, reference_size.tokens);
        let mut keywords = Keywords { unit: self.unit, focus_tokens, reference_tokens, ..ranked };
        keywords.test(self.fdr, found.basis, &found.differences.into_iter().collect());
        Ok(keywords)
    }

    /// Leaves out words that say nothing, and counts those that differ significantly again.
    fn keep_content(
        &self,
        context: &QuestionContext<'_>,
        attribute: Attribute,
        found: &mut Keywords,
    ) -> Result<(), QuestionError> {
        let rows = std::mem::take(&mut found.rows).into_iter();
        let mut marked: Vec<(bool, Keyword)> = (0..).map(|row| row < found.significant).zip(rows).collect();
        let has_punctuation = self.rows.punctuation;
        found.left_out = self.content.keep(context, attribute, &mut marked, has_punctuation, |row| &row.1.value)?;
        found.significant = marked.iter().filter(|(is_significant, _)| *is_significant).count() as u64;
        found.rows = marked.into_iter().map(|(_, row)| row).collect();
        Ok(())
    }

    fn config(&self) -> CompareConfig {
        CompareConfig { punctuation: self.rows.punctuation, ..CompareConfig::default() }
    }
}

impl Question for KeywordsRequest {
    const NAME: &'static str = "keywords";
    const SUMMARY: &'static str = "Show what is typical of a part of the corpus";
    const ROWS: &'static str = "rows";
    const COST: Cost = Cost::Heavy;
    type Answer = Keywords;

    fn evaluate(&self, context: &QuestionContext<'_>) -> Result<Answered<Keywords>, QuestionError> {
        let attribute = self.attribute.of(context)?;
        context.check_filter("focus", &self.focus)?;
        self.against.iter().try_for_each(|against| context.check_filter("against", against))?;
        let reference = self.against.as_deref().cloned().unwrap_or_else(|| self.focus.complement());
        let within = context.filter(&self.scope)?;
        let (focus, against, within) = two_parts(context, (&self.focus, &reference), within, self.panel)?;
        let (mut rewrites, mut min, n) = (Vec::new(), self.min, self.ngram.ngram as usize);
        if n > 1 {
            (min, _) = context.min_counts(min, &mut rewrites);
        }
        if n > 1 && self.unit == KeywordUnit::Documents {
            let message = "documents are counted for single words; leave out ngram or count hits";
            return Err(QuestionError::parameter("unit", message));
        }
        let mut found = match context.is_sharded() {
            true => self.of_shards(context, (&focus, &against), min)?,
            false => self.of_index(context, (&focus, &against), min)?,
        };
        self.keep_content(context, attribute, &mut found)?;
        found.values = Some(self.rows.cut(&mut found.rows, |row| &row.value));
        if context.is_cut_off() {
            // Parts that are not counted to the end cannot be compared.
            let (values, basis, notes) = (None, None, Vec::new());
            found = Keywords { values, basis, notes, significant: 0, rows: Vec::new(), ..found };
        }
        (found.focus, found.against) = (self.focus.to_string(), reference.to_string());
        Ok(context.answered((None, within.as_ref()), MatchRule::default(), Exactness::Exact, rewrites, found))
    }
}
