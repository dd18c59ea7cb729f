//! Words before a number that say what it is: *Tel.*, 电话, *Section*, *PESEL*.

use std::collections::HashSet;
use std::sync::LazyLock;

/// What a word before a number says of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Cue {
    Phone,
    NotPhone,
    Ip,
    NotIp,
    Id,
}

struct Cues {
    words: HashSet<(Cue, String)>,
    /// Words of scripts without spaces.
    endings: Vec<(Cue, String)>,
}

static CUES: LazyLock<Cues> = LazyLock::new(|| {
    let mut cues = Cues { words: HashSet::new(), endings: Vec::new() };
    for line in include_str!("../../data/mask_cues.tsv").lines().filter(|line| !line.starts_with('#')) {
        let mut fields = line.split('\t');
        let (rule, words) = (fields.next().unwrap_or_default(), fields.nth(1).unwrap_or_default());
        let cue = match rule {
            "phone" => Cue::Phone,
            "not-phone" => Cue::NotPhone,
            "ip" => Cue::Ip,
            "not-ip" => Cue::NotIp,
            _ => Cue::Id,
        };
        for word in words.split(' ') {
            if word.chars().next_back().is_some_and(is_unspaced) {
                cues.endings.push((cue, word.to_lowercase()));
            }
            cues.words.insert((cue, word.to_lowercase()));
        }
    }
    cues
});

/// Letters of scripts that have no spaces between words, or attach particles to numbers.
pub fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{3040}'..='\u{30ff}'
        | '\u{3400}'..='\u{9fff}' | '가'..='힣')
}

/// Bytes before a number in which its cue is looked for.
const REACH: usize = 48;
/// Words before a number that may be its cue; *Phone number is 22 34 56 78*.
const WORDS: usize = 3;

/// The text shortly before a place.
#[derive(Debug, Clone)]
pub struct Before {
    text: String,
}

impl Before {
    /// Reads what is before `place`, back to the last number or end of a sentence.
    pub fn read(text: &str, place: usize) -> Before {
        let from = text.floor_char_boundary(place.saturating_sub(REACH));
        let near = &text[from..place];
        let cut = near.rfind(['!', '?', ';', '\n', '。', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9']);
        let near = &near[cut.map_or(0, |cut| near[cut..].chars().next().map_or(cut, |c| cut + c.len_utf8()))..];
        Before { text: near.to_lowercase() }
    }

    /// Returns true if one of the last words is a cue of this kind.
    pub fn says(&self, cue: Cue) -> bool {
        let is_edge = |c: char| !c.is_alphanumeric() && c != '§';
        let words = self.text.split_whitespace().rev().map(|word| word.trim_matches(is_edge));
        let mut words = words.filter(|word| !word.is_empty()).take(WORDS);
        if words
            .any(|word| self.knows(cue, word) || word.split([':', '：', '/', '(']).any(|part| self.knows(cue, part)))
        {
            return true;
        }
        let end = self.text.trim_end_matches(|c: char| !c.is_alphanumeric());
        CUES.endings.iter().any(|(known, ending)| *known == cue && end.ends_with(ending.as_str()))
    }

    fn knows(&self, cue: Cue, word: &str) -> bool {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '§');
        !word.is_empty() && CUES.words.contains(&(cue, word.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cue_is_one_of_the_last_words_before_a_number() {
        let says = |text: &str, cue: Cue| Before::read(text, text.len()).says(cue);
        for text in ["Tel.: ", "Phone number is ", "TEL:", "联系电话：", "전화 ", "тел. (", "Fax:"] {
            assert!(says(text, Cue::Phone), "{text}");
        }
        for text in ["Tel. 1234, and then ", "Tel. was there. ! ", "hotels ", ""] {
            assert!(!says(text, Cue::Phone), "{text}");
        }
        assert!(says("see Section ", Cue::NotIp) && says("§ ", Cue::NotIp) && says("PESEL: ", Cue::Id));
    }
}
