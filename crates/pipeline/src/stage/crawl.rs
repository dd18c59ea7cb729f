//! `crawl`: continues the crawls of `crawl.names` for a share of each round.
//!
//! A crawl may take weeks. In a round it gets a bounded number of pages and minutes, so that feeds are polled on time and
//! its pages become searchable while it goes on. `tidings crawl` is the same without a round.

use std::fmt;

use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};
use tidings_model::clock;
use tidings_store::{Home, Stale};

use super::{Data, Due, Stage, StageId, StageOutcome, StageRun, Unit};
use crate::config::Config;
use crate::context::{RunContext, StageLog};
use crate::crawl::{self, Budget, CrawlOutcome, Options};
use crate::outcome::{Ending, Outcome, Status};

/// Links → pages.
#[derive(Debug, Clone, Default)]
pub struct Crawl {
    /// Seed of the random draws; random if absent.
    pub seed: Option<u64>,
}

/// The outcome of `crawl` in a round.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CrawlStageOutcome {
    /// Whether all that could be done was done.
    pub done: bool,
    /// The name of the run.
    pub run: String,
    /// Each crawl.
    pub crawls: Vec<CrawlOutcome>,
    /// Pages that were stored.
    pub kept: u64,
    /// Pages that were not stored.
    pub refused: u64,
    /// URLs that gave no page.
    pub failed: u64,
    /// New words in the wanted languages.
    pub tokens: u64,
    /// Requests that were sent.
    pub requests: u64,
    /// Bytes that were received.
    pub bytes: u64,
    /// Crawls that are left for a later run.
    pub left: u64,
    /// Duration in seconds.
    pub seconds: f64,
    #[serde(skip)]
    text: String,
}

impl Outcome for CrawlStageOutcome {
    fn status(&self) -> Status {
        match self.done {
            false => Status::NotDone,
            true => self.crawls.iter().map(Outcome::status).max().unwrap_or_default(),
        }
    }
}

impl fmt::Display for CrawlStageOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Stage for Crawl {
    fn id(&self) -> StageId {
        StageId::Crawl
    }

    fn version(&self) -> u32 {
        1
    }

    fn inputs(&self) -> &'static [Data] {
        &[Data::Web]
    }

    fn outputs(&self) -> &'static [Data] {
        &[Data::Pages]
    }

    fn settings(&self, config: &Config) -> serde_json::Value {
        serde_json::json!({ "crawl": config.crawl, "fetch": config.fetch })
    }

    fn minutes_in_a_round(&self) -> u64 {
        10
    }

    fn is_on(&self, config: &Config) -> bool {
        !config.crawl.names.is_empty() && !config.run.has_ended(clock::now())
    }

    fn due(&self, home: &Home, config: &Config) -> Result<Due> {
        let seeds = crawl::round_seeds(home, config)?;
        let mut due = Due::default();
        for name in &config.crawl.names {
            match crawl::is_due(home, name, &seeds, clock::now())? {
                true => due.units.push(Unit { name: name.clone(), why: Stale::Schedule }),
                false => due.up_to_date += 1,
            }
        }
        Ok(due)
    }

    fn begin<'a>(&'a self, context: &'a RunContext, due: &Due) -> Result<Box<dyn StageRun + 'a>> {
        let outcome = CrawlStageOutcome::default();
        Ok(Box::new(CrawlRun { stage: self, context, left: due.units.len(), up_to_date: due.up_to_date, outcome }))
    }
}

/// The stage at work.
struct CrawlRun<'a> {
    stage: &'a Crawl,
    context: &'a RunContext,
    /// Crawls that are yet to run.
    left: usize,
    up_to_date: u64,
    outcome: CrawlStageOutcome,
}

