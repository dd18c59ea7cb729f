//! The annotated pages: one file per set, one JSON object per line.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use anyhow::Context;
use serde::Deserialize;

/// The sets with annotated text.
pub const TEXT_SETS: [&str; 7] = ["trafi", "wcxb", "andy", "fundus", "daniel", "zh", "dragnet"];

/// All sets; `hdate` is annotated with dates only.
pub const SETS: [&str; 8] = ["trafi", "wcxb", "andy", "fundus", "daniel", "zh", "dragnet", "hdate"];

/// One annotated page.
#[derive(Debug, Clone, Deserialize)]
pub struct Sample {
    /// Set and name.
    pub id: String,
    /// URL; may be empty.
    #[serde(default)]
    pub url: String,
    /// Declared language.
    #[serde(default)]
    pub lang: Option<String>,
    /// Article, forum, product and so on, if annotated.
    #[serde(default)]
    pub page_type: Option<String>,
    /// Collections it belongs to.
    #[serde(default)]
    pub sets: Vec<String>,
    /// The HTML.
    pub html: String,
    /// The annotation.
    pub gold: Gold,
}

/// Annotation of a page; missing fields were not annotated.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Gold {
    /// Main text.
    pub text: Option<String>,
    /// Segments that must be in the text.
    pub with: Option<Vec<String>>,
    /// Segments that must not be in the text.
    pub without: Option<Vec<String>>,
    /// Title.
    pub title: Option<String>,
    /// Authors as one string.
    pub author: Option<String>,
    /// Authors as a list.
    pub authors: Option<Vec<String>>,
    /// Publication date.
    pub date: Option<String>,
    /// Site name.
    pub sitename: Option<String>,
    /// Categories.
    pub categories: Option<Vec<String>>,
    /// Tags.
    pub tags: Option<Vec<String>>,
    /// Reader comments, one line of them per item; none belongs to the text.
    pub comments: Option<Vec<String>>,
}

impl Sample {
    /// The registered domain; pages of a domain stay together in splits.
    pub fn domain(&self) -> String {
        let host = url::Url::parse(&self.url).ok().and_then(|url| url.host_str().map(str::to_owned));
        let host = host.unwrap_or_else(|| self.id.clone());
        psl::domain_str(&host).unwrap_or(&host).to_owned()
    }

    /// The cross-validation fold of the page's domain.
    pub fn fold(&self, folds: u64) -> usize {
        (xxhash_rust::xxh3::xxh3_64(self.domain().as_bytes()) % folds) as usize
    }
}

/// Reads a set from the folder of annotated pages.
pub fn read(folder: &Path, set: &str) -> anyhow::Result<Vec<Sample>> {
    let path = folder.join(format!("{set}.jsonl.zst"));
    let file = File::open(&path).with_context(|| format!("cannot open {}", path.display()))?;
    let mut decoder = zstd::Decoder::new(file)?;
    decoder.window_log_max(27)?;
    let mut samples = Vec::new();
    for line in BufReader::new(decoder).lines() {
        // Missing dates were written by Python's json module as NaN.
        let line = line?.replacen(r#""date": NaN"#, r#""date": null"#, 1);
        samples.push(serde_json::from_str(&line).with_context(|| format!("in {}", path.display()))?);
    }
    Ok(samples)
}
