//! Morphological features of a word whose tag and lemma are known: `Case=Gen|Number=Plur`.
//!
//! A *bundle* is the set of all features of a word. Only bundles that occurred with the tag in the
//! treebank are candidates, so the output is never impossible; the score of a bundle is the sum of
//! the weights of its values, which all bundles with that value share. Scores of a word without its
//! context ([`word_features`]) can be cached; those of [`context_features`] are added per token.
//! Words that can agree with each other form a linear-chain CRF over their best bundles: pairs of
//! tags have weights for agreeing or differing in an attribute, and Viterbi decoding chooses the
//! best sequence.

mod features;

use crate::hash::{Hash, mix};
use crate::tagger::ModelError;
use crate::tagger::bytes::{Reader, put_number, put_text};
use crate::tagger::feature_index::FeatureIndex;
use crate::tagger::rows;
use crate::tagger::word::HashedWord;

pub use features::{
    CONTEXT_FEATURES, ClauseContext, HashedLemma, LEXICAL, TagRole, WORD_FEATURES, context_features, of_sentence,
    roles, word_features,
};

/// Attributes that models predict, in output order: the inflectional features of Universal
/// Dependencies, and the lexical ones of pronouns and numerals.
pub const ATTRIBUTES: [&str; 20] = [
    "Animacy",
    "Aspect",
    "Case",
    "Definite",
    "Degree",
    "Evident",
    "Gender",
    "Mood",
    "Number",
    "Number[psor]",
    "NumType",
    "Person",
    "Person[psor]",
    "Polarity",
    "Poss",
    "PronType",
    "Reflex",
    "Tense",
    "VerbForm",
    "Voice",
];

/// Maximum number of values of a model.
pub const MAX_VALUES: usize = 64;
/// Maximum number of bundles of a tag.
pub const MAX_BUNDLES: usize = 4096;
/// Maximum number of values of a bundle.
const MAX_BUNDLE_VALUES: usize = 64;

/// Normalises the features of a treebank: keeps the attributes that models predict, in output
/// order. Those of a multi-word token are joined by `+`; the result is empty if no word has
/// features.
pub fn canonical(feats: &str) -> String {
    let part = |part: &str| {
        let mut kept: Vec<(usize, &str)> = part.split('|').filter_map(|pair| Some((attribute(pair)?, pair))).collect();
        kept.sort_unstable();
        kept.iter().map(|(_, pair)| *pair).collect::<Vec<_>>().join("|")
    };
    let parts: Vec<String> = feats.split('+').map(part).collect();
    if parts.iter().all(String::is_empty) { String::new() } else { parts.join("+") }
}

/// Number of the attribute of a pair such as `Case=Gen`, if models predict it.
fn attribute(pair: &str) -> Option<usize> {
    let name = pair.split_once('=')?.0;
    ATTRIBUTES.iter().position(|attribute| *attribute == name)
}

/// Attributes in which words agree.
const AGREEING: [&str; 8] = ["Animacy", "Aspect", "Case", "Definite", "Gender", "Number", "Person", "Tense"];
/// Number of relations between two words: each attribute can be equal or different.
pub const RELATIONS: usize = 2 * AGREEING.len();
/// Values of a bundle for the agreeing attributes; zero if it has none.
pub type Agreement = [u8; AGREEING.len()];

/// Relations between two words, as numbers below [`RELATIONS`].
pub fn relations(one: Agreement, other: Agreement) -> impl Iterator<Item = usize> {
    (0..AGREEING.len())
        .filter(move |index| one[*index] != 0 && other[*index] != 0)
        .map(move |index| 2 * index + usize::from(one[index] != other[index]))
}

/// Number of bits of a tag pair.
pub const PAIR_BITS: u32 = 16;

/// Keys of the relation weights of two tags: for the pair alone, and with the tag of the word just
/// before the second one.
pub fn pairs(before: u8, tag: u8, between: Option<u8>) -> [u32; 2] {
    let index = (u32::from(before & 31) << 5 | u32::from(tag & 31)) << 6;
    [index | 63, index | between.map_or(62, |tag| u32::from(tag & 31))]
}

