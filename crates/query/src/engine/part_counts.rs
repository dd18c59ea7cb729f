//! Counts of an index as parts of sums over several: keyed by values, not by the numbers of one lexicon, and not cut.

use super::content::TagClasses;
use super::set::layer_of;
use super::{Around, Engine, Limits, Search, SiteCells, Subcorpus};
use crate::cql::Attribute;
use crate::trend::Step;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use tidings_index::Day;
use tidings_index::lexicon::Layer;

impl Search<'_> {
    /// The words in the windows of hits, with their counts; and the hits.
    pub(crate) fn near_values(&self, around: Around<'_>, limits: &Limits) -> (HashMap<String, u64>, u64) {
        let (near, attribute) = (self.near(around, limits), around.attribute);
        let hits = near.hits();
        let counts = self.engine.joined(attribute, Cow::Owned(near.into_counts()));
        let named = (0..).zip(counts.iter()).filter(|(_, count)| **count > 0);
        (named.map(|(id, count)| (self.engine.name(attribute, id), *count)).collect(), hits)
    }

    /// The frequency of some values in the selected documents, or that of their tokens with a tag.
    pub(crate) fn anywhere_values(
        &self,
        (attribute, tag): (Attribute, Option<&str>),
        words: &HashSet<&str>,
        limits: &Limits,
    ) -> HashMap<String, u64> {
        self.begin_pass(limits);
        let layer = layer_of(attribute, self.engine.lexicon());
        let counts = self.engine.joined(attribute, self.anywhere(layer, tag, limits));
        let named = (0..).zip(counts.iter()).filter(|(_, count)| **count > 0);
        let named = named.map(|(id, count)| (self.engine.name(attribute, id), *count));
        named.filter(|(value, _)| words.contains(value.as_str())).collect()
    }
}

/// Cells of a word as site, period, hits and documents.
pub(crate) type CellRows = Vec<(u32, u32, u32, u32)>;

impl Engine {
    /// The words in at least some documents of a subcorpus.
    pub(crate) fn words_in_documents(
        &self,
        subcorpus: &Subcorpus,
        attribute: Attribute,
        min_documents: u64,
    ) -> BTreeSet<String> {
        subcorpus.limits().begin_pass(self.tokens(subcorpus));
        let counts = (0..).zip(self.value_counts(subcorpus, attribute));
        let often = counts.filter(|(_, (_, documents))| *documents >= min_documents.max(1));
        often.map(|(id, _)| self.name(attribute, id)).collect()
    }

    /// The cells of some words, in the order of the words.
    pub(crate) fn cells_of_words(
        &self,
        subcorpus: &Subcorpus,
        cells: &SiteCells<'_>,
        attribute: Attribute,
        is_asked: &(dyn Fn(&str) -> bool + Sync),
    ) -> Vec<(String, CellRows)> {
        subcorpus.limits().begin_pass(self.tokens(subcorpus));
        self.map_words_by_site(cells, attribute, 1, subcorpus.limits(), || {
            |word, counts: &[crate::trend::CellCount]| {
                let word = self.name(attribute, word);
                let row = |count: &crate::trend::CellCount| (count.site, count.bin, count.hits, count.documents);
                is_asked(&word).then(|| (word, counts.iter().map(row).collect()))
            }
        })
    }

    /// The first days of the bins in which each site of a subcorpus has documents.
    pub(crate) fn site_bins(&self, subcorpus: &Subcorpus, step: Step) -> BTreeMap<String, BTreeSet<i32>> {
        let mut sites: BTreeMap<String, BTreeSet<i32>> = BTreeMap::new();
        for (segment, scope) in self.scopes(subcorpus) {
            let Some(field) = segment.field("site") else { continue };
            let (mut last, mut first) = (None, 0);
            scope.runs(|run| {
                for document in run {
                    let day = segment.day_of(document);
                    if last != Some(day) {
                        last = Some(day);
                        first = Day::of(step.bin_of(day.date()).first).0;
                    }
                    let site = field.of(document);
                    match sites.get_mut(site) {
                        Some(bins) => drop(bins.insert(first)),
                        None => drop(sites.insert(site.to_owned(), BTreeSet::from([first]))),
                    }
                }
            });
        }
        sites
    }

    /// The most frequent words of the whole corpus, of those that are frequent enough; equals by value.
    pub(crate) fn top_words(&self, attribute: Attribute, most: usize, at_least: u64) -> BTreeMap<String, u64> {
        let totals = self.joined(attribute, Cow::Borrowed(self.string_totals(layer_of(attribute, self.lexicon()))));
        let often = (0..).zip(totals.iter()).filter(|(_, total)| **total >= at_least.max(1));
        let mut words: Vec<(std::cmp::Reverse<u64>, u32)> =
            often.map(|(id, total)| (std::cmp::Reverse(*total), id)).collect();
        if words.len() > most {
            words.sort_unstable();
            words.truncate(most);
        }
        words.into_iter().map(|(total, id)| (self.name(attribute, id), total.0)).collect()
    }

    /// The tokens of some words of the whole corpus by class of tags, and whether it has universal tags.
    pub(crate) fn classes_of_words(
        &self,
        attribute: Attribute,
        words: &BTreeSet<String>,
    ) -> (bool, BTreeMap<String, TagClasses>) {
        let classes = self.class_counts(attribute);
        let counted = (0..).zip(classes).filter(|(_, classes)| classes.iter().any(|count| *count > 0));
        let named = counted.map(|(word, classes)| (self.name(attribute, word), classes));
        (self.has_universal_tags(), named.filter(|(word, _)| words.contains(word)).collect())
    }

    /// Whether tokens have universal part-of-speech tags.
    pub(crate) fn has_universal_tags(&self) -> bool {
        self.lexicon().find(Layer::Tag, "NOUN").is_some()
    }
}
