//! `tidings import --lines`: the text of WET files and of texts, a file of lines for each language, no line twice.
//!
//! A line that is long enough and valid is text of one language or of none that can be told. Lines are told apart by
//! 64 bits of a hash; within the memory that is given, which holds about 40 million of them a GiB, none comes twice. The
//! same inputs in the same order give the same files, whatever the number of cores, and however often the run was stopped and
//! begun again: the folder knows which inputs it was filled from, and goes on behind them.

use std::collections::{BTreeMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};
use std::io::{BufRead, Read as _};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use serde_json::json;
use tidings_lang::tell_lines;
use tidings_store::Packer;
use tidings_store::doors::by_language::ByLanguage;
use tidings_store::doors::ledger::{self, Input};
use tidings_store::doors::records::{Met, Place, Records};
use xxhash_rust::xxh3::xxh3_64;

use super::kind::{Kind, Named};
use super::{Args, Report, name_of, opened};
use crate::console;
use tidings_pipeline::display::{count, grouped, span};
use tidings_pipeline::parallel::cores;
use tidings_pipeline::parallel::{self, Bounds};

/// What one worker gets at once.
const CHUNK_BYTES: usize = 1 << 20;
/// Text that is packed together.
const FRAME_BYTES: usize = 4 << 20;
/// Chunks that may be under way.
const UNDER_WAY_BYTES: usize = 64 << 20;
/// Records that hold more are no text.
const MAX_TEXT_BYTES: u64 = 64 << 20;
/// Lines of texts that are longer are none.
const MAX_LINE_BYTES: u64 = 64 << 20;
/// Text that was read when a step is due, at the end of an input.
const STEP_BYTES: u64 = 64 << 20;
/// How hard lines are packed: telling languages is quick, and packing should not take longer.
const LEVEL: i32 = 3;
/// What a line that is remembered takes.
const BYTES_A_LINE: usize = 26;

/// What became of lines.
#[derive(Debug, Default)]
struct Sorted {
    /// Lines by language, each with its hash and its place in the text.
    lines: Vec<(&'static str, u64, Range<usize>)>,
    text: Vec<u8>,
    short: u64,
    invalid: u64,
}

pub fn run(args: &Args, inputs: &[Named], folder: &Path) -> Result<Report> {
    if let Some(other) = inputs.iter().find(|input| !matches!(input.kind, Kind::Warc | Kind::Jsonl)) {
        bail!("--lines takes WET files and JSON lines with text, not {}", other.path.display());
    }
    let began = Instant::now();
    let mut writer = Writer::open(folder, args)?;
    let progress = console::progress("files", inputs.len() as u64);
    let threads = args.threads.map_or_else(cores, usize::from);
    let (mut bytes, mut damaged, mut known) = (0u64, 0u64, 0u64);
    for (number, input) in inputs.iter().enumerate() {
        progress.show(number as u64, &input.path.display().to_string());
        let entry = Input::of(&input.path, &name_of(&input.path))?;
        if writer.knows(&entry) {
            known += 1;
            writer.read_to_end(&input.path, None, 0)?;
            continue;
        }
        let mut texts = Texts::open(input)?;
        let before = bytes;
        parallel::ordered(
            Bounds { threads, weight: UNDER_WAY_BYTES },
            || {
                let chunk = texts.chunk()?;
                Ok(chunk.map(|chunk| {
                    let weight = chunk.0.len();
                    (chunk, weight)
                }))
            },
            |(text, ends)| (text.len() as u64, sort(text, &ends, args.min_chars)),
            |(read, sorted)| {
                bytes += read;
                writer.write(&sorted)
            },
        )?;
        damaged += texts.damaged;
        writer.read_to_end(&input.path, Some(entry), bytes - before)?;
    }
    let Written { languages, again, short, invalid, forgotten } = writer.finish()?;
    let seconds = began.elapsed().as_secs_f64();
    let lines: u64 = languages.values().sum();
    if forgotten > 0 {
        log::warn!(
            "{} were forgotten for lack of memory, so that some may come twice; --memory gives more",
            count(forgotten, "line")
        );
    }
    let mut ranked: Vec<(&&str, &u64)> = languages.iter().collect();
    ranked.sort_by_key(|(code, number)| (std::cmp::Reverse(**number), **code));
    let most: Vec<String> =
        ranked.iter().take(5).map(|(code, number)| format!("{} {code}", grouped(**number))).collect();
    let text = format!(
        "{} of text read: {} in {}{}; {} were there before, {} too short, {} not valid UTF-8{}, {}\n",
        megabytes(bytes),
        count(lines, "line"),
        count(languages.len() as u64, "language"),
        if most.is_empty() { String::new() } else { format!(" ({})", most.join(", ")) },
        grouped(again),
        grouped(short),
        grouped(invalid),
        if known > 0 { format!("; {} imported before", count(known, "file")) } else { String::new() },
        span(began.elapsed()),
    );
    let json = json!({
        "done": true, "files": inputs.len() as u64 - known, "files_known": known, "bytes": bytes, "lines": lines, "languages": languages, "again": again,
        "short": short, "invalid": invalid, "forgotten": forgotten, "damaged": damaged, "seconds": seconds,
    });
    Ok(Report { text, json, failed: false, partly: damaged > 0 })
}

fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}

