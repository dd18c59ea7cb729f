//! Real articles from a file, as an alternative to generated ones.
//!
//! The file is JSON lines compressed with Zstandard: `site`, `path`, `lang`, `date`, `title`, `authors`, `tags`,
//! `html`. It is read once, line by line; memory holds the date of each article and its individually compressed record.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::article::Article;
use crate::markup::plain_paragraphs;
use crate::text::{Block, BlockKind};

/// Errors of reading an archive.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// The file cannot be read.
    #[error("cannot read the archive {path}")]
    Read {
        /// The archive.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A line is not an article.
    #[error("cannot parse the archive {path}: line {line} is not an article")]
    Line {
        /// The archive.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The cause.
        source: serde_json::Error,
    },
    /// The file contains no article.
    #[error("the archive {path} is empty")]
    Empty {
        /// The archive.
        path: PathBuf,
    },
}

/// The maximum length of a line; a file without line ends must not fill the memory.
const MAX_LINE_BYTES: usize = 16 << 20;

#[derive(Serialize, Deserialize)]
struct Record {
    site: String,
    lang: String,
    date: Timestamp,
    title: String,
    #[serde(default)]
    authors: Vec<String>,
    #[serde(default)]
    tags: Vec<String>,
    html: String,
}

#[derive(Debug)]
struct Stored {
    date: Timestamp,
    /// The record as JSON under Zstandard.
    packed: Box<[u8]>,
}

/// The articles of an archive, distributed over simulated sites.
#[derive(Debug)]
pub struct Archive {
    /// The articles of each real site and language by date; the largest group first.
    groups: Vec<(&'static str, Vec<Stored>)>,
    sites: usize,
}

impl Archive {
    /// Reads the whole file.
    pub fn read(path: &Path) -> Result<Self, ArchiveError> {
        let broken = |source| ArchiveError::Read { path: path.to_path_buf(), source };
        let file = File::open(path).map_err(broken)?;
        let mut lines = BufReader::new(zstd::Decoder::new(file).map_err(broken)?);
        let mut packer = zstd::bulk::Compressor::new(3).map_err(broken)?;
        let mut groups: BTreeMap<(String, String), Vec<Stored>> = BTreeMap::new();
        let mut text = Vec::new();
        for line in 1.. {
            text.clear();
            let taken =
                io::Read::take(&mut lines, MAX_LINE_BYTES as u64).read_until(b'\n', &mut text).map_err(broken)?;
            if taken == 0 {
                break;
            }
            let record: Record = serde_json::from_slice(&text).map_err(|source| ArchiveError::Line {
                path: path.to_path_buf(),
                line,
                source,
            })?;
            let json = serde_json::to_vec(&record).map_err(|source| ArchiveError::Line {
                path: path.to_path_buf(),
                line,
                source,
            })?;
            let packed = packer.compress(&json).map_err(broken)?.into_boxed_slice();
            groups.entry((record.site, record.lang)).or_default().push(Stored { date: record.date, packed });
        }
        if groups.is_empty() {
            return Err(ArchiveError::Empty { path: path.to_path_buf() });
        }
        let mut groups: Vec<_> = groups
            .into_iter()
            .map(|((_, lang), mut articles)| {
                articles.sort_by_key(|article| article.date);
                (known_code(lang), articles)
            })
            .collect();
        groups.sort_by_key(|(_, articles)| std::cmp::Reverse(articles.len()));
        Ok(Archive { groups, sites: 1 })
    }

    /// Distributes the articles over this many sites: every site takes from one group, in turn. With fewer sites than
    /// groups, the smallest groups stay unpublished.
    pub fn spread_over(&mut self, sites: usize) {
        self.sites = sites.max(1);
    }

    /// The group of a site, its first article there, and the step to the next.
    fn share(&self, site: usize) -> (&(&'static str, Vec<Stored>), usize, usize) {
        let groups = self.groups.len();
        let group = site % groups;
        let sharers = (self.sites - 1 - group) / groups + 1;
        (&self.groups[group], site / groups, sharers)
    }

    fn stored(&self, site: usize, number: u64) -> Option<&Stored> {
        let (group, first, step) = self.share(site);
        group.1.get(first + number as usize * step)
    }

    pub fn language(&self, site: usize) -> &'static str {
        self.share(site).0.0
    }

    pub fn published(&self, site: usize, now: Timestamp) -> u64 {
        let (group, first, step) = self.share(site);
        let out = group.1.partition_point(|article| article.date <= now);
        out.saturating_sub(first).div_ceil(step) as u64
    }

    pub fn date(&self, site: usize, number: u64) -> Timestamp {
        self.stored(site, number).map_or(Timestamp::MAX, |stored| stored.date)
    }

    /// The article; an empty one if the archive has none with this number.
    pub fn article(&self, site: usize, number: u64) -> Article {
        let record = self.stored(site, number).and_then(|stored| {
            let json = zstd::bulk::decompress(&stored.packed, MAX_LINE_BYTES).ok()?;
            serde_json::from_slice::<Record>(&json).ok()
        });
        let record = record.unwrap_or_else(|| Record {
            site: String::new(),
            lang: self.language(site).to_string(),
            date: Timestamp::MAX,
            title: String::new(),
            authors: Vec::new(),
            tags: Vec::new(),
            html: String::new(),
        });
        let blocks =
            plain_paragraphs(&record.html).into_iter().map(|text| Block { kind: BlockKind::Paragraph, text }).collect();
        Article {
            site,
            number,
            url: String::new(),
            date: record.date,
            updated: record.date,
            language: record.lang,
            title: record.title,
            author: record.authors.join(", "),
            topics: record.tags,
            blocks,
            html: Some(record.html),
        }
    }
}

/// Language codes are leaked; an archive has only a few.
fn known_code(code: String) -> &'static str {
    match crate::text::CODES.iter().find(|known| **known == code) {
        Some(known) => known,
        None => Box::leak(code.into_boxed_str()),
    }
}
