//! Lines and documents: pages in the order of time, sorted or sampled.

use serde::{Deserialize, Serialize};

use super::{Part, Searched};
use crate::cql::{MatchRule, Query};
use crate::engine::{Hit, Order};
use crate::filter::Filter;
use crate::merge::Merge;
use crate::question::concordance::HeadCounts;
use crate::question::{
    ConcordanceLine, ConcordanceRequest, Document, DocumentRequest, DocumentRow, Parsed, QuestionContext,
    QuestionError, Surroundings, SurroundingsRequest,
};

/// A hit with its place in the order of all shards.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in crate::question) struct FoundHit {
    /// The day of its document.
    pub(in crate::question) day: i32,
    /// Its priority in a sample.
    pub(in crate::question) rank: u64,
    /// For each sort key the texts that are compared.
    pub(in crate::question) keys: Vec<Vec<String>>,
    /// Its segment, start and end.
    pub(in crate::question) place: (u32, u32, u32),
    /// Its line; nothing if it was not asked for, or may not be shown.
    pub(in crate::question) line: Option<ConcordanceLine>,
}

/// The first hits of a shard in the order of a view, and the counts of the whole concordance.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::question) struct PagePart {
    pub(in crate::question) request: ConcordanceRequest,
    pub(in crate::question) filter: Option<Parsed<Filter>>,
    /// The number of the first hit, of hits in the order of time.
    pub(in crate::question) first: usize,
    /// The hits that the page may need.
    pub(in crate::question) hits: usize,
    /// Whether lines are made.
    pub(in crate::question) lines: bool,
}

/// The hits and counts of a shard.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(in crate::question) struct FoundHits {
    pub(in crate::question) counts: HeadCounts,
    pub(in crate::question) hits: Vec<FoundHit>,
    /// All hits, if they are sorted or sampled.
    pub(in crate::question) all: u64,
}

impl Part for PagePart {
    const NAME: &'static str = "page";
    type Sum = FoundHits;

    fn compute(&self, context: &QuestionContext<'_>) -> Result<FoundHits, QuestionError> {
        let PagePart { request, filter, first, hits, lines } = self;
        request.part(context, filter.as_deref(), (*first, *hits), *lines)
    }

    fn searched(&self) -> Option<Searched<'_>> {
        Some(self.request.searched(self.filter.as_deref()))
    }
}

/// The lines of hits; nothing for a hit whose line may not be shown.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::question) struct RowsPart {
    pub(in crate::question) request: ConcordanceRequest,
    pub(in crate::question) places: Vec<(u32, u32, u32)>,
}

impl Part for RowsPart {
    const NAME: &'static str = "rows";
    type Sum = Vec<Option<ConcordanceLine>>;

    fn compute(&self, context: &QuestionContext<'_>) -> Result<Self::Sum, QuestionError> {
        let segments = context.engine.snapshot().segments();
        let hits = self.places.iter().map(|(segment, start, end)| {
            let tokens = segments.get(*segment as usize).map_or(0, |live| live.segment().tokens());
            match start < end && *end <= tokens {
                true => Ok(Hit { segment: *segment, start: *start, end: *end }),
                false => Err(QuestionError::Request("there is no such hit".to_owned())),
            }
        });
        self.request.lines_of(context, &hits.collect::<Result<Vec<Hit>, QuestionError>>()?)
    }
}

/// The first documents of a shard in the order of time, with the number and tokens of all.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::question) struct DocumentsPart {
    pub(in crate::question) q: Option<Parsed<Query>>,
    pub(in crate::question) filter: Option<Parsed<Filter>>,
    pub(in crate::question) order: Order,
    pub(in crate::question) first: usize,
    pub(in crate::question) rows: usize,
    pub(in crate::question) fields: Vec<String>,
}

/// Documents of a shard: their number, their tokens, and the first with the numbers of their days.
pub(in crate::question) type FoundDocuments = ((u64, u64), Vec<(i32, DocumentRow)>);

impl Part for DocumentsPart {
    const NAME: &'static str = "documents";
    type Sum = FoundDocuments;

    fn compute(&self, context: &QuestionContext<'_>) -> Result<FoundDocuments, QuestionError> {
        crate::question::documents::part(context, self)
    }

    fn searched(&self) -> Option<Searched<'_>> {
        let (rule, filter) = (MatchRule::default(), self.filter.as_deref());
        self.q.as_ref().map(|q| Searched { q, rule, filter, rates_sentences: false, is_of_document: false })
    }
}

/// The document of an id, if the shard has it.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::question) struct DocumentPart {
    pub(in crate::question) request: DocumentRequest,
}

/// What the shard has that holds the document.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::question) struct Held<T>(pub(in crate::question) Option<T>);

impl<T> Merge for Held<T> {
    fn merge_from(&mut self, other: Held<T>) {
        if self.0.is_none() {
            self.0 = other.0;
        }
    }
}

impl Part for DocumentPart {
    const NAME: &'static str = "document";
    type Sum = Held<Document>;

    fn compute(&self, context: &QuestionContext<'_>) -> Result<Held<Document>, QuestionError> {
        held(self.request.body(context))
    }

    fn searched(&self) -> Option<Searched<'_>> {
        let q = self.request.q.as_ref()?;
        Some(Searched { q, rule: MatchRule::default(), filter: None, rates_sentences: false, is_of_document: true })
    }
}

/// The surroundings of a token of a document, if the shard has it.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::question) struct SurroundingsPart {
    pub(in crate::question) request: SurroundingsRequest,
}

impl Part for SurroundingsPart {
    const NAME: &'static str = "context";
    type Sum = Held<Surroundings>;

    fn compute(&self, context: &QuestionContext<'_>) -> Result<Held<Surroundings>, QuestionError> {
        held(self.request.body(context))
    }
}

fn held<T>(body: Result<T, QuestionError>) -> Result<Held<T>, QuestionError> {
    match body {
        Ok(body) => Ok(Held(Some(body))),
        Err(QuestionError::NotFound { parameter: "id", .. }) => Ok(Held(None)),
        Err(error) => Err(error),
    }
}

/// Puts what each shard has in the order of time into that of all. Of one day, that of the first shard comes first, or last
/// in the order `newest`.
pub(in crate::question) fn in_time<T>(shards: Vec<Vec<T>>, order: Order, day: impl Fn(&T) -> i32) -> Vec<(usize, T)> {
    let mut all: Vec<(usize, T)> = shards
        .into_iter()
        .enumerate()
        .flat_map(|(shard, found)| found.into_iter().map(move |one| (shard, one)))
        .collect();
    // Sorting is stable: inside a shard the order is kept.
    all.sort_by_key(|(shard, one)| match order {
        Order::Oldest => (i64::from(day(one)), *shard as i64),
        Order::Newest => (-i64::from(day(one)), -(*shard as i64)),
    });
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_of_shards_interleave_and_the_order_of_a_day_is_that_of_the_shards() {
        let shards = || vec![vec![(1, 'a'), (1, 'b'), (3, 'c')], vec![(1, 'd'), (2, 'e')]];
        let letters = |found: Vec<(usize, (i32, char))>| found.iter().map(|(_, (_, c))| *c).collect::<String>();
        assert_eq!(letters(in_time(shards(), Order::Oldest, |one| one.0)), "abdec");
        let reversed = shards().into_iter().map(|mut shard| {
            shard.reverse();
            shard
        });
        assert_eq!(letters(in_time(reversed.collect(), Order::Newest, |one| one.0)), "cedba");
    }
}
