//! Addition of counts that were made apart: by threads over blocks of one index, and by shards over their documents.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::Hash;

/// A count of a part of the documents. Merging is associative and commutative, so that the sum depends neither on the
/// number of threads nor on the order in which parts arrive.
pub trait Merge {
    /// Adds the count of other documents.
    fn merge_from(&mut self, other: Self);
}

impl Merge for u64 {
    fn merge_from(&mut self, other: u64) {
        *self = self.saturating_add(other);
    }
}

impl Merge for u32 {
    fn merge_from(&mut self, other: u32) {
        *self = self.saturating_add(other);
    }
}

impl<A: Merge, B: Merge> Merge for (A, B) {
    fn merge_from(&mut self, other: (A, B)) {
        self.0.merge_from(other.0);
        self.1.merge_from(other.1);
    }
}

/// Counts by number: a shorter list has none of the last ones.
impl<T: Merge> Merge for Vec<T> {
    fn merge_from(&mut self, mut other: Vec<T>) {
        if self.len() < other.len() {
            std::mem::swap(self, &mut other);
        }
        self.iter_mut().zip(other).for_each(|(sum, count)| sum.merge_from(count));
    }
}

impl<K: Ord, V: Merge> Merge for BTreeMap<K, V> {
    fn merge_from(&mut self, other: BTreeMap<K, V>) {
        for (key, value) in other {
            match self.get_mut(&key) {
                Some(sum) => sum.merge_from(value),
                None => drop(self.insert(key, value)),
            }
        }
    }
}

impl<K: Hash + Eq, V: Merge> Merge for HashMap<K, V> {
    fn merge_from(&mut self, mut other: HashMap<K, V>) {
        if self.len() < other.len() {
            std::mem::swap(self, &mut other);
        }
        for (key, value) in other {
            match self.get_mut(&key) {
                Some(sum) => sum.merge_from(value),
                None => drop(self.insert(key, value)),
            }
        }
    }
}

impl<T: Ord> Merge for BTreeSet<T> {
    fn merge_from(&mut self, mut other: BTreeSet<T>) {
        self.append(&mut other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_do_not_depend_on_the_order_of_parts() {
        let parts: Vec<BTreeMap<&str, (u64, Vec<u64>)>> = vec![
            BTreeMap::from([("a", (1, vec![1]))]),
            BTreeMap::from([("a", (2, vec![0, 5])), ("b", (7, vec![]))]),
            BTreeMap::from([("b", (1, vec![2]))]),
        ];
        let sum = |order: &[usize]| {
            let mut sum = BTreeMap::new();
            order.iter().for_each(|part| sum.merge_from(parts[*part].clone()));
            sum
        };
        let expected = BTreeMap::from([("a", (3, vec![1, 5])), ("b", (8, vec![2]))]);
        assert_eq!((sum(&[0, 1, 2]), sum(&[2, 1, 0])), (expected.clone(), expected));
        let mut sets = BTreeSet::from([1, 2]);
        sets.merge_from(BTreeSet::from([2, 3]));
        assert_eq!(sets.len(), 3);
    }
}
