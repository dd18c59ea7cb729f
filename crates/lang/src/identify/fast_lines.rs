//! Fast identification of the languages of many lines.
//!
//! Two kinds of features, letter quadgrams and frequent words, classify nine lines in ten as well as all kinds together, in
//! a tenth of the time: the n-gram automaton of [`identify`] does not fit into a cache. Lines are read in part first, and as
//! a whole if that does not suffice. Most of the remaining doubt is between confusable languages; there the other lines of
//! the same text help, which are most likely in one language. Only what is then still uncertain goes to [`identify`].

use std::sync::LazyLock;

use super::decide::{has_frequent, has_quadgrams, languages_of_script, languages_of_script_number, script};
use super::evidence::{ENOUGH_BYTES, WORD_LISTS, is_non_word};
use super::grams::{GRAMS, Label, NO_LANGUAGE, frequent_hash};
use super::letters::{WordBuffer, is_accent, letter};
use super::script::Script;
use super::{Hints, identify};

/// Bytes that are read first from the beginning of a line, and as many from its middle.
const PART_BYTES: usize = 48;
/// A cut moves forward to the end of the word if that is within this many bytes.
const WORD_BYTES: usize = 32;
/// Letters that are examined for a script that only one language uses.
const SCRIPT_LETTERS: usize = 24;
/// Candidates that are kept for a line.
const KEPT: usize = 4;
/// Lines with fewer words are left to [`identify`].
const MIN_WORDS: u32 = 4;
/// Leads over the second candidate, in log-odds, at which the first is accepted: by frequent words alone, by parts of the
/// line, by the whole line, and if most lines of the text are in another language.
const CLEAR_BY_WORDS: f32 = 6.0;
const CLEAR_BY_PARTS: f32 = 4.0;
const SURE: f32 = 3.0;
const SURELY_FOREIGN: f32 = 4.0;
/// The language of most lines wins if it is at most this far behind the first candidate.
const NEAR: f32 = 3.0;
/// Uncertain lines whose beginnings are identified together.
const POOLED: usize = 8;

/// Feature weights, read from `data/fast_lines.tsv`.
struct FastWeights {
    /// Of quadgrams, by the lowest byte of their value.
    quadgram: Vec<[f32; 3]>,
    /// Of a frequent word, by the number of languages that have it.
    rarity: [f32; 9],
    /// By label: the weight of a quadgram and of a word for languages that have none in the table, the bias, and the bias
    /// per unit of length.
    labels: [Labels; 4],
    /// By script and label: 0 if the language uses the script, else minus infinity.
    written: Vec<Labels>,
}

/// Upper limit of the number of labels, a multiple of eight.
const MAX_LABELS: usize = 200;

/// One value per label.
type Labels = [f32; 256];

/// Labels of the language numbers in quadgram values, for other scripts and for Latin.
static LANGUAGES_OF_GRAM: LazyLock<[[Label; 256]; 2]> =
    LazyLock::new(|| [GRAMS.languages_of_gram(false), GRAMS.languages_of_gram(true)]);

pub(crate) static FAST_WEIGHTS_TSV: &str = include_str!("../../data/fast_lines.tsv");
static WEIGHTS: LazyLock<FastWeights> = LazyLock::new(|| FastWeights::read(FAST_WEIGHTS_TSV));

impl FastWeights {
    fn read(table: &str) -> FastWeights {
        let (mut quadgram, mut frequent, mut missing) = (0.0, 0.0, [0.0; 2]);
        let mut labels = [[0.0; 256]; 4];
        for line in table.lines().filter(|line| !line.starts_with('#')) {
            let mut fields = line.split('\t');
            let name = fields.next().unwrap_or_default();
            let mut number = || fields.next().and_then(|field| field.parse().ok()).unwrap_or(0.0);
            match name {
                "quadgrams" => quadgram = number(),
                "quadgrams-missing" => missing[0] = number(),
                "frequent" => frequent = number(),
                "frequent-missing" => missing[1] = number(),
                code => {
                    if let Some(label) = GRAMS.label(code) {
                        labels[2][usize::from(label)] = number();
                        labels[3][usize::from(label)] = number();
                    }
                }
            }
        }
        for label in 0..GRAMS.codes.len() as u8 {
            labels[0][usize::from(label)] = if has_quadgrams(label) { 0.0 } else { missing[0] };
            labels[1][usize::from(label)] = if has_frequent(label) { 0.0 } else { missing[1] };
        }
        FastWeights { labels, ..FastWeights::of(quadgram, frequent) }
    }

