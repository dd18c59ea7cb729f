//! Tests of every fault from the perspective of a client.
//!
//! No test waits for long: for faults that send no response, a short silence is enough, and a slow machine can only
//! make it longer.

use std::io::Read;
use std::time::Duration;

use tidings_simweb::{
    Fault, FeedFormat, Host, INTERNAL_HOST, RequestKind, SHARED_HOST, SimWeb, SiteFault, SitePart, Spec,
};

use crate::client::{Answer, Connection, get, split, try_get};

const SHORT: Duration = Duration::from_millis(150);

/// A web of two sites, the second of which has the fault.
fn ill(fault: impl Into<SiteFault>) -> SimWeb {
    let spec = Spec {
        sites: 2,
        items_per_feed: 8,
        drip_every: Duration::from_millis(20),
        bomb_bytes: 64 << 20,
        idle_close_after: Duration::from_millis(50),
        ..Spec::default()
    };
    let web = SimWeb::start(spec.with_fault(fault, 1)).unwrap();
    assert_eq!(get(&web.site(0).listed().next().unwrap().url).status, 200);
    web.clear_log();
    web
}

fn page(web: &SimWeb) -> String {
    web.site(1).listed().next().unwrap().url
}

fn location(web: &SimWeb, answer: &Answer) -> String {
    let location = answer.header("location");
    if location.starts_with('/') { web.site(1).url(location) } else { location.to_string() }
}

#[test]
fn a_hanging_site_sends_nothing_but_logs_at_once() {
    let web = ill(Fault::Hang);
    let mut connection = Connection::open(&page(&web)).unwrap();
    connection.set_patience(SHORT);
    assert!(connection.get(&split(&page(&web)).1, &[]).is_err());
    let request = &web.requests()[0];
    assert_eq!((request.kind, request.status, request.end_us), (RequestKind::Page, 0, None));
    assert_eq!(get(&web.site(1).feed()).status, 200, "only the pages hang");
}

#[test]
fn a_feed_can_hang_while_pages_respond() {
    let web = ill(Fault::Hang.on(SitePart::Feed));
    let mut connection = Connection::open(&web.site(1).feed()).unwrap();
    connection.set_patience(SHORT);
    assert!(connection.get(&split(&web.site(1).feed()).1, &[]).is_err());
    assert_eq!(get(&page(&web)).status, 200);
}

#[test]
fn a_dripping_site_sends_byte_by_byte() {
    let web = ill(Fault::Drip);
    let mut connection = Connection::open(&page(&web)).unwrap();
    connection.send("GET", &split(&page(&web)).1, &[]).unwrap();
    let answer = connection.receive("GET", 3).unwrap();
    assert!(!answer.complete && answer.body.len() == 3);
}

#[test]
fn an_endless_body_does_not_end() {
    for (fault, media_type) in [(Fault::Endless, "text/html; charset=utf-8"), (Fault::Video, "video/mp4")] {
        let web = ill(fault);
        let mut connection = Connection::open(&page(&web)).unwrap();
        connection.send("GET", &split(&page(&web)).1, &[]).unwrap();
        let answer = connection.receive("GET", 100_000).unwrap();
        assert_eq!((answer.body.len(), answer.header("content-type")), (100_000, media_type));
        assert_eq!(answer.header("content-length"), "");
    }
}

#[test]
fn statuses_follow_from_the_faults() {
    for (fault, status) in [(Fault::Error, 500), (Fault::NotFound, 404), (Fault::Gone, 410)] {
        let web = ill(fault);
        assert_eq!(get(&page(&web)).status, status);
        let web = ill(fault.on(SitePart::Feed));
        assert_eq!(get(&web.site(1).feed()).status, status);
        let web = ill(fault.on(SitePart::Robots));
        assert_eq!(get(&web.site(1).url("/robots.txt")).status, status);
        assert_eq!(web.politeness().disallowed, 0);
    }
}

#[test]
fn a_request_before_retry_after_is_counted() {
    for (fault, status) in [(Fault::TooMany, 429), (Fault::Unavailable, 503)] {
        let web = ill(fault);
        let answer = get(&page(&web));
        assert_eq!((answer.status, answer.header("retry-after")), (status, "10"));
        assert_eq!(web.politeness().early_for_retry_after, 0);
        get(&page(&web));
        assert_eq!(web.politeness().early_for_retry_after, 1);
    }
}

