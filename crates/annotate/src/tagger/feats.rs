//! Chooses the morphological features of a word whose part of speech is known: `LemmaCase=Gen|Number=Plur`.
//!
//! A *bundle* is all features of a word together. Only bundles that the word's part of speech had in the text that was
//! learned from compete, so that nothing impossible comes out; each is as good as the sum of its values' weights, which
//! are learned once for all bundles that have the value. What is seen of a word is either its own ([`own`]), the same
//! wherever it stands with its tag and kept for when it comes back, or of what is around it ([`around`]). Neighbours
//! that agree in what both have vote for each other: the best chain of bundles wins.

use crate::hash::{Hash, mix, of_str};
use crate::tagger::ModelError;
use crate::tagger::bytes::{Reader, put_number, put_text};
use crate::tagger::feature_index::FeatureIndex;
use crate::tagger::features;
use crate::tagger::rows;
use crate::tagger::word::{HashedWord, suffixes};

/// The attributes that are learned, in the order in which they are written: those that words are inflected for in
/// Universal Dependencies, and the lexical ones that tell kinds of pronouns and numerals.
pub const ATTRIBUTES: [&str; 20] = [
    "Animacy",
    "Aspect",
    "LemmaCase",
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

/// No model knows more values than this.
pub const MAX_VALUES: usize = 64;
/// Nor more bundles of a tag.
pub const MAX_BUNDLES: usize = 4096;
/// No bundle has more values than this.
const MAX_BUNDLE_VALUES: usize = 64;

/// Features as a treebank writes them, those we learn only, in order. Of a token that stands for several words those of each,
/// joined by `+`; nothing if none has any.
pub fn canonical(feats: &str) -> String {
    let part = |part: &str| {
        let mut kept: Vec<(usize, &str)> = part.split('|').filter_map(|pair| Some((attribute(pair)?, pair))).collect();
        kept.sort_unstable();
        kept.iter().map(|(_, pair)| *pair).collect::<Vec<_>>().join("|")
    };
    let parts: Vec<String> = feats.split('+').map(part).collect();
    if parts.iter().all(String::is_empty) { String::new() } else { parts.join("+") }
}

/// The number of the attribute of `LemmaCase=Gen`, if it is one we learn.
fn attribute(pair: &str) -> Option<usize> {
    let name = pair.split_once('=')?.0;
    ATTRIBUTES.iter().position(|attribute| *attribute == name)
}

/// What is seen of a lemma.
#[derive(Debug, Clone, Copy, Default)]
pub struct HashedLemma {
    /// All of it, without its case.
    pub form: Hash,
    /// Its last one, two, three characters.
    pub suffixes: [Hash; 3],
}

impl HashedLemma {
    /// Looks at a lemma.
    pub fn new(text: &str) -> HashedLemma {
        HashedLemma { form: of_str(text), suffixes: suffixes(text) }
    }
}

/// How many features are a word's own.
pub const WORD_FEATURES: usize = 18;
/// How many of these know the word itself or its lemma: the first the word, the second the lemma.
pub const LEXICAL: usize = 2;
/// How many features tell what is around it.
pub const CONTEXT_FEATURES: usize = 21;

/// What is seen of a word wherever it stands with this tag and this lemma.
#[inline]
pub fn word_features(word: &HashedWord, lemma: &HashedLemma, tag: u8) -> [Hash; WORD_FEATURES] {
    let [e1, e2, e3, e4, e5, e6] = word.suffixes;
    let [l1, l2, l3] = lemma.suffixes;
    let feature = |number: u64, parts: &[u64]| feature(10, number, tag, parts);
    [
        feature(1, &[word.form]),
        feature(2, &[lemma.form]),
        feature(3, &[]),
        feature(4, &[e1]),
        feature(5, &[e2]),
        feature(6, &[e3]),
        feature(7, &[e4]),
        feature(8, &[e5]),
        feature(9, &[e6]),
        feature(10, &[word.prefixes[1]]),
        feature(11, &[word.prefixes[2]]),
        feature(12, &[word.prefixes[4]]),
        feature(13, &[word.shape]),
        feature(14, &[word.prefixes[1], e2]),
        feature(15, &[e1, l1]),
        feature(16, &[e2, l2]),
        feature(17, &[e1, l3]),
        feature(18, &[l3]),
    ]
}

/// What is seen of a word in its index: itself among two words before and two after it, all with their tags, and the clause before.
#[inline]
pub fn context_features(words: &[&HashedWord; 5], tags: [u8; 5], clause: ClauseContext) -> [Hash; CONTEXT_FEATURES] {
    let [before2, before, word, after, _] = *words;
    let [tag2, tag1, _, next1, next2] = tags.map(u64::from);
    let [_, e2, e3, ..] = word.suffixes;
    let state = u64::from(clause.verb) * 4 + u64::from(clause.nouns);
    let feature = |number: u64, parts: &[u64]| feature(11, number, tags[2], parts);
    [
        feature(1, &[before.form]),
        feature(2, &[after.form]),
        feature(3, &[before2.form]),
        feature(4, &[tag1]),
        feature(5, &[next1]),
        feature(6, &[tag1, next1]),
        feature(7, &[tag2, tag1]),
        feature(8, &[next1, next2]),
        feature(9, &[before.suffixes[1], tag1]),
        feature(10, &[after.suffixes[1], next1]),
        feature(11, &[before.form, e2]),
        feature(12, &[before.suffixes[1], tag1, e2]),
        feature(13, &[after.suffixes[1], next1, e2]),
        feature(14, &[before2.suffixes[1], tag2, e2]),
        feature(15, &[tag1, e3]),
        feature(16, &[clause.adposition]),
        feature(17, &[clause.adposition, e2]),
        feature(18, &[clause.auxiliary]),
        feature(19, &[clause.auxiliary, e2]),
        feature(20, &[state]),
        feature(21, &[state, e2]),
    ]
}

/// A feature of its number, the tag and its parts. Numbers are part of every model.
#[inline(always)]
fn feature(kind: u64, number: u64, tag: u8, parts: &[u64]) -> Hash {
    parts.iter().fold(mix(mix(kind, number), u64::from(tag)), |hash, part| mix(hash, *part))
}

/// What a tag means for what comes after it in a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TagRole {
    /// It governs the case of what follows.
    Adposition,
    /// It governs the form of the verb that follows.
    Auxiliary,
    /// It ends what an adposition governs.
    Noun,
    /// It ends what an auxiliary governs.
    Verb,
    /// It ends a clause, mostly.
    Stop,
    /// Nothing.
    Other,
}

