//! The corpora of a home: languages and virtual corpora.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tidings_query::answer;
use tidings_query::question::{CorpusRow, Request};
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
            let row = CorpusRow::new(&code, &engine, digests.get(&code).cloned(), layers.get(&code));
            corpora.push(CorpusRow { frozen: registry.frozen_states(&code)?, ..row });
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
