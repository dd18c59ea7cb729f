//! Publication date of a page, with its source and a calibrated confidence.
//!
//! Many signals date an article: JSON-LD, `<meta>`, the line below the headline, the URL, the feed
//! entry. None is always right, and some give the last modification or the date of another article.
//! All are collected as [`Candidate`]s, impossible ones are dropped, and `decide` combines the
//! rest. Users count words per day, so the date carries its source and a confidence measured on
//! annotated pages.

mod decide;
mod declared;
mod labels;
mod locale;
mod page;
mod parse;
mod scripts;
mod url_date;

use html5ever::local_name;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use tidings_model::Dated;

use crate::declared_metadata::DeclaredMetadata;
use crate::tree::Tree;
use locale::{DateLocale, UtcOffsets};
use parse::{FIRST_YEAR, LAST_YEAR, MachineDate};
use url_date::UrlDate;

/// Dates known from outside the page.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct KnownDates {
    /// Date of the feed entry.
    pub feed: Option<Timestamp>,
    /// The `Last-Modified` HTTP header.
    pub last_modified: Option<Timestamp>,
    /// Time the entry was first seen in its feed.
    pub seen: Option<Timestamp>,
    /// Time the page was downloaded.
    pub downloaded: Option<Timestamp>,
    /// Upper bound for callers that do not know the download time.
    pub latest: Option<Date>,
}

/// The dates of a page.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Dates {
    /// Publication date.
    pub published: Option<Dated>,
    /// Date of the last modification.
    pub modified: Option<Date>,
    /// All candidates, in order of extraction.
    pub candidates: Vec<Candidate>,
    /// Problems found.
    pub doubts: Vec<Doubt>,
}

/// A problem that casts doubt on a date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doubt {
    /// The feed date is after the download.
    FutureFeedDate,
    /// The feed date is years before the download.
    OldFeedDate,
    /// The feed date is the time of the request, while the page is older.
    RollingFeedDate,
    /// The page declares a date after the download.
    FuturePageDate,
    /// Strong evidence also supports another day.
    Disagreement,
}

impl Doubt {
    /// The name used in documents.
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

/// A possible publication date.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidate {
    /// The day as written, in its own time zone.
    pub day: Date,
    /// Origin of the date.
    pub source: DateSource,
    /// Event that it dates.
    pub role: DateRole,
    /// Position on the page.
    pub position: DatePosition,
    /// Estimated probability that such evidence gives the publication date.
    pub confidence: f32,
    utc_hour: Option<i8>,
    vague: bool,
    linked: bool,
    nth: u8,
}

/// Origin of a date.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DateSource {
    /// JSON-LD of an article.
    LdArticle,
    /// JSON-LD of a page.
    LdPage,
    /// JSON-LD of another type, or of one article among several.
    LdOther,
    /// A `<meta>` for publication or modification.
    Meta,
    /// A `<meta>` named just `date`.
    MetaPlain,
    /// `itemprop` or `property`.
    Microdata,
    /// `<time>`.
    Time,
    /// A `data-` attribute.
    Data,
    /// An element whose class or id names a date.
    Marked,
    /// Text after a label such as *published*.
    Labelled,
    /// A line that consists of little more than a date.
    Alone,
    /// A date within a short line.
    Line,
    /// A date at the beginning of a paragraph.
    Prose,
    /// The other reading of an ambiguous day and month.
    Swapped,
    /// Year, month and day in the URL.
    Url,
    /// An eight-digit number in the URL.
    UrlNumber,
    /// Year and month in the URL.
    UrlMonth,
    /// Data embedded in a script.
    Script,
    /// The URL of the lead image.
    Image,
    /// A copyright line.
    Copyright,
    /// The feed.
    Feed,
    /// The HTTP header `Last-Modified`.
    Http,
    /// Day on which the crawler first saw the entry.
    Seen,
}

impl DateSource {
    /// The name used in [`Dated`].
    pub fn name(self) -> &'static str {
        match self {
            DateSource::LdArticle | DateSource::LdPage | DateSource::LdOther => "json-ld",
            DateSource::Meta | DateSource::MetaPlain => "meta",
            DateSource::Microdata => "microdata",
            DateSource::Time | DateSource::Data => "time",
            DateSource::Marked
            | DateSource::Labelled
            | DateSource::Alone
            | DateSource::Line
            | DateSource::Prose
            | DateSource::Swapped => "text",
            DateSource::Url | DateSource::UrlNumber | DateSource::UrlMonth => "url",
            DateSource::Script => "script",
            DateSource::Image => "image",
            DateSource::Copyright => "copyright",
            DateSource::Feed => "feed",
            DateSource::Http => "http",
            DateSource::Seen => "seen",
        }
    }
}

/// The event that a date refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DateRole {
    /// Publication.
    Published,
    /// The last modification.
    Modified,
    /// Not stated.
    Unclear,
}

