//! Words of dates, from `languages/CODE/calendar.tsv`: months, weekdays, labels such as *published*.
//!
//! A row of a month has its forms: nominative, genitive, irregular abbreviations. Prefixes of at least three
//! letters are accepted too if all languages that have them mean the same month.

use std::collections::{HashMap, HashSet};
use std::hash::BuildHasherDefault;
use std::sync::LazyLock;

use xxhash_rust::xxh3::Xxh3Default;

use crate::registry::{languages, rows};

/// A month of one of the two calendars whose months have names of their own on the web.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Month {
    /// January is 1.
    Gregorian(i8),
    /// Farvardin is 1; Iranian newspapers date by it.
    Persian(i8),
}

/// Keys of months in `calendar.tsv`.
const GREGORIAN: &str = "january february march april may june july august september october november december";
const PERSIAN: &str = "farvardin ordibehesht khordad tir mordad shahrivar mehr aban azar dey bahman esfand";
/// Keys of weekdays in `calendar.tsv`.
const WEEKDAYS: &str = "monday tuesday wednesday thursday friday saturday sunday";
/// The suffix of keys whose forms are prefixes that count only in text of the language itself.
const OWN: &str = "-own";

impl Month {
    fn of_key(key: &str) -> Option<Month> {
        let number = |names: &str| names.split(' ').zip(1..).find(|(name, _)| *name == key).map(|(_, number)| number);
        number(GREGORIAN).map(Month::Gregorian).or_else(|| number(PERSIAN).map(Month::Persian))
    }
}

/// The month that a word in lower case names. `language` is the code of the text's language, if known: Croatian October
/// is Polish and Czech November.
pub fn month(word: &str, language: Option<&str>) -> Option<Month> {
    if word.len() > MAX_FORM_BYTES {
        return None;
    }
    let own = |(code, prefix, month): &(&str, &str, Month)| {
        (language == Some(*code) && word.starts_with(prefix)).then_some(*month)
    };
    CALENDAR.own.iter().find_map(own).or_else(|| CALENDAR.months.get(word).copied().flatten())
}

/// Returns true for common names of weekdays, in lower case.
pub fn is_weekday(word: &str) -> bool {
    CALENDAR.weekdays.contains(word)
}

/// Returns true if a word in lower case is the name of a month or a weekday in a language. Abbreviations of fewer than four
/// letters are other words too (`so`, `set`, `mar`) and do not count.
pub fn is_date_name(word: &str, language: &str) -> bool {
    CALENDAR.names.get(word).is_some_and(|languages| languages.contains(&language))
}

/// The words of a key of `calendar.tsv`, of all languages: `published` and `modified` label a date, as
/// `published-within` and `modified-within` do inside a word, and `unrelated` labels other dates.
pub fn calendar_words(key: &str) -> impl Iterator<Item = &'static str> {
    cells().filter(move |(_, known, _)| *known == key).flat_map(|(_, _, words)| words)
}

/// No form has more bytes.
const MAX_FORM_BYTES: usize = 48;
/// Shorter forms of months and weekdays are abbreviations, unless they are the first of a month.
const MIN_NAME_CHARS: usize = 4;

// The keys do not come from outside, so a hash without protection against collisions is safe.
type FastHash = BuildHasherDefault<Xxh3Default>;

struct Calendar {
    /// Forms and prefixes; none if a prefix is ambiguous.
    months: HashMap<String, Option<Month>, FastHash>,
    /// Prefixes that count in one language only.
    own: Vec<(&'static str, &'static str, Month)>,
    weekdays: HashSet<&'static str, FastHash>,
    /// Names of months and weekdays, with the languages that have them.
    names: HashMap<String, Vec<&'static str>, FastHash>,
}

