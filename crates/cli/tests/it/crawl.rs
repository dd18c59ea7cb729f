//! Crawls that follow links: what is fetched, how often, how politely, and what survives kills.

use std::collections::BTreeSet;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustix::process::Signal;
use tidings_simweb::{RequestKind, Spec};

use crate::support::{Corpus, place};

const DELAY: Duration = Duration::from_millis(50);

fn spec(sites: usize, items_per_feed: usize) -> Spec {
    Spec { sites, items_per_feed, languages: vec!["de".into()], ..Spec::default() }
}

/// The front pages of all sites.
fn seeds(corpus: &Corpus) -> String {
    let fronts: Vec<String> =
        corpus.web.sites().map(|site| format!("http://{}:{}/", site.address(), corpus.web.port())).collect();
    fronts.join(" ")
}

/// A crawl of all sites from their front pages, in which the order of requests decides nothing.
fn command(corpus: &Corpus) -> String {
    format!("crawl {} --scope host --rule breadth-first --delay 0.05 --seed 1", seeds(corpus))
}

/// Addresses and paths of the stored pages.
fn stored(corpus: &Corpus) -> BTreeSet<(std::net::Ipv4Addr, String)> {
    corpus.pages().keys().map(|url| place(url)).collect()
}

#[test]
fn a_crawl_follows_links_stores_documents_and_ends_when_nothing_is_left() {
    let corpus = Corpus::new(spec(3, 5));
    let outcome = corpus.run(&format!("{} --json", command(&corpus))).ok().json();
    assert_eq!((&outcome["end"], &outcome["waiting"]), (&"dry".into(), &0.into()), "{outcome}");
    let pages = corpus.pages();
    let articles = corpus.healthy_articles();
    let missing: Vec<&String> = articles.iter().filter(|url| !pages.contains_key(*url)).collect();
    assert!(missing.is_empty(), "{missing:?} of {articles:?}");
    assert_eq!(outcome["kept"].as_u64(), Some(pages.len() as u64));
    assert!(pages.values().all(|page| page.feed == "crawl:web"));
    assert!(outcome["refused"].as_u64() > Some(2), "front pages are no documents: {outcome}");
    let refused: String =
        corpus.files("crawl/web/refused", ".tsv.zst").iter().map(|path| crate::support::unpacked(path)).collect();
    assert_eq!(Some(refused.lines().count() as u64), outcome["refused"].as_u64(), "{refused}");
    corpus.asked_nothing_twice();
    corpus.was_polite(DELAY);
    corpus.run("audit").ok();
    // Nothing is left, also for a second run.
    let before = corpus.web.requests().len();
    corpus.run("crawl --delay 0.05").ok().says("nothing left that is worth a request");
    assert_eq!(corpus.web.requests().len(), before);
    corpus.run("clean").ok();
    corpus.run("status").says("crawl      web: ");
    let (address, _) = place(articles.first().unwrap());
    corpus.run(&format!("why {address}")).says("crawl web: ");
}

#[test]
fn a_budget_ends_a_crawl_and_the_next_run_goes_on() {
    let corpus = Corpus::new(spec(2, 6));
    corpus.run(&format!("{} --pages 4", command(&corpus))).ok().says("budget of pages spent");
    let is_policy = |kind| matches!(kind, RequestKind::Robots | RequestKind::Tdmrep);
    assert_eq!(corpus.web.requests().iter().filter(|request| !is_policy(request.kind)).count(), 4);
    corpus.run("crawl --rule breadth-first --delay 0.05").ok().says("nothing left");
    assert!(corpus.healthy_articles().iter().all(|url| corpus.pages().contains_key(url)));
    corpus.asked_nothing_twice();
    corpus.was_polite(DELAY);
}

#[test]
fn a_dry_run_shows_urls_and_sends_nothing() {
    let corpus = Corpus::new(spec(2, 2));
    corpus.run(&format!("{} --dry-run", command(&corpus))).ok().says("would request first");
    assert!(corpus.web.requests().is_empty());
}