/// Position of a date on the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DatePosition {
    /// Declared in metadata, not displayed.
    Head,
    /// In the URL.
    Url,
    /// Next to the headline.
    Title,
    /// Elsewhere in the article.
    Article,
    /// Elsewhere on the page.
    Body,
    /// In a menu, sidebar or page footer.
    Edge,
    /// In comments, events or teasers of other articles.
    Aside,
    /// Not on the page: from the feed, HTTP or the crawler.
    Record,
}

impl Candidate {
    fn on(day: Date, source: DateSource, role: DateRole, position: DatePosition) -> Candidate {
        Candidate { day, source, role, position, confidence: 0.0, utc_hour: None, vague: false, linked: false, nth: 0 }
    }

    fn of(stamp: MachineDate, source: DateSource, role: DateRole, position: DatePosition) -> Candidate {
        let vague = stamp.other.is_some();
        Candidate { utc_hour: stamp.utc_hour, vague, ..Candidate::on(stamp.day, source, role, position) }
    }

    fn same(&self, other: &Candidate) -> bool {
        (self.day, self.source, self.role, self.position) == (other.day, other.source, other.role, other.position)
    }
}

/// Time zones ahead of UTC may already be in the next day; later dates are errors.
const MAX_AHEAD: SignedDuration = SignedDuration::from_hours(36);
/// Older entries are republished, or the date is a default value.
const MAX_AGE: SignedDuration = SignedDuration::from_hours(730 * 24);
/// A feed date this close to the request was generated by it.
const ROLLING_WINDOW: SignedDuration = SignedDuration::from_mins(10);

/// Minimum weight for a date to be reported.
const MIN_WEIGHT: f32 = 0.03;

/// Returns a reader of single dates, machine-readable or written, by the conventions of a language and a URL.
pub(crate) fn day_reader(language: Option<&str>, url: Option<&str>) -> impl Fn(&str) -> Option<Date> + use<> {
    let locale = DateLocale::of(language, host_of(url));
    move |text| {
        let machine = parse::machine_date(text, locale).map(|date| date.day);
        machine.or_else(|| parse::find(text, locale).first().map(|date| date.day))
    }
}

fn host_of(url: Option<&str>) -> Option<&str> {
    url.and_then(|url| url.split("://").nth(1)).and_then(|rest| rest.split(['/', ':', '?']).next())
}

/// Collects all candidates and decides on the dates.
pub fn read(tree: &Tree, declared: &DeclaredMetadata<'_>, url: Option<&str>, known_dates: &KnownDates) -> Dates {
    let locale = DateLocale::of(declared.language, host_of(url));
    let zone = UtcOffsets::of(declared.language);
    let mut candidates = Vec::new();
    declared::linked_data(declared, url, locale, &mut candidates);
    declared::metas(declared, locale, &mut candidates);
    if let Some(date) = url.and_then(url_date::read) {
        let (day, source) = match date {
            UrlDate::Day(day) => (day, DateSource::Url),
            UrlDate::Number(day) => (day, DateSource::UrlNumber),
            UrlDate::Month(day) => (day, DateSource::UrlMonth),
        };
        candidates.push(Candidate::on(day, source, DateRole::Published, DatePosition::Url));
    }
    let mut doubts = Vec::new();
    let latest = latest(known_dates);
    drop_impossible(&mut candidates, latest, &mut doubts);
    if !decide::is_certain(&candidates, zone) {
        page::read(tree, declared, locale, &mut candidates);
        drop_impossible(&mut candidates, latest, &mut doubts);
        if decide::decide(&mut candidates, zone).is_none_or(|decision| decision.weight < 0.5) {
            scripts::read(tree, locale, &mut candidates);
            last_resorts(tree, declared, locale, &mut candidates);
            drop_impossible(&mut candidates, latest, &mut doubts);
        }
    }
    add_known_dates(known_dates, zone, &mut candidates, &mut doubts);
    let decision = decide::decide(&mut candidates, zone);
    if decision.is_some_and(|decision| decision.disputed) {
        doubts.push(Doubt::Disagreement);
    }
    // A year alone (a copyright line) is too weak.
    let published = decision.filter(|decision| decision.weight >= MIN_WEIGHT).map(|decision| Dated {
        day: decision.day.to_string(),
        source: decision.source.name().to_string(),
        confidence: decision.confidence,
        doubts: doubts.iter().map(|doubt| doubt.name().to_owned()).collect(),
    });
    let modified = decide::modified(&candidates, decision.map(|decision| decision.day));
    Dates { published, modified, candidates, doubts }
}

/// The latest date that the page can have.
fn latest(known_dates: &KnownDates) -> Date {
    let fetched = known_dates.downloaded.or(known_dates.seen).and_then(|moment| moment.checked_add(MAX_AHEAD).ok());
    let last = Date::new(LAST_YEAR, 12, 31).unwrap_or(Date::MAX);
    fetched.map(utc_day).or(known_dates.latest).unwrap_or(last)
}

