//! In-memory batch of documents, written as a segment.

use hashbrown::HashMap;
use tidings_formats::vertical::{Event, OpenSpans, Reader};
use tidings_model::{Annotated, Attributes, LayerColumn, TokenSpan};

use super::MAX_TOKENS;
use super::pending_spans::PendingSpans;
use super::spans::{NewSpan, NewSpans};
use super::write::{SegmentSource, TokenLayout, write};
use crate::codec::bit;
use crate::error::{Error, Result};
use crate::lexicon::{Interner, Layer};
use std::io::BufRead;
use std::path::Path;
use tidings_model::Day;

/// A document of the batch.
struct PendingDocument {
    id: u128,
    day: Day,
    seen: Day,
    start: u32,
    end: u32,
    /// URL, line feed, title, line feed.
    text: Box<str>,
    /// Value code per field, in order of first occurrence of the fields; missing ones are empty.
    codes: Box<[u32]>,
}

/// Documents for one segment.
#[derive(Default)]
pub struct Batch {
    lexemes: Vec<u32>,
    sentences: GrowingBits,
    paragraphs: GrowingBits,
    no_space_before: GrowingBits,
    documents: Vec<PendingDocument>,
    fields: Vec<String>,
    values: Vec<HashMap<Box<str>, u32>>,
    text_bytes: usize,
    spans: PendingSpans,
}

#[derive(Default)]
struct GrowingBits(Vec<u64>);

impl GrowingBits {
    #[inline]
    fn set(&mut self, at: u32) {
        let word = at as usize / 64;
        if word >= self.0.len() {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (at % 64);
    }
}

impl Batch {
    /// Number of tokens.
    pub fn tokens(&self) -> usize {
        self.lexemes.len()
    }

    /// Number of documents.
    pub fn documents(&self) -> usize {
        self.documents.len()
    }

    /// Estimated memory for writing, in bytes.
    pub fn bytes(&self) -> usize {
        self.lexemes.len() * 9 + self.text_bytes + self.documents.len() * 96 + self.spans.bytes()
    }

    /// Adds a document.
    pub fn add(&mut self, document: &Annotated, interner: &mut Interner) -> Result<()> {
        self.begin(&document.about)?;
        let columns: Result<Vec<Layer>> =
            document.columns.iter().map(|column| interner.declare(&column.layer)).collect();
        interner.set_columns(&columns?);
        let mut line = String::new();
        let mut at = 0;
        for paragraph in &document.paragraphs {
            self.begin_paragraph();
            for sentence in &paragraph.sentences {
                self.begin_sentence();
                let mut no_space_before = false;
                for token in sentence {
                    line.clear();
                    push_columns(
                        &mut line,
                        [&token.word, &token.lemma, &token.tag, &token.feats].map(|text| text.as_str()),
                    );
                    if !document.columns.is_empty() {
                        line.push('\t');
                        push_columns(&mut line, document.columns.iter().map(|column| value_at(column, at)));
                    }
                    at += 1;
                    // The interner reads the vertical format, which escapes ampersands.
                    let lexeme = if line.contains('&') {
                        interner.lexeme(&line.replace('&', "&amp;"))
                    } else {
                        interner.lexeme(&line)
                    };
                    self.push(lexeme, no_space_before)?;
                    no_space_before = !token.space_after;
                }
            }
        }
        self.end(&document.spans);
        Ok(())
    }

    /// Adds documents from a vertical file until `is_enough` or the file ends; returns whether there may be more.
    pub fn read<R: BufRead>(
        &mut self,
        reader: &mut Reader<R>,
        interner: &mut Interner,
        mut is_enough: impl FnMut(&Batch) -> bool,
    ) -> Result<bool> {
        let mut no_space_before = false;
        let mut open = false;
        let mut spans = OpenSpans::default();
        let mut columns = Vec::new();
        while let Some(event) = reader.next_event()? {
            match event {
                Event::Token(line) => {
                    if !open {
                        let fault = "a token outside of a document; a line <doc …> is missing".to_owned();
                        return Err(reader.fault(fault).into());
                    }
                    self.push(interner.lexeme(line), std::mem::take(&mut no_space_before))?;
                }
                Event::Glue => no_space_before = true,
                Event::Sentence => self.begin_sentence(),
                Event::Layer(declaration) => {
                    columns.push(interner.declare(&declaration)?);
                    interner.set_columns(&columns);
                }
                Event::SpanStart(tag) if open => {
                    let at = self.tokens_of_last();
                    spans.start(tag, at).map_err(|fault| reader.fault(fault))?;
                }
                Event::SpanEnd(name) if open => spans.end(name, self.tokens_of_last()),
                // A span outside of a document has no tokens.
                Event::SpanStart(_) | Event::SpanEnd(_) => {}
                Event::Paragraph => self.begin_paragraph(),
                Event::Document(about) => {
                    if open {
                        self.end(&spans.finish(self.tokens_of_last()));
                    }
                    self.begin(&about)?;
                    columns.clear();
                    interner.set_columns(&columns);
                    (open, no_space_before) = (true, false);
                }
                Event::End => {
                    if open {
                        self.end(&spans.finish(self.tokens_of_last()));
                    }
                    open = false;
                    if is_enough(self) {
                        return Ok(true);
                    }
                }
            }
        }
        if open {
            self.end(&spans.finish(self.tokens_of_last()));
        }
        Ok(false)
    }