#[test]
fn an_interrupted_crawl_ends_with_a_checkpoint_and_goes_on() {
    let corpus = Corpus::new(spec(3, 8));
    let mut running = corpus.start(&command(&corpus));
    running.until(|| corpus.web.requests().len() > 12);
    running.signal(Signal::INT);
    let ran = running.wait();
    assert_eq!(ran.code, Some(1), "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("stopped by"), "{}", ran.stdout);
    corpus.run("crawl --rule breadth-first --delay 0.05").ok().says("nothing left");
    assert!(corpus.healthy_articles().iter().all(|url| corpus.pages().contains_key(url)));
    corpus.was_polite_across_crashes(DELAY);
}

#[test]
fn a_crawl_that_is_killed_again_and_again_loses_and_repeats_nothing_but_what_was_in_flight() {
    let undisturbed = Corpus::new(spec(4, 10));
    undisturbed.run(&command(&undisturbed)).ok();
    let expected = stored(&undisturbed);
    let corpus = Corpus::new(spec(4, 10));
    let mut kills = 0;
    for round in 1.. {
        assert!(round < 40, "the crawl does not end");
        let mut running = corpus.start(&command(&corpus));
        let target = corpus.web.requests().len() + 17;
        running.until(|| corpus.web.requests().len() >= target);
        if running.has_ended() {
            running.wait().ok();
            break;
        }
        running.signal(Signal::KILL);
        running.wait();
        kills += 1;
    }
    assert!(kills > 1, "the crawl was killed {kills} times");
    let mut twice: Vec<_> = corpus.page_requests().into_values().filter(|count| *count > 1).collect();
    twice.sort_unstable();
    // Four sites have at most four requests in flight; a batch of answers is durable after a second.
    assert!(twice.iter().map(|count| count - 1).sum::<u32>() <= kills * 16, "{kills} kills: {twice:?}");
    let urls: BTreeSet<_> = all_stored(&corpus);
    assert_eq!(urls, expected);
    corpus.was_polite_across_crashes(DELAY);
}

/// Stored pages; a page that was in flight at a kill may be stored twice.
fn all_stored(corpus: &Corpus) -> BTreeSet<(std::net::Ipv4Addr, String)> {
    let mut urls = BTreeSet::new();
    for path in corpus.files("pages", ".jsonl.zst") {
        for line in crate::support::unpacked(&path).lines() {
            let page: tidings_model::Page = serde_json::from_str(line).unwrap();
            urls.insert(place(&page.url));
        }
    }
    urls
}

#[test]
fn a_power_failure_at_any_operation_of_a_crawl_loses_no_page_and_ends_with_the_same_pages() {
    let undisturbed = Corpus::new(spec(2, 2));
    undisturbed.run(&command(&undisturbed)).ok();
    let expected = stored(&undisturbed);
    let mut cuts = 0;
    // A sample: there are many operations, because each shard has files of its own.
    for at in (1..400).step_by(11) {
        let corpus = Corpus::new(spec(2, 2));
        let mut cut = corpus.command(&command(&corpus));
        cut.env("TIDINGS_CRASH_AT", at.to_string());
        let ran = corpus.launch(cut).wait();
        if ran.code == Some(0) {
            break;
        }
        assert_eq!(ran.code, None, "operation {at}: {}", ran.stderr);
        cuts += 1;
        let again = corpus.run(&command(&corpus)).ok();
        assert!(again.stdout.contains("nothing left"), "operation {at}: {}", again.stdout);
        assert_eq!(all_stored(&corpus), expected, "operation {at}");
        corpus.was_polite_across_crashes(DELAY);
    }
    assert!(cuts > 3, "a crawl has many operations");
}

/// A site of a few pages that counts requests by path.
struct SmallSite {
    port: u16,
    asked: Arc<Mutex<Vec<String>>>,
}

impl SmallSite {
    /// Serves the pages, each a path with headers and a body; everything else is 404. The thread ends with the process.
    fn start(pages: &'static [(&'static str, &'static str, &'static str)]) -> SmallSite {
        let listener = TcpListener::bind("127.1.0.9:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let log = asked.clone();
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") {
                    let mut byte = [0];
                    if !matches!(stream.read(&mut byte), Ok(1)) {
                        break;
                    }
                    head.push(byte[0]);
                }
                let head = String::from_utf8_lossy(&head).into_owned();
                let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
                let found = pages.iter().find(|page| page.0 == path);
                let (status, headers, body) = found.map_or((404, "", ""), |(_, headers, body)| (200, *headers, *body));
                log.lock().unwrap().push(path);
                let length = body.len();
                let kind = if headers.contains("Content-Type") { "" } else { "Content-Type: text/html\r\n" };
                let reply = format!(
                    "HTTP/1.1 {status} x\r\n{kind}Connection: close\r\nContent-Length: {length}\r\n{headers}\r\n{body}"
                );
                let _ = stream.write_all(reply.as_bytes());
            }
        });
        SmallSite { port, asked }
    }
}

