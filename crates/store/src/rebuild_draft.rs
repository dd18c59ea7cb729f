//! The draft of a rebuild: derived data that is made beside the old and takes its place at the end.
//!
//! The draft is in `rebuild/new`, with the layout of the home. A complete draft is committed by a file that lists its
//! folders; from then on each folder of the home is renamed to `rebuild/old` and its successor takes its place. Every
//! step may be repeated: the next command that locks the home completes a swap that a crash interrupted, or deletes a
//! draft that was not committed.
//!
//! Several processes may make one draft. `rebuild/shards/` then has its order and a mark for each shard that has done
//! its part; such a draft stays when all of them end or are killed, until it is complete or abandoned.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tidings_storage::file::{self, files_in};
use tidings_storage::{OverlayStorage, write_atomic};

use crate::error::{Context, Error, Result};
use crate::home::{DRAFTS, Home, remove_folder};

/// The folder of the draft in a home.
pub(crate) const FOLDER: &str = "rebuild";
/// The place of new data, with the layout of the home.
pub(crate) const NEW: &str = "rebuild/new";
/// The place of old data until it is deleted.
const OLD: &str = "rebuild/old";
/// The list of folders that take the place of the old ones.
const COMMIT: &str = "rebuild/COMMIT";
/// The folder of a draft that several processes make.
const SHARDS: &str = "rebuild/shards";
/// Its order.
const ORDER: &str = "rebuild/shards/order.json";
/// The beginning of the names of marks of shards that have done their part.
const DONE: &str = "done-";

/// What several processes rebuild together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RebuildOrder {
    /// The first stage.
    pub from: String,
    /// The number of shards.
    pub shards: u32,
    /// The folders of the draft.
    pub folders: Vec<String>,
}

/// A rebuild by several processes that is not complete.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OpenRebuild {
    /// What they make.
    pub order: RebuildOrder,
    /// The shards that have done their part, counted from 1.
    pub done: Vec<u32>,
}

impl OpenRebuild {
    /// The rebuild that is in progress in a home.
    pub fn read(home: &Home) -> Result<Option<OpenRebuild>> {
        let path = home.root().join(ORDER);
        let text = match fs::read(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            text => text.context("read", &path)?,
        };
        let damaged = |_| Error::Damaged { path: path.clone(), at: "in its only line".to_owned() };
        let order = serde_json::from_slice(&text).map_err(damaged)?;
        let number = |path: &PathBuf| path.file_name()?.to_str()?.strip_prefix(DONE)?.parse().ok();
        let mut done: Vec<u32> = files_in(&home.root().join(SHARDS))?.iter().filter_map(number).collect();
        done.sort_unstable();
        Ok(Some(OpenRebuild { order, done }))
    }

    /// The shards that have not done their part, counted from 1.
    pub fn missing(&self) -> Vec<u32> {
        (1..=self.order.shards).filter(|shard| !self.done.contains(shard)).collect()
    }
}

/// Deletes the draft that several processes make, if there is one; returns whether there was. The caller holds the lock.
pub fn abandon_rebuild(home: &Home) -> Result<bool> {
    let is_open = home.root().join(SHARDS).exists();
    if is_open && !home.root().join(COMMIT).exists() {
        // Without its order, what is left of it is deleted as after a crash.
        file::remove(&home.root().join(ORDER))?;
        remove_folder(&home.root().join(FOLDER))?;
    }
    Ok(is_open)
}

/// Derived data in progress. Without [`commit`](RebuildDraft::commit) it leaves no trace.
pub struct RebuildDraft {
    original: Home,
    home: Home,
    roots: Vec<&'static str>,
    is_shared: bool,
}

