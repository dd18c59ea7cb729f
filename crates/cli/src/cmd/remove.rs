//! `tidings remove`: takes something out of everything, and keeps it out.
//!
//! The tombstone comes first. From then on nothing is fetched, imported or shown that it covers, and whatever stops the work,
//! `tidings remove` goes on with it. Then the index hides it and its segments are written anew, the plan forgets its titles,
//! and the days it was on lose their text, their documents and the pages themselves, in this order. What is left of those
//! days is made anew from their pages, as if the removed ones had never been there: text that was a duplicate of
//! theirs is now the first of its kind and comes back where it stands by itself.

mod exports;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;
use serde_json::{Value, json};
use tidings_index::{Settings, Writer};
use tidings_model::address;
use tidings_store::docs::{self, Day, Recipe};
use tidings_store::removed::{self, Kind, Removed, Tombstone};
use tidings_store::runs::RunLog;
use tidings_store::{Home, find, rfc3339, takedown, text, yields};

use super::Report;
use crate::args::Global;
use crate::console;
use tidings_pipeline::context::RunContext;
use tidings_pipeline::display::{count, span};

#[derive(Debug, clap::Args)]
#[command(
    after_help = "WHAT is an address with ://, a host (with all hosts under it), or a pattern in which * stands for anything, such as \
    example.org/private/* or https://*.example.org/2024/*. An address goes where it was asked for and where redirects led to it.\n\
    removed.tsv keeps what was removed, as a hash where it is one address, with date and reason and without content. Nothing it \
    covers is fetched or made a document again. Without WHAT, work that was stopped is finished.\n\
    What remains: the address in the plan and in the logs of runs, and spellings of words in the lexicon of the index, \
    which no document has any more; `tidings rebuild --from compile` clears those."
)]
pub struct Args {
    /// An address, a host or a pattern [default: what was not finished]
    what: Option<String>,
    /// Why, in a few words, for the record
    #[arg(long, value_name = "TEXT", requires = "what")]
    reason: Option<String>,
    /// Show what would go, and change nothing
    #[arg(long, requires = "what")]
    dry_run: bool,
    /// Also name the exports under this folder that hold it
    #[arg(long, value_name = "DIR", requires = "what")]
    exports: Option<PathBuf>,
    /// Leave it to the next run to make what is left of the days anew
    #[arg(long)]
    later: bool,
}

/// What is to go, and where it may be.
struct Wanted {
    kind: Kind,
    what: String,
    /// The host that all of it is on; nothing if it may be anywhere.
    host: Option<String>,
}

impl Wanted {
    fn parse(text: &str) -> Result<Wanted> {
        let text = text.trim();
        if text.contains('*') {
            let place = text.split_once("://").map_or(text, |(_, rest)| rest);
            let host = place.split(['/', ':']).next().unwrap_or_default();
            if place.chars().all(|c| matches!(c, '*' | '/' | '.' | ':')) {
                bail!("{text} would be everything; whoever wants to begin anew removes the home");
            }
            let host = (!host.contains('*')).then(|| host.to_ascii_lowercase());
            return Ok(Wanted { kind: Kind::Pattern, what: text.to_owned(), host });
        }
        // What came in without an address has a name in its place, which looks as it looks.
        if text.starts_with("import:") && !text.contains('*') {
            return Ok(Wanted { kind: Kind::Address, what: removed::hash(text), host: None });
        }
        if text.contains("://") {
            let Some(url) = address::normalise(text, None) else { bail!("{text} is no address of a web page") };
            let host = address::host(&url).map(str::to_ascii_lowercase);
            return Ok(Wanted { kind: Kind::Address, what: removed::hash(&url), host });
        }
        if text.contains('/') || !text.contains('.') || text.contains(char::is_whitespace) {
            bail!(
                "{text} is no address, host or pattern; write https://{text} for an address, or {text}* for a pattern"
            );
        }
        let host = text.trim_end_matches('.').to_ascii_lowercase();
        Ok(Wanted { kind: Kind::Host, what: host.clone(), host: Some(host) })
    }

    fn tombstone(&self, date: &str, reason: &str) -> Tombstone {
        let (kind, what) = (self.kind, self.what.clone());
        Tombstone { kind, what, date: date.to_owned(), reason: reason.to_owned(), done: String::new() }
    }
}

