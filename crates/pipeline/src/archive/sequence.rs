//! Sequences of dated lists: from the newest month or day back in time.

use jiff::ToSpan as _;
use jiff::civil::Date;
use url::Url;

/// Months and days in a row without articles after which a sequence ends.
const MAX_DRY_MONTHS: u32 = 6;
const MAX_DRY_DAYS: u32 = 14;
/// The most lists that are added at once to a sequence that gives articles.
const MAX_AHEAD: usize = 12;

/// The first lists of a site whose articles have dates after `prefix`: the newest month and day. They are guesses, so
/// they count as nearly dry: a few requests without articles end the sequence.
pub(super) fn first_dated_lists(prefix: &str, newest: Date) -> Vec<(String, Date, u32)> {
    let (year, month, day) = (newest.year(), newest.month(), newest.day());
    vec![
        (format!("{prefix}/{year:04}/{month:02}/"), newest.first_of_month(), MAX_DRY_MONTHS - 2),
        (format!("{prefix}/{year:04}/{month:02}/{day:02}/"), newest, MAX_DRY_DAYS - 2),
    ]
}

/// A dated list by its URL: the path before the date, and whether it is a day.
struct DatedList {
    before: String,
    date: Date,
    is_day: bool,
    end: &'static str,
}

impl DatedList {
    fn parse(url: &Url) -> Option<DatedList> {
        let end = if url.path().ends_with('/') { "/" } else { "" };
        let segments: Vec<&str> = url.path().split('/').filter(|segment| !segment.is_empty()).collect();
        let number = |text: &str| -> Option<i16> { text.parse().ok() };
        let year = |text: &str| number(text).filter(|_| text.len() == 4);
        let (before, date, is_day) = match segments.as_slice() {
            [before @ .., y, m, d] if year(y).is_some() => {
                (before, Date::new(year(y)?, number(m)? as i8, number(d)? as i8).ok()?, true)
            }
            [before @ .., y, m] if year(y).is_some() => (before, Date::new(year(y)?, number(m)? as i8, 1).ok()?, false),
            _ => return None,
        };
        let mut path = String::new();
        before.iter().for_each(|segment| path.push_str(&format!("/{segment}")));
        Some(DatedList { before: path, date, is_day, end })
    }

    fn url_of(&self, base: &Url, date: Date) -> Url {
        let mut url = base.clone();
        let day = if self.is_day { format!("/{:02}", date.day()) } else { String::new() };
        url.set_path(&format!("{}/{:04}/{:02}{day}{}", self.before, date.year(), date.month(), self.end));
        url
    }

    fn back(&self, by: usize) -> Option<Date> {
        let steps = i64::try_from(by).ok()?;
        let span = if self.is_day { steps.days() } else { steps.months() };
        self.date.checked_sub(span).ok()
    }
}

/// The first and the last day of a dated list.
pub(super) fn period_of(url: &Url) -> Option<(Date, Date)> {
    let list = DatedList::parse(url)?;
    Some((list.date, if list.is_day { list.date } else { list.date.last_of_month() }))
}

/// The lists before a dated list. One that gave nothing is followed by one more until too many in a row did; one that
/// gave articles by more, the longer the sequence is.
pub(super) fn earlier_lists(url: &Url, dry: u32, confirmed: usize) -> Vec<(Url, Date)> {
    let Some(list) = DatedList::parse(url) else { return Vec::new() };
    let limit = if list.is_day { MAX_DRY_DAYS } else { MAX_DRY_MONTHS };
    if dry >= limit {
        return Vec::new();
    }
    let ahead = if dry == 0 { (confirmed / 4 + 1).min(MAX_AHEAD) } else { 1 };
    (1..=ahead).filter_map(|by| list.back(by)).map(|date| (list.url_of(url, date), date)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn earlier(url: &str, dry: u32, confirmed: usize) -> Vec<String> {
        let url = Url::parse(&format!("https://g.example{url}")).unwrap();
        earlier_lists(&url, dry, confirmed).into_iter().map(|(url, _)| url.path().to_owned()).collect()
    }

    #[test]
    fn a_sequence_goes_back_by_months_or_days() {
        assert_eq!(earlier("/2026/03/", 0, 1), ["/2026/02/"]);
        assert_eq!(earlier("/news/2026/01", 0, 5), ["/news/2025/12", "/news/2025/11"]);
        assert_eq!(earlier("/2026/03/01/", 0, 1), ["/2026/02/28/"]);
        assert_eq!(earlier("/news/", 0, 1), Vec::<String>::new());
    }

    #[test]
    fn a_list_covers_its_month_or_day() {
        let period = |path: &str| period_of(&Url::parse(&format!("https://g.example{path}")).unwrap());
        let (first, last) = (Date::constant(2024, 2, 1), Date::constant(2024, 2, 29));
        assert_eq!(period("/news/2024/02/"), Some((first, last)));
        assert_eq!(period("/2024/02/29"), Some((last, last)));
        assert_eq!(period("/news/"), None);
    }

    #[test]
    fn a_sequence_without_articles_ends() {
        assert_eq!(earlier("/2026/03/", MAX_DRY_MONTHS - 1, 0).len(), 1);
        assert!(earlier("/2026/03/", MAX_DRY_MONTHS, 0).is_empty());
        assert!(earlier("/2026/03/09/", MAX_DRY_DAYS, 0).is_empty());
        let guesses = first_dated_lists("", Date::constant(2026, 3, 9));
        assert_eq!(guesses[0].0, "/2026/03/");
        assert!(guesses.iter().all(|(_, _, dry)| *dry > 0));
    }
}
