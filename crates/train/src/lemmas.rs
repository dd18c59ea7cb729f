//! Learns to choose lemmas: which scripts compete, what they weigh, and what must be remembered.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use tidings_annotate::tagger::bytes::Reader;
use tidings_annotate::tagger::joints::{self, Joints, MARK};
use tidings_annotate::tagger::lemma::{
    Asked, Lemmatiser, Question, Ranks, knowledge, known_hash, known_lemma, remembered,
};
use tidings_annotate::tagger::script::{Case, Script, lower};
use tidings_annotate::tagger::words::Word;
use tidings_annotate::tagger::{Models, Sparse};

use crate::adagrad::AdaGrad;
use crate::cases;
use crate::linear::{self, Choice, Numbers, rounded};
use crate::tags;
use crate::treebank::Sentence;

/// How to learn.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// The optimiser.
    pub adagrad: AdaGrad,
    /// How many words a script must serve to compete.
    pub least: u32,
    /// Words seen this often are remembered in any case.
    pub frequent: u32,
    /// The unit of weights: what is below half of it is left out.
    pub unit: f32,
    /// If all is larger than this when it is packed, words seen once are not remembered with a script of their own.
    pub most_bytes: usize,
    /// If all but what is remembered is larger than this when it is packed, the weakest weights are left out.
    pub most_rules: usize,
    /// Two to the power of this is the number of places for features.
    pub bits: u32,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            adagrad: AdaGrad { epochs: 12, step: 0.2, initial_squares: 0.1, l1: 0.0005 },
            least: 2,
            frequent: 3,
            unit: 0.08,
            most_bytes: 180_000,
            most_rules: 150_000,
            bits: 21,
        }
    }
}

/// A word with a tag, and the lemma it has most often.
struct Type<'s> {
    lower: String,
    tag: u8,
    /// One of its spellings, whether it stood first, and its lemma there.
    forms: BTreeMap<(&'s str, bool), u32>,
    lemma: &'s str,
    /// The lemma in small letters, without marks of where it was put together.
    plain: String,
    /// What makes the plain lemma.
    script: Script,
}

/// The lemmatiser as a part of a model; an empty one if there are no lemmas to learn from. Sentences of related languages
/// teach how lemmas look, but are not remembered.
pub fn learn(tags: &[String], own: &[&Sentence], settings: &Settings) -> Vec<u8> {
    let types = types(tags, own);
    let mut served: BTreeMap<&Script, u32> = BTreeMap::new();
    for one in &types {
        // Where little of a word is left, its lemma is no matter of rules.
        *served.entry(&one.script).or_default() += u32::from(one.keeps_a_stem());
    }
    let mut ranked: Vec<(&Script, u32)> = served.into_iter().collect();
    ranked.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    ranked.truncate(usize::from(u16::MAX));
    // What takes little from a word fits many, and must serve more.
    let least = |script: &Script| settings.least + [3, 1].get(script.end.0.chars().count()).unwrap_or(&0);
    let (competing, others): (Vec<_>, Vec<_>) = ranked.into_iter().partition(|(script, count)| *count >= least(script));
    let ranked: Vec<(&Script, u32)> = competing.iter().chain(&others).copied().collect();
    let competing = competing.len();
    let scripts: Vec<Script> = ranked.iter().map(|(script, _)| (*script).clone()).collect();

    let known = Known::new(&types);
    let all_weights = weigh(&types, &scripts[..competing], &known, settings);
    let all_case_weights = cases::learn(tags, own, settings.bits);
    let known = known.places(settings.bits);
    let joints = joints(&types, settings.bits);
    let mut keep = settings.unit / 2.0;
    let (weights, case_weights) = loop {
        let weights = rounded(&all_weights, settings.unit, keep);
        let case_weights = rounded(&all_case_weights, settings.unit, keep);
        let mut out = Vec::new();
        let bits = settings.bits;
        Lemmatiser::write(&scripts, competing, bits, &weights, &case_weights, &[], &known, &joints, &mut out);
        if keep > 1.0 || Models::pack(&out).len() <= settings.most_rules {
            break (weights, case_weights);
        }
        keep *= 1.25;
    };
    let write = |scripts: &[Script], memory: &[(u32, u16, Case)]| {
        let mut out = Vec::new();
        Lemmatiser::write(
            scripts,
            competing,
            settings.bits,
            &weights,
            &case_weights,
            memory,
            &known,
            &joints,
            &mut out,
        );
        out
    };
    let rules = Lemmatiser::read(&mut Reader::new(&write(&scripts, &[]))).expect("it was just written");
    let all = {
        let (scripts, memory) = remember(&types, &scripts, competing, &rules, 1, settings);
        write(&scripts, &memory)
    };
    if Models::pack(&all).len() <= settings.most_bytes {
        return all;
    }
    let (scripts, memory) = remember(&types, &scripts, competing, &rules, 2, settings);
    write(&scripts, &memory)
}

