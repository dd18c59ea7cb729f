//! Two machines that hand entries over to each other, without a network.

use std::path::Path;

use tidings_model::Status;

use super::outbox::for_tests;
use super::*;
use crate::Pipeline;
use crate::config::HarvestConfig;
use crate::testing::{context, home, plan_entries, planned};

/// The home of a machine in a harvest of `a` and `b`.
fn machine(name: &str, exchange: &Path) -> (tempfile::TempDir, Pipeline) {
    let (folder, pipeline) = home();
    let mut config = pipeline.config().clone();
    config.harvest = HarvestConfig {
        machine: name.into(),
        machines: vec!["a".into(), "b".into()],
        exchange: exchange.to_str().unwrap().into(),
    };
    (folder, pipeline.with_config(config))
}

fn part(pipeline: &Pipeline) -> (RunContext, HarvestPart) {
    let context = context(pipeline);
    let part = HarvestPart::open(&context).unwrap().unwrap();
    (context, part)
}

/// A URL of machine 1 and one of machine 2.
fn urls(part: &HarvestPart) -> [String; 2] {
    let owner = |url: &String| part.destination(url).unwrap_or(part.machines.this);
    [1, 2].map(|machine| (0..).map(|n| format!("https://site{n}.example/1")).find(|url| owner(url) == machine).unwrap())
}

fn statuses(pipeline: &Pipeline) -> Vec<(String, String)> {
    let mut rows: Vec<(String, String)> =
        planned(pipeline.home()).into_iter().map(|row| (row.0.to_string(), row.1.to_string())).collect();
    rows.sort();
    rows
}

fn files(folder: &Path) -> usize {
    tidings_storage::file::files_in(folder).unwrap().len()
}

#[test]
fn entries_of_another_machine_are_handed_over_once_and_taken_in_once() {
    let exchange = tempfile::tempdir().unwrap();
    let (_a, first) = machine("a", exchange.path());
    let (_b, second) = machine("b", exchange.path());
    let [own, foreign] = urls(&part(&first).1);
    plan_entries(first.home(), &[&own, &foreign]);
    let (context_a, part_a) = part(&first);
    assert_eq!(part_a.send(&context_a, &MovedFeeds::default()).unwrap(), 1);
    assert_eq!(part_a.send(&context_a, &MovedFeeds::default()).unwrap(), 0);
    drop(context_a);
    assert_eq!(files(&exchange.path().join("b")), 1);
    let rows = statuses(&first);
    assert!(rows.contains(&(own, "new".into())) && rows.contains(&(foreign.clone(), "moved-shard".into())), "{rows:?}");
    let (context_b, part_b) = part(&second);
    let received = part_b.receive(&context_b).unwrap();
    assert_eq!((received.entries, received.new_entries), (1, 1));
    assert_eq!(files(&exchange.path().join("b")), 0);
    drop(context_b);
    assert_eq!(statuses(&second), [(foreign.clone(), "new".into())]);
    // The same file arrives again.
    std::fs::write(exchange.path().join("b/a.again-0.jsonl.zst"), for_tests::entry(&foreign)).unwrap();
    let (context_b, part_b) = part(&second);
    assert_eq!(part_b.receive(&context_b).unwrap().new_entries, 0);
}

#[test]
fn a_file_that_is_not_complete_or_not_valid_stays_and_nothing_of_it_is_taken_in() {
    let exchange = tempfile::tempdir().unwrap();
    let (_b, second) = machine("b", exchange.path());
    let folder = exchange.path().join("b");
    std::fs::create_dir_all(&folder).unwrap();
    let whole = for_tests::entry("https://site.example/1");
    for bytes in [&whole[..whole.len() / 2], b"nonsense", &for_tests::entry("file:///etc/passwd")] {
        std::fs::write(folder.join("a.1-0.jsonl.zst"), bytes).unwrap();
        let (context, part) = part(&second);
        assert_eq!(part.receive(&context).unwrap(), outbox::Received::default());
        drop(context);
        assert!(statuses(&second).is_empty() && files(&folder) == 1);
    }
    std::fs::write(folder.join("a.1-0.jsonl.zst"), &whole).unwrap();
    let (context, part) = part(&second);
    assert_eq!(part.receive(&context).unwrap().new_entries, 1);
}

