//! Words over time: trends, bursts, new words, and panels of sites.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::Range;

use hashbrown::HashMap;
use tidings_index::Day;
use tidings_index::codec::bit;
use tidings_index::lexicon::Layer;

use super::set::layer_of;
use super::word_cells::Tested;
use super::{ContentWords, Engine, Result, Subcorpus, WordCells, WordKind};
use crate::cql::Attribute;
use crate::filter::{FieldPredicate, FieldTest, Filter};
use crate::question::{BurstRow, Bursts, NewWords, Trends};
use crate::syntax::{Logic, Span, ValueMatcher};
use crate::trend::{
    Bin, Burst, BurstConfig, CellCount, NewWordConfig, NoveltyTest, RiseConfig, Sighting, SiteBursts, SiteRises, Step,
    Table, alive_throughout, is_word,
};

impl Engine {
    /// The words with a rising or falling trend within sites, by significance.
    /// With `content` only content words are tested.
    pub fn trends(
        &self,
        subcorpus: &Subcorpus,
        attribute: Attribute,
        step: Step,
        config: &RiseConfig,
        content: Option<&ContentWords<'_>>,
    ) -> Trends {
        let (bins, periods) = self.periods(subcorpus, step);
        WordCells::of_index(self, subcorpus, attribute, &periods, content).trends((attribute, step), &bins, config)
    }

