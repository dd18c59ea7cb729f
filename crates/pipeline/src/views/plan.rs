//! View of the plan or a selection of it.

use std::collections::BTreeMap;
use std::fmt;
use std::io::Write;
use std::path::Path;

use anyhow::Result;
use serde::Serialize;
use tidings_model::{Row, address};
use tidings_store::{Home, plan};

use crate::outcome::Outcome;

/// Rows are written in buffers of this size.
const BUFFER_BYTES: usize = 1 << 16;

/// Options: the selected entries.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Entries with one of these statuses; empty: any.
    pub status: Vec<String>,
    /// Entries of this host.
    pub host: Option<String>,
    /// Entries of this feed.
    pub feed: Option<String>,
    /// The maximum number of entries.
    pub limit: Option<u64>,
    /// Only count the entries by status.
    pub count: bool,
}

impl Options {
    fn wants(&self, row: &Row<'_>) -> bool {
        (self.status.is_empty() || self.status.iter().any(|status| status == row.status))
            && self.feed.as_ref().is_none_or(|feed| feed == row.feed)
            && self
                .host
                .as_ref()
                .is_none_or(|host| address::host(row.url).is_some_and(|h| h.eq_ignore_ascii_case(host)))
    }
}

/// The sums of a view.
#[derive(Debug, Clone, Default, Serialize)]
pub struct PlanOutcome {
    /// Always true.
    pub done: bool,
    /// Selected entries.
    pub entries: u64,
    /// The same by status.
    pub statuses: BTreeMap<String, u64>,
    /// Whether the statuses are shown.
    #[serde(skip)]
    count: bool,
}

impl Outcome for PlanOutcome {}

impl fmt::Display for PlanOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let statuses = self.statuses.iter().filter(|_| self.count);
        statuses.into_iter().try_for_each(|(status, number)| writeln!(f, "{number}\t{status}"))
    }
}

/// Writes the selected entries of the plan of a home, if there is a writer; counts them.
pub fn of_home(home: &Home, options: &Options, out: Option<&mut dyn Write>) -> Result<PlanOutcome> {
    of_file(&plan::path(home)?, options, out)
}

/// The same for a plan file: of Tidings or FeedFetcher, plain or compressed.
pub fn of_file(path: &Path, options: &Options, out: Option<&mut dyn Write>) -> Result<PlanOutcome> {
    let mut outcome = PlanOutcome { done: true, count: options.count, ..PlanOutcome::default() };
    let mut out = out.filter(|_| !options.count);
    let mut rows = String::new();
    let mut written = Ok(());
    plan::read_file(path, |row| {
        if !options.wants(row) || options.limit.is_some_and(|limit| outcome.entries >= limit) {
            return;
        }
        outcome.entries += 1;
        *outcome.statuses.entry(row.status.to_owned()).or_default() += 1;
        if let Some(out) = &mut out {
            row.write(&mut rows);
            if rows.len() > BUFFER_BYTES && written.is_ok() {
                written = out.write_all(rows.as_bytes());
                rows.clear();
            }
        }
    })?;
    written?;
    if let Some(out) = out {
        out.write_all(rows.as_bytes())?;
    }
    Ok(outcome)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: &str = "0\tok\t1\t2026-03-01T00:00:00.000Z\t\thttp://e.org/feed\thttp://e.org/1\tOne\n\
        0\tnew\t0\t2026-03-01T00:00:00.000Z\t\thttp://f.org/feed\thttp://F.org/2\tTwo\n";

    fn view(options: &Options) -> (String, PlanOutcome) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("plan.tsv");
        std::fs::write(&path, PLAN).unwrap();
        let mut rows = Vec::new();
        let outcome = of_file(&path, options, Some(&mut rows)).unwrap();
        (String::from_utf8(rows).unwrap(), outcome)
    }

    #[test]
    fn rows_are_written_unchanged_and_counted() {
        let (rows, outcome) = view(&Options::default());
        assert_eq!((rows.as_str(), outcome.entries, outcome.to_string().as_str()), (PLAN, 2, ""));
        let (rows, outcome) = view(&Options { count: true, ..Options::default() });
        assert_eq!((rows.as_str(), outcome.to_string().as_str()), ("", "1\tnew\n1\tok\n"));
    }

    #[test]
    fn filters_select_entries() {
        let of = |options: Options| view(&options).1.entries;
        assert_eq!(of(Options { host: Some("f.org".into()), ..Options::default() }), 1);
        assert_eq!(of(Options { status: vec!["404".into()], ..Options::default() }), 0);
        assert_eq!(of(Options { feed: Some("http://e.org/feed".into()), ..Options::default() }), 1);
        assert_eq!(of(Options { limit: Some(1), ..Options::default() }), 1);
    }
}
