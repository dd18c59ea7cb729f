//! Stop words: the frequent small words by which running text is told from menus.
//!
//! The lists are those that jusText is published with, a few thousand of the most frequent words of
//! a Wikipedia each, because its thresholds mean nothing with any others. They come from the crate
//! `justext` (BSD-2-Clause), which embeds them; its extractor is not called and is dropped
//! by the linker. That costs some twenty seconds of a clean build and about 2 MB of program, and
//! spares us a hundred files of somebody else's data. Who has better words brings them in a
//! file: [`StopList::from_lines`].

use std::collections::HashSet;
use std::hash::BuildHasherDefault;
use std::sync::OnceLock;

use xxhash_rust::xxh3::Xxh3Default;

/// The name of a list, and the codes of its language in ISO 639-1, -3 and as they were before.
///
/// Norwegian without further notice is Bokmål. Lists of written standards that no code tells apart
/// from their sister (Belarusian before 1933, simple English) are left out.
const LISTS: &[(&str, &str)] = &[
    ("Afrikaans", "af afr"),
    ("Albanian", "sq sqi alb als"),
    ("Arabic", "ar ara arb"),
    ("Aragonese", "an arg"),
    ("Armenian", "hy hye arm"),
    ("Aromanian", "rup"),
    ("Asturian", "ast"),
    ("Azerbaijani", "az aze azj"),
    ("Basque", "eu eus baq"),
    ("Belarusian", "be bel"),
    ("Bengali", "bn ben"),
    ("Bishnupriya_Manipuri", "bpy"),
    ("Bosnian", "bs bos"),
    ("Breton", "br bre"),
    ("Bulgarian", "bg bul"),
    ("Catalan", "ca cat"),
    ("Cebuano", "ceb"),
    ("Chuvash", "cv chv"),
    ("Croatian", "hr hrv"),
    ("Czech", "cs ces cze"),
    ("Danish", "da dan"),
    ("Dutch", "nl nld dut"),
    ("English", "en eng"),
    ("Esperanto", "eo epo"),
    ("Estonian", "et est ekk"),
    ("Finnish", "fi fin"),
    ("French", "fr fra fre"),
    ("Galician", "gl glg"),
    ("Georgian", "ka kat geo"),
    ("German", "de deu ger"),
    ("Greek", "el ell gre"),
    ("Gujarati", "gu guj"),
    ("Haitian", "ht hat"),
    ("Hebrew", "he heb iw"),
    ("Hindi", "hi hin"),
    ("Hungarian", "hu hun"),
    ("Icelandic", "is isl ice"),
    ("Ido", "io ido"),
    ("Igbo", "ig ibo"),
    ("Indonesian", "id ind in"),
    ("Irish", "ga gle"),
    ("Italian", "it ita"),
    ("Javanese", "jv jav jw"),
    ("Kannada", "kn kan"),
    ("Kazakh", "kk kaz"),
    ("Korean", "ko kor"),
    ("Kurdish", "ku kur kmr"),
    ("Kyrgyz", "ky kir"),
    ("Latin", "la lat"),
    ("Latvian", "lv lav lvs"),
    ("Lithuanian", "lt lit"),
    ("Lombard", "lmo"),
    ("Low_Saxon", "nds"),
    ("Luxembourgish", "lb ltz"),
    ("Macedonian", "mk mkd mac"),
    ("Malay", "ms msa may zsm"),
    ("Malayalam", "ml mal"),
    ("Maltese", "mt mlt"),
    ("Marathi", "mr mar"),
    ("Neapolitan", "nap"),
    ("Nepali", "ne nep npi"),
    ("Newar", "new"),
    ("Norwegian_Bokmal", "nb nob no nor"),
    ("Norwegian_Nynorsk", "nn nno"),
    ("Occitan", "oc oci"),
    ("Persian", "fa fas per pes"),
    ("Piedmontese", "pms"),
    ("Polish", "pl pol"),
    ("Portuguese", "pt por"),
    ("Quechua", "qu que"),
    ("Romanian", "ro ron rum mo"),
    ("Russian", "ru rus"),
    ("Samogitian", "sgs"),
    ("Serbian", "sr srp"),
    ("Serbo_Croatian", "sh hbs"),
    ("Sicilian", "scn"),
    ("Slovak", "sk slk slo"),
    ("Slovenian", "sl slv"),
    ("Spanish", "es spa"),
    ("Sundanese", "su sun"),
    ("Swahili", "sw swa swh"),
    ("Swedish", "sv swe"),
    ("Tagalog", "tl tgl fil"),
    ("Tamil", "ta tam"),
    ("Telugu", "te tel"),
    ("Turkish", "tr tur"),
    ("Turkmen", "tk tuk"),
    ("Ukrainian", "uk ukr"),
    ("Urdu", "ur urd"),
    ("Uzbek", "uz uzb uzn"),
    ("Vietnamese", "vi vie"),
    ("Volapuk", "vo vol"),
    ("Walloon", "wa wln"),
    ("Waray_Waray", "war"),
    ("Welsh", "cy cym wel"),
    ("West_Frisian", "fy fry"),
    ("Western_Panjabi", "pnb"),
    ("Yoruba", "yo yor"),
];

