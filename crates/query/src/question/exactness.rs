//! Whether the numbers of an answer are exact.

use schemars::JsonSchema;
use serde::Serialize;
use std::fmt;

use crate::engine::{CutOff, Limit};

/// Whether the numbers of an answer are exact.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Exactness {
    /// Everything was counted.
    Exact,
    /// All hits were counted, and a random sample of them is shown.
    Sample {
        /// Hits of the sample.
        hits: u64,
        /// Hits in all.
        of_hits: u64,
        /// The seed that draws the same sample again.
        seed: u64,
    },
    /// Some shards of the corpus did not answer. Counts and rates are those of the shards that are covered.
    Partial {
        /// Shards that are covered.
        shards: u64,
        /// Shards of the corpus.
        of_shards: u64,
        /// Tokens of the shards that are covered.
        tokens: u64,
    },
    /// A limit stopped the search. Counts are those of the part that was seen, and so the least there can be; rates,
    /// scores and tests are left out.
    CutOff {
        /// Tokens seen.
        seen_tokens: u64,
        /// Tokens of the documents searched.
        of_tokens: u64,
        /// The limit.
        limit: Limit,
        /// The time limit in seconds, if that stopped it.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(with = "f64")]
        time_limit_s: Option<f64>,
    },
}

impl Exactness {
    /// Returns true if a limit stopped the search.
    pub fn is_cut_off(&self) -> bool {
        matches!(self, Exactness::CutOff { .. })
    }

    /// The caution that people should read with the answer: `cut off after 30 s: 5 of 10 tokens seen`.
    pub fn warning(&self) -> Option<String> {
        let is_whole = matches!(self, Exactness::Exact | Exactness::Sample { .. });
        (!is_whole).then(|| self.to_string())
    }
}

impl From<CutOff> for Exactness {
    fn from(CutOff { seen_tokens, of_tokens, limit, time_limit }: CutOff) -> Exactness {
        Exactness::CutOff { seen_tokens, of_tokens, limit, time_limit_s: time_limit.map(|limit| limit.as_secs_f64()) }
    }
}

impl fmt::Display for Exactness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Exactness::Exact => f.write_str("exact"),
            Exactness::Sample { hits, of_hits, seed } => {
                write!(f, "a sample of {} of {} hits, seed {seed}", grouped(*hits), grouped(*of_hits))
            }
            Exactness::Partial { shards, of_shards, tokens } => {
                write!(f, "{shards} of {of_shards} shards, with {} tokens", grouped(*tokens))
            }
            Exactness::CutOff { seen_tokens, of_tokens, limit, time_limit_s } => {
                match (limit, time_limit_s) {
                    (Limit::Time, Some(seconds)) => write!(f, "cut off after {seconds} s")?,
                    (Limit::Time, None) => f.write_str("cut off by the time limit")?,
                    (Limit::Cancelled, _) => f.write_str("cancelled")?,
                    (Limit::Steps, _) => f.write_str("cut off after the given number of steps")?,
                    (Limit::Memory, _) => f.write_str("cut off because the query needs too much memory")?,
                    (Limit::Values, _) => f.write_str("cut off because there are too many distinct values")?,
                }
                write!(f, ": {} of {} tokens seen", grouped(*seen_tokens), grouped(*of_tokens))
            }
        }
    }
}

/// A number with a comma between groups of three digits.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().map(|group| std::str::from_utf8(group).unwrap_or_default()).collect();
    groups.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_cut_off_answer_says_what_was_seen_and_why_it_stopped() {
        let cut = |limit, time_limit| CutOff { seen_tokens: 1_234_567, of_tokens: 9_000_000, limit, time_limit };
        let timed = Exactness::from(cut(Limit::Time, Some(Duration::from_millis(1500))));
        assert_eq!(timed.to_string(), "cut off after 1.5 s: 1,234,567 of 9,000,000 tokens seen");
        let json = serde_json::to_value(timed).unwrap();
        assert_eq!((json["kind"].as_str(), json["limit"].as_str()), (Some("cut-off"), Some("time")));
        assert_eq!((json["time_limit_s"].as_f64(), json["seen_tokens"].as_u64()), (Some(1.5), Some(1_234_567)));
        let full = Exactness::from(cut(Limit::Values, None));
        assert!(full.is_cut_off() && full.to_string().contains("too many distinct values"));
    }

    #[test]
    fn exact_answers_and_samples_need_no_warning() {
        let sample = Exactness::Sample { hits: 5, of_hits: 1000, seed: 1 };
        assert_eq!(sample.to_string(), "a sample of 5 of 1,000 hits, seed 1");
        let partial = Exactness::Partial { shards: 2, of_shards: 3, tokens: 12_000 };
        assert_eq!(partial.warning().as_deref(), Some("2 of 3 shards, with 12,000 tokens"));
        assert!(Exactness::Exact.warning().is_none() && sample.warning().is_none());
    }
}
