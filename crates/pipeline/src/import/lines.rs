//! Lines by language: the text of WET files and JSON lines, one deduplicated file per language.
//!
//! A line that is long enough and valid UTF-8 is text of one identified language, or of none. Lines are deduplicated by
//! 64-bit XXH3 hashes, exactly within the given memory (about 40 million lines per GiB). The same inputs in the same
//! order give the same files on any number of cores, even after an interruption: the folder records its inputs.

mod file_lines;

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::hash::{BuildHasherDefault, Hasher};
use std::io::{BufRead, Read as _};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use serde::Serialize;
use tidings_formats::warc::{Headers, Position, RecordEvent, RecordReader};
use tidings_lang::identify_lines;
use tidings_store::FrameEncoder;
use tidings_store::by_language::ByLanguage;
use tidings_store::import_log::{self, Input};
use xxhash_rust::xxh3::xxh3_64;

pub use self::file_lines::{FileLines, IdentifiedLine, LinesWriter};
use super::format::{self, ImportFormat, InputPath};
use super::{MIN_CHARS, name_of};
use crate::display::{count, grouped, span_s};
use crate::outcome::{Outcome, Status};
use crate::parallel::{self, Bounds, cores};
use crate::reporter::{ProgressScope, Reporter};

/// The text that a worker gets at once.
const CHUNK_BYTES: usize = 1 << 20;
/// Text that is compressed together.
const FRAME_BYTES: usize = 4 << 20;
/// The size of chunks in progress.
const UNDER_WAY_BYTES: usize = 64 << 20;
/// The maximum size of a text record.
const MAX_TEXT_BYTES: u64 = 64 << 20;
/// Lines of texts that are longer are none.
const MAX_LINE_BYTES: u64 = 64 << 20;
/// The amount of text after which the output is committed, at the end of an input.
const STEP_BYTES: u64 = 64 << 20;
/// The compression level: compression should not take longer than language identification, which is fast.
const LEVEL: i32 = 3;
/// The memory of a line that is remembered.
const BYTES_A_LINE: usize = 26;

/// Options of an import of lines.
#[derive(Debug, Clone)]
pub struct LinesOptions {
    /// Files and folders to read.
    pub paths: Vec<PathBuf>,
    /// Their format; detected if absent.
    pub format: Option<ImportFormat>,
    /// The folder of the files of lines.
    pub folder: PathBuf,
    /// Characters that a line must have.
    pub min_chars: usize,
    /// Memory for the lines that were written, in MiB.
    pub memory_mib: usize,
    /// Empty the folder first, and read every input.
    pub again: bool,
    /// Count lines and write none.
    pub dry_run: bool,
    /// Delete each input that was read to its end.
    pub remove: bool,
    /// Number of workers; absent: one per core.
    pub threads: Option<usize>,
    /// Bytes of text after which the output is committed, for tests.
    pub step_bytes: Option<u64>,
}

impl LinesOptions {
    /// Default options for these paths and this folder.
    pub fn new(paths: Vec<PathBuf>, folder: PathBuf) -> LinesOptions {
        LinesOptions {
            paths,
            format: None,
            folder,
            min_chars: MIN_CHARS,
            memory_mib: 1024,
            again: false,
            dry_run: false,
            remove: false,
            threads: None,
            step_bytes: None,
        }
    }
}

/// The outcome of writing lines by language.
#[derive(Debug, Clone, Default, Serialize)]
pub struct LinesOutcome {
    /// Always true: unreadable records are counted in `damaged`.
    pub done: bool,
    /// Inputs that were read.
    pub files: u64,
    /// Inputs that an earlier run has read.
    pub files_known: u64,
    /// Bytes of text that were read.
    pub bytes: u64,
    /// Lines that were written.
    pub lines: u64,
    /// The same by language.
    pub languages: BTreeMap<&'static str, u64>,
    /// Duplicate lines.
    pub again: u64,
    /// Lines that are too short.
    pub short: u64,
    /// Lines that are not valid UTF-8.
    pub invalid: u64,
    /// Lines whose hashes were evicted for lack of memory; their duplicates may have been written.
    pub forgotten: u64,
    /// RecordReader that could not be read.
    pub damaged: u64,
    /// The time that it took.
    pub seconds: f64,
}

