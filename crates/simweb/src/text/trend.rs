//! Words whose frequency over time is known beforehand.

use jiff::civil::Date;
use serde::Serialize;

/// How the frequency of a planted word moves over the days.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Shape {
    /// From rare to common.
    Rise,
    /// From common to rare.
    Fall,
    /// Rare but for a short while in the first third.
    Burst,
    /// Always about the same: the control.
    Steady,
    /// Unheard of in the first half, common at the end.
    New,
    /// Comes with every winter.
    Season,
}

impl Shape {
    /// The shape of this name in a data file; a name that is none means steady.
    pub(super) fn named(name: &str) -> Self {
        match name {
            "rise" => Shape::Rise,
            "fall" => Shape::Fall,
            "burst" => Shape::Burst,
            "new" => Shape::New,
            "season" => Shape::Season,
            _ => Shape::Steady,
        }
    }

    /// The share of paragraphs that carry the word, this far into the story: 0 at its beginning, 1 at its end.
    fn share_of_paragraphs(self, far: f64, day: Date) -> f64 {
        const RARE: f64 = 0.01;
        const COMMON: f64 = 0.30;
        let climb = |middle: f64| 1.0 / (1.0 + (-(far - middle) * 7.0).exp());
        let peak = (-((far - 0.214) * 14.0).powi(2) / 2.0).exp();
        match self {
            Shape::Rise => RARE + (COMMON - RARE) * climb(0.5),
            Shape::Fall => RARE + (COMMON - RARE) * (1.0 - climb(0.5)),
            Shape::Burst => RARE / 2.0 + COMMON * peak,
            Shape::Steady => 0.10,
            Shape::New if far < 0.5 => 0.0,
            Shape::New => 0.15 * climb(0.75),
            Shape::Season => {
                let turn = f64::from(day.day_of_year()) / 365.25 * std::f64::consts::TAU;
                RARE / 2.0 + 0.2 * turn.cos().max(0.0).powi(2)
            }
        }
    }
}

/// How long the planted words take to run their course, and when it begins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Story {
    /// The first day.
    pub first_day: Date,
    /// How many days it takes.
    pub days: f64,
}

impl Story {
    /// The probability that a paragraph of an article of `day` carries the word, once.
    pub fn share_of_paragraphs(self, trend: &Trend, day: Date) -> f64 {
        let since = f64::from((day - self.first_day).get_days());
        trend.shape.share_of_paragraphs(since / self.days, day)
    }
}

#[cfg(test)]
impl From<Date> for Story {
    fn from(first_day: Date) -> Story {
        Story { first_day, days: 14.0 }
    }
}

/// A word planted in the articles of one language.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Trend {
    /// The language's code.
    pub language: &'static str,
    /// The word; it occurs nowhere in the language's text but where it was planted.
    pub word: &'static str,
    /// How its frequency moves.
    pub shape: Shape,
}

impl Trend {
    /// How often the word stands in a text: as a whole word, or as a string where words are not spaced.
    pub fn count_in(&self, text: &str) -> usize {
        if matches!(self.language, "zh" | "ja") {
            return text.matches(self.word).count();
        }
        text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| *word == self.word).count()
    }
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    #[test]
    fn shapes_move_as_their_names_say() {
        let at = |shape: Shape, days: i8| shape.share_of_paragraphs(f64::from(days) / 14.0, date(2026, 1, days + 1));
        assert!(at(Shape::Rise, 14) > 5.0 * at(Shape::Rise, 0));
        assert!(at(Shape::Fall, 0) > 5.0 * at(Shape::Fall, 14));
        assert!(at(Shape::Burst, 3) > 10.0 * at(Shape::Burst, 9));
        assert_eq!(at(Shape::Steady, 0), at(Shape::Steady, 30));
        assert_eq!(at(Shape::New, 6), 0.0);
        assert!(at(Shape::New, 14) > 0.1);
        let season = |month| Shape::Season.share_of_paragraphs(0.0, date(2026, month, 5));
        assert!(season(1) > 0.15 && season(7) < 0.01);
    }

    #[test]
    fn words_are_counted_whole() {
        let trend = Trend { language: "pl", word: "rower", shape: Shape::Steady };
        assert_eq!(trend.count_in("rower, ścieżek rowerowych; Rower i rower"), 2);
    }
}
