//! Words that were not there before.

use jiff::ToSpan;
use jiff::civil::Date;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use tidings_index::Day;

use super::params::{ContentParams, LimitParams, ScopeParams};
use super::shards::{self, DaysPart, SitesSincePart};
use super::{Answered, Cost, Exactness, Parsed, Question, QuestionContext, QuestionError, Request};
use crate::cql::{Attribute, MatchRule};
use crate::engine::owners;
use crate::trend::{
    NewWordConfig, NewWordWindow, NoNewWords, Persistence, Sighting, Verdict, discrete_discovery, judge,
};

/// Finds the words that were not collected before a day.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct NewWordsRequest {
    /// The documents to look at.
    #[serde(flatten)]
    pub scope: ScopeParams,
    /// The first day of the window [default: the last quarter of the collected time].
    #[serde(default)]
    pub since: Option<Date>,
    /// The attribute to look at [default: lemma, which merges inflected forms, where the corpus has lemmas].
    #[serde(default)]
    pub attribute: Option<WordForm>,
    /// Minimum sites of different owners [default: 3; 2 in a corpus of 3 to 5 sites, 1 in a smaller one].
    #[serde(default)]
    #[schemars(range(min = 1, max = 1 << 30))]
    pub min_sites: Option<u32>,
    /// Minimum days.
    #[serde(default = "usual_days")]
    #[schemars(range(min = 1, max = 1 << 30))]
    pub min_days: u32,
    /// Minimum documents.
    #[serde(default = "usual_documents")]
    #[schemars(range(min = 1, max = 1 << 30))]
    pub min_documents: u32,
    /// Include names, which are told by their tags, or by capitals in a corpus without tags.
    #[serde(default)]
    pub names: bool,
    /// Include words that the dictionary of the language has.
    #[serde(default)]
    pub known: bool,
    /// The words that are looked at.
    #[serde(flatten)]
    pub content: ContentParams,
    /// The accepted share of words that are first seen in the window by chance among the rows; 1 lists all candidates.
    #[serde(default = "usual_fdr")]
    #[schemars(range(min = 0.0, max = 1.0), extend("x-value-name" = "SHARE"))]
    pub fdr: f64,
    /// The number of rows.
    #[serde(flatten)]
    pub limit: LimitParams,
}

choices! {
    /// The attribute of tokens in which a word is new.
    pub enum WordForm {
        /// The form in the text.
        Word = "word",
        /// The dictionary form.
        Lemma = "lemma",
    }
}

fn usual_days() -> u32 {
    NewWordConfig::default().min_days as u32
}

fn usual_documents() -> u32 {
    NewWordConfig::default().min_documents
}

fn usual_fdr() -> f64 {
    NewWordConfig::default().false_discovery_rate
}

answer! {
    /// Words that were not there before, the most widely spread first, equals by value.
    pub struct NewWords {
        /// The attribute that was looked at.
        pub attribute: Attribute,
        /// The first day of the window.
        pub since: Date,
        /// Tokens of the documents counted.
        pub tokens: u64,
        /// Sites of different owners with documents in the window.
        pub sites: u64,
        /// Minimum sites of different owners.
        pub min_sites: u32,
        /// Minimum days.
        pub min_days: u32,
        /// Minimum documents.
        pub min_documents: u32,
        /// The accepted share of words among the rows that are first seen in the window by chance.
        pub false_discovery_rate: f64,
        /// Candidates that were dropped, by rule; `chance` are those of which as many are expected if no word is new.
        pub dropped: BTreeMap<&'static str, u64>,
        /// Parameters that list candidates that were dropped, those with most candidates first.
        pub hints: Vec<NewWordHint>,
        /// The number of new words; null if the answer is cut off.
        pub values: Option<u64>,
        /// The words.
        pub rows: Vec<NewWordRow>,
    }

    /// Parameters that list candidates that a rule dropped.
    pub struct NewWordHint {
        /// The rule.
        pub rule: &'static str,
        /// The candidates.
        pub words: u64,
        /// The parameters with their values.
        pub parameters: BTreeMap<&'static str, String>,
    }

    /// A word that was not there before.
    pub struct NewWordRow {
        /// The word.
        pub value: String,
        /// Whether it is a name.
        pub name: bool,
        /// The day of its first document.
        pub first_seen: Date,
        /// Hits.
        pub hits: u64,
        /// Documents with it.
        pub documents: u64,
        /// Independent sites with it.
        pub sites: u64,
        /// Days with it.
        pub days: u64,
        /// Whether it stayed.
        pub fate: Persistence,
        /// The share of words with as much evidence that are first seen in the window by chance: near 1, that it was not
        /// there before is no evidence that it is new.
        #[schemars(with = "Option<f64>")]
        pub q: f64,
    }
}

