//! The outcome of a request: evidence, soft traps, and what they close.

use super::{
    CloseReason, Closed, Judged, Outcome, Request, SectionId, Steward,
    domain::{Arm, Place},
    forms::FORM_PAGES,
    texts::TextMatch,
    view,
};
use crate::burstiness;
use crate::policy::{Closing, PageWorth};
use crate::text::TextFingerprint;

/// Pages in a row without new text that close a section, as a multiple of its usual pages until one with text.
const BARREN_PAGES: u32 = 32;
/// The longest gap between pages with text in a domain that a section without any text is allowed.
const MAX_DOMAIN_GAP: f64 = 4.0;
/// New URLs of good sections a page that keep a section without text open.
const HUB_URLS: f64 = 0.5;
/// The share of new text under which a page is a copy of another and says nothing about templates.
const COPY_SHARE: f32 = 0.15;
/// Pages with text that show whether a site fills templates.
const TEMPLATE_PAGES: u32 = 10;
/// The mean share of a text that other pages of its site have, from which on the site fills templates.
const TEMPLATE_SHARE: f32 = 0.3;
/// The share of new text from which on a page is tested for generated text.
const NEW_SHARE: f32 = 0.85;
/// Groups of texts of a domain that are tested.
const MAX_TESTS: u8 = 3;
/// Domains that are tested at a time, at about 5 kB each.
const MAX_TESTED: usize = 4096;
/// Texts that two sections share before one is taken for another address of the other.
const ALIAS_TEXTS: u32 = 3;

impl Steward {
    /// The outcome of a request. The domain rests until `ready_at`.
    pub fn done(&mut self, request: &Request, outcome: Outcome<'_>, ready_at: u64) -> Judged {
        let Request { domain: id, section } = *request;
        self.in_flight -= 1;
        let mut judged = Judged { worth: PageWorth::default(), follow_out: false, closed: Vec::new() };
        match outcome {
            Outcome::Page { mut worth, text, front } => {
                let known = text.map(|text| self.texts.add(text, id, section, front));
                if let Some(known) = known {
                    worth.new_share = known.new_share;
                    worth.exact_duplicate = known.exact;
                }
                judged.worth = worth;
                judged.follow_out = self.policy.follows_out(&worth);
                self.count(id, section, &worth);
                self.close_after(id, section, known, &mut judged.closed);
                if let (Some(text), Some(known)) = (text, known)
                    && self.policy.has_sections()
                    && self.domains[id as usize].closed.is_none()
                    && self.is_generated(id, text, known)
                {
                    self.report_domain(id, CloseReason::Generated, &mut judged.closed);
                }
            }
            Outcome::Nothing { bytes } => {
                judged.worth = PageWorth { bytes, ..PageWorth::default() };
                self.count(id, section, &judged.worth);
                self.close_after(id, section, None, &mut judged.closed);
            }
            Outcome::NotCounted => {}
            Outcome::Empty => self.domains[id as usize].sections[section as usize].waiting = 0,
        }
        let domain = &mut self.domains[id as usize];
        domain.ready_at = domain.ready_at.max(ready_at);
        if domain.closed.is_none() {
            domain.place = Place::Idle;
            if domain.has_work() && ready_at > 0 {
                let at = domain.ready_at;
                self.rest(id, at);
            } else {
                self.enqueue(id);
            }
        }
        judged
    }

    fn count(&mut self, id: u32, section: SectionId, worth: &PageWorth) {
        let keep = self.policy.keep();
        self.totals.add(worth, 1.0);
        let domain = &mut self.domains[id as usize];
        let history = domain.history.get_or_insert_default();
        history.last = section;
        let of_section = &mut domain.sections[section as usize];
        let was_source = history.evidence.text_pages > 0;
        history.evidence.add(worth, keep);
        self.sources += u64::from(!was_source && history.evidence.text_pages > 0);
        let evidence = &mut of_section.history.get_or_insert_default().evidence;
        evidence.add(worth, keep);
        if self.policy.has_sections() && evidence.pages <= FORM_PAGES {
            self.forms.add(self.patterns.form(of_section.pattern), 1.0, if worth.value() > 0.0 { 1.0 } else { 0.0 });
        }
        if !of_section.is_arm {
            history.rest.add(worth, keep);
        }
        domain.update_best_rate();
        let evidence = domain.evidence();
        self.policy.learn(&view(domain, &evidence, &self.totals, self.sources), worth);
    }

