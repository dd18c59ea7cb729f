//! Definitions of virtual corpora as KorAP writes them: `pubDate since 2020 & (textClass = sport | author != "N. N.")`.
//!
//! Fields of KorAP are those of Tidings that say the same; a field that no document can have is refused with the closest name.
//! `referTo NAME` is the virtual corpus of that name.

use super::{Bounds, Refusal, RefusalKind, Result, Scanner, check_length, string};
use crate::filter::{DATE_FIELDS, STANDARD_FIELDS};
use crate::syntax::advice;

/// Fields of KorAP with those of Tidings.
pub const FIELDS: &[(&str, &str)] = &[
    ("pubDate", "date"),
    ("creationDate", "date"),
    ("textSigle", "id"),
    ("docSigle", "site"),
    ("corpusSigle", "site"),
    ("corpusTitle", "site"),
    ("docTitle", "site"),
    ("publisher", "site"),
    ("pubPlaceKey", "country"),
    ("textTitle", "title"),
    ("textClass", "topic"),
    ("textDomain", "topic"),
    ("textColumn", "section"),
    ("availability", "licence"),
    ("language", "lang"),
    ("textExternalLink", "url"),
];

/// A translated definition.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Collection {
    /// The filter; nothing if the definition only names a virtual corpus, or is empty.
    pub filter: Option<String>,
    /// The virtual corpus that it refers to.
    pub refers_to: Option<String>,
}

/// Translates a definition. `known` are further fields of the corpus, which keep their names.
pub fn translate(text: &str, known: &[&str]) -> Result<Collection> {
    check_length(text)?;
    let mut parser =
        Parser { scanner: Scanner::new(text), bounds: Bounds::default(), known, refers_to: None, alternatives: 0 };
    if text.trim().is_empty() {
        return Ok(Collection::default());
    }
    let filter = parser.alternatives()?;
    parser.scanner.skip_blanks();
    match parser.scanner.peek() {
        None => Ok(Collection { filter, refers_to: parser.refers_to }),
        Some(c) => Err(parser.refusal(RefusalKind::Syntax, format!("unexpected `{c}`; join conditions with & or |"))),
    }
}

struct Parser<'t> {
    scanner: Scanner<'t>,
    bounds: Bounds,
    known: &'t [&'t str],
    refers_to: Option<String>,
    /// The number of alternatives around the present place.
    alternatives: usize,
}

/// A value of a condition.
enum Value {
    Text(String),
    Regex(String),
}

