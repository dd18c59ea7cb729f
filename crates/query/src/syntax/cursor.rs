//! A finger on the text of a query: looks ahead, takes what it expects, complains otherwise.

use super::{Span, SyntaxError};

/// Parentheses and negations within each other.
const MAX_DEPTH: usize = 60;
/// What the compiled expressions of a query may take together.
const MAX_REGEX_BYTES: usize = 16 << 20;

pub(crate) struct Cursor<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
    regex_bytes: usize,
}

impl<'t> Cursor<'t> {
    pub fn new(text: &'t str) -> Self {
        Cursor { text, at: 0, depth: 0, regex_bytes: 0 }
    }

    /// The byte the finger is on.
    pub fn at(&self) -> usize {
        self.at
    }

    pub fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    pub fn span_from(&self, from: usize) -> Span {
        Span::new(from, self.at)
    }

    pub fn skip_blanks(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    /// The next character that is no blank.
    pub fn peek(&mut self) -> Option<char> {
        self.skip_blanks();
        self.rest().chars().next()
    }

    pub fn is_done(&mut self) -> bool {
        self.peek().is_none()
    }

    pub fn looks_at(&mut self, expected: &str) -> bool {
        self.skip_blanks();
        self.rest().starts_with(expected)
    }

    /// Takes a sign if it comes next.
    pub fn eat(&mut self, expected: &str) -> bool {
        let found = self.looks_at(expected);
        if found {
            self.at += expected.len();
        }
        found
    }

    /// Takes a sign, or complains about what is there instead.
    pub fn expect(&mut self, expected: &str, why: &str) -> Result<(), SyntaxError> {
        if self.eat(expected) { Ok(()) } else { Err(self.unexpected(&format!("{expected} {why}"))) }
    }

    /// Takes characters as long as they fit; may be empty.
    pub fn take_while(&mut self, fits: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let length = rest.find(|c| !fits(c)).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    /// Takes one character, whatever it is.
    pub fn take_char(&mut self) -> Option<char> {
        let next = self.rest().chars().next()?;
        self.at += next.len_utf8();
        Some(next)
    }

    /// The word of letters, digits and underscores that comes next, without taking it.
    pub fn peek_name(&mut self) -> &'t str {
        self.skip_blanks();
        let rest = self.rest();
        &rest[..rest.find(|c| !is_name(c)).unwrap_or(rest.len())]
    }

    pub fn name(&mut self, expected: &str) -> Result<(&'t str, Span), SyntaxError> {
        let name = self.peek_name();
        if name.is_empty() {
            return Err(self.unexpected(expected));
        }
        let from = self.at;
        self.at += name.len();
        Ok((name, self.span_from(from)))
    }

    pub fn number(&mut self) -> Result<u32, SyntaxError> {
        self.skip_blanks();
        let from = self.at;
        let digits = self.take_while(|c| c.is_ascii_digit());
        if digits.is_empty() {
            return Err(self.unexpected("a number"));
        }
        digits.parse().map_err(|_| SyntaxError::new(self.span_from(from), format!("{digits} is too large a number")))
    }

    /// The raw text between quotes, with its backslashes. A backslash protects whatever follows it.
    pub fn quoted(&mut self) -> Result<&'t str, SyntaxError> {
        self.skip_blanks();
        let from = self.at;
        self.expect("\"", "to begin a string")?;
        let mut chars = self.rest().char_indices();
        while let Some((byte, c)) = chars.next() {
            match c {
                '"' => {
                    let raw = &self.rest()[..byte];
                    self.at += byte + 1;
                    return Ok(raw);
                }
                '\\' => drop(chars.next()),
                _ => {}
            }
        }
        Err(SyntaxError::new(Span::new(from, self.text.len()), "the string has no end").help("close it with \""))
    }

    /// Says what is there instead of what was expected.
    pub fn unexpected(&mut self, expected: &str) -> SyntaxError {
        match self.peek() {
            Some(c) => {
                SyntaxError::new(Span::new(self.at, self.at + c.len_utf8()), format!("expected {expected}, found {c}"))
            }
            None => {
                SyntaxError::new(Span::new(self.at, self.at), format!("expected {expected}, but the query ends here"))
            }
        }
    }

    /// Keeps account of what the expressions take that were read so far.
    pub fn spend(&mut self, bytes: usize, span: Span) -> Result<(), SyntaxError> {
        self.regex_bytes += bytes;
        if self.regex_bytes <= MAX_REGEX_BYTES {
            return Ok(());
        }
        let message = format!("the query's expressions need more than {} MB together", MAX_REGEX_BYTES >> 20);
        Err(SyntaxError::new(span, message).help("use fewer or simpler ones"))
    }

    /// Reads something that may contain its like, to a limited depth.
    pub fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, SyntaxError>) -> Result<T, SyntaxError> {
        if self.depth == MAX_DEPTH {
            let span = Span::new(self.at, self.at);
            return Err(SyntaxError::new(span, format!("more than {MAX_DEPTH} parentheses within each other")));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }
}

pub(crate) fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}
