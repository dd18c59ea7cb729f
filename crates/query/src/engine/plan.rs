//! The search plan of a segment: the most selective seeds, and how their positions are read.

use super::Deadline;
use super::lexeme_test::{LexemeTest, local_ids_of};
use super::nfa::{Nfa, SeedSource, SeedToken};
use super::set::LexemeSet;
use super::spans::DocumentSpans;
use crate::cql::ast::Structure;
use std::cell::RefCell;
use std::ops::Range;
use tidings_index::Segment;
use tidings_index::codec::{BitSet, next_bit};
use tidings_index::segment::LocalLexemeId;

/// Costs in nanoseconds, as measured; only their ratios matter.
const OPEN_LIST: f64 = 40.0;
const DECODE: f64 = 1.5;
const SORT: f64 = 4.0;
const SCAN: f64 = 1.2;
const VERIFY: f64 = 6.0;
const READ_STRUCTURE: f64 = 2.0;
/// The expected number of tokens of a sentence.
const SENTENCE_TOKENS: u32 = 16;
/// The expected number of starts to try per seed if the distance is unbounded, within a sentence and within a document.
const STARTS_IN_SENTENCE: f64 = 20.0;
const STARTS_IN_DOCUMENT: f64 = 400.0;
/// The steps that reading the positions of a seed counts for: a scan of a window takes a tenth of a millisecond.
const SEED_STEPS: u32 = 1 << 12;

/// The plan of a segment.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    /// The seeds; every match has a token of one of them.
    pub(crate) seeds: Vec<SeedToken>,
    /// The source of positions of each seed.
    sources: Vec<Positions>,
    /// The expected number of positions in the whole segment.
    pub(crate) expected: u64,
    /// The expected cost of the search.
    pub(crate) cost: f64,
    /// The restriction whose targets are searched instead of seeds.
    pub(crate) driver: Option<usize>,
    /// No match is possible, because a lexeme that every match needs does not occur.
    pub(crate) cannot_match: bool,
}

/// A source of positions.
#[derive(Debug, Clone)]
enum Positions {
    /// The posting lists of lexemes.
    Lists(Vec<LocalLexemeId>),
    /// A scan of the token column.
    Scan,
    /// All positions.
    Everywhere,
    /// The first tokens of the spans of the seed.
    Spans,
    /// The first tokens of structures.
    Structures,
    /// Tokens by their position in the document.
    Offsets,
}

/// A restriction that every hit fulfils by a target: what finding the targets costs.
pub(crate) struct Driver {
    /// The index of the restriction.
    pub(crate) index: usize,
    /// The expected number of targets.
    pub(crate) targets: u64,
    pub(crate) cost: f64,
    /// The expected number of starts to try per target, if the pattern does not limit them.
    pub(crate) starts: Option<f64>,
}

impl Positions {
    /// The cheapest source of the tokens of a set; without their number if an earlier seed with the same test took it.
    fn of(set: &LexemeSet, selectivity: Option<Selectivity>, segment: &Segment) -> Positions {
        match (set, selectivity) {
            (LexemeSet::All, _) => Positions::Everywhere,
            (_, Some(selectivity)) => match (selectivity.read_cost(segment), selectivity.local_ids) {
                ((_, true), Some(local_ids)) => Positions::Lists(local_ids),
                _ => Positions::Scan,
            },
            (LexemeSet::Few(few), None) => Positions::Lists(local_ids_of(few, segment.lexemes())),
            (_, None) => Positions::Scan,
        }
    }
}

/// The number of tokens of a segment that pass a test, and their lexemes if they are few.
struct Selectivity {
    tokens: u64,
    local_ids: Option<Vec<LocalLexemeId>>,
}

impl Selectivity {
    fn of(set: &LexemeSet, segment: &Segment) -> Selectivity {
        match set {
            LexemeSet::Few(few) => {
                let local_ids = local_ids_of(few, segment.lexemes());
                let tokens = local_ids.iter().map(|local_id| frequency(segment, *local_id)).sum();
                Selectivity { tokens, local_ids: Some(local_ids) }
            }
            set => Selectivity { tokens: set.tokens_in(segment), local_ids: None },
        }
    }

    /// The cost of reading the positions, and whether posting lists are the cheapest source.
    fn read_cost(&self, segment: &Segment) -> (f64, bool) {
        let scan = f64::from(segment.tokens()) * SCAN;
        match &self.local_ids {
            Some(local_ids) => {
                let lists = lists_cost(local_ids.len(), self.tokens as f64);
                (lists.min(scan), lists <= scan)
            }
            None => (scan, false),
        }
    }
}

