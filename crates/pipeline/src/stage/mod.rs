//! The table of stages, and the [`Stage`] trait.
//!
//! A stage derives data of a home from other data: feeds → plan → pages → documents and so on. It reports the units
//! that are due; the [driver](crate::driver) processes them. A new stage is a file that implements [`Stage`] and a row
//! in the table below; the commands, `run`, `rebuild`, `status`, `why`, `report` and the service read the table.

pub mod annotate;
pub mod clean;
pub mod compile;
pub mod crawl;
pub mod dedup;
pub mod fetch;
pub mod update;

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use anyhow::Result;
use serde::{Deserialize, Serialize};
use tidings_model::clock;
use tidings_store::digest::{self, Digester};
use tidings_store::fresh::Stamp;
use tidings_store::{Home, Stale};
use xxhash_rust::xxh3::Xxh3;

use crate::config::Config;
use crate::context::{RunContext, StageLog};
use crate::outcome::{Ending, Outcome, Status};
use crate::why::conservation::Balances;

/// Declares the stages in their order: the enum of names, the enum of outcomes, and the table.
macro_rules! stages {
    ($($variant:ident, $name:literal, $stage:path, $outcome:path;)+) => {
        /// A stage by its name.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        #[allow(missing_docs)] // The table documents them.
        pub enum StageId { $($variant),+ }

        /// The outcome of a stage.
        #[derive(Debug, Clone, Serialize, Deserialize)]
        #[serde(untagged)]
        #[allow(missing_docs)]
        pub enum StageOutcome { $($variant($outcome)),+ }

        impl StageId {
            /// All stages, in their order.
            pub const ALL: &[StageId] = &[$(StageId::$variant),+];

            /// The name, as commands, settings and run logs have it.
            pub const fn name(self) -> &'static str {
                match self { $(StageId::$variant => $name),+ }
            }

            /// The stage with its usual options.
            pub fn stage(self) -> Box<dyn Stage> {
                match self { $(StageId::$variant => Box::new(<$stage>::default())),+ }
            }

            /// The outcome of this stage from a run log; `None` if it belongs to another stage.
            pub fn read_outcome(self, json: &str) -> Option<StageOutcome> {
                match self { $(StageId::$variant => serde_json::from_str(json).ok().map(StageOutcome::$variant)),+ }
            }

            #[cfg(test)]
            fn empty_outcome(self) -> StageOutcome {
                match self { $(StageId::$variant => StageOutcome::$variant(Default::default())),+ }
            }
        }

        impl StageOutcome {
            fn as_outcome(&self) -> &dyn OutcomeText {
                match self { $(StageOutcome::$variant(outcome) => outcome),+ }
            }
        }
    };
}

// The stages, in the order of the data flow.
stages! {
    Update, "update", update::Update, update::UpdateOutcome;
    Fetch, "fetch", fetch::Fetch, fetch::FetchOutcome;
    Crawl, "crawl", crawl::Crawl, crawl::CrawlStageOutcome;
    Clean, "clean", clean::Clean, clean::CleanOutcome;
    Dedup, "dedup", dedup::Dedup, dedup::DedupOutcome;
    Annotate, "annotate", annotate::Annotate, annotate::AnnotateOutcome;
    Compile, "compile", compile::Compile, compile::CompileOutcome;
}

/// The part of [`Outcome`] that a trait object can have.
trait OutcomeText: fmt::Display {
    fn status_of(&self) -> Status;
}

impl<T: Outcome> OutcomeText for T {
    fn status_of(&self) -> Status {
        self.status()
    }
}

impl fmt::Display for StageOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_outcome().fmt(f)
    }
}

impl Outcome for StageOutcome {
    fn status(&self) -> Status {
        self.as_outcome().status_of()
    }
}

impl fmt::Display for StageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for StageId {
    type Err = String;

    fn from_str(text: &str) -> Result<StageId, String> {
        let found = StageId::ALL.iter().find(|stage| stage.name() == text);
        found.copied().ok_or_else(|| {
            let names: Vec<&str> = StageId::ALL.iter().map(|stage| stage.name()).collect();
            format!("unknown stage `{text}`; known stages: {}", names.join(", "))
        })
    }
}

/// A kind of data in a home.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Data {
    /// The web itself.
    Web,
    /// The list of feeds.
    FeedList,
    /// The plan of pages to download.
    Plan,
    /// Raw pages.
    Pages,
    /// Documents and the list of dropped pages.
    Documents,
    /// Verdicts on duplicates.
    Verdicts,
    /// Annotated text.
    Text,
    /// Indexes.
    Index,
}

