//! Tests of all words for a difference between two subcorpora.
//!
//! Chooses what the test rests on: sites with text in both subcorpora if they have enough of it, and periods as units if
//! there are enough of them. The tests are in [`crate::trend::contrast`].

use super::periods::{NO_PERIOD, SegmentPeriods};
use super::scope::Scope;
use super::words::is_wordlike;
use super::{Engine, SiteCells, Subcorpus};
use crate::cql::Attribute;
use crate::merge::Merge;
use crate::question::{CompareConfig, ContrastBasis, ContrastUnit};
use crate::trend::{
    Bin, CellCount, Difference, DocumentContrasts, DocumentUnit, Part, SiteContrasts, SiteVolume, Step,
};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use tidings_index::{Day, Segment};

/// The differences of words, by the number of each word, and what their test rests on.
#[derive(Debug, Clone, PartialEq)]
pub struct WordDifferences {
    /// What the test rests on.
    pub basis: ContrastBasis,
    /// The words tested, in the order of their values.
    pub words: Vec<(u32, Difference)>,
}

/// Rates are compared within sites if these have at least this share of the tokens of each subcorpus.
const LEAST_SHARE: f64 = 0.2;
/// The periods of both subcorpora together that a coarser step must have.
const MANY_PERIODS: usize = 16;
/// The periods of both subcorpora together below which documents are the units.
const LEAST_PERIODS: usize = 8;
/// The steps to choose from, with the days that the shorter subcorpus must have.
const STEPS: [(Step, i32); 4] = [(Step::Quarter, 90), (Step::Month, 28), (Step::Week, 7), (Step::Day, 1)];

/// The documents of two subcorpora.
pub(crate) struct Documents<'e> {
    segments: Vec<SegmentParts<'e>>,
    /// The names of the sites, sorted.
    sites: Vec<String>,
    text: PartText,
}

/// A segment with the part and the number of the site of each of its documents.
struct SegmentParts<'e> {
    segment: &'e Segment,
    documents: Vec<Option<(Part, u32)>>,
}

/// The text of two parts of a corpus, by which the basis of their test is chosen.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct PartText {
    /// The tokens of each site in each part.
    sites: BTreeMap<String, [u64; 2]>,
    /// The days of each part with documents.
    days: [BTreeSet<i32>; 2],
}

impl Merge for PartText {
    fn merge_from(&mut self, other: PartText) {
        for (site, tokens) in other.sites {
            let sums = self.sites.entry(site).or_default();
            sums.iter_mut().zip(tokens).for_each(|(sum, tokens)| sum.merge_from(tokens));
        }
        self.days.iter_mut().zip(other.days).for_each(|(days, more)| days.merge_from(more));
    }
}

/// The test of all words for a difference: words are added one by one.
pub(crate) enum ContrastTest {
    Sites(Box<SiteContrasts>),
    Documents(DocumentContrasts),
}

impl ContrastTest {
    /// Adds the next word with its cells: sites and periods, or documents.
    pub(crate) fn add(&mut self, cells: &[CellCount]) {
        match self {
            ContrastTest::Sites(test) => test.add(cells),
            ContrastTest::Documents(test) => test.add(cells),
        }
    }

    /// The differences of all words.
    pub(crate) fn finish(self) -> Vec<Difference> {
        match self {
            ContrastTest::Sites(test) => test.finish(),
            ContrastTest::Documents(test) => test.finish(),
        }
    }
}

/// Returns true if a word is compared.
pub(crate) fn is_compared(value: &str, config: &CompareConfig) -> bool {
    !value.is_empty() && (config.punctuation || is_wordlike(value))
}

/// The part that documents of both parts belong to: the smaller one.
pub(crate) fn smaller_part(before_tokens: u64, after_tokens: u64) -> Part {
    if before_tokens < after_tokens { Part::Before } else { Part::After }
}

impl Engine {
    /// Tests each word in enough documents of both subcorpora together. A document of both belongs to the smaller one.
    pub fn word_differences(
        &self,
        before: &Subcorpus,
        after: &Subcorpus,
        attribute: Attribute,
        config: &CompareConfig,
    ) -> WordDifferences {
        let min_documents = config.min_documents.max(1);
        let tokens = (self.tokens(before), self.tokens(after));
        after.limits().begin_pass(tokens.0 + tokens.1);
        let documents = self.documents_of_parts(before, after, smaller_part(tokens.0, tokens.1));
        let basis = documents.text().basis();
        let (cells, mut test) = match basis.unit.step() {
            Some(step) => {
                let (bins, parts) = documents.text().periods(step);
                let cells = documents.periods(step, &bins);
                let test = ContrastTest::Sites(Box::new(SiteContrasts::new(&cells.volume, &parts)));
                (cells, test)
            }
            None => {
                let (cells, units) = documents.units(basis.within_sites);
                (cells, ContrastTest::Documents(DocumentContrasts::new(units)))
            }
        };
        let found = self.map_words_by_site(&cells, attribute, min_documents, after.limits(), || {
            |word, counts: &[CellCount]| {
                let documents: u64 = counts.iter().map(|count| u64::from(count.documents)).sum();
                let is_tested = documents >= min_documents && is_compared(&self.name(attribute, word), config);
                is_tested.then(|| (word, counts.to_vec()))
            }
        });
        let words = found.into_iter().map(|(word, counts)| {
            test.add(&counts);
            word
        });
        let words: Vec<u32> = words.collect();
        WordDifferences { basis, words: words.into_iter().zip(test.finish()).collect() }
    }

