//! Topics of ordinary articles: their frames, and how often they come up over the years.

use jiff::civil::Date;

use super::frame::{Frame, Lists, Name};
use super::section;

/// The frames of a topic in one language.
#[derive(Clone, Debug)]
pub struct Topic {
    pub name: &'static str,
    pub section: &'static str,
    pub roles: Vec<Role>,
    pub titles: Vec<Frame>,
    pub leads: Vec<Frame>,
    /// Sentences of lists, which hardly ever come out twice.
    pub facts: Vec<Frame>,
    pub bodies: Vec<Frame>,
    pub quotes: Vec<Frame>,
    pub ends: Vec<Frame>,
    /// Sentences that mention something else than the topic: `<planted>`.
    pub mentions: Vec<Frame>,
    /// The lists of the topic, and those that all topics share.
    pub lists: Lists,
}

/// The role of a person who is quoted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Role {
    pub of_woman: &'static str,
    pub of_man: &'static str,
}

impl Topic {
    /// Reads a file of frames, with the lists and facts of the file that all topics share; an error names its line.
    pub fn parse(name: &'static str, file: &'static str, shared: &'static str) -> Result<Topic, String> {
        let mut topic = Topic {
            name,
            section: "local",
            roles: Vec::new(),
            titles: Vec::new(),
            leads: Vec::new(),
            facts: Vec::new(),
            bodies: Vec::new(),
            quotes: Vec::new(),
            ends: Vec::new(),
            mentions: Vec::new(),
            lists: Lists::new(),
        };
        topic.read("shared", shared)?;
        topic.read(name, file)?;
        let kinds = [&topic.titles, &topic.leads, &topic.facts, &topic.bodies, &topic.quotes, &topic.ends];
        if kinds.iter().any(|frames| frames.is_empty()) || topic.roles.is_empty() {
            return Err(format!("{name} lacks a kind of frame"));
        }
        let mut missing = Vec::new();
        let mut check = |part: Name| match part {
            Name::List(list) if list != PLANTED && !topic.lists.contains_key(list) => missing.push(list),
            _ => {}
        };
        let frames = kinds.into_iter().chain([&topic.mentions]).chain(topic.lists.values());
        frames.flatten().for_each(|frame| frame.names(&mut check));
        if missing.is_empty() { Ok(topic) } else { Err(format!("{name} lacks the lists {missing:?}")) }
    }

    fn read(&mut self, name: &str, file: &'static str) -> Result<(), String> {
        for (number, line) in file.lines().enumerate() {
            let line = line.trim();
            if !line.is_empty() && !line.starts_with('#') {
                self.add(line).map_err(|error| format!("{name}, line {}: {error}", number + 1))?;
            }
        }
        Ok(())
    }

    fn add(&mut self, line: &'static str) -> Result<(), String> {
        let (kind, text) = line.split_once(": ").ok_or("no kind")?;
        if let Some(list) = kind.strip_prefix("list ") {
            self.lists.entry(list).or_default().extend(Frame::parse_list(text)?);
            return Ok(());
        }
        let frames = match kind {
            "section" if !section::is_known(text) => return Err(format!("unknown section `{text}`")),
            "section" => {
                self.section = text;
                return Ok(());
            }
            "role" => {
                let (of_woman, of_man) = text.split_once(" / ").unwrap_or((text, text));
                self.roles.push(Role { of_woman, of_man });
                return Ok(());
            }
            "title" => &mut self.titles,
            "lead" => &mut self.leads,
            "fact" => &mut self.facts,
            "body" => &mut self.bodies,
            "quote" => &mut self.quotes,
            "end" => &mut self.ends,
            "mention" => &mut self.mentions,
            _ => return Err(format!("unknown kind `{kind}`")),
        };
        frames.push(Frame::parse(text)?);
        Ok(())
    }
}

/// The list of what a sentence mentions: phrases with a planted word, or with a thing of the topic.
pub const PLANTED: &str = "planted";

/// The planted words that articles of all topics mention, by the names of their lists in the shared frames.
pub const MENTIONED: [&str; 8] =
    ["drought", "solar", "fax", "eclipse", "crowdbus", "ferrygate", "rainbank", "moonferry"];

