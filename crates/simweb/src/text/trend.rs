//! Words whose frequencies over time are known.

use jiff::civil::Date;
use serde::Serialize;

/// The shape of the frequency curve of a planted word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TrendShape {
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
    /// Peaks every winter.
    Season,
}

impl TrendShape {
    /// The shape with this name in a data file; unknown names mean steady.
    pub(super) fn named(name: &str) -> Self {
        match name {
            "rise" => TrendShape::Rise,
            "fall" => TrendShape::Fall,
            "burst" => TrendShape::Burst,
            "new" => TrendShape::New,
            "season" => TrendShape::Season,
            _ => TrendShape::Steady,
        }
    }

    /// The share of paragraphs with the word at a point of the story: 0 is its start, 1 its end.
    fn share_of_paragraphs(self, far: f64, day: Date) -> f64 {
        const RARE: f64 = 0.01;
        const COMMON: f64 = 0.30;
        let climb = |middle: f64| 1.0 / (1.0 + (-(far - middle) * 7.0).exp());
        let peak = (-((far - 0.214) * 14.0).powi(2) / 2.0).exp();
        match self {
            TrendShape::Rise => RARE + (COMMON - RARE) * climb(0.5),
            TrendShape::Fall => RARE + (COMMON - RARE) * (1.0 - climb(0.5)),
            TrendShape::Burst => RARE / 2.0 + COMMON * peak,
            TrendShape::Steady => 0.10,
            TrendShape::New if far < 0.5 => 0.0,
            TrendShape::New => 0.15 * climb(0.75),
            TrendShape::Season => {
                let turn = f64::from(day.day_of_year()) / 365.25 * std::f64::consts::TAU;
                RARE / 2.0 + 0.2 * turn.cos().max(0.0).powi(2)
            }
        }
    }
}

/// The start and the duration of the curves of planted words.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Story {
    /// The first day.
    pub first_day: Date,
    /// The duration in days.
    pub days: f64,
}

impl Story {
    /// The probability that a paragraph of an article of `day` contains the word, once.
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

/// A planted word of one language.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Trend {
    /// The language's code.
    pub language: &'static str,
    /// The word; it occurs nowhere else in the text of the language.
    pub word: &'static str,
    /// The shape of its curve.
    pub shape: TrendShape,
}

impl Trend {
    /// The number of occurrences of the word in a text: whole words, or substrings in scripts without spaces.
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
    fn shapes_follow_their_names() {
        let at =
            |shape: TrendShape, days: i8| shape.share_of_paragraphs(f64::from(days) / 14.0, date(2026, 1, days + 1));
        assert!(at(TrendShape::Rise, 14) > 5.0 * at(TrendShape::Rise, 0));
        assert!(at(TrendShape::Fall, 0) > 5.0 * at(TrendShape::Fall, 14));
        assert!(at(TrendShape::Burst, 3) > 10.0 * at(TrendShape::Burst, 9));
        assert_eq!(at(TrendShape::Steady, 0), at(TrendShape::Steady, 30));
        assert_eq!(at(TrendShape::New, 6), 0.0);
        assert!(at(TrendShape::New, 14) > 0.1);
        let season = |month| TrendShape::Season.share_of_paragraphs(0.0, date(2026, month, 5));
        assert!(season(1) > 0.15 && season(7) < 0.01);
    }

    #[test]
    fn words_are_counted_whole() {
        let trend = Trend { language: "pl", word: "rower", shape: TrendShape::Steady };
        assert_eq!(trend.count_in("rower, ścieżek rowerowych; Rower i rower"), 2);
    }
}
