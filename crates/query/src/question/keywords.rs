//! Keywords: words that are typical of one part of the corpus against another.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::focus::{FocusParams, Parts};
use super::params::{ContentParams, NgramParams, TestedAttributeParams, USUAL_EFFECT, WordRowParams};
use super::shards::{WordContrast, gram_contrast};
use super::{
    Answered, CompareConfig, ContrastBasis, Cost, Exactness, Parsed, PartSize, Question, QuestionContext,
    QuestionError, Request,
};
use crate::cql::{Attribute, MatchRule};
use crate::engine::is_wordlike;
use crate::filter::Filter;
use crate::measure::keyness::{Contrast, Keyness, KeynessMeasure};
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
    /// What is compared.
    #[serde(flatten)]
    pub parts: FocusParams,
    /// What is counted: hits, or documents with the word (the share of stories). The test of significance is of hits.
    #[serde(default = "hits")]
    pub unit: KeywordUnit,
    /// Minimum hits, or documents, in the focus subcorpus.
    #[serde(default = "usual_min")]
    #[schemars(range(min = 1))]
    pub min: u64,
    /// The accepted share of false discoveries among the words that come first (Benjamini–Hochberg); 0 orders all by the
    /// measure.
    #[serde(default = "usual_fdr")]
    #[schemars(range(min = 0.0, max = 1.0), extend("x-value-name" = "SHARE"))]
    pub fdr: f64,
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

fn hits() -> KeywordUnit {
    KeywordUnit::Hits
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
                let contrast = Contrast::of((focus, focus_tokens), (reference, reference_tokens));
                let (focus_per_million, reference_per_million) = contrast.per_million();
                Keyword {
                    value,
                    focus,
                    reference,
                    focus_per_million,
                    reference_per_million,
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
            parts: FocusParams::of(Parsed::example()),
            unit: hits(),
            min: usual_min(),
            fdr: usual_fdr(),
            attribute: TestedAttributeParams::default(),
            ngram: NgramParams::default(),
            content: ContentParams::default(),
            rows: WordRowParams::default(),
        }
    }
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
        let order = self.parts.order();
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
        let (attribute, order) = (self.attribute.of(context)?, self.parts.order());
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
        let Parts { focus, against, within, reference } = self.parts.parts(context)?;
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
        (found.focus, found.against) = (self.parts.focus.to_string(), reference.to_string());
        Ok(context.answered((None, within.as_ref()), MatchRule::default(), Exactness::Exact, rewrites, found))
    }
}
