//! Judging a day: its documents are compared with all earlier ones, in the order of their dates.
//!
//! Of a day that has grown, documents that were judged before are replayed (`tidings_dedup::Trace`) unless a new
//! document has text in common with them. The result is that of a judgement of the whole day, byte for byte.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::path::PathBuf;

use anyhow::{Result, anyhow};
use tidings_dedup::{BlockId, ChangedFingerprints, Deduplicator, FingerprintStore, FlushedFiles, Origin, Text, Trace};
use tidings_model::Fingerprint;
use tidings_store::dedup_state::{
    self, Copy, DocsDay, GrowthLog, JudgedDay, JudgedDocument, Spool, VerdictDraft, VerdictLine,
};
use tidings_store::{FileDigest, Home};
use xxhash_rust::xxh3::xxh3_64;

use super::DedupRun;
use super::amendment::{Amendments, Newcomer};
use super::families::Families;
use super::memory::numbered;
use super::reading::DocumentText;
use super::verdict_line::{Counters, line, rounded, share_of};

/// The maximum size of the log of a day; a larger day is judged as a whole when it grows.
const MAX_LOG_BYTES: usize = 64 << 20;
/// The documents between two reports of the progress.
const SHOWN_EVERY: usize = 256;

/// A document that waits to be judged: the position of its text and of its verdict.
pub(super) struct Waiting {
    pub(super) date: String,
    /// Whether the date is that of its publication, and not of its download.
    pub(super) is_dated: bool,
    pub(super) id: String,
    pub(super) site: String,
    pub(super) lang: usize,
    /// The fingerprint of its URL.
    pub(super) url: Fingerprint,
    /// The checksum of its raw page, if pages are compared.
    pub(super) page: Option<u64>,
    /// The digest of its line.
    pub(super) key: u128,
    /// The earlier judgement, by its index. The spool has the line of such a document, and the text of the others.
    pub(super) known: Option<usize>,
    pub(super) place: Range<u64>,
}

/// The earlier judgements of a day.
#[derive(Default)]
pub(super) struct Known {
    pub(super) documents: Vec<JudgedDocument>,
    traces: Vec<Trace>,
    /// Those of each language and line.
    pub(super) by_key: HashMap<(String, u128), VecDeque<usize>>,
}

impl Known {
    /// Reads the log of a day.
    fn read(run: &DedupRun<'_>, day: &str) -> Result<Known> {
        let mut known = Known::default();
        for document in GrowthLog::read(&run.context.home, &run.ledger, day)? {
            let Some(trace) = Trace::unpack(&document.trace) else { return Ok(Known::default()) };
            let Ok(key) = u128::from_str_radix(&document.key, 16) else { return Ok(Known::default()) };
            let place = (document.verdict.lang.clone(), key);
            known.by_key.entry(place).or_default().push_back(known.documents.len());
            known.documents.push(document);
            known.traces.push(trace);
        }
        Ok(known)
    }
}

/// The verdicts of a day in progress.
struct Judging<'a> {
    run: &'a DedupRun<'a>,
    day: &'a str,
    files: &'a [(String, PathBuf)],
    families: Families,
    known: Known,
    /// The fingerprints by which the store differs from that of the earlier judgement.
    changed: ChangedFingerprints,
    /// The first block of the day.
    first_block: BlockId,
    /// The judged documents by position, while they fit into the log.
    log: Option<Vec<JudgedDocument>>,
    log_bytes: usize,
    /// Documents whose earlier verdicts stay.
    kept: u64,
}

/// The verdict on a document, with what is needed to compare it with earlier days.
struct JudgedLine {
    line: VerdictLine,
    source_block: Option<BlockId>,
    is_no_original: bool,
}

