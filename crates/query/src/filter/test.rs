//! One test of one field.

use super::{DATE_FIELDS, Period};
use crate::cql::equality;
use crate::syntax::{Cursor, Matcher, Place, SyntaxError, Wanted};
use jiff::civil::Date;
use std::cmp::Ordering;
use std::fmt;

/// What a field must be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldTest {
    /// The name of the field.
    pub field: String,
    /// What is demanded of it.
    pub demand: Demand,
    /// Where the test stands.
    pub place: Place,
}

/// What can be demanded of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Demand {
    /// `=`, `!=`, `==`, `!==`: to be, or not to be, such a text, or a day of such a period.
    Text {
        /// It must be something else.
        negated: bool,
        /// What it must be.
        wanted: Wanted,
    },
    /// `<`, `<=`, `>`, `>=`: dates in their order, numbers in theirs, other texts byte by byte.
    Compared {
        /// On which side.
        order: Order,
        /// Of what.
        bound: String,
    },
}

/// On which side of a bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// `<`
    Below,
    /// `<=`
    AtMost,
    /// `>=`
    AtLeast,
    /// `>`
    Above,
}

const ORDERS: &[(&str, Order)] =
    &[("<=", Order::AtMost), (">=", Order::AtLeast), ("<", Order::Below), (">", Order::Above)];

impl Order {
    fn sign(self) -> &'static str {
        ORDERS.iter().find(|(_, order)| *order == self).map_or("", |(sign, _)| sign)
    }

    /// Whether something that compares so to the bound is on the right side.
    fn admits(self, ordering: Ordering) -> bool {
        match self {
            Order::Below => ordering.is_lt(),
            Order::AtMost => ordering.is_le(),
            Order::AtLeast => ordering.is_ge(),
            Order::Above => ordering.is_gt(),
        }
    }
}

impl FieldTest {
    /// Makes it ready for use.
    pub fn compile(&self) -> Result<FieldMatcher, SyntaxError> {
        let is_date = DATE_FIELDS.contains(&self.field.as_str());
        let at_place = |error: SyntaxError| SyntaxError { place: self.place, ..error };
        Ok(match &self.demand {
            Demand::Text { negated, wanted } => match Period::parse(&wanted.text).filter(|_| is_date) {
                Some(period) => FieldMatcher::Days { period, negated: *negated },
                None if is_date && wanted.exact => return Err(self.no_date(&wanted.text)),
                None => FieldMatcher::Text { matcher: wanted.matcher().map_err(at_place)?, negated: *negated },
            },
            Demand::Compared { order, bound } if is_date => {
                let period = Period::parse(bound).ok_or_else(|| self.no_date(bound))?;
                let before = |day: Date| day.yesterday().unwrap_or(Date::MIN);
                let after = |day: Date| day.tomorrow().unwrap_or(Date::MAX);
                let (first, last) = match order {
                    Order::Below => (Date::MIN, before(period.first)),
                    Order::AtMost => (Date::MIN, period.last),
                    Order::AtLeast => (period.first, Date::MAX),
                    Order::Above => (after(period.last), Date::MAX),
                };
                FieldMatcher::Days { period: Period { first, last }, negated: false }
            }
            Demand::Compared { order, bound } => FieldMatcher::Order { order: *order, bound: bound.clone() },
        })
    }

    fn no_date(&self, text: &str) -> SyntaxError {
        SyntaxError::new(self.place, format!("{text} is no date"))
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
        matcher: Matcher,
        /// Must not be.
        negated: bool,
    },
    /// The field lies on one side of a bound. What is empty lies nowhere.
    Order {
        /// On which side.
        order: Order,
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
            FieldMatcher::Order { .. } if text.is_empty() => false,
            FieldMatcher::Order { order, bound } => order.admits(compare(text, bound)),
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
    let demand = read_demand(cursor)?;
    let test = FieldTest { field: field.to_owned(), demand, place: cursor.place_from(begun.from) };
    test.compile()?;
    Ok(test)
}

fn read_demand(cursor: &mut Cursor<'_>) -> Result<Demand, SyntaxError> {
    for (sign, order) in ORDERS {
        if cursor.eat(sign) {
            let bound = match cursor.peek() {
                Some('"') => crate::syntax::unescape(cursor.quoted()?, true),
                _ => read_bare(cursor)?,
            };
            return Ok(Demand::Compared { order: *order, bound });
        }
    }
    for (sign, negated, exact) in [("!==", true, true), ("==", false, true), ("!=", true, false), ("=", false, false)] {
        if cursor.eat(sign) {
            let wanted = match cursor.peek() {
                Some('"') => Wanted::read(cursor, exact)?.0,
                // Without quotes nobody means a regular expression: site=a.example is that site.
                _ => {
                    let mut wanted = Wanted::exact(read_bare(cursor)?);
                    wanted.read_flags(cursor)?;
                    wanted
                }
            };
            return Ok(Demand::Text { negated, wanted });
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
        match &self.demand {
            Demand::Text { negated, wanted } => write!(f, "{}{}{wanted}", self.field, equality(*negated, wanted.exact)),
            Demand::Compared { order, bound } => {
                write!(f, "{}{}{}", self.field, order.sign(), Wanted::exact(bound.as_str()))
            }
        }
    }
}
