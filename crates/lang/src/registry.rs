//! The registry of languages: the folders of `languages/` at the root of the repository.
//!
//! `build.rs` embeds the files of all folders; `languages/README.md` describes them. Lookup accepts any code of
//! a language and ignores region and script, because feeds and pages declare languages in many ways.

use std::collections::HashMap;
use std::sync::{LazyLock, OnceLock};

use crate::identify::{Script, UNKNOWN};
use crate::stop::StopList;

/// The embedded files of a folder.
struct Folder {
    code: &'static str,
    language: &'static str,
    calendar: Option<&'static str>,
    stop_words: Option<&'static str>,
    rules: Option<&'static str>,
    gate: Option<&'static str>,
    confusable: Option<&'static str>,
    quotations: Option<&'static str>,
    names: Option<&'static str>,
    terms: Option<&'static str>,
    variants: Option<&'static str>,
}

include!(concat!(env!("OUT_DIR"), "/folders.rs"));

/// A language: the rows of its `language.tsv`, and the text of its other files.
#[derive(Debug)]
pub struct Language {
    /// ISO 639-1 if there is such a code, else ISO 639-3; the name of the folder.
    pub code: &'static str,
    /// The English name.
    pub name: &'static str,
    /// The name in the language itself.
    pub native_name: Option<&'static str>,
    /// Further codes of the language: ISO 639-2 and -3, and obsolete ones.
    pub other_codes: Vec<&'static str>,
    /// Codes of varieties that are treated as this language, except that its stop words are not used for them.
    pub includes: Vec<&'static str>,
    /// False if pages and imports cannot declare this language, see [`canonical`].
    pub is_declarable: bool,
    /// Scripts, the most usual one first.
    pub scripts: Vec<Script>,
    /// The source of the stop words.
    pub stop_words: StopWords,
    /// Top-level domains of countries whose press uses the language: hints for identification.
    pub hint_tlds: Vec<&'static str>,
    /// Top-level domains of countries where sites in the language are expected: a filter of feed discovery.
    pub site_tlds: Vec<&'static str>,
    /// True if the code in the path of an address names the language. Codes that are common words, such as `no`
    /// and `is`, do not.
    pub is_url_code: bool,
    /// The range of UTC offsets of its readers in hours, if they live in one region.
    pub utc_offsets: Option<(i8, i8)>,
    /// The code of the language whose tokenizer rules and models are used instead of its own.
    pub annotate_as: Option<&'static str>,
    /// The name of its sketch grammar; none for the general one.
    pub sketch: Option<&'static str>,
    /// The text of `calendar.tsv`: names of months and weekdays, labels of dates.
    pub calendar_tsv: Option<&'static str>,
    /// The text of `rules.tsv`: tokenizer rules.
    pub rules_tsv: Option<&'static str>,
    /// The text of `gate.tsv`: limits of the quality gate.
    pub gate_tsv: Option<&'static str>,
    /// The text of `confusable.tsv`: words that separate a group of confusable languages, of which this is the first.
    pub confusable_tsv: Option<&'static str>,
    /// The text of `quotations.tsv`: quotation marks and reporting verbs.
    pub quotations_tsv: Option<&'static str>,
    /// The text of `names.tsv`: words in and around names of persons, organisations and places.
    pub names_tsv: Option<&'static str>,
    /// The text of `terms.tsv`: words of no term.
    pub terms_tsv: Option<&'static str>,
    /// The text of `variants.tsv`: characters with several forms.
    pub variants_tsv: Option<&'static str>,
    pub(crate) stop_list: OnceLock<StopList>,
}

/// The source of a language's stop words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopWords {
    /// A list of jusText: one word a line, in lower case.
    JusText(&'static str),
    /// The text of `stop-words.txt`.
    Own(&'static str),
    /// The language is written without spaces, so that words cannot be looked up.
    Off,
    /// No list.
    Missing,
}

fn justext_list(name: &str) -> &'static str {
    let list = STOP_LISTS.iter().find(|(known, _)| *known == name);
    list.expect("the build script embeds every list that a folder names").1
}

