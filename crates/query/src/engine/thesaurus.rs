//! Distributional similarity: words that occur with the same words.
//!
//! A lemma is a vector of its collocates in a window, weighted by positive pointwise mutual information (PPMI; Church and Hanks
//! 1990, Levy and Goldberg 2014); similar lemmas have a high cosine. Vectors are counted from the index when they are asked for,
//! so that they are as new as the snapshot: the strongest contexts of the lemma are searched, the words around them are the
//! candidates, and the best candidates get whole vectors. The counts are those of an index or sums over shards
//! ([`Neighbours`]); the vectors know no difference.

use super::near::Around;
use super::words::is_wordlike;
use super::{Engine, EngineError, Limits, Result, Search};
use crate::cql::{Attribute, MatchRule};
use crate::filter::Filter;
use crate::question::Window;
use crate::sketch::is;
use crate::syntax::ValueMatcher;
use hashbrown::HashMap;
use std::hash::Hash;
use tidings_index::lexicon::Layer;

/// Tokens on each side that are contexts.
const SIDE: u32 = 4;
/// The windows of contexts.
const CONTEXT_SIDE: Window = Window::Tokens { left: SIDE, right: SIDE };
/// The number of contexts of a vector.
const CONTEXTS: usize = 120;
/// The minimum co-occurrence of a context.
pub(crate) const MIN_TOGETHER: u64 = 3;
/// The number of candidates that get whole vectors, for each row that is asked for.
const CANDIDATES_PER_ROW: usize = 3;
/// A word that is more frequent than one in this many tokens is no context: it occurs with everything, and costs most.
const TOO_FREQUENT_IN: u64 = 400;
/// In small corpora most words are that frequent; contexts up to this frequency are always taken.
const NEVER_TOO_FREQUENT: u64 = 100;

/// The parameters of a thesaurus entry.
#[derive(Debug, Clone, Copy)]
pub struct SimilarTo<'a> {
    /// The lemma, case-sensitive.
    pub lemma: &'a str,
    /// Its part of speech; by default the most frequent one.
    pub tag: Option<&'a str>,
    /// The filter of documents.
    pub filter: Option<&'a Filter>,
    /// The minimum frequency of similar words.
    pub at_least: u64,
    /// The maximum number of rows.
    pub rows: usize,
}

/// A similar word.
#[derive(Debug, Clone, PartialEq)]
pub struct SimilarWord {
    /// Its lemma.
    pub lemma: String,
    /// Its frequency.
    pub hits: u64,
    /// The cosine of the two vectors, from 0 to 1.
    pub similarity: f64,
    /// The contexts that contribute most.
    pub shared: Vec<String>,
}

/// A thesaurus entry.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Similar {
    /// The part of speech; empty if the corpus has no such lemma with a tag.
    pub tag: String,
    /// The frequency of the lemma.
    pub hits: u64,
    /// Tokens of the documents counted.
    pub tokens: u64,
    /// The number of contexts of the lemma.
    pub contexts: u64,
    /// The similar words, the most similar first.
    pub rows: Vec<SimilarWord>,
}

/// A vector: contexts with their weights, in the order of their texts. Numbers of lemmas follow the order in which documents
/// were added, and sums of floating-point numbers depend on their order: answers must depend on neither, or they would tell
/// of documents that are hidden from the client.
type Vector<L> = Vec<(L, f64)>;

/// Lemmas near another one, with their co-occurrences.
pub(crate) type Near<L> = Vec<(L, u64)>;

/// The counts that vectors are made of.
pub(crate) trait Neighbours {
    /// A lemma.
    type Lemma: Clone + Eq + Hash;
    /// The reason why something cannot be counted.
    type Error;

    /// The text of a lemma.
    fn text<'t>(&'t self, lemma: &'t Self::Lemma) -> &'t str;

    /// Tokens of the documents counted.
    fn tokens(&self) -> u64;

    /// The frequency of a lemma that was asked for or is near one.
    fn frequency(&self, lemma: &Self::Lemma) -> u64;

    /// The lemmas in the windows of each of some lemmas; those with few co-occurrences may be missing.
    fn near(&self, lemmas: &[Self::Lemma]) -> std::result::Result<Vec<Near<Self::Lemma>>, Self::Error>;

