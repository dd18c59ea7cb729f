//! The state of a crawl on disk: seen-set, waiting URLs, tables, journal.
//!
//! Everything since the last checkpoint is in the journal; a checkpoint writes new files beside the old ones and names
//! them in `manifest.json`, which is replaced by rename. Opening a crawl applies its journal, whether the last run was
//! killed or not, and goes on with it; applying it again changes nothing. URLs that were being fetched wait again.
//! Finished URLs are applied before the first request, links while requests are sent ([`crate::backlog`]).

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tidings_storage::{file, write_atomic};

use crate::backlog::Backlog;
use crate::disk_queue::{self, DiskQueue, MAX_WAITING, ShardFiles};
use crate::error::{Error, Result};
use crate::exchange::{Exchange, SHARD_TABLE};
use crate::fingerprint::{self, fingerprint, shard_name};
use crate::frame_log::{self, FrameLog};
use crate::layout::{in_flight_path, journal_path, set_path, table_path};
use crate::queue::{UrlQueue as _, WaitingUrl};
use crate::record::{self, Done, Link, Record};
use crate::sieve::{Run, Sieve, take_number};
use crate::u64_run;
use crate::url_line::UrlLine;

/// The version of the files. In version 1, all rows of domains and sections were JSON.
const VERSION: u32 = 2;
/// Memory of new URLs after which a checkpoint is due.
const MAX_FRESH_BYTES: usize = 32 << 20;
/// New fingerprints after which a checkpoint is due; a set takes about 18 bytes for each.
const MAX_RECENT: usize = 1 << 20;
/// Links in buffers after which they are sifted.
const MAX_BUFFERED: usize = 100_000;
/// Text of the journal after which a checkpoint is due: it is read in a few seconds.
const MAX_JOURNAL_BYTES: u64 = 64 << 20;

/// The files that count.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Manifest {
    version: u32,
    /// The number of the newest file.
    last: u64,
    pub(crate) seen: HashMap<String, Vec<Run>>,
    pub(crate) frontier: BTreeMap<String, ShardFiles>,
    /// Tables of the caller: by name and shard.
    pub(crate) tables: BTreeMap<String, BTreeMap<String, u64>>,
    /// Sets of numbers of the caller.
    pub(crate) sets: BTreeMap<String, u64>,
    /// URLs that were being fetched.
    pub(crate) in_flight: u64,
    pub(crate) journal: u64,
}

/// A part of a table of the caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TablePart {
    /// The name of the table, which is that of its folder.
    pub table: &'static str,
    /// The shard.
    pub shard: u8,
    /// The rows.
    pub text: String,
}

/// State of a crawl.
pub struct CrawlState {
    pub(crate) folder: PathBuf,
    pub(crate) manifest: Manifest,
    sieve: Sieve,
    queue: DiskQueue,
    in_flight: HashMap<u64, WaitingUrl>,
    journal: FrameLog,
    /// Records that are not durable yet.
    pub(crate) pending: String,
    pub(crate) exchange: Exchange,
    /// Pages that are not kept, by day, that are not durable yet.
    refused: BTreeMap<String, String>,
    journal_bytes: u64,
    /// Links of the journal that were not offered again yet.
    backlog: Option<Backlog>,
}

impl CrawlState {
    /// Opens a crawl or begins one, up to its last checkpoint. [`CrawlState::recover`] must follow.
    pub fn open(folder: &Path) -> Result<CrawlState> {
        let manifest = read_manifest(folder)?;
        let sieve = Sieve::open(&folder.join("seen"), &manifest.seen);
        let queue = DiskQueue::open(&folder.join("frontier"), &manifest.frontier, MAX_WAITING)?;
        let journal = FrameLog::open(&journal_path(folder, manifest.journal))?;
        let mut state = CrawlState {
            folder: folder.to_owned(),
            sieve,
            queue,
            in_flight: HashMap::new(),
            journal,
            manifest,
            pending: String::new(),
            exchange: Exchange::default(),
            refused: BTreeMap::new(),
            journal_bytes: 0,
            backlog: None,
        };
        state.remove_unnamed()?;
        let mut exchange = Exchange::default();
        state.read_table(SHARD_TABLE, |_, text| text.lines().for_each(|line| exchange.restore(line)))?;
        state.exchange = exchange;
        Ok(state)
    }

