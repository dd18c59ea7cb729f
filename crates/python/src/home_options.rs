//! The options of the work on a home, as the Python methods pass them.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, anyhow, bail, ensure};
use serde::Deserialize;
use tidings_model::purpose::Purpose;
use tidings_pipeline::config::Config;
use tidings_pipeline::export::{self, ExportFormat, PairLevel, SelectionOptions};
use tidings_pipeline::import::{self, Columns};
use tidings_pipeline::stage::StageId;
use tidings_pipeline::{discover, takedown};

/// Options of `Home.run`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunCall {
    stages: Option<Vec<String>>,
    time_limit: Option<f64>,
}

impl RunCall {
    /// The stages; none for all.
    pub fn stages(&self) -> Result<Vec<StageId>> {
        let Some(names) = &self.stages else { return Ok(Vec::new()) };
        ensure!(!names.is_empty(), "stages: give at least one, or None for all");
        let stages: Result<Vec<StageId>, String> = names.iter().map(|name| name.parse()).collect();
        stages.map_err(anyhow::Error::msg)
    }

    /// The time limit of all stages together.
    pub fn time_limit(&self) -> Result<Option<Duration>> {
        let seconds = |seconds| Duration::try_from_secs_f64(seconds).map_err(|_| anyhow!("time_limit: give seconds"));
        self.time_limit.map(seconds).transpose()
    }
}

/// Options of `Home.import_`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImportCall {
    paths: Vec<PathBuf>,
    format: Option<String>,
    dry_run: bool,
    again: bool,
    date: Option<String>,
    lang: Option<String>,
    sites: Vec<String>,
    gate: bool,
    min_chars: usize,
    columns: Option<Vec<String>>,
}

impl ImportCall {
    /// The options of the import.
    pub fn options(self) -> Result<import::Options> {
        let defaults = import::Options::new(self.paths);
        let at = |text: &String| {
            let midnight = format!("{text}T00:00:00Z");
            text.parse().or_else(|_| midnight.parse()).map_err(|_| anyhow!("date: give a day such as 2026-03-01"))
        };
        Ok(import::Options {
            format: self.format.map(|name| name.parse()).transpose().map_err(anyhow::Error::msg)?,
            dry_run: self.dry_run,
            again: self.again,
            downloaded: self.date.as_ref().map(at).transpose()?,
            language: self.lang,
            sites: self.sites,
            no_gate: !self.gate,
            min_chars: self.min_chars,
            columns: match &self.columns {
                Some(names) => Columns::of_names(names)?,
                None => defaults.columns,
            },
            ..defaults
        })
    }
}

/// Options of `Home.export`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExportCall {
    target: PathBuf,
    format: String,
    from: Option<String>,
    to: Option<String>,
    languages: Vec<String>,
    sites: Vec<String>,
    filter: Option<String>,
    in_corpus: Option<String>,
    cql: Option<String>,
    purpose: String,
    force: bool,
    #[serde(default)]
    n: Option<u8>,
    #[serde(default)]
    threshold: Option<u64>,
    #[serde(default)]
    seed: Option<u64>,
    #[serde(default)]
    pool: Option<u64>,
    #[serde(default)]
    bom: Option<bool>,
    #[serde(default)]
    level: Option<String>,
    #[serde(default)]
    no_duplicates: Option<bool>,
}

impl ExportCall {
    /// The options and the target of the export.
    pub fn options(self) -> Result<(export::Options, PathBuf)> {
        let format: ExportFormat = self.format.parse().map_err(|error: String| anyhow!("format: {error}"))?;
        let purpose = Purpose::ALL.iter().find(|row| row.0 == self.purpose).map(|row| row.1);
        let Some(purpose) = purpose else {
            bail!("purpose: give one of {}", Purpose::ALL.map(|row| row.0).join(", "));
        };
        let level = match self.level.as_deref() {
            None | Some("sentence") => PairLevel::Sentence,
            Some("document") => PairLevel::Document,
            Some(_) => bail!("level: give sentence or document"),
        };
        let defaults = export::Options::new(format);
        let selection = SelectionOptions {
            from: self.from,
            to: self.to,
            languages: self.languages,
            sites: self.sites,
            filter: self.filter,
            corpus: self.in_corpus,
            cql: self.cql,
        };
        let options = export::Options {
            selection,
            purpose,
            force: self.force,
            bom: self.bom.unwrap_or(defaults.bom),
            n: self.n.unwrap_or(defaults.n),
            threshold: self.threshold.unwrap_or(defaults.threshold),
            seed: self.seed.unwrap_or(defaults.seed),
            pool: self.pool.unwrap_or(defaults.pool),
            level,
            no_duplicates: self.no_duplicates.unwrap_or(defaults.no_duplicates),
            ..defaults
        };
        Ok((options, self.target))
    }
}

/// Options of `Home.discover`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DiscoverCall {
    sites: Vec<String>,
    add: bool,
    again: bool,
    languages: Vec<String>,
    max_requests: Option<u32>,
    allow_private: Vec<String>,
}

impl DiscoverCall {
    /// The options of the search, and its changes to the settings.
    pub fn options(self, config: &mut Config) -> discover::Options {
        config.discover.max_requests = self.max_requests.unwrap_or(config.discover.max_requests);
        if !self.languages.is_empty() {
            config.discover.languages = self.languages.iter().map(|code| code.to_ascii_lowercase()).collect();
        }
        config.fetch.allow_private.extend(self.allow_private);
        discover::Options {
            task: discover::Task::Search(self.sites),
            probe: None,
            add: self.add,
            again: self.again,
            paper_rule: false,
            seed: None,
        }
    }
}

/// Options of `Home.remove`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RemoveCall {
    /// A URL, a host or a pattern; absent: finish an interrupted takedown.
    pub what: Option<String>,
    reason: Option<String>,
    /// Only show what would be removed.
    pub dry_run: bool,
    /// A folder of exports.
    pub exports: Option<PathBuf>,
    later: bool,
}

impl RemoveCall {
    /// The options of the takedown.
    pub fn options(self) -> takedown::Options {
        takedown::Options { what: self.what, reason: self.reason, exports: self.exports, later: self.later }
    }
}
