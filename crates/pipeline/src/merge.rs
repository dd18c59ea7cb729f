//! Merges the results of shards in one home.
//!
//! Every unit of work (a day of documents or text, the index of a language) is published as a whole by the shard that
//! owns it, so merging moves no data: it recovers after killed shards, computes the totals, and lists the units that
//! are missing.

use std::collections::BTreeMap;
use std::fmt;

use anyhow::Result;
use serde::Serialize;
use tidings_store::yields;

use crate::context::RunContext;
use crate::display::count;
use crate::outcome::{Outcome, Status};
use crate::pipeline::Pipeline;
use crate::stage::StageId;

/// The outcome of joining shards.
#[derive(Debug, Clone, Default, Serialize)]
pub struct MergeOutcome {
    /// Whether every unit of every stage exists.
    pub done: bool,
    /// Units that are up to date, by stage.
    pub up_to_date: BTreeMap<StageId, u64>,
    /// Units that no shard has processed yet, by stage.
    pub missing: BTreeMap<StageId, Vec<String>>,
}

impl Outcome for MergeOutcome {
    fn status(&self) -> Status {
        if self.done { Status::Done } else { Status::NotDone }
    }
}

/// Missing units that are named, for each stage.
const NAMED: usize = 5;

impl fmt::Display for MergeOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (stage, units) in &self.missing {
            let named = units.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
            let more = if units.len() > NAMED { ", …" } else { "" };
            let number = count(units.len() as u64, "unit");
            writeln!(f, "{stage}: {number} missing ({named}{more}); run their shard again, or `tidings {stage}`")?;
        }
        match self.missing.is_empty() {
            true => writeln!(f, "all shards are merged: nothing is missing"),
            false => Ok(()),
        }
    }
}

/// Merges the results of shards.
pub fn merge(pipeline: &Pipeline) -> Result<MergeOutcome> {
    // Locking the whole home recovers it: no shard is active any more.
    let context = RunContext::open(pipeline, "merge")?;
    yields::summarise(&context.home)?;
    let mut outcome = MergeOutcome::default();
    for stage in StageId::ALL.iter().map(|id| id.stage()).filter(|stage| stage.is_derived()) {
        let due = stage.due(&context.home, &context.config)?;
        outcome.up_to_date.insert(stage.id(), due.up_to_date);
        if !due.units.is_empty() {
            outcome.missing.insert(stage.id(), due.units.into_iter().map(|unit| unit.name).collect());
        }
    }
    outcome.done = outcome.missing.is_empty();
    Ok(outcome)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{article, home, page, store_pages};

    #[test]
    fn missing_units_are_listed() {
        let (_folder, pipeline) = home();
        for day in 1..=7 {
            let url = format!("https://gazette.example/{day}");
            store_pages(&pipeline, &format!("2026-03-0{day}"), &[page(&url, &article("ferry"))]);
        }
        let outcome = merge(&pipeline).unwrap();
        assert_eq!((outcome.done, outcome.status()), (false, Status::NotDone));
        assert_eq!(outcome.missing[&StageId::Clean].len(), 7);
        let text = outcome.to_string();
        let named = "clean: 7 units missing (2026-03-01, 2026-03-02, 2026-03-03, 2026-03-04, 2026-03-05, …); run \
                     their shard again, or `tidings clean`\n";
        assert_eq!(text, named);
    }

    #[test]
    fn shards_that_are_all_done_leave_nothing_missing() {
        let (_folder, pipeline) = home();
        for day in 1..=4 {
            let url = format!("https://gazette.example/{day}");
            store_pages(&pipeline, &format!("2026-03-0{day}"), &[page(&url, &article("ferry"))]);
        }
        for stage in crate::rebuild::derived_from(StageId::Clean) {
            for index in 1..=2 {
                let shard = crate::shard::Shard::new(index, 2).unwrap();
                pipeline.clone().with_shard(shard).run(stage.as_ref()).unwrap();
            }
        }
        let outcome = merge(&pipeline).unwrap();
        assert!(outcome.done, "{outcome}");
        assert_eq!(outcome.to_string(), "all shards are merged: nothing is missing\n");
        assert_eq!((outcome.up_to_date[&StageId::Clean], outcome.up_to_date[&StageId::Compile]), (4, 1));
    }

    #[test]
    fn an_active_shard_prevents_a_merge() {
        let (_folder, pipeline) = home();
        let shard = crate::shard::Shard::new(1, 2).unwrap();
        let _at_work = RunContext::open(&pipeline.clone().with_shard(shard), "clean").unwrap();
        assert!(merge(&pipeline).is_err());
    }
}
