//! Finds the hits of a query in one segment.
//!
//! The [`Plan`] chooses seeds: token tests of which every match passes one and that few tokens pass. Their positions come
//! from posting lists or from a scan of the token column, and matches are verified around them. A linear pattern is
//! verified token by token, any other by running the [`Nfa`].

use super::compiled::CompiledQuery;
use super::expanded_hits::ExpandedHits;
use super::labelled_run::match_ends_with_labels;
use super::lexeme_test::LexemeTest;
use super::nfa::{Nfa, SeedSource};
use super::nfa_run::{MatchContext, NfaRun};
use super::plan::Plan;
use super::restrict::{Restrictions, admitted_by};
use super::scope::Scope;
use super::spans::DocumentSpans;
use super::{Deadline, Limits};
use crate::cql::MatchRule;
use crate::cql::ast::{Expansion, RestrictionKind};
use std::cell::RefCell;
use std::ops::{ControlFlow, Range, RangeInclusive};
use tidings_index::Segment;
use tidings_index::codec::{BitSet, PostingList, TokenColumn, next_bit};
use tidings_index::lexicon::Lexicon;

/// A second posting list is intersected with the seeds if it has at most this many times as many positions.
const MAX_INTERSECT_RATIO: u64 = 6;
/// The steps that preparing a test counts for.
const TEST_STEPS: u32 = 1 << 9;
/// The number of seeds whose tokens are prefetched at once.
const PREFETCH: usize = 64;

/// Finds hits in one segment.
pub(crate) struct Finder<'a> {
    pub(crate) segment: &'a Segment,
    pub(crate) nfa: &'a Nfa,
    /// The selected documents; all without one.
    pub(crate) scope: Option<&'a Scope>,
    pub(crate) restrictions: Restrictions<'a>,
    pub(crate) rule: MatchRule,
    pub(crate) plan: Plan,
    column: TokenColumn<'a>,
    tests: Vec<LexemeTest<'a>>,
    /// For each assertion about the document, the documents that satisfy it.
    admitted: Vec<Option<BitSet>>,
    /// The spans of the automaton.
    spans: Vec<RefCell<DocumentSpans<'a>>>,
    run: NfaRun,
    seeds: Vec<u32>,
    /// The ends of the targets that drive the search, by their starts among the seeds.
    target_ends: Vec<u32>,
    /// Every hit lies in one sentence.
    within_sentence: bool,
    expansion: Option<Expansion>,
}

/// The current document; it only moves forward.
#[derive(Clone)]
struct DocCursor {
    document: u32,
    tokens: Range<u32>,
}

impl DocCursor {
    #[inline]
    fn move_to(&mut self, segment: &Segment, position: u32) {
        if position >= self.tokens.end {
            self.document = segment.document_from(self.document, position);
            self.tokens = segment.tokens_of(self.document);
        }
    }
}

