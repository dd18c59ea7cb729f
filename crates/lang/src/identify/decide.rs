//! Multinomial logistic regression over the features of a text.
//!
//! Every language of the text's script gets a weighted sum of its features; the softmax over these sums is
//! the score. Weights and a bias per language are in `data/weights.tsv`. `model/fit.py` fits them by maximum
//! likelihood with an L2 penalty, so that scores are calibrated probabilities.

use std::sync::LazyLock;

use super::confusable::GROUPS;
use super::evidence::Evidence;
use super::grams::{GRAMS, Label};
use super::script::Script;
use crate::registry::language;

/// Names of the features, in the order of `data/weights.tsv`.
pub(super) const FEATURES: [&str; 19] = [
    "ngrams",
    "ngrams-missing",
    "quadgrams",
    "quadgrams-missing",
    "words",
    "marks",
    "frequent",
    "frequent-missing",
    // One for each group of confusable languages, by its first language.
    "confusable-bs",
    "confusable-sl",
    "confusable-id",
    "confusable-gl",
    "confusable-ca",
    "confusable-nb",
    "confusable-cs",
    "confusable-af",
    "confusable-bg",
    "confusable-zh",
    "length",
];
const CONFUSABLE_FROM: usize = 8;
const LENGTH: usize = FEATURES.len() - 1;

/// The first languages of the groups of confusable languages, in the order of [`FEATURES`].
pub(super) fn confusable_codes() -> impl Iterator<Item = &'static str> {
    FEATURES[CONFUSABLE_FROM..LENGTH].iter().filter_map(|name| name.strip_prefix("confusable-"))
}

/// The feature vector of one language.
pub(super) type FeatureVector = [f32; FEATURES.len()];

pub(crate) static WEIGHTS_TSV: &str = include_str!("../../data/weights.tsv");
static WEIGHTS: LazyLock<Weights> = LazyLock::new(|| Weights::read(WEIGHTS_TSV));
static COVERAGE: LazyLock<Coverage> = LazyLock::new(Coverage::new);

struct Weights {
    features: FeatureVector,
    /// By label: the bias, and the bias per unit of text length.
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
            if let Some(index) = FEATURES.iter().position(|feature| *feature == name) {
                weights.features[index] = number();
            } else if let Some(label) = GRAMS.label(name) {
                weights.bias[usize::from(label)] = number();
                weights.slope[usize::from(label)] = number();
            }
        }
        weights
    }
}

/// The languages that each table covers, and the candidates of each script.
struct Coverage {
    ngrams: Vec<bool>,
    quadgrams: Vec<bool>,
    frequent: Vec<bool>,
    scripts: [Vec<Label>; Script::COUNT],
}

/// The order of the candidates of a script other than Latin. Sums of floating-point numbers depend on it, and scores are
/// stored; languages that are not listed follow in the order of their labels.
const CANDIDATE_ORDER: &str = "ru uk be bg mk sr mn kk ky tg tt ba ab os ar fa ur ps sd ug ckb ary arz ks uz az hi mr ne sa \
    bho gom zh yue ja he yi bn as bo dz am ti";
/// Labels that are never returned: ancient Greek and Hebrew, Wu Chinese, which is written as Chinese,
/// and languages of which the table has only the name.
const EXCLUDED_LABELS: &str = "und grc hbo wuu ee gaa kri loz lua luo pam tum new raj";

impl Coverage {
    fn new() -> Coverage {
        let labels = GRAMS.codes.len();
        let mut ngrams = vec![false; labels];
        GRAMS.classes.iter().for_each(|label| ngrams[usize::from(*label)] = true);
        let mut scripts = [const { Vec::<Label>::new() }; Script::COUNT];
        let is_excluded = |code: &str| EXCLUDED_LABELS.split(' ').any(|excluded| excluded == code);
        for (label, code) in GRAMS.codes.iter().enumerate().filter(|(_, code)| !is_excluded(code)) {
            let language = language(code).filter(|language| language.code == *code);
            for script in language.iter().flat_map(|language| &language.scripts) {
                scripts[*script as usize].push(label as Label);
            }
        }
        let position = |label: &Label| {
            let code = GRAMS.codes[usize::from(*label)];
            CANDIDATE_ORDER.split_whitespace().position(|known| known == code).unwrap_or(usize::MAX)
        };
        for script in Script::all().filter(|script| *script != Script::Latin) {
            scripts[script as usize].sort_by_key(position);
        }
        Coverage { ngrams, quadgrams: GRAMS.with_quadgrams(), frequent: GRAMS.with_frequent(), scripts }
    }
}

/// The main script of a text. Latin letters count least because names and brands are written in them
/// everywhere, Han, Kana and Hangul most because one character is a syllable or a word.
pub(super) fn script(letters: &[u32; Script::COUNT]) -> Option<Script> {
    let weight = |script: Script| match script {
        Script::Latin => 2,
        Script::Han | Script::Kana | Script::Hangul => 12,
        _ => 6,
    };
    let count = |script: Script| letters[script as usize];
    // Of scripts with equal counts the last wins: Latin comes last.
    let has_candidates = |script: &Script| *script != Script::Latin && !languages_of_script(*script).is_empty();
    let scripts = Script::all().filter(has_candidates).chain([Script::Latin]);
    let first = scripts.max_by_key(|script| u64::from(count(*script)) * weight(*script))?;
    match first {
        // Japanese mixes both scripts; Chinese has no kana.
        Script::Han if u64::from(count(Script::Kana)) * 8 > u64::from(count(Script::Han)) => Some(Script::Kana),
        first => (count(first) > 0).then_some(first),
    }
}