    /// Tokens of the last document so far.
    fn tokens_of_last(&self) -> u32 {
        self.lexemes.len() as u32 - self.documents.last().map_or(0, |document| document.start)
    }

    fn begin(&mut self, about: &Attributes) -> Result<()> {
        let seen = Day::parse(&about.seen);
        let Some(day) = Day::parse(&about.date).or(seen) else {
            let fault = format!("date “{}”, seen “{}”", about.date, about.seen);
            return Err(Error::Undated { id: about.id, url: about.url.clone(), fault });
        };
        let mut codes = vec![0; self.fields.len()];
        for (name, value) in &about.fields {
            let index = self.fields.iter().position(|known| known == name).unwrap_or_else(|| {
                self.fields.push(name.clone());
                self.values.push(HashMap::from_iter([("".into(), 0)]));
                codes.push(0);
                self.fields.len() - 1
            });
            let values = &mut self.values[index];
            codes[index] = match values.get(value.as_str()) {
                Some(code) => *code,
                None => {
                    let code = values.len() as u32;
                    values.insert(one_line(value).into(), code);
                    code
                }
            };
        }
        let text: Box<str> = format!("{}\n{}\n", one_line(&about.url), one_line(&about.title)).into();
        self.text_bytes += text.len() + codes.len() * 4;
        let start = self.lexemes.len() as u32;
        let codes = codes.into();
        self.documents.push(PendingDocument {
            id: about.id,
            day,
            seen: seen.unwrap_or(day),
            start,
            end: start,
            text,
            codes,
        });
        // A document starts a paragraph and a sentence even if the file does not mark them.
        self.begin_paragraph();
        Ok(())
    }

    fn begin_paragraph(&mut self) {
        self.paragraphs.set(self.lexemes.len() as u32);
        self.begin_sentence();
    }

    fn begin_sentence(&mut self) {
        self.sentences.set(self.lexemes.len() as u32);
    }

    #[inline]
    fn push(&mut self, lexeme: u32, no_space_before: bool) -> Result<()> {
        if no_space_before {
            self.no_space_before.set(self.lexemes.len() as u32);
        }
        if self.lexemes.len() as u64 >= MAX_TOKENS {
            return Err(Error::TooLarge { limit: MAX_TOKENS });
        }
        self.lexemes.push(lexeme);
        Ok(())
    }

    /// Ends the last document, which has these spans.
    fn end(&mut self, spans: &[TokenSpan]) {
        if let Some(document) = self.documents.last_mut() {
            document.end = self.lexemes.len() as u32;
            let tokens = document.start..document.end;
            self.spans.add(self.documents.len() as u32 - 1, &tokens, spans);
        }
    }

