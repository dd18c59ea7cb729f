//! A lenient tokenizer for XML and HTML.
//!
//! It borrows from the input, jumps from `<` to `<` and treats anything that is not a tag as text. It is linear on
//! hostile input: a search that failed is never repeated, and text skipped in search of the end of a tag contains
//! no start of another one.

use memchr::{memchr, memchr2, memchr3, memmem};
use tidings_model::Repair;

use crate::repairs::Repairs;

/// A markup token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Token<'a> {
    /// `<name attributes>`.
    Start { name: &'a str, attributes: &'a str, empty: bool },
    /// `</name>`.
    End { name: &'a str },
    /// Text with unresolved references.
    Text(&'a str),
    /// The contents of a CDATA section.
    Cdata(&'a str),
    /// A complete document type declaration.
    Doctype(&'a str),
    /// A processing instruction, without delimiters.
    Instruction(&'a str),
}

/// The tokenizer.
#[derive(Debug, Clone)]
pub(crate) struct Tokens<'a> {
    text: &'a str,
    /// True if the text is a fragment of a larger document.
    fragment: bool,
    /// True if the text is HTML.
    page: bool,
    at: usize,
    /// The start of the current token.
    began: usize,
    no_comment_end: bool,
    had_doctype: bool,
    cdata_end: MarkPosition,
    instruction_end: MarkPosition,
    /// The number of nested CDATA sections that are still open.
    cdata_debt: usize,
    /// The length of the rest of an outer section after an inner one.
    cdata_tail: Option<usize>,
    pub(crate) repairs: Repairs,
}

impl<'a> Tokens<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Tokens {
            text,
            fragment: false,
            page: false,
            at: 0,
            began: 0,
            no_comment_end: false,
            had_doctype: false,
            cdata_end: MarkPosition::Unknown,
            instruction_end: MarkPosition::Unknown,
            cdata_debt: 0,
            cdata_tail: None,
            repairs: Repairs::default(),
        }
    }

    /// Tokenizes a fragment, where an incomplete tag at the end is not a truncated tag.
    pub(crate) fn of_fragment(text: &'a str) -> Self {
        Tokens { fragment: true, ..Tokens::new(text) }
    }

    /// Tokenizes HTML, where a slash may be part of an unquoted attribute value.
    pub(crate) fn of_page(text: &'a str) -> Self {
        Tokens { page: true, ..Tokens::new(text) }
    }

    /// The position after the last token.
    pub(crate) fn position(&self) -> usize {
        self.at
    }

    /// The start of the last token.
    pub(crate) fn token_start(&self) -> usize {
        self.began
    }

    /// Skips the contents of a raw text element, such as a script.
    pub(crate) fn skip_to_end_of(&mut self, name: &str) {
        let rest = &self.text[self.at..];
        self.at += end_of(name, rest).unwrap_or(rest.len());
    }

    /// The next token, or `None` at the end. `open` is the enclosing element, if known: an unclosed CDATA section
    /// ends at its end tag.
    pub(crate) fn next(&mut self, open: &str) -> Option<Token<'a>> {
        if let Some(length) = self.cdata_tail.take() {
            let from = self.at;
            self.began = from;
            self.at += length + "]]>".len();
            return Some(Token::Cdata(&self.text[from..from + length]));
        }
        loop {
            self.began = self.at;
            let rest = &self.text.as_bytes()[self.at..];
            if rest.is_empty() {
                return None;
            }
            if rest[0] != b'<' {
                return Some(self.text_until(memchr(b'<', rest).unwrap_or(rest.len())));
            }
            match rest.get(1) {
                Some(b'/') => {
                    if let Some(token) = self.end_tag() {
                        return Some(token);
                    }
                }
                Some(b'!') if rest.starts_with(b"<!--") => {
                    self.skip_comment();
                    continue;
                }
                Some(b'!') if rest.starts_with(b"<![CDATA[") => return Some(self.cdata(open)),
                Some(b'!') => {
                    if let Some(token) = self.declaration() {
                        return Some(token);
                    }
                }
                Some(b'?') => return Some(self.instruction()),
                Some(b) if is_name_start(*b) => {
                    if let Some(token) = self.start_tag() {
                        return Some(token);
                    }
                }
                _ => {}
            }
            // A `<` that starts no tag.
            self.repairs.add(Repair::BareLessThan);
            let end = memchr(b'<', &rest[1..]).map_or(rest.len(), |next| next + 1);
            return Some(self.text_until(end));
        }
    }

    fn text_until(&mut self, length: usize) -> Token<'a> {
        let from = self.at;
        self.at += length;
        Token::Text(&self.text[from..self.at])
    }

    fn end_tag(&mut self) -> Option<Token<'a>> {
        let rest = &self.text[self.at..];
        let bytes = rest.as_bytes();
        let length = bytes[2..].iter().position(|b| !is_name_byte(*b)).unwrap_or(bytes.len() - 2);
        if length == 0 {
            return None;
        }
        let name = &rest[2..2 + length];
        let behind = &bytes[2 + length..];
        let end = match memchr2(b'>', b'<', behind) {
            Some(end) if behind[end] == b'>' => end + 1,
            Some(end) => {
                self.repairs.add(Repair::BrokenTag);
                end
            }
            None => {
                self.repairs.add(Repair::Truncated);
                behind.len()
            }
        };
        self.at += 2 + length + end;
        Some(Token::End { name })
    }

    fn start_tag(&mut self) -> Option<Token<'a>> {
        let rest = &self.text[self.at..];
        let bytes = rest.as_bytes();
        let mut at = 1 + bytes[1..].iter().position(|b| !is_name_byte(*b)).unwrap_or(bytes.len() - 1);
        let name = &rest[1..at];
        let attributes_from = at;
        let mut quoted = false;
        loop {
            let Some(step) = bytes.get(at..).and_then(|b| memchr3(b'>', b'<', b'=', b)) else {
                // End of input: an incomplete tag with attributes is a truncated tag.
                if self.fragment && !quoted {
                    return None;
                }
                self.repairs.add(Repair::Truncated);
                self.at += rest.len();
                return Some(if quoted {
                    Token::Start { name, attributes: &rest[attributes_from..], empty: false }
                } else {
                    Token::Text("")
                });
            };
            at += step;
            match bytes[at] {
                b'>' => {
                    let empty = at > attributes_from
                        && bytes[at - 1] == b'/'
                        && !(self.page && ends_in_bare_value(&bytes[attributes_from..at - 1]));
                    let attributes = &rest[attributes_from..at - usize::from(empty)];
                    self.at += at + 1;
                    return Some(Token::Start { name, attributes, empty });
                }
                b'<' if quoted => {
                    self.repairs.add(Repair::BrokenTag);
                    self.at += at;
                    return Some(Token::Start { name, attributes: &rest[attributes_from..at], empty: false });
                }
                b'<' => return None,
                _ => {
                    let value = at + 1 + bytes[at + 1..].iter().take_while(|b| b.is_ascii_whitespace()).count();
                    at = match bytes.get(value) {
                        Some(quote @ (b'"' | b'\'')) => match self.quoted_end(bytes, value, *quote) {
                            Some(end) => {
                                quoted = true;
                                end
                            }
                            None => value + 1,
                        },
                        _ => at + 1,
                    };
                }
            }
        }
    }

    /// The position after a quoted value, or `None` if the closing quote is missing.
    fn quoted_end(&mut self, bytes: &[u8], open: usize, quote: u8) -> Option<usize> {
        let value = &bytes[open + 1..];
        // Each search starts at a quote and ends at the next, so all searches together are linear.
        let Some(length) = memchr(quote, value) else {
            self.repairs.add(Repair::BrokenTag);
            return None;
        };
        let end = open + 1 + length + 1;
        let plausible =
            matches!(bytes.get(end), None | Some(b'>' | b'/' | b'?' | b'<')) || bytes[end].is_ascii_whitespace();
        if !plausible && memchr2(b'<', b'>', &value[..length]).is_some() {
            // This quote opens the value of a later tag.
            self.repairs.add(Repair::BrokenTag);
            return None;
        }
        Some(end)
    }

    fn skip_comment(&mut self) {
        let rest = &self.text.as_bytes()[self.at..];
        let end = if self.no_comment_end { None } else { memmem::find(&rest[4..], b"-->") };
        match end {
            Some(end) => self.at += 4 + end + 3,
            None => {
                // Parse an unclosed comment as markup instead of losing the rest of the feed.
                self.no_comment_end = true;
                self.repairs.add(Repair::BrokenComment);
                self.at += 4;
            }
        }
    }

    fn cdata(&mut self, open: &str) -> Token<'a> {
        const MARK: usize = "<![CDATA[".len();
        let inside = &self.text[self.at + MARK..];
        let Some(end) = self.find_cdata_end(self.at + MARK).map(|end| end - self.at - MARK) else {
            self.repairs.add(Repair::BrokenCdata);
            return self.open_cdata(inside, inside.len(), open);
        };
        let section = &inside[..end];
        if let Some(nested) = memmem::find(section.as_bytes(), b"<![CDATA[") {
            self.repairs.add(Repair::BrokenCdata);
            if end_of(open, &section[..nested]).is_some() {
                return self.open_cdata(inside, nested, open);
            }
            self.cdata_debt += 1;
            self.at += MARK + nested;
            return Token::Cdata(&section[..nested]);
        }
        self.at += MARK + end + "]]>".len();
        if self.cdata_debt > 0 {
            // The text after the inner section is part of the outer one, if that is ever closed.
            self.cdata_debt -= 1;
            if let Some(end) = self.find_cdata_end(self.at) {
                let behind = &self.text[self.at..end];
                let ours = end_of(open, behind).is_none() && memmem::find(behind.as_bytes(), b"<![CDATA[").is_none();
                self.cdata_tail = ours.then_some(behind.len());
            }
        }
        Token::Cdata(section)
    }

    /// The next `]]>` from a position on, cached until passed.
    fn find_cdata_end(&mut self, from: usize) -> Option<usize> {
        next_mark(&mut self.cdata_end, self.text, from, b"]]>")
    }

    /// An unclosed CDATA section of at most `limit` bytes.
    fn open_cdata(&mut self, inside: &'a str, limit: usize, open: &str) -> Token<'a> {
        let length = end_of(open, &inside[..limit]).unwrap_or(limit);
        self.at += "<![CDATA[".len() + length;
        Token::Cdata(&inside[..length])
    }

    fn declaration(&mut self) -> Option<Token<'a>> {
        let rest = &self.text[self.at..];
        let bytes = rest.as_bytes();
        let is_doctype = bytes.get(2..9).is_some_and(|b| b.eq_ignore_ascii_case(b"doctype"));
        if !is_doctype {
            // `<!>`, `<!ELEMENT …>`, `<![endif]-->`: ignored markup.
            let end = memchr2(b'>', b'<', &bytes[1..])?;
            if bytes[1 + end] == b'<' {
                return None;
            }
            self.at += end + 2;
            return Some(Token::Text(""));
        }
        let first = memchr2(b'[', b'>', bytes);
        let end = match first {
            // Only the first declaration may have a subset, or searching for its end would be quadratic.
            Some(at) if bytes[at] == b'[' && !self.had_doctype => memmem::find(&bytes[at..], b"]>")
                .map(|end| at + end + 2)
                .or_else(|| closing_bracket(bytes, at))
                .or_else(|| memchr(b'>', bytes).map(|end| end + 1)),
            Some(at) => memchr(b'>', &bytes[at..]).map(|end| at + end + 1),
            None => None,
        };
        self.had_doctype = true;
        let Some(end) = end else {
            self.repairs.add(Repair::BrokenComment);
            self.at += "<!DOCTYPE".len();
            return Some(Token::Text(""));
        };
        self.at += end;
        Some(Token::Doctype(&rest[..end]))
    }

    fn instruction(&mut self) -> Token<'a> {
        let rest = &self.text[self.at..];
        let bytes = rest.as_bytes();
        let end = next_mark(&mut self.instruction_end, self.text, self.at, b"?>");
        let end = end.map(|end| end - self.at);
        // It ends at `?>` or, if that is missing, at `>` or the next tag.
        let next = memchr(b'<', &bytes[1..]).map_or(rest.len(), |next| 1 + next);
        let (end, mark) = match (end, memchr(b'>', &bytes[..next])) {
            (Some(end), _) if end < next => (end, 2),
            (_, close) => {
                self.repairs.add(Repair::BrokenTag);
                close.map_or((next, 0), |close| (close, 1))
            }
        };
        self.at += end + mark;
        Token::Instruction(&rest[2.min(end)..end])
    }
}

