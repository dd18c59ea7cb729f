//! Rebuild: makes derived data again from a stage on.
//!
//! The same pages, settings and program give the same bytes, so a rebuild proves that a corpus does not depend on its
//! history. The new data is made beside the old, which stays searchable and takes twice the space until the end, and
//! takes its place only if it is complete: a damaged input leaves the corpus as it was.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use anyhow::{Result, bail};
use serde::Serialize;
use tidings_store::docs::{self, Recipe};
use tidings_store::text::{self, TextRecipe};
use tidings_store::{Home, RebuildDraft, Stale};

use crate::context::RunContext;
use crate::outcome::{Outcome, Status};
use crate::pipeline::Pipeline;
use crate::stage::annotate::OneLanguage;
use crate::stage::{Data, Stage, StageId, StageOutcome};

/// The outcome of several stages.
#[derive(Debug, Clone, Default, Serialize)]
pub struct RebuildOutcome {
    /// Whether all of it was done.
    pub done: bool,
    /// The outcome of each stage.
    #[serde(flatten)]
    pub stages: BTreeMap<StageId, StageOutcome>,
}

impl Outcome for RebuildOutcome {
    fn status(&self) -> Status {
        let status = self.stages.values().map(Outcome::status).max().unwrap_or_default();
        if self.done { status } else { Status::NotDone }
    }
}

impl fmt::Display for RebuildOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.stages.values().try_for_each(|outcome| outcome.fmt(f))
    }
}

/// The derived stages from one on, whose output can be deleted and rebuilt.
pub fn derived_from(from: StageId) -> impl DoubleEndedIterator<Item = Box<dyn Stage>> {
    let stages = StageId::ALL.iter().filter(move |stage| **stage >= from).map(|stage| stage.stage());
    stages.filter(|stage| stage.is_derived()).collect::<Vec<_>>().into_iter()
}

/// Makes the output of the stages from one on again, for one language or for all, and replaces the old output by it.
pub fn rebuild(pipeline: &Pipeline, from: StageId, language: Option<&str>) -> Result<RebuildOutcome> {
    let context = RunContext::open(pipeline, "rebuild")?;
    if from <= StageId::Clean {
        check_pages(&context.home)?;
    }
    let days = language.map(|language| days_of(&context.home, language)).transpose()?;
    let folders = folders_from(from);
    let draft = RebuildDraft::create(&context.home, &folders)?;
    if let (Some(language), Some(days)) = (language, &days) {
        draft.fill()?;
        // Dependent output is deleted before what it depends on.
        derived_from(from).rev().try_for_each(|stage| stage.clear_language(draft.home(), language, days))?;
    }
    let mut inner = pipeline.clone().over_draft(draft.home().clone(), context.lock());
    if let Some(language) = language {
        inner = inner.for_one_language(OneLanguage { language: language.to_owned(), former: context.home.clone() });
    }
    let mut outcome = remake(&inner, from)?;
    for stage in derived_from(from) {
        // Units that are only checked are due in every run.
        let due = stage.due(draft.home(), &context.config)?;
        outcome.done &= due.units.iter().all(|unit| unit.why == Stale::CheckWanted);
    }
    match outcome.done {
        true => draft.commit()?,
        false => log::error!("the rebuild is incomplete, so nothing was replaced"),
    }
    Ok(outcome)
}

/// The folders of the output of the stages from one on.
pub(crate) fn folders_from(from: StageId) -> Vec<&'static str> {
    let outputs = derived_from(from).flat_map(|stage| stage.outputs().to_vec());
    outputs.filter_map(Data::derived_folder).collect()
}

/// Rejects a rebuild from incomplete pages.
pub(crate) fn check_pages(home: &Home) -> Result<()> {
    match tidings_store::faulty_pages(home)?.first() {
        None => Ok(()),
        Some(faulty) => bail!(
            "{faulty}; nothing was rebuilt: restore the file from a backup, or accept the loss with `tidings clean \
             --accept-loss`"
        ),
    }
}

