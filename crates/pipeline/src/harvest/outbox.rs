//! What machines of a harvest hand over to each other: entries, feeds and domains, as files in a shared folder.
//!
//! A file for machine `b` is `EXCHANGE/b/SENDER.RUN-HASH.jsonl.zst` and appears by a rename. An entry is marked as
//! `moved-shard` in the plan of its sender after the file is durable, and the file is deleted after the plan of its
//! receiver has the entries. A crash between two of these steps repeats a step; an entry that the plan knows already is
//! not added again, so that nothing is lost and no page is fetched twice. There is no server and no order.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io::{BufRead as _, Read as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use serde::{Deserialize, Serialize};
use tidings_model::{FailureKind, Prospect, Status, address};
use tidings_storage::{AtomicFile, file};
use tidings_store::failures::Retries;
use tidings_store::feed_texts::FeedTexts;
use tidings_store::feeds::SourceKind;
use tidings_store::journal::{Journal, JournalBatch, Record};
use tidings_store::removed::Removed;
use tidings_store::{FrameEncoder, apply_journal, candidates, feeds, open_any, plan};
use xxhash_rust::xxh3::xxh3_64;

use super::{HarvestPart, MovedFeeds};
use crate::context::RunContext;
use crate::display::count;

/// The end of the names of files.
const ENDING: &str = ".jsonl.zst";
/// The text after which another file is begun.
const FILE_BYTES: usize = 32 << 20;
/// The maximum length of a line that is read: an entry with the full text of its feed.
const MAX_LINE_BYTES: u64 = 16 << 20;
/// The text of a file that is read, at most: twice what a machine writes. A small file may decompress to more.
const MAX_FILE_BYTES: u64 = 4 * FILE_BYTES as u64;
/// The maximum length of the name of a feed, a title and the like.
const MAX_FIELD_BYTES: usize = 4096;

/// A line of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Line {
    /// An entry to fetch.
    Entry {
        feed: String,
        seen: String,
        published: String,
        url: String,
        title: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
    },
    /// A feed to poll, as a line of `feeds.txt`.
    Feed { line: String, instead_of: String },
    /// A domain that belongs to the receiver from now on, because of its IP address.
    Domain(String),
}

/// What was received.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Received {
    /// Entries in files, known or not.
    pub(crate) entries: u64,
    /// Of these, entries that were new in the plan.
    pub(crate) new_entries: u64,
    /// Feeds that were added to the list.
    pub(crate) feeds: u64,
}

/// Lines for the other machines, by machine.
#[derive(Default)]
struct Outbox {
    lines: BTreeMap<u32, String>,
}

impl Outbox {
    fn push(&mut self, machine: u32, line: &Line) {
        let text = self.lines.entry(machine).or_default();
        text.push_str(&serde_json::to_string(line).expect("strings serialise"));
        text.push('\n');
    }

    fn is_full(&self) -> bool {
        self.lines.values().map(String::len).sum::<usize>() >= FILE_BYTES
    }

    /// Makes the lines durable as files for their machines.
    fn write(&mut self, part: &HarvestPart, run: &str) -> Result<()> {
        for (machine, text) in std::mem::take(&mut self.lines) {
            let folder = part.machines.exchange.join(part.name(machine));
            file::make_folder(&folder).context("harvest.exchange")?;
            // A step that is repeated after a crash writes the same file again.
            let sender = part.name(part.machines.this);
            let name = format!("{sender}.{run}-{:016x}{ENDING}", xxh3_64(text.as_bytes()));
            let mut draft = AtomicFile::create(&folder.join(name))?;
            draft.write(&FrameEncoder::new(3).encode(text.as_bytes()))?;
            draft.publish()?;
        }
        Ok(())
    }
}

impl HarvestPart {
    /// Hands over the waiting entries of the plan that belong to other machines, the feeds that have moved to their
    /// hosts, and domains whose addresses belong to them. Returns the number of entries.
    pub(crate) fn send(&self, context: &RunContext, moved: &MovedFeeds) -> Result<u64> {
        // Domains first: once a domain is noted as handed over, it is never asked from here again.
        let untold = self.save(context)?;
        let context = context.follow_up(&unique("send"))?;
        let mut outbox = Outbox::default();
        for (domain, machine) in &untold {
            outbox.push(*machine, &Line::Domain(domain.clone()));
        }
        self.push_feeds(&context, moved, &mut outbox)?;
        let sent = self.push_entries(&context, &mut outbox)?;
        outbox.write(self, &context.run)?;
        self.note_told(&context, &untold)?;
        if !sent.is_empty() {
            let status = Status::Failed(FailureKind::MovedShard).to_string();
            let mut batch = JournalBatch::default();
            for (url, retries) in &sent {
                let (url, status) = (url.as_str().into(), status.as_str().into());
                batch.push(&Record::Outcome { url, status, retries: *retries, failure: None });
            }
            Journal::create(&context.home, &context.run)?.commit(batch)?;
            apply_journal::apply_journal(&context.home)?;
            log::info!("{} handed over to other machines", count(sent.len() as u64, "entry"));
        }
        Ok(sent.len() as u64)
    }