#[test]
fn a_chain_of_redirects_has_an_end_and_a_loop_has_none() {
    for (fault, hops) in [(Fault::RedirectChain, Some(5)), (Fault::RedirectLoop, None), (Fault::Moved, Some(1))] {
        let web = ill(fault);
        let mut url = page(&web);
        let mut followed = 0;
        let answer = loop {
            let answer = get(&url);
            if answer.status == 200 || followed == 20 {
                break answer;
            }
            url = location(&web, &answer);
            followed += 1;
        };
        assert_eq!((answer.status == 200).then_some(followed), hops, "{fault}");
    }
}

#[test]
fn a_moved_feed_is_found_at_its_new_address() {
    let web = ill(Fault::Moved.on(SitePart::Feed));
    let moved = get(&web.site(1).feed());
    assert_eq!(moved.status, 301);
    assert_eq!(get(&location(&web, &moved)).status, 200);
}

#[test]
fn redirects_into_private_networks_are_counted_when_followed() {
    let web = ill(Fault::RedirectPrivate);
    let targets: Vec<String> =
        web.site(1).listed().map(|article| get(&article.url).header("location").to_string()).collect();
    assert!(targets.iter().any(|target| target.starts_with("http://169.254.169.254/")));
    assert!(targets.iter().any(|target| target.starts_with("http://10.0.0.1/")));
    assert_eq!(web.politeness().internal, 0);
    let internal = format!("http://{INTERNAL_HOST}:");
    let followed = targets.iter().find(|target| target.starts_with(&internal)).unwrap();
    assert_eq!(get(followed).status, 200);
    assert_eq!(web.politeness().internal, 1);
    assert_eq!(web.requests().last().unwrap().host, Host::Internal);
}

#[test]
fn a_redirect_can_point_to_a_file() {
    let web = ill(Fault::RedirectFile);
    assert!(get(&page(&web)).header("location").starts_with("file:///"));
}

#[test]
fn many_sites_can_redirect_to_one_host() {
    let spec = Spec { sites: 3, items_per_feed: 2, ..Spec::default() };
    let web = SimWeb::start(spec.with_fault(Fault::RedirectShared, 3)).unwrap();
    for article in web.articles() {
        let target = get(&article.url).header("location").to_string();
        assert!(target.starts_with(&format!("http://{SHARED_HOST}:{}/", web.port())));
        let answer = get(&target);
        assert_eq!(answer.status, 200);
        assert!(answer.body.len() > 1000);
    }
    let manners = web.politeness();
    assert_eq!((manners.host(Host::Shared).unwrap().requests, manners.shared_max_in_flight), (6, 1));
}

#[test]
fn a_truncated_body_is_shorter_than_announced() {
    let web = ill(Fault::Truncated);
    let answer = get(&page(&web));
    assert!(!answer.complete && !answer.body.is_empty());
}

#[test]
fn broken_gzip_cannot_be_read_to_its_end() {
    let web = ill(Fault::BrokenGzip);
    let answer = try_get(&page(&web), &[("Accept-Encoding", "gzip")]).unwrap();
    assert_eq!(answer.header("content-encoding"), "gzip");
    let mut out = Vec::new();
    assert!(flate2::read::GzDecoder::new(&answer.body[..]).read_to_end(&mut out).is_err());
}

#[test]
fn a_gzip_bomb_expands_to_its_size() {
    for fault in [Fault::GzipBomb.into(), Fault::GzipBomb.on(SitePart::Feed)] {
        let web = ill(fault);
        let url = if fault.part == SitePart::Feed { web.site(1).feed() } else { page(&web) };
        let answer = get(&url);
        assert!(answer.complete && answer.body.len() < 200_000);
        let mut decoder = flate2::read::GzDecoder::new(&answer.body[..]);
        assert!(std::io::copy(&mut decoder, &mut std::io::sink()).unwrap() >= 64 << 20);
    }
}

