//! Counts of words per period.
//!
//! A dense table of all words by some quarters is filled in one pass over the tokens. A table of all words by all weeks of
//! ten years would not fit into memory and be mostly zeros; there each word's posting lists are read, and only its
//! non-zero counts are kept.

use super::parallel;
use super::scope::Scope;
use super::set::layer_of;
use super::{Deadline, Engine, Limits, Subcorpus};
use crate::cql::Attribute;
use crate::trend::{CellCount, SiteVolume};
use std::collections::BTreeMap;
use std::ops::Range;
use tidings_index::{Day, Segment};

/// The counts of words in each of several periods.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PeriodCounts {
    /// The number of each word in its layer of the lexicon; spellings with the same value have the number of one of them.
    pub words: Vec<u32>,
    /// The hits of each word in each period, row by row.
    pub hits: Vec<u32>,
    /// The documents of each word in each period, row by row.
    pub documents: Vec<u32>,
    /// The tokens of each period.
    pub tokens: Vec<u64>,
}

/// The period of documents outside of all periods.
pub(super) const NO_PERIOD: u32 = u32::MAX;

impl Engine {
    /// Counts the words that occur at least `at_least` times in each of some periods, which are sorted and do not overlap.
    /// One pass over all tokens; takes eight bytes per word and period.
    pub fn period_counts(
        &self,
        subcorpus: &Subcorpus,
        attribute: Attribute,
        periods: &[Range<Day>],
        at_least: u64,
    ) -> PeriodCounts {
        let word_of = self.words_of_lexemes(attribute);
        let layer = layer_of(attribute, self.lexicon());
        subcorpus.limits().begin_pass(self.tokens(subcorpus));
        let by_string = self.string_counts(subcorpus, layer);
        // Spellings that count as one word add up under its number.
        let mut totals = vec![0; by_string.len()];
        let mut is_counted = vec![false; by_string.len()];
        for (string, word) in self.lexicon().all_of(layer).into_iter().zip(&word_of) {
            let is_new = is_counted.get_mut(string as usize).is_some_and(|known| !std::mem::replace(known, true));
            if let (true, Some(total)) = (is_new, totals.get_mut(*word as usize)) {
                *total += by_string[string as usize];
            }
        }
        let words: Vec<u32> = (0..)
            .zip(&totals)
            .filter(|(_, total): &(u32, &u64)| **total >= at_least.max(1))
            .map(|(word, _)| word)
            .collect();
        let mut rows = vec![u32::MAX; totals.len()];
        words.iter().enumerate().for_each(|(row, word)| rows[*word as usize] = row as u32);
        let mut counts = PeriodCounts {
            hits: vec![0; words.len() * periods.len()],
            documents: vec![0; words.len() * periods.len()],
            tokens: vec![0; periods.len()],
            words,
        };
        subcorpus.limits().begin_pass(self.tokens(subcorpus));
        for (segment, scope) in self.scopes(subcorpus) {
            let of_documents = periods_of_documents(segment, scope, periods, &mut counts.tokens);
            count_segment(segment, &of_documents, &word_of, &rows, subcorpus.limits(), &mut counts);
        }
        counts
    }

    /// The cells of sites and periods, which are sorted and do not overlap, with the text in each.
    pub fn site_cells<'e>(&'e self, subcorpus: &'e Subcorpus, periods: &[Range<Day>]) -> SiteCells<'e> {
        let bins = periods.len();
        let mut volume = SiteVolume { bins, ..SiteVolume::default() };
        let mut numbers: BTreeMap<String, u32> = BTreeMap::new();
        let mut found = Vec::new();
        for (segment, scope) in self.scopes(subcorpus) {
            let of_documents = periods_of_documents(segment, scope, periods, &mut vec![0; bins]);
            let sites = segment.field("site");
            for document in (0..).zip(&of_documents).filter(|(_, period)| **period != NO_PERIOD).map(|(at, _)| at) {
                let site = sites.as_ref().map_or("", |sites| sites.of(document));
                if !numbers.contains_key(site) {
                    numbers.insert(site.to_owned(), 0);
                }
            }
            found.push((segment, of_documents));
        }
        // In the order of names, so that equal corpora have equal cells.
        (0..).zip(numbers.values_mut()).for_each(|(number, of_site)| *of_site = number);
        volume.tokens = vec![0.0; numbers.len() * bins];
        volume.documents = volume.tokens.clone();
        let mut segments = Vec::new();
        for (segment, mut cells) in found {
            let sites = segment.field("site");
            for (document, cell) in (0..).zip(&mut cells).filter(|(_, cell)| **cell != NO_PERIOD) {
                let site = sites.as_ref().map_or("", |sites| sites.of(document));
                *cell += numbers.get(site).copied().unwrap_or(0) * bins as u32;
                volume.tokens[*cell as usize] += segment.tokens_of(document).len() as f64;
                volume.documents[*cell as usize] += 1.0;
            }
            segments.push(SegmentPeriods::new(segment, cells));
        }
        segments.retain(SegmentPeriods::has_text);
        SiteCells { segments, volume, sites: numbers.into_keys().collect() }
    }

