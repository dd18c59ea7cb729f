//! Words of a text for counting and comparing, without a tokenizer.
//!
//! Chinese, Japanese, Thai, Lao, Burmese and Khmer are written without spaces: split at white space, an article of a
//! thousand words has twenty. Two of their characters are about one word, as the tokenizer finds them, so that a run of
//! them is cut into pairs.

/// Returns whether a character belongs to a script without spaces between words: Thai, Lao, Burmese, Khmer, Kana, Han.
///
/// ```
/// assert!(['新', 'か', 'ไ', 'ລ', 'မ', 'ខ'].into_iter().all(tidings_lang::is_unspaced));
/// assert!(!['a', 'ж', '한', '、', ' '].into_iter().any(tidings_lang::is_unspaced));
/// ```
pub fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{0e00}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{3040}'..='\u{30ff}'
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{2fa1f}')
}

/// The words of a text: what stands between white space, with runs of unspaced characters cut into pairs. Punctuation
/// beside such a run is no word; a new run begins after it, so that an edit of one clause leaves the pairs of the next.
///
/// ```
/// let words = |text| tidings_lang::words(text).collect::<Vec<_>>();
/// assert_eq!(words("The ferry, again."), ["The", "ferry,", "again."]);
/// assert_eq!(words("新聞記者会、iPhone 15を発表。"), ["新聞", "記者", "会", "iPhone", "15", "を発", "表"]);
/// ```
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_whitespace().flat_map(|chunk| {
        let mut rest = chunk;
        let is_mixed = chunk.contains(is_unspaced);
        std::iter::from_fn(move || {
            loop {
                let word = if is_mixed { mixed_word(rest) } else { rest };
                rest = &rest[word.len()..];
                if word.is_empty() || !is_mixed {
                    return (!word.is_empty()).then_some(word);
                }
                let word = word.trim_matches(|c: char| !c.is_alphanumeric() && !is_unspaced(c));
                if !word.is_empty() {
                    return Some(word);
                }
            }
        })
    })
}

/// The start of a text: at most two unspaced characters, or all up to the first of them.
fn mixed_word(text: &str) -> &str {
    let end = match text.chars().next() {
        Some(first) if is_unspaced(first) => {
            text.char_indices().take(2).take_while(|(_, c)| is_unspaced(*c)).map(|(at, c)| at + c.len_utf8()).last()
        }
        _ => text.find(is_unspaced),
    };
    &text[..end.unwrap_or(text.len())]
}

/// The number of [`words`] of a text.
pub fn word_count(text: &str) -> usize {
    words(text).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_with_spaces_has_the_words_between_them() {
        let text = "Zug nach  Wien – 12:30,\n한국어 기사 и ещё\u{a0}раз";
        assert!(words(text).eq(text.split_whitespace()));
        assert_eq!((word_count(""), word_count(" \n")), (0, 0));
    }

    #[test]
    fn two_characters_of_a_script_without_spaces_are_a_word() {
        for text in ["今天下午市政府宣布新的渡轮航线", "รัฐบาลประกาศเส้นทางเรือใหม่", "新しい航路が発表された"]
        {
            let characters = text.chars().count();
            assert_eq!(word_count(text), characters.div_ceil(2), "{text}");
            assert_eq!(words(text).collect::<String>(), text);
        }
    }

    #[test]
    fn punctuation_of_unspaced_text_is_no_word_and_starts_a_new_pair() {
        assert_eq!(words("（渡轮）、航线。").collect::<Vec<_>>(), ["渡轮", "航线"]);
        assert_eq!(words("三个字，两字").collect::<Vec<_>>(), ["三个", "字", "两字"]);
    }
}
