//! A harvest on three machines: no host is asked by two, no page is fetched twice, and together they have what one has.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use tidings_model::Page;
use tidings_simweb::{Host, RequestKind, Spec};

use crate::support::{Corpus, Running, settings, unpacked};

const MACHINES: [&str; 3] = ["a", "b", "c"];
const SITES: usize = 9;
const ITEMS: usize = 3;

/// Sites whose feeds list pages of other sites, and addresses that redirect to other sites.
fn linked() -> Spec {
    Spec {
        sites: SITES,
        items_per_feed: ITEMS,
        history: ITEMS + 3,
        cross_links: true,
        languages: vec!["de".into(), "en".into()],
        ..Spec::default()
    }
}

/// Three homes beside each other on one web, with all feeds in the list of each.
struct Machines(Corpus);

impl Machines {
    fn new() -> Machines {
        let corpus = Corpus::new(linked());
        for name in MACHINES {
            let home = corpus.beside(name);
            corpus.run(&format!("init {}", home.display())).ok();
            let names = "['a 0-1365', 'b 1366-2730', 'c 2731-4095']";
            let harvest = format!("\n[harvest]\nmachine = '{name}'\nmachines = {names}\nexchange = '../exchange'\n");
            fs::write(home.join("tidings.toml"), settings(&[]) + &harvest).unwrap();
            fs::write(home.join("feeds.txt"), corpus.web.feeds().join("\n")).unwrap();
        }
        Machines(corpus)
    }

    fn home(&self, name: &str) -> PathBuf {
        self.0.beside(name)
    }

    fn start(&self, name: &str, verb: &str, crash_at: Option<u32>) -> Running {
        let mut command = self.0.command(verb);
        command.env("TIDINGS_HOME", self.home(name));
        if let Some(at) = crash_at {
            command.env("TIDINGS_CRASH_AT", at.to_string());
        }
        self.0.launch(command)
    }

    /// Runs a verb on all machines at the same time.
    fn on_all(&self, verb: &str) {
        let running: Vec<Running> = MACHINES.iter().map(|name| self.start(name, verb, None)).collect();
        running.into_iter().for_each(|running| drop(running.wait().ok()));
    }

    fn audit(&self) -> serde_json::Value {
        let homes = MACHINES.map(|name| self.home(name).display().to_string()).join(",");
        self.0.run(&format!("--json audit --homes {homes}")).ok().json()
    }

    /// Checks that no file is left for any machine.
    fn nothing_is_under_way(&self) {
        for name in MACHINES {
            let folder = self.0.beside("exchange").join(name);
            let left: Vec<_> = fs::read_dir(&folder).into_iter().flatten().collect();
            assert!(left.is_empty(), "{left:?}");
        }
    }
}

/// The pages in the homes, by the URL at which they were found, with their text.
fn pages(homes: &[PathBuf]) -> BTreeMap<String, String> {
    let mut pages = BTreeMap::new();
    for home in homes {
        for path in files(&home.join("pages")) {
            for line in unpacked(&path).lines() {
                let page: Page = serde_json::from_str(line).unwrap();
                let (url, body) = (page.final_url, String::from_utf8_lossy(&page.body).into_owned());
                assert!(pages.insert(url.clone(), body).is_none(), "{url} was stored twice");
            }
        }
    }
    pages
}

fn files(folder: &PathBuf) -> Vec<PathBuf> {
    let days = fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    let files = days.flat_map(|day| fs::read_dir(day).unwrap().map(|entry| entry.unwrap().path()));
    files.filter(|path| path.to_string_lossy().ends_with(".jsonl.zst")).collect()
}

/// What one machine fetches.
fn alone() -> (BTreeMap<String, String>, Corpus) {
    let corpus = Corpus::new(linked());
    corpus.run("update --all").ok();
    corpus.run("fetch").ok();
    (pages(&[corpus.home()]), corpus)
}

/// A URL without the port, which differs between webs.
fn plain(pages: BTreeMap<String, String>, corpus: &Corpus) -> BTreeMap<String, String> {
    let port = format!(":{}/", corpus.web.port());
    pages.into_iter().map(|(url, body)| (url.replace(&port, "/"), body.replace(&port, "/"))).collect()
}

