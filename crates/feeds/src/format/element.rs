//! Roles of elements and namespaces, common to all XML formats.

use tidings_model::FeedFormat;

use super::{atom, extension, rdf, rss};

/// The role of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ElementRole {
    /// The root element of a feed.
    Root(FeedFormat),
    /// The element that describes the feed.
    Channel,
    /// An entry.
    Item,
    /// An element with an unrelated title and link: a logo, a search box.
    Aside,
    /// The feed that an entry was copied from.
    Source,
    /// A person, as text or with child elements.
    Person(PersonRole),
    Name,
    Email,
    Uri,
    Title,
    /// The title of a media object, used if there is no other.
    MediaTitle,
    Subtitle,
    Link,
    /// The original URL of a tracked link.
    OrigLink,
    /// RSS: HTML that describes the feed or summarises the entry.
    Description,
    /// Atom: plain text unless declared otherwise.
    Summary,
    /// The full text with a declared content type.
    Content,
    /// The full text as escaped HTML.
    Encoded,
    /// The full text as XHTML.
    Body,
    Id,
    Published,
    Updated,
    Created,
    Category,
    /// Categories separated by commas.
    Keywords,
    Language,
    Rights,
    Licence,
    Generator,
    GeneratorAgent,
    Comments,
    Enclosure,
    Ttl,
    SkipHour,
    SkipDay,
    UpdatePeriod,
    UpdateFrequency,
    UpdateBase,
}

/// The role of a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PersonRole {
    Author,
    /// Used as the author if no author is named.
    Editor,
    /// Neither author nor editor.
    Other,
}

/// Known namespaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Namespace {
    /// RSS, RDF and Atom, whose names do not collide, and elements without a namespace.
    Core,
    Content,
    CreativeCommons,
    Dc,
    DcTerms,
    Admin,
    Feedburner,
    Itunes,
    Media,
    Syndication,
    Xhtml,
    /// Any other namespace; its elements are ignored.
    Other,
}

/// The role of an element, if it is known. `name` is in lower case.
pub(super) fn element_role(namespace: Namespace, name: &str) -> Option<ElementRole> {
    match namespace {
        Namespace::Core => rss::role(name).or_else(|| atom::role(name)).or_else(|| rdf::role(name)),
        namespace => extension::role(namespace, name),
    }
}

/// The namespace of a URI. Versions and case vary, so prefixes decide.
pub(super) fn namespace_of_uri(address: &str) -> Option<Namespace> {
    // The first match wins, so exceptions come before the rule.
    const BEGINNINGS: [(&str, Option<Namespace>); 25] = [
        ("w3.org/2005/atom", Some(Namespace::Core)),
        ("purl.org/atom/ns", Some(Namespace::Core)),
        ("purl.org/echo", Some(Namespace::Core)),
        ("purl.org/pie", Some(Namespace::Core)),
        ("w3.org/1999/02/22-rdf", Some(Namespace::Core)),
        ("purl.org/rss/1.0/modules/content", Some(Namespace::Content)),
        ("purl.org/rss/1.0/modules/syndication", Some(Namespace::Syndication)),
        ("purl.org/rss/1.0/modules/", None),
        ("purl.org/rss/1.0", Some(Namespace::Core)),
        ("my.netscape.com", Some(Namespace::Core)),
        ("channel.netscape.com", Some(Namespace::Core)),
        ("purl.org/net/rss1.1#", Some(Namespace::Core)),
        ("backend.userland.com/rss", Some(Namespace::Core)),
        ("blogs.law.harvard.edu/tech/rss", Some(Namespace::Core)),
        ("purl.org/dc/elements", Some(Namespace::Dc)),
        ("purl.org/dc/terms", Some(Namespace::DcTerms)),
        ("search.yahoo.com/mrss", Some(Namespace::Media)),
        ("video.search.yahoo.com/mrss", Some(Namespace::Media)),
        ("itunes.com/dtds/podcast", Some(Namespace::Itunes)),
        ("example.com/dtds/podcast", Some(Namespace::Itunes)),
        ("rssnamespace.org/feedburner", Some(Namespace::Feedburner)),
        ("w3.org/1999/xhtml", Some(Namespace::Xhtml)),
        ("backend.userland.com/creativecommons", Some(Namespace::CreativeCommons)),
        ("web.resource.org/cc", Some(Namespace::CreativeCommons)),
        ("webns.net/mvcb", Some(Namespace::Admin)),
    ];
    let address = address.trim().to_ascii_lowercase();
    let rest = address.split_once("://").map_or(address.as_str(), |(_, rest)| rest);
    let rest = rest.strip_prefix("www.").unwrap_or(rest);
    BEGINNINGS.iter().find(|(beginning, _)| rest.starts_with(beginning)).and_then(|(_, namespace)| *namespace)
}

/// The conventional namespace of an undeclared prefix.
pub(super) fn namespace_of_prefix(prefix: &str) -> Option<Namespace> {
    const CUSTOMARY: [(&str, Namespace); 21] = [
        ("rss", Namespace::Core),
        ("rdf", Namespace::Core),
        ("atom", Namespace::Core),
        ("atom10", Namespace::Core),
        ("atom03", Namespace::Core),
        ("a10", Namespace::Core),
        ("content", Namespace::Content),
        ("cc", Namespace::CreativeCommons),
        ("creativecommons", Namespace::CreativeCommons),
        ("dc", Namespace::Dc),
        ("dcterms", Namespace::DcTerms),
        ("dct", Namespace::DcTerms),
        ("feedburner", Namespace::Feedburner),
        ("itunes", Namespace::Itunes),
        ("media", Namespace::Media),
        ("sy", Namespace::Syndication),
        ("syn", Namespace::Syndication),
        ("xhtml", Namespace::Xhtml),
        ("html", Namespace::Xhtml),
        ("admin", Namespace::Admin),
        ("googleplay", Namespace::Itunes),
    ];
    CUSTOMARY.iter().find(|(known, _)| known.eq_ignore_ascii_case(prefix)).map(|(_, namespace)| *namespace)
}
