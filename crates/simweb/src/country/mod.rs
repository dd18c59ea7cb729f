//! The country of the demo: a dozen newspapers in three languages and ten years of their news.
//!
//! Articles are written by hand ([`written`], in `story/articles`) or composed from frames ([`ordinary`], in
//! `story/frames`). How often a topic comes up on a day is known ([`topic::weight`]): some words rise, one falls, one
//! bursts, two are new. The same articles come out on every machine; `story/README.md` describes the world.

mod frame;
mod lexicon;
mod ordinary;
mod outlet;
mod section;
mod texts;
mod topic;
mod written;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};

pub use outlet::{AGENCY, OUTLETS, Outlet};

use crate::article::Article;
use crate::rng::Rng;
use crate::text::{Block, BlockKind};
use topic::Topic;

/// The first day of the story, and the first day after it.
pub const BEGINS: Date = Date::constant(2016, 1, 1);
/// The first day after the story.
pub const ENDS: Date = Date::constant(2026, 1, 1);

/// Percentage of the agency's reports that each other English newspaper reprints.
const REPRINT_PERCENT: u64 = 6;
/// The report that all English newspapers reprint.
pub const COPIED_REPORT: &str = "Drought: reservoir falls below 30 per cent for first time";

/// An article before it has an address.
#[derive(Clone, Debug)]
struct Item {
    date: Timestamp,
    section: &'static str,
    title: String,
    author: String,
    tags: Vec<String>,
    paragraphs: Vec<String>,
}

/// All articles of the country, by newspaper and date.
#[derive(Debug)]
pub struct Country {
    items: Vec<Vec<Item>>,
}

impl Country {
    /// Composes all articles up to the end of the story; the same seed gives the same articles.
    ///
    /// # Errors
    /// Names the file and the line of an article or a frame that cannot be read.
    pub fn new(seed: u64) -> Result<Country, String> {
        let mut items: Vec<Vec<Item>> = OUTLETS.iter().map(|_| Vec::new()).collect();
        for file in texts::ARTICLES {
            for article in written::parse(file)? {
                let site = OUTLETS.iter().position(|outlet| outlet.host == article.host);
                let site = site.ok_or_else(|| format!("no newspaper {}", article.host))?;
                items[site].push(Item::written(&article, seed));
            }
        }
        for (site, outlet) in OUTLETS.iter().enumerate() {
            let topics = texts::topics(outlet.language)?;
            items[site].extend(ordinary_items(seed, site, outlet, &topics));
        }
        reprint(seed, &mut items);
        for (site, outlet) in OUTLETS.iter().enumerate() {
            items[site].retain(|item| outlet.publishes_on(day_of(item.date)));
            items[site].sort_by(|a, b| (a.date, &a.title).cmp(&(b.date, &b.title)));
        }
        Ok(Country { items })
    }

    /// The number of articles of a newspaper that are published by now.
    pub fn published(&self, site: usize, now: Timestamp) -> u64 {
        self.items[site].partition_point(|item| item.date <= now) as u64
    }

    /// The date of an article.
    pub fn date(&self, site: usize, number: u64) -> Timestamp {
        self.item(site, number).map_or(Timestamp::MAX, |item| item.date)
    }

    fn item(&self, site: usize, number: u64) -> Option<&Item> {
        self.items[site].get(usize::try_from(number).ok()?)
    }

    /// The article; an empty one if there is none with this number.
    pub fn article(&self, site: usize, number: u64) -> Article {
        let item = self.item(site, number);
        let date = item.map_or(Timestamp::MAX, |item| item.date);
        let paragraph = |text: &String| Block { kind: BlockKind::Paragraph, text: text.clone() };
        Article {
            site,
            number,
            url: String::new(),
            date,
            updated: date,
            language: OUTLETS[site].language.to_owned(),
            title: item.map(|item| item.title.clone()).unwrap_or_default(),
            author: item.map(|item| item.author.clone()).unwrap_or_default(),
            topics: item
                .map(|item| {
                    let section = section::name(item.section, OUTLETS[site].language);
                    std::iter::once(section.to_owned()).chain(item.tags.clone()).collect()
                })
                .unwrap_or_default(),
            blocks: item.map(|item| item.paragraphs.iter().map(paragraph).collect()).unwrap_or_default(),
            html: None,
        }
    }
}

