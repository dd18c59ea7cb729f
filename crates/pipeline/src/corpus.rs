//! The index of one language, opened for queries.
//!
//! ```no_run
//! use std::path::Path;
//! use tidings_pipeline::Pipeline;
//! use tidings_pipeline::corpus::Corpus;
//! use tidings_query::MatchRule;
//! use tidings_query::engine::Limits;
//!
//! fn main() -> anyhow::Result<()> {
//!     let pipeline = Pipeline::open(Path::new("news"))?;
//!     let corpus = Corpus::open(pipeline.home(), Some("en"))?;
//!     let (_, search) = corpus.search("\"climate change\"", MatchRule::default(), None)?;
//!     let counted = search.count(&Limits::default());
//!     corpus.engine.intact()?; // An error if a file of the index is damaged.
//!     println!("{} hits", counted.hits);
//!     Ok(())
//! }
//! ```

use anyhow::{Context as _, Result, bail};
use tidings_index::Snapshot;
use tidings_query::engine::{Engine, EngineError, Limits, Search};
use tidings_query::question::FrozenState;
use tidings_query::{Filter, MatchRule, Query, SyntaxError, cql};
use tidings_store::Home;

use crate::frozen;
use crate::usage_error::UsageError;

/// The index of a language with the engine that evaluates queries over it.
#[derive(Debug)]
pub struct Corpus {
    /// The language.
    pub language: String,
    /// The engine over the newest generation of the index.
    pub engine: Engine,
    /// The frozen state that the engine is of, if it is not the present one.
    pub frozen: Option<FrozenState>,
}

impl Corpus {
    /// Opens the index of a language. The language may be omitted if the home has only one.
    pub fn open(home: &Home, language: Option<&str>) -> Result<Corpus> {
        let language = choose_language(&home.indexed()?, language)?;
        let snapshot = Snapshot::open(&home.index_of(&language))
            .with_context(|| format!("cannot read the index of {language}"))?;
        Ok(Corpus { language, engine: Engine::new(snapshot), frozen: None })
    }

    /// Opens the frozen state of a language that `as_of` means, its name or the day on which it was frozen; the newest
    /// generation without one.
    pub fn open_as_of(home: &Home, language: Option<&str>, as_of: Option<&str>) -> Result<Corpus> {
        let Some(as_of) = as_of else { return Corpus::open(home, language) };
        let with_states = tidings_store::frozen::languages(home)?;
        // A language may have only frozen states, and without any, the error is about the state.
        let languages = if with_states.is_empty() { home.indexed()? } else { with_states };
        let language = choose_language(&languages, language)?;
        let (record, snapshot) = frozen::open(home, &language, as_of)?;
        Ok(Corpus { language, engine: Engine::new(snapshot), frozen: Some(tidings_serve::frozen_state(&record)) })
    }

    /// Parses a query and compiles it for this corpus, or for the documents that match a filter. Errors show their
    /// position in the query.
    pub fn search(&self, text: &str, rule: MatchRule, filter: Option<&Filter>) -> Result<(Query, Search<'_>)> {
        let query = parse_query(text)?;
        let filter = filter.map(|filter| self.engine.resolved(filter, &Limits::default())).transpose()?;
        let search = self.engine.search(&query, rule, filter.as_ref()).map_err(|error| explain(error, text))?;
        Ok((query, search))
    }
}

/// Parses a query. Errors show their position.
pub fn parse_query(text: &str) -> Result<Query> {
    Ok(cql::parse(text).map_err(|error| invalid_query(&error, text))?)
}

fn invalid_query(error: &SyntaxError, text: &str) -> UsageError {
    UsageError::new(format!("invalid query: {}", error.render(text)))
}

/// Renders an error that depends on the corpus, such as an unknown attribute, with its position in the query.
pub fn explain(error: EngineError, text: &str) -> anyhow::Error {
    match error {
        EngineError::Syntax(error) => invalid_query(&error, text).into(),
        other => other.into(),
    }
}

fn choose_language(indexed: &[String], wanted: Option<&str>) -> Result<String> {
    match (wanted, indexed) {
        (_, []) => bail!("no index yet; `tidings run` makes one"),
        (Some(code), _) if indexed.iter().any(|known| known == code) => Ok(code.to_owned()),
        (Some(code), _) => {
            let message = format!("no index for language {code}; available: {}", indexed.join(", "));
            Err(UsageError::new(message).into())
        }
        (None, [code]) => Ok(code.clone()),
        (None, _) => {
            let message = format!("several languages are indexed; choose one with --lang: {}", indexed.join(", "));
            Err(UsageError::new(message).into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_language_may_be_omitted_if_there_is_only_one() {
        let codes = ["de".to_owned(), "en".to_owned()];
        assert_eq!(choose_language(&codes[..1], None).unwrap(), "de");
        assert_eq!(choose_language(&codes, Some("en")).unwrap(), "en");
    }

    #[test]
    fn the_error_about_an_ambiguous_language_lists_the_languages() {
        let codes = ["de".to_owned(), "en".to_owned()];
        let error = |codes: &[String], wanted| choose_language(codes, wanted).unwrap_err().to_string();
        assert!(error(&[], Some("de")).contains("no index yet"));
        assert!(error(&codes, Some("fr")).ends_with("available: de, en"));
        assert!(error(&codes, None).ends_with("with --lang: de, en"));
    }

    #[test]
    fn a_query_finds_words_and_an_invalid_one_is_an_error() {
        let (_folder, pipeline) = crate::test_home::built();
        let corpus = Corpus::open(pipeline.home(), Some("en")).unwrap();
        let hits = |text: &str| {
            let (_, search) = corpus.search(text, MatchRule::default(), None).unwrap();
            search.count(&tidings_query::engine::Limits::default()).hits
        };
        assert_eq!((hits("\"ferry\""), hits("\"Fluss\"")), (1, 0));
        for wrong in ["[word=", "[colour=\"red\"]"] {
            let error = corpus.search(wrong, MatchRule::default(), None).err().unwrap().to_string();
            assert!(error.contains("invalid query"), "{error}");
        }
        assert!(Corpus::open(pipeline.home(), None).is_err(), "there are two languages");
    }
}
