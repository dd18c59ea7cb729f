//! Tells the languages of many lines at a glance.
//!
//! Two kinds of evidence, groups of four letters and frequent words, tell nine lines in ten as well as all kinds together do,
//! and to look them up takes a tenth of the time: the n-grams of [`identify`] are read byte by byte from a table that no cache
//! holds. Lines are read in part first, and as a whole where that does not suffice. What is left in doubt is mostly one of
//! two sisters, and there the other lines of the same text help: they are most likely in one language. Only lines that are in
//! doubt even so are given to [`identify`] one by one.

use std::sync::LazyLock;

use super::decide::{has_frequent, has_quads, script, writers, writers_at};
use super::evidence::{ENOUGH_BYTES, LISTS, is_address};
use super::grams::{GRAMS, Label, NOBODY, frequent_hash};
use super::letters::{Word, is_accent, letter};
use super::script::Script;
use super::{Hints, identify};

/// So much of the beginning of a line is read at first, and as much from its middle on.
const PART_BYTES: usize = 48;
/// A word is not cut if it ends within so many bytes.
const WORD_BYTES: usize = 32;
/// Letters that are looked at to see a script that one language alone uses.
const SCRIPT_LETTERS: usize = 24;
/// Languages that are remembered of a line in doubt.
const KEPT: usize = 4;
/// Fewer words than this tell nothing at a glance.
const FEWEST_WORDS: u32 = 4;
/// How far ahead of all others a language must be, in natural logarithms of odds: where only its words were looked up, where only
/// parts of the line were read, where all was, and where most lines are in another language.
const CLEAR_BY_WORDS: f32 = 6.0;
const CLEAR_BY_PARTS: f32 = 4.0;
const SURE: f32 = 3.0;
const SURELY_FOREIGN: f32 = 4.0;
/// How far behind the first the language of most lines may be, and is meant nevertheless.
const NEAR: f32 = 3.0;
/// Lines in doubt of which the first words are read together.
const POOLED: usize = 8;

/// What evidence is worth, by `data/glance.tsv`.
struct Worth {
    /// Of groups of letters, by the lowest byte of their value.
    quad: Vec<[f32; 3]>,
    /// By the number of languages that have a frequent word.
    rarity: [f32; 9],
    /// By label: what a group of letters and a word are worth for a language that has none in the table, a handicap, and one
    /// that grows with the length of the text.
    labels: [Labels; 4],
    /// By script and label: 0 where the language is written in the script.
    written: Vec<Labels>,
}

/// Labels that there are at most, in steps of eight.
const SCORED: usize = 200;

/// A number for each label.
type Labels = [f32; 256];

/// For whom groups of letters speak, in Latin script and in others.
static SPEAKERS: LazyLock<[[Label; 256]; 2]> = LazyLock::new(|| [GRAMS.speakers(false), GRAMS.speakers(true)]);

pub(crate) static WORTH_TSV: &str = include_str!("../../data/glance.tsv");
static WORTH: LazyLock<Worth> = LazyLock::new(|| Worth::read(WORTH_TSV));

