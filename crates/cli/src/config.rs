//! The settings of a home: one file, one table per room, every key with a default.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow, bail};
use serde::{Deserialize, Serialize};
use tidings_annotate::external;
use tidings_clean::Options;
use tidings_clean::gate::{Gate, Limits};
use tidings_clean::refine::{Foreign, Refinement};
use tidings_dedup::{Levels, Rule, Scope};
use tidings_feeds::schedule::Budget;
use tidings_fetch::Settings;
use tidings_fetch::guard::{Guard, Network};
use tidings_lang::MaskRule;
use tidings_serve::Availability;
use tidings_store::tokens;

/// The settings file as `init` writes it, with every default shown.
pub const TEMPLATE: &str = include_str!("settings.toml");

/// Everything that can be set.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// How the web is asked.
    pub fetch: FetchConfig,
    /// When feeds are asked.
    pub feeds: FeedsConfig,
    /// How things are kept.
    pub store: StoreConfig,
    /// How new feeds are found.
    pub discover: DiscoverConfig,
    /// How pages become documents.
    pub clean: CleanConfig,
    /// What their text must be like, for all languages (`all`) and for each by its code.
    pub gate: GateConfig,
    /// How documents become sentences of tokens.
    pub annotate: AnnotateConfig,
    /// How text becomes searchable.
    pub index: IndexConfig,
    /// How duplicates are told.
    pub dedup: DedupConfig,
    /// How the corpus is opened to others.
    pub serve: ServeConfig,
    /// How all stages go on one after the other.
    pub run: RunConfig,
}

/// The `[fetch]` table; `settings.toml` says what each key means.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[allow(missing_docs)] // The template documents each key to everybody.
pub struct FetchConfig {
    pub contact: String,
    pub user_agent: String,
    pub concurrency: usize,
    pub delay_s: f64,
    pub feed_delay_s: f64,
    pub max_crawl_delay_s: f64,
    pub max_retry_after_s: f64,
    pub retries: u32,
    pub time_limit_min: f64,
    pub connect_timeout_s: f64,
    pub answer_timeout_s: f64,
    pub total_timeout_s: f64,
    pub min_speed_bytes_s: u64,
    pub max_header_kib: usize,
    pub max_page_mib: usize,
    pub max_feed_mib: usize,
    pub max_unpack_ratio: usize,
    pub max_redirects: usize,
    pub memory_mib: usize,
    pub robots_max_age_h: f64,
    pub robots_for_feeds: bool,
    pub allow_private: Vec<String>,
    pub extra_roots: String,
    pub warc: bool,
}

impl Default for FetchConfig {
    fn default() -> FetchConfig {
        FetchConfig {
            contact: String::new(),
            user_agent: String::new(),
            concurrency: 500,
            delay_s: 5.0,
            feed_delay_s: 3.0,
            max_crawl_delay_s: 60.0,
            max_retry_after_s: 120.0,
            retries: 3,
            time_limit_min: 55.0,
            connect_timeout_s: 15.0,
            answer_timeout_s: 30.0,
            total_timeout_s: 120.0,
            min_speed_bytes_s: 1024,
            max_header_kib: 64,
            max_page_mib: 10,
            max_feed_mib: 32,
            max_unpack_ratio: 200,
            max_redirects: 5,
            memory_mib: 128,
            robots_max_age_h: 24.0,
            robots_for_feeds: true,
            allow_private: Vec::new(),
            extra_roots: String::new(),
            warc: false,
        }
    }
}

/// The `[feeds]` table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[allow(missing_docs)] // The template documents each key to everybody.
pub struct FeedsConfig {
    pub polls_per_day: f64,
    pub min_interval_min: f64,
    pub max_interval_h: f64,
}

impl Default for FeedsConfig {
    fn default() -> FeedsConfig {
        FeedsConfig { polls_per_day: 6.0, min_interval_min: 15.0, max_interval_h: 48.0 }
    }
}

/// The `[store]` table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[allow(missing_docs)] // The template documents each key to everybody.
pub struct StoreConfig {
    pub history: usize,
    pub runs_days: u32,
    pub compression: i32,
    pub min_free_mib: u64,
}

