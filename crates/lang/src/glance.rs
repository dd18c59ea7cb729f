//! Tells the language of a line at a glance, by nothing but the frequent words in it.
//!
//! Most lines of running text are full of words that only one language uses so often, and to look these up takes a tenth of
//! what [`identify`](crate::identify) takes. A glance answers only where one language is far ahead of all others and
//! knows most of the words; everything else (close sisters, small languages, scripts without spaces, lists and names) is for
//! those who look twice.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::LazyLock;

use crate::identify::{Hints, identify};
use crate::stop::{languages, stop_list};

/// The most lists there can be.
const MOST_LISTS: usize = 128;
/// A word that is on more lists, as English and Latin ones are, says nothing.
const MOST_OWNERS: usize = 12;
/// Fewer words than this tell nothing at a glance.
const FEWEST_WORDS: u32 = 6;
/// The share of the words that must be on the list of the language.
const LEAST_KNOWN: f32 = 0.4;
/// How far ahead the language must be: its points over those of the next.
const LEAST_AHEAD: f32 = 1.5;

/// The words of all lists: which languages have them, and what that is worth.
struct Words {
    codes: Vec<&'static str>,
    /// From the hash of a word to its owners.
    owners: ByHash<(u32, u8)>,
    lists: Vec<u8>,
    points: [f32; MOST_OWNERS + 1],
}

static WORDS: LazyLock<Words> = LazyLock::new(|| {
    let known: Vec<&str> = crate::identifiable().collect();
    let codes: Vec<&'static str> = languages().filter(|code| known.contains(code)).take(MOST_LISTS).collect();
    let mut by_word: ByHash<Vec<u8>> = HashMap::default();
    for (place, code) in codes.iter().enumerate() {
        for word in stop_list(code).into_iter().flat_map(|list| list.words()) {
            let owners = by_word.entry(hash(word.as_bytes())).or_default();
            // Two words of a list may have one hash; one owner is one owner.
            if owners.last() != Some(&(place as u8)) {
                owners.push(place as u8);
            }
        }
    }
    let mut words = Words { codes, owners: HashMap::default(), lists: Vec::new(), points: [0.0; MOST_OWNERS + 1] };
    for (number, points) in words.points.iter_mut().enumerate().skip(1) {
        *points = (words.codes.len() as f32 / number as f32).ln();
    }
    // In the order of hashes, so that every run has the same table.
    let mut rows: Vec<(u64, Vec<u8>)> = by_word.into_iter().collect();
    rows.sort_unstable();
    for (hash, mut owners) in rows {
        if owners.len() > MOST_OWNERS {
            owners.clear();
        }
        words.owners.insert(hash, (words.lists.len() as u32, owners.len() as u8));
        words.lists.extend(owners);
    }
    words
});

/// Hashes are keys as they are.
#[derive(Default)]
struct AsItIs(u64);

impl Hasher for AsItIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("keys are numbers");
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

type ByHash<V> = HashMap<u64, V, BuildHasherDefault<AsItIs>>;

const NO_WORD: u64 = 0xCBF2_9CE4_8422_2325;

/// A hash of a word, a byte at a time; letters A to Z count as small ones.
fn hashed(hash: u64, byte: u8) -> u64 {
    let small = if byte.is_ascii_uppercase() { byte | 0x20 } else { byte };
    (hash ^ u64::from(small)).wrapping_mul(0x0000_0100_0000_01B3)
}

fn hash(word: &[u8]) -> u64 {
    word.iter().fold(NO_WORD, |hash, byte| hashed(hash, *byte))
}

/// What the words of a text say.
#[derive(Debug, Clone)]
struct Glance {
    words: u32,
    /// Words on the list of each language, and the points for them.
    known: [u32; MOST_LISTS],
    points: [f32; MOST_LISTS],
}

impl Default for Glance {
    fn default() -> Glance {
        Glance { words: 0, known: [0; MOST_LISTS], points: [0.0; MOST_LISTS] }
    }
}

impl Glance {
    /// Looks at a text.
    fn at(text: &str) -> Glance {
        let mut glance = Glance::default();
        let table = &*WORDS;
        let mut hash = NO_WORD;
        for byte in text.bytes() {
            if byte >= 0x80 || byte.is_ascii_alphabetic() || byte == b'\'' {
                hash = hashed(hash, byte);
            } else if hash != NO_WORD {
                glance.see(hash, table);
                hash = NO_WORD;
            }
        }
        if hash != NO_WORD {
            glance.see(hash, table);
        }
        glance
    }

    fn see(&mut self, word: u64, table: &Words) {
        let owners = table.owners.get(&word);
        // A word that everybody has speaks for nobody, and against nobody.
        self.words += u32::from(owners.is_none_or(|(_, number)| *number > 0));
        if let Some((at, number)) = owners {
            let points = table.points[usize::from(*number)];
            for owner in &table.lists[*at as usize..*at as usize + usize::from(*number)] {
                self.known[usize::from(*owner)] += 1;
                self.points[usize::from(*owner)] += points;
            }
        }
    }

    /// Adds what another text says.
    fn add(&mut self, other: &Glance) {
        self.words += other.words;
        for place in 0..MOST_LISTS {
            self.known[place] += other.known[place];
            self.points[place] += other.points[place];
        }
    }

    /// The language that is far ahead of all others; nothing if none is.
    fn clear(&self) -> Option<&'static str> {
        if self.words < FEWEST_WORDS {
            return None;
        }
        let (mut first, mut second, mut best) = (0.0, 0.0, 0);
        for (place, points) in self.points.iter().enumerate() {
            if *points > first {
                (second, first, best) = (first, *points, place);
            } else if *points > second {
                second = *points;
            }
        }
        let is_clear = first >= second * LEAST_AHEAD && self.known[best] as f32 >= self.words as f32 * LEAST_KNOWN;
        is_clear.then(|| WORDS.codes[best])
    }
}

/// Tells the language of every line of a text. Most lines are told at a glance, if the text as a whole says the same; the
/// others are looked at by themselves.
///
/// ```
/// let lines = ["The river rose again during the night, and two of the roads had to be closed.", "2026-03-01"];
/// assert_eq!(tidings_lang::tell_lines(&lines), ["en", "und"]);
/// ```
pub fn tell_lines(lines: &[&str]) -> Vec<&'static str> {
    let mut whole = Glance::default();
    let clear: Vec<Option<&'static str>> = lines
        .iter()
        .map(|line| {
            let glance = Glance::at(line);
            whole.add(&glance);
            glance.clear()
        })
        .collect();
    let around = whole.clear();
    let tell = |(line, clear): (&&str, Option<&'static str>)| match clear {
        Some(code) if clear == around => code,
        _ => identify(line, Hints::default()).lang,
    };
    lines.iter().zip(clear).map(tell).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn running_text_is_told_at_a_glance_and_the_rest_is_left_to_others() {
        let clear = |text: &str| Glance::at(text).clear();
        let german = "Der Fluss ist in der Nacht über die Ufer getreten, und die Feuerwehr hat zwei Straßen gesperrt.";
        let english = "The river rose again during the night, and the fire brigade had to close two of the roads.";
        assert_eq!((clear(german), clear(english)), (Some("de"), Some("en")));
        for text in ["", "Home | Contact | About us", "2026-03-01 12:30 17 18 19", "今天的天气很好，我们去公园散步吧。"]
        {
            assert_eq!(clear(text), None, "{text}");
        }
        let mut both = Glance::at(german);
        both.add(&Glance::at(english));
        assert_eq!(both.clear(), None);
    }
}
