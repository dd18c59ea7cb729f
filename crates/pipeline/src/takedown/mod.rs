//! Takedown: deletes pages everywhere and blocks them.
//!
//! The tombstone is written first. From then on nothing that it covers is fetched, imported or shown, and an
//! interrupted takedown is finished by the next `tidings remove`. Then the documents are deleted from the index and its
//! segments are rewritten, titles are deleted from the plan, and the affected days lose their text, their documents and
//! the pages themselves, in this order. The rest of those days is rebuilt from their pages, as if the removed ones had
//! never existed: text that was a duplicate of theirs becomes an original.

mod exports;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use serde::{Deserialize, Serialize};
use tidings_index::{Settings, Writer};
use tidings_model::address;
use tidings_store::docs::{self, Day, Recipe};
use tidings_store::removed::{self, Removed, Tombstone, TombstoneKind};
use tidings_store::{Home, rfc3339, scan, takedown, text, yields};

use crate::Pipeline;
use crate::context::RunContext;
use crate::display::{count, span};
use crate::frozen;
use crate::outcome::{Outcome, Status};
use crate::rebuild::{self, RebuildOutcome};
use crate::reporter::ProgressScope;
use crate::stage::StageId;
pub use exports::Exports;

/// Options of a takedown.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// A URL, a host or a pattern; absent: finish an interrupted takedown.
    pub what: Option<String>,
    /// The reason, for the record.
    pub reason: Option<String>,
    /// Also name the exports under this folder that hold it.
    pub exports: Option<PathBuf>,
    /// Leave the rebuild of the affected days to the next run.
    pub later: bool,
}

/// The outcome of a takedown.
#[derive(Debug, Clone, Default, Serialize)]
pub struct TakedownOutcome {
    /// Whether everything is deleted.
    pub done: bool,
    /// The name of the run.
    pub run: String,
    /// Pages that were removed.
    pub pages: u64,
    /// Documents extracted from them.
    pub documents: u64,
    /// Entries of the plan that are blocked.
    pub entries: u64,
    /// Days that lost pages.
    pub days: Vec<String>,
    /// Documents that the index deleted.
    pub hidden: u64,
    /// Exports that contain removed documents, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exports: Option<Exports>,
    /// The outcome of the rebuild, if it was done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remade: Option<RebuildOutcome>,
    #[serde(skip)]
    took: Option<Duration>,
}

impl Outcome for TakedownOutcome {
    fn status(&self) -> Status {
        self.remade.as_ref().map(Outcome::status).unwrap_or_default()
    }
}

impl fmt::Display for TakedownOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(took) = self.took else { return writeln!(f, "nothing to remove") };
        let (pages, documents) = (count(self.pages, "page"), count(self.documents, "document"));
        let (entries, took) = (count(self.entries, "entry"), span(took));
        writeln!(f, "{pages} and {documents} removed, {entries} in the plan, {took}")?;
        self.exports.as_ref().map_or(Ok(()), |exports| exports.fmt(f))?;
        match &self.remade {
            Some(remade) => remade.fmt(f),
            None if self.days.is_empty() => Ok(()),
            None => writeln!(f, "{} to be rebuilt by the next `tidings run`", count(self.days.len() as u64, "day")),
        }
    }
}

/// The preview of a takedown.
#[derive(Debug, Clone, Default, Serialize)]
pub struct PreviewOutcome {
    /// Always true.
    pub done: bool,
    /// Always true.
    pub dry_run: bool,
    /// Pages that would be removed.
    pub pages: u64,
    /// The ids of the documents extracted from them.
    pub documents: BTreeSet<String>,
    /// Entries of the plan that would be blocked.
    pub entries: u64,
    /// The addresses of the pages.
    pub urls: BTreeSet<String>,
    /// Days that would lose pages.
    pub days: Vec<String>,
    /// Exports that hold it, if they were to be named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exports: Option<Exports>,
}

impl Outcome for PreviewOutcome {}

