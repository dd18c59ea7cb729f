//! Sketch grammars: patterns over parts of speech, one grammar for each family of languages, in `data/sketch/`.
//!
//! A relation has two slots, `a` and `b`: the headword fills one, its collocates the other. A relation with a third slot, `p`,
//! is split by the lemma in that slot, such as a preposition.

use crate::cql::ast::{
    AnyToken, Labelled, Pattern, PatternKind, Query, Region, Repeat, Restriction, RestrictionKind, Sequence, Structure,
    Target, TokenPattern, TokenTest,
};
use crate::cql::{self, Attribute};
use crate::syntax::{Logic, Span, ValueMatcher};
use std::sync::OnceLock;

/// The grammars, by name. `languages/CODE/language.tsv` names the grammar of a language; the last one is for all others.
const FILES: &[(&str, &str)] = &[
    ("english", include_str!("../data/sketch/english.txt")),
    ("german", include_str!("../data/sketch/german.txt")),
    ("romance", include_str!("../data/sketch/romance.txt")),
    ("slavic", include_str!("../data/sketch/slavic.txt")),
    ("other", include_str!("../data/sketch/other.txt")),
];

/// The maximum number of relations, and of distinct token tests: each has one bit of a machine word.
pub(crate) const MAX_RELATIONS: usize = 64;
const MAX_STEPS: usize = 256;

/// The relations of a family of languages.
#[derive(Debug, Clone)]
pub struct Grammar {
    /// The name.
    pub name: String,
    /// Its relations, in the order in which they are shown.
    pub relations: Vec<Relation>,
}

/// A relation between two words.
#[derive(Debug, Clone)]
pub struct Relation {
    /// The name of the relation for a headword at `a`, and for one at `b`. `@` is the headword, `%` the lemma at `p`.
    names: [String; 2],
    pattern: Pattern,
    /// True if `a` is the first token of a match and `b` the last; false if it is the other way round.
    a_is_first: bool,
    /// The pattern as a list of steps.
    steps: Vec<RelationStep>,
}

/// A run of tokens that pass one test.
#[derive(Debug, Clone)]
pub(crate) struct RelationStep {
    pub test: Logic<TokenTest>,
    pub at_least: u32,
    pub at_most: u32,
    pub slot: Option<Slot>,
}

/// A slot of a relation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slot {
    /// `a:`
    A,
    /// `b:`
    B,
    /// `p:`
    P,
}

impl Slot {
    fn label(self) -> &'static str {
        match self {
            Slot::A => "a",
            Slot::B => "b",
            Slot::P => "p",
        }
    }

    /// The other end of the relation.
    pub fn other(self) -> Slot {
        if self == Slot::A { Slot::B } else { Slot::A }
    }
}

impl Grammar {
    /// The grammar of a language.
    pub fn of(language: &str) -> &'static Grammar {
        let all = Grammar::all();
        let name = tidings_lang::language(language).and_then(|known| known.sketch);
        let named = all.iter().find(|grammar| Some(grammar.name.as_str()) == name);
        named.unwrap_or_else(|| all.last().expect("there are grammars"))
    }

    /// All grammars.
    pub fn all() -> &'static [Grammar] {
        static ALL: OnceLock<Vec<Grammar>> = OnceLock::new();
        ALL.get_or_init(|| {
            let read = |(name, text): &(&str, &str)| Grammar::parse(name, text).expect("a test parses every grammar");
            FILES.iter().map(read).collect()
        })
    }

    /// Parses a grammar.
    pub fn parse(name: &str, text: &str) -> Result<Grammar, String> {
        let mut grammar = Grammar { name: name.to_owned(), relations: Vec::new() };
        let mut names: Option<[String; 2]> = None;
        for (number, line) in (1..).zip(text.lines().map(str::trim)) {
            let fault = |what: String| format!("{name}, line {number}: {what}");
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            if let Some(names) = names.take() {
                grammar.relations.push(Relation::new(names, line).map_err(fault)?);
            } else {
                let (one, other) =
                    line.split_once(" | ").ok_or_else(|| fault("a relation has two names".to_owned()))?;
                names = Some([one.trim().to_owned(), other.trim().to_owned()]);
            }
        }
        let steps: usize = grammar.relations.iter().map(|relation| relation.steps.len()).sum();
        if grammar.relations.len() > MAX_RELATIONS || steps > MAX_STEPS {
            return Err(format!("{name}: more than {MAX_RELATIONS} relations, or {MAX_STEPS} tokens in all of them"));
        }
        match names {
            Some(names) => Err(format!("{name}: “{}” has no pattern", names[0])),
            None => Ok(grammar),
        }
    }
}

impl Relation {
    fn new(names: [String; 2], pattern: &str) -> Result<Relation, String> {
        let query = cql::parse(pattern).map_err(|error| error.render(pattern))?;
        let PatternKind::Sequence(Sequence { parts }) = &query.pattern.kind else {
            return Err("a pattern has two ends".to_owned());
        };
        let label = |part: Option<&Pattern>| match part.map(|part| &part.kind) {
            Some(PatternKind::Labelled(Labelled { label, .. })) => label.clone(),
            _ => String::new(),
        };
        let a_is_first = match (label(parts.first()).as_str(), label(parts.last()).as_str()) {
            ("a", "b") => true,
            ("b", "a") => false,
            _ => return Err("a: and b: are the first and the last token of a pattern".to_owned()),
        };
        let steps = parts.iter().map(RelationStep::new).collect::<Result<_, String>>()?;
        Ok(Relation { names, pattern: query.pattern, a_is_first, steps })
    }

