//! Fetches single documents outside a crawl with the same client: robots.txt, delays and address checks apply.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Result, anyhow, bail};
use http::header;
use tidings_fetch::decode::Decoder;
use tidings_fetch::{CrawlKind, CrawlStats, Crawler, FetchJob, FetchResult, HostQueue, JobSource, Settings};
use tidings_model::address;
use tokio::sync::{mpsc, watch};

use crate::config::Config;
use crate::ingest::host_memory::asked_without_contact;

/// A document as it was fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetched {
    /// The address after all redirects.
    pub url: String,
    /// The value of `Content-Type`.
    pub content_type: Option<String>,
    /// The body, decompressed.
    pub body: Vec<u8>,
}

/// Fetches single documents.
#[derive(Debug, Clone)]
pub struct HttpGet {
    config: Config,
    /// The settings file, for error messages; absent without a home.
    settings_file: Option<PathBuf>,
}

impl HttpGet {
    /// A client with these settings and the file from which they were read.
    pub fn new(config: Config, settings_file: Option<PathBuf>) -> HttpGet {
        HttpGet { config, settings_file }
    }

    /// Also allows connections to these private networks.
    pub fn allow_private(mut self, networks: &[String]) -> HttpGet {
        self.config.fetch.allow_private.extend_from_slice(networks);
        self
    }

    /// Fetches a feed.
    pub fn feed(&self, url: &str) -> Result<Fetched> {
        let mut results = self.fetch(&[url.to_owned()], CrawlKind::Feed)?;
        results.pop().expect("every URL has a result")
    }

    /// Fetches pages; those of the same host one after the other. Returns one result per URL, in order.
    pub fn pages(&self, urls: &[String]) -> Result<Vec<Result<Fetched>>> {
        self.fetch(urls, CrawlKind::Page)
    }

    fn fetch(&self, urls: &[String], kind: CrawlKind) -> Result<Vec<Result<Fetched>>> {
        let queues = self.queues(urls)?;
        let seed = fastrand::u64(..);
        let settings = match kind {
            CrawlKind::Feed => self.config.fetch.for_feeds(seed)?,
            _ => self.config.fetch.for_pages(seed)?,
        };
        let mut decoder = Decoder::new(settings.ceiling());
        let mut results: Vec<Option<Result<Fetched>>> = urls.iter().map(|_| None).collect();
        let given_up = crawl(urls, kind, queues, settings, |result| {
            let place = result.job as usize;
            results[place] = Some(decoded(result, &mut decoder));
        })?;
        let missing = |(url, result): (&String, Option<Result<Fetched>>)| {
            let host = address::host(url).unwrap_or_default();
            let reason = given_up.iter().find(|row| row.0 == host).map_or("no response", |row| row.1);
            result.unwrap_or_else(|| Err(anyhow!("{url}: {reason}")))
        };
        Ok(urls.iter().zip(results).map(missing).collect())
    }

    /// The indices of the URLs by host. Rejects invalid URLs, and public hosts if no contact is set.
    fn queues(&self, urls: &[String]) -> Result<BTreeMap<String, Vec<u32>>> {
        let mut queues: BTreeMap<String, Vec<u32>> = BTreeMap::new();
        for (number, url) in urls.iter().enumerate() {
            let host = address::normalise(url, None).and_then(|url| address::host(&url).map(str::to_owned));
            let Some(host) = host else { bail!("{url}: not a valid http or https URL") };
            if asked_without_contact(&self.config, std::iter::once(host.as_str())).is_some() {
                let place = match &self.settings_file {
                    Some(path) => format!("set `contact` in the [fetch] table of {}", path.display()),
                    None => "set TIDINGS_FETCH_CONTACT".to_owned(),
                };
                let advice = "to a web page or an email address for publishers";
                bail!("{url}: no contact set: {place} {advice} (required before fetching from the public web)");
            }
            queues.entry(host).or_default().push(number as u32);
        }
        Ok(queues)
    }
}

/// Decompresses a response, or returns the reason of its failure.
fn decoded(result: FetchResult, decoder: &mut Decoder) -> Result<Fetched> {
    let url = result.url;
    let answer = match result.result {
        Ok(answer) => answer,
        Err((status, detail)) => bail!("{url}: {status}: {detail}"),
    };
    if !answer.status.is_success() {
        bail!("{url}: HTTP status {}", answer.status);
    }
    let text = |name| answer.headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
    match decoder.decode_file(&text(header::CONTENT_ENCODING).unwrap_or_default(), &answer.body) {
        Ok(body) => Ok(Fetched { url, content_type: text(header::CONTENT_TYPE), body: body.to_vec() }),
        Err(status) => bail!("{url}: {status}: cannot decompress the body"),
    }
}

/// Crawls a list of URLs. Returns the hosts that were skipped, with the reason.
fn crawl(
    urls: &[String],
    kind: CrawlKind,
    queues: BTreeMap<String, Vec<u32>>,
    settings: Settings,
    mut take: impl FnMut(FetchResult),
) -> Result<Vec<(String, &'static str)>> {
    let (results, mut arriving) = mpsc::channel(1);
    // Only crawls of a home keep a log of requests.
    let (events, _) = std::sync::mpsc::channel();
    let (_go_on, stop) = watch::channel(false);
    let harvest = Crawler {
        settings,
        kind,
        source: AddressList(urls.to_vec()),
        results,
        events,
        stop,
        stats: Arc::new(CrawlStats::default()),
        file_limit: 256,
        all_hosts_idle_for: None,
    };
    let queues = queues.into_iter().map(|(host, jobs)| HostQueue { host, jobs, ..HostQueue::default() }).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let collect = async {
        while let Some(result) = arriving.recv().await {
            take(result);
        }
    };
    let (outcome, ()) = runtime.block_on(async { tokio::join!(harvest.run(queues, Vec::new()), collect) });
    Ok(outcome?.given_up)
}

/// Requests by the number of their address.
struct AddressList(Vec<String>);

impl JobSource for AddressList {
    fn job(&mut self, job: u32) -> Result<FetchJob, Box<dyn std::error::Error + Send + Sync>> {
        Ok(FetchJob { url: self.0[job as usize].clone(), headers: Vec::new() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(config: Config, settings_file: Option<&str>, url: &str) -> String {
        let client = HttpGet::new(config, settings_file.map(PathBuf::from));
        client.queues(&[url.to_owned()]).unwrap_err().to_string()
    }

    #[test]
    fn urls_are_queued_by_host_in_order() {
        let urls = ["http://127.0.0.1:9/a", "http://localhost/b", "http://127.0.0.1:9/c"].map(str::to_owned);
        let queues = HttpGet::new(Config::default(), None).queues(&urls).unwrap();
        assert_eq!(queues.into_values().collect::<Vec<_>>(), [vec![0, 2], vec![1]]);
    }

    #[test]
    fn a_public_host_is_not_contacted_without_a_contact_setting() {
        let url = "https://gazette.example/a";
        assert!(refusal(Config::default(), None, url).contains("set TIDINGS_FETCH_CONTACT to a web page"));
        assert!(refusal(Config::default(), Some("news/tidings.toml"), url).contains("table of news/tidings.toml"));
        let mut config = Config::default();
        config.fetch.contact = "https://me.example/bot".to_owned();
        assert_eq!(HttpGet::new(config, None).queues(&[url.to_owned()]).unwrap().len(), 1);
    }

    #[test]
    fn an_invalid_url_is_an_error() {
        assert_eq!(refusal(Config::default(), None, "no address"), "no address: not a valid http or https URL");
    }
}
