//! The driver of stages.
//!
//! For every stage: locks the home, recovers, finds the units that are due, processes them one by one until the time
//! limit, a full disk or a cancellation, writes the run log, reports events, and returns the outcome.

use std::collections::VecDeque;
use std::time::Duration;

use anyhow::Result;
use tidings_model::clock;

use crate::cancel::{Cancelled, StopReason};
use crate::context::{RunContext, StageLog};
use crate::pipeline::Pipeline;
use crate::reporter::Event;
use crate::settled::Look;
use crate::shard::Shard;
use crate::stage::{Due, Stage, StageOutcome, StageRun, Unit};
use crate::turns::{self, Turn, Turns, Undivided};

/// The grace period of derived stages: merging large files does not check for cancellation.
const GRACE: Duration = Duration::from_secs(15);

impl Pipeline {
    /// Runs a stage over all units that are due.
    pub fn run(&self, stage: &dyn Stage) -> Result<StageOutcome> {
        // A stage that uses the network is not divided: shard 1 locks the whole home for it.
        let has_all = !stage.is_derived() && self.shard().takes_undivided();
        let shard = if has_all { Shard::WHOLE } else { self.shard() };
        let mut context = RunContext::open(&self.clone().with_shard(shard), stage.id().name())?;
        context.time_limit = context.time_limit.or_else(|| stage.time_limit(&context.config));
        // One process does all units of a stage that cannot be divided.
        let _claim = match turns::claim_all(stage, &context)? {
            Undivided::NotNeeded => None,
            Undivided::Ours(claim) => Some(claim),
            Undivided::Theirs => {
                context.takes_undivided = false;
                None
            }
        };
        self.cancel_token().set_grace(stage.can_be_cut().then_some(GRACE));
        self.reporter().event(&Event::StageBegan { stage: stage.id() });
        let outcome = match self.fresh_outcome(stage, &context)? {
            Some(outcome) => outcome,
            None => self.run_and_note(stage, &context)?,
        };
        self.reporter().event(&Event::StageEnded { stage: stage.id(), outcome: &outcome });
        Ok(outcome)
    }

    /// Runs a stage, and notes for its round whether it has nothing left to do.
    fn run_and_note(&self, stage: &dyn Stage, context: &RunContext) -> Result<StageOutcome> {
        let (home, config) = (&context.home, &context.config);
        let Some(freshness) = self.freshness().filter(|_| context.shard.is_whole()) else {
            return Ok(run_stage(stage, context, Look::at_all(stage, home, config)?)?.0);
        };
        let look = Look::at_newest(stage, home, config, clock::now())?;
        let (outcome, look) = run_stage(stage, context, look)?;
        freshness.note(&outcome, stage.id(), home, config, look.into_settled(stage, home, config)?)?;
        Ok(outcome)
    }

    /// The outcome of a stage whose files did not change since it had nothing left to do.
    fn fresh_outcome(&self, stage: &dyn Stage, context: &RunContext) -> Result<Option<StageOutcome>> {
        let Some(freshness) = self.freshness().filter(|_| context.shard.is_whole()) else { return Ok(None) };
        let units = freshness.units(stage.id(), &context.home, &context.config)?;
        Ok(units.and_then(|units| stage.up_to_date(context, units)))
    }
}

fn run_stage(stage: &dyn Stage, context: &RunContext, mut look: Look) -> Result<(StageOutcome, Look)> {
    let due = &mut look.due;
    let all_due = due.units.len();
    if !context.shard.is_whole() {
        due.units.retain(|unit| match stage.is_divisible() {
            true => context.shard.takes(&unit.name),
            false => context.takes_undivided,
        });
    }
    let mut turns = Turns::new(stage, context);
    let mut log = context.log();
    let mut run = stage.begin(context, due)?;
    let mut done = 0;
    let ended = run_units(context, due, &mut turns, run.as_mut(), &mut log, &mut done);
    let elsewhere = turns.left_to_others();
    let mut ending = context.ending((due.units.len() as u64).saturating_sub(done + elsewhere));
    ending.in_other_shards = (all_due - due.units.len()) as u64 + elsewhere;
    let outcome = run.finish(ending, &mut log)?;
    // The finished units are logged even if the run failed; the caller gets the error.
    let logged = log.finish(&outcome);
    ended?;
    logged?;
    Ok((outcome, look))
}