impl TagRole {
    /// The role of a tag; of a joined one, that of its first part.
    pub fn of(tag: &str) -> TagRole {
        match tag.split('+').next().unwrap_or_default() {
            "ADP" => TagRole::Adposition,
            "AUX" | "PART" => TagRole::Auxiliary,
            "NOUN" | "PROPN" | "PRON" => TagRole::Noun,
            "VERB" => TagRole::Verb,
            "PUNCT" => TagRole::Stop,
            _ => TagRole::Other,
        }
    }
}

/// What is exceptions of the clause before a word.
#[derive(Debug, Clone, Copy, Default)]
pub struct ClauseContext {
    /// The adposition since the last noun or verb.
    adposition: Hash,
    /// The auxiliary since the last verb.
    auxiliary: Hash,
    /// Whether there was a verb.
    verb: bool,
    /// How many nouns there were since it or the beginning: none, one or more.
    nouns: u8,
}

impl ClauseContext {
    fn follow(&mut self, word: &HashedWord, role: TagRole) {
        match role {
            TagRole::Adposition => self.adposition = word.form,
            TagRole::Auxiliary => (self.auxiliary, self.verb, self.nouns) = (word.form, true, 0),
            TagRole::Noun => (self.adposition, self.nouns) = (0, (self.nouns + 1).min(2)),
            TagRole::Verb => *self = ClauseContext { verb: true, ..ClauseContext::default() },
            TagRole::Stop => *self = ClauseContext::default(),
            TagRole::Other => {}
        }
    }
}

/// Calls `each` with every index and the features of what is around it.
pub fn of_sentence(
    roles: &[TagRole],
    words: &[HashedWord],
    tags: &[u8],
    mut each: impl FnMut(usize, &dyn Fn() -> [Hash; CONTEXT_FEATURES]),
) {
    let mut clause = ClauseContext::default();
    for index in 0..words.len() {
        let tag = |offset: isize| index.checked_add_signed(offset).and_then(|index| tags.get(index));
        each(index, &|| {
            let tags = [-2, -1, 0, 1, 2].map(|offset| tag(offset).copied().unwrap_or(OUTSIDE));
            context_features(&features::window(words, index), tags, clause)
        });
        clause.follow(&words[index], roles[usize::from(tags[index])]);
    }
}

