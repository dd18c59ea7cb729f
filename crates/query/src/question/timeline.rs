//! Hits of one or several queries over time.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::params::{ConfidenceParams, MeasureParams, PanelParams, ScopeParams, SearchesParams, StepParams};
use super::shards::{RunDaysPart, SearchPart, TimelinePart};
use super::trends::panel_filter;
use super::{Answered, Cost, Exactness, Parsed, Question, QuestionContext, QuestionError, Request};
use crate::cql::{MatchRule, Query};
use crate::engine::Cells;
use crate::measure::interval::{Band, rate_band};
use crate::measure::{per_million, share};
use crate::trend::{Bin, Collected, Step, health};

/// Counts the hits of queries over time.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct TimelineRequest {
    /// The queries.
    #[serde(flatten)]
    pub searches: SearchesParams,
    /// The length of a time step.
    #[serde(flatten)]
    pub step: StepParams,
    /// The panel of sites.
    #[serde(flatten)]
    pub panel: PanelParams,
    /// The measures.
    #[serde(flatten)]
    pub measures: MeasureParams,
    /// The confidence of the intervals.
    #[serde(flatten)]
    pub confidence: ConfidenceParams,
}

answer! {
    /// Hits over time, with the size and quality of the collection.
    pub struct Timeline {
        /// The length of a time step.
        pub step: Step,
        /// The confidence of the intervals.
        pub confidence: f64,
        /// The queries in the order in which they were given.
        pub queries: Vec<String>,
        /// All hits of all queries; those found until the limit if the answer is cut off.
        pub hits: u64,
        /// Tokens of the documents searched.
        pub tokens: u64,
        /// Every step from the first to the last, also those without documents, for each query in turn.
        pub points: Vec<TimelinePoint>,
    }

    /// One time step. Without tokens nothing was collected, and there is no rate; with tokens and zero hits the rate is
    /// zero. A step that was not searched to its end has neither hits nor rate.
    pub struct TimelinePoint {
        /// The time step.
        #[serde(serialize_with = "super::as_text")]
        #[schemars(with = "String")]
        pub bin: Bin,
        /// The query; missing if there is only one.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(with = "String")]
        pub query: Option<String>,
        /// Hits; null if the step was not searched to its end.
        pub hits: Option<u64>,
        /// Tokens collected.
        pub tokens: u64,
        /// Documents collected.
        pub documents: u64,
        /// Sites with documents.
        pub sites: u64,
        /// Days of the step.
        pub days: u32,
        /// Days with documents.
        pub days_with_documents: u32,
        /// Days with fetch runs; null if the home has none.
        pub days_with_runs: Option<u64>,
        /// Completeness of the collection, from 0 to 1.
        pub health: f64,
        /// Documents with a hit, if they are asked for; null if the step was not searched to its end.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub hit_documents: Option<u64>,
        /// Their share among the documents collected; null if there are none.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub document_share: Option<f64>,
        /// Hits per million tokens; null if nothing was collected, or the step was not searched to its end.
        pub per_million: Option<f64>,
        /// The share of the query among the hits of all queries in the step, if there are several; null if there are no hits,
        /// or the step was not searched to its end.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub query_share: Option<f64>,
        /// The interval of the rate; null without a rate, and if the answer is cut off.
        pub band: Option<Band>,
    }
}

impl TimelinePoint {
    /// A point of counts, the last of which are the days with documents. `spread` as in [`rate_band`]; without it there is
    /// no band.
    pub fn of(
        bin: Bin,
        hits: Option<u64>,
        (tokens, documents, sites, days_with_documents): (u64, u64, u64, u32),
        spread: Option<f64>,
        confidence: f64,
    ) -> Self {
        let (hits_f, tokens_f) = (hits.map(|hits| hits as f64), tokens as f64);
        TimelinePoint {
            bin,
            query: None,
            query_share: None,
            hits,
            tokens,
            documents,
            sites,
            days: bin.days(),
            days_with_documents,
            days_with_runs: None,
            hit_documents: None,
            document_share: None,
            health: 0.0,
            per_million: hits_f.and_then(|hits| per_million(hits, tokens_f)),
            band: hits_f.zip(spread).and_then(|(hits, spread)| rate_band(hits, tokens_f, spread, confidence)),
        }
    }
}

impl TimelinePoint {
    /// The same with the number of documents with a hit, if they are counted.
    #[must_use]
    pub fn with_documents(self, hit_documents: Option<u64>) -> Self {
        let document_share = hit_documents.and_then(|hits| share(hits, self.documents));
        TimelinePoint { hit_documents, document_share, ..self }
    }
}

impl Timeline {
    /// A timeline of points: how well each was collected shows beside the others.
    pub fn of(step: Step, confidence: f64, mut points: Vec<TimelinePoint>) -> Timeline {
        let collected: Vec<Collected> = points
            .iter()
            .map(|point| Collected {
                days: point.days,
                days_with_documents: point.days_with_documents,
                sites: point.sites,
            })
            .collect();
        points.iter_mut().zip(health(&collected)).for_each(|(point, health)| point.health = health);
        let hits = points.iter().filter_map(|point| point.hits).sum();
        let tokens = points.iter().map(|point| point.tokens).sum();
        Timeline { step, confidence, queries: Vec::new(), hits, tokens, points }
    }

