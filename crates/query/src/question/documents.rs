//! Documents by their metadata.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

use super::params::{Cursor, PageParams, ScopeParams};
use super::shards::{DocumentsPart, FoundDocuments, InTime};
use super::stream::as_values;
use super::stream::give_all;
use super::{
    AVAILABILITY_FIELD, Answered, Availability, Cost, Exactness, Parsed, Question, QuestionContext, QuestionError,
    Request, RowSink,
};
use crate::cql::{MatchRule, Query};
use crate::engine::{EngineError, HitsByDocument, Subcorpus};
use crate::filter::Filter;
use crate::merge::Merge as _;

/// Lists documents in the order of time.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct DocumentsRequest {
    /// Only documents with a hit of this query: a word, several words, or CQL.
    #[serde(default)]
    pub q: Option<Parsed<Query>>,
    /// The documents to list.
    #[serde(flatten)]
    pub scope: ScopeParams,
    /// The page.
    #[serde(flatten)]
    pub page: PageParams,
    /// Fields to show, separated by commas.
    #[serde(default = "site")]
    pub fields: Vec<String>,
}

fn site() -> Vec<String> {
    vec!["site".to_owned()]
}

answer! {
    /// A page of documents.
    pub struct Documents {
        /// The number of documents, on this page or not.
        pub documents: u64,
        /// Their tokens.
        pub tokens: u64,
        /// The number of the first document of the page, from 0.
        pub first: u64,
        /// The cursor of the next page; null if there is none.
        pub next: Option<Cursor>,
        /// The documents of this page.
        pub rows: Vec<DocumentRow>,
    }

    /// The metadata of a document.
    #[derive(serde::Deserialize)]
    pub struct DocumentRow {
        /// The id, 32 hexadecimal digits.
        pub id: String,
        /// The day of publication.
        pub date: String,
        /// The day of the download.
        pub seen: String,
        /// The title.
        pub title: String,
        /// The address.
        pub url: String,
        /// Tokens.
        pub tokens: u64,
        /// Hits of the query; missing without one.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(with = "u64")]
        pub hits: Option<u64>,
        /// Where the text may be shown.
        pub availability: Availability,
        /// Further fields.
        pub fields: BTreeMap<String, String>,
    }
}

/// The metadata of a document.
pub(super) fn metadata(
    context: &QuestionContext<'_>,
    (segment, document): (usize, u32),
) -> Result<DocumentRow, QuestionError> {
    let segment = context.all.snapshot().segments()[segment].segment();
    let stored = segment.document(document).map_err(EngineError::from)?;
    let stated = stored.fields.iter().find(|(name, _)| name == AVAILABILITY_FIELD).map(|(_, value)| value.as_str());
    Ok(DocumentRow {
        id: format!("{:032x}", stored.id),
        date: stored.day.to_string(),
        seen: stored.seen.to_string(),
        availability: Availability::of_field(stated, context.privacy.default),
        title: stored.title,
        url: stored.url,
        tokens: segment.tokens_of(document).len() as u64,
        hits: None,
        fields: stored.fields.into_iter().collect(),
    })
}

impl Request for DocumentsRequest {
    fn example() -> DocumentsRequest {
        DocumentsRequest {
            q: None,
            scope: ScopeParams::default(),
            page: PageParams { size: Some(5), ..PageParams::default() },
            fields: site(),
        }
    }
}

impl Question for DocumentsRequest {
    const NAME: &'static str = "documents";
    const SUMMARY: &'static str = "List documents by their metadata";
    const ROWS: &'static str = "rows";
    const COST: Cost = Cost::Quick;
    type Answer = Documents;

    fn evaluate(&self, context: &QuestionContext<'_>) -> Result<Answered<Documents>, QuestionError> {
        if context.is_sharded() {
            return self.of_shards(context);
        }
        let (mut answered, page) = self.page(context)?;
        answered.body.rows = page.into_iter().map(|found| self.row(context, found)).collect::<Result<_, _>>()?;
        Ok(answered)
    }

