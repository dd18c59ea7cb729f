//! The lexicon: every word, lemma, tag and set of features that was ever seen, and every combination of them.
//!
//! A *lexeme* is a combination (word, lemma, tag, features); a segment stores one number per token, that of its lexeme. Numbers are
//! given in the order of first appearance and never change, so that segments need not be touched when words are added.
//! The lexicon lies in *parts*: each holds what was new in some batch. Parts are merged as they pile up.
//!
//! Many corpora have no features. So the features of a token without any have a number that every lexicon knows, 0, and a
//! part of which no lexeme has any says nothing about them: it is as large, and the same, as before there were features.

mod intern;
mod part;
mod strings;

use std::sync::Arc;

pub use intern::Interner;
pub(crate) use part::{NewPart, Part};
pub use strings::Strings;

use crate::error::Result;

/// What a token can be asked about.
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
    /// How many there are.
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

    /// What every lexicon knows of a layer, before its first part.
    fn given(self) -> Option<Strings<'static>> {
        (self == Layer::Feats).then_some(NO_FEATS)
    }

    /// The first number that a part may give.
    fn first_number(self) -> u32 {
        self.given().map_or(0, |strings| strings.len())
    }
}

/// The lexicon as it was at one moment.
#[derive(Debug, Clone, Default)]
pub struct Lexicon {
    parts: Vec<Arc<Part>>,
}

impl Lexicon {
    pub(crate) fn new(parts: Vec<Arc<Part>>) -> Lexicon {
        Lexicon { parts }
    }

    pub(crate) fn parts(&self) -> &[Arc<Part>] {
        &self.parts
    }

    /// How many lexemes it holds; their numbers are below.
    pub fn lexemes(&self) -> u32 {
        self.parts.last().map_or(0, |part| part.first_lexeme() + part.lexemes())
    }

    /// How many strings a layer has; their numbers are below.
    pub fn count(&self, layer: Layer) -> u32 {
        let after = |part: &Arc<Part>| part.strings(layer).first() + part.strings(layer).len();
        self.parts.last().map_or(layer.first_number(), after)
    }

    /// The tables of strings of a layer: one per part, and what every lexicon knows.
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
        let parts = paths.iter().map(|path| Part::open(path).map(Arc::new)).collect::<Result<_>>()?;
        Ok(Lexicon { parts })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn add(lexicon: &Lexicon, lines: &[&str], path: &Path) -> Vec<u32> {
        let mut interner = Interner::new(lexicon.clone());
        let ids = lines.iter().map(|line| interner.lexeme(line)).collect();
        if let Some(new) = interner.finish() {
            new.write(path).expect("written");
        }
        ids
    }

    #[test]
    fn numbers_never_change_however_the_lexicon_is_cut_into_parts() {
        let folder = tempfile::tempdir().expect("a folder");
        let paths: Vec<_> = (0..4).map(|n| folder.path().join(format!("{n}.lex"))).collect();
        let first = ["The\tthe\tDET", "cat\tcat\tNOUN", "the\tthe\tDET", "The\tthe\tDET", "&lt;b\t\t"];
        let second = ["cats\tcat\tNOUN", "cat\tcat\tVERB", "The\tthe\tDET", "<b", "Été\tété\tNOUN"];
        assert_eq!(add(&Lexicon::default(), &first, &paths[0]), [0, 1, 2, 0, 3]);
        let one = Lexicon::of_parts(&[&paths[0]]).expect("opened");
        assert_eq!(add(&one, &second, &paths[1]), [4, 5, 0, 3, 6], "known ones keep their numbers");
        let two = Lexicon::of_parts(&[&paths[0], &paths[1]]).expect("opened");
        NewPart::join(two.parts()).write(&paths[2]).expect("written");
        let joined = Lexicon::of_parts(&[&paths[2]]).expect("opened");
        for lexicon in [&two, &joined] {
            assert_eq!((lexicon.lexemes(), lexicon.count(Layer::Word), lexicon.count(Layer::Tag)), (7, 6, 4));
            assert_eq!(lexicon.text(5, Layer::Word), "cat");
            assert_eq!(lexicon.text(5, Layer::Tag), "VERB");
            assert_eq!(lexicon.text(3, Layer::Word), "<b");
            let mut cats = Vec::new();
            lexicon.lexemes_with(Layer::Lemma, lexicon.find(Layer::Lemma, "cat").expect("known"), &mut cats);
            assert_eq!(cats, [1, 4, 5]);
            let folded: Vec<u32> =
                lexicon.strings(Layer::Word).flat_map(|strings| strings.with_key("ete").collect::<Vec<_>>()).collect();
            assert_eq!(folded.len(), 1);
            assert_eq!(lexicon.string(Layer::Word, folded[0]), "Été");
            let mut found = Vec::new();
            lexicon.strings(Layer::Word).for_each(|strings| strings.with_prefix("ca", |id, _| found.push(id)));
            lexicon.strings(Layer::Word).for_each(|strings| strings.holding("at", |id, _| found.push(id)));
            assert_eq!(found.len(), 4);
            assert_eq!(lexicon.find(Layer::Word, "dog"), None);
            lexicon.verify().expect("sound");
        }
    }

