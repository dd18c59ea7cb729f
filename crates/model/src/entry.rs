//! One line of the plan.
//!
//! The plan has exactly eight columns, the ones FeedFetcher writes, so that either program's plan
//! opens in the other. There is no header and nothing is escaped: white space inside a field
//! became a single space when it was written.

use std::fmt::Write as _;

/// An entry as it enters the plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// When an update first saw it, RFC 3339 in UTC.
    pub seen: String,
    /// When the feed says it was published, RFC 3339 in UTC, or nothing.
    pub published: String,
    /// The feed that listed it first.
    pub feed: String,
    /// The article's address.
    pub url: String,
    /// The title as the feed gives it.
    pub title: String,
}

/// A plan line, borrowed from the text around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row<'a> {
    /// Update cycles since the entry was last in its feed; 0 is still listed.
    pub age: u32,
    /// What became of it, see [`crate::Status`].
    pub status: &'a str,
    /// How often it was tried.
    pub retries: u32,
    /// When an update first saw it.
    pub seen: &'a str,
    /// When the feed says it was published.
    pub published: &'a str,
    /// The feed that listed it first.
    pub feed: &'a str,
    /// The article's address.
    pub url: &'a str,
    /// The title as the feed gives it.
    pub title: &'a str,
}

/// Why a line is not a plan line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BadRow {
    /// It has this many tab-separated fields instead of eight.
    Fields(usize),
    /// Age or retries, named here, is not a number.
    Number(&'static str),
}

impl std::fmt::Display for BadRow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            BadRow::Fields(found) => write!(f, "has {found} tab-separated fields instead of 8"),
            BadRow::Number(column) => write!(f, "has no number in the column {column}"),
        }
    }
}

impl<'a> Row<'a> {
    /// Reads a line without its line end.
    pub fn parse(line: &'a str) -> Result<Row<'a>, BadRow> {
        let mut fields = [""; 8];
        let (mut start, mut number) = (0, 0);
        for tab in memchr::memchr_iter(b'\t', line.as_bytes()).chain([line.len()]) {
            if let Some(field) = fields.get_mut(number) {
                *field = &line[start..tab];
            }
            (start, number) = (tab + 1, number + 1);
        }
        if number != fields.len() {
            return Err(BadRow::Fields(number));
        }
        let [age, status, retries, seen, published, feed, url, title] = fields;
        let age = age.parse().map_err(|_| BadRow::Number("age"))?;
        let retries = retries.parse().map_err(|_| BadRow::Number("retries"))?;
        Ok(Row { age, status, retries, seen, published, feed, url, title })
    }

    /// Appends the line, with its line end.
    pub fn write(&self, out: &mut String) {
        let Row { age, status, retries, seen, published, feed, url, title } = self;
        let _ = write!(out, "{age}\t{status}\t{retries}");
        // Plans have millions of rows, and formatting costs more than copying.
        for field in [seen, published, feed, url, title] {
            out.push('\t');
            out.push_str(field);
        }
        out.push('\n');
    }

    /// Appends a line as it stands but with another age.
    pub fn write_aged(line: &str, age: u32, out: &mut String) {
        let rest = line.find('\t').unwrap_or(line.len());
        let _ = write!(out, "{age}");
        out.push_str(&line[rest..]);
        out.push('\n');
    }
}

impl Entry {
    /// The row with which this entry enters the plan.
    pub fn row(&self) -> Row<'_> {
        let Entry { seen, published, feed, url, title } = self;
        Row { age: 0, status: "new", retries: 0, seen, published, feed, url, title }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_written_as_it_was_read() {
        let line = "3\tok\t1\t2026-01-01T00:00:00Z\t\thttp://e.org/feed\thttp://e.org/a\tA title\n";
        let row = Row::parse(line.trim_end_matches('\n')).unwrap();
        assert_eq!((row.age, row.status, row.retries, row.title), (3, "ok", 1, "A title"));
        let mut out = String::new();
        row.write(&mut out);
        assert_eq!(out, line);
    }

    #[test]
    fn a_line_of_another_shape_is_refused_with_its_fault() {
        assert_eq!(Row::parse("0\tnew\t0\tx"), Err(BadRow::Fields(4)));
        assert_eq!(Row::parse("0\tnew\t0\ta\tb\tc\td\te\tf"), Err(BadRow::Fields(9)));
        assert_eq!(Row::parse("x\tnew\t0\ta\tb\tc\td\te"), Err(BadRow::Number("age")));
    }
}
