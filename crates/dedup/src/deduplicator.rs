//! The deduplicator: compares documents in chronological order with everything stored before.
//!
//! ```text
//! fingerprints of the document ──▶ blocks that share some ──▶ words seen there ──▶ the rule ──▶ verdict
//!                                                             kept text is added to the store ◀──┘
//! ```

use std::collections::{HashMap, HashSet};

use crate::blocks::{BLOCK_GRAMS, Block, short};
use crate::error::Result;
use crate::fingerprint_index::BlockId;
use crate::fingerprint_store::{FingerprintStore, FlushedFiles};
use crate::hash::mix;
use crate::rule::{Evidence, Level, Rule, UNSEEN};
use crate::scope::{self, Origin, Scope};
use crate::trace::Trace;
use crate::units::{Text, Unit};
use crate::verdict::{MatchKind, UnitVerdict, Verdict};

/// Candidate blocks that one block of text is compared with, besides those that contain a unit of it verbatim.
const CANDIDATES: usize = 12;
/// A selected n-gram found in this many blocks is a common phrase: it gives no candidates and is not stored again.
/// Copies are stored once, so copying alone does not make an n-gram common.
pub(crate) const COMMON_BLOCKS: usize = 3;
/// A document is new when this many units have a selected n-gram and none of those is in the index.
const NEW_UNITS: usize = 5;

/// Compares documents with all earlier ones and stores their fingerprints.
pub struct Deduplicator {
    rule: Rule,
    scope: Scope,
    store: FingerprintStore,
    scratch: Scratch,
}

/// Buffers that are reused from document to document.
#[derive(Default)]
struct Scratch {
    found: Vec<BlockId>,
    /// For each selected n-gram, the number of blocks that contain it, up to [`COMMON_BLOCKS`].
    block_counts: Vec<u32>,
    /// Positions of selected n-grams with the blocks that contain them.
    hits: Vec<(u32, BlockId)>,
    candidates: Vec<Candidate>,
    short: Vec<(u32, u32)>,
    grams: Vec<u32>,
    block: Block,
    /// Blocks read for this document, each with the index of its source.
    read: HashMap<BlockId, u32>,
    /// Indices of source documents, by name.
    names: HashMap<String, u32>,
    /// Fingerprints already stored for this document.
    own: HashSet<u64>,
}

#[derive(Debug, Clone, Copy)]
struct Candidate {
    block: BlockId,
    hits: u32,
    has_unit: bool,
}

impl Deduplicator {
    /// Creates a deduplicator over a store.
    pub fn new(rule: Rule, scope: Scope, store: FingerprintStore) -> Deduplicator {
        Deduplicator { rule, scope, store, scratch: Scratch::default() }
    }

    /// The fingerprint store.
    pub fn store(&self) -> &FingerprintStore {
        &self.store
    }

    /// Writes everything to disk and returns the files.
    pub fn flush(self) -> Result<FlushedFiles> {
        self.store.flush()
    }

    /// Compares a document with the store and adds it. Documents must come in chronological order.
    pub fn judge(&mut self, text: &Text, origin: &Origin<'_>) -> Result<Verdict> {
        self.store.start_day(origin.day);
        let lookup = LookupScope { salt: self.scope.salt(origin), first: self.first(origin.day) };
        let mut comparison = DocumentMatch {
            rule: self.rule,
            lookup,
            store: &mut self.store,
            scratch: &mut self.scratch,
            text,
            sources: Vec::new(),
            source_blocks: Vec::new(),
        };
        comparison.scratch.read.clear();
        comparison.scratch.names.clear();
        comparison.scratch.own.clear();
        let whole = comparison.whole_match(origin)?;
        let mut verdict = match whole {
            Some((kind, of)) => comparison.all_units(kind, of),
            None => comparison.compare_units()?,
        };
        verdict.sources = std::mem::take(&mut comparison.sources);
        verdict.source_blocks = std::mem::take(&mut comparison.source_blocks);
        let kept = kept_words(text, &verdict);
        verdict.words = text.words;
        verdict.removed = kept.iter().filter(|kept| !**kept).count();
        comparison.add_to_store(origin, &verdict, &kept, whole.is_some())?;
        Ok(verdict)
    }

