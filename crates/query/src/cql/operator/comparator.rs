//! Comparisons of numbers, as in `[syllables>3]`.

use crate::syntax::{Cursor, SyntaxError};
use std::cmp::Ordering;

/// The comparison of a value with another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Comparator {
    /// `=`, `!=`, `==`, `!==`: a match of a text; of a layer of numbers the same number.
    #[default]
    Equal,
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>`
    Greater,
    /// `>=`
    AtLeast,
}

impl Comparator {
    const ORDERS: [Comparator; 4] = [Comparator::AtMost, Comparator::AtLeast, Comparator::Less, Comparator::Greater];

    /// Its sign; that of equality depends on more than the comparison.
    pub(crate) fn sign(self) -> &'static str {
        match self {
            Comparator::Equal => "=",
            Comparator::Less => "<",
            Comparator::AtMost => "<=",
            Comparator::Greater => ">",
            Comparator::AtLeast => ">=",
        }
    }

    /// Takes `<`, `<=`, `>` or `>=` if one comes next.
    pub(super) fn parse_order(cursor: &mut Cursor<'_>) -> Option<Comparator> {
        Comparator::ORDERS.into_iter().find(|comparator| cursor.eat(comparator.sign()))
    }

    /// Returns true if a number compares so with another.
    pub(crate) fn holds(self, number: f64, other: f64) -> bool {
        let order = number.partial_cmp(&other);
        match self {
            Comparator::Equal => order == Some(Ordering::Equal),
            Comparator::Less => order == Some(Ordering::Less),
            Comparator::AtMost => order.is_some_and(Ordering::is_le),
            Comparator::Greater => order == Some(Ordering::Greater),
            Comparator::AtLeast => order.is_some_and(Ordering::is_ge),
        }
    }
}

/// The number that a text is.
pub(crate) fn number_of(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

/// Takes a number without quotes if one comes next; returns its text.
pub(super) fn parse_number(cursor: &mut Cursor<'_>) -> Result<Option<String>, SyntaxError> {
    cursor.skip_blanks();
    let start = cursor.at();
    if !cursor.rest().starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '.') {
        return Ok(None);
    }
    let text = cursor.take_while(|c| c.is_ascii_digit() || c == '-' || c == '.');
    match number_of(text) {
        Some(_) => Ok(Some(text.to_owned())),
        None => Err(SyntaxError::new(cursor.span_from(start), format!("{text} is not a number"))),
    }
}