/// Remembers what the rules get wrong, and what is frequent: the scripts that are needed, those that compete first, and which word
/// has which. A word whose script no other word has must have been seen `least` times.
fn remember(
    types: &[Type<'_>],
    scripts: &[Script],
    competing: usize,
    rules: &Lemmatiser,
    least: u32,
    settings: &Settings,
) -> (Vec<Script>, Vec<(u32, u16, Case)>) {
    let mut served: BTreeMap<Script, u32> = BTreeMap::new();
    let mut wanted: Vec<(&Type<'_>, Script)> = Vec::new();
    for one in types {
        let is_wrong =
            |(form, is_first): &(&str, bool)| rules.lemma(form, &Word::new(form), one.tag, *is_first) != one.lemma;
        // What is frequent is quicker to remember than to choose.
        if one.seen() >= settings.frequent || one.forms.keys().any(is_wrong) {
            let script = Script::between(&one.lower, &lower(one.lemma));
            *served.entry(script.clone()).or_default() += 1;
            wanted.push((one, script));
        }
    }
    let mut needed: Vec<Script> = scripts[..competing].to_vec();
    let mut numbers: HashMap<Script, u16> =
        needed.iter().enumerate().map(|(place, script)| (script.clone(), place as u16)).collect();
    let mut memory: BTreeMap<u32, (u16, Case)> = BTreeMap::new();
    for (one, script) in wanted {
        let is_worth_it = one.seen() >= least || served[&script] > 1 || numbers.contains_key(&script);
        if !is_worth_it || needed.len() == usize::from(u16::MAX) {
            continue;
        }
        let number = *numbers.entry(script.clone()).or_insert_with(|| {
            needed.push(script);
            needed.len() as u16 - 1
        });
        let place = Sparse::place(remembered(&Word::new(&one.lower), one.tag), settings.bits);
        memory.insert(place, (number, one.case()));
    }
    (needed, memory.into_iter().map(|(place, (script, case))| (place, script, case)).collect())
}

impl Type<'_> {
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
    fn case(&self) -> Case {
        let served = |case: &Case| {
            let served = |((form, _), count): (&(&str, bool), &u32)| {
                if cases::right(form, self.lemma)[*case as usize] { *count } else { 0 }
            };
            self.forms.iter().map(served).sum::<u32>()
        };
        let best = Case::ALL.iter().map(served).max().unwrap_or_default();
        Case::ALL.into_iter().find(|case| served(case) == best).unwrap_or(Case::Keep)
    }
}

fn types<'s>(tags: &[String], sentences: &[&'s Sentence]) -> Vec<Type<'s>> {
    type Seen<'s> = (BTreeMap<(&'s str, bool), u32>, BTreeMap<&'s str, u32>);
    let mut seen: BTreeMap<(String, u8), Seen<'s>> = BTreeMap::new();
    for sentence in sentences {
        for (place, gold) in sentence.iter().enumerate() {
            if let Some(lemma) = &gold.lemma {
                let key = (lower(&gold.form), tags::number(tags, &gold.tag));
                let (forms, lemmas) = seen.entry(key).or_default();
                *forms.entry((&gold.form, place == 0)).or_default() += 1;
                *lemmas.entry(lemma).or_default() += 1;
            }
        }
    }
    let one = |((small, tag), (forms, lemmas)): ((String, u8), Seen<'s>)| {
        let most = lemmas.values().copied().max().unwrap_or_default();
        let lemma = lemmas.iter().find(|(_, count)| **count == most).map_or("", |(lemma, _)| *lemma);
        let plain = lower(lemma);
        let plain =
            if small.contains(MARK) { plain } else { plain.replace(MARK, if small.contains('-') { "-" } else { "" }) };
        let script = Script::between(&small, &plain);
        Type { lower: small, tag, forms, lemma, plain, script }
    };
    seen.into_iter().map(one).collect()
}

