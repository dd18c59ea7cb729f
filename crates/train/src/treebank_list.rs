//! Treebanks by language, and transfer between related languages.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::LazyLock;

use anyhow::Result;
use tidings_annotate::tagger::TreebankInfo;

use crate::treebank::{self, GoldToken, Sentence, Treebank};

/// Treebanks of a language.
#[derive(Debug, Default)]
pub struct LanguageTreebanks {
    /// Training files.
    pub train: Vec<Treebank>,
    /// Development files.
    pub dev: Vec<Treebank>,
}

/// Treebanks by language code.
pub type TreebankList = BTreeMap<String, LanguageTreebanks>;

/// Languages that profit from treebanks of related languages, and the weight of those. With weight
/// zero, they only contribute ambiguity classes.
const RELATED: &[(&str, &[&str], f32)] = &[
    ("hr", &["sr"], 0.3),
    ("sr", &["hr"], 0.3),
    ("nb", &["nn", "da"], 0.3),
    ("nn", &["nb", "da"], 0.3),
    ("da", &["nb", "nn"], 0.0),
    ("sv", &["nb", "da"], 0.0),
    ("cs", &["sk"], 0.1),
    ("sk", &["cs"], 0.3),
    ("ru", &["uk", "be"], 0.0),
    ("uk", &["ru", "be"], 0.1),
    ("be", &["ru", "uk"], 0.1),
    ("gd", &["ga"], 0.3),
    ("gl", &["pt", "es"], 0.0),
    ("es", &["pt", "gl"], 0.0),
];

/// Row of `treebanks.tsv`.
#[derive(Debug, Clone, Copy, PartialEq)]
struct TreebankRow {
    name: &'static str,
    licence: &'static str,
    weight: f32,
    /// The weight is that of the training file only.
    weighs_train: bool,
    without_feats: bool,
    /// Features are left out of the training file only.
    without_train_feats: bool,
    without_lemmas: bool,
    /// Lemmas are left out of the training file only.
    without_train_lemmas: bool,
    /// Tokens taken at most.
    part: Option<usize>,
}

/// Row of a treebank without one.
const USUAL: TreebankRow = TreebankRow {
    name: "",
    licence: "CC BY-SA 4.0",
    weight: 1.0,
    weighs_train: false,
    without_feats: false,
    without_train_feats: false,
    without_lemmas: false,
    without_train_lemmas: false,
    part: None,
};

/// The rows of `treebanks.tsv`.
static ROWS: LazyLock<Vec<TreebankRow>> = LazyLock::new(|| {
    let rows = include_str!("../treebanks.tsv").lines().filter(|line| !line.starts_with('#')).skip(1);
    rows.map(|line| row(line).unwrap_or_else(|| panic!("treebanks.tsv: {line}"))).collect()
});

fn row(line: &'static str) -> Option<TreebankRow> {
    let fields: Vec<&str> = line.split('\t').collect();
    let &[name, licence, weight, without, part] = fields.as_slice() else { return None };
    let (weight, weighs_train) = weight.strip_suffix(":train").map_or((weight, false), |weight| (weight, true));
    let mut row = TreebankRow { name, licence, weight: weight.parse().ok()?, weighs_train, ..USUAL };
    for column in without.split(',').filter(|column| *column != "-") {
        match column {
            "feats" => row.without_feats = true,
            "feats:train" => row.without_train_feats = true,
            "lemmas" => row.without_lemmas = true,
            "lemmas:train" => row.without_train_lemmas = true,
            _ => return None,
        }
    }
    row.part = if part == "-" { None } else { Some(part.parse().ok()?) };
    Some(row)
}

fn row_of(name: &str) -> TreebankRow {
    ROWS.iter().find(|row| row.name == name).copied().unwrap_or(USUAL)
}

/// Reads the treebanks of all or some languages from `ud-train/` and `text-dev/ud/` in a folder.
pub fn read(shared: &Path, only: &[&str]) -> Result<TreebankList> {
    let mut list = TreebankList::new();
    for (folder, is_train) in [("ud-train", true), ("text-dev/ud", false)] {
        for file in treebank::files(&shared.join(folder))? {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            if !only.is_empty() && !only.contains(&name.split('_').next().unwrap_or_default()) {
                continue;
            }
            let row = row_of(name.split('.').next().unwrap_or_default());
            if row.part == Some(0) && is_train {
                continue;
            }
            let mut treebank = Treebank::read(&file)?;
            if row.without_feats || row.without_train_feats && is_train {
                treebank = treebank.without_feats();
            }
            if row.without_lemmas || row.without_train_lemmas && is_train {
                treebank = treebank.without_lemmas();
            }
            treebank.weight = if is_train || !row.weighs_train { row.weight } else { USUAL.weight };
            if let Some(tokens) = row.part.filter(|_| is_train) {
                treebank = treebank.part(tokens);
            }
            let treebanks = list.entry(treebank.language().to_owned()).or_default();
            if is_train { treebanks.train.push(treebank) } else { treebanks.dev.push(treebank) }
        }
    }
    Ok(list)
}

