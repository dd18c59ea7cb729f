//! Small state as tables that a person can read: tab-separated, with a header line.
//!
//! Columns are found by the header's names, so that an older file opens in a newer Tidings and
//! the other way round. Tabs, line ends and backslashes inside a field are escaped.

use std::collections::HashMap;
use std::io::BufRead;
use std::path::Path;
use tidings_storage::AtomicFile;

use crate::error::{Context, Result};
use crate::frames::open_any;

/// A row type that knows its columns; implemented by [`columns!`].
pub(crate) trait Tabular: Sized {
    /// The column names, in the order of the file.
    const COLUMNS: &'static [&'static str];

    /// The fields, in the order of the columns.
    fn fields(&self) -> Vec<String>;

    /// A row from its fields; what is missing is empty.
    fn from_fields(field: &dyn Fn(&str) -> String) -> Self;
}

/// A value that stands in a column.
pub(crate) trait Field {
    /// Its text in the file.
    fn to_text(&self) -> String;

    /// The value of a text; text that is none gives the default, so that a damaged field costs itself only.
    fn from_text(text: String) -> Self;
}

impl Field for String {
    fn to_text(&self) -> String {
        self.clone()
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

/// Declares the columns of a row type, each once: `name`, `"name in the file" = path.to.field`, or `"name" : function` for a
/// column that is computed when it is written and ignored when it is read.
macro_rules! columns {
    ($row:ty { $($columns:tt)+ }) => {
        impl $crate::table::Tabular for $row {
            const COLUMNS: &'static [&'static str] = $crate::table::columns!(@names [] $($columns)+,);

            fn fields(&self) -> Vec<String> {
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
        $crate::table::columns!(@fields $row [$($done)* $crate::table::Field::to_text(&$row.$name),] $($rest)*)
    };
    (@fields $row:ident [$($done:tt)*] $name:literal = $($part:tt).+, $($rest:tt)*) => {
        $crate::table::columns!(@fields $row [$($done)* $crate::table::Field::to_text(&$row.$($part).+),] $($rest)*)
    };
    (@fields $row:ident [$($done:tt)*] $name:literal : $function:path, $($rest:tt)*) => {
        $crate::table::columns!(@fields $row [$($done)* $function($row),] $($rest)*)
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

/// Shows every row of a table to `see`; a table that is not there has none.
pub(crate) fn read<T: Tabular>(path: &Path, see: impl FnMut(T)) -> Result<()> {
    if !path.exists() {
        return Ok(());
    }
    read_from(open_any(path)?, path, see)
}

/// Shows every row of a table to `see`; `path` names it in errors.
pub(crate) fn read_from<T: Tabular>(table: impl BufRead, path: &Path, mut see: impl FnMut(T)) -> Result<()> {
    let mut header: Option<Vec<String>> = None;
    for line in table.lines() {
        let line = line.context("read", path)?;
        let fields: Vec<&str> = line.split('\t').collect();
        match &header {
            None => header = Some(fields.iter().map(|name| (*name).to_owned()).collect()),
            Some(header) => see(T::from_fields(&|name| {
                let at = header.iter().position(|column| column == name);
                at.and_then(|at| fields.get(at)).map(|field| unescape(field)).unwrap_or_default()
            })),
        }
    }
    Ok(())
}

/// A whole table as text, header first.
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

/// A table being written anew.
struct TableDraft(AtomicFile);

impl TableDraft {
    fn create<T: Tabular>(path: &Path) -> Result<TableDraft> {
        let mut draft = AtomicFile::create(path)?;
        draft.write((T::COLUMNS.join("\t") + "\n").as_bytes())?;
        Ok(TableDraft(draft))
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

/// Writes a table anew with some rows replaced: `key` finds a row's successor among `changed`,
/// `combine` makes one row of the old and the new. Rows without a predecessor come last, sorted.
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

    proptest! {
        #[test]
        fn any_field_comes_back(field in ".*") {
            let mut line = String::new();
            escape(&field, &mut line);
            prop_assert!(!line.contains(['\t', '\n', '\r']));
            prop_assert_eq!(unescape(&line), field);
        }
    }
}
