//! Linear models that correct the rules for token and sentence boundaries.
//!
//! The verdict of the rules enters as a fixed offset, so that only features that were seen often
//! enough in treebanks can overrule it. Features are hashed; weights were trained by logistic
//! regression (`bench/segment`).

use std::sync::OnceLock;

use crate::embedded::BOUNDARIES;

/// Score of the rules' verdict, before any learned weight.
pub const RULE_WEIGHT: f32 = 2.0;

/// Hash table of feature weights with linear probing.
#[derive(Debug, Default)]
pub struct BoundaryWeights {
    /// Feature and weight; a weight of zero marks an empty slot.
    slots: Vec<(u32, f32)>,
    mask: u32,
}

impl BoundaryWeights {
    /// Builds the table from features and weights.
    pub fn new(pairs: &[(u32, f32)]) -> BoundaryWeights {
        let size = (pairs.len() * 2).next_power_of_two().max(16);
        let mut weights = BoundaryWeights { slots: vec![(0, 0.0); size], mask: size as u32 - 1 };
        for &(feature, weight) in pairs.iter().filter(|pair| pair.1 != 0.0) {
            let mut slot = (feature & weights.mask) as usize;
            while weights.slots[slot].1 != 0.0 {
                slot = (slot + 1) & weights.mask as usize;
            }
            weights.slots[slot] = (feature, weight);
        }
        weights
    }

    #[inline]
    fn of(&self, feature: u32) -> f32 {
        let mut slot = (feature & self.mask) as usize;
        loop {
            let (found, weight) = self.slots[slot];
            if found == feature || weight == 0.0 {
                return weight;
            }
            slot = (slot + 1) & self.mask as usize;
        }
    }

    /// Score of a boundary: positive for, negative against.
    pub fn score(&self, verdict: bool, features: &[u32]) -> f32 {
        let rule_weight = if verdict { RULE_WEIGHT } else { -RULE_WEIGHT };
        features.iter().fold(rule_weight, |score, feature| score + self.of(*feature))
    }
}

/// Boundary model of a language.
#[derive(Debug)]
pub struct BoundaryModel {
    /// Weights for token boundaries.
    pub tokens: BoundaryWeights,
    /// Weights for sentence boundaries.
    pub sentences: BoundaryWeights,
}

/// Magic bytes at the start of a model file.
const MAGIC: &[u8; 4] = b"TSM1";

impl BoundaryModel {
    /// Reads the output of [`BoundaryModel::write`].
    pub fn read(bytes: &[u8]) -> Option<BoundaryModel> {
        let mut rest = bytes.strip_prefix(MAGIC)?;
        let tokens = read_weights(&mut rest)?;
        let sentences = read_weights(&mut rest)?;
        Some(BoundaryModel { tokens, sentences })
    }

    /// Serialises both tables: sorted features as delta-encoded varints, weights quantised to a
    /// byte.
    pub fn write(tokens: &[(u32, f32)], sentences: &[(u32, f32)]) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        write_weights(tokens, &mut bytes);
        write_weights(sentences, &mut bytes);
        bytes
    }
}

fn write_weights(pairs: &[(u32, f32)], out: &mut Vec<u8>) {
    let largest = pairs.iter().map(|pair| pair.1.abs()).fold(0.001, f32::max);
    let unit = largest / 127.0;
    let mut rounded: Vec<(u32, i8)> = pairs.iter().map(|pair| (pair.0, (pair.1 / unit).round() as i8)).collect();
    rounded.retain(|pair| pair.1 != 0);
    rounded.sort_unstable();
    out.extend((rounded.len() as u32).to_le_bytes());
    out.extend(unit.to_le_bytes());
    let mut before = 0;
    for (feature, _) in &rounded {
        let mut difference = feature - before;
        before = *feature;
        while difference >= 128 {
            out.push(difference as u8 | 128);
            difference >>= 7;
        }
        out.push(difference as u8);
    }
    out.extend(rounded.iter().map(|pair| pair.1 as u8));
}

fn read_weights(rest: &mut &[u8]) -> Option<BoundaryWeights> {
    let count = u32::from_le_bytes(rest.split_off(..4)?.try_into().ok()?) as usize;
    let unit = f32::from_le_bytes(rest.split_off(..4)?.try_into().ok()?);
    let mut features = Vec::with_capacity(count.min(rest.len()));
    let mut before = 0u32;
    for _ in 0..count {
        let (mut difference, mut shift) = (0u32, 0);
        loop {
            let byte = *rest.split_off_first()?;
            difference |= u32::from(byte & 127).checked_shl(shift)?;
            shift += 7;
            if byte < 128 {
                break;
            }
        }
        before = before.wrapping_add(difference);
        features.push(before);
    }
    let weights = rest.split_off(..count)?;
    let pairs: Vec<(u32, f32)> =
        features.into_iter().zip(weights).map(|(feature, weight)| (feature, f32::from(*weight as i8) * unit)).collect();
    Some(BoundaryWeights::new(&pairs))
}

/// All embedded model files by language code.
pub fn files() -> impl Iterator<Item = (&'static str, &'static [u8])> {
    BOUNDARIES.iter().copied()
}

/// Returns the model of a language, if one was trained.
pub fn of(code: &str) -> Option<&'static BoundaryModel> {
    static MODELS: OnceLock<Vec<OnceLock<Option<BoundaryModel>>>> = OnceLock::new();
    let models = MODELS.get_or_init(|| BOUNDARIES.iter().map(|_| OnceLock::new()).collect());
    let index = BOUNDARIES.iter().position(|file| file.0 == code)?;
    models[index].get_or_init(|| BoundaryModel::read(BOUNDARIES[index].1)).as_ref()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_embedded_model_can_be_read() {
        for (code, bytes) in BOUNDARIES {
            assert!(BoundaryModel::read(bytes).is_some(), "{code}");
        }
    }

    #[test]
    fn a_model_reads_as_it_was_written() {
        let bytes = BoundaryModel::write(&[(7, 1.0), (u32::MAX, -2.0), (0, 0.5)], &[(1, 0.25)]);
        let model = BoundaryModel::read(&bytes).unwrap();
        assert!((model.tokens.of(u32::MAX) + 2.0).abs() < 0.02);
        assert!((model.tokens.of(0) - 0.5).abs() < 0.02);
        assert_eq!(model.tokens.of(8), 0.0);
        assert!((model.sentences.score(false, &[1, 2]) + RULE_WEIGHT - 0.25).abs() < 0.01);
    }

    #[test]
    fn a_truncated_model_is_rejected() {
        let bytes = BoundaryModel::write(&[(7, 1.0), (70_000, -2.0)], &[(1, 0.25)]);
        for end in 0..bytes.len() {
            assert!(BoundaryModel::read(&bytes[..end]).is_none());
        }
    }
}