/// Languages and those that they profit from; none for all.
pub fn with_related(codes: &[String]) -> Vec<&str> {
    let related = |code: &String| RELATED.iter().find(|row| row.0 == code).map_or(&[][..], |row| row.1);
    codes.iter().flat_map(|code| related(code).iter().copied().chain([code.as_str()])).collect()
}

/// Sentences of related languages, and their weight.
pub fn related<'s>(list: &'s TreebankList, code: &str) -> (Vec<&'s Sentence>, f32) {
    let Some((_, codes, weight)) = RELATED.iter().find(|row| row.0 == code) else { return (Vec::new(), 0.0) };
    let list = codes.iter().filter_map(|code| list.get(*code));
    (list.flat_map(|treebanks| treebanks.all()).flat_map(Treebank::sentences).collect(), *weight)
}

/// Descriptions of the treebanks of a language.
pub fn sources(treebanks: &LanguageTreebanks, licence: Option<&str>) -> Vec<TreebankInfo> {
    let mut sources: Vec<TreebankInfo> = Vec::new();
    for treebank in treebanks.all() {
        let tokens = treebank.tokens() as u32;
        let licence = licence.unwrap_or(row_of(&treebank.name).licence).to_owned();
        match sources.iter_mut().find(|source| source.name == treebank.title) {
            Some(source) => source.tokens += tokens,
            None => sources.push(TreebankInfo { name: treebank.title.clone(), licence, tokens }),
        }
    }
    sources
}

/// Sentences with their weights.
#[derive(Debug, Clone, Default)]
pub struct WeightedSentences {
    /// The sentences.
    pub sentences: Vec<Sentence>,
    /// The weight of each.
    pub weights: Vec<f32>,
}

impl WeightedSentences {
    fn extend(&mut self, sentences: impl IntoIterator<Item = Sentence>, weight: f32) {
        self.sentences.extend(sentences);
        self.weights.resize(self.sentences.len(), weight);
    }

    /// Leaves out sentences of which more than half of the four-word sequences are in `test`: older
    /// versions of a treebank were split differently.
    fn without_overlap(self, test: &[Sentence]) -> WeightedSentences {
        let known: HashSet<Vec<&str>> = test.iter().flat_map(four_grams).collect();
        let is_new = |sentence: &Sentence| {
            let grams = four_grams(sentence);
            grams.iter().filter(|gram| known.contains(*gram)).count() * 2 <= grams.len()
        };
        let keep: Vec<bool> = self.sentences.iter().map(is_new).collect();
        let mut weighted = WeightedSentences::default();
        for ((sentence, weight), keep) in self.sentences.into_iter().zip(self.weights).zip(keep) {
            if keep {
                weighted.extend([sentence], weight);
            }
        }
        weighted
    }
}

/// The same sentence in simplified Chinese characters, unless it has no others. News has both scripts, treebanks have
/// one.
fn in_simplified_characters(sentence: &Sentence) -> Option<Sentence> {
    let simplified = |text: &str| -> String { text.chars().map(tidings_lang::simplified).collect() };
    let copy = |gold: &GoldToken| GoldToken {
        form: simplified(&gold.form),
        lemma: gold.lemma.as_deref().map(simplified),
        ..gold.clone()
    };
    let copy: Sentence = sentence.iter().map(copy).collect();
    (copy != *sentence).then_some(copy)
}

/// Sequences of four words; a shorter sentence is one sequence.
fn four_grams(sentence: &Sentence) -> Vec<Vec<&str>> {
    let words: Vec<&str> = sentence.iter().map(|gold| gold.form.as_str()).collect();
    if words.len() < 4 { vec![words] } else { words.windows(4).map(<[&str]>::to_vec).collect() }
}

/// Split into training and test data.
#[derive(Debug)]
pub struct Trial {
    /// Name of the evaluated treebank.
    pub name: String,
    /// Training sentences.
    pub train: WeightedSentences,
    /// Test sentences.
    pub test: Vec<Sentence>,
    /// The treebank has a training file.
    pub is_trained: bool,
    /// The test data is the development file, not a fold.
    pub is_dev: bool,
}

