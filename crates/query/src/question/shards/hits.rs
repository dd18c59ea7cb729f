//! Counts of hits: all, by value, by day, and the words near them.

use serde::{Deserialize, Serialize};
use std::collections::HashMap;

use super::{Part, Searched, are_days};
use crate::cql::{Attribute, MatchRule, Query};
use crate::engine::{
    Around, CellCounts, Cells, CrossCells, DocumentLevel, FieldCount, Level, Search, TimelineCounts, cross_cells,
};
use crate::filter::Filter;
use crate::merge::Merge;
use crate::question::{LinePlace, Parsed, QuestionContext, QuestionError, Window};
use crate::trend::Step;

/// The cells that an answer counts in, for rights.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in crate::question) enum PartCells {
    One,
    Steps(Step),
    Field(String),
    Documents,
}

impl PartCells {
    pub(in crate::question) fn as_cells(&self) -> Cells<'_> {
        match self {
            PartCells::One => Cells::One,
            PartCells::Steps(step) => Cells::Steps(*step),
            PartCells::Field(name) => Cells::Field(name),
            PartCells::Documents => Cells::Documents,
        }
    }
}

impl From<Cells<'_>> for PartCells {
    fn from(cells: Cells<'_>) -> PartCells {
        match cells {
            Cells::One => PartCells::One,
            Cells::Steps(step) => PartCells::Steps(step),
            Cells::Field(name) => PartCells::Field(name.to_owned()),
            Cells::Documents => PartCells::Documents,
        }
    }
}

/// A search: what parts about hits have in common.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in crate::question) struct SearchPart {
    q: Parsed<Query>,
    filter: Option<Parsed<Filter>>,
    rule: MatchRule,
    /// The cells of counts of single words; without them, counts depend on positions.
    cells: Option<PartCells>,
}

impl SearchPart {
    /// A search whose counts depend on positions.
    pub(in crate::question) fn positions(q: &Parsed<Query>, rule: MatchRule, filter: Option<&Filter>) -> SearchPart {
        SearchPart { q: q.clone(), filter: Parsed::of_filter(filter), rule, cells: None }
    }

    /// A search whose hits are counted in cells.
    pub(in crate::question) fn words(q: &Parsed<Query>, filter: Option<&Filter>, cells: Cells<'_>) -> SearchPart {
        let rule = MatchRule::default();
        SearchPart { q: q.clone(), filter: Parsed::of_filter(filter), rule, cells: Some(cells.into()) }
    }

    /// The search, as a part tells what it asks for.
    pub(super) fn searched(&self) -> Searched<'_> {
        let filter = self.filter.as_deref();
        Searched { q: &self.q, rule: self.rule, filter, rates_sentences: false, is_of_document: false }
    }

    pub(in crate::question) fn search<'c>(&self, context: &QuestionContext<'c>) -> Result<Search<'c>, QuestionError> {
        let filter = self.filter.as_deref();
        match &self.cells {
            Some(cells) => context.search_words(&self.q, filter, cells.as_cells()),
            None => context.search(&self.q, self.rule, filter),
        }
    }
}

/// The number of hits, and the tokens of the documents searched.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::question) struct CountPart {
    pub(in crate::question) search: SearchPart,
}

impl Part for CountPart {
    const NAME: &'static str = "count";
    type Sum = (u64, u64);

    fn compute(&self, context: &QuestionContext<'_>) -> Result<(u64, u64), QuestionError> {
        let search = self.search.search(context)?;
        Ok((search.count(&context.limits).hits, search.tokens()))
    }

    fn searched(&self) -> Option<Searched<'_>> {
        Some(self.search.searched())
    }
}

/// Hits, and documents with a hit, by the value of an attribute; and the tokens and number of the documents searched.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::question) struct AttributeValuesPart {
    pub(in crate::question) search: SearchPart,
    pub(in crate::question) attribute: Attribute,
}

impl Part for AttributeValuesPart {
    const NAME: &'static str = "by-attribute";
    type Sum = (HashMap<String, (u64, u64)>, (u64, u64));

    fn compute(&self, context: &QuestionContext<'_>) -> Result<Self::Sum, QuestionError> {
        let search = self.search.search(context)?;
        let values = search.by_attribute(self.attribute, &context.limits).0;
        Ok((values.into_iter().collect(), (search.tokens(), search.documents())))
    }

    fn searched(&self) -> Option<Searched<'_>> {
        Some(self.search.searched())
    }
}

