//! The cursor of the parser over the text of a query.

use super::{Span, SyntaxError};

/// The maximum nesting of parentheses and negations.
const MAX_DEPTH: usize = 60;
/// The maximum memory of all compiled regular expressions of a query.
const MAX_REGEX_BYTES: usize = 16 << 20;

#[derive(Clone)]
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

    /// The offset in bytes.
    pub fn at(&self) -> usize {
        self.at
    }

    /// The text before the cursor.
    pub fn before(&self) -> &'t str {
        &self.text[..self.at]
    }

    pub fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    pub fn span_from(&self, start: usize) -> Span {
        Span::new(start, self.at)
    }

    pub fn skip_blanks(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    /// The next character after blanks, without taking it.
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

    /// Takes a token of the syntax if it comes next after blanks.
    pub fn eat(&mut self, expected: &str) -> bool {
        let found = self.looks_at(expected);
        if found {
            self.at += expected.len();
        }
        found
    }

    /// Takes a token of the syntax, or returns an error that names what was found.
    pub fn expect(&mut self, expected: &str, why: &str) -> Result<(), SyntaxError> {
        if self.eat(expected) { Ok(()) } else { Err(self.unexpected(&format!("{expected} {why}"))) }
    }

    /// Takes characters while a predicate holds; may be empty.
    pub fn take_while(&mut self, fits: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let length = rest.find(|c| !fits(c)).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    /// Takes one character.
    pub fn take_char(&mut self) -> Option<char> {
        let next = self.rest().chars().next()?;
        self.at += next.len_utf8();
        Some(next)
    }

    /// The name (letters, digits, underscores) that comes next, without taking it.
    pub fn peek_name(&mut self) -> &'t str {
        self.skip_blanks();
        let rest = self.rest();
        &rest[..rest.find(|c| !is_name(c)).unwrap_or(rest.len())]
    }

    /// Takes a name if one comes next.
    pub fn take_name(&mut self) -> &'t str {
        let name = self.peek_name();
        self.at += name.len();
        name
    }

    /// Takes a name, or fails with what was expected.
    pub fn name(&mut self, expected: &str) -> Result<(&'t str, Span), SyntaxError> {
        let name = self.peek_name();
        if name.is_empty() {
            return Err(self.unexpected(expected));
        }
        let start = self.at;
        self.take_name();
        Ok((name, self.span_from(start)))
    }

    pub fn number(&mut self) -> Result<u32, SyntaxError> {
        self.skip_blanks();
        let start = self.at;
        let digits = self.take_while(|c| c.is_ascii_digit());
        if digits.is_empty() {
            return Err(self.unexpected("a number"));
        }
        digits.parse().map_err(|_| SyntaxError::new(self.span_from(start), format!("the number {digits} is too large")))
    }

    /// Takes a string and returns the raw text between its quotes, double or single. A backslash escapes the next character.
    pub fn quoted(&mut self) -> Result<&'t str, SyntaxError> {
        self.skip_blanks();
        let start = self.at;
        let quote = if self.looks_at("'") { '\'' } else { '"' };
        if quote == '"' {
            self.expect("\"", "to begin a string")?;
        } else {
            self.eat("'");
        }
        let mut chars = self.rest().char_indices();
        while let Some((byte, c)) = chars.next() {
            match c {
                c if c == quote => {
                    let raw = &self.rest()[..byte];
                    self.at += byte + 1;
                    return Ok(raw);
                }
                '\\' => drop(chars.next()),
                _ => {}
            }
        }
        let help = format!("close it with {quote}");
        Err(SyntaxError::new(Span::new(start, self.text.len()), "unterminated string").help(help))
    }

    /// The error that something else was expected here.
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

    /// Adds the memory of a compiled expression; an error if the query needs too much.
    pub fn spend(&mut self, bytes: usize, span: Span) -> Result<(), SyntaxError> {
        self.regex_bytes += bytes;
        if self.regex_bytes <= MAX_REGEX_BYTES {
            return Ok(());
        }
        let message = format!("the regular expressions of the query need more than {} MB", MAX_REGEX_BYTES >> 20);
        Err(SyntaxError::new(span, message).help("use fewer or simpler ones"))
    }

    /// Parses something recursive, to a limited depth.
    pub fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, SyntaxError>) -> Result<T, SyntaxError> {
        if self.depth == MAX_DEPTH {
            let span = Span::new(self.at, self.at);
            return Err(SyntaxError::new(span, format!("more than {MAX_DEPTH} nested parentheses")));
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
