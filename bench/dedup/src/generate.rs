//! A seeded generator of documents with planted duplicates and a label for each paragraph.
//!
//! Invented words follow Zipf's law, and common phrases occur in many documents, because a rule must tolerate
//! chance matches. Most documents are new. The others are copies (edited or not), contain copied blocks, quote, or
//! end with one of a hundred boilerplate lines.

use fastrand::Rng;

use crate::sets::LabelledDocument;

const WORDS: usize = 30_000;
const PHRASES: usize = 400;
const BOILERPLATES: usize = 100;

/// An endless, seeded generator of documents.
pub struct Generator {
    random: Rng,
    words: Vec<String>,
    phrases: Vec<String>,
    boilerplates: Vec<(String, bool)>,
    /// Documents that may be copied from.
    past: Vec<Vec<String>>,
    most_past: usize,
    number: u64,
}

impl Generator {
    /// Creates a generator that copies from at most `most_past` earlier documents, so that it can run for ever.
    pub fn new(seed: u64, most_past: usize) -> Generator {
        let mut random = Rng::with_seed(seed);
        let words: Vec<String> = (0..WORDS).map(|_| word(&mut random)).collect();
        let mut generator = Generator {
            random,
            words,
            phrases: Vec::new(),
            boilerplates: Vec::new(),
            past: Vec::new(),
            most_past,
            number: 0,
        };
        generator.phrases = (0..PHRASES).map(|_| generator.plain(5, 9)).collect();
        generator.boilerplates = (0..BOILERPLATES).map(|_| (generator.plain(8, 30), false)).collect();
        generator
    }

    /// A random word by Zipf's law.
    fn word(&mut self) -> usize {
        // A rank with a uniform logarithm approximates Zipf's law.
        ((WORDS as f64).powf(self.random.f64()) as usize - 1).min(WORDS - 1)
    }

    fn plain(&mut self, least: usize, most: usize) -> String {
        let count = self.random.usize(least..=most);
        let numbers: Vec<usize> = (0..count).map(|_| self.word()).collect();
        numbers.iter().map(|number| self.words[*number].as_str()).collect::<Vec<_>>().join(" ")
    }

    fn sentence(&mut self) -> String {
        let mut text = self.plain(4, 24);
        if self.random.u8(..6) == 0 {
            let phrase = self.random.usize(..PHRASES);
            text = format!("{text}, {}", self.phrases[phrase]);
        }
        let mut chars = text.chars();
        let first: String = chars.next().into_iter().flat_map(char::to_uppercase).collect();
        format!("{first}{}.", chars.as_str())
    }

    fn paragraph(&mut self) -> String {
        let sentences = self.random.usize(1..6);
        (0..sentences).map(|_| self.sentence()).collect::<Vec<_>>().join(" ")
    }

    fn fresh(&mut self) -> Vec<String> {
        let paragraphs = self.random.usize(2..16);
        (0..paragraphs).map(|_| self.paragraph()).collect()
    }

    fn edited(&mut self, paragraph: &str, rate: f64) -> String {
        let mut words: Vec<String> = Vec::new();
        for word in paragraph.split(' ') {
            let chance = self.random.f64() / rate;
            if !(0.6..0.8).contains(&chance) {
                let kept = if chance < 0.6 { self.any_word() } else { word.to_owned() };
                words.push(kept);
            }
            if (0.8..1.0).contains(&chance) {
                words.push(self.any_word());
            }
        }
        if words.is_empty() { paragraph.to_owned() } else { words.join(" ") }
    }

    fn any_word(&mut self) -> String {
        let number = self.random.usize(..WORDS);
        self.words[number].clone()
    }

    fn earlier(&mut self) -> Vec<String> {
        let number = self.random.usize(..self.past.len());
        self.past[number].clone()
    }

    fn case(&mut self) -> (Vec<String>, Vec<String>) {
        let choice = if self.past.len() < 50 { 0 } else { self.random.u32(..100) };
        match choice {
            0..68 => labelled(self.fresh(), "f"),
            68..74 => labelled(self.earlier(), "e"),
            74..86 => {
                let rate = [1, 2, 5, 10, 20][self.random.usize(..5)];
                let source = self.earlier();
                let copy = source.iter().map(|paragraph| self.edited(paragraph, f64::from(rate) / 100.0)).collect();
                labelled(copy, &format!("n{rate}"))
            }
            86..95 => {
                let (mut paragraphs, mut labels) = labelled(self.fresh(), "f");
                let source = self.earlier();
                let block = (paragraphs.len() / 2).clamp(1, source.len());
                let from = self.random.usize(..=source.len() - block);
                let at = self.random.usize(..=paragraphs.len());
                paragraphs.splice(at..at, source[from..from + block].iter().cloned());
                labels.splice(at..at, vec!["p".to_owned(); block]);
                (paragraphs, labels)
            }
            _ => {
                let (mut paragraphs, mut labels) = labelled(self.fresh(), "f");
                let source = self.earlier().join(" ");
                let words: Vec<&str> = source.split(' ').collect();
                let length = self.random.usize(12..30).min(words.len());
                let from = self.random.usize(..=words.len() - length);
                let room = |text: &String| text.split(' ').count() >= length * 8 / 5;
                if let Some(at) = (0..paragraphs.len()).find(|at| room(&paragraphs[*at])) {
                    paragraphs[at] = format!("{} {}", paragraphs[at], words[from..from + length].join(" "));
                    labels[at] = "q".to_owned();
                }
                (paragraphs, labels)
            }
        }
    }
}

fn labelled(paragraphs: Vec<String>, label: &str) -> (Vec<String>, Vec<String>) {
    let labels = vec![label.to_owned(); paragraphs.len()];
    (paragraphs, labels)
}

/// Invents a pronounceable word.
fn word(random: &mut Rng) -> String {
    const HEADS: [&str; 16] = ["b", "d", "f", "g", "k", "l", "m", "n", "p", "r", "s", "t", "v", "st", "tr", "z"];
    const CORES: [&str; 8] = ["a", "e", "i", "o", "u", "ei", "ou", "ý"];
    let syllables = random.usize(1..5);
    (0..syllables).map(|_| [HEADS[random.usize(..16)], CORES[random.usize(..8)]].concat()).collect()
}

impl Iterator for Generator {
    type Item = LabelledDocument;

    fn next(&mut self) -> Option<LabelledDocument> {
        let (mut paragraphs, mut labels) = self.case();
        if self.random.u8(..10) < 3 {
            let number = self.random.usize(..BOILERPLATES);
            let (text, used) = &mut self.boilerplates[number];
            paragraphs.push(text.clone());
            labels.push(if std::mem::replace(used, true) { "b" } else { "f" }.to_owned());
        }
        if self.past.len() < self.most_past {
            self.past.push(paragraphs.clone());
        } else {
            let number = self.random.usize(..self.past.len());
            self.past[number] = paragraphs.clone();
        }
        self.number += 1;
        Some(LabelledDocument { id: format!("g{:07}", self.number), month: 0, paragraphs, labels })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_seed_decides_everything() {
        let some = |seed| Generator::new(seed, 100).take(300).collect::<Vec<_>>();
        assert_eq!(some(1), some(1));
        assert_ne!(some(1), some(2));
        let labels: std::collections::BTreeSet<String> = some(1).into_iter().flat_map(|case| case.labels).collect();
        assert!(["f", "e", "p", "b", "q", "n1", "n20"].iter().all(|label| labels.contains(*label)), "{labels:?}");
    }
}
