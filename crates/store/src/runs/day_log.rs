//! The file of a day's run logs: one section for each run.
//!
//! A section is a skippable frame with the name of the run, the length of its log and a checksum of both, followed by
//! the frames of the log. The names of a day are read by skipping from header to header; `zstdcat` prints the lines of
//! all runs.
//! Sections are appended and synced before the file of the run itself is deleted, so that a crash costs no log.

use std::fs::File;
use std::io::{BufReader, Read as _, Seek as _, SeekFrom};
use std::ops::Range;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use tidings_formats::compressed::is_skippable;
use tidings_storage::Appender;
use tidings_storage::file;

use super::{FORMAT, VERSION};
use crate::error::{Context, Error, Result};
use crate::frames;

/// The length of the magic number and the size of a skippable frame.
const PREFIX_BYTES: usize = 8;
/// The maximum length of the text of a header.
const MAX_HEADER_BYTES: usize = 1 << 10;

/// The log of a run within the file of its day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Section {
    /// The run.
    pub(super) run: String,
    /// The bytes of the header and the frames.
    pub(super) bytes: Range<u64>,
}

/// The content of the file of a day.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Sections {
    /// The logs, in the order of the file.
    pub(super) sections: Vec<Section>,
    /// The end of the last section that is complete. What follows was cut by a crash.
    pub(super) end: u64,
    /// The first byte that belongs to no section, if a header is damaged.
    pub(super) damaged_at: Option<u64>,
}

/// The frame at some place of the file.
enum Found {
    Section(Section),
    /// The file ends within the header or the section.
    Cut,
    /// Bytes that are no header.
    Other,
}

/// The headers of the file that was read last. Every run asks for the runs of its day, and after hourly rounds that are
/// hundreds.
#[derive(Debug, Default)]
pub(crate) struct DayLogCache(Mutex<Option<(PathBuf, Sections)>>);

impl DayLogCache {
    /// Reads the headers of a file, of which those that are known need not be read again: files are only appended to.
    pub(super) fn read(&self, path: &Path) -> Result<Sections> {
        let mut cached = self.0.lock().expect("no panic while held");
        let known = cached.take().filter(|(known, _)| known == path).map(|(_, sections)| sections).unwrap_or_default();
        let mut found = read_after(path, known)?;
        if found.damaged_at.is_some() {
            found = read(path)?;
        }
        *cached = found.damaged_at.is_none().then(|| (path.to_owned(), found.clone()));
        Ok(found)
    }

    /// Forgets what is known, before sections are overwritten.
    fn clear(&self) {
        *self.0.lock().expect("no panic while held") = None;
    }
}

/// Reads the headers of a file; a missing file has none.
pub(super) fn read(path: &Path) -> Result<Sections> {
    read_after(path, Sections::default())
}

/// Reads the headers of a file after those that are known.
fn read_after(path: &Path, known: Sections) -> Result<Sections> {
    let file = match File::open(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Sections::default()),
        file => file.context("open", path)?,
    };
    let len = file.metadata().context("inspect", path)?.len();
    let mut found = if known.end <= len { known } else { Sections::default() };
    let mut at = found.end;
    while at < len {
        at = match header_at(&file, path, at, len)? {
            Found::Section(section) => {
                found.end = section.bytes.end;
                found.sections.push(section);
                found.end
            }
            other => {
                let rest = rest_of(&file, path, at)?;
                let next = next_header(&rest).map(|next| at + next as u64);
                if next.is_none() && (matches!(other, Found::Cut) || is_blank(&rest)) {
                    break;
                }
                found.damaged_at = found.damaged_at.or(Some(at));
                found.end = next.unwrap_or(len);
                found.end
            }
        };
    }
    Ok(found)
}

/// Whether a stretch is a part of a header and zeros: after a power failure a file may have its new length without the
/// bytes.
fn is_blank(bytes: &[u8]) -> bool {
    let written = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    written < bytes.len() && written <= PREFIX_BYTES + MAX_HEADER_BYTES
}

