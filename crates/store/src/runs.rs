//! Run logs: every request of a run, and its final summary.
//!
//! `runs/RUN.jsonl.zst` grows during the run with the extension `.part`; frames truncated by a crash are cut off by the
//! next run. `audit`, `status` and `why` read the logs.

use std::io::BufRead as _;
use std::net::IpAddr;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tidings_model::Status;
use tidings_storage::Appender;
use tidings_storage::file::{self, files_in};

use crate::error::{Context, Error, Result};
use crate::frames::{self, FrameEncoder, Log};
use crate::home::Home;
use crate::scan;

pub(crate) const FORMAT: &str = "run";
pub(crate) const VERSION: u32 = 1;

/// A request in the log. Times are milliseconds since the start of the run by a monotonic clock.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// The time of sending.
    pub sent_ms: u64,
    /// The end of the response or of the attempt.
    pub ended_ms: u64,
    /// The host.
    pub host: String,
    /// The kind of resource.
    pub kind: RequestKind,
    /// The URL.
    pub url: String,
    /// The HTTP status, or the name of the failure.
    pub status: String,
    /// The delay required before the next request to this host.
    pub delay_ms: u64,
    /// Whether validators were sent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub conditional: bool,
    /// Whether the connection was reused.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reused: bool,
    /// The age of the robots.txt that allowed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub robots_age_s: Option<u64>,
    /// Bytes of the body on the wire.
    pub bytes: u64,
    /// The IP address to which it was sent. Version 0.1.0 did not log it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ip: Option<IpAddr>,
    /// The delay required before the next request to this IP address, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ip_delay_ms: Option<u64>,
    /// Whether it never left: the name has no address, or no connection opened.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unsent: bool,
}

/// The kind of resource that is requested.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RequestKind {
    /// An article.
    #[default]
    Page,
    /// A feed.
    Feed,
    /// A URL that may be a feed, a page or nothing.
    Probe,
    /// The robots.txt of a host.
    Robots,
    /// The text and data mining reservation of a host.
    Tdmrep,
    /// A kind of another version.
    #[serde(other)]
    Other,
}

impl RequestKind {
    /// All kinds, in the order of the alphabet.
    pub const ALL: [RequestKind; 6] = [
        RequestKind::Feed,
        RequestKind::Other,
        RequestKind::Page,
        RequestKind::Probe,
        RequestKind::Robots,
        RequestKind::Tdmrep,
    ];

    /// The name in the log.
    pub const fn word(self) -> &'static str {
        match self {
            RequestKind::Page => "page",
            RequestKind::Feed => "feed",
            RequestKind::Probe => "probe",
            RequestKind::Robots => "robots",
            RequestKind::Tdmrep => "tdmrep",
            RequestKind::Other => "other",
        }
    }

    /// The kind with a name.
    pub fn named(word: &str) -> RequestKind {
        RequestKind::ALL.into_iter().find(|kind| kind.word() == word).unwrap_or(RequestKind::Other)
    }

    /// Whether a request of this kind needs the permission of a robots.txt.
    pub const fn needs_permission(self) -> bool {
        matches!(self, RequestKind::Page | RequestKind::Feed | RequestKind::Probe)
    }
}

impl Request {
    /// Its status as the plan would have it.
    pub fn status(&self) -> Status {
        match self.status.parse() {
            Ok(status) => status,
            Err(never) => match never {},
        }
    }
}

/// The lines of a run log that other code reads.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum RunLogLine {
    /// A request.
    Request(Request),
    /// The first line.
    Began {
        /// The start of the run.
        began: Timestamp,
    },
    /// Units of work, summaries.
    Other {},
}

/// The requests of a run in the order of sending, and the start of the run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunRequests {
    /// The start of the run.
    pub began: Option<Timestamp>,
    /// The requests.
    pub requests: Vec<Request>,
}

/// The log of a run that is going on.
pub struct RunLog {
    file: Appender,
    encoder: FrameEncoder,
    text: Vec<u8>,
}

impl RunLog {
    /// Starts the log of a run.
    pub fn create(home: &Home, run: &str) -> Result<RunLog> {
        let mut file = Appender::create(&home.runs().join(format!("{run}.jsonl.zst.part")))?;
        file.append(&frames::header(FORMAT, VERSION, ""))?;
        Ok(RunLog { file, encoder: FrameEncoder::new(3), text: Vec::new() })
    }

