//! The rule: which units count as duplicates, given which words were seen before and where.
//!
//! It is Onion's rule (a unit goes when more than a threshold of its words lie in n-grams that were seen
//! before) with evidence that must come from somewhere: words count as seen when a document that
//! shares a landmark with this one has their n-gram, not when any of a hundred billion words happen to
//! stand in the same order. What is too short to tell follows what stands around it, if both sides were
//! seen in the same document; nothing follows the edge of a document unless nearly all of it was seen.

use std::ops::Range;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::units::Unit;
use crate::verdict::{Finding, Why};

/// A size of units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// The raw page, by its checksum.
    Page,
    /// The clean text, word for word.
    Text,
    /// The document, by its n-grams.
    Document,
    /// Paragraphs, word for word and by their n-grams.
    Paragraph,
    /// Sentences, in the same way.
    Sentence,
}

const LEVELS: [(Level, &str); 5] = [
    (Level::Page, "page"),
    (Level::Text, "text"),
    (Level::Document, "document"),
    (Level::Paragraph, "paragraph"),
    (Level::Sentence, "sentence"),
];

/// The sizes that are judged, one after the other from large to small.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<String>", into = "Vec<String>")]
pub struct Levels(u8);

impl Levels {
    pub(crate) const fn one(level: Level) -> Levels {
        Levels(1 << level as u8)
    }

    /// Whether units of this size are judged.
    pub fn has(self, level: Level) -> bool {
        self.0 & (1 << level as u8) != 0
    }
}

impl From<Level> for Levels {
    fn from(level: Level) -> Levels {
        Levels::one(level)
    }
}

impl FromStr for Levels {
    type Err = String;

    fn from_str(text: &str) -> Result<Levels, String> {
        let names: Vec<String> = text.split(',').map(|name| name.trim().to_owned()).collect();
        Levels::try_from(names)
    }
}

impl TryFrom<Vec<String>> for Levels {
    type Error = String;

    fn try_from(names: Vec<String>) -> Result<Levels, String> {
        let mut levels = Levels(0);
        for name in &names {
            match LEVELS.iter().find(|(_, known)| known == name) {
                Some((level, _)) => levels.0 |= 1 << *level as u8,
                None => {
                    let known = LEVELS.map(|(_, name)| name).join(", ");
                    return Err(format!("`{name}` is no level; there are {known}, or several of them"));
                }
            }
        }
        if levels.0 == 0 { Err("no level is given".to_owned()) } else { Ok(levels) }
    }
}

impl From<Levels> for Vec<String> {
    fn from(levels: Levels) -> Vec<String> {
        LEVELS.iter().filter(|(level, _)| levels.has(*level)).map(|(_, name)| (*name).to_owned()).collect()
    }
}

/// How duplicates are told.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rule {
    /// Words of an n-gram.
    pub ngram: usize,
    /// A unit is a duplicate when more than this share of its words was seen.
    pub threshold: f32,
    /// Unseen stretches of up to so many words between seen ones of the same document count as seen;
    /// 0 is no smoothing.
    pub smoothing: usize,
    /// The sizes of units that are judged.
    pub levels: Levels,
}

impl Default for Rule {
    fn default() -> Rule {
        crate::presets::TIDINGS
    }
}

/// Words at the edge of a document that may follow the rest of it.
const EDGE_WORDS: usize = 10;
/// How much of the rest must have been seen in one document for that.
const EDGE_SHARE: f32 = 0.9;

/// A document of which fewer words than this are found here was not copied from: everybody says such things.
const SOURCE_WORDS: usize = 12;

/// Nobody.
pub(crate) const UNSEEN: u32 = u32::MAX;

/// What was found about a document: for each word the place of the document it was seen in.
#[derive(Debug, Default)]
pub(crate) struct Evidence {
    pub(crate) seen_in: Vec<u32>,
}

impl Evidence {
    /// Makes of what was found what counts: documents with too little in common fall away, units that were
    /// seen word for word come in, gaps are closed.
    pub(crate) fn weigh(&mut self, rule: &Rule, sources: usize, exact: [(&[Unit], &[Option<u32>]); 2]) {
        self.put_in(&exact, |words| words >= rule.ngram);
        let mut counts = vec![0usize; sources];
        self.seen_in.iter().filter(|source| **source != UNSEEN).for_each(|source| counts[*source as usize] += 1);
        self.seen_in
            .iter_mut()
            .filter(|source| **source != UNSEEN && counts[**source as usize] < SOURCE_WORDS)
            .for_each(|source| *source = UNSEEN);
        self.smooth(rule);
        // Lines such as "Yes." are copies of each other, but no evidence for what stands around them.
        self.put_in(&exact, |_| true);
    }

