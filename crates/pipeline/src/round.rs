//! A round: all stages one after the other, each within its time limit, and a record of the results.
//!
//! A failed stage does not stop the following ones: stored pages can be processed while the network is down.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Result, anyhow, bail};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tidings_model::clock;
use tidings_store::runs::RunLog;
use tidings_store::scrub::damaged_files;
use tidings_store::{Error, rfc3339};

use crate::config::Config;
use crate::context::unused_name;
use crate::display::{count, span_s};
use crate::freshness::Freshness;
use crate::guard::guarded;
use crate::outcome::{Outcome, Status};
use crate::pipeline::Pipeline;
use crate::prune;
use crate::report;
use crate::scrub;
use crate::stage::{StageId, StageOutcome};
use crate::webhooks::{self, WebhookOutcome};

/// The interval at which a round checks whether another command has released the home.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// A report older than this is written again.
const REPORT_AGE: Duration = Duration::from_secs(24 * 3600);
/// Files are scrubbed again after this time.
const SCRUB_AGE: Duration = Duration::from_secs(20 * 3600);
/// The minimum time for a stage: a limit of zero would mean no limit.
const LEAST: Duration = Duration::from_secs(1);

/// Options of a round.
#[derive(Debug, Clone, Default)]
pub struct RoundOptions {
    /// The first stage; the first of all if absent.
    pub from: Option<StageId>,
    /// The stages, in their own order; all that are on if empty.
    pub stages: Vec<StageId>,
    /// Time limit of all stages together; `run.total` of the settings if absent.
    pub time_limit: Option<Duration>,
}

impl RoundOptions {
    /// Whether a stage is part of the round.
    fn selects(&self, stage: StageId, config: &Config) -> bool {
        let is_on = stage.stage().is_on(config) || self.from == Some(stage);
        match self.stages.is_empty() {
            true => is_on && self.from.is_none_or(|from| stage >= from),
            false => self.stages.contains(&stage),
        }
    }
}

/// The result of a stage in a round.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(untagged)]
pub enum RoundStage {
    /// The stage ended with an outcome.
    Ended(Box<StageOutcome>),
    /// It failed.
    Failed {
        /// Always false.
        done: bool,
        /// The reason.
        error: String,
        /// Duration in seconds.
        seconds: f64,
    },
}

/// The outcome of a round.
#[derive(Debug, Clone, Default, Serialize)]
pub struct RoundOutcome {
    /// The result of each stage.
    #[serde(flatten)]
    pub stages: BTreeMap<StageId, RoundStage>,
    /// The webhooks of saved searches that had new hits.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub webhooks: Vec<WebhookOutcome>,
    #[serde(skip)]
    status: Status,
    #[serde(skip)]
    seconds: f64,
}

impl Outcome for RoundOutcome {
    fn status(&self) -> Status {
        self.status
    }
}

impl RoundOutcome {
    fn outcome(&self, stage: StageId) -> Option<&StageOutcome> {
        match self.stages.get(&stage)? {
            RoundStage::Ended(outcome) => Some(outcome),
            RoundStage::Failed { .. } => None,
        }
    }
}

/// The line that a person can quote.
impl fmt::Display for RoundOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mut pages, mut documents, mut tokens) = (0, 0, 0);
        for stage in StageId::ALL {
            match self.outcome(*stage) {
                Some(StageOutcome::Fetch(fetch)) => pages += fetch.fetched,
                Some(StageOutcome::Crawl(crawl)) => pages += crawl.kept,
                Some(StageOutcome::Clean(clean)) => documents = clean.documents,
                Some(StageOutcome::Compile(compile)) => tokens = compile.tokens_added,
                _ => {}
            }
        }
        let failed = if self.status == Status::NotDone { ", incomplete" } else { "" };
        writeln!(
            f,
            "{:<9} {} fetched, {} made, {} searchable{failed}, {}",
            "run",
            count(pages, "page"),
            count(documents, "document"),
            count(tokens, "new token"),
            span_s(self.seconds),
        )
    }
}

/// The record of a round in `runs/`.
#[derive(Serialize)]
struct RoundRecord<'a> {
    summary: RoundSummary<'a>,
}

#[derive(Serialize)]
struct RoundSummary<'a> {
    done: bool,
    stages: &'a BTreeMap<StageId, RoundStage>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    webhooks: &'a [WebhookOutcome],
    seconds: f64,
}

#[derive(Serialize)]
struct Began {
    began: String,
}