    /// The words with significant bursts, strongest first. With `content` only content words are tested.
    pub fn bursts(
        &self,
        subcorpus: &Subcorpus,
        attribute: Attribute,
        step: Step,
        config: &BurstConfig,
        content: Option<&ContentWords<'_>>,
    ) -> Bursts {
        let (bins, periods) = self.periods(subcorpus, step);
        let cells = WordCells::of_index(self, subcorpus, attribute, &periods, content);
        Bursts { tokens: self.tokens(subcorpus), ..cells.bursts((attribute, step), &bins, config) }
    }

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
        let candidates = self.unseen_before(subcorpus, attribute, config);
        let is_eligible = |word: &str| is_word(word) && (config.known || !is_known(word));
        let evidence = self.novelty(subcorpus, attribute, config, &candidates, &is_eligible);
        let mut seen: HashMap<&str, Spread<'_>> = HashMap::new();
        let layer = layer_of(attribute, self.lexicon());
        let lexicon = self.lexicon();
        for (number, (segment, scope)) in (0u32..).zip(self.scopes(subcorpus)) {
            let sites = segment.field("site");
            let bits = segment.sentence_bits();
            for (local_id, lexeme) in (0..).zip(segment.lexemes().all()) {
                let Some(key) = candidates.get(&lexicon.of(*lexeme, layer)) else { continue };
                let word = lexicon.text(*lexeme, layer);
                let form = lexicon.text(*lexeme, Layer::Word);
                let is_capital = form.chars().next().is_some_and(char::is_uppercase);
                let spread = seen.entry(key.as_str()).or_default();
                segment.postings(local_id).pieces(0, segment.tokens(), |positions| {
                    for position in positions {
                        let document = segment.document_at(*position);
                        if !scope.documents().contains(&document) || !scope.contains(document) {
                            continue;
                        }
                        let starts = bit(bits, *position);
                        spread.inside += u64::from(!starts);
                        spread.capitals += u64::from(!starts && is_capital);
                        spread.spellings.entry(word).or_insert((0, lexicon.of(*lexeme, layer))).0 += 1;
                        spread.forms.insert(form);
                        let day = spread.days.entry(segment.day_of(document).0).or_default();
                        day.0 += 1;
                        // A document with several forms of a lemma counts once.
                        if spread.documents.insert((number, document)) {
                            day.1 += 1;
                            let site = sites.as_ref().map(|sites| sites.of(document)).unwrap_or_default();
                            *spread.sites.entry(site.to_owned()).or_default() += 1;
                        }
                    }
                });
            }
        }
        let spreads: Vec<SpreadDays<'_>> = seen.values().filter_map(Spread::days).collect();
        let sightings = spreads.iter().map(|spread| {
            let p = evidence.candidates.get(&*spread.value.to_lowercase()).copied();
            let forms = spread.spread.forms.iter().copied();
            Sighting { known: forms.chain([spread.value]).any(is_known), ..spread.sighting(p.unwrap_or(1.0), content) }
        });
        Ok(NewWords::of(attribute, config, &evidence.attainable, sightings))
    }

    /// Tests every word with enough documents: candidates, by their lower-case form, and all others that could be listed,
    /// which say how many candidates to expect by chance.
    fn novelty<'c>(
        &self,
        subcorpus: &Subcorpus,
        attribute: Attribute,
        config: &NewWordConfig,
        candidates: &'c HashMap<u32, String>,
        is_eligible: &(dyn Fn(&str) -> bool + Sync),
    ) -> Novelty<'c> {
        subcorpus.limits().begin_pass(self.tokens(subcorpus));
        let first = self.volume(subcorpus).keys().next().copied().unwrap_or(Day(config.window_start));
        let (periods, before) = window_periods(config, first);
        let cells = self.site_cells(subcorpus, &periods);
        let mut test = NoveltyTest::new(cells.volume(), before, config.min_sites <= 1);
        let mut new: HashMap<&str, Vec<CellCount>> = candidates.values().map(|word| (&**word, Vec::new())).collect();
        let is_tested = |counts: &[CellCount]| {
            let documents = counts.iter().map(|count| u64::from(count.documents)).sum::<u64>();
            documents >= config.min_documents.into()
        };
        let any_case = if attribute == Attribute::Word { Attribute::Lc } else { attribute };
        let is_new = |word: &str| new.contains_key(&*word.to_lowercase());
        let words = self.map_words_by_site(&cells, any_case, 1, subcorpus.limits(), || {
            |word, counts: &[CellCount]| {
                let word = self.name(any_case, word);
                let is_kept = is_new(&word) || is_tested(counts) && is_eligible(&word);
                is_kept.then(|| (word, counts.to_vec()))
            }
        });
        for (word, counts) in words {
            match new.get_mut(&*word.to_lowercase()) {
                Some(of_all_spellings) => of_all_spellings.extend(counts),
                None => drop(test.add(&counts)),
            }
        }
        let mut p = HashMap::new();
        for (word, mut counts) in new.into_iter().filter(|(_, counts)| is_tested(counts)) {
            counts.sort_unstable_by_key(|count| (count.site, count.bin));
            p.insert(word, test.add(&counts));
        }
        Novelty { candidates: p, attainable: test.finish() }
    }

    /// The strings that occur in the window and, in any case, never before it, with their lower-case form.
    fn unseen_before(
        &self,
        subcorpus: &Subcorpus,
        attribute: Attribute,
        config: &NewWordConfig,
    ) -> HashMap<u32, String> {
        let layer = layer_of(attribute, self.lexicon());
        // Count each spelling apart; they are joined by their lower-case form below.
        let plain = if attribute == Attribute::Lc { Attribute::Word } else { attribute };
        let counts = self.period_counts(subcorpus, plain, &window(config), 1);
        let lexicon = self.lexicon();
        let mut known: HashMap<String, bool> = HashMap::new();
        for (id, hits) in counts.words.iter().zip(counts.hits.chunks_exact(2)) {
            let text = lexicon.string(layer, *id);
            if config.all_words || is_word(text) {
                *known.entry(text.to_lowercase()).or_default() |= hits[0] > 0;
            }
        }
        if attribute == Attribute::Lemma {
            self.add_known_forms(subcorpus, config, &mut known);
        }
        let mut candidates = HashMap::new();
        for id in counts.words {
            let lower = lexicon.string(layer, id).to_lowercase();
            if known.get(&lower) == Some(&false) {
                candidates.insert(id, lower);
            }
        }
        candidates
    }

    /// Marks lemmas of which a form was seen before the window: the lemma of an unknown word is a guess, and another guess is
    /// not another word.
    fn add_known_forms(&self, subcorpus: &Subcorpus, config: &NewWordConfig, known: &mut HashMap<String, bool>) {
        let lexicon = self.lexicon();
        let forms = self.period_counts(subcorpus, Attribute::Word, &window(config), 1);
        let mut earlier: HashSet<String> = HashSet::new();
        for (form, hits) in forms.words.iter().zip(forms.hits.chunks_exact(2)) {
            if hits[0] > 0 {
                earlier.insert(lexicon.string(Layer::Word, *form).to_lowercase());
            }
        }
        for lexeme in 0..lexicon.lexemes() {
            let lemma = lexicon.text(lexeme, Layer::Lemma).to_lowercase();
            if let Some(is_known) = known.get_mut(&lemma).filter(|is_known| !**is_known) {
                *is_known =
                    earlier.contains(&lemma) || earlier.contains(&lexicon.text(lexeme, Layer::Word).to_lowercase());
            }
        }
    }

    /// The number of owners of sites with documents from a day on.
    pub fn owners_since(&self, subcorpus: &Subcorpus, since: Day) -> usize {
        let mut sites = BTreeMap::new();
        for (segment, scope) in self.scopes(subcorpus) {
            let Some(field) = segment.field("site") else { continue };
            scope.runs(|run| {
                for document in run.filter(|document| segment.day_of(*document) >= since) {
                    *sites.entry(field.of(document).to_owned()).or_default() += 1;
                }
            });
        }
        owners(&sites)
    }

    /// The filter of the sites with documents in every bin: changes there come from the texts, not from the list of feeds.
    pub fn panel(&self, subcorpus: &Subcorpus, step: Step, min_documents: u32) -> Filter {
        let bins = self.bins(subcorpus, step);
        subcorpus.limits().begin_pass(self.tokens(subcorpus));
        let index: HashMap<Bin, usize> = bins.iter().enumerate().map(|(index, bin)| (*bin, index)).collect();
        let mut sites: BTreeMap<String, Vec<u32>> = BTreeMap::new();
        for (segment, scope) in self.scopes(subcorpus) {
            let Some(field) = segment.field("site") else { continue };
            scope.pieces(segment, subcorpus.limits(), |run| {
                subcorpus.limits().saw(segment.tokens_in(run.clone()).len() as u64);
                for document in run {
                    let bin = step.bin_of(segment.day_of(document).date());
                    if let Some(index) = index.get(&bin) {
                        let row = sites.entry(field.of(document).to_owned()).or_insert_with(|| vec![0; bins.len()]);
                        row[*index] += 1;
                    }
                }
            });
        }
        let counts: Vec<u32> = sites.values().flatten().copied().collect();
        let alive = alive_throughout(&counts, bins.len(), min_documents);
        let names: Vec<&String> = sites.keys().collect();
        of_sites(alive.into_iter().map(|row| names[row].as_str()))
    }

    /// The documents of sites that gave some to both parts.
    pub fn panel_of_two(&self, one: &Subcorpus, other: &Subcorpus) -> Filter {
        let sites = |subcorpus: &Subcorpus| -> BTreeSet<String> {
            let mut sites = BTreeSet::new();
            for (segment, scope) in self.scopes(subcorpus) {
                let Some(field) = segment.field("site") else { continue };
                let mut seen = vec![false; field.count() as usize];
                scope.runs(|run| run.for_each(|document| seen[field.code(document) as usize] = true));
                let codes = (0..).zip(seen).filter(|(_, seen)| *seen);
                sites.extend(codes.map(|(code, _)| field.value(code).to_owned()));
            }
            sites
        };
        of_sites(sites(one).intersection(&sites(other)).map(String::as_str))
    }

    /// The bins from the first day of a subcorpus to its last.
    fn bins(&self, subcorpus: &Subcorpus, step: Step) -> Vec<Bin> {
        let volume = self.volume(subcorpus);
        match (volume.keys().next(), volume.keys().next_back()) {
            (Some(first), Some(last)) => step.bins(first.date(), last.date()),
            _ => Vec::new(),
        }
    }

    /// The bins of a subcorpus, and the days of each.
    pub(super) fn periods(&self, subcorpus: &Subcorpus, step: Step) -> (Vec<Bin>, Vec<Range<Day>>) {
        let bins = self.bins(subcorpus, step);
        let days = |bin: &Bin| Day::of(bin.first)..Day(Day::of(bin.last).0 + 1);
        let periods = bins.iter().map(days).collect();
        (bins, periods)
    }

    /// A word by its number.
    pub(super) fn name(&self, attribute: Attribute, word: u32) -> String {
        attribute.value(self.lexicon().string(layer_of(attribute, self.lexicon()), word)).into_owned()
    }
}

