//! Records of the scrub: how far it has read, and the damaged files that it found.
//!
//! `state/scrub.tsv` holds the last file that was read and when; `state/damage.tsv` holds a row for each damaged file,
//! until it is sound again.

use std::collections::BTreeMap;

use tidings_storage::write_atomic;

use crate::dedup_state::JudgedDays;
use crate::docs::{self, Recipe};
use crate::error::Result;
use crate::file_digest::FileDigest;
use crate::home::Home;
use crate::table::{self, columns};
use crate::text::{self, TextRecipe};

/// The position of the scrub.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScrubPosition {
    /// The last file that was read; files are read in the order of their names.
    pub file: String,
    /// The time of that, RFC 3339.
    pub at: String,
}

columns!(ScrubPosition { file, at });

impl ScrubPosition {
    /// The position of a home; the default if nothing was read yet.
    pub fn read(home: &Home) -> Result<ScrubPosition> {
        let mut position = ScrubPosition::default();
        table::read(&home.state("scrub.tsv"), |row| position = row)?;
        Ok(position)
    }

    /// Replaces the position. The caller holds the lock.
    pub fn write(self, home: &Home) -> Result<()> {
        Ok(write_atomic(&home.state("scrub.tsv"), table::text([self].into_iter()).as_bytes())?)
    }
}

/// A damaged file.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct DamagedFile {
    /// The file.
    pub file: String,
    /// The time when it was found, RFC 3339.
    pub found: String,
}

columns!(DamagedFile { file, found });

/// The damaged files that were found and are not sound yet.
pub fn damaged_files(home: &Home) -> Result<Vec<DamagedFile>> {
    let mut files = Vec::new();
    table::read(&home.state("damage.tsv"), |row| files.push(row))?;
    Ok(files)
}

/// Replaces the list of damaged files. The caller holds the lock.
pub fn write_damaged_files(home: &Home, files: Vec<DamagedFile>) -> Result<()> {
    Ok(write_atomic(&home.state("damage.tsv"), table::text(files.into_iter()).as_bytes())?)
}

/// A kind of file with a digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scrubbed {
    /// Raw pages.
    Pages,
    /// Documents, dropped pages or yields.
    Documents,
    /// Verdicts on duplicates.
    Verdicts,
    /// Fingerprints of earlier text.
    Fingerprints,
    /// Annotated text.
    Text,
}

/// All files whose digests are recorded, by name, with their kinds and days. Indexes record their own.
pub fn recorded(home: &Home) -> Result<BTreeMap<String, (Scrubbed, String, FileDigest)>> {
    let mut files = BTreeMap::new();
    let mut add = |kind, day: &str, file: &FileDigest| {
        files.insert(file.file.clone(), (kind, day.to_owned(), file.clone()));
    };
    for day in docs::document_days(home)? {
        let Some(recipe) = Recipe::read(home, &day)? else { continue };
        recipe.inputs.iter().for_each(|file| add(Scrubbed::Pages, &day, file));
        recipe.outputs.iter().for_each(|file| add(Scrubbed::Documents, &day, file));
    }
    for judged in JudgedDays::read(home)?.map(|judged| judged.days).unwrap_or_default() {
        for file in [&judged.verdicts].into_iter().chain(&judged.amendments) {
            add(Scrubbed::Verdicts, &judged.day, file);
        }
        // Files of earlier days may have been merged into those of later ones.
        for file in [&judged.key_file, &judged.piece_file].into_iter().filter(|file| file.is_present(home)) {
            add(Scrubbed::Fingerprints, &judged.day, file);
        }
    }
    for day in text::days(home)? {
        let Some(recipe) = TextRecipe::read(home, &day)? else { continue };
        recipe.outputs.iter().for_each(|file| add(Scrubbed::Text, &day, file));
    }
    Ok(files)
}

/// Deletes a damaged file of fingerprints, so that all days are judged again.
pub fn forget_fingerprints(home: &Home, file: &FileDigest) -> Result<()> {
    Ok(home.storage().remove(&file.file)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_position_and_the_damaged_files_are_kept() {
        let (_folder, home) = crate::testing::home();
        assert_eq!(ScrubPosition::read(&home).unwrap(), ScrubPosition::default());
        let position = ScrubPosition { file: "docs/de/1".into(), at: "2026-03-01T00:00:00.000Z".into() };
        position.clone().write(&home).unwrap();
        assert_eq!(ScrubPosition::read(&home).unwrap(), position);
        let damaged = vec![DamagedFile { file: "pages/1".into(), found: "2026-03-01T00:00:00.000Z".into() }];
        write_damaged_files(&home, damaged.clone()).unwrap();
        assert_eq!(damaged_files(&home).unwrap(), damaged);
        assert!(recorded(&home).unwrap().is_empty());
    }
}