/// Hits by an attribute of the spans around them, and the tokens of the documents searched.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::question) struct SpanValuesPart {
    pub(in crate::question) search: SearchPart,
    pub(in crate::question) span: String,
    pub(in crate::question) attribute: String,
}

impl Part for SpanValuesPart {
    const NAME: &'static str = "by-span";
    type Sum = (HashMap<String, u64>, u64);

    fn compute(&self, context: &QuestionContext<'_>) -> Result<Self::Sum, QuestionError> {
        let search = self.search.search(context)?;
        let values = search.by_span(&self.span, &self.attribute, &context.limits).0;
        Ok((values.into_iter().collect(), search.tokens()))
    }

    fn searched(&self) -> Option<Searched<'_>> {
        Some(self.search.searched())
    }
}

/// Hits, and tokens of documents, by the value of a field; and the tokens of the documents searched.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::question) struct FieldValuesPart {
    pub(in crate::question) search: SearchPart,
    pub(in crate::question) field: String,
}

impl Part for FieldValuesPart {
    const NAME: &'static str = "by-field";
    type Sum = (HashMap<String, FieldCount>, u64);

    fn compute(&self, context: &QuestionContext<'_>) -> Result<Self::Sum, QuestionError> {
        let search = self.search.search(context)?;
        Ok((search.by_field(&self.field, &context.limits).values.into_iter().collect(), search.tokens()))
    }

    fn searched(&self) -> Option<Searched<'_>> {
        Some(self.search.searched())
    }
}

/// Hits by several values at once, and the tokens of the documents searched.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::question) struct GroupPart {
    pub(in crate::question) search: SearchPart,
    pub(in crate::question) levels: Vec<PartLevel>,
}

/// A level on the way to a shard.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::question) enum PartLevel {
    Token(String, Attribute),
    Label(String, Attribute),
    Field(String),
    Date(usize),
}

impl From<&Level> for PartLevel {
    fn from(level: &Level) -> PartLevel {
        match level {
            Level::Token(place, attribute) => PartLevel::Token(place.name(), *attribute),
            Level::Label(name, attribute) => PartLevel::Label(name.clone(), *attribute),
            Level::Field(name) => PartLevel::Field(name.clone()),
            Level::Date(characters) => PartLevel::Date(*characters),
        }
    }
}

impl PartLevel {
    fn level(&self) -> Result<Level, QuestionError> {
        Ok(match self {
            PartLevel::Token(place, attribute) => {
                let known = LinePlace::named(place);
                Level::Token(known.ok_or_else(|| QuestionError::Request(format!("no place {place}")))?, *attribute)
            }
            PartLevel::Label(name, attribute) => Level::Label(name.clone(), *attribute),
            PartLevel::Field(name) => Level::Field(name.clone()),
            PartLevel::Date(characters) => Level::Date(*characters),
        })
    }
}

/// Counts by several texts; JSON has no objects with such keys.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::question) struct GroupCounts {
    pub(in crate::question) rows: Vec<(Vec<String>, u64)>,
    pub(in crate::question) hits: u64,
    pub(in crate::question) tokens: u64,
}

impl Merge for GroupCounts {
    fn merge_from(&mut self, other: GroupCounts) {
        let mut rows: HashMap<Vec<String>, u64> = std::mem::take(&mut self.rows).into_iter().collect();
        rows.merge_from(other.rows.into_iter().collect());
        self.rows = rows.into_iter().collect();
        self.hits.merge_from(other.hits);
        self.tokens.merge_from(other.tokens);
    }
}

impl Part for GroupPart {
    const NAME: &'static str = "group";
    type Sum = GroupCounts;

    fn compute(&self, context: &QuestionContext<'_>) -> Result<GroupCounts, QuestionError> {
        let search = self.search.search(context)?;
        let levels = self.levels.iter().map(PartLevel::level).collect::<Result<Vec<Level>, QuestionError>>()?;
        let found = search.by_levels(&levels, 1, usize::MAX, &context.limits);
        Ok(GroupCounts { rows: found.rows, hits: found.hits, tokens: search.tokens() })
    }

    fn searched(&self) -> Option<Searched<'_>> {
        Some(self.search.searched())
    }
}

/// Hits and documents of several queries by properties of documents.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::question) struct CrosstabPart {
    pub(in crate::question) searches: Vec<SearchPart>,
    pub(in crate::question) levels: Vec<DocumentLevel>,
}

/// Cells by several texts; JSON has no objects with such keys.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::question) struct CrosstabCounts(Vec<(Vec<String>, CellCounts)>);

