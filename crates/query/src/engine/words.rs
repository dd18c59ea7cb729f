//! Counts the words of a corpus or of a part of it: lists, keywords, periods.

use super::count::tokens_in;
use super::scope::Scope;
use super::set::layer_of;
use super::{Engine, Part, Result, Search};
use crate::answer::{Keywords, WordRow, Words};
use crate::cql::Attribute;
use crate::measure::keyness::Keyness;
use crate::measure::per_million;
use crate::syntax::Wanted;
use hashbrown::HashMap;
use std::borrow::Cow;
use std::ops::Range;
use tidings_index::lexicon::Layer;
use tidings_index::{Day, Segment};

/// How often words occur in each of several periods.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PeriodCounts {
    /// The number of each word in its layer of the lexicon.
    pub words: Vec<u32>,
    /// For each word its hits in each period, one word behind the other.
    pub hits: Vec<u32>,
    /// For each word the documents with it in each period.
    pub documents: Vec<u32>,
    /// All tokens of each period.
    pub tokens: Vec<u64>,
}

/// Adds how often each rank occurs in the documents that are asked.
fn count_ranks(segment: &Segment, scope: &Scope, counts: &mut Vec<u32>) {
    counts.clear();
    let everything = 0..segment.meta().documents;
    if scope.is_whole() && scope.documents() == everything {
        counts.extend_from_slice(segment.frequencies());
        return;
    }
    let column = segment.column();
    // As many places as the column could name, so that no rank needs to be checked.
    counts.resize(column.bound(), 0);
    if tokens_in(segment, scope) > u64::from(segment.tokens()) / 2 {
        // Fewer tokens are left out than asked: those are taken away from all.
        counts[..segment.frequencies().len()].copy_from_slice(segment.frequencies());
        let mut next = 0;
        let mut leave_out = |documents: Range<u32>| {
            let tokens = segment.tokens_in(documents);
            column.scan(tokens.start, tokens.end, |_, ranks| {
                ranks.iter().for_each(|rank| counts[*rank as usize] = counts[*rank as usize].saturating_sub(1));
            });
        };
        scope.runs(|documents| {
            leave_out(next..documents.start);
            next = documents.end;
        });
        leave_out(next..segment.meta().documents);
        return;
    }
    scope.runs(|documents| {
        let tokens = segment.tokens_in(documents);
        column.scan(tokens.start, tokens.end, |_, ranks| {
            ranks.iter().for_each(|rank| counts[*rank as usize] += 1);
        });
    });
}

