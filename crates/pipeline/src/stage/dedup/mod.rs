//! `dedup`: days of documents → days of verdicts, in chronological order.
//!
//! A day is compared with all earlier days. If a day changes or is inserted, the fingerprint index is truncated to the
//! day before it, and all days from there on are judged again. A document that was published before the one it was
//! called a copy of is the original (`amendment.rs`).

mod amendment;
pub mod duplicates;
mod families;
mod verdict_line;
pub mod views;

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::ops::Range;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Result, anyhow};
use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use tidings_dedup::lsm_levels::{self, LevelRun};
use tidings_dedup::{
    BlockFile, BlockId, Deduplicator, FingerprintRun, FingerprintStore, FlushedFiles, Level, Origin, Rule, Scope,
    StoreFiles, Text, join,
};
use tidings_model::{Dated, Fingerprint};
use tidings_store::dedup_state::{
    self, Copy, DedupParams, DocsDay, JudgedDay, JudgedDays, Spool, VerdictDraft, VerdictLine,
};
use tidings_store::digest;
use tidings_store::docs::{self, DocumentReader};
use tidings_store::pages::PageReader;
use tidings_store::{FileDigest, Home, Stale};
use xxhash_rust::xxh3::xxh3_64;

use self::amendment::{Amendments, Newcomer};
use self::families::Families;
use self::verdict_line::{Counters, line, rounded, share};
use super::{Data, Due, Stage, StageId, StageOutcome, StageRun, Unit, layer_digest};
use crate::config::Config;
use crate::context::{RunContext, StageLog};
use crate::display::{count, grouped, span_s};
use crate::outcome::{Ending, Outcome, Status};
use crate::parallel::{self, Bounds};
use crate::repair;
use crate::reporter::ProgressScope;
use crate::why::conservation::Balances;

