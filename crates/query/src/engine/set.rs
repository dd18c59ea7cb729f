//! Sets of lexemes that fulfil a condition on tokens.

use super::layers;
use super::lexeme_test::local_ids_of;
use super::memory::Reserved;
use super::nfa::Nfa;
use super::{Deadline, Engine, EngineError, Limits};
use crate::cql::ast::{Attribute, Comparator, Quantity, TokenTest};
use crate::cql::operator::number_of;
use crate::question::WholeCorpus;
use crate::syntax::{CompiledMatcher, Logic, SyntaxError, ValueMatcher};
use regex_syntax::hir::{Hir, HirKind};
use std::sync::Arc;
use tidings_index::Segment;
use tidings_index::codec::BitSet;
use tidings_index::lexicon::{Layer, Lexicon};
use tidings_index::look_up_key;
use tidings_model::LayerKind;

/// A set of lexemes.
#[derive(Debug, Clone)]
pub(crate) enum LexemeSet {
    /// Every lexeme.
    All,
    /// A sorted list.
    Few(Vec<u32>),
    /// A bit set.
    Many(BitSet),
}

/// A set of more than one in this many lexemes is a bit set.
const BITS_FROM: usize = 64;

/// Builds the sets of the conditions of a query, within limits: each regular expression is matched against the lexicon, and
/// each set may have a bit for every lexeme.
pub(crate) struct SetBuilder<'l> {
    engine: &'l Engine,
    lexicon: &'l Lexicon,
    deadline: Deadline,
    memory: Reserved,
    /// What a shard is told of the corpus: it does not know how frequent a word is in all of it.
    whole: Option<Arc<WholeCorpus>>,
    /// Annotations that the index does not have match nothing.
    is_lenient: bool,
}

impl<'l> SetBuilder<'l> {
    pub(crate) fn new(engine: &'l Engine, limits: &Limits) -> SetBuilder<'l> {
        SetBuilder {
            engine,
            lexicon: engine.lexicon(),
            deadline: Deadline::new(limits),
            memory: limits.memory(),
            whole: None,
            is_lenient: false,
        }
    }

    /// A builder for a shard of a corpus.
    pub(crate) fn of_part(
        engine: &'l Engine,
        limits: &Limits,
        whole: Arc<WholeCorpus>,
        is_lenient: bool,
    ) -> SetBuilder<'l> {
        SetBuilder { whole: Some(whole), is_lenient, ..SetBuilder::new(engine, limits) }
    }

    /// For each string of the layer of an attribute the number of tokens of the whole corpus with the same value.
    pub(crate) fn frequencies(&self, attribute: Attribute) -> super::Result<Vec<u64>> {
        let Some(whole) = &self.whole else { return Ok(self.engine.value_frequencies(attribute)) };
        let layer = layer_of(attribute, self.lexicon);
        let frequency = whole.frequency(attribute);
        if frequency.is_none() && self.is_lenient {
            // No shard has the attribute.
            return Ok(vec![0; self.lexicon.count(layer) as usize]);
        }
        let frequency = frequency.ok_or(EngineError::NeedsWholeCorpus("f(…), the frequency in the corpus,"))?;
        let values = (0..self.lexicon.count(layer)).map(|id| attribute.value(self.lexicon.string(layer, id)));
        Ok(values.map(|value| frequency(&value)).collect())
    }

    /// Whether annotations that the index does not have match nothing.
    pub(crate) fn is_lenient(&self) -> bool {
        self.is_lenient
    }

    /// Takes memory that lives as long as the sets; returns false if it does not fit.
    pub(crate) fn reserve(&mut self, bytes: u64) -> bool {
        self.memory.grow(bytes)
    }

    /// The memory of all sets.
    pub(crate) fn into_memory(self) -> Reserved {
        self.memory
    }

    /// The lexemes that pass each test of an automaton.
    pub(crate) fn sets_of(&mut self, nfa: &Nfa) -> super::Result<Vec<LexemeSet>> {
        let mut sets = Vec::with_capacity(nfa.tests.len());
        for test in &nfa.tests {
            let set = match test {
                Some(condition) => self.set_of(condition)?,
                None => LexemeSet::All,
            };
            if !self.memory.grow(set.bytes()) {
                return Err(EngineError::TooManyWords);
            }
            sets.push(set);
        }
        Ok(sets)
    }