/// The date of a day that is counted from 1970-01-01.
fn date_of(day: i32) -> Date {
    let span = jiff::Span::new().try_days(day);
    span.map_or(Date::MIN, |span| Date::constant(1970, 1, 1).saturating_add(span))
}

impl NewWords {
    /// Judges candidates and makes the answer. `attainable` has, for every word tested, the probability that all its
    /// documents are in the window by chance. Days are counted from 1970-01-01.
    pub fn of<'w>(
        attribute: Attribute,
        config: &NewWordConfig,
        attainable: &[f64],
        candidates: impl IntoIterator<Item = Sighting<'w>>,
    ) -> NewWords {
        let mut answer = NewWords {
            attribute,
            since: date_of(config.window_start),
            tokens: 0,
            sites: 0,
            min_sites: config.min_sites,
            min_days: u32::try_from(config.min_days).unwrap_or(u32::MAX),
            min_documents: config.min_documents,
            hints: Vec::new(),
            false_discovery_rate: config.false_discovery_rate,
            dropped: BTreeMap::new(),
            values: None,
            rows: Vec::new(),
        };
        let mut p = Vec::new();
        for candidate in candidates {
            let rule = match judge(&candidate, config) {
                Verdict::New { first_day, persistence: fate } => {
                    let sum = |count: fn(&(i32, u32, u32)) -> u32| {
                        candidate.days.iter().map(|day| u64::from(count(day))).sum()
                    };
                    p.push(candidate.p);
                    answer.rows.push(NewWordRow {
                        value: candidate.value.to_owned(),
                        name: candidate.name,
                        first_seen: date_of(first_day),
                        hits: sum(|day| day.1),
                        documents: sum(|day| day.2),
                        sites: u64::from(candidate.sites),
                        days: candidate.days.len() as u64,
                        fate,
                        q: 1.0,
                    });
                    continue;
                }
                Verdict::Known => "known",
                Verdict::Shape => "shape",
                Verdict::Function => "function",
                Verdict::Name => "name",
                Verdict::Rare => "rare",
            };
            *answer.dropped.entry(rule).or_default() += 1;
        }
        answer.rows.iter_mut().zip(discrete_discovery(&p, attainable)).for_each(|(row, q)| row.q = q);
        let candidates = answer.rows.len();
        answer.rows.retain(|row| row.q <= config.false_discovery_rate);
        if answer.rows.len() < candidates {
            answer.dropped.insert("chance", (candidates - answer.rows.len()) as u64);
        }
        answer.rows.sort_by(|a, b| {
            (b.sites, b.documents, b.hits).cmp(&(a.sites, a.documents, a.hits)).then_with(|| a.value.cmp(&b.value))
        });
        answer.values = Some(answer.rows.len() as u64);
        answer.hints = hints(&answer.dropped);
        answer
    }
}

/// The parameters that list what rules dropped, except what is no word at all.
fn hints(dropped: &BTreeMap<&'static str, u64>) -> Vec<NewWordHint> {
    let hint = |(rule, words): (&&'static str, &u64)| {
        let parameters = relaxed(rule).iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        NewWordHint { rule, words: *words, parameters }
    };
    let mut hints: Vec<NewWordHint> = dropped.iter().map(hint).filter(|hint| !hint.parameters.is_empty()).collect();
    hints.sort_by_key(|hint| std::cmp::Reverse(hint.words));
    hints
}

/// The parameters that turn a rule off.
fn relaxed(rule: &str) -> &'static [(&'static str, &'static str)] {
    match rule {
        "rare" => &[("min_sites", "1"), ("min_days", "1"), ("min_documents", "2")],
        "known" => &[("known", "true")],
        "name" => &[("names", "true")],
        "function" => &[("all_words", "true")],
        "chance" => &[("fdr", "1")],
        _ => &[],
    }
}

/// The background lexicon of a language: the words of the treebank that its model was trained on, and the frequent words of
/// its stop list.
fn background(language: &str) -> impl Fn(&str) -> bool + use<> {
    let tagger = tidings_annotate::models().tagger(language);
    let frequent = tidings_lang::stop_list(language);
    move |word: &str| {
        frequent.is_some_and(|list| list.contains(word)) || tagger.as_ref().is_some_and(|tagger| tagger.knows(word))
    }
}

impl Request for NewWordsRequest {
    fn example() -> NewWordsRequest {
        NewWordsRequest {
            scope: ScopeParams::default(),
            since: Some(Date::constant(2026, 6, 1)),
            attribute: None,
            min_sites: None,
            min_days: usual_days(),
            min_documents: usual_documents(),
            names: false,
            known: false,
            content: ContentParams::default(),
            fdr: usual_fdr(),
            limit: LimitParams::default(),
        }
    }
}

