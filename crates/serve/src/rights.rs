//! Who may see text.
//!
//! Every document has an availability, and everybody who asks has a right, or none. Counts and what is publicly known about a
//! document are for everybody; its text is not:
//!
//! | availability | without a right | scope `text` | scope `admin` |
//! | --- | --- | --- | --- |
//! | `open` | lines and whole text | lines and whole text | lines and whole text |
//! | `kwic` | counts and metadata | lines | lines and whole text |
//! | `metadata` | counts and metadata | counts and metadata | lines and whole text |
//!
//! Counts can be put together to text again if they are small enough. Whoever may not see text therefore gets no rows of
//! words in a row, neighbours or values that occur too rarely, and no lines in the order of their text.

use tidings_query::engine::Engine;
use tidings_store::tokens::Scope;

/// The field of a document that tells its availability.
pub(crate) const FIELD: &str = "availability";
/// Rows that are made of neighbouring words need so many hits where text is not to be seen.
pub(crate) const LEAST_HITS: u64 = 5;
/// And so many documents, where those are counted.
pub(crate) const LEAST_DOCUMENTS: u64 = 3;

/// Where the text of a document may be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Availability {
    /// Nowhere: counts and metadata only.
    Metadata,
    /// In lines of a concordance, to those who have a right.
    Kwic,
    /// Everywhere.
    Open,
}

impl Availability {
    /// All of them, with their names.
    pub const ALL: [(&'static str, Availability); 3] =
        [("open", Availability::Open), ("kwic", Availability::Kwic), ("metadata", Availability::Metadata)];

    /// The availability of a name.
    pub fn named(name: &str) -> Option<Availability> {
        Availability::ALL.iter().find(|row| row.0 == name).map(|row| row.1)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        Availability::ALL.iter().find(|row| row.1 == self).map_or("metadata", |row| row.0)
    }

    /// What the field of a document says: nothing is the default, and a word that nobody knows allows nothing.
    pub(crate) fn of_field(value: Option<&str>, default: Availability) -> Availability {
        match value {
            None | Some("") => default,
            Some(word) => Availability::named(word).unwrap_or(Availability::Metadata),
        }
    }
}

/// What somebody may see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Right {
    /// The scope of the token, or what those who ask from this machine may do.
    pub scope: Option<Scope>,
    /// The availability of documents that do not tell theirs.
    pub default: Availability,
}

impl Right {
    /// Whether lines of a document may be seen.
    pub fn shows_lines(self, availability: Availability) -> bool {
        match self.scope {
            Some(Scope::Admin) => true,
            Some(Scope::Text) => availability >= Availability::Kwic,
            None => availability == Availability::Open,
        }
    }

    /// Whether the whole text of a document may be seen.
    pub fn shows_text(self, availability: Availability) -> bool {
        self.scope == Some(Scope::Admin) || availability == Availability::Open
    }

    /// Whether there are documents whose lines may not be seen.
    pub fn is_limited(self, engine: &Engine) -> bool {
        let hidden = |availability| !self.shows_lines(availability);
        engine.snapshot().segments().iter().any(|living| match living.segment().field(FIELD) {
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
    fn text_is_shown_as_the_table_says() {
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
    fn an_unknown_word_allows_nothing() {
        assert_eq!(Availability::of_field(Some("free"), Availability::Open), Availability::Metadata);
        assert_eq!(Availability::of_field(Some(""), Availability::Open), Availability::Open);
        assert_eq!(Availability::of_field(None, Availability::Kwic), Availability::Kwic);
    }
}
