//! Composes ordinary articles from the frames of a topic.

use jiff::ToSpan as _;
use jiff::civil::Date;

use super::frame::{Frame, Slots, one_of};
use super::lexicon::{Lexicon, lexicon};
use super::topic::{PLANTED, Topic, mentioned};
use crate::rng::Rng;

/// An ordinary article.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ordinary {
    pub title: String,
    pub author: String,
    pub paragraphs: Vec<String>,
}

/// Composes an article: a lead, paragraphs of the body, one or two quotations, perhaps an end.
///
/// Every paragraph has sentences of lists (facts), so that no two paragraphs look copied from each other, and one
/// sentence of colour at most. One paragraph mentions something else.
pub fn compose(topic: &Topic, language: &str, day: Date, rng: &mut Rng) -> Ordinary {
    let names = lexicon(language);
    let mut cast = Cast::of(topic, names, day, rng);
    let author = names.person(rng.below(2) == 0, rng);
    let mut facts = Deck::of(&topic.facts);
    let mut bodies = Deck::of(&topic.bodies);
    let mut quotes = Deck::of(&topic.quotes);
    let title = expanded(one_of(&topic.titles, rng), &cast, rng);
    let mut paragraphs = Vec::new();
    let mut paragraph = |frames: &[&Frame], rng: &mut Rng| {
        let sentences: Vec<String> = frames.iter().map(|frame| expanded(frame, &cast, rng)).collect();
        paragraphs.push(sentences.join(" "));
    };
    paragraph(&[one_of(&topic.leads, rng), facts.draw(rng)], rng);
    for number in 0..2 + rng.below(2) {
        let colour = if rng.chance(70) { bodies.draw(rng) } else { facts.draw(rng) };
        let mut frames = vec![facts.draw(rng), colour, facts.draw(rng)];
        if rng.chance(40) {
            frames.swap(0, 1);
        }
        paragraph(&frames, rng);
        if number == 0 || rng.chance(50) {
            paragraph(&[quotes.draw(rng), facts.draw(rng)], rng);
        }
    }
    if rng.chance(70) {
        paragraph(&[facts.draw(rng), one_of(&topic.ends, rng)], rng);
    }
    if !topic.mentions.is_empty() {
        let word = mentioned(day, rng.unit());
        cast.planted = word.filter(|word| topic.lists.contains_key(word)).unwrap_or("thing");
        let sentence = expanded(one_of(&topic.mentions, rng), &cast, rng);
        let at = rng.below(paragraphs.len() as u64) as usize;
        paragraphs[at].push(' ');
        paragraphs[at].push_str(&sentence);
    }
    Ordinary { title, author, paragraphs }
}

fn expanded(frame: &Frame, cast: &Cast<'_>, rng: &mut Rng) -> String {
    let mut text = String::new();
    frame.expand(rng, cast, &mut text);
    capitalised(cast.names.contracted(text))
}

/// Frames that are drawn in random order; none comes again before all were drawn.
struct Deck<'f> {
    all: &'f [Frame],
    left: Vec<&'f Frame>,
}

impl<'f> Deck<'f> {
    fn of(all: &'f [Frame]) -> Deck<'f> {
        Deck { all, left: Vec::new() }
    }

    fn draw(&mut self, rng: &mut Rng) -> &'f Frame {
        if self.left.is_empty() {
            self.left = self.all.iter().collect();
        }
        self.left.swap_remove(rng.below(self.left.len() as u64) as usize)
    }
}

fn capitalised(text: String) -> String {
    let mut letters = text.chars();
    match letters.next() {
        Some(first) if first.is_lowercase() => first.to_uppercase().chain(letters).collect(),
        _ => text,
    }
}

/// The values of slots and lists in one article.
struct Cast<'t> {
    topic: &'t Topic,
    /// The list of what a sentence mentions.
    planted: &'static str,
    names: &'static Lexicon,
    day: Date,
    place: &'static str,
    place2: &'static str,
    street: &'static str,
    full_names: [String; 2],
    surnames: [String; 2],
    role: &'static str,
    other_role: &'static str,
    firm: &'static str,
    school: &'static [&'static str; 3],
    clubs: [&'static [&'static str; 3]; 2],
    month: &'static str,
    weekday: &'static str,
    year: String,
    last_year: String,
}

