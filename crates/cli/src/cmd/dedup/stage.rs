//! The judge in a home: days of documents in, days of verdicts out, in their order.
//!
//! A day is judged against all days before it. Where a day has changed, or one has come in between, the memory
//! goes back to the day before and everything from there on is judged again.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, bail};
use jiff::civil::Date;
use serde_json::json;
use tidings_dedup::ages::{self, Aged};
use tidings_dedup::{
    Finding, Judge, KeyRun, Level, Memory, Origin, Past, PieceFile, PieceNumber, Rule, Scope, Sealed, Text, Verdict,
    join,
};
use tidings_model::Document;
use tidings_store::docs::{self, DocumentReader, Ingredient};
use tidings_store::pages::PageReader;
use tidings_store::runs::RunLog;
use tidings_store::seen::{
    self, Copy, DocsDay, DuplicateUnit, JudgedDay, Ledger, Manner, Spool, VerdictDraft, VerdictLine,
};
use tidings_store::{Error, Home, rfc3339};
use xxhash_rust::xxh3::xxh3_64;

use super::super::{Report, days_left, ended_early};
use crate::console::{Progress, count, grouped, span};
use crate::orderly::{self, Bounds};
use crate::session::Session;
use crate::{intake, lines};

/// What a document takes while it is read, by its size: its text, its words, its n-grams.
const EXPANSION: usize = 6;
/// What it takes at least.
const LEAST_WEIGHT: usize = 16 << 10;
/// Documents of so many bytes may be under way.
const WEIGHT: usize = 64 << 20;
/// A document is a copy if at least this share of it was seen.
const COPY_SHARE: f32 = 0.5;

/// The manner in which days are judged now.
fn manner(rule: &Rule, scope: Scope) -> Manner {
    let program = format!("tidings {}", env!("CARGO_PKG_VERSION"));
    let settings = json!({
        "ngram": rule.ngram,
        "threshold": rule.threshold,
        "smoothing": rule.smoothing,
        "levels": rule.levels,
        "scope": scope,
    });
    Manner::new(&program, settings)
}

/// Judges every day that is not up to date.
pub fn run(session: &Session, rule: Rule, scope: Scope, limit: Option<Duration>) -> Result<Report> {
    let home = &session.home;
    let days = seen::docs_days(home)?;
    let wanted = manner(&rule, scope);
    let found = Ledger::read(home)?;
    let (kept, why) = up_to_date(home, found.as_ref(), &wanted, &days)?;
    let judged = found.as_ref().map_or(0, |ledger| ledger.days.len());
    if kept == days.len() && kept == judged {
        // A crash may have left what the last ledger no longer names.
        tidy(home, found.as_ref().map_or(&[], |ledger| &ledger.days))?;
        let text = match kept {
            0 => "nothing to judge: there are no documents yet\n".to_owned(),
            days => format!("nothing to judge: all of {} are up to date\n", count(days as u64, "day")),
        };
        let json = json!({ "done": true, "run": session.run, "days": 0, "days_up_to_date": kept, "documents": 0 });
        return Ok(Report { text, json, ..Report::default() });
    }
    if kept < judged {
        let day = days.get(kept).map_or("the last day", |day| day.name.as_str());
        log::info!("{why}: judging again from {day} on");
    }
    let mut log = RunLog::create(home, &session.run)?;
    log.push(&json!({ "began": rfc3339(session.started) }))?;
    let mut stage = Stage::begin(session, rule, scope, found, wanted, kept)?;
    let mut progress = Progress::begin("days", (days.len() - kept) as u64);
    let due = &days[kept..];
    let ended = session.steps(limit, (0..).zip(due), |(done, day)| {
        progress.show(done, &day.name);
        stage.day(day, &mut log)
    });
    drop(progress);
    let report = stage.report(kept as u64, due.len() as u64 - stage.judged);
    // What was done is written down, whatever ended it.
    let logged = log.push(&json!({ "summary": report.json })).and_then(|()| log.publish());
    ended?;
    logged?;
    Ok(report)
}

