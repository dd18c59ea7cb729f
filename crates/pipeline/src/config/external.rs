//! How a tool of others gives the words of a language their lemmas and tags.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, bail};
use serde::{Deserialize, Serialize};
use tidings_annotate::external;

use super::{seconds, within};

/// A table `[annotate.external.LANG]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)] // The template documents each key to everybody.
pub struct ExternalConfig {
    pub command: Vec<String>,
    #[serde(default = "vertical")]
    pub format: ToolFormat,
    #[serde(default = "usual_columns")]
    pub columns: Vec<String>,
    #[serde(default = "stream")]
    pub mode: ToolMode,
    #[serde(default = "no_version")]
    pub version: Version,
    #[serde(default)]
    pub tags: BTreeMap<String, String>,
    #[serde(default = "usual_timeout")]
    pub timeout_s: f64,
    #[serde(default = "usual_batch")]
    pub batch_sentences: usize,
    #[serde(default)]
    pub padding_sentences: usize,
    #[serde(default = "one")]
    pub workers: usize,
}

fn vertical() -> ToolFormat {
    ToolFormat::Vertical
}

fn usual_columns() -> Vec<String> {
    ["word", "lemma", "tag", "feats"].map(str::to_owned).to_vec()
}

fn stream() -> ToolMode {
    ToolMode::Stream
}

fn no_version() -> Version {
    Version::Known(String::new())
}

fn usual_timeout() -> f64 {
    60.0
}

fn usual_batch() -> usize {
    500
}

fn one() -> usize {
    1
}

/// What a tool reads and writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)] // The template documents each word to everybody.
pub enum ToolFormat {
    Vertical,
    Conllu,
}

/// When a tool answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)] // The template documents each word to everybody.
pub enum ToolMode {
    Stream,
    Batch,
}

/// The version of a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Version {
    /// As the user knows it.
    Known(String),
    /// What a command says.
    Asked(Vec<String>),
}

impl ExternalConfig {
    fn columns(&self) -> Result<Vec<external::Column>> {
        let column = |name: &String| match name.as_str() {
            "word" => Ok(external::Column::Word),
            "lemma" => Ok(external::Column::Lemma),
            "tag" => Ok(external::Column::Tag),
            "feats" => Ok(external::Column::Feats),
            "" | "_" => Ok(external::Column::Other),
            _ => bail!("columns: there is no column `{name}`; there are word, lemma, tag, feats and _"),
        };
        self.columns.iter().map(column).collect()
    }

    pub(super) fn check(&self) -> Result<()> {
        if self.command.first().is_none_or(String::is_empty) {
            bail!("command is empty; give the program and its arguments, such as [\"tree-tagger\", \"de.par\"]");
        }
        if self.columns()?.first() != Some(&external::Column::Word) {
            bail!("columns: the first one is the word");
        }
        within("", [("timeout_s", self.timeout_s, 0.1..=86_400.0)])?;
        within(
            "",
            [
                ("batch_sentences", self.batch_sentences, 1..=100_000),
                ("padding_sentences", self.padding_sentences, 0..=100_000),
                ("workers", self.workers, 1..=256),
            ],
        )
    }

    pub(super) fn settings(&self, language: &str) -> Result<external::Settings> {
        Ok(external::Settings {
            command: self.command.clone(),
            format: match self.format {
                ToolFormat::Vertical => external::Format::Vertical,
                ToolFormat::Conllu => external::Format::Conllu,
            },
            columns: self.columns()?,
            mode: match self.mode {
                ToolMode::Stream => external::Mode::Stream,
                ToolMode::Batch => external::Mode::Batch,
            },
            version: match &self.version {
                Version::Known(version) => version.clone(),
                Version::Asked(command) => {
                    external::version_of(language, command).context("its version is not known")?
                }
            },
            tags: self.tags.clone(),
            timeout: seconds(self.timeout_s),
            batch_sentences: self.batch_sentences,
            padding_sentences: self.padding_sentences,
            workers: self.workers,
        })
    }
}
