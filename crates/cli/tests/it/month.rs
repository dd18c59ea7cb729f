//! A simulated month, twice: undisturbed, and with outages, power failures, kills, full disks, wrong clocks, flipped bits and
//! an interrupted takedown, while a server answers. Both homes begin as homes of release 0.1.0; feeds, a backfill and a
//! crawl fill them. Both have the same corpus in the end.
//!
//! `TIDINGS_MONTH_SEED` chooses other moments and files, `TIDINGS_MONTH_DAYS` another length; every seed has to pass.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use fastrand::Rng;
use jiff::Timestamp;
use rustix::process::Signal;
use tidings_simweb::{Fault, HistoryAccess, Spec, TrendShape};

use crate::serve::Server;
use crate::support::{Corpus, Ran, copy_folder, program};

const DAY: Duration = Duration::from_secs(86_400);
/// The time from a disturbance to the round that makes up for it: hosts that failed are asked again after it.
const LATER: Duration = Duration::from_secs(6 * 3600);

/// What happens to the second home before the last round of a day.
#[derive(Debug, Clone, Copy)]
enum Disturbance {
    /// The power is cut at a durable operation of a round.
    PowerFailure,
    /// A round is killed at a point: after some requests, or when a stage has started to publish.
    Kill(u8),
    /// No file can grow further.
    FullDisk,
    /// No host can be reached during a round.
    Outage,
    /// A machine starts with a clock that is a year ahead, before its network is there.
    WrongClock,
    /// A bit of a derived file changes.
    FlippedBit,
}

const DISTURBANCES: [Disturbance; 9] = [
    Disturbance::PowerFailure,
    Disturbance::Kill(0),
    Disturbance::Outage,
    Disturbance::FullDisk,
    Disturbance::Kill(1),
    Disturbance::FlippedBit,
    Disturbance::WrongClock,
    Disturbance::Kill(2),
    Disturbance::Kill(3),
];

/// Folders of derived files whose bytes are checked, with the endings of these files.
const DERIVED: [(&str, &str); 6] = [
    ("docs/en", ".jsonl.zst"),
    ("seen/verdicts", ".jsonl.zst"),
    ("seen/pieces", ".pieces"),
    ("text/en", ".vert.zst"),
    ("index/en", ".segment"),
    ("index/en", ".lexicon"),
];

/// What a round says of a damaged file that the next one makes again.
const DAMAGE: [&str; 2] = ["its bytes have changed since it was written", "the next `tidings run` makes it again"];

fn number_from(variable: &str, usual: u64) -> u64 {
    let text = std::env::var(variable).ok();
    text.map_or(usual, |text| text.parse().unwrap_or_else(|_| panic!("{variable} takes a number, not {text:?}")))
}

/// Two homes that crawl the same web, and the current day of both.
struct Month {
    corpus: Corpus,
    random: Rng,
    day: Timestamp,
    /// The start of the day by the system clock: later processes see a later time.
    began: Instant,
    /// The part of the day that has passed without waiting.
    passed: Duration,
}

impl Month {
    fn begin(seed: u64, days: u64) -> Month {
        let spec = Spec {
            sites: 12,
            items_per_feed: 12,
            languages: vec!["en".into(), "en".into(), "fr".into()],
            publish_every: Duration::from_secs(5 * 3600),
            history: 10,
            histories: vec![HistoryAccess::Monthly, HistoryAccess::DatedPaths, HistoryAccess::Pagination],
            agency_percent: 8,
            full_text_percent: 0,
            // After the home of the first release was written.
            start: "2026-11-16T00:00:00Z".parse().expect("it is a time"),
            story: DAY * days as u32,
            ..Spec::default()
        };
        // A third of the sites has faults for ever.
        let faults = [Fault::NotFound, Fault::RobotsDisallow, Fault::Truncated, Fault::RedirectLoop];
        let spec = faults.into_iter().fold(spec, |spec, fault| spec.with_fault(fault, 1));
        // With so many simulated days per second, delays can be short.
        let corpus = Corpus::with(spec, &[("delay_s", "0.002"), ("feed_delay_s", "0.002")]);
        upgrade(&corpus.home());
        copy_folder(&corpus.home(), &corpus.beside("troubled"));
        let day = corpus.web.now();
        Month { corpus, random: Rng::with_seed(seed), day, began: Instant::now(), passed: Duration::ZERO }
    }

