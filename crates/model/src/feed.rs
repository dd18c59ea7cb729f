//! Feeds in a common form.
//!
//! RSS, Atom, RDF and JSON feeds are all parsed into these types, so later stages do not depend on the format.
//! Missing values stay `None`: for a corpus that counts words per day, no date is better than an invented one.

use std::borrow::Cow;
use std::fmt;

use jiff::Timestamp;
use serde::Serialize;

/// The format family of a feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FeedFormat {
    /// RSS 0.91 to 2.0.
    #[default]
    Rss,
    /// RSS 0.90 and 1.0, which are RDF documents.
    Rdf,
    /// Atom 0.3 and 1.0.
    Atom,
    /// JSON Feed 1.0 and 1.1.
    Json,
}

impl fmt::Display for FeedFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FeedFormat::Rss => "rss",
            FeedFormat::Rdf => "rdf",
            FeedFormat::Atom => "atom",
            FeedFormat::Json => "json",
        })
    }
}

/// A parsed feed.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Feed {
    /// The format family.
    pub format: FeedFormat,
    /// The declared version, verbatim.
    pub version: Option<String>,
    /// The title as plain text.
    pub title: String,
    /// The description as plain text.
    pub subtitle: Option<String>,
    /// The web page of the feed.
    pub site: Option<String>,
    /// The declared URL of the feed.
    pub self_link: Option<String>,
    /// WebSub hubs.
    pub hubs: Vec<String>,
    /// The declared language tag, verbatim.
    pub language: Option<String>,
    /// The copyright notice as plain text.
    pub rights: Option<String>,
    /// The URL of the licence.
    pub licence: Option<String>,
    /// The program that generated the feed.
    pub generator: Option<String>,
    /// The authors of the feed.
    pub authors: Vec<Person>,
    /// The declared publication time.
    pub published: Option<Timestamp>,
    /// The declared time of the last change.
    pub updated: Option<Timestamp>,
    /// Declared polling hints.
    pub pace: UpdateHints,
    /// The entries in document order.
    pub entries: Vec<FeedEntry>,
    /// The character encoding used for decoding.
    pub encoding: &'static str,
    /// Repairs that were needed to parse the document; empty for a well-formed one.
    pub repairs: Vec<Repair>,
}

/// An author.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Person {
    /// The name; empty if only an address is given.
    pub name: String,
    /// An e-mail address.
    pub email: Option<String>,
    /// A web address.
    pub uri: Option<String>,
}

impl fmt::Display for Person {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.name.as_str(), &self.email, &self.uri) {
            ("", Some(email), _) => f.write_str(email),
            ("", None, Some(uri)) => f.write_str(uri),
            (name, Some(email), _) => write!(f, "{name} ({email})"),
            (name, None, _) => f.write_str(name),
        }
    }
}

/// An entry of a feed.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct FeedEntry {
    /// The URL of the article, resolved against the feed's.
    pub link: Option<String>,
    /// The link of the feed, if it is a tracker that redirects to `link`.
    pub tracker_link: Option<String>,
    /// The identifier, verbatim: guid, `atom:id` or `rdf:about`.
    pub id: Option<String>,
    /// The title as plain text with white space collapsed. Microblogs have none.
    pub title: String,
    /// The title as HTML, if it has markup.
    pub title_html: Option<String>,
    /// The summary as plain text.
    pub summary: Option<String>,
    /// The summary as HTML, if it has markup.
    pub summary_html: Option<String>,
    /// The full text as HTML.
    pub content_html: Option<String>,
    /// The authors.
    pub authors: Vec<Person>,
    /// Categories in document order, without duplicates.
    pub categories: Vec<String>,
    /// The declared publication time in UTC. Never inferred.
    pub published: Option<Timestamp>,
    /// The declared time of the last change.
    pub updated: Option<Timestamp>,
    /// The declared creation time; rare.
    pub created: Option<Timestamp>,
    /// Dates that could not be parsed, verbatim.
    pub unread_dates: Vec<String>,
    /// The language tag, if the entry declares one.
    pub language: Option<String>,
    /// The copyright notice as plain text.
    pub rights: Option<String>,
    /// The URL of the licence.
    pub licence: Option<String>,
    /// The URL of the comments page; never used as the article.
    pub comments: Option<String>,
    /// URLs of attached media files.
    pub enclosures: Vec<String>,
}

