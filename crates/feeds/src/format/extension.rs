//! The namespaces that feeds borrow words from.

use super::vocabulary::{Role, Space, Word};

/// What an element of a borrowed namespace means.
pub(super) fn word(space: Space, name: &str) -> Option<Word> {
    Some(match (space, name) {
        (Space::Content, "encoded") => Word::Encoded,

        (Space::Dc, "title") => Word::Title,
        (Space::Dc, "description") => Word::Description,
        (Space::Dc, "creator" | "author") => Word::Person(Role::Author),
        (Space::Dc, "publisher") => Word::Person(Role::Editor),
        (Space::Dc, "contributor") => Word::Person(Role::Other),
        (Space::Dc, "date") => Word::Updated,
        (Space::Dc, "subject") => Word::Category,
        (Space::Dc, "language") => Word::Language,
        (Space::Dc, "rights") => Word::Rights,

        (Space::DcTerms, "title") => Word::Title,
        (Space::DcTerms, "abstract" | "description") => Word::Description,
        (Space::DcTerms, "creator") => Word::Person(Role::Author),
        (Space::DcTerms, "issued") => Word::Published,
        (Space::DcTerms, "modified") => Word::Updated,
        (Space::DcTerms, "created") => Word::Created,
        (Space::DcTerms, "subject") => Word::Category,
        (Space::DcTerms, "language") => Word::Language,
        (Space::DcTerms, "rights") => Word::Rights,
        (Space::DcTerms, "license") => Word::Licence,

        (Space::Media, "title") => Word::MediaTitle,
        (Space::Media, "description") => Word::Description,
        (Space::Media, "category") => Word::Category,
        (Space::Media, "keywords") => Word::Keywords,
        (Space::Media, "license") => Word::Licence,

        (Space::Itunes, "summary" | "description") => Word::Summary,
        (Space::Itunes, "author") => Word::Person(Role::Author),
        (Space::Itunes, "owner") => Word::Person(Role::Other),
        (Space::Itunes, "name") => Word::Name,
        (Space::Itunes, "email") => Word::Email,
        (Space::Itunes, "category") => Word::Category,
        (Space::Itunes, "keywords") => Word::Keywords,

        (Space::Syndication, "updateperiod") => Word::UpdatePeriod,
        (Space::Syndication, "updatefrequency") => Word::UpdateFrequency,
        (Space::Syndication, "updatebase") => Word::UpdateBase,

        (Space::Feedburner, "origlink") => Word::OrigLink,
        (Space::CreativeCommons, "license") => Word::Licence,
        (Space::Admin, "generatoragent") => Word::GeneratorAgent,
        (Space::Xhtml, "body") => Word::Body,
        _ => return None,
    })
}
