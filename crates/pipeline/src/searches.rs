//! Saved searches: queries with names, a feed of new hits each, and optionally a webhook.

use std::fmt;

use anyhow::{Result, bail};
use jiff::Timestamp;
use serde::Serialize;
use tidings_model::clock;
use tidings_query::MatchRule;
use tidings_store::saved_searches::{self, MAX_SEARCHES, SavedSearch, is_name};
use tidings_store::{Home, rfc3339};
use url::Url;

use crate::Pipeline;
use crate::context::RunContext;
use crate::corpus::Corpus;
use crate::outcome::Outcome;
use crate::usage_error::UsageError;
use crate::virtual_corpora::parse_filter;

/// A saved search and the state of its webhook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SearchRow {
    /// The name.
    pub name: String,
    /// The language of the corpus.
    pub lang: String,
    /// The query.
    pub q: String,
    /// The filter of documents; empty for all.
    pub filter: String,
    /// The time at which it was saved.
    pub created: String,
    /// The address that is notified of new hits; empty for none.
    pub webhook: String,
    /// The time of the last notification that arrived; empty if there was none.
    pub notified: String,
    /// The reason why the last notification failed; empty if it did not.
    pub failure: String,
}

impl Outcome for SearchRow {}

impl fmt::Display for SearchRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SearchRow { name, q, lang, webhook, .. } = self;
        write!(f, "saved {name}: {q} in {lang}")?;
        match webhook.is_empty() {
            true => writeln!(f),
            false => writeln!(f, "; `tidings run` notifies {webhook} of new hits"),
        }
    }
}

/// A search to save.
#[derive(Debug, Clone, Default)]
pub struct NewSearch {
    /// The name.
    pub name: String,
    /// The language; the only one of the corpus if absent.
    pub lang: Option<String>,
    /// The query.
    pub query: String,
    /// The filter of documents.
    pub filter: Option<String>,
    /// The address to notify of new hits.
    pub webhook: Option<String>,
}

/// A search that was removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RemovedSearch {
    /// The name.
    pub removed: String,
}

impl Outcome for RemovedSearch {}

impl fmt::Display for RemovedSearch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "removed {}", self.removed)
    }
}

/// All saved searches.
pub fn list(home: &Home) -> Result<Vec<SearchRow>> {
    let states = saved_searches::read_webhooks(home)?;
    let row = |search: SavedSearch| {
        let state = states.iter().find(|state| state.name == search.name).cloned().unwrap_or_default();
        SearchRow { notified: state.notified, failure: state.failure, ..row(search) }
    };
    Ok(saved_searches::read(home)?.into_iter().map(row).collect())
}

fn row(search: SavedSearch) -> SearchRow {
    SearchRow {
        name: search.name,
        lang: search.lang,
        q: search.query,
        filter: search.filter,
        created: search.created,
        webhook: search.webhook,
        notified: String::new(),
        failure: String::new(),
    }
}

/// Saves a search; replaces an existing one with its name.
pub fn save(pipeline: &Pipeline, new: &NewSearch) -> Result<SearchRow> {
    if !is_name(&new.name) {
        let message =
            format!("invalid name `{}`; use up to 60 letters, digits, hyphens, dots and underscores", new.name);
        return Err(UsageError::new(message).into());
    }
    let webhook = new.webhook.clone().unwrap_or_default();
    let is_address = |text: &str| Url::parse(text).is_ok_and(|url| matches!(url.scheme(), "http" | "https"));
    if !webhook.is_empty() && !is_address(&webhook) {
        return Err(UsageError::new(format!("--webhook {webhook}: not a valid http or https URL")).into());
    }
    let filter = new.filter.as_deref().map(parse_filter).transpose()?;
    let corpus = Corpus::open(pipeline.home(), new.lang.as_deref())?;
    corpus.search(&new.query, MatchRule::default(), filter.as_ref())?;
    let context = RunContext::open(pipeline, "searches")?;
    let mut known = saved_searches::read(&context.home)?;
    known.retain(|search| search.name != new.name);
    if known.len() >= MAX_SEARCHES {
        bail!("there are {MAX_SEARCHES} saved searches already; remove some with `tidings searches remove`");
    }
    let saved = SavedSearch {
        name: new.name.clone(),
        lang: corpus.language,
        query: new.query.clone(),
        filter: filter.map(|filter| filter.to_string()).unwrap_or_default(),
        created: rfc3339(Timestamp::from_second(clock::now().as_second())?),
        webhook,
    };
    known.push(saved.clone());
    saved_searches::write(&context.home, known)?;
    forget_webhook(&context.home, &new.name)?;
    Ok(row(saved))
}

/// Removes a search.
pub fn remove(pipeline: &Pipeline, name: &str) -> Result<RemovedSearch> {
    let context = RunContext::open(pipeline, "searches")?;
    let mut known = saved_searches::read(&context.home)?;
    let before = known.len();
    known.retain(|search| search.name != name);
    if known.len() == before {
        let names: Vec<&str> = known.iter().map(|search| search.name.as_str()).collect();
        let names =
            if names.is_empty() { "there are none".to_owned() } else { format!("there are {}", names.join(", ")) };
        return Err(UsageError::new(format!("no saved search named {name}; {names}")).into());
    }
    saved_searches::write(&context.home, known)?;
    forget_webhook(&context.home, name)?;
    Ok(RemovedSearch { removed: name.to_owned() })
}

/// Removes the state of a webhook: a search that is saved again begins anew.
fn forget_webhook(home: &Home, name: &str) -> Result<()> {
    let mut states = saved_searches::read_webhooks(home)?;
    let before = states.len();
    states.retain(|state| state.name != name);
    if states.len() < before {
        saved_searches::write_webhooks(home, states)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn new(name: &str, query: &str) -> NewSearch {
        NewSearch { name: name.into(), lang: Some("en".into()), query: query.into(), ..NewSearch::default() }
    }

    #[test]
    fn searches_are_saved_listed_and_removed() {
        let (_folder, pipeline) = crate::test_home::built();
        let hook = Some("https://hook.example/x".to_owned());
        save(&pipeline, &NewSearch { webhook: hook, ..new("storms", "storm") }).unwrap();
        let told = save(&pipeline, &new("rain", "[lemma=\"rain\"]")).unwrap().to_string();
        assert_eq!(told, "saved rain: [lemma=\"rain\"] in en\n");
        let rows = list(pipeline.home()).unwrap();
        let shown: Vec<(&str, &str)> = rows.iter().map(|row| (row.name.as_str(), row.webhook.as_str())).collect();
        assert_eq!(shown, [("storms", "https://hook.example/x"), ("rain", "")]);
        remove(&pipeline, "rain").unwrap();
        assert!(remove(&pipeline, "rain").unwrap_err().to_string().contains("there are storms"));
    }

    #[test]
    fn wrong_names_queries_filters_and_addresses_are_wrong_usage() {
        let (_folder, pipeline) = crate::test_home::built();
        let hook = |url: &str| NewSearch { webhook: Some(url.into()), ..new("a", "storm") };
        let filter = NewSearch { filter: Some("date>=".into()), ..new("a", "storm") };
        let lang = NewSearch { lang: Some("xx".into()), ..new("a", "storm") };
        for wrong in [new("a b", "storm"), new("a", "[lemma=\"x\""), hook("mailto:a@b.example"), filter, lang] {
            let error = save(&pipeline, &wrong).unwrap_err();
            assert!(error.is::<UsageError>(), "{wrong:?}: {error}");
        }
        assert!(list(pipeline.home()).unwrap().is_empty());
    }
}
