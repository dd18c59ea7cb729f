//! Parameters that several questions share.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use super::shards::word_kinds;
use super::{MAX_PAGE_ROWS, Parsed, QuestionContext, QuestionError};
use crate::cql::{Attribute, Query};
use crate::engine::{ContentWords, Order, WordKind, is_wordlike};
use crate::filter::Filter;
use crate::trend::{RiseConfig, Step};

/// The documents that a question is about.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct ScopeParams {
    /// Only documents with these properties, such as site=gazette.example date>=2026-01.
    #[serde(default)]
    pub filter: Option<Parsed<Filter>>,
    /// Only documents of this virtual corpus, made with `tidings corpus save`.
    #[serde(default, rename = "in")]
    #[schemars(extend("x-value-name" = "NAME"))]
    pub virtual_corpus: Option<String>,
}

/// A query over the documents of a scope.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct SearchParams {
    /// The query: a word, several words, or CQL.
    pub q: Parsed<Query>,
    /// The documents to search.
    #[serde(flatten)]
    pub scope: ScopeParams,
}

impl SearchParams {
    pub(super) fn example() -> SearchParams {
        SearchParams { q: Parsed::example(), scope: ScopeParams::default() }
    }
}

/// Several queries over the documents of a scope.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct SearchesParams {
    /// The queries, repeated or separated by commas: words, several words, or CQL; at most 20.
    pub q: Vec<Parsed<Query>>,
    /// The documents to search.
    #[serde(flatten)]
    pub scope: ScopeParams,
}

/// The largest number of queries of one question.
const MAX_QUERIES: usize = 20;

impl SearchesParams {
    /// The queries, if they are neither none nor too many.
    pub(super) fn queries(&self) -> Result<&[Parsed<Query>], QuestionError> {
        if (1..=MAX_QUERIES).contains(&self.q.len()) {
            return Ok(&self.q);
        }
        Err(QuestionError::parameter("q", format!("give 1 to {MAX_QUERIES} queries, separated by commas")))
    }

    /// The queries in their canonical form.
    pub(super) fn texts(&self) -> Vec<String> {
        self.q.iter().map(|query| Query::to_string(query)).collect()
    }

    /// The query, if there is only one.
    pub(super) fn only(&self) -> Option<&Query> {
        match self.q.as_slice() {
            [one] => Some(one),
            _ => None,
        }
    }
}

/// The measures of hits that cost more to count.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct MeasureParams {
    /// Count the documents with a hit, too, and their share among all documents; documents that the client may not read are
    /// left out.
    #[serde(default)]
    pub documents: bool,
}

/// A condition on the neighbourhood of hits, to filter the lines of a concordance.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct RefineParams {
    /// Only hits with a hit of this query near them.
    #[serde(default)]
    #[schemars(extend("x-value-name" = "QUERY"))]
    pub with: Option<Parsed<Query>>,
    /// Only hits without a hit of this query near them.
    #[serde(default)]
    #[schemars(extend("x-value-name" = "QUERY"))]
    pub without: Option<Parsed<Query>>,
    /// The tokens before and behind the hit that are near it.
    #[serde(default = "usual_window")]
    #[schemars(range(min = 1, max = 100))]
    pub window: u32,
}

impl Default for RefineParams {
    fn default() -> RefineParams {
        RefineParams { with: None, without: None, window: usual_window() }
    }
}

fn usual_window() -> u32 {
    5
}

impl RefineParams {
    /// The query with the conditions as a part of it, so that other questions can be asked about the same hits.
    pub(super) fn refined(
        &self,
        query: &Parsed<Query>,
        context: &QuestionContext<'_>,
    ) -> Result<Parsed<Query>, QuestionError> {
        let conditions = [("with", &self.with, false), ("without", &self.without, true)];
        let mut refined = query.clone();
        for (parameter, other, negated) in conditions {
            let Some(other) = other else { continue };
            // Errors point at the text as it was given, so each part is checked before they are joined.
            context.check_compiles("q", query)?;
            context.check_compiles(parameter, other)?;
            let text = Query::clone(&refined).near(other, negated, self.window).to_string();
            refined = Parsed::new(&text).map_err(|error| QuestionError::Syntax {
                parameter: parameter.to_owned(),
                language: "query",
                text,
                error: Box::new(error),
            })?;
        }
        Ok(refined)
    }
}