    fn next_day(&mut self) {
        self.corpus.web.advance(DAY);
        self.day += DAY;
        (self.began, self.passed) = (Instant::now(), Duration::ZERO);
    }

    fn now(&self) -> Timestamp {
        self.day + self.passed + self.began.elapsed()
    }

    fn quiet(&self) -> PathBuf {
        self.corpus.home()
    }

    fn troubled(&self) -> PathBuf {
        self.corpus.beside("troubled")
    }

    /// The program in one of the homes, on this day.
    fn command(&self, home: &Path, args: &str) -> Command {
        let mut command = program();
        command.args(args.split_whitespace()).env("TIDINGS_HOME", home).env("TIDINGS_CLOCK", self.now().to_string());
        command
    }

    fn run(&self, home: &Path, args: &str) -> Ran {
        self.corpus.launch(self.command(home, args)).wait()
    }

    /// Disturbs the second home before its day ends. Panics if the round was not disturbed.
    fn disturb(&mut self, disturbance: Disturbance) {
        match disturbance {
            Disturbance::PowerFailure => {
                let at = self.random.u64(1..=60);
                self.cut_power("run", at);
            }
            Disturbance::Kill(point) => {
                let requests = self.random.u64(1..=8);
                self.kill(point, requests);
            }
            Disturbance::FullDisk => {
                let blocks = self.random.u64(1..=90);
                self.fill_disk(blocks);
            }
            Disturbance::Outage => self.run_without_network("run", Duration::ZERO),
            Disturbance::WrongClock => self.run_without_network("run", DAY * 365),
            Disturbance::FlippedBit => self.flip_bit(),
        }
    }

    /// The power is cut at the durable operation of this number.
    fn cut_power(&self, args: &str, at: u64) {
        let mut command = self.command(&self.troubled(), args);
        command.env("TIDINGS_CRASH_AT", at.to_string());
        let ran = self.corpus.launch(command).wait();
        assert_eq!(ran.code, None, "{args} has fewer than {at} operations: {}{}", ran.stdout, ran.stderr);
    }

    fn kill(&self, point: u8, requests: u64) {
        let home = self.troubled();
        let before = self.corpus.web.politeness();
        let published = |folder: &str| count_files(&home.join(folder));
        let files = published("docs/recipes") + published("text");
        let mut running = self.corpus.launch(self.command(&home, "run"));
        running.until(|| match point {
            0 => self.corpus.web.politeness().feeds >= before.feeds + requests,
            1 => self.corpus.web.politeness().pages >= before.pages + requests,
            2 => home.join("plan.journal.zst").exists(),
            _ => published("docs/recipes") + published("text") > files,
        });
        running.signal(Signal::KILL);
        assert_eq!(running.wait().code, None, "it was killed");
    }

