//! How the stages go, by the records of their runs.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use jiff::Timestamp;
use serde_json::Value;
use tidings_store::{Home, runs};

use crate::session::elapsed;

/// The stages, in their order, and rounds through all of them.
pub const STAGES: [&str; 7] = ["update", "fetch", "clean", "dedup", "annotate", "compile", "run"];

/// No more records are opened to find a success: where there is none for that long, that is what to say.
const MOST_OPENED: usize = 60;
/// Runs whose distance tells how often there is one.
const RECENT: usize = 12;

/// How a stage goes.
#[derive(Debug, Clone, Default, serde::Serialize)]
pub struct StageState {
    /// When it last began.
    pub last_try: Option<Timestamp>,
    /// When it last began and came to a good end.
    pub last_success: Option<Timestamp>,
    /// What was wrong when it did not.
    pub trouble: Option<String>,
    /// How far apart its runs begin, in seconds: the median of the last few.
    pub every_s: Option<f64>,
}

/// What harvesting brought of late.
#[derive(Debug, Clone, Default, serde::Serialize)]
pub struct Harvest {
    /// The hours that are looked at: a day, or more where harvests are further apart.
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
    /// When the last run that stored pages ended.
    pub newest_page: Option<Timestamp>,
    /// Entries that updates put into the plan.
    pub new_entries: u64,
}

/// Looks at the records, the newest first.
pub fn read(home: &Home, now: Timestamp) -> Result<(BTreeMap<&'static str, StageState>, Harvest)> {
    let logs: Vec<(Timestamp, String, PathBuf)> = runs::files(home)?
        .into_iter()
        .rev()
        .filter_map(|path| runs::name_of(&path).map(|(began, verb)| (began, verb, path)))
        .filter(|(began, ..)| *began <= now)
        .collect();
    let mut stages: BTreeMap<&'static str, StageState> =
        STAGES.into_iter().map(|stage| (stage, StageState::default())).collect();
    for stage in STAGES {
        let began = logs.iter().filter(|(_, verb, _)| verb == stage).map(|log| log.0).take(RECENT);
        stages.entry(stage).or_default().every_s = median_gap(&began.collect::<Vec<_>>());
    }
    // One and a half of the usual distances hold a harvest for certain, even if it is a little late.
    let hours = stages["fetch"].every_s.map_or(24.0, |every| (1.5 * every / 3600.0).max(24.0));
    let mut harvest = Harvest { hours, ..Harvest::default() };
    for stage in STAGES {
        let mut opened = 0;
        for (began, _, path) in logs.iter().filter(|(_, verb, _)| verb == stage) {
            let is_recent = elapsed(*began, now).as_secs_f64() < hours * 3600.0;
            let is_known = stages[stage].last_success.is_some();
            if opened >= MOST_OPENED || is_known && !(is_recent && matches!(stage, "update" | "fetch")) {
                break;
            }
            opened += usize::from(!is_recent);
            let summary = runs::summary(path)?.unwrap_or_default();
            note(&mut stages, stage, *began, &summary);
            if stage == "run"
                && let Some(parts) = summary["stages"].as_object()
            {
                // Stages that found nothing to do keep no record of their own.
                for (part, said) in parts {
                    if let Some(known) = STAGES.iter().find(|stage| *stage == part) {
                        note(&mut stages, known, *began, said);
                    }
                }
            }
            if is_recent {
                harvest.take(stage, *began, &summary);
            }
        }
    }
    Ok((stages, harvest))
}

/// The median of the distances between moments, the newest of which comes first.
fn median_gap(moments: &[Timestamp]) -> Option<f64> {
    let mut gaps: Vec<f64> = moments.windows(2).map(|two| elapsed(two[1], two[0]).as_secs_f64()).collect();
    gaps.sort_by(f64::total_cmp);
    gaps.get(gaps.len() / 2).copied()
}

/// Takes note of how a run of a stage ended; runs may come in any order.
fn note(stages: &mut BTreeMap<&'static str, StageState>, stage: &'static str, began: Timestamp, said: &Value) {
    let state = stages.entry(stage).or_default();
    let done = said["done"].as_bool();
    if state.last_try.is_none_or(|last| last <= began) {
        state.last_try = Some(began);
        state.trouble = match done {
            Some(true) => None,
            Some(false) => Some(said["error"].as_str().unwrap_or("it did not do all of its work").to_owned()),
            None => Some("it did not come to its end".to_owned()),
        };
    }
    if done == Some(true) {
        state.last_success = state.last_success.max(Some(began));
    }
}

impl Harvest {
    fn take(&mut self, stage: &str, began: Timestamp, summary: &Value) {
        let number = |name: &str| summary[name].as_u64().unwrap_or(0);
        match stage {
            "fetch" => {
                if self.newest_page.is_none() && number("fetched") > 0 {
                    let took = Duration::from_secs_f64(summary["seconds"].as_f64().unwrap_or(0.0).clamp(0.0, 1e7));
                    self.newest_page = Some(began + took);
                    self.left = number("left");
                }
                self.pages += number("fetched");
                self.failed += number("failed");
            }
            "update" => self.new_entries += number("new_entries"),
            _ => return,
        }
        self.requests += number("requests");
        self.bytes += number("bytes");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn the_rhythm_is_that_of_most_runs_whatever_an_outage_did() {
        let began =
            ["2026-03-09T05:00:00Z", "2026-03-09T04:00:00Z", "2026-03-05T03:00:00Z", "2026-03-05T02:00:00Z"].map(at);
        assert_eq!(median_gap(&began), Some(3600.0));
        assert_eq!((median_gap(&began[..1]), median_gap(&[])), (None, None));
    }

    #[test]
    fn a_failure_is_told_until_a_later_run_succeeds() {
        let mut stages = BTreeMap::new();
        let said = |done: bool| serde_json::json!({ "done": done, "error": "no room" });
        note(&mut stages, "fetch", at("2026-03-09T05:00:00Z"), &said(false));
        note(&mut stages, "fetch", at("2026-03-09T04:00:00Z"), &said(true));
        assert_eq!(stages["fetch"].trouble.as_deref(), Some("no room"));
        assert_eq!(stages["fetch"].last_success, Some(at("2026-03-09T04:00:00Z")));
        note(&mut stages, "fetch", at("2026-03-09T06:00:00Z"), &said(true));
        assert_eq!(stages["fetch"].trouble, None);
        note(&mut stages, "fetch", at("2026-03-09T07:00:00Z"), &Value::Null);
        assert_eq!(stages["fetch"].trouble.as_deref(), Some("it did not come to its end"));
    }
}
