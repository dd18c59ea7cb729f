//! `tidings fetch`: downloads the pages of the plan, politely.

use std::collections::HashMap;
use std::sync::Arc;

use anyhow::Result;
use serde_json::json;
use tidings_fetch::{FetchJob, JobSource, Kind};
use tidings_model::{Row, Status, address};
use tidings_store::pages::{Archivist, Shelf};
use tidings_store::removed::Removed;
use tidings_store::{Work as Rows, WorkDraft, plan};

use super::{HarvestArgs, HostMemory, Report};
use crate::args::Global;
use crate::config::Config;
use crate::console::count;
use crate::intake::pages::PageClerk;
use crate::intake::{self, Work};
use crate::session::Session;

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    harvest: HarvestArgs,
    /// Write WARC 1.1 files beside the pages
    #[arg(long)]
    warc: bool,
    /// Show what would be fetched, and fetch nothing
    #[arg(long)]
    dry_run: bool,
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let (home, config) = super::open_home(global)?;
    let mut config = args.harvest.over(&config)?;
    config.fetch.warc |= args.warc;
    let mut session = Session::open(home, config, "fetch")?;

    let Backlog { rows, queues, entries } = backlog(&session)?;
    if rows.is_empty() || args.dry_run {
        let hosts = queues.len() as u64;
        let text = match rows.len() as u64 {
            0 => format!("nothing to fetch: all of {} in the plan settled\n", count(entries, "entry")),
            pending => format!("would fetch {} from {}\n", count(pending, "page"), count(hosts, "host")),
        };
        let json =
            json!({ "done": true, "run": session.run, "entries": entries, "pending": rows.len(), "hosts": hosts });
        return Ok(Report { text, json, ..Report::default() });
    }
    super::require_contact(&session.config, &session.home, queues.keys().map(String::as_str))?;
    let memory = HostMemory::load(&session, |host| queues.contains_key(host))?;
    let remembered = super::remembered_rules(&session, |host| queues.contains_key(host))?;
    let hosts = queues.len() as u64;
    let all_hosts_idle_for = memory.everybody;
    let queues = memory.queues(queues);

    let settings = session.config.fetch.for_pages(args.harvest.seed())?;
    let (ceiling, compression, warc) =
        (settings.ceiling(), session.config.store.compression, session.config.fetch.warc);
    let rows = Arc::new(rows);
    let work = Work {
        kind: Kind::Page,
        settings,
        queues,
        all_hosts_idle_for,
        remembered,
        source: PageDesk(rows.clone()),
        shelf: Shelf::open(&session.home, &session.run, warc.then(|| archivist(&session.config))),
        time_limit: super::time_left(&session),
    };
    let removed = Arc::new(Removed::read(&session.home)?);
    let clerk = || PageClerk::new(rows.clone(), removed.clone(), ceiling, compression, warc);
    let harvested = intake::run(&session, work, clerk)?;

    session.finish()?;
    super::mention_given_up(&harvested);
    let mut report = report(&session, harvested, hosts)?;
    if session.config.discover.grow && session.stopper.reason().is_none() {
        let (text, json) = super::discover::grow(&mut session, args.harvest.seed())?;
        report.text.push_str(&text);
        report.json["discover"] = json;
    }
    Ok(report)
}

fn report(session: &Session, harvested: intake::Harvested, hosts: u64) -> Result<Report> {
    let stored = harvested.tally.get("ok");
    let (failed, failures) = super::failures(&harvested.tally, &["ok"]);
    let (ending, not_done) = super::ending(session, &harvested);
    let failures = if failed > 0 { format!(", {failed} failed ({failures})") } else { String::new() };
    let text = format!("{} fetched{failures}{ending}, {}\n", count(stored, "page"), super::took(session));
    let json = json!({
        "done": !not_done,
        "run": session.run,
        "fetched": stored,
        "failed": failed,
        "statuses": harvested.tally,
        "left": harvested.left,
        "hosts": hosts,
        "hosts_given_up": harvested.outcome.given_up.len(),
        "requests": harvested.requests,
        "bytes": harvested.bytes,
        "seconds": session.began.elapsed().as_secs_f64(),
    });
    let mut log = harvested.log;
    log.push(&json!({ "summary": json }))?;
    log.publish()?;
    Ok(Report { text, json, failed: not_done, ..Report::default() })
}

/// What the plan wants fetched.
struct Backlog {
    rows: Rows,
    queues: HashMap<String, Vec<u32>>,
    entries: u64,
}

fn backlog(session: &Session) -> Result<Backlog> {
    let mut draft = WorkDraft::create(&session.home)?;
    let mut queues: HashMap<String, Vec<u32>> = HashMap::new();
    let mut entries = 0;
    let mut written = Ok(());
    let removed = Removed::read(&session.home)?;
    plan::read(&session.home, |row| {
        entries += 1;
        // Most rows of a grown plan are settled, and the word tells at once.
        if row.status == "ok" || written.is_err() {
            return;
        }
        let status: Status = row.status.parse().expect("any word is a status");
        if status.is_pending(row.retries, session.config.fetch.retries) && removed.covers(row.url).is_none() {
            match draft.push(row) {
                Ok(job) => {
                    let host = address::host(row.url).unwrap_or_default().to_ascii_lowercase();
                    queues.entry(host).or_default().push(job);
                }
                Err(error) => written = Err(error),
            }
        }
    })?;
    written?;
    Ok(Backlog { rows: draft.finish()?, queues, entries })
}

fn archivist(config: &Config) -> Archivist {
    Archivist { software: format!("Tidings/{}", env!("CARGO_PKG_VERSION")), operator: config.fetch.contact.clone() }
}

struct PageDesk(Arc<Rows>);

impl JobSource for PageDesk {
    fn job(&mut self, job: u32) -> Result<FetchJob, Box<dyn std::error::Error + Send + Sync>> {
        let line = self.0.line(job)?;
        let row = Row::parse(&line).map_err(|fault| fault.to_string())?;
        Ok(FetchJob { url: row.url.to_owned(), headers: Vec::new() })
    }
}
