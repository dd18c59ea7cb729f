//! Finds hits in one segment.
//!
//! Where every match has a test in it that few tokens pass, the positions of those tokens come from lists or from a scan of
//! the column, and everything else is verified around them. Patterns of one fixed line of tests are verified token by token;
//! all others by a machine that keeps the set of steps it may be at.

use super::nfa::{Assertion, END, Edge, Nfa};
use super::plan::Plan;
use super::restrict::Restrictions;
use super::scope::Scope;
use super::set::LexemeSet;
use super::{Deadline, Limits};
use crate::cql::MatchRule;
use crate::cql::ast::Structure;
use std::ops::{ControlFlow, Range};
use tidings_index::Segment;
use tidings_index::codec::{BitSet, PostingList, TokenColumn, bit, next_bit};

/// A list that is at most so many times as long as another is compared with it.
const COMPARABLE: u64 = 6;
/// So many seeds are looked at together before each is tried.
const PREFETCH: usize = 64;

/// Which ranks of a segment pass a test.
pub(crate) enum RankTest<'a> {
    Any,
    Nothing,
    One(u32),
    Few(Vec<u32>),
    BitSet(BitSet),
    /// As lexemes: dearer to ask, but nothing needs to be prepared.
    Lexemes(&'a BitSet, &'a [u32]),
}

impl<'a> RankTest<'a> {
    /// `many` says whether the test will be asked so often that preparing it pays.
    pub(crate) fn new(set: &'a LexemeSet, segment: &'a Segment, many: bool) -> RankTest<'a> {
        match set {
            LexemeSet::All => RankTest::Any,
            LexemeSet::Few(few) => {
                let ranks = ranks_of(few, segment.lexemes());
                match ranks[..] {
                    [] => RankTest::Nothing,
                    [one] => RankTest::One(one),
                    _ if ranks.len() <= 4 => RankTest::Few(ranks),
                    _ => {
                        let mut bits = BitSet::new(segment.lexemes().len());
                        ranks.iter().for_each(|rank| bits.set(*rank));
                        RankTest::BitSet(bits)
                    }
                }
            }
            LexemeSet::Many(bits) if many => {
                let mut ranks = BitSet::new(segment.lexemes().len());
                let words = ranks.words_mut();
                for (word, lexemes) in words.iter_mut().zip(segment.lexemes().chunks(64)) {
                    for (index, lexeme) in lexemes.iter().enumerate() {
                        *word |= u64::from(bits.get(*lexeme)) << index;
                    }
                }
                RankTest::BitSet(ranks)
            }
            LexemeSet::Many(bits) => RankTest::Lexemes(bits, segment.lexemes()),
        }
    }

    #[inline]
    pub(crate) fn passes(&self, rank: u32) -> bool {
        match self {
            RankTest::Any => true,
            RankTest::Nothing => false,
            RankTest::One(one) => *one == rank,
            RankTest::Few(few) => few.contains(&rank),
            RankTest::BitSet(bits) => bits.get(rank),
            RankTest::Lexemes(bits, lexemes) => lexemes.get(rank as usize).is_some_and(|lexeme| bits.get(*lexeme)),
        }
    }
}

/// The ranks of some lexemes among those of a segment; both ascend.
pub(crate) fn ranks_of(few: &[u32], lexemes: &[u32]) -> Vec<u32> {
    let mut ranks = Vec::with_capacity(few.len());
    let mut from = 0;
    let usual = lexemes.len() / (few.len() + 1) + 1;
    for lexeme in few {
        // From the usual distance on, double the step until it is passed, then halve.
        let mut step = usual;
        while lexemes.get(from + step).is_some_and(|known| known < lexeme) {
            from += step;
            step *= 2;
        }
        let near = &lexemes[from..lexemes.len().min(from + step + 1)];
        let at = near.partition_point(|known| known < lexeme);
        if near.get(at) == Some(lexeme) {
            ranks.push((from + at) as u32);
        }
        from += at;
    }
    ranks
}