impl Engine {
    pub(super) fn scopes<'p>(&'p self, part: &'p Part) -> impl Iterator<Item = (&'p Segment, &'p Scope)> {
        let segments = self.snapshot().segments().iter().map(|living| living.segment());
        segments.zip(&part.scopes).take_while(|_| !part.is_over())
    }

    /// How often each string of a layer occurs in a part, by its number.
    pub fn string_counts(&self, part: &Part, layer: Layer) -> Cow<'_, [u64]> {
        if part.is_everything {
            return Cow::Borrowed(self.string_totals(layer));
        }
        Cow::Owned(self.count_strings(self.scopes(part), layer))
    }

    /// How often each string of a layer occurs in everything that is not removed; counted when first asked for.
    fn string_totals(&self, layer: Layer) -> &[u64] {
        self.totals[layer as usize].get_or_init(|| {
            let all: Vec<Scope> = self.snapshot().segments().iter().map(|living| Scope::new(living, None)).collect();
            let segments = self.snapshot().segments().iter().map(|living| living.segment());
            self.count_strings(segments.zip(&all), layer)
        })
    }

    fn count_strings<'p>(&self, scopes: impl Iterator<Item = (&'p Segment, &'p Scope)>, layer: Layer) -> Vec<u64> {
        let lexicon = self.lexicon();
        let mut by_lexeme = vec![0u64; lexicon.lexemes() as usize];
        let mut counts = Vec::new();
        for (segment, scope) in scopes {
            if scope.documents().is_empty() {
                continue;
            }
            count_ranks(segment, scope, &mut counts);
            for (lexeme, count) in segment.lexemes().iter().zip(&counts) {
                if let Some(total) = by_lexeme.get_mut(*lexeme as usize) {
                    *total += u64::from(*count);
                }
            }
        }
        let mut totals = vec![0u64; lexicon.count(layer) as usize];
        for (id, count) in lexicon.all_of(layer).into_iter().zip(by_lexeme) {
            if let Some(total) = totals.get_mut(id as usize) {
                *total += count;
            }
        }
        totals
    }

    /// In how many documents of a part each string of a layer occurs, by its number.
    fn string_documents(&self, part: &Part, layer: Layer) -> Vec<u64> {
        let lexicon = self.lexicon();
        let of = lexicon.all_of(layer);
        // For each string the documents with it, and the last of them.
        let mut documents = vec![(0u32, 0u32); lexicon.count(layer) as usize];
        let mut number = 0;
        for (segment, scope) in self.scopes(part).filter(|(_, scope)| !scope.documents().is_empty()) {
            let starts = segment.starts();
            let ids: Vec<u32> =
                segment.lexemes().iter().map(|lexeme| of.get(*lexeme as usize).copied().unwrap_or(0)).collect();
            scope.runs(|run| {
                let tokens = segment.tokens_in(run.clone());
                let mut document = run.start as usize;
                segment.column().scan(tokens.start, tokens.end, |from, ranks| {
                    let mut end = starts[document + 1];
                    for (position, rank) in (from..).zip(ranks) {
                        while position >= end {
                            document += 1;
                            end = starts[document + 1];
                        }
                        let now = number + document as u32 + 1;
                        let id = ids.get(*rank as usize).copied().unwrap_or(0);
                        if let Some((count, last)) = documents.get_mut(id as usize) {
                            *count += u32::from(*last != now);
                            *last = now;
                        }
                    }
                });
            });
            number += segment.meta().documents;
        }
        documents.into_iter().map(|(count, _)| u64::from(count)).collect()
    }

    /// The words of a part that match and occur often enough, the most frequent first.
    pub fn words(&self, part: &Part, attribute: Attribute, matching: Option<&Wanted>, at_least: u64) -> Result<Words> {
        let tokens = self.tokens(part);
        let rows = match attribute {
            Attribute::Lc => self.grams(part, attribute, 1, at_least)?,
            _ => {
                let layer = layer_of(attribute);
                let hits = self.string_counts(part, layer);
                let documents = self.string_documents(part, layer);
                let mut rows = Vec::new();
                for (id, (hits, documents)) in (0..).zip(hits.iter().copied().zip(documents)) {
                    if hits > 0 && hits >= at_least {
                        rows.push((self.lexicon().string(layer, id).to_owned(), hits, documents));
                    }
                }
                rows
            }
        };
        words(attribute, 1, tokens, matching, at_least, rows)
    }

    /// What is typical of one part against another.
    pub fn keywords(
        &self,
        focus: &Part,
        reference: &Part,
        attribute: Attribute,
        n: usize,
        order: Keyness,
        at_least: u64,
    ) -> Result<Keywords> {
        if n > 1 {
            return self.keyterms((focus, reference), attribute, n, order, at_least);
        }
        let layer = layer_of(attribute);
        let (here, there) = (self.string_counts(focus, layer), self.string_counts(reference, layer));
        let lexicon = self.lexicon();
        let counts =
            (0..).zip(here.iter().copied().zip(there.iter().copied())).filter(|(_, (here, there))| here + there > 0);
        let counts = counts.map(|(id, (here, there))| (lexicon.string(layer, id), here, there));
        let mut joined: Vec<(String, u64, u64)> = Vec::new();
        if attribute == Attribute::Lc {
            let mut sums: HashMap<String, (u64, u64)> = HashMap::new();
            for (text, here, there) in counts {
                let sum = sums.entry(text.to_lowercase()).or_default();
                *sum = (sum.0 + here, sum.1 + there);
            }
            joined.extend(sums.into_iter().map(|(text, (here, there))| (text, here, there)));
        } else {
            joined.extend(counts.map(|(text, here, there)| (text.to_owned(), here, there)));
        }
        joined.retain(|(_, here, _)| *here > 0);
        Ok(Keywords::rank(attribute, (self.tokens(focus), self.tokens(reference)), order, at_least, joined))
    }

    /// How often words occur in each of some periods (both ends included), for those that occur at least so often in a
    /// part. One pass over the column of every segment.
    pub fn period_counts(&self, part: &Part, layer: Layer, periods: &[Range<Day>], at_least: u64) -> PeriodCounts {
        let lexicon = self.lexicon();
        let totals = self.string_counts(part, layer);
        let words: Vec<u32> =
            (0..).zip(totals.iter()).filter(|(_, total)| **total >= at_least.max(1)).map(|(id, _)| id).collect();
        let mut rows = vec![u32::MAX; totals.len()];
        words.iter().enumerate().for_each(|(row, id)| rows[*id as usize] = row as u32);
        let of = lexicon.all_of(layer);
        let mut counts = PeriodCounts {
            hits: vec![0; words.len() * periods.len()],
            documents: vec![0; words.len() * periods.len()],
            tokens: vec![0; periods.len()],
            words,
        };
        for (segment, scope) in self.scopes(part) {
            let row_of = |lexeme: &u32| of.get(*lexeme as usize).and_then(|id| rows.get(*id as usize)).copied();
            // Ranks that are not counted go to a row of their own at the end.
            let spare = counts.words.len() as u32;
            let row_of: Vec<u32> =
                segment.lexemes().iter().map(|lexeme| row_of(lexeme).unwrap_or(u32::MAX).min(spare)).collect();
            let mut here = vec![(0u32, 0u32, u32::MAX); counts.words.len() + 1];
            for (period, days) in periods.iter().enumerate() {
                let last = Day(days.end.0.saturating_sub(1));
                let documents = segment.documents_between(days.start, last);
                if documents.is_empty() {
                    continue;
                }
                here.fill((0, 0, u32::MAX));
                for document in documents.filter(|document| scope.documents().contains(document)) {
                    if !scope.contains(document) {
                        continue;
                    }
                    let tokens = segment.tokens_of(document);
                    counts.tokens[period] += tokens.len() as u64;
                    segment.column().scan(tokens.start, tokens.end, |_, ranks| {
                        for rank in ranks {
                            let row = row_of.get(*rank as usize).copied().unwrap_or(spare);
                            let count = &mut here[row as usize];
                            count.0 += 1;
                            count.1 += u32::from(count.2 != document);
                            count.2 = document;
                        }
                    });
                }
                for (row, (hits, documents, _)) in here[..counts.words.len()].iter().enumerate() {
                    counts.hits[row * periods.len() + period] += hits;
                    counts.documents[row * periods.len() + period] += documents;
                }
            }
        }
        counts
    }
}