/// Updates everything from a stage on.
pub fn remake(pipeline: &Pipeline, from: StageId) -> Result<RebuildOutcome> {
    let mut outcome = RebuildOutcome::default();
    for stage in derived_from(from) {
        outcome.stages.insert(stage.id(), pipeline.run(stage.as_ref())?);
    }
    outcome.done = outcome.stages.values().all(|stage| stage.status() != Status::NotDone);
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
        bail!("no data in language {language}; `tidings digest --tree` lists the languages");
    }
    Ok(days)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{article, fixture, home, page, root, store_pages};

    fn built() -> (tempfile::TempDir, Pipeline) {
        let (folder, pipeline) = home();
        let german = fixture("de");
        store_pages(&pipeline, "2026-03-01", &[page("https://gazette.example/1", &article("ferry"))]);
        store_pages(&pipeline, "2026-03-02", &[page("https://zeitung.example/1", &german)]);
        remake(&pipeline, StageId::Clean).unwrap();
        (folder, pipeline)
    }

    fn digests(pipeline: &Pipeline) -> Vec<Option<String>> {
        derived_from(StageId::Clean).map(|stage| stage.output_digest(pipeline.home()).unwrap()).collect()
    }

    #[test]
    fn derived_stages_come_in_order_and_exclude_network_stages() {
        let ids = |from| derived_from(from).map(|stage| stage.id()).collect::<Vec<_>>();
        let all = [StageId::Clean, StageId::Dedup, StageId::Annotate, StageId::Compile];
        assert_eq!(ids(StageId::Update), all);
        assert_eq!(ids(StageId::Annotate), all[2..]);
        let backwards: Vec<StageId> = derived_from(StageId::Annotate).rev().map(|stage| stage.id()).collect();
        assert_eq!(backwards, [StageId::Compile, StageId::Annotate]);
    }

    #[test]
    fn a_rebuild_gives_the_same_bytes() {
        let (_folder, pipeline) = built();
        let before = digests(&pipeline);
        let outcome = rebuild(&pipeline, StageId::Clean, None).unwrap();
        assert!(outcome.done && outcome.status() == Status::Done);
        assert_eq!(outcome.stages.len(), 4);
        assert_eq!(digests(&pipeline), before);
    }

    #[test]
    fn a_rebuild_from_a_stage_does_not_change_earlier_ones() {
        let (_folder, pipeline) = built();
        let recipe = root(&pipeline).join("docs");
        let outcome = rebuild(&pipeline, StageId::Annotate, None).unwrap();
        assert!(recipe.exists());
        assert_eq!(outcome.stages.keys().copied().collect::<Vec<_>>(), [StageId::Annotate, StageId::Compile]);
        let StageOutcome::Annotate(annotate) = &outcome.stages[&StageId::Annotate] else { panic!("not annotate") };
        assert_eq!((annotate.days, annotate.days_up_to_date), (2, 0));
    }

    #[test]
    fn a_rebuild_of_one_language_rebuilds_only_its_days() {
        let (_folder, pipeline) = built();
        let before = digests(&pipeline);
        assert_eq!(days_of(pipeline.home(), "en").unwrap(), ["2026-03-01".to_owned()].into());
        let outcome = rebuild(&pipeline, StageId::Clean, Some("en")).unwrap();
        let StageOutcome::Clean(clean) = &outcome.stages[&StageId::Clean] else { panic!("not clean") };
        assert_eq!((clean.days, clean.days_up_to_date), (1, 1));
        assert_eq!(digests(&pipeline), before);
    }

    #[test]
    fn a_rebuild_of_one_language_keeps_the_text_of_others_on_the_same_day() {
        let (_folder, pipeline) = home();
        let pages = [
            page("https://gazette.example/1", &article("ferry")),
            page("https://zeitung.example/1", &fixture("de")),
            page("https://gazette.example/2", &article("bridge")),
        ];
        for day in ["2026-03-01", "2026-03-02", "2026-03-03", "2026-03-04"] {
            store_pages(&pipeline, day, &pages);
        }
        remake(&pipeline, StageId::Clean).unwrap();
        let before = digests(&pipeline);
        let documents = |outcome: &RebuildOutcome| match &outcome.stages[&StageId::Annotate] {
            StageOutcome::Annotate(annotate) => (annotate.documents, annotate.documents_kept),
            _ => panic!("not annotate"),
        };
        let all = documents(&rebuild(&pipeline, StageId::Annotate, None).unwrap());
        let german = documents(&rebuild(&pipeline, StageId::Annotate, Some("de")).unwrap());
        assert_eq!(german.0 + german.1, all.0, "{german:?} of {all:?}");
        assert!(german.0 > 0 && german.1 > german.0, "{german:?}");
        assert_eq!(digests(&pipeline), before);
        let english = documents(&rebuild(&pipeline, StageId::Clean, Some("en")).unwrap());
        assert_eq!((english.0, english.1), (german.1, german.0));
        assert_eq!(digests(&pipeline), before);
    }

    #[test]
    fn a_language_without_documents_cannot_be_rebuilt() {
        let (_folder, pipeline) = built();
        let error = rebuild(&pipeline, StageId::Clean, Some("xx")).unwrap_err().to_string();
        assert_eq!(error, "no data in language xx; `tidings digest --tree` lists the languages");
        assert_eq!(digests(&pipeline).len(), 4);
    }

    #[test]
    fn the_text_of_several_outcomes_is_joined_in_order() {
        let (_folder, pipeline) = home();
        let text = remake(&pipeline, StageId::Clean).unwrap().to_string();
        let firsts: Vec<&str> = text.lines().map(|line| line.split(':').next().unwrap_or_default()).collect();
        assert_eq!(firsts, ["nothing to clean", "nothing to deduplicate", "nothing to annotate", "nothing to compile"]);
    }

    #[test]
    fn a_rebuild_from_damaged_documents_replaces_nothing_and_the_next_run_repairs() {
        let (_folder, pipeline) = built();
        let before = digests(&pipeline);
        let file = root(&pipeline).join("docs/en/2026-03-01.jsonl.zst");
        let mut bytes = std::fs::read(&file).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        std::fs::write(&file, bytes).unwrap();
        let outcome = rebuild(&pipeline, StageId::Annotate, None).unwrap();
        assert_eq!((outcome.done, outcome.status()), (false, Status::NotDone));
        assert_eq!(digests(&pipeline)[2..], before[2..], "text and index are the old ones");
        assert!(remake(&pipeline, StageId::Clean).unwrap().done);
        assert_eq!(digests(&pipeline), before);
    }

    #[test]
    fn a_rebuild_without_all_pages_is_rejected() {
        let (_folder, pipeline) = built();
        let before = digests(&pipeline);
        std::fs::remove_file(root(&pipeline).join("pages/2026-03-02/a.0.jsonl.zst")).unwrap();
        let error = rebuild(&pipeline, StageId::Clean, None).unwrap_err().to_string();
        assert!(error.starts_with("pages/2026-03-02/a.0.jsonl.zst is missing; nothing was rebuilt"), "{error}");
        assert_eq!(digests(&pipeline), before);
    }

    #[test]
    fn the_home_is_locked_until_the_rebuild_ends() {
        let (_folder, pipeline) = built();
        let context = RunContext::open(&pipeline, "rebuild").unwrap();
        let draft = RebuildDraft::create(&context.home, &["text", "index"]).unwrap();
        let inner = pipeline.clone().over_draft(draft.home().clone(), context.lock());
        assert!(remake(&inner, StageId::Annotate).unwrap().done);
        assert!(RunContext::open(&pipeline, "remove").is_err());
    }
}