    /// Writes the documents as a segment, sorted by day; the sort is stable.
    pub fn write(&self, path: &Path) -> Result<u64> {
        let mut order: Vec<u32> = (0..self.documents.len() as u32).collect();
        order.sort_by_key(|index| self.documents[*index as usize].day);

        let bound = self.lexemes.iter().max().map_or(0, |lexeme| *lexeme as usize + 1);
        let mut frequencies = vec![0u32; bound];
        self.lexemes.iter().for_each(|lexeme| frequencies[*lexeme as usize] += 1);
        let lexemes: Vec<u32> = (0..bound as u32).filter(|lexeme| frequencies[*lexeme as usize] > 0).collect();
        let mut local_ids = vec![0u32; bound];
        let mut starts = Vec::with_capacity(lexemes.len() + 1);
        let mut total = 0;
        for (local_id, lexeme) in lexemes.iter().enumerate() {
            local_ids[*lexeme as usize] = local_id as u32;
            starts.push(total);
            total += frequencies[*lexeme as usize];
        }
        starts.push(total);
        drop(frequencies);

        // Counting sort of positions by lexeme: each goes to the next free slot of its lexeme.
        let mut free = starts.clone();
        let mut positions = vec![0u32; self.lexemes.len()];
        let mut position = 0;
        for index in &order {
            let document = &self.documents[*index as usize];
            for lexeme in &self.lexemes[document.start as usize..document.end as usize] {
                let slot = &mut free[local_ids[*lexeme as usize] as usize];
                positions[*slot as usize] = position;
                *slot += 1;
                position += 1;
            }
        }
        drop(free);
        write(path, &mut SortedBatch { batch: self, order, lexemes, local_ids, starts, positions })
    }
}

/// The value of a token; empty if the column is too short.
fn value_at(column: &LayerColumn, token: usize) -> &str {
    column.values.get(token).map_or("", String::as_str)
}

/// Appends columns, separated by tabs.
fn push_columns<'c>(line: &mut String, columns: impl IntoIterator<Item = &'c str>) {
    for (index, column) in columns.into_iter().enumerate() {
        line.push_str(if index > 0 { "\t" } else { "" });
        line.extend(column.chars().map(|char| if char.is_control() { ' ' } else { char }));
    }
}

/// Replaces control characters: line feeds are separators in the file.
pub(super) fn one_line(text: &str) -> String {
    text.chars().map(|char| if char.is_control() { ' ' } else { char }).collect()
}

/// Batch sorted for writing.
struct SortedBatch<'b> {
    batch: &'b Batch,
    order: Vec<u32>,
    lexemes: Vec<u32>,
    /// Local id of each lexeme.
    local_ids: Vec<u32>,
    /// Start of the positions of each local id.
    starts: Vec<u32>,
    positions: Vec<u32>,
}

impl SortedBatch<'_> {
    fn kept(&self, document: usize) -> &PendingDocument {
        &self.batch.documents[self.order[document] as usize]
    }
}

impl SegmentSource for SortedBatch<'_> {
    fn lexemes(&self) -> &[u32] {
        &self.lexemes
    }

    fn documents(&self) -> usize {
        self.order.len()
    }

    fn tokens_of(&self, document: usize) -> u32 {
        let kept = self.kept(document);
        kept.end - kept.start
    }

    fn id(&self, document: usize) -> u128 {
        self.kept(document).id
    }

    fn day(&self, document: usize) -> Day {
        self.kept(document).day
    }

    fn seen(&self, document: usize) -> Day {
        self.kept(document).seen
    }

    fn text(&mut self, document: usize, into: &mut String) -> Result<()> {
        into.push_str(&self.kept(document).text);
        Ok(())
    }

    fn fields(&self) -> Vec<String> {
        self.batch.fields.clone()
    }

    fn values(&self, field: usize) -> (Vec<String>, Vec<u32>) {
        let mut values = vec![String::new(); self.batch.values[field].len()];
        for (value, code) in &self.batch.values[field] {
            values[*code as usize] = value.to_string();
        }
        let codes = (0..self.order.len()).map(|document| self.kept(document).codes.get(field).copied().unwrap_or(0));
        (values, codes.collect())
    }

    fn local_ids(&mut self, document: usize, into: &mut Vec<u32>) {
        let kept = self.kept(document);
        let lexemes = &self.batch.lexemes[kept.start as usize..kept.end as usize];
        into.extend(lexemes.iter().map(|lexeme| self.local_ids[*lexeme as usize]));
    }

    fn layout(&mut self, document: usize, at: u32, layout: &mut TokenLayout) {
        let kept = self.kept(document);
        for offset in 0..kept.end - kept.start {
            let from = kept.start + offset;
            if bit(&self.batch.sentences.0, from) {
                layout.sentences.set(at + offset);
            }
            if bit(&self.batch.no_space_before.0, from) {
                layout.no_space_before.set(at + offset);
            }
            if bit(&self.batch.paragraphs.0, from) {
                layout.paragraphs.push(at + offset);
            }
        }
    }

    fn positions(&mut self, local_id: usize, into: &mut Vec<u32>) {
        let (start, end) = (self.starts[local_id] as usize, self.starts[local_id + 1] as usize);
        into.extend_from_slice(&self.positions[start..end]);
    }

    fn span_names(&self) -> Vec<NewSpans> {
        self.batch.spans.names()
    }

    fn spans(&mut self, name: usize, document: usize, at: u32, into: &mut Vec<NewSpan>) {
        let from = self.kept(document).start;
        self.batch.spans.of_document(name, self.order[document], from, at, into);
    }
}
