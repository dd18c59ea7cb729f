//! Weighs witnesses against one another.
//!
//! Each kind of evidence has a share of right answers, measured on pages whose date is known.
//! Witnesses of different families are independent enough that a day is missed only if all that
//! name it are wrong; within a family only the best counts, for a template repeats itself.

use jiff::civil::Date;

use super::written::Zone;
use super::{Candidate, Place, Role, Source};

/// The day that won.
#[derive(Debug, Clone, Copy)]
pub(super) struct Decision {
    pub day: Date,
    pub source: Source,
    /// How often days with such evidence for and against them were right.
    pub confidence: f32,
    /// The weight of the evidence by itself, between 0 and 1.
    pub weight: f32,
    pub disputed: bool,
}

/// How often evidence of a kind was the day of publication, where it was the first of its kind:
/// the source, the places (none means any), and the shares where it speaks of publication, where
/// it does not say, and where it speaks of a change.
///
/// Counted on annotated pages of one half of the domains (`tests/date_score.rs` prints the
/// evidence), rounded, and drawn towards neighbours where there were fewer than ten cases. What
/// the record knows could not be counted there: these rows are estimates.
const SHARES: [(Source, &[Place], [f32; 3]); 35] = [
    (Source::LdArticle, &[], [0.945, 0.80, 0.50]),
    (Source::LdPage, &[], [0.945, 0.70, 0.40]),
    (Source::LdOther, &[], [0.80, 0.75, 0.40]),
    (Source::Meta, &[], [0.955, 0.82, 0.42]),
    (Source::MetaPlain, &[], [0.30, 0.62, 0.30]),
    (Source::Microdata, &[Place::Aside], [0.30, 0.20, 0.10]),
    (Source::Microdata, &[], [0.945, 0.60, 0.40]),
    (Source::Time, &[Place::Title], [0.94, 0.935, 0.50]),
    (Source::Time, &[Place::Article, Place::Body], [0.66, 0.58, 0.35]),
    (Source::Time, &[Place::Edge], [0.60, 0.50, 0.15]),
    (Source::Time, &[], [0.35, 0.22, 0.10]),
    (Source::Data, &[Place::Title], [0.85, 0.85, 0.35]),
    (Source::Data, &[Place::Article, Place::Body], [0.50, 0.50, 0.25]),
    (Source::Data, &[], [0.30, 0.30, 0.10]),
    (Source::Marked, &[Place::Title], [0.94, 0.94, 0.48]),
    (Source::Marked, &[Place::Article, Place::Body], [0.50, 0.43, 0.20]),
    (Source::Marked, &[Place::Edge], [0.60, 0.45, 0.20]),
    (Source::Marked, &[], [0.12, 0.25, 0.10]),
    (Source::Labelled, &[Place::Title], [0.945, 0.94, 0.48]),
    (Source::Labelled, &[Place::Article, Place::Body], [0.70, 0.60, 0.32]),
    (Source::Labelled, &[Place::Edge], [0.80, 0.60, 0.30]),
    (Source::Labelled, &[], [0.35, 0.30, 0.15]),
    (Source::Alone, &[Place::Title], [0.94, 0.94, 0.48]),
    (Source::Alone, &[], [0.43, 0.42, 0.20]),
    (Source::Line, &[Place::Title], [0.72, 0.72, 0.40]),
    (Source::Line, &[], [0.28, 0.28, 0.15]),
    (Source::Prose, &[], [0.12, 0.12, 0.05]),
    (Source::Swapped, &[Place::Head], [0.30, 0.30, 0.05]),
    (Source::Swapped, &[], [0.03, 0.03, 0.02]),
    (Source::Url, &[], [0.985, 0.985, 0.985]),
    (Source::UrlNumber, &[], [0.85, 0.85, 0.85]),
    (Source::Script, &[], [0.60, 0.20, 0.20]),
    (Source::Image, &[], [0.40, 0.40, 0.40]),
    (Source::Feed, &[], [0.93, 0.93, 0.93]),
    (Source::Seen, &[], [0.50, 0.50, 0.50]),
];

