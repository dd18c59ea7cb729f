//! Collocates: words in the neighbourhood of hits.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::ser::SerializeMap as _;
use serde::{Deserialize, Serialize, Serializer};
use std::borrow::Cow;

use super::params::{ContentParams, SearchParams, TestedAttributeParams, WordRowParams};
use super::shards::{MarginalsPart, NearPart, PlacesNearPart, SearchPart};
use super::{Answered, Cost, Exactness, Question, QuestionContext, QuestionError, Request};
use crate::cql::{Attribute, MatchRule};
use crate::engine::Around;
use crate::filter::Filter;
use crate::measure::association::{Association, Pair};

/// Ranks the words in the neighbourhood of hits by an association measure.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct CollocRequest {
    /// The query.
    #[serde(flatten)]
    pub search: SearchParams,
    /// The attribute to count.
    #[serde(flatten)]
    pub attribute: TestedAttributeParams,
    /// Tokens before the hit.
    #[serde(default = "usual_side")]
    #[schemars(range(min = 0, max = 1000))]
    pub left: u32,
    /// Tokens after the hit.
    #[serde(default = "usual_side")]
    #[schemars(range(min = 0, max = 1000))]
    pub right: u32,
    /// The whole sentence instead of a window of tokens.
    #[serde(default)]
    pub sentence: bool,
    /// Only collocates of this part of speech, such as ADJ.
    #[serde(default)]
    #[schemars(extend("x-value-name" = "TAG"))]
    pub pos: Option<String>,
    /// Count the collocates at each place of the window, too.
    #[serde(default)]
    pub positions: bool,
    /// The association measure that orders the rows.
    #[serde(default = "log_dice")]
    #[schemars(extend("x-value-name" = "MEASURE"))]
    pub measure: Association,
    /// Minimum co-occurrences.
    #[serde(default = "usual_min")]
    #[schemars(range(min = 1))]
    pub min: u64,
    /// The words that are listed.
    #[serde(flatten)]
    pub content: ContentParams,
    /// The rows.
    #[serde(flatten)]
    pub rows: WordRowParams,
}

/// The widest window whose places are counted one by one, in tokens on both sides together.
const MAX_PLACES: u32 = 100;

fn usual_side() -> u32 {
    5
}

fn log_dice() -> Association {
    Association::LogDice
}

fn usual_min() -> u64 {
    3
}

/// The window in which collocates are counted: never beyond the document, and never in the hit itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Window {
    /// Tokens before and after the hit.
    Tokens {
        /// Tokens before.
        left: u32,
        /// Tokens after.
        right: u32,
    },
    /// The sentences of the hit.
    Sentence,
}

answer! {
    /// Words in the neighbourhood of hits, best first, equals by value.
    pub struct Collocates {
        /// The attribute that was counted.
        pub attribute: Attribute,
        /// The window.
        pub window: Window,
        /// Hits of the query; those found until the limit if the answer is cut off.
        pub hits: u64,
        /// Tokens of the documents searched.
        pub tokens: u64,
        /// The measure that orders the rows.
        pub order: Association,
        /// Punctuation, numbers, dates and function words that are frequent enough, but not listed.
        pub left_out: u64,
        /// The number of different collocates.
        pub collocates: u64,
        /// The collocates.
        pub rows: Vec<Collocate>,
    }

    /// A word in the neighbourhood of hits.
    pub struct Collocate {
        /// The word or lemma.
        pub value: String,
        /// Co-occurrences with a hit: a token in the windows of two hits counts twice.
        pub together: u64,
        /// Occurrences anywhere.
        pub hits: u64,
        /// Co-occurrences at each place of the window, from the farthest before the hit to the farthest behind it; missing
        /// unless they were asked for.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(with = "Vec<u64>")]
        pub positions: Option<Vec<u64>>,
        /// The scores of all measures; null if the answer is cut off.
        pub scores: Scores,
    }
}

/// The scores of one pair, by all association measures; none of them is known without counting everything.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scores([Option<f64>; Association::ALL.len()]);

