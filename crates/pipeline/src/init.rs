//! Init: makes a folder a home.

use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use serde::Serialize;
use tidings_store::{Home, feeds, plan};

use crate::config;
use crate::context::RunContext;
use crate::discover::opml;
use crate::display::count;
use crate::outcome::Outcome;
use crate::pipeline::Pipeline;
use crate::usage_error::UsageError;

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
    /// An OPML file with feeds to start with.
    pub opml: Option<PathBuf>,
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
    /// The feeds of the list.
    pub feeds: u64,
    /// Whether the settings have a contact.
    #[serde(skip)]
    has_contact: bool,
    /// Remarks about lists that were read.
    #[serde(skip)]
    notes: String,
}

impl Outcome for InitOutcome {}

impl InitOutcome {
    /// Counts the feeds of the list again, after some were added.
    pub fn count_feeds(&mut self) -> Result<()> {
        self.feeds = feeds::list(&Home::at(&self.home)?)?.feeds.len() as u64;
        Ok(())
    }
}

impl fmt::Display for InitOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dir = self.home.display();
        match self.made.is_empty() {
            true => writeln!(f, "{dir} is already a home; nothing was changed")?,
            false => writeln!(f, "created a home in {dir} ({})", self.made.join(", "))?,
        }
        f.write_str(&self.notes)?;
        if self.made.is_empty() {
            return Ok(());
        }
        let mut steps = Vec::new();
        if !self.has_contact {
            steps.push(format!("set `contact` in {dir}/tidings.toml"));
        }
        if self.feeds == 0 {
            steps.push(format!("add feeds with `tidings discover --home {dir} --add URL`"));
        }
        steps.push(format!("run `tidings run --home {dir}`"));
        writeln!(f, "next: {}", steps.join(", then "))
    }
}

/// Creates a home. Existing files stay unchanged.
pub fn run(options: &Options) -> Result<InitOutcome> {
    let feeds = match &options.feeds {
        Some(path) => {
            check_feeds(path)?;
            std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?
        }
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
    let pipeline = Pipeline::open(&options.folder)?;
    let mut notes = String::new();
    if let Some(file) = &options.opml {
        notes = opml::add_to_list(&RunContext::open(&pipeline, "init")?, file)?;
    }
    Ok(InitOutcome {
        done: true,
        home: options.folder.clone(),
        made,
        feeds: feeds::list(pipeline.home())?.feeds.len() as u64,
        has_contact: !pipeline.config().fetch.contact.is_empty(),
        notes,
    })
}

/// Refuses a list of home pages: they are not feeds, and polling them would find nothing.
fn check_feeds(path: &Path) -> Result<()> {
    let list = feeds::read_list(path)?;
    let pages: Vec<&str> = list.feeds.iter().filter(|feed| feed.is_home_page()).map(|feed| feed.url.as_str()).collect();
    let Some(first) = pages.first() else { return Ok(()) };
    let message = format!(
        "{} has {} instead of feeds, such as {first}; give a list of sites with --sites, which finds their feeds, or mark \
         pages to read without a feed with a tab and kind=page",
        path.display(),
        count(pages.len() as u64, "home page"),
    );
    Err(UsageError::new(message).into())
}

/// The addresses of a list of sites: one per line; `#` begins a comment.
pub fn read_sites(path: &Path) -> Result<Vec<String>> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let lines =
        text.trim_start_matches('\u{feff}').lines().map(|line| line.split('\t').next().unwrap_or_default().trim());
    let sites: Vec<String> =
        lines.filter(|line| !line.is_empty() && !line.starts_with('#')).map(str::to_owned).collect();
    match sites.is_empty() {
        true => Err(UsageError::new(format!("{} has no addresses of sites", path.display())).into()),
        false => Ok(sites),
    }
}

/// The settings of a new home.
fn settings(contact: Option<&str>) -> String {
    contact.map_or_else(|| config::TEMPLATE.to_owned(), |contact| with_contact(config::TEMPLATE, contact))
}

