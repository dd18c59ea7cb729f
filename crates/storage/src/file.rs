//! Durable operations on local files: append and sync, write and rename, sync the folder.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use crate::crash;
use crate::error::{Context, Result};

/// The permissions of a home: its owner and, for reading, its group.
const PRIVATE_FOLDER: u32 = 0o750;

/// The permissions of a file with secrets.
const PRIVATE_FILE: u32 = 0o600;

/// The suffix of files that are not published yet.
const TEMPORARY: &str = ".tmp";

/// Makes the names in a folder durable.
pub fn sync_folder(folder: &Path) -> Result<()> {
    crash::point();
    Ok(File::open(folder).and_then(|dir| dir.sync_all()).context("sync the folder", folder)?)
}

/// Makes all files of the file system of a folder durable at once. For hundreds of small files this costs little more
/// than for one; see [`AtomicFile::publish_unsynced`].
pub fn sync_filesystem(folder: &Path) -> Result<()> {
    crash::point();
    // Elsewhere each file was synced when it was published.
    #[cfg(target_os = "linux")]
    File::open(folder)
        .and_then(|dir| rustix::fs::syncfs(dir).map_err(Into::into))
        .context("sync the file system of", folder)?;
    crash::all_synced();
    sync_folder(folder)
}

/// Renames within a file system and makes the new name durable.
pub fn rename(from: &Path, to: &Path) -> Result<()> {
    crash::point();
    fs::rename(from, to).context("rename to", to)?;
    sync_folder(parent(to))
}

/// Gives a file a second name by a hard link, or copies it where the file system has none. The name is durable once its folder
/// is synced.
pub fn link_or_copy(from: &Path, to: &Path) -> Result<()> {
    crash::point();
    match fs::hard_link(from, to) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Err(error).context("link", from)?),
        Err(_) => {
            fs::copy(from, to).context("copy to", to)?;
            sync_file(to)
        }
        Ok(()) => Ok(()),
    }
}

/// Makes the bytes of a file durable that was written through another handle.
pub fn sync_file(path: &Path) -> Result<()> {
    crash::point();
    Ok(File::open(path).and_then(|file| file.sync_all()).context("sync", path)?)
}

/// Deletes a file durably, if it exists.
pub fn remove(path: &Path) -> Result<()> {
    crash::point();
    match fs::remove_file(path) {
        Ok(()) => sync_folder(parent(path)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Ok(Err(error).context("remove", path)?),
    }
}

/// Deletes a file, if it exists, whose return after a power failure does no harm: the folder is not synced.
pub fn discard(path: &Path) -> Result<()> {
    crash::point();
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Ok(Err(error).context("remove", path)?),
        _ => Ok(()),
    }
}

/// Makes a folder with its parents, durably.
pub fn make_folder(path: &Path) -> Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    fs::create_dir_all(path).context("create the folder", path)?;
    sync_folder(parent(path))
}

/// Makes a folder that other users of the machine cannot read, with its parents, durably. The permissions of an existing
/// folder stay as they are.
pub fn make_private_folder(path: &Path) -> Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    make_folder(parent(path))?;
    match DirBuilder::new().mode(PRIVATE_FOLDER).create(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            Ok(Err(error).context("create the folder", path)?)
        }
        _ => sync_folder(parent(path)),
    }
}

/// Options that open the file of a path itself and fail on a symbolic link. A home may come from elsewhere, and a link
/// under the name of a lock, a draft or a log would make Tidings write to any file of its user.
pub fn no_follow() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.custom_flags(rustix::fs::OFlags::NOFOLLOW.bits() as i32);
    options
}

/// Creates an empty file for reading and writing in place of what has its name. A link under the name is replaced, not
/// followed.
pub fn create_scratch(path: &Path) -> Result<File> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Ok(Err(error).context("remove", path)?),
        _ => Ok(no_follow().create_new(true).read(true).write(true).open(path).context("create", path)?),
    }
}

