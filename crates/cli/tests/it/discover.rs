//! Feed discovery: probe sequences, bulk candidates, lists, and trials.

use std::collections::BTreeSet;
use std::fs;
use std::time::Duration;

use tidings_simweb::{Hiding, RequestKind, Spec};

use crate::support::{Corpus, Ran};

const DELAY: Duration = Duration::from_millis(50);

/// A web that hides its feeds, and a home without feeds.
fn hidden(ways: &[Hiding], sites: usize, more: &str) -> Corpus {
    let hiding = ways.to_vec();
    let corpus = Corpus::new(Spec { sites, items_per_feed: 4, hiding, full_text_percent: 0, ..Spec::default() });
    fs::write(corpus.home().join("feeds.txt"), "# none yet\n").unwrap();
    let settings = corpus.home().join("tidings.toml");
    let text = fs::read_to_string(&settings).unwrap();
    fs::write(&settings, format!("{text}\n[discover]\n{more}\n")).unwrap();
    corpus
}

/// An article of every site.
fn articles(corpus: &Corpus) -> Vec<String> {
    corpus.web.sites().map(|site| site.listed().next().unwrap().url).collect()
}

/// Runs discover with URLs that are not passed through a shell.
fn discover(corpus: &Corpus, flags: &str, addresses: &[String]) -> Ran {
    let mut command = corpus.command(&format!("discover {flags}"));
    command.args(addresses);
    corpus.launch(command).wait()
}

