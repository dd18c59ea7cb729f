//! Words that were not there before.
//!
//! Candidates occur in the window and, in any case and form, never before it. What is known of each of them adds up over
//! threads and shards ([`Spread`]); judging them and the test of all words are made of the sums, once.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::Range;

use hashbrown::HashMap;
use serde::{Deserialize, Serialize};
use tidings_index::Day;
use tidings_index::codec::bit;
use tidings_index::lexicon::Layer;

use super::set::layer_of;
use super::{ContentWords, Engine, Result, Subcorpus, WordKind};
use crate::cql::Attribute;
use crate::merge::Merge;
use crate::question::NewWords;
use crate::trend::{CellCount, NewWordConfig, NoveltyTest, Sighting, SiteVolume, is_word};

/// Says whether a word is in the background lexicon.
pub(crate) type IsKnown<'k> = &'k (dyn Fn(&str) -> bool + Sync);

/// The occurrences of a word in any case.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Spread {
    /// Hits that do not begin a sentence, and those of them with a capital.
    inside: u64,
    capitals: u64,
    /// The hits of each spelling.
    spellings: BTreeMap<String, u64>,
    /// The forms in the text.
    forms: BTreeSet<String>,
    /// Hits and documents by day.
    days: BTreeMap<i32, (u32, u32)>,
    /// Documents by site.
    sites: BTreeMap<String, u32>,
}

impl Merge for Spread {
    fn merge_from(&mut self, other: Spread) {
        self.inside.merge_from(other.inside);
        self.capitals.merge_from(other.capitals);
        self.spellings.merge_from(other.spellings);
        self.forms.merge_from(other.forms);
        self.days.merge_from(other.days);
        self.sites.merge_from(other.sites);
    }
}

impl Spread {
    /// The days with it.
    pub(crate) fn days(&self) -> impl Iterator<Item = &i32> {
        self.days.keys()
    }

    /// The most frequent spelling, of equals the first in the order of texts.
    pub(crate) fn value(&self) -> &str {
        let most = self.spellings.iter().max_by_key(|(spelling, hits)| (**hits, std::cmp::Reverse(*spelling)));
        most.map_or("", |(value, _)| value)
    }
}

/// The kinds of words, and whether tags tell them.
pub(crate) struct WordKinds<'k> {
    /// The kind of a word; nothing if kinds are not told.
    pub(crate) kind: &'k dyn Fn(&str) -> Option<WordKind>,
    pub(crate) has_tags: bool,
}

/// The probabilities that words are first seen in the window by chance.
pub(crate) struct Novelty {
    /// Of the candidates, by their lower-case form.
    candidates: BTreeMap<String, f64>,
    /// Of all words with enough documents.
    attainable: Vec<f64>,
}

/// The share of capitalised hits inside sentences from which a word without tags is a name.
const NAME_CAPITALS: f64 = 0.9;

impl Novelty {
    /// Tests every word with enough documents: candidates, in lower case, and all others that could be listed, which say how
    /// many candidates to expect by chance. Words come in the order of their values, with their cells; others than
    /// candidates are tested if they are frequent enough and `is_eligible`.
    pub(crate) fn of(
        volume: &SiteVolume,
        before: usize,
        config: &NewWordConfig,
        candidates: impl Iterator<Item = String>,
        words: Vec<(String, Vec<CellCount>)>,
    ) -> Novelty {
        let mut test = NoveltyTest::new(volume, before, config.min_sites <= 1);
        let mut new: BTreeMap<String, Vec<CellCount>> = candidates.map(|word| (word, Vec::new())).collect();
        for (word, counts) in words {
            match new.get_mut(&*word.to_lowercase()) {
                Some(of_all_spellings) => of_all_spellings.extend(counts),
                None => drop(test.add(&counts)),
            }
        }
        let mut p = BTreeMap::new();
        for (word, mut counts) in new.into_iter().filter(|(_, counts)| is_tested(counts, config)) {
            counts.sort_unstable_by_key(|count| (count.site, count.bin));
            let probability = test.add(&counts);
            p.insert(word, probability);
        }
        Novelty { candidates: p, attainable: test.finish() }
    }
}

/// Returns true if a word is in enough documents for a test.
pub(crate) fn is_tested(counts: &[CellCount], config: &NewWordConfig) -> bool {
    let documents = counts.iter().map(|count| u64::from(count.documents)).sum::<u64>();
    documents >= config.min_documents.into()
}

