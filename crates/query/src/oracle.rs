//! The reference: answers every question by looking at everything.
//!
//! Slow, plain and right. The engine is tested against it on random corpora and random queries; nothing
//! else uses it. It goes by the definitions in [`crate::cql::ast`] and shares only the final arithmetic
//! with the engine.

use crate::cql::MatchRule;
use crate::cql::ast::*;
use crate::filter::Filter;
use crate::measure::association::Association;
use crate::measure::keyness::Keyness;
use crate::measure::per_million;
use crate::question::*;
use crate::syntax::{Logic, ValueMatcher};
use crate::trend::Step;
use jiff::civil::Date;
use std::collections::{BTreeMap, BTreeSet};
use tidings_model::Token;

/// Everything there is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Corpus {
    /// In the order of their dates.
    pub documents: Vec<Document>,
}

/// A document: paragraphs of sentences of tokens.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Document {
    /// `id`, `date`, `site` and others.
    pub fields: BTreeMap<String, String>,
    /// The text.
    pub paragraphs: Vec<Vec<Vec<Token>>>,
}

/// A hit: tokens `start..end` of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hit {
    /// The number of the document.
    pub document: usize,
    /// Its first token.
    pub start: usize,
    /// Behind its last token.
    pub end: usize,
}

/// What hits can be counted by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum By {
    /// An attribute of their tokens.
    Attribute(Attribute),
    /// A field of their documents.
    Field(String),
}

impl Document {
    /// All tokens.
    pub fn tokens(&self) -> Vec<&Token> {
        self.paragraphs.iter().flatten().flatten().collect()
    }

    /// A field, empty if the document does not have it.
    pub fn field(&self, name: &str) -> &str {
        self.fields.get(name).map_or("", String::as_str)
    }

    fn date(&self) -> Option<Date> {
        self.field("date").get(..10)?.parse().ok()
    }

    /// From where to where structures of a kind go. Empty ones are none.
    fn structures(&self, structure: Structure) -> Vec<(usize, usize)> {
        let lengths: Vec<usize> = match structure {
            Structure::Sentence => self.paragraphs.iter().flatten().map(Vec::len).collect(),
            Structure::Paragraph => self.paragraphs.iter().map(|p| p.iter().map(Vec::len).sum()).collect(),
            Structure::Document => vec![self.tokens().len()],
        };
        let mut end = 0;
        let spans = lengths.into_iter().map(|length| {
            end += length;
            (end - length, end)
        });
        spans.filter(|(from, to)| from < to).collect()
    }

    fn admitted_by(&self, filter: &Filter) -> bool {
        let filter = filter.compile().expect("a filter that was read can be compiled");
        filter.admits(&|name| self.fields.get(name).map(String::as_str))
    }

    /// The structures of a region that are in this document.
    fn region(&self, region: &Region) -> Vec<(usize, usize)> {
        match &region.filter {
            Some(filter) if !self.admitted_by(filter) => Vec::new(),
            _ => self.structures(region.structure),
        }
    }
}

/// The value of an attribute of a token.
fn attribute_of(token: &Token, attribute: Attribute) -> String {
    match attribute {
        Attribute::Word => token.word.clone(),
        Attribute::Lc => token.word.to_lowercase(),
        Attribute::Lemma => token.lemma.clone(),
        Attribute::Tag => token.tag.clone(),
        Attribute::Feats => token.feats.clone(),
        Attribute::Feature(feature) => {
            let parts = token.feats.split('+').map(|part| part.split('|').collect::<Vec<_>>());
            let pairs = parts.flatten().filter_map(|pair| pair.split_once('='));
            let values: Vec<&str> = pairs.filter(|(name, _)| *name == feature.name()).map(|(_, value)| value).collect();
            values.join("+")
        }
    }
}