/// How many days need not be judged again, and why no more.
fn up_to_date(
    home: &Home,
    ledger: Option<&Ledger>,
    wanted: &Manner,
    days: &[DocsDay],
) -> Result<(usize, &'static str)> {
    let Some(ledger) = ledger else { return Ok((0, "nothing was judged yet")) };
    if ledger.manner != *wanted {
        return Ok((0, "the settings or the program are others"));
    }
    let is_there =
        |file: &Ingredient| std::fs::metadata(home.root().join(&file.file)).is_ok_and(|meta| meta.len() == file.bytes);
    let memory = memory_files(&ledger.days);
    if !memory.iter().all(is_there) {
        return Ok((0, "files of the memory are missing"));
    }
    for (at, judged) in ledger.days.iter().enumerate() {
        match days.get(at) {
            None => return Ok((at, "days were removed")),
            Some(day) if day.name != judged.day => return Ok((at, "days were added or removed")),
            Some(day) if day.digest != judged.docs => return Ok((at, "documents have changed")),
            Some(_) if !is_there(&judged.verdicts) => return Ok((at, "verdicts are missing")),
            Some(_) => {}
        }
    }
    Ok((ledger.days.len(), "days were added"))
}

/// The files that hold the memory of these days.
fn memory_files(days: &[JudgedDay]) -> Vec<Ingredient> {
    let count = days.len() as u64;
    let last = |range: &Range<u64>| &days[range.end as usize - 1];
    let keys = ages::layout(count).iter().map(|range| last(range).key_file.clone()).collect::<Vec<_>>();
    let pieces = ages::piece_layout(count).iter().map(|range| last(range).piece_file.clone()).collect::<Vec<_>>();
    [keys, pieces].concat()
}

/// Removes what the ledger does not name.
fn tidy(home: &Home, days: &[JudgedDay]) -> Result<()> {
    let verdicts = days.iter().map(|day| day.verdicts.clone());
    let named = memory_files(days).into_iter().chain(verdicts).map(|file| home.root().join(file.file)).collect();
    Ok(seen::tidy(home, &seen::FOLDERS, &named)?)
}

/// The work of a run, and what came of it so far.
struct Stage<'a> {
    session: &'a Session,
    rule: Rule,
    scope: Scope,
    ledger: Ledger,
    keys: Vec<Aged>,
    pieces: Vec<PieceFile>,
    /// The days as numbers, with the first piece of each.
    days: Vec<(i64, PieceNumber)>,
    judged: u64,
    documents: u64,
    duplicates: u64,
    words: u64,
    duplicate_words: u64,
}

/// A document that waits for its turn: where its text lies, and its place among the verdicts.
struct Waiting {
    date: String,
    id: String,
    site: String,
    lang: usize,
    /// The checksum of its raw page, where these are judged.
    page: Option<u64>,
    place: Range<u64>,
}