    /// Limits the size of files to simulate a full disk.
    fn fill_disk(&self, blocks: u64) {
        let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$T\" run");
        let mut command = Command::new("sh");
        command.args(["-c", &script]).env("T", env!("CARGO_BIN_EXE_tidings"));
        command.env("TIDINGS_HOME", self.troubled()).env("TIDINGS_CLOCK", self.now().to_string());
        let ran = self.corpus.launch(command).wait();
        assert_eq!(ran.code, Some(1), "nothing was larger than {blocks} blocks: {}{}", ran.stdout, ran.stderr);
    }

    /// Runs the program while no host can be reached, with a clock that is ahead.
    fn run_without_network(&mut self, args: &str, ahead: Duration) {
        self.corpus.web.set_down(true);
        let mut command = self.command(&self.troubled(), args);
        command.env("TIDINGS_CLOCK", (self.now() + ahead).to_string());
        let ran = self.corpus.launch(command).wait();
        self.corpus.web.set_down(false);
        ran.exits(1).says("the network seems to be down and nothing was recorded");
        self.passed += LATER;
    }

    /// Changes a bit of a derived file, which the next rounds over all days notice and make again.
    fn flip_bit(&mut self) {
        let (folder, ending) = DERIVED[self.random.usize(..DERIVED.len())];
        let mut files = Vec::new();
        list_files(&self.troubled().join(folder), &mut files);
        files.retain(|file| file.to_string_lossy().ends_with(ending));
        files.sort();
        // Nothing was made on the first days.
        let Some(file) = files.get(self.random.usize(..files.len().max(1))) else { return };
        let mut bytes = fs::read(file).unwrap();
        let at = self.random.usize(..bytes.len());
        bytes[at] ^= 1 << self.random.u8(..8);
        // As a disk does it: the file is not replaced, so that a server that has mapped it sees the change.
        fs::write(file, bytes).unwrap();
        let ran = self.run(&self.troubled(), "run --from clean");
        assert!(matches!(ran.code, Some(0 | 1 | 3)), "{:?}: {}", ran.code, ran.stderr);
        self.run(&self.troubled(), "run --from clean").ok();
    }

    /// Runs the last round of the day, and another one if it has found the damage of an earlier day.
    fn end_day(&self) {
        let ran = self.run(&self.troubled(), "run");
        match ran.code {
            Some(1 | 3) if DAMAGE.iter().any(|words| ran.stderr.contains(words)) => {
                self.run(&self.troubled(), "run").ok();
            }
            _ => _ = ran.ok(),
        }
    }

    /// Runs a command in both homes; in the second one it is killed after some requests and repeated.
    fn kill_and_repeat(&mut self, args: &str) {
        self.run(&self.quiet(), args).ok();
        let asked = self.corpus.web.requests().len() + self.random.usize(5..=20);
        let mut running = self.corpus.launch(self.command(&self.troubled(), args));
        running.until(|| self.corpus.web.requests().len() >= asked);
        running.signal(Signal::KILL);
        assert_eq!(running.wait().code, None, "it was killed");
        self.run(&self.troubled(), args).ok();
    }

    /// A crawl of the sites without faults from their front pages, in which the order of requests decides nothing.
    fn crawl(&self) -> String {
        let port = self.corpus.web.port();
        let fronts: Vec<String> =
            self.corpus.web.healthy_sites().map(|site| format!("http://{}:{port}/", site.address())).collect();
        format!("crawl {} --scope host --rule breadth-first --delay 0.002 --seed 1", fronts.join(" "))
    }

    /// Removes a page from both homes; from the second one after a power failure in the middle.
    fn take_down(&mut self) {
        let plan = self.run(&self.quiet(), "plan").ok().stdout;
        let stored: Vec<&str> = plan
            .lines()
            .filter(|line| line.split('\t').nth(1) == Some("ok"))
            .filter_map(|line| line.split('\t').nth(6))
            .collect();
        let removal = format!("remove {} --reason asked", stored[self.random.usize(..stored.len())]);
        self.run(&self.quiet(), &removal).ok();
        self.cut_power(&removal, 2);
        self.run(&self.troubled(), &removal).ok();
    }
}

