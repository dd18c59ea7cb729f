//! Revisions: documents of one URL that was downloaded several times.
//!
//! A page that was fetched again names the earlier downloads that it revises, and so does its document. Their documents
//! are in files of earlier days, which never change. The recipe of the later day therefore has the keys of the documents
//! that it supersedes, by day, and `annotate` leaves these out of the text. A revision that was dropped by `clean`
//! supersedes nothing, so that an error page does not replace an article.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use crate::docs::{self, DocumentReader, Recipe};
use crate::error::{Error, Result};
use crate::home::Home;
use crate::scan;

/// The keys of superseded documents, by day. A key is the hash of URL and time of download, in hexadecimal.
pub type Supersedes = BTreeMap<String, BTreeSet<String>>;

/// A page is stored up to so long after its download: its file may be of the next day.
const LATEST_COMMIT: SignedDuration = SignedDuration::from_hours(1);

/// The key of a document: a hash of its URL and its time of download.
pub fn key(url: &str, downloaded: &str) -> String {
    format!("{:016x}", xxh3_64(format!("{url}\n{downloaded}").as_bytes()))
}

/// The days that may have the pages that were downloaded at some times.
pub fn days_of(downloads: &[String]) -> BTreeSet<String> {
    let times = downloads.iter().filter_map(|downloaded| downloaded.parse::<Timestamp>().ok());
    let days = times.flat_map(|at| [Some(at), at.checked_add(LATEST_COMMIT).ok()]).flatten();
    days.map(|time| time.strftime("%Y-%m-%d").to_string()).collect()
}

/// The keys of the documents that were downloaded at some times, each with the days that may have it.
pub(crate) fn superseded_keys(url: &str, revises: &[String]) -> Vec<(String, String)> {
    let of = |downloaded: &String| {
        let key = key(url, downloaded);
        days_of(std::slice::from_ref(downloaded)).into_iter().map(move |day| (day, key.clone()))
    };
    revises.iter().flat_map(of).collect()
}

/// The superseded documents of all days.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Superseded(Supersedes);

impl Superseded {
    /// Reads the recipes of all days.
    pub fn read(home: &Home) -> Result<Superseded> {
        let mut superseded = Superseded::default();
        for day in docs::document_days(home)? {
            if let Some(recipe) = Recipe::read(home, &day)? {
                superseded.add(&recipe);
            }
        }
        Ok(superseded)
    }

    /// Adds the documents that a day supersedes.
    pub fn add(&mut self, recipe: &Recipe) {
        for (day, keys) in &recipe.supersedes {
            self.0.entry(day.clone()).or_default().extend(keys.iter().cloned());
        }
    }

    /// Whether a document of a day is superseded.
    pub fn has(&self, day: &str, url: &str, downloaded: &str) -> bool {
        self.0.get(day).is_some_and(|keys| keys.contains(&key(url, downloaded)))
    }

    /// Whether a document of a day, given as its line of JSON, is superseded.
    pub fn has_line(&self, day: &str, line: &[u8]) -> bool {
        // Most days have none, so that most lines need not be parsed.
        self.0.contains_key(day)
            && serde_json::from_slice::<RevisionHead>(line).is_ok_and(|head| self.has(day, &head.url, &head.downloaded))
    }

    /// A digest of the superseded documents of the days before one.
    pub fn digest_before(&self, first: &str) -> u128 {
        let days = self.0.iter().take_while(|(day, _)| day.as_str() < first);
        let text: String =
            days.flat_map(|(day, keys)| [day].into_iter().chain(keys)).map(|text| format!("{text}\n")).collect();
        xxh3_128(text.as_bytes())
    }

    /// A digest of the superseded documents of a day; `None` if there are none.
    pub fn digest(&self, day: &str) -> Option<String> {
        let keys = self.0.get(day).filter(|keys| !keys.is_empty())?;
        let text: String = keys.iter().map(String::as_str).collect();
        Some(format!("{:032x}", xxh3_128(text.as_bytes())))
    }
}

/// The fields of a document that revisions are told by.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct RevisionHead {
    /// Its id.
    pub id: String,
    /// Its URL.
    pub url: String,
    /// The host that published it.
    pub site: String,
    /// Its title.
    pub title: String,
    /// The time of download.
    pub downloaded: String,
    /// The times of the earlier downloads that it revises.
    pub revises: Vec<String>,
}