/// Where what must go was found.
#[derive(Default)]
struct Found {
    entries: u64,
    /// Files of pages by day.
    files: BTreeMap<String, Vec<PathBuf>>,
    pages: u64,
    /// Addresses of the pages.
    urls: BTreeSet<String>,
    /// Documents that were made of them.
    ids: BTreeSet<String>,
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let wanted = args.what.as_deref().map(Wanted::parse).transpose()?;
    let (home, config) = super::open_home(global)?;
    if args.dry_run {
        let wanted = wanted.context("say what would go")?;
        let mut rules = Removed::default();
        rules.add(wanted.tombstone("", ""));
        let found = look(&home, &rules, wanted.host.as_deref())?;
        let mut report = would_go(&found);
        tell_exports(args, &found, &mut report.text, &mut report.json)?;
        return Ok(report);
    }
    let session = RunContext::open(&tidings_pipeline::Pipeline::new(home, config), "remove")?;
    let mut removed = Removed::read(&session.home)?;
    let now = rfc3339(session.started);
    let reason = args.reason.as_deref().map(str::trim).filter(|reason| !reason.is_empty());
    // Unfinished work may be anywhere; something new is where its host is.
    let mut host = wanted.as_ref().and_then(|wanted| wanted.host.clone());
    if removed.unfinished().next().is_some() {
        host = None;
    }
    if let Some(wanted) = &wanted {
        let reason =
            reason.context("say why, with --reason: whoever looks at removed.tsv in ten years wants to know")?;
        removed.begin(wanted.tombstone(&now, reason));
    }
    let rules = removed.only_unfinished();
    if rules.is_empty() {
        let text = "nothing to remove: all of it is gone\n".to_owned();
        return Ok(Report { text, json: json!({ "done": true, "pages": 0 }), ..Report::default() });
    }
    // What is covered is written down before anything is looked for: from here on nothing of it comes in.
    removed.write(&session.home)?;
    let found = look(&session.home, &rules, host.as_deref())?;
    let reason = reason.map(str::to_owned).or_else(|| rules.rows().first().map(|row| row.reason.clone()));
    let reason = reason.unwrap_or_default();
    for id in &found.ids {
        let (kind, what) = (Kind::Document, id.clone());
        removed.begin(Tombstone { kind, what, date: now.clone(), reason: reason.clone(), done: String::new() });
    }
    removed.write(&session.home)?;
    let rules = removed.only_unfinished();
    let hidden = take_out(&session, &rules, &found)?;
    removed.finish(&now);
    removed.write(&session.home)?;

    let took = span(session.began.elapsed());
    let days: Vec<&String> = found.files.keys().collect();
    let mut json = json!({
        "done": true,
        "run": session.run,
        "pages": found.pages,
        "documents": found.ids.len(),
        "entries": found.entries,
        "days": days,
        "hidden": hidden,
    });
    let mut log = RunLog::create(&session.home, &session.run)?;
    log.push(&json!({ "began": now }))?;
    log.push(&json!({ "summary": json }))?;
    log.publish()?;
    let gone = format!("{} and {} removed", count(found.pages, "page"), count(found.ids.len() as u64, "document"));
    let mut text = format!("{gone}, {} in the plan, {took}\n", count(found.entries, "entry"));
    tell_exports(args, &found, &mut text, &mut json)?;
    let mut report = Report::default();
    if !found.files.is_empty() && !args.later {
        // The stages take the home themselves.
        drop(session);
        report =
            tidings_pipeline::rebuild::remake(&super::open(global)?, tidings_pipeline::stage::StageId::Clean)?.into();
        text.push_str(&report.text);
        json["remade"] = report.json;
    } else if !found.files.is_empty() {
        let _ = writeln!(text, "{} to be made anew by the next `tidings run`", count(days.len() as u64, "day"));
    }
    Ok(Report { text, json, ..report })
}

/// Finishes what was stopped, and leaves it to the next run to make the rest anew.
pub fn finish(global: &Global) -> Result<Report> {
    run(&Args { what: None, reason: None, dry_run: false, exports: None, later: true }, global)
}

/// Names the exports that hold what was found.
fn tell_exports(args: &Args, found: &Found, text: &mut String, json: &mut Value) -> Result<()> {
    let Some(folder) = &args.exports else { return Ok(()) };
    let exports = exports::with(folder, &found.urls, &found.ids)?;
    exports.hold.iter().for_each(|path| text.push_str(&format!("an export holds it: {path}\n")));
    exports.may_hold.iter().for_each(|path| text.push_str(&format!("an export may hold it: {path}\n")));
    json["exports"] = json!(exports);
    Ok(())
}

/// What would go, for whoever wants to see that first.
fn would_go(found: &Found) -> Report {
    let mut text = String::new();
    for url in &found.urls {
        let _ = writeln!(text, "{url}");
    }
    let _ = writeln!(
        text,
        "would remove {} on {} with {}, and block {} of the plan",
        count(found.pages, "page"),
        count(found.files.len() as u64, "day"),
        count(found.ids.len() as u64, "document"),
        count(found.entries, "entry"),
    );
    let json = json!({
        "done": true,
        "dry_run": true,
        "pages": found.pages,
        "documents": found.ids,
        "entries": found.entries,
        "urls": found.urls,
        "days": found.files.keys().collect::<Vec<_>>(),
    });
    Report { text, json, ..Report::default() }
}

