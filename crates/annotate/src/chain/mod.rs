//! Annotators of further layers: token attributes and spans besides lemma, tag and features.
//!
//! Each declares its version, the layers that it reads and the layers that it gives. Those that the settings select run
//! one after the other on each document, after the tagger of its language. Recipes record each of them, so that a new
//! version makes again its own layers, and those of annotators that read them, and nothing else.

mod run;
mod select;
mod table;

use std::sync::OnceLock;

use tidings_model::{Annotated, LayerDeclaration, LayerKind, LayerRecord, TokenSpan};
use xxhash_rust::xxh3::Xxh3;

pub use run::update_layers;
pub(crate) use run::{SentencePlace, Step, add_layers, run_chains};
pub use select::{ChainError, select};
pub use table::LAYERS;

/// An annotator of one token attribute or of spans. It is a pure function of the annotated document and its language.
#[derive(Debug, Clone, Copy)]
pub struct LayerAnnotator {
    /// The name in settings and recipes. A token attribute has the name of its annotator.
    pub name: &'static str,
    /// The version: increased whenever the same document gives other values or spans.
    pub version: u32,
    /// The layers that it reads.
    pub needs: &'static [Need],
    /// The layers that it gives, and the function that makes them.
    pub gives: Gives,
    /// The tables of languages that it uses. Recipes record their digest, so that a changed table makes the layer again.
    pub tables: &'static [LayerTable],
}

/// A table of `languages/CODE/` that annotators of further layers use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LayerTable {
    /// `names.tsv`.
    Names,
    /// `quotations.tsv`.
    Quotations,
}

impl LayerTable {
    /// The tables of all languages that have one, with their codes.
    fn rows(self) -> impl Iterator<Item = (&'static str, &'static str)> {
        tidings_lang::languages().iter().filter_map(move |language| {
            let table = match self {
                LayerTable::Names => language.names_tsv,
                LayerTable::Quotations => language.quotations_tsv,
            };
            Some((language.code, table?))
        })
    }

    /// The digest of the tables of all languages.
    fn digest(self) -> u64 {
        static DIGESTS: [OnceLock<u64>; 2] = [const { OnceLock::new() }; 2];
        *DIGESTS[self as usize].get_or_init(|| {
            let mut hash = Xxh3::new();
            for (code, table) in self.rows() {
                hash.update(code.as_bytes());
                hash.update(&(table.len() as u64).to_le_bytes());
                hash.update(table.as_bytes());
            }
            hash.digest()
        })
    }
}

/// Layers that an annotator gives, with the function that makes them of a document and its language code.
#[derive(Debug, Clone, Copy)]
pub enum Gives {
    /// A token attribute with the name of the annotator: a value for each token, empty where there is none.
    Column(LayerKind, fn(&Annotated, &str) -> Vec<String>),
    /// Spans with these names.
    Spans(&'static [&'static str], fn(&Annotated, &str) -> Vec<TokenSpan>),
}

/// A layer that an annotator reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// The annotator runs only where this layer is given.
    Required(Input),
    /// The annotator reads the layer where it is given, and works without it.
    Optional(Input),
}

impl Need {
    /// Reads lemmas and tags where the language has them.
    pub const TAGS_IF_GIVEN: &'static [Need] = &[Need::Optional(Input::Lemmas), Need::Optional(Input::Tags)];
}

/// Something that annotators read besides words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Input {
    /// Lemmas.
    Lemmas,
    /// Part-of-speech tags.
    Tags,
    /// Morphological features.
    Features,
    /// The layers of the annotator with this name.
    Layer(&'static str),
}

/// Lemmas, tags and features that a tagger gives.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TokenLayers {
    /// True if it gives lemmas.
    pub lemmas: bool,
    /// True if it gives tags.
    pub tags: bool,
    /// True if it gives features.
    pub features: bool,
}

impl TokenLayers {
    /// All of them.
    pub const ALL: TokenLayers = TokenLayers { lemmas: true, tags: true, features: true };
    /// None of them.
    pub const NONE: TokenLayers = TokenLayers { lemmas: false, tags: false, features: false };