    /// The timelines of several queries over the same documents as one, with the share of each query.
    fn join(queries: Vec<String>, lines: Vec<Timeline>) -> Option<Timeline> {
        let mut sums: Vec<Option<u64>> = Vec::new();
        for line in &lines {
            sums.resize(line.points.len().max(sums.len()), Some(0));
            sums.iter_mut().zip(&line.points).for_each(|(sum, point)| *sum = sum.zip(point.hits).map(|(a, b)| a + b));
        }
        let is_one = queries.len() == 1;
        let hits = lines.iter().map(|line| line.hits).sum();
        let named = queries.clone().into_iter().zip(lines);
        let joined = named.map(|(query, line)| {
            let points = line.points.into_iter().zip(&sums).map(|(point, sum)| TimelinePoint {
                query: (!is_one).then(|| query.clone()),
                query_share: point.hits.zip(*sum).filter(|_| !is_one).and_then(|(hits, sum)| share(hits, sum)),
                ..point
            });
            Timeline { points: points.collect(), ..line }
        });
        let all = joined.reduce(|mut all, line| {
            all.points.extend(line.points);
            all
        })?;
        Some(Timeline { queries, hits, ..all })
    }
}

impl Request for TimelineRequest {
    fn example() -> TimelineRequest {
        TimelineRequest {
            searches: SearchesParams { q: vec![Parsed::example()], scope: ScopeParams::default() },
            step: StepParams { by: Some(Step::Week) },
            panel: PanelParams::default(),
            measures: MeasureParams::default(),
            confidence: ConfidenceParams::default(),
        }
    }
}

impl Question for TimelineRequest {
    const NAME: &'static str = "timeline";
    const SUMMARY: &'static str = "Show hits over time";
    const ROWS: &'static str = "points";
    const COST: Cost = Cost::Quick;
    type Answer = Timeline;

    fn cost(&self) -> Cost {
        if self.panel.panel { Cost::Heavy } else { Cost::Quick }
    }

    fn evaluate(&self, context: &QuestionContext<'_>) -> Result<Answered<Timeline>, QuestionError> {
        let (queries, scope) = (self.searches.queries()?, &self.searches.scope);
        let step = self.step.step(context, context.filter(scope)?.as_ref())?;
        let filter = panel_filter(context, scope, &self.panel, step)?;
        let confidence = self.confidence.confidence;
        let asked = (self.searches.only(), filter.as_ref());
        let answered =
            |found: Timeline| context.answered(asked, MatchRule::default(), Exactness::Exact, Vec::new(), found);
        if context.is_cut_off() {
            // Without the panel nothing can be counted.
            let empty = Timeline::of(step, confidence, Vec::new());
            return Ok(answered(Timeline { queries: self.searches.texts(), ..empty }));
        }
        let with_documents = self.measures.documents;
        // Hidden documents are known by sums of their words only, which tell neither how many of them have one nor anything
        // of several tokens. Shares are of hits in the same documents.
        let counts_words = !with_documents && queries.iter().all(|query| query.is_single_token());
        let line = |query: &Parsed<Query>| {
            let search = match counts_words {
                true => SearchPart::words(query, filter.as_ref(), Cells::Steps(step)),
                false => SearchPart::positions(query, MatchRule::default(), filter.as_ref()),
            };
            let found = context.gather(&TimelinePart { search, step, with_documents })?;
            Ok(found.timeline(step, confidence))
        };
        let lines = queries.iter().map(line).collect::<Result<Vec<_>, QuestionError>>()?;
        let runs = days_with_runs(context, lines.first().map_or(&[], |line| &line.points))?;
        let mut found = Timeline::join(self.searches.texts(), lines).expect("there is a query");
        if let Some(runs) = runs.filter(|runs| !runs.is_empty()) {
            let runs = runs.iter().cycle();
            found.points.iter_mut().zip(runs).for_each(|(point, days)| point.days_with_runs = Some(*days));
        }
        Ok(answered(found))
    }
}

/// The days with fetch runs in the step of each point; nothing if the home has no runs.
fn days_with_runs(context: &QuestionContext<'_>, points: &[TimelinePoint]) -> Result<Option<Vec<u64>>, QuestionError> {
    let bins: Vec<Bin> = points.iter().map(|point| point.bin).collect();
    match (bins.first(), bins.last()) {
        (Some(first), Some(last)) if context.is_sharded() => {
            Ok(context.gather(&RunDaysPart { first: first.first, last: last.last })?.of_bins(&bins))
        }
        _ => Ok((context.run_days)(&bins)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    fn line(hits: &[Option<u64>]) -> Timeline {
        let point = |(month, hits): (i8, &Option<u64>)| {
            let bin = Step::Month.bin_of(date(2026, month, 1));
            TimelinePoint::of(bin, *hits, (1000, 10, 2, 20), None, 0.95)
        };
        Timeline::of(Step::Month, 0.95, (1..).zip(hits).map(point).collect())
    }

    #[test]
    fn each_query_has_its_series_and_its_share_of_each_step() {
        let queries = || vec!["who".to_owned(), "whom".to_owned()];
        let lines = vec![line(&[Some(3), Some(0), Some(2), None]), line(&[Some(1), Some(0), None, Some(4)])];
        let all = Timeline::join(queries(), lines).unwrap();
        assert_eq!((all.hits, all.tokens, all.queries), (10, 4000, queries()));
        let rows: Vec<_> = all.points.iter().map(|p| (p.query.as_deref().unwrap(), p.hits, p.query_share)).collect();
        let expected = [
            ("who", Some(3), Some(0.75)),
            ("who", Some(0), None),
            ("who", Some(2), None),
            ("who", None, None),
            ("whom", Some(1), Some(0.25)),
            ("whom", Some(0), None),
            ("whom", None, None),
            ("whom", Some(4), None),
        ];
        assert_eq!(rows, expected);
    }

    #[test]
    fn one_query_has_neither_a_name_nor_a_share_in_its_points() {
        let one = Timeline::join(vec!["who".to_owned()], vec![line(&[Some(3)])]).unwrap();
        assert_eq!((one.queries.len(), one.hits), (1, 3));
        assert_eq!((one.points[0].query.as_ref(), one.points[0].query_share), (None, None));
    }
}
