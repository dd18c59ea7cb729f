//! What counts as an article, and what a link of a listing page leads to.

use std::collections::HashMap;

use jiff::civil::Date;
use tidings_crawl::shape;
use tidings_crawl::trap::{date_in_path, hard_trap};
use tidings_crawl::url_words::{is_list, is_page_key};
use tidings_feeds::discover;
use url::Url;

/// The most shapes that are remembered of a site.
const MAX_SHAPES: usize = 2000;
/// A shape of known articles counts if it has this share of them.
const MIN_SHARE: f64 = 0.01;
/// Extensions of files that are not pages.
const MEDIA: [&str; 14] =
    ["jpg", "jpeg", "png", "gif", "webp", "svg", "pdf", "mp3", "mp4", "zip", "css", "js", "xml", "ico"];

/// The shapes of a site's known articles.
#[derive(Debug, Default)]
pub struct ArticleRule {
    shapes: HashMap<String, u32>,
    learnt: u32,
    /// Paths before the date of known articles.
    dated_prefixes: HashMap<String, u32>,
    newest: Option<Date>,
}

/// The target of a link in a listing page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkTarget {
    /// An article.
    Article,
    /// A page of a day or month.
    Dated(Date),
    /// A page of a list, with its number.
    Page(u32),
    /// A section page.
    Hub,
    /// A tag page.
    Tag,
    /// None of these.
    Other,
}

impl ArticleRule {
    /// Learns from a known article.
    pub fn learn(&mut self, url: &Url) {
        self.learnt += 1;
        let shape = shape::section(url);
        if let Some(count) = self.shapes.get_mut(&shape) {
            *count += 1;
        } else if self.shapes.len() < MAX_SHAPES {
            self.shapes.insert(shape, 1);
        }
        if let Some(prefix) = dated_prefix(url) {
            *self.dated_prefixes.entry(prefix).or_default() += 1;
            self.newest = self.newest.max(date_in_path(url));
        }
    }

    /// The newest date in the path of a known article.
    pub fn newest(&self) -> Option<Date> {
        self.newest
    }

    /// Whether a URL has the shape of known articles.
    fn has_known_shape(&self, url: &Url) -> bool {
        let least = (f64::from(self.learnt) * MIN_SHARE).max(1.0);
        self.shapes.get(&shape::section(url)).is_some_and(|count| f64::from(*count) >= least)
    }

    /// The most common path before the date in known articles: `` of `/2019/03/04/title`.
    pub fn dated_prefix(&self) -> Option<&str> {
        let most =
            self.dated_prefixes.iter().max_by_key(|(prefix, count)| (**count, std::cmp::Reverse((*prefix).clone())));
        most.filter(|(_, count)| **count * 5 >= self.learnt).map(|(prefix, _)| prefix.as_str())
    }

    /// Whether an entry of a sitemap is an article: all are but the front page, lists and files. Older articles may have
    /// other shapes than those that feeds bring today.
    pub fn is_article_of_sitemap(&self, url: &Url, today: Date) -> bool {
        if self.has_known_shape(url) {
            return true;
        }
        let is_front = url.path() == "/" && url.query().is_none();
        !is_front && !is_list(url) && !is_media(url) && hard_trap(url, today).is_none() && date_of_list(url).is_none()
    }

    /// The target of a link of a listing page at `page`.
    pub fn target(&self, link: &Url, page: &Url, today: Date) -> LinkTarget {
        let same_site = discover::site(link.as_str()) == discover::site(page.as_str());
        if !same_site || hard_trap(link, today).is_some() || is_media(link) {
            return LinkTarget::Other;
        }
        if self.has_known_shape(link) {
            return LinkTarget::Article;
        }
        if let Some(number) = page_number(link) {
            return if same_list(link, page) { LinkTarget::Page(number) } else { LinkTarget::Other };
        }
        if let Some(date) = date_of_list(link) {
            return LinkTarget::Dated(date);
        }
        if is_list(link) {
            return LinkTarget::Tag;
        }
        if date_in_path(link).is_some() && is_title_like(link) || self.learnt == 0 && is_title_like(link) {
            return LinkTarget::Article;
        }
        let depth = segments(link).count();
        let is_named = !shape::section(link).contains(['*', '#', '?']) || depth == 1 && link.query().is_none();
        if (1..=2).contains(&depth) && is_named && link.query().is_none() { LinkTarget::Hub } else { LinkTarget::Other }
    }
}

