//! `has("…")`: documents with a hit of a query.
//!
//! A filter is a condition on the fields of one document, which are known without reading its text. This condition is not: a
//! filter with it is *resolved* first, by searching the documents of an index that the client may read. A filter that is not
//! resolved cannot be compiled, so that no code path can evaluate it on documents that it should not read.

use super::{FieldPredicate, FieldTest, Filter};
use crate::cql::{self, Query};
use crate::syntax::{Cursor, Span, SyntaxError};
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;
use tidings_index::codec::BitSet;

/// The name of the condition.
pub(super) const NAME: &str = "has";

/// The condition that a document has a hit.
#[derive(Debug, Clone)]
pub struct HitTest {
    /// The query.
    pub query: Box<Query>,
    /// The documents with a hit, once the filter is resolved.
    documents: Option<Arc<HitDocuments>>,
}

/// The documents with a hit of a query.
#[derive(Debug)]
pub enum HitDocuments {
    /// Of one index, for each segment by the name of its file. Documents of other segments have no hit.
    Segments(HashMap<String, BitSet>),
    /// By their ids, for documents outside of an index.
    Ids(HashSet<u128>),
}

/// Two conditions are equal if they mean the same, whether or not they are resolved.
impl PartialEq for HitTest {
    fn eq(&self, other: &HitTest) -> bool {
        self.query == other.query
    }
}

impl Eq for HitTest {}

impl HitTest {
    /// The documents with a hit; an error if the filter was not resolved.
    pub(super) fn documents(&self, span: Span) -> Result<Arc<HitDocuments>, SyntaxError> {
        self.documents.clone().ok_or_else(|| {
            SyntaxError::new(span, "has(…) cannot be evaluated here, because it searches the index of a corpus")
                .help("use it in the filter of a question or an export, or in a virtual corpus")
        })
    }
}

impl Filter {
    /// The queries of all conditions `has("…")`.
    pub fn hit_queries(&self) -> impl Iterator<Item = &Query> {
        self.condition.tests().into_iter().filter_map(|test| match &test.predicate {
            FieldPredicate::Hits(test) => Some(&*test.query),
            _ => None,
        })
    }

    /// The filter with the documents that have a hit of each query of `has("…")`.
    pub fn resolved<E>(&self, find: &mut impl FnMut(&Query) -> Result<Arc<HitDocuments>, E>) -> Result<Filter, E> {
        let condition = self.condition.try_map(&mut |test: &FieldTest| {
            let predicate = match &test.predicate {
                FieldPredicate::Hits(test) => {
                    let documents = Some(find(&test.query)?);
                    FieldPredicate::Hits(HitTest { query: test.query.clone(), documents })
                }
                other => other.clone(),
            };
            Ok::<_, E>(FieldTest { field: test.field.clone(), predicate, span: test.span })
        })?;
        Ok(Filter { condition })
    }
}

/// Parses the query after `has(`, up to the closing parenthesis.
pub(super) fn read(cursor: &mut Cursor<'_>) -> Result<HitTest, SyntaxError> {
    cursor.skip_blanks();
    let start = cursor.at();
    if !cursor.looks_at("\"") && !cursor.looks_at("'") {
        let error = cursor.unexpected("a query in quotes");
        return Err(error.help("write has(\"storm\"), or has('[lemma=\"storm\"]')"));
    }
    let text = unquoted(cursor.quoted()?);
    let span = cursor.span_from(start);
    let query = cql::parse(&text).map_err(|error| {
        let help = error.help.clone();
        let error = SyntaxError::new(span, format!("in the query of has(…): {}", error.message));
        help.into_iter().fold(error, SyntaxError::help)
    })?;
    if query.cut.is_some() {
        let message = "cut has no meaning in has(…), which asks whether there is a hit";
        return Err(SyntaxError::new(span, message).help("leave it out"));
    }
    cursor.expect(")", "to close has(…)")?;
    Ok(HitTest { query: Box::new(query), documents: None })
}

/// The text between quotes: a backslash escapes quotes and itself, and is part of a regular expression otherwise.
fn unquoted(raw: &str) -> String {
    let mut text = String::with_capacity(raw.len());
    let mut chars = raw.chars().peekable();
    while let Some(c) = chars.next() {
        match chars.peek() {
            Some(next @ ('"' | '\'' | '\\')) if c == '\\' => {
                text.push(*next);
                chars.next();
            }
            _ => text.push(c),
        }
    }
    text
}

impl fmt::Display for HitTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let query = self.query.to_string().replace('\\', "\\\\").replace('"', "\\\"");
        write!(f, "{NAME}(\"{query}\")")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_in_quotes_has_a_canonical_text_that_means_the_same() {
        for (text, query) in [
            ("has(\"storm\")", "storm"),
            ("has( 'heavy storm' )", "heavy storm"),
            ("site=a !has('\"U\\.S\\.\"')", "\"U\\.S\\.\""),
            ("has(\"[lemma=\\\"a\\\"]\") | date=2026", "[lemma=\"a\"]"),
        ] {
            let filter: Filter = text.parse().expect("a filter");
            assert_eq!(filter.hit_queries().next(), Some(&cql::parse(query).expect("a query")), "{text}");
            let canonical = filter.to_string();
            assert_eq!(canonical.parse::<Filter>().expect("a filter"), filter, "{canonical}");
            assert_eq!(canonical.parse::<Filter>().expect("a filter").to_string(), canonical);
        }
        assert_eq!("has = 1".parse::<Filter>().expect("a field of this name").to_string(), "has==\"1\"");
    }

    #[test]
    fn errors_in_the_query_are_at_its_place_in_the_filter() {
        let message = |text: &str| {
            let error = text.parse::<Filter>().expect_err("no filter");
            (error.message, error.span.start)
        };
        let (cause, at) = message("site=a has(\"[lemma=\")");
        assert!(cause.starts_with("in the query of has(…)") && at == 11, "{cause} at {at}");
        assert!(message("has(storm)").0.contains("a query in quotes"));
        assert!(message("has(\"[] cut 3\")").0.contains("cut has no meaning"));
        assert!(message("has(\"a\"").0.contains("to close has(…)"));
    }

    #[test]
    fn a_filter_that_is_not_resolved_is_refused() {
        let filter: Filter = "has(\"storm\")".parse().expect("a filter");
        assert!(filter.compile().is_err());
        let ids = Arc::new(HitDocuments::Ids(HashSet::from([7])));
        let filter = filter.resolved(&mut |_| Ok::<_, SyntaxError>(ids.clone())).expect("resolved");
        let compiled = filter.compile().expect("compiled");
        let admits = |id: &'static str| compiled.admits(&|name: &str| (name == "id").then_some(id));
        assert!(admits("00000000000000000000000000000007"));
        assert!(!admits("00000000000000000000000000000008") && !admits("storm"));
    }
}
