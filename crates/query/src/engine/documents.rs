//! The documents of a subcorpus in the order of time.

use super::{Engine, Hit, Limits, Order, Search, Subcorpus};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use tidings_index::Day;

/// The hits of each document that has one, by segment and document.
pub type HitsByDocument = BTreeMap<(usize, u32), u64>;

impl Engine {
    /// The number of documents of a subcorpus.
    pub fn documents(&self, subcorpus: &Subcorpus) -> u64 {
        subcorpus.scopes.iter().map(|scope| scope.count()).sum()
    }

    /// The documents of a subcorpus with a hit, and their hits. A search that a limit stops gives those found until then.
    pub fn documents_with_hits(
        &self,
        subcorpus: Subcorpus,
        search: &Search<'_>,
        limits: &Limits,
    ) -> (Subcorpus, HitsByDocument) {
        let mut hits = HitsByDocument::new();
        let segments = self.snapshot().segments();
        let mut last = (usize::MAX, 0);
        search.each(limits, |Hit { segment, start, .. }| {
            let segment = segment as usize;
            // Hits of one document follow each other.
            if last.0 != segment || !segments[segment].segment().tokens_of(last.1).contains(&start) {
                last = (segment, segments[segment].segment().document_at(start));
            }
            *hits.entry(last).or_default() += 1;
        });
        let scopes = subcorpus.scopes.iter().enumerate().map(|(index, scope)| {
            scope.restricted(segments[index].segment(), |document| hits.contains_key(&(index, document)))
        });
        let scopes = scopes.collect();
        (Subcorpus { scopes, is_everything: false, limits: subcorpus.limits }, hits)
    }

    /// The search in those of its documents that are chosen, by segment and number.
    pub fn among_documents<'e>(&self, search: Search<'e>, chosen: impl Fn((usize, u32)) -> bool) -> Search<'e> {
        let scopes = (0..search.segments()).map(|index| {
            let scope = search.scope(index);
            scope.restricted(search.segment(index), |document| chosen((index, document)))
        });
        let scopes = scopes.collect();
        search.among(scopes)
    }

    /// The number of documents that a search looks at.
    pub fn documents_of(&self, search: &Search<'_>) -> u64 {
        (0..search.segments()).map(|index| search.scope(index).count()).sum()
    }

    /// Passes all documents to `see`, as segment and number, with their ids.
    pub fn each_document(&self, mut see: impl FnMut((usize, u32), u128)) {
        for (index, live) in self.snapshot().segments().iter().enumerate() {
            for (document, id) in (0..).zip(live.segment().ids().all()) {
                if !live.deleted().get(document) {
                    see((index, document), *id);
                }
            }
        }
    }

    /// A page of documents as segment and document: `size` of them after the first `first`. Documents of one day are in the
    /// order of the index, or in reverse.
    pub fn page_of_documents(
        &self,
        subcorpus: &Subcorpus,
        order: Order,
        first: usize,
        size: usize,
    ) -> Vec<(usize, u32)> {
        let segments = self.snapshot().segments();
        let mut days: Vec<(Day, usize, usize)> = Vec::new();
        for (index, live) in segments.iter().enumerate() {
            days.extend((0..live.segment().days()).map(|day| (live.segment().day(day), index, day)));
        }
        match order {
            Order::Oldest => days.sort_unstable(),
            Order::Newest => days.sort_unstable_by_key(|day| Reverse(*day)),
        }
        let (mut page, mut skipped) = (Vec::new(), 0);
        for (_, index, day) in days {
            let scope = &subcorpus.scopes[index];
            let (all, asked) = (segments[index].segment().documents_of_day(day), scope.documents());
            let asked = all.start.max(asked.start)..all.end.min(asked.end);
            let mut documents: Vec<u32> = asked.filter(|document| scope.contains(*document)).collect();
            if order == Order::Newest {
                documents.reverse();
            }
            for document in documents {
                if skipped < first {
                    skipped += 1;
                } else if page.len() < size {
                    page.push((index, document));
                } else {
                    return page;
                }
            }
        }
        page
    }
}