impl Data {
    /// The folder of derived data in a home; `None` for data that cannot be made again.
    pub fn derived_folder(self) -> Option<&'static str> {
        match self {
            Data::Web | Data::FeedList | Data::Plan | Data::Pages => None,
            Data::Documents => Some("docs"),
            Data::Verdicts => Some("seen"),
            Data::Text => Some("text"),
            Data::Index => Some("index"),
        }
    }
}

/// A unit of work, which is completed atomically.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unit {
    /// A day, a language, or another division of the work of a stage.
    pub name: String,
    /// The reason why it is due.
    pub why: Stale,
}

/// The work of a stage.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Due {
    /// Units that are due, in the order in which they must be processed.
    pub units: Vec<Unit>,
    /// Units that are up to date.
    pub up_to_date: u64,
    /// Units that wait for an earlier stage.
    pub waiting: u64,
    /// The first day that was looked at: the days before are known to be up to date. Empty if all were.
    pub since: String,
}

/// The default time limit of a stage in a round, in minutes.
pub const USUAL_MINUTES: u64 = 30;

/// A stage of the pipeline. Its value holds the options of one call; the default is that of `tidings run`.
pub trait Stage: Send + Sync {
    /// Its name.
    fn id(&self) -> StageId;

    /// The version of its behaviour. It changes whenever the same inputs and settings give other output. It is part of
    /// the recipe of all output and determines what an upgrade rebuilds.
    fn version(&self) -> u32;

    /// The data it reads.
    fn inputs(&self) -> &'static [Data];

    /// The data it writes.
    fn outputs(&self) -> &'static [Data];

    /// The settings that affect its output, as in its recipe.
    fn settings(&self, config: &Config) -> serde_json::Value;

    /// The data compiled into the program that affects its output, by name. Part of the golden digest of its version.
    fn tables(&self) -> Vec<(&'static str, &'static [u8])> {
        Vec::new()
    }

    /// The digest of all its output, which is pinned for each version. Every derived stage has one.
    fn output_digest(&self, _home: &Home) -> Result<Option<String>> {
        Ok(None)
    }

    /// Adds its numbers of input, output and dropped items to the conservation check.
    fn balance(&self, _home: &Home, _balances: &mut Balances) -> Result<()> {
        Ok(())
    }

    /// The time limit of a run if the caller sets none; only network stages have one.
    fn time_limit(&self, config: &Config) -> Option<Duration> {
        if self.is_derived() { None } else { config.fetch.time_limit() }
    }

    /// The default time limit in a round, in minutes. Values other than the default are in `settings.toml`.
    fn minutes_in_a_round(&self) -> u64 {
        USUAL_MINUTES
    }

    /// Whether it is part of a round; a stage that is off runs only if it is named. Network stages are off after the
    /// end of the collection.
    fn is_on(&self, config: &Config) -> bool {
        self.is_derived() || !config.run.has_ended(clock::now())
    }

    /// Whether its output is a pure function of the data in the home, so that it can be deleted and rebuilt.
    fn is_derived(&self) -> bool {
        !self.inputs().contains(&Data::Web)
    }

    /// Whether its units can be processed in any order, and so by several processes. Network stages cannot: one process
    /// keeps the delays between requests to a host.
    fn is_divisible(&self) -> bool {
        self.is_derived()
    }

    /// Whether the process may exit in the middle of a unit without losing more than that unit.
    fn can_be_cut(&self) -> bool {
        self.is_derived()
    }

    /// The work that is due. Reads recipes and file names, not the data itself.
    fn due(&self, home: &Home, config: &Config) -> Result<Due>;

    /// The work that is due if the days before one are up to date, which are not looked at.
    fn due_since(&self, home: &Home, config: &Config, _since: &str) -> Result<Due> {
        self.due(home, config)
    }

    /// Adds everything to a stamp that decides whether the days before one are due; returns whether the stage can leave
    /// such days out.
    fn stamp_before(&self, _home: &Home, _config: &Config, _first: &str, _stamp: &mut Stamp) -> Result<bool> {
        Ok(false)
    }

    /// The outcome of a run that finds all of this many units up to date; `None` if only `due` can tell.
    fn up_to_date(&self, _context: &RunContext, _units: u64) -> Option<StageOutcome> {
        None
    }

    /// Begins a run over these units.
    fn begin<'a>(&'a self, context: &'a RunContext, due: &Due) -> Result<Box<dyn StageRun + 'a>>;

    /// Deletes all of its output. Stages that are not derived delete nothing.
    fn clear(&self, _home: &Home) -> Result<()> {
        Ok(())
    }

