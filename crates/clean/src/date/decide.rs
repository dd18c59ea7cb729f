//! Combines candidates into one publication date.
//!
//! Each kind of evidence has a precision measured on pages with a known date. Candidates for the
//! same day combine by noisy-or (Pearl 1988): the day is wrong only if all of its evidence is
//! wrong. Evidence within a family is not independent, because templates repeat the same value, so
//! a family counts little more than its strongest member.

use jiff::civil::Date;

use super::locale::UtcOffsets;
use super::{Candidate, DatePosition, DateRole, DateSource};

/// The winning day.
#[derive(Debug, Clone, Copy)]
pub(super) struct Decision {
    pub day: Date,
    pub source: DateSource,
    /// Calibrated probability that the day is right.
    pub confidence: f32,
    /// Noisy-or of the evidence, between 0 and 1.
    pub weight: f32,
    pub disputed: bool,
}

/// Precision of the first candidate of each kind: the source, the positions (none means any), and
/// the precision where it claims publication, is unclear, and claims modification.
///
/// Counted on annotated pages of one half of the domains (`tests/date_score.rs` prints the
/// evidence), rounded, and smoothed towards similar kinds where there were fewer than ten cases.
/// The rows for feed, HTTP and first-seen dates are estimates, since the annotated pages lack them.
const PRECISION: [(DateSource, &[DatePosition], [f32; 3]); 35] = [
    (DateSource::LdArticle, &[], [0.945, 0.80, 0.50]),
    (DateSource::LdPage, &[], [0.945, 0.70, 0.40]),
    (DateSource::LdOther, &[], [0.80, 0.75, 0.40]),
    (DateSource::Meta, &[], [0.955, 0.82, 0.42]),
    (DateSource::MetaPlain, &[], [0.30, 0.62, 0.30]),
    (DateSource::Microdata, &[DatePosition::Aside], [0.30, 0.20, 0.10]),
    (DateSource::Microdata, &[], [0.945, 0.60, 0.40]),
    (DateSource::Time, &[DatePosition::Title], [0.94, 0.935, 0.50]),
    (DateSource::Time, &[DatePosition::Article, DatePosition::Body], [0.66, 0.58, 0.35]),
    (DateSource::Time, &[DatePosition::Edge], [0.60, 0.50, 0.15]),
    (DateSource::Time, &[], [0.35, 0.22, 0.10]),
    (DateSource::Data, &[DatePosition::Title], [0.85, 0.85, 0.35]),
    (DateSource::Data, &[DatePosition::Article, DatePosition::Body], [0.50, 0.50, 0.25]),
    (DateSource::Data, &[], [0.30, 0.30, 0.10]),
    (DateSource::Marked, &[DatePosition::Title], [0.94, 0.94, 0.48]),
    (DateSource::Marked, &[DatePosition::Article, DatePosition::Body], [0.50, 0.43, 0.20]),
    (DateSource::Marked, &[DatePosition::Edge], [0.60, 0.45, 0.20]),
    (DateSource::Marked, &[], [0.12, 0.25, 0.10]),
    (DateSource::Labelled, &[DatePosition::Title], [0.945, 0.94, 0.48]),
    (DateSource::Labelled, &[DatePosition::Article, DatePosition::Body], [0.70, 0.60, 0.32]),
    (DateSource::Labelled, &[DatePosition::Edge], [0.80, 0.60, 0.30]),
    (DateSource::Labelled, &[], [0.35, 0.30, 0.15]),
    (DateSource::Alone, &[DatePosition::Title], [0.94, 0.94, 0.48]),
    (DateSource::Alone, &[], [0.43, 0.42, 0.20]),
    (DateSource::Line, &[DatePosition::Title], [0.72, 0.72, 0.40]),
    (DateSource::Line, &[], [0.28, 0.28, 0.15]),
    (DateSource::Prose, &[], [0.12, 0.12, 0.05]),
    (DateSource::Swapped, &[DatePosition::Head], [0.30, 0.30, 0.05]),
    (DateSource::Swapped, &[], [0.03, 0.03, 0.02]),
    (DateSource::Url, &[], [0.985, 0.985, 0.985]),
    (DateSource::UrlNumber, &[], [0.85, 0.85, 0.85]),
    (DateSource::Script, &[], [0.60, 0.20, 0.20]),
    (DateSource::Image, &[], [0.40, 0.40, 0.40]),
    (DateSource::Feed, &[], [0.93, 0.93, 0.93]),
    (DateSource::Seen, &[], [0.50, 0.50, 0.50]),
];

