//! Rows of the plan.
//!
//! The plan has exactly eight columns, the same as FeedFetcher's, so each program opens the other's plan. There is no
//! header and no escaping: white space inside a field is replaced by a single space on writing.

use std::fmt::Write as _;

/// The start of the feed column of entries that a backfill found: `archive:SITE`.
pub const ARCHIVE: &str = "archive:";

/// Whether a feed column names a backfill.
pub fn is_archive(feed: &str) -> bool {
    feed.starts_with(ARCHIVE)
}

/// The start of the field for the feed in pages of a crawl: `crawl:NAME`.
pub const CRAWL: &str = "crawl:";

/// Whether the field for the feed names a crawl.
pub fn is_crawl(feed: &str) -> bool {
    feed.starts_with(CRAWL)
}

/// A new entry of the plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The time when an update first saw it, RFC 3339 in UTC.
    pub seen: String,
    /// The publication time given by the feed, RFC 3339 in UTC, or empty.
    pub published: String,
    /// The feed that listed it first.
    pub feed: String,
    /// The URL of the article.
    pub url: String,
    /// The title given by the feed.
    pub title: String,
}

/// A row of the plan, borrowed from its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row<'a> {
    /// Updates since the entry was last in its feed; 0 means it is still listed.
    pub age: u32,
    /// The outcome so far, see [`crate::Status`].
    pub status: &'a str,
    /// The number of attempts.
    pub retries: u32,
    /// The time when an update first saw it.
    pub seen: &'a str,
    /// The publication time given by the feed.
    pub published: &'a str,
    /// The feed that listed it first.
    pub feed: &'a str,
    /// The URL of the article.
    pub url: &'a str,
    /// The title given by the feed.
    pub title: &'a str,
}

/// A malformed plan row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BadRow {
    /// The number of tab-separated fields is not eight.
    Fields(usize),
    /// The named column (age or retries) is not a number.
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
    /// Parses a row without its line end.
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

    /// Appends the row with its line end.
    pub fn write(&self, out: &mut String) {
        let Row { age, status, retries, seen, published, feed, url, title } = self;
        let _ = write!(out, "{age}\t{status}\t{retries}");
        // Plans have millions of rows, and formatting is slower than copying.
        for field in [seen, published, feed, url, title] {
            out.push('\t');
            out.push_str(field);
        }
        out.push('\n');
    }

    /// The row without its line end.
    pub fn line(&self) -> String {
        let mut line = String::new();
        self.write(&mut line);
        line.pop();
        line
    }

    /// Appends a row with its age replaced.
    pub fn write_aged(line: &str, age: u32, out: &mut String) {
        let rest = line.find('\t').unwrap_or(line.len());
        let _ = write!(out, "{age}");
        out.push_str(&line[rest..]);
        out.push('\n');
    }
}

impl Entry {
    /// The plan row of a new entry.
    pub fn row(&self) -> Row<'_> {
        let Entry { seen, published, feed, url, title } = self;
        Row { age: 0, status: "new", retries: 0, seen, published, feed, url, title }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_round_trip() {
        let line = "3\tok\t1\t2026-01-01T00:00:00Z\t\thttp://e.org/feed\thttp://e.org/a\tA title\n";
        let row = Row::parse(line.trim_end_matches('\n')).unwrap();
        assert_eq!((row.age, row.status, row.retries, row.title), (3, "ok", 1, "A title"));
        let mut out = String::new();
        row.write(&mut out);
        assert_eq!(out, line);
        assert_eq!(row.line(), line.trim_end_matches('\n'));
    }

    #[test]
    fn a_malformed_row_is_rejected_with_the_reason() {
        assert_eq!(Row::parse("0\tnew\t0\tx"), Err(BadRow::Fields(4)));
        assert_eq!(Row::parse("0\tnew\t0\ta\tb\tc\td\te\tf"), Err(BadRow::Fields(9)));
        assert_eq!(Row::parse("x\tnew\t0\ta\tb\tc\td\te"), Err(BadRow::Number("age")));
    }
}
