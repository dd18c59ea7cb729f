//! The journal: results of a run that are not in the plan yet.
//!
//! A run writes to the journal and applies it to the plan when it ends (see [`crate::apply_journal`]). After a crash
//! the next run applies it, so that recovery and normal operation use the same code. Each batch is one frame, so a
//! truncated end costs only the last batch, which was not acknowledged yet.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use tidings_storage::{Appender, file};

use crate::error::Result;
use crate::feeds::FeedState;
use crate::frames::{self, FrameEncoder, Log};
use crate::home::Home;
use crate::hosts::HostState;
use crate::rules::RulesAnswer;
use crate::sound_frames::SoundFrames;

pub(crate) const FORMAT: &str = "journal";
pub(crate) const VERSION: u32 = 1;

/// One line of the journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Record<'a> {
    /// The run of this journal.
    Run(#[serde(borrow)] Cow<'a, str>),
    /// The outcome of an entry.
    #[serde(rename = "fate")]
    Outcome {
        /// Its address, as the plan has it.
        #[serde(borrow)]
        url: Cow<'a, str>,
        /// The status.
        #[serde(borrow)]
        status: Cow<'a, str>,
        /// The number of attempts so far.
        retries: u32,
        /// The failure, if the entry is tried again.
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        failure: Option<Failure<'a>>,
    },
    /// The valid length of a file of pages.
    Whole {
        /// The file, relative to the home.
        #[serde(borrow)]
        file: Cow<'a, str>,
        /// Its length.
        bytes: u64,
    },
    /// The response of a feed.
    Poll(Box<FeedState>),
    /// An entry that a feed lists.
    Listed {
        /// The feed.
        #[serde(borrow)]
        feed: Cow<'a, str>,
        /// The time at which it was listed.
        #[serde(borrow)]
        seen: Cow<'a, str>,
        /// The date in the feed, if any.
        #[serde(borrow)]
        published: Cow<'a, str>,
        /// Its address.
        #[serde(borrow)]
        url: Cow<'a, str>,
        /// Its title.
        #[serde(borrow)]
        title: Cow<'a, str>,
        /// The time of its last change by the feed, if any.
        #[serde(borrow, default, skip_serializing_if = "str::is_empty")]
        updated: Cow<'a, str>,
        /// Its full text as HTML, if the feed has it and the entry may be new.
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        text: Option<Cow<'a, str>>,
    },
    /// A download of a page, the first or a further one.
    Visit(Visit<'a>),
    /// The state of a host.
    Host(Box<HostState>),
    /// The robots.txt or tdmrep response of a host.
    Rules(Box<RulesAnswer>),
}

/// The failure of an entry that is tried again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure<'a> {
    /// Its time.
    #[serde(borrow)]
    pub at: Cow<'a, str>,
    /// Its details, for `why`.
    #[serde(borrow)]
    pub detail: Cow<'a, str>,
}

/// A download of a page: a first one that was stored, or a further one because its feed announced a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Visit<'a> {
    /// The address, as the plan has it.
    #[serde(borrow)]
    pub url: Cow<'a, str>,
    /// Its time.
    #[serde(borrow)]
    pub at: Cow<'a, str>,
    /// Whether the page had been stored before.
    pub again: bool,
    /// The validators of the stored page; `None` if nothing was stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stored: Option<Validators>,
}

/// The validators of a stored page, by which a further request is conditional.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Validators {
    /// The `ETag` header, verbatim, or empty.
    pub etag: String,
    /// The `Last-Modified` header, verbatim, or empty.
    pub last_modified: String,
    /// The digest of the body, in hexadecimal, for servers that ignore both.
    pub body: String,
}

/// Records that are made durable together.
#[derive(Debug, Default)]
pub struct JournalBatch(String);

impl JournalBatch {
    /// Adds a record.
    pub fn push(&mut self, record: &Record<'_>) {
        self.0.push_str(&serde_json::to_string(record).expect("strings and numbers serialise"));
        self.0.push('\n');
    }

    /// Whether the batch is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The size of the batch, uncompressed.
    pub fn bytes(&self) -> usize {
        self.0.len()
    }

    /// Appends the records of another batch.
    pub fn append(&mut self, other: JournalBatch) {
        self.0.push_str(&other.0);
    }
}

/// The journal of a run that is going on.
pub struct Journal {
    home: Home,
    file: Appender,
    encoder: FrameEncoder,
}