/// The cached position of a closing delimiter, so that no text is searched twice for it.
#[derive(Debug, Clone, Copy)]
enum MarkPosition {
    Unknown,
    At(usize),
    Nowhere,
}

fn next_mark(known: &mut MarkPosition, text: &str, from: usize, mark: &[u8]) -> Option<usize> {
    match *known {
        MarkPosition::At(at) if at >= from => return Some(at),
        MarkPosition::Nowhere => return None,
        _ => {}
    }
    let found = memmem::find(&text.as_bytes()[from..], mark).map(|at| from + at);
    *known = found.map_or(MarkPosition::Nowhere, MarkPosition::At);
    found
}

/// Returns true if the last attribute value of a tag is unquoted, so that a slash is part of it.
fn ends_in_bare_value(attributes: &[u8]) -> bool {
    let last = attributes.rsplit(u8::is_ascii_whitespace).next().unwrap_or_default();
    !last.ends_with(b"\"") && !last.ends_with(b"'") && last.contains(&b'=')
}

/// Finds `]   >`, which also closes an internal subset.
fn closing_bracket(bytes: &[u8], from: usize) -> Option<usize> {
    let close = from + memchr(b']', &bytes[from..])?;
    let behind = &bytes[close + 1..];
    let spaces = behind.iter().take_while(|b| b.is_ascii_whitespace()).count();
    (behind.get(spaces) == Some(&b'>')).then_some(close + spaces + 2)
}