    /// Adds a line.
    pub fn push(&mut self, line: &impl Serialize) -> Result<()> {
        serde_json::to_writer(&mut self.text, line).expect("log lines serialise");
        self.text.push(b'\n');
        if self.text.len() >= 1 << 20 { self.flush() } else { Ok(()) }
    }

    /// Writes the collected lines to the file. The log is evidence and not state: it is synced once, at the end.
    pub fn flush(&mut self) -> Result<()> {
        if !self.text.is_empty() {
            self.file.append(&self.encoder.encode(&self.text))?;
            self.text.clear();
        }
        Ok(())
    }

    /// Ends the log.
    pub fn publish(mut self) -> Result<PathBuf> {
        self.flush()?;
        self.file.sync()?;
        let path = self.file.path().with_extension("");
        file::rename(self.file.path(), &path)?;
        Ok(path)
    }
}

/// Cuts and publishes the logs that crashed runs left.
pub fn recover(home: &Home) -> Result<()> {
    for path in files_in(&home.runs())?.iter().filter(|path| path.extension().is_some_and(|ending| ending == "part")) {
        let mut log = Log::open(path, FORMAT, VERSION)?;
        while log.next()?.is_some() {}
        drop(Appender::reopen(path, log.sound_bytes())?);
        file::rename(path, &path.with_extension(""))?;
    }
    Ok(())
}

/// The logs of all ended runs, oldest first.
pub fn files(home: &Home) -> Result<Vec<PathBuf>> {
    Ok(files_in(&home.runs())?.into_iter().filter(|path| path.to_string_lossy().ends_with(".jsonl.zst")).collect())
}

/// The start and the verb of a run, from the name of its log.
pub fn name_of(path: &Path) -> Option<(Timestamp, String)> {
    parse_name(path.file_name()?.to_str()?.strip_suffix(".jsonl.zst")?)
}

/// The start and the verb of a run, from its name.
pub(crate) fn parse_name(run: &str) -> Option<(Timestamp, String)> {
    let (stamp, verb) = run.split_once("Z-")?;
    let time = DateTime::strptime("%Y%m%dT%H%M%S", stamp.get(..15)?).ok()?.to_zoned(TimeZone::UTC).ok()?.timestamp();
    let ms: i64 = stamp.get(15..)?.parse().ok()?;
    Some((time + SignedDuration::from_millis(ms), verb.to_owned()))
}

/// The summary of a run; `None` if it was interrupted or is of another type. Only the end of the log is decompressed.
pub fn summary<T: DeserializeOwned>(path: &Path) -> Result<Option<T>> {
    #[derive(Deserialize)]
    struct Last<T> {
        summary: T,
    }
    let Some(text) = frames::last(path)? else { return Ok(None) };
    let last = text.lines().last().and_then(|line| serde_json::from_str::<Last<T>>(line).ok());
    Ok(last.map(|last| last.summary))
}

/// Deletes the logs of runs that began more than this many days ago; 0 keeps all. Returns the number of deleted logs.
pub fn thin(home: &Home, now: Timestamp, days: u32) -> Result<usize> {
    let oldest = now - SignedDuration::from_hours(24 * i64::from(days));
    let is_old = |path: &PathBuf| name_of(path).is_some_and(|(began, _)| began < oldest);
    let old: Vec<PathBuf> = match days {
        0 => Vec::new(),
        _ => files(home)?.into_iter().take_while(is_old).collect(),
    };
    for path in &old {
        std::fs::remove_file(path).context("remove", path)?;
    }
    Ok(old.len())
}

/// Reads the requests of a run in the order of sending; the log has them in the order of completion.
pub fn requests(path: &Path) -> Result<RunRequests> {
    let mut found = RunRequests::default();
    let (mut number, mut fault) = (0, None);
    read(path, |line| {
        number += 1;
        match serde_json::from_str(line) {
            Ok(RunLogLine::Request(request)) => found.requests.push(request),
            Ok(RunLogLine::Began { began }) => found.began = Some(began),
            Ok(RunLogLine::Other {}) => {}
            Err(error) => fault = fault.take().or(Some((number, error))),
        }
    })?;
    if let Some((line, error)) = fault {
        let fault = format!("is not valid ({error})");
        return Err(Error::Line { path: path.to_owned(), line, fault });
    }
    found.requests.sort_by_key(|request| (request.sent_ms, request.ended_ms));
    Ok(found)
}

