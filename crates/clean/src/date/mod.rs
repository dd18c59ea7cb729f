//! Decides on which day a page was published, and how far that can be trusted.
//!
//! A dozen witnesses speak of the day of an article: its JSON-LD, its metas, the line below its
//! headline, its address, the feed that listed it. Each is right only so often, and some speak of
//! the last change or of another article. All are heard, the impossible are refused, and those
//! that agree win. People count words per day in our corpora, so the day comes with its source
//! and with a confidence that was measured, not felt.

mod address;
mod declared;
mod page;
mod script;
mod weigh;
mod words;
mod written;

use html5ever::local_name;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use tidings_model::Dated;

use crate::facts::Facts;
use crate::tree::Tree;
use address::Address;
use written::{FIRST_YEAR, Habit, LAST_YEAR, Stamp, Zone};

/// What is known of a page besides the page.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Clocks {
    /// The date the feed gave the entry.
    pub feed: Option<Timestamp>,
    /// The HTTP header of that name.
    pub last_modified: Option<Timestamp>,
    /// When the entry was first seen in its feed.
    pub seen: Option<Timestamp>,
    /// When the page was fetched.
    pub downloaded: Option<Timestamp>,
    /// No page is younger, for callers that know that much but not when it was fetched.
    pub latest: Option<Date>,
}

/// What a page's dates come to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Dates {
    /// The day of publication.
    pub published: Option<Dated>,
    /// The day of the last change.
    pub modified: Option<Date>,
    /// All that was heard, in the order of hearing.
    pub candidates: Vec<Candidate>,
    /// What is odd about it.
    pub doubts: Vec<Doubt>,
}

/// Why a date should be looked at twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doubt {
    /// The feed's date lies after the download.
    FutureFeedDate,
    /// The feed's date lies years before the download.
    OldFeedDate,
    /// The feed's date is the moment it was asked, while the page is older.
    RollingFeedDate,
    /// The page declares a day after the download.
    FuturePageDate,
    /// Good evidence speaks for another day too.
    Disagreement,
}

impl Doubt {
    /// Its name in documents.
    pub fn name(self) -> &'static str {
        match self {
            Doubt::FutureFeedDate => "future-feed-date",
            Doubt::OldFeedDate => "old-feed-date",
            Doubt::RollingFeedDate => "rolling-feed-date",
            Doubt::FuturePageDate => "future-page-date",
            Doubt::Disagreement => "disagreement",
        }
    }
}

/// Something that speaks of a day.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidate {
    /// The day as written, in its own time zone.
    pub day: Date,
    /// Who says so.
    pub source: Source,
    /// Of what it speaks.
    pub role: Role,
    /// Where it stands.
    pub place: Place,
    /// How often such evidence was the day of publication, between 0 and 1.
    pub confidence: f32,
    utc_hour: Option<i8>,
    vague: bool,
    linked: bool,
    nth: u8,
}

/// Who speaks of a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Source {
    /// JSON-LD of an article.
    LdArticle,
    /// JSON-LD of a page.
    LdPage,
    /// JSON-LD of something else, or of one article among many.
    LdOther,
    /// A meta that is about publication or change.
    Meta,
    /// A meta that only says `date`.
    MetaPlain,
    /// `itemprop` or `property`.
    Microdata,
    /// `<time>`.
    Time,
    /// A `data-` attribute.
    Data,
    /// An element named after a date.
    Marked,
    /// Text after a word such as *published*.
    Labelled,
    /// A line that is little more than a date.
    Alone,
    /// A date within a short line.
    Line,
    /// A date at the beginning of a paragraph.
    Prose,
    /// Another reading of an ambiguous date.
    Swapped,
    /// The address, by year, month and day.
    Url,
    /// A number in the address.
    UrlNumber,
    /// A month in the address.
    UrlMonth,
    /// The state of a script.
    Script,
    /// The address of the lead picture.
    Image,
    /// A copyright line.
    Copyright,
    /// The feed.
    Feed,
    /// The HTTP header `Last-Modified`.
    Http,
    /// Our own calendar: the day the entry was first seen.
    Seen,
}

impl Source {
    /// The word for it in [`Dated`].
    pub fn name(self) -> &'static str {
        match self {
            Source::LdArticle | Source::LdPage | Source::LdOther => "json-ld",
            Source::Meta | Source::MetaPlain => "meta",
            Source::Microdata => "microdata",
            Source::Time | Source::Data => "time",
            Source::Marked | Source::Labelled | Source::Alone | Source::Line | Source::Prose | Source::Swapped => {
                "text"
            }
            Source::Url | Source::UrlNumber | Source::UrlMonth => "url",
            Source::Script => "script",
            Source::Image => "image",
            Source::Copyright => "copyright",
            Source::Feed => "feed",
            Source::Http => "http",
            Source::Seen => "seen",
        }
    }
}

