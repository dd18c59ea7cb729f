//! Filters: Boolean conditions on document fields that select a subcorpus.
//!
//! `site="gazette.example" & date>="2026-01" & !topic="sport"` is a filter. The same syntax is used by `--filter`
//! and inside `within <doc …/>`; a virtual corpus is saved as the canonical text of its filter. `has("…")`, documents with
//! a hit of a query, is a condition beside those on fields.
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

mod hits;
mod period;
mod test;

pub use hits::{HitDocuments, HitTest};
pub use period::Period;
pub use test::{Comparison, FieldMatcher, FieldPredicate, FieldTest};

use crate::syntax::{Cursor, Logic, Span, SyntaxError, advice, read_logic};
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

/// The maximum length of a filter, in bytes.
pub const MAX_BYTES: usize = 16 * 1024;

/// The fields that hold a day, which can be compared with months, weeks or years.
pub const DATE_FIELDS: &[&str] = &["date", "seen"];

/// The fields that documents have by design, whether or not a document of a corpus has a value. Labels of feeds and
/// imported metadata are further fields.
pub const STANDARD_FIELDS: &[&str] = &[
    "date",
    "seen",
    "site",
    "feed",
    "lang",
    "topic",
    "country",
    "section",
    "author",
    "licence",
    "availability",
    "dated_by",
    "title",
    "url",
    "id",
];

/// A condition on the fields of documents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filter {
    /// The condition.
    pub condition: Logic<FieldTest>,
}

impl Filter {
    /// Rejects a field that is none of the known ones, at the place of its name.
    pub fn check_fields(&self, known: &BTreeSet<&str>) -> Result<(), SyntaxError> {
        let tests = self.condition.tests();
        for test in &tests {
            if let FieldPredicate::Hits(hits) = &test.predicate {
                let mut filters = hits.query.filters().into_iter();
                filters.try_for_each(|filter| filter.check_fields(known)).map_err(|error| {
                    let help = error.help.clone();
                    let error = SyntaxError::new(test.span, format!("in the query of has(…): {}", error.message));
                    help.into_iter().fold(error, SyntaxError::help)
                })?;
            }
        }
        let is_unknown = |test: &&&FieldTest| {
            !matches!(test.predicate, FieldPredicate::Hits(_)) && !known.contains(test.field.as_str())
        };
        let Some(test) = tests.iter().find(is_unknown) else { return Ok(()) };
        let span = Span::new(test.span.start, test.span.start + test.field.len());
        let help = advice(&test.field, known.iter().copied());
        Err(SyntaxError::new(span, format!("unknown field {}", test.field)).help(help))
    }

    /// Compiles the filter.
    pub fn compile(&self) -> Result<CompiledFilter, SyntaxError> {
        Ok(CompiledFilter {
            condition: self
                .condition
                .try_map(&mut |test: &FieldTest| Ok::<_, SyntaxError>((test.field.clone(), test.compile()?)))?,
        })
    }

    /// The conjunction of two optional filters.
    pub fn both(one: Option<Filter>, other: Option<Filter>) -> Option<Filter> {
        match (one, other) {
            (Some(one), Some(other)) => Some(one.and(other)),
            (one, other) => one.or(other),
        }
    }

    /// The conjunction of two filters.
    pub fn and(self, other: Filter) -> Filter {
        let parts = [self, other].into_iter().flat_map(|filter| match filter.condition {
            Logic::All(parts) => parts,
            one => vec![one],
        });
        Filter { condition: Logic::All(parts.collect()) }
    }

    /// The filter that admits all other documents.
    pub fn complement(&self) -> Filter {
        Filter { condition: Logic::Not(Box::new(self.condition.clone())) }
    }
}

/// A compiled filter.
#[derive(Debug, Clone)]
pub struct CompiledFilter {
    condition: Logic<(String, FieldMatcher)>,
}

impl CompiledFilter {
    /// Returns whether a document passes, given its fields by name. A missing field is like an empty one.
    pub fn admits<'d>(&self, fields: &impl Fn(&str) -> Option<&'d str>) -> bool {
        self.condition.holds(&mut |(field, matcher)| matcher.matches(fields(field).unwrap_or("")))
    }

    /// The condition over field names and matchers, to evaluate it column by column.
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

/// Parses a filter up to the first character that does not belong to it.
pub(crate) fn read(cursor: &mut Cursor<'_>) -> Result<Filter, SyntaxError> {
    Ok(Filter { condition: read_logic(cursor, true, &mut test::read)? })
}
