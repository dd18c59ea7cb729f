//! The feature table: weights of n-grams, quadgrams and words by language.
//!
//! `model/make.py` makes it; docs/notes/language.md has its sources. It is read in place from the
//! embedded bytes: nothing is unpacked at start-up, and only the memory pages are touched that a text
//! needs.

use std::sync::LazyLock;

pub(crate) static TABLE: &[u8] = include_bytes!("../../data/grams.bin");

/// The embedded table. Opening it reads the directory only.
pub(super) static GRAMS: LazyLock<Grams> = LazyLock::new(|| Grams::read(TABLE));

/// The number of a language in [`Grams::codes`]; 0 is "und".
pub(super) type Label = u8;

/// Marks entries of languages that are not supported.
pub(super) const NO_LANGUAGE: Label = 255;

/// One unit of an n-gram's weight, as a natural logarithm.
pub(super) const STEP: f32 = 1.0 / 24.0;

pub(super) struct Grams {
    pub(super) codes: Vec<&'static str>,
    /// Labels of the n-gram classes. A language may have several classes: Serbian has two scripts.
    pub(super) classes: &'static [Label],
    priors: &'static [u8],
    floors: &'static [u8],
    /// An Aho-Corasick automaton as a double-array trie, four numbers a slot: base, parent, failure,
    /// feature + 1.
    slots: &'static [[u8; 16]],
    /// The start of each feature in `pairs`.
    starts: &'static [u8],
    pairs: &'static [[u8; 2]],
    /// Labels of the language numbers in the hash tables, for Latin script and for others.
    latin: &'static [Label],
    other: &'static [Label],
    triples: &'static [u8],
    pub(super) quadgrams: HashTable,
    pub(super) words: HashTable,
    pub(super) marks: HashTable,
    /// Frequent words; values are rows of eight labels.
    frequent: HashTable,
}

/// A bucketed hash table: four entries a bucket, each the upper bits of a hash and, below them, the index of a value.
pub(super) struct HashTable {
    buckets: &'static [u8],
    values: &'static [u8],
    value_bits: u32,
}

fn number(bytes: &[u8], place: usize) -> u32 {
    match bytes.get(place * 4..place * 4 + 4) {
        Some(four) => u32::from_le_bytes([four[0], four[1], four[2], four[3]]),
        None => 0,
    }
}

fn float(bytes: &[u8], place: usize) -> f32 {
    f32::from_bits(number(bytes, place))
}

impl Grams {
    fn read(table: &'static [u8]) -> Grams {
        assert!(table.starts_with(b"TIDGRAM2"), "the feature table has another version; rebuild it with model/make.py");
        let section = |n: usize| {
            let (start, len) = (number(table, 2 + 2 * n) as usize, number(table, 3 + 2 * n) as usize);
            &table[start..start + len]
        };
        let code = |four: &'static [u8]| std::str::from_utf8(four).expect("codes are letters").trim_end_matches('\0');
        Grams {
            codes: section(0).chunks_exact(4).map(code).collect(),
            classes: section(1),
            priors: section(2),
            floors: section(3),
            slots: section(4).as_chunks().0,
            starts: section(5),
            pairs: section(6).as_chunks().0,
            latin: &section(7)[..256],
            other: &section(7)[256..],
            triples: section(8),
            quadgrams: HashTable { buckets: section(9), values: section(10), value_bits: 18 },
            words: HashTable { buckets: section(11), values: section(12), value_bits: 16 },
            marks: HashTable { buckets: section(13), values: section(14), value_bits: 13 },
            frequent: HashTable { buckets: section(15), values: section(16), value_bits: 13 },
        }
    }

    /// The label of a language code, if the table has it.
    pub(super) fn label(&self, code: &str) -> Option<Label> {
        self.codes.iter().position(|known| *known == code).map(|place| place as Label)
    }

    pub(super) fn prior(&self, class: usize) -> f32 {
        float(self.priors, class)
    }

    /// The smoothed log-probability of features that a class does not have.
    pub(super) fn floor(&self, class: usize) -> f32 {
        float(self.floors, class)
    }

    pub(super) fn feature_count(&self) -> usize {
        self.starts.len() / 4 - 1
    }

    /// Advances the automaton by one byte. Returns the state and the longest feature that ends there.
    pub(super) fn step(&self, mut state: u32, byte: u8) -> (u32, Option<u32>) {
        let slot = |state: u32| self.slots.get(state as usize).unwrap_or(&[0; 16]);
        loop {
            let here = slot(state);
            let next = number(here, 0) ^ u32::from(byte);
            let there = slot(next);
            if number(there, 1) == state {
                return (next, number(there, 3).checked_sub(1));
            }
            if state == 0 {
                return (0, None);
            }
            state = number(here, 2); // a shorter suffix each time, so that the loop ends
        }
    }