/// Agreeing values of a bundle; `values` are the texts of all values.
pub fn agreement(parts: &[Vec<u8>], values: &[impl AsRef<str>]) -> Agreement {
    let mut found = Agreement::default();
    // For a multi-word token, the last word decides.
    for value in parts.iter().flatten() {
        let name = values.get(usize::from(*value)).and_then(|text| text.as_ref().split('=').next()).unwrap_or_default();
        if let Some(index) = AGREEING.iter().position(|attribute| *attribute == name) {
            found[index] = value + 1;
        }
    }
    found
}

/// Bundles of a tag.
#[derive(Debug, Default)]
struct Bundles {
    bundles: Vec<Bundle>,
    /// Values that each bundle adds to those shared with the bundle before it, concatenated.
    values: Vec<u8>,
    texts: Vec<String>,
    /// A bundle has at least one agreeing value.
    agrees: bool,
}

#[derive(Debug)]
struct Bundle {
    /// Number of leading values shared with the bundle before it.
    shared: u8,
    /// Number of further values.
    more: u8,
    /// Score independent of the word.
    bias: i16,
    agreement: Agreement,
}

/// Maximum number of bundles of a word that take part in Viterbi decoding.
pub const MAX_CANDIDATES: usize = 8;
/// Bundles that score lower than the best one by more than this are dropped; agreement could not
/// make up for it.
const MARGIN: i32 = 120;

/// Bundle of a word, the score of the best path that ends with it, and its backpointer.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    bundle: u16,
    score: i32,
    back: u8,
}

impl Bundles {
    /// Appends a bundle; bundles are sorted by their values.
    fn push(&mut self, list: &[u8], last: &[u8], text: String, bias: i16, agreement: Agreement) {
        let shared = last.iter().zip(list).take_while(|(one, other)| one == other).count();
        self.bundles.push(Bundle { shared: shared as u8, more: (list.len() - shared) as u8, bias, agreement });
        self.values.extend(&list[shared..]);
        self.texts.push(text);
        self.agrees |= agreement != Agreement::default();
    }

    /// Scores of all bundles from the scores of values. Bundles share the sums of their common
    /// prefixes.
    fn scores(&self, values: &[i16; MAX_VALUES], out: &mut Vec<i32>) {
        let mut sums = [0i32; MAX_BUNDLE_VALUES + 1];
        let mut added = self.values.iter();
        out.clear();
        out.extend(self.bundles.iter().map(|bundle| {
            let mut at = usize::from(bundle.shared);
            for value in added.by_ref().take(usize::from(bundle.more)) {
                sums[at + 1] = sums[at] + i32::from(values[usize::from(*value) % MAX_VALUES]);
                at += 1;
            }
            sums[at] + i32::from(bundle.bias)
        }));
    }
}

/// Context-free evidence of a word with its tag.
#[derive(Debug, Clone, Copy)]
pub struct WordScores {
    /// The only possible bundle.
    only: Option<u16>,
    /// Otherwise the scores of values.
    values: [i16; MAX_VALUES],
}

impl Default for WordScores {
    fn default() -> WordScores {
        WordScores { only: None, values: [0; MAX_VALUES] }
    }
}

/// Key of words that always have the same bundle with a tag.
pub fn unambiguous(word: &HashedWord, tag: u8) -> Hash {
    mix(mix(12, word.form), u64::from(tag))
}

/// Model of morphological features.
#[derive(Debug, Default)]
pub struct FeatsModel {
    /// Roles by tag.
    roles: Vec<TagRole>,
    /// Bundles by tag.
    bundles: Vec<Bundles>,
    known: FeatureIndex,
    rows: Vec<[i8; MAX_VALUES]>,
    pairs: FeatureIndex,
    relations: Vec<[i8; RELATIONS]>,
    unambiguous: FeatureIndex,
    unambiguous_bundles: Vec<u16>,
}

/// Bundles of a tag as written to a model: the values of each syntactic word, and the bias.
pub type WrittenBundles = Vec<(Vec<Vec<u8>>, i16)>;

/// All values of a bundle, merged over its syntactic words.
pub fn union_of_values(parts: &[Vec<u8>]) -> Vec<u8> {
    let mut values = parts.concat();
    values.sort_unstable();
    values.dedup();
    values
}

