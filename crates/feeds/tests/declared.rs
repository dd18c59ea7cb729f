//! Recall of the feeds that real pages declare, compared with a plain reading of their `<link>` tags. The pages
//! are development data outside this repository; without them the test is skipped with a message.

use std::collections::{BTreeMap, HashSet};
use std::io::{BufRead, BufReader};

/// The pinned recall; it may only rise.
const RECALL: f64 = 0.985;

const SETS: &[&str] = &["trafi", "wcxb", "andy", "fundus"];
const TYPES: &[&str] = &["application/rss+xml", "application/atom+xml", "application/feed+json", "application/rdf+xml"];

#[test]
fn declared_feeds_are_found_and_nothing_that_is_none() {
    let Some(folder) = tidings_testing::data("extract-dev") else { return };
    let (mut declared, mut found) = (0, 0);
    for set in SETS {
        let file = std::fs::File::open(folder.join(format!("{set}.jsonl.zst"))).unwrap();
        let mut decoder = zstd::Decoder::new(file).unwrap();
        decoder.window_log_max(27).unwrap();
        for line in BufReader::new(decoder).lines() {
            let page: serde_json::Value = serde_json::from_str(&line.unwrap()).unwrap();
            let (html, url) = (page["html"].as_str().unwrap(), page["url"].as_str().unwrap_or("http://page.example/"));
            let links = tidings_feeds::links::find(html.as_bytes(), url);
            let got: HashSet<String> = links.iter().map(|link| spelling(&link.url)).collect();
            for link in &got {
                let trap = ["oembed", "/wp-json", "/comments/feed", "comments/default"]
                    .iter()
                    .find(|trap| link.contains(**trap));
                assert_eq!(trap, None, "{link} on {url}");
            }
            for feed in plainly_declared(html, url) {
                declared += 1;
                found += usize::from(got.contains(&spelling(&feed)));
            }
        }
    }
    let recall = found as f64 / declared as f64;
    println!("{found} of {declared} declared feeds found: {:.2} %", 100.0 * recall);
    assert!(declared > 500 && recall >= RECALL);
}

/// The feeds declared in `<link>` tags, without comment feeds.
fn plainly_declared(html: &str, url: &str) -> Vec<String> {
    let Ok(base) = url::Url::parse(url) else { return Vec::new() };
    let mut feeds = Vec::new();
    for piece in html.split("<link ").skip(1) {
        let tag = &piece[..piece.find('>').unwrap_or(piece.len())];
        let attributes: BTreeMap<String, &str> = tag
            .split('"')
            .collect::<Vec<_>>()
            .chunks(2)
            .filter(|pair| pair.len() == 2)
            .map(|pair| (pair[0].trim().trim_end_matches('=').to_ascii_lowercase(), pair[1]))
            .collect();
        let get = |name: &str| attributes.get(name).copied().unwrap_or_default();
        let words = format!("{} {}", get("href"), get("title")).to_lowercase();
        let about_comments = ["comment", "kommentar", "comentario"].iter().any(|word| words.contains(word));
        if get("rel").eq_ignore_ascii_case("alternate") && TYPES.contains(&get("type")) && !about_comments {
            feeds.extend(base.join(&get("href").replace("&amp;", "&")).ok().map(String::from));
        }
    }
    feeds
}

fn spelling(url: &str) -> String {
    let plain = url.split('#').next().unwrap_or_default().trim_end_matches('/').to_ascii_lowercase();
    plain.replace("https://", "http://").replace("&#038;", "&").replace("&amp;", "&")
}
