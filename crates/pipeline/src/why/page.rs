//! The trace of an article: from the feed that listed it to the stored page.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::PathBuf;

use anyhow::Result;
use jiff::civil::Date;
use tidings_model::{FailureKind, Fingerprint, Page, PageOrigin, Prospect, Row, Status, address, clock, is_archive};
use tidings_store::docs::{self, Recipe};
use tidings_store::failures::{self, PageFailure, Retries};
use tidings_store::removed::Removed;
use tidings_store::revisions::{self, Superseded};
use tidings_store::runs::{self, LoggedRun, Request};
use tidings_store::{Home, apply_journal, hosts, plan, revisits, rfc3339, scan};

use super::document::{self, DayTarget};
use super::{Facts, Subject, Trace, TraceOutcome, TraceStage};
use crate::Pipeline;
use crate::display::{count, grouped};
use crate::ingest::feed_text::makes_up_for;
use crate::reporter::ProgressScope;

/// The number of requests and duplicates that are listed individually.
pub(super) const LISTED: usize = 12;

/// A row of the plan.
struct Entry {
    age: u32,
    status: Status,
    /// The status as it is written.
    word: String,
    retries: u32,
    seen: String,
    feed: String,
    url: String,
}

impl Entry {
    /// The row, as far as the retry policy needs it.
    fn row(&self) -> Row<'_> {
        let Entry { age, word, retries, seen, feed, url, .. } = self;
        Row { age: *age, status: word, retries: *retries, seen, published: "", feed, url, title: "" }
    }
}

/// Traces an address.
pub fn of_address(pipeline: &Pipeline, url: &str) -> Result<Trace> {
    let (home, config) = (pipeline.home(), pipeline.config());
    let mut trace = Trace::new(Subject::Page { url: url.to_owned() });
    let removed = Removed::read(home)?;
    let entry = entry(home, url)?;
    let url = entry.as_ref().map_or(url, |entry| entry.url.as_str()).to_owned();
    match &entry {
        Some(entry) => trace_entry(&mut trace, entry, pipeline)?,
        None if apply_journal::was_pruned(home, &url)? => {
            trace.outcome = TraceOutcome::Pruned;
            let says = "not in the plan: it was finished and pruned, or imported; it will not be fetched again";
            trace.note("", TraceStage::Plan, says);
        }
        None => {}
    }
    // Runs that began before the entry was listed did not request it.
    let since = entry.as_ref().map(|entry| entry.seen.clone()).unwrap_or_default();
    let stored = trace_requests(&mut trace, pipeline, &url, &since)?;
    let is_stored = entry.as_ref().is_none_or(|entry| entry.status == Status::Ok);
    let first = since.get(..10).unwrap_or_default();
    let mut days = match &stored[..] {
        runs if !runs.is_empty() => {
            let mut files = Vec::new();
            for run in runs {
                files.extend(scan::pages_of_run(home, run)?);
            }
            trace_page(&mut trace, home, &url, &files)?
        }
        _ if is_stored => trace_page(&mut trace, home, &url, &waiting_pages(home, first)?)?,
        _ => BTreeSet::new(),
    };
    if days.is_empty() && is_stored {
        // It was imported, or the log of its run is deleted: search the documents of every day.
        days = docs::document_days(home)?.into_iter().filter(|day| day.as_str() >= first).collect();
    }
    let progress = ProgressScope::begin(pipeline.reporter(), "days", days.len() as u64);
    for (done, day) in (0..).zip(&days) {
        progress.show(done, day);
        let before = trace.outcome;
        document::trace_day(&mut trace, home, config, day, &DayTarget::Address(&url))?;
        // A revision that is dropped leaves the earlier one in its place.
        if trace.outcome == TraceOutcome::LeftOut && before.has_document() {
            trace.outcome = before;
        }
    }
    let is_traced = trace.events.iter().any(|event| matches!(event.stage, TraceStage::Stored | TraceStage::Clean));
    if entry.is_some() && is_stored && !is_traced {
        trace.outcome = TraceOutcome::Lost;
        trace.note("", TraceStage::Stored, "its page is in no file; check a backup");
    }
    trace_removed(&mut trace, &removed, &url, None);
    if trace.events.is_empty() {
        let says = format!("{url} is unknown: not listed by a feed, no page, no document");
        trace.note("", TraceStage::Plan, says);
    }
    Ok(trace)
}

