//! Sorted string table, searched in place.

use std::cmp::Ordering;

use crate::casefold::look_up_key;
use crate::checked::CheckedSlice;

/// The strings of one layer in one lexicon segment.
///
/// They are concatenated in byte order, each followed by a line feed, so that a prefix is a range
/// and a literal is found by a substring search over the whole table.
#[derive(Debug, Clone, Copy)]
pub struct Strings<'a> {
    pub(super) first: u32,
    pub(super) text: CheckedSlice<'a, u8>,
    /// Start of the string of each rank, and the end of the last.
    pub(super) starts: CheckedSlice<'a, u32>,
    /// The number of the string of each rank, counted from `first`.
    pub(super) ids: CheckedSlice<'a, u32>,
    /// The rank of each number.
    pub(super) ranks: CheckedSlice<'a, u32>,
    /// Ranks in the order of their folded strings.
    pub(super) folds: CheckedSlice<'a, u32>,
}

impl<'a> Strings<'a> {
    /// The lowest number.
    pub fn first(&self) -> u32 {
        self.first
    }

    /// Number of strings.
    pub fn len(&self) -> u32 {
        self.ids.len() as u32
    }

    /// Returns true if the table is empty.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// The string of a number; empty if it is not in this table.
    pub fn get(&self, id: u32) -> &'a str {
        let rank = id.checked_sub(self.first).and_then(|index| self.ranks.get(index as usize));
        rank.map_or("", |rank| self.at(rank as usize))
    }

    fn bytes_at(&self, rank: usize) -> &'a [u8] {
        match (self.starts.get(rank), self.starts.get(rank + 1)) {
            (Some(start), Some(end)) => {
                self.text.slice(start as usize..(end as usize).saturating_sub(1)).unwrap_or_default()
            }
            _ => &[],
        }
    }

    fn at(&self, rank: usize) -> &'a str {
        std::str::from_utf8(self.bytes_at(rank)).unwrap_or_default()
    }

    fn id_at(&self, rank: usize) -> u32 {
        self.first + self.ids.get(rank).unwrap_or(0)
    }

    /// The first rank for which `before` is false (binary search).
    fn rank_where(&self, mut before: impl FnMut(&[u8]) -> bool) -> usize {
        let (mut low, mut high) = (0, self.ids.len());
        while low < high {
            let middle = (low + high) / 2;
            if before(self.bytes_at(middle)) { low = middle + 1 } else { high = middle }
        }
        low
    }

    /// The number of a string.
    pub fn find(&self, text: &str) -> Option<u32> {
        let rank = self.rank_where(|known| known < text.as_bytes());
        (rank < self.ids.len() && self.bytes_at(rank) == text.as_bytes()).then(|| self.id_at(rank))
    }

    /// Calls `each` with every string and its number.
    pub fn each(&self, mut each: impl FnMut(u32, &'a str)) {
        (0..self.ids.len()).for_each(|rank| each(self.id_at(rank), self.at(rank)));
    }

    /// Calls `each` with the strings that begin with `prefix`.
    pub fn with_prefix(&self, prefix: &str, mut each: impl FnMut(u32, &'a str)) {
        let prefix = prefix.as_bytes();
        for rank in self.rank_where(|known| known < prefix)..self.ids.len() {
            if !self.bytes_at(rank).starts_with(prefix) {
                break;
            }
            each(self.id_at(rank), self.at(rank));
        }
    }

    /// Calls `each` with the strings that contain `literal`, which must not be empty nor contain a
    /// line feed.
    pub fn holding(&self, literal: &str, mut each: impl FnMut(u32, &'a str)) {
        let mut next_rank = 0;
        for at in memchr::memmem::find_iter(self.text.all(), literal.as_bytes()) {
            // Occurrences ascend, so the rank is near the previous one: galloping search.
            let mut step = 1;
            let mut low = next_rank;
            while self.starts.get(low + step).is_some_and(|start| start as usize <= at) {
                low += step;
                step *= 2;
            }
            let high = (low + step).min(self.starts.len());
            let within = self.starts.slice(low..high).unwrap_or_default();
            let rank = low + within.partition_point(|start| *start as usize <= at);
            if rank > next_rank && rank <= self.ids.len() {
                next_rank = rank;
                each(self.id_at(rank - 1), self.at(rank - 1));
            }
        }
    }

    /// The numbers of the strings with this [key](crate::look_up_key).
    pub fn with_key(&self, key: &str) -> impl Iterator<Item = u32> {
        self.with_key_that(|known| known.cmp(key.as_bytes()))
    }

    /// The numbers of the strings whose [key](crate::look_up_key) has this prefix.
    pub fn with_key_prefix(&self, prefix: &str) -> impl Iterator<Item = u32> {
        let prefix = prefix.as_bytes();
        self.with_key_that(|known| known.get(..prefix.len()).unwrap_or(known).cmp(prefix))
    }

    /// The numbers of the strings whose key compares as equal; `order` must be monotonic in the
    /// key.
    fn with_key_that<F: Fn(&[u8]) -> Ordering>(&self, order: F) -> impl Iterator<Item = u32> + use<'a, F> {
        let compare = |rank: u32| order(look_up_key(self.at(rank as usize)).as_bytes());
        let start = self.folds.partition_point(|rank| compare(rank) == Ordering::Less);
        let is_equal = |rank: &u32| compare(*rank) == Ordering::Equal;
        let equal = (start..).map_while(|index| self.folds.get(index)).take_while(is_equal).count();
        let strings = *self;
        let ranks = self.folds.slice(start..start + equal).unwrap_or_default();
        ranks.iter().map(move |rank| strings.id_at(*rank as usize))
    }
}
