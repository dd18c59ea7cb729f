//! Limits of the quality gate, for all languages and for each.

use std::collections::BTreeMap;

use anyhow::{Result, anyhow, bail};
use serde::{Deserialize, Serialize};
use tidings_clean::gate::{Gate, Limits};

use super::is_language_code;

/// The `[gate.all]` table and the tables of languages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "BTreeMap<String, Limits>")]
pub struct GateConfig(BTreeMap<String, Limits>);

impl Default for GateConfig {
    fn default() -> GateConfig {
        GateConfig([(Gate::ALL.to_owned(), Limits::defaults())].into())
    }
}

/// Limits that are not set for all languages get their defaults, so that equal settings compare equal.
impl From<BTreeMap<String, Limits>> for GateConfig {
    fn from(mut set: BTreeMap<String, Limits>) -> GateConfig {
        let all = set.remove(Gate::ALL).unwrap_or_default().or(&Limits::defaults());
        set.insert(Gate::ALL.to_owned(), all);
        GateConfig(set)
    }
}

impl GateConfig {
    pub(super) fn check(&self) -> Result<()> {
        for (name, limits) in &self.0 {
            if name != Gate::ALL && !is_language_code(name) {
                bail!(
                    "[gate.{name}]: `{name}` is not a language code; use one such as [gate.de], or [gate.all] for all languages"
                );
            }
            limits.check().map_err(|fault| anyhow!("gate.{name}.{fault}"))?;
        }
        Ok(())
    }

    /// The quality gate with these limits.
    pub fn gate(&self) -> Gate {
        let mut gate = Gate::default();
        self.0.iter().for_each(|(name, limits)| gate.set(name, limits.clone()));
        gate
    }
}
