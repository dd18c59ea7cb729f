//! Words that were not there before.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use tidings_index::Day;

use super::cells::{CandidatesPart, CellsPart, table, word_kinds};
use super::{Part, are_days};
use crate::cql::Attribute;
use crate::engine::{
    IsKnown, Novelty, Spread, WordKinds, any_case, is_eligible, is_tested, is_unseen, judge_spreads, window_periods,
};
use crate::filter::Filter;
use crate::merge::Merge;
use crate::question::{NewWords, Parsed, QuestionContext, QuestionError};
use crate::trend::NewWordConfig;

/// Tokens and documents of each day in which words are looked at.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::question) struct DaysPart {
    pub(in crate::question) filter: Option<Parsed<Filter>>,
}

impl Part for DaysPart {
    const NAME: &'static str = "days";
    type Sum = BTreeMap<i32, (u64, u64)>;

    fn compute(&self, context: &QuestionContext<'_>) -> Result<Self::Sum, QuestionError> {
        let volume = context.engine.volume(&context.subcorpus(self.filter.as_deref())?);
        Ok(volume.into_iter().map(|(day, volume)| (day.0, (volume.tokens, volume.documents))).collect())
    }

    fn is_plausible(days: &Self::Sum) -> bool {
        are_days(days.keys())
    }
}

/// The sites with documents from a day on.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::question) struct SitesSincePart {
    pub(in crate::question) filter: Option<Parsed<Filter>>,
    pub(in crate::question) since: i32,
}

impl Part for SitesSincePart {
    const NAME: &'static str = "sites-since";
    type Sum = BTreeSet<String>;

    fn compute(&self, context: &QuestionContext<'_>) -> Result<BTreeSet<String>, QuestionError> {
        Ok(context.engine.sites_since(&context.subcorpus(self.filter.as_deref())?, Day(self.since)))
    }
}

/// The window in which words are new.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct WordWindow {
    filter: Option<Parsed<Filter>>,
    start: i32,
    today: i32,
    all_words: bool,
}

impl WordWindow {
    fn config(&self) -> NewWordConfig {
        NewWordConfig {
            window_start: self.start,
            today: self.today,
            all_words: self.all_words,
            ..NewWordConfig::default()
        }
    }
}

/// The words, in lower case, that a shard has in the window and not before it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct UnseenPart {
    window: WordWindow,
    attribute: Attribute,
}

impl Part for UnseenPart {
    const NAME: &'static str = "unseen";
    type Sum = BTreeSet<String>;

    fn compute(&self, context: &QuestionContext<'_>) -> Result<BTreeSet<String>, QuestionError> {
        let subcorpus = context.subcorpus(self.window.filter.as_deref())?;
        Ok(context.engine.unseen_before(&subcorpus, self.attribute, &self.window.config()))
    }
}

/// Those of some words that a shard has before the window, and the forms of lemmas.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SeenPart {
    window: WordWindow,
    attribute: Attribute,
    words: BTreeSet<String>,
    /// Whether texts that are no words count.
    any: bool,
    /// Whether forms of the words are asked for.
    has_forms: bool,
}

/// Words before the window, and the forms of lemmas.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct SeenWords {
    seen: BTreeSet<String>,
    forms: BTreeMap<String, BTreeSet<String>>,
}

impl Merge for SeenWords {
    fn merge_from(&mut self, other: SeenWords) {
        self.seen.merge_from(other.seen);
        self.forms.merge_from(other.forms);
    }
}

impl Part for SeenPart {
    const NAME: &'static str = "seen";
    type Sum = SeenWords;

    fn compute(&self, context: &QuestionContext<'_>) -> Result<SeenWords, QuestionError> {
        let subcorpus = context.subcorpus(self.window.filter.as_deref())?;
        let config = self.window.config();
        let seen = context.engine.seen_before(&subcorpus, self.attribute, &config, &self.words, self.any);
        let forms = if self.has_forms { context.engine.forms_of_lemmas(&self.words) } else { BTreeMap::new() };
        Ok(SeenWords { seen, forms })
    }
}

