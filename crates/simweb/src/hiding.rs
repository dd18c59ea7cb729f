//! Ways in which a site hides its feed, for tests of feed discovery.
//!
//! With [`Spec::hiding`](crate::Spec::hiding) each site has one feed at one URL, and the usual URLs of this web return
//! 404. All such sites also have decoys: a declared feed of comments, oEmbed, and a JSON API.

use crate::profile::FeedFormat;
use crate::rng::Rng;

/// A way to hide a feed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Hiding {
    /// Every page declares it.
    Declared,
    /// The front page declares it, articles do not.
    FrontPage,
    /// Every page links to it with a URL that looks like a feed.
    Anchor,
    /// Every page links to it with a link text, and the URL does not look like a feed.
    Word,
    /// A page that lists feeds links to it, and every page links to that page.
    Overview,
    /// Not linked; at a common path.
    CommonPath,
    /// Not linked; at the default path of the CMS in the `generator` of the pages.
    Program,
    /// Only the site map lists it.
    Sitemap,
    /// There is no feed.
    Nowhere,
}

impl Hiding {
    /// All ways.
    pub const ALL: [Hiding; 9] = [
        Hiding::Declared,
        Hiding::FrontPage,
        Hiding::Anchor,
        Hiding::Word,
        Hiding::Overview,
        Hiding::CommonPath,
        Hiding::Program,
        Hiding::Sitemap,
        Hiding::Nowhere,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Hiding::Declared => "declared",
            Hiding::FrontPage => "front-page",
            Hiding::Anchor => "anchor",
            Hiding::Word => "word",
            Hiding::Overview => "overview",
            Hiding::CommonPath => "common-path",
            Hiding::Program => "program",
            Hiding::Sitemap => "sitemap",
            Hiding::Nowhere => "nowhere",
        }
    }
}

/// Common paths of feeds, with weights according to their shares among curated feeds.
const PATHS: &[(&str, u64)] = &[
    ("/feed", 26),
    ("/feed/", 10),
    ("/rss", 6),
    ("/rss.xml", 4),
    ("/feed.xml", 2),
    ("/index.xml", 2),
    ("/atom.xml", 2),
    ("/feeds/posts/default", 1),
    ("/index.rdf", 1),
    ("/feed.json", 1),
    ("/?feed=rss2", 1),
    ("/news/latest.xml", 1),
];

/// CMSs and their default feed paths.
const PROGRAMS: &[(&str, &str)] = &[
    ("Joomla! - Open TextSource Content Management", "/?format=feed&type=rss"),
    ("SPIP 4.2.1", "/spip.php?page=backend"),
    ("TYPO3 CMS", "/?type=100"),
    ("Hugo 0.140.0", "/index.xml"),
    ("WordPress 6.7", "/feed/"),
    ("Ghost 5.1", "/rss/"),
    ("Pelican", "/feeds/all.atom.xml"),
];

/// The place of a hidden feed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hidden {
    pub way: Hiding,
    /// The path and query of the feed.
    pub target: String,
    pub format: FeedFormat,
    /// The `generator` of the pages.
    pub generator: Option<&'static str>,
}

/// The path of the page that lists feeds.
pub const OVERVIEW: &str = "/service/rss/";
/// The decoy feed of comments.
pub const COMMENTS: &str = "/comments/feed/";
/// The decoy JSON API.
pub const INTERFACE: &str = "/wp-json/wp/v2/posts";
/// The oEmbed endpoint.
pub const OEMBED: &str = "/wp-json/oembed/1.0/embed";

impl Hidden {
    /// The place of a site's feed.
    pub fn of(seed: u64, site: usize, way: Hiding, format: FeedFormat) -> Hidden {
        let mut rng = Rng::named(&[seed, 0x41DE, site as u64]);
        // Paths that cannot be guessed; digits only inside words, so that no article has such a path.
        let silent = format!("/data/s{site}stories");
        let mut generator = None;
        let target = match way {
            Hiding::Declared | Hiding::FrontPage | Hiding::Nowhere => silent,
            Hiding::Word => format!("/data/rss{site}of"),
            Hiding::Anchor | Hiding::Overview | Hiding::Sitemap => format!("/syndication/s{site}x/rss.xml"),
            Hiding::CommonPath => {
                let mut at = rng.below(PATHS.iter().map(|row| row.1).sum());
                let row = PATHS.iter().find(|row| {
                    let here = at < row.1;
                    at = at.saturating_sub(row.1);
                    here
                });
                row.map_or("/feed", |row| row.0).to_string()
            }
            Hiding::Program => {
                let (name, path) = rng.pick(PROGRAMS);
                generator = Some(name);
                path.to_string()
            }
        };
        Hidden { way, target, format, generator }
    }

    /// Lines for the head of a page.
    pub fn head(&self, front: bool, feed: &str) -> String {
        let mut out = String::new();
        if let Some(generator) = self.generator {
            out.push_str(&format!("<meta name=\"generator\" content=\"{generator}\">\n"));
        }
        if self.way == Hiding::Declared || self.way == Hiding::FrontPage && front {
            let kind = self.format.media_type();
            out.push_str(&format!("<link rel=\"alternate\" type=\"{kind}\" href=\"{feed}\">\n"));
        }
        out.push_str(&format!(
            "<link rel=\"alternate\" type=\"application/rss+xml\" title=\"Comments Feed\" href=\"{COMMENTS}\">\n\
             <link rel=\"alternate\" type=\"application/json+oembed\" href=\"{OEMBED}?url=x\">\n\
             <link rel=\"alternate\" type=\"application/json\" href=\"{INTERFACE}\">\n"
        ));
        out
    }

    /// Lines for the foot of a page.
    pub fn foot(&self, feed: &str) -> String {
        match self.way {
            Hiding::Anchor => format!("<p><a href=\"{feed}\">News</a></p>\n"),
            Hiding::Word => format!("<p><a href=\"{feed}\">RSS</a></p>\n"),
            Hiding::Overview => format!("<p><a href=\"{OVERVIEW}\">RSS</a></p>\n"),
            _ => String::new(),
        }
    }

    /// Whether a request is for the feed.
    pub fn is_at(&self, target: &str) -> bool {
        self.way != Hiding::Nowhere && self.target == target
    }
}
