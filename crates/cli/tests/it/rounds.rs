//! Rounds over weeks of simulated time: files of run logs, the cost of a round without work, the plan, kills and wrong
//! clocks.

use std::fs;
use std::process::Stdio;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, waitid};
use tidings_simweb::Spec;

use crate::support::Corpus;

const DAY: Duration = Duration::from_secs(86_400);

/// A home and the current time of its world.
struct World {
    corpus: Corpus,
    now: Timestamp,
}

impl World {
    fn begin() -> World {
        let spec = Spec {
            sites: 3,
            items_per_feed: 4,
            languages: vec!["en".into()],
            publish_every: Duration::from_secs(12 * 3600),
            story: DAY * 60,
            ..Spec::default()
        };
        let corpus = Corpus::with(spec, &[("delay_s", "0.002"), ("feed_delay_s", "0.002")]);
        let settings = corpus.home().join("tidings.toml");
        let text = fs::read_to_string(&settings).unwrap().replace("[store]\n", "[store]\nprune_after = 2\n");
        fs::write(&settings, text).unwrap();
        let now = corpus.web.now();
        World { corpus, now }
    }

    /// A round some time later.
    fn round_after(&mut self, pause: Duration) {
        self.corpus.web.advance(pause);
        self.now += pause;
        self.corpus.run_at(self.now, "run").ok();
    }

    /// The bytes and the system calls with which a round without work reads.
    fn idle_reads(&self) -> (u64, u64) {
        // The first round without work records that there is none.
        self.corpus.run_at(self.now + SignedDuration::from_secs(60), "run").ok();
        let mut command = self.corpus.command("run");
        command.env("TIDINGS_CLOCK", (self.now + SignedDuration::from_secs(120)).to_string());
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // The counters of a process can be read until it is waited for.
        let pid = Pid::from_child(&child);
        waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT).unwrap();
        let counters = fs::read_to_string(format!("/proc/{}/io", child.id())).unwrap();
        assert!(child.wait().unwrap().success());
        let counter = |name: &str| counters.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok());
        (counter("rchar:").unwrap(), counter("syscr:").unwrap())
    }

    fn run_files(&self) -> usize {
        self.corpus.files("runs", "").len()
    }
}

#[test]
fn forty_days_of_rounds_leave_a_file_a_day_and_a_round_without_work_costs_the_same() {
    const DAYS: usize = 40;
    let mut world = World::begin();
    world.round_after(DAY);
    world.round_after(DAY);
    let (first_bytes, first_calls) = world.idle_reads();
    for _ in 2..DAYS {
        world.round_after(DAY);
    }
    let (bytes, calls) = world.idle_reads();
    assert!(2 * bytes <= 3 * first_bytes, "bytes read: {first_bytes} on the second day, {bytes} on the last");
    assert!(2 * calls <= 3 * first_calls, "calls of read: {first_calls} on the second day, {calls} on the last");
    assert_eq!(world.run_files(), DAYS, "a file of logs for each day");
    let plans = world.corpus.files("history", "");
    assert!(plans.len() <= 12, "{plans:?}");
    world.corpus.run("audit").ok();
    world.corpus.run_at(world.now, "why --all --items").ok();
}

#[test]
fn rounds_of_one_day_share_a_file_and_find_what_changed() {
    let mut world = World::begin();
    for _ in 0..4 {
        world.round_after(Duration::from_secs(3600));
    }
    assert_eq!(world.run_files(), 1);
    assert_eq!(world.corpus.run_logs("run").len(), 4);
    world.idle_reads();
    // A file that vanishes is noticed by the next round, although nothing else changed.
    let pages = world.corpus.files("pages", ".jsonl.zst").remove(0);
    fs::remove_file(&pages).unwrap();
    let ran = world.corpus.run_at(world.now + SignedDuration::from_secs(600), "run").exits(1);
    assert!(ran.stderr.contains("is missing"), "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn a_round_prunes_the_plan_and_asks_for_no_page_again() {
    let mut world = World::begin();
    for _ in 0..12 {
        world.round_after(DAY);
    }
    let pages = world.corpus.pages().len();
    let plan = world.corpus.plan().len();
    assert!(plan < pages, "the plan has {plan} entries, {pages} pages are stored");
    assert!(!world.corpus.run_logs("prune").is_empty());
    world.corpus.asked_nothing_twice();
}

#[test]
fn a_kill_costs_about_a_second_of_requests() {
    const PAGES: u64 = 120;
    let spec = Spec { sites: 2, items_per_feed: PAGES as usize / 2, ..Spec::default() };
    let corpus = Corpus::with(spec, &[("delay_s", "0.1"), ("feed_delay_s", "0.01")]);
    corpus.run("update --all").ok();
    let mut running = corpus.start("fetch");
    // Less than the 5 seconds after which pages used to be acknowledged.
    running.until(|| corpus.web.politeness().pages >= PAGES / 2);
    running.signal(Signal::KILL);
    assert_eq!(running.wait().code, None);
    corpus.run("fetch").ok();
    assert_eq!(corpus.pages().len() as u64, PAGES);
    let twice = corpus.web.politeness().pages - PAGES;
    assert!(twice < PAGES / 3, "{twice} of {} pages were requested twice", PAGES / 2);
}

#[test]
fn a_round_under_a_clock_far_ahead_deletes_nothing_by_age_and_raises_an_alert() {
    let mut world = World::begin();
    for _ in 0..3 {
        world.round_after(DAY);
    }
    let (plan, history) = (world.corpus.plan().len(), world.corpus.files("history", "").len());
    let jump = DAY * 500;
    let right = world.now;
    world.corpus.web.advance(DAY);
    world.now += jump;
    world.corpus.run_at(world.now, "run").ok().says("the clock jumped 500 days ahead");
    // `store.runs_days` is 400.
    assert_eq!(world.run_files(), 4, "the logs of all days are kept");
    assert!(world.corpus.plan().len() >= plan);
    assert!(world.corpus.files("history", "").len() >= history);
    let report = world.corpus.run_at(world.now + SignedDuration::from_secs(60), "--json status").json();
    let alerts = report["alerts"].as_array().unwrap();
    let jumped = |alert: &&serde_json::Value| alert["rule"] == "clock-jump";
    assert!(
        alerts.iter().find(jumped).is_some_and(|alert| alert["text"].as_str().unwrap().contains("500 days")),
        "{report}"
    );

    // The clock is right again.
    world.now = right;
    world.round_after(DAY);
    assert_eq!(world.run_files(), 5);
}
