//! Language identification.
//!
//! A multinomial logistic regression over four kinds of features: byte n-grams (naive Bayes), letter
//! quadgrams, frequent words, and words that separate confusable languages. The script is checked
//! first and rules out most languages. docs/notes/language.md has the sources of the features and what
//! each kind contributes.

mod confusable;
mod decide;
mod doubt;
mod evidence;
mod fast_lines;
mod grams;
mod letters;
mod script;

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::LazyLock;

#[doc(hidden)]
pub use fast_lines::fast_line_features;
pub use fast_lines::identify_lines;
pub use script::Script;

use evidence::{ENOUGH_BYTES, Evidence, FIRST_TRY_BYTES, Scratch};
use grams::{GRAMS, Label};

use crate::registry::{canonical, languages};

/// The code of text whose language is unknown.
pub const UNKNOWN: &str = "und";

/// Metadata about a text. It is weak evidence and decides close calls only.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Hints<'a> {
    /// The language that a page or a feed declares, as in `de-AT`.
    pub declared: Option<&'a str>,
    /// The last label of the site's host name, as in `at`.
    pub tld: Option<&'a str>,
}

/// The language of a text, with a confidence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Guess {
    /// ISO 639-1 where there is such a code, else ISO 639-3; [`UNKNOWN`] if it is unknown.
    pub lang: &'static str,
    /// The probability that the guess is right, calibrated, from 0 to 1; 0 for [`UNKNOWN`].
    pub score: f32,
    /// The script that most of the text is written in.
    pub script: Option<Script>,
}

impl Guess {
    /// The guess for text without evidence.
    pub const fn unknown() -> Guess {
        Guess { lang: UNKNOWN, score: 0.0, script: None }
    }

    /// Returns true unless the language is [`UNKNOWN`].
    pub fn is_known(&self) -> bool {
        self.lang != UNKNOWN
    }
}

/// The languages of a document and of its paragraphs.
#[derive(Debug, Clone, PartialEq)]
pub struct Guesses {
    /// The language of most of the text.
    pub document: Guess,
    /// In the order of the paragraphs.
    pub paragraphs: Vec<Guess>,
}

/// Guesses with a lower score are [`UNKNOWN`].
const MIN_SCORE: f32 = 0.12;
/// A long text whose first sample reaches this score is read no further.
const CLEAR: f32 = 0.99;
/// Shorter texts in Latin, Cyrillic or Arabic script are [`UNKNOWN`].
const MIN_LETTERS: usize = 4;
/// The number of best candidates whose groups of confusable languages are scored.
const LEADING: usize = 4;
/// Bonus of the declared language and of the languages of the top-level domain, in log-odds.
const DECLARED: f32 = 1.5;
const DOMAIN: f32 = 0.8;

/// Identifies the language of a text. Long texts are sampled over their whole length.
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
        let guess = decide(&evidence, hints);
        match doubt::is_doubtful(text, &guess, hints != Hints::default()) {
            true => Guess { script: guess.script, ..Guess::unknown() },
            false => guess,
        }
    };
    if text.len() > ENOUGH_BYTES {
        let first_try = guess(FIRST_TRY_BYTES);
        if first_try.score >= CLEAR {
            return first_try;
        }
    }
    guess(ENOUGH_BYTES)
}

