//! The frontier on disk: URLs that wait, by section.
//!
//! New URLs stay in memory until a checkpoint writes them as a run of their shard. Within a run the URLs of a section are
//! taken in the order of their ranks, so that a count per section and run says which are left; runs never change. A
//! section with enough waiting URLs takes no more: further ones are counted and replace others at random (reservoir
//! sampling), because a trap offers URLs without end.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fmt::Write as _;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tidings_storage::AtomicFile;

use crate::error::{Error, Result};
use crate::fingerprint::{self, SHARDS, shard_name};
use crate::queue::{UrlQueue, WaitingUrl};
use crate::section_table::{SLOTS, SectionTable};
use crate::sieve::{Run, merge_from, take_number};
use crate::url_line::UrlLine;
use crate::url_run::{Key, UrlRun, UrlWriter, section_id};

/// URLs of a section that are read from its runs at once.
const WINDOW: usize = 16;
/// Waiting URLs of a section that are kept.
pub const MAX_WAITING: u32 = 2000;
/// The part of a section in memory.
struct Fresh {
    key: Key,
    /// The next URLs, in the order of their ranks.
    window: VecDeque<UrlLine>,
    lines: Vec<UrlLine>,
}

impl Fresh {
    fn new(key: Key) -> Fresh {
        Fresh { key, window: VecDeque::new(), lines: Vec::new() }
    }

    /// All URLs in the order of their ranks.
    fn sorted(self) -> (Key, Vec<UrlLine>) {
        let lines = self.window.into_iter().chain(self.lines).collect();
        (self.key, by_rank(lines))
    }
}

struct OpenRun {
    run: Run,
    file: UrlRun,
}

#[derive(Default)]
struct Shard {
    runs: Vec<OpenRun>,
    sections: SectionTable,
    fresh: HashMap<u64, Fresh>,
    /// Whether anything changed since the last checkpoint.
    is_dirty: bool,
}

/// Waiting URLs of a crawl.
pub struct DiskQueue {
    folder: PathBuf,
    shards: Vec<Shard>,
    fresh_bytes: usize,
    waiting: u64,
    max_waiting: u32,
    random: fastrand::Rng,
    /// The first error of an operation that cannot return one.
    failed: Option<Error>,
}

/// The files of a shard that a checkpoint names.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ShardFiles {
    pub(crate) runs: Vec<Run>,
    /// The number of the file of counts.
    pub(crate) counts: u64,
}

impl DiskQueue {
    /// The queue in a folder with the files of its last checkpoint by shard.
    pub(crate) fn open(folder: &Path, files: &BTreeMap<String, ShardFiles>, max_waiting: u32) -> Result<DiskQueue> {
        let mut queue = DiskQueue {
            folder: folder.to_owned(),
            shards: (0..SHARDS).map(|_| Shard::default()).collect(),
            fresh_bytes: 0,
            waiting: 0,
            max_waiting,
            random: fastrand::Rng::with_seed(0),
            failed: None,
        };
        for at in 0..SHARDS {
            let Some(named) = files.get(&shard_name(at as u8)) else { continue };
            for run in &named.runs {
                let file = UrlRun::open(&queue.path(at, run.id, "urls"))?;
                queue.shards[at].runs.push(OpenRun { run: *run, file });
            }
            queue.shards[at].sections = read_counts(&queue.path(at, named.counts, "counts"))?;
            queue.waiting += queue.shards[at].sections.values().map(|state| u64::from(state.waiting)).sum::<u64>();
        }
        Ok(queue)
    }

    fn path(&self, shard: usize, id: u64, kind: &str) -> PathBuf {
        self.folder.join(shard_name(shard as u8)).join(format!("{id}.{kind}.zst"))
    }

    /// The number of waiting URLs.
    pub fn len(&self) -> u64 {
        self.waiting
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.waiting == 0
    }

    /// Memory of URLs that are not in a run yet, about.
    pub fn fresh_bytes(&self) -> usize {
        self.fresh_bytes
    }

