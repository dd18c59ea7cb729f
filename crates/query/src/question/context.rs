//! The corpus a question is answered from, with its limits and rights.

use jiff::civil::Date;
use serde::Serialize;
use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock};

use super::params::ScopeParams;
use super::shards::WholeMemo;
use super::shards::{Coverage, VolumePart};
use super::{
    Exactness, FindDecisions, FindOther, FrozenState, Parsed, PartNotes, QuestionError, Shards, WholeCorpus,
    WordDecisions,
};
use crate::cql::{Attribute, MatchRule, Query};
use crate::engine::{
    Cells, CutOff, Engine, EngineError, GROUP_DOCUMENTS, Limits, PartOf, Reading, Search, Selection, Subcorpus,
};
use crate::filter::{Filter, HitDocuments};
use crate::trend::Bin;

/// The field of a document that states its availability.
pub const AVAILABILITY_FIELD: &str = "availability";
/// Minimum hits of a row that is made of neighbouring words of documents that may be shown in lines only.
pub const MIN_HITS: u64 = 5;
/// Minimum documents of such a row, where documents are counted.
pub const MIN_DOCUMENTS: u64 = 3;
/// The share of documents at each end of the time whose dates do not decide about the length of a step: some are wrong.
const STRAY_DOCUMENTS: f64 = 0.001;
/// Maximum rows of an answer that is sent as one JSON body.
pub const MAX_PAGE_ROWS: u64 = 10_000;

choices! {
    /// Where the text of a document may be shown.
    pub enum Availability {
        /// Nowhere: counts and metadata only.
        Metadata = "metadata",
        /// In lines of a concordance, with a token.
        Kwic = "kwic",
        /// Everywhere.
        Open = "open",
    }
}

impl Availability {
    /// The availability that the field of a document states. No value means the default, and an unknown one allows nothing.
    pub fn of_field(value: Option<&str>, default: Availability) -> Availability {
        match value {
            None | Some("") => default,
            Some(name) => Availability::named(name).unwrap_or(Availability::Metadata),
        }
    }
}

/// The right to see text. Metadata are always shown, and counts as [`crate::engine::Reading`] says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Privacy {
    /// The availability of documents that do not state theirs.
    pub default: Availability,
    /// Minimum availability of documents whose lines are shown.
    pub lines: Availability,
    /// Minimum availability of documents whose whole text is shown.
    pub text: Availability,
    /// Minimum availability of documents that are counted one by one; others are counted in groups.
    pub alone: Availability,
    /// The day of the question; documents of the last days are in no group. Without a day all documents are old.
    pub today: Option<Date>,
}

impl Privacy {
    /// The right of the owner of the corpus: everything is shown.
    pub const fn owner(default: Availability) -> Privacy {
        let all = Availability::Metadata;
        Privacy { default, lines: all, text: all, alone: all, today: None }
    }

    /// Whether lines of a document may be shown.
    pub fn shows_lines(self, availability: Availability) -> bool {
        availability >= self.lines
    }

    /// Whether the whole text of a document may be shown.
    pub fn shows_text(self, availability: Availability) -> bool {
        availability >= self.text
    }

    /// Whether a document is counted on its own.
    pub fn counts_alone(self, availability: Availability) -> bool {
        availability >= self.alone
    }

    /// Whether the corpus has documents that are not counted on their own.
    pub fn is_limited(self, engine: &Engine) -> bool {
        let hidden = |availability| !self.counts_alone(availability);
        engine.snapshot().segments().iter().any(|live| match live.segment().field(AVAILABILITY_FIELD) {
            Some(field) => {
                (0..field.count()).any(|code| hidden(Availability::of_field(Some(field.value(code)), self.default)))
            }
            None => hidden(self.default),
        })
    }
}

/// Finds the filter of a virtual corpus by its name.
pub type FindFilter<'c> = &'c dyn Fn(&str) -> Result<Filter, QuestionError>;
/// Counts the days with fetch runs in each bin; nothing if the home has no runs.
pub type RunDays<'c> = &'c dyn Fn(&[Bin]) -> Option<Vec<u64>>;

/// Limits the lines of a document that a client is shown on one day.
#[derive(Clone, Copy)]
pub struct WindowLimit<'c> {
    /// The lines of a document on one day.
    pub per_day: u64,
    /// Takes one of the lines of a document, given by its id and position; false if there is none left.
    pub take: &'c dyn Fn(&str, u64) -> bool,
}

