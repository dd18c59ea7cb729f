//! Init: makes a folder a home.

use std::fmt;
use std::path::PathBuf;

use anyhow::{Context as _, Result, ensure};
use serde::Serialize;
use tidings_store::{Home, plan};

use crate::config;
use crate::outcome::Outcome;

/// The feed list of a new home.
const FEEDS: &str = "# One feed address a line. What you know about a feed may follow, separated by tabs:
# https://example.org/feed.xml\ttopic=politics\tgenre=news\tcountry=gb\tlang=en
";

/// Options of a new home.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The folder; it is made if it does not exist.
    pub folder: PathBuf,
    /// A file with feed addresses to start with.
    pub feeds: Option<PathBuf>,
    /// A plan to start with.
    pub plan: Option<PathBuf>,
}

/// A folder that is a home now.
#[derive(Debug, Clone, Serialize)]
pub struct InitOutcome {
    /// Always true.
    pub done: bool,
    /// The folder.
    #[serde(serialize_with = "crate::outcome::serialize_path")]
    pub home: PathBuf,
    /// Files that were made.
    pub made: Vec<&'static str>,
}

impl Outcome for InitOutcome {}

impl fmt::Display for InitOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dir = self.home.display();
        if self.made.is_empty() {
            return writeln!(f, "{dir} is a home already; nothing was changed");
        }
        writeln!(f, "made a home in {dir} ({})", self.made.join(", "))?;
        writeln!(
            f,
            "next: set `contact` in {dir}/tidings.toml, put feed addresses into {dir}/feeds.txt, then `tidings update \
             --home {dir}`"
        )
    }
}

/// Makes a home. What is there already stays as it is.
pub fn run(options: &Options) -> Result<InitOutcome> {
    let feeds = match &options.feeds {
        Some(path) => std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?,
        None => FEEDS.to_owned(),
    };
    if let Some(file) = &options.plan {
        // Read once as a whole: a file that is no plan must not become one.
        plan::read_file(file, |_| {})?;
    }
    let made = Home::create(&options.folder, config::TEMPLATE, &feeds)?;
    if let Some(file) = &options.plan {
        let folder = options.folder.display();
        ensure!(made.contains(&"plan.tsv.zst"), "{folder} has a plan already; it was left alone");
        plan::adopt(&Home::at(&options.folder)?, file)
            .with_context(|| format!("cannot use {} as the plan of {folder}", file.display()))?;
    }
    Ok(InitOutcome { done: true, home: options.folder.clone(), made })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_home_is_made_once_and_keeps_its_plan() {
        let folder = tempfile::tempdir().unwrap();
        let plan_file = folder.path().join("plan.txt");
        let row = "0\tok\t1\t2026-03-01T00:00:00.000Z\t\thttp://e.org/feed\thttp://e.org/1\tOne\n";
        std::fs::write(&plan_file, row).unwrap();
        let options = Options { folder: folder.path().join("home"), feeds: None, plan: Some(plan_file) };
        let first = run(&options).unwrap();
        assert!(first.to_string().starts_with("made a home in ") && first.made.contains(&"tidings.toml"));
        let mut entries = 0;
        plan::read(&Home::at(&options.folder).unwrap(), |_| entries += 1).unwrap();
        assert_eq!(entries, 1);
        assert!(run(&options).unwrap_err().to_string().contains("has a plan already"));
        let again = run(&Options { plan: None, ..options }).unwrap();
        assert!(again.to_string().ends_with("is a home already; nothing was changed\n"));
    }

    #[test]
    fn a_file_that_is_no_plan_makes_no_home() {
        let folder = tempfile::tempdir().unwrap();
        let plan = folder.path().join("plan.txt");
        std::fs::write(&plan, "this is no plan\n").unwrap();
        let options = Options { folder: folder.path().join("home"), feeds: None, plan: Some(plan) };
        assert!(run(&options).is_err());
        assert!(!options.folder.exists());
    }

    #[test]
    fn feeds_to_start_with_become_the_list_and_an_absent_file_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let feeds = folder.path().join("mine.txt");
        let options = Options { folder: folder.path().join("home"), feeds: Some(feeds.clone()), plan: None };
        assert!(run(&options).unwrap_err().to_string().contains("mine.txt"));
        std::fs::write(&feeds, "https://e.org/feed\n").unwrap();
        run(&options).unwrap();
        assert_eq!(std::fs::read_to_string(options.folder.join("feeds.txt")).unwrap(), "https://e.org/feed\n");
    }
}
