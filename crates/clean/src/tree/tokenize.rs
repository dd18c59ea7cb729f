//! A zero-copy HTML tokenizer for html5ever's tree builder.
//!
//! It produces the same tokens as html5ever's tokenizer (the test compares the trees node for node)
//! but scans with `memchr` to the next significant byte instead of stepping through a state machine
//! per character, and text and attribute values are slices of the page. html5ever's tokenizer took
//! most of the time of reading a page. Comment text is dropped, since nothing reads it. See
//! docs/notes/tokenizer.md.

use std::ops::Range;

use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{TagKind, Token, TokenSink, TokenSinkResult};
use memchr::{memchr, memchr_iter, memchr2, memchr3, memmem};

use super::tag::Tags;
use super::{doctype, raw, references};

/// The byte order mark.
pub(super) const BYTE_ORDER_MARK: char = '\u{feff}';

/// Normalises newlines to `\
/// ` and removes the byte order mark, as the HTML standard's input preprocessing does.
pub(super) fn normalise_newlines(html: &str) -> StrTendril {
    let html = html.strip_prefix(BYTE_ORDER_MARK).unwrap_or(html);
    let mut rest = html;
    let mut page = StrTendril::new();
    while let Some(found) = memchr(b'\r', rest.as_bytes()) {
        if page.is_empty() {
            page = StrTendril::with_capacity(html.len() as u32);
        }
        page.push_slice(&rest[..found]);
        // The line feed of a CR LF pair is copied with the next run.
        rest = &rest[found + 1..];
        if !rest.starts_with('\n') {
            page.push_char('\n');
        }
    }
    if page.is_empty() {
        return StrTendril::from_slice(rest);
    }
    page.push_slice(rest);
    page
}

/// Result of one tokenizer step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Progress {
    /// There is more input.
    More,
    /// The page has ended and the tree builder was told.
    Ended,
    /// The input was cut off inside a token.
    Cut,
}

/// State of the tokenizer.
#[derive(Debug, Clone)]
enum State {
    Data,
    /// Inside a raw text element: its kind, the offset of its start tag and the range of its name.
    Raw(RawKind, usize, Range<usize>),
    Plaintext,
}

/// Tokenizes a page tag by tag.
pub(super) struct Tokenizer<'a, S> {
    page: &'a StrTendril,
    at: usize,
    state: State,
    /// Whether the page continues after the end of the input.
    cut: bool,
    has_null: bool,
    tags: Tags<'a>,
    /// Text with decoded character references, not yet emitted.
    text: String,
    /// Receiver of the tokens.
    pub(super) sink: S,
}

