//! The judge: one document after the other, in the order of time.
//!
//! ```text
//! keys of the document ──▶ pieces that share some ──▶ words seen there ──▶ the rule ──▶ verdict
//!                                                          what is kept is remembered ◀──┘
//! ```

use std::collections::{HashMap, HashSet};

use crate::error::Result;
use crate::hash::mix;
use crate::keys::{KEY_BITS, PieceNumber};
use crate::memory::{Memory, Sealed};
use crate::pieces::{PIECE_GRAMS, Piece, short};
use crate::rule::{Evidence, Level, Rule, UNSEEN};
use crate::scope::{Origin, Scope};
use crate::units::{Text, Unit};
use crate::verdict::{Finding, Verdict, Why};

/// Pieces that one stretch of text is compared with, besides those that have a unit of it word for word.
const CANDIDATES: usize = 12;
/// An anchor that so many pieces have is a phrase that everybody uses: it leads nowhere and is not remembered
/// again. What is copied is kept but once.
pub(crate) const COMMON: usize = 3;
/// A document of which so many units have an anchor that leads nowhere is new.
const SURE_UNITS: usize = 5;

/// Judges documents against what was seen before them, and remembers them.
pub struct Judge {
    rule: Rule,
    scope: Scope,
    memory: Memory,
    work: Work,
}

/// What is used for every document and kept for the next.
#[derive(Default)]
struct Work {
    found: Vec<PieceNumber>,
    /// For each anchor, how many pieces have it.
    known: Vec<u32>,
    /// Anchors with the pieces that they lead to.
    hits: Vec<(u32, PieceNumber)>,
    candidates: Vec<Candidate>,
    short: Vec<(u32, u32)>,
    grams: Vec<u32>,
    piece: Piece,
    /// The pieces that were read for this document, and whose they are.
    read: HashMap<PieceNumber, u32>,
    /// The places of documents among the sources, by name.
    names: HashMap<String, u32>,
    /// The keys of this document that were remembered.
    own: HashSet<u64>,
}

#[derive(Debug, Clone, Copy)]
struct Candidate {
    piece: PieceNumber,
    hits: u32,
    has_unit: bool,
}

impl Judge {
    /// A judge with a memory.
    pub fn new(rule: Rule, scope: Scope, memory: Memory) -> Judge {
        Judge { rule, scope, memory, work: Work::default() }
    }

    /// What it remembers.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Writes down what it remembers.
    pub fn seal(self) -> Result<Sealed> {
        self.memory.seal()
    }

    /// Judges a document and remembers it. Documents come in the order of time.
    pub fn judge(&mut self, text: &Text, origin: &Origin<'_>) -> Result<Verdict> {
        self.memory.turn_to(origin.day);
        let place = Place { salt: self.scope.salt(origin), first: self.first(origin.day) };
        let mut case =
            Case { rule: self.rule, place, memory: &mut self.memory, work: &mut self.work, text, sources: Vec::new() };
        case.work.read.clear();
        case.work.names.clear();
        case.work.own.clear();
        let whole = case.whole(origin)?;
        let mut verdict = match whole {
            Some((why, of)) => case.all(why, of),
            None => case.parts()?,
        };
        verdict.sources = std::mem::take(&mut case.sources);
        let kept = kept_words(text, &verdict);
        verdict.words = text.words;
        verdict.removed = kept.iter().filter(|kept| !**kept).count();
        case.remember(origin, &verdict, &kept, whole.is_some())?;
        Ok(verdict)
    }

    fn first(&self, day: i64) -> PieceNumber {
        match self.scope {
            Scope::Days(days) => self.memory.first_since(day - i64::from(days)),
            _ => 0,
        }
    }
}

/// Where a document looks for its like.
#[derive(Clone, Copy)]
struct Place {
    salt: u64,
    first: PieceNumber,
}

impl Place {
    fn key(self, number: u64) -> u64 {
        mix(number ^ self.salt) >> (64 - KEY_BITS)
    }
}

/// One document before the judge.
struct Case<'a> {
    rule: Rule,
    place: Place,
    memory: &'a mut Memory,
    work: &'a mut Work,
    text: &'a Text,
    sources: Vec<String>,
}

/// Which words are in no duplicate.
fn kept_words(text: &Text, verdict: &Verdict) -> Vec<bool> {
    let mut kept = vec![true; text.words];
    let paragraphs = text.paragraphs.iter().zip(&verdict.paragraphs);
    for (unit, finding) in paragraphs.chain(text.sentences.iter().zip(&verdict.sentences)) {
        if finding.duplicate.is_some() {
            kept[unit.words()].fill(false);
        }
    }
    kept
}

