//! Codes and names of languages, and where they are spoken.

/// Code, English name, and the other codes of the same language: ISO 639-2 and -3, and obsolete ones.
#[rustfmt::skip]
const NAMES: &[(&str, &str, &str)] = &[
    ("aa", "Afar", "aar"), ("ab", "Abkhaz", "abk"), ("ace", "Acehnese", ""), ("af", "Afrikaans", "afr"),
    ("ak", "Akan", "aka tw twi fat"), ("am", "Amharic", "amh"), ("an", "Aragonese", "arg"),
    ("ar", "Arabic", "ara arb"), ("ary", "Moroccan Arabic", ""), ("arz", "Egyptian Arabic", ""),
    ("as", "Assamese", "asm"), ("ay", "Aymara", "aym"), ("az", "Azerbaijani", "aze azj"),
    ("ba", "Bashkir", "bak"), ("bcl", "Central Bikol", ""), ("be", "Belarusian", "bel"),
    ("bg", "Bulgarian", "bul"), ("bho", "Bhojpuri", "bh bih"), ("bi", "Bislama", "bis"),
    ("bn", "Bengali", "ben"), ("bo", "Tibetan", "bod tib"), ("br", "Breton", "bre"), ("bs", "Bosnian", "bos"),
    ("ca", "Catalan", "cat"), ("ceb", "Cebuano", ""), ("chr", "Cherokee", ""), ("ckb", "Central Kurdish", ""),
    ("co", "Corsican", "cos"), ("crh", "Crimean Tatar", ""), ("crs", "Seychellois Creole", ""),
    ("cs", "Czech", "ces cze"), ("cy", "Welsh", "cym wel"), ("da", "Danish", "dan"), ("de", "German", "deu ger"),
    ("dv", "Dhivehi", "div"), ("dz", "Dzongkha", "dzo"), ("el", "Greek", "ell gre"), ("en", "English", "eng"),
    ("eo", "Esperanto", "epo"), ("es", "Spanish", "spa"), ("et", "Estonian", "est ekk"), ("eu", "Basque", "eus baq"),
    ("ext", "Extremaduran", ""), ("fa", "Persian", "fas per pes prs"), ("ff", "Fula", "ful fuv fuc"),
    ("fi", "Finnish", "fin"), ("fj", "Fijian", "fij"), ("fo", "Faroese", "fao"), ("fr", "French", "fra fre"),
    ("fy", "West Frisian", "fry"), ("ga", "Irish", "gle"), ("gcf", "Antillean Creole", ""),
    ("gcr", "Guianese Creole", ""), ("gd", "Scottish Gaelic", "gla"), ("gl", "Galician", "glg"),
    ("gn", "Guarani", "grn gug"), ("gom", "Goan Konkani", "kok"), ("gu", "Gujarati", "guj"), ("guw", "Gun", ""),
    ("gv", "Manx", "glv"), ("ha", "Hausa", "hau"), ("haw", "Hawaiian", ""), ("he", "Hebrew", "heb iw"),
    ("hi", "Hindi", "hin"), ("hmn", "Hmong", "mww blu"), ("hr", "Croatian", "hrv"), ("ht", "Haitian Creole", "hat"),
    ("hu", "Hungarian", "hun"), ("hy", "Armenian", "hye arm"), ("ia", "Interlingua", "ina"),
    ("id", "Indonesian", "ind in"), ("ie", "Interlingue", "ile"), ("ig", "Igbo", "ibo"), ("ik", "Inupiaq", "ipk"),
    ("is", "Icelandic", "isl ice"), ("it", "Italian", "ita"), ("iu", "Inuktitut", "iku"), ("ja", "Japanese", "jpn"),
    ("jv", "Javanese", "jav jw"), ("ka", "Georgian", "kat geo"), ("kab", "Kabyle", ""), ("kha", "Khasi", ""),
    ("ki", "Kikuyu", "kik"), ("kk", "Kazakh", "kaz"), ("kl", "Greenlandic", "kal"), ("km", "Khmer", "khm"),
    ("kn", "Kannada", "kan"), ("ko", "Korean", "kor"), ("ks", "Kashmiri", "kas"), ("ku", "Kurdish", "kur kmr"),
    ("ky", "Kyrgyz", "kir"), ("la", "Latin", "lat"), ("lb", "Luxembourgish", "ltz"), ("lg", "Ganda", "lug"),
    ("lif", "Limbu", ""), ("lij", "Ligurian", ""), ("ln", "Lingala", "lin"), ("lo", "Lao", "lao"),
    ("lt", "Lithuanian", "lit"), ("ltg", "Latgalian", ""), ("lv", "Latvian", "lav lvs"),
    ("mfe", "Mauritian Creole", ""), ("mg", "Malagasy", "mlg plt"), ("mi", "Maori", "mri mao"),
    ("mk", "Macedonian", "mkd mac"), ("ml", "Malayalam", "mal"), ("mn", "Mongolian", "mon khk"),
    ("mr", "Marathi", "mar"), ("ms", "Malay", "msa may zsm"), ("mt", "Maltese", "mlt"), ("my", "Burmese", "mya bur"),
    ("na", "Nauruan", "nau"), ("nb", "Norwegian Bokmål", "nob no nor"), ("ne", "Nepali", "nep npi"),
    ("nl", "Dutch", "nld dut"), ("nn", "Norwegian Nynorsk", "nno"), ("nr", "Southern Ndebele", "nbl"),
    ("nso", "Northern Sotho", ""), ("ny", "Chichewa", "nya"), ("oc", "Occitan", "oci"), ("om", "Oromo", "orm gaz"),
    ("or", "Odia", "ori ory"), ("os", "Ossetian", "oss"), ("pa", "Punjabi", "pan"), ("pcm", "Nigerian Pidgin", ""),
    ("pl", "Polish", "pol"), ("ps", "Pashto", "pus pbt"), ("pt", "Portuguese", "por"), ("qu", "Quechua", "que quz"),
    ("rm", "Romansh", "roh"), ("rn", "Kirundi", "run"), ("ro", "Romanian", "ron rum mo"), ("ru", "Russian", "rus"),
    ("rw", "Kinyarwanda", "kin"), ("sa", "Sanskrit", "san"), ("sco", "Scots", ""), ("sd", "Sindhi", "snd"),
    ("se", "Northern Sami", "sme"), ("sg", "Sango", "sag"), ("si", "Sinhala", "sin"), ("sk", "Slovak", "slk slo"),
    ("sl", "Slovenian", "slv"), ("sm", "Samoan", "smo"), ("sn", "Shona", "sna"), ("so", "Somali", "som"),
    ("sq", "Albanian", "sqi alb als"), ("sr", "Serbian", "srp"), ("ss", "Swazi", "ssw"), ("st", "Southern Sotho", "sot"),
    ("su", "Sundanese", "sun"), ("sv", "Swedish", "swe"), ("sw", "Swahili", "swa swh"), ("syr", "Syriac", ""),
    ("ta", "Tamil", "tam"), ("te", "Telugu", "tel"), ("tg", "Tajik", "tgk"), ("th", "Thai", "tha"),
    ("ti", "Tigrinya", "tir"), ("tk", "Turkmen", "tuk"), ("tl", "Tagalog", "tgl fil"), ("tn", "Tswana", "tsn"),
    ("to", "Tongan", "ton"), ("tr", "Turkish", "tur"), ("ts", "Tsonga", "tso"), ("tt", "Tatar", "tat"),
    ("ug", "Uyghur", "uig"), ("uk", "Ukrainian", "ukr"), ("ur", "Urdu", "urd"), ("uz", "Uzbek", "uzb uzn"),
    ("ve", "Venda", "ven"), ("vec", "Venetian", ""), ("vi", "Vietnamese", "vie"), ("vo", "Volapük", "vol"),
    ("wa", "Walloon", "wln"), ("war", "Waray", ""), ("wo", "Wolof", "wol"), ("xh", "Xhosa", "xho"),
    ("yi", "Yiddish", "yid ydd"), ("yo", "Yoruba", "yor"), ("yue", "Cantonese", ""), ("za", "Zhuang", "zha"),
    ("zh", "Chinese", "zho chi cmn"), ("zu", "Zulu", "zul"),
    ("und", "unknown", ""),
];