    /// Weights without biases.
    fn of(quadgram: f32, frequent: f32) -> FastWeights {
        let mut rarity = [0.0; 9];
        for (owners, rarity) in rarity.iter_mut().enumerate().skip(1) {
            *rarity = (WORD_LISTS / owners as f32).ln() * frequent;
        }
        let quadgram =
            (0..=255).map(|triple| GRAMS.points(triple).map(|points| f32::from(points) * quadgram)).collect();
        let written = |script: usize| {
            let mut written = [f32::NEG_INFINITY; 256];
            languages_of_script_number(script).iter().for_each(|label| written[usize::from(*label)] = 0.0);
            written
        };
        FastWeights { quadgram, rarity, labels: [[0.0; 256]; 4], written: (0..Script::COUNT).map(written).collect() }
    }
}

/// Scores the languages of one line at a time. It is reused between lines to keep its buffers.
struct LineScorer<'a> {
    weights: &'a FastWeights,
    languages_of_gram: &'a [[Label; 256]; 2],
    word: WordBuffer,
    script: Option<Script>,
    scripts: [u32; Script::COUNT],
    /// By label; [`NO_LANGUAGE`] collects what is for none.
    points: [f32; 256],
    /// Hashes of the last two words: immediate repetitions are not counted.
    recent: [u64; 2],
    /// Hashes that are to be looked up: of quadgrams, with a flag for Latin script, and of words.
    quadgrams: Vec<(u32, bool)>,
    words: Vec<u64>,
    quadgrams_seen: u32,
    words_seen: u32,
}

/// The best candidates for a line with their log-odds, best first.
#[derive(Debug, Clone, Copy)]
struct LineGuess {
    script: Option<Script>,
    first: [(Label, f32); KEPT],
}

const NO_CANDIDATE: (Label, f32) = (0, f32::NEG_INFINITY);

impl LineGuess {
    /// The lead of the first candidate over the second.
    fn lead(&self) -> f32 {
        match self.first[0].0 {
            0 => 0.0,
            _ => self.first[0].1 - self.first[1].1,
        }
    }

    /// The first candidate, if its lead is at least `lead`.
    fn first_if(&self, lead: f32) -> Option<Label> {
        (self.first[0].0 != 0 && self.lead() >= lead).then_some(self.first[0].0)
    }

    /// Returns true if the language is within [`NEAR`] of the first candidate.
    fn is_near(&self, label: Label) -> bool {
        self.first.iter().any(|(known, total)| *known == label && self.first[0].1 - total <= NEAR)
    }
}

