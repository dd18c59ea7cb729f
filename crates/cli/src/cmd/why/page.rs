//! The fate of an article: from the feed that listed it to the segment that holds it.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::PathBuf;

use anyhow::Result;
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};
use tidings_index::Snapshot;
use tidings_model::{Document, Page, Status, address};
use tidings_store::docs::{self, Recipe};
use tidings_store::removed::Removed;
use tidings_store::runs::{self, Request};
use tidings_store::seen::{self, Ledger, VerdictLine};
use tidings_store::text::TextRecipe;
use tidings_store::{Home, find, fold, hidden, plan, rfc3339};

use super::Story;
use crate::console;
use tidings_pipeline::config::{Config, Duplicates};
use tidings_pipeline::display::{count, grouped};

/// Requests and duplicates that are told one by one.
const TOLD: usize = 12;

/// A row of the plan.
struct Entry {
    age: u32,
    status: String,
    retries: u32,
    seen: String,
    feed: String,
    url: String,
}

/// A line of a run's log, as far as it concerns us.
#[derive(Deserialize)]
#[serde(untagged)]
enum LogLine {
    Request(Request),
    Began { began: Timestamp },
    Other {},
}

/// A page that gave no document, as `docs/dropped/` has it.
#[derive(Deserialize)]
struct Dropped {
    url: String,
    downloaded: String,
    reason: String,
    content_type: String,
    bytes: u64,
    measured: Option<f64>,
    limit: Option<f64>,
}

/// The story of an address.
pub fn of_address(home: &Home, config: &Config, url: &str) -> Result<Story> {
    let mut story = Story::new(json!({ "kind": "page", "url": url }));
    let removed = Removed::read(home)?;
    let entry = entry(home, url)?;
    let url = entry.as_ref().map_or(url, |entry| entry.url.as_str()).to_owned();
    match &entry {
        Some(entry) => tell_entry(&mut story, entry, config),
        None if fold::was_pruned(home, &url)? => {
            story.fate = "pruned";
            story.tell(
                "",
                "plan",
                "is not in the plan: it was settled and pruned, or came in by an import; it will not be fetched again",
                json!({}),
            );
        }
        None => {}
    }
    // A run that began before the entry was seen did not ask for it.
    let since = entry.as_ref().map(|entry| entry.seen.clone()).unwrap_or_default();
    let stored = tell_requests(&mut story, home, &url, &since)?;
    let is_stored = entry.as_ref().is_none_or(|entry| entry.status == "ok");
    let first = since.get(..10).unwrap_or_default();
    let mut days = match &stored {
        Some(run) => tell_page(&mut story, home, &url, &find::pages_of_run(home, run)?)?,
        None if is_stored => tell_page(&mut story, home, &url, &waiting_pages(home, first)?)?,
        None => BTreeSet::new(),
    };
    if days.is_empty() && is_stored {
        // It was imported, or the log of its run is gone: the documents of every day may know it.
        days = docs::made(home)?.into_iter().filter(|day| day.as_str() >= first).collect();
    }
    let progress = console::progress("days", days.len() as u64);
    for (done, day) in (0..).zip(&days) {
        progress.show(done, day);
        tell_day(&mut story, home, config, day, &Wanted::Address(&url))?;
    }
    let is_told = story.events.iter().any(|event| matches!(event.stage, "stored" | "clean"));
    if entry.is_some() && is_stored && !is_told {
        story.fate = "lost";
        story.tell("", "stored", "no file has its page; a backup may", json!({}));
    }
    tell_removed(&mut story, &removed, &url, None);
    if story.events.is_empty() {
        story.tell(
            "",
            "plan",
            format!("nothing is known of {url}: no feed listed it, no page and no document has it"),
            json!({}),
        );
    }
    Ok(story)
}

/// The story of a document.
pub fn of_document(home: &Home, config: &Config, id: &str) -> Result<Story> {
    let removed = Removed::read(home)?;
    let found = match indexed(home, id)? {
        Some(found) => Some(found),
        None => judged(home, id)?,
    };
    let Some(day) = found else {
        let mut story = Story::new(json!({ "kind": "document", "id": id }));
        tell_removed(&mut story, &removed, "", Some(id));
        if story.events.is_empty() {
            story.tell("", "docs", format!("there is no document {id}"), json!({}));
        }
        return Ok(story);
    };
    let mut document = None;
    each_document(home, &day, id, |found| {
        if found.id == id {
            document = Some(found);
        }
    })?;
    match document {
        Some(document) => {
            let url = address::normalise(&document.url, None).unwrap_or(document.url);
            let mut story = of_address(home, config, &url)?;
            story.about = json!({ "kind": "document", "id": id, "url": url });
            Ok(story)
        }
        None => {
            let mut story = Story::new(json!({ "kind": "document", "id": id }));
            tell_day(&mut story, home, config, &day, &Wanted::Id(id))?;
            Ok(story)
        }
    }
}

