//! K-way merge of segments into one, without deleted documents.
//!
//! Nothing is sorted again: documents are merged by day, and posting lists are concatenated. Memory
//! holds a few numbers per document and a few bits per token. The result does not depend on how the
//! documents were divided among the segments, as long as segments are given in the order in which
//! they were written.

use std::path::Path;

use super::Segment;
use super::documents::text_at;
use super::spans::{NewSpan, NewSpans, SpanAttribute};
use super::write::{SegmentSource, TokenLayout, write};
use crate::codec::{BitSet, ListedSpan, bit, next_bit};
use crate::error::Result;
use tidings_model::Day;

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
/// All digests of the sources are checked first: copied damage would get a valid digest and could
/// no longer be detected.
pub fn merge(sources: &[MergeSource<'_>], path: &Path) -> Result<u64> {
    sources.iter().try_for_each(|source| source.segment.verify())?;
    write(path, &mut Merged::new(sources)?)
}

/// Mapping of the positions of one source.
enum Moves {
    /// All move by the same distance: nothing was deleted, and no other document comes in between.
    Together(u32),
    /// Start of each document in the new segment; `None` if it was deleted.
    Apart(Vec<Option<u32>>),
}

struct Merged<'s> {
    sources: &'s [MergeSource<'s>],
    /// Source and document, in the order of the new segment.
    order: Vec<(u32, u32)>,
    lexemes: Vec<u32>,
    /// New local id of each local id, by source.
    local_ids: Vec<Vec<u32>>,
    moves: Vec<Moves>,
    /// Next local id whose posting list is to be read, by source.
    next: Vec<usize>,
    fields: Vec<String>,
    /// Most recently decompressed block of texts, by source.
    texts: Vec<Option<(u32, Vec<u8>)>>,
    spans: Vec<MergedSpans>,
    /// Buffer of the spans of one document.
    listed: Vec<ListedSpan>,
}

/// Spans of one name.
struct MergedSpans {
    name: String,
    attributes: Vec<(String, Vec<String>)>,
    /// New code of each code, by source and attribute; `None` if the source does not have the attribute.
    new_codes: Vec<Vec<Option<Vec<u32>>>>,
}

impl MergedSpans {
    /// Joins the values of all attributes of a name. Code 0 is the empty value.
    fn new(sources: &[MergeSource<'_>], name: &str) -> Result<MergedSpans> {
        let of_name: Vec<_> = sources.iter().map(|source| source.segment.spans(name)).collect();
        let mut names: Vec<&str> = Vec::new();
        for attribute in of_name.iter().flatten().flat_map(|spans| spans.attribute_names()) {
            if !names.contains(&attribute) {
                names.push(attribute);
            }
        }
        let mut attributes = Vec::new();
        let mut new_codes = vec![Vec::new(); sources.len()];
        for attribute in names {
            let mut values = vec![String::new()];
            let mut codes: hashbrown::HashMap<String, u32> = hashbrown::HashMap::from_iter([(String::new(), 0)]);
            for (spans, new_codes) in of_name.iter().zip(&mut new_codes) {
                let Some(column) = spans.and_then(|spans| spans.attribute(attribute)) else {
                    new_codes.push(None);
                    continue;
                };
                let mut new = Vec::with_capacity(column.count() as usize);
                column.each(|_, value| {
                    new.push(*codes.entry_ref(value).or_insert_with(|| {
                        values.push(value.to_owned());
                        values.len() as u32 - 1
                    }));
                })?;
                new_codes.push(Some(new));
            }
            attributes.push((attribute.to_owned(), values));
        }
        Ok(MergedSpans { name: name.to_owned(), attributes, new_codes })
    }

    fn all(sources: &[MergeSource<'_>]) -> Result<Vec<MergedSpans>> {
        let mut names: Vec<&str> = Vec::new();
        for spans in sources.iter().flat_map(|source| source.segment.all_spans()) {
            if !names.contains(&spans.name()) {
                names.push(spans.name());
            }
        }
        names.into_iter().map(|name| MergedSpans::new(sources, name)).collect()
    }
}

impl<'s> Merged<'s> {
    fn new(sources: &'s [MergeSource<'s>]) -> Result<Merged<'s>> {
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
            sources.iter().map(|source| source.segment.frequencies().all().to_vec()).collect();
        for (source, frequencies) in sources.iter().zip(&mut frequencies) {
            let mut gone = vec![0; frequencies.len()];
            source.segment.count_tokens(source.deleted, &mut gone);
            frequencies.iter_mut().zip(gone).for_each(|(all, gone)| *all = all.saturating_sub(gone));
        }
        let bound = sources.iter().map(|source| source.segment.meta().lexeme_bound).max().unwrap_or(0);
        let mut present = BitSet::new(bound as usize);
        for (source, frequencies) in sources.iter().zip(&frequencies) {
            let pairs = source.segment.lexemes().all().iter().zip(frequencies);
            pairs.filter(|(_, count)| **count > 0).for_each(|(lexeme, _)| present.set(*lexeme));
        }
        let lexemes: Vec<u32> = present.iter().collect();
        let mut rank_of = vec![0u32; bound as usize];
        lexemes.iter().enumerate().for_each(|(rank, lexeme)| rank_of[*lexeme as usize] = rank as u32);
        let local_ids = sources.iter().map(|source| {
            let known = source.segment.lexemes().all().iter();
            known.map(|lexeme| rank_of.get(*lexeme as usize).copied().unwrap_or(0)).collect()
        });

        let mut fields: Vec<String> = Vec::new();
        for name in sources.iter().flat_map(|source| source.segment.field_names()) {
            if !fields.iter().any(|known| known == name) {
                fields.push(name.to_owned());
            }
        }
        Ok(Merged {
            spans: MergedSpans::all(sources)?,
            listed: Vec::new(),
            local_ids: local_ids.collect(),
            moves: moves(sources, &order),
            next: vec![0; sources.len()],
            texts: sources.iter().map(|_| None).collect(),
            sources,
            order,
            lexemes,
            fields,
        })
    }

