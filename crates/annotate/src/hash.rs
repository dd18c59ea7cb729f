//! Words as numbers: tables of words and the features of models are looked up by hash.

/// A word or a feature as a number.
pub type Hash = u64;

const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// Mixes a value into a hash.
#[inline]
pub fn mix(hash: Hash, value: u64) -> Hash {
    (hash.rotate_left(23) ^ value).wrapping_mul(FACTOR)
}

/// A word, whatever its case and the form of its apostrophes.
pub fn of_chars(chars: impl Iterator<Item = char>) -> Hash {
    of_more(EMPTY, chars)
}

/// The hash of no characters.
pub const EMPTY: Hash = 0x51_7c_c1_b7;

/// The hash of a word of which the beginning has this one.
pub fn of_more(beginning: Hash, chars: impl Iterator<Item = char>) -> Hash {
    chars.fold(beginning, |hash, c| mix(hash, normalise(c) as u64))
}

pub fn of_str(word: &str) -> Hash {
    of_chars(word.chars())
}

/// A character without its case.
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

/// A character as a small letter. The few that become several keep the first.
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

/// Characters of the common scripts that are small letters or know no case: looking them up takes time.
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
    fn short_cuts_lead_where_the_long_way_does() {
        for c in '\0'..=char::MAX {
            assert_eq!(lowercase(c), c.to_lowercase().next().unwrap(), "{c:?}");
        }
    }
}
