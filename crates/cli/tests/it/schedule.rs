//! Poll schedule: feeds are polled when they are due.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;
use tidings_simweb::{SimWeb, Spec};

struct Corpus {
    folder: TempDir,
    web: SimWeb,
}

impl Corpus {
    fn new(sites: usize) -> Corpus {
        let web = SimWeb::start(Spec { sites, items_per_feed: 10, ..Spec::default() }).expect("the web starts");
        let corpus = Corpus { folder: tempfile::tempdir().expect("a temporary folder"), web };
        corpus.run(&["init", &corpus.home().display().to_string()]);
        let settings = "[fetch]\nfeed_delay_s = 0.05\nallow_private = ['127.1.0.0/16']\n[store]\nmin_free_mib = 16\n";
        fs::write(corpus.home().join("tidings.toml"), settings).unwrap();
        fs::write(corpus.home().join("feeds.txt"), corpus.web.feeds().join("\n")).unwrap();
        corpus
    }

    fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    fn table(&self) -> String {
        fs::read_to_string(self.home().join("state/feeds.tsv")).unwrap()
    }

    /// The output of a verb, which must succeed.
    fn run(&self, args: &[&str]) -> String {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tidings"));
        let output = command.args(args).env("TIDINGS_HOME", self.home()).output().expect("it runs");
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{args:?}: {text}{}", String::from_utf8_lossy(&output.stderr));
        text
    }

    fn update(&self, args: &[&str]) -> Value {
        serde_json::from_str(&self.run(&[&["update", "--json"], args].concat())).unwrap()
    }

    /// Changes columns of the first rows of the table of feeds.
    fn edit(&self, rows: usize, columns: &[(&str, &str)]) {
        let text = self.table();
        let header: Vec<&str> = text.lines().next().unwrap().split('\t').collect();
        let edited = text.lines().enumerate().map(|(n, line)| {
            let mut fields: Vec<&str> = line.split('\t').collect();
            for (name, value) in columns.iter().filter(|_| (1..=rows).contains(&n)) {
                fields[header.iter().position(|column| column == name).unwrap()] = value;
            }
            fields.join("\t") + "\n"
        });
        fs::write(self.home().join("state/feeds.tsv"), edited.collect::<String>()).unwrap();
    }
}

#[test]
fn only_due_feeds_are_polled() {
    let corpus = Corpus::new(6);
    let first = corpus.update(&[]);
    assert_eq!((&first["due"], &first["polled"]["listed"]), (&6.into(), &6.into()));

    let text = corpus.run(&["update"]);
    assert!(text.contains("no feed is due") && text.contains("6 feeds are not due yet"), "{text}");
    assert!(text.contains("the next is due in"), "{text}");
    let second = corpus.update(&[]);
    assert_eq!((&second["done"], &second["due"], &second["requests"]), (&true.into(), &0.into(), &0.into()));

    let long_ago = "2020-01-01T00:00:00.000Z";
    corpus.edit(2, &[("due", long_ago), ("not_before", long_ago), ("checked", long_ago)]);
    let third = corpus.update(&[]);
    assert_eq!((&third["due"], &third["polled"]["unchanged"]), (&2.into(), &2.into()));
    assert_eq!(third["waiting"], 6);

    let all = corpus.update(&["--all"]);
    assert_eq!((&all["due"], &all["polled"]["unchanged"]), (&6.into(), &6.into()));
}

#[test]
fn a_table_from_before_the_schedule_is_polled_at_once() {
    let corpus = Corpus::new(3);
    corpus.update(&[]);
    let shorten = |line: &str| line.split('\t').take(14).collect::<Vec<_>>().join("\t") + "\n";
    let old: String = corpus.table().lines().map(shorten).collect();
    assert!(old.starts_with("feed\t") && !old.contains("\tdue"));
    fs::write(corpus.home().join("state/feeds.tsv"), old).unwrap();
    let again = corpus.update(&[]);
    assert_eq!((&again["due"], &again["polled"]["unchanged"]), (&3.into(), &3.into()));
}

#[test]
fn a_feed_that_is_not_due_keeps_its_entries_and_state() {
    let corpus = Corpus::new(2);
    corpus.update(&[]);
    let (plan, table) = (corpus.run(&["plan"]), corpus.table());
    corpus.update(&[]);
    assert_eq!((corpus.run(&["plan"]), corpus.table()), (plan, table));
}

#[test]
fn feeds_that_fail_for_long_are_listed_and_kept() {
    let corpus = Corpus::new(3);
    corpus.update(&[]);
    corpus.edit(1, &[("failures", "12"), ("error", "dns: no such host"), ("polled", "failed")]);
    let text = corpus.run(&["update"]);
    assert!(text.contains("1 feed has been failing for long:") && text.contains("12 times since"), "{text}");
    assert!(text.contains("dns: no such host"), "{text}");
    let answered = corpus.update(&["--all"]);
    assert_eq!((&answered["due"], answered["silent"].as_array().unwrap().len()), (&3.into(), 0));
}

#[test]
fn after_many_conditional_polls_a_feed_is_polled_unconditionally() {
    let corpus = Corpus::new(1);
    corpus.update(&[]);
    corpus.update(&["--all"]);
    corpus.edit(1, &[("conditional", "20")]);
    corpus.update(&["--all"]);
    let table = corpus.table();
    let column = table.lines().next().unwrap().split('\t').position(|name| name == "conditional").unwrap();
    assert_eq!(table.lines().nth(1).unwrap().split('\t').nth(column), Some("0"));
}

#[test]
fn a_feed_on_the_web_is_shown_and_a_private_one_only_if_allowed() {
    let corpus = Corpus::new(1);
    let url = corpus.web.feeds()[0].clone();
    let text = corpus.run(&["feed", &url]);
    assert!(text.contains("10 entries") && text.contains("language"), "{text}");
    let json: Value = serde_json::from_str(&corpus.run(&["feed", "--json", &url])).unwrap();
    assert_eq!(json["entries"].as_array().unwrap().len(), 10);

    let elsewhere = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_tidings"));
    let output = command.args(["feed", &url]).current_dir(&elsewhere).env_remove("TIDINGS_HOME").output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("not a public address"));
}

#[test]
fn the_filter_processes_a_line_before_the_next_one_arrives() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tidings"));
    let mut child =
        command.args(["feed", "--jsonl"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it runs");
    let mut questions = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    // <rss><channel><title>t</title></channel></rss>
    let body = "PHJzcz48Y2hhbm5lbD48dGl0bGU+dDwvdGl0bGU+PC9jaGFubmVsPjwvcnNzPg==";
    for id in 0..5 {
        writeln!(questions, r#"{{"id":{id},"url":"","content_type":null,"body_base64":"{body}"}}"#).unwrap();
        questions.flush().unwrap();
        let answer: Value = serde_json::from_str(&answers.next().unwrap().unwrap()).unwrap();
        assert_eq!((&answer["id"], &answer["title"], &answer["format"]), (&id.into(), &"t".into(), &"rss".into()));
    }
    drop(questions);
    assert!(answers.next().is_none() && child.wait().unwrap().success());
}
