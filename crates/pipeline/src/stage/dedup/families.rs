//! Documents of one URL: a revision takes the place of the earlier ones, so that it is no copy of them.

use std::collections::{HashMap, HashSet};

use anyhow::Result;
use tidings_model::Fingerprint;
use tidings_store::docs::Recipe;
use tidings_store::{Home, revisions};

/// The ids of documents of a day and of the earlier ones that they revise, by URL.
#[derive(Debug, Default)]
pub(super) struct Families(HashMap<Fingerprint, HashSet<String>>);

impl Families {
    /// Reads the documents that a day supersedes, and the revisions of the day itself.
    pub(super) fn read(home: &Home, day: &str) -> Result<Families> {
        let mut families = Families::default();
        let Some(recipe) = Recipe::read(home, day)?.filter(|recipe| !recipe.supersedes.is_empty()) else {
            return Ok(families);
        };
        revisions::superseded_heads(home, &recipe.supersedes, |_, head| families.add(&head.url, head.id))?;
        revisions::heads(home, day, |head| {
            if !head.revises.is_empty() {
                families.add(&head.url, head.id);
            }
        })?;
        Ok(families)
    }

    fn add(&mut self, url: &str, id: String) {
        self.0.entry(Fingerprint::of(url)).or_default().insert(id);
    }

    /// The ids of all documents of a URL, if it was revised.
    pub(super) fn of(&self, url: Fingerprint) -> Option<&HashSet<String>> {
        self.0.get(&url)
    }
}
