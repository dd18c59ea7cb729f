//! The sites that documents come from, to be suggested in filters.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tidings_query::answer;
use tidings_query::question::Request;

use super::{HomeContext, HomeQuestion};
use crate::api_error::ApiError;
use crate::corpus_registry::CorpusRegistry;

/// Lists the sites with documents.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub(crate) struct SitesRequest {
    /// Maximum rows.
    #[serde(default = "usual_limit")]
    #[schemars(range(min = 0, max = 10_000))]
    limit: u64,
}

fn usual_limit() -> u64 {
    1000
}

answer! {
    /// The sites with documents in any language, those with most documents first.
    pub struct Sites {
        /// The number of sites.
        pub sites: u64,
        /// The sites.
        pub rows: Vec<SiteRow>,
    }

    /// A site.
    pub struct SiteRow {
        /// The name, as filters take it.
        pub site: String,
        /// Documents.
        pub documents: u64,
    }
}

impl Request for SitesRequest {
    fn example() -> SitesRequest {
        SitesRequest { limit: usual_limit() }
    }
}

impl HomeQuestion for SitesRequest {
    const NAME: &'static str = "sites";
    const SUMMARY: &'static str = "List the sites with documents, those with most documents first";
    const ROWS: &'static str = "rows";
    type Answer = Sites;

    fn answer(&self, HomeContext { registry, .. }: &HomeContext<'_>) -> Result<Sites, ApiError> {
        Ok(ranked(documents_of_sites(registry)?, self.limit))
    }
}

/// The documents of each site in all languages.
pub(crate) fn documents_of_sites(registry: &CorpusRegistry) -> Result<BTreeMap<String, u64>, ApiError> {
    let mut documents: BTreeMap<String, u64> = BTreeMap::new();
    for (code, engine) in registry.corpora() {
        for live in engine.snapshot().segments() {
            let Some(field) = live.segment().field("site") else { continue };
            let mut counts = vec![0; field.count() as usize];
            let present = (0..live.segment().meta().documents).filter(|document| !live.deleted().get(*document));
            for document in present {
                if let Some(count) = counts.get_mut(field.code(document) as usize) {
                    *count += 1;
                }
            }
            for (code, count) in (0..).zip(counts).filter(|(_, count)| *count > 0) {
                *documents.entry(field.value(code).to_owned()).or_default() += count;
            }
        }
        registry.intact(&code, engine.clone())?;
    }
    documents.remove("");
    Ok(documents)
}

/// The sites with most documents first.
pub(crate) fn ranked(documents: BTreeMap<String, u64>, limit: u64) -> Sites {
    let mut rows: Vec<SiteRow> = documents.into_iter().map(|(site, documents)| SiteRow { site, documents }).collect();
    rows.sort_by(|a, b| b.documents.cmp(&a.documents).then_with(|| a.site.cmp(&b.site)));
    let sites = rows.len() as u64;
    rows.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    Sites { sites, rows }
}