    /// The pattern as a list of steps.
    pub(crate) fn steps(&self) -> &[RelationStep] {
        &self.steps
    }

    /// The condition on the lemma that splits the relation, if one does.
    pub(crate) fn divider(&self) -> Option<&Logic<TokenTest>> {
        self.steps.iter().find(|step| step.slot == Some(Slot::P)).map(|step| &step.test)
    }

    /// The name of the relation for a headword in a slot.
    pub fn name(&self, slot: Slot, word: &str, divider: Option<&str>) -> String {
        let name = &self.names[usize::from(slot == Slot::B)];
        name.replace('%', divider.unwrap_or("%")).replace('@', word)
    }

    /// Returns true if a slot is the first token of a match, false if it is the last.
    pub fn is_first(&self, slot: Slot) -> bool {
        (slot == Slot::A) == self.a_is_first
    }

    /// The query that finds the relation inside a sentence, with additional conditions on some slots.
    pub fn query(&self, conditions: &[(Slot, Logic<TokenTest>)]) -> Query {
        let sentence = Target::Region(Region::of(Structure::Sentence));
        let within =
            Restriction { kind: RestrictionKind::Within, negated: false, target: sentence, span: Span::default() };
        Query { restrictions: vec![within], ..Query::of(narrowed(&self.pattern, conditions)) }
    }
}

impl RelationStep {
    fn new(part: &Pattern) -> Result<RelationStep, String> {
        let error = || format!("“{part}” is not a token with conditions, alone or with bounded repetition");
        let (part, at_least, at_most) = match &part.kind {
            PatternKind::Repeat(Repeat { of, at_least, at_most: Some(most) }) => (&**of, *at_least, *most),
            _ => (part, 1, 1),
        };
        let (token, slot) = match &part.kind {
            PatternKind::Labelled(Labelled { label, token }) => {
                (&token.kind, [Slot::A, Slot::B, Slot::P].into_iter().find(|slot| slot.label() == label))
            }
            kind => (kind, None),
        };
        match token {
            PatternKind::TokenPattern(TokenPattern { condition: test }) => {
                Ok(RelationStep { test: test.clone(), at_least, at_most, slot })
            }
            _ => Err(error()),
        }
    }
}

/// A pattern without labels, with additional conditions on the tokens that had them.
fn narrowed(pattern: &Pattern, conditions: &[(Slot, Logic<TokenTest>)]) -> Pattern {
    let kind = match &pattern.kind {
        PatternKind::Labelled(Labelled { label, token }) => {
            let own = match &token.kind {
                PatternKind::TokenPattern(token) => Some(token.condition.clone()),
                _ => None,
            };
            let more =
                conditions.iter().filter(|(slot, _)| slot.label() == label).map(|(_, condition)| condition.clone());
            let parts = own.into_iter().chain(more).flat_map(|condition| match condition {
                Logic::All(parts) => parts,
                one => vec![one],
            });
            let mut all: Vec<Logic<TokenTest>> = parts.collect();
            match all.len() {
                0 => AnyToken.into(),
                1 => TokenPattern { condition: all.remove(0) }.into(),
                _ => TokenPattern { condition: Logic::All(all) }.into(),
            }
        }
        PatternKind::Sequence(Sequence { parts }) => {
            Sequence { parts: parts.iter().map(|part| narrowed(part, conditions)).collect() }.into()
        }
        other => other.clone(),
    };
    Pattern { kind, span: pattern.span }
}

/// A condition on an attribute.
pub(crate) fn is(attribute: Attribute, value: ValueMatcher) -> Logic<TokenTest> {
    Logic::Test(TokenTest::of(attribute, value, Span::default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_grammar_parses_and_languages_name_existing_grammars() {
        assert!(Grammar::all().iter().all(|grammar| grammar.relations.len() > 8));
        for language in tidings_lang::languages() {
            let name = language.sketch.unwrap_or("other");
            assert_eq!(Grammar::of(language.code).name, name, "{}", language.code);
        }
        assert_eq!((Grammar::of("de").name.as_str(), Grammar::of("fi").name.as_str()), ("german", "other"));
    }

    #[test]
    fn a_relation_becomes_a_query_with_a_canonical_text() {
        let text = "# why\nmodifiers of @ | modified by @\nb:[tag=\"ADJ\"] [tag=\"ADV\"]? a:[tag=\"NOUN\"]\n";
        let grammar = Grammar::parse("x", text).unwrap();
        let relation = &grammar.relations[0];
        assert_eq!(relation.name(Slot::A, "rain", None), "modifiers of rain");
        assert!(relation.is_first(Slot::B) && !relation.is_first(Slot::A) && relation.divider().is_none());
        let query = relation.query(&[(Slot::A, is(Attribute::Lemma, ValueMatcher::exact("rain")))]).to_string();
        assert_eq!(query, r#"[tag="ADJ"] [tag="ADV"]? [tag="NOUN" & lemma=="rain"] within <s/>"#);
        assert_eq!(cql::parse(&query).unwrap().to_string(), query);
    }

    #[test]
    fn a_wrong_grammar_names_its_line() {
        let faults = [
            ("x\n", "two names"),
            ("x | y\n", "no pattern"),
            ("x | y\n[tag=\"A\"] b:[tag=\"B\"]\n", "x, line 2: a: and b: are the first and the last"),
            ("x | y\na:[tag=\"A\"\n", "x, line 2"),
        ];
        for (text, fault) in faults {
            let found = Grammar::parse("x", text).unwrap_err();
            assert!(found.contains(fault), "{found}");
        }
    }
}