    /// The results of a function of every word that occurs at least `at_least` times and its cells, which are sorted by site
    /// and period; in the order of the words' values. Reads each posting list once, on several threads. `work` is called
    /// once on each thread and makes the function.
    pub fn map_words_by_site<T: Send, F: FnMut(u32, &[CellCount]) -> Option<T>>(
        &self,
        cells: &SiteCells<'_>,
        attribute: Attribute,
        at_least: u64,
        limits: &Limits,
        work: impl Fn() -> F + Sync,
    ) -> Vec<T> {
        let SiteCells { segments, volume, .. } = cells;
        let lists = WordLists::new(segments, &self.words_of_lexemes(attribute), at_least);
        // Numbers depend on the order in which documents were added, values do not, and sums of floating-point numbers
        // depend on their order.
        let mut words: Vec<u32> =
            (0..lists.words() as u32).filter(|word| !lists.of(*word as usize).is_empty()).collect();
        words.sort_by_cached_key(|word| self.name(attribute, *word));
        // Reading the lists of a word takes time proportional to its frequency.
        let steps_of = |word: u32| {
            let lists = lists.of(word as usize).iter();
            let steps = lists.map(|(segment, local_id)| segments[*segment as usize].frequency(*local_id));
            steps.fold(1, u32::saturating_add)
        };
        let blocks = word_blocks(&words, &steps_of, limits.block_tokens());
        let found = parallel::map(limits, blocks.len(), || {
            let mut each = work();
            let mut sums = CellSums { sums: vec![(0, 0); volume.tokens.len()], touched: Vec::new() };
            let (mut counts, mut positions, mut deadline) = (Vec::new(), Vec::new(), Deadline::new(limits));
            let blocks = &blocks;
            let (steps_of, lists) = (&steps_of, &lists);
            move |block: usize| {
                let mut found = Vec::new();
                for word in blocks[block] {
                    let steps = steps_of(*word);
                    if !deadline.tick_by(steps) {
                        break;
                    }
                    limits.saw(steps.into());
                    for run in lists.of(*word as usize).chunk_by(|a, b| a.0 == b.0) {
                        segments[run[0].0 as usize].count(run, &mut positions, &mut sums);
                    }
                    let hits = sums.take(volume.bins, &mut counts);
                    if hits >= at_least.max(1) {
                        found.extend(each(*word, &counts));
                    }
                }
                found
            }
        });
        found.into_iter().flatten().collect()
    }
}

/// Divides words into blocks that take about as many steps each.
fn word_blocks<'w>(words: &'w [u32], steps_of: &impl Fn(u32) -> u32, block_steps: u32) -> Vec<&'w [u32]> {
    let (mut blocks, mut rest) = (Vec::new(), words);
    while !rest.is_empty() {
        let mut steps = 0u32;
        let end = rest.iter().position(|word| {
            steps = steps.saturating_add(steps_of(*word));
            steps >= block_steps
        });
        let (block, behind) = rest.split_at(end.map_or(rest.len(), |last| last + 1));
        blocks.push(block);
        rest = behind;
    }
    blocks
}

/// The cells of sites and periods.
pub struct SiteCells<'e> {
    pub(super) segments: Vec<SegmentPeriods<'e>>,
    pub(super) volume: SiteVolume,
    pub(super) sites: Vec<String>,
}

impl SiteCells<'_> {
    /// The text in each cell.
    pub fn volume(&self) -> &SiteVolume {
        &self.volume
    }

    /// The names of the sites, sorted.
    pub fn sites(&self) -> &[String] {
        &self.sites
    }
}

