//! Weighs the evidence.
//!
//! Every language that is written in the text's script gets a sum of what n-grams, letters and words
//! say for it. The weights, and a small handicap per language, are in `data/weights.tsv`:
//! `model/fit.py` fits them so that the scores, made to add up to 1, are right as often as they say.

use std::sync::LazyLock;

use super::evidence::Evidence;
use super::grams::{GRAMS, Label};
use super::script::Script;
use super::sisters::SISTERS;

/// What is weighed, in the order of `data/weights.tsv`.
pub(super) const FEATURES: [&str; 19] = [
    "ngrams",
    "ngrams-missing",
    "quads",
    "quads-missing",
    "words",
    "marks",
    "frequent",
    "frequent-missing",
    // One for each group of sisters, in the order of `data/close.txt`.
    "sisters-bs",
    "sisters-sl",
    "sisters-id",
    "sisters-gl",
    "sisters-ca",
    "sisters-nb",
    "sisters-cs",
    "sisters-af",
    "sisters-bg",
    "sisters-zh",
    "length",
];
const SISTERS_FROM: usize = 8;
const LENGTH: usize = FEATURES.len() - 1;

/// What is said for one language.
pub(super) type Row = [f32; FEATURES.len()];

pub(crate) static WEIGHTS_TSV: &str = include_str!("../../data/weights.tsv");
static WEIGHTS: LazyLock<Weights> = LazyLock::new(|| Weights::read(WEIGHTS_TSV));
static KNOWN: LazyLock<Known> = LazyLock::new(Known::new);

struct Weights {
    features: Row,
    /// Per label: a handicap, and one that grows with the length of the text.
    bias: Vec<f32>,
    slope: Vec<f32>,
}

impl Weights {
    fn read(table: &str) -> Weights {
        let labels = GRAMS.codes.len();
        let mut weights =
            Weights { features: [0.0; FEATURES.len()], bias: vec![-2.0; labels], slope: vec![0.0; labels] };
        for line in table.lines().filter(|line| !line.starts_with('#')) {
            let mut fields = line.split('\t');
            let name = fields.next().unwrap_or_default();
            let mut number = || fields.next().and_then(|field| field.parse().ok()).unwrap_or(0.0);
            if let Some(place) = FEATURES.iter().position(|feature| *feature == name) {
                weights.features[place] = number();
            } else if let Some(label) = GRAMS.label(name) {
                weights.bias[usize::from(label)] = number();
                weights.slope[usize::from(label)] = number();
            }
        }
        weights
    }
}

/// Which part of the table knows which language, and who is written in which script.
struct Known {
    ngrams: Vec<bool>,
    quads: Vec<bool>,
    frequent: Vec<bool>,
    scripts: [Vec<Label>; Script::COUNT],
}

/// Who writes in a script that is not Latin.
const WRITERS: &[(Script, &str)] = &[
    (Script::Greek, "el"),
    (Script::Cyrillic, "ru uk be bg mk sr mn kk ky tg tt ba ab os uz az"),
    (Script::Armenian, "hy"),
    (Script::Hebrew, "he yi"),
    (Script::Arabic, "ar fa ur ps sd ug ckb ary arz ks uz"),
    (Script::Syriac, "syr"),
    (Script::Thaana, "dv"),
    (Script::Devanagari, "hi mr ne sa bho gom"),
    (Script::Bengali, "bn as"),
    (Script::Gurmukhi, "pa"),
    (Script::Gujarati, "gu"),
    (Script::Oriya, "or"),
    (Script::Tamil, "ta"),
    (Script::Telugu, "te"),
    (Script::Kannada, "kn"),
    (Script::Malayalam, "ml"),
    (Script::Sinhala, "si"),
    (Script::Thai, "th"),
    (Script::Lao, "lo"),
    (Script::Tibetan, "bo dz"),
    (Script::Myanmar, "my"),
    (Script::Georgian, "ka"),
    (Script::Hangul, "ko"),
    (Script::Ethiopic, "am ti"),
    (Script::Cherokee, "chr"),
    (Script::Aboriginal, "iu"),
    (Script::Khmer, "km"),
    (Script::Mongolian, "mn"),
    (Script::Limbu, "lif"),
    (Script::Kana, "ja"),
    (Script::Han, "zh yue ja"),
];
/// Those among them that are written in Latin letters too.
const LATIN_TOO: &str = "sr uz az";
/// Classes that no corpus asks for, or that we have no text to weigh: ancient Greek and Hebrew,
/// Wu Chinese, which is written as Chinese, and languages of which the table has only the name.
const NEVER: &str = "und grc hbo wuu ee gaa kri loz lua luo pam tum new raj";

impl Known {
    fn new() -> Known {
        let labels = GRAMS.codes.len();
        let mut ngrams = vec![false; labels];
        GRAMS.classes.iter().for_each(|label| ngrams[usize::from(*label)] = true);
        let mut scripts = [const { Vec::new() }; Script::COUNT];
        for (script, codes) in WRITERS {
            scripts[*script as usize] = codes.split(' ').filter_map(|code| GRAMS.label(code)).collect();
        }
        let elsewhere: Vec<&str> = WRITERS.iter().flat_map(|(_, codes)| codes.split(' ')).collect();
        let among = |codes: &str, code: &str| codes.split(' ').any(|known| known == code);
        let in_latin = |code: &str| !among(NEVER, code) && (!elsewhere.contains(&code) || among(LATIN_TOO, code));
        let latin = GRAMS.codes.iter().enumerate().filter(|(_, code)| in_latin(code));
        scripts[Script::Latin as usize] = latin.map(|(place, _)| place as Label).collect();
        Known { ngrams, quads: GRAMS.with_quads(), frequent: GRAMS.with_frequent(), scripts }
    }
}

