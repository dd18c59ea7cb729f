//! What a feed says, whatever dialect it says it in.
//!
//! Every dialect is read into these few types, so that the rooms behind the reader never ask
//! whether an article came from RSS, Atom or JSON. What a feed does not say stays `None`: a
//! corpus that counts words per day is better off without a date than with an invented one.

use std::borrow::Cow;
use std::fmt;

use jiff::Timestamp;
use serde::Serialize;

/// The family of formats a feed document belongs to.
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

/// A feed document, read.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Feed {
    /// Which family the document belongs to.
    pub format: FeedFormat,
    /// The version the document claims, as it writes it.
    pub version: Option<String>,
    /// The feed's title as plain text.
    pub title: String,
    /// What the feed says about itself, as plain text.
    pub subtitle: Option<String>,
    /// The web page the feed belongs to.
    pub site: Option<String>,
    /// Where the feed says it lives.
    pub self_link: Option<String>,
    /// WebSub hubs that announce its changes.
    pub hubs: Vec<String>,
    /// A language tag as the feed gives it.
    pub language: Option<String>,
    /// The copyright notice that covers the feed, as plain text.
    pub rights: Option<String>,
    /// The address of the licence that covers the feed.
    pub licence: Option<String>,
    /// The program that made the feed.
    pub generator: Option<String>,
    /// Who is responsible for the feed.
    pub authors: Vec<Person>,
    /// When the feed says it was published.
    pub published: Option<Timestamp>,
    /// When the feed says it last changed.
    pub updated: Option<Timestamp>,
    /// How often the feed wishes to be asked.
    pub pace: Pace,
    /// What the feed lists, in document order.
    pub entries: Vec<FeedEntry>,
    /// The name of the character encoding the bytes were read with.
    pub encoding: &'static str,
    /// What had to be mended to read the document; empty for a well-formed one.
    pub repairs: Vec<Repair>,
}

/// Who wrote something.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Person {
    /// The name as given; empty if only an address was given.
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

/// One entry of a feed.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct FeedEntry {
    /// The article's address, resolved against the feed's.
    pub link: Option<String>,
    /// What the feed gives as link where that is a tracker and `link` the article behind it.
    pub tracker_link: Option<String>,
    /// The identifier as given: guid, `atom:id` or `rdf:about`.
    pub id: Option<String>,
    /// The title as plain text, white space collapsed. Microblogs have none.
    pub title: String,
    /// The title as HTML, where it says more than the plain text.
    pub title_html: Option<String>,
    /// The summary as plain text.
    pub summary: Option<String>,
    /// The summary as HTML, where it says more than the plain text.
    pub summary_html: Option<String>,
    /// The full text as HTML.
    pub content_html: Option<String>,
    /// Who wrote it.
    pub authors: Vec<Person>,
    /// Subjects, in document order, without repetition.
    pub categories: Vec<String>,
    /// When the feed says it was published, in UTC. Never invented.
    pub published: Option<Timestamp>,
    /// When the feed says it was last changed.
    pub updated: Option<Timestamp>,
    /// When the feed says it was created; rare.
    pub created: Option<Timestamp>,
    /// Dates that could not be understood, as the feed writes them.
    pub unread_dates: Vec<String>,
    /// A language tag, if the entry names one of its own.
    pub language: Option<String>,
    /// A copyright notice, as plain text.
    pub rights: Option<String>,
    /// The address of a licence.
    pub licence: Option<String>,
    /// The page with the comments; never taken for the article.
    pub comments: Option<String>,
    /// Addresses of attached files: sound, film, pictures.
    pub enclosures: Vec<String>,
}

impl FeedEntry {
    /// The best of the dates given: when it was published, or else changed, or else created.
    pub fn date(&self) -> Option<Timestamp> {
        self.published.or(self.updated).or(self.created)
    }

    /// The summary as HTML in any case, for readers that expect HTML.
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

/// How often a feed wishes to be asked, in its own words. Hints, not promises.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Pace {
    /// RSS `ttl`: minutes a copy may be kept.
    pub ttl_minutes: Option<u32>,
    /// RSS `skipHours`: hours of the day, in GMT, in which nothing new comes.
    pub skip_hours: Vec<u8>,
    /// RSS `skipDays`: days of the week on which nothing new comes.
    pub skip_days: Vec<Weekday>,
    /// `sy:updatePeriod`: the unit of `update_frequency`.
    pub update_period: Option<UpdatePeriod>,
    /// `sy:updateFrequency`: how many times in a period.
    pub update_frequency: Option<u32>,
    /// `sy:updateBase`: a moment from which the periods are counted.
    pub update_base: Option<Timestamp>,
}

/// The unit in which a feed says how often it changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)] // the words of the Syndication module, as they are
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

/// One kind of damage the reader mended, so that users can tell publishers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Repair {
    /// The document is in another encoding than it or its server declares.
    Mislabelled,
    /// Bytes that mean nothing in the encoding became U+FFFD.
    BadBytes,
    /// Control characters were taken out.
    ControlCharacters,
    /// Something stood in front of the document, such as a server's warning or a web page.
    LeadingJunk,
    /// The feed was written as text into a web page and had to be unescaped first.
    Escaped,
    /// An ampersand that begins no reference was taken literally.
    BareAmpersand,
    /// A `<` that begins no tag was taken literally.
    BareLessThan,
    /// A reference to an entity nobody declared was taken literally.
    UnknownEntity,
    /// A tag was malformed: a missing quote or a missing `>`.
    BrokenTag,
    /// An end tag without a start was ignored.
    StrayEndTag,
    /// An end tag was missing and had to be inferred.
    MissingEndTag,
    /// A CDATA section was nested or not closed.
    BrokenCdata,
    /// A comment or a declaration was not closed.
    BrokenComment,
    /// A well-known namespace prefix was used without declaring it.
    UndeclaredPrefix,
    /// The document ends before it is complete.
    Truncated,
    /// The JSON is not quite JSON, or a value is of the wrong type.
    LooseJson,
    /// A limit was reached; what lies beyond it was left out.
    LimitReached,
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
        })
    }
}
