//! Marks where lemmas are put together, in treebanks that do so: Finnish *pää#kirjoitus*.
//!
//! A place is a joint if both sides of it have been seen on their side of one.

use crate::hash::{Hash, mix, of_str};
use crate::tagger::ModelError;
use crate::tagger::bytes::{Reader, put_number};
use crate::tagger::sparse::Sparse;

/// The mark itself.
pub const MARK: char = '#';
/// Neither side of a joint is shorter, in characters.
const SHORTEST: usize = 2;
/// What follows a frequent first part may be unknown, but not shorter than this.
const SHORTEST_UNKNOWN: usize = 4;

/// Parts of lemmas that were put together.
#[derive(Debug, Default)]
pub struct Joints {
    parts: Sparse,
    /// Whether a hyphen becomes a joint.
    hyphens: bool,
}

/// What parts are found by: as a first part, as a frequent first part, as a last one.
pub fn part(text: &str) -> [Hash; 3] {
    [7, 8, 9].map(|salt| mix(salt, of_str(text)))
}

impl Joints {
    /// Reads what [`Joints::write`] wrote.
    pub fn read(reader: &mut Reader<'_>) -> Result<Joints, ModelError> {
        let hyphens = reader.number()? == 1;
        Ok(Joints { parts: Sparse::read(reader)?, hyphens })
    }

    /// Parts as a part of a model; places must ascend.
    pub fn write(hyphens: bool, bits: u32, places: &[u32], out: &mut Vec<u8>) {
        put_number(u32::from(hyphens), out);
        Sparse::write(bits, places, out);
    }

    /// The lemma with its joints marked; `lower` is the same in small letters.
    pub fn mark(&self, lemma: String, lower: &str) -> String {
        if self.parts.is_empty() || lemma.chars().count() != lower.chars().count() {
            return lemma;
        }
        let joints = self.joints(lower);
        if joints.is_empty() && !self.hyphens {
            return lemma;
        }
        let mut marked = String::with_capacity(lemma.len() + joints.len());
        let inside = |place: usize| place > 0 && place + 1 < lemma.chars().count();
        for (place, c) in lemma.chars().enumerate() {
            if joints.contains(&place) {
                marked.push(MARK);
            }
            marked.push(if c == '-' && self.hyphens && inside(place) { MARK } else { c });
        }
        marked
    }

    /// Before which characters a part begins.
    fn joints(&self, lower: &str) -> Vec<usize> {
        let mut joints = Vec::new();
        let mut start = 0;
        let ends: Vec<usize> = lower.char_indices().map(|(at, _)| at).chain([lower.len()]).collect();
        let knows = |hash: Hash| self.parts.has(hash);
        loop {
            let from = start + SHORTEST;
            // The longest first part is the best guess.
            let joint = (from..(ends.len().saturating_sub(SHORTEST)).max(from)).rev().find(|place| {
                let (left, right) = (&lower[ends[start]..ends[*place]], &lower[ends[*place]..]);
                let [first, frequent, _] = part(left);
                let long = ends.len() - 1 - place >= SHORTEST_UNKNOWN;
                knows(first) && (knows(part(right)[2]) || (long && knows(frequent)))
            });
            let Some(joint) = joint else { return joints };
            joints.push(joint);
            start = joint;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_of_a_joint_must_be_known() {
        let mut places = [part("pää")[0], part("kirjoitus")[2]].map(|hash| Sparse::place(hash, 20));
        places.sort_unstable();
        let mut bytes = Vec::new();
        Joints::write(true, 20, &places, &mut bytes);
        let joints = Joints::read(&mut Reader::new(&bytes)).unwrap();
        assert_eq!(joints.mark("Pääkirjoitus".into(), "pääkirjoitus"), "Pää#kirjoitus");
        assert_eq!(joints.mark("päästä".into(), "päästä"), "päästä");
        assert_eq!(joints.mark("kevät-ilma".into(), "kevät-ilma"), "kevät#ilma");
        assert_eq!(joints.mark("-".into(), "-"), "-");
        assert_eq!(Joints::default().mark("a-b".into(), "a-b"), "a-b");
    }
}
