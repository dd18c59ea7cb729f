//! The doctype, which decides about quirks mode: there, tables may lie within paragraphs.

use html5ever::tendril::StrTendril;
use html5ever::tokenizer::Doctype;
use memchr::memchr;

/// Reads a doctype after `<!doctype`; also returns the offset after it, if it ends.
pub(super) fn read(rest: &str) -> (Doctype, Option<usize>) {
    let mut reader = Reader { rest, at: 0, doctype: Doctype::default() };
    let end = reader.read();
    (reader.doctype, end)
}

struct Reader<'a> {
    rest: &'a str,
    at: usize,
    doctype: Doctype,
}

impl Reader<'_> {
    /// Reads up to the end of the doctype and returns its offset.
    fn read(&mut self) -> Option<usize> {
        // Quirks mode until the doctype is complete; a premature end keeps it.
        self.doctype.force_quirks = true;
        if self.peek()? == b'>' {
            return Some(self.at + 1);
        }
        let start = self.at;
        let ends = |byte: u8| is_space(byte) || byte == b'>';
        let name = self.rest.as_bytes()[start..].iter().position(|byte| ends(*byte));
        self.at = name.map_or(self.rest.len(), |length| start + length);
        self.doctype.name = Some(cleaned(&self.rest[start..self.at].to_ascii_lowercase()));
        if self.peek()? == b'>' {
            return self.good();
        }
        let keyword = self.rest.as_bytes()[self.at..].get(..6).unwrap_or_default();
        let is_public = keyword.eq_ignore_ascii_case(b"public");
        if !is_public && !keyword.eq_ignore_ascii_case(b"system") {
            return self.skip();
        }
        self.at += 6;
        if is_public {
            let Some(id) = self.quoted()? else { return self.skip() };
            self.doctype.public_id = Some(cleaned(&id.text));
            if !id.closed {
                return self.skip();
            }
            if self.peek()? == b'>' {
                return self.good();
            }
        }
        let Some(id) = self.quoted()? else { return self.skip() };
        self.doctype.system_id = Some(cleaned(&id.text));
        if !id.closed {
            return self.skip();
        }
        self.peek()?;
        // Further content is invalid but does not trigger quirks mode.
        self.doctype.force_quirks = false;
        self.skip()
    }

    /// The next byte that is not white space.
    fn peek(&mut self) -> Option<u8> {
        let space = self.rest.as_bytes()[self.at..].iter().take_while(|byte| is_space(**byte)).count();
        self.at += space;
        self.rest.as_bytes().get(self.at).copied()
    }

    fn good(&mut self) -> Option<usize> {
        self.doctype.force_quirks = false;
        Some(self.at + 1)
    }

    fn skip(&mut self) -> Option<usize> {
        memchr(b'>', &self.rest.as_bytes()[self.at..]).map(|found| self.at + found + 1)
    }

    /// Reads a quoted identifier; the inner `None` means that there is none.
    fn quoted(&mut self) -> Option<Option<Quoted>> {
        let quote = self.peek()?;
        if quote != b'"' && quote != b'\'' {
            return Some(None);
        }
        let start = self.at + 1;
        let length = memchr::memchr2(quote, b'>', &self.rest.as_bytes()[start..]);
        self.at = length.map_or(self.rest.len(), |length| start + length);
        let text = self.rest[start..self.at].to_owned();
        let closed = self.rest.as_bytes().get(self.at) == Some(&quote);
        self.at += usize::from(closed);
        Some(Some(Quoted { text, closed }))
    }
}

struct Quoted {
    text: String,
    closed: bool,
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | 0x0c)
}

fn cleaned(text: &str) -> StrTendril {
    StrTendril::from_slice(&text.replace('\0', "\u{fffd}"))
}
