//! The deterministic content of the web: sites, articles, dates, URLs.
//!
//! Articles are not stored. An article follows from the seed, its site and its number, so a web of thousands of sites
//! with years of history takes a few bytes per site, and every request for an article gets the same text.

use std::fmt::Write;

use jiff::Timestamp;
use jiff::civil::Date;

use crate::archive::Archive;
use crate::article::Article;
use crate::clock::Clock;
use crate::country::{Country, OUTLETS};
use crate::hiding::Hidden;
use crate::history::HistoryAccess;
use crate::profile::{PathStyle, Profile, address};
use crate::revision::Revisions;
use crate::rng::Rng;
use crate::server::tls::TLS_SITES;
use crate::spec::Spec;
use crate::text::{self, Grammar, Story, grammar};

/// The beginning of the path of an address that redirects to another site; no path of an article begins so.
const ELSEWHERE: &str = "/elsewhere/";

/// The required part of an article.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// The part in a feed: title, lead, date.
    Head,
    /// All of it.
    Whole,
}

/// The source of all articles.
#[derive(Debug)]
pub enum Source {
    /// Composed on request.
    Generated,
    /// Read from a file.
    Archive(Archive),
    /// The country of the demo.
    Country(Country),
}

/// The data from which every response is generated.
#[derive(Debug)]
pub struct World {
    pub spec: Spec,
    pub port: u16,
    /// The TLS port of the first sites, if enabled.
    pub tls_port: Option<u16>,
    pub clock: Clock,
    /// The changes of published articles.
    pub revisions: Revisions,
    profiles: Vec<Profile>,
    source: Source,
}

impl World {
    pub fn new(spec: Spec, port: u16, tls_port: Option<u16>, mut source: Source) -> Self {
        if let Source::Archive(archive) = &mut source {
            archive.spread_over(spec.sites);
        }
        let profiles = (0..spec.sites)
            .map(|site| {
                let language = match &source {
                    Source::Generated => Profile::language_of(&spec, site),
                    Source::Archive(archive) => archive.language(site),
                    Source::Country(_) => OUTLETS[site].language,
                };
                let profile = Profile::of(&spec, site, language);
                match &source {
                    // The words of a title say more to a reader of the demo than a number.
                    Source::Country(_) => Profile { paths: PathStyle::Dated, ..profile },
                    _ => profile,
                }
            })
            .collect();
        let clock = Clock::new(spec.start, spec.clock_speed);
        World { spec, port, tls_port, clock, revisions: Revisions::default(), profiles, source }
    }

    /// Whether this is the country of the demo.
    pub fn is_country(&self) -> bool {
        matches!(self.source, Source::Country(_))
    }

    pub fn profile(&self, site: usize) -> &Profile {
        &self.profiles[site]
    }

    /// The location of the hidden feed of a site, if this web hides feeds.
    pub fn hidden(&self, site: usize) -> Option<Hidden> {
        let ways = &self.spec.hiding;
        let way = *ways.get(site % ways.len().max(1))?;
        Some(Hidden::of(self.spec.seed, site, way, self.profiles[site].format))
    }

    /// The way in which a site shows its old articles, if this web has such ways.
    pub fn history(&self, site: usize) -> Option<HistoryAccess> {
        let ways = &self.spec.histories;
        ways.get(site % ways.len().max(1)).copied()
    }

