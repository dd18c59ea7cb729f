//! The parallel concordance: hits with the sentences of a translation that correspond to theirs.
//!
//! Which documents are translations of each other is known beforehand ([`DocumentPairs`]). Their sentences are aligned when
//! a hit is found in one of them, so that an alignment is never older than the text.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::ops::{ControlFlow, Range};
use std::sync::Arc;
use tidings_annotate::align::{self, Bead, SentenceProfile};
use tidings_model::Annotated;

use super::concordance::TOKEN_BYTES;
use super::kwic::{KwicToken, MAX_CONTEXT, text_of};
use super::params::{Cursor, PageParams, SearchParams};
use super::surroundings::{Sentence, sentences_of, token_of};
use super::{
    AVAILABILITY_FIELD, Answered, Availability, Cost, Exactness, Parsed, Question, QuestionContext, QuestionError,
    Request,
};
use crate::cql::{MatchRule, Query};
use crate::engine::{Engine, EngineError, Limits, Reserved, Search};

/// Documents that are translations of each other.
#[derive(Debug, Clone, Default)]
pub struct DocumentPairs {
    /// For each document of a pair the other one; sorted.
    both_ways: Vec<(u128, u128)>,
}

impl DocumentPairs {
    /// The pairs, by the ids of their documents.
    pub fn of(pairs: impl IntoIterator<Item = (u128, u128)>) -> DocumentPairs {
        let mut both_ways: Vec<(u128, u128)> =
            pairs.into_iter().flat_map(|(one, other)| [(one, other), (other, one)]).collect();
        both_ways.sort_unstable();
        both_ways.dedup();
        DocumentPairs { both_ways }
    }

    /// The translations of a document, in all languages.
    fn of_document(&self, id: u128) -> impl Iterator<Item = u128> {
        let start = self.both_ways.partition_point(|(one, _)| *one < id);
        self.both_ways[start..].iter().take_while(move |(one, _)| *one == id).map(|(_, other)| *other)
    }
}

/// The corpus of another language, and its translations of documents.
#[derive(Debug, Clone)]
pub struct OtherCorpus {
    /// The engine over all its documents.
    pub all: Arc<Engine>,
    /// The engine over the documents whose lines may be shown, if those are not all.
    pub readable: Option<Arc<Engine>>,
    /// The pairs of documents of the home.
    pub pairs: Arc<DocumentPairs>,
}

/// Finds the corpus of a language beside the one that a question is about.
pub type FindOther<'c> = &'c dyn Fn(&str) -> Result<OtherCorpus, QuestionError>;

/// Shows hits with their translations.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ParallelRequest {
    /// The query.
    #[serde(flatten)]
    pub search: SearchParams,
    /// The language of the translations, such as de.
    #[schemars(extend("x-value-name" = "CODE"))]
    pub to: String,
    /// Only hits whose translation has a hit of this query.
    #[serde(default)]
    #[schemars(extend("x-value-name" = "QUERY"))]
    pub with: Option<Parsed<Query>>,
    /// Only hits whose translation has no hit of this query.
    #[serde(default)]
    #[schemars(extend("x-value-name" = "QUERY"))]
    pub without: Option<Parsed<Query>>,
    /// Fields of the documents to show, separated by commas.
    #[serde(default = "usual_fields")]
    pub fields: Vec<String>,
    /// The page.
    #[serde(flatten)]
    pub page: PageParams,
}

fn usual_fields() -> Vec<String> {
    vec!["date".to_owned(), "site".to_owned()]
}

answer! {
    /// A page of hits with their translations.
    pub struct ParallelConcordance {
        /// The hits that fulfil the conditions, on this page or not; those found until the limit if the answer is cut off.
        pub hits: u64,
        /// Further hits in these documents whose sentence has no counterpart in the translation. Conditions exclude them.
        pub unaligned: u64,
        /// The documents searched: those with a translation that the client may read.
        pub documents: u64,
        /// Their tokens.
        pub tokens: u64,
        /// The number of the first line, from 0.
        pub first: u64,
        /// The cursor of the next page; null if there is none.
        pub next: Option<Cursor>,
        /// The lines of this page.
        pub lines: Vec<ParallelLine>,
    }

    /// A hit in its sentence, and the translation.
    #[derive(serde::Deserialize)]
    pub struct ParallelLine {
        /// The id of the document.
        pub document: String,
        /// The fields of the document that were asked for.
        pub fields: BTreeMap<String, String>,
        /// The first token of the hit, counted in the document from 0.
        pub position: u32,
        /// The tokens of the sentences before the hit.
        pub left: Vec<KwicToken>,
        /// The hit.
        pub node: Vec<KwicToken>,
        /// The tokens of the sentences behind the hit.
        pub right: Vec<KwicToken>,
        /// The id of the translated document.
        pub translated: String,
        /// The tokens of the aligned sentences; none if the sentence of the hit has no counterpart.
        pub translation: Vec<KwicToken>,
        /// The tokens of the translation that belong to a hit of `with`, by number from 0.
        pub marked: Vec<u32>,
        /// The confidence of the alignment, from 0 to 1.
        pub score: f32,
    }
}

