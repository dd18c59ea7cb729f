//! Statistics of each day, stage by stage, from the recipes, the judged days and the yield tables.
//!
//! A home of ten years has thousands of small tables. A [`DayStatsCache`] reads each once, and again only after a
//! change: a server may call [`DayStatsCache::refresh`] for every request.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use tidings_storage::Stat;

use crate::dedup_state::JudgedDays;
use crate::docs::{self, Recipe};
use crate::error::Result;
use crate::home::Home;
use crate::runs;
use crate::text::{self, TextRecipe};
use crate::yields::{self, Yield};

/// Statistics of one day of pages.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct DayStats {
    /// Runs of `update` or `fetch` that began on this day.
    pub runs: u64,
    /// Feeds whose entries were downloaded.
    pub feeds: u64,
    /// Hosts of the pages.
    pub hosts: u64,
    /// Pages and bytes downloaded, and the documents extracted from them.
    pub sum: Yield,
    /// Documents, by language.
    pub documents: BTreeMap<String, u64>,
    /// Dropped pages, by reason.
    pub dropped: BTreeMap<String, u64>,
    /// Duplicates; `None` if the day is not judged yet.
    pub judged: Option<Judged>,
    /// Annotated text; `None` if the day is not annotated yet.
    pub text: Option<Annotated>,
}

/// Counts of duplicates.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)] // The names are self-explanatory.
pub struct Judged {
    pub documents: u64,
    pub duplicates: u64,
    pub words: u64,
    pub duplicate_words: u64,
}

/// Counts of annotated text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Annotated {
    /// Documents written, by language.
    pub documents: BTreeMap<String, u64>,
    /// Documents left out, by reason.
    pub dropped: BTreeMap<String, u64>,
    /// Tokens written, by language.
    pub tokens: BTreeMap<String, u64>,
}

/// Size and modification time of a file when it was read.
type Stamp = Option<Stat>;

fn stamp(home: &Home, key: &str) -> Stamp {
    home.storage().stat(key).ok().flatten()
}

/// The days of a home, by name.
#[derive(Debug, Default)]
pub struct DayStatsCache {
    days: BTreeMap<String, DayStats>,
    clean: BTreeMap<String, Stamp>,
    text: BTreeMap<String, Stamp>,
    ledger: Stamp,
}

impl DayStatsCache {
    /// The days with figures, oldest first.
    pub fn days(&self) -> &BTreeMap<String, DayStats> {
        &self.days
    }

    /// Counts the days with runs in each period, given by its first and last day; nothing if the home has no runs, as one
    /// that was imported.
    pub fn days_with_runs(&self, periods: impl Iterator<Item = (String, String)>) -> Option<Vec<u64>> {
        let with_runs = |(first, last): (String, String)| {
            self.days.range(first..=last).filter(|(_, day)| day.runs > 0).count() as u64
        };
        self.days.values().any(|day| day.runs > 0).then(|| periods.map(with_runs).collect())
    }

    /// Reads new and changed files.
    pub fn refresh(&mut self, home: &Home) -> Result<()> {
        self.read_documents(home)?;
        self.read_text(home)?;
        self.read_ledger(home)?;
        self.count_runs(home)?;
        self.days.retain(|_, day| *day != DayStats::default());
        Ok(())
    }

    fn read_documents(&mut self, home: &Home) -> Result<()> {
        let made = docs::document_days(home)?;
        for gone in missing(&mut self.clean, &made) {
            let day = self.days.entry(gone).or_default();
            *day = DayStats { runs: day.runs, judged: day.judged, text: day.text.take(), ..DayStats::default() };
        }
        for name in made {
            let now = stamp(home, &docs::recipe_key(docs::ROOT, &name));
            if self.clean.get(&name) == Some(&now) {
                continue;
            }
            let Some(recipe) = Recipe::read(home, &name)? else { continue };
            let (mut feeds, mut hosts, mut sum) = (BTreeSet::new(), BTreeSet::new(), Yield::default());
            yields::of_day(home, &name, |row| {
                sum += row.sum;
                feeds.insert(row.feed);
                hosts.insert(row.host);
            })?;
            sum.pages = recipe.pages;
            sum.documents = recipe.documents.values().sum();
            let day = self.days.entry(name.clone()).or_default();
            (day.documents, day.dropped, day.sum) = (recipe.documents, recipe.dropped, sum);
            (day.feeds, day.hosts) = (feeds.len() as u64, hosts.len() as u64);
            self.clean.insert(name, now);
        }
        Ok(())
    }

