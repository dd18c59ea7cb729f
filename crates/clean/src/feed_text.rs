//! Documents from the full text in the feed, where the page refuses it.
//!
//! Some sites refuse crawlers or show only the beginning of an article, while their feeds have all of it. A page record
//! then has the feed's text: as its body, if the server refused the page, or beside it, if the page lacks it. Documents
//! made from it have `origin` = `feed` in their metadata.

use tidings_model::{Document, Page, PageOrigin};

use crate::article::words::{WordSet, each_word};
use crate::title_match::TitleMatch;

/// The name of the origin in the metadata of documents.
pub(crate) const ORIGIN: &str = "origin";

/// A page with less than this share of the words of the feed's text is a stub.
const MAX_STUB_SHARE: f64 = 0.6;
/// The share of the word pairs of a stub that are in the feed's text.
const MIN_CONTAINED: f64 = 0.7;

/// The page whose body is the text in the feed.
pub(crate) fn as_page(page: &Page) -> Page {
    Page {
        origin: PageOrigin::Feed,
        content_type: "text/html; charset=utf-8".to_owned(),
        final_url: page.url.clone(),
        body: page.feed_text.clone().into_bytes(),
        feed_text: String::new(),
        ..page.clone()
    }
}

/// The markup of a text of a feed as a page: it is all article.
pub(crate) fn html(title: &str, text: &str) -> String {
    let mut escaped = String::new();
    for c in title.chars() {
        match c {
            '<' => escaped.push_str("&lt;"),
            '&' => escaped.push_str("&amp;"),
            c => escaped.push(c),
        }
    }
    format!("<!doctype html><html><head><title>{escaped}</title></head><body><article>{text}</article></body></html>")
}

/// Marks a document as made from the text in the feed.
pub(crate) fn mark(document: &mut Document, page: &Page) {
    if !page.title.trim().is_empty() {
        document.about.title = page.title.trim().to_owned();
    }
    document.metadata.insert(ORIGIN.to_owned(), PageOrigin::Feed.word().to_owned());
}

/// Returns true if the feed's text is better than the document of a page that lacks it: the page is another one, or
/// has only a part of the text.
pub(crate) fn is_better(from_feed: &Document, page: &Page, document: &Document) -> bool {
    TitleMatch::of(&page.title, document) == TitleMatch::Missing || is_stub(document, from_feed)
}

/// Returns true if a document is much shorter than a text and contained in it.
fn is_stub(document: &Document, whole: &Document) -> bool {
    let (part, whole) = (pairs(document), pairs(whole));
    let shared = part.iter().filter(|pair| whole.contains(*pair)).count() as f64;
    (part.len() as f64) < MAX_STUB_SHARE * whole.len() as f64 && shared >= MIN_CONTAINED * part.len() as f64
}

/// The word bigrams of a document.
fn pairs(document: &Document) -> WordSet {
    let mut pairs = WordSet::default();
    for paragraph in &document.paragraphs {
        let mut before = 0u64;
        each_word(&paragraph.text, |word, _, _| {
            pairs.insert(before.rotate_left(17) ^ word);
            before = word;
        });
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::postprocess::PostprocessOptions;
    use crate::{DropReason, Options, clean};

    const LEAD: &str = "The council of the town decided on Monday that the ferry will return in spring, after two years \
        in which the people of the island had to travel by the long road over the mountains to reach their work.";
    const REST: &str = "According to the minutes of the meeting, the ferry costs less than the engineers had feared, \
        because the old harbour can be used again and only the eastern pier needs repair. Residents who had waited for \
        it welcomed the decision, and several said that they would finally be able to visit their families.";

    fn page(body: &str, feed_text: &str) -> Page {
        Page {
            url: "https://gazette.example/news/ferry".into(),
            final_url: "https://gazette.example/news/ferry".into(),
            title: "Ferry <returns> in spring".into(),
            published: "2026-03-01T08:00:00Z".into(),
            seen: "2026-03-01T09:00:00Z".into(),
            downloaded: "2026-03-01T10:00:00Z".into(),
            status: 200,
            content_type: "text/html".into(),
            body: body.as_bytes().to_vec(),
            feed_text: feed_text.to_owned(),
            ..Page::default()
        }
    }

    fn cleaned(page: &Page) -> Result<Document, DropReason> {
        clean(
            page,
            &Options::default(),
            &PostprocessOptions { gate: crate::gate::Gate::default(), ..Default::default() },
        )
    }

    fn origin(page: &Page) -> Option<String> {
        cleaned(page).unwrap().metadata.get(ORIGIN).cloned()
    }

    fn full() -> String {
        format!("<p>{LEAD}</p><p>{REST}</p>")
    }

    #[test]
    fn the_text_of_a_refused_page_has_the_url_title_and_date_of_the_feed() {
        let refused = Page { origin: PageOrigin::Feed, status: 403, ..page(&full(), "") };
        let document = cleaned(&refused).unwrap();
        assert_eq!(document.text(), format!("{LEAD}\n{REST}"));
        assert_eq!((document.url.as_str(), document.site.as_str()), (refused.url.as_str(), "gazette.example"));
        assert_eq!(document.about.title, "Ferry <returns> in spring");
        let dated = document.dated.unwrap();
        assert_eq!((dated.day.as_str(), dated.source.as_str()), ("2026-03-01", "feed"));
        assert_eq!(document.metadata[ORIGIN], "feed");
    }

    #[test]
    fn the_longer_text_takes_the_place_of_a_stub() {
        let stub = format!(
            "<title>Ferry returns in spring</title><article><h1>Ferry returns in spring</h1><p>{LEAD}</p></article>"
        );
        let document = cleaned(&page(&stub, &full())).unwrap();
        assert!(document.text().contains(REST) && document.metadata[ORIGIN] == "feed");
        assert_eq!(origin(&page("<title>Ferry</title><p>Subscribe to read.</p>", &full())).as_deref(), Some("feed"));
    }

    #[test]
    fn a_page_without_the_title_gives_way_to_the_text_of_the_feed() {
        let wall = "<title>Before you continue</title><h1>Before you continue</h1><p>We and our partners use cookies and \
            data to deliver and maintain our services, to track outages and to protect against spam, fraud and abuse. \
            If you choose to accept, we will also use them to develop and improve new services.</p>";
        assert_eq!(origin(&page(wall, &full())).as_deref(), Some("feed"));
        assert_eq!(origin(&page(wall, "")), None);
    }

    #[test]
    fn a_page_with_another_or_a_longer_text_is_kept() {
        let article = format!("<title>Ferry returns in spring</title><article>{}</article>", full());
        assert_eq!(origin(&page(&article, &format!("<p>{LEAD}</p>"))), None);
        let other = article.replace("council", "assembly").replace("decided", "voted").replace("harbour", "port");
        assert_eq!(origin(&page(&other, &full())), None);
    }

    #[test]
    fn a_text_of_the_feed_that_the_gate_rejects_is_not_used() {
        assert_eq!(
            cleaned(&page("<p>Subscribe.</p>", "<p>Rain.</p>")).map(|document| document.text()).unwrap_err().name(),
            "too-short"
        );
    }
}
