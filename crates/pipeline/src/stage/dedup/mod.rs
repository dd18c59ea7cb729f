//! `dedup`: days of documents → days of verdicts, in chronological order.
//!
//! A day is compared with all earlier days. If a day changes or is inserted, the fingerprint index is truncated to the
//! day before it, and all days from there on are judged again. If only the last day has grown, what it gained is judged
//! (`judge.rs`). A document that was published before the one it was called a copy of is the original (`amendment.rs`).

mod amendment;
pub mod duplicates;
mod families;
mod judge;
mod memory;
mod reading;
mod verdict_line;
pub mod views;

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::time::Instant;

use anyhow::Result;
use serde::{Deserialize, Serialize};
use tidings_dedup::{Rule, Scope};
use tidings_store::dedup_state::{self, DedupParams, DocsDay, GrowthLog, JudgedDay, JudgedDays};
use tidings_store::digest;
use tidings_store::docs;
use tidings_store::fresh::Stamp;
use tidings_store::{FileDigest, Home, Stale};

use self::memory::Memory;
use self::verdict_line::share;
use super::{Data, Due, Stage, StageId, StageOutcome, StageRun, Unit, layer_digest, names};
use crate::config::Config;
use crate::context::{RunContext, StageLog};
use crate::display::{count, grouped, span_s};
use crate::outcome::{Ending, Outcome, Status};
use crate::repair;
use crate::reporter::ProgressScope;
use crate::why::conservation::Balances;

pub(crate) use self::memory::memory_files;

/// Documents → verdicts.
#[derive(Debug, Clone, Default)]
pub struct Dedup;

/// The outcome of `dedup`.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct DedupOutcome {
    /// Whether all that could be done was done.
    pub done: bool,
    /// The name of the run.
    pub run: String,
    /// Days judged.
    pub days: u64,
    /// Days that were up to date.
    pub days_up_to_date: u64,
    /// Days that are left for a later run.
    pub days_left: u64,
    /// Documents judged.
    pub documents: u64,
    /// Of these, documents of a growing day whose verdicts stayed as they were.
    pub documents_kept: u64,
    /// Documents without new text.
    pub duplicates: u64,
    /// Their words.
    pub words: u64,
    /// Words of duplicate paragraphs and sentences.
    pub duplicate_words: u64,
    /// Duration in seconds.
    pub seconds: f64,
    #[serde(skip)]
    ending: Ending,
}

impl Outcome for DedupOutcome {
    fn status(&self) -> Status {
        if self.done { Status::Done } else { Status::NotDone }
    }
}

impl fmt::Display for DedupOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.days == 0 && self.days_left == 0 {
            if let Some(idle) = self.ending.idle_shard() {
                return writeln!(f, "{idle}");
            }
            return match self.days_up_to_date {
                0 => writeln!(f, "nothing to deduplicate: no documents yet"),
                1 => writeln!(f, "nothing to deduplicate: the day is up to date"),
                days => writeln!(f, "nothing to deduplicate: all {} are up to date", count(days, "day")),
            };
        }
        writeln!(
            f,
            "{} deduplicated: {}, {} of them duplicates of earlier ones; {:.1} % of {} words are duplicates{}, {}",
            count(self.days, "day"),
            count(self.documents, "document"),
            grouped(self.duplicates),
            share(self.duplicate_words, self.words) * 100.0,
            grouped(self.words),
            self.ending.text("day"),
            span_s(self.seconds),
        )
    }
}

impl Stage for Dedup {
    fn id(&self) -> StageId {
        StageId::Dedup
    }

    fn version(&self) -> u32 {
        tidings_dedup::BEHAVIOUR_VERSION
    }

