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
        let words: Vec<u64> = tidings_lang::words(text)
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
    let parts = text.split(|c: char| !c.is_alphanumeric());
    let _ = parts.flat_map(tidings_lang::words).all(|word| add(&word.to_lowercase()));
    (length, sampled)
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
        assert_eq!(TextFingerprint::of("新聞記者会 記者", "").length, 4);
    }

    #[test]
    fn unspaced_texts_share_windows_with_their_near_duplicates() {
        let clauses: Vec<String> = (0..300).map(|at| format!("第{at}条渡轮航线今天下午已经开通")).collect();
        let of = |clauses: &[String]| TextFingerprint::of(&clauses.join("，"), "");
        let (whole, edited) = (of(&clauses), of(&[&["新的一句话".to_owned()][..], &clauses[1..]].concat()));
        assert!(whole.samples.len() > 10, "{} samples of 4,000 characters", whole.samples.len());
        let shared = edited.samples.iter().filter(|sample| whole.samples.contains(sample)).count();
        assert!(shared + 3 >= whole.samples.len(), "{shared} of {}", whole.samples.len());
        assert_ne!(whole.exact, edited.exact);
    }

    #[test]
    fn the_name_of_the_domain_does_not_tell_parked_pages_apart() {
        let page = |name: &str| TextFingerprint::of(&format!("{name} is for sale, ask {name}/contact today"), name);
        let (one, two) = (page("one.example"), page("two.example"));
        assert_eq!((one.exact, one.samples), (two.exact, two.samples));
    }
}