fn segments(url: &Url) -> impl Iterator<Item = &str> {
    url.path().split('/').filter(|segment| !segment.is_empty())
}

fn is_media(url: &Url) -> bool {
    let extension =
        url.path().rsplit('/').next().and_then(|name| name.rsplit_once('.')).map(|(_, extension)| extension);
    extension.is_some_and(|extension| MEDIA.iter().any(|media| extension.eq_ignore_ascii_case(media)))
}

/// A last segment of several words, or with a long number.
fn is_title_like(url: &Url) -> bool {
    let Some(last) = segments(url).last() else { return false };
    let stem = last.split('.').next().unwrap_or(last);
    let words = stem.split(['-', '_', '+']).filter(|word| !word.is_empty()).count();
    let digits = stem.bytes().filter(u8::is_ascii_digit).count();
    words >= 3 || digits >= 4 && words >= 2 || digits >= 5
}

/// The date of a page that lists a day or month: nothing follows the date in its path.
pub fn date_of_list(url: &Url) -> Option<Date> {
    let date = date_in_path(url)?;
    let last = segments(url).last()?;
    let is_date_part = last.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'-' | b'_' | b'.'));
    (is_date_part && last.len() <= 10 && url.query().is_none()).then_some(date)
}

/// The path before `/YYYY/MM/` in the URL of an article.
fn dated_prefix(url: &Url) -> Option<String> {
    date_in_path(url)?;
    let path = url.path();
    let is_year = |text: &str| text.len() == 4 && text.bytes().all(|b| b.is_ascii_digit());
    let mut at = 0;
    for segment in path.split('/').skip(1) {
        if is_year(segment) {
            return Some(path[..at].to_owned());
        }
        at += segment.len() + 1;
    }
    None
}

/// The number of a page of a list: `?page=3` or `/page/3`.
pub fn page_number(url: &Url) -> Option<u32> {
    let by_key = url.query_pairs().find(|(key, _)| is_page_key(key));
    if let Some((_, value)) = by_key {
        return value.parse().ok();
    }
    let all: Vec<&str> = segments(url).collect();
    match all.as_slice() {
        [.., word, number] if is_page_key(word) => number.parse().ok(),
        _ => None,
    }
}

/// The same page of a list with another number, if it has a number.
pub fn with_page_number(url: &Url, number: u32) -> Option<Url> {
    page_number(url)?;
    let mut changed = url.clone();
    if url.query_pairs().any(|(key, _)| is_page_key(&key)) {
        let pairs: Vec<(String, String)> = url
            .query_pairs()
            .map(|(key, value)| {
                let is_page = is_page_key(&key);
                (key.into_owned(), if is_page { number.to_string() } else { value.into_owned() })
            })
            .collect();
        changed.query_pairs_mut().clear().extend_pairs(pairs);
        return Some(changed);
    }
    let path = url.path().trim_end_matches('/');
    let end = if url.path().ends_with('/') { "/" } else { "" };
    changed.set_path(&format!("{}/{number}{end}", &path[..path.rfind('/')?]));
    Some(changed)
}

/// The address of a list without the number of its page.
pub fn list_of(url: &Url) -> String {
    let mut plain = url.clone();
    let pairs: Vec<(String, String)> = url
        .query_pairs()
        .filter(|(key, _)| !is_page_key(key))
        .map(|(key, value)| (key.into_owned(), value.into_owned()))
        .collect();
    plain.set_query(None);
    if !pairs.is_empty() {
        plain.query_pairs_mut().extend_pairs(pairs);
    }
    let all: Vec<&str> = segments(url).collect();
    if let [before @ .., word, number] = all.as_slice()
        && is_page_key(word)
        && number.parse::<u32>().is_ok()
    {
        plain.set_path(&before.join("/"));
    }
    let path = plain.path().trim_end_matches('/').to_owned();
    plain.set_path(&path);
    plain.into()
}

