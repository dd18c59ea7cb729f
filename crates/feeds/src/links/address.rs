//! Classification of URLs: feeds, comment feeds, APIs.

use url::Url;

/// Returns true if a URL looks like a feed.
pub(crate) fn looks_like_feed(url: &Url) -> bool {
    if is_elsewhere(url) {
        return false;
    }
    let host = url.host_str().unwrap_or("");
    let segments: Vec<String> = segments(url);
    let last = segments.last().map_or("", String::as_str);
    if host.starts_with("feeds.feedburner.") || host.starts_with("feeds2.feedburner.") {
        return !last.is_empty();
    }
    if ["rss", "rdf", "atom"].iter().any(|end| extension(last) == Some(end)) {
        return true;
    }
    if query_of_feed(url) {
        return true;
    }
    let on_feed_host = ["feed.", "feeds.", "rss.", "rssfeeds."].iter().any(|start| host.starts_with(start));
    match extension(last) {
        Some("xml") => {
            let stem = last.strip_suffix(".xml").unwrap_or(last);
            on_feed_host
                || matches!(stem, "index" | "news" | "blog" | "posts" | "all")
                || segments.iter().any(|s| has_feed_word(s))
        }
        Some("json") => {
            last == "feed.json" || segments.iter().rev().skip(1).any(|s| matches!(s.as_str(), "feed" | "feeds"))
        }
        Some("php" | "asp" | "aspx" | "cfm" | "jsp" | "cgi" | "ashx" | "do" | "phtml" | "pl") => {
            last == "backend.php" || has_feed_word(last) || segments.iter().any(|s| is_feed_segment(s))
        }
        Some("htm" | "html" | "shtml") => false,
        Some(_) => false,
        None => {
            if on_feed_host && !last.is_empty() {
                return true;
            }
            let Some(at) = segments.iter().position(|segment| is_feed_segment(segment)) else {
                return false;
            };
            // The section may follow in up to three segments.
            segments.len() - at <= 4
        }
    }
}

/// Returns true if a link with a text that names a feed may be one, and not a page about feeds on another site.
pub(super) fn may_be_feed(url: &Url, page: Option<&Url>) -> bool {
    if is_elsewhere(url) {
        return false;
    }
    let same_site = page.is_none_or(|page| site(page) == site(url));
    let segments = segments(url);
    let last = segments.last().map_or("", String::as_str);
    let mentions = segments.iter().any(|segment| has_feed_word(segment));
    match extension(last) {
        Some("xml") => true,
        Some("htm" | "html" | "shtml") => false,
        Some(_) => mentions,
        None => {
            mentions || (same_site && (url.query().is_some_and(|query| query.to_ascii_lowercase().contains("rss"))))
        }
    }
}

/// Returns true for URLs of comments.
pub(crate) fn is_comments(url: &Url) -> bool {
    let path = url.path().to_ascii_lowercase();
    let query = url.query().unwrap_or("").to_ascii_lowercase();
    let in_path = path.split(['/', '.', '-', '_']).any(|word| {
        matches!(
            word,
            "comments"
                | "commentsfeed"
                | "commentfeed"
                | "kommentare"
                | "commentaires"
                | "comentarios"
                | "replies"
                | "responses"
        )
    }) || ["comment-feed", "comment_feed", "commentrss", "comment-rss", "comment/feed"]
        .iter()
        .any(|mark| path.contains(mark));
    let in_query =
        ["comments", "withcomments", "commentid", "feed=comment", "comment_id"].iter().any(|mark| query.contains(mark));
    in_path || in_query
}

/// Returns true if the title of a feed names comments, in the languages of blog software.
pub(crate) fn title_of_comments(title: &str) -> bool {
    const ROOTS: &[&str] = &[
        "comment",
        "komment",
        "coment",
        "reactie",
        "komentar",
        "komentár",
        "komentář",
        "комментар",
        "коментар",
        "yorum",
        "hozzászól",
        "σχολ",
        "σχόλ",
        "コメント",
        "评论",
        "評論",
        "迴響",
        "留言",
        "댓글",
        "تعليق",
        "תגובות",
        "دیدگاه",
        "ความ",
        "bình luận",
        "reacties",
        "responses to",
        "replies to",
        "hantering av svar",
        "reageringen",
        "kommentt",
        "atsiliep",
        "komentāri",
        "iruzkin",
        "comentaris",
    ];
    const FEEDS: &[&str] = &[
        "feed",
        "rss",
        "atom",
        "flux",
        "flöde",
        "kanal",
        "kanał",
        "лента",
        "стрічка",
        "емисия",
        "ροή",
        "フィード",
        "피드",
        "zdroj",
        "akış",
        "besleme",
        "syöte",
        "strøm",
        "canal",
        "»",
        "csatorna",
        "خلاصات",
        "خوراک",
        "פיד",
        "on:",
        "for:",
        "auf:",
        " on ",
        " zu ",
        "資訊",
        "源",
    ];
    let lower = title.to_lowercase();
    // Commentary is opinion, not comments.
    if lower.contains("commentary") || lower.contains("commentator") || lower.contains("comment is free") {
        return false;
    }
    ROOTS.iter().any(|root| lower.contains(root))
        && (FEEDS.iter().any(|feed| lower.contains(feed)) || lower.split_whitespace().count() <= 1)
}