/// Processes units until all are done, the time limit is reached, the disk is full or the run is cancelled. At least
/// one unit is processed, so that every run makes progress.
fn run_units(
    context: &RunContext,
    due: &Due,
    turns: &mut Turns<'_>,
    run: &mut dyn StageRun,
    log: &mut StageLog<'_>,
    done: &mut u64,
) -> Result<()> {
    let mut units: VecDeque<&Unit> = due.units.iter().collect();
    while let Some(unit) = units.pop_front() {
        if *done > 0 && context.is_over() {
            context.cancel.cancel(StopReason::TimeLimit);
        }
        if context.is_disk_low() {
            context.cancel.cancel(StopReason::DiskFull);
        }
        if context.cancel.is_cancelled() {
            break;
        }
        let _claim = match turns.of(unit)? {
            Turn::Ours(claim) => claim,
            Turn::Done => {
                *done += 1;
                continue;
            }
            Turn::Theirs => continue,
            Turn::Later => {
                units.push_back(unit);
                turns.wait(units.len());
                continue;
            }
        };
        match run.unit(unit, log) {
            Err(error) if error.is::<Cancelled>() => break,
            Err(error) if turns.is_lost(&error) => continue,
            ended => ended?,
        }
        *done += 1;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use anyhow::{Context as _, bail};
    use tidings_store::{Home, Stale, runs};

    use super::*;
    use crate::cancel::CancelToken;
    use crate::config::Config;
    use crate::outcome::{Ending, Outcome as _, Status};
    use crate::stage::clean::CleanOutcome;
    use crate::stage::{Data, StageId};
    use crate::testing::{Recorded, home, logged_runs};

    /// The behaviour of a unit.
    #[derive(Clone)]
    enum At {
        Fail(&'static str),
        Cancel(&'static str, CancelToken),
    }

    /// A stage whose units only write a line to the run log.
    struct Fake {
        units: &'static [&'static str],
        at: Option<At>,
        asks_web: bool,
        divisible: bool,
        done: Mutex<Vec<String>>,
        endings: Mutex<Vec<Ending>>,
    }

    impl Fake {
        fn new(units: &'static [&'static str]) -> Fake {
            Fake {
                units,
                at: None,
                asks_web: false,
                divisible: true,
                done: Mutex::default(),
                endings: Mutex::default(),
            }
        }

        fn done(&self) -> Vec<String> {
            self.done.lock().unwrap().clone()
        }

        fn ending(&self) -> Ending {
            self.endings.lock().unwrap().last().cloned().unwrap()
        }
    }

    impl Stage for Fake {
        fn id(&self) -> StageId {
            StageId::Clean
        }

        fn version(&self) -> u32 {
            1
        }

        fn inputs(&self) -> &'static [Data] {
            if self.asks_web { &[Data::Web] } else { &[Data::Pages] }
        }

        fn outputs(&self) -> &'static [Data] {
            &[Data::Documents]
        }

        fn settings(&self, _: &Config) -> serde_json::Value {
            serde_json::Value::Null
        }

        fn is_divisible(&self) -> bool {
            self.divisible && self.is_derived()
        }

        fn due(&self, _: &Home, _: &Config) -> Result<Due> {
            let units = self.units.iter().map(|name| Unit { name: (*name).to_owned(), why: Stale::New });
            Ok(Due { units: units.collect(), ..Due::default() })
        }

        fn begin<'a>(&'a self, _: &'a RunContext, _: &Due) -> Result<Box<dyn StageRun + 'a>> {
            Ok(Box::new(FakeRun(self)))
        }
    }

    struct FakeRun<'a>(&'a Fake);

    impl StageRun for FakeRun<'_> {
        fn unit(&mut self, unit: &Unit, log: &mut StageLog<'_>) -> Result<()> {
            match &self.0.at {
                Some(At::Fail(name)) if *name == unit.name => bail!("{name} is broken"),
                Some(At::Cancel(name, token)) if *name == unit.name => {
                    token.cancel(StopReason::Cancelled("SIGINT".to_owned()));
                    return Err(Cancelled).context("while processing the unit");
                }
                _ => {}
            }
            log.push(&unit.name)?;
            self.0.done.lock().unwrap().push(unit.name.clone());
            Ok(())
        }

        fn finish(self: Box<Self>, ending: Ending, _: &mut StageLog<'_>) -> Result<StageOutcome> {
            let days = self.0.done().len() as u64;
            let mut outcome = CleanOutcome::default();
            (outcome.done, outcome.days, outcome.days_left) = (ending.is_done(), days, ending.left);
            self.0.endings.lock().unwrap().push(ending);
            Ok(StageOutcome::Clean(outcome))
        }
    }

    #[test]
    fn units_are_processed_in_order() {
        let (_folder, pipeline) = home();
        let stage = Fake::new(&["c", "a", "b"]);
        let outcome = pipeline.run(&stage).unwrap();
        assert_eq!(stage.done(), ["c", "a", "b"]);
        assert_eq!(
            (outcome.status(), stage.ending()),
            (Status::Done, Ending { min_free_mib: stage.ending().min_free_mib, ..Ending::default() })
        );
    }

    #[test]
    fn a_time_limit_ends_a_run_after_at_least_one_unit() {
        let (_folder, pipeline) = home();
        let stage = Fake::new(&["a", "b", "c"]);
        let outcome = pipeline.with_time_limit(Some(Duration::from_nanos(1))).run(&stage).unwrap();
        assert_eq!(stage.done(), ["a"]);
        assert_eq!((stage.ending().left, stage.ending().reason), (2, Some(StopReason::TimeLimit)));
        assert_eq!(outcome.status(), Status::Done);
    }

    #[test]
    fn a_time_limit_of_zero_is_no_limit() {
        let (_folder, pipeline) = home();
        let stage = Fake::new(&["a", "b"]);
        pipeline.with_time_limit(Some(Duration::ZERO)).run(&stage).unwrap();
        assert_eq!((stage.done().len(), stage.ending().reason), (2, None));
    }

    #[test]
    fn a_run_cancelled_before_its_start_does_nothing() {
        let (_folder, pipeline) = home();
        pipeline.cancel_token().cancel(StopReason::Cancelled("SIGTERM".to_owned()));
        let stage = Fake::new(&["a"]);
        let outcome = pipeline.run(&stage).unwrap();
        assert!(stage.done().is_empty());
        assert_eq!((outcome.status(), stage.ending().left), (Status::NotDone, 1));
        assert!(logged_runs(pipeline.home()).is_empty());
    }

    #[test]
    fn a_cancelled_unit_is_left_for_the_next_run() {
        let (_folder, pipeline) = home();
        let at = At::Cancel("b", pipeline.cancel_token().clone());
        let stage = Fake { at: Some(at), ..Fake::new(&["a", "b", "c"]) };
        let outcome = pipeline.run(&stage).unwrap();
        assert_eq!(stage.done(), ["a"]);
        assert_eq!(stage.ending().left, 2);
        assert_eq!(stage.ending().reason, Some(StopReason::Cancelled("SIGINT".to_owned())));
        assert_eq!(outcome.status(), Status::NotDone);
    }

    #[test]
    fn a_time_limit_does_not_cancel_the_token_of_the_caller() {
        let (_folder, pipeline) = home();
        let pipeline = pipeline.with_time_limit(Some(Duration::from_nanos(1)));
        pipeline.run(&Fake::new(&["a", "b"])).unwrap();
        assert!(!pipeline.cancel_token().is_cancelled());
        let next = Fake::new(&["b"]);
        pipeline.run(&next).unwrap();
        assert_eq!(next.done(), ["b"]);
    }

    #[test]
    fn a_full_disk_stops_a_run_before_its_first_unit() {
        let (_folder, pipeline) = home();
        let mut config = pipeline.config().clone();
        config.store.min_free_mib = 1 << 40;
        let stage = Fake::new(&["a", "b"]);
        let outcome = pipeline.with_config(config).run(&stage).unwrap();
        assert!(stage.done().is_empty());
        assert_eq!(stage.ending().reason, Some(StopReason::DiskFull));
        assert_eq!((stage.ending().left, stage.ending().min_free_mib), (2, 1 << 40));
        assert_eq!(outcome.status(), Status::NotDone);
    }

    #[test]
    fn a_failing_unit_ends_the_run_and_leaves_a_log_with_what_was_done() {
        let (_folder, pipeline) = home();
        let stage = Fake { at: Some(At::Fail("b")), ..Fake::new(&["a", "b", "c"]) };
        let error = pipeline.run(&stage).unwrap_err();
        assert_eq!(error.to_string(), "b is broken");
        assert_eq!((stage.done(), stage.ending().left), (vec!["a".to_owned()], 2));
        let logged = runs::all(pipeline.home()).unwrap();
        let summary: CleanOutcome = runs::summary(&logged[0]).unwrap().unwrap();
        assert_eq!((logged.len(), summary.days, summary.days_left), (1, 1, 2));
    }

    #[test]
    fn a_run_with_nothing_due_leaves_no_log() {
        let (_folder, pipeline) = home();
        pipeline.run(&Fake::new(&[])).unwrap();
        assert!(logged_runs(pipeline.home()).is_empty());
    }

    #[test]
    fn shards_divide_the_units_without_overlap() {
        const UNITS: &[&str] = &["2026-03-01", "2026-03-02", "2026-03-03", "2026-03-04", "2026-03-05", "2026-03-06"];
        let (_folder, pipeline) = home();
        let mut all = Vec::new();
        for index in 1..=3 {
            let stage = Fake::new(UNITS);
            pipeline.clone().with_shard(Shard::new(index, 3).unwrap()).run(&stage).unwrap();
            assert_eq!(stage.ending().left, 0);
            all.extend(stage.done());
        }
        all.sort();
        assert_eq!(all, UNITS);
    }

    #[test]
    fn a_stage_that_cannot_be_divided_is_done_by_the_first_shard() {
        let (_folder, pipeline) = home();
        for (index, expected) in [(1, 3), (2, 0)] {
            let stage = Fake { divisible: false, ..Fake::new(&["a", "b", "c"]) };
            pipeline.clone().with_shard(Shard::new(index, 2).unwrap()).run(&stage).unwrap();
            assert_eq!(stage.done().len(), expected, "shard {index}");
        }
    }

    #[test]
    fn the_first_shard_of_a_network_stage_locks_the_whole_home() {
        let (_folder, pipeline) = home();
        let stage = Fake { asks_web: true, ..Fake::new(&["pages"]) };
        pipeline.clone().with_shard(Shard::new(1, 2).unwrap()).run(&stage).unwrap();
        assert_eq!(stage.done(), ["pages"]);
        assert_eq!(logged_runs(pipeline.home()), ["clean"]);
    }

    #[test]
    fn the_log_of_a_shard_names_the_shard() {
        let (_folder, pipeline) = home();
        let stage = Fake { divisible: false, ..Fake::new(&["a"]) };
        pipeline.clone().with_shard(Shard::new(1, 2).unwrap()).run(&stage).unwrap();
        assert_eq!(logged_runs(pipeline.home()), ["clean-1-of-2"]);
    }

    #[test]
    fn the_reporter_gets_the_start_and_the_end_of_a_stage() {
        let (_folder, pipeline) = home();
        let recorded = Recorded::shared();
        let pipeline = pipeline.with_reporter(recorded.clone());
        pipeline.run(&Fake::new(&["a"])).unwrap();
        assert_eq!(recorded.lines(), ["clean began", "clean ended"]);
    }

    #[test]
    fn only_derived_stages_set_a_grace_period() {
        let (_folder, pipeline) = home();
        pipeline.run(&Fake::new(&[])).unwrap();
        assert_eq!(pipeline.cancel_token().grace(), Some(GRACE));
        pipeline.run(&Fake { asks_web: true, ..Fake::new(&[]) }).unwrap();
        assert_eq!(pipeline.cancel_token().grace(), None);
    }

    #[test]
    fn a_second_run_in_a_locked_home_is_rejected() {
        let (_folder, pipeline) = home();
        let _held = pipeline.home().lock().unwrap();
        let stage = Fake::new(&["a"]);
        assert!(pipeline.run(&stage).is_err());
        assert!(stage.done().is_empty());
    }
}
