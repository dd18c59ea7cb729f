//! Days with fetch runs.

use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

use super::Part;
use crate::merge::Merge;
use crate::question::{QuestionContext, QuestionError};
use crate::trend::Bin;

/// The days of a period on which the home of a shard had fetch runs.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::question) struct RunDaysPart {
    pub(in crate::question) first: Date,
    pub(in crate::question) last: Date,
}

/// The most days that a shard is asked for; a longer time has no days with runs.
pub(in crate::question) const MAX_RUN_DAYS: i32 = 40_000;

/// Days with runs; nothing for homes without runs. A day on which one shard collected counts as one with runs.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(in crate::question) struct RunDates(pub(in crate::question) Option<BTreeSet<Date>>);

impl Merge for RunDates {
    fn merge_from(&mut self, other: RunDates) {
        if let Some(more) = other.0 {
            self.0.get_or_insert_default().merge_from(more);
        }
    }
}

impl Part for RunDaysPart {
    const NAME: &'static str = "run-days";
    type Sum = RunDates;

    fn compute(&self, context: &QuestionContext<'_>) -> Result<RunDates, QuestionError> {
        let days = crate::trend::Step::Day.bins(self.first, self.last);
        if days.len() > MAX_RUN_DAYS as usize {
            return Ok(RunDates::default());
        }
        let with_runs = (context.run_days)(&days);
        let dates = |runs: Vec<u64>| days.iter().zip(runs).filter(|(_, runs)| *runs > 0).map(|(day, _)| day.first);
        Ok(RunDates(with_runs.map(|runs| dates(runs).collect())))
    }
}

impl RunDates {
    /// The number of days with runs in each bin; nothing if no home has runs.
    pub(in crate::question) fn of_bins(&self, bins: &[Bin]) -> Option<Vec<u64>> {
        let days = self.0.as_ref()?;
        Some(bins.iter().map(|bin| days.range(bin.first..=bin.last).count() as u64).collect())
    }
}
