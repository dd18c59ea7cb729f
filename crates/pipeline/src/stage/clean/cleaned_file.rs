//! `clean` for one file of pages, on a machine without the home.
//!
//! A task of a cluster cleans a file and returns its documents as compressed frames with a [`CleanedFile`], which has
//! everything else that the recipe of the day needs. [`assemble`](super::assemble) joins the files of a day at home. The
//! result has the bytes of a run on one machine.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use serde::{Deserialize, Serialize};
use tidings_clean::Suspicion;
use tidings_store::file_frames::{FileFrames, PartitionFrames};
use tidings_store::pages::PageReader;
use tidings_store::removed::Removed;
use tidings_store::yields::Yield;
use tidings_store::{FileDigest, Home};
use xxhash_rust::xxh3::xxh3_128;

use super::Clean;
use super::lines::LineCleaner;
use super::page::{CleanTarget, Cleaned};
use crate::config::Config;

/// What a process needs to clean pages of a home that it cannot see: settings and takedowns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CleanSettings {
    /// The tables of the settings that matter, with the environment applied.
    config: String,
    /// The tombstones of removed pages.
    removed: String,
}

/// The tables of settings that cleaning and the conversion of archives read.
const TABLES: [&str; 2] = ["clean", "gate"];
/// The limits of bodies among the settings of the crawler, which may also hold the password of a proxy.
const LIMITS: [&str; 2] = ["max_page_mib", "max_unpack_ratio"];

impl CleanSettings {
    /// The settings of a home, or the default ones.
    pub fn of(home: Option<&Path>) -> Result<CleanSettings> {
        match home {
            Some(folder) => {
                let home = Home::at(folder)?;
                CleanSettings::new(&Config::of_home(&home)?, &Removed::read(&home)?)
            }
            None => CleanSettings::new(&Config::default(), &Removed::default()),
        }
    }

    pub(super) fn new(config: &Config, removed: &Removed) -> Result<CleanSettings> {
        let mut table = toml::Table::try_from(config).context("the settings cannot be written")?;
        let fetch = table.remove("fetch");
        table.retain(|name, _| TABLES.contains(&name));
        if let Some(toml::Value::Table(mut fetch)) = fetch {
            fetch.retain(|name, _| LIMITS.contains(&name));
            table.insert("fetch".to_owned(), fetch.into());
        }
        Ok(CleanSettings { config: table.to_string(), removed: removed.to_text() })
    }

    /// Reads what [`CleanSettings::to_text`] wrote on another machine.
    pub fn parse(text: &str) -> Result<CleanSettings> {
        serde_json::from_str(text).context("not settings of Tidings; take those of `tidings.spark.settings()`")
    }

    /// The settings as text.
    pub fn to_text(&self) -> String {
        serde_json::to_string(self).expect("texts serialise")
    }

    /// The settings of all tables; those that were not sent are the default ones.
    pub fn config(&self) -> Result<Config> {
        toml::from_str(&self.config).context("settings of another version of Tidings; install the same one everywhere")
    }

    /// The takedowns.
    pub fn removed(&self) -> Result<Removed> {
        Ok(Removed::from_text(&self.removed)?)
    }

    /// A digest of everything that decides about the result: settings, takedowns and versions.
    pub(super) fn digest(&self) -> Result<String> {
        let recipe = Clean::default().recipe(&self.config()?, "");
        let parts = serde_json::to_vec(&(recipe.version, &recipe.extractor, &recipe.settings, &self.removed))?;
        Ok(format!("{:032x}", xxh3_128(&parts)))
    }
}

/// A file of pages after cleaning, without the frames of its documents.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CleanedFile {
    /// The file of pages, as it was read.
    pub source: FileDigest,
    /// The digest of the settings and versions.
    pub made_with: String,
    /// The pages in it.
    pub pages: u64,
    /// Damaged parts of it, which were skipped.
    pub damaged: u64,
    /// Dropped pages, by reason.
    pub dropped: BTreeMap<String, u64>,
    /// URLs with the earlier downloads that documents of the file revise.
    pub revisions: Vec<(String, Vec<String>)>,
    /// Yield by feed and host: pages, documents, bytes downloaded and bytes of text.
    pub yields: Vec<(String, String, [u64; 4])>,
    /// Documents that may not be articles.
    pub suspects: Vec<CleanedSuspect>,
}

