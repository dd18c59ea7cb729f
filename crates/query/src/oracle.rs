//! The reference implementation: answers every request by brute force over the whole corpus.
//!
//! The engine is tested against it on random corpora and random queries; nothing else uses it. It follows
//! the definitions in [`crate::cql::ast`] literally and shares only the final arithmetic with the engine. The
//! part of each CQL operator is in the operator's file, apart from its compilation.

use crate::cql::MatchRule;
use crate::cql::ast::*;
use crate::cql::operator::number_of;
use crate::engine::Around;
use crate::filter::{FieldPredicate, Filter};
use crate::measure::association::Association;
use crate::measure::keyness::Keyness;
use crate::measure::{overdispersion_of_neighbours, per_million};
use crate::question::*;
use crate::syntax::{Logic, ValueMatcher};
use crate::trend::{Bin, CellCount, SiteVolume, Step};
use jiff::civil::Date;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use tidings_model::{LayerColumn, LayerKind, Token};

/// A corpus in memory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Corpus {
    /// In the order of their dates.
    pub documents: Vec<Document>,
    /// The corpus that it is a part of, in which `f(…)` counts; its own documents without one.
    pub whole: Option<Arc<Corpus>>,
}

/// A document: paragraphs of sentences of tokens.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Document {
    /// `id`, `date`, `site` and others.
    pub fields: BTreeMap<String, String>,
    /// The text.
    pub paragraphs: Vec<Vec<Vec<Token>>>,
    /// Further attributes of tokens.
    pub columns: Vec<LayerColumn>,
    /// Spans, in file order.
    pub spans: Vec<tidings_model::TokenSpan>,
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
    /// An attribute of the shortest span of a name around them: name, attribute.
    Span(String, String),
}

impl Document {
    /// All tokens.
    pub fn tokens(&self) -> Vec<OracleToken<'_>> {
        let tokens = self.paragraphs.iter().flatten().flatten();
        tokens.enumerate().map(|(at, token)| OracleToken { document: self, token, at }).collect()
    }

    /// The value of an attribute of the shortest span of a name around some tokens; of equals the first.
    fn span_value(&self, name: &str, attribute: &str, (start, end): TokenSpan) -> String {
        let around = self
            .spans
            .iter()
            .filter(|span| span.name == name && span.start as usize <= start && end <= span.end as usize);
        let shortest = around.min_by_key(|span| span.end - span.start);
        shortest.and_then(|span| span.attribute(attribute)).unwrap_or_default().to_owned()
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
            Structure::Span(_) => return self.region(&Region::of(structure)),
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

    /// The same for a filter that may ask for hits.
    fn admitted_in(&self, corpus: &Corpus, filter: &Filter) -> bool {
        filter.condition.holds(&mut |test| match &test.predicate {
            FieldPredicate::Hits(hits) => !Text::new(corpus, self).query_matches(&hits.query).is_empty(),
            _ => self.admitted_by(&Filter { condition: Logic::Test(test.clone()) }),
        })
    }

    /// The spans of the structures of a region.
    pub(crate) fn region(&self, region: &Region) -> Vec<TokenSpan> {
        match &region.filter {
            _ if matches!(region.structure, Structure::Span(_)) => {
                let spans = self.spans.iter().filter(|span| region.oracle_admits(span));
                spans.map(|span| (span.start as usize, span.end as usize)).collect()
            }
            Some(filter) if !self.admitted_by(filter) => Vec::new(),
            _ => self.structures(region.structure),
        }
    }
}

/// A token with its place in the document, where its further attributes are.
#[derive(Debug, Clone, Copy)]
pub struct OracleToken<'d> {
    document: &'d Document,
    token: &'d Token,
    at: usize,
}

impl std::ops::Deref for OracleToken<'_> {
    type Target = Token;

    fn deref(&self) -> &Token {
        self.token
    }
}