/// Opens a lock file for reading and writing and creates it if missing. It is not truncated: another process may hold it.
pub fn open_lock(path: &Path) -> Result<File> {
    Ok(no_follow()
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        .open(path)
        .map_err(link_named)
        .context("open", path)?)
}

/// Replaces the error of the system for a symbolic link, which speaks of levels of links.
fn link_named(error: io::Error) -> io::Error {
    match error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) {
        true => io::Error::other("it is a symbolic link, which Tidings does not follow here; delete it"),
        false => error,
    }
}

/// The folder of a file; the current one if its path has none.
pub fn parent(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Lists files and folders of a folder, sorted by name; empty if the folder is missing.
pub fn files_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error).context("read the folder", folder).map_err(Into::into),
    };
    let mut files = Vec::new();
    for entry in entries {
        files.push(entry.context("read the folder", folder)?.path());
    }
    files.sort();
    Ok(files)
}

/// Deletes the unpublished files that a crash left in a folder.
pub fn remove_temp(folder: &Path) -> Result<()> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error).context("read the folder", folder).map_err(Into::into),
    };
    // Folders may have a file for each day: the others are not even named.
    for entry in entries {
        let entry = entry.context("read the folder", folder)?;
        if entry.file_name().as_encoded_bytes().ends_with(TEMPORARY.as_bytes()) {
            remove(&entry.path())?;
        }
    }
    Ok(())
}

/// A file that is appended to; its bytes are durable once [`Appender::sync`] returns.
#[derive(Debug)]
pub struct Appender {
    path: PathBuf,
    file: File,
    len: u64,
}

impl Appender {
    /// Creates a file, which must not exist; its name is durable at once.
    pub fn create(path: &Path) -> Result<Appender> {
        let created = Appender::create_transient(path)?;
        sync_folder(parent(path))?;
        Ok(created)
    }

    /// Creates a file, which must not exist, and which may be missing after a power failure.
    pub fn create_transient(path: &Path) -> Result<Appender> {
        make_folder(parent(path))?;
        let file = File::create_new(path).context("create", path)?;
        crash::synced(path, 0);
        Ok(Appender { path: path.to_owned(), file, len: 0 })
    }

    /// Opens or creates a file and truncates it to its first `len` bytes.
    pub fn reopen(path: &Path, len: u64) -> Result<Appender> {
        make_folder(parent(path))?;
        let file = no_follow().create(true).append(true).open(path).map_err(link_named).context("open", path)?;
        file.set_len(len).context("truncate", path)?;
        crash::synced(path, len);
        Ok(Appender { path: path.to_owned(), file, len })
    }

    /// Appends bytes, which are not durable yet.
    pub fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.write_all(bytes).context("write", &self.path)?;
        self.len += bytes.len() as u64;
        Ok(())
    }

    /// Makes all appended bytes durable.
    pub fn sync(&mut self) -> Result<()> {
        crash::point();
        self.file.sync_data().context("sync", &self.path)?;
        crash::synced(&self.path, self.len);
        Ok(())
    }

    /// The length of the file.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// True if the file is empty.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// A file that is published atomically: written under a temporary name, synced, renamed.
#[derive(Debug)]
pub struct AtomicFile {
    target: PathBuf,
    temporary: PathBuf,
    file: BufWriter<File>,
}

impl AtomicFile {
    /// Creates the file under a temporary name next to its target.
    pub fn create(target: &Path) -> Result<AtomicFile> {
        AtomicFile::create_with(target, &mut no_follow())
    }

    /// Creates a file that only its owner can read.
    pub fn create_private(target: &Path) -> Result<AtomicFile> {
        AtomicFile::create_with(target, no_follow().mode(PRIVATE_FILE))
    }

    fn create_with(target: &Path, options: &mut OpenOptions) -> Result<AtomicFile> {
        make_folder(parent(target))?;
        let mut name = target.file_name().unwrap_or_default().to_owned();
        name.push(TEMPORARY);
        let temporary = target.with_file_name(name);
        let options = options.create(true).truncate(true).write(true);
        let file = options.open(&temporary).map_err(link_named).context("create", &temporary)?;
        Ok(AtomicFile { target: target.to_owned(), temporary, file: BufWriter::with_capacity(1 << 20, file) })
    }

