//! Repair of derived data: a file that is not what its recipe says is made again by the next run.
//!
//! Every stage compares the files that it reads with the digests in the recipes of the stage before. A file that
//! differs is marked by deleting the recipe (or the verdicts) of its day, which is how every stage says that a day is to
//! be made; the text and the index that were made from it stay until then. Raw pages have nothing they could be made
//! from: see [`tidings_store::faulty_pages`].

use std::fmt;

use anyhow::Result;
use tidings_store::dedup_state;
use tidings_store::docs::{self, Recipe};
use tidings_store::text;
use tidings_store::{FileDigest, Home};

/// Damaged derived files of a day, which the next run makes again.
#[derive(Debug)]
pub struct DamagedFiles {
    /// The files.
    pub files: Vec<String>,
    /// The files of pages that are missing, so that it cannot be made again.
    lost: Vec<String>,
}

impl std::error::Error for DamagedFiles {}

impl fmt::Display for DamagedFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = if self.files.len() == 1 { "is" } else { "are" };
        write!(f, "{} {verb} damaged; ", self.files.join(", "))?;
        match self.lost.is_empty() {
            true => f.write_str("the next `tidings run` makes it again"),
            false => write!(f, "to make it again, restore {} from a backup", self.lost.join(", ")),
        }
    }
}

/// The names of the files that are missing or have other bytes than their digests say.
fn differing<'a>(home: &Home, files: impl IntoIterator<Item = &'a FileDigest>) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for file in files {
        if !file.check(home)? {
            names.push(file.file.clone());
        }
    }
    Ok(names)
}

/// Reads the files of documents and dropped pages of a day; if some are damaged, marks the day to be made again and returns an error.
pub fn check_documents(home: &Home, day: &str) -> Result<()> {
    let Some(recipe) = Recipe::read(home, day)? else { return Ok(()) };
    let files = differing(home, &recipe.outputs)?;
    if files.is_empty() {
        return Ok(());
    }
    let lost: Vec<String> = recipe.lost_inputs(home)?.into_iter().map(|lost| lost.file).collect();
    // Without its pages, the recipe is all that is known of the day.
    if lost.is_empty() {
        docs::forget(home, day)?;
    }
    Err(DamagedFiles { files, lost }.into())
}

/// Reads the verdicts of a day; if they are damaged, marks them to be made again and returns an error.
pub fn check_verdicts(home: &Home, day: &str, verdicts: &FileDigest) -> Result<()> {
    let files = differing(home, [verdicts])?;
    if files.is_empty() {
        return Ok(());
    }
    dedup_state::forget(home, day)?;
    Err(DamagedFiles { files, lost: Vec::new() }.into())
}

/// Reads a file of amended verdicts; if it is damaged, deletes it, so that the day that made it is judged again, and
/// returns an error.
pub fn check_amendments(home: &Home, amendments: &FileDigest) -> Result<()> {
    let files = differing(home, [amendments])?;
    if files.is_empty() {
        return Ok(());
    }
    home.storage().remove(&amendments.file)?;
    Err(DamagedFiles { files, lost: Vec::new() }.into())
}

/// Marks a damaged file of fingerprints, if the error is about one: it is deleted, so that the next run judges all days
/// again from their documents.
pub fn mark_fingerprints(home: &Home, error: anyhow::Error) -> anyhow::Error {
    let Some(tidings_dedup::Error::Damaged { path }) = error.downcast_ref() else { return error };
    let file = home.key(path);
    match home.storage().remove(&file) {
        Ok(()) => DamagedFiles { files: vec![file], lost: Vec::new() }.into(),
        Err(error) => error.into(),
    }
}

