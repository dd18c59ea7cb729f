//! Init: makes a folder a home.

use std::fmt;
use std::path::PathBuf;

use anyhow::{Context as _, Result, ensure};
use serde::Serialize;
use tidings_store::{Home, plan};

use crate::config;
use crate::outcome::Outcome;

/// The feed list of a new home.
const FEEDS: &str = "# One feed URL per line. Metadata of the feed may follow, separated by tabs:
# https://example.org/feed.xml\ttopic=politics\tgenre=news\tcountry=gb\tlang=en
";

/// Options of a new home.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The folder; created if it does not exist.
    pub folder: PathBuf,
    /// A file with feed addresses to start with.
    pub feeds: Option<PathBuf>,
    /// A plan to start with.
    pub plan: Option<PathBuf>,
    /// The contact of the operator, `fetch.contact` of the settings.
    pub contact: Option<String>,
}

/// A folder that is a home now.
#[derive(Debug, Clone, Serialize)]
pub struct InitOutcome {
    /// Always true.
    pub done: bool,
    /// The folder.
    #[serde(serialize_with = "crate::outcome::serialize_path")]
    pub home: PathBuf,
    /// Files that were created.
    pub made: Vec<&'static str>,
}

impl Outcome for InitOutcome {}

impl fmt::Display for InitOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dir = self.home.display();
        if self.made.is_empty() {
            return writeln!(f, "{dir} is already a home; nothing was changed");
        }
        writeln!(f, "created a home in {dir} ({})", self.made.join(", "))?;
        writeln!(
            f,
            "next: set `contact` in {dir}/tidings.toml, add feeds with `tidings discover --home {dir} --add URL`, then run \
             `tidings run --home {dir}`"
        )
    }
}

/// Creates a home. Existing files stay unchanged.
pub fn run(options: &Options) -> Result<InitOutcome> {
    let feeds = match &options.feeds {
        Some(path) => std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?,
        None => FEEDS.to_owned(),
    };
    if let Some(file) = &options.plan {
        // Reads the whole file first: an invalid plan must not be installed.
        plan::read_file(file, |_| {})?;
    }
    let made = Home::create(&options.folder, &settings(options.contact.as_deref()), &feeds)?;
    if let Some(file) = &options.plan {
        let folder = options.folder.display();
        ensure!(made.contains(&"plan.tsv.zst"), "{folder} already has a plan; it was not changed");
        plan::adopt(&Home::at(&options.folder)?, file)
            .with_context(|| format!("cannot use {} as the plan of {folder}", file.display()))?;
    }
    Ok(InitOutcome { done: true, home: options.folder.clone(), made })
}

/// The settings of a new home.
fn settings(contact: Option<&str>) -> String {
    match contact {
        // A JSON string is a TOML string.
        Some(contact) => {
            let line = format!("contact = {}", serde_json::Value::from(contact));
            config::TEMPLATE.replacen("#contact = \"\"", &line, 1)
        }
        None => config::TEMPLATE.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_home_is_created_once_and_keeps_its_plan() {
        let folder = tempfile::tempdir().unwrap();
        let plan_file = folder.path().join("plan.txt");
        let row = "0\tok\t1\t2026-03-01T00:00:00.000Z\t\thttp://e.org/feed\thttp://e.org/1\tOne\n";
        std::fs::write(&plan_file, row).unwrap();
        let options = Options { folder: folder.path().join("home"), feeds: None, plan: Some(plan_file), contact: None };
        let first = run(&options).unwrap();
        assert!(first.to_string().starts_with("created a home in ") && first.made.contains(&"tidings.toml"));
        let mut entries = 0;
        plan::read(&Home::at(&options.folder).unwrap(), |_| entries += 1).unwrap();
        assert_eq!(entries, 1);
        assert!(run(&options).unwrap_err().to_string().contains("already has a plan"));
        let again = run(&Options { plan: None, ..options }).unwrap();
        assert!(again.to_string().ends_with("is already a home; nothing was changed\n"));
    }

    #[test]
    fn an_invalid_plan_file_creates_no_home() {
        let folder = tempfile::tempdir().unwrap();
        let plan = folder.path().join("plan.txt");
        std::fs::write(&plan, "this is no plan\n").unwrap();
        let options = Options { folder: folder.path().join("home"), feeds: None, plan: Some(plan), contact: None };
        assert!(run(&options).is_err());
        assert!(!options.folder.exists());
    }

    #[test]
    fn given_feeds_become_the_feed_list_and_a_missing_file_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let feeds = folder.path().join("mine.txt");
        let options =
            Options { folder: folder.path().join("home"), feeds: Some(feeds.clone()), plan: None, contact: None };
        assert!(run(&options).unwrap_err().to_string().contains("mine.txt"));
        std::fs::write(&feeds, "https://e.org/feed\n").unwrap();
        run(&options).unwrap();
        assert_eq!(std::fs::read_to_string(options.folder.join("feeds.txt")).unwrap(), "https://e.org/feed\n");
    }

    #[test]
    fn a_contact_is_part_of_the_settings_of_a_new_home() {
        let folder = tempfile::tempdir().unwrap();
        let with = |contact: &str| {
            run(&Options { folder: folder.path().into(), contact: Some(contact.into()), ..Options::default() })
                .unwrap();
            crate::Pipeline::open(folder.path()).unwrap().config().fetch.contact.clone()
        };
        assert_eq!(with("mailto:\"me\"@example.org"), "mailto:\"me\"@example.org");
        assert_eq!(with("another"), "mailto:\"me\"@example.org", "existing files stay unchanged");
    }
}
