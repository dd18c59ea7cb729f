//! Settings of duplicate detection.

use anyhow::{Result, anyhow, bail};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tidings_dedup::{Levels, Rule, Scope};

use super::within;

/// The `[dedup]` table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[allow(missing_docs)] // The template documents each key to users.
pub struct DedupConfig {
    pub preset: String,
    pub ngram: usize,
    pub threshold: f32,
    pub smoothing: bool,
    pub levels: Vec<String>,
    pub scope: Scope,
    pub memory_mib: usize,
    pub threads: usize,
}

impl Default for DedupConfig {
    fn default() -> DedupConfig {
        DedupConfig {
            preset: "tidings".to_owned(),
            ngram: 0,
            threshold: 0.0,
            smoothing: true,
            levels: Vec::new(),
            scope: Scope::All,
            memory_mib: 96,
            threads: 0,
        }
    }
}

impl DedupConfig {
    /// The settings that affect verdicts, as written to recipes.
    pub(crate) fn recipe(&self) -> serde_json::Value {
        let rule = self.rule().ok();
        json!({
            "ngram": rule.map(|rule| rule.ngram),
            "threshold": rule.map(|rule| rule.threshold),
            "smoothing": rule.map(|rule| rule.smoothing),
            "levels": rule.map(|rule| rule.levels),
            "scope": self.scope,
        })
    }

    /// The deduplication rule: the preset with the deviations of the settings.
    pub fn rule(&self) -> Result<Rule> {
        let Some(preset) = tidings_dedup::preset(&self.preset) else {
            let known = tidings_dedup::PRESETS.map(|preset| preset.name).join(", ");
            bail!("dedup.preset = \"{}\" is unknown; known presets: {known}", self.preset);
        };
        let mut rule = preset.rule;
        if self.ngram > 0 {
            rule.ngram = self.ngram;
        }
        if self.threshold > 0.0 {
            rule.threshold = self.threshold;
        }
        if !self.smoothing {
            rule.smoothing = 0;
        }
        if !self.levels.is_empty() {
            rule.levels = Levels::try_from(self.levels.clone()).map_err(|fault| anyhow!("dedup.levels: {fault}"))?;
        }
        Ok(rule)
    }

    pub(super) fn check(&self) -> Result<()> {
        self.rule()?;
        within(
            "dedup.",
            [
                ("ngram", self.ngram, 0..=64),
                ("memory_mib", self.memory_mib, 1..=1_000_000),
                ("threads", self.threads, 0..=1024),
            ],
        )?;
        if !(0.0..=1.0).contains(&self.threshold) {
            bail!("dedup.threshold = {} is out of range; give a number from 0 to 1", self.threshold);
        }
        Ok(())
    }
}
