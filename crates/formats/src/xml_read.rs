//! Pull parser of XML: tags, attributes and text in bounded memory, without external entities.

use std::io::{BufRead, Read as _};
use std::path::{Path, PathBuf};

use crate::error::{Context, Error, Result};

/// The maximum size of a tag or a piece of text.
const MAX_ITEM_BYTES: usize = 1 << 20;
/// The maximum number of attributes of an element; further ones are ignored.
const MAX_ATTRIBUTES: usize = 256;

/// A part of an XML file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum XmlEvent {
    /// An element begins; an empty element also ends.
    Start {
        /// Its name with its prefix.
        name: String,
        /// Its attributes with their prefixes.
        attributes: Vec<(String, String)>,
        /// True for `<name/>`.
        is_empty: bool,
    },
    /// An element ends.
    End(String),
    /// Text between tags. Long text comes in pieces.
    Text(String),
}

/// Reads events from an XML file.
pub(crate) struct XmlReader<R> {
    input: R,
    path: PathBuf,
    line: u64,
    bytes: Vec<u8>,
    is_in_tag: bool,
}

impl<R: BufRead> XmlReader<R> {
    pub(crate) fn new(input: R, path: &Path) -> XmlReader<R> {
        XmlReader { input, path: path.to_owned(), line: 1, bytes: Vec::new(), is_in_tag: false }
    }

    /// An error at the present line.
    pub(crate) fn fault(&self, fault: impl Into<String>) -> Error {
        Error::Line { path: self.path.clone(), line: self.line, fault: fault.into() }
    }

    /// The next event; `None` at the end. Comments, instructions and declarations are skipped.
    pub(crate) fn next_event(&mut self) -> Result<Option<XmlEvent>> {
        loop {
            self.bytes.clear();
            if !self.is_in_tag {
                let limit = MAX_ITEM_BYTES as u64;
                let read = self.input.by_ref().take(limit).read_until(b'<', &mut self.bytes);
                if read.context("read", &self.path)? == 0 {
                    return Ok(None);
                }
                self.is_in_tag = self.bytes.last() == Some(&b'<');
                if self.is_in_tag {
                    self.bytes.pop();
                }
                self.count_lines();
                if !self.bytes.is_empty() {
                    return Ok(Some(XmlEvent::Text(unescape(&String::from_utf8_lossy(&self.bytes)))));
                }
                continue;
            }
            self.read_tag()?;
            self.is_in_tag = false;
            self.count_lines();
            let tag = String::from_utf8_lossy(&self.bytes).into_owned();
            if let Some(text) = tag.strip_prefix("![CDATA[").and_then(|text| text.strip_suffix("]]>")) {
                return Ok(Some(XmlEvent::Text(text.to_owned())));
            }
            if tag.starts_with(['!', '?']) {
                continue;
            }
            return self.element(&tag).map(Some);
        }
    }

    /// Reads to the end of a tag.
    fn read_tag(&mut self) -> Result<()> {
        loop {
            let limit = (MAX_ITEM_BYTES + 1 - self.bytes.len()) as u64;
            let read = self.input.by_ref().take(limit).read_until(b'>', &mut self.bytes).context("read", &self.path)?;
            if self.bytes.len() > MAX_ITEM_BYTES {
                return Err(self.fault(format!("a tag is longer than {MAX_ITEM_BYTES} bytes")));
            }
            if read == 0 {
                return Err(self.fault("the file ends inside of a tag"));
            }
            if is_whole_tag(&self.bytes) {
                return Ok(());
            }
        }
    }

    fn count_lines(&mut self) {
        self.line += memchr::memchr_iter(b'\n', &self.bytes).count() as u64;
    }

    fn element(&self, tag: &str) -> Result<XmlEvent> {
        let inside = tag.strip_suffix('>').unwrap_or(tag);
        if let Some(name) = inside.strip_prefix('/') {
            return Ok(XmlEvent::End(name.trim().to_owned()));
        }
        let (inside, is_empty) = inside.strip_suffix('/').map_or((inside, false), |inside| (inside, true));
        let name = inside.split(char::is_whitespace).next().unwrap_or_default();
        let mut attributes = Vec::new();
        let mut rest = inside[name.len()..].trim_start();
        while !rest.is_empty() && attributes.len() < MAX_ATTRIBUTES {
            let (key, after) =
                rest.split_once('=').ok_or_else(|| self.fault(format!("<{name}>: “{rest}” is no attribute")))?;
            let after = after.trim_start();
            let quote = after.chars().next().filter(|quote| matches!(quote, '"' | '\''));
            let value = quote.and_then(|quote| after[1..].split_once(quote));
            let (value, after) =
                value.ok_or_else(|| self.fault(format!("<{name}>: the value of {} is not quoted", key.trim())))?;
            attributes.push((key.trim().to_owned(), unescape(value)));
            rest = after.trim_start();
        }
        Ok(XmlEvent::Start { name: name.to_owned(), attributes, is_empty })
    }
}