impl RebuildDraft {
    /// Opens the draft that several processes make, and starts it if there is none. The caller has claimed the draft.
    pub fn open_shared(home: &Home, roots: &[&'static str], from: &str, shards: u32) -> Result<RebuildDraft> {
        let folders = roots.iter().map(|root| (*root).to_owned()).collect();
        let order = RebuildOrder { from: from.to_owned(), shards, folders };
        match OpenRebuild::read(home)? {
            Some(open) if open.order == order => {}
            Some(open) => return Err(Error::OtherRebuild { from: open.order.from, shards: open.order.shards }),
            None => {
                drop(RebuildDraft::over(home, roots, true).start()?);
                let mut text = serde_json::to_vec(&order).expect("orders serialise");
                text.push(b'\n');
                file::make_folder(&home.root().join(SHARDS))?;
                write_atomic(&home.root().join(ORDER), &text)?;
            }
        }
        Ok(RebuildDraft::over(home, roots, true))
    }

    /// Opens the complete draft that several processes made, to commit it; `None` if another process has. The caller
    /// holds the lock.
    pub fn complete_shared(home: &Home, roots: &[&'static str]) -> Result<Option<RebuildDraft>> {
        let is_complete = OpenRebuild::read(home)?.is_some_and(|open| open.missing().is_empty());
        Ok(is_complete.then(|| RebuildDraft::over(home, roots, true)))
    }

    /// Notes that a shard has done its part.
    pub fn note_shard(&self, shard: u32) -> Result<()> {
        Ok(write_atomic(&self.original.root().join(SHARDS).join(format!("{DONE}{shard}")), b"")?)
    }

    fn over(home: &Home, roots: &[&'static str], is_shared: bool) -> RebuildDraft {
        let storage = Arc::new(OverlayStorage::new(home.base().clone(), NEW, roots));
        let drafted = home.over_draft(storage, roots);
        RebuildDraft { original: home.clone(), home: drafted, roots: roots.to_vec(), is_shared }
    }

    fn start(self) -> Result<RebuildDraft> {
        remove_folder(&self.original.root().join(FOLDER))?;
        for root in &self.roots {
            file::make_folder(&self.original.root().join(NEW).join(root))?;
        }
        Ok(self)
    }

    /// Starts an empty draft of some folders of derived data, such as `docs` and `seen`. The caller holds the lock.
    pub fn create(home: &Home, roots: &[&'static str]) -> Result<RebuildDraft> {
        if let Some(open) = OpenRebuild::read(home)? {
            return Err(Error::OtherRebuild { from: open.order.from, shards: open.order.shards });
        }
        RebuildDraft::over(home, roots, false).start()
    }

    /// The home with the draft in place of the old data.
    pub fn home(&self) -> &Home {
        &self.home
    }

    /// Fills the draft with the present data, without copying immutable files.
    pub fn fill(&self) -> Result<()> {
        for root in &self.roots {
            link_folder(&self.original.root().join(root), &self.original.root().join(NEW).join(root))?;
        }
        Ok(())
    }

    /// Puts the draft in the place of the old data.
    pub fn commit(self) -> Result<()> {
        // Processes that made it together have left the folders of their drafts.
        for root in &self.roots {
            let is_drafts = |path: &&PathBuf| {
                path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(DRAFTS.as_bytes()))
            };
            let folders = files_in(&self.original.root().join(NEW).join(root))?;
            folders.iter().filter(is_drafts).try_for_each(|folder| remove_folder(folder))?;
        }
        write_atomic(&self.original.root().join(COMMIT), (self.roots.join("\n") + "\n").as_bytes())?;
        recover(&self.original)
    }
}

impl Drop for RebuildDraft {
    fn drop(&mut self) {
        if !self.is_shared && !self.original.root().join(COMMIT).exists() {
            // What cannot be deleted now is deleted by the next command that locks the home.
            let _ = remove_folder(&self.original.root().join(FOLDER));
        }
    }
}

/// Completes a committed swap, or deletes a draft that was not committed. The caller holds the lock.
pub(crate) fn recover(home: &Home) -> Result<()> {
    let (folder, commit) = (home.root().join(FOLDER), home.root().join(COMMIT));
    if !folder.exists() {
        return Ok(());
    }
    let roots = match fs::read_to_string(&commit) {
        Ok(roots) => roots,
        // The processes that make it are between two commands, or one of them was killed.
        Err(_) if !commit.exists() && home.root().join(ORDER).is_file() => return Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => Err(error).context("read", &commit)?,
    };
    for root in roots.lines() {
        let [new, old] = [NEW, OLD].map(|place| home.root().join(place).join(root));
        let place = home.root().join(root);
        if !new.exists() {
            continue;
        }
        if place.exists() {
            file::make_folder(file::parent(&old))?;
            file::rename(&place, &old)?;
        }
        file::rename(&new, &place)?;
    }
    // The commit is deleted after the rest of the draft, so that nothing of it can be mistaken for a draft.
    remove_folder(&home.root().join(SHARDS))?;
    remove_folder(&home.root().join(NEW))?;
    remove_folder(&home.root().join(OLD))?;
    file::remove(&commit)?;
    remove_folder(&folder)
}

/// Files that are changed in place, which a link would share.
fn is_mutable(path: &Path) -> bool {
    path.ends_with(crate::dedup_state::KEY)
}

fn link_folder(from: &Path, to: &Path) -> Result<()> {
    file::make_folder(to)?;
    for path in files_in(from)? {
        let name = path.file_name().unwrap_or_default();
        let target: PathBuf = to.join(name);
        if path.is_dir() {
            if !name.as_encoded_bytes().starts_with(DRAFTS.as_bytes()) {
                link_folder(&path, &target)?;
            }
        } else if is_mutable(&path) || fs::hard_link(&path, &target).is_err() {
            fs::copy(&path, &target).context("copy", &path)?;
            file::sync_file(&target)?;
        }
    }
    Ok(file::sync_folder(to)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(home: &Home, key: &str, text: &str) {
        home.storage().put_atomic(key, text.as_bytes()).unwrap();
    }

    fn get(home: &Home, key: &str) -> Option<String> {
        home.storage().read(key).unwrap().map(|bytes| String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn a_draft_is_invisible_until_it_is_committed() {
        let (_folder, home) = crate::testing::home();
        put(&home, "docs/de/1", "old");
        put(&home, "text/de/1", "old text");
        put(&home, "pages/1", "page");
        let draft = RebuildDraft::create(&home, &["docs"]).unwrap();
        assert_eq!(get(draft.home(), "docs/de/1"), None);
        assert_eq!(get(draft.home(), "pages/1").as_deref(), Some("page"));
        put(draft.home(), "docs/en/1", "new");
        assert_eq!(draft.home().key(&draft.home().docs().join("en/1")), "docs/en/1");
        assert_eq!((get(&home, "docs/de/1").as_deref(), get(&home, "docs/en/1")), (Some("old"), None));
        draft.commit().unwrap();
        assert_eq!((get(&home, "docs/de/1"), get(&home, "docs/en/1").as_deref()), (None, Some("new")));
        assert_eq!(get(&home, "text/de/1").as_deref(), Some("old text"));
        assert!(!home.root().join(FOLDER).exists());
    }

    #[test]
    fn a_draft_that_is_dropped_leaves_the_old_data() {
        let (_folder, home) = crate::testing::home();
        put(&home, "docs/de/1", "old");
        let draft = RebuildDraft::create(&home, &["docs"]).unwrap();
        put(draft.home(), "docs/de/1", "new");
        drop(draft);
        assert_eq!(get(&home, "docs/de/1").as_deref(), Some("old"));
        assert!(!home.root().join(FOLDER).exists());
    }

    #[test]
    fn an_interrupted_swap_is_completed_from_every_step() {
        for step in 0..4 {
            let (_folder, home) = crate::testing::home();
            put(&home, "docs/1", "old");
            put(&home, "text/1", "old");
            put(&home, "rebuild/new/docs/1", "new");
            put(&home, "rebuild/new/text/1", "new");
            put(&home, COMMIT, "docs\ntext\n");
            let move_to = |from: &str, to: &str| {
                let to = home.root().join(to);
                fs::create_dir_all(to.parent().unwrap()).unwrap();
                fs::rename(home.root().join(from), to).unwrap();
            };
            let steps = [("docs", "rebuild/old/docs"), ("rebuild/new/docs", "docs"), ("text", "rebuild/old/text")];
            steps[..step].iter().for_each(|(from, to)| move_to(from, to));
            drop(home.lock().unwrap());
            for key in ["docs/1", "text/1"] {
                assert_eq!(get(&home, key).as_deref(), Some("new"), "after step {step}");
            }
            assert!(!home.root().join(FOLDER).exists());
        }
    }

    #[test]
    fn an_uncommitted_draft_of_a_crash_is_deleted_with_the_next_lock() {
        let (_folder, home) = crate::testing::home();
        put(&home, "docs/1", "old");
        put(&home, "rebuild/new/docs/1", "new");
        drop(home.lock().unwrap());
        assert_eq!(get(&home, "docs/1").as_deref(), Some("old"));
        assert!(!home.root().join(FOLDER).exists());
    }

    #[test]
    fn a_draft_of_several_processes_stays_until_all_have_done_their_part() {
        let (_folder, home) = crate::testing::home();
        put(&home, "docs/1", "old");
        let open = |home: &Home| RebuildDraft::open_shared(home, &["docs"], "clean", 2);
        let [first, second] = ["1-of-2", "2-of-2"].map(|shard| open(&home.for_shard(shard)).unwrap());
        put(first.home(), "docs/1", "new");
        put(second.home(), "docs/2", "new");
        first.note_shard(1).unwrap();
        drop((first, second));
        assert_eq!(OpenRebuild::read(&home).unwrap().unwrap().missing(), [2]);
        let lock = home.lock().unwrap();
        assert!(RebuildDraft::create(&home, &["docs"]).is_err(), "it would delete the work of the others");
        assert!(RebuildDraft::complete_shared(&home, &["docs"]).unwrap().is_none());
        drop(lock);
        let other = RebuildDraft::open_shared(&home, &["docs"], "clean", 3);
        let error = other.err().expect("another division").to_string();
        assert!(error.contains("from clean by 2 shards"), "{error}");
        open(&home).unwrap().note_shard(2).unwrap();
        let _lock = home.lock().unwrap();
        RebuildDraft::complete_shared(&home, &["docs"]).unwrap().unwrap().commit().unwrap();
        assert_eq!((get(&home, "docs/1").as_deref(), get(&home, "docs/2").as_deref()), (Some("new"), Some("new")));
        assert!(!home.root().join(FOLDER).exists());
        assert!(RebuildDraft::complete_shared(&home, &["docs"]).unwrap().is_none(), "another process was faster");
    }

    #[test]
    fn an_abandoned_draft_of_several_processes_is_deleted() {
        let (_folder, home) = crate::testing::home();
        put(&home, "docs/1", "old");
        let draft = RebuildDraft::open_shared(&home, &["docs"], "clean", 2).unwrap();
        put(draft.home(), "docs/1", "new");
        drop(draft);
        let _lock = home.lock().unwrap();
        assert!(abandon_rebuild(&home).unwrap() && !abandon_rebuild(&home).unwrap());
        assert!(!home.root().join(FOLDER).exists() && get(&home, "docs/1").as_deref() == Some("old"));
    }

    #[test]
    fn a_filled_draft_shares_no_file_that_is_changed_in_place() {
        let (_folder, home) = crate::testing::home();
        put(&home, "seen/ledger.jsonl", "one\n");
        put(&home, "seen/verdicts/1", "verdict");
        put(&home, "seen/draft/1", "draft");
        let draft = RebuildDraft::create(&home, &["seen"]).unwrap();
        draft.fill().unwrap();
        let ledger = draft.home().seen().join("ledger.jsonl");
        fs::write(&ledger, "two\n").unwrap();
        assert_eq!(get(&home, "seen/ledger.jsonl").as_deref(), Some("one\n"));
        assert_eq!(get(draft.home(), "seen/verdicts/1").as_deref(), Some("verdict"));
        draft.home().storage().remove("seen/verdicts/1").unwrap();
        assert_eq!(get(&home, "seen/verdicts/1").as_deref(), Some("verdict"));
        assert_eq!(get(draft.home(), "seen/draft/1"), None);
    }
}
