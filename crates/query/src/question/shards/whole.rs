//! What only the whole corpus knows, for the searches of its shards: how frequent words are in it, and which hits are the first.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

use super::Part;
use crate::cql::{Attribute, MatchRule, Query};
use crate::engine::{Order, Search};
use crate::filter::Filter;
use crate::merge::Merge;
use crate::question::{Parsed, QuestionContext, QuestionError};

/// The search of a part.
#[derive(Clone, Copy)]
pub(in crate::question) struct Searched<'p> {
    pub(in crate::question) q: &'p Parsed<Query>,
    pub(in crate::question) rule: MatchRule,
    pub(in crate::question) filter: Option<&'p Filter>,
    /// Whether sentences are rated, which needs to know which words are rare.
    pub(in crate::question) rates_sentences: bool,
    /// Whether hits of one document are asked for, of which `cut` keeps the first.
    pub(in crate::question) is_of_document: bool,
}

/// The frequencies of words in all documents of a client.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(in crate::question) struct Frequencies {
    words: BTreeMap<String, u64>,
    /// The tokens of all documents.
    tokens: u64,
}

impl Merge for Frequencies {
    fn merge_from(&mut self, other: Frequencies) {
        self.words.merge_from(other.words);
        self.tokens.merge_from(other.tokens);
    }
}

/// Frequencies that several requests share.
#[derive(Debug, Clone)]
struct Shared(Arc<Frequencies>);

impl Serialize for Shared {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Shared {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Shared, D::Error> {
        Ok(Shared(Arc::new(Frequencies::deserialize(deserializer)?)))
    }
}

/// What a shard is told of the whole corpus.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct WholeCorpus {
    frequencies: Vec<(Attribute, Shared)>,
    /// The hits of the shard that `cut` keeps: of those that are counted, and of those that have lines.
    cut: Option<(u64, u64)>,
    /// The same for all shards, on the gateway.
    #[serde(skip)]
    cuts: Arc<Vec<(u64, u64)>>,
}

impl WholeCorpus {
    /// Whether there is nothing to tell.
    pub(super) fn is_empty(&self) -> bool {
        self.frequencies.is_empty() && self.cut.is_none()
    }

    /// What a shard of a number is told.
    pub(super) fn of_shard(&self, shard: usize) -> WholeCorpus {
        WholeCorpus { cut: self.cuts.get(shard).copied(), ..self.clone() }
    }

    /// The tokens with a value of an attribute; nothing if that is not known.
    pub(crate) fn frequency(&self, attribute: Attribute) -> Option<impl Fn(&str) -> u64> {
        let (_, known) = self.frequencies.iter().find(|(known, _)| *known == attribute)?;
        Some(move |value: &str| known.0.words.get(value).copied().unwrap_or(0))
    }

    /// The tokens of all documents, if the frequencies of an attribute are known.
    pub(crate) fn tokens(&self, attribute: Attribute) -> Option<u64> {
        let (_, known) = self.frequencies.iter().find(|(known, _)| *known == attribute)?;
        Some(known.0.tokens)
    }

    /// The hits of the shard that `cut` keeps, of those that are counted or of those that have lines.
    pub(crate) fn cut(&self, is_counted: bool) -> Option<u64> {
        self.cut.map(|(counted, lines)| if is_counted { counted } else { lines })
    }
}

/// The hits of each shard that `cut` keeps: of those that are counted, and of those that have lines.
type Cuts = Arc<Vec<(u64, u64)>>;

/// What a question has learned of the whole corpus.
#[derive(Debug, Default)]
pub struct WholeMemo {
    frequencies: Mutex<Vec<(Attribute, Arc<Frequencies>)>>,
    cuts: Mutex<Vec<(String, Cuts)>>,
}

/// The frequencies of an attribute.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct FrequenciesPart {
    attribute: Attribute,
}

impl Part for FrequenciesPart {
    const NAME: &'static str = "frequencies";
    type Sum = Frequencies;

    fn compute(&self, context: &QuestionContext<'_>) -> Result<Frequencies, QuestionError> {
        let words = context.engine.top_words(self.attribute, usize::MAX, 1);
        Ok(Frequencies { words, tokens: context.engine.snapshot().tokens() })
    }
}

/// The days of the first hits, of those that are counted and of those that have lines.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct FirstHitsPart {
    q: Parsed<Query>,
    rule: MatchRule,
    filter: Option<Parsed<Filter>>,
    hits: u64,
}

/// Hits by day, up to the first so many.
type FirstDays = Vec<(i32, u64)>;

impl Part for FirstHitsPart {
    const NAME: &'static str = "first-hits";
    type Sum = (FirstDays, FirstDays);

    fn compute(&self, context: &QuestionContext<'_>) -> Result<Self::Sum, QuestionError> {
        let days = |search: Search<'_>| {
            let (mut days, mut left) = (FirstDays::new(), self.hits);
            search.in_order(Order::Oldest, &context.limits, &mut |hit| {
                let day = search.day_of(&hit).0;
                match days.last_mut() {
                    Some((last, hits)) if *last == day => *hits += 1,
                    _ => days.push((day, 1)),
                }
                left -= 1;
                if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            days
        };
        let counted = days(context.search(&self.q, self.rule, self.filter.as_deref())?);
        let lines = match context.privacy.is_limited(context.all) {
            true => days(context.search_lines(&self.q, self.rule, self.filter.as_deref())?),
            false => counted.clone(),
        };
        Ok((counted, lines))
    }

    fn searched(&self) -> Option<Searched<'_>> {
        let Self { q, rule, filter, .. } = self;
        Some(Searched { q, rule: *rule, filter: filter.as_deref(), rates_sentences: false, is_of_document: false })
    }
}

