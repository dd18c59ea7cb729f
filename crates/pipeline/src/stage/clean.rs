//! `clean`: pages in, documents out, one day at a time.
//!
//! A day of pages is read by one thread, made into documents on all cores, and written in the order of the pages. It
//! appears whole, with the recipe that made it, or not at all. Of a day that grows every hour only the new files are read.

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

/// The memory that a page takes while it is read, by its size: its line, its text, its tree, its document.
const EXPANSION: usize = 10;
/// The least memory that a page takes.
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
    /// Days that were made.
    pub days: u64,
    /// Days that were up to date.
    pub days_up_to_date: u64,
    /// Days that are left for a later run.
    pub days_left: u64,
    /// Days whose pages cannot be read.
    pub days_failed: Vec<String>,
    /// Pages that were read.
    pub pages: u64,
    /// Documents that came of them.
    pub documents: u64,
    /// The same by language.
    pub languages: BTreeMap<String, u64>,
    /// Pages that gave no document, by reason.
    pub dropped: BTreeMap<String, u64>,
    /// How long it took.
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
                0 => writeln!(f, "nothing to clean: there are no pages yet"),
                1 => writeln!(f, "nothing to clean: the day is up to date"),
                days => writeln!(f, "nothing to clean: all of {} are up to date", count(days, "day")),
            };
        }
        let languages = count(self.languages.len() as u64, "language");
        write!(f, "{} read: {} in {languages}", count(self.pages, "page"), count(self.documents, "document"))?;
        if !self.dropped.is_empty() {
            let mut reasons: Vec<(&String, &u64)> = self.dropped.iter().collect();
            reasons.sort_by_key(|(name, number)| (std::cmp::Reverse(**number), *name));
            let reasons: Vec<String> =
                reasons.iter().map(|(name, number)| format!("{} {name}", grouped(**number))).collect();
            write!(f, ", {} left out ({})", grouped(self.dropped.values().sum()), reasons.join(", "))?;
        }
        writeln!(f, "{}, {}", self.ending.text("day"), span_s(self.seconds))?;
        if !self.days_failed.is_empty() {
            writeln!(f, "not done, because pages cannot be read: {}", self.days_failed.join(", "))?;
        }
        Ok(())
    }
}

impl Clean {
    /// The recipe by which a day would be made now, without what would come of it.
    fn recipe(&self, config: &Config, day: &str) -> Recipe {
        let settings = self.settings(config);
        Recipe { version: self.version(), ..Recipe::new(day, &crate::program(), tidings_clean::version(), settings) }
    }

    fn days(&self, home: &Home) -> Result<Vec<Day>> {
        let mut days = docs::page_days(home)?;
        if let Some(wanted) = &self.day {
            days.retain(|day| day.name == *wanted);
            if days.is_empty() {
                bail!("there are no pages of {wanted}; `tidings pages` lists what there is");
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

/// A day, as the run log keeps it.
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

/// A day whose pages cannot be read, as the run log keeps it.
#[derive(Serialize)]
struct FailedDayLine<'a> {
    day: &'a str,
    why: Stale,
    error: &'a str,
}

/// What became of a page: where it goes, the line that holds it, with its line end, and its yield.
struct Cleaned {
    place: Place,
    line: Vec<u8>,
    feed: String,
    host: String,
    sum: Yield,
}

enum Place {
    Language(String),
    Dropped(DropReason),
}

/// The reason for which a page gives no document.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum DropReason {
    /// The page is no document for the corpus.
    NoDocument(tidings_clean::DropReason),
    /// It was removed from the corpus and came back by another way.
    Removed,
}

impl DropReason {
    /// Its word in `docs/dropped` and in recipes.
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
    /// Makes a day. Pages that cannot be read cost their day and no other; a failed write ends the run.
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
    /// Makes a day, or what was added to it; returns its recipe, and the recipe of what was there before and stays.
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
                let Cleaned { place, line, feed, host, sum } = cleaned?;
                if current != Some(path) {
                    files_done += u64::from(current.is_some());
                    current = Some(path);
                    draft.end_file()?;
                }
                draft.count(&feed, &host, sum);
                match place {
                    Place::Language(code) => draft.push(&code, &line)?,
                    Place::Dropped(reason) => draft.drop_page(reason.word(), &line)?,
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

/// Whether pages are at fault, not the place where documents go.
fn is_about_pages(error: &anyhow::Error) -> bool {
    match error.downcast_ref::<Error>() {
        Some(Error::Line { .. } | Error::Damaged { .. } | Error::Newer { .. }) => true,
        Some(Error::Io(error)) => matches!(error.doing, "read" | "open"),
        _ => false,
    }
}

/// Makes a document of a page, or the record of why there is none.
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
        // A page that was taken out and came back by another way goes no further than its address.
        page.title.clear();
    }
    let mut line = Vec::new();
    let mut sum = Yield { pages: 1, downloaded: page.body.len() as u64, ..Yield::default() };
    let cleaned = match is_removed {
        true => Err(DropReason::Removed),
        false => extract_guarded::clean_page(&page, options, postprocess_options).map_err(DropReason::NoDocument),
    };
    let place = match cleaned {
        Ok(document) => {
            serde_json::to_writer(&mut line, &document).map_err(|error| anyhow!("{}: {error}", page.url))?;
            sum.documents = 1;
            sum.clean = document.paragraphs.iter().map(|paragraph| paragraph.text.len() as u64).sum();
            Place::Language(document.language_code())
        }
        Err(reason) => {
            serde_json::to_writer(&mut line, &reason.record(&page))?;
            Place::Dropped(reason)
        }
    };
    line.push(b'\n');
    let address = if page.final_url.is_empty() { &page.url } else { &page.final_url };
    let host = url::Url::parse(address).ok().and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default();
    Ok(Cleaned { place, line, feed: page.feed, host, sum })
}
