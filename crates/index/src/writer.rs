//! Index writer: adds and deletes documents, merges segments.
//!
//! Changes become visible together with the next manifest; until then readers see the old generation. There may be one
//! writer per folder at a time: the caller holds the lock of the home.

use std::collections::{BTreeMap, HashSet};
use std::io::BufRead;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tidings_formats::vertical::Reader;
use tidings_model::Annotated;
use tidings_storage::file::make_folder;

use crate::codec::BitSet;
use crate::error::Result;
use crate::lexicon::{Interner, LexiconSegment, NewLexiconSegment};
use crate::manifest::{Input, Manifest, SegmentEntry};
use crate::segment::{Batch, MergeSource, merge};
use crate::snapshot::{Snapshot, write_deleted};
use tidings_model::Day;

/// Settings of a writer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Memory for collected documents in bytes; a segment is written when it is full.
    pub batch_bytes: usize,
    /// Number of neighbouring segments of similar size that are merged into one.
    pub merge_factor: usize,
    /// Maximum number of tokens of a merged segment.
    pub max_segment_tokens: u64,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { batch_bytes: 120 << 20, merge_factor: 8, max_segment_tokens: 256 << 20 }
    }
}

/// Result of a deletion.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Deletion {
    /// Newly deleted documents.
    pub documents: u64,
    /// Their tokens.
    pub tokens: u64,
}

/// Writer of an index.
pub struct Writer {
    folder: PathBuf,
    settings: Settings,
    manifest: Manifest,
    snapshot: Snapshot,
    interner: Interner,
    batch: Batch,
    tokens_written: u64,
    /// Written, but not visible yet.
    new_segments: Vec<SegmentEntry>,
    /// Documents by segment that the next commit deletes.
    pending_deletions: BTreeMap<usize, BitSet>,
}

impl Writer {
    /// Opens an index for writing; creates it if there is none.
    pub fn open(folder: &Path, settings: Settings) -> Result<Writer> {
        make_folder(folder)?;
        let manifest = Manifest::read(folder)?.unwrap_or_default();
        let snapshot = Snapshot::of(folder, &manifest, None)?;
        manifest.sweep(folder)?; // What a run left that did not end.
        Ok(Writer {
            folder: folder.to_owned(),
            interner: Interner::new(snapshot.lexicon().clone()),
            batch: Batch::default(),
            tokens_written: 0,
            new_segments: Vec::new(),
            pending_deletions: BTreeMap::new(),
            settings,
            manifest,
            snapshot,
        })
    }

    /// The last committed generation.
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// Tokens of added documents that were written since the writer was opened; merges do not count.
    pub fn tokens_written(&self) -> u64 {
        self.tokens_written
    }

    /// Adds a document.
    pub fn add(&mut self, document: &Annotated) -> Result<()> {
        self.batch.add(document, &mut self.interner)?;
        if self.batch.bytes() >= self.settings.batch_bytes { self.flush() } else { Ok(()) }
    }

    /// Adds the documents of a vertical file.
    pub fn read<R: BufRead>(&mut self, reader: &mut Reader<R>) -> Result<()> {
        let limit = self.settings.batch_bytes;
        while self.batch.read(reader, &mut self.interner, |batch| batch.bytes() >= limit)? {
            self.flush()?;
        }
        Ok(())
    }

    /// Writes the collected documents as a segment. Readers see it after [`Writer::commit`].
    pub fn flush(&mut self) -> Result<()> {
        if self.batch.documents() == 0 {
            return Ok(());
        }
        let file = self.manifest.new_name("segment");
        self.batch.write(&self.folder.join(&file))?;
        let tokens = self.batch.tokens() as u64;
        self.tokens_written += tokens;
        self.new_segments.push(SegmentEntry { file, tokens, deleted: None });
        self.batch = Batch::default();
        Ok(())
    }

    /// Makes all additions durable and visible, and records their inputs.
    pub fn commit(&mut self, inputs: Vec<Input>) -> Result<()> {
        self.flush()?;
        self.write_pending_deletions()?;
        self.manifest.segments.append(&mut self.new_segments);
        self.manifest.inputs.extend(inputs);
        let known = std::mem::replace(&mut self.interner, Interner::new(self.snapshot.lexicon().clone()));
        self.manifest.layers = known.declared().clone();
        if let Some(new) = known.finish() {
            self.add_lexicon_segment(new)?;
        }
        self.publish()
    }

