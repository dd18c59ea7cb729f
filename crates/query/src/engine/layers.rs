//! The attributes and features that the tokens of a corpus have.

use super::Engine;
use super::set::layer_of;
use crate::cql::ast::{ATTRIBUTES, Attribute, TokenTest};
use crate::cql::operator::suggest_attribute;
use crate::syntax::{Span, SyntaxError};
use std::collections::{BTreeMap, BTreeSet};
use tidings_index::lexicon::{Layer, Lexicon};
use tidings_model::{LayerKind, feats};

/// Morphological features, each with its values.
pub type Features = BTreeMap<String, BTreeSet<String>>;

/// The maximum number of features, and of values of each. Universal Dependencies has about two hundred features, few of
/// which have more than twenty values; in a corpus with more the rest is not listed.
const MAX_NAMES: usize = 300;
const MAX_VALUES: usize = 100;

impl Engine {
    /// The attributes with values; an empty layer has only the empty string.
    pub fn attributes(&self) -> Vec<&str> {
        attributes_of(self.lexicon())
    }

    /// The features of tokens in all sets; computed on first use.
    pub fn features(&self) -> &Features {
        self.features.get_or_init(|| features_of(self.lexicon()))
    }
}

/// Rejects a layer that the index does not declare.
pub(super) fn check(attribute: Attribute, span: Span, lexicon: &Lexicon) -> Result<(), SyntaxError> {
    let Attribute::Layer(name) = attribute else { return Ok(()) };
    if lexicon.declared().find(name.as_str()).is_some() {
        return Ok(());
    }
    let further = lexicon.declared().iter().map(|(_, declared)| declared.name.as_str());
    let known: Vec<&str> = ATTRIBUTES.iter().flat_map(|(_, names)| names.iter().copied()).chain(further).collect();
    Err(SyntaxError::new(span, format!("unknown attribute {name}")).help(suggest_attribute(name.as_str(), &known)))
}

/// Rejects `%c` and `%d` in a test of a layer of codes: its values differ by case (`NN` and `nn`), so that ignoring it would
/// mix them.
pub(super) fn check_flags(test: &TokenTest, lexicon: &Lexicon) -> Result<(), SyntaxError> {
    let Attribute::Layer(name) = test.attribute else { return Ok(()) };
    let is_code = lexicon.kind(layer_of(test.attribute, lexicon)) == LayerKind::Code;
    if !is_code || !(test.value.caseless || test.value.markless) {
        return Ok(());
    }
    let flags = if test.value.caseless { "case" } else { "diacritics" };
    let message = format!("values of {name} are codes, in which {flags} matters");
    Err(SyntaxError::new(test.span, message).help("leave out %c and %d, or give both spellings: \"nn|NN\""))
}

/// The error of a test of an attribute that no token of the corpus has, to tell "no hits" from "no such annotation".
pub(super) fn absent(test: &TokenTest, lexicon: &Lexicon) -> Option<SyntaxError> {
    let layer = layer_of(test.attribute, lexicon);
    let error = |what: &str| SyntaxError::new(test.span, format!("no token of this corpus has {what}"));
    if lexicon.lexemes() > 0 && lexicon.count(layer) <= 1 && lexicon.string(layer, 0).is_empty() {
        let what = match layer {
            Layer::Word => return None,
            Layer::Lemma => "a lemma",
            Layer::Tag => "a part of speech",
            Layer::Feats => "morphological features",
            Layer::Further(_) => &format!("a value of {}", lexicon.name(layer)),
        };
        return Some(error(what).help(format!("there are {}", attributes_of(lexicon).join(", "))));
    }
    let Attribute::Feature(feature) = test.attribute else { return None };
    let known = features_of(lexicon);
    let is_known = known.is_empty() || known.contains_key(feature.name());
    let names = || known.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
    (!is_known).then(|| error(&format!("the feature {}", feature.name())).help(format!("there are {}", names())))
}

fn attributes_of(lexicon: &Lexicon) -> Vec<&str> {
    let filled = lexicon.layers().filter(|layer| *layer != Layer::Word && lexicon.count(*layer) > 1);
    ["word", "lc"].into_iter().chain(filled.map(|layer| lexicon.name(layer))).collect()
}

fn sets(lexicon: &Lexicon) -> impl Iterator<Item = Layer> {
    lexicon.layers().filter(|layer| lexicon.kind(*layer) == LayerKind::Set)
}

/// The first set in which a token has a feature; `feats` if there is none.
pub(super) fn set_with(feature: &str, lexicon: &Lexicon) -> Layer {
    if lexicon.declared().is_empty() {
        return Layer::Feats;
    }
    let has_feature = |layer: &Layer| {
        let mut found = false;
        for strings in lexicon.strings(*layer) {
            strings.holding(&format!("{feature}="), |_, text| found |= !feats::value(text, feature).is_empty());
        }
        found
    };
    sets(lexicon).find(has_feature).unwrap_or(Layer::Feats)
}

fn features_of(lexicon: &Lexicon) -> Features {
    let mut features = Features::new();
    for strings in sets(lexicon).flat_map(|layer| lexicon.strings(layer)) {
        strings.each(|_, feats| note(feats, &mut features));
    }
    features
}

fn note(feats: &str, features: &mut Features) {
    for (name, values) in feats.split(['|', '+']).filter_map(|pair| pair.split_once('=')) {
        if !features.contains_key(name) {
            if features.len() == MAX_NAMES {
                continue;
            }
            features.insert(name.to_owned(), BTreeSet::new());
        }
        let known = features.get_mut(name).expect("inserted above");
        for value in values.split(',') {
            if known.len() < MAX_VALUES && !known.contains(value) {
                known.insert(value.to_owned());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_collected_up_to_a_bound() {
        let mut features = Features::new();
        note("Case=Acc,Dat|Number=Sing+Case=Gen", &mut features);
        note("", &mut features);
        let values = |name: &str| features[name].iter().map(String::as_str).collect::<Vec<_>>();
        assert_eq!((values("Case"), values("Number")), (vec!["Acc", "Dat", "Gen"], vec!["Sing"]));
        (0..1000).for_each(|number| note(&format!("F{number}=A|Case=C{number}"), &mut features));
        assert_eq!((features.len(), features["Case"].len()), (MAX_NAMES, MAX_VALUES));
    }
}