/// Languages of the press under a country's top-level domain. Domains that the world uses for
/// something else (`co`, `io`, `tv`, `me`, `to`, `ai`) say nothing.
#[rustfmt::skip]
const DOMAINS: &[(&str, &str)] = &[
    ("ad", "ca"), ("ae", "ar"), ("af", "fa ps"), ("al", "sq"), ("am", "hy"), ("ar", "es"), ("at", "de"), ("au", "en"),
    ("az", "az"), ("ba", "bs hr sr"), ("bd", "bn"), ("be", "nl fr"), ("bg", "bg"), ("bo", "es"), ("br", "pt"),
    ("bt", "dz"), ("by", "be ru"), ("cat", "ca"), ("ch", "de fr it rm"), ("cl", "es"), ("cn", "zh"), ("cr", "es"),
    ("cu", "es"), ("cy", "el"), ("cz", "cs"), ("de", "de"), ("dk", "da"), ("do", "es"), ("dz", "ar fr"), ("ec", "es"),
    ("ee", "et"), ("eg", "ar"), ("es", "es ca gl eu"), ("et", "am om ti"), ("eus", "eu"), ("fi", "fi sv"), ("fo", "fo"),
    ("fr", "fr"), ("gal", "gl"), ("ge", "ka"), ("gl", "kl"), ("gr", "el"), ("gt", "es"), ("hk", "zh yue"), ("hn", "es"),
    ("hr", "hr"), ("ht", "ht fr"), ("hu", "hu"), ("id", "id"), ("ie", "en ga"), ("il", "he"), ("in", "hi en"),
    ("iq", "ar ckb"), ("ir", "fa"), ("is", "is"), ("it", "it"), ("jo", "ar"), ("jp", "ja"), ("ke", "sw en"),
    ("kg", "ky ru"), ("kh", "km"), ("kr", "ko"), ("kw", "ar"), ("kz", "kk ru"), ("la", "lo"), ("lb", "ar"), ("lk", "si ta"),
    ("lt", "lt"), ("lu", "lb fr de"), ("lv", "lv ru"), ("ma", "ar fr"), ("md", "ro"), ("mg", "mg"), ("mk", "mk sq"),
    ("mm", "my"), ("mn", "mn"), ("mo", "zh"), ("mt", "mt"), ("mv", "dv"), ("mx", "es"), ("my", "ms"), ("mz", "pt"),
    ("ni", "es"), ("nl", "nl fy"), ("no", "nb nn"), ("np", "ne"), ("nz", "en mi"), ("pa", "es"), ("pe", "es"),
    ("ph", "tl en"), ("pk", "ur"), ("pl", "pl"), ("pt", "pt"), ("py", "es gn"), ("qa", "ar"), ("ro", "ro"), ("rs", "sr"),
    ("ru", "ru tt ba"), ("rw", "rw"), ("sa", "ar"), ("se", "sv"), ("si", "sl"), ("sk", "sk"), ("so", "so"), ("sv", "es"),
    ("sy", "ar"), ("th", "th"), ("tj", "tg"), ("tm", "tk"), ("tn", "ar fr"), ("tr", "tr"), ("tw", "zh"), ("tz", "sw"),
    ("ua", "uk ru"), ("uk", "en cy gd"), ("us", "en"), ("uy", "es"), ("uz", "uz"), ("va", "it la"), ("ve", "es"),
    ("vn", "vi"), ("ye", "ar"), ("za", "en af zu xh"), ("рф", "ru"), ("xn--p1ai", "ru"),
];