impl Default for StoreConfig {
    fn default() -> StoreConfig {
        StoreConfig { history: 42, runs_days: 400, compression: 3, min_free_mib: 512 }
    }
}

/// The `[discover]` table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[allow(missing_docs)] // The template documents each key to everybody.
pub struct DiscoverConfig {
    pub grow: bool,
    pub budget_requests: u64,
    pub max_requests: u32,
    pub min_seen: u64,
    pub min_good_pages: u64,
    pub languages: Vec<String>,
}

impl Default for DiscoverConfig {
    fn default() -> DiscoverConfig {
        DiscoverConfig {
            grow: false,
            budget_requests: 200,
            max_requests: 12,
            min_seen: 20,
            min_good_pages: 20,
            languages: Vec::new(),
        }
    }
}

/// The `[clean]` table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[allow(missing_docs)] // The template documents each key to everybody.
pub struct CleanConfig {
    pub preset: Preset,
    pub links: bool,
    pub comments: bool,
    pub languages: Vec<String>,
    pub foreign: Foreign,
    pub mask: Vec<String>,
    pub memory_mib: usize,
    pub threads: usize,
}

impl Default for CleanConfig {
    fn default() -> CleanConfig {
        CleanConfig {
            preset: Preset::Balanced,
            links: false,
            comments: false,
            languages: Vec::new(),
            foreign: Foreign::Mark,
            mask: MaskRule::ALL.iter().map(|rule| rule.name().to_owned()).collect(),
            memory_mib: 512,
            threads: 0,
        }
    }
}

impl CleanConfig {
    /// What the extractor is told.
    pub fn options(&self) -> Options {
        Options { preset: self.preset.into(), links: self.links, comments: self.comments, stubs: false }
    }
}

/// The `[gate.all]` table and those of languages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "BTreeMap<String, Limits>")]
pub struct GateConfig(BTreeMap<String, Limits>);

impl Default for GateConfig {
    fn default() -> GateConfig {
        GateConfig([(Gate::ALL.to_owned(), Limits::defaults())].into())
    }
}

/// What is not set for all languages has its default, so that settings that mean the same are the same.
impl From<BTreeMap<String, Limits>> for GateConfig {
    fn from(mut set: BTreeMap<String, Limits>) -> GateConfig {
        let all = set.remove(Gate::ALL).unwrap_or_default().or(&Limits::defaults());
        set.insert(Gate::ALL.to_owned(), all);
        GateConfig(set)
    }
}

impl GateConfig {
    fn check(&self) -> Result<()> {
        for (name, limits) in &self.0 {
            if name != Gate::ALL && !is_language_code(name) {
                bail!("[gate.{name}] is for no language; write such as [gate.de], or [gate.all] for every language");
            }
            limits.check().map_err(|fault| anyhow!("gate.{name}.{fault}"))?;
        }
        Ok(())
    }
}

/// The `[annotate]` table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[allow(missing_docs)] // The template documents each key to everybody.
pub struct AnnotateConfig {
    pub duplicates: Duplicates,
    pub tags: bool,
    /// Whether words get morphological features.
    pub features: bool,
    pub models: String,
    pub external: BTreeMap<String, ExternalConfig>,
}

impl Default for AnnotateConfig {
    fn default() -> AnnotateConfig {
        AnnotateConfig {
            duplicates: Duplicates::Drop,
            tags: true,
            features: true,
            models: String::new(),
            external: BTreeMap::new(),
        }
    }
}

impl AnnotateConfig {
    /// How the tools of others are run, by language. Tools that must be asked for their version are started for it.
    pub fn tools(&self) -> Result<BTreeMap<String, external::Settings>> {
        let tools = self.external.iter().filter(|_| self.tags);
        tools.map(|(language, tool)| Ok((language.clone(), tool.settings(language)?))).collect()
    }