/// Reads a file of text of a day; if it is damaged, marks the day to be made again and returns an error.
pub fn check_text(home: &Home, day: &str, file: &FileDigest) -> Result<()> {
    let files = differing(home, [file])?;
    if files.is_empty() {
        return Ok(());
    }
    text::forget(home, day)?;
    Err(DamagedFiles { files, lost: Vec::new() }.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stage::StageId;
    use crate::test_home::{self, FIRST_DAY};
    use tidings_store::dedup_state::JudgedDays;
    use tidings_store::text::TextRecipe;

    fn flip(home: &Home, file: &str) {
        let path = home.root().join(file);
        let mut bytes = std::fs::read(&path).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        std::fs::write(path, bytes).unwrap();
    }

    #[test]
    fn damaged_documents_are_named_and_made_again() {
        let (_folder, pipeline) = test_home::built();
        let home = pipeline.home();
        check_documents(home, FIRST_DAY).unwrap();
        let whole = std::fs::read(home.root().join("docs/de/2026-03-01.jsonl.zst")).unwrap();
        flip(home, "docs/de/2026-03-01.jsonl.zst");
        let error = check_documents(home, FIRST_DAY).unwrap_err().to_string();
        assert_eq!(error, "docs/de/2026-03-01.jsonl.zst is damaged; the next `tidings run` makes it again");
        test_home::run_derived(&pipeline);
        assert_eq!(std::fs::read(home.root().join("docs/de/2026-03-01.jsonl.zst")).unwrap(), whole);
    }

    #[test]
    fn damaged_documents_without_their_pages_are_kept() {
        let (_folder, pipeline) = test_home::built();
        let home = pipeline.home();
        flip(home, "docs/de/2026-03-01.jsonl.zst");
        std::fs::remove_file(home.root().join("pages/2026-03-01/a.0.jsonl.zst")).unwrap();
        let error = check_documents(home, FIRST_DAY).unwrap_err().to_string();
        assert!(error.ends_with("restore pages/2026-03-01/a.0.jsonl.zst from a backup"), "{error}");
        assert!(Recipe::read(home, FIRST_DAY).unwrap().is_some());
    }

    #[test]
    fn damaged_fingerprints_end_dedup_and_are_made_again_from_documents() {
        for kind in ["keys", "pieces"] {
            let (_folder, pipeline) = test_home::built();
            let home = pipeline.home();
            let verdicts = StageId::Dedup.stage().output_digest(home).unwrap();
            let pages = test_home::articles();
            // The third day copies the first one, so that its fingerprints are read.
            test_home::put_pages(home.root(), "2026-03-03", "a.0", &pages[..3]);
            pipeline.run(StageId::Clean.stage().as_ref()).unwrap();
            let file = home.storage().list(&format!("seen/{kind}")).unwrap().remove(0);
            let path = home.root().join(&file);
            let mut bytes = std::fs::read(&path).unwrap();
            let middle = bytes.len() / 2;
            bytes[24..middle].iter_mut().for_each(|byte| *byte ^= 0x55);
            std::fs::write(&path, bytes).unwrap();
            let error = pipeline.run(StageId::Dedup.stage().as_ref()).unwrap_err().to_string();
            assert_eq!(error, format!("{file} is damaged; the next `tidings run` makes it again"));
            std::fs::remove_dir_all(home.root().join("pages/2026-03-03")).unwrap();
            docs::remove_day(home, "2026-03-03").unwrap();
            test_home::run_derived(&pipeline);
            assert_eq!(StageId::Dedup.stage().output_digest(home).unwrap(), verdicts);
        }
    }

    #[test]
    fn damaged_verdicts_and_text_are_made_again() {
        let (_folder, pipeline) = test_home::built();
        let home = pipeline.home();
        let verdicts = JudgedDays::read(home).unwrap().unwrap().days[0].verdicts.clone();
        let output = TextRecipe::read(home, FIRST_DAY).unwrap().unwrap().outputs[0].clone();
        flip(home, &verdicts.file);
        flip(home, &output.file);
        assert!(check_verdicts(home, FIRST_DAY, &verdicts).unwrap_err().to_string().contains(&verdicts.file));
        assert!(check_text(home, FIRST_DAY, &output).unwrap_err().to_string().contains(&output.file));
        test_home::run_derived(&pipeline);
        assert!(verdicts.is_sound(home) && output.is_sound(home));
        for stage in StageId::ALL.iter().map(|id| id.stage()).filter(|stage| stage.is_derived()) {
            assert!(stage.due(home, pipeline.config()).unwrap().units.is_empty(), "{}", stage.id());
        }
    }
}