/// Returns true if a word could be listed.
pub(crate) fn is_eligible(word: &str, config: &NewWordConfig, is_known: IsKnown<'_>) -> bool {
    is_word(word) && (config.known || !is_known(word))
}

/// The attribute in which spellings that differ in case are one word, where words are tested.
pub(crate) fn any_case(attribute: Attribute) -> Attribute {
    if attribute == Attribute::Word { Attribute::Lc } else { attribute }
}

/// Judges candidates by what is known of them.
pub(crate) fn judge_spreads(
    spreads: &BTreeMap<String, Spread>,
    attribute: Attribute,
    config: &NewWordConfig,
    novelty: &Novelty,
    kinds: &WordKinds<'_>,
    is_known: IsKnown<'_>,
) -> NewWords {
    let days: Vec<Vec<(i32, u32, u32)>> = spreads
        .values()
        .map(|spread| spread.days.iter().map(|(day, (hits, documents))| (*day, *hits, *documents)).collect())
        .collect();
    let sightings =
        spreads.values().zip(&days).filter(|(spread, _)| !spread.spellings.is_empty()).map(|(spread, days)| {
            let value = spread.value();
            let kind = (kinds.kind)(value);
            let is_capitalised = spread.inside > 0 && spread.capitals as f64 >= NAME_CAPITALS * spread.inside as f64;
            let mut forms = spread.forms.iter().map(String::as_str).chain([value]);
            Sighting {
                value,
                days,
                sites: owners(spread.sites.keys().map(String::as_str)) as u32,
                // Tags tell names; without tags capitals do.
                name: if kinds.has_tags { kind == Some(WordKind::Name) } else { is_capitalised },
                known: forms.any(is_known),
                function: kind.is_some_and(|kind| !kind.is_content()),
                p: novelty.candidates.get(&*value.to_lowercase()).copied().unwrap_or(1.0),
            }
        });
    NewWords::of(attribute, config, &novelty.attainable, sightings)
}

impl Engine {
    /// The words that were first seen in the window of the configuration, most widespread first. Spellings that differ in
    /// case are one word, shown in its most frequent spelling. `is_known` is the background lexicon.
    pub fn new_words(
        &self,
        subcorpus: &Subcorpus,
        attribute: Attribute,
        config: &NewWordConfig,
        content: Option<&ContentWords<'_>>,
        is_known: &(dyn Fn(&str) -> bool + Sync),
    ) -> Result<NewWords> {
        let mut candidates: BTreeSet<String> = self.unseen_before(subcorpus, attribute, config);
        if attribute == Attribute::Lemma {
            let forms = self.forms_of_lemmas(&candidates);
            let all = forms.values().flatten().chain(&candidates).cloned().collect();
            let earlier = self.seen_before(subcorpus, Attribute::Word, config, &all, true);
            // The lemma of an unknown word is a guess, and another guess is not another word.
            candidates.retain(|lemma| is_unseen(lemma, &forms, &earlier));
        }
        subcorpus.limits().begin_pass(self.tokens(subcorpus));
        let first = self.volume(subcorpus).keys().next().copied().unwrap_or(Day(config.window_start));
        let (periods, before) = window_periods(config, first);
        let cells = self.site_cells(subcorpus, &periods);
        let by = any_case(attribute);
        let words = self.map_words_by_site(&cells, by, 1, subcorpus.limits(), || {
            |word, counts: &[CellCount]| {
                let word = self.name(by, word);
                let is_new = candidates.contains(&*word.to_lowercase());
                let is_kept = is_new || is_tested(counts, config) && is_eligible(&word, config, is_known);
                is_kept.then(|| (word, counts.to_vec()))
            }
        });
        let novelty = Novelty::of(cells.volume(), before, config, candidates.iter().cloned(), words);
        let spreads = self.spreads(subcorpus, attribute, &candidates);
        let kind = |word: &str| content.and_then(|content| content.kind_of_value(word));
        let kinds = WordKinds { kind: &kind, has_tags: content.is_some_and(ContentWords::has_tags) };
        Ok(judge_spreads(&spreads, attribute, config, &novelty, &kinds, is_known))
    }

