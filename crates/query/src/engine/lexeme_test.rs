//! Token tests over the lexemes of one segment.

use super::set::LexemeSet;
use tidings_index::codec::BitSet;
use tidings_index::segment::LocalLexemeId;
use tidings_index::{CheckedSlice, Segment};

/// The lexemes of a segment that pass a test.
pub(crate) enum LexemeTest<'a> {
    Any,
    Nothing,
    One(LocalLexemeId),
    Few(Vec<LocalLexemeId>),
    BitSet(BitSet),
    /// By the lexeme numbers of the lexicon: slower to test, but needs no preparation.
    Global(&'a BitSet, CheckedSlice<'a, u32>),
}

impl<'a> LexemeTest<'a> {
    /// `often` means that the test will be evaluated often enough for a bit set to pay off.
    pub(crate) fn new(set: &'a LexemeSet, segment: &'a Segment, often: bool) -> LexemeTest<'a> {
        match set {
            LexemeSet::All => LexemeTest::Any,
            LexemeSet::Few(few) => {
                let local_ids = local_ids_of(few, segment.lexemes());
                match local_ids[..] {
                    [] => LexemeTest::Nothing,
                    [one] => LexemeTest::One(one),
                    _ if local_ids.len() <= 4 => LexemeTest::Few(local_ids),
                    _ => {
                        let mut bits = BitSet::new(segment.lexemes().len());
                        local_ids.iter().for_each(|local_id| bits.set(*local_id));
                        LexemeTest::BitSet(bits)
                    }
                }
            }
            LexemeSet::Many(bits) if often => {
                let mut local_ids = BitSet::new(segment.lexemes().len());
                let words = local_ids.words_mut();
                for (word, lexemes) in words.iter_mut().zip(segment.lexemes().all().chunks(64)) {
                    for (index, lexeme) in lexemes.iter().enumerate() {
                        *word |= u64::from(bits.get(*lexeme)) << index;
                    }
                }
                LexemeTest::BitSet(local_ids)
            }
            LexemeSet::Many(bits) => LexemeTest::Global(bits, segment.lexemes()),
        }
    }

    #[inline]
    pub(crate) fn passes(&self, local_id: LocalLexemeId) -> bool {
        match self {
            LexemeTest::Any => true,
            LexemeTest::Nothing => false,
            LexemeTest::One(one) => *one == local_id,
            LexemeTest::Few(few) => few.contains(&local_id),
            LexemeTest::BitSet(bits) => bits.get(local_id),
            LexemeTest::Global(bits, lexemes) => lexemes.get(local_id as usize).is_some_and(|lexeme| bits.get(lexeme)),
        }
    }
}

/// The local ids of some lexemes in a segment, by galloping search; both lists ascend.
pub(crate) fn local_ids_of<'a>(few: &[u32], lexemes: impl Into<CheckedSlice<'a, u32>>) -> Vec<LocalLexemeId> {
    let lexemes = lexemes.into();
    let mut local_ids = Vec::with_capacity(few.len());
    let mut from = 0;
    let expected_gap = lexemes.len() / (few.len() + 1) + 1;
    for lexeme in few {
        // Start with the expected gap, double the step until the lexeme is passed, then bisect.
        let mut step = expected_gap;
        while lexemes.get(from + step).is_some_and(|known| known < *lexeme) {
            from += step;
            step *= 2;
        }
        from = lexemes.partition_point_in(from..from + step + 1, |known| known < *lexeme);
        if lexemes.get(from) == Some(*lexeme) {
            local_ids.push(from as u32);
        }
    }
    local_ids
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn galloping_search_finds_the_lexemes_that_occur() {
        let lexemes: Vec<u32> = (0..500).map(|index| index * 3).collect();
        assert_eq!(local_ids_of(&[0, 3, 4, 300, 1497, 9999], &lexemes), [0, 1, 100, 499]);
        assert_eq!(local_ids_of(&[7], &[0; 0]), [] as [u32; 0]);
        assert_eq!(local_ids_of(&[], &lexemes), [] as [u32; 0]);
    }
}
