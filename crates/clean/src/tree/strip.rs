//! Text extraction without structure, for markup past the parser's limits.

use html5ever::tendril::StrTendril;
use html5ever::{LocalName, QualName, local_name, ns};
use memchr::memchr;

use super::sink::Sink;
use super::{Data, NodeId, is_inline};

/// Maximum number of paragraphs; further text goes into the last one.
const MAX_PARAGRAPHS: usize = 20_000;

/// Appends the rest of a page as plain paragraphs.
pub(super) fn append(sink: &Sink, html: &str) {
    let body = sink.body();
    let mut paragraph = String::new();
    let mut count = 0;
    let mut rest = html;
    while !rest.is_empty() {
        let open = memchr(b'<', rest.as_bytes()).unwrap_or(rest.len());
        paragraph.push_str(&rest[..open]);
        rest = &rest[open..];
        let Some(tag) = Tag::read(rest) else {
            let step = rest.chars().next().map_or(0, char::len_utf8);
            paragraph.push_str(&rest[..step]);
            rest = &rest[step..];
            continue;
        };
        if tag.breaks && count == MAX_PARAGRAPHS {
            paragraph.push(' ');
        } else if tag.breaks {
            count += usize::from(flush(sink, body, &mut paragraph));
        }
        rest = &rest[tag.length..];
    }
    flush(sink, body, &mut paragraph);
}

fn flush(sink: &Sink, body: NodeId, paragraph: &mut String) -> bool {
    let filled = !paragraph.trim().is_empty();
    if filled {
        let name = QualName::new(None, ns!(html), local_name!("p"));
        let element = sink.create(Data::Element(name, Vec::new()));
        sink.link(body, element);
        sink.append_text(element, StrTendril::from_slice(&decode_entities(paragraph)));
    }
    paragraph.clear();
    filled
}

struct Tag {
    length: usize,
    breaks: bool,
}

impl Tag {
    /// Reads the tag, comment or raw text element at the start of `rest`.
    fn read(rest: &str) -> Option<Tag> {
        let bytes = rest.as_bytes();
        if bytes.starts_with(b"<!--") {
            let length = memchr::memmem::find(bytes, b"-->").map_or(bytes.len(), |end| end + 3);
            return Some(Tag { length, breaks: false });
        }
        let closing = bytes.get(1) == Some(&b'/');
        let start = if closing { 2 } else { 1 };
        if !bytes.get(start).is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'!' || *byte == b'?') {
            return None;
        }
        let name_length =
            bytes[start..].iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'-').count();
        let name = rest[start..start + name_length.min(32)].to_ascii_lowercase();
        let end = memchr(b'>', bytes).map_or(bytes.len(), |close| close + 1);
        if !closing && matches!(name.as_str(), "script" | "style") {
            let close = format!("</{name}");
            let inner = memchr::memmem::find(&bytes[end..], close.as_bytes()).map_or(bytes.len(), |at| end + at);
            return Some(Tag { length: inner, breaks: false });
        }
        Some(Tag { length: end, breaks: !is_inline(&LocalName::from(name)) })
    }
}

/// Decodes the most common references, which is enough for unstructured text.
fn decode_entities(text: &str) -> String {
    if !text.contains('&') {
        return text.to_owned();
    }
    let mut plain = text.to_owned();
    for (reference, character) in
        [("&nbsp;", " "), ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")]
    {
        plain = plain.replace(reference, character);
    }
    plain
}
