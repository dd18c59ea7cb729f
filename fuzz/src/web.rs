//! What servers send: feeds, pages, robots.txt, sitemaps, lists of feeds, compressed bodies.

use tidings_clean::justext::JustextOptions;
use tidings_clean::postprocess::PostprocessOptions;
use tidings_clean::{Options, Preset};
use tidings_feeds::discover::{ProbeOptions, ProbeSequence, own_address, read_opml, reduce, write_opml};
use tidings_fetch::decode::{Ceiling, Decoder};
use tidings_fetch::rights::TdmRules;
use tidings_fetch::robots::Robots;
use tidings_lang::{Hints, MaskRule};
use tidings_model::{AGENT, Page, RobotsDirectives, address};

const URL: &str = "https://gazette.example/2026/11/15/page";

/// Feeds of all formats. Limits hold, and what is in an entry can be used.
pub fn feed(bytes: &[u8]) {
    let Ok(feed) = tidings_feeds::read(bytes, None, URL) else { return };
    assert!(feed.entries.len() <= tidings_feeds::Limits::default().max_entries);
    for entry in &feed.entries {
        if let Some(link) = &entry.link {
            let _ = address::normalise(link, Some(URL));
        }
        let _ = tidings_feeds::visible_text(entry.content_html.as_deref().unwrap_or_default());
    }
}

/// Pages: extraction with each preset, metadata, dates, gate. The first byte chooses options.
pub fn html(bytes: &[u8]) {
    let (first, body) = bytes.split_first().map_or((0, bytes), |(first, rest)| (*first, rest));
    let preset = match first % 4 {
        0 => Preset::Balanced,
        1 => Preset::Precision,
        2 => Preset::Recall,
        _ => Preset::Justext(JustextOptions::production()),
    };
    let page = Page {
        url: URL.into(),
        content_type: if first & 4 == 0 { "text/html".into() } else { "text/html; charset=shift_jis".into() },
        published: "2026-11-14T08:00:00Z".into(),
        downloaded: "2026-11-15T08:00:00Z".into(),
        body: body.to_vec(),
        ..Page::default()
    };
    let options = Options { preset, links: first & 8 != 0, comments: first & 16 != 0, stubs: true };
    let _ = tidings_clean::clean(&page, &options, &PostprocessOptions::default());
}

/// Links to feeds in pages, and the whole discovery with a site that answers everything with these bytes.
pub fn links(bytes: &[u8]) {
    for link in tidings_feeds::links::find(bytes, URL) {
        assert!(url::Url::parse(&link.url).is_ok(), "{}", link.url);
    }
    let _ = own_address(bytes);
    let options = ProbeOptions { max_requests: 4, ..ProbeOptions::default() };
    let mut sequence = ProbeSequence::new(URL, options).expect("a valid URL");
    loop {
        let requests = sequence.next();
        if requests.is_empty() {
            break;
        }
        for request in requests {
            sequence.record(&request, &reduce(bytes, None, &request.url));
        }
    }
    assert!(sequence.requests() <= 4);
}

/// All links of a page. The first byte chooses the URL; limits hold, and every URL is in its normal form.
pub fn page_links(bytes: &[u8]) {
    let (first, body) = bytes.split_first().map_or((0, bytes), |(first, rest)| (*first, rest));
    let url = if first & 1 == 0 { URL } else { "http://gazette.example:8080/a/b/?c=d" };
    let found = tidings_clean::links::of_bytes(body, (first & 2 != 0).then_some("text/html; charset=gbk"), url);
    assert!(found.links.len() <= tidings_clean::links::MAX_LINKS);
    for link in &found.links {
        assert_eq!(address::normalise(&link.url, None).as_ref(), Some(&link.url));
        assert!(link.anchor.chars().count() <= tidings_clean::links::MAX_ANCHOR_CHARS);
    }
    let text = String::from_utf8_lossy(body);
    let _ = RobotsDirectives::of_header(text.lines().take(8), AGENT);
    let form = address::fingerprint_form(&text);
    assert_eq!(address::fingerprint_form(&form), form, "{text:?}");
}

/// robots.txt, its sitemaps, and the reservations of text and data mining.
pub fn robots(bytes: &[u8]) {
    let robots = Robots::parse(bytes, "tidings");
    for path in ["/", "/a", "/a/b?c=d", "/%41", "/*$", ""] {
        let _ = robots.allows(path);
    }
    let text = String::from_utf8_lossy(bytes);
    for line in text.lines().take(8) {
        let _ = robots.allows(line);
    }
    let _ = tidings_feeds::discover::in_robots(&text, "https://gazette.example");
    let rules = TdmRules::parse(bytes);
    let _ = rules.of("/a/b");
}

/// Sitemaps, in the search for feeds and as lists of articles. Limits hold, and URLs are of the site.
pub fn sitemap(bytes: &[u8]) {
    const MAP: &str = "https://gazette.example/sitemap.xml";
    let _ = reduce(bytes, Some("application/xml"), MAP);
    let Ok(map) = tidings_feeds::sitemap::read(bytes, None, MAP, tidings_feeds::sitemap::Scope::OwnHost) else {
        return;
    };
    assert!(map.entries.len() + map.maps.len() <= tidings_feeds::sitemap::MAX_URLS);
    for entry in &map.entries {
        let url = url::Url::parse(&entry.url).expect("URLs of sitemaps are valid");
        assert!(matches!(url.host_str(), Some("gazette.example" | "www.gazette.example")), "{url}");
    }
}

/// Dates of feeds.
pub fn date(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Some(time) = tidings_feeds::date::parse(text) {
        // Fractions of seconds are read of numbers only.
        let again = tidings_feeds::date::parse(&time.to_string()).map(|time| time.as_second());
        assert_eq!(again, Some(time.as_second()), "{text:?}");
    }
}

/// Lists of feeds; what is written is read again.
pub fn opml(bytes: &[u8]) {
    let outlines = read_opml(bytes);
    let again = read_opml(write_opml("A list", &outlines).as_bytes());
    assert_eq!(again.len(), outlines.len());
}

/// Compressed bodies. The first byte chooses the header; nothing grows beyond the limits.
pub fn encoding(bytes: &[u8]) {
    let (first, body) = bytes.split_first().map_or((0, bytes), |(first, rest)| (*first, rest));
    let encodings = ["gzip", "deflate", "br", "zstd", "gzip, gzip", "x-gzip", "identity", ""][first as usize % 8];
    let ceiling = Ceiling { max_bytes: 1 << 20, max_ratio: 100 };
    let mut decoder = Decoder::new(ceiling);
    if let Ok(decoded) = decoder.decode(encodings, body) {
        assert!(decoded.len() <= (1 << 20).max(body.len()));
    }
    let _ = decoder.decode_file(encodings, body);
}

/// Text of the web: normalisation, language, masks, sentences and tokens.
pub fn text(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let normalised = tidings_lang::normalise(&text);
    assert_eq!(tidings_lang::normalise(&normalised), normalised, "normalisation is idempotent");
    let guess = tidings_lang::identify(&normalised, Hints::default());
    let masked = tidings_lang::mask(&normalised, &MaskRule::ALL);
    let sentences = tidings_annotate::Segmenter::for_language(guess.lang).segment(&masked.text);
    let letters = |text: &str| text.chars().filter(|c| !c.is_whitespace()).count();
    let in_tokens: usize = sentences.iter().flat_map(|sentence| sentence.words(&masked.text)).map(letters).sum();
    assert_eq!(in_tokens, letters(&masked.text), "every character is in one token");
}
