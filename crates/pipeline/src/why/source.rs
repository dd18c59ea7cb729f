//! The trace of a feed and of a host: how they were asked, and what came of what they gave.

use std::collections::BTreeMap;

use anyhow::Result;
use tidings_model::address;
use tidings_store::docs::{self, DroppedPage};
use tidings_store::feeds::{self, FeedState, Polled};
use tidings_store::removed::Removed;
use tidings_store::runs::{self, Request, RequestKind};
use tidings_store::yields::{self, Yield};
use tidings_store::{Home, hosts, plan, rules};

use super::{Facts, Subject, Trace, TraceOutcome, TraceStage};
use crate::display::{count, grouped};

/// Runs that are looked at for requests, and days for what was left out: what a source was like last year says little.
const RECENT: usize = 30;

/// Traces a feed.
pub fn of_feed(home: &Home, feed: &str) -> Result<Trace> {
    let mut trace = Trace::new(Subject::Feed { url: feed.to_owned() });
    let listed = feeds::list(home)?.feeds.into_iter().find(|listed| listed.url == feed);
    trace.outcome = if listed.is_some() { TraceOutcome::Listed } else { TraceOutcome::Unlisted };
    let says = match &listed {
        Some(listed) if listed.labels.is_empty() => "stands in feeds.txt".to_owned(),
        Some(listed) => {
            let labels: Vec<String> = listed.labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
            format!("stands in feeds.txt, with {}", labels.join(", "))
        }
        None => "does not stand in feeds.txt, so it is not polled".to_owned(),
    };
    trace.event("", TraceStage::Listed, says, Facts::Labels { labels: listed.map(|listed| listed.labels) });
    match feeds::states(home)?.remove(feed) {
        Some(state) => trace_polls(&mut trace, state),
        None => trace.note("", TraceStage::Polled, "never: `tidings update` has not come by yet"),
    }
    let is_poll = |request: &Request| request.kind == RequestKind::Feed && request.url == feed;
    trace_requests(&mut trace, home, &format!("\"{feed}\""), is_poll)?;
    trace_entries(&mut trace, home, |row| row.feed == feed)?;
    trace_yield(&mut trace, home, |row| row.feed == feed)?;
    trace_dropped(&mut trace, home, &format!("\"{feed}\""), |page| page.feed == feed)?;
    trace_removed(&mut trace, home, feed)?;
    Ok(trace)
}

/// Adds how a feed was polled, where it moved to, and when it is polled next.
fn trace_polls(trace: &mut Trace, state: FeedState) {
    let title = if state.title.is_empty() { String::new() } else { format!(" of “{}”", state.title) };
    let says = match state.polled {
        Polled::Listed => format!("listed {}{title}", count(state.entries.into(), "entry")),
        Polled::Unchanged => format!("unchanged since {}", state.succeeded),
        Polled::Failed => {
            trace.outcome = TraceOutcome::Failed;
            format!("failed, {} in a row: {}", count(state.failures.into(), "time"), state.error)
        }
        Polled::Gone => {
            trace.outcome = TraceOutcome::Gone;
            format!("gone for good ({}); it is not asked again", state.error)
        }
    };
    let moved = (!state.moved_to.is_empty()).then(|| {
        let says = format!("moved to {}, confirmed {}", state.moved_to, count(state.moved_times.into(), "time"));
        (says, Facts::Moved { moved_to: state.moved_to.clone() })
    });
    let or_unknown = |text: &str| if text.is_empty() { "?".to_owned() } else { text.to_owned() };
    let next = format!(
        "every {} min: {} entries a day, its list reaches back {} h; it brought {} in all",
        state.interval_min,
        or_unknown(&state.rate),
        or_unknown(&state.window_age_h),
        count(state.brought, "entry"),
    );
    let (due, not_before) = (state.due.clone(), state.not_before.clone());
    let checked = state.checked.clone();
    trace.event(&checked, TraceStage::Polled, says, Facts::Feed(Box::new(state)));
    if let Some((says, facts)) = moved {
        trace.event("", TraceStage::Polled, says, facts);
    }
    trace.event(&due.clone(), TraceStage::Due, next, Facts::Due { due, not_before });
}

