//! A second folder with the newest generation of an index, which keeps it.
//!
//! Index files never change, so that the folder needs no copies: its files are hard links, and a writer that merges or deletes
//! in one of the folders leaves those of the other as they are.

use std::path::Path;

use tidings_storage::file::{link_or_copy, make_folder, sync_folder};

use crate::block_sums;
use crate::error::{Error, Result};
use crate::manifest::Manifest;
use crate::snapshot::Snapshot;

/// Keeps the newest generation of an index in another, empty folder. Every byte is verified first: what is kept for years must
/// not be damaged from the beginning. The caller holds the lock of the home, so that no writer removes files meanwhile.
pub fn freeze(folder: &Path, target: &Path) -> Result<Snapshot> {
    let manifest = Manifest::read(folder)?.ok_or_else(|| Error::NoIndex { folder: folder.to_owned() })?;
    let live = Snapshot::of(folder, &manifest, None)?;
    live.verify()?;
    live.write_missing_sums()?;
    make_folder(target)?;
    for name in manifest.files() {
        let (from, to) = (folder.join(name), target.join(name));
        link_or_copy(&from, &to)?;
        // Small files have no digests of blocks.
        let sums = block_sums::path_of(&from);
        if sums.is_file() {
            link_or_copy(&sums, &block_sums::path_of(&to))?;
        }
    }
    sync_folder(target)?;
    // Without the manifest the folder is no index.
    manifest.publish(target)?;
    Snapshot::open(target)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::writer::{Settings, Writer};
    use std::path::PathBuf;
    use tidings_formats::vertical::Reader;

    fn add(folder: &Path, day: u32) {
        let mut writer = Writer::open(folder, Settings { merge_factor: 2, ..Settings::default() }).unwrap();
        let text = format!(
            "<doc id=\"{day:02}\" url=\"http://e.org/{day}\" title=\"T\" date=\"2026-01-{day:02}\">\n<p>\n<s>\nword{day}\nsea\n\
             </s>\n</p>\n</doc>\n"
        );
        writer.read(&mut Reader::new(text.as_bytes(), "day.vert".as_ref())).unwrap();
        writer.commit(Vec::new()).unwrap();
        writer.merge().unwrap();
    }

    fn bytes_of(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
        let files = tidings_storage::file::files_in(folder).unwrap().into_iter();
        files.map(|path| (path.clone(), std::fs::read(path).unwrap())).collect()
    }

    #[test]
    fn a_kept_generation_survives_merges_deletions_and_the_end_of_the_index() {
        let home = tempfile::tempdir().unwrap();
        let [live, kept] = ["live", "kept"].map(|name| home.path().join(name));
        (1..=3).for_each(|day| add(&live, day));
        let frozen = freeze(&live, &kept).unwrap();
        let before = bytes_of(&kept);
        assert_eq!((frozen.documents(), frozen.tokens()), (3, 6));
        (4..=9).for_each(|day| add(&live, day));
        let mut writer = Writer::open(&live, Settings::default()).unwrap();
        assert_eq!(writer.delete_urls(&["http://e.org/1"]).unwrap().documents, 1);
        writer.expunge().unwrap();
        drop(writer);
        std::fs::remove_dir_all(&live).unwrap();
        assert_eq!(bytes_of(&kept), before);
        let again = Snapshot::open(&kept).unwrap();
        assert_eq!((again.documents(), again.generation()), (3, frozen.generation()));
        again.verify().unwrap();
    }

    #[test]
    fn a_deletion_in_the_kept_generation_leaves_the_index_alone() {
        let home = tempfile::tempdir().unwrap();
        let [live, kept] = ["live", "kept"].map(|name| home.path().join(name));
        (1..=3).for_each(|day| add(&live, day));
        freeze(&live, &kept).unwrap();
        let before = bytes_of(&live);
        let mut writer = Writer::open(&kept, Settings::default()).unwrap();
        assert_eq!(writer.delete_urls(&["http://e.org/2"]).unwrap().documents, 1);
        writer.expunge().unwrap();
        assert_eq!(Snapshot::open(&kept).unwrap().documents(), 2);
        assert_eq!(bytes_of(&live), before);
    }

    #[test]
    fn a_damaged_index_is_not_kept() {
        let home = tempfile::tempdir().unwrap();
        let [live, kept] = ["live", "kept"].map(|name| home.path().join(name));
        add(&live, 1);
        let (path, mut bytes) =
            bytes_of(&live).into_iter().find(|(path, _)| path.extension().is_some_and(|e| e == "segment")).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        std::fs::write(path, bytes).unwrap();
        assert!(freeze(&live, &kept).is_err() && !kept.join("MANIFEST").exists());
    }
}