/// The share of right answers of a candidate by itself.
fn share(c: &Candidate) -> f32 {
    let row = SHARES
        .iter()
        .find(|(source, places, _)| *source == c.source && (places.is_empty() || places.contains(&c.place)));
    let mut share = match (row, c.role) {
        (Some((_, _, shares)), Role::Published) => shares[0],
        (Some((_, _, shares)), Role::Unclear) => shares[1],
        (Some((_, _, shares)), Role::Modified) => shares[2],
        // A month, a year, the last change of a file: better than nothing.
        (None, _) => 0.02,
    };
    // Marginal places of lines: among other articles they date those.
    if c.place == Place::Aside && matches!(c.source, Source::Alone | Source::Line) {
        share *= 0.6;
    }
    if c.nth > 0 {
        share *= 0.15;
    }
    if c.vague && c.source != Source::Swapped {
        share *= if c.place == Place::Head { 0.7 } else { 0.9 };
    }
    // Programs write New Year's Day where they know nothing.
    if (c.day.month(), c.day.day()) == (1, 1) {
        share *= 0.7;
    }
    if c.linked && c.place != Place::Title {
        share *= 0.5;
    }
    share
}

/// Weights as shares: the upper end of a range of weights, and how often days of such weight were
/// right where nothing better than 0.3, than 0.6, or more spoke for another day. Counted as above.
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

/// Within a family witnesses copy from one another.
fn family(source: Source) -> u8 {
    match source {
        // Filled from one field of one database, these rarely disagree and err together.
        Source::LdArticle | Source::LdPage | Source::LdOther | Source::Meta | Source::MetaPlain | Source::Microdata => {
            0
        }
        // `<time class="date">` is one witness, however many of these hear it.
        Source::Time
        | Source::Data
        | Source::Marked
        | Source::Labelled
        | Source::Alone
        | Source::Line
        | Source::Prose => 1,
        Source::Url | Source::UrlNumber | Source::UrlMonth | Source::Image => 2,
        Source::Script => 3,
        Source::Feed | Source::Http => 4,
        Source::Seen | Source::Copyright | Source::Swapped => 5,
    }
}

const FAMILIES: usize = 6;

/// Whether the declarations already leave no doubt: two of them agree, none differs, and the hour
/// is not one at which the newsroom may live in another day.
pub(super) fn is_certain(candidates: &[Candidate], zone: Zone) -> bool {
    let mut groups = 0u8;
    let mut day = None;
    for candidate in candidates.iter().filter(|c| c.role == Role::Published) {
        let group = match candidate.source {
            Source::LdArticle | Source::LdPage => 1,
            Source::Meta => 2,
            Source::Url => 4,
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

/// The day with most evidence, after giving every candidate its confidence.
pub(super) fn decide(candidates: &mut [Candidate], zone: Zone) -> Option<Decision> {
    for candidate in candidates.iter_mut() {
        candidate.confidence = share(candidate);
    }
    // Where publication is declared apart, the day of the change is the day of a change.
    let apart = |c: &Candidate| c.role == Role::Published && c.place == Place::Head;
    if candidates.iter().any(apart) {
        for candidate in candidates.iter_mut().filter(|c| c.role == Role::Modified && c.place == Place::Head) {
            candidate.confidence *= 0.4;
        }
    }
    let month = candidates.iter().find(|c| c.source == Source::UrlMonth).map(|c| c.day);
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
            // A second voice of the family counts a little.
            *slot = if worse < 0.5 { better * 0.7 } else { better };
        }
        // A moment in Greenwich may be the evening before in the newsroom, or the morning after.
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
        // Of two days as good, the earlier: later ones are changes.
        if best.is_none_or(|(most, _)| score > most + 1e-4) {
            second = second.max(best.map_or(0.0, |(most, _)| most));
            best = Some((score, day));
        } else {
            second = second.max(score);
        }
    }
    let (weight, day) = best?;
    let speakers = candidates.iter().filter(|c| c.day == day);
    let speaker = speakers.max_by(|a, b| a.confidence.total_cmp(&b.confidence))?;
    // Nothing was measured without a page to speak.
    let recorded = speaker.place == Place::Record && weight < speaker.confidence + 0.02;
    let confidence = if recorded { speaker.confidence } else { calibrated(weight, second) };
    Some(Decision { day, source: speaker.source, confidence, weight, disputed: second > 0.5 })
}

/// The last change the page speaks of, never before its publication.
pub(super) fn modified(candidates: &[Candidate], published: Option<Date>) -> Option<Date> {
    let spoken = candidates.iter().filter(|c| {
        c.role == Role::Modified && c.source != Source::Http && !matches!(c.place, Place::Aside | Place::Edge)
    });
    spoken.map(|c| c.day).filter(|day| published.is_none_or(|published| *day >= published)).max()
}
