//! The neologism desk: candidates with their evidence, and what was decided about them.

use jiff::civil::Date;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

use super::decisions::{WordDecisions, WordStatus};
use super::params::LimitParams;
use super::shards::{Evidence, EvidencePart};
use super::{
    Answered, Cost, Exactness, NewWordRow, NewWordsRequest, Parsed, Question, QuestionContext, QuestionError, Request,
};
use crate::cql::{Attribute, MatchRule, Query};
use crate::filter::Filter;
use crate::trend::Persistence;

/// Lists candidates for new words with evidence, and the decisions about them.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct NeologismsRequest {
    /// The state of the words to list.
    #[serde(default = "open")]
    #[schemars(extend("x-value-name" = "STATUS"))]
    pub status: ListedStatus,
    /// The words that are candidates.
    #[serde(flatten)]
    pub candidates: NewWordsRequest,
}

choices! {
    /// The state of the words to list.
    pub enum ListedStatus {
        /// Candidates without a decision.
        Open = "open",
        /// Accepted words, also those that are no candidates any more.
        Accepted = "accepted",
        /// Rejected words.
        Rejected = "rejected",
        /// Words to be looked at again.
        Later = "later",
        /// Candidates and all words with a decision.
        All = "all",
    }
}

fn open() -> ListedStatus {
    ListedStatus::Open
}

impl ListedStatus {
    fn lists(self, status: WordStatus) -> bool {
        match self {
            ListedStatus::All => true,
            ListedStatus::Open => status == WordStatus::Open,
            ListedStatus::Accepted => status == WordStatus::Accepted,
            ListedStatus::Rejected => status == WordStatus::Rejected,
            ListedStatus::Later => status == WordStatus::Later,
        }
    }
}

answer! {
    /// Candidates for new words, and words that were decided about: the most widely spread first, equals by value.
    pub struct Neologisms {
        /// The attribute that was looked at.
        pub attribute: Attribute,
        /// The first day of the window of candidates.
        pub since: Date,
        /// Candidates and words with a decision by state.
        pub states: BTreeMap<&'static str, u64>,
        /// Candidates on an exclusion list.
        pub excluded: u64,
        /// The number of words in the asked state; null if the answer is cut off.
        pub values: Option<u64>,
        /// The words.
        pub rows: Vec<NeologismRow>,
    }

    /// A candidate, or a word that was decided about. Counts are of all variants together.
    pub struct NeologismRow {
        /// The word.
        pub value: String,
        /// Other spellings and words that count as it.
        pub variants: Vec<String>,
        /// The state.
        pub status: WordStatus,
        /// The note of the last decision.
        pub note: String,
        /// The time of the last decision; empty if there is none.
        pub decided: String,
        /// Whether it is a candidate of the window. Words with a decision stay on the list when the window has passed.
        pub candidate: bool,
        /// The day of its first document; null if no document has it any more.
        pub first_seen: Option<Date>,
        /// The day of its last document.
        pub last_seen: Option<Date>,
        /// Hits.
        pub hits: u64,
        /// Documents with it.
        pub documents: u64,
        /// Sites with it.
        pub sites: u64,
        /// Days with it.
        pub days: u64,
        /// Months with it.
        pub months: u64,
        /// Whether it stayed; null if it is no candidate.
        pub fate: Option<Persistence>,
        /// The share of words with as much evidence that are first seen in the window by chance; null if it is no candidate.
        pub q: Option<f64>,
        /// The first citation; null if the client may see none.
        pub citation: Option<Citation>,
    }

    /// A line of a document.
    #[derive(Deserialize)]
    pub struct Citation {
        /// The document.
        pub document: String,
        /// Its date.
        pub date: String,
        /// Its site.
        pub site: String,
        /// Its title.
        pub title: String,
        /// Its address.
        pub url: String,
        /// The text before the word.
        pub left: String,
        /// The word.
        pub node: String,
        /// The text behind the word.
        pub right: String,
    }
}

/// The most candidates that are compared with each other.
const MAX_CANDIDATES: u64 = 5000;
/// Words whose evidence shards look up for one request.
const ROWS_AT_ONCE: usize = 200;

/// A spelling without case, hyphens, apostrophes and blanks: rain-bank and Rainbank are one word.
fn spelling_key(word: &str) -> String {
    word.to_lowercase().chars().filter(|letter| letter.is_alphanumeric()).collect()
}

/// A word with its variants, before its evidence is looked up.
#[derive(Debug, Default)]
struct Entry {
    candidate: Option<NewWordRow>,
    /// All spellings in lower case, with the hits of those that are candidates.
    words: BTreeMap<String, u64>,
}

