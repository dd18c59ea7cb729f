//! `clean`: pages → documents, one day at a time.
//!
//! A day of pages is read by one thread, extracted on all cores, and written in the order of the pages. It is published
//! atomically with its recipe. If only files were added to a day, only these are read.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;
use std::time::Instant;

use anyhow::{Result, anyhow, bail};
use serde::{Deserialize, Serialize};
use tidings_clean::Options;
use tidings_clean::postprocess::PostprocessOptions;
use tidings_model::{FailureKind, Page};
use tidings_store::digest;
use tidings_store::docs::{self, Day, DayDraft, DroppedPage, Recipe};
use tidings_store::pages::{PageLine, PageReader};
use tidings_store::removed::Removed;
use tidings_store::yields::{self, Yield};
use tidings_store::{Error, Home, Stale};

use super::{Data, Due, Stage, StageId, StageOutcome, StageRun, Unit, layer_digest};
use crate::config::Config;
use crate::context::{RunContext, StageLog};
use crate::display::{count, grouped, span_s};
use crate::extract_guarded;
use crate::outcome::{Ending, Outcome, Status};
use crate::parallel::{self, Bounds};
use crate::reporter::ProgressScope;
use crate::why::conservation::Balances;

/// The memory for processing a page, relative to its size: its line, text, tree and document.
const EXPANSION: usize = 10;
/// The minimum memory of a page.
const LEAST_WEIGHT: usize = 64 << 10;

/// Pages → documents.
#[derive(Debug, Clone, Default)]
pub struct Clean {
    /// Only this day of download, such as `2026-03-01`.
    pub day: Option<String>,
}

/// The outcome of `clean`.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CleanOutcome {
    /// Whether all that could be done was done.
    pub done: bool,
    /// The name of the run.
    pub run: String,
    /// Days processed.
    pub days: u64,
    /// Days that were up to date.
    pub days_up_to_date: u64,
    /// Days that are left for a later run.
    pub days_left: u64,
    /// Days with unreadable pages.
    pub days_failed: Vec<String>,
    /// Pages that were read.
    pub pages: u64,
    /// Documents extracted from them.
    pub documents: u64,
    /// The same by language.
    pub languages: BTreeMap<String, u64>,
    /// Dropped pages, by reason.
    pub dropped: BTreeMap<String, u64>,
    /// Duration in seconds.
    pub seconds: f64,
    #[serde(skip)]
    ending: Ending,
}

impl Outcome for CleanOutcome {
    fn status(&self) -> Status {
        match () {
            () if !self.done => Status::NotDone,
            () if self.dropped.contains_key(DropReason::NoDocument(tidings_clean::DropReason::Error).word()) => {
                Status::Partly
            }
            () => Status::Done,
        }
    }
}

impl fmt::Display for CleanOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.days == 0 && self.days_left == 0 && self.days_failed.is_empty() {
            if let Some(idle) = self.ending.idle_shard() {
                return writeln!(f, "{idle}");
            }
            return match self.days_up_to_date {
                0 => writeln!(f, "nothing to clean: no pages yet"),
                1 => writeln!(f, "nothing to clean: the day is up to date"),
                days => writeln!(f, "nothing to clean: all {} are up to date", count(days, "day")),
            };
        }
        let languages = count(self.languages.len() as u64, "language");
        write!(f, "{} read: {} in {languages}", count(self.pages, "page"), count(self.documents, "document"))?;
        if !self.dropped.is_empty() {
            let mut reasons: Vec<(&String, &u64)> = self.dropped.iter().collect();
            reasons.sort_by_key(|(name, number)| (std::cmp::Reverse(**number), *name));
            let reasons: Vec<String> =
                reasons.iter().map(|(name, number)| format!("{} {name}", grouped(**number))).collect();
            write!(f, ", {} dropped ({})", grouped(self.dropped.values().sum()), reasons.join(", "))?;
        }
        writeln!(f, "{}, {}", self.ending.text("day"), span_s(self.seconds))?;
        if !self.days_failed.is_empty() {
            writeln!(f, "not cleaned because of unreadable pages: {}", self.days_failed.join(", "))?;
        }
        Ok(())
    }
}

