//! A registered domain with its sections, as small as its history allows.

use super::forms::Forms;
use super::patterns::Patterns;
use super::types::{CloseReason, SectionId};
use crate::policy::{ArmView, DomainHints, Evidence};

/// The number of a domain that does not exist.
pub const NO_DOMAIN: u32 = u32::MAX;
/// Pages after which a section is an arm of its own.
pub const ARM_PAGES: u64 = 6;
/// The most arms of a domain beside that of the rare sections.
pub const MAX_ARMS: usize = 64;
/// The most sections of a domain; further ones share a section for each host.
pub const MAX_SECTIONS: usize = 1024;

/// Cost without text that is added to that of an arm before it is called the best: few pages prove little.
const DOUBT_BYTES: f64 = 240_000.0;
/// Waiting URLs of good sections at which the need of more is halved.
const ENOUGH_WAITING: f64 = 8.0;

/// The position of a domain in the schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Place {
    /// No URL waits.
    #[default]
    Idle,
    /// Waits for its place in the window.
    Queued,
    /// A candidate for the next request.
    Candidate,
    /// Rests.
    Resting,
    /// Has a request in flight.
    InFlight,
    /// Closed.
    Closed,
}

/// A section of a domain.
#[derive(Debug)]
pub struct Section {
    /// Host and shape, as the number of a pattern.
    pub pattern: u32,
    /// URLs that wait.
    pub waiting: u32,
    /// The number of its host within the domain.
    pub host: u16,
    /// Whether it is an arm of its own.
    pub is_arm: bool,
    /// Why it is closed.
    pub closed: Option<Box<CloseReason>>,
    /// Its history, from the first page on.
    pub history: Option<Box<SectionHistory>>,
}

/// The history of a section.
#[derive(Debug, Clone, Default)]
pub struct SectionHistory {
    /// Evidence of its pages.
    pub evidence: Evidence,
    /// The section that has the same texts, and how many of them.
    pub alias: (SectionId, u32),
}

impl Section {
    /// Evidence of its pages.
    pub fn evidence(&self) -> Evidence {
        self.history.as_ref().map(|history| history.evidence).unwrap_or_default()
    }

    fn is_open(&self) -> bool {
        self.closed.is_none()
    }
}

/// The host of a section.
pub fn host_of(section: &str) -> &str {
    section.split(['/', '?']).next().unwrap_or_default()
}

/// The history of a domain.
#[derive(Debug, Clone, Default)]
pub struct DomainHistory {
    /// Evidence of all its pages.
    pub evidence: Evidence,
    /// Evidence of the pages of sections that are no arms.
    pub rest: Evidence,
    /// The rate of the best arm.
    pub best_rate: f64,
    /// The section of the last page.
    pub last: SectionId,
    /// Pages with text that is neither all new nor all known, and the sum of their shares of text that other pages of
    /// the domain have.
    pub repeats: (u32, f32),
    /// Groups of its texts that were tested for generated text.
    pub tested: u8,
    /// When its day of requests began, and their number.
    pub day: (u64, u32),
}

/// A registered domain.
#[derive(Debug, Default)]
pub struct Domain {
    /// Its name.
    pub name: Box<str>,
    /// Facts before its first page.
    pub hints: DomainHints,
    /// The domain that linked to it first; [`NO_DOMAIN`] for seeds.
    pub source: u32,
    /// Whether a second domain links to it.
    pub confirmed: bool,
    /// Whether sections that are no arms are closed.
    pub rest_closed: bool,
    /// Whether it is in the window of domains that are worked on.
    pub in_window: bool,
    /// Its position in the schedule.
    pub place: Place,
    /// Number of hosts.
    pub hosts: u16,
    /// Links from other domains, and the mean rate of those domains.
    pub links: (u32, f32),
    /// The section that the last draw chose.
    pub drawn: SectionId,
    /// Not to be asked before.
    pub ready_at: u64,
    /// When it last got a request, or was met, as a count of such events.
    pub turn: u64,
    /// Why it is closed.
    pub closed: Option<Box<CloseReason>>,
    /// Its sections.
    pub sections: Vec<Section>,
    /// Its history, from the first page on.
    pub history: Option<Box<DomainHistory>>,
}

/// An arm: a section, or all sections that are none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arm {
    /// A section of its own.
    Section(SectionId),
    /// All other sections.
    Rest,
}

