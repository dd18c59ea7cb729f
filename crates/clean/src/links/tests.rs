use proptest::prelude::*;
use tidings_model::{LinkRegion, PageLinks};

use super::*;

const URL: &str = "https://paper.example/news/";

fn links(html: &str) -> PageLinks {
    of_html(html, URL)
}

/// The path, the region and the anchor of each link.
fn rows(html: &str) -> Vec<(String, LinkRegion, String)> {
    let path = |url: &str| url.strip_prefix("https://paper.example").unwrap_or(url).to_owned();
    links(html).links.into_iter().map(|link| (path(&link.url), link.region, link.anchor)).collect()
}

fn row(path: &str, region: LinkRegion, anchor: &str) -> (String, LinkRegion, String) {
    (path.to_owned(), region, anchor.to_owned())
}

#[test]
fn the_declared_language_is_that_of_the_root() {
    let language = |html: &str| links(html).language;
    assert_eq!(language("<html lang='cs_CZ'><p lang=de>x").as_deref(), Some("cs-CZ"));
    assert_eq!(language("<html lang=english><p lang=de>x"), None);
    assert_eq!(language("<p>x"), None);
}

#[test]
fn the_region_of_a_link_follows_from_its_block() {
    use LinkRegion::{List, Navigation, Text};
    for (html, region) in [
        ("<p>The council <a href=/x>voted</a> on the budget for the coming year.</p>", Text),
        ("<h2><a href=/x>Budget vote</a></h2>", Text),
        ("<ul><li><a href=/x>Budget vote</a></li></ul>", List),
        ("<ul><li>A sentence with a <a href=/x>link</a> in the middle of it.</li></ul>", Text),
        ("<div class=teaser><a href=/x>Budget vote</a><p>The council postponed it.</p></div>", List),
        ("<a href=/x><div><h3>Budget vote</h3><p>The council postponed it.</p></div></a>", List),
        ("<table><tr><td>The minutes are <a href=/x>here</a> to read.</td></tr></table>", Text),
        ("<nav><ul><li><a href=/x>Politics</a></ul></nav>", Navigation),
        ("<header><h1><a href=/x>The Paper</a></h1></header>", Navigation),
        ("<article><header><h2><a href=/x>Budget vote</a></h2></header></article>", Text),
        ("<footer><p>All about <a href=/x>this site</a> and more.</p></footer>", Navigation),
        ("<div role=navigation><a href=/x>Politics</a></div>", Navigation),
        ("<div class='main-menu open'><p><a href=/x>Politics</a></p></div>", Navigation),
        ("<div id=sidebar-left><h3><a href=/x>Most read</a></h3></div>", Navigation),
        ("<div class='page has-sidebar'><h3><a href=/x>Budget vote</a></h3></div>", Text),
        ("<div class=menus><h3><a href=/x>Five menus for spring</a></h3></div>", Text),
        ("<body><form><h3><a href=/x>Budget vote</a></h3></form>", Text),
        ("<div><form><h3><a href=/x>Search tips</a></h3></form></div>", Navigation),
    ] {
        assert_eq!(rows(html).iter().map(|row| row.1).collect::<Vec<_>>(), [region], "{html}");
    }
}

#[test]
fn each_url_is_listed_once_with_its_best_region_and_anchor() {
    let html = "<nav><a href=/a rel=nofollow>A</a></nav>\
        <article><a href=/a#top><img src=x alt='A photo'></a><h2><a href=/a?utm_source=front> The  long\n title </a></h2>\
        <p>Summary. <a href=/a>Read more about all of this here</a></p></article>";
    assert_eq!(rows(html), [row("/a", LinkRegion::Text, "The long title")]);
    assert!(!links(html).links[0].nofollow, "one of its occurrences may be followed");
}

#[test]
fn the_anchor_of_a_card_is_its_heading_and_that_of_an_image_its_alternative_text() {
    let html = "<a href=/a><span>Politics</span><h3>Budget vote</h3><p>It was postponed.</p></a>\
        <a href=/b><img src=x alt='A bridge'></a><a href=/c title=Archive></a><a href=/d aria-label=Next></a>";
    let anchors: Vec<String> = rows(html).into_iter().map(|row| row.2).collect();
    assert_eq!(anchors, ["Budget vote", "A bridge", "Archive", "Next"]);
}

