//! Values of spans: how often each value of an attribute occurs, where and since when.

use std::collections::{BTreeMap, HashMap, HashSet};

use tidings_index::codec::ListedSpan;
use tidings_index::segment::{SpanAttribute, Spans};
use tidings_index::{Day, Segment};

use super::limits::Limit;
use super::memory::Reserved;
use super::{Engine, Result, Subcorpus};
use crate::merge::Merge;
use serde::{Deserialize, Serialize};

/// The memory of a value besides its text, with a few sites.
const VALUE_BYTES: u64 = 192;

/// What spans are counted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpanKey<'a> {
    /// A value of an attribute; spans without it are left out.
    Attribute(&'a str),
    /// A field of their documents.
    Field(&'a str),
}

/// Spans to count.
#[derive(Debug, Clone, Copy)]
pub struct SpanTally<'a> {
    /// The name of the spans.
    pub name: &'a str,
    /// What they are counted by.
    pub by: SpanKey<'a>,
    /// An attribute whose values are counted for each row.
    pub along: &'a str,
    /// Only spans with this value of an attribute.
    pub only: Option<(&'a str, &'a str)>,
}

/// Spans with one value.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct SpanCount {
    /// The number of spans.
    pub hits: u64,
    /// Their tokens.
    pub tokens: u64,
    /// Documents with such a span.
    pub documents: u64,
    /// Sites with such a document.
    pub sites: u64,
    /// The first and the last day of such a document, counted from 1970-01-01.
    pub days: Option<(i32, i32)>,
    /// The values of the attribute that is counted along, with their spans; the empty one stands for none.
    pub along: BTreeMap<String, u64>,
}

impl SpanCount {
    /// The first and the last day of a document with such a span.
    pub fn days(&self) -> Option<(Day, Day)> {
        self.days.map(|(first, last)| (Day(first), Day(last)))
    }
}

impl Merge for SpanCount {
    fn merge_from(&mut self, other: SpanCount) {
        self.hits.merge_from(other.hits);
        self.tokens.merge_from(other.tokens);
        self.documents.merge_from(other.documents);
        self.sites.merge_from(other.sites);
        self.days = joined_days(self.days, other.days);
        self.along.merge_from(other.along);
    }
}

/// The first and the last of the days of both.
fn joined_days(one: Option<(i32, i32)>, other: Option<(i32, i32)>) -> Option<(i32, i32)> {
    match (one, other) {
        (Some((first, last)), Some((one, other))) => Some((first.min(one), last.max(other))),
        (known, new) => known.or(new),
    }
}

/// Spans by value.
#[derive(Debug)]
pub struct SpanCounts {
    /// Counts by value.
    pub values: HashMap<String, SpanCount>,
    /// All spans that were selected, also those without a value.
    pub all: u64,
    /// Tokens in these spans; those of nested spans count once for each.
    pub tokens: u64,
    memory: Reserved,
}

impl SpanCounts {
    /// The counts by value, with their memory.
    pub(crate) fn into_values(self) -> (HashMap<String, SpanCount>, Reserved) {
        (self.values, self.memory)
    }
}

/// Counts of one segment, by code of the value.
#[derive(Default)]
struct CodeCount {
    hits: u64,
    tokens: u64,
    documents: u64,
    /// The last counted document, plus one.
    last: u32,
    days: Option<(i32, i32)>,
    sites: HashSet<u32>,
    along: BTreeMap<u32, u64>,
}

impl CodeCount {
    fn add(&mut self, span: &ListedSpan, document: u32, day: Day, site: u32, along: Option<u32>) {
        self.hits += 1;
        self.tokens += u64::from(span.end.saturating_sub(span.start));
        if let Some(along) = along {
            *self.along.entry(along).or_default() += 1;
        }
        if self.last != document + 1 {
            self.last = document + 1;
            self.documents += 1;
            self.sites.insert(site);
            self.days = joined_days(self.days, Some((day.0, day.0)));
        }
    }
}

/// The values of a segment's spans, by code.
enum Keys<'s> {
    Attribute(SpanAttribute<'s>),
    Field(tidings_index::segment::Field<'s>),
    /// The segment does not have it; every span has the empty value.
    None,
}

/// All values of an attribute, by code.
fn values(attribute: &SpanAttribute<'_>) -> Result<Vec<String>> {
    let mut values = vec![String::new(); attribute.count() as usize];
    attribute.each(|code, value| values[code as usize] = value.to_owned())?;
    Ok(values)
}

impl Keys<'_> {
    fn code(&self, span: &ListedSpan, document: u32) -> u32 {
        match self {
            Keys::Attribute(attribute) => attribute.code(span.index),
            Keys::Field(field) => field.code(document),
            Keys::None => 0,
        }
    }

    fn values(&self) -> Result<Vec<String>> {
        Ok(match self {
            Keys::Attribute(attribute) => values(attribute)?,
            Keys::Field(field) => (0..field.count()).map(|code| field.value(code).to_owned()).collect(),
            Keys::None => vec![String::new()],
        })
    }
}