#[test]
fn nofollow_in_every_form_and_robots_txt_are_obeyed() {
    let site = SmallSite::start(&[
        ("/robots.txt", "", "User-agent: *\nDisallow: /secret\n"),
        (
            "/",
            "",
            "<p><a href=/a>a</a> <a rel='nofollow noopener' href=/by-rel>b</a> <a rel=ugc href=/by-ugc>u</a> \
             <a href=/secret/x>c</a> <a href=/meta>d</a> <a href=/header>e</a>",
        ),
        ("/a", "", "<a href=/a/deeper>x</a>"),
        ("/meta", "", "<meta name=robots content='noindex, nofollow'><a href=/by-meta>x</a>"),
        ("/header", "X-Robots-Tag: nofollow\r\n", "<a href=/by-header>x</a>"),
    ]);
    let corpus = Corpus::new(spec(1, 1));
    corpus.run(&format!("crawl http://127.1.0.9:{}/ --rule breadth-first --delay 0.01", site.port)).ok();
    let mut asked = site.asked.lock().unwrap().clone();
    asked.retain(|path| !path.starts_with("/.well-known") && path != "/robots.txt");
    asked.sort();
    assert_eq!(asked, ["/", "/a", "/a/deeper", "/header", "/meta"]);
}

#[test]
fn sitemaps_of_robots_txt_are_read_and_news_sitemaps_become_candidates() {
    const XML: &str = "Content-Type: application/xml\r\n";
    let site = SmallSite::start(&[
        ("/robots.txt", "", "User-agent: *\nDisallow: /secret\nSitemap: /index.xml\n"),
        ("/", "", "<p>A front page without links."),
        ("/index.xml", XML, "<sitemapindex><sitemap><loc>/news.xml</loc></sitemap></sitemapindex>"),
        (
            "/news.xml",
            XML,
            "<urlset xmlns:news='http://www.google.com/schemas/sitemap-news/0.9'>\
             <url><loc>/only-in-the-map</loc><news:news><news:publication_date>2026-03-01</news:publication_date>\
             <news:title>A title</news:title></news:news></url>\
             <url><loc>/secret/x</loc></url><url><loc>http://127.1.0.8/other-site</loc></url></urlset>",
        ),
        ("/only-in-the-map", "", "<p>A page."),
    ]);
    let corpus = Corpus::new(spec(1, 1));
    corpus.run(&format!("crawl http://127.1.0.9:{}/ --rule breadth-first --delay 0.01", site.port)).ok();
    let asked = site.asked.lock().unwrap().clone();
    assert_eq!(asked, ["/robots.txt", "/.well-known/tdmrep.json", "/", "/index.xml", "/news.xml", "/only-in-the-map"]);
    let found = corpus.state("candidates.tsv").into_iter().find(|row| row["feed"].ends_with("/news.xml"));
    assert_eq!(found.map(|row| row["labels"].clone()).as_deref(), Some("kind=sitemap"));
}