impl Outcome for LinesOutcome {
    fn status(&self) -> Status {
        if self.damaged > 0 { Status::Partly } else { Status::Done }
    }
}

impl fmt::Display for LinesOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut ranked: Vec<(&&str, &u64)> = self.languages.iter().collect();
        ranked.sort_by_key(|(code, number)| (std::cmp::Reverse(**number), **code));
        let most: Vec<String> =
            ranked.iter().take(5).map(|(code, number)| format!("{} {code}", grouped(**number))).collect();
        let most = if most.is_empty() { String::new() } else { format!(" ({})", most.join(", ")) };
        let known = match self.files_known {
            0 => String::new(),
            known => format!("; {} imported before", count(known, "file")),
        };
        writeln!(
            f,
            "{:.1} MB of text read: {} in {}{most}; {} duplicates, {} too short, {} not valid UTF-8{known}, {}",
            self.bytes as f64 / 1e6,
            count(self.lines, "line"),
            count(self.languages.len() as u64, "language"),
            grouped(self.again),
            grouped(self.short),
            grouped(self.invalid),
            span_s(self.seconds),
        )
    }
}

/// Writes the lines of inputs to one file per language. Needs no home.
pub fn run(options: &LinesOptions, reporter: &Arc<dyn Reporter>) -> Result<LinesOutcome> {
    let inputs = text_inputs(&options.paths, options.format)?;
    let began = Instant::now();
    let mut writer = LineWriter::open(options)?;
    let progress = ProgressScope::begin(reporter, "files", inputs.len() as u64);
    let bounds = Bounds { threads: options.threads.unwrap_or_else(cores), weight: UNDER_WAY_BYTES };
    for (number, input) in inputs.iter().enumerate() {
        progress.show(number as u64, &input.path.display().to_string());
        read_input(input, options.min_chars, bounds, &mut writer)?;
    }
    let mut outcome = writer.finish()?;
    outcome.done = true;
    outcome.files = inputs.len() as u64 - outcome.files_known;
    outcome.lines = outcome.languages.values().sum();
    outcome.seconds = began.elapsed().as_secs_f64();
    if outcome.forgotten > 0 {
        log::warn!(
            "{} evicted for lack of memory, so that some lines may be written twice; use more --memory",
            count(outcome.forgotten, "line")
        );
    }
    Ok(outcome)
}

/// The inputs with text. A folder may contain other files; a file of another format given explicitly is an error.
fn text_inputs(paths: &[PathBuf], format: Option<ImportFormat>) -> Result<Vec<InputPath>> {
    let mut inputs = format::expand(paths, format)?.known;
    let is_named = |path: &Path| !path.is_dir() && paths.iter().any(|named| named == path);
    inputs.retain(|input| has_text(input.format) || is_named(&input.path));
    if let Some(other) = inputs.iter().find(|input| !has_text(input.format)) {
        bail!("--lines accepts WET files and JSON lines with text, not {}", other.path.display());
    }
    Ok(inputs)
}

fn has_text(format: ImportFormat) -> bool {
    matches!(format, ImportFormat::Warc | ImportFormat::Jsonl)
}

/// Writes the lines of an input, unless an earlier run did.
fn read_input(input: &InputPath, min_chars: usize, bounds: Bounds, writer: &mut LineWriter) -> Result<()> {
    let entry = Input::of(&input.path, &name_of(&input.path))?;
    if writer.knows(&entry) {
        writer.outcome.files_known += 1;
        return writer.read_to_end(&input.path, None, 0);
    }
    let mut texts = Texts::open(input)?;
    let before = writer.outcome.bytes;
    parallel::ordered(
        bounds,
        || {
            let chunk = texts.chunk()?;
            Ok(chunk.map(|chunk| {
                let weight = chunk.0.len();
                (chunk, weight)
            }))
        },
        |(text, ends)| (text.len() as u64, identify(text, &ends, min_chars)),
        |(read, lines)| {
            writer.outcome.bytes += read;
            writer.write(&lines)
        },
    )?;
    writer.outcome.damaged += texts.damaged;
    let read = writer.outcome.bytes - before;
    writer.read_to_end(&input.path, Some(entry), read)
}

