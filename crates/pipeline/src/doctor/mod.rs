//! Doctor: checks a home and its machine for problems, with remedies.

mod contents;
mod machine;

use std::fmt;

use anyhow::Result;
use serde::Serialize;
use tidings_store::Home;

use crate::config::Config;
use crate::display::count;
use crate::outcome::{Outcome, Status};

/// Options of an examination.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// Also verify all checksums: the plan and the whole index.
    pub thorough: bool,
    /// Also connect to hosts of the feed list (DNS and TCP, no requests).
    pub network: bool,
    /// Restore a damaged plan and the list of pruned pages, and delete remembered times in the future, which come from a clock that was ahead.
    pub repair: bool,
}

/// The severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// As it should be.
    Fine,
    /// A possible problem.
    Warning,
    /// A problem.
    Fault,
}

/// The result of a check.
#[derive(Debug, Clone, Serialize)]
pub struct Finding {
    /// The severity.
    pub level: Level,
    /// The subject.
    pub about: &'static str,
    /// The observation.
    pub seen: String,
    /// The remedy.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub remedy: String,
}

/// The findings of all checks.
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

/// The outcome of an examination.
#[derive(Debug, Clone, Default, Serialize)]
pub struct DoctorOutcome {
    /// Whether there are no faults.
    pub done: bool,
    /// Findings that keep Tidings from its work.
    pub faults: u64,
    /// Number of warnings.
    pub warnings: u64,
    /// All findings.
    pub findings: Vec<Finding>,
}

impl Outcome for DoctorOutcome {
    fn status(&self) -> Status {
        match (self.faults, self.warnings) {
            (0, 0) => Status::Done,
            (0, _) => Status::Partly,
            _ => Status::NotDone,
        }
    }
}

impl fmt::Display for DoctorOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for finding in &self.findings {
            let word = match finding.level {
                Level::Fine => "ok",
                Level::Warning => "warning",
                Level::Fault => "FAULT",
            };
            writeln!(f, "{word:<8} {:<12} {}", finding.about, finding.seen)?;
            if !finding.remedy.is_empty() {
                writeln!(f, "{:<21} → {}", "", finding.remedy)?;
            }
        }
        match (self.faults, self.warnings) {
            (0, 0) => writeln!(f, "no problems found"),
            (faults, warnings) => writeln!(f, "{}, {}", count(faults, "fault"), count(warnings, "warning")),
        }
    }
}

/// The home that is examined.
struct Subject<'a> {
    home: &'a Home,
    config: Config,
    options: Options,
}

