//! Cuts a page into tags, texts and comments as the HTML standard has it, in whole runs.
//!
//! html5ever's tree builder decides what the pieces mean; its own tokenizer would find the same ones,
//! character by character, and took most of the time of reading a page. A page is here in one piece
//! with its line ends made equal, so every run ends at the next byte that matters, and texts and
//! values are parts of the page instead of copies. What nobody reads, such as the text of comments,
//! is not handed on.

use std::ops::Range;

use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{TagKind, Token, TokenSink, TokenSinkResult};
use memchr::{memchr, memchr_iter, memchr2, memchr3, memmem};

use super::tag::Tags;
use super::{doctype, raw, references};

/// What some programs write before a text; it is not part of it.
pub(super) const MARK: char = '\u{feff}';

/// Makes every line end a line feed and leaves out the byte order mark, as comes before all reading.
pub(super) fn prepare(html: &str) -> StrTendril {
    let html = html.strip_prefix(MARK).unwrap_or(html);
    let mut rest = html;
    let mut page = StrTendril::new();
    while let Some(found) = memchr(b'\r', rest.as_bytes()) {
        if page.is_empty() {
            page = StrTendril::with_capacity(html.len() as u32);
        }
        page.push_slice(&rest[..found]);
        // The line feed behind it comes with the next run.
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

/// How far a step has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// There is more to read.
    More,
    /// The page has ended, and the tree builder knows.
    Ended,
    /// What is here of the page has ended within something.
    Cut,
}

/// What the next characters are.
#[derive(Debug, Clone)]
enum State {
    Data,
    /// The text of an element that holds no markup, whose tag begins there and is named there.
    Raw(RawKind, usize, Range<usize>),
    Plaintext,
}

/// Reads a page one tag after the other.
pub(super) struct Tokenizer<'a, S> {
    page: &'a StrTendril,
    at: usize,
    state: State,
    /// Whether the page goes on where what is here of it ends.
    cut: bool,
    has_null: bool,
    tags: Tags<'a>,
    /// Text with its references read, of which more may follow.
    text: String,
    /// What the pieces are for.
    pub(super) sink: S,
}

impl<'a, S: TokenSink> Tokenizer<'a, S> {
    /// Reads a page that is [prepared](prepare), or what is here of it.
    pub(super) fn new(page: &'a StrTendril, cut: bool, sink: S) -> Tokenizer<'a, S> {
        let has_null = memchr(0, page.as_bytes()).is_some();
        let tags = Tags::new(page, has_null);
        Tokenizer { page, at: 0, state: State::Data, cut, has_null, tags, text: String::new(), sink }
    }

    /// How far the page has been read.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Reads on, up to the end of the next tag or comment.
    pub(super) fn step(&mut self) -> Step {
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

    fn data(&mut self) -> Step {
        let html = self.page.as_bytes();
        let mut from = self.at;
        let mut look = from;
        while let Some(found) = self.next_of_note(look) {
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

    fn next_of_note(&self, from: usize) -> Option<usize> {
        let rest = &self.page.as_bytes()[from..];
        let found = if self.has_null { memchr3(b'<', b'&', 0, rest) } else { memchr2(b'<', b'&', rest) };
        found.map(|found| from + found)
    }

    /// Reads what begins with an angle bracket.
    fn markup(&mut self, open: usize) -> Step {
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
                Step::More
            }
            [b'/', letter, ..] if letter.is_ascii_alphabetic() => self.tag(TagKind::EndTag, open),
            [b'/', ..] => self.bogus_comment(open),
            _ => self.tag(TagKind::StartTag, open),
        }
    }

    fn tag(&mut self, kind: TagKind, open: usize) -> Step {
        let start = open + if kind == TagKind::EndTag { 2 } else { 1 };
        // The end of the page within a tag makes it none.
        let Some(found) = self.tags.read(kind, start) else { return self.end(open) };
        self.at = found.end;
        match self.sink.process_token(Token::TagToken(found.tag), 1) {
            TokenSinkResult::Plaintext => self.state = State::Plaintext,
            TokenSinkResult::RawData(kind) => self.state = State::Raw(kind, open, start..found.name_end),
            // Scripts are not run, and the encoding has been decided before.
            TokenSinkResult::Continue | TokenSinkResult::Script(_) | TokenSinkResult::EncodingIndicator(_) => {}
        }
        Step::More
    }

    fn raw(&mut self, kind: RawKind, start: usize, name: Range<usize>) -> Step {
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

    fn comment(&mut self, open: usize) -> Step {
        let body = &self.page.as_bytes()[open + 4..];
        let ends = |close: usize| {
            let before = &body[..close];
            before.is_empty() || before == b"-" || before.ends_with(b"--") || before.ends_with(b"--!")
        };
        let close = memchr_iter(b'>', body).find(|close| ends(*close)).map(|close| open + 4 + close);
        self.end_comment(open, close)
    }

    fn bogus_comment(&mut self, open: usize) -> Step {
        let close = memchr(b'>', &self.page.as_bytes()[open..]).map(|close| open + close);
        self.end_comment(open, close)
    }

    fn end_comment(&mut self, open: usize, close: Option<usize>) -> Step {
        if close.is_none() && self.cut {
            return self.end(open);
        }
        self.send(Token::CommentToken(StrTendril::new()));
        self.go_on(open, close.map(|close| close + 1))
    }

    fn doctype(&mut self, open: usize) -> Step {
        let start = open + "<!doctype".len();
        let (doctype, length) = doctype::read(&self.page[start..]);
        if length.is_some() || !self.cut {
            self.send(Token::DoctypeToken(doctype));
        }
        self.go_on(open, length.map(|length| start + length))
    }

    fn character_data(&mut self, open: usize) -> Step {
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
        self.go_on(end, close.map(|close| close + 3))
    }

    /// Hands on text without references, in which a null character is not left out but replaced.
    fn raw_text(&mut self, from: usize, to: usize) {
        if self.has_null && memchr(0, &self.page.as_bytes()[from..to]).is_some() {
            self.text = self.page[from..to].replace('\0', "\u{fffd}");
            self.flush(to, to);
        } else {
            self.flush(from, to);
        }
    }

    /// Hands on the text in hand and the run behind it.
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
        // Only tags change how reading goes on.
        let _ = self.sink.process_token(token, 1);
    }

    /// Goes on behind what was read, or ends where the page ended in what began at `start`.
    fn go_on(&mut self, start: usize, end: Option<usize>) -> Step {
        let Some(end) = end else { return self.end(start) };
        self.at = end;
        Step::More
    }

    fn end(&mut self, at: usize) -> Step {
        self.at = at;
        if self.cut {
            return Step::Cut;
        }
        self.send(Token::EOFToken);
        self.sink.end();
        Step::Ended
    }
}

/// Whether an angle bracket before this is more than a character.
fn opens_markup(behind: &[u8]) -> bool {
    match behind {
        [b'/', rest @ ..] => !rest.is_empty(),
        [byte, ..] => byte.is_ascii_alphabetic() || matches!(byte, b'!' | b'?'),
        [] => false,
    }
}

#[cfg(test)]
mod tests;
