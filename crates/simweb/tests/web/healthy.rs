//! Tests of a web without faults.

use std::time::Duration;

use tidings_simweb::{FeedFormat, Host, RequestKind, SimWeb, Spec};

use crate::client::{Connection, get, split, try_get};

fn web(sites: usize) -> SimWeb {
    SimWeb::start(Spec { sites, items_per_feed: 5, ..Spec::default() }).unwrap()
}

#[test]
fn every_site_serves_every_format() {
    let web = web(12);
    for site in web.sites() {
        for format in FeedFormat::ALL {
            let answer = get(&site.feed_as(format));
            assert_eq!(answer.status, 200);
            assert!(answer.header("content-type").starts_with(format.media_type()));
            let (text, _, broken) = encoding_rs::Encoding::for_label(site.charset().as_bytes())
                .unwrap_or(encoding_rs::UTF_8)
                .decode(&answer.body);
            assert!(format == FeedFormat::Json || !broken);
            let mark = match format {
                FeedFormat::Rss2 => "<item>",
                FeedFormat::Rss1 => "<item rdf:about",
                FeedFormat::Atom => "<entry>",
                FeedFormat::Json => "\"date_published\"",
            };
            assert_eq!(text.matches(mark).count(), 5, "{format:?} of site {}", site.number());
        }
    }
}

#[test]
fn json_feeds_are_json() {
    let web = web(4);
    let feed: serde_json::Value = serde_json::from_slice(&get(&web.site(2).feed()).body).unwrap();
    assert_eq!(feed["version"], "https://jsonfeed.org/version/1.1");
    assert_eq!(feed["items"].as_array().unwrap().len(), 5);
}

