//! Syntax of other query languages that reads as plain words here, and would silently find nothing.
//!
//! CQP, Sketch Engine and search engines have operators that are spelled as words or with signs that CQL of Tidings does
//! not know. A bare word stays a word only where nothing else can be meant; elsewhere the error says what to write.

use super::ast::{ATTRIBUTES, STRUCTURES, Structure};
use super::operator::{ends_query, keywords};
use crate::filter::STANDARD_FIELDS;
use crate::syntax::{Cursor, Span, SyntaxError, closest};

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
        if self.after.starts_with('(') {
            let help = match word {
                "ws" => "word sketches are a command of their own: tidings sketch",
                "swap" | "ccoll" => "name tokens with labels, as in 1:[]",
                _ => "put a blank between a word and a group in parentheses",
            };
            return self.error(format!("{word}(…) is not a function of queries"), help);
        }
        if word == "~" || word.starts_with('~') && self.after.starts_with('"') {
            return self.error("not supported: the thesaurus sign ~", "join the words with |, as in \"oil|gas\"");
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
        if [".*", ".+"].iter().any(|sign| word.contains(sign)) && word.contains(char::is_alphanumeric) {
            return self.wildcard(word);
        }
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
        let is_last = ["expand", "cut"].contains(&word) && !self.before.trim().is_empty();
        let rest = format!("{word}{}", self.after);
        let mut cursor = Cursor::new(&rest);
        if is_last && ends_query(&mut cursor) {
            let help = format!("put the words before it in quotes, or \"{word} …\" if it is a word");
            return self.error(format!("{word} may mean an operator or a word"), help);
        }
        self.check_anywhere()
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
        self.error(format!("{text}: a word without quotes is no regular expression"), help)
    }
}

/// Rejects a bare word as the target of `within`: a name that is no structure, or a number of structures.
pub(crate) fn check_target(name: &str, after: &str, keyword: &str, span: Span) -> Result<(), SyntaxError> {
    let names = STRUCTURES.iter().map(|(_, name)| *name).collect::<Vec<_>>().join(", ");
    let is_label = after.trim_start().starts_with(':');
    let is_meet = ["MU", "mu"].contains(&name) && after.trim_start().starts_with('(');
    if keyword == "within" && !name.is_empty() && !is_label && !is_meet {
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
            (r#"MU(meet "climate" "change")"#, ")", "as in -3 3"),
            (r#"MU(meet "climate" "change" 3 -3)"#, "3 -3", "write -3 3"),
            (r#"MU(join "climate" "change")"#, "j", "write MU(meet A B -3 3)"),
            (r#"<s/> containing 2 s"#, "2 s", "within 3 s"),
            (r#"(?= <s>) []"#, "(?= <s>)", "no token"),
            (r#"[lempos="test"]"#, "\"test\"", "-n NOUN|PROPN"),
            (r#"a:[] :: a.doc_site = "x""#, "a.doc_site", "write match.doc_site"),
            (r#"{go away}"#, "}", "its own braces"),
            (r#""market" within sentence"#, "sentence", "there are s, p, doc"),
            ("market expand to s", "expand", "an operator or a word"),
            ("market cut 10", "cut", "an operator or a word"),
            (r#"@("a" "b")"#, "@(\"a\" \"b\")", "more than one token"),
            (r#"~"oil" []"#, "~", "not supported"),
            (r#"ws("oil-n")"#, "ws", "tidings sketch"),
            ("climate.*", "climate.*", "write \"climate.*\""),
            ("'market'", "'market'", "write \"market\""),
            ("'prime minister'", "'prime", "double quotes"),
            (r#"'market' []"#, "'market'", "double quotes"),
            (r#"climate* []"#, "climate", "write \"climate.*\""),
            ("lemma=go", "lemma=go", "write [lemma=\"go\"]"),
            ("storm site=a.example", "site=a.example", "give the filter site=a.example"),
            ("storm within s", "within", "write within <s/>"),
            (r#""storm" withn <s/>"#, "withn", "did you mean within?"),
            (r#"swap(1, "a")"#, "swap", "not a function of queries"),
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
