//! Writer of the vertical format.

use tidings_model::{Annotated, LayerDeclaration, Token, TokenSpan};

use super::{LAYER_TAG, LENGTH};

/// Appends a document to `text`.
pub fn write(document: &Annotated, text: &mut String) {
    write_head(document, text);
    let mut spans = SpanWriter { rest: &document.spans, open: Vec::new() };
    let mut at = 0;
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
                spans.start(at, text);
                write_token(token, document, at as usize, text);
                at += 1;
                spans.end(at, text);
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

/// The line of the document and the declarations of its further columns.
fn write_head(document: &Annotated, text: &mut String) {
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
    for LayerDeclaration { name, kind, origin } in document.columns.iter().map(|column| &column.layer) {
        text.push('<');
        text.push_str(LAYER_TAG);
        attribute("name", name, text);
        attribute("kind", kind.name(), text);
        if !origin.is_empty() {
            attribute("origin", origin, text);
        }
        text.push_str("/>\n");
    }
}

fn write_token(token: &Token, document: &Annotated, at: usize, text: &mut String) {
    escape(&token.word, text);
    // Missing columns at the end of a line are omitted.
    let mut tabs = 1;
    let mut column = |value: &str| {
        if !value.is_empty() {
            (0..tabs).for_each(|_| text.push('\t'));
            escape(value, text);
            tabs = 0;
        }
        tabs += 1;
    };
    [&token.lemma, &token.tag, &token.feats].into_iter().for_each(|value| column(value));
    document.columns.iter().for_each(|further| column(further.values.get(at).map_or("", String::as_str)));
    text.push('\n');
}

/// Writes the tags of spans between tokens.
struct SpanWriter<'d> {
    /// Spans that have not begun, in file order.
    rest: &'d [TokenSpan],
    /// Spans whose closing tag is still to come.
    open: Vec<&'d TokenSpan>,
}

impl SpanWriter<'_> {
    /// Writes the tags of spans that start at a token.
    fn start(&mut self, at: u32, text: &mut String) {
        while let Some((span, rest)) = self.rest.split_first().filter(|(span, _)| span.start <= at) {
            self.rest = rest;
            if span.end <= at {
                continue;
            }
            text.push('<');
            text.push_str(&span.name);
            for (name, value) in &span.attributes {
                attribute(name, value, text);
            }
            // A closing tag ends the innermost span of its name.
            let around = self.open.iter().rev().find(|open| open.name == span.name);
            if around.is_some_and(|around| around.end < span.end) {
                attribute(LENGTH, &(span.end - at).to_string(), text);
                text.push_str("/>\n");
            } else {
                text.push_str(">\n");
                self.open.push(span);
            }
        }
    }

    /// Writes the closing tags of spans that end before a token, inner spans first.
    fn end(&mut self, at: u32, text: &mut String) {
        if self.open.iter().all(|span| span.end > at) {
            return;
        }
        self.open.iter().rev().filter(|span| span.end <= at).for_each(|span| {
            text.push_str("</");
            text.push_str(&span.name);
            text.push_str(">\n");
        });
        self.open.retain(|span| span.end > at);
    }
}

fn attribute(name: &str, value: &str, text: &mut String) {
    text.push(' ');
    text.push_str(name);
    text.push_str("=\"");
    escape(value, text);
    text.push('"');
}

/// Escapes characters that would end a line, a column or a value.
pub(super) fn escape(value: &str, text: &mut String) {
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