/// What a date speaks of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Role {
    /// Publication.
    Published,
    /// The last change.
    Modified,
    /// It does not say.
    Unclear,
}

/// Where a date stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Place {
    /// Declared, not shown.
    Head,
    /// In the address.
    Address,
    /// Beside the headline.
    Title,
    /// Elsewhere in the article.
    Article,
    /// Elsewhere on the page.
    Body,
    /// In a menu, a side bar, the foot of the page.
    Edge,
    /// Among comments, events or other articles.
    Aside,
    /// Not on the page but in its record.
    Record,
}

impl Candidate {
    fn on(day: Date, source: Source, role: Role, place: Place) -> Candidate {
        Candidate { day, source, role, place, confidence: 0.0, utc_hour: None, vague: false, linked: false, nth: 0 }
    }

    fn of(stamp: Stamp, source: Source, role: Role, place: Place) -> Candidate {
        let vague = stamp.other.is_some();
        Candidate { utc_hour: stamp.utc_hour, vague, ..Candidate::on(stamp.day, source, role, place) }
    }

    fn same(&self, other: &Candidate) -> bool {
        (self.day, self.source, self.role, self.place) == (other.day, other.source, other.role, other.place)
    }
}

/// Feeds and pages east of us may already live in tomorrow; beyond that, a date is a typo.
const AHEAD: SignedDuration = SignedDuration::from_hours(36);
/// An entry that old was posted again, or its date is a default.
const BEHIND: SignedDuration = SignedDuration::from_hours(730 * 24);
/// A feed date that close to the moment of asking was made by the asking.
const ROLLING: SignedDuration = SignedDuration::from_mins(10);

/// Below this it is no answer.
const LEAST: f32 = 0.03;

/// Hears all witnesses and decides.
pub fn read(tree: &Tree, facts: &Facts<'_>, url: Option<&str>, clocks: &Clocks) -> Dates {
    let host = url.and_then(|url| url.split("://").nth(1)).and_then(|rest| rest.split(['/', ':', '?']).next());
    let habit = Habit::of(facts.language, host);
    let zone = Zone::of(facts.language);
    let mut candidates = Vec::new();
    declared::linked_data(facts, url, habit, &mut candidates);
    declared::metas(facts, habit, &mut candidates);
    if let Some(said) = url.and_then(address::read) {
        let (day, source) = match said {
            Address::Day(day) => (day, Source::Url),
            Address::Number(day) => (day, Source::UrlNumber),
            Address::Month(day) => (day, Source::UrlMonth),
        };
        candidates.push(Candidate::on(day, source, Role::Published, Place::Address));
    }
    let mut doubts = Vec::new();
    let latest = latest(clocks);
    refuse_impossible(&mut candidates, latest, &mut doubts);
    if !weigh::is_certain(&candidates, zone) {
        page::read(tree, facts, habit, &mut candidates);
        refuse_impossible(&mut candidates, latest, &mut doubts);
        if weigh::decide(&mut candidates, zone).is_none_or(|decision| decision.weight < 0.5) {
            script::read(tree, habit, &mut candidates);
            last_resorts(tree, facts, habit, &mut candidates);
            refuse_impossible(&mut candidates, latest, &mut doubts);
        }
    }
    hear_clocks(clocks, zone, &mut candidates, &mut doubts);
    let decision = weigh::decide(&mut candidates, zone);
    if decision.is_some_and(|decision| decision.disputed) {
        doubts.push(Doubt::Disagreement);
    }
    // A year alone is no day.
    let published = decision.filter(|decision| decision.weight >= LEAST).map(|decision| Dated {
        day: decision.day.to_string(),
        source: decision.source.name().to_string(),
        confidence: decision.confidence,
        doubts: doubts.iter().map(|doubt| doubt.name().to_owned()).collect(),
    });
    let modified = weigh::modified(&candidates, decision.map(|decision| decision.day));
    Dates { published, modified, candidates, doubts }
}

/// The last day a page can have.
fn latest(clocks: &Clocks) -> Date {
    let fetched = clocks.downloaded.or(clocks.seen).and_then(|moment| moment.checked_add(AHEAD).ok());
    let last = Date::new(LAST_YEAR, 12, 31).unwrap_or(Date::MAX);
    fetched.map(utc_day).or(clocks.latest).unwrap_or(last)
}

