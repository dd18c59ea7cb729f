//! Reasons why documents are not part of the text.

/// The reason why a document is not part of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exclusion {
    /// None of its text is new.
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
