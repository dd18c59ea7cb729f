//! Words over time: trends, bursts, and panels of sites.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use hashbrown::HashMap;
use tidings_index::Day;

use super::set::layer_of;
use super::word_cells::Tested;
use super::{ContentWords, Engine, Subcorpus, WordCells};
use crate::cql::Attribute;
use crate::filter::{FieldPredicate, FieldTest, Filter};
use crate::question::{BurstRow, Bursts, Trends};
use crate::syntax::{Logic, Span, ValueMatcher};
use crate::trend::{
    Bin, Burst, BurstConfig, CellCount, RiseConfig, SiteBursts, SiteRises, Step, Table, alive_throughout,
};

impl Engine {
    /// The words with a rising or falling trend within sites, by significance.
    /// With `content` only content words are tested.
    pub fn trends(
        &self,
        subcorpus: &Subcorpus,
        attribute: Attribute,
        step: Step,
        config: &RiseConfig,
        content: Option<&ContentWords<'_>>,
    ) -> Trends {
        let (bins, periods) = self.periods(subcorpus, step);
        WordCells::of_index(self, subcorpus, attribute, &periods, content).trends((attribute, step), &bins, config)
    }

    /// The words with significant bursts, strongest first. With `content` only content words are tested.
    pub fn bursts(
        &self,
        subcorpus: &Subcorpus,
        attribute: Attribute,
        step: Step,
        config: &BurstConfig,
        content: Option<&ContentWords<'_>>,
    ) -> Bursts {
        let (bins, periods) = self.periods(subcorpus, step);
        let cells = WordCells::of_index(self, subcorpus, attribute, &periods, content);
        Bursts { tokens: self.tokens(subcorpus), ..cells.bursts((attribute, step), &bins, config) }
    }

    /// The filter of the sites with documents in every bin: changes there come from the texts, not from the list of feeds.
    pub fn panel(&self, subcorpus: &Subcorpus, step: Step, min_documents: u32) -> Filter {
        let bins = self.bins(subcorpus, step);
        subcorpus.limits().begin_pass(self.tokens(subcorpus));
        let index: HashMap<Bin, usize> = bins.iter().enumerate().map(|(index, bin)| (*bin, index)).collect();
        let mut sites: BTreeMap<String, Vec<u32>> = BTreeMap::new();
        for (segment, scope) in self.scopes(subcorpus) {
            let Some(field) = segment.field("site") else { continue };
            scope.pieces(segment, subcorpus.limits(), |run| {
                subcorpus.limits().saw(segment.tokens_in(run.clone()).len() as u64);
                for document in run {
                    let bin = step.bin_of(segment.day_of(document).date());
                    if let Some(index) = index.get(&bin) {
                        let row = sites.entry(field.of(document).to_owned()).or_insert_with(|| vec![0; bins.len()]);
                        row[*index] += 1;
                    }
                }
            });
        }
        let counts: Vec<u32> = sites.values().flatten().copied().collect();
        let alive = alive_throughout(&counts, bins.len(), min_documents);
        let names: Vec<&String> = sites.keys().collect();
        of_sites(alive.into_iter().map(|row| names[row].as_str()))
    }

    /// The documents of sites that gave some to both parts.
    pub fn panel_of_two(&self, one: &Subcorpus, other: &Subcorpus) -> Filter {
        of_sites(self.sites(one).intersection(&self.sites(other)).map(String::as_str))
    }

    /// The sites with documents of a subcorpus.
    pub(crate) fn sites(&self, subcorpus: &Subcorpus) -> BTreeSet<String> {
        let mut sites = BTreeSet::new();
        for (segment, scope) in self.scopes(subcorpus) {
            let Some(field) = segment.field("site") else { continue };
            let mut seen = vec![false; field.count() as usize];
            scope.runs(|run| run.for_each(|document| seen[field.code(document) as usize] = true));
            let codes = (0..).zip(seen).filter(|(_, seen)| *seen);
            sites.extend(codes.map(|(code, _)| field.value(code).to_owned()));
        }
        sites
    }

    /// The bins from the first day of a subcorpus to its last.
    fn bins(&self, subcorpus: &Subcorpus, step: Step) -> Vec<Bin> {
        let volume = self.volume(subcorpus);
        match (volume.keys().next(), volume.keys().next_back()) {
            (Some(first), Some(last)) => step.bins(first.date(), last.date()),
            _ => Vec::new(),
        }
    }

