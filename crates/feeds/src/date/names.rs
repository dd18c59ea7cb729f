//! Words in dates: months, weekdays and fillers.

use tidings_lang::Month;

/// The month named by a lower-case word.
pub(super) fn month(word: &str) -> Option<i8> {
    match tidings_lang::month(word, false)? {
        Month::Gregorian(month) => Some(month),
        Month::Persian(_) => None,
    }
}

/// Returns true for words without meaning between the parts of a date.
pub(super) fn is_filler(word: &str) -> bool {
    const FILLERS: &str = "st nd rd th de del d di do da den der dem am an at um the of on le la el em les à às il
        kl klo ob o ur uhr t y i g m год года г р в ngày lúc ngay van vom tes";
    FILLERS.split_ascii_whitespace().any(|filler| filler == word)
}

/// Returns true for common weekday names, which may occur anywhere; unknown ones only at the start.
pub(super) fn is_weekday(word: &str) -> bool {
    const WEEKDAYS: &str = "mon tue tues wed weds thu thur thurs fri sat sun monday tuesday wednesday thursday
        friday saturday sunday mo di mi do fr sa so montag dienstag mittwoch donnerstag freitag samstag sonntag
        lun mar mer jeu ven sam dim lundi mardi mercredi jeudi vendredi samedi dimanche
        lunes martes miércoles jueves viernes sábado domingo пн вт ср чт пт сб вс";
    WEEKDAYS.split_whitespace().any(|weekday| weekday == word)
}