#[test]
fn a_wrong_character_set_does_not_decode() {
    let spec = Spec { sites: 1, languages: vec!["ru".to_string()], ..Spec::default() };
    let web = SimWeb::start(spec.with_fault(Fault::WrongCharset, 1)).unwrap();
    let article = web.site(0).listed().next().unwrap();
    let answer = get(&article.url);
    assert!(answer.header("content-type").ends_with("charset=utf-8"));
    assert!(String::from_utf8(answer.body.clone()).is_err());
    let (text, _, _) = encoding_rs::WINDOWS_1251.decode(&answer.body);
    assert!(text.contains(article.lead()));
}

#[test]
fn an_empty_page_is_empty() {
    let web = ill(Fault::Empty);
    let answer = get(&page(&web));
    assert_eq!((answer.status, answer.body.len()), (200, 0));
}

#[test]
fn huge_headers_are_huge() {
    let web = ill(Fault::HugeHeaders);
    let answer = get(&page(&web));
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("x-padding-399").len(), 1000);
}

#[test]
fn pages_that_are_no_articles_have_text_and_no_title() {
    for (fault, status) in [(Fault::Forbidden, 403), (Fault::ConsentWall, 200), (Fault::SoftNotFound, 200)] {
        let web = ill(fault);
        let articles: Vec<_> = web.site(1).listed().take(2).collect();
        let answers = [get(&articles[0].url), get(&articles[1].url)];
        assert!(answers.iter().all(|answer| answer.status == status), "{fault}");
        let letters = |answer: &str| answer.chars().filter(|c| c.is_alphabetic()).collect::<String>();
        assert_eq!(letters(&answers[0].text()), letters(&answers[1].text()), "{fault}");
    }
    let web = ill(Fault::RedirectHome);
    let moved = get(&page(&web));
    assert_eq!((moved.status, moved.header("location")), (302, "/"));
    assert!(get(&web.site(1).url("/")).text().matches("<p>").count() > 3);
    let web = ill(Fault::Stub);
    let article = web.site(1).listed().next().unwrap();
    web.heal(1);
    let whole = get(&article.url).body.len();
    web.set_fault(1, Fault::Stub);
    assert!(get(&article.url).body.len() < whole);
}

#[test]
fn a_cut_connection_gives_no_response() {
    let web = ill(Fault::Cut);
    assert!(try_get(&page(&web), &[]).is_err());
    assert_eq!(web.requests().len(), 1);
}

#[test]
fn a_huge_feed_has_fifty_thousand_items() {
    let web = ill(Fault::HugeFeed);
    let answer = get(&web.site(1).feed());
    assert_eq!(answer.text().matches("<item>").count(), 50_000);
}

#[test]
fn a_feed_can_be_something_else() {
    let web = ill(Fault::NotXml);
    let answer = get(&web.site(1).feed());
    assert!(answer.status == 200 && answer.text().starts_with("<!DOCTYPE html>"));
    assert_eq!(get(&page(&web)).status, 200);
}

#[test]
fn disallowed_requests_are_counted() {
    let web = ill(Fault::RobotsDisallow);
    assert!(get(&web.site(1).url("/robots.txt")).text().contains("Disallow: /\n"));
    assert_eq!(web.politeness().disallowed, 0);
    get(&page(&web));
    assert_eq!(web.politeness().disallowed, 1);
    assert!(web.requests()[1].disallowed);
}

#[test]
fn one_path_can_be_disallowed_and_rules_can_change() {
    let web = ill(Fault::RobotsPath);
    let members: Vec<bool> = web.site(1).listed().map(|article| article.url.contains("/members/")).collect();
    assert!(members.contains(&true) && members.contains(&false));
    for article in web.site(1).listed() {
        get(&article.url);
    }
    assert_eq!(web.politeness().disallowed, members.iter().filter(|is| **is).count() as u64);
    web.clear_log();
    web.set_robots(1, Some("User-agent: *\nDisallow: /rss.xml\n"));
    assert!(get(&web.site(1).url("/robots.txt")).text().contains("/rss.xml"));
    get(&web.site(1).feed_as(FeedFormat::Rss2));
    get(&web.site(1).feed_as(FeedFormat::Atom));
    assert_eq!(web.politeness().disallowed, 1);
}

#[test]
fn violations_of_the_crawl_delay_are_counted() {
    let web = ill(Fault::RobotsDelay);
    assert!(get(&web.site(1).url("/robots.txt")).text().contains("Crawl-delay: 10"));
    get(&page(&web));
    assert_eq!(web.politeness().early_for_crawl_delay, 0);
    get(&page(&web));
    assert_eq!(web.politeness().early_for_crawl_delay, 1);
}