impl<'a> Stage<'a> {
    /// Opens the memory of the days that are kept, and takes all others out of it.
    fn begin(
        session: &'a Session,
        rule: Rule,
        scope: Scope,
        found: Option<Ledger>,
        wanted: Manner,
        kept: usize,
    ) -> Result<Stage<'a>> {
        let home = &session.home;
        let ledger = match found {
            Some(ledger) if kept > 0 => ledger,
            // Nobody shall be told of files that are about to go.
            _ => Ledger::create(home, wanted)?,
        };
        let count = ledger.days.len() as u64;
        let path = |file: &Ingredient| home.root().join(&file.file);
        let (mut keys, mut pieces) = (Vec::new(), Vec::new());
        for range in ages::layout(count) {
            let run = KeyRun::open(&path(&ledger.days[range.end as usize - 1].key_file))?;
            keys.push(Aged { days: range, run });
        }
        for range in ages::piece_layout(count) {
            let [first, last] = [&ledger.days[range.start as usize], &ledger.days[range.end as usize - 1]];
            let number = last.pieces.end - first.pieces.start;
            pieces.push(PieceFile::known(&path(&last.piece_file), first.pieces.start, number, last.piece_file.bytes));
        }
        let days = numbered_days(&ledger.days);
        let mut stage = Stage {
            session,
            rule,
            scope,
            ledger,
            keys,
            pieces,
            days,
            judged: 0,
            documents: 0,
            duplicates: 0,
            words: 0,
            duplicate_words: 0,
        };
        if kept < stage.ledger.days.len() {
            stage.go_back(kept)?;
        }
        tidy(home, &stage.ledger.days)?;
        Ok(stage)
    }

    fn memory_path(&self, kind: &str, range: &Range<u64>, today: Option<&str>) -> PathBuf {
        let name = |day: u64| match self.ledger.days.get(day as usize) {
            Some(judged) => judged.day.as_str(),
            None => today.expect("a day that is not in the ledger is today"),
        };
        seen::memory_path(&self.session.home, kind, name(range.start), name(range.end - 1))
    }

    /// Takes all days but the first ones out of the memory. New files come first, then the ledger.
    fn go_back(&mut self, kept: usize) -> Result<()> {
        let home = &self.session.home;
        let draft = seen::draft_folder(home)?.join("cut.tmp");
        let days = &self.ledger.days;
        let first = |day: u64| days[day as usize].pieces.start;
        let is_same = |made: &Ingredient, day: u64, known: &Ingredient| match made == known {
            true => Ok(()),
            false => Err(Error::Uneven {
                day: days[day as usize].day.clone(),
                fault: format!("{} is not what it was", made.file),
            }),
        };
        let mut keys = Vec::new();
        for range in ages::layout(kept as u64) {
            let target = self.memory_path("keys", &range, None);
            if !self.keys.iter().any(|aged| aged.days == range) {
                drop(ages::cut(&self.keys, &range, first, |_| draft.clone())?);
                let made = seen::place(home, &draft, &target)?;
                is_same(&made, range.end - 1, &days[range.end as usize - 1].key_file)?;
            }
            keys.push(Aged { days: range, run: KeyRun::open(&target)? });
        }
        let mut pieces = Vec::new();
        for range in ages::piece_layout(kept as u64) {
            let target = self.memory_path("pieces", &range, None);
            if !self.pieces.iter().any(|file| file.path() == target) {
                let parts: Vec<&PieceFile> = self.pieces.iter().collect();
                join(&parts, first(range.start)..first(range.end), &draft)?;
                let made = seen::place(home, &draft, &target)?;
                is_same(&made, range.end - 1, &days[range.end as usize - 1].piece_file)?;
            }
            pieces.push(PieceFile::open(&target)?);
        }
        (self.keys, self.pieces) = (keys, pieces);
        self.ledger.cut(&self.session.home, kept)?;
        self.days = numbered_days(&self.ledger.days);
        Ok(())
    }

    fn day(&mut self, day: &DocsDay, log: &mut RunLog) -> Result<()> {
        let least = self.session.config.store.min_free_mib;
        if intake::free_bytes(&self.session.home).is_some_and(|free| free < least << 20) {
            bail!("the disk has less than {least} MiB free (store.min_free_mib); free some space and run again");
        }
        let began = Instant::now();
        let judged = self.judge(day)?;
        self.judged += 1;
        self.documents += judged.documents;
        self.duplicates += judged.duplicates;
        self.words += judged.words;
        self.duplicate_words += judged.duplicate_words;
        let [words, duplicates] = [|day: &JudgedDay| day.words, |day: &JudgedDay| day.duplicate_words]
            .map(|number| self.ledger.days.iter().map(number).sum::<u64>());
        log.push(&json!({
            "day": day.name,
            "documents": judged.documents,
            "duplicates": judged.duplicates,
            "words": judged.words,
            "duplicate_words": judged.duplicate_words,
            "words_so_far": words,
            "duplicate_words_so_far": duplicates,
            "duplicate_share_so_far": share(duplicates, words),
            "seconds": began.elapsed().as_secs_f64(),
        }))?;
        Ok(())
    }

    fn judge(&mut self, day: &DocsDay) -> Result<JudgedDay> {
        let home = &self.session.home;
        let folder = seen::draft_folder(home)?;
        let mut texts = Spool::create(home, "texts")?;
        let files = day.files(home)?;
        let waiting = self.read(day, &files, &mut texts)?;

        let (ranges, runs): (Vec<_>, Vec<_>) = self.keys.drain(..).map(|aged| (aged.days, aged.run)).unzip();
        let past = Past { runs, pieces: self.pieces.clone(), days: std::mem::take(&mut self.days) };
        let memory = Memory::new(past, &folder, self.session.config.dedup.memory_mib << 20)?;
        let mut judge = Judge::new(self.rule, self.scope, memory);

        // The order of time, and nothing else, decides which of two copies is kept.
        let mut order: Vec<usize> = (0..waiting.len()).collect();
        order.sort_by(|a, b| {
            let key = |at: &usize| (&waiting[*at].date, &waiting[*at].id, *at);
            key(a).cmp(&key(b))
        });
        let mut verdicts = Spool::create(home, "verdicts")?;
        let mut places = vec![0..0; waiting.len()];
        let mut judged = Tally::default();
        let mut copies: HashMap<String, Vec<Copy>> = HashMap::new();
        let mut bytes = Vec::new();
        for at in order {
            self.session.keep_going()?;
            let document = &waiting[at];
            texts.read(&document.place, &mut bytes)?;
            let text = Text::unpack(&bytes).ok_or_else(|| anyhow!("{}: a text was lost on the way", day.name))?;
            let month = document.date.get(..7).unwrap_or_default();
            let name = &document.id;
            let (site, page) = (&document.site, document.page);
            let origin = Origin { name, site, month, day: numbered(&day.name), page };
            let verdict = judge.judge(&text, &origin)?;
            let line = line(document, &files[document.lang].0, &text, &verdict);
            judged.add(&line, &verdict);
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
        let mut sealed = judge.seal()?;
        let past = ranges.into_iter().zip(sealed.past.drain(..));
        self.keys = past.map(|(days, run)| Aged { days, run }).collect();
        self.days = std::mem::take(&mut sealed.days);

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
        let judged = self.remember(day, &sealed, judged, verdicts)?;
        Ok(judged)
    }

    /// Reads the documents of a day and prepares them on all cores.
    fn read(&self, day: &DocsDay, files: &[(String, PathBuf)], texts: &mut Spool) -> Result<Vec<Waiting>> {
        let threads = self.session.config.dedup.threads;
        let threads = if threads == 0 { lines::cores() } else { threads };
        let mut next = files.iter().enumerate();
        let mut open: Option<(usize, DocumentReader)> = None;
        let source = || loop {
            self.session.keep_going()?;
            if let Some((lang, reader)) = &mut open
                && let Some(document) = reader.next()
            {
                let document: Document = document?;
                let bytes: usize = document.paragraphs.iter().map(|paragraph| paragraph.text.len()).sum();
                return Ok(Some(((*lang, document), bytes * EXPANSION + LEAST_WEIGHT)));
            }
            let Some((lang, (_, path))) = next.next() else { return Ok(None) };
            open = Some((lang, DocumentReader::open(path)?));
        };
        let rule = &self.rule;
        let prepare = |(lang, document): (usize, Document)| {
            let mut bytes = Vec::new();
            Text::new(document.paragraphs.iter().map(|paragraph| paragraph.text.as_str()), rule).pack(&mut bytes);
            (lang, document, bytes)
        };
        let pages =
            if rule.levels.has(Level::Page) { page_checksums(&self.session.home, day)? } else { HashMap::new() };
        let mut waiting = Vec::new();
        orderly::run(Bounds { threads, weight: WEIGHT }, source, prepare, |(lang, document, bytes)| {
            let place = texts.push(&bytes)?;
            let date = document.dated.map_or_else(|| day.name.clone(), |dated| dated.day);
            let page = pages.get(&xxh3_64(document.url.as_bytes())).copied();
            waiting.push(Waiting { date, id: document.id, site: document.site, lang, page, place });
            Ok(())
        })?;
        Ok(waiting)
    }

    /// Puts what a day has left into its place; the ledger comes last.
    fn remember(&mut self, day: &DocsDay, sealed: &Sealed, tally: Tally, verdicts: Ingredient) -> Result<JudgedDay> {
        let home = self.session.home.clone();
        let folder = seen::draft_folder(&home)?;
        let draft = |name: &str| folder.join(name);
        let grown = ages::grow(&self.keys, &sealed.runs, |_| draft("keys.tmp"))?;
        let key_path = self.memory_path("keys", &grown.days, Some(&day.name));
        let range = ages::piece_layout(self.ledger.days.len() as u64 + 1).pop().expect("a day is in some file");
        let piece_path = self.memory_path("pieces", &range, Some(&day.name));
        let first = self.ledger.days.get(range.start as usize).map_or(sealed.pieces.first(), |day| day.pieces.start);
        let older = ages::piece_layout(self.ledger.days.len() as u64);
        let at = older.iter().filter(|older| older.end <= range.start).count();
        let drafted: PathBuf = match range.end - range.start {
            1 => sealed.pieces.path().to_owned(),
            _ => {
                let parts: Vec<&PieceFile> = self.pieces[at..].iter().chain([&sealed.pieces]).collect();
                join(&parts, first..sealed.pieces.end(), &draft("joined.tmp"))?.path().to_owned()
            }
        };
        let key_file = seen::place(&home, grown.run.path(), &key_path)?;
        let piece_file = seen::place(&home, &drafted, &piece_path)?;
        let judged = JudgedDay {
            day: day.name.clone(),
            docs: day.digest.clone(),
            documents: tally.documents,
            duplicates: tally.duplicates,
            paragraphs: tally.paragraphs,
            duplicate_paragraphs: tally.duplicate_paragraphs,
            words: tally.words,
            duplicate_words: tally.duplicate_words,
            pieces: sealed.pieces.first()..sealed.pieces.end(),
            verdicts,
            piece_file,
            key_file,
        };
        self.ledger.push(&home, judged.clone())?;
        self.keys.retain(|aged| aged.days.start < grown.days.start);
        self.keys.push(Aged { days: grown.days, run: KeyRun::open(&key_path)? });
        self.pieces.truncate(at);
        self.pieces.push(PieceFile::open(&piece_path)?);
        // There may be thousands of verdicts, and each of them is named.
        let named = memory_files(&self.ledger.days).into_iter().map(|file| home.root().join(file.file)).collect();
        seen::tidy(&home, &["draft", "keys", "pieces"], &named)?;
        Ok(judged)
    }

    fn report(&self, up_to_date: u64, left: u64) -> Report {
        let share = share(self.duplicate_words, self.words);
        let (ending, not_done) = ended_early(self.session, days_left(left));
        let text = format!(
            "{} judged: {}, {} of them copies of earlier ones; {:.1} % of {} words are duplicates{ending}, {}\n",
            count(self.judged, "day"),
            count(self.documents, "document"),
            grouped(self.duplicates),
            share * 100.0,
            grouped(self.words),
            span(self.session.began.elapsed()),
        );
        let json = json!({
            "done": !not_done,
            "run": self.session.run,
            "days": self.judged,
            "days_up_to_date": up_to_date,
            "days_left": left,
            "documents": self.documents,
            "duplicates": self.duplicates,
            "words": self.words,
            "duplicate_words": self.duplicate_words,
            "seconds": self.session.began.elapsed().as_secs_f64(),
        });
        Report { text, json, failed: not_done, ..Report::default() }
    }
}

