//! Pages that are not the article that their feed lists: front pages behind dead links, consent walls, soft 404s.
//!
//! Their words differ from site to site, so they are known by evidence that does not depend on words: a redirect from
//! an article to a front page, a text that stands under several addresses of the site, and a title of the feed that is
//! not on the page. No single one is enough, because headlines are rewritten, articles move, and one article has
//! several addresses. docs/notes/not-articles.md explains the rules.

use tidings_model::{DOCUMENT_TYPE, Document, Page, PageOrigin, TitleSource};
use url::Url;

use crate::article::evidence::Fnv1a;
use crate::article::words::each_word;
use crate::title_match::TitleMatch;

/// The number of entries of one site with the same text from which on it is no article.
pub const SAME_TEXT_LIMIT: usize = 3;

/// The most words of the last part of the path of a section front, such as `/world/south-america/`; a headline has more.
const MAX_SECTION_WORDS: usize = 2;

/// The target of the redirects of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RedirectTarget {
    /// No redirect, or one to another article as far as the URL shows.
    Article,
    /// The front page of a site, or of a section above the requested page.
    Front,
}

impl RedirectTarget {
    /// Compares the requested URL of a page with the final one.
    pub fn of(url: &str, final_url: &str) -> RedirectTarget {
        let (Ok(from), Ok(to)) = (Url::parse(url), Url::parse(final_url)) else { return RedirectTarget::Article };
        let (from_path, to_path) = (path(&from), path(&to));
        let is_query = |url: &Url| url.query().is_some_and(|query| !query.is_empty());
        // Articles of some sites have addresses such as `/?p=12`.
        if (is_front(&from_path) && !is_query(&from)) || (to_path.is_empty() && is_query(&to)) {
            return RedirectTarget::Article;
        }
        match is_front(&to_path) || from.host_str() == to.host_str() && is_section_above(&from_path, &to_path) {
            true if from != to => RedirectTarget::Front,
            _ => RedirectTarget::Article,
        }
    }
}

/// The parts of the path, without the name of an index file.
fn path(url: &Url) -> Vec<String> {
    let parts = url.path().split('/').filter(|part| !part.is_empty());
    let is_index = |part: &str| matches!(part.split('.').next(), Some("index" | "default" | "home"));
    parts.map(str::to_ascii_lowercase).filter(|part| !is_index(part)).collect()
}

/// A front page is at the root, or at the root of an edition such as `/en/`.
fn is_front(path: &[String]) -> bool {
    match path {
        [] => true,
        [edition] => edition.len() == 2 && edition.bytes().all(|byte| byte.is_ascii_lowercase()),
        _ => false,
    }
}

/// A section front is above the article, and its name is not a headline: `/news/rain-floods-two-roads/amp` may lead to
/// the article without `amp`.
fn is_section_above(from: &[String], to: &[String]) -> bool {
    let is_section = |name: &String| {
        name.split(['-', '_']).count() <= MAX_SECTION_WORDS && !name.bytes().any(|byte| byte.is_ascii_digit())
    };
    to.len() < from.len() && from.starts_with(to) && to.iter().all(is_section)
}

/// Evidence that a document may not be the article that its feed lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Suspicion {
    /// A hash of the site and the words of the text, without numbers.
    pub text: u64,
    /// A hash of the title in the feed, or of the URL if there is none: several addresses of one article have one title.
    pub entry: u64,
}

/// Returns true if the page is a front page instead of the article: it was reached by a redirect, and the title of the
/// feed is not on it. An anchor that is not on it proves nothing, because front pages word their teasers differently; such
/// pages are only suspicious.
pub(crate) fn is_front_page(page: &Page, document: &Document) -> bool {
    page.title_source == TitleSource::Feed
        && RedirectTarget::of(&page.url, &page.final_url) == RedirectTarget::Front
        && TitleMatch::of(&page.title, document) == TitleMatch::Missing
}

/// The suspicion against a document; `None` if nothing speaks against it.
///
/// A front page may have the title of an article in a teaser, so redirects to it are suspicious in any case.
pub fn suspicion(page: &Page, document: &Document) -> Option<Suspicion> {
    let is_text = page.content_type.starts_with(DOCUMENT_TYPE) || is_from_feed(document);
    if is_text || page.origin == PageOrigin::Feed {
        return None;
    }
    let is_suspicious = RedirectTarget::of(&page.url, &page.final_url) == RedirectTarget::Front
        || TitleMatch::of(&page.title, document) == TitleMatch::Missing;
    is_suspicious.then(|| {
        let about_entry = if page.title.trim().is_empty() { &page.url } else { &page.title };
        Suspicion { text: text_hash(document), entry: words_hash(&[about_entry]) }
    })
}

/// Returns true if the text of a document comes from the feed.
pub(crate) fn is_from_feed(document: &Document) -> bool {
    document.metadata.get(crate::feed_text::ORIGIN).is_some_and(|origin| origin == PageOrigin::Feed.word())
}

fn text_hash(document: &Document) -> u64 {
    let texts = document.paragraphs.iter().map(|paragraph| paragraph.text.as_str());
    words_hash(&std::iter::once(document.site.as_str()).chain(texts).collect::<Vec<_>>())
}

