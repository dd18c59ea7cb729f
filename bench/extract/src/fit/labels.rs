//! Labels blocks of annotated pages: article text or boilerplate.

use std::collections::HashMap;

use tidings_clean::article::blocks::Blocks;

use crate::score::{runs, squash, words};
use crate::sets::Sample;

/// Label of a block.
#[derive(Debug, Clone, Copy, Default)]
pub struct Label {
    /// Share of the block that is article text.
    pub article_share: f32,
    /// Weight in training; 0 where the annotation is silent.
    pub weight: f32,
}

/// Labels all blocks of a page.
pub fn label(sample: &Sample, blocks: &Blocks) -> Vec<Label> {
    let mut labels = match (&sample.gold.text, &sample.gold.with, &sample.gold.without) {
        (Some(text), ..) => by_text(text, blocks),
        (_, Some(with), Some(without)) => by_segments(with, without, blocks),
        _ => vec![Label::default(); blocks.list.len()],
    };
    let share = share(sample);
    for label in &mut labels {
        label.weight *= share;
    }
    labels
}

/// Weight of a page by its type: threads and documentation are few among the annotated pages and unlike the others.
fn share(sample: &Sample) -> f32 {
    match sample.page_type.as_deref() {
        Some("forum" | "documentation") => 1.5,
        _ => 1.0,
    }
}

/// An annotation of which the page has a smaller share says nothing about its blocks.
const MIN_FOUND: f32 = 0.1;
/// Annotations of fewer words are not judged.
const MIN_GOLD_WORDS: usize = 50;

fn by_text(gold: &str, blocks: &Blocks) -> Vec<Label> {
    let gold_words = words(gold);
    let mut known: HashMap<u64, i32> = HashMap::new();
    for length in 1..=4 {
        for run in gold_words.windows(length) {
            *known.entry(hash(run)).or_default() += 1;
        }
    }
    let mut used: HashMap<u64, i32> = HashMap::new();
    let total = (gold_words.len() as f32).max(30.0);
    let mut labels: Vec<Label> = Vec::new();
    for block in &blocks.list {
        let own = words(block.text(blocks));
        if own.is_empty() {
            labels.push(Label::default());
            continue;
        }
        let length = own.len().min(4);
        let count = own.windows(length).count();
        let found = own.windows(length).filter(|run| known.contains_key(&hash(run))).count();
        let mut article_share = found as f32 / count as f32;
        // Repeated text is article text only as often as the annotation contains it.
        let whole = hash(&own);
        let times = used.entry(whole).or_default();
        *times += 1;
        if own.len() >= 4 && article_share > 0.5 && *times > known.get(&hash(&own[..4])).copied().unwrap_or(1) {
            article_share = 0.0;
        }
        labels.push(Label { article_share, weight: own.len() as f32 / total });
    }
    // Some articles were annotated in a browser and are not in the HTML, or not in readable characters.
    let found: f32 = labels.iter().map(|label| label.article_share * label.weight).sum();
    let sum: f32 = labels.iter().map(|label| label.weight).sum();
    let is_absent = gold_words.len() >= MIN_GOLD_WORDS && found < MIN_FOUND;
    let scale = if is_absent { 0.0 } else { (4.0 / sum).min(1.0) };
    for label in &mut labels {
        label.weight *= scale;
    }
    labels
}

fn by_segments(with: &[String], without: &[String], blocks: &Blocks) -> Vec<Label> {
    let squashed: Vec<String> = blocks.list.iter().map(|block| squash(block.text(blocks))).collect();
    let mut labels = vec![Label::default(); blocks.list.len()];
    let each = 4.0 / (with.len() + without.len()).max(1) as f32;
    for (segments, article_share) in [(with, 1.0), (without, 0.0)] {
        for segment in segments {
            let segment = squash(segment);
            let segment_runs: Vec<u64> = runs(&words(&segment)).collect();
            let mut rows = Vec::new();
            for (row, text) in squashed.iter().enumerate() {
                let inside = text.len() >= 12 && segment.contains(text.as_str());
                let overlap = || {
                    let own: Vec<u64> = runs(&words(text)).collect();
                    own.len() > 3 && own.iter().filter(|run| segment_runs.contains(run)).count() * 2 > own.len()
                };
                if !segment.is_empty() && (text.contains(segment.as_str()) || inside || overlap()) {
                    rows.push(row);
                }
            }
            // A segment found in many blocks identifies none of them.
            if rows.len() > 6 {
                continue;
            }
            for row in &rows {
                let label = &mut labels[*row];
                let weight = each / rows.len() as f32;
                label.article_share =
                    (label.article_share * label.weight + article_share * weight) / (label.weight + weight);
                label.weight += weight;
            }
        }
    }
    labels
}

fn hash(run: &[u64]) -> u64 {
    let mut hash = run.len() as u64;
    for word in run {
        hash = hash.rotate_left(17).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ word;
    }
    hash
}
