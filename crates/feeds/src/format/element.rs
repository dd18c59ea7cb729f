//! What the elements of all XML dialects mean, in one small set of words.

use tidings_model::FeedFormat;

use super::{atom, extension, rdf, rss};

/// The meaning of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ElementRole {
    /// The element that makes a document a feed.
    Root(FeedFormat),
    /// The part that describes the feed.
    Channel,
    /// An entry.
    Item,
    /// Something with a title and a link of its own that we do not want: a logo, a search box.
    Aside,
    /// The feed an entry was taken from.
    Source,
    /// A person, as text or as an element with parts.
    Person(PersonRole),
    Name,
    Email,
    Uri,
    Title,
    /// A title of a picture or film, good enough if there is no other.
    MediaTitle,
    Subtitle,
    Link,
    /// The address behind a tracker's.
    OrigLink,
    /// RSS: HTML, describing the feed or summarising the entry.
    Description,
    /// Atom: text unless it says otherwise.
    Summary,
    /// The full text, of a kind it states itself.
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
    /// Several categories with commas between them.
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

/// What a person has to do with the matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PersonRole {
    Author,
    /// Counts as the author where nobody else is named.
    Editor,
    /// Named, but not as author.
    Other,
}

/// The namespaces whose words we know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Namespace {
    /// RSS, RDF and Atom, whose names do not collide; also no namespace at all.
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
    /// Anything else; its elements mean nothing to us.
    Other,
}

/// The meaning of an element, if it has one for us. `name` is in lower case.
pub(super) fn element_role(namespace: Namespace, name: &str) -> Option<ElementRole> {
    match namespace {
        Namespace::Core => rss::role(name).or_else(|| atom::role(name)).or_else(|| rdf::role(name)),
        namespace => extension::role(namespace, name),
    }
}

/// The namespace an address stands for. Versions and cases differ, so parts of it decide.
pub(super) fn namespace_of_uri(address: &str) -> Option<Namespace> {
    // The first row that fits decides, so exceptions stand before the rule.
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

/// The namespace a prefix customarily stands for, for documents that forget to declare it.
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