/// The corpus a question is answered from, with its limits and rights.
#[derive(Clone)]
pub struct QuestionContext<'c> {
    /// The engine over the documents whose lines may be shown, in one generation of the index.
    pub engine: &'c Engine,
    /// The engine over all documents. Only metadata and counts in groups are taken from it.
    pub all: &'c Engine,
    /// The language of the corpus.
    pub corpus: &'c str,
    /// The limits of searches; past them, an answer is partial and says so.
    pub limits: Limits,
    /// The limits of lists and tests over the whole vocabulary; past them, a test has no rows.
    pub vocabulary_limits: Limits,
    /// The right to see text.
    pub privacy: Privacy,
    /// Virtual corpora by name.
    pub find_filter: FindFilter<'c>,
    /// Decisions about new words.
    pub find_decisions: FindDecisions<'c>,
    /// Corpora of other languages.
    pub find_other: FindOther<'c>,
    /// Days with fetch runs.
    pub run_days: RunDays<'c>,
    /// Whether rows are sent as they are found, so that there may be many.
    pub streams: bool,
    /// The limit of lines of documents that may be shown in lines only.
    pub window_limit: Option<WindowLimit<'c>>,
    /// The hidden documents of the question so far.
    pub hidden: Arc<HiddenDocuments>,
    /// The frozen state that the engines are of; nothing if they are of the present one.
    pub frozen: Option<&'c FrozenState>,
    /// The shards to answer from, instead of the engines.
    pub shards: Option<Shards<'c>>,
    /// Set in the context of a shard that answers a part of a question.
    pub notes: Option<PartNotes>,
    /// What a shard is told of the whole corpus.
    pub whole: Option<Arc<WholeCorpus>>,
    /// What a question over shards has learned of the whole corpus.
    pub memo: Arc<WholeMemo>,
    /// The search of a shard that a limit stopped.
    pub cut_off_of_shard: Arc<OnceLock<CutOff>>,
    /// The documents with a hit of the queries of `has("…")` so far.
    pub hit_documents: Arc<HitDocumentsMemo>,
}

/// The documents with a hit, by query in canonical form. A question asks for them more than once.
#[derive(Debug, Default)]
pub struct HitDocumentsMemo(Mutex<Vec<(String, Arc<HitDocuments>)>>);

/// Hidden documents that a question selects, and those of them that are counted; of several selections the most.
#[derive(Debug, Default)]
pub struct HiddenDocuments {
    selected: AtomicU64,
    counted: AtomicU64,
}

/// An answer with what it is an answer to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answered<T> {
    /// The question and the state of the corpus.
    pub about: About,
    /// Changes to the question, such as rows that were left out to protect text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rewrites: Vec<String>,
    /// The answer itself.
    #[serde(flatten)]
    pub body: T,
}

answer! {
    /// The question and the state of the corpus that an answer belongs to.
    pub struct About {
        /// The language of the corpus.
        pub corpus: String,
        /// The state of the corpus: it grows with every change, and equal states give equal answers.
        pub generation: u64,
        /// The frozen state that was asked with `as_of`; missing if the answer is from the present state.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(with = "FrozenState")]
        pub frozen: Option<FrozenState>,
        /// The query in its canonical form.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(with = "String")]
        pub query: Option<String>,
        /// The filter in its canonical form.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(with = "String")]
        pub filter: Option<String>,
        /// The choice among matches that begin at one position.
        pub rule: MatchRule,
        /// Whether the numbers are exact.
        pub exactness: Exactness,
        /// The caution to show with the answer; missing unless a limit stopped the search or shards did not answer.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(with = "String")]
        pub warning: Option<String>,
        /// The documents that the answer leaves out or counts in groups, because the client may not read them; missing if
        /// there are none.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(with = "AppliedRights")]
        pub rights: Option<AppliedRights>,
    }

    /// What the rights of the client did to an answer.
    #[derive(Copy)]
    pub struct AppliedRights {
        /// Documents of the question that the client may not read.
        pub hidden_documents: u64,
        /// Those of them that are counted, in whole groups of documents of one site; the others are left out.
        pub counted_documents: u64,
        /// The documents of a group.
        pub group_documents: u64,
    }
}

