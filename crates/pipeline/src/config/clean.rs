//! How pages become documents.

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
#[allow(missing_docs)] // The template documents each key to everybody.
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
    /// The settings that shape documents, as recipes keep them.
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

    /// What the extractor is told.
    pub fn options(&self) -> Options {
        Options { preset: self.preset.into(), links: self.links, comments: self.comments, stubs: false }
    }

    pub(super) fn check(&self) -> Result<()> {
        within("clean.", [("memory_mib", self.memory_mib, 16..=1_000_000), ("threads", self.threads, 0..=1024)])?;
        languages("clean", &self.languages)?;
        if let Some(name) = self.mask.iter().find(|name| MaskRule::named(name).is_none()) {
            let known = MaskRule::ALL.map(MaskRule::name).join(", ");
            bail!("clean.mask: there is no rule `{name}`; there are {known}");
        }
        Ok(())
    }

    /// What becomes of the text of pages that a gate looks at.
    pub fn postprocess_options(&self, gate: Gate) -> PostprocessOptions {
        PostprocessOptions {
            masks: self.mask.iter().filter_map(|name| MaskRule::named(name)).collect(),
            languages: self.languages.clone(),
            foreign: self.foreign,
            gate,
        }
    }
}

/// How strictly text is told from the rest, by its name in settings and on the command line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Preset {
    /// Loses about as much as it lets through
    #[default]
    Balanced,
    /// Lets little through that is not text
    Precision,
    /// Loses little of the text
    Recall,
    /// The classic rule of paragraph length, link density and stop words
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

    /// A line about it, for help texts.
    pub fn about(self) -> &'static str {
        match self {
            Preset::Balanced => "Loses about as much as it lets through",
            Preset::Precision => "Lets little through that is not text",
            Preset::Recall => "Loses little of the text",
            Preset::Justext => "The classic rule of paragraph length, link density and stop words",
        }
    }

    /// The preset of a name.
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