    /// The lexemes that fulfil a condition.
    fn set_of(&mut self, condition: &Logic<TokenTest>) -> super::Result<LexemeSet> {
        let lexicon = self.lexicon;
        let mut joined = |parts: &[Logic<TokenTest>], join: &dyn Fn(LexemeSet, LexemeSet) -> LexemeSet| {
            let mut sets: Option<LexemeSet> = None;
            for part in parts {
                let set = self.set_of(part)?;
                sets = Some(match sets {
                    Some(sets) => join(sets, set),
                    None => set,
                });
            }
            Ok(sets.unwrap_or(LexemeSet::All))
        };
        match condition {
            Logic::Not(part) => Ok(self.set_of(part)?.complement(lexicon)),
            Logic::All(parts) => joined(parts, &|a, b| a.and(b)),
            Logic::Any(parts) => joined(parts, &|a, b| a.or(b, lexicon)),
            Logic::Test(test) => {
                if let Err(error) = layers::check(test.attribute, test.name_span(), lexicon) {
                    return if self.is_lenient { LexemeSet::without_values(test) } else { Err(error.into()) };
                }
                layers::check_flags(test, lexicon)?;
                let strings = lexicon.count(layer_of(test.attribute, lexicon));
                // Matching a string takes longer than a step; a look-up costs next to nothing.
                if !self.deadline.tick_by(if test.value.exact { 1 } else { 1 + strings / 16 }) {
                    return Err(EngineError::Stopped);
                }
                let matching = match test.quantity {
                    Quantity::Value => LexemeSet::matching(test, lexicon)?,
                    Quantity::Frequency => return self.frequent(test),
                };
                Ok(match &matching {
                    _ if test.negated => matching.complement(lexicon),
                    LexemeSet::Few(none) if none.is_empty() && !self.is_lenient => {
                        layers::absent(test, lexicon).map_or(Ok(matching), Err)?
                    }
                    _ => matching,
                })
            }
        }
    }
}

impl SetBuilder<'_> {
    /// The lexemes whose value is as frequent as a test demands.
    fn frequent(&self, test: &TokenTest) -> super::Result<LexemeSet> {
        let layer = layer_of(test.attribute, self.lexicon);
        let number = number_of(&test.value.text).unwrap_or(f64::NAN);
        let counts = self.frequencies(test.attribute)?;
        let mut lexemes = BitSet::new(self.lexicon.lexemes() as usize);
        for (lexeme, string) in (0..).zip(self.lexicon.all_of(layer)) {
            let count = counts.get(string as usize).copied().unwrap_or(0);
            if test.comparator.holds(count as f64, number) != test.negated {
                lexemes.set(lexeme);
            }
        }
        Ok(LexemeSet::Many(lexemes))
    }
}

impl LexemeSet {
    /// The lexemes that fulfil a condition.
    pub(crate) fn of(condition: &Logic<TokenTest>, engine: &Engine) -> super::Result<LexemeSet> {
        SetBuilder::new(engine, &Limits::default()).set_of(condition)
    }

    /// The lexemes that fulfil a test of a layer that none has a value of.
    fn without_values(test: &TokenTest) -> super::Result<LexemeSet> {
        let holds = test.comparator == Comparator::Equal && test.value.compile()?.matches("");
        Ok(if holds != test.negated { LexemeSet::All } else { LexemeSet::Few(Vec::new()) })
    }

    /// Its size in memory.
    fn bytes(&self) -> u64 {
        match self {
            LexemeSet::All => 0,
            LexemeSet::Few(few) => few.len() as u64 * 4,
            LexemeSet::Many(bits) => bits.words().len() as u64 * 8,
        }
    }

    pub(crate) fn contains(&self, lexeme: u32) -> bool {
        match self {
            LexemeSet::All => true,
            LexemeSet::Few(few) => few.binary_search(&lexeme).is_ok(),
            LexemeSet::Many(bits) => bits.get(lexeme),
        }
    }

