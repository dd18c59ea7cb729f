//! One small page for each kind of evidence, and for each way a date can be wrong.

use super::*;
use crate::tree::parse;

fn read_page(html: &str, url: Option<&str>, known_dates: &KnownDates) -> Dates {
    let tree = parse(html);
    let declared = DeclaredMetadata::read(&tree);
    read(&tree, &declared, url, known_dates)
}

fn day_of(html: &str) -> String {
    let dates = read_page(html, None, &KnownDates::default());
    dates.published.map_or(String::from("none"), |dated| format!("{} {}", dated.day, dated.source))
}

fn moment(text: &str) -> Option<Timestamp> {
    Some(text.parse().unwrap())
}

const ARTICLE: &str = r#"<html lang=en><title>A long headline here</title>
    <script type="application/ld+json">{"@type":"NewsArticle","datePublished":"2019-08-02T23:30:00-07:00","dateModified":"2019-08-05"}</script>
    <h1>A long headline here</h1><p>Text."#;

#[test]
fn json_ld_of_the_article_gives_the_day_as_written() {
    let dates = read_page(ARTICLE, None, &KnownDates::default());
    let published = dates.published.unwrap();
    assert_eq!((published.day.as_str(), published.source.as_str()), ("2019-08-02", "json-ld"));
    assert!(published.confidence > 0.8 && published.confidence < 1.0);
    assert_eq!(dates.modified.unwrap().to_string(), "2019-08-05");
}

#[test]
fn json_ld_of_comments_and_other_articles_is_ignored() {
    let html = r#"<script type="application/ld+json">[{"@type":"Comment","dateCreated":"2001-01-02"},
        {"@type":"Article","url":"https://example.org/other","datePublished":"2001-03-04"},
        {"@type":"Article","url":"https://www.example.org/own/","datePublished":"2019-08-02"}]</script>"#;
    let dates = read_page(html, Some("https://example.org/own?utm=1"), &KnownDates::default());
    assert_eq!(dates.published.unwrap().day, "2019-08-02");
}

#[test]
fn publication_metas_outweigh_modification_metas() {
    let html = r#"<meta name="last-modified" content="2020-01-05"><meta property="article:published_time" content="2019-08-02T10:00:00Z">"#;
    assert_eq!(day_of(html), "2019-08-02 meta");
}

