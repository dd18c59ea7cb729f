//! Onion's rule as its manual describes it, with all n-grams in a hash set.
//!
//! Words and punctuation marks are tokens, and case matters. A paragraph is removed when more than the threshold
//! of its tokens lies in n-grams seen before. With smoothing, up to 20 tokens between removed paragraphs, or
//! between one and the edge of the document, are removed too. N-grams of kept paragraphs are stored.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};

/// A hasher for keys that are hashes already.
#[derive(Default)]
pub struct AsItIs(u64);

impl Hasher for AsItIs {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, _: &[u8]) {
        unreachable!("only numbers are hashed")
    }
    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }
}

/// Onion's rule with its set of n-grams.
pub struct Onion {
    ngram: usize,
    threshold: f64,
    stub: usize,
    seen: HashSet<u64, BuildHasherDefault<AsItIs>>,
}

impl Onion {
    /// Creates the rule; a stub of 0 disables smoothing.
    pub fn new(ngram: usize, threshold: f64, stub: usize) -> Onion {
        Onion { ngram, threshold, stub, seen: HashSet::default() }
    }

    /// The number of stored n-grams.
    pub fn grams(&self) -> usize {
        self.seen.len()
    }

    /// Returns which paragraphs are removed.
    pub fn judge(&mut self, paragraphs: &[String]) -> Vec<bool> {
        let mut tokens = Vec::new();
        let mut ends = Vec::new();
        for paragraph in paragraphs {
            push_tokens(paragraph, &mut tokens);
            ends.push(tokens.len());
        }
        let grams: Vec<u64> = tokens
            .windows(self.ngram)
            .map(|window| window.iter().fold(0u64, |sum, token| spread(sum.rotate_left(9) ^ token)))
            .collect();
        let mut is_bad = vec![false; tokens.len()];
        for (at, gram) in grams.iter().enumerate() {
            if self.seen.contains(gram) {
                is_bad[at..at + self.ngram].fill(true);
            }
        }
        let starts: Vec<usize> = std::iter::once(0).chain(ends.iter().copied()).take(ends.len()).collect();
        let bad = |at: usize| is_bad[starts[at]..ends[at]].iter().filter(|bad| **bad).count();
        let mut goes: Vec<bool> = (0..ends.len())
            .map(|at| ends[at] > starts[at] && bad(at) as f64 / (ends[at] - starts[at]) as f64 > self.threshold)
            .collect();
        if self.stub > 0 {
            let mut at = 0;
            while at < goes.len() {
                let run = goes[at..].iter().take_while(|goes| !**goes).count();
                if run > 0 && ends[at + run - 1] - starts[at] <= self.stub {
                    goes[at..at + run].fill(true);
                }
                at += run.max(1);
            }
        }
        for at in (0..ends.len()).filter(|at| !goes[*at]) {
            self.seen.extend(&grams[starts[at].min(grams.len())..ends[at].min(grams.len())]);
        }
        goes
    }
}

fn spread(value: u64) -> u64 {
    let value = (value ^ (value >> 31)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    value ^ (value >> 29)
}

fn push_tokens(text: &str, tokens: &mut Vec<u64>) {
    let mut word = 0;
    for c in text.chars() {
        if c.is_alphanumeric() || c == '_' {
            word = spread(word ^ u64::from(c));
            continue;
        }
        if word != 0 {
            tokens.push(std::mem::take(&mut word));
        }
        if !c.is_whitespace() {
            tokens.push(spread(u64::from(c) << 32));
        }
    }
    if word != 0 {
        tokens.push(word);
    }
}