/// Hits and documents of a word by cell, and the cells that have some: most cells of most words are empty.
struct CellSums {
    sums: Vec<(u32, u32)>,
    touched: Vec<u32>,
}

impl CellSums {
    fn add(&mut self, cell: u32, is_new_document: bool) {
        let Some(sum) = self.sums.get_mut(cell as usize) else { return };
        if sum.0 == 0 {
            self.touched.push(cell);
        }
        *sum = (sum.0 + 1, sum.1 + u32::from(is_new_document));
    }

    /// Moves the counts out, sorted by cell; returns the hits.
    fn take(&mut self, bins: usize, counts: &mut Vec<CellCount>) -> u64 {
        self.touched.sort_unstable();
        counts.clear();
        let mut all = 0;
        for cell in self.touched.drain(..) {
            let (hits, documents) = std::mem::take(&mut self.sums[cell as usize]);
            all += u64::from(hits);
            counts.push(CellCount { site: cell / bins as u32, bin: cell % bins as u32, hits, documents });
        }
        all
    }
}

/// Hits and documents of a word in the current period, and the last document with it.
type Count = (u32, u32, u32);

/// Adds the counts of a segment, period by period. `rows` has the row of each word.
fn count_segment(
    segment: &Segment,
    of_documents: &[u32],
    word_of: &[u32],
    rows: &[u32],
    limits: &Limits,
    counts: &mut PeriodCounts,
) {
    let (column, width) = (segment.column(), counts.tokens.len());
    let mut deadline = Deadline::new(limits);
    // Words that are not counted go to a spare row at the end.
    let spare = counts.words.len();
    let row_of = |lexeme: &u32| {
        let row = word_of.get(*lexeme as usize).and_then(|word| rows.get(*word as usize));
        row.map_or(spare, |row| spare.min(*row as usize)) as u32
    };
    let row_of: Vec<u32> = segment.lexemes().all().iter().map(row_of).collect();
    let mut current: Vec<Count> = vec![(0, 0, u32::MAX); spare + 1];
    let mut add = |current: &mut [Count], period: u32| {
        for (row, count) in current[..spare].iter_mut().enumerate() {
            counts.hits[row * width + period as usize] += count.0;
            counts.documents[row * width + period as usize] += count.1;
            *count = (0, 0, u32::MAX);
        }
    };
    let mut now = NO_PERIOD;
    for (document, period) in (0..).zip(of_documents.iter().copied()) {
        if period == NO_PERIOD {
            continue;
        }
        if period != now && now != NO_PERIOD {
            add(&mut current, now);
        }
        now = period;
        let tokens = segment.tokens_of(document);
        if !deadline.tick_by(tokens.len() as u32) {
            return;
        }
        limits.saw(tokens.len() as u64);
        column.scan(tokens.start, tokens.end, |_, local_ids| {
            for local_id in local_ids {
                let row = row_of.get(*local_id as usize).copied().unwrap_or(spare as u32);
                let count = &mut current[row as usize];
                count.0 += 1;
                count.1 += u32::from(count.2 != document);
                count.2 = document;
            }
        });
    }
    if now != NO_PERIOD {
        add(&mut current, now);
    }
}

/// The period of each selected document; adds to the tokens of each period.
fn periods_of_documents(segment: &Segment, scope: &Scope, periods: &[Range<Day>], tokens: &mut [u64]) -> Vec<u32> {
    let mut of_documents = vec![NO_PERIOD; segment.meta().documents as usize];
    for index in 0..segment.days() {
        let day = segment.day(index);
        let Some(period) = periods.partition_point(|period| period.start <= day).checked_sub(1) else { continue };
        if !periods[period].contains(&day) {
            continue;
        }
        let asked = scope.documents();
        for document in segment.documents_of_day(index) {
            if asked.contains(&document) && scope.contains(document) {
                tokens[period] += segment.tokens_of(document).len() as u64;
                of_documents[document as usize] = period as u32;
            }
        }
    }
    of_documents
}

/// A segment with the cell of each of its documents.
pub(super) struct SegmentPeriods<'s> {
    segment: &'s Segment,
    periods: Vec<u32>,
    /// The tokens from the first selected document to the last.
    tokens: Range<u32>,
    /// The document of every 64th token: a sparse index, as bisecting for each position would cost more than counting it.
    milestones: Vec<u32>,
}

