//! Scores as in the CoNLL 2018 shared task: spans over the non-space characters.

use std::collections::HashSet;
use std::ops::Range;

use crate::peers::Peer;
use crate::treebank::{Document, Treebank};

/// Counts of expected, found and matching spans.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct SpanCounts {
    /// Spans in the treebank.
    pub expected: usize,
    /// Spans found.
    pub found: usize,
    /// Spans in both.
    pub right: usize,
}

impl SpanCounts {
    /// F1 in per cent.
    pub fn f1(&self) -> f64 {
        200.0 * self.right as f64 / (self.expected + self.found).max(1) as f64
    }

    fn merge(&mut self, other: &SpanCounts) {
        self.expected += other.expected;
        self.found += other.found;
        self.right += other.right;
    }

    fn add(&mut self, expected: &HashSet<Range<usize>>, found: &HashSet<Range<usize>>) {
        self.expected += expected.len();
        self.found += found.len();
        self.right += expected.intersection(found).count();
    }
}

/// Scores of tokens and sentences.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Score {
    /// Tokens.
    pub tokens: SpanCounts,
    /// Sentences.
    pub sentences: SpanCounts,
}

/// Scores a peer on a treebank.
pub fn score(peer: &Peer<'_>, treebank: &Treebank) -> Score {
    let mut score = Score::default();
    for document in &treebank.documents {
        score.add(document, &peer.segment(&document.text));
    }
    score
}

impl Score {
    /// Adds the counts of another score.
    pub fn merge(&mut self, other: &Score) {
        self.tokens.merge(&other.tokens);
        self.sentences.merge(&other.sentences);
    }

    /// Adds the counts of a document.
    pub fn add(&mut self, document: &Document, found: &[Vec<Range<usize>>]) {
        // Spans that differ only in spaces are equal.
        let solid: Vec<usize> =
            document.text.char_indices().filter(|(_, c)| !c.is_whitespace()).map(|(at, _)| at).collect();
        let index = |at: usize| solid.partition_point(|solid| *solid < at);
        let spans = |sentences: &[Vec<Range<usize>>]| {
            let tokens = sentences.iter().flatten().map(|token| index(token.start)..index(token.end)).collect();
            let whole = sentences
                .iter()
                .filter_map(|sentence| Some(index(sentence.first()?.start)..index(sentence.last()?.end)));
            (tokens, whole.collect())
        };
        let (expected, found): ((HashSet<_>, HashSet<_>), (HashSet<_>, HashSet<_>)) =
            (spans(&document.sentences), spans(found));
        self.tokens.add(&expected.0, &found.0);
        self.sentences.add(&expected.1, &found.1);
    }
}
