//! Parts of speech, lemmas and morphological features, by models that were learned from treebanks.
//!
//! A linear chain over hashed features chooses the tags of a sentence ([`chain`]); edit scripts that
//! compete, and a memory of what they get wrong, give the lemma of each word ([`lemma`]); bundles of
//! features compete in the same way ([`feats`]). Models are made by `tidings-train`; docs/MODELS.md says from what, and how good they are.
//!
//! ```
//! use tidings_annotate::tagger::models;
//!
//! if let Some(tagger) = models().tagger("en") {
//!     let words = ["The", "houses", "were", "empty", "."];
//!     let mut sentence = words.map(|word| tidings_model::Token { word: word.to_owned(), ..Default::default() });
//!     tagger.tag(&mut sentence);
//!     assert_eq!((sentence[1].lemma.as_str(), sentence[1].tag.as_str()), ("house", "NOUN"));
//!     assert_eq!(sentence[1].feats, "Number=Plur");
//! }
//! ```

mod about;
pub mod bytes;
pub mod chain;
pub mod feats;
pub mod features;
pub mod joints;
pub mod lemma;
mod memo;
pub(crate) mod models;
mod rows;
pub mod script;
mod sparse;
pub mod words;

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use tidings_model::Token;

pub use about::{About, Source};
pub use models::{Models, models};
pub use sparse::Sparse;

use bytes::{Reader, put_number, put_text};
use chain::{Chain, MOST_TAGS};
use feats::Feats;
use lemma::Lemmatiser;
use memo::{Memo, Seen};
use words::{Classes, Word};

/// Why a file of models cannot be used.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ModelError {
    /// It does not begin as one does.
    #[error("this is no file of models, or one of another version; make it anew with tidings-train")]
    Foreign,
    /// Its version is newer than the one this program reads.
    #[error("the file of models was written by a newer Tidings (format {found}, Tidings {} reads up to {VERSION}); install a newer version", env!("CARGO_PKG_VERSION"))]
    Newer {
        /// The version it has.
        found: u8,
    },
    /// It ends too early.
    #[error("the file of models ends too early; make or copy it anew")]
    Short,
    /// Something in it cannot be.
    #[error("the file of models is damaged: {0}; make or copy it anew")]
    Odd(&'static str),
}

/// The version of models that is written.
const VERSION: u8 = 2;

/// Sentences are tagged in pieces of this many tokens: what is longer is no sentence.
const MOST_TOKENS: usize = 1024;

/// One of the words that a token stands for: French *du* is *de* and *le*.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Its dictionary form.
    pub lemma: String,
    /// Its part of speech.
    pub tag: String,
}

/// The model of a language, ready for use.
#[derive(Debug)]
pub struct Tagger {
    about: About,
    tags: Vec<String>,
    classes: Classes,
    chain: Chain,
    lemmas: Lemmatiser,
    feats: Feats,
    parts: HashMap<String, Vec<Part>>,
    /// What nobody is using; as many as there were ever threads.
    memos: Mutex<Vec<Memo>>,
}

impl Tagger {
    /// Reads a model as [`Tagger::write`] writes it; `about` says what it is.
    pub fn read(about: About, model: &[u8]) -> Result<Tagger, ModelError> {
        Tagger::read_version(about, model, VERSION)
    }

    /// Reads a model of a version up to ours: the first had no features.
    fn read_version(about: About, model: &[u8], version: u8) -> Result<Tagger, ModelError> {
        let mut reader = Reader::new(model);
        let count = reader.count()?;
        if count == 0 || count > MOST_TAGS {
            return Err(ModelError::Odd("it has no tags or too many"));
        }
        let tags = (0..count).map(|_| reader.text().map(str::to_owned)).collect::<Result<Vec<String>, _>>()?;
        let classes = Classes::read(&mut reader)?;
        let chain = Chain::read(count, version, &mut reader)?;
        let lemmas = Lemmatiser::read(&mut reader)?;
        let feats = if version == 1 { Feats::none(&tags) } else { Feats::read(&tags, &mut reader)? };
        let mut parts = HashMap::new();
        for _ in 0..reader.count()? {
            let word = reader.text()?.to_owned();
            let part = |analysis: (&str, &str)| Part { lemma: analysis.0.to_owned(), tag: analysis.1.to_owned() };
            let (lemmas, tags) = (reader.text()?, reader.text()?);
            parts.insert(word, lemmas.split('+').zip(tags.split('+')).map(part).collect());
        }
        reader.end()?;
        Ok(Tagger { about, tags, classes, chain, lemmas, feats, parts, memos: Mutex::default() })
    }

    /// A model as bytes: tags, then what the parts of a model (classes, chain, lemmas, features) wrote of themselves, then
    /// words with their joined lemmas and tags.
    pub fn write(tags: &[String], learned: [&[u8]; 4], parts: &[[String; 3]]) -> Vec<u8> {
        let mut out = Vec::new();
        put_number(tags.len() as u32, &mut out);
        tags.iter().for_each(|tag| put_text(tag, &mut out));
        learned.iter().for_each(|part| out.extend(*part));
        put_number(parts.len() as u32, &mut out);
        parts.iter().flatten().for_each(|text| put_text(text, &mut out));
        out
    }

    /// What is known about the model.
    pub fn about(&self) -> &About {
        &self.about
    }

    /// Fills in lemma, tag (a part of speech of Universal Dependencies) and morphological features of a sentence's tokens. A
    /// token that stands for several words has those of all, joined by `+`: `de+le`, `ADP+DET`, `+Number=Sing`.
    pub fn tag(&self, sentence: &mut [Token]) {
        let idle = || self.memos.lock().unwrap_or_else(PoisonError::into_inner);
        let mut memo = idle().pop().unwrap_or_default();
        sentence.chunks_mut(MOST_TOKENS).for_each(|piece| self.tag_piece(piece, &mut memo));
        idle().push(memo);
    }

    fn tag_piece(&self, piece: &mut [Token], memo: &mut Memo) {
        let (mut words, mut own) = (Vec::with_capacity(piece.len()), Vec::with_capacity(piece.len()));
        for (place, token) in piece.iter().enumerate() {
            let seen = memo.seen(&token.word, place == 0, || {
                let mut word = Word::new(&token.word);
                self.classes.classify(&mut word);
                Seen { word, own: self.chain.own(&word, place == 0) }
            });
            words.push(seen.word);
            own.push(seen.own);
        }
        let tags = self.chain.tag(&words, &own);
        let mut shapes = Vec::with_capacity(piece.len());
        for (place, token) in piece.iter_mut().enumerate() {
            let (tag, is_first) = (tags[place], place == 0);
            let (lemma, shape) = memo.lemma(&token.word, is_first, tag, || {
                let lemma = self.lemmas.lemma(&token.word, &words[place], tag, is_first);
                let shape = self.feats.shape(&words[place], &lemma, tag);
                (lemma, shape)
            });
            token.lemma = lemma;
            shapes.push(shape);
            token.tag.clone_from(&self.tags[usize::from(tag)]);
        }
        self.feats.choose(&words, &shapes, &tags, |place, feats| feats.clone_into(&mut piece[place].feats));
    }

    /// The words that a token stands for, in small letters; none for ordinary words.
    pub fn parts(&self, word: &str) -> Option<&[Part]> {
        self.parts.get(&script::lower(word)).map(Vec::as_slice)
    }
}
