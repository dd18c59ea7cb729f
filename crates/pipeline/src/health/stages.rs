//! The state of the stages, by the records of their runs.

use std::collections::BTreeMap;
use std::ops::Index;
use std::time::Duration;

use anyhow::Result;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tidings_store::Home;
use tidings_store::runs::{self, LoggedRun};

use crate::context::elapsed;
use crate::stage::{Data, StageId};

/// The maximum number of run logs opened to find a success.
const MOST_OPENED: usize = 60;
/// The number of runs from which the usual interval is computed.
const RECENT: usize = 12;

/// The state of a stage.
#[derive(Debug, Clone, Default, Serialize)]
pub struct StageState {
    /// The start of the last run.
    pub last_try: Option<Timestamp>,
    /// The start of the last successful run.
    pub last_success: Option<Timestamp>,
    /// The error of the last failed run.
    pub trouble: Option<String>,
    /// The interval between starts in seconds: the median of the recent runs.
    pub every_s: Option<f64>,
}

/// The recent results of crawls.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Harvest {
    /// The hours covered: a day, or more if crawls are rarer.
    pub hours: f64,
    /// Pages stored in these hours.
    pub pages: u64,
    /// Pages that were tried and not stored.
    pub failed: u64,
    /// Requests of all kinds.
    pub requests: u64,
    /// Bytes received.
    pub bytes: u64,
    /// Pages that the last run left for later.
    pub left: u64,
    /// The end of the last run that stored pages.
    pub newest_page: Option<Timestamp>,
    /// Entries that updates put into the plan.
    pub new_entries: u64,
    /// Pages that were given up although their feeds still list them, as the last fetch found.
    pub given_up: u64,
}

/// The states of all stages, and of rounds through them.
#[derive(Debug, Clone, Default, Serialize)]
pub struct StageStates {
    #[serde(flatten)]
    stages: BTreeMap<StageId, StageState>,
    /// Rounds through all stages.
    #[serde(rename = "run")]
    pub rounds: StageState,
    /// Stages that are not part of rounds: they run when the user starts them, and are never late.
    #[serde(skip)]
    pub(super) off: Vec<StageId>,
}

impl Index<StageId> for StageStates {
    type Output = StageState;

    fn index(&self, stage: StageId) -> &StageState {
        &self.stages[&stage]
    }
}

impl StageStates {
    pub(super) fn unknown() -> StageStates {
        let stages = StageId::ALL.iter().map(|stage| (*stage, StageState::default())).collect();
        StageStates { stages, rounds: StageState::default(), off: Vec::new() }
    }

    /// The states by name, in the order of the stages, rounds last.
    pub fn named(&self) -> impl Iterator<Item = (&'static str, &StageState)> {
        self.stages.iter().map(|(stage, state)| (stage.name(), state)).chain([(ROUND, &self.rounds)])
    }

    /// The same without the stages that are off.
    pub(super) fn on(&self) -> impl Iterator<Item = (&'static str, &StageState)> {
        self.named().filter(move |(name, _)| !self.off.iter().any(|stage| stage.name() == *name))
    }

    pub(super) fn state(&mut self, stage: Option<StageId>) -> &mut StageState {
        match stage {
            Some(stage) => self.stages.entry(stage).or_default(),
            None => &mut self.rounds,
        }
    }
}

/// The name of rounds in run logs.
const ROUND: &str = "run";

/// The fields of a run summary that are used here.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct RunSummary {
    done: Option<bool>,
    error: Option<String>,
    #[serde(alias = "kept")]
    fetched: u64,
    failed: u64,
    left: u64,
    new_entries: u64,
    given_up: u64,
    requests: u64,
    bytes: u64,
    seconds: f64,
    /// The stages of a round. Stages with nothing to do have no log of their own.
    stages: BTreeMap<StageId, RunSummary>,
}