    /// URLs of a section that were not kept because too many waited.
    pub fn overflow(&self, domain: &str, section: &str) -> u64 {
        let shard = &self.shards[fingerprint::shard(domain) as usize];
        shard.sections.get(section_id(domain, section)).map_or(0, |state| state.overflow.into())
    }

    /// The first error since the last call, of an operation that could not return it.
    pub fn take_error(&mut self) -> Option<Error> {
        self.failed.take()
    }

    /// Adds a URL, however many wait already.
    pub(crate) fn put_back(&mut self, url: &WaitingUrl) {
        let line = UrlLine::of(url);
        let key = Key::new(&url.domain, &url.section);
        self.fresh_bytes += bytes_of(&line);
        self.waiting += 1;
        let shard = &mut self.shards[fingerprint::shard(&url.domain) as usize];
        shard.is_dirty = true;
        let id = key.id();
        shard.sections.get_mut(id).waiting += 1;
        shard.fresh.entry(id).or_insert_with(|| Fresh::new(key)).lines.push(line);
    }

    /// Counts a URL that is not kept, or lets it take the place of another.
    fn overflow_with(&mut self, url: &WaitingUrl) {
        let shard = &mut self.shards[fingerprint::shard(&url.domain) as usize];
        let id = section_id(&url.domain, &url.section);
        let state = shard.sections.get_mut(id);
        state.overflow = state.overflow.saturating_add(1);
        shard.is_dirty = true;
        let met = u64::from(self.max_waiting) + u64::from(state.overflow);
        let place = self.random.u64(0..met);
        if place < u64::from(self.max_waiting)
            && let Some(fresh) = shard.fresh.get_mut(&id).filter(|fresh| !fresh.lines.is_empty())
        {
            let at = place as usize % fresh.lines.len();
            let line = UrlLine::of(url);
            self.fresh_bytes += bytes_of(&line);
            let replaced = std::mem::replace(&mut fresh.lines[at], line);
            self.fresh_bytes = self.fresh_bytes.saturating_sub(bytes_of(&replaced));
        }
    }

    /// Moves the best URLs of a section into its window.
    fn refill(&mut self, domain: &str, section: &str) -> Result<()> {
        let key = Key::new(domain, section);
        let id = key.id();
        let shard = &mut self.shards[fingerprint::shard(domain) as usize];
        let state = shard.sections.get_mut(id);
        // The source of a line is its run, or none for a line in memory.
        let mut lines: Vec<(u64, Option<usize>, UrlLine)> = Vec::new();
        for (run, open) in shard.runs.iter().enumerate() {
            let read = open.file.read_section(&key, state.taken[run] as usize, WINDOW)?;
            lines.extend(read.into_iter().map(|line| (line.rank(), Some(run), line)));
        }
        let fresh = shard.fresh.entry(id).or_insert_with(|| Fresh::new(key));
        lines.extend(fresh.lines.drain(..).map(|line| (line.rank(), None, line)));
        lines.sort_by(|a, b| (a.0, a.1, &a.2.url).cmp(&(b.0, b.1, &b.2.url)));
        for (place, (_, run, line)) in lines.into_iter().enumerate() {
            match run {
                Some(run) if place < WINDOW => {
                    state.taken[run] += 1;
                    self.fresh_bytes += bytes_of(&line);
                    fresh.window.push_back(line);
                }
                None if place < WINDOW => fresh.window.push_back(line),
                None => fresh.lines.push(line),
                // It stays in its run.
                Some(_) => {}
            }
        }
        Ok(())
    }

