//! The selected documents of a segment: those that a filter admits and that are not deleted, as a bit set.

use super::Limits;
use crate::filter::{CompiledFilter, FieldMatcher, HitDocuments};
use crate::syntax::Logic;
use std::ops::Range;
use tidings_index::codec::BitSet;
use tidings_index::{Day, LiveSegment, Segment};

/// The selected documents of a segment.
#[derive(Debug, Clone)]
pub(crate) struct Scope {
    /// The range from the first to the last selected document.
    documents: Range<u32>,
    /// The selected documents, unless the whole range is selected.
    chosen: Option<BitSet>,
}

impl Scope {
    /// Selects the documents that a filter admits and that are not deleted.
    pub(crate) fn new(live: &LiveSegment, filter: Option<&CompiledFilter>) -> Scope {
        let segment = live.segment();
        let documents = segment.meta().documents;
        let Some(filter) = filter else {
            let chosen = live.has_deleted().then(|| without(of_range(segment, 0..documents), live.deleted()));
            return Scope { documents: 0..documents, chosen };
        };
        Scope::of(without(admitted(segment, live.file(), filter.condition()), live.deleted()))
    }

    fn of(chosen: BitSet) -> Scope {
        let (first, last) = (chosen.iter().next(), last_of(&chosen));
        let (Some(first), Some(last)) = (first, last) else { return Scope { documents: 0..0, chosen: None } };
        let documents = first..last + 1;
        let is_whole = chosen.count() == documents.len();
        Scope { documents, chosen: (!is_whole).then_some(chosen) }
    }

    /// The selected documents that pass a test.
    pub(crate) fn restricted(&self, segment: &Segment, mut keep: impl FnMut(u32) -> bool) -> Scope {
        let mut chosen = BitSet::new(segment.meta().documents as usize);
        let kept = self.documents().filter(|document| self.contains(*document) && keep(*document));
        kept.for_each(|document| chosen.set(document));
        Scope::of(chosen)
    }

    /// The selected documents of a range.
    pub(crate) fn within(&self, segment: &Segment, range: Range<u32>) -> Scope {
        let documents = self.documents.start.max(range.start)..self.documents.end.min(range.end);
        match self.chosen {
            _ if documents.is_empty() => Scope { documents: 0..0, chosen: None },
            None => Scope { documents, chosen: None },
            Some(_) if documents == self.documents => self.clone(),
            Some(_) => Scope { documents, chosen: self.chosen.clone() }.restricted(segment, |_| true),
        }
    }

    /// The range from the first to the last selected document.
    pub(crate) fn documents(&self) -> Range<u32> {
        self.documents.clone()
    }

    /// The number of selected documents.
    pub(crate) fn count(&self) -> u64 {
        self.chosen.as_ref().map_or(self.documents.len(), |chosen| chosen.count()) as u64
    }

    /// Returns true if every document of the range is selected.
    pub(crate) fn is_whole(&self) -> bool {
        self.chosen.is_none()
    }

    /// Returns true if a document of the range is selected.
    #[inline]
    pub(crate) fn contains(&self, document: u32) -> bool {
        self.chosen.as_ref().is_none_or(|chosen| chosen.get(document))
    }

    /// The tokens of the selected documents among some.
    pub(crate) fn tokens_among(&self, segment: &Segment, documents: Range<u32>) -> u64 {
        match &self.chosen {
            None => segment.tokens_in(documents).len() as u64,
            Some(chosen) => {
                let chosen = documents.filter(|document| chosen.get(*document));
                chosen.map(|document| segment.tokens_of(document).len() as u64).sum()
            }
        }
    }

    /// Passes the selected documents as ranges of neighbours.
    pub(crate) fn runs(&self, mut each: impl FnMut(Range<u32>)) {
        match &self.chosen {
            None if self.documents.is_empty() => {}
            None => each(self.documents.clone()),
            Some(chosen) => {
                let mut run: Option<Range<u32>> = None;
                for document in chosen.iter() {
                    match &mut run {
                        Some(run) if run.end == document => run.end += 1,
                        _ => {
                            if let Some(run) = run.replace(document..document + 1) {
                                each(run);
                            }
                        }
                    }
                }
                run.into_iter().for_each(each);
            }
        }
    }
}

/// The number of tokens of a piece, about a millisecond of work.
const PIECE_TOKENS: u32 = 1 << 18;

impl Scope {
    /// Passes the selected documents as ranges of at most a few hundred thousand tokens, until a limit is reached.
    pub(crate) fn pieces(&self, segment: &Segment, limits: &Limits, mut each: impl FnMut(Range<u32>)) {
        let starts = segment.starts();
        let (mut is_over, mut seen) = (false, PIECE_TOKENS);
        self.runs(|run| {
            let mut rest = run;
            while !rest.is_empty() && !is_over {
                // Only before further work, so that limits stop nothing that is complete.
                if seen >= PIECE_TOKENS {
                    seen = 0;
                    is_over = limits.is_over();
                    continue;
                }
                let first = starts[rest.start as usize];
                let tokens = &starts[rest.start as usize + 1..=rest.end as usize];
                let length = tokens.partition_point(|end| *end - first <= PIECE_TOKENS).max(1) as u32;
                let piece = rest.start..rest.start + length;
                seen += starts[piece.end as usize] - first;
                rest.start = piece.end;
                each(piece);
            }
        });
    }
}

