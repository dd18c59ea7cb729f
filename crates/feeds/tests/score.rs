//! Accuracy of the parser: agreement with expected results for real feeds.
//!
//! The documents are copyrighted and stay outside the repository; without them the test is skipped with a message. The
//! pinned scores may only rise. `TIDINGS_SCORE=misses cargo test --test score -- --nocapture` lists every disagreement.

use std::collections::BTreeMap;

use base64::Engine;
use serde_json::Value;
use tidings_feeds::{Feed, FeedEntry};

/// Pinned scores, in per cent.
const PIN_PLAIN: f64 = 98.9;
const PIN_DAMAGED: f64 = 99.1;
const PIN_CAPTURED: f64 = 98.2;
const PIN_YIELD: f64 = 100.0;

fn documents() -> Option<Vec<Value>> {
    let text = std::fs::read_to_string(tidings_testing::data("feeds-dev/feeds.jsonl")?).unwrap();
    Some(text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

#[test]
fn parsed_feeds_agree_with_the_expected_ones() {
    let Some(documents) = documents() else { return };
    let show = std::env::var("TIDINGS_SCORE").is_ok();
    let mut groups: BTreeMap<&str, Tally> = BTreeMap::new();
    let mut fields: BTreeMap<&str, Tally> = BTreeMap::new();
    let mut yields = Tally::default();
    for document in &documents {
        let id = document["id"].as_str().unwrap();
        let section = document["section"].as_str().unwrap();
        let body = base64::engine::general_purpose::STANDARD.decode(document["body_base64"].as_str().unwrap()).unwrap();
        let content_type = document["content_type"].as_str().filter(|t| !t.is_empty());
        let feed = tidings_feeds::read(&body, content_type, document["url"].as_str().unwrap()).ok();
        let comparison = Comparison::of(document, feed.as_ref());
        for (field, agreement) in &comparison.fields {
            fields.entry(field).or_default().add(*agreement);
        }
        if document["bozo"] == true && document["must_yield"].as_u64() > Some(0) {
            yields.add(f64::from(feed.is_some_and(|feed| !feed.entries.is_empty())));
        }
        if show {
            for miss in &comparison.misses {
                println!("{id} | {miss}");
            }
        }
        let kind = if section.starts_with("devmut/") { "damaged" } else { "plain" };
        groups.entry(kind).or_default().add(comparison.core());
        groups.entry(section).or_default().add(comparison.core());
    }
    for (name, tally) in groups.iter().chain(&fields).chain([(&"yield", &yields)]) {
        println!("{name:<28} {:6.2} {:4}", tally.mean(), tally.count);
    }
    assert!(groups["plain"].mean() >= PIN_PLAIN, "plain {:.2}", groups["plain"].mean());
    assert!(groups["damaged"].mean() >= PIN_DAMAGED, "damaged {:.2}", groups["damaged"].mean());
    let captured = groups["dev/rssparserjs"].mean();
    assert!(captured >= PIN_CAPTURED, "captured {captured:.2}");
    assert!(yields.mean() >= PIN_YIELD, "yield {:.2}", yields.mean());
}

#[derive(Default)]
struct Tally {
    sum: f64,
    count: u32,
}

impl Tally {
    fn add(&mut self, value: f64) {
        self.sum += value;
        self.count += 1;
    }

    fn mean(&self) -> f64 {
        100.0 * self.sum / f64::from(self.count)
    }
}

/// The comparison of one document with its expected result. Fields in parentheses are reported but not scored.
struct Comparison {
    fields: Vec<(&'static str, f64)>,
    misses: Vec<String>,
}

impl Comparison {
    fn of(document: &Value, feed: Option<&Feed>) -> Comparison {
        let expected = &document["expected"];
        let url = document["url"].as_str().unwrap();
        let wanted = expected["entries"].as_array().unwrap();
        let mut out = Comparison { fields: Vec::new(), misses: Vec::new() };
        let got = feed.map_or(&[][..], |feed| &feed.entries);
        // A truncated document has a minimum number of entries.
        let enough = document["min_entries"].as_u64().is_some_and(|n| (n as usize..=wanted.len()).contains(&got.len()));
        let (few, many) = (got.len().min(wanted.len()), got.len().max(wanted.len()));
        let share = if many == 0 || enough { 1.0 } else { few as f64 / many as f64 };
        if share < 1.0 {
            out.misses.push(format!("entries: {} instead of {}", got.len(), wanted.len()));
        }
        out.fields.push(("entries", share));
        if expected["format"] == "" {
            return out;
        }
        let title = feed.map_or("", |feed| feed.title.as_str());
        let right = either(&expected["title"], &expected["title_alt"], |v| same_title(title, v));
        out.feed_field("f.title", right, &expected["title"], title);
        let site = feed.and_then(|feed| feed.site.as_deref());
        out.feed_field("(f.link)", same_url(site, &expected["link"], url), &expected["link"], site.unwrap_or("-"));
        let language = feed.and_then(|feed| feed.language.as_deref()).unwrap_or("");
        let same = |v: &Value| language.eq_ignore_ascii_case(v.as_str().unwrap_or(""));
        let right = either(&expected["language"], &expected["language_alt"], same);
        out.feed_field("(f.lang)", right, &expected["language"], language);
        let count = if enough { got.len() } else { wanted.len() };
        let mut sums: BTreeMap<&'static str, f64> = BTreeMap::new();
        for (at, entry) in wanted.iter().enumerate() {
            for (field, right, shown) in judge(entry, partner(entry, at, wanted.len(), got, url), url) {
                if !right {
                    let name = if field == "text" { "text_head" } else { field.trim_matches(['(', ')']) };
                    out.misses.push(format!("{field}: wanted {} got {shown}", entry[name]));
                }
                *sums.entry(field).or_default() += f64::from(right);
            }
        }
        out.fields.extend(sums.into_iter().map(|(field, sum)| (field, (sum / count as f64).min(1.0))));
        out
    }

    fn feed_field(&mut self, field: &'static str, right: bool, expected: &Value, got: &str) {
        if !right {
            self.misses.push(format!("{field}: wanted {expected} got {got}"));
        }
        self.fields.push((field, f64::from(right)));
    }

    fn core(&self) -> f64 {
        let core: Vec<f64> = self.fields.iter().filter(|(name, _)| !name.starts_with('(')).map(|f| f.1).collect();
        core.iter().sum::<f64>() / core.len() as f64
    }
}

/// Pairs entries by position if the counts agree, else by id, link or title.
fn partner<'f>(wanted: &Value, at: usize, count: usize, got: &'f [FeedEntry], url: &str) -> Option<&'f FeedEntry> {
    if got.len() == count {
        return got.get(at);
    }
    let by_id = got.iter().find(|e| e.id.is_some() && e.id.as_deref() == wanted["id"].as_str());
    by_id
        .or_else(|| got.iter().find(|e| e.link.is_some() && same_url(e.link.as_deref(), &wanted["link"], url)))
        .or_else(|| got.iter().find(|e| !e.title.is_empty() && same_title(&e.title, &wanted["title"])))
}

fn judge(wanted: &Value, got: Option<&FeedEntry>, url: &str) -> Vec<(&'static str, bool, String)> {
    let Some(got) = got else {
        let fields = ["link", "title", "date", "text", "(id)", "(author)", "(categories)"];
        return fields.map(|field| (field, false, "no entry".to_string())).to_vec();
    };
    let link = got.link.as_deref();
    let link_right = either(&wanted["link"], &wanted["link_alt"], |v| same_url(link, v, url));
    let title_right = either(&wanted["title"], &wanted["title_alt"], |v| same_title(&got.title, v));
    let date = got.date();
    let same_date = |v: &Value| {
        v.as_str().and_then(|v| v.parse::<jiff::Timestamp>().ok()).map(|t| t.as_second()) == date.map(|t| t.as_second())
    };
    let unread = !wanted["published_unread"].is_null() || !wanted["updated_unread"].is_null();
    let date_right = either(&wanted["date"], &wanted["date_alt"], same_date) || (wanted["date"].is_null() && unread);
    let summary = got.summary_as_html();
    let html = got.content_html.as_deref().or(summary.as_deref()).unwrap_or("");
    let text = tidings_feeds::visible_text(html);
    let text_right = either(&wanted["text_head"], &wanted["text_alt"], |v| same_text(&text, v));
    let id = got.id.as_deref();
    let id_right = either(&wanted["id"], &wanted["id_alt"], |v| v.as_str() == id || same_url(id, v, url));
    let author = got.authors.first().map(|a| a.to_string()).unwrap_or_default();
    let name = got.authors.first().map(|a| a.name.clone()).unwrap_or_default();
    let same_author = |v: &Value| {
        let v = squeeze(v.as_str().unwrap_or(""));
        v == squeeze(&author) || v == squeeze(&name)
    };
    let author_right = either(&wanted["author"], &wanted["author_alt"], same_author);
    let set = |v: &Value| {
        let values = v.as_array().into_iter().flatten().filter_map(Value::as_str);
        let mut set: Vec<String> = values.map(squeeze).filter(|c| !c.is_empty()).collect();
        set.sort();
        set.dedup();
        set
    };
    let mut categories: Vec<String> = got.categories.iter().map(|c| squeeze(c)).collect();
    categories.sort();
    let categories_right = set(&wanted["categories"]) == categories || set(&wanted["categories_set_alt"]) == categories;
    vec![
        ("link", link_right, link.unwrap_or("-").to_string()),
        ("title", title_right, got.title.clone()),
        ("date", date_right, format!("{date:?} unread {:?}", got.unread_dates)),
        ("text", text_right, text.chars().take(400).collect()),
        ("(id)", id_right, id.unwrap_or("-").to_string()),
        ("(author)", author_right, author),
        ("(categories)", categories_right, categories.join("|")),
    ]
}

/// Returns true if the expected value or an equally correct one passes the test.
fn either(expected: &Value, others: &Value, test: impl Fn(&Value) -> bool) -> bool {
    test(expected)
        || match others {
            Value::Array(values) => values.iter().any(test),
            Value::Null => false,
            value => test(value),
        }
}

fn squeeze(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn same_title(got: &str, wanted: &Value) -> bool {
    let wanted = wanted.as_str().unwrap_or("");
    squeeze(got) == squeeze(wanted) || tidings_feeds::visible_text(got) == tidings_feeds::visible_text(wanted)
}

fn same_url(got: Option<&str>, wanted: &Value, base: &str) -> bool {
    match (got, wanted.as_str().filter(|w| !w.is_empty())) {
        (None, None) => true,
        (Some(got), Some(wanted)) => normal(got, base) == normal(wanted, base),
        _ => false,
    }
}

/// Normalises a URL: scheme and host in lower case, no default port, percent-decoded.
fn normal(address: &str, base: &str) -> Vec<u8> {
    let joined = url::Url::parse(base).and_then(|base| base.join(address.trim()));
    let text = joined.map_or_else(|_| address.trim().to_string(), String::from);
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let hex = bytes.get(at + 1..at + 3).and_then(|h| std::str::from_utf8(h).ok());
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()).filter(|_| bytes[at] == b'%') {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    out
}

/// Returns true if nine in ten words of the first 400 characters agree.
fn same_text(got: &str, wanted: &Value) -> bool {
    let wanted = squeeze(wanted.as_str().unwrap_or(""));
    let got: String = squeeze(got).chars().take(wanted.chars().count().max(1)).collect();
    if wanted.is_empty() || got.is_empty() {
        return wanted.is_empty() && got.is_empty();
    }
    let mut pool: Vec<&str> = got.split(' ').collect();
    let words: Vec<&str> = wanted.split(' ').collect();
    let common = words.iter().filter(|word| {
        let found = pool.iter().position(|other| other == *word);
        found.map(|at| pool.swap_remove(at)).is_some()
    });
    got == wanted || common.count() as f64 >= 0.9 * words.len() as f64
}