impl FeatsModel {
    /// Serialises the model. `values` are texts such as `Case=Gen`; `weights`, `relations` and
    /// `unambiguous` (slot and bundle number) are sorted by slot.
    pub fn write(
        values: &[String],
        bundles: &[WrittenBundles],
        bits: u32,
        weights: &[(u32, Vec<i8>)],
        relations: &[(u32, Vec<i8>)],
        unambiguous: &[(u32, u16)],
        out: &mut Vec<u8>,
    ) {
        put_number(values.len() as u32, out);
        values.iter().for_each(|value| put_text(value, out));
        for bundles in bundles {
            put_number(bundles.len() as u32, out);
            for (parts, bias) in bundles {
                put_number(parts.len() as u32, out);
                for part in parts {
                    put_number(part.len() as u32, out);
                    out.extend(part);
                }
                out.extend(bias.to_le_bytes());
            }
        }
        for (bits, columns, rows) in [(bits, values.len(), weights), (PAIR_BITS, RELATIONS, relations)] {
            let (slots, rows): (Vec<u32>, Vec<Vec<i8>>) = rows.iter().cloned().unzip();
            FeatureIndex::write(bits, &slots, out);
            rows::write(columns, &rows, out);
        }
        FeatureIndex::write(bits, &unambiguous.iter().map(|pair| pair.0).collect::<Vec<u32>>(), out);
        unambiguous.iter().for_each(|pair| put_number(u32::from(pair.1), out));
    }

    /// Returns a model without features.
    pub fn none(tags: &[String]) -> FeatsModel {
        let bundles = tags.iter().map(|_| Bundles::default()).collect();
        FeatsModel { bundles, roles: roles(tags), ..FeatsModel::default() }
    }

    /// Reads the output of [`FeatsModel::write`] for these tags.
    pub fn read(tags: &[String], reader: &mut Reader<'_>) -> Result<FeatsModel, ModelError> {
        let count = reader.count()?;
        if count > MAX_VALUES {
            return Err(ModelError::Damaged("there are too many feature values"));
        }
        let values = (0..count).map(|_| reader.text()).collect::<Result<Vec<&str>, _>>()?;
        let bundles = tags.iter().map(|_| bundles(&values, reader)).collect::<Result<Vec<Bundles>, _>>()?;
        let known = FeatureIndex::read(reader)?;
        let rows = rows::read(count, known.len(), reader)?;
        let pairs = FeatureIndex::read(reader)?;
        let relations = rows::read(RELATIONS, pairs.len(), reader)?;
        let unambiguous = FeatureIndex::read(reader)?;
        let unambiguous_bundles =
            (0..unambiguous.len()).map(|_| Ok(reader.number()? as u16)).collect::<Result<Vec<u16>, ModelError>>()?;
        Ok(FeatsModel { roles: roles(tags), bundles, known, rows, pairs, relations, unambiguous, unambiguous_bundles })
    }

    /// Viterbi decoding: calls `each` with the index and the features of every word, given
    /// [`FeatsModel::word_scores`] and the tag of each.
    pub fn choose(
        &self,
        words: &[HashedWord],
        word_scores: &[WordScores],
        tags: &[u8],
        mut each: impl FnMut(usize, &str),
    ) {
        // Candidates of all words, concatenated, and the start of each word's candidates.
        let mut candidates: Vec<Candidate> = Vec::with_capacity(2 * words.len());
        let mut starts: Vec<usize> = Vec::with_capacity(words.len() + 1);
        // Index of the last word that can agree with others.
        let mut last: Option<usize> = None;
        let mut scratch = Vec::new();
        of_sentence(&self.roles, words, tags, |index, around| {
            let start = candidates.len();
            starts.push(start);
            self.candidates(&word_scores[index], tags[index], around, &mut scratch, &mut candidates);
            if !self.bundles[usize::from(tags[index])].agrees {
                return;
            }
            if let Some(before) = last {
                let (earlier, own) = candidates.split_at_mut(start);
                let end = starts[before + 1];
                self.link(tags, before, index, &earlier[starts[before]..end], own);
            }
            last = Some(index);
        });
        starts.push(candidates.len());
        // Follow the backpointers of words that can agree; the others take their best candidate.
        let mut chosen: Vec<u16> = vec![0; words.len()];
        let mut back: Option<u8> = None;
        for index in (0..words.len()).rev() {
            let own = &candidates[starts[index]..starts[index + 1]];
            let agrees = self.bundles[usize::from(tags[index])].agrees;
            let number = match back {
                Some(back) if agrees => usize::from(back),
                _ => best(own),
            };
            chosen[index] = own.get(number).map_or(0, |one| one.bundle);
            if agrees {
                back = own.get(number).map(|one| one.back);
            }
        }
        for (index, bundle) in chosen.iter().enumerate() {
            let texts = &self.bundles[usize::from(tags[index])].texts;
            each(index, texts.get(usize::from(*bundle)).map_or("", String::as_str));
        }
    }

