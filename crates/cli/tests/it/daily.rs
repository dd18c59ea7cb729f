//! Daily use: a home, its feeds, their pages, and the same on the next day.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use tidings_simweb::{Fault, Host, RequestKind, Spec};

use crate::support::{Corpus, addresses, server_says, unpacked};

const DELAY: Duration = Duration::from_millis(50);

fn small() -> Spec {
    Spec { sites: 8, items_per_feed: 4, ..Spec::default() }
}

#[test]
fn a_home_is_created_once_and_not_changed_afterwards() {
    let corpus = Corpus::new(Spec { sites: 1, ..Spec::default() });
    let fresh = corpus.beside("deep/inside/news");
    corpus.run(&format!("init {}", fresh.display())).ok().says("tidings.toml");
    for name in ["tidings.toml", "feeds.txt", "plan.tsv.zst"] {
        assert!(fresh.join(name).is_file(), "{name} is missing");
    }
    corpus.run(&format!("update --all --home {}", fresh.display())).ok().says("no feeds to poll").says("feeds.txt");
    corpus.run(&format!("fetch --home {}", fresh.display())).ok().says("nothing to fetch");

    std::fs::write(fresh.join("feeds.txt"), "http://127.1.0.1/mine\n").unwrap();
    corpus.run(&format!("init {}", fresh.display())).ok().says("nothing was changed");
    assert_eq!(std::fs::read_to_string(fresh.join("feeds.txt")).unwrap(), "http://127.1.0.1/mine\n");

    let silent = corpus.run(&format!("-q init {}", corpus.beside("silent").display())).ok();
    assert_eq!((silent.stdout.as_str(), silent.stderr.as_str()), ("", ""));

    // A folder with other files can become a home too, and keeps them.
    let lived_in = corpus.beside("lived-in");
    std::fs::create_dir(&lived_in).unwrap();
    std::fs::write(lived_in.join("notes.txt"), "mine").unwrap();
    std::fs::write(lived_in.join("feeds.txt"), "http://127.1.0.2/mine\n").unwrap();
    corpus.run(&format!("init {}", lived_in.display())).ok();
    assert_eq!(std::fs::read_to_string(lived_in.join("notes.txt")).unwrap(), "mine");
    assert_eq!(std::fs::read_to_string(lived_in.join("feeds.txt")).unwrap(), "http://127.1.0.2/mine\n");

    // A home is found from any folder inside it.
    std::fs::create_dir(fresh.join("sub")).unwrap();
    let mut command = corpus.command("plan --count");
    command.env_remove("TIDINGS_HOME");
    let script = format!("cd {}/sub && exec \"$T\" plan --count", fresh.display());
    corpus.shell(&format!("unset TIDINGS_HOME; {script}")).ok();
    corpus.launch(command).wait().exits(1).says("tidings init");
}

#[test]
fn every_article_of_healthy_sites_is_stored_as_served() {
    let corpus = Corpus::new(Spec { sites: 24, items_per_feed: 3, ..Spec::default() });
    let expected = corpus.healthy_articles();
    assert_eq!(expected.len(), 24 * 3);
    corpus.run("update --all").ok().says("24 feeds polled").says("72 added to the plan");
    assert_eq!(corpus.statuses().into_keys().collect::<BTreeSet<_>>(), expected);
    assert!(corpus.plan().iter().all(|entry| entry.status == "new" && entry.age == 0 && entry.retries == 0));
    corpus.run("fetch").ok().says("72 pages fetched");
    corpus.was_polite(DELAY);
    corpus.asked_nothing_twice();
    corpus.is_tidy();

    let plan = corpus.plan();
    assert!(plan.iter().all(|entry| entry.status == "ok" && entry.retries == 1));
    let rules = corpus.state("rules.tsv");
    let pages = corpus.pages();
    assert_eq!(pages.keys().cloned().collect::<BTreeSet<_>>(), expected);
    let articles: BTreeMap<String, _> = corpus.web.articles().map(|article| (article.url.clone(), article)).collect();
    for entry in plan {
        let page = &pages[&entry.url];
        let article = &articles[&entry.url];
        let (head, body) = server_says(&entry.url);
        assert!(page.body == body, "{} has another body", entry.url);
        assert_eq!((page.final_url.as_str(), page.status), (entry.url.as_str(), 200));
        assert_eq!((&page.feed, &page.title), (&entry.feed, &entry.title));
        assert_eq!((&page.seen, &page.published), (&entry.seen, &entry.published));
        assert_eq!(page.title, article.title);
        let published: jiff::Timestamp = entry.published.parse().expect("the feed's date");
        assert_eq!(published, article.date, "{}", entry.url);
        assert!(page.downloaded.parse::<jiff::Timestamp>().unwrap() >= page.seen.parse::<jiff::Timestamp>().unwrap());
        let told = |name: &str| {
            let line = head.lines().find(|line| line.to_ascii_lowercase().starts_with(&format!("{name}: ")));
            line.map(|line| line.split_once(": ").unwrap().1.to_owned())
        };
        assert_eq!(Some(page.content_type.clone()), told("content-type"));
        assert_eq!(page.headers.get("etag").cloned(), told("etag"));
        assert_eq!(page.headers.get("last-modified").cloned(), told("last-modified"));
        let robots = page.rights.robots.as_ref().expect("the robots.txt that allowed it");
        assert_eq!(robots.status, 200);
        assert!(rules.iter().any(|row| row["kind"] == "robots" && row["digest"] == robots.digest));
        let kept = unpacked(&corpus.home().join("state/rules.jsonl.zst"));
        assert!(kept.contains(&robots.digest), "the robots.txt itself is kept");
    }
}