#[test]
fn what_browsers_do_not_show_is_left_out() {
    let html = "<div hidden><a href=/1>x</a></div><div style='color:red; DISPLAY: none'><a href=/2>x</a></div>\
        <template><a href=/3>x</a></template><dialog><a href=/4>x</a></dialog><script><a href=/5>x</a></script>\
        <!-- <a href=/6>x</a> --><textarea><a href=/7>x</a></textarea><a href=/8 hidden>x</a>\
        <noscript><a href=/a>shown without scripts</a></noscript><dialog open><a href=/b>x</a></dialog>\
        <details><summary>More</summary><a href=/c>x</a></details>";
    let paths: Vec<String> = rows(html).into_iter().map(|row| row.0).collect();
    assert_eq!(paths, ["/a", "/b", "/c"]);
}

#[test]
fn nofollow_of_a_link_is_read_from_rel() {
    let html = "<a href=/a rel='noopener nofollow'>a</a><a href=/b rel=UGC>b</a><a href=/c rel=sponsored>c</a>\
        <a href=/d rel=noopener>d</a>";
    let flags: Vec<bool> = links(html).links.iter().map(|link| link.nofollow).collect();
    assert_eq!(flags, [true, true, true, false]);
}

#[test]
fn directives_of_the_page_are_read_for_all_agents_and_for_ours() {
    for (html, nofollow, noindex) in [
        ("<meta name=robots content='index,follow'>", false, false),
        ("<meta name=ROBOTS content=NOFOLLOW>", true, false),
        ("<meta name=robots content=noindex><meta name=tidings content=nofollow>", true, true),
        ("<meta name=robots content=none>", true, true),
        ("<meta name=googlebot content=none>", false, false),
        ("<meta property=robots content=none>", false, false),
    ] {
        let found = links(html);
        assert_eq!((found.nofollow, found.noindex), (nofollow, noindex), "{html}");
    }
}

#[test]
fn links_are_resolved_against_the_first_base() {
    let base = |html: &str| links(html).links.first().map(|link| link.url.clone()).unwrap_or_default();
    assert_eq!(base("<a href=x>x</a>"), "https://paper.example/news/x");
    assert_eq!(base("<base href=/en/><base href=/de/><a href=x>x</a>"), "https://paper.example/en/x");
    assert_eq!(base("<base target=_blank><base href=//cdn.example/><a href=x>x</a>"), "https://cdn.example/x");
    assert_eq!(base("<base href=javascript:x><a href=x>x</a>"), "https://paper.example/news/x");
}

#[test]
fn links_that_lead_to_no_other_page_are_left_out() {
    let html = "<a href=#top>x</a><a href=mailto:a@b.example>x</a><a href='javascript:void(0)'>x</a><a href=''>x</a>\
        <a name=x>x</a><a href=/news/>x</a><a href='http://'>x</a><map><area href=/map></map>";
    assert_eq!(rows(html).into_iter().map(|row| row.0).collect::<Vec<_>>(), ["/map"]);
}

#[test]
fn statements_of_the_page_about_its_address_are_read() {
    let html = "<head><link rel=canonical href=/a?utm_source=x><link rel=next href='?page=2'>\
        <link rel=alternate hreflang=de-at href=/de><link rel=alternate hreflang=x-default href=/>\
        <link rel=amphtml href=/amp><link rel=alternate media='only screen and (max-width: 640px)' href=//m.paper.example/a>\
        <link rel=alternate media=print href=/print><link rel=alternate type=application/rss+xml href=/feed></head>";
    let found = links(html);
    assert_eq!(found.canonical.as_deref(), Some("https://paper.example/a"));
    assert_eq!(found.next.as_deref(), Some("https://paper.example/news/?page=2"));
    assert_eq!(found.alternates, [("de-AT".to_owned(), "https://paper.example/de".to_owned())]);
    let twins = ["https://paper.example/amp", "https://m.paper.example/a", "https://paper.example/print"];
    assert_eq!(found.twins, twins);
}

