//! OPML import and export of feed lists.

use std::fmt;
use std::io::Read as _;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde::Serialize;
use tidings_feeds::discover::{Evidence, Outline, read_opml, site, write_opml};
use tidings_storage::Source;
use tidings_store::candidates::{self, Candidate, CandidateStatus};
use tidings_store::feeds::SourceKind;
use tidings_store::{Home, feeds};

use super::{adopt, listed, plain};
use crate::context::RunContext;
use crate::display::count;

/// Candidates that were read from a list.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ImportOutcome {
    /// Feeds in the list.
    pub read: u64,
    /// Feeds that are candidates now.
    pub candidates: u64,
    /// Feeds that `feeds.txt` has already.
    pub known: u64,
    /// Entries without an address.
    pub faulty: u64,
    #[serde(skip)]
    shown: String,
}

impl fmt::Display for ImportOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ImportOutcome { read, candidates, known, faulty, shown } = self;
        let read = count(*read, "feed");
        writeln!(
            f,
            "{read} read from {shown}: {candidates} added as candidates, {known} already in feeds.txt, \
             {faulty} without a URL"
        )
    }
}

/// A list of feeds from another program.
struct Outlined {
    shown: String,
    read: u64,
    rows: Vec<Candidate>,
    known: u64,
    faulty: u64,
}

/// Reads a file with a list of feeds from another program.
fn outlined(context: &RunContext, path: &Path) -> Result<Outlined> {
    let mut body = Vec::new();
    Source::open(path)?.read_to_end(&mut body).with_context(|| format!("cannot read {}", path.display()))?;
    outlined_text(context, &path.file_name().unwrap_or_default().to_string_lossy(), &body)
}

/// Reads a list of feeds from another program. `shown` is its name for people.
fn outlined_text(context: &RunContext, shown: &str, body: &[u8]) -> Result<Outlined> {
    let listed = listed(context)?;
    let shown = shown.to_owned();
    let outlines = read_opml(body);
    let read = outlines.len() as u64;
    let (mut rows, mut known, mut faulty) = (Vec::new(), 0, 0);
    for outline in outlines {
        let address = outline.feed.strip_prefix("feed:").map(|rest| rest.trim_start_matches("//").to_owned());
        let address = address.unwrap_or(outline.feed);
        let address = if address.contains("://") { address } else { format!("http://{address}") };
        let Some(site) = site(&address) else {
            faulty += 1;
            continue;
        };
        if listed.contains(&plain(&address)) {
            known += 1;
            continue;
        }
        let label = |text: &str| text.replace(['\t', '\n', '\r', '='], " ").trim().to_owned();
        let topics: Vec<String> = outline.labels.iter().map(|text| label(text)).collect();
        rows.push(Candidate {
            site,
            evidence: Evidence::Listed.name().to_owned(),
            seen: 1,
            found_on: shown.clone(),
            language: outline.language.split(['-', '_']).next().unwrap_or_default().to_ascii_lowercase(),
            title: label(&outline.title),
            labels: if topics.is_empty() { String::new() } else { format!("topic={}", topics.join("/")) },
            feed: address,
            ..Candidate::default()
        });
    }
    Ok(Outlined { shown, read, rows, known, faulty })
}

/// Adds the feeds of an OPML file to the candidates.
pub fn import(context: &RunContext, path: &Path) -> Result<ImportOutcome> {
    let Outlined { shown, read, rows, known, faulty } = outlined(context, path)?;
    let candidates = rows.len() as u64;
    candidates::add(&context.home, rows)?;
    Ok(ImportOutcome { read, candidates, known, faulty, shown })
}

/// Adds the feeds of an OPML file to `feeds.txt`; returns a line of text about it.
pub fn add_to_list(context: &RunContext, path: &Path) -> Result<String> {
    add_outlined(context, outlined(context, path)?)
}

/// The same with the text of an OPML file.
pub fn add_text_to_list(context: &RunContext, shown: &str, body: &[u8]) -> Result<String> {
    add_outlined(context, outlined_text(context, shown, body)?)
}

fn add_outlined(context: &RunContext, outlined: Outlined) -> Result<String> {
    let Outlined { shown, read, mut rows, known, faulty } = outlined;
    rows.iter_mut().for_each(|row| row.status = CandidateStatus::Promoted);
    let new = adopt(context, rows)?;
    Ok(format!(
        "{} read from {shown}: {new} added to feeds.txt, {known} already there, {faulty} without a URL\n",
        count(read, "feed")
    ))
}

/// A feed list as OPML.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportedList {
    /// The text.
    pub opml: String,
    /// The number of feeds.
    pub feeds: u64,
    /// Pages and sitemaps of the list, which feed readers cannot read and the text does not have.
    pub left_out: u64,
}