/// Reads the requests of a run whose lines contain a string, in the order of the log.
pub fn requests_with(path: &Path, words: &str) -> Result<RunRequests> {
    let mut found = RunRequests::default();
    scan::lines(path, "\"began\"", |line| {
        if let Ok(RunLogLine::Began { began }) = serde_json::from_slice(line) {
            found.began = Some(began);
        }
        ControlFlow::Break(())
    })?;
    scan::lines(path, words, |line| {
        if let Ok(RunLogLine::Request(request)) = serde_json::from_slice(line) {
            found.requests.push(request);
        }
        ControlFlow::Continue(())
    })?;
    Ok(found)
}

/// Shows every line of a run's log to `see`, as JSON.
pub fn read(path: &Path, mut see: impl FnMut(&str)) -> Result<()> {
    for line in frames::open_any(path)?.lines() {
        see(&line.context("read", path)?);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_is_found_at_the_end_and_old_logs_are_deleted() {
        let folder = tempfile::tempdir().unwrap();
        Home::create(folder.path(), "", "").unwrap();
        let home = Home::at(folder.path()).unwrap();
        for run in ["20250101T000000000Z-fetch", "20260301T120000250Z-update", "20260302T120000000Z-fetch"] {
            let mut log = RunLog::create(&home, run).unwrap();
            log.push(&serde_json::json!({ "began": run })).unwrap();
            log.flush().unwrap();
            if run.starts_with("2026") {
                log.push(&serde_json::json!({ "summary": { "fetched": 3 } })).unwrap();
            }
            log.publish().unwrap();
        }
        let paths = files(&home).unwrap();
        assert_eq!(summary::<serde_json::Value>(&paths[0]).unwrap(), None);
        assert_eq!(summary::<serde_json::Value>(&paths[1]).unwrap().unwrap()["fetched"], 3);
        let (began, verb) = name_of(&paths[1]).unwrap();
        assert_eq!((began.to_string().as_str(), verb.as_str()), ("2026-03-01T12:00:00.25Z", "update"));
        let now = "2026-03-03T00:00:00Z".parse().unwrap();
        assert_eq!((thin(&home, now, 0).unwrap(), thin(&home, now, 400).unwrap()), (0, 1));
        assert_eq!(files(&home).unwrap(), paths[1..]);
    }

    #[test]
    fn the_log_of_a_crashed_run_is_truncated_and_published() {
        let (_folder, home) = crate::testing::home();
        let mut log = RunLog::create(&home, "20260301T120000000Z-fetch").unwrap();
        log.push(&serde_json::json!({ "a": 1 })).unwrap();
        log.flush().unwrap();
        let sound = log.file.len();
        log.push(&serde_json::json!({ "b": 2 })).unwrap();
        log.flush().unwrap();
        let path = log.file.path().to_owned();
        drop(log);
        std::fs::File::options().write(true).open(&path).unwrap().set_len(sound + 3).unwrap();
        assert!(files(&home).unwrap().is_empty(), "an unfinished log is not listed");
        recover(&home).unwrap();
        let mut lines = Vec::new();
        read(&files(&home).unwrap()[0], |line| lines.push(line.to_owned())).unwrap();
        assert_eq!(lines, ["{\"a\":1}"]);
        recover(&home).unwrap();
    }

    #[test]
    fn a_row_of_version_0_1_0_has_no_address() {
        let row = r#"{"sent_ms":1,"ended_ms":2,"host":"e.org","kind":"page","url":"u","status":"200","delay_ms":3,"bytes":4}"#;
        let RunLogLine::Request(request) = serde_json::from_str(row).unwrap() else { panic!("a request") };
        assert_eq!((request.ip, request.ip_delay_ms, request.unsent), (None, None, false));
        assert_eq!(serde_json::to_string(&request).unwrap(), row);
        let sent = Request { ip: Some([192, 0, 2, 1].into()), ip_delay_ms: Some(500), ..request };
        assert!(serde_json::to_string(&sent).unwrap().ends_with(r#""ip":"192.0.2.1","ip_delay_ms":500}"#));
    }

    #[test]
    fn a_name_that_is_not_of_a_run_has_no_time() {
        for name in
            ["x", "20260301T120000000Z.jsonl.zst", "2026Z-fetch.jsonl.zst", "20261301T120000000Z-fetch.jsonl.zst"]
        {
            assert_eq!(name_of(Path::new(name)), None, "{name}");
        }
    }
}