#[test]
fn a_canonical_url_is_believed_if_it_is_the_only_one_and_in_the_head() {
    let canonical = |html: &str| links(html).canonical;
    assert_eq!(canonical("<link rel=canonical href=/a><link rel=canonical href=/b>"), None);
    assert!(canonical("<link rel=canonical href=/a><link rel=canonical href=/a#x>").is_some());
    assert_eq!(canonical("<body><p>x<link rel=canonical href=/a>"), None);
}

#[test]
fn an_anchor_with_rel_next_is_the_next_page() {
    assert_eq!(links("<a rel=next href=/p/2>older</a>").next.as_deref(), Some("https://paper.example/p/2"));
}

#[test]
fn pages_with_too_many_links_are_cut_and_say_so() {
    let many: String = (0..MAX_LINKS + 10).map(|n| format!("<a href=/{n}>x</a>")).collect();
    let found = links(&many);
    assert_eq!((found.links.len(), found.truncated), (MAX_LINKS, true));
    let long: String = (0..1000).map(|n| format!("<a href=/{n}/{}>x</a>", "y".repeat(2000))).collect();
    let found = links(&long);
    assert!(found.truncated && found.links.iter().map(|link| link.url.len()).sum::<usize>() <= MAX_BYTES);
    let text = format!("<a href=/a>{}</a>", "word ".repeat(1000));
    assert!(links(&text).links[0].anchor.chars().count() <= MAX_ANCHOR_CHARS);
    assert!(!links("<a href=/a>x</a>").truncated);
}

#[test]
fn bytes_are_decoded_as_those_of_articles() {
    let body = b"<meta charset=windows-1250><a href=/a>\x8elut\xfd k\xf9\xf2</a>";
    assert_eq!(of_bytes(body, Some("text/html"), URL).links[0].anchor, "Žlutý kůň");
    assert_eq!(of_html("<a href=/a>x</a>", "not a URL"), PageLinks::default());
}

proptest! {
    #[test]
    fn any_markup_gives_bounded_normalised_links(
        pieces in prop::collection::vec(prop::sample::select(vec![
            "<a href=/x>", "</a>", "<a href='//é.example/%7e'>", "<div>", "</div>", "<h2>", "</h2>", "<li>", "text ", "<nav>",
            "</nav>", "<template>", "</template>", "<base href=/b/>", "<form>", "<table><tr>", "<p hidden>", "<svg><a href=/s>",
            "<a rel=nofollow href=y>", "<noscript>", "<link rel=canonical href=/c>", "<img alt='a b'>", "<select>", "\u{0}é",
        ]), 0..60)
    ) {
        let found = of_html(&pieces.concat(), URL);
        let mut urls = std::collections::HashSet::new();
        for link in &found.links {
            prop_assert_eq!(address::normalise(&link.url, None), Some(link.url.clone()));
            prop_assert!(link.anchor.chars().count() <= MAX_ANCHOR_CHARS);
            prop_assert!(urls.insert(&link.url));
        }
    }
}

#[test]
fn a_page_is_cleaned_and_its_links_are_read_in_one_go() {
    let text = "The council postponed the vote on the budget until the spring of the coming year. ".repeat(20);
    let body =
        format!("<html lang=en><body><article><h1>Budget</h1><p>{text}<a href=/a>More</a></p></article>").into_bytes();
    let page = tidings_model::Page {
        url: URL.into(),
        content_type: "text/html".into(),
        body,
        ..tidings_model::Page::default()
    };
    let (options, postprocess) = (crate::Options::default(), crate::postprocess::PostprocessOptions::default());
    let (document, found) = crate::clean_with_links(&page, &options, &postprocess);
    assert_eq!(document, crate::clean(&page, &options, &postprocess));
    assert_eq!(found, of_bytes(&page.body, Some("text/html"), URL));
    assert_eq!(found.links.len(), 1);
}