/// Whether an attribute is what is wanted: of a feature one of its values, and never of a missing one.
fn has(token: &Token, attribute: Attribute, wanted: &ValueMatcher) -> bool {
    let value = attribute_of(token, attribute);
    match attribute {
        Attribute::Feature(_) if value.is_empty() => false,
        Attribute::Feature(_) => {
            let mut values: Vec<String> = value.replace('+', ",").split(',').map(str::to_owned).collect();
            values.push(value);
            values.iter().any(|value| wanted_matches(wanted, value))
        }
        _ => wanted_matches(wanted, &value),
    }
}

fn kwic(token: &Token) -> KwicToken {
    KwicToken {
        word: token.word.clone(),
        lemma: token.lemma.clone(),
        tag: token.tag.clone(),
        feats: token.feats.clone(),
        space_after: token.space_after,
    }
}

/// How far a way through a pattern has come, and which tokens labels stand for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Way {
    at: usize,
    labels: BTreeMap<String, usize>,
}

fn wanted_matches(wanted: &ValueMatcher, text: &str) -> bool {
    wanted.compile().expect("an expression that was read can be compiled").matches(text)
}

fn token_fits(condition: &Logic<TokenTest>, token: &Token) -> bool {
    condition.holds(&mut |test| has(token, test.attribute, &test.value) != test.negated)
}

/// All ways on from some ways, through a pattern.
fn walk(document: &Document, tokens: &[&Token], pattern: &Pattern, ways: &BTreeSet<Way>) -> BTreeSet<Way> {
    let one_token = |fits: &dyn Fn(&Token) -> bool| -> BTreeSet<Way> {
        let fitting = ways.iter().filter(|way| tokens.get(way.at).is_some_and(|token| fits(token)));
        fitting.map(|way| Way { at: way.at + 1, labels: way.labels.clone() }).collect()
    };
    match &pattern.kind {
        PatternKind::Any => one_token(&|_| true),
        PatternKind::Token(condition) => one_token(&|token| token_fits(condition, token)),
        PatternKind::Labelled { label, token } => {
            let mut on = BTreeSet::new();
            for way in ways {
                for mut end in walk(document, tokens, token, &BTreeSet::from([way.clone()])) {
                    end.labels.insert(label.clone(), way.at);
                    on.insert(end);
                }
            }
            on
        }
        PatternKind::Sequence(parts) => {
            parts.iter().fold(ways.clone(), |ways, part| walk(document, tokens, part, &ways))
        }
        PatternKind::Alternatives(parts) => parts.iter().flat_map(|part| walk(document, tokens, part, ways)).collect(),
        PatternKind::Repeat { of, at_least, at_most } => {
            let mut now = ways.clone();
            for _ in 0..*at_least {
                now = walk(document, tokens, of, &now);
            }
            let mut all = now.clone();
            let mut times = *at_least;
            while !now.is_empty() && at_most.is_none_or(|most| times < most) {
                now = walk(document, tokens, of, &now).difference(&all).cloned().collect();
                all.extend(now.iter().cloned());
                times += 1;
            }
            all
        }
        PatternKind::Start(structure) => {
            let starts: Vec<usize> = document.structures(*structure).iter().map(|span| span.0).collect();
            ways.iter().filter(|way| starts.contains(&way.at)).cloned().collect()
        }
        PatternKind::End(structure) => {
            let ends: Vec<usize> = document.structures(*structure).iter().map(|span| span.1).collect();
            ways.iter().filter(|way| ends.contains(&way.at)).cloned().collect()
        }
        PatternKind::Whole(region) => {
            let spans = document.region(region);
            let ends = ways.iter().flat_map(|way| {
                let here = spans.iter().filter(|(from, _)| *from == way.at);
                here.map(|(_, to)| Way { at: *to, labels: way.labels.clone() })
            });
            ends.collect()
        }
    }
}