    fn check(&self) -> Result<()> {
        for (language, tool) in &self.external {
            if !is_language_code(language) {
                bail!("[annotate.external.{language}] is for no language; write such as [annotate.external.de]");
            }
            tool.check().with_context(|| format!("[annotate.external.{language}]"))?;
        }
        Ok(())
    }
}

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

    fn check(&self) -> Result<()> {
        if self.command.first().is_none_or(String::is_empty) {
            bail!("command is empty; give the program and its arguments, such as [\"tree-tagger\", \"de.par\"]");
        }
        if self.columns()?.first() != Some(&external::Column::Word) {
            bail!("columns: the first one is the word");
        }
        if !(0.1..=86_400.0).contains(&self.timeout_s) {
            bail!("timeout_s = {} is out of range; give a number from 0.1 to 86400", self.timeout_s);
        }
        let limits = [
            ("batch_sentences", self.batch_sentences, 1..=100_000),
            ("padding_sentences", self.padding_sentences, 0..=100_000),
            ("workers", self.workers, 1..=256),
        ];
        for (key, value, range) in limits {
            if !range.contains(&value) {
                bail!("{key} = {value} is out of range; give a number from {} to {}", range.start(), range.end());
            }
        }
        Ok(())
    }

    fn settings(&self, language: &str) -> Result<external::Settings> {
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

/// What becomes of text that was published before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Duplicates {
    /// It stays out of the text and the index.
    Drop,
    /// It stays in.
    Keep,
}

/// The `[index]` table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[allow(missing_docs)] // The template documents each key to everybody.
pub struct IndexConfig {
    pub memory_mib: usize,
}

impl Default for IndexConfig {
    fn default() -> IndexConfig {
        IndexConfig { memory_mib: 300 }
    }
}

/// The `[dedup]` table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[allow(missing_docs)] // The template documents each key to everybody.
pub struct DedupConfig {
    pub preset: String,
    pub ngram: usize,
    pub threshold: f32,
    pub smoothing: bool,
    pub levels: Vec<String>,
    pub scope: Scope,
    pub memory_mib: usize,
    pub threads: usize,
}

impl Default for DedupConfig {
    fn default() -> DedupConfig {
        DedupConfig {
            preset: "tidings".to_owned(),
            ngram: 0,
            threshold: 0.0,
            smoothing: true,
            levels: Vec::new(),
            scope: Scope::All,
            memory_mib: 96,
            threads: 0,
        }
    }
}

impl DedupConfig {
    /// The rule: the preset's, but for what is said otherwise.
    pub fn rule(&self) -> Result<Rule> {
        let Some(preset) = tidings_dedup::preset(&self.preset) else {
            let known = tidings_dedup::PRESETS.map(|preset| preset.name).join(", ");
            bail!("dedup.preset = \"{}\" is none; there are {known}", self.preset);
        };
        let mut rule = preset.rule;
        if self.ngram > 0 {
            rule.ngram = self.ngram;
        }
        if self.threshold > 0.0 {
            rule.threshold = self.threshold;
        }
        if !self.smoothing {
            rule.smoothing = 0;
        }
        if !self.levels.is_empty() {
            rule.levels = Levels::try_from(self.levels.clone()).map_err(|fault| anyhow!("dedup.levels: {fault}"))?;
        }
        Ok(rule)
    }

    fn check(&self) -> Result<()> {
        self.rule()?;
        let limits = [
            ("ngram", self.ngram, 0..=64),
            ("memory_mib", self.memory_mib, 1..=1_000_000),
            ("threads", self.threads, 0..=1024),
        ];
        for (key, value, range) in limits {
            if !range.contains(&value) {
                bail!("dedup.{key} = {value} is out of range; give a number from {} to {}", range.start(), range.end());
            }
        }
        if !(0.0..=1.0).contains(&self.threshold) {
            bail!("dedup.threshold = {} is no share; give a number from 0 to 1", self.threshold);
        }
        Ok(())
    }
}

/// The `[serve]` table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[allow(missing_docs)] // The template documents each key to everybody.
pub struct ServeConfig {
    pub bind: IpAddr,
    pub port: u16,
    pub public: bool,
    pub time_limit_s: f64,
    pub heavy_requests: usize,
    pub requests_per_minute: u32,
    pub cors: String,
    pub default_availability: String,
    pub loopback_scope: String,
}

impl Default for ServeConfig {
    fn default() -> ServeConfig {
        let usual = tidings_serve::Settings::default();
        ServeConfig {
            bind: usual.bind,
            port: usual.port,
            public: usual.public,
            time_limit_s: usual.time_limit.as_secs_f64(),
            heavy_requests: usual.heavy_requests,
            requests_per_minute: usual.requests_per_minute,
            cors: String::new(),
            default_availability: usual.default_availability.name().to_owned(),
            loopback_scope: usual.loopback_scope.map_or("none", tokens::Scope::name).to_owned(),
        }
    }
}

