//! Reader of the vertical format.

use std::io::{self, BufRead, Read as _};
use std::path::{Path, PathBuf};

use tidings_model::{
    Annotated, AnnotatedParagraph, Attributes, LayerColumn, LayerDeclaration, LayerKind, Token, TokenText,
};

use super::open_spans::{OpenSpans, SpanTag};
use super::{LAYER_TAG, LENGTH, MAX_FIELDS, is_layer_name, is_name, is_span_name, unescape};
use crate::error::{Context, Error, Result};

/// The maximum length of a line.
const MAX_LINE_BYTES: usize = 1 << 20;
/// The maximum number of attributes of a span.
const MAX_SPAN_ATTRIBUTES: usize = 32;

/// A part of a vertical file.
#[derive(Debug)]
pub enum Event<'l> {
    /// A document begins.
    Document(Box<Attributes>),
    /// A paragraph begins.
    Paragraph,
    /// A sentence begins.
    Sentence,
    /// A token: its line in the file, columns separated by tabs, entities unresolved.
    Token(&'l str),
    /// No white space before the next token.
    Glue,
    /// A further column of the document's tokens is declared.
    Layer(LayerDeclaration),
    /// A span starts before the next token.
    SpanStart(SpanTag),
    /// The innermost span of this name ends.
    SpanEnd(&'l str),
    /// The document ends.
    End,
}

/// Reads events from a vertical file.
pub struct Reader<R> {
    input: R,
    path: PathBuf,
    line: Vec<u8>,
    number: u64,
}

impl<R: BufRead> Reader<R> {
    /// Reads from `input`; `path` names it in errors.
    pub fn new(input: R, path: &Path) -> Reader<R> {
        Reader { input, path: path.to_owned(), line: Vec::new(), number: 0 }
    }

    /// The next event; `None` at the end. Tags whose names cannot be those of spans are skipped.
    pub fn next_event(&mut self) -> Result<Option<Event<'_>>> {
        loop {
            if !self.fill()? {
                return Ok(None);
            }
            let is_tag = match self.line.first() {
                None => continue,
                Some(b'<') => true,
                Some(_) => false,
            };
            if !is_tag {
                break;
            }
            match tag_of(&self.line) {
                Tag::Document => {
                    let text = self.text()?;
                    let about = attributes(text).map_err(|fault| self.fault(fault))?;
                    return Ok(Some(Event::Document(Box::new(about))));
                }
                Tag::Paragraph => return Ok(Some(Event::Paragraph)),
                Tag::Sentence => return Ok(Some(Event::Sentence)),
                Tag::Glue => return Ok(Some(Event::Glue)),
                Tag::End => return Ok(Some(Event::End)),
                Tag::Layer => {
                    let text = self.text()?;
                    return layer(text).map(|layer| Some(Event::Layer(layer))).map_err(|fault| self.fault(fault));
                }
                Tag::SpanEnd => {
                    if self.span_end()?.is_some() {
                        return Ok(self.span_end()?.map(Event::SpanEnd));
                    }
                }
                Tag::SpanStart => {
                    let text = self.text()?;
                    if let Some(tag) = span_tag(text).map_err(|fault| self.fault(fault))? {
                        return Ok(Some(Event::SpanStart(tag)));
                    }
                }
            }
        }
        Ok(Some(Event::Token(self.text()?)))
    }

    /// The name in the closing tag of a span.
    fn span_end(&self) -> Result<Option<&str>> {
        let name = self.text()?.strip_prefix("</").and_then(|rest| rest.split_once('>')).map(|(name, _)| name.trim());
        Ok(name.filter(|name| is_span_name(name)))
    }

    /// The next document with its layers and spans; `None` at the end. Tokens before the first document belong to one
    /// without metadata.
    pub fn next_document(&mut self) -> Result<Option<Annotated>> {
        let mut document: Option<Annotated> = None;
        let mut spans = OpenSpans::default();
        let (mut tokens, mut is_glued) = (0u32, false);
        while let Some(event) = self.next_event()? {
            match event {
                Event::Document(about) => document = Some(Annotated { about: *about, ..Annotated::default() }),
                Event::End if document.is_some() => break,
                Event::End | Event::SpanStart(_) | Event::SpanEnd(_) if document.is_none() => {}
                Event::SpanStart(tag) => spans.start(tag, tokens).map_err(|fault| self.fault(fault))?,
                Event::SpanEnd(name) => spans.end(name, tokens),
                Event::Glue => is_glued = true,
                Event::Layer(layer) => {
                    let columns = &mut document.get_or_insert_default().columns;
                    columns.push(LayerColumn { layer, values: Vec::new() });
                }
                Event::Paragraph => {
                    let [kind, language] = ["kind", "lang"].map(|name| self.value(name).unwrap_or_default());
                    let paragraph = AnnotatedParagraph { kind, language, sentences: Vec::new() };
                    document.get_or_insert_default().paragraphs.push(paragraph);
                }
                Event::Sentence => last_paragraph(document.get_or_insert_default()).sentences.push(Vec::new()),
                Event::Token(line) => {
                    add_token(line, document.get_or_insert_default(), std::mem::take(&mut is_glued));
                    tokens += 1;
                }
                Event::End => unreachable!("an end without a document is skipped above"),
            }
        }
        if let Some(document) = &mut document {
            document.spans = spans.finish(tokens);
            document.columns.iter_mut().for_each(|column| column.values.resize(tokens as usize, String::new()));
        }
        Ok(document)
    }

    /// The value of an attribute of the last tag, such as the kind of a paragraph.
    pub fn value(&self, name: &str) -> Option<String> {
        let line = std::str::from_utf8(&self.line).ok()?;
        let (_, rest) = line.split_once(&format!(" {name}=\""))?;
        Some(unescape(rest.split_once('"')?.0).into_owned())
    }

    /// An error with the number of the last line, for a fault found by the caller.
    pub fn fault(&self, fault: String) -> Error {
        Error::Line { path: self.path.clone(), line: self.number, fault }
    }

    fn text(&self) -> Result<&str> {
        simdutf8::basic::from_utf8(&self.line).map_err(|_| self.fault("is not UTF-8 text".to_owned()))
    }

    /// The next line, without its end.
    fn fill(&mut self) -> Result<bool> {
        self.line.clear();
        self.number += 1;
        let buffer = self.input.fill_buf().context("read", &self.path)?;
        // Nearly every line is completely in the buffer.
        if let Some(end) = memchr::memchr(b'\n', buffer) {
            self.line.extend_from_slice(&buffer[..end]);
            self.input.consume(end + 1);
        } else {
            let read = long_line(&mut self.input, &mut self.line).context("read", &self.path)?;
            if !read {
                return Ok(false);
            }
        }
        if self.line.len() > MAX_LINE_BYTES {
            return Err(self.fault("is too long; check that this is a vertical file".to_owned()));
        }
        if self.line.last() == Some(&b'\r') {
            self.line.pop();
        }
        Ok(true)
    }
}

