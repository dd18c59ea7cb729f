//! Fingerprints of entries that were fetched and pruned from the plan, or imported.
//!
//! Pruning deletes the text of an entry, but keeps its fingerprint: an article that returns to its feed years later
//! must not be requested again. The fingerprints are sorted in one file, eight bytes each, and are only merged and
//! scanned in order. They stand in blocks with checksums after a magic number; a file without it is of the first
//! version, which had no checksums.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use tidings_model::{Fingerprint, FingerprintSet};
use tidings_storage::AtomicFile;
use xxhash_rust::xxh3::xxh3_64;

use crate::error::{Context, Error, Result};
use crate::home::Home;
use crate::{pages, plan_repair};

/// The start of a file with checksums.
const MAGIC: &[u8; 16] = b"tidings fetched2";
/// The most fingerprints of a block.
const BLOCK: usize = 8192;

fn path(home: &Home) -> PathBuf {
    home.state("fetched.u64")
}

/// Shows every fingerprint to `see`, in ascending order.
fn for_each(home: &Home, mut see: impl FnMut(Fingerprint) -> Result<()>) -> Result<()> {
    let path = path(home);
    if !path.exists() {
        return Ok(());
    }
    let mut reader = BufReader::with_capacity(1 << 20, File::open(&path).context("open", &path)?);
    let mut start = Vec::with_capacity(MAGIC.len());
    reader.by_ref().take(MAGIC.len() as u64).read_to_end(&mut start).context("read", &path)?;
    if start != MAGIC {
        return for_each_unchecked(start.as_slice().chain(reader), &path, see);
    }
    while let Some(block) = read_block(&mut reader, &path)? {
        block.chunks_exact(8).try_for_each(|eight| see(fingerprint(eight)))?;
    }
    Ok(())
}

fn fingerprint(eight: &[u8]) -> Fingerprint {
    Fingerprint(u64::from_be_bytes(eight.try_into().expect("eight bytes")))
}

/// The fingerprints of the next block; `None` at the end of the file.
fn read_block(reader: &mut impl Read, path: &Path) -> Result<Option<Vec<u8>>> {
    let mut head = Vec::with_capacity(12);
    reader.by_ref().take(12).read_to_end(&mut head).context("read", path)?;
    if head.is_empty() {
        return Ok(None);
    }
    let damaged = || Error::DamagedFetched { path: path.to_owned() };
    let (count, checksum) = head.split_first_chunk::<4>().ok_or_else(damaged)?;
    let bytes = u32::from_be_bytes(*count) as usize * 8;
    if bytes > BLOCK * 8 || checksum.len() != 8 {
        return Err(damaged());
    }
    let mut block = Vec::with_capacity(bytes);
    reader.by_ref().take(bytes as u64).read_to_end(&mut block).context("read", path)?;
    match block.len() == bytes && xxh3_64(&block).to_be_bytes() == checksum {
        true => Ok(Some(block)),
        false => Err(damaged()),
    }
}

/// Reads the fingerprints of the first version.
fn for_each_unchecked(
    mut reader: impl Read,
    path: &Path,
    mut see: impl FnMut(Fingerprint) -> Result<()>,
) -> Result<()> {
    let mut eight = [0; 8];
    loop {
        match reader.read_exact(&mut eight) {
            Ok(()) => see(fingerprint(&eight))?,
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
            Err(error) => Err(error).context("read", path)?,
        }
    }
}

/// Writes fingerprints in ascending order, block by block.
struct Blocks {
    draft: AtomicFile,
    block: Vec<u8>,
}

impl Blocks {
    fn create(home: &Home) -> Result<Blocks> {
        let mut draft = AtomicFile::create(&path(home))?;
        draft.write(MAGIC)?;
        Ok(Blocks { draft, block: Vec::with_capacity(BLOCK * 8) })
    }

