//! Verdicts as they are stored, and their sums.

use std::collections::BTreeSet;
use std::ops::Range;

use tidings_dedup::{Text, UnitVerdict, Verdict};
use tidings_store::dedup_state::{DuplicateUnit, VerdictLine};

use super::judge::Waiting;

/// The minimum share of duplicate words of a copy.
pub(super) const COPY_SHARE: f32 = 0.5;

/// A part as a share of the whole.
pub(super) fn share(part: u64, whole: u64) -> f64 {
    part as f64 / whole.max(1) as f64
}

/// A share with three decimals.
pub(super) fn rounded(share: f32) -> f64 {
    (f64::from(share) * 1000.0).round() / 1000.0
}

/// The share of duplicate words of a document.
pub(super) fn share_of(line: &VerdictLine) -> f32 {
    if line.words == 0 { 0.0 } else { line.duplicate_words as f32 / line.words as f32 }
}

/// The sums of a day.
#[derive(Debug, Default)]
pub(super) struct Counters {
    pub(super) documents: u64,
    pub(super) duplicates: u64,
    pub(super) paragraphs: u64,
    pub(super) duplicate_paragraphs: u64,
    pub(super) words: u64,
    pub(super) duplicate_words: u64,
}

impl Counters {
    /// The sums of a single verdict.
    fn of(line: &VerdictLine) -> Counters {
        Counters {
            documents: 1,
            duplicates: u64::from(line.words > 0 && line.words == line.duplicate_words),
            paragraphs: line.paragraphs,
            duplicate_paragraphs: line.duplicates.iter().filter(|unit| unit.bytes.is_none()).count() as u64,
            words: line.words,
            duplicate_words: line.duplicate_words,
        }
    }

    pub(super) fn add(&mut self, line: &VerdictLine) {
        let Counters { documents, duplicates, paragraphs, duplicate_paragraphs, words, duplicate_words } =
            Counters::of(line);
        self.documents += documents;
        self.duplicates += duplicates;
        self.paragraphs += paragraphs;
        self.duplicate_paragraphs += duplicate_paragraphs;
        self.words += words;
        self.duplicate_words += duplicate_words;
    }

    pub(super) fn remove(&mut self, line: &VerdictLine) {
        let Counters { documents, duplicates, paragraphs, duplicate_paragraphs, words, duplicate_words } =
            Counters::of(line);
        self.documents -= documents;
        self.duplicates -= duplicates;
        self.paragraphs -= paragraphs;
        self.duplicate_paragraphs -= duplicate_paragraphs;
        self.words -= words;
        self.duplicate_words -= duplicate_words;
    }
}

/// The stored form of the verdict on a document.
pub(super) fn line(document: &Waiting, lang: &str, text: &Text, verdict: &Verdict) -> VerdictLine {
    let unit = |paragraph: usize, bytes: Option<Range<usize>>, finding: &UnitVerdict| {
        let why = finding.duplicate?;
        Some(DuplicateUnit {
            paragraph: paragraph as u64,
            bytes: bytes.map(|bytes| (bytes.start as u64, bytes.end as u64)),
            why: why.name().to_owned(),
            share: rounded(finding.share),
            of: finding.of.map(|of| verdict.sources[of as usize].clone()),
        })
    };
    let paragraphs = verdict.paragraphs.iter().enumerate();
    let mut duplicates: Vec<DuplicateUnit> = paragraphs.filter_map(|(at, finding)| unit(at, None, finding)).collect();
    let gone: BTreeSet<u64> = duplicates.iter().map(|unit| unit.paragraph).collect();
    for (at, finding) in verdict.sentences.iter().enumerate() {
        let (paragraph, bytes) = text.sentence(at);
        if !gone.contains(&(paragraph as u64)) {
            duplicates.extend(unit(paragraph, Some(bytes), finding));
        }
    }
    VerdictLine {
        id: document.id.clone(),
        lang: lang.to_owned(),
        site: document.site.clone(),
        date: document.date.clone(),
        words: verdict.words as u64,
        duplicate_words: verdict.removed as u64,
        copy_of: verdict.source().filter(|_| verdict.share() >= COPY_SHARE).map(str::to_owned),
        paragraphs: verdict.paragraphs.len() as u64,
        duplicates,
        copies: Vec::new(),
    }
}