impl Request for ParallelRequest {
    fn example() -> ParallelRequest {
        ParallelRequest {
            search: SearchParams::example(),
            to: "de".to_owned(),
            with: None,
            without: None,
            fields: usual_fields(),
            page: PageParams::default(),
        }
    }
}

impl Question for ParallelRequest {
    const NAME: &'static str = "parallel";
    const SUMMARY: &'static str = "Show hits side by side with the sentences of their translations";
    const ROWS: &'static str = "lines";
    const COST: Cost = Cost::Heavy;
    type Answer = ParallelConcordance;

    fn evaluate(&self, context: &QuestionContext<'_>) -> Result<Answered<ParallelConcordance>, QuestionError> {
        if context.is_sharded() {
            return Err(QuestionError::NotMerged("a parallel concordance".to_owned()));
        }
        if self.to == context.corpus {
            let message = format!("`{}` is the language of the query; give that of the translations", self.to);
            return Err(QuestionError::parameter("to", message));
        }
        self.fields.iter().try_for_each(|name| context.check_field("fields", name))?;
        let other = (context.find_other)(&self.to)?;
        let there = QuestionContext {
            all: &other.all,
            limits: context.limits.clone(),
            vocabulary_limits: context.vocabulary_limits.clone(),
            privacy: context.privacy,
            window_limit: context.window_limit,
            ..QuestionContext::new(other.readable.as_deref().unwrap_or(&other.all), &self.to)
        };
        let filter = context.filter(&self.search.scope)?;
        let search = context.search_lines(&self.search.q, MatchRule::default(), filter.as_ref())?;
        let conditions = [("with", &self.with), ("without", &self.without)];
        let [with, without] = conditions
            .map(|(parameter, query)| query.as_ref().map(|query| there.condition(parameter, query)).transpose());
        let (with, without) = (with?, without?);
        let places = translated_places(context.engine, there.engine, &other.pairs);
        let search = context.engine.among_documents(search, |place| places.contains_key(&place));
        let mut found = Found {
            context,
            there: &there,
            request: self,
            places,
            conditions: (with, without),
            open: None,
            size: self.page.rows(context)?,
            of_page: 0,
            memory: context.limits.memory(),
            body: ParallelConcordance {
                hits: 0,
                unaligned: 0,
                documents: context.engine.documents_of(&search),
                tokens: search.tokens(),
                first: self.page.first(),
                next: None,
                lines: Vec::new(),
            },
        };
        let mut failed = Ok(());
        search.in_order(self.page.order, &context.limits, &mut |hit| {
            let segment = hit.segment as usize;
            let of_hit = context.engine.snapshot().segments()[segment].segment();
            let document = of_hit.document_at(hit.start);
            let first = of_hit.tokens_of(document).start;
            failed = found.see((segment, document), hit.start - first..hit.end - first);
            match failed.is_err() || context.limits.is_over() {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        });
        failed?;
        context.note_filter(filter.as_ref())?;
        let mut body = found.body;
        body.next = self.page.next(context, found.of_page, found.size);
        there.checked(Ok(()))?;
        let asked = (Some(&*self.search.q), filter.as_ref());
        Ok(context.answered(asked, MatchRule::default(), Exactness::Exact, Vec::new(), body))
    }
}

/// A document, as segment and number.
type Place = (usize, u32);

/// For each document of an index its translation in another.
fn translated_places(here: &Engine, there: &Engine, pairs: &DocumentPairs) -> BTreeMap<Place, Place> {
    let mut wanted: HashMap<u128, Option<Place>> = HashMap::new();
    let mut own: Vec<(Place, Vec<u128>)> = Vec::new();
    here.each_document(|place, id| {
        let translations: Vec<u128> = pairs.of_document(id).collect();
        if !translations.is_empty() {
            wanted.extend(translations.iter().map(|id| (*id, None)));
            own.push((place, translations));
        }
    });
    there.each_document(|place, id| {
        if let Some(found) = wanted.get_mut(&id) {
            *found = Some(place);
        }
    });
    let place = |id: u128| wanted.get(&id).copied().flatten();
    own.into_iter().filter_map(|(own, ids)| Some((own, ids.into_iter().find_map(place)?))).collect()
}

/// The lines of a parallel concordance, as hits are found.
struct Found<'f, 'c> {
    context: &'f QuestionContext<'c>,
    there: &'f QuestionContext<'f>,
    request: &'f ParallelRequest,
    places: BTreeMap<Place, Place>,
    conditions: (Option<Search<'f>>, Option<Search<'f>>),
    /// The pair of the last hit.
    open: Option<AlignedPair>,
    /// The hits of a full page, and those of this one so far.
    size: u64,
    of_page: u64,
    memory: Reserved,
    body: ParallelConcordance,
}

/// Two documents with their alignment.
struct AlignedPair {
    place: Place,
    own: Annotated,
    other: Annotated,
    /// None if the texts are no translations of each other.
    beads: Vec<Bead>,
    /// The hits of the conditions in the other document.
    with: Vec<(u32, u32)>,
    without: Vec<(u32, u32)>,
}

impl Found<'_, '_> {
    /// Counts a hit, given by its tokens in the document, and shows it if it belongs on the page.
    fn see(&mut self, place: Place, hit: Range<u32>) -> Result<(), QuestionError> {
        if self.open.as_ref().is_none_or(|open| open.place != place) {
            self.open = Some(self.align(place)?);
        }
        let pair = self.open.as_ref().expect("it was just made");
        let own = sentences_of(&pair.own);
        let hit = hit.start as usize..hit.end as usize;
        let sentence = own.partition_point(|sentence| sentence.tokens.end <= hit.start);
        let bead = pair.beads.iter().find(|bead| bead.left.contains(&sentence) && bead.score > 0.0);
        let others = sentences_of(&pair.other);
        let translation = bead.map_or(0..0, |bead| tokens_of(&others, &bead.right));
        let has = |hits: &[(u32, u32)]| hits.iter().any(|hit| overlaps(hit, &translation));
        let (with, without) = &self.conditions;
        if translation.is_empty() {
            self.body.unaligned += 1;
            if with.is_some() || without.is_some() {
                return Ok(());
            }
        } else if with.is_some() && !has(&pair.with) || without.is_some() && has(&pair.without) {
            return Ok(());
        } else {
            self.body.hits += 1;
        }
        let number = match with.is_some() || without.is_some() {
            true => self.body.hits,
            false => self.body.hits + self.body.unaligned,
        };
        // Hits without a line, which their documents do not allow today, belong to a page as well.
        let on_page = number.saturating_sub(self.body.first);
        if (1..=self.size).contains(&on_page) {
            self.of_page = on_page;
            let sentences = bead.map_or(sentence..sentence + 1, |bead| bead.left.clone());
            let shown = tokens_of(&own, &sentences);
            let score = bead.map_or(0.0, |bead| bead.score);
            let line = self.line(pair, hit, shown, translation, score)?;
            if let Some(line) = line {
                self.reserve(&line)?;
                self.body.lines.push(line);
            }
        }
        Ok(())
    }

