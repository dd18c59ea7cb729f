//! The structures of a corpus, which boundaries and regions refer to.

use crate::cql::name::Name;
use crate::syntax::{Cursor, SyntaxError};

/// A level of the structure of a corpus.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Structure {
    /// `<s>`
    Sentence,
    /// `<p>`
    Paragraph,
    /// `<doc>`
    Document,
    /// `<quote>`: spans of a name. Whether the corpus has them is known only when a query is compiled.
    Span(Name),
}

/// The structures of every corpus with their names.
pub const STRUCTURES: &[(Structure, &str)] =
    &[(Structure::Sentence, "s"), (Structure::Paragraph, "p"), (Structure::Document, "doc")];

impl Structure {
    /// The structure of every corpus with a name.
    pub fn named(name: &str) -> Option<Structure> {
        STRUCTURES.iter().find(|(_, known)| *known == name).map(|(structure, _)| *structure)
    }

    /// The name in queries.
    pub fn name(&self) -> &str {
        match self {
            Structure::Span(name) => name.as_str(),
            _ => STRUCTURES.iter().find(|(structure, _)| structure == self).map_or("", |(_, name)| name),
        }
    }

    pub(super) fn parse(cursor: &mut Cursor<'_>) -> Result<Structure, SyntaxError> {
        let (name, span) = cursor.name("a structure: s, p, doc or the name of a span")?;
        let structure = Structure::named(name).or_else(|| Name::new(name).map(Structure::Span));
        structure
            .ok_or_else(|| SyntaxError::new(span, format!("unknown structure {name}")).help("there are s, p and doc"))
    }
}