/// Languages written without spaces, where words cannot be looked up before they are found:
/// Chinese, Japanese, Thai, Lao, Khmer, Burmese.
const SPACELESS: &str = "zh zho chi cmn yue wuu ja jpn th tha lo lao km khm my mya bur";

// The words that are looked up come from the web, but the words of a list do not: nobody can make
// them collide, and a fast hash is safe.
type Words = HashSet<Box<str>, BuildHasherDefault<Xxh3Default>>;

/// The stop words of a language.
#[derive(Debug, Default)]
pub struct StopList {
    /// None where words are not parted by spaces.
    words: Option<Words>,
}

impl StopList {
    /// Reads a list of one word a line; empty lines and lines that begin with `#` do not count.
    pub fn from_lines(text: &str) -> StopList {
        let words = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        StopList::of(words.map(str::to_lowercase))
    }

    /// The list for text without spaces, which holds no words and says so.
    pub const fn off() -> StopList {
        StopList { words: None }
    }

    fn of(words: impl Iterator<Item = String>) -> StopList {
        StopList { words: Some(words.map(String::into_boxed_str).collect()) }
    }

    /// Whether stop words say nothing about this language.
    pub fn is_off(&self) -> bool {
        self.words.is_none()
    }

    /// The number of words.
    pub fn len(&self) -> usize {
        self.words.as_ref().map_or(0, HashSet::len)
    }

    /// Whether it holds no word.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The words in lower case, in no order.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.words.iter().flatten().map(|word| &**word)
    }

    /// Whether the word, in whatever case, is on the list.
    pub fn contains(&self, word: &str) -> bool {
        let Some(words) = &self.words else { return false };
        if word.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase()) {
            return words.contains(word);
        }
        words.contains(word.to_lowercase().as_str())
    }
}

/// The stop words for a language code, of which only the part before the region counts (`de-AT`,
/// `pt_BR`, `zh-Hant`). Chinese and others written without spaces have a list that is off.
pub fn stop_list(code: &str) -> Option<&'static StopList> {
    static OFF: StopList = StopList::off();
    static CELLS: [OnceLock<StopList>; LISTS.len()] = [const { OnceLock::new() }; LISTS.len()];

    let code = code.split(['-', '_']).next().unwrap_or_default().trim().to_ascii_lowercase();
    let among = |codes: &str| codes.split(' ').any(|known| known == code);
    if among(SPACELESS) {
        return Some(&OFF);
    }
    let place = LISTS.iter().position(|(_, codes)| among(codes))?;
    Some(CELLS[place].get_or_init(|| {
        let words = justext::get_stoplist(LISTS[place].0);
        StopList::of(words.expect("the table names lists that exist, as a test makes sure").into_iter())
    }))
}

/// The languages that have a list, by their first code, those without spaces included.
pub fn languages() -> impl Iterator<Item = &'static str> {
    let spaceless = SPACELESS.split(' ').filter(|code| code.len() == 2);
    LISTS.iter().filter_map(|(_, codes)| codes.split(' ').next()).chain(spaceless)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_language_of_the_table_has_a_list() {
        for code in languages() {
            let list = stop_list(code).expect(code);
            assert!(list.is_off() || list.len() >= 10, "{code} has {} words", list.len());
        }
        assert!(languages().count() > 100);
    }

    #[test]
    fn no_code_means_two_languages() {
        let mut codes: Vec<&str> = LISTS.iter().flat_map(|(_, codes)| codes.split(' ')).collect();
        codes.extend(SPACELESS.split(' '));
        let count = codes.len();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), count);
    }

    #[test]
    fn a_region_or_a_script_does_not_hide_the_language() {
        assert!(std::ptr::eq(stop_list("pt_BR").unwrap(), stop_list("por").unwrap()));
        assert!(stop_list("zh-Hant-TW").unwrap().is_off());
        assert!(stop_list("tlh").is_none());
        assert!(stop_list("").is_none());
    }

    #[test]
    fn words_are_found_in_any_case() {
        let french = stop_list("FR").unwrap();
        assert!(french.contains("À") && french.contains("les") && !french.contains("pamplemousse"));
    }

    #[test]
    fn a_list_of_ones_own_is_read_from_lines() {
        let own = StopList::from_lines("# Klingon, for a start\nghaH\r\n\n'ej \n");
        assert_eq!(own.len(), 2);
        assert!(own.contains("GHAH") && own.contains("'ej") && !own.is_off());
    }
}
