//! A synthetic corpus: ten years of days, Zipf's law, documents that repeat themselves, planted words.
//!
//! Tags come from a Markov chain, so that sequences such as adjective, noun, noun have plausible frequencies. Some words have the frequencies of those in the peers' measurements, so that queries for them
//! do comparable work. The same seed gives the same bytes.

use std::io::{self, Write};

use fastrand::Rng;
use tidings_index::Day;

/// The first day of the corpus, 2016-01-01, and the day after the last.
pub const FIRST_DAY: i32 = 16_801;
pub const LAST_DAY: i32 = 16_801 + 3_653;
/// The number of distinct words besides those listed below.
const FORMS: usize = 258_000;
const TOKENS_A_DOCUMENT: f64 = 435.0;

/// Profiles of planted words, forty words each.
pub const PROFILES: [&str; 7] = ["up", "lateup", "down", "step", "burst", "season", "flat"];

const TAGS: [&str; 13] =
    ["NOUN", "VERB", "ADJ", "ADV", "PROPN", "ADP", "DET", "PRON", "CCONJ", "PART", "AUX", "NUM", "PUNCT"];
// Their indexes in the list; the others are not referred to.
const NOUN: usize = 0;
const VERB: usize = 1;
const ADJ: usize = 2;
const ADV: usize = 3;
const PROPN: usize = 4;
const ADP: usize = 5;
const DET: usize = 6;
const PRON: usize = 7;
const CCONJ: usize = 8;
const PART: usize = 9;
const AUX: usize = 10;
const NUM: usize = 11;
const PUNCT: usize = 12;

/// The transition probabilities of the chain, in percent.
const CHAIN: [[u32; 13]; 13] = [
    //  N   V  AJ  AV  PN  AP  DT  PR  CC  PT  AX  NU  PU
    [9, 9, 2, 4, 3, 22, 3, 4, 7, 4, 9, 2, 22],     // NOUN
    [8, 4, 7, 8, 4, 16, 21, 9, 3, 9, 2, 3, 6],     // VERB
    [62, 2, 6, 1, 4, 7, 1, 1, 5, 3, 1, 2, 5],      // ADJ
    [4, 24, 17, 8, 2, 13, 8, 7, 2, 3, 3, 3, 6],    // ADV
    [9, 11, 2, 3, 29, 12, 1, 1, 6, 3, 7, 3, 13],   // PROPN
    [20, 6, 9, 2, 13, 2, 34, 6, 0, 0, 1, 6, 1],    // ADP
    [55, 3, 24, 4, 8, 1, 1, 1, 0, 0, 0, 3, 0],     // DET
    [8, 31, 4, 6, 2, 7, 5, 4, 1, 3, 22, 1, 6],     // PRON
    [21, 14, 11, 8, 10, 6, 12, 10, 0, 2, 4, 2, 0], // CCONJ
    [6, 68, 5, 5, 3, 3, 5, 2, 0, 1, 1, 1, 0],      // PART
    [3, 46, 11, 13, 2, 4, 8, 3, 0, 7, 2, 1, 0],    // AUX
    [46, 2, 9, 1, 6, 11, 1, 1, 3, 1, 2, 5, 12],    // NUM
    [12, 10, 6, 7, 13, 9, 13, 13, 9, 1, 3, 3, 1],  // PUNCT
];

/// The share of distinct words of each tag, in percent; closed classes have their own lists.
const SHARES: [(usize, f64); 6] = [(NOUN, 0.40), (PROPN, 0.30), (VERB, 0.13), (ADJ, 0.12), (ADV, 0.03), (NUM, 0.02)];

/// Closed classes, the frequent first, with their weights.
const CLOSED: [(usize, &[(&str, f64)]); 8] = [
    (
        DET,
        &[
            ("the", 50.0),
            ("a", 22.0),
            ("this", 7.0),
            ("an", 5.0),
            ("The", 6.0),
            ("all", 3.0),
            ("these", 3.0),
            ("some", 4.0),
        ],
    ),
    (
        ADP,
        &[
            ("of", 24.0),
            ("in", 21.0),
            ("to", 9.0),
            ("for", 10.0),
            ("on", 8.0),
            ("with", 8.0),
            ("at", 6.0),
            ("by", 6.0),
            ("from", 6.0),
            ("In", 2.0),
            ("after", 2.0),
            ("into", 2.0),
        ],
    ),
    (
        PRON,
        &[
            ("it", 20.0),
            ("he", 16.0),
            ("they", 14.0),
            ("I", 14.0),
            ("that", 12.0),
            ("we", 9.0),
            ("who", 8.0),
            ("his", 7.0),
        ],
    ),
    (CCONJ, &[("and", 82.0), ("or", 9.0), ("but", 9.0)]),
    (PART, &[("to", 70.0), ("not", 18.0), ("'s", 12.0)]),
    (
        AUX,
        &[
            ("is", 24.0),
            ("was", 18.0),
            ("are", 12.0),
            ("has", 11.0),
            ("have", 10.0),
            ("will", 10.0),
            ("would", 8.0),
            ("be", 7.0),
        ],
    ),
    (NUM, &[("one", 14.0), ("two", 12.0), ("2020", 3.0), ("10", 4.0), ("three", 6.0)]),
    (PUNCT, &[(",", 48.0), (".", 34.0), ("\"", 10.0), (":", 4.0), (")", 2.0), ("(", 2.0)]),
];