impl<'a> LineScorer<'a> {
    fn new(weights: &'a FastWeights) -> LineScorer<'a> {
        LineScorer {
            weights,
            languages_of_gram: &LANGUAGES_OF_GRAM,
            word: WordBuffer::new(),
            script: None,
            scripts: [0; Script::COUNT],
            points: [0.0; 256],
            recent: [0; 2],
            quadgrams: Vec::new(),
            words: Vec::new(),
            quadgrams_seen: 0,
            words_seen: 0,
        }
    }

    fn reset(&mut self) {
        self.scripts = [0; Script::COUNT];
        self.points = [0.0; 256];
        self.recent = [0; 2];
        (self.quadgrams_seen, self.words_seen) = (0, 0);
        self.quadgrams.clear();
        self.words.clear();
    }

    /// Scores a line, reading no more of it than needed.
    fn score(&mut self, line: &str) -> LineGuess {
        self.reset();
        if let Some(guess) = own_script(line) {
            return guess;
        }
        if line.len() <= 3 * PART_BYTES {
            self.read(line);
            return self.clear_by_words().unwrap_or_else(|| self.score_all());
        }
        let middle = cut(line, line.len() / 2);
        let (one, two) = (cut(line, PART_BYTES), cut(line, middle + PART_BYTES));
        self.read(&line[..one]);
        self.read(&line[middle..two]);
        if let Some(guess) = self.clear_by_words() {
            return guess;
        }
        let guess = self.score_all();
        if guess.lead() >= CLEAR_BY_PARTS {
            return guess;
        }
        self.read(&line[one..middle.min(line.floor_char_boundary(one + ENOUGH_BYTES / 2))]);
        self.read(&line[two..line.floor_char_boundary(two + ENOUGH_BYTES / 2)]);
        self.score_all()
    }

    /// The guess by frequent words alone, if it is clear.
    fn clear_by_words(&mut self) -> Option<LineGuess> {
        self.look_up_words();
        Some(self.best()).filter(|guess| guess.lead() >= CLEAR_BY_WORDS)
    }

    fn score_all(&mut self) -> LineGuess {
        self.look_up_words();
        self.look_up_quadgrams();
        self.best()
    }

    fn read(&mut self, text: &str) {
        let (mut start, mut classes_seen) = (0, 0);
        for (place, byte) in text.bytes().enumerate() {
            classes_seen |= BYTE_CLASSES[usize::from(byte)];
            if byte == b' ' {
                self.read_token(&text[start..place], classes_seen);
                (start, classes_seen) = (place + 1, 0);
            }
        }
        self.read_token(&text[start..], classes_seen);
    }

    /// Reads the text between two spaces.
    fn read_token(&mut self, token: &str, classes_seen: u8) {
        if classes_seen & NON_WORD != 0 && is_non_word(token) {
            return;
        }
        match classes_seen & NON_ASCII {
            0 => self.read_ascii(token.as_bytes()),
            _ => self.read_letters(token),
        }
        self.end_word();
    }

    fn read_ascii(&mut self, token: &[u8]) {
        let mut letters = 0;
        for byte in token {
            if byte.is_ascii_alphabetic() {
                self.script = Some(Script::Latin);
                letters += 1;
                self.word.push_ascii(byte | 0x20);
            } else {
                self.end_word();
            }
        }
        self.scripts[Script::Latin as usize] += letters;
    }

    fn read_letters(&mut self, token: &str) {
        for any in token.chars() {
            let (script, small) = letter(any);
            let Some(script) = script else {
                if is_accent(any) && self.script.is_some() {
                    self.word.push(any);
                } else {
                    self.end_word();
                }
                continue;
            };
            self.scripts[script as usize] += 1;
            if self.script != Some(script) || self.word.is_full() {
                self.end_word();
                self.script = Some(script);
            }
            self.word.push(small);
        }
    }

    fn end_word(&mut self) {
        let Some(script) = self.script.take() else { return };
        if !matches!(script, Script::Kana | Script::Han | Script::Hangul) {
            self.queue_hashes(script == Script::Latin);
        }
        self.word.clear();
    }

    fn queue_hashes(&mut self, latin: bool) {
        let hash = frequent_hash(self.word.bytes());
        if self.recent.contains(&hash) {
            return;
        }
        self.recent = [self.recent[1], hash];
        self.word.quadgrams(|hash| self.quadgrams.push((hash, latin)));
        self.words.push(hash);
    }

    /// Looks up the queued words. All slots are found before any is read, so that cache misses overlap.
    fn look_up_words(&mut self) {
        self.words.iter_mut().for_each(|word| *word = GRAMS.index_of_owners(*word).into());
        for place in self.words.iter().filter(|place| **place != 0) {
            let owners = GRAMS.owners_at(*place as u32);
            let number = owners.iter().map(|label| usize::from(*label != NO_LANGUAGE)).sum::<usize>();
            let rarity = self.weights.rarity[number];
            owners.iter().for_each(|label| self.points[usize::from(*label)] += rarity);
        }
        self.words_seen += self.words.len() as u32;
        self.words.clear();
    }

    /// Looks up the queued quadgrams.
    fn look_up_quadgrams(&mut self) {
        self.quadgrams.iter_mut().for_each(|(quadgram, _)| *quadgram = GRAMS.quadgrams.index_of_quadgram(*quadgram));
        for (place, latin) in &self.quadgrams {
            let [triple, one, two, three] = GRAMS.quadgrams.value(*place).to_le_bytes().map(usize::from);
            let languages_of_gram = &self.languages_of_gram[usize::from(*latin)];
            let weights = self.weights.quadgram[triple];
            self.points[usize::from(languages_of_gram[one])] += weights[0];
            self.points[usize::from(languages_of_gram[two])] += weights[1];
            self.points[usize::from(languages_of_gram[three])] += weights[2];
        }
        self.quadgrams_seen += self.quadgrams.len() as u32;
        self.quadgrams.clear();
    }

    /// The log-odds of each language of the script.
    fn totals(&self, script: Script, totals: &mut [f32; MAX_LABELS]) {
        let (quadgrams, words) = (self.quadgrams_seen as f32, self.words_seen as f32);
        let mass = quadgrams + words;
        let scale = 1.0 / (mass + 4.0).sqrt();
        let length = mass * scale / 10.0;
        let [no_quadgrams, no_frequent, bias, slope] = &self.weights.labels;
        let written = &self.weights.written[script as usize];
        for (label, total) in totals.iter_mut().enumerate() {
            let points = self.points[label] + no_quadgrams[label] * quadgrams + no_frequent[label] * words;
            *total = points * scale + bias[label] + slope[label] * length + written[label];
        }
    }

    fn best(&self) -> LineGuess {
        let mut guess = LineGuess { script: script(&self.scripts), first: [NO_CANDIDATE; KEPT] };
        let Some(script) = guess.script else { return guess };
        let labels = languages_of_script(script);
        // Chinese has no spaces between words: the candidates of its script are all that is known here.
        if script == Script::Han || labels.len() == 1 {
            guess.first.iter_mut().zip(labels).for_each(|(first, label)| *first = (*label, 0.0));
            return guess;
        }
        if self.words_seen < MIN_WORDS {
            return guess;
        }
        let mut totals = [0.0; MAX_LABELS];
        self.totals(script, &mut totals);
        for (number, some) in totals.chunks_exact(8).enumerate() {
            // Most chunks have no label that is better than the last candidate.
            let last = guess.first[KEPT - 1].1;
            if !some.iter().fold(false, |any, total| any | (*total > last)) {
                continue;
            }
            for (place, total) in some.iter().enumerate() {
                if let Some(rank) = guess.first.iter().position(|(_, known)| total > known) {
                    guess.first[rank..].rotate_right(1);
                    guess.first[rank] = ((number * 8 + place) as Label, *total);
                }
            }
        }
        guess
    }
}

const NON_WORD: u8 = 1;
const NON_ASCII: u8 = 2;

/// Byte classes of a token between two spaces.
static BYTE_CLASSES: [u8; 256] = {
    let mut classes_seen = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        classes_seen[byte] = match byte as u8 {
            b'0'..=b'9' | b'{' | b'}' | b'_' | b'=' | b'<' | b'>' | b'\\' | b'#' | b'@' | b':' | b'.' => NON_WORD,
            0x80.. => NON_ASCII,
            _ => 0,
        };
        byte += 1;
    }
    classes_seen
};

