//! Counts hits by day, by the values of their tokens, and by the fields of their documents.

use super::scope::Scope;
use super::search::DayCursor;
use super::set::LexemeSet;
use super::{Engine, Limits, Search, Subcorpus};
use crate::measure::overdispersion_of_neighbours;
use crate::merge::Merge;
use crate::question::{Frequencies, FrequencyRow, Timeline, TimelinePoint};
use crate::trend::{Bin, Step};
use hashbrown::HashMap;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use tidings_index::{Day, Segment};

/// The volume of documents of a day.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DayVolume {
    /// Tokens.
    pub tokens: u64,
    /// Documents.
    pub documents: u64,
    /// The numbers of their sites, ascending. Numbers are the same on all days of one result.
    pub sites: Vec<u32>,
}

/// Hits by day.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DayCounts {
    /// Hits of each day that has some.
    pub hits: BTreeMap<Day, u64>,
    /// Documents with a hit of each day that has some, if they are counted.
    pub documents: BTreeMap<Day, u64>,
    /// Days that were not searched to their end because a limit was reached; they may have more hits.
    pub unseen: BTreeSet<Day>,
}

impl DayCounts {
    /// Adds the hits, and the documents with a hit, of the days of a segment.
    fn add(&mut self, segment: &Segment, counts: Vec<(u64, u64)>) {
        for (day, (hits, documents)) in counts.into_iter().enumerate().filter(|(_, (hits, _))| *hits > 0) {
            *self.hits.entry(segment.day(day)).or_default() += hits;
            if documents > 0 {
                *self.documents.entry(segment.day(day)).or_default() += documents;
            }
        }
    }
}

impl Merge for DayCounts {
    fn merge_from(&mut self, other: DayCounts) {
        self.hits.merge_from(other.hits);
        self.documents.merge_from(other.documents);
        self.unseen.merge_from(other.unseen);
    }
}

/// Counts by the values of a field.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FieldCounts {
    /// The counts of each value.
    pub values: HashMap<String, FieldCount>,
    /// True if the search was exhaustive.
    pub complete: bool,
}

/// The counts of one value of a field.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldCount {
    /// Hits.
    pub hits: u64,
    /// Documents with a hit.
    pub hit_documents: u64,
    /// Tokens of all documents with the value.
    pub tokens: u64,
    /// These documents.
    pub documents: u64,
}

impl Merge for FieldCount {
    fn merge_from(&mut self, other: FieldCount) {
        self.hits += other.hits;
        self.hit_documents += other.hit_documents;
        self.tokens += other.tokens;
        self.documents += other.documents;
    }
}

/// The values of a field in one segment, each with a code.
pub(super) enum Values<'s> {
    Field(tidings_index::segment::Field<'s>),
    Days,
    Texts(Vec<String>),
    Missing,
}

impl<'s> Values<'s> {
    pub(super) fn new(segment: &'s Segment, name: &str) -> Values<'s> {
        let documents = segment.meta().documents;
        let mut texts = Vec::new();
        match name {
            "date" => return Values::Days,
            "seen" => texts.extend((0..documents).map(|document| segment.seen(document).to_string())),
            "id" => texts.extend(segment.ids().all().iter().map(|id| format!("{id:032x}"))),
            "url" | "title" => {
                let read = segment.each_text(|_, url, title| {
                    texts.push(if name == "url" { url } else { title }.to_owned());
                });
                if read.is_err() {
                    texts.resize(documents as usize, String::new()); // The engine reports that it is damaged.
                }
            }
            _ => return segment.field(name).map_or(Values::Missing, Values::Field),
        }
        Values::Texts(texts)
    }

    pub(super) fn count(&self, segment: &Segment) -> usize {
        match self {
            Values::Field(field) => field.count() as usize,
            Values::Days => segment.days(),
            Values::Texts(texts) => texts.len(),
            Values::Missing => 1,
        }
    }

    pub(super) fn code(&self, segment: &Segment, document: u32) -> usize {
        match self {
            Values::Field(field) => field.code(document) as usize,
            Values::Days => segment.day_index(document),
            Values::Texts(_) => document as usize,
            Values::Missing => 0,
        }
    }

    pub(super) fn value(&self, segment: &Segment, code: usize) -> String {
        match self {
            Values::Field(field) => field.value(code as u32).to_owned(),
            Values::Days => segment.day(code).to_string(),
            Values::Texts(texts) => texts.get(code).cloned().unwrap_or_default(),
            Values::Missing => String::new(),
        }
    }
}

impl Search<'_> {
    /// Hits by day.
    pub fn by_day(&self, limits: &Limits) -> DayCounts {
        self.count_days(false, limits)
    }