/// The header of a section.
fn header(run: &str, bytes: u64) -> Vec<u8> {
    let sum = checksum(&format!("tidings {FORMAT} {VERSION}\n{run} {bytes}"));
    frames::header(FORMAT, VERSION, &format!("{run} {bytes} {sum}"))
}

fn checksum(text: &str) -> String {
    format!("{:08x}", xxhash_rust::xxh3::xxh3_64(text.as_bytes()) as u32)
}

/// The run and the length in the text of a header; `None` if it is damaged.
fn parse_header(text: &[u8]) -> Option<(String, u64)> {
    let (text, sum) = std::str::from_utf8(text).ok()?.rsplit_once(' ')?;
    let (run, bytes) = text.split_once('\n')?.1.split_once(' ')?;
    (sum == checksum(text)).then_some((run.to_owned(), bytes.parse().ok()?))
}

/// The offset of the next header after the first byte.
fn next_header(bytes: &[u8]) -> Option<usize> {
    let words = format!("tidings {FORMAT} ");
    let found = memchr::memmem::find_iter(bytes, words.as_bytes()).filter_map(|at| at.checked_sub(PREFIX_BYTES));
    found.into_iter().find(|at| *at > 0 && is_skippable(&bytes[*at..]))
}

fn header_at(file: &File, path: &Path, at: u64, len: u64) -> Result<Found> {
    let mut head = [0; PREFIX_BYTES + MAX_HEADER_BYTES];
    let available = head.len().min((len - at) as usize);
    file.read_exact_at(&mut head[..available], at).context("read", path)?;
    let head = &head[..available];
    let Some((prefix, rest)) = head.split_at_checked(PREFIX_BYTES) else { return Ok(Found::Cut) };
    let size = u32::from_le_bytes([prefix[4], prefix[5], prefix[6], prefix[7]]) as usize;
    if !is_skippable(prefix) || size > MAX_HEADER_BYTES {
        return Ok(Found::Other);
    }
    if size > rest.len() {
        return Ok(Found::Cut);
    }
    let Some((run, bytes)) = parse_header(&rest[..size]) else { return Ok(Found::Other) };
    frames::read_header(&head[..PREFIX_BYTES + size], FORMAT, VERSION, path)?;
    let start = at + (PREFIX_BYTES + size) as u64;
    match start.checked_add(bytes).filter(|end| *end <= len) {
        Some(end) => Ok(Found::Section(Section { run, bytes: at..end })),
        None => Ok(Found::Cut),
    }
}

fn rest_of(mut file: &File, path: &Path, at: u64) -> Result<Vec<u8>> {
    let mut rest = Vec::new();
    file.seek(SeekFrom::Start(at)).context("read", path)?;
    file.read_to_end(&mut rest).context("read", path)?;
    Ok(rest)
}

/// Moves the log of a run, a file of its own, to the end of the file of its day. Idempotent: a crash in between is
/// repaired by the next call.
pub(super) fn append(day: &Path, run: &str, log: &Path, cache: &DayLogCache) -> Result<()> {
    file::make_folder(file::parent(day))?;
    let is_new = !day.exists();
    // Shards of one division end their runs independently.
    let lock = file::no_follow().create(true).append(true).open(day).context("open", day)?;
    lock.lock().context("lock", day)?;
    if is_new {
        file::sync_folder(file::parent(day))?;
    }
    let known = cache.read(day)?;
    let end = match known.sections.iter().position(|section| section.run == run) {
        // A crash may have left an incomplete section of the right length.
        Some(last) if last + 1 == known.sections.len() => {
            cache.clear();
            known.sections[last].bytes.start
        }
        Some(_) => return Ok(file::discard(log)?),
        None => known.end,
    };
    let (mut frames, bytes) = frames_of(log)?;
    let mut file = Appender::reopen(day, end)?;
    file.append(&header(run, bytes))?;
    let mut buffer = vec![0; bytes.clamp(1, 1 << 18) as usize];
    loop {
        match frames.read(&mut buffer).context("read", log)? {
            0 => break,
            read => file.append(&buffer[..read])?,
        }
    }
    file.sync()?;
    // If a power failure brings it back, the section of its name is known.
    Ok(file::discard(log)?)
}