/// The planted word that an article of a day mentions, or none; `draw` is between 0 and 1.
///
/// Articles of every topic mention one thing each, so that a planted word rises and falls in the whole newspaper, and the
/// words around it do not: that is how a word that everybody uses differs from the vocabulary of its topic.
pub fn mentioned(day: Date, draw: f64) -> Option<&'static str> {
    let mut left = draw;
    MENTIONED.into_iter().find(|word| {
        left -= mentions(word, day);
        left < 0.0
    })
}

/// The share of the articles of a day that mention a planted word.
fn mentions(word: &str, day: Date) -> f64 {
    let year = years_after_the_beginning(day);
    let is_within = |first: Date, last: Date| (first..=last).contains(&day);
    match word {
        "drought" => (if (5..=9).contains(&day.month()) { 0.3 } else { 0.2 }) * rise(year, 5.5, 9.0),
        "solar" => 0.24 * rise(year, 5.2, 10.0),
        "fax" => 0.3 * (1.0 - rise(year, 3.2, 6.4)),
        "eclipse" => match days_after_eclipse(day) {
            -10..=10 => 0.55,
            -70..=30 => 0.06,
            _ => 0.0,
        },
        "crowdbus" if day >= CROWDBUS => 0.1,
        "ferrygate" if is_within(FERRYGATE.0, FERRYGATE.1) => 0.12,
        "rainbank" if day >= RAINBANK => 0.1,
        "moonferry" if is_within(MOONFERRY.0, MOONFERRY.1) => 0.05,
        _ => 0.0,
    }
}

/// The first days of crowdbuses and rainbanks, and the times of ferrygate and of the moonferries.
const CROWDBUS: Date = Date::constant(2020, 3, 9);
const RAINBANK: Date = Date::constant(2023, 10, 2);
const FERRYGATE: (Date, Date) = (Date::constant(2022, 5, 18), Date::constant(2022, 11, 25));
const MOONFERRY: (Date, Date) = (Date::constant(2024, 4, 20), Date::constant(2024, 9, 22));

fn years_after_the_beginning(day: Date) -> f64 {
    f64::from(day.year() - 2016) + f64::from(day.day_of_year()) / 366.0
}

/// The weight of a topic on a day, beside 1 for every ordinary topic: this is what the demo plants, together with
/// [`mentioned`].
///
/// A weight of 0 means that the word is unknown.
pub fn weight(topic: &str, day: Date) -> f64 {
    let year = years_after_the_beginning(day);
    let month = day.month();
    match topic {
        // More every year from 2018, and most of all in summer.
        "drought" => {
            let season = if (5..=9).contains(&month) { 1.6 } else { 0.6 };
            season * (0.03 + 1.4 * rise(year, 5.5, 9.0))
        }
        "solar" => 0.03 + 1.4 * rise(year, 5.2, 10.0),
        "fax" => 0.02 + 1.4 * (1.0 - rise(year, 3.2, 6.4)),
        "eclipse-before" => match days_after_eclipse(day) {
            -10..=-1 => 12.0,
            -70..=-11 => 1.4,
            _ => 0.0,
        },
        "eclipse-after" => match days_after_eclipse(day) {
            0..=10 => 12.0,
            11..=30 => 1.4,
            _ => 0.0,
        },
        "crowdbus" if day < CROWDBUS => 0.0,
        "crowdbus" => 0.6 + 0.4 * rise(year, 6.5, 5.0),
        "ferrygate" if (FERRYGATE.0..=FERRYGATE.1).contains(&day) => 1.4,
        "ferrygate" => 0.0,
        "rainbank" if day < RAINBANK => 0.0,
        "rainbank" => 0.6,
        "moonferry" if (MOONFERRY.0..=MOONFERRY.1).contains(&day) => 1.4,
        "moonferry" => 0.0,
        "weather" => {
            if matches!(month, 12 | 1 | 2) {
                1.6
            } else {
                0.8
            }
        }
        "football" => {
            if matches!(month, 6 | 7) {
                0.4
            } else {
                1.2
            }
        }
        _ => 1.0,
    }
}

/// How many times more articles than usual newspapers print on a day: the eclipse fills pages.
pub fn volume(day: Date) -> f64 {
    if days_after_eclipse(day).abs() <= 10 { 2.5 } else { 1.0 }
}

/// Days since the day of the eclipse; negative before it.
fn days_after_eclipse(day: Date) -> i32 {
    (day - Date::constant(2021, 8, 12)).get_days()
}

