//! Writer of segments, from a batch in memory or from a merge.

use std::path::Path;

use super::documents::write_documents;
use super::spans::{NewSpan, NewSpans, write_spans};
use super::{COUNTED_FROM, Meta};
use crate::codec::{BitSet, TokenColumnWriter, width_of, write_packed, write_postings};
use crate::error::{Error, Result};
use crate::sections::{FIRST, FileKind, SectionWriter, WITH_LAYERS};
use tidings_model::Day;

/// Sentences, paragraphs and spacing of the tokens of a new segment.
pub(super) struct TokenLayout {
    /// The first token of each sentence.
    pub(super) sentences: BitSet,
    /// Tokens without a space before them.
    pub(super) no_space_before: BitSet,
    /// The first token of each paragraph, ascending.
    pub(super) paragraphs: Vec<u32>,
}

/// Documents of a new segment, in its order.
pub(super) trait SegmentSource {
    /// Lexemes that occur, ascending; the index of a lexeme is its local id.
    fn lexemes(&self) -> &[u32];
    /// Number of documents.
    fn documents(&self) -> usize;
    fn tokens_of(&self, document: usize) -> u32;
    fn id(&self, document: usize) -> u128;
    fn day(&self, document: usize) -> Day;
    fn seen(&self, document: usize) -> Day;
    /// Appends URL and title, each followed by a line feed.
    fn text(&mut self, document: usize, into: &mut String) -> Result<()>;
    /// Names of all fields.
    fn fields(&self) -> Vec<String>;
    /// Values of a field, in any order, and the index of each document's value.
    fn values(&self, field: usize) -> (Vec<String>, Vec<u32>);
    /// Appends the local lexeme id of every token.
    fn local_ids(&mut self, document: usize, into: &mut Vec<u32>);
    /// Marks the starts of sentences and paragraphs and the tokens without a space before them, for
    /// a document that starts at `at`.
    fn layout(&mut self, document: usize, at: u32, layout: &mut TokenLayout);
    /// Appends the positions of a lexeme in the new segment, ascending. Called with ascending ids.
    fn positions(&mut self, local_id: usize, into: &mut Vec<u32>);
    /// Names of spans with their attributes.
    fn span_names(&self) -> Vec<NewSpans>;
    /// Appends the spans of a name in a document that starts at `at`, sorted by start.
    fn spans(&mut self, name: usize, document: usize, at: u32, into: &mut Vec<NewSpan>);
}

/// Position of the first token of each document, and the end of the last.
fn document_starts(source: &impl SegmentSource) -> Result<Vec<u32>> {
    let mut starts = Vec::with_capacity(source.documents() + 1);
    let mut total = 0u64;
    for document in 0..source.documents() {
        starts.push(total as u32);
        total += u64::from(source.tokens_of(document));
        if total > super::MAX_TOKENS {
            return Err(Error::TooLarge { limit: super::MAX_TOKENS });
        }
    }
    starts.push(total as u32);
    Ok(starts)
}

/// Writes the segment; returns its size in bytes.
pub(super) fn write(path: &Path, source: &mut impl SegmentSource) -> Result<u64> {
    let starts = document_starts(source)?;
    let documents = source.documents();
    let tokens = starts.last().copied().unwrap_or(0);
    let version = if source.span_names().is_empty() { FIRST } else { WITH_LAYERS };
    let mut file = SectionWriter::create_as(path, FileKind::Segment, version)?;
    let lexemes = source.lexemes().len() as u32;
    let width = width_of(lexemes.saturating_sub(1));
    let mut layout = TokenLayout {
        sentences: BitSet::new(tokens as usize),
        no_space_before: BitSet::new(tokens as usize),
        paragraphs: Vec::new(),
    };
    file.begin("column")?;
    let mut column = TokenColumnWriter::new(width);
    let mut local_ids = Vec::new();
    for (document, start) in starts[..documents].iter().enumerate() {
        local_ids.clear();
        source.local_ids(document, &mut local_ids);
        for local_id in &local_ids {
            if let Some(block) = column.push(*local_id) {
                file.write(block)?;
            }
        }
        source.layout(document, *start, &mut layout);
    }
    if let Some(block) = column.finish() {
        file.write(block)?;
    }

    let days = Days::new(source, &starts);
    let lists = write_lists(&mut file, source, &days, &layout.no_space_before)?;
    file.section("lexemes", source.lexemes())?;
    file.section("sentences", layout.sentences.words())?;
    let mut packed = Vec::new();
    write_postings(&layout.paragraphs, &mut packed);
    file.section("paragraphs", &packed)?;
    file.section("starts", &starts)?;
    file.section("days", &days.table)?;
    let fields = write_documents(&mut file, source)?;
    let spans = write_spans(&mut file, source, &starts)?;

    let meta = Meta {
        tokens,
        documents: documents as u32,
        sentences: layout.sentences.count() as u32,
        paragraphs: layout.paragraphs.len() as u32,
        lexemes,
        lexeme_bound: source.lexemes().last().map_or(0, |lexeme| lexeme + 1),
        width,
        days: days.table.len() as u32,
        first_day: days.table.first().map_or(0, |entry| entry[0] as i32),
        last_day: days.table.last().map_or(0, |entry| entry[0] as i32),
        spacing_exceptions: lists.spacing_exceptions,
        counted: lists.counted,
        fields,
        spans,
    };
    file.section("meta", &serde_json::to_vec(&meta).expect("plain values"))?;
    file.publish()
}

