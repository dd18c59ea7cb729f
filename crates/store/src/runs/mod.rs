//! Run logs: every request of a run, and its final summary.
//!
//! `runs/RUN.jsonl.zst.part` grows during the run; at the end the log becomes a section of `runs/DAY.jsonl.zst`, so that
//! hourly rounds leave one file a day. Frames truncated by a crash are cut off by the next run. Homes of earlier
//! versions have a file for each run, `runs/RUN.jsonl.zst`. `audit`, `status` and `why` read the logs.

mod day_log;
mod list;

use std::io::BufRead;
use std::net::IpAddr;
use std::ops::ControlFlow;
use std::path::PathBuf;

use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tidings_model::Status;
use tidings_storage::Appender;
use tidings_storage::file;

use crate::error::{Context, Error, Result};
use crate::frames::{self, FrameEncoder, Log};
use crate::home::Home;
use crate::scan;

pub(crate) use day_log::DayLogCache;
pub use list::{LoggedRun, RunName, all, check, days, fold, has_day, names_of_day, newest_first, of_day, thin};

pub(crate) const FORMAT: &str = "run";
/// Version 1 has a file for each run.
pub(crate) const VERSION: u32 = 2;
/// The extension of a published log.
const EXTENSION: &str = ".jsonl.zst";
/// The extension of the log of an active run.
const PART: &str = ".jsonl.zst.part";

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
    home: Home,
    run: String,
    file: Appender,
    encoder: FrameEncoder,
    text: Vec<u8>,
}