fn decide(evidence: &Evidence, hints: Hints<'_>) -> Guess {
    let script = decide::script(&evidence.scripts);
    let unknown = Guess { script, ..Guess::unknown() };
    let mut rows = decide::feature_vectors(evidence);
    match &rows[..] {
        [] => return unknown,
        // No other language uses this script.
        [(label, _)] => return Guess { lang: GRAMS.codes[usize::from(*label)], score: 0.99, script },
        _ => {}
    }
    if matches!(script, Some(Script::Latin | Script::Cyrillic | Script::Arabic)) && evidence.letters < MIN_LETTERS {
        return unknown;
    }
    let hinted = HintLabels::new(hints);
    let total =
        |(label, row): &(Label, decide::FeatureVector)| (*label, decide::total(*label, row) + hinted.bonus(*label));
    let leader = |totals: &[(Label, f32)]| totals.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1));

    let mut totals: Vec<(Label, f32)> = rows.iter().map(total).collect();
    let mut leading = totals.clone();
    leading.sort_unstable_by(|a, b| b.1.total_cmp(&a.1));
    let leading: Vec<Label> = leading.into_iter().take(LEADING).map(|(label, _)| label).collect();
    decide::add_confusable(&mut rows, evidence, &leading);
    totals = rows.iter().map(total).collect();
    let Some((first, best)) = leader(&totals) else { return unknown };
    let score = 1.0 / totals.iter().map(|(_, total)| (total - best).exp()).sum::<f32>();
    match score >= MIN_SCORE {
        true => Guess { lang: GRAMS.codes[usize::from(first)], score: score.min(0.999), script },
        false => unknown,
    }
}

/// Identifies the language of a document and of each of its paragraphs.
///
/// The document's language is that of most of its text. Short paragraphs with an uncertain guess, such
/// as headings and captions, take the language of the nearest long paragraphs on both sides if those
/// agree, else the language of the document. So do uncertain guesses that are confusable with that
/// language: Croatian in the middle of a Serbian article is most likely an error. Paragraphs without
/// letters stay [`UNKNOWN`].
pub fn identify_paragraphs(paragraphs: &[&str], hints: Hints<'_>) -> Guesses {
    let alone: Vec<Guess> = paragraphs.iter().map(|text| identify(text, hints)).collect();
    let document = majority(paragraphs, &alone, hints);
    let long = |index: usize| paragraphs[index].len() >= SHORT_BYTES && alone[index].is_known();
    // The languages of the nearest long paragraphs before and after each paragraph.
    let mut before = vec![None; alone.len()];
    let mut after = vec![None; alone.len()];
    for index in 1..alone.len() {
        before[index] = if long(index - 1) { Some(alone[index - 1].lang) } else { before[index - 1] };
        let back = alone.len() - 1 - index;
        after[back] = if long(back + 1) { Some(alone[back + 1].lang) } else { after[back + 1] };
    }
    let settle = |index: usize| {
        let guess = alone[index];
        let around = match (before[index], after[index]) {
            (Some(one), Some(two)) if one == two => one,
            _ => document.lang,
        };
        let unsure = !guess.is_known()
            || guess.score < SHORT_BUT_SURE
                && (paragraphs[index].len() < SHORT_BYTES || are_confusable(guess.lang, around));
        let inherits = around != UNKNOWN && guess.lang != around && unsure && has_letters(paragraphs[index]);
        match inherits {
            true => Guess { lang: around, score: document.score.min(0.5), script: guess.script },
            false => guess,
        }
    };
    Guesses { document, paragraphs: (0..alone.len()).map(settle).collect() }
}

/// Headings and captions are shorter than this.
const SHORT_BYTES: usize = 80;
/// A short paragraph keeps its own guess only above this score.
const SHORT_BUT_SURE: f32 = 0.95;