impl Language {
    fn read(folder: &Folder) -> Language {
        let value = |key: &str| rows(folder.language).find(|(known, _)| *known == key).map(|(_, value)| value);
        let words =
            |key: &str| -> Vec<&'static str> { value(key).into_iter().flat_map(str::split_whitespace).collect() };
        let offsets = words("utc-offsets").iter().map(|hours| hours.parse()).collect::<Result<Vec<i8>, _>>();
        Language {
            code: folder.code,
            name: value("name").unwrap_or(folder.code),
            native_name: value("native-name"),
            other_codes: words("codes"),
            includes: words("includes"),
            is_declarable: value("declared") != Some("ignored"),
            scripts: words("script").into_iter().filter_map(Script::named).collect(),
            stop_words: match (folder.stop_words, value("stop-words")) {
                (Some(text), _) => StopWords::Own(text),
                (None, Some("off")) => StopWords::Off,
                (None, Some(name)) => StopWords::JusText(justext_list(name)),
                (None, None) => StopWords::Missing,
            },
            hint_tlds: [words("tld"), words("tld-hint")].concat(),
            site_tlds: [words("tld"), words("tld-site")].concat(),
            is_url_code: value("url-code") == Some("yes"),
            utc_offsets: match offsets.as_deref() {
                Ok([west, east]) => Some((*west, *east)),
                _ => None,
            },
            annotate_as: value("annotate-as"),
            sketch: value("sketch"),
            calendar_tsv: folder.calendar,
            rules_tsv: folder.rules,
            gate_tsv: folder.gate,
            confusable_tsv: folder.confusable,
            quotations_tsv: folder.quotations,
            names_tsv: folder.names,
            terms_tsv: folder.terms,
            variants_tsv: folder.variants,
            stop_list: OnceLock::new(),
        }
    }

    /// Returns true if `code` is the code of the language itself, and not of a variety that it includes.
    pub fn has_code(&self, code: &str) -> bool {
        let is_it = |known: &str| known.eq_ignore_ascii_case(code);
        is_it(self.code) || self.other_codes.iter().any(|other| is_it(other))
    }
}

/// The rows of a file in `languages/`: key and value, separated by the first tab. Empty lines and lines that begin with
/// `#` are skipped.
pub(crate) fn rows(text: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    text.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once('\t'))
}

struct Registry {
    languages: Vec<Language>,
    /// By any code.
    by_code: HashMap<&'static str, usize>,
}

static REGISTRY: LazyLock<Registry> = LazyLock::new(|| {
    let languages: Vec<Language> = FOLDERS.iter().map(Language::read).collect();
    let mut by_code = HashMap::new();
    for (index, language) in languages.iter().enumerate() {
        by_code.insert(language.code, index);
        by_code.extend(language.other_codes.iter().chain(&language.includes).map(|code| (*code, index)));
    }
    Registry { languages, by_code }
});

/// All languages, sorted by code.
pub fn languages() -> &'static [Language] {
    &REGISTRY.languages
}

/// The language of a code or tag. Region and script are ignored (`de-AT`, `pt_BR`, `zh-Hant`).
///
/// ```
/// let german = tidings_lang::language("ger").expect("German has a folder");
/// assert_eq!((german.code, german.name, german.native_name), ("de", "German", Some("Deutsch")));
/// ```
pub fn language(tag: &str) -> Option<&'static Language> {
    let code = primary(tag).to_ascii_lowercase();
    REGISTRY.by_code.get(code.as_str()).map(|index| &REGISTRY.languages[*index])
}

/// The part of a language tag before region and script.
pub(crate) fn primary(tag: &str) -> &str {
    tag.split(['-', '_']).next().unwrap_or_default().trim()
}

/// The code that documents carry for a language, from any of its codes; none if the language is not known or cannot
/// be declared.
pub fn canonical(tag: &str) -> Option<&'static str> {
    if primary(tag).eq_ignore_ascii_case(UNKNOWN) {
        return Some(UNKNOWN);
    }
    language(tag).filter(|language| language.is_declarable).map(|language| language.code)
}

/// The English name of a language that documents can carry, by any of its codes.
pub fn language_name(tag: &str) -> Option<&'static str> {
    match canonical(tag)? {
        UNKNOWN => Some("unknown"),
        code => language(code).map(|language| language.name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_identifiable_language_has_a_folder() {
        for code in crate::identifiable() {
            assert_eq!(canonical(code), Some(code), "{code}");
        }
        assert!(crate::identifiable().count() >= 150, "{}", crate::identifiable().count());
    }

    #[test]
    fn all_codes_of_a_language_give_its_name() {
        for code in ["nb", "no", "NOB", "nor", "no-NO", "nb_NO"] {
            assert_eq!(language_name(code), Some("Norwegian Bokmål"));
        }
        assert_eq!(canonical("zh-Hant-TW"), Some("zh"));
        assert_eq!((canonical(""), canonical("-"), canonical("xx")), (None, None, None));
        assert_eq!((canonical("und"), language_name("und")), (Some("und"), Some("unknown")));
    }

    #[test]
    fn languages_that_cannot_be_declared_are_found_but_not_canonical() {
        assert_eq!(language("ast").map(|language| language.name), Some("Asturian"));
        assert_eq!((canonical("ast"), language_name("ast")), (None, None));
    }

    #[test]
    fn included_varieties_do_not_count_as_codes_of_the_language() {
        let persian = language("prs").expect("Dari is treated as Persian");
        assert_eq!(persian.code, "fa");
        assert!(persian.has_code("FAS") && !persian.has_code("prs"));
    }
}
