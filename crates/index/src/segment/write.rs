//! Writer of segments, from a batch in memory or from a merge.

use std::path::Path;

use super::documents::write_documents;
use super::{COUNTED_FROM, Meta};
use crate::codec::{BitSet, TokenColumnWriter, width_of, write_packed, write_postings};
use crate::day::Day;
use crate::error::{Error, Result};
use crate::sections::{FileKind, SectionWriter};

/// Sentences, paragraphs and spacing of the tokens of a new segment.
pub(super) struct Shape {
    /// The first token of each sentence.
    pub(super) sentences: BitSet,
    /// Tokens without a space before them.
    pub(super) no_space_before: BitSet,
    /// The first token of each paragraph, ascending.
    pub(super) paragraphs: Vec<u32>,
}

/// Documents of a new segment, in its order.
pub(super) trait Source {
    /// The lexemes that occur, ascending. A lexeme's rank is its place here.
    fn lexemes(&self) -> &[u32];
    /// Number of documents.
    fn documents(&self) -> usize;
    fn tokens_of(&self, document: usize) -> u32;
    fn id(&self, document: usize) -> u128;
    fn day(&self, document: usize) -> Day;
    fn seen(&self, document: usize) -> Day;
    /// Appends address and title, each with a line end.
    fn text(&mut self, document: usize, into: &mut String) -> Result<()>;
    /// The names of all fields.
    fn fields(&self) -> Vec<String>;
    /// The values of a field, in any order, and for each document which of them it has.
    fn values(&self, field: usize) -> (Vec<String>, Vec<u32>);
    /// Appends the rank of every token.
    fn ranks(&mut self, document: usize, into: &mut Vec<u32>);
    /// Marks the starts of sentences and paragraphs and the tokens without a space before them, for a document that begins at `at`.
    fn shape(&mut self, document: usize, at: u32, shape: &mut Shape);
    /// Appends the positions of a lexeme in the new segment, ascending. Ranks are asked for in their order.
    fn positions(&mut self, rank: usize, into: &mut Vec<u32>);
}

/// Position of the first token of each document, and the end of the last.
fn document_starts(source: &impl Source) -> Result<Vec<u32>> {
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
pub(super) fn write(path: &Path, source: &mut impl Source) -> Result<u64> {
    let starts = document_starts(source)?;
    let documents = source.documents();
    let tokens = starts.last().copied().unwrap_or(0);
    let mut file = SectionWriter::create(path, FileKind::Segment)?;
    let lexemes = source.lexemes().len() as u32;
    let width = width_of(lexemes.saturating_sub(1));
    let mut shape = Shape {
        sentences: BitSet::new(tokens as usize),
        no_space_before: BitSet::new(tokens as usize),
        paragraphs: Vec::new(),
    };
    file.begin("column")?;
    let mut column = TokenColumnWriter::new(width);
    let mut ranks = Vec::new();
    for (document, start) in starts[..documents].iter().enumerate() {
        ranks.clear();
        source.ranks(document, &mut ranks);
        for rank in &ranks {
            if let Some(block) = column.push(*rank) {
                file.write(block)?;
            }
        }
        source.shape(document, *start, &mut shape);
    }
    if let Some(block) = column.finish() {
        file.write(block)?;
    }

    let days = Days::new(source, &starts);
    let lists = write_lists(&mut file, source, &days, &shape.no_space_before)?;
    file.section("lexemes", source.lexemes())?;
    file.section("sentences", shape.sentences.words())?;
    let mut packed = Vec::new();
    write_postings(&shape.paragraphs, &mut packed);
    file.section("paragraphs", &packed)?;
    file.section("starts", &starts)?;
    file.section("days", &days.table)?;
    let fields = write_documents(&mut file, source)?;

    let meta = Meta {
        tokens,
        documents: documents as u32,
        sentences: shape.sentences.count() as u32,
        paragraphs: shape.paragraphs.len() as u32,
        lexemes,
        lexeme_bound: source.lexemes().last().map_or(0, |lexeme| lexeme + 1),
        width,
        days: days.table.len() as u32,
        first_day: days.table.first().map_or(0, |entry| entry[0] as i32),
        last_day: days.table.last().map_or(0, |entry| entry[0] as i32),
        spacing_exceptions: lists.spacing_exceptions,
        counted: lists.counted,
        fields,
    };
    file.section("meta", &serde_json::to_vec(&meta).expect("plain values"))?;
    file.publish()
}

/// The days of a segment, and which of them each document belongs to.
struct Days<'s> {
    /// Each distinct day, as a number, and its first document.
    table: Vec<[u32; 2]>,
    of_document: Vec<u32>,
    starts: &'s [u32],
}

