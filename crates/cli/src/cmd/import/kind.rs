//! What an input is: told by its name, and where that does not tell, by its first bytes.

use std::io::{BufRead as _, Read as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use tidings_store::archive;
use tidings_store::doors::zip;

/// The formats that come in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Kind {
    /// Web archives, packed or not: WARC and WET
    Warc,
    /// Archives in a ZIP file, as browsers record them
    Wacz,
    /// JSON lines of raw pages: FeedFetcher's, or of another home
    Pages,
    /// Saved web pages: files, or folders of them
    Html,
    /// JSON lines with a text each
    Jsonl,
    /// Tokens in the vertical format
    Vertical,
    /// Tokens in CoNLL-U or CoNLL-U Plus
    Conllu,
    /// A list of feeds, for feeds.txt
    Opml,
    /// A plan of FeedFetcher or of another home
    Plan,
}

/// An input and what it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// The file or folder.
    pub path: PathBuf,
    /// What it is.
    pub kind: Kind,
}

/// Endings of names, without those of packing.
const ENDINGS: [(&str, Kind); 12] = [
    (".warc", Kind::Warc),
    (".wet", Kind::Warc),
    (".wacz", Kind::Wacz),
    (".opml", Kind::Opml),
    (".conllu", Kind::Conllu),
    (".conllup", Kind::Conllu),
    (".vert", Kind::Vertical),
    (".vrt", Kind::Vertical),
    (".vertical", Kind::Vertical),
    (".html", Kind::Html),
    (".htm", Kind::Html),
    (".xhtml", Kind::Html),
];

/// Bytes that are looked at to tell a format.
const PEEK_BYTES: u64 = 64 << 10;

/// What the paths of a command stand for.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Inputs {
    /// Inputs, those of a folder in the order of their names.
    pub known: Vec<Named>,
    /// Files in folders that nothing tells what they are.
    pub unknown: Vec<PathBuf>,
}

/// All inputs that paths stand for. A folder stands for everything in it that is known; the web pages in it are one
/// input, which is named after the folder.
pub fn inputs(paths: &[PathBuf], given: Option<Kind>) -> Result<Inputs> {
    let mut inputs = Inputs::default();
    for path in paths {
        if !path.exists() {
            bail!("{} does not exist", path.display());
        }
        match (path.is_dir(), given) {
            (true, None) => inputs.take_folder(path)?,
            (true, Some(kind)) if kind != Kind::Html => {
                inputs.known.extend(archive::files_under(path)?.into_iter().map(|path| Named { path, kind }));
            }
            (_, Some(kind)) => inputs.known.push(Named { path: path.clone(), kind }),
            (false, None) => inputs.known.push(Named { path: path.clone(), kind: kind_of(path)? }),
        }
    }
    Ok(inputs)
}

impl Inputs {
    fn take_folder(&mut self, folder: &Path) -> Result<()> {
        let mut has_pages = false;
        for path in archive::files_under(folder)? {
            let is_deep = path.parent() != Some(folder);
            match by_name(&path) {
                // Whoever mirrors a site does not ask for its feeds.
                Some(Kind::Opml | Kind::Plan) if is_deep => self.unknown.push(path),
                _ if archive::is_saved_page(&path) => has_pages = true,
                Some(kind) if kind != Kind::Html => self.known.push(Named { path, kind }),
                // What is a document above is data of a site below.
                None if is_json(&path) && !(is_deep && bare_name(&path).ends_with(".json")) => match kind_of(&path) {
                    Ok(kind) => self.known.push(Named { path, kind }),
                    Err(_) => self.unknown.push(path),
                },
                _ => self.unknown.push(path),
            }
        }
        if has_pages {
            self.known.push(Named { path: folder.to_owned(), kind: Kind::Html });
        }
        Ok(())
    }
}

fn bare_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let bare = [".gz", ".zst", ".zstd"].iter().find_map(|ending| name.strip_suffix(ending));
    bare.map(str::to_owned).unwrap_or(name)
}

