//! Query languages of other tools, translated to CQL and filters of Tidings.
//!
//! | module | language | becomes |
//! |---|---|---|
//! | [`contextual`] | CQL of the Library of Congress, as in the basic search of CLARIN FCS | CQL |
//! | [`fcs_ql`] | FCS-QL, the advanced search of CLARIN FCS | CQL |
//! | [`collection`] | the definition of a virtual corpus of KorAP | a filter |
//!
//! A translation means the same or is refused: nothing of a query is dropped silently. Input is bounded in length, depth and
//! number of terms.
//!
//! ```
//! use tidings_query::translate;
//!
//! let query = translate::fcs_ql::translate("\"the\" [pos = \"ADJ\"]* [lemma = \"storm\"] within s").unwrap();
//! assert_eq!(query, "[word=\"the\"] [tag=\"ADJ\"]* [lemma=\"storm\"] within <s/>");
//! ```

pub mod collection;
pub mod contextual;
pub mod fcs_ql;

use std::fmt;

/// The longest query, in bytes.
pub const MAX_BYTES: usize = 4096;
/// Parentheses inside parentheses, at most.
const MAX_DEPTH: usize = 32;
/// Terms of a query, at most.
const MAX_TERMS: usize = 128;

/// The reason why a query has no translation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusalKind {
    /// It is not a query of the language.
    Syntax,
    /// It is too long, too deep or has too many terms.
    TooLarge,
    /// A term is empty.
    EmptyTerm,
    /// An anchoring character, `^`.
    Anchor,
    /// A context set or prefix that is not known.
    ContextSet,
    /// An index, layer or field that is not known.
    Index,
    /// A relation that is not supported.
    Relation,
    /// A modifier of a relation.
    RelationModifier,
    /// A Boolean operator that is not supported.
    Boolean,
    /// A modifier of a Boolean operator.
    BooleanModifier,
    /// Sorting.
    Sort,
    /// Something else that is valid but not supported.
    Feature,
}

/// A query that has no translation, with the place and what to write instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The reason, for programs.
    pub kind: RefusalKind,
    /// The reason, for people.
    pub message: String,
    /// The place in the query, in bytes.
    pub at: usize,
}

impl Refusal {
    fn new(kind: RefusalKind, at: usize, message: impl Into<String>) -> Refusal {
        Refusal { kind, at, message: message.into() }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at byte {})", self.message, self.at)
    }
}

impl std::error::Error for Refusal {}

/// The result of a translation.
pub type Result<T> = std::result::Result<T, Refusal>;

/// Checks the length of a query.
fn check_length(text: &str) -> Result<()> {
    match text.len() {
        0..=MAX_BYTES => Ok(()),
        bytes => {
            let message = format!("the query has {bytes} bytes; at most {MAX_BYTES} are accepted");
            Err(Refusal::new(RefusalKind::TooLarge, 0, message))
        }
    }
}

/// Counts what bounds the work: depth and terms.
#[derive(Debug, Default)]
struct Bounds {
    depth: usize,
    terms: usize,
}

impl Bounds {
    fn enter(&mut self, at: usize) -> Result<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Refusal::new(RefusalKind::TooLarge, at, format!("more than {MAX_DEPTH} nested parentheses")));
        }
        Ok(())
    }

    fn leave(&mut self) {
        self.depth -= 1;
    }

    fn term(&mut self, at: usize) -> Result<()> {
        self.terms += 1;
        if self.terms > MAX_TERMS {
            return Err(Refusal::new(RefusalKind::TooLarge, at, format!("more than {MAX_TERMS} terms")));
        }
        Ok(())
    }
}

/// A regular expression as a string of CQL and of filters.
fn string(regex: &str) -> String {
    let mut text = String::with_capacity(regex.len() + 2);
    text.push('"');
    let mut is_escaped = false;
    for c in regex.chars() {
        if c == '"' && !is_escaped {
            text.push('\\');
        }
        is_escaped = c == '\\' && !is_escaped;
        text.push(c);
    }
    // A backslash at the end would escape the quotation mark.
    if is_escaped {
        text.push('\\');
    }
    text.push('"');
    text
}

/// The characters of a text with their places.
#[derive(Debug, Clone)]
struct Scanner<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Scanner<'t> {
    fn new(text: &'t str) -> Scanner<'t> {
        Scanner { text, at: 0 }
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn skip_blanks(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    /// Takes a sign behind blanks, if it is there.
    fn eat(&mut self, sign: &str) -> bool {
        self.skip_blanks();
        let is_there = self.rest().starts_with(sign);
        self.at += if is_there { sign.len() } else { 0 };
        is_there
    }

    fn take_while(&mut self, is_part: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    /// A keyword, in any case, followed by no letter; it is not taken if it is not there.
    fn eat_word(&mut self, word: &str) -> bool {
        self.skip_blanks();
        let Some(head) = self.rest().get(..word.len()) else { return false };
        let is_end = |c: char| !c.is_alphanumeric() && c != '.' && c != '-';
        let is_there = head.eq_ignore_ascii_case(word) && self.rest()[word.len()..].chars().next().is_none_or(is_end);
        self.at += if is_there { word.len() } else { 0 };
        is_there
    }

    /// The text up to the closing quotation mark, which is taken, with its escapes; the opening one was taken.
    fn quoted(&mut self, mark: char) -> Result<&'t str> {
        let from = self.at;
        loop {
            match self.next() {
                Some('\\') => drop(self.next()),
                Some(c) if c == mark => return Ok(&self.text[from..self.at - mark.len_utf8()]),
                Some(_) => {}
                None => {
                    let message = format!("the string that begins here has no closing {mark}");
                    return Err(Refusal::new(RefusalKind::Syntax, from.saturating_sub(1), message));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_stay_strings() {
        assert_eq!(string("a\"b"), r#""a\"b""#);
        assert_eq!(string("a\\\"b"), r#""a\"b""#, "what is escaped is not escaped again");
        assert_eq!(string("a\\"), r#""a\\""#);
        assert_eq!(string("a\\\\"), r#""a\\""#, "this backslash is escaped already");
    }
}
