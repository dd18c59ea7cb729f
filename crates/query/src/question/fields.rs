//! Names of document fields and token attributes in requests, checked against the corpus.
//!
//! A name that no document can have would answer zero, which reads like a result. It is an error, with the names that exist.

use std::collections::BTreeSet;

use super::{Parsed, QuestionContext, QuestionError, SortKey};
use crate::cql::{Attribute, MatchRule, Query};
use crate::filter::{Filter, STANDARD_FIELDS};
use crate::syntax::advice;
use crate::trend::Step;

impl QuestionContext<'_> {
    /// The fields that documents of the corpus can have: the standard ones, and those of the index.
    pub fn field_names(&self) -> BTreeSet<&str> {
        let standard = STANDARD_FIELDS.iter().copied();
        if let Some(shards) = self.shards {
            return standard.chain(shards.schema.fields.iter().map(String::as_str)).collect();
        }
        let stored = self.all.snapshot().segments().iter().flat_map(|live| live.segment().field_names());
        standard.chain(stored).collect()
    }

    /// The attributes of tokens.
    pub(super) fn attribute_names(&self) -> Vec<&str> {
        match self.shards {
            Some(shards) => shards.schema.attributes.iter().map(String::as_str).collect(),
            None => self.all.attributes(),
        }
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

    /// Rejects a query with fields, attributes or spans that the corpus does not have.
    pub(super) fn check_compiles(&self, parameter: &'static str, query: &Parsed<Query>) -> Result<(), QuestionError> {
        self.check_query(parameter, query)?;
        if self.is_sharded() {
            // The shards check it.
            return Ok(());
        }
        let compiled = self.engine.search_within(query, MatchRule::default(), None, &self.limits).map(drop);
        compiled.map_err(QuestionError::of_engine(parameter, "query", query.text()))
    }

    /// Rejects a name that is no field of documents.
    pub(super) fn check_field(&self, parameter: &'static str, name: &str) -> Result<(), QuestionError> {
        self.check_name(parameter, name, "field", self.field_names())
    }

    /// Rejects a name that is neither an attribute of tokens, nor a field of documents, nor an attribute of spans, as in
    /// `by=colour`.
    pub(super) fn check_grouping(&self, name: &str) -> Result<(), QuestionError> {
        let spans = self.span_attributes();
        let known =
            self.attribute_names().into_iter().chain(self.field_names()).chain(spans.iter().map(String::as_str));
        self.check_name("by", name, "attribute or field", known.collect())
    }

    /// Rejects a name that hits cannot be grouped by.
    pub(super) fn check_group_name(&self, name: &str) -> Result<(), QuestionError> {
        let others = ["node", "left1", "right1", "year", "month"];
        let known = self.attribute_names().into_iter().chain(self.field_names()).chain(others);
        self.check_name("by", name, "attribute, neighbour or field", known.collect())
    }

    /// Rejects a name that documents cannot be counted by in a cross table.
    pub(super) fn check_table_name(&self, name: &str) -> Result<(), QuestionError> {
        let steps = Step::ALL.iter().map(|step| step.name());
        self.check_name("by", name, "field or period", self.field_names().into_iter().chain(steps).collect())
    }

    /// The attributes of spans that the corpus has, as `ne.name`.
    pub fn span_attributes(&self) -> BTreeSet<String> {
        if let Some(shards) = self.shards {
            let spans = shards.schema.spans.iter();
            return spans.flat_map(|(span, names)| names.iter().map(move |name| format!("{span}.{name}"))).collect();
        }
        let names = self.all.snapshot().span_names().into_iter();
        let named =
            names.flat_map(|(span, attributes)| attributes.into_iter().map(move |name| format!("{span}.{name}")));
        named.collect()
    }

    /// The attribute of tokens with a name; `None` if the corpus has no such layer.
    pub(super) fn attribute(&self, name: &str) -> Option<Attribute> {
        let is_layer = |layer: &str| match self.shards {
            Some(shards) => shards.schema.layers.contains(layer),
            None => self.all.snapshot().lexicon().declared().find(layer).is_some(),
        };
        Attribute::named(name).filter(|attribute| match attribute {
            Attribute::Layer(layer) => is_layer(layer.as_str()),
            _ => true,
        })
    }

    /// Rejects a sort key that is neither a part of the line nor a field.
    pub(super) fn check_sort_key(&self, parameter: &'static str, key: &SortKey) -> Result<(), QuestionError> {
        let name = match key {
            SortKey::Field(name) => name,
            SortKey::Token(_, attribute) => return self.check_attribute(parameter, *attribute),
            SortKey::Left | SortKey::Node | SortKey::Right | SortKey::Good => return Ok(()),
        };
        let lines = ["left", "node", "right", "left1", "right1", "good"];
        self.check_name(parameter, name, "sort key", lines.into_iter().chain(self.field_names()).collect())
    }

    /// Rejects a feature that no token of the corpus has, and a layer that it does not declare.
    pub fn check_attribute(&self, parameter: &'static str, attribute: Attribute) -> Result<(), QuestionError> {
        let features = self.shards.map_or_else(|| self.all.features(), |shards| &shards.schema.features);
        let is_known = match attribute {
            Attribute::Feature(feature) => features.contains_key(feature.name()),
            Attribute::Layer(layer) => self.attribute(layer.as_str()).is_some(),
            _ => true,
        };
        if is_known {
            return Ok(());
        }
        let known = self.attribute_names().into_iter().chain(features.keys().map(String::as_str));
        self.check_name(parameter, attribute.name(), "attribute", known.collect())
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