impl Parser<'_> {
    fn refusal(&self, kind: RefusalKind, message: impl Into<String>) -> Refusal {
        Refusal::new(kind, self.scanner.at, message)
    }

    /// Conjunctions separated by `|`; nothing if they only refer to a virtual corpus.
    fn alternatives(&mut self) -> Result<Option<String>> {
        let had_reference = self.refers_to.is_some();
        let first = self.conjunction()?;
        if !self.eats_operator("|", "or") {
            return Ok(first);
        }
        let mut all = vec![first];
        self.alternatives += 1;
        loop {
            all.push(self.conjunction()?);
            if !self.eats_operator("|", "or") {
                break;
            }
        }
        self.alternatives -= 1;
        if self.refers_to.is_some() && !had_reference {
            return Err(self.refusal(RefusalKind::Feature, "referTo can be joined with other conditions by & only"));
        }
        Ok(Some(format!("({})", all.into_iter().flatten().collect::<Vec<_>>().join(" | "))))
    }

    fn conjunction(&mut self) -> Result<Option<String>> {
        let mut all = Vec::new();
        loop {
            all.extend(self.condition()?);
            if !self.eats_operator("&", "and") {
                break;
            }
        }
        Ok((!all.is_empty()).then(|| all.join(" & ")))
    }

    fn eats_operator(&mut self, sign: &str, word: &str) -> bool {
        self.scanner.eat(sign) || self.scanner.eat_word(word)
    }

    fn condition(&mut self) -> Result<Option<String>> {
        self.scanner.skip_blanks();
        self.bounds.term(self.scanner.at)?;
        if self.scanner.eat("(") {
            self.bounds.enter(self.scanner.at)?;
            let inner = self.alternatives()?;
            self.bounds.leave();
            return match self.scanner.eat(")") {
                true => Ok(inner.map(|inner| format!("({inner})"))),
                false => Err(self.refusal(RefusalKind::Syntax, "a closing parenthesis is missing")),
            };
        }
        let at = self.scanner.at;
        let field = self.scanner.take_while(|c| c.is_alphanumeric() || c == '_' || c == '.').to_owned();
        match field.as_str() {
            "" => return Err(self.refusal(RefusalKind::Syntax, "a field such as pubDate is missing")),
            "referTo" => {
                let Value::Text(name) = self.value()? else {
                    return Err(self.refusal(RefusalKind::Syntax, "referTo takes a name"));
                };
                if self.refers_to.replace(name).is_some() || self.alternatives > 0 {
                    let message = "a definition can refer to one virtual corpus, joined by &";
                    return Err(Refusal::new(RefusalKind::Feature, at, message));
                }
                return Ok(None);
            }
            _ => {}
        }
        let field = self.field(&field, at)?;
        self.test(field).map(Some)
    }

    /// The field of Tidings.
    fn field(&self, name: &str, at: usize) -> Result<String> {
        if let Some((_, ours)) = FIELDS.iter().find(|(theirs, _)| *theirs == name) {
            return Ok((*ours).to_owned());
        }
        if STANDARD_FIELDS.contains(&name) || self.known.contains(&name) {
            return Ok(name.to_owned());
        }
        let theirs = FIELDS.iter().map(|(theirs, _)| *theirs);
        let all: Vec<&str> = theirs.chain(STANDARD_FIELDS.iter().copied()).chain(self.known.iter().copied()).collect();
        let message = format!("unknown field {name}: {}", advice(name, all.iter().copied()));
        Err(Refusal::new(RefusalKind::Index, at, message))
    }

    /// The operator and the value, as a test of a filter.
    fn test(&mut self, field: String) -> Result<String> {
        let is_date = DATE_FIELDS.contains(&field.as_str());
        self.scanner.skip_blanks();
        let at = self.scanner.at;
        let signs = ["!=", "=", "~", "!~"].into_iter().find(|sign| self.scanner.eat(sign));
        let words = ["since", "until", "in", "contains"];
        let operator = signs.or_else(|| words.into_iter().find(|word| self.scanner.eat_word(word)));
        let Some(operator) = operator else {
            let message = "behind a field: =, !=, since, until, in or contains";
            return Err(self.refusal(RefusalKind::Syntax, message));
        };
        if !is_date {
            return self.text_test(&field, operator, at);
        }
        if !matches!(operator, "since" | "until" | "in" | "=" | "!=") {
            let message = format!("dates take since, until, in, = and !=, not {operator}");
            return Err(Refusal::new(RefusalKind::Relation, at, message));
        }
        let Value::Text(day) = self.value()? else {
            return Err(Refusal::new(RefusalKind::Syntax, at, "dates are no regular expressions"));
        };
        if crate::filter::Period::parse(&day).is_none() {
            let message = format!("{day} is no date; write 2020, 2020-03 or 2020-03-01");
            return Err(Refusal::new(RefusalKind::Syntax, at, message));
        }
        let comparison = match operator {
            "since" => ">=",
            "until" => "<=",
            "!=" => "!=",
            _ => "=",
        };
        Ok(format!("{field}{comparison}{}", string(&day)))
    }

    fn text_test(&mut self, field: &str, operator: &str, at: usize) -> Result<String> {
        let value = self.value()?;
        let test = match (operator, value) {
            ("=", Value::Text(text)) => format!("{field}={}", string(&regex_syntax::escape(&text))),
            ("!=", Value::Text(text)) => format!("{field}!={}", string(&regex_syntax::escape(&text))),
            ("=" | "~", Value::Regex(regex)) => format!("{field}={}", string(&regex)),
            ("!=" | "!~", Value::Regex(regex)) => format!("{field}!={}", string(&regex)),
            ("contains" | "~", Value::Text(text)) => {
                format!("{field}={}", string(&format!(".*{}.*", regex_syntax::escape(&text))))
            }
            _ => {
                let message = format!("{operator} is for dates such as pubDate; use = or contains");
                return Err(Refusal::new(RefusalKind::Relation, at, message));
            }
        };
        Ok(test)
    }

    fn value(&mut self) -> Result<Value> {
        self.scanner.skip_blanks();
        if self.scanner.eat("\"") {
            let raw = self.scanner.quoted('"')?;
            return Ok(Value::Text(raw.replace("\\\"", "\"").replace("\\\\", "\\")));
        }
        if self.scanner.eat("/") {
            return Ok(Value::Regex(self.scanner.quoted('/')?.replace("\\/", "/")));
        }
        let text = self.scanner.take_while(|c| !c.is_whitespace() && !"&|()\"".contains(c));
        match text.is_empty() {
            true => Err(self.refusal(RefusalKind::Syntax, "a value is missing")),
            false => Ok(Value::Text(text.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Filter;

    fn translated(text: &str) -> String {
        let found = translate(text, &["genre"]).unwrap_or_else(|error| panic!("{text}: {error}"));
        let filter = found.filter.unwrap();
        filter.parse::<Filter>().unwrap_or_else(|error| panic!("{text}: {filter}: {}", error.render(&filter)));
        filter
    }

    #[test]
    fn definitions_of_korap_are_filters() {
        for (text, filter) in [
            ("pubDate since 2020", r#"date>="2020""#),
            ("pubDate since 2020-03 & pubDate until 2020-05-01", r#"date>="2020-03" & date<="2020-05-01""#),
            ("pubDate in 2020", r#"date="2020""#),
            ("corpusTitle = \"gazette.example\"", r#"site="gazette\.example""#),
            ("textClass != sport", r#"topic!="sport""#),
            ("author = /Go.*e/", r#"author="Go.*e""#),
            ("textTitle contains \"the (old) sea\"", r#"title=".*the \(old\) sea.*""#),
            ("genre = blog", r#"genre="blog""#),
            (
                "pubDate since 2020 & (textClass = sport | textClass = politics)",
                r#"date>="2020" & ((topic="sport" | topic="politics"))"#,
            ),
            ("availability = /CC-BY.*/ or url contains x", r#"(licence="CC-BY.*" | url=".*x.*")"#),
        ] {
            assert_eq!(translated(text), filter, "{text}");
        }
    }

    #[test]
    fn a_definition_may_refer_to_a_virtual_corpus() {
        let found = translate("referTo spring & textClass = sport", &[]).unwrap();
        assert_eq!((found.refers_to.as_deref(), found.filter.as_deref()), (Some("spring"), Some(r#"topic="sport""#)));
        assert_eq!(translate("referTo \"spring\"", &[]).unwrap().filter, None);
        assert_eq!(translate("  ", &[]).unwrap(), Collection::default());
        for text in
            ["referTo a | author = b", "author = b | referTo a", "referTo a & referTo b", "(referTo a | author = b)"]
        {
            assert_eq!(translate(text, &[]).unwrap_err().kind, RefusalKind::Feature, "{text}");
        }
    }

    #[test]
    fn unknown_fields_and_wrong_operators_are_refused_with_a_suggestion() {
        let refused = |text: &str| translate(text, &[]).unwrap_err();
        assert!(refused("pubdate since 2020").message.contains("did you mean pubDate?"));
        assert!(refused("textClas = sport").message.contains("did you mean textClass?"));
        for (text, kind) in [
            ("nosuchfield = x", RefusalKind::Index),
            ("author since 2020", RefusalKind::Relation),
            ("author in 2020", RefusalKind::Relation),
            ("pubDate contains 2020", RefusalKind::Relation),
            ("pubDate since soon", RefusalKind::Syntax),
            ("pubDate = /20.*/", RefusalKind::Syntax),
            ("author", RefusalKind::Syntax),
            ("author =", RefusalKind::Syntax),
            ("(author = a", RefusalKind::Syntax),
            ("author = a author = b", RefusalKind::Syntax),
            ("= a", RefusalKind::Syntax),
        ] {
            assert_eq!(refused(text).kind, kind, "{text}");
        }
        assert_eq!(refused(&"(".repeat(50)).kind, RefusalKind::TooLarge);
    }
}
