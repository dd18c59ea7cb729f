//! Documents of two parts of a corpus with the same mixture of topics.
//!
//! If one part has more sport than the other, every word with uses in sport and elsewhere has other collocates there, though
//! no word is used in another way. Topics are told by the words that are significantly more frequent in one part,
//! within sites: a document's score is the mean of their log ratios over all of its tokens. Documents are stratified by this
//! score (as by a propensity score, Rosenbaum and Rubin 1984), and of the part that has more documents of a stratum so many
//! are left out at random that both parts have the same share.

use super::difference::Documents;
use super::{Deadline, Limit, Limits};
use crate::trend::Part;
use tidings_index::Segment;
use tidings_index::codec::BitSet;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// The strata of scores.
const STRATA: usize = 16;
/// The standard errors that the log ratio of a word must have. Noise of rare words would tell the parts apart in every corpus.
const LEAST_Z: f64 = 4.0;
/// The greatest log ratio of a word that counts.
const MOST_LOG_RATIO: f64 = 1.0;
/// The documents of a site that weigh as much as the shares of all sites together.
const PRIOR_DOCUMENTS: f64 = 20.0;
/// One, in numbers whose sums do not depend on their order.
const ONE: u64 = 1 << 20;
/// The seed of the documents that are left out.
const SEED: u64 = 0x7091;

/// A document of one of two parts, with the words of its tokens.
pub(super) struct DocumentRead<'r> {
    /// The number of the segment.
    pub(super) index: usize,
    pub(super) segment: &'r Segment,
    /// The word of each local lexeme.
    words: &'r [u32],
    pub(super) document: u32,
    pub(super) part: Part,
    pub(super) site: u32,
}

impl DocumentRead<'_> {
    /// The identifier, by which random choices are made.
    pub(super) fn id(&self) -> [u8; 16] {
        self.segment.ids().get(self.document as usize).unwrap_or(0).to_le_bytes()
    }

    /// Passes the word of each token; those of a damaged lexicon are `u32::MAX`.
    pub(super) fn tokens(&self, mut each: impl FnMut(u32)) {
        let tokens = self.segment.tokens_of(self.document);
        self.segment.column().scan(tokens.start, tokens.end, |_, local_ids| {
            for local_id in local_ids {
                each(self.words.get(*local_id as usize).copied().unwrap_or(u32::MAX));
            }
        });
    }
}

/// The documents, or the tokens, of each part and stratum (a site, or all documents).
struct Volumes(Vec<[u64; 2]>);

impl Volumes {
    fn of(documents: &Documents<'_>, stratum_of: impl Fn(u32) -> u32, size: impl Fn(&Segment, u32) -> u64) -> Volumes {
        let mut volumes = vec![[0; 2]; documents.site_names().len()];
        let segments: Vec<&Segment> = documents.segments().map(|(segment, _)| segment).collect();
        documents.each(|index, document, (part, site)| {
            volumes[stratum_of(site) as usize][part as usize] += size(segments[index], document);
        });
        Volumes(volumes)
    }

    /// The weight of a document, or of a token, that makes both parts have the same mixture of sites (Mantel and Haenszel
    /// 1959).
    fn weight(&self, stratum: usize, part: Part) -> u64 {
        let of = self.0[stratum];
        ((u128::from(ONE) * u128::from(of[1 - part as usize])) / u128::from((of[0] + of[1]).max(1))) as u64
    }
}

/// A word in both parts.
#[derive(Clone, Copy, Default)]
struct Rates {
    /// Hits, weighted so that those of both parts are of the same number of tokens.
    weighted: [u64; 2],
    /// Documents.
    documents: [u32; 2],
    /// The last document with the word, counted from 1.
    last: u32,
}

/// For each segment the documents that are left if both parts have the same mixture of topics, within strata. Words are numbered
/// by `word_of` lexemes, and only those for which `counts` is true tell topics. Nothing if a limit is reached.
pub(super) fn balanced(
    documents: &Documents<'_>,
    stratum_of: impl Fn(u32) -> u32,
    word_of: &[u32],
    counts: &[bool],
    limits: &Limits,
) -> Option<Vec<BitSet>> {
    let mut memory = limits.memory();
    if !memory.grow((counts.len() * (size_of::<Rates>() + size_of::<i64>())) as u64) {
        limits.strike(Limit::Memory);
        return None;
    }
    let tokens = Volumes::of(documents, &stratum_of, |segment, document| segment.tokens_of(document).len() as u64);
    let mut rates = vec![Rates::default(); counts.len()];
    let mut number = 0;
    let is_complete = each_document(documents, word_of, limits, |read| {
        number += 1;
        let (part, weight) = (read.part as usize, tokens.weight(stratum_of(read.site) as usize, read.part));
        read.tokens(|word| {
            let Some(rate) = rates.get_mut(word as usize).filter(|_| counts[word as usize]) else { return };
            rate.weighted[part] += weight;
            rate.documents[part] += u32::from(rate.last != number);
            rate.last = number;
        });
    });
    if !is_complete {
        return None;
    }
    let ratios: Vec<i64> = rates.iter().map(|rate| log_ratio(rate.weighted, rate.documents)).collect();
    drop(rates);
    if ratios.iter().all(|ratio| *ratio == 0) {
        return Some(documents.segments().map(|(segment, _)| all_of(segment)).collect());
    }
    let mut scores: Vec<Vec<f64>> = documents.segments().map(|(_, parts)| vec![0.0; parts.len()]).collect();
    let is_complete = each_document(documents, word_of, limits, |read| {
        let (mut sum, mut tokens) = (0, 0u32);
        read.tokens(|word| {
            if counts.get(word as usize) == Some(&true) {
                sum += ratios[word as usize];
                tokens += 1;
            }
        });
        scores[read.index][read.document as usize] = sum as f64 / f64::from(tokens.max(1));
    });
    is_complete.then(|| kept(documents, &stratum_of, &scores))
}