impl DedupRun<'_> {
    /// Judges a day and publishes its files; the ledger is written last.
    pub(super) fn judge(&mut self, day: &DocsDay) -> Result<JudgedDay> {
        let home = self.context.home.clone();
        let merged = self.memory.close_last(&self.ledger.days)?;
        let mut texts = Spool::create(&home, "texts")?;
        let files = day.files(&home)?;
        // Only the last day grows from round to round.
        let is_logged = self.newest == day.name;
        let mut known = if is_logged { Known::read(self, &day.name)? } else { Known::default() };
        let waiting = self.read(day, &files, &mut texts, &mut known)?;
        let folder = dedup_state::draft_folder(&home)?;
        let (past, lent) = self.memory.lend();
        let store = FingerprintStore::new(past, &folder, self.context.config.dedup.memory_mib << 20)?;
        let mut deduplicator = Deduplicator::new(self.rule, self.scope, store);
        let mut changed = ChangedFingerprints::default();
        known.by_key.values().flatten().for_each(|gone| changed.remove(&known.traces[*gone]));
        let mut judging = Judging {
            run: self,
            day: &day.name,
            files: &files,
            families: Families::read(&home, &day.name)?,
            known,
            changed,
            first_block: self.ledger.days.last().map_or(0, |day| day.pieces.end),
            log: is_logged.then(|| vec![JudgedDocument::default(); waiting.len()]),
            log_bytes: 0,
            kept: 0,
        };
        let mut verdicts = Verdicts::create(&home, waiting.len())?;
        let newcomers = judging.judge_all(&waiting, &mut texts, &mut deduplicator, &mut verdicts)?;
        let flushed = deduplicator.flush()?;
        let amendments = judging.amend(newcomers, &waiting, &mut texts, &mut verdicts)?;
        let (log, documents_kept) = (judging.log, judging.kept);
        let (verdict_file, counters) = verdicts.publish(&home, &day.name, &waiting)?;
        let judged = self.remember(day, flushed, lent, counters, verdict_file, amendments, merged)?;
        self.outcome.documents_kept += documents_kept;
        if let Some(documents) = log {
            GrowthLog::write(&home, &self.ledger, &day.name, &documents)?;
        }
        Ok(judged)
    }

    /// Publishes the files of a day; the ledger is written last.
    #[allow(clippy::too_many_arguments)] // Everything that a line of the ledger is made of.
    fn remember(
        &mut self,
        day: &DocsDay,
        flushed: FlushedFiles,
        lent: Vec<Range<u64>>,
        tally: Counters,
        verdicts: FileDigest,
        amendments: Vec<FileDigest>,
        merged: Option<[FileDigest; 2]>,
    ) -> Result<JudgedDay> {
        let home = self.context.home.clone();
        let pieces = flushed.blocks.first()..flushed.blocks.end();
        let [key_file, piece_file] = self.memory.add(&day.name, lent, flushed)?;
        let judged = JudgedDay {
            day: day.name.clone(),
            docs: day.digest.clone(),
            documents: tally.documents,
            duplicates: tally.duplicates,
            paragraphs: tally.paragraphs,
            duplicate_paragraphs: tally.duplicate_paragraphs,
            words: tally.words,
            duplicate_words: tally.duplicate_words,
            pieces,
            verdicts,
            piece_file,
            key_file,
            amendments,
        };
        match merged {
            Some(merged) => self.ledger.push_merged(&home, merged, judged.clone())?,
            None => self.ledger.push(&home, judged.clone())?,
        }
        // There may be thousands of verdicts, each with names of documents.
        let named = super::memory_files(&self.ledger.days).into_iter().map(|file| file.path(&home)).collect();
        dedup_state::tidy(&home, &["draft", "keys", "pieces"], &named)?;
        Ok(judged)
    }
}

