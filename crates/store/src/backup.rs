//! Incremental backups of the data that cannot be rebuilt.
//!
//! All files of a home are saved except derived ones. Each run adds a folder with the new and changed files, and
//! `MANIFEST.tsv` lists where each file of the home is stored, with its digest. The manifest is replaced last, and then
//! the files that it no longer lists are deleted, so that a backup is consistent at any time. Pages are copied once.
//!
//! The plan and the pages of a backup must be consistent. An active run has pages that its plan does not contain yet:
//! they are left to the next backup.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Component, Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde::Serialize;
use tidings_storage::file::{self, files_in};
use tidings_storage::{AtomicFile, write_atomic};
use xxhash_rust::xxh3::Xxh3;

use crate::error::{Context, Error, Result};
use crate::home::{Home, SETTINGS};
use crate::journal;
use crate::plan;
use crate::removed::Removed;
use crate::table::{self, columns};
use crate::takedown;

const MANIFEST: &str = "MANIFEST.tsv";
/// The suffix of folders of a backup.
pub const FOLDER_ENDING: &str = "-backup";
/// The marker file of an unfinished restore.
const RESTORING: &str = ".restoring";
/// Folders that can be rebuilt or are temporary.
const DERIVED: [&str; 8] =
    ["docs", "seen", "text", "index", "history", "trial", crate::rebuild_draft::FOLDER, crate::claims::FOLDER];
/// Folders inside folders, at most.
const MAX_DEPTH: usize = 8;
/// Attempts to copy a plan that a run keeps replacing.
const TRIES: u32 = 5;

/// A file of the home in a backup.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Saved {
    /// Its path in the home.
    pub path: String,
    /// Its size.
    pub bytes: u64,
    /// The digest of its bytes: XXH3, 128 bits, in hexadecimal.
    pub xxh3: String,
    /// The modification time in nanoseconds since 1970, which identifies an unchanged file together with its size.
    pub modified: String,
    /// The folder of the backup that contains it.
    pub folder: String,
}

columns!(Saved { "file" = path, bytes, xxh3, modified, folder });

/// A backup.
#[derive(Debug)]
pub struct Backup {
    root: PathBuf,
    files: BTreeMap<String, Saved>,
}

/// The result of one backup run.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize)]
pub struct Taken {
    /// Files that are in the backup now.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Files that were copied.
    pub copied: u64,
    /// Their bytes.
    pub copied_bytes: u64,
    /// Files of pages missing in the home; the backup keeps them.
    pub lost: Vec<String>,
    /// The active run whose pages are left to the next backup, if there is one.
    pub under_way: Option<String>,
}

impl Backup {
    /// Opens the backup in a folder; empty if there is none. A manifest that names files outside of the home or of the
    /// backup is an error: it may come from elsewhere.
    pub fn open(root: &Path) -> Result<Backup> {
        let mut files = BTreeMap::new();
        table::read(&root.join(MANIFEST), |saved: Saved| {
            files.insert(saved.path.clone(), saved);
        })?;
        for saved in files.values() {
            let refused =
                |file: &str, fault| Error::Manifest { manifest: root.join(MANIFEST), file: file.to_owned(), fault };
            if !is_inside(&saved.path) {
                return Err(refused(&saved.path, "which is not the path of a file inside a home"));
            }
            if !is_inside(&saved.folder) || saved.folder.contains('/') {
                return Err(refused(&saved.folder, "which is not a folder of the backup"));
            }
        }
        Ok(Backup { root: root.to_owned(), files })
    }

    /// Whether the backup is empty.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Whether it contains pages, but none of this home: then it belongs to another home.
    pub fn is_of_another(&self, home: &Home) -> bool {
        let mut pages = self.files.keys().filter(|path| path.starts_with("pages/")).peekable();
        pages.peek().is_some() && !pages.any(|path| home.root().join(path).exists())
    }

    /// Copies the small files that change, quickly, under a run name that was not used before. The holder of the lock
    /// may release it afterwards: pages do not change. Returns the active run, if there is one.
    pub fn begin(&mut self, home: &Home, name: &str) -> Result<BackupDraft> {
        file::make_folder(&self.root)?;
        let mut draft = BackupDraft { name: name.to_owned(), files: BTreeMap::new(), taken: Taken::default() };
        for attempt in 1.. {
            let before = journal::run(home)?;
            let path = plan::path(home)?;
            self.copy(home, &path, &mut draft)?;
            if before == journal::run(home)? || attempt == TRIES {
                let folded = plan::folded_run(home)?;
                draft.taken.under_way = before.filter(|run| folded.as_ref() != Some(run));
                break;
            }
        }
        for path in walk(home.root())? {
            let shown = home.shown(&path);
            if !shown.starts_with("pages/") && !draft.files.contains_key(&shown) && !is_plan(&shown) {
                self.copy(home, &path, &mut draft)?;
            }
        }
        Ok(draft)
    }