impl<'t> Cast<'t> {
    fn of(topic: &'t Topic, names: &'static Lexicon, day: Date, rng: &mut Rng) -> Cast<'t> {
        let are_women = [rng.chance(50), rng.chance(50)];
        let mut full_names = are_women.map(|is_woman| names.person(is_woman, rng));
        while surname(&full_names[1]) == surname(&full_names[0]) {
            full_names[1] = names.person(are_women[1], rng);
        }
        let role = |is_woman: bool, rng: &mut Rng| {
            let role = rng.pick(&topic.roles);
            if is_woman { role.of_woman } else { role.of_man }
        };
        let place = rng.pick(names.places);
        let others: Vec<&str> = names.places.iter().copied().filter(|other| *other != place).collect();
        let club = rng.below(names.clubs.len() as u64) as usize;
        let other_club = (club + 1 + rng.below(names.clubs.len() as u64 - 1) as usize) % names.clubs.len();
        let month = usize::from(day.month().unsigned_abs());
        // The news of a day are about it or the day before.
        let weekday = (day.weekday().to_monday_zero_offset() + 7 - rng.below(2) as i8) % 7;
        Cast {
            topic,
            planted: "thing",
            names,
            day,
            place,
            place2: rng.pick(&others),
            street: rng.pick(names.streets),
            surnames: [surname(&full_names[0]).to_owned(), surname(&full_names[1]).to_owned()],
            full_names,
            role: role(are_women[0], rng),
            other_role: role(are_women[1], rng),
            firm: rng.pick(names.firms),
            school: &names.schools[rng.below(names.schools.len() as u64) as usize],
            clubs: [&names.clubs[club], &names.clubs[other_club]],
            month: names.months[(month + 10) % 12],
            weekday: names.weekdays[weekday.unsigned_abs() as usize],
            year: day.year().to_string(),
            last_year: (day.year() - 1).to_string(),
        }
    }

    /// A date some days from the day of the article, without the year.
    fn date_in(&self, days: i64) -> String {
        let date = self.day + days.days();
        let month = self.names.months[usize::from(date.month().unsigned_abs()) - 1];
        self.names.date_pattern.replace("DAY", &date.day().to_string()).replace("MONTH", month)
    }
}

/// The last word of a name.
fn surname(name: &str) -> &str {
    name.rsplit(' ').next().unwrap_or(name)
}

impl Slots for Cast<'_> {
    fn value(&self, name: &str) -> Option<&str> {
        Some(match name {
            "place" => self.place,
            "place2" => self.place2,
            "street" => self.street,
            "Person" => &self.full_names[0],
            "Other" => &self.full_names[1],
            "person" => &self.surnames[0],
            "other" => &self.surnames[1],
            "role" => self.role,
            "other_role" => self.other_role,
            "firm" => self.firm,
            "school" => self.school[0],
            "school_dat" => self.school[1],
            "school_gen" => self.school[2],
            "club" => self.clubs[0][0],
            "club_dat" => self.clubs[0][1],
            "club_acc" => self.clubs[0][2],
            "club2" => self.clubs[1][0],
            "club2_dat" => self.clubs[1][1],
            "club2_acc" => self.clubs[1][2],
            "month" => self.month,
            "day" => self.weekday,
            "year" => &self.year,
            "lastyear" => &self.last_year,
            _ => return None,
        })
    }

    fn fresh(&self, name: &str, rng: &mut Rng) -> Option<String> {
        Some(match name {
            "anyone" => self.names.person(rng.chance(50), rng),
            "woman" => self.names.person(true, rng),
            "man" => self.names.person(false, rng),
            "anyplace" => rng.pick(self.names.places).to_owned(),
            "anystreet" => rng.pick(self.names.streets).to_owned(),
            "anyfirm" => rng.pick(self.names.firms).to_owned(),
            "lately" => self.date_in(-3 - rng.below(40) as i64),
            "soon" => self.date_in(4 + rng.below(50) as i64),
            _ => return None,
        })
    }

    fn list(&self, name: &str) -> Option<&[Frame]> {
        let name = if name == PLANTED { self.planted } else { name };
        self.topic.lists.get(name).map(Vec::as_slice)
    }
}
