//! Parsing arbitrary bytes as a feed gives a feed or an error and never panics.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|body: &[u8]| {
    if let Ok(feed) = tidings_feeds::read(body, None, "https://feeds.example/feed") {
        for entry in &feed.entries {
            let html = entry.content_html.as_deref().unwrap_or_default();
            let _ = tidings_feeds::visible_text(html);
        }
    }
    if let Ok(text) = std::str::from_utf8(body) {
        let _ = tidings_feeds::date::parse(text);
    }
});
