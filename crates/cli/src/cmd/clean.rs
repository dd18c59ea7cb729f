//! `tidings clean`: pages in, documents out, one day at a time.
//!
//! A day of pages is read by one thread, made into documents on all cores, and written down in the
//! order of the pages. It appears whole, with the recipe that made it, or not at all. Of a day that grows every hour only
//! what is new is read.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use anyhow::{Result, anyhow, bail};
use serde::Serialize;
use serde_json::json;
use tidings_clean::refine::Refinement;
use tidings_clean::{Options, Unfit};
use tidings_model::Page;
use tidings_store::docs::{self, Day, DayDraft, Recipe};
use tidings_store::pages::{PageLine, PageReader};
use tidings_store::removed::{self, Removed};
use tidings_store::runs::RunLog;
use tidings_store::yields::{self, Yield};
use tidings_store::{Error, rfc3339};

use super::{Report, StepArgs, days_left, ended_early};
use crate::args::Global;
use crate::config::Config;
use crate::console::{Progress, count, grouped, span};
use crate::orderly::{self, Bounds};
use crate::session::Session;
use crate::{intake, lines, reader};

/// What a page takes while it is read, by its size: its line, its text, its tree, its document.
const EXPANSION: usize = 10;
/// What it takes at least.
const LEAST_WEIGHT: usize = 64 << 10;

#[derive(Debug, Default, clap::Args)]
#[command(
    after_help = "Documents come to docs/LANG/DAY.jsonl.zst, pages that gave none to docs/dropped/ with the reason, \
    and docs/recipes/DAY.json says what each day was made of. Days that are up to date are left alone; of a day \
    that has grown only the new pages are read; one is made again when the settings or the program have changed."
)]
pub struct Args {
    /// Only this day of download, such as 2026-03-01 [default: every day that is not up to date]
    #[arg(long, value_name = "DAY", value_parser = parse_day)]
    day: Option<String>,
    /// Pages read at the same time [default: clean.threads of the settings, one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    #[command(flatten)]
    steps: StepArgs,
}

fn parse_day(text: &str) -> Result<String, String> {
    match text.parse::<jiff::civil::Date>() {
        Ok(_) if text.len() == 10 => Ok(text.to_owned()),
        _ => Err("give a day such as 2026-03-01".to_owned()),
    }
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let (home, mut config) = super::open_home(global)?;
    if let Some(threads) = args.threads {
        config.clean.threads = threads.into();
    }
    let session = Session::open(home, config, "clean")?;

    let days: Vec<Day> = docs::days(&session.home)?;
    let days: Vec<Day> =
        days.into_iter().filter(|day| args.day.as_ref().is_none_or(|wanted| *wanted == day.name)).collect();
    if let (Some(day), true) = (&args.day, days.is_empty()) {
        bail!("there are no pages of {day}; `tidings pages` lists what there is");
    }
    let total = days.len() as u64;
    let mut due = Vec::new();
    for day in days {
        if let Some(why) = why_due(&session, &day)? {
            due.push((day, why));
        }
    }
    if due.is_empty() {
        let text = match total {
            0 => "nothing to clean: there are no pages yet\n".to_owned(),
            1 => "nothing to clean: the day is up to date\n".to_owned(),
            days => format!("nothing to clean: all of {} are up to date\n", count(days, "day")),
        };
        let json = json!({ "done": true, "run": session.run, "days": 0, "days_up_to_date": total, "pages": 0 });
        return Ok(Report { text, json, ..Report::default() });
    }

    let mut log = RunLog::create(&session.home, &session.run)?;
    log.push(&json!({ "began": rfc3339(session.started) }))?;
    let mut work = Work::begin(&session, &due, Removed::read(&session.home)?);
    let ended = session.steps(args.steps.time_limit, &due, |(day, why)| work.day(&mut log, day, why));
    let summed = yields::summarise(&session.home);
    let left = due.len() as u64 - ended.as_ref().unwrap_or(&work.days);
    let report = work.report(total - due.len() as u64, left);
    // What was done is written down, whatever ended it; but that is what people must hear of first.
    let logged = log.push(&json!({ "summary": report.json })).and_then(|()| log.publish());
    ended?;
    summed?;
    logged?;
    Ok(report)
}

/// The recipe by which a day would be made now, without what would come of it.
fn wanted(config: &Config, day: &str) -> Recipe {
    let program = format!("tidings {}", env!("CARGO_PKG_VERSION"));
    let clean = &config.clean;
    let settings = json!({
        "preset": clean.preset,
        "links": clean.links,
        "comments": clean.comments,
        "languages": clean.languages,
        "foreign": clean.foreign,
        "mask": clean.mask,
        "gate": config.gate,
    });
    Recipe::new(day, &program, tidings_clean::version(), settings)
}