impl ServeConfig {
    /// What the server is told.
    pub fn settings(&self) -> Result<tidings_serve::Settings> {
        if !(0.1..=3600.0).contains(&self.time_limit_s) {
            bail!("serve.time_limit_s = {} is out of range; give a number from 0.1 to 3600", self.time_limit_s);
        }
        if !(1..=1024).contains(&self.heavy_requests) {
            bail!("serve.heavy_requests = {} is out of range; give a number from 1 to 1024", self.heavy_requests);
        }
        let Some(default_availability) = Availability::named(&self.default_availability) else {
            bail!("serve.default_availability: `{}` is none of open, kwic, metadata", self.default_availability);
        };
        let loopback_scope = match self.loopback_scope.as_str() {
            "none" => None,
            name => Some(
                tokens::Scope::named(name)
                    .ok_or_else(|| anyhow!("serve.loopback_scope: `{name}` is none of none, text, admin"))?,
            ),
        };
        let is_origin = self.cors == "*" || self.cors.starts_with("http://") || self.cors.starts_with("https://");
        if !self.cors.is_empty() && (!is_origin || self.cors.ends_with('/') || !self.cors.is_ascii()) {
            bail!("serve.cors: `{}` is no origin; write such as \"https://corpus.example\"", self.cors);
        }
        Ok(tidings_serve::Settings {
            bind: self.bind,
            port: self.port,
            public: self.public,
            time_limit: seconds(self.time_limit_s),
            heavy_requests: self.heavy_requests,
            requests_per_minute: self.requests_per_minute,
            cors: Some(self.cors.clone()).filter(|origin| !origin.is_empty()),
            default_availability,
            loopback_scope,
            ..tidings_serve::Settings::default()
        })
    }
}

/// The `[run]` table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[allow(missing_docs)] // The template documents each key to everybody.
pub struct RunConfig {
    pub every: Span,
    pub total: Span,
    pub update: Span,
    pub fetch: Span,
    pub clean: Span,
    pub dedup: Span,
    pub annotate: Span,
    pub compile: Span,
    pub report: bool,
}

impl Default for RunConfig {
    fn default() -> RunConfig {
        let minutes = |minutes: u64| Span(Duration::from_secs(60 * minutes));
        RunConfig {
            every: minutes(60),
            total: minutes(0),
            update: minutes(10),
            fetch: minutes(40),
            clean: minutes(30),
            dedup: minutes(30),
            annotate: minutes(30),
            compile: minutes(30),
            report: true,
        }
    }
}

/// A stretch of time as people write it: `90s`, `30m`, `2h`, `1d`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Span(pub Duration);

impl std::str::FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Span, String> {
        let usage = || "give a time such as 90s, 30m or 2h".to_owned();
        let (number, unit) = text.split_at(text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len()));
        let seconds = match unit {
            "" | "s" => 1.0,
            "m" | "min" => 60.0,
            "h" => 3600.0,
            "d" => 86_400.0,
            _ => return Err(usage()),
        };
        match number.trim().parse::<f64>() {
            Ok(number) if (0.0..=1e6).contains(&number) => Ok(Span(Duration::from_secs_f64(number * seconds))),
            _ => Err(usage()),
        }
    }
}

impl TryFrom<String> for Span {
    type Error = String;

    fn try_from(text: String) -> Result<Span, String> {
        text.parse()
    }
}

impl From<Span> for String {
    fn from(span: Span) -> String {
        let s = span.0.as_secs_f64();
        let units = [("d", 86_400.0), ("h", 3600.0), ("m", 60.0)];
        match units.into_iter().find(|(_, unit)| s >= *unit && s % unit == 0.0) {
            Some((name, unit)) => format!("{}{name}", s / unit),
            None => format!("{s}s"),
        }
    }
}

/// How strictly text is told from the rest, by its name in settings and on the command line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Preset {
    /// Loses about as much as it lets through
    #[default]
    Balanced,
    /// Lets little through that is not text
    Precision,
    /// Loses little of the text
    Recall,
    /// The classic rule of paragraph length, link density and stop words
    Justext,
}

