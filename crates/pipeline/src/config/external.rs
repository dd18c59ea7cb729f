//! Settings of an external tagger of one language.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, bail};
use serde::{Deserialize, Serialize};
use tidings_annotate::external;
use tidings_formats::vertical;
use tidings_model::{LayerDeclaration, LayerKind};

use super::{seconds, within};

/// A table `[annotate.external.LANG]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)] // The template documents each key to users.
pub struct ExternalConfig {
    pub command: Vec<String>,
    #[serde(default = "usual_format")]
    pub format: ToolFormat,
    #[serde(default = "usual_columns")]
    pub columns: Vec<String>,
    #[serde(default)]
    pub spans: Vec<String>,
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

/// A column `name:kind`.
fn further_column(text: &str) -> Result<LayerDeclaration> {
    let kinds = LayerKind::ALL.map(LayerKind::name).join(", ");
    let Some((name, kind)) = text.split_once(':') else {
        bail!(
            "columns: unknown column `{text}`; known columns: word, lemma, tag, feats and _, and further ones with their kind, \
             such as {text}:text (kinds: {kinds})"
        );
    };
    let kind =
        LayerKind::parse(kind).with_context(|| format!("columns: `{kind}` in `{text}` is no kind; kinds: {kinds}"))?;
    if !vertical::is_layer_name(name) {
        bail!("columns: `{name}` cannot be the name of an attribute; use letters, digits and _");
    }
    Ok(LayerDeclaration { name: name.to_owned(), kind, origin: String::new() })
}

fn usual_format() -> ToolFormat {
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
    /// The columns, and the further attributes among them.
    fn columns(&self) -> Result<(Vec<external::Column>, Vec<LayerDeclaration>)> {
        let mut further: Vec<LayerDeclaration> = Vec::new();
        let mut columns = Vec::with_capacity(self.columns.len());
        for name in &self.columns {
            columns.push(match name.as_str() {
                "word" => external::Column::Word,
                "lemma" => external::Column::Lemma,
                "tag" => external::Column::Tag,
                "feats" => external::Column::Feats,
                "" | "_" => external::Column::Other,
                _ => {
                    let layer = further_column(name)?;
                    if further.iter().any(|known| known.name == layer.name) {
                        bail!("columns: `{}` occurs twice", layer.name);
                    }
                    further.push(layer);
                    external::Column::Further(further.len() - 1)
                }
            });
        }
        Ok((columns, further))
    }

    pub(super) fn check(&self) -> Result<()> {
        if self.command.first().is_none_or(String::is_empty) {
            bail!("command is empty; give the program and its arguments, such as [\"tree-tagger\", \"de.par\"]");
        }
        let (columns, further) = self.columns()?;
        if columns.first() != Some(&external::Column::Word) {
            bail!("columns: the first column must be `word`");
        }
        if let Some(name) = self.spans.iter().find(|name| !vertical::is_span_name(name)) {
            bail!("spans: `{name}` cannot be the name of a span; use letters, digits and _, and none of doc, p, s, g");
        }
        if self.format == ToolFormat::Conllu && !(further.is_empty() && self.spans.is_empty()) {
            bail!("further columns and spans need format = \"vertical\"");
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
        let (columns, further) = self.columns()?;
        Ok(external::Settings {
            command: self.command.clone(),
            format: match self.format {
                ToolFormat::Vertical => external::Format::Vertical,
                ToolFormat::Conllu => external::Format::Conllu,
            },
            columns,
            further,
            spans: self.spans.clone(),
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
