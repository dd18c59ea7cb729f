//! The settings of a home: one file, one table for each part of the pipeline, every key with a default.

mod annotate;
mod clean;
mod crawl;
mod dedup;
mod discover;
mod external;
mod feeds;
mod fetch;
mod gate;
mod harvest;
mod index;
mod keys;
mod reference;
mod run;
mod serve;
mod store;

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow, bail};
use serde::{Deserialize, Serialize};
use tidings_clean::postprocess::PostprocessOptions;
use tidings_store::Home;

pub use annotate::{AnnotateConfig, Duplicates};
pub use clean::{CleanConfig, Preset};
pub use crawl::{CrawlConfig, KeepPages};
pub use dedup::DedupConfig;
pub use discover::DiscoverConfig;
pub use external::ExternalConfig;
pub use feeds::FeedsConfig;
pub use fetch::FetchConfig;
pub use gate::GateConfig;
pub use harvest::{HarvestConfig, Machines};
pub use index::IndexConfig;
pub use keys::variables;
pub use reference::{EffectiveConfig, reference};
pub use run::{LastDay, RunConfig, Span};
pub use serve::{ServeConfig, shard_addresses};
pub use store::StoreConfig;

use keys::{explain, override_from};

/// The settings file as `init` writes it, with every default shown.
pub const TEMPLATE: &str = include_str!("settings.toml");

/// All settings.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// HTTP client and crawler.
    pub fetch: FetchConfig,
    /// Poll schedule.
    pub feeds: FeedsConfig,
    /// Storage.
    pub store: StoreConfig,
    /// Harvest on several machines.
    pub harvest: HarvestConfig,
    /// Feed discovery.
    pub discover: DiscoverConfig,
    /// Crawls that follow links.
    pub crawl: CrawlConfig,
    /// Cleaning: pages → documents.
    pub clean: CleanConfig,
    /// Limits of the quality gate, for all languages (`all`) and by language code.
    pub gate: GateConfig,
    /// Annotation: documents → sentences of tokens.
    pub annotate: AnnotateConfig,
    /// Index.
    pub index: IndexConfig,
    /// Duplicate detection.
    pub dedup: DedupConfig,
    /// Server.
    pub serve: ServeConfig,
    /// Rounds of all stages.
    pub run: RunConfig,
}

impl Config {
    /// Reads a settings file and applies environment variables.
    pub fn load(path: &Path, environment: &dyn Fn(&str) -> Option<String>) -> Result<Config> {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read the settings file {}", path.display()))?;
        let fault = |error: toml::de::Error| anyhow!("{}", explain(path, &text, &error));
        // Parsed without the environment first, because only then an error has a line number.
        toml::from_str::<Config>(&text).map_err(fault)?;
        let mut table: toml::Table = toml::from_str(&text).map_err(fault)?;
        override_from(&mut table, environment)?;
        let config: Config =
            table.try_into().map_err(|error: toml::de::Error| anyhow!("environment variables: {error}"))?;
        config.check().with_context(|| format!("{}", path.display()))?;
        Ok(config)
    }

    /// The settings of a home with environment variables applied.
    pub fn of_home(home: &Home) -> Result<Config> {
        Config::load(&home.settings(), &|name| std::env::var(name).ok())
    }

    /// The defaults with environment variables applied.
    pub fn without_home(environment: &dyn Fn(&str) -> Option<String>) -> Result<Config> {
        let mut table = toml::Table::new();
        override_from(&mut table, environment)?;
        let config: Config =
            table.try_into().map_err(|error: toml::de::Error| anyhow!("environment variables: {error}"))?;
        config.check().context("environment variables")?;
        Ok(config)
    }

    fn check(&self) -> Result<()> {
        self.fetch.check()?;
        self.feeds.check()?;
        self.store.check()?;
        self.harvest.check()?;
        self.discover.check()?;
        self.crawl.check()?;
        self.clean.check()?;
        self.gate.check()?;
        self.annotate.check()?;
        self.index.check()?;
        self.dedup.check()?;
        self.serve.settings().map(drop)
    }

    /// The settings of post-processing and the quality gate.
    pub fn postprocess_options(&self) -> PostprocessOptions {
        self.clean.postprocess_options(self.gate.gate())
    }
}

