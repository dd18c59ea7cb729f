//! Settings of cleaning: pages → documents.

use anyhow::{Result, bail};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tidings_clean::Options;
use tidings_clean::gate::Gate;
use tidings_clean::postprocess::{ForeignParagraphs, PostprocessOptions};
use tidings_lang::MaskRule;

use super::gate::GateConfig;
use super::{languages, within};

/// The `[clean]` table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[allow(missing_docs)] // The template documents each key to users.
pub struct CleanConfig {
    pub preset: Preset,
    pub links: bool,
    pub comments: bool,
    pub languages: Vec<String>,
    pub foreign: ForeignParagraphs,
    pub mask: Vec<String>,
    pub memory_mib: usize,
    pub threads: usize,
}

impl Default for CleanConfig {
    fn default() -> CleanConfig {
        CleanConfig {
            preset: Preset::Balanced,
            links: false,
            comments: false,
            languages: Vec::new(),
            foreign: ForeignParagraphs::Mark,
            mask: MaskRule::ALL.iter().map(|rule| rule.name().to_owned()).collect(),
            memory_mib: 512,
            threads: 0,
        }
    }
}

impl CleanConfig {
    /// The settings that affect documents, as written to recipes.
    pub(crate) fn recipe(&self, gate: &GateConfig) -> serde_json::Value {
        json!({
            "preset": self.preset,
            "links": self.links,
            "comments": self.comments,
            "languages": self.languages,
            "foreign": self.foreign,
            "mask": self.mask,
            "gate": gate,
        })
    }

    /// The options of the extractor.
    pub fn options(&self) -> Options {
        Options { preset: self.preset.into(), links: self.links, comments: self.comments, stubs: false }
    }

    pub(super) fn check(&self) -> Result<()> {
        within("clean.", [("memory_mib", self.memory_mib, 16..=1_000_000), ("threads", self.threads, 0..=1024)])?;
        languages("clean", &self.languages)?;
        if let Some(name) = self.mask.iter().find(|name| MaskRule::named(name).is_none()) {
            let known = MaskRule::ALL.map(MaskRule::name).join(", ");
            bail!("clean.mask: unknown rule `{name}`; known rules: {known}");
        }
        Ok(())
    }

    /// The settings of post-processing and the quality gate.
    pub fn postprocess_options(&self, gate: Gate) -> PostprocessOptions {
        PostprocessOptions {
            masks: self.mask.iter().filter_map(|name| MaskRule::named(name)).collect(),
            languages: self.languages.clone(),
            foreign: self.foreign,
            gate,
        }
    }
}

/// Extraction presets, by their names in settings and on the command line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Preset {
    /// Balances lost text and kept boilerplate
    #[default]
    Balanced,
    /// Removes more boilerplate and loses some text
    Precision,
    /// Keeps more text and some boilerplate
    Recall,
    /// Paragraph length, link density and stop words (jusText)
    Justext,
}

impl Preset {
    /// All presets.
    pub const ALL: [Preset; 4] = [Preset::Balanced, Preset::Precision, Preset::Recall, Preset::Justext];

    /// The name in settings and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Preset::Balanced => "balanced",
            Preset::Precision => "precision",
            Preset::Recall => "recall",
            Preset::Justext => "justext",
        }
    }

    /// The description in help texts.
    pub fn about(self) -> &'static str {
        match self {
            Preset::Balanced => "Balances lost text and kept boilerplate",
            Preset::Precision => "Removes more boilerplate and loses some text",
            Preset::Recall => "Keeps more text and some boilerplate",
            Preset::Justext => "Paragraph length, link density and stop words (jusText)",
        }
    }

    /// The preset with a name.
    pub fn named(name: &str) -> Option<Preset> {
        Preset::ALL.into_iter().find(|preset| preset.name() == name)
    }
}

impl From<Preset> for tidings_clean::Preset {
    fn from(preset: Preset) -> tidings_clean::Preset {
        match preset {
            Preset::Balanced => tidings_clean::Preset::Balanced,
            Preset::Precision => tidings_clean::Preset::Precision,
            Preset::Recall => tidings_clean::Preset::Recall,
            Preset::Justext => tidings_clean::Preset::Justext(tidings_clean::justext::JustextOptions::production()),
        }
    }
}