impl From<Preset> for tidings_clean::Preset {
    fn from(preset: Preset) -> tidings_clean::Preset {
        match preset {
            Preset::Balanced => tidings_clean::Preset::Balanced,
            Preset::Precision => tidings_clean::Preset::Precision,
            Preset::Recall => tidings_clean::Preset::Recall,
            Preset::Justext => tidings_clean::Preset::Justext(tidings_clean::justext::JustextOptions::production()),
        }
    }
}

impl Config {
    /// Reads a settings file and lets the environment win over it.
    pub fn load(path: &Path, environment: &dyn Fn(&str) -> Option<String>) -> Result<Config> {
        let text =
            std::fs::read_to_string(path).with_context(|| format!("cannot read the settings {}", path.display()))?;
        let fault = |error: toml::de::Error| anyhow!("{}", explain(path, &text, &error));
        // First as it stands, because only then an error knows its line.
        toml::from_str::<Config>(&text).map_err(fault)?;
        let mut table: toml::Table = toml::from_str(&text).map_err(fault)?;
        override_from(&mut table, environment)?;
        let config: Config = table.try_into().map_err(|error: toml::de::Error| anyhow!("the environment: {error}"))?;
        config.check().with_context(|| format!("{}", path.display()))?;
        Ok(config)
    }

    /// The defaults, and what the environment says.
    pub fn without_home(environment: &dyn Fn(&str) -> Option<String>) -> Result<Config> {
        let mut table = toml::Table::new();
        override_from(&mut table, environment)?;
        let config: Config = table.try_into().map_err(|error: toml::de::Error| anyhow!("the environment: {error}"))?;
        config.check().context("the environment")?;
        Ok(config)
    }

    fn check(&self) -> Result<()> {
        let fetch = &self.fetch;
        let seconds = [
            ("delay_s", fetch.delay_s),
            ("feed_delay_s", fetch.feed_delay_s),
            ("max_crawl_delay_s", fetch.max_crawl_delay_s),
            ("max_retry_after_s", fetch.max_retry_after_s),
            ("time_limit_min", fetch.time_limit_min),
            ("connect_timeout_s", fetch.connect_timeout_s),
            ("answer_timeout_s", fetch.answer_timeout_s),
            ("total_timeout_s", fetch.total_timeout_s),
            ("robots_max_age_h", fetch.robots_max_age_h),
        ];
        for (key, value) in seconds {
            if !(0.0..=1e7).contains(&value) {
                bail!("fetch.{key} = {value} is no duration; give a number from 0 to 10,000,000");
            }
        }
        let limits = [
            ("concurrency", fetch.concurrency, 1..=100_000),
            ("max_header_kib", fetch.max_header_kib, 8..=4096),
            ("max_page_mib", fetch.max_page_mib, 1..=128),
            ("max_feed_mib", fetch.max_feed_mib, 1..=128),
            ("max_unpack_ratio", fetch.max_unpack_ratio, 2..=100_000),
            ("max_redirects", fetch.max_redirects, 0..=20),
            ("memory_mib", fetch.memory_mib, 16..=1_000_000),
        ];
        for (key, value, range) in limits {
            if !range.contains(&value) {
                bail!("fetch.{key} = {value} is out of range; give a number from {} to {}", range.start(), range.end());
            }
        }
        if fetch.robots_max_age_h > 24.0 {
            bail!("fetch.robots_max_age_h = {} is too long; RFC 9309 allows 24 hours at most", fetch.robots_max_age_h);
        }
        let feeds = &self.feeds;
        let schedule = [
            ("polls_per_day", feeds.polls_per_day, 0.01..=1440.0),
            ("min_interval_min", feeds.min_interval_min, 1.0..=1440.0),
            ("max_interval_h", feeds.max_interval_h, 1.0..=720.0),
        ];
        for (key, value, range) in schedule {
            if !range.contains(&value) {
                bail!("feeds.{key} = {value} is out of range; give a number from {} to {}", range.start(), range.end());
            }
        }
        if feeds.min_interval_min > feeds.max_interval_h * 60.0 {
            bail!("feeds.min_interval_min = {} is longer than feeds.max_interval_h", feeds.min_interval_min);
        }
        if !(1..=19).contains(&self.store.compression) {
            bail!("store.compression = {} is out of range; give a number from 1 to 19", self.store.compression);
        }
        if !(32..=1_000_000).contains(&self.index.memory_mib) {
            bail!("index.memory_mib = {} is out of range; give a number from 32 to 1000000", self.index.memory_mib);
        }
        let clean = &self.clean;
        let limits = [("memory_mib", clean.memory_mib, 16..=1_000_000), ("threads", clean.threads, 0..=1024)];
        for (key, value, range) in limits {
            if !range.contains(&value) {
                bail!("clean.{key} = {value} is out of range; give a number from {} to {}", range.start(), range.end());
            }
        }
        self.dedup.check()?;
        self.annotate.check()?;
        networks(&fetch.allow_private)?;
        for (key, codes) in [("discover", &self.discover.languages), ("clean", &clean.languages)] {
            if let Some(code) = codes.iter().find(|code| !is_language_code(code)) {
                bail!("{key}.languages: `{code}` is no language code; write such as \"de\"");
            }
        }
        if let Some(name) = clean.mask.iter().find(|name| MaskRule::named(name).is_none()) {
            let known = MaskRule::ALL.map(MaskRule::name).join(", ");
            bail!("clean.mask: there is no rule `{name}`; there are {known}");
        }
        self.gate.check()?;
        self.serve.settings()?;
        if !(1..=1000).contains(&self.discover.max_requests) {
            bail!(
                "discover.max_requests = {} is out of range; give a number from 1 to 1000",
                self.discover.max_requests
            );
        }
        Ok(())
    }

