//! Hits of several tokens as terms: counted by the values of their tokens, with the form in which each is usually written.

use super::Search;
use super::attribute_counts::ValueKey;
use super::set::layer_of;
use super::{Limit, Limits};
use crate::cql::Attribute;
use hashbrown::{HashMap, HashSet};
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// A term: the values of its tokens.
pub type TermWords = Vec<String>;

/// The maximum number of distinct forms in memory.
const MAX_FORMS: usize = 1 << 20;

impl Search<'_> {
    /// The terms among the hits, each of its tokens by the value of an attribute: hits and documents of those with at least
    /// some hits. What is found when a limit stops the search is partial; [`Limits::cut_off`] says so.
    pub fn terms(&self, attribute: Attribute, at_least: u64, limits: &Limits) -> Vec<(TermWords, (u64, u64))> {
        let found = self.value_counts(attribute, None, limits);
        let often = found.counts.iter().filter(|(_, count)| count.hits >= at_least);
        often.map(|(key, count)| (self.value_words(attribute, key), (count.hits, count.documents))).collect()
    }

    /// Hits and documents of some terms. Others take no memory.
    pub fn counts_of_terms(&self, attribute: Attribute, terms: &[TermWords], limits: &Limits) -> Vec<(u64, u64)> {
        let keys = self.keys_of(attribute, terms);
        let asked: HashSet<ValueKey> = keys.iter().flatten().cloned().collect();
        let found = self.value_counts(attribute, Some(&asked), limits);
        let count = |key: &Option<ValueKey>| {
            let count = found.counts.get(key.as_ref()?)?;
            Some((count.hits, count.documents))
        };
        keys.iter().map(|key| count(key).unwrap_or_default()).collect()
    }

    /// The forms of some terms as they are written, with their hits.
    pub fn forms_of_terms(
        &self,
        attribute: Attribute,
        terms: &[TermWords],
        limits: &Limits,
    ) -> Vec<BTreeMap<String, u64>> {
        let keys = self.keys_of(attribute, terms).into_iter().enumerate();
        let number_of: HashMap<ValueKey, usize> = keys.filter_map(|(number, key)| Some((key?, number))).collect();
        let (number, word) = (self.numbering(attribute), self.numbering(Attribute::Word));
        self.begin_pass(limits);
        let mut counts: HashMap<(usize, ValueKey), u64> = HashMap::new();
        let mut key = Vec::new();
        for index in 0..self.segments() {
            let segment = self.segment(index);
            let is_complete = self.each_in(index, limits, &mut |start, end| {
                key.clear();
                key.extend((start..end).map(|position| number(segment.lexeme_at(position))));
                let Some(term) = number_of.get(&key[..]) else { return ControlFlow::Continue(()) };
                let form: ValueKey = (start..end).map(|position| word(segment.lexeme_at(position))).collect();
                if counts.len() >= MAX_FORMS {
                    limits.strike(Limit::Values);
                    return ControlFlow::Break(());
                }
                *counts.entry((*term, form)).or_default() += 1;
                ControlFlow::Continue(())
            });
            if !is_complete {
                break;
            }
        }
        let mut forms = vec![BTreeMap::new(); terms.len()];
        for ((term, form), hits) in counts {
            *forms[term].entry(self.value_words(Attribute::Word, &form).join(" ")).or_default() += hits;
        }
        forms
    }

    /// The numbers of the values of each term; nothing if the corpus does not have one of them.
    fn keys_of(&self, attribute: Attribute, terms: &[TermWords]) -> Vec<Option<ValueKey>> {
        let numbers = self.numbers_of(attribute, terms.iter().flatten().map(String::as_str).collect());
        let key = |term: &TermWords| term.iter().map(|word| numbers.get(word.as_str()).copied()).collect();
        terms.iter().map(key).collect()
    }

    /// The numbers of some values, of those that the corpus has.
    pub(super) fn numbers_of<'v>(&self, attribute: Attribute, words: HashSet<&'v str>) -> HashMap<&'v str, u32> {
        let (layer, lexicon) = (layer_of(attribute, self.engine.lexicon()), self.engine.lexicon());
        let mut numbers: HashMap<&str, u32> = HashMap::new();
        match self.engine.shared(attribute) {
            None => numbers.extend(words.iter().filter_map(|word| Some((*word, lexicon.find(layer, word)?)))),
            // The string with the number of a value may be written in another way than the value.
            Some(shared) => {
                for (string, number) in (0..lexicon.count(layer)).zip(shared.iter()) {
                    if let Some(word) = words.get(&*attribute.value(lexicon.string(layer, string))) {
                        numbers.insert(word, *number);
                    }
                }
            }
        }
        numbers
    }
}
