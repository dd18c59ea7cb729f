//! Rebuild: deletes what was derived, from a stage on, and makes it again from what is left.
//!
//! The same pages, settings and program give the same bytes, so a rebuild proves that nothing
//! depends on how a corpus came about.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use anyhow::{Result, bail};
use serde::Serialize;
use tidings_store::Home;
use tidings_store::docs::{self, Recipe};
use tidings_store::text::{self, TextRecipe};

use crate::context::RunContext;
use crate::outcome::{Outcome, Status};
use crate::pipeline::Pipeline;
use crate::stage::{Stage, StageId, StageOutcome};

/// The outcome of several stages.
#[derive(Debug, Clone, Default, Serialize)]
pub struct RebuildOutcome {
    /// Whether all of it was done.
    pub done: bool,
    /// What came of each stage.
    #[serde(flatten)]
    pub stages: BTreeMap<StageId, StageOutcome>,
}

impl Outcome for RebuildOutcome {
    fn status(&self) -> Status {
        self.stages.values().map(Outcome::status).max().unwrap_or_default()
    }
}

impl fmt::Display for RebuildOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.stages.values().try_for_each(|outcome| outcome.fmt(f))
    }
}

/// The stages from one on whose output may be deleted and made again.
pub fn derived_from(from: StageId) -> impl DoubleEndedIterator<Item = Box<dyn Stage>> {
    let stages = StageId::ALL.iter().filter(move |stage| **stage >= from).map(|stage| stage.stage());
    stages.filter(|stage| stage.is_derived()).collect::<Vec<_>>().into_iter()
}

/// Deletes what the stages from one on have made, of one language or of all, and makes it again.
pub fn rebuild(pipeline: &Pipeline, from: StageId, language: Option<&str>) -> Result<RebuildOutcome> {
    let context = RunContext::open(pipeline, "rebuild")?;
    // What depends on others goes before them.
    match language {
        None => derived_from(from).rev().try_for_each(|stage| stage.clear(&context.home))?,
        Some(language) => {
            let days = days_of(&context.home, language)?;
            derived_from(from).rev().try_for_each(|stage| stage.clear_language(&context.home, language, &days))?;
        }
    }
    // The stages take the home themselves.
    drop(context);
    remake(pipeline, from)
}

/// Brings everything up to date from a stage on.
pub fn remake(pipeline: &Pipeline, from: StageId) -> Result<RebuildOutcome> {
    let mut outcome = RebuildOutcome::default();
    for stage in derived_from(from) {
        outcome.stages.insert(stage.id(), pipeline.run(stage.as_ref())?);
    }
    outcome.done = outcome.status() != Status::NotDone;
    Ok(outcome)
}

/// The days that hold documents of a language.
fn days_of(home: &Home, language: &str) -> Result<BTreeSet<String>> {
    let mut days = BTreeSet::new();
    for day in docs::document_days(home)? {
        let holds = Recipe::read(home, &day)?.is_some_and(|recipe| recipe.documents.contains_key(language));
        days.extend(holds.then_some(day));
    }
    for day in text::days(home)? {
        let holds = TextRecipe::read(home, &day)?.is_some_and(|recipe| recipe.kept.contains_key(language));
        days.extend(holds.then_some(day));
    }
    if days.is_empty() && !home.indexed()?.iter().any(|code| code == language) {
        bail!("there is nothing in {language}; `tidings digest --tree` lists what there is");
    }
    Ok(days)
}
