//! Quotations: text between quotation marks and after dialogue dashes, with the speaker and the reporting verb.
//!
//! A span `quote` covers the tokens between the marks; the marks are not part of it. A quotation over several paragraphs is
//! one span, with the opening marks that are repeated at each paragraph. A quotation within a quotation has a span of its
//! own. Words of the writer between two pairs of marks (“Yes,” she said, “now.”) separate two quotations; words of the writer
//! within one pair of marks («Да, — сказал он. — Идём») belong to its span. After a dialogue dash, the words of the writer and
//! a comma before them are left out. Chinese title marks (《》) are not quotation marks.
//!
//! | attribute | value |
//! |---|---|
//! | `kind` | `direct`: words of a speaker or a text; `scare`: terms, titles, names, words used with distance; `headline`: any quotation in a heading |
//! | `speaker` | the words of the speaker, if the sentence or a neighbouring one names them; the full name where the layer of names has it, also for a pronoun that stands for the only person named shortly before |
//! | `verb` | lemma, or else form, of the reporting verb |
//!
//! Each mention of a speaker is a span `speaker` without attributes. Tags and lemmas improve speakers and verbs; marks and
//! kinds need none.

mod attribution;
mod dialogue;
mod habits;
mod heads;
mod kind;
mod marks;
mod pairing;
mod pronoun;
mod speaker;
mod text;

#[cfg(test)]
mod tests;

use std::ops::Range;

use tidings_model::{Annotated, TokenSpan};

use attribution::{Attribution, Attributor, Introduction};
pub use kind::QuoteKind;
use pairing::Pair;
use text::{Text, is_comma, is_dash, is_final, is_word};

use super::names;

/// The name of the layer.
pub const NAME: &str = "quotations";
/// The version of the layer: increased whenever the same document gives other spans.
pub const VERSION: u32 = 2;
/// The name of the spans of quotations.
pub const QUOTE: &str = "quote";
/// The name of the spans of speakers.
pub const SPEAKER: &str = "speaker";
/// The attribute of a quotation with its [kind](QuoteKind).
pub const KIND: &str = "kind";
/// The attribute of a quotation with its reporting verb.
pub const VERB: &str = "verb";

/// The most words of the writer between a quotation and the next one of the same speaker.
const MAX_CONTINUED: usize = 40;

/// Finds the quotations of a document, in [file order](TokenSpan::file_order).
///
/// ```
/// use tidings_annotate::layers::quotations::quotations;
/// use tidings_model::{Annotated, AnnotatedParagraph, Token};
///
/// let words = ["“", "Go", "home", ",", "”", "said", "Ada", "."];
/// let mut tokens: Vec<Token> = words.iter().map(|word| Token::new(word, "", "")).collect();
/// [0, 2, 3, 6].iter().for_each(|at: &usize| tokens[*at].space_after = false);
/// let paragraph = AnnotatedParagraph { sentences: vec![tokens], ..AnnotatedParagraph::default() };
/// let document = Annotated { paragraphs: vec![paragraph], ..Annotated::default() };
/// let spans = quotations(&document, "en");
/// assert_eq!((spans[0].start, spans[0].end), (1, 4));
/// assert_eq!(spans[0].attribute("speaker"), Some("Ada"));
/// assert_eq!(spans[0].attribute("kind"), Some("direct"));
/// ```
pub fn quotations(document: &Annotated, language: &str) -> Vec<TokenSpan> {
    let may_quote = |word: &str| marks::glyph(word).is_some() || is_dash(word);
    let Some(text) = Text::new(document, language, may_quote) else { return Vec::new() };
    let mut pairs = pairing::pairs(&text);
    pairs.sort_by_key(|pair| (pair.start, std::cmp::Reverse(pair.end)));
    let mut found: Vec<Quotation> = Vec::with_capacity(pairs.len());
    // The last quotation that is not within another one.
    let mut outer: Option<usize> = None;
    for (number, pair) in pairs.iter().enumerate() {
        let previous = outer.map(|at| &found[at]);
        let is_inner = previous.is_some_and(|previous| pair.end <= previous.range.end);
        let quotation = quotation(&text, pair, &pairs[..number], previous);
        found.push(quotation);
        outer = if is_inner { outer } else { Some(number) };
    }
    let speeches = dialogue::speeches(&text).into_iter();
    found.extend(speeches.map(|speech| Quotation {
        range: speech.start..speech.end,
        paragraph: usize::MAX,
        kind: QuoteKind::Direct,
        attribution: speech.attribution,
    }));
    spans(&text, &found, &document.spans)
}

/// Returns true if the table of a language has a verb that reports speech.
pub(super) fn is_reporting_verb(language: &str, word: &str) -> bool {
    habits::Habits::of(language).verbs.contains(word)
}

/// A quotation with all that is known of it.
struct Quotation {
    range: Range<usize>,
    /// The number of its last paragraph.
    paragraph: usize,
    kind: QuoteKind,
    attribution: Attribution,
}

