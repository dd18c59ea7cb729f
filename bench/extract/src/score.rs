//! How an extraction is scored: stretches found and leaked, and shared runs of four words.

use std::collections::HashMap;

use xxhash_rust::xxh3::xxh3_64;

/// Counts of annotated stretches over pages.
#[derive(Debug, Clone, Copy, Default)]
pub struct Segments {
    /// Wanted and there.
    pub found: usize,
    /// Wanted and not there.
    pub missed: usize,
    /// Unwanted and there.
    pub leaked: usize,
    /// Unwanted and not there.
    pub kept_out: usize,
}

impl Segments {
    /// Counts the stretches of one page.
    pub fn of(text: &str, with: &[String], without: &[String]) -> Segments {
        let text = squash(text);
        let there = |segment: &&String| text.contains(&squash(segment));
        let found = with.iter().filter(there).count();
        let leaked = without.iter().filter(there).count();
        Segments { found, missed: with.len() - found, leaked, kept_out: without.len() - leaked }
    }

    /// Adds another page.
    pub fn add(&mut self, other: Segments) {
        self.found += other.found;
        self.missed += other.missed;
        self.leaked += other.leaked;
        self.kept_out += other.kept_out;
    }

    /// The share of what is there that is wanted.
    pub fn precision(&self) -> f64 {
        self.found as f64 / (self.found + self.leaked) as f64
    }

    /// The share of what is wanted that is there.
    pub fn recall(&self) -> f64 {
        self.found as f64 / (self.found + self.missed) as f64
    }

    /// The harmonic mean of both.
    pub fn f(&self) -> f64 {
        2.0 * self.found as f64 / (2 * self.found + self.leaked + self.missed) as f64
    }
}

/// Mean precision and recall over pages.
#[derive(Debug, Clone, Copy, Default)]
pub struct Shingles {
    pages: usize,
    precision: f64,
    recall: f64,
}

impl Shingles {
    /// Adds a page.
    pub fn add(&mut self, (precision, recall): (f64, f64)) {
        self.pages += 1;
        self.precision += precision;
        self.recall += recall;
    }

    /// Mean precision.
    pub fn precision(&self) -> f64 {
        self.precision / self.pages as f64
    }

    /// Mean recall.
    pub fn recall(&self) -> f64 {
        self.recall / self.pages as f64
    }

    /// The harmonic mean of both means.
    pub fn f(&self) -> f64 {
        2.0 * self.precision() * self.recall() / (self.precision() + self.recall()).max(f64::MIN_POSITIVE)
    }
}

/// Precision and recall of one page in runs of four words.
pub fn shingles(text: &str, gold: &str) -> (f64, f64) {
    let (ours, theirs) = (counts(text), counts(gold));
    let total = |counts: &HashMap<u64, usize>| counts.values().sum::<usize>();
    let shared: usize = ours.iter().map(|(run, count)| (*count).min(theirs.get(run).copied().unwrap_or(0))).sum();
    let share = |of: usize| if of == 0 { 0.0 } else { shared as f64 / of as f64 };
    (share(total(&ours)), share(total(&theirs)))
}

fn counts(text: &str) -> HashMap<u64, usize> {
    let mut counts = HashMap::new();
    for run in runs(&words(text)) {
        *counts.entry(run).or_default() += 1;
    }
    counts
}

/// The runs of four words, hashed; a shorter text is one run.
pub fn runs(words: &[u64]) -> impl Iterator<Item = u64> {
    let length = words.len().clamp(1, 4);
    words.windows(length).map(|run| {
        let bytes: Vec<u8> = run.iter().flat_map(|word| word.to_le_bytes()).collect();
        xxh3_64(&bytes)
    })
}

/// The words of a text, hashed: runs of word characters, or single characters of Chinese and Japanese.
pub fn words(text: &str) -> Vec<u64> {
    let mut words = Vec::new();
    let mut start = None;
    for (at, c) in text.char_indices() {
        let alone = is_cjk(c);
        if !alone && (c.is_alphanumeric() || c == '_') {
            start.get_or_insert(at);
            continue;
        }
        if let Some(start) = start.take() {
            words.push(xxh3_64(&text.as_bytes()[start..at]));
        }
        if alone {
            words.push(u64::from(c));
        }
    }
    if let Some(start) = start {
        words.push(xxh3_64(&text.as_bytes()[start..]));
    }
    words
}

fn is_cjk(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{2fa1f}')
}

/// The text with every run of white space as one space.
pub fn squash(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