    #[test]
    fn features_come_when_they_come() {
        let folder = tempfile::tempdir().expect("a folder");
        let paths: Vec<_> = (0..6).map(|n| folder.path().join(format!("{n}.lex"))).collect();
        let version = |path: &Path| std::fs::read(path).expect("written")[16];
        let batches: [(&[&str], &[u32]); 4] = [
            (&["cat\tcat\tNOUN", "dog"], &[0, 1]),
            (&["cat\tcat\tNOUN\tNumber=Sing", "cat\tcat\tNOUN\t", "a"], &[2, 0, 3]),
            (&["the\tthe\tDET", "dog"], &[4, 1]),
            (
                &["cats\tcat\tNOUN\tNumber=Plur", "the\tthe\tDET\tNumber=Sing", "cat\tcat\tNOUN\tNumber=Sing"],
                &[5, 6, 2],
            ),
        ];
        for (index, (lines, ids)) in batches.iter().enumerate() {
            let known: Vec<&Path> = paths[..index].iter().map(|path| path.as_path()).collect();
            let lexicon = Lexicon::of_parts(&known).expect("opened");
            assert_eq!(add(&lexicon, lines, &paths[index]), **ids, "{index}");
        }
        assert_eq!([0, 1, 2, 3].map(|index| version(&paths[index])), [1, 2, 1, 2], "only who has features is new");
        let four = Lexicon::of_parts(&[&paths[0], &paths[1], &paths[2], &paths[3]]).expect("opened");
        NewPart::join(four.parts()).write(&paths[4]).expect("written");
        NewPart::join(&four.parts()[..1]).write(&paths[5]).expect("written");
        assert_eq!(version(&paths[5]), 1, "features of others do not count");
        let joined = Lexicon::of_parts(&[&paths[4]]).expect("opened");
        for lexicon in [&four, &joined] {
            let feats: Vec<&str> = (0..7).map(|lexeme| lexicon.text(lexeme, Layer::Feats)).collect();
            assert_eq!(feats, ["", "", "Number=Sing", "", "", "Number=Plur", "Number=Sing"]);
            assert_eq!((lexicon.count(Layer::Feats), lexicon.all_of(Layer::Feats)), (3, vec![0, 0, 1, 0, 0, 2, 1]));
            let with = |text: &str| {
                let mut lexemes = Vec::new();
                lexicon.find(Layer::Feats, text).inspect(|id| lexicon.lexemes_with(Layer::Feats, *id, &mut lexemes));
                lexemes
            };
            assert_eq!((with(""), with("Number=Sing"), with("Case=Gen")), (vec![0, 1, 3, 4], vec![2, 6], vec![]));
            let mut all = Vec::new();
            lexicon.strings(Layer::Feats).for_each(|strings| strings.each(|id, text| all.push((id, text))));
            all.sort_unstable();
            assert_eq!(all, [(0, ""), (1, "Number=Sing"), (2, "Number=Plur")]);
            lexicon.verify().expect("sound");
        }
    }
}