/// Words with a given frequency per hundred million tokens.
const NAMED: [(&str, &str, usize, f64); 16] = [
    ("crisis", "crisis", NOUN, 5_000.0),
    ("crises", "crisis", NOUN, 800.0),
    ("market", "market", NOUN, 48_000.0),
    ("markets", "market", NOUN, 23_500.0),
    ("minister", "minister", NOUN, 9_000.0),
    ("prime", "prime", ADJ, 6_000.0),
    ("best", "good", ADJ, 62_000.0),
    ("good", "good", ADJ, 70_000.0),
    ("go", "go", VERB, 80_000.0),
    ("goes", "go", VERB, 15_000.0),
    ("went", "go", VERB, 40_000.0),
    ("going", "go", VERB, 45_000.0),
    ("scandal", "scandal", NOUN, 2_000.0),
    ("Parliament", "Parliament", PROPN, 9_000.0),
    ("quixotically", "quixotically", ADV, 20.0),
    ("resolutely", "resolutely", ADV, 900.0),
];

/// Weighted sampling in constant time (Vose's alias method).
struct AliasTable {
    keep: Vec<f32>,
    other: Vec<u32>,
}

impl AliasTable {
    fn new(weights: &[f64]) -> AliasTable {
        let mean = weights.iter().sum::<f64>() / weights.len() as f64;
        let mut scaled: Vec<f64> = weights.iter().map(|weight| weight / mean).collect();
        let (mut small, mut large): (Vec<usize>, Vec<usize>) =
            (0..weights.len()).partition(|index| scaled[*index] < 1.0);
        let mut table = AliasTable { keep: vec![1.0; weights.len()], other: (0..weights.len() as u32).collect() };
        while let (Some(poor), Some(rich)) = (small.pop(), large.pop()) {
            table.keep[poor] = scaled[poor] as f32;
            table.other[poor] = rich as u32;
            scaled[rich] -= 1.0 - scaled[poor];
            if scaled[rich] < 1.0 { small.push(rich) } else { large.push(rich) }
        }
        table
    }

    #[inline]
    fn draw(&self, random: &mut Rng) -> u32 {
        let bits = random.u64(..);
        let index = (((bits >> 32) * self.keep.len() as u64) >> 32) as usize;
        if (bits as u32 >> 8) as f32 / (1u32 << 24) as f32 <= self.keep[index] {
            index as u32
        } else {
            self.other[index]
        }
    }
}

/// The words of one tag: their lines in the vertical format.
struct Class {
    lines: Vec<Box<str>>,
    table: AliasTable,
}

/// A planted word and the course of its rate.
pub struct Planted {
    pub word: String,
    pub profile: usize,
    /// Hits in a hundred million tokens.
    rate: f64,
    /// The time of a burst or level shift, as a share of the whole.
    place: f64,
}

impl Planted {
    /// The factor of the rate on a day.
    fn factor(&self, day: i32) -> f64 {
        let time = f64::from(day - FIRST_DAY) / f64::from(LAST_DAY - FIRST_DAY);
        match PROFILES[self.profile] {
            "up" => 2.0 * time,
            "lateup" => (time - 0.7).max(0.0) * 22.0,
            "down" => 2.0 * (1.0 - time),
            "step" => {
                if time > self.place {
                    1.7
                } else {
                    0.3
                }
            }
            "burst" => {
                if (time - self.place).abs() < 0.003 {
                    120.0
                } else {
                    0.3
                }
            }
            "season" => 1.0 + 0.9 * (time * 20.0 * std::f64::consts::PI).sin(),
            _ => 1.0,
        }
    }
}

/// Generates documents.
pub struct Generator {
    random: Rng,
    classes: Vec<Class>,
    chain: Vec<AliasTable>,
    pub planted: Vec<Planted>,
    documents: u64,
    buffer: Vec<u8>,
}

/// The size of the generated text.
#[derive(Debug, Default, Clone, Copy)]
pub struct GeneratedSize {
    pub tokens: u64,
    pub documents: u64,
}