/// Looks for hits in one segment.
pub(crate) struct Finder<'a> {
    pub(crate) segment: &'a Segment,
    pub(crate) nfa: &'a Nfa,
    pub(crate) scope: &'a Scope,
    pub(crate) restrictions: Restrictions<'a>,
    pub(crate) rule: MatchRule,
    pub(crate) plan: Plan,
    column: TokenColumn<'a>,
    tests: Vec<RankTest<'a>>,
    /// For assertions on documents: which fulfil them.
    admitted: Vec<Option<BitSet>>,
    run: NfaRun<'a>,
    seeds: Vec<u32>,
}

/// The document that was looked at last.
#[derive(Clone)]
struct DocCursor {
    document: usize,
    tokens: Range<u32>,
}

impl<'a> Finder<'a> {
    pub(crate) fn new(
        segment: &'a Segment,
        nfa: &'a Nfa,
        sets: &'a [LexemeSet],
        scope: &'a Scope,
        restrictions: Restrictions<'a>,
        rule: MatchRule,
        limits: &Limits<'a>,
    ) -> Finder<'a> {
        let plan = Plan::new(nfa, sets, segment, restrictions.sentence_bound());
        let many = plan.expected as usize * 2 > segment.lexemes().len();
        // Where nothing can be found, nothing needs to be prepared.
        let (sets, assertions) = if plan.cannot_match { (&[][..], &[][..]) } else { (sets, &nfa.assertions[..]) };
        let is_needed = |test: usize| match (&nfa.line, &plan.seeds[..]) {
            // What comes from the list of a test need not be tested again.
            (Some(line), [seed]) if !restrictions.has_constraints() && plan.reads_lists() => {
                test != seed.test || line.iter().filter(|other| **other == test).count() > 1
            }
            _ => true,
        };
        let test = |(test, set)| if is_needed(test) { RankTest::new(set, segment, many) } else { RankTest::Any };
        let tests = sets.iter().enumerate().map(test).collect();
        let admitted = assertions.iter().map(|assertion| match assertion {
            Assertion::Admitted(filter) => Some(super::restrict::admitted_bits(segment, filter)),
            _ => None,
        });
        Finder {
            admitted: admitted.collect(),
            run: NfaRun::new(nfa, limits),
            seeds: Vec::new(),
            column: segment.column(),
            segment,
            nfa,
            scope,
            restrictions,
            rule,
            plan,
            tests,
        }
    }

    /// Gives the hits that begin in some documents, from left to right, as first token and the one behind the last.
    pub(crate) fn find(
        &mut self,
        documents: Range<u32>,
        each: &mut dyn FnMut(u32, u32) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let tokens = self.segment.tokens_in(documents.clone());
        if tokens.is_empty() || self.plan.cannot_match {
            return ControlFlow::Continue(());
        }
        let mut seeds = std::mem::take(&mut self.seeds);
        seeds.clear();
        self.plan.positions(self.segment, &self.tests, tokens.clone(), &mut seeds);
        let doc = DocCursor { document: documents.start as usize, tokens: self.segment.tokens_of(documents.start) };
        let result = match (&self.nfa.line, &self.plan.seeds[..]) {
            (Some(line), [seed]) if self.rule_is_moot() => {
                self.find_line(line, seed.nearest, &seeds, tokens, doc, each)
            }
            _ => self.find_any(&seeds, tokens, doc, each),
        };
        self.seeds = seeds;
        result
    }

    /// A line has one length, so that no rule has anything to choose; constraints need the machine.
    fn rule_is_moot(&self) -> bool {
        !self.restrictions.has_constraints()
    }

    fn find_line(
        &self,
        line: &[usize],
        offset: u32,
        seeds: &[u32],
        tokens: Range<u32>,
        mut doc: DocCursor,
        each: &mut dyn FnMut(u32, u32) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let length = line.len() as u32;
        let bits = self.segment.sentence_bits();
        let within_sentence = self.restrictions.within_sentence();
        // Documents begin sentences, so that what lies within a sentence lies within a document.
        let needs_document =
            !(length == 1 || within_sentence) || !self.scope.is_whole() || self.restrictions.need_document();
        // Two lists of about one length are compared with each other; a short one is verified in the column.
        let partner = (0..).zip(line).find_map(|(index, test)| match &self.tests[*test] {
            RankTest::One(rank) if index != offset => {
                let list = self.segment.postings(*rank);
                (u64::from(list.len()) < self.plan.expected * COMPARABLE).then_some((index, list))
            }
            _ => None,
        });
        let compared;
        let seeds = match partner {
            Some((index, list)) => {
                compared = intersect(seeds, offset, &list, index, &tokens);
                &compared[..]
            }
            None => seeds,
        };
        let verified = |index: u32| index == offset || partner.is_some_and(|(known, _)| known == index);
        let others: Vec<(u32, &RankTest<'_>)> = (0..)
            .zip(line)
            .filter(|(index, test)| !verified(*index) && !matches!(self.tests[**test], RankTest::Any))
            .map(|(index, test)| (index, &self.tests[*test]))
            .collect();
        for seed in seeds {
            let Some(start) = seed.checked_sub(offset).filter(|start| *start >= tokens.start) else { continue };
            if !others.iter().all(|(index, test)| test.passes(self.column.get(start + index))) {
                continue;
            }
            let end = start + length;
            if end > tokens.end || within_sentence && next_bit(bits, start + 1, end).is_some() {
                continue;
            }
            if needs_document {
                self.move_to(&mut doc, start);
                let is_inside = doc.tokens.start <= start && end <= doc.tokens.end;
                let is_asked = is_inside && self.scope.contains(doc.document as u32);
                if !is_asked || !self.restrictions.hold(self.segment, doc.document as u32, &doc.tokens, start..end) {
                    continue;
                }
            }
            each(start, end)?;
            if needs_document && self.restrictions.is_over() {
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    }

    #[inline]
    fn move_to(&self, doc: &mut DocCursor, position: u32) {
        if position >= doc.tokens.end {
            let document = self.segment.document_from(doc.document as u32, position) as usize;
            doc.document = document;
            doc.tokens = self.segment.tokens_of(document as u32);
        }
    }

    /// Reads what will be needed soon: loads that do not wait for each other are many times faster than those that do.
    fn prefetch(&self, seeds: &[u32]) {
        let bits = self.segment.sentence_bits();
        let mut sum = 0;
        for seed in seeds {
            sum ^= u64::from(self.column.get(*seed)) ^ bits.get(*seed as usize / 64).copied().unwrap_or(0);
        }
        std::hint::black_box(sum);
    }

    /// Tries every position from which a match may reach one of the seeds.
    fn find_any(
        &mut self,
        seeds: &[u32],
        tokens: Range<u32>,
        mut doc: DocCursor,
        each: &mut dyn FnMut(u32, u32) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let (nearest, farthest) = self.plan.reach();
        let mut next = tokens.start;
        for (index, seed) in seeds.iter().enumerate() {
            if index % PREFETCH == 0 {
                self.prefetch(&seeds[index..seeds.len().min(index + PREFETCH)]);
            }
            self.move_to(&mut doc, *seed);
            // A damaged list may name any position.
            if !doc.tokens.contains(seed) || !self.scope.contains(doc.document as u32) {
                continue;
            }
            let Some(last) = seed.checked_sub(nearest) else { continue };
            let floor = farthest.map_or(doc.tokens.start, |far| seed.saturating_sub(far).max(doc.tokens.start));
            let floor = match self.restrictions.within_sentence() {
                true => floor.max(self.segment.sentence_of(*seed, &doc.tokens).start),
                false => floor,
            };
            for start in floor.max(next)..=last.min(doc.tokens.end - 1) {
                self.try_start(start, &doc, each)?;
                if self.is_over() {
                    return ControlFlow::Break(());
                }
            }
            next = next.max(last.saturating_add(1));
        }
        ControlFlow::Continue(())
    }

    /// Whether the search stopped in the middle because a limit was hit.
    fn is_over(&self) -> bool {
        self.run.is_over() || self.restrictions.is_over()
    }

    /// Gives the hit or hits that begin at a position.
    fn try_start(
        &mut self,
        start: u32,
        doc: &DocCursor,
        each: &mut dyn FnMut(u32, u32) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let limit = match self.restrictions.within_sentence() {
            true => next_bit(self.segment.sentence_bits(), start + 1, doc.tokens.end).unwrap_or(doc.tokens.end),
            false => doc.tokens.end,
        };
        let document = doc.document as u32;
        let (segment, rule) = (self.segment, self.rule);
        let restrictions = &self.restrictions;
        let mut longest = None;
        let mut flow = ControlFlow::Continue(());
        let context = MatchContext {
            segment,
            column: self.column,
            nfa: self.nfa,
            tests: &self.tests,
            admitted: &self.admitted,
            document,
            tokens: doc.tokens.clone(),
        };
        let mut consider = |end: u32, holds: bool| {
            if !holds || !restrictions.hold(segment, document, &doc.tokens, start..end) {
                return ControlFlow::Continue(());
            }
            match rule {
                MatchRule::Shortest => {
                    flow = each(start, end);
                    return ControlFlow::Break(());
                }
                MatchRule::Longest => longest = Some(end),
                MatchRule::All => flow = each(start, end),
            }
            if flow.is_break() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        if restrictions.has_constraints() {
            run_with_labels(&context, start, limit, restrictions, &mut self.run.deadline, &mut consider);
        } else {
            self.run.run(&context, start, limit, &mut |end| consider(end, true));
        }
        if let Some(end) = longest {
            return each(start, end);
        }
        flow
    }
}

/// The seeds, `offset` behind the start of a match, at whose matches a list has the token `index` behind the start.
fn intersect(seeds: &[u32], offset: u32, list: &PostingList<'_>, index: u32, tokens: &Range<u32>) -> Vec<u32> {
    let mut found = Vec::with_capacity(seeds.len());
    let mut left = seeds;
    list.pieces(tokens.start, tokens.end, |piece| {
        let (mut here, mut there) = (0, 0);
        while here < left.len() && there < piece.len() {
            let wanted = u64::from(left[here]) + u64::from(index);
            let known = u64::from(piece[there]) + u64::from(offset);
            if wanted == known {
                found.push(left[here]);
            }
            // No branch that could be guessed wrong: each side moves if it is not ahead.
            here += usize::from(wanted <= known);
            there += usize::from(known <= wanted);
        }
        left = &left[here..];
    });
    found
}

/// What a machine looks at.
pub(crate) struct MatchContext<'s> {
    pub(crate) segment: &'s Segment,
    pub(crate) column: TokenColumn<'s>,
    pub(crate) nfa: &'s Nfa,
    pub(crate) tests: &'s [RankTest<'s>],
    pub(crate) admitted: &'s [Option<BitSet>],
    pub(crate) document: u32,
    pub(crate) tokens: Range<u32>,
}

impl MatchContext<'_> {
    /// Which assertions the place before a position fulfils, as bits.
    fn satisfied(&self, position: u32) -> u32 {
        let mut satisfied = 0;
        for (index, assertion) in self.nfa.assertions.iter().enumerate() {
            let holds = match assertion {
                Assertion::Start(structure) => position < self.tokens.end && self.is_border(*structure, position),
                Assertion::End(structure) => position > self.tokens.start && self.is_border(*structure, position),
                Assertion::Inside(structure) => !self.is_border(*structure, position),
                Assertion::Admitted(_) => self.admitted[index].as_ref().is_some_and(|bits| bits.get(self.document)),
            };
            satisfied |= u32::from(holds) << index;
        }
        satisfied
    }

    fn is_border(&self, structure: Structure, position: u32) -> bool {
        position == self.tokens.start
            || position == self.tokens.end
            || match structure {
                Structure::Sentence => bit(self.segment.sentence_bits(), position),
                Structure::Paragraph => self.segment.paragraphs().contains(position),
                Structure::Document => false,
            }
    }
}