/// Traces a host.
pub fn of_host(home: &Home, host: &str) -> Result<Trace> {
    let mut trace = Trace::new(Subject::Host { host: host.to_owned() });
    let is_here = |url: &str| address::host(url).is_some_and(|name| name.eq_ignore_ascii_case(host));
    let feeds: Vec<String> =
        feeds::list(home)?.feeds.into_iter().map(|feed| feed.url).filter(|feed| is_here(feed)).collect();
    if !feeds.is_empty() {
        trace.outcome = TraceOutcome::Known;
        let says = format!("{} of feeds.txt: {}", count(feeds.len() as u64, "feed"), feeds.join(", "));
        trace.event("", TraceStage::Listed, says, Facts::Feeds { feeds });
    }
    hosts::read(home, |state| {
        if state.host == host {
            trace_host_state(&mut trace, &state);
        }
    })?;
    let mut answers = Vec::new();
    rules::read(home, |answer| is_here(&answer.origin), |answer| answers.push(answer))?;
    for answer in answers {
        let size = answer.body.as_ref().map_or(0, String::len) as u64;
        let says = format!("{} of {}: {}, {} bytes", answer.kind, answer.origin, answer.status, grouped(size));
        let rules::RulesAnswer { origin, kind, status, digest, .. } = answer;
        trace.event(&answer.fetched, TraceStage::Rules, says, Facts::Rules { origin, kind, status, digest });
    }
    trace_requests(&mut trace, home, &format!("\"{host}\""), |request| request.host == host)?;
    trace_entries(&mut trace, home, |row| is_here(row.url))?;
    trace_yield(&mut trace, home, |row| row.host == host)?;
    trace_dropped(&mut trace, home, host, |page| is_here(&page.url))?;
    trace_removed(&mut trace, home, &format!("http://{host}/"))?;
    if trace.events.is_empty() {
        trace.note("", TraceStage::Plan, format!("nothing is known of the host {host}"));
    }
    Ok(trace)
}

fn trace_host_state(trace: &mut Trace, state: &hosts::HostState) {
    trace.outcome = TraceOutcome::Known;
    let wait = match state.not_before.is_empty() {
        true => String::new(),
        false => format!("; it wants to be left alone until {}", state.not_before),
    };
    let failures = match state.failures {
        0 => String::new(),
        runs => format!("; not reached in {} in a row", count(runs.into(), "run")),
    };
    let says = format!("{} in all{failures}{wait}", count(state.requests, "request"));
    let facts = Facts::Host { requests: state.requests, failures: state.failures };
    trace.event(&state.last_request, TraceStage::Asked, says, facts);
}

/// `12 200, 3 timeout`: counts, the largest first.
fn listed(counts: &BTreeMap<String, u64>) -> String {
    let mut rows: Vec<(&String, &u64)> = counts.iter().collect();
    rows.sort_by_key(|(name, number)| (std::cmp::Reverse(**number), name.to_owned()));
    rows.iter().map(|(name, number)| format!("{} {name}", grouped(**number))).collect::<Vec<_>>().join(", ")
}

/// Adds how the last runs asked, and what was answered.
fn trace_requests(trace: &mut Trace, home: &Home, words: &str, is_it: impl Fn(&Request) -> bool) -> Result<()> {
    let files = runs::files(home)?;
    let recent = &files[files.len().saturating_sub(RECENT)..];
    let mut statuses: BTreeMap<String, u64> = BTreeMap::new();
    for file in recent {
        for request in runs::requests_with(file, words)?.requests.into_iter().filter(|request| is_it(request)) {
            *statuses.entry(request.status).or_default() += 1;
        }
    }
    if !statuses.is_empty() {
        let says = format!("in the last {}: {}", count(recent.len() as u64, "run"), listed(&statuses));
        trace.event("", TraceStage::Asked, says, Facts::Requests { runs: recent.len(), statuses });
    }
    Ok(())
}