/// The text of settings that have no contact, with one.
pub(crate) fn with_contact(text: &str, contact: &str) -> String {
    const UNSET: &str = "#contact = \"\"";
    const TABLE: &str = "[fetch]\n";
    // Publishers find an e-mail address in the user agent by its scheme.
    let is_bare = contact.contains('@') && !contact.contains(':') && !contact.contains('/');
    let contact = if is_bare { format!("mailto:{contact}") } else { contact.to_owned() };
    // A JSON string is a TOML string.
    let line = format!("contact = {}", serde_json::Value::from(contact));
    if text.contains(UNSET) {
        return text.replacen(UNSET, &line, 1);
    }
    let in_table = format!("{TABLE}{line}\n");
    match text.strip_prefix(TABLE) {
        Some(rest) => in_table + rest,
        None if text.contains("\n[fetch]\n") => text.replacen("\n[fetch]\n", &format!("\n{in_table}"), 1),
        None => format!("{}\n\n{in_table}", text.trim_end()),
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
        let options = Options { folder: folder.path().join("home"), plan: Some(plan_file), ..Options::default() };
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
        let options = Options { folder: folder.path().join("home"), plan: Some(plan), ..Options::default() };
        assert!(run(&options).is_err());
        assert!(!options.folder.exists());
    }

    #[test]
    fn given_feeds_become_the_feed_list_and_a_missing_file_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let feeds = folder.path().join("mine.txt");
        let options = Options { folder: folder.path().join("home"), feeds: Some(feeds.clone()), ..Options::default() };
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
        assert!(settings(Some("me@example.org")).contains("\ncontact = \"mailto:me@example.org\"\n"));
        assert_eq!(with("mailto:\"me\"@example.org"), "mailto:\"me\"@example.org");
        assert_eq!(with("another"), "mailto:\"me\"@example.org", "existing files stay unchanged");
        let added = "[fetch]\ncontact = \"mailto:a@b.c\"\n";
        for (before, after) in [
            ("[fetch]\ndelay_s = 1.0\n", format!("{added}delay_s = 1.0\n")),
            ("[run]\n\n[fetch]\ndelay_s = 1.0\n", format!("[run]\n\n{added}delay_s = 1.0\n")),
            ("[run]\nreport = false\n", format!("[run]\nreport = false\n\n{added}")),
        ] {
            assert_eq!(with_contact(before, "a@b.c"), after);
        }
    }

    #[test]
    fn a_list_of_home_pages_is_not_taken_for_feeds() {
        let folder = tempfile::tempdir().unwrap();
        let list = folder.path().join("sites.txt");
        let options =
            |name: &str| Options { folder: folder.path().join(name), feeds: Some(list.clone()), ..Options::default() };
        std::fs::write(&list, "https://e.org/feed\nhttps://gazette.example/\nbugle.example\n").unwrap();
        let error = run(&options("a")).unwrap_err();
        assert!(error.is::<UsageError>() && error.to_string().contains("2 home pages instead of feeds"), "{error}");
        assert!(error.to_string().contains("--sites") && error.to_string().contains("https://gazette.example/"));
        assert!(!options("a").folder.exists(), "nothing is created");
        std::fs::write(&list, "https://gazette.example/\tkind=page\nhttps://e.org/?feed=rss2\n").unwrap();
        assert_eq!(run(&options("b")).unwrap().feeds, 2);
        assert_eq!(read_sites(&list).unwrap(), ["https://gazette.example/", "https://e.org/?feed=rss2"]);
        std::fs::write(&list, "# none\n").unwrap();
        assert!(read_sites(&list).unwrap_err().is::<UsageError>());
    }

    #[test]
    fn the_next_steps_are_those_that_are_missing() {
        let folder = tempfile::tempdir().unwrap();
        let opml = folder.path().join("feeds.opml");
        let outline = r#"<opml version="2.0"><body><outline type="rss" xmlUrl="https://e.org/feed"/></body></opml>"#;
        std::fs::write(&opml, outline).unwrap();
        let bare = run(&Options { folder: folder.path().join("bare"), ..Options::default() }).unwrap().to_string();
        assert!(bare.contains("next: set `contact` in ") && bare.contains("tidings discover"), "{bare}");
        let options = Options {
            folder: folder.path().join("full"),
            contact: Some("mailto:me@example.org".into()),
            opml: Some(opml),
            ..Options::default()
        };
        let full = run(&options).unwrap();
        let text = full.to_string();
        assert_eq!(full.feeds, 1);
        assert!(text.contains("1 feed read from feeds.opml: 1 added to feeds.txt"), "{text}");
        assert!(text.contains("next: run `tidings run --home ") && !text.contains("contact` in"), "{text}");
        let listed = std::fs::read_to_string(options.folder.join("feeds.txt")).unwrap();
        assert!(listed.contains("https://e.org/feed"), "{listed}");
    }
}