/// Merges candidates and decided words into entries by headword. Returns the number of candidates on exclusion lists, too.
fn entries(candidates: Vec<NewWordRow>, decisions: &WordDecisions) -> (BTreeMap<String, Entry>, u64) {
    let mut heads: BTreeMap<String, String> = BTreeMap::new();
    let mut merged: BTreeMap<String, Entry> = BTreeMap::new();
    let mut excluded = 0;
    let decided = decisions.words.iter().filter(|(_, decision)| decision.status != WordStatus::Open);
    for word in decided.map(|(word, _)| word) {
        // The first of equal spellings is their headword.
        let head =
            heads.entry(spelling_key(decisions.headword(word))).or_insert_with(|| decisions.headword(word).into());
        merged.entry(head.clone()).or_default().words.entry(word.clone()).or_default();
    }
    for row in candidates {
        let word = row.value.to_lowercase();
        if decisions.excluded.contains(&word) {
            excluded += 1;
            continue;
        }
        let head = decisions.headword(&word).to_owned();
        let head = heads.entry(spelling_key(&head)).or_insert(head).clone();
        let entry = merged.entry(head).or_default();
        entry.words.insert(word, row.hits);
        if entry.candidate.as_ref().is_none_or(|known| known.hits < row.hits) {
            entry.candidate = Some(row);
        }
    }
    // A variant without hits of its own is still a variant.
    for (word, decision) in &decisions.words {
        let head = decision.variant_of.as_ref().map(|_| decisions.headword(word));
        if let Some(entry) = head.and_then(|head| merged.get_mut(head)) {
            entry.words.entry(word.clone()).or_default();
        }
    }
    (merged, excluded)
}

/// A query for any of some words, in any case.
fn query_of(words: &BTreeSet<&str>, attribute: Attribute) -> Result<Parsed<Query>, QuestionError> {
    let attribute = if attribute == Attribute::Lemma { "lemma" } else { "word" };
    let token = |word: &str| format!("[{attribute}==\"{}\"%c]", word.replace('\\', "\\\\").replace('"', "\\\""));
    let sequence = |words: &&str| words.split(' ').map(token).collect::<Vec<_>>().join(" ");
    let text = words.iter().map(sequence).collect::<Vec<_>>().join(" | ");
    Parsed::new(&text).map_err(|error| QuestionError::Request(error.render(&text)))
}

impl Entry {
    /// A query for all spellings of the word.
    fn query(&self, head: &str, attribute: Attribute) -> Result<Parsed<Query>, QuestionError> {
        query_of(&self.words.keys().map(String::as_str).chain([head]).collect(), attribute)
    }

    fn row(self, head: String, evidence: Evidence, decisions: &WordDecisions) -> NeologismRow {
        let decision = decisions.words.get(&head);
        let value = match &self.candidate {
            Some(row) if row.value.to_lowercase() == head => row.value.clone(),
            _ => head.clone(),
        };
        let days: Vec<Date> = evidence.days().collect();
        let months: BTreeSet<_> = days.iter().map(|day| (day.year(), day.month())).collect();
        NeologismRow {
            variants: self.words.into_keys().filter(|word| *word != head).collect(),
            value,
            status: decisions.status(&head),
            note: decision.map(|decision| decision.note.clone()).unwrap_or_default(),
            decided: decision.map(|decision| decision.decided.clone()).unwrap_or_default(),
            candidate: self.candidate.is_some(),
            first_seen: days.first().copied(),
            last_seen: days.last().copied(),
            hits: evidence.hits,
            documents: evidence.documents,
            sites: evidence.sites,
            days: days.len() as u64,
            months: months.len() as u64,
            fate: self.candidate.as_ref().map(|row| row.fate),
            q: self.candidate.as_ref().map(|row| row.q),
            citation: evidence.into_citation(),
        }
    }
}

/// The rows of words, with the evidence of all shards.
fn rows(
    context: &QuestionContext<'_>,
    listed: Vec<(String, Entry)>,
    (decisions, filter, attribute): (&WordDecisions, Option<&Filter>, Attribute),
) -> Result<Vec<NeologismRow>, QuestionError> {
    let mut rows = Vec::with_capacity(listed.len());
    let mut listed = listed.into_iter().peekable();
    while listed.peek().is_some() {
        let some: Vec<(String, Entry)> = listed.by_ref().take(ROWS_AT_ONCE).collect();
        let queries = some.iter().map(|(head, entry)| entry.query(head, attribute)).collect::<Result<_, _>>()?;
        let found = context.gather(&EvidencePart { queries, filter: Parsed::of_filter(filter) })?;
        let missing = some.len().saturating_sub(found.len());
        let found = found.into_iter().chain(std::iter::repeat_n(Evidence::default(), missing));
        rows.extend(some.into_iter().zip(found).map(|((head, entry), evidence)| entry.row(head, evidence, decisions)));
    }
    Ok(rows)
}

impl Request for NeologismsRequest {
    fn example() -> NeologismsRequest {
        NeologismsRequest { status: open(), candidates: NewWordsRequest::example() }
    }
}

impl Question for NeologismsRequest {
    const NAME: &'static str = "neologisms";
    const SUMMARY: &'static str = "List candidates for new words with first citation, spread and decisions";
    const ROWS: &'static str = "rows";
    const COST: Cost = Cost::Heavy;
    type Answer = Neologisms;

