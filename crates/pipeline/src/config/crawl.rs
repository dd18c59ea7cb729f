//! Settings of crawls that follow links.

use anyhow::{Context as _, Result, bail};
use serde::{Deserialize, Serialize};
use tidings_crawl::policy::Rule;

use super::{languages, within};
use crate::crawl::check_name;

/// The `[crawl]` table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[allow(missing_docs)] // The template documents each key to users.
pub struct CrawlConfig {
    pub languages: Vec<String>,
    pub rule: String,
    pub floor: f64,
    pub largest_share: f64,
    pub keep: KeepPages,
    pub host_delay_s: f64,
    pub max_pages_per_site_day: u32,
    pub grow: bool,
    pub names: Vec<String>,
    pub seeds: String,
    pub round_pages: u64,
}

/// The pages that a crawl stores.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KeepPages {
    /// Pages with a document in a wanted language.
    #[default]
    Documents,
    /// All pages.
    All,
}

impl Default for CrawlConfig {
    fn default() -> CrawlConfig {
        CrawlConfig {
            languages: Vec::new(),
            rule: Rule::default().name().to_owned(),
            floor: 0.002,
            largest_share: 0.02,
            keep: KeepPages::Documents,
            host_delay_s: 5.0,
            max_pages_per_site_day: 5000,
            grow: true,
            names: Vec::new(),
            seeds: String::new(),
            round_pages: 1000,
        }
    }
}

impl CrawlConfig {
    /// The rule that orders requests.
    pub fn rule(&self) -> Result<Rule> {
        let Some(rule) = Rule::from_name(&self.rule) else {
            let names: Vec<&str> = Rule::ALL.iter().map(|(_, name)| *name).collect();
            bail!("crawl.rule = \"{}\" is unknown; use one of {}", self.rule, names.join(", "));
        };
        Ok(rule)
    }

    pub(super) fn check(&self) -> Result<()> {
        languages("crawl", &self.languages)?;
        self.rule()?;
        self.names.iter().try_for_each(|name| check_name(name).context("crawl.names"))?;
        if !self.seeds.is_empty() && self.names.is_empty() {
            bail!("crawl.seeds = \"{}\" belongs to no crawl; name one, such as names = [\"web\"]", self.seeds);
        }
        within(
            "crawl.",
            [
                ("floor", self.floor, 0.0..=1.0),
                ("largest_share", self.largest_share, 0.0001..=1.0),
                ("host_delay_s", self.host_delay_s, 0.0..=86_400.0),
            ],
        )?;
        within("crawl.", [("max_pages_per_site_day", self.max_pages_per_site_day, 1..=u32::MAX)])
    }
}
