//! Prune: takes settled entries out of the plan that left their feeds long ago.

use std::fmt;

use anyhow::Result;
use serde::Serialize;
use tidings_store::apply_journal;

use crate::Pipeline;
use crate::context::RunContext;
use crate::display::count;
use crate::outcome::Outcome;

/// Options of a pruning.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Update cycles since an entry was last in its feed.
    pub min_age: u32,
    /// Only count the entries that would go.
    pub dry_run: bool,
}

/// The plan after pruning.
#[derive(Debug, Clone, Serialize)]
pub struct PruneOutcome {
    /// Always true.
    pub done: bool,
    /// Entries that stay.
    pub kept: u64,
    /// Entries that go.
    pub pruned: u64,
    /// Whether nothing was changed.
    pub dry_run: bool,
}

impl Outcome for PruneOutcome {}

impl fmt::Display for PruneOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (pruned, kept) = (count(self.pruned, "entry"), self.kept);
        match self.dry_run {
            true => writeln!(f, "would prune {pruned}, {kept} would stay"),
            false => writeln!(f, "{pruned} pruned, {kept} kept; what was fetched is not fetched again"),
        }
    }
}

/// Prunes the plan.
pub fn run(pipeline: &Pipeline, options: &Options) -> Result<PruneOutcome> {
    let context = RunContext::open(pipeline, "prune")?;
    let Options { min_age, dry_run } = *options;
    let retries = context.config.fetch.retries;
    let (kept, pruned) = apply_journal::prune(&context.home, context.started, min_age, retries, dry_run)?;
    context.apply_journal()?;
    Ok(PruneOutcome { done: true, kept, pruned, dry_run })
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
}
