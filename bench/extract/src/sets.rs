//! The annotated pages: one file a set, one JSON object a line.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use anyhow::Context;
use serde::Deserialize;

/// The sets with annotated text.
pub const TEXT_SETS: [&str; 6] = ["trafi", "wcxb", "andy", "fundus", "daniel", "zh"];

/// All sets; `hdate` has nothing but dates.
pub const SETS: [&str; 7] = ["trafi", "wcxb", "andy", "fundus", "daniel", "zh", "hdate"];

/// One annotated page.
#[derive(Debug, Clone, Deserialize)]
pub struct Sample {
    /// Set and name.
    pub id: String,
    /// Its address; may be empty.
    #[serde(default)]
    pub url: String,
    /// The language the page declares.
    #[serde(default)]
    pub lang: Option<String>,
    /// Article, forum, product and so on, where it was told.
    #[serde(default)]
    pub page_type: Option<String>,
    /// The collections it belongs to.
    #[serde(default)]
    pub sets: Vec<String>,
    /// The page.
    pub html: String,
    /// What people say it holds.
    pub gold: Gold,
}

/// What people say a page holds; what is missing was not annotated.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Gold {
    /// The main text.
    pub text: Option<String>,
    /// Stretches that must be in the text.
    pub with: Option<Vec<String>>,
    /// Stretches that must not.
    pub without: Option<Vec<String>>,
    /// The headline.
    pub title: Option<String>,
    /// The byline as one string.
    pub author: Option<String>,
    /// The names in it.
    pub authors: Option<Vec<String>>,
    /// The day of publication.
    pub date: Option<String>,
    /// The name of the site.
    pub sitename: Option<String>,
    /// Sections.
    pub categories: Option<Vec<String>>,
    /// Keywords.
    pub tags: Option<Vec<String>>,
}

impl Sample {
    /// The registered domain, by which pages are kept together when samples are divided.
    pub fn domain(&self) -> String {
        let host = url::Url::parse(&self.url).ok().and_then(|url| url.host_str().map(str::to_owned));
        let host = host.unwrap_or_else(|| self.id.clone());
        psl::domain_str(&host).unwrap_or(&host).to_owned()
    }

    /// One of `folds` parts; a domain lies in one part as a whole.
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
        // Dates that nobody knows were written the way Python does, which is no JSON.
        let line = line?.replacen(r#""date": NaN"#, r#""date": null"#, 1);
        samples.push(serde_json::from_str(&line).with_context(|| format!("in {}", path.display()))?);
    }
    Ok(samples)
}
