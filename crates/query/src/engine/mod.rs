//! Evaluates queries over the segments of an index.
//!
//! An [`Engine`] reads one snapshot of the index. A [`Search`] is a query compiled for it: it returns hits in the order of
//! time, counts and groups them, and computes collocations. [`Engine::words`] and others count the tokens of a corpus or a
//! [`Subcorpus`]. [`Limits`] stop everything that takes long.

mod advice;
mod attribute_counts;
mod compiled;
mod content;
mod contrast;
mod count;
mod crosstab;
mod difference;
mod dispersion;
mod document_hits;
mod documents;
mod expanded_hits;
mod find;
mod gdex;
mod grams;
mod kwic;
mod labelled_run;
mod layers;
mod levels;
mod lexeme_test;
mod limits;
mod meaning;
mod memory;
mod near;
mod new_words;
pub(crate) mod nfa;
mod nfa_run;
mod parallel;
mod part_counts;
mod periods;
mod plan;
mod relations;
mod restrict;
mod scope;
mod search;
mod series;
mod set;
mod sketch;
mod span_counts;
mod span_finder;
mod span_values;
mod spans;
mod terms;
mod thesaurus;
mod time;
mod topic_mix;
mod view;
mod visibility;
mod word_cells;
mod words;

pub use content::{ContentWords, WordKind};
pub(crate) use content::{TagClasses, frequent_words, kind_of};
pub use contrast::ContrastOf;
pub use count::{DayCounts, DayVolume, FieldCount, FieldCounts, TimelineCounts};
pub(crate) use crosstab::cross_cells;
pub use crosstab::{CellCounts, CrossCells, DocumentLevel};
pub use difference::WordDifferences;
pub(crate) use difference::{ContrastTest, PartText, is_compared, smaller_part};
pub use dispersion::{CorpusPart, HitDispersion, HitPlaces};
pub(crate) use documents::HitsByDocument;
pub use layers::Features;
pub use levels::{Level, LevelCounts};
pub use limits::{CutOff, Limit, Limits};
pub use meaning::{MeaningChanges, MeaningConfig};
pub use memory::MemoryPool;
pub(crate) use memory::Reserved;
pub use near::Around;
pub(crate) use new_words::{
    IsKnown, Novelty, Spread, WordKinds, any_case, is_eligible, is_tested, is_unseen, judge_spreads, owners,
    window_periods,
};
pub(crate) use part_counts::CellRows;
pub use periods::{PeriodCounts, SiteCells};
pub use search::{Hit, Order, Search};
pub use series::{SeriesConfig, TestedWord, TestedWords, WordSeason, WordStep};
pub use sketch::SketchOf;
pub(crate) use sketch::{MarginalsOf, PairCounts, SketchCounts, TagCounts, headword, sketch_of};
pub use span_values::{SpanCount, SpanCounts, SpanKey, SpanTally};
pub use terms::TermWords;
pub(crate) use thesaurus::{MIN_TOGETHER, Near, Neighbours, most_frequent_tag, similar_of};
pub use thesaurus::{Similar, SimilarTo, SimilarWord};
pub(crate) use time::of_sites;
pub use view::{MOST_SORTED, View};
pub use visibility::{Cells, GROUP_DOCUMENTS, Reading, SETTLING_DAYS, Selection};
pub use words::is_wordlike;
pub(crate) use words::words as rank_words;

use crate::cql::MatchRule;
use crate::cql::ast::Query;
use crate::filter::{CompiledFilter, Filter};
use crate::question::{Availability, WholeCorpus};
use crate::syntax::SyntaxError;
use compiled::CompiledQuery;
pub(crate) use limits::Deadline;
use relations::Marginals;
use scope::Scope;
use set::SetBuilder;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock};
use tidings_index::lexicon::{Layer, Lexicon};
use tidings_index::{Day, Snapshot};
use visibility::{Groups, GroupsKey};
pub(crate) use word_cells::{CellTable, WordCells};

/// An error of the engine.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The query or the filter is invalid.
    #[error(transparent)]
    Syntax(#[from] SyntaxError),
    /// The index is damaged.
    #[error(transparent)]
    Index(#[from] tidings_index::Error),
    /// More values than fit into the memory limit.
    #[error(
        "more distinct n-grams than the {limit} that one question may count; use a higher minimum frequency, a shorter \
         period or a smaller subcorpus"
    )]
    TooMany {
        /// The maximum.
        limit: usize,
    },
    /// The conditions of the query select more words than fit into the memory limit.
    #[error(
        "the conditions of the query select too many words for the memory of one question; use fewer alternatives, or join \
         them in one regular expression"
    )]
    TooManyWords,
    /// A shard of a corpus is asked for what only the whole corpus knows.
    #[error("{0} cannot be put together from shards; ask a server that has the whole corpus in one index")]
    NeedsWholeCorpus(&'static str),
    /// A limit was reached while the query was compiled.
    #[error(
        "the time limit is reached; use fewer alternatives, simpler regular expressions or a smaller part of the corpus"
    )]
    Stopped,
}

/// The corpus that a search is a part of.
pub(crate) struct PartOf {
    pub(crate) whole: Arc<WholeCorpus>,
    /// Whether hits are counted and not shown as lines.
    pub(crate) is_counted: bool,
}

/// A result of the engine.
pub type Result<T> = std::result::Result<T, EngineError>;

