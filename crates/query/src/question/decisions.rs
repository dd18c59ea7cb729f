//! Decisions of lexicographers about new words, as questions read them.

use std::collections::{BTreeMap, BTreeSet};

use super::QuestionError;

choices! {
    /// The state of a candidate.
    pub enum WordStatus {
        /// Without a decision.
        Open = "open",
        /// A new word of the language.
        Accepted = "accepted" | "accept",
        /// No new word.
        Rejected = "rejected" | "reject",
        /// To be looked at again.
        Later = "later",
    }
}

/// The last decision about a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WordDecision {
    /// The state.
    pub status: WordStatus,
    /// The word that it is a variant of, in lower case.
    pub variant_of: Option<String>,
    /// The note.
    pub note: String,
    /// The time.
    pub decided: String,
}

/// The decisions of a corpus.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WordDecisions {
    /// The last decision about each word in lower case.
    pub words: BTreeMap<String, WordDecision>,
    /// The words of all exclusion lists, in lower case.
    pub excluded: BTreeSet<String>,
}

/// Finds the decisions of the corpus that a question is about.
pub type FindDecisions<'c> = &'c dyn Fn() -> Result<WordDecisions, QuestionError>;

impl WordDecisions {
    /// The decisions of stored ones: word, state, what it is a variant of, note and time. Unknown states are open.
    pub fn of(
        decisions: impl IntoIterator<Item = [String; 5]>,
        excluded: impl IntoIterator<Item = String>,
    ) -> WordDecisions {
        let decision = |[word, status, variant_of, note, decided]: [String; 5]| {
            let status = WordStatus::named(&status).unwrap_or(WordStatus::Open);
            let variant_of = Some(variant_of).filter(|word| !word.is_empty());
            (word, WordDecision { status, variant_of, note, decided })
        };
        WordDecisions { words: decisions.into_iter().map(decision).collect(), excluded: excluded.into_iter().collect() }
    }

    /// The word that a word counts as: what it was decided to be a variant of, over at most as many steps as there are words.
    pub(super) fn headword<'w>(&'w self, word: &'w str) -> &'w str {
        let mut head = word;
        for _ in 0..self.words.len() {
            match self.words.get(head).and_then(|decision| decision.variant_of.as_deref()) {
                Some(next) if next != word => head = next,
                _ => break,
            }
        }
        head
    }

    /// The state of a word.
    pub(super) fn status(&self, word: &str) -> WordStatus {
        self.words.get(word).map_or(WordStatus::Open, |decision| decision.status)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variants_of_variants_count_as_their_headword_and_circles_end() {
        let variant = |of: &str| WordDecision {
            status: WordStatus::Open,
            variant_of: Some(of.to_owned()),
            note: String::new(),
            decided: String::new(),
        };
        let words = [("a", "b"), ("b", "c"), ("x", "y"), ("y", "x")];
        let words = words.map(|(word, of)| (word.to_owned(), variant(of)));
        let decisions = WordDecisions { words: words.into(), excluded: BTreeSet::new() };
        assert_eq!((decisions.headword("a"), decisions.headword("c"), decisions.headword("z")), ("c", "c", "z"));
        assert_eq!(decisions.headword("x"), "y", "a circle");
    }
}
