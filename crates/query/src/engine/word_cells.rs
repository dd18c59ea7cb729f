//! Words with their counts by site and period: what tests of the whole vocabulary are made from.
//!
//! They are read from an index, word by word, or were added up from the answers of shards. The tests know no difference.

use super::content::ContentWords;
use super::{Engine, Limits, SiteCells, Subcorpus, WordKind};
use crate::cql::Attribute;
use crate::trend::{CellCount, SiteVolume};
use std::ops::Range;
use tidings_index::Day;

/// Words with their cells, in the order of their values.
pub(crate) enum WordCells<'e> {
    /// Those of an index.
    Index(IndexCells<'e>),
    /// Those of several shards.
    Sum(CellTable),
}

/// The words of an index with their cells.
pub(crate) struct IndexCells<'e> {
    engine: &'e Engine,
    attribute: Attribute,
    cells: SiteCells<'e>,
    limits: Limits,
    content: Option<&'e ContentWords<'e>>,
}

/// A table of words with their cells.
#[derive(Debug, Default)]
pub(crate) struct CellTable {
    pub(crate) volume: SiteVolume,
    /// The words, sorted, with their kinds if content words are told from others.
    pub(crate) words: Vec<(String, Option<WordKind>, Vec<CellCount>)>,
}

/// A word of [`WordCells`].
pub(crate) enum CountedWord<'w> {
    Index(&'w IndexCells<'w>, u32),
    Sum(&'w str, Option<WordKind>),
}

impl CountedWord<'_> {
    /// The word.
    pub(crate) fn value(&self) -> String {
        match self {
            CountedWord::Index(index, word) => index.engine.name(index.attribute, *word),
            CountedWord::Sum(value, _) => (*value).to_owned(),
        }
    }

    /// Its kind, if content words are told from others.
    pub(crate) fn kind(&self) -> Option<WordKind> {
        match self {
            CountedWord::Index(index, word) => index.content.map(|content| content.kind(*word)),
            CountedWord::Sum(_, kind) => *kind,
        }
    }
}

/// A word that is tested.
pub(crate) struct Tested<T> {
    pub(crate) value: String,
    pub(crate) is_name: bool,
    pub(crate) measured: T,
}

impl<'e> WordCells<'e> {
    /// The words of an index, in a subcorpus and periods, which are sorted and do not overlap.
    pub(crate) fn of_index(
        engine: &'e Engine,
        subcorpus: &'e Subcorpus,
        attribute: Attribute,
        periods: &[Range<Day>],
        content: Option<&'e ContentWords<'e>>,
    ) -> WordCells<'e> {
        subcorpus.limits().begin_pass(engine.tokens(subcorpus));
        let cells = engine.site_cells(subcorpus, periods);
        WordCells::Index(IndexCells { engine, attribute, cells, limits: subcorpus.limits().clone(), content })
    }

    /// The text in each cell.
    pub(crate) fn volume(&self) -> &SiteVolume {
        match self {
            WordCells::Index(index) => index.cells.volume(),
            WordCells::Sum(table) => &table.volume,
        }
    }

    /// The results of a function of every word that occurs at least `at_least` times. `work` is called once on each thread
    /// and makes the function.
    pub(crate) fn map<T: Send, F: FnMut(&CountedWord<'_>, &[CellCount]) -> Option<T>>(
        &self,
        at_least: u64,
        work: impl Fn() -> F + Sync,
    ) -> Vec<T> {
        match self {
            WordCells::Index(index) => {
                let IndexCells { engine, attribute, cells, limits, .. } = index;
                engine.map_words_by_site(cells, *attribute, at_least, limits, || {
                    let mut each = work();
                    move |word, counts| each(&CountedWord::Index(index, word), counts)
                })
            }
            WordCells::Sum(table) => {
                let mut each = work();
                let hits = |counts: &[CellCount]| counts.iter().map(|count| u64::from(count.hits)).sum::<u64>();
                let frequent = table.words.iter().filter(|(.., counts)| hits(counts) >= at_least.max(1));
                frequent.filter_map(|(value, kind, counts)| each(&CountedWord::Sum(value, *kind), counts)).collect()
            }
        }
    }

    /// Measures every content word in at least `min_documents` documents, or every such word if they are not told from
    /// others. Returns those measured, and how many others are as frequent.
    pub(crate) fn measure<T: Send, F: FnMut(&[CellCount]) -> T>(
        &self,
        min_documents: u64,
        work: impl Fn() -> F + Sync,
    ) -> (Vec<Tested<T>>, u64) {
        let found = self.map(min_documents, || {
            let mut measure = work();
            move |word, counts: &[CellCount]| {
                let documents: u64 = counts.iter().map(|count| u64::from(count.documents)).sum();
                let kind = (documents >= min_documents).then(|| word.kind())?;
                if kind.is_some_and(|kind| !kind.is_content()) {
                    return Some(None);
                }
                let is_name = kind == Some(WordKind::Name);
                Some(Some(Tested { value: word.value(), is_name, measured: measure(counts) }))
            }
        });
        let left_out = found.iter().filter(|word| word.is_none()).count() as u64;
        (found.into_iter().flatten().collect(), left_out)
    }
}
