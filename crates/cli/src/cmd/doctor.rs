//! `tidings doctor`: looks for what could go wrong before it does, and says what to do.

mod machine;
mod matter;

use std::fmt::Write as _;

use anyhow::Result;
use serde::Serialize;
use serde_json::json;
use tidings_store::Home;

use super::Report;
use crate::args::Global;
use tidings_pipeline::config::Config;
use tidings_pipeline::display::count;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit codes: 0 nothing found, 3 warnings only, 1 something that keeps Tidings from its work. Nothing is \
    changed: a file system is tried in a folder of its own that goes away again."
)]
pub struct Args {
    /// Also read everything that has checksums: the plan and all of the index
    #[arg(long)]
    thorough: bool,
    /// Also try to reach hosts of the feed list: names and connections, no requests
    #[arg(long)]
    network: bool,
}

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
enum Level {
    /// As it should be.
    Fine,
    /// It may go wrong.
    Warning,
    /// It does go wrong.
    Fault,
}

/// What was found.
#[derive(Debug, Clone, Serialize)]
struct Finding {
    level: Level,
    /// What was looked at.
    about: &'static str,
    /// What was seen.
    seen: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "String::is_empty")]
    remedy: String,
}

/// The findings so far.
#[derive(Default)]
struct Findings(Vec<Finding>);

impl Findings {
    fn fine(&mut self, about: &'static str, seen: impl Into<String>) {
        self.push(Level::Fine, about, seen.into(), String::new());
    }

    fn warn(&mut self, about: &'static str, seen: impl Into<String>, remedy: impl Into<String>) {
        self.push(Level::Warning, about, seen.into(), remedy.into());
    }

    fn fault(&mut self, about: &'static str, seen: impl Into<String>, remedy: impl Into<String>) {
        self.push(Level::Fault, about, seen.into(), remedy.into());
    }

    fn push(&mut self, level: Level, about: &'static str, seen: String, remedy: String) {
        self.0.push(Finding { level, about, seen, remedy });
    }

    fn number(&self, level: Level) -> u64 {
        self.0.iter().filter(|finding| finding.level == level).count() as u64
    }
}

/// What is looked at.
struct Patient<'a> {
    home: &'a Home,
    config: Config,
    args: &'a Args,
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let home = match &global.home {
        Some(root) => Home::at(root)?,
        None => Home::find(&std::env::current_dir()?)?,
    };
    let mut findings = Findings::default();
    findings.fine("home", home.root().display().to_string());
    let config = matter::settings(&home, &mut findings);
    let patient = Patient { home: &home, config, args };
    let looks: [fn(&Patient<'_>, &mut Findings) -> Result<()>; 12] = [
        matter::environment,
        matter::contact,
        matter::feeds,
        matter::plan,
        machine::file_system,
        machine::room,
        machine::limits,
        machine::clock,
        machine::permissions,
        machine::locks,
        matter::shelves,
        matter::index,
    ];
    for look in looks {
        // What stops one look is a finding like any other.
        if let Err(error) = look(&patient, &mut findings) {
            findings.fault("files", format!("{error:#}"), "");
        }
    }
    if args.network {
        matter::network(&patient, &mut findings);
    }
    Ok(report(findings))
}

fn report(findings: Findings) -> Report {
    let (faults, warnings) = (findings.number(Level::Fault), findings.number(Level::Warning));
    let mut text = String::new();
    for finding in &findings.0 {
        let word = match finding.level {
            Level::Fine => "ok",
            Level::Warning => "warning",
            Level::Fault => "FAULT",
        };
        let _ = writeln!(text, "{word:<8} {:<12} {}", finding.about, finding.seen);
        if !finding.remedy.is_empty() {
            let _ = writeln!(text, "{:<21} → {}", "", finding.remedy);
        }
    }
    let _ = match (faults, warnings) {
        (0, 0) => writeln!(text, "all is well"),
        _ => writeln!(text, "{}, {}", count(faults, "fault"), count(warnings, "warning")),
    };
    let json = json!({ "done": faults == 0, "faults": faults, "warnings": warnings, "findings": findings.0 });
    Report { text, json, failed: faults > 0, partly: warnings > 0 }
}