fn syllables(random: &mut Rng, count: usize) -> String {
    const ONSETS: [&str; 16] = ["b", "c", "d", "f", "g", "h", "l", "m", "n", "p", "r", "s", "t", "v", "st", "tr"];
    const RIMES: [&str; 14] = ["a", "e", "i", "o", "u", "an", "er", "in", "on", "al", "or", "es", "ar", "ing"];
    (0..count).map(|_| format!("{}{}", ONSETS[random.usize(..16)], RIMES[random.usize(..14)])).collect()
}

impl Generator {
    pub fn new(seed: u64) -> Generator {
        let mut random = Rng::with_seed(seed);
        let mut lines: Vec<Vec<Box<str>>> = vec![Vec::new(); TAGS.len()];
        let mut weights: Vec<Vec<f64>> = vec![Vec::new(); TAGS.len()];
        let mut known = std::collections::HashSet::new();
        for (tag, share) in SHARES {
            let count = (FORMS as f64 * share) as usize;
            let mut base = String::new();
            for rank in 0..count {
                // Every third word is another form of the one before it.
                let word = loop {
                    let mut word = match rank % 3 {
                        2 if !base.is_empty() => format!("{base}{}", ["s", "ed", "ly"][random.usize(..3)]),
                        _ => {
                            let count = 1 + random.usize(0..2) + usize::from(rank > 400) + usize::from(rank > 30_000);
                            syllables(&mut random, count)
                        }
                    };
                    // Some prefixes and suffixes that queries search for.
                    match rank % 170 {
                        7 if (tag == NOUN || tag == PROPN) && rank > 2_300 => word.push_str("gate"),
                        57 if rank > 1_500 => word.insert_str(0, "inter"),
                        _ => {}
                    }
                    if tag == PROPN {
                        word[..1].make_ascii_uppercase();
                    }
                    if known.insert((tag, word.clone())) {
                        break word;
                    }
                    base.clear();
                };
                if rank % 3 != 2 {
                    base.clone_from(&word);
                }
                let lemma = if rank % 3 == 2 && !base.is_empty() { &base } else { &word };
                lines[tag].push(format!("{word}\t{lemma}\t{}\n", TAGS[tag]).into());
                // Zipf–Mandelbrot; open classes have no word as frequent as "the".
                weights[tag].push(1.0 / (rank as f64 + 12.0).powf(1.06));
            }
        }
        for (tag, words) in CLOSED {
            // If a class has both lists, the closed one has a third of the weight.
            let open: f64 = weights[tag].iter().sum();
            let all: f64 = words.iter().map(|(_, weight)| weight).sum();
            for (word, weight) in words {
                lines[tag].push(format!("{word}\t{}\t{}\n", word.to_lowercase(), TAGS[tag]).into());
                weights[tag].push(if open > 0.0 { open / 3.0 * weight / all } else { *weight });
            }
        }
        let chain: Vec<AliasTable> = CHAIN.iter().map(|row| AliasTable::new(&row.map(f64::from))).collect();
        let shares = stationary();
        for (word, lemma, tag, hits) in NAMED {
            let all: f64 = weights[tag].iter().sum();
            lines[tag].push(format!("{word}\t{lemma}\t{}\n", TAGS[tag]).into());
            weights[tag].push(all * hits / (shares[tag] * 1e8));
        }
        let planted = (0..280).map(|index| Planted {
            word: format!("{}o{}", syllables(&mut random, 2), index),
            profile: index / 40,
            rate: 150.0 * 1.08f64.powi(index as i32 % 40),
            place: 0.25 + 0.5 * random.f64(),
        });
        let planted: Vec<Planted> = planted.collect();
        let classes =
            lines.into_iter().zip(weights).map(|(lines, weights)| Class { table: AliasTable::new(&weights), lines });
        Generator { classes: classes.collect(), chain, planted, random, documents: 0, buffer: Vec::new() }
    }

    /// Writes the documents of a day with about `tokens` tokens.
    pub fn day(&mut self, day: i32, tokens: u64, out: &mut impl Write) -> io::Result<GeneratedSize> {
        let shares = stationary();
        let rates: Vec<f64> = self.planted.iter().map(|word| word.rate * word.factor(day)).collect();
        let planted_table = AliasTable::new(&rates);
        // The share of nouns, and of planted words among them, per hundred million tokens.
        let chance = (rates.iter().sum::<f64>() / (shares[NOUN] * 1e8)) as f32;
        let mut made = GeneratedSize::default();
        while made.tokens < tokens {
            made.tokens += self.document(day, chance, &planted_table);
            made.documents += 1;
            out.write_all(&self.buffer)?;
        }
        Ok(made)
    }