/// The tag of what is no word.
const OUTSIDE: u8 = 255;

/// Attributes in which neighbours agree.
const AGREEING: [&str; 8] = ["Animacy", "Aspect", "LemmaCase", "Definite", "Gender", "Number", "Person", "Tense"];
/// What two words may have in common: each attribute may be the same or another.
pub const RELATIONS: usize = 2 * AGREEING.len();
/// What a bundle has of the attributes in which neighbours agree; nothing is nothing.
pub type Agreement = [u8; AGREEING.len()];

/// What two words have in common, as numbers below [`RELATIONS`].
pub fn relations(one: Agreement, other: Agreement) -> impl Iterator<Item = usize> {
    (0..AGREEING.len())
        .filter(move |index| one[*index] != 0 && other[*index] != 0)
        .map(move |index| 2 * index + usize::from(one[index] != other[index]))
}

/// How many bits the index of a pair of tags takes.
pub const PAIR_BITS: u32 = 16;

/// Where weights of relations lie: for a tag after another, and with what stands between them: the tag of the last word there, if any.
pub fn pairs(before: u8, tag: u8, between: Option<u8>) -> [u32; 2] {
    let index = (u32::from(before & 31) << 5 | u32::from(tag & 31)) << 6;
    [index | 63, index | between.map_or(62, |tag| u32::from(tag & 31))]
}

/// What the values of a bundle say about agreement; `values` are all there are.
pub fn agreement(parts: &[Vec<u8>], values: &[impl AsRef<str>]) -> Agreement {
    let mut found = Agreement::default();
    // Of several words the last has the say.
    for value in parts.iter().flatten() {
        let name = values.get(usize::from(*value)).and_then(|text| text.as_ref().split('=').next()).unwrap_or_default();
        if let Some(index) = AGREEING.iter().position(|attribute| *attribute == name) {
            found[index] = value + 1;
        }
    }
    found
}

/// The bundles of a tag.
#[derive(Debug, Default)]
struct Bundles {
    bundles: Vec<Bundle>,
    /// What each bundle adds to the values of the one before it, one after the other.
    values: Vec<u8>,
    texts: Vec<String>,
    /// Whether any of them may agree with anything.
    agrees: bool,
}

#[derive(Debug)]
struct Bundle {
    /// How many values it shares with the bundle before it.
    shared: u8,
    /// How many it has besides.
    more: u8,
    /// What speaks for it, whatever the word is.
    bias: i16,
    agreement: Agreement,
}

/// How many bundles of a word are compared with those of its neighbours.
pub const MAX_CANDIDATES: usize = 8;
/// Those that are worse than the best by more are not: no agreement would make up for it.
const MARGIN: i32 = 120;

/// A bundle of a word, how good the best chain is that ends with it, and which of the word before belongs to that.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    bundle: u16,
    score: i32,
    back: u8,
}

impl Bundles {
    /// Adds a bundle; they come in the order of their values.
    fn push(&mut self, list: &[u8], last: &[u8], text: String, bias: i16, agreement: Agreement) {
        let shared = last.iter().zip(list).take_while(|(one, other)| one == other).count();
        self.bundles.push(Bundle { shared: shared as u8, more: (list.len() - shared) as u8, bias, agreement });
        self.values.extend(&list[shared..]);
        self.texts.push(text);
        self.agrees |= agreement != Agreement::default();
    }

    /// The score of every bundle, given those of values.
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

/// What a word says about its features, wherever it stands with its tag.
#[derive(Debug, Clone, Copy)]
pub struct WordScores {
    /// The only bundle it may have.
    only: Option<u16>,
    /// What speaks for each value otherwise.
    values: [i16; MAX_VALUES],
}

impl Default for WordScores {
    fn default() -> WordScores {
        WordScores { only: None, values: [0; MAX_VALUES] }
    }
}

/// What a word that has only one bundle with its tag is found by.
pub fn unambiguous(word: &HashedWord, tag: u8) -> Hash {
    mix(mix(12, word.form), u64::from(tag))
}

/// The model of features.
#[derive(Debug, Default)]
pub struct FeatsModel {
    /// By tag.
    roles: Vec<TagRole>,
    /// By tag.
    bundles: Vec<Bundles>,
    known: FeatureIndex,
    rows: Vec<[i8; MAX_VALUES]>,
    pairs: FeatureIndex,
    relations: Vec<[i8; RELATIONS]>,
    unambiguous: FeatureIndex,
    unambiguous_bundles: Vec<u16>,
}

/// Bundles of a tag as they are written: the values of each word that a token stands for, and what speaks for them.
pub type WrittenBundles = Vec<(Vec<Vec<u8>>, i16)>;

/// All values of a bundle, whichever word has them.
pub fn union_of_values(parts: &[Vec<u8>]) -> Vec<u8> {
    let mut values = parts.concat();
    values.sort_unstable();
    values.dedup();
    values
}

impl FeatsModel {
    /// The parts of the model. `values` are texts such as `LemmaCase=Gen`; slots of `weights` (by value) and `relations` ascend, and
    /// so do those of `unambiguous`, pairs of index and number of the bundle.
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

