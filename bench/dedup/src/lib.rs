//! Planted duplicates, scores against the truth, and others to compare with.

pub mod days;
pub mod generate;
pub mod onion;
pub mod score;
pub mod sets;

use anyhow::Result;
use tidings_dedup::{Judge, Memory, Origin, Past, Rule, Scope, Text};

/// Our own verdicts on documents, scored.
pub fn judged(cases: &[sets::Case], rule: Rule) -> Result<score::Score> {
    let folder = tempfile::tempdir()?;
    let mut judge = Judge::new(rule, Scope::All, Memory::new(Past::default(), folder.path(), 32 << 20)?);
    let mut score = score::Score::default();
    for case in cases {
        let text = Text::new(case.paragraphs.iter().map(String::as_str), &rule);
        let verdict = judge.judge(&text, &Origin { name: &case.id, ..Origin::default() })?;
        score.add(case, verdict.paragraphs.iter().map(|finding| finding.duplicate.is_some()));
    }
    Ok(score)
}