    /// Copies the pages and replaces the manifest.
    pub fn finish(
        &mut self,
        home: &Home,
        mut draft: BackupDraft,
        mut progress: impl FnMut(u64, u64, &str),
    ) -> Result<Taken> {
        let unfinished = draft.taken.under_way.as_ref().map(|run| format!("/{run}."));
        let files: Vec<PathBuf> = walk(home.root())?
            .into_iter()
            .filter(|path| {
                let shown = home.shown(path);
                shown.starts_with("pages/") && unfinished.as_ref().is_none_or(|run| !shown.contains(run))
            })
            .collect();
        for (done, path) in (0..).zip(&files) {
            progress(done, files.len() as u64, &home.shown(path));
            self.copy(home, path, &mut draft)?;
        }
        self.keep_lost(home, &mut draft)?;
        let BackupDraft { files, mut taken, .. } = draft;
        taken.files = files.len() as u64;
        taken.bytes = files.values().map(|saved| saved.bytes).sum();
        write_atomic(&self.root.join(MANIFEST), table::text(files.values().cloned()).as_bytes())?;
        self.files = files;
        self.tidy()?;
        Ok(taken)
    }

    /// Keeps pages that are missing in the home, unless they were removed by a takedown.
    fn keep_lost(&self, home: &Home, draft: &mut BackupDraft) -> Result<()> {
        let removed = Removed::read(home)?;
        for (path, saved) in self.files.iter().filter(|(path, _)| path.starts_with("pages/")) {
            if draft.files.contains_key(path) || home.root().join(path).exists() {
                continue;
            }
            let is_gone_on_purpose = !removed.is_empty() && {
                let pages = path.ends_with(".jsonl.zst").then(|| self.place(saved));
                let pages = pages.unwrap_or_else(|| self.place_of_pages(path));
                !pages.exists() || takedown::all_unwanted(&pages, &removed)?
            };
            if !is_gone_on_purpose {
                draft.taken.lost.push(path.clone());
                draft.files.insert(path.clone(), saved.clone());
            }
        }
        Ok(())
    }

    /// The file of pages that belongs to a WARC file.
    fn place_of_pages(&self, archive: &str) -> PathBuf {
        let pages = format!("{}.jsonl.zst", archive.trim_end_matches(".warc.gz"));
        self.files.get(&pages).map(|saved| self.place(saved)).unwrap_or_default()
    }

    fn place(&self, saved: &Saved) -> PathBuf {
        self.root.join(&saved.folder).join(&saved.path)
    }

    /// Copies a file unless the backup has it as it is.
    fn copy(&self, home: &Home, path: &Path, draft: &mut BackupDraft) -> Result<()> {
        let shown = home.shown(path);
        let meta = match fs::metadata(path) {
            Ok(meta) => meta,
            // Small files may be created and deleted while no process holds the lock.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(error) => Err(error).context("inspect", path)?,
        };
        let since = meta.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let modified = since.map(|since| since.as_nanos().to_string()).unwrap_or_default();
        let known = self.files.get(&shown).filter(|saved| saved.bytes == meta.len() && self.place(saved).is_file());
        if let Some(known) = known
            && (known.modified == modified || digest(path)? == known.xxh3)
        {
            draft.files.insert(shown, Saved { modified, ..known.clone() });
            return Ok(());
        }
        let target = self.root.join(&draft.name).join(&shown);
        let (bytes, xxh3) = copy_whole(path, &target)?;
        draft.taken.copied += 1;
        draft.taken.copied_bytes += bytes;
        draft.files.insert(shown.clone(), Saved { path: shown, bytes, xxh3, modified, folder: draft.name.clone() });
        Ok(())
    }