    /// The occurrences of some words, given in lower case.
    pub(crate) fn spreads(
        &self,
        subcorpus: &Subcorpus,
        attribute: Attribute,
        words: &BTreeSet<String>,
    ) -> BTreeMap<String, Spread> {
        let (lexicon, layer) = (self.lexicon(), layer_of(attribute, self.lexicon()));
        let mut keys: HashMap<u32, &str> = HashMap::new();
        for id in 0..lexicon.count(layer) {
            if let Some(word) = words.get(&lexicon.string(layer, id).to_lowercase()) {
                keys.insert(id, word);
            }
        }
        let mut spreads: BTreeMap<String, Spread> = BTreeMap::new();
        for (segment, scope) in self.scopes(subcorpus) {
            let sites = segment.field("site");
            let bits = segment.sentence_bits();
            // A document with several forms of a word counts once.
            let mut documents: HashSet<(&str, u32)> = HashSet::new();
            for (local_id, lexeme) in (0..).zip(segment.lexemes().all()) {
                let Some(key) = keys.get(&lexicon.of(*lexeme, layer)).copied() else { continue };
                let form = lexicon.text(*lexeme, Layer::Word);
                let is_capital = form.chars().next().is_some_and(char::is_uppercase);
                let mut hits = 0u64;
                let spread = spreads.entry(key.to_owned()).or_default();
                segment.postings(local_id).pieces(0, segment.tokens(), |positions| {
                    for position in positions {
                        let document = segment.document_at(*position);
                        if !scope.documents().contains(&document) || !scope.contains(document) {
                            continue;
                        }
                        hits += 1;
                        let starts = bit(bits, *position);
                        spread.inside += u64::from(!starts);
                        spread.capitals += u64::from(!starts && is_capital);
                        let day = spread.days.entry(segment.day_of(document).0).or_default();
                        day.0 += 1;
                        if documents.insert((key, document)) {
                            day.1 += 1;
                            let site = sites.as_ref().map(|sites| sites.of(document)).unwrap_or_default();
                            *spread.sites.entry(site.to_owned()).or_default() += 1;
                        }
                    }
                });
                if hits > 0 {
                    *spread.spellings.entry(lexicon.text(*lexeme, layer).to_owned()).or_default() += hits;
                    spread.forms.insert(form.to_owned());
                }
            }
        }
        spreads.retain(|_, spread| !spread.spellings.is_empty());
        spreads
    }

    /// The words, in lower case, that occur in the window and, in any case, never before it.
    pub(crate) fn unseen_before(
        &self,
        subcorpus: &Subcorpus,
        attribute: Attribute,
        config: &NewWordConfig,
    ) -> BTreeSet<String> {
        let layer = layer_of(attribute, self.lexicon());
        // Count each spelling apart; they are joined by their lower-case form below.
        let counts = self.period_counts(subcorpus, plain(attribute), &window(config), 1);
        let mut known: HashMap<String, bool> = HashMap::new();
        for (id, hits) in counts.words.iter().zip(counts.hits.chunks_exact(2)) {
            let text = self.lexicon().string(layer, *id);
            if config.all_words || is_word(text) {
                *known.entry(text.to_lowercase()).or_default() |= hits[0] > 0;
            }
        }
        known.into_iter().filter(|(_, is_known)| !is_known).map(|(word, _)| word).collect()
    }

    /// Those of some words, in lower case, that occur before the window. Without `any` only texts that are words count.
    pub(crate) fn seen_before(
        &self,
        subcorpus: &Subcorpus,
        attribute: Attribute,
        config: &NewWordConfig,
        words: &BTreeSet<String>,
        any: bool,
    ) -> BTreeSet<String> {
        let layer = layer_of(attribute, self.lexicon());
        let counts = self.period_counts(subcorpus, plain(attribute), &window(config), 1);
        let rows = counts.words.iter().zip(counts.hits.chunks_exact(2));
        let before = rows.filter(|(_, hits)| hits[0] > 0).map(|(id, _)| self.lexicon().string(layer, *id));
        let texts = before.filter(|text| any || config.all_words || is_word(text)).map(str::to_lowercase);
        texts.filter(|text| words.contains(text)).collect()
    }

    /// The forms of lemmas in the lexicon; all in lower case.
    pub(crate) fn forms_of_lemmas(&self, lemmas: &BTreeSet<String>) -> BTreeMap<String, BTreeSet<String>> {
        let lexicon = self.lexicon();
        let mut forms: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for lexeme in 0..lexicon.lexemes() {
            let lemma = lexicon.text(lexeme, Layer::Lemma).to_lowercase();
            if lemmas.contains(&lemma) {
                forms.entry(lemma).or_default().insert(lexicon.text(lexeme, Layer::Word).to_lowercase());
            }
        }
        forms
    }

