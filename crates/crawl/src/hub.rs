//! Links of front and section pages that lead to articles.
//!
//! A site without a feed lists its new articles on pages. Most links of such a page lead elsewhere: sections, tags,
//! authors, imprints, the next page. Articles are recognised by the shape of their URLs, which those of known articles of
//! the site have too; on an unknown site by the shapes whose links have headlines as anchors, and dates, titles or numbers
//! in their URLs.

use std::collections::{HashMap, HashSet};

use jiff::civil::Date;
use tidings_lang::is_unspaced;
use tidings_model::{LinkRegion, PageLink, PageLinks};
use url::Url;

use crate::shape::{domain, section};
use crate::trap::{date_in_path, hard_trap};
use crate::url_words::{is_list, is_paging_key, is_service};

/// The most articles taken from a page.
const MAX_ARTICLES: usize = 1_000;
/// The number of known articles of a site from which on their shapes decide.
const ENOUGH_KNOWN: u32 = 10;
/// The number of known articles that a shape must have.
const MIN_KNOWN_OF_SHAPE: u32 = 2;
/// The number of links with headlines and telling URLs that make a shape one of articles.
const MIN_STRONG: usize = 3;
/// The same on a site whose known articles have other shapes.
const MIN_STRONG_BESIDE_KNOWN: usize = 8;
/// The number of links with headlines that make a shape one of articles, whatever its URLs.
const MIN_HEADLINES: usize = 5;
/// The share of links with headlines that such a shape must have.
const MIN_HEADLINE_SHARE: f64 = 0.7;
/// The least words of a headline, and its least letters otherwise.
const HEADLINE_WORDS: usize = 4;
const HEADLINE_CHARS: usize = 25;
/// The least characters of a headline in scripts without spaces.
const HEADLINE_UNSPACED_CHARS: usize = 8;
/// The least consecutive digits of the number of an article.
const ID_DIGITS: usize = 4;

/// Extensions of files that are web pages.
const PAGES: &[&str] =
    &["html", "htm", "xhtml", "shtml", "php", "php3", "asp", "aspx", "jsp", "do", "cfm", "cgi", "phtml"];

/// An article that a page links to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HubArticle {
    /// The normalised URL.
    pub url: String,
    /// The anchor, or empty if it says nothing about the article (“Read more”).
    pub title: String,
    /// The day in the path of the URL.
    pub day: Option<Date>,
}

/// The known articles of a site, by the shapes of their URLs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KnownArticles {
    sections: HashMap<String, u32>,
    patterns: HashMap<String, u32>,
    total: u32,
}

impl KnownArticles {
    /// Adds an article.
    pub fn add(&mut self, url: &Url) {
        let section = section(url);
        *self.patterns.entry(pattern(&section)).or_default() += 1;
        *self.sections.entry(section).or_default() += 1;
        self.total += 1;
    }

    /// Returns true if there are enough of them to tell articles from other pages.
    pub fn is_enough(&self) -> bool {
        self.total >= ENOUGH_KNOWN
    }
}

/// The articles that a page links to, in the order of the page. `today` bounds the dates in paths.
///
/// Links in navigation, links that must not be followed and links to other registered domains are left out. Whether the
/// page as a whole forbids following its links is for the caller to check.
pub fn articles(links: &PageLinks, page: &Url, known: &KnownArticles, today: Date) -> Vec<HubArticle> {
    let candidates: Vec<Candidate<'_>> =
        links.links.iter().filter_map(|link| Candidate::of(link, page, today)).collect();
    let mut accepted = Vec::new();
    if known.is_enough() {
        // A site may have a new form of URLs since its known articles.
        let patterns = article_patterns(&candidates, MIN_STRONG_BESIDE_KNOWN);
        let is_new_form = |candidate: &Candidate<'_>| candidate.is_strong() && patterns.contains(&*candidate.pattern);
        accepted = candidates.iter().filter(|candidate| candidate.is_like(known) || is_new_form(candidate)).collect();
    }
    // The known articles may be those of another part of the site.
    if accepted.is_empty() {
        let patterns = article_patterns(&candidates, MIN_STRONG);
        accepted = candidates.iter().filter(|candidate| candidate.is_probable(&patterns)).collect();
    }
    let mut anchors: HashMap<String, usize> = HashMap::new();
    for candidate in &accepted {
        *anchors.entry(candidate.link.anchor.to_lowercase()).or_default() += 1;
    }
    let title = |anchor: &str| match anchors.get(&anchor.to_lowercase()) {
        // “Read more” stands under every teaser.
        Some(1) if is_telling(anchor) => anchor.to_owned(),
        _ => String::new(),
    };
    let article = |candidate: &&Candidate<'_>| HubArticle {
        url: candidate.link.url.clone(),
        title: title(&candidate.link.anchor),
        day: candidate.day,
    };
    accepted.iter().take(MAX_ARTICLES).map(article).collect()
}

