//! Hits and documents in the cells of a cross table: by fields of documents and by periods.

use super::count::Values;
use super::memory::Reserved;
use super::{Limit, Limits, Search};
use crate::merge::Merge;
use crate::trend::Step;
use hashbrown::HashMap as CodeMap;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use tidings_index::Segment;

/// A property of documents that makes rows or columns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum DocumentLevel {
    /// The value of a field.
    Field(String),
    /// The period of its date.
    Time(Step),
}

/// The counts of a cell.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellCounts {
    /// Tokens of the documents of the cell.
    pub tokens: u64,
    /// These documents.
    pub documents: u64,
    /// The hits of each query, and the documents with one.
    pub found: Vec<(u64, u64)>,
}

impl Merge for CellCounts {
    fn merge_from(&mut self, other: CellCounts) {
        self.tokens += other.tokens;
        self.documents += other.documents;
        self.found.merge_from(other.found);
    }
}

/// Cells by the values of their levels.
pub type CrossCells = BTreeMap<Vec<String>, CellCounts>;

/// The memory of a cell besides its texts.
const CELL_BYTES: u64 = 160;

/// The cells of the documents of one segment: the codes of a document's levels are digits of its cell's number.
struct SegmentCells<'s> {
    segment: &'s Segment,
    levels: Vec<LevelValues<'s>>,
}

struct LevelValues<'s> {
    values: Values<'s>,
    count: u64,
    step: Option<Step>,
}

impl<'s> SegmentCells<'s> {
    fn new(segment: &'s Segment, levels: &[DocumentLevel]) -> SegmentCells<'s> {
        let level = |level: &DocumentLevel| {
            let (values, step) = match level {
                DocumentLevel::Field(name) => (Values::new(segment, name), None),
                DocumentLevel::Time(step) => (Values::new(segment, "date"), Some(*step)),
            };
            LevelValues { count: values.count(segment).max(1) as u64, values, step }
        };
        SegmentCells { segment, levels: levels.iter().map(level).collect() }
    }

    fn cell(&self, document: u32) -> u64 {
        let code = |level: &LevelValues<'_>| level.values.code(self.segment, document) as u64;
        self.levels.iter().fold(0, |cell, level| cell.wrapping_mul(level.count).wrapping_add(code(level)))
    }

    fn texts(&self, document: u32) -> Vec<String> {
        let text = |level: &LevelValues<'_>| match level.step {
            Some(step) => step.bin_of(self.segment.day_of(document).date()).to_string(),
            None => level.values.value(self.segment, level.values.code(self.segment, document)),
        };
        self.levels.iter().map(text).collect()
    }
}

/// The counts of the cells of a segment, each with a document of it.
struct Counting<'s> {
    cells: SegmentCells<'s>,
    numbers: CodeMap<u64, usize>,
    counts: Vec<(u32, CellCounts)>,
    queries: usize,
}

impl Counting<'_> {
    /// The counts of the cell of a document; nothing if there is no memory for another cell.
    fn at(&mut self, document: u32, memory: &mut Reserved) -> Option<&mut CellCounts> {
        let cell = self.cells.cell(document);
        let number = match self.numbers.get(&cell) {
            Some(number) => *number,
            None if !memory.grow(CELL_BYTES + 16 * self.queries as u64) => return None,
            None => {
                let empty = CellCounts { found: vec![(0, 0); self.queries], ..CellCounts::default() };
                self.counts.push((document, empty));
                self.numbers.insert(cell, self.counts.len() - 1);
                self.counts.len() - 1
            }
        };
        self.counts.get_mut(number).map(|(_, counts)| counts)
    }
}

/// Counts the hits of several searches over the same documents by the levels of documents.
pub(crate) fn cross_cells(searches: &[Search<'_>], levels: &[DocumentLevel], limits: &Limits) -> CrossCells {
    let mut sums = CrossCells::new();
    let Some(first) = searches.first() else { return sums };
    searches.iter().for_each(|search| search.begin_pass(limits));
    let mut memory = limits.memory();
    for index in 0..first.segments() {
        let segment = first.segment(index);
        let cells = SegmentCells::new(segment, levels);
        let mut counting = Counting { cells, numbers: CodeMap::new(), counts: Vec::new(), queries: searches.len() };
        let mut has_room = true;
        // Reads no tokens, so that limits of time do not apply.
        first.scope(index).runs(|documents| {
            for document in documents {
                match counting.at(document, &mut memory).filter(|_| has_room) {
                    Some(counts) => {
                        counts.tokens += segment.tokens_of(document).len() as u64;
                        counts.documents += 1;
                    }
                    None => has_room = false,
                }
            }
        });
        if !has_room {
            limits.strike(Limit::Values);
            return sums;
        }
        for (query, search) in searches.iter().enumerate() {
            let (mut document, mut end) = (0, 0);
            search.each_in(index, limits, &mut |start, _| {
                let is_next = start >= end;
                if is_next {
                    document = segment.document_at(start);
                    end = segment.tokens_of(document).end;
                }
                if let Some(found) = counting.at(document, &mut memory).and_then(|counts| counts.found.get_mut(query)) {
                    *found = (found.0 + 1, found.1 + u64::from(is_next));
                }
                ControlFlow::Continue(())
            });
        }
        for (document, counts) in std::mem::take(&mut counting.counts) {
            sums.entry(counting.cells.texts(document)).or_default().merge_from(counts);
        }
    }
    sums
}
