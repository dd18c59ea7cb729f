//! Virtual corpora: which documents a question is about.
//!
//! `site="gazette.example" & date>="2026-01" & !topic="sport"` is a filter. It stands behind `--filter`
//! and inside `within <doc …/>`; its canonical text is what a saved virtual corpus holds.
//!
//! ```
//! use tidings_query::Filter;
//!
//! let filter: Filter = "date>=2026-01 date<=2026-03 site=gazette.example".parse().unwrap();
//! let fields = |name: &str| match name {
//!     "date" => Some("2026-03-31"),
//!     "site" => Some("gazette.example"),
//!     _ => None,
//! };
//! assert!(filter.compile().unwrap().admits(&fields));
//! ```

mod period;
mod test;

pub use period::Period;
pub use test::{Comparison, FieldMatcher, FieldPredicate, FieldTest};

use crate::syntax::{Cursor, Logic, Span, SyntaxError, read_logic};
use std::fmt;
use std::str::FromStr;

/// The longest filter, in bytes.
pub const MAX_BYTES: usize = 16 * 1024;

/// The fields that hold a day, and can be asked for months, weeks or years.
pub const DATE_FIELDS: &[&str] = &["date", "seen"];

/// Which documents: a condition on their fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filter {
    /// The condition.
    pub condition: Logic<FieldTest>,
}

impl Filter {
    /// Makes it ready for use.
    pub fn compile(&self) -> Result<CompiledFilter, SyntaxError> {
        Ok(CompiledFilter {
            condition: self
                .condition
                .try_map(&mut |test: &FieldTest| Ok::<_, SyntaxError>((test.field.clone(), test.compile()?)))?,
        })
    }

    /// What both admit, where each may be missing.
    pub fn both(one: Option<Filter>, other: Option<Filter>) -> Option<Filter> {
        match (one, other) {
            (Some(one), Some(other)) => Some(one.and(other)),
            (one, other) => one.or(other),
        }
    }

    /// Both filters at once.
    pub fn and(self, other: Filter) -> Filter {
        let parts = [self, other].into_iter().flat_map(|filter| match filter.condition {
            Logic::All(parts) => parts,
            one => vec![one],
        });
        Filter { condition: Logic::All(parts.collect()) }
    }

    /// All documents that this filter does not admit.
    pub fn complement(&self) -> Filter {
        Filter { condition: Logic::Not(Box::new(self.condition.clone())) }
    }
}

/// A filter that is ready for use.
#[derive(Debug, Clone)]
pub struct CompiledFilter {
    condition: Logic<(String, FieldMatcher)>,
}

impl CompiledFilter {
    /// Whether a document belongs to the virtual corpus, given its fields by name. A field that the
    /// document does not have is like an empty one.
    pub fn admits<'d>(&self, fields: &impl Fn(&str) -> Option<&'d str>) -> bool {
        self.condition.holds(&mut |(field, matcher)| matcher.matches(fields(field).unwrap_or("")))
    }

    /// The condition over names of fields and their matchers, for those who know a faster way than
    /// document by document.
    pub fn condition(&self) -> &Logic<(String, FieldMatcher)> {
        &self.condition
    }
}

impl FromStr for Filter {
    type Err = SyntaxError;

    fn from_str(text: &str) -> Result<Self, SyntaxError> {
        if text.len() > MAX_BYTES {
            return Err(SyntaxError::new(Span::new(0, 0), format!("the filter is longer than {MAX_BYTES} bytes")));
        }
        let mut cursor = Cursor::new(text);
        let filter = read(&mut cursor)?;
        if !cursor.is_done() {
            return Err(cursor.unexpected("&, | or the end"));
        }
        Ok(filter)
    }
}

impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.condition)
    }
}

/// Reads a filter as far as it goes.
pub(crate) fn read(cursor: &mut Cursor<'_>) -> Result<Filter, SyntaxError> {
    Ok(Filter { condition: read_logic(cursor, true, &mut test::read)? })
}