fn by_name(path: &Path) -> Option<Kind> {
    let name = bare_name(path);
    if matches!(name.as_str(), "plan.tsv" | "plan.txt") {
        return Some(Kind::Plan);
    }
    ENDINGS.iter().find(|(ending, _)| name.ends_with(ending)).map(|(_, kind)| *kind)
}

fn is_json(path: &Path) -> bool {
    let name = bare_name(path);
    [".jsonl", ".ndjson", ".json"].iter().any(|ending| name.ends_with(ending))
}

fn kind_of(path: &Path) -> Result<Kind> {
    if let Some(kind) = by_name(path) {
        return Ok(kind);
    }
    let mut first = Vec::new();
    let mut reader = archive::open(path)?;
    if zip::is_zip(reader.fill_buf().unwrap_or_default()) {
        return Ok(Kind::Wacz);
    }
    reader.take(PEEK_BYTES).read_to_end(&mut first).with_context(|| format!("cannot read {}", path.display()))?;
    let text = String::from_utf8_lossy(&first);
    by_content(text.trim_start_matches('\u{feff}').trim_start()).with_context(|| {
        format!("{}: neither its name nor its beginning tells what it is; say so with --from", path.display())
    })
}

fn by_content(text: &str) -> Option<Kind> {
    let lower = text.get(..text.floor_char_boundary(512)).unwrap_or_default().to_ascii_lowercase();
    if text.starts_with("WARC/") {
        return Some(Kind::Warc);
    }
    if text.starts_with('{') {
        let line = text.lines().next().unwrap_or_default();
        // A long first line is cut; the names of its fields are there all the same.
        let has = |name: &str| line.contains(&format!("\"{name}\""));
        return match () {
            () if has("body") || has("body_base64") => Some(Kind::Pages),
            () if has("text") || has("paragraphs") => Some(Kind::Jsonl),
            () if has("url") && line.len() as u64 + 1 >= PEEK_BYTES => Some(Kind::Pages),
            () => None,
        };
    }
    if lower.contains("<opml") {
        return Some(Kind::Opml);
    }
    if lower.starts_with("<doc") || lower.starts_with("<s>") || lower.starts_with("<p>\n") {
        return Some(Kind::Vertical);
    }
    if lower.contains("<html") || lower.contains("<!doctype html") {
        return Some(Kind::Html);
    }
    let columns = text.lines().find(|line| !line.starts_with('#'))?.split('\t').count();
    match columns {
        8 if text.lines().next().is_some_and(|line| line.split('\t').next().is_some_and(is_number)) => Some(Kind::Plan),
        10 => Some(Kind::Conllu),
        _ if text.starts_with("# global.columns") => Some(Kind::Conllu),
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
    fn names_and_beginnings_tell_what_a_file_is() {
        let named = |name: &str| by_name(Path::new(name));
        assert_eq!(named("CC-MAIN-2026.warc.wet.gz"), Some(Kind::Warc));
        assert_eq!(named("a.WACZ"), Some(Kind::Wacz));
        assert_eq!(named("old/plan.tsv.zst"), Some(Kind::Plan));
        assert_eq!(named("table.tsv"), None);
        assert_eq!(by_content("{\"url\":\"x\",\"body_base64\":\"\"}\n"), Some(Kind::Pages));
        assert_eq!(by_content("{\"id\":1,\"text\":\"x\"}\n"), Some(Kind::Jsonl));
        assert_eq!(by_content("<doc id=\"1\">\nRain\n</doc>\n"), Some(Kind::Vertical));
        assert_eq!(by_content("# text = Rain\n1\tRain\train\tNOUN\t_\t_\t0\troot\t_\t_\n"), Some(Kind::Conllu));
        assert_eq!(by_content("0\tok\t1\ts\tp\tf\tu\tt\n"), Some(Kind::Plan));
        assert_eq!(by_content("hello"), None);
    }
}