/// Looks where something is: on the days on which its host gave pages, and further if that does not account for the plan.
fn look(home: &Home, rules: &Removed, host: Option<&str>) -> Result<Found> {
    let mut found = Found::default();
    let (entries, mut missing) = takedown::entries(home, rules)?;
    found.entries = entries;
    let days = docs::days(home)?;
    let mut likely = Vec::new();
    let mut others = Vec::new();
    for day in &days {
        let place = if is_likely(home, day, host)? { &mut likely } else { &mut others };
        place.push(day);
    }
    let progress = console::progress("days", days.len() as u64);
    for (done, day) in (0..).zip(likely.into_iter().chain(others)) {
        // Redirects may have led elsewhere: days on which the host gave nothing matter while pages are missing.
        if missing.is_empty() && !is_likely(home, day, host)? {
            break;
        }
        progress.show(done, &day.name);
        let mut urls: HashSet<String> = HashSet::new();
        for file in &day.files {
            let pages = takedown::unwanted(file, rules)?;
            if !pages.is_empty() {
                found.files.entry(day.name.clone()).or_default().push(file.clone());
                found.pages += pages.len() as u64;
                urls.extend(pages.into_iter().map(|page| page.url));
            }
        }
        for url in &urls {
            missing.remove(url);
        }
        documents(home, &day.name, &urls, rules, &mut found.ids)?;
        found.urls.extend(urls);
    }
    Ok(found)
}

/// Whether pages of a host may be among those of a day: it gave some, or nobody has counted yet.
fn is_likely(home: &Home, day: &Day, host: Option<&str>) -> Result<bool> {
    let Some(host) = host else { return Ok(true) };
    let Some(recipe) = Recipe::read(home, &day.name)? else { return Ok(true) };
    let known: Vec<&str> = recipe.inputs.iter().map(|input| input.file.as_str()).collect();
    if day.files.iter().any(|path| !known.contains(&home.shown(path).as_str())) {
        return Ok(true);
    }
    let under = format!(".{host}");
    let mut likely = false;
    yields::of_day(home, &day.name, |row| likely |= row.host == host || row.host.ends_with(&under))?;
    Ok(likely)
}

/// The documents of a day that were made of these pages.
fn documents(
    home: &Home,
    day: &str,
    urls: &HashSet<String>,
    rules: &Removed,
    ids: &mut BTreeSet<String>,
) -> Result<()> {
    #[derive(Deserialize)]
    struct Known {
        id: String,
        url: String,
    }
    let Some(recipe) = Recipe::read(home, day)? else { return Ok(()) };
    for shelf in recipe.shelves() {
        find::lines(&home.root().join(&shelf.file), "\"url\"", |line| {
            if let Ok(document) = serde_json::from_slice::<Known>(line)
                && (urls.contains(&document.url) || rules.covers(&document.url).is_some())
            {
                ids.insert(document.id);
            }
            ControlFlow::Continue(())
        })?;
    }
    Ok(())
}

/// Takes it out of everything; says how many documents the index has hidden.
fn take_out(context: &RunContext, rules: &Removed, found: &Found) -> Result<u64> {
    let home = &context.home;
    let ids: Vec<u128> = rules
        .rows()
        .iter()
        .filter(|row| row.kind == Kind::Document)
        .filter_map(|row| u128::from_str_radix(&row.what, 16).ok())
        .collect();
    let mut hidden = 0;
    for code in home.indexed()? {
        let folder = home.index().join(&code);
        let named =
            || format!("the index of {code} cannot be written; if it is damaged, remove index/{code} and run again");
        let mut hide = || -> Result<()> {
            let mut writer = Writer::open(&folder, Settings::default())?;
            let by_id = writer.delete_ids(&ids)?.documents;
            let by_url = writer.delete_where(|url| rules.covers(url).is_some())?.documents;
            hidden += by_id + by_url;
            // Hidden documents may be left by a run that was stopped.
            writer.expunge()?;
            Ok(())
        };
        hide().with_context(named)?;
    }
    takedown::mark_plan(home, &context.run, rules)?;
    takedown::clear_trial(home)?;
    let progress = console::progress("days", found.files.len() as u64);
    for (done, (day, files)) in (0..).zip(&found.files) {
        progress.show(done, day);
        // What was made of the pages goes before them: as long as they are there, the work is known to be unfinished.
        text::remove_day(home, day)?;
        docs::remove_day(home, day)?;
        for file in files {
            takedown::take_out(file, rules, context.config.store.compression)?;
        }
    }
    Ok(hidden)
}