    fn inputs(&self) -> &'static [Data] {
        &[Data::Documents]
    }

    fn outputs(&self) -> &'static [Data] {
        &[Data::Verdicts]
    }

    fn settings(&self, config: &Config) -> serde_json::Value {
        config.dedup.recipe()
    }

    fn output_digest(&self, home: &Home) -> Result<Option<String>> {
        layer_digest(home, digest::Stage::Seen)
    }

    fn balance(&self, home: &Home, balances: &mut Balances) -> Result<()> {
        balances.dedup(home)
    }

    /// A verdict depends on all earlier days, so one process judges them in order.
    fn is_divisible(&self) -> bool {
        false
    }

    fn due(&self, home: &Home, config: &Config) -> Result<Due> {
        self.due_since(home, config, "")
    }

    fn stamp_before(&self, home: &Home, _: &Config, first: &str, stamp: &mut Stamp) -> Result<bool> {
        for tree in ["docs/recipes", "seen/verdicts", "seen/amendments"] {
            stamp.add_days_before(home, tree, first)?;
        }
        let judged = JudgedDays::read(home)?.map(|judged| judged.digest_before(first));
        stamp.add_bytes(&judged.unwrap_or_default().to_le_bytes());
        Ok(true)
    }

    fn due_since(&self, home: &Home, config: &Config, since: &str) -> Result<Due> {
        config.dedup.rule()?;
        let days = dedup_state::day_names(home)?;
        let judged = JudgedDays::read(home)?;
        let (kept, why) = up_to_date(home, judged.as_ref(), &self.params(config), &days, since)?;
        let units = days.into_iter().skip(kept).map(|name| Unit { name, why }).collect();
        Ok(Due { units, up_to_date: kept as u64, waiting: 0, since: since.to_owned() })
    }

    fn up_to_date(&self, context: &RunContext, units: u64) -> Option<StageOutcome> {
        let outcome = DedupOutcome { run: context.run.clone(), days_up_to_date: units, ..DedupOutcome::default() };
        Some(StageOutcome::Dedup(ended(outcome, context.ending(0), context)))
    }

    fn begin<'a>(&'a self, context: &'a RunContext, due: &Due) -> Result<Box<dyn StageRun + 'a>> {
        let outcome =
            DedupOutcome { run: context.run.clone(), days_up_to_date: due.up_to_date, ..DedupOutcome::default() };
        if !context.takes_undivided {
            return Ok(Box::new(Idle { context, outcome }));
        }
        let kept = due.up_to_date as usize;
        let found = JudgedDays::read(&context.home)?;
        let judged = found.as_ref().map_or(0, |found| found.days.len());
        if due.units.is_empty() && kept == judged {
            // A crash may have left files that are not in the last manifest.
            let days: &[JudgedDay] = found.as_ref().map_or(&[], |found| &found.days);
            tidy(&context.home, days)?;
            GrowthLog::keep_only(&context.home, days.last().map_or("", |last| &last.day))?;
            return Ok(Box::new(Idle { context, outcome }));
        }
        if kept < judged {
            let (day, why) =
                due.units.first().map_or(("the last day", Stale::DaysRemoved), |unit| (&unit.name, unit.why));
            log::info!("{why}: deduplicating again from {day} on");
        }
        let mut days = HashMap::new();
        for unit in &due.units {
            days.insert(unit.name.clone(), dedup_state::docs_day(&context.home, &unit.name)?);
        }
        let progress = context.progress("documents", docs::number_of_documents(&context.home, names(due))?);
        let params = self.params(&context.config);
        let run = DedupRun::open(context, found, params, kept, days, progress, outcome);
        Ok(Box::new(run.map_err(|error| repair::mark_fingerprints(&context.home, error))?))
    }

    fn clear(&self, home: &Home) -> Result<()> {
        Ok(dedup_state::clear(home)?)
    }

    fn clear_language(&self, home: &Home, _language: &str, days: &BTreeSet<String>) -> Result<()> {
        Ok(days.first().map_or(Ok(()), |day| dedup_state::forget(home, day))?)
    }
}

impl Dedup {
    /// The current deduplication parameters.
    fn params(&self, config: &Config) -> DedupParams {
        DedupParams::new(&crate::program(), self.version(), self.settings(config))
    }
}

/// The stage with nothing to do.
struct Idle<'a> {
    context: &'a RunContext,
    outcome: DedupOutcome,
}

impl StageRun for Idle<'_> {
    fn unit(&mut self, _: &Unit, _: &mut StageLog<'_>) -> Result<()> {
        Ok(())
    }

    fn finish(self: Box<Self>, ending: Ending, _: &mut StageLog<'_>) -> Result<StageOutcome> {
        Ok(StageOutcome::Dedup(ended(self.outcome, ending, self.context)))
    }
}

fn ended(mut outcome: DedupOutcome, ending: Ending, context: &RunContext) -> DedupOutcome {
    outcome.done = ending.is_done();
    outcome.days_left = ending.left;
    outcome.seconds = context.seconds();
    outcome.ending = ending;
    outcome
}

/// The number of days that need not be judged again, and the reason why there are no more. The days before `since` are
/// known to be judged.
fn up_to_date(
    home: &Home,
    ledger: Option<&JudgedDays>,
    wanted: &DedupParams,
    days: &[String],
    since: &str,
) -> Result<(usize, Stale)> {
    let Some(ledger) = ledger else { return Ok((0, Stale::NothingJudged)) };
    if let Some(why) = ledger.params.stale(wanted) {
        return Ok((0, why));
    }
    let memory = memory_files(&ledger.days);
    if !memory.iter().all(|file| file.is_present(home)) {
        return Ok((0, Stale::MemoryMissing));
    }
    for (at, judged) in ledger.days.iter().enumerate() {
        match days.get(at) {
            None => return Ok((at, Stale::DaysRemoved)),
            Some(day) if *day != judged.day => return Ok((at, Stale::DaysChanged)),
            Some(day) if day.as_str() < since => {}
            Some(day) if dedup_state::docs_digest(home, day)? != judged.docs => {
                return Ok((at, Stale::DocumentsChanged));
            }
            Some(_) if !verdicts_of(judged).all(|file| file.is_present(home)) => {
                return Ok((at, Stale::VerdictsMissing));
            }
            Some(_) => {}
        }
    }
    Ok((ledger.days.len(), Stale::DaysAdded))
}