/// The English name of a language by its code.
pub fn language_name(code: &str) -> Option<&'static str> {
    let code = canonical(code)?;
    NAMES.iter().find(|(known, _, _)| *known == code).map(|(_, name, _)| *name)
}

/// The code we use for a language, from any of its codes; region and script do not count.
pub fn canonical(code: &str) -> Option<&'static str> {
    let code = code.split(['-', '_']).next().unwrap_or_default().trim().to_ascii_lowercase();
    let is_it =
        |(known, _, others): &&(&str, &str, &str)| *known == code || others.split(' ').any(|other| other == code);
    NAMES.iter().find(is_it).filter(|_| !code.is_empty()).map(|(known, _, _)| *known)
}

/// The other codes of one of our languages, parted by spaces: ISO 639-3 and -2, and obsolete ones.
pub fn other_codes(code: &str) -> &'static str {
    NAMES.iter().find(|(known, _, _)| *known == code).map_or("", |(_, _, others)| *others)
}

/// The languages of the press under a top-level domain, parted by spaces; none if it says nothing.
pub(crate) fn spoken_under(tld: &str) -> &'static str {
    let tld = tld.trim_start_matches('.').to_ascii_lowercase();
    DOMAINS.iter().find(|(known, _)| *known == tld).map_or("", |(_, languages)| *languages)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_language_we_can_answer_with_has_a_name() {
        for code in crate::identifiable() {
            assert_eq!(canonical(code), Some(code), "{code}");
        }
        assert!(crate::identifiable().count() >= 150, "{}", crate::identifiable().count());
    }

    #[test]
    fn a_language_has_many_codes_and_one_name() {
        for code in ["nb", "no", "NOB", "nor", "no-NO", "nb_NO"] {
            assert_eq!(language_name(code), Some("Norwegian Bokmål"));
        }
        assert_eq!(canonical("zh-Hant-TW"), Some("zh"));
        assert_eq!((canonical(""), canonical("-"), canonical("xx")), (None, None, None));
    }

    #[test]
    fn domains_name_languages_that_exist() {
        for (_, languages) in DOMAINS {
            assert!(languages.split(' ').all(|code| canonical(code) == Some(code)), "{languages}");
        }
    }
}
