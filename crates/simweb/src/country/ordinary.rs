//! Composes ordinary articles from the frames of a topic.

use jiff::civil::Date;

use super::frame::{Frame, Slots};
use super::lexicon::{Lexicon, lexicon};
use super::topic::Topic;
use crate::rng::Rng;

/// An ordinary article.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ordinary {
    pub title: String,
    pub author: String,
    pub paragraphs: Vec<String>,
}

/// Composes an article: a lead, three to six sentences of the body in paragraphs, one or two quotations, perhaps an end.
pub fn compose(topic: &Topic, language: &str, day: Date, rng: &mut Rng) -> Ordinary {
    let names = lexicon(language);
    let cast = Cast::of(topic, names, day, rng);
    let author = format!("{} {}", rng.pick(names.first_names), rng.pick(names.surnames));
    let expand = |frame: &Frame, rng: &mut Rng| {
        let mut text = String::new();
        frame.expand(rng, &cast, &mut text);
        capitalised(text)
    };
    let title = expand(one_of(&topic.titles, rng), rng);
    let mut paragraphs = vec![expand(one_of(&topic.leads, rng), rng)];
    let sentences = 4 + rng.below(4) as usize;
    let bodies = draw(&topic.bodies, sentences, rng);
    let quotes = draw(&topic.quotes, 1 + rng.below(2) as usize, rng);
    for (number, pair) in bodies.chunks(2).enumerate() {
        let sentences: Vec<String> = pair.iter().map(|frame| expand(frame, rng)).collect();
        paragraphs.push(sentences.join(" "));
        if let Some(quote) = quotes.get(number) {
            paragraphs.push(expand(quote, rng));
        }
    }
    if rng.chance(70) {
        paragraphs.push(expand(one_of(&topic.ends, rng), rng));
    }
    Ordinary { title, author, paragraphs }
}

fn one_of<'f>(frames: &'f [Frame], rng: &mut Rng) -> &'f Frame {
    &frames[rng.below(frames.len() as u64) as usize]
}

/// Some different frames in random order.
fn draw<'f>(frames: &'f [Frame], count: usize, rng: &mut Rng) -> Vec<&'f Frame> {
    let mut left: Vec<&Frame> = frames.iter().collect();
    let mut drawn = Vec::new();
    while drawn.len() < count && !left.is_empty() {
        drawn.push(left.swap_remove(rng.below(left.len() as u64) as usize));
    }
    drawn
}

fn capitalised(text: String) -> String {
    let mut letters = text.chars();
    match letters.next() {
        Some(first) if first.is_lowercase() => first.to_uppercase().chain(letters).collect(),
        _ => text,
    }
}

/// The values of slots in one article.
struct Cast {
    place: &'static str,
    place2: &'static str,
    street: &'static str,
    person: [&'static str; 2],
    other: [&'static str; 2],
    full_names: [String; 2],
    role: &'static str,
    other_role: &'static str,
    firm: &'static str,
    school: &'static str,
    club: &'static str,
    month: &'static str,
    weekday: &'static str,
    year: String,
    last_year: String,
}

impl Cast {
    fn of(topic: &Topic, names: &'static Lexicon, day: Date, rng: &mut Rng) -> Cast {
        let mut person = || [rng.pick(names.first_names), rng.pick(names.surnames)];
        let (first, mut second) = (person(), person());
        while second[1] == first[1] {
            second = [rng.pick(names.first_names), rng.pick(names.surnames)];
        }
        let place = rng.pick(names.places);
        let others: Vec<&str> = names.places.iter().copied().filter(|other| *other != place).collect();
        let month = usize::from(day.month().unsigned_abs());
        // The news of a day are about it or the day before.
        let weekday = (day.weekday().to_monday_zero_offset() + 7 - rng.below(2) as i8) % 7;
        Cast {
            place,
            place2: rng.pick(&others),
            street: rng.pick(names.streets),
            full_names: [first.join(" "), second.join(" ")],
            person: first,
            other: second,
            role: rng.pick(&topic.roles),
            other_role: rng.pick(&topic.roles),
            firm: rng.pick(names.firms),
            school: rng.pick(names.schools),
            club: rng.pick(names.clubs),
            month: names.months[(month + 10) % 12],
            weekday: names.weekdays[weekday.unsigned_abs() as usize],
            year: day.year().to_string(),
            last_year: (day.year() - 1).to_string(),
        }
    }
}

impl Slots for Cast {
    fn value(&self, name: &str) -> Option<&str> {
        Some(match name {
            "place" => self.place,
            "place2" => self.place2,
            "street" => self.street,
            "Person" => &self.full_names[0],
            "Other" => &self.full_names[1],
            "person" => self.person[1],
            "other" => self.other[1],
            "role" => self.role,
            "other_role" => self.other_role,
            "firm" => self.firm,
            "school" => self.school,
            "club" => self.club,
            "month" => self.month,
            "day" => self.weekday,
            "year" => &self.year,
            "lastyear" => &self.last_year,
            _ => return None,
        })
    }
}