fn without(mut set: BitSet, gone: &BitSet) -> BitSet {
    set.words_mut().iter_mut().zip(gone.words()).for_each(|(word, gone)| *word &= !gone);
    set
}

fn last_of(bits: &BitSet) -> Option<u32> {
    let word = bits.words().iter().rposition(|word| *word != 0)?;
    Some(word as u32 * 64 + 63 - bits.words()[word].leading_zeros())
}

/// The documents of a segment in a file that fulfil a condition.
pub(crate) fn admitted(segment: &Segment, file: &str, condition: &Logic<(String, FieldMatcher)>) -> BitSet {
    admitted_of((segment, file), condition, 0..segment.meta().documents)
}

/// The documents of a range that fulfil a condition; bits outside of the range are unspecified.
fn admitted_of(
    (segment, file): (&Segment, &str),
    condition: &Logic<(String, FieldMatcher)>,
    range: Range<u32>,
) -> BitSet {
    let admitted_of =
        |part: &Logic<(String, FieldMatcher)>, range: Range<u32>| admitted_of((segment, file), part, range);
    match condition {
        Logic::Test((_, FieldMatcher::Hits(documents))) => with_hit(segment, file, documents),
        Logic::Test((field, matcher)) => with_field(segment, field, matcher, range),
        Logic::Not(part) => without(of_range(segment, range.clone()), &admitted_of(part, range)),
        Logic::All(parts) => {
            // Periods first: they cost nothing and narrow the range.
            let mut range = range;
            for part in parts {
                if let Logic::Test((field, FieldMatcher::Days { period, negated: false })) = part
                    && field == "date"
                {
                    let inside = segment.documents_between(Day::of(period.first), Day::of(period.last));
                    range = range.start.max(inside.start)..range.end.min(inside.end);
                }
            }
            if range.is_empty() {
                return BitSet::new(segment.meta().documents as usize);
            }
            let parts = parts.iter().map(|part| admitted_of(part, range.clone()));
            let all = of_range(segment, range.clone());
            parts.fold(all, |a, b| combine(a, &b, |a, b| a & b))
        }
        Logic::Any(parts) => {
            let none = BitSet::new(segment.meta().documents as usize);
            let parts = parts.iter().map(|part| admitted_of(part, range.clone()));
            parts.fold(none, |a, b| combine(a, &b, |a, b| a | b))
        }
    }
}

/// The documents of a segment in a file with a hit.
fn with_hit(segment: &Segment, file: &str, documents: &HitDocuments) -> BitSet {
    match documents {
        HitDocuments::Segments(segments) => segments.get(file).cloned(),
        HitDocuments::Ids(ids) => {
            let mut bits = BitSet::new(segment.meta().documents as usize);
            let found = (0..).zip(segment.ids().all()).filter(|(_, id)| ids.contains(id));
            found.for_each(|(document, _)| bits.set(document));
            Some(bits)
        }
    }
    .unwrap_or_else(|| BitSet::new(segment.meta().documents as usize))
}

fn combine(mut a: BitSet, b: &BitSet, operation: impl Fn(u64, u64) -> u64) -> BitSet {
    a.words_mut().iter_mut().zip(b.words()).for_each(|(a, b)| *a = operation(*a, *b));
    a
}

fn of_range(segment: &Segment, range: Range<u32>) -> BitSet {
    let mut bits = BitSet::new(segment.meta().documents as usize);
    bits.set_range(range);
    bits
}

/// The documents of a range whose field passes a test. Each distinct value is tested once.
fn with_field(segment: &Segment, field: &str, matcher: &FieldMatcher, range: Range<u32>) -> BitSet {
    let mut bits = BitSet::new(segment.meta().documents as usize);
    match (field, matcher) {
        ("date", FieldMatcher::Days { period, negated }) => {
            let inside = segment.documents_between(Day::of(period.first), Day::of(period.last));
            bits.set_range(inside);
            if *negated {
                bits = without(of_range(segment, range), &bits);
            }
        }
        ("date", _) => {
            for day in 0..segment.days() {
                if matcher.matches(&segment.day(day).to_string()) {
                    bits.set_range(segment.documents_of_day(day));
                }
            }
        }
        ("seen", _) => {
            let passing = range.filter(|document| matcher.matches(&segment.seen(*document).to_string()));
            passing.for_each(|document| bits.set(document));
        }
        ("id", _) => {
            for (document, id) in (0..).zip(segment.ids().all()) {
                if matcher.matches(&format!("{id:032x}")) {
                    bits.set(document);
                }
            }
        }
        ("url" | "title", _) => {
            // A block that cannot be read admits nothing; the engine reports that it is damaged.
            let _ = segment.each_text(|document, url, title| {
                if matcher.matches(if field == "url" { url } else { title }) {
                    bits.set(document);
                }
            });
        }
        _ => match segment.field(field) {
            Some(values) => {
                let passes: Vec<bool> = (0..values.count()).map(|code| matcher.matches(values.value(code))).collect();
                if !passes.contains(&true) {
                    return bits;
                }
                let passing =
                    range.filter(|document| passes.get(values.code(*document) as usize).copied().unwrap_or(false));
                passing.for_each(|document| bits.set(document));
            }
            None if matcher.matches("") => bits.set_range(range),
            None => {}
        },
    }
    bits
}