/// Reads the run logs, the newest first.
pub fn read(home: &Home, now: Timestamp) -> Result<(StageStates, Harvest)> {
    let logs: Vec<LoggedRun> = runs::all(home)?.into_iter().rev().filter(|run| run.began() <= now).collect();
    let mut states = StageStates::unknown();
    let all = || StageId::ALL.iter().copied().map(Some).chain([None]);
    let name = |stage: Option<StageId>| stage.map_or(ROUND, StageId::name);
    for stage in all() {
        let began = logs.iter().filter(|run| run.verb() == name(stage)).map(LoggedRun::began).take(RECENT);
        states.state(stage).every_s = median_gap(&began.collect::<Vec<_>>());
    }
    // One and a half usual intervals contain a crawl even if it is a little late.
    let hours = states[StageId::Fetch].every_s.map_or(24.0, |every| (1.5 * every / 3600.0).max(24.0));
    let mut harvest = Harvest { hours, ..Harvest::default() };
    let mut last_fetch = None;
    for stage in all() {
        let asks_the_web = stage.is_some_and(|stage| stage.stage().inputs().contains(&Data::Web));
        let mut opened = 0;
        for run in logs.iter().filter(|run| run.verb() == name(stage)) {
            let began = run.began();
            let is_recent = elapsed(began, now).as_secs_f64() < hours * 3600.0;
            let is_known = states.state(stage).last_success.is_some();
            if opened >= MOST_OPENED || is_known && !(is_recent && asks_the_web) {
                break;
            }
            opened += usize::from(!is_recent);
            let summary: RunSummary = runs::summary(run)?.unwrap_or_default();
            note(states.state(stage), began, &summary);
            for (part, summary) in &summary.stages {
                note(states.state(Some(*part)), began, summary);
            }
            let fetch =
                if stage == Some(StageId::Fetch) { Some(&summary) } else { summary.stages.get(&StageId::Fetch) };
            if let Some(fetch) = fetch.filter(|_| last_fetch < Some(began)) {
                last_fetch = Some(began);
                harvest.given_up = fetch.given_up;
            }
            if let (true, Some(stage)) = (is_recent, stage) {
                harvest.take(stage, began, &summary);
            }
        }
    }
    Ok((states, harvest))
}

/// The median of the intervals between timestamps in descending order.
fn median_gap(moments: &[Timestamp]) -> Option<f64> {
    let mut gaps: Vec<f64> = moments.windows(2).map(|two| elapsed(two[1], two[0]).as_secs_f64()).collect();
    gaps.sort_by(f64::total_cmp);
    gaps.get(gaps.len() / 2).copied()
}

/// Records the result of a run; runs may come in any order.
fn note(state: &mut StageState, began: Timestamp, summary: &RunSummary) {
    if state.last_try.is_none_or(|last| last <= began) {
        state.last_try = Some(began);
        state.trouble = match summary.done {
            Some(true) => None,
            Some(false) => Some(summary.error.clone().unwrap_or_else(|| "incomplete".to_owned())),
            None => Some("interrupted".to_owned()),
        };
    }
    if summary.done == Some(true) {
        state.last_success = state.last_success.max(Some(began));
    }
}