#[test]
fn the_second_update_requests_changes_only() {
    let corpus = Corpus::new(small());
    corpus.run("update --all").ok();
    corpus.run("fetch").ok();
    let first = corpus.statuses();

    corpus.web.clear_log();
    corpus.run("update --all").ok().says("8 unchanged").says("0 added to the plan");
    let requests = corpus.web.requests();
    assert_eq!(requests.len(), 8, "one conditional request per feed, and robots.txt is cached");
    assert!(
        requests
            .iter()
            .all(|request| request.conditional && request.status == 304 && request.kind == RequestKind::Feed)
    );
    assert!(corpus.plan().iter().all(|entry| entry.age == 0), "entries of an unchanged feed do not age");

    corpus.web.clear_log();
    corpus.run("fetch").ok().says("nothing to fetch");
    assert!(corpus.web.requests().is_empty());
    assert_eq!(corpus.statuses(), first);

    // A day later there are more articles.
    let before: BTreeSet<String> = corpus.healthy_articles();
    corpus.web.advance(Duration::from_secs(3 * 3600));
    let now = corpus.healthy_articles();
    let new: BTreeSet<String> = now.difference(&before).cloned().collect();
    assert!(!new.is_empty() && now.intersection(&before).count() > 0);
    corpus.run("update --all").ok().says(&format!("{} added to the plan", new.len()));
    corpus.web.clear_log();
    corpus.run("fetch").ok();
    let asked: BTreeSet<_> = corpus.page_requests().into_keys().collect();
    assert_eq!(asked, new.iter().map(|url| crate::support::place(url)).collect());
    for entry in corpus.plan() {
        assert_eq!(entry.status, "ok");
        assert_eq!(entry.age > 0, !now.contains(&entry.url), "{entry:?}");
    }
    assert_eq!(corpus.pages().len(), before.len() + new.len());
    corpus.run("audit").ok();
    corpus.is_tidy();
    assert_eq!(corpus.files("history", ".tsv.zst").len(), 5, "the plan before each run");
}

#[test]
fn duplicate_feeds_and_tracking_parameters_give_each_article_once() {
    let corpus = Corpus::new(Spec { sites: 16, items_per_feed: 5, twins: true, ..Spec::default() });
    corpus.run("update --all").ok().says("32 feeds polled").says("80 added to the plan");
    assert_eq!(corpus.statuses().into_keys().collect::<BTreeSet<_>>(), corpus.healthy_articles());
    let listing: String =
        corpus.web.sites().map(|site| String::from_utf8_lossy(&server_says(&site.feed()).1).into_owned()).collect();
    assert!(listing.contains("utm_source") && listing.contains('#'), "the web decorates its links");
    corpus.web.clear_log();
    corpus.run("fetch").ok().says("80 pages fetched");
    corpus.asked_nothing_twice();
}

