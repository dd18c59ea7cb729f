//! Usual locations of feeds: by platform, by CMS, and by frequency.

use url::Url;

/// Paths of feeds, most frequent first: by their share among 914 curated feeds at the root of their site (26 % at
/// `/feed`, 6 % at `/rss`, 2.4 % at `/rss.xml`, …), then the paths that other feed finders try.
const COMMON: &[&str] = &[
    "feed",
    "rss",
    "rss.xml",
    "feed.xml",
    "index.xml",
    "atom.xml",
    "feeds/posts/default",
    "index.rdf",
    "feed.json",
    "?feed=rss2",
    "index.rss",
    "feed.atom",
    "rss/feed.xml",
    "feeds",
    "news.rss",
    "blog/feed",
    "rss2.xml",
    "feed/rss",
];

/// Common feed paths relative to the root of a site, most frequent first.
pub fn common_paths() -> &'static [&'static str] {
    COMMON
}

/// A content management system and the location of its feeds.
#[derive(Debug, PartialEq, Eq)]
pub struct Cms {
    /// The name.
    pub name: &'static str,
    /// Prefixes of its `generator` meta tag, in lower case.
    generator: &'static [&'static str],
    /// Strings in the markup that identify it.
    marks: &'static [&'static str],
    /// Feed paths relative to the installation root.
    pub paths: &'static [&'static str],
}

const PROGRAMS: &[Cms] = &[
    Cms {
        name: "wordpress",
        generator: &["wordpress"],
        marks: &["/wp-content/", "/wp-includes/"],
        paths: &["feed/", "?feed=rss2"],
    },
    Cms { name: "ghost", generator: &["ghost"], marks: &["/ghost/api/", "ghost-sdk", "data-ghost"], paths: &["rss/"] },
    Cms { name: "hugo", generator: &["hugo"], marks: &[], paths: &["index.xml", "posts/index.xml"] },
    Cms { name: "jekyll", generator: &["jekyll"], marks: &[], paths: &["feed.xml", "atom.xml"] },
    Cms { name: "tumblr", generator: &["tumblr"], marks: &["static.tumblr.com", "assets.tumblr.com"], paths: &["rss"] },
    Cms {
        name: "joomla",
        generator: &["joomla"],
        marks: &["/media/jui/", "option=com_content", "/media/system/js/"],
        paths: &["?format=feed&type=rss", "index.php?format=feed&type=rss"],
    },
    Cms {
        name: "typo3",
        generator: &["typo3"],
        marks: &["/typo3temp/", "/typo3conf/"],
        paths: &["?type=100", "rss.xml", "?type=9818"],
    },
    Cms {
        name: "spip",
        generator: &["spip"],
        marks: &["spip.php?", "/squelettes/", "spip_logo"],
        paths: &["spip.php?page=backend"],
    },
    Cms {
        name: "drupal",
        generator: &["drupal"],
        marks: &["/sites/default/files/", "data-drupal"],
        paths: &["rss.xml", "feed"],
    },
    Cms {
        name: "blogger",
        generator: &["blogger"],
        marks: &["www.blogger.com/static", "blogblog.com"],
        paths: &["feeds/posts/default"],
    },
    Cms {
        name: "squarespace",
        generator: &["squarespace"],
        marks: &["static1.squarespace.com"],
        paths: &["blog?format=rss", "?format=rss", "news?format=rss"],
    },
    Cms { name: "substack", generator: &["substack"], marks: &["substackcdn.com"], paths: &["feed"] },
    Cms { name: "medium", generator: &["medium"], marks: &["cdn-client.medium.com"], paths: &["feed"] },
    Cms { name: "wix", generator: &["wix"], marks: &["static.wixstatic.com"], paths: &["blog-feed.xml", "feed.xml"] },
    Cms {
        name: "shopify",
        generator: &["shopify"],
        marks: &["cdn.shopify.com"],
        paths: &["blogs/news.atom", "blogs/blog.atom"],
    },
    Cms { name: "discourse", generator: &["discourse"], marks: &[], paths: &["latest.rss"] },
    Cms { name: "hexo", generator: &["hexo"], marks: &[], paths: &["atom.xml", "rss2.xml"] },
    Cms { name: "pelican", generator: &["pelican"], marks: &[], paths: &["feeds/all.atom.xml", "feeds/all.rss.xml"] },
    Cms { name: "eleventy", generator: &["eleventy"], marks: &[], paths: &["feed.xml", "feed/feed.xml"] },
    Cms { name: "gatsby", generator: &["gatsby"], marks: &["id=\"___gatsby\""], paths: &["rss.xml"] },
    Cms { name: "astro", generator: &["astro"], marks: &[], paths: &["rss.xml"] },
    Cms { name: "nikola", generator: &["nikola"], marks: &[], paths: &["rss.xml"] },
    Cms {
        name: "movable type",
        generator: &["movable type"],
        marks: &[],
        paths: &["atom.xml", "index.xml", "index.rdf"],
    },
    Cms { name: "textpattern", generator: &["textpattern"], marks: &[], paths: &["rss/", "atom/"] },
    Cms { name: "serendipity", generator: &["serendipity"], marks: &[], paths: &["feeds/index.rss2", "rss.php"] },
    Cms { name: "dotclear", generator: &["dotclear"], marks: &["/?pf="], paths: &["feed/atom", "feed/rss2"] },
    Cms { name: "plone", generator: &["plone"], marks: &[], paths: &["RSS", "news/RSS"] },
    Cms { name: "contao", generator: &["contao"], marks: &[], paths: &["share/news.xml", "share/feed.xml"] },
    Cms { name: "write freely", generator: &["writefreely"], marks: &[], paths: &["feed/"] },
    Cms { name: "micro.blog", generator: &["micro.blog"], marks: &["micro.blog/"], paths: &["feed.xml", "feed.json"] },
    Cms {
        name: "arc",
        generator: &[],
        marks: &["/pf/resources/", "fusion-engine"],
        paths: &["arc/outboundfeeds/rss/?outputType=xml"],
    },
    Cms {
        name: "blox",
        generator: &["blox"],
        marks: &["/tncms/"],
        paths: &["search/?f=rss&t=article&s=start_time&sd=desc"],
    },
    Cms { name: "livejournal", generator: &["livejournal"], marks: &["l-stat.livejournal.net"], paths: &["data/rss"] },
];

