//! The corpora of a home: languages and virtual corpora.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tidings_index::Day;
use tidings_query::answer;
use tidings_query::question::Request;
use tidings_store::virtual_corpora;

use super::{HomeContext, HomeQuestion};
use crate::api_error::ApiError;

/// Lists the corpora.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub(crate) struct CorporaRequest {}

answer! {
    /// The corpora, one for each language.
    pub struct Corpora {
        /// The corpora.
        pub corpora: Vec<CorpusRow>,
    }

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
    }

    /// An annotator of the text.
    pub struct LayerRow {
        /// Its name.
        pub by: String,
        /// Tokens that it annotated.
        pub tokens: u64,
    }
}

impl Request for CorporaRequest {
    fn example() -> CorporaRequest {
        CorporaRequest {}
    }
}

impl HomeQuestion for CorporaRequest {
    const NAME: &'static str = "corpora";
    const SUMMARY: &'static str = "List the corpora, one for each language, with their size and state";
    const ROWS: &'static str = "corpora";
    type Answer = Corpora;

    fn answer(&self, HomeContext { registry, .. }: &HomeContext<'_>) -> Result<Corpora, ApiError> {
        let layers = registry.layers()?;
        let digests = registry.digests();
        let mut corpora = Vec::new();
        for (code, engine) in registry.corpora() {
            let snapshot = engine.snapshot();
            let with_text = snapshot.segments().iter().filter(|live| live.documents() > 0);
            let metas: Vec<_> = with_text.clone().map(|live| live.segment().meta()).collect();
            let fields: BTreeSet<&str> = with_text.flat_map(|live| live.segment().field_names()).collect();
            let layers = layers.get(&code).into_iter().flatten();
            let spans = snapshot.span_names().into_iter();
            let spans = spans.map(|(name, attributes)| (name, attributes.into_iter().map(str::to_owned).collect()));
            corpora.push(CorpusRow {
                generation: snapshot.generation(),
                digest: digests.get(&code).cloned(),
                tokens: snapshot.tokens(),
                documents: snapshot.documents(),
                first_day: metas.iter().map(|meta| meta.first_day).min().map(|day| Day(day).to_string()),
                last_day: metas.iter().map(|meta| meta.last_day).max().map(|day| Day(day).to_string()),
                fields: ["date", "seen", "url", "title"].into_iter().chain(fields).map(str::to_owned).collect(),
                attributes: engine.attributes().into_iter().map(str::to_owned).collect(),
                features: engine.features().clone(),
                spans: spans.map(|(name, attributes)| (name.to_owned(), attributes)).collect(),
                layers: layers.map(|(by, tokens)| LayerRow { by: by.clone(), tokens: *tokens }).collect(),
                corpus: code.clone(),
            });
            registry.intact(&code, engine.clone())?;
        }
        Ok(Corpora { corpora })
    }
}

/// Lists the virtual corpora.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub(crate) struct NamedCorporaRequest {}

answer! {
    /// Virtual corpora: filters with names, which the parameter `in` takes.
    pub struct NamedCorpora {
        /// The virtual corpora.
        pub rows: Vec<NamedCorpus>,
    }

    /// A virtual corpus.
    pub struct NamedCorpus {
        /// The name.
        pub name: String,
        /// The filter.
        pub filter: String,
    }
}

impl Request for NamedCorporaRequest {
    fn example() -> NamedCorporaRequest {
        NamedCorporaRequest {}
    }
}

impl HomeQuestion for NamedCorporaRequest {
    const NAME: &'static str = "corpora-named";
    const SUMMARY: &'static str = "List the virtual corpora: filters with names, which `in` takes";
    const ROWS: &'static str = "rows";
    type Answer = NamedCorpora;

    fn answer(&self, HomeContext { registry, .. }: &HomeContext<'_>) -> Result<NamedCorpora, ApiError> {
        let known = virtual_corpora::read(&registry.home)?.into_iter();
        Ok(NamedCorpora { rows: known.map(|named| NamedCorpus { name: named.name, filter: named.filter }).collect() })
    }
}
