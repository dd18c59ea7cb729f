//! Maps language codes to the codes used by the tables and models.

/// Strips region and script, and maps to the code of the tables: two letters if possible.
pub fn short_code(code: &str) -> &str {
    match tidings_lang::language(code) {
        Some(language) => language.annotate_as.unwrap_or(language.code),
        None => code.split(['-', '_']).next().unwrap_or(code),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_letter_three_letter_and_regional_codes_are_understood() {
        assert_eq!(short_code("de-AT"), "de");
        assert_eq!(short_code("deu"), "de");
        assert_eq!(short_code("zh_Hant_TW"), "zh");
        assert_eq!(short_code("no"), "nb");
        assert_eq!((short_code("bos"), short_code("yue"), short_code("prs")), ("hr", "zh", "fa"));
        assert_eq!(short_code("x"), "x");
        assert_eq!(short_code(""), "");
    }
}
