//! `tidings why`: every item has an outcome with its rule, and the numbers of all stages add up.

use std::fs;

use serde_json::Value;
use tidings_simweb::{Fault, Spec};

use crate::digest::built;
use crate::support::{Corpus, copy_folder, unpacked};

fn story(corpus: &Corpus, thing: &str) -> Value {
    corpus.run(&format!("--json why {thing}")).ok().json()
}

/// The stages of a trace, each once.
fn stages(story: &Value) -> Vec<String> {
    let mut stages: Vec<String> =
        story["events"].as_array().unwrap().iter().map(|event| event["stage"].as_str().unwrap().to_owned()).collect();
    stages.dedup();
    stages
}

fn says(story: &Value, stage: &str) -> String {
    let events = story["events"].as_array().unwrap().iter();
    events
        .filter(|event| event["stage"] == stage)
        .map(|event| event["says"].as_str().unwrap())
        .collect::<Vec<_>>()
        .join("; ")
}

fn adds_up(corpus: &Corpus) -> Value {
    corpus.run("--json why --all --items").ok().json()
}

#[test]
fn an_article_is_traced_from_its_feed_to_its_segment() {
    let spec = Spec { sites: 3, items_per_feed: 3, full_text_percent: 0, ..Spec::default() };
    let corpus = Corpus::new(spec.with_fault(Fault::NotFound, 1));
    corpus.run("update --all").ok();
    let url = corpus.healthy_articles().into_iter().next().unwrap();
    let waiting = story(&corpus, &url);
    assert_eq!((waiting["fate"].as_str(), stages(&waiting)), (Some("waiting"), vec!["listed".into(), "plan".into()]));
    corpus.run("fetch").ok();
    let stored = story(&corpus, &url);
    assert_eq!(stages(&stored), ["listed", "plan", "asked", "stored", "docs"]);
    assert!(says(&stored, "asked").contains("200, ") && says(&stored, "asked").contains("allowed by a robots.txt"));
    assert!(
        says(&stored, "stored").contains("in pages/") && says(&stored, "docs").contains("waits for `tidings clean`")
    );

    corpus.run("run --from clean").ok();
    let whole = story(&corpus, &url);
    assert_eq!(whole["fate"], "searchable", "{whole:#}");
    assert_eq!(stages(&whole), ["listed", "plan", "asked", "stored", "clean", "dedup", "annotate", "index"]);
    let text = corpus.run(&format!("why {url}#comments")).ok().stdout;
    assert!(text.contains("  index     searchable, in index/"), "{text}");

    // The document and another spelling of the URL have the same trace.
    let events = whole["events"].as_array().unwrap();
    let id = events.iter().find_map(|event| event["id"].as_str()).unwrap();
    let by_id = story(&corpus, id);
    assert_eq!((&by_id["events"], &by_id["about"]["url"]), (&whole["events"], &Value::from(url.as_str())));
    assert_eq!(story(&corpus, &format!("{url}/"))["events"], whole["events"]);

    // A failure has a reason and whether it is retried.
    let failed = corpus.plan().into_iter().find(|entry| entry.status == "404").unwrap();
    let failed = story(&corpus, &failed.url);
    assert_eq!(failed["fate"], "failed");
    assert!(says(&failed, "plan").contains("HTTP status 404; not retried"), "{failed:#}");

    let feed = story(&corpus, &corpus.web.feeds()[0]);
    assert_eq!(feed["about"]["kind"], "feed");
    assert_eq!(stages(&feed), ["listed", "polled", "due", "asked", "plan", "clean"], "{feed:#}");
    assert!(says(&feed, "plan").contains("3 entries since "), "{feed:#}");
    let host = corpus.web.site(0).address().to_string();
    let host = story(&corpus, &host);
    assert!(says(&host, "rules").contains("robots of http://"), "{host:#}");
    assert!(says(&host, "listed").contains("1 feed in feeds.txt"), "{host:#}");

    corpus.run("why http://nowhere.example/").exits(1).says("http://nowhere.example/ is unknown");
    corpus.run("why 0123456789abcdef0123456789abcdef").exits(1).says("no document with the id");
    corpus.run("why nowhere.example").exits(1).says("the host nowhere.example is unknown");
    corpus.run("why e.org/1").exits(1).says("https://e.org/1");
    adds_up(&corpus);

    // Without run logs the documents are searched, and without documents the pages.
    fs::remove_dir_all(corpus.home().join("runs")).unwrap();
    let told = story(&corpus, &url);
    assert_eq!(stages(&told), ["listed", "plan", "clean", "dedup", "annotate", "index"], "{told:#}");
    fs::remove_dir_all(corpus.home().join("docs")).unwrap();
    let told = story(&corpus, &url);
    assert_eq!(stages(&told), ["listed", "plan", "stored", "docs"], "{told:#}");
    fs::remove_dir_all(corpus.home().join("pages")).unwrap();
    assert_eq!(story(&corpus, &url)["fate"], "lost");
}