    fn put_in(&mut self, exact: &[(&[Unit], &[Option<u32>]); 2], counts: impl Fn(usize) -> bool) {
        for (units, sources) in exact {
            for (unit, source) in units.iter().zip(*sources) {
                if let Some(source) = source.filter(|_| counts(unit.words().len())) {
                    self.seen_in[unit.words()]
                        .iter_mut()
                        .filter(|seen| **seen == UNSEEN)
                        .for_each(|seen| *seen = source);
                }
            }
        }
    }

    /// Closes short gaps between words that were seen in the same document.
    fn smooth(&mut self, rule: &Rule) {
        if rule.smoothing == 0 {
            return;
        }
        let seen = &mut self.seen_in;
        let mut at = 0;
        let mut edges: Vec<Range<usize>> = Vec::new();
        while at < seen.len() {
            if seen[at] != UNSEEN {
                at += 1;
                continue;
            }
            let start = at;
            while at < seen.len() && seen[at] == UNSEEN {
                at += 1;
            }
            if start == 0 || at == seen.len() {
                edges.push(start..at);
            } else if at - start <= rule.smoothing && seen[start - 1] == seen[at] {
                let source = seen[at];
                seen[start..at].fill(source);
            }
        }
        for edge in edges {
            let rest = if edge.start == 0 { edge.end..seen.len() } else { 0..edge.start };
            let Some(neighbour) =
                seen.get(if edge.start == 0 { edge.end } else { edge.start.wrapping_sub(1) }).copied()
            else {
                continue;
            };
            let same = seen[rest.clone()].iter().filter(|source| **source == neighbour).count();
            if edge.len() <= EDGE_WORDS.min(rule.smoothing)
                && rest.len() >= 4 * edge.len()
                && same as f32 >= EDGE_SHARE * rest.len() as f32
            {
                seen[edge].fill(neighbour);
            }
        }
    }

    /// How many of these words were seen, and in which document most of them.
    fn of(&self, words: Range<usize>) -> (usize, Option<u32>) {
        let seen = &self.seen_in[words];
        let count = seen.iter().filter(|source| **source != UNSEEN).count();
        // The longest stretch decides; units have one or two sources.
        let mut best: Option<(usize, u32)> = None;
        for stretch in seen.chunk_by(|a, b| a == b).filter(|stretch| stretch[0] != UNSEEN) {
            if best.is_none_or(|(len, _)| stretch.len() > len) {
                best = Some((stretch.len(), stretch[0]));
            }
        }
        (count, best.map(|best| best.1))
    }

    /// What is to be said of units; `exact` are those that were seen word for word, and where.
    pub(crate) fn judge(&self, rule: &Rule, units: &[Unit], exact: &[Option<u32>]) -> Vec<Finding> {
        let mut findings: Vec<Finding> = units
            .iter()
            .zip(exact)
            .map(|(unit, exact)| {
                let words = unit.words();
                let (seen, of) = self.of(words.clone());
                let share = if words.is_empty() { 0.0 } else { seen as f32 / words.len() as f32 };
                match exact {
                    Some(source) => Finding {
                        duplicate: Some(Why::Exact),
                        share: 1.0,
                        of: Some(*source).filter(|at| *at != UNSEEN).or(of),
                    },
                    None => {
                        let duplicate = (share > rule.threshold).then_some(Why::Near);
                        Finding { duplicate, share, of: of.filter(|_| seen > 0) }
                    }
                }
            })
            .collect();
        if rule.smoothing > 0 {
            follow_neighbours(&mut findings, units);
        }
        findings
    }
}

/// Units without words go where both of their neighbours go.
fn follow_neighbours(findings: &mut [Finding], units: &[Unit]) {
    // Whether the next unit with words is a duplicate, or there is none; found from the end.
    let mut leads_on = vec![true; units.len()];
    for at in (0..units.len().saturating_sub(1)).rev() {
        let next = at + 1;
        leads_on[at] = if units[next].words().is_empty() { leads_on[next] } else { findings[next].duplicate.is_some() };
    }
    for at in 1..findings.len() {
        let (before, finding) = (findings[at - 1], findings[at]);
        let is_bare = units[at].words().is_empty() && finding.duplicate.is_none();
        if is_bare && before.duplicate.is_some() && leads_on[at] {
            findings[at] = Finding { duplicate: Some(Why::Between), share: 0.0, of: before.of };
        }
    }
}
