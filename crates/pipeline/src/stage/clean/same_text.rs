//! Texts that stand under several addresses of a site: consent walls, login pages and soft 404s.
//!
//! One page does not show that it is such a text, so the decision is made when all pages of a day are known. Suspects
//! are drafted as documents and withdrawn at the end. A day to which pages are added remembers its suspects; if the
//! added pages show that documents made before are no articles, the day is made again as a whole.
//!
//! A site with an article or two a day never shows its wall three times in a day, so the suspects of the
//! [`MEMORY_DAYS`] before count, too. They are read from the recipes of these days, and which pages of a day are suspects
//! depends on the pages of that day alone: so the result is a function of the raw pages, whatever was made first. A day
//! names its walls in its recipe, and is made again when the recipes before it lead to others.

use std::collections::{BTreeSet, HashMap, HashSet};

use anyhow::{Context as _, Result};
use jiff::ToSpan as _;
use jiff::civil::Date;
use tidings_clean::{SAME_TEXT_LIMIT, Suspicion};
use tidings_store::Home;
use tidings_store::docs::{DayDraft, DraftPosition, Recipe, Suspect, Withdrawn};
use tidings_store::yields::Yield;

use super::page::SAME_TEXT;

/// The days before a day whose suspects count. A wall stays for months; the texts that change with the seasons, such as
/// notices of a site, should not meet their former selves.
const MEMORY_DAYS: i32 = 14;

/// The entries with each text.
type Entries = HashMap<u64, HashSet<u64>>;

/// A document that may not be an article.
pub(super) struct SuspectDocument {
    pub(super) suspicion: Suspicion,
    pub(super) position: DraftPosition,
    /// Its line as a dropped page.
    pub(super) dropped: Vec<u8>,
    pub(super) url: String,
    /// The earlier downloads that it revises.
    pub(super) revises: Vec<String>,
    pub(super) feed: String,
    pub(super) host: String,
    pub(super) sum: Yield,
}

/// The suspects of a day.
#[derive(Default)]
pub(super) struct Suspects {
    /// The entries with each text, of pages that were processed before.
    kept: Entries,
    /// The texts of these pages that were no articles.
    kept_walls: HashSet<u64>,
    added: Vec<SuspectDocument>,
}

/// The decision about the suspects of a day.
pub(super) enum Decision {
    /// Documents that were made before are no articles: the day must be made again as a whole.
    MakeAgain,
    /// These documents are no articles; the other suspects are.
    Withdraw(Vec<Withdrawn>),
}

/// Whether a text that stands in these entries is no article.
pub(super) fn is_wall(entries: &HashSet<u64>) -> bool {
    entries.len() >= SAME_TEXT_LIMIT
}

/// The numbers of a suspect in a recipe; `None` if they are none.
fn numbers(suspect: &Suspect) -> Option<(u64, u64)> {
    Some((number(&suspect.text)?, number(&suspect.entry)?))
}

fn number(text: &str) -> Option<u64> {
    u64::from_str_radix(text, 16).ok()
}

/// The suspects of the days before others, from their recipes.
pub(super) struct EarlierSuspects<'a> {
    home: &'a Home,
    days: HashMap<String, Vec<(u64, u64)>>,
}

impl<'a> EarlierSuspects<'a> {
    pub(super) fn new(home: &'a Home) -> EarlierSuspects<'a> {
        EarlierSuspects { home, days: HashMap::new() }
    }

    /// The entries with each text on the days before one.
    pub(super) fn before(&mut self, day: &str) -> Result<Entries> {
        let date: Date = day.parse().with_context(|| format!("{day} is no day"))?;
        let mut entries = Entries::new();
        for back in 1..=MEMORY_DAYS {
            for (text, entry) in self.of(&date.saturating_sub(back.days()).to_string())? {
                entries.entry(*text).or_default().insert(*entry);
            }
        }
        Ok(entries)
    }

    fn of(&mut self, day: &str) -> Result<&[(u64, u64)]> {
        if !self.days.contains_key(day) {
            let recipe = Recipe::read(self.home, day)?;
            let suspects = recipe.iter().flat_map(|recipe| recipe.suspects.iter().filter_map(numbers)).collect();
            self.days.insert(day.to_owned(), suspects);
        }
        Ok(&self.days[day])
    }

    /// Whether the days before one change which of its texts are no articles.
    pub(super) fn change(&mut self, recipe: &Recipe) -> Result<bool> {
        if recipe.suspects.is_empty() {
            return Ok(false);
        }
        let mut entries = self.before(&recipe.day)?;
        let own: Vec<(u64, u64)> = recipe.suspects.iter().filter_map(numbers).collect();
        for (text, entry) in &own {
            entries.entry(*text).or_default().insert(*entry);
        }
        Ok(walls(own.iter().map(|(text, _)| *text), &entries) != recipe.walls)
    }
}

/// Those of some texts that are no articles, as a recipe has them.
fn walls(texts: impl Iterator<Item = u64>, entries: &Entries) -> Vec<String> {
    let walls: BTreeSet<u64> = texts.filter(|text| is_wall(&entries[text])).collect();
    walls.into_iter().map(|text| format!("{text:016x}")).collect()
}

impl Suspects {
    /// Starts with the suspects of the part of a day that stays.
    pub(super) fn new(kept: Option<&Recipe>) -> Suspects {
        let mut suspects = Suspects::default();
        if let Some(kept) = kept {
            for (text, entry) in kept.suspects.iter().filter_map(numbers) {
                suspects.kept.entry(text).or_default().insert(entry);
            }
            suspects.kept_walls = kept.walls.iter().filter_map(|text| number(text)).collect();
        }
        suspects
    }

    /// Adds a document, and records it in the recipe of the draft.
    pub(super) fn add(&mut self, document: SuspectDocument, draft: &mut DayDraft) {
        let Suspicion { text, entry } = document.suspicion;
        draft.suspect(Suspect { text: format!("{text:016x}"), entry: format!("{entry:016x}") });
        self.added.push(document);
    }

    /// Decides when all pages of the day are known, and counts the yield of the suspects. `earlier` has the entries with
    /// each text on the days before.
    pub(super) fn decide(self, draft: &mut DayDraft, earlier: impl FnOnce() -> Result<Entries>) -> Result<Decision> {
        if self.kept.is_empty() && self.added.is_empty() {
            return Ok(Decision::Withdraw(Vec::new()));
        }
        let mut entries = earlier()?;
        for (text, kept) in &self.kept {
            entries.entry(*text).or_default().extend(kept);
        }
        for document in &self.added {
            entries.entry(document.suspicion.text).or_default().insert(document.suspicion.entry);
        }
        if self.kept.keys().any(|text| is_wall(&entries[text]) != self.kept_walls.contains(text)) {
            return Ok(Decision::MakeAgain);
        }
        let added = self.added.iter().map(|document| document.suspicion.text);
        draft.walls(walls(self.kept.keys().copied().chain(added), &entries));
        let mut withdrawn = Vec::new();
        for document in self.added {
            let SuspectDocument { suspicion, position, dropped, url, revises, feed, host, mut sum } = document;
            match is_wall(&entries[&suspicion.text]) {
                true => {
                    (sum.documents, sum.clean) = (0, 0);
                    withdrawn.push(Withdrawn { position, reason: SAME_TEXT.word(), line: dropped });
                }
                // Only an article takes the place of an earlier one.
                false => draft.supersede(&url, &revises),
            }
            draft.count(&feed, &host, sum);
        }
        Ok(Decision::Withdraw(withdrawn))
    }
}
