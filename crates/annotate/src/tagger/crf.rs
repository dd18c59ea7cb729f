//! Linear-chain conditional random field for part-of-speech tags (Lafferty, McCallum and Pereira
//! 2001), decoded by Viterbi.
//!
//! Emission scores are sums of 8-bit weights of hashed features; transition scores depend on the
//! tag before. Training is in `tidings-train` (`tags.rs`).

use crate::hash::Hash;
use crate::tagger::ModelError;
use crate::tagger::bytes::Reader;
use crate::tagger::feature_index::FeatureIndex;
use crate::tagger::features;
use crate::tagger::rows;
use crate::tagger::word::HashedWord;

/// Maximum number of tags of a model.
pub const MAX_TAGS: usize = 32;

/// Weights of a linear-chain CRF.
#[derive(Debug)]
pub struct LinearChainCrf {
    tags: usize,
    known: FeatureIndex,
    rows: Vec<[i8; MAX_TAGS]>,
    /// Transition scores by tag, then by the tag before it.
    transitions: Vec<[i32; MAX_TAGS]>,
    initial: [i32; MAX_TAGS],
}

type PathScores = [i32; MAX_TAGS];

/// Emission scores of a token by tag.
pub type EmissionScores = [i16; MAX_TAGS];

/// Score of tag numbers beyond those of the model; never on the best path.
const IMPOSSIBLE: i32 = -1 << 28;

impl LinearChainCrf {
    /// Reads the output of [`LinearChainCrf::write`], of any format version.
    pub fn read(tags: usize, version: u8, reader: &mut Reader<'_>) -> Result<LinearChainCrf, ModelError> {
        let known = FeatureIndex::read(reader)?;
        let rows = match version {
            1 => rows::read_dense(tags, known.len(), reader)?,
            _ => rows::read(tags, known.len(), reader)?,
        };
        let mut read_row = |_| -> Result<PathScores, ModelError> {
            let mut scores = [IMPOSSIBLE; MAX_TAGS];
            for score in &mut scores[..tags] {
                *score = i32::from(i16::from_le_bytes([reader.u8()?, reader.u8()?]));
            }
            Ok(scores)
        };
        let initial = read_row(0)?;
        let transitions = (0..tags).map(read_row).collect::<Result<_, _>>()?;
        Ok(LinearChainCrf { tags, known, rows, transitions, initial })
    }

    /// Serialises the weights: `rows` by feature and tag, `initial` by tag, `transitions` by tag
    /// and the tag before it.
    pub fn write(
        bits: u32,
        slots: &[u32],
        rows: &[Vec<i8>],
        initial: &[i16],
        transitions: &[Vec<i16>],
        out: &mut Vec<u8>,
    ) {
        FeatureIndex::write(bits, slots, out);
        rows::write(initial.len(), rows, out);
        for scores in std::iter::once(initial).chain(transitions.iter().map(Vec::as_slice)) {
            scores.iter().for_each(|score| out.extend(score.to_le_bytes()));
        }
    }

    /// Emission scores of the features that do not depend on context; these can be cached per word.
    pub fn own_scores(&self, word: &HashedWord, is_first: bool) -> EmissionScores {
        let mut scores = EmissionScores::default();
        self.add(&features::word_features(word, is_first), &mut scores);
        scores
    }

    /// Viterbi decoding: returns the tag sequence with the highest score. `own` holds
    /// [`LinearChainCrf::own_scores`] of each word.
    pub fn viterbi(&self, words: &[HashedWord], own: &[EmissionScores]) -> Vec<u8> {
        let mut backpointers: Vec<[u8; MAX_TAGS]> = Vec::with_capacity(words.len());
        let mut best: PathScores = [0; MAX_TAGS];
        for (index, own) in own.iter().enumerate() {
            let mut local = *own;
            self.add(&features::context_features(&features::window(words, index)), &mut local);
            let mut from = [0u8; MAX_TAGS];
            let mut next: PathScores = [IMPOSSIBLE; MAX_TAGS];
            for tag in 0..self.tags {
                let (score, before) = match index {
                    0 => (self.initial[tag], 0),
                    _ => argmax_sum(&best, &self.transitions[tag]),
                };
                next[tag] = score + i32::from(local[tag]);
                from[tag] = before;
            }
            best = next;
            backpointers.push(from);
        }
        let mut tag = argmax_sum(&best, &[0; MAX_TAGS]).1;
        let mut tags = vec![0; words.len()];
        for index in (0..words.len()).rev() {
            tags[index] = tag;
            tag = backpointers[index][usize::from(tag)];
        }
        tags
    }

    /// Adds the weights of features to the scores.
    #[inline]
    fn add<const COUNT: usize>(&self, features: &[Hash; COUNT], scores: &mut EmissionScores) {
        self.known.find_all(features, |number| {
            let row = &self.rows[number];
            for tag in 0..MAX_TAGS {
                scores[tag] += i16::from(row[tag]);
            }
        });
    }
}

/// Highest element-wise sum and its index; the lowest index wins ties.
#[inline]
fn argmax_sum(scores: &PathScores, more: &PathScores) -> (i32, u8) {
    let mut sums = [0; MAX_TAGS];
    let mut highest = i32::MIN;
    for tag in 0..MAX_TAGS {
        sums[tag] = scores[tag] + more[tag];
        highest = highest.max(sums[tag]);
    }
    let which = sums.iter().position(|sum| *sum == highest).unwrap_or_default();
    (highest, which as u8)
}
