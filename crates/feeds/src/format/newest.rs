//! A bounded list of entries that keeps the newest.
//!
//! A feed of a few megabytes can list half a million entries, each of which costs more memory than its text. Feeds list
//! the newest entries first, but some append them at the end, so the dates decide.

use std::cmp::Reverse;

use tidings_model::{FeedEntry, Repair};

use crate::repairs::Repairs;

/// Entries in document order, of which at most twice the limit are in memory.
#[derive(Debug)]
pub(super) struct NewestEntries {
    entries: Vec<FeedEntry>,
    max_entries: usize,
    has_dropped: bool,
}

impl NewestEntries {
    pub(super) fn new(max_entries: usize) -> Self {
        NewestEntries { entries: Vec::new(), max_entries, has_dropped: false }
    }

    /// Adds an entry.
    pub(super) fn push(&mut self, entry: FeedEntry) {
        self.entries.push(entry);
        if self.entries.len() >= self.max_entries.saturating_mul(2).max(1) {
            self.prune();
        }
    }

    /// The newest entries in document order. Notes a repair if others were dropped.
    pub(super) fn finish(mut self, repairs: &mut Repairs) -> Vec<FeedEntry> {
        self.prune();
        if self.has_dropped {
            repairs.add(Repair::TooManyEntries);
        }
        self.entries
    }

    /// Drops the oldest entries beyond the limit. Entries of equal date, or without one, are dropped from the end.
    fn prune(&mut self) {
        if self.entries.len() <= self.max_entries {
            return;
        }
        self.has_dropped = true;
        let mut order: Vec<usize> = (0..self.entries.len()).collect();
        order.sort_by_key(|at| Reverse(self.entries[*at].date()));
        let mut is_kept = vec![false; self.entries.len()];
        order.iter().take(self.max_entries).for_each(|at| is_kept[*at] = true);
        let mut kept = is_kept.into_iter();
        self.entries.retain(|_| kept.next().unwrap_or(false));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(title: usize, day: Option<usize>) -> FeedEntry {
        let published = day.map(|day| jiff::Timestamp::from_second(86_400 * day as i64).unwrap());
        FeedEntry { title: title.to_string(), published, ..FeedEntry::default() }
    }

    fn titles(entries: impl Iterator<Item = FeedEntry>, max_entries: usize) -> (String, bool) {
        let mut newest = NewestEntries::new(max_entries);
        entries.for_each(|entry| newest.push(entry));
        let mut repairs = Repairs::default();
        let kept = newest.finish(&mut repairs);
        let titles: Vec<String> = kept.into_iter().map(|entry| entry.title).collect();
        (titles.join(" "), repairs.list() == [Repair::TooManyEntries])
    }

    #[test]
    fn the_newest_entries_are_kept_in_either_order() {
        assert_eq!(titles((0..9).map(|n| entry(n, Some(100 - n))), 3), ("0 1 2".into(), true));
        assert_eq!(titles((0..9).map(|n| entry(n, Some(100 + n))), 3), ("6 7 8".into(), true));
    }

    #[test]
    fn the_first_entries_are_kept_without_dates() {
        assert_eq!(titles((0..9).map(|n| entry(n, None)), 3), ("0 1 2".into(), true));
        assert_eq!(titles((0..3).map(|n| entry(n, None)), 3), ("0 1 2".into(), false));
        assert_eq!(titles((0..3).map(|n| entry(n, None)), 0), (String::new(), true));
    }
}