/// The texts of an input, in chunks of whole ones.
struct Texts {
    source: TextSource,
    damaged: u64,
}

enum TextSource {
    Wet(Box<Records>),
    Json(Box<dyn BufRead + Send>),
}

impl Texts {
    fn open(input: &Named) -> Result<Texts> {
        let source = match input.kind {
            Kind::Warc => TextSource::Wet(Box::new(Records::open(&input.path, Place::default())?)),
            _ => TextSource::Json(opened(&input.path)?),
        };
        Ok(Texts { source, damaged: 0 })
    }

    fn chunk(&mut self) -> Result<Option<(Vec<u8>, Vec<usize>)>> {
        let (mut chunk, mut ends) = (Vec::new(), Vec::new());
        while chunk.len() < CHUNK_BYTES {
            match &mut self.source {
                TextSource::Wet(records) => {
                    let is_text = |head: &tidings_store::doors::records::Head| match head.kind() {
                        "conversion" => Ok(MAX_TEXT_BYTES),
                        _ => Err("no text"),
                    };
                    match records.next(is_text) {
                        Some(Met::Record(record)) => {
                            chunk.extend_from_slice(&record.block);
                            chunk.push(b'\n');
                            ends.push(chunk.len());
                        }
                        Some(Met::Skipped(_)) => {}
                        Some(Met::Damage(what)) => {
                            log::warn!("{what}; going on behind it");
                            self.damaged += 1;
                        }
                        None => break,
                    }
                }
                TextSource::Json(reader) => {
                    #[derive(serde::Deserialize)]
                    struct Line {
                        text: String,
                    }
                    let mut line = Vec::new();
                    if reader.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut line).context("cannot read on")? == 0
                    {
                        break;
                    }
                    match serde_json::from_slice::<Line>(&line) {
                        Ok(line) => {
                            chunk.extend_from_slice(line.text.as_bytes());
                            chunk.push(b'\n');
                            ends.push(chunk.len());
                        }
                        Err(_) if line.iter().all(u8::is_ascii_whitespace) => {}
                        Err(_) => self.damaged += 1,
                    }
                }
            }
        }
        Ok(Some((chunk, ends)).filter(|(chunk, _)| !chunk.is_empty()))
    }
}

/// Tells the language of every line of some texts, which lie one behind the other and end where `ends` says.
fn sort(text: Vec<u8>, ends: &[usize], min_chars: usize) -> Sorted {
    let mut sorted = Sorted::default();
    let mut start = 0;
    for end in ends {
        sort_one(&text, start..*end, min_chars, &mut sorted);
        start = *end;
    }
    sorted.text = text;
    sorted
}

fn sort_one(all: &[u8], place: Range<usize>, min_chars: usize, sorted: &mut Sorted) {
    let mut start = place.start;
    let (mut lines, mut places): (Vec<&str>, Vec<usize>) = Default::default();
    for line in all[place].split(|byte| *byte == b'\n') {
        let from = start;
        start += line.len() + 1;
        // A line of so few bytes cannot have more characters.
        if line.len() < min_chars {
            sorted.short += u64::from(!line.trim_ascii().is_empty());
            continue;
        }
        let Ok(valid) = std::str::from_utf8(line) else {
            sorted.invalid += 1;
            continue;
        };
        let trimmed = valid.trim();
        if trimmed.is_empty() {
            continue;
        }
        if trimmed.chars().count() < min_chars {
            sorted.short += 1;
            continue;
        }
        lines.push(trimmed);
        places.push(from + valid.len() - valid.trim_start().len());
    }
    for ((line, begin), language) in lines.iter().zip(places).zip(tell_lines(&lines)) {
        sorted.lines.push((language, xxh3_64(line.as_bytes()), begin..begin + line.len()));
    }
}

/// Hashes are hashed already.
#[derive(Default)]
struct AsIs(u64);

