//! Word lists, keywords and comparisons of subcorpora.

use super::count::tokens_in;
use super::parallel;
use super::scope::Scope;
use super::set::layer_of;
use super::{Engine, Limits, Result, Search, Subcorpus, WordDifferences};
use crate::cql::Attribute;
use crate::measure::keyness::Keyness;
use crate::measure::per_million;
use crate::merge::Merge;
use crate::question::{CompareConfig, Comparison, ContrastBasis, KeywordUnit, Keywords, PartSize, WordRow, Words};
use crate::syntax::ValueMatcher;
use crate::trend::Difference;
use hashbrown::HashMap;
use std::borrow::Cow;
use std::ops::Range;
use tidings_index::Segment;
use tidings_index::lexicon::Layer;

/// Counts each lexeme of a segment in the selected documents.
fn count_lexemes(segment: &Segment, scope: &Scope, limits: &Limits, counts: &mut Vec<u32>) {
    counts.clear();
    let everything = 0..segment.meta().documents;
    if scope.is_whole() && scope.documents() == everything {
        counts.extend_from_slice(segment.frequencies().all());
        limits.saw(segment.tokens().into());
        return;
    }
    let column = segment.column();
    // One entry for every id that the column can encode, so that none needs a check.
    counts.resize(column.bound(), 0);
    if tokens_in(segment, scope) > u64::from(segment.tokens()) / 2 {
        // Fewer tokens are left out than selected: subtract them from the total.
        counts[..segment.frequencies().len()].copy_from_slice(segment.frequencies().all());
        let (mut next, mut seen) = (0, 0);
        let mut leave_out = |documents: Range<u32>| {
            let tokens = segment.tokens_in(documents);
            column.scan(tokens.start, tokens.end, |_, local_ids| {
                local_ids
                    .iter()
                    .for_each(|local_id| counts[*local_id as usize] = counts[*local_id as usize].saturating_sub(1));
            });
        };
        scope.pieces(segment, limits, |documents| {
            seen += segment.tokens_in(documents.clone()).len() as u64;
            leave_out(next..documents.start);
            next = documents.end;
        });
        match limits.cut_off() {
            None => {
                leave_out(next..segment.meta().documents);
                limits.saw(seen);
            }
            // What was not subtracted yet is not in the selected documents.
            Some(_) => counts.fill(0),
        }
        return;
    }
    scope.pieces(segment, limits, |documents| {
        let tokens = segment.tokens_in(documents);
        limits.saw(tokens.len() as u64);
        column.scan(tokens.start, tokens.end, |_, local_ids| {
            local_ids.iter().for_each(|local_id| counts[*local_id as usize] += 1);
        });
    });
}

/// The hits and documents of a word, and the last of these, as the number of its block and that in the segment.
#[derive(Debug, Clone, Copy, Default)]
struct WordCount {
    hits: u64,
    documents: u32,
    last: (u32, u32),
}

impl Merge for WordCount {
    fn merge_from(&mut self, other: WordCount) {
        self.hits += other.hits;
        self.documents += other.documents;
    }
}

/// Counts the words of some documents of a block. `words` has the word of each lexeme of the segment.
fn count_words(segment: &Segment, documents: Range<u32>, block: u32, words: &[u32], counts: &mut [WordCount]) {
    let (starts, tokens) = (segment.starts(), segment.tokens_in(documents.clone()));
    let mut document = documents.start as usize;
    segment.column().scan(tokens.start, tokens.end, |from, local_ids| {
        let mut end = starts[document + 1];
        for (position, local_id) in (from..).zip(local_ids) {
            while position >= end {
                document += 1;
                end = starts[document + 1];
            }
            let now = (block, document as u32 + 1);
            let word = words.get(*local_id as usize).copied().unwrap_or(0);
            if let Some(count) = counts.get_mut(word as usize) {
                count.hits += 1;
                count.documents += u32::from(count.last != now);
                count.last = now;
            }
        }
    });
}

