use super::*;
use proptest::prelude::*;
use std::io::Write as _;

const URL: &str = "https://gazette.example/sitemap.xml";

fn map(text: &str) -> Sitemap {
    read(text.as_bytes(), None, URL, Scope::OwnHost).expect("a sitemap")
}

fn urls(map: &Sitemap) -> Vec<&str> {
    map.entries.iter().map(|entry| entry.url.strip_prefix("https://gazette.example").unwrap_or(&entry.url)).collect()
}

#[test]
fn entries_have_urls_and_dates() {
    let table: [(&str, &[&str]); 9] = [
        ("<urlset><url><loc>https://gazette.example/a</loc></url></urlset>", &["/a"]),
        (
            "\u{feff}\n \n<?xml version='1.0'?><urlset xmlns='http://wrong/'><url><loc> /a </loc></url></urlset>",
            &["/a"],
        ),
        ("<s:urlset xmlns:s='x'><s:url><s:loc>/a</s:loc></s:url></s:urlset>", &["/a"]),
        (
            "<urlset><url><loc>/a?x=1&y=2</loc></url><url><loc>/b?x=1&amp;y=2</loc></url></urlset>",
            &["/a?x=1&y=2", "/b?x=1&y=2"],
        ),
        ("<urlset><url><loc><![CDATA[/a&b]]></loc></url></urlset>", &["/a&b"]),
        ("<urlset><url><loc>/a</loc><url><loc>/b</loc></url>", &["/a", "/b"]),
        ("<urlset><loc>/a</loc><loc>/b</loc></urlset>", &["/a", "/b"]),
        ("<urlset><url><loc>/a</loc></url><url><loc>/broken-of", &["/a"]),
        ("<urlset></urlset>", &[]),
    ];
    for (text, expected) in table {
        assert_eq!(urls(&map(text)), expected, "{text}");
    }
    let dated = map("<urlset><url><loc>/a</loc><lastmod>2026-03-01T10:00:00+01:00</lastmod></url>\
        <url><loc>/b</loc><lastmod>2026-03</lastmod></url><url><loc>/c</loc><lastmod>soon</lastmod></url></urlset>");
    let dates: Vec<Option<String>> =
        dated.entries.iter().map(|entry| entry.modified.map(|date| date.to_string())).collect();
    assert_eq!(dates, [Some("2026-03-01T09:00:00Z".into()), Some("2026-03-01T00:00:00Z".into()), None]);
    assert_eq!(dated.entries[2].unread_date.as_deref(), Some("soon"));
}

#[test]
fn the_news_extension_gives_title_date_language_and_keywords() {
    let news = map("<urlset xmlns:news='x' xmlns:image='y' xmlns:xhtml='z'><url><loc>/a</loc>\
        <image:image><image:loc>https://gazette.example/a.jpg</image:loc><image:title>A picture</image:title></image:image>\
        <news:news><news:publication><news:name>Gazette</news:name><news:language>en</news:language></news:publication>\
        <news:publication_date>2026-03-01T08:00:00Z</news:publication_date><news:title>Salt &amp;\n pepper</news:title>\
        <news:keywords>salt, pepper</news:keywords></news:news>\
        <xhtml:link rel='alternate' hreflang='de' href='/de/a'/></url></urlset>");
    let entry = &news.entries[0];
    assert_eq!((entry.title.as_str(), entry.language.as_deref()), ("Salt & pepper", Some("en")));
    assert_eq!(entry.published.map(|date| date.to_string()).as_deref(), Some("2026-03-01T08:00:00Z"));
    assert_eq!(entry.keywords, ["salt", "pepper"]);
    assert_eq!(entry.alternates, [("de".to_owned(), "https://gazette.example/de/a".to_owned())]);
    assert!(news.is_news);
    let feed = news.into_feed();
    assert_eq!(feed.entries[0].link.as_deref(), Some("https://gazette.example/a"));
    assert_eq!((feed.entries[0].title.as_str(), feed.entries.len()), ("Salt & pepper", 1));
}

#[test]
fn an_index_lists_sitemaps_with_their_dates() {
    let index = map("<sitemapindex><sitemap><loc>/maps/2026-03.xml.gz</loc><lastmod>2026-03-05</lastmod></sitemap>\
        <sitemap><loc>https://other.example/x.xml</loc></sitemap></sitemapindex>");
    assert_eq!((index.entries.len(), index.maps.len(), index.foreign), (0, 1, 1));
    assert_eq!(index.maps[0].url, "https://gazette.example/maps/2026-03.xml.gz");
    assert!(index.maps[0].modified.is_some());
}

