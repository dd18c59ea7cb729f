//! Layers: the attributes of tokens, four of every index and further ones that its manifest declares.

use serde::{Deserialize, Serialize};
use tidings_model::{LayerDeclaration, LayerKind};

use super::Strings;
use crate::checked::CheckedSlice;
use crate::error::{Error, Result};

/// An annotation layer of tokens. Further layers are numbered in the order in which an index declares them; see
/// [`Lexicon::layer`](super::Lexicon::layer).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Layer {
    /// Word form.
    Word,
    /// Lemma.
    Lemma,
    /// Part-of-speech tag.
    Tag,
    /// Morphological features.
    Feats,
    /// A layer that the manifest declares, by its number there.
    Further(u8),
}

/// The empty string: number 0 of features and further layers, stored in no segment.
const EMPTY: Strings<'static> = Strings {
    first: 0,
    text: CheckedSlice::plain(b"\n"),
    starts: CheckedSlice::plain(&[0, 1]),
    ids: CheckedSlice::plain(&[0]),
    ranks: CheckedSlice::plain(&[0]),
    folds: CheckedSlice::plain(&[0]),
};

impl Layer {
    /// Number of the layers of every index.
    pub const COUNT: usize = 4;
    /// The layers of every index in column order.
    pub const BASE: [Layer; Layer::COUNT] = [Layer::Word, Layer::Lemma, Layer::Tag, Layer::Feats];

    /// Its number: those of every index come first.
    pub fn index(self) -> usize {
        match self {
            Layer::Word => 0,
            Layer::Lemma => 1,
            Layer::Tag => 2,
            Layer::Feats => 3,
            Layer::Further(number) => Layer::COUNT + usize::from(number),
        }
    }

    /// Built-in strings of a layer.
    pub(super) fn given(self) -> Option<Strings<'static>> {
        self.is_optional().then_some(EMPTY)
    }

    /// The first number that a segment may assign.
    pub(super) fn first_number(self) -> u32 {
        self.given().map_or(0, |strings| strings.len())
    }

    /// Returns true if a lexicon segment without values does not store the layer.
    pub(super) fn is_optional(self) -> bool {
        self >= Layer::Feats
    }
}

/// Names of attributes that every index has, or that are derived from them.
const RESERVED: [&str; 7] = ["word", "lc", "lower", "lemma", "tag", "pos", "feats"];
/// Maximum length of a name.
const MAX_NAME_BYTES: usize = 32;
/// Maximum number of origins that are recorded for a layer.
const MAX_ORIGINS: usize = 32;

/// A further layer of an index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeclaredLayer {
    /// Name in queries and files.
    pub name: String,
    /// How values are compared.
    pub kind: LayerKind,
    /// Annotators with their versions, or imports, that the values come from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub origins: Vec<String>,
}

impl DeclaredLayer {
    /// The declaration of a document's column of this layer.
    pub fn declaration(&self) -> LayerDeclaration {
        LayerDeclaration { name: self.name.clone(), kind: self.kind, origin: self.origins.join(", ") }
    }
}

/// Further layers of an index, in the order of their numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DeclaredLayers(Vec<DeclaredLayer>);

impl DeclaredLayers {
    /// Maximum number of further layers.
    pub const MAX: usize = 32;

    /// Returns true if there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Layers with their declarations.
    pub fn iter(&self) -> impl Iterator<Item = (Layer, &DeclaredLayer)> {
        (0..=u8::MAX).map(Layer::Further).zip(&self.0)
    }

    /// The declaration of a layer; `None` for those of every index.
    pub fn get(&self, layer: Layer) -> Option<&DeclaredLayer> {
        match layer {
            Layer::Further(number) => self.0.get(usize::from(number)),
            _ => None,
        }
    }

    /// The layer of a name.
    pub fn find(&self, name: &str) -> Option<Layer> {
        self.iter().find(|(_, declared)| declared.name == name).map(|(layer, _)| layer)
    }

