//! How a segment is searched: from what every match has in it and few tokens are.

use super::find::{RankTest, ranks_of};
use super::nfa::{Nfa, SeedToken};
use super::set::LexemeSet;
use std::ops::Range;
use tidings_index::Segment;
use tidings_index::codec::BitSet;

/// What things cost, in nanoseconds; measured, and only their ratios matter.
const LIST: f64 = 40.0;
const DECODE: f64 = 1.5;
const SORT: f64 = 4.0;
const SCAN: f64 = 1.2;
const VERIFY: f64 = 6.0;

/// How a segment is searched.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    /// What is looked for first; every match has one of them in it.
    pub(crate) seeds: Vec<SeedToken>,
    /// Where the positions of each seed come from.
    sources: Vec<Positions>,
    /// About how many positions that gives in the whole segment.
    pub(crate) expected: u64,
    /// No match is possible: a lexeme that every match needs does not occur.
    pub(crate) cannot_match: bool,
}

/// Where positions come from.
#[derive(Debug, Clone)]
enum Positions {
    /// The lists of these ranks.
    Lists(Vec<u32>),
    /// A scan of the column.
    Scan,
    /// All there are.
    Everywhere,
}

/// How many tokens of a segment pass a test, and by which ranks if they are few.
struct Selectivity {
    tokens: u64,
    ranks: Option<Vec<u32>>,
}

fn selectivity(set: &LexemeSet, segment: &Segment) -> Selectivity {
    let frequencies = segment.frequencies();
    let frequency = |rank: &u32| u64::from(frequencies.get(*rank as usize).copied().unwrap_or(0));
    match set {
        LexemeSet::All => Selectivity { tokens: u64::from(segment.tokens()), ranks: None },
        LexemeSet::Few(few) => {
            let ranks = ranks_of(few, segment.lexemes());
            Selectivity { tokens: ranks.iter().map(frequency).sum(), ranks: Some(ranks) }
        }
        LexemeSet::Many(bits) => {
            let present = segment.lexemes().iter().zip(frequencies).filter(|(lexeme, _)| bits.get(**lexeme));
            Selectivity { tokens: present.map(|(_, count)| u64::from(*count)).sum(), ranks: None }
        }
    }
}

impl Plan {
    /// The cheapest way through a segment. `sentence_bound` says that no hit is longer than a sentence.
    pub(crate) fn new(nfa: &Nfa, sets: &[LexemeSet], segment: &Segment, sentence_bound: bool) -> Plan {
        let mut selectivities: Vec<Option<Selectivity>> = sets.iter().map(|_| None).collect();
        let is_few = |seeds: &Vec<SeedToken>| seeds.iter().all(|seed| matches!(sets[seed.test], LexemeSet::Few(_)));
        // Small sets are weighed first: weighing a large one takes longer than many a query.
        let mut order: Vec<&Vec<SeedToken>> = nfa.seeds.iter().collect();
        order.sort_by_key(|seeds| !is_few(seeds));
        let mut best: Option<(f64, &Vec<SeedToken>, u64)> = None;
        for seeds in order {
            if !is_few(seeds) && best.as_ref().is_some_and(|(cost, ..)| *cost < f64::from(segment.tokens()) * 0.05) {
                break;
            }
            let (mut cost, mut expected) = (0.0, 0);
            for seed in seeds {
                let selectivity =
                    selectivities[seed.test].get_or_insert_with(|| selectivity(&sets[seed.test], segment));
                let starts = match (seed.farthest, sentence_bound) {
                    (Some(far), _) => f64::from(far - seed.nearest + 1),
                    (None, true) => 20.0,
                    (None, false) => 400.0,
                };
                let tokens = selectivity.tokens as f64;
                let gather = match &selectivity.ranks {
                    Some(ranks) => lists_cost(ranks.len(), tokens).min(f64::from(segment.tokens()) * SCAN),
                    None => f64::from(segment.tokens()) * SCAN,
                };
                cost += gather + tokens * starts * VERIFY;
                expected += selectivity.tokens;
            }
            if best.as_ref().is_none_or(|(known, ..)| cost < *known) {
                best = Some((cost, seeds, expected));
            }
        }
        let Some((_, seeds, expected)) = best else {
            // Nothing can be told about any token: every position is tried.
            let seeds = vec![SeedToken { test: 0, nearest: 0, farthest: Some(0) }];
            let expected = u64::from(segment.tokens());
            return Plan { seeds, sources: vec![Positions::Everywhere], expected, cannot_match: false };
        };
        let source = |seed: &SeedToken| match selectivities[seed.test].take() {
            _ if matches!(sets[seed.test], LexemeSet::All) => Positions::Everywhere,
            Some(Selectivity { tokens, ranks: Some(ranks) })
                if lists_cost(ranks.len(), tokens as f64) <= f64::from(segment.tokens()) * SCAN =>
            {
                Positions::Lists(ranks)
            }
            Some(_) => Positions::Scan,
            // Weighed for an seed before this one.
            None => match &sets[seed.test] {
                LexemeSet::Few(few) => Positions::Lists(ranks_of(few, segment.lexemes())),
                _ => Positions::Scan,
            },
        };
        let sources = seeds.iter().map(source).collect();
        Plan { seeds: seeds.clone(), sources, expected, cannot_match: expected == 0 }
    }

