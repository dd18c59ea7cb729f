//! Learns to choose lemmas: which scripts compete, what they weigh, and what must be exceptions.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use tidings_annotate::tagger::bytes::Reader;
use tidings_annotate::tagger::compound_marks::{self, CompoundMarks, MARK};
use tidings_annotate::tagger::edit_script::{EditScript, LemmaCase, lowercase};
use tidings_annotate::tagger::lemma::{
    LemmaQuery, Lemmatiser, ScriptIndex, SharedFeatures, exception_hash, known_flags, known_hash, known_lemma,
};
use tidings_annotate::tagger::word::HashedWord;
use tidings_annotate::tagger::{FeatureIndex, Models};

use crate::adagrad::AdaGrad;
use crate::cases;
use crate::linear::{self, Choice, FeatureNumbers, rounded};
use crate::tags;
use crate::treebank::Sentence;

/// How to learn.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// The optimiser.
    pub adagrad: AdaGrad,
    /// How many words a script must serve to compete.
    pub min_count: u32,
    /// Words seen this often are exceptions in any case.
    pub frequent_count: u32,
    /// The unit of weights: what is below half of it is left out.
    pub unit: f32,
    /// If all is larger than this when it is packed, words seen once are not exceptions with a script of their own.
    pub max_bytes: usize,
    /// If all but what is exceptions is larger than this when it is packed, the weakest weights are left out.
    pub max_rule_bytes: usize,
    /// Two to the power of this is the number of slots for features.
    pub bits: u32,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            adagrad: AdaGrad { epochs: 12, step: 0.2, initial_squares: 0.1, l1: 0.0005 },
            min_count: 2,
            frequent_count: 3,
            unit: 0.08,
            max_bytes: 180_000,
            max_rule_bytes: 150_000,
            bits: 21,
        }
    }
}

/// A word with a tag, and the lemma it has most often.
struct WordType<'s> {
    lower: String,
    tag: u8,
    /// One of its spellings, whether it stood first, and its lemma there.
    forms: BTreeMap<(&'s str, bool), u32>,
    lemma: &'s str,
    /// The lemma in small letters, without marks of where it was put together.
    plain: String,
    /// What makes the plain lemma.
    script: EditScript,
}

/// The lemmatiser as a part of a model; an empty one if there are no lemmas to learn from. Sentences of related languages
/// teach how lemmas look, but are not exceptions.
pub fn learn(tags: &[String], own: &[&Sentence], settings: &Settings) -> Vec<u8> {
    let types = types(tags, own);
    let mut served: BTreeMap<&EditScript, u32> = BTreeMap::new();
    for one in &types {
        // Where little of a word is left, its lemma is no matter of rules.
        *served.entry(&one.script).or_default() += u32::from(one.keeps_a_stem());
    }
    let mut ranked: Vec<(&EditScript, u32)> = served.into_iter().collect();
    ranked.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    ranked.truncate(usize::from(u16::MAX));
    // What takes little from a word fits many, and must serve more.
    let least = |script: &EditScript| settings.min_count + [3, 1].get(script.end.0.chars().count()).unwrap_or(&0);
    let (competing, others): (Vec<_>, Vec<_>) = ranked.into_iter().partition(|(script, count)| *count >= least(script));
    let ranked: Vec<(&EditScript, u32)> = competing.iter().chain(&others).copied().collect();
    let competing = competing.len();
    let scripts: Vec<EditScript> = ranked.iter().map(|(script, _)| (*script).clone()).collect();

    let known = SeenLemmas::new(&types);
    let all_weights = train_scripts(&types, &scripts[..competing], &known, settings);
    let all_case_weights = cases::learn(tags, own, settings.bits);
    let known = known.slots(settings.bits);
    let compound_marks = compound_marks(&types, settings.bits);
    let mut min_weight = settings.unit / 2.0;
    let (weights, case_weights) = loop {
        let weights = rounded(&all_weights, settings.unit, min_weight);
        let case_weights = rounded(&all_case_weights, settings.unit, min_weight);
        let mut out = Vec::new();
        let bits = settings.bits;
        Lemmatiser::write(&scripts, competing, bits, &weights, &case_weights, &[], &known, &compound_marks, &mut out);
        if min_weight > 1.0 || Models::pack(&out).len() <= settings.max_rule_bytes {
            break (weights, case_weights);
        }
        min_weight *= 1.25;
    };
    let write = |scripts: &[EditScript], memory: &[(u32, u16, LemmaCase)]| {
        let mut out = Vec::new();
        Lemmatiser::write(
            scripts,
            competing,
            settings.bits,
            &weights,
            &case_weights,
            memory,
            &known,
            &compound_marks,
            &mut out,
        );
        out
    };
    let rules = Lemmatiser::read(&mut Reader::new(&write(&scripts, &[]))).expect("it was just written");
    let all = {
        let (scripts, memory) = remember(&types, &scripts, competing, &rules, 1, settings);
        write(&scripts, &memory)
    };
    if Models::pack(&all).len() <= settings.max_bytes {
        return all;
    }
    let (scripts, memory) = remember(&types, &scripts, competing, &rules, 2, settings);
    write(&scripts, &memory)
}

