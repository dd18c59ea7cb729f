//! Words in dates: months, and fillers between the parts.

use tidings_lang::Month;

/// The month named by a lower-case word.
pub(super) fn month(word: &str) -> Option<i8> {
    match tidings_lang::month(word, None)? {
        Month::Gregorian(month) => Some(month),
        Month::Persian(_) => None,
    }
}

/// Returns true for words without meaning between the parts of a date.
pub(super) fn is_filler(word: &str) -> bool {
    const FILLERS: &str = "st nd rd th de del d di do da den der dem am an at um the of on le la el em les à às il
        kl klo ob o ur uhr t y i g m год года г р в ngày lúc ngay van vom tes";
    FILLERS.split_ascii_whitespace().any(|filler| filler == word)
}