impl RunLog {
    /// Starts the log of a run.
    pub fn create(home: &Home, run: &str) -> Result<RunLog> {
        home.note_created_log();
        // Its lines are synced at the end of the run, so that a durable name would be that of an empty file.
        let mut file = Appender::create_transient(&home.runs().join(format!("{run}{PART}")))?;
        file.append(&frames::header(FORMAT, VERSION, ""))?;
        let (home, run) = (home.clone(), run.to_owned());
        Ok(RunLog { home, run, file, encoder: FrameEncoder::new(3), text: Vec::new() })
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

    /// Ends the log: moves it to the file of its day.
    pub fn publish(mut self) -> Result<()> {
        self.flush()?;
        publish(&self.home, &self.run, self.file.path().to_owned())?;
        self.home.note_published_log();
        Ok(())
    }
}

/// Moves a finished log to the file of its day. The section is synced before the log itself is deleted.
fn publish(home: &Home, run: &str, log: PathBuf) -> Result<()> {
    match RunName::parse(run) {
        Some(name) => day_log::append(&list::day_path(home, name.day()), run, &log, &home.day_log),
        // Without a date there is no day; such a log stays a file of its own.
        None => {
            file::sync_file(&log)?;
            Ok(file::rename(&log, &home.runs().join(format!("{run}{EXTENSION}")))?)
        }
    }
}

/// Cuts and publishes the logs that crashed runs left. The caller holds the lock, so that no other log is open.
pub fn recover(home: &Home) -> Result<()> {
    if !home.may_have_open_logs() {
        return Ok(());
    }
    for name in list::names(home, |name| name.ends_with(PART))? {
        let path = home.runs().join(&name);
        let run = name.trim_end_matches(PART);
        let mut log = Log::open(&path, FORMAT, VERSION)?;
        while log.next()?.is_some() {}
        drop(Appender::reopen(&path, log.sound_bytes())?);
        publish(home, run, path)?;
    }
    home.note_no_open_logs();
    Ok(())
}

/// The summary of a run; `None` if it was interrupted or is of another type. Only the end of the log is decompressed.
pub fn summary<T: DeserializeOwned>(run: &LoggedRun) -> Result<Option<T>> {
    #[derive(Deserialize)]
    struct Last<T> {
        summary: T,
    }
    let Some(text) = run.last_frame()? else { return Ok(None) };
    let last = text.lines().last().and_then(|line| serde_json::from_str::<Last<T>>(line).ok());
    Ok(last.map(|last| last.summary))
}

/// Reads the requests of a run in the order of sending; the log has them in the order of completion.
pub fn requests(run: &LoggedRun) -> Result<RunRequests> {
    let mut found = RunRequests::default();
    let (mut number, mut fault) = (0, None);
    read(run, |line| {
        number += 1;
        match serde_json::from_str(line) {
            Ok(RunLogLine::Request(request)) => found.requests.push(request),
            Ok(RunLogLine::Began { began }) => found.began = Some(began),
            Ok(RunLogLine::Other {}) => {}
            Err(error) => fault = fault.take().or(Some((number, error))),
        }
    })?;
    if let Some((line, error)) = fault {
        let fault = format!("of run {} is not valid ({error})", run.name());
        return Err(Error::Line { path: run.path().to_owned(), line, fault });
    }
    found.requests.sort_by_key(|request| (request.sent_ms, request.ended_ms));
    Ok(found)
}

/// Reads the requests of a run whose lines contain a string, in the order of the log.
pub fn requests_with(run: &LoggedRun, words: &str) -> Result<RunRequests> {
    let mut found = RunRequests::default();
    scan::matching(&mut *run.open()?, run.path(), "\"began\"", |line| {
        if let Ok(RunLogLine::Began { began }) = serde_json::from_slice(line) {
            found.began = Some(began);
        }
        ControlFlow::Break(())
    })?;
    scan::matching(&mut *run.open()?, run.path(), words, |line| {
        if let Ok(RunLogLine::Request(request)) = serde_json::from_slice(line) {
            found.requests.push(request);
        }
        ControlFlow::Continue(())
    })?;
    Ok(found)
}

/// Shows every line of a run's log to `see`, as JSON.
pub fn read(run: &LoggedRun, mut see: impl FnMut(&str)) -> Result<()> {
    for line in run.open()?.lines() {
        see(&line.context("read", run.path())?);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use tidings_storage::file::files_in;

    use super::*;
    use crate::testing::home;

    #[test]
    fn a_summary_is_found_at_the_end_of_a_log() {
        let (_folder, home) = home();
        for run in ["20250101T000000000Z-fetch", "20260301T120000250Z-update", "20260301T120000900Z-fetch"] {
            let mut log = RunLog::create(&home, run).unwrap();
            log.push(&serde_json::json!({ "began": run })).unwrap();
            log.flush().unwrap();
            if run.starts_with("2026") {
                log.push(&serde_json::json!({ "summary": { "verb": run } })).unwrap();
            }
            log.publish().unwrap();
        }
        let runs = all(&home).unwrap();
        let verb = |run| summary::<serde_json::Value>(run).unwrap().map(|summary| summary["verb"].clone());
        assert_eq!(verb(&runs[0]), None);
        assert_eq!(verb(&runs[1]).unwrap(), "20260301T120000250Z-update");
        assert_eq!(verb(&runs[2]).unwrap(), "20260301T120000900Z-fetch");
        assert_eq!(files_in(&home.runs()).unwrap().len(), 2, "a file for each day");
    }

    #[test]
    fn the_folder_of_logs_is_searched_only_if_a_log_may_have_been_left_open() {
        let (_folder, home) = crate::testing::home();
        RunLog::create(&home, "20260301T120000000Z-update").unwrap().publish().unwrap();
        recover(&home).unwrap();
        let day = jiff::civil::date(2026, 3, 1);
        assert_eq!(of_day(&home, day).unwrap().len(), 1);
        assert!(!home.may_have_open_logs() && !home.may_have_single_logs());
        // A run that fails leaves its log open, and the next one publishes it.
        drop(RunLog::create(&home, "20260301T130000000Z-fetch").unwrap());
        assert!(home.may_have_open_logs());
        recover(&home).unwrap();
        assert_eq!(of_day(&home, day).unwrap().len(), 2);
        assert!(!home.may_have_open_logs());
    }

    #[test]
    fn a_year_of_hourly_rounds_leaves_a_file_a_day() {
        let (_folder, home) = home();
        for day in 0..40 {
            for hour in 0..3 {
                let at = "2026-01-01T00:00:00Z".parse::<Timestamp>().unwrap();
                let at = at + jiff::SignedDuration::from_hours(24 * day + 8 * hour);
                for verb in ["update", "fetch", "run"] {
                    let name = format!("{}-{verb}", crate::home::stamp(at));
                    let mut log = RunLog::create(&home, &name).unwrap();
                    log.push(&serde_json::json!({ "summary": { "done": true } })).unwrap();
                    log.publish().unwrap();
                }
            }
        }
        assert_eq!((files_in(&home.runs()).unwrap().len(), all(&home).unwrap().len()), (40, 360));
    }

    #[test]
    fn the_log_of_a_crashed_run_is_truncated_and_published() {
        let (_folder, home) = home();
        let mut log = RunLog::create(&home, "20260301T120000000Z-fetch").unwrap();
        log.push(&serde_json::json!({ "a": 1 })).unwrap();
        log.flush().unwrap();
        let sound = log.file.len();
        log.push(&serde_json::json!({ "b": 2 })).unwrap();
        log.flush().unwrap();
        let path = log.file.path().to_owned();
        drop(log);
        std::fs::File::options().write(true).open(&path).unwrap().set_len(sound + 3).unwrap();
        assert!(all(&home).unwrap().is_empty(), "an unfinished log is not listed");
        recover(&home).unwrap();
        let mut lines = Vec::new();
        read(&all(&home).unwrap()[0], |line| lines.push(line.to_owned())).unwrap();
        assert_eq!(lines, ["{\"a\":1}"]);
        assert!(!path.exists());
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
    fn the_requests_of_a_run_do_not_include_those_of_its_day() {
        let (_folder, home) = home();
        for (run, sent_ms) in [("20260301T120000000Z-fetch", 5), ("20260301T130000000Z-fetch", 7)] {
            let mut log = RunLog::create(&home, run).unwrap();
            log.push(&Request { sent_ms, url: "http://e.org/".into(), ..Request::default() }).unwrap();
            log.publish().unwrap();
        }
        let runs = all(&home).unwrap();
        let sent = |found: RunRequests| found.requests.iter().map(|request| request.sent_ms).collect::<Vec<_>>();
        assert_eq!((sent(requests(&runs[0]).unwrap()), sent(requests(&runs[1]).unwrap())), (vec![5], vec![7]));
        assert_eq!(sent(requests_with(&runs[1], "e.org").unwrap()), [7]);
    }
}