/// A number of hits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counted {
    /// The number of hits.
    pub hits: u64,
    /// True if the search was exhaustive; false if a limit stopped it.
    pub complete: bool,
}

/// Evaluates queries on one snapshot of an index.
#[derive(Debug)]
pub struct Engine {
    snapshot: Snapshot,
    /// The frequency of each string of each layer without deleted documents; computed on first use.
    totals: Vec<OnceLock<Vec<u64>>>,
    /// The volume of each day; computed on first use.
    volume: OnceLock<BTreeMap<Day, DayVolume>>,
    /// The marginal counts of frequent lemmas in the relations of each grammar; computed on first use.
    marginals: Mutex<BTreeMap<String, Arc<Marginals>>>,
    /// For each word the first word that differs from it in case only; computed on first use.
    folded: OnceLock<Vec<u32>>,
    /// The morphological features of tokens; computed on first use.
    features: OnceLock<Features>,
    /// Engines over the documents that a client may read, by default availability and that of lines.
    readable: Mutex<Vec<ReadableView>>,
    /// The groups in which hidden documents are counted.
    groups: Mutex<Vec<(GroupsKey, Arc<Groups>)>>,
}

/// An engine over readable documents, with the rights that it is for; nothing if all documents are readable.
type ReadableView = ((Availability, Availability), Option<Arc<Engine>>);

/// A subcorpus: the documents that a filter admits.
#[derive(Debug)]
pub struct Subcorpus {
    scopes: Vec<Scope>,
    is_everything: bool,
    limits: Limits,
}

impl Subcorpus {
    /// Sets the limits of counting. Check [`Limits::cut_off`] after counting: a count that was cut off is partial.
    pub fn with_limits(self, limits: Limits) -> Subcorpus {
        Subcorpus { limits, ..self }
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }
}

impl Engine {
    /// Creates an engine on a snapshot of an index.
    pub fn new(snapshot: Snapshot) -> Engine {
        Engine {
            totals: snapshot.lexicon().layers().map(|_| OnceLock::new()).collect(),
            snapshot,
            volume: OnceLock::new(),
            marginals: Mutex::default(),
            folded: OnceLock::new(),
            features: OnceLock::new(),
            readable: Mutex::default(),
            groups: Mutex::default(),
        }
    }

    /// Computes the caches that are otherwise filled on first use, so that no request waits for them.
    pub fn prepare(&self) {
        self.all_volume();
        self.string_totals(Layer::Word);
        self.folded();
    }

    /// Returns an error that names the file if bytes of the index were read that differ from their digests. Ask after a
    /// search and before its results are used; [`Question::answer`](crate::question::Question::answer) does.
    pub fn intact(&self) -> Result<()> {
        Ok(self.snapshot.intact()?)
    }

    /// The snapshot.
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    pub(crate) fn lexicon(&self) -> &Lexicon {
        self.snapshot.lexicon()
    }

    /// The subcorpus of a filter; the whole corpus without one.
    pub fn subcorpus(&self, filter: Option<&Filter>) -> Result<Subcorpus> {
        let filter: Option<CompiledFilter> = filter.map(Filter::compile).transpose()?;
        let scopes = self.snapshot.segments().iter().map(|live| Scope::new(live, filter.as_ref()));
        Ok(Subcorpus { scopes: scopes.collect(), is_everything: filter.is_none(), limits: Limits::default() })
    }

    /// Compiles a query for the corpus or the documents that a filter admits.
    pub fn search(&self, query: &Query, rule: MatchRule, filter: Option<&Filter>) -> Result<Search<'_>> {
        self.search_within(query, rule, filter, &Limits::default())
    }

    /// The same within limits: an error if one is reached before the search begins.
    pub fn search_within(
        &self,
        query: &Query,
        rule: MatchRule,
        filter: Option<&Filter>,
        limits: &Limits,
    ) -> Result<Search<'_>> {
        self.search_with(query, rule, filter, SetBuilder::new(self, limits))
    }

    /// The same for a shard of a corpus. If lenient, annotations that no document of the shard has match nothing.
    pub(crate) fn search_part(
        &self,
        query: &Query,
        rule: MatchRule,
        filter: Option<&Filter>,
        limits: &Limits,
        (part, is_lenient): (&PartOf, bool),
    ) -> Result<Search<'_>> {
        let builder = SetBuilder::of_part(self, limits, part.whole.clone(), is_lenient);
        let search = match query.cut {
            None => self.search_with(query, rule, filter, builder)?,
            Some(_) => {
                let kept = part.whole.cut(part.is_counted);
                let kept = kept.ok_or(EngineError::NeedsWholeCorpus("cut, the first hits of the corpus,"))?;
                self.search_with(&Query { cut: Some(kept), ..query.clone() }, rule, filter, builder)?
            }
        };
        Ok(search.of_whole(part.whole.clone()))
    }

    fn search_with(
        &self,
        query: &Query,
        rule: MatchRule,
        filter: Option<&Filter>,
        mut builder: SetBuilder<'_>,
    ) -> Result<Search<'_>> {
        let compiled = CompiledQuery::new(query, self, &mut builder)?;
        let filter = filter.map(Filter::compile).transpose()?;
        Ok(Search::new(self, query, compiled, rule, filter, builder.into_memory()))
    }
}