#[test]
fn microdata_and_time_elements_are_read() {
    assert_eq!(
        day_of(r#"<h1>Headline</h1><span itemprop="datePublished" content="2019-08-02">gestern</span>"#),
        "2019-08-02 microdata"
    );
    assert_eq!(day_of(r#"<h1>Headline</h1><time datetime="2019-08-02 10:00">yesterday</time>"#), "2019-08-02 time");
    assert_eq!(day_of(r#"<h1>Headline</h1><div data-published="1564740000">x</div>"#), "2019-08-02 time");
    assert_eq!(day_of(r#"<h1>Headline</h1><abbr title="2019-08-02T10:00:00Z">a while ago</abbr>"#), "2019-08-02 text");
}

#[test]
fn a_date_split_over_three_elements_is_one_date() {
    assert_eq!(day_of("<h1>Headline</h1><p><b>2.</b> <i>August</i> <span>2019</span></p>"), "2019-08-02 text");
    let parted = r#"<h1>Headline</h1><div class="entry-date"><div>2</div><div>Aug</div><div>2019</div></div>"#;
    assert_eq!(day_of(parted), "2019-08-02 text");
}

#[test]
fn the_date_below_the_headline_outweighs_those_of_other_articles() {
    let html = r#"<aside><ul><li>1.1.2018 Older</li><li>3.9.2019 Newer</li></ul></aside>
        <h1>Überschrift der Seite</h1><p>Veröffentlicht am 2.8.2019, zuletzt aktualisiert am 9.8.2019</p>
        <p>Am 14. Juni 2017 geschah etwas.</p><footer>© 2020, Stand 1.2.2020</footer>"#;
    let dates = read_page(html, None, &KnownDates::default());
    assert_eq!(dates.published.unwrap().day, "2019-08-02");
    assert_eq!(dates.modified.unwrap().to_string(), "2019-08-09");
}

#[test]
fn a_sidebar_that_contains_the_headline_is_not_a_sidebar() {
    let html = r#"<div class="sidebar"><h1>Headline of the page</h1><p>2 August 2019</p></div>"#;
    assert_eq!(day_of(html), "2019-08-02 text");
}

#[test]
fn the_url_resolves_an_ambiguous_date() {
    let html = r#"<html lang="en-US"><h1>Headline</h1><p>02/08/2019</p>"#;
    let dates = read_page(html, Some("https://example.com/2019/08/02/x"), &KnownDates::default());
    assert_eq!(dates.published.unwrap().day, "2019-08-02");
}

#[test]
fn a_utc_time_gives_way_to_the_local_day_shown() {
    let html = r#"<html lang=en><meta property="article:published_time" content="2019-08-03T02:10:00Z">
        <h1>Headline</h1><p class="date">August 2, 2019</p>"#;
    assert_eq!(day_of(html), "2019-08-02 text");
}

#[test]
fn dates_in_scripts_are_a_fallback() {
    assert_eq!(
        day_of(r#"<script>window.x={"publishedAt":"2019-08-02T10:00:00Z"}</script><p>Text"#),
        "2019-08-02 script"
    );
}

#[test]
fn dates_printed_by_scripts_or_in_image_urls_are_found() {
    assert_eq!(day_of("<p>Text</p><script>showDate('2019/08/02 10:00')</script>"), "2019-08-02 script");
    assert_eq!(day_of("<p>Text</p><img src=/files/2019/08/02/x.jpg>"), "2019-08-02 image");
    assert_eq!(day_of("<meta name=description content='Notizia del 2 Agosto 2019'><p>Text</p>"), "2019-08-02 text");
}

#[test]
fn a_copyright_year_alone_is_not_reported() {
    let dates = read_page("<p>Text</p><p>© 2001–2019 Example</p>", None, &KnownDates::default());
    assert_eq!(dates.published, None);
    assert_eq!((dates.candidates[0].source, dates.candidates[0].day.year()), (DateSource::Copyright, 2019));
}

#[test]
fn impossible_dates_are_dropped() {
    assert_eq!(day_of(r#"<meta name="date" content="1970-01-01">"#), "none");
    let html = r#"<meta name="date" content="2019-08-09"><h1>Headline</h1><p>2 August 2019</p>"#;
    let known_dates = KnownDates { downloaded: moment("2019-08-03T10:00:00Z"), ..KnownDates::default() };
    let dates = read_page(html, None, &known_dates);
    assert_eq!(dates.published.unwrap().day, "2019-08-02");
    assert_eq!(dates.doubts, [Doubt::FuturePageDate]);
    let bounded = KnownDates { latest: Some(Date::constant(2019, 8, 1)), ..KnownDates::default() };
    assert_eq!(read_page(html, None, &bounded).published, None);
}

#[test]
fn an_undated_page_takes_the_feed_date_or_else_the_first_seen_date() {
    let (seen, downloaded) = (moment("2019-08-03T10:00:00Z"), moment("2019-08-03T12:00:00Z"));
    let dated = |feed: Option<Timestamp>| {
        let dates = read_page("<p>Text", None, &KnownDates { feed, seen, downloaded, ..KnownDates::default() });
        let dated = dates.published.unwrap();
        (dated.day, dated.source, dates.doubts)
    };
    let row = |day: &str, source: &str, doubts: &[Doubt]| (day.to_string(), source.to_string(), doubts.to_vec());
    assert_eq!(dated(moment("2019-08-02T08:00:00Z")), row("2019-08-02", "feed", &[]));
    assert_eq!(dated(None), row("2019-08-03", "seen", &[]));
    assert_eq!(dated(moment("2019-08-06T08:00:00Z")), row("2019-08-03", "seen", &[Doubt::FutureFeedDate]));
    assert_eq!(dated(moment("2016-08-02T08:00:00Z")), row("2019-08-03", "seen", &[Doubt::OldFeedDate]));
}

#[test]
fn a_feed_that_dates_entries_at_request_time_yields_to_the_page() {
    let known_dates = KnownDates {
        feed: moment("2021-05-06T10:00:00Z"),
        seen: moment("2021-05-06T10:03:00Z"),
        downloaded: moment("2021-05-06T11:00:00Z"),
        ..KnownDates::default()
    };
    let dates = read_page(ARTICLE, None, &known_dates);
    assert_eq!(dates.published.unwrap().day, "2019-08-02");
    assert!(dates.doubts.contains(&Doubt::RollingFeedDate));
}

#[test]
fn an_old_feed_date_confirmed_by_the_page_is_kept() {
    let known_dates = KnownDates {
        feed: moment("2019-08-02T12:00:00Z"),
        downloaded: moment("2023-05-06T11:00:00Z"),
        ..KnownDates::default()
    };
    let dates = read_page(ARTICLE, None, &known_dates);
    assert_eq!(dates.published.unwrap().day, "2019-08-02");
    assert!(dates.doubts.contains(&Doubt::OldFeedDate));
}

#[test]
fn strong_evidence_for_two_days_is_a_disagreement() {
    let html = r#"<meta property="article:published_time" content="2019-08-02"><h1>Headline</h1><time datetime="2019-09-20">x</time>"#;
    assert!(read_page(html, None, &KnownDates::default()).doubts.contains(&Doubt::Disagreement));
}

#[test]
fn hostile_pages_neither_panic_nor_hang() {
    let long = "é2.".repeat(20_000);
    let many = "<time datetime=2019-08-02T10:00:00Z class=date>2.8.2019</time>".repeat(3_000);
    let months = "May 2 2019 ".repeat(5_000);
    let words = format!("<p class='{}'>2019年{}", "datumZeit ".repeat(5_000), "9".repeat(5_000));
    let deep = format!("{}2.8.2019", "<div class=date>".repeat(3_000));
    let scripts = "<script>publishedAt:'é".repeat(2_000);
    for html in [&long, &many, &months, &words, &deep, &scripts] {
        read_page(html, Some(html), &KnownDates::default());
        let meta = format!("<meta name=date content=\"{}\">", html.replace('"', ""));
        read_page(&meta, Some("https://é/2019/é/08"), &KnownDates::default());
    }
}

#[test]
fn a_displayed_day_outweighs_a_declaration_that_is_just_called_date() {
    let page = |displayed: &str| {
        format!(
            "<meta name=date content=2022-01-21><meta name=dcterms.date content=2022-01-21><title>A long headline here</title>
            <article><h1>A long headline here</h1><p>{}</p>{displayed}</article>",
            "The text of the article goes on. ".repeat(30)
        )
    };
    assert_eq!(day_of(&page("")), "2022-01-21 meta");
    assert_eq!(day_of(&page("<time datetime='2022-01-25T08:00:00'>25.01.2022</time>")), "2022-01-25 time");
    // Not the time of a comment.
    let comment = "<div class=comments><time datetime='2022-01-25T08:00:00'>25.01.2022</time></div>";
    assert_eq!(day_of(&page(comment)), "2022-01-21 meta");
}

#[test]
fn a_page_within_noscript_is_read() {
    let page = |posts: &str| {
        format!(
            "<h1>Headline of it</h1><noscript><p><time datetime=2019-08-02>2 August 2019</time></p>{posts}</noscript>"
        )
    };
    assert_eq!(day_of(&page(&"<p>hello <b>there</b></p>".repeat(40))), "2019-08-02 text");
    assert_eq!(day_of(&page("")), "none");
}

proptest::proptest! {
    #[test]
    fn no_input_panics(text in "\\PC{0,60}", number in "[0-9./: -年月日é'٣]{0,24}") {
        let html = format!("<h1>Headline</h1><p class=date>{number}</p><p>{text} {number}</p><time datetime='{number}'>");
        read_page(&html, Some(&number), &KnownDates::default());
        parse::find(&text, DateLocale::default());
        url_date::read(&format!("https://example.org/{number}/{text}"));
    }
}
