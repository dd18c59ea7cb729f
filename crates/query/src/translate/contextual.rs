//! The Contextual Query Language (CQL 1.2) of the Library of Congress, as the basic search of CLARIN FCS uses it.
//!
//! All of the language is parsed. Translated are terms and phrases, with the masks `*` and `?`, joined by `and`, `or` and `not`
//! with parentheses; the index `cql.serverChoice` with the relations `=`, `==`, `scr`, `adj` and `exact` may be written out.
//! Everything else is refused by name.
//!
//! A term matches words as they are written. Operators refer to a sentence: `cat and dog` finds *cat* and *dog* in sentences that
//! have both. Each term is a hit of its own.

use super::{Bounds, Refusal, RefusalKind, Result, Scanner, check_length, string};

/// A query as a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Node {
    /// A term as a pattern of CQL.
    Term(String),
    And(Box<Node>, Box<Node>),
    Or(Box<Node>, Box<Node>),
    Not(Box<Node>, Box<Node>),
}

/// Translates a query to CQL of Tidings.
pub fn translate(text: &str) -> Result<String> {
    check_length(text)?;
    let mut parser = Parser { scanner: Scanner::new(text), bounds: Bounds::default() };
    let node = parser.query()?;
    parser.scanner.skip_blanks();
    match parser.scanner.peek() {
        None => Ok(node.to_cql()),
        Some(c) => Err(parser.refusal(RefusalKind::Syntax, format!("unexpected `{c}`"))),
    }
}

impl Node {
    fn to_cql(&self) -> String {
        let mut terms = Vec::new();
        self.hits(&mut terms);
        // A term that is written twice would have each of its hits twice.
        terms.sort_unstable();
        terms.dedup();
        let hits = terms.join(" | ");
        if self.is_alternatives() {
            return hits;
        }
        let hits = if terms.len() > 1 { format!("({hits})") } else { hits };
        format!("{hits} within {}", self.sentences())
    }

    fn is_alternatives(&self) -> bool {
        match self {
            Node::Term(_) => true,
            Node::Or(one, other) => one.is_alternatives() && other.is_alternatives(),
            Node::And(..) | Node::Not(..) => false,
        }
    }

    /// The terms that are hits: all but those behind `not`.
    fn hits<'n>(&'n self, terms: &mut Vec<&'n str>) {
        match self {
            Node::Term(term) => terms.push(term),
            Node::And(one, other) | Node::Or(one, other) => {
                one.hits(terms);
                other.hits(terms);
            }
            Node::Not(one, _) => one.hits(terms),
        }
    }

    /// The sentences that fulfil the query.
    fn sentences(&self) -> String {
        match self {
            Node::Term(term) => format!("(<s/> containing {term})"),
            Node::And(one, other) => format!("({} within {})", one.sentences(), other.sentences()),
            Node::Or(one, other) => format!("({} | {})", one.sentences(), other.sentences()),
            Node::Not(one, other) => format!("({} !within {})", one.sentences(), other.sentences()),
        }
    }
}

struct Parser<'t> {
    scanner: Scanner<'t>,
    bounds: Bounds,
}

/// A word or a string of the query.
struct Word<'t> {
    text: &'t str,
    is_quoted: bool,
    at: usize,
}

impl<'t> Parser<'t> {
    fn refusal(&self, kind: RefusalKind, message: impl Into<String>) -> Refusal {
        Refusal::new(kind, self.scanner.at, message)
    }

    fn query(&mut self) -> Result<Node> {
        if self.scanner.eat(">") {
            return Err(self.refusal(RefusalKind::ContextSet, "assignments of prefixes are not supported"));
        }
        let mut node = self.clause()?;
        loop {
            self.scanner.skip_blanks();
            let operators = ["and", "or", "not", "prox", "sortby"];
            let Some(operator) = operators.into_iter().find(|word| self.scanner.eat_word(word)) else {
                return Ok(node);
            };
            match operator {
                "prox" => {
                    let message =
                        "prox is not supported; write the words in a row as a phrase, or use the advanced search";
                    return Err(self.refusal(RefusalKind::Boolean, message));
                }
                "sortby" => return Err(self.refusal(RefusalKind::Sort, "sorting is not supported")),
                _ => {}
            }
            if self.scanner.eat("/") {
                let message = format!("{operator} takes no modifiers here");
                return Err(self.refusal(RefusalKind::BooleanModifier, message));
            }
            let (one, other) = (Box::new(node), Box::new(self.clause()?));
            node = match operator {
                "and" => Node::And(one, other),
                "or" => Node::Or(one, other),
                _ => Node::Not(one, other),
            };
        }
    }