    /// Deletes files that the manifest does not list: old versions, and those of interrupted runs.
    fn tidy(&self) -> Result<()> {
        let named: BTreeSet<PathBuf> = self.files.values().map(|saved| self.place(saved)).collect();
        // Our folders have names of runs; other files are not touched.
        let is_ours = |path: &PathBuf| path.is_dir() && path.to_string_lossy().ends_with(FOLDER_ENDING);
        for folder in files_in(&self.root)?.into_iter().filter(is_ours) {
            let mut found = Vec::new();
            collect(&folder, MAX_DEPTH, &mut found)?;
            for path in found.iter().filter(|path| !named.contains(*path)) {
                file::remove(path)?;
            }
            remove_empty(&folder);
        }
        Ok(())
    }

    /// Reads every file; returns the damaged and missing ones.
    pub fn verify(&self, mut progress: impl FnMut(u64, u64, &str)) -> Result<Vec<String>> {
        let mut faults = Vec::new();
        for (done, saved) in (0..).zip(self.files.values()) {
            progress(done, self.files.len() as u64, &saved.path);
            let path = self.place(saved);
            match fs::metadata(&path) {
                Err(_) => faults.push(format!("{} is missing", path.display())),
                Ok(meta) if meta.len() != saved.bytes => {
                    faults.push(format!("{} has {} bytes instead of {}", path.display(), meta.len(), saved.bytes));
                }
                Ok(_) if digest(&path)? != saved.xxh3 => faults.push(format!("{} is damaged", path.display())),
                Ok(_) => {}
            }
        }
        Ok(faults)
    }

    /// The number of files, and their bytes.
    pub fn size(&self) -> (u64, u64) {
        (self.files.len() as u64, self.files.values().map(|saved| saved.bytes).sum())
    }

    /// Restores a home to an empty folder, or continues an interrupted restore. The settings are written last: without
    /// them the folder is not a home.
    pub fn restore(&self, to: &Path, mut progress: impl FnMut(u64, u64, &str)) -> Result<()> {
        file::make_private_folder(to)?;
        let marker = to.join(RESTORING);
        if !marker.exists() {
            write_atomic(&marker, b"")?;
        }
        let (last, files): (Vec<&Saved>, Vec<&Saved>) = self.files.values().partition(|saved| saved.path == SETTINGS);
        for (done, saved) in (0..).zip(files.into_iter().chain(last)) {
            progress(done, self.files.len() as u64, &saved.path);
            let (source, target) = (self.place(saved), to.join(&saved.path));
            check_links(&self.root, &source)?;
            check_links(to, &target)?;
            let is_there = fs::metadata(&target).is_ok_and(|meta| meta.len() == saved.bytes);
            if is_there && digest(&target)? == saved.xxh3 {
                continue;
            }
            let (bytes, xxh3) = copy_whole(&source, &target)?;
            if (bytes, &xxh3) != (saved.bytes, &saved.xxh3) {
                file::remove(&target)?;
                return Err(Error::Damaged { path: source, at: "(its digest does not match the manifest)".to_owned() });
            }
        }
        file::remove(&to.join(format!("{RESTORING}.tmp")))?;
        Ok(file::remove(&marker)?)
    }
}

/// A backup in progress.
#[derive(Debug)]
pub struct BackupDraft {
    name: String,
    files: BTreeMap<String, Saved>,
    taken: Taken,
}

/// Whether a home can be restored to a folder: it is empty or has an interrupted restore.
pub fn is_free(folder: &Path) -> Result<bool> {
    // The marker itself may have been cut off.
    let is_marker = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(RESTORING));
    Ok(!folder.exists() || folder.join(RESTORING).exists() || files_in(folder)?.iter().all(is_marker))
}

/// Whether a path of a manifest stays inside of the folder that it is joined to.
fn is_inside(path: &str) -> bool {
    let mut parts = Path::new(path).components().peekable();
    // The characters are those of the manifest: a part such as `a//b` or `./a` is not what Tidings writes either.
    parts.peek().is_some() && parts.all(|part| matches!(part, Component::Normal(_)))
}

/// Rejects a path with a symbolic link below a folder, which would lead out of it.
fn check_links(root: &Path, path: &Path) -> Result<()> {
    let below = path.ancestors().take_while(|ancestor| *ancestor != root);
    for path in below {
        if fs::symlink_metadata(path).is_ok_and(|meta| meta.is_symlink()) {
            return Err(Error::Link { path: path.to_owned() });
        }
    }
    Ok(())
}

fn is_plan(shown: &str) -> bool {
    shown.starts_with("plan.")
}

