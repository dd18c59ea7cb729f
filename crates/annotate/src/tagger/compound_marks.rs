//! Marks where lemmas are put together, in treebanks that do so: Finnish *pää#kirjoitus*.
//!
//! A index is a boundary if both sides of it have been seen on their side of one.

use crate::hash::{Hash, mix, of_str};
use crate::tagger::ModelError;
use crate::tagger::bytes::{Reader, put_number};
use crate::tagger::feature_index::FeatureIndex;

/// The mark itself.
pub const MARK: char = '#';
/// Neither side of a boundary is shorter, in characters.
const MIN_CHARS: usize = 2;
/// What follows a frequent first part may be unknown, but not shorter than this.
const MIN_UNKNOWN_CHARS: usize = 4;

/// Parts of lemmas that were put together.
#[derive(Debug, Default)]
pub struct CompoundMarks {
    parts: FeatureIndex,
    /// Whether a hyphen becomes a boundary.
    hyphens: bool,
}

/// What parts are found by: as a first part, as a frequent first part, as a last one.
pub fn part(text: &str) -> [Hash; 3] {
    [7, 8, 9].map(|salt| mix(salt, of_str(text)))
}

impl CompoundMarks {
    /// Reads what [`CompoundMarks::write`] wrote.
    pub fn read(reader: &mut Reader<'_>) -> Result<CompoundMarks, ModelError> {
        let hyphens = reader.number()? == 1;
        Ok(CompoundMarks { parts: FeatureIndex::read(reader)?, hyphens })
    }

    /// Parts as a part of a model; slots must ascend.
    pub fn write(hyphens: bool, bits: u32, slots: &[u32], out: &mut Vec<u8>) {
        put_number(u32::from(hyphens), out);
        FeatureIndex::write(bits, slots, out);
    }

    /// The lemma with its compound_marks marked; `lower` is the same in small letters.
    pub fn mark(&self, lemma: String, lower: &str) -> String {
        if self.parts.is_empty() || lemma.chars().count() != lower.chars().count() {
            return lemma;
        }
        let boundaries = self.boundaries(lower);
        if boundaries.is_empty() && !self.hyphens {
            return lemma;
        }
        let mut marked = String::with_capacity(lemma.len() + boundaries.len());
        let inside = |index: usize| index > 0 && index + 1 < lemma.chars().count();
        for (index, c) in lemma.chars().enumerate() {
            if boundaries.contains(&index) {
                marked.push(MARK);
            }
            marked.push(if c == '-' && self.hyphens && inside(index) { MARK } else { c });
        }
        marked
    }

    /// Before which characters a part begins.
    fn boundaries(&self, lower: &str) -> Vec<usize> {
        let mut boundaries = Vec::new();
        let mut start = 0;
        let ends: Vec<usize> = lower.char_indices().map(|(at, _)| at).chain([lower.len()]).collect();
        let knows = |hash: Hash| self.parts.contains(hash);
        loop {
            let from = start + MIN_CHARS;
            // The longest first part is the best guess.
            let boundary = (from..(ends.len().saturating_sub(MIN_CHARS)).max(from)).rev().find(|index| {
                let (left, right) = (&lower[ends[start]..ends[*index]], &lower[ends[*index]..]);
                let [first, frequent, _] = part(left);
                let long = ends.len() - 1 - index >= MIN_UNKNOWN_CHARS;
                knows(first) && (knows(part(right)[2]) || (long && knows(frequent)))
            });
            let Some(boundary) = boundary else { return boundaries };
            boundaries.push(boundary);
            start = boundary;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_of_a_joint_must_be_known() {
        let mut slots = [part("pää")[0], part("kirjoitus")[2]].map(|hash| FeatureIndex::slot(hash, 20));
        slots.sort_unstable();
        let mut bytes = Vec::new();
        CompoundMarks::write(true, 20, &slots, &mut bytes);
        let compound_marks = CompoundMarks::read(&mut Reader::new(&bytes)).unwrap();
        assert_eq!(compound_marks.mark("Pääkirjoitus".into(), "pääkirjoitus"), "Pää#kirjoitus");
        assert_eq!(compound_marks.mark("päästä".into(), "päästä"), "päästä");
        assert_eq!(compound_marks.mark("kevät-ilma".into(), "kevät-ilma"), "kevät#ilma");
        assert_eq!(compound_marks.mark("-".into(), "-"), "-");
        assert_eq!(CompoundMarks::default().mark("a-b".into(), "a-b"), "a-b");
    }
}