/// The attribute of tokens that is counted.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct AttributeParams {
    /// The attribute to count: word, lc, lemma, tag, feats, or a feature such as Case.
    #[serde(default = "lower_case")]
    pub attribute: Attribute,
}

impl Default for AttributeParams {
    fn default() -> AttributeParams {
        AttributeParams { attribute: lower_case() }
    }
}

fn lower_case() -> Attribute {
    Attribute::Lc
}

/// The attribute of tokens whose values are tested or ranked: lemmas, where there are some.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct TestedAttributeParams {
    /// The attribute to count: lemma, lc, word, tag, feats, or a feature such as Case [default: lemma, which merges inflected
    /// forms, where the corpus has lemmas; lc elsewhere].
    #[serde(default)]
    pub attribute: Option<Attribute>,
}

impl TestedAttributeParams {
    /// The attribute that is asked for, or the one for the corpus.
    pub(super) fn of(&self, context: &QuestionContext<'_>) -> Result<Attribute, QuestionError> {
        let attribute = self.attribute.unwrap_or_else(|| context.usual_attribute());
        context.check_attribute("attribute", attribute)?;
        Ok(attribute)
    }
}

/// The number of rows.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct LimitParams {
    /// Maximum rows.
    #[serde(default = "usual_limit")]
    #[schemars(range(min = 0, max = 10_000))]
    pub limit: u64,
}

impl Default for LimitParams {
    fn default() -> LimitParams {
        LimitParams { limit: usual_limit() }
    }
}

fn usual_limit() -> u64 {
    50
}

impl LimitParams {
    /// Keeps the first rows. Returns how many there are in all.
    pub fn cut<T>(&self, rows: &mut Vec<T>) -> u64 {
        let all = rows.len() as u64;
        rows.truncate(usize::try_from(self.limit).unwrap_or(usize::MAX));
        all
    }
}

/// Rows that may be punctuation.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct WordRowParams {
    /// Include punctuation.
    #[serde(default)]
    pub punctuation: bool,
    /// The number of rows.
    #[serde(flatten)]
    pub limit: LimitParams,
}

impl WordRowParams {
    /// Drops punctuation unless it is asked for, then keeps the first rows. Returns how many there are in all.
    pub fn cut<T>(&self, rows: &mut Vec<T>, value: impl Fn(&T) -> &str) -> u64 {
        rows.retain(|row| self.punctuation || is_wordlike(value(row)));
        self.limit.cut(rows)
    }
}

/// The number of tokens of a row.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct NgramParams {
    /// The number of consecutive words in a row, inside one sentence.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 5))]
    pub ngram: u32,
}

impl Default for NgramParams {
    fn default() -> NgramParams {
        NgramParams { ngram: one() }
    }
}

fn one() -> u32 {
    1
}

choices! {
    /// The direction of a change.
    pub enum Direction {
        /// Rising and falling.
        Both = "both",
        /// More frequent.
        Rising = "rising",
        /// Less frequent.
        Falling = "falling",
    }
}

/// A test of many words at once.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct TestParams {
    /// The accepted share of false discoveries among the rows (Benjamini–Hochberg).
    #[serde(default = "usual_fdr")]
    #[schemars(range(min = 0.0, max = 1.0), extend("x-value-name" = "SHARE"))]
    pub fdr: f64,
    /// Only words that rise, or only words that fall.
    #[serde(default = "both")]
    pub direction: Direction,
    /// The minimum change: the factor by which the rate rises or falls.
    #[serde(default = "usual_effect")]
    #[schemars(range(min = 1.0, max = 1e6), extend("x-value-name" = "FACTOR"))]
    pub effect: f64,
}

impl Default for TestParams {
    fn default() -> TestParams {
        TestParams { fdr: usual_fdr(), direction: both(), effect: usual_effect() }
    }
}

/// The factor of the smallest change that is listed if nothing is said.
pub(super) const USUAL_EFFECT: f64 = 1.25;

pub(super) fn usual_effect() -> f64 {
    USUAL_EFFECT
}

pub(super) fn usual_fdr() -> f64 {
    0.05
}

fn both() -> Direction {
    Direction::Both
}

