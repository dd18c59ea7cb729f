//! Part-of-speech tags, lemmas and morphological features by models trained on treebanks.
//!
//! A linear-chain CRF over hashed features chooses the tags of a sentence by Viterbi decoding
//! ([`crf`]); a linear model ranks edit scripts for the lemma of each word, with a list of
//! exceptions ([`lemma`]); another ranks bundles of features ([`feats`]). `tidings-train` builds
//! the models; docs/MODELS.md lists their treebanks and scores.
//!
//! ```
//! use tidings_annotate::tagger::models;
//!
//! if let Some(tagger) = models().tagger("en") {
//!     let words = ["The", "houses", "were", "empty", "."];
//!     let mut sentence = words.map(|word| tidings_model::Token { word: word.into(), ..Default::default() });
//!     tagger.tag(&mut sentence);
//!     assert_eq!((sentence[1].lemma.as_str(), sentence[1].tag.as_str()), ("house", "NOUN"));
//!     assert_eq!(sentence[1].feats, "Number=Plur");
//! }
//! ```

pub mod bytes;
pub mod compound_marks;
pub mod crf;
pub mod edit_script;
pub mod feats;
mod feature_index;
pub mod features;
mod info;
pub mod lemma;
pub(crate) mod models;
pub mod pack_folder;
mod rows;
pub mod word;
mod word_cache;

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use tidings_model::Token;

pub use feature_index::FeatureIndex;
pub use info::{ModelInfo, TreebankInfo};
pub use models::{Models, models};

use bytes::{Reader, put_number, put_text};
use crf::{LinearChainCrf, MAX_TAGS};
use feats::{FeatsModel, WordScores};
use lemma::Lemmatiser;
use word::{AmbiguityClasses, HashedWord};
use word_cache::{CachedWord, WordCache};

/// A model file that cannot be used.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ModelError {
    /// The magic bytes are missing.
    #[error("not a model file, or one of an unknown version; build it again with tidings-train")]
    NotAModel,
    /// The format version is newer than the newest that this program reads.
    #[error("the model file was written by a newer Tidings (format {found}, Tidings {} reads up to {VERSION}); install a newer version", env!("CARGO_PKG_VERSION"))]
    Newer {
        /// The format version of the file.
        found: u8,
    },
    /// The file ends before its content does.
    #[error("the model file is truncated; copy it again or rebuild it with tidings-train")]
    Truncated,
    /// The content violates the format.
    #[error("the model file is damaged: {0}; copy it again or rebuild it with tidings-train")]
    Damaged(&'static str),
}

/// Format version that is written.
pub const VERSION: u8 = 3;

/// Longer sentences are tagged in chunks of this many tokens.
const MAX_TOKENS: usize = 1024;

/// Syntactic word of a multi-word token: French *du* is *de* and *le*.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WordPart {
    /// Lemma.
    pub lemma: String,
    /// Universal part-of-speech tag.
    pub tag: String,
}

/// Model of a language, ready for use.
#[derive(Debug)]
pub struct Tagger {
    info: ModelInfo,
    tags: Vec<String>,
    classes: AmbiguityClasses,
    crf: LinearChainCrf,
    lemmas: Lemmatiser,
    feats: FeatsModel,
    parts: HashMap<String, Vec<WordPart>>,
    idle_caches: IdleCaches<WordScores>,
    idle_caches_without_feats: IdleCaches<()>,
}

/// Caches not in use; there are as many as threads ever tagged at the same time.
type IdleCaches<S> = Mutex<Vec<WordCache<S>>>;

impl Tagger {
    /// Reads a model as written by [`Tagger::write`].
    pub fn read(info: ModelInfo, model: &[u8]) -> Result<Tagger, ModelError> {
        Tagger::read_version(info, model, VERSION)
    }

    /// Reads a model of any supported version: version 1 has no features, version 2 no dictionary of
    /// forms.
    fn read_version(info: ModelInfo, model: &[u8], version: u8) -> Result<Tagger, ModelError> {
        let mut reader = Reader::new(model);
        let count = reader.count()?;
        if count == 0 || count > MAX_TAGS {
            return Err(ModelError::Damaged("the number of tags is out of range"));
        }
        let tags = (0..count).map(|_| reader.text().map(str::to_owned)).collect::<Result<Vec<String>, _>>()?;
        let classes = AmbiguityClasses::read(&mut reader)?;
        let crf = LinearChainCrf::read(count, version, &mut reader)?;
        let lemmas = Lemmatiser::read(version, &mut reader)?;
        let feats = if version == 1 { FeatsModel::none(&tags) } else { FeatsModel::read(&tags, &mut reader)? };
        let mut parts = HashMap::new();
        for _ in 0..reader.count()? {
            let word = reader.text()?.to_owned();
            let part = |analysis: (&str, &str)| WordPart { lemma: analysis.0.to_owned(), tag: analysis.1.to_owned() };
            let (lemmas, tags) = (reader.text()?, reader.text()?);
            parts.insert(word, lemmas.split('+').zip(tags.split('+')).map(part).collect());
        }
        reader.end()?;
        Ok(Tagger {
            info,
            tags,
            classes,
            crf,
            lemmas,
            feats,
            parts,
            idle_caches: Mutex::default(),
            idle_caches_without_feats: Mutex::default(),
        })
    }

