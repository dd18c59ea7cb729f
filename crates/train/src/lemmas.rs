//! Training of the lemmatiser: candidate edit scripts, their ranking weights, and exceptions.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use tidings_annotate::tagger::bytes::Reader;
use tidings_annotate::tagger::compound_marks::{self, CompoundMarks, MARK};
use tidings_annotate::tagger::edit_script::{EditScript, LemmaCase, lowercase};
use tidings_annotate::tagger::lemma::{
    FORM_BITS, LemmaQuery, Lemmatiser, LemmatiserParts, ScriptIndex, SharedFeatures, exception_hash, form_hash,
    known_flags, known_hash, known_lemma,
};
use tidings_annotate::tagger::word::HashedWord;
use tidings_annotate::tagger::{FeatureIndex, Models, VERSION};

use crate::adagrad::AdaGrad;
use crate::cases;
use crate::linear::{self, Choice, FeatureNumbers, rounded};
use crate::tags;
use crate::treebank::Sentence;

/// Training settings for lemmas.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// Optimiser.
    pub adagrad: AdaGrad,
    /// Minimum number of words of a script to become a candidate for unseen words.
    pub min_count: u32,
    /// Words seen this often are stored in the dictionary of forms even if regular, because looking
    /// them up is faster than ranking.
    pub frequent_count: u32,
    /// Quantisation unit of weights; smaller ones are pruned.
    pub unit: f32,
    /// Size limit of the compressed lemmatiser; above it, words seen once with a unique script are
    /// not stored.
    pub max_bytes: usize,
    /// Size limit of the compressed lemmatiser without exceptions; weights are pruned until it
    /// fits.
    pub max_rule_bytes: usize,
    /// Number of feature slots as a power of two.
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

/// Lowercase word with a tag and its most frequent lemma.
struct WordType<'s> {
    lower: String,
    tag: u8,
    /// Frequency by spelling and whether it was sentence-initial.
    forms: BTreeMap<(&'s str, bool), u32>,
    lemma: &'s str,
    /// Lowercase lemma without compound marks.
    plain: String,
    /// Script from the word to `plain`.
    script: EditScript,
}

/// Trains a lemmatiser and serialises it; an empty one if the treebanks have no lemmas.
pub fn train(tags: &[String], own: &[&Sentence], settings: &Settings) -> Vec<u8> {
    let types = types(tags, own);
    let (scripts, candidate_count) = rank_scripts(&types, settings);
    let known = SeenLemmas::new(&types);
    let all_weights = train_scripts(&types, &scripts[..candidate_count], &known, settings);
    let all_case_weights = cases::train(tags, own, settings.bits);
    let known = known.slots(settings.bits);
    let compound_marks = compound_marks(&types, settings.bits);
    let mut parts = LemmatiserParts {
        scripts: &scripts,
        candidate_count,
        bits: settings.bits,
        known: &known,
        compound_marks: &compound_marks,
        ..LemmatiserParts::default()
    };
    let mut min_weight = settings.unit / 2.0;
    let (weights, case_weights) = loop {
        let weights = rounded(&all_weights, settings.unit, min_weight);
        let case_weights = rounded(&all_case_weights, settings.unit, min_weight);
        let written = written(&LemmatiserParts { weights: &weights, case_weights: &case_weights, ..parts });
        if min_weight > 1.0 || Models::pack(&written).len() <= settings.max_rule_bytes {
            break (weights, case_weights);
        }
        min_weight *= 1.25;
    };
    (parts.weights, parts.case_weights) = (&weights, &case_weights);
    // Words seen once with a script of their own are left out if the lemmatiser is too large.
    let mut out = Vec::new();
    for min_count in [1, 2] {
        let mut needed = NeededScripts::new(&scripts[..candidate_count]);
        let rules = read(&parts);
        let forms = select_forms(tags, &types, &mut needed, &rules, min_count, settings);
        let with_forms = read(&LemmatiserParts { scripts: &needed.scripts, forms: &forms, ..parts });
        let exceptions = select_exceptions(&types, &mut needed, &with_forms, min_count, settings);
        out = written(&LemmatiserParts { scripts: &needed.scripts, forms: &forms, exceptions: &exceptions, ..parts });
        if Models::pack(&out).len() <= settings.max_bytes {
            break;
        }
    }
    out
}