/// Traces a document.
pub fn of_document(pipeline: &Pipeline, id: &str) -> Result<Trace> {
    let home = pipeline.home();
    let mut trace = Trace::new(Subject::Document { id: id.to_owned(), url: None });
    let Some(day) = document::day_of(pipeline, id)? else {
        trace_removed(&mut trace, &Removed::read(home)?, "", Some(id));
        if trace.events.is_empty() {
            trace.note("", TraceStage::Docs, format!("no document with the id {id}"));
        }
        return Ok(trace);
    };
    let mut found = None;
    document::each_document(home, &day, id, |document| {
        if document.id == id {
            found = Some(document);
        }
    })?;
    let Some(document) = found else {
        document::trace_day(&mut trace, home, pipeline.config(), &day, &DayTarget::Id(id))?;
        return Ok(trace);
    };
    let is_superseded = Superseded::read(home)?.has(&day, &document.url, &document.downloaded);
    let url = address::identity(&document.url).unwrap_or(document.url);
    let mut trace = of_address(pipeline, &url)?;
    if is_superseded {
        trace.outcome = TraceOutcome::Superseded;
    }
    trace.about = Subject::Document { id: id.to_owned(), url: Some(url) };
    Ok(trace)
}

/// The entry of a URL in the plan, also in another spelling of the URL.
fn entry(home: &Home, url: &str) -> Result<Option<Entry>> {
    let spellings = spellings(url);
    let fingerprint = Fingerprint::of(url);
    let mut found: Option<(usize, Entry)> = None;
    plan::read(home, |row| {
        // An entry of version 0.1.0 may have another form of the URL.
        let is_equal = || address::may_have_equivalents(row.url) && Fingerprint::of(row.url) == fingerprint;
        let spelling = spellings.iter().position(|known| known == row.url);
        let Some(at) = spelling.or_else(|| is_equal().then_some(0)) else { return };
        if found.as_ref().is_none_or(|(best, _)| at < *best) {
            let [word, seen, feed, url] = [row.status, row.seen, row.feed, row.url].map(str::to_owned);
            let status = row.status.parse().unwrap_or(Status::New);
            found = Some((at, Entry { age: row.age, status, word, retries: row.retries, seen, feed, url }));
        }
    })?;
    Ok(found.map(|(_, entry)| entry))
}

/// A URL and its other spellings.
fn spellings(url: &str) -> Vec<String> {
    let (scheme, rest) = url.split_once("://").unwrap_or(("http", url));
    let other = if scheme == "http" { "https" } else { "http" };
    let bare = rest.strip_prefix("www.").unwrap_or(rest);
    let mut spellings = Vec::new();
    for host in [rest.to_owned(), bare.to_owned(), format!("www.{bare}")] {
        for scheme in [scheme, other] {
            let slashed = format!("{scheme}://{host}");
            let plain = slashed.trim_end_matches('/').to_owned();
            spellings.extend([slashed, format!("{plain}/"), plain]);
        }
    }
    spellings
}

fn trace_entry(trace: &mut Trace, entry: &Entry, pipeline: &Pipeline) -> Result<()> {
    let facts = Facts::Entry {
        feed: entry.feed.clone(),
        url: entry.url.clone(),
        age: entry.age,
        status: entry.word.clone(),
        retries: entry.retries,
    };
    trace.event(&entry.seen, TraceStage::Listed, format!("by {}", entry.feed), facts.clone());
    let failure = failures::of_page(pipeline.home(), &entry.url)?;
    let retries = Retries::load(pipeline.home(), pipeline.config().fetch.retry_policy(), clock::now())?;
    let (outcome, says) = outcome_of(entry, retries.prospect(&entry.row()), failure.as_ref());
    trace.outcome = outcome;
    let listed = match entry.age {
        _ if is_archive(&entry.feed) => "found by a backfill".to_owned(),
        0 => "still listed by its feed".to_owned(),
        age => format!("not in its feed for {}", count(age.into(), "update")),
    };
    trace.event("", TraceStage::Plan, format!("{says}; {listed}"), facts);
    let visited = if entry.status == Status::Ok { revisits::of_page(pipeline.home(), &entry.url)? } else { None };
    let limit = pipeline.config().fetch.revisions;
    if let Some(page) = visited
        && let Some(due) = page.due(limit, clock::now())
    {
        let says = format!("its feed announced a change; it will be fetched again after {due:.0}");
        trace.note(&page.changed, TraceStage::Plan, says);
    }
    if matches!(outcome, TraceOutcome::Waiting | TraceOutcome::Failing) {
        trace_failing_host(trace, pipeline.home(), &entry.url)?;
    }
    Ok(())
}

