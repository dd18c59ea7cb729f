//! Variants of a language: the script of Chinese, Portuguese of Brazil and of Portugal.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::han::chinese_script;
use crate::registry::{language, rows};

/// The words of `languages/pt/variants.tsv`, with their variants.
static PORTUGUESE: LazyLock<HashMap<&'static str, &'static str>> = LazyLock::new(|| {
    let text = language("pt").and_then(|portuguese| portuguese.variants_tsv).unwrap_or_default();
    rows(text).flat_map(|(variant, words)| words.split(' ').map(move |word| (word, variant))).collect()
});

/// The variant of a language that a text is written in, as a language tag, if its words or characters tell.
///
/// ```
/// assert_eq!(tidings_lang::variant("zh", "總統府發言人表示，這項計畫將在明年開始實施。"), Some("zh-Hant"));
/// assert_eq!(tidings_lang::variant("pt", "O ônibus da equipe chegou ao estádio."), Some("pt-BR"));
/// assert_eq!(tidings_lang::variant("de", "Der Zug fährt."), None);
/// ```
pub fn variant(lang: &str, text: &str) -> Option<&'static str> {
    match lang {
        "zh" => chinese_script(text),
        "pt" => portuguese(text),
        _ => None,
    }
}

/// The variant whose words are more than three times as frequent as those of the other.
fn portuguese(text: &str) -> Option<&'static str> {
    let (mut brazil, mut portugal) = (0, 0);
    for word in text.split(|c: char| !c.is_alphanumeric() && c != '-').filter(|word| !word.is_empty()) {
        match PORTUGUESE.get(word.to_lowercase().as_str()) {
            Some(&"pt-BR") => brazil += 1,
            Some(_) => portugal += 1,
            None => {}
        }
    }
    match (brazil, portugal) {
        (brazil, portugal) if brazil > portugal * 3 => Some("pt-BR"),
        (brazil, portugal) if portugal > brazil * 3 => Some("pt-PT"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_tell_brazil_from_portugal() {
        assert_eq!(variant("pt", "A equipa perdeu o autocarro, de facto."), Some("pt-PT"));
        assert_eq!(variant("pt", "O governo anunciou ontem uma nova medida."), None);
        assert_eq!(variant("pt", "A equipe disse que o autocarro chegou."), None, "one of each");
    }
}