    pub fn grammar(&self, site: usize) -> &'static Grammar {
        grammar(self.profiles[site].language)
    }

    /// The start and the duration of planted trends.
    pub fn story(&self) -> Story {
        Story { first_day: day_of(self.spec.start), days: self.spec.story.as_secs_f64() / 86_400.0 }
    }

    /// The address of a path on a site, as a URL.
    pub fn url(&self, site: usize, path: &str) -> String {
        if self.is_country() {
            return format!("http://{}{path}", OUTLETS[site].host);
        }
        match self.tls_port {
            Some(port) if site < TLS_SITES => format!("https://{}:{port}{path}", address(site)),
            _ => format!("http://{}:{}{path}", address(site), self.port),
        }
    }

    /// The name of the site.
    pub fn site_name(&self, site: usize) -> String {
        if self.is_country() {
            return OUTLETS[site].name.to_owned();
        }
        format!("{} {}", self.grammar(site).label("site"), site + 1)
    }

    /// The number of articles that a site has published by now.
    pub fn published(&self, site: usize) -> u64 {
        let now = self.clock.now();
        match &self.source {
            Source::Archive(archive) => return archive.published(site, now),
            Source::Country(country) => return country.published(site, now),
            Source::Generated => {}
        }
        let since = now.as_second() - self.origin(site);
        let interval = i64::from(self.profiles[site].interval);
        let candidate = since.max(0) / interval;
        // The article of the current interval may be due later in it.
        let due = self.date(site, candidate as u64).as_second() <= now.as_second();
        candidate as u64 + u64::from(due)
    }

    /// The time of the first article of a site: early enough that its feed is full at the start.
    fn origin(&self, site: usize) -> i64 {
        let backlog = self.spec.history.max(self.spec.items_per_feed) as i64;
        self.spec.start.as_second() - backlog * i64::from(self.profiles[site].interval)
    }

    /// The date of an article. Later numbers have later dates.
    pub fn date(&self, site: usize, number: u64) -> Timestamp {
        match &self.source {
            Source::Archive(archive) => return archive.date(site, number),
            Source::Country(country) => return country.date(site, number),
            Source::Generated => {}
        }
        let interval = u64::from(self.profiles[site].interval);
        let jitter = Rng::named(&[self.spec.seed, 0xDA7E, site as u64, number]).below(interval);
        let second = self.origin(site) + (number * interval + jitter) as i64;
        Timestamp::from_second(second).unwrap_or(Timestamp::MAX)
    }

    /// The numbers of the articles in the feed of the site, the latest first.
    pub fn listed(&self, site: usize) -> impl Iterator<Item = u64> + use<> {
        let published = self.published(site);
        let oldest = published.saturating_sub(self.spec.items_per_feed as u64);
        (oldest..published).rev()
    }

    /// The articles of other sites that the feed of a site lists.
    pub fn cross_listed(&self, site: usize, extent: Extent) -> Vec<Article> {
        let others = self.spec.sites;
        if !self.spec.cross_links || others < 3 {
            return Vec::new();
        }
        let (next, far) = ((site + 1) % others, (site + 2) % others);
        let mut listed: Vec<Article> =
            self.listed(next).take(1).chain([1]).map(|number| self.article(next, number, extent)).collect();
        let url = self.url(site, &format!("{ELSEWHERE}{far}/away"));
        listed.push(Article { url, ..self.article(far, 0, extent) });
        listed
    }

    /// The target of an address that redirects to another site.
    pub fn elsewhere(&self, path: &str) -> Option<String> {
        let far: usize = path.strip_prefix(ELSEWHERE)?.strip_suffix("/away")?.parse().ok()?;
        (self.spec.cross_links && far < self.spec.sites).then(|| self.article(far, 0, Extent::Head).url)
    }

    /// An article, or the part of it that a feed needs.
    pub fn article(&self, site: usize, number: u64, extent: Extent) -> Article {
        let date = self.date(site, number);
        let mut article = match &self.source {
            Source::Archive(archive) => archive.article(site, number),
            Source::Country(country) => country.article(site, number),
            Source::Generated => {
                let own = self.grammar(site);
                let mut rng = self.author(site, number, date);
                let prose = match extent {
                    Extent::Head => text::compose_head(own, &mut rng),
                    Extent::Whole => text::compose(own, &mut rng, self.story(), day_of(date)),
                };
                Article {
                    site,
                    number,
                    url: String::new(),
                    date,
                    updated: date,
                    language: own.code.to_string(),
                    title: prose.title,
                    author: prose.author,
                    topics: prose.topics,
                    blocks: prose.blocks,
                    html: None,
                }
            }
        };
        // The URL keeps the first title.
        article.url = self.url(site, &self.path(site, number, date, &article.title));
        self.revisions.apply(&mut article);
        article
    }

    /// The random stream of the text of an article: of the site, or of an agency whose articles several sites print in
    /// the same week.
    fn author(&self, site: usize, number: u64, date: Timestamp) -> Rng {
        let seed = self.spec.seed;
        if Rng::named(&[seed, 0xA6E, site as u64, number]).chance(self.spec.agency_percent) {
            let week = date.as_second() / (7 * 86_400);
            return Rng::named(&[seed, 0xA6E, week as u64]);
        }
        Rng::named(&[seed, 0xA27, site as u64, number])
    }

    /// The canonical path of an article. It ends with the number, so that no table is needed to find the article.
    fn path(&self, site: usize, number: u64, date: Timestamp, title: &str) -> String {
        let style = self.profiles[site].paths;
        // Every fifth article is below `/members`, so that a robots.txt rule for one path has an effect.
        let has_members = !self.is_country();
        let mut path = String::from(if has_members && number % 5 == 4 { "/members" } else { "" });
        let done = match style {
            PathStyle::Dated => {
                let day = day_of(date);
                write!(path, "/{:04}/{:02}/{:02}/{}-{number}.html", day.year(), day.month(), day.day(), slug(title))
            }
            PathStyle::Number => write!(path, "/article/{number}"),
            PathStyle::Slug => write!(path, "/news/{}-{number}/", slug(title)),
            PathStyle::Query => write!(path, "/?p={number}"),
        };
        done.expect("writing to a string cannot fail");
        path
    }

    /// The number of the article at a path, if it is published.
    pub fn number_at(&self, site: usize, target: &str) -> Option<u64> {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let number = match self.profiles[site].paths {
            PathStyle::Query => query.split('&').find_map(|pair| pair.strip_prefix("p="))?,
            _ => {
                let stem = path.trim_end_matches('/').trim_end_matches(".html");
                let digits = stem.bytes().rev().take_while(u8::is_ascii_digit).count();
                let before = stem.as_bytes().get(stem.len().checked_sub(digits + 1)?)?;
                if !matches!(before, b'-' | b'/') {
                    return None;
                }
                &stem[stem.len() - digits..]
            }
        };
        number.parse().ok().filter(|number| *number < self.published(site))
    }
}