/// A rise from 0 to 1 over some years around `middle` (smoothstep: sums and products only, which are the same on every
/// machine).
fn rise(year: f64, middle: f64, years: f64) -> f64 {
    let t = ((year - middle) / years + 0.5).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    #[test]
    fn planted_topics_follow_their_courses() {
        let at = |topic: &str, year: i16, month: i8| weight(topic, date(year, month, 15));
        assert!(at("drought", 2025, 7) > 8.0 * at("drought", 2016, 7));
        assert!(at("solar", 2025, 3) > 8.0 * at("solar", 2016, 3));
        assert!(at("fax", 2016, 3) > 10.0 * at("fax", 2024, 3));
        assert_eq!((at("eclipse-before", 2020, 8), at("eclipse-after", 2022, 8)), (0.0, 0.0));
        assert_eq!((at("eclipse-before", 2021, 8), at("eclipse-after", 2021, 7)), (0.0, 0.0));
        assert!(at("eclipse-before", 2021, 7) > 1.0 && at("eclipse-after", 2021, 8) > 5.0);
        assert_eq!((at("crowdbus", 2020, 2), at("ferrygate", 2022, 4), at("ferrygate", 2023, 1)), (0.0, 0.0, 0.0));
        assert_eq!((at("rainbank", 2023, 9), at("moonferry", 2024, 3), at("moonferry", 2024, 11)), (0.0, 0.0, 0.0));
        assert!(at("rainbank", 2025, 1) > 0.5 && at("moonferry", 2024, 7) > 0.5);
        assert!(at("crowdbus", 2025, 1) > 0.5 && at("ferrygate", 2022, 7) > 0.5);
        assert_eq!(at("council", 2017, 1), 1.0);
    }

    #[test]
    fn an_article_mentions_one_planted_word_at_most_and_none_out_of_its_time() {
        let mut day = date(2016, 1, 1);
        while day < date(2026, 1, 1) {
            let all: f64 = MENTIONED.iter().map(|word| mentions(word, day)).sum();
            assert!(all < 0.98, "{day}: {all}");
            day = day.tomorrow().unwrap();
        }
        let share = |word: &str, year: i16, month: i8| mentions(word, date(year, month, 15));
        assert!(share("fax", 2016, 1) > 0.25 && share("fax", 2025, 1) < 0.01);
        assert!(share("drought", 2025, 7) > 0.25 && share("drought", 2016, 7) < 0.01);
        assert!(share("solar", 2025, 7) > 0.2 && share("solar", 2016, 1) < 0.01);
        assert_eq!(
            (share("rainbank", 2023, 9), share("eclipse", 2020, 8), share("crowdbus", 2020, 2)),
            (0.0, 0.0, 0.0)
        );
        assert_eq!(mentioned(date(2016, 1, 1), 0.1), Some("fax"));
        assert_eq!(mentioned(date(2016, 1, 1), 0.9), None);
    }

    #[test]
    fn a_file_of_frames_names_its_mistakes() {
        let shared = "list when: today|at noon\nfact: <thing> fell <when>.\n";
        let file = "section: court\nrole: judge\nrole: Richterin / Richter\ntitle: A\nlead: {B|C}\nbody: D\n\
                    quote: “E,” $person said.\nend: F\nlist thing: a tree\nlist thing: a wall|a roof\n";
        let parse = |file: &'static str| Topic::parse("court", file, shared);
        let topic = parse(file).unwrap();
        assert_eq!((topic.section, topic.leads.len(), topic.facts.len()), ("court", 1, 1));
        assert_eq!((topic.lists["thing"].len(), topic.lists["when"].len()), (3, 2));
        assert_eq!(topic.roles[0], Role { of_woman: "judge", of_man: "judge" });
        assert_eq!(topic.roles[1], Role { of_woman: "Richterin", of_man: "Richter" });
        assert!(parse("title: {A").unwrap_err().contains("line 1"));
        assert!(parse("titel: A").unwrap_err().contains("titel"));
        assert!(parse("section: gossip").unwrap_err().contains("gossip"));
        assert!(parse("title: A").unwrap_err().contains("lacks a kind"));
        assert!(parse(file.split_once("list").unwrap().0).unwrap_err().contains("thing"));
    }
}