impl Judging<'_> {
    /// Judges the documents in the order of their dates; returns those that may have been published before their
    /// originals.
    fn judge_all(
        &mut self,
        waiting: &[Waiting],
        texts: &mut Spool,
        deduplicator: &mut Deduplicator,
        verdicts: &mut Verdicts,
    ) -> Result<Vec<Newcomer>> {
        // The chronological order alone decides which of two copies is kept.
        let mut order: Vec<usize> = (0..waiting.len()).collect();
        order.sort_by(|a, b| {
            let key = |at: &usize| (&waiting[*at].date, &waiting[*at].id, *at);
            key(a).cmp(&key(b))
        });
        let mut newcomers = Vec::new();
        for (number, at) in order.into_iter().enumerate() {
            self.run.context.check_cancelled()?;
            if number % SHOWN_EVERY == SHOWN_EVERY - 1 {
                self.run.progress.advance(SHOWN_EVERY as u64, self.day);
            }
            let document = &waiting[at];
            let judged = self.judge(at, document, texts, deduplicator)?;
            let newcomer = Newcomer::of(at, document, judged.source_block, &judged.line, self.day);
            newcomers.extend(newcomer.map(|newcomer| newcomer.known_as(judged.is_no_original)));
            verdicts.add(at, judged.line)?;
        }
        Ok(newcomers)
    }

    /// Judges a document, or replays its earlier judgement if nothing that it was compared with has changed.
    fn judge(
        &mut self,
        at: usize,
        document: &Waiting,
        texts: &mut Spool,
        deduplicator: &mut Deduplicator,
    ) -> Result<JudgedLine> {
        let day = numbered(self.day);
        let revised = self.families.of(document.url);
        let revisions = revised.map_or(0, |ids| {
            let mut ids: Vec<&str> = ids.iter().map(String::as_str).collect();
            ids.sort_unstable();
            xxh3_64(ids.join("\n").as_bytes()).max(1)
        });
        if let Some(known) = document.known {
            let (judged, trace) = (&self.known.documents[known], &self.known.traces[known]);
            let is_same = (judged.page, judged.revisions) == (document.page, revisions);
            if is_same && !self.changed.affect(trace) {
                deduplicator.replay(trace, day)?;
                let judged = judged.clone();
                let (line, source_block) = (judged.verdict.clone(), judged.source_block);
                let is_no_original = judged.is_no_original;
                self.kept += 1;
                self.note(at, judged);
                return Ok(JudgedLine { line, source_block, is_no_original });
            }
        }
        let text = self.text(document, texts)?;
        let month = document.date.get(..7).unwrap_or_default();
        let (name, site, page) = (&document.id, &document.site, document.page);
        let origin = Origin { name, site, month, day, page };
        let (mut verdict, trace) = match self.log.is_some() {
            true => deduplicator.judge_traced(&text, &origin)?,
            false => (deduplicator.judge(&text, &origin)?, Trace::default()),
        };
        match document.known.map(|known| &self.known.traces[known]) {
            Some(before) => self.changed.replace(before, &trace),
            None if !self.known.documents.is_empty() => self.changed.add(&trace),
            // Without an earlier judgement there is nothing that could differ.
            None => {}
        }
        if let Some(ids) = revised {
            verdict.ignore_sources(&text, |name| ids.contains(name));
        }
        let line = line(document, &self.files[document.lang].0, &text, &verdict);
        // All blocks of the day are alike: none of them is of an earlier day.
        let source_block = verdict.source_block().map(|block| block.min(self.first_block));
        if self.log.is_some() {
            let mut packed = Vec::new();
            trace.pack(&mut packed);
            let (key, verdict, url) = (format!("{:032x}", document.key), line.clone(), document.url.0);
            let (is_dated, page, is_no_original) = (document.is_dated, document.page, false);
            let trace = packed;
            let judged =
                JudgedDocument { key, verdict, is_dated, url, page, revisions, source_block, is_no_original, trace };
            self.note(at, judged);
        }
        Ok(JudgedLine { line, source_block, is_no_original: false })
    }

    /// Adds a document to the log, if that is not too large.
    fn note(&mut self, at: usize, judged: JudgedDocument) {
        self.log_bytes += judged.trace.len() + size_of::<JudgedDocument>();
        match &mut self.log {
            Some(log) if self.log_bytes <= MAX_LOG_BYTES => log[at] = judged,
            log => *log = None,
        }
    }

    /// The text of a document.
    fn text(&self, document: &Waiting, texts: &mut Spool) -> Result<Text> {
        let mut bytes = Vec::new();
        texts.read(&document.place, &mut bytes)?;
        let text = match document.known {
            Some(_) => serde_json::from_slice::<DocumentText>(&bytes).ok().map(|read| read.text(&self.run.rule)),
            None => Text::unpack(&bytes),
        };
        text.ok_or_else(|| anyhow!("{}: a text was lost on the way", self.day))
    }

    /// Compares the newcomers with the documents that they were called copies of; returns the files of amendments.
    fn amend(
        &mut self,
        newcomers: Vec<Newcomer>,
        waiting: &[Waiting],
        texts: &mut Spool,
        verdicts: &mut Verdicts,
    ) -> Result<Vec<FileDigest>> {
        let home = &self.run.context.home;
        let mut amendments: Option<Amendments<'_>> = None;
        let mut has_amended = false;
        for newcomer in &newcomers {
            // The same question has the same answer, until an amendment changes the verdicts of earlier days.
            if newcomer.is_no_original && !has_amended {
                continue;
            }
            let amendments = match &mut amendments {
                Some(amendments) => amendments,
                None => {
                    let mut read = Amendments::read(home, &self.run.ledger, self.run.rule)?;
                    let asked: Vec<&Newcomer> = newcomers.iter().filter(|newcomer| !newcomer.is_no_original).collect();
                    read.look_up(&asked)?;
                    amendments.insert(read)
                }
            };
            let text = self.text(&waiting[newcomer.at], texts)?;
            let line = verdicts.read(newcomer.at)?;
            let original = amendments.amend(newcomer, &text, &line)?;
            if let Some(log) = &mut self.log {
                log[newcomer.at].is_no_original = original.is_none() && !has_amended;
            }
            if let Some(original) = original {
                has_amended = true;
                verdicts.replace(newcomer.at, &line, &original)?;
            }
        }
        amendments.map_or(Ok(Vec::new()), |amendments| amendments.publish(self.day))
    }
}