/// The files of a home that are saved.
fn walk(root: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in files_in(root)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() && !DERIVED.contains(&name.as_str()) {
            collect(&path, MAX_DEPTH, &mut files)?;
        } else if path.is_file() && name != ".lock" && name != "plan.journal.zst" {
            files.push(path);
        }
    }
    let is_whole = |path: &PathBuf| path.extension().is_none_or(|ending| ending != "tmp" && ending != "part");
    let is_memory = |path: &PathBuf| path.ends_with("state/digests.tsv");
    files.retain(|path| is_whole(path) && !is_memory(path));
    Ok(files)
}

fn collect(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) -> Result<()> {
    for path in files_in(folder)? {
        match path.is_dir() {
            true if depth > 0 => collect(&path, depth - 1, files)?,
            true => {}
            false => files.push(path),
        }
    }
    Ok(())
}

/// Removes empty folders.
fn remove_empty(folder: &Path) {
    for inner in files_in(folder).unwrap_or_default().into_iter().filter(|path| path.is_dir()) {
        remove_empty(&inner);
    }
    // A folder that is not empty stays.
    let _ = fs::remove_dir(folder);
}

/// The digest of a file's bytes.
fn digest(path: &Path) -> Result<String> {
    let mut hash = Xxh3::new();
    each_part(path, |part| {
        hash.update(part);
        Ok(())
    })?;
    Ok(format!("{:032x}", hash.digest128()))
}

/// Copies a file atomically with its permissions. Returns its size and digest.
fn copy_whole(from: &Path, to: &Path) -> Result<(u64, String)> {
    let mut draft = AtomicFile::create(to)?;
    let mut hash = Xxh3::new();
    let mut bytes = 0;
    each_part(from, |part| {
        hash.update(part);
        bytes += part.len() as u64;
        Ok(draft.write(part)?)
    })?;
    draft.publish()?;
    // Without set-user-ID and its like.
    let mode = fs::metadata(from).context("inspect", from)?.permissions().mode() & 0o777;
    fs::set_permissions(to, fs::Permissions::from_mode(mode)).context("set the permissions of", to)?;
    Ok((bytes, format!("{:032x}", hash.digest128())))
}

