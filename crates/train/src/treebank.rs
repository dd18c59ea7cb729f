//! Treebanks: sentences with gold lemmas, tags and features.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;
use tidings_annotate::tagger::feats::canonical;

/// Token with its gold annotation.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct GoldToken {
    /// Word form.
    pub form: String,
    /// Lemma; `None` if the treebank has no lemmas. Those of a multi-word token are joined by `+`.
    pub lemma: Option<String>,
    /// Part-of-speech tag, joined in the same way.
    pub tag: String,
    /// Supported features, joined in the same way, see [`canonical`]. `None` if the features of the
    /// treebank are unreliable.
    pub feats: Option<String>,
}

impl GoldToken {
    fn new(form: String, lemma: String, tag: String, feats: &str) -> GoldToken {
        let lemma = Some(lemma).filter(|lemma| !lemma.is_empty() && (lemma != "_" || form == "_"));
        GoldToken { form, lemma, tag, feats: Some(canonical(feats)) }
    }

    /// Returns true for multi-word tokens.
    pub fn is_joined(&self) -> bool {
        self.tag.contains('+')
    }
}

/// Sentence of a treebank.
pub type Sentence = Vec<GoldToken>;

/// File of a treebank.
#[derive(Debug, Clone)]
pub struct Treebank {
    /// Language and corpus, such as `fr_sequoia`.
    pub name: String,
    /// Official name, such as `UD_French-Sequoia`.
    pub title: String,
    /// Documents; a document is never split between training and test data.
    pub documents: Vec<Vec<Sentence>>,
    /// Weight of its sentences in the tagger.
    pub weight: f32,
}

/// Form, lemma, tag and features.
type TokenRow = (String, Option<String>, Option<String>, Option<String>);

#[derive(Deserialize)]
struct Row {
    tb: String,
    sents: Vec<Vec<TokenRow>>,
}

impl Treebank {
    /// Reads CoNLL-U (`.conllu`) or xz-compressed JSON lines (`.jsonl.xz`).
    pub fn read(path: &Path) -> Result<Treebank> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let name = name.split('.').next().unwrap_or_default().to_owned();
        let what = || format!("cannot read the treebank {}", path.display());
        if path.extension().is_some_and(|extension| extension == "conllu") {
            let text = std::fs::read_to_string(path).with_context(what)?;
            let documents = conllu(&text).with_context(what)?;
            return Ok(Treebank { title: name.clone(), name, documents, weight: 1.0 });
        }
        let unpacked = Command::new("xz").arg("-dc").arg(path).output().context("cannot run xz")?;
        ensure!(unpacked.status.success(), "cannot unpack {}", path.display());
        let mut treebank = Treebank { title: name.clone(), name, documents: Vec::new(), weight: 1.0 };
        for line in String::from_utf8(unpacked.stdout).with_context(what)?.lines() {
            let row: Row = serde_json::from_str(line).with_context(what)?;
            treebank.title = row.tb;
            let sentence = |words: Vec<TokenRow>| {
                let gold = |(form, lemma, tag, feats): TokenRow| {
                    let feats = feats.unwrap_or_default();
                    GoldToken::new(form, lemma.unwrap_or_default(), tag.unwrap_or_default(), &feats)
                };
                words.into_iter().map(gold).filter(|gold| !gold.tag.is_empty()).collect()
            };
            treebank.documents.push(row.sents.into_iter().map(sentence).collect());
        }
        Ok(treebank)
    }

    /// Language code.
    pub fn language(&self) -> &str {
        self.name.split('_').next().unwrap_or_default()
    }

    /// All sentences.
    pub fn sentences(&self) -> impl Iterator<Item = &Sentence> {
        self.documents.iter().flatten()
    }

    /// Number of tokens.
    pub fn tokens(&self) -> usize {
        self.sentences().map(Vec::len).sum()
    }

    /// Removes the features.
    pub fn without_feats(mut self) -> Treebank {
        self.documents.iter_mut().flatten().flatten().for_each(|gold| gold.feats = None);
        self
    }

    /// Removes the lemmas.
    pub fn without_lemmas(mut self) -> Treebank {
        self.documents.iter_mut().flatten().flatten().for_each(|gold| gold.lemma = None);
        self
    }

    /// Keeps documents in equal distances, so many that about `tokens` are left.
    pub fn part(mut self, tokens: usize) -> Treebank {
        let all = self.tokens();
        let mut index = 0;
        self.documents.retain(|_| {
            index += 1;
            all <= tokens || index * tokens / all > (index - 1) * tokens / all
        });
        self
    }

    /// Returns the sentences of one fold, and those of all others. Folds are contiguous blocks of
    /// documents.
    pub fn fold(&self, fold: usize, folds: usize) -> (Vec<Sentence>, Vec<Sentence>) {
        let (mut inside, mut outside) = (Vec::new(), Vec::new());
        let folds = folds.min(self.documents.len());
        let fold = fold.min(folds.saturating_sub(1));
        for (index, document) in self.documents.iter().enumerate() {
            let side = if index * folds / self.documents.len() == fold { &mut inside } else { &mut outside };
            side.extend(document.iter().cloned());
        }
        (inside, outside)
    }
}

