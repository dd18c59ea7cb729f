//! Memory-mapped reader of a segment.

use std::ops::Range;
use std::path::Path;

use super::documents::{DocumentOffsets, DocumentView, Field, TEXTS_A_BLOCK, text_at};
use super::spans::{SpanOffsets, Spans};
use super::{LocalLexemeId, MAX_TOKENS, Meta};
use crate::checked::CheckedSlice;
use crate::codec::{BitSet, PostingList, TokenColumn, bit, last_bit, next_bit, read_packed};
use crate::error::{Result, damaged};
use crate::sections::{FileKind, SectionId, Sections};
use tidings_mapped::FileState;
use tidings_model::Day;

/// An immutable segment, open for reading.
///
/// Tokens are numbered by *position*, documents by their order in the segment, lexemes by
/// [`LocalLexemeId`].
#[derive(Debug)]
pub struct Segment {
    file: Sections,
    meta: Meta,
    column: SectionId,
    lexemes: SectionId,
    frequencies: SectionId,
    offsets: SectionId,
    postings: SectionId,
    usually_no_space: SectionId,
    spacing_exceptions: SectionId,
    sentences: SectionId,
    paragraphs: SectionId,
    starts: SectionId,
    days: SectionId,
    counted: SectionId,
    count_offsets: SectionId,
    counts: SectionId,
    documents: DocumentOffsets,
    spans: Vec<SpanOffsets>,
}

impl Segment {
    /// Opens a segment; checks the section table and the sizes. Other sections are compared with their digests when they
    /// are read (see [`Segment::intact`]).
    pub fn open(path: &Path) -> Result<Segment> {
        let file = Sections::open(path, FileKind::Segment)?;
        let meta: Meta = file.json("meta")?;
        if u64::from(meta.tokens) > MAX_TOKENS || !(1..=31).contains(&meta.width) || meta.lexemes > 1 << meta.width {
            return damaged(path, "numbers out of range");
        }
        let (lexemes, documents) = (meta.lexemes as usize, meta.documents as usize);
        let words = TokenColumn::words_for(meta.tokens as usize, meta.width);
        let segment = Segment {
            column: file.find_numbers::<u32>("column", words)?,
            lexemes: file.find_numbers::<u32>("lexemes", lexemes)?,
            frequencies: file.find_numbers::<u32>("frequencies", lexemes)?,
            offsets: file.find_numbers::<u32>("places", lexemes)?,
            postings: file.find("lists")?,
            usually_no_space: file.find_numbers::<u64>("glued", lexemes.div_ceil(64))?,
            spacing_exceptions: file.find("odd")?,
            sentences: file.find_numbers::<u64>("sentences", (meta.tokens as usize).div_ceil(64))?,
            paragraphs: file.find("paragraphs")?,
            starts: file.find_numbers::<u32>("starts", documents + 1)?,
            days: file.find_numbers::<[u32; 2]>("days", meta.days as usize)?,
            counted: file.find_numbers::<u32>("counted", meta.counted as usize)?,
            count_offsets: file.find_numbers::<u32>("counts.places", meta.counted as usize)?,
            counts: file.find("counts")?,
            documents: DocumentOffsets::find(&file, documents, &meta.fields)?,
            spans: meta.spans.iter().map(|spans| SpanOffsets::find(&file, spans)).collect::<Result<_>>()?,
            file,
            meta,
        };
        let starts: &[u32] = segment.file.whole(segment.starts)?;
        segment.file.whole::<[u32; 2]>(segment.days)?;
        let is_sound = starts.first() == Some(&0)
            && starts.last() == Some(&segment.meta.tokens)
            && starts.is_sorted()
            && segment.day_table().is_sorted_by_key(|entry| (entry[0] as i32, entry[1]))
            && segment.day_table().iter().all(|entry| entry[1] < segment.meta.documents);
        if is_sound { Ok(segment) } else { damaged(path, "documents are out of order") }
    }

    /// Reads every byte and checks all digests.
    pub fn verify(&self) -> Result<()> {
        self.file.verify()
    }

    /// Returns an error if bytes were read that differ from their digests. What was made of them must not be used.
    pub fn intact(&self) -> Result<()> {
        self.file.intact()
    }