/// Keeps the set of steps that a match may be at.
pub(crate) struct NfaRun<'l> {
    now: Vec<u32>,
    next: Vec<u32>,
    /// When each state was last put into a set, to put it in once.
    stamps: Vec<u32>,
    stamp: u32,
    deadline: Deadline<'l>,
}

impl<'l> NfaRun<'l> {
    pub(crate) fn new(nfa: &Nfa, limits: &Limits<'l>) -> NfaRun<'l> {
        let stamps = vec![0; nfa.states.len()];
        NfaRun { now: Vec::new(), next: Vec::new(), stamps, stamp: 0, deadline: Deadline::new(limits) }
    }

    /// Whether it stopped because a limit was hit.
    pub(crate) fn is_over(&self) -> bool {
        self.deadline.is_over
    }

    /// Gives the ends of all matches that begin at `start` and do not go beyond `limit`, the nearest first.
    pub(crate) fn run(
        &mut self,
        context: &MatchContext<'_>,
        start: u32,
        limit: u32,
        each: &mut dyn FnMut(u32) -> ControlFlow<()>,
    ) {
        let nfa = context.nfa;
        let has_assertions = !nfa.assertions.is_empty();
        let mut satisfied = if has_assertions { context.satisfied(start) } else { 0 };
        self.next.clear();
        self.advance();
        self.enter(&nfa.first, satisfied);
        let mut position = start;
        while !self.next.is_empty() && position < limit && self.deadline.tick() {
            std::mem::swap(&mut self.now, &mut self.next);
            self.next.clear();
            self.advance();
            let rank = context.column.get(position);
            position += 1;
            satisfied = if has_assertions { context.satisfied(position) } else { 0 };
            let mut is_end = false;
            for index in 0..self.now.len() {
                let state = self.now[index] as usize;
                if context.tests[nfa.states[state].test].passes(rank) {
                    is_end |= self.enter(&nfa.follow[state], satisfied);
                }
            }
            if is_end && each(position).is_break() {
                return;
            }
        }
    }

    fn advance(&mut self) {
        self.stamp = match self.stamp.checked_add(1) {
            Some(stamp) => stamp,
            None => {
                self.stamps.fill(0);
                1
            }
        };
    }

    /// Adds the steps that edges lead to; says whether one leads to the end.
    #[inline]
    fn enter(&mut self, edges: &[Edge], satisfied: u32) -> bool {
        let mut is_end = false;
        for edge in edges {
            if edge.assertions & !satisfied != 0 {
                continue;
            }
            if edge.to == END {
                is_end = true;
            } else if self.stamps[edge.to as usize] != self.stamp {
                self.stamps[edge.to as usize] = self.stamp;
                self.next.push(edge.to);
            }
        }
        is_end
    }
}

/// The same for queries that compare labelled tokens: each way is kept with what its labels stand for.
fn run_with_labels(
    context: &MatchContext<'_>,
    start: u32,
    limit: u32,
    restrictions: &Restrictions<'_>,
    deadline: &mut Deadline<'_>,
    each: &mut dyn FnMut(u32, bool) -> ControlFlow<()>,
) {
    type Way = (u32, Vec<Option<u32>>);
    let nfa = context.nfa;
    let enter = |edges: &[Edge], satisfied: u32, labels: &[Option<u32>], next: &mut Vec<Way>| {
        let mut is_end = false;
        for edge in edges.iter().filter(|edge| edge.assertions & !satisfied == 0) {
            if edge.to == END {
                is_end = true;
            } else {
                next.push((edge.to, labels.to_vec()));
            }
        }
        is_end
    };
    let mut next: Vec<Way> = Vec::new();
    enter(&nfa.first, context.satisfied(start), &vec![None; nfa.labels.len()], &mut next);
    let mut position = start;
    while !next.is_empty() && position < limit {
        next.sort_unstable();
        next.dedup();
        let now = std::mem::take(&mut next);
        let rank = context.column.get(position);
        let satisfied = context.satisfied(position + 1);
        let mut holds = false;
        for (state, mut labels) in now {
            let state = state as usize;
            if !deadline.tick() {
                return;
            }
            if !context.tests[nfa.states[state].test].passes(rank) {
                continue;
            }
            if let Some(label) = nfa.states[state].label {
                labels[label] = Some(position);
            }
            if enter(&nfa.follow[state], satisfied, &labels, &mut next) {
                holds |= restrictions.constraints_hold(context.segment, &nfa.labels, &labels);
            }
        }
        position += 1;
        if holds && each(position, true).is_break() {
            return;
        }
    }
}
