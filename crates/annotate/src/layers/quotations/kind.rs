//! The kind of a quotation: direct speech, or a term, title or scare quote.

use std::borrow::Cow;

use super::attribution::{Attribution, Introduction, lower};
use super::habits::Habits;
use super::pairing::Pair;
use super::text::{Text, is_capitalised, is_comma, is_final, is_word};

/// The kind of a quotation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuoteKind {
    /// Words of a speaker or a text.
    Direct,
    /// Terms, titles of works, names, words used with distance.
    Scare,
    /// Any quotation in a heading.
    Headline,
}

impl QuoteKind {
    /// All kinds.
    pub const ALL: [QuoteKind; 3] = [QuoteKind::Direct, QuoteKind::Scare, QuoteKind::Headline];

    /// The value of the attribute `kind`.
    pub fn name(self) -> &'static str {
        match self {
            QuoteKind::Direct => "direct",
            QuoteKind::Scare => "scare",
            QuoteKind::Headline => "headline",
        }
    }
}

/// The fewest words of a quotation without any introduction that is direct speech.
const LONG: usize = 12;
/// The distance from its verb, in tokens, at which a quotation of one or two words is a term.
const FAR: usize = 8;
/// The most words of a title or term.
const TERM: usize = 8;

/// Decides the kind of a quotation from its length, its introduction and its position.
pub(super) fn kind(
    text: &Text<'_>,
    habits: &Habits,
    pair: &Pair,
    attribution: &Attribution,
    opens_sentence: bool,
) -> QuoteKind {
    if text.paragraphs[pair.paragraph].is_heading {
        return QuoteKind::Headline;
    }
    let shape = Shape::of(text, pair);
    let is_direct = match attribution.introduction {
        _ if shape.words <= TERM && is_named(text, habits, pair, &shape) => false,
        Introduction::Reported => true,
        Introduction::Colon => shape.words >= 4 || (shape.is_sentence && shape.words >= 2),
        Introduction::Embedded => !shape.is_name(text, habits, pair) && !is_far(pair, attribution, &shape),
        Introduction::None => shape.words >= LONG || shape.is_utterance(text, pair, opens_sentence),
    };
    if is_direct { QuoteKind::Direct } else { QuoteKind::Scare }
}

/// Length and form of a quotation.
struct Shape {
    words: usize,
    /// True if it ends with sentence-final punctuation inside the marks.
    is_sentence: bool,
    starts_with_capital: bool,
    /// The share of capitalised words, in per cent.
    capitals: usize,
}

impl Shape {
    fn of(text: &Text<'_>, pair: &Pair) -> Shape {
        // Longer quotations are direct anyway.
        let end = pair.end.min(pair.start + 64);
        let words = || (pair.start..end).map(|at| text.word(at)).filter(|word| is_word(word));
        let count = words().count();
        let capitalised = words().filter(|word| is_capitalised(word)).count();
        Shape {
            words: count,
            is_sentence: is_final(text.word(pair.end - 1)),
            starts_with_capital: words().next().is_some_and(is_capitalised),
            capitals: capitalised * 100 / count.max(1),
        }
    }

    /// Returns true for what looks like a name or title within a sentence: «Красный химик», “The Long Winter”.
    fn is_name(&self, text: &Text<'_>, habits: &Habits, pair: &Pair) -> bool {
        let follows_noun = pair.start >= 2 && text.tag(pair.start - 2) == "NOUN";
        let is_short = self.words <= 4 && !self.is_sentence;
        let has_capitals = self.capitals >= 60 && !habits.capitalises_nouns;
        is_short && self.starts_with_capital && (has_capitals || follows_noun)
    }

    /// Returns true for a whole utterance without words of the writer.
    fn is_utterance(&self, text: &Text<'_>, pair: &Pair, opens_sentence: bool) -> bool {
        let is_set_off = pair.start >= 2 && is_comma(text.word(pair.start - 2));
        let ends_outside = pair.end + 1 < text.len() && is_final(text.word(pair.end + 1));
        match self.is_sentence {
            true if opens_sentence => self.words >= 3 && self.ends_sentence(text, pair),
            true => is_set_off && self.words >= 4,
            false => opens_sentence && ends_outside && self.words >= 5,
        }
    }

    /// Returns true if the sentence ends with the quotation.
    fn ends_sentence(&self, text: &Text<'_>, pair: &Pair) -> bool {
        let next = pair.end + 1;
        next >= text.len() || text.starts_sentence(next) || is_capitalised(text.word(next)) || is_final(text.word(next))
    }
}

/// Returns true if a short quotation is far from the verb that governs its sentence.
fn is_far(pair: &Pair, attribution: &Attribution, shape: &Shape) -> bool {
    shape.words <= 2 && attribution.verb.is_some_and(|verb| verb < pair.start && pair.start - verb > FAR)
}

/// Returns true beside words that introduce terms and titles, perhaps with an article between.
fn is_named(text: &Text<'_>, habits: &Habits, pair: &Pair, shape: &Shape) -> bool {
    let Some(open) = pair.start.checked_sub(1) else { return false };
    let paragraph = text.paragraphs[pair.paragraph].start;
    let before = |skipped: usize| {
        move |n: usize| -> Option<Cow<'_, str>> {
            let at = open.checked_sub(n + 1 + skipped)?;
            (at >= paragraph).then(|| lower(text.word(at)))
        }
    };
    let has_article = open > paragraph && matches!(text.tag(open - 1), "DET" | "ADJ");
    let after = |n: usize| (pair.end + 1 + n < text.len()).then(|| lower(text.word(pair.end + 1 + n)));
    habits.naming.matches_before(before(0)).is_some()
        || (has_article && !shape.is_sentence && habits.naming.matches_before(before(1)).is_some())
        || (pair.is_closed && !shape.is_sentence && habits.naming_after.matches(after).is_some())
}
