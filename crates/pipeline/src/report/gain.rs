//! Yield of each feed: pages, documents, text, and the concentration of the text in few feeds.

use tidings_store::feeds::SourceKind;

use super::matter::{FeedGain, Matter};
use super::page::{Numbers, Section};
use super::svg::Svg;
use crate::display::bytes;
use crate::display::{count, grouped};

/// Feeds that are shown from the top and from the bottom.
const BEST: usize = 25;
const WORST: usize = 15;
const WIDTH: f64 = 1040.0;
const HEIGHT: f64 = 220.0;
const LEFT: f64 = 56.0;
const BELOW: f64 = 26.0;

pub fn section(matter: &Matter) -> Section {
    let feeds = &matter.feeds;
    let all: u64 = feeds.iter().map(|feed| feed.sum.clean).sum();
    let mut table =
        Numbers::new(&["feed", "state", "pages", "documents", "of pages", "text", "yield", "share", "cumulated"], 2);
    let mut so_far = 0;
    let cumulated: Vec<u64> = feeds
        .iter()
        .map(|feed| {
            so_far += feed.sum.clean;
            so_far
        })
        .collect();
    let row = |feed: &FeedGain, so_far: u64| {
        let percent = |part: u64, whole: u64| format!("{:.1} %", 100.0 * part as f64 / whole.max(1) as f64);
        vec![
            name(feed),
            feed.condition.word().to_owned(),
            grouped(feed.sum.pages),
            grouped(feed.sum.documents),
            percent(feed.sum.documents, feed.sum.pages),
            bytes(feed.sum.clean as f64),
            format!("{:.2} %", 100.0 * feed.sum.rate()),
            percent(feed.sum.clean, all),
            percent(so_far, all),
        ]
    };
    let rows = feeds.iter().zip(&cumulated).map(|(feed, so_far)| row(feed, *so_far));
    // The best, and the worst of those that cost something.
    let mut rows: Vec<Vec<String>> = rows.collect();
    let hidden = rows.len().saturating_sub(BEST + WORST);
    if hidden > 0 {
        let between = [format!("… {} between", count(hidden as u64, "feed"))].into_iter();
        let between = between.chain(std::iter::repeat_n(String::new(), table.columns.len() - 1)).collect();
        rows.splice(BEST..BEST + hidden, [between]);
    }
    table.rows = rows;
    let half = cumulated.iter().position(|so_far| so_far * 2 >= all).map_or(0, |at| at as u64 + 1);
    let silent = feeds.iter().filter(|feed| feed.sum.pages == 0).count() as u64;
    let lead = match all {
        0 => format!("{}, none of which yielded text in this period.", count(feeds.len() as u64, "feed")),
        _ => format!(
            "Half of the text comes from {} of {}; {} yielded no page.",
            grouped(half),
            count(feeds.len() as u64, "feed"),
            grouped(silent)
        ),
    };
    Section {
        id: "feeds",
        title: "Yield of feeds",
        lead,
        chart: chart(&cumulated, all),
        legend: Vec::new(),
        table,
        open: true,
    }
}

/// The URL without scheme and `www.`, and the title if there is one.
fn name(feed: &FeedGain) -> String {
    let address = feed.feed.split_once("://").map_or(feed.feed.as_str(), |(_, rest)| rest);
    let kind = match feed.kind {
        SourceKind::Feed => String::new(),
        SourceKind::Page | SourceKind::Sitemap => format!(", {}", feed.kind.word()),
    };
    match feed.title.is_empty() {
        true => format!("{address}{kind}"),
        false => format!("{address} ({}){kind}", feed.title.chars().take(60).collect::<String>()),
    }
}

/// The cumulative share of text by feed, best feeds first.
fn chart(cumulated: &[u64], all: u64) -> String {
    if all == 0 {
        return String::new();
    }
    let feeds = cumulated.len();
    let x = |rank: f64| LEFT + (WIDTH - LEFT) * rank / feeds as f64;
    let y = |share: f64| 8.0 + (HEIGHT - 8.0 - BELOW) * (1.0 - share);
    let mut svg = Svg::new(WIDTH, HEIGHT);
    for share in [0.0, 0.25, 0.5, 0.75, 1.0] {
        svg.line([LEFT, y(share), WIDTH, y(share)], "axis");
        svg.text(LEFT - 8.0, y(share) + 4.0, "end", &format!("{:.0} %", share * 100.0));
    }
    // Only as many points as can be distinguished.
    let step = feeds.div_ceil(400);
    let mut before = (x(0.0), y(0.0));
    for (at, so_far) in cumulated.iter().enumerate().filter(|(at, _)| (at + 1) % step == 0 || at + 1 == feeds) {
        let point = (x(at as f64 + 1.0), y(*so_far as f64 / all as f64));
        svg.line([before.0, before.1, point.0, point.1], "curve");
        before = point;
    }
    for part in [0.25, 0.5, 0.75, 1.0] {
        let rank = (feeds as f64 * part).round();
        svg.text(x(rank), HEIGHT - 8.0, if part < 1.0 { "middle" } else { "end" }, &count(rank as u64, "feed"));
    }
    svg.finish("feeds", "Cumulative share of text by feed, best feeds first")
}
