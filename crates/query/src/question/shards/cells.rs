//! Words by site and time, and what decides about the steps and sites of a test.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use tidings_index::Day;

use super::{Part, PartCells, are_days};
use crate::cql::Attribute;
use crate::engine::{
    CellRows, CellTable, Reading, SiteCells, Subcorpus, TagClasses, WordCells, WordKind, frequent_words, kind_of,
};
use crate::filter::Filter;
use crate::merge::Merge;
use crate::question::{Parsed, QuestionContext, QuestionError};
use crate::trend::{Bin, CellCount, SiteVolume, Step};

/// Tokens and documents of each day.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::question) struct VolumePart {
    pub(in crate::question) filter: Option<Parsed<Filter>>,
    /// The cells in which words of the documents are counted; without them, all documents count.
    pub(in crate::question) cells: Option<PartCells>,
}

impl Part for VolumePart {
    const NAME: &'static str = "volume";
    type Sum = BTreeMap<i32, (u64, u64)>;

    fn compute(&self, context: &QuestionContext<'_>) -> Result<Self::Sum, QuestionError> {
        let subcorpus = match &self.cells {
            Some(cells) => context.subcorpus_of(self.filter.as_deref(), Reading::Words(cells.as_cells()))?,
            None => context.documents(self.filter.as_deref())?,
        };
        let volume = context.all.volume(&subcorpus).into_iter();
        Ok(volume.map(|(day, volume)| (day.0, (volume.tokens, volume.documents))).collect())
    }

    fn is_plausible(days: &Self::Sum) -> bool {
        are_days(days.keys())
    }
}

/// The first days of the bins in which each site has documents.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::question) struct SiteBinsPart {
    pub(in crate::question) filter: Option<Parsed<Filter>>,
    pub(in crate::question) step: Step,
}

impl Part for SiteBinsPart {
    const NAME: &'static str = "site-bins";
    type Sum = BTreeMap<String, BTreeSet<i32>>;

    fn compute(&self, context: &QuestionContext<'_>) -> Result<Self::Sum, QuestionError> {
        let subcorpus = context.documents(self.filter.as_deref())?;
        Ok(context.all.site_bins(&subcorpus, self.step))
    }

    fn is_plausible(sites: &Self::Sum) -> bool {
        are_days(sites.values().flatten())
    }
}

/// Words in at least some documents.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct CandidatesPart {
    pub(super) filter: Option<Parsed<Filter>>,
    /// The cells in which words are counted; without them, counts depend on positions.
    pub(super) cells: Option<PartCells>,
    pub(super) attribute: Attribute,
    pub(super) min_documents: u64,
}

fn subcorpus_in(
    context: &QuestionContext<'_>,
    filter: Option<&Parsed<Filter>>,
    cells: Option<&PartCells>,
) -> Result<Subcorpus, QuestionError> {
    let reading = cells.map_or(Reading::Positions, |cells| Reading::Words(cells.as_cells()));
    context.subcorpus_of(filter.map(|filter| &**filter), reading)
}

impl Part for CandidatesPart {
    const NAME: &'static str = "candidates";
    type Sum = BTreeSet<String>;

    fn compute(&self, context: &QuestionContext<'_>) -> Result<BTreeSet<String>, QuestionError> {
        let subcorpus = subcorpus_in(context, self.filter.as_ref(), self.cells.as_ref())?;
        Ok(context.engine.words_in_documents(&subcorpus, self.attribute, self.min_documents))
    }
}

/// The cells of some words.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct CellsPart {
    pub(super) filter: Option<Parsed<Filter>>,
    /// The cells in which words are counted; without them, counts depend on positions.
    pub(super) cells: Option<PartCells>,
    pub(super) attribute: Attribute,
    /// The first day of each period and the day after its last.
    pub(super) periods: Vec<(i32, i32)>,
    pub(super) words: BTreeSet<String>,
    /// Words in lower case, whose spellings are asked for, too.
    #[serde(default)]
    pub(super) any_case: BTreeSet<String>,
}

/// The cells of a shard. Sites and words are sorted; cells have the number of the site in the shard.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ShardCells {
    sites: Vec<String>,
    /// The tokens and documents of each site in each period.
    volume: Vec<(u64, u64)>,
    words: Vec<(String, CellRows)>,
}

impl Part for CellsPart {
    const NAME: &'static str = "cells";
    type Sum = ShardCells;

