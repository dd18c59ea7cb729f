//! What the judge says.

use serde::{Deserialize, Serialize};

/// Why a unit counts as a duplicate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Why {
    /// The raw page was seen before.
    Page,
    /// The whole text was seen before.
    Text,
    /// Too much of the whole document was.
    Document,
    /// The unit was, word for word.
    Exact,
    /// Too much of the unit was.
    Near,
    /// It lies between duplicates and is too short to tell.
    Between,
}

impl Why {
    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Why::Page => "page",
            Why::Text => "text",
            Why::Document => "document",
            Why::Exact => "exact",
            Why::Near => "near",
            Why::Between => "between",
        }
    }
}

/// What the judge says of a paragraph or sentence.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Finding {
    /// Why it is a duplicate, if it is one.
    pub duplicate: Option<Why>,
    /// The share of its words that was seen before, between 0 and 1.
    pub share: f32,
    /// Where most of that was seen, as a place in [`Verdict::sources`].
    pub of: Option<u32>,
}

/// What the judge says of a document.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Verdict {
    /// A finding for each paragraph.
    pub paragraphs: Vec<Finding>,
    /// A finding for each sentence, where sentences are judged. Those of a duplicate paragraph are
    /// duplicates.
    pub sentences: Vec<Finding>,
    /// Names of documents.
    pub sources: Vec<String>,
    /// Words of the document.
    pub words: usize,
    /// Words of its duplicates.
    pub removed: usize,
}

impl Verdict {
    /// The share of words that are in duplicates.
    pub fn share(&self) -> f32 {
        if self.words == 0 { 0.0 } else { self.removed as f32 / self.words as f32 }
    }

    /// The document most of it was seen in, if any.
    pub fn source(&self) -> Option<&str> {
        let findings = self.paragraphs.iter().chain(&self.sentences).filter(|finding| finding.duplicate.is_some());
        let mut counts = vec![0u32; self.sources.len()];
        findings.filter_map(|finding| finding.of).for_each(|of| counts[of as usize] += 1);
        let best =
            (0..counts.len()).filter(|at| counts[*at] > 0).max_by_key(|at| (counts[*at], std::cmp::Reverse(*at)));
        best.map(|at| self.sources[at].as_str())
    }
}
