//! The ground truth about word frequencies.

use std::collections::BTreeMap;

use jiff::civil::Date;

use crate::rng::Rng;
use crate::text::{BlockKind, Grammar, Section, Story, Trend, compose, filled, grammar};

/// The planted words and their expected frequencies.
#[derive(Clone, Debug)]
pub struct Truth {
    /// The start and the duration of the curves.
    pub story: Story,
    /// The planted words of all languages in use; empty for an archive.
    pub trends: Vec<Trend>,
    /// By language: the average number of words of an article without planted ones, and of paragraphs.
    sizes: BTreeMap<&'static str, (f64, f64)>,
}

impl Truth {
    pub(crate) fn new(story: Story, trends: Vec<Trend>) -> Self {
        let mut sizes = BTreeMap::new();
        for trend in &trends {
            sizes.entry(trend.language).or_insert_with(|| average_size(trend.language, story));
        }
        Truth { story, trends, sizes }
    }

    /// The exact probability that a paragraph of this day contains the word, once.
    pub fn share_of_paragraphs(&self, trend: &Trend, day: Date) -> f64 {
        self.story.share_of_paragraphs(trend, day)
    }

    /// The expected frequency of the word per million words of articles of this day, without titles.
    ///
    /// Words are runs of letters and digits; in Chinese and Japanese two characters count as one. The size of an
    /// article is a sample average, so this is accurate to a few percent.
    pub fn per_million_words(&self, trend: &Trend, day: Date) -> f64 {
        let Some((words, paragraphs)) = self.sizes.get(trend.language) else {
            return 0.0;
        };
        let own = grammar(trend.language);
        // Every planted word adds a sentence, which makes the articles of that day longer.
        let all_words = words + paragraphs * planted_words(own, self.story, day);
        self.share_of_paragraphs(trend, day) * paragraphs / all_words * 1e6
    }
}

/// The average number of words and paragraphs of an article without planted words.
fn average_size(language: &'static str, story: Story) -> (f64, f64) {
    const SAMPLE: u64 = 300;
    let own = grammar(language);
    let (mut words, mut paragraphs) = (0.0, 0.0);
    for number in 0..SAMPLE {
        let mut rng = Rng::named(&[0x512E, number]);
        for block in compose(own, &mut rng, story, story.first_day).blocks {
            paragraphs += f64::from(u8::from(block.kind == BlockKind::Paragraph));
            words += count_words(&block.text, own.spaced());
        }
    }
    let (words, paragraphs) = (words / SAMPLE as f64, paragraphs / SAMPLE as f64);
    (words - paragraphs * planted_words(own, story, story.first_day), paragraphs)
}

/// The average number of words that planting adds to a paragraph of a day.
fn planted_words(own: &Grammar, story: Story, day: Date) -> f64 {
    const SAMPLE: u64 = 400;
    let mut rng = Rng::named(&[0x91A4]);
    let mut sample = || count_words(&filled(own, rng.pick(own.section(Section::Plants)), &mut rng), own.spaced());
    let sentence = (0..SAMPLE).map(|_| sample()).sum::<f64>() / SAMPLE as f64;
    let planted: f64 = own.trends.iter().map(|trend| story.share_of_paragraphs(trend, day)).sum();
    planted * sentence
}

fn count_words(text: &str, spaced: bool) -> f64 {
    if !spaced {
        return text.chars().filter(|letter| letter.is_alphanumeric()).count() as f64 / 2.0;
    }
    text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()).count() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    #[test]
    fn the_expected_frequency_matches_the_counted_one() {
        let story = Story::from(date(2026, 3, 1));
        let own = grammar("fr");
        let truth = Truth::new(story, own.trends.clone());
        for day in [date(2026, 3, 4), date(2026, 3, 15)] {
            let texts: Vec<String> = (0..1000)
                .flat_map(|number| compose(own, &mut Rng::named(&[1, number]), story, day).blocks)
                .map(|block| block.text)
                .collect();
            let words: f64 = texts.iter().map(|text| count_words(text, true)).sum();
            for trend in &own.trends {
                let found: usize = texts.iter().map(|text| trend.count_in(text)).sum();
                let expected = truth.per_million_words(trend, day) * words / 1e6;
                let spread = 5.0 * expected.sqrt() + 0.05 * expected;
                assert!((found as f64 - expected).abs() <= spread, "{trend:?}: {found} for {expected}");
            }
        }
    }
}
