//! View of the archive of pages.

use std::fmt;
use std::io::Write;
use std::path::PathBuf;

use anyhow::{Result, bail};
use serde::Serialize;
use tidings_model::Page;
use tidings_store::Home;
use tidings_store::pages::{self, PageReader};

use crate::display::count;
use crate::outcome::Outcome;

/// The sums of a list of pages.
#[derive(Debug, Clone, Default, Serialize)]
pub struct PagesOutcome {
    /// Always true.
    pub done: bool,
    /// Pages.
    pub pages: u64,
    /// Bytes of their bodies.
    pub bytes: u64,
    /// Files that hold them.
    pub files: usize,
}

impl Outcome for PagesOutcome {}

impl fmt::Display for PagesOutcome {
    /// Writes nothing: the list is the output.
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        Ok(())
    }
}

/// A single page.
#[derive(Debug, Clone, Serialize)]
pub struct PageOutcome {
    /// Always true.
    pub done: bool,
    /// The page.
    pub page: Page,
}

impl Outcome for PageOutcome {}

impl fmt::Display for PageOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.page.body))
    }
}

/// The files of pages of a home.
pub fn files(home: &Home) -> Result<Vec<PathBuf>> {
    Ok(pages::files(home)?)
}

/// Writes a line for each page of some files, if there is a writer; counts them.
pub fn list(files: &[PathBuf], mut out: Option<&mut dyn Write>) -> Result<PagesOutcome> {
    let mut outcome = PagesOutcome { done: true, files: files.len(), ..PagesOutcome::default() };
    for file in files {
        for page in PageReader::open(file)? {
            let page = page?;
            outcome.pages += 1;
            outcome.bytes += page.body.len() as u64;
            if let Some(out) = &mut out {
                let Page { downloaded, status, body, url, title, .. } = &page;
                // Imported titles may contain column and line separators.
                let title = title.replace(char::is_control, " ");
                let line = format!("{downloaded}\t{status}\t{}\t{url}\t{title}\n", body.len());
                out.write_all(line.as_bytes())?;
            }
        }
    }
    Ok(outcome)
}

/// Finds the page with a URL, either the original or the final one after redirects.
pub fn find(files: &[PathBuf], url: &str) -> Result<PageOutcome> {
    let mut number = 0;
    for file in files {
        for page in PageReader::open(file)? {
            let page = page?;
            number += 1;
            if page.url == url || page.final_url == url {
                return Ok(PageOutcome { done: true, page });
            }
        }
    }
    bail!("no page with the URL {url} among {}", count(number, "page"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_listed_and_found_by_original_and_final_url() {
        let folder = tempfile::tempdir().unwrap();
        let page = Page {
            url: "http://e.org/1".into(),
            final_url: "http://e.org/one".into(),
            title: "One".into(),
            status: 200,
            body: b"<p>Rain</p>".to_vec(),
            ..Page::default()
        };
        let file = folder.path().join("pages.jsonl");
        std::fs::write(&file, serde_json::to_string(&page).unwrap() + "\n").unwrap();
        let (files, mut lines) = ([file], Vec::new());
        let outcome = list(&files, Some(&mut lines)).unwrap();
        assert_eq!((outcome.pages, outcome.bytes, outcome.files), (1, 11, 1));
        assert_eq!(String::from_utf8(lines).unwrap(), "\t200\t11\thttp://e.org/1\tOne\n");
        assert_eq!(find(&files, "http://e.org/one").unwrap().to_string(), "<p>Rain</p>");
        assert!(find(&files, "http://e.org/2").unwrap_err().to_string().contains("among 1 page"));
    }

    #[test]
    fn a_title_with_tabs_and_line_ends_stays_in_its_column() {
        let folder = tempfile::tempdir().unwrap();
        let page = Page { url: "http://e.org/1".into(), title: "One\ttwo\nthree".into(), ..Page::default() };
        let file = folder.path().join("pages.jsonl");
        std::fs::write(&file, serde_json::to_string(&page).unwrap() + "\n").unwrap();
        let mut lines = Vec::new();
        list(&[file], Some(&mut lines)).unwrap();
        let text = String::from_utf8(lines).unwrap();
        assert_eq!((text.lines().count(), text.trim_end().split('\t').count()), (1, 5), "{text}");
    }

    #[test]
    fn the_pages_of_a_home_are_listed_day_by_day() {
        let (_folder, pipeline) = crate::test_home::built();
        let found = files(pipeline.home()).unwrap();
        let mut lines = Vec::new();
        assert_eq!(list(&found, Some(&mut lines)).unwrap().pages, 4);
        let text = String::from_utf8(lines).unwrap();
        assert!(
            text.starts_with("2026-03-01T12:00:00.000Z\t200\t") && text.contains("\thttps://gazette.example/river\t")
        );
        assert_eq!(find(&found, "https://gazette.example/library").unwrap().page.title, "The library");
    }
}