impl TestParams {
    /// Keeps the rows that change as much and in the direction that is asked for. `log_ratio` is the binary logarithm of
    /// the change.
    pub fn keep<T>(&self, rows: &mut Vec<T>, log_ratio: impl Fn(&T) -> f64) {
        let least = self.effect.max(1.0).log2();
        rows.retain(|row| log_ratio(row).abs() >= least);
        match self.direction {
            Direction::Both => {}
            Direction::Rising => rows.retain(|row| log_ratio(row) >= 0.0),
            Direction::Falling => rows.retain(|row| log_ratio(row) <= 0.0),
        }
    }
}

/// A test of the series of many words.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct SeriesParams {
    /// The documents to count.
    #[serde(flatten)]
    pub scope: ScopeParams,
    /// The attribute to count.
    #[serde(flatten)]
    pub attribute: TestedAttributeParams,
    /// The length of a time step.
    #[serde(default = "month")]
    #[schemars(extend("x-value-name" = "STEP"))]
    pub by: Step,
    /// Minimum documents of a tested word.
    #[serde(default = "usual_documents")]
    #[schemars(range(min = 1))]
    pub min: u64,
    /// The words that are tested.
    #[serde(flatten)]
    pub content: ContentParams,
    /// The panel of sites.
    #[serde(flatten)]
    pub panel: PanelParams,
    /// The number of rows.
    #[serde(flatten)]
    pub limit: LimitParams,
}

impl Default for SeriesParams {
    fn default() -> SeriesParams {
        SeriesParams {
            scope: ScopeParams::default(),
            attribute: TestedAttributeParams::default(),
            by: month(),
            min: usual_documents(),
            content: ContentParams::default(),
            panel: PanelParams::default(),
            limit: LimitParams::default(),
        }
    }
}

fn month() -> Step {
    Step::Month
}

fn usual_documents() -> u64 {
    RiseConfig::default().min_count
}

/// The confidence of intervals.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ConfidenceParams {
    /// The confidence of the intervals.
    #[serde(default = "usual_confidence")]
    #[schemars(range(min = 0.5, max = 0.999_999), extend("x-value-name" = "SHARE"))]
    pub confidence: f64,
}

impl Default for ConfidenceParams {
    fn default() -> ConfidenceParams {
        ConfidenceParams { confidence: usual_confidence() }
    }
}

fn usual_confidence() -> f64 {
    0.95
}

/// Words that say nothing about the news.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct ContentParams {
    /// Include punctuation, numbers, dates and function words.
    #[serde(default)]
    pub all_words: bool,
}

impl ContentParams {
    /// Whether content words are told from others.
    pub(super) fn has_kinds(&self, attribute: Attribute) -> bool {
        !self.all_words && matches!(attribute, Attribute::Word | Attribute::Lc | Attribute::Lemma)
    }

    /// The kinds of words of an index, of which only content words are counted; nothing if all words are.
    pub(super) fn words<'c>(&self, context: &QuestionContext<'c>, attribute: Attribute) -> Option<ContentWords<'c>> {
        if self.all_words { None } else { context.all.content_words(attribute, context.corpus) }
    }

    /// Drops the rows of words that say nothing, but keeps punctuation if the question is about it. Returns the number of
    /// rows that were dropped.
    pub(super) fn keep<T>(
        &self,
        context: &QuestionContext<'_>,
        attribute: Attribute,
        rows: &mut Vec<T>,
        has_punctuation: bool,
        value: impl Fn(&T) -> &str,
    ) -> Result<u64, QuestionError> {
        if !self.has_kinds(attribute) {
            return Ok(0);
        }
        let all = rows.len();
        let is_kept = |kind: WordKind| kind.is_content() || has_punctuation && kind == WordKind::Symbol;
        if context.is_sharded() {
            let words = rows.iter().map(|row| value(row).to_owned()).collect();
            let (kinds, _) = word_kinds(context, attribute, words)?;
            rows.retain(|row| kinds.get(value(row)).is_none_or(|kind| is_kept(*kind)));
        } else if let Some(content) = self.words(context, attribute) {
            rows.retain(|row| content.kind_of_value(value(row)).is_none_or(is_kept));
        }
        Ok((all - rows.len()) as u64)
    }
}

/// The length of a time step.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct StepParams {
    /// The length of a time step [default: one that gives 24 to 60 periods].
    #[serde(default)]
    #[schemars(extend("x-value-name" = "STEP"))]
    pub by: Option<Step>,
}

