//! The right of a client to see text.
//!
//! Every document has an availability, and every client a scope or none. Counts and metadata are always shown; text is not:
//!
//! | availability | without a token | scope `text` | scope `admin` |
//! | --- | --- | --- | --- |
//! | `open` | lines and whole text | lines and whole text | lines and whole text |
//! | `kwic` | counts and metadata | lines | lines and whole text |
//! | `metadata` | counts and metadata | counts and metadata | lines and whole text |
//!
//! Small counts can be put together to text again. Where some text may not be shown, questions therefore leave out rows of
//! neighbouring words that are too rare, and do not sort lines by their text: see [`Privacy`].

pub use tidings_query::question::Availability;
use tidings_query::question::Privacy;
use tidings_store::tokens::Scope;

/// The right of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Right {
    /// The scope of the token, or that of requests from this machine.
    pub scope: Option<Scope>,
    /// The availability of documents that do not state theirs.
    pub default: Availability,
}

impl Right {
    /// The least availability of documents whose lines and whole text are shown.
    pub fn privacy(self) -> Privacy {
        let lines = match self.scope {
            Some(Scope::Admin) => Availability::Metadata,
            Some(Scope::Text) => Availability::Kwic,
            None => Availability::Open,
        };
        let text = if self.scope == Some(Scope::Admin) { Availability::Metadata } else { Availability::Open };
        Privacy { default: self.default, lines, text }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_shown_as_the_table_says() {
        let rights = [None, Some(Scope::Text), Some(Scope::Admin)];
        let seen = |shows: fn(Privacy, Availability) -> bool, availability| {
            rights.map(|scope| shows(Right { scope, default: Availability::Kwic }.privacy(), availability))
        };
        assert_eq!(seen(Privacy::shows_lines, Availability::Open), [true, true, true]);
        assert_eq!(seen(Privacy::shows_lines, Availability::Kwic), [false, true, true]);
        assert_eq!(seen(Privacy::shows_lines, Availability::Metadata), [false, false, true]);
        assert_eq!(seen(Privacy::shows_text, Availability::Open), [true, true, true]);
        assert_eq!(seen(Privacy::shows_text, Availability::Kwic), [false, false, true]);
        assert_eq!(seen(Privacy::shows_text, Availability::Metadata), [false, false, true]);
    }
}