impl Cms {
    /// Identifies the CMS of a page by its generator tag or its markup.
    pub(crate) fn recognise(generator: Option<&str>, html: &str) -> Option<&'static Cms> {
        let generator = generator.map(|text| text.trim().to_lowercase()).unwrap_or_default();
        let named = PROGRAMS.iter().find(|cms| cms.generator.iter().any(|start| generator.starts_with(start)));
        named.or_else(|| PROGRAMS.iter().find(|cms| cms.marks.iter().any(|mark| html.contains(mark))))
    }

    /// Looks up a CMS by name.
    pub fn named(name: &str) -> Option<&'static Cms> {
        PROGRAMS.iter().find(|cms| cms.name == name)
    }
}

/// Feed URLs that follow from the rules of a known platform.
pub(crate) fn by_rule(url: &Url) -> Vec<String> {
    let host = url.host_str().unwrap_or("").trim_start_matches("www.");
    let segments: Vec<&str> = url.path_segments().into_iter().flatten().filter(|s| !s.is_empty()).collect();
    let query = |name: &str| url.query_pairs().find(|pair| pair.0 == name).map(|pair| pair.1.into_owned());
    let one = |address: String| vec![address];
    match (host.trim_start_matches("m.").trim_start_matches("old."), segments.as_slice()) {
        ("youtube.com", ["channel", id, ..]) => {
            one(format!("https://www.youtube.com/feeds/videos.xml?channel_id={id}"))
        }
        ("youtube.com", ["user", name, ..]) => one(format!("https://www.youtube.com/feeds/videos.xml?user={name}")),
        ("youtube.com", ["playlist" | "watch", ..]) => query("list")
            .map(|list| format!("https://www.youtube.com/feeds/videos.xml?playlist_id={list}"))
            .into_iter()
            .collect(),
        ("reddit.com", [kind @ ("r" | "u" | "user"), name, ..]) => {
            one(format!("https://www.reddit.com/{kind}/{name}.rss"))
        }
        ("vimeo.com", [name, ..]) if name.parse::<u64>().is_err() => {
            one(format!("https://vimeo.com/{name}/videos/rss"))
        }
        ("dailymotion.com", [name]) => one(format!("https://www.dailymotion.com/rss/user/{name}/1")),
        ("github.com", [user, repository, ..]) => {
            let repository = format!("https://github.com/{user}/{repository}");
            vec![format!("{repository}/releases.atom"), format!("{repository}/commits.atom")]
        }
        ("github.com", [user]) => one(format!("https://github.com/{user}.atom")),
        ("gitlab.com", [user, project, ..]) => one(format!("https://gitlab.com/{user}/{project}.atom")),
        ("codeberg.org", [user, project, ..]) => one(format!("https://codeberg.org/{user}/{project}.rss")),
        ("medium.com", [name, ..]) => one(format!("https://medium.com/feed/{name}")),
        ("bsky.app", ["profile", name, ..]) => one(format!("https://bsky.app/profile/{name}/rss")),
        ("arxiv.org", ["list", subject, ..]) => one(format!("https://rss.arxiv.org/rss/{subject}")),
        ("stackoverflow.com", ["requests", "tagged", tag, ..]) => {
            one(format!("https://stackoverflow.com/feeds/tag/{tag}"))
        }
        ("pinterest.com", [user, ..]) => one(format!("https://www.pinterest.com/{user}/feed.rss")),
        // A fediverse profile has its feed at the profile URL with an extension.
        (_, [person]) if person.len() > 1 && person.starts_with('@') => {
            let origin = url.origin().ascii_serialization();
            one(format!("{origin}/{person}.rss"))
        }
        (host, _) => {
            let origin = url.origin().ascii_serialization();
            let hosted = [
                (".tumblr.com", "rss"),
                (".blogspot.com", "feeds/posts/default"),
                (".wordpress.com", "feed/"),
                (".substack.com", "feed"),
                (".medium.com", "feed"),
                (".livejournal.com", "data/rss"),
                (".dreamwidth.org", "data/rss"),
                (".micro.blog", "feed.xml"),
                (".bearblog.dev", "feed/"),
                (".hatenablog.com", "feed"),
                (".over-blog.com", "rss"),
                (".canalblog.com", "rss.xml"),
            ];
            let row = hosted.iter().find(|row| host.ends_with(row.0));
            row.map(|row| format!("{origin}/{}", row.1)).into_iter().collect()
        }
    }
}

