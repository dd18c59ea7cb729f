//! New words: first seen in the window, on several independent sites, and made of letters.

use tidings_model::Day;

/// The parameters of the search for new words.
#[derive(Debug, Clone, PartialEq)]
pub struct NewWordConfig {
    /// The first day of the window, in days since any fixed day; a word seen before it is not new.
    pub window_start: i32,
    /// The last collected day.
    pub today: i32,
    /// The minimum number of sites with different owners.
    pub min_sites: u32,
    /// The minimum number of days.
    pub min_days: usize,
    /// The minimum number of documents.
    pub min_documents: u32,
    /// True to include names.
    pub names: bool,
    /// True to include words of the background lexicon.
    pub known: bool,
    /// True to include numbers, dates and function words.
    pub all_words: bool,
    /// The number of days after which a word counts as lasting.
    pub lasting_days: i32,
    /// The accepted share of words that are first seen in the window by chance.
    pub false_discovery_rate: f64,
}

impl Default for NewWordConfig {
    fn default() -> Self {
        NewWordConfig {
            window_start: i32::MIN,
            today: i32::MAX,
            min_sites: 3,
            min_days: 3,
            min_documents: 5,
            names: false,
            known: false,
            all_words: false,
            lasting_days: 56,
            false_discovery_rate: 0.05,
        }
    }
}

/// The days in which words count as new.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewWordWindow {
    /// The first day of the window.
    pub start: Day,
    /// The last collected day.
    pub end: Day,
}

/// The reason why new words cannot be determined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoNewWords {
    /// No documents.
    #[error("no documents match")]
    NoDocuments,
    /// The window starts with the collection, or before it.
    #[error("nothing was collected before {}, so everything would be new", .start.date())]
    NothingBefore {
        /// The first day of the window.
        start: Day,
        /// The first collected day.
        first: Day,
    },
}

impl NewWordConfig {
    /// The minimum number of sites in a corpus with these sites of different owners: in a corpus of one or two sites one is
    /// enough, or no word could be new.
    pub fn min_sites_of(owners: usize) -> u32 {
        match owners {
            0..=2 => 1,
            3..=5 => 2,
            _ => 3,
        }
    }
}

impl NewWordWindow {
    /// The window from a day on, by default over the last quarter of the collected days.
    pub fn choose(collected: Option<(Day, Day)>, since: Option<Day>) -> Result<NewWordWindow, NoNewWords> {
        let (first, last) = collected.ok_or(NoNewWords::NoDocuments)?;
        let start = since.unwrap_or(Day(last.0 - (last.0 - first.0) / 4));
        match start > first {
            true => Ok(NewWordWindow { start, end: last }),
            false => Err(NoNewWords::NothingBefore { start, first }),
        }
    }
}

/// The occurrences of a word.
#[derive(Debug, Clone, Copy)]
pub struct Sighting<'a> {
    /// The word.
    pub value: &'a str,
    /// Day, hits and documents of all days, ascending.
    pub days: &'a [(i32, u32, u32)],
    /// The number of sites; those of one owner count once.
    pub sites: u32,
    /// True if it is a name.
    pub name: bool,
    /// True if the background lexicon has the word.
    pub known: bool,
    /// True if it is a function word, a number or a date.
    pub function: bool,
    /// The probability that all its documents are in the window by chance, from [`super::NoveltyTest`].
    pub p: f64,
}

choices! {
    /// Whether a new word stayed.
    pub enum Persistence {
        /// It came, and has hardly been seen since.
        Burst = "burst",
        /// It is still in use, long after it came.
        Lasting = "lasting",
        /// It came too recently to say.
        Open = "open",
    }
}

/// The verdict on a candidate: new, or the rule that rejected it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// A new word.
    New {
        /// The day it was first seen.
        first_day: i32,
        /// Its persistence.
        persistence: Persistence,
    },
    /// Seen before the window, or in the background lexicon.
    Known,
    /// Not a word: a number, an address, a code.
    Shape,
    /// A function word or a date.
    Function,
    /// A name.
    Name,
    /// On too few sites or days, or in too few documents.
    Rare,
}

/// Classifies a candidate. The cheapest rule comes first.
pub fn judge(sighting: &Sighting<'_>, config: &NewWordConfig) -> Verdict {
    let Some(&(first_day, ..)) = sighting.days.first() else { return Verdict::Rare };
    let documents: u64 = sighting.days.iter().map(|day| u64::from(day.2)).sum();
    if first_day < config.window_start {
        Verdict::Known
    } else if sighting.sites < config.min_sites
        || sighting.days.len() < config.min_days
        || documents < u64::from(config.min_documents)
    {
        Verdict::Rare
    } else if !config.all_words && !is_word(sighting.value) {
        Verdict::Shape
    } else if !config.all_words && sighting.function {
        Verdict::Function
    } else if !config.known && sighting.known {
        Verdict::Known
    } else if !config.names && sighting.name {
        Verdict::Name
    } else {
        Verdict::New { first_day, persistence: persistence(sighting.days, config) }
    }
}

/// Compares the daily rate after `lasting_days` with the initial one: at least a tenth, on more than one day, is
/// lasting.
fn persistence(days: &[(i32, u32, u32)], config: &NewWordConfig) -> Persistence {
    let first = days.first().map_or(0, |day| day.0);
    // Days may be far apart in malformed input.
    let grown_up = first.saturating_add(config.lasting_days);
    if config.today < grown_up.saturating_add(config.lasting_days / 4) {
        return Persistence::Open;
    }
    let (early, late): (Vec<_>, Vec<_>) = days.iter().partition(|day| day.0 < grown_up);
    let documents = |days: &[&(i32, u32, u32)]| days.iter().map(|day| f64::from(day.2)).sum::<f64>();
    let early_pace = documents(&early) / f64::from(config.lasting_days.max(1));
    let late_pace = documents(&late) / (f64::from(config.today) - f64::from(grown_up) + 1.0).max(1.0);
    if late.len() > 1 && late_pace >= 0.1 * early_pace { Persistence::Lasting } else { Persistence::Burst }
}