    /// Takes the next URL of a section.
    fn take(&mut self, domain: &str, section: &str) -> Result<Option<WaitingUrl>> {
        let at = fingerprint::shard(domain) as usize;
        let id = section_id(domain, section);
        if self.shards[at].sections.get(id).is_none_or(|state| state.waiting == 0) {
            return Ok(None);
        }
        if self.shards[at].fresh.get(&id).is_none_or(|fresh| fresh.window.is_empty()) {
            self.refill(domain, section)?;
        }
        let shard = &mut self.shards[at];
        shard.is_dirty = true;
        let Some(line) = shard.fresh.get_mut(&id).and_then(|fresh| fresh.window.pop_front()) else { return Ok(None) };
        self.fresh_bytes = self.fresh_bytes.saturating_sub(bytes_of(&line));
        self.waiting -= 1;
        let state = shard.sections.get_mut(id);
        state.waiting -= 1;
        if state.waiting == 0 {
            shard.fresh.remove(&id);
        }
        Ok(Some(line.waiting(domain, section)))
    }

    /// Moves all URLs of a section into memory, without those that are `done`.
    pub(crate) fn load_section(&mut self, domain: &str, section: &str, done: impl Fn(&str) -> bool) -> Result<()> {
        let key = Key::new(domain, section);
        let id = key.id();
        let shard = &mut self.shards[fingerprint::shard(domain) as usize];
        shard.is_dirty = true;
        let state = shard.sections.get_mut(id);
        let mut lines = Vec::new();
        for (run, open) in shard.runs.iter().enumerate() {
            let read = open.file.read_section(&key, state.taken[run] as usize, usize::MAX)?;
            state.taken[run] += read.len() as u16;
            lines.extend(read);
        }
        let fresh = shard.fresh.entry(id).or_insert_with(|| Fresh::new(key));
        lines.extend(fresh.window.drain(..));
        lines.append(&mut fresh.lines);
        lines.retain(|line| !done(&line.url));
        self.waiting -= u64::from(state.waiting);
        state.waiting = lines.len() as u16;
        self.waiting += u64::from(state.waiting);
        self.fresh_bytes += lines.iter().map(bytes_of).sum::<usize>();
        fresh.lines = lines;
        Ok(())
    }

    /// Writes changed shards: what is new as a run, and the counts. Files that are no longer needed are added to
    /// `obsolete`.
    pub(crate) fn write(
        &mut self,
        files: &mut BTreeMap<String, ShardFiles>,
        next_run: &mut u64,
        obsolete: &mut Vec<PathBuf>,
    ) -> Result<()> {
        for at in 0..SHARDS {
            if !std::mem::take(&mut self.shards[at].is_dirty) {
                continue;
            }
            self.write_run(at, next_run)?;
            self.drop_empty_runs(at, obsolete);
            self.merge_runs(at, next_run, obsolete)?;
            let named = files.entry(shard_name(at as u8)).or_default();
            if named.counts > 0 {
                obsolete.push(self.path(at, named.counts, "counts"));
            }
            named.counts = take_number(next_run);
            named.runs = self.shards[at].runs.iter().map(|open| open.run).collect();
            write_counts(&self.path(at, named.counts, "counts"), &self.shards[at].sections)?;
        }
        self.fresh_bytes = 0;
        Ok(())
    }

    fn write_run(&mut self, at: usize, next_run: &mut u64) -> Result<()> {
        let fresh = std::mem::take(&mut self.shards[at].fresh);
        let mut sections: Vec<(Key, Vec<UrlLine>)> = fresh.into_values().map(Fresh::sorted).collect();
        sections.retain(|(_, lines)| !lines.is_empty());
        if sections.is_empty() {
            return Ok(());
        }
        sections.sort_by(|a, b| a.0.cmp(&b.0));
        let id = take_number(next_run);
        let path = self.path(at, id, "urls");
        let mut writer = UrlWriter::create(&path)?;
        for (key, lines) in sections {
            writer.section(&key, lines)?;
        }
        let run = Run { id, len: writer.publish()? };
        self.shards[at].runs.push(OpenRun { run, file: UrlRun::open(&path)? });
        Ok(())
    }

    /// URLs that are left in each run of a shard.
    fn left(&self, at: usize) -> Vec<Run> {
        let shard = &self.shards[at];
        let taken = |slot: usize| shard.sections.values().map(|state| u64::from(state.taken[slot])).sum::<u64>();
        let left = |(slot, open): (usize, &OpenRun)| Run { id: open.run.id, len: open.run.len - taken(slot) };
        shard.runs.iter().enumerate().map(left).collect()
    }

