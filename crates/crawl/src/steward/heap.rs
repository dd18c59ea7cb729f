//! A binary max-heap of domains by priority whose entries can be changed and removed.

const ABSENT: u32 = u32::MAX;

/// An indexed heap: O(log n) insertion, change and removal by the number of the domain.
#[derive(Debug, Default)]
pub struct IndexedHeap {
    entries: Vec<(f64, u32)>,
    positions: Vec<u32>,
}

impl IndexedHeap {
    /// The number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether the heap has no entry.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The entry with the highest priority.
    pub fn peek(&self) -> Option<(f64, u32)> {
        self.entries.first().copied()
    }

    /// The entry at a position between 0 and `len`, for random choices.
    pub fn at(&self, position: usize) -> u32 {
        self.entries[position].1
    }

    /// Sets the priority of an entry, which is inserted if it is absent.
    pub fn set(&mut self, id: u32, priority: f64) {
        if self.positions.len() <= id as usize {
            self.positions.resize(id as usize + 1, ABSENT);
        }
        let mut at = self.positions[id as usize];
        if at == ABSENT {
            at = self.entries.len() as u32;
            self.entries.push((priority, id));
            self.positions[id as usize] = at;
        } else {
            self.entries[at as usize].0 = priority;
        }
        self.restore(at as usize);
    }

    /// Removes an entry, if it is present.
    pub fn remove(&mut self, id: u32) -> Option<f64> {
        let at = *self.positions.get(id as usize)?;
        if at == ABSENT {
            return None;
        }
        let (priority, _) = self.entries.swap_remove(at as usize);
        self.positions[id as usize] = ABSENT;
        if let Some(&(_, moved)) = self.entries.get(at as usize) {
            self.positions[moved as usize] = at;
            self.restore(at as usize);
        }
        Some(priority)
    }

    fn restore(&mut self, mut at: usize) {
        while at > 0 && self.entries[at].0 > self.entries[(at - 1) / 2].0 {
            self.swap(at, (at - 1) / 2);
            at = (at - 1) / 2;
        }
        loop {
            let left = 2 * at + 1;
            let Some(best) = [left, left + 1]
                .into_iter()
                .filter(|child| *child < self.entries.len())
                .max_by(|a, b| self.entries[*a].0.total_cmp(&self.entries[*b].0))
            else {
                return;
            };
            if self.entries[best].0 <= self.entries[at].0 {
                return;
            }
            self.swap(at, best);
            at = best;
        }
    }

    fn swap(&mut self, a: usize, b: usize) {
        self.entries.swap(a, b);
        self.positions[self.entries[a].1 as usize] = a as u32;
        self.positions[self.entries[b].1 as usize] = b as u32;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_heap_is_a_map_with_a_greatest_entry(steps in prop::collection::vec((0u32..40, prop::option::of(-1000i32..1000)), 1..300)) {
            let mut heap = IndexedHeap::default();
            let mut map = BTreeMap::new();
            for (id, priority) in steps {
                match priority {
                    Some(priority) => {
                        heap.set(id, f64::from(priority));
                        map.insert(id, priority);
                    }
                    None => prop_assert_eq!(heap.remove(id), map.remove(&id).map(f64::from)),
                }
                prop_assert_eq!(heap.len(), map.len());
                prop_assert_eq!(heap.peek().map(|(priority, _)| priority), map.values().max().copied().map(f64::from));
                if let Some((priority, id)) = heap.peek() {
                    prop_assert_eq!(f64::from(map[&id]), priority);
                }
            }
        }
    }
}
