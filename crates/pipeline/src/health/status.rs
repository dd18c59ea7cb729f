//! The status of a home, on one screen and for monitoring.

use std::collections::BTreeMap;
use std::fmt;

use anyhow::Result;
use serde::{Serialize, Serializer};
use tidings_store::archive::BackfillOrder;
use tidings_store::yields::Yield;

use super::Health;
use super::alerts::{self, Alert, Level, ago};
use crate::Pipeline;
use crate::archive::recall::Recall;
use crate::crawl::{self, CrawlSummary};
use crate::display::{bytes, count, grouped};
use crate::frozen::{self, FrozenRow};
use crate::outcome::Outcome;
use crate::shard_view::{ShardWorkView, shard_work};
use crate::stage::StageId;

/// Languages that are shown each for itself.
const LANGUAGES: usize = 8;
/// The number of days from which on the forecast is shown as years.
const MANY_DAYS: f64 = 2000.0;

/// The overall state of a home.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// All is well.
    Ok,
    /// At least one warning.
    Warning,
    /// Data is being lost, or will be soon.
    Critical,
}

impl State {
    fn of(alerts: &[Alert]) -> State {
        match alerts.iter().map(|alert| alert.level).max() {
            None => State::Ok,
            Some(Level::Warning) => State::Warning,
            Some(Level::Critical) => State::Critical,
        }
    }
}

/// The health of a home with its alerts.
#[derive(Debug, Clone, Serialize)]
pub struct StatusOutcome {
    /// Always true.
    pub done: bool,
    /// The worst of the alerts.
    pub state: State,
    /// The alerts.
    pub alerts: Vec<Alert>,
    /// Recent pages per hour.
    pub pages_per_hour: f64,
    /// The health.
    #[serde(flatten)]
    pub health: Health,
    /// Crawls that follow links, at their last checkpoints.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub crawls: Vec<CrawlSummary>,
    /// Frozen states and what they take on the disk.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub frozen: Vec<FrozenRow>,
    /// The work of several processes, if they are at work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub work: Option<ShardWorkView>,
    /// The home, for people.
    #[serde(skip)]
    home: String,
}

impl Outcome for StatusOutcome {}

/// Reads the status of a home.
pub fn status(pipeline: &Pipeline) -> Result<StatusOutcome> {
    let (home, config) = (pipeline.home(), pipeline.config());
    let health = Health::of(home, config, tidings_model::clock::now())?;
    let alerts = alerts::of(&health, config.store.min_free_mib);
    Ok(StatusOutcome {
        done: true,
        state: State::of(&alerts),
        alerts,
        pages_per_hour: health.harvest.pages as f64 / health.harvest.hours,
        health,
        crawls: crawl::summaries(home)?,
        frozen: frozen::list(home)?,
        work: shard_work(home, config)?,
        home: home.root().display().to_string(),
    })
}

/// Writes a yield with its rate.
pub(super) fn yield_figures<S: Serializer>(sum: &Yield, serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Figures {
        pages: u64,
        documents: u64,
        rate: f64,
    }
    Figures { pages: sum.pages, documents: sum.documents, rate: sum.rate() }.serialize(serializer)
}

/// Writes a row of the screen.
fn row(f: &mut fmt::Formatter<'_>, name: &str, value: &str) -> fmt::Result {
    writeln!(f, "{name:<10} {value}")
}

