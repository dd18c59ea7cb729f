//! Import of pages, texts, tokens, feed lists and plans of other programs.
//!
//! Web pages are stored as downloaded, under the day of their download; texts are stored as documents in JSON, under the
//! day of their publication unless they have a time of download, so that all derived data can be rebuilt. An interrupted import resumes, and a repeated one does nothing: the import log of
//! the home records how far each input was read.
//!
//! Several processes may import the same inputs at the same time, one [shard](crate::shard) each. Each writes its own
//! files of pages and its own log; the next run that holds the home exclusively merges the logs.

mod convert;
mod format;
mod lines;
mod objects;
mod outcome;
pub mod page_source;
mod source;
mod text;
mod vertical;

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use jiff::Timestamp;
use tidings_fetch::decode::Ceiling;
use tidings_formats::compressed;
use tidings_formats::warc::Position;
use tidings_storage::source as source_file;
use tidings_store::claims::{Attempt, Claim};
use tidings_store::import_log::{self, Input, PageImporter};
use tidings_store::removed::Removed;
use tidings_store::{Error, input_files, plan, rfc3339};

pub use self::format::{FORMATS, FormatRow, ImportFormat};
pub use self::lines::{FileLines, IdentifiedLine, LinesOptions, LinesOutcome, LinesWriter, run as run_lines};
pub use self::outcome::ImportOutcome;
pub use self::vertical::Columns;

use self::convert::{ConvertedBatch, Converter, DayPages};
use self::format::{InputPath, Inputs};
use self::source::{Raw, RecordFilter, RecordSource};
use self::text::TextDefaults;
use crate::cancel::Cancelled;
use crate::context::RunContext;
use crate::discover::opml;
use crate::display::{count, grouped};
use crate::parallel::{self, Bounds};
use crate::pipeline::Pipeline;
use crate::reporter::ProgressScope;
use crate::shard::Shard;

/// The size of a batch that a worker converts, in bytes and in records.
const BATCH_BYTES: usize = 2 << 20;
const BATCH_RECORDS: usize = 512;
/// The memory for converting a batch, relative to its size.
const EXPANSION: usize = 4;
/// The minimum length of a line of a WET file in characters, as in OSCAR.
pub const MIN_CHARS: usize = 100;

/// Options of an import.
#[derive(Debug, Clone)]
pub struct Options {
    /// Files and folders, or addresses of objects such as `s3://bucket/prefix/*.warc.gz`.
    pub paths: Vec<PathBuf>,
    /// Their format; detected if absent.
    pub format: Option<ImportFormat>,
    /// Only count, and write nothing.
    pub dry_run: bool,
    /// Import inputs again that were imported before.
    pub again: bool,
    /// The download time of pages and texts without one; absent: the modification time of the file.
    pub downloaded: Option<Timestamp>,
    /// The language of texts without one. A hint: the text decides.
    pub language: Option<String>,
    /// Only pages of these hosts and their subdomains; empty: all.
    pub sites: Vec<String>,
    /// Let every text pass the quality gate.
    pub no_gate: bool,
    /// Characters that a line of a WET file must have.
    pub min_chars: usize,
    /// The columns of vertical files.
    pub columns: Columns,
    /// Delete each file that was read to its end.
    pub remove: bool,
    /// Compressed bytes of pages after which the import is committed, for tests.
    pub step_bytes: Option<usize>,
}

impl Options {
    /// Default options for these paths.
    pub fn new(paths: Vec<PathBuf>) -> Options {
        let columns = ["word", "lemma", "tag", "feats"].map(str::to_owned);
        Options {
            paths,
            format: None,
            dry_run: false,
            again: false,
            downloaded: None,
            language: None,
            sites: Vec::new(),
            no_gate: false,
            min_chars: MIN_CHARS,
            columns: Columns::of_names(&columns).expect("the default columns contain `word`"),
            remove: false,
            step_bytes: None,
        }
    }
}

