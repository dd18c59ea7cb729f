//! What the elements of all XML dialects mean, in one small set of words.

use tidings_model::FeedFormat;

use super::{atom, extension, rdf, rss};

/// The meaning of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Word {
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
    Person(Role),
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
pub(super) enum Role {
    Author,
    /// Counts as the author where nobody else is named.
    Editor,
    /// Named, but not as author.
    Other,
}

/// The namespaces whose words we know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Space {
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
pub(super) fn meaning(space: Space, name: &str) -> Option<Word> {
    match space {
        Space::Core => rss::word(name).or_else(|| atom::word(name)).or_else(|| rdf::word(name)),
        space => extension::word(space, name),
    }
}

/// The namespace an address stands for. Versions and cases differ, so parts of it decide.
pub(super) fn space_of_address(address: &str) -> Option<Space> {
    // The first row that fits decides, so exceptions stand before the rule.
    const BEGINNINGS: [(&str, Option<Space>); 25] = [
        ("w3.org/2005/atom", Some(Space::Core)),
        ("purl.org/atom/ns", Some(Space::Core)),
        ("purl.org/echo", Some(Space::Core)),
        ("purl.org/pie", Some(Space::Core)),
        ("w3.org/1999/02/22-rdf", Some(Space::Core)),
        ("purl.org/rss/1.0/modules/content", Some(Space::Content)),
        ("purl.org/rss/1.0/modules/syndication", Some(Space::Syndication)),
        ("purl.org/rss/1.0/modules/", None),
        ("purl.org/rss/1.0", Some(Space::Core)),
        ("my.netscape.com", Some(Space::Core)),
        ("channel.netscape.com", Some(Space::Core)),
        ("purl.org/net/rss1.1#", Some(Space::Core)),
        ("backend.userland.com/rss", Some(Space::Core)),
        ("blogs.law.harvard.edu/tech/rss", Some(Space::Core)),
        ("purl.org/dc/elements", Some(Space::Dc)),
        ("purl.org/dc/terms", Some(Space::DcTerms)),
        ("search.yahoo.com/mrss", Some(Space::Media)),
        ("video.search.yahoo.com/mrss", Some(Space::Media)),
        ("itunes.com/dtds/podcast", Some(Space::Itunes)),
        ("example.com/dtds/podcast", Some(Space::Itunes)),
        ("rssnamespace.org/feedburner", Some(Space::Feedburner)),
        ("w3.org/1999/xhtml", Some(Space::Xhtml)),
        ("backend.userland.com/creativecommons", Some(Space::CreativeCommons)),
        ("web.resource.org/cc", Some(Space::CreativeCommons)),
        ("webns.net/mvcb", Some(Space::Admin)),
    ];
    let address = address.trim().to_ascii_lowercase();
    let rest = address.split_once("://").map_or(address.as_str(), |(_, rest)| rest);
    let rest = rest.strip_prefix("www.").unwrap_or(rest);
    BEGINNINGS.iter().find(|(beginning, _)| rest.starts_with(beginning)).and_then(|(_, space)| *space)
}

/// The namespace a prefix customarily stands for, for documents that forget to declare it.
pub(super) fn space_of_prefix(prefix: &str) -> Option<Space> {
    const CUSTOMARY: [(&str, Space); 21] = [
        ("rss", Space::Core),
        ("rdf", Space::Core),
        ("atom", Space::Core),
        ("atom10", Space::Core),
        ("atom03", Space::Core),
        ("a10", Space::Core),
        ("content", Space::Content),
        ("cc", Space::CreativeCommons),
        ("creativecommons", Space::CreativeCommons),
        ("dc", Space::Dc),
        ("dcterms", Space::DcTerms),
        ("dct", Space::DcTerms),
        ("feedburner", Space::Feedburner),
        ("itunes", Space::Itunes),
        ("media", Space::Media),
        ("sy", Space::Syndication),
        ("syn", Space::Syndication),
        ("xhtml", Space::Xhtml),
        ("html", Space::Xhtml),
        ("admin", Space::Admin),
        ("googleplay", Space::Itunes),
    ];
    CUSTOMARY.iter().find(|(known, _)| known.eq_ignore_ascii_case(prefix)).map(|(_, space)| *space)
}