impl Clean {
    /// The recipe with which a day would be cleaned now, without its results.
    fn recipe(&self, config: &Config, day: &str) -> Recipe {
        let settings = self.settings(config);
        Recipe { version: self.version(), ..Recipe::new(day, &crate::program(), tidings_clean::version(), settings) }
    }

    fn days(&self, home: &Home) -> Result<Vec<Day>> {
        let mut days = docs::page_days(home)?;
        if let Some(wanted) = &self.day {
            days.retain(|day| day.name == *wanted);
            if days.is_empty() {
                bail!("no pages of {wanted}; `tidings pages` lists all days");
            }
        }
        Ok(days)
    }
}

impl Stage for Clean {
    fn id(&self) -> StageId {
        StageId::Clean
    }

    fn version(&self) -> u32 {
        tidings_clean::BEHAVIOUR_VERSION
    }

    fn inputs(&self) -> &'static [Data] {
        &[Data::Pages]
    }

    fn outputs(&self) -> &'static [Data] {
        &[Data::Documents]
    }

    fn settings(&self, config: &Config) -> serde_json::Value {
        config.clean.recipe(&config.gate)
    }

    fn tables(&self) -> Vec<(&'static str, &'static [u8])> {
        tidings_clean::tables()
    }

    fn output_digest(&self, home: &Home) -> Result<Option<String>> {
        layer_digest(home, digest::Stage::Docs)
    }

    fn balance(&self, home: &Home, balances: &mut Balances) -> Result<()> {
        balances.clean(home)
    }

    fn due(&self, home: &Home, config: &Config) -> Result<Due> {
        let mut due = Due::default();
        for day in self.days(home)? {
            let why = match Recipe::read(home, &day.name)? {
                None => Some(Stale::New),
                Some(recipe) => recipe.stale(&self.recipe(config, &day.name), home, &day)?,
            };
            match why {
                Some(why) => due.units.push(Unit { name: day.name, why }),
                None => due.up_to_date += 1,
            }
        }
        Ok(due)
    }

    fn begin<'a>(&'a self, context: &'a RunContext, due: &Due) -> Result<Box<dyn StageRun + 'a>> {
        let wanted: BTreeSet<&str> = due.units.iter().map(|unit| unit.name.as_str()).collect();
        let days: BTreeMap<String, Day> = match wanted.is_empty() {
            true => BTreeMap::new(),
            false => docs::page_days(&context.home)?.into_iter().map(|day| (day.name.clone(), day)).collect(),
        };
        let files =
            days.values().filter(|day| wanted.contains(day.name.as_str())).map(|day| day.files.len() as u64).sum();
        let config = &context.config.clean;
        Ok(Box::new(CleanRun {
            stage: self,
            context,
            options: config.options(),
            postprocess_options: context.config.postprocess_options(),
            removed: Removed::read(&context.home)?,
            bounds: Bounds { threads: super::threads(config.threads), weight: config.memory_mib << 20 },
            progress: context.progress("files of pages", files),
            days,
            files: 0,
            outcome: CleanOutcome {
                run: context.run.clone(),
                days_up_to_date: due.up_to_date,
                ..CleanOutcome::default()
            },
        }))
    }

    fn clear(&self, home: &Home) -> Result<()> {
        Ok(docs::clear(home)?)
    }

    fn clear_language(&self, home: &Home, _language: &str, days: &BTreeSet<String>) -> Result<()> {
        Ok(days.iter().try_for_each(|day| docs::remove_day(home, day))?)
    }
}

/// The stage at work.
struct CleanRun<'a> {
    stage: &'a Clean,
    context: &'a RunContext,
    options: Options,
    postprocess_options: PostprocessOptions,
    removed: Removed,
    bounds: Bounds,
    progress: ProgressScope,
    days: BTreeMap<String, Day>,
    /// Files of pages that were read.
    files: u64,
    outcome: CleanOutcome,
}

/// A day in the run log.
#[derive(Serialize)]
struct DayLine<'a> {
    day: &'a str,
    why: Stale,
    pages: u64,
    pages_kept: u64,
    documents: &'a BTreeMap<String, u64>,
    dropped: &'a BTreeMap<String, u64>,
    seconds: f64,
}

