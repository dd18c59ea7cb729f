//! Queries and filters as fields of requests: parsed, with the text they were given as.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt::Display;
use std::ops::Deref;

use crate::cql::{self, Query};
use crate::filter::Filter;
use crate::syntax::SyntaxError;

/// A language that parameters are written in.
pub trait Language: Display + Sized {
    /// The format in JSON schemas.
    const FORMAT: &'static str;
    /// The name in error messages.
    const NAME: &'static str;
    /// A text worth giving.
    const EXAMPLE: &'static str;

    /// Parses a text.
    fn parse(text: &str) -> Result<Self, SyntaxError>;
}

impl Language for Query {
    const FORMAT: &'static str = "cql";
    const NAME: &'static str = "query";
    const EXAMPLE: &'static str = r#"[lc="storm.*"]"#;

    fn parse(text: &str) -> Result<Query, SyntaxError> {
        cql::parse(text)
    }
}

impl Language for Filter {
    const FORMAT: &'static str = "filter";
    const NAME: &'static str = "filter";
    const EXAMPLE: &'static str = "date>=2026-03";

    fn parse(text: &str) -> Result<Filter, SyntaxError> {
        text.parse()
    }
}

/// A parsed text. Error positions refer to the text as it was given; it is serialised in its canonical form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parsed<T> {
    text: String,
    value: T,
}

impl<T: Language> Parsed<T> {
    /// Parses a text.
    pub fn new(text: &str) -> Result<Parsed<T>, SyntaxError> {
        Ok(Parsed { value: T::parse(text)?, text: text.to_owned() })
    }

    /// A value in its canonical form.
    pub fn of(value: T) -> Parsed<T> {
        Parsed { text: value.to_string(), value }
    }

    /// The example of the language.
    pub fn example() -> Parsed<T> {
        Parsed::new(T::EXAMPLE).expect("examples parse")
    }

    /// The text as it was given.
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl<T> Deref for Parsed<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T: Language> Serialize for Parsed<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.value)
    }
}

impl<'de, T: Language> Deserialize<'de> for Parsed<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Parsed<T>, D::Error> {
        let text = <Cow<'_, str>>::deserialize(deserializer)?;
        Parsed::new(&text).map_err(|error| serde::de::Error::custom(error.render(&text)))
    }
}

impl<T: Language> JsonSchema for Parsed<T> {
    fn schema_name() -> Cow<'static, str> {
        T::FORMAT.into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": T::FORMAT, "examples": [T::EXAMPLE] })
    }
}