/// The lines of some texts by language.
#[derive(Debug, Default)]
struct LinesByLanguage {
    /// The language of each line, its hash and its byte range in the text.
    lines: Vec<(&'static str, u64, Range<usize>)>,
    text: Vec<u8>,
    short: u64,
    invalid: u64,
}

/// Reads the texts of an input in chunks of whole texts.
struct Texts {
    source: TextSource,
    damaged: u64,
}

enum TextSource {
    Wet(Box<RecordReader>),
    Json(Box<dyn BufRead + Send>),
}

impl Texts {
    fn open(input: &InputPath) -> Result<Texts> {
        let source = match input.format {
            ImportFormat::Warc => TextSource::Wet(Box::new(RecordReader::open(&input.path, Position::default())?)),
            _ => TextSource::Json(super::open_input(&input.path)?),
        };
        Ok(Texts { source, damaged: 0 })
    }

    /// The next texts, concatenated, with the end offset of each; `None` at the end of the input.
    fn chunk(&mut self) -> Result<Option<(Vec<u8>, Vec<usize>)>> {
        let (mut chunk, mut ends) = (Vec::new(), Vec::new());
        while chunk.len() < CHUNK_BYTES {
            let next = match &mut self.source {
                TextSource::Wet(records) => next_record(records, &mut chunk)?,
                TextSource::Json(reader) => next_json(&mut **reader, &mut chunk)?,
            };
            match next {
                Next::Text => {
                    chunk.push(b'\n');
                    ends.push(chunk.len());
                }
                Next::NoText => {}
                Next::Damaged => self.damaged += 1,
                Next::End => break,
            }
        }
        Ok(Some((chunk, ends)).filter(|(chunk, _)| !chunk.is_empty()))
    }
}

/// The kind of the next record of an input.
enum Next {
    /// A text, which was appended.
    Text,
    /// A record without text.
    NoText,
    /// A record that cannot be read.
    Damaged,
    /// None: the input is at its end.
    End,
}

/// Appends the text of the next record of a WET file, if it has one.
fn next_record(records: &mut RecordReader, chunk: &mut Vec<u8>) -> Result<Next> {
    let is_text = |head: &Headers| match head.kind() {
        "conversion" => Ok(MAX_TEXT_BYTES),
        _ => Err("no text"),
    };
    Ok(match records.next(is_text) {
        Some(RecordEvent::Record(record)) => {
            chunk.extend_from_slice(&record.block);
            Next::Text
        }
        Some(RecordEvent::Skipped(_)) => Next::NoText,
        Some(RecordEvent::Damage(what)) => {
            log::warn!("{what}; continuing after it");
            Next::Damaged
        }
        None => match records.take_failure() {
            Some(failure) => return Err(failure).context("cannot continue reading"),
            None => Next::End,
        },
    })
}

/// Appends the text of the next line of JSON, if it has one.
fn next_json(reader: &mut dyn BufRead, chunk: &mut Vec<u8>) -> Result<Next> {
    #[derive(serde::Deserialize)]
    struct TextField {
        text: String,
    }
    let mut line = Vec::new();
    if reader.take(MAX_LINE_BYTES).read_until(b'\n', &mut line).context("cannot continue reading")? == 0 {
        return Ok(Next::End);
    }
    Ok(match serde_json::from_slice::<TextField>(&line) {
        Ok(line) => {
            chunk.extend_from_slice(line.text.as_bytes());
            Next::Text
        }
        Err(_) if line.iter().all(u8::is_ascii_whitespace) => Next::NoText,
        Err(_) => Next::Damaged,
    })
}

/// Identifies the language of every line of concatenated texts with these end offsets.
fn identify(text: Vec<u8>, ends: &[usize], min_chars: usize) -> LinesByLanguage {
    let mut found = LinesByLanguage::default();
    let mut start = 0;
    for end in ends {
        identify_one(&text, start..*end, min_chars, &mut found);
        start = *end;
    }
    found.text = text;
    found
}

fn identify_one(all: &[u8], place: Range<usize>, min_chars: usize, found: &mut LinesByLanguage) {
    let mut start = place.start;
    let (mut lines, mut places): (Vec<&str>, Vec<usize>) = Default::default();
    for line in all[place].split(|byte| *byte == b'\n') {
        let from = start;
        start += line.len() + 1;
        // A line of so few bytes cannot have more characters.
        if line.len() < min_chars {
            found.short += u64::from(!line.trim_ascii().is_empty());
            continue;
        }
        let Ok(valid) = std::str::from_utf8(line) else {
            found.invalid += 1;
            continue;
        };
        let trimmed = valid.trim();
        if trimmed.is_empty() {
            continue;
        }
        if trimmed.chars().count() < min_chars {
            found.short += 1;
            continue;
        }
        lines.push(trimmed);
        places.push(from + valid.len() - valid.trim_start().len());
    }
    for ((line, begin), language) in lines.iter().zip(places).zip(identify_lines(&lines)) {
        found.lines.push((language, xxh3_64(line.as_bytes()), begin..begin + line.len()));
    }
}

/// A hasher for values that are hashes already.
#[derive(Default)]
struct IdentityHasher(u64);

impl Hasher for IdentityHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = xxh3_64(bytes);
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }
}

