//! Distributional similarity: words that occur with the same words.
//!
//! A lemma is a vector of its collocates in a window, weighted by positive pointwise mutual information (PPMI; Church and Hanks
//! 1990, Levy and Goldberg 2014); similar lemmas have a high cosine. Vectors are counted from the index when they are asked for,
//! so that they are as new as the snapshot: the strongest contexts of the lemma are searched, the words around them are the
//! candidates, and the best candidates get whole vectors.

use super::near::NearCounts;
use super::words::is_wordlike;
use super::{Engine, Limits, Result, Search};
use crate::cql::{Attribute, MatchRule};
use crate::filter::Filter;
use crate::question::Window;
use crate::sketch::is;
use crate::syntax::ValueMatcher;
use hashbrown::HashMap;
use tidings_index::lexicon::Layer;

/// Tokens on each side that are contexts.
const SIDE: u32 = 4;
/// The number of contexts of a vector.
const CONTEXTS: usize = 120;
/// The minimum co-occurrence of a context.
const MIN_TOGETHER: u64 = 3;
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

/// A vector: contexts as lemma numbers with their weights, in the order of the lemmas. Numbers follow the order in which
/// documents were added, and sums of floating-point numbers depend on their order: answers must depend on neither, or they
/// would tell of documents that are hidden from the client.
type Vector = Vec<(u32, f64)>;

struct Builder<'a> {
    engine: &'a Engine,
    asked: &'a SimilarTo<'a>,
    limits: &'a Limits,
    tokens: u64,
    /// The frequency of each lemma.
    totals: Vec<u64>,
}

impl Engine {
    /// Words that occur in the same contexts. Check [`Limits::cut_off`]: there are no rows then.
    pub fn similar(&self, asked: &SimilarTo<'_>, limits: &Limits) -> Result<Similar> {
        let Some(id) = self.lexicon().find(Layer::Lemma, asked.lemma).filter(|_| !limits.is_over()) else {
            return Ok(Similar::default());
        };
        let subcorpus = self.subcorpus(asked.filter)?.with_limits(limits.clone());
        let totals = self.string_counts(&subcorpus, Layer::Lemma).into_owned();
        let builder = Builder { engine: self, asked, limits, tokens: self.tokens(&subcorpus), totals };
        let tag = match asked.tag {
            Some(tag) => tag.to_owned(),
            None => builder.usual_tag(id)?,
        };
        let hits = builder.frequency(id);
        let mut found = Similar { tag, hits, tokens: builder.tokens, ..Similar::default() };
        let vector = builder.vector(id)?;
        found.contexts = vector.len() as u64;
        if vector.is_empty() {
            return Ok(found);
        }
        let candidates = builder.candidates(id, &vector, &found.tag)?;
        for candidate in candidates {
            if limits.is_over() {
                break;
            }
            found.rows.push(builder.compare(&vector, candidate)?);
        }
        if limits.cut_off().is_some() {
            found.rows.clear();
        }
        found.rows.sort_by(|a, b| b.similarity.total_cmp(&a.similarity).then_with(|| a.lemma.cmp(&b.lemma)));
        found.rows.truncate(asked.rows);
        Ok(found)
    }
}

