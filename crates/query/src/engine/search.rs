//! Compiled queries: hits in the order of time, pages, samples, counts.

use super::compiled::CompiledQuery;
use super::document_hits::DocumentHits;
use super::find::Finder;
use super::memory::Reserved;
use super::nfa::SeedSource;
use super::parallel::{self, Block};
use super::scope::Scope;
use super::set::LexemeSet;
use super::{Counted, Engine, Limits};
use crate::cql::MatchRule;
use crate::cql::ast::Query;
use crate::filter::CompiledFilter;
use crate::merge::Merge;
use crate::question::{Explanation, WholeCorpus, sample_rank};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::ops::{ControlFlow, Range};
use std::sync::{Arc, OnceLock};
use tidings_index::{Day, Segment};

/// A hit: tokens of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hit {
    /// The index of the segment in the snapshot.
    pub segment: u32,
    /// Its first token.
    pub start: u32,
    /// The position after its last token.
    pub end: u32,
}

choices! {
    /// The order of hits and documents in time. Those of one day come in the order of writing, or in the opposite one.
    pub enum Order {
        /// The newest day first.
        Newest = "newest",
        /// The oldest day first.
        Oldest = "oldest",
    }
}

impl Default for Order {
    fn default() -> Order {
        Order::ALL[0]
    }
}

/// The number of seed positions in the first window, and the maximum in later windows.
const FIRST_WINDOW: u64 = 1 << 12;
const MAX_WINDOW: u64 = 1 << 18;
/// The minimum number of tokens of a window.
const MIN_WINDOW_TOKENS: u64 = 1 << 16;

/// For each segment the start and end of the last hit that is kept; none if no hit of the segment is.
type LastHits = Vec<Option<(u32, u32)>>;

/// A query compiled for a snapshot of an index.
pub struct Search<'e> {
    pub(crate) engine: &'e Engine,
    query: String,
    pub(crate) compiled: CompiledQuery,
    rule: MatchRule,
    filter: Option<CompiledFilter>,
    scopes: Vec<OnceLock<Scope>>,
    /// The number of hits that are kept, the oldest first.
    cut: Option<u64>,
    /// For each segment the last hit that is kept, as start and end; computed on first use. Nothing if a limit stopped it.
    cut_at: OnceLock<Option<LastHits>>,
    /// What a shard is told of the corpus.
    whole: Option<Arc<WholeCorpus>>,
    /// True if the documents were selected by the caller.
    is_restricted: bool,
    /// The memory of the sets.
    _memory: Reserved,
}

