//! Damages well-formed feeds in the ways publishers do; the parsed feed must not change.
//!
//! The feeds are the fixtures and, if available, the development documents. Damage that necessarily loses or adds
//! something (a truncation, markup in a title) declares it.

use std::fs;
use std::path::Path;

use base64::Engine;
use proptest::prelude::*;
use tidings_feeds::{Feed, FeedFormat, read};

const URL: &str = "https://feeds.example/feed";

/// A kind of damage: its name, the function (`None` if it does not apply), and the text that it adds to the title
/// of the first entry.
type Damage = (&'static str, fn(&str) -> Option<String>, &'static str);

const DAMAGES: &[Damage] = &[
    ("bare ampersand in a title", |t| in_text(t, "title", " & "), " & "),
    ("bare less-than in a title", |t| in_text(t, "title", " 3 < 4 "), " 3 < 4 "),
    ("bare less-than before a letter", |t| in_text(t, "title", " a <b and c "), " a <b and c "),
    ("unknown entity", |t| in_text(t, "title", " &unheard; "), " &unheard; "),
    ("html entity", |t| in_text(t, "title", "&hellip;"), "…"),
    ("windows number", |t| in_text(t, "title", "it&#146;s"), "it’s"),
    ("vertical tab as a number", |t| in_text(t, "title", "&#11;"), ""),
    ("control character", |t| in_text(t, "title", "\u{b}"), ""),
    ("comment in text", |t| in_text(t, "title", "<!-- x -->"), ""),
    ("instruction in text", |t| in_text(t, "title", "<?php echo 1 ?>"), ""),
    ("stray end tag in a title", |t| in_text(t, "title", "</b>"), ""),
    ("stray end tag between fields", |t| before_end(t, "</foo></p>"), ""),
    ("unknown element", |t| before_end(t, "<foo:bar><baz>x</baz></foo:bar>"), ""),
    ("unclosed unknown element", |t| before_end(t, "<foo>x"), ""),
    ("missing end of the title", |t| remove_first(t, "</title>"), ""),
    ("missing end of an entry", |t| remove_first(t, "</item>").or_else(|| remove_first(t, "</entry>")), ""),
    ("missing end of all entries", |t| Some(t.replace("</item>", "").replace("</entry>", "")), ""),
    ("missing end of the channel", |t| remove_first(t, "</channel>"), ""),
    ("missing end of the root", |t| Some(t[..t.rfind("</")?].to_string()), ""),
    (
        "upper-case tags",
        |t| ["xml:base", "CDATA", "xhtml", "\"xml\""].iter().all(|odd| !t.contains(odd)).then(|| upper(t)),
        "",
    ),
    ("no declaration", |t| Some(t[t.find("?>")? + 2..].to_string()), ""),
    ("space in front", |t| Some(format!("\n \t{t}")), ""),
    ("text in front", |t| Some(format!("Notice: x < 3\n{t}")), ""),
    ("warning in front", |t| Some(format!("<br />\n<b>Warning</b>: x in <b>/a/b.php</b><br />\n{t}")), ""),
    ("bad instruction in front", |t| Some(format!("<?php  \n{t}")), ""),
    ("mark in front", |t| Some(format!("\u{feff}\u{feff}{t}")), ""),
    ("script behind", |t| Some(format!("{t}<script>if (a < b && c) write('<b>');</script><!-- x")), ""),
    ("zero bytes behind", |t| Some(format!("{t}\0\0\0")), ""),
    ("second document behind", |t| Some(format!("{t}<html><body><p>x</p></body></html>")), ""),
    ("document type", |t| after_declaration(t, "<!DOCTYPE rss SYSTEM \"http://x.example/rss.dtd\">"), ""),
    ("document type with entities", |t| after_declaration(t, "<!DOCTYPE rss [<!ENTITY a \"b\"> %x; ]>"), ""),
    ("stylesheet", |t| after_declaration(t, "<?xml-stylesheet type=\"text/xsl\" href=\"a.xsl\"?>"), ""),
    ("open instruction", |t| after_declaration(t, "<?xml-stylesheet href=\"a.xsl\">"), ""),
    ("declared utf-16", |t| declared(t, "utf-16"), ""),
    ("declared latin", |t| declared(t, "iso-8859-1"), ""),
    ("declared nonsense", |t| declared(t, "x-unheard-of"), ""),
    ("xml 1.1", |t| Some(t.replacen("<?xml version=\"1.0\"", "<?xml version=\"1.1\"", 1)), ""),
    ("carriage returns", |t| (!t.contains("CDATA")).then(|| t.replace('\n', "\r\n")), ""),
    ("no version", |t| t.contains("<rss version=\"2.0\"").then(|| t.replacen("<rss version=\"2.0\"", "<rss", 1)), ""),
    ("default namespace", |t| Some(t.replacen("<rss ", "<rss xmlns=\"http://x.example/ns\" ", 1)), ""),
    (
        "no namespaces",
        |t| {
            let (head, body) = t.split_at(entry(t)?);
            (!t.contains("xmlns:a=")).then(|| without_namespaces(head) + body)
        },
        "",
    ),
    ("doubled attribute", |t| Some(t.replacen("<rss ", "<rss version=\"9\" version=\"9\" ", 1)), ""),
    ("markup around", |t| Some(format!("<html><body>{t}</body></html>")), ""),
];

