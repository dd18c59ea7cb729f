//! Decisions about new words: their history, and the lists of words to leave out.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tidings_query::answer;
use tidings_query::question::{QuestionError, Request, WordDecisions};
use tidings_store::neologisms::{self, Decision};

use super::searches::may_see;
use super::{HomeContext, HomeQuestion};
use crate::api_error::ApiError;
use crate::corpus_registry::CorpusRegistry;
use crate::rights::Right;

/// The decisions of a corpus; none for clients without a token, because what the owner decides is private.
pub(crate) fn find_for(registry: &CorpusRegistry, lang: &str, right: Right) -> Result<WordDecisions, QuestionError> {
    match right.scope {
        Some(_) => find(registry, lang),
        None => Ok(WordDecisions::default()),
    }
}

fn find(registry: &CorpusRegistry, lang: &str) -> Result<WordDecisions, QuestionError> {
    let broken = |error: tidings_store::Error| {
        log::error!("the decisions about new words cannot be read: {}", tidings_store::in_full(&error));
        QuestionError::Request(
            "the decisions about new words cannot be read; the log of the server says more".to_owned(),
        )
    };
    let latest = neologisms::latest(neologisms::read(&registry.home).map_err(broken)?, lang).into_values();
    let lists = neologisms::read_lists(&registry.home).map_err(broken)?;
    Ok(WordDecisions::of(
        latest
            .map(|Decision { word, status, variant_of, note, decided, .. }| [word, status, variant_of, note, decided]),
        lists.into_iter().filter(|listed| listed.lang == lang).map(|listed| listed.word),
    ))
}

/// Lists the decisions about new words.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub(crate) struct DecisionsRequest {
    /// Only decisions about this word.
    #[serde(default)]
    pub word: Option<String>,
}

answer! {
    /// The history of decisions about new words, the newest first, and the lists of words to leave out.
    pub struct Decisions {
        /// The lists.
        pub lists: Vec<ExclusionList>,
        /// The decisions.
        pub rows: Vec<DecisionRow>,
    }

    /// A list of words to leave out.
    pub struct ExclusionList {
        /// The language of the corpus.
        pub lang: String,
        /// The name.
        pub list: String,
        /// The number of words.
        pub words: u64,
    }

    /// A decision about a word.
    pub struct DecisionRow {
        /// The time.
        pub decided: String,
        /// The language of the corpus.
        pub lang: String,
        /// The word.
        pub word: String,
        /// The state that it has since.
        pub status: String,
        /// The word that it is a variant of; empty if of none.
        pub variant_of: String,
        /// The note.
        pub note: String,
    }
}

impl Request for DecisionsRequest {
    fn example() -> DecisionsRequest {
        DecisionsRequest { word: None }
    }
}

impl HomeQuestion for DecisionsRequest {
    const NAME: &'static str = "decisions";
    const SUMMARY: &'static str = "List the decisions about new words, and the lists of words to leave out";
    const ROWS: &'static str = "rows";
    type Answer = Decisions;

    fn answer(&self, HomeContext { registry, right, .. }: &HomeContext<'_>) -> Result<Decisions, ApiError> {
        may_see(*right)?;
        let asked = self.word.as_deref().map(neologisms::key).transpose().map_err(|e| ApiError::wrong("word", e))?;
        let mut sizes: BTreeMap<(String, String), u64> = BTreeMap::new();
        for word in neologisms::read_lists(&registry.home)? {
            *sizes.entry((word.lang, word.list)).or_default() += 1;
        }
        let row = |Decision { decided, lang, word, status, variant_of, note }: Decision| DecisionRow {
            decided,
            lang,
            word,
            status,
            variant_of,
            note,
        };
        let known = neologisms::read(&registry.home)?.into_iter().rev();
        let asked = known.filter(|decision| asked.as_ref().is_none_or(|word| decision.word == *word));
        Ok(Decisions {
            lists: sizes.into_iter().map(|((lang, list), words)| ExclusionList { lang, list, words }).collect(),
            rows: asked.map(row).collect(),
        })
    }
}
