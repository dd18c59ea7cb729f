//! New words as an RSS 2.0 feed.

use std::fmt::Write as _;

use jiff::civil::Date;
use serde_json::{Map, Value};
use url::form_urlencoded::Serializer;

/// Renders an answer of `new-words` as RSS. `base` is the URL of the server, `link` the path and query of the request.
pub(crate) fn render(answer: &Map<String, Value>, rows: &[Value], base: &str, link: &str) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let nothing = Value::Null;
    let about = answer.get("about").unwrap_or(&nothing);
    let lang = text(&about["corpus"]);
    let since = text(answer.get("since").unwrap_or(&nothing));
    let page = |pairs: &[(&str, &str)]| {
        let query = Serializer::new(String::new()).append_pair("lang", &lang).extend_pairs(pairs).finish();
        format!("{base}/?{query}")
    };
    let mut feed = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<rss version=\"2.0\" xmlns:atom=\"http://www.w3.org/2005/Atom\">\n<channel>\n",
    );
    element(&mut feed, "title", &format!("New words ({lang})"));
    element(&mut feed, "link", &page(&[("view", "new-words")]));
    element(&mut feed, "description", &format!("Words first used on or after {since}, by number of sites"));
    element(&mut feed, "language", &lang);
    element(&mut feed, "generator", concat!("Tidings ", env!("CARGO_PKG_VERSION")));
    let own = escaped(&format!("{base}{link}"));
    let _ = writeln!(feed, "<atom:link href=\"{own}\" rel=\"self\" type=\"application/rss+xml\"/>");
    for row in rows {
        let (word, first_seen) = (text(&row["value"]), text(&row["first_seen"]));
        feed.push_str("<item>\n");
        element(&mut feed, "title", &word);
        element(&mut feed, "link", &page(&[("q", &word)]));
        element(&mut feed, "description", &summary(row));
        if let Ok(day) = first_seen.parse::<Date>() {
            element(&mut feed, "pubDate", &day.strftime("%a, %d %b %Y 00:00:00 +0000").to_string());
        }
        let _ = writeln!(feed, "<guid isPermaLink=\"false\">{}</guid>", escaped(&format!("tidings:{lang}:{word}")));
        feed.push_str("</item>\n");
    }
    feed.push_str("</channel>\n</rss>\n");
    feed
}

/// A one-sentence summary of a word.
fn summary(row: &Value) -> String {
    let count = |name: &str, one: &str| {
        let number = row[name].as_u64().unwrap_or(0);
        format!("{number} {one}{}", if number == 1 { "" } else { "s" })
    };
    let fate = match row["fate"].as_str() {
        Some("lasting") => "still in use",
        Some("burst") => "not used since",
        _ => "too recent to tell whether it lasts",
    };
    let [documents, sites, days] =
        [("documents", "document"), ("sites", "site"), ("days", "day")].map(|(name, one)| count(name, one));
    let first = row["first_seen"].as_str().unwrap_or_default();
    format!("First seen on {first}: {} in {documents} of {sites} on {days}; {fate}.", count("hits", "hit"))
}

pub(crate) fn element(feed: &mut String, name: &str, text: &str) {
    let _ = writeln!(feed, "<{name}>{}</{name}>", escaped(text));
}

/// Text escaped for XML; control characters that XML 1.0 forbids are dropped.
pub(crate) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\t' | '\n' | '\r' => escaped.push(' '),
            c if c < ' ' || matches!(c, '\u{fffe}' | '\u{ffff}') => {}
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn words_become_items_and_markup_is_escaped() {
        let answer = json!({ "about": { "corpus": "en" }, "since": "2026-06-01" });
        let rows = [json!({ "value": "a<b&c\u{1}", "first_seen": "2026-06-02", "hits": 7, "documents": 5, "sites": 3,
            "days": 1, "fate": "lasting" })];
        let feed =
            render(answer.as_object().unwrap(), &rows, "http://localhost:7878", "/api/v1/en/new-words?format=rss");
        assert!(feed.contains("<title>a&lt;b&amp;c</title>"), "{feed}");
        assert!(feed.contains("<pubDate>Tue, 02 Jun 2026 00:00:00 +0000</pubDate>"), "{feed}");
        assert!(feed.contains("<link>http://localhost:7878/?lang=en&amp;q=a%3Cb%26c%01</link>"), "{feed}");
        assert!(feed.contains("7 hits in 5 documents of 3 sites on 1 day; still in use."), "{feed}");
        assert!(feed.contains("href=\"http://localhost:7878/api/v1/en/new-words?format=rss\" rel=\"self\""), "{feed}");
    }
}