impl Worth {
    fn read(table: &str) -> Worth {
        let (mut quad, mut frequent, mut missing) = (0.0, 0.0, [0.0; 2]);
        let mut labels = [[0.0; 256]; 4];
        for line in table.lines().filter(|line| !line.starts_with('#')) {
            let mut fields = line.split('\t');
            let name = fields.next().unwrap_or_default();
            let mut number = || fields.next().and_then(|field| field.parse().ok()).unwrap_or(0.0);
            match name {
                "quads" => quad = number(),
                "quads-missing" => missing[0] = number(),
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
            labels[0][usize::from(label)] = if has_quads(label) { 0.0 } else { missing[0] };
            labels[1][usize::from(label)] = if has_frequent(label) { 0.0 } else { missing[1] };
        }
        Worth { labels, ..Worth::of(quad, frequent) }
    }

    /// Evidence as it is, without handicaps.
    fn of(quad: f32, frequent: f32) -> Worth {
        let mut rarity = [0.0; 9];
        for (owners, rarity) in rarity.iter_mut().enumerate().skip(1) {
            *rarity = (LISTS / owners as f32).ln() * frequent;
        }
        let quad = (0..=255).map(|triple| GRAMS.points(triple).map(|points| f32::from(points) * quad)).collect();
        let written = |script: usize| {
            let mut written = [f32::NEG_INFINITY; 256];
            writers_at(script).iter().for_each(|label| written[usize::from(*label)] = 0.0);
            written
        };
        Worth { quad, rarity, labels: [[0.0; 256]; 4], written: (0..Script::COUNT).map(written).collect() }
    }
}

/// What was seen of a line.
struct Look<'a> {
    worth: &'a Worth,
    speakers: &'a [[Label; 256]; 2],
    word: Word,
    script: Option<Script>,
    scripts: [u32; Script::COUNT],
    /// By label; what is for nobody is at the end.
    points: [f32; 256],
    /// Words that were read a moment ago: repetitions are no evidence.
    recent: [u64; 2],
    /// What is to be looked up: hashes of groups of letters, with a bit for Latin script, and of words.
    quads: Vec<(u32, bool)>,
    words: Vec<u64>,
    quads_seen: u32,
    words_seen: u32,
}

/// What a line seems to be: the first languages and what speaks for them, best first.
#[derive(Debug, Clone, Copy)]
struct Seen {
    script: Option<Script>,
    first: [(Label, f32); KEPT],
}

const NOBODY_YET: (Label, f32) = (0, f32::NEG_INFINITY);

impl Seen {
    /// How far the first language is ahead of the second.
    fn lead(&self) -> f32 {
        match self.first[0].0 {
            0 => 0.0,
            _ => self.first[0].1 - self.first[1].1,
        }
    }

    /// The first language, if it is so far ahead.
    fn first_if(&self, lead: f32) -> Option<Label> {
        (self.first[0].0 != 0 && self.lead() >= lead).then_some(self.first[0].0)
    }

    /// Whether a language is not far behind the first.
    fn is_near(&self, label: Label) -> bool {
        self.first.iter().any(|(known, total)| *known == label && self.first[0].1 - total <= NEAR)
    }
}

