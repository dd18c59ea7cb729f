//! Folding a journal into the plan: how every run ends, and how every crash is mended.
//!
//! The order makes each step harmless to repeat: publish the pages, write the plan (which notes
//! the run it holds, so that no age is counted twice), write the states, and only then remove the
//! journal. Memory holds a fingerprint and a few bytes for each record, never addresses or titles.

use std::collections::HashMap;

use jiff::Timestamp;
use tidings_model::{Entry, Fingerprint, FingerprintMap, FingerprintSet, Row, Status};

use crate::error::{Error, Result};
use crate::feeds::{self, FeedState, Polled};
use crate::home::Home;
use crate::hosts::{self, HostState};
use crate::journal::{self, Record};
use crate::pages;
use crate::plan::{self, Change};
use crate::removed::Removed;
use crate::rules::{self, RulesAnswer};
use crate::{fetched, home};

/// What a fold brought into the plan.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Folded {
    /// The run whose journal it was.
    pub run: String,
    /// Entries that were not in the plan before.
    pub added: u64,
    /// Entries whose page was stored.
    pub stored: u64,
    /// Entries that failed, for now or for good.
    pub failed: u64,
}

/// Everything a journal says, with entries reduced to fingerprints.
#[derive(Default)]
struct Summary {
    run: String,
    statuses: Vec<String>,
    fates: FingerprintMap<(u16, u32)>,
    polls: HashMap<String, FeedState>,
    /// Listed entries, and whether the plan has them.
    listed: FingerprintMap<bool>,
    hosts: HashMap<String, HostState>,
    rules: Vec<RulesAnswer>,
    whole: HashMap<String, u64>,
}

impl Summary {
    fn take(&mut self, record: Record<'_>) {
        match record {
            Record::Run(run) => self.run = run.into_owned(),
            Record::Fate { url, status, retries } => {
                let known = self.statuses.iter().position(|known| *known == status);
                let at = known.unwrap_or_else(|| {
                    self.statuses.push(status.into_owned());
                    self.statuses.len() - 1
                });
                self.fates.insert(Fingerprint::of(&url), (at as u16, retries));
            }
            Record::Whole { file, bytes } => {
                self.whole.insert(file.into_owned(), bytes);
            }
            Record::Poll(state) => {
                self.polls.insert(state.feed.clone(), *state);
            }
            Record::Listed { url, .. } => {
                self.listed.insert(Fingerprint::of(&url), false);
            }
            Record::Host(state) => {
                self.hosts.insert(state.host.clone(), *state);
            }
            Record::Rules(answer) => self.rules.push(*answer),
        }
    }
}

/// Folds the journal that a crash left, if there is one. Nobody knows whom that run asked last, so
/// from now on everybody gets a pause first.
pub fn recover(home: &Home, now: Timestamp) -> Result<Option<Folded>> {
    if home.journal().exists() {
        // A journal or a plan of a newer version is refused before the first file is changed.
        journal::run(home)?;
        if let Err(newer @ Error::Newer { .. }) = plan::folded_run(home) {
            return Err(newer);
        }
        hosts::note_everybody(home, now)?;
    }
    fold(home)
}

/// Folds the journal that is there, if one is: the end of this run, or what a crash left of an
/// earlier one.
pub fn fold(home: &Home) -> Result<Option<Folded>> {
    let mut summary = Summary::default();
    let found = journal::read(home, |record| {
        summary.take(record);
        Ok(())
    })?;
    if !found {
        // Without a journal, nothing vouches for an unpublished file.
        pages::recover(home, |_| None)?;
        return Ok(None);
    }
    pages::recover(home, |file| summary.whole.get(file).copied())?;

    let mut folded = Folded {
        run: summary.run.clone(),
        added: 0,
        stored: summary.fates.values().filter(|fate| summary.statuses[fate.0 as usize] == "ok").count() as u64,
        failed: 0,
    };
    folded.failed = summary.fates.len() as u64 - folded.stored;
    let answered = |state: &FeedState| matches!(state.polled, Polled::Listed | Polled::Unchanged);
    let changes = !summary.fates.is_empty() || summary.polls.values().any(answered);
    if changes && plan::folded_run(home)?.as_deref() != Some(&summary.run) {
        folded.added = rewrite(home, &mut summary)?;
    }
    feeds::merge_states(home, summary.polls)?;
    hosts::merge(home, summary.hosts)?;
    rules::merge(home, summary.rules)?;
    journal::remove(home)?;
    Ok(Some(folded))
}

