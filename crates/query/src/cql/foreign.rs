//! Syntax of other query languages that reads as plain words here, and would silently find nothing.
//!
//! CQP, Sketch Engine and search engines have operators that are spelled as words or with signs that CQL of Tidings does
//! not know. A bare word stays a word only where nothing else can be meant; elsewhere the error says what to write.

use super::ast::{ATTRIBUTES, STRUCTURES, Structure};
use super::operator::keywords;
use crate::filter::STANDARD_FIELDS;
use crate::syntax::{Span, SyntaxError, closest};

/// A bare word with the text around it.
pub(crate) struct BareWord<'t> {
    pub(crate) word: &'t str,
    pub(crate) before: &'t str,
    pub(crate) after: &'t str,
    pub(crate) span: Span,
}

impl BareWord<'_> {
    fn error(&self, message: impl Into<String>, help: impl Into<String>) -> Result<(), SyntaxError> {
        Err(SyntaxError::new(self.span, message).help(help))
    }

    /// The words after it.
    fn next(&self) -> impl Iterator<Item = &str> {
        self.after.split_whitespace()
    }

    /// Rejects a word of a query in CQL that may be meant as an operator.
    pub(crate) fn check_in_cql(&self) -> Result<(), SyntaxError> {
        let word = self.word;
        if self.after.starts_with(['*', '+', '?']) {
            return self.wildcard(&format!("{word}{}", self.after.chars().next().unwrap_or_default()));
        }
        let is_marker = word.strip_prefix('@').is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()));
        if is_marker && self.after.starts_with(['[', '"', ':', '(']) {
            return self.error("not supported: the target marker @", "name the token instead, as in a:[]");
        }
        if self.after.starts_with('(') {
            return match word {
                "MU" | "mu" => self.meet_or_union("MU(…)"),
                _ => self.error(
                    format!("{word}(…) is not a function"),
                    "put a blank between a word and a group in parentheses",
                ),
            };
        }
        let is_first = self.before.trim_end().ends_with('(');
        if is_first && ["meet", "union"].contains(&word) && self.after.trim_start().starts_with(['(', '"', '[']) {
            return self.meet_or_union(&format!("({word} …)"));
        }
        if self.after.trim_start().starts_with('<')
            && let Some(keyword) = closest(word, keywords(" ").split(' ')).filter(|_| word.len() > 4)
        {
            return self.error(format!("unknown operator {word}"), format!("did you mean {keyword}?"));
        }
        self.check_anywhere()
    }

    /// Rejects a word of a query without any sign of CQL, or of a phrase, that may be meant otherwise.
    pub(crate) fn check_in_plain_words(&self) -> Result<(), SyntaxError> {
        let word = self.word;
        self.check_wildcard()?;
        if let Some((name, value)) = word.split_once('=')
            && !value.is_empty()
        {
            if ATTRIBUTES.iter().any(|(_, names)| names.contains(&name)) {
                let value = value.trim_matches(['\'', '"']);
                return self.error("a condition on a token needs brackets", format!("write [{name}=\"{value}\"]"));
            }
            if STANDARD_FIELDS.contains(&name) {
                return self.error("a condition on documents is a filter", format!("give the filter {word}"));
            }
        }
        let is_keyword = keywords(" ").split(' ').any(|keyword| keyword == word);
        if let (true, false, Some(structure)) = (is_keyword, self.before.trim().is_empty(), self.only_structure()) {
            let help = format!("write {word} <{structure}/>, or put a word in quotes: \"{word}\"");
            return self.error(format!("{word} {structure} may mean an operator or words"), help);
        }
        self.check_anywhere()
    }

    /// Rejects wildcards in a word that is taken literally.
    pub(crate) fn check_wildcard(&self) -> Result<(), SyntaxError> {
        let is_wildcard = self.word.contains(['*', '?']) && self.word.contains(char::is_alphanumeric);
        if is_wildcard { self.wildcard(self.word) } else { Ok(()) }
    }

    fn check_anywhere(&self) -> Result<(), SyntaxError> {
        let word = self.word;
        let ends_quote = |word: &str| word.len() > 1 && word.ends_with('\'');
        if word.starts_with('\'') && (word.len() > 2 && ends_quote(word) || self.next().any(ends_quote)) {
            let text = word.trim_matches('\'');
            let help = format!("write \"{text}…\", or [word==\"{word}\"] for a word with apostrophes");
            let help = if ends_quote(word) { help.replace('…', "") } else { help };
            return self.error("strings have double quotes", help);
        }
        let mut next = self.next().map(|word| word.trim_end_matches(';'));
        if word == "cut" && !self.before.trim().is_empty() {
            let number = next.next().filter(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()));
            if let (Some(number), None) = (number, next.next()) {
                let help =
                    format!("ask for a page or a sample of {number} lines; words are written as \"cut {number}\"");
                return self.error("not supported: cut", help);
            }
            return Ok(());
        }
        if word == "expand" {
            let mut next = next.skip_while(|word| ["left", "right"].contains(word));
            let is_target = |word: &str| {
                word.starts_with(|c: char| c.is_ascii_digit()) || ["s", "p", "doc", "sentence", "text"].contains(&word)
            };
            if next.next() == Some("to") && next.next().is_some_and(is_target) {
                return self.error("not supported: expand to", "write <s/> containing … to get whole sentences");
            }
        }
        Ok(())
    }

    /// The structure that follows as the last word.
    fn only_structure(&self) -> Option<&str> {
        let mut next = self.next();
        let name = next.next().filter(|name| Structure::named(name).is_some())?;
        next.next().is_none().then_some(name)
    }

    fn wildcard(&self, text: &str) -> Result<(), SyntaxError> {
        let pattern: String = text
            .replace(".*", "*")
            .chars()
            .map(|c| match c {
                '*' => ".*".to_owned(),
                '?' => ".".to_owned(),
                '+' => ".+".to_owned(),
                c => c.to_string(),
            })
            .collect();
        let help = format!("write \"{pattern}\" for words of this form, or [word==\"{text}\"] for the sign itself");
        self.error(format!("{text}: a word without quotes has no wildcards or repetitions"), help)
    }

    fn meet_or_union(&self, what: &str) -> Result<(), SyntaxError> {
        let help = "write \"a\" []{0,5} \"b\" for words near each other, and A | B for a union";
        self.error(format!("not supported: {what}"), help)
    }
}