/// Calls `see` with the heads of the documents of a day.
pub fn heads(home: &Home, day: &str, mut see: impl FnMut(RevisionHead)) -> Result<()> {
    let Some(recipe) = Recipe::read(home, day)? else { return Ok(()) };
    for file in recipe.document_files() {
        let mut reader = DocumentReader::open_in(home, &file.file)?;
        let mut number = 0;
        while let Some(line) = reader.next_line()? {
            number += 1;
            see(serde_json::from_slice(&line).map_err(|error| Error::Line {
                path: file.path(home),
                line: number,
                fault: format!("is not a document ({error})"),
            })?);
        }
    }
    Ok(())
}

/// Calls `see` with the heads of the documents that some days supersede, each with its day. Days without documents are
/// skipped.
pub fn superseded_heads(home: &Home, wanted: &Supersedes, mut see: impl FnMut(&str, RevisionHead)) -> Result<()> {
    for (day, keys) in wanted {
        heads(home, day, |head| {
            if keys.contains(&key(&head.url, &head.downloaded)) {
                see(day, head);
            }
        })?;
    }
    Ok(())
}

/// A page with several revisions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RevisedPage {
    /// Its URL.
    pub url: String,
    /// The host that published it.
    pub site: String,
    /// Its revisions, oldest first.
    pub revisions: Vec<Revision>,
}

/// A revision of a page: one of its documents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Revision {
    /// The id of the document.
    pub id: String,
    /// The time of download.
    pub downloaded: String,
    /// The title.
    pub title: String,
}

/// The pages whose last revisions are to be listed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RevisionFilter {
    /// The first day on which a revision was stored, `YYYY-MM-DD`.
    pub since: Option<String>,
    /// The last day.
    pub until: Option<String>,
    /// The host; also its subdomains.
    pub site: Option<String>,
    /// The URL.
    pub url: Option<String>,
}

impl RevisionFilter {
    fn has_day(&self, day: &str) -> bool {
        self.since.as_deref().is_none_or(|since| day >= since) && self.until.as_deref().is_none_or(|until| day <= until)
    }

    fn has(&self, head: &RevisionHead) -> bool {
        let is_of_site = |site: &String| {
            head.site == *site || head.site.strip_suffix(site.as_str()).is_some_and(|rest| rest.ends_with('.'))
        };
        self.site.as_ref().is_none_or(is_of_site) && self.url.as_ref().is_none_or(|url| head.url == *url)
    }
}

/// The pages that were revised, in the order of their last revision.
pub fn list(home: &Home, filter: &RevisionFilter) -> Result<Vec<RevisedPage>> {
    let mut pages: BTreeMap<String, (String, BTreeMap<String, Revision>)> = BTreeMap::new();
    let mut wanted = Supersedes::new();
    for day in docs::document_days(home)?.into_iter().filter(|day| filter.has_day(day)) {
        let Some(recipe) = Recipe::read(home, &day)?.filter(|recipe| !recipe.supersedes.is_empty()) else { continue };
        for file in recipe.document_files() {
            scan::lines_of(home, &file.file, "\"revises\":[", |line| {
                let head = serde_json::from_slice::<RevisionHead>(line).ok();
                if let Some(head) = head.filter(|head| !head.revises.is_empty() && filter.has(head)) {
                    for (day, key) in superseded_keys(&head.url, &head.revises) {
                        wanted.entry(day).or_default().insert(key);
                    }
                    let (_, revisions) =
                        pages.entry(head.url.clone()).or_insert_with(|| (head.site.clone(), BTreeMap::new()));
                    revisions.insert(head.downloaded.clone(), head.into());
                }
                ControlFlow::Continue(())
            })?;
        }
    }
    superseded_heads(home, &wanted, |_, head| {
        if let Some((_, revisions)) = pages.get_mut(&head.url) {
            revisions.insert(head.downloaded.clone(), head.into());
        }
    })?;
    let page = |(url, (site, revisions)): (String, (String, BTreeMap<String, Revision>))| RevisedPage {
        url,
        site,
        revisions: revisions.into_values().collect(),
    };
    // Earlier downloads may have been dropped by `clean`.
    let mut pages: Vec<RevisedPage> = pages.into_iter().map(page).filter(|page| page.revisions.len() > 1).collect();
    pages.sort_by(|a, b| a.last().cmp(b.last()).then_with(|| a.url.cmp(&b.url)));
    Ok(pages)
}

impl RevisedPage {
    fn last(&self) -> &str {
        self.revisions.last().map_or("", |revision| &revision.downloaded)
    }
}