/// The occurrences of some words, given in lower case.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SpreadsPart {
    filter: Option<Parsed<Filter>>,
    attribute: Attribute,
    words: BTreeSet<String>,
}

impl Part for SpreadsPart {
    const NAME: &'static str = "spreads";
    type Sum = BTreeMap<String, Spread>;

    fn compute(&self, context: &QuestionContext<'_>) -> Result<Self::Sum, QuestionError> {
        let subcorpus = context.subcorpus(self.filter.as_deref())?;
        Ok(context.engine.spreads(&subcorpus, self.attribute, &self.words))
    }

    fn is_plausible(spreads: &Self::Sum) -> bool {
        spreads.values().all(|spread| are_days(spread.days()))
    }
}

/// The new words of all shards. `first` is the first day of the documents.
pub(in crate::question) fn new_words(
    context: &QuestionContext<'_>,
    (filter, first): (Option<&Filter>, Day),
    attribute: Attribute,
    config: &NewWordConfig,
    is_known: IsKnown<'_>,
) -> Result<NewWords, QuestionError> {
    let filter = Parsed::of_filter(filter);
    let candidates = candidates(context, filter.clone(), attribute, config)?;
    let by = any_case(attribute);
    let min_documents = context.share_of_shard(config.min_documents.into());
    let frequent =
        context.gather(&CandidatesPart { filter: filter.clone(), cells: None, attribute: by, min_documents })?;
    let words = frequent.into_iter().filter(|word| is_eligible(word, config, is_known)).collect();
    let (bins, before) = window_periods(config, first);
    let periods = bins.iter().map(|period| (period.start.0, period.end.0)).collect();
    let any_case = candidates.clone();
    let part = CellsPart { filter: filter.clone(), cells: None, attribute: by, periods, words, any_case };
    let found = context.gather_each(|_| Some(&part))?;
    let table = table(found.into_iter().flatten().collect(), bins.len(), &BTreeMap::new())?;
    let tested = table.words.into_iter().map(|(word, _, counts)| (word, counts));
    let tested =
        tested.filter(|(word, counts)| candidates.contains(&*word.to_lowercase()) || is_tested(counts, config));
    let novelty = Novelty::of(&table.volume, before, config, candidates.iter().cloned(), tested.collect());
    let spreads = context.gather(&SpreadsPart { filter, attribute, words: candidates })?;
    let values = spreads.values().map(|spread| spread.value().to_owned()).collect();
    let (kinds, has_tags) = word_kinds(context, attribute, values)?;
    let kinds = WordKinds { kind: &|word| kinds.get(word).copied(), has_tags };
    Ok(judge_spreads(&spreads, attribute, config, &novelty, &kinds, is_known))
}

/// The words, in lower case, that occur in the window and, in any case and form, in no shard before it.
fn candidates(
    context: &QuestionContext<'_>,
    filter: Option<Parsed<Filter>>,
    attribute: Attribute,
    config: &NewWordConfig,
) -> Result<BTreeSet<String>, QuestionError> {
    let NewWordConfig { window_start: start, today, all_words, .. } = *config;
    let window = WordWindow { filter, start, today, all_words };
    let words = context.gather(&UnseenPart { window: window.clone(), attribute })?;
    let has_forms = attribute == Attribute::Lemma;
    let part = SeenPart { window: window.clone(), attribute, words, any: false, has_forms };
    let SeenWords { seen, forms } = context.gather(&part)?;
    let mut candidates: BTreeSet<String> = part.words.difference(&seen).cloned().collect();
    if has_forms {
        let words = forms.values().flatten().chain(&candidates).cloned().collect();
        let part = SeenPart { window, attribute: Attribute::Word, words, any: true, has_forms: false };
        let earlier = context.gather(&part)?.seen;
        candidates.retain(|lemma| is_unseen(lemma, &forms, &earlier));
    }
    Ok(candidates)
}