const LONGEST_WORD_CHARS: usize = 40;

/// Returns true if a text looks like a word: letters, perhaps with hyphens, apostrophes or a number after a hyphen
/// inside, and not one letter repeated.
pub fn is_word(text: &str) -> bool {
    let chars: Vec<char> = text.chars().collect();
    let (Some(first), Some(last)) = (chars.first(), chars.last()) else { return false };
    let joins = |c: char| matches!(c, '-' | '‐' | '\'' | '’' | '·' | '\u{200c}' | '\u{200d}');
    let is_mark = |c: char| unicode_normalization::char::is_combining_mark(c);
    let letters = chars.iter().filter(|c| c.is_alphabetic()).count();
    let digits_behind_hyphen = || {
        let stem = text.trim_end_matches(|c: char| c.is_ascii_digit());
        stem.len() == text.len() || stem.ends_with('-')
    };
    let inner_digits = || text.trim_end_matches(|c: char| c.is_ascii_digit()).chars().any(char::is_numeric);
    chars.len() <= LONGEST_WORD_CHARS
        && letters >= 2
        && first.is_alphabetic()
        && (last.is_alphanumeric() || is_mark(*last))
        && chars.iter().all(|c| c.is_alphanumeric() || joins(*c) || is_mark(*c))
        && !chars.windows(2).any(|pair| joins(pair[0]) && joins(pair[1]))
        && !chars.windows(4).any(|run| run.iter().all(|c| c == &run[0]))
        && digits_behind_hyphen()
        && !inner_digits()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_told_from_codes_and_numbers() {
        for word in ["doomscrolling", "covid-19", "greenlash", "aujourd’hui", "Zoë", "हिन्दी", "бумер", "e-Akte", "新冠"]
        {
            assert!(is_word(word), "{word}");
        }
        for other in [
            "",
            "x",
            "2026",
            "1st",
            "a1b2",
            "www.example.org",
            "a@b",
            "#tag",
            "--",
            "aaaargh",
            "-ing",
            "x--y",
            "50%",
            "mp3",
        ] {
            assert!(!is_word(other), "{other}");
        }
        assert!(!is_word(&"a".repeat(41)));
    }

    fn verdict(days: &[(i32, u32, u32)], change: impl Fn(&mut Sighting<'_>)) -> Verdict {
        let mut sighting =
            Sighting { value: "greenlash", days, sites: 4, name: false, known: false, function: false, p: 0.0 };
        change(&mut sighting);
        judge(&sighting, &NewWordConfig { window_start: 100, today: 400, ..NewWordConfig::default() })
    }

    const LASTING: &[(i32, u32, u32)] = &[(150, 3, 2), (151, 2, 2), (160, 4, 3), (300, 2, 2), (390, 1, 1)];

    #[test]
    fn each_rule_rejects_its_candidates() {
        assert_eq!(verdict(LASTING, |_| ()), Verdict::New { first_day: 150, persistence: Persistence::Lasting });
        assert_eq!(verdict(LASTING, |s| s.known = true), Verdict::Known);
        assert_eq!(verdict(&[(99, 1, 1), (150, 9, 9)], |_| ()), Verdict::Known);
        assert_eq!(verdict(LASTING, |s| s.sites = 2), Verdict::Rare);
        assert_eq!(verdict(&LASTING[..2], |_| ()), Verdict::Rare);
        assert_eq!(verdict(&[], |_| ()), Verdict::Rare);
        assert_eq!(verdict(LASTING, |s| s.value = "x17"), Verdict::Shape);
        assert_eq!(verdict(LASTING, |s| s.name = true), Verdict::Name);
        assert_eq!(verdict(LASTING, |s| s.function = true), Verdict::Function);
    }

    #[test]
    fn a_word_not_seen_again_is_a_burst_and_a_recent_one_is_open() {
        let burst = &[(150, 30, 20), (151, 40, 30), (152, 3, 2), (170, 1, 1)];
        assert_eq!(verdict(burst, |_| ()), Verdict::New { first_day: 150, persistence: Persistence::Burst });
        let recent = &[(380, 3, 2), (381, 3, 2), (382, 3, 2)];
        assert_eq!(verdict(recent, |_| ()), Verdict::New { first_day: 380, persistence: Persistence::Open });
    }

    #[test]
    fn the_window_is_the_last_quarter_and_begins_after_the_collection() {
        let collected = Some((Day(100), Day(500)));
        let window = |since: Option<i32>| NewWordWindow::choose(collected, since.map(Day));
        assert_eq!(window(None), Ok(NewWordWindow { start: Day(400), end: Day(500) }));
        assert_eq!(window(Some(101)), Ok(NewWordWindow { start: Day(101), end: Day(500) }));
        assert_eq!(window(Some(100)), Err(NoNewWords::NothingBefore { start: Day(100), first: Day(100) }));
        assert_eq!(NewWordWindow::choose(None, None), Err(NoNewWords::NoDocuments));
        // A collection of one day has no earlier days.
        assert!(NewWordWindow::choose(Some((Day(7), Day(7))), None).is_err());
    }
}