fn each_part(path: &Path, mut see: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
    let mut file = File::open(path).context("open", path)?;
    let mut buffer = vec![0; 1 << 18];
    loop {
        let read = file.read(&mut buffer).context("read", path)?;
        if read == 0 {
            return Ok(());
        }
        see(&buffer[..read])?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{fill_plan, home, rows};

    fn take(backup: &mut Backup, home: &Home, name: &str) -> Taken {
        let draft = backup.begin(home, &format!("{name}{FOLDER_ENDING}")).unwrap();
        backup.finish(home, draft, |_, _, _| {}).unwrap()
    }

    #[test]
    fn a_backup_is_restored_and_derived_files_are_not_in_it() {
        let (folder, home) = home();
        fill_plan(&home, "f", &["a", "b"]);
        for key in [
            "pages/2026-03-01/r.0.jsonl.zst",
            "state/feeds.tsv",
            "docs/de/1.jsonl.zst",
            "pages/2026-03-01/r.1.jsonl.zst.part",
        ] {
            home.storage().put_atomic(key, key.as_bytes()).unwrap();
        }
        let other = tempfile::tempdir().unwrap();
        let mut backup = Backup::open(other.path()).unwrap();
        assert!(backup.is_empty());
        let taken = take(&mut backup, &home, "1");
        assert_eq!(taken.files, taken.copied);
        let again = take(&mut backup, &home, "2");
        assert_eq!((again.files, again.copied), (taken.files, 0), "unchanged files are not copied");
        let to = folder.path().join("restored");
        assert!(is_free(&to).unwrap());
        backup.restore(&to, |_, _, _| {}).unwrap();
        let restored = Home::at(&to).unwrap();
        assert_eq!(rows(&restored), rows(&home));
        assert!(restored.file_bytes("pages/2026-03-01/r.0.jsonl.zst").unwrap().is_some());
        assert!(restored.file_bytes("docs/de/1.jsonl.zst").unwrap().is_none());
        assert!(restored.file_bytes("pages/2026-03-01/r.1.jsonl.zst.part").unwrap().is_none());
        assert!(!is_free(&to).unwrap());
    }

    /// A backup of one file, with another path or folder in its manifest.
    fn hostile(path: &str, folder: &str) -> tempfile::TempDir {
        let backup = tempfile::tempdir().unwrap();
        let name = format!("1{FOLDER_ENDING}");
        let file = backup.path().join(&name).join("victim");
        file::make_folder(file::parent(&file)).unwrap();
        fs::write(&file, b"x").unwrap();
        let folder = if folder.is_empty() { name } else { folder.to_owned() };
        let saved =
            Saved { path: path.into(), bytes: 1, xxh3: digest(&file).unwrap(), modified: String::new(), folder };
        fs::write(backup.path().join(MANIFEST), table::text([saved].into_iter())).unwrap();
        backup
    }

    #[test]
    fn a_manifest_that_leads_out_of_the_home_or_of_the_backup_is_refused() {
        for (path, folder) in [
            ("../escaped.txt", ""),
            ("/tmp/escaped.txt", ""),
            ("pages/../../escaped.txt", ""),
            ("..", ""),
            (".", ""),
            ("victim", ".."),
            ("victim", "/etc"),
            ("victim", "1-backup/../.."),
        ] {
            let backup = hostile(path, folder);
            let error = Backup::open(backup.path()).unwrap_err().to_string();
            assert!(error.contains("MANIFEST.tsv lists `") && error.contains("nothing was restored"), "{error}");
        }
    }

    #[test]
    fn a_restore_follows_no_links_of_its_source_or_target() {
        let outside = tempfile::tempdir().unwrap();
        let backup = hostile("pages/victim", "");
        let folder = backup.path().join(format!("1{FOLDER_ENDING}"));
        fs::create_dir(folder.join("pages")).unwrap();
        fs::rename(folder.join("victim"), folder.join("pages/victim")).unwrap();
        let to = tempfile::tempdir().unwrap();
        fs::write(to.path().join(RESTORING), "").unwrap();
        std::os::unix::fs::symlink(outside.path(), to.path().join("pages")).unwrap();
        let opened = Backup::open(backup.path()).unwrap();
        let restore = |to: &Path| opened.restore(to, |_, _, _| {}).unwrap_err().to_string();
        assert!(restore(to.path()).contains("is a symbolic link"));
        assert_eq!(files_in(outside.path()).unwrap().len(), 0);
        fs::rename(folder.join("pages/victim"), outside.path().join("victim")).unwrap();
        std::os::unix::fs::symlink(outside.path().join("victim"), folder.join("pages/victim")).unwrap();
        assert!(restore(&outside.path().join("new")).contains("is a symbolic link"));
    }

    #[test]
    fn pages_missing_in_the_home_stay_in_the_backup() {
        let (_folder, home) = home();
        let key = "pages/2026-03-01/r.0.jsonl.zst";
        home.storage().put_atomic(key, b"page").unwrap();
        let other = tempfile::tempdir().unwrap();
        let mut backup = Backup::open(other.path()).unwrap();
        take(&mut backup, &home, "1");
        assert!(!backup.is_of_another(&home));
        home.storage().remove(key).unwrap();
        assert!(backup.is_of_another(&home));
        let taken = take(&mut backup, &home, "2");
        assert_eq!(taken.lost, [key]);
        assert!(Backup::open(other.path()).unwrap().verify(|_, _, _| {}).unwrap().is_empty());
    }

    #[test]
    fn verification_finds_damaged_and_missing_files_and_stops_a_restore() {
        let (folder, home) = home();
        home.storage().put_atomic("pages/2026-03-01/a.jsonl.zst", b"page").unwrap();
        home.storage().put_atomic("pages/2026-03-01/b.jsonl.zst", b"page").unwrap();
        let other = tempfile::tempdir().unwrap();
        let mut backup = Backup::open(other.path()).unwrap();
        take(&mut backup, &home, "1");
        let saved = |name: &str| other.path().join(format!("1{FOLDER_ENDING}/pages/2026-03-01/{name}.jsonl.zst"));
        fs::write(saved("a"), b"pagf").unwrap();
        fs::remove_file(saved("b")).unwrap();
        let faults = backup.verify(|_, _, _| {}).unwrap();
        assert_eq!(faults.len(), 2);
        assert!(
            faults[0].ends_with("a.jsonl.zst is damaged") && faults[1].ends_with("b.jsonl.zst is missing"),
            "{faults:?}"
        );
        let to = folder.path().join("restored");
        assert!(backup.restore(&to, |_, _, _| {}).is_err());
        assert!(Home::at(&to).is_err(), "a partial home is not a home");
        assert!(is_free(&to).unwrap(), "the restore can be continued");
    }
}