/// A document that may not be an article; only all pages of its day tell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CleanedSuspect {
    /// Its language.
    pub language: String,
    /// Its number among the documents of that language in the file.
    pub line: u64,
    /// The hashes of its text and of its entry in the feed, in hexadecimal.
    pub text: String,
    /// See `text`.
    pub entry: String,
    /// Its line as a dropped page.
    pub dropped: String,
    /// Its URL.
    pub url: String,
    /// The earlier downloads that it revises.
    pub revises: Vec<String>,
    /// Its feed.
    pub feed: String,
    /// Its host.
    pub host: String,
    /// Its yield: documents, bytes downloaded and bytes of text.
    pub sum: [u64; 4],
}

impl CleanedSuspect {
    /// The hashes by which it is compared.
    pub(super) fn suspicion(&self) -> Result<Suspicion> {
        let number = |text: &str| u64::from_str_radix(text, 16).context("not a file that Tidings cleaned");
        Ok(Suspicion { text: number(&self.text)?, entry: number(&self.entry)? })
    }
}

pub(super) fn numbers(sum: Yield) -> [u64; 4] {
    [sum.pages, sum.documents, sum.downloaded, sum.clean]
}

pub(super) fn yield_of([pages, documents, downloaded, clean]: [u64; 4]) -> Yield {
    Yield { pages, documents, downloaded, clean }
}

/// Cleans files of pages one by one.
pub struct FileCleaner {
    cleaner: LineCleaner,
    made_with: String,
}

impl FileCleaner {
    /// A cleaner with these settings.
    pub fn new(settings: &CleanSettings) -> Result<FileCleaner> {
        let cleaner = LineCleaner::new(&settings.config()?, settings.removed()?);
        Ok(FileCleaner { cleaner, made_with: settings.digest()? })
    }

    /// Cleans a file of pages, or a copy of one, whose key in the home is `file`.
    pub fn clean(&self, path: &Path, file: &str) -> Result<(CleanedFile, Vec<PartitionFrames>)> {
        let mut made = Filling {
            file: CleanedFile {
                source: FileDigest::of_copy(path, file)?,
                made_with: self.made_with.clone(),
                pages: 0,
                damaged: 0,
                dropped: BTreeMap::new(),
                revisions: Vec::new(),
                yields: Vec::new(),
                suspects: Vec::new(),
            },
            frames: FileFrames::default(),
            yields: BTreeMap::new(),
        };
        let mut reader = PageReader::open(path)?;
        while let Some(line) = reader.next_line()? {
            let page = line.page(path)?;
            let url = page.url.clone();
            let Ok(cleaned) = self.cleaner.page(page) else { bail!("{url} cannot be cleaned; please report it") };
            made.push(cleaned);
        }
        made.file.damaged = reader.damaged().len() as u64;
        let yields = made.yields.into_iter().map(|((feed, host), sum)| (feed, host, numbers(sum)));
        made.file.yields = yields.collect();
        Ok((made.file, made.frames.finish()))
    }
}

/// A file in progress.
struct Filling {
    file: CleanedFile,
    frames: FileFrames,
    yields: BTreeMap<(String, String), Yield>,
}

impl Filling {
    fn push(&mut self, cleaned: Cleaned) {
        let Cleaned { url, revises, target, line, feed, host, sum } = cleaned;
        self.file.pages += 1;
        match target {
            CleanTarget::Suspect { language, suspicion, dropped } => {
                self.file.suspects.push(CleanedSuspect {
                    line: self.frames.push(&language, &line),
                    language,
                    text: format!("{:016x}", suspicion.text),
                    entry: format!("{:016x}", suspicion.entry),
                    dropped: String::from_utf8_lossy(&dropped).into_owned(),
                    url,
                    revises,
                    feed,
                    host,
                    sum: numbers(sum),
                });
                return;
            }
            CleanTarget::Language(language) => {
                self.frames.push(&language, &line);
                if !revises.is_empty() {
                    self.file.revisions.push((url, revises));
                }
            }
            CleanTarget::Dropped(reason) => {
                self.frames.drop_page(&line);
                *self.file.dropped.entry(reason.word().to_owned()).or_default() += 1;
            }
        }
        *self.yields.entry((feed, host)).or_default() += sum;
    }
}
