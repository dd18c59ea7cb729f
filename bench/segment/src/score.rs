//! Scores as in the CoNLL shared task of 2018: spans over the characters that are not blank.

use std::collections::HashSet;
use std::ops::Range;

use crate::peers::Peer;
use crate::treebank::{Document, Treebank};

/// How many spans there are, how many were found, and how many of those are right.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct SpanCounts {
    /// Spans in the treebank.
    pub expected: usize,
    /// Spans that were found.
    pub found: usize,
    /// Spans that are the same.
    pub right: usize,
}

impl SpanCounts {
    /// The harmonic mean of precision and recall, in per cent.
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

/// Tokens and sentences.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Score {
    /// Of tokens.
    pub tokens: SpanCounts,
    /// Of sentences.
    pub sentences: SpanCounts,
}

/// How well somebody does on a treebank.
pub fn score(peer: &Peer<'_>, treebank: &Treebank) -> Score {
    let mut score = Score::default();
    for document in &treebank.documents {
        score.add(document, &peer.segment(&document.text));
    }
    score
}

impl Score {
    /// Adds up two scores.
    pub fn merge(&mut self, other: &Score) {
        self.tokens.merge(&other.tokens);
        self.sentences.merge(&other.sentences);
    }

    /// Compares what was found in a document with what is there.
    pub fn add(&mut self, document: &Document, found: &[Vec<Range<usize>>]) {
        // Spans that differ in blanks only are the same.
        let solid: Vec<usize> =
            document.text.char_indices().filter(|(_, c)| !c.is_whitespace()).map(|(at, _)| at).collect();
        let place = |at: usize| solid.partition_point(|solid| *solid < at);
        let spans = |sentences: &[Vec<Range<usize>>]| {
            let tokens = sentences.iter().flatten().map(|token| place(token.start)..place(token.end)).collect();
            let whole = sentences
                .iter()
                .filter_map(|sentence| Some(place(sentence.first()?.start)..place(sentence.last()?.end)));
            (tokens, whole.collect())
        };
        let (expected, found): ((HashSet<_>, HashSet<_>), (HashSet<_>, HashSet<_>)) =
            (spans(&document.sentences), spans(found));
        self.tokens.add(&expected.0, &found.0);
        self.sentences.add(&expected.1, &found.1);
    }
}