impl WordCells<'_> {
    /// The words with a rising or falling trend within sites, by significance.
    pub(crate) fn trends(&self, (attribute, step): (Attribute, Step), bins: &[Bin], config: &RiseConfig) -> Trends {
        let mut test = SiteRises::new(self.volume(), config);
        let (words, left_out) = self.measure(config.min_count, || {
            let mut fitter = test.fitter();
            move |counts| {
                let (mut hits, mut documents) = (vec![0u32; bins.len()], vec![0u32; bins.len()]);
                for count in counts {
                    hits[count.bin as usize] += count.hits;
                    documents[count.bin as usize] += count.documents;
                }
                (fitter.fit(counts), hits, documents)
            }
        });
        let (mut hits, mut documents) = (Vec::new(), Vec::new());
        let mut names = Vec::with_capacity(words.len());
        for Tested { value, is_name, measured: (fitted, of_hits, of_documents) } in words {
            test.push(fitted);
            hits.extend(of_hits);
            documents.extend(of_documents);
            names.push((value, is_name));
        }
        let tokens = self.volume().tokens_by_bin();
        let hits = Table { counts: &hits, tokens: &tokens };
        let documents = Table { counts: &documents, tokens: &tokens };
        let outcome = test.finish();
        let name = |row: usize| names[row].clone();
        let found = Trends::of((attribute, step), bins, config, &outcome, (&hits, &documents), name);
        Trends { left_out, ..found }
    }

    /// The words with significant bursts, strongest first.
    pub(crate) fn bursts(&self, (attribute, step): (Attribute, Step), bins: &[Bin], config: &BurstConfig) -> Bursts {
        let mut test = SiteBursts::new(self.volume(), config);
        let (words, left_out) =
            self.measure(config.min_documents.into(), || |counts: &[CellCount]| test.measure(counts));
        let mut names = Vec::with_capacity(words.len());
        for Tested { value, is_name, measured } in words {
            test.push(measured);
            names.push((value, is_name));
        }
        let row = |(row, burst): (usize, Burst)| BurstRow {
            value: names[row].0.clone(),
            name: names[row].1,
            q: burst.q,
            bin: bins[burst.bin as usize],
            score: burst.score,
            log_ratio: burst.log_ratio,
            hits: burst.hits.into(),
            documents: burst.documents.into(),
            sequel: burst.sequel,
        };
        let mut found: Vec<BurstRow> = test.finish().into_iter().map(row).collect();
        found.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.value.cmp(&b.value)));
        Bursts {
            attribute,
            step,
            tokens: 0,
            tested: names.len() as u64,
            left_out,
            false_discovery_rate: config.false_discovery_rate,
            values: Some(found.len() as u64),
            rows: found,
        }
    }
}