    /// Whether all positions come from lists.
    pub(crate) fn reads_lists(&self) -> bool {
        self.sources.iter().all(|source| matches!(source, Positions::Lists(_)))
    }

    /// How far from an seed a match may begin.
    pub(crate) fn reach(&self) -> (u32, Option<u32>) {
        let nearest = self.seeds.iter().map(|seed| seed.nearest).min().unwrap_or(0);
        let farthest = self.seeds.iter().map(|seed| seed.farthest);
        (nearest, farthest.reduce(|a, b| a.zip(b).map(|(a, b)| a.max(b))).flatten())
    }

    /// Appends the positions of the seeds among some tokens, ascending.
    pub(crate) fn positions(&self, segment: &Segment, tests: &[RankTest<'_>], tokens: Range<u32>, into: &mut Vec<u32>) {
        for (seed, source) in self.seeds.iter().zip(&self.sources) {
            match source {
                Positions::Everywhere => into.extend(tokens.clone()),
                Positions::Lists(ranks) => lists(segment, ranks, tokens.clone(), into),
                Positions::Scan => scan(segment, &tests[seed.test], tokens.clone(), into),
            }
        }
        if self.seeds.len() > 1 {
            into.sort_unstable();
            into.dedup();
        }
    }

    /// The plan in words, for people who wonder why a query takes so long.
    pub(crate) fn explain(&self, name: impl Fn(usize) -> String) -> String {
        let steps = self.seeds.iter().zip(&self.sources).map(|(seed, source)| {
            let test = name(seed.test);
            let how = match source {
                Positions::Everywhere => "every token".to_owned(),
                Positions::Lists(ranks) if ranks.len() == 1 => format!("the list of {test}"),
                Positions::Lists(ranks) => format!("the {} lists of {test}", ranks.len()),
                Positions::Scan => format!("a scan of the column for {test}"),
            };
            let distance = match (seed.nearest, seed.farthest) {
                (0, Some(0)) => String::new(),
                (near, Some(far)) if near == far => format!(", {near} behind the start"),
                (near, Some(far)) => format!(", {near} to {far} behind the start"),
                (near, None) => format!(", {near} or more behind the start"),
            };
            format!("{how}{distance}")
        });
        let steps: Vec<String> = steps.collect();
        format!("{} ({} tokens), the rest verified in the column", steps.join(" and "), self.expected)
    }
}

/// What it costs to gather the positions of so many lists in order.
fn lists_cost(lists: usize, tokens: f64) -> f64 {
    let sort = if lists > 1 { SORT } else { 0.0 };
    lists as f64 * LIST + tokens * (DECODE + sort)
}

fn lists(segment: &Segment, ranks: &[u32], tokens: Range<u32>, into: &mut Vec<u32>) {
    if let [rank] = ranks {
        return segment.postings(*rank).read(tokens.start, tokens.end, into);
    }
    let from = into.len();
    let frequencies = segment.frequencies();
    let total: u64 = ranks.iter().map(|rank| u64::from(frequencies.get(*rank as usize).copied().unwrap_or(0))).sum();
    let share = total * tokens.len() as u64 / u64::from(segment.tokens().max(1));
    // Many positions are put in order by setting bits, few by sorting.
    if share > tokens.len() as u64 / 512 {
        let mut bits = BitSet::new(tokens.len());
        for rank in ranks {
            segment.postings(*rank).pieces(tokens.start, tokens.end, |piece| {
                piece.iter().for_each(|position| bits.set(position - tokens.start));
            });
        }
        into.extend(bits.iter().map(|offset| tokens.start + offset));
    } else {
        ranks.iter().for_each(|rank| segment.postings(*rank).read(tokens.start, tokens.end, into));
        into[from..].sort_unstable();
    }
}

fn scan(segment: &Segment, test: &RankTest<'_>, tokens: Range<u32>, into: &mut Vec<u32>) {
    let column = segment.column();
    match test {
        RankTest::BitSet(bits) => {
            let words = bits.words();
            let mut found = [0u32; 128];
            column.scan(tokens.start, tokens.end, |from, ranks| {
                // Written in any case, counted if it passes: no branch that could be guessed wrong.
                let mut count = 0;
                for (position, rank) in (from..).zip(ranks) {
                    found[count & 127] = position;
                    let word = words.get(*rank as usize / 64).copied().unwrap_or(0);
                    count += (word >> (rank % 64) & 1) as usize;
                }
                into.extend_from_slice(&found[..count.min(128)]);
            });
        }
        test => column.scan(tokens.start, tokens.end, |from, ranks| {
            into.extend((from..).zip(ranks).filter(|(_, rank)| test.passes(**rank)).map(|(position, _)| position));
        }),
    }
}