    /// The number of tokens of a segment that have one of the lexemes, including deleted documents.
    pub(crate) fn tokens_in(&self, segment: &Segment) -> u64 {
        let frequencies = segment.frequencies();
        match self {
            LexemeSet::All => u64::from(segment.tokens()),
            LexemeSet::Few(few) => {
                let local_ids = local_ids_of(few, segment.lexemes());
                local_ids.iter().filter_map(|id| frequencies.get(*id as usize)).map(u64::from).sum()
            }
            LexemeSet::Many(bits) => {
                let present =
                    segment.lexemes().all().iter().zip(frequencies.all()).filter(|(lexeme, _)| bits.get(**lexeme));
                present.map(|(_, count)| u64::from(*count)).sum()
            }
        }
    }

    /// Its size and some of its words, for `--explain`.
    pub(crate) fn describe(&self, lexicon: &Lexicon) -> String {
        let name = |lexeme: u32| {
            let texts = lexicon.layers().map(|layer| (layer, lexicon.text(lexeme, layer)));
            let shown = texts.filter(|(layer, text)| *layer < Layer::Feats || !text.is_empty());
            shown.map(|(_, text)| text).collect::<Vec<_>>().join("/")
        };
        let shown = |lexemes: &mut dyn Iterator<Item = u32>| lexemes.take(5).map(name).collect::<Vec<_>>().join(", ");
        match self {
            LexemeSet::All => "every lexeme".to_owned(),
            LexemeSet::Few(few) if few.is_empty() => "no lexeme".to_owned(),
            LexemeSet::Few(few) => format!("{} lexemes ({} …)", few.len(), shown(&mut few.iter().copied())),
            LexemeSet::Many(bits) => format!("{} lexemes ({} …)", bits.count(), shown(&mut bits.iter())),
        }
    }

    fn matching(test: &TokenTest, lexicon: &Lexicon) -> Result<LexemeSet, SyntaxError> {
        let layer = layer_of(test.attribute, lexicon);
        let strings =
            strings_of_test(test, layer, lexicon).map_err(|error| SyntaxError { span: test.span, ..error })?;
        if let [only] = strings[..] {
            let mut lexemes = Vec::new();
            lexicon.lexemes_with(layer, only, &mut lexemes);
            return Ok(LexemeSet::of_sorted(lexemes, lexicon));
        }
        // Looking up one string costs about as much as testing a hundred lexemes.
        if strings.len() * 100 < lexicon.lexemes() as usize {
            let mut lexemes = Vec::new();
            strings.iter().for_each(|string| lexicon.lexemes_with(layer, *string, &mut lexemes));
            lexemes.sort_unstable();
            return Ok(LexemeSet::of_sorted(lexemes, lexicon));
        }
        let mut matching = BitSet::new(lexicon.count(layer) as usize);
        strings.iter().for_each(|string| matching.set(*string));
        let mut lexemes = BitSet::new(lexicon.lexemes() as usize);
        for (lexeme, string) in (0..).zip(lexicon.all_of(layer)) {
            if matching.get(string) {
                lexemes.set(lexeme);
            }
        }
        Ok(LexemeSet::Many(lexemes))
    }

    fn of_sorted(lexemes: Vec<u32>, lexicon: &Lexicon) -> LexemeSet {
        if lexemes.len() * BITS_FROM <= lexicon.lexemes() as usize || lexemes.len() <= 8 {
            return LexemeSet::Few(lexemes);
        }
        let mut bits = BitSet::new(lexicon.lexemes() as usize);
        lexemes.iter().for_each(|lexeme| bits.set(*lexeme));
        LexemeSet::Many(bits)
    }

    fn bits(self, lexicon: &Lexicon) -> BitSet {
        let bound = lexicon.lexemes() as usize;
        match self {
            LexemeSet::Many(bits) => bits,
            LexemeSet::Few(few) => {
                let mut bits = BitSet::new(bound);
                few.iter().for_each(|lexeme| bits.set(*lexeme));
                bits
            }
            LexemeSet::All => {
                let mut bits = BitSet::new(bound);
                (0..bound as u32).for_each(|lexeme| bits.set(lexeme));
                bits
            }
        }
    }