/// Why a day must be made, if it must.
fn why_due(session: &Session, day: &Day) -> Result<Option<&'static str>> {
    match Recipe::read(&session.home, &day.name)? {
        None => Ok(Some("it is new")),
        Some(recipe) => Ok(recipe.stale(&wanted(&session.config, &day.name), &session.home, day)?),
    }
}

/// The work of a run, and what came of it so far.
struct Work<'a> {
    session: &'a Session,
    options: Options,
    refinement: Refinement,
    removed: Removed,
    bounds: Bounds,
    progress: Progress,
    files: u64,
    days: u64,
    pages: u64,
    documents: BTreeMap<String, u64>,
    dropped: BTreeMap<String, u64>,
    failed: Vec<String>,
}

/// What became of a page: where it belongs, the line that tells it, with its line end, and what it
/// came to.
struct Fate {
    place: Place,
    line: Vec<u8>,
    feed: String,
    host: String,
    sum: Yield,
}

enum Place {
    Language(String),
    Dropped(&'static str),
}

/// A page that gave no document.
#[derive(Serialize)]
struct Dropped<'a> {
    url: &'a str,
    feed: &'a str,
    title: &'a str,
    downloaded: &'a str,
    content_type: &'a str,
    bytes: usize,
    reason: &'static str,
    /// What the rule of the gate measured, and its limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    measured: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<f64>,
}