/// How often a first part must have been seen to be believed before an unknown one.
const FREQUENT: u32 = 3;

/// What is known about joints, as a part of a model.
fn joints(types: &[Type<'_>], bits: u32) -> Vec<u8> {
    let mut firsts: BTreeMap<String, u32> = BTreeMap::new();
    let mut places: BTreeSet<u32> = BTreeSet::new();
    let mut hyphens = (0, 0);
    let put_together = |one: &&Type<'_>| one.lemma.contains(MARK) && !one.lower.contains(MARK);
    for one in types.iter().filter(put_together) {
        let lemma = lower(one.lemma);
        for (at, _) in lemma.match_indices(MARK) {
            let first = lemma[..at].rsplit(MARK).next().unwrap_or_default();
            *firsts.entry(first.to_owned()).or_default() += 1;
            places.insert(Sparse::place(joints::part(&lemma[at + 1..].replace(MARK, ""))[2], bits));
            places.insert(Sparse::place(joints::part(lemma[at + 1..].split(MARK).next().unwrap_or_default())[2], bits));
        }
    }
    if places.is_empty() {
        let mut out = Vec::new();
        Joints::write(false, 6, &[], &mut out);
        return out;
    }
    for one in types {
        // Whatever is a word of its own may be the last part.
        if !one.lemma.contains(MARK) && one.plain.chars().count() > 3 {
            places.insert(Sparse::place(joints::part(&one.plain)[2], bits));
        }
        if one.lower.contains('-') && one.lower.chars().any(char::is_alphabetic) {
            let side = if one.lemma.contains(MARK) { &mut hyphens.0 } else { &mut hyphens.1 };
            *side += 1;
        }
    }
    for (first, count) in &firsts {
        let [known, frequent, _] = joints::part(first);
        places.insert(Sparse::place(known, bits));
        if *count >= FREQUENT {
            places.insert(Sparse::place(frequent, bits));
        }
    }
    let places: Vec<u32> = places.into_iter().collect();
    let mut out = Vec::new();
    Joints::write(hyphens.0 > hyphens.1, bits, &places, &mut out);
    out
}

/// Lemmas and words that have been seen, and with which words.
struct Known {
    /// The words of each lemma, by its hash; more than one is all that matters.
    lemmas: HashMap<u64, HashSet<u64>>,
    words: HashSet<u64>,
}

impl Known {
    fn new(types: &[Type<'_>]) -> Known {
        let mut known = Known { lemmas: HashMap::new(), words: HashSet::new() };
        for one in types {
            let word = Word::new(&one.lower).whole;
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

    fn places(&self, bits: u32) -> Vec<u32> {
        let hashes = self.lemmas.keys().chain(&self.words);
        let places: BTreeSet<u32> = hashes.map(|hash| Sparse::place(*hash, bits)).collect();
        places.into_iter().collect()
    }
}

fn weigh(types: &[Type<'_>], scripts: &[Script], known: &Known, settings: &Settings) -> Vec<(u32, f32)> {
    let ranks = Ranks::new(scripts);
    let mut numbers = Numbers::new(settings.bits);
    let mut choices = Vec::new();
    for one in types {
        let word = Word::new(one.forms.keys().next().map_or("", |(form, _)| form));
        let asked = Asked { lower: &one.lower, word, tag: one.tag };
        let mut choice = Choice { weight: 1.0, ..Choice::default() };
        let question = Question::new(&asked);
        let is_known = |lemma: u64| known.elsewhere(known_hash(lemma, one.tag)[1], word.whole);
        for candidate in ranks.candidates(scripts, &one.lower, is_known) {
            let about = known.without(word.whole, &one.lower, &candidate.lemma, one.tag);
            choice.candidates.push(numbers.of(&question.features(&candidate, knowledge(about))));
            choice.right.push(candidate.lemma == one.plain);
        }
        if choice.right.contains(&true) && choice.right.contains(&false) {
            choices.push(choice);
        }
    }
    linear::learn(&choices, &numbers, settings.adagrad)
}