    /// Removes runs whose URLs were all taken.
    fn drop_empty_runs(&mut self, at: usize, obsolete: &mut Vec<PathBuf>) {
        let left = self.left(at);
        for slot in (0..left.len()).rev().filter(|slot| left[*slot].len == 0) {
            obsolete.push(self.path(at, left[slot].id, "urls"));
            self.shards[at].runs.remove(slot);
            for state in self.shards[at].sections.values_mut() {
                state.taken[slot..].rotate_left(1);
                state.taken[SLOTS - 1] = 0;
            }
        }
        // A section without waiting URLs has nothing to count but its overflow.
        self.shards[at].sections.compact();
    }

    /// Merges the newest runs of a shard until their sizes are 1:8:64.
    fn merge_runs(&mut self, at: usize, next_run: &mut u64, obsolete: &mut Vec<PathBuf>) -> Result<()> {
        while let Some(first) = merge_from(&self.left(at)) {
            let id = take_number(next_run);
            let path = self.path(at, id, "urls");
            let mut writer = UrlWriter::create(&path)?;
            let shard = &self.shards[at];
            let mut readers: Vec<_> = shard.runs[first..].iter().map(|open| open.file.sections()).collect();
            let mut heads = readers.iter_mut().map(|reader| reader.next()).collect::<Result<Vec<_>>>()?;
            while let Some(key) = heads.iter().flatten().map(|(key, _)| key).min().cloned() {
                let taken = shard.sections.get(key.id()).copied().unwrap_or_default().taken;
                let mut lines = Vec::new();
                let mut sources = 0;
                for (slot, head) in heads.iter_mut().enumerate() {
                    if head.as_ref().is_some_and(|(next, _)| *next == key) {
                        let (_, all) = std::mem::replace(head, readers[slot].next()?).expect("checked above");
                        lines.extend(all.into_iter().skip(taken[first + slot] as usize));
                        sources += 1;
                    }
                }
                // Most sections are in one run, in order.
                writer.section(&key, if sources > 1 { by_rank(lines) } else { lines })?;
            }
            drop(readers);
            let run = Run { id, len: writer.publish()? };
            let merged: Vec<PathBuf> =
                self.shards[at].runs[first..].iter().map(|open| self.path(at, open.run.id, "urls")).collect();
            obsolete.extend(merged);
            let shard = &mut self.shards[at];
            shard.runs.truncate(first);
            shard.runs.push(OpenRun { run, file: UrlRun::open(&path)? });
            shard.sections.values_mut().for_each(|state| state.taken[first..].fill(0));
        }
        Ok(())
    }
}

impl UrlQueue for DiskQueue {
    fn push(&mut self, url: WaitingUrl) {
        if self.waiting(&url.domain, &url.section) < u64::from(self.max_waiting) {
            self.put_back(&url);
        } else {
            self.overflow_with(&url);
        }
    }

    fn pop(&mut self, domain: &str, section: &str) -> Option<WaitingUrl> {
        self.take(domain, section).unwrap_or_else(|error| {
            self.failed.get_or_insert(error);
            None
        })
    }

    fn waiting(&self, domain: &str, section: &str) -> u64 {
        let shard = &self.shards[fingerprint::shard(domain) as usize];
        shard.sections.get(section_id(domain, section)).map_or(0, |state| state.waiting.into())
    }
}

/// URLs in the order of their ranks.
fn by_rank(lines: Vec<UrlLine>) -> Vec<UrlLine> {
    let mut ranked: Vec<(u64, UrlLine)> = lines.into_iter().map(|line| (line.rank(), line)).collect();
    ranked.sort_unstable_by(|a, b| (a.0, &a.1.url).cmp(&(b.0, &b.1.url)));
    ranked.into_iter().map(|(_, line)| line).collect()
}