/// Names the failure of the host for which a page waits.
fn trace_failing_host(trace: &mut Trace, home: &Home, url: &str) -> Result<()> {
    let wanted = address::host(url).unwrap_or_default().to_ascii_lowercase();
    hosts::read(home, |state| {
        if state.host == wanted && !state.error.is_empty() {
            let times = count(state.failures.into(), "run");
            let says =
                format!("{wanted} has failed in {times} in a row since {}: {}", state.failing_since, state.error);
            let facts = Facts::Host { requests: state.requests, failures: state.failures };
            trace.event(&state.last_failure, TraceStage::Asked, says, facts);
        }
    })?;
    Ok(())
}

/// The outcome of an entry by its status and prospect, and its description.
fn outcome_of(entry: &Entry, prospect: Prospect, failure: Option<&PageFailure>) -> (TraceOutcome, String) {
    match entry.status {
        Status::New => return (TraceOutcome::Waiting, "waiting to be fetched".to_owned()),
        Status::Ok => return (TraceOutcome::Stored, "fetched".to_owned()),
        Status::Failed(FailureKind::Removed) => return (TraceOutcome::Removed, "removed by a takedown".to_owned()),
        _ => {}
    }
    let detail = failure.map(|failure| failure.detail.as_str()).filter(|detail| !detail.is_empty());
    let what = match detail {
        Some(detail) => format!("{} ({detail})", meaning(&entry.status)),
        None => meaning(&entry.status),
    };
    let since = failure.map(|failure| format!(", failing since {}", failure.first)).unwrap_or_default();
    let tried = count(entry.retries.into(), "try");
    match prospect {
        Prospect::Waits(until) if entry.status.is_final() => {
            (TraceOutcome::Failed, format!("{what}; checked again after {until:.0} while its feed lists it"))
        }
        Prospect::Due if entry.status.is_final() => {
            (TraceOutcome::Failed, format!("{what}; the next fetch checks it again, because its feed lists it"))
        }
        Prospect::Waits(until) => {
            (TraceOutcome::Failing, format!("{what} after {tried}{since}; will be retried after {until:.0}"))
        }
        Prospect::Due => (TraceOutcome::Failing, format!("{what} after {tried}{since}; the next fetch retries it")),
        Prospect::GivenUp => {
            (TraceOutcome::Failed, format!("{what} after {tried}{since}; given up (see fetch.retry_days)"))
        }
        Prospect::Settled => (TraceOutcome::Failed, format!("{what}; not retried, because the failure is permanent")),
    }
}

/// The description of a status.
fn meaning(status: &Status) -> String {
    match status {
        Status::Failed(kind) => format!("{kind}: {}", kind.meaning()),
        status => format!("HTTP status {status}"),
    }
}