/// Checks the requests that the sites received: each page once.
fn each_page_was_asked_for_once(corpus: &Corpus) {
    let mut asked = BTreeSet::new();
    for request in corpus.web.requests().iter().filter(|request| request.kind == RequestKind::Page) {
        if let Host::Site(site) = request.host {
            assert!(asked.insert((site, request.path.clone())), "{site} {} was asked for twice", request.path);
        }
    }
}

#[test]
fn three_machines_with_one_killed_fetch_what_one_fetches_and_no_host_is_asked_by_two() {
    let (expected, single) = alone();
    let expected = plain(expected, &single);
    let machines = Machines::new();
    let corpus = &machines.0;
    // One machine loses its power while it hands over and takes over, again and again.
    for crash_at in [4, 9, 16, 25, 40] {
        let killed = machines.start("b", "update --all", Some(crash_at));
        let others = ["a", "c"].map(|name| machines.start(name, "update --all", None));
        others.into_iter().for_each(|running| drop(running.wait().ok()));
        let killed = killed.wait();
        assert!(killed.code.is_none_or(|code| code == 0), "{}", killed.stderr);
    }
    for crash_at in [5, 12, 22] {
        drop(machines.start("b", "fetch", Some(crash_at)).wait());
    }
    for _ in 0..3 {
        machines.on_all("fetch");
        machines.on_all("update");
    }
    machines.nothing_is_under_way();
    let homes = MACHINES.map(|name| machines.home(name));
    for home in &homes {
        assert!(!pages(std::slice::from_ref(home)).is_empty(), "{} fetched nothing", home.display());
    }
    let found = plain(pages(&homes), corpus);
    assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
    assert_eq!(found, expected);
    corpus.was_polite_across_crashes(std::time::Duration::ZERO);
    let audit = machines.audit();
    assert!(audit["done"] == true && audit["homes"] == 3, "{audit}");
    for several in ["hosts_of_several", "addresses_of_several", "pages_of_several"] {
        assert!(audit.get(several).is_none(), "{several}: {audit}");
    }
}

#[test]
fn three_machines_make_the_documents_of_one() {
    let (_, single) = alone();
    single.run("run --from clean").ok();
    let machines = Machines::new();
    for _ in 0..3 {
        machines.on_all("update --all");
        machines.on_all("fetch");
    }
    each_page_was_asked_for_once(&machines.0);
    machines.on_all("clean");
    let texts = |homes: &[PathBuf]| -> BTreeSet<String> {
        let mut texts = BTreeSet::new();
        for home in homes {
            for language in ["de", "en"] {
                let folder = home.join("docs").join(language);
                for entry in fs::read_dir(&folder).into_iter().flatten() {
                    for line in unpacked(&entry.unwrap().path()).lines() {
                        let document: serde_json::Value = serde_json::from_str(line).unwrap();
                        texts.insert(format!("{} {}", document["title"], document["text"]));
                    }
                }
            }
        }
        texts
    };
    let homes = MACHINES.map(|name| machines.home(name));
    let (several, one) = (texts(&homes), texts(&[single.home()]));
    assert!(one.len() > SITES * ITEMS);
    assert_eq!(several, one);
}

#[test]
fn an_audit_over_homes_that_ask_the_same_hosts_fails() {
    let corpus = Corpus::new(Spec { sites: 2, items_per_feed: 2, ..Spec::default() });
    let other = corpus.beside("other");
    crate::support::copy_folder(&corpus.home(), &other);
    for home in [corpus.home(), other.clone()] {
        for verb in ["update --all", "fetch"] {
            let mut command = corpus.command(verb);
            command.env("TIDINGS_HOME", &home);
            corpus.launch(command).wait().ok();
        }
    }
    let homes = format!("{},{}", corpus.home().display(), other.display());
    let audit = corpus.run(&format!("--json audit --homes {homes}")).exits(1).json();
    assert_eq!(audit["hosts_of_several"].as_array().unwrap().len(), 2, "{audit}");
    assert_eq!(audit["addresses_of_several"].as_array().unwrap().len(), 2, "{audit}");
    assert_eq!(audit["pages_of_several"].as_array().unwrap().len(), 4, "{audit}");
    corpus.run(&format!("audit --homes {homes}")).exits(1).says("pages asked by several of 2 homes: 4");
    corpus.run("audit").ok();
}