impl fmt::Display for StatusOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        row(f, "home", &format!("{}, {}", self.home, self.health.now.strftime("%Y-%m-%d %H:%M UTC")))?;
        if let Some(day) = self.health.ended {
            row(
                f,
                "ended",
                &format!("{day}, the last day of the collection (run.until); this is the state of that day"),
            )?;
        }
        row(f, "feeds", &self.feeds())?;
        let (web, text) = self.stages();
        match web.is_empty() {
            true => row(f, "stages", &text)?,
            false => {
                row(f, "stages", &web)?;
                row(f, "", &text)?;
            }
        }
        row(f, "lag", &self.lag())?;
        row(f, "pages", &self.pages())?;
        self.crawls.iter().try_for_each(|crawl| row(f, "crawl", &crawl::summary_text(crawl)))?;
        let work = self.work.as_ref().map(ShardWorkView::lines).unwrap_or_default();
        for (at, line) in work.iter().enumerate() {
            row(f, if at == 0 { "work" } else { "" }, line)?;
        }
        let upgrade = self.health.upgrade.as_ref().filter(|upgrade| !upgrade.is_empty());
        let upgrade = upgrade.map(|upgrade| format!("the next run rebuilds: {upgrade}"));
        let optional = [
            ("history", self.history()),
            ("yield", self.yielded()),
            ("searchable", self.searchable()),
            ("disk", self.disk()),
            ("frozen", self.frozen_states()),
            ("upgrade", upgrade),
        ];
        for (name, value) in optional {
            value.map_or(Ok(()), |value| row(f, name, &value))?;
        }
        if self.alerts.is_empty() {
            row(f, "alerts", "none")?;
        }
        self.alerts.iter().try_for_each(|alert| {
            let word = if alert.level == Level::Critical { "CRITICAL" } else { "warning" };
            row(f, word, &alert.text)
        })
    }
}

impl StatusOutcome {
    /// The frozen states by name, with what deleting them frees.
    fn frozen_states(&self) -> Option<String> {
        let mut own_bytes: BTreeMap<&str, u64> = BTreeMap::new();
        for row in &self.frozen {
            *own_bytes.entry(&row.record.name).or_default() += row.cost.own_bytes;
        }
        let shown = |(name, own): (&&str, &u64)| format!("{name} {}", bytes(*own as f64));
        let shown: Vec<String> = own_bytes.iter().map(shown).collect();
        let count = count(shown.len() as u64, "state");
        (!shown.is_empty()).then(|| format!("{count}, with files that only they have: {}", shown.join(", ")))
    }

    fn feeds(&self) -> String {
        let feeds = &self.health.feeds;
        let kinds = [
            (feeds.alive, "alive"),
            (feeds.quiet, "quiet"),
            (feeds.failing, "failing"),
            (feeds.dead, "dead"),
            (feeds.unasked, "not polled yet"),
            (feeds.late, "late"),
        ];
        let kinds = kinds.iter().filter(|(number, _)| *number > 0);
        let kinds: Vec<String> = kinds.map(|(number, word)| format!("{} {word}", grouped(*number))).collect();
        if feeds.listed == 0 {
            return "none yet".to_owned();
        }
        let mut text = kinds.join(", ");
        let others = [(feeds.pages, "page"), (feeds.sitemaps, "sitemap")];
        let others: Vec<String> =
            others.iter().filter(|(number, _)| *number > 0).map(|(number, word)| count(*number, word)).collect();
        if !others.is_empty() {
            text.push_str(&format!("; {} among them", others.join(" and ")));
        }
        if feeds.nofollow > 0 {
            text.push_str(&format!("; {} not followed (nofollow)", count(feeds.nofollow, "page")));
        }
        text
    }

    /// The times of the last successes: network stages, and the others.
    fn stages(&self) -> (String, String) {
        let last_done = |stage: &StageId| {
            let state = &self.health.stages[*stage];
            let failed = if state.trouble.is_some() { ", then failed" } else { "" };
            match state.last_success {
                Some(at) => format!("{stage} {}{failed}", ago(at, self.health.now)),
                None => format!("{stage} never{failed}"),
            }
        };
        let joined = |is_derived: bool| {
            let stages = StageId::ALL.iter().filter(|stage| stage.stage().is_derived() == is_derived);
            let stages = stages.filter(|stage| !self.health.stages.off.contains(stage));
            stages.map(last_done).collect::<Vec<_>>().join("; ")
        };
        (joined(false), joined(true))
    }

    fn lag(&self) -> String {
        let now = self.health.now;
        let newest = match self.health.harvest.newest_page {
            None => "no recent page".to_owned(),
            Some(at) => format!("newest page {}", ago(at, now)),
        };
        let lag = match self.health.oldest_unfound {
            None => "everything is searchable".to_owned(),
            Some(oldest) => format!("the oldest page that is not searchable yet is from {}", ago(oldest, now)),
        };
        format!("{newest}; {lag}")
    }