#[test]
fn urls_of_other_hosts_are_refused_unless_robots_txt_named_the_sitemap() {
    let text = b"<urlset><url><loc>https://www.gazette.example/a</loc></url><url><loc>https://blog.gazette.example/b</loc></url>\
        <url><loc>https://other.example/c</loc></url></urlset>";
    let taken = |url: &str, scope| read(text, None, url, scope).map(|map| (map.entries.len(), map.foreign)).unwrap();
    assert_eq!(taken(URL, Scope::OwnHost), (1, 2));
    assert_eq!(taken("https://maps.cdn.example/1.xml", Scope::OwnHost), (0, 3));
    assert_eq!(taken("https://maps.cdn.example/1.xml", Scope::NamedBy("https://gazette.example/")), (2, 1));
    assert_eq!(taken(URL, Scope::Any), (3, 0));
}

#[test]
fn a_date_that_all_entries_share_is_no_date() {
    let list = |number: usize, same: bool| {
        let rows: String = (0..number)
            .map(|at| {
                format!(
                    "<url><loc>/{at}</loc><lastmod>2026-03-{:02}</lastmod></url>",
                    if same { 1 } else { 1 + at % 9 }
                )
            })
            .collect();
        map(&format!("<urlset>{rows}</urlset>"))
    };
    assert!(list(10, true).uniform_dates && list(10, true).entries.iter().all(|entry| entry.modified.is_none()));
    assert!(!list(9, true).uniform_dates && !list(30, false).uniform_dates);
    assert!(list(9, true).entries.iter().all(|entry| entry.modified.is_some()));
}

#[test]
fn text_files_feeds_and_gzip_files_are_sitemaps() {
    assert_eq!(urls(&map("https://gazette.example/a\r\n\r\nhttps://gazette.example/b\nnote\n")), ["/a", "/b"]);
    let rss = "<rss><channel><item><title>A</title><link>/a</link><pubDate>Sun, 01 Mar 2026 10:00:00 GMT</pubDate></item></channel></rss>";
    let feed = map(rss);
    assert_eq!((urls(&feed), feed.entries[0].title.as_str(), feed.is_news), (vec!["/a"], "A", true));
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(b"<urlset><url><loc>/a</loc></url></urlset>").unwrap();
    let packed = packer.finish().unwrap();
    assert_eq!(read(&packed, None, URL, Scope::OwnHost).unwrap().entries.len(), 1);
    assert_eq!(read(&[0x1f, 0x8b, 8, 0], None, URL, Scope::OwnHost), Err(NotASitemap::Damaged));
}

#[test]
fn other_documents_are_refused_with_the_reason() {
    let reason = |text: &str| read(text.as_bytes(), None, URL, Scope::OwnHost).expect_err("not a sitemap");
    assert_eq!(reason(" \n"), NotASitemap::Empty);
    assert_eq!(reason("<!DOCTYPE html><html><a href='/a'>a</a></html>"), NotASitemap::Html);
    assert_eq!(reason("<html><body><loc>/a</loc></body></html>"), NotASitemap::Html);
    assert_eq!(reason("<catalog><item/></catalog>"), NotASitemap::OtherXml { root: "catalog".into() });
    assert_eq!(reason("There is no sitemap here."), NotASitemap::PlainText);
}

#[test]
fn a_sitemap_beyond_the_limits_is_read_up_to_them() {
    let rows: String = (0..=MAX_URLS).map(|at| format!("<url><loc>/{at}</loc></url>")).collect();
    let full = map(&format!("<urlset>{rows}</urlset>"));
    assert_eq!(full.entries.len(), MAX_URLS);
    assert!(full.repairs.contains(&Repair::TooManyEntries));
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(b"<urlset><url><loc>/a</loc></url>").unwrap();
    for _ in 0..60 {
        packer.write_all(&vec![b' '; 1 << 20]).unwrap();
    }
    let bomb = read(&packer.finish().unwrap(), None, URL, Scope::OwnHost).unwrap();
    assert!(bomb.entries.len() == 1 && bomb.repairs.contains(&Repair::LimitReached));
}

proptest! {
    #[test]
    fn any_bytes_are_read_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = read(&bytes, None, URL, Scope::Any);
    }

    #[test]
    fn a_sitemap_that_is_cut_off_has_a_prefix_of_the_entries(
        paths in prop::collection::vec("[a-z]{1,8}(&[a-z]=[0-9])?", 1..12),
        share in 0.0f64..1.0,
    ) {
        let rows: String = paths.iter().map(|path| format!("<url><loc>https://gazette.example/{path}</loc></url>")).collect();
        let text = format!("<urlset>{rows}</urlset>");
        let whole: Vec<String> = map(&text).entries.into_iter().map(|entry| entry.url).collect();
        prop_assert_eq!(whole.len(), paths.len());
        let cut = &text[..(text.len() as f64 * share) as usize];
        if let Ok(part) = read(cut.as_bytes(), None, URL, Scope::OwnHost) {
            let part: Vec<String> = part.entries.into_iter().map(|entry| entry.url).collect();
            prop_assert_eq!(&whole[..part.len()], &part[..]);
        }
    }
}