impl Engine {
    pub(super) fn scopes<'p>(&'p self, subcorpus: &'p Subcorpus) -> impl Iterator<Item = (&'p Segment, &'p Scope)> {
        let segments = self.snapshot().segments().iter().map(|live| live.segment());
        // Only before further work, so that limits stop nothing that is complete.
        let is_over = |segment, scope| tokens_in(segment, scope) > 0 && subcorpus.limits().is_over();
        segments.zip(&subcorpus.scopes).take_while(move |(segment, scope)| !is_over(segment, scope))
    }

    /// The frequency of each string of a layer in a subcorpus, by number.
    pub fn string_counts(&self, subcorpus: &Subcorpus, layer: Layer) -> Cow<'_, [u64]> {
        if subcorpus.is_everything {
            return Cow::Borrowed(self.string_totals(layer));
        }
        Cow::Owned(self.count_strings(self.scopes(subcorpus), subcorpus.limits(), layer))
    }

    /// The frequency of each string of a layer in the whole corpus; computed on first use.
    pub(super) fn string_totals(&self, layer: Layer) -> &[u64] {
        // A layer that the index does not declare has the empty string only; requests check names before they count.
        let Some(totals) = self.totals.get(layer.index()) else { return &[0] };
        totals.get_or_init(|| self.by_string(self.lexeme_totals(), layer))
    }

    /// For each string of the layer of an attribute the number of tokens with the same value, in the whole corpus.
    pub(super) fn value_frequencies(&self, attribute: Attribute) -> Vec<u64> {
        let totals = self.string_totals(layer_of(attribute, self.lexicon()));
        match self.shared(attribute) {
            None => totals.to_vec(),
            Some(shared) => {
                let sums = self.joined(attribute, Cow::Borrowed(totals));
                shared.iter().map(|first| sums.get(*first as usize).copied().unwrap_or(0)).collect()
            }
        }
    }

    /// Sums the counts of strings with the same value at the first of these strings.
    pub(super) fn joined<'c>(&self, attribute: Attribute, counts: Cow<'c, [u64]>) -> Cow<'c, [u64]> {
        let Some(shared) = self.shared(attribute) else { return counts };
        let mut sums = vec![0; counts.len()];
        for (first, count) in shared.iter().zip(counts.iter()) {
            if let Some(sum) = sums.get_mut(*first as usize) {
                *sum += count;
            }
        }
        Cow::Owned(sums)
    }

    /// For each string of the layer the first string with the same value; `None` if values are distinct.
    pub(super) fn shared(&self, attribute: Attribute) -> Option<Cow<'_, [u32]>> {
        match attribute {
            Attribute::Lc => Some(Cow::Borrowed(self.folded())),
            _ if attribute.is_derived() => Some(Cow::Owned(self.first_with_value(attribute))),
            _ => None,
        }
    }

    /// For each word the first word that differs from it in case only.
    pub(super) fn folded(&self) -> &[u32] {
        self.folded.get_or_init(|| self.first_with_value(Attribute::Lc))
    }

    fn first_with_value(&self, attribute: Attribute) -> Vec<u32> {
        let (lexicon, layer) = (self.lexicon(), layer_of(attribute, self.lexicon()));
        let mut first: HashMap<Cow<'_, str>, u32> = HashMap::new();
        let numbers = 0..lexicon.count(layer);
        numbers.map(|id| *first.entry(attribute.value(lexicon.string(layer, id))).or_insert(id)).collect()
    }

    /// The frequency of each lexeme in the whole corpus.
    pub(super) fn lexeme_totals(&self) -> Vec<u64> {
        let all: Vec<Scope> = self.snapshot().segments().iter().map(|live| Scope::new(live, None)).collect();
        let segments = self.snapshot().segments().iter().map(|live| live.segment());
        self.count_by_lexeme(segments.zip(&all), &Limits::default())
    }

    fn count_by_lexeme<'p>(&self, scopes: impl Iterator<Item = (&'p Segment, &'p Scope)>, limits: &Limits) -> Vec<u64> {
        let mut by_lexeme = vec![0u64; self.lexicon().lexemes() as usize];
        let mut counts = Vec::new();
        for (segment, scope) in scopes {
            if scope.documents().is_empty() {
                continue;
            }
            count_lexemes(segment, scope, limits, &mut counts);
            for (lexeme, count) in segment.lexemes().all().iter().zip(&counts) {
                if let Some(total) = by_lexeme.get_mut(*lexeme as usize) {
                    *total += u64::from(*count);
                }
            }
        }
        by_lexeme
    }

    fn count_strings<'p>(
        &self,
        scopes: impl Iterator<Item = (&'p Segment, &'p Scope)>,
        limits: &Limits,
        layer: Layer,
    ) -> Vec<u64> {
        self.by_string(self.count_by_lexeme(scopes, limits), layer)
    }

    /// The test whether lexemes have a tag; all pass without one, and none if the corpus does not have it.
    pub(super) fn is_of_tag(&self, tag: Option<&str>) -> impl Fn(u32) -> bool {
        let lexicon = self.lexicon();
        let asked = tag.map(|tag| lexicon.find(Layer::Tag, tag));
        move |lexeme| asked.is_none_or(|tag| tag == Some(lexicon.of(lexeme, Layer::Tag)))
    }

    /// Sums counts of lexemes by the strings of a layer.
    fn by_string(&self, by_lexeme: Vec<u64>, layer: Layer) -> Vec<u64> {
        let lexicon = self.lexicon();
        let mut totals = vec![0u64; lexicon.count(layer) as usize];
        for (id, count) in lexicon.all_of(layer).into_iter().zip(by_lexeme) {
            if let Some(total) = totals.get_mut(id as usize) {
                *total += count;
            }
        }
        totals
    }

    /// The hits and documents of each value of an attribute, by number; spellings with the same value have the number of
    /// the first.
    pub(super) fn value_counts(&self, subcorpus: &Subcorpus, attribute: Attribute) -> Vec<(u64, u64)> {
        let lexicon = self.lexicon();
        let (layer, of) = (layer_of(attribute, self.lexicon()), self.words_of_lexemes(attribute));
        let parts: Vec<(&Segment, &Scope)> = self.scopes(subcorpus).collect();
        let blocks = parallel::blocks(subcorpus.limits(), parts.iter().copied());
        let counts = parallel::fold(subcorpus.limits(), blocks.len(), |tasks| {
            let mut counts = vec![WordCount::default(); lexicon.count(layer) as usize];
            // The numbers of the words of the segment that was read last.
            let mut ids: (usize, Vec<u32>) = (usize::MAX, Vec::new());
            for (number, block) in tasks.map(|task| (task as u32, &blocks[task])) {
                let (segment, scope) = parts[block.index];
                if ids.0 != block.index {
                    let word = |lexeme: &u32| of.get(*lexeme as usize).copied().unwrap_or(0);
                    ids = (block.index, segment.lexemes().all().iter().map(word).collect());
                }
                let scope = scope.within(segment, block.documents.clone());
                scope.pieces(segment, subcorpus.limits(), |run| {
                    subcorpus.limits().saw(segment.tokens_in(run.clone()).len() as u64);
                    count_words(segment, run, number, &ids.1, &mut counts);
                });
            }
            counts
        });
        counts.into_iter().map(|count| (count.hits, count.documents.into())).collect()
    }

    /// The words that match and occur at least `at_least` times, the most frequent first.
    pub fn words(
        &self,
        subcorpus: &Subcorpus,
        attribute: Attribute,
        matching: Option<&ValueMatcher>,
        at_least: u64,
    ) -> Result<Words> {
        let tokens = self.tokens(subcorpus);
        subcorpus.limits().begin_pass(tokens);
        let counts = (0..).zip(self.value_counts(subcorpus, attribute));
        let text = |id: u32| self.name(attribute, id);
        let counts = counts.filter(|(_, (hits, _))| *hits >= at_least.max(1));
        let rows = counts.map(|(id, (hits, documents))| (text(id), hits, documents)).collect();
        words(attribute, 1, tokens, matching, at_least, rows)
    }

    /// The keywords of a focus against a reference subcorpus.
    pub fn keywords(
        &self,
        focus: &Subcorpus,
        reference: &Subcorpus,
        attribute: Attribute,
        n: usize,
        order: Keyness,
        at_least: u64,
    ) -> Result<Keywords> {
        if n > 1 {
            return self.keyterms((focus, reference), attribute, n, order, at_least);
        }
        let tokens = (self.tokens(focus), self.tokens(reference));
        focus.limits().begin_pass(tokens.0 + tokens.1);
        let values = |subcorpus: &Subcorpus| {
            self.joined(attribute, self.string_counts(subcorpus, layer_of(attribute, self.lexicon())))
        };
        let (here, there) = (values(focus), values(reference));
        let counts = (0..).zip(here.iter().copied().zip(there.iter().copied()));
        let counts = counts.filter(|(_, (here, _))| *here >= at_least.max(1));
        let counts = counts.map(|(id, (here, there))| (self.name(attribute, id), here, there));
        Ok(Keywords::rank(attribute, tokens, order, at_least, counts))
    }

    /// The keywords of a focus by documents with a word, not by hits.
    pub fn keywords_by_documents(
        &self,
        (focus, reference): (&Subcorpus, &Subcorpus),
        attribute: Attribute,
        order: Keyness,
        at_least: u64,
    ) -> Keywords {
        focus.limits().begin_pass(self.tokens(focus) + self.tokens(reference));
        let counts = [focus, reference].map(|subcorpus| self.value_counts(subcorpus, attribute));
        let there = |id: usize| counts[1].get(id).map_or(0, |(_, documents)| *documents);
        let often = counts[0].iter().enumerate().filter(|(_, (_, documents))| *documents >= at_least.max(1));
        let words = often.map(|(id, (_, here))| (self.name(attribute, id as u32), *here, there(id)));
        let documents = (self.documents(focus), self.documents(reference));
        let found = Keywords::rank(attribute, documents, order, at_least, words);
        let (focus_tokens, reference_tokens) = (self.tokens(focus), self.tokens(reference));
        Keywords { unit: KeywordUnit::Documents, focus_tokens, reference_tokens, ..found }
    }

    /// The words that are significantly more or less frequent in one subcorpus than in another, such as two periods.
    pub fn compare(
        &self,
        before: &Subcorpus,
        after: &Subcorpus,
        attribute: Attribute,
        config: &CompareConfig,
    ) -> Comparison {
        let size = |part: &Subcorpus| PartSize { tokens: self.tokens(part), documents: self.documents(part) };
        let sizes = (size(before), size(after));
        before.limits().begin_pass(sizes.0.tokens + sizes.1.tokens);
        let counts = [before, after].map(|subcorpus| self.value_counts(subcorpus, attribute));
        let WordDifferences { basis, words } = self.word_differences(before, after, attribute, config);
        let words = words.into_iter().map(|(word, difference)| {
            let [before, after] =
                [0, 1].map(|part: usize| counts[part].get(word as usize).copied().unwrap_or_default());
            (self.name(attribute, word), before, after, difference)
        });
        Comparison::of(attribute, sizes, basis, config, words)
    }

    /// The differences of keywords by value, and what their test rests on.
    pub fn keyword_differences(
        &self,
        focus: &Subcorpus,
        reference: &Subcorpus,
        attribute: Attribute,
        config: &CompareConfig,
    ) -> (ContrastBasis, HashMap<String, Difference>) {
        let WordDifferences { basis, words } = self.word_differences(reference, focus, attribute, config);
        let words = words.into_iter().map(|(word, difference)| (self.name(attribute, word), difference));
        (basis, words.collect())
    }
}