    fn complement(self, lexicon: &Lexicon) -> LexemeSet {
        if let LexemeSet::All = self {
            return LexemeSet::Few(Vec::new());
        }
        let mut bits = self.bits(lexicon);
        let bound = lexicon.lexemes() as usize;
        bits.words_mut().iter_mut().for_each(|word| *word = !*word);
        if !bound.is_multiple_of(64)
            && let Some(last) = bits.words_mut().last_mut()
        {
            *last &= (1 << (bound % 64)) - 1;
        }
        LexemeSet::Many(bits)
    }

    fn and(self, other: LexemeSet) -> LexemeSet {
        match (self, other) {
            (LexemeSet::All, set) | (set, LexemeSet::All) => set,
            (LexemeSet::Few(mut few), set) | (set, LexemeSet::Few(mut few)) => {
                few.retain(|lexeme| set.contains(*lexeme));
                LexemeSet::Few(few)
            }
            (LexemeSet::Many(mut bits), LexemeSet::Many(other)) => {
                bits.words_mut().iter_mut().zip(other.words()).for_each(|(word, other)| *word &= other);
                LexemeSet::Many(bits)
            }
        }
    }

    fn or(self, other: LexemeSet, lexicon: &Lexicon) -> LexemeSet {
        match (self, other) {
            (LexemeSet::All, _) | (_, LexemeSet::All) => LexemeSet::All,
            (LexemeSet::Few(mut few), LexemeSet::Few(more)) => {
                few.extend(more);
                few.sort_unstable();
                few.dedup();
                LexemeSet::of_sorted(few, lexicon)
            }
            (one, other) => {
                let mut bits = one.bits(lexicon);
                match other {
                    LexemeSet::Few(few) => few.iter().for_each(|lexeme| bits.set(*lexeme)),
                    other => {
                        let other = other.bits(lexicon);
                        bits.words_mut().iter_mut().zip(other.words()).for_each(|(word, other)| *word |= other);
                    }
                }
                LexemeSet::Many(bits)
            }
        }
    }
}

/// The layer that stores the strings of an attribute. A feature is in the first set in which a token has it. A layer that
/// the index does not declare is empty; see [`layers::check`].
pub(crate) fn layer_of(attribute: Attribute, lexicon: &Lexicon) -> Layer {
    match attribute {
        Attribute::Word | Attribute::Lc => Layer::Word,
        Attribute::Lemma => Layer::Lemma,
        Attribute::Tag => Layer::Tag,
        Attribute::Feats => Layer::Feats,
        Attribute::Feature(feature) => layers::set_with(feature.name(), lexicon),
        Attribute::Layer(name) => lexicon.declared().find(name.as_str()).unwrap_or(Layer::Further(u8::MAX)),
    }
}

/// The strings that pass a test: of a layer of numbers those of matching value.
fn strings_of_test(test: &TokenTest, layer: Layer, lexicon: &Lexicon) -> Result<Vec<u32>, SyntaxError> {
    let is_number = lexicon.kind(layer) == LayerKind::Number;
    match (number_of(&test.value.text).filter(|_| is_number), test.comparator) {
        (None, Comparator::Equal) => strings_matching(test.attribute, &test.value, lexicon),
        (None, _) => {
            let message = format!("{} has no numbers", test.attribute.name());
            Err(SyntaxError::new(test.span, message).help("only layers of numbers have <, <=, > and >="))
        }
        (Some(wanted), comparator) => {
            let mut found = Vec::new();
            for strings in lexicon.strings(layer) {
                strings.each(|id, text| {
                    found.extend(number_of(text).is_some_and(|number| comparator.holds(number, wanted)).then_some(id));
                });
            }
            found.sort_unstable();
            Ok(found)
        }
    }
}

