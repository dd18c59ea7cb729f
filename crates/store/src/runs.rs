//! The log of a run: every request it sent, and the summary it ended with.
//!
//! `runs/RUN.jsonl.zst` grows while the run lasts, under a name ending in `.part`; frames that a
//! crash tears are cut off when the next run tidies up. `audit`, `status` and `why` read it.

use std::io::BufRead as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::disk::{self, Appender};
use crate::error::{During, Result};
use crate::frames::{self, Log, Packer};
use crate::home::{Home, files_in};

const FORMAT: &str = "run";
const VERSION: u32 = 1;

/// One request, as the log tells it. Times are milliseconds since the run began, by a clock that
/// nobody sets.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// When it was sent.
    pub sent_ms: u64,
    /// When its answer ended, or it was given up.
    pub ended_ms: u64,
    /// The host asked.
    pub host: String,
    /// `page`, `feed`, `probe`, `robots` or `tdmrep`.
    pub kind: String,
    /// The address asked for.
    pub url: String,
    /// The HTTP status, or the word for what went wrong.
    pub status: String,
    /// The pause that had to be kept before the next request to this host.
    pub delay_ms: u64,
    /// Whether validators were sent along.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub conditional: bool,
    /// Whether an open connection served again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reused: bool,
    /// How old the robots.txt was that allowed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub robots_age_s: Option<u64>,
    /// Bytes of the body on the wire.
    pub bytes: u64,
}

/// The log of a run that is going on.
pub struct RunLog {
    file: Appender,
    packer: Packer,
    text: Vec<u8>,
}

impl RunLog {
    /// Starts the log of a run.
    pub fn create(home: &Home, run: &str) -> Result<RunLog> {
        let mut file = Appender::create(&home.runs().join(format!("{run}.jsonl.zst.part")))?;
        file.append(&frames::label(FORMAT, VERSION, ""))?;
        Ok(RunLog { file, packer: Packer::new(3), text: Vec::new() })
    }

    /// Adds a line.
    pub fn push(&mut self, line: &impl Serialize) -> Result<()> {
        serde_json::to_writer(&mut self.text, line).expect("log lines serialise");
        self.text.push(b'\n');
        if self.text.len() >= 1 << 20 { self.flush() } else { Ok(()) }
    }

    /// Hands what was collected to the file. The log is evidence, not state: it is synced once,
    /// at the end.
    pub fn flush(&mut self) -> Result<()> {
        if !self.text.is_empty() {
            self.file.append(&self.packer.pack(&self.text))?;
            self.text.clear();
        }
        Ok(())
    }

    /// Ends the log.
    pub fn publish(mut self) -> Result<PathBuf> {
        self.flush()?;
        self.file.sync()?;
        let path = self.file.path().with_extension("");
        disk::rename(self.file.path(), &path)?;
        Ok(path)
    }
}

/// Cuts and publishes the logs that crashed runs left.
pub fn recover(home: &Home) -> Result<()> {
    for path in files_in(&home.runs())?.iter().filter(|path| path.extension().is_some_and(|ending| ending == "part")) {
        let mut log = Log::open(path, FORMAT, VERSION)?;
        while log.next()?.is_some() {}
        drop(Appender::reopen(path, log.sound_bytes())?);
        disk::rename(path, &path.with_extension(""))?;
    }
    Ok(())
}

/// The logs of all ended runs, oldest first.
pub fn files(home: &Home) -> Result<Vec<PathBuf>> {
    Ok(files_in(&home.runs())?.into_iter().filter(|path| path.to_string_lossy().ends_with(".jsonl.zst")).collect())
}

/// Shows every line of a run's log to `see`, as JSON.
pub fn read(path: &Path, mut see: impl FnMut(&str)) -> Result<()> {
    for line in frames::open_any(path)?.lines() {
        see(&line.during("read", path)?);
    }
    Ok(())
}