/// The languages of a script.
pub(super) fn languages_of_script(script: Script) -> &'static [Label] {
    languages_of_script_number(script as usize)
}

/// The languages of a script, by its number.
pub(super) fn languages_of_script_number(script: usize) -> &'static [Label] {
    &COVERAGE.scripts[script]
}

/// Returns true if the table has quadgrams of the language.
pub(super) fn has_quadgrams(label: Label) -> bool {
    COVERAGE.quadgrams[usize::from(label)]
}

/// Returns true if the table has frequent words of the language.
pub(super) fn has_frequent(label: Label) -> bool {
    COVERAGE.frequent[usize::from(label)]
}

/// The candidates with their feature vectors, without the features of confusable groups.
pub(super) fn feature_vectors(evidence: &Evidence) -> Vec<(Label, FeatureVector)> {
    let Some(script) = script(&evidence.scripts) else { return Vec::new() };
    let candidates = &COVERAGE.scripts[script as usize];
    let ngrams = by_label(evidence);
    let log = |label: &Label| COVERAGE.ngrams[usize::from(*label)].then(|| ngrams[usize::from(*label)]);
    let best = candidates.iter().filter_map(log).fold(f32::NEG_INFINITY, f32::max);
    // Neighbouring n-grams are not independent: evidence grows with the square root of the length.
    let scale = 1.0 / (evidence.mass + 4.0).sqrt();
    let missing = |known: bool, amount: f32| if known { 0.0 } else { amount };
    let vector = |label: Label| {
        let index = usize::from(label);
        let mut row: FeatureVector = [0.0; FEATURES.len()];
        row[..CONFUSABLE_FROM].copy_from_slice(&[
            log(&label).map_or(0.0, |log| log - best),
            missing(COVERAGE.ngrams[index], -evidence.mass),
            evidence.quadgrams[index] as f32,
            missing(COVERAGE.quadgrams[index], evidence.quadgrams_seen as f32),
            evidence.words[index] as f32,
            evidence.marks[index] as f32,
            evidence.frequent[index],
            missing(COVERAGE.frequent[index], evidence.words_seen as f32),
        ]);
        row[LENGTH] = evidence.mass / 10.0;
        (label, row.map(|value| value * scale))
    };
    candidates.iter().map(|label| vector(*label)).collect()
}

/// Adds the features of the confusable groups that any of the leading languages is in.
pub(super) fn add_confusable(rows: &mut [(Label, FeatureVector)], evidence: &Evidence, leading: &[Label]) {
    for (index, group) in GROUPS.iter().enumerate() {
        if !leading.iter().any(|label| group.labels.contains(label)) {
            continue;
        }
        for (label, points) in group.labels.iter().zip(group.score(&evidence.read)) {
            if let Some((_, row)) = rows.iter_mut().find(|(known, _)| known == label) {
                row[CONFUSABLE_FROM + index] = points;
            }
        }
    }
}

/// Naive Bayes log-probabilities by label, the best of its classes if a language has several.
fn by_label(evidence: &Evidence) -> Vec<f32> {
    let mut logs = vec![f32::NEG_INFINITY; GRAMS.codes.len()];
    for (class, label) in GRAMS.classes.iter().enumerate() {
        let log = evidence.ngrams[class] + evidence.mass * GRAMS.floor(class) + GRAMS.prior(class);
        let index = &mut logs[usize::from(*label)];
        *index = index.max(log);
    }
    logs
}

/// The log-odds of one language.
pub(super) fn total(label: Label, row: &FeatureVector) -> f32 {
    let index = usize::from(label);
    let features: f32 = row.iter().zip(&WEIGHTS.features).map(|(value, weight)| value * weight).sum();
    features + WEIGHTS.bias[index] + WEIGHTS.slope[index] * row[LENGTH]
}

/// The labels of all languages that can be returned.
pub(super) fn candidates() -> Vec<Label> {
    let mut labels: Vec<Label> = COVERAGE.scripts.iter().flatten().copied().collect();
    labels.sort_unstable();
    labels.dedup();
    labels
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_confusable_group_has_a_weight() {
        let first = |group: &super::super::confusable::Group| GRAMS.codes[usize::from(group.labels[0])];
        let named: Vec<String> = GROUPS.iter().map(|group| format!("confusable-{}", first(group))).collect();
        assert_eq!(named, FEATURES[CONFUSABLE_FROM..LENGTH]);
        let files = crate::languages().iter().filter(|language| language.confusable_tsv.is_some()).count();
        assert_eq!(files, GROUPS.len(), "a group needs a weight in data/weights.tsv and a name in FEATURES");
    }
}