    /// Appends bytes.
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        Ok(self.file.write_all(bytes).context("write", &self.temporary)?)
    }

    /// Removes the temporary file; the target stays as it was.
    pub fn discard(self) {
        drop(self.file);
        // A file that cannot be deleted now is deleted by the next `remove_temp`.
        let _ = fs::remove_file(&self.temporary);
    }

    /// Syncs the file and renames it to its target.
    pub fn publish(mut self) -> Result<()> {
        self.file.flush().context("write", &self.temporary)?;
        crash::point();
        self.file.get_ref().sync_all().context("sync", &self.temporary)?;
        rename(&self.temporary, &self.target)
    }
}

impl AtomicFile {
    /// Renames the file to its target without waiting for the disk. [`sync_filesystem`] must follow before another file
    /// names it: after a power failure before that, the target may be empty or missing.
    pub fn publish_unsynced(mut self) -> Result<()> {
        if cfg!(not(target_os = "linux")) {
            return self.publish();
        }
        self.file.flush().context("write", &self.temporary)?;
        crash::point();
        fs::rename(&self.temporary, &self.target).context("rename to", &self.target)?;
        crash::synced(&self.target, 0);
        Ok(())
    }
}

/// Replaces a small file with secrets atomically; only its owner can read it.
pub fn write_private(target: &Path, bytes: &[u8]) -> Result<()> {
    // A draft that a crash left keeps its permissions when it is opened again.
    let mut temporary = target.as_os_str().to_owned();
    temporary.push(TEMPORARY);
    remove(Path::new(&temporary))?;
    let mut file = AtomicFile::create_private(target)?;
    file.write(bytes)?;
    file.publish()
}

