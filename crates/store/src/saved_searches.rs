//! Saved searches: queries with names, in `searches.tsv`. Each has a feed of its newest hits.

use tidings_storage::write_atomic;

use crate::error::Result;
use crate::home::Home;
use crate::table::{self, columns};

/// The most saved searches of a home.
pub const MAX_SEARCHES: usize = 1000;
/// The longest name in characters.
pub const MAX_NAME_CHARS: usize = 60;

/// A query with a name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SavedSearch {
    /// The name.
    pub name: String,
    /// The language of the corpus.
    pub lang: String,
    /// The query, as text.
    pub query: String,
    /// The filter of documents, as text; empty for all.
    pub filter: String,
    /// The time at which it was saved.
    pub created: String,
}

columns!(SavedSearch { name, lang, query, filter, created });

/// Returns true if a text can be the name of a search or a virtual corpus: letters, digits, hyphens, dots and underscores.
pub fn is_name(text: &str) -> bool {
    (1..=MAX_NAME_CHARS).contains(&text.chars().count())
        && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.'))
        && !text.starts_with(['.', '-'])
}

/// All saved searches.
pub fn read(home: &Home) -> Result<Vec<SavedSearch>> {
    let mut known = Vec::new();
    table::read(&home.root().join("searches.tsv"), |search| known.push(search))?;
    Ok(known)
}

/// Replaces all saved searches.
pub fn write(home: &Home, known: Vec<SavedSearch>) -> Result<()> {
    Ok(write_atomic(&home.root().join("searches.tsv"), table::text(known.into_iter()).as_bytes())?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::home;

    #[test]
    fn searches_are_stored_by_name() {
        let (_folder, home) = home();
        assert!(read(&home).unwrap().is_empty());
        let search = SavedSearch {
            name: "storms".into(),
            lang: "en".into(),
            query: "[lc=\"storm.*\"]\tx".into(),
            ..SavedSearch::default()
        };
        write(&home, vec![search.clone()]).unwrap();
        assert_eq!(read(&home).unwrap(), [search]);
    }

    #[test]
    fn names_fit_into_addresses_and_files() {
        assert!(is_name("storms") && is_name("déluge-2026") && is_name("a.b_c"));
        for wrong in ["", " ", "a b", "a/b", "..", "-x", "a\tb", "a?b", &"x".repeat(61)] {
            assert!(!is_name(wrong), "{wrong}");
        }
    }
}
