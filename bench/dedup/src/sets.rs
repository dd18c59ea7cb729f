//! Labelled documents with planted duplicates.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

/// The true class of a paragraph.
///
/// `f` fresh, `q` fresh with a quotation, `e` exact copy of a document, `p` copied block, `b` repeated boilerplate,
/// `n1` … `n20` copy with that percentage of words edited, `x` fresh but identical by nature.
pub type Label = String;

/// A labelled document.
#[derive(Debug, Clone, PartialEq)]
pub struct LabelledDocument {
    /// The id.
    pub id: String,
    /// The month it is dated in.
    pub month: u64,
    /// Its paragraphs.
    pub paragraphs: Vec<String>,
    /// The labels of the paragraphs.
    pub labels: Vec<Label>,
}

/// Reads `docs.jsonl` and `truth.jsonl` of a folder as a stream.
pub fn read(folder: &Path) -> Result<impl Iterator<Item = Result<LabelledDocument>>> {
    let open = |name: &str| {
        let path = folder.join(name);
        Ok::<_, anyhow::Error>(BufReader::with_capacity(
            1 << 20,
            File::open(&path).with_context(|| format!("cannot read {}", path.display()))?,
        ))
    };
    let lines = open("docs.jsonl")?.lines().zip(open("truth.jsonl")?.lines());
    Ok(lines.map(|(document, truth)| case(&document?, &truth?)))
}

fn case(document: &str, truth: &str) -> Result<LabelledDocument> {
    let [document, truth]: [Value; 2] = [serde_json::from_str(document)?, serde_json::from_str(truth)?];
    if document["id"] != truth["id"] {
        bail!("docs.jsonl and truth.jsonl disagree at {}", document["id"]);
    }
    let texts = |value: &Value| -> Vec<String> {
        let texts = value.as_array().into_iter().flatten();
        texts.map(|text| text.as_str().unwrap_or_default().to_owned()).collect()
    };
    let case = LabelledDocument {
        id: document["id"].as_str().unwrap_or_default().to_owned(),
        month: document["month"].as_u64().unwrap_or(0),
        paragraphs: texts(&document["paragraphs"]),
        labels: texts(&truth["labels"]),
    };
    if case.paragraphs.len() != case.labels.len() {
        bail!("{} has {} paragraphs but {} labels", case.id, case.paragraphs.len(), case.labels.len());
    }
    Ok(case)
}