/// The position of an element's end tag.
fn end_of(name: &str, text: &str) -> Option<usize> {
    if name.is_empty() {
        return None;
    }
    let bytes = text.as_bytes();
    memmem::find_iter(bytes, b"</").find(|at| {
        let behind = &bytes[at + 2..];
        behind.len() >= name.len() && behind[..name.len()].eq_ignore_ascii_case(name.as_bytes())
    })
}

/// Returns true for bytes that may start a tag name; letters of any script may.
fn is_name_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b':') || byte >= 0x80
}

/// Iterates over the attributes of a tag, without unescaping values.
pub(crate) struct Attributes<'a>(&'a str);

impl<'a> Attributes<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Attributes(text)
    }

    /// The value of the first attribute with this name, ignoring case.
    pub(crate) fn get(text: &'a str, name: &str) -> Option<&'a str> {
        Attributes(text).find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }
}

impl<'a> Iterator for Attributes<'a> {
    type Item = (&'a str, &'a str);

    fn next(&mut self) -> Option<(&'a str, &'a str)> {
        loop {
            let text = self.0.trim_start_matches(|c: char| c.is_ascii_whitespace() || matches!(c, '/' | '"' | '\''));
            if text.is_empty() {
                self.0 = "";
                return None;
            }
            let bytes = text.as_bytes();
            let end =
                bytes.iter().position(|b| b.is_ascii_whitespace() || matches!(b, b'=' | b'/')).unwrap_or(bytes.len());
            let name = &text[..end];
            let rest = text[end..].trim_start_matches(|c: char| c.is_ascii_whitespace());
            let Some(rest) = rest.strip_prefix('=') else {
                // An attribute without a value, as in HTML. Skip a stray delimiter.
                self.0 = if end == 0 { &text[1..] } else { rest };
                if end == 0 {
                    continue;
                }
                return Some((name, ""));
            };
            let rest = rest.trim_start_matches(|c: char| c.is_ascii_whitespace());
            let quote = rest.bytes().next().filter(|b| matches!(b, b'"' | b'\''));
            let (value, rest) = match quote {
                Some(quote) => match memchr(quote, &rest.as_bytes()[1..]) {
                    Some(end) => (&rest[1..1 + end], &rest[end + 2..]),
                    None => (&rest[1..], ""),
                },
                None => {
                    let end = rest.bytes().position(|b| b.is_ascii_whitespace()).unwrap_or(rest.len());
                    (&rest[..end], &rest[end..])
                }
            };
            self.0 = rest;
            return Some((name, value));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Vec<String> {
        let mut tokens = Tokens::new(text);
        let mut out = Vec::new();
        while let Some(token) = tokens.next("title") {
            out.push(match token {
                Token::Start { name, attributes, empty } => {
                    let attributes: Vec<_> = Attributes::new(attributes).map(|(k, v)| format!("{k}={v}")).collect();
                    format!("<{name}[{}]{}", attributes.join(","), if empty { "/" } else { "" })
                }
                Token::End { name } => format!("/{name}"),
                Token::Text(text) => text.to_string(),
                Token::Cdata(text) => format!("C:{text}"),
                Token::Doctype(_) => "D".to_string(),
                Token::Instruction(text) => format!("?{text}"),
            });
        }
        out.retain(|t| !t.is_empty());
        out
    }

    #[test]
    fn well_formed_markup_is_tokenized() {
        assert_eq!(
            tokens("<?xml version='1.0'?><a b=\"1\" c='2>3'>x<!-- <no> --><d/>y<![CDATA[<z>]]></a >"),
            ["?xml version='1.0'", "<a[b=1,c=2>3]", "x", "<d[]/", "y", "C:<z>", "/a"]
        );
    }

    #[test]
    fn a_less_than_sign_that_starts_no_tag_is_text() {
        assert_eq!(tokens("<a>1 < 2 <3 <x and y</a>"), ["<a[]", "1 ", "< 2 ", "<3 ", "<x and y", "/a"]);
    }

    #[test]
    fn attribute_values_may_be_unquoted() {
        assert_eq!(tokens("<a b=1 c d = '2' e=http://x/y/>"), ["<a[b=1,c=,d=2,e=http://x/y]/"]);
        assert_eq!(tokens("<a b=\"1><c d=\"2\">"), ["<a[b=1]", "<c[d=2]"]);
    }

    #[test]
    fn an_unclosed_cdata_section_ends_with_its_element() {
        assert_eq!(
            tokens("<title><![CDATA[x</title><b><![CDATA[y]]></b>"),
            ["<title[]", "C:x", "/title", "<b[]", "C:y", "/b"]
        );
        assert_eq!(tokens("<title><![CDATA[x"), ["<title[]", "C:x"]);
    }

    #[test]
    fn a_nested_cdata_section_keeps_its_text() {
        assert_eq!(
            tokens("<title><![CDATA[a <![CDATA[b]]> <i>c</i>]]></title>"),
            ["<title[]", "C:a ", "C:b", "C: <i>c</i>", "/title"]
        );
    }

    #[test]
    fn a_document_type_may_have_an_internal_subset() {
        assert_eq!(tokens("<!DOCTYPE rss [<!ENTITY a \"b\">]><a>"), ["D", "<a[]"]);
        assert_eq!(tokens("<!DOCTYPE rss [<!ENTITY a \"b\"> ] ><a>"), ["D", "<a[]"]);
        assert_eq!(tokens("<!DOCTYPE rss PUBLIC \"x\" \"y\"><a>"), ["D", "<a[]"]);
    }

    #[test]
    fn unclosed_comments_and_instructions_do_not_swallow_the_rest() {
        assert_eq!(tokens("<a><!-- x <b>y</b>"), ["<a[]", " x ", "<b[]", "y", "/b"]);
        assert_eq!(tokens("<?xml version=\"1.0\"><a>x</a>"), ["?xml version=\"1.0\"", "<a[]", "x", "/a"]);
    }
}