impl StepParams {
    /// The step that is asked for, or the one for the days of the documents.
    pub(super) fn step(&self, context: &QuestionContext<'_>, filter: Option<&Filter>) -> Result<Step, QuestionError> {
        match self.by {
            Some(step) => Ok(step),
            None => Ok(Step::automatic(context.days(filter)?)),
        }
    }
}

/// A panel of sites.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct PanelParams {
    /// Only sites with documents in every step, so that new feeds do not look like news.
    #[serde(default)]
    pub panel: bool,
}

/// A page of rows in the order of time.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct PageParams {
    /// Which day comes first.
    #[serde(default = "newest")]
    pub order: Order,
    /// The rows on a page [default: 20; all in a stream].
    #[serde(default)]
    #[schemars(range(min = 0, max = 1_000_000))]
    pub size: Option<u64>,
    /// The start of the page: `next` of the answer before.
    #[serde(default)]
    pub cursor: Option<Cursor>,
}

impl Default for PageParams {
    fn default() -> PageParams {
        PageParams { order: newest(), size: None, cursor: None }
    }
}

fn newest() -> Order {
    Order::Newest
}

/// The rows on a page if nothing is said.
const USUAL_PAGE_ROWS: u64 = 20;

impl PageParams {
    /// The number of the first row.
    pub fn first(&self) -> u64 {
        self.cursor.map_or(0, |cursor| cursor.first)
    }

    /// The rows on the page; an error if they are too many for one piece.
    pub(super) fn rows(&self, context: &QuestionContext<'_>) -> Result<u64, QuestionError> {
        if context.streams {
            return Ok(self.size.unwrap_or(u64::MAX));
        }
        let size = self.size.unwrap_or(USUAL_PAGE_ROWS);
        check_page_rows("size", size)?;
        Ok(size)
    }

    /// The start of the next page, if this one is full.
    pub(super) fn next(&self, context: &QuestionContext<'_>, shown: u64, size: u64) -> Option<Cursor> {
        let generation = context.generation();
        (shown == size && size > 0).then(|| Cursor { generation, first: self.first() + shown })
    }
}

/// Refuses a page that is too long for one piece.
pub(super) fn check_page_rows(parameter: &'static str, rows: u64) -> Result<(), QuestionError> {
    if rows <= MAX_PAGE_ROWS {
        return Ok(());
    }
    let message = format!("a page has at most {MAX_PAGE_ROWS} rows; get more as a stream, with format=jsonl or csv");
    Err(QuestionError::parameter(parameter, message))
}

/// The start of a page within one generation of the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    /// The generation.
    pub generation: u64,
    /// The number of the first row, from 0.
    pub first: u64,
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.generation, self.first)
    }
}

impl FromStr for Cursor {
    type Err = QuestionError;

    fn from_str(text: &str) -> Result<Cursor, QuestionError> {
        let parts = text.split_once('-');
        let cursor = parts.and_then(|(generation, first)| {
            Some(Cursor { generation: generation.parse().ok()?, first: first.parse().ok()? })
        });
        cursor.ok_or_else(|| QuestionError::parameter("cursor", "not a cursor; give `next` of the answer before"))
    }
}

impl Serialize for Cursor {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Cursor {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Cursor, D::Error> {
        <Cow<'_, str>>::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for Cursor {
    fn schema_name() -> Cow<'static, str> {
        "Cursor".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "cursor" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_as_written() {
        let cursor = Cursor { generation: 3, first: 40 };
        assert_eq!(cursor.to_string().parse::<Cursor>().ok(), Some(cursor));
        assert!(["3", "a-b", ""].iter().all(|text| text.parse::<Cursor>().is_err()));
    }

    #[test]
    fn small_changes_and_the_other_direction_are_left_out() {
        let kept = |direction: Direction, effect: f64| {
            let mut rows = vec![-1.0, -0.1, 0.0, 0.1, 0.5];
            TestParams { direction, effect, ..TestParams::default() }.keep(&mut rows, |row| *row);
            rows
        };
        assert_eq!(kept(Direction::Both, 1.25), [-1.0, 0.5]);
        assert_eq!(kept(Direction::Rising, 1.0), [0.0, 0.1, 0.5]);
        assert_eq!(kept(Direction::Falling, 1.5), [-1.0]);
    }

    #[test]
    fn rows_are_counted_before_they_are_cut() {
        let mut rows: Vec<u32> = (0..10).collect();
        assert_eq!((LimitParams { limit: 2 }.cut(&mut rows), rows), (10, vec![0, 1]));
    }
}