/// The memory for reading a document, relative to its size: its text, words and n-grams.
const EXPANSION: usize = 6;
/// The minimum memory of a document.
const LEAST_WEIGHT: usize = 16 << 10;
/// The size of documents in progress.
const WEIGHT: usize = 64 << 20;

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
        config.dedup.rule()?;
        let days = dedup_state::docs_days(home)?;
        let judged = JudgedDays::read(home)?;
        let (kept, why) = up_to_date(home, judged.as_ref(), &self.params(config), &days)?;
        let units = days.into_iter().skip(kept).map(|day| Unit { name: day.name, why }).collect();
        Ok(Due { units, up_to_date: kept as u64, waiting: 0 })
    }

    fn up_to_date(&self, context: &RunContext, units: u64) -> Option<StageOutcome> {
        let outcome = DedupOutcome { run: context.run.clone(), days_up_to_date: units, ..DedupOutcome::default() };
        Some(StageOutcome::Dedup(ended(outcome, context.ending(0), context)))
    }

    fn begin<'a>(&'a self, context: &'a RunContext, due: &Due) -> Result<Box<dyn StageRun + 'a>> {
        let outcome =
            DedupOutcome { run: context.run.clone(), days_up_to_date: due.up_to_date, ..DedupOutcome::default() };
        if !context.shard.takes_undivided() {
            return Ok(Box::new(Idle { context, outcome }));
        }
        let kept = due.up_to_date as usize;
        let found = JudgedDays::read(&context.home)?;
        let judged = found.as_ref().map_or(0, |found| found.days.len());
        if due.units.is_empty() && kept == judged {
            // A crash may have left files that are not in the last manifest.
            tidy(&context.home, found.as_ref().map_or(&[], |found| &found.days))?;
            return Ok(Box::new(Idle { context, outcome }));
        }
        if kept < judged {
            let (day, why) =
                due.units.first().map_or(("the last day", Stale::DaysRemoved), |unit| (&unit.name, unit.why));
            log::info!("{why}: deduplicating again from {day} on");
        }
        let days = dedup_state::docs_days(&context.home)?.into_iter().map(|day| (day.name.clone(), day)).collect();
        let progress = context.progress("days", due.units.len() as u64);
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

/// The number of days that need not be judged again, and the reason why there are no more.
fn up_to_date(
    home: &Home,
    ledger: Option<&JudgedDays>,
    wanted: &DedupParams,
    days: &[DocsDay],
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
            Some(day) if day.name != judged.day => return Ok((at, Stale::DaysChanged)),
            Some(day) if day.digest != judged.docs => return Ok((at, Stale::DocumentsChanged)),
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

/// The files that hold the fingerprints of these days.
pub(crate) fn memory_files(days: &[JudgedDay]) -> Vec<FileDigest> {
    let count = days.len() as u64;
    let last = |range: &Range<u64>| &days[range.end as usize - 1];
    let keys = lsm_levels::layout(count).iter().map(|range| last(range).key_file.clone()).collect::<Vec<_>>();
    let pieces = lsm_levels::block_layout(count).iter().map(|range| last(range).piece_file.clone()).collect::<Vec<_>>();
    [keys, pieces].concat()
}

/// Deletes files that are not in the ledger.
fn tidy(home: &Home, days: &[JudgedDay]) -> Result<()> {
    let verdicts = days.iter().flat_map(verdicts_of).cloned();
    let named = memory_files(days).into_iter().chain(verdicts).map(|file| file.path(home)).collect();
    Ok(dedup_state::tidy(home, &dedup_state::FOLDERS, &named)?)
}

/// The stage at work.
struct DedupRun<'a> {
    context: &'a RunContext,
    rule: Rule,
    scope: Scope,
    ledger: JudgedDays,
    keys: Vec<LevelRun>,
    pieces: Vec<BlockFile>,
    /// The days as numbers, with the first piece of each.
    days: Vec<(i64, BlockId)>,
    docs_days: HashMap<String, DocsDay>,
    progress: ProgressScope,
    outcome: DedupOutcome,
}

/// The part of a document that is compared. Imported tokens are many times as large as the text.
#[derive(Default, Deserialize)]
#[serde(default)]
struct DocumentText {
    id: String,
    url: String,
    site: String,
    dated: Option<Dated>,
    paragraphs: Vec<ParagraphText>,
}

/// The text of a paragraph.
#[derive(Deserialize)]
struct ParagraphText {
    text: String,
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

/// A document that waits to be judged: the position of its text and of its verdict.
struct Waiting {
    date: String,
    /// Whether the date is that of its publication, and not of its download.
    is_dated: bool,
    id: String,
    site: String,
    lang: usize,
    /// The fingerprint of its URL.
    url: Fingerprint,
    /// The checksum of its raw page, if pages are compared.
    page: Option<u64>,
    place: Range<u64>,
}

impl StageRun for DedupRun<'_> {
    fn unit(&mut self, unit: &Unit, log: &mut StageLog<'_>) -> Result<()> {
        self.progress.show(self.outcome.days, &unit.name);
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
        Ok(StageOutcome::Dedup(ended(self.outcome, ending, self.context)))
    }
}

impl<'a> DedupRun<'a> {
    /// Opens the fingerprint index truncated to the days that are kept.
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
        let ledger = match found {
            Some(ledger) if kept > 0 => ledger,
            // The manifest must not name files that are about to be deleted.
            _ => JudgedDays::create(home, wanted)?,
        };
        let count = ledger.days.len() as u64;
        let path = |file: &FileDigest| file.path(home);
        let (mut keys, mut pieces) = (Vec::new(), Vec::new());
        for range in lsm_levels::layout(count) {
            let run = FingerprintRun::open(&path(&ledger.days[range.end as usize - 1].key_file))?;
            keys.push(LevelRun { days: range, run });
        }
        for range in lsm_levels::block_layout(count) {
            let [first, last] = [&ledger.days[range.start as usize], &ledger.days[range.end as usize - 1]];
            let number = last.pieces.end - first.pieces.start;
            pieces.push(BlockFile::known(&path(&last.piece_file), first.pieces.start, number, last.piece_file.bytes));
        }
        let days = numbered_days(&ledger.days);
        let mut run = DedupRun {
            context,
            rule: context.config.dedup.rule()?,
            scope: context.config.dedup.scope,
            ledger,
            keys,
            pieces,
            days,
            docs_days,
            progress,
            outcome,
        };
        if kept < run.ledger.days.len() {
            run.truncate(kept)?;
        }
        tidy(home, &run.ledger.days)?;
        Ok(run)
    }

    fn memory_path(&self, kind: &str, range: &Range<u64>, today: Option<&str>) -> PathBuf {
        let name = |day: u64| match self.ledger.days.get(day as usize) {
            Some(judged) => judged.day.as_str(),
            None => today.expect("a day that is not in the ledger is today"),
        };
        dedup_state::memory_path(&self.context.home, kind, name(range.start), name(range.end - 1))
    }

    /// Truncates the fingerprint index to the first days. New files are written first, then the ledger, which gets their
    /// digests: those of files that an older version wrote differ.
    fn truncate(&mut self, kept: usize) -> Result<()> {
        let home = &self.context.home;
        let draft = dedup_state::draft_folder(home)?.join("cut.tmp");
        let firsts: Vec<BlockId> = self.ledger.days.iter().map(|day| day.pieces.start).collect();
        let first = |day: u64| firsts[day as usize];
        let mut keys = Vec::new();
        for range in lsm_levels::layout(kept as u64) {
            let target = self.memory_path("keys", &range, None);
            if !self.keys.iter().any(|level| level.days == range) {
                drop(lsm_levels::truncate(&self.keys, &range, first, |_| draft.clone())?);
                self.ledger.days[range.end as usize - 1].key_file = dedup_state::place(home, &draft, &target)?;
            }
            keys.push(LevelRun { days: range, run: FingerprintRun::open(&target)? });
        }
        let mut pieces = Vec::new();
        for range in lsm_levels::block_layout(kept as u64) {
            let target = self.memory_path("pieces", &range, None);
            if !self.pieces.iter().any(|file| file.path() == target) {
                let parts: Vec<&BlockFile> = self.pieces.iter().collect();
                join(&parts, first(range.start)..first(range.end), &draft)?;
                self.ledger.days[range.end as usize - 1].piece_file = dedup_state::place(home, &draft, &target)?;
            }
            pieces.push(BlockFile::open(&target)?);
        }
        (self.keys, self.pieces) = (keys, pieces);
        self.ledger.cut(&self.context.home, kept)?;
        self.days = numbered_days(&self.ledger.days);
        Ok(())
    }

    fn judge(&mut self, day: &DocsDay) -> Result<JudgedDay> {
        let home = &self.context.home;
        let folder = dedup_state::draft_folder(home)?;
        let mut texts = Spool::create(home, "texts")?;
        let files = day.files(home)?;
        let waiting = self.read(day, &files, &mut texts)?;

        let (ranges, runs): (Vec<_>, Vec<_>) = self.keys.drain(..).map(|level| (level.days, level.run)).unzip();
        let past = StoreFiles { runs, blocks: self.pieces.clone(), days: std::mem::take(&mut self.days) };
        let store = FingerprintStore::new(past, &folder, self.context.config.dedup.memory_mib << 20)?;
        let mut deduplicator = Deduplicator::new(self.rule, self.scope, store);
        let families = Families::read(home, &day.name)?;

        // The chronological order alone decides which of two copies is kept.
        let mut order: Vec<usize> = (0..waiting.len()).collect();
        order.sort_by(|a, b| {
            let key = |at: &usize| (&waiting[*at].date, &waiting[*at].id, *at);
            key(a).cmp(&key(b))
        });
        let mut verdicts = Spool::create(home, "verdicts")?;
        let mut places = vec![0..0; waiting.len()];
        let mut judged = Counters::default();
        let mut copies: HashMap<String, Vec<Copy>> = HashMap::new();
        let mut bytes = Vec::new();
        let mut newcomers = Vec::new();
        for at in order {
            self.context.check_cancelled()?;
            let document = &waiting[at];
            texts.read(&document.place, &mut bytes)?;
            let text = Text::unpack(&bytes).ok_or_else(|| anyhow!("{}: a text was lost on the way", day.name))?;
            let month = document.date.get(..7).unwrap_or_default();
            let name = &document.id;
            let (site, page) = (&document.site, document.page);
            let origin = Origin { name, site, month, day: numbered(&day.name), page };
            let mut verdict = deduplicator.judge(&text, &origin)?;
            if let Some(revisions) = families.of(document.url) {
                verdict.ignore_sources(&text, |name| revisions.contains(name));
            }
            let line = line(document, &files[document.lang].0, &text, &verdict);
            judged.add(&line);
            newcomers.extend(Newcomer::of(at, document, &verdict, &line, &day.name));
            if let Some(of) = &line.copy_of {
                let copy = Copy {
                    id: line.id.clone(),
                    site: line.site.clone(),
                    date: line.date.clone(),
                    share: rounded(verdict.share()),
                };
                copies.entry(of.clone()).or_default().push(copy);
            }
            places[at] = verdicts.push(&serde_json::to_vec(&line)?)?;
        }
        let mut flushed = deduplicator.flush()?;
        let past = ranges.into_iter().zip(flushed.past.drain(..));
        self.keys = past.map(|(days, run)| LevelRun { days, run }).collect();
        self.days = std::mem::take(&mut flushed.days);

        let mut amendments = Amendments::read(home, &self.ledger, self.rule)?;
        for newcomer in &newcomers {
            texts.read(&waiting[newcomer.at].place, &mut bytes)?;
            let text = Text::unpack(&bytes).ok_or_else(|| anyhow!("{}: a text was lost on the way", day.name))?;
            verdicts.read(&places[newcomer.at], &mut bytes)?;
            let line: VerdictLine = serde_json::from_slice(&bytes)?;
            if let Some(original) = amendments.amend(newcomer, &text, &line)? {
                judged.remove(&line);
                judged.add(&original);
                places[newcomer.at] = verdicts.push(&serde_json::to_vec(&original)?)?;
            }
        }
        let amendments = amendments.publish(&day.name)?;
        let mut draft = VerdictDraft::create(home, &day.name)?;
        for (document, place) in waiting.iter().zip(&places) {
            verdicts.read(place, &mut bytes)?;
            if let Some(copies) = copies.remove(&document.id) {
                let line: VerdictLine = serde_json::from_slice(&bytes)?;
                bytes = serde_json::to_vec(&VerdictLine { copies, ..line })?;
            }
            bytes.push(b'\n');
            draft.push(&bytes)?;
        }
        let verdicts = draft.publish(home)?;
        self.remember(day, &flushed, judged, verdicts, amendments)
    }

    /// Reads the documents of a day and prepares them on all cores.
    fn read(&self, day: &DocsDay, files: &[(String, PathBuf)], texts: &mut Spool) -> Result<Vec<Waiting>> {
        let threads = super::threads(self.context.config.dedup.threads);
        let mut next = files.iter().enumerate();
        let mut open: Option<(usize, DocumentReader)> = None;
        let source = || loop {
            self.context.check_cancelled()?;
            if let Some((lang, reader)) = &mut open
                && let Some(document) = reader.next_as::<DocumentText>()?
            {
                let bytes: usize = document.paragraphs.iter().map(|paragraph| paragraph.text.len()).sum();
                return Ok(Some(((*lang, document), bytes * EXPANSION + LEAST_WEIGHT)));
            }
            let Some((lang, (_, path))) = next.next() else { return Ok(None) };
            open = Some((lang, DocumentReader::open(path)?));
        };
        let rule = &self.rule;
        let prepare = |(lang, document): (usize, DocumentText)| {
            let mut bytes = Vec::new();
            Text::new(document.paragraphs.iter().map(|paragraph| paragraph.text.as_str()), rule).pack(&mut bytes);
            (lang, document, bytes)
        };
        let pages =
            if rule.levels.has(Level::Page) { page_checksums(&self.context.home, day)? } else { HashMap::new() };
        let mut waiting = Vec::new();
        parallel::ordered(Bounds { threads, weight: WEIGHT }, source, prepare, |(lang, document, bytes)| {
            let place = texts.push(&bytes)?;
            let is_dated = document.dated.as_ref().is_some_and(amendment::is_published);
            let date = document.dated.map_or_else(|| day.name.clone(), |dated| dated.day);
            let page = pages.get(&xxh3_64(document.url.as_bytes())).copied();
            let url = Fingerprint::of(&document.url);
            waiting.push(Waiting { date, is_dated, id: document.id, site: document.site, lang, url, page, place });
            Ok(())
        })?;
        Ok(waiting)
    }

    /// Publishes the files of a day; the ledger is written last.
    fn remember(
        &mut self,
        day: &DocsDay,
        flushed: &FlushedFiles,
        tally: Counters,
        verdicts: FileDigest,
        amendments: Vec<FileDigest>,
    ) -> Result<JudgedDay> {
        let home = self.context.home.clone();
        let folder = dedup_state::draft_folder(&home)?;
        let draft = |name: &str| folder.join(name);
        let grown = lsm_levels::merge_day(&self.keys, &flushed.runs, |_| draft("keys.tmp"))?;
        let key_path = self.memory_path("keys", &grown.days, Some(&day.name));
        let range = lsm_levels::block_layout(self.ledger.days.len() as u64 + 1).pop().expect("a day is in some file");
        let piece_path = self.memory_path("pieces", &range, Some(&day.name));
        let first = self.ledger.days.get(range.start as usize).map_or(flushed.blocks.first(), |day| day.pieces.start);
        let older = lsm_levels::block_layout(self.ledger.days.len() as u64);
        let at = older.iter().filter(|older| older.end <= range.start).count();
        let drafted: PathBuf = match range.end - range.start {
            1 => flushed.blocks.path().to_owned(),
            _ => {
                let parts: Vec<&BlockFile> = self.pieces[at..].iter().chain([&flushed.blocks]).collect();
                join(&parts, first..flushed.blocks.end(), &draft("joined.tmp"))?.path().to_owned()
            }
        };
        let key_file = dedup_state::place(&home, grown.run.path(), &key_path)?;
        let piece_file = dedup_state::place(&home, &drafted, &piece_path)?;
        let judged = JudgedDay {
            day: day.name.clone(),
            docs: day.digest.clone(),
            documents: tally.documents,
            duplicates: tally.duplicates,
            paragraphs: tally.paragraphs,
            duplicate_paragraphs: tally.duplicate_paragraphs,
            words: tally.words,
            duplicate_words: tally.duplicate_words,
            pieces: flushed.blocks.first()..flushed.blocks.end(),
            verdicts,
            piece_file,
            key_file,
            amendments,
        };
        self.ledger.push(&home, judged.clone())?;
        self.keys.retain(|level| level.days.start < grown.days.start);
        self.keys.push(LevelRun { days: grown.days, run: FingerprintRun::open(&key_path)? });
        self.pieces.truncate(at);
        self.pieces.push(BlockFile::open(&piece_path)?);
        // There may be thousands of verdicts, each with names of documents.
        let named = memory_files(&self.ledger.days).into_iter().map(|file| file.path(&home)).collect();
        dedup_state::tidy(&home, &["draft", "keys", "pieces"], &named)?;
        Ok(judged)
    }
}

/// A day as a number.
fn numbered(day: &str) -> i64 {
    day.parse::<Date>().map_or(0, crate::day_number)
}

/// Days as numbers, with the first piece of each.
fn numbered_days(days: &[JudgedDay]) -> Vec<(i64, BlockId)> {
    days.iter().map(|day| (numbered(&day.day), day.pieces.start)).collect()
}

/// The checksums of a day's raw pages, by address.
fn page_checksums(home: &Home, day: &DocsDay) -> Result<HashMap<u64, u64>> {
    let mut checksums = HashMap::new();
    for path in docs::page_days(home)?.into_iter().filter(|known| known.name == day.name).flat_map(|known| known.files)
    {
        let mut reader = PageReader::open(&path)?;
        while let Some(line) = reader.next_line()? {
            let page = line.page(&path)?;
            checksums.insert(xxh3_64(page.url.as_bytes()), xxh3_64(&page.body));
        }
    }
    Ok(checksums)
}

#[cfg(test)]
mod tests;
