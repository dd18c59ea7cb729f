//! Words in URLs that tell lists and other pages of a site from articles.

use url::Url;

/// Segments of the paths of pages that list others.
const LISTS: &[&str] = &[
    "author",
    "authors",
    "autor",
    "autoren",
    "categories",
    "category",
    "kategorie",
    "keyword",
    "label",
    "search",
    "suche",
    "tag",
    "tags",
    "tema",
    "temas",
    "thema",
    "themen",
    "topic",
    "topics",
];

/// Segments of the paths of pages that are neither articles nor lists of them.
const SERVICES: &[&str] = &[
    "abo",
    "about",
    "account",
    "advertise",
    "agb",
    "cart",
    "cdn-cgi",
    "contact",
    "datenschutz",
    "feed",
    "impressum",
    "imprint",
    "jobs",
    "kontakt",
    "login",
    "newsletter",
    "page",
    "privacy",
    "privacy-policy",
    "profile",
    "register",
    "rss",
    "shop",
    "signin",
    "subscribe",
    "terms",
    "user",
    "users",
    "wp-admin",
    "wp-content",
];

/// Names of the parameter, or of the segment before it, that numbers the pages of a list.
const PAGE_KEYS: &[&str] = &["page", "paged", "pagina", "pg", "seite", "strana"];

/// Names of parameters that turn pages otherwise.
const OFFSET_KEYS: &[&str] = &["from", "limit", "offset", "skip", "start"];

fn is_one_of(word: &str, words: &[&str]) -> bool {
    words.iter().any(|known| word.eq_ignore_ascii_case(known))
}

fn has_segment(url: &Url, words: &[&str]) -> bool {
    url.path().split('/').any(|segment| is_one_of(segment, words))
}

/// Whether the path is that of a page that lists others: by tag, author, category, search.
pub fn is_list(url: &Url) -> bool {
    has_segment(url, LISTS)
}

/// Whether the path is that of a page about the site: imprint, login, shop.
pub fn is_service(url: &Url) -> bool {
    has_segment(url, SERVICES)
}

/// Whether a parameter or segment numbers the pages of a list.
pub fn is_page_key(word: &str) -> bool {
    is_one_of(word, PAGE_KEYS)
}

/// Whether a parameter turns the pages of a list, by number or offset.
pub fn is_paging_key(word: &str) -> bool {
    is_page_key(word) || is_one_of(word, OFFSET_KEYS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_services_are_known_by_a_segment() {
        let url = |path: &str| Url::parse("http://a.example/").unwrap().join(path).unwrap();
        assert!(is_list(&url("/Tag/salt")) && is_list(&url("/en/autor/x")) && !is_list(&url("/tagesschau/x")));
        assert!(is_service(&url("/impressum")) && !is_service(&url("/news/about-the-ferry")));
        assert!(is_page_key("Page") && is_paging_key("offset") && !is_page_key("offset") && !is_paging_key("id"));
    }

    #[test]
    fn words_are_sorted_and_in_one_list_only() {
        for words in [LISTS, SERVICES, PAGE_KEYS, OFFSET_KEYS] {
            assert!(words.is_sorted(), "{words:?}");
        }
        assert!(!LISTS.iter().any(|word| SERVICES.contains(word)));
    }
}
