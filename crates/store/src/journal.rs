//! The journal: what a run has found out and the plan does not say yet.
//!
//! A run collects into the journal and folds it into the plan when it ends (see [`crate::fold`]).
//! After a crash the journal is still there, and the next run folds it: recovery is the ordinary
//! way, walked a little later. Each step is one frame, so a torn end costs the last step only,
//! and what that step described was not acknowledged to anybody.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::disk::{self, Appender};
use crate::error::Result;
use crate::feeds::FeedState;
use crate::frames::{self, Log, Packer};
use crate::home::Home;
use crate::hosts::HostState;
use crate::rules::RulesAnswer;

pub(crate) const FORMAT: &str = "journal";
pub(crate) const VERSION: u32 = 1;

/// One line of the journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Record<'a> {
    /// The run this journal belongs to.
    Run(#[serde(borrow)] Cow<'a, str>),
    /// What became of an entry.
    Fate {
        /// Its address, as the plan has it.
        #[serde(borrow)]
        url: Cow<'a, str>,
        /// The status word.
        #[serde(borrow)]
        status: Cow<'a, str>,
        /// How often it was tried by now.
        retries: u32,
    },
    /// Up to where a file of pages is whole.
    Whole {
        /// The file, relative to the home.
        #[serde(borrow)]
        file: Cow<'a, str>,
        /// Its length.
        bytes: u64,
    },
    /// How a feed answered.
    Poll(Box<FeedState>),
    /// An entry that a feed lists.
    Listed {
        /// The feed.
        #[serde(borrow)]
        feed: Cow<'a, str>,
        /// When that was seen.
        #[serde(borrow)]
        seen: Cow<'a, str>,
        /// The feed's date for it, or nothing.
        #[serde(borrow)]
        published: Cow<'a, str>,
        /// Its address.
        #[serde(borrow)]
        url: Cow<'a, str>,
        /// Its title.
        #[serde(borrow)]
        title: Cow<'a, str>,
    },
    /// What is to be remembered about a host.
    Host(Box<HostState>),
    /// A host's answer about being asked.
    Rules(Box<RulesAnswer>),
}

/// Collects records until they are made durable together.
#[derive(Debug, Default)]
pub struct Step(String);

impl Step {
    /// Adds a record.
    pub fn push(&mut self, record: &Record<'_>) {
        self.0.push_str(&serde_json::to_string(record).expect("strings and numbers serialise"));
        self.0.push('\n');
    }

    /// Whether there is nothing to make durable.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How much has been collected.
    pub fn bytes(&self) -> usize {
        self.0.len()
    }

    /// Takes in what another step collected.
    pub fn append(&mut self, other: Step) {
        self.0.push_str(&other.0);
    }
}

/// The journal of a run that is going on.
pub struct Journal {
    file: Appender,
    packer: Packer,
}

impl Journal {
    /// Starts the journal of a run. There must be none: [`crate::fold::recover`] comes first.
    pub fn create(home: &Home, run: &str) -> Result<Journal> {
        let mut journal = Journal { file: Appender::create(&home.journal())?, packer: Packer::new(1) };
        journal.file.append(&frames::label(FORMAT, VERSION, ""))?;
        let mut step = Step::default();
        step.push(&Record::Run(run.into()));
        journal.commit(step)?;
        Ok(journal)
    }

    /// Makes a step durable: when this returns, no power cut undoes it.
    pub fn commit(&mut self, step: Step) -> Result<()> {
        if step.is_empty() {
            return Ok(());
        }
        self.file.append(&self.packer.pack(step.0.as_bytes()))?;
        self.file.sync()
    }
}

/// Shows every record that was made durable to `see`; false if there is no journal.
pub(crate) fn read(home: &Home, mut see: impl FnMut(Record<'_>) -> Result<()>) -> Result<bool> {
    let path = home.journal();
    if !path.exists() {
        return Ok(false);
    }
    let mut log = Log::open(&path, FORMAT, VERSION)?;
    let mut lines = 0;
    while let Some(text) = log.next()? {
        for line in text.lines() {
            lines += 1;
            let record = serde_json::from_str(line).map_err(|error| crate::Error::Line {
                path: path.clone(),
                line: lines,
                fault: format!("is no journal record ({error})"),
            })?;
            see(record)?;
        }
    }
    Ok(true)
}

/// The run that a journal belongs to, if there is one.
pub(crate) fn run(home: &Home) -> Result<Option<String>> {
    let path = home.journal();
    let mut log = match Log::open(&path, FORMAT, VERSION) {
        Ok(log) => log,
        // It was folded just now.
        Err(_) if !path.exists() => return Ok(None),
        Err(error) => return Err(error),
    };
    let first = log.next()?.and_then(|text| text.lines().next());
    Ok(match first.and_then(|line| serde_json::from_str(line).ok()) {
        Some(Record::Run(run)) => Some(run.into_owned()),
        _ => None,
    })
}

/// Ends the journal: everything in it is in the plan.
pub(crate) fn remove(home: &Home) -> Result<()> {
    disk::remove(&home.journal())
}