fn bytes_of(line: &UrlLine) -> usize {
    line.url.len() + size_of::<UrlLine>() + 16
}

fn write_counts(path: &Path, sections: &SectionTable) -> Result<()> {
    let mut text = String::new();
    for (id, state) in sections.sorted() {
        let _ = write!(text, "{id:016x}\t{}\t{}", state.waiting, state.overflow);
        for taken in state.taken {
            let _ = write!(text, "\t{taken}");
        }
        text.push('\n');
    }
    write_text(path, &text)
}

/// Writes a text as one zstd frame with a checksum, which is durable after the checkpoint.
pub(crate) fn write_text(path: &Path, text: &str) -> Result<()> {
    Ok(packed_file(path, text)?.publish_unsynced()?)
}

/// Writes a text as one zstd frame with a checksum, durably.
pub(crate) fn write_durable_text(path: &Path, text: &str) -> Result<()> {
    Ok(packed_file(path, text)?.publish()?)
}

fn packed_file(path: &Path, text: &str) -> Result<AtomicFile> {
    let mut encoder = zstd::bulk::Compressor::new(3).map_err(Error::read(path))?;
    encoder.include_checksum(true).map_err(Error::read(path))?;
    let mut file = AtomicFile::create(path)?;
    file.write(&encoder.compress(text.as_bytes()).map_err(Error::read(path))?)?;
    Ok(file)
}

/// Reads a text that [`write_text`] wrote.
pub(crate) fn read_text(path: &Path) -> Result<String> {
    read_text_within(path, u64::MAX)?.ok_or_else(|| Error::damaged(path, "it has no end"))
}

/// Reads a text of another machine; `None` if it is longer than the limit, which a small file may well decompress to.
pub(crate) fn read_text_within(path: &Path, max_bytes: u64) -> Result<Option<String>> {
    let file = std::fs::File::open(path).map_err(Error::read(path))?;
    let decoder = zstd::Decoder::new(file).map_err(Error::read(path))?;
    let mut text = Vec::new();
    decoder.take(max_bytes.saturating_add(1)).read_to_end(&mut text).map_err(Error::read(path))?;
    if text.len() as u64 > max_bytes {
        return Ok(None);
    }
    String::from_utf8(text).map(Some).map_err(|_| Error::damaged(path, "it is not UTF-8"))
}

