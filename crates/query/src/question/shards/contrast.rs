//! Two parts of a corpus that are compared, word by word.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::cells::{ShardCells, table};
use super::{Part, WordCountsPart};
use crate::cql::Attribute;
use crate::engine::{CellRows, CellTable, ContrastTest, PartText, Subcorpus, is_compared, smaller_part};
use crate::filter::Filter;
use crate::question::{CompareConfig, Comparison, ContrastBasis, Parsed, PartSize, QuestionContext, QuestionError};
use crate::trend::{CellCount, Difference, DocumentContrasts, DocumentUnit, SiteContrasts, Step};

/// The part of a corpus that a document belongs to.
type PartOfCorpus = crate::trend::Part;

/// The sites with documents in both of two parts.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::question) struct SharedSitesPart {
    pub(in crate::question) one: Parsed<Filter>,
    pub(in crate::question) other: Parsed<Filter>,
}

impl Part for SharedSitesPart {
    const NAME: &'static str = "shared-sites";
    type Sum = BTreeSet<String>;

    fn compute(&self, context: &QuestionContext<'_>) -> Result<BTreeSet<String>, QuestionError> {
        let sites = |filter: &Filter| Ok::<_, QuestionError>(context.engine.sites(&context.subcorpus(Some(filter))?));
        Ok(sites(&self.one)?.intersection(&sites(&self.other)?).cloned().collect())
    }
}

/// Two parts, and which of them is the smaller one.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct TwoParts {
    before: Parsed<Filter>,
    after: Parsed<Filter>,
    /// Whether documents of both belong to the first.
    is_before_smaller: bool,
}

impl TwoParts {
    fn subcorpora(&self, context: &QuestionContext<'_>) -> Result<(Subcorpus, Subcorpus), QuestionError> {
        Ok((context.subcorpus(Some(&self.before))?, context.subcorpus(Some(&self.after))?))
    }

    fn shared(&self) -> PartOfCorpus {
        if self.is_before_smaller { PartOfCorpus::Before } else { PartOfCorpus::After }
    }
}

/// The text of two parts by site and day.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct PartTextPart {
    parts: TwoParts,
}

impl Part for PartTextPart {
    const NAME: &'static str = "part-text";
    type Sum = PartText;

    fn compute(&self, context: &QuestionContext<'_>) -> Result<PartText, QuestionError> {
        let (before, after) = self.parts.subcorpora(context)?;
        Ok(context.engine.documents_of_parts(&before, &after, self.parts.shared()).text().clone())
    }
}

/// The cells of some words by site and period of two parts.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct PartPeriodsPart {
    parts: TwoParts,
    attribute: Attribute,
    words: BTreeSet<String>,
    step: Step,
    /// The part and the first day of each period.
    periods: Vec<(usize, i32)>,
}

impl Part for PartPeriodsPart {
    const NAME: &'static str = "part-periods";
    type Sum = ShardCells;

    fn compute(&self, context: &QuestionContext<'_>) -> Result<ShardCells, QuestionError> {
        let (before, after) = self.parts.subcorpora(context)?;
        let documents = context.engine.documents_of_parts(&before, &after, self.parts.shared());
        let bins = self.periods.iter().copied().zip(0..).collect();
        let cells = documents.periods(self.step, &bins);
        let words = context.engine.cells_of_words(&after, &cells, self.attribute, &|word| self.words.contains(word));
        Ok(ShardCells::new(&cells, words))
    }
}

/// The hits of some words in each document of two parts.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct PartDocumentsPart {
    parts: TwoParts,
    attribute: Attribute,
    words: BTreeSet<String>,
}

/// Documents and the hits of words in them.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ShardDocuments {
    sites: Vec<String>,
    /// The number of its site, whether it belongs to the second part, and its tokens.
    documents: Vec<(u32, bool, u64)>,
    /// Cells as number of the document, 0, hits and 1.
    words: Vec<(String, CellRows)>,
}

impl Part for PartDocumentsPart {
    const NAME: &'static str = "part-documents";
    type Sum = ShardDocuments;

    fn compute(&self, context: &QuestionContext<'_>) -> Result<ShardDocuments, QuestionError> {
        let (before, after) = self.parts.subcorpora(context)?;
        let documents = context.engine.documents_of_parts(&before, &after, self.parts.shared());
        let (cells, units) = documents.units(true);
        let words = context.engine.cells_of_words(&after, &cells, self.attribute, &|word| self.words.contains(word));
        let document = |unit: &DocumentUnit| (unit.stratum, unit.part == PartOfCorpus::After, unit.tokens as u64);
        let documents = units.iter().map(document).collect();
        Ok(ShardDocuments { sites: cells.sites().to_vec(), documents, words })
    }
}

