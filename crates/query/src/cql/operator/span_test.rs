//! Conditions on the attributes of a span, as in `<ne type="ORG" & name="Bank.*"/>`.

use super::condition::{equality_sign, parse_equality};
use crate::cql::name::Name;
use crate::syntax::{Cursor, Span, SyntaxError, ValueMatcher};
use std::fmt;

/// A test of one attribute of a span. A span without the attribute has the empty value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpanTest {
    /// The attribute.
    pub attribute: Name,
    /// `!=`, `!==`
    pub negated: bool,
    /// The value it is compared with.
    pub value: ValueMatcher,
    /// The text it was read from.
    pub span: Span,
}

pub(super) fn parse_span_test(cursor: &mut Cursor<'_>) -> Result<SpanTest, SyntaxError> {
    cursor.skip_blanks();
    let start = cursor.at();
    let (name, at) = cursor.name("an attribute of the span")?;
    let attribute = Name::new(name).ok_or_else(|| SyntaxError::new(at, format!("unknown attribute {name}")))?;
    let (negated, exact) = parse_equality(cursor)?;
    let (value, _) = ValueMatcher::read(cursor, exact)?;
    Ok(SpanTest { attribute, negated, value, span: cursor.span_from(start) })
}

impl fmt::Display for SpanTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}{}", self.attribute, equality_sign(self.negated, self.value.exact), self.value)
    }
}

impl SpanTest {
    /// The oracle.
    pub(super) fn oracle_matches(&self, span: &tidings_model::TokenSpan) -> bool {
        let value = span.attribute(self.attribute.as_str()).unwrap_or_default();
        self.value.compile().expect("a parsed expression compiles").matches(value) != self.negated
    }
}
