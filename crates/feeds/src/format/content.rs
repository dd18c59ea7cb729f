//! The contents of elements: from raw markup to strings, with their content type.

use std::borrow::Cow;

use crate::entity::{self, Declared};
use crate::html;
use crate::markup::{Attributes, Token, Tokens};
use crate::repairs::Repairs;

/// The content type of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ContentKind {
    /// Plain text.
    Text,
    /// Escaped HTML.
    Html,
    /// Unescaped markup inside the element.
    Xhtml,
    /// Undeclared, as in RSS titles.
    Guess,
    /// Base64-encoded text or HTML.
    Base64 {
        /// True for HTML.
        html: bool,
    },
}

impl ContentKind {
    /// The content type given by the Atom attributes `type` and `mode`, or the default.
    pub(super) fn of(attributes: &str, usual: ContentKind) -> ContentKind {
        if attributes.is_empty() {
            return usual;
        }
        let mode = Attributes::get(attributes, "mode").map(str::trim);
        if mode.is_some_and(|mode| mode.eq_ignore_ascii_case("base64")) {
            let html = Attributes::get(attributes, "type").is_some_and(|kind| kind.contains("html"));
            return ContentKind::Base64 { html };
        }
        let Some(kind) = Attributes::get(attributes, "type") else {
            // In Atom 0.3 the default type is text/plain, but the modes imply markup.
            return match mode {
                Some(mode) if mode.eq_ignore_ascii_case("xml") && usual == ContentKind::Text => ContentKind::Xhtml,
                _ => usual,
            };
        };
        let kind = kind.trim().to_ascii_lowercase();
        let kind = kind.split(';').next().unwrap_or("").trim();
        match kind {
            "" => usual,
            "text" | "text/plain" | "plain" => {
                if usual == ContentKind::Guess {
                    ContentKind::Guess
                } else {
                    ContentKind::Text
                }
            }
            "html" | "text/html" => ContentKind::Html,
            "xhtml" | "application/xhtml+xml" => ContentKind::Xhtml,
            other if other.ends_with("+xml") || other.ends_with("/xml") => ContentKind::Xhtml,
            other if other.starts_with("text/") => ContentKind::Text,
            other if other.contains('/') && !other.ends_with("/json") => ContentKind::Base64 { html: false },
            _ => usual,
        }
    }
}

/// A string that is plain text or HTML.
#[derive(Debug, Default)]
pub(super) struct RichText<'a> {
    pub(super) value: Cow<'a, str>,
    pub(super) is_html: bool,
}

impl RichText<'_> {
    /// The visible text.
    pub(super) fn plain(&self) -> String {
        if self.is_html { html::to_text(&self.value) } else { html::collapse(&self.value) }
    }

    /// The HTML, if it has more than the visible text.
    pub(super) fn markup(&self) -> Option<String> {
        (self.is_html && self.value.contains('<')).then(|| self.value.trim().to_string())
    }

    /// The text as HTML, escaped if it is plain.
    pub(super) fn html(self) -> String {
        let trimmed = self.value.trim();
        if self.is_html || !trimmed.contains(['<', '&']) {
            return match self.value {
                Cow::Owned(value) if value.len() == trimmed.len() => value,
                ref value => value.trim().to_string(),
            };
        }
        let mut out = String::with_capacity(trimmed.len() + 16);
        html::escape_into(trimmed, &mut out);
        out
    }
}

/// The contents between a start tag and its end tag.
#[derive(Debug, Default)]
pub(super) struct ElementContent<'a> {
    /// The only text token, in the common case.
    only: Option<Token<'a>>,
    /// True if there are several text tokens.
    several: bool,
    /// True if there are child elements.
    pub(super) markup: bool,
}

impl<'a> ElementContent<'a> {
    /// Adds a text token.
    pub(super) fn text(&mut self, token: Token<'a>) {
        let blank = match token {
            Token::Text(text) => text.bytes().all(|b| b.is_ascii_whitespace()),
            _ => false,
        };
        if blank {
            return;
        }
        if self.only.is_some() {
            self.several = true;
        } else {
            self.only = Some(token);
        }
    }

    /// Adds a child element.
    pub(super) fn element(&mut self) {
        self.markup = true;
        self.several = true;
    }

    /// Marks the raw text as shortened, or as containing a delimiter to drop, so that it must be tokenized again.
    pub(super) fn cut(&mut self) {
        self.several = true;
    }