#[test]
fn every_article_is_on_its_page() {
    let web = web(44);
    for article in web.articles() {
        let answer = get(&article.url);
        assert_eq!(answer.status, 200, "{}", article.url);
        let charset = web.site(article.site).charset();
        let (text, _, _) = encoding_rs::Encoding::for_label(charset.as_bytes()).unwrap().decode(&answer.body);
        for paragraph in article.paragraphs() {
            assert!(text.contains(&*paragraph.replace('"', "&quot;")), "{}: {paragraph}", article.url);
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let spec = || Spec { sites: 12, items_per_feed: 3, seed: 77, ..Spec::default() };
    let (one, two) = (SimWeb::start(spec()).unwrap(), SimWeb::start(spec()).unwrap());
    let other = SimWeb::start(Spec { seed: 78, ..spec() }).unwrap();
    let read = |web: &SimWeb| -> Vec<u8> {
        let port = format!(":{}", web.port());
        let mut all = Vec::new();
        for site in web.sites() {
            all.extend(get(&site.feed()).body);
            all.extend(site.listed().flat_map(|article| get(&article.url).body));
        }
        String::from_utf8_lossy(&all).replace(&port, "").into_bytes()
    };
    assert_eq!(read(&one), read(&two));
    assert_ne!(read(&one), read(&other));
}

#[test]
fn an_unchanged_feed_is_not_sent_again() {
    let web = web(16);
    for site in web.sites() {
        let first = get(&site.feed());
        let (tag, date) = (first.header("etag"), first.header("last-modified"));
        assert!(!tag.is_empty() || !date.is_empty());
        let mut headers = Vec::new();
        if !tag.is_empty() {
            headers.push(("If-None-Match", tag));
        }
        if !date.is_empty() {
            headers.push(("If-Modified-Since", date));
        }
        assert_eq!(try_get(&site.feed(), &headers).unwrap().status, 304);
        web.advance(Duration::from_secs(4 * 3600));
        assert_eq!(try_get(&site.feed(), &headers).unwrap().status, 200);
    }
    let manners = web.politeness();
    assert_eq!((manners.conditional, manners.not_modified), (32, 16));
}

#[test]
fn advancing_the_clock_adds_articles_to_the_feed() {
    let web = web(1);
    let before: Vec<String> = web.site(0).listed().map(|article| article.url).collect();
    web.advance(Duration::from_secs(3 * 86_400));
    let newest = web.site(0).listed().next().unwrap();
    assert!(!before.contains(&newest.url) && newest.date <= web.now());
    assert_eq!(get(&newest.url).status, 200);
    assert!(
        get(&web.site(0).feed_as(FeedFormat::Atom)).text().contains(&split(&newest.url).1[1..].replace('&', "&amp;"))
    );
    let truth = web.truth();
    assert_eq!(truth.trends.len(), 6);
}

#[test]
fn robots_site_map_and_front_page_are_there() {
    let web = web(2);
    let site = web.site(1);
    assert!(get(&site.url("/robots.txt")).text().contains("Sitemap: http://127.1.0.2:"));
    let map = get(&site.url("/sitemap.xml")).text();
    assert!(site.articles().all(|article| map.contains(&article.url)));
    assert!(get(&site.url("/")).text().contains("application/atom+xml"));
    assert_eq!(get(&site.url("/.well-known/tdmrep.json")).status, 404);
    assert_eq!(get(&site.url("/nothing")).status, 404);
}

#[test]
fn gzip_is_sent_to_clients_that_accept_it() {
    let web = web(1);
    let url = web.site(0).feed();
    let plain = get(&url);
    let zipped = try_get(&url, &[("Accept-Encoding", "br, gzip")]).unwrap();
    assert_eq!((plain.header("content-encoding"), zipped.header("content-encoding")), ("", "gzip"));
    assert_eq!(zipped.unzipped(), plain.body);
}

#[test]
fn a_connection_serves_many_logged_requests() {
    let web = web(2);
    let site = web.site(1);
    let mut connection = Connection::open(&site.url("/")).unwrap();
    assert_eq!(connection.get("/robots.txt", &[("Accept-Encoding", "gzip")]).unwrap().status, 200);
    assert_eq!(connection.get(FeedFormat::Atom.path(), &[("If-None-Match", "\"old\"")]).unwrap().status, 200);
    let page = site.listed().next().unwrap().url;
    assert_eq!(connection.get(&split(&page).1, &[]).unwrap().status, 200);

    let requests = web.requests();
    let kinds: Vec<RequestKind> = requests.iter().map(|request| request.kind).collect();
    assert_eq!(kinds, [RequestKind::Robots, RequestKind::Feed, RequestKind::Page]);
    assert!(requests.iter().all(|request| request.host == Host::Site(1) && request.connection == 1));
    assert!(requests.iter().all(|request| request.status == 200 && request.in_flight == 1 && request.bytes > 0));
    assert!(requests.windows(2).all(|pair| pair[0].end_us.unwrap() <= pair[1].start_us));
    assert_eq!((&*requests[0].user_agent, &*requests[0].accept_encoding), ("tester", "gzip"));
    assert_eq!(requests.iter().map(|request| request.conditional).collect::<Vec<_>>(), [false, true, false]);

    let manners = web.politeness();
    assert_eq!((manners.requests, manners.connections, manners.max_in_flight), (3, 1, 1));
    assert!(manners.smallest_gap_us.is_some() && manners.to_json().contains("\"pages\":1"));
    web.clear_log();
    assert!(web.requests().is_empty());
    assert_eq!(web.politeness().requests, 0);
}

#[test]
fn heads_pipelining_and_invalid_requests_are_handled() {
    let web = web(1);
    let url = web.site(0).feed();
    let mut connection = Connection::open(&url).unwrap();
    let path = split(&url).1;
    connection.send("HEAD", &path, &[]).unwrap();
    connection.send("GET", "/robots.txt", &[]).unwrap();
    let head = connection.receive("HEAD", 0).unwrap();
    assert!(head.body.is_empty() && head.header("content-length").parse::<usize>().unwrap() > 100);
    assert!(connection.receive("GET", 10_000).unwrap().text().contains("User-agent"));
    connection.send("POST", "/", &[]).unwrap();
    assert_eq!(connection.receive("POST", 10_000).unwrap().status, 405);
    connection.send("GET", "nowhere", &[]).unwrap();
    assert_eq!(connection.receive("GET", 100).unwrap().status, 400);
}

#[test]
fn twins_are_two_feeds_of_one_site() {
    let web = SimWeb::start(Spec { sites: 3, twins: true, ..Spec::default() }).unwrap();
    let feeds = web.feeds();
    assert_eq!(feeds.len(), 6);
    assert!(feeds[0].ends_with("/rss.xml") && feeds[1].ends_with("/atom.xml"));
}

#[test]
fn the_web_ends_with_its_handle() {
    let web = web(1);
    let url = web.site(0).feed();
    let mut open = Connection::open(&url).unwrap();
    assert_eq!(open.get("/robots.txt", &[]).unwrap().status, 200);
    drop(web);
    assert!(open.get("/robots.txt", &[]).is_err());
    assert!(try_get(&url, &[]).is_err());
}

#[test]
fn every_xml_document_is_well_formed() {
    use quick_xml::events::Event;
    let web = web(66);
    for site in web.sites() {
        let paths = ["/rss.xml", "/index.rdf", "/atom.xml", "/sitemap.xml"];
        for path in paths {
            let answer = get(&site.url(path));
            let charset = encoding_rs::Encoding::for_label(site.charset().as_bytes()).unwrap();
            let text = if path == "/sitemap.xml" { answer.text() } else { charset.decode(&answer.body).0.into_owned() };
            let mut reader = quick_xml::Reader::from_str(&text);
            let mut depth = 0;
            loop {
                match reader.read_event().unwrap_or_else(|error| panic!("{path} of {}: {error}", site.number())) {
                    Event::Start(_) => depth += 1,
                    Event::End(_) => depth -= 1,
                    Event::Eof => break,
                    _ => {}
                }
            }
            assert_eq!(depth, 0);
        }
    }
}