/// The log ratio of a word, in fractions of [`ONE`]; 0 if it is not significant.
fn log_ratio(weighted: [u64; 2], documents: [u32; 2]) -> i64 {
    let [before, after] = weighted.map(|sum| sum as f64 / ONE as f64 + 0.5);
    let ratio = (after / before).ln();
    // Hits of one document have much in common.
    let error = documents.map(|documents| 1.0 / (f64::from(documents) + 0.5)).iter().sum::<f64>().sqrt();
    if ratio.abs() < LEAST_Z * error {
        return 0;
    }
    (ratio.clamp(-MOST_LOG_RATIO, MOST_LOG_RATIO) * ONE as f64) as i64
}

fn all_of(segment: &Segment) -> BitSet {
    let mut all = BitSet::new(segment.meta().documents as usize);
    all.set_range(0..segment.meta().documents);
    all
}

/// Passes all documents of both parts; false if a limit is reached. `word_of` has the word of each lexeme.
pub(super) fn each_document(
    documents: &Documents<'_>,
    word_of: &[u32],
    limits: &Limits,
    mut each: impl FnMut(&DocumentRead<'_>),
) -> bool {
    limits.begin_pass(documents.text().tokens());
    let mut deadline = Deadline::new(limits);
    for (index, (segment, parts)) in documents.segments().enumerate() {
        let words = segment.lexemes().all().iter();
        let words: Vec<u32> = words.map(|lexeme| word_of.get(*lexeme as usize).copied().unwrap_or(u32::MAX)).collect();
        for (document, part) in (0..).zip(parts) {
            let Some((part, site)) = *part else { continue };
            let tokens = segment.tokens_of(document).len() as u32;
            if !deadline.tick_by(tokens) {
                return false;
            }
            each(&DocumentRead { index, segment, words: &words, document, part, site });
            limits.saw(u64::from(tokens));
        }
    }
    true
}

/// The documents that are kept: of each stratum of scores the same share of both parts.
fn kept(documents: &Documents<'_>, stratum_of: impl Fn(u32) -> u32, scores: &[Vec<f64>]) -> Vec<BitSet> {
    let volumes = Volumes::of(documents, &stratum_of, |_, _| 1);
    let mut sorted = Vec::new();
    documents.each(|index, document, _| sorted.push(scores[index][document as usize]));
    sorted.sort_unstable_by(f64::total_cmp);
    let cuts: Vec<f64> = (1..STRATA).map(|cut| sorted[cut * (sorted.len() - 1) / STRATA]).collect();
    let bin_of = |score: f64| cuts.partition_point(|cut| *cut < score);
    let mut of_all = [[0u64; STRATA]; 2];
    let mut of_strata = vec![[[0u64; STRATA]; 2]; volumes.0.len()];
    documents.each(|index, document, (part, site)| {
        let (bin, stratum) = (bin_of(scores[index][document as usize]), stratum_of(site) as usize);
        of_all[part as usize][bin] += volumes.weight(stratum, part);
        of_strata[stratum][part as usize][bin] += 1;
    });
    let share = |stratum: usize, part: usize, bin: usize| {
        let all: u64 = of_all[part].iter().sum();
        let prior = PRIOR_DOCUMENTS * of_all[part][bin] as f64 / all.max(1) as f64;
        (of_strata[stratum][part][bin] as f64 + prior) / (volumes.0[stratum][part] as f64 + PRIOR_DOCUMENTS)
    };
    let mut kept: Vec<BitSet> =
        documents.segments().map(|(segment, _)| BitSet::new(segment.meta().documents as usize)).collect();
    let segments: Vec<&Segment> = documents.segments().map(|(segment, _)| segment).collect();
    documents.each(|index, document, (part, site)| {
        let (bin, stratum) = (bin_of(scores[index][document as usize]), stratum_of(site) as usize);
        let (own, other) = (share(stratum, part as usize, bin), share(stratum, 1 - part as usize, bin));
        let id = segments[index].ids().get(document as usize).unwrap_or(0);
        let draw = xxh3_64_with_seed(&id.to_le_bytes(), SEED) as f64 / 2f64.powi(64);
        if draw * own < other {
            kept[index].set(document);
        }
    });
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_words_that_differ_for_sure_tell_topics() {
        assert_eq!(log_ratio([50 * ONE, 60 * ONE], [100, 120]), 0);
        assert_eq!(log_ratio([0, 3 * ONE], [0, 3]), 0);
        assert_eq!(log_ratio([50 * ONE, 500 * ONE], [100, 1000]), ONE as i64);
        assert!((1 - ONE as i64..0).contains(&log_ratio([900 * ONE, 500 * ONE], [1800, 1000])));
    }

    #[test]
    fn weights_make_the_mixture_of_sites_the_same() {
        let volumes = Volumes(vec![[10, 30], [5, 0]]);
        assert_eq!(10 * volumes.weight(0, Part::Before), 30 * volumes.weight(0, Part::After));
        assert_eq!(volumes.weight(1, Part::Before), 0);
    }
}
