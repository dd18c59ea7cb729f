//! The reference implementation: answers every request by brute force over the whole corpus.
//!
//! The engine is tested against it on random corpora and random queries; nothing else uses it. It follows
//! the definitions in [`crate::cql::ast`] literally and shares only the final arithmetic with the engine. The
//! part of each CQL operator is in the operator's file, apart from its compilation.

use crate::cql::MatchRule;
use crate::cql::ast::*;
use crate::filter::Filter;
use crate::measure::association::Association;
use crate::measure::keyness::Keyness;
use crate::measure::{overdispersion_of_neighbours, per_million};
use crate::question::*;
use crate::syntax::ValueMatcher;
use crate::trend::{Bin, CellCount, SiteVolume, Step};
use jiff::civil::Date;
use std::collections::{BTreeMap, BTreeSet};
use tidings_model::Token;

/// A corpus in memory.
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
    /// The position after its last token.
    pub end: usize,
}

/// A grouping of hits.
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

    /// The spans of the structures of a kind, without empty ones.
    pub(crate) fn structures(&self, structure: Structure) -> Vec<TokenSpan> {
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

    /// The spans of the structures of a region.
    pub(crate) fn region(&self, region: &Region) -> Vec<TokenSpan> {
        match &region.filter {
            Some(filter) if !self.admitted_by(filter) => Vec::new(),
            _ => self.structures(region.structure),
        }
    }
}

