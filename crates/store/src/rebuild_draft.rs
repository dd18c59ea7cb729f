//! The draft of a rebuild: derived data that is made beside the old and takes its place at the end.
//!
//! The draft is in `rebuild/new`, with the layout of the home. A complete draft is committed by a file that lists its
//! folders; from then on each folder of the home is renamed to `rebuild/old` and its successor takes its place. Every
//! step may be repeated: the next command that locks the home completes a swap that a crash interrupted, or deletes a
//! draft that was not committed.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tidings_storage::file::{self, files_in};
use tidings_storage::{OverlayStorage, write_atomic};

use crate::error::{Context, Result};
use crate::home::{DRAFTS, Home, remove_folder};

/// The folder of the draft in a home.
pub(crate) const FOLDER: &str = "rebuild";
/// The place of new data, with the layout of the home.
pub(crate) const NEW: &str = "rebuild/new";
/// The place of old data until it is deleted.
const OLD: &str = "rebuild/old";
/// The list of folders that take the place of the old ones.
const COMMIT: &str = "rebuild/COMMIT";

/// Derived data in progress. Without [`commit`](RebuildDraft::commit) it leaves no trace.
pub struct RebuildDraft {
    original: Home,
    home: Home,
    roots: Vec<&'static str>,
}

impl RebuildDraft {
    /// Starts an empty draft of some folders of derived data, such as `docs` and `seen`. The caller holds the lock.
    pub fn create(home: &Home, roots: &[&'static str]) -> Result<RebuildDraft> {
        remove_folder(&home.root().join(FOLDER))?;
        for root in roots {
            file::make_folder(&home.root().join(NEW).join(root))?;
        }
        let storage = Arc::new(OverlayStorage::new(home.root(), NEW, roots));
        Ok(RebuildDraft { original: home.clone(), home: home.over_draft(storage, roots), roots: roots.to_vec() })
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
        write_atomic(&self.original.root().join(COMMIT), (self.roots.join("\n") + "\n").as_bytes())?;
        recover(&self.original)
    }
}

impl Drop for RebuildDraft {
    fn drop(&mut self) {
        if !self.original.root().join(COMMIT).exists() {
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