impl fmt::Display for PreviewOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.urls.iter().try_for_each(|url| writeln!(f, "{url}"))?;
        writeln!(
            f,
            "would remove {} on {} with {}, and block {} of the plan",
            count(self.pages, "page"),
            count(self.days.len() as u64, "day"),
            count(self.documents.len() as u64, "document"),
            count(self.entries, "entry"),
        )?;
        self.exports.as_ref().map_or(Ok(()), |exports| exports.fmt(f))
    }
}

/// The target of a takedown and its host.
struct Target {
    kind: TombstoneKind,
    what: String,
    /// The host of all pages; `None` if they may be on any host.
    host: Option<String>,
}

impl Target {
    fn parse(text: &str) -> Result<Target> {
        let text = text.trim();
        if text.contains('*') {
            let address = text.split_once("://").map_or(text, |(_, rest)| rest);
            let host = address.split(['/', ':']).next().unwrap_or_default();
            if address.chars().all(|c| matches!(c, '*' | '/' | '.' | ':')) {
                bail!("{text} matches everything; to start over, delete the home");
            }
            // Stored URLs have their scheme and host in lower case.
            let (origin, path) = text.split_at(text.len() - address.len() + host.len());
            let host = (!host.contains('*')).then(|| host.to_ascii_lowercase());
            return Ok(Target { kind: TombstoneKind::Pattern, what: origin.to_ascii_lowercase() + path, host });
        }
        // Texts imported without a URL have a name of this form instead.
        if text.starts_with("import:") {
            return Ok(Target { kind: TombstoneKind::Address, what: removed::hash(text), host: None });
        }
        if text.contains("://") {
            let Some(url) = address::normalise(text, None) else { bail!("{text} is not a valid http or https URL") };
            let host = address::host(&url).map(str::to_ascii_lowercase);
            return Ok(Target { kind: TombstoneKind::Address, what: removed::hash(&url), host });
        }
        if text.contains('/') || !text.contains('.') || text.contains(char::is_whitespace) {
            bail!("{text} is not a URL, host or pattern; write https://{text} for a URL or {text}* for a pattern");
        }
        if text.contains(':') {
            bail!("{text} has a port, but a host covers all of its ports; write {text}/* for a pattern");
        }
        // Stored URLs have host names in ASCII (Punycode).
        let url = address::normalise(&format!("https://{}/", text.trim_end_matches('.')), None);
        let Some(host) = url.as_deref().and_then(address::host).map(str::to_ascii_lowercase) else {
            bail!("{text} is not a valid host name");
        };
        Ok(Target { kind: TombstoneKind::Host, what: host.clone(), host: Some(host) })
    }

    fn tombstone(&self, date: &str, reason: &str) -> Tombstone {
        let (kind, what) = (self.kind, self.what.clone());
        Tombstone { kind, what, date: date.to_owned(), reason: reason.to_owned(), done: String::new() }
    }
}

/// The pages and documents to delete.
#[derive(Default)]
struct TakedownMatches {
    entries: u64,
    /// Files of pages by day.
    files: BTreeMap<String, Vec<PathBuf>>,
    pages: u64,
    /// Addresses of the pages.
    urls: BTreeSet<String>,
    /// Documents extracted from them.
    ids: BTreeSet<String>,
}

impl TakedownMatches {
    /// The exports below a folder that contain what was found.
    fn exports(&self, folder: Option<&Path>) -> Result<Option<Exports>> {
        folder.map(|folder| exports::with(folder, &self.urls, &self.ids)).transpose()
    }
}

/// Finds what a takedown would delete, and changes nothing.
pub fn preview(pipeline: &Pipeline, what: &str, exports: Option<&Path>) -> Result<PreviewOutcome> {
    let target = Target::parse(what)?;
    let mut rules = Removed::default();
    rules.add(target.tombstone("", ""));
    let found = look(pipeline, &rules, target.host.as_deref())?;
    Ok(PreviewOutcome {
        done: true,
        dry_run: true,
        pages: found.pages,
        exports: found.exports(exports)?,
        documents: found.ids,
        entries: found.entries,
        urls: found.urls,
        days: found.files.into_keys().collect(),
    })
}