/// Rejects numbers out of their range; `table` is the prefix of the key names in messages.
fn within<T: PartialOrd + Display, const COUNT: usize>(
    table: &str,
    numbers: [(&str, T, RangeInclusive<T>); COUNT],
) -> Result<()> {
    for (key, value, range) in numbers {
        if !range.contains(&value) {
            let (least, most) = range.into_inner();
            bail!("{table}{key} = {value} is out of range; give a number from {least} to {most}");
        }
    }
    Ok(())
}

/// Rejects invalid language codes.
fn languages(table: &str, codes: &[String]) -> Result<()> {
    match codes.iter().find(|code| !is_language_code(code)) {
        Some(code) => bail!("{table}.languages: `{code}` is not a language code; use one such as \"de\""),
        None => Ok(()),
    }
}

fn is_language_code(code: &str) -> bool {
    (2..=3).contains(&code.len()) && code.bytes().all(|byte| byte.is_ascii_lowercase())
}

fn seconds(value: f64) -> Duration {
    Duration::from_secs_f64(value)
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
        let mut all = toml::Table::try_from(Config::default()).unwrap();
        // Stages with the default time limit have no line of their own.
        let usual = toml::Value::from(format!("{}m", crate::stage::USUAL_MINUTES));
        let shown_times = shown["run"].as_table().unwrap();
        all["run"].as_table_mut().unwrap().retain(|key, time| *time != usual || shown_times.contains_key(key));
        assert_eq!(shown, all);
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
    fn an_impossible_poll_schedule_is_rejected() {
        for text in ["polls_per_day = 0.0", "min_interval_min = nan", "max_interval_h = 1e9"] {
            let error = format!("{:#}", load(&format!("[feeds]\n{text}"), &[]).unwrap_err());
            assert!(error.contains(text.split(' ').next().unwrap()), "{error}");
        }
        assert!(load("[feeds]\nmin_interval_min = 120.0\nmax_interval_h = 1.0\n", &[]).is_err());
    }

    #[test]
    fn an_invalid_value_is_rejected_with_its_key() {
        for text in
            ["delay_s = -1.0", "delay_s = nan", "concurrency = 0", "robots_max_age_h = 48.0", "allow_private = ['x']"]
        {
            let error = format!("{:#}", load(&format!("[fetch]\n{text}"), &[]).unwrap_err());
            assert!(error.contains(text.split(' ').next().unwrap()), "{error}");
        }
    }

    #[test]
    fn every_number_out_of_its_range_is_rejected_with_its_key_and_the_range() {
        let numbers = [
            ("fetch", "max_header_kib", "7", "from 8 to 4096"),
            ("fetch", "max_page_mib", "129", "from 1 to 128"),
            ("fetch", "max_feed_mib", "0", "from 1 to 128"),
            ("fetch", "max_unpack_ratio", "1", "from 2 to 100000"),
            ("fetch", "max_redirects", "21", "from 0 to 20"),
            ("fetch", "memory_mib", "15", "from 16 to 1000000"),
            ("fetch", "connect_timeout_s", "-0.1", "from 0 to 10000000"),
            ("fetch", "total_timeout_s", "inf", "from 0 to 10000000"),
            ("store", "compression", "20", "from 1 to 19"),
            ("store", "compression", "0", "from 1 to 19"),
            ("discover", "max_requests", "0", "from 1 to 1000"),
            ("index", "memory_mib", "31", "from 32 to 1000000"),
            ("serve", "time_limit_s", "0.0", "from 0.1 to 3600"),
            ("serve", "heavy_requests", "0", "from 1 to 1024"),
        ];
        for (table, key, value, range) in numbers {
            let error = format!("{:#}", load(&format!("[{table}]\n{key} = {value}\n"), &[]).unwrap_err());
            assert!(error.contains(&format!("{table}.{key} = ")) && error.contains(range), "{error}");
        }
    }

    #[test]
    fn the_bounds_of_a_range_are_inclusive() {
        let text =
            "[fetch]\nmax_redirects = 20\nmax_header_kib = 8\n[store]\ncompression = 19\n[index]\nmemory_mib = 32\n";
        assert_eq!(load(text, &[]).unwrap().store.compression, 19);
        assert!(load("[fetch]\nrobots_max_age_h = 24.0\n", &[]).is_ok());
    }

    #[test]
    fn a_value_from_the_environment_is_checked_like_one_from_the_file() {
        let error = format!("{:#}", load("", &[("TIDINGS_STORE_COMPRESSION", "99")]).unwrap_err());
        assert!(error.contains("store.compression = 99"), "{error}");
        let error = format!("{:#}", load("", &[("TIDINGS_FETCH_CONCURRENCY", "many")]).unwrap_err());
        assert!(error.starts_with("environment variables:"), "{error}");
        let nothing = |_: &str| None;
        assert_eq!(Config::without_home(&nothing).unwrap(), Config::default());
        let compression = |name: &str| (name == "TIDINGS_STORE_COMPRESSION").then(|| "99".to_owned());
        assert!(Config::without_home(&compression).is_err());
    }

    #[test]
    fn lists_durations_and_booleans_can_be_set_by_environment_variables() {
        let environment = [
            ("TIDINGS_DISCOVER_LANGUAGES", "[\"de\", \"en\"]"),
            ("TIDINGS_RUN_CLEAN", "90s"),
            ("TIDINGS_RUN_REPORT", "false"),
            ("TIDINGS_FETCH_CONTACT", "2026"),
        ];
        let numbered = load("", &environment);
        assert!(numbered.is_err(), "a number is not a string: {numbered:?}");
        let config = load("", &environment[..3]).unwrap();
        assert_eq!(config.discover.languages, ["de", "en"]);
        assert_eq!(config.run.limit(crate::stage::StageId::Clean), Duration::from_secs(90));
        assert!(!config.run.report);
    }

    #[test]
    fn every_key_has_one_variable() {
        let mut names = variables();
        assert!(names.contains(&"TIDINGS_RUN_COMPILE".to_owned()));
        let all = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), all);
        assert!(
            names
                .iter()
                .all(|name| name.bytes().all(|byte| byte.is_ascii_uppercase() || b"_0123456789".contains(&byte)))
        );
    }

    #[test]
    fn tables_of_languages_must_have_a_language_code() {
        for text in ["[gate.german]\n", "[gate.DE]\n", "[discover]\nlanguages = ['English']\n"] {
            assert!(load(text, &[]).is_err(), "{text}");
        }
        let error = format!("{:#}", load("[annotate.external.german]\ncommand = ['x']\n", &[]).unwrap_err());
        assert!(error.contains("`german` is not a language code"), "{error}");
        assert!(load("[gate.de]\n", &[]).is_ok());
    }

    #[test]
    fn a_tool_without_a_command_or_a_word_column_is_rejected_with_its_language() {
        for (text, word) in [
            ("command = []", "command is empty"),
            ("command = ['']", "command is empty"),
            ("command = ['x']\ncolumns = ['lemma', 'word']", "the first column must be `word`"),
            ("command = ['x']\ncolumns = ['word', 'pos']", "unknown column `pos`"),
            ("command = ['x']\ncolumns = ['word', 'mood:big']", "`big` in `mood:big` is no kind"),
            ("command = ['x']\nspans = ['doc']", "`doc` cannot be the name of a span"),
            ("command = ['x']\nformat = 'conllu'\nspans = ['ne']", "need format"),
            ("command = ['x']\nworkers = 0", "workers = 0 is out of range"),
            ("command = ['x']\ntimeout_s = 0.0", "timeout_s = 0 is out of range"),
        ] {
            let error = format!("{:#}", load(&format!("[annotate.external.de]\n{text}\n"), &[]).unwrap_err());
            assert!(error.contains("[annotate.external.de]") && error.contains(word), "{error}");
        }
    }

    #[test]
    fn settings_of_the_server_are_checked() {
        for (text, key) in [
            ("cors = 'corpus.example'", "serve.cors"),
            ("cors = 'https://corpus.example/'", "serve.cors"),
            ("default_availability = 'all'", "serve.default_availability"),
            ("loopback_scope = 'root'", "serve.loopback_scope"),
        ] {
            let error = format!("{:#}", load(&format!("[serve]\n{text}\n"), &[]).unwrap_err());
            assert!(error.contains(key), "{error}");
        }
        assert!(load("[serve]\ncors = '*'\nloopback_scope = 'none'\n", &[]).is_ok());
    }

    #[test]
    fn the_error_about_a_missing_settings_file_contains_its_path() {
        let error = Config::load(Path::new("no/tidings.toml"), &|_| None).unwrap_err().to_string();
        assert!(error.contains("cannot read the settings file no/tidings.toml"), "{error}");
    }
}
