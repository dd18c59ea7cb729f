//! Matchers of values: regular expressions or literal texts, with or without case and diacritics.
//!
//! Regular expressions are anchored at both ends: `"inter"` finds *inter*, not *international*. They are
//! untrusted input: the size of the compiled expression is limited, and matching takes time proportional to the text.

use super::{Cursor, Span, SyntaxError};
use regex_automata::meta;
use regex_automata::util::syntax;
use regex_syntax::hir::{Hir, HirKind, Look};
use std::borrow::Cow;
use std::fmt;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// The maximum size of a compiled regular expression: `[\p{L}-]{3,30}` fits, `(.{100}){100}` does not.
const MAX_REGEX_BYTES: usize = 4 << 20;
const MAX_REGEX_DEPTH: u32 = 50;

/// A regular expression or a literal text that a value is compared with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueMatcher {
    /// A regular expression or, if `exact`, a literal text.
    pub text: String,
    /// `==`: the text is literal.
    pub exact: bool,
    /// `%c`: ignores case.
    pub caseless: bool,
    /// `%d`: ignores diacritics (accents, umlauts, vowel points).
    pub markless: bool,
}

impl ValueMatcher {
    /// A literal text.
    pub fn exact(text: impl Into<String>) -> Self {
        ValueMatcher { text: text.into(), exact: true, caseless: false, markless: false }
    }

    /// A regular expression, which matches the whole value.
    pub fn regex(text: impl Into<String>) -> Self {
        ValueMatcher { exact: false, ..ValueMatcher::exact(text) }
    }

    /// A bare word: ignores case unless it has a capital (smart case).
    pub fn typed(word: &str) -> Self {
        ValueMatcher { caseless: !word.chars().any(char::is_uppercase), ..ValueMatcher::exact(word) }
    }

    /// The parsed regular expression, not anchored. With `markless` it applies to [`folded`] text.
    pub fn hir(&self) -> Result<Hir, SyntaxError> {
        let text = if self.markless { folded(&self.text) } else { Cow::Borrowed(&*self.text) };
        let text = if self.exact { Cow::Owned(regex_syntax::escape(&text)) } else { text };
        let config = syntax::Config::new()
            .case_insensitive(self.caseless)
            .nest_limit(MAX_REGEX_DEPTH)
            .dot_matches_new_line(true);
        syntax::parse_with(&text, &config).map_err(|error| not_regex(&self.text, &error.to_string()))
    }

    /// Compiles the matcher.
    pub fn compile(&self) -> Result<CompiledMatcher, SyntaxError> {
        if self.exact && !self.caseless && !self.markless {
            return Ok(CompiledMatcher { test: Test::Literal(self.text.clone()), markless: false });
        }
        let hir = self.hir()?;
        if let Some(literal) = literal_of(&hir) {
            return Ok(CompiledMatcher { test: Test::Literal(literal), markless: self.markless });
        }
        let whole = Hir::concat(vec![Hir::look(Look::Start), hir, Hir::look(Look::End)]);
        let config = meta::Config::new()
            .nfa_size_limit(Some(MAX_REGEX_BYTES))
            .onepass_size_limit(Some(MAX_REGEX_BYTES))
            .hybrid_cache_capacity(MAX_REGEX_BYTES / 2)
            .utf8_empty(true);
        let regex = meta::Builder::new().configure(config).build_from_hir(&whole).map_err(|error| {
            match error.size_limit() {
                Some(limit) => {
                    SyntaxError::new(Span::default(), format!("the regular expression needs more than {limit} bytes"))
                        .help("use smaller repetitions")
                }
                None => not_regex(&self.text, &error.to_string()),
            }
        })?;
        Ok(CompiledMatcher { test: Test::Regex(Box::new(regex)), markless: self.markless })
    }

    /// Parses a string with its flags; `exact` says whether the text is literal.
    pub(crate) fn read(cursor: &mut Cursor<'_>, exact: bool) -> Result<(Self, Span), SyntaxError> {
        cursor.skip_blanks();
        let from = cursor.at();
        let raw = cursor.quoted()?;
        let span = cursor.span_from(from);
        let mut value = ValueMatcher { exact, ..ValueMatcher::exact(unescape(raw, exact)) };
        value.read_flags(cursor)?;
        if value.exact {
            value.text = unescape(raw, true);
        }
        let matcher = value.compile().map_err(|error| SyntaxError { span, ..error })?;
        cursor.spend(matcher.bytes(), span)?;
        Ok((value, span))
    }

    /// `%c`, `%d`, `%cd`, in any order.
    pub(crate) fn read_flags(&mut self, cursor: &mut Cursor<'_>) -> Result<(), SyntaxError> {
        while cursor.eat("%") {
            let from = cursor.at();
            let flags = cursor.take_while(char::is_alphanumeric);
            let span = Span::new(from - 1, cursor.at());
            if flags.is_empty() {
                return Err(SyntaxError::new(span, "% without a flag").help("%c ignores case, %d ignores diacritics"));
            }
            for flag in flags.chars() {
                match flag {
                    'c' => self.caseless = true,
                    'd' => self.markless = true,
                    'l' => self.exact = true,
                    _ => {
                        return Err(SyntaxError::new(span, format!("unknown flag %{flag}"))
                            .help("%c ignores case, %d ignores diacritics, %l takes the text literally"));
                    }
                }
            }
        }
        Ok(())
    }
}

fn not_regex(text: &str, error: &str) -> SyntaxError {
    // regex-syntax draws its own carets; its last line is the reason.
    let reason = error.lines().last().unwrap_or(error).trim_start_matches("error: ");
    SyntaxError::new(Span::default(), format!("invalid regular expression {text}: {reason}"))
        .help("use == for a literal text")
}