    /// The part of speech that each of some lemmas has most often; empty if it has none.
    fn usual_tags(&self, lemmas: &[Self::Lemma]) -> std::result::Result<Vec<String>, Self::Error>;

    /// The most lemmas that are asked for at once.
    fn piece(&self) -> usize;

    /// Returns true if a limit is reached.
    fn is_over(&self) -> bool;
}

/// The part of speech of most hits, of equals the first in the order of texts; empty if there is none.
pub(crate) fn most_frequent_tag(tags: impl IntoIterator<Item = (String, u64)>) -> String {
    let named = tags.into_iter().filter(|(tag, _)| !tag.is_empty());
    let most = named.max_by(|a, b| a.1.cmp(&b.1).then_with(|| b.0.cmp(&a.0)));
    most.map(|(tag, _)| tag).unwrap_or_default()
}

/// Words that occur in the same contexts as a lemma that the corpus has. Rows of a count that a limit stopped are wrong.
pub(crate) fn similar_of<N: Neighbours>(
    counts: &N,
    asked: &SimilarTo<'_>,
    lemma: &N::Lemma,
) -> std::result::Result<Similar, N::Error> {
    let builder = Builder { counts, asked };
    let tag = match asked.tag {
        Some(tag) => tag.to_owned(),
        None => counts.usual_tags(std::slice::from_ref(lemma))?.pop().unwrap_or_default(),
    };
    let mut found = Similar { tag, tokens: counts.tokens(), ..Similar::default() };
    let vector = builder.vectors(std::slice::from_ref(lemma))?.pop().unwrap_or_default();
    (found.hits, found.contexts) = (counts.frequency(lemma), vector.len() as u64);
    if vector.is_empty() {
        return Ok(found);
    }
    let candidates = builder.candidates(lemma, &vector, &found.tag)?;
    for candidates in candidates.chunks(counts.piece()) {
        if counts.is_over() {
            break;
        }
        let vectors = builder.vectors(candidates)?;
        found.rows.extend(candidates.iter().zip(vectors).map(|(one, other)| builder.compare(&vector, one, other)));
    }
    found.rows.sort_by(|a, b| b.similarity.total_cmp(&a.similarity).then_with(|| a.lemma.cmp(&b.lemma)));
    found.rows.truncate(asked.rows);
    Ok(found)
}

struct Builder<'a, N> {
    counts: &'a N,
    asked: &'a SimilarTo<'a>,
}

