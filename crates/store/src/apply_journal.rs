//! Applies the journal to the plan, at the end of every run and in the recovery after a crash.
//!
//! The order makes each step idempotent: publish the pages, write the plan (which records its run, so that no age is
//! counted twice), write the state tables, and delete the journal last. Memory holds a fingerprint and a few bytes per
//! record, never URLs or titles.

use std::collections::HashMap;

use jiff::{SignedDuration, Timestamp};
use tidings_model::{
    Entry, Fingerprint, FingerprintMap, FingerprintSet, Prospect, RetryPolicy, Row, Status, address, is_archive,
};

use crate::error::{Error, Result};
use crate::failures::{self, PageOutcome, Retries};
use crate::feed_texts;
use crate::feeds::{self, FeedState, Polled};
use crate::home::Home;
use crate::hosts::{self, HostState};
use crate::journal::{self, JournalState, Record};
use crate::plan::{self, Change};
use crate::recover_pages::{self, Recovered};
use crate::removed::Removed;
use crate::revisits::{self, RunVisits};
use crate::rules::{self, RulesAnswer};
use crate::runs::RunName;
use crate::{fetched, home, pages};

/// Finished entries of backfills are pruned after this time.
const ARCHIVE_KEPT: SignedDuration = SignedDuration::from_hours(30 * 24);

/// The changes that a journal brought into the plan.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Applied {
    /// The run of the journal.
    pub run: String,
    /// Entries that were not in the plan before.
    pub added: u64,
    /// Entries whose page was stored.
    pub stored: u64,
    /// Entries that failed, for now or for good.
    pub failed: u64,
    /// Whether the journal was damaged or lost, so that pages were recovered from their files.
    pub damaged: bool,
}

/// The content of a journal, with entries reduced to fingerprints.
#[derive(Default)]
struct Summary {
    run: String,
    statuses: Vec<String>,
    outcomes: FingerprintMap<(u16, u32)>,
    /// Failures of entries that are tried again.
    failures: FingerprintMap<PageOutcome>,
    polls: HashMap<String, FeedState>,
    /// Listed entries, and whether the plan contains them.
    listed: FingerprintMap<bool>,
    /// Whether one of their URLs may be stored in another form.
    has_equivalents: bool,
    hosts: HashMap<String, HostState>,
    rules: Vec<RulesAnswer>,
    visits: RunVisits,
    whole: HashMap<String, u64>,
}

impl Summary {
    fn take(&mut self, record: Record<'_>) {
        match record {
            Record::Run(run) => self.run = run.into_owned(),
            Record::Outcome { url, status, retries, failure } => {
                let page = Fingerprint::of(&url);
                let at = failure.as_ref().and_then(|failure| failure.at.parse().ok());
                match (at, failure) {
                    (Some(at), Some(failure)) => {
                        self.failures.insert(page, PageOutcome::Failed { at, detail: failure.detail.into_owned() });
                    }
                    // The page was not requested, so nothing is known about it.
                    _ if is_open(&status) => {}
                    _ => {
                        self.failures.insert(page, PageOutcome::Settled);
                    }
                }
                let known = self.statuses.iter().position(|known| *known == status);
                let at = known.unwrap_or_else(|| {
                    self.statuses.push(status.into_owned());
                    self.statuses.len() - 1
                });
                self.outcomes.insert(page, (at as u16, retries));
            }
            Record::Whole { file, bytes } => {
                self.whole.insert(file.into_owned(), bytes);
            }
            Record::Poll(state) => {
                self.polls.insert(state.feed.clone(), *state);
            }
            Record::Listed { feed, seen, url, title, updated, .. } => {
                self.listed.insert(Fingerprint::of(&url), false);
                self.has_equivalents |= address::may_have_equivalents(&url);
                // The listings of a backfill announce no changes of pages.
                if !is_archive(&feed) {
                    self.visits.list(&feed, &seen, &url, &title, &updated);
                }
            }
            Record::Visit(visit) => self.visits.visit(visit),
            Record::Host(state) => {
                self.hosts.insert(state.host.clone(), *state);
            }
            Record::Rules(answer) => self.rules.push(*answer),
        }
    }

