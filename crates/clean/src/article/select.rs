//! Decides which blocks are the article.
//!
//! Two forests give each block a probability: the first from what the block and its boxes are, the
//! second from what the first thinks of its neighbours as well. What is kept is the set of blocks
//! with the best expected balance of right and wrong text, which on a page that is hard to read
//! means a lower threshold than on a clear one.

use std::collections::HashSet;

use super::evidence::{Plain, Role};
use super::features::{Alone, FIRST, Survey, declared_body};
use super::forest::probability;
use super::rules;
use super::weights::Weights;
use super::words::each_word;
use crate::facts::Facts;

/// How sure one must be to keep a block.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sureness(pub f32);

impl Sureness {
    /// As much right as wrong text may be lost.
    pub const BALANCED: Sureness = Sureness(1.2);
    /// Rather lose a paragraph than keep a teaser.
    pub const PRECISION: Sureness = Sureness(1.5);
    /// Rather keep a teaser than lose a paragraph.
    pub const RECALL: Sureness = Sureness(0.8);
}

/// The probability of every block to belong to the article.
pub fn weigh(survey: &Survey, weights: &Weights) -> Vec<f32> {
    let rows = survey.blocks.list.len();
    let first = weights.first.weigh(rows, |column| &survey.columns[column]);
    let first: Vec<f32> = first.into_iter().map(probability).collect();
    let context = survey.with_context(&first);
    let column = |column: usize| match column {
        _ if column < FIRST => survey.columns[column].as_slice(),
        _ => context[column - FIRST].as_slice(),
    };
    weights.second.weigh(rows, column).into_iter().map(probability).collect()
}

/// The threshold with the best expected balance: half of the F that it gives.
pub fn threshold(survey: &Survey, p: &[f32], sureness: Sureness) -> f32 {
    let rows = || survey.words.iter().map(|words| words.count).zip(p);
    let all: f32 = rows().map(|(words, p)| words * p).sum();
    let mut threshold = 0.5;
    // The threshold and the F it gives settle within a few rounds.
    for _ in 0..20 {
        let kept = rows().filter(|(_, p)| **p > threshold);
        let (size, right) = kept.fold((0.0, 0.0), |sum, (words, p)| (sum.0 + words, sum.1 + words * p));
        let next = right / f32::max(size + all, 1e-6);
        if (next - threshold).abs() < 1e-3 {
            break;
        }
        threshold = next;
    }
    (threshold * sureness.0).min(0.95)
}

/// Blocks this long are not said twice on purpose.
const LONG_BLOCK: usize = 80;
/// A declared body shorter than this is a teaser.
const LEAST_DECLARED_WORDS: f32 = 80.0;

/// Chooses the blocks of the article by their probabilities, in document order.
pub fn choose(survey: &Survey, p: &[f32], sureness: Sureness) -> Vec<usize> {
    let mut threshold = threshold(survey, p, sureness);
    let highest = p.iter().copied().fold(0.0, f32::max);
    if highest <= threshold {
        // Nothing is likely, but something may be the text all the same.
        threshold = highest * 0.7;
    }
    let mut rows: Vec<usize> = (0..p.len()).filter(|row| p[*row] > threshold).collect();
    drop_repeats(survey, &mut rows);
    rows.retain(|row| !is_headline(survey, *row) && rules::forbids(survey, *row).is_none());
    rows
}

/// Whether a block is the headline, which documents have as their title.
fn is_headline(survey: &Survey, row: usize) -> bool {
    let value = |column: Alone| survey.columns[column as usize][row];
    (1.0..=2.0).contains(&value(Alone::heading)) && value(Alone::title_cover) >= 0.8 && value(Alone::title_share) >= 0.9
}

/// The article as JSON-LD gives it, where the page itself shows much less than that.
pub fn better_declared(facts: &Facts<'_>, shown_words: usize) -> Option<String> {
    declared_body(facts).filter(|body| {
        let mut words = 0.0;
        each_word(body, |_, _, weight| words += weight);
        words >= LEAST_DECLARED_WORDS && (shown_words as f32) < 0.4 * words
    })
}

/// Pages for several devices bring their text several times; the first is kept.
fn drop_repeats(survey: &Survey, rows: &mut Vec<usize>) {
    let mut seen: HashSet<u64, Plain> = HashSet::default();
    rows.retain(|row| survey.blocks.list[*row].len() < LONG_BLOCK || seen.insert(survey.words[*row].hash));
}

/// What readers wrote: text in boxes named for it that is not part of the article.
pub fn comments(survey: &Survey, article: &[usize]) -> Vec<usize> {
    let is_comment = |row: &usize| {
        let near = &survey.boxes[survey.home[*row] as usize].near;
        let block = &survey.blocks.list[*row];
        let words = &survey.words[*row];
        (1..=8).contains(&near.group("comment"))
            && !near.role(Role::Form)
            && !near.role(Role::Button)
            && !near.role(Role::Nav)
            && !near.role(Role::Heading)
            && block.link_bytes * 2 < block.len()
            && (words.ends || words.count >= 6.0)
    };
    (0..survey.blocks.list.len()).filter(|row| article.binary_search(row).is_err()).filter(is_comment).collect()
}