    /// Whether a folder has a crawl.
    pub fn exists(folder: &Path) -> bool {
        folder.join("manifest.json").is_file()
    }

    /// The finished URLs since the last checkpoint, which the tables do not know.
    pub fn finished(&self) -> Result<Vec<Done>> {
        let mut finished = Vec::new();
        self.read_journal(
            |line| line.starts_with("d\t"),
            |record| {
                if let Record::Done(done) = record {
                    finished.push(done);
                }
            },
        )?;
        Ok(finished)
    }

    /// Reads the wanted lines of the journal; returns the length of all of them.
    fn read_journal(&self, is_wanted: impl Fn(&str) -> bool, mut see: impl FnMut(Record)) -> Result<u64> {
        let path = journal_path(&self.folder, self.manifest.journal);
        let mut bytes = 0;
        frame_log::for_each(&path, |text| {
            bytes += text.len() as u64;
            for line in text.lines().filter(|line| is_wanted(line)) {
                see(Record::parse(line).ok_or_else(|| Error::damaged(&path, "a line is not a record"))?);
            }
            Ok(())
        })?;
        Ok(bytes)
    }

    /// Applies the journal but for its links: the [finished](CrawlState::finished) URLs do not wait any more, and URLs
    /// that were being fetched wait again. The links follow with [`CrawlState::offer_backlog`], as fast as the caller
    /// likes; all of them before the next checkpoint.
    pub fn recover(&mut self, finished: &[Done]) -> Result<()> {
        let mut others = Vec::new();
        let is_other = |line: &str| !line.starts_with(['d', 'l', 'a']);
        self.journal_bytes = self.read_journal(is_other, |record| others.push(record))?;
        others.iter().for_each(|record| self.exchange.apply(record));
        let done: HashMap<u64, &str> = finished.iter().map(|done| (fingerprint(&done.url), &*done.url)).collect();
        for url in self.read_in_flight()? {
            if !done.contains_key(&fingerprint(&url.url)) {
                self.queue.put_back(&url);
            }
        }
        let mut places = HashSet::new();
        for (print, url) in &done {
            let Some((domain, section)) = record::place(url) else { continue };
            // Its link may be in the journal too, and must not make it wait again.
            self.sieve.offer(fingerprint::shard(&domain), *print, None);
            places.insert((domain.clone(), shared_section(&section)));
            places.insert((domain, section));
        }
        for (domain, section) in places {
            self.queue.load_section(&domain, &section, |url| done.contains_key(&fingerprint(url)))?;
        }
        self.backlog = Backlog::open(&journal_path(&self.folder, self.manifest.journal))?;
        Ok(())
    }

    /// Offers the next links of the journal, at least `count` of them if there are so many; returns whether there are
    /// more. They wait after a [sift](CrawlState::sift).
    pub fn offer_backlog(&mut self, count: usize) -> Result<bool> {
        let mut offered = 0;
        while offered < count
            && let Some(backlog) = &mut self.backlog
        {
            let records = backlog.next()?;
            if records.is_empty() {
                self.backlog = None;
            }
            offered += records.len();
            records.into_iter().for_each(|record| self.offer_record(record));
        }
        Ok(self.backlog.is_some())
    }

    /// Whether links of the journal were not offered again yet.
    pub fn has_backlog(&self) -> bool {
        self.backlog.is_some()
    }

    /// Offers and sifts all links that are left in the journal of the last run.
    pub fn catch_up(&mut self, mut admit: impl FnMut(&mut Link) -> bool) -> Result<()> {
        while self.has_backlog() {
            self.offer_backlog(MAX_BUFFERED)?;
            self.sift(&mut admit)?;
        }
        Ok(())
    }

    fn read_in_flight(&self) -> Result<Vec<WaitingUrl>> {
        if self.manifest.in_flight == 0 {
            return Ok(Vec::new());
        }
        let path = in_flight_path(&self.folder, self.manifest.in_flight);
        let parse = |line: &str| {
            let (section, rest) = line.split_once('\t')?;
            let (url, fields) = rest.split_once('\t')?;
            let (domain, _) = record::place(url)?;
            Some(UrlLine::parse(url.into(), fields)?.waiting(&domain, section))
        };
        let parse = |line: &str| parse(line).ok_or_else(|| Error::damaged(&path, "a line is not a URL"));
        disk_queue::read_text(&path)?.lines().map(parse).collect()
    }