    /// Adds the outcomes of stored pages whose records are lost.
    fn rescue(&mut self, recovered: Recovered) {
        if self.run.is_empty() {
            self.run = recovered.run.unwrap_or_default();
        }
        for url in recovered.urls {
            if !self.outcomes.contains_key(&Fingerprint::of(&url)) {
                self.take(Record::Outcome { url: url.into(), status: "ok".into(), retries: 1, failure: None });
            }
        }
    }
}

/// Returns true for a status that a later fetch may change.
fn is_open(status: &str) -> bool {
    !status.parse::<Status>().expect("any string is a status").is_final()
}

/// Applies the journal left by a crash, if there is one; files of pages without a journal are published too. The crash
/// lost the times of the last requests, so every host gets a delay first.
pub fn recover(home: &Home, now: Timestamp) -> Result<Option<Applied>> {
    if !home.has_parts() && !home.journal().exists() {
        return Ok(None);
    }
    if home.journal().exists() {
        // A journal or a plan of a newer version is rejected before any file is changed.
        journal::run(home)?;
        if let Err(newer @ Error::Newer { .. }) = plan::folded_run(home) {
            return Err(newer);
        }
        hosts::note_all_hosts(home, now)?;
    }
    let applied = apply(home, "")?;
    home.forget_parts();
    if applied.as_ref().is_some_and(|applied| applied.damaged) {
        // The journal may have been lost altogether.
        hosts::note_all_hosts(home, now)?;
    }
    Ok(applied)
}

/// Applies the journal of this run, if there is one.
pub fn apply_journal(home: &Home) -> Result<Option<Applied>> {
    // A run writes pages of its own days only; the tolerance is for a clock that is set back.
    let began = journal::run(home)?.and_then(|run| RunName::parse(&run));
    let first = began.and_then(|run| run.day().yesterday().ok()).map_or(String::new(), |day| day.to_string());
    apply(home, &first)
}

/// Applies the journal, and publishes the files of pages of the days from `first_day` on.
fn apply(home: &Home, first_day: &str) -> Result<Option<Applied>> {
    home.check_claims()?;
    let mut summary = Summary::default();
    let state = journal::read(home, |record| {
        summary.take(record);
        Ok(())
    })?;
    let is_damaged = state == JournalState::Damaged;
    let first_day = if is_damaged { "" } else { first_day };
    let parts = pages::parts_since(home, first_day)?;
    let recovered = recover_pages::recover(home, &parts, |file| summary.whole.get(file).copied(), is_damaged)?;
    if state == JournalState::Missing && recovered.urls.is_empty() {
        return Ok(None);
    }
    let is_damaged = is_damaged || !recovered.urls.is_empty();
    summary.rescue(recovered);

    let mut folded = Applied {
        run: summary.run.clone(),
        added: 0,
        stored: summary.outcomes.values().filter(|outcome| summary.statuses[outcome.0 as usize] == "ok").count() as u64,
        failed: 0,
        damaged: is_damaged,
    };
    folded.failed = summary.outcomes.len() as u64 - folded.stored;
    let answered = |state: &FeedState| matches!(state.polled, Polled::Listed | Polled::Unchanged);
    // Entries of a backfill are listed without a poll.
    let is_listed = !summary.listed.is_empty();
    let changes = !summary.outcomes.is_empty() || is_listed || summary.polls.values().any(answered);
    if changes && plan::folded_run(home)?.as_deref() != Some(&summary.run) {
        folded.added = rewrite(home, &mut summary)?;
    }
    if summary.failures.values().any(|outcome| *outcome == PageOutcome::Settled) {
        let is_settled = |page: Fingerprint| summary.failures.get(&page) == Some(&PageOutcome::Settled);
        feed_texts::forget(home, |page, _| is_settled(page))?;
    }
    failures::merge(home, summary.failures)?;
    revisits::merge(home, summary.visits, |wanted| titles(home, wanted))?;
    feeds::merge_states(home, summary.polls)?;
    hosts::merge(home, summary.hosts)?;
    rules::merge(home, summary.rules)?;
    journal::remove(home)?;
    Ok(Some(folded))
}

