//! Candidate feeds with their evidence and status, sites without a feed, and files that were searched.

use std::collections::HashMap;
use tidings_storage::AtomicFile;

use crate::error::{Context, Result};
use crate::home::Home;
use crate::table::{self, Field, columns};

/// The state of a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, PartialOrd, Ord)]
pub enum CandidateStatus {
    /// It was not requested yet.
    #[default]
    New,
    /// It was probed and is a feed.
    ProbedFeed,
    /// It was probed and is not a feed and leads to none.
    NotAFeed,
    /// It could not be reached.
    Unreachable,
    /// It was rejected; see `reason`.
    Rejected,
    /// It was tried and yielded no page yet.
    Trial,
    /// It is in the feed list.
    Promoted,
}

impl CandidateStatus {
    const WORDS: [(CandidateStatus, &str); 7] = [
        (CandidateStatus::New, "new"),
        (CandidateStatus::ProbedFeed, "probed-feed"),
        (CandidateStatus::NotAFeed, "not-a-feed"),
        (CandidateStatus::Unreachable, "unreachable"),
        (CandidateStatus::Rejected, "rejected"),
        (CandidateStatus::Trial, "trial"),
        (CandidateStatus::Promoted, "promoted"),
    ];

    /// The name in the table.
    pub fn word(self) -> &'static str {
        CandidateStatus::WORDS.iter().find(|row| row.0 == self).map_or("new", |row| row.1)
    }
}

impl Field for CandidateStatus {
    fn to_text(&self) -> String {
        self.word().to_owned()
    }

    fn from_text(text: String) -> CandidateStatus {
        CandidateStatus::WORDS.iter().find(|row| row.1 == text).map(|row| row.0).unwrap_or_default()
    }
}

/// A candidate feed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Candidate {
    /// Its URL, or with the evidence `page` that of a page at which a search starts.
    pub feed: String,
    /// The site it was found on: a host without `www.`.
    pub site: String,
    /// The name of its evidence.
    pub evidence: String,
    /// The number of pages that linked to it.
    pub seen: u64,
    /// The first page that did.
    pub found_on: String,
    /// Its state.
    pub status: CandidateStatus,
    /// The reason of its status, if needed.
    pub reason: String,
    /// The time of the last request.
    pub checked: String,
    /// The number of entries it listed then.
    pub entries: u32,
    /// Its latest entry's date then.
    pub latest: String,
    /// Its language, if declared by it or the page that links to it.
    pub language: String,
    /// The number of requests it has cost.
    pub requests: u32,
    /// Good pages that were seen on its site.
    pub good_pages: u64,
    /// Its title.
    pub title: String,
    /// Labels from the list that named it: `key=value`, separated by tabs.
    pub labels: String,
}

columns!(Candidate {
    feed,
    site,
    evidence,
    seen,
    found_on,
    "fate" = status,
    reason,
    checked,
    entries,
    latest,
    language,
    requests,
    good_pages,
    title,
    labels
});

/// Shows every candidate to `see`.
pub fn read(home: &Home, see: impl FnMut(Candidate)) -> Result<()> {
    table::read(&home.state("candidates.tsv"), see)
}

/// Adds sightings: counts are summed, and the first page that linked to a candidate and its status stay.
pub fn add(home: &Home, sighted: Vec<Candidate>) -> Result<()> {
    let grow = |old: Candidate, new: Candidate| Candidate {
        seen: old.seen.saturating_add(new.seen),
        good_pages: old.good_pages.saturating_add(new.good_pages),
        // Declarations of a page and labels of a list fill empty fields.
        title: if old.title.is_empty() { new.title } else { old.title },
        labels: if old.labels.is_empty() { new.labels } else { old.labels },
        language: if old.language.is_empty() { new.language } else { old.language },
        ..old
    };
    merge(home, sighted, grow)
}

/// Replaces candidates.
pub fn replace(home: &Home, changed: Vec<Candidate>) -> Result<()> {
    merge(home, changed, |_, new| new)
}

fn merge(home: &Home, rows: Vec<Candidate>, combine: impl Fn(Candidate, Candidate) -> Candidate) -> Result<()> {
    let rows: HashMap<String, Candidate> = rows.into_iter().map(|row| (row.feed.clone(), row)).collect();
    table::merge(&home.state("candidates.tsv"), rows, |row| row.feed.clone(), combine)
}

