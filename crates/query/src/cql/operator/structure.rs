//! The structures of a corpus, which boundaries and regions refer to.

use crate::syntax::{Cursor, SyntaxError};

/// A level of the structure of a corpus.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Structure {
    /// `<s>`
    Sentence,
    /// `<p>`
    Paragraph,
    /// `<doc>`
    Document,
}

/// The structures with their names.
pub const STRUCTURES: &[(Structure, &str)] =
    &[(Structure::Sentence, "s"), (Structure::Paragraph, "p"), (Structure::Document, "doc")];

impl Structure {
    /// The structure of a name.
    pub fn named(name: &str) -> Option<Structure> {
        STRUCTURES.iter().find(|(_, known)| *known == name).map(|(structure, _)| *structure)
    }

    /// The name in queries.
    pub fn name(self) -> &'static str {
        STRUCTURES.iter().find(|(structure, _)| *structure == self).map_or("", |(_, name)| name)
    }

    pub(super) fn parse(cursor: &mut Cursor<'_>) -> Result<Structure, SyntaxError> {
        let (name, span) = cursor.name("a structure: s, p or doc")?;
        Structure::named(name)
            .ok_or_else(|| SyntaxError::new(span, format!("unknown structure {name}")).help("there are s, p and doc"))
    }
}
