//! Comparison of found quotations with gold annotation.

use serde::Serialize;
use tidings_annotate::layers::names::NAME;
use tidings_annotate::layers::quotations::{KIND, QUOTE, QuoteKind, SPEAKER, VERB};
use tidings_model::{Annotated, TokenSpan};

use super::gold::{GoldDocument, GoldQuote};

/// A quotation that the program found, in offsets of the gold annotation.
#[derive(Debug, Clone)]
pub struct FoundQuote {
    pub(super) kind: Option<QuoteKind>,
    pub(super) start: usize,
    pub(super) end: usize,
    /// Mentions of its speaker.
    pub(super) speakers: Vec<(usize, usize)>,
    pub(super) verb: String,
}

/// Numbers of annotations: in the gold data, found, and found right.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// In the gold data.
    pub gold: usize,
    /// Found.
    pub found: usize,
    /// Found right.
    pub right: usize,
}

impl Counts {
    /// The share of found ones that are right.
    pub fn precision(&self) -> f64 {
        self.right as f64 / self.found.max(1) as f64
    }

    /// The share of gold ones that are found.
    pub fn recall(&self) -> f64 {
        self.right as f64 / self.gold.max(1) as f64
    }

    /// Adds other counts.
    pub fn merge(&mut self, other: &Counts) {
        self.gold += other.gold;
        self.found += other.found;
        self.right += other.right;
    }
}

impl Serialize for Counts {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Row {
            gold: usize,
            found: usize,
            right: usize,
            precision: f64,
            recall: f64,
        }
        let round = |share: f64| (share * 1000.0).round() / 1000.0;
        let (precision, recall) = (round(self.precision()), round(self.recall()));
        Row { gold: self.gold, found: self.found, right: self.right, precision, recall }.serialize(serializer)
    }
}

/// The score of documents.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Score {
    /// Exact spans with the right kind.
    pub quotations: Counts,
    /// Exact spans of the kind `direct`.
    pub direct: Counts,
    /// Exact spans of any kind.
    pub spans: Counts,
    /// Speakers of direct quotations that overlap the gold one.
    pub speakers: Counts,
}

impl Score {
    /// Adds the score of other documents.
    pub fn merge(&mut self, other: &Score) {
        self.quotations.merge(&other.quotations);
        self.direct.merge(&other.direct);
        self.spans.merge(&other.spans);
        self.speakers.merge(&other.speakers);
    }
}

/// The most tokens between a quotation and a pronoun that stands for its speaker.
const NEAR: u32 = 15;

/// Offsets of tokens without white space: `offsets[n]..offsets[n + 1]` is the nth token.
pub fn offsets(document: &Annotated) -> Vec<usize> {
    let mut offsets = vec![0];
    let mut offset = 0;
    for token in document.tokens() {
        offset += token.word.chars().filter(|one| !one.is_whitespace()).count();
        offsets.push(offset);
    }
    offsets
}

/// Quotations in offsets of characters. Its speakers are the speaker spans with the words of the
/// attribute, in a name with that canonical form, or a pronoun nearby.
pub(super) fn found(document: &Annotated, spans: &[TokenSpan]) -> Vec<FoundQuote> {
    let offsets = offsets(document);
    let words: Vec<&str> = document.tokens().map(|token| token.word.as_str()).collect();
    let tags: Vec<&str> = document.tokens().map(|token| token.tag.as_str()).collect();
    let range = |span: &TokenSpan| (offsets[span.start as usize], offsets[span.end as usize]);
    let bare = |text: &str| -> String { text.chars().filter(|one| !one.is_whitespace()).collect() };
    let quotes = spans.iter().filter(|span| span.name == QUOTE);
    let found = quotes.map(|span| {
        let speaker = span.attribute(SPEAKER).map(bare).unwrap_or_default();
        let is_it = |other: &&TokenSpan| {
            let range = other.start as usize..other.end as usize;
            let is_name = |name: &TokenSpan| {
                let is_inside = name.start < other.end && other.start < name.end;
                is_inside && name.attribute(NAME).map(bare).as_ref() == Some(&speaker)
            };
            let distance = other.start.abs_diff(span.end).min(other.end.abs_diff(span.start));
            let is_pronoun = range.len() == 1 && tags[range.start].starts_with("PRON") && distance <= NEAR;
            bare(&words[range].concat()) == speaker || document.spans.iter().any(is_name) || is_pronoun
        };
        let candidates = spans.iter().filter(|other| other.name == SPEAKER && !speaker.is_empty());
        let speakers = candidates.filter(is_it).map(range).collect();
        let (start, end) = range(span);
        let kind = QuoteKind::ALL.into_iter().find(|kind| span.attribute(KIND) == Some(kind.name()));
        FoundQuote { kind, start, end, speakers, verb: span.attribute(VERB).unwrap_or_default().to_owned() }
    });
    found.collect()
}