/// The text of an expression that matches only one.
fn literal_of(hir: &Hir) -> Option<String> {
    match hir.kind() {
        HirKind::Empty => Some(String::new()),
        HirKind::Literal(literal) => String::from_utf8(literal.0.to_vec()).ok(),
        _ => None,
    }
}

/// Unescapes a raw string: `\"` is a quote. Other escapes belong to the regular expression; in a literal
/// text `\\` is a backslash.
pub(crate) fn unescape(raw: &str, exact: bool) -> String {
    let mut text = String::with_capacity(raw.len());
    let mut chars = raw.chars();
    while let Some(c) = chars.next() {
        match (c, chars.as_str().chars().next()) {
            ('\\', Some('"')) => {
                text.push('"');
                chars.next();
            }
            ('\\', Some(next)) => {
                text.push('\\');
                if next != '\\' || !exact {
                    text.push(next);
                }
                chars.next();
            }
            _ => text.push(c),
        }
    }
    text
}

/// The canonical text: the string in quotes, then the flags.
impl fmt::Display for ValueMatcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"")?;
        let mut chars = self.text.chars();
        while let Some(c) = chars.next() {
            match c {
                '"' => f.write_str("\\\"")?,
                '\\' if self.exact => f.write_str("\\\\")?,
                '\\' => write!(f, "\\{}", chars.next().unwrap_or('\\'))?,
                _ => write!(f, "{c}")?,
            }
        }
        f.write_str("\"")?;
        match (self.caseless, self.markless) {
            (true, true) => f.write_str("%cd"),
            (true, false) => f.write_str("%c"),
            (false, true) => f.write_str("%d"),
            (false, false) => Ok(()),
        }
    }
}

/// A compiled [`ValueMatcher`].
#[derive(Debug, Clone)]
pub struct CompiledMatcher {
    test: Test,
    markless: bool,
}

#[derive(Debug, Clone)]
enum Test {
    Literal(String),
    Regex(Box<meta::Regex>),
}

impl CompiledMatcher {
    /// Returns whether the whole text matches.
    pub fn matches(&self, text: &str) -> bool {
        let text = if self.markless { folded(text) } else { Cow::Borrowed(text) };
        match &self.test {
            Test::Literal(literal) => *literal == text,
            Test::Regex(regex) => regex.is_match(text.as_bytes()),
        }
    }

    /// The approximate memory use.
    fn bytes(&self) -> usize {
        match &self.test {
            Test::Literal(literal) => literal.len(),
            Test::Regex(regex) => regex.memory_usage(),
        }
    }

    /// The text, if only one matches: an index looks it up instead of testing all strings.
    pub fn literal(&self) -> Option<&str> {
        match &self.test {
            Test::Literal(literal) if !self.markless => Some(literal),
            _ => None,
        }
    }
}

/// Removes diacritics: *Ångström* becomes *Angstrom*.
pub fn folded(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.nfd().filter(|&c| !is_combining_mark(c)).nfc().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finds(value: &ValueMatcher, text: &str) -> bool {
        value.compile().unwrap().matches(text)
    }

    #[test]
    fn expressions_are_anchored_at_both_ends() {
        assert!(finds(&ValueMatcher::regex("inter|net"), "net"));
        assert!(!finds(&ValueMatcher::regex("inter|net"), "internet"));
        assert!(finds(&ValueMatcher::regex("inter.*"), "internet"));
    }

    #[test]
    fn typed_words_ignore_case_unless_they_have_a_capital() {
        assert!(finds(&ValueMatcher::typed("apple"), "Apple"));
        assert!(!finds(&ValueMatcher::typed("Apple"), "apple"));
        assert!(finds(&ValueMatcher::typed("été"), "ÉTÉ"));
    }

    #[test]
    fn diacritics_can_be_ignored() {
        let value = ValueMatcher { markless: true, ..ValueMatcher::exact("Zoe") };
        assert!(finds(&value, "Zoë"));
        let value = ValueMatcher { markless: true, caseless: true, ..ValueMatcher::regex("ZOË.*") };
        assert!(finds(&value, "zoes"));
    }

    #[test]
    fn an_expression_of_plain_letters_is_a_literal() {
        assert_eq!(ValueMatcher::regex("crisis").compile().unwrap().literal(), Some("crisis"));
        assert_eq!(ValueMatcher::regex(r"U\.S\.").compile().unwrap().literal(), Some("U.S."));
        assert_eq!(ValueMatcher::regex("cris[ei]s").compile().unwrap().literal(), None);
    }

    #[test]
    fn huge_expressions_are_rejected() {
        assert!(ValueMatcher::regex(".{1000}").compile().is_ok());
        assert!(ValueMatcher::regex(r"[\p{L}\p{M}'’-]{3,30}").compile().is_ok());
        assert!(ValueMatcher::regex("(.{100}){100}").compile().is_err());
        assert!(ValueMatcher::regex("(".repeat(1000) + &")".repeat(1000)).compile().is_err());
        assert!(ValueMatcher::regex("a{1000}{1000}{1000}").compile().is_err());
    }

    #[test]
    fn strings_print_as_they_are_read() {
        for raw in [r#"a\"b"#, r"\\", r"\.", r#"\\\""#] {
            for exact in [true, false] {
                let text = unescape(raw, exact);
                let printed = ValueMatcher { exact, ..ValueMatcher::exact(text.clone()) }.to_string();
                assert_eq!(unescape(&printed[1..printed.len() - 1], exact), text, "{raw} {exact}");
            }
        }
    }
}
