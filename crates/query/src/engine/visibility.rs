//! The documents that a reader with limited rights gets to count.
//!
//! A client may not read every document. Three rules keep the text of *hidden* documents from being put together again out of
//! numbers:
//!
//! 1. Whatever depends on the position of a token (queries of more than one token, anchors, collocations, n-grams, sketches,
//!    lines, their order) is computed from the documents that the client may read, [`Engine::readable`].
//! 2. Counts of single words may include hidden documents, but only in whole *groups*: [`GROUP_DOCUMENTS`] hidden documents of
//!    one site, in the order of their arrival. A group is counted if the filter selects all of its documents and all of them
//!    belong to one cell of the answer (one time step, one value of a field); otherwise none of them is.
//! 3. Which documents are in a group follows from metadata alone.
//!
//! So each number depends on hidden text only through sums over whole groups. Filters can be subtracted from each other as
//! often as a client likes: the differences are sums over whole groups again, and never say which document of a group has a
//! word, let alone where. Groups are formed from documents of past days only, so that a document that is added does not change
//! a group that was counted before.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use tidings_index::codec::BitSet;
use tidings_index::{Day, Segment};

use super::scope::Scope;
use super::{Engine, EngineError, Hit, Limits, Result, Search, Subcorpus};
use crate::cql::MatchRule;
use crate::filter::{CompiledFilter, Filter, HitDocuments};
use crate::question::{AVAILABILITY_FIELD, Availability, Privacy};
use crate::trend::Step;

/// The documents of a group.
pub const GROUP_DOCUMENTS: usize = 10;
/// The days after its download in which a document belongs to no group: the rest of its day may still be added.
pub const SETTLING_DAYS: i32 = 2;

/// The cells that an answer counts in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cells<'a> {
    /// One number for all documents.
    One,
    /// One for each time step.
    Steps(Step),
    /// One for each value of a field.
    Field(&'a str),
    /// One for each document.
    Documents,
}

/// The part of the text that an answer is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading<'a> {
    /// Positions of tokens.
    Positions,
    /// Frequencies of single words, in cells.
    Words(Cells<'a>),
}

/// The groups of the documents that count in groups only.
#[derive(Debug)]
pub(crate) struct Groups {
    /// For each segment the group of each document: [`ALONE`], [`NEVER`] or the number of a complete group from 1.
    of: Vec<Vec<u32>>,
    /// For each segment the documents whose lines may not be shown.
    unreadable: Vec<BitSet>,
    count: usize,
}

/// A document that is counted on its own.
const ALONE: u32 = 0;
/// A document that belongs to no complete group and is not counted.
const NEVER: u32 = u32::MAX;

/// What groups depend on, beside the documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct GroupsKey {
    privacy: Privacy,
}

/// The documents that an answer counts.
#[derive(Debug)]
pub struct Selection {
    scopes: Vec<Scope>,
    /// Documents that the filter selects and that the client may read in groups only, or not at all.
    pub hidden: u64,
    /// Those of them that are counted.
    pub counted: u64,
}

impl Selection {
    /// The selected documents as a subcorpus.
    pub fn into_subcorpus(self, limits: Limits) -> Subcorpus {
        Subcorpus { scopes: self.scopes, is_everything: false, limits }
    }

    /// Restricts a search to the selected documents.
    pub fn restrict(self, search: Search<'_>) -> Search<'_> {
        search.among(self.scopes)
    }
}

/// The availability of each document of a segment.
fn availability_of(segment: &Segment, default: Availability) -> impl Fn(u32) -> Availability + '_ {
    let field = segment.field(AVAILABILITY_FIELD);
    let values: Vec<Availability> = field.map_or_else(Vec::new, |field| {
        (0..field.count()).map(|code| Availability::of_field(Some(field.value(code)), default)).collect()
    });
    move |document| match &field {
        Some(field) => values.get(field.code(document) as usize).copied().unwrap_or(Availability::Metadata),
        None => default,
    }
}

impl Engine {
    /// An engine over the documents whose lines a client may see, as if the others were deleted; nothing if it may see all.
    pub fn readable(&self, privacy: Privacy) -> Option<Arc<Engine>> {
        let key = (privacy.default, privacy.lines);
        let mut views = self.readable.lock().expect("no panic while held");
        if let Some((_, view)) = views.iter().find(|(known, _)| *known == key) {
            return view.clone();
        }
        let hidden: Vec<BitSet> = self.unreadable(privacy);
        let view =
            hidden.iter().any(|bits| bits.count() > 0).then(|| Arc::new(Engine::new(self.snapshot.without(&hidden))));
        views.push((key, view.clone()));
        view
    }

    /// For each segment the documents whose lines may not be shown.
    fn unreadable(&self, privacy: Privacy) -> Vec<BitSet> {
        let segments = self.snapshot.segments().iter().map(|live| live.segment());
        let hidden = segments.map(|segment| {
            let availability = availability_of(segment, privacy.default);
            let mut bits = BitSet::new(segment.meta().documents as usize);
            let hidden = (0..segment.meta().documents).filter(|document| !privacy.shows_lines(availability(*document)));
            hidden.for_each(|document| bits.set(document));
            bits
        });
        hidden.collect()
    }

