//! The right of a client to see text.
//!
//! Every document has an availability, and every client a scope or none. Metadata are always shown; text is not:
//!
//! | availability | without a token | scope `text` | scope `admin` |
//! | --- | --- | --- | --- |
//! | `open` | lines and whole text | lines and whole text | lines and whole text |
//! | `kwic` | counts of words in groups | lines; counts in groups | lines and whole text |
//! | `metadata` | counts of words in groups | counts of words in groups | lines and whole text |
//!
//! Small counts can be put together to text again: what a client may not read therefore takes no part in anything that depends
//! on positions, and single words in it are counted in whole groups of documents only: see
//! [`Reading`](tidings_query::engine::Reading). On a private server the scope `text` counts `kwic` documents like open ones,
//! and the owner on the same machine has the scope `admin` unless the settings say otherwise.

use jiff::civil::Date;
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
    /// Whether the server is private and the request comes through no proxy, so that the client is on the same machine.
    pub is_private: bool,
}

impl Right {
    /// The least availability of documents whose lines and whole text are shown, and that are counted one by one.
    pub fn privacy(self, today: Date) -> Privacy {
        let lines = match self.scope {
            Some(Scope::Admin) => Availability::Metadata,
            Some(Scope::Text) => Availability::Kwic,
            None => Availability::Open,
        };
        let text = if self.scope == Some(Scope::Admin) { Availability::Metadata } else { Availability::Open };
        let alone = if self.is_private { lines } else { text };
        Privacy { default: self.default, lines, text, alone, today: Some(today) }
    }

    /// Whether the client is the owner of the home: on the same machine, with all rights.
    pub fn is_owner(self) -> bool {
        self.is_private && self.scope == Some(Scope::Admin)
    }

    /// Whether the lines of `kwic` documents are limited for the client.
    pub fn has_window_limit(self) -> bool {
        self.scope == Some(Scope::Text) && !self.is_private
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_shown_as_the_table_says() {
        let rights = [None, Some(Scope::Text), Some(Scope::Admin)];
        let seen = |shows: fn(Privacy, Availability) -> bool, availability| {
            rights.map(|scope| {
                let right = Right { scope, default: Availability::Kwic, is_private: false };
                shows(right.privacy(Date::constant(2026, 5, 5)), availability)
            })
        };
        assert_eq!(seen(Privacy::shows_lines, Availability::Open), [true, true, true]);
        assert_eq!(seen(Privacy::shows_lines, Availability::Kwic), [false, true, true]);
        assert_eq!(seen(Privacy::shows_lines, Availability::Metadata), [false, false, true]);
        assert_eq!(seen(Privacy::shows_text, Availability::Open), [true, true, true]);
        assert_eq!(seen(Privacy::shows_text, Availability::Kwic), [false, false, true]);
        assert_eq!(seen(Privacy::shows_text, Availability::Metadata), [false, false, true]);
        assert_eq!(seen(Privacy::counts_alone, Availability::Open), [true, true, true]);
        assert_eq!(seen(Privacy::counts_alone, Availability::Kwic), [false, false, true]);
        let owner = Right { scope: Some(Scope::Text), default: Availability::Kwic, is_private: true };
        assert!(owner.privacy(Date::constant(2026, 5, 5)).counts_alone(Availability::Kwic));
        assert!(!owner.has_window_limit());
    }
}