/// Runs the stages once. `before` and `after` are called when each stage begins and ends.
pub fn run_round(
    pipeline: &Pipeline,
    options: &RoundOptions,
    before: &dyn Fn(&str),
    after: &dyn Fn(StageId, &RoundStage),
) -> Result<RoundOutcome> {
    // The settings are read again in each round, so that a service uses their current values.
    let config = Config::of_home(pipeline.home())?;
    let total = options.time_limit.unwrap_or(config.run.total.0);
    let round = Round {
        pipeline: pipeline.clone().with_config(config),
        total,
        started: clock::now(),
        began: Instant::now(),
        freshness: Arc::default(),
    };
    round.go(options, before, after)
}

struct Round {
    pipeline: Pipeline,
    total: Duration,
    started: Timestamp,
    began: Instant,
    freshness: Arc<Freshness>,
}

impl Round {
    fn go(
        self,
        options: &RoundOptions,
        before: &dyn Fn(&str),
        after: &dyn Fn(StageId, &RoundStage),
    ) -> Result<RoundOutcome> {
        let mut outcome = RoundOutcome::default();
        let cancel = self.pipeline.cancel_token();
        for stage in StageId::ALL.iter().copied().filter(|stage| options.selects(*stage, self.pipeline.config())) {
            if cancel.is_cancelled() {
                log::info!("{stage} and the following stages are left for a later run");
                outcome.status = Status::NotDone;
                break;
            }
            before(stage.name());
            let began = Instant::now();
            let ended = match self.stage(stage) {
                Ok(ended) => {
                    outcome.status = outcome.status.max(ended.status());
                    RoundStage::Ended(Box::new(ended))
                }
                Err(error) => {
                    log::error!("{stage}: {error:#}");
                    outcome.status = Status::NotDone;
                    let (error, seconds) = (format!("{error:#}"), began.elapsed().as_secs_f64());
                    RoundStage::Failed { done: false, error, seconds }
                }
            };
            after(stage, &ended);
            outcome.stages.insert(stage, ended);
        }
        if !cancel.is_cancelled() {
            if let Err(error) = self.housekeeping() {
                log::error!("prune: {error:#}");
                outcome.status = Status::NotDone;
            }
            match self.scrub() {
                Ok(damaged) if damaged.is_empty() => {}
                Ok(_) => outcome.status = outcome.status.max(Status::Partly),
                Err(error) => {
                    log::error!("scrub: {error:#}");
                    outcome.status = Status::NotDone;
                }
            }
        }
        if !cancel.is_cancelled() {
            match webhooks::notify(&self.pipeline) {
                Ok(notified) => outcome.webhooks = notified,
                Err(error) => log::error!("webhooks: {error:#}"),
            }
            if outcome.webhooks.iter().any(|webhook| !webhook.done) {
                outcome.status = outcome.status.max(Status::Partly);
            }
        }
        if self.pipeline.config().run.report && !self.has_fresh_report() && !cancel.is_cancelled() {
            before("report");
            if let Err(error) = report::write(&self.pipeline) {
                log::error!("report: {error:#}");
                outcome.status = Status::NotDone;
            }
        }
        outcome.seconds = self.began.elapsed().as_secs_f64();
        if let Err(error) = self.record(&outcome) {
            log::error!("cannot write the record of this run: {error:#}");
            outcome.status = Status::NotDone;
        }
        if self.freshness.has_news()
            && let Err(error) = self.record_fresh()
        {
            log::warn!("the next run looks at every day again: {error:#}");
        }
        if outcome.status == Status::Done
            && let Err(error) = self.end_cleanly()
        {
            log::warn!("the next run searches for what a crash left: {error:#}");
        }
        Ok(outcome)
    }

    /// Records that nothing is left to recover, so that the next process need not search the home.
    fn end_cleanly(&self) -> Result<()> {
        let home = self.pipeline.home();
        let lock = home.lock()?;
        Ok(home.end_cleanly(&lock)?)
    }

    /// Records the stages that have nothing left to do, so that the next round need not look at every day.
    fn record_fresh(&self) -> Result<()> {
        let home = self.pipeline.home();
        let _lock = home.lock()?;
        self.freshness.record(home, self.pipeline.config())
    }

    /// Runs a stage within its time limit. A panic is a failure of that stage.
    fn stage(&self, stage: StageId) -> Result<StageOutcome> {
        self.await_home()?;
        let own = self.pipeline.config().run.limit(stage);
        let limit = allowance(own, self.total, self.began.elapsed());
        let pipeline = self.pipeline.clone().with_time_limit(Some(limit)).with_freshness(self.freshness.clone());
        guarded(|| pipeline.run(stage.stage().as_ref())).unwrap_or_else(|panicked| Err(anyhow!(panicked)))
    }

