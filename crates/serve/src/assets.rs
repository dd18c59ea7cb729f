//! The page that asks the API: a few files inside the program. Nothing is asked of anybody else.
//!
//! The files are built from `ui/` and committed, so that no Node is needed here; `made-of.txt` names what they were made of.
//! Under a name with its digest a file never changes and may be kept for ever; the document, which names the others so, is
//! asked for anew each time and is mostly answered "as before". Packing and tags are those of all answers.

use std::sync::LazyLock;

use bytes::Bytes;
use hyper::Response;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use xxhash_rust::xxh3::xxh3_64;

use crate::response::Body;

/// What may be kept, because its name changes with it.
const IMMUTABLE: &str = "public, max-age=31536000, immutable";
/// The document, which names the other files.
const DOCUMENT: &str = "index.html";

const FILES: &[(&str, &str, &str)] = &[
    ("app.js", "text/javascript; charset=utf-8", include_str!("../assets/app.js")),
    ("style.css", "text/css; charset=utf-8", include_str!("../assets/style.css")),
    ("icon.svg", "image/svg+xml", include_str!("../assets/icon.svg")),
    ("notices.txt", "text/plain; charset=utf-8", include_str!("../assets/notices.txt")),
    (DOCUMENT, "text/html; charset=utf-8", include_str!("../assets/index.html")),
];

/// A file, ready to be sent.
struct File {
    path: String,
    /// The path with a digest, under which it never changes; the document has none.
    lasting: Option<String>,
    kind: &'static str,
    bytes: Bytes,
}

static ASSETS: LazyLock<Vec<File>> = LazyLock::new(|| {
    let mut shelf: Vec<File> = Vec::new();
    for &(name, kind, text) in FILES {
        let file = match name.split_once('.') {
            Some((stem, ending)) if name != DOCUMENT => {
                let lasting = format!("/{stem}-{:016x}.{ending}", xxh3_64(text.as_bytes()));
                File { path: format!("/{name}"), lasting: Some(lasting), kind, bytes: text.into() }
            }
            // The document comes last, when the names of the others are known.
            _ => {
                let quoted = |path: &str| format!("\"{}\"", path.trim_start_matches('/'));
                let text = shelf.iter().fold(text.to_owned(), |text, file| match &file.lasting {
                    Some(lasting) => text.replace(&quoted(&file.path), &quoted(lasting)),
                    None => text,
                });
                File { path: "/".to_owned(), lasting: None, kind, bytes: text.into() }
            }
        };
        shelf.push(file);
    }
    shelf
});

/// The file of a path.
pub(crate) fn find(path: &str) -> Option<Response<Body>> {
    let is_lasting = |file: &File| file.lasting.as_deref() == Some(path);
    let file = ASSETS.iter().find(|file| file.path == path || is_lasting(file))?;
    let mut response = Response::new(Body::of(file.bytes.clone()));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(file.kind));
    if is_lasting(file) {
        response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static(IMMUTABLE));
    }
    Some(response)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use sha2::{Digest, Sha256};

    use super::*;

    fn sha256(bytes: &[u8]) -> String {
        Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// All files under a folder, by their names from `root` on, with slashes.
    fn names(root: &Path, folder: PathBuf, found: &mut Vec<String>) {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            match path.is_dir() {
                true => names(root, path, found),
                false => found.push(path.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/")),
            }
        }
    }

    #[test]
    fn the_bundle_is_made_of_the_sources_that_lie_in_ui() {
        let ui = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../ui"));
        let mut sources: Vec<String> =
            ["build.mjs", "package.json", "package-lock.json", "tsconfig.json"].map(str::to_owned).into();
        names(ui, ui.join("src"), &mut sources);
        sources.sort();
        let list: String =
            sources.iter().map(|name| format!("{}  {name}\n", sha256(&fs::read(ui.join(name)).unwrap()))).collect();
        let mut lines = vec![format!("{}  sources", sha256(list.as_bytes()))];
        let mut files: Vec<_> = FILES.iter().map(|(name, _, text)| (*name, sha256(text.as_bytes()))).collect();
        files.sort_unstable();
        lines.extend(files.into_iter().map(|(name, digest)| format!("{digest}  {name}")));
        let made_of: Vec<&str> = include_str!("../assets/made-of.txt").lines().collect();
        assert_eq!(
            made_of, lines,
            "ui/ and crates/serve/assets differ; `cd ui && npm ci && npm run build` makes the page anew"
        );
    }

    #[test]
    fn the_document_names_files_that_are_there_and_never_change() {
        let keeps = |path: &str| find(path).unwrap().headers().get(CACHE_CONTROL).cloned();
        assert_eq!((keeps("/"), keeps("/app.js")), (None, None), "what may change is asked for again");
        let document = String::from_utf8(ASSETS.last().unwrap().bytes.to_vec()).unwrap();
        let is_file = |part: &&str| FILES.iter().any(|(name, ..)| part.ends_with(&name[name.len() - 3..]));
        let named: Vec<&str> = document.split('"').filter(is_file).collect();
        assert_eq!(named.len(), 3, "{named:?}");
        for name in named {
            assert_eq!(keeps(&format!("/{name}")).unwrap(), IMMUTABLE, "{name}");
        }
        assert!(find("/app-0000000000000000.js").is_none() && find("/index.html").is_none());
    }

    #[test]
    fn the_page_weighs_less_than_a_quarter_of_a_megabyte() {
        let compressed = crate::compression::CompressionCache::default();
        let weight: usize = ASSETS.iter().map(|file| compressed.of(&file.bytes).len()).sum();
        assert!(weight < 250_000, "{weight} bytes");
        eprintln!("the page weighs {weight} bytes compressed");
    }
}