impl StageRun for CrawlRun<'_> {
    fn unit(&mut self, unit: &Unit, log: &mut StageLog<'_>) -> Result<()> {
        let config = &self.context.config;
        let seeds = crawl::round_seeds(&self.context.home, config)?;
        // The time that is left is shared by the crawls that are left.
        let time = self.context.time_left().map(|left| left / self.left.max(1) as u32);
        let pages = Some(config.crawl.round_pages).filter(|pages| *pages > 0);
        let budget = Budget { pages, time, ..Budget::default() };
        let options = Options { name: unit.name.clone(), budget, seed: self.stage.seed, ..Options::default() };
        // Each crawl has a journal and page files of its own, so each is a run of its own.
        let outcome = match self.outcome.crawls.is_empty() {
            true => crawl::run_in(self.context, log, &options, seeds),
            false => {
                let follow_up = self.context.follow_up("crawl")?;
                let mut log = follow_up.log();
                let outcome = crawl::run_in(&follow_up, &mut log, &options, seeds);
                outcome.and_then(|outcome| log.finish(&outcome).map(|()| outcome))
            }
        };
        let outcome = outcome.with_context(|| format!("crawl `{}`", unit.name))?;
        self.left -= 1;
        self.outcome.add(outcome);
        Ok(())
    }

    fn finish(self: Box<Self>, ending: Ending, _: &mut StageLog<'_>) -> Result<StageOutcome> {
        let mut outcome = self.outcome;
        crawl::grow(self.context, outcome.kept)?;
        if outcome.crawls.is_empty() {
            outcome.text = match (ending.left, self.up_to_date) {
                (0, 0) if self.context.shard.takes_undivided() => {
                    "nothing to do: the setting crawl.names has no crawl\n".to_owned()
                }
                (0, 0) => super::LEFT_TO_FIRST_SHARD.to_owned(),
                (0, _) => "nothing left that is worth a request\n".to_owned(),
                _ => format!("no page requested{}\n", ending.after(String::new())),
            };
        }
        outcome.left = ending.left;
        outcome.done = ending.is_done() && outcome.crawls.iter().all(|crawl| crawl.done);
        outcome.run.clone_from(&self.context.run);
        outcome.seconds = self.context.seconds();
        Ok(StageOutcome::Crawl(outcome))
    }
}

impl CrawlStageOutcome {
    fn add(&mut self, crawl: CrawlOutcome) {
        self.kept += crawl.kept;
        self.refused += crawl.refused;
        self.failed += crawl.failed;
        self.tokens += crawl.tokens;
        self.requests += crawl.requests;
        self.bytes += crawl.bytes;
        self.text.push_str(&crawl.to_string());
        self.crawls.push(crawl);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Pipeline;
    use crate::testing::home;

    fn with_names(pipeline: &Pipeline, names: &[&str], seeds: &str) -> Pipeline {
        let mut config = pipeline.config().clone();
        config.crawl.names = names.iter().map(|name| (*name).to_owned()).collect();
        config.crawl.seeds = seeds.to_owned();
        pipeline.clone().with_config(config)
    }

    #[test]
    fn the_stage_is_off_and_has_nothing_to_do_by_default() {
        let (_folder, pipeline) = home();
        assert!(!Crawl::default().is_on(pipeline.config()));
        let due = Crawl::default().due(pipeline.home(), pipeline.config()).unwrap();
        assert_eq!(due, Due::default());
        let outcome = pipeline.run(&Crawl::default()).unwrap();
        assert_eq!(outcome.to_string(), "nothing to do: the setting crawl.names has no crawl\n");
        assert!(tidings_store::runs::all(pipeline.home()).unwrap().is_empty());
    }

    #[test]
    fn a_crawl_with_seeds_is_due_and_one_without_is_an_error() {
        let (_folder, pipeline) = home();
        std::fs::write(pipeline.home().root().join("sites.txt"), "a.example\n").unwrap();
        let units = |pipeline: &Pipeline| {
            let due = Crawl::default().due(pipeline.home(), pipeline.config());
            due.map(|due| due.units.into_iter().map(|unit| unit.name).collect::<Vec<_>>())
        };
        assert_eq!(units(&with_names(&pipeline, &["web", "more"], "sites.txt")).unwrap(), ["web", "more"]);
        let error = format!("{:#}", units(&with_names(&pipeline, &["web"], "")).unwrap_err());
        assert!(error.contains("the crawl `web` of crawl.names does not exist"), "{error}");
        let error = format!("{:#}", units(&with_names(&pipeline, &["web"], "gone.txt")).unwrap_err());
        assert!(error.contains("cannot read seeds from") && error.contains("gone.txt"), "{error}");
    }

    #[test]
    fn numbers_of_several_crawls_are_added_up() {
        let mut outcome = CrawlStageOutcome { done: true, ..CrawlStageOutcome::default() };
        let mut crawl = CrawlOutcome::default();
        (crawl.done, crawl.kept, crawl.requests) = (true, 2, 5);
        outcome.add(crawl.clone());
        (crawl.kept, crawl.requests, crawl.unreachable) = (1, 0, true);
        outcome.add(crawl);
        assert_eq!((outcome.kept, outcome.requests, outcome.crawls.len()), (3, 5, 2));
        assert_eq!(outcome.status(), Status::Partly);
    }
}