/// The hits of each shard among the first of all: of a day, those of the first shard come first.
fn first_of_shards(shards: &[FirstDays], mut left: u64) -> Vec<u64> {
    let mut days: Vec<(i32, usize, u64)> = Vec::new();
    for (shard, of_shard) in shards.iter().enumerate() {
        days.extend(of_shard.iter().map(|(day, hits)| (*day, shard, *hits)));
    }
    days.sort_unstable();
    let mut kept = vec![0; shards.len()];
    for (_, shard, hits) in days {
        let taken = hits.min(left);
        kept[shard] += taken;
        left -= taken;
    }
    kept
}

/// The attributes of which a query asks for frequencies, perhaps with some that only a text of it names.
fn frequency_attributes(query: &Query) -> Vec<Attribute> {
    let text = query.to_string();
    let inside = text.match_indices("f(").filter_map(|(at, start)| text[at + start.len()..].split(')').next());
    let names = inside.map(|name| name.rsplit('.').next().unwrap_or(name));
    names.filter_map(Attribute::named).collect()
}

impl QuestionContext<'_> {
    /// What a search has to know of the whole corpus.
    pub(super) fn whole_corpus(&self, searched: &Searched<'_>) -> Result<WholeCorpus, QuestionError> {
        let mut attributes = frequency_attributes(searched.q);
        if searched.rates_sentences {
            attributes.push(Attribute::Word);
        }
        let mut whole = WholeCorpus::default();
        for attribute in attributes {
            // Of an attribute that the corpus does not have, the shards say so.
            let is_known = self.check_attribute("q", attribute).is_ok();
            if is_known && whole.frequency(attribute).is_none() {
                whole.frequencies.push((attribute, Shared(self.frequencies(attribute)?)));
            }
        }
        if let Some(cut) = searched.q.cut {
            whole.cuts = match searched.is_of_document {
                true => Arc::new(vec![(cut, cut); self.shards.map_or(0, |shards| shards.number)]),
                false => self.cuts(searched, cut)?,
            };
        }
        Ok(whole)
    }

    fn frequencies(&self, attribute: Attribute) -> Result<Arc<Frequencies>, QuestionError> {
        let known = |memo: &[(Attribute, Arc<Frequencies>)]| {
            memo.iter().find(|(known, _)| *known == attribute).map(|(_, frequencies)| frequencies.clone())
        };
        if let Some(known) = known(&self.memo.frequencies.lock().expect("no panic while held")) {
            return Ok(known);
        }
        let found = Arc::new(self.gather(&FrequenciesPart { attribute })?);
        self.memo.frequencies.lock().expect("no panic while held").push((attribute, found.clone()));
        Ok(found)
    }

    fn cuts(&self, searched: &Searched<'_>, cut: u64) -> Result<Cuts, QuestionError> {
        let Searched { q, rule, filter, .. } = *searched;
        let q = Parsed::of(Query { cut: None, ..Query::clone(q) });
        let key = format!("{cut}\0{rule:?}\0{}\0{}", *q, filter.map(ToString::to_string).unwrap_or_default());
        let known =
            |memo: &[(String, Cuts)]| memo.iter().find(|(known, _)| *known == key).map(|(_, cuts)| cuts.clone());
        if let Some(known) = known(&self.memo.cuts.lock().expect("no panic while held")) {
            return Ok(known);
        }
        let part = FirstHitsPart { q, rule, filter: Parsed::of_filter(filter), hits: cut };
        let found = self.gather_each(|_| Some(&part))?;
        let (counted, lines): (Vec<FirstDays>, Vec<FirstDays>) =
            found.into_iter().map(Option::unwrap_or_default).unzip();
        let cuts = first_of_shards(&counted, cut).into_iter().zip(first_of_shards(&lines, cut));
        let cuts = Arc::new(cuts.collect::<Vec<_>>());
        self.memo.cuts.lock().expect("no panic while held").push((key, cuts.clone()));
        Ok(cuts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_hits_of_all_shards_are_by_day_and_then_by_shard() {
        let shards = [vec![(1, 2), (3, 5)], vec![(1, 1), (2, 2)]];
        let first = |cut: u64| first_of_shards(&shards, cut);
        assert_eq!((first(1), first(3), first(4)), (vec![1, 0], vec![2, 1], vec![2, 2]));
        assert_eq!((first(6), first(99)), (vec![3, 3], vec![7, 3]));
    }

    #[test]
    fn frequencies_are_asked_of_attributes_in_conditions_and_constraints() {
        let of = |text: &str| frequency_attributes(&crate::cql::parse(text).unwrap());
        assert_eq!(of("[f(lemma)>3 & lc=\"a\"]"), [Attribute::Lemma]);
        assert_eq!(of("a:[] b:[] :: f(a.word) > f(b.word)"), [Attribute::Word, Attribute::Word]);
        assert!(of("[lc=\"storm\"]").is_empty());
    }
}
