//! Treebanks: text with its gold tokens and sentences.

use std::collections::HashSet;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;

/// Text with its gold sentences.
#[derive(Debug, Clone)]
pub struct Document {
    /// Raw text.
    pub text: String,
    /// Tokens by sentence, as byte ranges of the text.
    pub sentences: Vec<Vec<Range<usize>>>,
}

/// File of a treebank.
#[derive(Debug, Clone)]
pub struct Treebank {
    /// Language and corpus, such as `fr_sequoia`.
    pub name: String,
    /// Documents.
    pub documents: Vec<Document>,
}

#[derive(Deserialize)]
struct Row {
    text: String,
    sents: Vec<Vec<(String, serde_json::Value, serde_json::Value, serde_json::Value)>>,
}

impl Treebank {
    /// Reads xz-compressed JSON lines.
    pub fn read(path: &Path) -> Result<Treebank> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let name = name.split('.').next().unwrap_or_default().to_owned();
        let unpacked = Command::new("xz").arg("-dc").arg(path).output().context("cannot run xz")?;
        ensure!(unpacked.status.success(), "cannot decompress {}", path.display());
        let lines = String::from_utf8(unpacked.stdout).with_context(|| format!("{} is not UTF-8", path.display()))?;
        let documents = lines.lines().map(document).collect::<Result<_>>().with_context(|| name.clone())?;
        Ok(Treebank { name, documents })
    }

    /// Language code.
    pub fn language(&self) -> &str {
        self.name.split('_').next().unwrap_or_default()
    }

    /// Replaces every document.
    pub fn rewrite(&mut self, rewritten: impl Fn(&Document) -> Document) {
        self.documents.iter_mut().for_each(|document| *document = rewritten(document));
    }

    /// Splits off the last fifth of the documents as test data.
    pub fn split_for_test(&self) -> (Treebank, Treebank) {
        let (first, rest) = self.documents.split_at(self.documents.len() * 4 / 5);
        let part = |documents: &[Document]| Treebank { name: self.name.clone(), documents: documents.to_vec() };
        (part(first), part(rest))
    }

    /// Returns true if most full stops have a space before them.
    pub fn has_spaced_punctuation(&self) -> bool {
        let stops = self.documents.iter().flat_map(|document| {
            let tokens = document.sentences.iter().flatten();
            let stops = tokens.filter(|token| document.text[(*token).clone()] == *".");
            stops.map(|token| document.text[..token.start].ends_with(char::is_whitespace))
        });
        let (spaced, all) = stops.fold((0, 0), |(spaced, all), blank| (spaced + usize::from(blank), all + 1));
        spaced * 2 > all
    }

    /// Returns true if the sentences of a Chinese treebank end with the full stop of other scripts, which news does not
    /// use.
    pub fn has_foreign_marks(&self) -> bool {
        let ends = self.documents.iter().flat_map(|document| {
            document.sentences.iter().filter_map(|sentence| Some(&document.text[sentence.last()?.clone()]))
        });
        let (foreign, all) = ends.fold((0, 0), |(foreign, all), end| (foreign + usize::from(end == "."), all + 1));
        self.language() == "zh" && foreign * 2 > all
    }

    /// Number of tokens.
    pub fn tokens(&self) -> usize {
        self.documents.iter().flat_map(|document| &document.sentences).map(Vec::len).sum()
    }
}

/// Treebank files of a folder, sorted by name.
pub fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut files: Vec<PathBuf> = entries.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    files.retain(|file| file.to_string_lossy().ends_with(".jsonl.xz"));
    files.sort();
    Ok(files)
}

fn document(line: &str) -> Result<Document> {
    let row: Row = serde_json::from_str(line)?;
    let mut rest = row.text.char_indices().peekable();
    let mut sentences = Vec::new();
    for sentence in &row.sents {
        let mut tokens = Vec::new();
        for (form, ..) in sentence {
            // Spaces may differ between the text and the form; all other characters are equal.
            let mut span: Option<Range<usize>> = None;
            for expected in form.chars().filter(|c| !c.is_whitespace()) {
                let (at, found) =
                    rest.by_ref().find(|(_, c)| !c.is_whitespace()).context("the text ends before its tokens")?;
                ensure!(found == expected, "the text at byte {at} does not match the token {form:?}");
                span = Some(span.map_or(at, |span| span.start)..at + found.len_utf8());
            }
            tokens.extend(span);
        }
        if !tokens.is_empty() {
            sentences.push(tokens);
        }
    }
    Ok(Document { text: row.text, sentences })
}