    /// The same with the trace of the judgement, by which it can be repeated with [`Deduplicator::replay`].
    pub fn judge_traced(&mut self, text: &Text, origin: &Origin<'_>) -> Result<(Verdict, Trace)> {
        self.store.start_trace();
        let verdict = self.judge(text, origin);
        let trace = self.store.end_trace();
        Ok((verdict?, trace))
    }

    /// Adds a document of a day to the store as an earlier judgement did. The caller has checked that its verdict is
    /// still the same, see [`ChangedFingerprints`](crate::ChangedFingerprints).
    pub fn replay(&mut self, trace: &Trace, day: i64) -> Result<()> {
        self.store.start_day(day);
        self.store.replay(trace)
    }

    fn first(&self, day: i64) -> BlockId {
        match self.scope {
            Scope::Days(days) => self.store.first_since(day - i64::from(days)),
            _ => 0,
        }
    }
}

/// The part of the store that a document is compared with.
#[derive(Clone, Copy)]
struct LookupScope {
    salt: u64,
    first: BlockId,
}

impl LookupScope {
    fn fingerprint(self, hash: u64) -> u64 {
        scope::fingerprint(hash, self.salt)
    }
}

/// The comparison of one document with the store.
struct DocumentMatch<'a> {
    rule: Rule,
    lookup: LookupScope,
    store: &'a mut FingerprintStore,
    scratch: &'a mut Scratch,
    text: &'a Text,
    sources: Vec<String>,
    /// The first block of each source that was found.
    source_blocks: Vec<BlockId>,
}

/// Marks the words that are in no duplicate unit.
pub(crate) fn kept_words(text: &Text, verdict: &Verdict) -> Vec<bool> {
    let mut kept = vec![true; text.words];
    let paragraphs = text.paragraphs.iter().zip(&verdict.paragraphs);
    for (unit, unit_verdict) in paragraphs.chain(text.sentences.iter().zip(&verdict.sentences)) {
        if unit_verdict.duplicate.is_some() {
            kept[unit.words()].fill(false);
        }
    }
    kept
}