/// Returns true if every token of a value has a letter or a digit, that is, is not punctuation.
pub fn is_wordlike(value: &str) -> bool {
    value.split(' ').all(|token| token.chars().any(char::is_alphanumeric))
}

/// Ranks words or n-grams: those that match and occur at least `at_least` times, the most frequent first.
pub(crate) fn words(
    attribute: Attribute,
    n: usize,
    tokens: u64,
    matching: Option<&ValueMatcher>,
    at_least: u64,
    counts: Vec<(String, u64, u64)>,
) -> Result<Words> {
    let matcher = matching.map(ValueMatcher::compile).transpose()?;
    let fits = |value: &str| matcher.as_ref().is_none_or(|matcher| matcher.matches(value));
    let mut rows: Vec<WordRow> = counts
        .into_iter()
        .filter(|(value, hits, _)| *hits >= at_least && !value.trim().is_empty() && fits(value))
        .map(|(value, hits, documents)| WordRow {
            value,
            hits,
            documents,
            per_million: per_million(hits as f64, tokens as f64),
        })
        .collect();
    rows.sort_unstable_by(|a, b| b.hits.cmp(&a.hits).then_with(|| a.value.cmp(&b.value)));
    Ok(Words { attribute, n: n as u32, tokens, values: rows.len() as u64, rows })
}

impl Search<'_> {
    /// The frequency of each string of a layer in the selected documents, by number, or that of its tokens with a tag.
    pub(crate) fn anywhere(&self, layer: Layer, tag: Option<&str>, limits: &Limits) -> Cow<'_, [u64]> {
        let (engine, is_unfiltered) = (self.engine, self.is_unfiltered());
        if is_unfiltered && tag.is_none() {
            return Cow::Borrowed(engine.string_totals(layer));
        }
        let scopes = (0..self.segments()).map(|index| (self.segment(index), self.scope(index)));
        let mut by_lexeme = match is_unfiltered {
            true => engine.lexeme_totals(),
            false => engine.count_by_lexeme(scopes, limits),
        };
        let is_counted = engine.is_of_tag(tag);
        (0..).zip(&mut by_lexeme).filter(|(lexeme, _)| !is_counted(*lexeme)).for_each(|(_, count)| *count = 0);
        Cow::Owned(engine.by_string(by_lexeme, layer))
    }
}
