//! Amendments: the earlier published of two documents is the original, whatever day it was fetched on.
//!
//! Documents are compared in the order in which they were fetched, because that is the order in which days come. If a
//! document is called a copy of one of an earlier day but was published before it, as after a backfill, the verdicts of
//! both change places: the newcomer keeps its text, and a amendment calls the other one its copy. Only copies of at least
//! half of a document, and only dates of publication count; where one of the dates is unknown, the first one fetched is
//! the original. A amendment belongs to the day of the newcomer, so that the verdicts are the same whether the days are
//! judged one by one or all at once.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::ops::{ControlFlow, Range};

use anyhow::Result;
use serde::Deserialize;
use tidings_dedup::{BlockId, Deduplicator, FingerprintStore, Origin, Rule, Scope, StoreFiles, Text};
use tidings_model::{Dated, Document, Fingerprint};
use tidings_store::dedup_state::{
    self, DuplicateUnit, JudgedDays, VerdictDraft, VerdictLine, VerdictReader, amending_day,
};
use tidings_store::docs::Recipe;
use tidings_store::{FileDigest, Home, scan};

use super::judge::Waiting;
use super::verdict_line::{COPY_SHARE, line};

/// The minimum confidence of a date of publication.
const LEAST_CONFIDENCE: f32 = 0.5;
/// The memory of a comparison of two documents.
const COMPARISON_BYTES: usize = 1 << 20;
/// The memory of the documents that are looked up together, and of a document relative to its line.
const MOST_LOOKED_UP: usize = 64 << 20;
const DOCUMENT_MEMORY: usize = 2;
/// Copies of copies that are followed to their original.
const MOST_STEPS: usize = 64;

/// Whether a date is that of the publication, and not of the download.
pub(super) fn is_published(dated: &Dated) -> bool {
    dated.source != "seen" && dated.confidence >= LEAST_CONFIDENCE
}

/// A document that was called a copy and may have been published before its original.
pub(super) struct Newcomer {
    /// Its position in its day.
    pub(super) at: usize,
    date: String,
    /// The document that it was called a copy of, and its first block.
    of: String,
    block: BlockId,
    /// Whether it is known not to be the original.
    pub(super) is_no_original: bool,
}

impl Newcomer {
    /// A copy that was published before the day on which it was fetched.
    pub(super) fn of(
        at: usize,
        document: &Waiting,
        source_block: Option<BlockId>,
        line: &VerdictLine,
        day: &str,
    ) -> Option<Newcomer> {
        let (of, block) = (line.copy_of.clone()?, source_block?);
        let is_late = document.is_dated && document.date.as_str() < day;
        is_late.then(|| Newcomer { at, date: document.date.clone(), of, block, is_no_original: false })
    }

    /// The newcomer with the result of an earlier comparison.
    pub(super) fn known_as(self, is_no_original: bool) -> Newcomer {
        Newcomer { is_no_original, ..self }
    }
}

/// A amended verdict.
struct Amendment {
    /// The day of the newcomer; `None` if it is the current one.
    by: Option<String>,
    verdict: VerdictLine,
}

/// The amendments of all days, and those that the current day makes.
pub(super) struct Amendments<'a> {
    home: &'a Home,
    rule: Rule,
    /// The judged days with their blocks.
    days: Vec<(String, Range<BlockId>)>,
    known: HashMap<String, Amendment>,
    made: BTreeMap<(String, String), VerdictLine>,
    /// The verdicts and documents that newcomers are compared with, as far as they were looked up together.
    looked_up: LookedUp,
}

/// Documents of earlier days, by day and id.
#[derive(Default)]
struct LookedUp {
    verdicts: HashMap<(String, String), VerdictLine>,
    documents: HashMap<(String, String), Document>,
}