    fn clause(&mut self) -> Result<Node> {
        self.scanner.skip_blanks();
        if self.scanner.eat("(") {
            self.bounds.enter(self.scanner.at)?;
            let node = self.query()?;
            self.bounds.leave();
            return match self.scanner.eat(")") {
                true => Ok(node),
                false => Err(self.refusal(RefusalKind::Syntax, "a closing parenthesis is missing")),
            };
        }
        let word = self.word()?;
        match self.relation()? {
            None => self.term(&word),
            Some(relation) => {
                let is_ours = ["cql.serverchoice", "serverchoice", "cql.anywhere"];
                if !is_ours.contains(&word.text.to_ascii_lowercase().as_str()) {
                    let message = format!("unknown index {}; leave it out to search the text", word.text);
                    return Err(Refusal::new(RefusalKind::Index, word.at, message));
                }
                if !["=", "==", "scr", "adj", "exact"].contains(&relation.as_str()) {
                    let message = format!("the relation {relation} is not supported; use =");
                    return Err(self.refusal(RefusalKind::Relation, message));
                }
                if self.scanner.eat("/") {
                    return Err(self.refusal(RefusalKind::RelationModifier, "modifiers of relations are not supported"));
                }
                let term = self.word()?;
                self.term(&term)
            }
        }
    }

    /// A sign or a word that stands between an index and a term.
    fn relation(&mut self) -> Result<Option<String>> {
        let signs = ["==", "<=", ">=", "<>", "=", "<", ">"];
        if let Some(sign) = signs.into_iter().find(|sign| self.scanner.eat(sign)) {
            return Ok(Some(sign.to_owned()));
        }
        let before = self.scanner.clone();
        let booleans = ["and", "or", "not", "prox", "sortby"];
        if booleans.into_iter().any(|word| self.scanner.eat_word(word)) {
            self.scanner = before;
            return Ok(None);
        }
        self.scanner.skip_blanks();
        match self.scanner.peek() {
            None | Some('(' | ')' | '/' | '"') => {
                self.scanner = before;
                Ok(None)
            }
            // Two words in a row are no query: the second is a relation, or the phrase lacks its quotation marks.
            Some(_) => {
                let word = self.word()?;
                self.scanner.skip_blanks();
                match self.scanner.peek() {
                    None => {
                        let message =
                            "two words in a row; write a phrase in quotation marks, or and, or, not between them";
                        Err(Refusal::new(RefusalKind::Syntax, word.at, message))
                    }
                    Some(_) => Ok(Some(word.text.to_ascii_lowercase())),
                }
            }
        }
    }

    fn word(&mut self) -> Result<Word<'t>> {
        self.scanner.skip_blanks();
        let at = self.scanner.at;
        if self.scanner.eat("\"") {
            return Ok(Word { text: self.scanner.quoted('"')?, is_quoted: true, at });
        }
        let text = self.scanner.take_while(|c| !c.is_whitespace() && !"()=<>\"/".contains(c));
        match text.is_empty() {
            true => Err(self.refusal(RefusalKind::Syntax, "a term is missing")),
            false => Ok(Word { text, is_quoted: false, at }),
        }
    }

    /// A term as a pattern: each of its words, with its punctuation marks as tokens of their own.
    fn term(&mut self, word: &Word<'t>) -> Result<Node> {
        self.bounds.term(word.at)?;
        if !word.is_quoted && ["and", "or", "not", "prox"].iter().any(|known| word.text.eq_ignore_ascii_case(known)) {
            let message = format!("a term is missing before {}", word.text);
            return Err(Refusal::new(RefusalKind::Syntax, word.at, message));
        }
        let mut tokens = Vec::new();
        for part in word.text.split_whitespace() {
            tokens.extend(tokens_of(part, word.at)?);
        }
        if tokens.is_empty() {
            return Err(Refusal::new(RefusalKind::EmptyTerm, word.at, "the term is empty"));
        }
        if tokens.iter().all(|token| token.chars().all(|c| c == '.' || c == '*')) {
            return Err(Refusal::new(RefusalKind::Feature, word.at, "a term must have a character beside * and ?"));
        }
        let tokens: Vec<String> = tokens.iter().map(|regex| format!("[word={}]", string(regex))).collect();
        Ok(Node::Term(if tokens.len() == 1 { tokens[0].clone() } else { format!("({})", tokens.join(" ")) }))
    }
}

