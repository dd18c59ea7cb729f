//! Generated names of towns and families.
//!
//! Names make reports differ: with a dozen phrases alone, every sentence would be a duplicate. The generated names of a
//! language follow the letters of its own words (Markov chain).

use std::collections::HashMap;

use super::grammar::{Grammar, Section};
use crate::rng::Rng;

/// The number of towns per language.
const TOWNS: usize = 700;

/// The number of families per language.
const FAMILIES: usize = 1500;

/// The generated names of one language, with a skewed distribution.
#[derive(Debug)]
pub struct Names {
    towns: Vec<String>,
    families: Vec<String>,
}

impl Names {
    /// Generates the names of a language, always the same.
    pub fn new(grammar: &Grammar) -> Names {
        let chain = Chain::learn(grammar);
        let letters = grammar.code.as_bytes();
        let mut rng = Rng::named(&[0x4A4E, u64::from(letters[0]), u64::from(letters[1])]);
        let mut name = || match characters(grammar.code) {
            "" => chain.name(&mut rng),
            characters => {
                let all: Vec<char> = characters.chars().collect();
                String::from_iter([rng.pick(&all), rng.pick(&all)])
            }
        };
        let mut some = |count: usize| (0..count).map(|_| name()).collect();
        Names { towns: some(TOWNS), families: some(FAMILIES) }
    }

    pub fn town(&self, rng: &mut Rng) -> &str {
        skewed(&self.towns, rng)
    }

    pub fn family(&self, rng: &mut Rng) -> &str {
        skewed(&self.families, rng)
    }
}

/// A random name; the first ones are more frequent.
fn skewed<'a>(names: &'a [String], rng: &mut Rng) -> &'a str {
    let place = rng.unit().powf(1.5) * names.len() as f64;
    &names[(place as usize).min(names.len() - 1)]
}

/// The characters of names for languages in which a character is a syllable or a word; empty for alphabets.
fn characters(code: &str) -> &'static str {
    match code {
        "zh" => "安平龙江山河海南北东西林石金玉白青长永新兴宁昌德庆阳州城云泉",
        "ja" => "山川田中村松石木林森高大小上下北南東西野原島崎岡井口谷沢橋本",
        _ => "",
    }
}

/// The boundary symbol before and after a word.
const EDGE: char = ' ';

/// A Markov chain of order two over the letters of a language.
struct Chain(HashMap<(char, char), Vec<char>>);

impl Chain {
    fn learn(grammar: &Grammar) -> Chain {
        let mut next: HashMap<(char, char), Vec<char>> = HashMap::new();
        // Names alone are too little data.
        let sections = [Section::Places, Section::Last, Section::Subjects, Section::Objects, Section::Adverbs];
        let phrases = sections.iter().flat_map(|section| grammar.section(*section));
        for word in phrases.flat_map(|phrase| phrase.split(|letter: char| !letter.is_alphabetic())) {
            let mut before = (EDGE, EDGE);
            for letter in word.chars().flat_map(char::to_lowercase).chain([EDGE]) {
                next.entry(before).or_default().push(letter);
                before = (before.1, letter);
            }
        }
        Chain(next)
    }

    fn name(&self, rng: &mut Rng) -> String {
        loop {
            let mut name = String::new();
            let mut before = (EDGE, EDGE);
            while let Some(letters) = self.0.get(&before) {
                let letter = rng.pick(letters);
                if letter == EDGE {
                    break;
                }
                name.push(letter);
                before = (before.1, letter);
            }
            if (5..10).contains(&name.chars().count()) {
                super::prose::capitalise(&mut name);
                return name;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{CODES, grammar};

    #[test]
    fn every_language_has_many_names_without_planted_words() {
        for code in CODES {
            let own = grammar(code);
            let names = Names::new(own);
            let different: std::collections::HashSet<&String> = names.towns.iter().collect();
            assert!(different.len() > 150, "{code}: {}", different.len());
            for name in names.towns.iter().chain(&names.families) {
                assert!(own.trends.iter().all(|trend| trend.count_in(name) == 0), "{code}: {name}");
            }
        }
    }
}
