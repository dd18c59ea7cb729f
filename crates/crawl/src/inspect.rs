//! Views of a crawl that may be running: its files are only read.

use std::path::Path;

use crate::disk_queue;
use crate::error::{Error, Result};
use crate::fingerprint::{fingerprint, shard};
use crate::frame_log;
use crate::layout::table_path;
use crate::record;
use crate::sieve::Sieve;
use crate::state::read_manifest;

/// A page that a crawl did not keep.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedPage {
    /// The day of its download.
    pub day: String,
    /// The reason.
    pub reason: String,
}

/// Reads a table of the last checkpoint.
pub fn read_table(folder: &Path, table: &str, mut see: impl FnMut(&str)) -> Result<()> {
    let manifest = read_manifest(folder)?;
    for (shard, id) in manifest.tables.get(table).into_iter().flatten() {
        match disk_queue::read_text(&table_path(folder, table, shard, *id)) {
            Ok(text) => see(&text),
            // A checkpoint has just replaced it.
            Err(Error::Read { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Whether a URL was met before the last checkpoint.
pub fn is_known(folder: &Path, url: &str) -> Result<bool> {
    let Some((domain, _)) = record::place(url) else { return Ok(false) };
    let sieve = Sieve::open(&folder.join("seen"), &read_manifest(folder)?.seen);
    sieve.holds(shard(&domain), fingerprint(url))
}

/// The last time at which a page was fetched and not kept.
pub fn refused_page(folder: &Path, url: &str) -> Result<Option<RefusedPage>> {
    let mut found = None;
    for path in tidings_storage::file::files_in(&folder.join("refused"))? {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let day = name.trim_end_matches(".tsv.zst").to_owned();
        frame_log::for_each(&path, |text| {
            for line in text.lines().filter(|line| line.split('\t').next() == Some(url)) {
                let reason = line.rsplit('\t').next().unwrap_or_default().to_owned();
                found = Some(RefusedPage { day: day.clone(), reason });
            }
            Ok(())
        })?;
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::PageWorth;
    use crate::testing::link;
    use crate::{CrawlState, Done};

    #[test]
    fn what_a_crawl_knows_of_a_url_is_read_from_its_files() {
        let folder = tempfile::tempdir().unwrap();
        let mut state = CrawlState::open(folder.path()).unwrap();
        let url = "http://a.example/x";
        state.offer(link(url));
        state.sift(|_| true).unwrap();
        let worth = PageWorth::default();
        let refused = Some("no-text".into());
        let done = Done { url: url.into(), status: "ok".into(), worth, requested: true, refused, text: None };
        state.refuse("2026-03-01", &done);
        state.commit().unwrap();
        assert!(!is_known(folder.path(), url).unwrap(), "there was no checkpoint");
        state.checkpoint(Vec::new(), Vec::new()).unwrap();
        assert!(is_known(folder.path(), url).unwrap() && !is_known(folder.path(), "http://a.example/y").unwrap());
        let refused = RefusedPage { day: "2026-03-01".into(), reason: "no-text".into() };
        assert_eq!(refused_page(folder.path(), url).unwrap(), Some(refused));
        assert_eq!(refused_page(folder.path(), "http://a.example/").unwrap(), None);
    }
}
