//! One test of one field.

use super::{DATE_FIELDS, Period};
use crate::cql::equality;
use crate::syntax::{CompiledMatcher, Cursor, Span, SyntaxError, ValueMatcher};
use jiff::civil::Date;
use std::cmp::Ordering;
use std::fmt;

/// What a field must be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldTest {
    /// The name of the field.
    pub field: String,
    /// What is demanded of it.
    pub predicate: FieldPredicate,
    /// Where the test stands.
    pub span: Span,
}

/// What can be demanded of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldPredicate {
    /// `=`, `!=`, `==`, `!==`: to be, or not to be, such a text, or a day of such a period.
    Text {
        /// It must be something else.
        negated: bool,
        /// What it must be.
        value: ValueMatcher,
    },
    /// `<`, `<=`, `>`, `>=`: dates in their order, numbers in theirs, other texts byte by byte.
    Compared {
        /// On which side.
        comparison: Comparison,
        /// Of what.
        bound: String,
    },
}

/// On which side of a bound.
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

    /// Whether something that compares so to the bound is on the right side.
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
    /// Makes it ready for use.
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
        })
    }

    fn no_date(&self, text: &str) -> SyntaxError {
        SyntaxError::new(self.span, format!("{text} is no date"))
            .help("write 2026, 2026-H1, 2026-Q1, 2026-03, 2026-W09 or 2026-03-01")
    }
}

/// A test of a field that is ready for use.
#[derive(Debug, Clone)]
pub enum FieldMatcher {
    /// The field is, or is not, a day of a period. What is no day belongs to no period.
    Days {
        /// From day to day.
        period: Period,
        /// Must not be.
        negated: bool,
    },
    /// The field has, or has not, such a text.
    Text {
        /// The text.
        matcher: CompiledMatcher,
        /// Must not be.
        negated: bool,
    },
    /// The field lies on one side of a bound. What is empty lies nowhere.
    Compared {
        /// On which side.
        comparison: Comparison,
        /// Of what.
        bound: String,
    },
}

impl FieldMatcher {
    /// Whether a field with this text passes.
    pub fn matches(&self, text: &str) -> bool {
        match self {
            // A date may have a time behind it.
            FieldMatcher::Days { period, negated } => {
                let day = text.get(..10).and_then(|day| day.parse::<Date>().ok());
                day.is_some_and(|day| period.contains(day)) != *negated
            }
            FieldMatcher::Text { matcher, negated } => matcher.matches(text) != *negated,
            FieldMatcher::Compared { .. } if text.is_empty() => false,
            FieldMatcher::Compared { comparison, bound } => comparison.admits(compare(text, bound)),
        }
    }
}

/// As numbers if both are numbers.
fn compare(a: &str, b: &str) -> Ordering {
    match (a.parse::<f64>(), b.parse::<f64>()) {
        (Ok(x), Ok(y)) => x.total_cmp(&y),
        _ => a.cmp(b),
    }
}

pub(super) fn read(cursor: &mut Cursor<'_>) -> Result<FieldTest, SyntaxError> {
    let (field, begun) = cursor.name("a field such as site, date or topic")?;
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
                // Without quotes nobody means a regular expression: site=a.example is that site.
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

/// A value without quotes: up to a blank or a sign of the filter.
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
                write!(f, "{}{}{value}", self.field, equality(*negated, value.exact))
            }
            FieldPredicate::Compared { comparison, bound } => {
                write!(f, "{}{}{}", self.field, comparison.sign(), ValueMatcher::exact(bound.as_str()))
            }
        }
    }
}