impl Item {
    fn written(article: &written::Written, seed: u64) -> Item {
        let mut rng = Rng::named(&[seed, 0x3217, article.title.len() as u64, article.day.day_of_year() as u64]);
        Item {
            date: moment(article.day, &mut rng),
            section: article.section,
            title: article.title.to_owned(),
            author: if article.author.is_empty() { byline(article.host) } else { article.author.to_owned() },
            tags: article.tags.iter().map(|tag| (*tag).to_owned()).collect(),
            paragraphs: article.paragraphs.iter().map(|text| (*text).to_owned()).collect(),
        }
    }
}

/// The ordinary articles of a newspaper: every day has its chance, and every topic its weight.
fn ordinary_items(seed: u64, site: usize, outlet: &Outlet, topics: &[Topic]) -> Vec<Item> {
    let mut items = Vec::new();
    let days = (ENDS - BEGINS).get_days();
    for number in 0..days {
        let day = BEGINS + number.days();
        let mut rng = Rng::named(&[seed, 0x0DA1, site as u64, number as u64]);
        let expected = topic::volume(day) * f64::from(outlet.articles_a_year) / 365.25;
        let count = expected as u64 + u64::from(rng.unit() < expected.fract());
        for _ in 0..count {
            let Some(topic) = choose(topics, outlet, day, &mut rng) else { continue };
            let article = ordinary::compose(topic, outlet.language, day, &mut rng);
            items.push(Item {
                date: moment(day, &mut rng),
                section: topic.section,
                title: article.title,
                author: if outlet.host == AGENCY { byline(AGENCY) } else { article.author },
                tags: Vec::new(),
                paragraphs: article.paragraphs,
            });
        }
    }
    items
}

/// A topic by its weight on the day; the beats of a newspaper count three times.
fn choose<'t>(topics: &'t [Topic], outlet: &Outlet, day: Date, rng: &mut Rng) -> Option<&'t Topic> {
    let weight = |topic: &Topic| {
        let beat = if outlet.beats.contains(&topic.name) { 3.0 } else { 1.0 };
        topic::weight(topic.name, day) * beat
    };
    let total: f64 = topics.iter().map(weight).sum();
    let mut at = rng.unit() * total;
    topics.iter().find(|topic| {
        at -= weight(topic);
        at < 0.0
    })
}

/// Lets other English newspapers print reports of the agency on the next day.
fn reprint(seed: u64, items: &mut [Vec<Item>]) {
    let Some(agency) = OUTLETS.iter().position(|outlet| outlet.host == AGENCY) else { return };
    let reports = items[agency].clone();
    for (site, outlet) in OUTLETS.iter().enumerate() {
        if site == agency || outlet.language != OUTLETS[agency].language {
            continue;
        }
        for (number, report) in reports.iter().enumerate() {
            let mut rng = Rng::named(&[seed, 0xC0B1, site as u64, number as u64]);
            if rng.chance(REPRINT_PERCENT) || report.title == COPIED_REPORT {
                let later = (4 + rng.below(30) as i64).hours();
                items[site].push(Item { date: report.date + later, author: byline(AGENCY), ..report.clone() });
            }
        }
    }
}

/// The author of a report without one: the newspaper.
fn byline(host: &str) -> String {
    OUTLETS.iter().find(|outlet| outlet.host == host).map_or(host, |outlet| outlet.name).to_owned()
}

/// A moment of the working day.
fn moment(day: Date, rng: &mut Rng) -> Timestamp {
    let minute = 5 * 60 + rng.below(16 * 60) as i64;
    let midnight = day.to_zoned(TimeZone::UTC).map(|zoned| zoned.timestamp());
    midnight.unwrap_or(Timestamp::MAX) + minute.minutes()
}