type Hashes = HashSet<u64, BuildHasherDefault<IdentityHasher>>;

/// Hashes of written lines in two generations: the older is dropped when the younger is full.
struct SeenLines {
    young: Hashes,
    old: Hashes,
    capacity: usize,
    forgotten: u64,
}

impl SeenLines {
    fn is_new(&mut self, hash: u64) -> bool {
        if self.old.contains(&hash) || !self.young.insert(hash) {
            return false;
        }
        if self.young.len() >= self.capacity {
            self.forgotten += self.old.len() as u64;
            self.old = std::mem::take(&mut self.young);
        }
        true
    }
}

/// The output files in progress; none in a dry run.
struct LineWriter {
    folder: Option<ByLanguage>,
    /// Lines waiting for compression, by language.
    waiting: BTreeMap<&'static str, Vec<u8>>,
    seen: SeenLines,
    packer: FrameEncoder,
    /// Inputs read since the last commit, and those to be deleted.
    inputs: Vec<Input>,
    remove: Option<Vec<PathBuf>>,
    bytes: u64,
    step_bytes: u64,
    outcome: LinesOutcome,
}

impl LineWriter {
    fn open(options: &LinesOptions) -> Result<LineWriter> {
        let capacity = ((options.memory_mib << 20) / BYTES_A_LINE / 2).max(1024);
        let mut seen = SeenLines { young: Hashes::default(), old: Hashes::default(), capacity, forgotten: 0 };
        let folder = match options.dry_run {
            true => None,
            false => Some(ByLanguage::open(&options.folder, options.again)?),
        };
        if let Some(folder) = &folder {
            folder.lines(|line| {
                seen.is_new(xxh3_64(line));
            })?;
        }
        Ok(LineWriter {
            folder,
            waiting: BTreeMap::new(),
            seen,
            packer: FrameEncoder::new(LEVEL),
            inputs: Vec::new(),
            remove: options.remove.then(Vec::new),
            bytes: 0,
            step_bytes: options.step_bytes.unwrap_or(STEP_BYTES),
            outcome: LinesOutcome::default(),
        })
    }

    fn knows(&self, input: &Input) -> bool {
        self.folder.as_ref().is_some_and(|folder| folder.knows(input))
    }

    fn write(&mut self, found: &LinesByLanguage) -> Result<()> {
        self.outcome.short += found.short;
        self.outcome.invalid += found.invalid;
        for (language, hash, place) in &found.lines {
            if !self.seen.is_new(*hash) {
                self.outcome.again += 1;
                continue;
            }
            *self.outcome.languages.entry(language).or_default() += 1;
            let Some(folder) = &mut self.folder else { continue };
            let waiting = self.waiting.entry(language).or_default();
            waiting.extend_from_slice(&found.text[place.clone()]);
            waiting.push(b'\n');
            if waiting.len() >= FRAME_BYTES {
                folder.append(language, &self.packer.encode(waiting))?;
                waiting.clear();
            }
        }
        Ok(())
    }

