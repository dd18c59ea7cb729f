//! `tidings feed`: shows a feed from a file, the web or standard input; with `--jsonl` as a filter.

use std::fmt::Write as _;
use std::io::{Read as _, stdin};
use std::path::Path;

use anyhow::{Context as _, Result};
use tidings_feeds::{Feed, FeedEntry, UpdateHints};
use tidings_pipeline::display::count;
use tidings_pipeline::filter::{self, feed::ReadFeed};
use tidings_pipeline::parallel;

use super::Report;
use crate::args::Global;
use crate::console;

#[derive(Debug, clap::Args)]
#[command(after_help = "With --jsonl: reads and writes one JSON object per line, in the same order:\n  \
    in   {\"id\", \"url\", \"content_type\", \"body_base64\"}\n  \
    out  {\"id\", \"format\", \"title\", \"language\", \"entries\": [{\"link\", \"title\", \"id\", \"published\", \
    \"updated\", \"author\", \"categories\", \"summary\", \"content_html\"}]} or {\"id\", \"error\"}")]
pub struct Args {
    /// File, URL, or `-` for standard input
    #[arg(value_name = "FILE|URL|-", required_unless_present = "jsonl", conflicts_with = "jsonl")]
    source: Option<String>,
    /// Base URL of relative links, if the feed is a file [default: URL of the feed]
    #[arg(long, value_name = "URL", conflicts_with = "jsonl")]
    base: Option<String>,
    /// Read feeds as JSON lines from standard input, and write their contents as JSON lines
    #[arg(long)]
    jsonl: bool,
    /// Allow requests to non-public IP addresses: all, or only these networks
    #[arg(long, value_name = "NETWORK", num_args = 0.., value_delimiter = ',', require_equals = true,
          default_missing_values = ["0.0.0.0/0", "::/0"])]
    allow_private: Option<Vec<String>>,
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    if args.jsonl {
        // Input that is not a feed is reported in its output line and is not a failure.
        filter::run(&ReadFeed, stdin(), parallel::cores(), console::print_bytes)?;
        return Ok(Report::default());
    }
    let source = args.source.as_deref().unwrap_or("-");
    let base = args.base.as_deref().unwrap_or("");
    let feed = if source == "-" {
        let mut body = Vec::new();
        stdin().lock().read_to_end(&mut body).context("cannot read standard input")?;
        read(&body, None, base).context("standard input")?
    } else if let Some(url) = as_address(source) {
        let document = super::http_get(global, args.allow_private.as_deref())?.feed(&url)?;
        let base = args.base.as_deref().unwrap_or(&document.url);
        read(&document.body, document.content_type.as_deref(), base).context(document.url.clone())?
    } else {
        let body = std::fs::read(source).with_context(|| format!("cannot read {source}"))?;
        read(&body, None, base).with_context(|| source.to_owned())?
    };
    let json = serde_json::to_value(&feed).context("cannot write the feed as JSON")?;
    Ok(Report { text: describe(&feed), json, ..Report::default() })
}

fn read(body: &[u8], content_type: Option<&str>, base: &str) -> Result<Feed> {
    filter::feed::read(body, content_type, base).map_err(anyhow::Error::msg)
}

/// The URL in `source`, unless there is a file of that name.
fn as_address(source: &str) -> Option<String> {
    let source = source.strip_prefix("feed:").map_or(source, |rest| rest.trim_start_matches("//"));
    let scheme = source.split_once("://").map(|parts| parts.0.to_ascii_lowercase());
    match scheme.as_deref() {
        Some("http" | "https") if !Path::new(source).exists() => Some(source.to_owned()),
        _ => None,
    }
}

