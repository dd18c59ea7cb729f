//! Words in time: which rise or fall, which burst, which are new, and which sites were there all along.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use hashbrown::HashMap;
use tidings_index::Day;
use tidings_index::pack::bit;

use super::set::layer_of;
use super::words::PeriodCounts;
use super::{Engine, Part, Result};
use crate::answer::{BurstRow, Bursts, NewWords, Trends};
use crate::cql::Attribute;
use crate::filter::{Demand, FieldTest, Filter};
use crate::syntax::{Logic, Place, Wanted};
use crate::trend::{
    Bin, BinCount, BurstConfig, NewWordConfig, RiseConfig, Sighting, Step, Table, alive_throughout, burst, is_word,
    rises, tokens_before,
};

/// Words in bins of time.
struct WordsInTime {
    bins: Vec<Bin>,
    names: Vec<String>,
    counts: PeriodCounts,
}

impl Engine {
    /// The words of a part that rise or fall over its time, surest first.
    pub fn trends(&self, part: &Part, attribute: Attribute, step: Step, config: &RiseConfig) -> Trends {
        let words = self.in_time(part, attribute, step, config.min_count);
        let tokens: Vec<f64> = words.counts.tokens.iter().map(|tokens| *tokens as f64).collect();
        let hits = Table { counts: &words.counts.hits, tokens: &tokens };
        // One document that repeats a word is one decision to use it.
        let documents = Table { counts: &words.counts.documents, tokens: &tokens };
        let outcome = rises(&documents, config);
        Trends::of(attribute, &words.bins, config, &outcome, (&hits, &documents), |row| words.names[row].clone())
    }