/// The filter that admits the documents of some sites.
pub(crate) fn of_sites<'s>(sites: impl Iterator<Item = &'s str>) -> Filter {
    let test = |site: &str| {
        let predicate = FieldPredicate::Text { negated: false, value: ValueMatcher::exact(site) };
        Logic::Test(FieldTest { field: "site".to_owned(), predicate, span: Span::default() })
    };
    let mut tests: Vec<Logic<FieldTest>> = sites.map(test).collect();
    let condition = match tests.len() {
        // No site has this name.
        0 => test("\u{0}"),
        1 => tests.remove(0),
        _ => Logic::Any(tests),
    };
    Filter { condition }
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
fn window_periods(config: &NewWordConfig, first: Day) -> (Vec<Range<Day>>, usize) {
    let (start, end) = (config.window_start, config.today.saturating_add(1));
    let number = |from: i32, to: i32, step: i32| to.saturating_sub(from).max(0).saturating_add(step - 1) / step;
    let before = number(first.0, start, DAYS_OF_A_WEEK);
    let step = if number(start, end, DAYS_OF_A_WEEK) >= MANY_WEEKS { DAYS_OF_A_WEEK } else { 1 };
    let period = |day: i32, step: i32| Day(day)..Day(day.saturating_add(step));
    let earlier = (1..=before).rev().map(|week| period(start - week * DAYS_OF_A_WEEK, DAYS_OF_A_WEEK));
    let within = (0..number(start, end, step)).map(|at| period(start + at * step, step));
    (earlier.chain(within).collect(), before as usize)
}

/// The probabilities that words are first seen in the window by chance.
struct Novelty<'c> {
    /// Of the candidates, by their lower-case form.
    candidates: HashMap<&'c str, f64>,
    /// Of all words with enough documents.
    attainable: Vec<f64>,
}