fn day_of(moment: Timestamp) -> Date {
    moment.to_zoned(TimeZone::UTC).date()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_country_is_the_same_every_time_and_its_newspapers_publish_in_their_years() {
        let country = Country::new(1).unwrap();
        let again = Country::new(1).unwrap();
        let published = |country: &Country, site: usize| country.published(site, Timestamp::MAX);
        for (site, outlet) in OUTLETS.iter().enumerate() {
            let count = published(&country, site);
            assert_eq!(count, published(&again, site));
            assert!(count >= 20, "{}: {count}", outlet.host);
            assert_eq!(country.article(site, count / 2), again.article(site, count / 2));
            assert!((0..count).all(|number| outlet.publishes_on(day_of(country.date(site, number)))));
        }
    }

    #[test]
    fn every_slot_of_a_frame_has_a_value() {
        let country = Country::new(2).unwrap();
        for site in 0..OUTLETS.len() {
            for number in (0..country.published(site, Timestamp::MAX)).step_by(7) {
                let article = country.article(site, number);
                let text = format!("{}\n{}", article.title, article.text());
                assert!(!text.contains(['{', '}', '|', '$']), "{text}");
                assert!(!text.contains("other_role") && !text.contains("lastyear"), "{text}");
            }
        }
    }

    /// The shares of words that are no copies of earlier ones, by language.
    #[test]
    fn hardly_any_text_looks_copied() {
        use tidings_dedup::{Deduplicator, FingerprintStore, Origin, Rule, Scope, StoreFiles, Text};
        let country = Country::new(1).unwrap();
        for language in ["en", "de", "es"] {
            let sites = (0..OUTLETS.len()).filter(|site| OUTLETS[*site].language == language);
            let numbers =
                sites.flat_map(|site| (0..country.published(site, Timestamp::MAX)).map(move |number| (site, number)));
            let mut articles: Vec<Article> = numbers.map(|(site, number)| country.article(site, number)).collect();
            articles.sort_by_key(|article| article.date);
            let folder = tempfile::tempdir().unwrap();
            let rule = Rule::default();
            let store = FingerprintStore::new(StoreFiles::default(), folder.path(), 64 << 20).unwrap();
            let mut deduplicator = Deduplicator::new(rule, Scope::All, store);
            let (mut words, mut copied) = (0, 0);
            for (number, article) in articles.iter().enumerate() {
                let name = format!("{number}");
                let origin = Origin { name: &name, ..Origin::default() };
                let verdict = deduplicator.judge(&Text::new(article.paragraphs(), &rule), &origin).unwrap();
                (words, copied) = (words + verdict.words, copied + verdict.removed);
            }
            let kept = 1.0 - copied as f64 / words as f64;
            println!("{language}: {} articles, {words} words, {kept:.3} kept", articles.len());
            assert!(kept > 0.87, "{language}: {kept:.3}");
        }
    }

    #[test]
    fn planted_words_keep_to_their_time() {
        let country = Country::new(1).unwrap();
        let courier: Vec<Article> =
            (0..country.published(0, Timestamp::MAX)).map(|number| country.article(0, number)).collect();
        let years_of = |word: &str| {
            let with = courier.iter().filter(|article| article.text().to_lowercase().contains(word));
            with.map(|article| day_of(article.date).year()).collect::<Vec<i16>>()
        };
        assert!(years_of("crowdbus").iter().all(|year| *year >= 2020));
        assert!(years_of("ferrygate").iter().all(|year| *year == 2022));
        assert!(years_of("eclipse").iter().all(|year| *year == 2021));
        let late = |word: &str| years_of(word).iter().filter(|year| **year >= 2021).count();
        assert!(late("drought") > years_of("drought").len() / 2);
        assert!(late("solar") > years_of("solar").len() / 2);
        assert!(late("fax") < years_of("fax").len() / 2);
    }
}