    fn compute(&self, context: &QuestionContext<'_>) -> Result<ShardCells, QuestionError> {
        let subcorpus = subcorpus_in(context, self.filter.as_ref(), self.cells.as_ref())?;
        let periods: Vec<_> = self.periods.iter().map(|(first, end)| Day(*first)..Day(*end)).collect();
        let cells: SiteCells<'_> = context.engine.site_cells(&subcorpus, &periods);
        let is_asked = |word: &str| {
            self.words.contains(word) || !self.any_case.is_empty() && self.any_case.contains(&*word.to_lowercase())
        };
        let words = context.engine.cells_of_words(&subcorpus, &cells, self.attribute, &is_asked);
        Ok(ShardCells::new(&cells, words))
    }
}

impl ShardCells {
    /// Words with their cells, and the text of these.
    pub(super) fn new(cells: &SiteCells<'_>, words: Vec<(String, CellRows)>) -> ShardCells {
        let volume = cells.volume();
        let volume = volume.tokens.iter().zip(&volume.documents).map(|(tokens, all)| (*tokens as u64, *all as u64));
        ShardCells { sites: cells.sites().to_vec(), volume: volume.collect(), words }
    }
}

/// The most frequent words of the corpus, or those that are frequent enough.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct TopWordsPart {
    attribute: Attribute,
    most: usize,
    at_least: u64,
}

impl Part for TopWordsPart {
    const NAME: &'static str = "top-words";
    type Sum = BTreeMap<String, u64>;

    fn compute(&self, context: &QuestionContext<'_>) -> Result<Self::Sum, QuestionError> {
        Ok(context.all.top_words(self.attribute, self.most, self.at_least))
    }
}

/// The tokens of some words of the corpus by class of tags, and whether it has universal tags.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ClassesPart {
    attribute: Attribute,
    words: BTreeSet<String>,
}

/// The tokens of words by class of tags.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct WordClasses {
    is_tagged: bool,
    words: BTreeMap<String, TagClasses>,
}

impl Merge for WordClasses {
    fn merge_from(&mut self, other: WordClasses) {
        self.is_tagged |= other.is_tagged;
        for (word, classes) in other.words {
            let sums = self.words.entry(word).or_default();
            sums.iter_mut().zip(classes).for_each(|(sum, count)| sum.merge_from(count));
        }
    }
}

impl Part for ClassesPart {
    const NAME: &'static str = "classes";
    type Sum = WordClasses;

    fn compute(&self, context: &QuestionContext<'_>) -> Result<WordClasses, QuestionError> {
        let (is_tagged, words) = context.all.classes_of_words(self.attribute, &self.words);
        Ok(WordClasses { is_tagged, words })
    }
}

/// The words of a test over shards: those in at least `min_documents` documents with their cells, and with their kinds if
/// content words are told from others.
pub(in crate::question) fn word_cells(
    context: &QuestionContext<'_>,
    (filter, step): (Option<&Filter>, Step),
    attribute: Attribute,
    (bins, min_documents): (&[Bin], u64),
    has_kinds: bool,
) -> Result<WordCells<'static>, QuestionError> {
    context.refuse_partial_test()?;
    let (filter, cells) = (Parsed::of_filter(filter), Some(PartCells::Steps(step)));
    // A word in this many documents is in its share of them in one shard at least.
    let candidates = CandidatesPart {
        filter: filter.clone(),
        cells: cells.clone(),
        attribute,
        min_documents: context.share_of_shard(min_documents),
    };
    let words = context.gather(&candidates)?;
    let kinds = if has_kinds { word_kinds(context, attribute, words.clone())?.0 } else { BTreeMap::new() };
    let periods = bins.iter().map(|bin| (Day::of(bin.first).0, Day::of(bin.last).0 + 1)).collect();
    let part = CellsPart { filter, cells, attribute, periods, words, any_case: BTreeSet::new() };
    let found = context.gather_each(|_| Some(&part))?;
    Ok(WordCells::Sum(table(found.into_iter().flatten().collect(), bins.len(), &kinds)?))
}

