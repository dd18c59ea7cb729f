//! The neologism desk: decisions about new words, their history, and lists of words to leave out.

use std::collections::BTreeMap;
use std::fmt;

use anyhow::Result;
use jiff::Timestamp;
use serde::Serialize;
use tidings_model::clock;
use tidings_query::question::WordDecisions;
use tidings_store::neologisms::{self, Decision, ListedWord};
use tidings_store::saved_searches::is_name;
use tidings_store::{Home, rfc3339};

use crate::Pipeline;
use crate::context::RunContext;
use crate::corpus::Corpus;
use crate::display::count;
use crate::outcome::Outcome;
use crate::usage_error::UsageError;

/// A decision about a word.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DecisionRow {
    /// The time.
    pub decided: String,
    /// The language of the corpus.
    pub lang: String,
    /// The word.
    pub word: String,
    /// The state that it has since.
    pub status: String,
    /// The word that it is a variant of; empty if of none.
    pub variant_of: String,
    /// The note.
    pub note: String,
}

impl From<Decision> for DecisionRow {
    fn from(decision: Decision) -> DecisionRow {
        let Decision { decided, lang, word, status, variant_of, note } = decision;
        DecisionRow { decided, lang, word, status, variant_of, note }
    }
}

/// Decisions that were made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Decided {
    /// The decisions.
    pub decisions: Vec<DecisionRow>,
}

impl Outcome for Decided {}

impl fmt::Display for Decided {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for DecisionRow { word, status, variant_of, .. } in &self.decisions {
            match variant_of.is_empty() {
                true => writeln!(f, "{word}: {status}")?,
                false => writeln!(f, "{word}: {status}, a variant of {variant_of}")?,
            }
        }
        Ok(())
    }
}

/// Decisions to make about some words.
#[derive(Debug, Clone, Default)]
pub struct NewDecisions {
    /// The language; the only one of the corpus if absent.
    pub lang: Option<String>,
    /// The words.
    pub words: Vec<String>,
    /// The state that they get; their own stays if absent.
    pub status: Option<String>,
    /// The word that they are variants of; what they are stays if absent.
    pub variant_of: Option<String>,
    /// The note; the last one stays if absent.
    pub note: Option<String>,
}

/// The decisions of a corpus, as questions read them.
pub fn decisions(home: &Home, lang: &str) -> Result<WordDecisions> {
    let latest = neologisms::latest(neologisms::read(home)?, lang).into_values();
    let excluded = neologisms::read_lists(home)?.into_iter().filter(|listed| listed.lang == lang);
    Ok(WordDecisions::of(
        latest
            .map(|Decision { word, status, variant_of, note, decided, .. }| [word, status, variant_of, note, decided]),
        excluded.map(|listed| listed.word),
    ))
}

/// Decides about words.
pub fn decide(pipeline: &Pipeline, new: &NewDecisions) -> Result<Decided> {
    let lang = Corpus::open(pipeline.home(), new.lang.as_deref())?.language;
    let context = RunContext::open(pipeline, "neologisms")?;
    let mut known = neologisms::read(&context.home)?;
    let latest = neologisms::latest(known.clone(), &lang);
    let now = rfc3339(Timestamp::from_second(clock::now().as_second())?);
    let mut decisions = Vec::new();
    for word in &new.words {
        let last = neologisms::key(word).ok().and_then(|key| latest.get(&key).cloned()).unwrap_or_default();
        let or = |given: &Option<String>, last: String| given.clone().unwrap_or(last);
        let status = or(&new.status, if last.status.is_empty() { "open".to_owned() } else { last.status });
        let decision = Decision {
            decided: now.clone(),
            lang: lang.clone(),
            word: word.clone(),
            status,
            variant_of: or(&new.variant_of, last.variant_of),
            note: or(&new.note, last.note),
        };
        let decided = neologisms::decide(&mut known, decision).map_err(UsageError::new)?;
        decisions.push(decided.into());
    }
    neologisms::write(&context.home, known)?;
    Ok(Decided { decisions })
}

/// The decisions about a word, or all, the oldest first.
pub fn history(home: &Home, lang: Option<&str>, word: Option<&str>) -> Result<Vec<DecisionRow>> {
    let word = word.map(neologisms::key).transpose().map_err(UsageError::new)?;
    let is_asked = |decision: &Decision| {
        lang.is_none_or(|lang| decision.lang == lang) && word.as_ref().is_none_or(|word| decision.word == *word)
    };
    Ok(neologisms::read(home)?.into_iter().filter(is_asked).map(DecisionRow::from).collect())
}

/// A list of words to leave out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ListRow {
    /// The language of the corpus.
    pub lang: String,
    /// The name.
    pub list: String,
    /// The number of words.
    pub words: u64,
}

