//! Parsing speed on large generated feeds and on small ones of the development set.
//!
//! `cargo run --release -p tidings-feeds --example speed` prints MB/s of parsing, best of five runs, for feeds of
//! 50,000 entries in each format.

use std::time::Instant;

fn main() {
    let paragraph = "<p>The council met on Tuesday to talk about the bridge &amp; its cost, which has \
        risen again. &ldquo;Nobody expected this,&rdquo; said the mayor, <a href=\"/p/1\">as reported</a>.</p>\n";
    let escaped = paragraph.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let mut rss = String::from(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<rss version=\"2.0\" \
        xmlns:content=\"http://purl.org/rss/1.0/modules/content/\" xmlns:dc=\"http://purl.org/dc/elements/1.1/\">\
        <channel><title>Gazette</title><link>https://gazette.example/</link>\n",
    );
    let mut atom =
        String::from("<?xml version=\"1.0\"?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\"><title>Gazette</title>\n");
    let mut json =
        String::from("{\"version\": \"https://jsonfeed.org/version/1.1\", \"title\": \"Gazette\", \"items\": [\n");
    for n in 0..50_000 {
        let body = paragraph.repeat(4);
        rss.push_str(&format!(
            "<item><title>Bridge no. {n} &#8211; costs &amp; delays</title><link>https://gazette.example/a/{n}</link>\
            <guid isPermaLink=\"false\">gazette-{n}</guid><pubDate>Tue, 03 Mar 2026 10:{:02}:00 +0100</pubDate>\
            <dc:creator>Ann Bee</dc:creator><category>Town</category><description>{escaped}</description>\
            <content:encoded><![CDATA[{body}]]></content:encoded></item>\n",
            n % 60
        ));
        atom.push_str(&format!(
            "<entry><title>Bridge no. {n}</title><link rel=\"alternate\" href=\"https://gazette.example/a/{n}\"/>\
            <id>tag:gazette.example,2026:{n}</id><updated>2026-03-03T10:{:02}:00Z</updated>\
            <author><name>Ann Bee</name></author><summary>In short: the bridge.</summary>\
            <content type=\"html\">{}</content></entry>\n",
            n % 60,
            escaped.repeat(4)
        ));
        let comma = if n == 0 { "" } else { "," };
        let body = body.replace('"', "\\\"").replace('\n', "\\n");
        json.push_str(&format!(
            "{comma}{{\"id\": \"{n}\", \"url\": \"https://gazette.example/a/{n}\", \"title\": \"Bridge no. {n}\", \
            \"date_published\": \"2026-03-03T10:{:02}:00Z\", \"content_html\": \"{body}\"}}\n",
            n % 60
        ));
    }
    rss.push_str("</channel></rss>\n");
    atom.push_str("</feed>\n");
    json.push_str("]}\n");
    for (name, text) in [("rss", &rss), ("atom", &atom), ("json", &json)] {
        let mut best = f64::MAX;
        for _ in 0..5 {
            let start = Instant::now();
            let feed =
                tidings_feeds::read(text.as_bytes(), None, "https://gazette.example/feed").expect("it is a feed");
            best = best.min(start.elapsed().as_secs_f64());
            assert_eq!(feed.entries.len(), 50_000);
            assert!(feed.repairs.is_empty());
        }
        println!("{name}: {:.0} MB, {:.0} MB/s", text.len() as f64 / 1e6, text.len() as f64 / 1e6 / best);
    }
    small_feeds();
}

/// The mean time for a feed of ordinary size, if the development documents are available.
fn small_feeds() {
    use base64::Engine;
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/feeds-dev/feeds.jsonl");
    let Ok(text) = std::fs::read_to_string(path) else {
        println!("small feeds: skipped, no development documents");
        return;
    };
    let bodies: Vec<Vec<u8>> = text
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .filter_map(|record| base64::engine::general_purpose::STANDARD.decode(record["body_base64"].as_str()?).ok())
        .collect();
    let bytes: usize = bodies.iter().map(Vec::len).sum();
    let mut best = f64::MAX;
    for _ in 0..5 {
        let start = Instant::now();
        for body in &bodies {
            let _ = std::hint::black_box(tidings_feeds::read(body, None, "https://gazette.example/feed"));
        }
        best = best.min(start.elapsed().as_secs_f64());
    }
    println!(
        "small feeds: {} of {:.1} KB on average, {:.4} ms each, {:.0} MB/s",
        bodies.len(),
        bytes as f64 / 1e3 / bodies.len() as f64,
        best * 1e3 / bodies.len() as f64,
        bytes as f64 / 1e6 / best
    );
}