/// Imports files and folders.
pub fn run(pipeline: &Pipeline, options: &Options) -> Result<ImportOutcome> {
    let mut inputs = format::expand(&options.paths, options.format)?;
    divide(&mut inputs, pipeline.shard());
    let context = RunContext::open(pipeline, "import")?;
    let _claim = claim_division(&context)?;
    let mut import = Import::begin(&context, options, inputs.unknown)?;
    let mut log = context.log();
    if !options.dry_run {
        // The log begins with the run, so that a killed run leaves a trace.
        let begun = log.take()?;
        log.put_back(begun);
    }
    let ended = import.inputs(&inputs.known);
    let kept = if options.dry_run { Ok(()) } else { import.finish() };
    let mut outcome = import.outcome;
    outcome.run.clone_from(&context.run);
    outcome.done = outcome.files_failed.is_empty();
    outcome.dry_run = options.dry_run;
    outcome.seconds = context.seconds();
    let logged = log.finish(&outcome);
    ended?;
    kept?;
    logged?;
    Ok(outcome)
}

/// Claims the shard of an import. Shards of another division would import the same files at the same time.
fn claim_division(context: &RunContext) -> Result<Option<Claim>> {
    if context.shard.is_whole() {
        return Ok(None);
    }
    let (home, stage, shard) = (&context.home, "import", context.shard.file_name());
    let count = |unit: &str| unit.rsplit_once("-of-").map(|(_, count)| count.to_owned());
    let locked = |by: String| Error::Locked { root: home.root().to_owned(), pid: Some(by) };
    let claim = match home.claim(stage, &shard)? {
        Attempt::Taken(claim) => claim,
        Attempt::Held(other) => return Err(locked(other.shown()).into()),
    };
    let others = home.claims()?;
    match others.iter().find(|other| other.stage == stage && count(&other.unit) != count(&shard)) {
        Some(other) => Err(locked(other.shown()).into()),
        None => Ok(Some(claim)),
    }
}

/// Keeps the inputs of a shard, files by name. Plans, feed lists and unknown files belong to the shard of undivided
/// work. The pages of a folder are divided when it is read.
fn divide(inputs: &mut Inputs, shard: Shard) {
    if shard.is_whole() {
        return;
    }
    inputs.known.retain(|input| match input.format {
        ImportFormat::Opml | ImportFormat::Plan => shard.takes_undivided(),
        ImportFormat::Html if input.path.is_dir() => true,
        _ => shard.takes(&name_of(&input.path)),
    });
    // Folders are read in the order of names, but paths come in the order of the caller.
    inputs.known.sort_by(|a, b| a.path.cmp(&b.path));
    if !shard.takes_undivided() {
        inputs.unknown.clear();
    }
}

/// An import in progress.
struct Import<'a> {
    context: &'a RunContext,
    options: &'a Options,
    intake: PageImporter,
    /// Tombstones: removed pages must not return.
    removed: Arc<Removed>,
    progress: ProgressScope,
    /// The present input, for the progress.
    detail: String,
    outcome: ImportOutcome,
}

