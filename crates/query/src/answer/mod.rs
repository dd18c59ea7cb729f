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

use crate::cql::MatchRule;
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
    pub rule: MatchRule,
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

/// The plan of a search, a line for each token test and segment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// The lines.
    pub explain: Vec<String>,
}

impl std::fmt::Display for Explanation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.explain.join("\n"))
    }
}

/// Keeps the first rows of those that are wanted. Returns how many are wanted in all.
pub fn first_rows<T>(rows: &mut Vec<T>, limit: usize, is_wanted: impl FnMut(&T) -> bool) -> u64 {
    rows.retain(is_wanted);
    let all = rows.len() as u64;
    rows.truncate(limit);
    all
}

fn as_text<S: serde::Serializer>(value: &impl ToString, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&value.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_counted_before_they_are_cut() {
        let mut rows: Vec<u32> = (0..10).collect();
        assert_eq!((first_rows(&mut rows, 2, |row| row % 2 == 1), rows), (5, vec![1, 3]));
    }

    #[test]
    fn an_answer_that_ran_out_of_time_is_a_sample() {
        assert_eq!(Exactness::of(true, 7), Exactness::Exact);
        assert_eq!(Exactness::of(false, 7), Exactness::Sample { hits: 7, of_hits: 7, seed: 0 });
    }
}
