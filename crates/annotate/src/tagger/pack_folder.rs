//! Packs beside the program: a small program has the models of the largest languages, and those of the others are files.
//!
//! Packs are installed like a shared library, for all homes: `TIDINGS_MODELS` names their folders, otherwise they are in
//! `models` beside the program or in `share/tidings/models` of its prefix (`/usr/share/tidings/models`). Packs of a home are
//! another matter: they belong to its settings and have priority.

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};

use tidings_mapped::Mapped;

use crate::tagger::Models;

/// The environment variable with folders of packs, separated as in `PATH`.
pub const FOLDERS_VARIABLE: &str = "TIDINGS_MODELS";

/// The extension of packs.
pub const PACK_EXTENSION: &str = "tags";

/// Folders that may have packs, the one with the highest priority last.
pub fn pack_folders() -> Vec<PathBuf> {
    match std::env::var_os(FOLDERS_VARIABLE) {
        Some(folders) => std::env::split_paths(&folders).filter(|folder| !folder.as_os_str().is_empty()).collect(),
        None => std::env::current_exe().map(|program| folders_of_program(&program)).unwrap_or_default(),
    }
}

fn folders_of_program(program: &Path) -> Vec<PathBuf> {
    let Some(folder) = program.parent() else { return Vec::new() };
    let shared = folder.parent().map(|prefix| prefix.join("share/tidings/models"));
    shared.into_iter().chain([folder.join("models")]).collect()
}

/// The files of packs in a folder, sorted by name; none if there is no such folder.
pub fn packs_in(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut packs = entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<PathBuf>>>()?;
    packs.retain(|path| path.extension().is_some_and(|extension| extension == PACK_EXTENSION));
    packs.sort();
    Ok(packs)
}

/// Adds the packs of folders to models. What cannot be read is reported and left out: the other languages are not
/// affected, and `tidings models` lists what there is.
pub(super) fn with_packs_of(folders: &[PathBuf], mut models: Models) -> Models {
    for folder in folders {
        let packs = packs_in(folder).unwrap_or_else(|error| {
            log::warn!("cannot read the folder of models {}: {error}", folder.display());
            Vec::new()
        });
        for pack in packs {
            match open(&pack) {
                Ok(more) => models = models.with(more),
                Err(error) => log::warn!("cannot read the model {}: {error}; install it again", pack.display()),
            }
        }
    }
    models
}

/// Maps a pack, whose pages are read on first use. It is in use until the process ends, so the map is never closed.
fn open(pack: &Path) -> Result<Models, Box<dyn std::error::Error>> {
    let mapped: &'static Mapped = Box::leak(Box::new(Mapped::open(pack)?));
    Ok(Models::from_bytes(Cow::Borrowed(mapped))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pack of the repository, whatever models this program has.
    fn repository_pack(language: &str) -> Vec<u8> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("models/{language}.tags"));
        std::fs::read(path).expect("a pack of the repository")
    }

    #[test]
    fn packs_of_folders_are_added_and_damaged_ones_do_not_affect_others() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("af.tags"), repository_pack("af")).expect("written");
        std::fs::write(folder.path().join("cy.tags"), &repository_pack("cy")[..100]).expect("written");
        std::fs::write(folder.path().join("README.md"), "no model").expect("written");
        let missing = folder.path().join("missing");
        let models = with_packs_of(&[missing, folder.path().to_owned()], Models::default());
        let languages: Vec<&str> = models.languages().map(|model| model.language.as_str()).collect();
        assert_eq!(languages, ["af"]);
        assert_eq!(models.check(), Ok(()));
        assert!(models.tagger("afr").is_some());
    }

    #[test]
    fn packs_are_looked_for_beside_the_program_and_in_its_prefix() {
        let folders = folders_of_program(Path::new("/usr/bin/tidings"));
        assert_eq!(folders, [Path::new("/usr/share/tidings/models"), Path::new("/usr/bin/models")]);
        let folders = folders_of_program(Path::new("/opt/tidings-0.2.0/tidings"));
        assert_eq!(folders, [Path::new("/opt/share/tidings/models"), Path::new("/opt/tidings-0.2.0/models")]);
    }
}