    fn push_entries(&self, context: &RunContext, outbox: &mut Outbox) -> Result<Vec<(String, u32)>> {
        let removed = Removed::read(&context.home)?;
        let texts = FeedTexts::open(&context.home)?;
        let retries = Retries::load(&context.home, context.config.fetch.retry_policy(), context.started)?;
        let mut sent = Vec::new();
        let mut written = Ok(());
        plan::read(&context.home, |row| {
            let is_waiting = || matches!(retries.prospect(row), Prospect::Due | Prospect::Waits(_));
            let Some(machine) = self.destination(row.url) else { return };
            if written.is_err() || !is_waiting() || removed.covers(row.url).is_some() {
                return;
            }
            written = texts.of(row.url).map_err(Into::into).and_then(|text| {
                let [feed, seen, published, url, title] =
                    [row.feed, row.seen, row.published, row.url, row.title].map(str::to_owned);
                outbox.push(machine, &Line::Entry { feed, seen, published, url, title, text });
                sent.push((row.url.to_owned(), row.retries));
                if outbox.is_full() { outbox.write(self, &context.run) } else { Ok(()) }
            });
        })?;
        written?;
        Ok(sent)
    }

    fn push_feeds(&self, context: &RunContext, moved: &MovedFeeds, outbox: &mut Outbox) -> Result<()> {
        let moved = std::mem::take(&mut *moved.lock().expect("no panic while held"));
        if moved.is_empty() {
            return Ok(());
        }
        let listed = feeds::list(&context.home)?.feeds;
        for (feed, target) in moved {
            let Some(machine) = self.destination(&target) else { continue };
            let Some(known) = listed.iter().find(|known| known.url == feed) else { continue };
            let mut line = target;
            if known.kind != SourceKind::Feed {
                line.push_str(&format!("\tkind={}", known.kind.word()));
            }
            known.labels.iter().for_each(|(key, value)| line.push_str(&format!("\t{key}={value}")));
            outbox.push(machine, &Line::Feed { line, instead_of: feed });
        }
        Ok(())
    }

    /// Takes in what other machines have handed over.
    pub(crate) fn receive(&self, context: &RunContext) -> Result<Received> {
        let folder = self.machines.exchange.join(self.name(self.machines.this));
        let mut files: Vec<PathBuf> = file::files_in(&folder).context("harvest.exchange")?;
        files.retain(|path| path.file_name().is_some_and(|name| name.as_encoded_bytes().ends_with(ENDING.as_bytes())));
        let mut received = Received::default();
        // One file at a time: a backlog of weeks must not be in memory.
        for path in files {
            let lines = match read(&path) {
                Ok(lines) => lines,
                // A file that is being copied; it is complete next time.
                Err(error) => {
                    log::warn!("{}: {error:#}; it is tried again by the next update", path.display());
                    continue;
                }
            };
            self.take_in(&context.follow_up(&unique("receive"))?, lines, &mut received)?;
            file::remove(&path)?;
        }
        if received.entries > 0 {
            let new = count(received.new_entries, "entry");
            log::info!("{new} taken over from other machines, {} known", received.entries - received.new_entries);
        }
        Ok(received)
    }

    fn take_in(&self, context: &RunContext, lines: Vec<Line>, received: &mut Received) -> Result<()> {
        let mut entries = Vec::new();
        let mut feeds = Vec::new();
        for line in lines {
            match line {
                Line::Domain(domain) => self.map.settle(&domain),
                Line::Feed { line, instead_of } => feeds.push((line, instead_of)),
                entry @ Line::Entry { .. } => entries.push(entry),
            }
        }
        self.save(context)?;
        received.feeds += add_feeds(context, feeds)?;
        received.entries += entries.len() as u64;
        let reopened = self.moved_before(context, &entries)?;
        let mut batch = JournalBatch::default();
        for entry in entries {
            let Line::Entry { feed, seen, published, url, title, text } = entry else { continue };
            if reopened.contains(&url) {
                // It was handed over from here, and belongs to this machine again.
                let status = Status::New.to_string();
                batch.push(&Record::Outcome { url: url.into(), status: status.into(), retries: 0, failure: None });
                continue;
            }
            batch.push(&Record::Listed {
                feed: feed.into(),
                seen: seen.into(),
                published: published.into(),
                url: url.into(),
                title: title.into(),
                updated: "".into(),
                text: text.map(Into::into),
            });
        }
        if !batch.is_empty() {
            Journal::create(&context.home, &context.run)?.commit(batch)?;
            received.new_entries += apply_journal::apply_journal(&context.home)?.unwrap_or_default().added;
        }
        Ok(())
    }