/// Factor of a `<meta>` named just `date` if the page displays another day.
const PLAIN_AGAINST_DISPLAYED: f32 = 0.8;

/// Estimated precision of a candidate by itself.
fn precision(c: &Candidate) -> f32 {
    let row = PRECISION.iter().find(|(source, positions, _)| {
        *source == c.source && (positions.is_empty() || positions.contains(&c.position))
    });
    let mut precision = match (row, c.role) {
        (Some((_, _, values)), DateRole::Published) => values[0],
        (Some((_, _, values)), DateRole::Unclear) => values[1],
        (Some((_, _, values)), DateRole::Modified) => values[2],
        // A month, a year, the modification time of a file.
        (None, _) => 0.02,
    };
    // Lines in teasers usually date other articles.
    if c.position == DatePosition::Aside && matches!(c.source, DateSource::Alone | DateSource::Line) {
        precision *= 0.6;
    }
    if c.nth > 0 {
        precision *= 0.15;
    }
    if c.vague && c.source != DateSource::Swapped {
        precision *= if c.position == DatePosition::Head { 0.7 } else { 0.9 };
    }
    // 1 January is a common default value.
    if (c.day.month(), c.day.day()) == (1, 1) {
        precision *= 0.7;
    }
    if c.linked && c.position != DatePosition::Title {
        precision *= 0.5;
    }
    precision
}

/// Calibration table: the upper end of a range of weights, and the share of right days in that
/// range where the strongest other day has a weight of at most 0.3, at most 0.6, or more. Counted
/// like [`PRECISION`].
const CALIBRATION: [(f32, [f32; 3]); 8] = [
    (0.10, [0.30, 0.30, 0.30]),
    (0.40, [0.67, 0.65, 0.60]),
    (0.60, [0.83, 0.83, 0.70]),
    (0.80, [0.85, 0.76, 0.65]),
    (0.94, [0.92, 0.90, 0.75]),
    (0.98, [0.96, 0.88, 0.74]),
    (0.995, [0.965, 0.95, 0.82]),
    (1.00, [0.98, 0.98, 0.93]),
];

fn calibrated(weight: f32, against: f32) -> f32 {
    let column = usize::from(against > 0.3) + usize::from(against > 0.6);
    let row = CALIBRATION.iter().find(|(end, _)| weight < *end).unwrap_or(&CALIBRATION[CALIBRATION.len() - 1]);
    row.1[column]
}

/// Groups of sources that are filled from the same data and so are wrong together.
fn family(source: DateSource) -> u8 {
    match source {
        // Usually filled from one database field.
        DateSource::LdArticle
        | DateSource::LdPage
        | DateSource::LdOther
        | DateSource::Meta
        | DateSource::MetaPlain
        | DateSource::Microdata => 0,
        // `<time class="date">` is one signal, even if several of these match it.
        DateSource::Time
        | DateSource::Data
        | DateSource::Marked
        | DateSource::Labelled
        | DateSource::Alone
        | DateSource::Line
        | DateSource::Prose => 1,
        DateSource::Url | DateSource::UrlNumber | DateSource::UrlMonth | DateSource::Image => 2,
        DateSource::Script => 3,
        DateSource::Feed | DateSource::Http => 4,
        DateSource::Seen | DateSource::Copyright | DateSource::Swapped => 5,
    }
}

const FAMILIES: usize = 6;

/// Returns whether the declarations alone suffice: two of them agree, none differs, and the hour is
/// not one at which the newsroom may be in another day. Saves scanning the page.
pub(super) fn is_certain(candidates: &[Candidate], zone: UtcOffsets) -> bool {
    let mut groups = 0u8;
    let mut day = None;
    for candidate in candidates.iter().filter(|c| c.role == DateRole::Published) {
        let group = match candidate.source {
            DateSource::LdArticle | DateSource::LdPage => 1,
            DateSource::Meta => 2,
            DateSource::Url => 4,
            _ => continue,
        };
        let late = candidate.utc_hour.is_some_and(|hour| zone.west < 0 && hour < 8 || zone.east > 0 && hour >= 21);
        if late || day.is_some_and(|day| day != candidate.day) {
            return false;
        }
        day = Some(candidate.day);
        groups |= group;
    }
    groups.count_ones() >= 2
}