    /// Records that an input was read completely, now or in an earlier run, with this many bytes of text; commits if
    /// due.
    fn read_to_end(&mut self, path: &Path, input: Option<Input>, bytes: u64) -> Result<()> {
        self.inputs.extend(input);
        if let Some(remove) = &mut self.remove {
            remove.push(path.to_owned());
        }
        self.bytes += bytes;
        if self.bytes >= self.step_bytes { self.step() } else { Ok(()) }
    }

    /// Makes all written lines durable, then deletes the inputs that are to be deleted.
    fn step(&mut self) -> Result<()> {
        self.bytes = 0;
        let Some(folder) = &mut self.folder else { return Ok(()) };
        for (language, lines) in self.waiting.iter_mut().filter(|(_, lines)| !lines.is_empty()) {
            folder.append(language, &self.packer.encode(lines))?;
            lines.clear();
        }
        if !self.inputs.is_empty() {
            folder.step(std::mem::take(&mut self.inputs))?;
        }
        for path in self.remove.iter_mut().flat_map(|paths| paths.drain(..)) {
            import_log::remove_input(&path)?;
        }
        Ok(())
    }

    fn finish(mut self) -> Result<LinesOutcome> {
        self.step()?;
        self.outcome.forgotten = self.seen.forgotten;
        Ok(self.outcome)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_measured_in_characters_and_grouped_by_language() {
        let german = "Der Fluss ist in der Nacht über die Ufer getreten, und die Feuerwehr hat zwei Straßen gesperrt.";
        let english = "The river rose again during the night, and the fire brigade had to close two of the roads.";
        let text = format!("{german}\n  {english}  \nHome\n\n{}\n", "ä".repeat(40));
        let mut bytes = text.into_bytes();
        bytes.extend(b"not valid \xff but long enough to be a line of text, if it were one at all\n");
        let ends = [bytes.len()];
        let found = identify(bytes, &ends, 50);
        let lines: Vec<(&str, &str)> = found
            .lines
            .iter()
            .map(|(language, _, place)| (*language, std::str::from_utf8(&found.text[place.clone()]).unwrap()))
            .collect();
        assert_eq!(lines, [("de", german), ("en", english)]);
        assert_eq!((found.short, found.invalid), (2, 1));
    }

    #[test]
    fn evicted_hashes_are_counted() {
        let mut seen = SeenLines { young: Hashes::default(), old: Hashes::default(), capacity: 10, forgotten: 0 };
        assert!((0..25).all(|number| seen.is_new(number)));
        assert!(!seen.is_new(24) && !seen.is_new(15));
        assert_eq!(seen.forgotten, 10);
    }

    #[test]
    fn only_texts_of_a_folder_are_read_and_a_given_file_of_another_format_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        std::fs::write(root.join("a.jsonl"), "{\"text\":\"x\"}\n").unwrap();
        std::fs::write(root.join("b.vert"), "<doc>\n").unwrap();
        let inputs = text_inputs(&[root.to_owned()], None).unwrap();
        assert_eq!(inputs.iter().map(|input| input.path.clone()).collect::<Vec<_>>(), [root.join("a.jsonl")]);
        assert!(text_inputs(&[root.join("b.vert")], None).unwrap_err().to_string().contains("not "));
    }

    #[test]
    fn the_outcome_lists_the_largest_languages_first() {
        let languages = BTreeMap::from([("de", 2), ("en", 1_000)]);
        let outcome =
            LinesOutcome { bytes: 1_500_000, lines: 1_002, languages, files_known: 1, ..LinesOutcome::default() };
        assert_eq!(
            outcome.to_string(),
            "1.5 MB of text read: 1,002 lines in 2 languages (1,000 en, 2 de); 0 duplicates, 0 too short, \
             0 not valid UTF-8; 1 file imported before, 0.0 s\n"
        );
        assert_eq!(outcome.status(), Status::Done);
        assert_eq!(LinesOutcome { damaged: 1, ..outcome }.status(), Status::Partly);
    }
}
