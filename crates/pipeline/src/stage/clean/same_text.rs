//! Texts that stand under several addresses of a site: consent walls, login pages and soft 404s.
//!
//! One page does not show that it is such a text, so the decision is made when all pages of a day are known. Suspects
//! are drafted as documents and withdrawn at the end. A day to which pages are added remembers its suspects; if the
//! added pages show that documents made before are no articles, the day is made again as a whole. Either way the
//! result depends on the pages of the day alone.

use std::collections::{HashMap, HashSet};

use tidings_clean::{SAME_TEXT_LIMIT, Suspicion};
use tidings_store::docs::{DayDraft, DraftPosition, Suspect, Withdrawn};
use tidings_store::yields::Yield;

use super::page::SAME_TEXT;

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
    kept: HashMap<u64, HashSet<u64>>,
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

impl Suspects {
    /// Starts with the suspects of the part of a day that stays.
    pub(super) fn new(kept: &[Suspect]) -> Suspects {
        let number = |text: &str| u64::from_str_radix(text, 16).ok();
        let mut suspects = Suspects::default();
        for suspect in kept {
            if let (Some(text), Some(entry)) = (number(&suspect.text), number(&suspect.entry)) {
                suspects.kept.entry(text).or_default().insert(entry);
            }
        }
        suspects
    }

    /// Adds a document, and records it in the recipe of the draft.
    pub(super) fn add(&mut self, document: SuspectDocument, draft: &mut DayDraft) {
        let Suspicion { text, entry } = document.suspicion;
        draft.suspect(Suspect { text: format!("{text:016x}"), entry: format!("{entry:016x}") });
        self.added.push(document);
    }

    /// Decides when all pages of the day are known, and counts the yield of the suspects.
    pub(super) fn decide(self, draft: &mut DayDraft) -> Decision {
        let mut entries = self.kept.clone();
        for document in &self.added {
            entries.entry(document.suspicion.text).or_default().insert(document.suspicion.entry);
        }
        if self.kept.iter().any(|(text, kept)| !is_wall(kept) && is_wall(&entries[text])) {
            return Decision::MakeAgain;
        }
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
        Decision::Withdraw(withdrawn)
    }
}