    fn push(&mut self, fingerprint: Fingerprint) -> Result<()> {
        self.block.extend(fingerprint.0.to_be_bytes());
        if self.block.len() == BLOCK * 8 { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        if !self.block.is_empty() {
            self.draft.write(&((self.block.len() / 8) as u32).to_be_bytes())?;
            self.draft.write(&xxh3_64(&self.block).to_be_bytes())?;
            self.draft.write(&self.block)?;
            self.block.clear();
        }
        Ok(())
    }

    fn publish(mut self) -> Result<()> {
        self.flush()?;
        Ok(self.draft.publish()?)
    }
}

/// Reads the file and its checksums.
pub fn check(home: &Home) -> Result<()> {
    for_each(home, |_| Ok(()))
}

/// Replaces a damaged file by the fingerprints of all stored pages. Pages that were given up and pruned are forgotten:
/// if a feed lists one of them again, it is requested again. The home must be locked.
pub fn restore(home: &Home) -> Result<u64> {
    let mut all = Vec::new();
    plan_repair::for_each_stored(&pages::files(home)?, |entry| {
        all.push(Fingerprint::of(&entry.url));
        Ok(())
    })?;
    all.sort_unstable();
    all.dedup();
    let mut blocks = Blocks::create(home)?;
    all.iter().try_for_each(|fingerprint| blocks.push(*fingerprint))?;
    blocks.publish()?;
    Ok(all.len() as u64)
}

/// Whether an entry was fetched and pruned.
pub(crate) fn holds(home: &Home, wanted: Fingerprint) -> Result<bool> {
    let mut found = false;
    for_each(home, |known| {
        found |= known == wanted;
        Ok(())
    })?;
    Ok(found)
}

/// Removes every fingerprint that was fetched before from `new`.
pub(crate) fn subtract(home: &Home, new: &mut FingerprintSet) -> Result<()> {
    for_each(home, |known| {
        new.remove(&known);
        Ok(())
    })
}

/// Adds fingerprints to the file.
pub(crate) fn add(home: &Home, mut new: Vec<Fingerprint>) -> Result<()> {
    if new.is_empty() {
        return Ok(());
    }
    new.sort_unstable();
    new.dedup();
    let mut blocks = Blocks::create(home)?;
    let mut new = new.into_iter().peekable();
    for_each(home, |known| {
        while let Some(earlier) = new.next_if(|candidate| *candidate < known) {
            blocks.push(earlier)?;
        }
        new.next_if_eq(&known);
        blocks.push(known)
    })?;
    new.try_for_each(|later| blocks.push(later))?;
    blocks.publish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn fingerprints_are_sorted_and_unique() {
        let folder = tempfile::tempdir().unwrap();
        Home::create(folder.path(), "", "").unwrap();
        let home = Home::at(folder.path()).unwrap();
        add(&home, [5, 1, 9].map(Fingerprint).to_vec()).unwrap();
        add(&home, [1, 7, 0, 12].map(Fingerprint).to_vec()).unwrap();
        let mut all = Vec::new();
        for_each(&home, |f| {
            all.push(f.0);
            Ok(())
        })
        .unwrap();
        assert_eq!(all, [0, 1, 5, 7, 9, 12]);
        let mut new: FingerprintSet = [7, 8].map(Fingerprint).into_iter().collect();
        subtract(&home, &mut new).unwrap();
        assert_eq!(new.into_iter().collect::<Vec<_>>(), [Fingerprint(8)]);
    }

    #[test]
    fn damage_is_an_error_and_stored_pages_restore_the_file() {
        let (_folder, home) = crate::testing::home();
        crate::testing::store_pages(&home, "20260301T000000000Z-fetch", &["http://e.org/1", "http://e.org/2"]);
        add(&home, (0..20_000).map(Fingerprint).collect()).unwrap();
        let whole = std::fs::read(path(&home)).unwrap();
        for at in [20, 25, 70_000, whole.len() - 1] {
            let mut bytes = whole.clone();
            bytes[at] ^= 1;
            std::fs::write(path(&home), &bytes).unwrap();
            let error = check(&home).unwrap_err().to_string();
            assert!(error.contains("fetched.u64 is damaged") && error.contains("doctor --repair"), "{error}");
            assert!(add(&home, vec![Fingerprint(7)]).is_err(), "a damaged file is not rewritten");
        }
        std::fs::write(path(&home), &whole[..whole.len() - 3]).unwrap();
        assert!(check(&home).is_err());
        assert_eq!(restore(&home).unwrap(), 2);
        assert!(holds(&home, Fingerprint::of("http://e.org/2")).unwrap());
    }

    #[test]
    fn a_file_of_the_first_version_is_read_and_rewritten_with_checksums() {
        let (_folder, home) = crate::testing::home();
        std::fs::create_dir_all(path(&home).parent().unwrap()).unwrap();
        std::fs::write(path(&home), [3u64, 4].map(u64::to_be_bytes).concat()).unwrap();
        assert!(holds(&home, Fingerprint(4)).unwrap());
        add(&home, vec![Fingerprint(5)]).unwrap();
        assert!(std::fs::read(path(&home)).unwrap().starts_with(MAGIC));
        assert!([3, 4, 5].iter().all(|number| holds(&home, Fingerprint(*number)).unwrap()));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn the_file_is_a_set(batches in prop::collection::vec(prop::collection::vec(0u64..40, 0..8), 0..5)) {
            let (_folder, home) = crate::testing::home();
            let mut model = std::collections::BTreeSet::new();
            for batch in batches {
                model.extend(batch.iter().copied());
                add(&home, batch.into_iter().map(Fingerprint).collect()).unwrap();
            }
            let mut all = Vec::new();
            for_each(&home, |known| {
                all.push(known.0);
                Ok(())
            })
            .unwrap();
            prop_assert_eq!(all, model.iter().copied().collect::<Vec<_>>());
            for number in 0..45 {
                prop_assert_eq!(holds(&home, Fingerprint(number)).unwrap(), model.contains(&number));
            }
        }
    }
}
