//! The table of input formats, and format detection: by file name, then by the first bytes.

use std::io::{BufRead as _, Read as _};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{Context as _, Result, bail};
use tidings_formats::zip;
use tidings_formats::{compressed, saved_page};
use tidings_store::input_files;

use super::objects::{self, Listed};

/// The formats that an import reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportFormat {
    /// WARC and WET.
    Warc,
    /// WARC files in a ZIP file, as browsers record them.
    Wacz,
    /// JSON lines of raw pages.
    Pages,
    /// Saved web pages.
    Html,
    /// JSON lines with a text each.
    Jsonl,
    /// Tokens in the vertical format.
    Vertical,
    /// CoNLL-U and CoNLL-U Plus.
    Conllu,
    /// Annotated text in TEI.
    Tei,
    /// A list of feeds.
    Opml,
    /// A plan of FeedFetcher or of another home.
    Plan,
}

/// A row of the table of formats.
#[derive(Debug, Clone, Copy)]
pub struct FormatRow {
    /// The format.
    pub format: ImportFormat,
    /// Its name on the command line.
    pub name: &'static str,
    /// The description in help texts.
    pub help: &'static str,
    /// File name extensions, in lower case and without those of compression.
    pub endings: &'static [&'static str],
}

/// The table of formats.
pub const FORMATS: [FormatRow; 10] = {
    const fn row(
        format: ImportFormat,
        name: &'static str,
        help: &'static str,
        endings: &'static [&'static str],
    ) -> FormatRow {
        FormatRow { format, name, help, endings }
    }
    [
        row(ImportFormat::Warc, "warc", "Web archives (WARC and WET), compressed or not", &[".warc", ".wet"]),
        row(ImportFormat::Wacz, "wacz", "WACZ: web archives in a ZIP file", &[".wacz"]),
        row(ImportFormat::Pages, "pages", "JSON lines of raw pages, from FeedFetcher or another home", &[]),
        row(ImportFormat::Html, "html", "Saved web pages: files or folders", &[".html", ".htm", ".xhtml"]),
        row(ImportFormat::Jsonl, "jsonl", "JSON lines, one text per line", &[]),
        row(ImportFormat::Vertical, "vertical", "Tokens in the vertical format", &[".vert", ".vrt", ".vertical"]),
        row(ImportFormat::Conllu, "conllu", "Tokens in CoNLL-U or CoNLL-U Plus", &[".conllu", ".conllup"]),
        row(ImportFormat::Tei, "tei", "Annotated text in TEI", &[".tei.xml", ".tei"]),
        row(ImportFormat::Opml, "opml", "A feed list, for feeds.txt", &[".opml"]),
        row(ImportFormat::Plan, "plan", "A plan from FeedFetcher or another home", &[]),
    ]
};

impl FromStr for ImportFormat {
    type Err = String;

    fn from_str(name: &str) -> Result<ImportFormat, String> {
        let row = FORMATS.iter().find(|row| row.name == name);
        row.map(|row| row.format)
            .ok_or_else(|| format!("unknown format; give one of {}", FORMATS.map(|row| row.name).join(", ")))
    }
}

/// An input and its format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputPath {
    /// The file or folder.
    pub path: PathBuf,
    /// Its format.
    pub format: ImportFormat,
}

/// Extensions of companion files without data of their own, written by exports and archives.
const COMPANIONS: [&str; 4] = [".manifest.json", ".registry", ".cdxj", ".cdx"];

/// The number of bytes read to detect a format.
const PEEK_BYTES: u64 = 64 << 10;

/// The inputs of an import.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Inputs {
    /// Inputs, those of a folder in the order of their names.
    pub known: Vec<InputPath>,
    /// Files in folders whose format is unknown.
    pub unknown: Vec<PathBuf>,
}

/// Expands paths to inputs. A folder expands to all of its files with a known format; the web pages in it are one input
/// with the name of the folder.
pub fn expand(paths: &[PathBuf], given: Option<ImportFormat>) -> Result<Inputs> {
    let mut inputs = Inputs::default();
    for path in paths {
        if let Some(listed) = objects::expand(path)? {
            inputs.take_objects(listed, given)?;
            continue;
        }
        if !path.exists() {
            bail!("{} not found", path.display());
        }
        match (path.is_dir(), given) {
            (true, None) => inputs.take_folder(path)?,
            (true, Some(format)) if format != ImportFormat::Html => {
                inputs.known.extend(input_files::files_under(path)?.into_iter().map(|path| InputPath { path, format }));
            }
            (_, Some(format)) => inputs.known.push(InputPath { path: path.clone(), format }),
            (false, None) => inputs.known.push(InputPath { path: path.clone(), format: detect(path)? }),
        }
    }
    Ok(inputs)
}