    /// Hits by day, and documents with a hit if they are asked for: stored counts are of one lexeme, and a document may have
    /// several.
    pub fn count_days(&self, with_documents: bool, limits: &Limits) -> DayCounts {
        self.begin_pass(limits);
        let (mut days, mut others) = (DayCounts::default(), Vec::new());
        for index in 0..self.segments() {
            let segment = self.segment(index);
            let mut counts = vec![(0u64, 0u64); segment.days()];
            match !with_documents && self.count_stored_days(index, &mut counts) {
                true => limits.saw(tokens_in(segment, self.scope(index))),
                false => others.push(index),
            }
            days.add(segment, counts);
        }
        days.merge_from(self.fold_hits(&others, limits, |blocks| {
            let mut days = DayCounts::default();
            while let Some(block) = blocks.next() {
                let (segment, documents) = (self.segment(block.index), block.documents.clone());
                let mut counts = vec![(0u64, 0u64); segment.days()];
                let mut cursor = DayCursor::new(segment, documents.start);
                let mut end = 0;
                let seen = blocks.search(&block, &mut |start, _| {
                    if let Some(count) = counts.get_mut(cursor.index_at(start)) {
                        count.0 += 1;
                        if with_documents && start >= end {
                            end = segment.tokens_of(segment.document_at(start)).end;
                            count.1 += 1;
                        }
                    }
                    ControlFlow::Continue(())
                });
                if seen < documents.end {
                    let unseen = segment.day_index(seen)..=segment.day_index(documents.end - 1);
                    days.unseen.extend(unseen.map(|day| segment.day(day)));
                }
                days.add(segment, counts);
            }
            days
        }));
        days
    }

    /// Adds the counts by day of a segment from stored counts; returns false if its hits must be searched.
    fn count_stored_days(&self, index: usize, counts: &mut [(u64, u64)]) -> bool {
        let (Some(LexemeSet::Few(few)), scope, segment) = (self.only_test(), self.scope(index), self.segment(index))
        else {
            return false;
        };
        let documents = scope.documents();
        if !scope.is_whole() || documents.is_empty() {
            return documents.is_empty();
        }
        let days = segment.day_index(documents.start)..segment.day_index(documents.end - 1) + 1;
        let is_whole_days = segment.documents_of_day(days.start).start == documents.start
            && segment.documents_of_day(days.end - 1).end == documents.end;
        if !is_whole_days {
            return false;
        }
        let tokens = segment.tokens_in(documents);
        for local_id in super::lexeme_test::local_ids_of(few, segment.lexemes()) {
            match segment.day_counts(local_id) {
                Some(stored) => days.clone().for_each(|day| counts[day].0 += u64::from(stored.hits(day))),
                None => {
                    let mut cursor = DayCursor::new(segment, scope.documents().start);
                    segment.postings(local_id).pieces(tokens.start, tokens.end, |piece| {
                        for position in piece {
                            if let Some(count) = counts.get_mut(cursor.index_at(*position)) {
                                count.0 += 1;
                            }
                        }
                    });
                }
            }
        }
        true
    }

    /// Hits by the values of a field of their documents.
    pub fn by_field(&self, name: &str, limits: &Limits) -> FieldCounts {
        self.begin_pass(limits);
        let mut counted = FieldCounts::default();
        for index in 0..self.segments() {
            let segment = self.segment(index);
            let values = Values::new(segment, name);
            let mut counts = vec![FieldCount::default(); values.count(segment).max(1)];
            self.scope(index).pieces(segment, limits, |documents| {
                for document in documents {
                    if let Some(count) = counts.get_mut(values.code(segment, document)) {
                        count.tokens += segment.tokens_of(document).len() as u64;
                        count.documents += 1;
                    }
                }
            });
            let (mut document, mut end, mut code) = (0, 0, 0);
            self.each_in(index, limits, &mut |start, _| {
                let is_next = start >= end;
                if is_next {
                    document = segment.document_at(start).max(document);
                    end = segment.tokens_of(document).end;
                    code = values.code(segment, document);
                }
                if let Some(count) = counts.get_mut(code) {
                    count.hits += 1;
                    count.hit_documents += u64::from(is_next);
                }
                ControlFlow::Continue(())
            });
            for (code, count) in counts.into_iter().enumerate().filter(|(_, count)| count.documents > 0) {
                counted.values.entry(values.value(segment, code)).or_default().merge_from(count);
            }
        }
        counted.complete = limits.cut_off().is_none();
        counted
    }

