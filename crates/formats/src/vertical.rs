//! The vertical format of corpus managers: one token per line, structures as tags.
//!
//! ```text
//! <doc id="…" date="2026-03-01" site="gazette.example">
//! <p>
//! <s>
//! Rain<TAB>rain<TAB>NOUN<TAB>Number=Sing
//! <g/>
//! .<TAB>.<TAB>PUNCT
//! </s>
//! </p>
//! </doc>
//! ```
//!
//! Lemma, tag and features are optional. `<g/>` means that there is no white space between its neighbours. In tokens
//! and values `&`, `<`, `>` and `"` are escaped as in XML, so that a line that starts with `<` is always a tag. Reading
//! is a single pass over bytes without allocation per token, because it limits the speed of indexing.

use std::io::{self, BufRead, Read as _};
use std::path::{Path, PathBuf};

use tidings_model::{Annotated, Attributes};

use crate::error::{Context, Error, Result};

/// The maximum length of a line.
const MAX_LINE_BYTES: usize = 1 << 20;
/// The maximum number of fields of a document besides those with their own column.
pub(crate) const MAX_FIELDS: usize = 64;

/// Appends a document to `text`.
pub fn write(document: &Annotated, text: &mut String) {
    let about = &document.about;
    text.push_str("<doc");
    attribute("id", &format!("{:032x}", about.id), text);
    let own = [("url", &about.url), ("title", &about.title), ("date", &about.date), ("seen", &about.seen)];
    for (name, value) in own {
        if !value.is_empty() {
            attribute(name, value, text);
        }
    }
    for (name, value) in &about.fields {
        attribute(name, value, text);
    }
    text.push_str(">\n");
    for paragraph in &document.paragraphs {
        text.push_str("<p");
        if !paragraph.kind.is_empty() {
            attribute("kind", &paragraph.kind, text);
        }
        if !paragraph.language.is_empty() {
            attribute("lang", &paragraph.language, text);
        }
        text.push_str(">\n");
        for sentence in &paragraph.sentences {
            text.push_str("<s>\n");
            for (index, token) in sentence.iter().enumerate() {
                escape(&token.word, text);
                // Missing columns at the end of a line are omitted.
                let more = [&token.lemma, &token.tag, &token.feats];
                let known = more.iter().rposition(|column| !column.is_empty()).map_or(0, |last| last + 1);
                for column in &more[..known] {
                    text.push('\t');
                    escape(column, text);
                }
                text.push('\n');
                if !token.space_after && index + 1 < sentence.len() {
                    text.push_str("<g/>\n");
                }
            }
            text.push_str("</s>\n");
        }
        text.push_str("</p>\n");
    }
    text.push_str("</doc>\n");
}

fn attribute(name: &str, value: &str, text: &mut String) {
    text.push(' ');
    text.push_str(name);
    text.push_str("=\"");
    escape(value, text);
    text.push('"');
}

/// Escapes characters that would end a line, a column or a value.
fn escape(value: &str, text: &mut String) {
    // Nearly all words need no escaping. Control characters are below a space, or start with this byte.
    let is_plain = |byte: u8| byte >= b' ' && !matches!(byte, b'&' | b'<' | b'>' | b'"' | 0x7f | 0xc2);
    if value.bytes().all(is_plain) {
        return text.push_str(value);
    }
    for char in value.chars() {
        match char {
            '&' => text.push_str("&amp;"),
            '<' => text.push_str("&lt;"),
            '>' => text.push_str("&gt;"),
            '"' => text.push_str("&quot;"),
            char if char.is_control() => text.push(' '),
            char => text.push(char),
        }
    }
}

/// Replaces entities by their characters. Unknown entities are kept.
pub fn unescape(text: &str) -> String {
    if memchr::memchr(b'&', text.as_bytes()).is_none() {
        return text.to_owned();
    }
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        plain.push_str(&rest[..at]);
        rest = &rest[at..];
        let entity = [("&amp;", '&'), ("&lt;", '<'), ("&gt;", '>'), ("&quot;", '"')]
            .into_iter()
            .find(|(entity, _)| rest.starts_with(entity));
        let (len, char) = entity.map_or((1, '&'), |(entity, char)| (entity.len(), char));
        plain.push(char);
        rest = &rest[len..];
    }
    plain.push_str(rest);
    plain
}

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

    /// The next event; `None` at the end. Tags of other structures are skipped.
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
                Tag::Other => {}
            }
        }
        Ok(Some(Event::Token(self.text()?)))
    }

    /// The value of an attribute of the last tag, such as the kind of a paragraph.
    pub fn value(&self, name: &str) -> Option<String> {
        let line = std::str::from_utf8(&self.line).ok()?;
        let (_, rest) = line.split_once(&format!(" {name}=\""))?;
        Some(unescape(rest.split_once('"')?.0))
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
    Other,
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
        _ => Tag::Other,
    }
}