impl Harvest {
    fn take(&mut self, stage: StageId, began: Timestamp, summary: &RunSummary) {
        if self.newest_page.is_none() && summary.fetched > 0 {
            let took = Duration::from_secs_f64(summary.seconds.clamp(0.0, 1e7));
            self.newest_page = Some(began + took);
            self.left = summary.left;
        }
        if stage.stage().inputs().contains(&Data::Web) {
            self.pages += summary.fetched;
            self.failed += summary.failed;
            self.new_entries += summary.new_entries;
            self.requests += summary.requests;
            self.bytes += summary.bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn the_usual_interval_is_not_affected_by_an_outage() {
        let began =
            ["2026-03-09T05:00:00Z", "2026-03-09T04:00:00Z", "2026-03-05T03:00:00Z", "2026-03-05T02:00:00Z"].map(at);
        assert_eq!(median_gap(&began), Some(3600.0));
        assert_eq!((median_gap(&began[..1]), median_gap(&[])), (None, None));
    }

    #[test]
    fn a_failure_is_shown_until_a_later_run_succeeds() {
        let mut state = StageState::default();
        let said =
            |done: bool| RunSummary { done: Some(done), error: Some("no space".into()), ..RunSummary::default() };
        note(&mut state, at("2026-03-09T05:00:00Z"), &said(false));
        note(&mut state, at("2026-03-09T04:00:00Z"), &said(true));
        assert_eq!(state.trouble.as_deref(), Some("no space"));
        assert_eq!(state.last_success, Some(at("2026-03-09T04:00:00Z")));
        note(&mut state, at("2026-03-09T06:00:00Z"), &said(true));
        assert_eq!(state.trouble, None);
        note(&mut state, at("2026-03-09T07:00:00Z"), &RunSummary::default());
        assert_eq!(state.trouble.as_deref(), Some("interrupted"));
    }

    fn log(home: &Home, began: &str, verb: &str, summary: &serde_json::Value) {
        let mut log = runs::RunLog::create(home, &format!("{}-{verb}", tidings_store::stamp(at(began)))).unwrap();
        log.push(&serde_json::json!({ "summary": summary })).unwrap();
        log.publish().unwrap();
    }

    #[test]
    fn a_home_without_run_logs_has_empty_stage_states() {
        let (_folder, pipeline) = crate::test_home::empty();
        let (states, harvest) = read(pipeline.home(), at("2026-03-09T12:00:00Z")).unwrap();
        assert!(states.named().all(|(_, state)| state.last_try.is_none() && state.every_s.is_none()));
        assert_eq!((harvest.hours, harvest.pages), (24.0, 0));
    }

    #[test]
    fn pages_are_counted_over_a_day_and_remaining_ones_from_the_last_run() {
        let (_folder, pipeline) = crate::test_home::empty();
        let home = pipeline.home();
        let fetched = |pages: u64, left: u64| serde_json::json!({ "done": true, "fetched": pages, "left": left, "failed": 1, "seconds": 60.0 });
        log(home, "2026-03-07T10:00:00Z", "fetch", &fetched(1000, 0));
        log(home, "2026-03-09T08:00:00Z", "fetch", &fetched(0, 0));
        log(home, "2026-03-09T09:00:00Z", "fetch", &fetched(10, 5));
        log(home, "2026-03-09T10:00:00Z", "fetch", &fetched(20, 7));
        log(home, "2026-03-09T11:00:00Z", "update", &serde_json::json!({ "done": true, "new_entries": 4 }));
        log(home, "2026-03-09T13:00:00Z", "fetch", &fetched(4000, 0));
        let (states, harvest) = read(home, at("2026-03-09T12:00:00Z")).unwrap();
        assert_eq!((harvest.pages, harvest.failed, harvest.left, harvest.new_entries), (30, 3, 7, 4));
        assert_eq!(harvest.newest_page, Some(at("2026-03-09T10:01:00Z")));
        assert_eq!(
            states[StageId::Fetch].last_success,
            Some(at("2026-03-09T10:00:00Z")),
            "runs with a future date do not count"
        );
    }

    #[test]
    fn a_round_records_the_states_of_its_stages() {
        let (_folder, pipeline) = crate::test_home::empty();
        let summary = serde_json::json!({
            "done": false,
            "stages": { "clean": { "done": true }, "dedup": { "done": false, "error": "no space" } },
        });
        log(pipeline.home(), "2026-03-09T10:00:00Z", "run", &summary);
        let (states, _) = read(pipeline.home(), at("2026-03-09T12:00:00Z")).unwrap();
        assert_eq!(states[StageId::Clean].last_success, Some(at("2026-03-09T10:00:00Z")));
        assert_eq!(states[StageId::Dedup].trouble.as_deref(), Some("no space"));
        assert_eq!(states.rounds.trouble.as_deref(), Some("incomplete"));
        assert_eq!(states[StageId::Fetch].last_try, None);
    }

    #[test]
    fn rare_crawls_are_counted_over_more_than_a_day() {
        let (_folder, pipeline) = crate::test_home::empty();
        for day in ["2026-03-02", "2026-03-04", "2026-03-06"] {
            log(
                pipeline.home(),
                &format!("{day}T10:00:00Z"),
                "fetch",
                &serde_json::json!({ "done": true, "fetched": 5 }),
            );
        }
        let (_, harvest) = read(pipeline.home(), at("2026-03-08T09:00:00Z")).unwrap();
        assert_eq!((harvest.hours, harvest.pages), (72.0, 5));
    }

    #[test]
    fn stages_that_are_off_are_not_watched() {
        let mut states = StageStates::unknown();
        assert!(states.on().any(|(name, _)| name == "crawl"));
        states.off = vec![StageId::Crawl];
        assert!(!states.on().any(|(name, _)| name == "crawl") && states.on().any(|(name, _)| name == "run"));
    }
}
