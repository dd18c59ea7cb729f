//! One feed, asked for politely: by the same client as a harvest, with the same guards.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use http::header;
use tidings_fetch::decode::Decoder;
use tidings_fetch::{Delivery, Desk, Errand, Gauge, Harvest, Kind, Queue};
use tidings_model::address;
use tokio::sync::{mpsc, watch};

use crate::args::Global;
use crate::config::Config;

/// A document as it came.
pub struct Document {
    /// Where it was in the end.
    pub url: String,
    pub content_type: Option<String>,
    pub body: Vec<u8>,
}

/// Asks for a feed. The settings are those of the home, if there is one.
pub fn ask(url: &str, allow_private: Option<&[String]>, global: &Global) -> Result<Document> {
    let (mut config, settings_file) = match super::super::open_home(global) {
        Ok((home, config)) => (config, Some(home.settings())),
        // Whoever names a home means it; otherwise none is needed.
        Err(error) if global.home.is_some() => return Err(error),
        Err(_) => (Config::without_home(&|name| std::env::var(name).ok())?, None),
    };
    config.fetch.allow_private.extend(allow_private.unwrap_or_default().iter().cloned());
    let host = address::normalise(url, None).and_then(|url| address::host(&url).map(str::to_owned));
    let Some(host) = host else { return super::refuse(url, "this is not a web address") };
    if let Some(host) = super::super::asked_without_contact(&config, std::iter::once(host.as_str())) {
        let place = match settings_file {
            Some(path) => format!("set `contact` in the [fetch] table of {}", path.display()),
            None => "set TIDINGS_FETCH_CONTACT".to_owned(),
        };
        let advice = "to a web page or mail address that publishers can turn to";
        return super::refuse(url, format!("nobody would know who asks {host}: {place} {advice}"));
    }

    let settings = config.for_feeds(fastrand::u64(..))?;
    let mut decoder = Decoder::new(settings.ceiling());
    let delivery = deliver(url, host, settings)?;
    let answer = match delivery.result {
        Ok(answer) => answer,
        Err((status, detail)) => return super::refuse(&delivery.url, format!("{status}: {detail}")),
    };
    if !answer.status.is_success() {
        return super::refuse(&delivery.url, format!("the server answered {}", answer.status));
    }
    let text = |name| answer.headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
    let body = match decoder.decode(&text(header::CONTENT_ENCODING).unwrap_or_default(), &answer.body) {
        Ok(body) => body,
        Err(status) => return super::refuse(&delivery.url, format!("{status}: the body cannot be unpacked")),
    };
    Ok(Document { url: delivery.url, content_type: text(header::CONTENT_TYPE), body: body.to_vec() })
}

/// A harvest of one errand.
fn deliver(url: &str, host: String, settings: tidings_fetch::Settings) -> Result<Delivery> {
    let (deliveries, mut arriving) = mpsc::channel(1);
    // What was asked is written down for harvests only.
    let (events, _) = std::sync::mpsc::channel();
    let (_go_on, stop) = watch::channel(false);
    let harvest = Harvest {
        settings,
        kind: Kind::Feed,
        desk: OneErrand(url.to_owned()),
        deliveries,
        events,
        stop,
        gauge: Arc::new(Gauge::default()),
        file_limit: 256,
        everybody_rested: None,
    };
    let queue = Queue { host, tickets: vec![0], ..Queue::default() };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (outcome, delivery) =
        runtime.block_on(async { tokio::join!(harvest.run(vec![queue], Vec::new()), arriving.recv()) });
    let given_up = outcome?.given_up;
    let reason = given_up.first().map_or("there was no answer", |row| row.1);
    delivery.with_context(|| format!("{url}: {reason}"))
}

struct OneErrand(String);

impl Desk for OneErrand {
    fn errand(&mut self, _: u32) -> Result<Errand, Box<dyn std::error::Error + Send + Sync>> {
        Ok(Errand { url: self.0.clone(), headers: Vec::new() })
    }
}