impl<N: Neighbours> Builder<'_, N> {
    /// Positive pointwise mutual information of two lemmas, in bits.
    fn weight(&self, together: u64, one: u64, other: u64) -> f64 {
        let expected = one as f64 * other as f64 * f64::from(2 * SIDE) / self.counts.tokens().max(1) as f64;
        (together as f64 / expected.max(f64::MIN_POSITIVE)).log2().max(0.0)
    }

    /// Returns true if a lemma can be a context.
    fn is_context(&self, lemma: &N::Lemma) -> bool {
        let frequency = self.counts.frequency(lemma);
        frequency > 0
            && frequency <= (self.counts.tokens() / TOO_FREQUENT_IN).max(NEVER_TOO_FREQUENT)
            && is_wordlike(self.counts.text(lemma))
    }

    /// The order of lemmas by their texts.
    fn by_text(&self, one: &N::Lemma, other: &N::Lemma) -> std::cmp::Ordering {
        self.counts.text(one).cmp(self.counts.text(other))
    }

    /// The vectors of some lemmas.
    fn vectors(&self, lemmas: &[N::Lemma]) -> std::result::Result<Vec<Vector<N::Lemma>>, N::Error> {
        let near = self.counts.near(lemmas)?;
        Ok(lemmas.iter().zip(near).map(|(lemma, near)| self.vector(lemma, near)).collect())
    }

    /// The strongest contexts of a lemma: those with the highest weight times the logarithm of the co-occurrence, so that a
    /// word that was met three times does not come first.
    fn vector(&self, lemma: &N::Lemma, near: Near<N::Lemma>) -> Vector<N::Lemma> {
        let frequency = self.counts.frequency(lemma);
        let mut weights: Vec<(f64, N::Lemma, f64)> = Vec::new();
        for (context, together) in near.into_iter().filter(|(_, together)| *together >= MIN_TOGETHER) {
            if context == *lemma || !self.is_context(&context) {
                continue;
            }
            let weight = self.weight(together, frequency, self.counts.frequency(&context));
            if weight > 0.0 {
                weights.push((weight * (1.0 + together as f64).ln(), context, weight));
            }
        }
        weights.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| self.by_text(&a.1, &b.1)));
        weights.truncate(CONTEXTS);
        weights.sort_by(|a, b| self.by_text(&a.1, &b.1));
        weights.into_iter().map(|(_, context, weight)| (context, weight)).collect()
    }

    /// The words of the same part of speech that share most of the weight of the contexts.
    fn candidates(
        &self,
        lemma: &N::Lemma,
        vector: &Vector<N::Lemma>,
        tag: &str,
    ) -> std::result::Result<Vec<N::Lemma>, N::Error> {
        let mut scores: HashMap<N::Lemma, f64> = HashMap::new();
        for contexts in vector.chunks(self.counts.piece()) {
            if self.counts.is_over() {
                return Ok(Vec::new());
            }
            let lemmas: Vec<N::Lemma> = contexts.iter().map(|(context, _)| context.clone()).collect();
            for ((context, weight), near) in contexts.iter().zip(self.counts.near(&lemmas)?) {
                let frequency = self.counts.frequency(context);
                for (word, together) in near.into_iter().filter(|(_, together)| *together >= MIN_TOGETHER) {
                    let of_word = self.counts.frequency(&word);
                    if of_word >= self.asked.at_least {
                        *scores.entry(word).or_default() += weight.min(self.weight(together, frequency, of_word));
                    }
                }
            }
        }
        scores.remove(lemma);
        let mut ranked: Vec<(f64, N::Lemma)> = scores.into_iter().map(|(word, score)| (score, word)).collect();
        ranked.retain(|(_, word)| is_wordlike(self.counts.text(word)));
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| self.by_text(&a.1, &b.1)));
        let most = self.asked.rows.saturating_mul(CANDIDATES_PER_ROW);
        let mut candidates = Vec::new();
        for words in ranked.chunks(self.counts.piece()) {
            if candidates.len() >= most || self.counts.is_over() {
                break;
            }
            let words: Vec<N::Lemma> = words.iter().map(|(_, word)| word.clone()).collect();
            let tags = if tag.is_empty() { Vec::new() } else { self.counts.usual_tags(&words)? };
            let is_alike = |at: usize| tag.is_empty() || tags.get(at).is_some_and(|known| known == tag);
            candidates.extend(words.into_iter().enumerate().filter(|(at, _)| is_alike(*at)).map(|(_, word)| word));
        }
        candidates.truncate(most);
        Ok(candidates)
    }

    /// The cosine of a vector and that of a candidate, with the contexts that contribute most.
    fn compare(&self, vector: &Vector<N::Lemma>, candidate: &N::Lemma, other: Vector<N::Lemma>) -> SimilarWord {
        let length = |vector: &Vector<N::Lemma>| vector.iter().map(|(_, weight)| weight * weight).sum::<f64>().sqrt();
        let length = length(vector) * length(&other);
        let other: HashMap<N::Lemma, f64> = other.into_iter().collect();
        let mut products: Vec<(f64, &N::Lemma)> = vector
            .iter()
            .filter_map(|(context, weight)| other.get(context).map(|other| (weight * other, context)))
            .collect();
        products.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| self.by_text(a.1, b.1)));
        let dot: f64 = products.iter().map(|(product, _)| product).sum();
        SimilarWord {
            lemma: self.counts.text(candidate).to_owned(),
            hits: self.counts.frequency(candidate),
            similarity: dot / length.max(f64::MIN_POSITIVE),
            shared: products.iter().take(5).map(|(_, context)| self.counts.text(context).to_owned()).collect(),
        }
    }
}

/// The counts of an index.
struct IndexNeighbours<'a> {
    engine: &'a Engine,
    filter: Option<&'a Filter>,
    limits: &'a Limits,
    tokens: u64,
    /// The frequency of each lemma.
    totals: Vec<u64>,
}