    fn evaluate(&self, context: &QuestionContext<'_>) -> Result<Answered<Neologisms>, QuestionError> {
        let decisions = (context.find_decisions)()?;
        let candidates = NewWordsRequest { limit: LimitParams { limit: MAX_CANDIDATES }, ..self.candidates.clone() };
        let found = candidates.evaluate(context)?.body;
        let filter = context.filter(&self.candidates.scope)?;
        let (merged, excluded) = entries(found.rows, &decisions);
        let mut states: BTreeMap<&'static str, u64> = WordStatus::ALL.iter().map(|status| (status.name(), 0)).collect();
        for head in merged.keys() {
            *states.entry(decisions.status(head).name()).or_default() += 1;
        }
        let mut listed: Vec<(String, Entry)> =
            merged.into_iter().filter(|(head, _)| self.status.lists(decisions.status(head))).collect();
        // Candidates in their own order, then the others by word: evidence is looked up for the rows of the answer only.
        listed.sort_by_cached_key(|(head, entry)| {
            let spread = entry.candidate.as_ref().map(|row| (row.sites, row.documents, row.hits));
            (std::cmp::Reverse(spread), head.clone())
        });
        let values = self.candidates.limit.cut(&mut listed);
        let rows = rows(context, listed, (&decisions, filter.as_ref(), found.attribute))?;
        let is_complete = !context.is_cut_off();
        let body = Neologisms {
            attribute: found.attribute,
            since: found.since,
            states,
            excluded,
            values: is_complete.then_some(values),
            rows: if is_complete { rows } else { Vec::new() },
        };
        Ok(context.answered((None, filter.as_ref()), MatchRule::default(), Exactness::Exact, Vec::new(), body))
    }
}

#[cfg(test)]
mod tests {
    use super::super::decisions::WordDecision;
    use super::*;

    fn candidate(value: &str, hits: u64) -> NewWordRow {
        NewWordRow {
            value: value.to_owned(),
            name: false,
            first_seen: Date::constant(2026, 1, 1),
            hits,
            documents: hits,
            sites: 1,
            days: 1,
            fate: Persistence::Open,
            q: 0.0,
        }
    }

    fn decisions(words: &[(&str, WordStatus, Option<&str>)]) -> WordDecisions {
        let decision = |(word, status, variant_of): &(&str, WordStatus, Option<&str>)| {
            let decision = WordDecision {
                status: *status,
                variant_of: variant_of.map(str::to_owned),
                note: String::new(),
                decided: "2026-01-02T00:00:00Z".to_owned(),
            };
            ((*word).to_owned(), decision)
        };
        WordDecisions { words: words.iter().map(decision).collect(), excluded: BTreeSet::from(["acme".to_owned()]) }
    }

    fn listed(merged: &BTreeMap<String, Entry>) -> Vec<String> {
        merged
            .iter()
            .map(|(head, entry)| format!("{head}: {}", entry.words.keys().cloned().collect::<Vec<_>>().join(" ")))
            .collect()
    }

    #[test]
    fn spellings_and_decided_variants_are_one_word_and_excluded_words_are_counted() {
        let candidates = vec![
            candidate("Rainbank", 9),
            candidate("rain-bank", 3),
            candidate("moonferry", 2),
            candidate("lunar ferry", 5),
            candidate("Acme", 7),
        ];
        let decisions = decisions(&[("lunar ferry", WordStatus::Open, Some("moonferry"))]);
        let (merged, excluded) = entries(candidates, &decisions);
        assert_eq!(excluded, 1);
        assert_eq!(listed(&merged), ["moonferry: lunar ferry moonferry", "rainbank: rain-bank rainbank"]);
        assert_eq!(merged["moonferry"].candidate.as_ref().unwrap().hits, 5);
    }

    #[test]
    fn decided_words_stay_when_they_are_no_candidates_any_more() {
        let decisions = decisions(&[("oldword", WordStatus::Accepted, None), ("rainbank", WordStatus::Later, None)]);
        let (merged, _) = entries(vec![candidate("Rainbank", 4)], &decisions);
        assert_eq!(listed(&merged), ["oldword: oldword", "rainbank: rainbank"]);
        assert!(merged["oldword"].candidate.is_none());
        assert_eq!(decisions.status("rainbank"), WordStatus::Later);
    }

    #[test]
    fn a_query_of_words_with_quotes_is_valid() {
        let query = query_of(&BTreeSet::from(["o\"k", "a\\b"]), Attribute::Lemma).unwrap();
        assert_eq!(query.text(), r#"[lemma=="a\\b"%c] | [lemma=="o\"k"%c]"#);
        let text = query_of(&BTreeSet::from(["lunar ferry"]), Attribute::Word).unwrap().text().to_owned();
        assert_eq!(text, r#"[word=="lunar"%c] [word=="ferry"%c]"#);
    }
}