    /// A model that gives no features to any tag.
    pub fn none(tags: &[String]) -> FeatsModel {
        let bundles = tags.iter().map(|_| Bundles::default()).collect();
        FeatsModel { bundles, roles: roles(tags), ..FeatsModel::default() }
    }

    /// Reads what [`FeatsModel::write`] wrote for these tags.
    pub fn read(tags: &[String], reader: &mut Reader<'_>) -> Result<FeatsModel, ModelError> {
        let count = reader.count()?;
        if count > MAX_VALUES {
            return Err(ModelError::Damaged("it knows too many values of features"));
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

    /// Calls `each` with the index and the features of every word of a sentence, given what [`FeatsModel::scores`] gives for
    /// each and the numbers of their tags.
    pub fn choose(
        &self,
        words: &[HashedWord],
        word_scores: &[WordScores],
        tags: &[u8],
        mut each: impl FnMut(usize, &str),
    ) {
        // The candidates of all words, one after the other, and where those of each begin.
        let mut candidates: Vec<Candidate> = Vec::with_capacity(2 * words.len());
        let mut starts: Vec<usize> = Vec::with_capacity(words.len() + 1);
        // The last word that agrees with others.
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
        // Back through the words that agree; all others are themselves the best.
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

    /// What a word, its lemma and its tag say about its features.
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

    /// The bundles that a word may have, by what is seen of it and around it.
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

    /// Adds to each candidate the best of the word before that it agrees with.
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

/// The roles of tags.
pub fn roles(tags: &[String]) -> Vec<TagRole> {
    tags.iter().map(|tag| TagRole::of(tag)).collect()
}

/// The best of some candidates; the first of equals.
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
    let odd = ModelError::Damaged("a bundle of features cannot be");
    let count = reader.count()?;
    if count > MAX_BUNDLES {
        return Err(odd);
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
            return Err(odd);
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
    fn features_are_written_in_order_and_others_left_out() {
        assert_eq!(canonical("Typo=Yes|Number=Plur|LemmaCase=Gen"), "LemmaCase=Gen|Number=Plur");
        assert_eq!(
            canonical("NumType=Card|Number[psor]=Sing|Number=Plur"),
            "Number=Plur|Number[psor]=Sing|NumType=Card"
        );
        assert_eq!((canonical("_"), canonical(""), canonical("+"), canonical("Abbr=Yes+")), Default::default());
        assert_eq!(canonical("+Number=Sing|Gender=Masc"), "+Gender=Masc|Number=Sing");
    }

    #[test]
    fn attributes_are_in_order_whatever_their_case() {
        assert!(ATTRIBUTES.is_sorted_by_key(|attribute| attribute.to_lowercase()));
    }

    #[test]
    fn a_bundle_is_as_good_as_the_sum_of_its_values() {
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
    fn words_agree_or_not_in_what_both_have() {
        let values = ["LemmaCase=Acc", "LemmaCase=Nom", "Gender=Fem", "VerbForm=Inf"];
        let [one, other, none] = [&[0, 2], &[1, 2], &[3, 3]].map(|bundle| agreement(&[bundle.to_vec()], &values));
        assert_eq!(relations(one, other).collect::<Vec<_>>(), [2 * 2 + 1, 4 * 2]);
        assert_eq!(relations(one, none).count(), 0);
        assert_ne!(pairs(1, 2, None)[1], pairs(1, 2, Some(3))[1]);
        assert_eq!(pairs(1, 2, None)[0], pairs(1, 2, Some(3))[0]);
    }
}
