//! The trace of an article: from the feed that listed it to the page that is stored.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::PathBuf;

use anyhow::Result;
use tidings_model::{FailureKind, Page, Status, address};
use tidings_store::docs::{self, Recipe};
use tidings_store::removed::Removed;
use tidings_store::runs::{self, Request};
use tidings_store::{Home, apply_journal, plan, rfc3339, scan};

use super::document::{self, DayTarget};
use super::{Facts, Subject, Trace, TraceOutcome, TraceStage};
use crate::Pipeline;
use crate::config::Config;
use crate::display::{count, grouped};
use crate::reporter::ProgressScope;

/// Requests and duplicates that are listed one by one.
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

/// Traces an address.
pub fn of_address(pipeline: &Pipeline, url: &str) -> Result<Trace> {
    let (home, config) = (pipeline.home(), pipeline.config());
    let mut trace = Trace::new(Subject::Page { url: url.to_owned() });
    let removed = Removed::read(home)?;
    let entry = entry(home, url)?;
    let url = entry.as_ref().map_or(url, |entry| entry.url.as_str()).to_owned();
    match &entry {
        Some(entry) => trace_entry(&mut trace, entry, config),
        None if apply_journal::was_pruned(home, &url)? => {
            trace.outcome = TraceOutcome::Pruned;
            let says =
                "is not in the plan: it was settled and pruned, or came in by an import; it will not be fetched again";
            trace.note("", TraceStage::Plan, says);
        }
        None => {}
    }
    // A run that began before the entry was seen did not ask for it.
    let since = entry.as_ref().map(|entry| entry.seen.clone()).unwrap_or_default();
    let stored = trace_requests(&mut trace, pipeline, &url, &since)?;
    let is_stored = entry.as_ref().is_none_or(|entry| entry.status == Status::Ok);
    let first = since.get(..10).unwrap_or_default();
    let mut days = match &stored {
        Some(run) => trace_page(&mut trace, home, &url, &scan::pages_of_run(home, run)?)?,
        None if is_stored => trace_page(&mut trace, home, &url, &waiting_pages(home, first)?)?,
        None => BTreeSet::new(),
    };
    if days.is_empty() && is_stored {
        // It was imported, or the log of its run is gone: the documents of every day may know it.
        days = docs::document_days(home)?.into_iter().filter(|day| day.as_str() >= first).collect();
    }
    let progress = ProgressScope::begin(pipeline.reporter(), "days", days.len() as u64);
    for (done, day) in (0..).zip(&days) {
        progress.show(done, day);
        document::trace_day(&mut trace, home, config, day, &DayTarget::Address(&url))?;
    }
    let is_traced = trace.events.iter().any(|event| matches!(event.stage, TraceStage::Stored | TraceStage::Clean));
    if entry.is_some() && is_stored && !is_traced {
        trace.outcome = TraceOutcome::Lost;
        trace.note("", TraceStage::Stored, "no file has its page; a backup may");
    }
    trace_removed(&mut trace, &removed, &url, None);
    if trace.events.is_empty() {
        let says = format!("nothing is known of {url}: no feed listed it, no page and no document has it");
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
            trace.note("", TraceStage::Docs, format!("there is no document {id}"));
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
    let url = address::normalise(&document.url, None).unwrap_or(document.url);
    let mut trace = of_address(pipeline, &url)?;
    trace.about = Subject::Document { id: id.to_owned(), url: Some(url) };
    Ok(trace)
}

/// The entry of an address in the plan, also where others write the address otherwise.
fn entry(home: &Home, url: &str) -> Result<Option<Entry>> {
    let spellings = spellings(url);
    let mut found: Option<(usize, Entry)> = None;
    plan::read(home, |row| {
        let Some(at) = spellings.iter().position(|known| known == row.url) else { return };
        if found.as_ref().is_none_or(|(best, _)| at < *best) {
            let [word, seen, feed, url] = [row.status, row.seen, row.feed, row.url].map(str::to_owned);
            let status = row.status.parse().unwrap_or(Status::New);
            found = Some((at, Entry { age: row.age, status, word, retries: row.retries, seen, feed, url }));
        }
    })?;
    Ok(found.map(|(_, entry)| entry))
}

/// An address, and how else people write it.
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

fn trace_entry(trace: &mut Trace, entry: &Entry, config: &Config) {
    let facts = Facts::Entry {
        feed: entry.feed.clone(),
        url: entry.url.clone(),
        age: entry.age,
        status: entry.word.clone(),
        retries: entry.retries,
    };
    trace.event(&entry.seen, TraceStage::Listed, format!("by {}", entry.feed), facts.clone());
    let (outcome, says) = outcome_of(&entry.status, entry.retries, config.fetch.retries);
    trace.outcome = outcome;
    let listed = match entry.age {
        0 => "its feed lists it still".to_owned(),
        age => format!("left its feed {} ago", count(age.into(), "update")),
    };
    trace.event("", TraceStage::Plan, format!("{says}; {listed}"), facts);
}

/// The outcome of an entry by its status, and the sentence about it.
fn outcome_of(status: &Status, retries: u32, limit: u32) -> (TraceOutcome, String) {
    let tried = count(retries.into(), "try");
    match status {
        Status::New => (TraceOutcome::Waiting, "waits to be fetched".to_owned()),
        Status::Ok => (TraceOutcome::Stored, "the page was fetched".to_owned()),
        Status::Failed(FailureKind::Removed) => (TraceOutcome::Removed, "was taken out".to_owned()),
        status if status.is_pending(retries, limit) => {
            let says = format!("{} after {tried}; will be tried again, up to {limit} times", meaning(status));
            (TraceOutcome::Failing, says)
        }
        status if status.is_final() => {
            (TraceOutcome::Failed, format!("{}; asking again would not help", meaning(status)))
        }
        status => {
            let says = format!("{} after {tried}, which is as often as fetch.retries allows", meaning(status));
            (TraceOutcome::Failed, says)
        }
    }
}

/// A status in words.
fn meaning(status: &Status) -> String {
    match status {
        Status::Failed(kind) => format!("{kind}: {}", kind.meaning()),
        status => format!("the server answered {status}"),
    }
}

/// Traces when the page was asked for; returns the run that got it.
fn trace_requests(trace: &mut Trace, pipeline: &Pipeline, url: &str, since: &str) -> Result<Option<String>> {
    let home = pipeline.home();
    let since: String = since.chars().filter(char::is_ascii_alphanumeric).collect();
    let is_late_enough = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        // A day's slack: clocks are set, and a run may have gone on while another began.
        name.get(..8).is_none_or(|day| day >= since.get(..8).unwrap_or_default())
    };
    let files: Vec<_> = runs::files(home)?.into_iter().filter(is_late_enough).collect();
    let progress = ProgressScope::begin(pipeline.reporter(), "runs", files.len() as u64);
    let (mut sent, mut stored) = (Vec::new(), None);
    for (done, file) in (0..).zip(&files) {
        progress.show(done, "");
        let found = runs::requests_with(file, &format!("\"{url}\""))?;
        let run = home.shown(file).trim_start_matches("runs/").trim_end_matches(".jsonl.zst").to_owned();
        for request in found.requests.into_iter().filter(|request| request.url == url) {
            let after = std::time::Duration::from_millis(request.sent_ms);
            let at = found.began.and_then(|began| began.checked_add(after).ok()).map(rfc3339);
            // A redirect leads on, and what answers there is the page of this entry.
            if matches!(request.status(), Status::Http(200..400)) {
                stored = Some(run.clone());
            }
            sent.push((at.unwrap_or_default(), run.clone(), request));
        }
    }
    list_requests(trace, sent);
    Ok(stored)
}