fn long_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    let read = input.by_ref().take(MAX_LINE_BYTES as u64 + 2).read_until(b'\n', line)?;
    if line.last() == Some(&b'\n') {
        line.pop();
    }
    Ok(read > 0)
}

enum Tag {
    Document,
    Paragraph,
    Sentence,
    Glue,
    End,
    Layer,
    SpanStart,
    SpanEnd,
}

fn tag_of(line: &[u8]) -> Tag {
    let opens = |name: &[u8]| {
        line.strip_prefix(name).is_some_and(|rest| matches!(rest.first(), Some(b'>' | b' ' | b'\t' | b'/')))
    };
    match line {
        b"<g/>" | b"<g />" => Tag::Glue,
        b"</doc>" => Tag::End,
        _ if opens(b"<s") => Tag::Sentence,
        _ if opens(b"<p") => Tag::Paragraph,
        _ if opens(b"<doc") => Tag::Document,
        _ if opens(b"<layer") => Tag::Layer,
        _ if line.starts_with(b"</") => Tag::SpanEnd,
        _ => Tag::SpanStart,
    }
}

fn last_paragraph(document: &mut Annotated) -> &mut AnnotatedParagraph {
    if document.paragraphs.is_empty() {
        document.paragraphs.push(AnnotatedParagraph::default());
    }
    document.paragraphs.last_mut().expect("just made")
}

fn add_token(line: &str, document: &mut Annotated, is_glued: bool) {
    let mut columns = line.split('\t').map(unescape);
    let mut column = || columns.next().unwrap_or_default();
    let [word, lemma, tag, feats] = [(); 4].map(|()| TokenText::from(column()));
    let token = Token { word, lemma, tag, feats, space_after: true };
    document.columns.iter_mut().for_each(|further| further.values.push(column().into_owned()));
    let sentences = &mut last_paragraph(document).sentences;
    if sentences.is_empty() {
        sentences.push(Vec::new());
    }
    let sentence = sentences.last_mut().expect("just made");
    if let Some(before) = sentence.last_mut() {
        before.space_after = !is_glued;
    }
    sentence.push(token);
}