impl Domain {
    /// The number of a section. Domains have few sections, so that a search costs less than a table of all of them.
    pub fn section_named(&self, name: &str, patterns: &Patterns) -> Option<SectionId> {
        let pattern = patterns.find(name, &self.name)?;
        self.sections.iter().position(|section| section.pattern == pattern).map(|at| at as SectionId)
    }

    /// The number of the host of a section, if the domain has it.
    pub fn host_number(&self, section: &str, patterns: &Patterns) -> Option<u16> {
        let key = Patterns::host_key_of(section, &self.name);
        self.sections.iter().find(|section| patterns.host_key(section.pattern) == key).map(|section| section.host)
    }

    /// Evidence of all its pages.
    pub fn evidence(&self) -> Evidence {
        self.history.as_ref().map(|history| history.evidence).unwrap_or_default()
    }

    /// Evidence of the pages of sections that are no arms.
    pub fn rest(&self) -> Evidence {
        self.history.as_ref().map(|history| history.rest).unwrap_or_default()
    }

    /// The rate of the best arm, also of one without waiting URLs.
    pub fn best_rate(&self) -> f64 {
        self.history.as_ref().map_or(0.0, |history| history.best_rate)
    }

    /// Computes the rate of the best arm anew.
    pub fn update_best_rate(&mut self) {
        let doubted = |evidence: Evidence| evidence.value / (evidence.cost + DOUBT_BYTES);
        let arms = self.sections.iter().filter(|section| section.is_arm).map(|section| doubted(section.evidence()));
        let best = arms.fold(doubted(self.evidence()), f64::max);
        self.history_mut().best_rate = best;
    }

    /// The rate of the arm of a section.
    fn arm_rate(&self, section: &Section) -> f64 {
        if section.is_arm { section.evidence().rate() } else { self.rest().rate() }
    }

    /// Need of new URLs of good sections: 1 if none wait, towards 0 the more do.
    pub fn dryness(&self) -> f64 {
        let good = self.best_rate() / 2.0;
        let waiting: u64 = self
            .sections
            .iter()
            .filter(|section| section.waiting > 0 && self.may_give(section, u16::MAX) && self.arm_rate(section) >= good)
            .map(|section| u64::from(section.waiting))
            .sum();
        1.0 / (1.0 + waiting as f64 / ENOUGH_WAITING)
    }

    /// Credits the section of the last page with a new URL of this domain, by the rate of the URL's section.
    pub fn credit(&mut self, found: SectionId) {
        let best = self.best_rate();
        if best <= 0.0 {
            return;
        }
        let credit = (self.arm_rate(&self.sections[found as usize]) / best).min(1.0);
        let Some(history) = self.history.as_mut() else { return };
        let Some(section) = self.sections.get_mut(history.last as usize) else { return };
        if let Some(of_section) = section.history.as_mut() {
            of_section.evidence.led += credit;
            if !section.is_arm {
                history.rest.led += credit;
            }
        }
    }

    /// Whether several domains link to it, or it is a seed.
    pub fn is_trusted(&self) -> bool {
        self.source == NO_DOMAIN || self.confirmed
    }

    /// The number of hosts that its text justifies: 1, 4, 16, … with every tenfold of tokens from 1,000 on.
    pub fn allowed_hosts(&self) -> u16 {
        let tokens = self.evidence().tokens;
        if tokens < 1_000.0 {
            return 1;
        }
        let steps = (tokens / 100.0).log10().floor().clamp(1.0, 7.0) as u32;
        4u16.saturating_pow(steps)
    }

    /// Whether a section may give the next URL.
    pub fn may_give(&self, section: &Section, hosts: u16) -> bool {
        section.waiting > 0 && section.is_open() && section.host < hosts && (section.is_arm || !self.rest_closed)
    }

    /// The number of hosts that may be asked now: what the text justifies, or the first host with waiting URLs.
    pub fn open_hosts(&self) -> u16 {
        let allowed = self.allowed_hosts();
        let first =
            self.sections.iter().filter(|section| self.may_give(section, u16::MAX)).map(|section| section.host).min();
        allowed.max(first.map_or(0, |host| host.saturating_add(1)))
    }

    /// Whether any URL may be asked for.
    pub fn has_work(&self) -> bool {
        self.closed.is_none() && self.sections.iter().any(|section| self.may_give(section, u16::MAX))
    }