    /// The documents of two subcorpora; those of both belong to `shared`.
    pub(crate) fn documents_of_parts<'e>(
        &'e self,
        before: &'e Subcorpus,
        after: &'e Subcorpus,
        shared: Part,
    ) -> Documents<'e> {
        let mut numbers: BTreeMap<String, u32> = BTreeMap::new();
        let mut found = Documents { segments: Vec::new(), sites: Vec::new(), text: PartText::default() };
        let mut tokens: Vec<[u64; 2]> = Vec::new();
        // Reads no tokens, so that no limit applies.
        let segments = self.snapshot().segments().iter().map(|live| live.segment());
        for ((segment, one), other) in segments.zip(&before.scopes).zip(&after.scopes) {
            let sites = segment.field("site");
            let mut of_codes: Vec<Option<u32>> = vec![None; sites.map_or(1, |sites| sites.count() as usize)];
            let mut documents = vec![None; segment.meta().documents as usize];
            let range =
                one.documents().start.min(other.documents().start)..one.documents().end.max(other.documents().end);
            for document in range {
                let is_in = |scope: &Scope| scope.documents().contains(&document) && scope.contains(document);
                let part = match (is_in(one), is_in(other)) {
                    (true, true) => shared,
                    (true, false) => Part::Before,
                    (false, true) => Part::After,
                    (false, false) => continue,
                };
                let code = sites.map_or(0, |sites| sites.code(document)) as usize;
                let site = *of_codes[code].get_or_insert_with(|| {
                    let next = numbers.len() as u32;
                    *numbers.entry(sites.map_or("", |sites| sites.value(code as u32)).to_owned()).or_insert(next)
                });
                tokens.resize(numbers.len(), [0; 2]);
                tokens[site as usize][part as usize] += segment.tokens_of(document).len() as u64;
                found.text.days[part as usize].insert(segment.day_of(document).0);
                documents[document as usize] = Some((part, site));
            }
            found.segments.push(SegmentParts { segment, documents });
        }
        // Sites are numbered in the order of their names: sums of floating-point numbers depend on their order.
        let mut sorted = vec![0; numbers.len()];
        for (number, (site, of_site)) in (0..).zip(numbers) {
            sorted[of_site as usize] = number;
            found.text.sites.insert(site.clone(), tokens[of_site as usize]);
            found.sites.push(site);
        }
        let all = found.segments.iter_mut().flat_map(|parts| parts.documents.iter_mut().flatten());
        all.for_each(|(_, site)| *site = sorted[*site as usize]);
        found
    }
}

impl PartText {
    /// The tokens of both parts.
    pub(super) fn tokens(&self) -> u64 {
        self.sites.values().flatten().sum()
    }

    /// What the test of the two parts rests on.
    pub(crate) fn basis(&self) -> ContrastBasis {
        let is_shared = |tokens: &&[u64; 2]| tokens[0] > 0 && tokens[1] > 0;
        let share = |part: usize| {
            let all: u64 = self.sites.values().map(|tokens| tokens[part]).sum();
            let shared: u64 = self.sites.values().filter(is_shared).map(|tokens| tokens[part]).sum();
            if all > 0 { shared as f64 / all as f64 } else { 0.0 }
        };
        let shared = share(0).min(share(1));
        let within_sites = shared >= LEAST_SHARE;
        let unit = if within_sites { self.unit() } else { ContrastUnit::Document };
        ContrastBasis { within_sites, unit, sites: self.sites.values().filter(is_shared).count() as u64, shared }
    }

    /// The coarsest step that fits into the shorter part and gives enough periods; documents if there is none.
    fn unit(&self) -> ContrastUnit {
        let shorter = self.days.iter().map(BTreeSet::len).min().unwrap_or(0) as i32;
        let mut fits =
            STEPS.into_iter().filter(|(_, days)| shorter >= *days).map(|(step, _)| (step, self.bins(step).len()));
        let chosen = fits.clone().find(|(_, periods)| *periods >= MANY_PERIODS);
        match chosen.or(fits.next_back()) {
            Some((step, periods)) if periods >= LEAST_PERIODS => ContrastUnit::of(step),
            _ => ContrastUnit::Document,
        }
    }

