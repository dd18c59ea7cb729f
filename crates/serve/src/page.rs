//! The page that asks the API: a few files inside the program. Nothing is asked of anybody else.
//!
//! The files are built from `ui/` and committed, so that no Node is needed here; `made-of.txt` names what they were made of.
//! They are packed once, when somebody first asks for one. Under a name with its digest a file never changes and may be
//! kept for ever; the document, which names the others so, is asked for anew each time and is mostly answered "as before".

use std::io::Write;
use std::sync::LazyLock;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use hyper::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, HeaderMap, HeaderValue, IF_NONE_MATCH, VARY,
};
use hyper::{Response, StatusCode};
use xxhash_rust::xxh3::xxh3_64;

use crate::reply::Body;

/// What may be kept, because its name changes with it.
const FOR_EVER: &str = "public, max-age=31536000, immutable";
/// What must be asked for anew.
const ASK_AGAIN: &str = "no-cache";
/// The document, which names the other files.
const DOCUMENT: &str = "index.html";

const FILES: &[(&str, &str, &str)] = &[
    ("app.js", "text/javascript; charset=utf-8", include_str!("../assets/app.js")),
    ("style.css", "text/css; charset=utf-8", include_str!("../assets/style.css")),
    ("icon.svg", "image/svg+xml", include_str!("../assets/icon.svg")),
    (DOCUMENT, "text/html; charset=utf-8", include_str!("../assets/index.html")),
];

/// A file, ready to be sent.
struct File {
    /// Its path, and its path with its digest.
    paths: [String; 2],
    kind: &'static str,
    plain: Bytes,
    packed: Bytes,
    etag: HeaderValue,
}

static SHELF: LazyLock<Vec<File>> = LazyLock::new(|| {
    let mut shelf: Vec<File> = Vec::new();
    for &(name, kind, text) in FILES {
        // The document comes last, when the names of the others are known.
        let text = match name {
            DOCUMENT => shelf
                .iter()
                .fold(text.to_owned(), |text, file| text.replace(&quoted(&file.paths[0]), &quoted(&file.paths[1]))),
            _ => text.to_owned(),
        };
        let digest = format!("{:016x}", xxh3_64(text.as_bytes()));
        let (stem, ending) = name.split_once('.').expect("the names above have endings");
        let paths = match name {
            DOCUMENT => ["/".to_owned(), format!("/{DOCUMENT}")],
            _ => [format!("/{name}"), format!("/{stem}-{digest}.{ending}")],
        };
        let etag = HeaderValue::from_str(&format!("W/\"{digest}\"")).expect("digits are fit for a header");
        shelf.push(File { paths, kind, packed: packed(&text), plain: text.into(), etag });
    }
    shelf
});

/// A path as the document names it.
fn quoted(path: &str) -> String {
    format!("\"{}\"", path.trim_start_matches('/'))
}

fn packed(text: &str) -> Bytes {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    let packed = encoder.write_all(text.as_bytes()).and_then(|()| encoder.finish());
    packed.expect("memory takes everything").into()
}

/// The file of a path, in the form that the client can read.
pub(crate) fn find(path: &str, headers: &HeaderMap) -> Option<Response<Body>> {
    let file = SHELF.iter().find(|file| file.paths.iter().any(|known| known == path))?;
    let keeps = if path == file.paths[1] && path != "/index.html" { FOR_EVER } else { ASK_AGAIN };
    let mut response = Response::new(Body::Whole(None));
    let answer = response.headers_mut();
    answer.insert(CACHE_CONTROL, HeaderValue::from_static(keeps));
    answer.insert(ETAG, file.etag.clone());
    answer.insert(VARY, HeaderValue::from_static("Accept-Encoding"));
    if is_known(headers, &file.etag) {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        return Some(response);
    }
    answer.insert(CONTENT_TYPE, HeaderValue::from_static(file.kind));
    let body = match reads_gzip(headers) {
        true => {
            answer.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            &file.packed
        }
        false => &file.plain,
    };
    *response.body_mut() = Body::of(body.clone());
    Some(response)
}

/// The parts of a header that is a list.
fn parts<'h>(headers: &'h HeaderMap, name: &hyper::header::HeaderName) -> impl Iterator<Item = &'h str> {
    headers
        .get_all(name)
        .into_iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|text| text.split(','))
        .map(str::trim)
}

fn is_known(headers: &HeaderMap, etag: &HeaderValue) -> bool {
    parts(headers, &IF_NONE_MATCH).any(|part| part == "*" || part.as_bytes() == etag.as_bytes())
}

fn reads_gzip(headers: &HeaderMap) -> bool {
    parts(headers, &ACCEPT_ENCODING).any(|part| {
        let (name, weight) = part.split_once(';').unwrap_or((part, ""));
        let refused = weight.trim().strip_prefix("q=").and_then(|weight| weight.parse::<f64>().ok()) == Some(0.0);
        matches!(name.trim(), "gzip" | "*") && !refused
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use sha2::{Digest, Sha256};

    use super::*;

    fn given(name: hyper::header::HeaderName, value: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(name, HeaderValue::from_static(value))])
    }

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
        let document = find("/", &HeaderMap::new()).unwrap();
        assert_eq!(document.headers()[CACHE_CONTROL], ASK_AGAIN);
        let text = String::from_utf8(SHELF.last().unwrap().plain.to_vec()).unwrap();
        let named: Vec<&str> = text.split('"').filter(|part| part.ends_with(".js") || part.ends_with(".css")).collect();
        assert_eq!(named.len(), 2);
        for name in named {
            let file = find(&format!("/{name}"), &HeaderMap::new()).unwrap();
            assert_eq!(file.headers()[CACHE_CONTROL], FOR_EVER, "{name}");
        }
        assert!(find("/app-0000000000000000.js", &HeaderMap::new()).is_none());
    }

    #[test]
    fn the_page_weighs_less_than_a_quarter_of_a_megabyte() {
        let packed: usize = SHELF.iter().map(|file| file.packed.len()).sum();
        assert!(packed < 250_000, "{packed} bytes");
    }

    #[test]
    fn files_are_packed_for_those_who_can_read_that() {
        let encoding = |value| {
            let answer = find("/app.js", &given(ACCEPT_ENCODING, value)).unwrap();
            answer.headers().get(CONTENT_ENCODING).cloned()
        };
        assert!(encoding("br, gzip;q=0.8").is_some() && encoding("*").is_some());
        assert!(encoding("gzip;q=0").is_none() && encoding("br").is_none());
    }

    #[test]
    fn what_a_client_has_already_is_not_sent_again() {
        let etag = find("/", &HeaderMap::new()).unwrap().headers()[ETAG].clone();
        let again = find("/", &HeaderMap::from_iter([(IF_NONE_MATCH, etag)])).unwrap();
        assert_eq!(again.status(), StatusCode::NOT_MODIFIED);
        assert_eq!(find("/", &given(IF_NONE_MATCH, "W/\"0\"")).unwrap().status(), StatusCode::OK);
    }
}
