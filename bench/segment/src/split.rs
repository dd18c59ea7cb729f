//! Split of treebanks into training and test data.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;

use crate::treebank::{self, Treebank};

/// Treebanks of a language.
#[derive(Debug, Default)]
pub struct LanguageTreebanks {
    /// Training files.
    pub train: Vec<Treebank>,
    /// Development files.
    pub dev: Vec<Treebank>,
}

/// Transcribed speech without punctuation; training on it lowers the scores of other treebanks.
const SPOKEN: &[&str] = &["fr_rhapsodie"];

/// Reads the treebanks of all or some languages.
pub fn read(shared: &Path, only: &[String]) -> Result<BTreeMap<String, LanguageTreebanks>> {
    let mut list: BTreeMap<String, LanguageTreebanks> = BTreeMap::new();
    for (folder, is_train) in [("ud-train", true), ("text-dev/ud", false)] {
        for file in treebank::files(&shared.join(folder))? {
            let treebank = Treebank::read(&file)?;
            if SPOKEN.contains(&treebank.name.as_str()) {
                continue;
            }
            if !only.is_empty() && !only.iter().any(|code| code == treebank.language()) {
                continue;
            }
            let treebanks = list.entry(treebank.language().to_owned()).or_default();
            if is_train { treebanks.train.push(treebank) } else { treebanks.dev.push(treebank) }
        }
    }
    Ok(list)
}

impl LanguageTreebanks {
    /// Returns training and test data: the development file is the test data if there is also a
    /// training file, otherwise its last fifth.
    pub fn train_and_test(&self) -> (Vec<Treebank>, Vec<Treebank>) {
        let mut train = self.train.clone();
        let mut tests = Vec::new();
        for treebank in &self.dev {
            if self.train.iter().any(|trained| trained.name == treebank.name) {
                tests.push(treebank.clone());
            } else {
                let (first, rest) = treebank.split_for_test();
                train.push(first);
                tests.push(rest);
            }
        }
        (train, tests)
    }

    /// Files by treebank name.
    pub fn by_name(&self) -> BTreeMap<&str, Vec<&Treebank>> {
        let mut names: BTreeMap<&str, Vec<&Treebank>> = BTreeMap::new();
        for treebank in self.train.iter().chain(&self.dev) {
            names.entry(&treebank.name).or_default().push(treebank);
        }
        names
    }
}