/// A day as a number.
fn numbered(day: &str) -> i64 {
    day.parse::<Date>().map_or(0, super::line::day_number)
}

/// Days as numbers, with the first piece of each.
fn numbered_days(days: &[JudgedDay]) -> Vec<(i64, PieceNumber)> {
    days.iter().map(|day| (numbered(&day.day), day.pieces.start)).collect()
}

/// The checksums of a day's raw pages, by address.
fn page_checksums(home: &Home, day: &DocsDay) -> Result<HashMap<u64, u64>> {
    let mut checksums = HashMap::new();
    for path in docs::days(home)?.into_iter().filter(|known| known.name == day.name).flat_map(|known| known.files) {
        let mut reader = PageReader::open(&path)?;
        while let Some(line) = reader.next_line()? {
            let page = line.page(&path)?;
            checksums.insert(xxh3_64(page.url.as_bytes()), xxh3_64(&page.body));
        }
    }
    Ok(checksums)
}

fn share(part: u64, whole: u64) -> f64 {
    part as f64 / whole.max(1) as f64
}

/// Three digits are more than anybody needs.
fn rounded(share: f32) -> f64 {
    (f64::from(share) * 1000.0).round() / 1000.0
}

/// What came of a day.
#[derive(Debug, Default)]
struct Tally {
    documents: u64,
    duplicates: u64,
    paragraphs: u64,
    duplicate_paragraphs: u64,
    words: u64,
    duplicate_words: u64,
}