/// Whether the bytes after `<` are a whole tag: `>` may be inside of a value or a comment.
fn is_whole_tag(bytes: &[u8]) -> bool {
    if bytes.starts_with(b"!--") {
        return bytes.len() >= 6 && bytes.ends_with(b"-->");
    }
    if bytes.starts_with(b"![CDATA[") {
        return bytes.ends_with(b"]]>");
    }
    if bytes.starts_with(b"?") {
        return bytes.ends_with(b"?>");
    }
    let (mut quote, mut depth) = (None, 0i64);
    for byte in bytes {
        match (quote, byte) {
            (Some(open), byte) if open == *byte => quote = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'') => quote = Some(*byte),
            // The internal subset of a document type.
            (None, b'[') => depth += 1,
            (None, b']') => depth -= 1,
            (None, _) => {}
        }
    }
    quote.is_none() && depth <= 0
}

/// Replaces character references and the five predefined entities; others are kept.
fn unescape(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        plain.push_str(&rest[..at]);
        rest = &rest[at..];
        let entity = rest[1..].split_once(';').map(|(name, _)| name).filter(|name| name.len() <= 10);
        let char = entity.and_then(|name| match name {
            "amp" => Some('&'),
            "lt" => Some('<'),
            "gt" => Some('>'),
            "quot" => Some('"'),
            "apos" => Some('\''),
            _ => {
                let number = name.strip_prefix('#')?;
                let code = match number.strip_prefix(['x', 'X']) {
                    Some(hex) => u32::from_str_radix(hex, 16),
                    None => number.parse(),
                };
                char::from_u32(code.ok()?)
            }
        });
        match (entity, char) {
            (Some(name), Some(char)) => {
                plain.push(char);
                rest = &rest[name.len() + 2..];
            }
            _ => {
                plain.push('&');
                rest = &rest[1..];
            }
        }
    }
    plain.push_str(rest);
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> std::result::Result<Vec<XmlEvent>, String> {
        let mut reader = XmlReader::new(text.as_bytes(), Path::new("a.xml"));
        let mut events = Vec::new();
        while let Some(event) = reader.next_event().map_err(|error| error.to_string())? {
            events.push(event);
        }
        Ok(events)
    }

    #[test]
    fn tags_attributes_and_text_are_read() {
        let text = "<?xml version='1.0'?><!DOCTYPE a [<!ENTITY b \"c\">]>\n<a b='1 > 0' c:d = \"&lt;&#x41;&b;\"><!-- <x> -->x &amp; y<e/>\
            <![CDATA[<z>]]></a >";
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let start = |name: &str, attributes, is_empty| XmlEvent::Start { name: name.to_owned(), attributes, is_empty };
        let expected = [
            XmlEvent::Text("\n".into()),
            start("a", vec![pair("b", "1 > 0"), pair("c:d", "<A&b;")], false),
            XmlEvent::Text("x & y".into()),
            start("e", vec![], true),
            XmlEvent::Text("<z>".into()),
            XmlEvent::End("a".into()),
        ];
        assert_eq!(read(text).unwrap(), expected);
    }

    #[test]
    fn errors_have_a_line() {
        assert_eq!(read("<a>\n<b c>").unwrap_err(), "a.xml, line 2: <b>: “c” is no attribute");
        assert!(read("<a b=c>").unwrap_err().contains("the value of b is not quoted"));
        assert!(read("x\n<a b='").unwrap_err().contains("line 2: the file ends inside of a tag"));
        assert!(read(&format!("<a b='{}'>", "x".repeat(MAX_ITEM_BYTES))).unwrap_err().contains("longer than"));
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_or_rejected(text in "[<>/a!?&;#x='\" \\-\\[\\]\n]{0,40}") {
            let _ = read(&text);
        }
    }
}