    fn offer_record(&mut self, record: Record) {
        let (url, candidate) = match record {
            Record::Link(link) => (link.url.url.clone(), Some(link)),
            Record::Alias(url) => (url, None),
            Record::Done(_) => return,
            record => return self.exchange.apply(&record),
        };
        let domain = match &candidate {
            Some(link) => Some(link.url.domain.clone()),
            None => record::place(&url).map(|(domain, _)| domain),
        };
        if let Some(domain) = domain {
            self.sieve.offer(fingerprint::shard(&domain), fingerprint(&url), candidate);
        }
    }

    /// Offers a link. It waits after the next [sift](CrawlState::sift) if it is new. Returns whether it may be new.
    pub fn offer(&mut self, link: Link) -> bool {
        let is_hot = self.sieve.is_hot(fingerprint(&link.url.url));
        if !is_hot {
            let record = Record::Link(link);
            record.write(&mut self.pending);
            self.offer_record(record);
        }
        !is_hot
    }

    /// Notes another URL of a known page, which is not fetched then.
    pub fn alias(&mut self, url: &str) {
        if !self.sieve.is_hot(fingerprint(url)) {
            let record = Record::Alias(url.to_owned());
            record.write(&mut self.pending);
            self.offer_record(record);
        }
    }

    /// Moves the new links that `admit` accepts to the waiting URLs. The others are known, but do not wait.
    /// It may give a URL another section.
    pub fn sift(&mut self, mut admit: impl FnMut(&mut Link) -> bool) -> Result<()> {
        for mut link in self.sieve.sift()? {
            if admit(&mut link) {
                self.queue.push(link.url);
            }
        }
        Ok(())
    }

    /// Whether the buffers of links are full.
    pub fn needs_sift(&self) -> bool {
        self.sieve.buffered() >= MAX_BUFFERED
    }

    /// Links that wait for a sift.
    pub fn buffered(&self) -> usize {
        self.sieve.buffered()
    }

    /// Takes the best URL of a section for a request.
    pub fn take(&mut self, domain: &str, section: &str) -> Result<Option<WaitingUrl>> {
        let url = self.queue.pop(domain, section);
        if let Some(error) = self.queue.take_error() {
            return Err(error);
        }
        if let Some(url) = &url {
            self.in_flight.insert(fingerprint(&url.url), url.clone());
        }
        Ok(url)
    }

    /// Puts a URL back that was taken and not fetched.
    pub fn put_back(&mut self, url: &str) {
        if let Some(url) = self.in_flight.remove(&fingerprint(url)) {
            self.queue.put_back(&url);
        }
    }

    /// Finishes a URL that was taken.
    pub fn done(&mut self, done: Done) {
        self.in_flight.remove(&fingerprint(&done.url));
        Record::Done(done).write(&mut self.pending);
    }

    /// Lists a page that is not kept, with the reason. The day names the file.
    pub fn refuse(&mut self, day: &str, done: &Done) {
        let Done { url, status, worth, refused, .. } = done;
        let Some(reason) = refused else { return };
        let line = format!("{url}\t{status}\t{}\t{}\t{reason}\n", worth.bytes, worth.clean_bytes);
        self.refused.entry(day.to_owned()).or_default().push_str(&line);
    }

    /// Makes all records so far durable.
    pub fn commit(&mut self) -> Result<()> {
        for (day, lines) in std::mem::take(&mut self.refused) {
            FrameLog::open(&self.folder.join("refused").join(format!("{day}.tsv.zst")))?.commit(&lines)?;
        }
        self.journal_bytes += self.pending.len() as u64;
        self.journal.commit(&std::mem::take(&mut self.pending))
    }

    /// URLs that wait in a section.
    pub fn waiting_in(&self, domain: &str, section: &str) -> u64 {
        self.queue.waiting(domain, section)
    }

    /// All URLs that wait.
    pub fn waiting(&self) -> u64 {
        self.queue.len()
    }

    /// All URLs that were met.
    pub fn seen(&self) -> u64 {
        self.sieve.len()
    }

    /// URLs that are being fetched.
    pub fn in_flight(&self) -> usize {
        self.in_flight.len()
    }

