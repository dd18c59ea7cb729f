//! Raw pages that are missing or damaged, by the recipes of the documents made from them.
//!
//! Pages are the one thing that cannot be made again. A recipe names the files that its day was made from, so a file
//! that is gone or has another size is noticed without reading any page, and the day is not made again without it:
//! its documents may be the last copy of the text.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::docs::{self, Recipe};
use crate::error::Result;
use crate::file_digest::FileDigest;
use crate::home::Home;

/// A part of a file of pages that cannot be read and was skipped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DamagedPart {
    /// The file of pages.
    pub file: String,
    /// The offset of the damaged part in the file.
    pub at: u64,
    /// Its size.
    pub bytes: u64,
    /// The digest of the damaged file, by which a restored one is recognised.
    pub xxh3: String,
}

/// The trouble with a file of pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PagesFault {
    /// The file is gone.
    Missing,
    /// The file has another size than when it was read.
    Changed,
    /// Parts of the file cannot be read.
    Damaged,
}

impl fmt::Display for PagesFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PagesFault::Missing => "is missing",
            PagesFault::Changed => "has another size than when it was read",
            PagesFault::Damaged => "is damaged",
        })
    }
}

/// A file of pages that is missing, changed or damaged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FaultyPages {
    /// The day of download.
    pub day: String,
    /// The file.
    pub file: String,
    /// Its trouble.
    pub fault: PagesFault,
}

impl fmt::Display for FaultyPages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.file, self.fault)
    }
}

impl Recipe {
    /// The inputs that the home no longer has as they were read. A damaged file is not among them: its documents were
    /// made around the damage.
    pub fn lost_inputs(&self, home: &Home) -> Result<Vec<FaultyPages>> {
        let mut lost = Vec::new();
        for input in self.inputs.iter().filter(|input| !self.is_damaged(&input.file)) {
            let fault = match home.file_bytes(&input.file)? {
                None => PagesFault::Missing,
                Some(bytes) if bytes != input.bytes => PagesFault::Changed,
                Some(_) => continue,
            };
            lost.push(FaultyPages { day: self.day.clone(), file: input.file.clone(), fault });
        }
        Ok(lost)
    }

    /// Whether parts of a file of pages were skipped.
    pub(crate) fn is_damaged(&self, file: &str) -> bool {
        self.damaged.iter().any(|part| part.file == file)
    }

    /// The inputs whose digests are those of undamaged files.
    pub(crate) fn sound_inputs(&self) -> Vec<FileDigest> {
        let is_sound = |input: &&FileDigest| !self.damaged.iter().any(|part| part.xxh3 == input.xxh3);
        self.inputs.iter().filter(is_sound).cloned().collect()
    }

    /// Whether a damaged file of pages was replaced since it was read, such as from a backup.
    pub(crate) fn is_restored(&self, home: &Home) -> Result<bool> {
        for part in &self.damaged {
            if home.file_bytes(&part.file)?.is_some() && FileDigest::of(home, &part.file)?.xxh3 != part.xxh3 {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// All files of pages that are missing, changed or damaged, by the recipes of the documents.
pub fn faulty_pages(home: &Home) -> Result<Vec<FaultyPages>> {
    let mut faulty = Vec::new();
    for day in docs::document_days(home)? {
        let Some(recipe) = Recipe::read(home, &day)? else { continue };
        faulty.extend(recipe.lost_inputs(home)?);
        let mut damaged: Vec<&String> = recipe.damaged.iter().map(|part| &part.file).collect();
        damaged.dedup();
        let damaged = damaged.into_iter().cloned();
        faulty.extend(damaged.map(|file| FaultyPages { day: day.clone(), file, fault: PagesFault::Damaged }));
    }
    Ok(faulty)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "pages/2026-03-01/a.0.jsonl.zst";

    fn recipe(home: &Home) -> Recipe {
        home.storage().put_atomic(FILE, b"pages").unwrap();
        let inputs = vec![FileDigest::of(home, FILE).unwrap()];
        Recipe { inputs, ..Recipe::new("2026-03-01", "p", "e", serde_json::Value::Null) }
    }

    #[test]
    fn an_input_that_is_gone_or_has_another_size_is_lost() {
        let (_folder, home) = crate::testing::home();
        let recipe = recipe(&home);
        let faults = || recipe.lost_inputs(&home).unwrap().iter().map(|lost| lost.fault).collect::<Vec<_>>();
        assert_eq!(faults(), []);
        home.storage().put_atomic(FILE, b"page").unwrap();
        assert_eq!(faults(), [PagesFault::Changed]);
        home.storage().remove(FILE).unwrap();
        assert_eq!(faults(), [PagesFault::Missing]);
        let shown = recipe.lost_inputs(&home).unwrap()[0].to_string();
        assert_eq!(shown, "pages/2026-03-01/a.0.jsonl.zst is missing");
    }

    #[test]
    fn a_damaged_input_is_not_lost_and_a_restored_one_is_recognised() {
        let (_folder, home) = crate::testing::home();
        let mut recipe = recipe(&home);
        let xxh3 = FileDigest::of(&home, FILE).unwrap().xxh3;
        recipe.damaged.push(DamagedPart { file: FILE.to_owned(), at: 1, bytes: 2, xxh3 });
        assert!(!recipe.is_restored(&home).unwrap());
        home.storage().put_atomic(FILE, b"whole pages").unwrap();
        assert!(recipe.lost_inputs(&home).unwrap().is_empty());
        assert!(recipe.is_restored(&home).unwrap());
    }
}