    fn document(&mut self, day: i32, chance: f32, planted: &AliasTable) -> u64 {
        let Generator { random, classes, chain, buffer, planted: words, .. } = self;
        buffer.clear();
        self.documents += 1;
        let number = self.documents;
        // A few sites publish most; each has a country and preferred topics.
        let site = (random.f64() * random.f64() * 400.0) as u32;
        let topic =
            ["politics", "business", "sport", "culture", "science", "local"][(site as usize + random.usize(..2)) % 6];
        let genre = if site % 10 == 3 { "blog" } else { ["news", "news", "report", "opinion"][random.usize(..4)] };
        let country = ["gb", "us", "au", "ie", "in"][site as usize % 5];
        let licence = ["", "", "", "CC-BY-4.0"][site as usize % 4];
        let id = u128::from(random.u64(..)) << 64 | u128::from(number);
        let title_word = |random: &mut Rng| {
            let class = &classes[if random.bool() { NOUN } else { PROPN }];
            let line = &class.lines[class.table.draw(random) as usize];
            line.split('\t').next().unwrap_or_default().to_owned()
        };
        let title = (0..7).map(|_| title_word(random)).collect::<Vec<_>>().join(" ");
        let slug = title.to_lowercase().replace(' ', "-");
        let _ = writeln!(
            buffer,
            "<doc id=\"{id:032x}\" url=\"https://site{site}.example/{}/{slug}\" title=\"{title}\" date=\"{}\" seen=\"{}\" \
             site=\"site{site}.example\" feed=\"https://site{site}.example/{topic}.xml\" country=\"{country}\" topic=\"{topic}\" \
             genre=\"{genre}\" licence=\"{licence}\" availability=\"kwic\" lang=\"en\">",
            Day(day).date().strftime("%Y/%m/%d"),
            Day(day),
            Day(day),
        );
        // Documents repeat their own nouns and names.
        let mut own = [(NOUN, 0u32); 12];
        for (index, slot) in own.iter_mut().enumerate() {
            let tag = if index % 3 == 0 { PROPN } else { NOUN };
            *slot = (tag, classes[tag].table.draw(random));
        }
        let length = (TOKENS_A_DOCUMENT * (0.3 + 1.4 * random.f64())) as u64;
        let mut tokens = 0;
        while tokens < length {
            buffer.extend_from_slice(b"<p>\n");
            for _ in 0..random.usize(1..5) {
                buffer.extend_from_slice(b"<s>\n");
                let mut tag = PUNCT;
                let sentence = random.usize(5..36);
                for index in 0..sentence {
                    tag = loop {
                        let next = chain[tag].draw(random) as usize;
                        if index > 0 || next != PUNCT {
                            break next;
                        }
                    };
                    tokens += 1;
                    let glued = tag == PUNCT;
                    if glued {
                        buffer.extend_from_slice(b"<g/>\n");
                    }
                    if tag == NOUN && random.f32() < chance {
                        let word = &words[planted.draw(random) as usize].word;
                        let _ = writeln!(buffer, "{word}\t{word}\tNOUN");
                        continue;
                    }
                    let class = if matches!(tag, NOUN | PROPN) && random.u8(..) < 64 {
                        let (own_tag, word) = own[random.usize(..12)];
                        tag = own_tag;
                        &classes[own_tag].lines[word as usize]
                    } else {
                        &classes[tag].lines[classes[tag].table.draw(random) as usize]
                    };
                    buffer.extend_from_slice(class.as_bytes());
                    // Fixed collocations.
                    if class.starts_with("prime\t") && random.u8(..) < 25 {
                        buffer.extend_from_slice(b"minister\tminister\tNOUN\n");
                        (tokens, tag) = (tokens + 1, NOUN);
                    }
                }
                buffer.extend_from_slice(b"<g/>\n.\t.\tPUNCT\n</s>\n");
                tokens += 1;
            }
            buffer.extend_from_slice(b"</p>\n");
        }
        buffer.extend_from_slice(b"</doc>\n");
        tokens
    }
}

/// The stationary distribution of the chain.
fn stationary() -> [f64; 13] {
    let mut shares = [1.0 / 13.0; 13];
    for _ in 0..200 {
        let mut next = [0.0; 13];
        for (from, row) in CHAIN.iter().enumerate() {
            let total: u32 = row.iter().sum();
            for (to, weight) in row.iter().enumerate() {
                next[to] += shares[from] * f64::from(*weight) / f64::from(total);
            }
        }
        shares = next;
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_bytes() {
        let bytes = || {
            let mut bytes = Vec::new();
            let mut generator = Generator::new(1);
            generator.day(FIRST_DAY, 2_000, &mut bytes).expect("memory");
            bytes
        };
        assert!(bytes() == bytes());
    }
}