/// Whether every token of a value has a letter or a digit: punctuation is part of no term, and few people look for commas.
pub fn is_wordlike(value: &str) -> bool {
    value.split(' ').all(|token| token.chars().any(char::is_alphanumeric))
}

pub(super) fn words(
    attribute: Attribute,
    n: usize,
    tokens: u64,
    matching: Option<&Wanted>,
    at_least: u64,
    counts: Vec<(String, u64, u64)>,
) -> Result<Words> {
    let matcher = matching.map(Wanted::matcher).transpose()?;
    let wanted = |value: &str| matcher.as_ref().is_none_or(|matcher| matcher.matches(value));
    let mut rows: Vec<WordRow> = counts
        .into_iter()
        .filter(|(value, hits, _)| *hits >= at_least && !value.trim().is_empty() && wanted(value))
        .map(|(value, hits, documents)| WordRow {
            value,
            hits,
            documents,
            per_million: per_million(hits as f64, tokens as f64).unwrap_or(0.0),
        })
        .collect();
    rows.sort_unstable_by(|a, b| b.hits.cmp(&a.hits).then_with(|| a.value.cmp(&b.value)));
    Ok(Words { attribute, n: n as u32, tokens, rows })
}

impl Search<'_> {
    /// How often each string of a layer occurs in all documents that are asked, by number.
    pub(crate) fn anywhere(&self, layer: Layer) -> Cow<'_, [u64]> {
        if self.is_unfiltered() {
            return Cow::Borrowed(self.engine.string_totals(layer));
        }
        let scopes = (0..self.segments()).map(|index| (self.segment(index), self.scope(index)));
        Cow::Owned(self.engine.count_strings(scopes, layer))
    }
}
