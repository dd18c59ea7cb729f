//! Thirty days of a simulated world, twice: once in peace, once with power cuts, kills and a disk that fills up.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use rustix::process::Signal;
use tidings_simweb::{Fault, Shape, Spec};

use crate::support::{Corpus, Ran, copy_folder, program};

const DAYS: u64 = 30;
const DAY: Duration = Duration::from_secs(86_400);

/// Two homes that harvest the same web, and the day that it is for both.
struct Month {
    corpus: Corpus,
    day: Timestamp,
    /// When the day began by our own clock: whoever starts later sees a later time.
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
            story: DAY * DAYS as u32,
            ..Spec::default()
        };
        let spec = spec.with_fault(Fault::NotFound, 1).with_fault(Fault::RobotsDisallow, 1);
        // At so many of the web's days to a second of ours, a pause need not be long.
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

    /// What happens to the troubled home before its day is brought to an end.
    fn disturb(&self, day: u64) {
        let home = self.troubled();
        let chance = fastrand::Rng::with_seed(day).u64(..);
        match day % 4 {
            0 => {
                let mut command = self.command(&home, "run");
                command.env("TIDINGS_CRASH_AT", (1 + chance % 60).to_string());
                self.corpus.launch(command).wait();
            }
            1 => {
                let running = self.corpus.launch(self.command(&home, "run"));
                std::thread::sleep(Duration::from_millis(chance % 900));
                let _ = std::panic::catch_unwind(|| running.signal(Signal::KILL));
                running.wait();
            }
            2 => {
                // No file may grow beyond some kilobytes: what a full disk does, without one to fill.
                let script = format!("trap '' XFSZ; ulimit -f {}; exec \"$T\" run", 1 + chance % 90);
                let mut command = Command::new("sh");
                command.args(["-c", &script]).env("T", env!("CARGO_BIN_EXE_tidings"));
                command.env("TIDINGS_HOME", &home).env("TIDINGS_CLOCK", self.clock());
                self.corpus.launch(command).wait();
            }
            _ => {}
        }
    }
}

#[test]
fn thirty_days_of_trouble_end_in_the_corpus_of_thirty_quiet_days() {
    let mut month = Month::begin();
    for day in 0..DAYS {
        month.next_day();
        // In the quiet home the texts wait for the last day: it must not matter when they are made.
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

/// What was planted to rise or fall is found; what was planted to stay the same is not.
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
            Shape::Rise | Shape::Fall => assert!(found.contains(trend.word), "{} was missed: {found:?}", trend.word),
            Shape::Steady => assert!(!found.contains(trend.word), "{} does nothing", trend.word),
            _ => {}
        }
    }
}