#[test]
fn a_dropped_page_shows_the_rule_and_the_measured_value() {
    let corpus = built();
    let short = story(&corpus, "http://e.org/101");
    assert_eq!(short["fate"], "left out", "{short:#}");
    assert!(says(&short, "clean").contains("dropped by rule too-short (measured 2, limit 25)"), "{short:#}");
    let duplicate = story(&corpus, "http://e.org/203");
    let told = says(&duplicate, "dedup");
    assert!(told.contains(" are duplicates; a copy of ") && told.contains("paragraph 2: "), "{duplicate:#}");
    assert_eq!(duplicate["fate"], "duplicate", "{duplicate:#}");
    let stories = (250..253).map(|number| story(&corpus, &format!("http://e.org/{number}")));
    let partly = stories.into_iter().find(|story| story["fate"] == "searchable").expect("some of it is new");
    assert!(says(&partly, "dedup").contains("paragraph 1: exact, seen in "), "{partly:#}");

    let url = partly["about"]["url"].as_str().unwrap();
    corpus.run(&format!("compile --hide {url}")).ok();
    assert_eq!(story(&corpus, url)["fate"], "hidden");
    let sheets = adds_up(&corpus);
    assert_eq!(sheets["stages"][4]["left_out"]["hidden"], 1, "{sheets:#}");
}

#[test]
fn numbers_that_do_not_add_up_are_found() {
    let corpus = built();
    corpus.run("why --all").ok().says("no items are missing");
    let whole = corpus.beside("whole");
    copy_folder(&corpus.home(), &whole);
    let recipe = |stage: &str| corpus.home().join(format!("{stage}/recipes/2026-03-01.json"));
    let count = |stage: &str, words: &str| {
        let text = fs::read_to_string(recipe(stage)).unwrap();
        let at = text.find(words).unwrap_or_else(|| panic!("{words} in {text}")) + words.len();
        let digits = text[at..].chars().take_while(char::is_ascii_digit).count();
        let number: u64 = text[at..at + digits].parse().unwrap();
        fs::write(recipe(stage), format!("{}{}{}", &text[..at], number + 1, &text[at + digits..])).unwrap();
    };
    // One page more than came out.
    count("docs", "\"pages\": ");
    corpus.run("why --all").exits(1).says("clean: 27 in, but 20 out, 6 dropped and 0 waiting");
    corpus.restore(&whole);
    count("text", "\"documents\": ");
    corpus.run("why --all").exits(1).says("annotate, 2026-03-01: ");
    corpus.restore(&whole);
    let file = corpus.files("text", "2026-03-01.vert.zst").remove(0);
    fs::remove_file(&file).unwrap();
    corpus.run("why --all").exits(1).says("has 0 bytes instead of ");
    corpus.run("run --from clean").ok();
    adds_up(&corpus);
    // An entry with status `ok` without a page.
    let entry = "0\tok\t1\t2026-03-01T00:00:00.000Z\t\thttp://e.org/feed\thttp://e.org/lost\tLost\n";
    fs::remove_file(corpus.home().join("plan.tsv.zst")).unwrap();
    fs::write(corpus.home().join("plan.tsv"), entry).unwrap();
    corpus
        .run("why --all --items")
        .exits(1)
        .says("1 page with status `ok` in the plan but not in any file: http://e.org/lost");
}

#[test]
fn no_page_is_lost_with_faulty_sites_and_power_failures() {
    let mut spec = Spec { sites: 10, items_per_feed: 4, ..Spec::default() };
    for fault in [Fault::NotFound, Fault::Cut, Fault::Empty, Fault::GzipBomb, Fault::Video] {
        spec = spec.with_fault(fault, 1);
    }
    let corpus = Corpus::new(spec);
    for at in [9, 14, 23, 40, 61] {
        for verb in ["update --all", "fetch", "clean", "dedup", "annotate", "compile"] {
            let mut command = corpus.command(verb);
            command.env("TIDINGS_CRASH_AT", at.to_string());
            corpus.launch(command).wait();
            // The next command recovers; waiting items are not lost.
            corpus.run("fetch --dry-run").ok();
            adds_up(&corpus);
        }
    }
    corpus.run("run").ok();
    let sheets = adds_up(&corpus);
    let stages = sheets["stages"].as_array().unwrap();
    assert!(stages.iter().skip(1).all(|sheet| sheet["waiting"] == 0), "{sheets:#}");
    let pages: usize = corpus.files("pages", ".jsonl.zst").iter().map(|path| unpacked(path).lines().count()).sum();
    assert_eq!(stages[1]["in"], pages, "{sheets:#}");
    assert_eq!(stages[0]["out"], pages, "{sheets:#}");
}
