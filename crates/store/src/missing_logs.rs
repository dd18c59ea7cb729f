//! Run logs that should exist and do not.
//!
//! An audit of the logs proves nothing about a run whose log is gone. A run that sent requests leaves other traces,
//! which carry its name: its pages, and the plan that it replaced.

use std::collections::BTreeSet;

use jiff::Timestamp;
use tidings_storage::file::files_in;

use crate::error::Result;
use crate::home::Home;
use crate::pages;
use crate::runs::{self, RunName};

/// The verbs of runs that send requests.
const VERBS: [&str; 3] = ["update", "fetch", "discover"];

/// The names of runs since a time that sent requests and whose logs are missing, oldest first.
pub fn missing(home: &Home, since: Timestamp) -> Result<Vec<String>> {
    let logged = logged(home)?;
    let is_missing = |run: &String| {
        let is_recent = RunName::parse(run).is_some_and(|run| run.began >= since);
        is_recent && !logged.contains(run.as_str())
    };
    Ok(proven(home)?.into_iter().filter(is_missing).collect())
}

/// The names of all runs with a log.
fn logged(home: &Home) -> Result<BTreeSet<String>> {
    Ok(runs::all(home)?.iter().map(|run| run.name().to_owned()).collect())
}

/// The names of the runs that sent requests, as far as pages and earlier plans prove them.
fn proven(home: &Home) -> Result<BTreeSet<String>> {
    let mut proven = BTreeSet::new();
    for file in pages::files(home)?.iter().chain(&files_in(&home.history())?) {
        let Some(run) = file.file_name().and_then(|name| name.to_str()?.split('.').next()) else { continue };
        if RunName::parse(run).is_some_and(|run| VERBS.contains(&run.verb.as_str())) {
            proven.insert(run.to_owned());
        }
    }
    Ok(proven)
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_run_with_pages_or_a_plan_and_without_a_log_is_missing() {
        let (_folder, home) = crate::testing::home();
        let touch = |path: &str| {
            let path = home.root().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, b"").unwrap();
        };
        touch("pages/2026-03-01/20260301T120000000Z-fetch.0.jsonl.zst");
        touch("pages/2026-03-01/20260301T130000000Z-fetch.0.jsonl.zst");
        touch("pages/2026-03-01/20260301T130000000Z-fetch.1.jsonl.zst");
        touch("pages/2026-03-01/20260301T140000000Z-import.0.jsonl.zst");
        touch("history/20260301T110000000Z-update.plan.tsv.zst");
        touch("history/20260301T150000000Z-prune.plan.tsv.zst");
        crate::runs::RunLog::create(&home, "20260301T120000000Z-fetch").unwrap().publish().unwrap();
        let missing = |since: &str| super::missing(&home, since.parse().unwrap()).unwrap();
        let all = ["20260301T110000000Z-update", "20260301T130000000Z-fetch"];
        assert_eq!(missing("2026-01-01T00:00:00Z"), all);
        assert_eq!(missing("2026-03-01T12:30:00Z"), all[1..]);
    }
}
