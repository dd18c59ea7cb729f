//! The attributes of tokens.
//!
//! An index stores words, lemmas, tags, features and the further layers that its manifest declares. Other attributes are
//! derived: `lc` is the word in lower case, and a name with a capital, such as `Case`, is one feature of a set.

use super::name::Name;
use crate::syntax::CompiledMatcher;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use tidings_model::feats;

/// An attribute of tokens. In a corpus without lemmas, tags or features these are empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Attribute {
    /// `word`: the word as written.
    Word,
    /// `lc`: the word in lower case.
    Lc,
    /// `lemma`: the dictionary form.
    Lemma,
    /// `tag`, also `pos`: the part of speech.
    Tag,
    /// `feats`: all morphological features, `Case=Gen|Number=Plur`.
    Feats,
    /// `Case`, `Number`: one feature.
    Feature(Feature),
    /// A layer that the index declares. Whether it does is known only when a query is compiled.
    Layer(Name),
}

/// The attributes with their names in queries, the canonical one first. For features see [`Feature`].
pub const ATTRIBUTES: &[(Attribute, &[&str])] = &[
    (Attribute::Word, &["word"]),
    (Attribute::Lc, &["lc", "lower"]),
    (Attribute::Lemma, &["lemma"]),
    (Attribute::Tag, &["tag", "pos"]),
    (Attribute::Feats, &["feats"]),
];

impl Attribute {
    /// The attribute of a name.
    pub fn named(name: &str) -> Option<Attribute> {
        let known = ATTRIBUTES.iter().find(|(_, names)| names.contains(&name)).map(|(attribute, _)| *attribute);
        let layer = || Name::new(name).filter(|_| name.starts_with(|c: char| c.is_ascii_lowercase()));
        known.or_else(|| Feature::named(name).map(Attribute::Feature)).or_else(|| layer().map(Attribute::Layer))
    }

    /// The names that are accepted, for error messages.
    pub fn expected() -> String {
        let names: Vec<&str> = ATTRIBUTES.iter().map(|(_, names)| names[0]).collect();
        format!("one of {}, a feature such as Case, or a layer of the corpus", names.join(", "))
    }

    /// The canonical name.
    pub fn name(&self) -> &str {
        match self {
            Attribute::Feature(feature) => feature.name(),
            Attribute::Layer(name) => name.as_str(),
            _ => ATTRIBUTES.iter().find(|(attribute, _)| attribute == self).map_or("", |(_, names)| names[0]),
        }
    }

    /// The value of the attribute, derived from the string that the index stores.
    pub fn value<'s>(&self, stored: &'s str) -> Cow<'s, str> {
        match self {
            Attribute::Lc => Cow::Owned(stored.to_lowercase()),
            Attribute::Feature(feature) => feats::value(stored, feature.name()),
            Attribute::Word | Attribute::Lemma | Attribute::Tag | Attribute::Feats | Attribute::Layer(_) => {
                Cow::Borrowed(stored)
            }
        }
    }

    /// Returns whether several stored strings may have the same value.
    pub(crate) fn is_derived(&self) -> bool {
        matches!(self, Attribute::Lc | Attribute::Feature(_))
    }

    /// Returns whether a value matches. Of several values of a feature (`Case=Acc,Dat`) one is enough; a token without the
    /// feature never matches.
    pub(crate) fn fits(&self, matcher: &CompiledMatcher, value: &str) -> bool {
        match self {
            Attribute::Feature(_) => {
                let mut each = value.split([',', '+']);
                !value.is_empty() && (matcher.matches(value) || each.any(|one| one != value && matcher.matches(one)))
            }
            _ => matcher.matches(value),
        }
    }

    /// Returns whether two tokens have the same value. Two tokens without a feature do not agree.
    pub(crate) fn agrees(&self, value: &str, other: &str) -> bool {
        value == other && !(matches!(self, Attribute::Feature(_)) && value.is_empty())
    }
}

impl<'de> Deserialize<'de> for Attribute {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Attribute, D::Error> {
        let name = <Cow<'_, str>>::deserialize(deserializer)?;
        Attribute::named(&name).ok_or_else(|| serde::de::Error::custom(format!("give {}", Attribute::expected())))
    }
}

impl JsonSchema for Attribute {
    fn schema_name() -> Cow<'static, str> {
        "Attribute".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names: Vec<&str> = ATTRIBUTES.iter().map(|(_, names)| names[0]).collect();
        let pattern = r"^([a-z][A-Za-z0-9_]{0,31}|[A-Z][A-Za-z0-9]*(\[[a-z0-9]+\])?)$";
        json_schema!({ "type": "string", "format": "attribute", "pattern": pattern, "examples": names })
    }
}

impl Serialize for Attribute {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// The name of a morphological feature, such as `Case` or `Number[psor]`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Feature {
    /// ASCII, padded with zeros.
    name: [u8; feats::MAX_NAME_BYTES],
}

impl Feature {
    /// The feature of a name that starts with a capital. The name of another attribute with a capital, such as `Lemma`, is
    /// rejected: it is a typo.
    pub fn named(name: &str) -> Option<Feature> {
        let is_attribute = || {
            let lower = name.to_ascii_lowercase();
            ATTRIBUTES.iter().any(|(_, names)| names.contains(&lower.as_str()))
        };
        if !feats::is_name(name) || is_attribute() {
            return None;
        }
        let mut feature = Feature { name: [0; feats::MAX_NAME_BYTES] };
        feature.name[..name.len()].copy_from_slice(name.as_bytes());
        Some(feature)
    }

    /// The name.
    pub fn name(&self) -> &str {
        let end = self.name.iter().position(|byte| *byte == 0).unwrap_or(self.name.len());
        std::str::from_utf8(&self.name[..end]).unwrap_or_default()
    }
}

impl fmt::Debug for Feature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::ValueMatcher;

    #[test]
    fn names_with_capitals_are_features_unless_they_are_names_of_attributes() {
        for name in ["Case", "Number[psor]", "NumType", "lc", "feats"] {
            assert_eq!(Attribute::named(name).map(|attribute| attribute.name().to_owned()).as_deref(), Some(name));
        }
        assert_eq!(Attribute::named("pos"), Some(Attribute::Tag));
        let layer = Attribute::named("syllables").expect("it may be a layer");
        assert!(matches!(layer, Attribute::Layer(_)) && layer.name() == "syllables");
        for name in ["Lemma", "POS", "Feats", "Case[", "Number[Psor]", "Größe", "a b", ""] {
            assert_eq!(Attribute::named(name), None, "{name}");
        }
        assert_eq!(Attribute::named(&format!("C{}", "x".repeat(feats::MAX_NAME_BYTES))), None, "too long");
    }

    #[test]
    fn one_of_several_values_is_enough_and_a_missing_value_never_matches() {
        let case = Attribute::named("Case").unwrap();
        let fits = |pattern: &str, value: &str| case.fits(&ValueMatcher::regex(pattern).compile().unwrap(), value);
        assert!(
            fits("Dat", "Acc,Dat")
                && fits("Acc,Dat", "Acc,Dat")
                && fits("Gen|Dat", "Gen+Nom")
                && fits("Nom", "Gen+Nom")
        );
        assert!(!fits(".*", "") && !fits("", "") && !fits("Da", "Acc,Dat"));
        assert!(case.agrees("Gen", "Gen") && !case.agrees("", "") && Attribute::Tag.agrees("", ""));
    }
}
