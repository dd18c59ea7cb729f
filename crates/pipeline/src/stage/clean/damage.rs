//! Damaged files of pages: what was made from them before is carried over.

use std::ops::Range;
use std::path::Path;

use anyhow::Result;
use serde::Deserialize;
use tidings_model::{Fingerprint, FingerprintSet};
use tidings_store::Home;
use tidings_store::docs::{DayDraft, DocumentReader, Recipe};

/// A damaged part of a file of pages.
pub(super) type DamagedPart<'a> = (&'a Path, Range<u64>);

/// Keeps the documents and dropped pages of the former version of a day whose pages were not read again, because they
/// are in a damaged part of a file. Returns their number. Of the former version, damaged files are left out.
pub(super) fn carry_over(home: &Home, day: &str, seen: &FingerprintSet, draft: &mut DayDraft) -> Result<u64> {
    /// The fields of a document or dropped page that are needed here.
    #[derive(Deserialize)]
    struct Former {
        url: String,
        #[serde(default)]
        reason: String,
        #[serde(default)]
        revises: Vec<String>,
    }
    let Some(former) = Recipe::read(home, day)? else { return Ok(0) };
    let mut kept = 0;
    for output in former.outputs.iter().filter(|output| !output.file.starts_with("docs/yield/")) {
        if !output.check(home)? {
            log::error!("{} is damaged too; its documents of damaged pages are lost", output.file);
            continue;
        }
        let mut lines = DocumentReader::open_in(home, &output.file)?;
        while let Some(mut line) = lines.next_line()? {
            let page: Former = serde_json::from_slice(&line)?;
            if seen.contains(&Fingerprint::of(&page.url)) {
                continue;
            }
            line.push(b'\n');
            match output.language() {
                Some(language) => {
                    draft.push(language, &line)?;
                    draft.supersede(&page.url, &page.revises);
                }
                None => draft.drop_page(&page.reason, &line)?,
            }
            kept += 1;
        }
    }
    Ok(kept)
}
