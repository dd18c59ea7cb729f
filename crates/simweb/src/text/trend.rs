//! Words whose frequency over time is known beforehand.

use jiff::civil::Date;
use serde::Serialize;

/// How the frequency of a planted word moves over the days.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Shape {
    /// From rare to common; half way a week after the web's first day.
    Rise,
    /// From common to rare; half way a week after the web's first day.
    Fall,
    /// Rare but for a few days around the third.
    Burst,
    /// Always about the same: the control.
    Steady,
}

impl Shape {
    /// The shape of this name in a data file; a name that is none means steady.
    pub(super) fn named(name: &str) -> Self {
        match name {
            "rise" => Shape::Rise,
            "fall" => Shape::Fall,
            "burst" => Shape::Burst,
            _ => Shape::Steady,
        }
    }

    /// The share of paragraphs that carry the word, this many days after the first day.
    pub fn share_of_paragraphs(self, days: i32) -> f64 {
        const RARE: f64 = 0.01;
        const COMMON: f64 = 0.30;
        let days = f64::from(days);
        let climb = 1.0 / (1.0 + (-(days - 7.0) / 2.0).exp());
        let peak = (-(days - 3.0).powi(2) / 2.0).exp();
        match self {
            Shape::Rise => RARE + (COMMON - RARE) * climb,
            Shape::Fall => RARE + (COMMON - RARE) * (1.0 - climb),
            Shape::Burst => RARE / 2.0 + COMMON * peak,
            Shape::Steady => 0.10,
        }
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
    /// The probability that a paragraph of an article of `day` carries the word, once.
    pub fn share_of_paragraphs(&self, first_day: Date, day: Date) -> f64 {
        let days = (day - first_day).get_days();
        self.shape.share_of_paragraphs(days)
    }

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
    use super::*;

    #[test]
    fn shapes_move_as_their_names_say() {
        let at = |shape: Shape, days| shape.share_of_paragraphs(days);
        assert!(at(Shape::Rise, 14) > 5.0 * at(Shape::Rise, 0));
        assert!(at(Shape::Fall, 0) > 5.0 * at(Shape::Fall, 14));
        assert!(at(Shape::Burst, 3) > 10.0 * at(Shape::Burst, 9));
        assert_eq!(at(Shape::Steady, 0), at(Shape::Steady, 99));
    }

    #[test]
    fn words_are_counted_whole() {
        let trend = Trend { language: "pl", word: "rower", shape: Shape::Steady };
        assert_eq!(trend.count_in("rower, ścieżek rowerowych; Rower i rower"), 2);
    }
}
