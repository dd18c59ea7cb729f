//! Topics of ordinary articles: their frames, and how often they come up over the years.

use jiff::civil::Date;

use super::frame::Frame;

/// The frames of a topic in one language.
#[derive(Clone, Debug)]
pub struct Topic {
    pub name: &'static str,
    pub section: &'static str,
    pub roles: Vec<&'static str>,
    pub titles: Vec<Frame>,
    pub leads: Vec<Frame>,
    pub bodies: Vec<Frame>,
    pub quotes: Vec<Frame>,
    pub ends: Vec<Frame>,
}

impl Topic {
    /// Reads a file of frames; an error names its line.
    pub fn parse(name: &'static str, file: &'static str) -> Result<Topic, String> {
        let mut topic = Topic {
            name,
            section: "local",
            roles: Vec::new(),
            titles: Vec::new(),
            leads: Vec::new(),
            bodies: Vec::new(),
            quotes: Vec::new(),
            ends: Vec::new(),
        };
        for (number, line) in file.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            topic.add(line).map_err(|error| format!("{name}, line {}: {error}", number + 1))?;
        }
        let kinds = [&topic.titles, &topic.leads, &topic.bodies, &topic.quotes, &topic.ends];
        if kinds.iter().any(|frames| frames.is_empty()) || topic.roles.is_empty() {
            return Err(format!("{name} lacks a kind of frame"));
        }
        Ok(topic)
    }

    fn add(&mut self, line: &'static str) -> Result<(), String> {
        let (kind, text) = line.split_once(": ").ok_or("no kind")?;
        let frames = match kind {
            "section" => {
                self.section = text;
                return Ok(());
            }
            "role" => {
                self.roles.push(text);
                return Ok(());
            }
            "title" => &mut self.titles,
            "lead" => &mut self.leads,
            "body" => &mut self.bodies,
            "quote" => &mut self.quotes,
            "end" => &mut self.ends,
            _ => return Err(format!("unknown kind `{kind}`")),
        };
        frames.push(Frame::parse(text)?);
        Ok(())
    }
}

/// The weight of a topic on a day, beside 1 for every ordinary topic: this is what the demo plants.
///
/// Topics with a course of their own are those of [`super::PLANTED`]; a weight of 0 means that the word is unknown.
pub fn weight(topic: &str, day: Date) -> f64 {
    let year = f64::from(day.year() - 2016) + f64::from(day.day_of_year()) / 366.0;
    let month = day.month();
    match topic {
        // More every year from 2018, and most of all in summer.
        "drought" => {
            let season = if (5..=9).contains(&month) { 1.6 } else { 0.6 };
            season * (0.12 + 2.2 * smooth(year, 5.0, 1.2))
        }
        "solar" => 0.12 + 2.0 * smooth(year, 5.2, 0.9),
        "fax" => 0.04 + 1.9 * (1.0 - smooth(year, 3.0, 1.3)),
        "eclipse" => {
            let days = (day - Date::constant(2021, 8, 12)).get_days();
            match days {
                -10..=10 => 14.0,
                -70..=30 => 1.6,
                _ => 0.0,
            }
        }
        "crowdbus" if day < Date::constant(2020, 3, 9) => 0.0,
        "crowdbus" => 0.8 + 1.0 * smooth(year, 6.5, 1.2),
        "ferrygate" if (Date::constant(2022, 5, 18)..=Date::constant(2022, 11, 25)).contains(&day) => 3.0,
        "ferrygate" => 0.0,
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

/// A rise from 0 to 1 around `middle`; the larger `steepness`, the shorter it takes.
fn smooth(year: f64, middle: f64, steepness: f64) -> f64 {
    1.0 / (1.0 + (-(year - middle) * steepness).exp())
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
        assert_eq!((at("eclipse", 2020, 8), at("eclipse", 2022, 8)), (0.0, 0.0));
        assert!(at("eclipse", 2021, 8) > 5.0);
        assert_eq!((at("crowdbus", 2020, 2), at("ferrygate", 2022, 4), at("ferrygate", 2023, 1)), (0.0, 0.0, 0.0));
        assert!(at("crowdbus", 2025, 1) > 0.5 && at("ferrygate", 2022, 7) > 0.5);
        assert_eq!(at("council", 2017, 1), 1.0);
    }

    #[test]
    fn a_file_of_frames_names_its_mistakes() {
        let file = "section: court\nrole: judge\ntitle: A\nlead: {B|C}\nbody: D\nquote: “E,” $person said.\nend: F\n";
        let topic = Topic::parse("court", file).unwrap();
        assert_eq!((topic.section, topic.leads.len()), ("court", 1));
        assert!(Topic::parse("court", "title: {A").unwrap_err().contains("line 1"));
        assert!(Topic::parse("court", "titel: A").unwrap_err().contains("titel"));
        assert!(Topic::parse("court", "title: A").unwrap_err().contains("lacks"));
    }
}