/// Returns true for URLs of APIs, embeds and sitemaps.
///
/// A declared feed with such a URL is accepted, except for those that are commonly declared by mistake.
pub(crate) fn is_interface(url: &Url, declared: bool) -> bool {
    const ALWAYS: &[&str] = &[
        "oembed",
        "wp-json",
        "xmlrpc",
        "graphql",
        "wlwmanifest",
        "opensearch",
        "osd.xml",
        "sitemap.xml",
        "sitemap_index",
        "webmanifest",
        "manifest.json",
        "browserconfig",
        "rsd.xml",
        "?rsd",
        "crossdomain.xml",
        "wp-login",
    ];
    const USUALLY: &[&str] = &["/api/", "sitemap", "/wp-admin", "/wp-includes", "/wp-content", "/cdn-cgi/", "/rsd"];
    let host = url.host_str().unwrap_or("");
    let rest = url[url::Position::BeforePath..].to_ascii_lowercase();
    let has = |marks: &[&str]| marks.iter().any(|mark| rest.contains(mark));
    has(ALWAYS) || !declared && (host.starts_with("api.") || has(USUALLY))
}

/// Returns true for the comment feed of the article that the page is.
///
/// Blog software appends `feed` to the article's URL. Sections have their feed there too, so the page must look
/// like an article and have another feed.
pub(super) fn is_feed_of_article(feed: &Url, page: &Url, all: &[Url]) -> bool {
    let of_page = |url: &Url| {
        let path = url.path().trim_end_matches('/');
        let stem = ["/feed", "/rss", "/atom", "/feed/atom", "/feed/rss2", "/rss.xml", "/feed/rss"]
            .iter()
            .filter_map(|end| path.strip_suffix(end))
            .min_by_key(|stem| stem.len());
        site(url) == site(page) && stem.is_some_and(|stem| stem == page.path().trim_end_matches('/'))
    };
    is_article(page) && of_page(feed) && all.iter().any(|other| site(other) == site(page) && !of_page(other))
}

/// Returns true if a URL has a date, a number or a headline, as articles do.
fn is_article(page: &Url) -> bool {
    let segments = segments(page);
    let archive =
        ["category", "tag", "author", "topic", "section", "kategorie", "categoria", "rubrik", "tags", "topics"];
    if segments.first().is_some_and(|first| archive.contains(&first.as_str())) {
        return false;
    }
    let Some(last) = segments.last() else {
        return false;
    };
    let words = last.split(['-', '_']).filter(|word| !word.is_empty()).count();
    let dated = segments
        .iter()
        .any(|s| s.len() == 4 && (s.starts_with("19") || s.starts_with("20")) && s.bytes().all(|b| b.is_ascii_digit()));
    words >= 4
        || last.ends_with(".html")
        || (dated && segments.len() >= 3)
        || last.bytes().filter(u8::is_ascii_digit).count() >= 5
}

/// Returns true if two URLs name the same document.
pub(super) fn same_document(a: &Url, b: &Url) -> bool {
    a[..url::Position::AfterQuery] == b[..url::Position::AfterQuery]
}

/// Removes the scheme of `feed://host/path` and `feed:https://host/path`.
pub(super) fn without_feed_scheme(href: &str) -> String {
    let Some(rest) = href.get(..5).filter(|start| start.eq_ignore_ascii_case("feed:")).map(|_| &href[5..]) else {
        return href.to_string();
    };
    match rest.strip_prefix("//") {
        Some(host) if host.starts_with("http://") || host.starts_with("https://") => host.to_string(),
        Some(host) => format!("http://{host}"),
        None => rest.to_string(),
    }
}

/// The feed URL inside the URL of a feed reader service.
pub(super) fn inside_a_reader(href: &str) -> Option<String> {
    const READERS: &[&str] = &[
        "feedly.com/",
        "netvibes.com/",
        "add.my.yahoo.com/",
        "google.com/ig",
        "google.com/reader",
        "fusion.google.com/",
        "inoreader.com/",
        "newsblur.com/",
        "theoldreader.com/",
        "bloglines.com/",
        "newsgator.com/",
        "subtome.com/",
        "my.aol.com/",
        "live.com/",
    ];
    if !READERS.iter().any(|reader| href.contains(reader)) {
        return None;
    }
    let decoded = percent_decoded(href);
    let from = decoded.get(8..)?.find("http").map(|at| at + 8)?;
    let inner = decoded[from..].split(['&', '#', ' ']).next()?;
    Url::parse(inner).ok().map(String::from)
}

