//! FCS-QL, the query language of the advanced search of CLARIN FCS 2.0.
//!
//! All of the language is parsed. The layers `text` (also `word` and `token`), `lemma` and `pos` are those of the corpus; other
//! layers, qualifiers and the scopes of spoken language are refused by name. Regular expressions keep their text: both sides have
//! the usual operators.

use super::{Bounds, Refusal, RefusalKind, Result, Scanner, check_length, string};

/// Translates a query to CQL of Tidings.
pub fn translate(text: &str) -> Result<String> {
    check_length(text)?;
    let mut parser = Parser { scanner: Scanner::new(text), bounds: Bounds::default(), query: String::new() };
    parser.alternatives()?;
    if parser.scanner.eat_word("within") {
        parser.within()?;
    }
    parser.scanner.skip_blanks();
    match parser.scanner.peek() {
        None => Ok(parser.query),
        Some(c) => Err(parser.refusal(RefusalKind::Syntax, format!("unexpected `{c}`"))),
    }
}

struct Parser<'t> {
    scanner: Scanner<'t>,
    bounds: Bounds,
    /// The translation so far.
    query: String,
}

impl Parser<'_> {
    fn refusal(&self, kind: RefusalKind, message: impl Into<String>) -> Refusal {
        Refusal::new(kind, self.scanner.at, message)
    }

    /// Sequences separated by `|`.
    fn alternatives(&mut self) -> Result<()> {
        self.sequence()?;
        while self.scanner.eat("|") {
            self.query.push_str(" | ");
            self.sequence()?;
        }
        Ok(())
    }

    fn sequence(&mut self) -> Result<()> {
        self.part()?;
        loop {
            self.scanner.skip_blanks();
            match self.scanner.peek() {
                Some('(' | '[' | '"' | '\'') => {
                    self.query.push(' ');
                    self.part()?;
                }
                _ => return Ok(()),
            }
        }
    }

    /// A segment, a string or a group, perhaps repeated.
    fn part(&mut self) -> Result<()> {
        self.scanner.skip_blanks();
        self.bounds.term(self.scanner.at)?;
        match self.scanner.next() {
            Some('(') => {
                self.bounds.enter(self.scanner.at)?;
                self.query.push('(');
                self.alternatives()?;
                self.closing(")")?;
                self.bounds.leave();
            }
            Some('[') => {
                self.query.push('[');
                self.scanner.skip_blanks();
                if self.scanner.peek() != Some(']') {
                    self.expression()?;
                }
                self.closing("]")?;
            }
            Some(mark @ ('"' | '\'')) => {
                self.query.push('[');
                self.test("word", "=", mark)?;
                self.query.push(']');
            }
            Some(c) => {
                let message = format!("unexpected `{c}`; a segment in brackets, a string or a group is expected");
                return Err(self.refusal(RefusalKind::Syntax, message));
            }
            None => return Err(self.refusal(RefusalKind::Syntax, "a segment is missing")),
        }
        self.quantifier()
    }

    fn closing(&mut self, sign: &str) -> Result<()> {
        match self.scanner.eat(sign) {
            true => {
                self.query.push_str(sign);
                Ok(())
            }
            false => Err(self.refusal(RefusalKind::Syntax, format!("a closing {sign} is missing"))),
        }
    }

    fn quantifier(&mut self) -> Result<()> {
        if let Some(sign) = ["+", "*", "?"].into_iter().find(|sign| self.scanner.eat(sign)) {
            self.query.push_str(sign);
            return Ok(());
        }
        if !self.scanner.eat("{") {
            return Ok(());
        }
        let number = |scanner: &mut Scanner<'_>| {
            scanner.skip_blanks();
            scanner.take_while(|c| c.is_ascii_digit()).to_owned()
        };
        let least = number(&mut self.scanner);
        let has_comma = self.scanner.eat(",");
        let most = if has_comma { number(&mut self.scanner) } else { String::new() };
        if least.is_empty() && most.is_empty() || least.len() > 4 || most.len() > 4 {
            return Err(self.refusal(RefusalKind::Syntax, "a repetition needs one or two numbers, as in {2,5}"));
        }
        self.query.push('{');
        self.query.push_str(&least);
        if has_comma {
            self.query.push(',');
            self.query.push_str(&most);
        }
        self.closing("}")
    }

    /// Conditions on one segment. `&` binds more tightly than `|`, as in CQL.
    fn expression(&mut self) -> Result<()> {
        self.condition()?;
        loop {
            let Some(sign) = ["&", "|"].into_iter().find(|sign| self.scanner.eat(sign)) else { return Ok(()) };
            self.query.push_str(&format!(" {sign} "));
            self.condition()?;
        }
    }

    fn condition(&mut self) -> Result<()> {
        self.bounds.term(self.scanner.at)?;
        if self.scanner.eat("!") {
            self.bounds.enter(self.scanner.at)?;
            self.query.push('!');
            self.condition()?;
            self.bounds.leave();
            return Ok(());
        }
        if self.scanner.eat("(") {
            self.bounds.enter(self.scanner.at)?;
            self.query.push('(');
            self.expression()?;
            self.closing(")")?;
            self.bounds.leave();
            return Ok(());
        }
        let attribute = self.attribute()?;
        let operator = ["!=", "="].into_iter().find(|sign| self.scanner.eat(sign));
        let operator = operator.ok_or_else(|| self.refusal(RefusalKind::Syntax, "= or != is expected"))?;
        self.scanner.skip_blanks();
        match self.scanner.next() {
            Some(mark @ ('"' | '\'')) => self.test(attribute, operator, mark),
            _ => Err(self.refusal(RefusalKind::Syntax, "a string in quotation marks is expected")),
        }
    }

    /// The attribute of a layer.
    fn attribute(&mut self) -> Result<&'static str> {
        self.scanner.skip_blanks();
        let at = self.scanner.at;
        let identifier =
            |scanner: &mut Scanner<'_>| scanner.take_while(|c| c.is_ascii_alphanumeric() || c == '-').to_owned();
        let name = identifier(&mut self.scanner);
        if name.is_empty() {
            return Err(self.refusal(RefusalKind::Syntax, "the name of a layer is missing"));
        }
        if self.scanner.eat(":") {
            let layer = identifier(&mut self.scanner);
            let message =
                format!("there is no layer {name}:{layer}; the layers text, lemma and pos have no qualifiers");
            return Err(Refusal::new(RefusalKind::Index, at, message));
        }
        match name.as_str() {
            "text" | "word" | "token" => Ok("word"),
            "lemma" => Ok("lemma"),
            "pos" => Ok("tag"),
            _ => {
                let message = format!("there is no layer {name}; available: text, lemma, pos");
                Err(Refusal::new(RefusalKind::Index, at, message))
            }
        }
    }

    /// A comparison with the string whose opening mark was taken, and its flags.
    fn test(&mut self, attribute: &str, operator: &str, mark: char) -> Result<()> {
        let raw = self.scanner.quoted(mark)?;
        // In strings with the other mark this one is an ordinary character.
        let regex = if mark == '\'' { raw.replace("\\'", "'") } else { raw.to_owned() };
        let (mut caseless, mut cased, mut markless, mut literal) = (false, false, false, false);
        let before = self.scanner.clone();
        if self.scanner.eat("/") {
            let flags = self.scanner.take_while(|c| c.is_ascii_alphabetic());
            for flag in flags.chars() {
                match flag {
                    'i' | 'c' => caseless = true,
                    'I' | 'C' => cased = true,
                    'd' => markless = true,
                    'l' => literal = true,
                    _ => {
                        let message = format!("unknown flag {flag}; there are i, I, c, C, l and d");
                        return Err(self.refusal(RefusalKind::Syntax, message));
                    }
                }
            }
            if flags.is_empty() || caseless && cased {
                let message = "a slash needs one or more of the flags i, I, c, C, l and d, which agree";
                return Err(Refusal::new(RefusalKind::Syntax, before.at, message));
            }
        }
        self.query.push_str(attribute);
        self.query.push_str(operator);
        self.query.push_str(&string(&regex));
        for (is_set, flag) in [(literal, "%l"), (caseless, "%c"), (markless, "%d")] {
            self.query.push_str(if is_set { flag } else { "" });
        }
        Ok(())
    }

    fn within(&mut self) -> Result<()> {
        self.scanner.skip_blanks();
        let at = self.scanner.at;
        let scope = self.scanner.take_while(|c| c.is_ascii_alphabetic());
        let structure = match scope {
            "sentence" | "s" => "s",
            "paragraph" | "p" => "p",
            "text" => "doc",
            "utterance" | "u" | "turn" | "t" | "session" => {
                let message = format!("the corpus has no structure {scope}; use sentence, paragraph or text");
                return Err(Refusal::new(RefusalKind::Feature, at, message));
            }
            _ => {
                let message = "behind within: sentence, s, paragraph, p or text";
                return Err(Refusal::new(RefusalKind::Syntax, at, message));
            }
        };
        self.query.push_str(&format!(" within <{structure}/>"));
        Ok(())
    }
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
    fn the_examples_of_the_specification_are_translated() {
        for (text, query) in [
            ("\"walking\"", r#"[word="walking"]"#),
            ("[token = \"walking\"]", r#"[word="walking"]"#),
            ("\"Dog\" /c", r#"[word="Dog"%c]"#),
            ("[word = \"Dog\" /c]", r#"[word="Dog"%c]"#),
            ("[pos = \"NOUN\"]", r#"[tag="NOUN"]"#),
            ("[pos != \"NOUN\"]", r#"[tag!="NOUN"]"#),
            ("[lemma = \"walk\"]", r#"[lemma="walk"]"#),
            ("\"blaue|grüne\" [pos = \"NOUN\"]", r#"[word="blaue|grüne"] [tag="NOUN"]"#),
            ("\"dogs\" []{3,} \"cats\" within s", r#"[word="dogs"] []{3,} [word="cats"] within <s/>"#),
        ] {
            assert_eq!(translated(text), query);
        }
        for text in ["[z:pos = \"ADJ\"]", "[z:pos = \"ADJ\" & q:pos = \"ADJ\"]"] {
            assert_eq!(translate(text).unwrap_err().kind, RefusalKind::Index, "{text}");
        }
    }

    #[test]
    fn groups_repetitions_conditions_and_flags_are_kept() {
        for (text, query) in [
            ("('a'|'b')+ \"c\"?", r#"([word="a"] | [word="b"])+ [word="c"]?"#),
            ("[!(pos=\"NOUN\"|pos=\"PROPN\") & lemma='x'/id]", r#"[!(tag="NOUN" | tag="PROPN") & lemma="x"%c%d]"#),
            ("\"a.b\"/l", r#"[word="a.b"%l]"#),
            ("[]{,2} 'it\\'s'", r#"[]{,2} [word="it's"]"#),
            ("'say \"x\"'", r#"[word="say \"x\""]"#),
            ("\"a\" within paragraph", r#"[word="a"] within <p/>"#),
            ("\"a\" within text", r#"[word="a"] within <doc/>"#),
        ] {
            assert_eq!(translated(text), query);
        }
    }

    #[test]
    fn other_layers_scopes_and_faults_are_refused() {
        let kind = |text: &str| translate(text).unwrap_err().kind;
        for (text, expected) in [
            ("[phonetic = \"a\"]", RefusalKind::Index),
            ("[norm = \"a\"]", RefusalKind::Index),
            ("\"a\" within utterance", RefusalKind::Feature),
            ("\"a\" within clause", RefusalKind::Syntax),
            ("", RefusalKind::Syntax),
            ("walking", RefusalKind::Syntax),
            ("[word]", RefusalKind::Syntax),
            ("[word=\"a\"", RefusalKind::Syntax),
            ("(\"a\"", RefusalKind::Syntax),
            ("\"a", RefusalKind::Syntax),
            ("\"a\"/x", RefusalKind::Syntax),
            ("\"a\"/iI", RefusalKind::Syntax),
            ("\"a\"{}", RefusalKind::Syntax),
            ("\"a\" |", RefusalKind::Syntax),
            ("\"a\" ]", RefusalKind::Syntax),
        ] {
            assert_eq!(kind(text), expected, "{text}");
        }
        assert_eq!(kind(&"(".repeat(40)), RefusalKind::TooLarge);
        assert_eq!(kind(&format!("[{}word=\"a\"]", "!".repeat(40))), RefusalKind::TooLarge);
        assert_eq!(kind(&"\"a\"".repeat(200)), RefusalKind::TooLarge);
    }
}
