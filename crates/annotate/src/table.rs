//! What rules need to know about a language, read from `languages/CODE/rules.tsv`.
//!
//! A row is a key, a tab, and words parted by blanks:
//!
//! | key | says |
//! | --- | --- |
//! | `abbreviation` | words that keep their full stop, and may end a sentence |
//! | `title` | words that keep their full stop and never end a sentence |
//! | `month` | what may follow an ordinal number |
//! | `before` | what parts from the word that follows it: `l'`, `il-` |
//! | `after` | what parts from the word before it: `'s`, `-il` |
//! | `whole` | words in spite of their apostrophe or hyphen, and what keeps an apostrophe at its edge: `aujourd'hui`, `ta'`, `'n` |
//! | `hyphen` | `split` if hyphens part words |
//! | `elision` | `yes` if every apostrophe inside a word ends a word |
//! | `period` | `split` if the full stop of an abbreviation is a token of its own |
//! | `ordinal` | `join` if the full stop of an ordinal number belongs to it, `split` if it is a token of its own |
//! | `thousands` | `blank` if groups of digits are parted by blanks |
//! | `spaces` | `inside` if words may have blanks in them |
//! | `stop` | further characters that end a sentence |
//! | `sentences` | `unmarked` if sentences end at spaces without a mark, so that a model alone tells |
//! | `characters` | `simplified` if a model sees traditional Chinese characters as simplified ones |
//! | `nouns` | `upper` if nouns are capitalised, so that a capital tells little |

use std::collections::{HashMap, HashSet};
use std::sync::{LazyLock, OnceLock};

use crate::hash::{self, Hash};

/// Behaviour of an abbreviation at the end of a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Short {
    /// May end a sentence: *etc.*
    MayEnd,
    /// Never ends a sentence: *Dr.*
    NeverEnds,
}

/// Spelling of ordinal numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ordinal {
    /// Without a full stop.
    #[default]
    Plain,
    /// With a full stop that is part of the token.
    Joined,
    /// With a full stop that is a separate token.
    Split,
}

/// Segmentation rules of a language.
#[derive(Debug, Default)]
pub struct Table {
    pub short: HashMap<Hash, Short>,
    pub months: HashSet<Hash>,
    pub before: HashSet<Hash>,
    pub after: HashSet<Hash>,
    pub whole: HashSet<Hash>,
    pub stops: Vec<char>,
    pub splits_hyphens: bool,
    pub splits_periods: bool,
    pub elides: bool,
    pub ordinal: Ordinal,
    pub blank_in_numbers: bool,
    pub blank_in_words: bool,
    pub capital_nouns: bool,
    pub unmarked_sentences: bool,
    pub simplifies: bool,
}

/// Row that cannot be parsed.
#[derive(Debug, PartialEq, Eq)]
pub struct BadRow(String);

impl Table {
    fn parse(rows: &str) -> Result<Table, BadRow> {
        let mut table = Table::default();
        for row in rows.lines().filter(|row| !row.is_empty() && !row.starts_with('#')) {
            let bad = || BadRow(row.to_owned());
            let (key, words) = row.split_once('\t').ok_or_else(bad)?;
            let hashes = words.split_whitespace().map(hash::of_str);
            match key {
                "abbreviation" => table.short.extend(shorts(words, Short::MayEnd)),
                "title" => table.short.extend(shorts(words, Short::NeverEnds)),
                "month" => table.months.extend(hashes),
                "before" => table.before.extend(hashes),
                "after" => table.after.extend(hashes),
                "whole" => table.whole.extend(hashes),
                "stop" => table.stops.extend(words.chars().filter(|c| !c.is_whitespace())),
                "hyphen" => table.splits_hyphens = words == "split",
                "period" => table.splits_periods = words == "split",
                "elision" => table.elides = words == "yes",
                "ordinal" => table.ordinal = if words == "join" { Ordinal::Joined } else { Ordinal::Split },
                "thousands" => table.blank_in_numbers = words == "blank",
                "spaces" => table.blank_in_words = words == "inside",
                "nouns" => table.capital_nouns = words == "upper",
                "sentences" => table.unmarked_sentences = words == "unmarked",
                "characters" => table.simplifies = words == "simplified",
                _ => return Err(bad()),
            }
        }
        Ok(table)
    }
}

/// Abbreviations are looked up without their final full stop.
fn shorts(words: &str, short: Short) -> impl Iterator<Item = (Hash, Short)> {
    words.split_whitespace().map(move |word| (hash::of_str(word.strip_suffix('.').unwrap_or(word)), short))
}

/// Every table with its code, as it lies in `languages/`.
pub fn rows() -> impl Iterator<Item = (&'static str, &'static [u8])> {
    tidings_lang::languages().iter().filter_map(|language| Some((language.code, language.rules_tsv?.as_bytes())))
}

/// Returns the table of a language; an empty one if it has none.
pub fn of(code: &str) -> &'static Table {
    static TABLES: LazyLock<Vec<OnceLock<Table>>> =
        LazyLock::new(|| tidings_lang::languages().iter().map(|_| OnceLock::new()).collect());
    static NOTHING: OnceLock<Table> = OnceLock::new();
    let index = tidings_lang::languages().binary_search_by(|language| language.code.cmp(code));
    match index.ok().and_then(|index| Some((index, tidings_lang::languages()[index].rules_tsv?))) {
        Some((index, rows)) => TABLES[index].get_or_init(|| Table::parse(rows).expect("a test reads every table")),
        None => NOTHING.get_or_init(Table::default),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_can_be_read() {
        for (code, rows) in rows() {
            let rows = std::str::from_utf8(rows).unwrap();
            assert!(Table::parse(rows).is_ok(), "{code}: {:?}", Table::parse(rows).err());
        }
    }

    #[test]
    fn a_row_with_an_unknown_key_is_rejected() {
        assert_eq!(Table::parse("months\tMai").unwrap_err(), BadRow("months\tMai".to_owned()));
        assert_eq!(Table::parse("month Mai").unwrap_err(), BadRow("month Mai".to_owned()));
    }
}