impl AppliedRights {
    /// The sentence that tells readers.
    fn sentence(self) -> String {
        let AppliedRights { hidden_documents, counted_documents, group_documents } = self;
        let counted = match counted_documents {
            0 => "they are left out".to_owned(),
            counted if counted == hidden_documents => {
                format!("they are counted as single words, in whole groups of {group_documents} documents of a site")
            }
            counted => format!(
                "{counted} are counted as single words, in whole groups of {group_documents} documents of a site, and the \
                 others are left out"
            ),
        };
        format!("{hidden_documents} documents may not be read without a token that allows it: {counted}")
    }
}

/// The first of some days by which more than a number of documents were seen.
fn first_day_past<'v>(documents: u64, days: impl Iterator<Item = (&'v i32, &'v (u64, u64))>) -> Option<i32> {
    let mut seen = 0;
    for (day, (_, of_day)) in days {
        seen += of_day;
        if seen > documents {
            return Some(*day);
        }
    }
    None
}

impl HiddenDocuments {
    /// Those that are selected, and those of them that are counted.
    pub(super) fn counts(&self) -> (u64, u64) {
        (self.selected.load(Relaxed), self.counted.load(Relaxed))
    }
}

impl<'c> QuestionContext<'c> {
    /// A context without limits that shows everything and knows no virtual corpora.
    pub fn new(engine: &'c Engine, corpus: &'c str) -> QuestionContext<'c> {
        let unknown: FindFilter<'static> = &|name| {
            Err(QuestionError::NotFound { parameter: "in", message: format!("there is no virtual corpus {name}") })
        };
        QuestionContext {
            engine,
            all: engine,
            corpus,
            limits: Limits::default(),
            vocabulary_limits: Limits::default(),
            privacy: Privacy::owner(Availability::Kwic),
            find_filter: unknown,
            find_decisions: &|| Ok(WordDecisions::default()),
            find_other: &|code| {
                let message = format!("there is no corpus of {code} beside this one");
                Err(QuestionError::NotFound { parameter: "to", message })
            },
            run_days: &|_| None,
            streams: false,
            window_limit: None,
            hidden: Arc::default(),
            frozen: None,
            shards: None,
            notes: None,
            whole: None,
            memo: Arc::default(),
            cut_off_of_shard: Arc::default(),
            hit_documents: Arc::default(),
        }
    }

    /// A result that was made of intact files of the index; otherwise the error that names the damaged one. An error is
    /// replaced, too: a word that is not found may be one that cannot be read.
    pub fn checked<T>(&self, result: Result<T, QuestionError>) -> Result<T, QuestionError> {
        self.engine.intact()?;
        self.all.intact()?;
        result
    }

    /// The filter of the documents that a question is about. All its fields exist.
    pub fn filter(&self, scope: &ScopeParams) -> Result<Option<Filter>, QuestionError> {
        if let Some(filter) = &scope.filter {
            self.check_filter("filter", filter)?;
        }
        let named = scope.virtual_corpus.as_deref().map(self.find_filter).transpose()?;
        if let Some(named) = &named {
            // Saved in its canonical form, and read again for the places of its fields.
            let text = named.to_string();
            let filter = text.parse().unwrap_or_else(|_| named.clone());
            self.check_filter_text("in", &filter, &text)?;
        }
        Ok(Filter::both(named, scope.filter.as_deref().cloned()))
    }

    /// The filter with the documents that have a hit of each query of `has("…")`: of those that the client reads and counts
    /// one by one, so that others are selected by their metadata alone.
    pub(super) fn resolved<'f>(&self, filter: Option<&'f Filter>) -> Result<Option<Cow<'f, Filter>>, QuestionError> {
        let resolved = filter.map(|filter| match filter.hit_queries().next() {
            None => Ok(Cow::Borrowed(filter)),
            Some(_) => filter.resolved(&mut |query| self.documents_with_hit(query)).map(Cow::Owned),
        });
        resolved.transpose()
    }

    fn documents_with_hit(&self, query: &Query) -> Result<Arc<HitDocuments>, QuestionError> {
        let key = query.to_string();
        let known = self.hit_documents.0.lock().expect("no panic while held");
        if let Some((_, documents)) = known.iter().find(|(known, _)| *known == key) {
            return Ok(documents.clone());
        }
        drop(known);
        let search = self.compiled("filter", &Parsed::of(query.clone()), MatchRule::default(), None, true)?;
        let found = self.engine.hit_documents(&search, self.privacy, &self.limits);
        // Documents that were not searched would silently be missing from every number of the answer.
        let found = Arc::new(found.ok_or(QuestionError::Timeout)?);
        self.hit_documents.0.lock().expect("no panic while held").push((key, found.clone()));
        Ok(found)
    }

    /// The documents of a filter that an answer is made of, if the client may not read all documents.
    fn selection(&self, filter: Option<&Filter>, reading: Reading<'_>) -> Result<Option<Selection>, QuestionError> {
        if !self.privacy.is_limited(self.all) {
            return Ok(None);
        }
        if reading == Reading::Positions && filter.is_none() && self.privacy.alone == self.privacy.lines {
            // The engine of the context has exactly these documents.
            self.note_hidden(self.all.snapshot().documents() - self.engine.snapshot().documents(), 0);
            return Ok(None);
        }
        let selection = self.all.select(self.resolved(filter)?.as_deref(), self.privacy, reading)?;
        self.note_hidden(selection.hidden, selection.counted);
        Ok(Some(selection))
    }

    pub(super) fn note_hidden(&self, selected: u64, counted: u64) {
        self.hidden.selected.fetch_max(selected, Relaxed);
        self.hidden.counted.fetch_max(counted, Relaxed);
    }

    /// Notes the searches of shards that a limit stopped: the first limit, and the tokens of all.
    pub(super) fn note_cut_off(&self, cut_offs: &[CutOff]) {
        let Some(first) = cut_offs.first() else { return };
        let sum = |count: fn(&CutOff) -> u64| cut_offs.iter().map(count).sum();
        let (seen_tokens, of_tokens) = (sum(|cut| cut.seen_tokens), sum(|cut| cut.of_tokens));
        let _ = self.cut_off_of_shard.set(CutOff { seen_tokens, of_tokens, ..*first });
    }

    /// Notes the hidden documents of a filter for the answer to a question about positions.
    pub(super) fn note_filter(&self, filter: Option<&Filter>) -> Result<(), QuestionError> {
        self.selection(filter, Reading::Positions).map(drop)
    }

    /// The documents that a filter admits and that the client may read. Counting them stops at the limits of the context:
    /// check [`Self::cut_off`].
    pub(super) fn subcorpus(&self, filter: Option<&Filter>) -> Result<Subcorpus, QuestionError> {
        self.subcorpus_of(filter, Reading::Positions)
    }

    /// The documents that a filter admits and that take part in an answer.
    pub(super) fn subcorpus_of(
        &self,
        filter: Option<&Filter>,
        reading: Reading<'_>,
    ) -> Result<Subcorpus, QuestionError> {
        let limits = self.vocabulary_limits.clone();
        match self.selection(filter, reading)? {
            Some(selection) => Ok(selection.into_subcorpus(limits)),
            None => Ok(self.engine.subcorpus(self.resolved(filter)?.as_deref())?.with_limits(limits)),
        }
    }

    /// The documents that a filter admits, of which only metadata are shown.
    pub(super) fn documents(&self, filter: Option<&Filter>) -> Result<Subcorpus, QuestionError> {
        let filter = self.resolved(filter)?;
        Ok(self.all.subcorpus(filter.as_deref())?.with_limits(self.vocabulary_limits.clone()))
    }

    /// Whether the corpus has lemmas.
    pub(super) fn has_lemmas(&self) -> bool {
        self.attribute_names().contains(&Attribute::Lemma.name())
    }

    /// The attribute whose values are tested over time if none is asked for: lemmas merge the forms of a word, which would
    /// compete with each other.
    pub(super) fn usual_attribute(&self) -> Attribute {
        if self.has_lemmas() { Attribute::Lemma } else { Attribute::Lc }
    }

    /// The days from the first document that a filter admits to the last, without the stray dates at both ends.
    pub(super) fn days(&self, filter: Option<&Filter>) -> Result<u32, QuestionError> {
        Ok(self.extent(filter)?.0)
    }

    /// These days, and the documents that the filter admits.
    pub(super) fn extent(&self, filter: Option<&Filter>) -> Result<(u32, u64), QuestionError> {
        let volume = self.gather(&VolumePart { filter: Parsed::of_filter(filter), cells: None })?;
        let documents: u64 = volume.values().map(|(_, documents)| documents).sum();
        let stray = (documents as f64 * STRAY_DOCUMENTS) as u64;
        let ends = first_day_past(stray, volume.iter()).zip(first_day_past(stray, volume.iter().rev()));
        let days = ends.map_or(1, |(first, last)| last.abs_diff(first).saturating_add(1));
        Ok((days, documents))
    }

    /// The search or count that a limit stopped, if one was stopped.
    pub fn cut_off(&self) -> Option<CutOff> {
        let own = self.limits.cut_off().or_else(|| self.vocabulary_limits.cut_off());
        own.or_else(|| self.cut_off_of_shard.get().copied())
    }

    /// Returns true if a limit stopped a search or a count, so that there are no rates, scores or tests.
    pub(super) fn is_cut_off(&self) -> bool {
        self.cut_off().is_some()
    }

    /// Compiles a query for the documents that a filter admits and that the client may read.
    pub fn search(
        &self,
        query: &Parsed<Query>,
        rule: MatchRule,
        filter: Option<&Filter>,
    ) -> Result<Search<'c>, QuestionError> {
        let search = self.compiled("q", query, rule, filter, true)?;
        Ok(match self.selection(filter, Reading::Positions)? {
            Some(selection) => selection.restrict(search),
            None => search,
        })
    }

    /// The same for counts in cells: a query of one token also counts hidden documents, in groups.
    pub(super) fn search_words(
        &self,
        query: &Parsed<Query>,
        filter: Option<&Filter>,
        cells: Cells<'_>,
    ) -> Result<Search<'c>, QuestionError> {
        if !query.is_single_token() {
            return self.search(query, MatchRule::default(), filter);
        }
        let search = self.compiled("q", query, MatchRule::default(), filter, true)?;
        Ok(match self.selection(filter, Reading::Words(cells))? {
            Some(selection) => selection.restrict(search),
            None => search,
        })
    }

    /// The same for lines, which come from all documents whose lines may be shown.
    pub(super) fn search_lines(
        &self,
        query: &Parsed<Query>,
        rule: MatchRule,
        filter: Option<&Filter>,
    ) -> Result<Search<'c>, QuestionError> {
        self.compiled("q", query, rule, filter, false)
    }

    /// Compiles a query that the translation of a hit has to fulfil.
    pub(super) fn condition(
        &self,
        parameter: &'static str,
        query: &Parsed<Query>,
    ) -> Result<Search<'c>, QuestionError> {
        self.compiled(parameter, query, MatchRule::default(), None, false)
    }

    fn compiled(
        &self,
        parameter: &'static str,
        query: &Parsed<Query>,
        rule: MatchRule,
        filter: Option<&Filter>,
        is_counted: bool,
    ) -> Result<Search<'c>, QuestionError> {
        let filter = self.resolved(filter)?;
        let filter = filter.as_deref();
        let search = match (&self.notes, &self.whole) {
            (Some(notes), Some(whole)) => {
                let part = PartOf { whole: whole.clone(), is_counted };
                match self.engine.search_part(query, rule, filter, &self.limits, (&part, false)) {
                    Err(EngineError::Syntax(error)) => {
                        // Other shards may have what this one does not.
                        notes.absent(parameter, error.to_string());
                        self.engine.search_part(query, rule, filter, &self.limits, (&part, true))
                    }
                    search => search,
                }
            }
            _ => {
                self.check_query(parameter, query)?;
                self.engine.search_within(query, rule, filter, &self.limits)
            }
        };
        search.map_err(QuestionError::of_engine(parameter, "query", query.text()))
    }

    /// Takes one of the lines of a document that may be shown in lines only; false if there is none left today.
    pub(super) fn takes_window(&self, document: &str, position: u64) -> bool {
        self.window_limit.is_none_or(|limit| (limit.take)(document, position))
    }

    /// Minimum hits and documents of rows that are made of neighbouring words. Where documents may be shown in lines only,
    /// rarer rows could be put together to text again; the answer says that they are left out.
    pub(super) fn min_counts(&self, asked: u64, rewrites: &mut Vec<String>) -> (u64, u64) {
        if self.privacy.alone == self.privacy.lines || !self.is_limited().1 {
            return (asked, 0);
        }
        rewrites.push(format!(
            "rows with fewer than {MIN_HITS} hits are left out, and n-grams in fewer than {MIN_DOCUMENTS} documents: some \
             texts may be shown in lines only, and rare rows would reveal them"
        ));
        (asked.max(MIN_HITS), MIN_DOCUMENTS)
    }

    /// Whether there are documents that the client does not count one by one, among all and among those whose lines it sees.
    pub(super) fn is_limited(&self) -> (bool, bool) {
        match self.shards {
            Some(shards) => shards.schema.is_limited,
            None => (self.privacy.is_limited(self.all), self.privacy.is_limited(self.engine)),
        }
    }

    /// The state of the corpus.
    pub(super) fn generation(&self) -> u64 {
        self.shards.map_or_else(|| self.engine.snapshot().generation(), |shards| shards.generation)
    }

    /// An answer with the question and the state of the corpus. If a limit was reached it says so, whatever `exactness` is.
    pub(super) fn answered<T>(
        &self,
        (query, filter): (Option<&Query>, Option<&Filter>),
        rule: MatchRule,
        exactness: Exactness,
        mut rewrites: Vec<String>,
        body: T,
    ) -> Answered<T> {
        let coverage = self.shards.and_then(|shards| shards.coverage);
        let partial =
            coverage.map(|Coverage { shards, of_shards, tokens }| Exactness::Partial { shards, of_shards, tokens });
        let exactness = self.cut_off().map_or(partial.unwrap_or(exactness), Exactness::from);
        // An answer has one exactness: one that is cut off says here which shards it is from.
        let warning = match (partial, exactness.warning()) {
            (Some(partial), Some(warning)) if exactness.is_cut_off() => Some(format!("{warning}; {partial}")),
            (_, warning) => warning,
        };
        let rights = AppliedRights {
            hidden_documents: self.hidden.selected.load(Relaxed),
            counted_documents: self.hidden.counted.load(Relaxed),
            group_documents: GROUP_DOCUMENTS as u64,
        };
        let rights = Some(rights).filter(|rights| rights.hidden_documents > 0);
        if let Some(rights) = rights {
            rewrites.insert(0, rights.sentence());
        }
        if let Some(caution) = self.frozen.and_then(FrozenState::caution) {
            rewrites.insert(0, caution);
        }
        let about = About {
            warning,
            corpus: self.corpus.to_owned(),
            generation: self.generation(),
            frozen: self.frozen.cloned(),
            query: query.map(ToString::to_string),
            filter: filter.map(ToString::to_string),
            rule,
            exactness,
            rights,
        };
        Answered { about, rewrites, body }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{AskShards, CorpusSchema};
    use super::*;
    use tidings_index::Snapshot;

    struct NoShards;

    impl AskShards for NoShards {
        fn ask(
            &self,
            _: &'static str,
            _: &(dyn Fn(usize) -> Option<serde_json::Value> + Sync),
        ) -> Result<Vec<Option<Vec<u8>>>, QuestionError> {
            Ok(Vec::new())
        }
    }

    #[test]
    fn an_answer_of_some_shards_that_is_cut_off_warns_of_both() {
        let (engine, schema) = (Engine::new(Snapshot::empty()), CorpusSchema::default());
        let coverage = Some(Coverage { shards: 2, of_shards: 3, tokens: 12 });
        let shards = Some(Shards { ask: &NoShards, schema: &schema, generation: 7, number: 3, coverage });
        let context = QuestionContext { shards, ..QuestionContext::new(&engine, "en") };
        let about = || context.answered((None, None), MatchRule::default(), Exactness::Exact, Vec::new(), ()).about;
        assert_eq!(about().exactness, Exactness::Partial { shards: 2, of_shards: 3, tokens: 12 });
        assert_eq!(about().warning.as_deref(), Some("2 of 3 shards, with 12 tokens"));
        let cut_off = CutOff { seen_tokens: 5, of_tokens: 12, limit: crate::engine::Limit::Steps, time_limit: None };
        context.note_cut_off(&[cut_off]);
        assert!(about().exactness.is_cut_off() && about().generation == 7);
        let warning = about().warning.unwrap_or_default();
        assert!(warning.starts_with("cut off") && warning.ends_with("2 of 3 shards, with 12 tokens"), "{warning}");
    }

    #[test]
    fn an_unknown_availability_allows_nothing() {
        assert_eq!(Availability::of_field(Some("free"), Availability::Open), Availability::Metadata);
        assert_eq!(Availability::of_field(Some(""), Availability::Open), Availability::Open);
        assert_eq!(Availability::of_field(None, Availability::Kwic), Availability::Kwic);
    }
}