impl Tally {
    fn add(&mut self, line: &VerdictLine, verdict: &Verdict) {
        let gone = verdict.paragraphs.iter().filter(|finding| finding.duplicate.is_some()).count() as u64;
        self.documents += 1;
        self.duplicates += u64::from(line.words > 0 && line.words == line.duplicate_words);
        self.paragraphs += line.paragraphs;
        self.duplicate_paragraphs += gone;
        self.words += line.words;
        self.duplicate_words += line.duplicate_words;
    }
}

/// What is written down about a document.
fn line(document: &Waiting, lang: &str, text: &Text, verdict: &Verdict) -> VerdictLine {
    let unit = |paragraph: usize, bytes: Option<Range<usize>>, finding: &Finding| {
        let why = finding.duplicate?;
        Some(DuplicateUnit {
            paragraph: paragraph as u64,
            bytes: bytes.map(|bytes| (bytes.start as u64, bytes.end as u64)),
            why: why.name().to_owned(),
            share: rounded(finding.share),
            of: finding.of.map(|of| verdict.sources[of as usize].clone()),
        })
    };
    let paragraphs = verdict.paragraphs.iter().enumerate();
    let mut duplicates: Vec<DuplicateUnit> = paragraphs.filter_map(|(at, finding)| unit(at, None, finding)).collect();
    let gone: BTreeSet<u64> = duplicates.iter().map(|unit| unit.paragraph).collect();
    for (at, finding) in verdict.sentences.iter().enumerate() {
        let (paragraph, bytes) = text.sentence(at);
        if !gone.contains(&(paragraph as u64)) {
            duplicates.extend(unit(paragraph, Some(bytes), finding));
        }
    }
    VerdictLine {
        id: document.id.clone(),
        lang: lang.to_owned(),
        site: document.site.clone(),
        date: document.date.clone(),
        words: verdict.words as u64,
        duplicate_words: verdict.removed as u64,
        copy_of: verdict.source().filter(|_| verdict.share() >= COPY_SHARE).map(str::to_owned),
        paragraphs: verdict.paragraphs.len() as u64,
        duplicates,
        copies: Vec::new(),
    }
}

