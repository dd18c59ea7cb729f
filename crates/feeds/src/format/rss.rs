//! Element names of RSS 0.91 to 2.0 and of its predecessor CDF.

use tidings_model::FeedFormat;

use super::element::{ElementRole, PersonRole};

/// The role of an RSS element.
pub(super) fn role(name: &str) -> Option<ElementRole> {
    Some(match name {
        "rss" => ElementRole::Root(FeedFormat::Rss),
        "channel" => ElementRole::Channel,
        "item" => ElementRole::Item,
        "image" | "textinput" => ElementRole::Aside,
        "title" => ElementRole::Title,
        "link" => ElementRole::Link,
        "description" | "abstract" => ElementRole::Description,
        "fullitem" => ElementRole::Encoded,
        "body" => ElementRole::Body,
        "guid" => ElementRole::Id,
        "pubdate" => ElementRole::Published,
        "lastbuilddate" => ElementRole::Updated,
        "author" => ElementRole::Person(PersonRole::Author),
        "managingeditor" => ElementRole::Person(PersonRole::Editor),
        "webmaster" => ElementRole::Person(PersonRole::Other),
        "category" => ElementRole::Category,
        "keywords" => ElementRole::Keywords,
        "language" => ElementRole::Language,
        "copyright" => ElementRole::Rights,
        "generator" => ElementRole::Generator,
        "comments" => ElementRole::Comments,
        "enclosure" => ElementRole::Enclosure,
        "source" => ElementRole::Source,
        "ttl" => ElementRole::Ttl,
        "hour" => ElementRole::SkipHour,
        "day" => ElementRole::SkipDay,
        _ => return None,
    })
}
