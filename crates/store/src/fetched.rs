//! Fingerprints of entries that were fetched and pruned from the plan, or imported.
//!
//! Pruning deletes the text of an entry, but keeps its fingerprint: an article that returns to its feed years later
//! must not be requested again. The fingerprints are sorted in one file, eight bytes each, and are only merged and
//! scanned in order.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::PathBuf;

use tidings_model::{Fingerprint, FingerprintSet};
use tidings_storage::AtomicFile;

use crate::error::{Context, Result};
use crate::home::Home;

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
    let mut eight = [0; 8];
    loop {
        match reader.read_exact(&mut eight) {
            Ok(()) => see(Fingerprint(u64::from_be_bytes(eight)))?,
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => return Ok(()),
            Err(error) => Err(error).context("read", &path)?,
        }
    }
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
    let mut draft = AtomicFile::create(&path(home))?;
    let mut new = new.into_iter().peekable();
    for_each(home, |known| {
        while let Some(earlier) = new.next_if(|candidate| *candidate < known) {
            draft.write(&earlier.0.to_be_bytes())?;
        }
        new.next_if_eq(&known);
        Ok(draft.write(&known.0.to_be_bytes())?)
    })?;
    for later in new {
        draft.write(&later.0.to_be_bytes())?;
    }
    Ok(draft.publish()?)
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