impl OracleToken<'_> {
    fn column(&self, name: &str) -> Option<&LayerColumn> {
        self.document.columns.iter().find(|column| column.layer.name == name)
    }

    /// The value of an attribute.
    pub(crate) fn value(&self, attribute: Attribute) -> String {
        match attribute {
            Attribute::Word => self.word.to_string(),
            Attribute::Lc => self.word.as_str().to_lowercase(),
            Attribute::Lemma => self.lemma.to_string(),
            Attribute::Tag => self.tag.to_string(),
            Attribute::Feats => self.feats.to_string(),
            Attribute::Layer(name) => {
                self.column(name.as_str()).map(|column| column.values[self.at].clone()).unwrap_or_default()
            }
            Attribute::Feature(feature) => {
                let sets = self.document.columns.iter().filter(|column| column.layer.kind == LayerKind::Set);
                let sets =
                    std::iter::once(self.feats.as_str()).chain(sets.map(|column| column.values[self.at].as_str()));
                let of_set = |set: &str| {
                    let parts = set.split('+').map(|part| part.split('|').collect::<Vec<_>>());
                    let pairs = parts.flatten().filter_map(|pair| pair.split_once('='));
                    let values = pairs.filter(|(name, _)| *name == feature.name()).map(|(_, value)| value);
                    values.collect::<Vec<_>>().join("+")
                };
                sets.map(of_set).find(|value| !value.is_empty()).unwrap_or_default()
            }
        }
    }

    /// Returns true if an attribute matches: of a feature one of its values, and never a missing one.
    pub(crate) fn matches(&self, attribute: Attribute, value: &ValueMatcher) -> bool {
        let text = self.value(attribute);
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

    /// The same, and comparisons of numbers by value.
    pub(crate) fn compares(&self, attribute: Attribute, comparator: Comparator, value: &ValueMatcher) -> bool {
        let kind = match attribute {
            Attribute::Layer(name) => self.column(name.as_str()).map(|column| column.layer.kind),
            _ => None,
        };
        let numbers = number_of(&value.text).zip(number_of(&self.value(attribute)));
        match (comparator, number_of(&value.text)) {
            (Comparator::Equal, Some(_)) if kind == Some(LayerKind::Number) => numbers.is_some_and(|(a, b)| a == b),
            (Comparator::Equal, _) => self.matches(attribute, value),
            (Comparator::Less, _) => numbers.is_some_and(|(other, number)| number < other),
            (Comparator::AtMost, _) => numbers.is_some_and(|(other, number)| number <= other),
            (Comparator::Greater, _) => numbers.is_some_and(|(other, number)| number > other),
            (Comparator::AtLeast, _) => numbers.is_some_and(|(other, number)| number >= other),
        }
    }
}

