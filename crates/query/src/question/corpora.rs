//! What is known of a corpus: its state, size and annotation.

use std::collections::{BTreeMap, BTreeSet};

use tidings_index::Day;

use super::FrozenState;
use crate::engine::Engine;

answer! {
    /// A corpus.
    pub struct CorpusRow {
        /// The language.
        pub corpus: String,
        /// The state: it grows with every change.
        pub generation: u64,
        /// The checksum of the text, equal on machines that hold the same corpus (`tidings digest --lang`);
        /// null while it is not known.
        pub digest: Option<String>,
        /// Tokens.
        pub tokens: u64,
        /// Documents.
        pub documents: u64,
        /// The day of the oldest document.
        pub first_day: Option<String>,
        /// The day of the newest document.
        pub last_day: Option<String>,
        /// The fields of documents.
        pub fields: Vec<String>,
        /// The attributes of tokens.
        pub attributes: Vec<String>,
        /// The features of tokens, with their values.
        pub features: BTreeMap<String, BTreeSet<String>>,
        /// The spans of documents, with their attributes.
        pub spans: BTreeMap<String, BTreeSet<String>>,
        /// The annotators of the text.
        pub layers: Vec<LayerRow>,
        /// The frozen states, oldest first, which `as_of` takes.
        pub frozen: Vec<FrozenState>,
    }

    /// An annotator of the text.
    pub struct LayerRow {
        /// Its name.
        pub by: String,
        /// Tokens that it annotated.
        pub tokens: u64,
    }
}

impl CorpusRow {
    /// Describes an open index. The checksum and the annotators with their tokens come from the home.
    pub fn new(
        language: &str,
        engine: &Engine,
        digest: Option<String>,
        layers: Option<&BTreeMap<String, u64>>,
    ) -> CorpusRow {
        let snapshot = engine.snapshot();
        let with_text = snapshot.segments().iter().filter(|live| live.documents() > 0);
        let metas: Vec<_> = with_text.clone().map(|live| live.segment().meta()).collect();
        let fields: BTreeSet<&str> = with_text.flat_map(|live| live.segment().field_names()).collect();
        let spans = snapshot.span_names().into_iter();
        let spans = spans.map(|(name, attributes)| (name, attributes.into_iter().map(str::to_owned).collect()));
        let layers = layers.into_iter().flatten();
        CorpusRow {
            corpus: language.to_owned(),
            generation: snapshot.generation(),
            digest,
            tokens: snapshot.tokens(),
            documents: snapshot.documents(),
            first_day: metas.iter().map(|meta| meta.first_day).min().map(|day| Day(day).to_string()),
            last_day: metas.iter().map(|meta| meta.last_day).max().map(|day| Day(day).to_string()),
            fields: ["date", "seen", "url", "title"].into_iter().chain(fields).map(str::to_owned).collect(),
            attributes: engine.attributes().into_iter().map(str::to_owned).collect(),
            features: engine.features().clone(),
            spans: spans.map(|(name, attributes)| (name.to_owned(), attributes)).collect(),
            layers: layers.map(|(by, tokens)| LayerRow { by: by.clone(), tokens: *tokens }).collect(),
            frozen: Vec::new(),
        }
    }
}