/// Deletes the target everywhere and rebuilds the rest of its days.
pub fn run(pipeline: &Pipeline, options: &Options) -> Result<TakedownOutcome> {
    let target = options.what.as_deref().map(Target::parse).transpose()?;
    let context = RunContext::open(pipeline, "remove")?;
    let mut removed = Removed::read(&context.home)?;
    let now = rfc3339(context.started);
    let reason = options.reason.as_deref().map(str::trim).filter(|reason| !reason.is_empty());
    // An interrupted takedown may concern any host; a new one only its own.
    let has_unfinished = removed.unfinished().next().is_some();
    let host = target.as_ref().and_then(|target| target.host.clone()).filter(|_| !has_unfinished);
    if let Some(target) = &target {
        let reason = reason.context("give a --reason; it is recorded in removed.tsv")?;
        removed.begin(target.tombstone(&now, reason));
    }
    let rules = removed.only_unfinished();
    if rules.is_empty() {
        return Ok(TakedownOutcome { done: true, ..TakedownOutcome::default() });
    }
    // It may have documents that are removed now.
    if tidings_store::abandon_rebuild(&context.home)? {
        log::warn!("the unfinished rebuild by several processes was deleted; start it again");
    }
    // The tombstone is written before the search: from here on nothing it covers can be added.
    removed.write(&context.home)?;
    let found = look(pipeline, &rules, host.as_deref())?;
    let reason = reason.or_else(|| rules.rows().first().map(|row| row.reason.as_str())).unwrap_or_default();
    for id in &found.ids {
        let (kind, what) = (TombstoneKind::Document, id.clone());
        removed.begin(Tombstone { kind, what, date: now.clone(), reason: reason.to_owned(), done: String::new() });
    }
    removed.write(&context.home)?;
    let hidden = take_out(&context, &removed.only_unfinished(), &found)?;
    removed.finish(&now);
    removed.write(&context.home)?;

    let mut outcome = TakedownOutcome {
        done: true,
        run: context.run.clone(),
        pages: found.pages,
        documents: found.ids.len() as u64,
        entries: found.entries,
        days: found.files.keys().cloned().collect(),
        hidden,
        took: Some(context.began.elapsed()),
        ..TakedownOutcome::default()
    };
    context.log_outcome(&outcome)?;
    outcome.exports = found.exports(options.exports.as_deref())?;
    if !outcome.days.is_empty() && !options.later {
        // The stages lock the home themselves.
        drop(context);
        outcome.remade = Some(rebuild::remake(pipeline, StageId::Clean)?);
    }
    Ok(outcome)
}

/// Finishes an interrupted takedown and leaves the rebuild to the next run.
pub fn finish(pipeline: &Pipeline) -> Result<TakedownOutcome> {
    run(pipeline, &Options { later: true, ..Options::default() })
}

