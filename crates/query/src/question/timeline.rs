//! Hits over time.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::params::{ConfidenceParams, MeasureParams, PanelParams, SearchParams, StepParams};
use super::shards::{RunDaysPart, SearchPart, TimelinePart};
use super::trends::panel_filter;
use super::{Answered, Cost, Exactness, Question, QuestionContext, QuestionError, Request};
use crate::cql::MatchRule;
use crate::engine::Cells;
use crate::measure::interval::{Band, rate_band};
use crate::measure::{per_million, share};
use crate::trend::{Bin, Collected, Step, health};

/// Counts the hits of a query over time.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct TimelineRequest {
    /// The query.
    #[serde(flatten)]
    pub search: SearchParams,
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
        /// All hits; those found until the limit if the answer is cut off.
        pub hits: u64,
        /// Tokens of the documents searched.
        pub tokens: u64,
        /// Every step from the first to the last, also those without documents.
        pub points: Vec<TimelinePoint>,
    }

    /// One time step. Without tokens nothing was collected, and there is no rate; with tokens and zero hits the rate is
    /// zero. A step that was not searched to its end has neither hits nor rate.
    pub struct TimelinePoint {
        /// The time step.
        #[serde(serialize_with = "super::as_text")]
        #[schemars(with = "String")]
        pub bin: Bin,
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
        Timeline { step, confidence, hits, tokens, points }
    }
}

impl Request for TimelineRequest {
    fn example() -> TimelineRequest {
        TimelineRequest {
            search: SearchParams::example(),
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
        let step = self.step.step(context, context.filter(&self.search.scope)?.as_ref())?;
        let filter = panel_filter(context, &self.search.scope, &self.panel, step)?;
        if context.is_cut_off() {
            // Without the panel nothing can be counted.
            let body = Timeline::of(step, self.confidence.confidence, Vec::new());
            let asked = (Some(&*self.search.q), filter.as_ref());
            return Ok(context.answered(asked, MatchRule::default(), Exactness::Exact, Vec::new(), body));
        }
        let with_documents = self.measures.documents;
        // Hidden documents are known by sums of their words only, which do not tell how many of them have one.
        let search = match with_documents {
            true => SearchPart::positions(&self.search.q, MatchRule::default(), filter.as_ref()),
            false => SearchPart::words(&self.search.q, filter.as_ref(), Cells::Steps(step)),
        };
        let mut found =
            context.gather(&TimelinePart { search, step, with_documents })?.timeline(step, self.confidence.confidence);
        let bins: Vec<Bin> = found.points.iter().map(|point| point.bin).collect();
        let runs = match (bins.first(), bins.last()) {
            (Some(first), Some(last)) if context.is_sharded() => {
                context.gather(&RunDaysPart { first: first.first, last: last.last })?.of_bins(&bins)
            }
            _ => (context.run_days)(&bins),
        };
        if let Some(runs) = runs {
            found.points.iter_mut().zip(runs).for_each(|(point, days)| point.days_with_runs = Some(days));
        }
        let asked = (Some(&*self.search.q), filter.as_ref());
        Ok(context.answered(asked, MatchRule::default(), Exactness::Exact, Vec::new(), found))
    }
}