/// The start of the first entry.
fn entry(text: &str) -> Option<usize> {
    ["<item>", "<item ", "<entry>", "<entry "].iter().filter_map(|tag| text.find(tag)).min()
}

/// Appends text to the first element of that name inside an entry.
fn in_text(text: &str, name: &str, what: &str) -> Option<String> {
    let from = entry(text)?;
    let end = from + text[from..].find(&format!("</{name}>"))?;
    let open = text[..end].rfind('<')?;
    // Plain text only: CDATA and markup follow other rules.
    let plain = text[open..].starts_with(&format!("<{name}>")) && !text[open..end].contains('&');
    plain.then(|| format!("{}{what}{}", &text[..end], &text[end..]))
}

fn before_end(text: &str, what: &str) -> Option<String> {
    let end = text.find("</item>").or_else(|| text.find("</entry>"))?;
    Some(format!("{}{what}{}", &text[..end], &text[end..]))
}

fn remove_first(text: &str, what: &str) -> Option<String> {
    let from = entry(text)?;
    let at = from + text[from..].find(what)?;
    Some(format!("{}{}", &text[..at], &text[at + what.len()..]))
}

fn after_declaration(text: &str, what: &str) -> Option<String> {
    let at = text.starts_with("<?xml").then(|| text.find("?>"))?? + 2;
    (!text.contains("<!DOCTYPE")).then(|| format!("{}\n{what}{}", &text[..at], &text[at..]))
}

fn declared(text: &str, encoding: &str) -> Option<String> {
    let rest = &text[text.starts_with("<?xml").then(|| text.find("?>"))?? + 2..];
    Some(format!("<?xml version=\"1.0\" encoding=\"{encoding}\"?>{rest}"))
}

fn without_namespaces(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(" xmlns:") {
        out.push_str(&rest[..at]);
        let tail = &rest[at..];
        let Some(open) = tail.find(['"', '\'']) else {
            break;
        };
        let quote = &tail[open..=open];
        let Some(close) = tail[open + 1..].find(quote) else {
            break;
        };
        rest = &tail[open + close + 2..];
    }
    out + rest
}

fn upper(text: &str) -> String {
    let mut out = String::new();
    let mut in_name = false;
    for c in text.chars() {
        in_name = match c {
            '<' => true,
            '/' if in_name && out.ends_with('<') => true,
            c if c.is_alphanumeric() || c == ':' => in_name,
            _ => false,
        };
        out.extend(if in_name { c.to_uppercase().next() } else { Some(c) });
    }
    out
}

/// The values that must survive. White space is ignored.
fn essence(feed: &Feed, added: &str) -> Vec<String> {
    let mut lines = vec![format!("{:?} {}", feed.format, feed.title)];
    for (at, entry) in feed.entries.iter().enumerate() {
        let title = if at == 0 { format!("{}{added}", entry.title) } else { entry.title.clone() };
        let text = entry.content_html.as_ref().or(entry.summary.as_ref()).map(|text| words(text));
        lines.push(format!("{:?} {} {:?} {:?} {text:?}", entry.link, words(&title), entry.id, entry.date()));
    }
    lines
}

fn words(text: &str) -> String {
    text.split_whitespace().collect()
}

/// Well-formed XML feeds: the fixtures, and the development documents if available.
fn good_feeds() -> Vec<(String, String)> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut feeds = Vec::new();
    for folder in ["rss", "rdf", "atom"] {
        for file in
            fs::read_dir(here.join("../../fixtures/feeds").join(folder)).expect("fixtures are in the repository")
        {
            let path = file.expect("a file").path();
            if path.extension().is_some_and(|e| e == "xml") {
                feeds.push((path.display().to_string(), fs::read_to_string(path).expect("UTF-8")));
            }
        }
    }
    // Without the development documents only the fixtures are tested.
    let documents = tidings_testing::data("feeds-dev/feeds.jsonl").map(|path| fs::read_to_string(path).expect("UTF-8"));
    let documents = documents.unwrap_or_default();
    for line in documents.lines() {
        let record: serde_json::Value = serde_json::from_str(line).expect("JSON lines");
        let body = base64::engine::general_purpose::STANDARD.decode(record["body_base64"].as_str().expect("a body"));
        let Ok(text) = String::from_utf8(body.expect("base 64")) else {
            continue;
        };
        if record["bozo"] == false && record["expected"]["entries"][0].is_object() && !text.starts_with('{') {
            feeds.push((record["id"].as_str().expect("an id").to_string(), text));
        }
    }
    // A lone entry is a feed only if nothing surrounds it.
    feeds.retain(|(_, text)| !text.contains("<entry") || text.contains("<feed") || text.contains(":feed"));
    feeds.retain(|(_, text)| {
        read(text.as_bytes(), None, URL).is_ok_and(|feed| feed.repairs.is_empty() && feed.format != FeedFormat::Json)
    });
    feeds
}