#[test]
fn rights_statements_are_stored_with_the_page() {
    let spec = Spec { sites: 4, items_per_feed: 2, ..Spec::default() };
    let corpus = Corpus::new(spec.with_fault(Fault::TdmReserved, 1).with_fault(Fault::XRobots, 1));
    corpus.web.set_robots(0, Some("User-agent: *\nContent-Signal: ai-train=no\nDisallow:\n"));
    corpus.run("update --all").ok();
    corpus.run("fetch").ok();
    let pages = corpus.pages();
    let of = |site: usize| addresses(&corpus.web.site(site)).into_iter().map(|url| pages[&url].rights.clone());
    for rights in of(0) {
        assert!(rights.robots.unwrap().usage.iter().any(|line| line.contains("ai-train=no")));
    }
    for rights in of(1) {
        assert_eq!((rights.tdmrep, rights.headers.len()), (None, 0));
    }
    for rights in of(2) {
        assert_eq!(rights.tdmrep.as_deref(), Some("1"));
        assert_eq!(rights.headers["tdm-reservation"], "1");
    }
    for rights in of(3) {
        assert_eq!(rights.headers["x-robots-tag"], "noindex, noarchive");
    }
}

#[test]
fn every_content_coding_and_charset_is_stored_correctly() {
    let languages = ["de", "cs", "ru", "ja"].map(str::to_owned).to_vec();
    let spec = Spec { sites: 12, items_per_feed: 2, languages, ..Spec::default() };
    let faults = [Fault::Brotli, Fault::Zstd, Fault::Chunked, Fault::Close, Fault::IdleClose];
    let spec =
        faults.into_iter().fold(spec, |spec, fault| spec.with_fault(fault, 1)).with_fault(Fault::WrongCharset, 4);
    let corpus = Corpus::new(spec);
    corpus.run("update --all").ok();
    corpus.run("fetch").ok().says("24 pages fetched");
    corpus.was_polite(DELAY);
    let pages = corpus.pages();
    let mut coded = 0;
    for site in corpus.web.sites() {
        for url in addresses(&site) {
            let (head, mut body) = server_says(&url);
            if head.contains("chunked") {
                continue; // The simple client of this test does not support it.
            }
            assert!(!body.is_empty());
            assert!(pages[&url].body == body, "{url} has another body");
            coded += u32::from(std::str::from_utf8(&body).is_err());
            body.clear();
        }
    }
    assert!(coded >= 2, "some bodies are not UTF-8");
    let lines: String = corpus.files("pages", ".jsonl.zst").iter().map(|path| unpacked(path)).collect();
    assert_eq!(lines.matches("\"body_base64\":").count() as u32, coded);
    let chunked = corpus.web.sites_with(Fault::Chunked).next().unwrap();
    for article in chunked.listed() {
        let body = String::from_utf8_lossy(&pages[&article.url].body).into_owned();
        assert!(body.trim_end().ends_with("</html>"), "{}", article.url);
    }
    // A server that closes after every response needs as many connections; others few.
    let manners = corpus.web.politeness();
    let closing = corpus.web.sites_with(Fault::Close).next().unwrap().number();
    let connections = |site: usize| manners.host(Host::Site(site)).unwrap().connections;
    assert!(connections(closing) > connections(0));
}

#[test]
fn a_run_on_the_public_web_requires_a_contact() {
    let corpus = Corpus::new(Spec { sites: 1, ..Spec::default() });
    std::fs::write(corpus.home().join("feeds.txt"), "https://news.example.org/feed.xml\n").unwrap();
    corpus.run("update --all").exits(1).says("contact").says("tidings.toml");
    // Private addresses are not contacted unless allowed.
    std::fs::write(corpus.home().join("feeds.txt"), corpus.web.feeds().join("\n")).unwrap();
    std::fs::write(corpus.home().join("tidings.toml"), "[fetch]\ndelay_s = 0.05\n").unwrap();
    corpus.run("update --all").says("private");
    assert!(corpus.web.requests().is_empty());
    corpus.run("update --all --allow-private=127.1.0.0/16 --delay 0.05").ok().says("20 added to the plan");
    let agent = corpus.web.requests()[0].user_agent.to_string();
    assert!(agent.starts_with("Tidings/"), "{agent}");
}
