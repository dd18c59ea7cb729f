//! The files of the web page, embedded in the binary.
//!
//! They are built from `ui/` and committed, so that building Tidings needs no Node; `made-of.txt` has the digests of their sources.
//! Files whose name contains a digest are immutable and cached by browsers; `index.html`, which refers to them, is
//! revalidated at each visit.

use std::sync::LazyLock;

use bytes::Bytes;
use hyper::Response;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use xxhash_rust::xxh3::xxh3_64;

use crate::response::Body;

/// Cache-Control of files whose name contains their digest.
const IMMUTABLE: &str = "public, max-age=31536000, immutable";
/// The HTML document, which refers to the other files.
const DOCUMENT: &str = "index.html";

const FILES: &[(&str, &str, &str)] = &[
    ("app.js", "text/javascript; charset=utf-8", include_str!("../assets/app.js")),
    ("style.css", "text/css; charset=utf-8", include_str!("../assets/style.css")),
    ("icon.svg", "image/svg+xml", include_str!("../assets/icon.svg")),
    ("notices.txt", "text/plain; charset=utf-8", include_str!("../assets/notices.txt")),
    (DOCUMENT, "text/html; charset=utf-8", include_str!("../assets/index.html")),
];

/// An embedded file.
struct Asset {
    path: String,
    /// The immutable path with a digest; `None` for the document.
    immutable_path: Option<String>,
    kind: &'static str,
    bytes: Bytes,
}

static ASSETS: LazyLock<Vec<Asset>> = LazyLock::new(|| {
    let mut assets: Vec<Asset> = Vec::new();
    for &(name, kind, text) in FILES {
        let file = match name.split_once('.') {
            Some((stem, ending)) if name != DOCUMENT => {
                let immutable_path = format!("/{stem}-{:016x}.{ending}", xxh3_64(text.as_bytes()));
                Asset { path: format!("/{name}"), immutable_path: Some(immutable_path), kind, bytes: text.into() }
            }
            // The document comes last, when the paths of the others are known.
            _ => {
                let quoted = |path: &str| format!("\"{}\"", path.trim_start_matches('/'));
                let text = assets.iter().fold(text.to_owned(), |text, file| match &file.immutable_path {
                    Some(path) => text.replace(&quoted(&file.path), &quoted(path)),
                    None => text,
                });
                Asset { path: "/".to_owned(), immutable_path: None, kind, bytes: text.into() }
            }
        };
        assets.push(file);
    }
    assets
});

/// The response for a path of the page.
pub(crate) fn find(path: &str) -> Option<Response<Body>> {
    let is_immutable = |file: &Asset| file.immutable_path.as_deref() == Some(path);
    let file = ASSETS.iter().find(|file| file.path == path || is_immutable(file))?;
    let mut response = Response::new(Body::of(file.bytes.clone()));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(file.kind));
    if is_immutable(file) {
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
    fn the_committed_bundle_matches_the_sources_in_ui() {
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
            "ui/ and crates/serve/assets differ; `cd ui && npm ci && npm run build` rebuilds the page"
        );
    }

    #[test]
    fn the_document_refers_to_immutable_files_that_exist() {
        let keeps = |path: &str| find(path).unwrap().headers().get(CACHE_CONTROL).cloned();
        assert_eq!((keeps("/"), keeps("/app.js")), (None, None), "mutable files are revalidated");
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
    fn the_compressed_page_is_below_250_kb() {
        let compressed = crate::compression::CompressionCache::default();
        let weight: usize = ASSETS.iter().map(|file| compressed.of(&file.bytes).len()).sum();
        assert!(weight < 250_000, "{weight} bytes");
        eprintln!("compressed page: {weight} bytes");
    }
}