impl<'a> Amendments<'a> {
    /// Reads the amendments of all judged days.
    pub(super) fn read(home: &'a Home, ledger: &JudgedDays, rule: Rule) -> Result<Amendments<'a>> {
        let mut known = HashMap::new();
        // Those of later days replace those of earlier ones.
        for day in &ledger.days {
            for file in &day.amendments {
                for verdict in VerdictReader::of_file(home, &file.path(home))? {
                    let verdict = verdict?;
                    let by = Some(amending_day(&file.file).to_owned());
                    known.insert(verdict.id.clone(), Amendment { by, verdict });
                }
            }
        }
        let days = ledger.days.iter().map(|day| (day.day.clone(), day.pieces.clone())).collect();
        Ok(Amendments { home, rule, days, known, made: BTreeMap::new(), looked_up: LookedUp::default() })
    }

    /// Looks up what newcomers are compared with, reading each day once: a day that copies many documents of another would
    /// otherwise read that one for each of them.
    pub(super) fn look_up(&mut self, newcomers: &[&Newcomer]) -> Result<()> {
        let mut wanted: BTreeMap<String, HashMap<String, String>> = BTreeMap::new();
        for newcomer in newcomers {
            if let (Some(day), id) = self.place(newcomer) {
                let earliest = wanted.entry(day).or_default().entry(id).or_insert_with(|| newcomer.date.clone());
                if newcomer.date < *earliest {
                    earliest.clone_from(&newcomer.date);
                }
            }
        }
        let mut bytes = 0;
        for (day, ids) in wanted {
            self.looked_up.read_verdicts(self.home, &day, &ids)?;
            bytes = self.looked_up.read_documents(self.home, &day, &ids, bytes)?;
        }
        Ok(())
    }

    /// Compares a newcomer with its original. If it was published before, returns its verdict as an original, and amends
    /// that of the other one.
    pub(super) fn amend(&mut self, newcomer: &Newcomer, text: &Text, own: &VerdictLine) -> Result<Option<VerdictLine>> {
        let Some((day, other)) = self.original(newcomer)? else { return Ok(None) };
        // The date of a verdict is that of the document, if it has one.
        if other.date <= newcomer.date {
            return Ok(None);
        }
        let document = match self.looked_up.document(&day, &other) {
            Some(document) => Some(document),
            None => document(self.home, &day, &other)?,
        };
        let Some(document) = document else { return Ok(None) };
        let is_later = document.dated.as_ref().is_some_and(|dated| is_published(dated) && dated.day > newcomer.date);
        if !is_later {
            return Ok(None);
        }
        let paragraphs = document.paragraphs.iter().map(|paragraph| paragraph.text.as_str());
        let other_text = Text::new(paragraphs, &self.rule);
        let Some(copied) = self.compare(text, &own.id, &other_text, &other)? else { return Ok(None) };
        let amended = merged(other, copied, &other_text);
        let is_of_other =
            |unit: &DuplicateUnit| unit.of.as_ref().is_some_and(|of| *of == newcomer.of || *of == amended.id);
        let mut original = VerdictLine { copy_of: None, ..own.clone() };
        original.duplicates.retain(|unit| !is_of_other(unit));
        original.duplicate_words = duplicate_words(&original.duplicates, text);
        self.made.insert((day, amended.id.clone()), amended.clone());
        self.known.insert(amended.id.clone(), Amendment { by: None, verdict: amended });
        Ok(Some(original))
    }

    /// Writes the amendments of a day, one file for each amended day.
    pub(super) fn publish(self, by: &str) -> Result<Vec<FileDigest>> {
        let mut drafts: BTreeMap<String, VerdictDraft> = BTreeMap::new();
        for ((day, _), verdict) in self.made {
            let draft = match drafts.entry(day) {
                std::collections::btree_map::Entry::Occupied(entry) => entry.into_mut(),
                std::collections::btree_map::Entry::Vacant(entry) => {
                    let draft = VerdictDraft::amend(self.home, entry.key(), by)?;
                    entry.insert(draft)
                }
            };
            let mut bytes = serde_json::to_vec(&verdict)?;
            bytes.push(b'\n');
            draft.push(&bytes)?;
        }
        drafts.into_values().map(|draft| Ok(draft.publish(self.home)?)).collect()
    }

    /// The day and the id of the document that a newcomer is a copy of, or that this one is a copy of now; no day if it is
    /// the current one, where documents are judged in the order of their dates.
    fn place(&self, newcomer: &Newcomer) -> (Option<String>, String) {
        let is_of_day = |(_, blocks): &&(String, Range<BlockId>)| blocks.contains(&newcomer.block);
        let mut day = self.days.iter().find(is_of_day).map(|(day, _)| day.clone());
        let mut id = newcomer.of.clone();
        for _ in 0..MOST_STEPS {
            let Some(amendment) = self.known.get(&id) else { break };
            match &amendment.verdict.copy_of {
                Some(of) => (id, day) = (of.clone(), amendment.by.clone()),
                None => break,
            }
        }
        (day, id)
    }

    /// The day and the verdict of the document at the place of a newcomer's original.
    fn original(&self, newcomer: &Newcomer) -> Result<Option<(String, VerdictLine)>> {
        let (Some(day), id) = self.place(newcomer) else { return Ok(None) };
        let key = (day, id);
        if let Some(verdict) = self.looked_up.verdicts.get(&key) {
            return Ok(Some((key.0, verdict.clone())));
        }
        let (day, id) = key;
        let mut found: Option<VerdictLine> = None;
        for file in dedup_state::verdict_files(self.home, &day)? {
            scan::lines(&file, &format!("\"{id}\""), |line| {
                let verdict = serde_json::from_slice(line).ok().filter(|verdict: &VerdictLine| verdict.id == id);
                let flow = if verdict.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
                found = verdict.or(found.take());
                flow
            })?;
        }
        Ok(found.map(|verdict| (day, verdict)))
    }

    /// The verdict on a document that is compared with the newcomer alone; `None` if less than half of it is in there.
    fn compare(&self, newcomer: &Text, id: &str, other: &Text, verdict: &VerdictLine) -> Result<Option<VerdictLine>> {
        let folder = tempfile::tempdir()?;
        let store = FingerprintStore::new(StoreFiles::default(), folder.path(), COMPARISON_BYTES)?;
        let mut deduplicator = Deduplicator::new(self.rule, Scope::All, store);
        deduplicator.judge(newcomer, &Origin { name: id, ..Origin::default() })?;
        let found = deduplicator.judge(other, &Origin { name: &verdict.id, ..Origin::default() })?;
        let document = Waiting {
            date: verdict.date.clone(),
            is_dated: true,
            id: verdict.id.clone(),
            site: verdict.site.clone(),
            lang: 0,
            url: Fingerprint::of(""),
            page: None,
            key: 0,
            known: None,
            place: 0..0,
        };
        Ok((found.share() >= COPY_SHARE).then(|| line(&document, &verdict.lang, other, &found)))
    }
}

impl LookedUp {
    /// The document of a verdict, if it was looked up.
    fn document(&self, day: &str, verdict: &VerdictLine) -> Option<Document> {
        self.documents.get(&(day.to_owned(), verdict.id.clone())).cloned()
    }

