//! Traditional and simplified Chinese characters, from `languages/zh/variants.tsv`: their balance tells the script of a
//! text, and models read both scripts as one.

use std::sync::LazyLock;

use crate::registry::{language, rows};

/// First and last character of the block of unified ideographs, in which all pairs are.
const FIRST: u32 = 0x4e00;
const LAST: u32 = 0x9fff;

/// What a character of the block tells of the script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sign {
    Neither,
    Traditional,
    Simplified,
}

static SIGNS: LazyLock<Vec<Sign>> = LazyLock::new(|| {
    let mut signs = vec![Sign::Neither; (LAST - FIRST + 1) as usize];
    let text = language("zh").and_then(|chinese| chinese.variants_tsv).unwrap_or_default();
    let places =
        |key: &'static str| rows(text).filter(move |row| row.0 == key).flat_map(|row| row.1.chars()).filter_map(place);
    places("simplified").for_each(|place| signs[place] = Sign::Simplified);
    // Some characters are simplified forms of others and old ones of their own; as such they are in traditional text.
    places("traditional").for_each(|place| signs[place] = Sign::Traditional);
    signs
});

/// The simplified form of every character of the block.
static SIMPLIFIED: LazyLock<Vec<char>> = LazyLock::new(|| {
    let mut forms: Vec<char> = (FIRST..=LAST).filter_map(char::from_u32).collect();
    let text = language("zh").and_then(|chinese| chinese.variants_tsv).unwrap_or_default();
    let chars = |key: &'static str| rows(text).filter(move |row| row.0 == key).flat_map(|row| row.1.chars());
    for (traditional, simplified) in chars("traditional").zip(chars("simplified")) {
        if let Some(place) = place(traditional) {
            forms[place] = simplified;
        }
    }
    forms
});

/// The simplified form of a Chinese character; other characters stay as they are.
pub fn simplified(c: char) -> char {
    place(c).map_or(c, |place| SIMPLIFIED[place])
}

fn place(c: char) -> Option<usize> {
    (FIRST..=LAST).contains(&(c as u32)).then(|| (c as u32 - FIRST) as usize)
}

/// The script of Chinese text: `zh-Hant` or `zh-Hans`, if its characters tell.
pub(crate) fn chinese_script(text: &str) -> Option<&'static str> {
    let (mut traditional, mut simple) = (0u32, 0u32);
    for sign in text.chars().filter_map(place).map(|place| SIGNS[place]) {
        traditional += u32::from(sign == Sign::Traditional);
        simple += u32::from(sign == Sign::Simplified);
    }
    // Quotations and names bring a few characters of the other script.
    match (traditional, simple) {
        (0, 0) => None,
        (traditional, simple) if traditional > simple * 3 => Some("zh-Hant"),
        (traditional, simple) if simple > traditional * 3 => Some("zh-Hans"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traditional_characters_have_a_simplified_form() {
        let text: String = "總統府發言人 A。總".chars().map(simplified).collect();
        assert_eq!(text, "总统府发言人 A。总");
    }

    #[test]
    fn the_script_of_a_text_follows_from_its_characters() {
        assert_eq!(chinese_script("總統府發言人表示，這項計畫將在明年開始實施。"), Some("zh-Hant"));
        assert_eq!(chinese_script("总统府发言人表示，这项计划将在明年开始实施。"), Some("zh-Hans"));
        assert_eq!(chinese_script("你好"), None);
        assert_eq!(chinese_script("Hello"), None);
    }
}
