//! Access to text.
//!
//! Every document has an availability, every client a scope or none. Counts and public metadata are for all clients, text is
//! not:
//!
//! | availability | without a token | scope `text` | scope `admin` |
//! | --- | --- | --- | --- |
//! | `open` | lines and whole text | lines and whole text | lines and whole text |
//! | `kwic` | counts and metadata | lines | lines and whole text |
//! | `metadata` | counts and metadata | counts and metadata | lines and whole text |
//!
//! Text can be reconstructed from small counts. Clients that may not see text therefore get no rare n-grams, collocates or
//! values, and no lines sorted by their text.

use tidings_query::engine::Engine;
use tidings_store::tokens::Scope;

/// The metadata field with the availability of a document.
pub(crate) const FIELD: &str = "availability";
/// Fewest hits of a row of neighbouring words, for clients that may not see all text.
pub(crate) const LEAST_HITS: u64 = 5;
/// Fewest documents of such a row, where documents are counted.
pub(crate) const LEAST_DOCUMENTS: u64 = 3;

/// How much of a document may be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Availability {
    /// Counts and metadata only.
    Metadata,
    /// Concordance lines, to clients with a token.
    Kwic,
    /// The whole text, to all clients.
    Open,
}

impl Availability {
    /// All values with their names.
    pub const ALL: [(&'static str, Availability); 3] =
        [("open", Availability::Open), ("kwic", Availability::Kwic), ("metadata", Availability::Metadata)];

    /// Parses a name.
    pub fn named(name: &str) -> Option<Availability> {
        Availability::ALL.iter().find(|row| row.0 == name).map(|row| row.1)
    }

    /// The name of the value.
    pub fn name(self) -> &'static str {
        Availability::ALL.iter().find(|row| row.1 == self).map_or("metadata", |row| row.0)
    }

    /// Parses the field of a document: empty means the default, an unknown value means [`Availability::Metadata`].
    pub(crate) fn of_field(value: Option<&str>, default: Availability) -> Availability {
        match value {
            None | Some("") => default,
            Some(word) => Availability::named(word).unwrap_or(Availability::Metadata),
        }
    }
}

/// What a client may see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Right {
    /// The scope of the token, or that of loopback clients.
    pub scope: Option<Scope>,
    /// Availability of documents that do not state one.
    pub default: Availability,
}

impl Right {
    /// Returns `true` if concordance lines of a document may be shown.
    pub fn shows_lines(self, availability: Availability) -> bool {
        match self.scope {
            Some(Scope::Admin) => true,
            Some(Scope::Text) => availability >= Availability::Kwic,
            None => availability == Availability::Open,
        }
    }

    /// Returns `true` if the whole text of a document may be shown.
    pub fn shows_text(self, availability: Availability) -> bool {
        self.scope == Some(Scope::Admin) || availability == Availability::Open
    }

    /// Returns `true` if the corpus has documents whose lines may not be shown.
    pub fn is_limited(self, engine: &Engine) -> bool {
        let hidden = |availability| !self.shows_lines(availability);
        engine.snapshot().segments().iter().any(|live| match live.segment().field(FIELD) {
            Some(field) => {
                (0..field.count()).any(|code| hidden(Availability::of_field(Some(field.value(code)), self.default)))
            }
            None => hidden(self.default),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_shown_as_the_table_states() {
        let rights = [None, Some(Scope::Text), Some(Scope::Admin)];
        let seen = |shows: fn(Right, Availability) -> bool, availability| {
            rights.map(|scope| shows(Right { scope, default: Availability::Kwic }, availability))
        };
        assert_eq!(seen(Right::shows_lines, Availability::Open), [true, true, true]);
        assert_eq!(seen(Right::shows_lines, Availability::Kwic), [false, true, true]);
        assert_eq!(seen(Right::shows_lines, Availability::Metadata), [false, false, true]);
        assert_eq!(seen(Right::shows_text, Availability::Open), [true, true, true]);
        assert_eq!(seen(Right::shows_text, Availability::Kwic), [false, false, true]);
        assert_eq!(seen(Right::shows_text, Availability::Metadata), [false, false, true]);
    }

    #[test]
    fn an_unknown_availability_means_metadata_only() {
        assert_eq!(Availability::of_field(Some("free"), Availability::Open), Availability::Metadata);
        assert_eq!(Availability::of_field(Some(""), Availability::Open), Availability::Open);
        assert_eq!(Availability::of_field(None, Availability::Kwic), Availability::Kwic);
    }
}