    /// For each segment of a frozen state the documents that a client does not count on their own, by their availability then
    /// or by that of today's corpus. They take no part in answers: groups of the frozen state would differ from today's groups
    /// by single documents, which subtraction would reveal.
    pub fn withheld_of_frozen(&self, privacy: Privacy, today: Option<&Engine>) -> Vec<BitSet> {
        let mut limited_today: HashSet<u128> = HashSet::new();
        for live in today.into_iter().flat_map(|engine| engine.snapshot.segments()) {
            let segment = live.segment();
            let availability = availability_of(segment, privacy.default);
            let limited = |document: &u32| !privacy.counts_alone(availability(*document));
            let ids = segment.ids().all();
            let documents = (0..segment.meta().documents).filter(|document| !live.deleted().get(*document));
            limited_today.extend(documents.filter(limited).filter_map(|document| ids.get(document as usize)));
        }
        let segments = self.snapshot.segments().iter().map(|live| {
            let segment = live.segment();
            let availability = availability_of(segment, privacy.default);
            let mut withheld = BitSet::new(segment.meta().documents as usize);
            for (document, id) in (0..segment.meta().documents).zip(segment.ids().all()) {
                if !live.deleted().get(document)
                    && (!privacy.counts_alone(availability(document)) || limited_today.contains(id))
                {
                    withheld.set(document);
                }
            }
            withheld
        });
        segments.collect()
    }

    /// The groups of the documents that a client may not read on their own; computed on first use.
    fn groups(&self, privacy: Privacy) -> Arc<Groups> {
        let key = GroupsKey { privacy };
        let mut known = self.groups.lock().expect("no panic while held");
        if let Some((_, groups)) = known.iter().find(|(known, _)| *known == key) {
            return groups.clone();
        }
        // Groups of an earlier day are not needed again.
        known.retain(|(known, _)| known.privacy.today == privacy.today);
        let groups = Arc::new(Groups::new(self, privacy));
        known.push((key, groups.clone()));
        groups
    }

    /// The documents with a hit of a search of this engine that a client counts one by one, for `has("…")` of filters; nothing
    /// if a limit stopped the search. A document that counts in groups only has none, whatever its text is: otherwise filters
    /// would select the documents of a group by their text, and not by their metadata alone.
    pub fn hit_documents(&self, search: &Search<'_>, privacy: Privacy, limits: &Limits) -> Option<HitDocuments> {
        let segments = self.snapshot.segments();
        let mut sets: Vec<BitSet> =
            segments.iter().map(|live| BitSet::new(live.segment().meta().documents as usize)).collect();
        // Hits of one document follow each other.
        let mut last = (u32::MAX, 0..0);
        let is_complete = search.each(limits, |Hit { segment, start, .. }| {
            if last.0 != segment || !last.1.contains(&start) {
                let of = segments[segment as usize].segment();
                let document = of.document_at(start);
                last = (segment, of.tokens_of(document));
                sets[segment as usize].set(document);
            }
        });
        let mut found = HashMap::with_capacity(sets.len());
        for (live, hit) in segments.iter().zip(sets) {
            let availability = availability_of(live.segment(), privacy.default);
            let mut alone = BitSet::new(live.segment().meta().documents as usize);
            let counted = hit.iter().filter(|document| privacy.counts_alone(availability(*document)));
            counted.for_each(|document| alone.set(document));
            found.insert(live.file().to_owned(), alone);
        }
        is_complete.then_some(HitDocuments::Segments(found))
    }

    /// A filter with the documents of this engine that have a hit of each query of `has("…")`, for the owner of the corpus.
    pub fn resolved(&self, filter: &Filter, limits: &Limits) -> Result<Filter> {
        filter.resolved(&mut |query| {
            let search = self.search_within(query, MatchRule::default(), None, limits)?;
            let owner = Privacy::owner(Availability::Metadata);
            self.hit_documents(&search, owner, limits).map(Arc::new).ok_or(EngineError::Stopped)
        })
    }