fn utc_day(moment: Timestamp) -> Date {
    moment.to_zoned(TimeZone::UTC).date()
}

fn refuse_impossible(candidates: &mut Vec<Candidate>, latest: Date, doubts: &mut Vec<Doubt>) {
    let declared_late = |candidate: &Candidate| candidate.day > latest && candidate.place == Place::Head;
    if candidates.iter().any(declared_late) && !doubts.contains(&Doubt::FuturePageDate) {
        doubts.push(Doubt::FuturePageDate);
    }
    candidates.retain(|candidate| candidate.day.year() >= FIRST_YEAR && candidate.day <= latest);
}

/// What is better than nothing: the address of the lead picture, the year of the copyright.
fn last_resorts(tree: &Tree, facts: &Facts<'_>, habit: Habit, candidates: &mut Vec<Candidate>) {
    let image = facts.meta("og:image").chain(facts.meta("twitter:image")).find_map(address::read);
    if let Some(Address::Day(day) | Address::Number(day)) = image {
        candidates.push(Candidate::on(day, Source::Image, Role::Unclear, Place::Address));
    }
    if candidates.is_empty() {
        let told = facts.meta("description").chain(facts.meta("og:description")).chain(facts.meta("og:title"));
        let found = told.take(4).find_map(|text| {
            let text = &text[..text.floor_char_boundary(400)];
            written::find(text, habit).into_iter().find(|found| !found.vague)
        });
        candidates.extend(found.map(|found| Candidate::on(found.day, Source::Prose, Role::Unclear, Place::Head)));
    }
    if candidates.is_empty() {
        script::literal(tree, habit, candidates);
    }
    if candidates.is_empty() {
        let picture = local_name!("img");
        let mut sources = tree.elements(&picture).take(60).filter_map(|id| tree.attr(id, &local_name!("src")));
        let day = sources.find_map(|src| match address::read(src)? {
            Address::Day(day) | Address::Number(day) => Some(day),
            Address::Month(_) => None,
        });
        candidates.extend(day.map(|day| Candidate::on(day, Source::Image, Role::Unclear, Place::Body)));
    }
    if candidates.is_empty()
        && let Some(day) = page::copyright(tree)
    {
        candidates.push(Candidate::on(day, Source::Copyright, Role::Unclear, Place::Edge));
    }
}

/// Adds what the record knows. The feed is believed unless its date cannot be true.
fn hear_clocks(clocks: &Clocks, zone: Zone, candidates: &mut Vec<Candidate>, doubts: &mut Vec<Doubt>) {
    let record = |moment: Timestamp, source, role| {
        let mut candidate = Candidate::on(utc_day(moment), source, role, Place::Record);
        candidate.utc_hour = Some(moment.to_zoned(TimeZone::UTC).hour());
        candidate
    };
    let asked = clocks.downloaded.or(clocks.seen);
    if let Some(feed) = clocks.feed {
        let ahead = asked.is_some_and(|asked| feed.duration_since(asked) > AHEAD);
        let behind = asked.is_some_and(|asked| asked.duration_since(feed) > BEHIND);
        let day = utc_day(feed);
        // A day apart may be the same moment in another zone.
        let page_is_older = weigh::decide(candidates, zone)
            .is_some_and(|decision| decision.weight >= 0.5 && decision.day.tomorrow().is_ok_and(|next| next < day));
        let just_asked = |asked: Timestamp| feed.duration_since(asked).abs() <= ROLLING;
        let rolling = page_is_older && [clocks.seen, clocks.downloaded].into_iter().flatten().any(just_asked);
        if ahead {
            doubts.push(Doubt::FutureFeedDate);
        } else if rolling {
            doubts.push(Doubt::RollingFeedDate);
        } else if behind {
            doubts.push(Doubt::OldFeedDate);
            // Old, but not alone: the page says so too.
            if candidates.iter().any(|candidate| candidate.day == day) {
                candidates.push(record(feed, Source::Feed, Role::Published));
            }
        } else {
            candidates.push(record(feed, Source::Feed, Role::Published));
        }
    }
    candidates.extend(clocks.last_modified.map(|moment| record(moment, Source::Http, Role::Modified)));
    candidates.extend(clocks.seen.or(clocks.downloaded).map(|moment| record(moment, Source::Seen, Role::Unclear)));
}

#[cfg(test)]
mod tests;
