//! Codes of languages: tables and models are looked up by the shortest code.

/// The code under which a language is known here: no region, no script, two letters if possible.
pub fn plain(code: &str) -> &str {
    match tidings_lang::language(code) {
        Some(language) => language.annotate_as.unwrap_or(language.code),
        None => code.split(['-', '_']).next().unwrap_or(code),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_of_all_lengths_are_understood() {
        assert_eq!(plain("de-AT"), "de");
        assert_eq!(plain("deu"), "de");
        assert_eq!(plain("zh_Hant_TW"), "zh");
        assert_eq!(plain("no"), "nb");
        assert_eq!((plain("bos"), plain("yue"), plain("prs")), ("hr", "zh", "fa"));
        assert_eq!(plain("x"), "x");
        assert_eq!(plain(""), "");
    }
}