    /// Whether no file changed since all derived stages had nothing left to do.
    fn is_unchanged(&self) -> bool {
        let derived = StageId::ALL.iter().filter(|stage| stage.stage().is_derived()).count();
        self.freshness.skipped() == derived
    }

    /// Prunes the plan once a day.
    fn housekeeping(&self) -> Result<()> {
        self.await_home()?;
        if let Some(outcome) = prune::daily(&self.pipeline)?.filter(|outcome| outcome.pruned > 0) {
            log::info!("prune: {}", outcome.to_string().trim_end());
        }
        Ok(())
    }

    /// Reads a share of all files once a day, and while some are damaged; returns the damaged ones.
    fn scrub(&self) -> Result<Vec<String>> {
        let home = self.pipeline.home();
        let is_recent = scrub::age(home, self.started)?.is_some_and(|age| age < SCRUB_AGE);
        if is_recent && (self.is_unchanged() || damaged_files(home)?.is_empty()) {
            return Ok(Vec::new());
        }
        self.await_home()?;
        let _lock = home.lock()?;
        scrub::scrub(home, self.started)
    }

    fn has_fresh_report(&self) -> bool {
        let written = self.pipeline.home().report_time();
        written.is_some_and(|at| SystemTime::now().duration_since(at).is_ok_and(|age| age < REPORT_AGE))
    }

    /// Waits while another command holds the lock of the home; only the total time limit bounds the wait.
    fn await_home(&self) -> Result<()> {
        let mut told = false;
        loop {
            match self.pipeline.home().lock() {
                // The stage locks the home itself.
                Ok(_) => return Ok(()),
                Err(Error::Locked { .. }) if !told => {
                    log::info!("the home is locked by another command; waiting for it");
                    told = true;
                }
                Err(Error::Locked { .. }) => {}
                Err(error) => return Err(error.into()),
            }
            if !self.total.is_zero() && self.began.elapsed() >= self.total {
                bail!("the home was locked by another command until the time limit; run again later");
            }
            if self.pipeline.cancel_token().wait(LOOK_EVERY) {
                bail!("the home is locked by another command");
            }
        }
    }

    /// Records the round in `runs/`.
    fn record(&self, outcome: &RoundOutcome) -> Result<()> {
        let home = self.pipeline.home();
        let _lock = home.lock()?;
        let mut log = RunLog::create(home, &unused_name(home, self.started, "run")?)?;
        log.push(&Began { began: rfc3339(self.started) })?;
        let done = outcome.status != Status::NotDone;
        let RoundOutcome { stages, webhooks, seconds, .. } = outcome;
        let summary = RoundSummary { done, stages, webhooks, seconds: *seconds };
        log.push(&RoundRecord { summary })?;
        log.publish()?;
        Ok(())
    }
}