    fn origin(&self, document: usize) -> (&'s Segment, u32) {
        let (source, document) = self.order[document];
        (self.sources[source as usize].segment, document)
    }
}

fn moves(sources: &[MergeSource<'_>], order: &[(u32, u32)]) -> Vec<Moves> {
    let mut new_starts: Vec<Vec<Option<u32>>> =
        sources.iter().map(|source| vec![None; source.segment.meta().documents as usize]).collect();
    let mut at = 0;
    for (source, document) in order {
        new_starts[*source as usize][*document as usize] = Some(at);
        let tokens = sources[*source as usize].segment.tokens_of(*document);
        at += tokens.end - tokens.start;
    }
    let simplest = |(source, new_starts): (&MergeSource<'_>, Vec<Option<u32>>)| {
        let starts = source.segment.starts();
        match new_starts.first().copied().flatten() {
            Some(distance)
                if new_starts.iter().zip(starts).all(|(new_start, start)| *new_start == Some(start + distance)) =>
            {
                Moves::Together(distance)
            }
            _ => Moves::Apart(new_starts),
        }
    };
    sources.iter().zip(new_starts).map(simplest).collect()
}

impl SegmentSource for Merged<'_> {
    fn lexemes(&self) -> &[u32] {
        &self.lexemes
    }

    fn documents(&self) -> usize {
        self.order.len()
    }

    fn tokens_of(&self, document: usize) -> u32 {
        let (segment, document) = self.origin(document);
        let tokens = segment.tokens_of(document);
        tokens.end - tokens.start
    }

    fn id(&self, document: usize) -> u128 {
        let (segment, document) = self.origin(document);
        segment.ids().get(document as usize).unwrap_or(0)
    }

    fn day(&self, document: usize) -> Day {
        let (segment, document) = self.origin(document);
        segment.day_of(document)
    }

    fn seen(&self, document: usize) -> Day {
        let (segment, document) = self.origin(document);
        segment.seen(document)
    }

    fn text(&mut self, document: usize, into: &mut String) -> Result<()> {
        let (source, document) = self.order[document];
        let (texts, index) =
            self.sources[source as usize].segment.unpacked_texts(document, &mut self.texts[source as usize])?;
        let (url, title) = text_at(texts, index);
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
        // New code of each code, by source.
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

    fn local_ids(&mut self, document: usize, into: &mut Vec<u32>) {
        let (source, document) = self.order[document];
        let segment = self.sources[source as usize].segment;
        let local_ids = &self.local_ids[source as usize];
        let tokens = segment.tokens_of(document);
        segment.column().scan(tokens.start, tokens.end, |_, old| {
            into.extend(old.iter().map(|local_id| local_ids.get(*local_id as usize).copied().unwrap_or(0)));
        });
    }

    fn layout(&mut self, document: usize, at: u32, layout: &mut TokenLayout) {
        let (segment, document) = self.origin(document);
        let tokens = segment.tokens_of(document);
        let mut from = tokens.start;
        while let Some(start) = next_bit(segment.sentence_bits(), from, tokens.end) {
            layout.sentences.set(start - tokens.start + at);
            from = start + 1;
        }
        segment
            .each_no_space_before(tokens.clone(), |position| layout.no_space_before.set(position - tokens.start + at));
        segment.paragraphs().pieces(tokens.start, tokens.end, |piece| {
            layout.paragraphs.extend(piece.iter().map(|start| start - tokens.start + at));
        });
    }

    fn positions(&mut self, rank: usize, into: &mut Vec<u32>) {
        let lexeme = self.lexemes[rank];
        let mut is_sorted = true;
        for (index, source) in self.sources.iter().enumerate() {
            let segment = source.segment;
            let next = &mut self.next[index];
            let known = segment.lexemes();
            while known.get(*next).is_some_and(|known| known < lexeme) {
                *next += 1;
            }
            if known.get(*next) != Some(lexeme) {
                continue;
            }
            let before = into.last().copied();
            let from = into.len();
            match &self.moves[index] {
                Moves::Together(distance) => segment.postings(*next as u32).pieces(0, u32::MAX, |piece| {
                    into.extend(piece.iter().map(|position| position.wrapping_add(*distance)));
                }),
                Moves::Apart(new_starts) => {
                    let starts = segment.starts();
                    let mut document = 0;
                    segment.postings(*next as u32).pieces(0, u32::MAX, |piece| {
                        for position in piece {
                            document = segment.document_from(document, *position);
                            if let Some(Some(new_start)) = new_starts.get(document as usize) {
                                into.push(position - starts[document as usize] + new_start);
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

    fn span_names(&self) -> Vec<NewSpans> {
        let of_name = |spans: &MergedSpans| NewSpans { name: spans.name.clone(), attributes: spans.attributes.clone() };
        self.spans.iter().map(of_name).collect()
    }

    fn spans(&mut self, name: usize, document: usize, at: u32, into: &mut Vec<NewSpan>) {
        let merged = &self.spans[name];
        let (source, document) = self.order[document];
        let segment = self.sources[source as usize].segment;
        let Some(spans) = segment.spans(&merged.name) else { return };
        let tokens = segment.tokens_of(document);
        let new_codes = &merged.new_codes[source as usize];
        let columns: Vec<_> = merged.attributes.iter().map(|(name, _)| spans.attribute(name)).collect();
        self.listed.clear();
        spans.of_document(&tokens, &mut self.listed);
        into.extend(self.listed.iter().map(|span| {
            let code_of = |(column, new_codes): (&Option<SpanAttribute<'_>>, &Option<Vec<u32>>)| {
                let code = column.as_ref().map_or(0, |column| column.code(span.index));
                new_codes.as_ref().and_then(|codes| codes.get(code as usize).copied()).unwrap_or(0)
            };
            let codes = columns.iter().zip(new_codes).map(code_of).collect();
            NewSpan { start: span.start - tokens.start + at, end: span.end - tokens.start + at, codes }
        }));
    }
}

impl Segment {
    /// Calls `each` with the tokens of a range that have no space before them.
    pub(crate) fn each_no_space_before(&self, tokens: std::ops::Range<u32>, mut each: impl FnMut(u32)) {
        let usually = self.usually_no_space();
        let mut exceptions = Vec::new();
        self.spacing_exceptions().read(tokens.start, tokens.end, &mut exceptions);
        let mut next = 0;
        self.column().scan(tokens.start, tokens.end, |from, local_ids| {
            for (position, local_id) in (from..).zip(local_ids) {
                let is_exception = exceptions.get(next) == Some(&position);
                next += usize::from(is_exception);
                if bit(usually, *local_id) != is_exception {
                    each(position);
                }
            }
        });
    }
}
