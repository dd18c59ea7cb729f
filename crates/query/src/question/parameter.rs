//! The parameters of a question, read from the JSON schema of its request type.
//!
//! Flags of the command line, parameters of the HTTP API, their checks and their documentation all come from this list.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use std::fmt;
use std::ops::RangeInclusive;
use tidings_model::period;

use super::QuestionError;
use crate::cql::{self, Attribute};
use crate::filter::Filter;
use crate::syntax::SyntaxError;

/// A request type with an example, from which its parameters are read.
pub trait Request: Serialize + DeserializeOwned + JsonSchema {
    /// A request worth asking. All fields are serialised, in the order in which they are documented.
    fn example() -> Self;

    /// The parameters, in the order in which they are declared.
    fn parameters() -> Vec<Parameter> {
        let settings = SchemaSettings::draft2020_12().for_deserialize().with(|settings| {
            settings.inline_subschemas = true;
            settings.meta_schema = None;
        });
        let schema = SchemaGenerator::from(settings).into_root_schema_for::<Self>().to_value();
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let order = field_order(&Self::example());
        let parameter = |name: String| {
            let is_required = required.contains(&name.as_str());
            Parameter::of(&schema["properties"][&name], name, is_required)
        };
        order.into_iter().map(parameter).collect()
    }
}

/// The names of the fields of a value, in the order in which they are serialised.
fn field_order(value: &impl Serialize) -> Vec<String> {
    struct Keys(Vec<String>);
    impl<'de> Deserialize<'de> for Keys {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Keys, D::Error> {
            struct Visitor;
            impl<'de> serde::de::Visitor<'de> for Visitor {
                type Value = Keys;
                fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    f.write_str("an object")
                }
                fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Keys, A::Error> {
                    let mut keys = Vec::new();
                    while let Some((key, _)) = map.next_entry::<String, serde::de::IgnoredAny>()? {
                        keys.push(key);
                    }
                    Ok(Keys(keys))
                }
            }
            deserializer.deserialize_map(Visitor)
        }
    }
    let text = serde_json::to_string(value).expect("requests serialise");
    serde_json::from_str::<Keys>(&text).expect("requests are objects").0
}

/// A parameter of a question.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// The name, in snake case.
    pub name: String,
    /// The help text.
    pub help: String,
    /// The values it takes.
    pub kind: ParameterKind,
    /// The value if it is not given.
    pub default: Option<Value>,
    /// Whether it must be given.
    pub required: bool,
    /// Whether it is an argument rather than a flag on the command line.
    pub positional: bool,
    /// Whether the HTTP API alone has it.
    pub api_only: bool,
    /// The placeholder of its value in help texts.
    pub value_name: String,
}

/// The values that a parameter takes.
#[derive(Debug, Clone, PartialEq)]
pub enum ParameterKind {
    /// Any text.
    Text,
    /// A query in CQL.
    Cql,
    /// A filter of documents.
    Filter,
    /// A day, `2026-03-01`; a month or year stands for its first day.
    Date,
    /// An attribute of tokens.
    Attribute,
    /// A whole number within limits.
    Integer(RangeInclusive<u64>),
    /// A number within limits.
    Number(RangeInclusive<f64>),
    /// Yes or no.
    Flag,
    /// Names separated by commas.
    Names,
    /// Queries in CQL separated by commas.
    Queries,
    /// One of some names; former spellings stand for them.
    Choice {
        /// The canonical names.
        names: Vec<String>,
        /// Former spellings with the names they stand for.
        aliases: Vec<(String, String)>,
    },
}

/// The reason why a text is no value of a parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ValueError {
    /// Another kind of value is expected, such as "a whole number from 1 to 5".
    Expected(String),
    /// The query or filter is wrong.
    Syntax(SyntaxError),
}

impl Parameter {
    fn of(schema: &Value, name: String, required: bool) -> Parameter {
        let text = |key: &str| schema[key].as_str().map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "));
        let kind = ParameterKind::of(schema);
        let value_name = text("x-value-name").unwrap_or_else(|| kind.value_name().to_owned());
        Parameter {
            help: text("description").unwrap_or_default().trim_end_matches('.').to_owned(),
            default: schema.get("default").filter(|value| !value.is_null()).cloned(),
            positional: required || schema["x-positional"] == true,
            api_only: schema["x-api-only"] == true,
            name,
            kind,
            required,
            value_name,
        }
    }

    /// The value of a text.
    pub fn parse(&self, text: &str) -> Result<Value, ValueError> {
        match self.kind {
            // The end of a period is the last day of a month or year.
            ParameterKind::Date if self.name == "until" => day(period::last_day(text)),
            _ => self.kind.parse(text),
        }
    }

    /// The text of a value, as it stands in an address or on a command line.
    pub fn text(&self, value: &Value) -> String {
        match value {
            Value::String(text) => text.clone(),
            Value::Array(items) => items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(","),
            Value::Null => String::new(),
            // JSON writes 1 as 1.0 where the field is a float; people do not.
            Value::Number(number) => match number.as_f64() {
                Some(float) if number.is_f64() => float.to_string(),
                _ => number.to_string(),
            },
            other => other.to_string(),
        }
    }
}

