//! Views of the verdicts: duplicates with their texts, the most frequent ones, and copies with their sources.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::fmt;

use anyhow::Result;
use serde::Serialize;
use tidings_store::Home;
use tidings_store::dedup_state::{JudgedDays, VerdictReader};
use xxhash_rust::xxh3::xxh3_64;

use super::duplicates;
use crate::display::grouped;
use crate::outcome::Outcome;

/// Distinct texts counted in one pass; more texts take more passes and not more memory.
const COUNTED_AT_ONCE: u64 = 4_000_000;
/// Characters of a text that people see.
const SHOWN_CHARS: usize = 100;

/// A duplicate with its text.
#[derive(Debug, Serialize)]
pub struct Removed<'a> {
    /// The document.
    pub id: &'a str,
    /// Its language.
    pub lang: &'a str,
    /// The document in which the text was seen first.
    pub of: Option<&'a str>,
    /// The paragraph, counted from 0.
    pub paragraph: u64,
    /// The share of duplicate words.
    pub share: f64,
    /// The text.
    pub text: &'a str,
    /// The reason, as the verdict spells it.
    pub why: &'a str,
}

/// Passes every duplicate to `take`, in chronological order.
pub fn removed(home: &Home, mut take: impl FnMut(&Removed<'_>) -> Result<()>) -> Result<()> {
    duplicates::for_each(home, |verdict, unit, text| {
        take(&Removed {
            id: &verdict.id,
            lang: &verdict.lang,
            of: unit.of.as_deref(),
            paragraph: unit.paragraph,
            share: unit.share,
            text,
            why: &unit.why,
        })
    })
}

/// A document that was copied, and the copy.
#[derive(Debug, Serialize)]
pub struct CopyRow<'a> {
    /// The copy.
    pub copy: CopyOf<'a>,
    /// The document it copies.
    pub of: &'a str,
}

/// A copy of a document.
#[derive(Debug, Serialize)]
pub struct CopyOf<'a> {
    /// The day it is dated, or was seen.
    pub date: &'a str,
    /// The document.
    pub id: &'a str,
    /// The share of duplicate words.
    pub share: f64,
    /// The host that published it.
    pub site: &'a str,
}

/// Passes every copy to `take`, in chronological order.
pub fn copies(home: &Home, mut take: impl FnMut(&CopyRow<'_>) -> Result<()>) -> Result<()> {
    for day in JudgedDays::read(home)?.map(|ledger| ledger.days).unwrap_or_default() {
        for verdict in VerdictReader::open(home, &day.day)? {
            let verdict = verdict?;
            let Some(of) = &verdict.copy_of else { continue };
            let share = rounded(verdict.duplicate_words as f64 / verdict.words.max(1) as f64);
            let copy = CopyOf { date: &verdict.date, id: &verdict.id, share, site: &verdict.site };
            take(&CopyRow { copy, of })?;
        }
    }
    Ok(())
}

/// Rounds a share to three digits.
fn rounded(share: f64) -> f64 {
    (share * 1000.0).round() / 1000.0
}

/// The most frequent duplicates in descending order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Top {
    /// The duplicates.
    pub rows: Vec<TopRow>,
}

/// A text that was seen before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TopRow {
    /// The text.
    pub text: String,
    /// The number of times it was a duplicate.
    pub times: u64,
}

impl Outcome for Top {}

impl fmt::Display for Top {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for row in &self.rows {
            let start: String =
                row.text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(SHOWN_CHARS).collect();
            writeln!(f, "{:>9}  {start}", grouped(row.times))?;
        }
        Ok(())
    }
}

/// Counts duplicates by the hash of their texts, in as many passes as keep the counters within memory.
pub fn top(home: &Home, number: usize) -> Result<Top> {
    let days = JudgedDays::read(home)?.map(|ledger| ledger.days).unwrap_or_default();
    let passes = days.iter().map(|day| day.duplicate_paragraphs).sum::<u64>() / COUNTED_AT_ONCE + 1;
    let mut best: Vec<(u64, u64)> = Vec::new();
    for pass in 0..passes {
        let mut counts: HashMap<u64, u64> = HashMap::new();
        duplicates::for_each(home, |_, _, text| {
            let key = xxh3_64(text.trim().as_bytes());
            if key % passes == pass {
                *counts.entry(key).or_default() += 1;
            }
            Ok(())
        })?;
        best.extend(counts.into_iter().map(|(key, count)| (count, key)));
        best.sort_unstable_by_key(|(count, key)| (Reverse(*count), *key));
        best.truncate(number);
    }
    let mut texts: HashMap<u64, String> = HashMap::new();
    duplicates::for_each(home, |_, _, text| {
        let key = xxh3_64(text.trim().as_bytes());
        if best.iter().any(|(_, known)| *known == key) {
            texts.entry(key).or_insert_with(|| text.trim().to_owned());
        }
        Ok(())
    })?;
    let row = |(times, key): (u64, u64)| TopRow { text: texts.remove(&key).unwrap_or_default(), times };
    Ok(Top { rows: best.into_iter().map(row).collect() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frequent_text_is_shown_on_one_line_with_its_count() {
        let text = format!("All rights\nreserved.{}", "x".repeat(200));
        let top = Top { rows: vec![TopRow { text, times: 12_345 }] };
        let shown = top.to_string();
        assert!(shown.starts_with("   12,345  All rights reserved.xxx"), "{shown}");
        assert_eq!(shown.trim_end().chars().count(), 11 + SHOWN_CHARS);
        assert!(serde_json::to_string(&top).unwrap().starts_with("[{\"text\":\"All rights\\nreserved."));
    }

    #[test]
    fn a_share_has_three_digits() {
        assert_eq!([rounded(2.0 / 3.0), rounded(1.0)], [0.667, 1.0]);
    }

    #[test]
    fn rows_are_written_with_their_keys_in_order() {
        let copy = CopyOf { date: "2026-03-01", id: "b", share: 0.5, site: "b.example" };
        let line = serde_json::to_string(&CopyRow { copy, of: "a" }).unwrap();
        assert_eq!(line, r#"{"copy":{"date":"2026-03-01","id":"b","share":0.5,"site":"b.example"},"of":"a"}"#);
    }
}