/// The feed list as OPML.
pub fn export(home: &Home) -> Result<ExportedList> {
    let states = feeds::states(home)?;
    let listed = feeds::list(home)?.feeds;
    let all = listed.len() as u64;
    let outlines: Vec<Outline> = listed
        .into_iter()
        .filter(|feed| feed.kind == SourceKind::Feed)
        .map(|feed| Outline {
            title: states.get(&feed.url).map(|state| state.title.clone()).unwrap_or_default(),
            language: feed
                .labels
                .iter()
                .find(|label| label.0 == "lang")
                .map(|label| label.1.clone())
                .unwrap_or_default(),
            labels: feed.labels.iter().filter(|label| label.0 == "topic").map(|label| label.1.clone()).collect(),
            feed: feed.url,
            site: String::new(),
        })
        .collect();
    let feeds = outlines.len() as u64;
    Ok(ExportedList { opml: write_opml("Tidings", &outlines), feeds, left_out: all - feeds })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{context, home_with_feeds};

    const LIST: &str = "<opml version=\"2.0\"><body><outline text=\"News\">\
        <outline type=\"rss\" text=\"A = a\" xmlUrl=\"feed://a.example/rss\" language=\"de-AT\"/>\
        <outline type=\"rss\" text=\"B\" xmlUrl=\"https://known.example/feed\"/>\
        <outline type=\"rss\" text=\"C\" xmlUrl=\"https://\"/></outline></body></opml>";

    fn with_list() -> (tempfile::TempDir, crate::Pipeline, std::path::PathBuf) {
        let (folder, pipeline) = home_with_feeds("https://known.example/feed\n");
        let path = folder.path().join("list.opml");
        std::fs::write(&path, LIST).unwrap();
        (folder, pipeline, path)
    }

    #[test]
    fn feeds_of_a_list_become_candidates() {
        let (_folder, pipeline, path) = with_list();
        let context = context(&pipeline);
        let outcome = import(&context, &path).unwrap();
        assert_eq!((outcome.read, outcome.candidates, outcome.known, outcome.faulty), (3, 1, 1, 1));
        assert_eq!(
            outcome.to_string(),
            "3 feeds read from list.opml: 1 added as candidates, 1 already in feeds.txt, 1 without a URL\n"
        );
        let mut rows = Vec::new();
        candidates::read(&context.home, |row| rows.push(row)).unwrap();
        let row = &rows[0];
        assert_eq!((row.feed.as_str(), row.language.as_str()), ("http://a.example/rss", "de"));
        assert_eq!(
            (row.title.as_str(), row.labels.as_str(), row.found_on.as_str()),
            ("A   a", "topic=News", "list.opml")
        );
    }

    #[test]
    fn a_list_is_added_to_the_feeds_with_its_topics() {
        let (_folder, pipeline, path) = with_list();
        let text = add_to_list(&context(&pipeline), &path).unwrap();
        assert_eq!(text, "3 feeds read from list.opml: 1 added to feeds.txt, 1 already there, 1 without a URL\n");
        let feeds = feeds::list(pipeline.home()).unwrap().feeds;
        let labels = [("topic".to_owned(), "News".to_owned()), ("lang".to_owned(), "de".to_owned())];
        assert_eq!(
            (feeds.len(), feeds[1].url.as_str(), &feeds[1].labels[..]),
            (2, "http://a.example/rss", &labels[..])
        );
    }

    #[test]
    fn a_missing_list_is_an_error_with_its_path() {
        let (_folder, pipeline) = home_with_feeds("");
        let error = import(&context(&pipeline), Path::new("nowhere.opml")).unwrap_err();
        assert_eq!(error.to_string(), "cannot open nowhere.opml");
    }

    #[test]
    fn a_list_survives_export_and_import() {
        let (_folder, pipeline) =
            home_with_feeds("https://a.example/f?x=1&y=2\tlang=de\ttopic=News & more\nhttps://b.example/feed\n");
        let exported = export(pipeline.home()).unwrap();
        let read = read_opml(exported.opml.as_bytes());
        assert_eq!((exported.feeds, exported.left_out, read.len()), (2, 0, 2));
        assert_eq!((read[0].feed.as_str(), read[0].language.as_str()), ("https://a.example/f?x=1&y=2", "de"));
        assert_eq!(read[0].labels, ["News & more"]);
        assert_eq!(read[1].feed, "https://b.example/feed");
    }

    #[test]
    fn pages_and_sitemaps_are_no_feeds_of_other_programs() {
        let (_folder, pipeline) = home_with_feeds(
            "https://a.example/\tkind=page\nhttps://a.example/s.xml\tkind=sitemap\nhttps://b.example/f\n",
        );
        let exported = export(pipeline.home()).unwrap();
        assert_eq!((exported.feeds, exported.left_out), (1, 2));
        assert!(!exported.opml.contains("a.example"), "{}", exported.opml);
    }
}
