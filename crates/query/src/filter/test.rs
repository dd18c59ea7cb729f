//! Tests of document fields.

use super::hits::{self, HitDocuments, HitTest};
use super::{DATE_FIELDS, Period};
use crate::cql::operator::equality_sign;
use crate::syntax::{CompiledMatcher, Cursor, Span, SyntaxError, ValueMatcher};
use jiff::civil::Date;
use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

/// A test of one field of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldTest {
    /// The name of the field; `id` for `has("…")`, which is about documents as a whole.
    pub field: String,
    /// The predicate.
    pub predicate: FieldPredicate,
    /// The text it was read from.
    pub span: Span,
}

/// A predicate on the value of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldPredicate {
    /// `=`, `!=`, `==`, `!==`: the value matches a text, or is a day of a period.
    Text {
        /// `!=`, `!==`
        negated: bool,
        /// The text or period.
        value: ValueMatcher,
    },
    /// `<`, `<=`, `>`, `>=`: compares dates by day, numbers by value, other texts by bytes.
    Compared {
        /// The comparison.
        comparison: Comparison,
        /// The bound.
        bound: String,
    },
    /// `has("…")`: the document has a hit of a query.
    Hits(HitTest),
}

/// A comparison with a bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// `<`
    Below,
    /// `<=`
    AtMost,
    /// `>=`
    AtLeast,
    /// `>`
    Above,
}

const COMPARISONS: &[(&str, Comparison)] =
    &[("<=", Comparison::AtMost), (">=", Comparison::AtLeast), ("<", Comparison::Below), (">", Comparison::Above)];

impl Comparison {
    fn sign(self) -> &'static str {
        COMPARISONS.iter().find(|(_, comparison)| *comparison == self).map_or("", |(sign, _)| sign)
    }

    /// Returns whether a value with this ordering to the bound passes.
    fn admits(self, ordering: Ordering) -> bool {
        match self {
            Comparison::Below => ordering.is_lt(),
            Comparison::AtMost => ordering.is_le(),
            Comparison::AtLeast => ordering.is_ge(),
            Comparison::Above => ordering.is_gt(),
        }
    }
}

impl FieldTest {
    /// Compiles the test.
    pub fn compile(&self) -> Result<FieldMatcher, SyntaxError> {
        let is_date = DATE_FIELDS.contains(&self.field.as_str());
        let at_span = |error: SyntaxError| SyntaxError { span: self.span, ..error };
        Ok(match &self.predicate {
            FieldPredicate::Text { negated, value } => match Period::parse(&value.text).filter(|_| is_date) {
                Some(period) => FieldMatcher::Days { period, negated: *negated },
                None if is_date && value.exact => return Err(self.no_date(&value.text)),
                None => FieldMatcher::Text { matcher: value.compile().map_err(at_span)?, negated: *negated },
            },
            FieldPredicate::Compared { comparison, bound } if is_date => {
                let period = Period::parse(bound).ok_or_else(|| self.no_date(bound))?;
                let before = |day: Date| day.yesterday().unwrap_or(Date::MIN);
                let after = |day: Date| day.tomorrow().unwrap_or(Date::MAX);
                let (first, last) = match comparison {
                    Comparison::Below => (Date::MIN, before(period.first)),
                    Comparison::AtMost => (Date::MIN, period.last),
                    Comparison::AtLeast => (period.first, Date::MAX),
                    Comparison::Above => (after(period.last), Date::MAX),
                };
                FieldMatcher::Days { period: Period { first, last }, negated: false }
            }
            FieldPredicate::Compared { comparison, bound } => {
                FieldMatcher::Compared { comparison: *comparison, bound: bound.clone() }
            }
            FieldPredicate::Hits(test) => FieldMatcher::Hits(test.documents(self.span)?),
        })
    }

    fn no_date(&self, text: &str) -> SyntaxError {
        SyntaxError::new(self.span, format!("invalid date {text}"))
            .help("write 2026, 2026-H1, 2026-Q1, 2026-03, 2026-W09 or 2026-03-01")
    }
}