/// The frames of a log without its header, and their length.
fn frames_of(path: &Path) -> Result<(File, u64)> {
    let mut file = File::open(path).context("open", path)?;
    let len = file.metadata().context("inspect", path)?.len();
    let mut head = Vec::new();
    (&mut file).take((PREFIX_BYTES + MAX_HEADER_BYTES) as u64).read_to_end(&mut head).context("read", path)?;
    let mut start = 0;
    if let (true, Some(&[a, b, c, d])) = (is_skippable(&head), head.get(4..PREFIX_BYTES)) {
        start = PREFIX_BYTES + u32::from_le_bytes([a, b, c, d]) as usize;
        if let Some(header) = head.get(..start) {
            frames::read_header(header, FORMAT, VERSION, path)?;
        }
    }
    let start = (start as u64).min(len);
    file.seek(SeekFrom::Start(start)).context("read", path)?;
    Ok((file, len - start))
}

/// Opens a section for reading, packed.
pub(super) fn open(path: &Path, bytes: &Range<u64>) -> Result<BufReader<std::io::Take<File>>> {
    let mut file = File::open(path).context("open", path)?;
    file.seek(SeekFrom::Start(bytes.start)).context("read", path)?;
    Ok(BufReader::with_capacity(1 << 16, file.take(bytes.end - bytes.start)))
}