impl DocumentMatch<'_> {
    /// The first block with a hash.
    fn first_block(&mut self, hash: u64) -> Result<Option<BlockId>> {
        self.store.first_block(self.lookup.fingerprint(hash), self.lookup.first)
    }

    /// The hash of the whole text, if that level is enabled. It finds copies of documents that are too short for
    /// n-grams.
    fn text_hash(&self) -> Option<u64> {
        let counts = self.rule.levels.has(Level::Text) || self.rule.levels.has(Level::Document);
        (counts && self.text.words > 0).then_some(self.text.hash)
    }

    /// The source of the document if its raw page or whole text was seen before.
    fn whole_match(&mut self, origin: &Origin<'_>) -> Result<Option<(MatchKind, u32)>> {
        let page = origin.page.filter(|_| self.rule.levels.has(Level::Page)).map(|page| (MatchKind::Page, mix(page)));
        let text = self.text_hash().map(|hash| (MatchKind::Text, hash));
        for (kind, hash) in [page, text].into_iter().flatten() {
            if let Some(block) = self.first_block(hash)? {
                let source = self.source(block)?;
                return Ok(Some((kind, source)));
            }
        }
        Ok(None)
    }

    /// A verdict that marks all units as duplicates of one kind.
    fn all_units(&self, kind: MatchKind, of: u32) -> Verdict {
        let unit_verdict = UnitVerdict { duplicate: Some(kind), share: 1.0, of: Some(of).filter(|of| *of != UNSEEN) };
        Verdict {
            paragraphs: vec![unit_verdict; self.text.paragraphs.len()],
            sentences: vec![unit_verdict; self.text.sentences.len()],
            ..Verdict::default()
        }
    }

    /// The index of the source document of a block.
    fn source(&mut self, number: BlockId) -> Result<u32> {
        if let Some(source) = self.scratch.read.get(&number) {
            return Ok(*source);
        }
        let source = match self.store.block(number, &mut self.scratch.block)? {
            true => self.name_source(number),
            false => UNSEEN,
        };
        self.scratch.read.insert(number, source);
        Ok(source)
    }

    /// The index of the source document of the block with this id, which is in `scratch`.
    fn name_source(&mut self, number: BlockId) -> u32 {
        let Scratch { block, names, .. } = &mut *self.scratch;
        let name = String::from_utf8_lossy(block.name());
        if let Some(at) = names.get(&*name) {
            let first = &mut self.source_blocks[*at as usize];
            *first = number.min(*first);
            return *at;
        }
        let at = self.sources.len() as u32;
        self.source_blocks.push(number);
        names.insert(name.clone().into_owned(), at);
        self.sources.push(name.into_owned());
        at
    }

    fn compare_units(&mut self) -> Result<Verdict> {
        let text = self.text;
        let levels = self.rule.levels;
        let mut evidence = Evidence { seen_in: vec![UNSEEN; text.words] };
        self.look_up_selected_grams()?;
        // The block that contains each unit verbatim, if any.
        let paragraphs = if levels.has(Level::Paragraph) { &text.paragraphs[..] } else { &[] };
        let known_paragraphs = self.exact_blocks(paragraphs)?;
        let known_sentences = self.exact_blocks(&text.sentences)?;
        let units = [(paragraphs, &known_paragraphs), (&text.sentences[..], &known_sentences)];
        let mut hits = 0;
        for start in (0..text.grams.len()).step_by(BLOCK_GRAMS) {
            let end = (start + BLOCK_GRAMS).min(text.grams.len());
            self.scratch.candidates.clear();
            for (units, known) in units {
                let first = units.partition_point(|unit| (unit.start as usize) < start);
                let last = units.partition_point(|unit| (unit.start as usize) < end);
                let known = known[first..last].iter().flatten();
                known.for_each(|block| hit(&mut self.scratch.candidates, *block, true));
            }
            while let Some((at, block)) = self.scratch.hits.get(hits).copied().filter(|(at, _)| (*at as usize) < end) {
                hit(&mut self.scratch.candidates, block, false);
                hits += 1;
                debug_assert!(at as usize >= start);
            }
            self.compare(start..end, &mut evidence)?;
        }
        let exact_paragraphs = self.sources(&known_paragraphs)?;
        let exact_sentences = self.sources(&known_sentences)?;
        let exact = [(paragraphs, &exact_paragraphs[..]), (&text.sentences[..], &exact_sentences[..])];
        evidence.consolidate(&self.rule, self.sources.len(), exact);
        let mut verdict = Verdict::default();
        if levels.has(Level::Document) {
            let whole = Unit {
                paragraph: 0,
                start: 0,
                end: text.words as u32,
                from: 0,
                to: 0,
                hash: None,
                selected_gram: None,
            };
            let unit_verdict = evidence.judge(&self.rule, &[whole], &[None])[0];
            if unit_verdict.duplicate.is_some() {
                let unit_verdict = UnitVerdict { duplicate: Some(MatchKind::Document), ..unit_verdict };
                verdict.paragraphs = vec![unit_verdict; text.paragraphs.len()];
                verdict.sentences = vec![unit_verdict; text.sentences.len()];
                return Ok(verdict);
            }
        }
        verdict.paragraphs = match levels.has(Level::Paragraph) {
            true => evidence.judge(&self.rule, paragraphs, &exact_paragraphs),
            false => vec![UnitVerdict::default(); text.paragraphs.len()],
        };
        verdict.sentences = evidence.judge(&self.rule, &text.sentences, &exact_sentences);
        for (unit, unit_verdict) in text.sentences.iter().zip(&mut verdict.sentences) {
            let around = verdict.paragraphs[unit.paragraph as usize];
            if around.duplicate.is_some() {
                *unit_verdict = around;
            }
        }
        Ok(verdict)
    }

    /// Looks up the selected n-grams. Most documents are new: if none of the units' own selected n-grams is found,
    /// the sampled ones are not looked up.
    fn look_up_selected_grams(&mut self) -> Result<()> {
        let text = self.text;
        self.scratch.block_counts.clear();
        self.scratch.block_counts.resize(text.selected_grams.len(), 0);
        self.scratch.hits.clear();
        let own = text.paragraphs.iter().chain(&text.sentences).filter_map(|unit| unit.selected_gram);
        let mut own: Vec<usize> = own.filter_map(|at| text.selected_grams.binary_search(&at).ok()).collect();
        own.sort_unstable();
        own.dedup();
        for place in &own {
            self.look_up_selected_gram(*place)?;
        }
        let is_new = own.len() >= NEW_UNITS && self.scratch.hits.is_empty();
        if !is_new {
            for place in (0..text.selected_grams.len()).filter(|place| own.binary_search(place).is_err()) {
                self.look_up_selected_gram(place)?;
            }
            self.scratch.hits.sort_unstable();
        }
        Ok(())
    }

    fn look_up_selected_gram(&mut self, place: usize) -> Result<()> {
        let at = self.text.selected_grams[place];
        let fingerprint = self.lookup.fingerprint(self.text.grams[at as usize]);
        self.store.look_up(fingerprint, self.lookup.first, COMMON_BLOCKS, &mut self.scratch.found)?;
        let Scratch { found, block_counts, hits, .. } = &mut *self.scratch;
        block_counts[place] = found.len() as u32;
        if found.len() < COMMON_BLOCKS {
            hits.extend(found.iter().map(|block| (at, *block)));
        }
        Ok(())
    }

    /// The number of blocks that contain the selected n-gram at a word position.
    fn block_count(&self, at: u32) -> usize {
        self.text.selected_grams.binary_search(&at).map_or(0, |place| self.scratch.block_counts[place] as usize)
    }

    /// For each unit, the first block that contains it verbatim.
    fn exact_blocks(&mut self, units: &[Unit]) -> Result<Vec<Option<BlockId>>> {
        units
            .iter()
            .map(|unit| {
                let Some(hash) = unit.hash else { return Ok(None) };
                // A unit whose selected n-gram is unknown is unknown, too.
                if unit.selected_gram.is_some_and(|at| self.block_count(at) == 0) {
                    return Ok(None);
                }
                self.first_block(hash)
            })
            .collect()
    }

    /// Compares the n-grams of a range of the text with those of the candidate blocks that have the most hits.
    fn compare(&mut self, range: std::ops::Range<usize>, evidence: &mut Evidence) -> Result<()> {
        if self.scratch.candidates.is_empty() || range.is_empty() {
            return Ok(());
        }
        self.scratch.candidates.sort_unstable_by_key(|candidate| (std::cmp::Reverse(candidate.hits), candidate.block));
        let mut others = 0;
        self.scratch.candidates.retain(|candidate| {
            others += usize::from(!candidate.has_unit);
            candidate.has_unit || others <= CANDIDATES
        });
        self.scratch.short.clear();
        let grams = self.text.grams[range.clone()].iter().zip(range.start as u32..);
        self.scratch.short.extend(grams.map(|(gram, at)| (short(*gram), at)));
        self.scratch.short.sort_unstable();
        for at in 0..self.scratch.candidates.len() {
            let number = self.scratch.candidates[at].block;
            if !self.store.block(number, &mut self.scratch.block)? {
                continue;
            }
            let source = self.name_source(number);
            self.scratch.read.insert(number, source);
            let Scratch { block, grams, short, .. } = &mut *self.scratch;
            block.grams(grams);
            let mut own = short.iter().peekable();
            for gram in &*grams {
                while own.next_if(|(known, _)| known < gram).is_some() {}
                while let Some((_, place)) = own.next_if(|(known, _)| known == gram) {
                    let words = *place as usize..*place as usize + self.rule.ngram;
                    // The block with the most hits comes first and claims the words it shares.
                    evidence.seen_in[words].iter_mut().filter(|seen| **seen == UNSEEN).for_each(|seen| *seen = source);
                }
            }
        }
        Ok(())
    }

    /// The source documents of blocks.
    fn sources(&mut self, known: &[Option<BlockId>]) -> Result<Vec<Option<u32>>> {
        known.iter().map(|block| block.map(|block| self.source(block)).transpose()).collect()
    }

    /// Stores the blocks of kept text and the fingerprints of all units.
    fn add_to_store(&mut self, origin: &Origin<'_>, verdict: &Verdict, kept: &[bool], known_whole: bool) -> Result<()> {
        let text = self.text;
        let ngram = self.rule.ngram;
        if known_whole {
            return Ok(());
        }
        let is_kept = |at: usize| kept[at] && kept[at + ngram - 1];
        // A line of asterisks has no words but needs a source document like any other unit.
        let is_bare = |unit: &Unit| unit.words().is_empty() && unit.hash.is_some();
        let mut judged = text.paragraphs.iter().zip(&verdict.paragraphs);
        let has_bare = judged.any(|(unit, unit_verdict)| is_bare(unit) && unit_verdict.duplicate.is_none());
        let mut first_block = None;
        let known = self.scratch.block_counts.clone();
        let mut selected_grams = text.selected_grams.iter().zip(known).peekable();
        for start in (0..text.words.max(1)).step_by(BLOCK_GRAMS) {
            let end = start + BLOCK_GRAMS;
            let has_kept = kept.iter().skip(start).take(BLOCK_GRAMS).any(|kept| *kept);
            let is_wanted = has_kept || (start == 0 && has_bare);
            if !is_wanted {
                while selected_grams.next_if(|(at, _)| (**at as usize) < end).is_some() {}
                continue;
            }
            let grams = &mut self.scratch.grams;
            grams.clear();
            grams.extend((start..end.min(text.grams.len())).filter(|at| is_kept(*at)).map(|at| short(text.grams[at])));
            grams.sort_unstable();
            grams.dedup();
            let block = self.store.add(origin.name.as_bytes(), &self.scratch.grams)?;
            first_block = first_block.or(Some(block));
            while let Some((at, known)) = selected_grams.next_if(|(at, _)| (**at as usize) < end) {
                if (known as usize) < COMMON_BLOCKS && is_kept(*at as usize) {
                    self.insert_fingerprint(text.grams[*at as usize], block)?;
                }
            }
        }
        self.insert_units(verdict, first_block)?;
        let page = origin.page.filter(|_| self.rule.levels.has(Level::Page)).map(mix);
        let whole = self.text_hash();
        if let Some(block) = first_block {
            for hash in [page, whole].into_iter().flatten() {
                self.insert_fingerprint(hash, block)?;
            }
        }
        Ok(())
    }

    /// Stores a fingerprint once per document: a line may be repeated a thousand times.
    fn insert_fingerprint(&mut self, hash: u64, block: BlockId) -> Result<()> {
        let fingerprint = self.lookup.fingerprint(hash);
        if self.scratch.own.insert(fingerprint) { self.store.insert(fingerprint, block) } else { Ok(()) }
    }

    /// Stores fingerprints of whole units, so that a copy of a copy is attributed to the original document.
    fn insert_units(&mut self, verdict: &Verdict, first_block: Option<BlockId>) -> Result<()> {
        let text = self.text;
        let paragraphs = if self.rule.levels.has(Level::Paragraph) { &text.paragraphs[..] } else { &[] };
        let sentences = text.sentences.iter().zip(&verdict.sentences);
        // An edited unit is attributed to the document it was copied from. It gets a block of the current day, because
        // truncating the store removes blocks by day.
        let mut owners: Vec<(u32, BlockId)> = Vec::new();
        for (unit, unit_verdict) in paragraphs.iter().zip(&verdict.paragraphs).chain(sentences) {
            let (Some(hash), false) = (unit.hash, unit_verdict.duplicate == Some(MatchKind::Exact)) else { continue };
            let source = unit_verdict.of.filter(|_| unit_verdict.duplicate.is_some());
            let owner = match (source, owners.iter().find(|(known, _)| Some(*known) == source)) {
                (None, _) => first_block,
                (Some(_), Some((_, block))) => Some(*block),
                (Some(source), None) => {
                    let block = self.store.add(verdict.sources[source as usize].as_bytes(), &[])?;
                    owners.push((source, block));
                    Some(block)
                }
            };
            let Some(block) = owner else { continue };
            self.insert_fingerprint(hash, block)?;
            // The selected n-grams of kept units are stored with their block.
            if let Some(at) = unit.selected_gram.filter(|at| source.is_some() && self.block_count(*at) < COMMON_BLOCKS)
            {
                self.insert_fingerprint(text.grams[at as usize], block)?;
            }
        }
        Ok(())
    }
}

fn hit(candidates: &mut Vec<Candidate>, block: BlockId, has_unit: bool) {
    match candidates.iter_mut().find(|candidate| candidate.block == block) {
        Some(candidate) => {
            candidate.hits += 1;
            candidate.has_unit |= has_unit;
        }
        None => candidates.push(Candidate { block, hits: 1, has_unit }),
    }
}