    /// Whether a URL was met. For diagnosis: it searches the runs of a shard.
    pub fn holds(&self, url: &str) -> Result<bool> {
        match record::place(url) {
            Some((domain, _)) => self.sieve.holds(fingerprint::shard(&domain), fingerprint(url)),
            None => Ok(false),
        }
    }

    /// Whether so much is new that it must be written. The length of the journal does not matter while its links are
    /// offered again.
    pub fn needs_checkpoint(&self) -> bool {
        self.queue.fresh_bytes() > MAX_FRESH_BYTES
            || self.sieve.recent() > MAX_RECENT
            || self.journal_bytes > MAX_JOURNAL_BYTES && !self.has_backlog()
            || self.exchange.is_full()
    }

    /// Reads a table of the last checkpoint, shard by shard.
    pub fn read_table(&self, table: &str, mut see: impl FnMut(u8, &str)) -> Result<()> {
        for (shard, id) in self.manifest.tables.get(table).into_iter().flatten() {
            let path = table_path(&self.folder, table, shard, *id);
            let number = u8::from_str_radix(shard, 16).map_err(|_| Error::damaged(&path, "its folder is no shard"))?;
            see(number, &disk_queue::read_text(&path)?);
        }
        Ok(())
    }

    /// Reads a set of numbers of the last checkpoint.
    pub fn read_set(&self, set: &str) -> Result<Vec<u64>> {
        match self.manifest.sets.get(set) {
            Some(id) => u64_run::read_all(&set_path(&self.folder, set, *id)),
            None => Ok(Vec::new()),
        }
    }