impl Question for NewWordsRequest {
    const NAME: &'static str = "new-words";
    const SUMMARY: &'static str = "Show words that were not there before";
    const ROWS: &'static str = "rows";
    const COST: Cost = Cost::Heavy;
    type Answer = NewWords;

    fn evaluate(&self, context: &QuestionContext<'_>) -> Result<Answered<NewWords>, QuestionError> {
        let filter = context.filter(&self.scope)?;
        if context.is_sharded() {
            context.refuse_partial_test()?;
        }
        let volume = context.gather(&DaysPart { filter: Parsed::of_filter(filter.as_ref()) })?;
        let collected = volume.keys().next().copied().map(Day).zip(volume.keys().next_back().copied().map(Day));
        let window = NewWordWindow::choose(collected, self.since.map(Day::of)).map_err(no_new_words)?;
        let sites = SitesSincePart { filter: Parsed::of_filter(filter.as_ref()), since: window.start.0 };
        let owners = owners(context.gather(&sites)?.iter().map(String::as_str));
        let config = NewWordConfig {
            window_start: window.start.0,
            today: window.end.0,
            min_sites: self.min_sites.unwrap_or_else(|| NewWordConfig::min_sites_of(owners)),
            min_days: self.min_days as usize,
            min_documents: self.min_documents,
            names: self.names,
            known: self.known,
            all_words: self.content.all_words,
            false_discovery_rate: self.fdr,
            ..NewWordConfig::default()
        };
        let attribute = match self.attribute {
            Some(WordForm::Word) => Attribute::Word,
            Some(WordForm::Lemma) => Attribute::Lemma,
            None if context.has_lemmas() => Attribute::Lemma,
            None => Attribute::Word,
        };
        let known = background(context.corpus);
        let mut found = match context.is_sharded() {
            true => {
                let first = collected.map_or(window.start, |(first, _)| first);
                shards::new_words(context, (filter.as_ref(), first), attribute, &config, &known)?
            }
            false => {
                let subcorpus = context.subcorpus(filter.as_ref())?;
                let content = context.all.content_words(attribute, context.corpus);
                context.engine.new_words(&subcorpus, attribute, &config, content.as_ref(), &known)?
            }
        };
        found.sites = owners as u64;
        found.tokens = volume.values().map(|(tokens, _)| tokens).sum();
        found.values = Some(self.limit.cut(&mut found.rows));
        if context.is_cut_off() {
            // A word that was not seen before the window may be in the part that was not read.
            found = NewWords {
                sites: 0,
                dropped: BTreeMap::new(),
                hints: Vec::new(),
                values: None,
                rows: Vec::new(),
                ..found
            };
        }
        Ok(context.answered((None, filter.as_ref()), MatchRule::default(), Exactness::Exact, Vec::new(), found))
    }
}

/// Says why no word can be new, and which window to ask for.
fn no_new_words(error: NoNewWords) -> QuestionError {
    match error {
        NoNewWords::NoDocuments => QuestionError::parameter("filter", error.to_string()),
        NoNewWords::NothingBefore { first, .. } => {
            let later = first.date().saturating_add(1.month());
            QuestionError::parameter("since", format!("{error}; give a later day as since, such as {later}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    #[test]
    fn new_words_come_with_what_was_dropped() {
        let days = [(20_000, 2, 2), (20_001, 2, 2), (20_002, 3, 3)];
        let sighting =
            |value, sites| Sighting { value, days: &days, sites, name: false, known: false, function: false, p: 1e-9 };
        let config = NewWordConfig { today: 20_002, ..NewWordConfig::default() };
        let by_chance = Sighting { p: 0.01, ..sighting("gravel", 3) };
        let candidates = [sighting("a1", 9), sighting("greenlash", 4), sighting("x", 1), by_chance];
        let attainable = [vec![0.01; 100], vec![1e-9]].concat();
        let answer = NewWords::of(Attribute::Lc, &config, &attainable, candidates);
        assert_eq!(answer.dropped, BTreeMap::from([("rare", 1), ("shape", 1), ("chance", 1)]));
        let hints: Vec<(&str, u64)> = answer.hints.iter().map(|hint| (hint.rule, hint.words)).collect();
        assert_eq!(hints, [("chance", 1), ("rare", 1)]);
        let [row] = &answer.rows[..] else { panic!("{answer:?}") };
        assert_eq!((row.first_seen, row.hits, row.documents, row.fate), (date(2024, 10, 4), 7, 7, Persistence::Open));
        assert!(row.q < 1e-8, "{row:?}");
        let all = NewWordConfig { false_discovery_rate: 1.0, ..config };
        let answer = NewWords::of(Attribute::Lc, &all, &attainable, candidates);
        let q: Vec<(&str, bool)> = answer.rows.iter().map(|row| (row.value.as_str(), row.q < 0.05)).collect();
        assert_eq!(q, [("greenlash", true), ("gravel", false)]);
    }
}