/// The calendar day of a moment, in Greenwich.
pub fn day_of(date: Timestamp) -> Date {
    date.to_zoned(jiff::tz::TimeZone::UTC).date()
}

/// A few words of a title for a URL: Latin letters unchanged, others percent-encoded.
pub fn slug(title: &str) -> String {
    let mut out = String::new();
    let words = title.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    for word in words.take(4) {
        if !out.is_empty() {
            out.push('-');
        }
        for letter in word.chars().take(12).flat_map(char::to_lowercase) {
            if letter.is_ascii() {
                out.push(letter);
            } else {
                let mut bytes = [0; 4];
                for byte in letter.encode_utf8(&mut bytes).bytes() {
                    write!(out, "%{byte:02X}").expect("writing to a string cannot fail");
                }
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn world() -> World {
        World::new(Spec { sites: 44, items_per_feed: 12, ..Spec::default() }, 80, None, Source::Generated)
    }

    #[test]
    fn feeds_are_full_at_the_start() {
        let world = world();
        assert!((0..44).all(|site| world.published(site) == 12 && world.listed(site).count() == 12));
    }

    #[test]
    fn the_clock_publishes_in_order() {
        let world = world();
        let before = world.published(3);
        world.clock.advance(Duration::from_secs(86_400));
        let after = world.published(3);
        assert!(after > before + 5);
        assert!((1..after).all(|number| world.date(3, number) > world.date(3, number - 1)));
        assert!(world.date(3, after - 1) <= world.clock.now());
        assert!(world.date(3, after) > world.clock.now());
    }

    #[test]
    fn every_path_identifies_its_article() {
        let world = world();
        for site in 0..44 {
            for number in 0..12 {
                let article = world.article(site, number, Extent::Whole);
                let path = article.url.strip_prefix(&world.url(site, "")).unwrap();
                assert_eq!(world.number_at(site, path), Some(number), "{path}");
                let tracked = format!("{path}{}utm_source=rss", if path.contains('?') { '&' } else { '?' });
                assert_eq!(world.number_at(site, &tracked), Some(number));
                assert_eq!(world.article(site, number, Extent::Head).url, article.url);
            }
            assert_eq!(world.number_at(site, "/article/12"), None, "not published yet");
            assert_eq!(world.number_at(site, "/"), None);
        }
    }
}
