//! Hits in their context (keyword in context), and their order.

use super::LinePlace;
use crate::cql::Attribute;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Maximum tokens on each side of a hit.
pub const MAX_CONTEXT: u32 = 200;

/// A hit in its context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// The id of the document.
    pub document: String,
    /// The fields of the document that were asked for.
    pub fields: BTreeMap<String, String>,
    /// The first token of the hit, counted in the document from 0.
    pub position: u32,
    /// The tokens before the hit.
    pub left: Vec<KwicToken>,
    /// The hit.
    pub node: Vec<KwicToken>,
    /// The tokens behind the hit.
    pub right: Vec<KwicToken>,
}

/// Tokens as they stand in the text, on one line.
pub fn text_of(tokens: &[KwicToken]) -> String {
    let mut text = String::new();
    for token in tokens {
        text.extend(token.word.chars().map(|c| if c.is_control() { ' ' } else { c }));
        if token.space_after {
            text.push(' ');
        }
    }
    text
}

answer! {
    /// A token of a line.
    #[derive(Eq, serde::Deserialize)]
    pub struct KwicToken {
        /// The form in the text.
        pub word: String,
        /// The lemma; missing if the corpus has none.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        pub lemma: String,
        /// The part of speech; missing if the corpus has none.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        pub tag: String,
        /// The morphological features; missing if it has none.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        pub feats: String,
        /// The values of further layers of the corpus by name; missing if it has none.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        pub layers: BTreeMap<String, String>,
        /// Whether a blank follows.
        pub space_after: bool,
    }
}

impl KwicToken {
    /// The value of an attribute.
    fn value(&self, attribute: Attribute) -> String {
        let stored = match attribute {
            Attribute::Word | Attribute::Lc => &self.word,
            Attribute::Lemma => &self.lemma,
            Attribute::Tag => &self.tag,
            Attribute::Feats | Attribute::Feature(_) => &self.feats,
            Attribute::Layer(name) => return self.layers.get(name.as_str()).cloned().unwrap_or_default(),
        };
        attribute.value(stored).into_owned()
    }
}

/// A key by which lines are sorted. Words compare in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SortKey {
    /// The words before the hit, the nearest first.
    Left,
    /// The words of the hit.
    Node,
    /// The words behind the hit.
    Right,
    /// An attribute of a token beside the hit, or of those of the hit: `left2`, `right1.lemma`, `node.tag`.
    Token(LinePlace, Attribute),
    /// Sentences that are good examples first.
    Good,
    /// A field of the document, such as its date.
    Field(String),
}

/// Sorts lines by one key after the other; what is equal keeps its order.
pub fn sort_lines(lines: &mut [Line], keys: &[SortKey]) {
    lines.sort_by(|a, b| {
        keys.iter().map(|key| key.compare(a, b)).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    });
}

impl SortKey {
    /// The key of a name: `left`, `node`, `right`, `good`, a token as in `left2` or `1R.lemma`, or a field of the document.
    pub fn named(name: &str) -> SortKey {
        match (name, LinePlace::with_attribute(name)) {
            ("left", _) => SortKey::Left,
            ("right", _) => SortKey::Right,
            ("node", _) => SortKey::Node,
            ("good", _) => SortKey::Good,
            (_, Some((place, attribute))) => SortKey::Token(place, attribute.unwrap_or(Attribute::Lc)),
            (field, None) => SortKey::Field(field.to_owned()),
        }
    }

    /// Its name.
    pub fn name(&self) -> Cow<'_, str> {
        match self {
            SortKey::Left => "left".into(),
            SortKey::Right => "right".into(),
            SortKey::Node => "node".into(),
            SortKey::Good => "good".into(),
            SortKey::Token(place, Attribute::Lc) if *place != LinePlace::Node => place.name().into(),
            SortKey::Token(place, attribute) => format!("{}.{}", place.name(), attribute.name()).into(),
            SortKey::Field(field) => field.into(),
        }
    }

    /// Whether it looks at the text, and not only at what is known about the document.
    pub fn is_of_text(&self) -> bool {
        !matches!(self, SortKey::Field(_))
    }

    fn compare(&self, a: &Line, b: &Line) -> Ordering {
        fn lower(token: &KwicToken) -> String {
            token.word.to_lowercase()
        }
        match self {
            SortKey::Left => a.left.iter().rev().map(lower).cmp(b.left.iter().rev().map(lower)),
            SortKey::Node => a.node.iter().map(lower).cmp(b.node.iter().map(lower)),
            SortKey::Right => a.right.iter().map(lower).cmp(b.right.iter().map(lower)),
            SortKey::Token(place, attribute) => {
                let values = |line: &Line| -> Vec<String> {
                    let tokens = match place {
                        LinePlace::Node => line.node.iter().collect(),
                        LinePlace::Left(n) => Vec::from_iter(line.left.iter().rev().nth(*n as usize - 1)),
                        LinePlace::Right(n) => Vec::from_iter(line.right.get(*n as usize - 1)),
                    };
                    tokens.into_iter().map(|token| token.value(*attribute)).collect()
                };
                values(a).cmp(&values(b))
            }
            // Depends on the whole corpus: the lines keep their order.
            SortKey::Good => Ordering::Equal,
            SortKey::Field(name) => a.fields.get(name).cmp(&b.fields.get(name)),
        }
    }
}

impl Serialize for SortKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.name())
    }
}

impl<'de> Deserialize<'de> for SortKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<SortKey, D::Error> {
        Ok(SortKey::named(&<Cow<'_, str>>::deserialize(deserializer)?))
    }
}

impl JsonSchema for SortKey {
    fn schema_name() -> Cow<'static, str> {
        "SortKey".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "examples": ["left", "right", "node", "left2", "good", "date"] })
    }
}

/// The lot of a hit: a sample of n hits is the n with the lowest lots.
///
/// It depends on nothing but the seed and the hit, so that the same sample is drawn however the corpus
/// is cut into segments, and a larger sample contains the smaller one.
pub fn sample_rank(seed: u64, document: &str, position: u32) -> u64 {
    xxh3_64_with_seed(document.as_bytes(), seed ^ (u64::from(position) << 17).wrapping_mul(0x9E37_79B9_7F4A_7C15))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(left: &str, node: &str, right: &str) -> Line {
        let tokens = |text: &str| {
            let word = |word: &str| KwicToken {
                word: word.into(),
                lemma: String::new(),
                tag: String::new(),
                feats: String::new(),
                layers: BTreeMap::new(),
                space_after: true,
            };
            text.split_whitespace().map(word).collect()
        };
        Line {
            document: "d".into(),
            fields: BTreeMap::new(),
            position: 0,
            left: tokens(left),
            node: tokens(node),
            right: tokens(right),
        }
    }

    #[test]
    fn the_left_context_is_sorted_from_the_hit_outwards() {
        let mut lines = [line("a c", "x", "1"), line("z B", "x", "2"), line("a b", "X", "3")];
        sort_lines(&mut lines, &[SortKey::Left]);
        let rights: Vec<&str> = lines.iter().map(|line| line.right[0].word.as_str()).collect();
        assert_eq!(rights, ["3", "2", "1"]);
    }

    #[test]
    fn lots_differ_between_hits_and_between_seeds() {
        let lots: std::collections::BTreeSet<u64> =
            (0..3).flat_map(|seed| (0..100).map(move |position| sample_rank(seed, "d", position))).collect();
        assert_eq!(lots.len(), 300);
    }
}
