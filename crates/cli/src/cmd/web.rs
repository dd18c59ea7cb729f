//! A few documents, asked for politely: by the same client as a harvest, with the same guards.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{Result, anyhow, bail};
use http::header;
use tidings_fetch::decode::Decoder;
use tidings_fetch::{CrawlStats, Crawler, FetchJob, FetchResult, HostQueue, JobSource, Kind, Settings};
use tidings_model::address;
use tokio::sync::{mpsc, watch};

use crate::args::Global;
use tidings_pipeline::config::Config;

/// A document as it came.
pub struct Document {
    /// Where it was in the end.
    pub url: String,
    pub content_type: Option<String>,
    pub body: Vec<u8>,
}

/// Asks for a feed.
pub fn ask_for_feed(url: &str, allow_private: Option<&[String]>, global: &Global) -> Result<Document> {
    let mut answers = ask(&[url.to_owned()], Kind::Feed, allow_private, global)?;
    answers.pop().expect("an answer for every address")
}

/// Asks for pages, each host's one after the other; gives what became of each, in their order.
pub fn ask_for_pages(
    urls: &[String],
    allow_private: Option<&[String]>,
    global: &Global,
) -> Result<Vec<Result<Document>>> {
    ask(urls, Kind::Page, allow_private, global)
}

/// The settings are those of the home, if there is one.
fn ask(
    urls: &[String],
    kind: Kind,
    allow_private: Option<&[String]>,
    global: &Global,
) -> Result<Vec<Result<Document>>> {
    let (mut config, settings_file) = match super::open_home(global) {
        Ok((home, config)) => (config, Some(home.settings())),
        // Whoever names a home means it; otherwise none is needed.
        Err(error) if global.home.is_some() => return Err(error),
        Err(_) => (Config::without_home(&|name| std::env::var(name).ok())?, None),
    };
    config.fetch.allow_private.extend(allow_private.unwrap_or_default().iter().cloned());
    let mut queues: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    for (job, url) in urls.iter().enumerate() {
        let host = address::normalise(url, None).and_then(|url| address::host(&url).map(str::to_owned));
        let Some(host) = host else { bail!("{url}: this is not a web address") };
        if let Some(host) =
            tidings_pipeline::ingest::host_memory::asked_without_contact(&config, std::iter::once(host.as_str()))
        {
            let place = match settings_file {
                Some(path) => format!("set `contact` in the [fetch] table of {}", path.display()),
                None => "set TIDINGS_FETCH_CONTACT".to_owned(),
            };
            let advice = "to a web page or mail address that publishers can turn to";
            bail!("{url}: nobody would know who asks {host}: {place} {advice}");
        }
        queues.entry(host).or_default().push(job as u32);
    }

    let seed = fastrand::u64(..);
    let settings = match kind {
        Kind::Feed => config.fetch.for_feeds(seed)?,
        _ => config.fetch.for_pages(seed)?,
    };
    let mut decoder = Decoder::new(settings.ceiling());
    let mut answers: Vec<Option<Result<Document>>> = urls.iter().map(|_| None).collect();
    let given_up = deliver(urls, kind, queues, settings, |delivery| {
        let place = delivery.job as usize;
        answers[place] = Some(open(delivery, &mut decoder));
    })?;
    let missing = |(url, answer): (&String, Option<Result<Document>>)| {
        let host = address::host(url).unwrap_or_default();
        let reason = given_up.iter().find(|row| row.0 == host).map_or("there was no answer", |row| row.1);
        answer.unwrap_or_else(|| Err(anyhow!("{url}: {reason}")))
    };
    Ok(urls.iter().zip(answers).map(missing).collect())
}

/// Unpacks an answer, or says why it is none.
fn open(delivery: FetchResult, decoder: &mut Decoder) -> Result<Document> {
    let url = delivery.url;
    let answer = match delivery.result {
        Ok(answer) => answer,
        Err((status, detail)) => bail!("{url}: {status}: {detail}"),
    };
    if !answer.status.is_success() {
        bail!("{url}: the server answered {}", answer.status);
    }
    let text = |name| answer.headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
    match decoder.decode(&text(header::CONTENT_ENCODING).unwrap_or_default(), &answer.body) {
        Ok(body) => Ok(Document { url, content_type: text(header::CONTENT_TYPE), body: body.to_vec() }),
        Err(status) => bail!("{url}: {status}: the body cannot be unpacked"),
    }
}

/// A harvest of a few errands; gives the hosts that were given up.
fn deliver(
    urls: &[String],
    kind: Kind,
    queues: BTreeMap<String, Vec<u32>>,
    settings: Settings,
    mut take: impl FnMut(FetchResult),
) -> Result<Vec<(String, &'static str)>> {
    let (results, mut arriving) = mpsc::channel(1);
    // What was asked is written down for harvests only.
    let (events, _) = std::sync::mpsc::channel();
    let (_go_on, stop) = watch::channel(false);
    let harvest = Crawler {
        settings,
        kind,
        source: Errands(urls.to_vec()),
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
        while let Some(delivery) = arriving.recv().await {
            take(delivery);
        }
    };
    let (outcome, ()) = runtime.block_on(async { tokio::join!(harvest.run(queues, Vec::new()), collect) });
    Ok(outcome?.given_up)
}

struct Errands(Vec<String>);

impl JobSource for Errands {
    fn job(&mut self, job: u32) -> Result<FetchJob, Box<dyn std::error::Error + Send + Sync>> {
        Ok(FetchJob { url: self.0[job as usize].clone(), headers: Vec::new() })
    }
}