/// The value of an attribute of a token.
pub(crate) fn attribute_value(token: &Token, attribute: Attribute) -> String {
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

/// Returns true if an attribute of a token matches: of a feature one of its values, and never a missing one.
pub(crate) fn attribute_matches(token: &Token, attribute: Attribute, value: &ValueMatcher) -> bool {
    let text = attribute_value(token, attribute);
    match attribute {
        Attribute::Feature(_) if text.is_empty() => false,
        Attribute::Feature(_) => {
            let mut values: Vec<String> = text.replace('+', ",").split(',').map(str::to_owned).collect();
            values.push(text);
            values.iter().any(|text| value_matches(value, text))
        }
        _ => value_matches(value, &text),
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

/// A path through a pattern: the position it has reached and the tokens of its labels.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Path {
    pub(crate) at: usize,
    pub(crate) labels: BTreeMap<String, usize>,
}

impl Path {
    /// The same path at another position.
    pub(crate) fn moved_to(&self, at: usize) -> Path {
        Path { at, labels: self.labels.clone() }
    }
}

/// Tokens of a document, as start and end.
pub(crate) type TokenSpan = (usize, usize);

/// A document with its tokens in a row. Each operator of CQL evaluates itself on it, see [`crate::cql`].
pub(crate) struct Text<'d> {
    pub(crate) document: &'d Document,
    pub(crate) tokens: Vec<&'d Token>,
}

impl<'d> Text<'d> {
    fn new(document: &'d Document) -> Text<'d> {
        Text { document, tokens: document.tokens() }
    }

    /// All matches that start at a token, by their ends.
    fn matches_from(&self, pattern: &Pattern, start: usize) -> BTreeSet<Path> {
        let empty = BTreeSet::from([Path { at: start, labels: BTreeMap::new() }]);
        pattern.extend(self, &empty).into_iter().filter(|path| path.at > start).collect()
    }

    /// All matches in the document.
    pub(crate) fn matches(&self, pattern: &Pattern) -> Vec<TokenSpan> {
        let starts = 0..self.tokens.len();
        let from = |start| self.matches_from(pattern, start).into_iter().map(move |path| (start, path.at));
        starts.flat_map(from).collect()
    }
}

fn value_matches(value: &ValueMatcher, text: &str) -> bool {
    value.compile().expect("a parsed expression compiles").matches(text)
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
            let text = Text::new(document);
            for start in 0..text.tokens.len() {
                let paths = text
                    .matches_from(&query.pattern, start)
                    .into_iter()
                    .filter(|path| query.constraints.iter().all(|constraint| constraint.oracle_holds(&text, path)));
                let ends: BTreeSet<usize> = paths
                    .map(|path| path.at)
                    .filter(|end| query.restrictions.iter().all(|r| r.oracle_holds(&text, (start, *end))))
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

    /// Hits with `context` tokens on either side, and some fields of their documents.
    pub fn kwic(&self, hits: &[Hit], context: usize, fields: &[&str]) -> Vec<Line> {
        let line = |hit: &Hit| {
            let document = &self.documents[hit.document];
            let tokens: Vec<KwicToken> = document.tokens().iter().map(|token| kwic(token)).collect();
            let shown = |(name, value): (&String, &String)| {
                fields.contains(&name.as_str()).then(|| (name.clone(), value.clone()))
            };
            Line {
                document: document.field("id").to_owned(),
                fields: document.fields.iter().filter_map(shown).collect(),
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
        let key = |hit: &&Hit| {
            let id = self.documents[hit.document].field("id");
            (sample_rank(seed, id, hit.start as u32), **hit)
        };
        let mut drawn: Vec<&Hit> = hits.iter().collect();
        drawn.sort_by_key(key);
        drawn.truncate(size);
        let mut drawn: Vec<Hit> = drawn.into_iter().copied().collect();
        drawn.sort();
        drawn
    }

    /// The attribute of tokens `start..end`, with blanks between.
    fn text(&self, hit: &Hit, attribute: Attribute) -> String {
        let tokens = self.documents[hit.document].tokens();
        let texts: Vec<String> =
            tokens[hit.start..hit.end].iter().map(|token| attribute_value(token, attribute)).collect();
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

    /// The collocates of hits.
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
                *together.entry(attribute_value(tokens[at], attribute)).or_default() += 1;
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

    /// The words, or n-grams inside sentences, that match and occur at least `at_least` times. Empty values
    /// (a corpus without lemmas) are left out.
    pub fn words(&self, attribute: Attribute, n: usize, matching: Option<&ValueMatcher>, at_least: u64) -> Words {
        let mut counts: BTreeMap<String, (u64, BTreeSet<usize>)> = BTreeMap::new();
        for (number, document) in self.documents.iter().enumerate() {
            for sentence in document.paragraphs.iter().flatten() {
                for gram in sentence.windows(n) {
                    let texts: Vec<String> = gram.iter().map(|token| attribute_value(token, attribute)).collect();
                    let (hits, documents) = counts.entry(texts.join(" ")).or_default();
                    *hits += 1;
                    documents.insert(number);
                }
            }
        }
        let tokens = self.token_count();
        let fits = |text: &str| matching.is_none_or(|value| value_matches(value, text));
        let mut rows: Vec<WordRow> = counts
            .into_iter()
            .filter(|(value, (hits, _))| !value.trim().is_empty() && *hits >= at_least && fits(value))
            .map(|(value, (hits, documents))| WordRow {
                value,
                hits,
                documents: documents.len() as u64,
                per_million: per_million(hits as f64, tokens as f64),
            })
            .collect();
        rows.sort_by(|a, b| b.hits.cmp(&a.hits).then_with(|| a.value.cmp(&b.value)));
        Words { attribute, n: n as u32, tokens, values: rows.len() as u64, rows }
    }

    /// The keywords of this corpus against a reference corpus.
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

    /// Hits per interval, from the first dated document to the last. Documents without a date are in no bin.
    pub fn timeline(&self, hits: &[Hit], step: Step, confidence: f64) -> Timeline {
        let dates: Vec<Option<Date>> = self.documents.iter().map(Document::date).collect();
        let first = dates.iter().flatten().min();
        let last = dates.iter().flatten().max();
        let bins = first.zip(last).map(|(first, last)| step.bins(*first, *last)).unwrap_or_default();
        let counted = |bin| {
            let inside = |number: &usize| dates[*number].is_some_and(|date| step.bin_of(date) == bin);
            let numbers: Vec<usize> = (0..self.documents.len()).filter(inside).collect();
            let documents = || numbers.iter().map(|number| &self.documents[*number]);
            let tokens = documents().map(|document| document.tokens().len() as u64).sum();
            let sites: BTreeSet<&str> = documents().map(|document| document.field("site")).collect();
            let here = hits.iter().filter(|hit| numbers.contains(&hit.document)).count() as u64;
            let days: BTreeSet<Option<Date>> = numbers.iter().map(|number| dates[*number]).collect();
            let collected = (tokens, numbers.len() as u64, sites.len() as u64, days.len() as u32);
            (bin, here, collected)
        };
        let counted: Vec<_> = bins.into_iter().map(counted).collect();
        let counts: Vec<(u64, u64)> = counted.iter().map(|(_, hits, (tokens, ..))| (*hits, *tokens)).collect();
        let spread = overdispersion_of_neighbours(&counts);
        let point = |(bin, hits, collected)| TimelinePoint::of(bin, Some(hits), collected, Some(spread), confidence);
        Timeline::of(step, confidence, counted.into_iter().map(point).collect())
    }

    /// The text of each site in each bin, sites sorted by name, and the cells of each word, sorted by site and bin.
    pub fn site_cells(&self, attribute: Attribute, bins: &[Bin]) -> (SiteVolume, BTreeMap<String, Vec<CellCount>>) {
        let bin_of = |document: &Document| {
            let date = document.date()?;
            bins.iter().position(|bin| (bin.first..=bin.last).contains(&date))
        };
        let sites: BTreeSet<&str> = self.documents.iter().map(|document| document.field("site")).collect();
        let cells = sites.len() * bins.len();
        let mut volume = SiteVolume { bins: bins.len(), tokens: vec![0.0; cells], documents: vec![0.0; cells] };
        let mut words: BTreeMap<String, BTreeMap<usize, (u32, u32)>> = BTreeMap::new();
        for document in &self.documents {
            let site = sites.iter().position(|site| *site == document.field("site"));
            let Some((bin, site)) = bin_of(document).zip(site) else { continue };
            let cell = site * bins.len() + bin;
            volume.tokens[cell] += document.tokens().len() as f64;
            volume.documents[cell] += 1.0;
            let mut counts: BTreeMap<String, u32> = BTreeMap::new();
            for token in document.tokens() {
                *counts.entry(attribute_value(token, attribute)).or_default() += 1;
            }
            for (word, hits) in counts {
                let sum = words.entry(word).or_default().entry(cell).or_default();
                *sum = (sum.0 + hits, sum.1 + 1);
            }
        }
        let cell = |(cell, (hits, documents)): (usize, (u32, u32))| CellCount {
            site: (cell / bins.len()) as u32,
            bin: (cell % bins.len()) as u32,
            hits,
            documents,
        };
        (volume, words.into_iter().map(|(word, cells)| (word, cells.into_iter().map(cell).collect())).collect())
    }
}
