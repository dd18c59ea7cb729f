//! Annotation layers beyond word, lemma, tag and features: further attributes of tokens, and spans.

use serde::{Deserialize, Serialize};

/// Declaration of a token attribute: how its values are compared, and what made them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct LayerDeclaration {
    /// The name in queries and files, as in `[syllables>3]`.
    pub name: String,
    /// How values are compared.
    pub kind: LayerKind,
    /// The annotator and its version, or the import that the values come from.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub origin: String,
}

/// Kind of values of a token attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LayerKind {
    /// Text; searches ignore case on request, as for words.
    Text,
    /// Codes, compared exactly.
    Code,
    /// Sets of `Key=value` joined by `|`, as morphological features.
    Set,
    /// Numbers, compared by value.
    Number,
}

impl LayerKind {
    /// All kinds.
    pub const ALL: [LayerKind; 4] = [LayerKind::Text, LayerKind::Code, LayerKind::Set, LayerKind::Number];

    /// The name of the kind in files.
    pub fn name(self) -> &'static str {
        match self {
            LayerKind::Text => "text",
            LayerKind::Code => "code",
            LayerKind::Set => "set",
            LayerKind::Number => "number",
        }
    }

    /// The kind of a name.
    pub fn parse(name: &str) -> Option<LayerKind> {
        LayerKind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// Values of one further attribute for all tokens of a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LayerColumn {
    /// What the values are.
    pub layer: LayerDeclaration,
    /// One value per token of the document, in reading order; empty where the token has none.
    pub values: Vec<String>,
}

/// A stretch of tokens with a name and attributes, as `<quote speaker="…">` or `<ne type="PER">`. Spans may
/// be nested and may overlap.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenSpan {
    /// The name in queries and files.
    pub name: String,
    /// The first token, counted from the start of the document.
    pub start: u32,
    /// The token after the last one; always after `start`.
    pub end: u32,
    /// Names and values of its attributes; names are unique.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attributes: Vec<(String, String)>,
}

/// Attributes that spans of our own layers declare, by the name of the spans. A corpus in which no span has one of them
/// answers queries for it with no hits; an attribute that is neither declared nor present is an error.
pub const DECLARED_SPAN_ATTRIBUTES: &[(&str, &[&str])] =
    &[("foreign", &["lang"]), ("ne", &["name", "type"]), ("quote", &["kind", "speaker", "verb"])];

impl TokenSpan {
    /// The attributes that spans with this name declare, whether or not any span has them.
    pub fn declared_attributes(name: &str) -> &'static [&'static str] {
        DECLARED_SPAN_ATTRIBUTES.iter().find(|(known, _)| *known == name).map_or(&[], |(_, attributes)| attributes)
    }

    /// Creates a span without attributes.
    pub fn new(name: &str, start: u32, end: u32) -> TokenSpan {
        TokenSpan { name: name.to_owned(), start, end, attributes: Vec::new() }
    }

    /// The span with a further attribute, unless the value is empty.
    pub fn with(mut self, name: &str, value: &str) -> TokenSpan {
        if !value.is_empty() {
            self.attributes.push((name.to_owned(), value.to_owned()));
        }
        self
    }

    /// The value of an attribute.
    pub fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The order of spans in files: by start, outer before inner, then by name and attributes.
    pub fn file_order(&self, other: &TokenSpan) -> std::cmp::Ordering {
        (self.start, other.end, &self.name, &self.attributes).cmp(&(
            other.start,
            self.end,
            &other.name,
            &other.attributes,
        ))
    }
}
