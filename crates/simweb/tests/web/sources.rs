//! Tests of other text sources: the archive of real articles, and the pool of the benchmark mode.

use std::path::PathBuf;

use tidings_simweb::{FeedFormat, SimWeb, Spec, TextSource};

use crate::client::{get, try_get};

/// The sample archive, part of the development data.
fn archive() -> Option<PathBuf> {
    tidings_testing::data("sample-archive/articles.jsonl.zst")
}

#[test]
fn an_archive_is_published_at_its_own_dates() {
    let Some(path) = archive() else { return };
    let spec = Spec { sites: 60, items_per_feed: 10, source: TextSource::Archive(path), ..Spec::default() };
    let web = SimWeb::start(spec).unwrap();
    let articles: Vec<_> = web.articles().collect();
    assert!(articles.len() > 4000, "{}", articles.len());
    assert!(articles.iter().all(|article| article.date <= web.now()));
    let languages: std::collections::HashSet<&str> = articles.iter().map(|article| &*article.language).collect();
    assert!(languages.len() > 10);
    let mut titles: Vec<_> =
        articles.iter().map(|article| (&article.date, &article.title, &article.language)).collect();
    let before = titles.len();
    titles.sort();
    titles.dedup();
    assert!(titles.len() * 100 > before * 98, "every article is on one site");

    let site = web.site(0);
    assert!(
        site.listed().count() == 10 && get(&site.feed_as(FeedFormat::Atom)).text().matches("<entry>").count() == 10
    );
    for article in site.listed() {
        let answer = get(&article.url);
        assert_eq!(answer.status, 200);
        assert!(answer.body.len() > article.html.as_ref().unwrap().len());
        assert!(!article.lead().is_empty());
    }
    assert!(web.truth().trends.is_empty());
}

#[test]
fn a_missing_archive_is_reported() {
    let spec = Spec { source: TextSource::Archive("/nonexistent.jsonl.zst".into()), ..Spec::default() };
    let error = SimWeb::start(spec).unwrap_err();
    assert!(std::error::Error::source(&error).unwrap().to_string().contains("/nonexistent.jsonl.zst"));
}

#[test]
fn the_benchmark_mode_serves_large_pages_from_a_pool() {
    let spec = Spec { sites: 8, items_per_feed: 3, page_bytes: Some(60_000), page_pool: 16, ..Spec::default() };
    let web = SimWeb::start(spec).unwrap();
    let gzip = [("Accept-Encoding", "gzip")];
    let (mut plain_bytes, mut wire_bytes, mut count) = (0, 0, 0);
    for site in web.sites() {
        let feed = try_get(&site.feed(), &gzip).unwrap();
        assert_eq!(feed.unzipped(), get(&site.feed()).body);
        assert!(!feed.header("etag").is_empty() || !feed.header("last-modified").is_empty());
        for article in site.listed() {
            let zipped = try_get(&article.url, &gzip).unwrap();
            assert_eq!(zipped.unzipped(), get(&article.url).body);
            plain_bytes += zipped.unzipped().len();
            wire_bytes += zipped.body.len();
            count += 1;
        }
    }
    assert!((50_000..70_000).contains(&(plain_bytes / count)), "{}", plain_bytes / count);
    assert!((12_000..20_000).contains(&(wire_bytes / count)), "{}", wire_bytes / count);
    web.advance(std::time::Duration::from_secs(86_400));
    let newest = web.site(1).listed().next().unwrap();
    assert!(try_get(&web.site(1).feed_as(FeedFormat::Json), &gzip).unwrap().unzipped().len() > 100);
    assert_eq!(get(&newest.url).status, 200);
}