/// A list that was changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ListChange {
    /// The name.
    pub list: String,
    /// Words that were put on it.
    pub added: u64,
    /// Words that were taken off it.
    pub removed: u64,
}

impl Outcome for ListChange {}

impl fmt::Display for ListChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "list {}: {} added, {} removed", self.list, count(self.added, "word"), self.removed)
    }
}

/// The lists with their sizes.
pub fn lists(home: &Home) -> Result<Vec<ListRow>> {
    let mut sizes: BTreeMap<(String, String), u64> = BTreeMap::new();
    for ListedWord { lang, list, .. } in neologisms::read_lists(home)? {
        *sizes.entry((lang, list)).or_default() += 1;
    }
    Ok(sizes.into_iter().map(|((lang, list), words)| ListRow { lang, list, words }).collect())
}

/// Puts the words of a text, one a line, on a list.
pub fn exclude(pipeline: &Pipeline, lang: Option<&str>, list: &str, text: &str) -> Result<ListChange> {
    if !is_name(list) {
        let message =
            format!("invalid list name `{list}`; use up to 60 letters, digits, hyphens, dots and underscores");
        return Err(UsageError::new(message).into());
    }
    let lang = Corpus::open(pipeline.home(), lang)?.language;
    let context = RunContext::open(pipeline, "neologisms")?;
    let mut known = neologisms::read_lists(&context.home)?;
    let words = text.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned);
    let added = neologisms::list_words(&mut known, (&lang, list), words).map_err(UsageError::new)?;
    neologisms::write_lists(&context.home, known)?;
    Ok(ListChange { list: list.to_owned(), added: added as u64, removed: 0 })
}

/// Removes a list.
pub fn remove_list(pipeline: &Pipeline, list: &str) -> Result<ListChange> {
    let context = RunContext::open(pipeline, "neologisms")?;
    let mut known = neologisms::read_lists(&context.home)?;
    let before = known.len();
    known.retain(|word| word.list != list);
    let removed = (before - known.len()) as u64;
    if removed == 0 {
        let names: Vec<String> = lists(&context.home)?.into_iter().map(|row| row.list).collect();
        let names =
            if names.is_empty() { "there are none".to_owned() } else { format!("there are {}", names.join(", ")) };
        return Err(UsageError::new(format!("no list named {list}; {names}")).into());
    }
    neologisms::write_lists(&context.home, known)?;
    Ok(ListChange { list: list.to_owned(), added: 0, removed })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidings_query::question::WordStatus;

    fn new(words: &[&str]) -> NewDecisions {
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        NewDecisions { lang: Some("en".to_owned()), words, ..NewDecisions::default() }
    }

    #[test]
    fn the_last_decision_counts_and_the_history_keeps_all() {
        let (_folder, pipeline) = crate::test_home::built();
        let status = |status: &str| Some(status.to_owned());
        let later = NewDecisions { status: status("later"), note: Some("ask Ruth".into()), ..new(&["Rainbank"]) };
        decide(&pipeline, &later).unwrap();
        let told = decide(&pipeline, &NewDecisions { status: status("accepted"), ..new(&["rainbank"]) }).unwrap();
        assert_eq!(told.to_string(), "rainbank: accepted\n");
        let variant = NewDecisions { variant_of: Some("rainbank".into()), ..new(&["rain bank"]) };
        decide(&pipeline, &variant).unwrap();
        let counted = decisions(pipeline.home(), "en").unwrap();
        let rainbank = &counted.words["rainbank"];
        assert_eq!((rainbank.status, rainbank.note.as_str()), (WordStatus::Accepted, "ask Ruth"));
        assert_eq!(counted.words["rain bank"].variant_of.as_deref(), Some("rainbank"));
        assert!(decisions(pipeline.home(), "de").unwrap().words.is_empty());
        let rows = history(pipeline.home(), None, Some("RAINBANK")).unwrap();
        assert_eq!(rows.iter().map(|row| row.status.as_str()).collect::<Vec<_>>(), ["later", "accepted"]);
    }

    #[test]
    fn words_on_lists_are_excluded_until_the_list_is_removed() {
        let (_folder, pipeline) = crate::test_home::built();
        let told = exclude(&pipeline, Some("en"), "firms", "Acme\n\nZeta\nacme\n").unwrap();
        assert_eq!((told.added, lists(pipeline.home()).unwrap()[0].words), (2, 2));
        assert!(decisions(pipeline.home(), "en").unwrap().excluded.contains("acme"));
        assert!(exclude(&pipeline, Some("en"), "a b", "x").unwrap_err().is::<UsageError>());
        assert_eq!(remove_list(&pipeline, "firms").unwrap().removed, 2);
        assert!(remove_list(&pipeline, "firms").unwrap_err().to_string().contains("there are none"));
    }
}