/// Sets the confidence of every candidate and returns the day with the highest weight.
pub(super) fn decide(candidates: &mut [Candidate], zone: UtcOffsets) -> Option<Decision> {
    for candidate in candidates.iter_mut() {
        candidate.confidence = precision(candidate);
    }
    // If the publication date is declared, a declared modification date is something else.
    let apart = |c: &Candidate| c.role == DateRole::Published && c.position == DatePosition::Head;
    if candidates.iter().any(apart) {
        for candidate in
            candidates.iter_mut().filter(|c| c.role == DateRole::Modified && c.position == DatePosition::Head)
        {
            candidate.confidence *= 0.4;
        }
    }
    weigh_displayed(candidates);
    let month = candidates.iter().find(|c| c.source == DateSource::UrlMonth).map(|c| c.day);
    let mut best: Option<(f32, Date)> = None;
    let mut second = 0.0f32;
    let mut days: Vec<Date> = candidates.iter().map(|c| c.day).collect();
    days.sort_unstable();
    days.dedup();
    for day in days {
        let mut missed = [1.0f32; FAMILIES];
        for candidate in candidates.iter().filter(|c| c.day == day) {
            let slot = &mut missed[family(candidate.source) as usize];
            let (worse, better) = (slot.max(1.0 - candidate.confidence), slot.min(1.0 - candidate.confidence));
            // A second candidate of the family adds a little.
            *slot = if worse < 0.5 { better * 0.7 } else { better };
        }
        // The UTC day may differ from the local day that the page shows.
        let shown = candidates.iter().any(|c| c.day == day && c.utc_hour.is_none() && c.confidence > 0.5);
        if shown {
            for candidate in candidates.iter().filter(|c| zone.may_be(c.day, c.utc_hour, day)) {
                let slot = &mut missed[family(candidate.source) as usize];
                *slot = slot.min(1.0 - 0.7 * candidate.confidence);
            }
        }
        let mut score = 1.0 - missed.iter().product::<f32>();
        if let Some(month) = month
            && (month.year(), month.month()) != (day.year(), day.month())
        {
            score *= 0.6;
        }
        // On a tie the earlier day wins; later ones are modifications.
        if best.is_none_or(|(most, _)| score > most + 1e-4) {
            second = second.max(best.map_or(0.0, |(most, _)| most));
            best = Some((score, day));
        } else {
            second = second.max(score);
        }
    }
    let (weight, day) = best?;
    let supporters = candidates.iter().filter(|c| c.day == day);
    let strongest = supporters.max_by(|a, b| a.confidence.total_cmp(&b.confidence))?;
    // The calibration covers pages only; outside evidence alone keeps its own precision.
    let recorded = strongest.position == DatePosition::Record && weight < strongest.confidence + 0.02;
    let confidence = if recorded { strongest.confidence } else { calibrated(weight, second) };
    Some(Decision { day, source: strongest.source, confidence, weight, disputed: second > 0.5 })
}

/// Reduces the weight of vaguely named declarations where the page displays another day.
fn weigh_displayed(candidates: &mut [Candidate]) {
    let is_displayed = |c: &Candidate| {
        c.source == DateSource::Time
            && c.nth == 0
            && match c.position {
                DatePosition::Title | DatePosition::Article => c.role != DateRole::Modified,
                DatePosition::Body | DatePosition::Edge => c.role == DateRole::Published,
                _ => false,
            }
    };
    // A field that is just called `date` often has the creation of the record, not the day that the page shows.
    let displayed = candidates.iter().find(|c| is_displayed(c)).map(|c| c.day);
    if let Some(displayed) = displayed {
        let differing = |c: &&mut Candidate| c.source == DateSource::MetaPlain && c.day != displayed;
        candidates.iter_mut().filter(differing).for_each(|c| c.confidence *= PLAIN_AGAINST_DISPLAYED);
    }
}

/// The latest modification date on the page, not before its publication.
pub(super) fn modified(candidates: &[Candidate], published: Option<Date>) -> Option<Date> {
    let spoken = candidates.iter().filter(|c| {
        c.role == DateRole::Modified
            && c.source != DateSource::Http
            && !matches!(c.position, DatePosition::Aside | DatePosition::Edge)
    });
    spoken.map(|c| c.day).filter(|day| published.is_none_or(|published| *day >= published)).max()
}
