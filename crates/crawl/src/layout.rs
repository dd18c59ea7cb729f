//! Where the files of a crawl are, and the removal of those that an unfinished checkpoint left.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use tidings_storage::file;

use crate::error::Result;
use crate::state::CrawlState;

impl CrawlState {
    /// Removes files that the manifest does not name: of a checkpoint that was not finished.
    pub(crate) fn remove_unnamed(&self) -> Result<()> {
        let folder = &self.folder;
        let mut named: HashSet<PathBuf> = HashSet::new();
        for (shard, runs) in &self.manifest.seen {
            named.extend(runs.iter().map(|run| folder.join("seen").join(shard).join(format!("{}.u64", run.id))));
        }
        for (shard, files) in &self.manifest.frontier {
            let at = folder.join("frontier").join(shard);
            named.extend(files.runs.iter().map(|run| at.join(format!("{}.urls.zst", run.id))));
            named.insert(at.join(format!("{}.counts.zst", files.counts)));
        }
        for (table, shards) in &self.manifest.tables {
            named.extend(shards.iter().map(|(shard, id)| table_path(folder, table, shard, *id)));
        }
        named.extend(self.manifest.sets.iter().map(|(set, id)| set_path(folder, set, *id)));
        named.insert(in_flight_path(folder, self.manifest.in_flight));
        named.insert(journal_path(folder, self.manifest.journal));
        let tables = self.manifest.tables.keys().map(String::as_str);
        for sharded in ["seen", "frontier", "domains", "crawl"].into_iter().chain(tables) {
            for shard in file::files_in(&folder.join(sharded))? {
                remove_others(&shard, &named)?;
            }
        }
        for plain in ["sets", "in-flight", "journal"] {
            remove_others(&folder.join(plain), &named)?;
        }
        Ok(())
    }
}

fn remove_others(folder: &Path, named: &HashSet<PathBuf>) -> Result<()> {
    for path in file::files_in(folder)?.into_iter().filter(|path| !named.contains(path)) {
        file::discard(&path)?;
    }
    Ok(())
}

pub(crate) fn journal_path(folder: &Path, id: u64) -> PathBuf {
    folder.join("journal").join(format!("{id}.zst"))
}

pub(crate) fn in_flight_path(folder: &Path, id: u64) -> PathBuf {
    folder.join("in-flight").join(format!("{id}.zst"))
}

pub(crate) fn table_path(folder: &Path, table: &str, shard: &str, id: u64) -> PathBuf {
    folder.join(table).join(shard).join(format!("{id}.jsonl.zst"))
}

pub(crate) fn set_path(folder: &Path, set: &str, id: u64) -> PathBuf {
    folder.join("sets").join(format!("{set}-{id}.u64"))
}
