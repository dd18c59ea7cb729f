//! The documents of a day in progress: drafted file by file, published with the recipe last.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::docs::{
    DROPPED, DROPPED_FORMAT, Day, ENDING, FORMAT, ROOT, Recipe, Suspect, VERSION, partition_of, remove_recipe,
    write_recipe,
};
use crate::error::{Error, Result};
use crate::file_digest::FileDigest;
use crate::file_frames::{self, PartitionFrames};
use crate::frames;
use crate::home::Home;
use crate::lost_pages::DamagedPart;
use crate::partition::{Insertion, PartitionWriter};
use crate::revisions;
use crate::yields::{self, Yield};

/// The position of a document in a draft.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DraftPosition {
    language: String,
    line: u64,
    section: usize,
}

/// A document that becomes a dropped page before its day is published.
#[derive(Debug, Clone)]
pub struct Withdrawn {
    /// The position of the document.
    pub position: DraftPosition,
    /// The name of the rule.
    pub reason: &'static str,
    /// The line of the dropped page, with its line end.
    pub line: Vec<u8>,
}

/// The documents of a day in progress. Without publication it leaves no trace.
pub struct DayDraft {
    home: Home,
    recipe: Recipe,
    kept: Option<Recipe>,
    partitions: PartitionWriter,
    yields: yields::YieldCounters,
    /// The end of the dropped pages of each file of pages, in bytes.
    sections: Vec<u64>,
}

impl DayDraft {
    /// Starts a day. Valid output of its first files is kept.
    pub fn begin(home: &Home, recipe: Recipe, day: &Day) -> Result<DayDraft> {
        let earlier = Recipe::read(home, &recipe.day)?;
        let known = earlier.as_ref().map(Recipe::sound_inputs).unwrap_or_default();
        if let Some(earlier) = earlier
            && earlier.continues(&recipe, home, day)?
        {
            let mut draft = DayDraft::empty(home, recipe.clone())?;
            if draft.keep(earlier)? {
                return draft.with_inputs(day, &known);
            }
        }
        DayDraft::create(home, recipe)?.with_inputs(day, &known)
    }

    /// Starts a day of which nothing is kept.
    pub fn begin_anew(home: &Home, recipe: Recipe, day: &Day) -> Result<DayDraft> {
        let known = Recipe::read(home, &recipe.day)?.as_ref().map(Recipe::sound_inputs).unwrap_or_default();
        DayDraft::create(home, recipe)?.with_inputs(day, &known)
    }

    /// Starts a day of which nothing is kept, and whose files were digested where they were read.
    pub fn begin_digested(home: &Home, recipe: Recipe, day: &Day, known: &[FileDigest]) -> Result<DayDraft> {
        DayDraft::create(home, recipe)?.with_inputs(day, known)
    }

    /// Starts an empty day, for pages that are in no file.
    pub fn create(home: &Home, recipe: Recipe) -> Result<DayDraft> {
        let mut draft = DayDraft::empty(home, recipe)?;
        // A day without dropped pages has an empty file of them.
        draft.partitions.open(DROPPED, &frames::header(DROPPED_FORMAT, VERSION, ""))?;
        Ok(draft)
    }

    fn empty(home: &Home, recipe: Recipe) -> Result<DayDraft> {
        let partitions = PartitionWriter::new(home, ROOT, ENDING);
        let (home, yields) = (home.clone(), yields::YieldCounters::default());
        Ok(DayDraft { home, recipe, kept: None, partitions, yields, sections: Vec::new() })
    }

    /// Copies the output of an earlier recipe; returns whether all of it matches that recipe.
    fn keep(&mut self, earlier: Recipe) -> Result<bool> {
        let yields_key = yields::day_key(&earlier.day);
        for output in &earlier.outputs {
            if output.file == yields_key {
                if FileDigest::of(&self.home, &output.file)?.xxh3 != output.xxh3 {
                    return Ok(false);
                }
                let DayDraft { home, yields, .. } = self;
                yields::of_day(home, &earlier.day, |row| yields.add(&row.feed, &row.host, row.sum))?;
                continue;
            }
            if !self.partitions.keep(partition_of(&output.file), output)? {
                return Ok(false);
            }
        }
        self.recipe.pages = earlier.pages;
        self.recipe.documents.clone_from(&earlier.documents);
        self.recipe.dropped.clone_from(&earlier.dropped);
        self.recipe.damaged.clone_from(&earlier.damaged);
        self.recipe.suspects.clone_from(&earlier.suspects);
        self.recipe.supersedes.clone_from(&earlier.supersedes);
        self.kept = Some(earlier);
        Ok(true)
    }

    /// Adds the files of a day to the recipe. Files of pages never change, so that `known` digests are still valid; if
    /// a file has been damaged since, its digest is that of the file that a backup has.
    fn with_inputs(mut self, day: &Day, known: &[FileDigest]) -> Result<DayDraft> {
        for path in &day.files {
            let file = self.home.key(path);
            let known = known.iter().find(|input| input.file == file && input.is_present(&self.home));
            self.recipe.inputs.push(match known {
                Some(known) => known.clone(),
                None => FileDigest::of(&self.home, &file)?,
            });
        }
        Ok(self)
    }

    /// Records a part of a file of pages that could not be read.
    pub fn skip_damage(&mut self, file: &str, part: &std::ops::Range<u64>) -> Result<()> {
        let xxh3 = FileDigest::of(&self.home, file)?.xxh3;
        let bytes = part.end - part.start;
        self.recipe.damaged.push(DamagedPart { file: file.to_owned(), at: part.start, bytes, xxh3 });
        Ok(())
    }

    /// The recipe of the kept output, if there is any.
    pub fn kept(&self) -> Option<&Recipe> {
        self.kept.as_ref()
    }

