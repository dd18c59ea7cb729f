//! State tables: tab-separated text with a header line.
//!
//! Columns are found by their names, so that older and newer versions can read each other's files. Tabs, line ends and
//! backslashes in a field are escaped.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::HashMap;
use std::io::{BufRead, Read as _};
use std::path::Path;
use tidings_storage::AtomicFile;

use crate::error::{Context, Result};
use crate::frames::open_any;

/// A row type with columns; implemented by [`columns!`].
pub(crate) trait Tabular: Sized {
    /// The column names, in the order of the file.
    const COLUMNS: &'static [&'static str];

    /// The fields, in the order of the columns.
    fn fields(&self) -> Vec<Cow<'_, str>>;

    /// A row from its fields; missing ones are empty.
    fn from_fields(field: &dyn Fn(&str) -> String) -> Self;
}

/// A value in a column.
pub(crate) trait Field {
    /// Its text in the file.
    fn to_text(&self) -> String;

    /// The same without a copy, where the value has its text.
    fn as_text(&self) -> Cow<'_, str> {
        Cow::Owned(self.to_text())
    }

    /// Parses a value; invalid text gives the default, so that a damaged field affects only itself.
    fn from_text(text: String) -> Self;
}

impl Field for String {
    fn to_text(&self) -> String {
        self.clone()
    }

    fn as_text(&self) -> Cow<'_, str> {
        Cow::Borrowed(self)
    }

    fn from_text(text: String) -> String {
        text
    }
}

macro_rules! number_fields {
    ($($number:ty),+) => {$(
        impl Field for $number {
            fn to_text(&self) -> String {
                self.to_string()
            }

            fn from_text(text: String) -> $number {
                text.parse().unwrap_or(0)
            }
        }
    )+};
}
number_fields!(u16, u32, u64);

/// Declares the columns of a row type: `name`, `"name in the file" = path.to.field`, or `"name" : function` for a
/// column that is computed when written and ignored when read.
macro_rules! columns {
    ($row:ty { $($columns:tt)+ }) => {
        impl $crate::table::Tabular for $row {
            const COLUMNS: &'static [&'static str] = $crate::table::columns!(@names [] $($columns)+,);

            fn fields(&self) -> Vec<std::borrow::Cow<'_, str>> {
                let row = self;
                $crate::table::columns!(@fields row [] $($columns)+,)
            }

            fn from_fields(field: &dyn Fn(&str) -> String) -> Self {
                let mut row = Self::default();
                $crate::table::columns!(@read row field $($columns)+,);
                row
            }
        }
    };
    (@names [$($done:tt)*] $(,)?) => { &[$($done)*] };
    (@names [$($done:tt)*] $name:ident, $($rest:tt)*) => {
        $crate::table::columns!(@names [$($done)* stringify!($name),] $($rest)*)
    };
    (@names [$($done:tt)*] $name:literal = $($part:tt).+, $($rest:tt)*) => {
        $crate::table::columns!(@names [$($done)* $name,] $($rest)*)
    };
    (@names [$($done:tt)*] $name:literal : $function:path, $($rest:tt)*) => {
        $crate::table::columns!(@names [$($done)* $name,] $($rest)*)
    };
    (@fields $row:ident [$($done:tt)*] $(,)?) => { vec![$($done)*] };
    (@fields $row:ident [$($done:tt)*] $name:ident, $($rest:tt)*) => {
        $crate::table::columns!(@fields $row [$($done)* $crate::table::Field::as_text(&$row.$name),] $($rest)*)
    };
    (@fields $row:ident [$($done:tt)*] $name:literal = $($part:tt).+, $($rest:tt)*) => {
        $crate::table::columns!(@fields $row [$($done)* $crate::table::Field::as_text(&$row.$($part).+),] $($rest)*)
    };
    (@fields $row:ident [$($done:tt)*] $name:literal : $function:path, $($rest:tt)*) => {
        $crate::table::columns!(@fields $row [$($done)* std::borrow::Cow::Owned($function($row)),] $($rest)*)
    };
    (@read $row:ident $field:ident $(,)?) => {};
    (@read $row:ident $field:ident $name:ident, $($rest:tt)*) => {
        $row.$name = $crate::table::Field::from_text($field(stringify!($name)));
        $crate::table::columns!(@read $row $field $($rest)*);
    };
    (@read $row:ident $field:ident $name:literal = $($part:tt).+, $($rest:tt)*) => {
        $row.$($part).+ = $crate::table::Field::from_text($field($name));
        $crate::table::columns!(@read $row $field $($rest)*);
    };
    (@read $row:ident $field:ident $name:literal : $function:path, $($rest:tt)*) => {
        $crate::table::columns!(@read $row $field $($rest)*);
    };
}
pub(crate) use columns;

