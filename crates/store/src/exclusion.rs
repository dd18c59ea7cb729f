//! Reasons why documents are not part of the text.

use serde::{Deserialize, Serialize};

/// The reason why a document is not part of the text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Exclusion {
    /// None of its text is new.
    #[default]
    Duplicate,
    /// A later revision takes its place.
    Superseded,
}

impl Exclusion {
    /// Its name in recipes.
    pub fn word(self) -> &'static str {
        match self {
            Exclusion::Duplicate => "duplicate",
            Exclusion::Superseded => "superseded",
        }
    }
}
