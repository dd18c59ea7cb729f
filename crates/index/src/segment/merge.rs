//! K-way merge of segments into one, without deleted documents.
//!
//! Nothing is sorted again: documents are merged by day, posting lists are joined, and memory holds a few numbers per document
//! and a few bits per token. The result does not depend on how the documents were divided among the segments, as long as
//! segments are given in the order in which they were written.

use std::path::Path;

use super::Segment;
use super::documents::text_at;
use super::write::{Shape, Source, write};
use crate::codec::{BitSet, bit, next_bit};
use crate::day::Day;
use crate::error::Result;

/// A segment to merge, with its deleted documents.
#[derive(Debug, Clone, Copy)]
pub struct MergeSource<'s> {
    /// The segment.
    pub segment: &'s Segment,
    /// Deleted documents.
    pub deleted: &'s BitSet,
}

/// Merges segments into a new one; returns its size in bytes.
///
/// Every byte of the sources is compared with its digest first: damage that was copied would get a digest of its own and
/// could never be told again.
pub fn merge(sources: &[MergeSource<'_>], path: &Path) -> Result<u64> {
    sources.iter().try_for_each(|source| source.segment.verify())?;
    write(path, &mut Merged::new(sources))
}

/// Mapping of the positions of one source.
enum Moves {
    /// All move by one distance: nothing was deleted, and no other document comes in between.
    Together(u32),
    /// Start of each document in the new segment; `None` if it was deleted.
    Apart(Vec<Option<u32>>),
}

struct Merged<'s> {
    sources: &'s [MergeSource<'s>],
    /// Source and document, in the order of the new segment.
    order: Vec<(u32, u32)>,
    lexemes: Vec<u32>,
    /// For each source the new rank of each of its ranks.
    ranks: Vec<Vec<u32>>,
    moves: Vec<Moves>,
    /// For each source the next rank whose list is to be read.
    next: Vec<usize>,
    fields: Vec<String>,
    /// The block of texts that was unpacked last, per source.
    texts: Vec<Option<(u32, Vec<u8>)>>,
}

impl<'s> Merged<'s> {
    fn new(sources: &'s [MergeSource<'s>]) -> Merged<'s> {
        let mut order: Vec<(Day, u32, u32)> = Vec::new();
        for (index, source) in sources.iter().enumerate() {
            for day in 0..source.segment.days() {
                let wanted = source.segment.documents_of_day(day).filter(|document| !source.deleted.get(*document));
                order.extend(wanted.map(|document| (source.segment.day(day), index as u32, document)));
            }
        }
        order.sort_unstable();
        let order: Vec<(u32, u32)> = order.into_iter().map(|(_, source, document)| (source, document)).collect();

        let mut frequencies: Vec<Vec<u32>> =
            sources.iter().map(|source| source.segment.frequencies().to_vec()).collect();
        for (source, frequencies) in sources.iter().zip(&mut frequencies) {
            let mut gone = vec![0; frequencies.len()];
            source.segment.count_tokens(source.deleted, &mut gone);
            frequencies.iter_mut().zip(gone).for_each(|(all, gone)| *all = all.saturating_sub(gone));
        }
        let bound = sources.iter().map(|source| source.segment.meta().lexeme_bound).max().unwrap_or(0);
        let mut present = BitSet::new(bound as usize);
        for (source, frequencies) in sources.iter().zip(&frequencies) {
            let pairs = source.segment.lexemes().iter().zip(frequencies);
            pairs.filter(|(_, count)| **count > 0).for_each(|(lexeme, _)| present.set(*lexeme));
        }
        let lexemes: Vec<u32> = present.iter().collect();
        let mut rank_of = vec![0u32; bound as usize];
        lexemes.iter().enumerate().for_each(|(rank, lexeme)| rank_of[*lexeme as usize] = rank as u32);
        let ranks = sources.iter().map(|source| {
            let known = source.segment.lexemes().iter();
            known.map(|lexeme| rank_of.get(*lexeme as usize).copied().unwrap_or(0)).collect()
        });

        let mut fields: Vec<String> = Vec::new();
        for name in sources.iter().flat_map(|source| source.segment.field_names()) {
            if !fields.iter().any(|known| known == name) {
                fields.push(name.to_owned());
            }
        }
        Merged {
            ranks: ranks.collect(),
            moves: moves(sources, &order),
            next: vec![0; sources.len()],
            texts: sources.iter().map(|_| None).collect(),
            sources,
            order,
            lexemes,
            fields,
        }
    }

    fn place(&self, document: usize) -> (&'s Segment, u32) {
        let (source, document) = self.order[document];
        (self.sources[source as usize].segment, document)
    }
}