/// The titles of some entries in the journal. Most titles have not changed, so that only a few are held in memory.
fn titles(home: &Home, wanted: &FingerprintSet) -> Result<FingerprintMap<String>> {
    let mut titles = FingerprintMap::default();
    if !wanted.is_empty() {
        journal::read(home, |record| {
            if let Record::Listed { feed, url, title, .. } = record {
                let key = revisits::titles_key(&feed, &url);
                if wanted.contains(&key) {
                    titles.insert(key, title.into_owned());
                }
            }
            Ok(())
        })?;
    }
    Ok(titles)
}

/// Rewrites the plan with the records of the journal; returns the number of new entries.
fn rewrite(home: &Home, summary: &mut Summary) -> Result<u64> {
    let run = summary.run.clone();
    let Summary { statuses, outcomes, polls, listed, has_equivalents, .. } = summary;
    let has_equivalents = *has_equivalents;
    let polled: FingerprintMap<Polled> =
        polls.values().map(|state| (Fingerprint::of(&state.feed), state.polled)).collect();
    let mut aging = Aging::new(&polled);
    let mut added: HashMap<String, u64> = HashMap::new();
    // Only one of the two is filled in a run, so rows skip the lookup in the other.
    let (looks, ages) = (!outcomes.is_empty() || !listed.is_empty(), !polled.is_empty());

    let known = std::cell::RefCell::new(std::mem::take(listed));
    plan::rewrite(
        home,
        &run,
        |row| {
            if looks {
                let fingerprint = Fingerprint::of(row.url);
                let is_listed = known.borrow_mut().get_mut(&fingerprint).map(|known| *known = true).is_some();
                if let Some((status, retries)) = outcomes.get(&fingerprint) {
                    return Change::Outcome { status: &statuses[*status as usize], retries: *retries };
                }
                if is_listed {
                    return if row.age == 0 { Change::Keep } else { Change::Age(0) };
                }
            }
            if ages { aging.of(row) } else { Change::Keep }
        },
        |new| {
            let mut unknown: FingerprintSet =
                known.take().into_iter().filter(|(_, known)| !known).map(|(fingerprint, _)| fingerprint).collect();
            if unknown.is_empty() {
                return Ok(());
            }
            subtract_fetched(home, &mut unknown, has_equivalents)?;
            let removed = Removed::read(home)?;
            let new_pages = unknown.clone();
            let mut texts = feed_texts::Additions::new(home);
            journal::read(home, |record| {
                let Record::Listed { feed, seen, published, url, title, text, .. } = record else { return Ok(()) };
                let page = Fingerprint::of(&url);
                let is_removed = removed.covers(&url).is_some();
                if let Some(html) = text.filter(|_| !is_removed && new_pages.contains(&page)) {
                    texts.add(&url, &html)?;
                }
                if !unknown.remove(&page) {
                    return Ok(());
                }
                *added.entry(feed.to_string()).or_default() += 1;
                let entry = Entry {
                    seen: seen.into_owned(),
                    published: published.into_owned(),
                    feed: feed.into_owned(),
                    url: url.into_owned(),
                    title: title.into_owned(),
                };
                new.add(&entry, is_removed)
            })?;
            // Before the plan, which records that the journal was applied.
            texts.publish()
        },
    )?;
    for (feed, count) in &added {
        if let Some(state) = polls.get_mut(feed) {
            state.brought += count;
        }
    }
    Ok(added.values().sum())
}

