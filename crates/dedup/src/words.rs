//! Words as hashes: letters and digits, without case.
//!
//! Copies often differ in quotation marks, dashes and capitals, which do not make them new. In scripts
//! without spaces each character counts as a word.

use std::sync::LazyLock;

use crate::hash::{MULTIPLIER, mix};

/// Characters below this are folded by a table: Latin, Greek, Cyrillic, Armenian, Hebrew, Arabic.
const COMMON: usize = 0x800;

/// A character that separates words.
const BREAK: u32 = 0;
/// A character that is part of a word but ignored: combining accents, soft hyphens, joiners.
const SILENT: u32 = u32::MAX;

static FOLDED: LazyLock<Vec<u32>> =
    LazyLock::new(|| (0..COMMON as u32).map(|code| char::from_u32(code).map_or(BREAK, fold)).collect());

/// Folds a character to its lowercase code point, [`BREAK`] or [`SILENT`].
fn fold(c: char) -> u32 {
    match c {
        '\u{300}'..='\u{36F}' | '\u{AD}' | '\u{200B}'..='\u{200D}' | '\u{2060}' | '\u{FEFF}' => SILENT,
        _ if !c.is_alphanumeric() => BREAK,
        _ => c.to_lowercase().next().map_or(BREAK, u32::from),
    }
}

/// Returns true for characters of scripts without spaces between words.
fn stands_alone(c: char) -> bool {
    matches!(u32::from(c),
        0x0E00..=0x0FFF // Thai, Lao, Tibetan
        | 0x1000..=0x109F // Burmese
        | 0x1780..=0x17FF // Khmer
        | 0x3040..=0x30FF | 0x31F0..=0x31FF // Kana
        | 0x3400..=0x9FFF | 0xF900..=0xFAFF | 0x2_0000..=0x3_FFFF) // Han
}

/// Appends the hashes of the words of a text.
pub(crate) fn push_words(text: &str, words: &mut Vec<u64>) {
    let folded = &FOLDED[..COMMON];
    let mut word = 0;
    let end = |word: &mut u64, words: &mut Vec<u64>| {
        if *word != 0 {
            words.push(mix(*word));
            *word = 0;
        }
    };
    for c in text.chars() {
        let code = match folded.get(c as usize) {
            Some(code) => *code,
            None => fold(c),
        };
        match code {
            BREAK => end(&mut word, words),
            SILENT => {}
            _ => {
                if c as usize >= COMMON && stands_alone(c) {
                    end(&mut word, words);
                    words.push(mix(u64::from(code).wrapping_mul(MULTIPLIER)));
                } else {
                    word = (word.rotate_left(5) ^ u64::from(code)).wrapping_mul(MULTIPLIER);
                }
            }
        }
    }
    end(&mut word, words);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<u64> {
        let mut words = Vec::new();
        push_words(text, &mut words);
        words
    }

    #[test]
    fn case_punctuation_and_combining_accents_are_ignored() {
        assert_eq!(words("“Où est-il?” demanda l'homme…"), words("où EST il demanda L’HOMME"));
        assert_eq!(words("hy\u{AD}phen"), words("hyphen"));
        assert_eq!(words("Київ, 1905"), words("КИЇВ 1905"));
        assert_ne!(words("one two"), words("two one"));
        assert_ne!(words("onetwo"), words("one two"));
        assert!(words(" — *** … ").is_empty());
    }

    #[test]
    fn scripts_without_spaces_count_characters() {
        assert_eq!(words("東京は雨です。").len(), 6);
        assert_eq!(words("ฝนตก 3 วัน").len(), "ฝนตก3วัน".chars().count());
        assert_eq!(words("서울에 비가 온다").len(), 3);
    }
}