    /// Gives a section an arm of its own when it has enough pages; the rarest arm beyond the limit joins the rest.
    pub fn update_arms(&mut self, id: SectionId) {
        let section = &self.sections[id as usize];
        if section.is_arm || section.evidence().pages < ARM_PAGES {
            return;
        }
        let arms = self.sections.iter().filter(|section| section.is_arm).count();
        if arms >= MAX_ARMS {
            let rarest = (0..self.sections.len())
                .filter(|at| self.sections[*at].is_arm && self.sections[*at].is_open())
                .min_by_key(|at| self.sections[*at].evidence().pages);
            let Some(rarest) = rarest else { return };
            if self.sections[rarest].evidence().pages >= self.sections[id as usize].evidence().pages {
                return;
            }
            self.sections[rarest].is_arm = false;
            let evidence = self.sections[rarest].evidence();
            self.history_mut().rest.join(&evidence);
        }
        self.sections[id as usize].is_arm = true;
        let evidence = self.sections[id as usize].evidence();
        self.history_mut().rest.part(&evidence);
    }

    /// The history, made at the first page.
    pub fn history_mut(&mut self) -> &mut DomainHistory {
        self.history.get_or_insert_default()
    }

    /// The arms that may give the next URL, with their evidence. A section with more than a quarter of the pages and
    /// less than the mean rate waits while others have URLs.
    pub fn arms(&self, names: (&Patterns, &Forms), arms: &mut Vec<Arm>, views: &mut Vec<ArmView>) {
        let (patterns, forms) = names;
        arms.clear();
        views.clear();
        let hosts = self.open_hosts();
        let mut rest: Option<f64> = None;
        for (id, section) in self.sections.iter().enumerate() {
            if !self.may_give(section, hosts) {
                continue;
            }
            if section.is_arm {
                arms.push(Arm::Section(id as SectionId));
                views.push(ArmView {
                    evidence: section.evidence(),
                    appeal: forms.appeal(patterns.form(section.pattern)),
                });
            } else {
                rest = Some(rest.unwrap_or_default().max(forms.appeal(patterns.form(section.pattern))));
            }
        }
        if let Some(appeal) = rest {
            arms.push(Arm::Rest);
            views.push(ArmView { evidence: self.rest(), appeal });
        }
        let all = self.evidence();
        let too_large =
            |arm: &ArmView| arm.evidence.pages > (all.pages / 4).max(16) && arm.evidence.rate() < 0.9 * all.rate();
        if views.iter().any(|arm| !too_large(arm)) && views.iter().any(too_large) {
            let keep: Vec<bool> = views.iter().map(|arm| !too_large(arm)).collect();
            let mut flags = keep.iter();
            arms.retain(|_| *flags.next().expect("a flag for each arm"));
            let mut flags = keep.iter();
            views.retain(|_| *flags.next().expect("a flag for each arm"));
        }
    }

    /// A section of an arm, at random by the square root of what waits: rare sections of the rest are tried too.
    pub fn section_of(&self, arm: Arm, names: (&Patterns, &Forms), rng: &mut fastrand::Rng) -> Option<SectionId> {
        let (patterns, forms) = names;
        match arm {
            Arm::Section(id) => Some(id),
            Arm::Rest => {
                let hosts = self.open_hosts();
                let weight = |section: &Section| {
                    f64::from(section.waiting).sqrt() * forms.appeal(patterns.form(section.pattern))
                };
                self.weighted(rng, |section| !section.is_arm && self.may_give(section, hosts), weight)
            }
        }
    }

    /// A section at random by what waits, as if the URLs of a domain were in one queue.
    pub fn any_section(&self, rng: &mut fastrand::Rng) -> Option<SectionId> {
        self.weighted(rng, |section| self.may_give(section, u16::MAX), |section| f64::from(section.waiting))
    }

    fn weighted(
        &self,
        rng: &mut fastrand::Rng,
        filter: impl Fn(&Section) -> bool,
        weight: impl Fn(&Section) -> f64,
    ) -> Option<SectionId> {
        let mut total = 0.0;
        let mut chosen = None;
        for (id, section) in self.sections.iter().enumerate().filter(|(_, section)| filter(section)) {
            let weight = weight(section);
            total += weight;
            if rng.f64() * total < weight {
                chosen = Some(id as SectionId);
            }
        }
        chosen
    }
}
