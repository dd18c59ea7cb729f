//! Selects the blocks of the article.
//!
//! A two-stage classifier (stacking): the first forest predicts from the block and its containers,
//! the second also sees the first one's predictions for neighbouring blocks. The threshold
//! maximises the expected F1 of the page, so it is lower where predictions are uncertain.

use std::collections::HashSet;

use super::declared_text::declared_body;
use super::evidence::{ElementRole, IdentityState};
use super::features::{BlockFeature, FIRST_COLUMNS, FeatureMatrix};
use super::forest::probability;
use super::rules;
use super::weights::Weights;
use super::words::each_word;
use crate::declared_metadata::DeclaredMetadata;

/// Factor on the threshold that trades recall for precision.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ThresholdBias(pub f32);

impl ThresholdBias {
    /// Best F1 on the annotated pages.
    pub const BALANCED: ThresholdBias = ThresholdBias(1.2);
    /// Prefers losing a paragraph to keeping a teaser.
    pub const PRECISION: ThresholdBias = ThresholdBias(1.5);
    /// Prefers keeping a teaser to losing a paragraph.
    pub const RECALL: ThresholdBias = ThresholdBias(0.8);
}

/// Predicts the probability of every block to be article text.
pub fn predict(matrix: &FeatureMatrix, weights: &Weights) -> Vec<f32> {
    let rows = matrix.blocks.list.len();
    let first = weights.first.predict(rows, |column| &matrix.columns[column]);
    let first: Vec<f32> = first.into_iter().map(probability).collect();
    let context = matrix.with_context(&first);
    let column = |column: usize| match column {
        _ if column < FIRST_COLUMNS => matrix.columns[column].as_slice(),
        _ => context[column - FIRST_COLUMNS].as_slice(),
    };
    weights.second.predict(rows, column).into_iter().map(probability).collect()
}

/// The threshold that maximises expected F1, times `bias`. The optimal threshold is half of the F1
/// it attains (Lipton et al. 2014, "Optimal Thresholding of Classifiers to Maximize F1 Measure"),
/// found by fixed-point iteration.
pub fn threshold(matrix: &FeatureMatrix, p: &[f32], bias: ThresholdBias) -> f32 {
    let rows = || matrix.words.iter().map(|words| words.count).zip(p);
    let all: f32 = rows().map(|(words, p)| words * p).sum();
    let mut threshold = 0.5;
    // Converges within a few iterations.
    for _ in 0..20 {
        let kept = rows().filter(|(_, p)| **p > threshold);
        let (size, right) = kept.fold((0.0, 0.0), |sum, (words, p)| (sum.0 + words, sum.1 + words * p));
        let next = right / f32::max(size + all, 1e-6);
        if (next - threshold).abs() < 1e-3 {
            break;
        }
        threshold = next;
    }
    (threshold * bias.0).min(0.95)
}

/// Blocks of at least this many bytes are not repeated on purpose.
const LONG_BLOCK: usize = 80;
/// A declared body with fewer words is a teaser.
const MIN_DECLARED_WORDS: f32 = 80.0;

/// Selects the rows of the article, in document order.
pub fn choose(matrix: &FeatureMatrix, p: &[f32], bias: ThresholdBias) -> Vec<usize> {
    let mut threshold = threshold(matrix, p, bias);
    let highest = p.iter().copied().fold(0.0, f32::max);
    if highest <= threshold {
        // No block is likely, but the most likely ones may still be the text.
        threshold = highest * 0.7;
    }
    let mut rows: Vec<usize> = (0..p.len()).filter(|row| p[*row] > threshold).collect();
    drop_repeats(matrix, &mut rows);
    rows.retain(|row| !is_headline(matrix, *row) && rules::excluded_by(matrix, *row).is_none());
    rows
}

/// Returns whether a block is the headline, which documents store as their title.
fn is_headline(matrix: &FeatureMatrix, row: usize) -> bool {
    let value = |column: BlockFeature| matrix.columns[column as usize][row];
    (1.0..=2.0).contains(&value(BlockFeature::heading))
        && value(BlockFeature::title_cover) >= 0.8
        && value(BlockFeature::title_share) >= 0.9
}

/// Returns the `articleBody` of JSON-LD if the page shows less than 40 % of its words.
pub fn declared_body_if_longer(declared: &DeclaredMetadata<'_>, shown_words: usize) -> Option<String> {
    declared_body(declared).filter(|body| {
        let mut words = 0.0;
        each_word(body, |_, _, weight| words += weight);
        words >= MIN_DECLARED_WORDS && (shown_words as f32) < 0.4 * words
    })
}

/// Drops repeated long blocks. Responsive pages contain their text several times; the first copy is
/// kept.
fn drop_repeats(matrix: &FeatureMatrix, rows: &mut Vec<usize>) {
    let mut seen: HashSet<u64, IdentityState> = HashSet::default();
    rows.retain(|row| matrix.blocks.list[*row].len() < LONG_BLOCK || seen.insert(matrix.words[*row].hash));
}

/// Selects reader comments: text in comment containers that is not part of the article.
pub fn comments(matrix: &FeatureMatrix, article: &[usize]) -> Vec<usize> {
    let is_comment = |row: &usize| {
        let near = &matrix.containers[matrix.innermost[*row] as usize].near;
        let block = &matrix.blocks.list[*row];
        let words = &matrix.words[*row];
        (1..=8).contains(&near.group("comment"))
            && !near.role(ElementRole::Form)
            && !near.role(ElementRole::Button)
            && !near.role(ElementRole::Nav)
            && !near.role(ElementRole::Heading)
            && block.link_bytes * 2 < block.len()
            && (words.ends || words.count >= 6.0)
    };
    (0..matrix.blocks.list.len()).filter(|row| article.binary_search(row).is_err()).filter(is_comment).collect()
}