impl<'a> Look<'a> {
    fn new(worth: &'a Worth) -> Look<'a> {
        Look {
            worth,
            speakers: &SPEAKERS,
            word: Word::new(),
            script: None,
            scripts: [0; Script::COUNT],
            points: [0.0; 256],
            recent: [0; 2],
            quads: Vec::new(),
            words: Vec::new(),
            quads_seen: 0,
            words_seen: 0,
        }
    }

    fn forget(&mut self) {
        self.scripts = [0; Script::COUNT];
        self.points = [0.0; 256];
        self.recent = [0; 2];
        (self.quads_seen, self.words_seen) = (0, 0);
        self.quads.clear();
        self.words.clear();
    }

    /// Looks at a line until it is clear.
    fn at(&mut self, line: &str) -> Seen {
        self.forget();
        if let Some(seen) = own_script(line) {
            return seen;
        }
        if line.len() <= 3 * PART_BYTES {
            self.read(line);
            return self.clear_by_words().unwrap_or_else(|| self.weigh_all());
        }
        let middle = cut(line, line.len() / 2);
        let (one, two) = (cut(line, PART_BYTES), cut(line, middle + PART_BYTES));
        self.read(&line[..one]);
        self.read(&line[middle..two]);
        if let Some(seen) = self.clear_by_words() {
            return seen;
        }
        let seen = self.weigh_all();
        if seen.lead() >= CLEAR_BY_PARTS {
            return seen;
        }
        self.read(&line[one..middle.min(line.floor_char_boundary(one + ENOUGH_BYTES / 2))]);
        self.read(&line[two..line.floor_char_boundary(two + ENOUGH_BYTES / 2)]);
        self.weigh_all()
    }

    /// What the words alone say, if they say it clearly.
    fn clear_by_words(&mut self) -> Option<Seen> {
        self.look_up_words();
        Some(self.weigh()).filter(|seen| seen.lead() >= CLEAR_BY_WORDS)
    }

    fn weigh_all(&mut self) -> Seen {
        self.look_up_words();
        self.look_up_quads();
        self.weigh()
    }

    fn read(&mut self, text: &str) {
        let (mut start, mut signs) = (0, 0);
        for (place, byte) in text.bytes().enumerate() {
            signs |= SIGNS[usize::from(byte)];
            if byte == b' ' {
                self.read_token(&text[start..place], signs);
                (start, signs) = (place + 1, 0);
            }
        }
        self.read_token(&text[start..], signs);
    }

    /// Reads what stands between spaces.
    fn read_token(&mut self, token: &str, signs: u8) {
        if signs & OF_ADDRESSES != 0 && is_address(token) {
            return;
        }
        match signs & NOT_ASCII {
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
            self.note(script == Script::Latin);
        }
        self.word.clear();
    }

    fn note(&mut self, latin: bool) {
        let hash = frequent_hash(self.word.bytes());
        if self.recent.contains(&hash) {
            return;
        }
        self.recent = [self.recent[1], hash];
        self.word.quads(|hash| self.quads.push((hash, latin)));
        self.words.push(hash);
    }

    /// Looks up the words that were noted. The tables are larger than a cache: asked for all at once, what is far arrives while
    /// what is near is added up.
    fn look_up_words(&mut self) {
        self.words.iter_mut().for_each(|word| *word = GRAMS.place_of_owners(*word).into());
        for place in self.words.iter().filter(|place| **place != 0) {
            let owners = GRAMS.owners_at(*place as u32);
            let number = owners.iter().map(|label| usize::from(*label != NOBODY)).sum::<usize>();
            let rarity = self.worth.rarity[number];
            owners.iter().for_each(|label| self.points[usize::from(*label)] += rarity);
        }
        self.words_seen += self.words.len() as u32;
        self.words.clear();
    }

    /// Looks up the groups of letters that were noted.
    fn look_up_quads(&mut self) {
        self.quads.iter_mut().for_each(|(quad, _)| *quad = GRAMS.quads.place_of_quad(*quad));
        for (place, latin) in &self.quads {
            let [triple, one, two, three] = GRAMS.quads.value(*place).to_le_bytes().map(usize::from);
            let speakers = &self.speakers[usize::from(*latin)];
            let worth = self.worth.quad[triple];
            self.points[usize::from(speakers[one])] += worth[0];
            self.points[usize::from(speakers[two])] += worth[1];
            self.points[usize::from(speakers[three])] += worth[2];
        }
        self.quads_seen += self.quads.len() as u32;
        self.quads.clear();
    }

    /// What speaks for each language that is written in this script.
    fn totals(&self, script: Script, totals: &mut [f32; SCORED]) {
        let (quads, words) = (self.quads_seen as f32, self.words_seen as f32);
        let mass = quads + words;
        let scale = 1.0 / (mass + 4.0).sqrt();
        let length = mass * scale / 10.0;
        let [no_quads, no_frequent, handicap, slope] = &self.worth.labels;
        let written = &self.worth.written[script as usize];
        for (label, total) in totals.iter_mut().enumerate() {
            let points = self.points[label] + no_quads[label] * quads + no_frequent[label] * words;
            *total = points * scale + handicap[label] + slope[label] * length + written[label];
        }
    }

    fn weigh(&self) -> Seen {
        let mut seen = Seen { script: script(&self.scripts), first: [NOBODY_YET; KEPT] };
        let Some(script) = seen.script else { return seen };
        let labels = writers(script);
        // Chinese has no words between spaces, and is Chinese nevertheless; which of its kinds is left in doubt.
        if script == Script::Han || labels.len() == 1 {
            seen.first.iter_mut().zip(labels).for_each(|(first, label)| *first = (*label, 0.0));
            return seen;
        }
        if self.words_seen < FEWEST_WORDS {
            return seen;
        }
        let mut totals = [0.0; SCORED];
        self.totals(script, &mut totals);
        for (number, some) in totals.chunks_exact(8).enumerate() {
            // Most languages are far behind.
            let last = seen.first[KEPT - 1].1;
            if !some.iter().fold(false, |any, total| any | (*total > last)) {
                continue;
            }
            for (place, total) in some.iter().enumerate() {
                if let Some(rank) = seen.first.iter().position(|(_, known)| total > known) {
                    seen.first[rank..].rotate_right(1);
                    seen.first[rank] = ((number * 8 + place) as Label, *total);
                }
            }
        }
        seen
    }
}

const OF_ADDRESSES: u8 = 1;
const NOT_ASCII: u8 = 2;

/// What bytes say about what stands between spaces.
static SIGNS: [u8; 256] = {
    let mut signs = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        signs[byte] = match byte as u8 {
            b'0'..=b'9' | b'{' | b'}' | b'_' | b'=' | b'<' | b'>' | b'\\' | b'#' | b'@' | b':' | b'.' => OF_ADDRESSES,
            0x80.. => NOT_ASCII,
            _ => 0,
        };
        byte += 1;
    }
    signs
};