/// A link that may lead to an article.
struct Candidate<'a> {
    link: &'a PageLink,
    section: String,
    pattern: String,
    /// The day in the path.
    day: Option<Date>,
    /// The anchor is as long as a headline.
    is_headline: bool,
    /// The URL has a date, a title or a number.
    is_telling_url: bool,
    /// A segment of the path says that it is something else.
    is_other: bool,
}

impl<'a> Candidate<'a> {
    fn of(link: &'a PageLink, page: &Url, today: Date) -> Option<Candidate<'a>> {
        if link.region == LinkRegion::Navigation || link.nofollow {
            return None;
        }
        let url = Url::parse(&link.url).ok()?;
        let is_above = url.query().is_none() && (page.path().starts_with(url.path()) || url.path() == "/");
        if domain(&url) != domain(page) || is_above || !is_page(&url) || hard_trap(&url, today).is_some() {
            return None;
        }
        let section = section(&url);
        let day = whole_date_in_path(&url);
        let is_other = is_list(&url) || is_service(&url);
        Some(Candidate {
            link,
            pattern: pattern(&section),
            section,
            is_headline: is_headline(&link.anchor),
            is_telling_url: day.is_some() || is_telling_url(&url),
            day,
            is_other,
        })
    }

    /// Returns true if the URL has the shape of known articles.
    fn is_like(&self, known: &KnownArticles) -> bool {
        let has = |map: &HashMap<String, u32>, key: &str| map.get(key).is_some_and(|n| *n >= MIN_KNOWN_OF_SHAPE);
        let in_section = has(&known.sections, &self.section);
        // Another section of the site with the same form of URLs; `/about/imprint` has the form of `/politics/vote`.
        let in_pattern = || has(&known.patterns, &self.pattern) && !self.is_other;
        in_section && (self.is_headline || self.is_telling_url)
            || in_pattern() && self.is_headline && self.is_telling_url
    }

    fn is_strong(&self) -> bool {
        self.is_headline && self.is_telling_url && !self.is_other
    }

    fn is_probable(&self, patterns: &HashSet<&str>) -> bool {
        let has_evidence = (self.is_headline || self.is_telling_url) && !self.is_other;
        self.is_strong() || has_evidence && patterns.contains(self.pattern.as_str())
    }
}

/// The patterns of URLs that are those of articles on a site of which nothing is known.
fn article_patterns<'c>(candidates: &'c [Candidate<'_>], min_strong: usize) -> HashSet<&'c str> {
    #[derive(Default)]
    struct Counts {
        links: usize,
        headlines: usize,
        strong: usize,
    }
    let mut groups: HashMap<&str, Counts> = HashMap::new();
    for candidate in candidates {
        let group = groups.entry(&candidate.pattern).or_default();
        group.links += 1;
        group.headlines += usize::from(candidate.is_headline && !candidate.is_other);
        group.strong += usize::from(candidate.is_strong());
    }
    let is_of_articles = |group: &Counts| {
        group.strong >= min_strong && 2 * group.strong >= group.links
            || group.headlines >= MIN_HEADLINES && group.headlines as f64 >= MIN_HEADLINE_SHARE * group.links as f64
    };
    groups.into_iter().filter(|(_, group)| is_of_articles(group)).map(|(pattern, _)| pattern).collect()
}

/// The form of a section without the names of its folders and `www.`: articles of all departments of a paper have one.
fn pattern(section: &str) -> String {
    let section = section.strip_prefix("www.").unwrap_or(section);
    let (path, query) = section.split_once('?').map_or((section, None), |(path, query)| (path, Some(query)));
    let segments: Vec<&str> = path.split('/').collect();
    let last = segments.len() - 1;
    let named = |(at, segment): (usize, &&str)| match *segment {
        "" | "#" | "D" | "*" => (*segment).to_owned(),
        _ if at == 0 || at == last => (*segment).to_owned(),
        _ => "+".to_owned(),
    };
    let path = segments.iter().enumerate().map(named).collect::<Vec<_>>().join("/");
    query.map_or(path.clone(), |query| format!("{path}?{query}"))
}

/// Returns true if a URL is not that of a picture, a document or an archive.
fn is_page(url: &Url) -> bool {
    let last = url.path().rsplit('/').next().unwrap_or_default();
    let extension = last.rsplit_once('.').map(|(_, extension)| extension);
    let is_extension = |text: &&str| (2..=5).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_alphanumeric());
    extension.filter(is_extension).is_none_or(|extension| {
        extension.bytes().all(|b| b.is_ascii_digit()) || PAGES.iter().any(|known| extension.eq_ignore_ascii_case(known))
    })
}

/// The date in a path that has a day; a missing day is not the first.
fn whole_date_in_path(url: &Url) -> Option<Date> {
    let date = date_in_path(url)?;
    let (year, month, day) = (date.year(), date.month(), date.day());
    let forms = [
        format!("/{year}/{month:02}/{day:02}/"),
        format!("/{year}/{month}/{day}/"),
        format!("/{year}{month:02}{day:02}/"),
        format!("/{year}-{month:02}-{day:02}/"),
        format!("/{year}_{month:02}_{day:02}/"),
        format!("/{year}.{month:02}.{day:02}/"),
    ];
    let path = format!("{}/", url.path());
    forms.iter().any(|form| path.contains(form.as_str())).then_some(date)
}

/// Returns true if the last segment or the query has a title or a number.
fn is_telling_url(url: &Url) -> bool {
    let path = url.path().trim_end_matches('/');
    let last = path.rsplit('/').next().unwrap_or_default();
    let stem = last.split('.').next().unwrap_or_default();
    let separators = stem.bytes().filter(|byte| matches!(byte, b'-' | b'_')).count();
    // Letters of other scripts are escaped, three bytes and more each.
    let is_escaped_title = stem.matches('%').count() >= HEADLINE_UNSPACED_CHARS;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_numbered = |(name, value): (std::borrow::Cow<'_, str>, std::borrow::Cow<'_, str>)| {
        is_number(&value) && !is_paging_key(&name)
    };
    separators >= 2 && stem.len() >= 12
        || is_escaped_title
        || has_id(last)
        || is_number(stem)
        || url.query_pairs().any(is_numbered)
        || url.query().is_some_and(has_id)
}

fn has_id(text: &str) -> bool {
    text.split(|c: char| !c.is_ascii_digit()).any(|digits| digits.len() >= ID_DIGITS)
}

fn is_headline(anchor: &str) -> bool {
    let words = anchor.split_whitespace().filter(|word| word.chars().any(char::is_alphabetic)).count();
    let letters = anchor.chars().filter(|c| c.is_alphanumeric()).count();
    words >= HEADLINE_WORDS
        || words >= 2 && letters >= HEADLINE_CHARS
        || anchor.chars().filter(|c| is_unspaced(*c)).count() >= HEADLINE_UNSPACED_CHARS
}

/// Returns true if an anchor may be a title.
fn is_telling(anchor: &str) -> bool {
    anchor.split_whitespace().count() >= 2 || anchor.chars().filter(|c| is_unspaced(*c)).count() >= 4
}

#[cfg(test)]
mod tests {
    use super::*;