    /// The bins with documents of each part, by part and first day.
    fn bins(&self, step: Step) -> PartBins {
        let mut bins = BTreeMap::new();
        for (part, days) in self.days.iter().enumerate() {
            let mut last: Option<Bin> = None;
            for day in days {
                let date = Day(*day).date();
                if last.is_none_or(|last| date > last.last) {
                    let bin = step.bin_of(date);
                    let next = bins.len() as u32;
                    bins.insert((part, Day::of(bin.first).0), next);
                    last = Some(bin);
                }
            }
        }
        bins
    }

    /// The bins with documents of each part, and the part of each bin.
    pub(crate) fn periods(&self, step: Step) -> (PartBins, Vec<Part>) {
        let bins = self.bins(step);
        let mut parts = vec![Part::Before; bins.len()];
        bins.iter().filter(|((part, _), _)| *part == 1).for_each(|(_, bin)| parts[*bin as usize] = Part::After);
        (bins, parts)
    }
}

/// The numbers of periods by part and first day.
pub(crate) type PartBins = BTreeMap<(usize, i32), u32>;

impl<'e> Documents<'e> {
    /// The text of both parts.
    pub(crate) fn text(&self) -> &PartText {
        &self.text
    }

    /// All segments in their order, with the part and the number of the site of each document that belongs to a part.
    pub(super) fn segments(&self) -> impl Iterator<Item = (&'e Segment, &[Option<(Part, u32)>])> {
        self.segments.iter().map(|parts| (parts.segment, &parts.documents[..]))
    }

    /// Passes the documents of both parts, each with the number of its segment.
    pub(super) fn each(&self, mut each: impl FnMut(usize, u32, (Part, u32))) {
        for (index, (_, documents)) in self.segments().enumerate() {
            let of_parts = (0..).zip(documents).filter_map(|(document, of)| Some((document, (*of)?)));
            of_parts.for_each(|(document, of)| each(index, document, of));
        }
    }

    /// The names of the sites, by number.
    pub(super) fn site_names(&self) -> &[String] {
        &self.sites
    }

    /// The cells of sites and periods of each part. Documents outside of the periods are in no cell.
    pub(crate) fn periods(&self, step: Step, bins: &PartBins) -> SiteCells<'e> {
        let count = self.sites.len() * bins.len();
        let mut volume = SiteVolume { bins: bins.len(), tokens: vec![0.0; count], documents: vec![0.0; count] };
        let segments = self.cells(|segment, document, part, site| {
            let first = step.bin_of(segment.day_of(document).date()).first;
            let Some(bin) = bins.get(&(part as usize, Day::of(first).0)) else { return NO_PERIOD };
            let cell = site * bins.len() as u32 + bin;
            volume.tokens[cell as usize] += segment.tokens_of(document).len() as f64;
            volume.documents[cell as usize] += 1.0;
            cell
        });
        SiteCells { segments, volume, sites: self.sites.clone() }
    }

    /// A cell for each document, and the documents as units, with the numbers of their sites as strata or without strata.
    pub(crate) fn units(&self, within_sites: bool) -> (SiteCells<'e>, Vec<DocumentUnit>) {
        let mut units = Vec::new();
        let segments = self.cells(|segment, document, part, site| {
            let stratum = if within_sites { site } else { 0 };
            units.push(DocumentUnit { stratum, part, tokens: segment.tokens_of(document).len() as f64 });
            units.len() as u32 - 1
        });
        let tokens: Vec<f64> = units.iter().map(|unit| unit.tokens).collect();
        let volume = SiteVolume { bins: 1, documents: vec![1.0; tokens.len()], tokens };
        (SiteCells { segments, volume, sites: self.sites.clone() }, units)
    }

    /// The segments with the cell of each document.
    fn cells(&self, mut cell: impl FnMut(&Segment, u32, Part, u32) -> u32) -> Vec<SegmentPeriods<'e>> {
        let mut segments: Vec<SegmentPeriods<'e>> = Vec::new();
        for SegmentParts { segment, documents } in &self.segments {
            let mut cell = |(document, of): (u32, &Option<(Part, u32)>)| {
                of.map_or(NO_PERIOD, |(part, site)| cell(segment, document, part, site))
            };
            segments.push(SegmentPeriods::new(segment, (0..).zip(documents).map(&mut cell).collect()));
        }
        segments.retain(SegmentPeriods::has_text);
        segments
    }
}
