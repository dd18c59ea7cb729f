//! The duplicates of a home with their texts.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Result, anyhow, bail};
use tidings_store::Home;
use tidings_store::dedup_state::{self, DocsDay, DuplicateUnit, JudgedDays, VerdictLine};
use tidings_store::docs::DocumentReader;

/// Passes every duplicate with its text to `see`, in chronological order.
pub fn for_each(home: &Home, mut see: impl FnMut(&VerdictLine, &DuplicateUnit, &str) -> Result<()>) -> Result<()> {
    let days: BTreeMap<String, DocsDay> =
        dedup_state::docs_days(home)?.into_iter().map(|day| (day.name.clone(), day)).collect();
    for judged in JudgedDays::read(home)?.map(|ledger| ledger.days).unwrap_or_default() {
        let Some(day) = days.get(&judged.day).filter(|day| day.digest == judged.docs) else {
            bail!("the documents of {} have changed since the last `tidings dedup`; run it first", judged.day);
        };
        let mut verdicts = dedup_state::VerdictReader::open(home, &judged.day)?;
        for (_, path) in day.files(home)? {
            for document in DocumentReader::open(&path)? {
                let document = document?;
                let verdict = verdicts.next().transpose()?.filter(|verdict| verdict.id == document.id);
                let verdict = verdict.ok_or_else(|| unlike(&path))?;
                for unit in &verdict.duplicates {
                    let paragraph = document.paragraphs.get(unit.paragraph as usize).map(|paragraph| &paragraph.text);
                    let bytes = unit.bytes.map(|(start, end)| start as usize..end as usize);
                    let text = paragraph.and_then(|text| match bytes {
                        Some(bytes) => text.get(bytes),
                        None => Some(text.as_str()),
                    });
                    see(&verdict, unit, text.ok_or_else(|| unlike(&path))?)?;
                }
            }
        }
    }
    Ok(())
}

fn unlike(path: &Path) -> anyhow::Error {
    anyhow!("{} does not match its verdicts; run `tidings rebuild --from dedup`", path.display())
}
