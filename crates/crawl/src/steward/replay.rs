//! Pages that were finished after the last checkpoint.

use super::{Outcome, Request, Steward};
use crate::policy::PageWorth;

impl Steward {
    /// Counts a page that was fetched before the crawl was restored, with the worth that it was judged to have.
    pub fn replay(&mut self, request: &Request, worth: &PageWorth) {
        self.remove_candidate(request.domain);
        self.in_flight += 1;
        self.done(request, Outcome::Page { worth: *worth, text: None, front: false }, 0);
    }
}