    /// Forgets which blocks were checked. What is checked when a segment is opened is checked at once.
    pub(crate) fn forget_checks(&self) {
        self.file.forget_checks();
        for section in [self.starts, self.days] {
            // A difference is recorded; see `intact`.
            let _ = self.file.whole::<u32>(section);
        }
    }

    /// Writes the digests of the blocks of the file if they are missing.
    pub(crate) fn write_missing_sums(&self) -> Result<()> {
        self.file.write_missing_sums()
    }

    /// The state of the file on disk.
    pub(crate) fn state(&self) -> FileState {
        self.file.state()
    }

    /// Header.
    pub fn meta(&self) -> &Meta {
        &self.meta
    }

    #[cfg(test)]
    pub(crate) fn file_path(&self) -> &Path {
        self.file.path()
    }

    /// Size of the file in bytes.
    pub fn bytes_on_disk(&self) -> u64 {
        self.file.bytes_on_disk()
    }

    /// Names and sizes of the sections.
    pub fn sections(&self) -> impl Iterator<Item = (&str, usize)> {
        self.file.names()
    }

    /// Number of tokens, including those of deleted documents.
    pub fn tokens(&self) -> u32 {
        self.meta.tokens
    }

    /// Token column: the local lexeme id of every token.
    #[inline]
    pub fn column(&self) -> TokenColumn<'_> {
        TokenColumn::new(self.file.numbers(self.column), self.meta.width, self.meta.tokens)
    }

    /// Lexemes that occur, ascending; the index of a lexeme is its local id.
    #[inline]
    pub fn lexemes(&self) -> CheckedSlice<'_, u32> {
        self.file.numbers(self.lexemes)
    }

    /// Frequencies by local id, including deleted documents.
    pub fn frequencies(&self) -> CheckedSlice<'_, u32> {
        self.file.numbers(self.frequencies)
    }

    /// Local id of a lexeme; `None` if it does not occur.
    pub fn local_id(&self, lexeme: u32) -> Option<LocalLexemeId> {
        self.lexemes().find(lexeme).map(|local_id| local_id as u32)
    }

    /// Lexeme of a local id.
    #[inline]
    pub fn lexeme(&self, local_id: LocalLexemeId) -> u32 {
        self.lexemes().get(local_id as usize).unwrap_or(0)
    }

    /// Lexeme of a token.
    #[inline]
    pub fn lexeme_at(&self, position: u32) -> u32 {
        self.lexeme(self.column().get(position))
    }

    /// Posting list of a lexeme.
    pub fn postings(&self, local_id: LocalLexemeId) -> PostingList<'_> {
        let frequency = self.frequencies().get(local_id as usize).unwrap_or(0);
        let offset = self.file.numbers::<u32>(self.offsets).get(local_id as usize).unwrap_or(0);
        if frequency == 1 {
            return PostingList::only(offset);
        }
        PostingList::new(self.file.bytes(self.postings).skip(offset as usize), frequency)
    }

    /// Returns true if a token has no space before it.
    pub fn no_space_before(&self, position: u32) -> bool {
        bit(self.usually_no_space(), self.column().get(position)) != self.spacing_exceptions().contains(position)
    }

    /// Bit map of the local ids most of whose tokens have no space before them.
    pub(crate) fn usually_no_space(&self) -> CheckedSlice<'_, u64> {
        self.file.numbers(self.usually_no_space)
    }

    /// Tokens whose spacing differs from that of most tokens of their lexeme.
    pub(crate) fn spacing_exceptions(&self) -> PostingList<'_> {
        PostingList::new(self.file.bytes(self.spacing_exceptions), self.meta.spacing_exceptions)
    }

    /// Bit map of the tokens that start a sentence.
    #[inline]
    pub fn sentence_bits(&self) -> CheckedSlice<'_, u64> {
        self.file.numbers(self.sentences)
    }

    /// Sentence of a token in the document with these bounds.
    pub fn sentence_of(&self, position: u32, document: &Range<u32>) -> Range<u32> {
        let bits = self.sentence_bits();
        let start = last_bit(bits, document.start, position).unwrap_or(document.start);
        start..next_bit(bits, position + 1, document.end).unwrap_or(document.end)
    }

    /// First tokens of the paragraphs.
    pub fn paragraphs(&self) -> PostingList<'_> {
        PostingList::new(self.file.bytes(self.paragraphs), self.meta.paragraphs)
    }

    /// Spans of a name; `None` if the segment has none.
    pub fn spans(&self, name: &str) -> Option<Spans<'_>> {
        self.all_spans().find(|spans| spans.name() == name)
    }

    /// Spans of each name.
    pub fn all_spans(&self) -> impl Iterator<Item = Spans<'_>> {
        self.spans.iter().map(|offsets| Spans::new(&self.file, offsets))
    }

    /// First token of each document, and the end of the last.
    #[inline]
    pub fn starts(&self) -> &[u32] {
        self.file.known_numbers(self.starts)
    }

    /// Document of a token.
    pub fn document_at(&self, position: u32) -> u32 {
        (self.starts().partition_point(|start| *start <= position) as u32).saturating_sub(1)
    }

    /// Document of a token by galloping search from one that does not come after it.
    #[inline]
    pub fn document_from(&self, document: u32, position: u32) -> u32 {
        let starts = self.starts();
        let mut document = document as usize;
        let mut step = 1;
        while starts.get(document + step).is_some_and(|start| *start <= position) {
            document += step;
            step *= 2;
        }
        let near = starts.get(document..starts.len().min(document + step)).unwrap_or_default();
        (document + near.partition_point(|start| *start <= position).saturating_sub(1)) as u32
    }

    /// Tokens of a document.
    pub fn tokens_of(&self, document: u32) -> Range<u32> {
        let starts = self.starts();
        let at = |index: usize| starts.get(index).copied().unwrap_or(self.meta.tokens);
        at(document as usize)..at(document as usize + 1)
    }

    /// Distinct days, as numbers, with their first document.
    fn day_table(&self) -> &[[u32; 2]] {
        self.file.known_numbers(self.days)
    }

    /// Number of distinct days.
    pub fn days(&self) -> usize {
        self.day_table().len()
    }

    /// Day by its index among the days of the segment.
    pub fn day(&self, index: usize) -> Day {
        Day(self.day_table().get(index).map_or(0, |entry| entry[0] as i32))
    }

    /// Documents of a day, by its index among the days of the segment.
    pub fn documents_of_day(&self, index: usize) -> Range<u32> {
        let table = self.day_table();
        let at = |index: usize| table.get(index).map_or(self.meta.documents, |entry| entry[1]);
        at(index)..at(index + 1)
    }

    /// Index of a document's day among the days of the segment.
    pub fn day_index(&self, document: u32) -> usize {
        self.day_table().partition_point(|entry| entry[1] <= document).saturating_sub(1)
    }

    /// Day of a document.
    pub fn day_of(&self, document: u32) -> Day {
        self.day(self.day_index(document))
    }

    /// Documents published from one day to another, both included.
    pub fn documents_between(&self, first: Day, last: Day) -> Range<u32> {
        let table = self.day_table();
        let document = |index: usize| table.get(index).map_or(self.meta.documents, |entry| entry[1]);
        let start = document(table.partition_point(|entry| (entry[0] as i32) < first.0));
        start..document(table.partition_point(|entry| entry[0] as i32 <= last.0)).max(start)
    }

    /// Tokens of consecutive documents.
    pub fn tokens_in(&self, documents: Range<u32>) -> Range<u32> {
        if documents.is_empty() {
            return 0..0;
        }
        self.tokens_of(documents.start).start..self.tokens_of(documents.end - 1).end
    }

    /// Stored counts by day of a frequent lexeme; `None` for rarer ones.
    pub fn day_counts(&self, local_id: LocalLexemeId) -> Option<DayCounts<'_>> {
        let index = self.file.numbers::<u32>(self.counted).find(local_id)?;
        let offset = self.file.numbers::<u32>(self.count_offsets).get(index)? as usize;
        let counts = self.file.bytes(self.counts);
        let [hits_width, documents_width] = [counts.get(offset)?, counts.get(offset + 1)?].map(u32::from);
        let bytes_of = |width: u32| (self.days() * width as usize).div_ceil(8);
        let (start, documents_start) = (offset + 2, offset + 2 + bytes_of(hits_width));
        let end = (documents_start + bytes_of(documents_width)).min(counts.len());
        let (hits, documents) = counts.slice(start..end)?.split_at_checked(documents_start - start)?;
        Some(DayCounts { hits, hits_width, documents, documents_width })
    }

    /// Ids of the documents.
    pub fn ids(&self) -> CheckedSlice<'_, u128> {
        self.documents.ids(&self.file)
    }

    /// Day on which a document was first seen.
    pub fn seen(&self, document: u32) -> Day {
        Day(self.documents.seen(&self.file).get(document as usize).unwrap_or(0))
    }

    /// Names of the metadata fields.
    pub fn field_names(&self) -> impl Iterator<Item = &str> {
        self.meta.fields.iter().map(|(name, _)| name.as_str())
    }

    /// A field; `None` if no document has it.
    pub fn field(&self, name: &str) -> Option<Field<'_>> {
        self.documents.field(&self.file, name)
    }

    /// URL and title of a document.
    pub fn address_and_title(&self, document: u32) -> Result<(String, String)> {
        let (texts, index) = self.documents.texts(&self.file, document)?;
        Ok(text_at(&texts, index))
    }

    /// Decompressed block of texts with a document's; `kept` caches the most recent one.
    pub(super) fn unpacked_texts<'k>(
        &self,
        document: u32,
        kept: &'k mut Option<(u32, Vec<u8>)>,
    ) -> Result<(&'k [u8], usize)> {
        let block = document - document % TEXTS_A_BLOCK as u32;
        if kept.as_ref().is_none_or(|(known, _)| *known != block) {
            *kept = Some((block, self.documents.texts(&self.file, document)?.0));
        }
        let texts = kept.as_ref().map_or(&[][..], |(_, texts)| texts);
        Ok((texts, document as usize % TEXTS_A_BLOCK))
    }

    /// Calls `each` with every document's number, URL and title.
    pub fn each_text(&self, mut each: impl FnMut(u32, &str, &str)) -> Result<()> {
        let mut document = 0;
        while document < self.meta.documents {
            let (texts, _) = self.documents.texts(&self.file, document)?;
            let texts = String::from_utf8_lossy(&texts);
            let mut lines = texts.split_terminator('\n');
            let before = document;
            while let (Some(url), Some(title)) = (lines.next(), lines.next()) {
                each(document, url, title);
                document += 1;
            }
            if document == before {
                return damaged(self.file.path(), format!("document {document} has no text"));
            }
        }
        Ok(())
    }

    /// Metadata of a document.
    pub fn document(&self, document: u32) -> Result<DocumentView> {
        let (url, title) = self.address_and_title(document)?;
        let fields = self
            .meta
            .fields
            .iter()
            .map(|(name, _)| (name.clone(), self.field(name).map_or("", |field| field.of(document)).to_owned()));
        Ok(DocumentView {
            id: self.ids().get(document as usize).unwrap_or(0),
            url,
            title,
            day: self.day_of(document),
            seen: self.seen(document),
            fields: fields.collect(),
        })
    }

    /// Counts the tokens of each local id in some documents.
    pub fn count_tokens(&self, documents: &BitSet, counts: &mut [u32]) {
        let column = self.column();
        for document in documents.iter() {
            let tokens = self.tokens_of(document);
            column.scan(tokens.start, tokens.end, |_, local_ids| {
                for local_id in local_ids {
                    if let Some(count) = counts.get_mut(*local_id as usize) {
                        *count += 1;
                    }
                }
            });
        }
    }
}

/// Stored counts of a lexeme, by the days of its segment.
#[derive(Debug, Clone, Copy)]
pub struct DayCounts<'s> {
    hits: &'s [u8],
    hits_width: u32,
    documents: &'s [u8],
    documents_width: u32,
}

impl DayCounts<'_> {
    /// Hits of the lexeme on a day.
    pub fn hits(&self, day: usize) -> u32 {
        read_packed(self.hits, self.hits_width, day)
    }

    /// Documents of the day that contain the lexeme.
    pub fn documents(&self, day: usize) -> u32 {
        read_packed(self.documents, self.documents_width, day)
    }
}