/// Days of a segment, and the day of each document.
struct Days<'s> {
    /// Distinct days, as numbers, with their first document.
    table: Vec<[u32; 2]>,
    of_document: Vec<u32>,
    starts: &'s [u32],
}

impl<'s> Days<'s> {
    fn new(source: &impl SegmentSource, starts: &'s [u32]) -> Days<'s> {
        let mut table: Vec<[u32; 2]> = Vec::new();
        let mut of_document = Vec::with_capacity(source.documents());
        for document in 0..source.documents() {
            let day = source.day(document).0 as u32;
            if table.last().is_none_or(|last| last[0] != day) {
                table.push([day, document as u32]);
            }
            of_document.push(table.len() as u32 - 1);
        }
        Days { table, of_document, starts }
    }

    /// Counts hits and documents by day.
    fn count(&self, positions: &[u32], hits: &mut Vec<u32>, documents: &mut Vec<u32>) {
        hits.clear();
        hits.resize(self.table.len(), 0);
        documents.clear();
        documents.resize(self.table.len(), 0);
        let mut document = 0;
        let mut end = 0;
        for position in positions {
            if *position >= end {
                while self.starts[document + 1] <= *position {
                    document += 1;
                }
                end = self.starts[document + 1];
                documents[self.of_document[document] as usize] += 1;
            }
            hits[self.of_document[document] as usize] += 1;
        }
    }
}

struct Lists {
    spacing_exceptions: u32,
    counted: u32,
}

/// Writes the posting list of each lexeme, its spacing, and its counts by day if it is frequent.
fn write_lists(
    file: &mut SectionWriter,
    source: &mut impl SegmentSource,
    days: &Days<'_>,
    no_space_before: &BitSet,
) -> Result<Lists> {
    let lexemes = source.lexemes().len();
    let (mut frequencies, mut offsets) = (Vec::with_capacity(lexemes), Vec::with_capacity(lexemes));
    let mut usually_no_space = BitSet::new(lexemes);
    let mut spacing_exceptions = BitSet::new(no_space_before.words().len() * 64);
    let mut counts = Counts::default();
    let mut packed = Vec::new();
    let mut positions = Vec::new();
    let mut at = 0u64;
    file.begin("lists")?;
    for local_id in 0..lexemes {
        positions.clear();
        source.positions(local_id, &mut positions);
        frequencies.push(positions.len() as u32);
        note_spaces(local_id as u32, &positions, no_space_before, &mut usually_no_space, &mut spacing_exceptions);
        if let [only] = positions[..] {
            offsets.push(only);
            continue;
        }
        offsets.push(u32::try_from(at).map_err(|_| Error::TooLarge { limit: super::MAX_TOKENS })?);
        packed.clear();
        write_postings(&positions, &mut packed);
        at += packed.len() as u64;
        file.write(&packed)?;
        if positions.len() as u32 >= COUNTED_FROM.max(2 * days.table.len() as u32) {
            counts.add(local_id as u32, days, &positions);
        }
    }
    file.section("frequencies", &frequencies)?;
    file.section("places", &offsets)?;
    file.section("glued", usually_no_space.words())?;
    let exceptions: Vec<u32> = spacing_exceptions.iter().collect();
    packed.clear();
    write_postings(&exceptions, &mut packed);
    file.section("odd", &packed)?;
    file.section("counted", &counts.local_ids)?;
    file.section("counts.places", &counts.offsets)?;
    file.section("counts", &counts.bytes)?;
    Ok(Lists { spacing_exceptions: exceptions.len() as u32, counted: counts.local_ids.len() as u32 })
}

/// Stores the spacing of a lexeme by majority and exceptions: a comma never has a space before it, a word nearly always.
fn note_spaces(
    local_id: u32,
    positions: &[u32],
    no_space_before: &BitSet,
    usually: &mut BitSet,
    exceptions: &mut BitSet,
) {
    let count = positions.iter().filter(|position| no_space_before.get(**position)).count();
    let is_usual = count * 2 > positions.len();
    if is_usual {
        usually.set(local_id);
    }
    if count != 0 && count != positions.len() {
        positions
            .iter()
            .filter(|position| no_space_before.get(**position) != is_usual)
            .for_each(|position| exceptions.set(*position));
    }
}

/// Hits and documents by day of frequent lexemes: two widths, then the numbers of every day of the
/// segment.
#[derive(Default)]
struct Counts {
    local_ids: Vec<u32>,
    offsets: Vec<u32>,
    bytes: Vec<u8>,
    hits: Vec<u32>,
    documents: Vec<u32>,
}

impl Counts {
    fn add(&mut self, local_id: u32, days: &Days<'_>, positions: &[u32]) {
        let Ok(offset) = u32::try_from(self.bytes.len()) else { return };
        days.count(positions, &mut self.hits, &mut self.documents);
        self.local_ids.push(local_id);
        self.offsets.push(offset);
        let widths = [&self.hits, &self.documents].map(|all| width_of(all.iter().copied().max().unwrap_or(0)));
        self.bytes.extend(widths.map(|width| width as u8));
        write_packed(&self.hits, widths[0], &mut self.bytes);
        write_packed(&self.documents, widths[1], &mut self.bytes);
    }
}
