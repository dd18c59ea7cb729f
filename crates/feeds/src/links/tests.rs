//! Small pages and the feed links expected of them.

use super::{Evidence, find, find_with};
use tidings_model::RobotsDirectives;

const PAGE: &str = "https://gazette.example/2026/03/the-ferry-sails-again";

fn urls(html: &str) -> Vec<String> {
    find(html.as_bytes(), PAGE).into_iter().map(|link| link.url).collect()
}

#[test]
fn other_relations_reverse_ones_and_broken_types_declare_no_feed() {
    for link in [
        r#"<link rel="foo" type="application/rss+xml" href="/a/1">"#,
        r#"<link rev="alternate" type="application/rss+xml" href="/a/1">"#,
        r#"<link type="application/rss+xml" href="/a/1">"#,
        r#"<link rel="alternate" type="application / rss+xml" href="/feed">"#,
    ] {
        assert_eq!(find(link.as_bytes(), "https://gazette.example/"), [], "{link}");
    }
    for rel in ["alternate", "ALTERNATE home", "feed"] {
        let link = format!(r#"<link rel="{rel}" type=" application/rss+xml; charset=utf-8" href="/a/1">"#);
        assert_eq!(find(link.as_bytes(), "https://gazette.example/").len(), 1, "{link}");
    }
}

#[test]
fn declared_feeds_of_every_type_are_found() {
    for kind in [
        "application/rss+xml",
        "application/atom+xml",
        "application/rdf+xml",
        "application/feed+json",
        "text/rss",
        "application/x.atom+xml",
        "APPLICATION/RSS+XML; charset=utf-8",
        "text/xml",
        "application/xml",
    ] {
        let html = format!("<head><link rel='alternate' type='{kind}' title='News' href='/x/news'></head>");
        assert_eq!(urls(&html), ["https://gazette.example/x/news"], "{kind}");
    }
}

#[test]
fn comment_feeds_are_excluded() {
    let html = r#"
        <link rel="alternate" type="application/rss+xml" title="Gazette &raquo; Feed" href="/feed/" />
        <link rel="alternate" type="application/rss+xml" title="Gazette &raquo; Comments Feed" href="/comments/feed/" />
        <link rel="alternate" type="application/rss+xml" title="Gazette &raquo; The ferry Kommentar-Feed" href="/2026/03/the-ferry-sails-again/feed/" />
        <link rel="alternate" type="application/rss+xml" title="untitled" href="/2026/03/the-ferry-sails-again/feed" />
        <link rel="alternate" type="application/atom+xml" href="https://x.example/feeds/123/comments/default" />
        <link rel="alternate" type="application/rss+xml" href="/?feed=comments-rss2" />
        <a href="/feed/?withcomments=1">RSS</a>"#;
    assert_eq!(urls(html), ["https://gazette.example/feed/"]);
}

#[test]
fn a_page_of_opinions_is_not_a_page_of_comments() {
    let html = r#"<link rel="alternate" type="application/rss+xml" title="Commentary" href="/opinion/rss">
        <link rel="alternate" type="application/rss+xml" title="Comment is free" href="/commentisfree/rss">"#;
    assert_eq!(urls(html).len(), 2);
}

#[test]
fn apis_are_excluded() {
    let html = r#"
        <link rel="alternate" type="application/json+oembed" href="/wp-json/oembed/1.0/embed?url=x">
        <link rel="alternate" type="text/xml+oembed" href="/oembed?format=xml">
        <link rel="alternate" type="application/json" href="/wp-json/wp/v2/posts/1">
        <link rel="https://api.w.org/" href="/wp-json/">
        <link rel="EditURI" type="application/rsd+xml" href="/xmlrpc.php?rsd">
        <link rel="search" type="application/opensearchdescription+xml" href="/osd.xml">
        <link rel="alternate" hreflang="de" href="/de/">
        <link rel="alternate" type="text/html" href="/m/">
        <link rel="alternate" type="application/activity+json" href="/users/feed">
        <link rel="sitemap" type="application/xml" href="/sitemap.xml">
        <link rel="stylesheet" type="text/css" href="/feed.css">
        <a href="/sitemap.xml">RSS</a> <a href="https://www.facebook.com/feed">feed</a>"#;
    assert_eq!(urls(html), Vec::<String>::new());
}

#[test]
fn anchors_that_look_like_feeds_are_found() {
    for href in [
        "/feed",
        "/feed/",
        "/rss",
        "/rss.xml",
        "/index.xml",
        "/atom.xml",
        "/news/index.rdf",
        "/feeds/posts/default",
        "/?feed=rss2",
        "/index.php?format=feed&amp;type=rss",
        "/?type=100",
        "/spip.php?page=backend",
        "/data/rss",
        "/section/sport.rss",
        "/feed.json",
        "https://feeds.feedburner.com/gazette",
        "feed://gazette.example/feed",
        "feed:https://gazette.example/feed",
        "/rss/news.aspx",
        "https://feedly.com/i/subscription/feed/https%3A%2F%2Fgazette.example%2Ffeed",
        "https://rss.gazette.example/all",
    ] {
        let found = urls(&format!("<p><a href=\"{href}\">x</a></p>"));
        assert_eq!(found.len(), 1, "{href}");
    }
}

#[test]
fn anchors_that_only_sound_like_feeds_are_not() {
    for href in [
        "/2026/03/why-rss-is-not-dead-yet-and-never-will",
        "https://www.buzzfeed.com/food",
        "/feedback",
        "/animals/feeding",
        "/img/rss.png",
        "https://en.wikipedia.org/wiki/RSS",
        "mailto:rss@gazette.example",
        "javascript:feed()",
        "#rss",
        "/news.json",
        "/physics/atomic",
        "https://www.linkedin.com/feed/",
        "/help/rss.html",
    ] {
        assert_eq!(urls(&format!("<a href=\"{href}\">link</a>")), Vec::<String>::new(), "{href}");
    }
}

#[test]
fn declared_feeds_come_before_anchors_and_once() {
    let html =
        r#"<a href="/b/feed">RSS</a><a href="/feed">RSS</a><link rel=alternate type=application/rss+xml href=/feed>"#;
    let found = find(html.as_bytes(), "https://gazette.example/");
    let seen: Vec<_> = found.iter().map(|link| (link.url.as_str(), link.evidence)).collect();
    assert_eq!(
        seen,
        [("https://gazette.example/feed", Evidence::Declared), ("https://gazette.example/b/feed", Evidence::Address)]
    );
}

#[test]
fn the_base_element_applies() {
    let html = r#"<base href="https://cdn.example/x/"><link rel="alternate" type="application/rss+xml" href="feed">"#;
    assert_eq!(urls(html), ["https://cdn.example/x/feed"]);
}

#[test]
fn links_in_scripts_and_comments_are_ignored() {
    let html = r#"<script>document.write('<a href="/feed">RSS</a>')</script><!-- <a href="/rss">RSS</a> --><style><a href="/x.rss"></style>"#;
    assert_eq!(urls(html), Vec::<String>::new());
}

#[test]
fn anchors_with_nofollow_are_not_links_to_follow() {
    for rel in ["nofollow", "noopener NoFollow", "ugc", "sponsored"] {
        let html = format!("<a href=/feed/ rel='{rel}'>RSS</a><a type='application/rss+xml' rel='{rel}' href=/x>x</a>");
        assert!(urls(&html).is_empty(), "{rel}");
    }
    assert_eq!(urls("<a href=/feed/ rel=noopener>RSS</a>"), ["https://gazette.example/feed/"]);
    let declared = "<link rel='alternate nofollow' type='application/rss+xml' href=/feed/>";
    assert_eq!(urls(declared), ["https://gazette.example/feed/"], "a declaration is not an anchor");
}

#[test]
fn the_anchors_of_a_page_with_nofollow_are_not_followed_and_its_declarations_stay() {
    let body =
        "<link rel=alternate type='application/rss+xml' href=/feed/><a href=/rss.xml>RSS</a><a href=/feed/>RSS</a>";
    for (meta, found) in [
        ("<meta name=robots content='noindex, nofollow'>", 1),
        ("<META NAME=ROBOTS CONTENT=NONE>", 1),
        ("<meta name=Tidings content=nofollow>", 1),
        ("<meta name=googlebot content=nofollow>", 2),
        ("<meta name=robots content=noindex>", 2),
    ] {
        assert_eq!(urls(&format!("{meta}{body}")).len(), found, "{meta}");
        assert_eq!(urls(&format!("{body}{meta}")).len(), found, "{meta} after the links");
    }
    let header = RobotsDirectives { nofollow: true, noindex: false };
    let links: Vec<String> = find_with(body.as_bytes(), PAGE, header).into_iter().map(|link| link.url).collect();
    assert_eq!(links, ["https://gazette.example/feed/"]);
}
