//! `clean`: pages → documents, one day at a time.
//!
//! A day of pages is read by one thread, extracted on all cores, and written in the order of the pages. It is published
//! atomically with its recipe. If only files were added to a day, only these are read.

pub mod assemble;
mod cleaned_file;
mod damage;
mod lines;
mod page;
mod same_text;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;
use std::time::Instant;

use anyhow::{Result, anyhow, bail};
use serde::{Deserialize, Serialize};
use tidings_clean::Options;
use tidings_clean::postprocess::PostprocessOptions;
use tidings_model::{Fingerprint, FingerprintSet};
use tidings_store::digest;
use tidings_store::docs::{self, Day, DayDraft, Recipe};
use tidings_store::fresh::Stamp;
use tidings_store::pages::PageReader;
use tidings_store::removed::Removed;
use tidings_store::yields;
use tidings_store::{Error, FaultyPages, Home, Stale};

use super::{Data, Due, Stage, StageId, StageOutcome, StageRun, Unit, layer_digest};
use crate::config::Config;
use crate::context::{RunContext, StageLog};
use crate::display::{count, grouped, span_s};
use crate::outcome::{Ending, Outcome, Status};
use crate::parallel::{self, Bounds};
use crate::reporter::ProgressScope;
use crate::why::conservation::Balances;
pub use cleaned_file::{CleanSettings, CleanedFile, FileCleaner};
use damage::{DamagedPart, carry_over};
pub use lines::{CleanedLine, LineCleaner, withdraw_same_texts};
pub use page::DropReason;
use page::{CleanTarget, Cleaned, clean_page};
use same_text::{Decision, EarlierSuspects, SuspectDocument, Suspects};

/// The memory for processing a page, relative to its size: its line, text, tree and document.
const EXPANSION: usize = 10;
/// The minimum memory of a page.
const LEAST_WEIGHT: usize = 64 << 10;

/// Pages → documents.
#[derive(Debug, Clone, Default)]
pub struct Clean {
    /// Only this day of download, such as `2026-03-01`.
    pub day: Option<String>,
    /// Makes days again without files of pages that are missing.
    pub accept_loss: bool,
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
    /// Days with missing or unreadable pages.
    pub days_failed: Vec<String>,
    /// Pages that were read.
    pub pages: u64,
    /// Documents extracted from them.
    pub documents: u64,
    /// The same by language.
    pub languages: BTreeMap<String, u64>,
    /// Dropped pages, by reason.
    pub dropped: BTreeMap<String, u64>,
    /// Files of pages with damaged parts, which were skipped.
    pub damaged_files: BTreeSet<String>,
    /// Duration in seconds.
    pub seconds: f64,
    #[serde(skip)]
    ending: Ending,
}