/// An offset at which a line may be cut: at `place` or at the next space shortly after it.
fn cut(line: &str, place: usize) -> usize {
    let place = line.floor_char_boundary(place);
    let near = &line.as_bytes()[place..line.len().min(place + WORD_BYTES)];
    place + memchr::memchr(b' ', near).unwrap_or(0)
}

/// The guess for a line in a script that only one language uses.
fn own_script(line: &str) -> Option<LineGuess> {
    // Fast path: most lines begin with a Latin letter.
    if line.as_bytes().first()?.is_ascii_alphabetic() {
        return None;
    }
    let mut scripts = [0; Script::COUNT];
    for start in [0, line.floor_char_boundary(line.len() / 2)] {
        let letters = line[start..].chars().take(4 * SCRIPT_LETTERS).filter_map(|any| letter(any).0);
        letters.take(SCRIPT_LETTERS).for_each(|script| scripts[script as usize] += 1);
    }
    let script = script(&scripts)?;
    match languages_of_script(script) {
        [only] if scripts[script as usize] as usize > SCRIPT_LETTERS => {
            Some(LineGuess { script: Some(script), first: [(*only, 0.0), NO_CANDIDATE, NO_CANDIDATE, NO_CANDIDATE] })
        }
        _ => None,
    }
}

/// Identifies the language of every line of a text. Uncertain lines take the language of most other lines if that is among
/// their best candidates, and go through [`identify`](crate::identify) if not.
///
/// ```
/// let lines = ["The river rose again during the night, and two of the roads had to be closed.", "2026-03-01"];
/// assert_eq!(tidings_lang::identify_lines(&lines), ["en", "und"]);
/// ```
pub fn identify_lines(lines: &[&str]) -> Vec<&'static str> {
    let mut scorer = LineScorer::new(&WEIGHTS);
    let guesses: Vec<LineGuess> = lines.iter().map(|line| scorer.score(line)).collect();
    let most = most_sure(lines, &guesses);
    let choose = |guess: &LineGuess| match most[guess.script? as usize] {
        Some(others) if guess.is_near(others) => Some(others),
        Some(_) => guess.first_if(SURELY_FOREIGN),
        None => guess.first_if(SURE),
    };
    let mut chosen: Vec<Option<Label>> = guesses.iter().map(choose).collect();
    for uncertain in uncertain_by_script(&guesses, &chosen) {
        let pooled = uncertain.iter().step_by(uncertain.len().div_ceil(POOLED)).map(|line| lines[*line]);
        let parts: Vec<&str> = pooled.map(|line| &line[..cut(line, ENOUGH_BYTES / POOLED)]).collect();
        let guess = identify(&parts.join("\n"), Hints::default());
        let Some(together) = GRAMS.label(guess.lang).filter(|_| guess.is_known()) else { continue };
        for line in uncertain {
            chosen[line] = Some(together).filter(|together| guesses[line].is_near(*together));
        }
    }
    let finish = |(line, chosen): (&&str, Option<Label>)| match chosen {
        Some(label) => GRAMS.codes[usize::from(label)],
        None => identify(line, Hints::default()).lang,
    };
    lines.iter().zip(chosen).map(finish).collect()
}