fn utc_day(moment: Timestamp) -> Date {
    moment.to_zoned(TimeZone::UTC).date()
}

fn drop_impossible(candidates: &mut Vec<Candidate>, latest: Date, doubts: &mut Vec<Doubt>) {
    let declared_late = |candidate: &Candidate| candidate.day > latest && candidate.position == DatePosition::Head;
    if candidates.iter().any(declared_late) && !doubts.contains(&Doubt::FuturePageDate) {
        doubts.push(Doubt::FuturePageDate);
    }
    candidates.retain(|candidate| candidate.day.year() >= FIRST_YEAR && candidate.day <= latest);
}

/// Weak signals, used only without better ones: the URL of the lead image, dates in descriptions
/// and scripts, the copyright year.
fn last_resorts(tree: &Tree, declared: &DeclaredMetadata<'_>, locale: DateLocale, candidates: &mut Vec<Candidate>) {
    let image = declared.meta("og:image").chain(declared.meta("twitter:image")).find_map(url_date::read);
    if let Some(UrlDate::Day(day) | UrlDate::Number(day)) = image {
        candidates.push(Candidate::on(day, DateSource::Image, DateRole::Unclear, DatePosition::Url));
    }
    if candidates.is_empty() {
        let texts =
            declared.meta("description").chain(declared.meta("og:description")).chain(declared.meta("og:title"));
        let found = texts.take(4).find_map(|text| {
            let text = &text[..text.floor_char_boundary(400)];
            parse::find(text, locale).into_iter().find(|found| !found.vague)
        });
        candidates.extend(
            found.map(|found| Candidate::on(found.day, DateSource::Prose, DateRole::Unclear, DatePosition::Head)),
        );
    }
    if candidates.is_empty() {
        scripts::literal(tree, locale, candidates);
    }
    if candidates.is_empty() {
        let picture = local_name!("img");
        let mut sources = tree.elements(&picture).take(60).filter_map(|id| tree.attr(id, &local_name!("src")));
        let day = sources.find_map(|src| match url_date::read(src)? {
            UrlDate::Day(day) | UrlDate::Number(day) => Some(day),
            UrlDate::Month(_) => None,
        });
        candidates.extend(day.map(|day| Candidate::on(day, DateSource::Image, DateRole::Unclear, DatePosition::Body)));
    }
    if candidates.is_empty()
        && let Some(day) = page::copyright(tree)
    {
        candidates.push(Candidate::on(day, DateSource::Copyright, DateRole::Unclear, DatePosition::Edge));
    }
}

/// Adds the dates known from outside the page. The feed is trusted unless its date is implausible.
fn add_known_dates(
    known_dates: &KnownDates,
    zone: UtcOffsets,
    candidates: &mut Vec<Candidate>,
    doubts: &mut Vec<Doubt>,
) {
    let record = |moment: Timestamp, source, role| {
        let mut candidate = Candidate::on(utc_day(moment), source, role, DatePosition::Record);
        candidate.utc_hour = Some(moment.to_zoned(TimeZone::UTC).hour());
        candidate
    };
    let asked = known_dates.downloaded.or(known_dates.seen);
    if let Some(feed) = known_dates.feed {
        let ahead = asked.is_some_and(|asked| feed.duration_since(asked) > MAX_AHEAD);
        let behind = asked.is_some_and(|asked| asked.duration_since(feed) > MAX_AGE);
        let day = utc_day(feed);
        // One day apart may be the same moment in another time zone.
        let page_is_older = decide::decide(candidates, zone)
            .is_some_and(|decision| decision.weight >= 0.5 && decision.day.tomorrow().is_ok_and(|next| next < day));
        let just_asked = |asked: Timestamp| feed.duration_since(asked).abs() <= ROLLING_WINDOW;
        let rolling = page_is_older && [known_dates.seen, known_dates.downloaded].into_iter().flatten().any(just_asked);
        if ahead {
            doubts.push(Doubt::FutureFeedDate);
        } else if rolling {
            doubts.push(Doubt::RollingFeedDate);
        } else if behind {
            doubts.push(Doubt::OldFeedDate);
            // Old, but confirmed by the page.
            if candidates.iter().any(|candidate| candidate.day == day) {
                candidates.push(record(feed, DateSource::Feed, DateRole::Published));
            }
        } else {
            candidates.push(record(feed, DateSource::Feed, DateRole::Published));
        }
    }
    candidates.extend(known_dates.last_modified.map(|moment| record(moment, DateSource::Http, DateRole::Modified)));
    candidates.extend(
        known_dates.seen.or(known_dates.downloaded).map(|moment| record(moment, DateSource::Seen, DateRole::Unclear)),
    );
}

#[cfg(test)]
mod tests;
