//! Helpers of unit tests: a home in a temporary folder, and the contents of its files.

use tidings_model::{Entry, Page};

use crate::frames::FrameEncoder;
use crate::home::Home;
use crate::journal::{Journal, JournalBatch, Record};
use crate::pages::{publish_part, write_part};
use crate::plan;

/// An empty home, deleted with the folder.
pub(crate) fn home() -> (tempfile::TempDir, Home) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    Home::create(folder.path(), "", "").expect("a home");
    let home = Home::at(folder.path()).expect("it was just made");
    (folder, home)
}

/// Writes the journal of a run, a frame for each batch.
pub(crate) fn write_journal(home: &Home, run: &str, batches: &[Vec<Record<'_>>]) {
    let mut journal = Journal::create(home, run).expect("no journal before");
    for records in batches {
        let mut batch = JournalBatch::default();
        records.iter().for_each(|record| batch.push(record));
        journal.commit(batch).expect("a disk");
    }
}

/// A record that a feed lists an entry.
pub(crate) fn listed(feed: &str, url: &str) -> Record<'static> {
    let own = |text: &str| std::borrow::Cow::Owned(text.to_owned());
    Record::Listed {
        feed: own(feed),
        seen: own("2026-03-01T00:00:00Z"),
        published: own(""),
        url: own(url),
        title: own(""),
        updated: own(""),
        text: None,
    }
}

/// The record of the outcome of an entry.
pub(crate) fn outcome(url: &str, status: &str, retries: u32) -> Record<'static> {
    Record::Outcome { url: url.to_owned().into(), status: status.to_owned().into(), retries, failure: None }
}

/// The rows of the plan: address, status, retries and age.
pub(crate) fn rows(home: &Home) -> Vec<(String, String, u32, u32)> {
    let mut rows = Vec::new();
    plan::read(home, |row| rows.push((row.url.to_owned(), row.status.to_owned(), row.retries, row.age)))
        .expect("a sound plan");
    rows
}

/// Puts new entries of a feed into the plan.
pub(crate) fn fill_plan(home: &Home, feed: &str, urls: &[&str]) {
    plan::rewrite(
        home,
        "fill",
        |_| plan::Change::Keep,
        |plan| {
            urls.iter().try_for_each(|url| {
                let (seen, feed, url) = ("2026-03-01T00:00:00Z".to_owned(), feed.to_owned(), (*url).to_owned());
                plan.add(&Entry { seen, published: String::new(), feed, url, title: "A title".to_owned() }, false)
            })
        },
    )
    .expect("a disk");
}

/// Publishes pages of a run, a frame for each.
pub(crate) fn store_pages(home: &Home, run: &str, urls: &[&str]) {
    let frame = |url: &&str| {
        let mut line = Vec::new();
        let page = Page { url: (*url).to_owned(), body: b"text".into(), ..Page::default() };
        page.write_line(&mut line).expect("memory");
        FrameEncoder::new(3).encode(&line)
    };
    let frames: Vec<u8> = urls.iter().flat_map(frame).collect();
    let part = write_part(home, "2026-03-01", &format!("{run}.0"), &frames).expect("a disk");
    publish_part(home, &part).expect("a disk");
}
