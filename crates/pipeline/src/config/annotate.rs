//! How documents become sentences of tokens.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, bail};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tidings_annotate::external;

use super::external::ExternalConfig;
use super::is_language_code;

/// The `[annotate]` table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[allow(missing_docs)] // The template documents each key to everybody.
pub struct AnnotateConfig {
    pub duplicates: Duplicates,
    pub tags: bool,
    /// Whether words get morphological features.
    pub features: bool,
    pub models: String,
    pub external: BTreeMap<String, ExternalConfig>,
}

impl Default for AnnotateConfig {
    fn default() -> AnnotateConfig {
        AnnotateConfig {
            duplicates: Duplicates::Drop,
            tags: true,
            features: true,
            models: String::new(),
            external: BTreeMap::new(),
        }
    }
}

impl AnnotateConfig {
    /// The settings that shape text, as recipes keep them. Annotators are named there by language.
    pub(crate) fn recipe(&self) -> serde_json::Value {
        json!({ "duplicates": self.duplicates })
    }

    /// How the tools of others are run, by language. Tools that must be asked for their version are started for it.
    pub fn tools(&self) -> Result<BTreeMap<String, external::Settings>> {
        let tools = self.external.iter().filter(|_| self.tags);
        tools.map(|(language, tool)| Ok((language.clone(), tool.settings(language)?))).collect()
    }

    pub(super) fn check(&self) -> Result<()> {
        for (language, tool) in &self.external {
            if !is_language_code(language) {
                bail!("[annotate.external.{language}] is for no language; write such as [annotate.external.de]");
            }
            tool.check().with_context(|| format!("[annotate.external.{language}]"))?;
        }
        Ok(())
    }
}

/// What becomes of text that was published before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Duplicates {
    /// It stays out of the text and the index.
    Drop,
    /// It stays in.
    Keep,
}
