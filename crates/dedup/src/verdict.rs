//! Verdicts on documents and their units.

use serde::{Deserialize, Serialize};

use crate::fingerprint_index::BlockId;
use crate::units::Text;

/// The kind of match that makes a unit a duplicate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MatchKind {
    /// The raw page was seen before.
    Page,
    /// The whole text was seen before.
    Text,
    /// The document shares too many n-grams with another.
    Document,
    /// The unit was seen verbatim.
    Exact,
    /// The unit shares too many n-grams with another document.
    Near,
    /// The unit has no words and lies between duplicates.
    Between,
}

impl MatchKind {
    /// The name in files.
    pub fn name(self) -> &'static str {
        match self {
            MatchKind::Page => "page",
            MatchKind::Text => "text",
            MatchKind::Document => "document",
            MatchKind::Exact => "exact",
            MatchKind::Near => "near",
            MatchKind::Between => "between",
        }
    }
}

/// The verdict on a paragraph or sentence.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct UnitVerdict {
    /// The kind of match, if it is a duplicate.
    pub duplicate: Option<MatchKind>,
    /// The share of its words that was seen before, from 0 to 1.
    pub share: f32,
    /// The document where most of that was seen, as an index into [`Verdict::sources`].
    pub of: Option<u32>,
}

/// The verdict on a document.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Verdict {
    /// One verdict per paragraph.
    pub paragraphs: Vec<UnitVerdict>,
    /// One verdict per sentence, if sentences are compared. Sentences of a duplicate paragraph are duplicates.
    pub sentences: Vec<UnitVerdict>,
    /// Names of the source documents.
    pub sources: Vec<String>,
    /// The first block of each of them that was found.
    pub source_blocks: Vec<BlockId>,
    /// Words of the document.
    pub words: usize,
    /// Words in duplicate units.
    pub removed: usize,
}

impl Verdict {
    /// The verdict on a document without a key of another one: all of it is new.
    pub fn of_new(text: &Text) -> Verdict {
        Verdict {
            paragraphs: vec![UnitVerdict::default(); text.paragraphs.len()],
            sentences: vec![UnitVerdict::default(); text.sentences.len()],
            words: text.words,
            ..Verdict::default()
        }
    }

    /// The share of words in duplicate units.
    pub fn share(&self) -> f32 {
        if self.words == 0 { 0.0 } else { self.removed as f32 / self.words as f32 }
    }

    /// Keeps the units that were seen in some sources only, which are named by `is_ignored`.
    ///
    /// A revision of a document repeats most of it and takes its place, so it is no copy of it.
    pub fn ignore_sources(&mut self, text: &Text, is_ignored: impl Fn(&str) -> bool) {
        let ignored: Vec<bool> = self.sources.iter().map(|name| is_ignored(name)).collect();
        if !ignored.contains(&true) {
            return;
        }
        let units = |verdict: &mut Verdict, keep: &dyn Fn(&UnitVerdict) -> bool| {
            for unit_verdict in verdict.paragraphs.iter_mut().chain(&mut verdict.sentences) {
                if unit_verdict.duplicate.is_some() && keep(unit_verdict) {
                    *unit_verdict = UnitVerdict::default();
                }
            }
        };
        units(self, &|unit_verdict| unit_verdict.of.is_some_and(|of| ignored[of as usize]));
        // Units without words are duplicates only between others.
        let is_between = |unit_verdict: &UnitVerdict| unit_verdict.duplicate == Some(MatchKind::Between);
        let mut all = self.paragraphs.iter().chain(&self.sentences);
        if !all.any(|unit_verdict| unit_verdict.duplicate.is_some() && !is_between(unit_verdict)) {
            units(self, &is_between);
        }
        self.removed = crate::deduplicator::kept_words(text, self).iter().filter(|kept| !**kept).count();
    }

    /// The document that most of it was seen in, if any.
    pub fn source(&self) -> Option<&str> {
        self.main_source().map(|at| self.sources[at].as_str())
    }

    /// The first block of that document.
    pub fn source_block(&self) -> Option<BlockId> {
        self.main_source().and_then(|at| self.source_blocks.get(at).copied())
    }

    fn main_source(&self) -> Option<usize> {
        let unit_verdicts =
            self.paragraphs.iter().chain(&self.sentences).filter(|unit_verdict| unit_verdict.duplicate.is_some());
        let mut counts = vec![0u32; self.sources.len()];
        unit_verdicts.filter_map(|unit_verdict| unit_verdict.of).for_each(|of| counts[of as usize] += 1);
        (0..counts.len()).filter(|at| counts[*at] > 0).max_by_key(|at| (counts[*at], std::cmp::Reverse(*at)))
    }
}