/// Traces the requests for a page; returns the runs that fetched it.
fn trace_requests(trace: &mut Trace, pipeline: &Pipeline, url: &str, since: &str) -> Result<Vec<String>> {
    let home = pipeline.home();
    // The rest of the day is a tolerance for clock changes and concurrent runs.
    let since: Option<Date> = since.get(..10).and_then(|day| day.parse().ok());
    let is_late_enough = |run: &LoggedRun| since.is_none_or(|since| run.day() >= since);
    let logged: Vec<_> = runs::all(home)?.into_iter().filter(is_late_enough).collect();
    let progress = ProgressScope::begin(pipeline.reporter(), "runs", logged.len() as u64);
    let (mut sent, mut stored) = (Vec::new(), Vec::new());
    for (done, run) in (0..).zip(&logged) {
        progress.show(done, "");
        let found = runs::requests_with(run, &format!("\"{url}\""))?;
        let run = run.name().to_owned();
        for request in found.requests.into_iter().filter(|request| request.url == url) {
            let after = std::time::Duration::from_millis(request.sent_ms);
            let at = found.began.and_then(|began| began.checked_add(after).ok()).map(rfc3339);
            // The response at the target of a redirect is the page of this entry, and a refused page may have the text
            // in the feed.
            let status = request.status();
            let is_stored = matches!(status, Status::Http(200..=303 | 305..400)) || makes_up_for(&status);
            if is_stored && !stored.contains(&run) {
                stored.push(run.clone());
            }
            sent.push((at.unwrap_or_default(), run.clone(), request));
        }
    }
    list_requests(trace, sent);
    Ok(stored)
}

/// Adds the last requests individually, and the number of the others.
fn list_requests(trace: &mut Trace, sent: Vec<(String, String, Request)>) {
    let skipped = sent.len().saturating_sub(LISTED);
    if skipped > 0 {
        let says = format!("{} earlier", count(skipped as u64, "time"));
        trace.event("", TraceStage::Asked, says, Facts::EarlierRequests { requests: skipped });
    }
    for (at, run, request) in sent.into_iter().skip(skipped) {
        let robots = match request.robots_age_s {
            Some(age) => format!("allowed by a robots.txt {:.1} h old", age as f64 / 3600.0),
            None => "without a robots.txt".to_owned(),
        };
        let says = format!("{}, {} bytes, {robots} (run {run})", request.status, grouped(request.bytes));
        let Request { status, bytes, robots_age_s, .. } = request;
        trace.event(&at, TraceStage::Asked, says, Facts::Request { run, status, bytes, robots_age_s });
    }
}

