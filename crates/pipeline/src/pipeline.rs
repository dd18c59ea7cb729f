//! [`Pipeline`]: a home opened for work, the entry point of this library.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use tidings_store::{Home, Lock};

use crate::cancel::CancelToken;
use crate::config::{Config, TEMPLATE};
use crate::freshness::Freshness;
use crate::reporter::{Reporter, Silent};
use crate::shard::Shard;
use crate::stage::annotate::OneLanguage;

/// A home with its settings, a reporter, a cancel token, a time limit and a shard.
#[derive(Clone)]
pub struct Pipeline {
    home: Home,
    config: Config,
    reporter: Arc<dyn Reporter>,
    cancel: CancelToken,
    time_limit: Option<Duration>,
    shard: Shard,
    /// Whether the work that cannot be divided is done whatever the shard.
    is_undivided: bool,
    /// The lock of a longer run that these runs are part of.
    lock: Option<Arc<Lock>>,
    /// The round that these runs are part of: it skips stages whose files did not change since they had nothing left.
    freshness: Option<Arc<Freshness>>,
    /// The rebuild of one language that these runs are part of.
    one_language: Option<Arc<OneLanguage>>,
}

impl Pipeline {
    /// A home with these settings.
    pub fn new(home: Home, config: Config) -> Pipeline {
        let home = match config.store.bucket() {
            Some(prefix) => home.with_bucket(prefix),
            None => home,
        };
        Pipeline {
            home,
            config,
            reporter: Arc::new(Silent),
            cancel: CancelToken::new(),
            time_limit: None,
            shard: Shard::WHOLE,
            is_undivided: false,
            lock: None,
            freshness: None,
            one_language: None,
        }
    }

    /// Opens the home in a folder, with its settings file and environment variables.
    pub fn open(folder: &Path) -> Result<Pipeline> {
        let home = Home::at(folder)?;
        let config = Config::of_home(&home)?;
        Ok(Pipeline::new(home, config))
    }

    /// Opens the home in a folder; creates it first if there is none.
    pub fn create(folder: &Path) -> Result<Pipeline> {
        Home::create(folder, TEMPLATE, "")?;
        Pipeline::open(folder)
    }

    /// The same with events going to this reporter.
    pub fn with_reporter(self, reporter: Arc<dyn Reporter>) -> Pipeline {
        Pipeline { reporter, ..self }
    }

    /// The same, cancelled by this token.
    pub fn with_cancel(self, cancel: CancelToken) -> Pipeline {
        Pipeline { cancel, ..self }
    }

    /// Sets the time after which runs start no further unit of work; zero: no limit.
    pub fn with_time_limit(self, limit: Option<Duration>) -> Pipeline {
        Pipeline { time_limit: limit, ..self }
    }

    /// Skips stages whose files did not change since they had nothing left to do.
    pub(crate) fn with_freshness(self, freshness: Arc<Freshness>) -> Pipeline {
        Pipeline { freshness: Some(freshness), ..self }
    }

    /// The stages of the round that have nothing left to do; `None` outside of rounds.
    pub(crate) fn freshness(&self) -> Option<&Freshness> {
        self.freshness.as_deref()
    }

    /// Restricts runs to one shard of the work.
    pub fn with_shard(self, shard: Shard) -> Pipeline {
        Pipeline { shard, ..self }
    }

    /// Does the work that cannot be divided in this shard, whatever its number: the caller knows that its input is
    /// complete, and a claim keeps other processes from it.
    pub(crate) fn with_undivided_work(self) -> Pipeline {
        Pipeline { is_undivided: true, ..self }
    }

    /// The same over the draft of a rebuild, under the lock of the rebuild.
    pub(crate) fn over_draft(self, home: Home, lock: Arc<Lock>) -> Pipeline {
        Pipeline { home, lock: Some(lock), time_limit: None, ..self }
    }

    /// The same for a rebuild that keeps the text of other languages.
    pub(crate) fn for_one_language(self, one: OneLanguage) -> Pipeline {
        Pipeline { one_language: Some(Arc::new(one)), ..self }
    }

    /// The rebuild of one language that these runs are part of.
    pub(crate) fn one_language(&self) -> Option<Arc<OneLanguage>> {
        self.one_language.clone()
    }

    /// The lock of the run that these runs are part of.
    pub(crate) fn held_lock(&self) -> Option<Arc<Lock>> {
        self.lock.clone()
    }

    /// Replaces the settings.
    pub fn with_config(self, config: Config) -> Pipeline {
        Pipeline { config, ..self }
    }

    /// The home.
    pub fn home(&self) -> &Home {
        &self.home
    }

    /// The settings.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The receiver of events.
    pub fn reporter(&self) -> &Arc<dyn Reporter> {
        &self.reporter
    }

    /// The token that ends its runs.
    pub fn cancel_token(&self) -> &CancelToken {
        &self.cancel
    }

    /// The time limit of a run.
    pub fn time_limit(&self) -> Option<Duration> {
        self.time_limit
    }

    /// The part of the work that its runs do.
    pub fn shard(&self) -> Shard {
        self.shard
    }

    /// Whether its runs do the work that cannot be divided.
    pub fn takes_undivided(&self) -> bool {
        self.is_undivided || self.shard.takes_undivided()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_without_a_home_is_not_opened() {
        let folder = tempfile::tempdir().unwrap();
        assert!(Pipeline::open(folder.path()).is_err());
        Pipeline::create(folder.path()).unwrap();
        assert!(Pipeline::open(folder.path()).is_ok());
    }

    #[test]
    fn an_existing_home_is_not_created_again() {
        let (folder, pipeline) = crate::testing::home_with_feeds("https://gazette.example/feed\n");
        Pipeline::create(folder.path()).unwrap();
        let list = std::fs::read_to_string(pipeline.home().feed_list()).unwrap();
        assert_eq!(list, "https://gazette.example/feed\n");
    }

    #[test]
    fn settings_of_the_home_are_those_of_the_pipeline() {
        let (folder, pipeline) = crate::testing::home();
        std::fs::write(pipeline.home().settings(), "[store]\nmin_free_mib = 77\n").unwrap();
        assert_eq!(Pipeline::open(folder.path()).unwrap().config().store.min_free_mib, 77);
    }

    #[test]
    fn builder_methods_keep_what_was_set_before() {
        let (_folder, pipeline) = crate::testing::home();
        let shard = Shard::new(2, 3).unwrap();
        let limit = Some(Duration::from_secs(5));
        let pipeline = pipeline.with_time_limit(limit).with_shard(shard).with_cancel(CancelToken::new());
        assert_eq!((pipeline.time_limit(), pipeline.shard()), (limit, shard));
    }
}