impl LanguageTreebanks {
    /// All files.
    pub fn all(&self) -> impl Iterator<Item = &Treebank> {
        self.train.iter().chain(&self.dev)
    }

    /// All sentences.
    pub fn sentences(&self) -> WeightedSentences {
        self.sentences_of(|_| true)
    }

    fn sentences_of(&self, is_wanted: impl Fn(&Treebank) -> bool) -> WeightedSentences {
        let mut all = WeightedSentences::default();
        for treebank in self.all().filter(|one| is_wanted(one)) {
            all.extend(treebank.sentences().cloned(), treebank.weight);
            if treebank.language() == "zh" {
                all.extend(treebank.sentences().filter_map(in_simplified_characters), treebank.weight);
            }
        }
        all
    }

    /// Splits for every treebank: the development file if there is also a training file, otherwise
    /// cross-validation. The other treebanks of the language are always training data, without
    /// sentences that overlap with the test data. `only_first` returns one fold only. `only_fold_of_dev` tests on the
    /// same fold of a development file with a training file as without one, and trains on the other folds as well.
    pub fn trials(&self, folds: usize, only_first: bool, only_fold_of_dev: bool) -> Vec<Trial> {
        let mut trials = Vec::new();
        let has_train = |name: &str| self.train.iter().any(|one| one.name == name);
        let has_dev = |name: &str| self.dev.iter().any(|one| one.name == name);
        for treebank in self.all() {
            let name = treebank.name.as_str();
            if has_train(name) && has_dev(name) {
                if std::ptr::eq(treebank, self.dev.iter().find(|one| one.name == name).unwrap_or(treebank)) {
                    let (test, rest) = if only_fold_of_dev {
                        treebank.fold(folds.saturating_sub(1), folds)
                    } else {
                        (treebank.sentences().cloned().collect(), Vec::new())
                    };
                    let mut train = self.sentences_of(|one| !std::ptr::eq(one, treebank)).without_overlap(&test);
                    train.extend(rest, treebank.weight);
                    let (name, is_dev) = (name.to_owned(), !only_fold_of_dev);
                    trials.push(Trial { name, train, test, is_trained: true, is_dev });
                }
                continue;
            }
            for fold in (0..folds).rev().take(if only_first { 1 } else { folds }) {
                let (test, rest) = treebank.fold(fold, folds);
                let mut train = self.sentences_of(|one| one.name != name).without_overlap(&test);
                train.extend(rest, treebank.weight);
                trials.push(Trial { name: name.to_owned(), train, test, is_trained: has_train(name), is_dev: false });
            }
        }
        trials
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_the_table_can_be_read() {
        assert!(ROWS.len() > 40);
        assert_eq!(row_of("fr_sequoia").licence, "LGPL-LR");
        assert_eq!(row_of("xx_new"), USUAL);
        let old = row("a\tCC BY 4.0\t0.3:train\tlemmas:train\t-").unwrap();
        assert!(old.weighs_train && old.without_train_lemmas && !old.without_lemmas && old.weight == 0.3);
        assert_eq!(row("a\tb"), None);
        assert_eq!(row("a\tCC BY 4.0\t1\tnothing\t-"), None);
    }

    #[test]
    fn traditional_chinese_is_learned_in_simplified_characters_as_well() {
        let gold =
            |form: &str| GoldToken { form: form.into(), lemma: Some(form.into()), tag: "NOUN".into(), feats: None };
        let copy = in_simplified_characters(&vec![gold("總統"), gold("人")]).unwrap();
        assert_eq!(copy, [gold("总统"), gold("人")]);
        assert_eq!(in_simplified_characters(&copy), None);
    }

    #[test]
    fn sentences_that_share_half_of_their_sequences_with_the_test_data_are_left_out() {
        let gold = |form: &str| GoldToken { form: form.into(), lemma: None, tag: "X".into(), feats: None };
        let sentence = |text: &str| -> Sentence { text.split(' ').map(gold).collect() };
        let mut train = WeightedSentences::default();
        train.extend(["a b c d e f x", "a b c d x y z", "a b", "c d"].map(sentence), 0.5);
        let left = train.without_overlap(&["a b c d e f", "a b"].map(sentence));
        assert_eq!(left.sentences, ["a b c d x y z", "c d"].map(sentence));
        assert_eq!(left.weights, [0.5, 0.5]);
    }
}