impl Document {
    /// Removes spaces before closing punctuation.
    pub fn with_natural_spacing(&self) -> Document {
        self.rewritten(|index, gap, form| {
            let is_closing = matches!(form, "." | "," | ";" | ":" | "!" | "?" | ")" | "…");
            (if index > 0 && is_closing { "" } else { gap }, form)
        })
    }

    /// Replaces punctuation by the Chinese marks.
    pub fn with_chinese_marks(&self) -> Document {
        self.rewritten(|_, gap, form| {
            let mark = match form {
                "." => "。",
                "," => "，",
                ";" => "；",
                ":" => "：",
                "!" => "！",
                "?" => "？",
                "(" => "（",
                ")" => "）",
                _ => form,
            };
            (gap, mark)
        })
    }

    /// Rewrites the gap before each token but the first, and the token, given its position in the sentence.
    fn rewritten(&self, rewrite: impl for<'t> Fn(usize, &'t str, &'t str) -> (&'t str, &'t str)) -> Document {
        let mut text = String::new();
        let mut sentences = Vec::new();
        let mut end = 0;
        for sentence in &self.sentences {
            let mut tokens = Vec::new();
            for (index, token) in sentence.iter().enumerate() {
                let (gap, form) = rewrite(index, &self.text[end..token.start], &self.text[token.clone()]);
                if !text.is_empty() {
                    text.push_str(gap);
                }
                tokens.push(text.len()..text.len() + form.len());
                text.push_str(form);
                end = token.end;
            }
            sentences.push(tokens);
        }
        Document { text, sentences }
    }

    /// Puts a space after every sentence that is followed by the next one at once.
    pub fn with_blanks_between_sentences(&self) -> Document {
        self.rewritten(|index, gap, form| (if index == 0 && gap.is_empty() { " " } else { gap }, form))
    }

    /// Byte offsets of token ends and sentence ends.
    pub fn ends(&self) -> (HashSet<usize>, HashSet<usize>) {
        ends(&self.sentences)
    }
}

/// Byte offsets of token ends and sentence ends.
pub fn ends(sentences: &[Vec<Range<usize>>]) -> (HashSet<usize>, HashSet<usize>) {
    let tokens = sentences.iter().flatten().map(|token| token.end).collect();
    let sentences = sentences.iter().filter_map(|sentence| sentence.last()).map(|token| token.end).collect();
    (tokens, sentences)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, sentences: &[&[&str]]) -> Document {
        let sents: Vec<Vec<_>> =
            sentences.iter().map(|forms| forms.iter().map(|form| (*form, (), (), ())).collect()).collect();
        document(&serde_json::json!({ "text": text, "sents": sents }).to_string()).unwrap()
    }

    fn shown(document: &Document) -> (String, Vec<Vec<&str>>) {
        let words = |sentence: &Vec<Range<usize>>| sentence.iter().map(|token| &document.text[token.clone()]).collect();
        (document.text.clone(), document.sentences.iter().map(words).collect())
    }

    #[test]
    fn a_rewritten_document_keeps_its_tokens() {
        let document = read("Ein Haus . Ja !", &[&["Ein", "Haus", "."], &["Ja", "!"]]);
        let expected = vec![vec!["Ein", "Haus", "."], vec!["Ja", "!"]];
        assert_eq!(shown(&document.with_natural_spacing()), ("Ein Haus. Ja!".to_owned(), expected));
        let document = read("他來了.好,好.", &[&["他", "來", "了", "."], &["好", ",", "好", "."]]);
        let expected = vec![vec!["他", "來", "了", "。"], vec!["好", "，", "好", "。"]];
        assert_eq!(shown(&document.with_chinese_marks()), ("他來了。好，好。".to_owned(), expected));
        let document = read("กขค ง", &[&["ก", "ข"], &["ค", "ง"]]);
        let expected = vec![vec!["ก", "ข"], vec!["ค", "ง"]];
        assert_eq!(shown(&document.with_blanks_between_sentences()), ("กข ค ง".to_owned(), expected));
    }
}