impl Journal {
    /// Starts the journal of a run. There must be none: call [`crate::apply_journal::recover`] first.
    pub fn create(home: &Home, run: &str) -> Result<Journal> {
        let file = Appender::create(&home.journal())?;
        let mut journal = Journal { home: home.clone(), file, encoder: FrameEncoder::new(1) };
        journal.file.append(&frames::header(FORMAT, VERSION, ""))?;
        let mut step = JournalBatch::default();
        step.push(&Record::Run(run.into()));
        journal.commit(step)?;
        Ok(journal)
    }

    /// Makes a batch durable. After it returns, a power failure does not undo it.
    pub fn commit(&mut self, step: JournalBatch) -> Result<()> {
        if step.is_empty() {
            return Ok(());
        }
        // Another machine may believe that this run is dead, and have applied its journal.
        self.home.check_claims()?;
        self.file.append(&self.encoder.encode(step.0.as_bytes()))?;
        Ok(self.file.sync()?)
    }
}

/// The state of a journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum JournalState {
    /// There is none.
    Missing,
    /// It was read up to its end, or up to a batch that a crash left incomplete.
    Read,
    /// Batches in its middle are damaged and were skipped.
    Damaged,
}

/// Calls `see` with every durable record. Damaged batches are skipped.
pub(crate) fn read(home: &Home, mut see: impl FnMut(Record<'_>) -> Result<()>) -> Result<JournalState> {
    let path = home.journal();
    if !path.exists() {
        return Ok(JournalState::Missing);
    }
    // Rejects a journal of a newer version.
    drop(frames::open_any(&path)?);
    let mut batches = SoundFrames::open(&path)?;
    let mut lines = 0;
    while let Some((text, _)) = batches.next()? {
        for line in text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            lines += 1;
            let record = serde_json::from_slice(line).map_err(|error| crate::Error::Line {
                path: path.clone(),
                line: lines,
                fault: format!("is not a journal record ({error})"),
            })?;
            see(record)?;
        }
    }
    Ok(if batches.is_damaged_within() { JournalState::Damaged } else { JournalState::Read })
}