static CALENDAR: LazyLock<Calendar> = LazyLock::new(|| {
    let mut calendar = Calendar {
        months: HashMap::default(),
        own: Vec::new(),
        weekdays: HashSet::default(),
        names: HashMap::default(),
    };
    let mut prefixes: HashMap<String, Option<Month>> = HashMap::new();
    for (code, key, forms) in cells() {
        let is_weekday = WEEKDAYS.split(' ').any(|weekday| weekday == key);
        let forms: Vec<&'static str> = forms.collect();
        if is_weekday || Month::of_key(key).is_some() {
            let is_name = |(number, form): &(usize, &&str)| {
                form.chars().count() >= MIN_NAME_CHARS || (*number == 0 && !is_weekday)
            };
            for (_, form) in forms.iter().enumerate().filter(is_name) {
                calendar.names.entry(form.to_lowercase()).or_default().push(code);
            }
        }
        if is_weekday {
            calendar.weekdays.extend(forms);
            continue;
        }
        let is_own = key.ends_with(OWN);
        let Some(month) = Month::of_key(key.trim_end_matches(OWN)) else { continue };
        if is_own {
            calendar.own.extend(forms.into_iter().map(|form| (code, form, month)));
            continue;
        }
        for form in forms.into_iter().map(str::to_lowercase) {
            for (end, _) in form.char_indices().skip(3) {
                let known = prefixes.entry(form[..end].to_owned()).or_insert(Some(month));
                *known = known.filter(|known| *known == month);
            }
            calendar.months.insert(form, Some(month));
        }
    }
    for (prefix, month) in prefixes {
        calendar.months.entry(prefix).or_insert(month);
    }
    calendar
});

/// The rows of all calendars: language, key, forms. A `-` stands for a month without a form of one word.
fn cells() -> impl Iterator<Item = (&'static str, &'static str, impl Iterator<Item = &'static str>)> {
    let files = languages().iter().filter_map(|language| Some((language.code, language.calendar_tsv?)));
    files.flat_map(|(code, text)| {
        rows(text).map(move |(key, forms)| (code, key, forms.split_whitespace().filter(|form| *form != "-")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_are_known_in_fifty_languages() {
        assert!(languages().iter().filter(|language| language.calendar_tsv.is_some()).count() >= 50);
        for (word, number) in [("märz", 3), ("května", 5), ("août", 8), ("сентября", 9), ("μαΐου", 5), ("ธ.ค", 12)]
        {
            assert_eq!(month(word, None), Some(Month::Gregorian(number)), "{word}");
        }
        assert_eq!(month("مرداد", None), Some(Month::Persian(5)));
        assert_eq!(month("category", None), None);
    }

    #[test]
    fn english_abbreviations_win_over_ambiguous_prefixes() {
        for (word, number) in [("mar", 3), ("may", 5), ("jun", 6), ("sept", 9), ("dec", 12)] {
            assert_eq!(month(word, None), Some(Month::Gregorian(number)), "{word}");
        }
    }

    #[test]
    fn names_of_months_and_weekdays_belong_to_their_language() {
        for (word, language) in [("march", "en"), ("may", "en"), ("mai", "de"), ("montag", "de"), ("miércoles", "es")]
        {
            assert!(is_date_name(word, language), "{word}");
        }
        // Abbreviations and the names of other languages are other words.
        for (word, language) in
            [("so", "de"), ("set", "pt"), ("mar", "es"), ("sun", "en"), ("mayo", "en"), ("ago", "es")]
        {
            assert!(!is_date_name(word, language), "{word}");
        }
    }

    #[test]
    fn listopad_is_october_in_croatian_only() {
        assert_eq!(month("listopada", Some("hr")), Some(Month::Gregorian(10)));
        assert_eq!(month("listopada", None), Some(Month::Gregorian(11)));
    }

    #[test]
    fn no_form_means_two_months() {
        let mut forms: HashMap<String, Month> = HashMap::new();
        for (code, key, words) in cells() {
            let Some(month) = Month::of_key(key) else { continue };
            for word in words.map(str::to_lowercase) {
                assert!(word.len() <= MAX_FORM_BYTES, "{code}: {word}");
                assert_eq!(*forms.entry(word.clone()).or_insert(month), month, "{code}: {word}");
            }
        }
    }

    #[test]
    fn weekdays_are_found_in_several_languages() {
        assert!(["mon", "donnerstag", "mardi", "miércoles", "вс"].into_iter().all(is_weekday));
        assert!(!is_weekday("january"));
    }
}
