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
    chars.fold(beginning, |hash, c| mix(hash, plain(c) as u64))
}

pub fn of_str(word: &str) -> Hash {
    of_chars(word.chars())
}

/// A character without its case.
#[inline]
pub fn plain(c: char) -> char {
    match c {
        'a'..='z' => c,
        'A'..='Z' => c.to_ascii_lowercase(),
        '’' | 'ʼ' | '‘' | '＇' => '\'',
        '‐' | '‑' => '-',
        _ if c < '\u{80}' => c,
        // The few that become several keep the first.
        _ => c.to_lowercase().next().unwrap_or(c),
    }
}