/// The language of most bytes of the certain lines, by script.
fn most_sure(lines: &[&str], guesses: &[LineGuess]) -> [Option<Label>; Script::COUNT] {
    let mut bytes = [0; 256];
    let mut most = [None; Script::COUNT];
    for (line, guess) in lines.iter().zip(guesses) {
        let (Some(script), Some(first)) = (guess.script, guess.first_if(SURE)) else { continue };
        bytes[usize::from(first)] += line.len();
        let most = &mut most[script as usize];
        if most.is_none_or(|most| bytes[usize::from(most)] < bytes[usize::from(first)]) {
            *most = Some(first);
        }
    }
    most
}

/// The numbers of the uncertain lines, by script, for scripts with more than one.
fn uncertain_by_script(guesses: &[LineGuess], chosen: &[Option<Label>]) -> Vec<Vec<usize>> {
    let mut uncertain: Vec<Vec<usize>> = vec![Vec::new(); Script::COUNT];
    for (line, (guess, chosen)) in guesses.iter().zip(chosen).enumerate() {
        if let Some(script) = guess.script.filter(|_| chosen.is_none() && guess.first[0].0 != 0) {
            uncertain[script as usize].push(line);
        }
    }
    uncertain.retain(|lines| lines.len() > 1);
    uncertain
}

