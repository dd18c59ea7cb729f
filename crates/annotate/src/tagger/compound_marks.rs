//! Compound boundaries in lemmas, for treebanks that mark them: Finnish *pää#kirjoitus*.
//!
//! A boundary is marked if the text on both sides occurs on the same side of a boundary in the
//! treebank.

use crate::hash::{Hash, mix, of_str};
use crate::tagger::ModelError;
use crate::tagger::bytes::{Reader, put_number};
use crate::tagger::feature_index::FeatureIndex;

/// The boundary mark.
pub const MARK: char = '#';
/// Minimum length of a part, in characters.
const MIN_CHARS: usize = 2;
/// Minimum length of an unknown part after a frequent first part.
const MIN_UNKNOWN_CHARS: usize = 4;

/// Known parts of compounds.
#[derive(Debug, Default)]
pub struct CompoundMarks {
    parts: FeatureIndex,
    /// Replaces hyphens by boundary marks.
    hyphens: bool,
}

/// Hashes of a part: as a first part, as a frequent first part, as a last part.
pub fn part(text: &str) -> [Hash; 3] {
    [7, 8, 9].map(|salt| mix(salt, of_str(text)))
}

impl CompoundMarks {
    /// Reads the output of [`CompoundMarks::write`].
    pub fn read(reader: &mut Reader<'_>) -> Result<CompoundMarks, ModelError> {
        let hyphens = reader.number()? == 1;
        Ok(CompoundMarks { parts: FeatureIndex::read(reader)?, hyphens })
    }

    /// Serialises the known parts; `slots` must ascend.
    pub fn write(hyphens: bool, bits: u32, slots: &[u32], out: &mut Vec<u8>) {
        put_number(u32::from(hyphens), out);
        FeatureIndex::write(bits, slots, out);
    }

    /// Inserts boundary marks into a lemma; `lower` is its lowercase form.
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

    /// Character indices at which a part of the compound starts.
    fn boundaries(&self, lower: &str) -> Vec<usize> {
        let mut boundaries = Vec::new();
        let mut start = 0;
        let ends: Vec<usize> = lower.char_indices().map(|(at, _)| at).chain([lower.len()]).collect();
        let knows = |hash: Hash| self.parts.contains(hash);
        loop {
            let from = start + MIN_CHARS;
            // The longest first part is preferred.
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
    fn a_boundary_is_marked_only_between_known_parts() {
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