    /// Reserves the memory of a line.
    fn reserve(&mut self, line: &ParallelLine) -> Result<(), QuestionError> {
        let tokens = line.left.len() + line.node.len() + line.right.len() + line.translation.len();
        if self.memory.grow(tokens as u64 * TOKEN_BYTES) {
            return Ok(());
        }
        let message = format!(
            "{} lines with their translations are what fits into the memory of one question; give a smaller size, and get \
             further pages with the cursor",
            self.body.lines.len()
        );
        Err(QuestionError::TooLarge { parameter: "size".into(), message })
    }

    /// Reads and aligns the pair of a document.
    fn align(&self, place: Place) -> Result<AlignedPair, QuestionError> {
        let other_place = self.places[&place];
        let read = |engine: &Engine, (segment, document): Place| {
            engine.snapshot().annotated(segment, document).map_err(EngineError::from)
        };
        let (own, other) = (read(self.context.engine, place)?, read(self.there.engine, other_place)?);
        let profiles = |text: &Annotated| {
            let tokens = |sentence: &Sentence<'_>| {
                let tokens: Vec<KwicToken> = sentence
                    .text
                    .iter()
                    .zip(sentence.tokens.clone())
                    .map(|(token, at)| token_of(token, at, text))
                    .collect();
                SentenceProfile::of(&text_of(&tokens))
            };
            sentences_of(text).iter().map(tokens).collect::<Vec<_>>()
        };
        let mut beads = align::align(&profiles(&own), &profiles(&other));
        if !align::are_translations(&beads) {
            beads.clear();
        }
        let hits = |search: &Option<Search<'_>>| {
            // One document at a time is searched to its end, so that no condition is judged by a part of it.
            search.as_ref().map_or_else(Vec::new, |search| search.in_document(other_place, &Limits::default()))
        };
        let (with, without) = (hits(&self.conditions.0), hits(&self.conditions.1));
        Ok(AlignedPair { place, own, other, beads, with, without })
    }

    /// The line of a hit; nothing if the client has had its lines of a document today.
    fn line(
        &self,
        pair: &AlignedPair,
        hit: Range<usize>,
        sentences: Range<usize>,
        translation: Range<usize>,
        score: f32,
    ) -> Result<Option<ParallelLine>, QuestionError> {
        let Some(own) = shown(self.context, &pair.own, sentences, &hit) else { return Ok(None) };
        let first = translation.start..(translation.start + 1).min(translation.end);
        let other = match translation.is_empty() {
            true => translation,
            false => match shown(self.there, &pair.other, translation, &first) {
                Some(other) => other,
                None => return Ok(None),
            },
        };
        let fields = self.context.engine.fields_of(pair.place, &self.request.fields)?;
        let marked = other.clone().filter(|at| pair.with.iter().any(|hit| overlaps(hit, &(*at..at + 1))));
        Ok(Some(ParallelLine {
            document: format!("{:032x}", pair.own.about.id),
            fields,
            position: hit.start as u32,
            left: tokens(&pair.own, own.start..hit.start),
            node: tokens(&pair.own, hit.clone()),
            right: tokens(&pair.own, hit.end.min(own.end)..own.end),
            translated: format!("{:032x}", pair.other.about.id),
            marked: marked.map(|at| (at - other.start) as u32).collect(),
            translation: tokens(&pair.other, other),
            score,
        }))
    }
}

