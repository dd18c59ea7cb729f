//! Evaluates questions over the segments of an index.
//!
//! An [`Engine`] speaks of one generation of the index. A [`Search`] is a query that was compiled for it: it gives hits in the
//! order of time, counts them, groups them, and says what stands beside them. [`Engine::words`] and its kin count the tokens
//! of a corpus or of a part of it. Everything that takes long can be stopped by [`Limits`].

mod advice;
mod contrast;
mod count;
mod documents;
mod find;
mod grams;
mod kwic;
mod layers;
mod near;
mod nfa;
mod periods;
mod plan;
mod relations;
mod restrict;
mod scope;
mod search;
mod set;
mod sketch;
mod time;
mod view;
mod words;

pub use contrast::ContrastOf;
pub use count::{DayVolume, FieldCounts};
pub use layers::Features;
pub use periods::PeriodCounts;
pub use search::{Hit, Order, Search};
pub use sketch::SketchOf;
pub use view::{MOST_SORTED, View};
pub use words::is_wordlike;

use crate::cql::MatchRule;
use crate::cql::ast::Query;
use crate::filter::{CompiledFilter, Filter};
use crate::syntax::SyntaxError;
use nfa::Nfa;
use relations::Marginals;
use restrict::HitConditions;
use scope::Scope;
use set::LexemeSet;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Instant;
use tidings_index::lexicon::{Layer, Lexicon};
use tidings_index::{Day, Snapshot};

/// Why a question was not answered.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The question is wrong.
    #[error(transparent)]
    Syntax(#[from] SyntaxError),
    /// The index is damaged.
    #[error(transparent)]
    Index(#[from] tidings_index::Error),
    /// There is more to count than memory should hold.
    #[error(
        "there are more than {limit} different n-grams; ask for more frequent ones, a shorter period or a smaller part of the corpus"
    )]
    TooMany {
        /// How many may be held.
        limit: usize,
    },
}

/// What an engine gives.
pub type Result<T> = std::result::Result<T, EngineError>;

/// When to stop before everything was looked at.
#[derive(Debug, Clone, Copy, Default)]
pub struct Limits<'l> {
    /// Not later than this.
    pub until: Option<Instant>,
    /// As soon as somebody sets this.
    pub cancelled: Option<&'l AtomicBool>,
}

impl Limits<'_> {
    pub(crate) fn is_over(&self) -> bool {
        self.cancelled.is_some_and(|cancelled| cancelled.load(Ordering::Relaxed))
            || self.until.is_some_and(|until| Instant::now() >= until)
    }
}

/// Looks at the limits now and then, where single steps take too little time to ask before each.
#[derive(Debug, Clone)]
pub(crate) struct Deadline<'l> {
    limits: Limits<'l>,
    steps: u32,
    is_over: bool,
}

impl<'l> Deadline<'l> {
    /// Between two looks lie so many steps, a few hundred microseconds.
    const STEPS: u32 = 1 << 14;

    pub(crate) fn new(limits: &Limits<'l>) -> Deadline<'l> {
        Deadline { limits: *limits, steps: 0, is_over: false }
    }

    /// Counts a step; false if it must be the last.
    #[inline]
    pub(crate) fn tick(&mut self) -> bool {
        self.tick_by(1)
    }

    /// Counts many small steps at once; false if they must be the last.
    #[inline]
    pub(crate) fn tick_by(&mut self, steps: u32) -> bool {
        self.steps = self.steps.saturating_add(steps);
        if self.steps >= Deadline::STEPS {
            self.steps = 0;
            self.is_over |= self.limits.is_over();
        }
        !self.is_over
    }
}

/// A number and whether everything was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counted {
    /// The number.
    pub hits: u64,
    /// Whether that is all; otherwise a limit was hit first.
    pub complete: bool,
}

/// Answers questions about one generation of an index.
#[derive(Debug)]
pub struct Engine {
    snapshot: Snapshot,
    /// How often each string of each layer occurs in everything that is not removed; made when first asked for.
    totals: [OnceLock<Vec<u64>>; Layer::COUNT],
    /// What was collected on each day; made when first asked for.
    volume: OnceLock<BTreeMap<Day, DayVolume>>,
    /// How often frequent lemmas stand in the relations of each grammar; counted when first asked for.
    marginals: Mutex<BTreeMap<String, Arc<Marginals>>>,
    /// For each word the first that differs from it in case only; made when first asked for.
    folded: OnceLock<Vec<u32>>,
    /// The morphological features of its tokens; collected when first asked for.
    features: OnceLock<Features>,
}

/// A part of the corpus: the documents that a filter admits.
#[derive(Debug)]
pub struct Subcorpus {
    scopes: Vec<Scope>,
    is_everything: bool,
    stop: Option<(Instant, Arc<AtomicBool>)>,
}

impl Subcorpus {
    /// The same part for an impatient asker: what counts its words stops soon after this time, or after somebody says so.
    /// Whoever sets a limit must ask [`Subcorpus::is_over`] before they believe a count.
    pub fn until(self, time: Instant, cancelled: Arc<AtomicBool>) -> Subcorpus {
        Subcorpus { stop: Some((time, cancelled)), ..self }
    }

    /// Whether the limit is reached, so that counts may be incomplete.
    pub fn is_over(&self) -> bool {
        self.limits().is_over()
    }

    pub(crate) fn limits(&self) -> Limits<'_> {
        match &self.stop {
            Some((time, cancelled)) => Limits { until: Some(*time), cancelled: Some(cancelled) },
            None => Limits::default(),
        }
    }
}

impl Engine {
    /// An engine over a generation of an index.
    pub fn new(snapshot: Snapshot) -> Engine {
        Engine {
            snapshot,
            totals: Default::default(),
            volume: OnceLock::new(),
            marginals: Mutex::default(),
            folded: OnceLock::new(),
            features: OnceLock::new(),
        }
    }

    /// Makes what is otherwise made when first asked for, so that nobody has to wait for it.
    pub fn prepare(&self) {
        self.all_volume();
        self.string_totals(Layer::Word);
        self.folded();
    }

    /// The generation it speaks of.
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    pub(crate) fn lexicon(&self) -> &Lexicon {
        self.snapshot.lexicon()
    }

    /// The part of the corpus that a filter describes; all of it without one.
    pub fn subcorpus(&self, filter: Option<&Filter>) -> Result<Subcorpus> {
        let filter: Option<CompiledFilter> = filter.map(Filter::compile).transpose()?;
        let scopes = self.snapshot.segments().iter().map(|live| Scope::new(live, filter.as_ref()));
        Ok(Subcorpus { scopes: scopes.collect(), is_everything: filter.is_none(), stop: None })
    }

    /// Compiles a query for this corpus, or for those of its documents that a filter admits.
    pub fn search(&self, query: &Query, rule: MatchRule, filter: Option<&Filter>) -> Result<Search<'_>> {
        let nfa = Nfa::new(&query.pattern)?;
        let sets = sets_of(&nfa, self.lexicon())?;
        let conditions = HitConditions::new(query, self.lexicon())?;
        let filter = filter.map(Filter::compile).transpose()?;
        Ok(Search::new(self, query, nfa, sets, conditions, rule, filter))
    }
}

/// The lexemes that each test of a machine admits.
pub(crate) fn sets_of(nfa: &Nfa, lexicon: &Lexicon) -> std::result::Result<Vec<LexemeSet>, SyntaxError> {
    let set = |test: &Option<_>| match test {
        Some(condition) => LexemeSet::of(condition, lexicon),
        None => Ok(LexemeSet::All),
    };
    nfa.tests.iter().map(set).collect()
}