impl<'e> Search<'e> {
    pub(crate) fn new(
        engine: &'e Engine,
        query: &Query,
        compiled: CompiledQuery,
        rule: MatchRule,
        filter: Option<CompiledFilter>,
        memory: Reserved,
    ) -> Search<'e> {
        let scopes = engine.snapshot().segments().iter().map(|_| OnceLock::new()).collect();
        let (cut, query) = (query.cut, query.to_string());
        let (is_restricted, cut_at) = (false, OnceLock::new());
        let whole = None;
        Search { engine, query, compiled, rule, filter, scopes, cut, cut_at, whole, is_restricted, _memory: memory }
    }

    /// The same search in a shard of a corpus.
    pub(crate) fn of_whole(self, whole: Arc<WholeCorpus>) -> Search<'e> {
        Search { whole: Some(whole), ..self }
    }

    /// What a shard is told of the corpus.
    pub(crate) fn whole(&self) -> Option<&WholeCorpus> {
        self.whole.as_deref()
    }

    /// The same search in other documents, given for each segment.
    pub(crate) fn among(self, scopes: Vec<Scope>) -> Search<'e> {
        Search {
            scopes: scopes.into_iter().map(OnceLock::from).collect(),
            is_restricted: true,
            cut_at: OnceLock::new(),
            ..self
        }
    }

    /// The engine that compiled it.
    pub fn engine(&self) -> &'e Engine {
        self.engine
    }

    /// The rule that chooses among matches that start at one position.
    pub fn rule(&self) -> MatchRule {
        self.rule
    }

    pub(crate) fn segment(&self, index: usize) -> &'e Segment {
        self.engine.snapshot().segments()[index].segment()
    }

    pub(crate) fn segments(&self) -> usize {
        self.scopes.len()
    }

    pub(crate) fn scope(&self, index: usize) -> &Scope {
        self.scopes[index].get_or_init(|| Scope::new(&self.engine.snapshot().segments()[index], self.filter.as_ref()))
    }

    /// The test of a query that is a single token without restrictions.
    pub(crate) fn only_test(&self) -> Option<&LexemeSet> {
        let is_free = self.compiled.conditions.is_empty() && self.compiled.expansion.is_none() && self.cut.is_none();
        match self.compiled.nfa.linear.as_deref() {
            Some([test]) if is_free => Some(&self.compiled.sets[*test]),
            _ => None,
        }
    }

    pub(crate) fn finder<'f>(&'f self, index: usize, limits: &Limits) -> Finder<'f>
    where
        'e: 'f,
    {
        let (segment, scope) = (self.segment(index), Some(self.scope(index)));
        Finder::new(segment, self.engine.lexicon(), &self.compiled, scope, self.rule, limits)
    }

    /// The plan of the search: the lexemes of each token test, and the seeds in each segment.
    pub fn explain(&self) -> Explanation {
        let mut lines = vec![format!("query: {}", self.query)];
        let (nfa, sets) = (&self.compiled.nfa, &self.compiled.sets);
        let name = |test: usize| nfa.tests[test].as_ref().map_or("[]".to_owned(), |test| format!("[{test}]"));
        for (index, (test, set)) in nfa.tests.iter().zip(sets).enumerate() {
            if test.is_some() {
                lines.push(format!("{}: {}", name(index), set.describe(self.engine.lexicon())));
            }
        }
        for index in 0..self.segments() {
            let live = &self.engine.snapshot().segments()[index];
            let documents = self.scope(index).documents();
            let how = match documents.is_empty() {
                true => "no document is selected".to_owned(),
                false => {
                    let finder = self.finder(index, &Limits::default());
                    let source = |source: SeedSource| match source {
                        SeedSource::Test(test) => name(test),
                        SeedSource::Span(spans) => nfa.spans[spans].to_string(),
                        SeedSource::Structure(structure) => format!("<{}/>", structure.name()),
                        SeedSource::Position(first, last) => format!("{first} to {last}"),
                    };
                    finder.plan.explain(source, |driver| finder.restrictions.text_of(driver).to_owned())
                }
            };
            let (first, last) = (Day(live.segment().meta().first_day), Day(live.segment().meta().last_day));
            lines.push(format!("{} ({first} to {last}): {how}", live.file()));
        }
        Explanation { explain: lines }
    }

    /// Passes the hits of one segment in order; returns true if the search was exhaustive.
    pub(crate) fn each_in(
        &self,
        index: usize,
        limits: &Limits,
        each: &mut dyn FnMut(u32, u32) -> ControlFlow<()>,
    ) -> bool {
        self.search_in(index, limits, each) == self.scope(index).documents().end
    }

    /// The same; returns the first document that was not searched to its end, or the end of the documents. Only hits of
    /// documents before it are passed when a limit is reached, so that counts and seen tokens are of the same documents.
    pub(crate) fn search_in(
        &self,
        index: usize,
        limits: &Limits,
        each: &mut dyn FnMut(u32, u32) -> ControlFlow<()>,
    ) -> u32 {
        self.search_range(index, self.scope(index).documents(), limits, each)
    }

    /// The hits in one document, as tokens counted from its beginning.
    pub fn in_document(&self, (index, document): (usize, u32), limits: &Limits) -> Vec<(u32, u32)> {
        let (tokens, mut hits) = (self.segment(index).tokens_of(document), Vec::new());
        let first = tokens.start;
        limits.begin_pass(tokens.len() as u64);
        if self.scope(index).contains(document) {
            self.search_range(index, document..document + 1, limits, &mut |start, end| {
                hits.push((start - first, end - first));
                ControlFlow::Continue(())
            });
        }
        hits
    }

    fn search_range(
        &self,
        index: usize,
        documents: Range<u32>,
        limits: &Limits,
        each: &mut dyn FnMut(u32, u32) -> ControlFlow<()>,
    ) -> u32 {
        if documents.is_empty() {
            return documents.end;
        }
        let cut_at = match self.cut_at(index, limits) {
            Kept::All => (u32::MAX, u32::MAX),
            Kept::UpTo(start, end) => (start, end),
            Kept::None => return documents.end,
            Kept::Unknown => return documents.start,
        };
        let mut finder = self.finder(index, limits);
        let mut each = |start: u32, end: u32| match (start, end) <= cut_at {
            true => each(start, end),
            false => ControlFlow::Continue(()),
        };
        self.search_documents(&mut finder, index, documents, limits, &mut each)
    }

    /// Searches some documents of a segment, before `cut`.
    fn search_documents(
        &self,
        finder: &mut Finder<'_>,
        index: usize,
        documents: Range<u32>,
        limits: &Limits,
        each: &mut dyn FnMut(u32, u32) -> ControlFlow<()>,
    ) -> u32 {
        let scope = self.scope(index);
        let mut windows = Windows::new(finder.segment, documents.clone(), MAX_WINDOW, finder.plan.expected);
        let mut hits = DocumentHits::new(finder.segment, limits);
        while let Some(window) = windows.next_forward() {
            if limits.is_over() {
                return window.start;
            }
            let flow = finder.find(window.clone(), &mut |start, end| hits.push(start, end, each));
            let searched = hits.complete(&window, flow, each);
            limits.saw(scope.tokens_among(finder.segment, window.start..searched));
            if searched < window.end {
                return searched;
            }
        }
        documents.end
    }

    /// Begins a pass over all tokens of the selected documents.
    pub(crate) fn begin_pass(&self, limits: &Limits) {
        limits.begin_pass(self.tokens());
    }

    /// Passes all hits, segment by segment, in each from left to right; returns true if the search was exhaustive.
    pub fn each(&self, limits: &Limits, mut each: impl FnMut(Hit)) -> bool {
        self.begin_pass(limits);
        (0..self.segments()).all(|index| {
            self.each_in(index, limits, &mut |start, end| {
                each(Hit { segment: index as u32, start, end });
                ControlFlow::Continue(())
            })
        })
    }

    /// Counts the hits.
    pub fn count(&self, limits: &Limits) -> Counted {
        self.begin_pass(limits);
        let (mut hits, mut others) = (0, Vec::new());
        for index in 0..self.segments() {
            match self.counted_in_lexicon(index) {
                Some(count) => {
                    hits += count;
                    limits.saw(self.segment(index).tokens().into());
                }
                None => others.push(index),
            }
        }
        let (searched, unfinished) = self.fold_hits(&others, limits, |blocks| {
            let (mut hits, mut unfinished) = (0, 0);
            while let Some(block) = blocks.next() {
                let end = blocks.search(&block, &mut |_, _| {
                    hits += 1;
                    ControlFlow::Continue(())
                });
                unfinished += u64::from(end < block.documents.end);
            }
            (hits, unfinished)
        });
        Counted { hits: hits + searched, complete: unfinished == 0 }
    }

    /// Searches segments on several threads. Each call of `work` searches blocks of documents, in any order, and returns the
    /// sum of what it found.
    pub(super) fn fold_hits<A: Merge + Send>(
        &self,
        segments: &[usize],
        limits: &Limits,
        work: impl Fn(&mut HitBlocks<'_>) -> A + Sync,
    ) -> A {
        let asked: Vec<usize> =
            segments.iter().copied().filter(|index| !self.scope(*index).documents().is_empty()).collect();
        let finders: Vec<(usize, Finder<'_>)> =
            asked.iter().map(|index| (*index, self.finder(*index, limits))).collect();
        let expected: u64 = finders.iter().map(|(_, finder)| finder.plan.expected).sum();
        if limits.threads() == 1 || expected < u64::from(limits.block_tokens() / SEEDS_IN) {
            let whole = |index: usize| Block { index, documents: self.scope(index).documents() };
            let mut blocks = asked.iter().map(|index| whole(*index));
            return work(&mut HitBlocks { search: self, limits, blocks: &mut blocks, finders });
        }
        drop(finders);
        let scopes = asked.iter().map(|index| (self.segment(*index), self.scope(*index)));
        let blocks = parallel::blocks(limits, scopes);
        parallel::fold(limits, blocks.len(), |tasks| {
            let mut blocks = tasks.map(|task| Block { index: asked[blocks[task].index], ..blocks[task].clone() });
            work(&mut HitBlocks { search: self, limits, blocks: &mut blocks, finders: Vec::new() })
        })
    }

    /// Returns true if all documents are selected.
    pub(crate) fn is_unfiltered(&self) -> bool {
        self.filter.is_none() && !self.is_restricted
    }

    /// The number of hits in a segment, if it follows from the stored frequencies.
    fn counted_in_lexicon(&self, index: usize) -> Option<u64> {
        let set = self.only_test()?;
        let scope = self.scope(index);
        let segment = self.segment(index);
        let is_all = scope.is_whole() && scope.documents() == (0..segment.meta().documents);
        is_all.then(|| set.tokens_in(segment))
    }

    /// A page of hits: `size` of them after the first `first`; returns false if a limit was reached before it was full.
    pub fn page(&self, order: Order, first: usize, size: usize, limits: &Limits) -> (Vec<Hit>, bool) {
        let mut page = Vec::with_capacity(size.min(10_000));
        let mut skipped = 0;
        if size == 0 {
            return (page, true);
        }
        let complete = self.in_order(order, limits, &mut |hit| {
            if skipped < first {
                skipped += 1;
                return ControlFlow::Continue(());
            }
            page.push(hit);
            if page.len() == size { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        let is_whole = complete || page.len() == size;
        (page, is_whole)
    }

    /// Passes hits in the order of time until `each` breaks; returns true if the search was exhaustive.
    pub fn in_order(&self, order: Order, limits: &Limits, each: &mut dyn FnMut(Hit) -> ControlFlow<()>) -> bool {
        self.begin_pass(limits);
        self.merge(order, limits, &mut |hit| match self.cut_at(hit.segment as usize, limits) {
            Kept::All => each(hit),
            Kept::UpTo(start, end) if (hit.start, hit.end) <= (start, end) => each(hit),
            // The oldest hits come first: none of the rest is kept.
            Kept::UpTo(..) | Kept::None | Kept::Unknown => ControlFlow::Continue(()),
        })
    }

    /// The hits of a segment that `cut` keeps: a prefix, because documents are sorted by day.
    fn cut_at(&self, index: usize, limits: &Limits) -> Kept {
        let Some(cut) = self.cut else { return Kept::All };
        let last = self.cut_at.get_or_init(|| {
            let mut last = vec![None; self.segments()];
            let mut left = cut;
            let is_all = left == 0
                || self.merge(Order::Oldest, limits, &mut |hit| {
                    last[hit.segment as usize] = Some((hit.start, hit.end));
                    left -= 1;
                    if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                });
            (is_all || left == 0).then_some(last)
        });
        match last {
            Some(last) => last.get(index).copied().flatten().map_or(Kept::None, |(start, end)| Kept::UpTo(start, end)),
            None => Kept::Unknown,
        }
    }

    /// Passes all hits in the order of time, before `cut`.
    fn merge(&self, order: Order, limits: &Limits, each: &mut dyn FnMut(Hit) -> ControlFlow<()>) -> bool {
        // A k-way merge of segments by day; a segment is opened only when its days are reached.
        let mut waiting: Vec<usize> = (0..self.segments()).filter(|index| self.segment(*index).tokens() > 0).collect();
        waiting.sort_by_key(|index| {
            let meta = self.segment(*index).meta();
            match order {
                Order::Newest => (Reverse(meta.last_day), Reverse(*index)).into_key(),
                Order::Oldest => (meta.first_day, *index).into_key(),
            }
        });
        let mut waiting: VecDeque<usize> = waiting.into();
        let mut open: Vec<Stream<'_>> = Vec::new();
        loop {
            if limits.is_over() {
                return false;
            }
            let best = best_of(&mut open, order, limits);
            // A stream that a limit stopped may have had the next hit.
            if limits.cut_off().is_some() {
                return false;
            }
            // A segment that is not open yet may have hits of the same day or of one that comes first.
            let next_day = waiting.front().map(|index| {
                let meta = self.segment(*index).meta();
                Day(if order == Order::Newest { meta.last_day } else { meta.first_day })
            });
            let opens = match (&best, next_day) {
                (_, None) => false,
                (None, Some(_)) => true,
                (Some((day, _)), Some(next)) if order == Order::Newest => next >= *day,
                (Some((day, _)), Some(next)) => next <= *day,
            };
            if opens && let Some(index) = waiting.pop_front() {
                open.push(Stream::new(self, index, order, limits));
                continue;
            }
            match best {
                None => return true,
                Some((_, stream)) => {
                    let hit = open[stream].queue.pop_front().expect("the best stream has a hit");
                    if each(hit.1).is_break() {
                        return false;
                    }
                }
            }
        }
    }

    /// A random sample of hits that depends only on the seed, in the order of time; returns true if the search was
    /// exhaustive.
    pub fn sample(&self, size: usize, seed: u64, limits: &Limits) -> (Vec<Hit>, bool) {
        let (drawn, complete) = self.draw(size, seed, limits);
        let mut hits: Vec<Hit> = drawn.into_iter().map(|(_, hit)| hit).collect();
        self.sort_in_time(&mut hits);
        (hits, complete)
    }

    /// The hits of a random sample with their priorities, in no order: each hit has a hashed priority, and the smallest are
    /// kept in a heap.
    pub(crate) fn draw(&self, size: usize, seed: u64, limits: &Limits) -> (Vec<(u64, Hit)>, bool) {
        self.begin_pass(limits);
        let mut drawn: BinaryHeap<(u64, Hit)> = BinaryHeap::new();
        let mut complete = true;
        for index in 0..self.segments() {
            let segment = self.segment(index);
            let ids = segment.ids();
            let mut document = (0..0, String::new());
            complete &= self.each_in(index, limits, &mut |start, end| {
                if !document.0.contains(&start) {
                    let number = segment.document_at(start);
                    document = (segment.tokens_of(number), format!("{:032x}", ids.get(number as usize).unwrap_or(0)));
                }
                let priority = sample_rank(seed, &document.1, start - document.0.start);
                drawn.push((priority, Hit { segment: index as u32, start, end }));
                if drawn.len() > size {
                    drawn.pop();
                }
                ControlFlow::Continue(())
            });
        }
        (drawn.into_vec(), complete)
    }

    /// Sorts hits by day, and those of one day in the order of segments.
    pub(super) fn sort_in_time(&self, hits: &mut [Hit]) {
        hits.sort_unstable();
        hits.sort_by_cached_key(|hit| self.day_of(hit));
    }

    /// The day of a hit.
    pub(crate) fn day_of(&self, hit: &Hit) -> Day {
        let segment = self.segment(hit.segment as usize);
        segment.day_of(segment.document_at(hit.start))
    }
}

/// A search on several threads pays if one in this many tokens of a block is expected to be a seed.
const SEEDS_IN: u32 = 16;

/// The blocks that one thread searches.
pub(super) struct HitBlocks<'s> {
    search: &'s Search<'s>,
    limits: &'s Limits,
    blocks: &'s mut dyn Iterator<Item = Block>,
    /// The finders of segments: those of blocks that come next, or that of the last block.
    finders: Vec<(usize, Finder<'s>)>,
}

impl HitBlocks<'_> {
    /// The next block.
    pub(super) fn next(&mut self) -> Option<Block> {
        self.blocks.next()
    }

    /// Passes the hits of a block in order; returns the first document that was not searched to its end, or the end.
    pub(super) fn search(&mut self, block: &Block, each: &mut dyn FnMut(u32, u32) -> ControlFlow<()>) -> u32 {
        let (search, limits) = (self.search, self.limits);
        let cut_at = match search.cut_at(block.index, limits) {
            Kept::All => (u32::MAX, u32::MAX),
            Kept::UpTo(start, end) => (start, end),
            Kept::None => return block.documents.end,
            Kept::Unknown => return block.documents.start,
        };
        let mut each = |start: u32, end: u32| match (start, end) <= cut_at {
            true => each(start, end),
            false => ControlFlow::Continue(()),
        };
        let known = self.finders.iter().position(|(index, _)| *index == block.index);
        let at = known.unwrap_or_else(|| {
            self.finders.clear();
            self.finders.push((block.index, search.finder(block.index, limits)));
            0
        });
        let finder = &mut self.finders[at].1;
        search.search_documents(finder, block.index, block.documents.clone(), limits, &mut each)
    }
}

/// The hits of a segment that are kept.
#[derive(Clone, Copy)]
enum Kept {
    All,
    /// Those up to a start and an end.
    UpTo(u32, u32),
    None,
    /// A limit was reached before they were known: no document counts as searched.
    Unknown,
}

/// Sort keys of both orders as one type.
trait IntoKey {
    fn into_key(self) -> (i64, i64);
}

impl IntoKey for (Reverse<i32>, Reverse<usize>) {
    fn into_key(self) -> (i64, i64) {
        (-i64::from(self.0.0), -(self.1.0 as i64))
    }
}

impl IntoKey for (i32, usize) {
    fn into_key(self) -> (i64, i64) {
        (i64::from(self.0), self.1 as i64)
    }
}

/// The stream with the next hit, and the day of that hit.
fn best_of(open: &mut Vec<Stream<'_>>, order: Order, limits: &Limits) -> Option<(Day, usize)> {
    open.retain_mut(|stream| stream.fill(limits));
    let key = |(day, index): (Day, u32)| match order {
        Order::Newest => (-i64::from(day.0), -i64::from(index)),
        Order::Oldest => (i64::from(day.0), i64::from(index)),
    };
    let heads = open.iter().enumerate().filter_map(|(index, stream)| {
        let (day, hit) = stream.queue.front()?;
        Some(((*day, hit.segment), index))
    });
    heads.min_by_key(|(head, _)| key(*head)).map(|((day, _), index)| (day, index))
}

/// The hits of one segment, searched window by window on demand.
struct Stream<'s> {
    index: u32,
    order: Order,
    finder: Finder<'s>,
    windows: Windows<'s>,
    scope: &'s Scope,
    queue: VecDeque<(Day, Hit)>,
}

impl<'s> Stream<'s> {
    fn new(search: &'s Search<'_>, index: usize, order: Order, limits: &Limits) -> Stream<'s> {
        let finder = search.finder(index, limits);
        let scope = search.scope(index);
        let windows = Windows::new(finder.segment, scope.documents(), FIRST_WINDOW, finder.plan.expected);
        Stream { index: index as u32, order, finder, windows, scope, queue: VecDeque::new() }
    }

    /// Fills the queue; returns false if there is no further hit.
    fn fill(&mut self, limits: &Limits) -> bool {
        while self.queue.is_empty() {
            let window = match self.order {
                Order::Newest => self.windows.next_backward(),
                Order::Oldest => self.windows.next_forward(),
            };
            let Some(window) = window else { return false };
            if limits.is_over() {
                return false;
            }
            let segment = self.finder.segment;
            let (index, queue) = (self.index, &mut self.queue);
            let mut days = DayCursor::new(segment, window.start);
            let flow = self.finder.find(window.clone(), &mut |start, end| {
                queue.push_back((days.day_at(start), Hit { segment: index, start, end }));
                ControlFlow::Continue(())
            });
            if flow.is_break() {
                self.queue.clear(); // A limit was reached: the window is incomplete.
                return false;
            }
            limits.saw(self.scope.tokens_among(segment, window));
            if self.order == Order::Newest {
                self.queue.make_contiguous().reverse();
            }
        }
        true
    }
}

/// The days of ascending positions.
pub(crate) struct DayCursor<'s> {
    segment: &'s Segment,
    index: usize,
    end: u32,
}

