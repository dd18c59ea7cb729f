//! Weighs witnesses against one another.
//!
//! Each kind of evidence has a share of right answers, measured on pages whose date is known.
//! Witnesses of different families are independent enough that a day is missed only if all that
//! name it are wrong; within a family only the best counts, for a template repeats itself.

use jiff::civil::Date;

use super::{Candidate, Place, Role, Source};

/// The day that won.
#[derive(Debug, Clone, Copy)]
pub(super) struct Decision {
    pub day: Date,
    pub source: Source,
    pub confidence: f32,
    pub disputed: bool,
}

/// The share of right answers of a candidate by itself.
fn share(c: &Candidate) -> f32 {
    use Place::{Article, Aside, Body, Edge, Title};
    use Role::{Modified, Published, Unclear};
    let plain = match (c.source, c.role, c.place) {
        (Source::LdArticle, Published, _) => 0.95,
        (Source::LdArticle, Unclear, _) => 0.8,
        (Source::LdArticle, Modified, _) => 0.45,
        (Source::LdPage, Published, _) => 0.85,
        (Source::LdPage, Unclear, _) => 0.7,
        (Source::LdPage, Modified, _) => 0.35,
        (Source::LdOther, Modified, _) => 0.2,
        (Source::LdOther, ..) => 0.5,
        (Source::Meta, Modified, _) => 0.35,
        (Source::Meta, ..) => 0.93,
        (Source::MetaPlain, ..) => 0.75,
        (Source::Microdata, Modified, _) => 0.3,
        (Source::Microdata, _, Aside | Edge) => 0.3,
        (Source::Microdata, ..) => 0.9,
        (Source::Time, Modified, _) => 0.3,
        (Source::Time, Published, Title) => 0.93,
        (Source::Time, _, Title) => 0.9,
        (Source::Time, _, Article | Body) => 0.6,
        (Source::Time, ..) => 0.15,
        (Source::Data, _, Title) => 0.6,
        (Source::Data, ..) => 0.2,
        (Source::Marked, Modified, _) => 0.3,
        (Source::Marked, _, Title) => 0.85,
        (Source::Marked, _, Article | Body) => 0.5,
        (Source::Marked, ..) => 0.15,
        (Source::Labelled, Modified, _) => 0.3,
        (Source::Labelled, _, Title) => 0.85,
        (Source::Labelled, _, Article | Body) => 0.6,
        (Source::Labelled, ..) => 0.2,
        (Source::Alone, _, Title) => 0.75,
        (Source::Alone, _, Article | Body) => 0.35,
        (Source::Alone, ..) => 0.1,
        (Source::Line, _, Title) => 0.6,
        (Source::Line, _, Article | Body) => 0.2,
        (Source::Line, ..) => 0.05,
        (Source::Prose, _, Title) => 0.3,
        (Source::Prose, ..) => 0.1,
        (Source::Swapped, ..) => 0.03,
        (Source::Url, ..) => 0.93,
        (Source::UrlNumber, ..) => 0.8,
        (Source::UrlMonth, ..) => 0.03,
        (Source::Script, ..) => 0.6,
        (Source::Image, ..) => 0.3,
        (Source::Copyright, ..) => 0.02,
        (Source::Feed, ..) => 0.9,
        (Source::Http, ..) => 0.05,
        (Source::Seen, ..) => 0.3,
    };
    let mut share = plain;
    if c.nth > 0 {
        share *= 0.5;
    }
    if c.vague && c.source != Source::Swapped {
        share *= 0.7;
    }
    if c.linked && c.place != Place::Title {
        share *= 0.5;
    }
    share
}

/// Within a family witnesses copy from one another.
fn family(source: Source) -> u8 {
    match source {
        Source::LdArticle | Source::LdPage | Source::LdOther => 0,
        Source::Meta | Source::MetaPlain => 1,
        Source::Microdata | Source::Time | Source::Data => 2,
        Source::Marked | Source::Labelled | Source::Alone | Source::Line | Source::Prose | Source::Swapped => 3,
        Source::Url | Source::UrlNumber | Source::UrlMonth | Source::Image => 4,
        Source::Script => 5,
        Source::Feed | Source::Http => 6,
        Source::Seen | Source::Copyright => 7,
    }
}

const FAMILIES: usize = 8;

/// Whether the declarations already leave no doubt.
pub(super) fn is_certain(candidates: &[Candidate]) -> bool {
    if std::env::var("DATE_ALL").is_ok() { return false; }
    let sure = |c: &&Candidate| {
        c.role == Role::Published
            && matches!(c.source, Source::LdArticle | Source::Meta | Source::Url | Source::Microdata | Source::LdPage)
    };
    let mut sure = candidates.iter().filter(sure);
    let Some(first) = sure.next() else { return false };
    let mut families = 1u8 << family(first.source);
    for candidate in sure {
        if candidate.day != first.day {
            return false;
        }
        families |= 1 << family(candidate.source);
    }
    families.count_ones() >= 2
}

/// The day with most evidence, after giving every candidate its confidence.
pub(super) fn decide(candidates: &mut [Candidate]) -> Option<Decision> {
    for candidate in candidates.iter_mut() {
        candidate.confidence = share(candidate);
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
            *slot = slot.min(1.0 - candidate.confidence);
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
    let (confidence, day) = best?;
    let speakers = candidates.iter().filter(|c| c.day == day);
    let source = speakers.max_by(|a, b| a.confidence.total_cmp(&b.confidence))?.source;
    Some(Decision { day, source, confidence, disputed: second > 0.5 })
}

/// The last change the page speaks of, never before its publication.
pub(super) fn modified(candidates: &[Candidate], published: Option<Date>) -> Option<Date> {
    let spoken = candidates.iter().filter(|c| {
        c.role == Role::Modified && c.source != Source::Http && !matches!(c.place, Place::Aside | Place::Edge)
    });
    spoken.map(|c| c.day).filter(|day| published.is_none_or(|published| *day >= published)).max()
}
