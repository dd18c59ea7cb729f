//! Tables as aligned columns or as CSV.

use tidings_formats::csv::quoted;
use unicode_width::UnicodeWidthStr as _;

use std::borrow::Cow;

use crate::style::{Ink, Style};

/// Rows under headings.
pub struct Table {
    columns: Vec<(Cow<'static, str>, Align)>,
    rows: Vec<Vec<String>>,
}

/// Alignment of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

impl Table {
    /// A table with these columns; a name with `#` before it is a column of numbers.
    pub fn new(columns: &[&'static str]) -> Table {
        let column = |name: &&'static str| match name.strip_prefix('#') {
            Some(name) => (Cow::Borrowed(name), Align::Right),
            None => (Cow::Borrowed(*name), Align::Left),
        };
        Table { columns: columns.iter().map(column).collect(), rows: Vec::new() }
    }

    /// The same with names that are known from an answer only.
    pub fn with_columns(columns: Vec<String>) -> Table {
        let column = |name: String| match name.strip_prefix('#') {
            Some(name) => (Cow::Owned(name.to_owned()), Align::Right),
            None => (Cow::Owned(name), Align::Left),
        };
        Table { columns: columns.into_iter().map(column).collect(), rows: Vec::new() }
    }

    /// Adds a row, which must have a field for each column.
    pub fn push(&mut self, row: Vec<String>) {
        debug_assert_eq!(row.len(), self.columns.len());
        self.rows.push(row);
    }

    /// Aligned columns, two spaces apart, with grouped digits.
    pub fn text(&self, style: Style) -> String {
        let shown: Vec<Vec<String>> = self
            .rows
            .iter()
            .map(|row| row.iter().zip(&self.columns).map(|(field, (_, align))| pretty(field, *align)).collect())
            .collect();
        let width = |column: usize| {
            let fields = shown.iter().map(|row: &Vec<String>| row[column].width());
            fields.chain([self.columns[column].0.width()]).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.columns.len()).map(width).collect();
        let mut text = String::new();
        let headings: Vec<String> = self.columns.iter().map(|(name, _)| name.clone().into_owned()).collect();
        for (number, row) in std::iter::once(&headings).chain(&shown).enumerate() {
            let mut line = String::new();
            for ((field, (_, align)), width) in row.iter().zip(&self.columns).zip(&widths) {
                let blanks = " ".repeat(width - field.width());
                match align {
                    Align::Left => line.extend([field.as_str(), &blanks, "  "]),
                    Align::Right => line.extend([blanks.as_str(), field, "  "]),
                }
            }
            let line = line.trim_end();
            text.push_str(&if number == 0 { style.paint(Ink::Heading, line) } else { line.to_owned() });
            text.push('\n');
        }
        text
    }

    /// CSV (RFC 4180).
    pub fn csv(&self) -> String {
        let mut text = String::new();
        let headings: Vec<String> = self.columns.iter().map(|(name, _)| name.replace(' ', "_")).collect();
        for row in std::iter::once(&headings).chain(&self.rows) {
            let fields: Vec<String> = row.iter().map(|field| quoted(field)).collect();
            text.push_str(&fields.join(","));
            text.push_str("\r\n");
        }
        text
    }
}

fn pretty(field: &str, align: Align) -> String {
    match field.parse::<u64>() {
        Ok(number) if align == Align::Right => tidings_pipeline::display::grouped(number),
        // Titles may contain line breaks and escape sequences.
        _ => field.chars().map(|c| if c.is_control() { ' ' } else { c }).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_csv_is_not() {
        let mut table = Table::new(&["word", "#hits"]);
        table.push(vec!["雨".into(), "12345".into()]);
        table.push(vec!["a, \"b\"".into(), "7".into()]);
        assert_eq!(table.text(Style::PLAIN), "word      hits\n雨      12,345\na, \"b\"       7\n");
        assert_eq!(table.csv(), "word,hits\r\n雨,12345\r\n\"a, \"\"b\"\"\",7\r\n");
        let coloured = table.text(Style::COLOURED);
        assert!(coloured.starts_with("\x1b[1mword      hits\x1b[0m\n雨      12,345\n"), "{coloured:?}");
    }

    #[test]
    fn csv_has_plain_numbers_and_no_formulas() {
        let mut table = Table::new(&["value", "#per_million"]);
        table.push(vec!["=1+1".into(), "1234.5678901".into()]);
        assert_eq!(table.csv(), "value,per_million\r\n'=1+1,1234.5678901\r\n");
    }
}