/// The entry of an address in the plan, also where others write the address otherwise.
fn entry(home: &Home, url: &str) -> Result<Option<Entry>> {
    let spellings = spellings(url);
    let mut found: Option<(usize, Entry)> = None;
    plan::read(home, |row| {
        let Some(at) = spellings.iter().position(|known| known == row.url) else { return };
        if found.as_ref().is_none_or(|(best, _)| at < *best) {
            let [status, seen, feed, url] = [row.status, row.seen, row.feed, row.url].map(str::to_owned);
            found = Some((at, Entry { age: row.age, status, retries: row.retries, seen, feed, url }));
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

fn tell_entry(story: &mut Story, entry: &Entry, config: &Config) {
    let status: Status = entry.status.parse().expect("any word is a status");
    let facts = json!({
        "feed": entry.feed, "url": entry.url, "age": entry.age, "status": entry.status, "retries": entry.retries,
    });
    story.tell(&entry.seen, "listed", format!("by {}", entry.feed), facts.clone());
    let limit = config.fetch.retries;
    let tried = count(entry.retries.into(), "try");
    let (fate, says) = match &status {
        Status::New => ("waiting", "waits to be fetched".to_owned()),
        Status::Ok => ("stored", "the page was fetched".to_owned()),
        _ if entry.status == tidings_store::removed::STATUS => ("removed", "was taken out".to_owned()),
        status if status.is_pending(entry.retries, limit) => {
            ("failing", format!("{} after {tried}; will be tried again, up to {limit} times", meaning(status)))
        }
        status if status.is_final() => ("failed", format!("{}; asking again would not help", meaning(status))),
        status => ("failed", format!("{} after {tried}, which is as often as fetch.retries allows", meaning(status))),
    };
    story.fate = fate;
    let listed = match entry.age {
        0 => "its feed lists it still".to_owned(),
        age => format!("left its feed {} ago", count(age.into(), "update")),
    };
    story.tell("", "plan", format!("{says}; {listed}"), facts);
}

/// A status in words.
fn meaning(status: &Status) -> String {
    let word = status.to_string();
    match tidings_model::FAILURES.iter().find(|row| row.0 == word) {
        Some((_, _, words)) => format!("{word}: {words}"),
        None => format!("the server answered {word}"),
    }
}

/// When the page was asked for; the run that got it.
fn tell_requests(story: &mut Story, home: &Home, url: &str, since: &str) -> Result<Option<String>> {
    let since: String = since.chars().filter(char::is_ascii_alphanumeric).collect();
    let names_time = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        // A day's slack: clocks are set, and a run may have gone on while another began.
        name.get(..8).is_none_or(|day| day >= since.get(..8).unwrap_or_default())
    };
    let files: Vec<_> = runs::files(home)?.into_iter().filter(names_time).collect();
    let progress = console::progress("runs", files.len() as u64);
    let (mut told, mut stored) = (Vec::new(), None);
    for (done, file) in (0..).zip(&files) {
        progress.show(done, "");
        let mut began = None;
        let mut requests: Vec<Request> = Vec::new();
        let quoted = format!("\"{url}\"");
        find::lines(file, "\"began\"", |line| {
            if let Ok(LogLine::Began { began: at }) = serde_json::from_slice(line) {
                began = Some(at);
            }
            ControlFlow::Break(())
        })?;
        find::lines(file, &quoted, |line| {
            if let Ok(LogLine::Request(request)) = serde_json::from_slice(line)
                && request.url == url
            {
                requests.push(request);
            }
            ControlFlow::Continue(())
        })?;
        let run = home.shown(file).trim_start_matches("runs/").trim_end_matches(".jsonl.zst").to_owned();
        for request in requests {
            let at = began.and_then(|began: Timestamp| {
                began.checked_add(std::time::Duration::from_millis(request.sent_ms)).ok().map(rfc3339)
            });
            // A redirect leads on, and what answers there is the page of this entry.
            if request.status.starts_with(['2', '3']) {
                stored = Some(run.clone());
            }
            told.push((at.unwrap_or_default(), run.clone(), request));
        }
    }
    let skipped = told.len().saturating_sub(TOLD);
    if skipped > 0 {
        story.tell("", "asked", format!("{} earlier", count(skipped as u64, "time")), json!({ "requests": skipped }));
    }
    for (at, run, request) in told.into_iter().skip(skipped) {
        let robots = match request.robots_age_s {
            Some(age) => format!("allowed by a robots.txt {:.1} h old", age as f64 / 3600.0),
            None => "no robots.txt was asked".to_owned(),
        };
        let says = format!("{}, {} bytes, {robots} (run {run})", request.status, grouped(request.bytes));
        let facts = json!({ "run": run, "status": request.status, "bytes": request.bytes, "robots_age_s": request.robots_age_s });
        story.tell(&at, "asked", says, facts);
    }
    Ok(stored)
}

/// Where the page lies; the days of its files.
fn tell_page(story: &mut Story, home: &Home, url: &str, files: &[PathBuf]) -> Result<BTreeSet<String>> {
    let mut days = BTreeSet::new();
    for file in files {
        let mut found: Option<Page> = None;
        find::lines(file, url, |line| {
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
        let size = grouped(page.body.len() as u64);
        let rights = serde_json::to_value(&page.rights).unwrap_or_default();
        story.fate = "stored";
        story.tell(
            &page.downloaded,
            "stored",
            format!("{size} bytes of {}{moved} in {shown}", page.content_type),
            json!({ "file": shown, "final_url": page.final_url, "bytes": page.body.len(), "status": page.status, "rights": rights }),
        );
    }
    Ok(days)
}

/// The files of pages from a day on that wait for `clean`.
fn waiting_pages(home: &Home, first: &str) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for day in docs::days(home)?.into_iter().filter(|day| day.name.as_str() >= first) {
        if Recipe::read(home, &day.name)?.is_none() {
            files.extend(day.files);
        }
    }
    Ok(files)
}

/// What is looked for in a day.
enum Wanted<'a> {
    Address(&'a str),
    Id(&'a str),
}

impl Wanted<'_> {
    fn words(&self) -> &str {
        match self {
            Wanted::Address(words) | Wanted::Id(words) => words,
        }
    }
}

/// What became of a page of a day, from `clean` on.
fn tell_day(story: &mut Story, home: &Home, config: &Config, day: &str, wanted: &Wanted<'_>) -> Result<()> {
    if Recipe::read(home, day)?.is_none() {
        story.tell(day, "docs", "waits for `tidings clean`", json!({ "day": day }));
        return Ok(());
    }
    let mut dropped = Vec::new();
    find::lines(&home.docs().join("dropped").join(format!("{day}.jsonl.zst")), wanted.words(), |line| {
        let parsed = serde_json::from_slice::<Dropped>(line).ok();
        dropped.extend(parsed.filter(|page| matches!(wanted, Wanted::Address(url) if page.url == *url)));
        ControlFlow::Continue(())
    })?;
    for page in dropped {
        tell_dropped(story, day, &page);
    }
    let mut documents = Vec::new();
    each_document(home, day, wanted.words(), |document| {
        let is_it = match wanted {
            Wanted::Address(url) => document.url == *url,
            Wanted::Id(id) => document.id == *id,
        };
        if is_it {
            documents.push(document);
        }
    })?;
    for document in documents {
        tell_document(story, home, config, day, &document)?;
    }
    Ok(())
}

/// Shows the documents of a day whose lines contain some words.
fn each_document(home: &Home, day: &str, words: &str, mut see: impl FnMut(Document)) -> Result<()> {
    let Some(recipe) = Recipe::read(home, day)? else { return Ok(()) };
    for shelf in recipe.shelves() {
        find::lines(&home.root().join(&shelf.file), words, |line| {
            serde_json::from_slice::<Document>(line).into_iter().for_each(&mut see);
            ControlFlow::Continue(())
        })?;
    }
    Ok(())
}

fn tell_dropped(story: &mut Story, day: &str, page: &Dropped) {
    let figure = match (page.measured, page.limit) {
        (Some(measured), Some(limit)) => format!(" (measured {}, the limit is {})", short(measured), short(limit)),
        _ => String::new(),
    };
    story.fate = "left out";
    story.tell(
        &page.downloaded,
        "clean",
        format!("left out by the rule {}{figure}: {} bytes of {}", page.reason, grouped(page.bytes), page.content_type),
        json!({ "day": day, "reason": page.reason, "measured": page.measured, "limit": page.limit }),
    );
}

fn short(number: f64) -> String {
    ((number * 1000.0).round() / 1000.0).to_string()
}

fn tell_document(story: &mut Story, home: &Home, config: &Config, day: &str, document: &Document) -> Result<()> {
    let code = document.language_code();
    let score = document.about.language_score.map(|score| format!(" ({score:.2})")).unwrap_or_default();
    let mut says =
        format!("document {} in {code}{score}, {}", document.id, count(document.paragraphs.len() as u64, "paragraph"));
    if let Some(dated) = &document.dated {
        says.push_str(&format!(", dated {} by {} ({:.2})", dated.day, dated.source, dated.confidence));
    }
    for left_out in &document.left_out {
        let start: String = left_out.paragraph.text.chars().take(40).collect();
        says.push_str(&format!("; a paragraph went as {} (“{start}…”)", left_out.reason));
    }
    for (rule, number) in &document.masked {
        says.push_str(&format!("; masked: {number} {rule}"));
    }
    let facts = json!({
        "day": day,
        "id": document.id,
        "file": format!("docs/{code}/{day}.jsonl.zst"),
        "language": document.about.language,
        "language_score": document.about.language_score,
        "dated": document.dated,
        "paragraphs": document.paragraphs.len(),
        "left_out": document.left_out.iter().map(|part| &part.reason).collect::<Vec<_>>(),
        "masked": document.masked,
        "extractor": document.extractor,
    });
    story.fate = "document";
    story.tell(&document.downloaded, "clean", says, facts);
    tell_verdict(story, home, config, day, document)?;
    tell_text(story, home, day, &code, document)
}

/// What was said about duplicates.
fn tell_verdict(story: &mut Story, home: &Home, config: &Config, day: &str, document: &Document) -> Result<()> {
    let ledger = Ledger::read(home)?;
    let judged = ledger.iter().flat_map(|ledger| &ledger.days).find(|judged| judged.day == day);
    if judged.is_none_or(|judged| seen::docs_digest(home, day).is_ok_and(|digest| digest != judged.docs)) {
        let says = match config.annotate.duplicates {
            Duplicates::Drop => "waits for `tidings dedup`",
            Duplicates::Keep => "duplicates are not told",
        };
        story.tell(day, "dedup", says, json!({ "day": day }));
        return Ok(());
    }
    let mut verdict: Option<VerdictLine> = None;
    find::lines(&seen::verdicts_path(home, day), &format!("\"{}\"", document.id), |line| {
        let parsed = serde_json::from_slice::<VerdictLine>(line).ok();
        verdict = parsed.filter(|verdict| verdict.id == document.id);
        if verdict.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    let Some(verdict) = verdict else {
        story.tell(
            day,
            "dedup",
            "the verdicts of the day do not name it; run `tidings rebuild --from dedup`",
            json!({}),
        );
        return Ok(());
    };
    let facts = serde_json::to_value(&verdict).unwrap_or_default();
    if verdict.duplicates.is_empty() {
        story.tell(day, "dedup", format!("all of its {} are new", count(verdict.words, "word")), facts);
        return Ok(());
    }
    let share = 100.0 * verdict.duplicate_words as f64 / verdict.words.max(1) as f64;
    let copy = verdict.copy_of.as_ref().map(|of| format!("; a copy of {of}")).unwrap_or_default();
    let words = format!("{} of {}", grouped(verdict.duplicate_words), count(verdict.words, "word"));
    story.tell(day, "dedup", format!("{words} ({share:.0} %) were published before{copy}"), facts);
    for unit in verdict.duplicates.iter().take(TOLD) {
        let part = match unit.bytes {
            Some((first, last)) => format!("bytes {first} to {last} of paragraph {}", unit.paragraph + 1),
            None => format!("paragraph {}", unit.paragraph + 1),
        };
        let of = unit.of.as_ref().map(|of| format!(", seen in {of}")).unwrap_or_default();
        let says = format!("{part}: {}{of}, {:.0} % of its words", unit.why, 100.0 * unit.share);
        story.tell("", "dedup", says, serde_json::to_value(unit).unwrap_or_default());
    }
    let more = verdict.duplicates.len().saturating_sub(TOLD);
    if more > 0 {
        story.tell("", "dedup", format!("and {}", count(more as u64, "more duplicate")), json!({}));
    }
    Ok(())
}

/// The shelf of its text, the segment, and whether it is hidden.
fn tell_text(story: &mut Story, home: &Home, day: &str, code: &str, document: &Document) -> Result<()> {
    let file = format!("text/{code}/{day}.vert.zst");
    if TextRecipe::read(home, day)?.is_none() {
        story.tell(day, "annotate", "waits for `tidings annotate`", json!({ "day": day }));
        return Ok(());
    }
    let Some(tokens) = find::tokens_in_text(&home.root().join(&file), &document.id)? else {
        story.fate = "duplicate";
        story.tell(day, "annotate", "left out: nothing of it is new", json!({ "day": day, "reason": "duplicate" }));
        return Ok(());
    };
    story.fate = "text";
    story.tell(
        day,
        "annotate",
        format!("{} in {file}", count(tokens, "token")),
        json!({ "file": file, "tokens": tokens }),
    );
    let hidden = hidden::read(home)?;
    let is_hidden = hidden.contains(&document.id) || hidden.contains(&document.url);
    let folder = home.index().join(code);
    let id = u128::from_str_radix(&document.id, 16).unwrap_or_default();
    let snapshot = Snapshot::open(&folder).ok();
    let place = snapshot.as_ref().and_then(|snapshot| {
        let (segment, _) = *snapshot.find_document(id).first()?;
        Some(snapshot.segments()[segment].file().to_owned())
    });
    let facts = json!({ "segment": place, "hidden": is_hidden });
    match (place, is_hidden) {
        (_, true) => {
            story.fate = "hidden";
            story.tell("", "index", "hidden from every answer by hidden.tsv", facts);
        }
        (Some(segment), false) => {
            story.fate = "searchable";
            story.tell("", "index", format!("searchable, in index/{code}/{segment}"), facts);
        }
        (None, false) => story.tell("", "index", "waits for `tidings compile`", facts),
    }
    Ok(())
}

fn tell_removed(story: &mut Story, removed: &Removed, url: &str, id: Option<&str>) {
    if let Some(stone) = id.and_then(|id| removed.document(id)).or_else(|| removed.covers(url)) {
        story.fate = "removed";
        let state = if stone.done.is_empty() { "; the work is not done, run `tidings remove`" } else { "" };
        let says = format!("taken out by {}, because: {}{state}", stone.kind.word(), stone.reason);
        story.tell(
            &stone.date,
            "removed",
            says,
            json!({ "reason": stone.reason, "by": stone.kind.word(), "done": stone.done }),
        );
    }
}

/// The day of a document that is searchable.
fn indexed(home: &Home, id: &str) -> Result<Option<String>> {
    let id = u128::from_str_radix(id, 16)?;
    for code in home.indexed()? {
        let Ok(snapshot) = Snapshot::open(&home.index().join(code)) else { continue };
        if let Some((segment, document)) = snapshot.find_document(id).first() {
            return Ok(Some(snapshot.segments()[*segment].segment().seen(*document).to_string()));
        }
    }
    Ok(None)
}

/// The day of a document of which there is a verdict, or only a line among the documents.
fn judged(home: &Home, id: &str) -> Result<Option<String>> {
    let days = docs::made(home)?;
    let judged: BTreeSet<String> =
        Ledger::read(home)?.map(|ledger| ledger.days.into_iter().map(|day| day.day).collect()).unwrap_or_default();
    let progress = console::progress("days", days.len() as u64);
    for (done, day) in (0..).zip(&days) {
        progress.show(done, day);
        let mut found = false;
        let mut is_it = |line: &[u8]| {
            found |= serde_json::from_slice::<Value>(line).is_ok_and(|line| line["id"] == id);
            if found { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        if judged.contains(day) {
            find::lines(&seen::verdicts_path(home, day), id, &mut is_it)?;
        } else if let Some(recipe) = Recipe::read(home, day)? {
            for shelf in recipe.shelves() {
                find::lines(&home.root().join(&shelf.file), id, &mut is_it)?;
            }
        }
        if found {
            return Ok(Some(day.clone()));
        }
    }
    Ok(None)
}