impl ParameterKind {
    fn of(schema: &Value) -> ParameterKind {
        let nullable = |key: &str| {
            let shapes = schema[key].as_array()?;
            shapes.iter().find(|shape| shape["type"] != "null")
        };
        if let Some(shape) = nullable("anyOf") {
            return ParameterKind::of(shape);
        }
        if let Some(names) = schema["enum"].as_array() {
            let names = names.iter().filter_map(Value::as_str).map(str::to_owned).collect();
            let pairs = schema["x-aliases"].as_object().into_iter().flatten();
            let aliases = pairs.filter_map(|(alias, name)| Some((alias.clone(), name.as_str()?.to_owned())));
            return ParameterKind::Choice { names, aliases: aliases.collect() };
        }
        let kind = match &schema["type"] {
            Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null"),
            kind => kind.as_str(),
        };
        match (kind, schema["format"].as_str()) {
            (Some("string"), Some("cql")) => ParameterKind::Cql,
            (Some("string"), Some("filter")) => ParameterKind::Filter,
            (Some("string"), Some("date")) => ParameterKind::Date,
            (Some("string"), Some("attribute")) => ParameterKind::Attribute,
            (Some("integer"), _) => {
                let limit = |key: &str| schema[key].as_u64();
                ParameterKind::Integer(limit("minimum").unwrap_or(0)..=limit("maximum").unwrap_or(u64::MAX))
            }
            (Some("number"), _) => {
                let limit = |key: &str| schema[key].as_f64();
                ParameterKind::Number(limit("minimum").unwrap_or(f64::MIN)..=limit("maximum").unwrap_or(f64::MAX))
            }
            (Some("boolean"), _) => ParameterKind::Flag,
            (Some("array"), _) if schema["items"]["format"] == "cql" => ParameterKind::Queries,
            (Some("array"), _) => ParameterKind::Names,
            _ => ParameterKind::Text,
        }
    }

    fn value_name(&self) -> &'static str {
        match self {
            ParameterKind::Text => "TEXT",
            ParameterKind::Cql => "CQL",
            ParameterKind::Filter => "FILTER",
            ParameterKind::Date => "DATE",
            ParameterKind::Attribute | ParameterKind::Choice { .. } => "NAME",
            ParameterKind::Integer(_) => "N",
            ParameterKind::Number(_) => "NUMBER",
            ParameterKind::Flag => "BOOL",
            ParameterKind::Names => "NAMES",
            ParameterKind::Queries => "QUERIES",
        }
    }

    /// The value of a text, with names in their canonical spelling.
    pub fn parse(&self, text: &str) -> Result<Value, ValueError> {
        let expected = |what: String| ValueError::Expected(what);
        match self {
            ParameterKind::Text => Ok(text.into()),
            ParameterKind::Cql => cql::parse(text).map(|_| text.into()).map_err(ValueError::Syntax),
            ParameterKind::Filter => text.parse::<Filter>().map(|_| text.into()).map_err(ValueError::Syntax),
            ParameterKind::Date => day(period::first_day(text)),
            ParameterKind::Attribute => match Attribute::named(text) {
                Some(attribute) => Ok(attribute.name().into()),
                None => Err(expected(Attribute::expected())),
            },
            ParameterKind::Integer(range) => match text.parse::<u64>() {
                Ok(number) if range.contains(&number) => Ok(number.into()),
                _ if *range.end() == u64::MAX => Err(expected(format!("a whole number of at least {}", range.start()))),
                _ => Err(expected(format!("a whole number from {} to {}", range.start(), range.end()))),
            },
            ParameterKind::Number(range) => match text.parse::<f64>() {
                Ok(number) if range.contains(&number) => Ok(number.into()),
                _ => Err(expected(format!("a number from {} to {}", range.start(), range.end()))),
            },
            ParameterKind::Flag => match text {
                "true" => Ok(true.into()),
                "false" => Ok(false.into()),
                _ => Err(expected("true or false".to_owned())),
            },
            ParameterKind::Names => {
                let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
                Ok(names.map(Value::from).collect())
            }
            ParameterKind::Queries => {
                let queries = cql::split_queries(text);
                for query in &queries {
                    cql::parse(query).map_err(|error| ValueError::Syntax(error.within(text, query)))?;
                }
                Ok(queries.into_iter().map(Value::from).collect())
            }
            ParameterKind::Choice { names, aliases } => {
                let text = text.replace('_', "-");
                let alias = aliases.iter().find(|(alias, _)| *alias == text).map(|(_, name)| name);
                match alias.or_else(|| names.iter().find(|name| **name == text)) {
                    Some(name) => Ok(name.as_str().into()),
                    None => Err(expected(format!("one of {}", names.join(", ")))),
                }
            }
        }
    }
}

fn day(day: Option<jiff::civil::Date>) -> Result<Value, ValueError> {
    day.map(|day| day.to_string().into()).ok_or_else(|| ValueError::Expected(period::PERIOD_FORM.to_owned()))
}

impl fmt::Display for ValueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ValueError::Expected(what) => write!(f, "give {what}"),
            ValueError::Syntax(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ValueError {}

/// The request of checked parameters; those that are missing have their defaults.
pub fn request<R: Request>(values: Map<String, Value>) -> Result<R, QuestionError> {
    serde_json::from_value(Value::Object(values)).map_err(|error| QuestionError::Request(error.to_string()))
}

/// The parameters of a request that differ from their defaults, as texts, in the order of the list.
pub fn given(parameters: &[Parameter], request: &Value) -> Vec<(String, String)> {
    let is_given = |parameter: &&Parameter| {
        let value = &request[&parameter.name];
        let is_empty = value.is_null() || value.as_array().is_some_and(Vec::is_empty) && parameter.default.is_none();
        !is_empty && !same(value, parameter.default.as_ref())
    };
    let pair = |parameter: &Parameter| (parameter.name.clone(), parameter.text(&request[&parameter.name]));
    parameters.iter().filter(is_given).map(pair).collect()
}

fn same(value: &Value, default: Option<&Value>) -> bool {
    default.is_some_and(|default| value == default || value.as_f64().is_some_and(|v| Some(v) == default.as_f64()))
}
