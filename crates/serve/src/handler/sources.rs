//! Sources of pages by kind, crawls and backfills.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tidings_crawl::CrawlSummary;
use tidings_query::question::Request;
use tidings_query::{answer, choices};
use tidings_store::archive;
use tidings_store::recall::Recall;
use tidings_store::sources::{self, PageSource};

use super::feeds::YieldSum;
use super::{HomeContext, HomeQuestion};
use crate::api_error::ApiError;

choices! {
    /// A kind of source of pages.
    pub enum SourceKind {
        /// RSS, Atom, RDF or JSON Feed.
        Feed = "feed",
        /// A sitemap that is polled.
        Sitemap = "sitemap",
        /// A front page or section page that is polled.
        Page = "page",
        /// The backfill of a site.
        Archive = "archive",
        /// A crawl that follows links.
        Crawl = "crawl",
    }
}

impl From<PageSource> for SourceKind {
    fn from(kind: PageSource) -> SourceKind {
        match kind {
            PageSource::Feed => SourceKind::Feed,
            PageSource::Sitemap => SourceKind::Sitemap,
            PageSource::Page => SourceKind::Page,
            PageSource::Archive => SourceKind::Archive,
            PageSource::Crawl => SourceKind::Crawl,
        }
    }
}

choices! {
    /// What became of the URLs of a crawl that were not stored.
    pub enum UrlOutcome {
        /// The page has no wanted text.
        Refused = "refused",
        /// There was no page.
        Failed = "failed",
    }
}

/// Lists the kinds of sources.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub(crate) struct SourcesRequest {}

answer! {
    /// The kinds of sources that the home has.
    pub struct Sources {
        /// The kinds.
        pub rows: Vec<SourceRow>,
    }

    /// The sources of a kind.
    pub struct SourceRow {
        /// The kind.
        pub kind: SourceKind,
        /// The number of sources.
        pub sources: u64,
        /// The yield of their pages in the last 30 days.
        pub r#yield: YieldSum,
    }
}

impl Request for SourcesRequest {
    fn example() -> SourcesRequest {
        SourcesRequest {}
    }
}

impl HomeQuestion for SourcesRequest {
    const NAME: &'static str = "sources";
    const SUMMARY: &'static str =
        "Count sources by kind: feeds, sitemaps, pages, backfills and crawls, with the yield of their pages";
    const ROWS: &'static str = "rows";
    type Answer = Sources;

    fn answer(&self, HomeContext { registry, .. }: &HomeContext<'_>) -> Result<Sources, ApiError> {
        let rows = sources::sums(&registry.home)?.into_iter().map(|(kind, sum)| SourceRow {
            kind: kind.into(),
            sources: sum.sources,
            r#yield: YieldSum::from(&sum.sum),
        });
        Ok(Sources { rows: rows.collect() })
    }
}

/// Lists the crawls.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub(crate) struct CrawlsRequest {}

answer! {
    /// The crawls that follow links, at their last checkpoints.
    pub struct Crawls {
        /// The crawls.
        pub rows: Vec<CrawlRow>,
        /// The reasons for which URLs were not stored, the most common first.
        pub reasons: Vec<CrawlReason>,
    }

    /// A crawl.
    pub struct CrawlRow {
        /// The name.
        pub crawl: String,
        /// Requests for pages.
        pub requests: u64,
        /// Pages that were stored.
        pub kept: u64,
        /// Pages without wanted text, which were not stored.
        pub refused: u64,
        /// URLs that gave no page.
        pub failed: u64,
        /// Bytes downloaded.
        pub downloaded_bytes: u64,
        /// New words in the wanted languages.
        pub words: u64,
        /// Sites (registered domains) that were met.
        pub sites: u64,
        /// Of these, sites that were closed because they are not worth a request.
        pub closed_sites: u64,
        /// URLs that wait.
        pub waiting_urls: u64,
        /// The end of the last run: its time, or empty while it runs and after a crash.
        pub ended: String,
        /// The reason of the end, or empty.
        pub end_reason: String,
        /// The shard that has it; missing unless shards are asked.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(skip)]
        pub shard: Option<String>,
    }

    /// URLs of a crawl that were not stored for a reason.
    pub struct CrawlReason {
        /// The crawl.
        pub crawl: String,
        /// Whether there was a page.
        pub outcome: UrlOutcome,
        /// The reason or the status.
        pub reason: String,
        /// The number of URLs.
        pub urls: u64,
        /// The shard that has it; missing unless shards are asked.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(skip)]
        pub shard: Option<String>,
    }
}