    /// Context-free evidence of a word with its lemma and tag.
    pub fn word_scores(&self, word: &HashedWord, lemma: &str, tag: u8) -> WordScores {
        let bundles = self.bundles[usize::from(tag)].texts.len();
        let unambiguous =
            || self.unambiguous.find(unambiguous(word, tag)).map(|number| self.unambiguous_bundles[number]);
        let mut scores = WordScores::default();
        if bundles < 2 {
            scores.only = Some(0);
        } else if let Some(bundle) = unambiguous().filter(|bundle| usize::from(*bundle) < bundles) {
            scores.only = Some(bundle);
        } else {
            self.add(&word_features(word, &HashedLemma::new(lemma), tag), &mut scores.values);
        }
        scores
    }

    /// Appends the candidate bundles of a word.
    fn candidates(
        &self,
        scores: &WordScores,
        tag: u8,
        around: &dyn Fn() -> [Hash; CONTEXT_FEATURES],
        scratch: &mut Vec<i32>,
        out: &mut Vec<Candidate>,
    ) {
        if let Some(bundle) = scores.only {
            return out.push(Candidate { bundle, score: 0, back: 0 });
        }
        let bundles = &self.bundles[usize::from(tag)];
        let mut values = scores.values;
        self.add(&around(), &mut values);
        bundles.scores(&values, scratch);
        let highest = scratch.iter().copied().max().unwrap_or_default();
        let start = out.len();
        let near = scratch.iter().enumerate().filter(|(_, score)| **score + MARGIN >= highest);
        out.extend(near.map(|(bundle, score)| Candidate { bundle: bundle as u16, score: *score, back: 0 }));
        if out.len() - start > MAX_CANDIDATES {
            out[start..].sort_by_key(|one| std::cmp::Reverse(one.score));
            out.truncate(start + MAX_CANDIDATES);
        }
    }

    /// One Viterbi step: links each candidate to the best candidate of the agreeing word before it.
    fn link(&self, tags: &[u8], before: usize, index: usize, earlier: &[Candidate], own: &mut [Candidate]) {
        let between = (before + 1 < index).then(|| tags[index - 1]);
        let (one, other) = (&self.bundles[usize::from(tags[before])], &self.bundles[usize::from(tags[index])]);
        let mut weights = [0i16; RELATIONS];
        for pair in pairs(tags[before], tags[index], between) {
            if let Some(number) = self.pairs.find(u64::from(pair) << (64 - PAIR_BITS)) {
                weights.iter_mut().zip(&self.relations[number]).for_each(|(sum, weight)| *sum += i16::from(*weight));
            }
        }
        let agreement =
            |bundles: &Bundles, one: &Candidate| bundles.bundles.get(usize::from(one.bundle)).map(|one| one.agreement);
        for candidate in own {
            let mine = agreement(other, candidate).unwrap_or_default();
            let mut best = (i32::MIN, 0);
            for (number, theirs) in earlier.iter().enumerate() {
                let common = relations(agreement(one, theirs).unwrap_or_default(), mine);
                let score = theirs.score + common.map(|relation| i32::from(weights[relation])).sum::<i32>();
                if score > best.0 {
                    best = (score, number as u8);
                }
            }
            candidate.score += best.0;
            candidate.back = best.1;
        }
    }