impl CrosstabCounts {
    /// The cells by their values.
    pub(in crate::question) fn into_cells(self) -> CrossCells {
        self.0.into_iter().collect()
    }
}

impl Merge for CrosstabCounts {
    fn merge_from(&mut self, other: CrosstabCounts) {
        let mut cells: CrossCells = std::mem::take(&mut self.0).into_iter().collect();
        cells.merge_from(other.into_cells());
        self.0 = cells.into_iter().collect();
    }
}

impl Part for CrosstabPart {
    const NAME: &'static str = "crosstab";
    type Sum = CrosstabCounts;

    fn compute(&self, context: &QuestionContext<'_>) -> Result<CrosstabCounts, QuestionError> {
        let searches: Vec<Search<'_>> =
            self.searches.iter().map(|search| search.search(context)).collect::<Result<_, QuestionError>>()?;
        Ok(CrosstabCounts(cross_cells(&searches, &self.levels, &context.limits).into_iter().collect()))
    }
}

/// Hits by day, with the size of the collection.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::question) struct TimelinePart {
    pub(in crate::question) search: SearchPart,
    pub(in crate::question) step: Step,
    pub(in crate::question) with_documents: bool,
}

impl Part for TimelinePart {
    const NAME: &'static str = "timeline";
    type Sum = TimelineCounts;

    fn compute(&self, context: &QuestionContext<'_>) -> Result<TimelineCounts, QuestionError> {
        Ok(self.search.search(context)?.timeline_counts(self.step, self.with_documents, &context.limits))
    }

    fn searched(&self) -> Option<Searched<'_>> {
        Some(self.search.searched())
    }

    fn is_plausible(counts: &TimelineCounts) -> bool {
        are_days(counts.days())
    }
}

/// Words in the windows of hits; hits; and the tokens of the documents searched.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::question) struct NearPart {
    pub(in crate::question) search: SearchPart,
    pub(in crate::question) attribute: Attribute,
    pub(in crate::question) window: Window,
    /// The part of speech of the words.
    pub(in crate::question) tag: Option<String>,
}

impl Part for NearPart {
    const NAME: &'static str = "near";
    type Sum = (HashMap<String, u64>, (u64, u64));

    fn compute(&self, context: &QuestionContext<'_>) -> Result<Self::Sum, QuestionError> {
        let search = self.search.search(context)?;
        let around = Around { attribute: self.attribute, window: self.window, tag: self.tag.as_deref() };
        let (near, hits) = search.near_values(around, &context.limits);
        Ok((near, (hits, search.tokens())))
    }

    fn searched(&self) -> Option<Searched<'_>> {
        Some(self.search.searched())
    }
}

/// Occurrences of some words in the documents searched.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::question) struct MarginalsPart {
    pub(in crate::question) search: SearchPart,
    pub(in crate::question) attribute: Attribute,
    /// Their part of speech.
    pub(in crate::question) tag: Option<String>,
    pub(in crate::question) words: Vec<String>,
}

impl Part for MarginalsPart {
    const NAME: &'static str = "marginals";
    type Sum = HashMap<String, u64>;

    fn compute(&self, context: &QuestionContext<'_>) -> Result<Self::Sum, QuestionError> {
        let search = self.search.search(context)?;
        let words = self.words.iter().map(String::as_str).collect();
        Ok(search.anywhere_values((self.attribute, self.tag.as_deref()), &words, &context.limits))
    }

    fn searched(&self) -> Option<Searched<'_>> {
        Some(self.search.searched())
    }
}

/// Some words at each place of the windows of hits.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::question) struct PlacesNearPart {
    pub(in crate::question) search: SearchPart,
    pub(in crate::question) attribute: Attribute,
    pub(in crate::question) tag: Option<String>,
    pub(in crate::question) left: u32,
    pub(in crate::question) right: u32,
    pub(in crate::question) words: Vec<String>,
}

impl Part for PlacesNearPart {
    const NAME: &'static str = "places-near";
    type Sum = Vec<Vec<u64>>;

    fn compute(&self, context: &QuestionContext<'_>) -> Result<Self::Sum, QuestionError> {
        let search = self.search.search(context)?;
        let counted = (self.attribute, self.tag.as_deref());
        Ok(search.by_place(counted, (self.left, self.right), &self.words, &context.limits))
    }

    fn searched(&self) -> Option<Searched<'_>> {
        Some(self.search.searched())
    }
}
