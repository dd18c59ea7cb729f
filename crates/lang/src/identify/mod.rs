//! In which language a text is written.
//!
//! Four kinds of evidence are weighed together: byte n-grams, groups of four letters, frequent words,
//! and the words by which sister languages are told apart; the script comes first and rules most
//! languages out. docs/notes/language.md tells where the evidence comes from and what each kind is
//! worth.

mod decide;
mod evidence;
mod glance;
mod grams;
mod letters;
mod script;
mod sisters;

use std::cell::RefCell;

#[doc(hidden)]
pub use glance::glanced;
pub use glance::tell_lines;
pub use script::Script;

use evidence::{ENOUGH_BYTES, Evidence, GLANCE_BYTES, Scratch};
use grams::{GRAMS, Label};

/// The code for text that does not tell its language.
pub const UNKNOWN: &str = "und";

/// What is known about a text besides its words: weak evidence, which decides close calls only.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Hints<'a> {
    /// The language that a page or a feed declares, as in `de-AT`.
    pub declared: Option<&'a str>,
    /// The last label of the site's host name, as in `at`.
    pub tld: Option<&'a str>,
}

/// What language a text seems to be in.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Guess {
    /// ISO 639-1 where there is such a code, else ISO 639-3; [`UNKNOWN`] where the text does not tell.
    pub lang: &'static str,
    /// How often a guess like this one is right, between 0 and 1; 0 for [`UNKNOWN`].
    pub score: f32,
    /// The script that most of the text is written in.
    pub script: Option<Script>,
}

impl Guess {
    /// The guess that is none.
    pub const fn unknown() -> Guess {
        Guess { lang: UNKNOWN, score: 0.0, script: None }
    }

    /// Whether the text told its language.
    pub fn is_known(&self) -> bool {
        self.lang != UNKNOWN
    }
}

/// A document's language, and that of each of its paragraphs.
#[derive(Debug, Clone, PartialEq)]
pub struct Guesses {
    /// The language of most of the text.
    pub document: Guess,
    /// In the order of the paragraphs.
    pub paragraphs: Vec<Guess>,
}

/// Below this score a text has not told its language.
const SURE_ENOUGH: f32 = 0.12;
/// A long text that reaches this score at a glance is read no further.
const CLEAR: f32 = 0.99;
/// With fewer letters than this, text in a script of many languages does not tell.
const FEWEST_LETTERS: usize = 4;
/// So many of the first are asked whether a sister is meant.
const LEADING: usize = 4;
/// What a declaration and a top-level domain are worth, as logarithms.
const DECLARED: f32 = 1.5;
const DOMAIN: f32 = 0.8;

/// Guesses the language of a text. Long texts are judged by pieces from their whole length.
///
/// ```
/// use tidings_lang::{Hints, identify};
///
/// assert_eq!(identify("Der Zug nach Wien fährt heute später ab.", Hints::default()).lang, "de");
/// assert_eq!(identify("2026-03-01 12:30", Hints::default()).lang, "und");
/// ```
pub fn identify(text: &str, hints: Hints<'_>) -> Guess {
    thread_local! {
        static SCRATCH: RefCell<Scratch> = RefCell::new(Scratch::new());
    }
    let guess = |enough_bytes: usize| {
        let evidence = SCRATCH.with_borrow_mut(|scratch| Evidence::gather(text, enough_bytes, scratch));
        decide(&evidence, hints)
    };
    if text.len() > ENOUGH_BYTES {
        let at_a_glance = guess(GLANCE_BYTES);
        if at_a_glance.score >= CLEAR {
            return at_a_glance;
        }
    }
    guess(ENOUGH_BYTES)
}

fn decide(evidence: &Evidence, hints: Hints<'_>) -> Guess {
    let script = decide::script(&evidence.scripts);
    let unknown = Guess { script, ..Guess::unknown() };
    let mut rows = decide::rows(evidence);
    match &rows[..] {
        [] => return unknown,
        // Nobody else writes this script.
        [(label, _)] => return Guess { lang: GRAMS.codes[usize::from(*label)], score: 0.99, script },
        _ => {}
    }
    if matches!(script, Some(Script::Latin | Script::Cyrillic | Script::Arabic)) && evidence.letters < FEWEST_LETTERS {
        return unknown;
    }
    let hinted = Hinted::new(hints);
    let total = |(label, row): &(Label, decide::Row)| (*label, decide::total(*label, row) + hinted.bonus(*label));
    let leader = |totals: &[(Label, f32)]| totals.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1));

    let mut totals: Vec<(Label, f32)> = rows.iter().map(total).collect();
    let mut leading = totals.clone();
    leading.sort_unstable_by(|a, b| b.1.total_cmp(&a.1));
    let leading: Vec<Label> = leading.into_iter().take(LEADING).map(|(label, _)| label).collect();
    decide::add_sisters(&mut rows, evidence, &leading);
    totals = rows.iter().map(total).collect();
    let Some((first, best)) = leader(&totals) else { return unknown };
    let score = 1.0 / totals.iter().map(|(_, total)| (total - best).exp()).sum::<f32>();
    match score >= SURE_ENOUGH {
        true => Guess { lang: GRAMS.codes[usize::from(first)], score: score.min(0.999), script },
        false => unknown,
    }
}