/// All matches that begin at a token, by their ends.
fn matches_from(document: &Document, pattern: &Pattern, start: usize) -> BTreeSet<Way> {
    let begin = BTreeSet::from([Way { at: start, labels: BTreeMap::new() }]);
    let ways = walk(document, &document.tokens(), pattern, &begin);
    ways.into_iter().filter(|way| way.at > start).collect()
}

/// All matches in a document.
fn all_matches(document: &Document, pattern: &Pattern) -> Vec<(usize, usize)> {
    let starts = 0..document.tokens().len();
    starts
        .flat_map(|start| matches_from(document, pattern, start).into_iter().map(move |way| (start, way.at)))
        .collect()
}

fn fulfils(document: &Document, hit: (usize, usize), restriction: &Restriction) -> bool {
    let targets = match &restriction.target {
        Target::Region(region) => document.region(region),
        Target::Pattern(pattern) => all_matches(document, pattern),
    };
    let holds = targets.iter().any(|target| match restriction.relation {
        Inclusion::Within => target.0 <= hit.0 && hit.1 <= target.1,
        Inclusion::Containing => hit.0 <= target.0 && target.1 <= hit.1,
    });
    holds != restriction.negated
}

fn satisfies(tokens: &[&Token], way: &Way, constraint: &Constraint) -> bool {
    let token = |reference: &Reference| way.labels.get(&reference.label).map(|token| tokens[*token]);
    let attribute = constraint.left.attribute;
    let Some(left) = token(&constraint.left) else { return false };
    match &constraint.right {
        Comparand::Value(wanted) => has(left, attribute, wanted) != constraint.negated,
        Comparand::Reference(reference) => token(reference).is_some_and(|right| {
            let (left, right) = (attribute_of(left, attribute), attribute_of(right, reference.attribute));
            let is_nothing = matches!(attribute, Attribute::Feature(_)) && left.is_empty();
            (left == right && !is_nothing) != constraint.negated
        }),
    }
}

impl Corpus {
    /// The documents that a filter admits, as a corpus of their own.
    pub fn restricted(&self, filter: &Filter) -> Corpus {
        let admitted = self.documents.iter().filter(|document| document.admitted_by(filter));
        Corpus { documents: admitted.cloned().collect() }
    }

    /// The number of tokens.
    pub fn token_count(&self) -> u64 {
        self.documents.iter().map(|document| document.tokens().len() as u64).sum()
    }

    /// The hits of a query, document by document, from left to right.
    pub fn hits(&self, query: &Query, rule: MatchRule) -> Vec<Hit> {
        let mut hits = Vec::new();
        for (number, document) in self.documents.iter().enumerate() {
            let tokens = document.tokens();
            for start in 0..tokens.len() {
                let ways = matches_from(document, &query.pattern, start)
                    .into_iter()
                    .filter(|way| query.constraints.iter().all(|constraint| satisfies(&tokens, way, constraint)));
                let ends: BTreeSet<usize> = ways
                    .map(|way| way.at)
                    .filter(|end| query.restrictions.iter().all(|r| fulfils(document, (start, *end), r)))
                    .collect();
                let chosen: Vec<usize> = match rule {
                    MatchRule::Shortest => ends.first().copied().into_iter().collect(),
                    MatchRule::Longest => ends.last().copied().into_iter().collect(),
                    MatchRule::All => ends.into_iter().collect(),
                };
                hits.extend(chosen.into_iter().map(|end| Hit { document: number, start, end }));
            }
        }
        hits
    }

    /// Hits in their context of so many tokens, with the fields asked for.
    pub fn kwic(&self, hits: &[Hit], context: usize, fields: &[&str]) -> Vec<Line> {
        let line = |hit: &Hit| {
            let document = &self.documents[hit.document];
            let tokens: Vec<KwicToken> = document.tokens().iter().map(|token| kwic(token)).collect();
            let wanted = |(name, value): (&String, &String)| {
                fields.contains(&name.as_str()).then(|| (name.clone(), value.clone()))
            };
            Line {
                document: document.field("id").to_owned(),
                fields: document.fields.iter().filter_map(wanted).collect(),
                position: hit.start as u32,
                left: tokens[hit.start.saturating_sub(context)..hit.start].to_vec(),
                node: tokens[hit.start..hit.end].to_vec(),
                right: tokens[hit.end..tokens.len().min(hit.end + context)].to_vec(),
            }
        };
        hits.iter().map(line).collect()
    }