/// Remembers what the rules get wrong, and what is frequent: the scripts that are needed, those that compete first, and which word
/// has which. A word whose script no other word has must have been seen `least` times.
fn remember(
    types: &[WordType<'_>],
    scripts: &[EditScript],
    competing: usize,
    rules: &Lemmatiser,
    min_count: u32,
    settings: &Settings,
) -> (Vec<EditScript>, Vec<(u32, u16, LemmaCase)>) {
    let mut served: BTreeMap<EditScript, u32> = BTreeMap::new();
    let mut wanted: Vec<(&WordType<'_>, EditScript)> = Vec::new();
    for one in types {
        let is_wrong = |(form, is_first): &(&str, bool)| {
            rules.lemma(form, &HashedWord::new(form), one.tag, *is_first) != one.lemma
        };
        // What is frequent is quicker to remember than to choose.
        if one.seen() >= settings.frequent_count || one.forms.keys().any(is_wrong) {
            let script = EditScript::between(&one.lower, &lowercase(one.lemma));
            *served.entry(script.clone()).or_default() += 1;
            wanted.push((one, script));
        }
    }
    let mut needed: Vec<EditScript> = scripts[..competing].to_vec();
    let mut numbers: HashMap<EditScript, u16> =
        needed.iter().enumerate().map(|(place, script)| (script.clone(), place as u16)).collect();
    let mut memory: BTreeMap<u32, (u16, LemmaCase)> = BTreeMap::new();
    for (one, script) in wanted {
        let is_worth_it = one.seen() >= min_count || served[&script] > 1 || numbers.contains_key(&script);
        if !is_worth_it || needed.len() == usize::from(u16::MAX) {
            continue;
        }
        let number = *numbers.entry(script.clone()).or_insert_with(|| {
            needed.push(script);
            needed.len() as u16 - 1
        });
        let place = FeatureIndex::slot(exception_hash(&HashedWord::new(&one.lower), one.tag), settings.bits);
        memory.insert(place, (number, one.case()));
    }
    (needed, memory.into_iter().map(|(place, (script, case))| (place, script, case)).collect())
}

impl WordType<'_> {
    /// How often it was seen.
    fn seen(&self) -> u32 {
        self.forms.values().sum()
    }

    fn keeps_a_stem(&self) -> bool {
        let length = self.lower.chars().count();
        let taken = self.script.start.0.chars().count() + self.script.end.0.chars().count();
        (length - taken) * 2 >= length.min(6)
    }

    /// The case that gives the lemma to most of its spellings.
    fn case(&self) -> LemmaCase {
        let served = |case: &LemmaCase| {
            let served = |((form, _), count): (&(&str, bool), &u32)| {
                if cases::right(form, self.lemma)[*case as usize] { *count } else { 0 }
            };
            self.forms.iter().map(served).sum::<u32>()
        };
        let best = LemmaCase::ALL.iter().map(served).max().unwrap_or_default();
        LemmaCase::ALL.into_iter().find(|case| served(case) == best).unwrap_or(LemmaCase::Keep)
    }
}

fn types<'s>(tags: &[String], sentences: &[&'s Sentence]) -> Vec<WordType<'s>> {
    type CachedWord<'s> = (BTreeMap<(&'s str, bool), u32>, BTreeMap<&'s str, u32>);
    let mut seen: BTreeMap<(String, u8), CachedWord<'s>> = BTreeMap::new();
    for sentence in sentences {
        for (place, gold) in sentence.iter().enumerate() {
            if let Some(lemma) = &gold.lemma {
                let key = (lowercase(&gold.form), tags::number(tags, &gold.tag));
                let (forms, lemmas) = seen.entry(key).or_default();
                *forms.entry((&gold.form, place == 0)).or_default() += 1;
                *lemmas.entry(lemma).or_default() += 1;
            }
        }
    }
    let one = |((small, tag), (forms, lemmas)): ((String, u8), CachedWord<'s>)| {
        let most = lemmas.values().copied().max().unwrap_or_default();
        let lemma = lemmas.iter().find(|(_, count)| **count == most).map_or("", |(lemma, _)| *lemma);
        let plain = lowercase(lemma);
        let plain =
            if small.contains(MARK) { plain } else { plain.replace(MARK, if small.contains('-') { "-" } else { "" }) };
        let script = EditScript::between(&small, &plain);
        WordType { lower: small, tag, forms, lemma, plain, script }
    };
    seen.into_iter().map(one).collect()
}

/// How often a first part must have been seen to be believed before an unknown one.
const FREQUENT: u32 = 3;

