//! Split of treebanks into training and test data.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;

use crate::treebank::{self, Document, Treebank};

/// Treebanks of a language.
#[derive(Debug, Default)]
pub struct LanguageTreebanks {
    /// Training files.
    pub train: Vec<Treebank>,
    /// Development files.
    pub dev: Vec<Treebank>,
}

/// Languages written without spaces between words, and with a space between sentences. A treebank of shuffled sentences
/// leaves it out.
const BLANK_BETWEEN_SENTENCES: [&str; 4] = ["km", "lo", "my", "th"];

/// Text that is segmented unlike news: transcribed speech without punctuation, essays with a space before every mark,
/// tweets, and print of the 17th century. Training on it lowers the scores of other treebanks.
const UNLIKE_NEWS: &[&str] = &["fr_rhapsodie", "fr_rhapsodie_dev", "it_markit", "it_twittiro", "pl_mpdt"];

/// Reads the treebanks of all or some languages.
pub fn read(shared: &Path, only: &[String]) -> Result<BTreeMap<String, LanguageTreebanks>> {
    let mut list: BTreeMap<String, LanguageTreebanks> = BTreeMap::new();
    for (folder, is_train) in [("ud-train", true), ("text-dev/ud", false)] {
        for file in treebank::files(&shared.join(folder))? {
            let mut treebank = Treebank::read(&file)?;
            if BLANK_BETWEEN_SENTENCES.contains(&treebank.language()) {
                treebank.rewrite(Document::with_blanks_between_sentences);
            }
            if is_train && treebank.has_foreign_marks() {
                treebank.rewrite(Document::with_chinese_marks);
            }
            if UNLIKE_NEWS.contains(&treebank.name.as_str()) {
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
    /// training file, otherwise its last fifth. A language without development files is tested on the last fifths of
    /// its training files.
    pub fn train_and_test(&self) -> (Vec<Treebank>, Vec<Treebank>) {
        if self.dev.is_empty() {
            return self.train.iter().map(Treebank::split_for_test).unzip();
        }
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