    /// The entries that this machine has handed over and that belong to it now.
    fn moved_before(&self, context: &RunContext, entries: &[Line]) -> Result<HashSet<String>> {
        let url = |line: &Line| match line {
            Line::Entry { url, .. } if self.owns(url) => Some(url.clone()),
            _ => None,
        };
        let mut found = HashSet::new();
        let own: HashSet<String> = entries.iter().filter_map(url).collect();
        if own.is_empty() {
            return Ok(found);
        }
        let moved = Status::Failed(FailureKind::MovedShard).to_string();
        plan::read(&context.home, |row| {
            if row.status == moved && own.contains(row.url) {
                found.insert(row.url.to_owned());
            }
        })?;
        Ok(found)
    }
}

/// A verb that no other run has: two of them may begin at the same time by the clock, and the plan would take the journal
/// of the second for one that was applied.
fn unique(verb: &str) -> String {
    format!("{verb}-{:08x}", fastrand::u32(..))
}

/// Adds feeds to the list that are not in it; returns their number.
fn add_feeds(context: &RunContext, moved: Vec<(String, String)>) -> Result<u64> {
    let mut listed: BTreeSet<String> = feeds::list(&context.home)?.feeds.into_iter().map(|feed| feed.url).collect();
    let mut rows = Vec::new();
    for (line, instead_of) in moved {
        let url = line.split('\t').next().unwrap_or_default().to_owned();
        if is_web(&url) && listed.insert(url) {
            rows.push((format!("moved from {instead_of}, which another machine polls"), line));
        }
    }
    candidates::append_feeds(&context.home, &rows)?;
    Ok(rows.len() as u64)
}

/// Reads a file of another machine.
pub(super) fn read(path: &Path) -> Result<Vec<Line>> {
    let mut reader = open_any(path)?.take(MAX_FILE_BYTES + 1);
    let mut lines = Vec::new();
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        (&mut reader).take(MAX_LINE_BYTES).read_until(b'\n', &mut bytes)?;
        if reader.limit() == 0 {
            bail!("it has more than {MAX_FILE_BYTES} bytes of text, which no machine writes");
        }
        if bytes.is_empty() {
            return Ok(lines);
        }
        if !bytes.ends_with(b"\n") {
            bail!("line {} has no end, or is too long", lines.len() + 1);
        }
        let line: Line =
            serde_json::from_slice(&bytes).with_context(|| format!("line {} is not valid", lines.len() + 1))?;
        if !is_sound(&line) {
            bail!("line {} has an invalid URL or is too long", lines.len() + 1);
        }
        lines.push(line);
    }
}

fn is_web(url: &str) -> bool {
    address::normalise(url, None).is_some()
}

/// Whether the fields of a line can be in a plan.
fn is_sound(line: &Line) -> bool {
    let is_short = |text: &String| text.len() <= MAX_FIELD_BYTES && !text.contains(['\n', '\r']);
    match line {
        Line::Entry { feed, seen, published, url, title, .. } => {
            [feed, seen, published, url, title].into_iter().all(is_short) && is_web(url)
        }
        Line::Feed { line, instead_of } => is_short(line) && is_short(instead_of),
        Line::Domain(domain) => is_short(domain) && !domain.is_empty(),
    }
}

#[cfg(test)]
pub(super) mod for_tests {
    /// A file with one entry, as another machine writes it.
    pub(in crate::harvest) fn entry(url: &str) -> Vec<u8> {
        let line = super::Line::Entry {
            feed: "https://feeds.example/feed".into(),
            seen: "2026-03-01T00:00:00.000Z".into(),
            published: String::new(),
            url: url.into(),
            title: "A title".into(),
            text: None,
        };
        let text = serde_json::to_string(&line).unwrap() + "\n";
        super::FrameEncoder::new(3).encode(text.as_bytes())
    }
}