    fn pages(&self) -> String {
        let harvest = &self.health.harvest;
        let left = match harvest.left {
            0 => String::new(),
            left => format!(", {} waiting in the plan", grouped(left)),
        };
        format!(
            "{} in {:.0} hours ({:.1} per hour), {} failed{left}",
            grouped(harvest.pages),
            harvest.hours,
            self.pages_per_hour,
            grouped(harvest.failed)
        )
    }

    /// The backfills of sites.
    fn history(&self) -> Option<String> {
        let orders = &self.health.backfills;
        let sum = |part: fn(&BackfillOrder) -> u64| orders.iter().map(part).sum::<u64>();
        let recall = Recall::of(sum(|order| order.found_too), sum(|order| order.known));
        let open = orders.iter().filter(|order| order.ended.is_empty()).count() as u64;
        let open = if open == 0 { String::new() } else { format!("; {} not finished", count(open, "site")) };
        let (sites, found) = (count(orders.len() as u64, "site"), count(sum(|order| order.found), "article"));
        (!orders.is_empty()).then(|| format!("{found} of {sites} found by backfills, recall {recall}{open}"))
    }

    fn yielded(&self) -> Option<String> {
        let yielded = &self.health.yielded;
        let share = 100.0 * yielded.documents as f64 / yielded.pages as f64;
        let rate = 100.0 * yielded.rate();
        (yielded.pages > 0).then(|| {
            format!("{share:.0} % of pages yield a document; {rate:.1} % of their bytes are text (last 30 days)")
        })
    }

    fn searchable(&self) -> Option<String> {
        let indexes = &self.health.indexes;
        let tokens: u64 = indexes.values().map(|index| index.tokens).sum();
        let mut languages: Vec<_> = indexes.iter().collect();
        languages.sort_by_key(|(_, index)| std::cmp::Reverse(index.tokens));
        let share = |tokens_of: u64| 100.0 * tokens_of as f64 / tokens as f64;
        let shown = languages.iter().take(LANGUAGES);
        let mut shares: Vec<String> =
            shown.map(|(code, index)| format!("{code} {:.0} %", share(index.tokens))).collect();
        if languages.len() > LANGUAGES {
            shares.push(format!("{} more", languages.len() - LANGUAGES));
        }
        (tokens > 0).then(|| format!("{} in {}", count(tokens, "token"), shares.join(", ")))
    }

    fn disk(&self) -> Option<String> {
        let disk = &self.health.disk;
        let growth = match (disk.growth_per_day, disk.days_left) {
            (Some(growth), Some(days)) if days < MANY_DAYS => {
                format!(", {} per day: {} left", bytes(growth), count(days as u64, "day"))
            }
            (Some(growth), _) => format!(", {} per day: years left", bytes(growth)),
            _ => String::new(),
        };
        disk.free.map(|free| format!("{} free{growth}", bytes(free as f64)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::alerts::AlertRule;
    use super::*;

    #[test]
    fn the_worst_alert_determines_the_state() {
        let alert = |level| Alert { level, rule: AlertRule::DiskLow, text: String::new() };
        assert_eq!(State::of(&[]), State::Ok);
        assert_eq!(State::of(&[alert(Level::Critical), alert(Level::Warning)]), State::Critical);
        assert_eq!(State::of(&[alert(Level::Warning)]), State::Warning);
    }

    #[test]
    fn a_new_home_has_a_status() {
        let folder = tempfile::tempdir().unwrap();
        let status = status(&Pipeline::create(folder.path()).unwrap()).unwrap();
        let text = status.to_string();
        assert!(text.contains("\nfeeds      none yet\n") && text.contains("\nstages     update never; fetch never\n"));
        let json = serde_json::to_value(&status).unwrap();
        for key in
            ["now", "feeds", "fallen", "stages", "harvest", "oldest_unfound", "yield", "languages", "disk", "days"]
        {
            assert!(json.get(key).is_some(), "{key}");
        }
        assert_eq!((&json["state"], &json["yield"]["pages"]), (&"warning".into(), &0.into()));
    }
}