impl From<RevisionHead> for Revision {
    fn from(head: RevisionHead) -> Revision {
        Revision { id: head.id, downloaded: head.downloaded, title: head.title }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::docs::DayDraft;
    use crate::testing::home;
    use tidings_model::Document;

    fn document(url: &str, downloaded: &str, revises: &[&str]) -> Document {
        let revises = revises.iter().map(|time| (*time).to_owned()).collect();
        Document {
            url: url.into(),
            downloaded: downloaded.into(),
            revises,
            id: downloaded.into(),
            ..Document::default()
        }
    }

    fn store(home: &Home, day: &str, documents: &[Document]) {
        let recipe = Recipe::new(day, "p", "e", serde_json::Value::Null);
        let mut draft = DayDraft::create(home, recipe).unwrap();
        for document in documents {
            let mut line = serde_json::to_vec(document).unwrap();
            line.push(b'\n');
            draft.push("en", &line).unwrap();
            draft.supersede(&document.url, &document.revises);
        }
        draft.publish(documents.len() as u64).unwrap();
    }

    const FIRST: &str = "2026-03-01T23:30:00.000Z";
    const SECOND: &str = "2026-03-02T09:00:00.000Z";

    #[test]
    fn a_later_document_supersedes_the_downloads_that_it_revises() {
        let (_folder, home) = home();
        store(&home, "2026-03-01", &[document("http://e.org/b", FIRST, &[])]);
        // It was downloaded before midnight and stored after it.
        store(
            &home,
            "2026-03-02",
            &[document("http://e.org/a", FIRST, &[]), document("http://e.org/a", SECOND, &[FIRST])],
        );
        let superseded = Superseded::read(&home).unwrap();
        assert!(superseded.has("2026-03-02", "http://e.org/a", FIRST));
        assert!(!superseded.has("2026-03-02", "http://e.org/a", SECOND));
        assert!(!superseded.has("2026-03-01", "http://e.org/b", FIRST), "another page of the same second");
        assert!(superseded.digest("2026-03-02").is_some() && superseded.digest("2026-03-03").is_none());
        let mut found = Vec::new();
        let recipe = Recipe::read(&home, "2026-03-02").unwrap().unwrap();
        superseded_heads(&home, &recipe.supersedes, |day, head| found.push((day.to_owned(), head.id))).unwrap();
        assert_eq!(found, [("2026-03-02".to_owned(), FIRST.to_owned())]);
    }

    #[test]
    fn revised_pages_are_listed_with_all_revisions() {
        let (_folder, home) = home();
        let third = "2026-03-05T09:00:00.000Z";
        let site = |document: Document| Document { site: "news.e.org".into(), ..document };
        store(&home, "2026-03-01", &[document("http://e.org/a", FIRST, &[]), document("http://e.org/b", FIRST, &[])]);
        store(&home, "2026-03-02", &[site(document("http://e.org/a", SECOND, &[FIRST]))]);
        store(&home, "2026-03-05", &[site(document("http://e.org/a", third, &[FIRST, SECOND]))]);
        let found = |filter: RevisionFilter| {
            let pages = list(&home, &filter).unwrap();
            let ids = |page: RevisedPage| page.revisions.into_iter().map(|revision| revision.id).collect::<Vec<_>>();
            pages.into_iter().map(ids).collect::<Vec<_>>()
        };
        assert_eq!(found(RevisionFilter::default()), [[FIRST, SECOND, third]]);
        let until = Some("2026-03-04".to_owned());
        assert_eq!(found(RevisionFilter { until, ..RevisionFilter::default() }), [[FIRST, SECOND]]);
        let since = Some("2026-03-06".to_owned());
        assert!(found(RevisionFilter { since, ..RevisionFilter::default() }).is_empty());
        for (site, is_found) in [("e.org", true), ("news.e.org", true), ("s.e.org", false), ("org", true)] {
            let filter = RevisionFilter { site: Some(site.to_owned()), ..RevisionFilter::default() };
            assert_eq!(!found(filter).is_empty(), is_found, "{site}");
        }
    }

    #[test]
    fn a_recipe_without_revisions_is_written_as_before() {
        let (_folder, home) = home();
        store(&home, "2026-03-01", &[document("http://e.org/b", FIRST, &[])]);
        let recipe = std::fs::read_to_string(home.root().join("docs/recipes/2026-03-01.json")).unwrap();
        assert!(!recipe.contains("supersedes"), "{recipe}");
    }

    #[test]
    fn invalid_times_supersede_nothing() {
        assert!(superseded_keys("http://e.org/", &["yesterday".to_owned()]).is_empty());
    }
}