impl Engine {
    /// Counts spans by value. A limit, or too many values, ends the count.
    pub fn span_values(&self, subcorpus: &Subcorpus, tally: &SpanTally<'_>) -> Result<SpanCounts> {
        let limits = subcorpus.limits();
        limits.begin_pass(self.tokens(subcorpus));
        let mut counts = SpanCounts { values: HashMap::new(), all: 0, tokens: 0, memory: limits.memory() };
        let mut sites: HashSet<(String, String)> = HashSet::new();
        for (segment, scope) in self.scopes(subcorpus) {
            let Some(spans) = segment.spans(tally.name) else {
                scope.pieces(segment, limits, |run| limits.saw(segment.tokens_in(run).len() as u64));
                continue;
            };
            let found = SegmentTally::new(segment, spans, tally)?;
            let mut by_code: HashMap<u32, CodeCount> = HashMap::new();
            scope.pieces(segment, limits, |run| {
                limits.saw(segment.tokens_in(run.clone()).len() as u64);
                run.for_each(|document| found.add(document, &mut by_code, &mut counts));
            });
            if !found.merge(by_code, &mut counts, &mut sites)? {
                limits.strike(Limit::Values);
                break;
            }
        }
        for (value, _) in sites {
            if let Some(count) = counts.values.get_mut(&value) {
                count.sites += 1;
            }
        }
        Ok(counts)
    }
}

impl Engine {
    /// Tokens of a subcorpus by the value of a field of their documents.
    pub fn tokens_by_field(&self, subcorpus: &Subcorpus, field: &str) -> HashMap<String, u64> {
        let mut tokens: HashMap<String, u64> = HashMap::new();
        for (segment, scope) in self.scopes(subcorpus) {
            let Some(field) = segment.field(field) else { continue };
            let mut by_code = vec![0u64; field.count() as usize];
            scope.runs(|run| {
                for document in run {
                    if let Some(sum) = by_code.get_mut(field.code(document) as usize) {
                        *sum += segment.tokens_of(document).len() as u64;
                    }
                }
            });
            for (code, sum) in (0..).zip(by_code).filter(|(_, sum)| *sum > 0) {
                *tokens.entry(field.value(code).to_owned()).or_default() += sum;
            }
        }
        tokens
    }
}

/// The spans of one segment that are counted.
struct SegmentTally<'s> {
    segment: &'s Segment,
    spans: Spans<'s>,
    keys: Keys<'s>,
    along: Option<SpanAttribute<'s>>,
    /// The attribute and the code that spans must have; no code if none has it.
    only: Option<(SpanAttribute<'s>, Option<u32>)>,
    is_none: bool,
    sites: Option<tidings_index::segment::Field<'s>>,
    /// Spans without a value are left out.
    skips_empty: bool,
}

impl<'s> SegmentTally<'s> {
    fn new(segment: &'s Segment, spans: Spans<'s>, tally: &SpanTally<'_>) -> Result<SegmentTally<'s>> {
        let keys = match tally.by {
            SpanKey::Attribute(name) => spans.attribute(name).map_or(Keys::None, Keys::Attribute),
            SpanKey::Field(name) => segment.field(name).map_or(Keys::None, Keys::Field),
        };
        let only = match tally.only {
            Some((name, value)) => match spans.attribute(name) {
                Some(attribute) => {
                    let mut code = None;
                    attribute.each(|known, text| {
                        if text == value {
                            code = Some(known);
                        }
                    })?;
                    Some((attribute, code))
                }
                None => None,
            },
            None => None,
        };
        Ok(SegmentTally {
            segment,
            spans,
            keys,
            along: spans.attribute(tally.along),
            is_none: tally.only.is_some() && only.is_none(),
            only,
            sites: segment.field("site"),
            skips_empty: matches!(tally.by, SpanKey::Attribute(_)),
        })
    }

    fn add(&self, document: u32, by_code: &mut HashMap<u32, CodeCount>, counts: &mut SpanCounts) {
        if self.is_none {
            return;
        }
        let tokens = self.segment.tokens_of(document);
        let (day, site) = (self.segment.day_of(document), self.sites.as_ref().map_or(0, |sites| sites.code(document)));
        self.spans.list().each_from(tokens.start, tokens.end, |span| {
            let is_selected = self.only.as_ref().is_none_or(|(only, code)| Some(only.code(span.index)) == *code);
            if is_selected {
                let span = ListedSpan { end: span.end.min(tokens.end), ..span };
                counts.all += 1;
                counts.tokens += u64::from(span.end.saturating_sub(span.start));
                let along = self.along.as_ref().map(|along| along.code(span.index));
                by_code.entry(self.keys.code(&span, document)).or_default().add(&span, document, day, site, along);
            }
            true
        });
    }

    /// Adds the counts of the segment to those of all; false if there is no memory for them.
    fn merge(
        &self,
        by_code: HashMap<u32, CodeCount>,
        counts: &mut SpanCounts,
        sites: &mut HashSet<(String, String)>,
    ) -> Result<bool> {
        let keys = self.keys.values()?;
        let along = self.along.as_ref().map(values).transpose()?.unwrap_or_default();
        for (code, count) in by_code {
            let value = keys.get(code as usize).map_or("", String::as_str);
            if value.is_empty() && self.skips_empty {
                continue;
            }
            if !counts.values.contains_key(value) {
                if !counts.memory.grow(VALUE_BYTES + 2 * value.len() as u64) {
                    return Ok(false);
                }
                counts.values.insert(value.to_owned(), SpanCount::default());
            }
            let sum = counts.values.get_mut(value).expect("just inserted");
            sum.hits += count.hits;
            sum.tokens += count.tokens;
            sum.documents += count.documents;
            sum.days = joined_days(sum.days, count.days);
            for (code, hits) in count.along {
                *sum.along.entry(along.get(code as usize).cloned().unwrap_or_default()).or_default() += hits;
            }
            for site in count.sites {
                let site = self.sites.as_ref().map_or("", |sites| sites.value(site));
                sites.insert((value.to_owned(), site.to_owned()));
            }
        }
        Ok(true)
    }
}