    /// The frequency of each value of a field among hits; values without hits are left out. Without an exhaustive search
    /// there are no rates.
    pub fn frequencies_by_field(&self, name: &str, limits: &Limits) -> (Frequencies, bool) {
        let counted = self.by_field(name, limits);
        let rows = FrequencyRow::of_field(counted.values, counted.complete, true);
        (Frequencies::rank(name, self.tokens(), rows), counted.complete)
    }

    /// The number of selected documents.
    pub fn documents(&self) -> u64 {
        (0..self.segments()).map(|index| self.scope(index).count()).sum()
    }

    /// The number of tokens of the selected documents.
    pub fn tokens(&self) -> u64 {
        (0..self.segments()).map(|index| tokens_in(self.segment(index), self.scope(index))).sum()
    }

    /// Hits per interval, with the volume of each. An interval that was not searched to its end has no hits and no rate;
    /// if there is one, no interval has a band, because the dispersion is unknown. Returns true if the search was exhaustive.
    pub fn timeline(&self, step: Step, confidence: f64, limits: &Limits) -> (Timeline, bool) {
        let counts = self.timeline_counts(step, true, limits);
        (counts.timeline(step, confidence), counts.unseen.is_empty())
    }

    /// Hits by day, with the volume of each and the sites of each interval; and documents with a hit if they are asked for.
    pub(crate) fn timeline_counts(&self, step: Step, with_documents: bool, limits: &Limits) -> TimelineCounts {
        let counts = self.count_days(with_documents, limits);
        let counts = if self.is_unfiltered() {
            TimelineCounts::new(step, &counts, self.engine.all_volume())
        } else {
            let scopes = (0..self.segments()).map(|index| (self.segment(index), self.scope(index)));
            TimelineCounts::new(step, &counts, &volume(scopes))
        };
        TimelineCounts { with_documents, ..counts }
    }
}

pub(crate) fn tokens_in(segment: &Segment, scope: &Scope) -> u64 {
    let mut tokens = 0;
    scope.runs(|documents| tokens += segment.tokens_in(documents).len() as u64);
    tokens
}

fn volume<'s>(scopes: impl Iterator<Item = (&'s Segment, &'s Scope)>) -> BTreeMap<Day, DayVolume> {
    let mut days: BTreeMap<Day, DayVolume> = BTreeMap::new();
    let mut numbers: HashMap<String, u32> = HashMap::new();
    for (segment, scope) in scopes {
        let asked = scope.documents();
        if asked.is_empty() {
            continue;
        }
        let sites = segment.field("site");
        let codes = sites.map_or(1, |sites| sites.count());
        // The number of each site, and the last day with a document of it.
        let mut met: Vec<(u32, usize)> = Vec::with_capacity(codes as usize);
        for code in 0..codes {
            let site = sites.map_or("", |sites| sites.value(code)).to_owned();
            let next = numbers.len() as u32;
            met.push((*numbers.entry(site).or_insert(next), usize::MAX));
        }
        for index in segment.day_index(asked.start)..=segment.day_index(asked.end - 1) {
            let documents = segment.documents_of_day(index);
            let mut today = DayVolume::default();
            for document in documents.start.max(asked.start)..documents.end.min(asked.end) {
                if !scope.contains(document) {
                    continue;
                }
                today.documents += 1;
                today.tokens += segment.tokens_of(document).len() as u64;
                let code = sites.map_or(0, |sites| sites.code(document));
                if let Some((site, last)) = met.get_mut(code as usize).filter(|(_, last)| *last != index) {
                    *last = index;
                    today.sites.push(*site);
                }
            }
            if today.documents > 0 {
                let entry = days.entry(segment.day(index)).or_default();
                entry.tokens += today.tokens;
                entry.documents += today.documents;
                entry.sites.append(&mut today.sites);
            }
        }
    }
    for volume in days.values_mut() {
        volume.sites.sort_unstable();
        volume.sites.dedup();
    }
    days
}

/// Hits by day with what was collected, to be summed into bins. Days are counted from 1970-01-01.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimelineCounts {
    hits: BTreeMap<i32, u64>,
    /// Documents with a hit, if they are counted.
    hit_documents: BTreeMap<i32, u64>,
    with_documents: bool,
    /// Days that were not searched to their end.
    unseen: BTreeSet<i32>,
    /// The tokens and documents of each day with documents.
    days: BTreeMap<i32, (u64, u64)>,
    /// The sites with documents in each bin, by its first day.
    sites: BTreeMap<i32, u64>,
}

impl Merge for TimelineCounts {
    fn merge_from(&mut self, other: TimelineCounts) {
        self.hits.merge_from(other.hits);
        self.hit_documents.merge_from(other.hit_documents);
        self.with_documents |= other.with_documents;
        self.unseen.merge_from(other.unseen);
        self.days.merge_from(other.days);
        self.sites.merge_from(other.sites);
    }
}