fn escape(field: &str, line: &mut String) {
    // Tables of pages are rewritten by every run, and few fields have such characters.
    if memchr::memchr3(b'\t', b'\n', b'\\', field.as_bytes()).is_none() && !field.contains('\r') {
        return line.push_str(field);
    }
    for c in field.chars() {
        match c {
            '\t' => line.push_str("\\t"),
            '\n' => line.push_str("\\n"),
            '\r' => line.push_str("\\r"),
            '\\' => line.push_str("\\\\"),
            c => line.push(c),
        }
    }
}

fn unescape(field: &str) -> String {
    if !field.contains('\\') {
        return field.to_owned();
    }
    let mut text = String::with_capacity(field.len());
    let mut chars = field.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('t') => text.push('\t'),
                Some('n') => text.push('\n'),
                Some('r') => text.push('\r'),
                Some(c) => text.push(c),
                None => {}
            },
            c => text.push(c),
        }
    }
    text
}

/// Calls `see` with every row of a table; a missing table has none.
pub(crate) fn read<T: Tabular>(path: &Path, see: impl FnMut(T)) -> Result<()> {
    if !path.exists() {
        return Ok(());
    }
    read_from(open_any(path)?, path, see)
}

/// Calls `see` with every row of a table; `path` is for error messages.
pub(crate) fn read_from<T: Tabular>(table: impl BufRead, path: &Path, mut see: impl FnMut(T)) -> Result<()> {
    let mut lines = table.lines();
    let Some(header) = lines.next().transpose().context("read", path)? else { return Ok(()) };
    let header: Vec<&str> = header.split('\t').collect();
    for line in lines {
        see(from_line(&header, &line.context("read", path)?));
    }
    Ok(())
}

/// The text of a table; `None` if it is missing.
pub(crate) fn read_text(path: &Path) -> Result<Option<String>> {
    if !path.exists() {
        return Ok(None);
    }
    let mut text = String::new();
    open_any(path)?.read_to_string(&mut text).context("read", path)?;
    Ok(Some(text))
}

/// The header line of a table.
pub(crate) fn header<T: Tabular>() -> String {
    T::COLUMNS.join("\t")
}

/// A row from its line, with the names of the columns of its table.
pub(crate) fn from_line<T: Tabular>(header: &[&str], line: &str) -> T {
    let fields: Vec<&str> = line.split('\t').collect();
    // Columns are asked for in their order, so that the next one is mostly the right one.
    let next = Cell::new(0);
    T::from_fields(&|name| {
        let is_next = header.get(next.get()).is_some_and(|column| *column == name);
        let at = if is_next { Some(next.get()) } else { header.iter().position(|column| *column == name) };
        next.set(at.map_or(next.get(), |at| at + 1));
        at.and_then(|at| fields.get(at)).map(|field| unescape(field)).unwrap_or_default()
    })
}

/// A row of a table that is written again: as it was, or another one.
pub(crate) enum TableRow<'t, T> {
    Same(&'t str),
    Changed(T),
}