    /// Reads the verdicts of a day on these documents.
    fn read_verdicts(&mut self, home: &Home, day: &str, ids: &HashMap<String, String>) -> Result<()> {
        // Amended verdicts come later and replace the first ones.
        for file in dedup_state::verdict_files(home, day)? {
            scan::lines(&file, "", |line| {
                let verdict = serde_json::from_slice::<VerdictLine>(line).ok();
                if let Some(verdict) = verdict.filter(|verdict| ids.contains_key(&verdict.id)) {
                    self.verdicts.insert((day.to_owned(), verdict.id.clone()), verdict);
                }
                ControlFlow::Continue(())
            })?;
        }
        Ok(())
    }

    /// Reads the documents of a day that may have been published after their newcomers, up to a limit of memory; those
    /// beyond are looked up one by one. Returns the bytes that are held.
    fn read_documents(
        &mut self,
        home: &Home,
        day: &str,
        ids: &HashMap<String, String>,
        mut bytes: usize,
    ) -> Result<usize> {
        let is_later = |verdict: &&VerdictLine| ids.get(&verdict.id).is_some_and(|date| verdict.date > *date);
        let of_day = ids.keys().filter_map(|id| self.verdicts.get(&(day.to_owned(), id.clone())));
        let wanted: HashMap<String, String> =
            of_day.filter(is_later).map(|verdict| (verdict.id.clone(), verdict.lang.clone())).collect();
        if wanted.is_empty() {
            return Ok(bytes);
        }
        let Some(recipe) = Recipe::read(home, day)? else { return Ok(bytes) };
        for file in recipe.document_files() {
            let language = file.language().unwrap_or_default();
            if !wanted.values().any(|lang| lang == language) {
                continue;
            }
            scan::lines_of(home, &file.file, "", |line| {
                let name = serde_json::from_slice::<Name<'_>>(line).ok();
                let is_wanted =
                    name.is_some_and(|name| wanted.get(name.id.as_ref()).is_some_and(|lang| lang == language));
                if is_wanted && let Ok(document) = serde_json::from_slice::<Document>(line) {
                    bytes += line.len() * DOCUMENT_MEMORY;
                    self.documents.insert((day.to_owned(), document.id.clone()), document);
                }
                if bytes > MOST_LOOKED_UP { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })?;
        }
        Ok(bytes)
    }
}

/// The id of a document.
#[derive(Deserialize)]
struct Name<'l> {
    #[serde(borrow)]
    id: Cow<'l, str>,
}

/// The document of a verdict.
fn document(home: &Home, day: &str, verdict: &VerdictLine) -> Result<Option<Document>> {
    let Some(recipe) = Recipe::read(home, day)? else { return Ok(None) };
    let mut found = None;
    for file in recipe.document_files().filter(|file| file.language() == Some(verdict.lang.as_str())) {
        scan::lines_of(home, &file.file, &format!("\"{}\"", verdict.id), |line| {
            found = serde_json::from_slice(line).ok().filter(|document: &Document| document.id == verdict.id);
            if found.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
    }
    Ok(found)
}

/// A verdict with the duplicates of another one.
fn merged(verdict: VerdictLine, copied: VerdictLine, text: &Text) -> VerdictLine {
    let VerdictLine { mut duplicates, copies, .. } = verdict;
    let is_known = |unit: &DuplicateUnit, known: &[DuplicateUnit]| {
        known
            .iter()
            .any(|known| known.paragraph == unit.paragraph && (known.bytes.is_none() || known.bytes == unit.bytes))
    };
    for unit in copied.duplicates {
        if !is_known(&unit, &duplicates) {
            // A duplicate paragraph covers its sentences.
            duplicates.retain(|known| unit.bytes.is_some() || known.paragraph != unit.paragraph);
            duplicates.push(unit);
        }
    }
    duplicates.sort_by_key(|unit| (unit.bytes.is_some(), unit.paragraph, unit.bytes));
    let duplicate_words = duplicate_words(&duplicates, text);
    VerdictLine { duplicates, copies, duplicate_words, ..copied }
}

/// The number of words in duplicates, which do not overlap.
fn duplicate_words(duplicates: &[DuplicateUnit], text: &Text) -> u64 {
    let words = |unit: &DuplicateUnit| text.words_of(unit.paragraph as usize, unit.bytes.map(|bytes| bytes.0 as usize));
    duplicates.iter().map(|unit| words(unit) as u64).sum()
}