impl Scores {
    /// The scores of a pair that was not counted to the end.
    pub const UNKNOWN: Scores = Scores([None; Association::ALL.len()]);

    /// The scores of a pair.
    pub fn of(pair: &Pair) -> Scores {
        let mut scores = Scores::UNKNOWN;
        scores.0.iter_mut().zip(Association::ALL).for_each(|(score, measure)| *score = Some(measure.score(pair)));
        scores
    }

    /// The score by one measure, if it is known.
    pub fn get(&self, measure: Association) -> Option<f64> {
        self.0[measure as usize]
    }

    /// The name of a measure as a field: `log_dice`.
    fn field(measure: Association) -> String {
        measure.name().replace('-', "_")
    }
}

impl Serialize for Scores {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for measure in Association::ALL {
            map.serialize_entry(&Scores::field(*measure), &self.get(*measure))?;
        }
        map.end()
    }
}

impl JsonSchema for Scores {
    fn schema_name() -> Cow<'static, str> {
        "Scores".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let names: Vec<String> = Association::ALL.iter().map(|measure| Scores::field(*measure)).collect();
        let score = generator.subschema_for::<Option<f64>>();
        let properties: serde_json::Map<String, serde_json::Value> =
            names.iter().map(|name| (name.clone(), score.clone().to_value())).collect();
        json_schema!({ "type": "object", "properties": properties, "required": names, "x-order": names })
    }
}

impl Collocates {
    /// Ranks counts: (value, together, anywhere). Collocates that are together less than `at_least` times are left out, and
    /// so are those without a value.
    pub fn rank(
        attribute: Attribute,
        window: Window,
        (hits, tokens): (u64, u64),
        order: Association,
        at_least: u64,
        counts: impl IntoIterator<Item = (String, u64, u64)>,
    ) -> Collocates {
        let mut rows: Vec<Collocate> = counts
            .into_iter()
            .filter(|(value, together, _)| !value.is_empty() && *together >= at_least.max(1))
            .map(|(value, together, anywhere)| {
                let pair = Pair {
                    together: together as f64,
                    node: hits as f64,
                    collocate: anywhere as f64,
                    tokens: tokens as f64,
                };
                Collocate { value, together, hits: anywhere, positions: None, scores: Scores::of(&pair) }
            })
            .collect();
        let score = |row: &Collocate| row.scores.get(order).unwrap_or(f64::NEG_INFINITY);
        rows.sort_by(|a, b| score(b).total_cmp(&score(a)).then_with(|| a.value.cmp(&b.value)));
        Collocates { attribute, window, hits, tokens, order, left_out: 0, collocates: rows.len() as u64, rows }
    }

    /// The same without scores, the most frequent first: those of a part of the hits would be wrong.
    pub fn without_scores(mut self) -> Collocates {
        self.rows.iter_mut().for_each(|row| row.scores = Scores::UNKNOWN);
        self.rows.sort_by(|a, b| b.together.cmp(&a.together).then_with(|| a.value.cmp(&b.value)));
        self
    }
}

impl CollocRequest {
    /// The collocates in all shards, in two phases: the words near hits, and then how often those that are frequent enough
    /// occur anywhere. A shard cannot know which ones these are.
    fn of_shards(
        &self,
        context: &QuestionContext<'_>,
        search: SearchPart,
        (attribute, window): (Attribute, Window),
        min: u64,
    ) -> Result<Collocates, QuestionError> {
        let part = NearPart { search, attribute, window, tag: self.pos.clone() };
        let (mut near, (hits, tokens)) = context.gather(&part)?;
        near.retain(|_, together| *together >= min.max(1));
        let words = near.keys().cloned().collect();
        let marginals = MarginalsPart { search: part.search, attribute, tag: part.tag, words };
        let anywhere = context.gather(&marginals)?;
        let is_complete = !context.is_cut_off();
        let rows = near.into_iter().map(|(value, together)| {
            let anywhere = anywhere.get(&value).copied().unwrap_or(0).max(u64::from(!is_complete));
            (value, together, anywhere)
        });
        let ranked = Collocates::rank(attribute, window, (hits, tokens), self.measure, min, rows);
        Ok(if is_complete { ranked } else { ranked.without_scores() })
    }
}