impl Inputs {
    /// Adds objects; those that were not named one by one like the files of a folder.
    fn take_objects(&mut self, listed: Listed, given: Option<ImportFormat>) -> Result<()> {
        let paths = match (listed, given) {
            (Listed::One(path), given) => {
                let format = given.map_or_else(|| detect(&path), Ok)?;
                self.known.push(InputPath { path, format });
                return Ok(());
            }
            (Listed::Many(paths), Some(format)) => {
                self.known.extend(paths.into_iter().map(|path| InputPath { path, format }));
                return Ok(());
            }
            (Listed::Many(paths), None) => paths,
        };
        for path in paths {
            match by_name(&path) {
                _ if COMPANIONS.iter().any(|ending| bare_name(&path).ends_with(ending)) => {}
                Some(format) => self.known.push(InputPath { path, format }),
                None if is_json(&path) => match detect(&path) {
                    Ok(format) => self.known.push(InputPath { path, format }),
                    Err(error) if is_unavailable(&error) => return Err(error),
                    Err(_) => self.unknown.push(path),
                },
                None => self.unknown.push(path),
            }
        }
        Ok(())
    }

    fn take_folder(&mut self, folder: &Path) -> Result<()> {
        let mut has_pages = false;
        for path in input_files::files_under(folder)? {
            let is_deep = path.parent() != Some(folder);
            match by_name(&path) {
                _ if COMPANIONS.iter().any(|ending| bare_name(&path).ends_with(ending)) => {}
                // A mirror of a site contains feed lists that are part of the site.
                Some(ImportFormat::Opml | ImportFormat::Plan) if is_deep => self.unknown.push(path),
                _ if saved_page::is_saved_page(&path) => has_pages = true,
                Some(format) if format != ImportFormat::Html => self.known.push(InputPath { path, format }),
                // A JSON file in a subfolder is data of a mirrored site.
                None if is_json(&path) && !(is_deep && bare_name(&path).ends_with(".json")) => match detect(&path) {
                    Ok(format) => self.known.push(InputPath { path, format }),
                    Err(_) => self.unknown.push(path),
                },
                _ => self.unknown.push(path),
            }
        }
        if has_pages {
            self.known.push(InputPath { path: folder.to_owned(), format: ImportFormat::Html });
        }
        Ok(())
    }
}

fn bare_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let bare = [".gz", ".zst", ".zstd"].iter().find_map(|ending| name.strip_suffix(ending));
    bare.map(str::to_owned).unwrap_or(name)
}

fn by_name(path: &Path) -> Option<ImportFormat> {
    let name = bare_name(path);
    if matches!(name.as_str(), "plan.tsv" | "plan.txt") {
        return Some(ImportFormat::Plan);
    }
    let has_ending = |row: &&FormatRow| row.endings.iter().any(|ending| name.ends_with(ending));
    FORMATS.iter().find(has_ending).map(|row| row.format)
}

fn is_json(path: &Path) -> bool {
    let name = bare_name(path);
    [".jsonl", ".ndjson", ".json"].iter().any(|ending| name.ends_with(ending))
}

/// Whether an error is one of an object store.
fn is_unavailable(error: &anyhow::Error) -> bool {
    let mut causes = error.chain().filter_map(|cause| cause.downcast_ref::<tidings_model::FileError>());
    causes.any(|error| tidings_storage::source::is_unavailable(&error.source.0))
}

fn detect(path: &Path) -> Result<ImportFormat> {
    if let Some(format) = by_name(path) {
        return Ok(format);
    }
    let mut first = Vec::new();
    let mut reader = compressed::open(path)?;
    if zip::is_zip(reader.fill_buf().unwrap_or_default()) {
        return Ok(ImportFormat::Wacz);
    }
    reader.take(PEEK_BYTES).read_to_end(&mut first).with_context(|| format!("cannot read {}", path.display()))?;
    let text = String::from_utf8_lossy(&first);
    by_content(text.trim_start_matches('\u{feff}').trim_start())
        .with_context(|| format!("{}: unknown file format; use --from FORMAT", path.display()))
}

fn by_content(text: &str) -> Option<ImportFormat> {
    let lower = text.get(..text.floor_char_boundary(512)).unwrap_or_default().to_ascii_lowercase();
    if text.starts_with("WARC/") {
        return Some(ImportFormat::Warc);
    }
    if text.starts_with('{') {
        let line = text.lines().next().unwrap_or_default();
        // A long first line is cut; its field names are present nevertheless.
        let has = |name: &str| line.contains(&format!("\"{name}\""));
        return match () {
            () if has("body") || has("body_base64") => Some(ImportFormat::Pages),
            () if has("text") || has("paragraphs") => Some(ImportFormat::Jsonl),
            () if has("url") && line.len() as u64 + 1 >= PEEK_BYTES => Some(ImportFormat::Pages),
            () => None,
        };
    }
    if lower.contains("<opml") {
        return Some(ImportFormat::Opml);
    }
    if lower.contains("<tei") {
        return Some(ImportFormat::Tei);
    }
    if lower.starts_with("<doc") || lower.starts_with("<s>") || lower.starts_with("<p>\n") {
        return Some(ImportFormat::Vertical);
    }
    if lower.contains("<html") || lower.contains("<!doctype html") {
        return Some(ImportFormat::Html);
    }
    let columns = text.lines().find(|line| !line.starts_with('#'))?.split('\t').count();
    match columns {
        8 if text.lines().next().is_some_and(|line| line.split('\t').next().is_some_and(is_number)) => {
            Some(ImportFormat::Plan)
        }
        10 => Some(ImportFormat::Conllu),
        _ if text.starts_with("# global.columns") => Some(ImportFormat::Conllu),
        _ => None,
    }
}

