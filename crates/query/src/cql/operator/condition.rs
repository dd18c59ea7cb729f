//! Conditions on one token: tests of attributes, joined by `&`, `|` and `!`.
//!
//! The logic is shared with filters of documents, see [`crate::Logic`].

use super::{Operator, OperatorDoc, Syntax};
use crate::cql::attribute::{ATTRIBUTES, Attribute};
use crate::oracle;
use crate::syntax::{Cursor, Span, SyntaxError, ValueMatcher, closest};
use std::fmt;
use tidings_model::Token;

pub(super) const OPERATOR: Operator = Operator {
    doc: OperatorDoc {
        name: "condition",
        syntax: "x=\"…\"  x!=\"…\"  x==\"…\"  x!==\"…\"  c & d  c | d  !c  (c)",
        meaning: "Compares an attribute with a regular expression anchored at both ends (`=`, `!=`) or with a literal text (`==`, `!==`). \
            `%c` ignores case, `%d` ignores diacritics, `%l` takes the text literally. `!` binds tightest, then `&`, then `|`.",
        examples: &[
            (r#"[lemma="go" & word!="go"]"#, "forms of *go* other than *go*"),
            (r#"[word="zoe"%cd]"#, "*Zoe*, *zoë*"),
            (r#"[!(tag="NOUN" | tag="PUNCT")]"#, "anything but nouns and punctuation"),
        ],
        templates: &["[lemma=\"a\" & word!=\"A\"]", "[!(tag=\"N\" | word=\"b.*\")]", "[word==\"ab\"%c]"],
    },
    signs: "",
    syntax: Syntax::Other,
};

/// A test of one attribute of a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenTest {
    /// The attribute.
    pub attribute: Attribute,
    /// `!=`, `!==`
    pub negated: bool,
    /// The value it is compared with.
    pub value: ValueMatcher,
    /// The text it was read from.
    pub span: Span,
}

pub(super) fn parse_token_test(cursor: &mut Cursor<'_>) -> Result<TokenTest, SyntaxError> {
    cursor.skip_blanks();
    let start = cursor.at();
    if cursor.peek() == Some('"') {
        let (value, _) = ValueMatcher::read(cursor, false)?;
        return Ok(TokenTest { attribute: Attribute::Word, negated: false, value, span: cursor.span_from(start) });
    }
    let attribute = parse_attribute(cursor)?;
    let (negated, exact) = parse_equality(cursor)?;
    let (value, _) = ValueMatcher::read(cursor, exact)?;
    Ok(TokenTest { attribute, negated, value, span: cursor.span_from(start) })
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
        SyntaxError::new(span, format!("unknown attribute {name}")).help(suggest(&name, &known))
    })
}

/// Suggests the closest of the known names by Damerau–Levenshtein distance, or lists them.
fn suggest(name: &str, known: &[&str]) -> String {
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
        write!(f, "{}{}{}", self.attribute.name(), equality_sign(self.negated, self.value.exact), self.value)
    }
}

impl TokenTest {
    /// The oracle. The engine tests lexemes instead, see [`crate::engine`].
    pub(super) fn oracle_matches(&self, token: &Token) -> bool {
        oracle::attribute_matches(token, self.attribute, &self.value) != self.negated
    }
}