    /// The classes that have a feature, each with its weight above the floor, in units of [`STEP`].
    pub(super) fn pairs(&self, feature: u32) -> &'static [[u8; 2]] {
        let start = number(self.starts, feature as usize) as usize;
        let end = number(self.starts, feature as usize + 1) as usize;
        self.pairs.get(start..end).unwrap_or(&[])
    }

    /// Flags of the labels that have quadgrams.
    pub(super) fn with_quadgrams(&self) -> Vec<bool> {
        let mut known = vec![false; self.codes.len()];
        for number in self.latin.iter().chain(self.other) {
            if let Some(known) = known.get_mut(usize::from(*number)) {
                *known = true;
            }
        }
        // The numbers name more languages than the quadgrams cover: these are identified by script
        // alone, or have no data.
        for code in "gu hy ja ka km kn ko ku lo ml my or pa si ta te th el zh dv chr syr lif iu os".split(' ') {
            if let Some(label) = self.label(code) {
                known[usize::from(label)] = false;
            }
        }
        known
    }

    /// Flags of the labels that have frequent words.
    pub(super) fn with_frequent(&self) -> Vec<bool> {
        let mut known = vec![false; self.codes.len()];
        for label in self.frequent.values {
            if let Some(known) = known.get_mut(usize::from(*label)) {
                *known = true;
            }
        }
        known
    }

    /// Labels of the language numbers in values, for Latin script or for others; [`NO_LANGUAGE`] for none.
    pub(super) fn languages_of_gram(&self, latin: bool) -> [Label; 256] {
        let labels = if latin { self.latin } else { self.other };
        std::array::from_fn(|number| if number == 0 { NO_LANGUAGE } else { labels[number] })
    }

    /// Points of the three languages of a value, by its lowest byte.
    pub(super) fn points(&self, triple: u8) -> [u8; 3] {
        std::array::from_fn(|n| self.triples.get(usize::from(triple) * 3 + n).copied().unwrap_or(0))
    }

    /// The labels of a value, at most three, each with 1 to 12 points.
    pub(super) fn scored_labels(&self, value: u32, latin: bool) -> impl Iterator<Item = (Label, u8)> + '_ {
        let labels = if latin { self.latin } else { self.other };
        let triple = (value & 0xff) as usize * 3;
        (0..3).filter_map(move |n| {
            let label = labels[(value >> (8 + 8 * n) & 0xff) as usize];
            let points = self.triples.get(triple + n)?;
            (label != NO_LANGUAGE && value >> (8 + 8 * n) & 0xff != 0).then_some((label, *points))
        })
    }

    /// The languages that have the word among their most frequent.
    pub(super) fn owners(&self, word: &[u8]) -> &'static [Label] {
        let row = self.owners_at(self.index_of_owners(frequent_hash(word)));
        &row[..row.iter().position(|label| *label == NO_LANGUAGE).unwrap_or(row.len())]
    }

    /// The index of the owners of a frequent word, by its hash.
    pub(super) fn index_of_owners(&self, hash: u64) -> u32 {
        self.frequent.place(hash, (hash >> 32) as u32)
    }

    /// The owners at an index, padded with [`NO_LANGUAGE`].
    pub(super) fn owners_at(&self, place: u32) -> &'static [Label; 8] {
        self.frequent.values.as_chunks::<8>().0.get(place as usize).unwrap_or(&[NO_LANGUAGE; 8])
    }
}

impl HashTable {
    /// The index of the value for a bucket and the upper bits of a key.
    fn entry(&self, bucket: u64, key: u32) -> Option<u32> {
        let buckets = self.buckets.len() as u64 / 16;
        let start = (bucket & (buckets - 1)) as usize * 16;
        let bucket = &self.buckets[start..start + 16];
        let entry = (0..4).map(|n| number(bucket, n)).find(|entry| (entry ^ key) >> self.value_bits == 0)?;
        Some(entry & ((1 << self.value_bits) - 1))
    }

    /// The value for a bucket and the upper bits of a key, or 0.
    fn find(&self, bucket: u64, key: u32) -> u32 {
        self.entry(bucket, key).map_or(0, |place| number(self.values, place as usize))
    }

    /// The index of the value of a quadgram, by its hash; 0 if there is none. Branch-free, so that lookups overlap.
    pub(super) fn index_of_quadgram(&self, hash: u32) -> u32 {
        self.place(u64::from(hash.wrapping_add(hash >> 12)), hash)
    }

    fn place(&self, bucket: u64, key: u32) -> u32 {
        let buckets = self.buckets.as_chunks::<16>().0;
        let bucket = &buckets[bucket as usize & (buckets.len() - 1)];
        let found = bucket.as_chunks::<4>().0.iter().fold(0, |found, entry| {
            let entry = u32::from_le_bytes(*entry);
            let is_it = (entry ^ key) >> self.value_bits == 0;
            found | entry & u32::from(is_it).wrapping_neg()
        });
        found & ((1 << self.value_bits) - 1)
    }

