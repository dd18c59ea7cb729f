//! `clean` outside a home: lines of pages → lines of documents, for programs that keep pages and documents themselves.
//!
//! The lines equal those that the stage writes to `docs/`, byte for byte, if a batch is a day: texts that stand under
//! several addresses of a site are found when all pages are known ([`withdraw_same_texts`]).

use std::collections::{HashMap, HashSet};
use std::path::Path;

use anyhow::Result;
use tidings_clean::postprocess::PostprocessOptions;
use tidings_clean::{Options, Suspicion};
use tidings_model::Page;
use tidings_store::Home;
use tidings_store::removed::Removed;

use super::cleaned_file::CleanSettings;
use super::page::{CleanTarget, Cleaned, DropReason, SAME_TEXT, clean_page};
use super::same_text::is_wall;
use crate::config::Config;
use crate::guard::guarded;
use crate::lines::PANICKED;

/// Cleans lines of pages with the settings of a home, or with the default settings.
#[derive(Debug, Clone)]
pub struct LineCleaner {
    options: Options,
    postprocess_options: PostprocessOptions,
    removed: Removed,
}

impl Default for LineCleaner {
    fn default() -> LineCleaner {
        LineCleaner::new(&Config::default(), Removed::default())
    }
}

impl LineCleaner {
    /// A cleaner with these settings, which drops removed pages.
    pub fn new(config: &Config, removed: Removed) -> LineCleaner {
        LineCleaner { options: config.clean.options(), postprocess_options: config.postprocess_options(), removed }
    }

    /// A cleaner with the settings of a home that another process has read.
    pub fn with(settings: &CleanSettings) -> Result<LineCleaner> {
        Ok(LineCleaner::new(&settings.config()?, settings.removed()?))
    }

    /// A cleaner with the settings and takedowns of a home.
    pub fn of_home(folder: &Path) -> Result<LineCleaner> {
        let home = Home::at(folder)?;
        Ok(LineCleaner::new(&Config::of_home(&home)?, Removed::read(&home)?))
    }

    /// Cleans a line of `pages/`, or returns why it cannot be read.
    pub fn clean(&self, line: &[u8]) -> Result<CleanedLine, String> {
        let page: Page = serde_json::from_slice(line).map_err(|error| format!("not a page: {error}"))?;
        self.clean_page(page)
    }

    /// Cleans a page.
    pub fn clean_page(&self, page: Page) -> Result<CleanedLine, String> {
        self.page(page).map(CleanedLine::from)
    }

    pub(super) fn page(&self, page: Page) -> Result<Cleaned, String> {
        let cleaned = guarded(|| clean_page(page, &self.options, &self.postprocess_options, &self.removed));
        cleaned.map_err(|_| PANICKED.to_owned())?.map_err(|error| format!("{error:#}"))
    }
}

/// A page after cleaning.
#[derive(Debug, Clone, PartialEq)]
pub struct CleanedLine {
    /// The URL of the page.
    pub url: String,
    /// The language of its document, which is the folder of `docs/` that gets it; `None` if the page is dropped.
    pub language: Option<String>,
    /// Why the page is dropped.
    pub reason: Option<DropReason>,
    /// The line of `docs/`, or of `docs/dropped` if the page is dropped, without its end.
    pub line: Vec<u8>,
    /// The text and the entry of a document that may not be an article, and its line as a dropped page.
    suspect: Option<(Suspicion, Vec<u8>)>,
}

impl From<Cleaned> for CleanedLine {
    fn from(cleaned: Cleaned) -> CleanedLine {
        let (language, reason, suspect) = match cleaned.target {
            CleanTarget::Language(language) => (Some(language), None, None),
            CleanTarget::Suspect { language, suspicion, dropped } => {
                (Some(language), None, Some((suspicion, without_end(dropped))))
            }
            CleanTarget::Dropped(reason) => (None, Some(reason), None),
        };
        CleanedLine { url: cleaned.url, language, reason, line: without_end(cleaned.line), suspect }
    }
}