    const TODAY: Date = Date::constant(2026, 11, 16);

    fn link(path: &str, region: LinkRegion, anchor: &str) -> PageLink {
        let url = if path.starts_with('/') { format!("https://www.paper.example{path}") } else { path.to_owned() };
        PageLink { url, region, anchor: anchor.to_owned(), nofollow: false }
    }

    fn found(links: Vec<PageLink>, known: &KnownArticles) -> Vec<HubArticle> {
        let page = Url::parse("https://www.paper.example/news/").expect("a URL");
        articles(&PageLinks { links, ..PageLinks::default() }, &page, known, TODAY)
    }

    fn paths(articles: &[HubArticle]) -> Vec<&str> {
        articles
            .iter()
            .map(|article| article.url.strip_prefix("https://www.paper.example").unwrap_or(&article.url))
            .collect()
    }

    #[test]
    fn articles_of_an_unknown_site_are_told_by_headlines_and_urls() {
        let list = |path, anchor| link(path, LinkRegion::List, anchor);
        let links = vec![
            list("/politics/council-postpones-budget-vote", "Council postpones the budget vote"),
            list("/local/ferry-returns-in-spring", "The ferry returns in spring"),
            link("/sport/late-goal-saves-the-day", LinkRegion::Text, "Late goal saves the day for the town"),
            list("/culture/bells", "The bells of the old town ring again"),
            list("/politics/", "Politics"),
            list("/tag/council-and-the-budget", "All about the council and the budget"),
            list("/about/imprint", "Imprint"),
            list("/news/page/2", "Older news"),
            list("/report-of-the-year-2025.pdf", "The report of the year as a file"),
            link("/politics/most-read-of-the-week", LinkRegion::Navigation, "The most read articles of the week"),
        ];
        let articles = found(links, &KnownArticles::default());
        assert_eq!(
            paths(&articles),
            [
                "/politics/council-postpones-budget-vote",
                "/local/ferry-returns-in-spring",
                "/sport/late-goal-saves-the-day",
                "/culture/bells"
            ]
        );
        assert_eq!(articles[0].title, "Council postpones the budget vote");
    }

