//! Pages that were finished after the last checkpoint, and URLs that wait again.

use super::{Outcome, Request, Steward};
use crate::record::Done;

impl Steward {
    /// Counts a page that was fetched before the crawl was restored, with the worth that it was judged to have.
    pub fn replay(&mut self, request: &Request, done: &Done) {
        if let Some(text) = &done.text {
            self.texts.add(text, request.domain, request.section, done.is_front());
        }
        self.remove_candidate(request.domain);
        self.in_flight += 1;
        self.done(request, Outcome::Page { worth: done.worth, text: None, front: false }, 0);
    }

    /// The URL of a request waits again: no request was sent, or its failure says nothing about the site.
    pub fn put_back(&mut self, request: &Request, ready_at: u64) {
        let section = &mut self.domains[request.domain as usize].sections[request.section as usize];
        section.waiting = section.waiting.saturating_add(1);
        self.done(request, Outcome::NotCounted, ready_at);
    }
}