impl TimelineCounts {
    /// The days with documents.
    pub(crate) fn days(&self) -> impl Iterator<Item = &i32> {
        self.days.keys()
    }

    fn new(step: Step, counts: &DayCounts, volume: &BTreeMap<Day, DayVolume>) -> TimelineCounts {
        let mut sites = BTreeMap::new();
        // The last bin with a document of each site.
        let mut met: Vec<i32> = Vec::new();
        let mut bin: Option<Bin> = None;
        for (day, volume) in volume {
            let date = day.date();
            let bin = *match &mut bin {
                Some(bin) if date <= bin.last => bin,
                bin => bin.insert(step.bin_of(date)),
            };
            let first = Day::of(bin.first).0;
            for site in &volume.sites {
                if met.len() <= *site as usize {
                    met.resize(*site as usize + 1, i32::MIN);
                }
                if std::mem::replace(&mut met[*site as usize], first) != first {
                    *sites.entry(first).or_default() += 1;
                }
            }
        }
        TimelineCounts {
            hits: counts.hits.iter().map(|(day, hits)| (day.0, *hits)).collect(),
            hit_documents: counts.documents.iter().map(|(day, documents)| (day.0, *documents)).collect(),
            with_documents: false,
            unseen: counts.unseen.iter().map(|day| day.0).collect(),
            days: volume.iter().map(|(day, volume)| (day.0, (volume.tokens, volume.documents))).collect(),
            sites,
        }
    }

    /// Sums counts by day into bins, from the first day with documents to the last.
    pub fn timeline(&self, step: Step, confidence: f64) -> Timeline {
        let ends = self.days.keys().next().zip(self.days.keys().next_back());
        let bins = ends.map(|(first, last)| step.bins(Day(*first).date(), Day(*last).date())).unwrap_or_default();
        let mut collected = Vec::with_capacity(bins.len());
        for bin in &bins {
            let (first, last) = (Day::of(bin.first).0, Day::of(bin.last).0);
            let (mut total, mut tokens, mut documents, mut days_with_documents) = (Some(0), 0, 0, 0);
            let hit_documents: u64 = self.hit_documents.range(first..=last).map(|(_, documents)| documents).sum();
            for (day, (of_tokens, of_documents)) in self.days.range(first..=last) {
                let today = self.hits.get(day).copied().unwrap_or(0);
                total = total.filter(|_| !self.unseen.contains(day)).map(|total: u64| total + today);
                tokens += of_tokens;
                documents += of_documents;
                days_with_documents += 1;
            }
            let sites = self.sites.get(&first).copied().unwrap_or(0);
            let hit_documents = total.filter(|_| self.with_documents).map(|_| hit_documents);
            collected.push((total, hit_documents, (tokens, documents, sites, days_with_documents)));
        }
        // With gaps the dispersion of neighbours is unknown.
        let pairs: Option<Vec<(u64, u64)>> =
            collected.iter().map(|(hits, _, (tokens, ..))| Some(((*hits)?, *tokens))).collect();
        let spread = pairs.map(|pairs| overdispersion_of_neighbours(&pairs));
        let points = bins.into_iter().zip(collected);
        let points = points.map(|(bin, (hits, hit_documents, volume))| {
            TimelinePoint::of(bin, hits, volume, spread, confidence).with_documents(hit_documents)
        });
        Timeline { hits: self.hits.values().sum(), ..Timeline::of(step, confidence, points.collect()) }
    }
}

impl Engine {
    /// The volume of each day of the whole corpus; computed on first use.
    pub(super) fn all_volume(&self) -> &BTreeMap<Day, DayVolume> {
        self.volume.get_or_init(|| {
            let live = self.snapshot().segments();
            let scopes: Vec<Scope> = live.iter().map(|live| Scope::new(live, None)).collect();
            volume(live.iter().map(|live| live.segment()).zip(&scopes))
        })
    }

    /// The volume of each day of a subcorpus.
    pub fn volume(&self, subcorpus: &Subcorpus) -> BTreeMap<Day, DayVolume> {
        let segments = self.snapshot().segments().iter().map(|live| live.segment());
        volume(segments.zip(&subcorpus.scopes))
    }

    /// The number of tokens of a subcorpus.
    pub fn tokens(&self, subcorpus: &Subcorpus) -> u64 {
        let segments = self.snapshot().segments().iter().map(|live| live.segment());
        segments.zip(&subcorpus.scopes).map(|(segment, scope)| tokens_in(segment, scope)).sum()
    }
}