    /// The bins of a subcorpus, and the days of each.
    pub(crate) fn periods(&self, subcorpus: &Subcorpus, step: Step) -> (Vec<Bin>, Vec<Range<Day>>) {
        let bins = self.bins(subcorpus, step);
        let days = |bin: &Bin| Day::of(bin.first)..Day(Day::of(bin.last).0 + 1);
        let periods = bins.iter().map(days).collect();
        (bins, periods)
    }

    /// A word by its number.
    pub(super) fn name(&self, attribute: Attribute, word: u32) -> String {
        attribute.value(self.lexicon().string(layer_of(attribute, self.lexicon()), word)).into_owned()
    }
}

impl WordCells<'_> {
    /// The words with a rising or falling trend within sites, by significance.
    pub(crate) fn trends(&self, (attribute, step): (Attribute, Step), bins: &[Bin], config: &RiseConfig) -> Trends {
        let mut test = SiteRises::new(self.volume(), config);
        let (words, left_out) = self.measure(config.min_count, || {
            let mut fitter = test.fitter();
            move |counts| {
                let (mut hits, mut documents) = (vec![0u32; bins.len()], vec![0u32; bins.len()]);
                for count in counts {
                    hits[count.bin as usize] += count.hits;
                    documents[count.bin as usize] += count.documents;
                }
                (fitter.fit(counts), hits, documents)
            }
        });
        let (mut hits, mut documents) = (Vec::new(), Vec::new());
        let mut names = Vec::with_capacity(words.len());
        for Tested { value, is_name, measured: (fitted, of_hits, of_documents) } in words {
            test.push(fitted);
            hits.extend(of_hits);
            documents.extend(of_documents);
            names.push((value, is_name));
        }
        let tokens = self.volume().tokens_by_bin();
        let hits = Table { counts: &hits, tokens: &tokens };
        let documents = Table { counts: &documents, tokens: &tokens };
        let outcome = test.finish();
        let name = |row: usize| names[row].clone();
        let found = Trends::of((attribute, step), bins, config, &outcome, (&hits, &documents), name);
        Trends { left_out, ..found }
    }

    /// The words with significant bursts, strongest first.
    pub(crate) fn bursts(&self, (attribute, step): (Attribute, Step), bins: &[Bin], config: &BurstConfig) -> Bursts {
        let mut test = SiteBursts::new(self.volume(), config);
        let (words, left_out) =
            self.measure(config.min_documents.into(), || |counts: &[CellCount]| test.measure(counts));
        let mut names = Vec::with_capacity(words.len());
        for Tested { value, is_name, measured } in words {
            test.push(measured);
            names.push((value, is_name));
        }
        let row = |(row, burst): (usize, Burst)| BurstRow {
            value: names[row].0.clone(),
            name: names[row].1,
            q: burst.q,
            bin: bins[burst.bin as usize],
            score: burst.score,
            log_ratio: burst.log_ratio,
            hits: burst.hits.into(),
            documents: burst.documents.into(),
            sequel: burst.sequel,
        };
        let mut found: Vec<BurstRow> = test.finish().into_iter().map(row).collect();
        found.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.value.cmp(&b.value)));
        Bursts {
            attribute,
            step,
            tokens: 0,
            tested: names.len() as u64,
            left_out,
            false_discovery_rate: config.false_discovery_rate,
            values: Some(found.len() as u64),
            rows: found,
        }
    }
}

/// The filter that admits the documents of some sites.
pub(crate) fn of_sites<'s>(sites: impl Iterator<Item = &'s str>) -> Filter {
    let test = |site: &str| {
        let predicate = FieldPredicate::Text { negated: false, value: ValueMatcher::exact(site) };
        Logic::Test(FieldTest { field: "site".to_owned(), predicate, span: Span::default() })
    };
    let mut tests: Vec<Logic<FieldTest>> = sites.map(test).collect();
    let condition = match tests.len() {
        // No site has this name.
        0 => test("\u{0}"),
        1 => tests.remove(0),
        _ => Logic::Any(tests),
    };
    Filter { condition }
}