/// What is known about compound_marks, as a part of a model.
fn compound_marks(types: &[WordType<'_>], bits: u32) -> Vec<u8> {
    let mut firsts: BTreeMap<String, u32> = BTreeMap::new();
    let mut slots: BTreeSet<u32> = BTreeSet::new();
    let mut hyphens = (0, 0);
    let put_together = |one: &&WordType<'_>| one.lemma.contains(MARK) && !one.lower.contains(MARK);
    for one in types.iter().filter(put_together) {
        let lemma = lowercase(one.lemma);
        for (at, _) in lemma.match_indices(MARK) {
            let first = lemma[..at].rsplit(MARK).next().unwrap_or_default();
            *firsts.entry(first.to_owned()).or_default() += 1;
            slots.insert(FeatureIndex::slot(compound_marks::part(&lemma[at + 1..].replace(MARK, ""))[2], bits));
            slots.insert(FeatureIndex::slot(
                compound_marks::part(lemma[at + 1..].split(MARK).next().unwrap_or_default())[2],
                bits,
            ));
        }
    }
    if slots.is_empty() {
        let mut out = Vec::new();
        CompoundMarks::write(false, 6, &[], &mut out);
        return out;
    }
    for one in types {
        // Whatever is a word of its own may be the last part.
        if !one.lemma.contains(MARK) && one.plain.chars().count() > 3 {
            slots.insert(FeatureIndex::slot(compound_marks::part(&one.plain)[2], bits));
        }
        if one.lower.contains('-') && one.lower.chars().any(char::is_alphabetic) {
            let side = if one.lemma.contains(MARK) { &mut hyphens.0 } else { &mut hyphens.1 };
            *side += 1;
        }
    }
    for (first, count) in &firsts {
        let [known, frequent, _] = compound_marks::part(first);
        slots.insert(FeatureIndex::slot(known, bits));
        if *count >= FREQUENT {
            slots.insert(FeatureIndex::slot(frequent, bits));
        }
    }
    let slots: Vec<u32> = slots.into_iter().collect();
    let mut out = Vec::new();
    CompoundMarks::write(hyphens.0 > hyphens.1, bits, &slots, &mut out);
    out
}

/// Lemmas and words that have been seen, and with which words.
struct SeenLemmas {
    /// The words of each lemma, by its hash; more than one is all that matters.
    lemmas: HashMap<u64, HashSet<u64>>,
    words: HashSet<u64>,
}

impl SeenLemmas {
    fn new(types: &[WordType<'_>]) -> SeenLemmas {
        let mut known = SeenLemmas { lemmas: HashMap::new(), words: HashSet::new() };
        for one in types {
            let word = HashedWord::new(&one.lower).form;
            let [alone, with_tag, _] = known_lemma(&one.plain, one.tag);
            known.lemmas.entry(alone).or_default().insert(word);
            known.lemmas.entry(with_tag).or_default().insert(word);
            known.words.insert(known_lemma(&one.lower, one.tag)[2]);
        }
        known
    }

    /// Whether a lemma was seen with another word than this.
    fn elsewhere(&self, lemma: u64, word: u64) -> bool {
        self.lemmas.get(&lemma).is_some_and(|words| words.iter().any(|one| *one != word))
    }

    /// What would be known about a lemma if this word had never been seen.
    fn without(&self, word: u64, small: &str, lemma: &str, tag: u8) -> [bool; 3] {
        let [alone, with_tag, as_word] = known_lemma(lemma, tag);
        let elsewhere = |hash: u64| self.elsewhere(hash, word);
        [elsewhere(alone), elsewhere(with_tag), lemma != small && self.words.contains(&as_word)]
    }

    fn slots(&self, bits: u32) -> Vec<u32> {
        let hashes = self.lemmas.keys().chain(&self.words);
        let slots: BTreeSet<u32> = hashes.map(|hash| FeatureIndex::slot(*hash, bits)).collect();
        slots.into_iter().collect()
    }
}

fn train_scripts(
    types: &[WordType<'_>],
    scripts: &[EditScript],
    known: &SeenLemmas,
    settings: &Settings,
) -> Vec<(u32, f32)> {
    let script_index = ScriptIndex::new(scripts);
    let mut numbers = FeatureNumbers::new(settings.bits);
    let mut choices = Vec::new();
    for one in types {
        let word = HashedWord::new(one.forms.keys().next().map_or("", |(form, _)| form));
        let query = LemmaQuery { lower: &one.lower, word, tag: one.tag };
        let mut choice = Choice { weight: 1.0, ..Choice::default() };
        let shared = SharedFeatures::new(&query);
        let is_known = |lemma: u64| known.elsewhere(known_hash(lemma, one.tag)[1], word.form);
        for candidate in script_index.candidates(scripts, &one.lower, is_known) {
            let about = known.without(word.form, &one.lower, &candidate.lemma, one.tag);
            choice.candidates.push(numbers.of(&shared.features(&candidate, known_flags(about))));
            choice.right.push(candidate.lemma == one.plain);
        }
        if choice.right.contains(&true) && choice.right.contains(&false) {
            choices.push(choice);
        }
    }
    linear::learn(&choices, &numbers, settings.adagrad)
}