/// The strings whose attribute matches.
pub(crate) fn strings_matching(
    attribute: Attribute,
    value: &ValueMatcher,
    lexicon: &Lexicon,
) -> Result<Vec<u32>, SyntaxError> {
    if let Attribute::Feature(_) = attribute {
        return features_matching(attribute, value, lexicon);
    }
    let layer = layer_of(attribute, lexicon);
    let is_plain = !value.caseless && !value.markless && attribute != Attribute::Lc;
    if is_plain && (value.exact || value.text.bytes().all(|byte| byte.is_ascii_alphanumeric())) {
        return Ok(lexicon.find(layer, &value.text).into_iter().collect());
    }
    let matcher = value.compile()?;
    if let (Some(literal), false) = (matcher.literal(), attribute == Attribute::Lc) {
        return Ok(lexicon.find(layer, literal).into_iter().collect());
    }
    let fits = |text: &str| matcher.matches(&attribute.value(text));
    let mut found = Vec::new();
    let mut consider = |id: u32, text: &str| {
        if fits(text) {
            found.push(id);
        }
    };
    let plain = ValueMatcher { caseless: false, markless: false, ..value.clone() };
    if let Some(literal) = plain.compile().as_ref().ok().and_then(CompiledMatcher::literal) {
        let key = look_up_key(literal);
        for strings in lexicon.strings(layer) {
            strings.with_key(&key).for_each(|id| consider(id, strings.get(id)));
        }
        return Ok(found);
    }
    if let Some(prefixes) = plain.hir().ok().filter(|_| !is_plain).and_then(|hir| plain_prefixes(&hir)) {
        for strings in lexicon.strings(layer) {
            for prefix in &prefixes {
                strings.with_key_prefix(prefix).for_each(|id| consider(id, strings.get(id)));
            }
        }
        found.sort_unstable();
        found.dedup();
        return Ok(found);
    }
    let needles = if is_plain { needles(&value.hir()?) } else { None };
    for strings in lexicon.strings(layer) {
        match needles.as_deref() {
            None => strings.each(&mut consider),
            Some(needles) => {
                for needle in needles {
                    match needle {
                        Needle::Prefix(text) => strings.with_prefix(text, &mut consider),
                        Needle::Inside(text) => strings.holding(text, &mut consider),
                    }
                }
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// The feature strings with a matching feature. A corpus has a few thousand distinct ones: all are tested.
fn features_matching(attribute: Attribute, value: &ValueMatcher, lexicon: &Lexicon) -> Result<Vec<u32>, SyntaxError> {
    let matcher = value.compile()?;
    let mut found = Vec::new();
    for strings in lexicon.strings(layer_of(attribute, lexicon)) {
        strings.each(|id, feats| found.extend(attribute.fits(&matcher, &attribute.value(feats)).then_some(id)));
    }
    found.sort_unstable();
    Ok(found)
}

/// The look-up keys that matches of an expression start with if case or diacritics are ignored. Only for ASCII is the key of
/// a prefix a prefix of the key.
fn plain_prefixes(hir: &Hir) -> Option<Vec<String>> {
    let prefix = |needle: Needle| match needle {
        Needle::Prefix(text) if !text.is_empty() && text.is_ascii() => Some(look_up_key(&text).into_owned()),
        _ => None,
    };
    needles(hir)?.into_iter().map(prefix).collect()
}

/// A text that every match of an expression starts with or contains.
enum Needle {
    Prefix(String),
    Inside(String),
}

/// Literals of which every match has one, to search for instead of testing every string (literal extraction).
fn needles(hir: &Hir) -> Option<Vec<Needle>> {
    let literal = |hir: &Hir| match hir.kind() {
        HirKind::Literal(literal) => String::from_utf8(literal.0.to_vec()).ok(),
        _ => None,
    };
    match hir.kind() {
        HirKind::Literal(_) => Some(vec![Needle::Prefix(literal(hir)?)]),
        HirKind::Capture(capture) => needles(&capture.sub),
        HirKind::Alternation(parts) => {
            let all: Option<Vec<Vec<Needle>>> = parts.iter().map(needles).collect();
            all.map(|all| all.into_iter().flatten().collect())
        }
        HirKind::Concat(parts) => {
            let first = parts.first().and_then(literal).filter(|text| text.len() > 1);
            let inside = || parts.iter().filter_map(literal).max_by_key(String::len);
            match first {
                Some(text) => Some(vec![Needle::Prefix(text)]),
                None => match inside().filter(|text| text.len() > 1 && !text.contains('\n')) {
                    Some(text) => Some(vec![Needle::Inside(text)]),
                    None => parts.first().and_then(literal).map(|text| vec![Needle::Prefix(text)]),
                },
            }
        }
        _ => None,
    }
}