impl Import<'_> {
    fn begin<'a>(context: &'a RunContext, options: &'a Options, unknown: Vec<PathBuf>) -> Result<Import<'a>> {
        let mut intake = match context.shard.is_whole() {
            true => PageImporter::open(&context.home, &context.run)?,
            false => PageImporter::open_shard(&context.home, &context.run, &context.shard.file_name())?,
        };
        intake = intake.with_compression(context.config.store.compression);
        if let Some(bytes) = options.step_bytes {
            intake = intake.with_steps_of(bytes);
        }
        Ok(Import {
            context,
            options,
            intake,
            removed: Arc::new(Removed::read(&context.home)?),
            progress: context.counting("pages"),
            detail: String::new(),
            outcome: ImportOutcome::of_unknown(unknown),
        })
    }

    fn inputs(&mut self, inputs: &[InputPath]) -> Result<()> {
        for (number, input) in inputs.iter().enumerate() {
            self.context.check_cancelled()?;
            self.detail = format!("file {} of {}, {}", number + 1, inputs.len(), input.path.display());
            self.progress.advance(0, &self.detail);
            self.input(input)?;
        }
        Ok(())
    }

    /// Makes the last step durable.
    fn finish(&mut self) -> Result<()> {
        self.intake.step()?;
        Ok(self.intake.fold()?)
    }

    /// Imports an input. An unreadable one is skipped; a home that cannot be written ends the run.
    fn input(&mut self, input: &InputPath) -> Result<()> {
        let least = self.context.config.store.min_free_mib;
        if self.context.is_disk_low() {
            bail!("the disk has less than {least} MiB free (store.min_free_mib); free some space and run again");
        }
        let shown = input.path.display().to_string();
        let done = match input.format {
            ImportFormat::Opml => self.feed_list(&input.path),
            ImportFormat::Plan => self.plan(&input.path),
            ImportFormat::Html => self.saved_pages(&input.path),
            format => self.file(&input.path, format),
        };
        if let Err(error) = done {
            if !is_about_input(&error, &input.path) {
                return Err(error);
            }
            log::error!("{shown}: {error:#}");
            self.outcome.files_failed.push(shown);
        }
        Ok(())
    }

    fn feed_list(&mut self, path: &Path) -> Result<()> {
        self.outcome.files += 1;
        if self.options.dry_run {
            return Ok(());
        }
        self.outcome.note(opml::add_to_list(self.context, path)?);
        Ok(())
    }

    fn plan(&mut self, path: &Path) -> Result<()> {
        let taken = plan::take_in(&self.context.home, &self.context.run, path, self.options.dry_run)?;
        self.outcome.files += 1;
        self.outcome.entries += taken.added;
        self.outcome.note(format!(
            "{}: {} read, {} added to the plan\n",
            name_of(path),
            count(taken.read, "entry"),
            grouped(taken.added)
        ));
        Ok(())
    }

    /// Imports saved pages: a file, or all of a folder.
    fn saved_pages(&mut self, path: &Path) -> Result<()> {
        let root = if path.is_dir() { path } else { path.parent().unwrap_or(Path::new("")) };
        let name = name_of(root);
        // A file given explicitly has already been assigned to a shard.
        let shard = if path.is_dir() { self.context.shard } else { Shard::WHOLE };
        let mut files = VecDeque::new();
        for file in input_files::html_files(path)? {
            let inside = file.strip_prefix(root).unwrap_or(&file).to_owned();
            if !shard.is_whole() && !shard.takes(&name_of(&file)) {
                continue;
            }
            let input = Input::of_saved(&file, &format!("{name}/{}", inside.display()))?;
            match self.intake.known(&input) {
                Some(known) if known.done && !self.options.again => self.outcome.files_known += 1,
                _ => files.push_back((file, inside, input)),
            }
        }
        self.outcome.files += files.len() as u64;
        let defaults = self.defaults(self.options.downloaded);
        let converter = self.converter(ImportFormat::Html, name, defaults);
        self.read(RecordSource::Saved(files), converter, Input::default())
    }

    fn file(&mut self, path: &Path, format: ImportFormat) -> Result<()> {
        let name = name_of(path);
        let mut input = Input::of(path, &name)?;
        if let Some(known) = self.intake.known(&input).filter(|_| !self.options.again) {
            if known.done {
                self.outcome.files_known += 1;
                log::debug!("{name} was imported before; skipped");
                return self.remove(path);
            }
            log::info!("{name}: resuming after record {}", known.records);
            input.clone_from(known);
        }
        self.outcome.files += 1;
        let time = source_file::stat(path)?.and_then(|stat| Timestamp::try_from(stat.modified?).ok());
        let time = time.unwrap_or(self.context.started);
        let filter = RecordFilter {
            max_bytes: (self.context.config.fetch.max_page_mib as u64) << 21,
            sites: self.options.sites.iter().map(|site| site.to_ascii_lowercase()).collect(),
        };
        let source = RecordSource::open(path, format, input.place(), filter, &self.options.columns)?;
        let defaults = self.defaults(Some(self.options.downloaded.unwrap_or(time)));
        let converter = self.converter(format, name, defaults);
        self.read(source, converter, input)?;
        self.remove(path)
    }

    fn defaults(&self, downloaded: Option<Timestamp>) -> TextDefaults {
        TextDefaults {
            downloaded: downloaded.map(rfc3339).unwrap_or_default(),
            language: self.options.language.clone().unwrap_or_default(),
            ungated: self.options.no_gate,
            min_chars: self.options.min_chars,
        }
    }

    fn converter(&self, format: ImportFormat, name: String, defaults: TextDefaults) -> Converter {
        let fetch = &self.context.config.fetch;
        Converter {
            format,
            name,
            defaults,
            ceiling: Ceiling { max_bytes: fetch.max_page_mib << 20, max_ratio: fetch.max_unpack_ratio },
            removed: Arc::clone(&self.removed),
            compression: (!self.options.dry_run).then_some(self.context.config.store.compression),
        }
    }

    /// Reads a source from its position to its end: batches are converted on all cores and stored in order.
    fn read(&mut self, mut source: RecordSource, converter: Converter, mut input: Input) -> Result<()> {
        let clean = &self.context.config.clean;
        let threads = if clean.threads == 0 { parallel::cores() } else { clean.threads };
        let bounds = Bounds { threads, weight: clean.memory_mib << 20 };
        let (mut ended, mut fault) = (false, None);
        let context = self.context;
        let batches = || {
            context.check_cancelled()?;
            if let Some(fault) = fault.take() {
                return Err(fault);
            }
            if ended {
                return Ok(None);
            }
            let (batch, weight);
            (batch, weight, fault) = next_batch(&mut source);
            ended = batch.is_last;
            Ok(Some((batch, weight * EXPANSION + (64 << 10))))
        };
        parallel::ordered(
            bounds,
            batches,
            |Batch { records, place, is_last }| (converter.convert(records), place, is_last),
            |(batch, place, is_last)| self.store(batch, place, is_last, &mut input),
        )
    }

    /// Stores the pages of a batch together with the position in the input.
    fn store(&mut self, batch: ConvertedBatch, place: Position, is_last: bool, input: &mut Input) -> Result<()> {
        self.outcome.pages += batch.pages;
        self.progress.show(self.outcome.pages, &self.detail);
        self.outcome.undated += batch.undated;
        for (reason, number) in batch.left_out {
            *self.outcome.left_out.entry(reason.to_owned()).or_default() += number;
            *input.left_out.entry(reason.to_owned()).or_default() += number;
        }
        if self.options.dry_run {
            return Ok(());
        }
        for (day, pages) in &batch.days {
            match pages {
                DayPages::Frame(frame) => self.intake.push(day, frame),
                DayPages::Lines(lines) => self.intake.push_lines(day, lines),
            }
        }
        self.intake.remember(&batch.addresses);
        if !batch.saved.is_empty() {
            self.intake.reached_all(&batch.saved)?;
        }
        // Saved pages are inputs themselves; their folder has no entry.
        if !input.name.is_empty() {
            input.pages += batch.pages;
            (input.records, input.byte, input.done) = (place.records, place.byte, is_last);
            self.intake.reached(input)?;
        }
        Ok(())
    }

    /// Deletes an input if requested, once its pages are durable.
    fn remove(&mut self, path: &Path) -> Result<()> {
        if self.options.remove && !path.is_dir() {
            self.intake.step()?;
            import_log::remove_input(path)?;
        }
        Ok(())
    }
}