/// The feature vectors of a line by language code, for `model/fit_fast_lines.py`, which fits the weights.
#[doc(hidden)]
pub fn fast_line_features(text: &str) -> Vec<(&'static str, Vec<f32>)> {
    let weights = [FastWeights::of(1.0, 0.0), FastWeights::of(0.0, 1.0)];
    let scorers = weights.each_ref().map(|weights| {
        let mut scorer = LineScorer::new(weights);
        scorer.read(text);
        scorer.look_up_words();
        scorer.look_up_quadgrams();
        scorer
    });
    let [quadgrams, words] = &scorers;
    let Some(script) = script(&quadgrams.scripts) else { return Vec::new() };
    let missing = |has: bool, seen: u32| if has { 0.0 } else { seen as f32 };
    let mass = (quadgrams.quadgrams_seen + quadgrams.words_seen) as f32;
    let scale = 1.0 / (mass + 4.0).sqrt();
    let row = |label: &Label| {
        let place = usize::from(*label);
        let features = [
            quadgrams.points[place],
            missing(has_quadgrams(*label), quadgrams.quadgrams_seen),
            words.points[place],
            missing(has_frequent(*label), words.words_seen),
            mass / 10.0,
        ];
        (GRAMS.codes[place], features.map(|feature| feature * scale).to_vec())
    };
    languages_of_script(script).iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lead(text: &str) -> (&'static str, f32) {
        let guess = LineScorer::new(&WEIGHTS).score(text);
        (GRAMS.codes[usize::from(guess.first[0].0)], guess.lead())
    }

    #[test]
    fn max_labels_covers_all_languages() {
        assert!(GRAMS.codes.len() <= MAX_LABELS);
    }

    #[test]
    fn running_text_is_identified_and_short_lines_are_left_uncertain() {
        for (code, text) in [
            ("de", "Der Fluss ist in der Nacht über die Ufer getreten, und die Feuerwehr hat zwei Straßen gesperrt."),
            ("en", "The river rose again during the night, and the fire brigade had to close two of the roads."),
            ("ru", "Ночью река снова вышла из берегов, и пожарным пришлось перекрыть две улицы в центре города."),
        ] {
            let (first, lead) = lead(text);
            assert!(first == code && lead >= SURE, "{first} {lead}");
        }
        for text in [
            "Η στάθμη του ποταμού ανέβηκε ξανά τη νύχτα",
            "COVID-19: 한국의 강이 밤사이 다시 불어나 두 도로가 통제됐다",
        ] {
            assert!(lead(text).1 > CLEAR_BY_WORDS, "{text}");
        }
        for text in ["", "2026-03-01 12:30 17 18 19", "今天的天气很好，我们去公园散步吧。"] {
            assert!(lead(text).1 < NEAR, "{text}");
        }
    }

    #[test]
    fn confusable_languages_are_resolved_by_other_lines() {
        let bosnian = [
            "Općinsko vijeće je u srijedu usvojilo odluku o izgradnji nove biblioteke u centru grada, saopćeno je danas.",
            "Direktor je kazao da će radovi početi naredne sedmice i da će trajati najmanje dvije godine.",
            "Ministar je rekao da je zgrada zatvorena i da niko nije povrijeđen, a uzrok požara još nije poznat.",
        ];
        let english = "The river rose again during the night, and the fire brigade had to close two of the roads.";
        let found = identify_lines(&[bosnian[0], bosnian[1], english, bosnian[2]]);
        assert_eq!(found, ["bs", "bs", "en", "bs"]);
    }

    #[test]
    fn hostile_lines_are_identified_without_a_panic() {
        let units =
            ["a", "ab ", "ž ", "漢", "\u{301}", "Ã¢", "क\u{94d}", "@", "A.B ", "é\n", "ﬁ", "\u{10ffff}", "1", "  "];
        for unit in units {
            for times in [1, 20, 48, 73, 145, 2000] {
                let line = unit.repeat(times);
                for shift in ["", "é Der Fluss "] {
                    let line = format!("{shift}{line}");
                    assert_eq!(identify_lines(&[&line, &line, "und"]).len(), 3);
                }
            }
        }
    }
}