/// The hits and documents of each word of a part, and the size of the part.
type WordsOfPart = (HashMap<String, (u64, u64)>, PartSize);

/// The words of two parts over shards, with their differences.
pub(in crate::question) struct WordContrast {
    /// The hits and documents of each word, and the size, of the first and the second part.
    pub(in crate::question) counts: [WordsOfPart; 2],
    /// What the test rests on.
    pub(in crate::question) basis: ContrastBasis,
    /// The words tested with their differences, in the order of the words.
    pub(in crate::question) differences: Vec<(String, Difference)>,
}

impl WordContrast {
    /// Counts all words of two parts, and tests those in enough documents.
    pub(in crate::question) fn new(
        context: &QuestionContext<'_>,
        (before, after): (&Filter, &Filter),
        attribute: Attribute,
        config: &CompareConfig,
    ) -> Result<WordContrast, QuestionError> {
        context.refuse_partial_test()?;
        let count = |filter: &Filter| {
            let filter = Parsed::of_filter(Some(filter));
            let part = WordCountsPart { filter, attribute, ngram: 1, regex: None, cells: None };
            let (words, (tokens, documents)) = context.gather(&part)?;
            Ok::<_, QuestionError>((words, PartSize { tokens, documents }))
        };
        let counts = [count(before)?, count(after)?];
        let is_before_smaller = smaller_part(counts[0].1.tokens, counts[1].1.tokens) == PartOfCorpus::Before;
        let [before, after] = [before, after].map(|filter| Parsed::of(filter.clone()));
        let parts = TwoParts { before, after, is_before_smaller };
        let text = context.gather(&PartTextPart { parts: parts.clone() })?;
        let basis = text.basis();
        // Documents of both parts count twice here, and once in the cells.
        let min_documents = config.min_documents.max(1);
        let documents = |word: &str| counts.iter().filter_map(|(words, _)| Some(words.get(word)?.1)).sum::<u64>();
        let words = counts.iter().flat_map(|(words, _)| words.keys());
        let often = words.filter(|word| is_compared(word, config) && documents(word) >= min_documents);
        let words: BTreeSet<String> = often.cloned().collect();
        let (table, mut test) = match basis.unit.step() {
            Some(step) => {
                let (bins, of_bins) = text.periods(step);
                let mut periods = vec![(0, 0); bins.len()];
                bins.iter().for_each(|(period, number)| periods[*number as usize] = *period);
                let part = PartPeriodsPart { parts, attribute, words, step, periods };
                let found = context.gather_each(|_| Some(&part))?;
                let table = table(found.into_iter().flatten().collect(), of_bins.len(), &BTreeMap::new())?;
                let test = ContrastTest::Sites(Box::new(SiteContrasts::new(&table.volume, &of_bins)));
                (table, test)
            }
            None => {
                let part = PartDocumentsPart { parts, attribute, words };
                let found = context.gather_each(|_| Some(&part))?;
                let (table, units) = documents_of_shards(found.into_iter().flatten().collect(), basis.within_sites);
                (table, ContrastTest::Documents(DocumentContrasts::new(units)))
            }
        };
        let mut names = Vec::new();
        for (word, _, cells) in table.words {
            if cells.iter().map(|cell| u64::from(cell.documents)).sum::<u64>() >= min_documents {
                test.add(&cells);
                names.push(word);
            }
        }
        Ok(WordContrast { counts, basis, differences: names.into_iter().zip(test.finish()).collect() })
    }

    /// The words that rise or fall.
    pub(in crate::question) fn comparison(self, attribute: Attribute, config: &CompareConfig) -> Comparison {
        let WordContrast { counts, basis, differences } = self;
        let of = |part: usize, word: &str| counts[part].0.get(word).copied().unwrap_or_default();
        let words = differences.into_iter().map(|(word, difference)| {
            let (before, after) = (of(0, &word), of(1, &word));
            (word, before, after, difference)
        });
        Comparison::of(attribute, (counts[0].1, counts[1].1), basis, config, words)
    }
}

