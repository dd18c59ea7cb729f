//! RSS 0.91 to 2.0, and its ancestor CDF: the words.

use tidings_model::FeedFormat;

use super::vocabulary::{Role, Word};

/// What an element of RSS means.
pub(super) fn word(name: &str) -> Option<Word> {
    Some(match name {
        "rss" => Word::Root(FeedFormat::Rss),
        "channel" => Word::Channel,
        "item" => Word::Item,
        "image" | "textinput" => Word::Aside,
        "title" => Word::Title,
        "link" => Word::Link,
        "description" | "abstract" => Word::Description,
        "fullitem" => Word::Encoded,
        "body" => Word::Body,
        "guid" => Word::Id,
        "pubdate" => Word::Published,
        "lastbuilddate" => Word::Updated,
        "author" => Word::Person(Role::Author),
        "managingeditor" => Word::Person(Role::Editor),
        "webmaster" => Word::Person(Role::Other),
        "category" => Word::Category,
        "keywords" => Word::Keywords,
        "language" => Word::Language,
        "copyright" => Word::Rights,
        "generator" => Word::Generator,
        "comments" => Word::Comments,
        "enclosure" => Word::Enclosure,
        "source" => Word::Source,
        "ttl" => Word::Ttl,
        "hour" => Word::SkipHour,
        "day" => Word::SkipDay,
        _ => return None,
    })
}