    fn evaluate_rows(&self, context: &QuestionContext<'_>, sink: &mut dyn RowSink) -> Result<(), QuestionError> {
        if context.is_sharded() {
            return self.stream_of_shards(context, sink);
        }
        let (answered, page) = self.page(context)?;
        let mut head = as_values::<Self>(answered);
        head.body.as_object_mut().and_then(|body| body.remove(Self::ROWS));
        sink.head(head);
        for found in page {
            if sink.row(&self.row(context, found)?).is_break() {
                break;
            }
        }
        Ok(())
    }
}

/// The most rows that are made at once from shards.
const PIECE_ROWS: usize = 10_000;

/// A document as segment and number, with its hits if there is a query.
type Found = ((usize, u32), Option<u64>);

/// The first documents of a shard.
pub(super) fn part(context: &QuestionContext<'_>, asked: &DocumentsPart) -> Result<FoundDocuments, QuestionError> {
    let DocumentsPart { q, filter, order, first, rows, fields } = asked;
    let page = PageParams { order: *order, size: Some(0), cursor: None };
    let request = DocumentsRequest { q: q.clone(), scope: ScopeParams::default(), page, fields: fields.clone() };
    let (subcorpus, hits) = request.selected(context, filter.as_deref())?;
    let page = context.all.page_of_documents(&subcorpus, *order, *first, *rows);
    let row = |place: (usize, u32)| {
        let day = context.all.snapshot().segments()[place.0].segment().day_of(place.1);
        let of_document = hits.as_ref().map(|hits| hits.get(&place).copied().unwrap_or(0));
        Ok((day.0, request.row(context, (place, of_document))?))
    };
    let rows = page.into_iter().map(row).collect::<Result<Vec<_>, QuestionError>>()?;
    Ok(((context.all.documents(&subcorpus), context.all.tokens(&subcorpus)), rows))
}

impl DocumentsRequest {
    /// The page from all shards.
    fn of_shards(&self, context: &QuestionContext<'_>) -> Result<Answered<Documents>, QuestionError> {
        let mut rows = Vec::new();
        let mut answered = self.rows_of_shards(context, &mut |_, row| {
            rows.push(row);
            ControlFlow::Continue(())
        })?;
        let size = self.page.rows(context)?;
        answered.body.next = self.page.next(context, rows.len() as u64, size);
        answered.body.rows = rows;
        Ok(answered)
    }

    /// Gives the documents of all shards as they come.
    fn stream_of_shards(&self, context: &QuestionContext<'_>, sink: &mut dyn RowSink) -> Result<(), QuestionError> {
        if !context.streams {
            return give_all::<Self>(self.of_shards(context)?, sink);
        }
        let mut is_new = true;
        let give_head = |sink: &mut dyn RowSink, answered: &Answered<Documents>| {
            let mut head = as_values::<Self>(answered.clone());
            head.body.as_object_mut().and_then(|body| body.remove(Self::ROWS));
            sink.head(head);
        };
        let answered = self.rows_of_shards(context, &mut |answered, row| {
            if std::mem::take(&mut is_new) {
                give_head(sink, answered);
            }
            sink.row(&row)
        })?;
        if is_new {
            give_head(sink, &answered);
        }
        Ok(())
    }