/// Removes the fingerprints of listed entries that were fetched and pruned before, also by version 0.1.0, which may have
/// stored another form of their URLs.
fn subtract_fetched(home: &Home, unknown: &mut FingerprintSet, has_equivalents: bool) -> Result<()> {
    if !has_equivalents {
        return fetched::subtract(home, unknown);
    }
    let mut earlier = Vec::new();
    journal::read(home, |record| {
        if let Record::Listed { url, .. } = record
            && address::may_have_equivalents(&url)
        {
            let normal = Fingerprint::of(&url);
            earlier.extend(Fingerprint::earlier(&url).map(|form| (form, normal)).filter(|_| unknown.contains(&normal)));
        }
        Ok(())
    })?;
    // Several feeds may list one URL.
    earlier.sort_unstable();
    earlier.dedup();
    unknown.extend(earlier.iter().map(|(form, _)| *form));
    fetched::subtract(home, unknown)?;
    for (form, normal) in earlier {
        if !unknown.remove(&form) {
            unknown.remove(&normal);
        }
    }
    Ok(())
}

/// Counts update cycles for entries that their feed no longer lists. If a feed failed or was not polled, its entries do
/// not age.
struct Aging<'a> {
    polled: &'a FingerprintMap<Polled>,
    /// Rows of one feed are adjacent, so the last lookup can usually be reused.
    last: (String, Option<Polled>),
}

impl<'a> Aging<'a> {
    fn new(polled: &'a FingerprintMap<Polled>) -> Aging<'a> {
        Aging { polled, last: (String::new(), None) }
    }

    fn of<'c>(&mut self, row: &Row<'_>) -> Change<'c> {
        if self.last.0 != row.feed {
            self.last = (row.feed.to_owned(), self.polled.get(&Fingerprint::of(row.feed)).copied());
        }
        match self.last.1 {
            Some(Polled::Listed) => Change::Age(row.age.saturating_add(1)),
            // In an unchanged feed, previously listed entries are still listed.
            Some(Polled::Unchanged) if row.age > 0 => Change::Age(row.age.saturating_add(1)),
            _ => Change::Keep,
        }
    }
}

/// Records pages that were imported instead of fetched: feeds do not add them again, and entries waiting for them are
/// removed from the plan.
pub(crate) fn settle(home: &Home, run: &str, pages: Vec<Fingerprint>) -> Result<()> {
    let known: FingerprintSet = pages.iter().copied().collect();
    // Fingerprints first, as in a pruning.
    fetched::add(home, pages)?;
    let is_settled = |row: &Row<'_>| known.contains(&Fingerprint::of(row.url)) && is_open(row.status);
    let mut any = false;
    if home.existing_plan().is_some() {
        plan::read(home, |row| any |= is_settled(row))?;
    }
    if any {
        let decide = |row: &Row<'_>| if is_settled(row) { Change::Drop } else { Change::Keep };
        plan::rewrite(home, run, decide, |_| Ok(()))?;
    }
    Ok(())
}