#[test]
fn reservations_and_robot_tags_are_declared() {
    let web = ill(Fault::TdmReserved);
    assert!(get(&web.site(1).url("/.well-known/tdmrep.json")).text().contains("\"tdm-reservation\": 1"));
    assert_eq!(get(&page(&web)).header("tdm-reservation"), "1");
    let web = ill(Fault::XRobots);
    assert_eq!(get(&page(&web)).header("x-robots-tag"), "noindex, noarchive");
}

#[test]
fn brotli_and_zstandard_are_sent_to_clients_that_accept_them() {
    for (fault, coding) in [(Fault::Brotli, "br"), (Fault::Zstd, "zstd")] {
        let web = ill(fault);
        let plain = get(&page(&web));
        let coded = try_get(&page(&web), &[("Accept-Encoding", coding)]).unwrap();
        assert_eq!((plain.header("content-encoding"), coded.header("content-encoding")), ("", coding));
        let mut body = Vec::new();
        match fault {
            Fault::Brotli => {
                brotli_decompressor::Decompressor::new(&coded.body[..], 4096).read_to_end(&mut body).map(drop)
            }
            _ => zstd::stream::copy_decode(&coded.body[..], &mut body),
        }
        .unwrap();
        assert_eq!(body, plain.body);
    }
}

#[test]
fn chunks_carry_the_same_body() {
    let web = ill(Fault::Chunked);
    let chunked = get(&page(&web));
    assert_eq!(chunked.header("transfer-encoding"), "chunked");
    web.heal(1);
    assert_eq!(get(&page(&web)).body, chunked.body);
}

#[test]
fn connections_can_be_closed_after_each_response_or_when_idle() {
    let web = ill(Fault::Close);
    let mut connection = Connection::open(&page(&web)).unwrap();
    assert_eq!(connection.get("/robots.txt", &[]).unwrap().header("connection"), "close");
    assert!(connection.get("/robots.txt", &[]).is_err());

    let web = ill(Fault::IdleClose);
    let mut connection = Connection::open(&page(&web)).unwrap();
    assert_eq!(connection.get("/robots.txt", &[]).unwrap().header("connection"), "");
    // Reading detects the end without a timeout.
    assert!(connection.receive("GET", 1).is_err());
}

#[test]
fn no_site_responds_in_an_outage_and_all_do_afterwards() {
    let web = ill(Fault::Hang);
    let url = web.site(0).feed();
    let mut open = Connection::open(&url).unwrap();
    assert_eq!(open.get("/robots.txt", &[]).unwrap().status, 200);
    web.set_down(true);
    assert!(open.get("/robots.txt", &[]).is_err());
    assert!(try_get(&url, &[]).is_err());
    web.set_down(false);
    assert_eq!(get(&url).status, 200);
}

#[test]
fn a_site_can_have_several_faults() {
    let web = ill(Fault::Chunked);
    web.set_fault(1, Fault::Chunked);
    web.add_fault(1, Fault::XRobots);
    let answer = get(&page(&web));
    assert_eq!((answer.header("transfer-encoding"), answer.header("x-robots-tag")), ("chunked", "noindex, noarchive"));
    assert_eq!(web.sites_with(Fault::XRobots).map(|site| site.number()).collect::<Vec<_>>(), [1]);
}

#[test]
fn a_share_of_all_sites_can_be_faulty_in_every_way() {
    let web = SimWeb::start(Spec { sites: 600, ..Spec::default() }.with_faults_percent(20)).unwrap();
    assert_eq!(web.healthy_sites().count(), 480);
    assert!(Fault::all().all(|fault| web.sites_with(fault).count() >= 2));
    assert!(SiteFault::mix().all(|fault| web.sites().any(|site| site.faults() == [fault])));
}

#[test]
fn invalid_specifications_are_rejected() {
    assert!(SimWeb::start(Spec { sites: 0, ..Spec::default() }).is_err());
    assert!(SimWeb::start(Spec { sites: 1, ..Spec::default() }.with_fault(Fault::Hang, 2)).is_err());
    assert!(SimWeb::start(Spec { languages: vec!["xx".to_string()], ..Spec::default() }).is_err());
}
