//! Settings of annotation: documents → sentences of tokens.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, bail};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tidings_annotate::chain::{self, LAYERS, LayerAnnotator};
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
    /// The further layers, by the names of their annotators.
    pub layers: Vec<String>,
    pub external: BTreeMap<String, ExternalConfig>,
    /// Annotators of further layers that a program adds to those of the table.
    #[serde(skip)]
    pub own_layers: Vec<LayerAnnotator>,
}

impl Default for AnnotateConfig {
    fn default() -> AnnotateConfig {
        AnnotateConfig {
            duplicates: Duplicates::Drop,
            tags: true,
            features: true,
            models: String::new(),
            layers: LAYERS.iter().map(|layer| layer.name.to_owned()).collect(),
            external: BTreeMap::new(),
            own_layers: Vec::new(),
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

    /// Adds an annotator of a further layer to those of the table, and selects it.
    pub fn add_layer(&mut self, layer: LayerAnnotator) {
        self.own_layers.retain(|known| known.name != layer.name);
        self.own_layers.push(layer);
        if !self.layers.iter().any(|name| name == layer.name) {
            self.layers.push(layer.name.to_owned());
        }
    }

    /// The selected annotators of further layers, in the order in which they run.
    pub fn chain(&self) -> Result<Vec<LayerAnnotator>> {
        let is_replaced = |layer: &&LayerAnnotator| self.own_layers.iter().any(|own| own.name == layer.name);
        let known: Vec<LayerAnnotator> =
            LAYERS.iter().filter(|layer| !is_replaced(layer)).chain(&self.own_layers).copied().collect();
        chain::select(&self.layers, &known).context("annotate.layers")
    }

    pub(super) fn check(&self) -> Result<()> {
        self.chain()?;
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