/// Guesses the language of a document and of each of its paragraphs.
///
/// The document's language is that of most of its text. A paragraph that is too short to tell, as
/// headings and captions are, is taken to be in the language of the document, or of both its
/// neighbours if these agree on another; so is one whose guess is a sister of that language, as
/// a short quotation in Croatian inside a Serbian article is most likely a mistake of ours. What has no
/// letters is in no language, wherever it stands.
pub fn identify_paragraphs(paragraphs: &[&str], hints: Hints<'_>) -> Guesses {
    let alone: Vec<Guess> = paragraphs.iter().map(|text| identify(text, hints)).collect();
    let document = majority(paragraphs, &alone, hints);
    let long = |place: usize| paragraphs[place].len() >= SHORT_BYTES && alone[place].is_known();
    // The nearest paragraphs that are long enough to speak for themselves, before and after each.
    let mut before = vec![None; alone.len()];
    let mut after = vec![None; alone.len()];
    for place in 1..alone.len() {
        before[place] = if long(place - 1) { Some(alone[place - 1].lang) } else { before[place - 1] };
        let back = alone.len() - 1 - place;
        after[back] = if long(back + 1) { Some(alone[back + 1].lang) } else { after[back + 1] };
    }
    let settle = |place: usize| {
        let guess = alone[place];
        let around = match (before[place], after[place]) {
            (Some(one), Some(two)) if one == two => one,
            _ => document.lang,
        };
        let unsure = !guess.is_known()
            || guess.score < SHORT_BUT_SURE
                && (paragraphs[place].len() < SHORT_BYTES || are_sisters(guess.lang, around));
        let inherits = around != UNKNOWN && guess.lang != around && unsure && has_letters(paragraphs[place]);
        match inherits {
            true => Guess { lang: around, score: document.score.min(0.5), script: guess.script },
            false => guess,
        }
    };
    Guesses { document, paragraphs: (0..alone.len()).map(settle).collect() }
}

/// Headings and captions are shorter than this.
const SHORT_BYTES: usize = 80;
/// A short paragraph stands for itself only above this score.
const SHORT_BUT_SURE: f32 = 0.95;

/// The language of most of the text, by bytes; with the score of the whole.
fn majority(paragraphs: &[&str], alone: &[Guess], hints: Hints<'_>) -> Guess {
    let mut bytes: Vec<(&'static str, usize)> = Vec::new();
    for (text, guess) in paragraphs.iter().zip(alone).filter(|(_, guess)| guess.is_known()) {
        match bytes.iter_mut().find(|(lang, _)| *lang == guess.lang) {
            Some((_, sum)) => *sum += text.len(),
            None => bytes.push((guess.lang, text.len())),
        }
    }
    // Paragraph by paragraph sisters are confused, together they are not: they vote as one, and
    // the whole text decides between them.
    let whole = identify(&paragraphs.join("\n"), hints);
    let votes = |lang: &str| -> usize {
        bytes.iter().filter(|(other, _)| *other == lang || are_sisters(other, lang)).map(|(_, sum)| sum).sum()
    };
    let Some((most, _)) = bytes.iter().max_by_key(|(lang, sum)| (votes(lang), *sum)).copied() else { return whole };
    if whole.lang == most || are_sisters(whole.lang, most) {
        return whole;
    }
    let total: usize = bytes.iter().map(|(_, sum)| sum).sum();
    let script = alone.iter().find(|guess| guess.lang == most).and_then(|guess| guess.script);
    Guess { lang: most, score: votes(most) as f32 / total.max(1) as f32 * 0.9, script }
}

fn has_letters(text: &str) -> bool {
    text.chars().any(char::is_alphabetic)
}

/// Whether two languages are so close that short texts confuse them.
fn are_sisters(one: &str, two: &str) -> bool {
    let (Some(one), Some(two)) = (GRAMS.label(one), GRAMS.label(two)) else { return false };
    one != two && sisters::SISTERS.iter().any(|group| group.labels.contains(&one) && group.labels.contains(&two))
}

/// The codes of all languages that [`identify`] can answer with.
pub fn identifiable() -> impl Iterator<Item = &'static str> {
    decide::candidates().into_iter().map(|label| GRAMS.codes[usize::from(label)])
}

/// Hints, as labels.
struct Hinted {
    declared: Option<Label>,
    domain: Vec<Label>,
}

impl Hinted {
    fn new(hints: Hints<'_>) -> Hinted {
        let declared = hints.declared.and_then(|code| GRAMS.label(crate::names::canonical(code)?));
        let domain = hints.tld.map(crate::names::spoken_under).unwrap_or_default();
        Hinted { declared, domain: domain.split(' ').filter_map(|code| GRAMS.label(code)).collect() }
    }

    fn bonus(&self, label: Label) -> f32 {
        let declared = if self.declared == Some(label) { DECLARED } else { 0.0 };
        let domain = if self.domain.contains(&label) { DOMAIN } else { 0.0 };
        declared + domain
    }
}

/// What is weighed for a text, per language code: for `model/fit.py`, which finds the weights.
#[doc(hidden)]
pub fn weighed(text: &str) -> Vec<(&'static str, Vec<f32>)> {
    let evidence = Evidence::gather(text, ENOUGH_BYTES, &mut Scratch::new());
    let mut rows = decide::rows(&evidence);
    let all: Vec<Label> = rows.iter().map(|(label, _)| *label).collect();
    decide::add_sisters(&mut rows, &evidence, &all);
    rows.into_iter().map(|(label, row)| (GRAMS.codes[usize::from(label)], row.to_vec())).collect()
}

/// The data that language identification rests on, by file: other data may give other languages.
pub fn tables() -> [(&'static str, &'static [u8]); 4] {
    [
        ("grams.bin", grams::TABLE),
        ("weights.tsv", decide::WEIGHTS_TSV.as_bytes()),
        ("glance.tsv", glance::WORTH_TSV.as_bytes()),
        ("close.txt", sisters::LISTS.as_bytes()),
    ]
}