fn kwic(token: &OracleToken<'_>) -> KwicToken {
    let columns = token.document.columns.iter().map(|column| (column.layer.name.clone(), &column.values[token.at]));
    let layers = columns.filter(|(_, value)| !value.is_empty()).map(|(name, value)| (name, value.clone()));
    KwicToken {
        word: token.word.to_string(),
        lemma: token.lemma.to_string(),
        tag: token.tag.to_string(),
        feats: token.feats.to_string(),
        layers: layers.collect(),
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
    corpus: &'d Corpus,
    pub(crate) document: &'d Document,
    pub(crate) tokens: Vec<OracleToken<'d>>,
}

impl<'d> Text<'d> {
    fn new(corpus: &'d Corpus, document: &'d Document) -> Text<'d> {
        Text { corpus, document, tokens: document.tokens() }
    }

    /// The number of tokens of the whole corpus that have the same value as a token.
    pub(crate) fn frequency(&self, attribute: Attribute, token: &OracleToken<'_>) -> u64 {
        let (value, whole) = (token.value(attribute), self.corpus.whole.as_deref().unwrap_or(self.corpus));
        let having = |document: &Document| {
            document.tokens().iter().filter(|other| other.value(attribute) == value).count() as u64
        };
        whole.documents.iter().map(having).sum()
    }

    /// The matches of a query that start at a token, by their ends, before they are widened.
    fn query_matches_from(&self, query: &Query, start: usize) -> BTreeSet<usize> {
        let paths = self.matches_from(&query.pattern, start).into_iter().filter(|path| {
            query.constraints.iter().all(|constraint| constraint.oracle_holds(self, path, (start, path.at)))
        });
        let ends: BTreeSet<usize> = paths.map(|path| path.at).collect();
        let holds = |end: &usize| query.restrictions.iter().all(|r| r.oracle_holds(self, (start, *end)));
        ends.into_iter().filter(holds).collect()
    }

    /// All matches of a query in the document.
    pub(crate) fn query_matches(&self, query: &Query) -> Vec<TokenSpan> {
        let from = |start| self.query_matches_from(query, start).into_iter().map(move |end| (start, end));
        (0..self.tokens.len()).flat_map(from).collect()
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

/// The ends that a match rule takes.
fn chosen(ends: BTreeSet<usize>, rule: MatchRule) -> Vec<usize> {
    match rule {
        MatchRule::Shortest => ends.first().copied().into_iter().collect(),
        MatchRule::Longest => ends.last().copied().into_iter().collect(),
        MatchRule::All => ends.into_iter().collect(),
    }
}

fn value_matches(value: &ValueMatcher, text: &str) -> bool {
    value.compile().expect("a parsed expression compiles").matches(text)
}

impl Corpus {
    /// The documents that a filter admits, as a corpus of their own.
    pub fn restricted(&self, filter: &Filter) -> Corpus {
        let admitted = self.documents.iter().filter(|document| document.admitted_in(self, filter));
        let whole = self.whole.clone().unwrap_or_else(|| Arc::new(self.clone()));
        Corpus { documents: admitted.cloned().collect(), whole: Some(whole) }
    }

    /// The number of tokens.
    pub fn token_count(&self) -> u64 {
        self.documents.iter().map(|document| document.tokens().len() as u64).sum()
    }

    /// The hits of a query, document by document, from left to right.
    pub fn hits(&self, query: &Query, rule: MatchRule) -> Vec<Hit> {
        let mut hits = Vec::new();
        for (number, document) in self.documents.iter().enumerate() {
            let text = Text::new(self, document);
            let mut found: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
            for start in 0..text.tokens.len() {
                for end in chosen(text.query_matches_from(query, start), rule) {
                    let widen = |expansion: &Expansion| expansion.oracle_of(document, (start, end));
                    let (start, end) = query.expansion.as_ref().map_or((start, end), widen);
                    found.entry(start).or_default().insert(end);
                }
            }
            for (start, ends) in found {
                hits.extend(chosen(ends, rule).into_iter().map(|end| Hit { document: number, start, end }));
            }
        }
        hits.truncate(query.cut.map_or(usize::MAX, |cut| cut as usize));
        hits
    }

    /// Hits with `context` tokens on either side, and some fields of their documents.
    pub fn kwic(&self, hits: &[Hit], context: usize, fields: &[&str]) -> Vec<Line> {
        let line = |hit: &Hit| {
            let document = &self.documents[hit.document];
            let tokens: Vec<KwicToken> = document.tokens().iter().map(kwic).collect();
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
        let texts: Vec<String> = tokens[hit.start..hit.end].iter().map(|token| token.value(attribute)).collect();
        texts.join(" ")
    }

    /// Hits by the values of an attribute or a field.
    pub fn frequencies(&self, hits: &[Hit], by: &By) -> Frequencies {
        let all_tokens = self.token_count();
        let mut counts: BTreeMap<String, (u64, BTreeSet<usize>)> = BTreeMap::new();
        for hit in hits {
            let value = match by {
                By::Attribute(attribute) => self.text(hit, *attribute),
                By::Field(name) => self.documents[hit.document].field(name).to_owned(),
                By::Span(name, attribute) => {
                    self.documents[hit.document].span_value(name, attribute, (hit.start, hit.end))
                }
            };
            let count = counts.entry(value).or_default();
            count.0 += 1;
            count.1.insert(hit.document);
        }
        let row = |(value, (hits, found)): (String, (u64, BTreeSet<usize>))| {
            let having = match by {
                By::Attribute(_) | By::Span(..) => None,
                By::Field(name) => {
                    Some(self.documents.iter().filter(|document| document.field(name) == value).collect::<Vec<_>>())
                }
            };
            let count =
                |documents: &Vec<&Document>| documents.iter().map(|document| document.tokens().len() as u64).sum();
            let tokens: Option<u64> = having.as_ref().map(count);
            let documents = having.map(|documents| documents.len() as u64);
            let hit_documents = (!matches!(by, By::Span(..))).then_some(found.len() as u64);
            let all_documents = documents.unwrap_or(self.documents.len() as u64);
            let document_share = hit_documents.map(|found| found as f64 / all_documents as f64);
            let per_million = per_million(hits as f64, tokens.unwrap_or(all_tokens) as f64);
            FrequencyRow { value, hits, hit_documents, documents, document_share, tokens, per_million }
        };
        let mut rows: Vec<FrequencyRow> = counts.into_iter().map(row).collect();
        rows.sort_by(|a, b| b.hits.cmp(&a.hits).then_with(|| a.value.cmp(&b.value)));
        let by = match by {
            By::Attribute(attribute) => attribute.name().to_owned(),
            By::Field(name) => name.clone(),
            By::Span(name, attribute) => format!("{name}.{attribute}"),
        };
        Frequencies { by, hits: hits.len() as u64, tokens: all_tokens, values: rows.len() as u64, rows }
    }

    /// The collocates of hits.
    pub fn collocates(
        &self,
        hits: &[Hit],
        Around { attribute, window, tag }: Around<'_>,
        order: Association,
        at_least: u64,
    ) -> Collocates {
        let is_counted = |token: &OracleToken<'_>| tag.is_none_or(|tag| token.tag.as_str() == tag);
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
            for at in near.into_iter().filter(|at| is_counted(&tokens[*at])) {
                *together.entry(tokens[at].value(attribute)).or_default() += 1;
            }
        }
        let mut anywhere: BTreeMap<String, u64> = BTreeMap::new();
        for document in &self.documents {
            for token in document.tokens().iter().filter(|token| is_counted(token)) {
                *anywhere.entry(token.value(attribute)).or_default() += 1;
            }
        }
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
            let tokens = document.tokens();
            for (from, to) in document.structures(Structure::Sentence) {
                for gram in tokens[from..to].windows(n) {
                    let texts: Vec<String> = gram.iter().map(|token| token.value(attribute)).collect();
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
            let here = hits.iter().filter(|hit| numbers.contains(&hit.document));
            let found: BTreeSet<usize> = here.clone().map(|hit| hit.document).collect();
            let here = (here.count() as u64, found.len() as u64);
            let days: BTreeSet<Option<Date>> = numbers.iter().map(|number| dates[*number]).collect();
            let collected = (tokens, numbers.len() as u64, sites.len() as u64, days.len() as u32);
            (bin, here, collected)
        };
        let counted: Vec<_> = bins.into_iter().map(counted).collect();
        let counts: Vec<(u64, u64)> = counted.iter().map(|(_, (hits, _), (tokens, ..))| (*hits, *tokens)).collect();
        let spread = overdispersion_of_neighbours(&counts);
        let point = |(bin, (hits, found), collected)| {
            TimelinePoint::of(bin, Some(hits), collected, Some(spread), confidence).with_documents(Some(found))
        };
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
                *counts.entry(token.value(attribute)).or_default() += 1;
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