/// A site that was searched and has no feed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SiteWithoutFeed {
    /// Its host, without `www.`.
    pub site: String,
    /// The time of the search.
    pub checked: String,
    /// The number of requests that took.
    pub requests: u32,
    /// The start of the search.
    pub start: String,
}

columns!(SiteWithoutFeed { site, checked, requests, start });

/// Shows every site without feeds to `see`.
pub fn read_sites_without_feed(home: &Home, see: impl FnMut(SiteWithoutFeed)) -> Result<()> {
    table::read(&home.state("barren.tsv"), see)
}

/// Remembers sites without feeds.
pub fn add_sites_without_feed(home: &Home, sites: Vec<SiteWithoutFeed>) -> Result<()> {
    let rows: HashMap<String, SiteWithoutFeed> = sites.into_iter().map(|row| (row.site.clone(), row)).collect();
    table::merge(&home.state("barren.tsv"), rows, |row| row.site.clone(), |_, new| new)
}

/// A file whose pages were searched for feeds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Searched {
    /// The file, as a person in the home would write it.
    pub file: String,
    /// Pages in it.
    pub pages: u64,
}

columns!(Searched { file, pages });

/// Shows every file that was searched to `see`.
pub fn read_searched(home: &Home, see: impl FnMut(Searched)) -> Result<()> {
    table::read(&home.state("searched.tsv"), see)
}

/// Remembers that files were searched.
pub fn add_searched(home: &Home, files: Vec<Searched>) -> Result<()> {
    let rows: HashMap<String, Searched> = files.into_iter().map(|row| (row.file.clone(), row)).collect();
    table::merge(&home.state("searched.tsv"), rows, |row| row.file.clone(), |_, new| new)
}

/// Appends feeds to the user's list, each below a comment; existing lines are not changed.
pub fn append_feeds(home: &Home, feeds: &[(String, String)]) -> Result<()> {
    if feeds.is_empty() {
        return Ok(());
    }
    let path = home.feed_list();
    let mut bytes = std::fs::read(&path).context("read", &path)?;
    if !bytes.is_empty() && !bytes.ends_with(b"\n") {
        bytes.push(b'\n');
    }
    for (comment, line) in feeds {
        let comment = comment.replace(['\n', '\r'], " ");
        bytes.extend_from_slice(format!("# {comment}\n{}\n", line.replace(['\n', '\r'], " ")).as_bytes());
    }
    let mut draft = AtomicFile::create(&path)?;
    draft.write(&bytes)?;
    Ok(draft.publish()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn home() -> (tempfile::TempDir, Home) {
        let folder = tempfile::tempdir().unwrap();
        Home::create(folder.path(), "", "https://a.example/feed\ttopic=food").unwrap();
        let home = Home::at(folder.path()).unwrap();
        (folder, home)
    }

    fn all(home: &Home) -> Vec<Candidate> {
        let mut all = Vec::new();
        read(home, |candidate| all.push(candidate)).unwrap();
        all
    }

    #[test]
    fn sightings_are_summed_and_statuses_stay() {
        let (_folder, home) = home();
        let seen = |seen| Candidate { feed: "https://b.example/feed".into(), seen, ..Candidate::default() };
        add(&home, vec![seen(3)]).unwrap();
        let probed =
            Candidate { status: CandidateStatus::ProbedFeed, entries: 7, labels: "topic=a\tx=y".into(), ..seen(3) };
        replace(&home, vec![probed]).unwrap();
        add(&home, vec![seen(4)]).unwrap();
        let all = all(&home);
        assert_eq!((all.len(), all[0].seen, all[0].status, all[0].entries), (1, 7, CandidateStatus::ProbedFeed, 7));
        assert_eq!(all[0].labels, "topic=a\tx=y");
    }

    #[test]
    fn feeds_are_appended_below_a_comment() {
        let (_folder, home) = home();
        append_feeds(&home, &[("found\non b".into(), "https://b.example/feed\tlang=de".into())]).unwrap();
        let text = std::fs::read_to_string(home.feed_list()).unwrap();
        assert_eq!(text, "https://a.example/feed\ttopic=food\n# found on b\nhttps://b.example/feed\tlang=de\n");
        assert_eq!(crate::feeds::list(&home).unwrap().feeds.len(), 2);
    }
}
