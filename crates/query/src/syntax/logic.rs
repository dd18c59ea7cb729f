//! Boolean logic of conditions on tokens and on documents.

use super::{Cursor, SyntaxError};
use std::fmt;

/// A Boolean expression of tests. `&` binds more tightly than `|`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Logic<T> {
    /// One test.
    Test(T),
    /// The negation.
    Not(Box<Logic<T>>),
    /// A conjunction of two or more.
    All(Vec<Logic<T>>),
    /// A disjunction of two or more.
    Any(Vec<Logic<T>>),
}

impl<T> Logic<T> {
    /// Returns true if the condition holds, given a function that evaluates single tests.
    pub fn holds(&self, evaluate: &mut impl FnMut(&T) -> bool) -> bool {
        match self {
            Logic::Test(test) => evaluate(test),
            Logic::Not(part) => !part.holds(evaluate),
            Logic::All(parts) => parts.iter().all(|part| part.holds(evaluate)),
            Logic::Any(parts) => parts.iter().any(|part| part.holds(evaluate)),
        }
    }

    /// Maps the tests, for example to compiled ones.
    pub fn try_map<U, E>(&self, change: &mut impl FnMut(&T) -> Result<U, E>) -> Result<Logic<U>, E> {
        let mut parts_of =
            |parts: &[Logic<T>]| parts.iter().map(|part| part.try_map(change)).collect::<Result<Vec<_>, E>>();
        Ok(match self {
            Logic::All(parts) => Logic::All(parts_of(parts)?),
            Logic::Any(parts) => Logic::Any(parts_of(parts)?),
            Logic::Not(part) => Logic::Not(Box::new(part.try_map(change)?)),
            Logic::Test(test) => Logic::Test(change(test)?),
        })
    }

    /// All tests, from left to right.
    pub fn tests(&self) -> Vec<&T> {
        match self {
            Logic::Test(test) => vec![test],
            Logic::Not(part) => part.tests(),
            Logic::All(parts) | Logic::Any(parts) => parts.iter().flat_map(Logic::tests).collect(),
        }
    }
}

impl<T> Logic<Logic<T>> {
    /// A condition of conditions as one.
    pub fn flatten(self) -> Logic<T> {
        let flat = |parts: Vec<Logic<Logic<T>>>| parts.into_iter().map(Logic::flatten).collect();
        match self {
            Logic::Test(inner) => inner,
            Logic::Not(part) => Logic::Not(Box::new(part.flatten())),
            Logic::All(parts) => Logic::All(flat(parts)),
            Logic::Any(parts) => Logic::Any(flat(parts)),
        }
    }
}

impl<T: fmt::Display> Logic<T> {
    /// Prints one operand, in parentheses unless it is a test or a negation.
    fn operand(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Logic::Test(_) | Logic::Not(_) => write!(f, "{self}"),
            Logic::All(_) | Logic::Any(_) => write!(f, "({self})"),
        }
    }
}

/// The canonical text, which is parsed back as the same condition.
impl<T: fmt::Display> fmt::Display for Logic<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (parts, sign) = match self {
            Logic::Test(test) => return write!(f, "{test}"),
            Logic::Not(part) => {
                f.write_str("!")?;
                return part.operand(f);
            }
            Logic::All(parts) => (parts, " & "),
            Logic::Any(parts) => (parts, " | "),
        };
        for (i, part) in parts.iter().enumerate() {
            if i > 0 {
                f.write_str(sign)?;
            }
            match part {
                // `&` binds more tightly than `|`: a conjunction in a disjunction needs no parentheses.
                Logic::All(_) if sign == " | " => write!(f, "{part}")?,
                _ => part.operand(f)?,
            }
        }
        Ok(())
    }
}

/// Parses a condition. With `blank_means_and`, `&` can be left out, as between the fields of a structure.
pub(crate) fn read_logic<T>(
    cursor: &mut Cursor<'_>,
    blank_means_and: bool,
    read_test: &mut impl FnMut(&mut Cursor<'_>) -> Result<T, SyntaxError>,
) -> Result<Logic<T>, SyntaxError> {
    cursor.deeper(|cursor| {
        let mut alternatives = vec![read_conjunction(cursor, blank_means_and, read_test)?];
        while cursor.eat("|") {
            alternatives.push(read_conjunction(cursor, blank_means_and, read_test)?);
        }
        Ok(one_or(alternatives, Logic::Any))
    })
}

fn read_conjunction<T>(
    cursor: &mut Cursor<'_>,
    blank_means_and: bool,
    read_test: &mut impl FnMut(&mut Cursor<'_>) -> Result<T, SyntaxError>,
) -> Result<Logic<T>, SyntaxError> {
    let mut parts = vec![read_operand(cursor, blank_means_and, read_test)?];
    while cursor.eat("&") || (blank_means_and && begins_operand(cursor)) {
        parts.push(read_operand(cursor, blank_means_and, read_test)?);
    }
    Ok(one_or(parts, Logic::All))
}

fn begins_operand(cursor: &mut Cursor<'_>) -> bool {
    matches!(cursor.peek(), Some(c) if c == '(' || c == '!' || super::cursor::is_name(c))
}

fn read_operand<T>(
    cursor: &mut Cursor<'_>,
    blank_means_and: bool,
    read_test: &mut impl FnMut(&mut Cursor<'_>) -> Result<T, SyntaxError>,
) -> Result<Logic<T>, SyntaxError> {
    if cursor.eat("!") {
        return cursor.deeper(|cursor| Ok(Logic::Not(Box::new(read_operand(cursor, blank_means_and, read_test)?))));
    }
    if cursor.eat("(") {
        let inner = read_logic(cursor, blank_means_and, read_test)?;
        cursor.expect(")", "to close the parenthesis")?;
        return Ok(inner);
    }
    Ok(Logic::Test(read_test(cursor)?))
}

fn one_or<T>(mut parts: Vec<Logic<T>>, many: fn(Vec<Logic<T>>) -> Logic<T>) -> Logic<T> {
    if parts.len() == 1 { parts.remove(0) } else { many(parts) }
}