    pub(super) fn value(&self, place: u32) -> u32 {
        number(self.values, place as usize)
    }

    /// The value of a quadgram, by its hash.
    pub(super) fn by_quadgram(&self, hash: u32) -> u32 {
        self.find(u64::from(hash.wrapping_add(hash >> 12)), hash)
    }

    /// The value of a word or a pair of words, by its hash.
    pub(super) fn by_word(&self, hash: u64) -> u32 {
        self.find(hash.wrapping_add(hash >> 12), (hash >> 4) as u32)
    }
}

const BEFORE: u32 = 0x0000_4444;
const AFTER: u32 = 0x4444_0000;

/// Four bytes as a little-endian number, padded with zeros.
fn four(bytes: &[u8], start: usize) -> u32 {
    let mut word = [0; 4];
    if let Some(rest) = bytes.get(start..) {
        let len = rest.len().min(4);
        word[..len].copy_from_slice(&rest[..len]);
    }
    u32::from_le_bytes(word)
}

/// The hash of one to four letters. `first` and `last` say if they begin and end a word.
pub(super) fn quadgram_hash(letters: &[u8], first: bool, last: bool) -> u32 {
    let mut hash = ascii_quadgram_hash(four(letters, 0), first, last);
    if letters.len() > 4 {
        let word = four(letters, 4);
        hash = hash.wrapping_add(word ^ word << 4);
    }
    if letters.len() > 8 {
        let word = four(&letters[..letters.len().min(12)], 8);
        hash = hash.wrapping_add(word ^ word << 2);
    }
    hash
}

/// The hash of a word's first eight letters. `last` says if that is the whole word.
pub(super) fn word_hash(letters: &[u8], last: bool) -> u64 {
    let letters = &letters[..letters.len().min(24)];
    let edges = BEFORE | if last { AFTER } else { 0 };
    let mut hash: u64 = 0;
    let mut sum: u64 = 0;
    for n in 0..letters.len().div_ceil(4) {
        let word = u64::from(four(letters, n * 4));
        sum += word;
        hash += match n {
            0 => word ^ word >> 3,
            1 => word ^ word << 4,
            2 => word ^ word << 2,
            3 => word ^ word >> 8,
            4 => word ^ word >> 4,
            _ => word ^ word >> 6,
        };
    }
    sum += sum >> 17;
    sum += sum >> 9;
    (hash ^ u64::from(edges)).wrapping_add((sum & 0xff) << 32)
}

/// The hash of a frequent word: FNV-1a with a final mix.
pub(super) fn frequent_hash(word: &[u8]) -> u64 {
    let hash = word
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3));
    hash ^ hash >> 29
}

/// The hash of up to four ASCII letters, as a little-endian number padded with zeros.
pub(super) fn ascii_quadgram_hash(letters: u32, first: bool, last: bool) -> u32 {
    let edges = if first { BEFORE } else { 0 } | if last { AFTER } else { 0 };
    (letters ^ letters >> 3) ^ edges
}

/// The hash of two consecutive words.
pub(super) fn pair_hash(one: u64, two: u64) -> u64 {
    one.rotate_right(13).wrapping_add(two)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_covers_more_than_150_languages() {
        assert!(GRAMS.codes.len() > 150);
        assert_eq!(GRAMS.codes[0], "und");
        assert!(GRAMS.label("cs").is_some() && GRAMS.label("xx").is_none());
        assert!(GRAMS.classes.iter().all(|label| usize::from(*label) < GRAMS.codes.len()));
    }

    #[test]
    fn the_automaton_finds_features_and_terminates() {
        let mut state = 0;
        let mut found = 0;
        for byte in " und die Straße ist naß".bytes().chain(0..=255) {
            let (next, feature) = GRAMS.step(state, byte);
            state = next;
            if let Some(feature) = feature {
                assert!((feature as usize) < GRAMS.feature_count());
                found += 1;
            }
        }
        assert!(found > 15, "{found}");
    }

    #[test]
    fn german_quadgrams_and_words_score_for_german() {
        let code = |label: &Label| GRAMS.codes[usize::from(*label)];
        let value = GRAMS.quadgrams.by_quadgram(quadgram_hash("sche".as_bytes(), false, false));
        let found: Vec<_> = GRAMS.scored_labels(value, true).map(|(label, _)| code(&label)).collect();
        assert!(found.contains(&"de"), "{found:?}");
        let owners: Vec<_> = GRAMS.owners("zwischen".as_bytes()).iter().map(code).collect();
        assert_eq!(owners, ["de"]);
    }
}