/// Writes a complete table, of which some rows are as they were.
pub(crate) fn write_rows<T: Tabular>(path: &Path, rows: &[TableRow<'_, T>]) -> Result<()> {
    let mut draft = TableDraft::create::<T>(path)?;
    for row in rows {
        match row {
            TableRow::Same(line) => draft.push_line(line)?,
            TableRow::Changed(row) => draft.push(row)?,
        }
    }
    draft.publish()
}

/// A complete table as text, with the header.
pub(crate) fn text<T: Tabular>(rows: impl Iterator<Item = T>) -> String {
    let mut text = T::COLUMNS.join("\t") + "\n";
    rows.for_each(|row| line(&row, &mut text));
    text
}

/// Appends the line of a row.
fn line<T: Tabular>(row: &T, line: &mut String) {
    for (at, field) in row.fields().iter().enumerate() {
        if at > 0 {
            line.push('\t');
        }
        escape(field, line);
    }
    line.push('\n');
}

/// A table in progress.
struct TableDraft(AtomicFile);

impl TableDraft {
    fn create<T: Tabular>(path: &Path) -> Result<TableDraft> {
        let mut draft = AtomicFile::create(path)?;
        draft.write((header::<T>() + "\n").as_bytes())?;
        Ok(TableDraft(draft))
    }

    /// Adds a row by its line, without a line end.
    fn push_line(&mut self, line: &str) -> Result<()> {
        self.0.write(line.as_bytes())?;
        Ok(self.0.write(b"\n")?)
    }

    fn push<T: Tabular>(&mut self, row: &T) -> Result<()> {
        let mut text = String::new();
        line(row, &mut text);
        Ok(self.0.write(text.as_bytes())?)
    }

    fn publish(self) -> Result<()> {
        Ok(self.0.publish()?)
    }
}

/// Writes a complete table.
pub(crate) fn write<'r, T: Tabular + 'r>(path: &Path, rows: impl Iterator<Item = &'r T>) -> Result<()> {
    let mut draft = TableDraft::create::<T>(path)?;
    rows.into_iter().try_for_each(|row| draft.push(row))?;
    draft.publish()
}

/// Rewrites a table with some rows replaced: `key` finds the new row among `changed`, `combine` merges the old and the
/// new. New rows are appended in sorted order.
pub(crate) fn merge<T: Tabular, K: Ord + std::hash::Hash>(
    path: &Path,
    mut changed: HashMap<K, T>,
    key: impl Fn(&T) -> K,
    combine: impl Fn(T, T) -> T,
) -> Result<()> {
    if changed.is_empty() {
        return Ok(());
    }
    let mut draft = TableDraft::create::<T>(path)?;
    let mut written = Ok(());
    read(path, |old: T| {
        let row = match changed.remove(&key(&old)) {
            Some(new) => combine(old, new),
            None => old,
        };
        if written.is_ok() {
            written = draft.push(&row);
        }
    })?;
    written?;
    let mut new: Vec<(K, T)> = changed.into_iter().collect();
    new.sort_by(|a, b| a.0.cmp(&b.0));
    for (_, row) in &new {
        draft.push(row)?;
    }
    draft.publish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    use crate::candidates::{Candidate, CandidateStatus, Searched, SiteWithoutFeed};
    use crate::failures::PageFailure;
    use crate::feeds::{FeedState, Polled};
    use crate::hosts::HostState;
    use crate::removed::{Tombstone, TombstoneKind};
    use crate::rules::RulesAnswer;
    use crate::tokens::{Scope, Token};
    use crate::virtual_corpora::VirtualCorpus;
    use crate::yields::{DayRow, SumRow, Yield};

    /// Reads a table from its text.
    fn parsed<T: Tabular>(text: &str) -> Vec<T> {
        let mut rows = Vec::new();
        read_from(text.as_bytes(), Path::new("test.tsv"), |row| rows.push(row)).unwrap();
        rows
    }

    fn comes_back<T: Tabular + Clone + PartialEq + std::fmt::Debug>(rows: Vec<T>) {
        let text = text(rows.iter().cloned());
        assert_eq!(text.lines().count(), rows.len() + 1, "a line for each row and the header");
        assert_eq!(parsed::<T>(&text), rows);
    }

    #[test]
    fn the_column_names_are_pinned() {
        let names = |columns: &[&str]| columns.join(" ");
        assert_eq!(
            names(FeedState::COLUMNS),
            "feed polled checked succeeded failures error etag last_modified body moved_to moved_times entries brought title \
             due not_before interval_min rate arrived watched_days reach_h hours worth wishes conditional lies window without_link \
             history"
        );
        assert_eq!(
            names(Candidate::COLUMNS),
            "feed site evidence seen found_on fate reason checked entries latest language requests good_pages title labels"
        );
        assert_eq!(
            names(HostState::COLUMNS),
            "host last_request not_before failures requests failing_since last_failure error"
        );
        assert_eq!(names(PageFailure::COLUMNS), "page first last failures detail");
        assert_eq!(names(DayRow::COLUMNS), "feed host pages documents downloaded clean");
        assert_eq!(names(SumRow::COLUMNS), "kind name pages documents downloaded clean yield");
        assert_eq!(names(Tombstone::COLUMNS), "kind what date reason done");
        assert_eq!(names(RulesAnswer::COLUMNS), "origin kind fetched status digest");
        assert_eq!(names(Token::COLUMNS), "name scope digest created expires");
        assert_eq!(names(VirtualCorpus::COLUMNS), "name filter");
        assert_eq!(names(SiteWithoutFeed::COLUMNS), "site checked requests start");
        assert_eq!(names(Searched::COLUMNS), "file pages");
    }

    #[test]
    fn the_bytes_of_a_row_are_pinned() {
        let host = HostState { host: "e.org".into(), failures: 2, requests: 70, ..HostState::default() };
        assert_eq!(
            text([host].into_iter()),
            "host\tlast_request\tnot_before\tfailures\trequests\tfailing_since\tlast_failure\terror\ne.org\t\t\t2\t70\t\t\t\n"
        );
        let sum = Yield { pages: 2, documents: 1, downloaded: 1000, clean: 123 };
        let row = SumRow { kind: "feed".into(), name: "f".into(), sum };
        assert!(text([row].into_iter()).ends_with("feed\tf\t2\t1\t1000\t123\t0.1230\n"));
        let stone = Tombstone {
            kind: TombstoneKind::Host,
            what: "e.org".into(),
            reason: "a\tb".into(),
            ..Tombstone::default()
        };
        assert!(text([stone].into_iter()).ends_with("host\te.org\t\ta\\tb\t\n"));
    }

    #[test]
    fn unknown_names_give_the_default() {
        assert_eq!(parsed::<FeedState>("feed\tpolled\nf\tmaybe\n")[0].polled, Polled::default());
        assert_eq!(parsed::<Candidate>("feed\tfate\nf\tmaybe\n")[0].status, CandidateStatus::New);
        assert_eq!(parsed::<Token>("name\tscope\nt\tmaybe\n")[0].scope, None);
        assert_eq!(parsed::<HostState>("host\tfailures\nh\tmany\n")[0].failures, 0);
    }

    #[test]
    fn columns_are_found_by_name_in_any_order_and_unknown_ones_are_ignored() {
        let rows: Vec<HostState> = parsed("requests\tmood\thost\n7\tgood\te.org\n8\n");
        assert_eq!((rows[0].host.as_str(), rows[0].requests, rows[0].failures), ("e.org", 7, 0));
        assert_eq!((rows[1].host.as_str(), rows[1].requests), ("", 8));
        assert!(parsed::<HostState>("").is_empty() && parsed::<HostState>("host\n").is_empty());
    }

    #[test]
    fn merging_replaces_rows_in_place_and_appends_new_ones_sorted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("corpora.tsv");
        let corpus = |name: &str, filter: &str| VirtualCorpus { name: name.into(), filter: filter.into() };
        let put = |rows: &[(&str, &str)]| {
            let rows = rows.iter().map(|(name, filter)| ((*name).to_owned(), corpus(name, filter))).collect();
            merge(
                &path,
                rows,
                |row: &VirtualCorpus| row.name.clone(),
                |old, new| corpus(&old.name, &(old.filter + &new.filter)),
            )
            .unwrap();
        };
        put(&[]);
        assert!(!path.exists(), "nothing changed, nothing is written");
        put(&[("b", "1"), ("a", "2")]);
        put(&[("d", "4"), ("b", "5"), ("c", "3")]);
        let rows: Vec<VirtualCorpus> = parsed(&std::fs::read_to_string(&path).unwrap());
        assert_eq!(rows, [corpus("a", "2"), corpus("b", "15"), corpus("c", "3"), corpus("d", "4")]);
    }

    proptest! {
        #[test]
        fn state_rows_survive_writing_and_reading(a in "\\PC*", b in "[\\\\\t\r\nx]{0,6}", n: u32, m: u64) {
            let polled = [Polled::Listed, Polled::Unchanged, Polled::Failed, Polled::Gone][n as usize % 4];
            comes_back(vec![FeedState { feed: a.clone(), polled, title: b.clone(), failures: n, window: a.clone(), ..FeedState::default() }]);
            let status = [CandidateStatus::New, CandidateStatus::ProbedFeed, CandidateStatus::Trial, CandidateStatus::Promoted][n as usize % 4];
            comes_back(vec![Candidate { feed: a.clone(), status, labels: b.clone(), seen: m, entries: n, ..Candidate::default() }]);
            comes_back(vec![HostState { host: a.clone(), not_before: b.clone(), failures: n, requests: m, ..HostState::default() }]);
            comes_back(vec![PageFailure { page: a.clone(), detail: b.clone(), failures: n, ..PageFailure::default() }]);
            let sum = Yield { pages: m, documents: 1, downloaded: 2, clean: m };
            comes_back(vec![DayRow { feed: a.clone(), host: b.clone(), sum }]);
            comes_back(vec![SumRow { kind: b.clone(), name: a.clone(), sum }]);
            let kind = [TombstoneKind::Address, TombstoneKind::Host, TombstoneKind::Pattern, TombstoneKind::Document][n as usize % 4];
            comes_back(vec![Tombstone { kind, what: a.clone(), reason: b.clone(), ..Tombstone::default() }]);
            comes_back(vec![RulesAnswer { origin: a.clone(), kind: b.clone(), status: n as u16, ..RulesAnswer::default() }]);
            comes_back(vec![Token { name: a.clone(), scope: Some(Scope::Text), expires: b, ..Token::default() }]);
            comes_back(vec![VirtualCorpus { name: a.clone(), filter: a.clone() }, VirtualCorpus { name: a.clone(), filter: a }]);
        }

        #[test]
        fn any_text_can_be_parsed_as_a_table(text in "[a-z\\\\\t\n]{0,60}") {
            let _ = parsed::<HostState>(&text);
            let _ = parsed::<FeedState>(&text);
        }
    }

    proptest! {
        #[test]
        fn any_field_survives_escaping(field in ".*") {
            let mut line = String::new();
            escape(&field, &mut line);
            prop_assert!(!line.contains(['\t', '\n', '\r']));
            prop_assert_eq!(unescape(&line), field);
        }
    }
}