/// Treebank files of a folder, sorted by name.
pub fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut files: Vec<PathBuf> = entries.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    files.retain(|file| {
        let name = file.to_string_lossy();
        name.ends_with(".jsonl.xz") || name.ends_with(".conllu")
    });
    files.sort();
    Ok(files)
}

/// Sentences per document in CoNLL-U without document marks.
const DOCUMENT_SENTENCES: usize = 10;

/// Parses CoNLL-U into surface tokens; the annotation of multi-word tokens is joined.
fn conllu(text: &str) -> Result<Vec<Vec<Sentence>>> {
    let mut documents: Vec<Vec<Sentence>> = Vec::new();
    let mut sentence = Sentence::new();
    // Last word of the current multi-word token.
    let mut joined_until = 0;
    for (number, line) in text.lines().chain([""]).enumerate() {
        if line.is_empty() {
            if !sentence.is_empty() {
                if documents.last().is_none_or(|document| document.len() >= DOCUMENT_SENTENCES) {
                    documents.push(Vec::new());
                }
                documents.last_mut().expect("a document was pushed").push(std::mem::take(&mut sentence));
            }
            joined_until = 0;
            continue;
        }
        if line.starts_with('#') {
            continue;
        }
        let fields: Vec<&str> = line.split('\t').collect();
        ensure!(fields.len() == 10, "line {} has {} fields instead of 10", number + 1, fields.len());
        let (id, form, lemma, tag, feats) = (fields[0], fields[1], fields[2], fields[3], fields[5]);
        if let Some((_, last)) = id.split_once('-') {
            joined_until = last.parse().with_context(|| format!("line {}: invalid word number {id}", number + 1))?;
            let (lemma, tag, feats) = (Some(String::new()), String::new(), Some(String::new()));
            sentence.push(GoldToken { form: form.to_owned(), lemma, tag, feats });
            continue;
        }
        // Empty nodes have numbers such as 8.1.
        let Ok(id) = id.parse::<usize>() else { continue };
        match sentence.last_mut() {
            Some(token) if id <= joined_until => {
                let plus = if token.tag.is_empty() { "" } else { "+" };
                token.tag = [&token.tag, plus, tag].concat();
                token.feats = token.feats.take().map(|before| [&before, plus, &canonical(feats)].concat());
                token.lemma = token.lemma.take().map(|before| [&before, plus, lemma].concat());
            }
            _ => sentence.push(GoldToken::new(form.to_owned(), lemma.to_owned(), tag.to_owned(), feats)),
        }
    }
    Ok(documents)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_multi_word_token_are_joined() {
        let line = |id: &str, form: &str, lemma: &str, tag: &str| {
            let feats = if tag == "ADP" { "_" } else { "Number=Sing|Typo=Yes|Gender=Masc" };
            format!("{id}\t{form}\t{lemma}\t{tag}\t_\t{feats}\t0\troot\t_\t_\n")
        };
        let text = [
            "# sent_id = 1\n".to_owned(),
            line("1-2", "Du", "_", "_"),
            line("1", "De", "de", "ADP"),
            line("2", "le", "le", "DET"),
            line("3", "pain", "pain", "NOUN"),
            line("3.1", "x", "x", "VERB"),
            "\n".to_owned(),
        ];
        let documents = conllu(&text.concat()).unwrap();
        let gold = |form: &str, lemma: &str, tag: &str, feats: &str| {
            GoldToken::new(form.into(), lemma.into(), tag.into(), feats)
        };
        let sing = "Gender=Masc|Number=Sing";
        let du = gold("Du", "de+le", "ADP+DET", "+Gender=Masc|Number=Sing");
        assert_eq!(documents, [[[du, gold("pain", "pain", "NOUN", sing)]]]);
        assert!(conllu("1\tx").unwrap_err().to_string().contains("line 1"));
    }
}
