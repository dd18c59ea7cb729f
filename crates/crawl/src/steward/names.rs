//! Numbers of domains by name: an open hash table of numbers alone, which compares the names where they are.

const EMPTY: u32 = u32::MAX;

/// A table of domains by the hashes of their names (linear probing).
#[derive(Debug, Default)]
pub struct NameTable {
    slots: Vec<u32>,
    len: usize,
}

impl NameTable {
    /// The domain with a hash for which `is` holds.
    pub fn find(&self, hash: u64, is: impl Fn(u32) -> bool) -> Option<u32> {
        let mask = self.slots.len().checked_sub(1)?;
        let mut at = hash as usize & mask;
        while self.slots[at] != EMPTY {
            if is(self.slots[at]) {
                return Some(self.slots[at]);
            }
            at = (at + 1) & mask;
        }
        None
    }

    /// Adds a domain that is not in the table. `hash_of` gives the hashes of the others, if the table must grow.
    pub fn insert(&mut self, hash: u64, id: u32, hash_of: impl Fn(u32) -> u64) {
        if (self.len + 1) * 4 > self.slots.len() * 3 {
            let larger = (self.slots.len() * 2).max(16);
            let old = std::mem::replace(&mut self.slots, vec![EMPTY; larger]);
            old.into_iter().filter(|id| *id != EMPTY).for_each(|id| self.put(hash_of(id), id));
        }
        self.put(hash, id);
        self.len += 1;
    }

    fn put(&mut self, hash: u64, id: u32) {
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        while self.slots[at] != EMPTY {
            at = (at + 1) & mask;
        }
        self.slots[at] = id;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use xxhash_rust::xxh3::xxh3_64;

    #[test]
    fn names_are_found_also_where_hashes_collide() {
        let names: Vec<String> = (0..5000).map(|n| format!("site{n}.example")).collect();
        let hash = |name: &str| xxh3_64(name.as_bytes()) % 100;
        let mut table = NameTable::default();
        for (id, name) in names.iter().enumerate() {
            assert_eq!(table.find(hash(name), |other| names[other as usize] == *name), None);
            table.insert(hash(name), id as u32, |id| hash(&names[id as usize]));
        }
        for (id, name) in names.iter().enumerate() {
            assert_eq!(table.find(hash(name), |other| names[other as usize] == *name), Some(id as u32));
        }
    }
}