impl Outcome for CleanOutcome {
    fn status(&self) -> Status {
        match () {
            () if !self.done => Status::NotDone,
            () if !self.damaged_files.is_empty() => Status::Partly,
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
            writeln!(f, "not cleaned because of missing or unreadable pages: {}", self.days_failed.join(", "))?;
        }
        if !self.damaged_files.is_empty() {
            let files: Vec<&str> = self.damaged_files.iter().map(String::as_str).collect();
            writeln!(f, "read around damage in {}; restore from a backup", files.join(", "))?;
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

    /// The days of pages from one on, and the days of documents whose pages are all missing.
    fn days(&self, home: &Home, since: &str) -> Result<Vec<Day>> {
        let mut days = docs::page_days_since(home, since)?;
        let known: BTreeSet<String> = days.iter().map(|day| day.name.clone()).collect();
        let is_other = |name: &String| name.as_str() >= since && !known.contains(name);
        for name in docs::document_days(home)?.into_iter().filter(is_other) {
            if Recipe::read(home, &name)?.is_some_and(|recipe| !recipe.inputs.is_empty()) {
                days.push(Day { name, files: Vec::new() });
            }
        }
        days.sort_by(|a, b| a.name.cmp(&b.name));
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
        self.due_since(home, config, "")
    }

    fn stamp_before(&self, home: &Home, _: &Config, first: &str, stamp: &mut Stamp) -> Result<bool> {
        stamp.add_days_before(home, "pages", first)?;
        stamp.add_days_before(home, "docs", first)?;
        Ok(self.day.is_none() && !self.accept_loss)
    }

    fn due_since(&self, home: &Home, config: &Config, since: &str) -> Result<Due> {
        let mut due = Due { since: since.to_owned(), ..Due::default() };
        due.up_to_date = docs::document_days(home)?.iter().filter(|day| day.as_str() < since).count() as u64;
        let mut earlier = EarlierSuspects::new(home);
        for day in self.days(home, since)? {
            let why = match Recipe::read(home, &day.name)? {
                None => Some(Stale::New),
                Some(recipe) if !self.accept_loss && !recipe.lost_inputs(home)?.is_empty() => Some(Stale::PagesLost),
                Some(recipe) => match recipe.stale(&self.recipe(config, &day.name), home, &day)? {
                    None => earlier.change(&recipe)?.then_some(Stale::Walls),
                    why => why,
                },
            };
            match why {
                Some(why) => due.units.push(Unit { name: day.name, why }),
                None => due.up_to_date += 1,
            }
        }
        Ok(due)
    }

    fn up_to_date(&self, context: &RunContext, units: u64) -> Option<StageOutcome> {
        Some(StageOutcome::Clean(CleanOutcome {
            done: true,
            run: context.run.clone(),
            days_up_to_date: units,
            seconds: context.seconds(),
            ending: context.ending(0),
            ..CleanOutcome::default()
        }))
    }

    fn begin<'a>(&'a self, context: &'a RunContext, due: &Due) -> Result<Box<dyn StageRun + 'a>> {
        let wanted: BTreeSet<&str> = due.units.iter().map(|unit| unit.name.as_str()).collect();
        let days: BTreeMap<String, Day> = match wanted.is_empty() {
            true => BTreeMap::new(),
            false => self.days(&context.home, &due.since)?.into_iter().map(|day| (day.name.clone(), day)).collect(),
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
            progress: context.counting("pages"),
            days,
            files_due: files,
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
    /// Files of pages that are due.
    files_due: u64,
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

/// A day with missing or unreadable pages in the run log.
#[derive(Serialize)]
struct FailedDayLine<'a> {
    day: &'a str,
    why: Stale,
    error: &'a str,
}

impl StageRun for CleanRun<'_> {
    /// Processes a day. An unreadable file of pages skips its day only; a failed write ends the run.
    fn unit(&mut self, unit: &Unit, log: &mut StageLog<'_>) -> Result<()> {
        let day = self.days[&unit.name].clone();
        log::debug!("{}: {}", day.name, unit.why);
        let began = Instant::now();
        let files_before = self.files;
        let made = match unit.why {
            Stale::PagesLost => Err(self.lost(&day)?),
            _ => self.make(&day),
        };
        match made {
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
                outcome.damaged_files.extend(recipe.damaged.iter().map(|part| part.file.clone()));
                let made = kept.map_or(recipe.clone(), |kept| recipe.beyond(&kept));
                outcome.pages += made.pages;
                for (sum, part) in [(&mut outcome.languages, made.documents), (&mut outcome.dropped, made.dropped)] {
                    part.into_iter().for_each(|(name, number)| *sum.entry(name).or_default() += number);
                }
            }
            Err(error) if error.is::<PagesLost>() || is_about_pages(&error) => {
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

/// Files of pages that a day was made from and that are missing now.
#[derive(Debug)]
struct PagesLost(Vec<FaultyPages>);

impl std::error::Error for PagesLost {}

impl fmt::Display for PagesLost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let files: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        let remedy = "restore it from a backup, or accept the loss with `tidings clean --accept-loss`";
        write!(f, "{}; the documents made from it are kept: {remedy}", files.join(", "))
    }
}

impl CleanRun<'_> {
    /// The error about a day whose pages are missing.
    fn lost(&self, day: &Day) -> Result<anyhow::Error> {
        // A file of a newer version is not damaged.
        let newer = day.files.iter().filter_map(|file| PageReader::open(file).err());
        if let Some(newer) = newer.into_iter().find(|error| matches!(error, Error::Newer { .. })) {
            return Ok(newer.into());
        }
        let recipe = Recipe::read(&self.context.home, &day.name)?;
        let lost = recipe.map(|recipe| recipe.lost_inputs(&self.context.home)).transpose()?.unwrap_or_default();
        Ok(match lost.is_empty() {
            true => anyhow!("the pages of {} changed during the run; run again", day.name),
            false => PagesLost(lost).into(),
        })
    }

    /// Processes a day, or the files added to it; returns its recipe and the recipe of the part that stays.
    fn make(&mut self, day: &Day) -> Result<(Recipe, Option<Recipe>)> {
        let home = &self.context.home;
        let recipe = self.stage.recipe(&self.context.config, &day.name);
        if let Some(made) = self.fill(day, DayDraft::begin(home, recipe.clone(), day)?)? {
            return Ok(made);
        }
        let made = self.fill(day, DayDraft::begin_anew(home, recipe, day)?)?;
        Ok(made.expect("a day is made again only if a part of it stays"))
    }

    /// Fills the draft of a day and publishes it; `None` if the added pages change the decision about documents of the
    /// part that stays.
    fn fill(&self, day: &Day, mut draft: DayDraft) -> Result<Option<(Recipe, Option<Recipe>)>> {
        let context = self.context;
        let kept = draft.kept().cloned();
        let mut read = kept.as_ref().map_or(0, |kept| kept.pages);
        let mut files = day.files[kept.as_ref().map_or(0, |kept| kept.inputs.len())..].iter();
        let mut open: Option<(&Path, PageReader)> = None;
        let mut damaged: Vec<DamagedPart<'_>> = Vec::new();
        let mut seen = FingerprintSet::default();
        let mut suspects = Suspects::new(kept.as_ref());
        let source = || loop {
            context.check_cancelled()?;
            if let Some((path, reader)) = &mut open {
                if let Some(line) = reader.next_line()? {
                    read += 1;
                    let weight = line.text.len() * EXPANSION + LEAST_WEIGHT;
                    return Ok(Some(((*path, line), weight)));
                }
                damaged.extend(reader.damaged().iter().map(|part| (*path, part.clone())));
            }
            let Some(path) = files.next() else { return Ok(None) };
            open = Some((path, PageReader::open(path)?));
        };
        let (options, postprocess_options, removed) = (&self.options, &self.postprocess_options, &self.removed);
        let mut progress = DayProgress { run: self, day: &day.name, began: Instant::now(), pages: 0, files: 0 };
        let mut current = None;
        parallel::ordered(
            self.bounds,
            source,
            |(path, line)| {
                let page = line.page(path).map_err(anyhow::Error::from);
                (path, page.and_then(|page| clean_page(page, options, postprocess_options, removed)))
            },
            |(path, cleaned)| {
                let cleaned = cleaned?;
                seen.insert(Fingerprint::of(&cleaned.url));
                if current != Some(path) {
                    progress.files += u64::from(current.is_some());
                    current = Some(path);
                    draft.end_file()?;
                }
                push(cleaned, &mut draft, &mut suspects)?;
                progress.page();
                Ok(())
            },
        )?;
        match suspects.decide(&mut draft, || EarlierSuspects::new(&context.home).before(&day.name))? {
            Decision::MakeAgain => return Ok(None),
            Decision::Withdraw(documents) => draft.withdraw(&documents)?,
        }
        read += self.around_damage(day, &damaged, &seen, &mut draft)?;
        Ok(Some((draft.publish(read)?, kept)))
    }

    /// Records damaged parts of pages, and keeps the documents that were made from them before; returns their number. A
    /// rebuild must not be worse than what it replaces, so there damage is an error.
    fn around_damage(
        &self,
        day: &Day,
        damaged: &[DamagedPart<'_>],
        seen: &FingerprintSet,
        draft: &mut DayDraft,
    ) -> Result<u64> {
        let home = &self.context.home;
        for (path, part) in damaged {
            if home.is_draft() {
                let (path, at) = (path.to_path_buf(), format!("at byte {}", part.start));
                return Err(Error::Damaged { path, at }.into());
            }
            let file = home.key(path);
            log::error!("{file} is damaged: bytes {} to {} cannot be read and were skipped", part.start, part.end);
            draft.skip_damage(&file, part)?;
        }
        // If only files were added, all former documents are kept already.
        match damaged.is_empty() || draft.kept().is_some() {
            true => Ok(0),
            false => carry_over(home, &day.name, seen, draft),
        }
    }
}

/// Adds a page to the draft of its day.
fn push(cleaned: Cleaned, draft: &mut DayDraft, suspects: &mut Suspects) -> Result<()> {
    let Cleaned { url, revises, target, line, feed, host, sum } = cleaned;
    match target {
        CleanTarget::Suspect { language, suspicion, dropped } => {
            let position = draft.next_position(&language);
            draft.push(&language, &line)?;
            suspects.add(SuspectDocument { suspicion, position, dropped, url, revises, feed, host, sum }, draft);
            return Ok(());
        }
        CleanTarget::Language(code) => {
            draft.push(&code, &line)?;
            draft.supersede(&url, &revises);
        }
        CleanTarget::Dropped(reason) => draft.drop_page(reason.word(), &line)?,
    }
    draft.count(&feed, &host, sum);
    Ok(())
}

/// The pages between two reports of the progress.
const SHOWN_EVERY: u64 = 64;

/// The progress within a day.
struct DayProgress<'a> {
    run: &'a CleanRun<'a>,
    day: &'a str,
    began: Instant,
    pages: u64,
    files: u64,
}

impl DayProgress<'_> {
    /// Counts a page, and shows the progress now and then.
    fn page(&mut self) {
        self.pages += 1;
        if self.pages.is_multiple_of(SHOWN_EVERY) {
            let rate = self.pages as f64 / self.began.elapsed().as_secs_f64().max(0.1);
            let file = self.run.files + self.files + 1;
            let detail = format!("{rate:.0}/s, {}, file {file} of {}", self.day, self.run.files_due);
            self.run.progress.advance(SHOWN_EVERY, &detail);
        }
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

#[cfg(test)]
mod tests;
