//! One round through all stages, and the record of it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, bail};
use clap::Parser as _;
use jiff::Timestamp;
use serde_json::{Map, Value, json};
use tidings_model::clock;
use tidings_store::runs::RunLog;
use tidings_store::{Error, Home, rfc3339};

use super::Args;
use crate::args::Global;
use crate::cmd::Report;
use crate::config::{Config, RunConfig};
use crate::console::{self, count, span};
use crate::session::unused_name;
use crate::signals;

/// The stages, in their order.
pub const STAGES: [&str; 6] = ["update", "fetch", "clean", "dedup", "annotate", "compile"];

/// How often we look whether somebody's verb has left the home.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// A report is written again when it is this old.
const REPORT_AGE: Duration = Duration::from_secs(24 * 3600);
/// The least time for a stage: one that gets none would never say so.
const LEAST: Duration = Duration::from_secs(1);

/// What `run` says about itself while it goes on.
pub type Say<'a> = &'a dyn Fn(&str);

/// One round.
pub struct Round<'a> {
    home: &'a Home,
    global: &'a Global,
    stages: &'static [&'static str],
    settings: RunConfig,
    total: Duration,
    started: Timestamp,
    began: Instant,
}

impl<'a> Round<'a> {
    pub fn begin(args: &Args, home: &'a Home, global: &'a Global) -> Result<Round<'a>> {
        let settings = Config::load(&home.settings(), &|name| std::env::var(name).ok())?.run;
        let is_first = |from: &String| STAGES.iter().position(|stage| stage == from);
        let first = args.from.as_ref().and_then(is_first).unwrap_or(0);
        let total = args.time_limit.unwrap_or(settings.total.0);
        let (started, began) = (clock::now(), Instant::now());
        Ok(Round { home, global, stages: &STAGES[first..], settings, total, started, began })
    }

    /// Goes through the stages; says which one before each.
    pub fn go(self, say: Say<'_>) -> Result<Report> {
        let mut stages = Map::new();
        let (mut failed, mut partly) = (false, false);
        for stage in self.stages {
            if let Some(name) = signals::asked_to_end() {
                log::info!("{stage} and what follows is left for a later run, stopped by {name}");
                failed = true;
                break;
            }
            say(stage);
            let began = Instant::now();
            let report = self.stage(stage).unwrap_or_else(|error| {
                log::error!("{stage}: {error:#}");
                let json = json!({ "done": false, "error": format!("{error:#}") });
                Report { json, failed: true, ..Report::default() }
            });
            if !self.global.json {
                let lines = report.text.lines().map(|line| format!("{stage:<9} {line}\n"));
                console::print(&lines.collect::<String>());
            }
            failed |= report.failed;
            partly |= report.partly;
            let mut json = report.json;
            json["seconds"] = json!(began.elapsed().as_secs_f64());
            stages.insert((*stage).to_owned(), json);
        }
        if self.settings.report && !self.has_fresh_report() && signals::asked_to_end().is_none() {
            say("report");
            let told = self.call(&["report"]).map_err(|error| log::error!("report: {error:#}"));
            failed |= told.is_err();
        }
        let text = self.sum(&stages, failed);
        let json = Value::Object(stages);
        if let Err(error) = self.record(&json, failed) {
            log::error!("the record of this run cannot be written: {error:#}");
            failed = true;
        }
        Ok(Report { text, json, failed, partly })
    }

    /// The line that a person can quote.
    fn sum(&self, stages: &Map<String, Value>, failed: bool) -> String {
        let number = |stage: &str, name: &str| stages.get(stage).and_then(|said| said[name].as_u64()).unwrap_or(0);
        let failed = if failed { ", not all of it was done" } else { "" };
        format!(
            "{:<9} {} fetched, {} made, {} searchable{failed}, {}\n",
            "run",
            count(number("fetch", "fetched"), "page"),
            count(number("clean", "documents"), "document"),
            count(number("compile", "tokens_added"), "new token"),
            span(self.began.elapsed()),
        )
    }

    /// Runs a stage in its time. One that breaks down is a failure of that stage.
    fn stage(&self, stage: &'static str) -> Result<Report> {
        self.await_home()?;
        let limit = format!("{}s", self.time_for(stage).as_secs_f64());
        self.call(&[stage, "--time-limit", &limit])
    }

    /// Runs a verb in the home, as if it were typed.
    fn call(&self, words: &[&str]) -> Result<Report> {
        let words = [&["tidings", "--home", path_text(self.home.root())?], words].concat();
        let args = crate::args::Args::try_parse_from(words)?;
        catch_unwind(AssertUnwindSafe(|| crate::run(args)))
            .unwrap_or_else(|_| Err(anyhow!("it broke down; this is a mistake in Tidings, please report it")))
    }

    /// Whether there is a report that is not a day old.
    fn has_fresh_report(&self) -> bool {
        let written = std::fs::metadata(self.home.root().join("report.html")).and_then(|meta| meta.modified());
        written.is_ok_and(|at| at.elapsed().is_ok_and(|age| age < REPORT_AGE))
    }

    /// The time of a stage: its own, or what is left of all; 0 is no limit.
    fn time_for(&self, stage: &str) -> Duration {
        let settings = &self.settings;
        let own = match stage {
            "update" => settings.update,
            "fetch" => settings.fetch,
            "clean" => settings.clean,
            "dedup" => settings.dedup,
            "annotate" => settings.annotate,
            _ => settings.compile,
        };
        allowance(own.0, self.total, self.began.elapsed())
    }

    /// Waits while somebody's own verb has the home; only the time for all stages bounds that.
    fn await_home(&self) -> Result<()> {
        let mut told = false;
        loop {
            match self.home.lock() {
                // The stage takes it for itself.
                Ok(_) => return Ok(()),
                Err(Error::Locked { .. }) if !told => {
                    log::info!("another command is at work in the home; waiting for it");
                    told = true;
                }
                Err(Error::Locked { .. }) => {}
                Err(error) => return Err(error.into()),
            }
            if !self.total.is_zero() && self.began.elapsed() >= self.total {
                bail!("another command had the home for all of the time; what it left is done by a later run");
            }
            if signals::wait(LOOK_EVERY) {
                bail!("another command has the home");
            }
        }
    }

    /// Writes down what became of the round.
    fn record(&self, stages: &Value, failed: bool) -> Result<()> {
        let _lock = self.home.lock()?;
        let mut log = RunLog::create(self.home, &unused_name(self.home, self.started, "run")?)?;
        log.push(&json!({ "began": rfc3339(self.started) }))?;
        log.push(&json!({
            "summary": { "done": !failed, "stages": stages, "seconds": self.began.elapsed().as_secs_f64() }
        }))?;
        log.publish()?;
        Ok(())
    }
}

fn path_text(path: &Path) -> Result<&str> {
    path.to_str().ok_or_else(|| anyhow!("the path {} is not UTF-8 text; move the home", path.display()))
}

/// The smaller of two times, of which 0 is no limit, the second counting from the beginning of the round.
fn allowance(own: Duration, total: Duration, gone: Duration) -> Duration {
    let left = (!total.is_zero()).then(|| total.saturating_sub(gone).max(LEAST));
    match (own.is_zero(), left) {
        (_, None) => own,
        (true, Some(left)) => left,
        (false, Some(left)) => own.min(left),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stage_has_its_own_time_and_no_more_than_is_left_of_all() {
        let s = Duration::from_secs;
        assert_eq!(allowance(s(600), s(0), s(5000)), s(600));
        assert_eq!(allowance(s(0), s(0), s(5000)), s(0));
        assert_eq!(allowance(s(600), s(3600), s(600)), s(600));
        assert_eq!(allowance(s(600), s(3600), s(3300)), s(300));
        assert_eq!(allowance(s(0), s(3600), s(3300)), s(300));
        assert_eq!(allowance(s(600), s(3600), s(9000)), LEAST);
    }
}