fn quotation(text: &Text<'_>, pair: &Pair, earlier: &[Pair], previous: Option<&Quotation>) -> Quotation {
    let habits = text.paragraphs[pair.paragraph].habits;
    let attributor = Attributor::new(text, habits);
    let mut attribution = attributor.find(pair, earlier);
    let opens_sentence = attributor.opens_sentence(pair);
    let continued = previous.filter(|previous| continues(text, previous, pair));
    if let Some(previous) = continued
        && (attribution.introduction != Introduction::Reported || attribution.speaker.is_none())
        && previous.attribution.speaker.is_some()
        && (opens_sentence || follows_writer(text, previous, pair) || attribution.speaker.is_none())
    {
        let is_own = attribution.introduction == Introduction::Embedded && !follows_writer(text, previous, pair);
        attribution.speaker = previous.attribution.speaker.clone();
        if !is_own {
            attribution.verb = attribution.verb.or(previous.attribution.verb);
            attribution.introduction = continued_introduction(text, pair, attribution.introduction, opens_sentence);
        }
    }
    let kind = kind::kind(text, habits, pair, &attribution, opens_sentence);
    match kind {
        QuoteKind::Direct if attribution.speaker.is_none() && opens_sentence && !pair.is_nested => {
            attribution.speaker = attributor.previous_sentence(pair);
        }
        QuoteKind::Scare => attribution = Attribution::default(),
        _ => {}
    }
    Quotation { range: pair.start..pair.end, paragraph: pair.last_paragraph, kind, attribution }
}

/// A quotation after one of the same speaker is reported like it, unless it is a mere term.
fn continued_introduction(text: &Text<'_>, pair: &Pair, own: Introduction, opens_sentence: bool) -> Introduction {
    let words = (pair.start..pair.end).filter(|at| is_word(text.word(*at))).take(3).count();
    let is_sentence =
        is_final(text.word(pair.end - 1)) || pair.end + 1 >= text.len() || is_final(text.word(pair.end + 1));
    match opens_sentence || words >= 3 {
        true if is_sentence && words >= 1 => Introduction::Reported,
        _ => own,
    }
}

/// Returns true if a quotation follows a direct one in the same paragraph, at a small distance.
fn continues(text: &Text<'_>, previous: &Quotation, pair: &Pair) -> bool {
    previous.kind == QuoteKind::Direct
        && previous.paragraph == pair.paragraph
        && previous.range.end < pair.start
        && pair.start - previous.range.end <= MAX_CONTINUED
        && pair.start <= text.len()
}

/// Returns true if only the reporting words stand between two quotations: *“Yes,” she said, “now.”*
fn follows_writer(text: &Text<'_>, previous: &Quotation, pair: &Pair) -> bool {
    let between = previous.range.end + 1..pair.start - 1;
    let last = between.clone().next_back().map(|at| text.word(at));
    last.is_some_and(|word| is_comma(word) || is_dash(word))
        && between.len() <= MAX_CONTINUED
        && previous.attribution.introduction == Introduction::Reported
}

/// The full name of a speaker, if the layer of names has run: that of a person among the speaker's words, or of a name that
/// is all of them. An organisation among them is not the speaker ("the president of the bank").
fn full_name<'s>(names: &[&'s TokenSpan], speaker: &Range<usize>) -> Option<&'s str> {
    let (start, end) = (speaker.start as u32, speaker.end as u32);
    // Names do not overlap one another, so that they are sorted by their ends, too.
    let first = names.partition_point(|name| name.end <= start);
    let mut inside = names[first..].iter().take_while(|name| name.start < end);
    let is_speaker = |name: &&&TokenSpan| {
        name.attribute(names::TYPE) == Some(names::NameKind::Person.code()) || (name.start <= start && name.end >= end)
    };
    inside.find(is_speaker)?.attribute(names::NAME)
}

/// The value of the attribute `speaker`: the full name, also for a pronoun that stands for one person, else the words.
fn speaker_value(text: &Text<'_>, names: &[&TokenSpan], speaker: &Range<usize>) -> String {
    if let Some(name) = full_name(names, speaker) {
        return name.to_owned();
    }
    if speaker.len() == 1 && text.tag(speaker.start) == "PRON" {
        let name = pronoun::antecedent(text, names, speaker.start);
        return name.map_or_else(|| pronoun::value(text.word(speaker.start)), str::to_owned);
    }
    text.spelled(speaker.start, speaker.end)
}

/// The spans of quotations and their speakers, without duplicates.
fn spans(text: &Text<'_>, found: &[Quotation], known: &[TokenSpan]) -> Vec<TokenSpan> {
    let names: Vec<&TokenSpan> = known.iter().filter(|span| span.name == names::SPAN).collect();
    let mut spans = Vec::with_capacity(found.len() * 2);
    for quotation in found {
        let Attribution { speaker, verb, .. } = &quotation.attribution;
        let spelled = speaker.as_ref().map(|range| speaker_value(text, &names, range));
        let verb = verb.map(|at| text.token(at)).map_or("", |token| match token.lemma.is_empty() {
            true => token.word.as_str(),
            false => token.lemma.as_str(),
        });
        let span = TokenSpan::new(QUOTE, quotation.range.start as u32, quotation.range.end as u32);
        spans.push(
            span.with(KIND, quotation.kind.name())
                .with(SPEAKER, spelled.as_deref().unwrap_or_default())
                .with(VERB, verb),
        );
        if let Some(range) = speaker.as_ref().filter(|range| !range.is_empty()) {
            spans.push(TokenSpan::new(SPEAKER, range.start as u32, range.end as u32));
        }
    }
    spans.sort_by(TokenSpan::file_order);
    spans.dedup();
    spans
}