/// Rejects a file with bytes that belong to no run.
pub(super) fn check(path: &Path) -> Result<()> {
    match read(path)?.damaged_at {
        Some(at) => Err(Error::Damaged { path: PathBuf::from(path), at: format!("at byte {at}") }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frames::FrameEncoder;
    use std::fs;

    /// Writes the log of a run as a file of its own.
    fn log(folder: &Path, run: &str, text: &str) -> PathBuf {
        let path = folder.join(format!("{run}.part"));
        let mut bytes = frames::header(FORMAT, 1, "");
        bytes.extend(FrameEncoder::new(3).encode(text.as_bytes()));
        fs::write(&path, bytes).unwrap();
        path
    }

    fn append(day: &Path, run: &str, log: &Path) -> Result<()> {
        super::append(day, run, log, &DayLogCache::default())
    }

    fn names(path: &Path) -> Vec<String> {
        read(path).unwrap().sections.into_iter().map(|section| section.run).collect()
    }

    fn text(path: &Path, run: &str) -> String {
        let sections = read(path).unwrap().sections;
        let section = sections.into_iter().find(|section| section.run == run).unwrap();
        let reader = open(path, &section.bytes).unwrap();
        std::io::read_to_string(frames::decompressed(Box::new(reader), path).unwrap()).unwrap()
    }

    /// A day of two runs.
    fn day() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let day = folder.path().join("runs/day");
        for run in ["a", "b"] {
            append(&day, run, &log(folder.path(), run, &format!("of {run}\n"))).unwrap();
        }
        (folder, day)
    }

    #[test]
    fn the_logs_of_a_day_are_one_file() {
        let (folder, day) = day();
        assert_eq!(names(&day), ["a", "b"]);
        assert_eq!((text(&day, "a").as_str(), text(&day, "b").as_str()), ("of a\n", "of b\n"));
        assert!(!folder.path().join("a.part").exists());
        let all = std::io::read_to_string(frames::open_any(&day).unwrap()).unwrap();
        assert_eq!(all, "of a\nof b\n", "zstdcat reads the lines of all runs");
        check(&day).unwrap();
    }

    #[test]
    fn known_headers_are_not_read_again_unless_the_file_has_become_another() {
        let (folder, day) = day();
        let cache = DayLogCache::default();
        assert_eq!(cache.read(&day).unwrap(), read(&day).unwrap());
        append(&day, "c", &log(folder.path(), "c", "of c\n")).unwrap();
        assert_eq!(cache.read(&day).unwrap().sections.len(), 3);
        // A damaged header that is known is not read.
        let whole = fs::read(&day).unwrap();
        let mut damaged = whole.clone();
        damaged[1] ^= 1;
        fs::write(&day, &damaged).unwrap();
        assert_eq!(cache.read(&day).unwrap().sections.len(), 3);
        let end = read(&day).unwrap().sections[0].bytes.start as usize;
        fs::write(&day, &whole[..end]).unwrap();
        assert_eq!(cache.read(&day).unwrap(), read(&day).unwrap(), "the file is shorter");
        fs::remove_file(&day).unwrap();
        assert_eq!(cache.read(&day).unwrap(), Sections::default());
    }

    #[test]
    fn a_crash_at_any_byte_of_an_append_costs_no_log() {
        let (folder, day) = day();
        let whole = fs::read(&day).unwrap();
        let start = read(&day).unwrap().sections[1].bytes.start as usize;
        for cut in start..=whole.len() {
            // Either the bytes are missing, or the file has its length and zeros.
            for padding in [0, whole.len() - cut] {
                let mut bytes = whole[..cut].to_vec();
                bytes.resize(cut + padding, 0);
                fs::write(&day, bytes).unwrap();
                append(&day, "b", &log(folder.path(), "b", "of b\n")).unwrap();
                assert_eq!(names(&day), ["a", "b"], "cut at {cut}");
                assert_eq!((text(&day, "a").as_str(), text(&day, "b").as_str()), ("of a\n", "of b\n"), "{cut}");
            }
        }
    }

    #[test]
    fn a_log_that_is_already_in_its_day_is_not_appended_twice() {
        let (folder, day) = day();
        let before = fs::read(&day).unwrap();
        let again = log(folder.path(), "a", "of a\n");
        append(&day, "a", &again).unwrap();
        assert!(!again.exists());
        assert_eq!(fs::read(&day).unwrap(), before);
    }

    #[test]
    fn a_damaged_header_hides_one_run_and_is_reported() {
        let (folder, day) = day();
        let mut bytes = fs::read(&day).unwrap();
        bytes[1] ^= 1;
        fs::write(&day, bytes).unwrap();
        assert_eq!((names(&day), text(&day, "b")), (vec!["b".to_owned()], "of b\n".to_owned()));
        let error = check(&day).unwrap_err().to_string();
        assert!(error.contains("is damaged at byte 0"), "{error}");
        append(&day, "c", &log(folder.path(), "c", "of c\n")).unwrap();
        assert_eq!(names(&day), ["b", "c"]);
    }

    #[test]
    fn a_flipped_bit_in_a_header_hides_that_run_only() {
        let (folder, day) = day();
        let bytes = fs::read(&day).unwrap();
        let header = header("a", 0).len() - 8;
        for bit in 8..8 * header {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            fs::write(&day, damaged).unwrap();
            append(&day, "c", &log(folder.path(), "c", "of c\n")).unwrap();
            assert!(names(&day).ends_with(&["b".to_owned(), "c".to_owned()]), "bit {bit}: {:?}", names(&day));
            assert_eq!((text(&day, "b"), text(&day, "c")), ("of b\n".to_owned(), "of c\n".to_owned()), "bit {bit}");
        }
    }

    #[test]
    fn a_section_of_a_newer_version_is_rejected() {
        let (_folder, day) = day();
        let mut bytes = fs::read(&day).unwrap();
        let sum = checksum(&format!("tidings {FORMAT} {}\nc 0", VERSION + 1));
        bytes.extend(frames::header(FORMAT, VERSION + 1, &format!("c 0 {sum}")));
        fs::write(&day, bytes).unwrap();
        assert!(matches!(read(&day), Err(Error::Newer { .. })));
    }
}