/// Where a line may be cut, at a place or a little behind it.
fn cut(line: &str, place: usize) -> usize {
    let place = line.floor_char_boundary(place);
    let near = &line.as_bytes()[place..line.len().min(place + WORD_BYTES)];
    place + memchr::memchr(b' ', near).unwrap_or(0)
}

/// The language whose script the line is written in, if nobody else uses it.
fn own_script(line: &str) -> Option<Seen> {
    // Most lines begin with a letter of Latin script, and are done with here.
    if line.as_bytes().first()?.is_ascii_alphabetic() {
        return None;
    }
    let mut scripts = [0; Script::COUNT];
    for start in [0, line.floor_char_boundary(line.len() / 2)] {
        let letters = line[start..].chars().take(4 * SCRIPT_LETTERS).filter_map(|any| letter(any).0);
        letters.take(SCRIPT_LETTERS).for_each(|script| scripts[script as usize] += 1);
    }
    let script = script(&scripts)?;
    match writers(script) {
        [only] if scripts[script as usize] as usize > SCRIPT_LETTERS => {
            Some(Seen { script: Some(script), first: [(*only, 0.0), NOBODY_YET, NOBODY_YET, NOBODY_YET] })
        }
        _ => None,
    }
}

/// Tells the language of every line of a text. Most lines are told at a glance; lines in doubt are taken to be in the
/// language of the others if that is as good as any, and are looked at thoroughly if not.
///
/// ```
/// let lines = ["The river rose again during the night, and two of the roads had to be closed.", "2026-03-01"];
/// assert_eq!(tidings_lang::tell_lines(&lines), ["en", "und"]);
/// ```
pub fn tell_lines(lines: &[&str]) -> Vec<&'static str> {
    let mut look = Look::new(&WORTH);
    let seen: Vec<Seen> = lines.iter().map(|line| look.at(line)).collect();
    let most = most_sure(lines, &seen);
    let tell = |seen: &Seen| match most[seen.script? as usize] {
        Some(others) if seen.is_near(others) => Some(others),
        Some(_) => seen.first_if(SURELY_FOREIGN),
        None => seen.first_if(SURE),
    };
    let mut told: Vec<Option<Label>> = seen.iter().map(tell).collect();
    for doubtful in in_doubt(&seen, &told) {
        let chosen = doubtful.iter().step_by(doubtful.len().div_ceil(POOLED)).map(|place| lines[*place]);
        let parts: Vec<&str> = chosen.map(|line| &line[..cut(line, ENOUGH_BYTES / POOLED)]).collect();
        let guess = identify(&parts.join("\n"), Hints::default());
        let Some(together) = GRAMS.label(guess.lang).filter(|_| guess.is_known()) else { continue };
        for place in doubtful {
            told[place] = Some(together).filter(|together| seen[place].is_near(*together));
        }
    }
    let finish = |(line, told): (&&str, Option<Label>)| match told {
        Some(label) => GRAMS.codes[usize::from(label)],
        None => identify(line, Hints::default()).lang,
    };
    lines.iter().zip(told).map(finish).collect()
}

