//! Polls against single answers.

use super::*;
use crate::config::FeedsConfig;
use crate::testing::{FEED, answer, answered, apply, failed, home_with_feeds, planned, redirected};

const RSS: &str = "<rss version=\"2.0\"><channel><title> The\n Gazette </title>\
    <item><title>One</title><link>/1</link><pubDate>Sun, 01 Mar 2026 10:00:00 GMT</pubDate></item>\
    <item><title>Two</title><link>/2</link></item><item><title>Again</title><link>/2</link></item>\
    <item><title>No link</title></item></channel></rss>";

fn known() -> FeedState {
    FeedState { feed: FEED.to_owned(), ..FeedState::default() }
}

/// The batch and the state of the feed after an answer.
fn polled(known: FeedState, result: FetchResult) -> (Batch, FeedState) {
    let ceiling = Ceiling { max_bytes: 4 << 20, max_ratio: 100 };
    let policies = PollPolicies::fit(&FeedsConfig::default(), 0.0, std::iter::empty());
    let mut processor = FeedProcessor::new(Arc::new(vec![known]), ceiling, policies);
    let mut batch = Batch::default();
    let state = processor.follow(&result, &mut batch);
    (batch, state)
}

fn ok(headers: &[(&'static str, &str)], body: &str) -> FetchResult {
    answered(0, FEED, answer(200, headers, body.as_bytes()))
}

fn status(status: u16, headers: &[(&'static str, &str)]) -> FetchResult {
    answered(0, FEED, answer(status, headers, b""))
}

#[test]
fn a_feed_lists_each_url_once_and_counts_entries_without_link() {
    let (batch, state) = polled(known(), ok(&[], RSS));
    assert_eq!((state.polled, state.entries, state.title.as_str()), (Polled::Listed, 4, "The Gazette"));
    assert_eq!((batch.counters.get("entries listed"), batch.counters.get("entries without link")), (2, 1));
    assert_eq!(state.without_link, 1);
}

#[test]
fn a_feed_with_too_many_entries_is_counted() {
    let items: String = (0..50_001).map(|number| format!("<item><link>/{number}</link></item>")).collect();
    let (batch, state) = polled(known(), ok(&[], &format!("<rss><channel>{items}</channel></rss>")));
    assert_eq!((state.entries, batch.counters.get("feeds with too many entries")), (50_000, 1));
    assert_eq!(polled(known(), ok(&[], RSS)).0.counters.get("feeds with too many entries"), 0);
}

#[test]
fn a_guid_that_is_a_permalink_is_a_link() {
    let item =
        |guid: &str| format!("<rss version=\"2.0\"><channel><item><title>A</title>{guid}</item></channel></rss>");
    let (_, permalink) = polled(known(), ok(&[], &item("<guid>https://gazette.example/1</guid>")));
    let (_, opaque) = polled(known(), ok(&[], &item("<guid isPermaLink=\"false\">urn:7</guid>")));
    assert_eq!((permalink.without_link, opaque.without_link), (0, 1));
}

#[test]
fn a_feed_that_is_a_gzip_file_is_read() {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut packer, RSS.as_bytes()).unwrap();
    let packed = packer.finish().unwrap();
    let response = answer(200, &[("content-type", "application/gzip")], &packed);
    let (batch, state) = polled(known(), answered(0, FEED, response));
    assert_eq!((state.polled, batch.counters.get("entries listed")), (Polled::Listed, 2));
}

#[test]
fn listed_entries_are_planned_with_resolved_urls() {
    let (_folder, pipeline) = home_with_feeds(FEED);
    let (mut batch, state) = polled(known(), ok(&[], RSS));
    batch.step.push(&Record::Poll(Box::new(state)));
    apply(pipeline.home(), "20260301T120000000Z-update", batch.step);
    let urls: Vec<String> = planned(pipeline.home()).into_iter().map(|row| row.0).collect();
    assert_eq!(urls, ["https://gazette.example/1", "https://gazette.example/2"]);
}

#[test]
fn the_full_text_of_a_new_entry_is_held_for_its_page() {
    let (_folder, pipeline) = home_with_feeds(FEED);
    let text = "The river rose again during the night, and the fire brigade had to close two of the roads. ".repeat(12);
    let content = format!("<content:encoded><![CDATA[<p>{text}</p>]]></content:encoded>");
    let full = RSS.replace("<link>/1</link>", &format!("<link>/1</link>{content}"));
    let hold = |before: FeedState, run: &str| {
        let (mut batch, state) = polled(before, ok(&[], &full));
        batch.step.push(&Record::Poll(Box::new(state.clone())));
        let bytes = batch.step.bytes();
        apply(pipeline.home(), run, batch.step);
        (state, bytes)
    };
    let (state, bytes) = hold(known(), "20260301T120000000Z-update");
    let held = |path: &str| {
        let texts = tidings_store::feed_texts::FeedTexts::open(pipeline.home()).unwrap();
        texts.of(&format!("https://gazette.example{path}")).unwrap()
    };
    assert_eq!((held("/1"), held("/2")), (Some(format!("<p>{}</p>", text)), None));
    let (_, again) = hold(FeedState { body: String::new(), ..state }, "20260301T130000000Z-update");
    assert!(again + text.len() / 2 < bytes, "entries of the last poll are listed without their text");
    assert!(held("/1").is_some());
}

#[test]
fn a_304_is_unchanged_and_counts_as_conditional() {
    let before = FeedState { failures: 4, error: "x".into(), conditional: 2, ..known() };
    let (batch, state) = polled(before, status(304, &[]));
    assert_eq!((state.polled, state.failures, state.conditional), (Polled::Unchanged, 0, 3));
    assert_eq!((state.error.as_str(), state.succeeded.as_str()), ("", "2026-03-01T12:00:00.000Z"));
    assert_eq!(batch.counters.get("entries listed"), 0);
}

#[test]
fn an_unchanged_body_keeps_its_new_validators() {
    let (_, first) = polled(known(), ok(&[("etag", "\"a\"")], RSS));
    let (batch, second) =
        polled(first, ok(&[("etag", "\"b\""), ("last-modified", "Sun, 01 Mar 2026 11:00:00 GMT")], RSS));
    assert_eq!((second.polled, second.etag.as_str(), second.conditional), (Polled::Unchanged, "\"b\"", 0));
    assert_eq!(second.last_modified, "Sun, 01 Mar 2026 11:00:00 GMT");
    assert_eq!(batch.counters.get("entries listed"), 0);
}

#[test]
fn a_410_is_permanent() {
    let (_, state) = polled(known(), status(410, &[]));
    assert_eq!((state.polled, state.error.as_str()), (Polled::Gone, "410: gone"));
}

#[test]
fn a_page_that_is_not_a_feed_is_a_failure() {
    let (_, state) = polled(known(), ok(&[("content-type", "text/html")], "<html><p>Hello</p></html>"));
    assert_eq!((state.polled, state.failures), (Polled::Failed, 1));
    assert!(state.error.starts_with("not-a-feed: ") && state.error.contains("kind=page"), "{}", state.error);
}

/// The state after an answer to a line with `kind=page`.
fn polled_page(known: FeedState, result: FetchResult) -> FeedState {
    let ceiling = Ceiling { max_bytes: 4 << 20, max_ratio: 100 };
    let sources = vec![PollSource { kind: SourceKind::Page, index: None }];
    let policies = PollPolicies::fit(&FeedsConfig::default(), 0.0, std::iter::empty());
    let mut processor = FeedProcessor::new(Arc::new(vec![known]), ceiling, policies)
        .with_sources(Arc::new(sources), SitemapRules::default());
    processor.follow(&result, &mut Batch::default())
}

#[test]
fn a_page_lists_its_articles_and_is_unchanged_while_they_stay() {
    let item = |n: u32| format!("<li><a href=/story/{}>The long title of story {n}</a></li>", 1000 + n);
    let page = |numbers: &[u32], rest: &str| {
        let items: String = numbers.iter().map(|n| item(*n)).collect();
        ok(&[("content-type", "text/html")], &format!("<html><title>News</title><ul>{items}</ul>{rest}</html>"))
    };
    let first = polled_page(known(), page(&[1, 2, 3], "<p>12 degrees</p>"));
    assert_eq!((first.polled, first.entries, first.title.as_str()), (Polled::Listed, 3, "News"));
    let second = polled_page(first.clone(), page(&[3, 1, 2], "<p>13 degrees</p>"));
    assert_eq!(second.polled, Polled::Unchanged);
    let later = |result: FetchResult| FetchResult { at: "2026-03-01T18:00:00Z".parse().unwrap(), ..result };
    let third = polled_page(second, later(page(&[4, 1, 2], "")));
    assert_eq!((third.polled, publishing_rate_of(&third).window.len()), (Polled::Listed, 4), "story 3 is remembered");
    let rate = third.rate.clone();
    let fourth =
        polled_page(third, FetchResult { at: "2026-03-01T19:00:00Z".parse().unwrap(), ..page(&[3, 4, 1], "") });
    assert_eq!(fourth.polled, Polled::Listed);
    assert!(fourth.rate.parse::<f64>().unwrap() < rate.parse::<f64>().unwrap(), "a story that returns is not new");
}

#[test]
fn a_page_with_nofollow_fails_with_the_reason() {
    let state = polled_page(known(), ok(&[("x-robots-tag", "nofollow")], "<html><a href=/a>x</a></html>"));
    assert_eq!(state.polled, Polled::Failed);
    assert!(state.error.starts_with("nofollow: the X-Robots-Tag"), "{}", state.error);
}

#[test]
fn a_line_for_a_page_that_leads_to_a_feed_is_read_as_a_feed() {
    let state = polled_page(known(), ok(&[], RSS));
    assert_eq!((state.polled, state.entries, state.title.as_str()), (Polled::Listed, 4, "The Gazette"));
}

#[test]
fn a_damaged_encoding_is_a_failure() {
    let (_, state) = polled(known(), ok(&[("content-encoding", "gzip")], "\u{0}damaged"));
    assert_eq!((state.polled, state.error.as_str()), (Polled::Failed, "encoding: cannot decompress the body"));
}

#[test]
fn failures_are_counted_and_keep_the_known_state() {
    let before = FeedState { etag: "e".into(), failures: 2, succeeded: "2026-02-01T00:00:00Z".into(), ..known() };
    let (_, state) = polled(before, status(503, &[]));
    assert_eq!((state.polled, state.failures, state.etag.as_str()), (Polled::Failed, 3, "e"));
    assert_eq!(state.succeeded, "2026-02-01T00:00:00Z");
    assert!(state.error.starts_with("503: "), "{}", state.error);
}

#[test]
fn a_move_is_accepted_after_three_permanent_redirects_in_a_row() {
    let mut state = known();
    for times in 1..=MOVES_TO_BELIEVE {
        let result = FetchResult { url: "https://new.example/feed".into(), ..ok(&[], RSS) };
        state = polled(state, redirected(result, &[301, 308])).1;
        assert_eq!((state.moved_to.as_str(), state.moved_times), ("https://new.example/feed", times));
    }
}

#[test]
fn a_temporary_redirect_resets_the_count_of_permanent_ones() {
    let before = FeedState { moved_to: "https://new.example/feed".into(), moved_times: 2, ..known() };
    let result = FetchResult { url: "https://new.example/feed".into(), ..ok(&[], RSS) };
    let (_, state) = polled(before, redirected(result, &[301, 302]));
    assert_eq!((state.moved_to.as_str(), state.moved_times), ("", 0));
}

#[test]
fn a_failing_new_url_sends_the_next_poll_to_the_old_one() {
    let before = FeedState { moved_to: "https://new.example/feed".into(), moved_times: 3, ..known() };
    let (_, state) = polled(before, status(404, &[]));
    assert_eq!(state.moved_times, 0);
}

#[test]
fn new_entries_with_old_validators_are_recorded_as_false() {
    let (_, first) = polled(known(), ok(&[("etag", "\"a\"")], RSS));
    let more = RSS.replace("/1<", "/3<");
    let later = FetchResult { at: "2026-03-01T18:00:00Z".parse().unwrap(), ..ok(&[("etag", "\"a\"")], &more) };
    assert_eq!(polled(first.clone(), later).1.false_304s, 1);
    let honest = FetchResult { at: "2026-03-01T18:00:00Z".parse().unwrap(), ..ok(&[("etag", "\"b\"")], &more) };
    assert_eq!(polled(first, honest).1.false_304s, 0);
}

#[test]
fn retry_after_delays_the_next_poll() {
    let (_, state) = polled(known(), status(503, &[("retry-after", "86400")]));
    assert!(state.not_before.as_str() >= "2026-03-02T12:00:00", "{}", state.not_before);
}

#[test]
fn client_errors_are_permanent_and_network_errors_are_not() {
    for (code, hard) in [(404, true), (403, true), (408, false), (429, false), (500, false), (503, false)] {
        assert_eq!(is_hard(&status(code, &[])), hard, "{code}");
    }
    for (kind, hard) in [(FailureKind::Timeout, false), (FailureKind::Dns, true), (FailureKind::Robots, true)] {
        assert_eq!(is_hard(&failed(0, FEED, kind)), hard, "{kind}");
    }
}

#[test]
fn only_network_failures_are_provisional() {
    let ceiling = Ceiling { max_bytes: 1 << 20, max_ratio: 100 };
    let policies = PollPolicies::fit(&FeedsConfig::default(), 0.0, std::iter::empty());
    let mut processor = FeedProcessor::new(Arc::new(vec![known()]), ceiling, policies);
    let batch = processor.process(vec![failed(0, FEED, FailureKind::Connect)]);
    assert!(batch.step.is_empty() && !batch.provisional.is_empty());
    assert_eq!(batch.counters.get("connect"), 1);
    let batch = processor.process(vec![status(500, &[])]);
    assert!(!batch.step.is_empty() && batch.provisional.is_empty());
    assert_eq!(batch.counters.get("failed"), 1);
}

#[test]
fn a_title_is_one_line_of_bounded_length() {
    assert_eq!(clip(" a\n\tb\u{0}c "), "a b c");
    assert_eq!(clip(&"é".repeat(600)).chars().count(), MAX_TITLE_CHARS);
}