    /// The words of a part with the strongest bursts, strongest first.
    pub fn bursts(&self, part: &Part, attribute: Attribute, step: Step, config: &BurstConfig) -> Bursts {
        let words = self.in_time(part, attribute, step, config.min_documents.into());
        let before = tokens_before(&words.counts.tokens.iter().map(|tokens| *tokens as f64).collect::<Vec<f64>>());
        let width = words.bins.len().max(1);
        let rows = words.counts.hits.chunks_exact(width).zip(words.counts.documents.chunks_exact(width));
        let mut found: Vec<BurstRow> = Vec::new();
        for (name, (hits, documents)) in words.names.iter().zip(rows) {
            let counts: Vec<BinCount> = (0..)
                .zip(hits.iter().zip(documents))
                .filter(|(_, (hits, _))| **hits > 0)
                .map(|(bin, (hits, documents))| BinCount { bin, hits: *hits, documents: *documents })
                .collect();
            if let Some(burst) = burst(&counts, &before, config) {
                found.push(BurstRow {
                    value: name.clone(),
                    bin: words.bins[burst.bin as usize],
                    score: burst.score,
                    log_ratio: burst.log_ratio,
                    hits: burst.hits.into(),
                    documents: burst.documents.into(),
                    sequel: burst.sequel,
                });
            }
        }
        found.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.value.cmp(&b.value)));
        Bursts { attribute, step, rows: found }
    }

    /// The words that were first seen in the window of the configuration, most widely spread first. Spellings that
    /// differ in case are one word, shown as it is written most often.
    pub fn new_words(&self, part: &Part, attribute: Attribute, config: &NewWordConfig) -> Result<NewWords> {
        let candidates = self.unseen_before(part, attribute, config);
        let mut seen: HashMap<&str, Spread> = HashMap::new();
        let layer = layer_of(attribute);
        let lexicon = self.lexicon();
        for (segment, scope) in self.scopes(part) {
            let sites = segment.field("site");
            let bits = segment.sentence_bits();
            for (rank, lexeme) in (0..).zip(segment.lexemes()) {
                let Some(key) = candidates.get(&lexicon.of(*lexeme, layer)) else { continue };
                let word = lexicon.text(*lexeme, layer);
                let is_capital = word.chars().next().is_some_and(char::is_uppercase);
                let spread = seen.entry(key.as_str()).or_default();
                let mut last = None;
                segment.list(rank).pieces(0, segment.tokens(), |positions| {
                    for position in positions {
                        let document = segment.document_at(*position);
                        if !scope.documents().contains(&document) || !scope.contains(document) {
                            continue;
                        }
                        let starts = bit(bits, *position);
                        spread.inside += u64::from(!starts);
                        spread.capitals += u64::from(!starts && is_capital);
                        *spread.spellings.entry(word.to_owned()).or_default() += 1;
                        let day = spread.days.entry(segment.day_of(document).0).or_default();
                        day.0 += 1;
                        if last != Some(document) {
                            last = Some(document);
                            day.1 += 1;
                            let site = sites.as_ref().map(|sites| sites.of(document)).unwrap_or_default();
                            spread.sites.insert(site.to_owned());
                        }
                    }
                });
            }
        }
        let spreads: Vec<SpreadDays<'_>> = seen.values().filter_map(Spread::days).collect();
        Ok(NewWords::of(attribute, config, spreads.iter().map(SpreadDays::sighting)))
    }

    /// The strings that occur in the window and, in whatever case, never before it, with what they have in common.
    fn unseen_before(&self, part: &Part, attribute: Attribute, config: &NewWordConfig) -> HashMap<u32, String> {
        let layer = layer_of(attribute);
        let (first, last) = (Day(config.window_start), Day(config.today));
        let before = Day(i32::MIN + 1)..first;
        let within = first..Day(last.0.saturating_add(1));
        let counts = self.period_counts(part, layer, &[before, within], 1);
        let lexicon = self.lexicon();
        let mut known: HashMap<String, bool> = HashMap::new();
        for (id, hits) in counts.words.iter().zip(counts.hits.chunks_exact(2)) {
            let text = lexicon.string(layer, *id);
            if is_word(text) {
                *known.entry(text.to_lowercase()).or_default() |= hits[0] > 0;
            }
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

    /// Those documents of a part whose sites gave documents in every bin of its time: what changes there is the writing,
    /// not the list of feeds.
    pub fn panel(&self, part: &Part, step: Step, min_documents: u32) -> Filter {
        let bins = self.bins(part, step);
        let place: HashMap<Bin, usize> = bins.iter().enumerate().map(|(place, bin)| (*bin, place)).collect();
        let mut sites: BTreeMap<String, Vec<u32>> = BTreeMap::new();
        for (segment, scope) in self.scopes(part) {
            let Some(field) = segment.field("site") else { continue };
            scope.runs(|run| {
                for document in run {
                    let bin = step.bin_of(segment.day_of(document).date());
                    if let Some(place) = place.get(&bin) {
                        let row = sites.entry(field.of(document).to_owned()).or_insert_with(|| vec![0; bins.len()]);
                        row[*place] += 1;
                    }
                }
            });
        }
        let counts: Vec<u32> = sites.values().flatten().copied().collect();
        let alive = alive_throughout(&counts, bins.len(), min_documents);
        let names: Vec<&String> = sites.keys().collect();
        let test = |site: &str| {
            let demand = Demand::Text { negated: false, wanted: Wanted::exact(site) };
            Logic::Test(FieldTest { field: "site".to_owned(), demand, place: Place::default() })
        };
        let mut tests: Vec<Logic<FieldTest>> = alive.into_iter().map(|row| test(names[row])).collect();
        let condition = match tests.len() {
            // Nobody was there all the time: no site has this name.
            0 => test("\u{0}"),
            1 => tests.remove(0),
            _ => Logic::Any(tests),
        };
        Filter { condition }
    }

    /// The bins from the first day of a part to its last.
    fn bins(&self, part: &Part, step: Step) -> Vec<Bin> {
        let volume = self.volume(part);
        match (volume.keys().next(), volume.keys().next_back()) {
            (Some(first), Some(last)) => step.bins(first.date(), last.date()),
            _ => Vec::new(),
        }
    }

    fn in_time(&self, part: &Part, attribute: Attribute, step: Step, at_least: u64) -> WordsInTime {
        let bins = self.bins(part, step);
        let days = |bin: &Bin| Day::of(bin.first)..Day(Day::of(bin.last).0 + 1);
        let periods: Vec<Range<Day>> = bins.iter().map(days).collect();
        let layer = layer_of(attribute);
        let counts = self.period_counts(part, layer, &periods, if attribute == Attribute::Lc { 1 } else { at_least });
        let names = counts.words.iter().map(|id| self.lexicon().string(layer, *id).to_owned()).collect();
        let words = WordsInTime { bins, names, counts };
        if attribute == Attribute::Lc { words.joined(at_least) } else { words }
    }
}

impl WordsInTime {
    /// With spellings that differ in case as one word, those that occur often enough.
    fn joined(self, at_least: u64) -> WordsInTime {
        let width = self.bins.len().max(1);
        let mut rows: HashMap<String, usize> = HashMap::new();
        let mut joined = WordsInTime { bins: self.bins, names: Vec::new(), counts: PeriodCounts::default() };
        for (row, name) in self.names.iter().enumerate() {
            let lower = name.to_lowercase();
            let at = *rows.entry(lower.clone()).or_insert_with(|| {
                joined.names.push(lower);
                joined.counts.hits.resize(joined.names.len() * width, 0);
                joined.counts.documents.resize(joined.names.len() * width, 0);
                joined.names.len() - 1
            });
            let add = |from: &[u32], to: &mut [u32]| {
                to[at * width..][..width].iter_mut().zip(&from[row * width..][..width]).for_each(|(a, b)| *a += b);
            };
            add(&self.counts.hits, &mut joined.counts.hits);
            // A document with two spellings counts for both: a bound from above.
            add(&self.counts.documents, &mut joined.counts.documents);
        }
        let often = |row: &usize| {
            joined.counts.hits[row * width..][..width].iter().map(|hits| u64::from(*hits)).sum::<u64>() >= at_least
        };
        let kept: Vec<usize> = (0..joined.names.len()).filter(often).collect();
        let pick = |from: &[u32]| kept.iter().flat_map(|row| from[row * width..][..width].to_vec()).collect();
        WordsInTime {
            names: kept.iter().map(|row| joined.names[*row].clone()).collect(),
            counts: PeriodCounts {
                words: Vec::new(),
                hits: pick(&joined.counts.hits),
                documents: pick(&joined.counts.documents),
                tokens: self.counts.tokens,
            },
            bins: joined.bins,
        }
    }
}

/// Where and when a word was met.
#[derive(Default)]
struct Spread {
    /// Hits that do not begin a sentence, and those of them with a capital.
    inside: u64,
    capitals: u64,
    spellings: BTreeMap<String, u64>,
    /// Hits and documents by day.
    days: BTreeMap<i32, (u32, u32)>,
    sites: BTreeSet<String>,
}

/// The same in the order of days, under the spelling that is most frequent.
struct SpreadDays<'s> {
    value: &'s str,
    spread: &'s Spread,
    days: Vec<(i32, u32, u32)>,
}

impl Spread {
    fn days(&self) -> Option<SpreadDays<'_>> {
        let (value, _) = self.spellings.iter().max_by_key(|(spelling, hits)| (**hits, std::cmp::Reverse(*spelling)))?;
        let days = self.days.iter().map(|(day, (hits, documents))| (*day, *hits, *documents)).collect();
        Some(SpreadDays { value, spread: self, days })
    }
}

impl SpreadDays<'_> {
    fn sighting(&self) -> Sighting<'_> {
        let Spread { inside, capitals, sites, .. } = self.spread;
        Sighting {
            value: self.value,
            days: &self.days,
            sites: owners(sites) as u32,
            capitalised: if *inside == 0 { 0.0 } else { *capitals as f64 / *inside as f64 },
            known: false,
        }
    }
}

/// How many owners sites have, by their registered domains.
fn owners(sites: &BTreeSet<String>) -> usize {
    sites.iter().map(|site| psl::domain_str(site).unwrap_or(site)).collect::<BTreeSet<&str>>().len()
}
