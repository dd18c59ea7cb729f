//! Benchmark of duplicate detection: planted duplicates, scores, and comparison with other tools.

pub mod days;
pub mod generate;
pub mod onion;
pub mod score;
pub mod sets;

use anyhow::Result;
use tidings_dedup::{Deduplicator, FingerprintStore, Origin, Rule, Scope, StoreFiles, Text};

/// Scores Tidings' verdicts on documents.
pub fn judged(cases: &[sets::LabelledDocument], rule: Rule) -> Result<score::Score> {
    let folder = tempfile::tempdir()?;
    let mut deduplicator =
        Deduplicator::new(rule, Scope::All, FingerprintStore::new(StoreFiles::default(), folder.path(), 32 << 20)?);
    let mut score = score::Score::default();
    for case in cases {
        let text = Text::new(case.paragraphs.iter().map(String::as_str), &rule);
        let verdict = deduplicator.judge(&text, &Origin { name: &case.id, ..Origin::default() })?;
        score.add(case, verdict.paragraphs.iter().map(|finding| finding.duplicate.is_some()));
    }
    Ok(score)
}