impl FeedEntry {
    /// The best available date: published, else updated, else created.
    pub fn date(&self) -> Option<Timestamp> {
        self.published.or(self.updated).or(self.created)
    }

    /// The summary as HTML, escaped if it is plain text.
    pub fn summary_as_html(&self) -> Option<Cow<'_, str>> {
        if let Some(html) = &self.summary_html {
            return Some(Cow::Borrowed(html));
        }
        let text = self.summary.as_deref()?;
        if !text.contains(['<', '&']) {
            return Some(Cow::Borrowed(text));
        }
        let escaped = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        Some(Cow::Owned(escaped))
    }
}

/// Polling hints declared by a feed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct UpdateHints {
    /// RSS `ttl`: minutes for which a copy may be cached.
    pub ttl_minutes: Option<u32>,
    /// RSS `skipHours`: hours of the day in GMT without new entries.
    pub skip_hours: Vec<u8>,
    /// RSS `skipDays`: days of the week without new entries.
    pub skip_days: Vec<Weekday>,
    /// `sy:updatePeriod`: the unit of `update_frequency`.
    pub update_period: Option<UpdatePeriod>,
    /// `sy:updateFrequency`: updates per period.
    pub update_frequency: Option<u32>,
    /// `sy:updateBase`: the time from which periods are counted.
    pub update_base: Option<Timestamp>,
}

/// The period of `sy:updatePeriod`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)] // The variants are the values of the Syndication module.
pub enum UpdatePeriod {
    Hourly,
    Daily,
    Weekly,
    Monthly,
    Yearly,
}

/// A day of the week.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum Weekday {
    Monday,
    Tuesday,
    Wednesday,
    Thursday,
    Friday,
    Saturday,
    Sunday,
}

/// A defect that the parser repaired, reported so that publishers can fix it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Repair {
    /// The encoding differs from the declared one.
    Mislabelled,
    /// Bytes invalid in the encoding became U+FFFD.
    BadBytes,
    /// Control characters were removed.
    ControlCharacters,
    /// The document is preceded by other text, such as a server's warning or a web page.
    LeadingJunk,
    /// The feed was escaped text inside a web page.
    Escaped,
    /// An unescaped ampersand was taken literally.
    BareAmpersand,
    /// An unescaped `<` was taken literally.
    BareLessThan,
    /// An undeclared entity was taken literally.
    UnknownEntity,
    /// A tag lacks a quote or `>`.
    BrokenTag,
    /// An end tag without a start was ignored.
    StrayEndTag,
    /// A missing end tag was inferred.
    MissingEndTag,
    /// A CDATA section was nested or not closed.
    BrokenCdata,
    /// A comment or a declaration was not closed.
    BrokenComment,
    /// A well-known namespace prefix was used without declaring it.
    UndeclaredPrefix,
    /// The document ends prematurely.
    Truncated,
    /// The JSON is malformed, or a value has the wrong type.
    LooseJson,
    /// A limit was reached; the rest was skipped.
    LimitReached,
    /// The feed lists more entries than the limit; the newest were kept.
    TooManyEntries,
}

impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Repair::Mislabelled => "the encoding is not the declared one",
            Repair::BadBytes => "some bytes mean nothing in the encoding",
            Repair::ControlCharacters => "control characters were removed",
            Repair::LeadingJunk => "something stands in front of the feed",
            Repair::Escaped => "the feed was escaped text inside a page",
            Repair::BareAmpersand => "an ampersand is not escaped",
            Repair::BareLessThan => "a less-than sign is not escaped",
            Repair::UnknownEntity => "an entity is not declared",
            Repair::BrokenTag => "a tag is malformed",
            Repair::StrayEndTag => "an end tag has no start",
            Repair::MissingEndTag => "an end tag is missing",
            Repair::BrokenCdata => "a CDATA section is nested or not closed",
            Repair::BrokenComment => "a comment or declaration is not closed",
            Repair::UndeclaredPrefix => "a namespace prefix is not declared",
            Repair::Truncated => "the document is cut off",
            Repair::LooseJson => "the JSON is malformed or mistyped",
            Repair::LimitReached => "the document exceeds a limit and was read in part",
            Repair::TooManyEntries => "the feed lists more entries than are read; the newest were kept",
        })
    }
}