/// Records that are converted together, and the position after them.
struct Batch {
    records: Vec<Raw>,
    place: Position,
    is_last: bool,
}

/// The next records of a source, their weight, and the error after them.
fn next_batch(source: &mut RecordSource) -> (Batch, usize, Option<anyhow::Error>) {
    let (mut records, mut weight) = (Vec::new(), 0);
    loop {
        let is_full = weight >= BATCH_BYTES || records.len() >= BATCH_RECORDS;
        if is_full && source.is_settled() {
            return (Batch { records, place: source.place(), is_last: false }, weight, None);
        }
        match source.next() {
            Ok(Some(record)) => {
                weight += record.weight();
                records.push(record);
            }
            Ok(None) => return (Batch { records, place: source.place(), is_last: true }, weight, None),
            Err(fault) => return (Batch { records, place: source.place(), is_last: false }, weight, Some(fault)),
        }
    }
}

/// The name of an input in the log: the file name without folder.
fn name_of(path: &Path) -> String {
    let whole = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    whole.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Whether an error is about an input and not about the home.
fn is_about_input(error: &anyhow::Error, path: &Path) -> bool {
    use tidings_model::FileError;
    use tidings_store::Error;
    if error.is::<Cancelled>() {
        return false;
    }
    match error.downcast_ref::<Error>() {
        Some(
            Error::Io(FileError { path: at, .. })
            | Error::Line { path: at, .. }
            | Error::Damaged { path: at, .. }
            | Error::Row { path: at, .. }
            | Error::Newer { path: at, .. },
        ) => at.starts_with(path),
        Some(_) => false,
        // Other errors are those of reading.
        None => true,
    }
}

/// Opens a file, compressed or not, with its path in the error.
fn open_input(path: &Path) -> Result<Box<dyn std::io::BufRead + Send>> {
    compressed::open(path).with_context(|| format!("cannot read {}", path.display()))
}

#[cfg(test)]
mod layer_tests;
#[cfg(test)]
mod tests;