#[test]
fn damaged_feeds_parse_as_before() {
    let (mut tried, mut hurt) = (0, Vec::new());
    for (name, text) in good_feeds() {
        let good = read(text.as_bytes(), None, URL).expect("it is a feed");
        for (damage, apply, added) in DAMAGES {
            let Some(bad) = apply(&text).filter(|bad| *bad != text) else {
                continue;
            };
            tried += 1;
            let wanted = essence(&good, added);
            let got = read(bad.as_bytes(), None, URL).map(|feed| essence(&feed, "")).unwrap_or_default();
            if got != wanted {
                hurt.push(format!("{damage}: {name}"));
                if std::env::var("TIDINGS_SCORE").is_ok() {
                    println!("{damage}: {name}\n  {wanted:#?}\n  {got:#?}");
                }
            }
        }
    }
    println!("{tried} damaged documents, {} parsed differently", hurt.len());
    for line in &hurt {
        println!("{line}");
    }
    assert!(hurt.is_empty(), "{} of {tried}", hurt.len());
}

#[test]
fn a_truncated_feed_keeps_what_precedes_the_cut() {
    for (name, text) in good_feeds().into_iter().filter(|(_, text)| text.len() < 20_000) {
        let good = read(text.as_bytes(), None, URL).expect("it is a feed");
        let mut last = 0;
        for at in (0..text.len()).step_by(37).filter(|at| text.is_char_boundary(*at)) {
            let entries = read(&text.as_bytes()[..at], None, URL).map_or(0, |feed| feed.entries.len());
            assert!(entries >= last && entries <= good.entries.len(), "{name} at {at}: {entries} after {last}");
            last = entries;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Random edits of feeds.
    #[test]
    fn no_mutation_makes_the_reader_panic(pick in any::<prop::sample::Index>(), edits in prop::collection::vec((any::<prop::sample::Index>(), 0u8..5, any::<u8>(), 0usize..60), 1..12)) {
        thread_local! { static FEEDS: Vec<(String, String)> = good_feeds(); }
        FEEDS.with(|feeds| {
            let mut body = feeds[pick.index(feeds.len())].1.as_bytes().to_vec();
            body.truncate(20_000);
            for (place, kind, byte, length) in &edits {
                let at = place.index(body.len().max(1)).min(body.len());
                let end = (at + length).min(body.len());
                match kind {
                    0 => drop(body.drain(at..end)),
                    1 => body.insert(at, *byte),
                    2 => body.insert(at, b"<>&;\"'/![]-?="[usize::from(*byte) % 13]),
                    3 => { let piece = body[at..end].to_vec(); body.splice(at..at, piece); }
                    _ => if let Some(b) = body.get_mut(at) { *b = *byte },
                }
            }
            let _ = read(&body, None, URL);
            let _ = read(&body, Some("text/xml; charset=shift_jis"), "");
        });
    }

    /// Random text.
    #[test]
    fn no_text_makes_the_reader_panic(text in "(<|>|/|item|rss|<rss>|<item>|<title>|&|&#|;|\"|'|=| |<!\\[CDATA\\[|\\]\\]>|<!--|-->|<\\?|\\{|\\[|\"items\":|é|a){0,60}") {
        let _ = read(text.as_bytes(), None, URL);
        let _ = read(format!("<rss><item>{text}").as_bytes(), None, URL);
    }

    /// Random web pages.
    #[test]
    fn no_page_makes_the_finder_panic(text in "(<a|<link|<base|<script>| href=| rel=alternate| type=|application/rss\\+xml|/feed|http://|feed:|https://feedly.com/|%|é|\"|'|>|</a>|#|\\?| ){0,40}") {
        let _ = tidings_feeds::links::find(text.as_bytes(), URL);
    }

    /// Random dates.
    #[test]
    fn no_date_makes_the_reader_panic(text in "([0-9]{1,5}|Jan|年|T|Z|:|-|\\+|/|\\.|,| |GMT|pm|W|\\(|é){0,14}") {
        let _ = tidings_feeds::date::parse(&text);
    }
}
