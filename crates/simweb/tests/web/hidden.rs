//! Tests of sites that hide their feeds: the true feed is served and decoys exist.

use tidings_simweb::{Hiding, SimWeb, Spec};

use crate::client::{get, split};

/// The body as text in any character set: URLs are ASCII.
fn text(url: &str) -> String {
    String::from_utf8_lossy(&get(url).body).into_owned()
}

/// The path of a URL as in links, without the first slash.
fn path(url: &str) -> String {
    split(url).1.trim_start_matches('/').to_string()
}

#[test]
fn every_site_serves_its_feed_only_at_the_true_url() {
    let spec = Spec { sites: 27, items_per_feed: 3, hiding: Hiding::ALL.to_vec(), ..Spec::default() };
    let web = SimWeb::start(spec).unwrap();
    assert_eq!(web.feeds().len(), 24);
    for site in web.sites() {
        let article = site.listed().next().unwrap().url;
        let page = text(&article);
        assert!(page.contains("/comments/feed/") && page.contains("wp-json"), "the decoys exist");
        match site.true_feed() {
            Some(feed) => {
                assert_eq!(get(&feed).status, 200, "{feed}");
                assert!(text(&feed).contains(&path(&article)), "{feed} lists the latest article");
                let shown = page.contains(&path(&feed));
                let expected = matches!(site.hiding(), Some(Hiding::Declared | Hiding::Anchor | Hiding::Word));
                assert!(!expected || shown, "{:?}", site.hiding());
            }
            None => assert_eq!(site.hiding(), Some(Hiding::Nowhere)),
        }
        if !matches!(site.hiding(), Some(Hiding::CommonPath | Hiding::Program)) {
            assert_eq!(get(&site.url("/rss.xml")).status, 404);
        }
        assert_eq!(get(&site.url("/comments/feed/")).status, 200);
    }
}