    /// Appends a lexicon segment, merged with preceding ones that are not much larger.
    fn add_lexicon_segment(&mut self, new: NewLexiconSegment) -> Result<()> {
        let file = self.manifest.new_name("lexicon");
        new.write(&self.folder.join(&file))?;
        let mut segments: Vec<Arc<LexiconSegment>> = self.snapshot.lexicon().segments().to_vec();
        segments.push(Arc::new(LexiconSegment::open(&self.folder.join(&file), &self.manifest.layers)?));
        self.manifest.lexicon.push(file);
        let mut first = segments.len() - 1;
        let mut bytes = segments[first].bytes_on_disk();
        while first > 0 && segments[first - 1].bytes_on_disk() < 4 * bytes {
            first -= 1;
            bytes += segments[first].bytes_on_disk();
        }
        if first + 1 < segments.len() {
            let file = self.manifest.new_name("lexicon");
            NewLexiconSegment::join(&segments[first..], &self.manifest.layers).write(&self.folder.join(&file))?;
            self.manifest.lexicon.truncate(first);
            self.manifest.lexicon.push(file);
        }
        Ok(())
    }

    /// Replaces the manifest, then removes the files that the new generation does not need.
    fn publish(&mut self) -> Result<()> {
        // What was made of damaged bytes would get valid digests.
        self.snapshot.intact()?;
        self.manifest.generation += 1;
        // The new generation must open before it is published.
        let snapshot = Snapshot::of(&self.folder, &self.manifest, Some(&self.snapshot))?;
        snapshot.write_missing_sums()?;
        self.manifest.publish(&self.folder)?;
        self.snapshot = snapshot;
        self.interner = Interner::new(self.snapshot.lexicon().clone());
        self.manifest.sweep(&self.folder)
    }

    /// Removes an input: its documents, which are those first seen on that day, are deleted by the
    /// next commit, which may add replacements. Returns their number.
    pub fn delete_input(&mut self, file: &str, seen: Day) -> Result<u64> {
        self.delete_of_input(file, seen, |_| true)
    }

    /// Removes an input of which a new version has other texts of the documents with these ids, and the same of all
    /// others: the next commit deletes these documents, and adds the new version. Returns their number.
    pub fn replace_documents(&mut self, file: &str, seen: Day, ids: &HashSet<u128>) -> Result<u64> {
        self.delete_of_input(file, seen, |id| ids.contains(&id))
    }

    fn delete_of_input(&mut self, file: &str, seen: Day, is_old: impl Fn(u128) -> bool) -> Result<u64> {
        let mut documents = 0;
        for (index, live) in self.snapshot.segments().iter().enumerate() {
            let segment = live.segment();
            let ids = segment.ids().all();
            let pending = self.pending_deletions.entry(index).or_insert_with(|| BitSet::new(ids.len()));
            for document in 0..ids.len() as u32 {
                let is_live = !live.deleted().get(document) && !pending.get(document);
                if is_live && segment.seen(document) == seen && is_old(ids[document as usize]) {
                    pending.set(document);
                    documents += 1;
                }
            }
        }
        self.manifest.inputs.retain(|input| input.file != file);
        Ok(documents)
    }

    /// Writes the pending deletions of each segment, merged with the existing ones.
    fn write_pending_deletions(&mut self) -> Result<()> {
        for (index, pending) in std::mem::take(&mut self.pending_deletions) {
            if pending.count() == 0 {
                continue;
            }
            let mut deleted = self.snapshot.segments()[index].deleted().clone();
            pending.iter().for_each(|document| deleted.set(document));
            let name = self.manifest.new_name("removed");
            write_deleted(&self.folder.join(&name), &deleted)?;
            self.manifest.segments[index].deleted = Some(name);
        }
        Ok(())
    }

    /// Deletes the documents for which `is_unwanted` returns true, given id and URL, immediately
    /// and durably. Their data is removed by the next merge of their segment, or by
    /// [`Writer::expunge`].
    pub fn delete(&mut self, mut is_unwanted: impl FnMut(u128, &dyn Fn() -> String) -> bool) -> Result<Deletion> {
        let mut deletion = Deletion::default();
        for index in 0..self.manifest.segments.len() {
            let live = &self.snapshot.segments()[index];
            let segment = live.segment();
            let mut deleted = live.deleted().clone();
            let mut is_new = false;
            for (document, id) in (0..).zip(segment.ids().all()) {
                let url = || segment.address_and_title(document).map(|(url, _)| url).unwrap_or_default();
                if !deleted.get(document) && is_unwanted(*id, &url) {
                    deleted.set(document);
                    is_new = true;
                    deletion.documents += 1;
                    deletion.tokens += segment.tokens_of(document).len() as u64;
                }
            }
            if is_new {
                let name = self.manifest.new_name("removed");
                write_deleted(&self.folder.join(&name), &deleted)?;
                self.manifest.segments[index].deleted = Some(name);
            }
        }
        // A document whose id cannot be read would stay.
        self.snapshot.intact()?;
        if deletion.documents > 0 {
            self.publish()?;
        }
        Ok(deletion)
    }