    /// The documents that a filter selects and that take part in an answer to a client.
    pub fn select(&self, filter: Option<&Filter>, privacy: Privacy, reading: Reading<'_>) -> Result<Selection> {
        let groups = self.groups(privacy);
        let filter: Option<CompiledFilter> = filter.map(Filter::compile).transpose()?;
        let segments = self.snapshot.segments();
        let scopes: Vec<Scope> = segments.iter().map(|live| Scope::new(live, filter.as_ref())).collect();
        let cells = match reading {
            Reading::Positions => Cells::One,
            Reading::Words(cells) => cells,
        };
        let mut cells = CellNumbers::new(cells);
        let mut tallies: Vec<Tally> = vec![Tally::default(); groups.count + 1];
        let mut hidden = 0;
        for (index, scope) in scopes.iter().enumerate() {
            let segment = segments[index].segment();
            cells.enter(segment);
            for document in scope.documents().filter(|document| scope.contains(*document)) {
                let group = groups.of[index][document as usize];
                hidden += u64::from(group != ALONE);
                if group != ALONE && group != NEVER {
                    tallies[group as usize].add(cells.cell(segment, document));
                }
            }
        }
        let mut counted = 0;
        let kept = scopes.into_iter().enumerate().map(|(index, scope)| {
            scope.restricted(segments[index].segment(), |document| match groups.of[index][document as usize] {
                ALONE => true,
                NEVER => false,
                group => {
                    let is_readable = || reading != Reading::Positions || !groups.unreadable[index].get(document);
                    let is_kept = tallies[group as usize].is_whole() && is_readable();
                    counted += u64::from(is_kept);
                    is_kept
                }
            })
        });
        let scopes = kept.collect();
        Ok(Selection { scopes, hidden, counted })
    }
}

/// The selected documents of a group, and whether they are in one cell.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    documents: u32,
    cell: u32,
    is_split: bool,
}

impl Tally {
    fn add(&mut self, cell: u32) {
        self.is_split |= self.documents > 0 && self.cell != cell;
        self.cell = cell;
        self.documents += 1;
    }

    fn is_whole(self) -> bool {
        self.documents as usize == GROUP_DOCUMENTS && !self.is_split
    }
}

/// Numbers for the cells of documents.
struct CellNumbers<'a> {
    cells: Cells<'a>,
    numbers: HashMap<String, u32>,
    /// Documents so far, each of which is a cell.
    documents: u32,
    /// The numbers of the days or the values of the segment.
    of_segment: Vec<u32>,
}

impl<'a> CellNumbers<'a> {
    fn new(cells: Cells<'a>) -> CellNumbers<'a> {
        CellNumbers { cells, numbers: HashMap::new(), documents: 0, of_segment: Vec::new() }
    }

    fn number(&mut self, value: String) -> u32 {
        let next = self.numbers.len() as u32;
        *self.numbers.entry(value).or_insert(next)
    }

    fn enter(&mut self, segment: &Segment) {
        self.of_segment = match self.cells {
            Cells::One | Cells::Documents => Vec::new(),
            Cells::Steps(step) => {
                let bins: Vec<String> =
                    (0..segment.days()).map(|day| step.bin_of(segment.day(day).date()).to_string()).collect();
                bins.into_iter().map(|bin| self.number(bin)).collect()
            }
            Cells::Field(name) => match segment.field(name) {
                Some(field) => (0..field.count()).map(|code| self.number(field.value(code).to_owned())).collect(),
                None => vec![self.number(String::new())],
            },
        };
    }

    fn cell(&mut self, segment: &Segment, document: u32) -> u32 {
        let at = match self.cells {
            Cells::One => return 0,
            Cells::Documents => {
                self.documents += 1;
                return self.documents;
            }
            Cells::Steps(_) => segment.day_index(document),
            Cells::Field(name) => segment.field(name).map_or(0, |field| field.code(document) as usize),
        };
        self.of_segment.get(at).copied().unwrap_or(u32::MAX)
    }
}

impl Groups {
    /// Forms the groups: documents below the availability that is counted one by one, by site and availability, in the order
    /// of their arrival.
    fn new(engine: &Engine, privacy: Privacy) -> Groups {
        let segments = engine.snapshot.segments();
        let settled = privacy.today.map_or(Day(i32::MAX), |today| Day(Day::of(today).0 - SETTLING_DAYS));
        let mut of: Vec<Vec<u32>> = Vec::with_capacity(segments.len());
        type Arrival = (Day, u128, usize, u32);
        let mut waiting: BTreeMap<(String, Availability), Vec<Arrival>> = BTreeMap::new();
        for (index, live) in segments.iter().enumerate() {
            let segment = live.segment();
            let (availability, sites) = (availability_of(segment, privacy.default), segment.field("site"));
            let mut numbers = vec![ALONE; segment.meta().documents as usize];
            for document in (0..segment.meta().documents).filter(|document| !live.deleted().get(*document)) {
                let stated = availability(document);
                if privacy.counts_alone(stated) {
                    continue;
                }
                numbers[document as usize] = NEVER;
                let seen = segment.seen(document);
                if seen <= settled {
                    let site = sites.as_ref().map_or("", |sites| sites.of(document)).to_owned();
                    let id = segment.ids().get(document as usize).unwrap_or(0);
                    waiting.entry((site, stated)).or_default().push((seen, id, index, document));
                }
            }
            of.push(numbers);
        }
        let mut count = 0;
        for mut arrivals in waiting.into_values() {
            arrivals.sort_unstable();
            for group in arrivals.chunks_exact(GROUP_DOCUMENTS) {
                count += 1;
                group.iter().for_each(|(_, _, index, document)| of[*index][*document as usize] = count as u32);
            }
        }
        Groups { of, unreadable: engine.unreadable(privacy), count }
    }
}