/// Puts everything that release 0.1.0 had stored into a new home, apart from its settings and feeds.
fn upgrade(home: &Path) {
    let kept = ["tidings.toml", "feeds.txt"].map(|name| (name, fs::read(home.join(name)).unwrap()));
    fs::remove_dir_all(home).unwrap();
    copy_folder(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/formats/v1/home"), home);
    for (name, bytes) in kept {
        fs::write(home.join(name), bytes).unwrap();
    }
}

/// Asks a server again and again; returns the numbers of answers by status.
fn ask_until(server: &Server, ended: &AtomicBool) -> BTreeMap<u16, u64> {
    let mut statuses = BTreeMap::new();
    while !ended.load(Ordering::Relaxed) {
        for path in ["count?q=the", "query?q=the&size=20&sort=right", "timeline?q=the", "words?limit=10", "documents"] {
            *statuses.entry(server.get(&format!("/api/v1/en/{path}"), None).0).or_default() += 1;
        }
        std::thread::yield_now();
    }
    statuses
}

/// Ends the questions also if a check fails.
struct Ending<'a>(&'a AtomicBool);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn a_disturbed_month_gives_the_corpus_of_an_undisturbed_one() {
    let (seed, days) = (number_from("TIDINGS_MONTH_SEED", 1), number_from("TIDINGS_MONTH_DAYS", 30));
    let mut month = Month::begin(seed, days);
    let server =
        Server::listening(&month.corpus, month.corpus.launch(month.command(&month.troubled(), "serve --port 0")));
    let ended = AtomicBool::new(false);
    let statuses = std::thread::scope(|scope| {
        let questions = scope.spawn(|| ask_until(&server, &ended));
        let ending = Ending(&ended);
        let mut next: Vec<Disturbance> = Vec::new();
        for day in 0..days {
            month.next_day();
            // In the first home the text stages run on the last day only: the result must be the same.
            month.run(&month.quiet(), "update").ok();
            month.run(&month.quiet(), "fetch").ok();
            if next.is_empty() {
                next = DISTURBANCES.to_vec();
                month.random.shuffle(&mut next);
            }
            let disturbance = next.pop().expect("the list was just filled");
            println!("day {day}: {disturbance:?}");
            month.disturb(disturbance);
            month.end_day();
            if day == days / 5 {
                month.kill_and_repeat("crawl --archive");
            }
            if day == days / 3 {
                let crawl = month.crawl();
                month.kill_and_repeat(&crawl);
            }
            if day == days / 2 {
                month.take_down();
            }
        }
        drop(ending);
        questions.join().expect("every question has an answer")
    });
    println!("answers by status: {statuses:?}");
    // Without an index, for files that are damaged or replaced just now, and under load.
    assert!(statuses.keys().all(|status| matches!(status, 200 | 404 | 429 | 503)), "{statuses:?}");
    assert!(statuses.get(&200).is_some_and(|answers| *answers > days), "{statuses:?}");

    month.run(&month.quiet(), "run --from clean").ok();
    month.run(&month.troubled(), "run --from clean").ok();
    let digests = [month.quiet(), month.troubled()].map(|home| month.run(&home, "digest").ok().stdout);
    let tree = |home: &Path| month.run(home, "digest --tree").ok().stdout;
    assert!(
        digests[0] == digests[1] && !digests[0].is_empty(),
        "{digests:?}\n{}\n{}",
        tree(&month.quiet()),
        tree(&month.troubled())
    );
    let hits = server.json("/api/v1/en/count?q=the", None)["hits"].clone();
    assert_eq!(hits, month.run(&month.quiet(), "--json count the --lang en").ok().json()["hits"]);
    for home in [month.quiet(), month.troubled()] {
        month.run(&home, "audit").ok();
        month.run(&home, "why --all").ok();
        if days >= 30 {
            trends_are_found(&month, &home);
        }
    }
}

fn list_files(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.map(|entry| entry.unwrap().path()) {
        match path.is_dir() {
            true => list_files(&path, files),
            false => files.push(path),
        }
    }
}

fn count_files(folder: &Path) -> usize {
    let mut files = Vec::new();
    list_files(folder, &mut files);
    files.len()
}

/// Checks that planted rising and falling words are found and steady ones are not.
fn trends_are_found(month: &Month, home: &Path) {
    let ran = month.run(home, "trends --lang en --by day --min 20 --limit 500 --json").ok();
    let found: BTreeSet<String> = ran.json()["rows"]
        .as_array()
        .expect("a list of trends")
        .iter()
        .filter_map(|row| row["value"].as_str().map(str::to_lowercase))
        .collect();
    let truth = month.corpus.web.truth();
    for trend in truth.trends.iter().filter(|trend| trend.language == "en") {
        match trend.shape {
            TrendShape::Rise | TrendShape::Fall => {
                assert!(found.contains(trend.word), "{} was missed: {found:?}", trend.word)
            }
            TrendShape::Steady => assert!(!found.contains(trend.word), "{} does nothing", trend.word),
            _ => {}
        }
    }
}