impl<'a, S: TokenSink> Tokenizer<'a, S> {
    /// Tokenizes a page with [normalised newlines](normalise_newlines). `cut` says that the page
    /// continues after it.
    pub(super) fn new(page: &'a StrTendril, cut: bool, sink: S) -> Tokenizer<'a, S> {
        let has_null = memchr(0, page.as_bytes()).is_some();
        let tags = Tags::new(page, has_null);
        Tokenizer { page, at: 0, state: State::Data, cut, has_null, tags, text: String::new(), sink }
    }

    /// Number of bytes consumed.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Consumes the input up to the end of the next tag or comment.
    pub(super) fn step(&mut self) -> Progress {
        match std::mem::replace(&mut self.state, State::Data) {
            State::Data => self.data(),
            State::Raw(kind, start, name) => self.raw(kind, start, name),
            State::Plaintext if self.cut => self.end(self.at),
            State::Plaintext => {
                self.raw_text(self.at, self.page.len());
                self.end(self.page.len())
            }
        }
    }

    fn data(&mut self) -> Progress {
        let html = self.page.as_bytes();
        let mut from = self.at;
        let mut look = from;
        while let Some(found) = self.next_special(look) {
            look = found + 1;
            match html[found] {
                b'<' if opens_markup(&html[look..]) => {
                    self.flush(from, found);
                    return self.markup(found);
                }
                b'<' => {}
                b'&' => {
                    if let Some(reference) = references::read(&html[look..], false) {
                        self.text.push_str(&self.page[from..found]);
                        reference.push_to(&mut self.text);
                        look += reference.length;
                        from = look;
                    }
                }
                _ => {
                    self.flush(from, found);
                    self.send(Token::NullCharacterToken);
                    from = look;
                    self.at = look;
                }
            }
        }
        if self.cut {
            return self.end(self.at);
        }
        self.flush(from, html.len());
        self.end(html.len())
    }

    fn next_special(&self, from: usize) -> Option<usize> {
        let rest = &self.page.as_bytes()[from..];
        let found = if self.has_null { memchr3(b'<', b'&', 0, rest) } else { memchr2(b'<', b'&', rest) };
        found.map(|found| from + found)
    }

    /// Tokenizes what begins with `<` at `open`.
    fn markup(&mut self, open: usize) -> Progress {
        let rest = &self.page.as_bytes()[open + 1..];
        match rest {
            [b'!', b'-', b'-', ..] => self.comment(open),
            [b'!', ..] if rest.get(1..8).is_some_and(|word| word.eq_ignore_ascii_case(b"doctype")) => {
                self.doctype(open)
            }
            [b'!', ..]
                if rest[1..].starts_with(b"[CDATA[")
                    && self.sink.adjusted_current_node_present_but_not_in_html_namespace() =>
            {
                self.character_data(open)
            }
            [b'!' | b'?', ..] => self.bogus_comment(open),
            [b'/', b'>', ..] => {
                self.at = open + 3;
                Progress::More
            }
            [b'/', letter, ..] if letter.is_ascii_alphabetic() => self.tag(TagKind::EndTag, open),
            [b'/', ..] => self.bogus_comment(open),
            _ => self.tag(TagKind::StartTag, open),
        }
    }

    fn tag(&mut self, kind: TagKind, open: usize) -> Progress {
        let start = open + if kind == TagKind::EndTag { 2 } else { 1 };
        // A tag that the end of the page cuts off is dropped.
        let Some(found) = self.tags.read(kind, start) else { return self.end(open) };
        self.at = found.end;
        match self.sink.process_token(Token::TagToken(found.tag), 1) {
            TokenSinkResult::Plaintext => self.state = State::Plaintext,
            TokenSinkResult::RawData(kind) => self.state = State::Raw(kind, open, start..found.name_end),
            // Scripts are not run, and the encoding was decided before.
            TokenSinkResult::Continue | TokenSinkResult::Script(_) | TokenSinkResult::EncodingIndicator(_) => {}
        }
        Progress::More
    }

    fn raw(&mut self, kind: RawKind, start: usize, name: Range<usize>) -> Progress {
        let html = self.page.as_bytes();
        let from = self.at;
        let close = raw::end(&html[from..], kind, &html[name]).map(|length| from + length);
        if close.is_none() && self.cut {
            return self.end(start);
        }
        let end = close.unwrap_or(html.len());
        if kind == RawKind::Rcdata && memchr(b'&', &html[from..end]).is_some() {
            references::decode(&self.page[from..end], false, &mut self.text);
            self.flush(end, end);
        } else {
            self.raw_text(from, end);
        }
        match close {
            Some(close) => self.tag(TagKind::EndTag, close),
            None => self.end(end),
        }
    }

    fn comment(&mut self, open: usize) -> Progress {
        let body = &self.page.as_bytes()[open + 4..];
        let ends = |close: usize| {
            let before = &body[..close];
            before.is_empty() || before == b"-" || before.ends_with(b"--") || before.ends_with(b"--!")
        };
        let close = memchr_iter(b'>', body).find(|close| ends(*close)).map(|close| open + 4 + close);
        self.end_comment(open, close)
    }

    fn bogus_comment(&mut self, open: usize) -> Progress {
        let close = memchr(b'>', &self.page.as_bytes()[open..]).map(|close| open + close);
        self.end_comment(open, close)
    }

    fn end_comment(&mut self, open: usize, close: Option<usize>) -> Progress {
        if close.is_none() && self.cut {
            return self.end(open);
        }
        self.send(Token::CommentToken(StrTendril::new()));
        self.continue_after(open, close.map(|close| close + 1))
    }

    fn doctype(&mut self, open: usize) -> Progress {
        let start = open + "<!doctype".len();
        let (doctype, length) = doctype::read(&self.page[start..]);
        if length.is_some() || !self.cut {
            self.send(Token::DoctypeToken(doctype));
        }
        self.continue_after(open, length.map(|length| start + length))
    }

    fn character_data(&mut self, open: usize) -> Progress {
        let html = self.page.as_bytes();
        let start = open + "<![CDATA[".len();
        let close = memmem::find(&html[start..], b"]]>").map(|length| start + length);
        let end = close.unwrap_or(html.len());
        let mut from = start;
        while let Some(null) = memchr(0, &html[from..end]).map(|found| from + found) {
            self.flush(from, null);
            self.send(Token::NullCharacterToken);
            from = null + 1;
        }
        self.flush(from, end);
        self.continue_after(end, close.map(|close| close + 3))
    }

    /// Emits text without character references; null characters become U+FFFD.
    fn raw_text(&mut self, from: usize, to: usize) {
        if self.has_null && memchr(0, &self.page.as_bytes()[from..to]).is_some() {
            self.text = self.page[from..to].replace('\0', "\u{fffd}");
            self.flush(to, to);
        } else {
            self.flush(from, to);
        }
    }

    /// Emits the pending text followed by the given range of the page.
    fn flush(&mut self, from: usize, to: usize) {
        let run = if self.text.is_empty() {
            self.page.subtendril(from as u32, (to - from) as u32)
        } else {
            self.text.push_str(&self.page[from..to]);
            let text = StrTendril::from_slice(&self.text);
            self.text.clear();
            text
        };
        if !run.is_empty() {
            self.send(Token::CharacterTokens(run));
        }
    }

    fn send(&mut self, token: Token) {
        // Only tags change the tokenizer state.
        let _ = self.sink.process_token(token, 1);
    }

    /// Continues at `end`, or ends if the page ended inside the token that begins at `start`.
    fn continue_after(&mut self, start: usize, end: Option<usize>) -> Progress {
        let Some(end) = end else { return self.end(start) };
        self.at = end;
        Progress::More
    }

    fn end(&mut self, at: usize) -> Progress {
        self.at = at;
        if self.cut {
            return Progress::Cut;
        }
        self.send(Token::EOFToken);
        self.sink.end();
        Progress::Ended
    }
}

/// Returns whether `<` followed by these bytes starts markup rather than text.
fn opens_markup(after: &[u8]) -> bool {
    match after {
        [b'/', rest @ ..] => !rest.is_empty(),
        [byte, ..] => byte.is_ascii_alphabetic() || matches!(byte, b'!' | b'?'),
        [] => false,
    }
}

#[cfg(test)]
mod tests;