/// The feed of the channel named in the scripts of a YouTube page.
pub(crate) fn channel_in(html: &str) -> Option<String> {
    const MARKS: &[&str] = &[
        "itemprop=\"channelId\" content=\"",
        "itemprop=\"identifier\" content=\"",
        "\"externalId\":\"",
        "\"channelId\":\"",
    ];
    MARKS.iter().find_map(|mark| {
        let from = html.find(mark)? + mark.len();
        let id = html.get(from..from + 24)?;
        let sound = id.starts_with("UC") && id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
        sound.then(|| format!("https://www.youtube.com/feeds/videos.xml?channel_id={id}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn platforms_give_feed_urls_by_rule() {
        let cases = [
            (
                "https://www.youtube.com/channel/UCabc/videos",
                "https://www.youtube.com/feeds/videos.xml?channel_id=UCabc",
            ),
            ("https://youtube.com/watch?v=1&list=PL7", "https://www.youtube.com/feeds/videos.xml?playlist_id=PL7"),
            ("https://old.reddit.com/r/rust/top", "https://www.reddit.com/r/rust.rss"),
            ("https://github.com/a/b/issues/3", "https://github.com/a/b/releases.atom"),
            ("https://github.com/a", "https://github.com/a.atom"),
            ("https://example.social/@anna", "https://example.social/@anna.rss"),
            ("https://anna.tumblr.com/post/1", "https://anna.tumblr.com/rss"),
            ("https://anna.blogspot.com/2026/a.html", "https://anna.blogspot.com/feeds/posts/default"),
        ];
        for (page, feed) in cases {
            assert_eq!(by_rule(&Url::parse(page).unwrap()).first().map(String::as_str), Some(feed), "{page}");
        }
        for none in ["https://example.org/a/b", "https://vimeo.com/12345", "https://www.youtube.com/watch?v=1"] {
            assert!(by_rule(&Url::parse(none).unwrap()).is_empty(), "{none}");
        }
    }

    #[test]
    fn a_cms_is_identified_by_generator_or_markup() {
        let name = |generator, html| Cms::recognise(generator, html).map(|cms| cms.name);
        assert_eq!(name(Some("WordPress 6.7"), ""), Some("wordpress"));
        assert_eq!(name(Some("Hugo 0.140"), "/wp-content/"), Some("hugo"));
        assert_eq!(name(None, "<img src=/typo3temp/x.png>"), Some("typo3"));
        assert_eq!(name(None, "<p>plain</p>"), None);
    }

    #[test]
    fn a_channel_is_found_in_the_page() {
        let html = r#"{"channelId":"UCaaaaaaaaaaaaaaaaaaaaaa","x":1}"#;
        assert!(channel_in(html).unwrap().ends_with("channel_id=UCaaaaaaaaaaaaaaaaaaaaaa"));
        assert_eq!(channel_in(r#"{"channelId":"UC""#), None);
    }
}