    /// What becomes of the text of pages.
    pub fn refinement(&self) -> Refinement {
        let mut gate = Gate::default();
        self.gate.0.iter().for_each(|(name, limits)| gate.set(name, limits.clone()));
        Refinement {
            masks: self.clean.mask.iter().filter_map(|name| MaskRule::named(name)).collect(),
            languages: self.clean.languages.clone(),
            foreign: self.clean.foreign,
            gate,
        }
    }

    /// How pages are asked for.
    pub fn for_pages(&self, seed: u64) -> Result<Settings> {
        let fetch = &self.fetch;
        let mut settings = Settings {
            user_agent: self.user_agent(),
            concurrency: fetch.concurrency,
            delay: seconds(fetch.delay_s),
            max_crawl_delay: seconds(fetch.max_crawl_delay_s),
            max_retry_after: seconds(fetch.max_retry_after_s),
            connect_timeout: seconds(fetch.connect_timeout_s),
            head_timeout: seconds(fetch.answer_timeout_s),
            total_timeout: seconds(fetch.total_timeout_s),
            max_header_bytes: fetch.max_header_kib << 10,
            max_body_bytes: fetch.max_page_mib << 20,
            max_ratio: fetch.max_unpack_ratio,
            max_redirects: fetch.max_redirects,
            body_memory_bytes: fetch.memory_mib << 20,
            rules_max_age: seconds(fetch.robots_max_age_h * 3600.0),
            guard: Guard { allowed: networks(&fetch.allow_private)? },
            extra_roots: Some(PathBuf::from(&fetch.extra_roots)).filter(|path| !path.as_os_str().is_empty()),
            seed,
            ..Settings::default()
        };
        settings.min_bytes_per_window = fetch.min_speed_bytes_s * settings.speed_window.as_secs();
        Ok(settings)
    }

    /// How feeds are asked for.
    pub fn for_feeds(&self, seed: u64) -> Result<Settings> {
        Ok(Settings {
            delay: seconds(self.fetch.feed_delay_s),
            max_body_bytes: self.fetch.max_feed_mib << 20,
            obey_robots: self.fetch.robots_for_feeds,
            ..self.for_pages(seed)?
        })
    }

    /// What polling may cost, for runs that come by every `cadence_s` seconds.
    pub fn budget(&self, cadence_s: f64) -> Budget {
        Budget {
            polls_per_day: self.feeds.polls_per_day,
            min_interval_s: self.feeds.min_interval_min * 60.0,
            max_interval_s: self.feeds.max_interval_h * 3600.0,
            cadence_s,
        }
    }

