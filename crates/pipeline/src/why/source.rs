//! The trace of a feed and of a host: requests, entries and yield.

use std::collections::BTreeMap;

use anyhow::Result;
use tidings_model::address;
use tidings_store::docs::{self, DroppedPage};
use tidings_store::feeds::{self, FeedState, Polled, SourceKind};
use tidings_store::removed::Removed;
use tidings_store::runs::{self, Request, RequestKind};
use tidings_store::yields::{self, Yield};
use tidings_store::{Home, hosts, plan, rules};

use super::{Facts, Subject, Trace, TraceOutcome, TraceStage};
use crate::display::{count, grouped};

/// The number of runs searched for requests and of days searched for dropped pages: the recent ones matter.
const RECENT: usize = 30;

/// Traces a feed.
pub fn of_feed(home: &Home, feed: &str) -> Result<Trace> {
    let mut trace = Trace::new(Subject::Feed { url: feed.to_owned() });
    let listed = feeds::list(home)?.feeds.into_iter().find(|listed| listed.url == feed);
    trace.outcome = if listed.is_some() { TraceOutcome::Listed } else { TraceOutcome::Unlisted };
    let says = match &listed {
        Some(listed) => {
            let kind = (listed.kind != SourceKind::Feed).then(|| format!("kind={}", listed.kind.word()));
            let labels = listed.labels.iter().map(|(key, value)| format!("{key}={value}"));
            let labels: Vec<String> = kind.into_iter().chain(labels).collect();
            match labels.is_empty() {
                true => "in feeds.txt".to_owned(),
                false => format!("in feeds.txt, with {}", labels.join(", ")),
            }
        }
        None => "not in feeds.txt, so it is not polled".to_owned(),
    };
    trace.event("", TraceStage::Listed, says, Facts::Labels { labels: listed.map(|listed| listed.labels) });
    match feeds::states(home)?.remove(feed) {
        Some(state) => trace_polls(&mut trace, state),
        None => trace.note("", TraceStage::Polled, "never; run `tidings update`"),
    }
    let is_poll = |request: &Request| request.kind == RequestKind::Feed && request.url == feed;
    trace_requests(&mut trace, home, &format!("\"{feed}\""), is_poll)?;
    trace_entries(&mut trace, home, |row| row.feed == feed)?;
    trace_yield(&mut trace, home, |row| row.feed == feed)?;
    trace_dropped(&mut trace, home, &format!("\"{feed}\""), |page| page.feed == feed)?;
    trace_removed(&mut trace, home, feed)?;
    Ok(trace)
}

/// Adds the polls of a feed, its move, and its next poll.
fn trace_polls(trace: &mut Trace, state: FeedState) {
    let title = if state.title.is_empty() { String::new() } else { format!(" of “{}”", state.title) };
    let says = match state.polled {
        Polled::Listed => {
            let linkless = match state.without_link {
                0 => String::new(),
                number => format!(", {} without a link to a page", grouped(number.into())),
            };
            let older = match state.history {
                0 => String::new(),
                number => format!(", {} are history for `tidings crawl --archive`", grouped(number.into())),
            };
            format!("listed {}{title}{linkless}{older}", count(state.entries.into(), "entry"))
        }
        Polled::Unchanged => format!("unchanged since {}", state.succeeded),
        Polled::Failed => {
            trace.outcome = TraceOutcome::Failed;
            format!("failed {} in a row: {}", count(state.failures.into(), "time"), state.error)
        }
        Polled::Gone => {
            trace.outcome = TraceOutcome::Gone;
            format!("gone ({}); it is not polled again", state.error)
        }
    };
    let moved = (!state.moved_to.is_empty()).then(|| {
        let says = format!("moved to {}, confirmed {}", state.moved_to, count(state.moved_times.into(), "time"));
        (says, Facts::Moved { moved_to: state.moved_to.clone() })
    });
    let or_unknown = |text: &str| if text.is_empty() { "?".to_owned() } else { text.to_owned() };
    let next = format!(
        "every {} min: {} entries per day, its list covers {} h; {} in total",
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
        let says = format!("{} in feeds.txt: {}", count(feeds.len() as u64, "feed"), feeds.join(", "));
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
        trace.note("", TraceStage::Plan, format!("the host {host} is unknown"));
    }
    Ok(trace)
}

fn trace_host_state(trace: &mut Trace, state: &hosts::HostState) {
    trace.outcome = TraceOutcome::Known;
    let wait = match state.not_before.is_empty() {
        true => String::new(),
        false => format!("; no requests before {} (Retry-After)", state.not_before),
    };
    let failures = match state.failures {
        0 => String::new(),
        runs => format!("; unreachable in {} in a row", count(runs.into(), "run")),
    };
    let says = format!("{} in total{failures}{wait}", count(state.requests, "request"));
    let facts = Facts::Host { requests: state.requests, failures: state.failures };
    trace.event(&state.last_request, TraceStage::Asked, says, facts);
}

/// `12 200, 3 timeout`: counts, the largest first.
fn listed(counts: &BTreeMap<String, u64>) -> String {
    let mut rows: Vec<(&String, &u64)> = counts.iter().collect();
    rows.sort_by_key(|(name, number)| (std::cmp::Reverse(**number), name.to_owned()));
    rows.iter().map(|(name, number)| format!("{} {name}", grouped(**number))).collect::<Vec<_>>().join(", ")
}

