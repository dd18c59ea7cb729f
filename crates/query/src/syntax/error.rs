//! Where something stands in a query, and what is wrong there.

use std::fmt;
use std::ops::Range;

/// A stretch of the query's text, in bytes.
///
/// All places are equal to each other: two queries are the same when they say the same, wherever the
/// words stand.
#[derive(Debug, Clone, Copy, Default)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// The byte behind the last.
    pub end: usize,
}

impl Span {
    /// A place between two bytes.
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

/// What is wrong with a query, where, and what to write instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct SyntaxError {
    /// What is wrong.
    pub message: String,
    /// Where.
    pub span: Span,
    /// What would be right, if that can be told.
    pub help: Option<String>,
}

/// So much of the query is shown on either side of the place.
const AROUND_CHARS: usize = 50;

impl SyntaxError {
    pub(crate) fn new(span: Span, message: impl Into<String>) -> Self {
        SyntaxError { message: message.into(), span, help: None }
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The error in three or four lines: the message, the query, carets under the place, and help.
    ///
    /// Carets count characters, not columns of the terminal; a query that is too long for a line is cut
    /// around the place.
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
        let behind = printable(&query[from + marked_bytes(&query[from..to])..]);
        shown.push_str(&marked);
        shown.extend(behind.chars().take(AROUND_CHARS));
        if behind.chars().count() > AROUND_CHARS {
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
    fn carets_stand_under_the_place() {
        let error = SyntaxError::new(Span::new(6, 9), "no such attribute").help("did you mean lemma?");
        assert_eq!(
            error.render("\"ä\" [lem=1]"),
            "no such attribute (did you mean lemma?)\n  \"ä\" [lem=1]\n       ^^^"
        );
    }

    #[test]
    fn a_place_behind_the_end_gets_one_caret() {
        assert_eq!(SyntaxError::new(Span::new(9, 9), "m").render("ab"), "m\n  ab\n    ^");
    }

    #[test]
    fn a_long_query_is_cut_around_the_place() {
        let query = "x".repeat(200);
        let shown = SyntaxError::new(Span::new(100, 101), "m").render(&query);
        assert!(shown.lines().all(|line| line.chars().count() < 110), "{shown}");
        assert!(shown.contains('…'));
    }
}