/// The declaration of a line `<layer …/>`.
fn layer(line: &str) -> std::result::Result<LayerDeclaration, String> {
    let mut layer = LayerDeclaration { name: String::new(), kind: LayerKind::Text, origin: String::new() };
    let rest = line.strip_prefix('<').and_then(|rest| rest.strip_prefix(LAYER_TAG)).unwrap_or_default();
    for_each_attribute(rest, |name, value| {
        match name {
            "name" => layer.name = value,
            "kind" => {
                layer.kind = LayerKind::parse(&value).ok_or_else(|| format!("“{value}” is not a kind of layer"))?
            }
            "origin" => layer.origin = value,
            _ => {}
        }
        Ok(())
    })?;
    if !is_layer_name(&layer.name) {
        return Err(format!("“{}” is not a valid name of a layer", layer.name));
    }
    Ok(layer)
}

/// The start of a span; `None` for tags that cannot be spans: comments, instructions, empty elements without a length.
fn span_tag(line: &str) -> std::result::Result<Option<SpanTag>, String> {
    let rest = line.strip_prefix('<').unwrap_or(line);
    let name = rest.split([' ', '\t', '>', '/']).next().unwrap_or_default();
    if !is_span_name(name) {
        return Ok(None);
    }
    let mut attributes: Vec<(String, String)> = Vec::new();
    let end = for_each_attribute(&rest[name.len()..], |name, value| {
        // Names such as `xml:lang` cannot be written in queries.
        if !is_name(name) {
            return Ok(());
        }
        if attributes.len() == MAX_SPAN_ATTRIBUTES {
            return Err(format!("more than {MAX_SPAN_ATTRIBUTES} attributes"));
        }
        attributes.push((name.to_owned(), value));
        Ok(())
    })?;
    let tokens = match end.starts_with('/') {
        false => None,
        // An empty element is a span only if it has a length.
        true => match attributes.pop().filter(|(name, _)| name == LENGTH).and_then(|(_, value)| value.parse().ok()) {
            Some(tokens) => Some(tokens),
            None => return Ok(None),
        },
    };
    let mut seen = std::collections::HashSet::new();
    attributes.retain(|(name, _)| seen.insert(name.clone()));
    Ok(Some(SpanTag { name: name.to_owned(), attributes, tokens }))
}

/// Calls `take` with each attribute of a tag; returns what follows the last one.
fn for_each_attribute(
    attributes: &str,
    mut take: impl FnMut(&str, String) -> std::result::Result<(), String>,
) -> std::result::Result<&str, String> {
    let mut rest = attributes.trim_start();
    while !rest.is_empty() && !rest.starts_with(['>', '/']) {
        let (name, after) = rest.split_once('=').ok_or_else(|| format!("“{rest}” is not an attribute"))?;
        let name = name.trim();
        let mut chars = after.chars();
        let quote = chars.next().filter(|quote| matches!(quote, '"' | '\''));
        let quote = quote.ok_or_else(|| format!("the value of {name} has no quotation marks"))?;
        let (value, after) =
            chars.as_str().split_once(quote).ok_or_else(|| format!("the value of {name} does not end"))?;
        take(name, unescape(value).into_owned())?;
        rest = after.trim_start();
    }
    Ok(rest)
}

/// The attributes of a line `<doc …>`.
fn attributes(line: &str) -> std::result::Result<Attributes, String> {
    let mut about = Attributes::default();
    for_each_attribute(line.strip_prefix("<doc").unwrap_or_default(), |name, value| {
        match name {
            "id" => about.id = id_of(&value),
            "url" => about.url = value,
            "title" => about.title = value,
            "date" => about.date = value,
            "seen" => about.seen = value,
            _ if !is_name(name) => return Err(format!("“{name}” is not a valid field name")),
            _ if about.field(name).is_some() => return Err(format!("{name} occurs twice")),
            _ if about.fields.len() == MAX_FIELDS => return Err(format!("more than {MAX_FIELDS} fields")),
            _ => about.fields.push((name.to_owned(), value)),
        }
        Ok(())
    })?;
    Ok(about)
}

/// Our ids are 32 hexadecimal digits; any other id is replaced by its hash.
fn id_of(value: &str) -> u128 {
    match u128::from_str_radix(value, 16) {
        Ok(id) if value.len() == 32 => id,
        _ => xxhash_rust::xxh3::xxh3_128(value.as_bytes()),
    }
}
