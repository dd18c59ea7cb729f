//! Counts of all sections with waiting URLs, in little memory.
//!
//! A crawl has millions of sections and works on few of them. Sections of the last checkpoint are in two sorted arrays;
//! only those that are new since then are in a hash table.

use std::collections::HashMap;

use crate::sieve::MAX_RUNS;

/// Runs of a shard, with the one that is merged next.
pub(crate) const SLOTS: usize = MAX_RUNS + 1;

/// Counts of a section. The most waiting URLs of a section are fewer than 65,536.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct SectionState {
    /// URLs that were not kept.
    pub(crate) overflow: u32,
    pub(crate) waiting: u16,
    /// URLs taken from each run of the shard.
    pub(crate) taken: [u16; SLOTS],
}

/// Counts by the number of a section.
#[derive(Debug, Default)]
pub(crate) struct SectionTable {
    ids: Vec<u64>,
    states: Vec<SectionState>,
    added: HashMap<u64, SectionState>,
}

impl SectionTable {
    /// The counts of a section.
    pub(crate) fn get(&self, id: u64) -> Option<&SectionState> {
        match self.ids.binary_search(&id) {
            Ok(at) => Some(&self.states[at]),
            Err(_) => self.added.get(&id),
        }
    }

    /// The counts of a section, which is added if it is new.
    pub(crate) fn get_mut(&mut self, id: u64) -> &mut SectionState {
        match self.ids.binary_search(&id) {
            Ok(at) => &mut self.states[at],
            Err(_) => self.added.entry(id).or_default(),
        }
    }

    /// All counts, in no order.
    pub(crate) fn values(&self) -> impl Iterator<Item = &SectionState> {
        self.states.iter().chain(self.added.values())
    }

    /// All counts, in no order.
    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut SectionState> {
        self.states.iter_mut().chain(self.added.values_mut())
    }

    /// Forgets sections without counts and moves new ones to the sorted arrays.
    pub(crate) fn compact(&mut self) {
        let is_kept = |state: &SectionState| *state != SectionState::default();
        let mut added: Vec<(u64, SectionState)> = std::mem::take(&mut self.added).into_iter().collect();
        added.sort_unstable_by_key(|(id, _)| *id);
        let kept = self.values().chain(added.iter().map(|(_, state)| state)).filter(|state| is_kept(state)).count();
        let (ids, states) = (std::mem::take(&mut self.ids), std::mem::take(&mut self.states));
        (self.ids, self.states) = (Vec::with_capacity(kept), Vec::with_capacity(kept));
        let mut added = added.into_iter().peekable();
        let mut push = |id: u64, state: SectionState| {
            if is_kept(&state) {
                self.ids.push(id);
                self.states.push(state);
            }
        };
        for (id, state) in ids.into_iter().zip(states) {
            while let Some((id, state)) = added.next_if(|(new, _)| *new < id) {
                push(id, state);
            }
            push(id, state);
        }
        added.for_each(|(id, state)| push(id, state));
    }

    /// The sections in the order of their numbers, after [`SectionTable::compact`].
    pub(crate) fn sorted(&self) -> impl Iterator<Item = (u64, &SectionState)> {
        self.ids.iter().copied().zip(&self.states)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn the_table_is_a_map_without_empty_counts(steps in prop::collection::vec((0u64..50, 0u16..4), 1..200)) {
            let mut table = SectionTable::default();
            let mut map: BTreeMap<u64, u16> = BTreeMap::new();
            for (id, waiting) in steps {
                if id == 49 {
                    table.compact();
                    map.retain(|_, waiting| *waiting > 0);
                    let sorted: Vec<(u64, u16)> = table.sorted().map(|(id, state)| (id, state.waiting)).collect();
                    prop_assert_eq!(sorted, map.clone().into_iter().collect::<Vec<_>>());
                    continue;
                }
                table.get_mut(id).waiting = waiting;
                map.insert(id, waiting);
                prop_assert_eq!(table.get(id).map(|state| state.waiting), map.get(&id).copied());
                prop_assert_eq!(table.values().count(), map.len());
            }
        }
    }
}
