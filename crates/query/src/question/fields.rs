//! Names of document fields and token attributes in requests, checked against the corpus.
//!
//! A name that no document can have would answer zero, which reads like a result. It is an error, with the names that exist.

use std::collections::BTreeSet;

use super::{Parsed, QuestionContext, QuestionError, SortKey};
use crate::cql::{Attribute, Query};
use crate::filter::{Filter, STANDARD_FIELDS};
use crate::syntax::advice;

impl QuestionContext<'_> {
    /// The fields that documents of the corpus can have: the standard ones, and those of the index.
    pub fn field_names(&self) -> BTreeSet<&str> {
        let stored = self.all.snapshot().segments().iter().flat_map(|live| live.segment().field_names());
        STANDARD_FIELDS.iter().copied().chain(stored).collect()
    }

    /// Rejects a filter of a field that no document can have. A field without such a value is not an error.
    pub(super) fn check_filter(&self, parameter: &'static str, filter: &Parsed<Filter>) -> Result<(), QuestionError> {
        self.check_filter_text(parameter, filter, filter.text())
    }

    /// The same for a filter and the text that it was read from.
    pub(super) fn check_filter_text(
        &self,
        parameter: &'static str,
        filter: &Filter,
        text: &str,
    ) -> Result<(), QuestionError> {
        filter.check_fields(&self.field_names()).map_err(|error| QuestionError::Syntax {
            parameter: parameter.to_owned(),
            language: "filter",
            text: text.to_owned(),
            error: Box::new(error),
        })
    }

    /// Rejects a query with a structure of a field that no document can have.
    pub(super) fn check_query(&self, parameter: &'static str, query: &Parsed<Query>) -> Result<(), QuestionError> {
        let filters = query.filters();
        if filters.is_empty() {
            return Ok(());
        }
        let known = self.field_names();
        filters.into_iter().try_for_each(|filter| filter.check_fields(&known)).map_err(|error| QuestionError::Syntax {
            parameter: parameter.to_owned(),
            language: "query",
            text: query.text().to_owned(),
            error: Box::new(error),
        })
    }

    /// Rejects a name that is no field of documents.
    pub(super) fn check_field(&self, parameter: &'static str, name: &str) -> Result<(), QuestionError> {
        self.check_name(parameter, name, "field", self.field_names())
    }

    /// Rejects a name that is neither an attribute of tokens nor a field of documents, as in `by=colour`.
    pub(super) fn check_grouping(&self, name: &str) -> Result<(), QuestionError> {
        let known = self.all.attributes().into_iter().chain(self.field_names());
        self.check_name("by", name, "attribute or field", known.collect())
    }

    /// Rejects a sort key that is neither a part of the line nor a field.
    pub(super) fn check_sort_key(&self, parameter: &'static str, key: &SortKey) -> Result<(), QuestionError> {
        let SortKey::Field(name) = key else { return Ok(()) };
        let lines = ["left", "node", "right"];
        self.check_name(parameter, name, "sort key", lines.into_iter().chain(self.field_names()).collect())
    }

    /// Rejects a feature that no token of the corpus has.
    pub fn check_attribute(&self, parameter: &'static str, attribute: Attribute) -> Result<(), QuestionError> {
        let features = self.all.features();
        let Attribute::Feature(feature) = attribute else { return Ok(()) };
        if features.contains_key(feature.name()) {
            return Ok(());
        }
        let known = self.all.attributes().into_iter().chain(features.keys().map(String::as_str));
        self.check_name(parameter, feature.name(), "attribute", known.collect())
    }

    fn check_name(
        &self,
        parameter: &'static str,
        name: &str,
        what: &str,
        known: BTreeSet<&str>,
    ) -> Result<(), QuestionError> {
        if known.contains(name) {
            return Ok(());
        }
        let shown: String = name.chars().take(40).map(|c| if c.is_control() { ' ' } else { c }).collect();
        let message = format!("{parameter} = {shown}: unknown {what}; {}", advice(name, known.iter().copied()));
        Err(QuestionError::parameter(parameter, message))
    }
}
