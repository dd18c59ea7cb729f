//! The lexicon: every word, lemma, tag and set of features of the corpus, and every combination of
//! them.
//!
//! A *lexeme* is a combination (word, lemma, tag, features); a segment stores one number per token,
//! that of its lexeme. Numbers are assigned in order of first occurrence and never change, so new
//! words do not affect existing segments. The lexicon consists of *lexicon segments*, each with the
//! new strings and lexemes of a batch; small ones are merged.
//!
//! The empty features have the number 0 in every lexicon. A lexicon segment without features does
//! not store the layer and is identical to format version 1.

mod intern;
mod lexicon_segment;
mod strings;

use std::sync::Arc;

pub use intern::Interner;
pub(crate) use lexicon_segment::{LexiconSegment, NewLexiconSegment};
pub use strings::Strings;

use crate::error::Result;

/// An annotation layer of tokens.
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
}

/// The empty features: string 0 of their layer, stored in no segment.
static NO_FEATS: Strings<'static> =
    Strings { first: 0, text: b"\n", starts: &[0, 1], ids: &[0], ranks: &[0], folds: &[0] };

impl Layer {
    /// Number of layers.
    pub const COUNT: usize = 4;
    /// All layers in column order.
    pub const ALL: [Layer; Layer::COUNT] = [Layer::Word, Layer::Lemma, Layer::Tag, Layer::Feats];

    /// The name of the layer in queries and files.
    pub fn name(self) -> &'static str {
        match self {
            Layer::Word => "word",
            Layer::Lemma => "lemma",
            Layer::Tag => "tag",
            Layer::Feats => "feats",
        }
    }

    pub(crate) fn index(self) -> usize {
        self as usize
    }

    /// Built-in strings of a layer.
    fn given(self) -> Option<Strings<'static>> {
        (self == Layer::Feats).then_some(NO_FEATS)
    }

    /// The first number that a segment may assign.
    fn first_number(self) -> u32 {
        self.given().map_or(0, |strings| strings.len())
    }
}

/// The lexicon as it was at one moment.
#[derive(Debug, Clone, Default)]
pub struct Lexicon {
    segments: Vec<Arc<LexiconSegment>>,
}

impl Lexicon {
    pub(crate) fn new(segments: Vec<Arc<LexiconSegment>>) -> Lexicon {
        Lexicon { segments }
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
        let after = self.segments.partition_point(|segment| segment.strings(layer).first() <= id);
        match after.checked_sub(1) {
            Some(index) => self.segments[index].strings(layer).get(id),
            None => "",
        }
    }

    /// The number of a lexeme's word, lemma, tag or features.
    #[inline]
    pub fn of(&self, lexeme: u32, layer: Layer) -> u32 {
        match &self.segments[..] {
            [only] => only.layer(layer).get(lexeme as usize).copied().unwrap_or(0),
            segments => {
                let after = segments.partition_point(|segment| segment.first_lexeme() <= lexeme);
                let segment = after.checked_sub(1).map(|index| &segments[index]);
                segment
                    .and_then(|segment| segment.layer(layer).get((lexeme - segment.first_lexeme()) as usize).copied())
                    .unwrap_or(0)
            }
        }
    }

    /// For each lexeme the number of its word, lemma, tag or features.
    pub fn all_of(&self, layer: Layer) -> Vec<u32> {
        let mut all = Vec::with_capacity(self.lexemes() as usize);
        for segment in &self.segments {
            all.extend_from_slice(segment.layer(layer));
            // A segment without this layer has no strings in it.
            all.resize((segment.first_lexeme() + segment.lexemes()) as usize, 0);
        }
        all
    }

    /// A lexeme's word, lemma, tag or features.
    pub fn text(&self, lexeme: u32, layer: Layer) -> &str {
        self.string(layer, self.of(lexeme, layer))
    }

    /// Appends the lexemes with a given word, lemma, tag or features, ascending.
    pub fn lexemes_with(&self, layer: Layer, id: u32, into: &mut Vec<u32>) {
        for segment in &self.segments {
            segment.lexemes_with(layer, id, into);
        }
    }

    /// The lexeme of these numbers; `None` if the combination does not occur.
    pub fn lexeme(&self, ids: [u32; Layer::COUNT]) -> Option<u32> {
        self.segments.iter().find_map(|segment| segment.lexeme(ids))
    }

    pub(crate) fn verify(&self) -> Result<()> {
        self.segments.iter().try_for_each(|segment| segment.verify())
    }

    /// Opens lexicon segments as a lexicon, for tests.
    #[cfg(test)]
    pub(crate) fn of_segments(paths: &[&std::path::Path]) -> Result<Lexicon> {
        let segments = paths.iter().map(|path| LexiconSegment::open(path).map(Arc::new)).collect::<Result<_>>()?;
        Ok(Lexicon { segments })
    }
}

#[cfg(test)]
mod tests;
