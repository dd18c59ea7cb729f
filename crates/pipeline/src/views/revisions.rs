//! View of revisions: pages that were fetched again and have changed, with their old and new headlines.

use std::fmt;

use anyhow::Result;
use serde::Serialize;
use tidings_store::Home;
use tidings_store::revisions::{self, Revision, RevisionFilter};
use tidings_store::revisits::title_key;

use crate::display::count;
use crate::outcome::Outcome;

/// A change of a page: two revisions that follow each other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RevisionRow {
    /// The host that published it.
    pub site: String,
    /// Its URL.
    pub url: String,
    /// The number of the later revision, from 2.
    pub revision: usize,
    /// Whether the headline changed, except for case and white space.
    pub retitled: bool,
    /// Whether the text changed.
    pub rewritten: bool,
    /// The earlier revision.
    pub before: Revision,
    /// The later revision.
    pub after: Revision,
}

/// Revisions in the order of their download.
#[derive(Debug, Clone, Default, Serialize)]
pub struct RevisionsOutcome {
    /// Always true.
    pub done: bool,
    /// Pages with several revisions.
    pub pages: u64,
    /// Of the listed revisions, those with another headline.
    pub retitled: u64,
    /// The revisions.
    pub rows: Vec<RevisionRow>,
    /// Whether rows were left out by a filter.
    #[serde(skip)]
    is_filtered: bool,
}

impl Outcome for RevisionsOutcome {}

impl fmt::Display for RevisionsOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.rows.is_empty() {
            return match self.is_filtered {
                true => writeln!(f, "no revisions match the filters"),
                false => writeln!(
                    f,
                    "no revisions: no page has changed after its first download; `tidings run` fetches pages again \
                     when their feeds announce a change (see fetch.revisions)"
                ),
            };
        }
        for row in &self.rows {
            let at = row.after.downloaded.get(..16).unwrap_or_default().replace('T', " ");
            writeln!(f, "{at}  {}  {}", row.site, row.url)?;
            match row.retitled {
                true => writeln!(f, "  old: {}\n  new: {}", row.before.title, row.after.title)?,
                false => writeln!(f, "  same headline: {}", row.after.title)?,
            }
        }
        let rows = count(self.rows.len() as u64, "revision");
        writeln!(f, "{rows} of {}, {} with another headline", count(self.pages, "page"), self.retitled)
    }
}

/// Lists revisions; with `headlines`, only those with another headline.
pub fn list(home: &Home, filter: &RevisionFilter, headlines: bool) -> Result<RevisionsOutcome> {
    let pages = revisions::list(home, filter)?;
    let mut outcome = RevisionsOutcome { done: true, ..RevisionsOutcome::default() };
    outcome.is_filtered = headlines || *filter != RevisionFilter::default();
    for page in pages {
        let rows = outcome.rows.len();
        for (number, pair) in (2..).zip(page.revisions.windows(2)) {
            let [before, after] = pair else { continue };
            let retitled = title_key(&before.title) != title_key(&after.title);
            if headlines && !retitled {
                continue;
            }
            outcome.retitled += u64::from(retitled);
            outcome.rows.push(RevisionRow {
                site: page.site.clone(),
                url: page.url.clone(),
                revision: number,
                retitled,
                rewritten: before.id != after.id,
                before: before.clone(),
                after: after.clone(),
            });
        }
        outcome.pages += u64::from(outcome.rows.len() > rows);
    }
    outcome.rows.sort_by(|a, b| (&a.after.downloaded, &a.url).cmp(&(&b.after.downloaded, &b.url)));
    Ok(outcome)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stage::StageId;
    use crate::testing::{article, home, page, store_pages};
    use tidings_model::Page;

    #[test]
    fn a_home_without_revisions_says_so() {
        let (_folder, pipeline) = home();
        let outcome = list(pipeline.home(), &RevisionFilter::default(), false).unwrap();
        assert!(outcome.to_string().contains("no page has changed after its first download"), "{outcome}");
        let outcome = list(pipeline.home(), &RevisionFilter::default(), true).unwrap();
        assert_eq!(outcome.to_string(), "no revisions match the filters\n");
    }

    #[test]
    fn old_and_new_headlines_are_listed() {
        let (_folder, pipeline) = home();
        let url = "https://gazette.example/1";
        let titled = |title: &str, text: &str| article(text).replace("<title>", &format!("<title>{title} "));
        let first = page(url, &titled("Ferry stops", "ferry"));
        let revises = vec![first.downloaded.clone()];
        let second = page(url, &titled("Ferry stops for ever", "ferry and no bridge"));
        let second = Page { downloaded: "2026-03-02T12:00:00.000Z".into(), revises, ..second };
        store_pages(&pipeline, "2026-03-01", &[first]);
        store_pages(&pipeline, "2026-03-02", &[second]);
        pipeline.run(StageId::Clean.stage().as_ref()).unwrap();
        let outcome = list(pipeline.home(), &RevisionFilter::default(), false).unwrap();
        assert_eq!((outcome.pages, outcome.rows.len()), (1, 1), "{outcome}");
        let row = &outcome.rows[0];
        assert_eq!((row.site.as_str(), row.revision, row.rewritten), ("gazette.example", 2, true));
        assert!(outcome.to_string().contains("1 revision of 1 page"), "{outcome}");
    }
}