/// A day with unreadable pages in the run log.
#[derive(Serialize)]
struct FailedDayLine<'a> {
    day: &'a str,
    why: Stale,
    error: &'a str,
}

/// The result of a page: its target, its line with a line end, and its yield.
struct Cleaned {
    target: CleanTarget,
    line: Vec<u8>,
    feed: String,
    host: String,
    sum: Yield,
}

enum CleanTarget {
    Language(String),
    Dropped(DropReason),
}

/// The reason why a page has no document.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum DropReason {
    /// Rejected by the extractor or the quality gate.
    NoDocument(tidings_clean::DropReason),
    /// Covered by a tombstone, but fetched or imported again.
    Removed,
}

impl DropReason {
    /// Its name in `docs/dropped` and in recipes.
    pub fn word(self) -> &'static str {
        match self {
            DropReason::NoDocument(reason) => reason.name(),
            DropReason::Removed => FailureKind::Removed.word(),
        }
    }

    /// The record of a page that was dropped for this reason.
    fn record(self, page: &Page) -> DroppedPage<'_> {
        let refusal = match self {
            DropReason::NoDocument(tidings_clean::DropReason::Rejected(rejection)) => Some(rejection),
            _ => None,
        };
        DroppedPage {
            url: Cow::from(&page.url),
            feed: Cow::from(&page.feed),
            title: Cow::from(&page.title),
            downloaded: Cow::from(&page.downloaded),
            content_type: Cow::from(&page.content_type),
            bytes: page.body.len() as u64,
            reason: Cow::from(self.word()),
            measured: refusal.map(|refusal| refusal.measured),
            limit: refusal.map(|refusal| refusal.limit),
        }
    }
}

impl StageRun for CleanRun<'_> {
    /// Processes a day. An unreadable file of pages skips its day only; a failed write ends the run.
    fn unit(&mut self, unit: &Unit, log: &mut StageLog<'_>) -> Result<()> {
        let day = self.days[&unit.name].clone();
        log::debug!("{}: {}", day.name, unit.why);
        let began = Instant::now();
        let files_before = self.files;
        match self.make(&day) {
            Ok((recipe, kept)) => {
                log.push(&DayLine {
                    day: &day.name,
                    why: unit.why,
                    pages: recipe.pages,
                    pages_kept: kept.as_ref().map_or(0, |kept| kept.pages),
                    documents: &recipe.documents,
                    dropped: &recipe.dropped,
                    seconds: began.elapsed().as_secs_f64(),
                })?;
                let outcome = &mut self.outcome;
                outcome.days += 1;
                let made = kept.map_or(recipe.clone(), |kept| recipe.beyond(&kept));
                outcome.pages += made.pages;
                for (sum, part) in [(&mut outcome.languages, made.documents), (&mut outcome.dropped, made.dropped)] {
                    part.into_iter().for_each(|(name, number)| *sum.entry(name).or_default() += number);
                }
            }
            Err(error) if is_about_pages(&error) => {
                log::error!("{}: {error:#}", day.name);
                log.push(&FailedDayLine { day: &day.name, why: unit.why, error: &format!("{error:#}") })?;
                self.outcome.days_failed.push(day.name.clone());
            }
            Err(error) => return Err(error),
        }
        self.files = files_before + day.files.len() as u64;
        Ok(())
    }

    fn finish(self: Box<Self>, ending: Ending, _: &mut StageLog<'_>) -> Result<StageOutcome> {
        // Shards leave the sums to the run that joins them.
        if self.outcome.days > 0 && self.context.shard.is_whole() {
            yields::summarise(&self.context.home)?;
        }
        let mut outcome = self.outcome;
        outcome.documents = outcome.languages.values().sum();
        outcome.done = outcome.days_failed.is_empty() && ending.is_done();
        outcome.days_left = ending.left;
        outcome.seconds = self.context.seconds();
        outcome.ending = ending;
        Ok(StageOutcome::Clean(outcome))
    }
}