impl Builder<'_> {
    fn frequency(&self, lemma: u32) -> u64 {
        self.totals.get(lemma as usize).copied().unwrap_or(0)
    }

    fn text(&self, lemma: u32) -> &str {
        self.engine.lexicon().string(Layer::Lemma, lemma)
    }

    /// The hits of a lemma.
    fn search(&self, lemma: u32) -> Result<Search<'_>> {
        let lemma = is(Attribute::Lemma, ValueMatcher::exact(self.text(lemma)));
        let query = crate::cql::parse(&format!("[{lemma}]"))?;
        self.engine.search(&query, MatchRule::Shortest, self.asked.filter)
    }

    /// The part of speech that a lemma has most often; empty if it has none.
    fn usual_tag(&self, lemma: u32) -> Result<String> {
        let (tags, _) = self.search(lemma)?.by_attribute(Attribute::Tag, self.limits);
        let named = tags.into_iter().filter(|(tag, _)| !tag.is_empty());
        let most = named.max_by(|a, b| a.1.0.cmp(&b.1.0).then_with(|| b.0.cmp(&a.0)));
        Ok(most.map(|(tag, _)| tag).unwrap_or_default())
    }

    /// The lemmas in the windows of a lemma.
    fn near(&self, lemma: u32) -> Result<NearCounts> {
        Ok(self.search(lemma)?.near(Attribute::Lemma, Window::Tokens { left: SIDE, right: SIDE }, self.limits))
    }

    /// Positive pointwise mutual information of two lemmas, in bits.
    fn weight(&self, together: u64, one: u64, other: u64) -> f64 {
        let expected = one as f64 * other as f64 * f64::from(2 * SIDE) / self.tokens.max(1) as f64;
        (together as f64 / expected.max(f64::MIN_POSITIVE)).log2().max(0.0)
    }

    /// Returns true if a lemma can be a context.
    fn is_context(&self, lemma: u32) -> bool {
        let frequency = self.frequency(lemma);
        frequency > 0
            && frequency <= (self.tokens / TOO_FREQUENT_IN).max(NEVER_TOO_FREQUENT)
            && is_wordlike(self.text(lemma))
    }

    /// The strongest contexts of a lemma: those with the highest weight times the logarithm of the co-occurrence, so that a
    /// word that was met three times does not come first.
    fn vector(&self, lemma: u32) -> Result<Vector> {
        let near = self.near(lemma)?;
        let frequency = self.frequency(lemma);
        let mut weights: Vec<(f64, u32, f64)> = Vec::new();
        for (context, together) in near.each().filter(|(_, together)| *together >= MIN_TOGETHER) {
            if context == lemma || !self.is_context(context) {
                continue;
            }
            let weight = self.weight(together, frequency, self.frequency(context));
            if weight > 0.0 {
                weights.push((weight * (1.0 + together as f64).ln(), context, weight));
            }
        }
        weights.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| self.text(a.1).cmp(self.text(b.1))));
        weights.truncate(CONTEXTS);
        weights.sort_by(|a, b| self.text(a.1).cmp(self.text(b.1)));
        Ok(weights.into_iter().map(|(_, context, weight)| (context, weight)).collect())
    }

    /// The words of the same part of speech that share most of the weight of the contexts.
    fn candidates(&self, lemma: u32, vector: &Vector, tag: &str) -> Result<Vec<u32>> {
        let mut scores: HashMap<u32, f64> = HashMap::new();
        for (context, weight) in vector {
            if self.limits.is_over() {
                return Ok(Vec::new());
            }
            let frequency = self.frequency(*context);
            for (word, together) in self.near(*context)?.each().filter(|(_, together)| *together >= MIN_TOGETHER) {
                if self.frequency(word) >= self.asked.at_least {
                    *scores.entry(word).or_default() +=
                        weight.min(self.weight(together, frequency, self.frequency(word)));
                }
            }
        }
        scores.remove(&lemma);
        let mut ranked: Vec<(f64, u32)> = scores.into_iter().map(|(word, score)| (score, word)).collect();
        ranked.retain(|(_, word)| is_wordlike(self.text(*word)));
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| self.text(a.1).cmp(self.text(b.1))));
        let most = self.asked.rows.saturating_mul(CANDIDATES_PER_ROW);
        let mut candidates = Vec::new();
        for (_, word) in ranked {
            if candidates.len() == most || self.limits.is_over() {
                break;
            }
            if tag.is_empty() || self.usual_tag(word)? == tag {
                candidates.push(word);
            }
        }
        Ok(candidates)
    }

    /// The cosine of a vector and that of a candidate, with the contexts that contribute most.
    fn compare(&self, vector: &Vector, candidate: u32) -> Result<SimilarWord> {
        let other = self.vector(candidate)?;
        let length = |vector: &Vector| vector.iter().map(|(_, weight)| weight * weight).sum::<f64>().sqrt();
        let length = length(vector) * length(&other);
        let other: HashMap<u32, f64> = other.into_iter().collect();
        let mut products: Vec<(f64, u32)> = vector
            .iter()
            .filter_map(|(context, weight)| other.get(context).map(|other| (weight * other, *context)))
            .collect();
        products.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| self.text(a.1).cmp(self.text(b.1))));
        let dot: f64 = products.iter().map(|(product, _)| product).sum();
        Ok(SimilarWord {
            lemma: self.text(candidate).to_owned(),
            hits: self.frequency(candidate),
            similarity: dot / length.max(f64::MIN_POSITIVE),
            shared: products.iter().take(5).map(|(_, id)| self.text(*id).to_owned()).collect(),
        })
    }
}