    /// Writes everything new and begins a new journal. `parts` replace parts of tables, `sets` whole sets. All links must
    /// have been [sifted](CrawlState::sift), those of the [backlog](CrawlState::catch_up) too.
    pub fn checkpoint(
        &mut self,
        parts: impl IntoIterator<Item = TablePart>,
        sets: Vec<(&'static str, Vec<u64>)>,
    ) -> Result<()> {
        debug_assert!(!self.has_backlog(), "the links of the old journal are in no file");
        self.commit()?;
        let mut next = Manifest { version: VERSION, ..self.manifest.clone() };
        let mut obsolete = Vec::new();
        next.seen = self.sieve.write(&mut next.last, &mut obsolete)?;
        self.queue.write(&mut next.frontier, &mut next.last, &mut obsolete)?;
        self.exchange.write(&self.folder, self.manifest.journal)?;
        // A part is made when its turn comes: all of them would not fit into memory.
        let parts = parts.into_iter().chain(self.exchange.table_part());
        for part in parts {
            let id = take_number(&mut next.last);
            let shard = shard_name(part.shard);
            disk_queue::write_text(&table_path(&self.folder, part.table, &shard, id), &part.text)?;
            let old = next.tables.entry(part.table.to_owned()).or_default().insert(shard.clone(), id);
            obsolete.extend(old.map(|old| table_path(&self.folder, part.table, &shard, old)));
        }
        for (set, numbers) in sets {
            let id = take_number(&mut next.last);
            u64_run::write(&set_path(&self.folder, set, id), numbers)?;
            let old = next.sets.insert(set.to_owned(), id);
            obsolete.extend(old.map(|old| set_path(&self.folder, set, old)));
        }
        self.write_in_flight(&mut next, &mut obsolete)?;
        obsolete.push(journal_path(&self.folder, next.journal));
        next.journal = take_number(&mut next.last);
        self.journal = FrameLog::open(&journal_path(&self.folder, next.journal))?;
        self.journal_bytes = 0;
        // Hundreds of new files become durable in one operation.
        file::sync_filesystem(&self.folder)?;
        let json = serde_json::to_vec_pretty(&next).expect("numbers and strings serialise");
        write_atomic(&self.folder.join("manifest.json"), &json)?;
        self.manifest = next;
        self.exchange.clear();
        // A file that returns after a power failure is named by no manifest and removed when the crawl is opened.
        Ok(obsolete.iter().try_for_each(|path| file::discard(path))?)
    }

    fn write_in_flight(&self, next: &mut Manifest, obsolete: &mut Vec<PathBuf>) -> Result<()> {
        let mut urls: Vec<&WaitingUrl> = self.in_flight.values().collect();
        urls.sort_by(|a, b| a.url.cmp(&b.url));
        let mut text = String::new();
        for url in urls {
            text.extend([url.section.as_str(), "\t", &url.url, "\t"]);
            UrlLine::of(url).write_fields(&mut text);
            text.push('\n');
        }
        if next.in_flight > 0 {
            obsolete.push(in_flight_path(&self.folder, next.in_flight));
        }
        next.in_flight = take_number(&mut next.last);
        disk_queue::write_text(&in_flight_path(&self.folder, next.in_flight), &text)
    }
}

/// The section that takes URLs of a host whose domain has too many sections.
fn shared_section(section: &str) -> String {
    format!("{}/**", section.split_once('/').map_or(section, |(host, _)| host))
}

pub(crate) fn read_manifest(folder: &Path) -> Result<Manifest> {
    let path = folder.join("manifest.json");
    let bytes = match std::fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Manifest::default()),
        Err(error) => return Err(Error::read(&path)(error)),
    };
    let manifest: Manifest =
        serde_json::from_slice(&bytes).map_err(|_| Error::damaged(&path, "it is not a manifest"))?;
    match manifest.version > VERSION {
        true => Err(Error::Newer { path, found: manifest.version, known: VERSION }),
        false => Ok(manifest),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::PageWorth;
    use crate::testing::waiting;
    use proptest::prelude::*;

    fn open(folder: &Path) -> (CrawlState, Vec<String>) {
        let (mut state, finished) = open_with_backlog(folder);
        state.catch_up(|_| true).unwrap();
        (state, finished)
    }

    fn open_with_backlog(folder: &Path) -> (CrawlState, Vec<String>) {
        let mut state = CrawlState::open(folder).unwrap();
        let finished = state.finished().unwrap();
        state.recover(&finished).unwrap();
        (state, finished.into_iter().map(|done| done.url).collect())
    }

    fn sift(state: &mut CrawlState) {
        state.sift(|_| true).unwrap();
    }

    fn checkpoint(state: &mut CrawlState) {
        state.catch_up(|_| true).unwrap();
        sift(state);
        state.checkpoint(Vec::new(), Vec::new()).unwrap();
    }

    fn link(number: u32) -> Link {
        Link::new(url(number), "")
    }

    fn url(number: u32) -> WaitingUrl {
        waiting(&format!("http://site{}.example/news/{number}", number % 3))
    }

    fn done(url: &str) -> Done {
        let (status, worth) = ("ok".into(), PageWorth::default());
        Done { url: url.to_owned(), status, worth, requested: true, refused: None, text: None }
    }

    fn take(state: &mut CrawlState, number: u32) -> Option<WaitingUrl> {
        let url = url(number);
        state.take(&url.domain, &url.section).unwrap()
    }

    #[test]
    fn a_crawl_that_is_killed_goes_on_where_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let (mut state, _) = open(folder.path());
        (0..6).for_each(|number| _ = state.offer(link(number)));
        sift(&mut state);
        let first = take(&mut state, 0).unwrap();
        checkpoint(&mut state);
        // The first is in flight at the checkpoint and finished after it; the second is in flight when it is killed.
        state.done(done(&first.url));
        let second = take(&mut state, 0).unwrap();
        let third = take(&mut state, 1).unwrap();
        state.done(done(&third.url));
        state.offer(link(6));
        state.commit().unwrap();
        state.offer(link(7));
        drop(state);
        let (mut state, replayed) = open(folder.path());
        assert_eq!(replayed, [first.url, third.url]);
        assert_eq!((state.waiting(), state.seen()), (5, 7), "what was not committed is lost");
        checkpoint(&mut state);
        let (mut state, replayed) = open(folder.path());
        assert!(replayed.is_empty());
        let mut left: Vec<String> = (0..3)
            .flat_map(|number| std::iter::from_fn(|| take(&mut state, number)).collect::<Vec<_>>())
            .map(|url| url.url)
            .collect();
        left.sort();
        assert!(left.len() == 5 && left.contains(&second.url), "{left:?}");
    }

    #[test]
    fn requests_are_possible_before_the_links_of_the_journal_are_offered_again() {
        let folder = tempfile::tempdir().unwrap();
        let (mut state, _) = open(folder.path());
        state.offer(link(0));
        checkpoint(&mut state);
        for number in 1..50 {
            state.offer(link(number));
            state.commit().unwrap();
        }
        sift(&mut state);
        let asked = take(&mut state, 1).unwrap();
        state.done(done(&asked.url));
        state.commit().unwrap();
        drop(state);
        let (mut state, _) = open_with_backlog(folder.path());
        assert_eq!((state.waiting(), state.has_backlog()), (1, true));
        assert!(take(&mut state, 0).is_some(), "a URL of the checkpoint");
        assert!(state.offer_backlog(10).unwrap());
        sift(&mut state);
        assert!((8..=10).contains(&state.waiting()), "{}", state.waiting());
        state.catch_up(|_| true).unwrap();
        assert_eq!((state.waiting(), state.seen(), state.has_backlog()), (48, 50, false));
        let all = std::iter::from_fn(|| take(&mut state, 1)).map(|url| url.url).collect::<Vec<_>>();
        assert!(!all.is_empty() && !all.contains(&asked.url), "fetched twice: {}", asked.url);
    }

    #[test]
    fn aliases_are_not_fetched_and_tables_and_sets_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let (mut state, _) = open(folder.path());
        state.alias(&url(1).url);
        state.offer(link(1));
        state.offer(link(2));
        sift(&mut state);
        assert_eq!((state.waiting(), state.seen()), (1, 2));
        let part = |text: &str| vec![TablePart { table: "domains", shard: 7, text: text.to_owned() }];
        state.checkpoint(part("old\n"), vec![("near", vec![3, 1])]).unwrap();
        state.checkpoint(part("new\n"), vec![("near", vec![3, 1, 2])]).unwrap();
        let (state, _) = open(folder.path());
        assert_eq!(state.read_set("near").unwrap(), [1, 2, 3]);
        assert!(state.read_set("other").unwrap().is_empty());
        let mut read = Vec::new();
        state.read_table("domains", |shard, text| read.push((shard, text.to_owned()))).unwrap();
        assert_eq!(read, [(7, "new\n".to_owned())]);
        assert!(state.holds(&url(1).url).unwrap() && !state.holds(&url(9).url).unwrap());
        let files = file::files_in(&folder.path().join("domains/07")).unwrap();
        assert_eq!(files.len(), 1, "old parts are deleted");
    }

    #[test]
    fn a_newer_manifest_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let newer = Manifest { version: VERSION + 1, ..Manifest::default() };
        std::fs::write(folder.path().join("manifest.json"), serde_json::to_vec(&newer).unwrap()).unwrap();
        let error = CrawlState::open(folder.path()).err().unwrap().to_string();
        assert!(error.contains("newer Tidings"), "{error}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(10))]

        #[test]
        fn no_url_is_lost_or_fetched_twice_if_commits_are_the_last_word(
            steps in prop::collection::vec((0u32..40, 0u8..10), 1..80)
        ) {
            let folder = tempfile::tempdir().unwrap();
            let (mut state, _) = open(folder.path());
            let (mut offered, mut finished, mut taken) = (HashSet::new(), HashSet::new(), Vec::<WaitingUrl>::new());
            for (number, action) in steps {
                match action {
                    0 => checkpoint(&mut state),
                    1 => {
                        // Killed after a commit: what is in flight waits again.
                        state.commit().unwrap();
                        taken.clear();
                        state = open(folder.path()).0;
                        checkpoint(&mut state);
                    }
                    9 => {
                        // Killed again before all links of the journal were offered.
                        state.commit().unwrap();
                        taken.clear();
                        state = open_with_backlog(folder.path()).0;
                    }
                    2..=4 => {
                        state.offer_backlog(1).unwrap();
                        sift(&mut state);
                        taken.extend(take(&mut state, number));
                    }
                    5 => if let Some(url) = taken.pop() {
                        prop_assert!(finished.insert(url.url.clone()), "fetched twice: {}", url.url);
                        state.done(done(&url.url));
                    }
                    _ => {
                        offered.insert(url(number).url);
                        state.offer(link(number));
                    }
                }
            }
            for url in taken {
                prop_assert!(finished.insert(url.url));
            }
            state.catch_up(|_| true).unwrap();
            sift(&mut state);
            for number in 0..3 {
                while let Some(url) = take(&mut state, number) {
                    prop_assert!(finished.insert(url.url.clone()), "fetched twice: {}", url.url);
                }
            }
            prop_assert_eq!(finished, offered);
        }
    }
}
