//! Traces: the history of a page, document, feed or host, stage by stage, with the rules that decided; and the
//! conservation check.
//!
//! Traces need no records of their own: every stage logs its work anyway. The plan has the time at which an entry was
//! listed, the run logs have its requests and so the file of its page, and the day leads to the derived data.

pub mod conservation;
mod document;
mod facts;
mod page;
mod source;

use std::fmt;

use anyhow::{Result, bail};
use serde::Serialize;
use tidings_model::address;
use tidings_store::feeds;

use crate::Pipeline;
use crate::outcome::{Outcome, Status};
pub use conservation::{ConservationOutcome, StageBalance, conservation};
pub use facts::Facts;

/// The subject of a trace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Subject {
    /// A page.
    Page {
        /// Its address.
        url: String,
    },
    /// A document.
    Document {
        /// Its id.
        id: String,
        /// The URL of its page, if known.
        #[serde(skip_serializing_if = "Option::is_none")]
        url: Option<String>,
    },
    /// A feed.
    Feed {
        /// Its address.
        url: String,
    },
    /// A host.
    Host {
        /// Its name.
        host: String,
    },
}

/// The final outcome of a subject.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TraceOutcome {
    /// Not known in this home.
    #[default]
    Unknown,
    /// It waits to be fetched.
    Waiting,
    /// It failed and will be tried again.
    Failing,
    /// It failed and will not be tried again.
    Failed,
    /// Finished and pruned from the plan.
    Pruned,
    /// Its page is stored.
    Stored,
    /// Stored according to the plan, but in no file.
    Lost,
    /// Dropped: no document.
    #[serde(rename = "left out")]
    LeftOut,
    /// It is a document.
    Document,
    /// All of it was published before.
    Duplicate,
    /// A later revision of the page takes its place.
    Superseded,
    /// It is annotated text.
    Text,
    /// It is hidden from every answer.
    Hidden,
    /// It can be found.
    Searchable,
    /// It was removed from the corpus.
    Removed,
    /// A feed of the list.
    Listed,
    /// A feed that is not in the list.
    Unlisted,
    /// A feed that is gone (410).
    Gone,
    /// A host or feed with known facts.
    Known,
}

impl TraceOutcome {
    /// Whether a document of the page is part of the corpus, or would be if it were new or not hidden.
    fn has_document(self) -> bool {
        use TraceOutcome::{Document, Duplicate, Hidden, Searchable, Text};
        matches!(self, Document | Duplicate | Text | Hidden | Searchable)
    }
}

/// The stage of an event, or a finer step of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TraceStage {
    /// A feed listed it, or the list of feeds names it.
    Listed,
    /// The plan.
    Plan,
    /// A feed was polled.
    Polled,
    /// The next poll of a feed.
    Due,
    /// A request.
    Asked,
    /// The robots.txt and other policies of a host.
    Rules,
    /// The archive of pages.
    Stored,
    /// Documents that are yet to be extracted.
    Docs,
    /// `clean`.
    Clean,
    /// `dedup`.
    Dedup,
    /// `annotate`.
    Annotate,
    /// The index.
    Index,
    /// A crawl that follows links.
    Crawl,
    /// The list of tombstones.
    Removed,
}

impl fmt::Display for TraceStage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            TraceStage::Listed => "listed",
            TraceStage::Plan => "plan",
            TraceStage::Polled => "polled",
            TraceStage::Due => "due",
            TraceStage::Asked => "asked",
            TraceStage::Rules => "rules",
            TraceStage::Stored => "stored",
            TraceStage::Docs => "docs",
            TraceStage::Clean => "clean",
            TraceStage::Dedup => "dedup",
            TraceStage::Annotate => "annotate",
            TraceStage::Index => "index",
            TraceStage::Crawl => "crawl",
            TraceStage::Removed => "removed",
        })
    }
}

/// A single event.
#[derive(Debug, Clone, Serialize)]
pub struct TraceEvent {
    /// The time or day, if known.
    pub at: String,
    /// The stage.
    pub stage: TraceStage,
    /// The description of the event.
    pub says: String,
    /// The same for programs.
    #[serde(flatten)]
    pub facts: Option<Facts>,
}

/// The events of a subject, in chronological order.
#[derive(Debug, Clone, Serialize)]
pub struct Trace {
    /// Whether anything is known about the subject.
    pub done: bool,
    /// The subject.
    pub about: Subject,
    /// The final outcome.
    #[serde(rename = "fate")]
    pub outcome: TraceOutcome,
    /// The events.
    pub events: Vec<TraceEvent>,
}

impl Trace {
    fn new(about: Subject) -> Trace {
        Trace { done: false, about, outcome: TraceOutcome::Unknown, events: Vec::new() }
    }

    fn event(&mut self, at: &str, stage: TraceStage, says: impl Into<String>, facts: Facts) {
        self.events.push(TraceEvent { at: at.to_owned(), stage, says: says.into(), facts: Some(facts) });
    }

