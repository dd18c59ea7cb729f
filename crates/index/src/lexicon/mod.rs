//! The lexicon: every word, lemma, tag and set of features that was ever seen, and every combination of them.
//!
//! A *lexeme* is a combination (word, lemma, tag, features); a segment stores one number per token, that of its lexeme. Numbers are
//! given in the order of first appearance and never change, so that segments need not be touched when words are added.
//! The lexicon consists of *segments*, each with what was new in some batch. They are joined as they pile up.
//!
//! Many corpora have no features. The empty features have the number 0 in every lexicon, and a segment none of whose
//! lexemes has features does not store the layer: it has the same bytes as before the layer existed.

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
    /// The word as it stands in the text.
    Word,
    /// Its dictionary form.
    Lemma,
    /// Its part of speech.
    Tag,
    /// Its morphological features.
    Feats,
}

/// The features of a token without any: the string 0 of their layer, which lies in no part.
static NO_FEATS: Strings<'static> =
    Strings { first: 0, text: b"\n", starts: &[0, 1], ids: &[0], ranks: &[0], folds: &[0] };

impl Layer {
    /// Number of layers.
    pub const COUNT: usize = 4;
    /// All of them, in the order of the columns.
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
    parts: Vec<Arc<LexiconSegment>>,
}

impl Lexicon {
    pub(crate) fn new(parts: Vec<Arc<LexiconSegment>>) -> Lexicon {
        Lexicon { parts }
    }

    pub(crate) fn parts(&self) -> &[Arc<LexiconSegment>] {
        &self.parts
    }

    /// Number of lexemes; their numbers are below.
    pub fn lexemes(&self) -> u32 {
        self.parts.last().map_or(0, |part| part.first_lexeme() + part.lexemes())
    }

    /// Number of strings of a layer; their numbers are below.
    pub fn count(&self, layer: Layer) -> u32 {
        let after = |part: &Arc<LexiconSegment>| part.strings(layer).first() + part.strings(layer).len();
        self.parts.last().map_or(layer.first_number(), after)
    }

    /// String tables of a layer: the built-in strings, and one table per segment.
    pub fn strings(&self, layer: Layer) -> impl Iterator<Item = Strings<'_>> {
        layer.given().into_iter().chain(self.parts.iter().map(move |part| part.strings(layer)))
    }

    /// The number of a string; nothing if it never occurred.
    pub fn find(&self, layer: Layer, text: &str) -> Option<u32> {
        self.strings(layer).find_map(|strings| strings.find(text))
    }

    /// The string of a number; empty if there is no such number.
    pub fn string(&self, layer: Layer, id: u32) -> &str {
        let after = self.parts.partition_point(|part| part.strings(layer).first() <= id);
        match after.checked_sub(1) {
            Some(index) => self.parts[index].strings(layer).get(id),
            None => "",
        }
    }

    /// The number of a lexeme's word, lemma, tag or features.
    #[inline]
    pub fn of(&self, lexeme: u32, layer: Layer) -> u32 {
        match &self.parts[..] {
            [only] => only.layer(layer).get(lexeme as usize).copied().unwrap_or(0),
            parts => {
                let after = parts.partition_point(|part| part.first_lexeme() <= lexeme);
                let part = after.checked_sub(1).map(|index| &parts[index]);
                part.and_then(|part| part.layer(layer).get((lexeme - part.first_lexeme()) as usize).copied())
                    .unwrap_or(0)
            }
        }
    }

    /// For each lexeme the number of its word, lemma, tag or features.
    pub fn all_of(&self, layer: Layer) -> Vec<u32> {
        let mut all = Vec::with_capacity(self.lexemes() as usize);
        for part in &self.parts {
            all.extend_from_slice(part.layer(layer));
            // A part that does not speak of the layer has nothing in it.
            all.resize((part.first_lexeme() + part.lexemes()) as usize, 0);
        }
        all
    }

    /// A lexeme's word, lemma, tag or features.
    pub fn text(&self, lexeme: u32, layer: Layer) -> &str {
        self.string(layer, self.of(lexeme, layer))
    }

    /// Appends the lexemes with a given word, lemma, tag or features, ascending.
    pub fn lexemes_with(&self, layer: Layer, id: u32, into: &mut Vec<u32>) {
        for part in &self.parts {
            part.lexemes_with(layer, id, into);
        }
    }

    /// The lexeme of these numbers; nothing if they never came together.
    pub fn lexeme(&self, ids: [u32; Layer::COUNT]) -> Option<u32> {
        self.parts.iter().find_map(|part| part.lexeme(ids))
    }

    pub(crate) fn verify(&self) -> Result<()> {
        self.parts.iter().try_for_each(|part| part.verify())
    }

    /// Opens a part as a lexicon of its own, for tests.
    #[cfg(test)]
    pub(crate) fn of_parts(paths: &[&std::path::Path]) -> Result<Lexicon> {
        let parts = paths.iter().map(|path| LexiconSegment::open(path).map(Arc::new)).collect::<Result<_>>()?;
        Ok(Lexicon { parts })
    }
}

#[cfg(test)]
mod tests;
