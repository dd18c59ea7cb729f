//! The keys of late, in memory: a plain table that knows how large it is.
//!
//! Linear probing over keys that are evenly spread already; a key may stand in it several times, once for
//! each piece. It is emptied into a run when it would outgrow its room.

use crate::keys::PieceNumber;

/// Marks an empty slot: no piece has this number.
const EMPTY: PieceNumber = PieceNumber::MAX;
const LEAST_SLOTS: usize = 1 << 12;

/// Bytes for each slot while the table is emptied: the slot, and a sorted pair for seven of ten.
const SLOT_BYTES: usize = 12 + 12;

pub(crate) struct Recent {
    keys: Vec<u64>,
    pieces: Vec<PieceNumber>,
    len: usize,
    most_slots: usize,
}

impl Recent {
    /// A table that takes no more than about so many bytes.
    pub(crate) fn new(budget_bytes: usize) -> Recent {
        let most_slots = 1usize << (budget_bytes / SLOT_BYTES).max(LEAST_SLOTS).ilog2();
        Recent { keys: vec![0; LEAST_SLOTS], pieces: vec![EMPTY; LEAST_SLOTS], len: 0, most_slots }
    }

    pub(crate) fn is_full(&self) -> bool {
        self.len * 10 >= self.most_slots * 7
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// What it takes in memory.
    pub(crate) fn memory(&self) -> usize {
        self.keys.len() * 12
    }

    fn slot(&self, key: u64) -> usize {
        // Keys have 56 bits; the lowest are as good as any.
        key as usize & (self.keys.len() - 1)
    }

    pub(crate) fn look_up(&self, key: u64, found: &mut Vec<PieceNumber>) {
        let mut slot = self.slot(key);
        while self.pieces[slot] != EMPTY {
            if self.keys[slot] == key {
                found.push(self.pieces[slot]);
            }
            slot = (slot + 1) & (self.keys.len() - 1);
        }
    }

    pub(crate) fn insert(&mut self, key: u64, piece: PieceNumber) {
        if self.len * 10 >= self.keys.len() * 7 {
            self.grow();
        }
        let mut slot = self.slot(key);
        while self.pieces[slot] != EMPTY {
            slot = (slot + 1) & (self.keys.len() - 1);
        }
        (self.keys[slot], self.pieces[slot]) = (key, piece);
        self.len += 1;
    }

    fn grow(&mut self) {
        let slots = self.keys.len() * 2;
        let keys = std::mem::replace(&mut self.keys, vec![0; slots]);
        let pieces = std::mem::replace(&mut self.pieces, vec![EMPTY; slots]);
        self.len = 0;
        for (key, piece) in keys.into_iter().zip(pieces).filter(|pair| pair.1 != EMPTY) {
            self.insert(key, piece);
        }
    }

    /// Everything in it, ascending; it is empty afterwards.
    pub(crate) fn drain(&mut self) -> Vec<(u64, PieceNumber)> {
        let mut pairs: Vec<(u64, PieceNumber)> = Vec::with_capacity(self.len);
        let present = self.keys.iter().zip(&self.pieces).filter(|pair| *pair.1 != EMPTY);
        pairs.extend(present.map(|(key, piece)| (*key, *piece)));
        self.pieces.fill(EMPTY);
        self.len = 0;
        pairs.sort_unstable();
        pairs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_in_is_found_and_comes_out_in_order() {
        let mut recent = Recent::new(1 << 20);
        let random = fastrand::Rng::with_seed(5);
        let mut random = random;
        let pairs: Vec<(u64, u32)> = (0..20_000).map(|n| (random.u64(..1 << 14) << 3, n)).collect();
        pairs.iter().for_each(|(key, piece)| recent.insert(*key, *piece));
        for (key, _) in pairs.iter().take(500) {
            let mut found = Vec::new();
            recent.look_up(*key, &mut found);
            found.sort_unstable();
            let expected: Vec<u32> = pairs.iter().filter(|pair| pair.0 == *key).map(|pair| pair.1).collect();
            assert_eq!(found, expected);
        }
        let mut sorted = pairs;
        sorted.sort_unstable();
        assert_eq!(recent.drain(), sorted);
        assert_eq!((recent.len(), recent.drain().len()), (0, 0));
    }
}