fn read_counts(path: &Path) -> Result<SectionTable> {
    let damaged = || Error::damaged(path, "a line is not the count of a section");
    let mut sections = SectionTable::default();
    for line in read_text(path)?.lines() {
        let mut fields = line.split('\t');
        let id = u64::from_str_radix(fields.next().unwrap_or_default(), 16).map_err(|_| damaged())?;
        let mut number = || fields.next().map_or(Ok(0), str::parse::<u32>).map_err(|_| damaged());
        let small = |number: u32| u16::try_from(number).map_err(|_| damaged());
        let state = sections.get_mut(id);
        (state.waiting, state.overflow) = (small(number()?)?, number()?);
        for taken in &mut state.taken {
            *taken = small(number()?)?;
        }
    }
    sections.compact();
    Ok(sections)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::waiting;
    use proptest::prelude::*;
    use std::collections::HashSet;

    struct Files {
        folder: tempfile::TempDir,
        named: BTreeMap<String, ShardFiles>,
        next: u64,
    }

    impl Files {
        fn new() -> Files {
            Files { folder: tempfile::tempdir().unwrap(), named: BTreeMap::new(), next: 0 }
        }

        fn open(&self, max_waiting: u32) -> DiskQueue {
            DiskQueue::open(self.folder.path(), &self.named, max_waiting).unwrap()
        }

        fn write(&mut self, queue: &mut DiskQueue) {
            let mut obsolete = Vec::new();
            queue.write(&mut self.named, &mut self.next, &mut obsolete).unwrap();
            obsolete.iter().for_each(|path| std::fs::remove_file(path).unwrap());
        }
    }

    fn url(site: u32, page: u32) -> WaitingUrl {
        waiting(&format!("http://site{site}.example/{}/{page}", ["news", "shop"][page as usize % 2]))
    }

    #[test]
    fn the_best_url_of_a_section_comes_first_also_from_runs() {
        let mut files = Files::new();
        let mut queue = files.open(100);
        for page in [40, 2, 10] {
            queue.push(WaitingUrl { day: Some(page), ..url(1, page as u32) });
        }
        files.write(&mut queue);
        queue.push(WaitingUrl { day: Some(20), ..url(1, 20) });
        files.write(&mut queue);
        let mut queue = files.open(100);
        queue.push(WaitingUrl { day: Some(30), ..url(1, 30) });
        let days: Vec<_> =
            std::iter::from_fn(|| queue.pop("site1.example", &url(1, 2).section)).map(|url| url.day).collect();
        assert_eq!(days, [40, 30, 20, 10, 2].map(Some));
        assert!(queue.is_empty() && queue.take_error().is_none());
    }

    #[test]
    fn a_section_with_too_many_urls_counts_the_others() {
        let files = Files::new();
        let mut queue = files.open(10);
        (0..200).for_each(|page| queue.push(url(1, page * 2)));
        let (domain, section) = ("site1.example", url(1, 0).section);
        assert_eq!((queue.waiting(domain, &section), queue.overflow(domain, &section)), (10, 190));
        let kept: Vec<WaitingUrl> = std::iter::from_fn(|| queue.pop(domain, &section)).collect();
        assert_eq!(kept.len(), 10);
        assert!(
            kept.iter().any(|url| url.url.rsplit('/').next().unwrap().parse::<u32>().unwrap() > 40),
            "a sample of all"
        );
    }

    #[test]
    fn done_urls_of_a_section_are_left_out_when_it_is_loaded() {
        let mut files = Files::new();
        let mut queue = files.open(100);
        (0..40).for_each(|page| queue.push(url(1, page * 2)));
        files.write(&mut queue);
        let mut queue = files.open(100);
        let section = url(1, 0).section;
        let done: HashSet<String> = (0..5).map(|_| queue.pop("site1.example", &section).unwrap().url).collect();
        let mut queue = files.open(100);
        queue.load_section("site1.example", &section, |url| done.contains(url)).unwrap();
        assert_eq!(queue.len(), 35);
        files.write(&mut queue);
        let mut queue = files.open(100);
        let left: HashSet<String> =
            std::iter::from_fn(|| queue.pop("site1.example", &section)).map(|url| url.url).collect();
        assert!(left.len() == 35 && left.is_disjoint(&done));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]

        #[test]
        fn each_url_is_popped_once_across_checkpoints_and_reopening(
            steps in prop::collection::vec((0u32..6, 0u32..60, 0u8..10), 1..150)
        ) {
            let mut files = Files::new();
            let mut queue = files.open(1000);
            let (mut waiting, mut popped) = (HashSet::new(), HashSet::new());
            for (site, page, action) in steps {
                let url = url(site, page);
                match action {
                    0 => files.write(&mut queue),
                    1 => {
                        files.write(&mut queue);
                        queue = files.open(1000);
                    }
                    2..=4 => if let Some(url) = queue.pop(&url.domain, &url.section) {
                        prop_assert!(waiting.remove(&url.url), "{} waits", url.url);
                        popped.insert(url.url);
                    }
                    _ => if !popped.contains(&url.url) && waiting.insert(url.url.clone()) {
                        queue.push(url);
                    }
                }
                prop_assert_eq!(queue.len(), waiting.len() as u64);
            }
            for site in 0..6 {
                for page in 0..2 {
                    let url = url(site, page);
                    while let Some(url) = queue.pop(&url.domain, &url.section) {
                        prop_assert!(waiting.remove(&url.url));
                    }
                }
            }
            prop_assert!(waiting.is_empty(), "{waiting:?}");
            prop_assert!(queue.take_error().is_none());
        }
    }
}