#[test]
fn an_entry_that_comes_back_after_the_table_has_changed_is_fetched_here() {
    let exchange = tempfile::tempdir().unwrap();
    let (_a, first) = machine("a", exchange.path());
    let [_, foreign] = urls(&part(&first).1);
    plan_entries(first.home(), &[&foreign]);
    let (context, sender) = part(&first);
    sender.send(&context, &MovedFeeds::default()).unwrap();
    drop(context);
    // From now on this machine has everything.
    let mut config = first.config().clone();
    config.harvest.machines = vec!["a 0-4095".into(), "b".into()];
    assert!(config.harvest.machines(Path::new("")).is_err());
    config.harvest.machines = vec!["a".into()];
    let first = first.with_config(config);
    std::fs::create_dir_all(exchange.path().join("a")).unwrap();
    std::fs::write(exchange.path().join("a/b.1-0.jsonl.zst"), for_tests::entry(&foreign)).unwrap();
    let (context, receiver) = part(&first);
    receiver.receive(&context).unwrap();
    drop(context);
    assert_eq!(statuses(&first), [(foreign, Status::New.to_string())]);
}

#[test]
fn a_domain_is_handed_over_durably_before_its_machine_is_told() {
    let exchange = tempfile::tempdir().unwrap();
    let (_a, first) = machine("a", exchange.path());
    let (_b, second) = machine("b", exchange.path());
    let (context, sender) = part(&first);
    let [own, _] = urls(&sender);
    let host = address::host(&own).unwrap().to_owned();
    plan_entries(first.home(), &[&own]);
    sender.map.hand_over(&host, 2);
    assert_eq!(sender.send(&context, &MovedFeeds::default()).unwrap(), 1);
    drop(context);
    let (context, again) = part(&first);
    assert!(!again.owns(&own));
    assert_eq!(again.save(&context).unwrap(), []);
    drop(context);
    let (context, receiver) = part(&second);
    assert!(!receiver.owns(&own));
    receiver.receive(&context).unwrap();
    drop(context);
    assert!(part(&second).1.owns(&own), "it stays there in later runs");
    assert_eq!(statuses(&second), [(own, "new".into())]);
}

#[test]
fn a_feed_that_has_moved_is_added_to_the_list_of_its_machine_with_its_labels() {
    let exchange = tempfile::tempdir().unwrap();
    let (_a, first) = machine("a", exchange.path());
    let (_b, second) = machine("b", exchange.path());
    let (context, sender) = part(&first);
    let [own, foreign] = urls(&sender);
    std::fs::write(first.home().feed_list(), format!("{own}\tlang=de\n")).unwrap();
    let moved = MovedFeeds::default();
    moved.lock().unwrap().push((own, foreign.clone()));
    sender.send(&context, &moved).unwrap();
    drop(context);
    for added in [1, 0] {
        let (context, receiver) = part(&second);
        assert_eq!(receiver.receive(&context).unwrap().feeds, added);
    }
    let list = std::fs::read_to_string(second.home().feed_list()).unwrap();
    assert!(list.ends_with(&format!("\n{foreign}\tlang=de\n")), "{list}");
}

#[test]
fn a_small_file_that_decompresses_to_more_than_the_limit_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.1-0.jsonl.zst");
    let lines = "{\"domain\":\"a.example\"}\n".repeat(1 << 16);
    let frame = tidings_store::FrameEncoder::new(3).encode(lines.as_bytes());
    let frames = (128 << 20) / lines.len() + 1;
    std::fs::write(&path, frame.repeat(frames)).unwrap();
    assert!(std::fs::metadata(&path).unwrap().len() < 1 << 20);
    let error = check_exchange_file(&path).unwrap_err().to_string();
    assert!(error.contains("more than 134217728 bytes"), "{error}");
    std::fs::write(&path, frame).unwrap();
    assert_eq!(check_exchange_file(&path).unwrap(), 1 << 16);
}
