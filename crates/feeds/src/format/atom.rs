//! Atom 0.3 and 1.0: the words that RSS does not share.

use tidings_model::FeedFormat;

use super::vocabulary::{Role, Word};

/// What an element of Atom means; the first draft's names are among them.
pub(super) fn word(name: &str) -> Option<Word> {
    Some(match name {
        "feed" => Word::Root(FeedFormat::Atom),
        "entry" => Word::Item,
        "id" => Word::Id,
        "subtitle" | "tagline" => Word::Subtitle,
        "summary" => Word::Summary,
        "content" => Word::Content,
        "published" | "issued" => Word::Published,
        "updated" | "modified" => Word::Updated,
        "created" => Word::Created,
        "contributor" => Word::Person(Role::Other),
        "name" => Word::Name,
        "email" => Word::Email,
        "uri" | "url" | "homepage" => Word::Uri,
        "rights" => Word::Rights,
        _ => return None,
    })
}
