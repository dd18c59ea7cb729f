//! The fate of a feed and of a host: how they were asked, and what came of what they gave.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use anyhow::Result;
use serde_json::{Value, json};
use tidings_model::address;
use tidings_store::feeds::{self, Polled};
use tidings_store::removed::Removed;
use tidings_store::runs::{self, Request};
use tidings_store::yields::{self, Yield};
use tidings_store::{Home, find, hosts, plan, rules};

use super::Story;
use tidings_pipeline::display::{count, grouped};

/// Runs that are looked at for requests, and days for what was left out: what a source was like last year says little.
const RECENT: usize = 30;

/// The story of a feed.
pub fn of_feed(home: &Home, feed: &str) -> Result<Story> {
    let mut story = Story::new(json!({ "kind": "feed", "url": feed }));
    let listed = feeds::list(home)?.feeds.into_iter().find(|listed| listed.url == feed);
    story.fate = if listed.is_some() { "listed" } else { "unlisted" };
    let says = match &listed {
        Some(listed) if listed.labels.is_empty() => "stands in feeds.txt".to_owned(),
        Some(listed) => {
            let labels: Vec<String> = listed.labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
            format!("stands in feeds.txt, with {}", labels.join(", "))
        }
        None => "does not stand in feeds.txt, so it is not polled".to_owned(),
    };
    story.tell("", "listed", says, json!({ "labels": listed.map(|listed| listed.labels) }));

    match feeds::states(home)?.remove(feed) {
        None => story.tell("", "polled", "never: `tidings update` has not come by yet", json!({})),
        Some(state) => {
            let title = if state.title.is_empty() { String::new() } else { format!(" of “{}”", state.title) };
            let says = match state.polled {
                Polled::Listed => format!("listed {}{title}", count(state.entries.into(), "entry")),
                Polled::Unchanged => format!("unchanged since {}", state.succeeded),
                Polled::Failed => {
                    format!("failed, {} in a row: {}", count(state.failures.into(), "time"), state.error)
                }
                Polled::Gone => format!("gone for good ({}); it is not asked again", state.error),
            };
            if state.polled == Polled::Failed || state.polled == Polled::Gone {
                story.fate = state.polled.word();
            }
            let facts = serde_json::to_value(&state).unwrap_or_default();
            story.tell(&state.checked, "polled", says, facts);
            if !state.moved_to.is_empty() {
                let says =
                    format!("moved to {}, confirmed {}", state.moved_to, count(state.moved_times.into(), "time"));
                story.tell("", "polled", says, json!({ "moved_to": state.moved_to }));
            }
            let says = format!(
                "every {} min: {} entries a day, its list reaches back {} h; it brought {} in all",
                state.interval_min,
                if state.rate.is_empty() { "?" } else { &state.rate },
                if state.reach_h.is_empty() { "?" } else { &state.reach_h },
                count(state.brought, "entry"),
            );
            story.tell(&state.due, "due", says, json!({ "due": state.due, "not_before": state.not_before }));
        }
    }
    tell_requests(&mut story, home, &format!("\"{feed}\""), |request| request.kind == "feed" && request.url == feed)?;
    tell_entries(&mut story, home, |row| row.feed == feed)?;
    tell_yield(&mut story, home, |row| row.feed == feed)?;
    tell_left_out(&mut story, home, &format!("\"{feed}\""), |line| line["feed"] == feed)?;
    tell_removed(&mut story, home, feed)?;
    Ok(story)
}

/// The story of a host.
pub fn of_host(home: &Home, host: &str) -> Result<Story> {
    let mut story = Story::new(json!({ "kind": "host", "host": host }));
    let is_here = |url: &str| address::host(url).is_some_and(|name| name.eq_ignore_ascii_case(host));
    let feeds: Vec<String> =
        feeds::list(home)?.feeds.into_iter().map(|feed| feed.url).filter(|feed| is_here(feed)).collect();
    if !feeds.is_empty() {
        story.fate = "known";
        let says = format!("{} of feeds.txt: {}", count(feeds.len() as u64, "feed"), feeds.join(", "));
        story.tell("", "listed", says, json!({ "feeds": feeds }));
    }
    hosts::read(home, |state| {
        if state.host == host {
            story.fate = "known";
            let wait = match state.not_before.is_empty() {
                true => String::new(),
                false => format!("; it wants to be left alone until {}", state.not_before),
            };
            let failures = match state.failures {
                0 => String::new(),
                runs => format!("; not reached in {} in a row", count(runs.into(), "run")),
            };
            let says = format!("{} in all{failures}{wait}", count(state.requests, "request"));
            story.tell(
                &state.last_request,
                "asked",
                says,
                json!({ "requests": state.requests, "failures": state.failures }),
            );
        }
    })?;
    let mut answers = Vec::new();
    rules::read(home, |answer| is_here(&answer.origin), |answer| answers.push(answer))?;
    for answer in answers {
        let size = answer.body.as_ref().map_or(0, String::len) as u64;
        let says = format!("{} of {}: {}, {} bytes", answer.kind, answer.origin, answer.status, grouped(size));
        let facts =
            json!({ "origin": answer.origin, "kind": answer.kind, "status": answer.status, "digest": answer.digest });
        story.tell(&answer.fetched, "rules", says, facts);
    }
    tell_requests(&mut story, home, &format!("\"{host}\""), |request| request.host == host)?;
    tell_entries(&mut story, home, |row| is_here(row.url))?;
    tell_yield(&mut story, home, |row| row.host == host)?;
    tell_left_out(&mut story, home, host, |line| line["url"].as_str().is_some_and(is_here))?;
    tell_removed(&mut story, home, &format!("http://{host}/"))?;
    if story.events.is_empty() {
        story.tell("", "plan", format!("nothing is known of the host {host}"), json!({}));
    }
    Ok(story)
}