    /// The text without elements: for URLs, names and dates.
    pub(super) fn plain(&self, raw: &'a str, declared: &Declared, repairs: &mut Repairs) -> Cow<'a, str> {
        match self.only {
            None => Cow::Borrowed(""),
            Some(Token::Text(text)) if !self.several => entity::unescape(text.trim(), declared, repairs),
            Some(Token::Cdata(text)) if !self.several => Cow::Borrowed(text.trim()),
            _ => {
                let mut out = String::with_capacity(raw.len());
                let mut tokens = Tokens::of_fragment(raw);
                while let Some(token) = tokens.next("") {
                    match token {
                        Token::Text(text) => entity::unescape_into(text, declared, &mut out, repairs),
                        Token::Cdata(text) => out.push_str(text),
                        _ => {}
                    }
                }
                Cow::Owned(out.trim().to_string())
            }
        }
    }

    /// The text with its elements, as plain text or HTML.
    pub(super) fn prose(
        &self,
        raw: &'a str,
        kind: ContentKind,
        declared: &Declared,
        repairs: &mut Repairs,
    ) -> RichText<'a> {
        if let ContentKind::Base64 { html } = kind {
            let text = self.plain(raw, declared, repairs);
            return match decode_base64(&text) {
                Some(text) => {
                    let is_html = html || html::looks_like_html(&text);
                    RichText { value: Cow::Owned(text), is_html }
                }
                None => RichText::default(),
            };
        }
        let mut is_html = kind == ContentKind::Html || kind == ContentKind::Xhtml;
        let value = match self.only {
            None if !self.markup => Cow::Borrowed(""),
            Some(Token::Text(text)) if !self.several => {
                // XHTML without elements is still markup: keep its references.
                if kind == ContentKind::Xhtml && !text.contains("&lt;") {
                    Cow::Borrowed(text)
                } else {
                    entity::unescape(text, declared, repairs)
                }
            }
            Some(Token::Cdata(text)) if !self.several => Cow::Borrowed(text),
            _ => {
                is_html |= self.markup;
                Cow::Owned(reassemble(raw, kind == ContentKind::Xhtml, declared, repairs))
            }
        };
        let value = match html::undo_double_encoding(&value, repairs) {
            Some(once) => Cow::Owned(once),
            None => value,
        };
        if !is_html && kind == ContentKind::Guess {
            is_html = html::looks_like_html(&value);
        }
        RichText { value, is_html }
    }
}

/// Reassembles text and elements as HTML.
///
/// Up to the first element the text is escaped HTML; after it, references are those of the surrounding markup and are
/// kept.
fn reassemble(raw: &str, xhtml: bool, declared: &Declared, repairs: &mut Repairs) -> String {
    let mut out = String::with_capacity(raw.len());
    let mut inline = xhtml;
    let mut tokens = Tokens::of_fragment(raw);
    while let Some(token) = tokens.next("") {
        match token {
            Token::Text(text) if inline => out.push_str(text),
            Token::Text(text) => entity::unescape_into(text, declared, &mut out, repairs),
            Token::Cdata(text) if inline && xhtml => html::escape_into(text, &mut out),
            Token::Cdata(text) => out.push_str(text),
            Token::Start { name, attributes, empty } => {
                inline = true;
                out.push('<');
                out.push_str(local(name));
                out.push_str(attributes);
                out.push_str(if empty { "/>" } else { ">" });
            }
            // An end tag before the first start tag is stray.
            Token::End { name } if inline => {
                out.push_str("</");
                out.push_str(local(name));
                out.push('>');
            }
            _ => {}
        }
    }
    out
}

/// The local name without its prefix.
pub(super) fn local(name: &str) -> &str {
    name.rsplit_once(':').map_or(name, |(_, local)| local)
}

/// Decodes Base64 (MIME) to text; other content is ignored.
fn decode_base64(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut held) = (0u32, 0u32);
    for byte in text.bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            b'=' => break,
            b if b.is_ascii_whitespace() => continue,
            _ => return None,
        };
        bits = bits << 6 | u32::from(value);
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
        }
    }
    let text = String::from_utf8(bytes).ok()?;
    (!text.contains(|c: char| c.is_control() && !c.is_whitespace())).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_gives_text_or_nothing() {
        assert_eq!(decode_base64("RXhhbXBs\nZSA8Yj4=").as_deref(), Some("Example <b>"));
        assert_eq!(decode_base64("AAEC"), None);
        assert_eq!(decode_base64("not base 64!"), None);
    }
}