    /// Number of layers, those of every index included.
    pub(crate) fn all(&self) -> usize {
        Layer::COUNT + self.0.len()
    }

    /// Returns true if names are valid and unique and there are not too many.
    pub(crate) fn is_sound(&self) -> bool {
        let is_first = |index: usize| self.0[..index].iter().all(|known| known.name != self.0[index].name);
        self.0.len() <= DeclaredLayers::MAX
            && self.0.iter().enumerate().all(|(index, layer)| is_name(&layer.name) && is_first(index))
    }

    /// Declares a layer, or finds it and notes its origin.
    pub(crate) fn declare(&mut self, declaration: &LayerDeclaration) -> Result<Layer> {
        let LayerDeclaration { name, kind, origin } = declaration;
        let layer = match self.find(name) {
            Some(layer) => layer,
            None if !is_name(name) => return Err(Error::LayerName { name: name.clone() }),
            None if self.0.len() == DeclaredLayers::MAX => {
                return Err(Error::TooManyLayers { name: name.clone(), limit: DeclaredLayers::MAX });
            }
            None => {
                self.0.push(DeclaredLayer { name: name.clone(), kind: *kind, origins: Vec::new() });
                Layer::Further(self.0.len() as u8 - 1)
            }
        };
        let known = &mut self.0[layer.index() - Layer::COUNT];
        if known.kind != *kind {
            return Err(Error::LayerKind {
                name: name.clone(),
                known: known.kind.name(),
                known_origin: known.origins.join(", "),
                found: kind.name(),
                found_origin: origin.clone(),
            });
        }
        if !origin.is_empty() && known.origins.len() < MAX_ORIGINS && !known.origins.contains(origin) {
            known.origins.push(origin.clone());
        }
        Ok(layer)
    }
}

/// Returns true if a further layer may have a name. Names with a capital are features of sets.
fn is_name(name: &str) -> bool {
    name.len() <= MAX_NAME_BYTES
        && name.starts_with(|char: char| char.is_ascii_lowercase())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && !RESERVED.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn declaration(name: &str, kind: LayerKind, origin: &str) -> LayerDeclaration {
        LayerDeclaration { name: name.to_owned(), kind, origin: origin.to_owned() }
    }

    #[test]
    fn a_layer_has_one_kind_and_several_origins() {
        let mut layers = DeclaredLayers::default();
        let first = layers.declare(&declaration("syllables", LayerKind::Number, "toy 1")).expect("new");
        assert_eq!(layers.declare(&declaration("syllables", LayerKind::Number, "toy 2")).expect("known"), first);
        assert_eq!(layers.declare(&declaration("sense", LayerKind::Code, "")).expect("new"), Layer::Further(1));
        assert_eq!(layers.get(first).map(|layer| layer.origins.join("; ")).as_deref(), Some("toy 1; toy 2"));
        let error = layers.declare(&declaration("syllables", LayerKind::Text, "x 3")).expect_err("another kind");
        let message = error.to_string();
        assert!(message.contains("syllables") && message.contains("number (toy 1, toy 2)"), "{message}");
        assert!(message.contains("text (x 3)"), "{message}");
        assert!(layers.is_sound());
    }

    #[test]
    fn names_of_other_attributes_and_too_many_layers_are_errors() {
        let mut layers = DeclaredLayers::default();
        for name in ["word", "pos", "Case", "", "a b", "é", "9a", &"a".repeat(33)] {
            assert!(layers.declare(&declaration(name, LayerKind::Text, "")).is_err(), "{name}");
        }
        for number in 0..DeclaredLayers::MAX {
            layers.declare(&declaration(&format!("l{number}"), LayerKind::Text, "")).expect("below the limit");
        }
        let error = layers.declare(&declaration("more", LayerKind::Text, "")).expect_err("too many").to_string();
        assert!(error.contains("more than 32"), "{error}");
    }
}