fn is_number(text: &str) -> bool {
    text.parse::<u32>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_is_found_by_its_name_and_extensions_are_unique() {
        for row in FORMATS {
            assert_eq!(row.name.parse(), Ok(row.format));
        }
        assert!("docx".parse::<ImportFormat>().unwrap_err().contains("warc, wacz"));
        let mut endings: Vec<&str> = FORMATS.iter().flat_map(|row| row.endings).copied().collect();
        let all = endings.len();
        endings.sort_unstable();
        endings.dedup();
        assert_eq!(endings.len(), all);
    }

    #[test]
    fn a_folder_expands_to_its_files_and_its_web_pages_are_one_input() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        std::fs::create_dir(root.join("site")).unwrap();
        for name in ["b.warc.gz", "a.vert", "a.vert.registry", "site/page.html", "site/feeds.opml", "notes.bin"] {
            std::fs::write(root.join(name), "x").unwrap();
        }
        let inputs = expand(&[root.to_owned()], None).unwrap();
        let known: Vec<_> = inputs
            .known
            .iter()
            .map(|input| (input.path.strip_prefix(root).unwrap().to_owned(), input.format))
            .collect();
        assert_eq!(
            known,
            [
                ("a.vert".into(), ImportFormat::Vertical),
                ("b.warc.gz".into(), ImportFormat::Warc),
                ("".into(), ImportFormat::Html)
            ]
        );
        assert_eq!(inputs.unknown, [root.join("notes.bin"), root.join("site/feeds.opml")]);
        assert!(expand(&[root.join("absent")], None).is_err());
    }

    #[test]
    fn formats_are_detected_by_name_and_content() {
        let named = |name: &str| by_name(Path::new(name));
        assert_eq!(named("CC-MAIN-2026.warc.wet.gz"), Some(ImportFormat::Warc));
        assert_eq!(named("a.WACZ"), Some(ImportFormat::Wacz));
        assert_eq!(named("old/plan.tsv.zst"), Some(ImportFormat::Plan));
        assert_eq!(named("table.tsv"), None);
        assert_eq!(by_content("{\"url\":\"x\",\"body_base64\":\"\"}\n"), Some(ImportFormat::Pages));
        assert_eq!(by_content("{\"id\":1,\"text\":\"x\"}\n"), Some(ImportFormat::Jsonl));
        assert_eq!(by_content("<doc id=\"1\">\nRain\n</doc>\n"), Some(ImportFormat::Vertical));
        assert_eq!(by_content("# text = Rain\n1\tRain\train\tNOUN\t_\t_\t0\troot\t_\t_\n"), Some(ImportFormat::Conllu));
        assert_eq!(by_content("0\tok\t1\ts\tp\tf\tu\tt\n"), Some(ImportFormat::Plan));
        assert_eq!(by_content("hello"), None);
    }

    fn detected(name: &str, bytes: &[u8]) -> Result<ImportFormat> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        detect(&path)
    }

    #[test]
    fn a_format_is_detected_by_content_compressed_or_not() {
        let pages = b"{\"url\":\"https://e.org/\",\"body\":\"<p>\"}\n";
        assert_eq!(detected("data.json", pages).unwrap(), ImportFormat::Pages);
        assert_eq!(detected("data", &zstd::encode_all(&pages[..], 3).unwrap()).unwrap(), ImportFormat::Pages);
        assert_eq!(detected("data", b"WARC/1.0\r\n").unwrap(), ImportFormat::Warc);
        assert_eq!(detected("data", b"PK\x03\x04....").unwrap(), ImportFormat::Wacz);
        assert_eq!(detected("data", b"\xef\xbb\xbf\n<!DOCTYPE html><title>x</title>").unwrap(), ImportFormat::Html);
        assert_eq!(detected("data", b"<?xml version='1.0'?><OPML version='2.0'>").unwrap(), ImportFormat::Opml);
    }

    #[test]
    fn an_unknown_format_is_an_error_with_the_remedy() {
        for bytes in [&b""[..], b"\n\n", b"hello", b"\xff\xfe\x00", b"{\"a\":1}\n", b"# only a comment\n"] {
            let error = detected("data", bytes).unwrap_err().to_string();
            assert!(error.contains("use --from"), "{error}");
        }
    }

    proptest::proptest! {
        #[test]
        fn detection_never_panics(text in "\\PC*", bytes in proptest::collection::vec(0u8.., 0..600)) {
            let _ = by_content(&text);
            let _ = by_content(&String::from_utf8_lossy(&bytes));
        }
    }
}