/// Finds pages on the days on which their host has some, and on other days if entries of the plan are missing.
fn look(pipeline: &Pipeline, rules: &Removed, host: Option<&str>) -> Result<TakedownMatches> {
    let home = pipeline.home();
    let mut found = TakedownMatches::default();
    let (entries, mut missing) = takedown::entries(home, rules)?;
    found.entries = entries;
    let days = docs::page_days(home)?;
    let (mut likely, mut others) = (Vec::new(), Vec::new());
    for day in &days {
        let is_likely = is_likely(home, day, host)?;
        (if is_likely { &mut likely } else { &mut others }).push((is_likely, day));
    }
    let progress = ProgressScope::begin(pipeline.reporter(), "days", days.len() as u64);
    for (done, (is_likely, day)) in (0..).zip(likely.into_iter().chain(others)) {
        // Redirects may have led elsewhere: days without pages of the host are searched while pages are missing.
        if missing.is_empty() && !is_likely {
            break;
        }
        pipeline.cancel_token().check()?;
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

/// Whether a day may have pages of a host: it has some, or they are not counted yet.
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

/// The documents of a day that were extracted from these pages.
fn documents(
    home: &Home,
    day: &str,
    urls: &HashSet<String>,
    rules: &Removed,
    ids: &mut BTreeSet<String>,
) -> Result<()> {
    #[derive(Deserialize)]
    struct DocumentUrl {
        id: String,
        url: String,
    }
    let Some(recipe) = Recipe::read(home, day)? else { return Ok(()) };
    for file in recipe.document_files() {
        scan::lines_of(home, &file.file, "\"url\"", |line| {
            if let Ok(document) = serde_json::from_slice::<DocumentUrl>(line)
                && (urls.contains(&document.url) || rules.covers(&document.url).is_some())
            {
                ids.insert(document.id);
            }
            ControlFlow::Continue(())
        })?;
    }
    Ok(())
}

/// Deletes what was found everywhere; returns the number of documents deleted from the index.
fn take_out(context: &RunContext, rules: &Removed, found: &TakedownMatches) -> Result<u64> {
    let home = &context.home;
    let deleted = take_out_of_indexes(home, rules, &rfc3339(context.started))?;
    takedown::mark_plan(home, &context.run, rules)?;
    takedown::clear_trial(home)?;
    let progress = context.progress("days", found.files.len() as u64);
    for (done, (day, files)) in (0..).zip(&found.files) {
        context.check_cancelled()?;
        progress.show(done, day);
        // Derived data is deleted before the pages: as long as they exist, the takedown is known to be unfinished.
        text::remove_day(home, day)?;
        docs::remove_day(home, day)?;
        for file in files {
            takedown::take_out(home, file, rules, context.config.store.compression)?;
        }
    }
    // What was replaced in a bucket is still there.
    home.sweep_bucket()?;
    Ok(deleted)
}

/// Deletes documents from all indexes, also from frozen states, and rewrites their segments; returns the number of documents
/// deleted from the live indexes.
fn take_out_of_indexes(home: &Home, rules: &Removed, time: &str) -> Result<u64> {
    let documents = rules.rows().iter().filter(|row| row.kind == TombstoneKind::Document);
    let ids: Vec<u128> = documents.filter_map(|row| u128::from_str_radix(&row.what, 16).ok()).collect();
    let mut deleted = 0;
    for code in home.indexed()? {
        let mut delete = || -> Result<()> {
            let mut writer = Writer::open(&home.index_of(&code), Settings::default())?;
            deleted += writer.delete_ids(&ids)?.documents;
            deleted += writer.delete_where(|url| rules.covers(url).is_some())?.documents;
            // Deleted documents may be left by a run that was stopped.
            writer.expunge()?;
            Ok(())
        };
        delete().with_context(|| {
            format!("cannot write the index of {code}; if it is damaged, run `tidings compile --verify`, then this command again")
        })?;
    }
    frozen::withdraw(home, time, &ids, &|url| rules.covers(url).is_some())?;
    Ok(deleted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_home;

    fn target(text: &str) -> (TombstoneKind, Option<String>) {
        let target = Target::parse(text).unwrap();
        (target.kind, target.host)
    }

    #[test]
    fn a_target_is_recognised_by_its_form() {
        assert_eq!(target("https://E.org/1"), (TombstoneKind::Address, Some("e.org".into())));
        assert_eq!(target("import:a/1"), (TombstoneKind::Address, None));
        assert_eq!(target(" E.org. "), (TombstoneKind::Host, Some("e.org".into())));
        assert_eq!(target("e.org/private/*"), (TombstoneKind::Pattern, Some("e.org".into())));
        assert_eq!(target("https://*.e.org/2024/*"), (TombstoneKind::Pattern, None));
    }

    #[test]
    fn targets_that_match_everything_or_nothing_are_rejected() {
        for text in ["*", "*://*/*", "https://*.*", "e.org/1", "nohost", "two words.org"] {
            assert!(Target::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_removal_needs_a_reason_and_an_empty_home_has_nothing_to_finish() {
        let folder = tempfile::tempdir().unwrap();
        let pipeline = Pipeline::create(folder.path()).unwrap();
        assert_eq!(finish(&pipeline).unwrap().to_string(), "nothing to remove\n");
        let what = Options { what: Some("e.org".into()), ..Options::default() };
        assert!(run(&pipeline, &what).unwrap_err().to_string().contains("--reason"));
        let outcome = run(&pipeline, &Options { reason: Some("asked to".into()), ..what }).unwrap();
        assert_eq!((outcome.pages, outcome.status()), (0, Status::Done));
        assert_eq!(Removed::read(pipeline.home()).unwrap().rows().len(), 1);
        assert!(preview(&pipeline, "f.org", None).unwrap().to_string().starts_with("would remove 0 pages on 0 days"));
    }

    fn tombstone(text: &str) -> Tombstone {
        Target::parse(text).unwrap().tombstone("", "")
    }

    #[test]
    fn a_pattern_ignores_the_case_of_its_host_but_not_of_its_path() {
        assert!(tombstone("E.org/Private/*").covers("https://e.org/Private/1"));
        assert!(!tombstone("E.org/Private/*").covers("https://e.org/private/1"));
        assert!(tombstone("HTTPS://*.E.org/2024/*").covers("https://www.e.org/2024/1"));
    }

    #[test]
    fn a_host_covers_its_subdomains_and_is_converted_to_punycode() {
        let host = tombstone("E.org");
        assert!(host.covers("http://e.org:8080/1") && host.covers("https://www.e.org/"));
        assert!(!host.covers("https://note.org/"));
        assert!(tombstone("bücher.example").covers("https://xn--bcher-kva.example/1"));
    }

    #[test]
    fn a_host_with_a_port_is_rejected_because_it_would_match_nothing() {
        let error = Target::parse("e.org:8080").err().unwrap().to_string();
        assert!(error.contains("has a port"), "{error}");
        assert!(tombstone("e.org:8080/*").covers("http://e.org:8080/1"));
    }

    #[test]
    fn a_preview_counts_deletions_and_changes_no_file() {
        let (_folder, pipeline) = test_home::built();
        let before = test_home::files_of(pipeline.home().root());
        let found = preview(&pipeline, "gazette.example", None).unwrap();
        assert_eq!((found.pages, found.documents.len(), found.urls.len()), (4, 4, 4));
        assert_eq!(found.days, [test_home::FIRST_DAY, test_home::SECOND_DAY]);
        let one = preview(&pipeline, "https://gazette.example/river", None).unwrap();
        assert_eq!((one.pages, one.documents.len(), one.days.len()), (1, 1, 1));
        assert_eq!(preview(&pipeline, "courier.example", None).unwrap().pages, 0);
        assert_eq!(test_home::files_of(pipeline.home().root()), before);
    }

    #[test]
    fn removed_pages_are_absent_from_pages_documents_text_and_index() {
        let (_folder, pipeline) = test_home::built();
        let options = Options {
            what: Some("https://gazette.example/fluss".into()),
            reason: Some("asked to".into()),
            ..Options::default()
        };
        let outcome = run(&pipeline, &options).unwrap();
        assert_eq!((outcome.pages, outcome.documents, outcome.hidden), (1, 1, 1));
        let home = pipeline.home();
        let files: Vec<PathBuf> = docs::page_days(home).unwrap().into_iter().flat_map(|day| day.files).collect();
        let rules = Removed::read(home).unwrap();
        assert!(files.iter().all(|file| takedown::unwanted(file, &rules).unwrap().is_empty()));
        assert!(!Recipe::read(home, test_home::FIRST_DAY).unwrap().unwrap().documents.contains_key("de"));
        let figures = crate::health::days::indexes(home).unwrap();
        assert_eq!(figures.values().map(|index| index.documents).sum::<u64>(), 3);
        assert!(rules.unfinished().next().is_none());
        assert_eq!(finish(&pipeline).unwrap().pages, 0, "nothing is left to finish");
    }
}
