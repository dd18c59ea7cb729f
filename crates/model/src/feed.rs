//! What a feed says, whatever dialect it says it in.

use jiff::Timestamp;
use serde::Serialize;

/// The family of formats a feed document belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FeedFormat {
    /// RSS 0.91 to 2.0.
    Rss,
    /// RSS 0.90 and 1.0, which are RDF documents.
    Rdf,
    /// Atom 0.3 and 1.0.
    Atom,
    /// JSON Feed 1.0 and 1.1.
    Json,
}

/// A feed document, read.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Feed {
    /// Which family the document belongs to.
    pub format: FeedFormat,
    /// The feed's title as plain text.
    pub title: String,
    /// The web page the feed belongs to.
    pub site: Option<String>,
    /// A language tag as the feed gives it.
    pub language: Option<String>,
    /// What the feed lists, in document order.
    pub entries: Vec<FeedEntry>,
}

/// Who wrote something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Person {
    /// The name as given.
    pub name: String,
}

/// One entry of a feed.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct FeedEntry {
    /// The article's address, resolved against the feed's.
    pub link: Option<String>,
    /// The title as plain text, white space collapsed.
    pub title: String,
    /// When the feed says it was published, in UTC. Never invented.
    pub published: Option<Timestamp>,
    /// When the feed says it was last changed.
    pub updated: Option<Timestamp>,
}
