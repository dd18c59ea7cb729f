//! Further layers in CoNLL-U and CoNLL-U Plus.
//!
//! A comment `# layer = NAME KIND ORIGIN` at the start of a document declares a further token attribute. In CoNLL-U its
//! values are in MISC, `NAME=VALUE`; in CoNLL-U Plus they are a column of that name. Spans are in MISC as `Spans=…`, or
//! in the column `TIDINGS:SPANS`: like the entities of CorefUD, a span is opened at its first token and closed at its
//! last by its number in the document, so that spans may cross each other and sentences.
//!
//! ```text
//! 1  Ann    …  (1:quote[speaker=Bo],(2:ne[type=PER]
//! 2  Lee    …  2)
//! 3  left   …  1),(3:verb)
//! ```
//!
//! Characters with a meaning of their own are percent-encoded.

use std::collections::BTreeSet;

use tidings_model::{Annotated, LayerDeclaration, LayerKind, TokenSpan};

use crate::vertical::{is_layer_name, is_name, is_span_name};

/// The comment that declares a layer.
pub(super) const LAYER: &str = "layer";
/// The key of spans in MISC.
pub(super) const SPANS: &str = "Spans";
/// The column of spans in CoNLL-U Plus.
pub(super) const SPAN_COLUMN: &str = "TIDINGS:SPANS";
/// The maximum number of further attributes of a document.
pub(super) const MAX_LAYERS: usize = 64;
/// The maximum number of attributes of a span.
const MAX_ATTRIBUTES: usize = 32;
/// The maximum number of spans that are open at once.
const MAX_OPEN: usize = 256;

/// Further columns of a CoNLL-U Plus file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlusLayers {
    /// The names of token attributes, in the order of their columns.
    pub columns: BTreeSet<String>,
    /// True if there is a column of spans.
    pub has_spans: bool,
}

impl PlusLayers {
    /// The line that names the columns of the file.
    pub fn header(&self) -> String {
        let mut header = super::write::COLUMNS.trim_end().to_owned();
        for name in self.columns.iter().map(String::as_str).chain(self.has_spans.then_some(SPAN_COLUMN)) {
            header.push(' ');
            header.push_str(name);
        }
        header.push('\n');
        header
    }
}

/// The value of a `# layer` comment.
pub(super) fn declaration(layer: &LayerDeclaration) -> String {
    format!("{} {} {}", layer.name, layer.kind.name(), layer.origin).trim_end().to_owned()
}

/// Reads the value of a `# layer` comment.
pub(super) fn parse_declaration(text: &str) -> Option<LayerDeclaration> {
    let mut parts = text.splitn(3, ' ');
    let (name, kind) = (parts.next()?, LayerKind::parse(parts.next()?)?);
    let origin = parts.next().unwrap_or_default().to_owned();
    is_layer_name(name).then(|| LayerDeclaration { name: name.to_owned(), kind, origin })
}

/// The layer of a CoNLL-U Plus column: characters that a name cannot have, as in `PARSEME:MWE`, become `_`.
pub(super) fn of_column(name: &str) -> Option<LayerDeclaration> {
    let name: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    is_layer_name(&name).then(|| LayerDeclaration { name, kind: LayerKind::Text, origin: String::new() })
}

/// Percent-encodes the characters that separate values.
pub(super) fn encode(value: &str, out: &mut String) {
    if value == "_" {
        return out.push_str("%5F");
    }
    for char in value.chars() {
        match char {
            '%' | '|' | ',' | ';' | '=' | '[' | ']' | '(' | ')' => out.push_str(&format!("%{:02X}", u32::from(char))),
            char if char.is_control() || matches!(char, '\u{2028}' | '\u{2029}') => out.push(' '),
            char => out.push(char),
        }
    }
}

/// Decodes what [`encode`] writes.
pub(super) fn decode(text: &str) -> String {
    let mut value = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        value.push_str(&rest[..at]);
        let code = rest.get(at + 1..at + 3).and_then(|code| u8::from_str_radix(code, 16).ok());
        match code.filter(u8::is_ascii) {
            Some(byte) => {
                value.push(char::from(byte));
                rest = &rest[at + 3..];
            }
            None => {
                value.push('%');
                rest = &rest[at + 1..];
            }
        }
    }
    value.push_str(rest);
    value
}

/// Writes the cells of spans, token by token.
pub(super) struct SpanCells<'d> {
    spans: &'d [TokenSpan],
    next_start: usize,
    /// Spans of several tokens by their ends.
    by_end: Vec<usize>,
    next_end: usize,
}