    #[inline]
    fn add<const COUNT: usize>(&self, features: &[Hash; COUNT], values: &mut [i16; MAX_VALUES]) {
        self.known.find_all(features, |number| {
            let row = &self.rows[number];
            for value in 0..MAX_VALUES {
                values[value] += i16::from(row[value]);
            }
        });
    }
}

/// Index of the best candidate; the lowest index wins ties.
fn best(candidates: &[Candidate]) -> usize {
    let mut best = 0;
    for (number, candidate) in candidates.iter().enumerate() {
        if candidate.score > candidates[best].score {
            best = number;
        }
    }
    best
}

/// Reads the bundles of a tag.
fn bundles(values: &[&str], reader: &mut Reader<'_>) -> Result<Bundles, ModelError> {
    let invalid = ModelError::Damaged("a bundle of features is invalid");
    let count = reader.count()?;
    if count > MAX_BUNDLES {
        return Err(invalid);
    }
    let mut found = Bundles::default();
    let mut last: Vec<u8> = Vec::new();
    for _ in 0..count {
        let mut parts: Vec<Vec<u8>> = Vec::new();
        for _ in 0..reader.count()? {
            let length = reader.count()?;
            parts.push(reader.take(length)?.to_vec());
        }
        let list = union_of_values(&parts);
        if list.len() > MAX_BUNDLE_VALUES || list.iter().any(|value| usize::from(*value) >= values.len()) {
            return Err(invalid);
        }
        let text = |part: &Vec<u8>| part.iter().map(|value| values[usize::from(*value)]).collect::<Vec<_>>().join("|");
        let text = if list.is_empty() { String::new() } else { parts.iter().map(text).collect::<Vec<_>>().join("+") };
        let bias = i16::from_le_bytes([reader.u8()?, reader.u8()?]);
        found.push(&list, &last, text, bias, agreement(&parts, values));
        last = list;
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_sorted_and_unsupported_ones_dropped() {
        assert_eq!(canonical("Typo=Yes|Number=Plur|Case=Gen"), "Case=Gen|Number=Plur");
        assert_eq!(
            canonical("NumType=Card|Number[psor]=Sing|Number=Plur"),
            "Number=Plur|Number[psor]=Sing|NumType=Card"
        );
        assert_eq!((canonical("_"), canonical(""), canonical("+"), canonical("Abbr=Yes+")), Default::default());
        assert_eq!(canonical("+Number=Sing|Gender=Masc"), "+Gender=Masc|Number=Sing");
    }

    #[test]
    fn attributes_are_sorted_ignoring_case() {
        assert!(ATTRIBUTES.is_sorted_by_key(|attribute| attribute.to_lowercase()));
    }

    #[test]
    fn the_score_of_a_bundle_is_the_sum_of_its_values() {
        let lists: [(&[u8], i16); 5] = [(&[], 0), (&[0, 2], 0), (&[0, 3], 0), (&[1, 2, 3], 0), (&[1, 2, 3], 1)];
        let mut bundles = Bundles::default();
        let mut last: &[u8] = &[];
        for (list, bias) in lists {
            bundles.push(list, last, String::new(), bias, Agreement::default());
            last = list;
        }
        let mut values = [0; MAX_VALUES];
        values[..4].copy_from_slice(&[5, -2, 1, 2]);
        let mut found = Vec::new();
        bundles.scores(&values, &mut found);
        assert_eq!(found, [0, 6, 7, 1, 2]);
    }

    #[test]
    fn relations_cover_attributes_that_both_words_have() {
        let values = ["Case=Acc", "Case=Nom", "Gender=Fem", "VerbForm=Inf"];
        let [one, other, none] = [&[0, 2], &[1, 2], &[3, 3]].map(|bundle| agreement(&[bundle.to_vec()], &values));
        assert_eq!(relations(one, other).collect::<Vec<_>>(), [2 * 2 + 1, 4 * 2]);
        assert_eq!(relations(one, none).count(), 0);
        assert_ne!(pairs(1, 2, None)[1], pairs(1, 2, Some(3))[1]);
        assert_eq!(pairs(1, 2, None)[0], pairs(1, 2, Some(3))[0]);
    }
}