/// The hits of a word by day, spelling and site.
#[derive(Default)]
struct Spread<'e> {
    /// Hits that do not begin a sentence, and those of them with a capital.
    inside: u64,
    capitals: u64,
    /// The hits of each spelling, with its number.
    spellings: BTreeMap<&'e str, (u64, u32)>,
    /// The documents with it, by the number of their segment.
    documents: HashSet<(u32, u32)>,
    /// The forms in the text.
    forms: BTreeSet<&'e str>,
    /// Hits and documents by day.
    days: BTreeMap<i32, (u32, u32)>,
    /// Documents by site.
    sites: BTreeMap<String, u32>,
}

/// The same in the order of days, under the spelling that is most frequent.
struct SpreadDays<'s> {
    value: &'s str,
    number: u32,
    spread: &'s Spread<'s>,
    days: Vec<(i32, u32, u32)>,
}

/// The share of capitalised hits inside sentences from which a word without tags is a name.
const NAME_CAPITALS: f64 = 0.9;

impl Spread<'_> {
    fn days(&self) -> Option<SpreadDays<'_>> {
        let most = self.spellings.iter().max_by_key(|(spelling, (hits, _))| (*hits, std::cmp::Reverse(*spelling)));
        let (value, (_, number)) = most?;
        let days = self.days.iter().map(|(day, (hits, documents))| (*day, *hits, *documents)).collect();
        Some(SpreadDays { value, number: *number, spread: self, days })
    }
}

impl SpreadDays<'_> {
    /// Tags tell names; without tags capitals do.
    fn sighting(&self, p: f64, content: Option<&ContentWords<'_>>) -> Sighting<'_> {
        let Spread { inside, capitals, sites, .. } = self.spread;
        let kind = content.map(|content| content.kind(self.number));
        let is_capitalised = *inside > 0 && *capitals as f64 >= NAME_CAPITALS * *inside as f64;
        Sighting {
            value: self.value,
            days: &self.days,
            sites: owners(sites) as u32,
            name: match content {
                Some(content) if content.has_tags() => kind == Some(WordKind::Name),
                _ => is_capitalised,
            },
            known: false,
            function: kind.is_some_and(|kind| !kind.is_content()),
            p,
        }
    }
}

/// The number of owners of sites, by registered domain (public suffix list).
fn owners(sites: &BTreeMap<String, u32>) -> usize {
    sites.keys().map(|site| psl::domain_str(site).unwrap_or(site)).collect::<BTreeSet<&str>>().len()
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
}