/// The documents of all shards as one list, and the words with their hits in them.
fn documents_of_shards(shards: Vec<ShardDocuments>, within_sites: bool) -> (CellTable, Vec<DocumentUnit>) {
    let names: BTreeSet<&str> = shards.iter().flat_map(|shard| &shard.sites).map(String::as_str).collect();
    let numbers: HashMap<&str, u32> = names.into_iter().zip(0..).collect();
    let (mut units, mut words): (Vec<DocumentUnit>, BTreeMap<&str, Vec<CellCount>>) = Default::default();
    for shard in &shards {
        let first = units.len() as u32;
        units.extend(shard.documents.iter().map(|(site, is_after, tokens)| {
            let site = shard.sites.get(*site as usize).and_then(|site| numbers.get(site.as_str()));
            let part = if *is_after { PartOfCorpus::After } else { PartOfCorpus::Before };
            let stratum = if within_sites { site.copied().unwrap_or(0) } else { 0 };
            DocumentUnit { stratum, part, tokens: *tokens as f64 }
        }));
        for (word, cells) in &shard.words {
            let known = cells.iter().filter(|cell| (cell.0 as usize) < shard.documents.len());
            words.entry(word).or_default().extend(known.map(|(document, _, hits, documents)| CellCount {
                site: first + document,
                bin: 0,
                hits: *hits,
                documents: *documents,
            }));
        }
    }
    let words = words.into_iter().map(|(word, cells)| (word.to_owned(), None, cells)).collect();
    (CellTable { words, ..CellTable::default() }, units)
}

/// The n-grams of a part with at least some hits.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct GramsPart {
    filter: Parsed<Filter>,
    attribute: Attribute,
    n: u32,
    at_least: u64,
}

impl Part for GramsPart {
    const NAME: &'static str = "grams";
    type Sum = BTreeSet<Vec<String>>;

    fn compute(&self, context: &QuestionContext<'_>) -> Result<Self::Sum, QuestionError> {
        let subcorpus = context.subcorpus(Some(&self.filter))?;
        Ok(context.engine.gram_words(&subcorpus, self.attribute, self.n as usize, self.at_least)?)
    }
}

/// The hits of some n-grams in two parts, and the tokens of these.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct GramCountsPart {
    focus: Parsed<Filter>,
    reference: Parsed<Filter>,
    attribute: Attribute,
    n: u32,
    grams: Vec<Vec<String>>,
}

impl Part for GramCountsPart {
    const NAME: &'static str = "gram-counts";
    type Sum = ((u64, u64), Vec<(u64, u64)>);

    fn compute(&self, context: &QuestionContext<'_>) -> Result<Self::Sum, QuestionError> {
        let (focus, reference) = (context.subcorpus(Some(&self.focus))?, context.subcorpus(Some(&self.reference))?);
        let counts = |subcorpus: &Subcorpus| {
            context.engine.counts_of_grams(subcorpus, self.attribute, self.n as usize, &self.grams)
        };
        let tokens = (context.engine.tokens(&focus), context.engine.tokens(&reference));
        Ok((tokens, counts(&focus).into_iter().zip(counts(&reference)).collect()))
    }
}

/// N-grams with their hits in two parts.
type GramContrast = ((u64, u64), Vec<(String, u64, u64)>);

/// The n-grams with at least some hits in the focus over all shards, and the tokens of both parts.
pub(in crate::question) fn gram_contrast(
    context: &QuestionContext<'_>,
    (focus, reference): (&Filter, &Filter),
    attribute: Attribute,
    n: u32,
    at_least: u64,
) -> Result<GramContrast, QuestionError> {
    let [focus, reference] = [focus, reference].map(|filter| Parsed::of(filter.clone()));
    // An n-gram with this many hits has its share of them in one shard at least.
    let share = context.share_of_shard(at_least);
    let grams = context.gather(&GramsPart { filter: focus.clone(), attribute, n, at_least: share })?;
    let grams: Vec<Vec<String>> = grams.into_iter().collect();
    let part = GramCountsPart { focus, reference, attribute, n, grams };
    let (tokens, counts) = context.gather(&part)?;
    let found = part.grams.iter().zip(counts).map(|(words, (here, there))| (words.join(" "), here, there));
    Ok((tokens, found.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_of_shards_are_numbered_on_and_their_sites_by_name() {
        let shard = |sites: &[&str], documents: &[(u32, bool, u64)], cells: &[(u32, u32, u32, u32)]| ShardDocuments {
            sites: sites.iter().map(|site| (*site).to_owned()).collect(),
            documents: documents.to_vec(),
            words: vec![("w".to_owned(), cells.to_vec())],
        };
        let shards = vec![
            shard(&["b"], &[(0, true, 5), (0, false, 6)], &[(1, 0, 2, 1)]),
            // A cell of a document that is not there, and a document of a site that is not there.
            shard(&["a"], &[(0, true, 7), (9, true, 8)], &[(0, 0, 3, 1), (2, 0, 9, 9)]),
        ];
        let (table, units) = documents_of_shards(shards, true);
        assert_eq!(units.iter().map(|unit| unit.stratum).collect::<Vec<_>>(), [1, 1, 0, 0]);
        let cells: Vec<(u32, u32)> = table.words[0].2.iter().map(|cell| (cell.site, cell.hits)).collect();
        assert_eq!(cells, [(1, 2), (2, 3)]);
    }
}