    /// A sample of hits, in the order of the corpus.
    pub fn sample(&self, hits: &[Hit], size: usize, seed: u64) -> Vec<Hit> {
        let lot = |hit: &&Hit| {
            let id = self.documents[hit.document].field("id");
            (sample_rank(seed, id, hit.start as u32), **hit)
        };
        let mut drawn: Vec<&Hit> = hits.iter().collect();
        drawn.sort_by_key(lot);
        drawn.truncate(size);
        let mut drawn: Vec<Hit> = drawn.into_iter().copied().collect();
        drawn.sort();
        drawn
    }

    /// The attribute of tokens `start..end`, with blanks between.
    fn text(&self, hit: &Hit, attribute: Attribute) -> String {
        let tokens = self.documents[hit.document].tokens();
        let texts: Vec<String> =
            tokens[hit.start..hit.end].iter().map(|token| attribute_of(token, attribute)).collect();
        texts.join(" ")
    }

    /// Hits by the values of an attribute or a field.
    pub fn frequencies(&self, hits: &[Hit], by: &By) -> Frequencies {
        let all_tokens = self.token_count();
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        for hit in hits {
            let value = match by {
                By::Attribute(attribute) => self.text(hit, *attribute),
                By::Field(name) => self.documents[hit.document].field(name).to_owned(),
            };
            *counts.entry(value).or_default() += 1;
        }
        let row = |(value, hits): (String, u64)| {
            let tokens = match by {
                By::Attribute(_) => None,
                By::Field(name) => {
                    let having = self.documents.iter().filter(|document| document.field(name) == value);
                    Some(having.map(|document| document.tokens().len() as u64).sum())
                }
            };
            let per_million = per_million(hits as f64, tokens.unwrap_or(all_tokens) as f64);
            FrequencyRow { value, hits, tokens, per_million }
        };
        let mut rows: Vec<FrequencyRow> = counts.into_iter().map(row).collect();
        rows.sort_by(|a, b| b.hits.cmp(&a.hits).then_with(|| a.value.cmp(&b.value)));
        let by = match by {
            By::Attribute(attribute) => attribute.name().to_owned(),
            By::Field(name) => name.clone(),
        };
        Frequencies { by, hits: hits.len() as u64, tokens: all_tokens, values: rows.len() as u64, rows }
    }

    /// What stands in the neighbourhood of hits.
    pub fn collocates(
        &self,
        hits: &[Hit],
        attribute: Attribute,
        window: Window,
        order: Association,
        at_least: u64,
    ) -> Collocates {
        let mut together: BTreeMap<String, u64> = BTreeMap::new();
        for hit in hits {
            let document = &self.documents[hit.document];
            let tokens = document.tokens();
            let near: Vec<usize> = match window {
                Window::Tokens { left, right } => {
                    let before = hit.start.saturating_sub(left as usize)..hit.start;
                    before.chain(hit.end..tokens.len().min(hit.end + right as usize)).collect()
                }
                Window::Sentence => {
                    let touched = document.structures(Structure::Sentence).into_iter();
                    let touched = touched.filter(|(from, to)| *from < hit.end && hit.start < *to);
                    touched.flat_map(|(from, to)| from..to).filter(|at| !(hit.start..hit.end).contains(at)).collect()
                }
            };
            for at in near {
                *together.entry(attribute_of(tokens[at], attribute)).or_default() += 1;
            }
        }
        let anywhere: BTreeMap<String, u64> =
            self.words(attribute, 1, None, 1).rows.into_iter().map(|row| (row.value, row.hits)).collect();
        let counts = together.into_iter().map(|(value, count)| {
            let everywhere = anywhere.get(&value).copied().unwrap_or(0);
            (value, count, everywhere)
        });
        Collocates::rank(attribute, window, (hits.len() as u64, self.token_count()), order, at_least, counts)
    }