/// The language of most of the text by bytes, with the score of the whole text.
fn majority(paragraphs: &[&str], alone: &[Guess], hints: Hints<'_>) -> Guess {
    let mut bytes: Vec<(&'static str, usize)> = Vec::new();
    for (text, guess) in paragraphs.iter().zip(alone).filter(|(_, guess)| guess.is_known()) {
        match bytes.iter_mut().find(|(lang, _)| *lang == guess.lang) {
            Some((_, sum)) => *sum += text.len(),
            None => bytes.push((guess.lang, text.len())),
        }
    }
    // Single paragraphs of confusable languages are often wrong, whole texts rarely. So confusable
    // languages pool their votes, and the whole text decides between them.
    let whole = identify(&paragraphs.join("\n"), hints);
    let votes = |lang: &str| -> usize {
        bytes.iter().filter(|(other, _)| *other == lang || are_confusable(other, lang)).map(|(_, sum)| sum).sum()
    };
    let Some((most, _)) = bytes.iter().max_by_key(|(lang, sum)| (votes(lang), *sum)).copied() else { return whole };
    if whole.lang == most || are_confusable(whole.lang, most) {
        return whole;
    }
    let total: usize = bytes.iter().map(|(_, sum)| sum).sum();
    let script = alone.iter().find(|guess| guess.lang == most).and_then(|guess| guess.script);
    Guess { lang: most, score: votes(most) as f32 / total.max(1) as f32 * 0.9, script }
}

fn has_letters(text: &str) -> bool {
    text.chars().any(char::is_alphabetic)
}

/// Returns true if the languages share a group of confusable languages.
fn are_confusable(one: &str, two: &str) -> bool {
    let (Some(one), Some(two)) = (GRAMS.label(one), GRAMS.label(two)) else { return false };
    one != two && confusable::GROUPS.iter().any(|group| group.labels.contains(&one) && group.labels.contains(&two))
}

/// The codes of all languages that [`identify`] can return.
pub fn identifiable() -> impl Iterator<Item = &'static str> {
    decide::candidates().into_iter().map(|label| GRAMS.codes[usize::from(label)])
}

/// The languages of the press under a country's top-level domain.
static HINT_TLDS: LazyLock<HashMap<&str, Vec<Label>>> = LazyLock::new(|| {
    let mut labels: HashMap<&str, Vec<Label>> = HashMap::new();
    for language in languages() {
        let Some(label) = GRAMS.label(language.code) else { continue };
        language.hint_tlds.iter().for_each(|tld| labels.entry(tld).or_default().push(label));
    }
    labels
});

/// [`Hints`] as labels.
struct HintLabels {
    declared: Option<Label>,
    domain: &'static [Label],
}

impl HintLabels {
    fn new(hints: Hints<'_>) -> HintLabels {
        let declared = hints.declared.and_then(|code| GRAMS.label(canonical(code)?));
        let domain = hints.tld.and_then(|tld| HINT_TLDS.get(tld.trim_start_matches('.').to_ascii_lowercase().as_str()));
        HintLabels { declared, domain: domain.map_or(&[], Vec::as_slice) }
    }

    fn bonus(&self, label: Label) -> f32 {
        let declared = if self.declared == Some(label) { DECLARED } else { 0.0 };
        let domain = if self.domain.contains(&label) { DOMAIN } else { 0.0 };
        declared + domain
    }
}

/// The feature vectors of a text by language code, for `model/fit.py`, which fits the weights.
#[doc(hidden)]
pub fn features(text: &str) -> Vec<(&'static str, Vec<f32>)> {
    let evidence = Evidence::gather(text, ENOUGH_BYTES, &mut Scratch::new());
    let mut rows = decide::feature_vectors(&evidence);
    let all: Vec<Label> = rows.iter().map(|(label, _)| *label).collect();
    decide::add_confusable(&mut rows, &evidence, &all);
    rows.into_iter().map(|(label, row)| (GRAMS.codes[usize::from(label)], row.to_vec())).collect()
}

/// The data that determines the results of language identification and of masks, by file; groups of confusable
/// languages by code.
pub fn tables() -> impl Iterator<Item = (&'static str, &'static [u8])> {
    let own = [
        ("grams.bin", grams::TABLE),
        ("weights.tsv", decide::WEIGHTS_TSV.as_bytes()),
        ("not_written_so.tsv", include_bytes!("../../data/not_written_so.tsv").as_slice()),
        ("mask_cues.tsv", include_bytes!("../../data/mask_cues.tsv").as_slice()),
        ("fast_lines.tsv", fast_lines::FAST_WEIGHTS_TSV.as_bytes()),
    ];
    own.into_iter().chain(confusable::tables().map(|(code, text)| (code, text.as_bytes())))
}