/// Adds the last requests one by one, and the number of the others.
fn list_requests(trace: &mut Trace, sent: Vec<(String, String, Request)>) {
    let skipped = sent.len().saturating_sub(LISTED);
    if skipped > 0 {
        let says = format!("{} earlier", count(skipped as u64, "time"));
        trace.event("", TraceStage::Asked, says, Facts::EarlierRequests { requests: skipped });
    }
    for (at, run, request) in sent.into_iter().skip(skipped) {
        let robots = match request.robots_age_s {
            Some(age) => format!("allowed by a robots.txt {:.1} h old", age as f64 / 3600.0),
            None => "no robots.txt was asked".to_owned(),
        };
        let says = format!("{}, {} bytes, {robots} (run {run})", request.status, grouped(request.bytes));
        let Request { status, bytes, robots_age_s, .. } = request;
        trace.event(&at, TraceStage::Asked, says, Facts::Request { run, status, bytes, robots_age_s });
    }
}

/// Traces where the page lies; returns the days of its files.
fn trace_page(trace: &mut Trace, home: &Home, url: &str, files: &[PathBuf]) -> Result<BTreeSet<String>> {
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
        let moved = match page.final_url.is_empty() || page.final_url == page.url {
            true => String::new(),
            false => format!(" from {}, where redirects led", page.final_url),
        };
        let says = format!("{} bytes of {}{moved} in {shown}", grouped(page.body.len() as u64), page.content_type);
        let facts = Facts::Page {
            file: shown,
            final_url: page.final_url,
            bytes: page.body.len(),
            status: page.status,
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
        let state = if stone.done.is_empty() { "; the work is not done, run `tidings remove`" } else { "" };
        let says = format!("taken out by {}, because: {}{state}", stone.kind.word(), stone.reason);
        trace.event(&stone.date, TraceStage::Removed, says, Facts::removal(stone));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_also_found_with_another_scheme_slash_or_www() {
        let spellings = spellings("http://www.e.org/a/");
        assert_eq!(spellings[0], "http://www.e.org/a/");
        for other in ["https://www.e.org/a", "http://e.org/a", "https://e.org/a/"] {
            assert!(spellings.iter().any(|known| known == other), "{other}");
        }
    }

    #[test]
    fn a_failure_says_whether_it_is_tried_again() {
        let of = |word: &str, retries| outcome_of(&word.parse().unwrap(), retries, 3);
        assert_eq!(of("new", 0).0, TraceOutcome::Waiting);
        assert_eq!(of("removed", 0), (TraceOutcome::Removed, "was taken out".into()));
        assert_eq!(of("404", 1).1, "the server answered 404; asking again would not help");
        let (outcome, says) = of("timeout", 1);
        assert_eq!(outcome, TraceOutcome::Failing);
        assert_eq!(says, "timeout: no response in time after 1 try; will be tried again, up to 3 times");
        assert_eq!(of("timeout", 3).0, TraceOutcome::Failed);
    }
}
