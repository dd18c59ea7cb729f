//! Settings of annotation: documents → sentences of tokens.

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
#[allow(missing_docs)] // The template documents each key to users.
pub struct AnnotateConfig {
    pub duplicates: Duplicates,
    pub tags: bool,
    /// Whether tokens get morphological features.
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
    /// The settings that affect the annotated text, as written to recipes. Annotators are recorded there by language.
    pub(crate) fn recipe(&self) -> serde_json::Value {
        json!({ "duplicates": self.duplicates })
    }

    /// The settings of external taggers by language. Runs the version command of tools that have one.
    pub fn tools(&self) -> Result<BTreeMap<String, external::Settings>> {
        let tools = self.external.iter().filter(|_| self.tags);
        tools.map(|(language, tool)| Ok((language.clone(), tool.settings(language)?))).collect()
    }

    pub(super) fn check(&self) -> Result<()> {
        for (language, tool) in &self.external {
            if !is_language_code(language) {
                bail!(
                    "[annotate.external.{language}]: `{language}` is not a language code; use one such as [annotate.external.de]"
                );
            }
            tool.check().with_context(|| format!("[annotate.external.{language}]"))?;
        }
        Ok(())
    }
}

/// The handling of duplicate text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Duplicates {
    /// Leaves duplicates out of the annotated text and the index.
    Drop,
    /// Keeps duplicates.
    Keep,
}
