//! Sections: the path pattern, size, yield and branching of a part of a site.

use std::fmt::Write;

use jiff::Timestamp;
use jiff::civil::Date;

use super::random::{key, normal};
use super::site::{MAX_SECTIONS, PAGE_BYTES};
use super::text::{self, TEXT_BYTES};
use crate::rng::Rng;
use crate::world::{day_of, slug};

/// Names of sections. They say nothing about the yield.
pub const SECTION_NAMES: [&str; 20] = [
    "news", "blog", "shop", "forum", "magazin", "gallery", "products", "stories", "wiki", "events", "catalog",
    "archiv", "profile", "reviews", "media", "projects", "topics", "reports", "board", "services",
];

/// The form of the URLs of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathPattern {
    /// `/news/2019/03/04/words-of-the-title-12.html`
    Dated,
    /// `/news/words-of-the-title-12/`
    Slug,
    /// `/news/12`
    Number,
    /// `/news/show.php?id=12`
    Query,
    /// `/news/category/words-of-the-title-12.html`
    Nested,
    /// `/words-of-the-title-12.html`: all sections of the site have the same form.
    Flat,
}

impl PathPattern {
    /// The patterns that name their section.
    pub const OF_SECTIONS: [PathPattern; 5] =
        [PathPattern::Dated, PathPattern::Slug, PathPattern::Number, PathPattern::Query, PathPattern::Nested];
}

/// A section of a site.
#[derive(Clone, Debug, PartialEq)]
pub struct Section {
    /// Its name, unique within the site.
    pub name: &'static str,
    /// The form of its URLs.
    pub pattern: PathPattern,
    /// The number of its pages, without lists.
    pub pages: u32,
    /// The share of pages with text.
    pub text_share: f64,
    /// The share of text in the bytes of a page with text.
    pub markup_share: f64,
    /// The links of a page to other pages of the section.
    pub branching: u8,
    /// The language.
    pub language: &'static str,
    pub(super) key: u64,
}

/// The share of pages with text and the share of text in such a page that give a yield.
pub fn text_share(section_yield: f64, rng: &mut Rng) -> (f64, f64) {
    if section_yield <= 0.0 {
        return (0.0, 0.14);
    }
    let typical = (0.14 * (0.3 * normal(rng)).exp()).clamp(0.06, 0.4);
    let markup_share = typical.max(section_yield * 1.15).min(0.6);
    let section_yield = section_yield.min(markup_share * 0.95);
    let other_bytes = section_yield * PAGE_BYTES;
    (other_bytes / (TEXT_BYTES * (1.0 - section_yield / markup_share) + other_bytes), markup_share)
}

impl Section {
    /// The key of a page, from which its text and links follow.
    pub(super) fn page_key(&self, number: u32) -> u64 {
        key(&[self.key, u64::from(number)])
    }

    /// Whether a page has text.
    pub(super) fn has_text(&self, number: u32) -> bool {
        Rng::named(&[self.key, 0x7E87, u64::from(number)]).unit() < self.text_share
    }

    /// The date of a page: page 0 is the newest, and the first three thousand days before are filled evenly.
    pub(super) fn date(&self, number: u32, now: Timestamp) -> Timestamp {
        const SECONDS: i64 = 3_000 * 86_400;
        let interval = (SECONDS / i64::from(self.pages.max(1))).max(60);
        let jitter = Rng::named(&[self.key, 0xDA7E, u64::from(number)]).below(interval as u64) as i64;
        let second = now.as_second() - i64::from(number) * interval - jitter;
        Timestamp::from_second(second).unwrap_or(now)
    }

    /// The path of a page, with its query. It ends with a number from which section and page follow.
    pub(super) fn page_path(&self, index: usize, number: u32, now: Timestamp) -> String {
        let id = u64::from(number) * MAX_SECTIONS + index as u64;
        let name = self.name;
        let words = || slug(&text::title(self.language, self.page_key(number)));
        match self.pattern {
            PathPattern::Dated => {
                let day: Date = day_of(self.date(number, now));
                let (year, month, date) = (day.year(), day.month(), day.day());
                format!("/{name}/{year:04}/{month:02}/{date:02}/{}-{id}.html", words())
            }
            PathPattern::Slug => format!("/{name}/{}-{id}/", words()),
            PathPattern::Number => format!("/{name}/{id}"),
            PathPattern::Query => format!("/{name}/show.php?id={id}"),
            PathPattern::Nested => format!("/{name}/{}/{}-{id}.html", CATEGORIES[number as usize % 6], words()),
            PathPattern::Flat => format!("/{}-{id}.html", words()),
        }
    }

    /// The path of a page of the list of the section, from 0.
    pub(super) fn list_path(&self, page: u32) -> String {
        let mut path = format!("/{}/", self.name);
        if page > 0 {
            write!(path, "page/{}/", page + 1).expect("writing to a string cannot fail");
        }
        path
    }

    /// The number of pages of the list.
    pub(super) fn list_pages(&self) -> u32 {
        self.pages.div_ceil(LIST_ENTRIES)
    }
}

/// Entries of a page of a list.
pub const LIST_ENTRIES: u32 = 20;

const CATEGORIES: [&str; 6] = ["local", "sport", "culture", "science", "travel", "home"];

/// The section and page that the number in a path names, before it is compared with the whole path.
pub fn named_page(path: &str) -> Option<(usize, u32)> {
    let digits = match path.split_once("?id=") {
        Some((_, digits)) => digits,
        None => {
            let stem = path.split('?').next()?.trim_end_matches('/').trim_end_matches(".html");
            let count = stem.bytes().rev().take_while(u8::is_ascii_digit).count();
            &stem[stem.len() - count..]
        }
    };
    let id: u64 = digits.parse().ok()?;
    Some(((id % MAX_SECTIONS) as usize, u32::try_from(id / MAX_SECTIONS).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(pattern: PathPattern) -> Section {
        Section {
            name: "news",
            pattern,
            pages: 500,
            text_share: 0.5,
            markup_share: 0.14,
            branching: 3,
            language: "de",
            key: 9,
        }
    }

    #[test]
    fn every_path_names_its_page() {
        let now = Timestamp::constant(1_772_366_400, 0);
        for pattern in PathPattern::OF_SECTIONS.into_iter().chain([PathPattern::Flat]) {
            for number in [0, 1, 77, 499] {
                let path = section(pattern).page_path(5, number, now);
                assert_eq!(named_page(&path), Some((5, number)), "{path}");
            }
        }
    }

    #[test]
    fn shares_give_the_yield_that_they_were_made_for() {
        let mut rng = Rng::named(&[1]);
        for wanted in [0.0005, 0.01, 0.05, 0.2, 0.4] {
            let (text_share, markup_share) = text_share(wanted, &mut rng);
            let text = text_share * TEXT_BYTES;
            let bytes = text / markup_share + (1.0 - text_share) * PAGE_BYTES;
            assert!((text / bytes / wanted - 1.0).abs() < 0.01, "{wanted}: {}", text / bytes);
        }
    }

    #[test]
    fn later_numbers_are_older_pages() {
        let now = Timestamp::constant(1_772_366_400, 0);
        let section = section(PathPattern::Dated);
        assert!((1..500).all(|number| section.date(number, now) < section.date(number - 1, now)));
        assert!(section.date(0, now) <= now);
    }
}