/// The verdicts of a day, on disk until all are known.
struct Verdicts {
    spool: Spool,
    places: Vec<Range<u64>>,
    counters: Counters,
    /// The copies of each document.
    copies: HashMap<String, Vec<Copy>>,
}

impl Verdicts {
    fn create(home: &Home, documents: usize) -> Result<Verdicts> {
        let (spool, places) = (Spool::create(home, "verdicts")?, vec![0..0; documents]);
        Ok(Verdicts { spool, places, counters: Counters::default(), copies: HashMap::new() })
    }

    fn add(&mut self, at: usize, line: VerdictLine) -> Result<()> {
        self.counters.add(&line);
        self.places[at] = self.spool.push(&serde_json::to_vec(&line)?)?;
        let share = rounded(share_of(&line));
        if let Some(of) = line.copy_of {
            let copy = Copy { id: line.id, site: line.site, date: line.date, share };
            self.copies.entry(of).or_default().push(copy);
        }
        Ok(())
    }

    fn read(&mut self, at: usize) -> Result<VerdictLine> {
        let mut bytes = Vec::new();
        self.spool.read(&self.places[at], &mut bytes)?;
        Ok(serde_json::from_slice(&bytes)?)
    }

    fn replace(&mut self, at: usize, line: &VerdictLine, by: &VerdictLine) -> Result<()> {
        self.counters.remove(line);
        self.counters.add(by);
        self.places[at] = self.spool.push(&serde_json::to_vec(by)?)?;
        Ok(())
    }

    /// Writes the file of a day, in the order of the documents.
    fn publish(mut self, home: &Home, day: &str, waiting: &[Waiting]) -> Result<(FileDigest, Counters)> {
        let mut draft = VerdictDraft::create(home, day)?;
        let mut bytes = Vec::new();
        for (document, place) in waiting.iter().zip(&self.places) {
            self.spool.read(place, &mut bytes)?;
            if let Some(copies) = self.copies.remove(&document.id) {
                let line: VerdictLine = serde_json::from_slice(&bytes)?;
                bytes = serde_json::to_vec(&VerdictLine { copies, ..line })?;
            }
            bytes.push(b'\n');
            draft.push(&bytes)?;
        }
        Ok((draft.publish(home)?, self.counters))
    }
}
