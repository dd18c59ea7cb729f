//! The documents of a subcorpus in the order of time.

use super::{Engine, Order, Subcorpus};
use std::cmp::Reverse;
use tidings_index::Day;

impl Engine {
    /// The number of documents of a subcorpus.
    pub fn documents(&self, subcorpus: &Subcorpus) -> u64 {
        subcorpus.scopes.iter().map(|scope| scope.count()).sum()
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