    /// Serialises a model: tags, the sections (classes, CRF, lemmas, features), then multi-word
    /// tokens with their joined lemmas and tags.
    pub fn write(tags: &[String], sections: [&[u8]; 4], parts: &[[String; 3]]) -> Vec<u8> {
        let mut out = Vec::new();
        put_number(tags.len() as u32, &mut out);
        tags.iter().for_each(|tag| put_text(tag, &mut out));
        sections.iter().for_each(|section| out.extend(*section));
        put_number(parts.len() as u32, &mut out);
        parts.iter().flatten().for_each(|text| put_text(text, &mut out));
        out
    }

    /// Returns the description of the model.
    pub fn info(&self) -> &ModelInfo {
        &self.info
    }

    /// Fills in lemma, universal part-of-speech tag and morphological features of a sentence's
    /// tokens. Those of a multi-word token are joined by `+`: `de+le`, `ADP+DET`, `+Number=Sing`.
    pub fn tag(&self, sentence: &mut [Token]) {
        with_cache(&self.idle_caches, |cache| {
            for chunk in sentence.chunks_mut(MAX_TOKENS) {
                let scores = |word: &HashedWord, lemma: &str, tag| self.feats.word_scores(word, lemma, tag);
                let tagged = self.tag_and_lemmatise(chunk, cache, scores);
                self.feats.choose(&tagged.words, &tagged.scores, &tagged.tags, |index, feats| {
                    chunk[index].feats = feats.into();
                });
            }
        });
    }

    /// Same as [`Tagger::tag`] without features, which are not computed.
    pub fn tag_without_feats(&self, sentence: &mut [Token]) {
        with_cache(&self.idle_caches_without_feats, |cache| {
            for chunk in sentence.chunks_mut(MAX_TOKENS) {
                self.tag_and_lemmatise(chunk, cache, |_, _, _| ());
            }
        });
    }

    /// Fills in lemmas and tags. `scores` computes what [`FeatsModel::choose`] needs of a word, from the word, its
    /// lemma and its tag.
    fn tag_and_lemmatise<S: Copy>(
        &self,
        chunk: &mut [Token],
        cache: &mut WordCache<S>,
        scores: impl Fn(&HashedWord, &str, u8) -> S,
    ) -> TaggedChunk<S> {
        let (mut words, mut own) = (Vec::with_capacity(chunk.len()), Vec::with_capacity(chunk.len()));
        for (index, token) in chunk.iter().enumerate() {
            let cached = cache.word(&token.word, index == 0, || {
                let mut word = HashedWord::new(&token.word);
                self.classes.classify(&mut word);
                CachedWord { word, own: self.crf.own_scores(&word, index == 0) }
            });
            words.push(cached.word);
            own.push(cached.own);
        }
        let tags = self.crf.viterbi(&words, &own);
        let mut word_scores = Vec::with_capacity(chunk.len());
        for (index, token) in chunk.iter_mut().enumerate() {
            let (tag, is_first) = (tags[index], index == 0);
            let (lemma, scores) = cache.lemma(&token.word, is_first, tag, || {
                let lemma = self.lemmas.lemma(&token.word, &words[index], tag, is_first);
                let scores = scores(&words[index], &lemma, tag);
                (lemma.into(), scores)
            });
            token.lemma = lemma;
            word_scores.push(scores);
            token.tag = self.tags[usize::from(tag)].as_str().into();
        }
        TaggedChunk { words, tags, scores: word_scores }
    }

    /// Returns true if the treebank has a word, in any case: as a form, or as a lemma. Words are looked up by hash, so one in
    /// some hundred unknown words is taken for known.
    pub fn knows(&self, word: &str) -> bool {
        self.lemmas.knows(&edit_script::lowercase(word), self.tags.len())
    }

    /// Returns the syntactic words of a multi-word token, in lowercase; `None` for other words.
    pub fn parts(&self, word: &str) -> Option<&[WordPart]> {
        self.parts.get(&edit_script::lowercase(word)).map(Vec::as_slice)
    }
}

/// Words of a chunk with their tags and feature scores.
struct TaggedChunk<S> {
    words: Vec<HashedWord>,
    tags: Vec<u8>,
    scores: Vec<S>,
}

/// Lends an idle cache, or a new one.
fn with_cache<S: Copy>(idle: &IdleCaches<S>, work: impl FnOnce(&mut WordCache<S>)) {
    let idle = || idle.lock().unwrap_or_else(PoisonError::into_inner);
    // The lock is released before the work begins.
    let mut cache = idle().pop().unwrap_or_default();
    work(&mut cache);
    idle().push(cache);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_and_lemmas_are_the_same_without_features() {
        let tagger = models().tagger("de").unwrap();
        let words = "Die neuen Häuser der Stadt standen im Regen , und im Garten sangen die Vögel .".split(' ');
        let mut with: Vec<Token> = words.map(|word| Token { word: word.into(), ..Token::default() }).collect();
        let mut without = with.clone();
        tagger.tag(&mut with);
        // Twice: from the model, and from the cache.
        for _ in 0..2 {
            tagger.tag_without_feats(&mut without);
            assert!(without.iter().all(|token| token.feats.is_empty()));
            let pairs = |tokens: &[Token]| -> Vec<(String, String)> {
                tokens.iter().map(|token| (token.lemma.to_string(), token.tag.to_string())).collect()
            };
            assert_eq!(pairs(&without), pairs(&with));
        }
        assert!(with.iter().any(|token| token.feats.contains("Case=")));
    }
}