fn written(parts: &LemmatiserParts<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    Lemmatiser::write(parts, &mut out);
    out
}

fn read(parts: &LemmatiserParts<'_>) -> Lemmatiser {
    Lemmatiser::read(VERSION, &mut Reader::new(&written(parts))).expect("it was just serialised")
}

/// Scripts by number: the candidates, then those that only stored words need.
struct NeededScripts {
    scripts: Vec<EditScript>,
    numbers: HashMap<EditScript, u16>,
}

impl NeededScripts {
    fn new(candidates: &[EditScript]) -> NeededScripts {
        let numbers = candidates.iter().enumerate().map(|(index, script)| (script.clone(), index as u16)).collect();
        NeededScripts { scripts: candidates.to_vec(), numbers }
    }

    /// Number of a script, which is added if it is new; `None` if there are too many.
    fn number(&mut self, script: EditScript) -> Option<u16> {
        if let Some(number) = self.numbers.get(&script) {
            return Some(*number);
        }
        let number = u16::try_from(self.scripts.len()).ok().filter(|number| *number < u16::MAX)?;
        self.numbers.insert(script.clone(), number);
        self.scripts.push(script);
        Some(number)
    }
}

/// Sorts the scripts by their number of words, those that are candidates for unseen words first;
/// returns the number of candidates as well.
fn rank_scripts(types: &[WordType<'_>], settings: &Settings) -> (Vec<EditScript>, usize) {
    let mut word_counts: BTreeMap<&EditScript, u32> = BTreeMap::new();
    for one in types {
        // Scripts that replace most of a word are suppletion, not a rule.
        *word_counts.entry(&one.script).or_default() += u32::from(one.keeps_stem());
    }
    let mut ranked: Vec<(&EditScript, u32)> = word_counts.into_iter().collect();
    ranked.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    ranked.truncate(usize::from(u16::MAX));
    // Scripts that remove a short suffix apply to many words and need more evidence.
    let least = |script: &EditScript| settings.min_count + [3, 1].get(script.end.0.chars().count()).unwrap_or(&0);
    let (candidates, others): (Vec<_>, Vec<_>) =
        ranked.into_iter().partition(|(script, count)| *count >= least(script));
    let ranked: Vec<(&EditScript, u32)> = candidates.iter().chain(&others).copied().collect();
    (ranked.iter().map(|(script, _)| (*script).clone()).collect(), candidates.len())
}

/// Tags that a tagger confuses; a form must have its lemma with each of them.
const CONFUSED: [&str; 6] = ["NOUN", "VERB", "ADJ", "ADV", "AUX", "PROPN"];

/// Selects the dictionary of forms: those whose lemma the rules miss with a tag that they had or that
/// a tagger may give them by mistake, and frequent ones. A form with several lemmas gets the most
/// frequent. A word whose script is unique must occur `min_count` times.
fn select_forms(
    tags: &[String],
    types: &[WordType<'_>],
    needed: &mut NeededScripts,
    rules: &Lemmatiser,
    min_count: u32,
    settings: &Settings,
) -> Vec<(u32, u16)> {
    let confused: Vec<u8> =
        (0..tags.len() as u8).filter(|tag| CONFUSED.contains(&tags[usize::from(*tag)].as_str())).collect();
    let mut expected: Vec<(&str, u32, EditScript)> = Vec::new();
    let mut word_counts: HashMap<EditScript, u32> = HashMap::new();
    // Types are sorted by form.
    for same in types.chunk_by(|one, other| one.lower == other.lower) {
        let lower = same[0].lower.as_str();
        let mut lemmas: BTreeMap<String, u32> = BTreeMap::new();
        // Contractions depend on their tag: *its* is no form of *it* and *be*.
        for one in same.iter().filter(|one| !tags[usize::from(one.tag)].contains('+')) {
            *lemmas.entry(lowercase(one.lemma)).or_default() += one.seen();
        }
        let Some(most) = lemmas.values().max().copied() else { continue };
        let lemma =
            lemmas.iter().find(|(_, count)| **count == most).map(|(lemma, _)| lemma.as_str()).unwrap_or_default();
        let word = HashedWord::new(lower);
        let is_wrong = |tag: u8| lowercase(&rules.lemma(lower, &word, tag, false)) != lemma;
        if most >= settings.frequent_count
            || same.iter().any(|one| is_wrong(one.tag))
            || confused.iter().any(|tag| is_wrong(*tag))
        {
            let script = EditScript::between(lower, lemma);
            *word_counts.entry(script.clone()).or_default() += 1;
            expected.push((lower, most, script));
        }
    }
    let mut forms: BTreeMap<u32, u16> = BTreeMap::new();
    for (lower, seen, script) in expected {
        if seen >= min_count || word_counts[&script] > 1 || needed.numbers.contains_key(&script) {
            let slot = FeatureIndex::slot(form_hash(&HashedWord::new(lower)), FORM_BITS);
            if let Some(number) = needed.number(script) {
                forms.insert(slot, number);
            }
        }
    }
    forms.into_iter().collect()
}

/// Selects exceptions: words with a tag that forms and rules get wrong. A word whose script is unique
/// must occur `min_count` times.
fn select_exceptions(
    types: &[WordType<'_>],
    needed: &mut NeededScripts,
    with_forms: &Lemmatiser,
    min_count: u32,
    settings: &Settings,
) -> Vec<(u32, u16, LemmaCase)> {
    let mut word_counts: HashMap<EditScript, u32> = HashMap::new();
    let mut expected: Vec<(&WordType<'_>, EditScript)> = Vec::new();
    for one in types {
        let is_wrong = |(form, is_first): &(&str, bool)| {
            with_forms.lemma(form, &HashedWord::new(form), one.tag, *is_first) != one.lemma
        };
        if one.forms.keys().any(is_wrong) {
            let script = EditScript::between(&one.lower, &lowercase(one.lemma));
            *word_counts.entry(script.clone()).or_default() += 1;
            expected.push((one, script));
        }
    }
    let mut exceptions: BTreeMap<u32, (u16, LemmaCase)> = BTreeMap::new();
    for (one, script) in expected {
        if one.seen() >= min_count || word_counts[&script] > 1 || needed.numbers.contains_key(&script) {
            let slot = FeatureIndex::slot(exception_hash(&HashedWord::new(&one.lower), one.tag), settings.bits);
            if let Some(number) = needed.number(script) {
                exceptions.insert(slot, (number, one.case()));
            }
        }
    }
    exceptions.into_iter().map(|(slot, (script, case))| (slot, script, case)).collect()
}

impl WordType<'_> {
    /// Frequency in the training data.
    fn seen(&self) -> u32 {
        self.forms.values().sum()
    }

    fn keeps_stem(&self) -> bool {
        let length = self.lower.chars().count();
        let taken = self.script.start.0.chars().count() + self.script.end.0.chars().count();
        (length - taken) * 2 >= length.min(6)
    }

    /// The case that is correct for most spellings.
    fn case(&self) -> LemmaCase {
        let word_counts = |case: &LemmaCase| {
            let word_counts = |((form, _), count): (&(&str, bool), &u32)| {
                if cases::right(form, self.lemma)[*case as usize] { *count } else { 0 }
            };
            self.forms.iter().map(word_counts).sum::<u32>()
        };
        let best = LemmaCase::ALL.iter().map(word_counts).max().unwrap_or_default();
        LemmaCase::ALL.into_iter().find(|case| word_counts(case) == best).unwrap_or(LemmaCase::Keep)
    }
}

fn types<'s>(tags: &[String], sentences: &[&'s Sentence]) -> Vec<WordType<'s>> {
    type CachedWord<'s> = (BTreeMap<(&'s str, bool), u32>, BTreeMap<&'s str, u32>);
    let mut seen: BTreeMap<(String, u8), CachedWord<'s>> = BTreeMap::new();
    for sentence in sentences {
        for (index, gold) in sentence.iter().enumerate() {
            if let Some(lemma) = &gold.lemma {
                let key = (lowercase(&gold.form), tags::number(tags, &gold.tag));
                let (forms, lemmas) = seen.entry(key).or_default();
                *forms.entry((&gold.form, index == 0)).or_default() += 1;
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

/// Minimum frequency of a first part that may precede an unknown part.
const FREQUENT_FIRST_PART: u32 = 3;

/// Serialises the compound parts.
fn compound_marks(types: &[WordType<'_>], bits: u32) -> Vec<u8> {
    let mut firsts: BTreeMap<String, u32> = BTreeMap::new();
    let mut slots: BTreeSet<u32> = BTreeSet::new();
    let mut hyphens = (0, 0);
    let is_compound = |one: &&WordType<'_>| one.lemma.contains(MARK) && !one.lower.contains(MARK);
    for one in types.iter().filter(is_compound) {
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
        // Any word can be the last part.
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
        if *count >= FREQUENT_FIRST_PART {
            slots.insert(FeatureIndex::slot(frequent, bits));
        }
    }
    let slots: Vec<u32> = slots.into_iter().collect();
    let mut out = Vec::new();
    CompoundMarks::write(hyphens.0 > hyphens.1, bits, &slots, &mut out);
    out
}

/// Lemmas of the training data with their words.
struct SeenLemmas {
    /// Words of each lemma, by hash.
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

    /// Returns true if a lemma occurs with a word other than this one.
    fn elsewhere(&self, lemma: u64, word: u64) -> bool {
        self.lemmas.get(&lemma).is_some_and(|words| words.iter().any(|one| *one != word))
    }

    /// Lookups of a lemma as if this word did not occur in the training data (leave-one-out).
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
    linear::train(&choices, &numbers, settings.adagrad)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::treebank::GoldToken;

    #[test]
    fn a_form_has_its_lemma_with_a_tag_that_it_never_had() {
        let gold = |form: &str, lemma: &str, tag: &str| GoldToken {
            form: form.into(),
            lemma: Some(lemma.into()),
            tag: tag.into(),
            feats: None,
        };
        let mut sentences: Vec<Sentence> =
            vec![vec![gold("sind", "sein", "AUX"), gold("Geschichte", "Geschichte", "NOUN")]];
        for stem in ["mach", "lach", "such", "koch", "fisch", "tausch"] {
            sentences.push(vec![gold(&format!("{stem}te"), &format!("{stem}en"), "VERB")]);
            sentences.push(vec![gold(&format!("{stem}erin"), &format!("{stem}er"), "NOUN")]);
        }
        // Another lemma with another tag.
        sentences.extend([
            vec![gold("weise", "weisen", "VERB")],
            vec![gold("weise", "weise", "ADJ")],
            vec![gold("weise", "weise", "ADJ")],
        ]);
        let own: Vec<&Sentence> = sentences.iter().collect();
        let tags = ["ADJ", "AUX", "NOUN", "VERB"].map(str::to_owned);
        let written = train(&tags, &own, &Settings::default());
        let lemmatiser = Lemmatiser::read(VERSION, &mut Reader::new(&written)).unwrap();
        let lemma = |form: &str, tag: u8| lemmatiser.lemma(form, &HashedWord::new(form), tag, false);
        for tag in 0..4 {
            assert_eq!(lemma("sind", tag), "sein");
            assert_eq!(lowercase(&lemma("Geschichte", tag)), "geschichte");
        }
        assert_eq!((lemma("weise", 0), lemma("weise", 3)), ("weise".to_owned(), "weisen".to_owned()));
        assert_eq!(lemma("rauchte", 3), "rauchen", "unknown words follow the rules");
    }
}