impl Neighbours for IndexNeighbours<'_> {
    type Lemma = u32;
    type Error = EngineError;

    fn text<'t>(&'t self, lemma: &'t u32) -> &'t str {
        self.engine.lemma(*lemma)
    }

    fn tokens(&self) -> u64 {
        self.tokens
    }

    fn frequency(&self, lemma: &u32) -> u64 {
        self.totals.get(*lemma as usize).copied().unwrap_or(0)
    }

    fn near(&self, lemmas: &[u32]) -> Result<Vec<Near<u32>>> {
        let near = |lemma: &u32| self.engine.near_lemma(*lemma, self.filter, self.limits);
        lemmas.iter().map(near).collect()
    }

    fn usual_tags(&self, lemmas: &[u32]) -> Result<Vec<String>> {
        let tags = |lemma: &u32| self.engine.tags_of_lemma(self.engine.lemma(*lemma), self.filter, self.limits);
        lemmas.iter().map(|lemma| Ok(most_frequent_tag(tags(lemma)?.0))).collect()
    }

    fn piece(&self) -> usize {
        // One by one, as the counts of one lemma may be as many as there are words.
        1
    }

    fn is_over(&self) -> bool {
        self.limits.is_over()
    }
}

impl Engine {
    /// Words that occur in the same contexts. Check [`Limits::cut_off`]: there are no rows then.
    pub fn similar(&self, asked: &SimilarTo<'_>, limits: &Limits) -> Result<Similar> {
        let Some(id) = self.lexicon().find(Layer::Lemma, asked.lemma).filter(|_| !limits.is_over()) else {
            return Ok(Similar::default());
        };
        let subcorpus = self.subcorpus(asked.filter)?.with_limits(limits.clone());
        let totals = self.string_counts(&subcorpus, Layer::Lemma).into_owned();
        let tokens = self.tokens(&subcorpus);
        let counts = IndexNeighbours { engine: self, filter: asked.filter, limits, tokens, totals };
        let mut found = similar_of(&counts, asked, &id)?;
        if limits.cut_off().is_some() {
            found.rows.clear();
        }
        Ok(found)
    }

    /// The text of a lemma, by its number.
    pub(crate) fn lemma(&self, lemma: u32) -> &str {
        self.lexicon().string(Layer::Lemma, lemma)
    }

    /// The number of a lemma; nothing if the lexicon does not have it.
    pub(crate) fn lemma_number(&self, lemma: &str) -> Option<u32> {
        self.lexicon().find(Layer::Lemma, lemma)
    }

    /// The lemmas in the windows of a lemma.
    pub(crate) fn near_lemma(&self, lemma: u32, filter: Option<&Filter>, limits: &Limits) -> Result<Near<u32>> {
        let search = self.search_lemma(lemma, filter)?;
        Ok(search.near(Around::all(Attribute::Lemma, CONTEXT_SIDE), limits).each().collect())
    }

    /// The hits of a lemma.
    fn search_lemma(&self, lemma: u32, filter: Option<&Filter>) -> Result<Search<'_>> {
        let lemma = is(Attribute::Lemma, ValueMatcher::exact(self.lemma(lemma)));
        let query = crate::cql::parse(&format!("[{lemma}]"))?;
        self.search(&query, MatchRule::Shortest, filter)
    }

    /// The frequency of some lemmas that the lexicon has.
    pub(crate) fn lemma_totals<'l>(
        &self,
        filter: Option<&Filter>,
        lemmas: impl Iterator<Item = &'l String>,
        limits: &Limits,
    ) -> Result<(std::collections::HashMap<String, u64>, u64)> {
        let subcorpus = self.subcorpus(filter)?.with_limits(limits.clone());
        let totals = self.string_counts(&subcorpus, Layer::Lemma);
        let known = lemmas.filter_map(|lemma| Some((lemma, self.lexicon().find(Layer::Lemma, lemma)?)));
        let counts = known.map(|(lemma, id)| (lemma.clone(), totals.get(id as usize).copied().unwrap_or(0)));
        Ok((counts.collect(), self.tokens(&subcorpus)))
    }
}
