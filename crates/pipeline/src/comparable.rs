//! Comparable corpora: one virtual corpus in every language.
//!
//! A virtual corpus is a filter of metadata, so that the same recipe selects comparable documents in each language: the news of a
//! year, a topic, a country. [`across`] shows them side by side, with their sizes and their keywords against the other documents
//! of their own language.

use anyhow::Result;
use serde::Serialize;
use serde_json::json;
use tidings_query::Filter;
use tidings_query::question::{
    DocumentsRequest, Keyword, KeywordsRequest, Question, QuestionContext, QuestionError, request,
};
use tidings_store::Home;

use crate::corpus::Corpus;
use crate::virtual_corpora;

/// A virtual corpus in all languages.
#[derive(Debug, Clone, Serialize)]
pub struct ComparableCorpora {
    /// The name of the virtual corpus.
    pub name: String,
    /// Its filter.
    pub filter: String,
    /// The languages that have an index.
    pub languages: Vec<ComparablePart>,
}

/// A virtual corpus in one language.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ComparablePart {
    /// The language.
    pub corpus: String,
    /// The state of its index.
    pub generation: u64,
    /// Documents that the filter selects.
    pub documents: u64,
    /// Their tokens.
    pub tokens: u64,
    /// All documents of the language.
    pub of_documents: u64,
    /// All tokens of the language.
    pub of_tokens: u64,
    /// The words that are typical of these documents against the others, the most typical first; those that differ
    /// significantly.
    pub keywords: Vec<Keyword>,
    /// The reason why the language is left out, such as a field that its documents do not have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
}

/// Compares a virtual corpus in all languages, with up to `keywords` keywords for each.
pub fn across(home: &Home, name: &str, keywords: u64) -> Result<ComparableCorpora> {
    let filter = virtual_corpora::find(home, name)?;
    let mut languages = Vec::new();
    for code in home.indexed()? {
        let corpus = Corpus::open(home, Some(&code))?;
        let snapshot = corpus.engine.snapshot();
        let whole = ComparablePart {
            corpus: code.clone(),
            generation: snapshot.generation(),
            of_documents: snapshot.documents(),
            of_tokens: snapshot.tokens(),
            ..ComparablePart::default()
        };
        languages.push(match part(&corpus, &filter, keywords, whole.clone()) {
            Ok(part) => part,
            // A filter that does not fit one language may fit the others.
            Err(error) => ComparablePart { fault: Some(error.to_string()), ..whole },
        });
        corpus.engine.intact()?;
    }
    Ok(ComparableCorpora { name: name.to_owned(), filter: filter.to_string(), languages })
}

fn part(
    corpus: &Corpus,
    filter: &Filter,
    keywords: u64,
    whole: ComparablePart,
) -> Result<ComparablePart, QuestionError> {
    let context = QuestionContext::new(&corpus.engine, &corpus.language);
    fn ask<Q: Question>(values: serde_json::Value, context: &QuestionContext<'_>) -> Result<Q::Answer, QuestionError> {
        let serde_json::Value::Object(values) = values else { unreachable!("the values are an object") };
        Ok(request::<Q>(values)?.answer(context)?.body)
    }
    let filter = filter.to_string();
    let size = ask::<DocumentsRequest>(json!({ "filter": filter, "size": 0 }), &context)?;
    let mut part = ComparablePart { documents: size.documents, tokens: size.tokens, ..whole };
    // Without other documents there is nothing to compare with.
    if keywords > 0 && part.documents > 0 && part.documents < part.of_documents {
        let mut found = ask::<KeywordsRequest>(json!({ "focus": filter, "limit": keywords }), &context)?;
        found.rows.truncate(usize::try_from(found.significant).unwrap_or(usize::MAX));
        part.keywords = found.rows;
    }
    Ok(part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_home;

    #[test]
    fn one_recipe_selects_documents_in_every_language() {
        let (_folder, pipeline) = test_home::built();
        virtual_corpora::save(&pipeline, "first-day", &format!("seen={}", test_home::FIRST_DAY)).unwrap();
        let found = across(pipeline.home(), "first-day", 10).unwrap();
        let sizes: Vec<(&str, u64, u64)> =
            found.languages.iter().map(|part| (part.corpus.as_str(), part.documents, part.of_documents)).collect();
        assert_eq!(sizes, [("de", 1, 1), ("en", 2, 3)]);
        assert!(
            found.languages.iter().all(|part| part.fault.is_none() && part.tokens > 0 && part.tokens <= part.of_tokens)
        );
        assert!(across(pipeline.home(), "no-such-name", 10).is_err());
    }

    #[test]
    fn a_field_that_no_document_of_a_language_has_is_said_and_not_counted_as_nothing() {
        let (_folder, pipeline) = test_home::built();
        virtual_corpora::save(&pipeline, "blogs", "gnre=blog").unwrap();
        let found = across(pipeline.home(), "blogs", 10).unwrap();
        assert!(found.languages.iter().all(|part| part.fault.as_ref().is_some_and(|fault| fault.contains("gnre"))));
    }
}