    /// Adds an event without facts.
    fn note(&mut self, at: &str, stage: TraceStage, says: impl Into<String>) {
        self.events.push(TraceEvent { at: at.to_owned(), stage, says: says.into(), facts: None });
    }
}

impl Outcome for Trace {
    fn status(&self) -> Status {
        if self.done { Status::Done } else { Status::NotDone }
    }
}

impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for event in &self.events {
            // Text output shows minutes; JSON has the complete time.
            let at = match (event.at.get(..10), event.at.get(11..16)) {
                (Some(day), Some(minute)) => format!("{day} {minute}"),
                (Some(day), None) => day.to_owned(),
                _ => String::new(),
            };
            let says: String = event.says.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
            writeln!(f, "{at:<16}  {:<8}  {says}", event.stage)?;
        }
        Ok(())
    }
}

/// Traces a page or a feed by its URL, a document by its id, or a host by its name.
pub fn trace(pipeline: &Pipeline, thing: &str) -> Result<Trace> {
    let home = pipeline.home();
    let thing = thing.trim();
    let mut trace = match Named::parse(thing)? {
        Named::Document(id) => page::of_document(pipeline, &id)?,
        Named::Host(host) => source::of_host(home, &host)?,
        Named::Address(url) => {
            let is_feed = |feed: &String| feed == thing || address::normalise(feed, None).as_deref() == Some(&url);
            let known = feeds::states(home)?.into_keys().find(is_feed);
            let feed = match known {
                Some(feed) => Some(feed),
                None => feeds::list(home)?.feeds.into_iter().map(|feed| feed.url).find(is_feed),
            };
            match feed {
                Some(feed) => source::of_feed(home, &feed)?,
                None => page::of_address(pipeline, &url)?,
            }
        }
    };
    add_crawls(pipeline, &mut trace)?;
    trace.done = trace.outcome != TraceOutcome::Unknown;
    Ok(trace)
}

/// Adds what crawls know of a page or host.
fn add_crawls(pipeline: &Pipeline, trace: &mut Trace) -> Result<()> {
    let (address, url) = match &trace.about {
        Subject::Host { host } => (format!("http://{host}/"), None),
        Subject::Page { url } => (url.clone(), Some(url.clone())),
        Subject::Document { .. } | Subject::Feed { .. } => return Ok(()),
    };
    let Ok(parsed) = url::Url::parse(&address) else { return Ok(()) };
    let lines = crate::crawl::lines(pipeline.home(), tidings_crawl::shape::domain(&parsed), url.as_deref())?;
    if !lines.is_empty() && trace.outcome == TraceOutcome::Unknown {
        trace.outcome = TraceOutcome::Known;
    }
    lines.into_iter().for_each(|line| trace.note("", TraceStage::Crawl, line));
    Ok(())
}

/// The parsed argument of the user.
#[derive(Debug, PartialEq, Eq)]
enum Named {
    Document(String),
    Address(String),
    Host(String),
}

impl Named {
    fn parse(thing: &str) -> Result<Named> {
        if thing.len() == 32 && thing.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Ok(Named::Document(thing.to_ascii_lowercase()));
        }
        if thing.contains("://") {
            let Some(url) = address::normalise(thing, None) else { bail!("{thing} is not a valid http or https URL") };
            return Ok(Named::Address(url));
        }
        if thing.contains('/') {
            bail!("{thing} is not a URL; write https://{thing}")
        }
        Ok(Named::Host(thing.to_ascii_lowercase()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subject_is_recognised_by_its_form() {
        let id = "0123456789ABCDEF0123456789abcdef";
        assert_eq!(Named::parse(id).unwrap(), Named::Document(id.to_lowercase()));
        assert_eq!(Named::parse("E.org").unwrap(), Named::Host("e.org".into()));
        assert_eq!(Named::parse("http://e.org/1#x").unwrap(), Named::Address("http://e.org/1".into()));
        assert!(Named::parse("e.org/1").unwrap_err().to_string().contains("https://e.org/1"));
    }

    #[test]
    fn events_are_lines_to_the_minute_and_objects_with_their_facts() {
        let mut trace = Trace::new(Subject::Document { id: "1".into(), url: None });
        trace.event("2026-03-01T12:34:56.789Z", TraceStage::Clean, "a\nb", Facts::Day { day: "2026-03-01".into() });
        trace.note("", TraceStage::Index, "waits");
        trace.outcome = TraceOutcome::LeftOut;
        assert_eq!(trace.to_string(), "2026-03-01 12:34  clean     a b\n                  index     waits\n");
        let json = serde_json::to_value(&trace).unwrap();
        assert_eq!(json["fate"], "left out");
        assert_eq!(json["about"], serde_json::json!({ "kind": "document", "id": "1" }));
        assert_eq!(json["events"][0]["day"], "2026-03-01");
        assert_eq!(json["events"][1], serde_json::json!({ "at": "", "stage": "index", "says": "waits" }));
    }
}
