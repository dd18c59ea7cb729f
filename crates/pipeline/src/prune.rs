//! Prune: deletes finished entries from the plan that their feeds no longer list. `tidings run` does this once a day.

use std::fmt;

use anyhow::Result;
use serde::Serialize;
use tidings_model::clock;
use tidings_store::{apply_journal, housekeeping, runs};

use crate::Pipeline;
use crate::context::RunContext;
use crate::display::count;
use crate::outcome::Outcome;

/// The number of run logs of earlier versions that are moved at once.
const MOST_FOLDED: usize = 2000;

/// Options of a pruning.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Update cycles since an entry was last in its feed.
    pub min_age: u32,
    /// Only count the entries that would be deleted.
    pub dry_run: bool,
}

/// The plan after pruning.
#[derive(Debug, Clone, Serialize)]
pub struct PruneOutcome {
    /// Always true.
    pub done: bool,
    /// Entries that stay.
    pub kept: u64,
    /// Entries deleted.
    pub pruned: u64,
    /// Whether this was a dry run.
    pub dry_run: bool,
}

impl Outcome for PruneOutcome {}

impl fmt::Display for PruneOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (pruned, kept) = (count(self.pruned, "entry"), self.kept);
        match self.dry_run {
            true => writeln!(f, "would prune {pruned}, {kept} would stay"),
            false => writeln!(f, "{pruned} pruned, {kept} kept; pages fetched before are not fetched again"),
        }
    }
}

/// Prunes the plan.
pub fn run(pipeline: &Pipeline, options: &Options) -> Result<PruneOutcome> {
    prune(&RunContext::open(pipeline, "prune")?, options)
}

fn prune(context: &RunContext, options: &Options) -> Result<PruneOutcome> {
    let Options { min_age, dry_run } = *options;
    let policy = context.config.fetch.retry_policy();
    let (kept, pruned) = apply_journal::prune(&context.home, context.started, min_age, policy, dry_run)?;
    context.apply_journal()?;
    let outcome = PruneOutcome { done: true, kept, pruned, dry_run };
    if pruned > 0 && !dry_run {
        context.log_outcome(&outcome)?;
    }
    Ok(outcome)
}

/// Does the housekeeping of a round, if it was not done for a day: prunes the plan, and moves run logs of earlier
/// versions to the files of their days. Under a clock that jumped ahead, entries may seem older than they are, so that
/// nothing is pruned.
pub(crate) fn daily(pipeline: &Pipeline) -> Result<Option<PruneOutcome>> {
    let min_age = pipeline.config().store.prune_after;
    if !housekeeping::is_due(pipeline.home(), clock::now())? {
        return Ok(None);
    }
    let context = RunContext::open(pipeline, "prune")?;
    runs::fold(&context.home, MOST_FOLDED)?;
    let outcome = match (min_age, context.clock_jump) {
        (0, _) | (_, Some(_)) => None,
        (min_age, None) => Some(prune(&context, &Options { min_age, dry_run: false })?),
    };
    // An object store that does not answer has no part in the work of the round.
    match context.home.sweep_bucket() {
        Err(error) if error.is_unavailable() => log::warn!("{}", tidings_store::in_full(&error)),
        swept => drop(swept?),
    }
    housekeeping::record(&context.home, context.started)?;
    Ok(outcome)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_plan_stays_empty() {
        let folder = tempfile::tempdir().unwrap();
        let pipeline = Pipeline::create(folder.path()).unwrap();
        let outcome = run(&pipeline, &Options { min_age: 100, dry_run: true }).unwrap();
        assert_eq!(outcome.to_string(), "would prune 0 entries, 0 would stay\n");
    }

    const PLAN: &str = "0\tok\t1\t2026-03-01T00:00:00.000Z\t\thttp://e.org/feed\thttp://e.org/listed\tListed\n\
        200\tok\t1\t2026-03-01T00:00:00.000Z\t\thttp://e.org/feed\thttp://e.org/old\tOld\n\
        200\tnew\t0\t2026-03-01T00:00:00.000Z\t\thttp://e.org/feed\thttp://e.org/untried\tUntried\n";

    fn planned() -> (tempfile::TempDir, Pipeline) {
        let (folder, pipeline) = crate::test_home::empty();
        let file = folder.path().join("plan.tsv");
        std::fs::write(&file, PLAN).unwrap();
        tidings_store::plan::adopt(pipeline.home(), &file).unwrap();
        (folder, pipeline)
    }

    fn entries(pipeline: &Pipeline) -> Vec<String> {
        let mut urls = Vec::new();
        tidings_store::plan::read(pipeline.home(), |row| urls.push(row.url.to_owned())).unwrap();
        urls
    }

    #[test]
    fn listed_and_untried_entries_stay() {
        let (_folder, pipeline) = planned();
        let outcome = run(&pipeline, &Options { min_age: 100, dry_run: false }).unwrap();
        assert_eq!((outcome.kept, outcome.pruned), (2, 1));
        assert_eq!(entries(&pipeline), ["http://e.org/listed", "http://e.org/untried"]);
        assert!(apply_journal::was_pruned(pipeline.home(), "http://e.org/old").unwrap());
        assert!(!apply_journal::was_pruned(pipeline.home(), "http://e.org/listed").unwrap());
    }

    #[test]
    fn a_dry_run_does_not_change_the_plan() {
        let (_folder, pipeline) = planned();
        assert_eq!(run(&pipeline, &Options { min_age: 100, dry_run: true }).unwrap().pruned, 1);
        assert_eq!(entries(&pipeline).len(), 3);
        assert!(!apply_journal::was_pruned(pipeline.home(), "http://e.org/old").unwrap());
    }

    #[test]
    fn a_round_prunes_once_a_day_unless_the_clock_jumped() {
        let (_folder, pipeline) = planned();
        let pruned = daily(&pipeline).unwrap().unwrap();
        assert_eq!((pruned.kept, pruned.pruned), (2, 1));
        assert!(daily(&pipeline).unwrap().is_none(), "it was done today");
        assert_eq!(crate::testing::logged_runs(pipeline.home()), ["prune"]);

        let (_folder, pipeline) = planned();
        tidings_store::runs::RunLog::create(pipeline.home(), "20200101T000000000Z-fetch").unwrap().publish().unwrap();
        assert!(daily(&pipeline).unwrap().is_none());
        assert_eq!(entries(&pipeline).len(), 3);
    }

    #[test]
    fn a_setting_of_zero_leaves_the_plan_alone() {
        let (_folder, pipeline) = planned();
        let mut config = pipeline.config().clone();
        config.store.prune_after = 0;
        assert!(daily(&pipeline.with_config(config)).unwrap().is_none());
    }

    #[test]
    fn an_age_of_zero_keeps_entries_that_are_listed_now() {
        let (_folder, pipeline) = planned();
        assert_eq!(run(&pipeline, &Options { min_age: 0, dry_run: false }).unwrap().pruned, 1);
        assert!(entries(&pipeline).contains(&"http://e.org/listed".to_owned()));
    }
}