    /// Marks the end of a file of pages.
    pub fn end_file(&mut self) -> Result<()> {
        self.partitions.flush()?;
        self.sections.push(self.partitions.bytes(DROPPED));
        Ok(())
    }

    /// The position of the document that is added next in a language.
    pub fn next_position(&self, language: &str) -> DraftPosition {
        let (language, line) = (language.to_owned(), self.partitions.lines(language));
        DraftPosition { language, line, section: self.sections.len() }
    }

    /// Records a page that may not be an article.
    pub fn suspect(&mut self, suspect: Suspect) {
        self.recipe.suspects.push(suspect);
    }

    /// Records the texts of suspects that are no articles, in order.
    pub fn walls(&mut self, texts: Vec<String>) {
        self.recipe.walls = texts;
    }

    /// Turns documents into dropped pages. Their lines follow the other dropped pages of the same file of pages, so that
    /// a day that grows has the bytes of a complete rebuild.
    pub fn withdraw(&mut self, documents: &[Withdrawn]) -> Result<()> {
        if documents.is_empty() {
            return Ok(());
        }
        self.end_file()?;
        let mut lines: BTreeMap<&str, BTreeSet<u64>> = BTreeMap::new();
        let mut sections: BTreeMap<usize, (Vec<u8>, u64)> = BTreeMap::new();
        for Withdrawn { position, reason, line } in documents {
            lines.entry(&position.language).or_default().insert(position.line);
            let (text, number) = sections.entry(position.section).or_default();
            text.extend_from_slice(line);
            *number += 1;
            *self.recipe.dropped.entry((*reason).to_owned()).or_default() += 1;
        }
        for (language, lines) in lines {
            self.partitions.leave_out(language, &lines)?;
            let left = self.partitions.lines(language);
            match left {
                0 => self.recipe.documents.remove(language),
                left => self.recipe.documents.insert(language.to_owned(), left),
            };
        }
        let ends = |(section, (text, lines))| Insertion { offset: self.sections[section], text, lines };
        let insertions: Vec<Insertion> = sections.into_iter().map(ends).collect();
        self.partitions.insert(DROPPED, &insertions)
    }

    /// Adds the line of a document, with its line end, to the partition of its language.
    pub fn push(&mut self, language: &str, line: &[u8]) -> Result<()> {
        self.recipe.pages += 1;
        *self.recipe.documents.entry(language.to_owned()).or_default() += 1;
        self.partitions.open(language, &frames::header(FORMAT, VERSION, ""))?;
        self.partitions.push(language, line, 1)
    }

    /// Records that a document of this day revises earlier downloads of its URL.
    pub fn supersede(&mut self, url: &str, revises: &[String]) {
        for (day, key) in revisions::superseded_keys(url, revises) {
            self.recipe.supersedes.entry(day).or_default().insert(key);
        }
    }

    /// Adds the line of a dropped page, with its line end.
    pub fn drop_page(&mut self, reason: &str, line: &[u8]) -> Result<()> {
        self.recipe.pages += 1;
        *self.recipe.dropped.entry(reason.to_owned()).or_default() += 1;
        self.partitions.push(DROPPED, line, 1)
    }

    /// Adds the compressed lines of a file of pages that were made elsewhere; [`DayDraft::count_dropped`] tells the
    /// reasons of dropped pages.
    pub fn push_frames(&mut self, frames: &PartitionFrames, source: &Path) -> Result<()> {
        file_frames::check(frames, source)?;
        self.recipe.pages += frames.lines;
        if frames.partition != DROPPED {
            *self.recipe.documents.entry(frames.partition.clone()).or_default() += frames.lines;
            self.partitions.open(&frames.partition, &frames::header(FORMAT, VERSION, ""))?;
        }
        self.partitions.push_frames(&frames.partition, &frames.frames, frames.lines)
    }

    /// Counts dropped pages whose lines were pushed as frames.
    pub fn count_dropped(&mut self, reason: &str, pages: u64) {
        *self.recipe.dropped.entry(reason.to_owned()).or_default() += pages;
    }

    /// The position of the document with a number in the frames that are pushed next.
    pub fn position_in_file(&self, language: &str, line: u64) -> DraftPosition {
        let next = self.next_position(language);
        DraftPosition { line: next.line + line, ..next }
    }

    /// Adds the yield of a page to its feed and host.
    pub fn count(&mut self, feed: &str, host: &str, part: Yield) {
        self.yields.add(feed, host, part);
    }

    /// Publishes all files and returns the recipe. Every one of the `read` pages must have become a document or a
    /// dropped line.
    pub fn publish(mut self, read: u64) -> Result<Recipe> {
        let DayDraft { home, recipe, partitions, yields, .. } = &mut self;
        recipe.outputs = partitions.seal(&recipe.day)?;
        let documents: u64 = recipe.documents.values().sum();
        let dropped: u64 = recipe.dropped.values().sum();
        let lines: u64 = recipe.outputs.iter().filter_map(|output| output.lines).sum();
        if recipe.pages != read || documents + dropped != read || lines != read {
            let fault = format!("{read} pages were read, but {documents} became documents and {dropped} were dropped");
            return Err(Error::Uneven { day: recipe.day.clone(), fault });
        }
        let table = yields.table();
        let yields_key = yields::day_key(&recipe.day);
        recipe.outputs.push(FileDigest::of_bytes(yields_key.clone(), &table, yields.lines()));
        // From here on the day is either the new one or missing.
        remove_recipe(home, ROOT, &recipe.day)?;
        home.storage().put_atomic(&yields_key, &table)?;
        partitions.publish(&recipe.day)?;
        write_recipe(home, ROOT, &recipe.day, recipe)?;
        Ok(recipe.clone())
    }
}