/// Rejects a bare word as the target of `within`: a name that is no structure, or a number of structures.
pub(crate) fn check_target(name: &str, after: &str, keyword: &str, span: Span) -> Result<(), SyntaxError> {
    let names = STRUCTURES.iter().map(|(_, name)| *name).collect::<Vec<_>>().join(", ");
    let is_number = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
    let follows = after.split_whitespace().next().unwrap_or_default();
    if is_number && (keyword == "within" || Structure::named(follows).is_some()) {
        let structure = if Structure::named(follows).is_some() { follows } else { "s" };
        let error = SyntaxError::new(span, format!("not supported: {keyword} a number of structures"));
        return Err(error.help(format!("write {keyword} <{structure}/>")));
    }
    if keyword == "within" && !name.is_empty() && !after.trim_start().starts_with(':') {
        let help = format!("there are {names}; a word is written in quotes: within \"{name}\"");
        return Err(SyntaxError::new(span, format!("unknown structure {name}")).help(help));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::cql::parse;

    /// The text that an error of a query points at, and its message.
    fn refused(query: &str) -> (String, String) {
        let error = parse(query).expect_err(query);
        (query[error.span.range()].to_owned(), error.to_string())
    }

    #[test]
    fn operators_of_other_languages_are_refused_at_their_place() {
        for (query, place, words) in [
            (r#"MU(meet "climate" "change")"#, "MU", "not supported: MU(…)"),
            (r#"MU (meet "climate" "change" s)"#, "meet", "not supported: (meet …)"),
            (r#"(union "climate" "change")"#, "union", "A | B for a union"),
            (r#""market" within 2 s"#, "2", "write within <s/>"),
            (r#""market" within sentence"#, "sentence", "there are s, p, doc"),
            (r#""market" expand to s"#, "expand", "not supported: expand to"),
            (r#""market" expand left to 5"#, "expand", "<s/> containing"),
            (r#"@[lemma="go"]"#, "@", "a:[]"),
            (r#"@1:[lemma="go"] []"#, "@1", "target marker"),
            (r#""market" cut 10"#, "cut", "10 lines"),
            (r#""market" cut 10;"#, "cut", "10 lines"),
            ("market cut 10", "cut", "\"cut 10\""),
            ("'market'", "'market'", "write \"market\""),
            ("'prime minister'", "'prime", "double quotes"),
            (r#"'market' []"#, "'market'", "double quotes"),
            (r#"[lemma='go']"#, "'", "double quotes"),
            ("climate*", "climate*", "write \"climate.*\""),
            ("climate.*", "climate.*", "write \"climate.*\""),
            ("colo?r", "colo?r", "write \"colo.r\""),
            (r#"climate* []"#, "climate", "write \"climate.*\""),
            (r#""climate* change""#, "climate*", "write \"climate.*\""),
            ("lemma=go", "lemma=go", "write [lemma=\"go\"]"),
            ("storm site=a.example", "site=a.example", "give the filter site=a.example"),
            ("storm within s", "within", "write within <s/>"),
            (r#""storm" withn <s/>"#, "withn", "did you mean within?"),
            (r#"swap(1, "a")"#, "swap", "not a function"),
        ] {
            let (at, message) = refused(query);
            assert_eq!(at, place, "{query}: {message}");
            assert!(message.contains(words), "{query}: {message}");
        }
    }

    #[test]
    fn words_stay_words_where_nothing_else_can_be_meant() {
        for query in [
            "union leaders meet",
            "(union leaders | strike) [tag=\"VERB\"]",
            "tax cut",
            "cut 10 percent",
            "within days",
            "[tag=\"PROPN\"] 's",
            "rock 'n roll",
            "C++",
            "what ?",
            "* storm",
            "expand to new markets",
            "@handle []",
            "<s/> containing storm",
            "climate []{0,2} change within <s/>",
            "\"price cut 10\"",
            "a=b",
        ] {
            assert!(parse(query).is_ok(), "{query}: {:?}", parse(query));
        }
    }
}