    /// Returns true if the tagger gives this input. Further layers are not its matter.
    fn has(self, input: Input) -> bool {
        match input {
            Input::Lemmas => self.lemmas,
            Input::Tags => self.tags,
            Input::Features => self.features,
            Input::Layer(_) => true,
        }
    }
}

impl LayerAnnotator {
    /// An annotator of a token attribute.
    pub const fn column(
        name: &'static str,
        version: u32,
        needs: &'static [Need],
        kind: LayerKind,
        annotate: fn(&Annotated, &str) -> Vec<String>,
    ) -> LayerAnnotator {
        LayerAnnotator { name, version, needs, gives: Gives::Column(kind, annotate), tables: &[] }
    }

    /// An annotator of spans with these names.
    pub const fn spans(
        name: &'static str,
        version: u32,
        needs: &'static [Need],
        names: &'static [&'static str],
        annotate: fn(&Annotated, &str) -> Vec<TokenSpan>,
    ) -> LayerAnnotator {
        LayerAnnotator { name, version, needs, gives: Gives::Spans(names, annotate), tables: &[] }
    }

    /// The annotator as recipes record it.
    pub fn record(&self) -> LayerRecord {
        let (columns, spans) = match self.gives {
            Gives::Column(..) => (vec![self.name.to_owned()], Vec::new()),
            Gives::Spans(names, _) => (Vec::new(), names.iter().map(|name| (*name).to_owned()).collect()),
        };
        LayerRecord { name: self.name.to_owned(), version: self.recorded_version(), columns, spans }
    }

    /// The version, with a digest of the tables if there are any.
    fn recorded_version(&self) -> String {
        if self.tables.is_empty() {
            return self.version.to_string();
        }
        let mut hash = Xxh3::new();
        self.tables.iter().for_each(|table| hash.update(&table.digest().to_le_bytes()));
        format!("{} {:08x}", self.version, hash.digest() >> 32)
    }

    /// The layers of other annotators that it reads, required or not.
    fn layers_read(&self) -> impl Iterator<Item = &'static str> {
        self.needs.iter().filter_map(|need| match need {
            Need::Required(Input::Layer(name)) | Need::Optional(Input::Layer(name)) => Some(*name),
            _ => None,
        })
    }

    /// The layers that it cannot do without.
    fn required(&self) -> impl Iterator<Item = Input> {
        self.needs.iter().filter_map(|need| match need {
            Need::Required(input) => Some(*input),
            Need::Optional(_) => None,
        })
    }

    /// The declaration of the token attribute that it gives.
    fn declaration(&self, kind: LayerKind) -> LayerDeclaration {
        LayerDeclaration { name: self.name.to_owned(), kind, origin: format!("{} {}", self.name, self.version) }
    }
}

// Functions have no meaningful equality; a name and a version identify an annotator.
impl PartialEq for LayerAnnotator {
    fn eq(&self, other: &LayerAnnotator) -> bool {
        (self.name, self.version) == (other.name, other.version)
    }
}

/// Returns an error if an annotator requires something that no tagger gives.
pub(crate) fn check_needs(layers: &[LayerAnnotator], given: TokenLayers) -> Result<(), ChainError> {
    for layer in layers {
        if let Some(needed) = layer.required().find(|input| !given.has(*input)) {
            return Err(ChainError::NotGiven { name: layer.name, needed });
        }
    }
    Ok(())
}

/// The annotators that run in a language whose tagger gives these layers: those whose required needs are met.
pub(crate) fn applicable(layers: &[LayerAnnotator], given: TokenLayers) -> Vec<LayerAnnotator> {
    let mut chosen: Vec<LayerAnnotator> = Vec::with_capacity(layers.len());
    for layer in layers {
        let is_met = |input: Input| match input {
            Input::Layer(name) => chosen.iter().any(|before| before.name == name),
            input => given.has(input),
        };
        if layer.required().all(is_met) {
            chosen.push(*layer);
        }
    }
    chosen
}