/// The run of the journal, if there is one.
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
    Ok(file::remove(&home.journal())?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{home, listed, outcome, write_journal};
    use proptest::prelude::*;
    use std::fs;

    /// All records of a journal, owned.
    fn records(home: &Home) -> Vec<Record<'static>> {
        let mut seen = Vec::new();
        read(home, |record| {
            let text = serde_json::to_string(&record).unwrap();
            let owned: Record<'_> = serde_json::from_str(&text).unwrap();
            seen.push(match owned {
                Record::Run(run) => Record::Run(run.into_owned().into()),
                Record::Outcome { url, status, retries, .. } => outcome(&url, &status, retries),
                Record::Whole { file, bytes } => Record::Whole { file: file.into_owned().into(), bytes },
                Record::Listed { feed, url, .. } => listed(&feed, &url),
                Record::Poll(state) => Record::Poll(state),
                Record::Host(state) => Record::Host(state),
                Record::Rules(answer) => Record::Rules(answer),
                Record::Visit(Visit { url, at, again, stored }) => {
                    let [url, at] = [url, at].map(|text| Cow::Owned(text.into_owned()));
                    Record::Visit(Visit { url, at, again, stored })
                }
            });
            Ok(())
        })
        .unwrap();
        seen
    }

    fn record() -> impl Strategy<Value = Record<'static>> {
        prop_oneof![
            (".{0,8}", "[a-z-]{1,6}", any::<u32>()).prop_map(|(url, status, retries)| outcome(&url, &status, retries)),
            (".{0,8}", ".{0,8}").prop_map(|(feed, url)| listed(&feed, &url)),
            (".{0,8}", any::<u64>()).prop_map(|(file, bytes)| Record::Whole { file: file.into(), bytes }),
            (".{0,8}", any::<u64>()).prop_map(|(host, requests)| {
                Record::Host(Box::new(HostState { host, requests, ..HostState::default() }))
            }),
            (".{0,8}", any::<u32>()).prop_map(|(feed, failures)| {
                Record::Poll(Box::new(FeedState { feed, failures, ..FeedState::default() }))
            }),
        ]
    }

    #[test]
    fn a_home_without_a_journal_has_no_records_and_no_run() {
        let (_folder, home) = home();
        assert_eq!(read(&home, |_| panic!("there is none")).unwrap(), JournalState::Missing);
        assert_eq!(run(&home).unwrap(), None);
        remove(&home).unwrap();
    }

    #[test]
    fn a_journal_contains_its_run_and_only_one_exists() {
        let (_folder, home) = home();
        write_journal(&home, "run-1", &[]);
        assert_eq!(run(&home).unwrap().as_deref(), Some("run-1"));
        assert!(Journal::create(&home, "run-2").is_err(), "the first must be applied before");
        remove(&home).unwrap();
        write_journal(&home, "run-2", &[]);
        assert_eq!(run(&home).unwrap().as_deref(), Some("run-2"));
    }

    #[test]
    fn an_empty_batch_writes_nothing() {
        let (_folder, home) = home();
        let mut journal = Journal::create(&home, "run").unwrap();
        let before = fs::metadata(home.journal()).unwrap().len();
        journal.commit(JournalBatch::default()).unwrap();
        assert_eq!(fs::metadata(home.journal()).unwrap().len(), before);
    }

    #[test]
    fn batches_add_up() {
        let mut batch = JournalBatch::default();
        assert!(batch.is_empty());
        batch.push(&outcome("a", "ok", 1));
        let mut other = JournalBatch::default();
        other.push(&outcome("b", "ok", 1));
        let bytes = batch.bytes();
        batch.append(other);
        assert_eq!((batch.is_empty(), batch.bytes()), (false, 2 * bytes));
    }

    #[test]
    fn a_journal_truncated_at_any_byte_keeps_its_complete_batches() {
        let (_folder, home) = home();
        let batches =
            [vec![outcome("a", "ok", 1), listed("f", "b")], vec![outcome("c", "gone", 2)], vec![outcome("d", "ok", 1)]];
        write_journal(&home, "run", &batches);
        let (whole, all) = (fs::read(home.journal()).unwrap(), records(&home));
        let ends = [0, 1, 3, 4, 5];
        let mut seen = Vec::new();
        for len in 0..=whole.len() {
            fs::write(home.journal(), &whole[..len]).unwrap();
            let found = records(&home);
            assert_eq!(found[..], all[..found.len()], "cut at byte {len}");
            assert!(ends.contains(&found.len()), "half a batch at byte {len}");
            seen.push(found.len());
        }
        assert!(seen.is_sorted() && seen.last() == Some(&5));
    }

    #[test]
    fn a_damaged_batch_costs_only_itself() {
        let (_folder, home) = home();
        write_journal(&home, "run", &[vec![outcome("a", "ok", 1)], vec![outcome("b", "ok", 1)]]);
        let whole = fs::read(home.journal()).unwrap();
        let all = records(&home);
        for at in whole.len() / 2..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x55;
            fs::write(home.journal(), bytes).unwrap();
            let found = records(&home);
            assert!(found.len() == 2 && found.iter().all(|record| all.contains(record)), "damaged at byte {at}");
            let is_last = found[1] == all[1];
            let expected = if is_last { JournalState::Read } else { JournalState::Damaged };
            assert_eq!(read(&home, |_| Ok(())).unwrap(), expected, "a crash damages the last batch only");
        }
    }

    #[test]
    fn a_journal_of_a_newer_version_is_rejected() {
        let (_folder, home) = home();
        fs::write(home.journal(), frames::header(FORMAT, VERSION + 1, "")).unwrap();
        let error = read(&home, |_| Ok(())).unwrap_err().to_string();
        assert!(error.contains("was written by a newer Tidings (format journal 2, "), "{error}");
    }

    #[test]
    fn an_invalid_line_is_an_error_with_its_number() {
        let (_folder, home) = home();
        write_journal(&home, "run", &[]);
        let mut bytes = fs::read(home.journal()).unwrap();
        bytes.extend(FrameEncoder::new(1).encode(b"{\"fate\":1}\n"));
        fs::write(home.journal(), bytes).unwrap();
        let error = read(&home, |_| Ok(())).unwrap_err().to_string();
        assert!(error.contains("line 2: is not a journal record"), "{error}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn committed_records_are_read_in_order(
            batches in prop::collection::vec(prop::collection::vec(record(), 0..5), 0..5),
            cut in any::<prop::sample::Index>(),
        ) {
            let (_folder, home) = home();
            write_journal(&home, "run", &batches);
            let expected: Vec<Record<'_>> =
                std::iter::once(Record::Run("run".into())).chain(batches.concat()).collect();
            prop_assert_eq!(records(&home), expected.clone());
            let whole = fs::read(home.journal()).unwrap();
            fs::write(home.journal(), &whole[..cut.index(whole.len() + 1)]).unwrap();
            let torn = records(&home);
            prop_assert_eq!(&torn[..], &expected[..torn.len()]);
        }
    }
}