#[test]
fn the_reservation_of_a_site_is_known_before_its_first_page_is_kept() {
    let site = SmallSite::start(&[
        (
            "/.well-known/tdmrep.json",
            "Content-Type: application/json\r\n",
            "[{\"location\": \"/\", \"tdm-reservation\": 1}]",
        ),
        ("/", "", "<p>A page that is kept."),
    ]);
    let corpus = Corpus::new(spec(1, 1));
    let settings = corpus.home().join("tidings.toml");
    let text = std::fs::read_to_string(&settings).unwrap() + "\n[crawl]\nkeep = \"all\"\n";
    std::fs::write(&settings, text).unwrap();
    corpus.run(&format!("crawl http://127.1.0.9:{}/ --rule breadth-first --delay 0.01", site.port)).ok();
    assert_eq!(*site.asked.lock().unwrap(), ["/robots.txt", "/.well-known/tdmrep.json", "/"]);
    let pages = corpus.pages();
    assert_eq!(pages.values().map(|page| page.rights.tdmrep.as_deref()).collect::<Vec<_>>(), [Some("1")]);
}

/// An article about something, as a page that the quality gate accepts.
fn article(subject: &str) -> &'static str {
    let text = format!(
        "<!doctype html><html lang=en><head><title>{subject}</title></head><body><article><h1>The {subject}</h1>\
         <p>The council of the town decided on Monday that the {subject} will return in spring, after two years in \
         which the people of the island had to travel by the long road over the mountains to reach their work.</p>\
         <p>According to the minutes of the meeting, the {subject} costs less than the engineers had feared, because \
         the old quay can be used again and only the eastern pier needs repair before the first storms of autumn.</p>\
         <p>Residents who had waited for the {subject} welcomed the decision, and several of them said that they would \
         finally be able to visit their families on the other side without spending a whole day on it.</p></article>"
    );
    Box::leak(text.into_boxed_str())
}

#[test]
fn a_topic_keeps_pages_that_are_about_it() {
    let pages = [
        ("/", "", "<a href=/1>The steam ferry returns</a> <a href=/2>Of the tramway</a>"),
        ("/1", "", article("steam ferry")),
        ("/2", "", article("tramway")),
    ];
    let site = SmallSite::start(Box::leak(Box::new(pages)));
    let corpus = Corpus::new(spec(1, 1));
    let address = format!("http://127.1.0.9:{}", site.port);
    let mut command = corpus.command(&format!("crawl {address}/ --rule breadth-first --delay 0.01 --json"));
    let outcome = corpus.launch({
        command.args(["--topic", "Ferr*, quay"]);
        command
    });
    let outcome = outcome.wait().ok().json();
    assert_eq!((&outcome["kept"], &outcome["refused"]), (&1.into(), &2.into()), "{outcome}");
    let order = std::fs::read_to_string(corpus.home().join("crawl/web/order.toml")).unwrap();
    assert!(order.contains("ferr*"), "{order}");
    corpus.run("status").ok().says("off-topic 1");
    corpus.run(&format!("why {address}/2")).ok().says("not kept: off-topic");
    corpus.run("report").ok();
    let report = std::fs::read_to_string(corpus.home().join("report.html")).unwrap();
    assert!(report.contains("<section id=\"crawls\">") && report.contains("off-topic"));
    // The topic is that of the crawl, also in further runs.
    corpus.run("crawl --delay 0.01").ok().says("nothing left");
    assert_eq!(corpus.pages().len(), 1);
}

#[test]
fn seeds_are_taken_from_files_standard_input_and_the_home() {
    let corpus = Corpus::new(spec(2, 2));
    std::fs::write(corpus.beside("sites.txt"), "# sites\na.example\n\nhttps://b.example/news/\n").unwrap();
    let shown = |ran: crate::support::Ran| ran.ok().stdout;
    let text = shown(corpus.run(&format!("crawl --dry-run --from {}", corpus.beside("sites.txt").display())));
    assert_eq!(text, "would request first:\nhttps://a.example/\nhttps://b.example/news/\n");
    let text = shown(corpus.shell("echo c.example | $T crawl --dry-run --from -"));
    assert_eq!(text, "would request first:\nhttps://c.example/\n");
    let text = shown(corpus.run("crawl --dry-run --from feeds"));
    let fronts: BTreeSet<String> =
        corpus.web.sites().map(|site| format!("http://{}:{}/", site.address(), corpus.web.port())).collect();
    assert_eq!(text.lines().skip(1).map(str::to_owned).collect::<BTreeSet<_>>(), fronts);
    assert!(!corpus.home().join("crawl").exists(), "a dry run leaves nothing behind");
    corpus.run("crawl").exits(1);
    corpus.run("crawl --from nowhere.txt").exits(1);
}