    /// All words, or n-grams inside sentences, that match and occur often enough. Values that are empty
    /// (a corpus without lemmas) are left out.
    pub fn words(&self, attribute: Attribute, n: usize, matching: Option<&ValueMatcher>, at_least: u64) -> Words {
        let mut counts: BTreeMap<String, (u64, BTreeSet<usize>)> = BTreeMap::new();
        for (number, document) in self.documents.iter().enumerate() {
            for sentence in document.paragraphs.iter().flatten() {
                for gram in sentence.windows(n) {
                    let texts: Vec<String> = gram.iter().map(|token| attribute_of(token, attribute)).collect();
                    let (hits, documents) = counts.entry(texts.join(" ")).or_default();
                    *hits += 1;
                    documents.insert(number);
                }
            }
        }
        let tokens = self.token_count();
        let wanted = |value: &str| matching.is_none_or(|wanted| wanted_matches(wanted, value));
        let mut rows: Vec<WordRow> = counts
            .into_iter()
            .filter(|(value, (hits, _))| !value.trim().is_empty() && *hits >= at_least && wanted(value))
            .map(|(value, (hits, documents))| WordRow {
                value,
                hits,
                documents: documents.len() as u64,
                per_million: per_million(hits as f64, tokens as f64).unwrap_or(0.0),
            })
            .collect();
        rows.sort_by(|a, b| b.hits.cmp(&a.hits).then_with(|| a.value.cmp(&b.value)));
        Words { attribute, n: n as u32, tokens, values: rows.len() as u64, rows }
    }

    /// What is typical of this corpus against another.
    pub fn keywords(&self, reference: &Corpus, attribute: Attribute, order: Keyness, at_least: u64) -> Keywords {
        let of_reference: BTreeMap<String, u64> =
            reference.words(attribute, 1, None, 1).rows.into_iter().map(|row| (row.value, row.hits)).collect();
        let counts = self.words(attribute, 1, None, 1).rows.into_iter().map(|row| {
            let there = of_reference.get(&row.value).copied().unwrap_or(0);
            (row.value, row.hits, there)
        });
        let tokens = (self.token_count(), reference.token_count());
        Keywords::rank(attribute, tokens, order, at_least, counts)
    }

    /// Hits in time, from the first dated document to the last. Documents without a date are in no bin.
    pub fn timeline(&self, hits: &[Hit], step: Step, confidence: f64) -> Timeline {
        let dates: Vec<Option<Date>> = self.documents.iter().map(Document::date).collect();
        let first = dates.iter().flatten().min();
        let last = dates.iter().flatten().max();
        let bins = first.zip(last).map(|(first, last)| step.bins(*first, *last)).unwrap_or_default();
        let point = |bin| {
            let inside = |number: &usize| dates[*number].is_some_and(|date| step.bin_of(date) == bin);
            let numbers: Vec<usize> = (0..self.documents.len()).filter(inside).collect();
            let documents = || numbers.iter().map(|number| &self.documents[*number]);
            let tokens = documents().map(|document| document.tokens().len() as u64).sum();
            let sites: BTreeSet<&str> = documents().map(|document| document.field("site")).collect();
            let here = hits.iter().filter(|hit| numbers.contains(&hit.document)).count() as u64;
            let days: BTreeSet<Option<Date>> = numbers.iter().map(|number| dates[*number]).collect();
            let collected = (tokens, numbers.len() as u64, sites.len() as u64, days.len() as u32);
            TimelinePoint::of(bin, here, collected, 1.0, confidence)
        };
        Timeline::of(step, confidence, bins.into_iter().map(point).collect())
    }
}