fn same_list(link: &Url, page: &Url) -> bool {
    list_of(link) == list_of(page)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TODAY: Date = Date::constant(2026, 11, 16);

    fn url(text: &str) -> Url {
        Url::parse("https://g.example/").unwrap().join(text).unwrap()
    }

    fn rule(known: &[&str]) -> ArticleRule {
        let mut rule = ArticleRule::default();
        known.iter().for_each(|text| rule.learn(&url(text)));
        rule
    }

    #[test]
    fn links_are_articles_by_the_shapes_of_known_ones() {
        let numbers = rule(&["/article/12", "/article/77", "/members/article/8"]);
        let page = url("/");
        let table = [
            ("/article/3", LinkTarget::Article),
            ("/members/article/3", LinkTarget::Article),
            ("/2019/03/", LinkTarget::Dated(Date::constant(2019, 3, 1))),
            ("/archive/2019/03/04", LinkTarget::Dated(Date::constant(2019, 3, 4))),
            ("/?page=2", LinkTarget::Page(2)),
            ("/page/7/", LinkTarget::Page(7)),
            ("/sport/?page=2", LinkTarget::Other),
            ("/politics/", LinkTarget::Hub),
            ("/tag/salt", LinkTarget::Tag),
            ("/2019/03/04/salt-and-pepper-again.html", LinkTarget::Article),
            ("/picture.jpg", LinkTarget::Other),
            ("https://other.example/article/3", LinkTarget::Other),
            ("/2031/05/", LinkTarget::Other),
        ];
        for (link, target) in table {
            assert_eq!(numbers.target(&url(link), &page, TODAY), target, "{link}");
        }
        let queries = rule(&["/?p=12", "/?p=13"]);
        assert_eq!(queries.target(&url("/?p=99"), &page, TODAY), LinkTarget::Article);
        assert_eq!(queries.target(&url("/?page=2"), &page, TODAY), LinkTarget::Page(2));
    }

    #[test]
    fn without_known_articles_titles_in_urls_decide() {
        let none = ArticleRule::default();
        for (link, is_article) in [
            ("/salt-and-pepper-again", true),
            ("/news/salt-is-back-77001", true),
            ("/news/123456", true),
            ("/about-us", false),
            ("/politics", false),
        ] {
            assert_eq!(none.target(&url(link), &url("/"), TODAY) == LinkTarget::Article, is_article, "{link}");
        }
    }

    #[test]
    fn entries_of_sitemaps_are_articles_unless_they_are_lists_or_files() {
        let rule = rule(&["/article/12"]);
        for (link, is_article) in [
            ("/article/3", true),
            ("/old/story.php?id=7", true),
            ("/", false),
            ("/tag/salt", false),
            ("/2019/03/", false),
            ("/a.pdf", false),
        ] {
            assert_eq!(rule.is_article_of_sitemap(&url(link), TODAY), is_article, "{link}");
        }
    }

    #[test]
    fn pages_of_a_list_are_numbered_in_the_query_or_the_path() {
        for (link, number, next) in [
            ("/?page=2", Some(2), Some("https://g.example/?page=3")),
            ("/news/?a=b&paged=4", Some(4), Some("https://g.example/news/?a=b&paged=5")),
            ("/news/page/9/", Some(9), Some("https://g.example/news/page/10/")),
            ("/news/9/", None, None),
        ] {
            assert_eq!(page_number(&url(link)), number, "{link}");
            let next_url = number.and_then(|number| with_page_number(&url(link), number + 1)).map(String::from);
            assert_eq!(next_url.as_deref(), next);
        }
        assert_eq!(list_of(&url("/news/page/9/")), list_of(&url("/news/")));
        assert_eq!(list_of(&url("/?page=9")), list_of(&url("/")));
        assert_ne!(list_of(&url("/sport/?page=9")), list_of(&url("/")));
    }

    #[test]
    fn the_path_before_the_date_of_known_articles_is_found() {
        assert_eq!(rule(&["/2019/03/04/a-b-c", "/2019/03/05/d"]).dated_prefix(), Some(""));
        assert_eq!(rule(&["/news/2019/03/04/a-b-c"]).dated_prefix(), Some("/news"));
        assert_eq!(rule(&["/article/1"]).dated_prefix(), None);
    }
}