/// The regular expressions of the tokens of a text without blanks.
fn tokens_of(part: &str, at: usize) -> Result<Vec<String>> {
    // Each character with its escape or mask as a regular expression.
    let mut characters: Vec<(String, bool)> = Vec::new();
    let mut rest = part.chars();
    while let Some(c) = rest.next() {
        characters.push(match c {
            '*' => (".*".to_owned(), true),
            '?' => (".".to_owned(), true),
            '^' => {
                let message = "the anchor ^ is not supported; write \\^ for the character itself";
                return Err(Refusal::new(RefusalKind::Anchor, at, message));
            }
            '\\' => {
                let c = rest.next().unwrap_or('\\');
                (regex_syntax::escape(&c.to_string()), true)
            }
            c => (regex_syntax::escape(&c.to_string()), c.is_alphanumeric()),
        });
    }
    let is_mark = |character: &(String, bool)| !character.1;
    let leading = characters.iter().take_while(|character| is_mark(character)).count();
    let trailing = characters[leading..].iter().rev().take_while(|character| is_mark(character)).count();
    let middle = leading..characters.len() - trailing;
    let mut tokens: Vec<String> = characters[..leading].iter().map(|(regex, _)| regex.clone()).collect();
    if !middle.is_empty() {
        tokens.push(characters[middle.clone()].iter().map(|(regex, _)| regex.as_str()).collect());
    }
    tokens.extend(characters[middle.end..].iter().map(|(regex, _)| regex.clone()));
    Ok(tokens)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cql;

    fn translated(text: &str) -> String {
        let query = translate(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        cql::parse(&query).unwrap_or_else(|error| panic!("{text}: {query}: {}", error.render(&query)));
        query
    }

    #[test]
    fn the_examples_of_the_fcs_specification_are_translated() {
        assert_eq!(translated("cat"), r#"[word="cat"]"#);
        assert_eq!(translated("\"cat\""), r#"[word="cat"]"#);
        assert_eq!(translated("\"grumpy cat\""), r#"([word="grumpy"] [word="cat"])"#);
        assert_eq!(
            translated("cat AND dog"),
            r#"([word="cat"] | [word="dog"]) within ((<s/> containing [word="cat"]) within (<s/> containing [word="dog"]))"#
        );
        assert_eq!(translated("a OR b or a"), r#"[word="a"] | [word="b"]"#);
        for query in [
            "\"grumpy cat\" AND dog",
            "\"grumpy cat\" OR \"lazy dog\"",
            "cat AND (mouse OR \"lazy dog\")",
            "cat not dog",
            "((a))",
        ] {
            translated(query);
        }
        assert_eq!(translated("cql.serverChoice = cat"), r#"[word="cat"]"#);
        assert_eq!(translated("cql.serverChoice adj \"a b\""), r#"([word="a"] [word="b"])"#);
    }

    #[test]
    fn masks_escapes_and_punctuation_mean_what_they_mean_in_cql() {
        assert_eq!(translated("clim*te"), r#"[word="clim.*te"]"#);
        assert_eq!(translated(r"what\?"), r#"[word="what\?"]"#);
        assert_eq!(translated(r#""say \"no\"""#), r#"([word="say"] [word="\"no\""])"#);
        assert_eq!(translated("\"yes, sir\""), r#"([word="yes"] [word=","] [word="sir"])"#);
        assert_eq!(translated("U.S.A"), r#"[word="U\.S\.A"]"#);
        assert_eq!(translated("\"and\""), r#"[word="and"]"#);
    }

    #[test]
    fn what_is_valid_and_not_supported_is_refused_by_its_name() {
        let kind = |text: &str| translate(text).unwrap_err().kind;
        for (text, expected) in [
            ("dc.title = cat", RefusalKind::Index),
            ("cql.serverChoice > cat", RefusalKind::Relation),
            ("cql.serverChoice any \"cat dog\"", RefusalKind::Relation),
            ("cql.serverChoice =/stem cat", RefusalKind::RelationModifier),
            ("cat prox dog", RefusalKind::Boolean),
            ("cat prox/distance=1 dog", RefusalKind::Boolean),
            ("cat and/rel.algorithm=x dog", RefusalKind::BooleanModifier),
            ("> dc = \"info:srw/x\" dc.title = cat", RefusalKind::ContextSet),
            ("cat sortby dc.date", RefusalKind::Sort),
            ("^cat", RefusalKind::Anchor),
            ("\"\"", RefusalKind::EmptyTerm),
            ("*", RefusalKind::Feature),
            ("", RefusalKind::Syntax),
            ("cat dog", RefusalKind::Syntax),
            ("cat and", RefusalKind::Syntax),
            ("and cat", RefusalKind::Syntax),
            ("(cat", RefusalKind::Syntax),
            ("cat)", RefusalKind::Syntax),
            ("\"cat", RefusalKind::Syntax),
        ] {
            assert_eq!(kind(text), expected, "{text}");
        }
        assert_eq!(kind(&"(".repeat(100)), RefusalKind::TooLarge);
        assert_eq!(kind(&format!("a{}", " or a".repeat(200))), RefusalKind::TooLarge);
        assert_eq!(kind(&"a".repeat(5000)), RefusalKind::TooLarge);
    }
}