impl<'a> Work<'a> {
    fn begin(session: &'a Session, due: &[(Day, &'static str)], removed: Removed) -> Work<'a> {
        let config = &session.config.clean;
        let threads = if config.threads == 0 { lines::cores() } else { config.threads };
        let files = due.iter().map(|(day, _)| day.files.len() as u64).sum();
        Work {
            session,
            options: config.options(),
            refinement: session.config.refinement(),
            removed,
            bounds: Bounds { threads, weight: config.memory_mib << 20 },
            progress: Progress::begin("files of pages", files),
            files: 0,
            days: 0,
            pages: 0,
            documents: BTreeMap::new(),
            dropped: BTreeMap::new(),
            failed: Vec::new(),
        }
    }

    /// Makes a day. Pages that cannot be read cost their day and no other; that nothing can be
    /// written ends the run.
    fn day(&mut self, log: &mut RunLog, day: &Day, why: &'static str) -> Result<()> {
        let least = self.session.config.store.min_free_mib;
        if intake::free_bytes(&self.session.home).is_some_and(|free| free < least << 20) {
            bail!("the disk has less than {least} MiB free (store.min_free_mib); free some space and run again");
        }
        log::debug!("{}: {why}", day.name);
        let began = Instant::now();
        let files_before = self.files;
        match self.make(day) {
            Ok((recipe, kept)) => {
                log.push(&json!({
                    "day": day.name,
                    "why": why,
                    "pages": recipe.pages,
                    "pages_kept": kept.as_ref().map_or(0, |kept| kept.pages),
                    "documents": recipe.documents,
                    "dropped": recipe.dropped,
                    "seconds": began.elapsed().as_secs_f64(),
                }))?;
                self.days += 1;
                let made = kept.map_or(recipe.clone(), |kept| recipe.beyond(&kept));
                self.pages += made.pages;
                for (sum, part) in [(&mut self.documents, made.documents), (&mut self.dropped, made.dropped)] {
                    part.into_iter().for_each(|(name, number)| *sum.entry(name).or_default() += number);
                }
            }
            Err(error) if is_about_pages(&error) => {
                log::error!("{}: {error:#}", day.name);
                log.push(&json!({ "day": day.name, "why": why, "error": format!("{error:#}") }))?;
                self.failed.push(day.name.clone());
            }
            Err(error) => return Err(error),
        }
        self.files = files_before + day.files.len() as u64;
        Ok(())
    }

    /// Makes a day, or what was added to it; gives its recipe, and the one of what was there before and stays.
    fn make(&mut self, day: &Day) -> Result<(Recipe, Option<Recipe>)> {
        let mut draft = DayDraft::begin(&self.session.home, wanted(&self.session.config, &day.name), day)?;
        let kept = draft.kept().cloned();
        let mut read = kept.as_ref().map_or(0, |kept| kept.pages);
        let mut files = day.files[kept.as_ref().map_or(0, |kept| kept.inputs.len())..].iter();
        let mut open: Option<(&Path, PageReader)> = None;
        let session = self.session;
        let source = || loop {
            session.keep_going()?;
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
        let (options, refinement, removed) = (&self.options, &self.refinement, &self.removed);
        let (progress, files_before) = (&mut self.progress, self.files);
        let (mut done, mut current, mut files_done) = (0u64, None, 0);
        orderly::run(
            self.bounds,
            source,
            |(path, line)| (path, fate(path, &line, options, refinement, removed)),
            |(path, fate)| {
                let Fate { place, line, feed, host, sum } = fate?;
                if current != Some(path) {
                    files_done += u64::from(current.is_some());
                    current = Some(path);
                    draft.end_file()?;
                }
                draft.count(&feed, &host, sum);
                match place {
                    Place::Language(code) => draft.push(&code, &line)?,
                    Place::Dropped(reason) => draft.drop_page(reason, &line)?,
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

    fn report(&self, up_to_date: u64, left: u64) -> Report {
        let documents: u64 = self.documents.values().sum();
        let dropped: u64 = self.dropped.values().sum();
        let languages = count(self.documents.len() as u64, "language");
        let mut text = format!("{} read: {} in {languages}", count(self.pages, "page"), count(documents, "document"));
        if dropped > 0 {
            let mut reasons: Vec<(&String, &u64)> = self.dropped.iter().collect();
            reasons.sort_by_key(|(name, number)| (std::cmp::Reverse(**number), *name));
            let reasons: Vec<String> =
                reasons.iter().map(|(name, number)| format!("{} {name}", grouped(**number))).collect();
            text.push_str(&format!(", {} left out ({})", grouped(dropped), reasons.join(", ")));
        }
        let (ending, not_done) = ended_early(self.session, days_left(left));
        text.push_str(&format!("{ending}, {}\n", span(self.session.began.elapsed())));
        if !self.failed.is_empty() {
            text.push_str(&format!("not done, because pages cannot be read: {}\n", self.failed.join(", ")));
        }
        let json = json!({
            "done": self.failed.is_empty() && !not_done,
            "run": self.session.run,
            "days": self.days,
            "days_up_to_date": up_to_date,
            "days_left": left,
            "days_failed": self.failed,
            "pages": self.pages,
            "documents": documents,
            "languages": self.documents,
            "dropped": self.dropped,
            "seconds": self.session.began.elapsed().as_secs_f64(),
        });
        let partly = self.dropped.contains_key(Unfit::Error.name());
        Report { text, json, failed: !self.failed.is_empty() || not_done, partly }
    }
}

/// Whether pages are at fault, not the place where documents go.
fn is_about_pages(error: &anyhow::Error) -> bool {
    match error.downcast_ref::<Error>() {
        Some(Error::Line { .. } | Error::Damaged { .. } | Error::Newer { .. }) => true,
        Some(Error::Io { doing, .. }) => matches!(*doing, "read" | "open"),
        _ => false,
    }
}

/// What becomes of a page.
fn fate(path: &Path, line: &PageLine, options: &Options, refinement: &Refinement, removed: &Removed) -> Result<Fate> {
    let mut page = line.page(path)?;
    let is_removed = [&page.url, &page.final_url].into_iter().any(|url| removed.covers(url).is_some());
    if is_removed {
        // A page that was taken out and came back by some other door goes no further than its address.
        page.title.clear();
    }
    let mut line = Vec::new();
    let mut sum = Yield { pages: 1, downloaded: page.body.len() as u64, ..Yield::default() };
    let place = if is_removed {
        serde_json::to_writer(&mut line, &dropped(&page, Unfit::NoText, removed::STATUS))?;
        Place::Dropped(removed::STATUS)
    } else {
        match reader::clean_page(&page, options, refinement) {
            Ok(document) => {
                serde_json::to_writer(&mut line, &document).map_err(|error| anyhow!("{}: {error}", page.url))?;
                sum.documents = 1;
                sum.clean = document.paragraphs.iter().map(|paragraph| paragraph.text.len() as u64).sum();
                Place::Language(document.language_code())
            }
            Err(unfit) => {
                serde_json::to_writer(&mut line, &dropped(&page, unfit, unfit.name()))?;
                Place::Dropped(unfit.name())
            }
        }
    };
    line.push(b'\n');
    let address = if page.final_url.is_empty() { &page.url } else { &page.final_url };
    let host = url::Url::parse(address).ok().and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default();
    Ok(Fate { place, line, feed: page.feed, host, sum })
}

fn dropped<'a>(page: &'a Page, unfit: Unfit, reason: &'static str) -> Dropped<'a> {
    let refusal = if let Unfit::Refused(refusal) = unfit { Some(refusal) } else { None };
    Dropped {
        url: &page.url,
        feed: &page.feed,
        title: &page.title,
        downloaded: &page.downloaded,
        content_type: &page.content_type,
        bytes: page.body.len(),
        reason,
        measured: refusal.map(|refusal| refusal.measured),
        limit: refusal.map(|refusal| refusal.limit),
    }
}