impl Request for CrawlsRequest {
    fn example() -> CrawlsRequest {
        CrawlsRequest {}
    }
}

impl HomeQuestion for CrawlsRequest {
    const NAME: &'static str = "crawls";
    const SUMMARY: &'static str = "List the crawls with their pages by outcome, new words and waiting URLs";
    const ROWS: &'static str = "rows";
    type Answer = Crawls;

    fn answer(&self, HomeContext { registry, .. }: &HomeContext<'_>) -> Result<Crawls, ApiError> {
        let home = &registry.home;
        let (mut rows, mut reasons) = (Vec::new(), Vec::new());
        for name in home.crawls()? {
            let crawl = CrawlSummary::read(&name, &home.crawl(&name))?;
            let refused = crawl.counts.refused.iter().map(|(reason, urls)| (UrlOutcome::Refused, reason, urls));
            let failed = crawl.counts.failed.iter().map(|(status, urls)| (UrlOutcome::Failed, status, urls));
            reasons.extend(refused.chain(failed).map(|(outcome, reason, urls)| CrawlReason {
                crawl: name.clone(),
                outcome,
                reason: reason.clone(),
                urls: *urls,
                shard: None,
            }));
            let end = crawl.counts.ended.as_ref();
            rows.push(CrawlRow {
                crawl: name,
                requests: crawl.pages,
                kept: crawl.counts.kept,
                refused: crawl.refused(),
                failed: crawl.failed(),
                downloaded_bytes: crawl.bytes,
                words: crawl.tokens,
                sites: crawl.domains,
                closed_sites: crawl.closed,
                waiting_urls: crawl.waiting,
                ended: end.map(|end| tidings_store::rfc3339(end.at)).unwrap_or_default(),
                end_reason: end.and_then(|end| end.reason).map(|end| end.to_string()).unwrap_or_default(),
                shard: None,
            });
        }
        reasons.sort_by(|a, b| (b.urls, &a.crawl, &a.reason).cmp(&(a.urls, &b.crawl, &b.reason)));
        Ok(Crawls { rows, reasons })
    }
}

/// Lists the backfills.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub(crate) struct BackfillsRequest {}

answer! {
    /// The backfills of sites, at the end of their last runs.
    pub struct Backfills {
        /// The backfills.
        pub rows: Vec<BackfillRow>,
    }

    /// The backfill of a site.
    pub struct BackfillRow {
        /// The site.
        pub site: String,
        /// Articles that it found.
        pub found: u64,
        /// Requests for sitemaps and archive pages.
        pub listing_requests: u64,
        /// Articles of the site that feeds brought.
        pub known: u64,
        /// The estimated recall: the share of these that the backfill found by its own ways.
        pub recall: Option<f64>,
        /// The lower end of the 95 % interval of the recall.
        pub recall_low: Option<f64>,
        /// The upper end of the interval.
        pub recall_high: Option<f64>,
        /// The first day of the history, or empty.
        pub since: String,
        /// The last day of the history, or empty.
        pub until: String,
        /// The end of the last round of requests.
        pub updated: String,
        /// The reason why nothing is left to read, or empty.
        pub ended: String,
        /// The shard that has it; missing unless shards are asked.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(skip)]
        pub shard: Option<String>,
    }
}

impl Request for BackfillsRequest {
    fn example() -> BackfillsRequest {
        BackfillsRequest {}
    }
}

impl HomeQuestion for BackfillsRequest {
    const NAME: &'static str = "backfills";
    const SUMMARY: &'static str = "List the backfills of sites with the recall that each estimates for itself";
    const ROWS: &'static str = "rows";
    type Answer = Backfills;

    fn answer(&self, HomeContext { registry, .. }: &HomeContext<'_>) -> Result<Backfills, ApiError> {
        let rows = archive::orders(&registry.home)?.into_iter().map(|order| {
            let recall = Recall::of(order.found_too, order.known);
            BackfillRow {
                site: order.site,
                found: order.found,
                listing_requests: order.requests,
                known: order.known,
                recall: recall.share,
                recall_low: recall.low,
                recall_high: recall.high,
                since: order.since,
                until: order.until,
                updated: order.updated,
                ended: order.ended,
                shard: None,
            }
        });
        Ok(Backfills { rows: rows.collect() })
    }
}