/// Adds what became of the entries.
fn trace_entries(trace: &mut Trace, home: &Home, is_it: impl Fn(&tidings_model::Row<'_>) -> bool) -> Result<()> {
    let (mut statuses, mut first, mut last) = (BTreeMap::<String, u64>::new(), String::new(), String::new());
    plan::read(home, |row| {
        if is_it(row) {
            *statuses.entry(row.status.to_owned()).or_default() += 1;
            if first.is_empty() || row.seen < first.as_str() {
                row.seen.clone_into(&mut first);
            }
            if row.seen > last.as_str() {
                row.seen.clone_into(&mut last);
            }
        }
    })?;
    let entries: u64 = statuses.values().sum();
    if entries > 0 {
        if trace.outcome == TraceOutcome::Unknown {
            trace.outcome = TraceOutcome::Known;
        }
        let since = first.get(..10).unwrap_or("?");
        let says = format!("{} since {since}: {}", count(entries, "entry"), listed(&statuses));
        trace.event(&last.clone(), TraceStage::Plan, says, Facts::Entries { entries, statuses, first, last });
    }
    Ok(())
}

/// Adds what came of the pages.
fn trace_yield(trace: &mut Trace, home: &Home, is_it: impl Fn(&yields::DayRow) -> bool) -> Result<()> {
    let mut sum = Yield::default();
    let (mut days, mut last) = (0, String::new());
    yields::days(home, |day, row| {
        if is_it(&row) {
            sum += row.sum;
            if last != day {
                days += 1;
                day.clone_into(&mut last);
            }
        }
    })?;
    if sum.pages > 0 {
        trace.outcome = TraceOutcome::Known;
        let says = format!(
            "{} became {} on {}; of {} downloaded bytes {:.1} % are text",
            count(sum.pages, "page"),
            count(sum.documents, "document"),
            count(days, "day"),
            grouped(sum.downloaded),
            100.0 * sum.rate(),
        );
        trace.event(&last, TraceStage::Clean, says, Facts::yielded(sum, days));
    }
    Ok(())
}

/// Adds why pages gave no document, on the last days.
fn trace_dropped(trace: &mut Trace, home: &Home, words: &str, is_it: impl Fn(&DroppedPage<'_>) -> bool) -> Result<()> {
    let days = docs::document_days(home)?;
    let recent = &days[days.len().saturating_sub(RECENT)..];
    let mut reasons: BTreeMap<String, u64> = BTreeMap::new();
    for day in recent {
        docs::dropped_pages(home, day, words, |page| {
            if is_it(&page) {
                *reasons.entry(page.reason.into_owned()).or_default() += 1;
            }
        })?;
    }
    if !reasons.is_empty() {
        let says = format!("left out on the last {}: {}", count(recent.len() as u64, "day"), listed(&reasons));
        trace.event("", TraceStage::Clean, says, Facts::Reasons { reasons });
    }
    Ok(())
}

fn trace_removed(trace: &mut Trace, home: &Home, url: &str) -> Result<()> {
    if let Some(stone) = Removed::read(home)?.covers(url) {
        trace.outcome = TraceOutcome::Removed;
        let says = format!("taken out by {}, because: {}", stone.kind.word(), stone.reason);
        trace.event(&stone.date, TraceStage::Removed, says, Facts::removal(stone));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_listed_the_largest_first() {
        let counts = [("timeout".to_owned(), 3), ("200".to_owned(), 1200), ("404".to_owned(), 3)].into();
        assert_eq!(listed(&counts), "1,200 200, 3 404, 3 timeout");
    }

    #[test]
    fn a_feed_that_fails_says_how_often() {
        let mut trace = Trace::new(Subject::Feed { url: "http://e.org/feed".into() });
        let state = FeedState { polled: Polled::Failed, failures: 3, error: "dns".into(), ..FeedState::default() };
        trace_polls(&mut trace, state);
        assert_eq!(trace.outcome, TraceOutcome::Failed);
        assert_eq!(trace.events[0].says, "failed, 3 times in a row: dns");
        assert_eq!(trace.events[1].stage, TraceStage::Due);
    }
}
