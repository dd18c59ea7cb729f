//! Rows of all shards in the order of time, a piece at a time: a k-way merge of what each of them has.

use std::collections::VecDeque;

use crate::engine::Order;
use crate::question::QuestionError;

/// The most rows that a shard is asked for at once.
const PIECE: usize = 10_000;

/// A k-way merge by day. Of one day, the rows of the first shard come first, or last in the order `newest`.
pub(in crate::question) struct InTime<T> {
    order: Order,
    shards: Vec<Source<T>>,
}

/// The rows of one shard.
struct Source<T> {
    waiting: VecDeque<T>,
    /// The rows that were fetched.
    fetched: usize,
    is_done: bool,
}

/// Fetches rows: for each shard the number of the first one, or nothing for a shard that is not asked; and the most rows of a
/// shard.
pub(in crate::question) type Fetch<'f, T> =
    &'f mut dyn FnMut(&[Option<usize>], usize) -> Result<Vec<Option<Vec<T>>>, QuestionError>;

impl<T> InTime<T> {
    /// Before the first row of so many shards.
    pub(in crate::question) fn new(shards: usize, order: Order) -> InTime<T> {
        let source = || Source { waiting: VecDeque::new(), fetched: 0, is_done: false };
        InTime { order, shards: (0..shards).map(|_| source()).collect() }
    }

    /// The next rows, each with the number of its shard; fewer than `most` if there are no more.
    pub(in crate::question) fn next(
        &mut self,
        most: usize,
        day: impl Fn(&T) -> i32,
        fetch: Fetch<'_, T>,
    ) -> Result<Vec<(usize, T)>, QuestionError> {
        let mut rows = Vec::new();
        while rows.len() < most {
            self.fill((most - rows.len()).min(PIECE), fetch)?;
            let heads = self.shards.iter().enumerate().filter_map(|(shard, source)| {
                let day = i64::from(day(source.waiting.front()?));
                Some(match self.order {
                    Order::Oldest => (day, shard as i64, shard),
                    Order::Newest => (-day, -(shard as i64), shard),
                })
            });
            let Some((.., first)) = heads.min() else { break };
            rows.extend(self.shards[first].waiting.pop_front().map(|row| (first, row)));
        }
        Ok(rows)
    }

    /// Passes over rows.
    pub(in crate::question) fn skip(
        &mut self,
        mut rows: usize,
        day: impl Fn(&T) -> i32,
        fetch: Fetch<'_, T>,
    ) -> Result<(), QuestionError> {
        while rows > 0 {
            let piece = rows.min(PIECE);
            if self.next(piece, &day, fetch)?.len() < piece {
                break;
            }
            rows -= piece;
        }
        Ok(())
    }

    /// Fetches rows of the shards of which none is waiting.
    fn fill(&mut self, rows: usize, fetch: Fetch<'_, T>) -> Result<(), QuestionError> {
        let is_empty = |source: &Source<T>| source.waiting.is_empty() && !source.is_done;
        if !self.shards.iter().any(is_empty) {
            return Ok(());
        }
        let firsts: Vec<Option<usize>> =
            self.shards.iter().map(|source| Some(source.fetched).filter(|_| is_empty(source))).collect();
        let found = fetch(&firsts, rows)?;
        let asked = self.shards.iter_mut().zip(firsts).zip(found.into_iter().chain(std::iter::repeat_with(|| None)));
        for ((source, _), found) in asked.filter(|((_, first), _)| first.is_some()) {
            let found = found.unwrap_or_default();
            source.is_done = found.len() < rows;
            source.fetched += found.len();
            source.waiting.extend(found);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_of_shards_interleave_and_each_row_is_fetched_once() {
        let all = [vec![(1, 'a'), (1, 'b'), (3, 'c'), (3, 'x')], vec![(1, 'd'), (2, 'e')], vec![]];
        for (order, expected) in [(Order::Oldest, "abdecx"), (Order::Newest, "xcedba")] {
            let of = |shard: usize| {
                let mut rows = all[shard].clone();
                if order == Order::Newest {
                    rows.reverse();
                }
                rows
            };
            let (mut merge, mut fetched, mut letters) = (InTime::new(3, order), 0, String::new());
            let mut fetch = |firsts: &[Option<usize>], rows: usize| {
                let piece = |(shard, first): (usize, &Option<usize>)| {
                    first.map(|first| of(shard).into_iter().skip(first).take(rows).collect::<Vec<_>>())
                };
                let found: Vec<Option<Vec<(i32, char)>>> = firsts.iter().enumerate().map(piece).collect();
                fetched += found.iter().flatten().map(Vec::len).sum::<usize>();
                Ok(found)
            };
            loop {
                let rows = merge.next(2, |row| row.0, &mut fetch).unwrap();
                letters.extend(rows.iter().map(|(_, (_, letter))| *letter));
                if rows.len() < 2 {
                    break;
                }
            }
            assert_eq!((letters.as_str(), fetched), (expected, 6));
        }
    }
}