/// Shows every duplicate with its text to `see`, in the order of time.
pub fn removed(home: &Home, mut see: impl FnMut(&VerdictLine, &DuplicateUnit, &str) -> Result<()>) -> Result<()> {
    let days: BTreeMap<String, DocsDay> =
        seen::docs_days(home)?.into_iter().map(|day| (day.name.clone(), day)).collect();
    for judged in Ledger::read(home)?.map(|ledger| ledger.days).unwrap_or_default() {
        let Some(day) = days.get(&judged.day).filter(|day| day.digest == judged.docs) else {
            bail!("the documents of {} have changed since they were judged; run `tidings dedup` first", judged.day);
        };
        let mut verdicts = seen::VerdictReader::open(home, &judged.day)?;
        for (_, path) in day.files(home)? {
            for document in DocumentReader::open(&path)? {
                let document = document?;
                let verdict = verdicts.next().transpose()?.filter(|verdict| verdict.id == document.id);
                let verdict = verdict.ok_or_else(|| unlike(&path))?;
                for unit in &verdict.duplicates {
                    let paragraph = document.paragraphs.get(unit.paragraph as usize).map(|paragraph| &paragraph.text);
                    let bytes = unit.bytes.map(|(start, end)| start as usize..end as usize);
                    let text = paragraph.and_then(|text| match bytes {
                        Some(bytes) => text.get(bytes),
                        None => Some(text.as_str()),
                    });
                    see(&verdict, unit, text.ok_or_else(|| unlike(&path))?)?;
                }
            }
        }
    }
    Ok(())
}

fn unlike(path: &Path) -> anyhow::Error {
    anyhow!(
        "{} and the verdicts on it do not fit together; `tidings rebuild --from dedup` makes them anew",
        path.display()
    )
}