/// Whether a URL was in the plan, finished and pruned, or was imported.
pub fn was_pruned(home: &Home, url: &str) -> Result<bool> {
    for form in std::iter::once(Fingerprint::of(url)).chain(Fingerprint::earlier(url)) {
        if fetched::holds(home, form)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Deletes entries from the plan that left their feeds at least `min_age` update cycles ago and need no more attempts.
/// The fingerprints of fetched entries are kept. Returns (kept, pruned).
pub fn prune(home: &Home, now: Timestamp, min_age: u32, policy: RetryPolicy, dry_run: bool) -> Result<(u64, u64)> {
    let retries = Retries::load(home, policy, now)?;
    let is_old = |row: &Row<'_>| match is_archive(row.feed) {
        // Entries of a backfill are in no feed that they could leave.
        true => row.seen.parse().is_ok_and(|seen: Timestamp| now.duration_since(seen) >= ARCHIVE_KEPT),
        false => row.age >= min_age.max(1),
    };
    let prunable =
        |row: &Row<'_>| is_old(row) && matches!(retries.prospect(row), Prospect::Settled | Prospect::GivenUp);
    let mut kept = 0;
    let mut settled = Vec::new();
    let mut failing = FingerprintSet::default();
    plan::read(home, |row| {
        if prunable(row) {
            settled.push(Fingerprint::of(row.url));
            return;
        }
        kept += 1;
        if !matches!(row.status, "ok" | "new") {
            failing.insert(Fingerprint::of(row.url));
        }
    })?;
    let pruned = settled.len() as u64;
    if !dry_run && pruned > 0 {
        let gone: FingerprintSet = settled.iter().copied().collect();
        feed_texts::forget(home, |page, _| gone.contains(&page))?;
        // Fingerprints are written first: a crash between the two files keeps too many, never too few.
        fetched::add(home, settled)?;
        let decide = |row: &Row<'_>| if prunable(row) { Change::Drop } else { Change::Keep };
        plan::rewrite(home, &format!("{}-prune", home::stamp(now)), decide, |_| Ok(()))?;
    }
    if !dry_run {
        failures::retain(home, &failing)?;
    }
    Ok((kept, pruned))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{fill_plan, home, listed, outcome, rows, write_journal};
    use proptest::prelude::*;
    use std::fs;

    const FEED: &str = "http://e.org/feed";
    const POLICY: RetryPolicy = RetryPolicy { give_up_after: jiff::SignedDuration::from_hours(72), min_attempts: 5 };

    #[test]
    fn an_entry_that_is_stored_in_another_form_of_its_url_is_not_added_again() {
        let (_folder, home) = home();
        fill_plan(&home, FEED, &["http://e.org/%7eada/1", "http://e.org/caf%c3%a9", "http://e.org/x;jsessionid=1"]);
        // Fetched and pruned by version 0.1.0.
        fetched::add(&home, vec![Fingerprint(xxhash_rust::xxh3::xxh3_64(b"http://e.org/%7Ebob/%c3"))]).unwrap();
        let urls = ["http://e.org/~ada/1", "http://e.org/caf%C3%A9", "http://e.org/x", "http://e.org/~bob/%C3"];
        let mut records: Vec<Record<'_>> = urls.iter().map(|url| listed(FEED, url)).collect();
        // Another feed lists the same.
        records.extend(urls.iter().map(|url| listed("http://other.org/feed", url)));
        records.extend([listed(FEED, "http://e.org/~new"), polled(FEED, Polled::Listed)]);
        write_journal(&home, "1", &[records]);
        apply_journal(&home).unwrap();
        let urls: Vec<String> = rows(&home).into_iter().map(|row| row.0).collect();
        let stored = ["http://e.org/%7eada/1", "http://e.org/caf%c3%a9", "http://e.org/x;jsessionid=1"];
        assert_eq!(urls, [&stored[..], &["http://e.org/~new"]].concat());
        assert!(was_pruned(&home, "http://e.org/~bob/%C3").unwrap());
    }

    fn polled(feed: &str, polled: Polled) -> Record<'static> {
        Record::Poll(Box::new(FeedState { feed: feed.to_owned(), polled, ..FeedState::default() }))
    }

    fn row(url: &str, status: &str, retries: u32, age: u32) -> (String, String, u32, u32) {
        (url.to_owned(), status.to_owned(), retries, age)
    }

    #[test]
    fn without_a_journal_nothing_happens() {
        let (_folder, home) = home();
        fill_plan(&home, FEED, &["a"]);
        assert_eq!(apply_journal(&home).unwrap(), None);
        assert_eq!(rows(&home), [row("a", "new", 0, 0)]);
    }

    #[test]
    fn outcomes_are_applied_to_the_plan_and_the_journal_is_deleted() {
        let (_folder, home) = home();
        fill_plan(&home, FEED, &["a", "b", "c"]);
        write_journal(
            &home,
            "run",
            &[vec![outcome("a", "ok", 1)], vec![outcome("b", "http-500", 2), outcome("b", "ok", 3)]],
        );
        let applied = apply_journal(&home).unwrap().unwrap();
        assert_eq!((applied.run.as_str(), applied.stored, applied.failed, applied.added), ("run", 2, 0, 0));
        assert_eq!(rows(&home), [row("a", "ok", 1, 0), row("b", "ok", 3, 0), row("c", "new", 0, 0)]);
        assert!(!home.has_journal());
    }

    #[test]
    fn listed_entries_are_added_once_and_others_age() {
        let (_folder, home) = home();
        fill_plan(&home, FEED, &["a", "b"]);
        let batch = vec![polled(FEED, Polled::Listed), listed(FEED, "b"), listed(FEED, "c")];
        write_journal(&home, "run", &[batch.clone(), batch]);
        assert_eq!(apply_journal(&home).unwrap().unwrap().added, 1);
        assert_eq!(rows(&home), [row("a", "new", 0, 1), row("b", "new", 0, 0), row("c", "new", 0, 0)]);
        assert_eq!(feeds::states(&home).unwrap()[FEED].brought, 1);
    }

    #[test]
    fn entries_of_a_failed_feed_do_not_age() {
        let (_folder, home) = home();
        fill_plan(&home, FEED, &["a"]);
        fill_plan(&home, "http://f.org/feed", &["b"]);
        write_journal(&home, "run", &[vec![polled(FEED, Polled::Failed), polled("http://f.org/feed", Polled::Listed)]]);
        apply_journal(&home).unwrap();
        assert_eq!(rows(&home), [row("a", "new", 0, 0), row("b", "new", 0, 1)]);
    }

    #[test]
    fn applying_a_journal_twice_changes_nothing_more() {
        let (_folder, home) = home();
        fill_plan(&home, FEED, &["a", "b"]);
        let batch = vec![polled(FEED, Polled::Listed), listed(FEED, "c"), outcome("a", "ok", 1)];
        write_journal(&home, "run", &[batch]);
        let journal = fs::read(home.journal()).unwrap();
        apply_journal(&home).unwrap();
        let (before, states) = (rows(&home), feeds::states(&home).unwrap());
        // A crash after writing the plan and before deleting the journal.
        fs::write(home.journal(), journal).unwrap();
        let again = apply_journal(&home).unwrap().unwrap();
        assert_eq!((again.added, rows(&home)), (0, before), "no age is counted twice");
        assert_eq!(feeds::states(&home).unwrap().len(), states.len());
        assert!(!home.has_journal());
    }

    #[test]
    fn recovery_delays_requests_to_every_host() {
        let (_folder, home) = home();
        write_journal(&home, "run", &[]);
        recover(&home, Timestamp::UNIX_EPOCH).unwrap();
        let mut known = Vec::new();
        hosts::read(&home, |state| known.push((state.host, state.last_request))).unwrap();
        assert_eq!(known, [(hosts::ALL_HOSTS.to_owned(), "1970-01-01T00:00:00.000Z".to_owned())]);
        assert_eq!(recover(&home, Timestamp::UNIX_EPOCH).unwrap(), None);
    }

    #[test]
    fn pruned_entries_are_not_added_again() {
        let (_folder, home) = home();
        fill_plan(&home, FEED, &["http://e.org/a", "http://e.org/b"]);
        write_journal(&home, "1", &[vec![polled(FEED, Polled::Listed), outcome("http://e.org/a", "ok", 1)]]);
        apply_journal(&home).unwrap();
        write_journal(&home, "2", &[vec![polled(FEED, Polled::Listed)]]);
        apply_journal(&home).unwrap();
        let prune = |dry_run| prune(&home, Timestamp::UNIX_EPOCH, 1, POLICY, dry_run).unwrap();
        assert_eq!((prune(true), rows(&home).len()), ((1, 1), 2), "a dry run changes nothing");
        assert_eq!(prune(false), (1, 1));
        assert!(was_pruned(&home, "http://e.org/a").unwrap() && !was_pruned(&home, "http://e.org/b").unwrap());
        write_journal(&home, "3", &[vec![listed(FEED, "http://e.org/a"), outcome("http://e.org/b", "ok", 1)]]);
        assert_eq!(apply_journal(&home).unwrap().unwrap().added, 0);
        assert_eq!(rows(&home).len(), 1);
    }

    #[test]
    fn imported_pages_are_removed_from_the_plan_unless_fetched() {
        let (_folder, home) = home();
        fill_plan(&home, FEED, &["a", "b"]);
        write_journal(&home, "1", &[vec![outcome("a", "ok", 1)]]);
        apply_journal(&home).unwrap();
        settle(&home, "2", vec![Fingerprint::of("a"), Fingerprint::of("b")]).unwrap();
        assert_eq!(rows(&home), [row("a", "ok", 1, 0)]);
        assert!(was_pruned(&home, "b").unwrap());
    }

    #[test]
    fn texts_of_new_entries_are_held_until_their_pages_are_settled_also_if_a_journal_is_applied_twice() {
        let (_folder, home) = home();
        fill_plan(&home, FEED, &["a"]);
        let with_text = |url: &str| match listed(FEED, url) {
            Record::Listed { feed, seen, published, url, title, updated, .. } => {
                Record::Listed { feed, seen, published, url, title, updated, text: Some("<p>text</p>".into()) }
            }
            other => other,
        };
        let batches =
            [vec![with_text("a"), listed(FEED, "b"), with_text("b"), with_text("c"), polled(FEED, Polled::Listed)]];
        let held = |urls: [&str; 3]| {
            let texts = feed_texts::FeedTexts::open(&home).unwrap();
            urls.map(|url| texts.of(url).unwrap().is_some())
        };
        write_journal(&home, "update", &batches);
        let journal = fs::read(home.journal()).unwrap();
        for _ in 0..2 {
            fs::write(home.journal(), &journal).unwrap();
            apply_journal(&home).unwrap();
            assert_eq!(held(["a", "b", "c"]), [false, true, true], "known entries need no text");
        }
        write_journal(&home, "fetch", &[vec![outcome("b", "ok", 1), outcome("c", "timeout", 1)]]);
        apply_journal(&home).unwrap();
        assert_eq!(held(["a", "b", "c"]), [false, false, true], "a page that is tried again keeps its text");
        write_journal(&home, "again", &[vec![outcome("c", "404", 2)]]);
        apply_journal(&home).unwrap();
        assert!(!home.state("feed-texts.jsonl.zst").exists());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn repeated_batches_and_repeated_application_give_one_plan(
            known in prop::collection::btree_set("[a-d]", 0..4),
            batches in prop::collection::vec(
                prop::collection::vec(
                    prop_oneof![
                        "[a-f]".prop_map(|url| listed(FEED, &url)),
                        ("[a-d]", "ok|http-404|timeout", 1u32..4).prop_map(|(url, status, retries)| outcome(&url, &status, retries)),
                    ],
                    0..5,
                ),
                0..5,
            ),
        ) {
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            let plan = |batches: &[Vec<Record<'_>>], times: usize| {
                let (_folder, home) = home();
                fill_plan(&home, FEED, &known);
                write_journal(&home, "run", batches);
                let journal = fs::read(home.journal()).unwrap();
                for _ in 0..times {
                    fs::write(home.journal(), &journal).unwrap();
                    apply_journal(&home).unwrap();
                }
                rows(&home)
            };
            let once = plan(&batches, 1);
            let mut urls: Vec<&String> = once.iter().map(|row| &row.0).collect();
            urls.sort();
            urls.dedup();
            prop_assert_eq!(urls.len(), once.len(), "every URL occurs once");
            prop_assert_eq!(&plan(&batches, 2), &once);
            let doubled: Vec<Vec<Record<'_>>> = batches.iter().flat_map(|batch| [batch.clone(), batch.clone()]).collect();
            prop_assert_eq!(&plan(&doubled, 1), &once);
        }
    }
}