impl CleanRun<'_> {
    /// Processes a day, or the files added to it; returns its recipe and the recipe of the part that stays.
    fn make(&mut self, day: &Day) -> Result<(Recipe, Option<Recipe>)> {
        let context = self.context;
        let mut draft = DayDraft::begin(&context.home, self.stage.recipe(&context.config, &day.name), day)?;
        let kept = draft.kept().cloned();
        let mut read = kept.as_ref().map_or(0, |kept| kept.pages);
        let mut files = day.files[kept.as_ref().map_or(0, |kept| kept.inputs.len())..].iter();
        let mut open: Option<(&Path, PageReader)> = None;
        let source = || loop {
            context.check_cancelled()?;
            if let Some((path, reader)) = &mut open
                && let Some(line) = reader.next_line()?
            {
                read += 1;
                let weight = line.text.len() * EXPANSION + LEAST_WEIGHT;
                return Ok(Some(((*path, line), weight)));
            }
            let Some(path) = files.next() else { return Ok(None) };
            open = Some((path, PageReader::open(path)?));
        };
        let began = Instant::now();
        let (options, postprocess_options, removed) = (&self.options, &self.postprocess_options, &self.removed);
        let (progress, files_before) = (&self.progress, self.files);
        let (mut done, mut current, mut files_done) = (0u64, None, 0);
        parallel::ordered(
            self.bounds,
            source,
            |(path, line)| (path, clean_page(path, &line, options, postprocess_options, removed)),
            |(path, cleaned)| {
                let Cleaned { target, line, feed, host, sum } = cleaned?;
                if current != Some(path) {
                    files_done += u64::from(current.is_some());
                    current = Some(path);
                    draft.end_file()?;
                }
                draft.count(&feed, &host, sum);
                match target {
                    CleanTarget::Language(code) => draft.push(&code, &line)?,
                    CleanTarget::Dropped(reason) => draft.drop_page(reason.word(), &line)?,
                }
                done += 1;
                if done.is_multiple_of(64) {
                    let rate = done as f64 / began.elapsed().as_secs_f64().max(0.1);
                    let detail = format!("{}, {}, {rate:.0}/s", day.name, count(done, "page"));
                    progress.show(files_before + files_done, &detail);
                }
                Ok(())
            },
        )?;
        Ok((draft.publish(read)?, kept))
    }
}

/// Whether an error is about reading pages and not about writing documents.
fn is_about_pages(error: &anyhow::Error) -> bool {
    match error.downcast_ref::<Error>() {
        Some(Error::Line { .. } | Error::Damaged { .. } | Error::Newer { .. }) => true,
        Some(Error::Io(error)) => matches!(error.doing, "read" | "open"),
        _ => false,
    }
}