/// A compiled test of a field.
#[derive(Debug, Clone)]
pub enum FieldMatcher {
    /// The field is a day of a period. A value that is not a date is in no period.
    Days {
        /// The period.
        period: Period,
        /// `!=`
        negated: bool,
    },
    /// The field matches a text.
    Text {
        /// The matcher.
        matcher: CompiledMatcher,
        /// `!=`
        negated: bool,
    },
    /// The field compares with a bound. An empty value never does.
    Compared {
        /// The comparison.
        comparison: Comparison,
        /// The bound.
        bound: String,
    },
    /// The document is one of those with a hit.
    Hits(Arc<HitDocuments>),
}

impl FieldMatcher {
    /// Returns whether a value passes.
    pub fn matches(&self, text: &str) -> bool {
        match self {
            // A date may have a time after it.
            FieldMatcher::Days { period, negated } => {
                let day = text.get(..10).and_then(|day| day.parse::<Date>().ok());
                day.is_some_and(|day| period.contains(day)) != *negated
            }
            FieldMatcher::Text { matcher, negated } => matcher.matches(text) != *negated,
            FieldMatcher::Compared { .. } if text.is_empty() => false,
            FieldMatcher::Compared { comparison, bound } => comparison.admits(compare(text, bound)),
            FieldMatcher::Hits(documents) => match &**documents {
                HitDocuments::Ids(ids) => u128::from_str_radix(text, 16).is_ok_and(|id| ids.contains(&id)),
                // Which document it is, its fields do not tell: these sets are of an index.
                HitDocuments::Segments(_) => false,
            },
        }
    }
}

/// Compares as numbers if both are numbers.
fn compare(a: &str, b: &str) -> Ordering {
    match (a.parse::<f64>(), b.parse::<f64>()) {
        (Ok(x), Ok(y)) => x.total_cmp(&y),
        _ => a.cmp(b),
    }
}

pub(super) fn read(cursor: &mut Cursor<'_>) -> Result<FieldTest, SyntaxError> {
    let (field, begun) = cursor.name("a field such as site, date or topic")?;
    if field == hits::NAME && cursor.eat("(") {
        let predicate = FieldPredicate::Hits(hits::read(cursor)?);
        return Ok(FieldTest { field: "id".to_owned(), predicate, span: cursor.span_from(begun.start) });
    }
    let predicate = read_predicate(cursor)?;
    let test = FieldTest { field: field.to_owned(), predicate, span: cursor.span_from(begun.start) };
    test.compile()?;
    Ok(test)
}

fn read_predicate(cursor: &mut Cursor<'_>) -> Result<FieldPredicate, SyntaxError> {
    for (sign, comparison) in COMPARISONS {
        if cursor.eat(sign) {
            let bound = match cursor.peek() {
                Some('"') => crate::syntax::unescape(cursor.quoted()?, true),
                _ => read_bare(cursor)?,
            };
            return Ok(FieldPredicate::Compared { comparison: *comparison, bound });
        }
    }
    for (sign, negated, exact) in [("!==", true, true), ("==", false, true), ("!=", true, false), ("=", false, false)] {
        if cursor.eat(sign) {
            let value = match cursor.peek() {
                Some('"') => ValueMatcher::read(cursor, exact)?.0,
                // A value without quotes is literal: in site=a.example the dot is a dot.
                _ => {
                    let mut value = ValueMatcher::exact(read_bare(cursor)?);
                    value.read_flags(cursor)?;
                    value
                }
            };
            return Ok(FieldPredicate::Text { negated, value });
        }
    }
    Err(cursor.unexpected("=, !=, ==, !==, <, <=, > or >="))
}

/// Takes a value without quotes, up to a blank or an operator.
fn read_bare(cursor: &mut Cursor<'_>) -> Result<String, SyntaxError> {
    cursor.skip_blanks();
    let mut value = String::new();
    while !cursor.rest().starts_with("/>") {
        let Some(next) = cursor.rest().chars().next() else { break };
        if next.is_whitespace() || "&|()\"<>%!=".contains(next) {
            break;
        }
        cursor.take_char();
        value.push(next);
    }
    if value.is_empty() { Err(cursor.unexpected("a value")) } else { Ok(value) }
}

impl fmt::Display for FieldTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.predicate {
            FieldPredicate::Text { negated, value } => {
                write!(f, "{}{}{value}", self.field, equality_sign(*negated, value.exact))
            }
            FieldPredicate::Compared { comparison, bound } => {
                write!(f, "{}{}{}", self.field, comparison.sign(), ValueMatcher::exact(bound.as_str()))
            }
            FieldPredicate::Hits(test) => write!(f, "{test}"),
        }
    }
}