    /// Deletes documents by their ids.
    pub fn delete_ids(&mut self, ids: &[u128]) -> Result<Deletion> {
        let mut sorted = ids.to_vec();
        sorted.sort_unstable();
        self.delete(|id, _| sorted.binary_search(&id).is_ok())
    }

    /// Deletes documents by URL.
    pub fn delete_urls(&mut self, urls: &[&str]) -> Result<Deletion> {
        self.delete_where(|url| urls.contains(&url))
    }

    /// Deletes documents by a condition on the URL.
    pub fn delete_where(&mut self, is_unwanted: impl Fn(&str) -> bool) -> Result<Deletion> {
        let mut ids = Vec::new();
        for live in self.snapshot.segments() {
            let known = live.segment().ids();
            live.segment().each_text(|document, url, _| {
                if is_unwanted(url) {
                    ids.extend(known.get(document as usize));
                }
            })?;
        }
        self.delete_ids(&ids)
    }

    /// Merges runs of segments of similar size until there are none (tiered merging); returns the number of merges.
    pub fn merge(&mut self) -> Result<usize> {
        let mut merges = 0;
        while let Some(run) = self.run_to_merge() {
            self.merge_run(run)?;
            merges += 1;
        }
        Ok(merges)
    }

    /// Merges all segments, up to the maximum size.
    pub fn merge_all(&mut self) -> Result<()> {
        let mut first = 0;
        while first < self.manifest.segments.len() {
            let mut tokens = 0;
            let fits = |listed: &&SegmentEntry| {
                tokens += listed.tokens;
                tokens <= self.settings.max_segment_tokens
            };
            let count = self.manifest.segments[first..].iter().take_while(fits).count().max(1);
            if count > 1 || self.snapshot.segments()[first].has_deleted() {
                self.merge_run(first..first + count)?;
            }
            // A segment with only deleted documents is dropped.
            first += 1;
        }
        Ok(())
    }

    /// Rewrites every segment that has deleted documents; afterwards no segment file contains them.
    pub fn expunge(&mut self) -> Result<usize> {
        let unclean =
            (0..self.snapshot.segments().len()).filter(|index| self.snapshot.segments()[*index].has_deleted());
        let unclean: Vec<usize> = unclean.collect();
        for index in unclean.iter().rev() {
            self.merge_run(*index..*index + 1)?;
        }
        Ok(unclean.len())
    }

    /// The newest run of neighbouring segments of similar size (tiered merging).
    fn run_to_merge(&self) -> Option<Range<usize>> {
        let segments = &self.manifest.segments;
        let factor = self.settings.merge_factor.max(2);
        for end in (factor..=segments.len()).rev() {
            let run = &segments[end - factor..end];
            let total: u64 = run.iter().map(|listed| listed.tokens).sum();
            let largest = run.iter().map(|listed| listed.tokens).max().unwrap_or(0);
            // A merge is worthwhile if it at least doubles the size of its largest segment.
            if total <= self.settings.max_segment_tokens && total >= 2 * largest {
                return Some(end - factor..end);
            }
        }
        None
    }

    fn merge_run(&mut self, run: Range<usize>) -> Result<()> {
        if !self.pending_deletions.is_empty() {
            // The merge renumbers the documents.
            self.write_pending_deletions()?;
            self.publish()?;
        }
        let live = &self.snapshot.segments()[run.clone()];
        let sources: Vec<MergeSource<'_>> =
            live.iter().map(|live| MergeSource { segment: live.segment(), deleted: live.deleted() }).collect();
        let tokens: u64 = live.iter().map(|live| live.tokens()).sum();
        let documents: u64 = live.iter().map(|live| live.documents()).sum();
        if documents == 0 {
            self.manifest.segments.drain(run);
            return self.publish();
        }
        let file = self.manifest.new_name("segment");
        merge(&sources, &self.folder.join(&file))?;
        self.manifest.segments.splice(run, [SegmentEntry { file, tokens, deleted: None }]);
        self.publish()
    }
}

/// Builds an index of one segment from documents, for tests and tools.
pub fn build(folder: &Path, documents: &[Annotated]) -> Result<Snapshot> {
    let mut writer = Writer::open(folder, Settings::default())?;
    documents.iter().try_for_each(|document| writer.add(document))?;
    writer.commit(Vec::new())?;
    Ok(writer.snapshot().clone())
}

#[cfg(test)]
mod tests;