impl Case<'_> {
    fn look_up(&mut self, number: u64) -> Result<()> {
        self.memory.look_up(self.place.key(number), self.place.first, &mut self.work.found)
    }

    /// What the whole text is known by, where that counts: a document too short for n-grams is still a copy
    /// of its like.
    fn text_key(&self) -> Option<u64> {
        let counts = self.rule.levels.has(Level::Text) || self.rule.levels.has(Level::Document);
        (counts && self.text.words > 0).then_some(self.text.key)
    }

    /// Whether the page or the whole text was seen, and where.
    fn whole(&mut self, origin: &Origin<'_>) -> Result<Option<(Why, u32)>> {
        let page = origin.page.filter(|_| self.rule.levels.has(Level::Page)).map(|page| (Why::Page, mix(page)));
        let text = self.text_key().map(|key| (Why::Text, key));
        for (why, key) in [page, text].into_iter().flatten() {
            self.look_up(key)?;
            if let Some(piece) = self.work.found.first().copied() {
                let source = self.source(piece)?;
                return Ok(Some((why, source)));
            }
        }
        Ok(None)
    }

    /// Everything is a duplicate for the same reason.
    fn all(&self, why: Why, of: u32) -> Verdict {
        let finding = Finding { duplicate: Some(why), share: 1.0, of: Some(of).filter(|of| *of != UNSEEN) };
        Verdict {
            paragraphs: vec![finding; self.text.paragraphs.len()],
            sentences: vec![finding; self.text.sentences.len()],
            ..Verdict::default()
        }
    }

    /// The place of the document that a piece comes from.
    fn source(&mut self, number: PieceNumber) -> Result<u32> {
        if let Some(source) = self.work.read.get(&number) {
            return Ok(*source);
        }
        let source = match self.memory.piece(number, &mut self.work.piece)? {
            true => self.name_source(),
            false => UNSEEN,
        };
        self.work.read.insert(number, source);
        Ok(source)
    }

    /// The place of the document that the piece in hand comes from.
    fn name_source(&mut self) -> u32 {
        let Work { piece, names, .. } = &mut *self.work;
        let name = String::from_utf8_lossy(piece.name());
        if let Some(at) = names.get(&*name) {
            return *at;
        }
        let at = self.sources.len() as u32;
        names.insert(name.clone().into_owned(), at);
        self.sources.push(name.into_owned());
        at
    }

    fn parts(&mut self) -> Result<Verdict> {
        let text = self.text;
        let levels = self.rule.levels;
        let mut evidence = Evidence { seen_in: vec![UNSEEN; text.words] };
        self.look_up_anchors()?;
        // Which units are known word for word, and by which piece.
        let paragraphs = if levels.has(Level::Paragraph) { &text.paragraphs[..] } else { &[] };
        let known_paragraphs = self.known(paragraphs)?;
        let known_sentences = self.known(&text.sentences)?;
        let units = [(paragraphs, &known_paragraphs), (&text.sentences[..], &known_sentences)];
        let mut hits = 0;
        for start in (0..text.grams.len()).step_by(PIECE_GRAMS) {
            let end = (start + PIECE_GRAMS).min(text.grams.len());
            self.work.candidates.clear();
            for (units, known) in units {
                let first = units.partition_point(|unit| (unit.start as usize) < start);
                let last = units.partition_point(|unit| (unit.start as usize) < end);
                let known = known[first..last].iter().flatten();
                known.for_each(|piece| hit(&mut self.work.candidates, *piece, true));
            }
            while let Some((at, piece)) = self.work.hits.get(hits).copied().filter(|(at, _)| (*at as usize) < end) {
                hit(&mut self.work.candidates, piece, false);
                hits += 1;
                debug_assert!(at as usize >= start);
            }
            self.compare(start..end, &mut evidence)?;
        }
        let exact_paragraphs = self.sources(&known_paragraphs)?;
        let exact_sentences = self.sources(&known_sentences)?;
        let exact = [(paragraphs, &exact_paragraphs[..]), (&text.sentences[..], &exact_sentences[..])];
        evidence.weigh(&self.rule, self.sources.len(), exact);
        let mut verdict = Verdict::default();
        if levels.has(Level::Document) {
            let whole =
                Unit { paragraph: 0, start: 0, end: text.words as u32, from: 0, to: 0, key: None, anchor: None };
            let finding = evidence.judge(&self.rule, &[whole], &[None])[0];
            if finding.duplicate.is_some() {
                let finding = Finding { duplicate: Some(Why::Document), ..finding };
                verdict.paragraphs = vec![finding; text.paragraphs.len()];
                verdict.sentences = vec![finding; text.sentences.len()];
                return Ok(verdict);
            }
        }
        verdict.paragraphs = match levels.has(Level::Paragraph) {
            true => evidence.judge(&self.rule, paragraphs, &exact_paragraphs),
            false => vec![Finding::default(); text.paragraphs.len()],
        };
        verdict.sentences = evidence.judge(&self.rule, &text.sentences, &exact_sentences);
        for (unit, finding) in text.sentences.iter().zip(&mut verdict.sentences) {
            let around = verdict.paragraphs[unit.paragraph as usize];
            if around.duplicate.is_some() {
                *finding = around;
            }
        }
        Ok(verdict)
    }

    /// Finds out which anchors are known, and where they lead. Most documents are new: where none of the
    /// units' own anchors leads anywhere, the others are not asked for.
    fn look_up_anchors(&mut self) -> Result<()> {
        let text = self.text;
        self.work.known.clear();
        self.work.known.resize(text.anchors.len(), 0);
        self.work.hits.clear();
        let own = text.paragraphs.iter().chain(&text.sentences).filter_map(|unit| unit.anchor);
        let mut own: Vec<usize> = own.filter_map(|at| text.anchors.binary_search(&at).ok()).collect();
        own.sort_unstable();
        own.dedup();
        for place in &own {
            self.look_up_anchor(*place)?;
        }
        let is_new = own.len() >= SURE_UNITS && self.work.hits.is_empty();
        if !is_new {
            for place in (0..text.anchors.len()).filter(|place| own.binary_search(place).is_err()) {
                self.look_up_anchor(place)?;
            }
            self.work.hits.sort_unstable();
        }
        Ok(())
    }

    fn look_up_anchor(&mut self, place: usize) -> Result<()> {
        let at = self.text.anchors[place];
        self.look_up(self.text.grams[at as usize])?;
        let Work { found, known, hits, .. } = &mut *self.work;
        known[place] = found.len() as u32;
        if found.len() < COMMON {
            hits.extend(found.iter().map(|piece| (at, *piece)));
        }
        Ok(())
    }

    /// How many pieces have the anchor that begins at a word.
    fn known_anchor(&self, at: u32) -> usize {
        self.text.anchors.binary_search(&at).map_or(0, |place| self.work.known[place] as usize)
    }

    /// The pieces that have units word for word.
    fn known(&mut self, units: &[Unit]) -> Result<Vec<Option<PieceNumber>>> {
        units
            .iter()
            .map(|unit| {
                let Some(key) = unit.key else { return Ok(None) };
                // Where the anchor is unknown the unit is, and need not be looked for.
                if unit.anchor.is_some_and(|at| self.known_anchor(at) == 0) {
                    return Ok(None);
                }
                self.look_up(key)?;
                Ok(self.work.found.first().copied())
            })
            .collect()
    }

    /// Finds the n-grams of a stretch in the most promising pieces.
    fn compare(&mut self, stretch: std::ops::Range<usize>, evidence: &mut Evidence) -> Result<()> {
        if self.work.candidates.is_empty() || stretch.is_empty() {
            return Ok(());
        }
        self.work.candidates.sort_unstable_by_key(|candidate| (std::cmp::Reverse(candidate.hits), candidate.piece));
        let mut others = 0;
        self.work.candidates.retain(|candidate| {
            others += usize::from(!candidate.has_unit);
            candidate.has_unit || others <= CANDIDATES
        });
        self.work.short.clear();
        let grams = self.text.grams[stretch.clone()].iter().zip(stretch.start as u32..);
        self.work.short.extend(grams.map(|(gram, at)| (short(*gram), at)));
        self.work.short.sort_unstable();
        for at in 0..self.work.candidates.len() {
            let number = self.work.candidates[at].piece;
            if !self.memory.piece(number, &mut self.work.piece)? {
                continue;
            }
            let source = self.name_source();
            self.work.read.insert(number, source);
            let Work { piece, grams, short, .. } = &mut *self.work;
            piece.grams(grams);
            let mut own = short.iter().peekable();
            for gram in &*grams {
                while own.next_if(|(known, _)| known < gram).is_some() {}
                while let Some((_, place)) = own.next_if(|(known, _)| known == gram) {
                    let words = *place as usize..*place as usize + self.rule.ngram;
                    // The piece with the most hits comes first, and what it has is its.
                    evidence.seen_in[words].iter_mut().filter(|seen| **seen == UNSEEN).for_each(|seen| *seen = source);
                }
            }
        }
        Ok(())
    }

    /// The documents that pieces come from.
    fn sources(&mut self, known: &[Option<PieceNumber>]) -> Result<Vec<Option<u32>>> {
        known.iter().map(|piece| piece.map(|piece| self.source(piece)).transpose()).collect()
    }

    /// Remembers what was kept, and the keys of everything.
    fn remember(&mut self, origin: &Origin<'_>, verdict: &Verdict, kept: &[bool], known_whole: bool) -> Result<()> {
        let text = self.text;
        let ngram = self.rule.ngram;
        if known_whole {
            return Ok(());
        }
        let is_kept = |at: usize| kept[at] && kept[at + ngram - 1];
        // A line of stars has no words, but must be remembered as somebody's.
        let is_bare = |unit: &Unit| unit.words().is_empty() && unit.key.is_some();
        let mut judged = text.paragraphs.iter().zip(&verdict.paragraphs);
        let has_bare = judged.any(|(unit, finding)| is_bare(unit) && finding.duplicate.is_none());
        let mut first_piece = None;
        let known = self.work.known.clone();
        let mut anchors = text.anchors.iter().zip(known).peekable();
        for start in (0..text.words.max(1)).step_by(PIECE_GRAMS) {
            let end = start + PIECE_GRAMS;
            let has_kept = kept.iter().skip(start).take(PIECE_GRAMS).any(|kept| *kept);
            let is_wanted = has_kept || (start == 0 && has_bare);
            if !is_wanted {
                while anchors.next_if(|(at, _)| (**at as usize) < end).is_some() {}
                continue;
            }
            let grams = &mut self.work.grams;
            grams.clear();
            grams.extend((start..end.min(text.grams.len())).filter(|at| is_kept(*at)).map(|at| short(text.grams[at])));
            grams.sort_unstable();
            grams.dedup();
            let piece = self.memory.add(origin.name.as_bytes(), &self.work.grams)?;
            first_piece = first_piece.or(Some(piece));
            while let Some((at, known)) = anchors.next_if(|(at, _)| (**at as usize) < end) {
                if (known as usize) < COMMON && is_kept(*at as usize) {
                    self.remember_key(text.grams[*at as usize], piece)?;
                }
            }
        }
        self.remember_units(verdict, first_piece)?;
        let page = origin.page.filter(|_| self.rule.levels.has(Level::Page)).map(mix);
        let whole = self.text_key();
        if let Some(piece) = first_piece {
            for key in [page, whole].into_iter().flatten() {
                self.remember_key(key, piece)?;
            }
        }
        Ok(())
    }

    /// Remembers a key, once: the same line may stand in a document a thousand times.
    fn remember_key(&mut self, number: u64, piece: PieceNumber) -> Result<()> {
        let key = self.place.key(number);
        if self.work.own.insert(key) { self.memory.remember(key, piece) } else { Ok(()) }
    }

    /// Remembers units word for word: a copy of a copy is a copy, and of the same document.
    fn remember_units(&mut self, verdict: &Verdict, first_piece: Option<PieceNumber>) -> Result<()> {
        let text = self.text;
        let paragraphs = if self.rule.levels.has(Level::Paragraph) { &text.paragraphs[..] } else { &[] };
        let sentences = text.sentences.iter().zip(&verdict.sentences);
        // What is edited belongs to whom it was copied from. That goes into pieces of today, because what a
        // day has added must be told from what was there before.
        let mut owners: Vec<(u32, PieceNumber)> = Vec::new();
        for (unit, finding) in paragraphs.iter().zip(&verdict.paragraphs).chain(sentences) {
            let (Some(key), false) = (unit.key, finding.duplicate == Some(Why::Exact)) else { continue };
            let source = finding.of.filter(|_| finding.duplicate.is_some());
            let owner = match (source, owners.iter().find(|(known, _)| Some(*known) == source)) {
                (None, _) => first_piece,
                (Some(_), Some((_, piece))) => Some(*piece),
                (Some(source), None) => {
                    let piece = self.memory.add(verdict.sources[source as usize].as_bytes(), &[])?;
                    owners.push((source, piece));
                    Some(piece)
                }
            };
            let Some(piece) = owner else { continue };
            self.remember_key(key, piece)?;
            // The anchor of what is kept is remembered already.
            if let Some(at) = unit.anchor.filter(|at| source.is_some() && self.known_anchor(*at) < COMMON) {
                self.remember_key(text.grams[at as usize], piece)?;
            }
        }
        Ok(())
    }
}

fn hit(candidates: &mut Vec<Candidate>, piece: PieceNumber, has_unit: bool) {
    match candidates.iter_mut().find(|candidate| candidate.piece == piece) {
        Some(candidate) => {
            candidate.hits += 1;
            candidate.has_unit |= has_unit;
        }
        None => candidates.push(Candidate { piece, hits: 1, has_unit }),
    }
}
