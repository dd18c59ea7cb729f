//! Lists of feeds of other programs (OPML), in and out.

use std::fmt;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde::Serialize;
use tidings_feeds::discover::{Evidence, Outline, read_opml, site, write_opml};
use tidings_store::candidates::{self, Candidate, Fate};
use tidings_store::{Home, feeds};

use super::{adopt, listed, plain};
use crate::context::RunContext;
use crate::display::count;

/// Candidates that were read from a list.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ImportOutcome {
    /// Feeds in the list.
    pub read: u64,
    /// Feeds that are candidates now.
    pub candidates: u64,
    /// Feeds that `feeds.txt` has already.
    pub known: u64,
    /// Entries without an address.
    pub faulty: u64,
    #[serde(skip)]
    shown: String,
}

impl fmt::Display for ImportOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ImportOutcome { read, candidates, known, faulty, shown } = self;
        let read = count(*read, "feed");
        writeln!(
            f,
            "{read} read from {shown}: {candidates} taken in as candidates, {known} in feeds.txt already, \
             {faulty} without an address"
        )
    }
}

/// A list of feeds from another program.
struct Outlined {
    shown: String,
    read: u64,
    rows: Vec<Candidate>,
    known: u64,
    faulty: u64,
}

/// Reads a list of feeds from another program.
fn outlined(context: &RunContext, path: &Path) -> Result<Outlined> {
    let body = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let listed = listed(context)?;
    let shown = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let outlines = read_opml(&body);
    let read = outlines.len() as u64;
    let (mut rows, mut known, mut faulty) = (Vec::new(), 0, 0);
    for outline in outlines {
        let address = outline.feed.strip_prefix("feed:").map(|rest| rest.trim_start_matches("//").to_owned());
        let address = address.unwrap_or(outline.feed);
        let address = if address.contains("://") { address } else { format!("http://{address}") };
        let Some(site) = site(&address) else {
            faulty += 1;
            continue;
        };
        if listed.contains(&plain(&address)) {
            known += 1;
            continue;
        }
        let label = |text: &str| text.replace(['\t', '\n', '\r', '='], " ").trim().to_owned();
        let topics: Vec<String> = outline.labels.iter().map(|text| label(text)).collect();
        rows.push(Candidate {
            site,
            evidence: Evidence::Listed.name().to_owned(),
            seen: 1,
            found_on: shown.clone(),
            language: outline.language.split(['-', '_']).next().unwrap_or_default().to_ascii_lowercase(),
            title: label(&outline.title),
            labels: if topics.is_empty() { String::new() } else { format!("topic={}", topics.join("/")) },
            feed: address,
            ..Candidate::default()
        });
    }
    Ok(Outlined { shown, read, rows, known, faulty })
}

/// Takes in a list of feeds from another program as candidates.
pub fn import(context: &RunContext, path: &Path) -> Result<ImportOutcome> {
    let Outlined { shown, read, rows, known, faulty } = outlined(context, path)?;
    let candidates = rows.len() as u64;
    candidates::add(&context.home, rows)?;
    Ok(ImportOutcome { read, candidates, known, faulty, shown })
}

/// Adds a list of feeds from another program to `feeds.txt`; returns a line for people.
pub fn add_to_list(context: &RunContext, path: &Path) -> Result<String> {
    let Outlined { shown, read, mut rows, known, faulty } = outlined(context, path)?;
    rows.iter_mut().for_each(|row| row.fate = Fate::Promoted);
    let new = adopt(context, rows)?;
    Ok(format!(
        "{} read from {shown}: {new} added to feeds.txt, {known} there already, {faulty} without an address\n",
        count(read, "feed")
    ))
}

/// The list of feeds as OPML, and how many there are.
pub fn export(home: &Home) -> Result<(String, u64)> {
    let states = feeds::states(home)?;
    let outlines: Vec<Outline> = feeds::list(home)?
        .feeds
        .into_iter()
        .map(|feed| Outline {
            title: states.get(&feed.url).map(|state| state.title.clone()).unwrap_or_default(),
            language: feed
                .labels
                .iter()
                .find(|label| label.0 == "lang")
                .map(|label| label.1.clone())
                .unwrap_or_default(),
            labels: feed.labels.iter().filter(|label| label.0 == "topic").map(|label| label.1.clone()).collect(),
            feed: feed.url,
            site: String::new(),
        })
        .collect();
    Ok((write_opml("Tidings", &outlines), outlines.len() as u64))
}
