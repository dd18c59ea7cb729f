//! Feeds and hosts: their health and their yield.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tidings_query::question::Request;
use tidings_query::{answer, choices};
use tidings_store::feeds::{self, Health};
use tidings_store::sources::PageSource;
use tidings_store::yields;

use super::sources::SourceKind;
use super::{HomeContext, HomeQuestion};
use crate::api_error::ApiError;

choices! {
    /// The health of a feed.
    pub enum FeedHealth {
        /// It answers and brings entries.
        Alive = "alive",
        /// It answers, but brings less than an entry a month.
        Slow = "slow",
        /// It did not answer the last time.
        Failing = "failing",
        /// It is gone, or failed five times in a row.
        Dead = "dead",
        /// It was never polled.
        New = "new",
    }
}

impl From<Health> for FeedHealth {
    fn from(health: Health) -> FeedHealth {
        match health {
            Health::Alive => FeedHealth::Alive,
            Health::Slow => FeedHealth::Slow,
            Health::Failing => FeedHealth::Failing,
            Health::Dead => FeedHealth::Dead,
            Health::New => FeedHealth::New,
        }
    }
}

choices! {
    /// The result of the last poll.
    pub enum PollResult {
        /// It gave its entries.
        Listed = "listed",
        /// It has not changed since the last time.
        Unchanged = "unchanged",
        /// It could not be reached or read.
        Failed = "failed",
        /// The server says that it is gone for good.
        Gone = "gone",
        /// It was never polled.
        Never = "never",
    }
}

/// Lists the feeds.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub(crate) struct FeedsRequest {
    /// Only feeds of this health.
    #[serde(default)]
    health: Option<FeedHealth>,
}

answer! {
    /// The feeds, in the order of the list.
    pub struct Feeds {
        /// The feeds.
        pub rows: Vec<FeedRow>,
    }

    /// A feed.
    pub struct FeedRow {
        /// The address.
        pub feed: String,
        /// The title.
        pub title: String,
        /// The kind: feed, sitemap or page.
        pub kind: SourceKind,
        /// The health.
        pub health: FeedHealth,
        /// The result of the last poll.
        pub polled: PollResult,
        /// The time of the last poll.
        pub checked: String,
        /// The time of the last poll that succeeded.
        pub succeeded: String,
        /// Consecutive failures.
        pub failures: u64,
        /// The last error.
        pub error: String,
        /// Entries of the last list.
        pub entries: u64,
        /// Entries that it brought so far.
        pub brought: u64,
        /// The publishing rate.
        pub entries_per_day: Option<f64>,
        /// The time of the next poll.
        pub due: String,
        /// The poll interval in minutes.
        pub interval_min: u64,
        /// The yield of its pages.
        pub r#yield: Option<YieldSum>,
        /// The shard that has it; missing unless shards are asked.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(skip)]
        pub shard: Option<String>,
    }

    /// The text that pages yielded.
    pub struct YieldSum {
        /// Pages.
        pub pages: u64,
        /// Documents.
        pub documents: u64,
        /// Bytes downloaded.
        pub downloaded_bytes: u64,
        /// Bytes of text.
        pub clean_bytes: u64,
        /// Bytes of text by bytes downloaded.
        pub rate: f64,
    }
}

impl From<&yields::Yield> for YieldSum {
    fn from(sum: &yields::Yield) -> YieldSum {
        YieldSum {
            pages: sum.pages,
            documents: sum.documents,
            downloaded_bytes: sum.downloaded,
            clean_bytes: sum.clean,
            rate: sum.rate(),
        }
    }
}

impl Request for FeedsRequest {
    fn example() -> FeedsRequest {
        FeedsRequest { health: Some(FeedHealth::Failing) }
    }
}

impl HomeQuestion for FeedsRequest {
    const NAME: &'static str = "feeds";
    const SUMMARY: &'static str = "List the feeds with their health, poll schedule and yield";
    const ROWS: &'static str = "rows";
    type Answer = Feeds;

    fn answer(&self, HomeContext { registry, .. }: &HomeContext<'_>) -> Result<Feeds, ApiError> {
        let home = &registry.home;
        let mut sums = HashMap::new();
        yields::read(home, |row| {
            if row.kind == "feed" {
                sums.insert(row.name, row.sum);
            }
        })?;
        let states = feeds::states(home)?;
        let mut rows = Vec::new();
        for listed in feeds::list(home)?.feeds {
            let state = states.get(&listed.url).cloned().unwrap_or_default();
            let health = FeedHealth::from(state.health());
            if self.health.is_some_and(|wanted| wanted != health) {
                continue;
            }
            let polled = if state.checked.is_empty() { None } else { PollResult::named(state.polled.word()) };
            rows.push(FeedRow {
                health,
                polled: polled.unwrap_or(PollResult::Never),
                entries_per_day: state.rate.parse::<f64>().ok(),
                r#yield: sums.get(&listed.url).map(YieldSum::from),
                kind: PageSource::from(listed.kind).into(),
                feed: listed.url,
                title: state.title,
                checked: state.checked,
                succeeded: state.succeeded,
                failures: u64::from(state.failures),
                error: state.error,
                entries: u64::from(state.entries),
                brought: state.brought,
                due: state.due,
                interval_min: u64::from(state.interval_min),
                shard: None,
            });
        }
        Ok(Feeds { rows })
    }
}

/// Lists the hosts.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub(crate) struct HostsRequest {}

answer! {
    /// The hosts that pages came from.
    pub struct Hosts {
        /// The hosts.
        pub rows: Vec<HostRow>,
    }

    /// A host.
    pub struct HostRow {
        /// The name.
        pub host: String,
        /// The yield of its pages.
        pub r#yield: YieldSum,
        /// The shard that has it; missing unless shards are asked.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(skip)]
        pub shard: Option<String>,
    }
}

impl Request for HostsRequest {
    fn example() -> HostsRequest {
        HostsRequest {}
    }
}

impl HomeQuestion for HostsRequest {
    const NAME: &'static str = "hosts";
    const SUMMARY: &'static str = "List the hosts with the yield of their pages";
    const ROWS: &'static str = "rows";
    type Answer = Hosts;

    fn answer(&self, HomeContext { registry, .. }: &HomeContext<'_>) -> Result<Hosts, ApiError> {
        let mut rows = Vec::new();
        yields::read(&registry.home, |row| {
            if row.kind == "host" {
                rows.push(HostRow { r#yield: YieldSum::from(&row.sum), host: row.name, shard: None });
            }
        })?;
        Ok(Hosts { rows })
    }
}