/// A hash of the words of some texts. Numbers are left out: error pages show times and identifiers.
fn words_hash(texts: &[&str]) -> u64 {
    let mut hash = Fnv1a::new();
    for text in texts {
        let letters: String = text.chars().map(|c| if c.is_numeric() { ' ' } else { c }).collect();
        each_word(&letters, |word, _, _| word.to_le_bytes().into_iter().for_each(|byte| hash.byte(byte)));
        hash.byte(0);
    }
    hash.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidings_model::Paragraph;

    fn target(url: &str, final_url: &str) -> RedirectTarget {
        RedirectTarget::of(url, final_url)
    }

    #[test]
    fn redirects_to_front_pages_and_sections_are_known_by_their_urls() {
        let article = "https://e.org/news/2026/03/rain-floods-roads";
        for front in ["https://e.org/", "https://www.e.org", "https://e.org/index.html", "https://e.org/en/"] {
            assert_eq!(target(article, front), RedirectTarget::Front, "{front}");
        }
        for section in ["https://e.org/news/", "https://e.org/news"] {
            assert_eq!(target(article, section), RedirectTarget::Front, "{section}");
        }
        assert_eq!(target("https://e.org/?p=12", "https://e.org/"), RedirectTarget::Front);
    }

    #[test]
    fn redirects_to_other_addresses_of_an_article_are_no_evidence() {
        let article = "https://e.org/news/rain-floods-two-roads/amp";
        for (url, other) in [
            (article, article),
            (article, "https://e.org/news/rain-floods-two-roads/"),
            (article, "https://e.org/2026/03/01/rain"),
            ("https://short.org/x7", "https://e.org/news/rain-floods-two-roads"),
            ("https://e.org/story/rain-floods", "https://e.org/?p=12"),
            ("https://e.org/", "https://e.org/en/"),
            ("http://e.org/en/", "https://e.org/en/"),
            ("nonsense", "https://e.org/"),
        ] {
            assert_eq!(target(url, other), RedirectTarget::Article, "{url} → {other}");
        }
    }

    fn document(text: &str) -> Document {
        let paragraphs = vec![Paragraph { text: text.to_owned(), ..Paragraph::default() }];
        Document { site: "e.org".into(), paragraphs, ..Document::default() }
    }

    fn page(title: &str, final_url: &str) -> Page {
        let [url, final_url, title] = ["https://e.org/news/rain", final_url, title].map(str::to_owned);
        Page { url, final_url, title, ..Page::default() }
    }

    #[test]
    fn a_missing_title_or_a_redirect_is_a_suspicion_and_both_are_a_front_page() {
        let text = document("Before you continue, choose which cookies we may use.");
        let same = "https://e.org/news/rain";
        let missing = page("Rain floods two roads", same);
        assert!(suspicion(&missing, &text).is_some() && !is_front_page(&missing, &text));
        let moved = page("Rain floods two roads", "https://e.org/");
        assert!(is_front_page(&moved, &text));
        let teaser = page("Choose your cookies", "https://e.org/");
        assert!(suspicion(&teaser, &text).is_some() && !is_front_page(&teaser, &text));
        assert_eq!(suspicion(&page("Choose your cookies", same), &text), None);
        assert_eq!(suspicion(&page("", same), &text), None, "a feed without titles proves nothing");
    }

    #[test]
    fn an_anchor_that_is_not_on_the_page_is_only_a_suspicion() {
        let text = document("The river rose during the night, and two roads were closed.");
        let weak = |title: &str, url: &str| Page { title_source: TitleSource::Anchor, ..page(title, url) };
        let moved = weak("Bad weather ahead: what to know", "https://e.org/");
        assert!(!is_front_page(&moved, &text) && suspicion(&moved, &text).is_some());
        let wall = weak("Bad weather ahead: what to know", "https://e.org/news/rain");
        assert!(suspicion(&wall, &text).is_some(), "three of them with one text are a wall");
    }

    #[test]
    fn the_same_text_has_the_same_hash_whatever_the_title_and_the_numbers() {
        let of = |title: &str, text: &str| suspicion(&page(title, ""), &document(text)).unwrap();
        let one = of("Rain floods two roads", "This page does not exist. Request 17, 10:32.");
        let two = of("Ferry returns", "This page does not exist. Request 9431, 11:05.");
        assert_eq!((one.text, one.entry == two.entry), (two.text, false));
        assert_ne!(one.text, of("Ferry returns", "This page is gone.").text);
        assert_eq!(of("Ferry returns!", "x").entry, of("ferry returns", "y").entry);
    }

    #[test]
    fn texts_of_feeds_and_imported_texts_are_not_suspected() {
        let text = document("Before you continue.");
        let missing = page("Rain floods two roads", "");
        assert_eq!(suspicion(&Page { origin: PageOrigin::Feed, ..missing.clone() }, &text), None);
        let imported = Page { content_type: format!("{DOCUMENT_TYPE}; gate=off"), ..missing };
        assert_eq!(suspicion(&imported, &text), None);
    }
}