impl<'a> Finder<'a> {
    pub(crate) fn new(
        segment: &'a Segment,
        lexicon: &'a Lexicon,
        query: &'a CompiledQuery,
        scope: Option<&'a Scope>,
        rule: MatchRule,
        limits: &Limits,
    ) -> Finder<'a> {
        let (nfa, sets) = (&query.nfa, &query.sets[..]);
        let restrictions = Restrictions::new(&query.conditions, lexicon, segment, limits);
        let within_sentence = restrictions.within_sentence() || nfa.in_sentence;
        let spans = DocumentSpans::all(segment, lexicon, &query.spans, limits);
        let plan = Plan::new(nfa, sets, &spans, segment, within_sentence, &restrictions.drivers());
        let often = plan.expected as usize * 2 > segment.lexemes().len();
        let (sets, assertions) = if plan.cannot_match { (&[][..], &[][..]) } else { (sets, &nfa.assertions[..]) };
        let is_needed = |test: usize| match (&nfa.linear, &plan.seeds[..]) {
            // Positions that come from the posting lists of a test need not be tested again.
            (Some(linear), [seed])
                if !restrictions.has_constraints() && plan.driver.is_none() && plan.reads_lists() =>
            {
                SeedSource::Test(test) != seed.source || linear.iter().filter(|other| **other == test).count() > 1
            }
            _ => true,
        };
        let mut deadline = Deadline::new(limits);
        let test = |(test, set)| match is_needed(test) {
            // No window is searched past a limit.
            true if !deadline.tick_by(TEST_STEPS) => LexemeTest::Nothing,
            true => LexemeTest::new(set, segment, often),
            false => LexemeTest::Any,
        };
        let tests = sets.iter().enumerate().map(test).collect();
        Finder {
            admitted: admitted_by(segment, assertions),
            spans,
            run: NfaRun::new(nfa, limits),
            seeds: Vec::new(),
            target_ends: Vec::new(),
            within_sentence,
            expansion: query.expansion,
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

    /// Passes the hits that start in some documents, from left to right, as start and end. If it is stopped, by `each` or
    /// by a limit, it breaks with the start that it tried last.
    pub(crate) fn find(
        &mut self,
        documents: Range<u32>,
        each: &mut dyn FnMut(u32, u32) -> ControlFlow<()>,
    ) -> ControlFlow<u32> {
        let Some(expansion) = self.expansion else { return self.find_matches(documents, each) };
        let mut hits = ExpandedHits::new(self.segment, expansion, self.rule);
        let flow = self.find_matches(documents, &mut |start, end| hits.push(start, end, each));
        match (hits.pass_on(each), flow) {
            (ControlFlow::Break(start), ControlFlow::Continue(())) => ControlFlow::Break(start),
            (_, flow) => flow,
        }
    }

    /// The same before hits are widened.
    fn find_matches(
        &mut self,
        documents: Range<u32>,
        each: &mut dyn FnMut(u32, u32) -> ControlFlow<()>,
    ) -> ControlFlow<u32> {
        let tokens = self.segment.tokens_in(documents.clone());
        if tokens.is_empty() || self.plan.cannot_match {
            return ControlFlow::Continue(());
        }
        let mut seeds = std::mem::take(&mut self.seeds);
        seeds.clear();
        let doc = DocCursor { document: documents.start, tokens: self.segment.tokens_of(documents.start) };
        if let Some(driver) = self.plan.driver {
            let mut ends = std::mem::take(&mut self.target_ends);
            ends.clear();
            self.restrictions.targets(driver, documents, &mut seeds, &mut ends);
            let result = match self.is_over() {
                true => ControlFlow::Break(tokens.start),
                false => self.find_near_targets(driver, &seeds, &ends, tokens, doc, each),
            };
            (self.seeds, self.target_ends) = (seeds, ends);
            return result;
        }
        let deadline = &mut self.run.deadline;
        if !self.plan.positions(self.segment, &self.tests, &self.spans, documents, deadline, &mut seeds)
            || self.is_over()
        {
            self.seeds = seeds;
            return ControlFlow::Break(tokens.start);
        }
        let result = match (&self.nfa.linear, &self.plan.seeds[..]) {
            // Matches of a linear pattern have one length, so that the match rule has no choice.
            (Some(linear), [seed]) if !self.restrictions.has_constraints() => {
                self.find_linear(linear, seed.nearest, &seeds, tokens, doc, each)
            }
            _ => self.find_any(&seeds, tokens, doc, each),
        };
        self.seeds = seeds;
        result
    }

    fn find_linear(
        &self,
        linear: &[usize],
        offset: u32,
        seeds: &[u32],
        tokens: Range<u32>,
        mut doc: DocCursor,
        each: &mut dyn FnMut(u32, u32) -> ControlFlow<()>,
    ) -> ControlFlow<u32> {
        let length = linear.len() as u32;
        let sentences = self.segment.sentence_bits();
        let within_sentence = self.within_sentence;
        // Documents start sentences: what lies within a sentence lies within a document.
        let needs_document = !(length == 1 || within_sentence)
            || self.scope.is_some_and(|scope| !scope.is_whole())
            || self.restrictions.need_document();
        let second = self.second_list(linear, offset);
        let intersected;
        let seeds = match &second {
            Some((index, list)) => {
                intersected = intersect(seeds, offset, list, *index, &tokens);
                &intersected[..]
            }
            None => seeds,
        };
        let is_verified = |index: u32| index == offset || second.as_ref().is_some_and(|(known, _)| *known == index);
        let others: Vec<(u32, &LexemeTest<'_>)> = (0..)
            .zip(linear)
            .filter(|(index, test)| !is_verified(*index) && !matches!(self.tests[**test], LexemeTest::Any))
            .map(|(index, test)| (index, &self.tests[*test]))
            .collect();
        for seed in seeds {
            let Some(start) = seed.checked_sub(offset).filter(|start| *start >= tokens.start) else { continue };
            if !others.iter().all(|(index, test)| test.passes(self.column.get(start + index))) {
                continue;
            }
            let end = start + length;
            if end > tokens.end || within_sentence && next_bit(sentences, start + 1, end).is_some() {
                continue;
            }
            if needs_document {
                doc.move_to(self.segment, start);
                let is_inside = doc.tokens.start <= start && end <= doc.tokens.end;
                if !is_inside
                    || !self.selects(doc.document)
                    || !self.restrictions.hold(self.segment, doc.document, &doc.tokens, start..end)
                {
                    continue;
                }
                // A restriction that was cut off may admit what it would reject.
                if self.restrictions.is_over() {
                    return ControlFlow::Break(start);
                }
            }
            each(start, end).map_break(|()| start)?;
        }
        ControlFlow::Continue(())
    }

    /// A posting list of another token of a linear pattern that is short enough to be intersected with the seeds; if it is
    /// much longer, looking tokens up in the column is faster.
    fn second_list(&self, linear: &[usize], offset: u32) -> Option<(u32, PostingList<'a>)> {
        (0..).zip(linear).find_map(|(index, test)| match &self.tests[*test] {
            LexemeTest::One(local_id) if index != offset => {
                let list = self.segment.postings(*local_id);
                (u64::from(list.len()) < self.plan.expected * MAX_INTERSECT_RATIO).then_some((index, list))
            }
            _ => None,
        })
    }

    /// Reads tokens and sentence bits that will be needed soon: independent loads overlap, dependent ones do not.
    fn prefetch(&self, seeds: &[u32]) {
        let sentences = self.segment.sentence_bits();
        let mut sum = 0;
        for seed in seeds {
            sum ^= u64::from(self.column.get(*seed)) ^ sentences.get(*seed as usize / 64).unwrap_or(0);
        }
        std::hint::black_box(sum);
    }

    fn selects(&self, document: u32) -> bool {
        self.scope.is_none_or(|scope| scope.contains(document))
    }

    /// Tries every position from which a match can reach a seed.
    fn find_any(
        &mut self,
        seeds: &[u32],
        tokens: Range<u32>,
        doc: DocCursor,
        each: &mut dyn FnMut(u32, u32) -> ControlFlow<()>,
    ) -> ControlFlow<u32> {
        let (nearest, farthest) = self.plan.seed_distance();
        let starts = |_: usize, seed: u32| {
            let floor = farthest.map_or(0, |far| seed.saturating_sub(far));
            seed.checked_sub(nearest).map(|last| floor..=last)
        };
        self.find_from(seeds, starts, tokens, doc, each)
    }

    /// Tries every position from which a match can contain a target, or lie in one.
    fn find_near_targets(
        &mut self,
        driver: usize,
        seeds: &[u32],
        ends: &[u32],
        tokens: Range<u32>,
        doc: DocCursor,
        each: &mut dyn FnMut(u32, u32) -> ControlFlow<()>,
    ) -> ControlFlow<u32> {
        let longest = self.nfa.length.max;
        match self.restrictions.kind_of(driver) {
            RestrictionKind::Containing => {
                let starts = |_: usize, seed: u32| {
                    let floor = longest.map_or(0, |longest| seed.saturating_sub(longest.saturating_sub(1)));
                    Some(floor..=seed)
                };
                self.find_from(seeds, starts, tokens, doc, each)
            }
            RestrictionKind::Within => {
                let starts = |index: usize, seed: u32| Some(seed..=ends[index].max(seed + 1) - 1);
                self.find_from(seeds, starts, tokens, doc, each)
            }
        }
    }

    /// Tries the starts that belong to each seed.
    fn find_from(
        &mut self,
        seeds: &[u32],
        starts: impl Fn(usize, u32) -> Option<RangeInclusive<u32>>,
        tokens: Range<u32>,
        mut doc: DocCursor,
        each: &mut dyn FnMut(u32, u32) -> ControlFlow<()>,
    ) -> ControlFlow<u32> {
        let mut next = tokens.start;
        for (index, seed) in seeds.iter().enumerate() {
            if index % PREFETCH == 0 {
                self.prefetch(&seeds[index..seeds.len().min(index + PREFETCH)]);
            }
            doc.move_to(self.segment, *seed);
            // A damaged posting list may have any position.
            if !doc.tokens.contains(seed) || !self.selects(doc.document) {
                continue;
            }
            let Some((floor, last)) = starts(index, *seed).map(RangeInclusive::into_inner) else { continue };
            let floor = floor.max(doc.tokens.start);
            let floor = match self.within_sentence && floor < *seed {
                true => floor.max(self.segment.sentence_of(*seed, &doc.tokens).start),
                false => floor,
            };
            for start in floor.max(next)..=last.min(doc.tokens.end - 1) {
                self.try_start(start, &doc, each).map_break(|()| start)?;
                if self.is_over() {
                    return ControlFlow::Break(start);
                }
            }
            next = next.max(last.saturating_add(1));
        }
        ControlFlow::Continue(())
    }

    /// Returns true if the search stopped early because a limit was reached.
    pub(crate) fn is_over(&self) -> bool {
        self.run.is_over() || self.restrictions.is_over() || self.spans.iter().any(|spans| spans.borrow().is_over())
    }

    /// The tokens of the labels of a match, by their numbers in the automaton.
    pub(crate) fn labels_of(&mut self, document: u32, start: u32, end: u32) -> Vec<Option<u32>> {
        let context = MatchContext {
            segment: self.segment,
            column: self.column,
            nfa: self.nfa,
            tests: &self.tests,
            admitted: &self.admitted,
            spans: &self.spans,
            document,
            tokens: self.segment.tokens_of(document),
        };
        let mut found = Vec::new();
        let deadline = &mut self.run.deadline;
        match_ends_with_labels(&context, start, end, &self.restrictions, deadline, &mut |at, labels| {
            if at == end {
                found = labels.to_vec();
            }
            ControlFlow::Continue(())
        });
        found
    }

    /// Passes the hit or hits that start at a position.
    fn try_start(
        &mut self,
        start: u32,
        doc: &DocCursor,
        each: &mut dyn FnMut(u32, u32) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let limit = match self.within_sentence {
            true => next_bit(self.segment.sentence_bits(), start + 1, doc.tokens.end).unwrap_or(doc.tokens.end),
            false => doc.tokens.end,
        };
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
            spans: &self.spans,
            document: doc.document,
            tokens: doc.tokens.clone(),
        };
        let mut consider = |end: u32| {
            if !restrictions.hold(segment, doc.document, &doc.tokens, start..end) {
                return ControlFlow::Continue(());
            }
            if restrictions.is_over() {
                return ControlFlow::Break(());
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
            let deadline = &mut self.run.deadline;
            match_ends_with_labels(&context, start, limit, restrictions, deadline, &mut |end, _| consider(end));
        } else {
            self.run.match_ends(&context, start, limit, &mut consider);
        }
        match longest {
            // The longest match may not have been reached.
            Some(_) if self.is_over() => ControlFlow::Break(()),
            Some(end) => each(start, end),
            None => flow,
        }
    }
}

/// Intersects seeds with a posting list: keeps the seeds, `offset` tokens after the start of a match, of matches that have
/// a token of the list `index` tokens after their start.
fn intersect(seeds: &[u32], offset: u32, list: &PostingList<'_>, index: u32, tokens: &Range<u32>) -> Vec<u32> {
    let mut found = Vec::with_capacity(seeds.len());
    let mut left = seeds;
    list.pieces(tokens.start, tokens.end, |piece| {
        let (mut seed, mut posting) = (0, 0);
        while seed < left.len() && posting < piece.len() {
            let seed_position = u64::from(left[seed]) + u64::from(index);
            let list_position = u64::from(piece[posting]) + u64::from(offset);
            if seed_position == list_position {
                found.push(left[seed]);
            }
            // Branch-free merge: each side advances unless it is ahead.
            seed += usize::from(seed_position <= list_position);
            posting += usize::from(list_position <= seed_position);
        }
        left = &left[seed..];
    });
    found
}