/// The verdicts of a day, and its amendments of those of earlier days.
fn verdicts_of(day: &JudgedDay) -> impl Iterator<Item = &FileDigest> {
    [&day.verdicts].into_iter().chain(&day.amendments)
}

/// Deletes files that are not in the ledger.
fn tidy(home: &Home, days: &[JudgedDay]) -> Result<()> {
    let verdicts = days.iter().flat_map(verdicts_of).cloned();
    let named = memory_files(days).into_iter().chain(verdicts).map(|file| file.path(home)).collect();
    // The log of a growing day is read before it is replaced.
    Ok(dedup_state::tidy(home, &["draft", "keys", "pieces", "verdicts", "amendments"], &named)?)
}

/// The stage at work.
struct DedupRun<'a> {
    context: &'a RunContext,
    rule: Rule,
    scope: Scope,
    ledger: JudgedDays,
    memory: Memory,
    docs_days: HashMap<String, DocsDay>,
    /// The last day of documents, which may grow.
    newest: String,
    progress: ProgressScope,
    outcome: DedupOutcome,
}

/// A day in the run log.
#[derive(Serialize)]
struct DayLine<'a> {
    day: &'a str,
    documents: u64,
    duplicates: u64,
    words: u64,
    duplicate_words: u64,
    words_so_far: u64,
    duplicate_words_so_far: u64,
    duplicate_share_so_far: f64,
    seconds: f64,
}

impl StageRun for DedupRun<'_> {
    fn unit(&mut self, unit: &Unit, log: &mut StageLog<'_>) -> Result<()> {
        self.progress.show(self.outcome.documents, &unit.name);
        let began = Instant::now();
        let day = self.docs_days[&unit.name].clone();
        // Later days depend on this one, so damaged documents end the run.
        repair::check_documents(&self.context.home, &day.name)?;
        let judged = self.judge(&day).map_err(|error| repair::mark_fingerprints(&self.context.home, error))?;
        let outcome = &mut self.outcome;
        outcome.days += 1;
        outcome.documents += judged.documents;
        outcome.duplicates += judged.duplicates;
        outcome.words += judged.words;
        outcome.duplicate_words += judged.duplicate_words;
        let [words, duplicates] = [|day: &JudgedDay| day.words, |day: &JudgedDay| day.duplicate_words]
            .map(|number| self.ledger.days.iter().map(number).sum::<u64>());
        log.push(&DayLine {
            day: &day.name,
            documents: judged.documents,
            duplicates: judged.duplicates,
            words: judged.words,
            duplicate_words: judged.duplicate_words,
            words_so_far: words,
            duplicate_words_so_far: duplicates,
            duplicate_share_so_far: share(duplicates, words),
            seconds: began.elapsed().as_secs_f64(),
        })
    }

    fn finish(self: Box<Self>, ending: Ending, _: &mut StageLog<'_>) -> Result<StageOutcome> {
        let last = self.ledger.days.last().map_or("", |last| &last.day);
        GrowthLog::keep_only(&self.context.home, if self.newest.is_empty() { last } else { &self.newest })?;
        Ok(StageOutcome::Dedup(ended(self.outcome, ending, self.context)))
    }
}

impl<'a> DedupRun<'a> {
    /// Opens the fingerprint memory truncated to the days that are kept.
    fn open(
        context: &'a RunContext,
        found: Option<JudgedDays>,
        wanted: DedupParams,
        kept: usize,
        docs_days: HashMap<String, DocsDay>,
        progress: ProgressScope,
        outcome: DedupOutcome,
    ) -> Result<DedupRun<'a>> {
        let home = &context.home;
        let mut ledger = match found {
            Some(ledger) if kept > 0 => ledger,
            // The manifest must not name files that are about to be deleted.
            _ => JudgedDays::create(home, wanted)?,
        };
        let memory = match ledger.days.len() - kept.min(ledger.days.len()) {
            0 => Memory::open(home, &ledger.days)?,
            // The last day has grown.
            1 if memory::is_last_open(&ledger.days) => {
                memory::check_last(home, &ledger.days)?;
                ledger.pop(home)?;
                Memory::open(home, &ledger.days)?
            }
            _ => {
                let mut memory = Memory::open(home, &ledger.days)?;
                memory.truncate(&mut ledger, kept)?;
                memory
            }
        };
        tidy(home, &ledger.days)?;
        Ok(DedupRun {
            context,
            rule: context.config.dedup.rule()?,
            scope: context.config.dedup.scope,
            ledger,
            memory,
            newest: docs_days.keys().max().cloned().unwrap_or_default(),
            docs_days,
            progress,
            outcome,
        })
    }
}

#[cfg(test)]
mod growth_tests;
#[cfg(test)]
mod tests;
