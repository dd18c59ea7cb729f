//! Maps language codes to the codes used by the tables and models.

/// Longer codes, and languages that use the tables of another language.
const ALIASES: &[(&str, &str)] = &[
    ("afr", "af"),
    ("ara", "ar"),
    ("arb", "ar"),
    ("bel", "be"),
    ("bul", "bg"),
    ("cat", "ca"),
    ("ces", "cs"),
    ("cze", "cs"),
    ("cym", "cy"),
    ("wel", "cy"),
    ("dan", "da"),
    ("deu", "de"),
    ("ger", "de"),
    ("ell", "el"),
    ("gre", "el"),
    ("eng", "en"),
    ("spa", "es"),
    ("est", "et"),
    ("ekk", "et"),
    ("eus", "eu"),
    ("baq", "eu"),
    ("fas", "fa"),
    ("per", "fa"),
    ("pes", "fa"),
    ("prs", "fa"),
    ("fin", "fi"),
    ("fra", "fr"),
    ("fre", "fr"),
    ("gle", "ga"),
    ("gla", "gd"),
    ("glg", "gl"),
    ("heb", "he"),
    ("iw", "he"),
    ("hin", "hi"),
    ("hrv", "hr"),
    ("bos", "hr"),
    ("bs", "hr"),
    ("cnr", "sr"),
    ("sh", "hr"),
    ("hun", "hu"),
    ("hye", "hy"),
    ("arm", "hy"),
    ("ind", "id"),
    ("isl", "is"),
    ("ice", "is"),
    ("ita", "it"),
    ("jpn", "ja"),
    ("kat", "ka"),
    ("geo", "ka"),
    ("kaz", "kk"),
    ("kor", "ko"),
    ("lit", "lt"),
    ("lav", "lv"),
    ("lvs", "lv"),
    ("mkd", "mk"),
    ("mac", "mk"),
    ("msa", "ms"),
    ("zsm", "ms"),
    ("may", "ms"),
    ("mlt", "mt"),
    ("mar", "mr"),
    ("nob", "nb"),
    ("nor", "nb"),
    ("no", "nb"),
    ("nno", "nn"),
    ("nld", "nl"),
    ("dut", "nl"),
    ("pol", "pl"),
    ("por", "pt"),
    ("ron", "ro"),
    ("rum", "ro"),
    ("mo", "ro"),
    ("rus", "ru"),
    ("slk", "sk"),
    ("slo", "sk"),
    ("slv", "sl"),
    ("sqi", "sq"),
    ("alb", "sq"),
    ("srp", "sr"),
    ("swe", "sv"),
    ("tel", "te"),
    ("tha", "th"),
    ("lao", "lo"),
    ("khm", "km"),
    ("mya", "my"),
    ("bur", "my"),
    ("tur", "tr"),
    ("uig", "ug"),
    ("ukr", "uk"),
    ("vie", "vi"),
    ("zho", "zh"),
    ("chi", "zh"),
    ("cmn", "zh"),
    ("yue", "zh"),
    ("lzh", "zh"),
    ("wuu", "zh"),
];

/// Strips region and script, and maps to the two-letter code if there is one.
pub fn short_code(code: &str) -> &str {
    let primary = code.split(['-', '_']).next().unwrap_or(code);
    let alias = ALIASES.iter().find(|row| row.0.eq_ignore_ascii_case(primary));
    alias.map_or(primary, |row| row.1)
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
        assert_eq!(short_code("x"), "x");
        assert_eq!(short_code(""), "");
    }
}
