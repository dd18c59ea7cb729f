//! Answers as values: what the front door prints, draws or sends. Each says of which state of the corpus
//! it speaks, by which rule hits were found, and whether its numbers are exact.

mod bursts;
mod compare;
mod concordance;
mod counts;
mod sketch;
mod time;

pub use bursts::{BurstRow, Bursts};
pub use compare::{Change, CompareConfig, Comparison};
pub use concordance::{Concordance, KwicToken, Line, SortKey, sample_rank, sort_lines, text_of};
pub use counts::{Collocate, Collocates, Frequencies, FrequencyRow, Keyword, Keywords, Scores, Window, WordRow, Words};
pub use sketch::{Sketch, SketchRelation, SketchRow, TagCount};
pub use time::{NewWordRow, NewWords, Timeline, TimelinePoint, TrendRow, Trends};

use crate::cql::Rule;
use serde::Serialize;

/// An answer and what it is an answer to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answer<T> {
    /// What was asked of what.
    pub about: About,
    /// The answer itself.
    #[serde(flatten)]
    pub body: T,
}

/// What was asked of what.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct About {
    /// The language whose index was asked.
    pub corpus: String,
    /// The state of the corpus: it grows with every change, and equal states give equal answers.
    pub generation: u64,
    /// The query in its canonical text, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// The virtual corpus in its canonical text, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filter: Option<String>,
    /// Which of several matches is the hit.
    pub rule: Rule,
    /// Whether the numbers are exact.
    pub exactness: Exactness,
}

/// Whether numbers are exact.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Exactness {
    /// They are.
    Exact,
    /// A part of the corpus was looked at, and the rest reckoned from it.
    Estimate {
        /// Tokens looked at.
        seen_tokens: u64,
        /// Tokens of the corpus.
        of_tokens: u64,
    },
    /// A sample of the hits was looked at.
    Sample {
        /// Hits looked at.
        hits: u64,
        /// Hits in all.
        of_hits: u64,
        /// The seed that draws the same sample again.
        seed: u64,
    },
}

impl Exactness {
    /// Exact, or what was seen until time ran out.
    pub fn of(complete: bool, seen: u64) -> Exactness {
        match complete {
            true => Exactness::Exact,
            false => Exactness::Sample { hits: seen, of_hits: seen, seed: 0 },
        }
    }
}

fn as_text<S: serde::Serializer>(value: &impl ToString, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&value.to_string())
}