fn feeds_of(json: &serde_json::Value) -> BTreeSet<String> {
    json["feeds"].as_array().unwrap().iter().map(|feed| feed["feed"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn hidden_feeds_are_found_and_decoys_are_not_requested() {
    use Hiding::{Anchor, Declared, FrontPage, Overview, Program, Sitemap, Word};
    let ways = [Declared, FrontPage, Anchor, Word, Overview, Program, Sitemap];
    let corpus = hidden(&ways, 14, "");
    let told = discover(&corpus, "--json", &articles(&corpus)).ok().json();
    let truth: BTreeSet<String> = corpus.web.feeds().into_iter().collect();
    assert_eq!(feeds_of(&told), truth);
    assert_eq!(told["without_feed"], 0);
    corpus.was_polite(DELAY);
    corpus.is_tidy();
    corpus.run("audit").ok().says("probe");
    // The decoys were recognised by their URLs: they were not requested.
    let asked = corpus.web.requests();
    assert!(asked.iter().all(|request| !request.path.contains("comments") && !request.path.contains("wp-json")));
    let rows = corpus.state("candidates.tsv");
    assert_eq!(rows.len(), 14);
    assert!(rows.iter().all(|row| row["fate"] == "probed-feed" && row["entries"] == "4"), "{rows:?}");
}

#[test]
fn feeds_at_common_paths_are_found_without_a_hint() {
    let corpus = hidden(&[Hiding::CommonPath], 10, "");
    let told = discover(&corpus, "--json", &articles(&corpus)).ok().json();
    let truth: BTreeSet<String> = corpus.web.feeds().into_iter().collect();
    assert!(feeds_of(&told).is_subset(&truth));
    assert!(feeds_of(&told).len() >= 9, "{told}");
}

#[test]
fn a_site_without_a_feed_is_recorded_and_not_searched_again() {
    let corpus = hidden(&[Hiding::Nowhere], 1, "max_requests = 9");
    let starts = articles(&corpus);
    discover(&corpus, "", &starts).ok().says("no feed found, 9 requests");
    let asked = corpus.web.requests().iter().filter(|request| request.kind != RequestKind::Robots).count();
    assert_eq!(asked, 9);
    assert_eq!(corpus.state("barren.tsv").len(), 1);
    corpus.web.clear_log();
    discover(&corpus, "", &starts).ok().says("no feed found in an earlier search");
    assert!(corpus.web.requests().is_empty());
    discover(&corpus, "--again", &starts).ok().says("no feed found");
    assert!(!corpus.web.requests().is_empty());
}

#[test]
fn robots_txt_applies_to_probes() {
    let corpus = hidden(&[Hiding::FrontPage], 1, "");
    corpus.web.set_robots(0, Some("User-agent: *\nDisallow: /data/\n"));
    discover(&corpus, "", &articles(&corpus)).ok();
    assert_eq!(corpus.was_polite(DELAY).disallowed, 0);
    assert!(corpus.web.requests().iter().all(|request| !request.path.starts_with("/data/")));
}

#[test]
fn a_feed_url_can_be_added_at_once() {
    let corpus = hidden(&[Hiding::Declared], 2, "");
    let feed = corpus.web.feeds()[0].clone();
    discover(&corpus, "--add", std::slice::from_ref(&feed)).ok().says("4 entries").says("1 feed added");
    let list = fs::read_to_string(corpus.home().join("feeds.txt")).unwrap();
    assert!(list.starts_with("# none yet\n# found by discover on ") && list.contains(&format!("\n{feed}")), "{list}");
    discover(&corpus, "--add", &[feed]).ok().says("already in feeds.txt").says("0 feeds added");
    corpus.run("update").ok().says("1 feed polled");
}

#[test]
fn stored_pages_are_searched_once() {
    let corpus = hidden(&[Hiding::Declared, Hiding::Word], 4, "min_seen = 3");
    // The home crawls the sites through known feeds; their pages declare the same ones.
    fs::write(corpus.home().join("feeds.txt"), corpus.web.feeds().join("\n")).unwrap();
    corpus.run("update").ok();
    corpus.run("fetch").ok().says("16 pages fetched");
    fs::write(corpus.home().join("feeds.txt"), "").unwrap();
    let told = corpus.run("discover --from pages --json").ok().json();
    assert_eq!((&told["pages"], &told["candidates"], &told["fit"]), (&16.into(), &4.into(), &4.into()));
    let again = corpus.run("discover --from pages --json").ok().json();
    assert_eq!((&again["pages"], &again["fit"]), (&0.into(), &4.into()));

    corpus.web.clear_log();
    let told = corpus.run("discover --probe 100 --json").ok().json();
    assert_eq!(feeds_of(&told), corpus.web.feeds().into_iter().collect());
    let requests = corpus.web.requests();
    assert_eq!(requests.iter().filter(|request| request.kind == RequestKind::Feed).count(), 4);
    assert_eq!(requests.len(), 4, "a candidate costs one request: {requests:?}");
    corpus.was_polite(DELAY);
}

#[test]
fn archives_folders_and_streams_of_links_give_the_same_candidates() {
    let page = |url: &str| {
        format!(
            "<html><head><link rel=canonical href=\"{url}\"><link rel=alternate type=application/rss+xml href=/feed/>\
             <link rel=alternate type=application/rss+xml href=/comments/feed/></head><body>x</body></html>"
        )
    };
    let corpus = hidden(&[Hiding::Declared], 1, "min_seen = 2\nlanguages = ['de']");
    let urls = ["https://zeitung.example.de/a", "https://zeitung.example.de/b", "https://journal.example.fr/c"];
    let warc: String = urls
        .iter()
        .map(|url| {
            let block = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n{}", page(url));
            let length = block.len();
            format!("WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\nContent-Length: {length}\r\n\r\n{block}\r\n\r\n")
        })
        .collect();
    fs::write(corpus.beside("crawl.warc"), warc).unwrap();
    let told =
        corpus.run(&format!("discover --json --from warc {}", corpus.beside("crawl.warc").display())).ok().json();
    let counts = ["pages", "candidates", "rejected", "fit"].map(|key| told[key].as_u64().unwrap());
    assert_eq!(counts, [3, 2, 1, 1], "{told}");
    // The same archive again would count everything twice.
    let told =
        corpus.run(&format!("discover --json --from warc {}", corpus.beside("crawl.warc").display())).ok().json();
    assert_eq!((&told["pages"], &told["fit"]), (&0.into(), &1.into()));

    fs::create_dir_all(corpus.beside("saved/deep")).unwrap();
    for (at, url) in urls.iter().enumerate() {
        fs::write(corpus.beside(&format!("saved/deep/{at}.html")), page(url)).unwrap();
    }
    let told = corpus.run(&format!("discover --json --from html {}", corpus.beside("saved").display())).ok().json();
    assert_eq!((told["pages"].as_u64(), told["candidates"].as_u64()), (Some(3), Some(2)));
    let rows = corpus.state("candidates.tsv");
    let seen: BTreeSet<(&str, &str, &str)> =
        rows.iter().map(|row| (row["feed"].as_str(), row["seen"].as_str(), row["fate"].as_str())).collect();
    let expected =
        [("https://journal.example.fr/feed/", "2", "rejected"), ("https://zeitung.example.de/feed/", "4", "new")];
    assert_eq!(seen, BTreeSet::from(expected));

    let links = "{\"text\": \"see https://zeitung.example.de/c\"}\nhttps://anna.example.at/rss.xml\n";
    fs::write(corpus.beside("links.jsonl"), links).unwrap();
    let told = corpus.run(&format!("discover --json --expand --from links {}", corpus.beside("links.jsonl").display()));
    let told = told.ok().json();
    assert_eq!((told["candidates"].as_u64(), told["expanded"].as_u64()), (Some(2), Some(2)), "{told}");
}

#[test]
fn a_shared_link_is_probed_regardless_of_its_frequency() {
    let corpus = hidden(&[Hiding::Declared], 2, "");
    fs::write(corpus.beside("links.txt"), format!("{}\n", corpus.web.site(0).url("/"))).unwrap();
    corpus.run(&format!("discover --from links {}", corpus.beside("links.txt").display())).ok();
    corpus.run("discover --probe 10").ok().says("1 feed found");
}

#[test]
fn an_opml_list_becomes_candidates_with_its_folders_as_labels() {
    let corpus = hidden(&[Hiding::Declared], 2, "");
    let feeds = corpus.web.feeds();
    let list = format!(
        "<opml><body><outline text='Food'><outline text='One' xmlUrl='{}'/></outline><outline xmlUrl='{}'/>\
         <outline text='broken' xmlUrl='::'/>",
        feeds[0], feeds[1]
    );
    fs::write(corpus.beside("list.opml"), list).unwrap();
    corpus.run(&format!("discover --opml {}", corpus.beside("list.opml").display())).ok().says("2 added as candidates");
    let row = corpus.state("candidates.tsv").into_iter().find(|row| row["feed"] == feeds[0]).unwrap();
    assert_eq!(
        (row["evidence"].as_str(), row["labels"].as_str(), row["title"].as_str()),
        ("listed", "topic=Food", "One")
    );
    corpus.run("discover --probe 50 --add").ok().says("2 feeds added");
    let text = fs::read_to_string(corpus.home().join("feeds.txt")).unwrap();
    assert!(text.contains(&format!("{}\ttopic=Food", feeds[0])), "{text}");
    let out = corpus.run("discover --opml-out -").ok().stdout;
    assert!(feeds.iter().all(|feed| out.contains(feed)) && out.contains("category=\"Food\""), "{out}");
}

#[test]
fn a_trial_adopts_feeds_with_documents_and_prints_the_gain() {
    use tidings_simweb::{Fault, SitePart};
    let corpus = hidden(&[Hiding::Declared], 4, "");
    corpus.web.set_fault(3, Fault::NotFound.on(SitePart::Pages));
    let feeds = corpus.web.feeds();
    fs::write(corpus.home().join("feeds.txt"), format!("{}\tlang=en\n", feeds[0])).unwrap();
    corpus.run("update").ok();
    discover(&corpus, "", &feeds[1..]).ok().says("3 feeds found");
    let told = corpus.run("discover --trial --limit 10 --pages-per-feed 2 --json").ok().json();
    assert_eq!((told["tried"].as_u64(), told["promoted"].as_u64()), (Some(3), Some(2)), "{told}");
    let all = told["gain"].as_array().unwrap().last().unwrap();
    assert_eq!((all["active_before"].as_u64(), all["active_after"].as_u64()), (Some(1), Some(3)));
    corpus.was_polite(DELAY);
    // At most two articles per feed.
    let asked = corpus.page_requests();
    let hosts: BTreeSet<_> = asked.keys().map(|key| key.0).collect();
    assert_eq!((asked.len(), hosts.len()), (6, 3));
    let list = fs::read_to_string(corpus.home().join("feeds.txt")).unwrap();
    assert!(list.contains(&feeds[1]) && list.contains(&feeds[2]) && !list.contains(&feeds[3]), "{list}");
    let statuses: BTreeSet<String> =
        corpus.state("candidates.tsv").into_iter().map(|row| row["fate"].clone()).collect();
    assert_eq!(statuses, ["promoted", "trial"].map(str::to_owned).into());
    // The plan of the home is not changed; the next trial has nothing left to try.
    corpus.run("discover --trial").ok().says("0 candidates tried");
}

#[test]
fn a_killed_search_is_recovered_by_the_next_one() {
    let corpus = hidden(&[Hiding::CommonPath], 6, "");
    let starts = articles(&corpus);
    let mut command = corpus.command("discover");
    command.args(&starts);
    let mut running = corpus.launch(command);
    running.until(|| corpus.web.requests().len() > 20);
    running.signal(rustix::process::Signal::KILL);
    running.wait();
    let told = discover(&corpus, "--json", &starts).ok().json();
    assert!(feeds_of(&told).len() >= 5, "{told}");
    corpus.was_polite(DELAY);
    corpus.is_tidy();
    corpus.run("audit").ok();
}

#[test]
fn with_grow_new_feeds_are_found_in_fetched_pages() {
    let corpus = hidden(&[Hiding::Declared], 6, "grow = true\nmin_seen = 2\nbudget_requests = 4");
    let feeds = corpus.web.feeds();
    // One feed is known by another URL, so that the one in the pages is new.
    fs::write(corpus.home().join("feeds.txt"), feeds[..3].join("\n")).unwrap();
    corpus.run("update").ok();
    fs::write(corpus.home().join("feeds.txt"), &feeds[0]).unwrap();
    let told = corpus.run("fetch --json").ok().json();
    assert_eq!(told["discover"]["pages_searched"], 12);
    assert_eq!(told["discover"]["feeds_found"], 2, "{told}");
    assert!(told["discover"]["requests"].as_u64().unwrap() <= 4);
    corpus.was_polite(DELAY);
    let found: BTreeSet<String> = corpus
        .state("candidates.tsv")
        .into_iter()
        .filter(|row| row["fate"] == "probed-feed")
        .map(|row| row["feed"].clone())
        .collect();
    assert_eq!(found, feeds[1..3].iter().cloned().collect());
    corpus.is_tidy();
}

#[test]
fn a_list_of_sites_given_to_init_becomes_their_feeds() {
    let corpus = hidden(&[Hiding::Declared, Hiding::FrontPage], 2, "");
    let (list, home) = (corpus.beside("sites.txt"), corpus.beside("news"));
    fs::write(&list, format!("# newspapers\n{}\n", articles(&corpus).join("\n"))).unwrap();
    corpus.run(&format!("init {} --sites {}", home.display(), list.display())).exits(2).says("--contact");
    let mut command =
        corpus.command(&format!("init {} --contact me@example.org --sites {}", home.display(), list.display()));
    command.env("TIDINGS_FETCH_ALLOW_PRIVATE", "['127.1.0.0/16']").env("TIDINGS_FETCH_DELAY_S", "0.05");
    let told = corpus.launch(command).wait().ok().says("next: run `tidings run");
    assert!(!told.stdout.contains("discover --home"), "{}", told.stdout);
    let listed = fs::read_to_string(home.join("feeds.txt")).unwrap();
    for feed in corpus.web.feeds() {
        assert!(listed.contains(&feed), "{feed} is missing in\n{listed}");
    }
    // Comments may name the page on which a feed was found.
    let added: Vec<&str> = listed.lines().filter(|line| !line.starts_with('#')).collect();
    for article in articles(&corpus) {
        let is_listed = added.iter().any(|line| line.split('\t').next() == Some(article.as_str()));
        assert!(!is_listed, "{article} is no feed:\n{listed}");
    }
}
