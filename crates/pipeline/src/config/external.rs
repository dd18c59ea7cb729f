//! Settings of an external tagger of one language.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, bail};
use serde::{Deserialize, Serialize};
use tidings_annotate::external;

use super::{seconds, within};

/// A table `[annotate.external.LANG]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)] // The template documents each key to users.
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

/// The input and output format of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)] // The template documents each value to users.
pub enum ToolFormat {
    Vertical,
    Conllu,
}

/// The process model of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)] // The template documents each value to users.
pub enum ToolMode {
    Stream,
    Batch,
}

/// The version of a tool, or the command that prints it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Version {
    /// A version given by the user.
    Known(String),
    /// A command that prints the version.
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
            _ => bail!("columns: unknown column `{name}`; known columns: word, lemma, tag, feats and _"),
        };
        self.columns.iter().map(column).collect()
    }

    pub(super) fn check(&self) -> Result<()> {
        if self.command.first().is_none_or(String::is_empty) {
            bail!("command is empty; give the program and its arguments, such as [\"tree-tagger\", \"de.par\"]");
        }
        if self.columns()?.first() != Some(&external::Column::Word) {
            bail!("columns: the first column must be `word`");
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
                    external::version_of(language, command).context("cannot determine the version of the tool")?
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