    #[test]
    fn articles_of_a_known_site_have_the_shapes_of_known_articles() {
        let mut known = KnownArticles::default();
        for number in 0..20 {
            known.add(&Url::parse(&format!("https://www.paper.example/story/{}", 7000 + number)).expect("a URL"));
        }
        let list = |path, anchor| link(path, LinkRegion::List, anchor);
        let links = vec![
            list("/story/8044", "Budget"),
            list("/promotion/win-a-trip-to-the-sea", "Win a trip to the sea with our paper"),
            list("/sports/8045", "Late goal saves the day for the town"),
            list("/sports/8046", "Table"),
        ];
        assert_eq!(paths(&found(links, &known)), ["/story/8044", "/sports/8045"]);
    }

    #[test]
    fn a_new_form_of_urls_is_noticed_beside_known_articles() {
        let mut known = KnownArticles::default();
        for number in 0..20 {
            known.add(&Url::parse(&format!("https://www.paper.example/story/{}", 7000 + number)).expect("a URL"));
        }
        let old = link("/story/8044", LinkRegion::List, "Budget");
        let new =
            |n: usize| link(&format!("/2026/11/15/title-of-story-{n}"), LinkRegion::List, "The long title of a story");
        let few = found((0..3).map(new).chain([old.clone()]).collect(), &known);
        assert_eq!(paths(&few), ["/story/8044"]);
        assert_eq!(found((0..9).map(new).chain([old]).collect(), &known).len(), 10);
    }

    #[test]
    fn traps_other_domains_and_nofollow_are_left_out() {
        let links = vec![
            PageLink {
                nofollow: true,
                ..link("/a/paid-text-about-a-new-car", LinkRegion::List, "A new car for the family")
            },
            link("https://other.example/a/ferry-returns-in-spring", LinkRegion::List, "The ferry returns in spring"),
            link("https://blog.paper.example/a/how-we-count-votes", LinkRegion::List, "How we count the votes"),
            link("/calendar/2031/05/01/all-events-of-the-day", LinkRegion::List, "All events of the day"),
            link("/news/", LinkRegion::List, "All the news of the day"),
            link("/", LinkRegion::List, "The Paper: all news of the town"),
        ];
        let articles = found(links, &KnownArticles::default());
        assert_eq!(paths(&articles), ["https://blog.paper.example/a/how-we-count-votes"]);
    }

    #[test]
    fn anchors_that_stand_under_many_links_are_no_titles() {
        let links =
            (0..4).map(|n| link(&format!("/a/{n}-long-title-of-a-story"), LinkRegion::List, "Read more about this"));
        let articles = found(links.collect(), &KnownArticles::default());
        assert_eq!(articles.len(), 4);
        assert!(articles.iter().all(|article| article.title.is_empty()));
    }

    #[test]
    fn the_day_is_that_of_a_whole_date_in_the_path() {
        let day = |path: &str| {
            found(vec![link(path, LinkRegion::List, "The ferry returns in spring")], &KnownArticles::default())[0].day
        };
        assert_eq!(day("/2026/11/15/ferry"), Some(Date::constant(2026, 11, 15)));
        assert_eq!(day("/news/2026-11-01/ferry"), Some(Date::constant(2026, 11, 1)));
        assert_eq!(day("/2026/11/the-ferry-returns-in-spring"), None, "a month is not its first day");
    }

    #[test]
    fn headlines_of_scripts_without_spaces_count_characters() {
        let links = (0..3)
            .map(|n| link(&format!("/news/{}", 10_000 + n), LinkRegion::List, &format!("台风明天登陆东部沿海地区{n}")));
        assert_eq!(found(links.collect(), &KnownArticles::default()).len(), 3);
    }
}
