//! What people ask of verdicts: the duplicates themselves, the most frequent of them, who copied whom.

use std::cmp::Reverse;
use std::collections::HashMap;

use anyhow::Result;
use serde_json::{Value, json};
use tidings_store::Home;
use tidings_store::seen::{Ledger, VerdictReader};
use xxhash_rust::xxh3::xxh3_64;

use super::super::Report;
use crate::console;
use tidings_pipeline::display::grouped;
use tidings_pipeline::stage::dedup::duplicates;

/// Distinct texts that are counted in one pass; more of them take more passes, not more memory.
const COUNTED_AT_ONCE: u64 = 4_000_000;
/// Characters of a text that are shown to people.
const SHOWN: usize = 100;

/// Prints every duplicate with its text, a JSON object a line.
pub fn removed(home: &Home) -> Result<Report> {
    let mut out = Vec::new();
    duplicates::for_each(home, |verdict, unit, text| {
        let line = json!({
            "id": verdict.id,
            "lang": verdict.lang,
            "paragraph": unit.paragraph,
            "why": unit.why,
            "share": unit.share,
            "of": unit.of,
            "text": text,
        });
        serde_json::to_writer(&mut out, &line)?;
        out.push(b'\n');
        if out.len() >= 1 << 16 {
            console::print_bytes(&out);
            out.clear();
        }
        Ok(())
    })?;
    console::print_bytes(&out);
    Ok(Report::default())
}

/// Prints who copied whom, a JSON object a line, in the order of time.
pub fn copies(home: &Home) -> Result<Report> {
    for day in Ledger::read(home)?.map(|ledger| ledger.days).unwrap_or_default() {
        let mut out = String::new();
        for verdict in VerdictReader::open(home, &day.day)? {
            let verdict = verdict?;
            if let Some(of) = &verdict.copy_of {
                let share = verdict.duplicate_words as f64 / verdict.words.max(1) as f64;
                let share = (share * 1000.0).round() / 1000.0;
                let copy = json!({ "id": verdict.id, "site": verdict.site, "date": verdict.date, "share": share });
                out.push_str(&format!("{}\n", json!({ "of": of, "copy": copy })));
            }
        }
        console::print(&out);
    }
    Ok(Report::default())
}

/// The texts that were most often seen before.
pub fn top(home: &Home, number: usize) -> Result<Report> {
    let days = Ledger::read(home)?.map(|ledger| ledger.days).unwrap_or_default();
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
    let mut shown = String::new();
    let mut values = Vec::new();
    for (count, key) in &best {
        let text = texts.remove(key).unwrap_or_default();
        let start: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(SHOWN).collect();
        shown.push_str(&format!("{:>9}  {start}\n", grouped(*count)));
        values.push(json!({ "times": count, "text": text }));
    }
    Ok(Report { text: shown, json: Value::Array(values), ..Report::default() })
}