impl CleanedLine {
    /// The hashes of the text and of the entry of a document that may not be an article, and its line as a dropped page.
    /// It is none if [`tidings_clean::SAME_TEXT_LIMIT`] entries of its day have that text.
    pub fn suspect(&self) -> Option<(Suspicion, &[u8])> {
        self.suspect.as_ref().map(|(suspicion, dropped)| (*suspicion, dropped.as_slice()))
    }
}

fn without_end(mut line: Vec<u8>) -> Vec<u8> {
    if line.last() == Some(&b'\n') {
        line.pop();
    }
    line
}

/// Drops the documents whose text stands under several addresses of a site: consent walls, login pages and soft 404s.
/// The lines must be all pages of a day.
pub fn withdraw_same_texts<'a>(lines: impl Iterator<Item = &'a mut CleanedLine>) {
    let suspects: Vec<&mut CleanedLine> = lines.filter(|line| line.suspect.is_some()).collect();
    let mut entries: HashMap<u64, HashSet<u64>> = HashMap::new();
    for (suspicion, _) in suspects.iter().filter_map(|line| line.suspect.as_ref()) {
        entries.entry(suspicion.text).or_default().insert(suspicion.entry);
    }
    for line in suspects {
        if let Some((suspicion, dropped)) = line.suspect.take()
            && is_wall(&entries[&suspicion.text])
        {
            (line.language, line.reason, line.line) = (None, Some(SAME_TEXT), dropped);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(url: &str, title: &str, body: &str) -> Vec<u8> {
        let page = Page {
            url: url.to_owned(),
            title: title.to_owned(),
            feed: "http://e.org/feed".to_owned(),
            body: body.as_bytes().to_vec(),
            content_type: "text/html".to_owned(),
            ..Page::default()
        };
        let mut line = Vec::new();
        page.write_line(&mut line).unwrap();
        line
    }

    const ARTICLE: &str = "<p>It rained for three days, and on the fourth the river came into the town.</p>\
        <p>People carried their chairs upstairs, and waited for the water to leave the houses again.</p>\
        <p>The mayor said that the dam had held, and that the school would open again on Monday morning.</p>";

    #[test]
    fn a_line_of_pages_becomes_a_line_of_documents_or_of_dropped_pages() {
        let cleaner = LineCleaner::default();
        let cleaned = cleaner.clean(&line("http://e.org/a", "Rain", ARTICLE)).unwrap();
        assert_eq!((cleaned.language.as_deref(), cleaned.reason), (Some("en"), None));
        let document: tidings_model::Document = serde_json::from_slice(&cleaned.line).unwrap();
        assert_eq!((document.url.as_str(), document.paragraphs.len()), ("http://e.org/a", 3));
        let dropped = cleaner.clean(&line("http://e.org/b", "", "<p>")).unwrap();
        assert_eq!((dropped.language, dropped.reason.map(DropReason::word)), (None, Some("no-text")));
        assert!(cleaner.clean(b"[]").unwrap_err().contains("not a page"));
    }

    #[test]
    fn the_same_text_under_several_addresses_is_dropped() {
        let cleaner = LineCleaner::default();
        let mut lines: Vec<CleanedLine> = (0..tidings_clean::SAME_TEXT_LIMIT)
            .map(|n| {
                let title = format!("Parliament votes on budget {}", "x".repeat(n + 1));
                cleaner.clean(&line(&format!("http://e.org/{n}"), &title, ARTICLE)).unwrap()
            })
            .collect();
        assert!(lines.iter().all(|line| line.language.is_some()));
        withdraw_same_texts(lines.iter_mut());
        assert!(lines.iter().all(|line| line.reason == Some(SAME_TEXT)), "{lines:?}");
        assert!(lines[0].line.starts_with(b"{\"url\":\"http://e.org/0\""));
    }
}