/// Replaces a small file atomically: readers see either the old or the new bytes.
pub fn write_atomic(target: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = AtomicFile::create(target)?;
    file.write(bytes)?;
    file.publish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn names(folder: &Path) -> Vec<String> {
        let name = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
        files_in(folder).unwrap().iter().map(name).collect()
    }

    #[test]
    fn files_that_are_synced_together_are_published() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a", "b"] {
            let mut file = AtomicFile::create(&folder.path().join(name)).unwrap();
            file.write(name.as_bytes()).unwrap();
            file.publish_unsynced().unwrap();
        }
        sync_filesystem(folder.path()).unwrap();
        assert_eq!(names(folder.path()), ["a", "b"]);
        assert_eq!(fs::read(folder.path().join("b")).unwrap(), b"b");
    }

    #[test]
    fn an_atomic_file_is_invisible_before_publication() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("inner/plan");
        write_atomic(&target, b"old").unwrap();
        let mut file = AtomicFile::create(&target).unwrap();
        file.write(b"new and longer").unwrap();
        assert_eq!(fs::read(&target).unwrap(), b"old");
        file.publish().unwrap();
        assert_eq!(fs::read(&target).unwrap(), b"new and longer");
        assert_eq!(names(&folder.path().join("inner")), ["plan"]);
    }

    fn mode(path: &Path) -> u32 {
        use std::os::unix::fs::PermissionsExt as _;
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn links_are_not_followed_by_locks_drafts_and_logs() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("victim"), b"precious").unwrap();
        for name in [".lock", "plan.tmp", "log"] {
            std::os::unix::fs::symlink(at("victim"), at(name)).unwrap();
        }
        let refused = [
            open_lock(&at(".lock")).unwrap_err(),
            AtomicFile::create(&at("plan")).unwrap_err(),
            Appender::reopen(&at("log"), 0).unwrap_err(),
        ];
        for error in refused {
            let cause = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
            assert!(cause.contains("symbolic link"), "{error}: {cause}");
        }
        // A scratch file takes the place of the link.
        create_scratch(&at("log")).unwrap().write_all(b"records").unwrap();
        assert_eq!(fs::read(at("victim")).unwrap(), b"precious");
        assert_eq!(fs::read(at("log")).unwrap(), b"records");
    }

    #[test]
    fn private_folders_and_files_are_closed_to_others() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("corpora/home");
        make_private_folder(&home).unwrap();
        make_private_folder(&home).unwrap();
        assert_eq!(mode(&home) & 0o027, 0);
        let tokens = home.join("tokens.tsv");
        fs::write(home.join("tokens.tsv.tmp"), b"left by a crash").unwrap();
        write_private(&tokens, b"secret").unwrap();
        assert_eq!((mode(&tokens), fs::read(&tokens).unwrap()), (0o600, b"secret".to_vec()));
    }

    #[test]
    fn a_discarded_file_does_not_change_the_target() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("plan");
        write_atomic(&target, b"old").unwrap();
        let mut file = AtomicFile::create(&target).unwrap();
        file.write(b"new").unwrap();
        file.discard();
        assert_eq!(fs::read(&target).unwrap(), b"old");
        assert_eq!(names(folder.path()), ["plan"]);
    }

    #[test]
    fn temporary_files_of_a_crash_are_removed_and_others_stay() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("plan");
        write_atomic(&target, b"old").unwrap();
        let mut crashed = AtomicFile::create(&target).unwrap();
        crashed.write(b"half").unwrap();
        drop(crashed);
        assert_eq!(names(folder.path()), ["plan", "plan.tmp"]);
        remove_temp(folder.path()).unwrap();
        assert_eq!(names(folder.path()), ["plan"]);
        remove_temp(&folder.path().join("missing")).unwrap();
    }

    #[test]
    fn an_appender_does_not_replace_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/log");
        let mut first = Appender::create(&path).unwrap();
        assert!(first.is_empty());
        first.append(b"abc").unwrap();
        first.sync().unwrap();
        assert_eq!((first.len(), first.path()), (3, &*path));
        let refused = Appender::create(&path).unwrap_err();
        assert!(refused.to_string().starts_with("cannot create"), "{refused}");
    }

    #[test]
    fn a_reopened_appender_truncates_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        fs::write(&path, b"whole torn").unwrap();
        let mut file = Appender::reopen(&path, 6).unwrap();
        file.append(b"new").unwrap();
        file.sync().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"whole new");
    }

    #[test]
    fn removing_is_repeatable_and_a_missing_folder_is_empty() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs::write(&path, b"x").unwrap();
        remove(&path).unwrap();
        remove(&path).unwrap();
        assert!(files_in(&folder.path().join("missing")).unwrap().is_empty());
        sync_file(&path).unwrap_err();
    }

    #[test]
    fn the_parent_of_a_bare_name_is_the_current_folder() {
        assert_eq!(parent(Path::new("plan")), Path::new("."));
        assert_eq!(parent(Path::new("a/plan")), Path::new("a"));
    }

    proptest! {
        // Every case syncs files, which is slow.
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn appended_pieces_add_up(pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..12)) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("log");
            let mut file = Appender::create(&path).unwrap();
            for piece in &pieces {
                file.append(piece).unwrap();
            }
            file.sync().unwrap();
            prop_assert_eq!(fs::read(&path).unwrap(), pieces.concat());
            prop_assert_eq!(file.len(), pieces.concat().len() as u64);
        }

        #[test]
        fn a_replaced_file_is_always_one_of_its_versions(versions in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..200), 1..8)) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("file");
            let mut visible: Option<Vec<u8>> = None;
            for version in &versions {
                let mut file = AtomicFile::create(&path).unwrap();
                for piece in version.chunks(16) {
                    file.write(piece).unwrap();
                    prop_assert_eq!(fs::read(&path).ok(), visible.clone());
                }
                file.publish().unwrap();
                visible = Some(version.clone());
                prop_assert_eq!(fs::read(&path).ok(), visible.clone());
            }
        }
    }
}