fn percent_decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let digit = |offset: usize| bytes.get(at + offset).and_then(|b| (*b as char).to_digit(16));
        match (bytes[at], digit(1), digit(2)) {
            (b'%', Some(high), Some(low)) => {
                out.push((high * 16 + low) as u8);
                at += 3;
            }
            (byte, ..) => {
                out.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Returns true for sites where "feed" has another meaning, and for files that are not feeds.
fn is_elsewhere(url: &Url) -> bool {
    const SITES: &[&str] = &[
        "facebook.com",
        "linkedin.com",
        "instagram.com",
        "twitter.com",
        "x.com",
        "pinterest.com",
        "tiktok.com",
        "wikipedia.org",
        "whatsapp.com",
        "t.me",
        "feedly.com",
        "netvibes.com",
        "inoreader.com",
        "rss.com",
        "plus.google.com",
        "addtoany.com",
        "addthis.com",
        "play.google.com",
        "podcasts.apple.com",
        "feedvalidator.org",
        "whatisrss.com",
        "feedspot.com",
        "follow.it",
        "feedity.com",
    ];
    let host = url.host_str().unwrap_or("");
    let on_site =
        SITES.iter().any(|site| host == *site || host.strip_suffix(site).is_some_and(|rest| rest.ends_with('.')));
    let path = url.path().to_ascii_lowercase();
    let file = [
        "png", "jpg", "jpeg", "gif", "svg", "webp", "ico", "mp3", "mp4", "pdf", "css", "js", "zip", "opml", "xsl",
        "woff2", "exe", "apk",
    ];
    let last = path.rsplit('/').next().unwrap_or("");
    on_site || extension(last).is_some_and(|end| file.contains(&end))
}

/// The host without `www.`.
fn site(url: &Url) -> &str {
    let host = url.host_str().unwrap_or("");
    host.strip_prefix("www.").unwrap_or(host)
}

fn segments(url: &Url) -> Vec<String> {
    url.path_segments().into_iter().flatten().filter(|s| !s.is_empty()).map(str::to_ascii_lowercase).collect()
}

fn extension(segment: &str) -> Option<&str> {
    let (stem, end) = segment.rsplit_once('.')?;
    (!stem.is_empty() && !end.is_empty() && end.len() <= 5 && end.bytes().all(|b| b.is_ascii_alphanumeric()))
        .then_some(end)
}

/// Words of pages about feeds.
const ABOUT: &[&str] = &[
    "reader",
    "readers",
    "about",
    "what",
    "help",
    "info",
    "specification",
    "spec",
    "policy",
    "terms",
    "guide",
    "product",
    "licensing",
    "icon",
    "icons",
];

/// Returns true for path segments that name a feed: `/feed/`, `/rss2/`, `/news-feed/`.
fn is_feed_segment(segment: &str) -> bool {
    let words: Vec<&str> = segment.split(['-', '_', '+', '.', ',']).filter(|word| !word.is_empty()).collect();
    words.len() <= 3 && words.iter().any(|word| is_feed_word(word)) && !words.iter().any(|word| ABOUT.contains(word))
}

fn has_feed_word(segment: &str) -> bool {
    let words: Vec<&str> =
        segment.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    words.len() <= 4
        && words
            .iter()
            .any(|word| is_feed_word(word) || word.starts_with("rss") || word.ends_with("rss") && word.len() <= 8)
}

fn is_feed_word(word: &str) -> bool {
    matches!(
        word,
        "rss"
            | "rss2"
            | "rss20"
            | "rss1"
            | "rss10"
            | "rss091"
            | "rss092"
            | "rdf"
            | "atom"
            | "atom1"
            | "atom10"
            | "feed"
            | "feeds"
            | "rssfeed"
            | "rssfeeds"
            | "newsfeed"
            | "newsfeeds"
            | "webfeed"
            | "xmlfeed"
            | "outboundfeeds"
            | "feedrss"
            | "georss"
    )
}

/// Returns true if a query parameter requests a feed.
fn query_of_feed(url: &Url) -> bool {
    url.query_pairs().take(30).any(|(key, value)| {
        let (key, value) = (key.to_ascii_lowercase(), value.to_ascii_lowercase());
        let a_feed = matches!(
            value.as_str(),
            "rss" | "rss2" | "rss1" | "rss0.92" | "rdf" | "atom" | "feed" | "rss20" | "rss2.0" | "rss_2.0" | "atom1.0"
        );
        match key.as_str() {
            "feed" | "format" | "output" | "alt" | "view" | "mode" | "fmt" | "action" | "do" | "page" | "tmpl"
            | "service" | "option" => a_feed || (key == "page" && value == "backend"),
            "type" => a_feed || value == "100",
            "rss" | "atom" => true,
            _ => false,
        }
    })
}