/// Traces the files of a page; returns their days.
fn trace_page(trace: &mut Trace, home: &Home, url: &str, files: &[PathBuf]) -> Result<BTreeSet<String>> {
    let known: BTreeSet<String> = docs::document_days(home)?.into_iter().collect();
    let mut days = BTreeSet::new();
    for file in files {
        let mut found: Option<Page> = None;
        scan::lines(file, url, |line| {
            found = serde_json::from_slice::<Page>(line).ok().filter(|page| page.url == url);
            if found.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        let Some(page) = found else { continue };
        let shown = home.shown(file);
        days.extend(shown.split('/').nth(1).map(str::to_owned));
        // The logs of earlier runs may have been deleted.
        days.extend(revisions::days_of(&page.revises).into_iter().filter(|day| known.contains(day)));
        let moved = match page.final_url.is_empty() || page.final_url == page.url {
            true => String::new(),
            false => format!(" from {} after redirects", page.final_url),
        };
        let origin = match page.origin {
            PageOrigin::Web => String::new(),
            PageOrigin::Feed => format!(", the text in the feed, because the page answered {}", page.status),
        };
        let bytes = grouped(page.body.len() as u64);
        let says = format!("{bytes} bytes of {}{moved}{origin} in {shown}", page.content_type);
        let facts = Facts::Page {
            file: shown,
            final_url: page.final_url,
            bytes: page.body.len(),
            status: page.status,
            origin: page.origin,
            rights: Box::new(page.rights),
        };
        trace.outcome = TraceOutcome::Stored;
        trace.event(&page.downloaded, TraceStage::Stored, says, facts);
    }
    Ok(days)
}

/// The files of pages from a day on that wait for `clean`.
fn waiting_pages(home: &Home, first: &str) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for day in docs::page_days(home)?.into_iter().filter(|day| day.name.as_str() >= first) {
        if Recipe::read(home, &day.name)?.is_none() {
            files.extend(day.files);
        }
    }
    Ok(files)
}

fn trace_removed(trace: &mut Trace, removed: &Removed, url: &str, id: Option<&str>) {
    if let Some(stone) = id.and_then(|id| removed.document(id)).or_else(|| removed.covers(url)) {
        trace.outcome = TraceOutcome::Removed;
        let state = if stone.done.is_empty() { "; not finished, run `tidings remove`" } else { "" };
        let says = format!("removed by {}, reason: {}{state}", stone.kind.word(), stone.reason);
        trace.event(&stone.date, TraceStage::Removed, says, Facts::removal(stone));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidings_store::journal::{JournalBatch, Record};
    use tidings_store::removed::{Tombstone, TombstoneKind};

    use crate::stage::StageId;
    use crate::testing::{FEED, apply, article, home, page, plan_entries, store_pages};

    #[test]
    fn a_url_is_also_found_with_another_scheme_slash_or_www() {
        let spellings = spellings("http://www.e.org/a/");
        assert_eq!(spellings[0], "http://www.e.org/a/");
        for other in ["https://www.e.org/a", "http://e.org/a", "https://e.org/a/"] {
            assert!(spellings.iter().any(|known| known == other), "{other}");
        }
    }

    #[test]
    fn an_entry_is_found_by_an_equal_url() {
        let (_folder, pipeline) = home();
        plan_entries(pipeline.home(), &["https://e.org/%7eada/caf%c3%a9"]);
        let found = entry(pipeline.home(), "https://e.org/~ada/caf%C3%A9").unwrap().expect("an entry");
        assert_eq!(found.url, "https://e.org/%7eada/caf%c3%a9");
        assert!(entry(pipeline.home(), "https://e.org/~ada/cafe").unwrap().is_none());
    }

    #[test]
    fn the_description_of_a_failure_says_whether_it_is_retried() {
        let of = |word: &str, prospect, failure: Option<&PageFailure>| {
            let [seen, feed, url] = ["", "", URL].map(str::to_owned);
            let entry = Entry { age: 0, status: word.parse().unwrap(), word: word.into(), retries: 1, seen, feed, url };
            outcome_of(&entry, prospect, failure)
        };
        let until = "2026-03-01T12:15:00Z".parse().unwrap();
        assert_eq!(of("new", Prospect::Due, None).0, TraceOutcome::Waiting);
        assert_eq!(of("removed", Prospect::Settled, None), (TraceOutcome::Removed, "removed by a takedown".into()));
        let permanent = "HTTP status 404; not retried, because the failure is permanent";
        assert_eq!(of("404", Prospect::Settled, None), (TraceOutcome::Failed, permanent.into()));
        let failure = PageFailure {
            first: "2026-03-01T12:00:00.000Z".into(),
            detail: "certificate expired".into(),
            ..PageFailure::default()
        };
        let (outcome, says) = of("tls", Prospect::Waits(until), Some(&failure));
        assert_eq!(outcome, TraceOutcome::Failing);
        assert_eq!(
            says,
            "tls: the secure connection could not be set up (certificate expired) after 1 try, failing since \
             2026-03-01T12:00:00.000Z; will be retried after 2026-03-01T12:15:00Z"
        );
        assert_eq!(of("500", Prospect::GivenUp, Some(&failure)).0, TraceOutcome::Failed);
        assert!(of("private", Prospect::Waits(until), None).1.contains("checked again after 2026-03-01T12:15:00Z"));
    }

    const URL: &str = "https://gazette.example/1";

    fn stages(trace: &Trace) -> Vec<TraceStage> {
        trace.events.iter().map(|event| event.stage).collect()
    }

    fn says(trace: &Trace, stage: TraceStage) -> &str {
        trace.events.iter().find(|event| event.stage == stage).map_or("", |event| &event.says)
    }

    fn settle(pipeline: &Pipeline, status: &str) {
        let mut batch = JournalBatch::default();
        batch.push(&Record::Outcome { url: URL.into(), status: status.into(), retries: 1, failure: None });
        apply(pipeline.home(), "20260301T120000000Z-fetch", batch);
    }

    #[test]
    fn an_unknown_url_is_unknown() {
        let (_folder, pipeline) = home();
        let trace = super::super::trace(&pipeline, URL).unwrap();
        assert_eq!((trace.done, trace.outcome, trace.events.len()), (false, TraceOutcome::Unknown, 1));
        assert!(trace.events[0].says.starts_with("https://gazette.example/1 is unknown"));
    }

    #[test]
    fn a_waiting_entry_is_found_in_the_plan() {
        let (_folder, pipeline) = home();
        plan_entries(pipeline.home(), &[URL]);
        let trace = super::super::trace(&pipeline, URL).unwrap();
        assert_eq!((trace.done, trace.outcome), (true, TraceOutcome::Waiting));
        assert_eq!(stages(&trace), [TraceStage::Listed, TraceStage::Plan]);
        assert_eq!(trace.events[0].says, format!("by {FEED}"));
        assert_eq!(trace.events[1].says, "waiting to be fetched; still listed by its feed");
    }

    #[test]
    fn an_entry_is_found_by_another_spelling() {
        let (_folder, pipeline) = home();
        plan_entries(pipeline.home(), &[URL]);
        let trace = super::super::trace(&pipeline, "http://www.gazette.example/1/").unwrap();
        assert_eq!(trace.outcome, TraceOutcome::Waiting);
    }

    #[test]
    fn a_failed_entry_has_a_reason() {
        let (_folder, pipeline) = home();
        plan_entries(pipeline.home(), &[URL]);
        settle(&pipeline, "robots");
        let trace = super::super::trace(&pipeline, URL).unwrap();
        assert_eq!(trace.outcome, TraceOutcome::Failed);
        assert!(says(&trace, TraceStage::Plan).starts_with("robots: robots.txt forbids it; the next fetch"));
    }

    #[test]
    fn a_page_in_no_file_is_lost() {
        let (_folder, pipeline) = home();
        plan_entries(pipeline.home(), &[URL]);
        settle(&pipeline, "ok");
        let trace = super::super::trace(&pipeline, URL).unwrap();
        assert_eq!(trace.outcome, TraceOutcome::Lost);
        assert_eq!(says(&trace, TraceStage::Stored), "its page is in no file; check a backup");
    }

    #[test]
    fn a_stored_page_waits_for_clean() {
        let (_folder, pipeline) = home();
        plan_entries(pipeline.home(), &[URL]);
        settle(&pipeline, "ok");
        store_pages(&pipeline, "2026-03-01", &[page(URL, &article("ferry"))]);
        let trace = super::super::trace(&pipeline, URL).unwrap();
        assert_eq!(trace.outcome, TraceOutcome::Stored);
        assert!(says(&trace, TraceStage::Stored).ends_with("in pages/2026-03-01/a.0.jsonl.zst"));
        assert_eq!(says(&trace, TraceStage::Docs), "waits for `tidings clean`");
    }

    #[test]
    fn a_page_without_text_is_dropped_by_a_rule() {
        let (_folder, pipeline) = home();
        store_pages(&pipeline, "2026-03-01", &[page(URL, "<html></html>")]);
        crate::rebuild::remake(&pipeline, StageId::Clean).unwrap();
        let trace = super::super::trace(&pipeline, URL).unwrap();
        assert_eq!(trace.outcome, TraceOutcome::LeftOut);
        assert!(says(&trace, TraceStage::Clean).starts_with("dropped by rule no-text"));
    }

    #[test]
    fn a_page_is_traced_to_its_segment() {
        let (_folder, pipeline) = home();
        store_pages(&pipeline, "2026-03-01", &[page(URL, &article("ferry"))]);
        crate::rebuild::remake(&pipeline, StageId::Clean).unwrap();
        let trace = super::super::trace(&pipeline, URL).unwrap();
        assert_eq!(trace.outcome, TraceOutcome::Searchable, "{trace}");
        let expected = [TraceStage::Clean, TraceStage::Dedup, TraceStage::Annotate, TraceStage::Index];
        assert_eq!(stages(&trace), expected);
        assert!(says(&trace, TraceStage::Dedup).starts_with("all of its "));
        assert!(says(&trace, TraceStage::Index).starts_with("searchable, in index/en/"));
    }

    #[test]
    fn a_document_is_traced_by_its_id_like_its_page() {
        let (_folder, pipeline) = home();
        store_pages(&pipeline, "2026-03-01", &[page(URL, &article("ferry"))]);
        for (last, expected) in [
            (StageId::Clean, TraceOutcome::Document),
            (StageId::Dedup, TraceOutcome::Document),
            (StageId::Annotate, TraceOutcome::Text),
            (StageId::Compile, TraceOutcome::Searchable),
        ] {
            pipeline.run(last.stage().as_ref()).unwrap();
            let of_page = super::super::trace(&pipeline, URL).unwrap();
            let id = of_page.events.iter().find_map(|event| match &event.facts {
                Some(Facts::Document(facts)) => Some(facts.id.clone()),
                _ => None,
            });
            let id = id.unwrap();
            let of_document = super::super::trace(&pipeline, &id).unwrap();
            assert_eq!(of_document.about, Subject::Document { id, url: Some(URL.to_owned()) });
            assert_eq!((of_document.outcome, of_page.outcome), (expected, expected), "after {last}");
        }
    }

    #[test]
    fn a_copy_is_traced_to_its_source() {
        let (_folder, pipeline) = home();
        store_pages(&pipeline, "2026-03-01", &[page(URL, &article("ferry"))]);
        store_pages(&pipeline, "2026-03-02", &[page("https://courier.example/1", &article("ferry"))]);
        crate::rebuild::remake(&pipeline, StageId::Clean).unwrap();
        let trace = super::super::trace(&pipeline, "https://courier.example/1").unwrap();
        assert_eq!(trace.outcome, TraceOutcome::Duplicate, "{trace}");
        assert!(says(&trace, TraceStage::Dedup).contains("(100 %) are duplicates; a copy of "), "{trace}");
        assert_eq!(says(&trace, TraceStage::Annotate), "dropped: no new text");
    }

    #[test]
    fn a_hidden_document_is_not_searchable() {
        let (_folder, pipeline) = home();
        store_pages(&pipeline, "2026-03-01", &[page(URL, &article("ferry"))]);
        crate::rebuild::remake(&pipeline, StageId::Clean).unwrap();
        tidings_store::hidden::write(pipeline.home(), &[URL.to_owned()].into()).unwrap();
        let trace = super::super::trace(&pipeline, URL).unwrap();
        assert_eq!(trace.outcome, TraceOutcome::Hidden);
        assert_eq!(says(&trace, TraceStage::Index), "hidden by hidden.tsv");
    }

    #[test]
    fn a_removed_page_shows_its_tombstone_and_unfinished_work() {
        let (_folder, pipeline) = home();
        let mut removed = Removed::default();
        removed.add(Tombstone {
            kind: TombstoneKind::Host,
            what: "gazette.example".into(),
            date: "2026-03-05".into(),
            reason: "on request".into(),
            ..Tombstone::default()
        });
        removed.write(pipeline.home()).unwrap();
        let trace = super::super::trace(&pipeline, URL).unwrap();
        assert_eq!(trace.outcome, TraceOutcome::Removed);
        let says = says(&trace, TraceStage::Removed);
        assert_eq!(says, "removed by host, reason: on request; not finished, run `tidings remove`");
    }

    #[test]
    fn an_unknown_document_is_unknown() {
        let (_folder, pipeline) = home();
        let trace = super::super::trace(&pipeline, &"ab".repeat(16)).unwrap();
        assert_eq!((trace.done, trace.outcome), (false, TraceOutcome::Unknown));
        assert_eq!(trace.events[0].says, format!("no document with the id {}", "ab".repeat(16)));
    }

    #[test]
    fn the_last_requests_are_listed_and_the_others_counted() {
        let mut trace = Trace::new(Subject::Page { url: URL.into() });
        let request = || Request { status: "503".into(), bytes: 1200, robots_age_s: Some(5400), ..Request::default() };
        let sent = (0..LISTED + 2).map(|_| (String::new(), "run".to_owned(), request())).collect();
        list_requests(&mut trace, sent);
        assert_eq!(trace.events.len(), LISTED + 1);
        assert_eq!(trace.events[0].says, "2 times earlier");
        assert_eq!(trace.events[1].says, "503, 1,200 bytes, allowed by a robots.txt 1.5 h old (run run)");
    }
}
