//! Selects the blocks of the article.
//!
//! A two-stage classifier (stacking): the first forest predicts from the block and its containers,
//! the second also sees the first one's predictions for neighbouring blocks. The threshold
//! maximises the expected F1 of the page, so it is lower where predictions are uncertain.

use std::collections::HashMap;

use super::evidence::{ElementRole, IdentityState};
use super::features::{BlockFeature, FIRST_COLUMNS, FeatureMatrix};
use super::forest::probability;
use super::page_type::PageType;
use super::rules;
use super::weights::Weights;

/// Factor on the threshold that trades recall for precision.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ThresholdBias(pub f32);

impl ThresholdBias {
    /// Best F1 on the annotated pages.
    pub const BALANCED: ThresholdBias = ThresholdBias(1.15);
    /// Prefers losing a paragraph to keeping a teaser.
    pub const PRECISION: ThresholdBias = ThresholdBias(1.35);
    /// Prefers keeping a teaser to losing a paragraph.
    pub const RECALL: ThresholdBias = ThresholdBias(0.95);
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

/// Factor on the threshold by type of page. Documentation has its text in short lines, code and definitions, whose
/// probabilities are too low; on the other types no factor gained anything.
fn type_factor(page_type: PageType) -> f32 {
    match page_type {
        PageType::Documentation => 0.6,
        PageType::Article | PageType::Forum | PageType::Product | PageType::Listing => 1.0,
    }
}

/// Minimum share of the words of a list next to kept text from which on its other items are kept, too.
const MIN_KEPT_SHARE: f32 = 0.5;
/// Factor on the threshold for the other items of a list.
const ITEM_FACTOR: f32 = 0.5;

/// Keeps the unlikely items of lists and tables that stand between kept blocks, or are kept for the most part and stand
/// next to one. A table that holds the whole page has no such neighbours.
fn complete_lists(matrix: &FeatureMatrix, p: &[f32], threshold: f32, keeps: &mut [bool]) {
    let mut start = 0;
    while start < keeps.len() {
        let run = matrix.run[start];
        let rows = start..run.end as usize;
        let before = start > 0 && keeps[start - 1];
        let after = keeps.get(rows.end) == Some(&true);
        start = rows.end;
        if !run.is_list || !(before || after) {
            continue;
        }
        let words = |row: usize| matrix.words[row].count;
        let all: f32 = rows.clone().map(words).sum();
        let kept: f32 = rows.clone().filter(|row| keeps[*row]).map(words).sum();
        let min_share = if before && after { 0.0 } else { MIN_KEPT_SHARE };
        if kept >= all * min_share {
            for row in rows {
                keeps[row] |= p[row] > threshold * ITEM_FACTOR;
            }
        }
    }
}

/// Blocks of at least this many bytes are not repeated on purpose.
const LONG_BLOCK: usize = 80;
/// Selects the rows of the article, in document order.
pub fn choose(matrix: &FeatureMatrix, p: &[f32], bias: ThresholdBias) -> Vec<usize> {
    let excluded = rules::exclusions(matrix, p);
    let is_open = |row: &usize| excluded[*row].is_none();
    let p_open: Vec<f32> = p.iter().zip(&excluded).map(|(p, rule)| if rule.is_some() { 0.0 } else { *p }).collect();
    let mut threshold = threshold(matrix, &p_open, ThresholdBias(bias.0 * type_factor(matrix.page_type())));
    let highest = p_open.iter().copied().fold(0.0, f32::max);
    if highest <= threshold {
        // No block is likely, but the most likely ones may still be the text.
        threshold = highest * 0.7;
    }
    let mut keeps: Vec<bool> = p_open.iter().map(|p| *p > threshold).collect();
    complete_lists(matrix, &p_open, threshold, &mut keeps);
    let mut rows: Vec<usize> = (0..p.len()).filter(|row| keeps[*row]).collect();
    drop_repeats(matrix, &mut rows);
    rows.retain(|row| !is_headline(matrix, *row));
    if count_words(matrix, &rows) < MIN_WORDS {
        add_prose(matrix, &mut rows, is_open);
    }
    rows
}

/// Fewer words than this are no article if there is prose elsewhere on the page.
const MIN_WORDS: f32 = 20.0;
/// Minimum number of words of a block of prose.
const MIN_PROSE_WORDS: f32 = 12.0;

fn count_words(matrix: &FeatureMatrix, rows: &[usize]) -> f32 {
    rows.iter().map(|row| matrix.words[*row].count).sum()
}

/// Adds the prose of the page, so that a page with prose never has no text: full sentences in
/// `<article>` or `<main>`, or else anywhere but in navigation, footers and forms.
fn add_prose(matrix: &FeatureMatrix, rows: &mut Vec<usize>, is_open: impl Fn(&usize) -> bool) {
    let near = |row: usize| &matrix.containers[matrix.innermost[row] as usize].near;
    let is_prose = |row: &usize| {
        let (block, words) = (&matrix.blocks.list[*row], &matrix.words[*row]);
        let near = near(*row);
        words.count >= MIN_PROSE_WORDS
            && words.sentences > 0
            && block.link_bytes * 2 < block.len()
            && !near.role(ElementRole::Nav)
            && !near.role(ElementRole::Footer)
            && !near.role(ElementRole::Form)
            && !near.role(ElementRole::Button)
            && !near.role(ElementRole::Dialog)
    };
    let is_main = |row: &usize| {
        let near = near(*row);
        near.role(ElementRole::Article) || near.role(ElementRole::Main) || near.role(ElementRole::ArticleBody)
    };
    let prose: Vec<usize> = (0..matrix.blocks.list.len()).filter(is_open).filter(is_prose).collect();
    let mut added: Vec<usize> = prose.iter().copied().filter(is_main).collect();
    if added.is_empty() {
        added = prose;
    }
    rows.extend(added);
    rows.sort_unstable();
    rows.dedup();
    drop_repeats(matrix, rows);
}

/// Returns whether a block is the headline, which documents store as their title.
fn is_headline(matrix: &FeatureMatrix, row: usize) -> bool {
    let value = |column: BlockFeature| matrix.columns[column as usize][row];
    (1.0..=2.0).contains(&value(BlockFeature::heading))
        && value(BlockFeature::title_cover) >= 0.8
        && value(BlockFeature::title_share) >= 0.9
}

/// Drops repeated long blocks. Responsive pages contain their text several times; the first copy is
/// kept. A block that is repeated within one list or container is repeated on purpose: a step of a
/// recipe, a refrain.
fn drop_repeats(matrix: &FeatureMatrix, rows: &mut Vec<usize>) {
    let mut seen: HashMap<u64, u32, IdentityState> = HashMap::default();
    rows.retain(|row| {
        if matrix.blocks.list[*row].len() < LONG_BLOCK {
            return true;
        }
        let run = matrix.run[*row].start;
        *seen.entry(matrix.words[*row].hash).or_insert(run) == run
    });
}