/// The language of most of the lines that are sure, in each script.
fn most_sure(lines: &[&str], seen: &[Seen]) -> [Option<Label>; Script::COUNT] {
    let mut bytes = [0; 256];
    let mut most = [None; Script::COUNT];
    for (line, seen) in lines.iter().zip(seen) {
        let (Some(script), Some(first)) = (seen.script, seen.first_if(SURE)) else { continue };
        bytes[usize::from(first)] += line.len();
        let most = &mut most[script as usize];
        if most.is_none_or(|most| bytes[usize::from(most)] < bytes[usize::from(first)]) {
            *most = Some(first);
        }
    }
    most
}

/// The places of lines that are still in doubt, where there are several in a script.
fn in_doubt(seen: &[Seen], told: &[Option<Label>]) -> Vec<Vec<usize>> {
    let mut doubtful: Vec<Vec<usize>> = vec![Vec::new(); Script::COUNT];
    for (place, (seen, told)) in seen.iter().zip(told).enumerate() {
        if let Some(script) = seen.script.filter(|_| told.is_none() && seen.first[0].0 != 0) {
            doubtful[script as usize].push(place);
        }
    }
    doubtful.retain(|places| places.len() > 1);
    doubtful
}

/// What is weighed at a glance, per language code: for `model/glance.py`, which finds what it is worth.
#[doc(hidden)]
pub fn glanced(text: &str) -> Vec<(&'static str, Vec<f32>)> {
    let worth = [Worth::of(1.0, 0.0), Worth::of(0.0, 1.0)];
    let looks = worth.each_ref().map(|worth| {
        let mut look = Look::new(worth);
        look.read(text);
        look.look_up_words();
        look.look_up_quads();
        look
    });
    let [quads, words] = &looks;
    let Some(script) = script(&quads.scripts) else { return Vec::new() };
    let missing = |has: bool, seen: u32| if has { 0.0 } else { seen as f32 };
    let mass = (quads.quads_seen + quads.words_seen) as f32;
    let scale = 1.0 / (mass + 4.0).sqrt();
    let row = |label: &Label| {
        let place = usize::from(*label);
        let said = [
            quads.points[place],
            missing(has_quads(*label), quads.quads_seen),
            words.points[place],
            missing(has_frequent(*label), words.words_seen),
            mass / 10.0,
        ];
        (GRAMS.codes[place], said.map(|said| said * scale).to_vec())
    };
    writers(script).iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lead(text: &str) -> (&'static str, f32) {
        let seen = Look::new(&WORTH).at(text);
        (GRAMS.codes[usize::from(seen.first[0].0)], seen.lead())
    }

    #[test]
    fn there_is_room_for_all_languages() {
        assert!(GRAMS.codes.len() <= SCORED);
    }

    #[test]
    fn running_text_is_told_at_a_glance_and_the_rest_is_left_to_others() {
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
    fn sisters_are_told_by_the_lines_around_them() {
        let bosnian = [
            "Općinsko vijeće je u srijedu usvojilo odluku o izgradnji nove biblioteke u centru grada, saopćeno je danas.",
            "Direktor je kazao da će radovi početi naredne sedmice i da će trajati najmanje dvije godine.",
            "Ministar je rekao da je zgrada zatvorena i da niko nije povrijeđen, a uzrok požara još nije poznat.",
        ];
        let english = "The river rose again during the night, and the fire brigade had to close two of the roads.";
        let told = tell_lines(&[bosnian[0], bosnian[1], english, bosnian[2]]);
        assert_eq!(told, ["bs", "bs", "en", "bs"]);
    }

    #[test]
    fn anything_can_be_looked_at() {
        let units =
            ["a", "ab ", "ž ", "漢", "\u{301}", "Ã¢", "क\u{94d}", "@", "A.B ", "é\n", "ﬁ", "\u{10ffff}", "1", "  "];
        for unit in units {
            for times in [1, 20, 48, 73, 145, 2000] {
                let line = unit.repeat(times);
                for shift in ["", "é Der Fluss "] {
                    let line = format!("{shift}{line}");
                    assert_eq!(tell_lines(&[&line, &line, "und"]).len(), 3);
                }
            }
        }
    }
}