/// `12 200, 3 timeout`: counts, the largest first.
fn listed(counts: &BTreeMap<String, u64>) -> String {
    let mut rows: Vec<(&String, &u64)> = counts.iter().collect();
    rows.sort_by_key(|(name, number)| (std::cmp::Reverse(**number), name.to_owned()));
    rows.iter().map(|(name, number)| format!("{} {name}", grouped(**number))).collect::<Vec<_>>().join(", ")
}

/// How the last runs asked, and what was answered.
fn tell_requests(story: &mut Story, home: &Home, words: &str, is_it: impl Fn(&Request) -> bool) -> Result<()> {
    let files = runs::files(home)?;
    let recent = &files[files.len().saturating_sub(RECENT)..];
    let mut statuses: BTreeMap<String, u64> = BTreeMap::new();
    for file in recent {
        find::lines(file, words, |line| {
            if let Ok(request) = serde_json::from_slice::<Request>(line)
                && is_it(&request)
            {
                *statuses.entry(request.status).or_default() += 1;
            }
            ControlFlow::Continue(())
        })?;
    }
    if !statuses.is_empty() {
        let says = format!("in the last {}: {}", count(recent.len() as u64, "run"), listed(&statuses));
        story.tell("", "asked", says, json!({ "runs": recent.len(), "statuses": statuses }));
    }
    Ok(())
}

/// What became of the entries.
fn tell_entries(story: &mut Story, home: &Home, is_it: impl Fn(&tidings_model::Row<'_>) -> bool) -> Result<()> {
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
    let total: u64 = statuses.values().sum();
    if total > 0 {
        if story.fate == "unknown" {
            story.fate = "known";
        }
        let says = format!("{} since {}: {}", count(total, "entry"), first.get(..10).unwrap_or("?"), listed(&statuses));
        story.tell(
            &last,
            "plan",
            says,
            json!({ "entries": total, "statuses": statuses, "first": first, "last": last }),
        );
    }
    Ok(())
}

/// What came of the pages.
fn tell_yield(story: &mut Story, home: &Home, is_it: impl Fn(&yields::DayRow) -> bool) -> Result<()> {
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
        story.fate = "known";
        let says = format!(
            "{} became {} on {}; of {} downloaded bytes {:.1} % are text",
            count(sum.pages, "page"),
            count(sum.documents, "document"),
            count(days, "day"),
            grouped(sum.downloaded),
            100.0 * sum.rate(),
        );
        let facts = json!({ "pages": sum.pages, "documents": sum.documents, "downloaded": sum.downloaded, "clean": sum.clean, "days": days });
        story.tell(&last, "clean", says, facts);
    }
    Ok(())
}

/// Why pages gave no document, on the last days.
fn tell_left_out(story: &mut Story, home: &Home, words: &str, is_it: impl Fn(&Value) -> bool) -> Result<()> {
    let days = tidings_store::docs::made(home)?;
    let recent = &days[days.len().saturating_sub(RECENT)..];
    let mut reasons: BTreeMap<String, u64> = BTreeMap::new();
    for day in recent {
        find::lines(&home.docs().join("dropped").join(format!("{day}.jsonl.zst")), words, |line| {
            if let Ok(line) = serde_json::from_slice::<Value>(line)
                && is_it(&line)
            {
                *reasons.entry(line["reason"].as_str().unwrap_or("?").to_owned()).or_default() += 1;
            }
            ControlFlow::Continue(())
        })?;
    }
    if !reasons.is_empty() {
        let says = format!("left out on the last {}: {}", count(recent.len() as u64, "day"), listed(&reasons));
        story.tell("", "clean", says, json!({ "reasons": reasons }));
    }
    Ok(())
}

fn tell_removed(story: &mut Story, home: &Home, url: &str) -> Result<()> {
    if let Some(stone) = Removed::read(home)?.covers(url) {
        story.fate = "removed";
        let says = format!("taken out by {}, because: {}", stone.kind.word(), stone.reason);
        story.tell(&stone.date, "removed", says, json!({ "reason": stone.reason, "by": stone.kind.word() }));
    }
    Ok(())
}