/// Extracts the document of a page, or the record of why there is none.
fn clean_page(
    path: &Path,
    line: &PageLine,
    options: &Options,
    postprocess_options: &PostprocessOptions,
    removed: &Removed,
) -> Result<Cleaned> {
    let mut page = line.page(path)?;
    let is_removed = [&page.url, &page.final_url].into_iter().any(|url| removed.covers(url).is_some());
    if is_removed {
        // Only the URL of a removed page is kept.
        page.title.clear();
    }
    let mut line = Vec::new();
    let mut sum = Yield { pages: 1, downloaded: page.body.len() as u64, ..Yield::default() };
    let cleaned = match is_removed {
        true => Err(DropReason::Removed),
        false => extract_guarded::clean_page(&page, options, postprocess_options).map_err(DropReason::NoDocument),
    };
    let target = match cleaned {
        Ok(document) => {
            serde_json::to_writer(&mut line, &document).map_err(|error| anyhow!("{}: {error}", page.url))?;
            sum.documents = 1;
            sum.clean = document.paragraphs.iter().map(|paragraph| paragraph.text.len() as u64).sum();
            CleanTarget::Language(document.language_code())
        }
        Err(reason) => {
            serde_json::to_writer(&mut line, &reason.record(&page))?;
            CleanTarget::Dropped(reason)
        }
    };
    line.push(b'\n');
    let address = if page.final_url.is_empty() { &page.url } else { &page.final_url };
    let host = url::Url::parse(address).ok().and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default();
    Ok(Cleaned { target, line, feed: page.feed, host, sum })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cancel::StopReason;
    use crate::testing::{article, home, page, root, store_pages};
    use tidings_store::Stale;

    fn stopped(left: u64, reason: StopReason) -> Ending {
        Ending { left, reason: Some(reason), min_free_mib: 512, in_other_shards: 0 }
    }

    #[test]
    fn an_outcome_with_nothing_due_has_a_reason() {
        let text = |days_up_to_date| CleanOutcome { days_up_to_date, ..CleanOutcome::default() }.to_string();
        assert_eq!(text(0), "nothing to clean: no pages yet\n");
        assert_eq!(text(1), "nothing to clean: the day is up to date\n");
        assert_eq!(text(1200), "nothing to clean: all 1,200 days are up to date\n");
    }

    #[test]
    fn an_outcome_lists_reasons_the_most_frequent_first() {
        let outcome = CleanOutcome {
            days: 2,
            pages: 1010,
            documents: 1,
            languages: [("en".to_owned(), 1)].into(),
            dropped: [("no-text".to_owned(), 4), ("error".to_owned(), 4), ("too-short".to_owned(), 1001)].into(),
            ..CleanOutcome::default()
        };
        let reasons = "1,001 too-short, 4 error, 4 no-text";
        let expected = format!("1,010 pages read: 1 document in 1 language, 1,009 dropped ({reasons}), 0.0 s\n");
        assert_eq!(outcome.to_string(), expected);
    }

    #[test]
    fn an_early_end_and_failed_days_are_shown() {
        let outcome = CleanOutcome {
            days_left: 3,
            days_failed: vec!["2026-03-01".into()],
            ending: stopped(3, StopReason::Cancelled("SIGINT".into())),
            ..CleanOutcome::default()
        };
        assert_eq!(
            outcome.to_string(),
            "0 pages read: 0 documents in 0 languages; 3 days left for a later run, stopped by SIGINT, 0.0 s\n\
             not cleaned because of unreadable pages: 2026-03-01\n"
        );
    }

    #[test]
    fn a_page_on_which_the_extractor_panics_makes_the_outcome_partial() {
        let dropped =
            |word: &str| CleanOutcome { done: true, dropped: [(word.to_owned(), 1)].into(), ..CleanOutcome::default() };
        assert_eq!(dropped("no-text").status(), Status::Done);
        assert_eq!(dropped(DropReason::NoDocument(tidings_clean::DropReason::Error).word()).status(), Status::Partly);
    }

    #[test]
    fn a_damaged_file_of_pages_skips_its_day_only() {
        let (_folder, pipeline) = home();
        store_pages(&pipeline, "2026-03-01", &[page("https://gazette.example/1", &article("ferry"))]);
        store_pages(&pipeline, "2026-03-02", &[page("https://gazette.example/2", &article("museum"))]);
        let damaged = root(&pipeline).join("pages/2026-03-01/a.0.jsonl.zst");
        std::fs::write(damaged, b"no zstd at all").unwrap();
        let StageOutcome::Clean(outcome) = pipeline.run(&Clean::default()).unwrap() else { panic!("not clean") };
        assert_eq!((outcome.done, outcome.days, outcome.days_failed), (false, 1, vec!["2026-03-01".to_owned()]));
    }

    #[test]
    fn a_day_is_due_when_it_is_new_or_its_pages_or_settings_change() {
        let (_folder, pipeline) = home();
        let due = |config: &Config| {
            let due = Clean::default().due(pipeline.home(), config).unwrap();
            (due.units.first().map(|unit| unit.why), due.up_to_date)
        };
        store_pages(&pipeline, "2026-03-01", &[page("https://gazette.example/1", &article("ferry"))]);
        assert_eq!(due(pipeline.config()), (Some(Stale::New), 0));
        pipeline.run(&Clean::default()).unwrap();
        assert_eq!(due(pipeline.config()), (None, 1));
        let mut config = pipeline.config().clone();
        config.clean.languages = vec!["de".into()];
        assert_eq!(due(&config), (Some(Stale::Settings), 0));
        let folder = root(&pipeline).join("pages/2026-03-01");
        std::fs::copy(folder.join("a.0.jsonl.zst"), folder.join("b.0.jsonl.zst")).unwrap();
        assert_eq!(due(pipeline.config()), (Some(Stale::PagesAdded), 0));
    }
}
