//! Fingerprints of texts: exact, and sampled word windows for the share of new text.
//!
//! Windows of seven words as onion takes them; of their hashes one in 64 is kept, about eight for a document, so that
//! the share of known text of a page is estimated from a bounded set. Of the words themselves one in eight is kept, for
//! [`crate::burstiness`].

use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// Words of a window.
const WINDOW: usize = 7;
/// One window hash of so many is kept.
const SAMPLING: u64 = 64;
/// One word of so many is kept.
const WORD_SAMPLING: u64 = 8;
/// Words of a text that are sampled, from its start.
const MAX_WORDS: u16 = 400;

/// The fingerprint of a clean text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TextFingerprint {
    /// The hash of all words; 0 for an empty text.
    pub exact: u64,
    /// Hashes of word windows with `hash % 64 == 0`; of texts with few windows the smallest hash, so that no text is
    /// without.
    pub samples: Vec<u64>,
    /// The number of words among which `words` were sampled. Not saved.
    pub length: u16,
    /// Hashes of the sampled words, in their order. Not saved.
    pub words: Vec<u32>,
}

impl TextFingerprint {
    /// The fingerprint of a text. Words that contain `mask` are left out: parked pages show the name of their domain.
    pub fn of(text: &str, mask: &str) -> TextFingerprint {
        let words: Vec<u64> = text
            .split_whitespace()
            .filter(|word| mask.is_empty() || !word.contains(mask))
            .map(|word| xxh3_64(word.as_bytes()))
            .collect();
        if words.is_empty() {
            return TextFingerprint::default();
        }
        let hash = |words: &[u64]| {
            let mut hasher = Xxh3::new();
            words.iter().for_each(|word| hasher.update(&word.to_le_bytes()));
            hasher.digest()
        };
        let mut samples = Vec::new();
        let mut least = u64::MAX;
        for window in words.windows(WINDOW.min(words.len())) {
            let digest = hash(window);
            least = least.min(digest);
            if digest % SAMPLING == 0 {
                samples.push(digest);
            }
        }
        if samples.is_empty() {
            samples.push(least);
        }
        let (length, sampled) = sampled_words(text);
        TextFingerprint { exact: hash(&words).max(1), samples, length, words: sampled }
    }
}

/// The number of words at the start of a text, and hashes of a sample of them: letters and digits in lower case, pairs of
/// characters in scripts without spaces.
fn sampled_words(text: &str) -> (u16, Vec<u32>) {
    let (mut length, mut sampled) = (0, Vec::new());
    let mut add = |word: &str| {
        length += 1;
        let hash = xxh3_64(word.as_bytes());
        if hash.is_multiple_of(WORD_SAMPLING) {
            sampled.push((hash >> 32) as u32);
        }
        length < MAX_WORDS
    };
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let goes_on = match word.starts_with(is_unspaced) {
            true => pairs(word).all(&mut add),
            false => add(&word.to_lowercase()),
        };
        if !goes_on {
            break;
        }
    }
    (length, sampled)
}

/// The text of a word in pairs of characters.
fn pairs(word: &str) -> impl Iterator<Item = &str> {
    let mut rest = word;
    std::iter::from_fn(move || {
        let end = rest.char_indices().nth(2).map_or(rest.len(), |(at, _)| at);
        let (pair, after) = rest.split_at(end);
        rest = after;
        (!pair.is_empty()).then_some(pair)
    })
}

/// Whether a character is of a script that does not part words: Thai, Lao, Burmese, Khmer, Kana, Han.
fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{0e00}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_texts_have_a_sample() {
        assert_eq!(TextFingerprint::of("three short words", "").samples.len(), 1);
        assert_eq!(TextFingerprint::of(" ", ""), TextFingerprint::default());
    }

    #[test]
    fn one_word_in_eight_is_kept_whatever_its_case_and_script() {
        let words: Vec<String> = (0..1000).map(|number| format!("Wort{number}")).collect();
        let text = TextFingerprint::of(&words.join(", "), "");
        assert_eq!(text.length, MAX_WORDS);
        assert!((25..80).contains(&text.words.len()), "{}", text.words.len());
        assert_eq!(text.words, TextFingerprint::of(&words.join(" ").to_lowercase(), "").words);
        assert_eq!(pairs("新聞記者会").collect::<Vec<_>>(), ["新聞", "記者", "会"]);
        assert_eq!(TextFingerprint::of("新聞記者会 記者", "").length, 4);
    }

    #[test]
    fn the_name_of_the_domain_does_not_tell_parked_pages_apart() {
        let page = |name: &str| TextFingerprint::of(&format!("{name} is for sale, ask {name}/contact today"), name);
        let (one, two) = (page("one.example"), page("two.example"));
        assert_eq!((one.exact, one.samples), (two.exact, two.samples));
    }
}