/// A feed as text.
fn describe(feed: &Feed) -> String {
    let mut text = format!("{}\n", or_dash(&feed.title));
    let format = match &feed.version {
        Some(version) => format!("{} {}", feed.format.to_string().to_uppercase(), plain(version)),
        None => feed.format.to_string().to_uppercase(),
    };
    let mut row = |name: &str, value: &str| {
        if !value.is_empty() {
            let _ = writeln!(text, "{name:<10}{}", plain(value));
        }
    };
    row("format", &format!("{format}, {}", feed.encoding));
    row("about", feed.subtitle.as_deref().unwrap_or_default());
    row("site", feed.site.as_deref().unwrap_or_default());
    row("language", feed.language.as_deref().unwrap_or_default());
    row("licence", feed.licence.as_deref().or(feed.rights.as_deref()).unwrap_or_default());
    row("generator", feed.generator.as_deref().unwrap_or_default());
    row("hub", &feed.hubs.join(" "));
    row("polling", &polling_hints(&feed.pace));
    row("repairs", &feed.repairs.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "));
    let linkless = match feed.entries.iter().filter(|entry| entry.link.is_none()).count() {
        0 => String::new(),
        number => format!(", {number} without a link"),
    };
    let _ = writeln!(text, "\n{}{linkless}", count(feed.entries.len() as u64, "entry"));
    for entry in &feed.entries {
        describe_entry(entry, &mut text);
    }
    text
}

fn describe_entry(entry: &FeedEntry, text: &mut String) {
    let date = entry.date().map(|date| date.strftime("%Y-%m-%d %H:%M").to_string());
    let _ = writeln!(text, "{:<16}  {}", date.as_deref().unwrap_or("no date"), or_dash(&entry.title));
    let link = entry.link.as_deref().map_or("(no link)".to_owned(), plain);
    let _ = writeln!(text, "{:<16}  {link}", "");
}

/// The polling hints of a feed.
fn polling_hints(pace: &UpdateHints) -> String {
    let mut hints = Vec::new();
    if let Some(minutes) = pace.ttl_minutes {
        hints.push(format!("ttl {minutes} min"));
    }
    if let Some(period) = pace.update_period {
        let period = format!("{period:?}").to_lowercase();
        match pace.update_frequency {
            Some(times) if times > 1 => hints.push(format!("{period}, {times} times")),
            _ => hints.push(period),
        }
    }
    if !pace.skip_hours.is_empty() {
        let hours: Vec<String> = pace.skip_hours.iter().map(u8::to_string).collect();
        hints.push(format!("skip hours {} GMT", hours.join(", ")));
    }
    if !pace.skip_days.is_empty() {
        let days: Vec<String> = pace.skip_days.iter().map(|day| format!("{day:?}")).collect();
        hints.push(format!("skip days {}", days.join(", ")));
    }
    hints.join("; ")
}

fn or_dash(title: &str) -> String {
    if title.trim().is_empty() { "—".to_owned() } else { plain(title) }
}

/// Replaces control characters, so that a feed cannot send escape sequences to the terminal.
fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(body: &str) -> String {
        describe(&read(body.as_bytes(), None, "https://a.example/feed").unwrap())
    }

    #[test]
    fn a_feed_is_shown_with_polling_hints_repairs_and_entries() {
        let text = shown(
            "<rss version='2.0'><channel><title>Gazette</title><link>https://a.example/</link><language>en</language>\
             <ttl>90</ttl><skipDays><day>Sunday</day></skipDays><item><title>Salt & pepper</title><link>/salt</link>\
             <pubDate>Mon, 02 Mar 2026 12:30:00 +0100</pubDate></item><item><link>/b</link></item></channel></rss>",
        );
        for part in [
            "Gazette\n",
            "format    RSS 2.0, UTF-8\n",
            "site      https://a.example/\n",
            "language  en\n",
            "polling   ttl 90 min; skip days Sunday\n",
            "repairs   an ampersand is not escaped\n",
            "2 entries\n",
            "2026-03-02 11:30  Salt & pepper\n                  https://a.example/salt\n",
            "no date           —\n                  https://a.example/b\n",
        ] {
            assert!(text.contains(part), "{part:?} is not in\n{text}");
        }
    }

    #[test]
    fn titles_cannot_send_escape_sequences_to_the_terminal() {
        let text = shown(
            r#"{"version":"https://jsonfeed.org/version/1","title":"a\u001b[2Jb","items":[{"id":"1","title":"\u0007x\ny"}]}"#,
        );
        assert!(!text.contains(['\u{1b}', '\u{7}']), "{text:?}");
    }

    #[test]
    fn entries_without_a_link_are_counted_and_marked() {
        let item = "<item><title>A</title></item><item><title>B</title><link>/b</link></item>";
        let text = shown(&format!("<rss version='2.0'><channel><title>G</title>{item}</channel></rss>"));
        assert!(text.contains("2 entries, 1 without a link\n"), "{text}");
        assert!(text.contains("no date           A\n                  (no link)\n"), "{text}");
    }

    #[test]
    fn only_http_urls_are_fetched() {
        assert_eq!(as_address("https://a.example/f").as_deref(), Some("https://a.example/f"));
        assert_eq!(as_address("feed://https://a.example/f").as_deref(), Some("https://a.example/f"));
        assert_eq!(as_address("file:///etc/passwd"), None);
        assert_eq!(as_address("feed.xml"), None);
    }
}
