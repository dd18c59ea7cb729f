//! A part of the corpus in focus and the part that it is compared with: what keywords and terms share.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::params::ScopeParams;
use super::shards::SharedSitesPart;
use super::{Parsed, QuestionContext, QuestionError};
use crate::engine::of_sites;
use crate::filter::Filter;
use crate::measure::keyness::{Keyness, KeynessMeasure};

/// A part of the corpus in focus, what it is compared with, and the measure of the difference.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct FocusParams {
    /// The documents in focus, a filter such as date>=2026-03.
    pub focus: Parsed<Filter>,
    /// The documents to compare with, a filter [default: all others].
    #[serde(default)]
    pub against: Option<Parsed<Filter>>,
    /// The keyness measure that orders the rows.
    #[serde(default = "simple_maths")]
    #[schemars(extend("x-value-name" = "MEASURE"))]
    pub measure: KeynessMeasure,
    /// The constant that simple maths adds to both rates: 1 favours what is rare, 1000 what is common.
    #[serde(default = "one")]
    #[schemars(range(min = 1e-9, max = 1e6))]
    pub add: f64,
    /// Only sites with documents in both parts, so that new feeds do not look like new words.
    #[serde(default)]
    pub panel: bool,
    /// The documents that both parts are taken from.
    #[serde(flatten)]
    pub scope: ScopeParams,
}

fn simple_maths() -> KeynessMeasure {
    KeynessMeasure::SimpleMaths
}

fn one() -> f64 {
    1.0
}

/// The filters of a focus and of what it is compared with.
pub(super) struct Parts {
    pub(super) focus: Filter,
    pub(super) against: Filter,
    /// The filter that both are taken from.
    pub(super) within: Option<Filter>,
    /// The documents to compare with as they were asked for, or all others.
    pub(super) reference: Filter,
}

impl FocusParams {
    /// Parameters of a focus alone.
    pub fn of(focus: Parsed<Filter>) -> FocusParams {
        let scope = ScopeParams::default();
        FocusParams { focus, against: None, measure: simple_maths(), add: one(), panel: false, scope }
    }

    /// The measure with its constant.
    pub(super) fn order(&self) -> Keyness {
        self.measure.with(self.add)
    }

    /// Checks the filters, and makes those of both parts.
    pub(super) fn parts(&self, context: &QuestionContext<'_>) -> Result<Parts, QuestionError> {
        context.check_filter("focus", &self.focus)?;
        self.against.iter().try_for_each(|against| context.check_filter("against", against))?;
        let reference = self.against.as_deref().cloned().unwrap_or_else(|| self.focus.complement());
        let within = context.filter(&self.scope)?;
        let (focus, against, within) = two_parts(context, (&self.focus, &reference), within, self.panel)?;
        Ok(Parts { focus, against, within, reference })
    }
}

/// The filters of two parts of a corpus within a common filter, with the filter that both are taken from.
pub(super) fn two_parts(
    context: &QuestionContext<'_>,
    (one, other): (&Filter, &Filter),
    within: Option<Filter>,
    panel: bool,
) -> Result<(Filter, Filter, Option<Filter>), QuestionError> {
    let part = |within: &Option<Filter>, own: &Filter| {
        Filter::both(within.clone(), Some(own.clone())).expect("one of both is there")
    };
    if !panel {
        return Ok((part(&within, one), part(&within, other), within));
    }
    context.refuse_partial_test()?;
    let asked = SharedSitesPart { one: Parsed::of(part(&within, one)), other: Parsed::of(part(&within, other)) };
    let sites = context.gather(&asked)?;
    let within = Filter::both(within, Some(of_sites(sites.iter().map(String::as_str))));
    Ok((part(&within, one), part(&within, other), within))
}