/// Checks a home. Its settings may be invalid, so that no pipeline can be opened on it.
pub fn run(home: &Home, options: Options) -> Result<DoctorOutcome> {
    let mut findings = Findings::default();
    findings.fine("home", home.root().display().to_string());
    let config = contents::settings(home, &mut findings);
    let subject = Subject { home, config, options };
    let checks: &[fn(&Subject<'_>, &mut Findings) -> Result<()>] = &[
        contents::environment,
        contents::contact,
        contents::feeds,
        contents::plan,
        contents::fetched_pages,
        machine::file_system,
        machine::disk_space,
        machine::limits,
        machine::clock,
        machine::permissions,
        machine::locks,
        contents::pages_and_documents,
        contents::fingerprints,
        contents::index,
        contents::upgrade,
    ];
    for check in checks {
        // An error that stops a check is a finding too.
        if let Err(error) = check(&subject, &mut findings) {
            findings.fault("files", format!("{error:#}"), "");
        }
    }
    if options.network {
        contents::network(&subject, &mut findings);
    }
    Ok(findings.outcome())
}

impl Findings {
    fn outcome(self) -> DoctorOutcome {
        let (faults, warnings) = (self.number(Level::Fault), self.number(Level::Warning));
        DoctorOutcome { done: faults == 0, faults, warnings, findings: self.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_home;

    #[test]
    fn findings_are_lines_with_their_remedies() {
        let mut findings = Findings::default();
        findings.fine("home", "/news");
        findings.warn("disk", "1 GB free", "free some");
        let outcome = findings.outcome();
        assert_eq!(outcome.status(), Status::Partly);
        let remedy = format!("{:<21} → free some", "");
        let text =
            format!("ok       home         /news\nwarning  disk         1 GB free\n{remedy}\n0 faults, 1 warning\n");
        assert_eq!(outcome.to_string(), text);
    }

    #[test]
    fn a_new_home_has_no_faults_but_warnings() {
        let folder = tempfile::tempdir().unwrap();
        let pipeline = crate::Pipeline::create(folder.path()).unwrap();
        let outcome = run(pipeline.home(), Options::default()).unwrap();
        let about = |about: &str| outcome.findings.iter().find(|finding| finding.about == about).unwrap().level;
        assert_eq!((about("settings"), about("plan"), about("feeds")), (Level::Fine, Level::Fine, Level::Warning));
    }

    fn findings(home: &Home, about: &str, thorough: bool) -> Vec<Finding> {
        let outcome = run(home, Options { thorough, ..Options::default() }).unwrap();
        outcome.findings.into_iter().filter(|finding| finding.about == about).collect()
    }

    #[test]
    fn a_built_home_has_documents_of_this_version_and_a_sound_index() {
        let (_folder, pipeline) = test_home::built();
        for about in ["pages", "documents", "index", "upgrade", "plan"] {
            for thorough in [false, true] {
                let found = findings(pipeline.home(), about, thorough);
                assert_eq!(found.iter().map(|finding| finding.level).collect::<Vec<_>>(), [Level::Fine], "{about}");
            }
        }
    }

    #[test]
    fn broken_settings_are_a_fault_and_the_rest_is_examined() {
        let (_folder, pipeline) = test_home::built();
        std::fs::write(pipeline.home().settings(), "[fetch]\nconcurency = 1\n").unwrap();
        let found = findings(pipeline.home(), "settings", false);
        assert!(found[0].level == Level::Fault && found[0].seen.contains("did you mean"), "{}", found[0].seen);
        assert_eq!(findings(pipeline.home(), "pages", false)[0].level, Level::Fine);
    }

    #[test]
    fn a_damaged_file_of_pages_is_a_fault_with_the_backup_as_remedy() {
        let (_folder, pipeline) = test_home::built();
        std::fs::write(pipeline.home().root().join("pages/2026-03-02/a.0.jsonl.zst"), "damaged").unwrap();
        let found = findings(pipeline.home(), "pages", false);
        assert!(found[0].level == Level::Fault && found[0].remedy.contains("backup"), "{found:?}");
    }

    #[test]
    fn a_damaged_index_is_a_fault_that_names_its_language() {
        let (_folder, pipeline) = test_home::built();
        let index = pipeline.home().index_of("de");
        for (name, mut bytes) in test_home::files_of(&index) {
            if let Some(byte) = bytes.last_mut() {
                *byte ^= 0xff;
            }
            std::fs::write(index.join(name), bytes).unwrap();
        }
        let found = findings(pipeline.home(), "index", true);
        let fault = found.iter().find(|finding| finding.level == Level::Fault).unwrap();
        assert!(fault.remedy.contains("index/de"), "{fault:?}");
    }

    #[test]
    fn a_damaged_plan_is_a_fault_and_so_is_the_whole_outcome() {
        let (_folder, pipeline) = test_home::built();
        std::fs::write(pipeline.home().root().join("plan.tsv.zst"), "damaged").unwrap();
        let outcome = run(pipeline.home(), Options::default()).unwrap();
        assert_eq!((outcome.done, outcome.status()), (false, Status::NotDone));
        assert!(outcome.findings.iter().any(|finding| finding.about == "plan" && finding.level == Level::Fault));
    }

    #[test]
    fn invalid_lines_of_the_feed_list_are_a_warning_with_their_number() {
        let (_folder, pipeline) = test_home::empty();
        std::fs::write(pipeline.home().root().join("feeds.txt"), "https://e.org/feed\nno address\nnone\n").unwrap();
        let found = findings(pipeline.home(), "feeds", false);
        assert_eq!((found[0].seen.as_str(), found[1].level), ("1 feed", Level::Warning));
        assert!(found[1].seen.starts_with("line 2: ") && found[1].seen.ends_with("and 1 more"), "{}", found[1].seen);
    }
}