impl Hasher for AsIs {
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

type Hashes = HashSet<u64, BuildHasherDefault<AsIs>>;

/// Lines that were there before: two generations, of which the older is forgotten when the younger is full.
struct Memory {
    young: Hashes,
    old: Hashes,
    room: usize,
    forgotten: u64,
}

impl Memory {
    fn is_new(&mut self, hash: u64) -> bool {
        if self.old.contains(&hash) || !self.young.insert(hash) {
            return false;
        }
        if self.young.len() >= self.room {
            self.forgotten += self.old.len() as u64;
            self.old = std::mem::take(&mut self.young);
        }
        true
    }
}

/// The files of lines while they are written. A dry run has none.
struct Writer {
    folder: Option<ByLanguage>,
    /// Lines that wait until there are enough of them to be packed, by language.
    waiting: BTreeMap<&'static str, Vec<u8>>,
    memory: Memory,
    packer: Packer,
    /// Inputs that were read since the last step, and those of them that are to be removed.
    inputs: Vec<Input>,
    remove: Option<Vec<PathBuf>>,
    bytes: u64,
    step_bytes: u64,
    written: Written,
}

#[derive(Default)]
struct Written {
    languages: BTreeMap<&'static str, u64>,
    again: u64,
    short: u64,
    invalid: u64,
    forgotten: u64,
}

impl Writer {
    fn open(folder: &Path, args: &Args) -> Result<Writer> {
        let room = ((args.memory << 20) / BYTES_A_LINE / 2).max(1024);
        let mut memory = Memory { young: Hashes::default(), old: Hashes::default(), room, forgotten: 0 };
        let folder = if args.dry_run { None } else { Some(ByLanguage::open(folder, args.again)?) };
        if let Some(folder) = &folder {
            folder.lines(|line| {
                memory.is_new(xxh3_64(line));
            })?;
        }
        Ok(Writer {
            folder,
            waiting: BTreeMap::new(),
            memory,
            packer: Packer::new(LEVEL),
            inputs: Vec::new(),
            remove: args.remove.then(Vec::new),
            bytes: 0,
            step_bytes: args.step_kib.map_or(STEP_BYTES, |kib| (kib as u64) << 10),
            written: Written::default(),
        })
    }

    fn knows(&self, input: &Input) -> bool {
        self.folder.as_ref().is_some_and(|folder| folder.knows(input))
    }

    fn write(&mut self, sorted: &Sorted) -> Result<()> {
        self.written.short += sorted.short;
        self.written.invalid += sorted.invalid;
        for (language, hash, place) in &sorted.lines {
            if !self.memory.is_new(*hash) {
                self.written.again += 1;
                continue;
            }
            *self.written.languages.entry(language).or_default() += 1;
            let Some(folder) = &mut self.folder else { continue };
            let waiting = self.waiting.entry(language).or_default();
            waiting.extend_from_slice(&sorted.text[place.clone()]);
            waiting.push(b'\n');
            if waiting.len() >= FRAME_BYTES {
                folder.append(language, &self.packer.pack(waiting))?;
                waiting.clear();
            }
        }
        Ok(())
    }

    /// Says that an input has come to its end, now or in an earlier run, with so many bytes of text; ends a step if one is due.
    fn read_to_end(&mut self, path: &Path, input: Option<Input>, bytes: u64) -> Result<()> {
        self.inputs.extend(input);
        if let Some(remove) = &mut self.remove {
            remove.push(path.to_owned());
        }
        self.bytes += bytes;
        if self.bytes >= self.step_bytes { self.step() } else { Ok(()) }
    }

    /// Makes all that was written durable; inputs that nobody needs any more are removed then.
    fn step(&mut self) -> Result<()> {
        self.bytes = 0;
        let Some(folder) = &mut self.folder else { return Ok(()) };
        for (language, lines) in self.waiting.iter_mut().filter(|(_, lines)| !lines.is_empty()) {
            folder.append(language, &self.packer.pack(lines))?;
            lines.clear();
        }
        if !self.inputs.is_empty() {
            folder.step(std::mem::take(&mut self.inputs))?;
        }
        for path in self.remove.iter_mut().flat_map(|paths| paths.drain(..)) {
            ledger::remove_input(&path)?;
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Written> {
        self.step()?;
        self.written.forgotten = self.memory.forgotten;
        Ok(self.written)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_in_characters_and_sorted_by_language() {
        let german = "Der Fluss ist in der Nacht über die Ufer getreten, und die Feuerwehr hat zwei Straßen gesperrt.";
        let english = "The river rose again during the night, and the fire brigade had to close two of the roads.";
        let text = format!("{german}\n  {english}  \nHome\n\n{}\n", "ä".repeat(40));
        let mut bytes = text.into_bytes();
        bytes.extend(b"not valid \xff but long enough to be a line of text, if it were one at all\n");
        let ends = [bytes.len()];
        let sorted = sort(bytes, &ends, 50);
        let lines: Vec<(&str, &str)> = sorted
            .lines
            .iter()
            .map(|(language, _, place)| (*language, std::str::from_utf8(&sorted.text[place.clone()]).unwrap()))
            .collect();
        assert_eq!(lines, [("de", german), ("en", english)]);
        assert_eq!((sorted.short, sorted.invalid), (2, 1));
    }

    #[test]
    fn what_was_forgotten_is_counted() {
        let mut memory = Memory { young: Hashes::default(), old: Hashes::default(), room: 10, forgotten: 0 };
        assert!((0..25).all(|number| memory.is_new(number)));
        assert!(!memory.is_new(24) && !memory.is_new(15));
        assert_eq!(memory.forgotten, 10);
    }
}