/// The attributes of a line `<doc …>`.
fn attributes(line: &str) -> std::result::Result<Attributes, String> {
    let mut about = Attributes::default();
    let mut rest = line.strip_prefix("<doc").unwrap_or_default().trim_start();
    while !rest.is_empty() && !rest.starts_with(['>', '/']) {
        let (name, after) = rest.split_once('=').ok_or_else(|| format!("“{rest}” is not an attribute"))?;
        let name = name.trim();
        let mut chars = after.chars();
        let quote = chars.next().filter(|quote| matches!(quote, '"' | '\''));
        let quote = quote.ok_or_else(|| format!("the value of {name} has no quotation marks"))?;
        let (value, after) =
            chars.as_str().split_once(quote).ok_or_else(|| format!("the value of {name} does not end"))?;
        let value = unescape(value);
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
        rest = after.trim_start();
    }
    Ok(about)
}

/// True if a string is a valid field name.
pub(crate) fn is_name(name: &str) -> bool {
    (1..=32).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Our ids are 32 hexadecimal digits; any other id is replaced by its hash.
fn id_of(value: &str) -> u128 {
    match u128::from_str_radix(value, 16) {
        Ok(id) if value.len() == 32 => id,
        _ => xxhash_rust::xxh3::xxh3_128(value.as_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use tidings_model::{AnnotatedParagraph, Token};

    /// Puts a document together from its events.
    fn read_back(text: &str) -> Vec<Annotated> {
        let mut reader = Reader::new(text.as_bytes(), Path::new("test.vert"));
        let mut documents: Vec<Annotated> = Vec::new();
        let mut glued = false;
        while let Some(event) = reader.next_event().expect("well-formed") {
            match event {
                Event::Document(about) => documents.push(Annotated { about: *about, ..Annotated::default() }),
                Event::Paragraph => {
                    documents.last_mut().expect("in a document").paragraphs.push(AnnotatedParagraph::default())
                }
                Event::Sentence => last_paragraph(&mut documents).sentences.push(Vec::new()),
                Event::Glue => glued = true,
                Event::Token(line) => {
                    let mut columns = line.split('\t').map(unescape);
                    let mut column = || columns.next().unwrap_or_default();
                    let token =
                        Token { word: column(), lemma: column(), tag: column(), feats: column(), space_after: true };
                    let sentence = last_paragraph(&mut documents).sentences.last_mut().expect("in a sentence");
                    if let Some(before) = sentence.last_mut() {
                        before.space_after = !std::mem::take(&mut glued);
                    }
                    sentence.push(token);
                }
                Event::End => {}
            }
        }
        documents
    }

    fn last_paragraph(documents: &mut [Annotated]) -> &mut AnnotatedParagraph {
        documents.last_mut().and_then(|document| document.paragraphs.last_mut()).expect("in a paragraph")
    }

    prop_compose! {
        fn token()(word in "[a-z<>&\"é]{1,4}", lemma in "[a-z&]{0,3}", tag in "[A-Z]{0,2}", feats in "(Case=Gen)?", space_after: bool) -> Token {
            Token { word, lemma, tag, feats, space_after }
        }
    }

    proptest! {
        #[test]
        fn written_documents_are_read_back(
            sentences in proptest::collection::vec(proptest::collection::vec(token(), 1..4), 1..3),
            id: u128, title in "[a-z<>&\"' ]{0,8}", site in "[a-z<>&\"']{0,8}",
        ) {
            let mut sentences = sentences;
            for sentence in &mut sentences {
                sentence.last_mut().expect("not empty").space_after = true;
            }
            let about = Attributes {
                id, title, url: "http://e.org/?a=1&b=2".into(), date: "2026-03-01".into(), seen: String::new(),
                fields: vec![("site".into(), site)],
            };
            let paragraphs = vec![AnnotatedParagraph { sentences, ..AnnotatedParagraph::default() }];
            let document = Annotated { about, paragraphs, ..Annotated::default() };
            let mut text = String::new();
            write(&document, &mut text);
            prop_assert_eq!(read_back(&text), vec![document]);
        }

        #[test]
        fn any_text_is_read_or_rejected(text in "(<doc [a-z=\"' >]{0,12}\n|<g/>\n|<[sp/]{1,2}>\n|[a-z\t&;<]{0,5}\n){0,9}") {
            let mut reader = Reader::new(text.as_bytes(), Path::new("test.vert"));
            while let Ok(Some(_)) = reader.next_event() {}
        }
    }

    #[test]
    fn every_character_is_escaped_within_its_line() {
        for char in '\0'..=char::MAX {
            let mut text = String::new();
            escape(char.encode_utf8(&mut [0; 4]), &mut text);
            assert!(!text.contains(|c: char| c.is_control() || "<>\"".contains(c)), "{char:?}");
            assert_eq!(unescape(&text), if char.is_control() { ' ' } else { char }.to_string());
        }
    }

    #[test]
    fn an_error_contains_its_line() {
        let mut reader = Reader::new("<p>\n<doc site=x>\n".as_bytes(), Path::new("a.vert"));
        assert!(matches!(reader.next_event(), Ok(Some(Event::Paragraph))));
        let fault = reader.next_event().unwrap_err().to_string();
        assert_eq!(fault, "a.vert, line 2: the value of site has no quotation marks");
    }
}
