//! A home opened for work: what every function of this library is called with.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use tidings_store::Home;

use crate::cancel::CancelToken;
use crate::config::{Config, TEMPLATE};
use crate::reporter::{Reporter, Silent};
use crate::shard::Shard;

/// A home with its settings, and how to work in it: who hears of progress, who may cancel, how long a run may take.
#[derive(Clone)]
pub struct Pipeline {
    home: Home,
    config: Config,
    reporter: Arc<dyn Reporter>,
    cancel: CancelToken,
    time_limit: Option<Duration>,
    shard: Shard,
}

impl Pipeline {
    /// A home with these settings.
    pub fn new(home: Home, config: Config) -> Pipeline {
        Pipeline {
            home,
            config,
            reporter: Arc::new(Silent),
            cancel: CancelToken::new(),
            time_limit: None,
            shard: Shard::WHOLE,
        }
    }

    /// Opens the home in a folder, with the settings that lie there and those of the environment.
    pub fn open(folder: &Path) -> Result<Pipeline> {
        let home = Home::at(folder)?;
        let config = Config::of_home(&home)?;
        Ok(Pipeline::new(home, config))
    }

    /// Opens the home in a folder, and makes one there first if there is none.
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

    /// The same with runs that begin no further unit of work after this time; zero is no limit.
    pub fn with_time_limit(self, limit: Option<Duration>) -> Pipeline {
        Pipeline { time_limit: limit, ..self }
    }

    /// The same for one part of the work.
    pub fn with_shard(self, shard: Shard) -> Pipeline {
        Pipeline { shard, ..self }
    }

    /// The same with other settings.
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

    /// Who receives events.
    pub fn reporter(&self) -> &Arc<dyn Reporter> {
        &self.reporter
    }

    /// The token that ends its runs.
    pub fn cancel_token(&self) -> &CancelToken {
        &self.cancel
    }

    /// The time that a run may take.
    pub fn time_limit(&self) -> Option<Duration> {
        self.time_limit
    }

    /// The part of the work that its runs do.
    pub fn shard(&self) -> Shard {
        self.shard
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
    fn a_home_that_is_there_is_not_made_again() {
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
    fn what_a_caller_sets_is_kept_by_what_it_sets_next() {
        let (_folder, pipeline) = crate::testing::home();
        let shard = Shard::new(2, 3).unwrap();
        let limit = Some(Duration::from_secs(5));
        let pipeline = pipeline.with_time_limit(limit).with_shard(shard).with_cancel(CancelToken::new());
        assert_eq!((pipeline.time_limit(), pipeline.shard()), (limit, shard));
    }
}
