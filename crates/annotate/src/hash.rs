//! Hashes of words and features, used as keys of word lists and model weights (feature hashing).

/// Hash of a word or a feature.
pub type Hash = u64;

const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// Mixes a value into a hash.
#[inline]
pub fn mix(hash: Hash, value: u64) -> Hash {
    (hash.rotate_left(23) ^ value).wrapping_mul(FACTOR)
}

/// Hashes a word, ignoring case and the form of apostrophes and hyphens.
pub fn of_chars(chars: impl Iterator<Item = char>) -> Hash {
    of_more(EMPTY, chars)
}

/// Hash of the empty word.
pub const EMPTY: Hash = 0x51_7c_c1_b7;

/// Continues the hash of a prefix with more characters.
pub fn of_more(beginning: Hash, chars: impl Iterator<Item = char>) -> Hash {
    chars.fold(beginning, |hash, c| mix(hash, normalise(c) as u64))
}

pub fn of_str(word: &str) -> Hash {
    of_chars(word.chars())
}

/// Lowercases a character and unifies apostrophes and hyphens.
#[inline]
pub fn normalise(c: char) -> char {
    match c {
        'a'..='z' => c,
        'A'..='Z' => c.to_ascii_lowercase(),
        '’' | 'ʼ' | '‘' | '＇' => '\'',
        '‐' | '‑' => '-',
        _ => lowercase(c),
    }
}

/// Lowercases a character; where the result has several characters, only the first is used.
#[inline]
pub fn lowercase(c: char) -> char {
    if is_lower_or_caseless(c) {
        return c;
    }
    match c {
        'А'..='Я' => char::from_u32(c as u32 + 32).unwrap_or(c),
        _ if c.is_ascii() => c.to_ascii_lowercase(),
        _ => c.to_lowercase().next().unwrap_or(c),
    }
}

/// Fast path for common scripts: true for characters that are lowercase or have no case.
#[inline]
pub fn is_lower_or_caseless(c: char) -> bool {
    matches!(c,
        'a'..='z' | 'ß'..='ÿ' | 'α'..='ω' | 'а'..='џ' | 'ա'..='ֆ' | '\u{590}'..='\u{109f}' | '\u{3000}'..='\u{9fff}'
        | '가'..='힣')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lowercase_agrees_with_the_standard_library() {
        for c in '\0'..=char::MAX {
            assert_eq!(lowercase(c), c.to_lowercase().next().unwrap(), "{c:?}");
        }
    }
}
