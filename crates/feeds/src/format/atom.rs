//! Element names of Atom 0.3 and 1.0 that RSS does not share.

use tidings_model::FeedFormat;

use super::element::{ElementRole, PersonRole};

/// The role of an Atom element, including the names of version 0.3.
pub(super) fn role(name: &str) -> Option<ElementRole> {
    Some(match name {
        "feed" => ElementRole::Root(FeedFormat::Atom),
        "entry" => ElementRole::Item,
        "id" => ElementRole::Id,
        "subtitle" | "tagline" => ElementRole::Subtitle,
        "summary" => ElementRole::Summary,
        "content" => ElementRole::Content,
        "published" | "issued" => ElementRole::Published,
        "updated" | "modified" => ElementRole::Updated,
        "created" => ElementRole::Created,
        "contributor" => ElementRole::Person(PersonRole::Other),
        "name" => ElementRole::Name,
        "email" => ElementRole::Email,
        "uri" | "url" | "homepage" => ElementRole::Uri,
        "rights" => ElementRole::Rights,
        _ => return None,
    })
}