/// The script that the text is written in. Names and brands are written in Latin letters
/// everywhere, so that letters of other scripts count more; a Chinese one is a word.
pub(super) fn script(letters: &[u32; Script::COUNT]) -> Option<Script> {
    let weight = |script: Script| match script {
        Script::Latin => 2,
        Script::Han | Script::Kana | Script::Hangul => 12,
        _ => 6,
    };
    let count = |script: Script| letters[script as usize];
    let scripts = WRITERS.iter().map(|(script, _)| *script).chain([Script::Latin]);
    let first = scripts.max_by_key(|script| u64::from(count(*script)) * weight(*script))?;
    match first {
        // Japanese is written in both; a few kana per line of characters make the difference.
        Script::Han if u64::from(count(Script::Kana)) * 8 > u64::from(count(Script::Han)) => Some(Script::Kana),
        first => (count(first) > 0).then_some(first),
    }
}

/// The languages that are written in a script.
pub(super) fn writers(script: Script) -> &'static [Label] {
    writers_at(script as usize)
}

/// The same, by the number of the script.
pub(super) fn writers_at(script: usize) -> &'static [Label] {
    &KNOWN.scripts[script]
}

/// Whether the table has groups of letters of a language, and its frequent words.
pub(super) fn has_quads(label: Label) -> bool {
    KNOWN.quads[usize::from(label)]
}

pub(super) fn has_frequent(label: Label) -> bool {
    KNOWN.frequent[usize::from(label)]
}

/// The languages that may be meant, with what is said for each, but for what only sisters know.
pub(super) fn rows(evidence: &Evidence) -> Vec<(Label, Row)> {
    let Some(script) = script(&evidence.scripts) else { return Vec::new() };
    let candidates = &KNOWN.scripts[script as usize];
    let ngrams = by_label(evidence);
    let said = |label: &Label| KNOWN.ngrams[usize::from(*label)].then(|| ngrams[usize::from(*label)]);
    let best = candidates.iter().filter_map(said).fold(f32::NEG_INFINITY, f32::max);
    // Evidence that follows evidence is partly the same: it counts by the root of its length.
    let scale = 1.0 / (evidence.mass + 4.0).sqrt();
    let missing = |known: bool, amount: f32| if known { 0.0 } else { amount };
    let row = |label: Label| {
        let place = usize::from(label);
        let mut row: Row = [0.0; FEATURES.len()];
        row[..SISTERS_FROM].copy_from_slice(&[
            said(&label).map_or(0.0, |log| log - best),
            missing(KNOWN.ngrams[place], -evidence.mass),
            evidence.quads[place] as f32,
            missing(KNOWN.quads[place], evidence.quads_seen as f32),
            evidence.words[place] as f32,
            evidence.marks[place] as f32,
            evidence.frequent[place],
            missing(KNOWN.frequent[place], evidence.words_seen as f32),
        ]);
        row[LENGTH] = evidence.mass / 10.0;
        (label, row.map(|said| said * scale))
    };
    candidates.iter().map(|label| row(*label)).collect()
}

/// Adds what sisters know of themselves, for the groups that any of the leading languages is in.
pub(super) fn add_sisters(rows: &mut [(Label, Row)], evidence: &Evidence, leading: &[Label]) {
    for (place, group) in SISTERS.iter().enumerate() {
        if !leading.iter().any(|label| group.labels.contains(label)) {
            continue;
        }
        for (label, points) in group.labels.iter().zip(group.weigh(&evidence.read)) {
            if let Some((_, row)) = rows.iter_mut().find(|(known, _)| known == label) {
                row[SISTERS_FROM + place] = points;
            }
        }
    }
}

/// The logarithm of each class's probability, the better of its classes for a language of two.
fn by_label(evidence: &Evidence) -> Vec<f32> {
    let mut logs = vec![f32::NEG_INFINITY; GRAMS.codes.len()];
    for (class, label) in GRAMS.classes.iter().enumerate() {
        let log = evidence.ngrams[class] + evidence.mass * GRAMS.floor(class) + GRAMS.prior(class);
        let place = &mut logs[usize::from(*label)];
        *place = place.max(log);
    }
    logs
}

/// The sum for one language.
pub(super) fn total(label: Label, row: &Row) -> f32 {
    let place = usize::from(label);
    let weighed: f32 = row.iter().zip(&WEIGHTS.features).map(|(said, weight)| said * weight).sum();
    weighed + WEIGHTS.bias[place] + WEIGHTS.slope[place] * row[LENGTH]
}

/// All languages that a text may be found to be in.
pub(super) fn candidates() -> Vec<Label> {
    let mut labels: Vec<Label> = KNOWN.scripts.iter().flatten().copied().collect();
    labels.sort_unstable();
    labels.dedup();
    labels
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_group_of_sisters_has_its_own_weight() {
        let first = |group: &super::super::sisters::Group| GRAMS.codes[usize::from(group.labels[0])];
        let named: Vec<String> = SISTERS.iter().map(|group| format!("sisters-{}", first(group))).collect();
        assert_eq!(named, FEATURES[SISTERS_FROM..LENGTH]);
    }
}