    /// How addresses are probed that may be feeds: as patiently as the more patient of the two.
    pub fn for_probes(&self, seed: u64) -> Result<Settings> {
        Ok(Settings {
            delay: seconds(self.fetch.delay_s.max(self.fetch.feed_delay_s)),
            max_body_bytes: self.fetch.max_page_mib.min(self.fetch.max_feed_mib) << 20,
            ..self.for_pages(seed)?
        })
    }

    /// How we name ourselves.
    pub fn user_agent(&self) -> String {
        let FetchConfig { user_agent, contact, .. } = &self.fetch;
        match (user_agent.is_empty(), contact.is_empty()) {
            (false, _) => user_agent.clone(),
            (true, false) => format!("Tidings/{} (+{contact})", env!("CARGO_PKG_VERSION")),
            (true, true) => format!("Tidings/{}", env!("CARGO_PKG_VERSION")),
        }
    }
}

fn seconds(value: f64) -> Duration {
    Duration::from_secs_f64(value)
}

fn networks(texts: &[String]) -> Result<Vec<Network>> {
    texts.iter().map(|text| text.parse().map_err(|fault: String| anyhow!("fetch.allow_private: {fault}"))).collect()
}

/// `TIDINGS_TABLE_KEY` for every key there is.
fn override_from(table: &mut toml::Table, environment: &dyn Fn(&str) -> Option<String>) -> Result<()> {
    for (folder, key) in keys() {
        let name = variable(&folder, &key);
        let Some(text) = environment(&name) else { continue };
        // What is no TOML value by itself is text.
        let value = match format!("value = {text}").parse::<toml::Table>() {
            Ok(mut parsed) => parsed.remove("value").unwrap_or(toml::Value::String(text)),
            Err(_) => toml::Value::String(text),
        };
        let mut place = &mut *table;
        for part in folder {
            let inner = place.entry(part).or_insert_with(|| toml::Value::Table(toml::Table::new()));
            let Some(inner) = inner.as_table_mut() else { bail!("{name}: the settings have no table for it") };
            place = inner;
        }
        place.insert(key, value);
    }
    Ok(())
}

fn variable(folder: &[String], key: &str) -> String {
    format!("TIDINGS_{}_{key}", folder.join("_")).to_ascii_uppercase()
}

/// The variables of the environment that win over the file.
pub fn variables() -> Vec<String> {
    keys().iter().map(|(folder, key)| variable(folder, key)).collect()
}

/// Every key there is, with the names of the tables that it is in.
fn keys() -> Vec<(Vec<String>, String)> {
    fn walk(table: &toml::Table, folder: &[String], found: &mut Vec<(Vec<String>, String)>) {
        for (key, value) in table {
            match value.as_table() {
                Some(inner) => walk(inner, &[folder, std::slice::from_ref(key)].concat(), found),
                None => found.push((folder.to_vec(), key.clone())),
            }
        }
    }
    let known = toml::Table::try_from(Config::default()).expect("the defaults are a table");
    let mut found = Vec::new();
    walk(&known, &[], &mut found);
    found
}

