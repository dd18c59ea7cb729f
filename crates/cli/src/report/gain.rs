//! What each feed is worth: pages, documents, text.

use super::matter::{FeedGain, Matter};
use super::page::{Numbers, Section};
use crate::cmd::status::bytes;
use crate::console::{count, grouped};

/// Feeds that are shown from the top and from the bottom.
const SHOWN: usize = 40;

pub fn section(matter: &Matter) -> Section {
    let feeds = &matter.feeds;
    let all: u64 = feeds.iter().map(|feed| feed.sum.clean).sum();
    let mut table = Numbers::new(
        &[
            "feed",
            "title",
            "state",
            "pages",
            "documents",
            "documents of pages",
            "text",
            "yield",
            "share of text",
            "cumulated",
        ],
        3,
    );
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
            feed.feed.clone(),
            feed.title.chars().take(60).collect(),
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
    let hidden = rows.len().saturating_sub(2 * SHOWN);
    if hidden > 0 {
        let between = vec![format!("… {} between", count(hidden as u64, "feed"))];
        let between = between.into_iter().chain(std::iter::repeat_n(String::new(), 9)).collect();
        rows.splice(SHOWN..SHOWN + hidden, [between]);
    }
    table.rows = rows;
    let half = cumulated.iter().position(|so_far| so_far * 2 >= all).map_or(0, |at| at as u64 + 1);
    let silent = feeds.iter().filter(|feed| feed.sum.pages == 0).count() as u64;
    let lead = match all {
        0 => format!("{}, none of which brought text in these days.", count(feeds.len() as u64, "feed")),
        _ => format!(
            "Half of the text comes from {} of {}; {} brought no page.",
            grouped(half),
            count(feeds.len() as u64, "feed"),
            grouped(silent)
        ),
    };
    Section {
        id: "feeds",
        title: "What each feed brought",
        lead,
        chart: String::new(),
        legend: Vec::new(),
        table,
        open: true,
    }
}
