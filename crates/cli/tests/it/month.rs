//! Thirty simulated days, twice: without problems, and with power failures, kills and a full disk.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use rustix::process::Signal;
use tidings_simweb::{Fault, Spec, TrendShape};

use crate::support::{Corpus, Ran, copy_folder, program};

const DAYS: u64 = 30;
const DAY: Duration = Duration::from_secs(86_400);

/// Two homes that crawl the same web, and the current day of both.
struct Month {
    corpus: Corpus,
    day: Timestamp,
    /// The start of the day by the system clock: later processes see a later time.
    began: Instant,
}

impl Month {
    fn begin() -> Month {
        let spec = Spec {
            sites: 10,
            items_per_feed: 12,
            languages: vec!["en".into(), "en".into(), "fr".into()],
            publish_every: Duration::from_secs(5 * 3600),
            agency_percent: 8,
            full_text_percent: 0,
            story: DAY * DAYS as u32,
            ..Spec::default()
        };
        let spec = spec.with_fault(Fault::NotFound, 1).with_fault(Fault::RobotsDisallow, 1);
        // With so many simulated days per second, delays can be short.
        let corpus = Corpus::with(spec, &[("delay_s", "0.002"), ("feed_delay_s", "0.002")]);
        copy_folder(&corpus.home(), &corpus.beside("troubled"));
        let day = corpus.web.now();
        Month { corpus, day, began: Instant::now() }
    }

    fn next_day(&mut self) {
        self.corpus.web.advance(DAY);
        self.day += DAY;
        self.began = Instant::now();
    }

    fn clock(&self) -> String {
        (self.day + self.began.elapsed()).to_string()
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
        command.args(args.split_whitespace()).env("TIDINGS_HOME", home).env("TIDINGS_CLOCK", self.clock());
        command
    }

    fn run(&self, home: &Path, args: &str) -> Ran {
        self.corpus.launch(self.command(home, args)).wait()
    }

    /// Disturbs the second home before its day ends. Panics if the run was not disturbed.
    fn disturb(&self, day: u64) {
        let chance = fastrand::Rng::with_seed(day).u64(..);
        match day % 4 {
            0 => self.cut_power(1 + chance % 60),
            1 => self.kill(day / 4 % 4, 1 + chance % 8),
            2 => self.fill_disk(1 + chance % 90),
            _ => {}
        }
    }

    /// The power is cut at the move of this number.
    fn cut_power(&self, at: u64) {
        let mut command = self.command(&self.troubled(), "run");
        command.env("TIDINGS_CRASH_AT", at.to_string());
        let ran = self.corpus.launch(command).wait();
        assert_eq!(ran.code, None, "a run of fewer than {at} moves: {}{}", ran.stdout, ran.stderr);
    }

    /// Kills the run at a point: after some requests, or when a stage has started to publish.
    fn kill(&self, point: u64, requests: u64) {
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
        command.env("TIDINGS_HOME", self.troubled()).env("TIDINGS_CLOCK", self.clock());
        let ran = self.corpus.launch(command).wait();
        assert_eq!(ran.code, Some(1), "nothing was larger than {blocks} blocks: {}{}", ran.stdout, ran.stderr);
    }
}

#[test]
fn thirty_disturbed_days_give_the_corpus_of_thirty_undisturbed_ones() {
    let mut month = Month::begin();
    for day in 0..DAYS {
        month.next_day();
        // In the first home the text stages run on the last day only: the result must be the same.
        month.run(&month.quiet(), "update").ok();
        month.run(&month.quiet(), "fetch").ok();
        month.disturb(day);
        month.run(&month.troubled(), "run").ok();
    }
    month.run(&month.quiet(), "run --from clean").ok();
    let digests = [month.quiet(), month.troubled()].map(|home| month.run(&home, "digest").ok().stdout);
    let tree = |home: &Path| month.run(home, "digest --tree").ok().stdout;
    assert!(
        digests[0] == digests[1] && !digests[0].is_empty(),
        "{digests:?}\n{}\n{}",
        tree(&month.quiet()),
        tree(&month.troubled())
    );
    for home in [month.quiet(), month.troubled()] {
        month.run(&home, "audit").ok();
        trends_are_found(&month, &home);
    }
}

fn count_files(folder: &Path) -> usize {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    entries.map(|entry| entry.unwrap().path()).map(|path| if path.is_dir() { count_files(&path) } else { 1 }).sum()
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
