//! The lexicon: every word, lemma, tag, set of features and value of a further layer of the corpus, and every
//! combination of them.
//!
//! A *lexeme* is a combination (word, lemma, tag, features, further layers); a segment stores one number per token,
//! that of its lexeme. Numbers are assigned in order of first occurrence and never change, so new
//! words do not affect existing segments. The lexicon consists of *lexicon segments*, each with the
//! new strings and lexemes of a batch; small ones are merged.
//!
//! The manifest declares further layers. The empty string of features and of further layers has the number 0 in every
//! lexicon. A lexicon segment in which no lexeme has a value of such a layer does not store it: one without features is
//! identical to format version 1.

mod intern;
mod layer;
mod lexicon_segment;
mod strings;

use std::sync::Arc;

pub use intern::Interner;
pub use layer::{DeclaredLayer, DeclaredLayers, Layer};
pub(crate) use lexicon_segment::{LexiconSegment, NewLexiconSegment};
pub use strings::Strings;

use tidings_model::LayerKind;

use crate::error::Result;

/// The lexicon as it was at one moment.
#[derive(Debug, Clone, Default)]
pub struct Lexicon {
    segments: Vec<Arc<LexiconSegment>>,
    layers: Arc<DeclaredLayers>,
}

impl Lexicon {
    pub(crate) fn new(segments: Vec<Arc<LexiconSegment>>, layers: DeclaredLayers) -> Lexicon {
        Lexicon { segments, layers: Arc::new(layers) }
    }

    /// Layers besides those of every index.
    pub fn declared(&self) -> &DeclaredLayers {
        &self.layers
    }

    /// All layers, those of every index first.
    pub fn layers(&self) -> impl Iterator<Item = Layer> {
        Layer::BASE.into_iter().chain(self.layers.iter().map(|(layer, _)| layer))
    }

    /// The layer of a name.
    pub fn layer(&self, name: &str) -> Option<Layer> {
        self.layers().find(|layer| self.name(*layer) == name)
    }

    /// The name of a layer in queries and files.
    pub fn name(&self, layer: Layer) -> &str {
        match layer {
            Layer::Word => "word",
            Layer::Lemma => "lemma",
            Layer::Tag => "tag",
            Layer::Feats => "feats",
            Layer::Further(_) => self.layers.get(layer).map_or("", |declared| &declared.name),
        }
    }

    /// The kind of values of a layer.
    pub fn kind(&self, layer: Layer) -> LayerKind {
        match layer {
            Layer::Word | Layer::Lemma => LayerKind::Text,
            Layer::Tag => LayerKind::Code,
            Layer::Feats => LayerKind::Set,
            Layer::Further(_) => self.layers.get(layer).map_or(LayerKind::Code, |declared| declared.kind),
        }
    }

    pub(crate) fn segments(&self) -> &[Arc<LexiconSegment>] {
        &self.segments
    }

    /// Number of lexemes; their numbers are below.
    pub fn lexemes(&self) -> u32 {
        self.segments.last().map_or(0, |segment| segment.first_lexeme() + segment.lexemes())
    }

    /// Number of strings of a layer; their numbers are below.
    pub fn count(&self, layer: Layer) -> u32 {
        let after = |segment: &Arc<LexiconSegment>| segment.strings(layer).first() + segment.strings(layer).len();
        self.segments.last().map_or(layer.first_number(), after)
    }

    /// String tables of a layer: the built-in strings, and one table per segment.
    pub fn strings(&self, layer: Layer) -> impl Iterator<Item = Strings<'_>> {
        layer.given().into_iter().chain(self.segments.iter().map(move |segment| segment.strings(layer)))
    }

    /// The number of a string; `None` if it does not occur.
    pub fn find(&self, layer: Layer, text: &str) -> Option<u32> {
        self.strings(layer).find_map(|strings| strings.find(text))
    }

    /// The string of a number; empty if there is no such number.
    pub fn string(&self, layer: Layer, id: u32) -> &str {
        if id < layer.first_number() {
            return "";
        }
        let after = self.segments.partition_point(|segment| segment.strings(layer).first() <= id);
        match after.checked_sub(1) {
            Some(index) => self.segments[index].strings(layer).get(id),
            None => "",
        }
    }

    /// The number of a lexeme's string in a layer.
    #[inline]
    pub fn of(&self, lexeme: u32, layer: Layer) -> u32 {
        match &self.segments[..] {
            [only] => only.layer(layer).get(lexeme as usize).unwrap_or(0),
            segments => {
                let after = segments.partition_point(|segment| segment.first_lexeme() <= lexeme);
                let segment = after.checked_sub(1).map(|index| &segments[index]);
                segment
                    .and_then(|segment| segment.layer(layer).get((lexeme - segment.first_lexeme()) as usize))
                    .unwrap_or(0)
            }
        }
    }

    /// For each lexeme the number of its string in a layer.
    pub fn all_of(&self, layer: Layer) -> Vec<u32> {
        let mut all = Vec::with_capacity(self.lexemes() as usize);
        for segment in &self.segments {
            all.extend_from_slice(segment.layer(layer).all());
            // A segment without this layer has no strings in it.
            all.resize((segment.first_lexeme() + segment.lexemes()) as usize, 0);
        }
        all
    }

    /// A lexeme's string in a layer.
    pub fn text(&self, lexeme: u32, layer: Layer) -> &str {
        self.string(layer, self.of(lexeme, layer))
    }

    /// Appends the lexemes with a given string in a layer, ascending.
    pub fn lexemes_with(&self, layer: Layer, id: u32, into: &mut Vec<u32>) {
        for segment in &self.segments {
            segment.lexemes_with(layer, id, into);
        }
    }

    /// The lexeme of the numbers of its strings, by layer; further layers that are left out are empty. `None` if the
    /// combination does not occur.
    pub fn lexeme(&self, ids: &[u32]) -> Option<u32> {
        self.segments.iter().find_map(|segment| segment.lexeme(ids))
    }

    pub(crate) fn verify(&self) -> Result<()> {
        self.segments.iter().try_for_each(|segment| segment.verify())
    }

    /// Returns an error if damaged bytes were read.
    pub(crate) fn intact(&self) -> Result<()> {
        self.segments.iter().try_for_each(|segment| segment.intact())
    }

    /// Opens lexicon segments as a lexicon, for tests.
    #[cfg(test)]
    pub(crate) fn of_segments(paths: &[&std::path::Path]) -> Result<Lexicon> {
        Lexicon::of_layers(paths, DeclaredLayers::default())
    }

    #[cfg(test)]
    pub(crate) fn of_layers(paths: &[&std::path::Path], layers: DeclaredLayers) -> Result<Lexicon> {
        let open = |path: &&std::path::Path| LexiconSegment::open(path, &layers).map(Arc::new);
        let segments = paths.iter().map(open).collect::<Result<_>>()?;
        Ok(Lexicon::new(segments, layers))
    }
}

#[cfg(test)]
mod tests;
