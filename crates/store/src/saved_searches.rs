//! Saved searches: queries with names, in `searches.tsv`. Each has a feed of its newest hits, and some a webhook.

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
    /// The address that is notified of new hits; empty for none.
    pub webhook: String,
}

columns!(SavedSearch { name, lang, query, filter, created, webhook });

/// The state of the webhook of a search, in `state/webhooks.tsv`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WebhookState {
    /// The name of the search.
    pub name: String,
    /// The newest day on which documents were seen that the webhook was notified of.
    pub day: String,
    /// The ids of the documents of that day that it was notified of, separated by blanks.
    pub documents: String,
    /// The time of the last notification that arrived.
    pub notified: String,
    /// The time since which notifications fail; empty if the last one arrived.
    pub failing_since: String,
    /// The reason of the last failure.
    pub failure: String,
}

columns!(WebhookState { name, day, documents, notified, failing_since, failure });

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

/// The states of all webhooks.
pub fn read_webhooks(home: &Home) -> Result<Vec<WebhookState>> {
    let mut known = Vec::new();
    table::read(&home.root().join("state/webhooks.tsv"), |state| known.push(state))?;
    Ok(known)
}

/// Replaces the states of all webhooks.
pub fn write_webhooks(home: &Home, known: Vec<WebhookState>) -> Result<()> {
    Ok(write_atomic(&home.root().join("state/webhooks.tsv"), table::text(known.into_iter()).as_bytes())?)
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
    fn searches_of_versions_without_webhooks_are_read() {
        let (_folder, home) = home();
        let former = "name\tlang\tquery\tfilter\tcreated\nstorms\ten\tstorm\t\t2026-06-01T00:00:00Z\n";
        std::fs::write(home.root().join("searches.tsv"), former).unwrap();
        let read = read(&home).unwrap();
        assert_eq!((read[0].name.as_str(), read[0].webhook.as_str()), ("storms", ""));
    }

    #[test]
    fn the_states_of_webhooks_are_stored() {
        let (_folder, home) = home();
        assert!(read_webhooks(&home).unwrap().is_empty());
        let state = WebhookState { name: "storms".into(), day: "2026-06-02".into(), ..WebhookState::default() };
        write_webhooks(&home, vec![state.clone()]).unwrap();
        assert_eq!(read_webhooks(&home).unwrap(), [state]);
    }

    #[test]
    fn names_fit_into_addresses_and_files() {
        assert!(is_name("storms") && is_name("déluge-2026") && is_name("a.b_c"));
        for wrong in ["", " ", "a b", "a/b", "..", "-x", "a\tb", "a?b", &"x".repeat(61)] {
            assert!(!is_name(wrong), "{wrong}");
        }
    }
}