fn matches(gold: &GoldQuote, found: &FoundQuote) -> bool {
    gold.start == found.start && gold.end == found.end
}

/// Returns true if the found speaker overlaps a mention of the gold one, or another mention of the same name.
fn has_speaker(gold: &GoldDocument, quote: &GoldQuote, found: &FoundQuote) -> bool {
    let text: Vec<char> = gold.document.paragraphs.iter().flat_map(|one| one.text.chars()).collect();
    let text: Vec<char> = text.into_iter().filter(|one| !one.is_whitespace()).collect();
    let letters = |range: &(usize, usize)| text.get(range.0..range.1);
    let is_one = |found: &(usize, usize), gold: &(usize, usize)| {
        (found.0 < gold.1 && gold.0 < found.1) || letters(found) == letters(gold)
    };
    quote.speakers.iter().any(|gold| found.speakers.iter().any(|found| is_one(found, gold)))
}

/// Compares the quotations of a document.
pub(super) fn score(document: &GoldDocument, found: &[FoundQuote]) -> Score {
    let gold = document;
    let is_direct = |kind: QuoteKind| kind == QuoteKind::Direct;
    let mut score = Score::default();
    score.quotations.gold = gold.quotes.len();
    score.spans.gold = gold.quotes.len();
    score.direct.gold = gold.quotes.iter().filter(|quote| is_direct(quote.kind)).count();
    score.speakers.gold =
        gold.quotes.iter().filter(|quote| is_direct(quote.kind) && !quote.speakers.is_empty()).count();
    for quote in found {
        let right = gold.quotes.iter().find(|gold| matches(gold, quote));
        let same = right.filter(|gold| Some(gold.kind) == quote.kind);
        score.spans.found += 1;
        score.quotations.found += 1;
        score.spans.right += usize::from(right.is_some());
        score.quotations.right += usize::from(same.is_some());
        if quote.kind.is_some_and(is_direct) {
            score.direct.found += 1;
            score.direct.right += usize::from(same.is_some());
        }
        if let Some(gold) = right.filter(|gold| is_direct(gold.kind) && !gold.speakers.is_empty()) {
            score.speakers.found += usize::from(!quote.speakers.is_empty());
            score.speakers.right += usize::from(has_speaker(document, gold, quote));
        }
    }
    score
}

/// Prints what differs, with the text around it.
pub(super) fn print_errors(gold: &GoldDocument, document: &Annotated, found: &[FoundQuote]) {
    let characters: Vec<char> =
        document.tokens().flat_map(|token| token.word.chars().chain(token.space_after.then_some(' '))).collect();
    let mut places = Vec::new();
    places.extend(characters.iter().enumerate().filter(|(_, one)| !one.is_whitespace()).map(|(at, _)| at));
    let text = |start: usize, end: usize| -> String {
        let place = |offset: usize| places.get(offset).copied().unwrap_or(characters.len());
        characters[place(start)..place(end).max(place(start))].iter().collect()
    };
    let around = |start: usize, end: usize| {
        let (before, after) = (text(start.saturating_sub(40), start), text(end, end + 50));
        let inner = text(start, end);
        let short = if inner.chars().count() > 90 { inner.chars().take(90).collect::<String>() + "…" } else { inner };
        format!("{before}⟦{short}⟧{after}")
    };
    for quote in found {
        let right = gold.quotes.iter().find(|gold| matches(gold, quote));
        let speaker = quote.speakers.first().map(|(start, end)| text(*start, *end)).unwrap_or_default();
        let context = around(quote.start, quote.end);
        match right {
            None => println!("{} spurious {:?}: {context}", gold.name, quote.kind),
            Some(gold_quote) if Some(gold_quote.kind) != quote.kind => {
                println!(
                    "{} kind {:?}, not {:?} verb {}: {context}",
                    gold.name, gold_quote.kind, quote.kind, quote.verb
                );
            }
            Some(gold_quote) if !gold_quote.speakers.is_empty() && !has_speaker(gold, gold_quote, quote) => {
                println!("{} speaker ({speaker}) verb {}: {context}", gold.name, quote.verb);
            }
            Some(_) => {}
        }
    }
    for quote in gold.quotes.iter().filter(|quote| !found.iter().any(|found| matches(quote, found))) {
        println!("{} missed {:?}: {}", gold.name, quote.kind, around(quote.start, quote.end));
    }
}