fn is_language_code(code: &str) -> bool {
    (2..=3).contains(&code.len()) && code.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// Names the line of a fault and, for a misspelt key, what was probably meant.
fn explain(path: &Path, text: &str, error: &toml::de::Error) -> String {
    let line = error.span().map_or(1, |span| text[..span.start.min(text.len())].matches('\n').count() + 1);
    let message = error.message();
    let guess = message.strip_prefix("unknown field `").map(|rest| {
        let given = rest.split('`').next().unwrap_or_default();
        match nearest_key(given) {
            Some(known) => format!("unknown key `{given}` here; did you mean {known}?"),
            None => format!("unknown key `{given}`; the settings that `tidings init` writes show the known ones"),
        }
    });
    format!("{}, line {line}: {}", path.display(), guess.unwrap_or_else(|| message.to_owned()))
}

/// The table or key that a misspelt one was probably meant to be, wherever it belongs.
fn nearest_key(given: &str) -> Option<String> {
    let keys = keys();
    let table = |folder: &[String]| folder.join(".");
    let named = keys.iter().map(|(folder, key)| (key.clone(), format!("`{key}` of the table `[{}]`", table(folder))));
    // The last of those that are alike counts: a table, where a stage's time in [run] has the same name.
    let tables = keys.iter().map(|(folder, _)| (table(folder), format!("the table `[{}]`", table(folder))));
    let names: Vec<(String, String)> = named.chain(tables).collect();
    let likeness = |name: &str| strsim::jaro_winkler(name, given);
    let (name, shown) = names.into_iter().max_by(|a, b| likeness(&a.0).total_cmp(&likeness(&b.0)))?;
    (likeness(&name) > 0.75).then_some(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(text: &str, environment: &[(&str, &str)]) -> Result<Config> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tidings.toml");
        std::fs::write(&path, text).unwrap();
        let find = |name: &str| environment.iter().find(|row| row.0 == name).map(|row| row.1.to_owned());
        Config::load(&path, &find)
    }

    #[test]
    fn the_template_shows_every_key_with_its_default() {
        let shown: String = TEMPLATE
            .lines()
            .map(|line| match line.strip_prefix('#') {
                Some(key) if !key.starts_with(' ') && !key.is_empty() => format!("{key}\n"),
                _ => format!("{line}\n"),
            })
            .collect();
        assert_eq!(load(&shown, &[]).unwrap(), Config::default());
        assert_eq!(load(TEMPLATE, &[]).unwrap(), Config::default());
        let shown: toml::Table = toml::from_str(&shown).unwrap();
        assert_eq!(shown, toml::Table::try_from(Config::default()).unwrap());
    }

    #[test]
    fn a_misspelt_key_is_named_with_its_line_and_a_suggestion() {
        let error = load("[fetch]\n\nconcurency = 5\n", &[]).unwrap_err().to_string();
        assert!(
            error.contains("line 3") && error.contains("did you mean `concurrency` of the table `[fetch]`?"),
            "{error}"
        );
        let error = load("[fetsh]\n", &[]).unwrap_err().to_string();
        assert!(error.contains("did you mean the table `[fetch]`?"), "{error}");
        let error = load("[fetch]\nretries = \"x\"\n", &[]).unwrap_err().to_string();
        assert!(error.contains("line 2"), "{error}");
    }

    #[test]
    fn the_environment_wins_over_the_file() {
        let environment = [
            ("TIDINGS_FETCH_CONCURRENCY", "7"),
            ("TIDINGS_FETCH_CONTACT", "mailto:a@b.c"),
            ("TIDINGS_FETCH_DELAY_S", "1.5"),
        ];
        let config = load("[fetch]\nconcurrency = 5\n", &environment).unwrap();
        assert_eq!((config.fetch.concurrency, config.fetch.delay_s), (7, 1.5));
        assert_eq!(config.fetch.contact, "mailto:a@b.c");
    }

    #[test]
    fn a_schedule_that_cannot_be_kept_is_refused() {
        for text in ["polls_per_day = 0.0", "min_interval_min = nan", "max_interval_h = 1e9"] {
            let error = format!("{:#}", load(&format!("[feeds]\n{text}"), &[]).unwrap_err());
            assert!(error.contains(text.split(' ').next().unwrap()), "{error}");
        }
        assert!(load("[feeds]\nmin_interval_min = 120.0\nmax_interval_h = 1.0\n", &[]).is_err());
    }

    #[test]
    fn times_are_read_as_people_write_them() {
        let seconds = |text: &str| text.parse::<Span>().map(|span| span.0.as_secs());
        assert_eq!(
            (seconds("90s"), seconds("1.5h"), seconds("10"), seconds("2d")),
            (Ok(90), Ok(5400), Ok(10), Ok(172_800))
        );
        assert!(["x", "-1s", "5 parsecs", ""].iter().all(|text| seconds(text).is_err()));
        for text in ["0s", "90s", "40m", "2h", "1d", "36h", "0.5s"] {
            assert_eq!(String::from(text.parse::<Span>().unwrap()), text);
        }
    }

    #[test]
    fn nonsense_is_refused_with_the_key() {
        for text in
            ["delay_s = -1.0", "delay_s = nan", "concurrency = 0", "robots_max_age_h = 48.0", "allow_private = ['x']"]
        {
            let error = format!("{:#}", load(&format!("[fetch]\n{text}"), &[]).unwrap_err());
            assert!(error.contains(text.split(' ').next().unwrap()), "{error}");
        }
    }
}