impl<'s> DayCursor<'s> {
    pub(crate) fn new(segment: &'s Segment, document: u32) -> DayCursor<'s> {
        let index = segment.day_index(document);
        DayCursor { segment, index, end: segment.tokens_in(segment.documents_of_day(index)).end }
    }

    /// The index of the day in the segment.
    #[inline]
    pub(crate) fn index_at(&mut self, position: u32) -> usize {
        while position >= self.end && self.index + 1 < self.segment.days() {
            self.index += 1;
            self.end = self.segment.tokens_in(self.segment.documents_of_day(self.index)).end;
        }
        self.index
    }

    fn day_at(&mut self, position: u32) -> Day {
        let index = self.index_at(position);
        self.segment.day(index)
    }
}

/// Ranges of documents that are searched at once; they grow, so that a first page comes fast.
struct Windows<'s> {
    starts: &'s [u32],
    left: Range<u32>,
    tokens: u64,
    longest: u64,
}

impl<'s> Windows<'s> {
    /// `first` is the number of seed positions that the first window should have, `expected` that of the whole segment.
    fn new(segment: &'s Segment, left: Range<u32>, first: u64, expected: u64) -> Windows<'s> {
        let all = u64::from(segment.tokens());
        let tokens_for = |positions: u64| (all * positions / expected.max(1)).max(MIN_WINDOW_TOKENS);
        Windows { starts: segment.starts(), left, tokens: tokens_for(first), longest: tokens_for(MAX_WINDOW) }
    }

    fn grow(&mut self) -> u32 {
        let tokens = self.tokens.min(u64::from(u32::MAX)) as u32;
        self.tokens = (self.tokens * 2).min(self.longest);
        tokens
    }

    fn next_forward(&mut self) -> Option<Range<u32>> {
        if self.left.is_empty() {
            return None;
        }
        let tokens = self.grow();
        let first = self.left.start;
        let goal = self.starts[first as usize].saturating_add(tokens);
        let end = self.starts[..=self.left.end as usize].partition_point(|start| *start < goal) as u32;
        let end = end.clamp(first + 1, self.left.end);
        self.left.start = end;
        Some(first..end)
    }

    fn next_backward(&mut self) -> Option<Range<u32>> {
        if self.left.is_empty() {
            return None;
        }
        let tokens = self.grow();
        let last = self.left.end;
        let goal = self.starts[last as usize].saturating_sub(tokens);
        let start = self.starts[..=last as usize].partition_point(|start| *start < goal) as u32;
        let start = start.clamp(self.left.start, last - 1);
        self.left.end = start;
        Some(start..last)
    }
}