impl<'d> SpanCells<'d> {
    pub(super) fn new(document: &'d Annotated) -> SpanCells<'d> {
        let spans = &document.spans[..];
        let mut by_end: Vec<usize> =
            (0..spans.len()).filter(|index| spans[*index].end - spans[*index].start > 1).collect();
        by_end.sort_by_key(|index| (spans[*index].end, usize::MAX - index));
        SpanCells { spans, next_start: 0, by_end, next_end: 0 }
    }

    /// The cell of the next token; empty if no span starts or ends there.
    pub(super) fn cell(&mut self, at: u32) -> String {
        let mut cell = String::new();
        while let Some(index) = self.by_end.get(self.next_end).filter(|index| self.spans[**index].end == at + 1) {
            separate(&mut cell);
            cell.push_str(&format!("{})", index + 1));
            self.next_end += 1;
        }
        while let Some(span) = self.spans.get(self.next_start).filter(|span| span.start <= at) {
            self.next_start += 1;
            separate(&mut cell);
            cell.push_str(&format!("({}:{}", self.next_start, span.name));
            for (number, (name, value)) in span.attributes.iter().enumerate() {
                cell.push_str(if number == 0 { "[" } else { ";" });
                cell.push_str(name);
                cell.push('=');
                encode(value, &mut cell);
            }
            cell.push_str(if span.attributes.is_empty() { "" } else { "]" });
            cell.push_str(if span.end == at + 1 { ")" } else { "" });
        }
        cell
    }
}

fn separate(cell: &mut String) {
    if !cell.is_empty() {
        cell.push(',');
    }
}

/// Spans of the document that is being read.
#[derive(Debug, Default)]
pub(super) struct SpanReader {
    open: Vec<(u32, TokenSpan)>,
    ended: Vec<TokenSpan>,
}

impl SpanReader {
    /// Reads the cell of a token. Items that are not valid are skipped.
    pub(super) fn read(&mut self, cell: &str, at: u32) {
        for item in cell.split(',') {
            match item.strip_prefix('(') {
                Some(opening) => {
                    let is_whole = opening.ends_with(')');
                    let Some((number, span)) = opened(opening.strip_suffix(')').unwrap_or(opening), at) else {
                        continue;
                    };
                    match is_whole {
                        true => self.ended.push(TokenSpan { end: at + 1, ..span }),
                        false if self.open.len() < MAX_OPEN => self.open.push((number, span)),
                        false => {}
                    }
                }
                None => {
                    let number = item.strip_suffix(')').and_then(|number| number.parse::<u32>().ok());
                    if let Some(index) = self.open.iter().rposition(|(open, _)| Some(*open) == number) {
                        let (_, span) = self.open.remove(index);
                        self.ended.push(TokenSpan { end: at + 1, ..span });
                    }
                }
            }
        }
    }

    /// Ends the document after `tokens` tokens; returns its spans in file order.
    pub(super) fn finish(self, tokens: u32) -> Vec<TokenSpan> {
        let open = self.open.into_iter().map(|(_, span)| TokenSpan { end: tokens, ..span });
        let mut spans: Vec<TokenSpan> = self.ended.into_iter().chain(open).collect();
        spans.sort_by(TokenSpan::file_order);
        spans
    }
}

/// A span that starts at a token, `ID:name[a=v;b=w]`.
fn opened(text: &str, at: u32) -> Option<(u32, TokenSpan)> {
    let (number, rest) = text.split_once(':')?;
    let (name, attributes) = rest.split_once('[').unwrap_or((rest, "]"));
    if !is_span_name(name) {
        return None;
    }
    let mut span = TokenSpan::new(name, at, at + 1);
    for pair in attributes.strip_suffix(']')?.split(';').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=')?;
        if is_name(name) && span.attribute(name).is_none() && span.attributes.len() < MAX_ATTRIBUTES {
            span.attributes.push((name.to_owned(), decode(value)));
        }
    }
    Some((number.parse().ok()?, span))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_opened_and_closed_by_their_numbers() {
        let spans = vec![
            TokenSpan::new("quote", 0, 3).with("speaker", "Bo [x]"),
            TokenSpan::new("ne", 0, 2).with("type", "PER").with("id", "7"),
            TokenSpan::new("verb", 2, 3),
        ];
        let document = Annotated { spans: spans.clone(), ..Annotated::default() };
        let mut cells = SpanCells::new(&document);
        let written: Vec<String> = (0..3).map(|at| cells.cell(at)).collect();
        assert_eq!(written, ["(1:quote[speaker=Bo %5Bx%5D],(2:ne[type=PER;id=7]", "2)", "1),(3:verb)"]);
        let mut reader = SpanReader::default();
        (0u32..).zip(&written).for_each(|(at, cell)| reader.read(cell, at));
        assert_eq!(reader.finish(3), spans);
    }

    #[test]
    fn invalid_cells_are_skipped() {
        let mut reader = SpanReader::default();
        for cell in ["", "x", "(", "(1", "(1:", "(1:ne[", "(1:ne[a]", "(x:ne)", "9)", "(1:doc)", ",,", "(1:a b)"] {
            reader.read(cell, 0);
        }
        assert_eq!(reader.finish(1), []);
    }

    #[test]
    fn values_are_encoded() {
        for value in ["", "_", "a|b", "50 %", "%2", "%é", "x=y;[z],(w)"] {
            let mut text = String::new();
            encode(value, &mut text);
            assert_eq!(decode(&text), value);
            assert!(!text.contains(['|', ',', ';', '=']) && text != "_", "{text}");
        }
    }
}