impl Plan {
    /// Chooses the cheapest seeds of a segment. `within_sentence` says that no hit is longer than a sentence.
    pub(crate) fn new(
        nfa: &Nfa,
        sets: &[LexemeSet],
        spans: &[RefCell<DocumentSpans<'_>>],
        segment: &Segment,
        within_sentence: bool,
        drivers: &[Driver],
    ) -> Plan {
        let mut selectivities: Vec<Option<Selectivity>> = sets.iter().map(|_| None).collect();
        let is_few = |seeds: &Vec<SeedToken>| {
            seeds.iter().all(|seed| match seed.source {
                SeedSource::Test(test) => matches!(sets[test], LexemeSet::Few(_)),
                SeedSource::Span(_) | SeedSource::Structure(_) | SeedSource::Position(..) => true,
            })
        };
        // Small sets first: to add up the frequencies of a large one takes longer than many a query.
        let mut order: Vec<&Vec<SeedToken>> = nfa.seeds.iter().collect();
        order.sort_by_key(|seeds| !is_few(seeds));
        let mut best: Option<(f64, &Vec<SeedToken>, u64)> = None;
        for seeds in order {
            let is_good = |cost: f64| cost < f64::from(segment.tokens()) * 0.05;
            if !is_few(seeds) && best.as_ref().is_some_and(|(cost, ..)| is_good(*cost)) {
                break;
            }
            let (mut cost, mut expected) = (0.0, 0);
            for seed in seeds {
                let (read, tokens) = match seed.source {
                    SeedSource::Test(test) => {
                        let selectivity =
                            selectivities[test].get_or_insert_with(|| Selectivity::of(&sets[test], segment));
                        (selectivity.read_cost(segment).0, selectivity.tokens)
                    }
                    SeedSource::Span(index) => {
                        let (count, cost) = spans[index].borrow().expected();
                        (cost, count)
                    }
                    SeedSource::Structure(structure) => {
                        let count = structures_in(segment, structure);
                        (count as f64 * READ_STRUCTURE, count)
                    }
                    SeedSource::Position(first, last) => {
                        let count = u64::from(segment.meta().documents) * u64::from(last - first + 1);
                        (count as f64 * DECODE, count.min(segment.tokens().into()))
                    }
                };
                let starts = match (seed.farthest, within_sentence) {
                    (Some(far), _) => f64::from(far - seed.nearest + 1),
                    (None, true) => STARTS_IN_SENTENCE,
                    (None, false) => STARTS_IN_DOCUMENT,
                };
                cost += read + tokens as f64 * starts * VERIFY;
                expected += tokens;
            }
            if best.as_ref().is_none_or(|(known, ..)| cost < *known) {
                best = Some((cost, seeds, expected));
            }
        }
        let everywhere = f64::from(segment.tokens()) * VERIFY;
        if let Some(driver) = Plan::cheapest_driver(nfa, drivers, within_sentence)
            && driver.cost < best.as_ref().map_or(everywhere, |(cost, ..)| *cost)
        {
            let Driver { index, targets: expected, cost, .. } = driver;
            let (seeds, sources) = (Vec::new(), Vec::new());
            return Plan { seeds, sources, expected, cost, driver: Some(index), cannot_match: expected == 0 };
        }
        let Some((cost, seeds, expected)) = best else {
            // No token is required: try every position.
            let seeds = vec![SeedToken { source: SeedSource::Test(0), nearest: 0, farthest: Some(0) }];
            let (expected, cost) = (u64::from(segment.tokens()), everywhere);
            let sources = vec![Positions::Everywhere];
            return Plan { seeds, sources, expected, cost, driver: None, cannot_match: false };
        };
        let source = |seed: &SeedToken| match seed.source {
            SeedSource::Span(_) => Positions::Spans,
            SeedSource::Structure(_) => Positions::Structures,
            SeedSource::Position(..) => Positions::Offsets,
            SeedSource::Test(test) => Positions::of(&sets[test], selectivities[test].take(), segment),
        };
        let sources = seeds.iter().map(source).collect();
        Plan { seeds: seeds.clone(), sources, expected, cost, driver: None, cannot_match: expected == 0 }
    }

    /// The restriction whose targets are the cheapest way to the hits, with the cost of the whole search.
    fn cheapest_driver(nfa: &Nfa, drivers: &[Driver], within_sentence: bool) -> Option<Driver> {
        let usual = if within_sentence { STARTS_IN_SENTENCE } else { STARTS_IN_DOCUMENT };
        let longest = nfa.length.max.map_or(usual, f64::from);
        let with_starts = drivers.iter().map(|driver| {
            let starts = driver.starts.unwrap_or(longest);
            Driver { cost: driver.cost + driver.targets as f64 * starts * VERIFY, ..*driver }
        });
        with_starts.min_by(|a, b| a.cost.total_cmp(&b.cost))
    }

    /// Returns true if all positions come from posting lists.
    pub(crate) fn reads_lists(&self) -> bool {
        self.sources.iter().all(|source| matches!(source, Positions::Lists(_)))
    }

    /// The distances from the start of a match to a seed: the smallest, and the largest if there is one.
    pub(crate) fn seed_distance(&self) -> (u32, Option<u32>) {
        let nearest = self.seeds.iter().map(|seed| seed.nearest).min().unwrap_or(0);
        let farthest = self.seeds.iter().map(|seed| seed.farthest);
        (nearest, farthest.reduce(|a, b| a.zip(b).map(|(a, b)| a.max(b))).flatten())
    }

    /// Appends the positions of seeds in some documents, ascending; returns false if a limit was reached.
    pub(crate) fn positions(
        &self,
        segment: &Segment,
        tests: &[LexemeTest<'_>],
        spans: &[RefCell<DocumentSpans<'_>>],
        documents: Range<u32>,
        deadline: &mut Deadline,
        into: &mut Vec<u32>,
    ) -> bool {
        let tokens = segment.tokens_in(documents.clone());
        let read = |(seed, source): (&SeedToken, &Positions), into: &mut Vec<u32>| match (source, seed.source) {
            (Positions::Everywhere, _) => into.extend(tokens.clone()),
            (Positions::Lists(local_ids), _) => read_lists(segment, local_ids, tokens.clone(), into),
            (_, SeedSource::Span(index)) => spans[index].borrow_mut().starts(segment, documents.clone(), into),
            (_, SeedSource::Structure(structure)) => read_structures(segment, structure, documents.clone(), into),
            (_, SeedSource::Position(first, last)) => {
                for document in documents.clone() {
                    let tokens = segment.tokens_of(document);
                    let end = tokens.start.saturating_add(last).saturating_add(1).min(tokens.end);
                    into.extend(tokens.start.saturating_add(first)..end);
                }
            }
            (_, SeedSource::Test(test)) => scan(segment, &tests[test], tokens.clone(), into),
        };
        let mut seeds = self.seeds.iter().zip(&self.sources);
        if let ([_], Some(only)) = (&self.seeds[..], seeds.next()) {
            read(only, into);
            return true;
        }
        // Positions of many seeds overlap: they are joined before they fill more memory than the tokens have positions.
        let mut all: Option<BitSet> = None;
        for seed in self.seeds.iter().zip(&self.sources) {
            if !deadline.tick_by(SEED_STEPS) {
                return false;
            }
            read(seed, into);
            if into.len() > tokens.len() / 8 {
                let all = all.get_or_insert_with(|| BitSet::new(tokens.len()));
                into.drain(..)
                    .filter(|position| tokens.contains(position))
                    .for_each(|position| all.set(position - tokens.start));
            }
        }
        if let Some(mut all) = all {
            into.drain(..)
                .filter(|position| tokens.contains(position))
                .for_each(|position| all.set(position - tokens.start));
            into.extend(all.iter().map(|offset| tokens.start + offset));
        } else {
            into.sort_unstable();
            into.dedup();
        }
        true
    }

    /// The plan as text, for `--explain`.
    pub(crate) fn explain(&self, name: impl Fn(SeedSource) -> String, target: impl Fn(usize) -> String) -> String {
        if let Some(driver) = self.driver {
            return format!("the matches of {} ({}), the rest verified around them", target(driver), self.expected);
        }
        let steps = self.seeds.iter().zip(&self.sources).map(|(seed, source)| {
            let test = name(seed.source);
            let how = match source {
                Positions::Everywhere => "every token".to_owned(),
                Positions::Lists(local_ids) if local_ids.len() == 1 => format!("the posting list of {test}"),
                Positions::Lists(local_ids) => format!("the {} posting lists of {test}", local_ids.len()),
                Positions::Scan => format!("a scan of the token column for {test}"),
                Positions::Spans | Positions::Structures => format!("the starts of {test}"),
                Positions::Offsets => format!("the tokens {test} of documents"),
            };
            let distance = match (seed.nearest, seed.farthest) {
                (0, Some(0)) => String::new(),
                (near, Some(far)) if near == far => format!(", {near} after the start"),
                (near, Some(far)) => format!(", {near} to {far} after the start"),
                (near, None) => format!(", {near} or more after the start"),
            };
            format!("{how}{distance}")
        });
        let steps: Vec<String> = steps.collect();
        format!("{} ({} tokens), the rest verified in the token column", steps.join(" and "), self.expected)
    }
}

/// The cost of reading the positions of several posting lists in order.
fn lists_cost(lists: usize, tokens: f64) -> f64 {
    let sort = if lists > 1 { SORT } else { 0.0 };
    lists as f64 * OPEN_LIST + tokens * (DECODE + sort)
}

fn read_lists(segment: &Segment, local_ids: &[LocalLexemeId], tokens: Range<u32>, into: &mut Vec<u32>) {
    if let [local_id] = local_ids {
        return segment.postings(*local_id).read(tokens.start, tokens.end, into);
    }
    let from = into.len();
    let total: u64 = local_ids.iter().map(|local_id| frequency(segment, *local_id)).sum();
    let share = total * tokens.len() as u64 / u64::from(segment.tokens().max(1));
    // Many positions are sorted by setting bits, few by comparison.
    if share > tokens.len() as u64 / 512 {
        let mut bits = BitSet::new(tokens.len());
        for local_id in local_ids {
            segment.postings(*local_id).pieces(tokens.start, tokens.end, |piece| {
                piece.iter().for_each(|position| bits.set(position - tokens.start));
            });
        }
        into.extend(bits.iter().map(|offset| tokens.start + offset));
    } else {
        local_ids.iter().for_each(|local_id| segment.postings(*local_id).read(tokens.start, tokens.end, into));
        into[from..].sort_unstable();
    }
}

/// The expected number of structures of a segment.
fn structures_in(segment: &Segment, structure: Structure) -> u64 {
    match structure {
        Structure::Sentence => u64::from(segment.tokens() / SENTENCE_TOKENS + 1),
        Structure::Paragraph => segment.paragraphs().len().into(),
        Structure::Document | Structure::Span(_) => segment.meta().documents.into(),
    }
}

/// Appends the first tokens of structures.
fn read_structures(segment: &Segment, structure: Structure, documents: Range<u32>, into: &mut Vec<u32>) {
    let tokens = segment.tokens_in(documents.clone());
    match structure {
        Structure::Sentence => {
            let bits = segment.sentence_bits();
            let mut next = tokens.start;
            while let Some(start) = next_bit(bits, next, tokens.end) {
                into.push(start);
                next = start + 1;
            }
        }
        Structure::Paragraph => segment.paragraphs().read(tokens.start, tokens.end, into),
        Structure::Document | Structure::Span(_) => {
            into.extend(
                documents.map(|document| segment.tokens_of(document)).filter(|t| !t.is_empty()).map(|t| t.start),
            );
        }
    }
}

fn frequency(segment: &Segment, local_id: LocalLexemeId) -> u64 {
    u64::from(segment.frequencies().get(local_id as usize).unwrap_or(0))
}

fn scan(segment: &Segment, test: &LexemeTest<'_>, tokens: Range<u32>, into: &mut Vec<u32>) {
    let column = segment.column();
    match test {
        LexemeTest::BitSet(bits) => {
            let words = bits.words();
            let mut found = [0u32; 128];
            column.scan(tokens.start, tokens.end, |from, local_ids| {
                // Branch-free: every position is written, and kept only if the count advances.
                let mut count = 0;
                for (position, local_id) in (from..).zip(local_ids) {
                    found[count & 127] = position;
                    let word = words.get(*local_id as usize / 64).copied().unwrap_or(0);
                    count += (word >> (local_id % 64) & 1) as usize;
                }
                into.extend_from_slice(&found[..count.min(128)]);
            });
        }
        test => column.scan(tokens.start, tokens.end, |from, local_ids| {
            let passing = (from..).zip(local_ids).filter(|(_, local_id)| test.passes(**local_id));
            into.extend(passing.map(|(position, _)| position));
        }),
    }
}