fn moves(sources: &[MergeSource<'_>], order: &[(u32, u32)]) -> Vec<Moves> {
    let mut places: Vec<Vec<Option<u32>>> =
        sources.iter().map(|source| vec![None; source.segment.meta().documents as usize]).collect();
    let mut at = 0;
    for (source, document) in order {
        places[*source as usize][*document as usize] = Some(at);
        let tokens = sources[*source as usize].segment.tokens_of(*document);
        at += tokens.end - tokens.start;
    }
    let simplest = |(source, places): (&MergeSource<'_>, Vec<Option<u32>>)| {
        let starts = source.segment.starts();
        match places.first().copied().flatten() {
            Some(distance) if places.iter().zip(starts).all(|(place, start)| *place == Some(start + distance)) => {
                Moves::Together(distance)
            }
            _ => Moves::Apart(places),
        }
    };
    sources.iter().zip(places).map(simplest).collect()
}

impl Source for Merged<'_> {
    fn lexemes(&self) -> &[u32] {
        &self.lexemes
    }

    fn documents(&self) -> usize {
        self.order.len()
    }

    fn tokens_of(&self, document: usize) -> u32 {
        let (segment, document) = self.place(document);
        let tokens = segment.tokens_of(document);
        tokens.end - tokens.start
    }

    fn id(&self, document: usize) -> u128 {
        let (segment, document) = self.place(document);
        segment.ids().get(document as usize).copied().unwrap_or(0)
    }

    fn day(&self, document: usize) -> Day {
        let (segment, document) = self.place(document);
        segment.day_of(document)
    }

    fn seen(&self, document: usize) -> Day {
        let (segment, document) = self.place(document);
        segment.seen(document)
    }

    fn text(&mut self, document: usize, into: &mut String) -> Result<()> {
        let (source, document) = self.order[document];
        let (texts, place) =
            self.sources[source as usize].segment.unpacked_texts(document, &mut self.texts[source as usize])?;
        let (url, title) = text_at(texts, place);
        into.extend([&*url, "\n", &*title, "\n"]);
        Ok(())
    }

    fn fields(&self) -> Vec<String> {
        self.fields.clone()
    }

    fn values(&self, field: usize) -> (Vec<String>, Vec<u32>) {
        let name = &self.fields[field];
        let columns: Vec<_> = self.sources.iter().map(|source| source.segment.field(name)).collect();
        let mut values = vec![String::new()];
        let mut codes: hashbrown::HashMap<String, u32> = hashbrown::HashMap::from_iter([(String::new(), 0)]);
        // For each source the new code of each of its codes.
        let mut new_codes: Vec<Vec<u32>> = Vec::new();
        for column in &columns {
            let count = column.map_or(0, |column| column.count());
            new_codes.push(
                (0..count)
                    .map(|code| {
                        let value = column.map_or("", |column| column.value(code));
                        *codes.entry_ref(value).or_insert_with(|| {
                            values.push(value.to_owned());
                            values.len() as u32 - 1
                        })
                    })
                    .collect(),
            );
        }
        let code_of = |(source, document): &(u32, u32)| {
            let code = columns[*source as usize].map_or(0, |column| column.code(*document));
            new_codes[*source as usize].get(code as usize).copied().unwrap_or(0)
        };
        let codes = self.order.iter().map(code_of).collect();
        (values, codes)
    }

    fn ranks(&mut self, document: usize, into: &mut Vec<u32>) {
        let (source, document) = self.order[document];
        let segment = self.sources[source as usize].segment;
        let ranks = &self.ranks[source as usize];
        let tokens = segment.tokens_of(document);
        segment.column().scan(tokens.start, tokens.end, |_, old| {
            into.extend(old.iter().map(|rank| ranks.get(*rank as usize).copied().unwrap_or(0)));
        });
    }

    fn shape(&mut self, document: usize, at: u32, shape: &mut Shape) {
        let (segment, document) = self.place(document);
        let tokens = segment.tokens_of(document);
        let mut from = tokens.start;
        while let Some(start) = next_bit(segment.sentence_bits(), from, tokens.end) {
            shape.sentences.set(start - tokens.start + at);
            from = start + 1;
        }
        segment
            .each_no_space_before(tokens.clone(), |position| shape.no_space_before.set(position - tokens.start + at));
        segment.paragraphs().pieces(tokens.start, tokens.end, |piece| {
            shape.paragraphs.extend(piece.iter().map(|start| start - tokens.start + at));
        });
    }

    fn positions(&mut self, rank: usize, into: &mut Vec<u32>) {
        let lexeme = self.lexemes[rank];
        let mut is_sorted = true;
        for (index, source) in self.sources.iter().enumerate() {
            let segment = source.segment;
            let next = &mut self.next[index];
            let known = segment.lexemes();
            while known.get(*next).is_some_and(|known| *known < lexeme) {
                *next += 1;
            }
            if known.get(*next) != Some(&lexeme) {
                continue;
            }
            let before = into.last().copied();
            let from = into.len();
            match &self.moves[index] {
                Moves::Together(distance) => segment.postings(*next as u32).pieces(0, u32::MAX, |piece| {
                    into.extend(piece.iter().map(|position| position.wrapping_add(*distance)));
                }),
                Moves::Apart(places) => {
                    let starts = segment.starts();
                    let mut document = 0;
                    segment.postings(*next as u32).pieces(0, u32::MAX, |piece| {
                        for position in piece {
                            document = segment.document_from(document, *position);
                            if let Some(Some(place)) = places.get(document as usize) {
                                into.push(position - starts[document as usize] + place);
                            }
                        }
                    });
                    is_sorted &= into[from..].is_sorted();
                }
            }
            is_sorted &= before.is_none_or(|before| into.get(from).is_none_or(|first| before < *first));
        }
        if !is_sorted {
            into.sort_unstable();
        }
    }
}

impl Segment {
    /// Calls `each` with the tokens of a range that have no space before them.
    pub(crate) fn each_no_space_before(&self, tokens: std::ops::Range<u32>, mut each: impl FnMut(u32)) {
        let usually = self.usually_no_space();
        let mut odd = Vec::new();
        self.spacing_exceptions().read(tokens.start, tokens.end, &mut odd);
        let mut next = 0;
        self.column().scan(tokens.start, tokens.end, |from, ranks| {
            for (position, rank) in (from..).zip(ranks) {
                let is_odd = odd.get(next) == Some(&position);
                next += usize::from(is_odd);
                if bit(usually, *rank) != is_odd {
                    each(position);
                }
            }
        });
    }
}
