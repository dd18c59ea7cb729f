//! Web pages saved as files, one by one or by mirroring tools such as `wget --mirror`.

use std::io::Read as _;
use std::path::Path;

use crate::compressed;
use crate::error::{Context, Result};
use crate::warc::MAX_RECORD_BYTES;

/// True if a file name is that of a saved page; mirrors often omit the extension.
pub fn is_saved_page(path: &Path) -> bool {
    path.extension().is_none_or(|ending| {
        ["html", "htm", "xhtml", "shtml", "php"].iter().any(|known| ending.eq_ignore_ascii_case(known))
    })
}

/// Reads a saved page, compressed or not, up to the maximum size of a page.
pub fn read_html(path: &Path) -> Result<Vec<u8>> {
    let mut body = Vec::new();
    compressed::open(path)?.take(MAX_RECORD_BYTES).read_to_end(&mut body).context("read", path)?;
    Ok(body)
}

/// The URL of a file that a mirroring tool saved as `host/path`.
pub fn mirrored(file: &Path) -> Option<String> {
    let text = file.to_str()?;
    let host = text.split('/').next()?;
    let is_host = host.contains('.') && !host.ends_with(".html") && !host.ends_with(".htm");
    is_host.then(|| format!("http://{text}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_of_a_mirror_follow_from_its_folders() {
        assert_eq!(mirrored(Path::new("g.example/a/b.html")).as_deref(), Some("http://g.example/a/b.html"));
        assert_eq!(mirrored(Path::new("saved.html")), None);
        assert_eq!(mirrored(Path::new("folder/b.html")), None);
    }

    #[test]
    fn saved_pages_are_detected_by_their_extension() {
        assert!(["a.html", "a.HTM", "a.php", "index"].iter().all(|name| is_saved_page(Path::new(name))));
        assert!(!is_saved_page(Path::new("a.png")));
    }

    #[test]
    fn a_saved_page_may_be_compressed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.html");
        std::fs::write(&path, zstd::encode_all(&b"<p>a"[..], 3).unwrap()).unwrap();
        assert_eq!(read_html(&path).unwrap(), b"<p>a");
    }
}