#[test]
fn a_crawl_goes_on_in_rounds_until_nothing_is_left() {
    let corpus = Corpus::new(spec(2, 6));
    let settings = corpus.home().join("tidings.toml");
    let mut text = std::fs::read_to_string(&settings).unwrap();
    text.push_str(
        "[crawl]\nnames = ['web']\nseeds = 'sites.txt'\nround_pages = 5\nrule = 'breadth-first'\nhost_delay_s = 0.05\n",
    );
    std::fs::write(&settings, text).unwrap();
    let front = |at: usize| {
        let site = corpus.web.sites().nth(at).unwrap();
        format!("http://{}:{}/\n", site.address(), corpus.web.port())
    };
    std::fs::write(corpus.home().join("sites.txt"), front(0)).unwrap();
    let outcome = corpus.run("run --stages crawl,clean --json").ok().json();
    assert_eq!(outcome["crawl"]["crawls"][0]["end"], "pages", "{outcome}");
    assert!(outcome["clean"]["documents"].as_u64() > Some(0), "{outcome}");
    assert_eq!(outcome.as_object().unwrap().len(), 2, "{outcome}");
    let mut rounds = 1;
    while corpus.run("run --stages crawl --json").ok().json()["crawl"]["requests"] != 0 {
        rounds += 1;
        assert!(rounds < 40, "the crawl does not end");
    }
    assert!(rounds > 1);
    // Nothing is left: the next round opens no crawl and writes no run log.
    let logs = corpus.run_logs("crawl").len();
    corpus.run("run --stages crawl").ok().says("nothing left that is worth a request");
    assert_eq!(corpus.run_logs("crawl").len(), logs);
    // A new line of the file is taken up.
    std::fs::write(corpus.home().join("sites.txt"), front(0) + &front(1)).unwrap();
    let before = corpus.web.requests().len();
    corpus.run("run --stages crawl").ok().says("budget of pages spent");
    assert!(corpus.web.requests().len() > before);
    corpus.asked_nothing_twice();
    corpus.was_polite(DELAY);
}

#[test]
fn a_round_that_is_killed_in_its_crawl_goes_on() {
    let corpus = Corpus::new(spec(3, 8));
    let settings = corpus.home().join("tidings.toml");
    let mut text = std::fs::read_to_string(&settings).unwrap();
    text.push_str("[crawl]\nnames = ['web']\nseeds = 'sites.txt'\nrule = 'breadth-first'\nhost_delay_s = 0.05\n");
    std::fs::write(&settings, text).unwrap();
    std::fs::write(corpus.home().join("sites.txt"), seeds(&corpus).replace(' ', "\n")).unwrap();
    let mut running = corpus.start("run --stages crawl,clean");
    running.until(|| corpus.web.requests().len() > 15);
    running.signal(Signal::KILL);
    running.wait();
    corpus.run("run --stages crawl,clean").ok().says("nothing left");
    assert!(corpus.healthy_articles().iter().all(|url| all_stored(&corpus).contains(&place(url))));
    let outcome = corpus.run("status --json").ok().json();
    let counts = &outcome["crawls"][0];
    // Pages before the kill count too: they are in the journal of the crawl.
    let articles = corpus.healthy_articles().len() as u64;
    let kept = counts["kept"].as_u64().unwrap();
    assert!((articles..=all_stored(&corpus).len() as u64).contains(&kept), "{counts}");
    corpus.was_polite_across_crashes(DELAY);
}
