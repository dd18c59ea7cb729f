//! Spans of the query text, and syntax errors that point at them.

use std::fmt;
use std::ops::Range;

/// A range of bytes of the query text.
///
/// All spans compare as equal, so that two syntax trees are equal if they mean the same, in any layout.
#[derive(Debug, Clone, Copy, Default)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// The byte after the last.
    pub end: usize,
}

impl Span {
    /// A span from one byte to another.
    pub fn new(start: usize, end: usize) -> Self {
        Span { start, end }
    }

    /// As a range of bytes.
    pub fn range(self) -> Range<usize> {
        self.start..self.end
    }
}

impl PartialEq for Span {
    fn eq(&self, _: &Span) -> bool {
        true
    }
}

impl Eq for Span {}

/// A syntax error of a query or a filter.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct SyntaxError {
    /// The cause.
    pub message: String,
    /// The text that it is about.
    pub span: Span,
    /// The remedy, if one is known.
    pub help: Option<String>,
}

/// The number of characters of the query that are shown on either side of the span.
const AROUND_CHARS: usize = 50;

impl SyntaxError {
    pub(crate) fn new(span: Span, message: impl Into<String>) -> Self {
        SyntaxError { message: message.into(), span, help: None }
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The error of a part of a text, at its place in the whole.
    pub(crate) fn within(mut self, text: &str, part: &str) -> Self {
        let offset = (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
        self.span = Span::new(self.span.start + offset, self.span.end + offset);
        self
    }

    /// The error in three lines: the message with its help, the query, and carets under the span.
    ///
    /// Carets count characters, not columns of the terminal; a long query is cut around the span.
    pub fn render(&self, query: &str) -> String {
        let boundary =
            |byte: usize| (0..=byte.min(query.len())).rev().find(|&b| query.is_char_boundary(b)).unwrap_or(0);
        let (from, to) = (boundary(self.span.start), boundary(self.span.end.max(self.span.start)));
        let printable = |text: &str| text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect::<String>();

        let before: Vec<char> = printable(&query[..from]).chars().collect();
        let cut = before.len().saturating_sub(AROUND_CHARS);
        let mut shown: String = before[cut..].iter().collect();
        if cut > 0 {
            shown.insert(0, '…');
        }
        let indent = shown.chars().count();
        let marked: String = printable(&query[from..to]).chars().take(AROUND_CHARS).collect();
        let after = printable(&query[from + marked_bytes(&query[from..to])..]);
        shown.push_str(&marked);
        shown.extend(after.chars().take(AROUND_CHARS));
        if after.chars().count() > AROUND_CHARS {
            shown.push('…');
        }
        let carets = "^".repeat(marked.chars().count().max(1));
        format!("{self}\n  {shown}\n  {}{carets}", " ".repeat(indent))
    }
}

fn marked_bytes(text: &str) -> usize {
    text.char_indices().nth(AROUND_CHARS).map_or(text.len(), |(byte, _)| byte)
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.help {
            Some(help) => write!(f, " ({help})"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carets_are_under_the_span() {
        let error = SyntaxError::new(Span::new(6, 9), "unknown attribute").help("did you mean lemma?");
        assert_eq!(
            error.render("\"ä\" [lem=1]"),
            "unknown attribute (did you mean lemma?)\n  \"ä\" [lem=1]\n       ^^^"
        );
    }

    #[test]
    fn a_span_after_the_end_gets_one_caret() {
        assert_eq!(SyntaxError::new(Span::new(9, 9), "m").render("ab"), "m\n  ab\n    ^");
    }

    #[test]
    fn a_long_query_is_cut_around_the_span() {
        let query = "x".repeat(200);
        let shown = SyntaxError::new(Span::new(100, 101), "m").render(&query);
        assert!(shown.lines().all(|line| line.chars().count() < 110), "{shown}");
        assert!(shown.contains('…'));
    }
}