/// The tokens of sentences that follow each other.
fn tokens_of(sentences: &[Sentence<'_>], of: &Range<usize>) -> Range<usize> {
    match sentences.get(of.clone()) {
        Some([first, .., last]) => first.tokens.start..last.tokens.end,
        Some([only]) => only.tokens.clone(),
        _ => 0..0,
    }
}

fn overlaps((start, end): &(u32, u32), tokens: &Range<usize>) -> bool {
    (*start as usize) < tokens.end && (*end as usize) > tokens.start
}

/// The part of some tokens that a client may see around others; nothing if it has had its lines of the document today.
/// The right to lines shows no more of a document at once than a line with the longest context.
fn shown(
    context: &QuestionContext<'_>,
    document: &Annotated,
    tokens: Range<usize>,
    around: &Range<usize>,
) -> Option<Range<usize>> {
    let stated = document.about.field(AVAILABILITY_FIELD);
    let availability = Availability::of_field(stated, context.privacy.default);
    if context.privacy.shows_text(availability) {
        return Some(tokens);
    }
    let side = MAX_CONTEXT as usize;
    let id = format!("{:032x}", document.about.id);
    let may_show = context.privacy.shows_lines(availability) && context.takes_window(&id, around.start as u64);
    may_show.then(|| tokens.start.max(around.start.saturating_sub(side))..tokens.end.min(around.end + side))
}

fn tokens(document: &Annotated, range: Range<usize>) -> Vec<KwicToken> {
    let all = document.tokens().enumerate().skip(range.start).take(range.len());
    all.map(|(at, token)| token_of(token, at, document)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_found_from_both_sides() {
        let pairs = DocumentPairs::of([(1, 9), (1, 4), (9, 1), (7, 2)]);
        let of = |id| pairs.of_document(id).collect::<Vec<_>>();
        assert_eq!((of(1), of(9), of(2), of(3)), (vec![4, 9], vec![1], vec![7], vec![]));
    }

    #[test]
    fn hits_overlap_tokens_that_they_share() {
        assert!(overlaps(&(3, 5), &(4..9)) && overlaps(&(4, 5), &(0..5)));
        assert!(!overlaps(&(3, 4), &(4..9)) && !overlaps(&(9, 10), &(4..9)) && !overlaps(&(4, 6), &(0..0)));
    }
}