    fn read_text(&mut self, home: &Home) -> Result<()> {
        let made = text::days(home)?;
        for gone in missing(&mut self.text, &made) {
            self.days.entry(gone).or_default().text = None;
        }
        for name in made {
            let now = stamp(home, &docs::recipe_key(text::ROOT, &name));
            if self.text.get(&name) == Some(&now) {
                continue;
            }
            let Some(recipe) = TextRecipe::read(home, &name)? else { continue };
            let TextRecipe { kept: documents, dropped, tokens, .. } = recipe;
            self.days.entry(name.clone()).or_default().text = Some(Annotated { documents, dropped, tokens });
            self.text.insert(name, now);
        }
        Ok(())
    }

    fn read_ledger(&mut self, home: &Home) -> Result<()> {
        let now = stamp(home, crate::dedup_state::KEY);
        if now == self.ledger {
            return Ok(());
        }
        self.days.values_mut().for_each(|day| day.judged = None);
        for day in JudgedDays::read(home)?.map(|ledger| ledger.days).unwrap_or_default() {
            self.days.entry(day.day).or_default().judged = Some(Judged {
                documents: day.documents,
                duplicates: day.duplicates,
                words: day.words,
                duplicate_words: day.duplicate_words,
            });
        }
        self.ledger = now;
        Ok(())
    }

    /// Counts runs by the names of their logs.
    fn count_runs(&mut self, home: &Home) -> Result<()> {
        self.days.values_mut().for_each(|day| day.runs = 0);
        for run in runs::all(home)?.iter().filter(|run| matches!(run.verb(), "update" | "fetch")) {
            self.days.entry(run.day().to_string()).or_default().runs += 1;
        }
        Ok(())
    }
}

/// Removes the days that no longer exist, and returns them.
fn missing(known: &mut BTreeMap<String, Stamp>, made: &[String]) -> Vec<String> {
    let gone: Vec<String> = known.keys().filter(|day| made.binary_search(day).is_err()).cloned().collect();
    gone.iter().for_each(|day| _ = known.remove(day));
    gone
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::docs::DayDraft;
    use crate::text::{MadeText, TextDraft};
    use serde_json::Value;

    #[test]
    fn days_are_read_again_after_a_change_and_removed_with_their_recipes() {
        let folder = tempfile::tempdir().unwrap();
        Home::create(folder.path(), "", "").unwrap();
        let home = Home::at(folder.path()).unwrap();
        let clean = |day: &str, pages: u64| {
            let mut draft = DayDraft::create(&home, Recipe::new(day, "p", "e", Value::Null)).unwrap();
            for _ in 0..pages {
                draft.push("de", b"{}\n").unwrap();
                draft.count("http://a/feed", "a", Yield { pages: 1, documents: 1, downloaded: 100, clean: 7 });
            }
            draft.drop_page("no-text", b"{}\n").unwrap();
            draft.count("http://b/feed", "a", Yield { pages: 1, documents: 0, downloaded: 50, clean: 0 });
            draft.publish(pages + 1).unwrap();
        };
        clean("2026-03-01", 2);
        clean("2026-03-02", 3);
        let recipe = TextRecipe::new("2026-03-01", "p", "a", Value::Null);
        let mut text = TextDraft::create(&home, recipe).unwrap();
        text.push("de", MadeText { text: "<doc>\n</doc>\n".to_owned(), tokens: 5, ..MadeText::default() }).unwrap();
        text.push("de", MadeText::default()).unwrap();
        text.publish(2).unwrap();
        runs::RunLog::create(&home, "20260303T120000000Z-fetch").unwrap().publish().unwrap();
        runs::RunLog::create(&home, "20260304T120000000Z-clean").unwrap().publish().unwrap();

        let mut census = DayStatsCache::default();
        census.refresh(&home).unwrap();
        assert_eq!(census.days().keys().collect::<Vec<_>>(), ["2026-03-01", "2026-03-02", "2026-03-03"]);
        let first = &census.days()["2026-03-01"];
        assert_eq!((first.feeds, first.hosts, first.sum.pages, first.sum.downloaded), (2, 1, 3, 250));
        assert_eq!((first.documents["de"], first.dropped["no-text"]), (2, 1));
        let text = first.text.clone().unwrap();
        assert_eq!((text.documents["de"], text.dropped["duplicate"], text.tokens["de"]), (1, 1, 5));
        assert_eq!(census.days()["2026-03-03"].runs, 1);

        clean("2026-03-02", 5);
        text::remove_day(&home, "2026-03-01").unwrap();
        docs::remove_recipe(&home, docs::ROOT, "2026-03-01").unwrap();
        census.refresh(&home).unwrap();
        assert_eq!(census.days().keys().collect::<Vec<_>>(), ["2026-03-02", "2026-03-03"]);
        assert_eq!(census.days()["2026-03-02"].sum.pages, 6);
    }
}