    /// Closes what a page shows to be worthless.
    fn close_after(&mut self, id: u32, section: SectionId, known: Option<TextMatch>, closed: &mut Vec<Closed>) {
        let domain = &mut self.domains[id as usize];
        if self.policy.has_sections() {
            domain.update_arms(section);
        }
        let of_section = &domain.sections[section as usize];
        let arm = if of_section.is_arm { Arm::Section(section) } else { Arm::Rest };
        let evidence = domain.evidence();
        let of_arm = if of_section.is_arm { of_section.evidence() } else { domain.rest() };
        let verdict = self.policy.closes(&view(domain, &evidence, &self.totals, self.sources), &of_arm);
        match (verdict, arm) {
            (Some(Closing::Domain), _) => return self.report_domain(id, CloseReason::Threshold, closed),
            (Some(Closing::Arm), Arm::Section(_)) => self.close_section(id, section, CloseReason::Floor, closed),
            (Some(Closing::Arm), Arm::Rest) => self.domains[id as usize].rest_closed = true,
            (None, _) => {}
        }
        if self.policy.has_sections() {
            self.close_traps(id, section, known, closed);
            let domain = &self.domains[id as usize];
            if domain.rest_closed && domain.sections.iter().all(|section| !section.is_arm || section.closed.is_some()) {
                self.report_domain(id, CloseReason::Sections, closed);
            }
        }
    }

    fn close_traps(&mut self, id: u32, section: SectionId, known: Option<TextMatch>, closed: &mut Vec<Closed>) {
        if known.is_some_and(|known| known.parked) {
            return self.report_domain(id, CloseReason::Parked, closed);
        }
        if known.is_some_and(|known| self.is_template(id, known)) {
            return self.report_domain(id, CloseReason::Template, closed);
        }
        let domain_gap = self.domains[id as usize].evidence().text_gap().unwrap_or(1.0).min(MAX_DOMAIN_GAP);
        let of_section = &mut self.domains[id as usize].sections[section as usize];
        let history = of_section.history.get_or_insert_default();
        let barren = history.evidence.barren;
        // A section with text now and then may be without it for longer; one that shows new URLs of good sections is
        // a hub.
        let is_barren = f64::from(barren)
            >= f64::from(BARREN_PAGES) * history.evidence.text_gap().unwrap_or(domain_gap)
            && history.evidence.led_per_page(self.policy.keep()) < HUB_URLS;
        if let Some(other) = known.and_then(|known| known.same_in) {
            history.alias = if history.alias.0 == other { (other, history.alias.1 + 1) } else { (other, 1) };
        }
        let (alias, texts) = history.alias;
        let is_alias = texts >= ALIAS_TEXTS && u64::from(2 * texts) >= history.evidence.pages;
        if of_section.closed.is_some() {
            return;
        }
        if is_alias {
            let name = self.section_name(id, alias);
            self.close_section(id, section, CloseReason::Alias(name), closed);
        } else if is_barren && of_section.is_arm {
            self.close_section(id, section, CloseReason::Barren(barren), closed);
        }
    }

    /// Whether the texts of a domain are filled templates: each has sentences of others and none is a copy. Articles of
    /// a site share few windows of seven words.
    fn is_template(&mut self, id: u32, known: TextMatch) -> bool {
        let (pages, shares) = &mut self.domains[id as usize].history_mut().repeats;
        if known.exact || known.new_share < COPY_SHARE {
            return false;
        }
        *pages += 1;
        *shares += known.own_share;
        *pages >= TEMPLATE_PAGES && *shares >= TEMPLATE_SHARE * *pages as f32
    }

    /// Whether the texts of a domain are generated. Copies and templates are left to other rules; the first texts of a
    /// domain decide, so that a long crawl does not try its luck.
    fn is_generated(&mut self, id: u32, text: &TextFingerprint, known: TextMatch) -> bool {
        let tested = self.domains[id as usize].history_mut().tested;
        if known.new_share < NEW_SHARE || tested >= MAX_TESTS {
            return false;
        }
        if self.words.len() >= MAX_TESTED && !self.words.contains_key(&id) {
            // That of the domain that was met first begins anew, if it ever has more texts.
            self.words.pop_first();
        }
        let words = self.words.entry(id).or_default();
        words.add(text);
        if words.len() < burstiness::PAGES {
            return false;
        }
        let is_generated = words.is_generated();
        self.words.remove(&id);
        self.domains[id as usize].history_mut().tested = tested + 1;
        is_generated
    }

    fn close_section(&mut self, id: u32, section: SectionId, why: CloseReason, closed: &mut Vec<Closed>) {
        let of_section = &mut self.domains[id as usize].sections[section as usize];
        of_section.closed = Some(Box::new(why.clone()));
        of_section.waiting = 0;
        // A closed section is an arm of its own, so that its pages do not speak for the rest.
        if !of_section.is_arm {
            of_section.is_arm = true;
            let evidence = of_section.evidence();
            self.domains[id as usize].history_mut().rest.part(&evidence);
        }
        closed.push(Closed { domain: id, section: Some(section), why });
    }

    fn report_domain(&mut self, id: u32, why: CloseReason, closed: &mut Vec<Closed>) {
        closed.push(Closed { domain: id, section: None, why: why.clone() });
        self.close_domain(id, why);
    }

    pub(super) fn close_domain(&mut self, id: u32, why: CloseReason) {
        self.remove_candidate(id);
        let domain = &mut self.domains[id as usize];
        domain.closed = Some(Box::new(why));
        domain.place = Place::Closed;
        domain.sections.iter_mut().for_each(|section| section.waiting = 0);
        if domain.in_window {
            domain.in_window = false;
            self.in_window -= 1;
        }
    }
}
