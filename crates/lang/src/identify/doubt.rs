//! Text in Latin letters that looks like a language and is none of those in the table: other scripts transcribed, dummy
//! text, source code, lists of names.
//!
//! The table has to choose some language, and chooses with confidence. Function words tell: a text in a language has its
//! stop words.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::Guess;
use super::script::Script;
use crate::stop::stop_list;

/// Bytes of a text that are looked at.
const SAMPLE_BYTES: usize = 600;
/// Words of a text that is too short for more than a hint.
const FEW_WORDS: usize = 5;
/// Languages whose stop words contradict the guess for a few words.
const COMMON: [&str; 7] = ["en", "fr", "de", "es", "it", "pt", "nl"];

/// Words of each kind of text in `not_written_so.tsv`.
static KINDS: LazyLock<Vec<HashSet<&str>>> = LazyLock::new(|| {
    let lines = include_str!("../../data/not_written_so.tsv").lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| Some(line.split_once('\t')?.1.split(' ').collect())).collect()
});

/// Returns true if the text is most likely in no language of the table. With a hint, a few words are believed.
pub(super) fn is_doubtful(text: &str, guess: &Guess, has_hint: bool) -> bool {
    if guess.script != Some(Script::Latin) || !guess.is_known() {
        return false;
    }
    let sample = &text[..text.floor_char_boundary(SAMPLE_BYTES)];
    if is_source_code(sample) {
        return true;
    }
    let words: Vec<&str> =
        sample.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|word| !word.is_empty()).collect();
    // Languages without a list say nothing of function words.
    let list = stop_list(guess.lang).filter(|list| !list.is_empty());
    let stops = list.map_or(0, |list| words.iter().filter(|word| list.contains(word)).count());
    // Lists of stop words have names in them; commas tell a list from a title.
    let commas = sample.matches(',').count();
    let few_stops = stops == 0 || stops * 2 <= words.len() && commas * 4 >= words.len();
    if list.is_some() && few_stops && is_list_of_names(&words) {
        return !has_hint || words.len() > FEW_WORDS;
    }
    if list.is_some() && stops == 0 && words.len() <= FEW_WORDS && !has_hint {
        let is_stop = |code: &&str| {
            *code != guess.lang
                && stop_list(code).is_some_and(|list| words.iter().any(|word| word.len() > 1 && list.contains(word)))
        };
        return COMMON.iter().any(is_stop);
    }
    let lower: Vec<String> = words.iter().filter(|word| word.len() > 1).map(|word| word.to_lowercase()).collect();
    KINDS.iter().any(|kind| {
        let hits = lower.iter().filter(|word| kind.contains(word.as_str())).count();
        let distinct: HashSet<&String> = lower.iter().filter(|word| kind.contains(word.as_str())).collect();
        distinct.len() >= 3 && hits * 5 >= lower.len() && hits * 2 > stops * 3
    })
}

/// Marks that sentences do not have: a twentieth of the text.
fn is_source_code(text: &str) -> bool {
    let marks = text
        .bytes()
        .filter(|byte| {
            matches!(byte, b'{' | b'}' | b';' | b'=' | b'<' | b'>' | b'_' | b'\\' | b'[' | b']' | b'|' | b'`')
        })
        .count();
    let calls = text.matches("()").count()
        + text.matches("::").count()
        + text.matches("->").count()
        + text.matches("//").count();
    marks + 2 * calls >= 4 && (marks + 2 * calls) * 20 >= text.len()
}

/// Four words or more that all begin with a capital, and hardly any that are capitals throughout.
fn is_list_of_names(words: &[&str]) -> bool {
    let is_name = |word: &&&str| {
        let mut letters = word.chars();
        letters.next().is_some_and(char::is_uppercase) && letters.next().is_none_or(char::is_lowercase)
    };
    words.len() >= 4 && words.iter().filter(is_name).count() * 20 >= words.len() * 19
}

#[cfg(test)]
mod tests {
    use super::super::{Hints, UNKNOWN, identify};

    #[test]
    fn text_of_no_known_language_is_unknown() {
        for text in [
            "Yeh bahut accha hai lekin mujhe nahi pata ki kya karna hai aur kab tak karna hai",
            "Sarkar ne kaha ki desh ke logon ke liye yeh bahut zaroori hai",
            "Ana mesh 3aref leh enta keda, yalla bina ya habibi, inshallah kol haga tob2a kwayesa",
            "Prezident skazal chto eto ochen vazhno dlya strany i chto vse budet horosho",
            "Den xero ti na kano gia auto to thema, alla tha prospathiso na to kano simera",
            "Ami tumi keno ekhane eshecho ami jani na kintu bhalo lagche khub onek",
            "Tse duzhe vazhlyvo dlya vsikh nas, shcho vony skazav, yak bude i koly bude",
            "Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor incididunt ut labore",
            "fn main() { let x = vec![1, 2]; println!(\"{}\", x.len()); }",
            "Anna Müller, Jean Dupont, Maria Rossi, John Smith, Pedro Sánchez, Lars Nielsen",
        ] {
            let lang = identify(text, Hints::default()).lang;
            assert_eq!(lang, UNKNOWN, "{text}");
        }
    }

    #[test]
    fn sentences_titles_and_names_in_sentences_keep_their_language() {
        for (lang, text) in [
            ("en", "Government Says New Rules Will Help Farmers In The North"),
            ("de", "Angela Merkel traf in Paris Emmanuel Macron und Mario Draghi."),
            ("es", "El presidente Pedro Sánchez viajó a Bruselas con Josep Borrell."),
            ("fr", "Le chat dort sur le lit de ma mère."),
            ("it", "Il gatto dorme sul letto della nonna."),
            ("hr", "Vlada je u srijedu donijela odluku koja će pomoći poljoprivrednicima."),
            ("id", "Presiden mengatakan bahwa pemerintah akan membantu para petani di daerah itu."),
            ("tr", "Hükümet çiftçilere yardım etmek için yeni bir karar aldı."),
            ("la", "Gallia est omnis divisa in partes tres, quarum unam incolunt Belgae, aliam Aquitani."),
        ] {
            assert_eq!(identify(text, Hints::default()).lang, lang, "{text}");
        }
    }
}