impl CollocRequest {
    /// Adds the counts at each place of the window to the rows, unless a limit stopped the question.
    fn add_positions(
        &self,
        context: &QuestionContext<'_>,
        attribute: Attribute,
        filter: Option<&Filter>,
        found: &mut Collocates,
    ) -> Result<(), QuestionError> {
        if context.is_cut_off() {
            return Ok(());
        }
        let words = found.rows.iter().map(|row| row.value.clone()).collect();
        let search = SearchPart::positions(&self.search.q, MatchRule::default(), filter);
        let (tag, left, right) = (self.pos.clone(), self.left, self.right);
        let places = context.gather(&PlacesNearPart { search, attribute, tag, left, right, words })?;
        if !context.is_cut_off() {
            found.rows.iter_mut().zip(places).for_each(|(row, places)| row.positions = Some(places));
        }
        Ok(())
    }
}

impl Request for CollocRequest {
    fn example() -> CollocRequest {
        CollocRequest {
            search: SearchParams::example(),
            attribute: TestedAttributeParams::default(),
            left: usual_side(),
            right: usual_side(),
            sentence: false,
            pos: None,
            positions: false,
            measure: Association::LogLikelihood,
            min: usual_min(),
            content: ContentParams::default(),
            rows: WordRowParams::default(),
        }
    }
}

impl Question for CollocRequest {
    const NAME: &'static str = "colloc";
    const SUMMARY: &'static str = "Rank collocates of hits by association measures";
    const ROWS: &'static str = "rows";
    const COST: Cost = Cost::Heavy;
    type Answer = Collocates;

    fn evaluate(&self, context: &QuestionContext<'_>) -> Result<Answered<Collocates>, QuestionError> {
        let attribute = self.attribute.of(context)?;
        let filter = context.filter(&self.search.scope)?;
        let window = match self.sentence {
            true => Window::Sentence,
            false => Window::Tokens { left: self.left, right: self.right },
        };
        if self.positions && (self.sentence || self.left.saturating_add(self.right) > MAX_PLACES) {
            let message = format!("places are counted in windows of up to {MAX_PLACES} tokens, and not in sentences");
            return Err(QuestionError::parameter("positions", message));
        }
        let mut rewrites = Vec::new();
        let (min, _) = context.min_counts(self.min, &mut rewrites);
        let mut found = if context.is_sharded() {
            let search = SearchPart::positions(&self.search.q, MatchRule::default(), filter.as_ref());
            self.of_shards(context, search, (attribute, window), min)?
        } else {
            let search = context.search(&self.search.q, MatchRule::default(), filter.as_ref())?;
            let around = Around { attribute, window, tag: self.pos.as_deref() };
            search.collocates(around, self.measure, min, &context.limits).0
        };
        let (content, has_punctuation) = (&self.content, self.rows.punctuation);
        found.left_out = content.keep(context, attribute, &mut found.rows, has_punctuation, |row| &row.value)?;
        found.collocates = self.rows.cut(&mut found.rows, |row| &row.value);
        // A count at one place may be as small as one, however frequent the row is.
        match rewrites.is_empty() {
            true if self.positions => self.add_positions(context, attribute, filter.as_ref(), &mut found)?,
            false if self.positions => rewrites.push("places are not counted where rare rows are left out".to_owned()),
            _ => {}
        }
        let asked = (Some(&*self.search.q), filter.as_ref());
        Ok(context.answered(asked, MatchRule::default(), Exactness::Exact, rewrites, found))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_measure_has_a_score_under_its_name() {
        let pair = Pair { together: 30.0, node: 100.0, collocate: 200.0, tokens: 10_000.0 };
        let scores = Scores::of(&pair);
        let json = serde_json::to_value(scores).unwrap();
        for measure in Association::ALL {
            assert_eq!(scores.get(*measure), Some(measure.score(&pair)));
            assert_eq!(json[Scores::field(*measure)], measure.score(&pair), "{measure}");
        }
    }
}