/// Adds the requests of the last runs by status.
fn trace_requests(trace: &mut Trace, home: &Home, words: &str, is_it: impl Fn(&Request) -> bool) -> Result<()> {
    let recent = runs::newest_first(home)?.take(RECENT).collect::<tidings_store::Result<Vec<_>>>()?;
    let mut statuses: BTreeMap<String, u64> = BTreeMap::new();
    for run in &recent {
        for request in runs::requests_with(run, words)?.requests.into_iter().filter(|request| is_it(request)) {
            *statuses.entry(request.status).or_default() += 1;
        }
    }
    if !statuses.is_empty() {
        let says = format!("in the last {}: {}", count(recent.len() as u64, "run"), listed(&statuses));
        trace.event("", TraceStage::Asked, says, Facts::Requests { runs: recent.len(), statuses });
    }
    Ok(())
}

/// Adds the entries by status.
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

/// Adds the yield of the pages.
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

/// Adds the reasons of dropped pages on the last days.
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
        let says = format!("dropped on the last {}: {}", count(recent.len() as u64, "day"), listed(&reasons));
        trace.event("", TraceStage::Clean, says, Facts::Reasons { reasons });
    }
    Ok(())
}

fn trace_removed(trace: &mut Trace, home: &Home, url: &str) -> Result<()> {
    if let Some(stone) = Removed::read(home)?.covers(url) {
        trace.outcome = TraceOutcome::Removed;
        let says = format!("removed by {}, reason: {}", stone.kind.word(), stone.reason);
        trace.event(&stone.date, TraceStage::Removed, says, Facts::removal(stone));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{FEED, article, home, home_with_feeds, page, plan_entries, store_pages};

    #[test]
    fn counts_are_listed_the_largest_first() {
        let counts = [("timeout".to_owned(), 3), ("200".to_owned(), 1200), ("404".to_owned(), 3)].into();
        assert_eq!(listed(&counts), "1,200 200, 3 404, 3 timeout");
    }

    #[test]
    fn a_failing_feed_shows_its_number_of_failures() {
        let mut trace = Trace::new(Subject::Feed { url: "http://e.org/feed".into() });
        let state = FeedState { polled: Polled::Failed, failures: 3, error: "dns".into(), ..FeedState::default() };
        trace_polls(&mut trace, state);
        assert_eq!(trace.outcome, TraceOutcome::Failed);
        assert_eq!(trace.events[0].says, "failed 3 times in a row: dns");
        assert_eq!(trace.events[1].stage, TraceStage::Due);
    }

    #[test]
    fn a_listed_feed_that_was_never_polled_is_shown_as_such() {
        let (_folder, pipeline) = home_with_feeds(&format!("{FEED}\tlang=en\ttopic=local\n"));
        let trace = crate::why::trace(&pipeline, FEED).unwrap();
        assert_eq!((trace.done, trace.outcome), (true, TraceOutcome::Listed));
        assert_eq!(trace.events[0].says, "in feeds.txt, with lang=en, topic=local");
        assert_eq!(trace.events[1].says, "never; run `tidings update`");
    }

    #[test]
    fn a_feed_outside_the_list_is_known_by_its_entries() {
        let (_folder, pipeline) = home();
        plan_entries(pipeline.home(), &["https://gazette.example/1", "https://gazette.example/2"]);
        let trace = crate::why::trace(&pipeline, FEED).unwrap();
        assert_eq!(trace.events[0].says, "not in feeds.txt, so it is not polled");
        let plan = trace.events.iter().find(|event| event.stage == TraceStage::Plan).unwrap();
        assert_eq!(plan.says, "2 entries since 2026-03-01: 2 new");
    }

    #[test]
    fn a_host_has_its_feeds_entries_and_yield() {
        let (_folder, pipeline) = home_with_feeds(FEED);
        plan_entries(pipeline.home(), &["https://gazette.example/1"]);
        let pages = [page("https://gazette.example/1", &article("ferry")), page("https://gazette.example/2", "<p>")];
        store_pages(&pipeline, "2026-03-01", &pages);
        pipeline.run(crate::stage::StageId::Clean.stage().as_ref()).unwrap();
        let trace = crate::why::trace(&pipeline, "Gazette.example").unwrap();
        assert_eq!(trace.outcome, TraceOutcome::Known);
        let text = trace.to_string();
        assert!(text.contains("1 feed in feeds.txt: https://gazette.example/feed"), "{text}");
        assert!(text.contains("1 entry since 2026-03-01: 1 new"), "{text}");
        assert!(text.contains("2 pages became 1 document on 1 day"), "{text}");
    }

    #[test]
    fn an_unknown_host_is_unknown() {
        let (_folder, pipeline) = home();
        let trace = crate::why::trace(&pipeline, "nowhere.example").unwrap();
        assert_eq!((trace.done, trace.events.len()), (false, 1));
        assert_eq!(trace.events[0].says, "the host nowhere.example is unknown");
    }

    #[test]
    fn a_host_with_retry_after_shows_the_time() {
        let mut trace = Trace::new(Subject::Host { host: "e.org".into() });
        let state = hosts::HostState {
            not_before: "2026-03-02T00:00:00Z".into(),
            failures: 1,
            requests: 1234,
            ..hosts::HostState::default()
        };
        trace_host_state(&mut trace, &state);
        let says = "1,234 requests in total; unreachable in 1 run in a row; no requests before 2026-03-02T00:00:00Z (Retry-After)";
        assert_eq!(trace.events[0].says, says);
    }

    #[test]
    fn a_feed_that_moved_or_is_gone_is_shown_as_such() {
        let mut trace = Trace::new(Subject::Feed { url: FEED.into() });
        let state = FeedState {
            polled: Polled::Gone,
            error: "410".into(),
            moved_to: "https://new.example/feed".into(),
            moved_times: 2,
            ..FeedState::default()
        };
        trace_polls(&mut trace, state);
        assert_eq!(trace.outcome, TraceOutcome::Gone);
        assert_eq!(trace.events[0].says, "gone (410); it is not polled again");
        assert_eq!(trace.events[1].says, "moved to https://new.example/feed, confirmed 2 times");
    }
}