    /// Deletes its output for the days with documents of a language.
    fn clear_language(&self, _home: &Home, _language: &str, _days: &BTreeSet<String>) -> Result<()> {
        Ok(())
    }
}

/// A stage at work.
pub trait StageRun {
    /// Processes one unit atomically.
    fn unit(&mut self, unit: &Unit, log: &mut StageLog<'_>) -> Result<()>;

    /// Ends the run and returns its outcome. `status` reads the field `done` of every outcome.
    fn finish(self: Box<Self>, ending: Ending, log: &mut StageLog<'_>) -> Result<StageOutcome>;
}

/// The digest of a layer of documents, verdicts or text, independent of its division into files.
fn layer_digest(home: &Home, layer: digest::Stage) -> Result<Option<String>> {
    let tree = Digester::open(home, false)?.stage(layer, None, |_, _, _| ())?;
    Ok(Some(digest::hex(&tree.root())))
}

/// The digest of the names and bytes of files, in the given order.
fn files_digest(files: impl IntoIterator<Item = PathBuf>) -> Result<Option<String>> {
    let mut hasher = Xxh3::new();
    for file in files {
        hasher.update(file.file_name().unwrap_or_default().as_encoded_bytes());
        hasher.update(&std::fs::read(&file)?);
    }
    Ok(Some(format!("{:032x}", hasher.digest128())))
}

/// The names of the units that are due.
fn names(due: &Due) -> impl Iterator<Item = &str> {
    due.units.iter().map(|unit| unit.name.as_str())
}

/// The number of worker threads of a setting; 0: one per core.
pub(crate) fn threads(setting: usize) -> usize {
    if setting == 0 { crate::parallel::cores() } else { setting }
}

/// The seed of a run: the given one or a random one.
pub(crate) fn seed(given: Option<u64>) -> u64 {
    given.unwrap_or_else(|| fastrand::u64(..))
}

/// The outcome text of a network stage in every shard but the first.
pub(crate) const LEFT_TO_FIRST_SHARD: &str = "nothing to do: shard 1 runs the network stages\n";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_stage_is_found_by_its_name() {
        for id in StageId::ALL {
            assert_eq!(id.name().parse(), Ok(*id));
            assert_eq!(id.stage().id(), *id);
        }
        assert!("polish".parse::<StageId>().unwrap_err().contains("update, fetch, crawl, clean"));
    }

    #[test]
    fn every_outcome_has_the_field_done() {
        for id in StageId::ALL {
            let outcome = serde_json::to_value(id.empty_outcome()).unwrap();
            assert!(outcome["done"].is_boolean(), "the outcome of {id} has no field `done`, which `status` reads");
        }
    }

    #[test]
    fn a_derived_stage_writes_something_and_can_be_cleared_in_an_empty_home() {
        let folder = tempfile::tempdir().unwrap();
        let pipeline = crate::Pipeline::create(folder.path()).unwrap();
        for stage in StageId::ALL.iter().map(|id| id.stage()).filter(|stage| stage.is_derived()) {
            let id = stage.id();
            assert!(!stage.outputs().is_empty(), "{id} writes nothing");
            stage.clear(pipeline.home()).unwrap_or_else(|error| panic!("{id}: {error:#}"));
            assert_eq!(stage.due(pipeline.home(), pipeline.config()).unwrap().units, [], "{id}");
        }
    }

    #[test]
    fn settings_that_affect_output_are_in_the_recipe() {
        // Settings of speed; a preset, which the recipe resolves; annotators, which recipes of text list by language.
        let exemptions: &[(StageId, &[&str])] = &[
            (StageId::Clean, &["memory_mib", "threads"]),
            (StageId::Dedup, &["memory_mib", "threads", "preset"]),
            (StageId::Annotate, &["tags", "features", "models", "layers", "external"]),
        ];
        let config = Config::default();
        let tables = toml::Table::try_from(&config).unwrap();
        for (id, exempt) in exemptions {
            let recipe = id.stage().settings(&config);
            for key in tables[id.name()].as_table().unwrap().keys().filter(|key| !exempt.contains(&key.as_str())) {
                assert!(recipe.get(key).is_some(), "{id}.{key} is neither in the recipe of {id} nor exempt here");
            }
        }
    }

    fn keys(id: StageId) -> Vec<String> {
        let json = serde_json::to_value(id.empty_outcome()).unwrap();
        json.as_object().unwrap().keys().cloned().collect()
    }

    /// Scripts of users read these keys, so they must stay; new ones may be added.
    #[test]
    fn outcomes_keep_their_json_keys() {
        let web = "bytes done left requests run seconds";
        let expected = [
            (StageId::Update, format!("{web} due feeds gone new_entries next_due polled silent waiting")),
            (
                StageId::Fetch,
                format!(
                    "{web} archive_left entries failed fetched from_feeds given_up hosts hosts_given_up pending revised statuses unchanged waiting"
                ),
            ),
            (
                StageId::Crawl,
                "bytes crawls done failed kept left refused requests run seconds tokens".into(),
            ),
            (
                StageId::Clean,
                "damaged_files days days_failed days_left days_up_to_date documents done dropped languages pages run seconds"
                    .into(),
            ),
            (
                StageId::Dedup,
                "days days_left days_up_to_date documents documents_kept done duplicate_words duplicates run seconds words".into(),
            ),
            (
                StageId::Annotate,
                "days days_damaged days_left days_undone days_up_to_date days_waiting documents documents_kept \
                 documents_with_new_layers done languages restarts run seconds tokens"
                    .into(),
            ),
            (
                StageId::Compile,
                "damaged_files days_added documents_hidden done languages languages_left languages_up_to_date run seconds \
                 tokens_added"
                    .into(),
            ),
        ];
        for (id, expected) in expected {
            let mut expected: Vec<&str> = expected.split_whitespace().collect();
            expected.sort_unstable();
            assert_eq!(keys(id), expected, "{id}");
        }
    }

    #[test]
    fn an_outcome_is_read_back_from_its_json() {
        for id in StageId::ALL {
            let json = serde_json::to_string(&id.empty_outcome()).unwrap();
            let read = id.read_outcome(&json).unwrap();
            assert_eq!(serde_json::to_string(&read).unwrap(), json, "{id}");
            assert!(id.read_outcome("{\"done\": 7}").is_none(), "{id}");
        }
    }

    #[test]
    fn an_outcome_of_an_earlier_release_without_newer_fields_is_read() {
        for id in StageId::ALL {
            let read = id.read_outcome("{\"done\":true,\"a_field_of_the_past\":1}").unwrap();
            assert_eq!(read.status(), Status::Done, "{id}");
        }
    }

    #[test]
    fn the_status_of_an_outcome_that_is_not_done_is_not_done() {
        for id in StageId::ALL {
            assert_eq!(id.read_outcome("{\"done\":false}").unwrap().status(), Status::NotDone, "{id}");
        }
    }

    #[test]
    fn the_inputs_of_a_stage_are_written_by_earlier_ones() {
        let mut there = vec![Data::Web, Data::FeedList];
        for stage in StageId::ALL.iter().map(|id| id.stage()) {
            for input in stage.inputs() {
                assert!(there.contains(input), "{} reads {input:?}, which no earlier stage writes", stage.id());
            }
            there.extend(stage.outputs());
        }
    }

    #[test]
    fn network_stages_are_neither_derived_nor_divisible_nor_interruptible() {
        for stage in StageId::ALL.iter().map(|id| id.stage()) {
            let asks_web = matches!(stage.id(), StageId::Update | StageId::Fetch | StageId::Crawl);
            assert_eq!(stage.is_derived(), !asks_web, "{}", stage.id());
            assert_eq!(stage.can_be_cut(), !asks_web, "{}", stage.id());
            assert!(!asks_web || !stage.is_divisible(), "{}", stage.id());
        }
    }

    #[test]
    fn only_network_stages_have_their_own_time_limit() {
        let mut config = Config::default();
        config.fetch.time_limit_min = 7.0;
        for stage in StageId::ALL.iter().map(|id| id.stage()) {
            let limit = stage.time_limit(&config);
            let expected = (!stage.is_derived()).then_some(Duration::from_secs(7 * 60));
            assert_eq!(limit, expected, "{}", stage.id());
        }
    }

    #[test]
    fn the_digest_of_files_depends_on_names_bytes_and_order() {
        let folder = tempfile::tempdir().unwrap();
        let [a, b] = ["a", "b"].map(|name| folder.path().join(name));
        std::fs::write(&a, "1").unwrap();
        std::fs::write(&b, "1").unwrap();
        let digest = |files: &[&PathBuf]| files_digest(files.iter().map(|file| (*file).clone())).unwrap();
        let before = [digest(&[&a]), digest(&[&b]), digest(&[&a, &b]), digest(&[&b, &a])];
        assert_eq!(before.iter().collect::<BTreeSet<_>>().len(), 4);
        std::fs::write(&a, "2").unwrap();
        assert_ne!(digest(&[&a]), before[0]);
    }

    #[test]
    fn a_given_seed_is_used() {
        assert_eq!((seed(Some(7)), threads(3)), (7, 3));
        assert_eq!(threads(0), crate::parallel::cores());
    }
}