    /// The sites with documents from a day on.
    pub(crate) fn sites_since(&self, subcorpus: &Subcorpus, since: Day) -> BTreeSet<String> {
        let mut sites = BTreeSet::new();
        for (segment, scope) in self.scopes(subcorpus) {
            let Some(field) = segment.field("site") else { continue };
            let mut seen = vec![false; field.count() as usize];
            scope.runs(|run| {
                for document in run.filter(|document| segment.day_of(*document) >= since) {
                    seen[field.code(document) as usize] = true;
                }
            });
            let codes = (0..).zip(seen).filter(|(_, seen)| *seen);
            sites.extend(codes.map(|(code, _)| field.value(code).to_owned()));
        }
        sites
    }
}

/// Returns true if neither a lemma nor one of its forms was seen earlier.
pub(crate) fn is_unseen(lemma: &str, forms: &BTreeMap<String, BTreeSet<String>>, earlier: &BTreeSet<String>) -> bool {
    !earlier.contains(lemma) && forms.get(lemma).is_none_or(|forms| forms.is_disjoint(earlier))
}

/// The attribute that counts each spelling apart.
fn plain(attribute: Attribute) -> Attribute {
    if attribute == Attribute::Lc { Attribute::Word } else { attribute }
}

/// The time before the window of new words, and the window.
fn window(config: &NewWordConfig) -> [Range<Day>; 2] {
    let (first, last) = (Day(config.window_start), Day(config.today));
    [Day(i32::MIN + 1)..first, first..Day(last.0.saturating_add(1))]
}

const DAYS_OF_A_WEEK: i32 = 7;
/// The weeks that a window must have to be divided into weeks; a shorter one is divided into days.
const MANY_WEEKS: i32 = 12;

/// The periods of the time from the first day to the end of the window of new words, and the number of those before the
/// window. The documents of an event are mostly in one of them.
pub(crate) fn window_periods(config: &NewWordConfig, first: Day) -> (Vec<Range<Day>>, usize) {
    let (start, end) = (config.window_start, config.today.saturating_add(1));
    let number = |from: i32, to: i32, step: i32| to.saturating_sub(from).max(0).saturating_add(step - 1) / step;
    let before = number(first.0, start, DAYS_OF_A_WEEK);
    let step = if number(start, end, DAYS_OF_A_WEEK) >= MANY_WEEKS { DAYS_OF_A_WEEK } else { 1 };
    let period = |day: i32, step: i32| Day(day)..Day(day.saturating_add(step));
    let earlier = (1..=before).rev().map(|week| period(start - week * DAYS_OF_A_WEEK, DAYS_OF_A_WEEK));
    let within = (0..number(start, end, step)).map(|at| period(start + at * step, step));
    (earlier.chain(within).collect(), before as usize)
}

/// The number of owners of sites, by registered domain (public suffix list).
pub(crate) fn owners<'s>(sites: impl Iterator<Item = &'s str>) -> usize {
    sites.map(|site| tidings_model::registered_domain(site).unwrap_or(site)).collect::<BTreeSet<&str>>().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_before_a_window_is_divided_into_weeks_and_a_short_window_into_days() {
        let config = |window_start: i32| NewWordConfig { window_start, today: 1200, ..NewWordConfig::default() };
        let days = |(periods, before): (Vec<Range<Day>>, usize)| {
            assert!(periods.windows(2).all(|pair| pair[0].end == pair[1].start), "{periods:?}");
            let length = |period: &Range<Day>| period.end.0 - period.start.0;
            (before, periods.len(), length(&periods[before]), periods[0].start, periods[periods.len() - 1].end)
        };
        assert_eq!(days(window_periods(&config(1180), Day(1000))), (26, 47, 1, Day(998), Day(1201)));
        assert_eq!(days(window_periods(&config(1100), Day(1000))), (15, 30, 7, Day(995), Day(1205)));
    }

    #[test]
    fn a_lemma_was_seen_if_one_of_its_forms_was() {
        let set = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<BTreeSet<String>>();
        let forms = BTreeMap::from([("blorb".to_owned(), set(&["blorbs", "blorb"]))]);
        assert!(is_unseen("blorb", &forms, &set(&["glorb"])));
        assert!(!is_unseen("blorb", &forms, &set(&["blorbs"])) && !is_unseen("zap", &forms, &set(&["zap"])));
    }
}