/// The number of tokens between two milestones.
const MILE: u32 = 64;

impl<'s> SegmentPeriods<'s> {
    /// Prepares a segment with the cell of each of its documents.
    pub(super) fn new(segment: &'s Segment, periods: Vec<u32>) -> SegmentPeriods<'s> {
        let is_selected = |period: &u32| *period != NO_PERIOD;
        let first = periods.iter().position(is_selected).unwrap_or(0) as u32;
        let end = periods.iter().rposition(is_selected).map_or(0, |last| last as u32 + 1);
        let tokens = segment.tokens_in(first..end);
        let mut document = 0;
        let milestone = |position: u32| {
            document = segment.document_from(document, position);
            document
        };
        let milestones = (0..segment.tokens()).step_by(MILE as usize).map(milestone).collect();
        SegmentPeriods { segment, periods, tokens, milestones }
    }

    /// Returns true if any document is selected; the others need not be read.
    pub(super) fn has_text(&self) -> bool {
        !self.tokens.is_empty()
    }

    fn frequency(&self, local_id: u32) -> u32 {
        self.segment.frequencies().get(local_id as usize).unwrap_or(0)
    }

    /// Adds the hits and documents of a word with these posting lists to its cells.
    fn count(&self, lists: &[(u32, u32)], positions: &mut Vec<u32>, sums: &mut CellSums) {
        let starts = self.segment.starts();
        let mut end = 0;
        let mut period = NO_PERIOD;
        let mut add = |piece: &[u32]| {
            for position in piece {
                let is_next = *position >= end;
                if is_next {
                    let mut document = self.milestones.get((position / MILE) as usize).copied().unwrap_or(0) as usize;
                    while starts.get(document + 1).is_some_and(|start| start <= position) {
                        document += 1;
                    }
                    end = starts.get(document + 1).copied().unwrap_or(u32::MAX);
                    period = self.periods.get(document).copied().unwrap_or(NO_PERIOD);
                }
                sums.add(period, is_next);
            }
        };
        if let [(_, local_id)] = lists {
            return self.segment.postings(*local_id).pieces(self.tokens.start, self.tokens.end, add);
        }
        // A document with several lexemes of the word counts once, so their lists are merged.
        positions.clear();
        for (_, local_id) in lists {
            self.segment.postings(*local_id).read(self.tokens.start, self.tokens.end, positions);
        }
        positions.sort_unstable();
        add(positions);
    }
}

/// The posting lists of each word as segment and local id, segments ascending.
struct WordLists {
    starts: Vec<u32>,
    lists: Vec<(u32, u32)>,
}

impl WordLists {
    /// Words that occur less often, deleted documents included, have none.
    fn new(segments: &[SegmentPeriods<'_>], word_of: &[u32], at_least: u64) -> WordLists {
        let words = word_of.iter().max().map_or(0, |word| *word as usize + 1);
        let mut hits = vec![0u64; words];
        let mut starts = vec![0u32; words + 1];
        let each_list = |each: &mut dyn FnMut(u32, u32, usize, u32)| {
            for (number, segment) in (0..).zip(segments) {
                let lists = segment.segment.lexemes().all().iter().zip(segment.segment.frequencies().all());
                for (local_id, (lexeme, frequency)) in (0..).zip(lists) {
                    if let Some(word) = word_of.get(*lexeme as usize) {
                        each(number, local_id, *word as usize, *frequency);
                    }
                }
            }
        };
        each_list(&mut |_, _, word, frequency| {
            hits[word] += u64::from(frequency);
            starts[word + 1] += 1;
        });
        for word in 0..words {
            let own = if hits[word] >= at_least.max(1) { starts[word + 1] } else { 0 };
            starts[word + 1] = starts[word] + own;
        }
        let mut free = starts.clone();
        let mut lists = vec![(0, 0); starts[words] as usize];
        each_list(&mut |number, local_id, word, _| {
            if free[word] < starts[word + 1] {
                lists[free[word] as usize] = (number, local_id);
                free[word] += 1;
            }
        });
        WordLists { starts, lists }
    }

    fn words(&self) -> usize {
        self.starts.len() - 1
    }

    fn of(&self, word: usize) -> &[(u32, u32)] {
        &self.lists[self.starts[word] as usize..self.starts[word + 1] as usize]
    }
}