/// The smaller of two limits, where 0 is no limit. The second one counts from the start of the round.
fn allowance(own: Duration, total: Duration, gone: Duration) -> Duration {
    let left = (!total.is_zero()).then(|| total.saturating_sub(gone).max(LEAST));
    match (own.is_zero(), left) {
        (_, None) => own,
        (true, Some(left)) => left,
        (false, Some(left)) => own.min(left),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{FEED, article, home, home_with_feeds, page, store_pages};

    #[test]
    fn a_stage_has_its_own_limit_within_the_remaining_total() {
        let s = Duration::from_secs;
        assert_eq!(allowance(s(600), s(0), s(5000)), s(600));
        assert_eq!(allowance(s(0), s(0), s(5000)), s(0));
        assert_eq!(allowance(s(600), s(3600), s(600)), s(600));
        assert_eq!(allowance(s(600), s(3600), s(3300)), s(300));
        assert_eq!(allowance(s(0), s(3600), s(3300)), s(300));
        assert_eq!(allowance(s(600), s(3600), s(9000)), LEAST);
    }

    fn go(pipeline: &Pipeline, from: Option<StageId>) -> (RoundOutcome, Vec<String>) {
        let heard = std::cell::RefCell::new(Vec::new());
        let options = RoundOptions { from, ..RoundOptions::default() };
        let outcome =
            run_round(pipeline, &options, &|name| heard.borrow_mut().push(name.to_owned()), &|stage, ended| {
                let word = if matches!(ended, RoundStage::Failed { .. }) { "failed" } else { "ended" };
                heard.borrow_mut().push(format!("{stage} {word}"));
            });
        (outcome.unwrap(), heard.into_inner())
    }

    #[test]
    fn a_failed_stage_does_not_stop_the_others() {
        let (_folder, pipeline) = home_with_feeds(FEED);
        // No contact is set, so `update` refuses to contact a public host.
        store_pages(&pipeline, "2026-03-01", &[page("https://gazette.example/1", &article("ferry"))]);
        let (outcome, heard) = go(&pipeline, None);
        assert_eq!(outcome.status(), Status::NotDone);
        let Some(RoundStage::Failed { done, error, .. }) = outcome.stages.get(&StageId::Update) else {
            panic!("{:?}", outcome.stages.get(&StageId::Update));
        };
        assert!(!done && error.contains("set `contact`"), "{error}");
        assert_eq!(heard[..3], ["update", "update failed", "fetch"]);
        assert!(heard.contains(&"compile ended".to_owned()));
        let text = outcome.to_string();
        assert!(text.starts_with("run       0 pages fetched, 1 document made, "), "{text}");
        assert!(text.contains(", incomplete, "), "{text}");
    }

    #[test]
    fn a_round_is_recorded_with_the_result_of_each_stage() {
        let (_folder, pipeline) = home();
        go(&pipeline, Some(StageId::Annotate));
        let logged = tidings_store::runs::all(pipeline.home()).unwrap();
        let summary: serde_json::Value = tidings_store::runs::summary(logged.last().unwrap()).unwrap().unwrap();
        assert_eq!(summary["done"], true);
        let stages: Vec<&String> = summary["stages"].as_object().unwrap().keys().collect();
        assert_eq!(stages, ["annotate", "compile"]);
    }

    #[test]
    fn a_round_may_start_at_a_later_stage() {
        let (_folder, pipeline) = home();
        let (outcome, heard) = go(&pipeline, Some(StageId::Compile));
        assert_eq!(outcome.status(), Status::Done);
        assert_eq!(heard[..2], ["compile", "compile ended"]);
    }

    #[test]
    fn a_round_may_consist_of_some_stages_and_includes_those_that_are_on() {
        let mut config = Config::default();
        let selected = |options: &RoundOptions, config: &Config| -> Vec<&str> {
            StageId::ALL.iter().filter(|stage| options.selects(**stage, config)).map(|stage| stage.name()).collect()
        };
        let all = RoundOptions::default();
        assert!(!selected(&all, &config).contains(&"crawl"));
        let some = RoundOptions { stages: vec![StageId::Clean, StageId::Crawl], ..RoundOptions::default() };
        assert_eq!(selected(&some, &config), ["crawl", "clean"]);
        config.crawl.names = vec!["web".into()];
        assert_eq!(selected(&all, &config), ["update", "fetch", "crawl", "clean", "dedup", "annotate", "compile"]);
    }

    #[test]
    fn a_cancelled_round_skips_the_remaining_stages() {
        let (_folder, pipeline) = home();
        pipeline.cancel_token().cancel(crate::cancel::StopReason::Cancelled("SIGTERM".into()));
        let (outcome, heard) = go(&pipeline, None);
        assert_eq!((outcome.status(), outcome.stages.len(), heard.len()), (Status::NotDone, 0, 0));
    }

    #[test]
    fn a_locked_home_fails_each_stage_at_the_time_limit() {
        let (_folder, pipeline) = home();
        let _held = pipeline.home().lock().unwrap();
        let round = Round {
            pipeline: pipeline.clone(),
            total: Duration::from_nanos(1),
            started: clock::now(),
            began: Instant::now(),
            freshness: Arc::default(),
        };
        let error = round.await_home().unwrap_err().to_string();
        assert!(error.starts_with("the home was locked by another command until"), "{error}");
    }

    #[test]
    fn the_outcome_is_an_object_with_a_key_for_each_stage() {
        let mut outcome = RoundOutcome::default();
        let failed = RoundStage::Failed { done: false, error: "no disk".into(), seconds: 0.5 };
        outcome.stages.insert(StageId::Clean, failed);
        let json = serde_json::to_value(&outcome).unwrap();
        assert_eq!(json, serde_json::json!({ "clean": { "done": false, "error": "no disk", "seconds": 0.5 } }));
    }

    #[test]
    fn a_successful_round_is_one_line() {
        assert_eq!(
            RoundOutcome::default().to_string(),
            "run       0 pages fetched, 0 documents made, 0 new tokens searchable, 0.0 s\n"
        );
    }
}
