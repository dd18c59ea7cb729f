//! The rule that decides which units are duplicates.
//!
//! It is Onion's rule (Pomikálek 2011): a unit is a duplicate when more than a threshold of its words lie in
//! n-grams seen before. Here the evidence must come from a candidate document: an n-gram counts only if a document
//! that shares a selected n-gram with this one contains it, which keeps chance matches out of large collections. A
//! unit too short to decide follows its neighbours if both were seen in the same document. The edge of a document
//! follows only if nearly all of the rest was seen.

use std::ops::Range;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::units::Unit;
use crate::verdict::{MatchKind, UnitVerdict};

/// The granularity of comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// The raw page, by checksum.
    Page,
    /// The clean text, verbatim.
    Text,
    /// The document, by n-grams.
    Document,
    /// Paragraphs, verbatim and by n-grams.
    Paragraph,
    /// Sentences, verbatim and by n-grams.
    Sentence,
}

const LEVELS: [(Level, &str); 5] = [
    (Level::Page, "page"),
    (Level::Text, "text"),
    (Level::Document, "document"),
    (Level::Paragraph, "paragraph"),
    (Level::Sentence, "sentence"),
];

/// The set of enabled levels, applied from large to small.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<String>", into = "Vec<String>")]
pub struct Levels(u8);

impl Levels {
    pub(crate) const fn one(level: Level) -> Levels {
        Levels(1 << level as u8)
    }

    /// Returns true if the level is enabled.
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
                    return Err(format!("unknown level `{name}`; use one or more of {known}"));
                }
            }
        }
        if levels.0 == 0 { Err("no level given".to_owned()) } else { Ok(levels) }
    }
}

impl From<Levels> for Vec<String> {
    fn from(levels: Levels) -> Vec<String> {
        LEVELS.iter().filter(|(level, _)| levels.has(*level)).map(|(_, name)| (*name).to_owned()).collect()
    }
}

/// The parameters of duplicate detection.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rule {
    /// The n-gram size in words.
    pub ngram: usize,
    /// A unit is a duplicate when more than this share of its words was seen before.
    pub threshold: f32,
    /// Gaps of up to this many unseen words between words seen in the same document count as seen; 0 disables
    /// smoothing.
    pub smoothing: usize,
    /// The levels of comparison.
    pub levels: Levels,
}

impl Default for Rule {
    fn default() -> Rule {
        crate::presets::TIDINGS
    }
}

/// The maximum number of words at the edge of a document that follow the rest of it.
const EDGE_WORDS: usize = 10;
/// The share of the rest that must come from one document for that.
const EDGE_SHARE: f32 = 0.9;

/// A document that shares fewer words than this is not a source: the match is a common phrase.
const SOURCE_WORDS: usize = 12;

/// Marks a word that was not seen before.
pub(crate) const UNSEEN: u32 = u32::MAX;

/// The source of each word: the index of the document it was seen in, or [`UNSEEN`].
#[derive(Debug, Default)]
pub(crate) struct Evidence {
    pub(crate) seen_in: Vec<u32>,
}

impl Evidence {
    /// Turns raw matches into evidence: drops sources that share too few words, adds units seen verbatim, and closes
    /// gaps.
    pub(crate) fn consolidate(&mut self, rule: &Rule, sources: usize, exact: [(&[Unit], &[Option<u32>]); 2]) {
        self.add_exact(&exact, |words| words >= rule.ngram);
        let mut counts = vec![0usize; sources];
        self.seen_in.iter().filter(|source| **source != UNSEEN).for_each(|source| counts[*source as usize] += 1);
        self.seen_in
            .iter_mut()
            .filter(|source| **source != UNSEEN && counts[**source as usize] < SOURCE_WORDS)
            .for_each(|source| *source = UNSEEN);
        self.smooth(rule);
        // Lines such as "Yes." are duplicates of each other, but no evidence for the text around them.
        self.add_exact(&exact, |_| true);
    }

    fn add_exact(&mut self, exact: &[(&[Unit], &[Option<u32>]); 2], counts: impl Fn(usize) -> bool) {
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

    /// Closes short gaps between words seen in the same document.
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

    /// The number of these words that were seen, and the document of the longest seen range.
    fn coverage(&self, words: Range<usize>) -> (usize, Option<u32>) {
        let seen = &self.seen_in[words];
        let count = seen.iter().filter(|source| **source != UNSEEN).count();
        // Units have one or two sources, so the longest range decides.
        let mut best: Option<(usize, u32)> = None;
        for range in seen.chunk_by(|a, b| a == b).filter(|range| range[0] != UNSEEN) {
            if best.is_none_or(|(len, _)| range.len() > len) {
                best = Some((range.len(), range[0]));
            }
        }
        (count, best.map(|best| best.1))
    }

    /// Gives a verdict on each unit; `exact` holds the sources of units seen verbatim.
    pub(crate) fn judge(&self, rule: &Rule, units: &[Unit], exact: &[Option<u32>]) -> Vec<UnitVerdict> {
        let mut unit_verdicts: Vec<UnitVerdict> = units
            .iter()
            .zip(exact)
            .map(|(unit, exact)| {
                let words = unit.words();
                let (seen, of) = self.coverage(words.clone());
                let share = if words.is_empty() { 0.0 } else { seen as f32 / words.len() as f32 };
                match exact {
                    Some(source) => UnitVerdict {
                        duplicate: Some(MatchKind::Exact),
                        share: 1.0,
                        of: Some(*source).filter(|at| *at != UNSEEN).or(of),
                    },
                    None => {
                        let duplicate = (share > rule.threshold).then_some(MatchKind::Near);
                        UnitVerdict { duplicate, share, of: of.filter(|_| seen > 0) }
                    }
                }
            })
            .collect();
        if rule.smoothing > 0 {
            follow_neighbours(&mut unit_verdicts, units);
        }
        unit_verdicts
    }
}

/// Marks units without words as duplicates if both neighbours are.
fn follow_neighbours(unit_verdicts: &mut [UnitVerdict], units: &[Unit]) {
    // True if the next unit with words is a duplicate or does not exist; computed from the end.
    let mut next_is_duplicate = vec![true; units.len()];
    for at in (0..units.len().saturating_sub(1)).rev() {
        let next = at + 1;
        next_is_duplicate[at] = if units[next].words().is_empty() {
            next_is_duplicate[next]
        } else {
            unit_verdicts[next].duplicate.is_some()
        };
    }
    for at in 1..unit_verdicts.len() {
        let (before, unit_verdict) = (unit_verdicts[at - 1], unit_verdicts[at]);
        let is_bare = units[at].words().is_empty() && unit_verdict.duplicate.is_none();
        if is_bare && before.duplicate.is_some() && next_is_duplicate[at] {
            unit_verdicts[at] = UnitVerdict { duplicate: Some(MatchKind::Between), share: 0.0, of: before.of };
        }
    }
}