/// The kinds of words, and whether tags tell them.
pub(in crate::question) fn word_kinds(
    context: &QuestionContext<'_>,
    attribute: Attribute,
    words: BTreeSet<String>,
) -> Result<(BTreeMap<String, WordKind>, bool), QuestionError> {
    // The most frequent words of all shards by three rounds (TPUT; Cao and Wang 2004): the sums of those that are frequent
    // in a shard bound the least total; a word with that total has its share of it in one shard at least.
    let least = {
        let first = context.gather(&TopWordsPart { attribute, most: frequent_words(), at_least: 1 })?;
        let mut totals: Vec<u64> = first.into_values().collect();
        totals.sort_unstable_by_key(|total| std::cmp::Reverse(*total));
        totals.get(frequent_words() - 1).copied().unwrap_or(1)
    };
    let share = TopWordsPart { attribute, most: usize::MAX, at_least: context.share_of_shard(least) };
    let often: BTreeSet<String> = context.gather(&share)?.into_keys().collect();
    let all: BTreeSet<String> = words.union(&often).cloned().collect();
    let found = context.gather(&ClassesPart { attribute, words: all })?;
    let total = |word: &String| found.words.get(word).map_or(0, |classes| classes.iter().sum::<u64>());
    let mut ranked: Vec<(std::cmp::Reverse<u64>, &String)> =
        often.iter().map(|word| (std::cmp::Reverse(total(word)), word)).collect();
    ranked.sort_unstable();
    let frequent: BTreeSet<&String> = ranked.into_iter().take(frequent_words()).map(|(_, word)| word).collect();
    let kind = |word: &String| {
        let classes = found.words.get(word).filter(|_| found.is_tagged);
        (word.clone(), kind_of(word, context.corpus, classes, frequent.contains(word)))
    };
    Ok((words.iter().map(kind).collect(), found.is_tagged))
}

/// The cells of all shards as one table, with sites in the order of their names. An error if a site is in two shards.
pub(super) fn table(
    shards: Vec<ShardCells>,
    bins: usize,
    kinds: &BTreeMap<String, WordKind>,
) -> Result<CellTable, QuestionError> {
    if shards.iter().any(|shard| Some(shard.volume.len()) != shard.sites.len().checked_mul(bins)) {
        let message = "a shard sent cells of other sites or periods".to_owned();
        return Err(QuestionError::Shard { status: 502, parameter: None, message });
    }
    let mut numbers: BTreeMap<&str, u32> = BTreeMap::new();
    for site in shards.iter().flat_map(|shard| &shard.sites) {
        if numbers.insert(site, 0).is_some() {
            return Err(QuestionError::Shard {
                status: 503,
                parameter: None,
                message: format!("documents of {site} are in two shards; all documents of a site must be in one"),
            });
        }
    }
    (0..).zip(numbers.values_mut()).for_each(|(number, of_site)| *of_site = number);
    let count = numbers.len() * bins;
    let mut volume = SiteVolume { bins, tokens: vec![0.0; count], documents: vec![0.0; count] };
    let mut words: BTreeMap<&str, Vec<CellCount>> = BTreeMap::new();
    for shard in &shards {
        let number = |site: u32| shard.sites.get(site as usize).and_then(|site| numbers.get(site.as_str())).copied();
        for (at, (tokens, documents)) in shard.volume.iter().enumerate() {
            let Some(site) = at.checked_div(bins).and_then(|site| number(u32::try_from(site).ok()?)) else { continue };
            let cell = site as usize * bins + at % bins;
            (volume.tokens[cell], volume.documents[cell]) = (*tokens as f64, *documents as f64);
        }
        for (word, cells) in &shard.words {
            let counts = words.entry(word).or_default();
            counts.extend(cells.iter().filter(|cell| (cell.1 as usize) < bins).filter_map(
                |(site, bin, hits, documents)| {
                    Some(CellCount { site: number(*site)?, bin: *bin, hits: *hits, documents: *documents })
                },
            ));
        }
    }
    let words = words.into_iter().map(|(word, mut counts)| {
        counts.sort_unstable_by_key(|count| (count.site, count.bin));
        (word.to_owned(), kinds.get(word).copied(), counts)
    });
    Ok(CellTable { words: words.collect(), volume })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_of_shards_are_joined_with_sites_in_the_order_of_names() {
        let shard = |sites: &[&str], word: &str| ShardCells {
            sites: sites.iter().map(|site| (*site).to_owned()).collect(),
            volume: (0..sites.len() as u64 * 2).map(|at| (10 * at, at)).collect(),
            words: vec![(word.to_owned(), vec![(0, 1, 3, 2)]), ("z".to_owned(), vec![(0, 0, 1, 1)])],
        };
        let joined = table(vec![shard(&["b", "d"], "y"), shard(&["a"], "x")], 2, &BTreeMap::new()).unwrap();
        assert_eq!(joined.volume.tokens, [0.0, 10.0, 0.0, 10.0, 20.0, 30.0]);
        let words: Vec<(&str, Vec<u32>)> = joined
            .words
            .iter()
            .map(|(word, _, counts)| (word.as_str(), counts.iter().map(|count| count.site).collect()))
            .collect();
        assert_eq!(words, [("x", vec![0]), ("y", vec![1]), ("z", vec![0, 1])]);
        let twice = table(vec![shard(&["a"], "x"), shard(&["a"], "x")], 2, &BTreeMap::new());
        assert!(matches!(twice, Err(QuestionError::Shard { status: 503, .. })), "a site in two shards");
    }
}