impl<'s> Days<'s> {
    fn new(source: &impl Source, starts: &'s [u32]) -> Days<'s> {
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
    source: &mut impl Source,
    days: &Days<'_>,
    no_space_before: &BitSet,
) -> Result<Lists> {
    let lexemes = source.lexemes().len();
    let (mut frequencies, mut places) = (Vec::with_capacity(lexemes), Vec::with_capacity(lexemes));
    let mut usually_no_space = BitSet::new(lexemes);
    let mut spacing_exceptions = BitSet::new(no_space_before.words().len() * 64);
    let mut counts = Counts::default();
    let mut packed = Vec::new();
    let mut positions = Vec::new();
    let mut at = 0u64;
    file.begin("lists")?;
    for rank in 0..lexemes {
        positions.clear();
        source.positions(rank, &mut positions);
        frequencies.push(positions.len() as u32);
        note_spaces(rank as u32, &positions, no_space_before, &mut usually_no_space, &mut spacing_exceptions);
        if let [only] = positions[..] {
            places.push(only);
            continue;
        }
        places.push(u32::try_from(at).map_err(|_| Error::TooLarge { limit: super::MAX_TOKENS })?);
        packed.clear();
        write_postings(&positions, &mut packed);
        at += packed.len() as u64;
        file.write(&packed)?;
        if positions.len() as u32 >= COUNTED_FROM.max(2 * days.table.len() as u32) {
            counts.add(rank as u32, days, &positions);
        }
    }
    file.section("frequencies", &frequencies)?;
    file.section("places", &places)?;
    file.section("glued", usually_no_space.words())?;
    let odd: Vec<u32> = spacing_exceptions.iter().collect();
    packed.clear();
    write_postings(&odd, &mut packed);
    file.section("odd", &packed)?;
    file.section("counted", &counts.ranks)?;
    file.section("counts.places", &counts.places)?;
    file.section("counts", &counts.bytes)?;
    Ok(Lists { spacing_exceptions: odd.len() as u32, counted: counts.ranks.len() as u32 })
}

/// Stores the spacing of a lexeme by majority and exceptions: a comma never has a space before it, a word nearly always.
fn note_spaces(rank: u32, positions: &[u32], no_space_before: &BitSet, usually: &mut BitSet, odd: &mut BitSet) {
    let count = positions.iter().filter(|position| no_space_before.get(**position)).count();
    let is_usual = count * 2 > positions.len();
    if is_usual {
        usually.set(rank);
    }
    if count != 0 && count != positions.len() {
        positions
            .iter()
            .filter(|position| no_space_before.get(**position) != is_usual)
            .for_each(|position| odd.set(*position));
    }
}

/// Hits and documents by day of frequent lexemes: two widths, then the numbers of every day of the segment.
#[derive(Default)]
struct Counts {
    ranks: Vec<u32>,
    places: Vec<u32>,
    bytes: Vec<u8>,
    hits: Vec<u32>,
    documents: Vec<u32>,
}

impl Counts {
    fn add(&mut self, rank: u32, days: &Days<'_>, positions: &[u32]) {
        let Ok(place) = u32::try_from(self.bytes.len()) else { return };
        days.count(positions, &mut self.hits, &mut self.documents);
        self.ranks.push(rank);
        self.places.push(place);
        let widths = [&self.hits, &self.documents].map(|all| width_of(all.iter().copied().max().unwrap_or(0)));
        self.bytes.extend(widths.map(|width| width as u8));
        write_packed(&self.hits, widths[0], &mut self.bytes);
        write_packed(&self.documents, widths[1], &mut self.bytes);
    }
}
