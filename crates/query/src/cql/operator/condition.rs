//! Conditions on one token: tests of attributes, joined by `&`, `|` and `!`.
//!
//! The logic is shared with filters of documents, see [`crate::Logic`].

use super::comparator::{Comparator, number_of, parse_number};
use super::lempos::parse_lempos;
use super::{Operator, OperatorDoc, Syntax};
use crate::cql::attribute::{ATTRIBUTES, Attribute};
use crate::oracle::{OracleToken, Text};
use crate::syntax::{Cursor, Logic, Span, SyntaxError, ValueMatcher, closest};
use std::fmt;

pub(super) const OPERATOR: Operator = Operator {
    doc: OperatorDoc {
        name: "condition",
        syntax: "x=\"…\"  x!=\"…\"  x==\"…\"  x!==\"…\"  x<3  x<=3  x>3  x>=3  f(x)>100  c & d  c | d  !c  (c)",
        meaning: "Compares an attribute with a regular expression anchored at both ends (`=`, `!=`) or with a literal text (`==`, `!==`). \
            `%c` ignores case, `%d` ignores diacritics, `%l` takes the text literally. Layers of numbers compare by value; a token \
            without a number is neither less nor greater. `f(x)` is the number of tokens of the whole corpus that have the same value. \
            `lempos` is a lemma with the letter of its part of speech, as in Sketch Engine. `!` binds tightest, then `&`, then `|`.",
        examples: &[
            (r#"[lemma="go" & word!="go"]"#, "forms of *go* other than *go*"),
            (r#"[word="zoe"%cd]"#, "*Zoe*, *zoë*"),
            (r#"[!(tag="NOUN" | tag="PUNCT")]"#, "anything but nouns and punctuation"),
            (r#"[tag="NOUN" & f(lemma)<10]"#, "rare nouns"),
            (r#"[lempos="test-[nv]"]"#, "the noun and the verb *test*"),
            ("[syllables>=4]", "words of four syllables or more, in a corpus with such a layer"),
        ],
        templates: &[
            "[lemma=\"a\" & word!=\"A\"]",
            "[!(tag=\"N\" | word=\"b.*\")]",
            "[word==\"ab\"%c]",
            "[syllables>1]",
            "[syllables<=2 & word!=\"a\"]",
            "[f(word)>3]",
            "[f(lc)<=9 & f(Case)!=2 | tag=\"V\" & f(lemma)>20]",
            "[lempos!=\"a.*-[nv]\"]",
        ],
    },
    signs: "",
    syntax: Syntax::Other,
};

/// A test of one attribute of a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenTest {
    /// The attribute.
    pub attribute: Attribute,
    /// Its value, or how frequent that is.
    pub quantity: Quantity,
    /// `!=`, `!==`
    pub negated: bool,
    /// `<`, `<=`, `>`, `>=` of numbers.
    pub comparator: Comparator,
    /// The value it is compared with.
    pub value: ValueMatcher,
    /// The text it was read from.
    pub span: Span,
}

/// What is compared of an attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Quantity {
    /// `lemma`: its value.
    #[default]
    Value,
    /// `f(lemma)`: the number of tokens of the whole corpus with the same value.
    Frequency,
}

pub(super) fn parse_token_test(cursor: &mut Cursor<'_>) -> Result<Logic<TokenTest>, SyntaxError> {
    cursor.skip_blanks();
    let start = cursor.at();
    if matches!(cursor.peek(), Some('"' | '\'')) {
        let (value, _) = ValueMatcher::read(cursor, false)?;
        return Ok(Logic::Test(TokenTest::of(Attribute::Word, value, cursor.span_from(start))));
    }
    if cursor.peek_name() == "lempos" {
        return parse_lempos(cursor);
    }
    let (attribute, quantity) = parse_quantity(cursor, &mut parse_attribute)?;
    let test = |cursor: &Cursor<'_>, negated, comparator, value| {
        let span = cursor.span_from(start);
        Ok(Logic::Test(TokenTest { quantity, negated, comparator, ..TokenTest::of(attribute, value, span) }))
    };
    if let Some(comparator) = Comparator::parse_order(cursor) {
        let Some(number) = parse_number(cursor)? else { return Err(cursor.unexpected("a number")) };
        return test(cursor, false, comparator, ValueMatcher::exact(number));
    }
    let (negated, exact) = parse_equality(cursor)?;
    let value = match parse_number(cursor)? {
        Some(number) => ValueMatcher::exact(number),
        None if quantity == Quantity::Frequency => return Err(cursor.unexpected("a number")),
        None => ValueMatcher::read(cursor, exact)?.0,
    };
    test(cursor, negated, Comparator::Equal, value)
}

/// `x`, or `f(x)` for its frequency.
pub(super) fn parse_quantity<T>(
    cursor: &mut Cursor<'_>,
    parse: &mut impl FnMut(&mut Cursor<'_>) -> Result<T, SyntaxError>,
) -> Result<(T, Quantity), SyntaxError> {
    let mut ahead = cursor.clone();
    if !(["f", "freq"].contains(&ahead.take_name()) && ahead.rest().starts_with('(')) {
        return Ok((parse(cursor)?, Quantity::Value));
    }
    ahead.eat("(");
    *cursor = ahead;
    let of = parse(cursor)?;
    cursor.expect(")", "to close the frequency")?;
    Ok((of, Quantity::Frequency))
}

pub(super) fn parse_attribute(cursor: &mut Cursor<'_>) -> Result<Attribute, SyntaxError> {
    let (plain, mut span) = cursor.name("an attribute such as word, lemma or tag")?;
    let mut name = plain.to_owned();
    // `Number[psor]`: a feature may have a layer.
    if plain.starts_with(|c: char| c.is_ascii_uppercase()) && cursor.rest().starts_with('[') {
        cursor.eat("[");
        let (layer, _) = cursor.name("the layer of a feature, as in Number[psor]")?;
        cursor.expect("]", "to close the layer")?;
        name = format!("{plain}[{layer}]");
        span = cursor.span_from(span.start);
    }
    Attribute::named(&name).ok_or_else(|| {
        let known: Vec<&str> = ATTRIBUTES.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        SyntaxError::new(span, format!("unknown attribute {name}")).help(suggest_attribute(&name, &known))
    })
}

/// Suggests the closest of the known names by Damerau–Levenshtein distance, or lists them.
pub(crate) fn suggest_attribute(name: &str, known: &[&str]) -> String {
    match closest(name, known.iter().copied()) {
        Some(closest) => format!("did you mean {closest}?"),
        None => format!("there are {}, and features such as Case or Number", known.join(", ")),
    }
}

/// `=`, `!=`, `==`, `!==`: returns whether it is negated and whether the text is literal.
pub(super) fn parse_equality(cursor: &mut Cursor<'_>) -> Result<(bool, bool), SyntaxError> {
    for (sign, meaning) in [("!==", (true, true)), ("==", (false, true)), ("!=", (true, false)), ("=", (false, false))]
    {
        if cursor.eat(sign) {
            return Ok(meaning);
        }
    }
    Err(cursor.unexpected("=, !=, == or !=="))
}

pub(crate) fn equality_sign(negated: bool, exact: bool) -> &'static str {
    match (negated, exact) {
        (false, false) => "=",
        (true, false) => "!=",
        (false, true) => "==",
        (true, true) => "!==",
    }
}

impl fmt::Display for TokenTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.attribute.name();
        match (self.quantity, self.comparator) {
            (Quantity::Value, Comparator::Equal) => {
                write!(f, "{name}{}{}", equality_sign(self.negated, self.value.exact), self.value)
            }
            (Quantity::Value, order) => write!(f, "{name}{}{}", order.sign(), self.value.text),
            (Quantity::Frequency, order) => {
                write!(f, "f({name}){}{}{}", if self.negated { "!" } else { "" }, order.sign(), self.value.text)
            }
        }
    }
}

impl TokenTest {
    /// The test that the value of an attribute matches.
    pub(crate) fn of(attribute: Attribute, value: ValueMatcher, span: Span) -> TokenTest {
        TokenTest { attribute, quantity: Quantity::Value, negated: false, comparator: Comparator::Equal, value, span }
    }

    /// The text of the attribute's name, which begins the test.
    pub(crate) fn name_span(&self) -> Span {
        Span::new(self.span.start, self.span.end.min(self.span.start + self.attribute.name().len()))
    }

    /// The oracle. The engine tests lexemes instead, see [`crate::engine`].
    pub(super) fn oracle_matches(&self, text: &Text<'_>, token: &OracleToken<'_>) -> bool {
        let matches = match self.quantity {
            Quantity::Value => token.compares(self.attribute, self.comparator, &self.value),
            Quantity::Frequency => {
                let number = number_of(&self.value.text).expect("a frequency is compared with a number");
                self.comparator.holds(text.frequency(self.attribute, token) as f64, number)
            }
        };
        matches != self.negated
    }
}
