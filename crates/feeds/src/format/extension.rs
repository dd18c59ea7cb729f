//! Element names of extension namespaces.

use super::element::{ElementRole, Namespace, PersonRole};

/// The role of an element of an extension namespace.
pub(super) fn role(namespace: Namespace, name: &str) -> Option<ElementRole> {
    Some(match (namespace, name) {
        (Namespace::Content, "encoded") => ElementRole::Encoded,

        (Namespace::Dc, "title") => ElementRole::Title,
        (Namespace::Dc, "description") => ElementRole::Description,
        (Namespace::Dc, "creator" | "author") => ElementRole::Person(PersonRole::Author),
        (Namespace::Dc, "publisher") => ElementRole::Person(PersonRole::Editor),
        (Namespace::Dc, "contributor") => ElementRole::Person(PersonRole::Other),
        (Namespace::Dc, "date") => ElementRole::Updated,
        (Namespace::Dc, "issued") => ElementRole::Published,
        (Namespace::Dc, "modified") => ElementRole::Updated,
        (Namespace::Dc, "created") => ElementRole::Created,
        (Namespace::Dc, "subject") => ElementRole::Category,
        (Namespace::Dc, "language") => ElementRole::Language,
        (Namespace::Dc, "rights") => ElementRole::Rights,

        (Namespace::DcTerms, "title") => ElementRole::Title,
        (Namespace::DcTerms, "abstract" | "description") => ElementRole::Description,
        (Namespace::DcTerms, "creator") => ElementRole::Person(PersonRole::Author),
        (Namespace::DcTerms, "issued") => ElementRole::Published,
        (Namespace::DcTerms, "modified") => ElementRole::Updated,
        (Namespace::DcTerms, "created") => ElementRole::Created,
        (Namespace::DcTerms, "subject") => ElementRole::Category,
        (Namespace::DcTerms, "language") => ElementRole::Language,
        (Namespace::DcTerms, "rights") => ElementRole::Rights,
        (Namespace::DcTerms, "license") => ElementRole::Licence,

        (Namespace::Media, "title") => ElementRole::MediaTitle,
        (Namespace::Media, "description") => ElementRole::Description,
        (Namespace::Media, "category") => ElementRole::Category,
        (Namespace::Media, "keywords") => ElementRole::Keywords,
        (Namespace::Media, "license") => ElementRole::Licence,

        (Namespace::Itunes, "summary" | "description") => ElementRole::Summary,
        (Namespace::Itunes, "author") => ElementRole::Person(PersonRole::Author),
        (Namespace::Itunes, "owner") => ElementRole::Person(PersonRole::Other),
        (Namespace::Itunes, "name") => ElementRole::Name,
        (Namespace::Itunes, "email") => ElementRole::Email,
        (Namespace::Itunes, "category") => ElementRole::Category,
        (Namespace::Itunes, "keywords") => ElementRole::Keywords,

        (Namespace::Syndication, "updateperiod") => ElementRole::UpdatePeriod,
        (Namespace::Syndication, "updatefrequency") => ElementRole::UpdateFrequency,
        (Namespace::Syndication, "updatebase") => ElementRole::UpdateBase,

        (Namespace::Feedburner, "origlink") => ElementRole::OrigLink,
        (Namespace::CreativeCommons, "license") => ElementRole::Licence,
        (Namespace::Admin, "generatoragent") => ElementRole::GeneratorAgent,
        (Namespace::Xhtml, "body") => ElementRole::Body,
        _ => return None,
    })
}