/// Writes the plan anew with what the journal says; gives the number of new entries.
fn rewrite(home: &Home, summary: &mut Summary) -> Result<u64> {
    let run = summary.run.clone();
    let Summary { statuses, fates, polls, listed, .. } = summary;
    let polled: FingerprintMap<Polled> =
        polls.values().map(|state| (Fingerprint::of(&state.feed), state.polled)).collect();
    let mut aging = Aging::new(&polled);
    let mut added: HashMap<String, u64> = HashMap::new();
    // Only one of the two is filled in a run, so rows are spared the lookup of the other.
    let (looks, ages) = (!fates.is_empty() || !listed.is_empty(), !polled.is_empty());

    let known = std::cell::RefCell::new(std::mem::take(listed));
    plan::rewrite(
        home,
        &run,
        |row| {
            if looks {
                let fingerprint = Fingerprint::of(row.url);
                if let Some((status, retries)) = fates.get(&fingerprint) {
                    return Change::Fate { status: &statuses[*status as usize], retries: *retries };
                }
                if let Some(known) = known.borrow_mut().get_mut(&fingerprint) {
                    *known = true;
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
            fetched::subtract(home, &mut unknown)?;
            let removed = Removed::read(home)?;
            journal::read(home, |record| {
                let Record::Listed { feed, seen, published, url, title } = record else { return Ok(()) };
                if !unknown.remove(&Fingerprint::of(&url)) {
                    return Ok(());
                }
                *added.entry(feed.to_string()).or_default() += 1;
                let is_removed = removed.covers(&url).is_some();
                let entry = Entry {
                    seen: seen.into_owned(),
                    published: published.into_owned(),
                    feed: feed.into_owned(),
                    url: url.into_owned(),
                    title: title.into_owned(),
                };
                new.add(&entry, is_removed)
            })?;
            Ok(())
        },
    )?;
    for (feed, count) in &added {
        if let Some(state) = polls.get_mut(feed) {
            state.brought += count;
        }
    }
    Ok(added.values().sum())
}

/// Counts update cycles for entries that their feed no longer lists. A feed that failed or was
/// not asked says nothing about its entries, so they do not age.
struct Aging<'a> {
    polled: &'a FingerprintMap<Polled>,
    /// Rows of one feed stand together, so the last answer usually serves again.
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
            // What was listed before is listed still.
            Some(Polled::Unchanged) if row.age > 0 => Change::Age(row.age.saturating_add(1)),
            _ => Change::Keep,
        }
    }
}

/// Remembers pages that came by another way than a fetch: no feed brings them again, and entries that wait for them
/// leave the plan.
pub(crate) fn settle(home: &Home, run: &str, pages: Vec<Fingerprint>) -> Result<()> {
    let known: FingerprintSet = pages.iter().copied().collect();
    // Fingerprints first, as in a pruning.
    fetched::add(home, pages)?;
    let is_open = |row: &Row<'_>| !row.status.parse::<Status>().expect("any word is a status").is_final();
    let is_settled = |row: &Row<'_>| known.contains(&Fingerprint::of(row.url)) && is_open(row);
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

/// Whether an address was in the plan, was settled, and was pruned, or came in by an import.
pub fn was_pruned(home: &Home, url: &str) -> Result<bool> {
    fetched::holds(home, Fingerprint::of(url))
}

/// Takes entries out of the plan that left their feeds at least `min_age` update cycles ago and
/// need no more tries. What was fetched is remembered by its fingerprint. Gives (kept, pruned).
pub fn prune(home: &Home, now: Timestamp, min_age: u32, retry_limit: u32, dry_run: bool) -> Result<(u64, u64)> {
    let prunable = |row: &Row<'_>| {
        let status = row.status.parse::<Status>().expect("any word is a status");
        row.age >= min_age.max(1) && !status.is_pending(row.retries, retry_limit)
    };
    let mut kept = 0;
    let mut settled = Vec::new();
    plan::read(home, |row| {
        if prunable(row) {
            settled.push(Fingerprint::of(row.url));
        } else {
            kept += 1;
        }
    })?;
    let pruned = settled.len() as u64;
    if !dry_run && pruned > 0 {
        // Fingerprints first: a crash between the two files remembers too much, never too little.
        fetched::add(home, settled)?;
        let decide = |row: &Row<'_>| if prunable(row) { Change::Drop } else { Change::Keep };
        plan::rewrite(home, &format!("{}-prune", home::stamp(now)), decide, |_| Ok(()))?;
    }
    Ok((kept, pruned))
}
