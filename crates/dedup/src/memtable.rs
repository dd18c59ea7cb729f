//! The memtable: recent fingerprints in memory.
//!
//! An open-addressing hash table with linear probing. Fingerprints are uniform already, so they are not hashed again. A
//! fingerprint occurs once per block. The table is written to a run when it exceeds its memory budget.

use crate::fingerprint_index::BlockId;

/// Marks an empty slot; no block has this id.
const EMPTY: BlockId = BlockId::MAX;
const LEAST_SLOTS: usize = 1 << 12;

/// Bytes per slot while the table is written: the slot itself, and the sorted copy of up to 70 % of them.
const SLOT_BYTES: usize = 12 + 12;

pub(crate) struct MemTable {
    fingerprints: Vec<u64>,
    blocks: Vec<BlockId>,
    len: usize,
    most_slots: usize,
}

impl MemTable {
    /// Creates a table that uses at most about `budget_bytes`.
    pub(crate) fn new(budget_bytes: usize) -> MemTable {
        let most_slots = 1usize << (budget_bytes / SLOT_BYTES).max(LEAST_SLOTS).ilog2();
        MemTable { fingerprints: vec![0; LEAST_SLOTS], blocks: vec![EMPTY; LEAST_SLOTS], len: 0, most_slots }
    }

    pub(crate) fn is_full(&self) -> bool {
        self.len * 10 >= self.most_slots * 7
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Memory use in bytes.
    pub(crate) fn memory(&self) -> usize {
        self.fingerprints.len() * 12
    }

    fn slot(&self, fingerprint: u64) -> usize {
        // All 56 bits are uniform; the lowest serve as well as any.
        fingerprint as usize & (self.fingerprints.len() - 1)
    }

    /// Passes the blocks of a fingerprint to `take`, in any order, until it returns false.
    pub(crate) fn look_up(&self, fingerprint: u64, mut take: impl FnMut(BlockId) -> bool) {
        let mut slot = self.slot(fingerprint);
        while self.blocks[slot] != EMPTY {
            if self.fingerprints[slot] == fingerprint && !take(self.blocks[slot]) {
                return;
            }
            slot = (slot + 1) & (self.fingerprints.len() - 1);
        }
    }

    pub(crate) fn insert(&mut self, fingerprint: u64, block: BlockId) {
        if self.len * 10 >= self.fingerprints.len() * 7 {
            self.grow();
        }
        let mut slot = self.slot(fingerprint);
        while self.blocks[slot] != EMPTY {
            slot = (slot + 1) & (self.fingerprints.len() - 1);
        }
        (self.fingerprints[slot], self.blocks[slot]) = (fingerprint, block);
        self.len += 1;
    }

    fn grow(&mut self) {
        let slots = self.fingerprints.len() * 2;
        let fingerprints = std::mem::replace(&mut self.fingerprints, vec![0; slots]);
        let blocks = std::mem::replace(&mut self.blocks, vec![EMPTY; slots]);
        self.len = 0;
        for (fingerprint, block) in fingerprints.into_iter().zip(blocks).filter(|pair| pair.1 != EMPTY) {
            self.insert(fingerprint, block);
        }
    }

    /// Empties the table and returns its contents in ascending order.
    pub(crate) fn drain(&mut self) -> Vec<(u64, BlockId)> {
        let mut pairs: Vec<(u64, BlockId)> = Vec::with_capacity(self.len);
        let present = self.fingerprints.iter().zip(&self.blocks).filter(|pair| *pair.1 != EMPTY);
        pairs.extend(present.map(|(fingerprint, block)| (*fingerprint, *block)));
        self.blocks.fill(EMPTY);
        self.len = 0;
        pairs.sort_unstable();
        pairs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inserted_fingerprints_are_found_and_drained_in_order() {
        let mut table = MemTable::new(1 << 20);
        let random = fastrand::Rng::with_seed(5);
        let mut random = random;
        let pairs: Vec<(u64, u32)> = (0..20_000).map(|n| (random.u64(..1 << 14) << 3, n)).collect();
        pairs.iter().for_each(|(fingerprint, block)| table.insert(*fingerprint, *block));
        for (fingerprint, _) in pairs.iter().take(500) {
            let mut found = Vec::new();
            table.look_up(*fingerprint, |block| {
                found.push(block);
                true
            });
            found.sort_unstable();
            let expected: Vec<u32> = pairs.iter().filter(|pair| pair.0 == *fingerprint).map(|pair| pair.1).collect();
            assert_eq!(found, expected);
        }
        let mut sorted = pairs;
        sorted.sort_unstable();
        assert_eq!(table.drain(), sorted);
        assert_eq!((table.len(), table.drain().len()), (0, 0));
    }
}
