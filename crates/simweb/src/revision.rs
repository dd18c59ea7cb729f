//! Changes of published articles: another title, a further paragraph, a later date of update.

use std::collections::{HashMap, HashSet};
use std::sync::{PoisonError, RwLock};

use jiff::Timestamp;

use crate::article::Article;
use crate::text::{Block, BlockKind};

/// The changes of all articles, by site and number.
#[derive(Debug, Default)]
pub struct Revisions {
    articles: RwLock<HashMap<(usize, u64), Revision>>,
    /// Sites whose feeds give the current time as the update of every article.
    restless: RwLock<HashSet<usize>>,
}

#[derive(Debug)]
struct Revision {
    title: String,
    paragraph: String,
    updated: Timestamp,
    times: u64,
}

impl Revisions {
    /// Gives an article another title and a further paragraph.
    pub fn revise(&self, site: usize, number: u64, title: &str, paragraph: &str, now: Timestamp) {
        let mut articles = self.articles.write().unwrap_or_else(PoisonError::into_inner);
        let times = articles.get(&(site, number)).map_or(1, |revision| revision.times + 1);
        let (title, paragraph) = (title.to_owned(), paragraph.to_owned());
        articles.insert((site, number), Revision { title, paragraph, updated: now, times });
    }

    /// Sets whether the feed of a site gives the current time as the update of every article.
    pub fn set_restless(&self, site: usize, is_restless: bool) {
        let mut restless = self.restless.write().unwrap_or_else(PoisonError::into_inner);
        if is_restless {
            restless.insert(site)
        } else {
            restless.remove(&site)
        };
    }

    /// Whether the feed of a site gives the current time as the update of every article.
    pub fn is_restless(&self, site: usize) -> bool {
        self.restless.read().unwrap_or_else(PoisonError::into_inner).contains(&site)
    }

    /// Applies the changes of an article.
    pub fn apply(&self, article: &mut Article) {
        let articles = self.articles.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(revision) = articles.get(&(article.site, article.number)) {
            article.title.clone_from(&revision.title);
            article.updated = revision.updated;
            if !revision.paragraph.is_empty() {
                article.blocks.push(Block { kind: BlockKind::Paragraph, text: revision.paragraph.clone() });
            }
        }
    }

    /// The number of changes of a site, or of one of its articles.
    pub fn changes(&self, site: usize, number: Option<u64>) -> u64 {
        let articles = self.articles.read().unwrap_or_else(PoisonError::into_inner);
        let of = articles.iter().filter(|(key, _)| key.0 == site && number.is_none_or(|number| number == key.1));
        of.map(|(_, revision)| revision.times).sum()
    }

    /// The time of the last change of a site, or of one of its articles.
    pub fn updated(&self, site: usize, number: Option<u64>) -> Option<Timestamp> {
        let articles = self.articles.read().unwrap_or_else(PoisonError::into_inner);
        let of = articles.iter().filter(|(key, _)| key.0 == site && number.is_none_or(|number| number == key.1));
        of.map(|(_, revision)| revision.updated).max()
    }
}