    /// Passes the documents of the page from all shards, each with the answer without rows, and returns that answer.
    fn rows_of_shards(
        &self,
        context: &QuestionContext<'_>,
        give: &mut dyn FnMut(&Answered<Documents>, DocumentRow) -> ControlFlow<()>,
    ) -> Result<Answered<Documents>, QuestionError> {
        let filter = context.filter(&self.scope)?;
        self.fields.iter().try_for_each(|name| context.check_field("fields", name))?;
        let part = |first: usize, rows: usize| DocumentsPart {
            q: self.q.clone(),
            filter: Parsed::of_filter(filter.as_ref()),
            order: self.page.order,
            first,
            rows,
            fields: self.fields.clone(),
        };
        let counts: Cell<Option<(u64, u64)>> = Cell::new(None);
        let mut fetch = |firsts: &[Option<usize>], rows: usize| {
            let parts: Vec<Option<DocumentsPart>> = firsts.iter().map(|first| Some(part((*first)?, rows))).collect();
            let found = context.gather_each(|shard| parts.get(shard)?.as_ref())?;
            if counts.get().is_none() {
                let mut sum = (0, 0);
                found.iter().flatten().for_each(|(of_shard, _)| sum.merge_from(*of_shard));
                counts.set(Some(sum));
            }
            Ok(found.into_iter().map(|found| found.map(|(_, rows)| rows)).collect())
        };
        let [first, mut left] =
            [self.page.first(), self.page.rows(context)?].map(|n| usize::try_from(n).unwrap_or(usize::MAX));
        let shards = context.shards.map_or(0, |shards| shards.number);
        let mut merge = InTime::new(shards, self.page.order);
        merge.skip(first, |(day, _)| *day, &mut fetch)?;
        let mut piece = merge.next(left.min(PIECE_ROWS), |(day, _)| *day, &mut fetch)?;
        if counts.get().is_none() {
            // A page without rows has counts all the same.
            fetch(&vec![Some(0); shards], 0)?;
        }
        let (documents, tokens) = counts.get().unwrap_or_default();
        let body = Documents { documents, tokens, first: self.page.first(), next: None, rows: Vec::new() };
        let asked = (self.q.as_deref(), filter.as_ref());
        let answered = context.answered(asked, MatchRule::default(), Exactness::Exact, Vec::new(), body);
        loop {
            let is_last = piece.len() < left.min(PIECE_ROWS);
            left -= piece.len();
            for (_, (_, row)) in piece {
                if give(&answered, row).is_break() {
                    return Ok(answered);
                }
            }
            if is_last || left == 0 {
                return Ok(answered);
            }
            piece = merge.next(left.min(PIECE_ROWS), |(day, _)| *day, &mut fetch)?;
        }
    }

    /// The documents that a filter selects, with the hits of each if there is a query.
    fn selected(
        &self,
        context: &QuestionContext<'_>,
        filter: Option<&Filter>,
    ) -> Result<(Subcorpus, Option<HitsByDocument>), QuestionError> {
        let subcorpus = context.documents(filter)?;
        let Some(query) = &self.q else { return Ok((subcorpus, None)) };
        let search = context.search(query, MatchRule::default(), filter)?;
        let (subcorpus, hits) = context.all.documents_with_hits(subcorpus, &search, &context.limits);
        Ok((subcorpus, Some(hits)))
    }

    /// The answer without rows, and the documents of the page.
    fn page(&self, context: &QuestionContext<'_>) -> Result<(Answered<Documents>, Vec<Found>), QuestionError> {
        let filter = context.filter(&self.scope)?;
        self.fields.iter().try_for_each(|name| context.check_field("fields", name))?;
        let (subcorpus, hits) = self.selected(context, filter.as_ref())?;
        let size = self.page.rows(context)?;
        let [first, rows] = [self.page.first(), size].map(|n| usize::try_from(n).unwrap_or(usize::MAX));
        let page = context.all.page_of_documents(&subcorpus, self.page.order, first, rows);
        let body = Documents {
            documents: context.all.documents(&subcorpus),
            tokens: context.all.tokens(&subcorpus),
            first: self.page.first(),
            next: self.page.next(context, page.len() as u64, size),
            rows: Vec::new(),
        };
        let asked = (self.q.as_deref(), filter.as_ref());
        let answered = context.answered(asked, MatchRule::default(), Exactness::Exact, Vec::new(), body);
        let hits_of = |place: &(usize, u32)| hits.as_ref().map(|hits| hits.get(place).copied().unwrap_or(0));
        Ok((answered, page.into_iter().map(|place| (place, hits_of(&place))).collect()))
    }

    fn row(&self, context: &QuestionContext<'_>, (place, hits): Found) -> Result<DocumentRow, QuestionError> {
        let mut row = metadata(context, place)?;
        row.fields.retain(|name, _| self.fields.contains(name));
        Ok(DocumentRow { hits, ..row })
    }
}
