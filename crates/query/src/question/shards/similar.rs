//! The thesaurus: contexts of words over all shards.

use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use super::Part;
use crate::engine::{MIN_TOGETHER, Near, Neighbours, Similar, SimilarTo, most_frequent_tag, similar_of};
use crate::filter::Filter;
use crate::question::{Parsed, QuestionContext, QuestionError};

/// The most lemmas that shards are asked for at once.
const PIECE: usize = 128;

/// The hits of lemmas by part of speech, in their order.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct LemmaTagsPart {
    filter: Option<Parsed<Filter>>,
    lemmas: Vec<String>,
}

impl Part for LemmaTagsPart {
    const NAME: &'static str = "lemma-tags";
    type Sum = Vec<HashMap<String, u64>>;

    fn compute(&self, context: &QuestionContext<'_>) -> Result<Self::Sum, QuestionError> {
        let (engine, filter) = (context.engine, context.resolved(self.filter.as_deref())?);
        let filter = filter.as_deref();
        let tags = |lemma: &String| {
            let found = match engine.lemma_number(lemma) {
                Some(_) => engine.tags_of_lemma(lemma, filter, &context.limits)?.0,
                None => Vec::new(),
            };
            Ok(found.into_iter().collect())
        };
        self.lemmas.iter().map(tags).collect()
    }
}

/// The lemmas in the windows of lemmas, in their order.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct LemmaNearPart {
    filter: Option<Parsed<Filter>>,
    lemmas: Vec<String>,
}

impl Part for LemmaNearPart {
    const NAME: &'static str = "lemma-near";
    type Sum = Vec<HashMap<String, u64>>;

    fn compute(&self, context: &QuestionContext<'_>) -> Result<Self::Sum, QuestionError> {
        let (engine, filter) = (context.engine, context.resolved(self.filter.as_deref())?);
        let filter = filter.as_deref();
        let near = |lemma: &String| {
            let found = match engine.lemma_number(lemma) {
                Some(number) => engine.near_lemma(number, filter, &context.limits)?,
                None => Vec::new(),
            };
            Ok(found.into_iter().map(|(near, count)| (engine.lemma(near).to_owned(), count)).collect())
        };
        self.lemmas.iter().map(near).collect()
    }
}

/// The frequencies of those lemmas that the lexicon has, and the tokens of the documents.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct LemmaTotalsPart {
    filter: Option<Parsed<Filter>>,
    lemmas: BTreeSet<String>,
}

impl Part for LemmaTotalsPart {
    const NAME: &'static str = "lemma-totals";
    type Sum = (HashMap<String, u64>, u64);

    fn compute(&self, context: &QuestionContext<'_>) -> Result<Self::Sum, QuestionError> {
        let filter = self.filter.as_deref();
        context.note_filter(filter)?;
        let filter = context.resolved(filter)?;
        Ok(context.engine.lemma_totals(filter.as_deref(), self.lemmas.iter(), &context.limits)?)
    }
}

/// The counts of all shards.
struct ShardNeighbours<'s> {
    context: &'s QuestionContext<'s>,
    filter: Option<Parsed<Filter>>,
    tokens: u64,
    /// The frequencies that were asked for.
    totals: RefCell<HashMap<Rc<str>, u64>>,
}

impl ShardNeighbours<'_> {
    fn texts(lemmas: &[Rc<str>]) -> Vec<String> {
        lemmas.iter().map(|lemma| lemma.to_string()).collect()
    }

    /// Asks for the frequencies of lemmas that are not known.
    fn learn<'l>(&self, lemmas: impl Iterator<Item = &'l str>) -> Result<(), QuestionError> {
        let lemmas: BTreeSet<String> = {
            let known = self.totals.borrow();
            lemmas.filter(|lemma| !known.contains_key(*lemma)).map(str::to_owned).collect()
        };
        if lemmas.is_empty() {
            return Ok(());
        }
        let (found, _) = self.context.gather(&LemmaTotalsPart { filter: self.filter.clone(), lemmas })?;
        self.totals.borrow_mut().extend(found.into_iter().map(|(lemma, count)| (lemma.into(), count)));
        Ok(())
    }
}

impl Neighbours for ShardNeighbours<'_> {
    type Lemma = Rc<str>;
    type Error = QuestionError;

    fn text<'t>(&'t self, lemma: &'t Rc<str>) -> &'t str {
        lemma
    }

    fn tokens(&self) -> u64 {
        self.tokens
    }

    fn frequency(&self, lemma: &Rc<str>) -> u64 {
        self.totals.borrow().get(lemma).copied().unwrap_or(0)
    }

    fn near(&self, lemmas: &[Rc<str>]) -> Result<Vec<Near<Rc<str>>>, QuestionError> {
        let part = LemmaNearPart { filter: self.filter.clone(), lemmas: Self::texts(lemmas) };
        let found = self.context.gather(&part)?;
        let often = |near: HashMap<String, u64>| -> Near<Rc<str>> {
            let often = near.into_iter().filter(|(_, together)| *together >= MIN_TOGETHER);
            often.map(|(lemma, together)| (lemma.into(), together)).collect()
        };
        let near: Vec<Near<Rc<str>>> = found.into_iter().map(often).collect();
        self.learn(near.iter().flatten().map(|(lemma, _)| &**lemma))?;
        Ok(near)
    }

    fn usual_tags(&self, lemmas: &[Rc<str>]) -> Result<Vec<String>, QuestionError> {
        let part = LemmaTagsPart { filter: self.filter.clone(), lemmas: Self::texts(lemmas) };
        Ok(self.context.gather(&part)?.into_iter().map(most_frequent_tag).collect())
    }

    fn piece(&self) -> usize {
        PIECE
    }

    fn is_over(&self) -> bool {
        self.context.is_cut_off() || self.context.limits.is_over()
    }
}

/// Words that occur in the same contexts, over all shards.
pub(in crate::question) fn similar(
    context: &QuestionContext<'_>,
    asked: &SimilarTo<'_>,
) -> Result<Similar, QuestionError> {
    let filter = Parsed::of_filter(asked.filter);
    let lemmas = BTreeSet::from([asked.lemma.to_owned()]);
    let (totals, tokens) = context.gather(&LemmaTotalsPart { filter: filter.clone(), lemmas })?;
    if totals.is_empty() {
        return Ok(Similar::default());
    }
    let totals = totals.into_iter().map(|(lemma, count)| (Rc::from(lemma), count)).collect();
    let counts = ShardNeighbours { context, filter, tokens, totals: RefCell::new(totals) };
    let mut found = similar_of(&counts, asked, &Rc::from(asked.lemma))?;
    if context.is_cut_off() {
        found.rows.clear();
    }
    Ok(found)
}
