//! Sentence alignment of translated texts by length, numbers and names.
//!
//! The length model and the bead types follow Gale and Church, "A Program for Aligning Sentences in
//! Bilingual Corpora" (1993): dynamic programming finds the cheapest sequence of beads of zero to
//! two sentences on each side. The length ratio of the two languages is estimated from the texts:
//! first from their totals, then from the confidently aligned 1:1 beads. Numbers and names, which
//! many languages spell alike, serve as anchors.

use std::ops::Range;

/// Properties of a sentence that the alignment uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentenceProfile {
    /// Length in characters without white space.
    pub chars: usize,
    /// Numbers in the sentence, sorted.
    pub numbers: Vec<u32>,
    /// Hashed prefixes of names in the sentence, sorted.
    pub names: Vec<u32>,
}

impl SentenceProfile {
    /// Extracts the profile of a sentence.
    pub fn of(sentence: &str) -> SentenceProfile {
        let (mut numbers, mut names) = (Vec::new(), Vec::new());
        let mut number: Option<u32> = None;
        for c in sentence.chars().chain([' ']) {
            match c.to_digit(10).or_else(|| digit(c)) {
                Some(digit) => number = Some(number.unwrap_or(0).wrapping_mul(10).wrapping_add(digit)),
                None => numbers.extend(number.take()),
            }
        }
        for word in sentence.split(|c: char| !c.is_alphanumeric()) {
            names.extend(name(word));
        }
        numbers.sort_unstable();
        names.sort_unstable();
        SentenceProfile { chars: sentence.chars().filter(|c| !c.is_whitespace()).count(), numbers, names }
    }
}

/// Hash of the first letters of a capitalised word; inflected endings differ between languages.
fn name(word: &str) -> Option<u32> {
    let is_name = word.chars().next().is_some_and(char::is_uppercase) && word.chars().count() >= NAME_LETTERS;
    let letters = word.chars().flat_map(char::to_lowercase).take(NAME_LETTERS);
    is_name.then(|| letters.fold(2_166_136_261, |hash, c| (hash ^ u32::from(c)).wrapping_mul(16_777_619)))
}

/// Value of a digit of another script.
fn digit(c: char) -> Option<u32> {
    const ZEROS: [char; 9] = ['٠', '۰', '०', '০', '੦', '૦', '௦', '๐', '០'];
    let zero = ZEROS.iter().rev().find(|zero| **zero <= c)?;
    let value = u32::from(c) - u32::from(*zero);
    (value < 10).then_some(value)
}

/// Group of aligned sentences: up to two on each side, or one without a counterpart.
#[derive(Debug, Clone, PartialEq)]
pub struct Bead {
    /// Sentences of the first text.
    pub left: Range<usize>,
    /// Sentences of the second text.
    pub right: Range<usize>,
    /// Confidence from 0 to 1.
    pub score: f32,
}

/// Bead types: sentences on each side, and prior probability.
const BEAD_TYPES: [(usize, usize, f64); 6] =
    [(1, 1, 0.89), (1, 0, 0.02), (0, 1, 0.02), (2, 1, 0.0445), (1, 2, 0.0445), (2, 2, 0.002)];
/// Variance of the length difference per character.
const VARIANCE: f64 = 5.0;
/// Bonus for each number that both sides share, and penalty for each number on one side only.
const SHARED_NUMBER: f64 = 2.0;
const LONE_NUMBER: f64 = 1.0;
/// Bonus for each name that both sides share, and the length of the compared prefix.
const SHARED_NAME: f64 = 2.0;
const NAME_LETTERS: usize = 3;
/// Longer texts are not aligned.
const MAX_SENTENCES: usize = 20_000;
/// Limits of the half-width of the search band around the diagonal, in sentences.
const MIN_BAND: usize = 40;
const MAX_BAND: usize = 500;
/// Maximum length ratio between two languages.
const MAX_LENGTH_RATIO: f64 = 4.0;
/// The minimum share of aligned sentences in a pair of translations.
const LEAST_ALIGNED: f64 = 0.5;

/// Aligns two texts. Every sentence is in exactly one bead; beads are in text order.
pub fn align(left: &[SentenceProfile], right: &[SentenceProfile]) -> Vec<Bead> {
    if left.is_empty() || right.is_empty() || left.len().max(right.len()) > MAX_SENTENCES {
        return Vec::new();
    }
    let total = |side: &[SentenceProfile]| side.iter().map(|profile| profile.chars).sum::<usize>().max(1) as f64;
    let first = align_with_ratio(left, right, clamped(total(right) / total(left)));
    // The median of the 1:1 ratios is robust against omitted passages.
    let mut ratios: Vec<f64> = first
        .iter()
        .filter(|bead| bead.left.len() == 1 && bead.right.len() == 1)
        .map(|bead| (right[bead.right.start].chars.max(1)) as f64 / (left[bead.left.start].chars.max(1)) as f64)
        .collect();
    if ratios.len() < 5 {
        return first;
    }
    ratios.sort_by(f64::total_cmp);
    align_with_ratio(left, right, clamped(ratios[ratios.len() / 2]))
}

/// Whether enough sentences of two texts are aligned for one to be a translation of the other.
pub fn are_translations(beads: &[Bead]) -> bool {
    let sentences = |bead: &Bead| bead.left.len() + bead.right.len();
    let all: usize = beads.iter().map(sentences).sum();
    let aligned: usize = beads.iter().filter(|bead| bead.score > 0.0).map(sentences).sum();
    aligned as f64 >= LEAST_ALIGNED * all as f64 && aligned > 0
}

fn clamped(ratio: f64) -> f64 {
    ratio.clamp(1.0 / MAX_LENGTH_RATIO, MAX_LENGTH_RATIO)
}

/// Finds the cheapest alignment for a given ratio of lengths (second text to first).
fn align_with_ratio(left: &[SentenceProfile], right: &[SentenceProfile], ratio: f64) -> Vec<Bead> {
    let (lefts, rights) = (sums(left), sums(right));
    let band = Band::new(&lefts, &rights);
    let mut costs = vec![f64::INFINITY; band.cells()];
    let mut steps = vec![u8::MAX; band.cells()];
    for i in 0..=left.len() {
        for j in band.row(i) {
            let cell = band.cell(i, j);
            if i == 0 && j == 0 {
                costs[cell] = 0.0;
                continue;
            }
            for (number, (down, across, _)) in BEAD_TYPES.iter().enumerate() {
                let (Some(from_i), Some(from_j)) = (i.checked_sub(*down), j.checked_sub(*across)) else { continue };
                if !band.row(from_i).contains(&from_j) {
                    continue;
                }
                let before = costs[band.cell(from_i, from_j)];
                if before == f64::INFINITY {
                    continue;
                }
                let lengths = ((lefts[i] - lefts[from_i]) as f64, (rights[j] - rights[from_j]) as f64);
                let cost =
                    before + bead_cost(number, lengths, ratio) + anchor_cost(&left[from_i..i], &right[from_j..j]);
                if cost < costs[cell] {
                    (costs[cell], steps[cell]) = (cost, number as u8);
                }
            }
        }
    }
    let (mut i, mut j) = (left.len(), right.len());
    let mut beads = Vec::new();
    while (i, j) != (0, 0) {
        let Some((down, across, _)) = BEAD_TYPES.get(usize::from(steps[band.cell(i, j)])) else { return Vec::new() };
        let (from_i, from_j) = (i - down, j - across);
        let cost = costs[band.cell(i, j)] - costs[band.cell(from_i, from_j)];
        let score = if *down == 0 || *across == 0 { 0.0 } else { (-cost.max(0.0) / 4.0).exp() as f32 };
        beads.push(Bead { left: from_i..i, right: from_j..j, score });
        (i, j) = (from_i, from_j);
    }
    beads.reverse();
    beads
}

/// Cumulative lengths: characters before each sentence, and the total.
fn sums(side: &[SentenceProfile]) -> Vec<usize> {
    let mut sum = 0;
    std::iter::once(0)
        .chain(side.iter().map(|profile| {
            sum += profile.chars;
            sum
        }))
        .collect()
}

/// Cost of a bead: negative log prior plus the length penalty.
fn bead_cost(step: usize, (left, right): (f64, f64), ratio: f64) -> f64 {
    let rarity = -BEAD_TYPES[step].2.ln();
    if left == 0.0 || right == 0.0 {
        // Unaligned sentences cost only slightly more when they are long: whole paragraphs are
        // omitted as easily as sentences.
        return rarity + (left.max(right / ratio)).sqrt() * 0.08;
    }
    let mean = (left + right / ratio) / 2.0;
    let delta = (right - left * ratio) / (mean * VARIANCE * ratio).sqrt();
    rarity - log_two_tails(delta.abs())
}

/// Logarithm of the two-tailed probability of a standard normal deviation.
fn log_two_tails(deviation: f64) -> f64 {
    // Chebyshev fit of erfc in exponential form (Numerical Recipes, erfcc), which does not
    // underflow for large values.
    let z = deviation / std::f64::consts::SQRT_2;
    let t = 1.0 / (1.0 + 0.5 * z);
    let terms = [
        -1.265_512_23,
        1.000_023_68,
        0.374_091_96,
        0.096_784_18,
        -0.186_288_06,
        0.278_868_07,
        -1.135_203_98,
        1.488_515_87,
        -0.822_152_23,
        0.170_872_77,
    ];
    let polynomial = terms.iter().rev().fold(0.0, |sum, term| sum * t + term);
    t.ln() - z * z + polynomial
}

/// Cost of the numbers and names of a bead; negative if the sides agree.
fn anchor_cost(left: &[SentenceProfile], right: &[SentenceProfile]) -> f64 {
    if left.is_empty() || right.is_empty() {
        return 0.0;
    }
    let (left_count, right_count, shared) = shared(left, right, |profile| &profile.numbers);
    let lone = left_count + right_count - 2 * shared;
    let (.., names) = self::shared(left, right, |profile| &profile.names);
    // Capped, so that a table of numbers cannot outweigh the text around it.
    let most = |number: usize| number.min(5) as f64;
    LONE_NUMBER * most(lone) - SHARED_NUMBER * most(shared) - SHARED_NAME * most(names)
}

/// Number of anchors on the left, on the right, and shared by both sides.
fn shared(
    left: &[SentenceProfile],
    right: &[SentenceProfile],
    of: impl Fn(&SentenceProfile) -> &Vec<u32>,
) -> (usize, usize, usize) {
    let gather = |side: &[SentenceProfile]| {
        let mut all: Vec<u32> = side.iter().flat_map(|profile| of(profile).iter().copied()).collect();
        // Anchors of a single sentence are sorted already.
        if side.len() > 1 {
            all.sort_unstable();
        }
        all
    };
    let (left, right) = (gather(left), gather(right));
    let (mut i, mut j, mut shared) = (0, 0, 0);
    while let (Some(a), Some(b)) = (left.get(i), right.get(j)) {
        match a.cmp(b) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => (i, j, shared) = (i + 1, j + 1, shared + 1),
        }
    }
    (left.len(), right.len(), shared)
}

/// Band of the dynamic programming table that is searched, around the diagonal by length.
struct Band {
    centres: Vec<usize>,
    width: usize,
    columns: usize,
}

impl Band {
    fn new(lefts: &[usize], rights: &[usize]) -> Band {
        let scale = (*rights.last().unwrap_or(&0)).max(1) as f64 / (*lefts.last().unwrap_or(&0)).max(1) as f64;
        let centre = |sum: &usize| rights.partition_point(|right| (*right as f64) < *sum as f64 * scale);
        let width = (rights.len().max(lefts.len()) / 5 + MIN_BAND).min(MAX_BAND);
        Band { centres: lefts.iter().map(centre).collect(), width, columns: rights.len() }
    }

    fn row(&self, i: usize) -> Range<usize> {
        let centre = self.centres[i];
        // The first and the last row always include the corners.
        let start = if i == 0 { 0 } else { centre.saturating_sub(self.width) };
        let end = if i + 1 == self.centres.len() { self.columns } else { (centre + self.width + 1).min(self.columns) };
        start..end
    }

    fn cell(&self, i: usize, j: usize) -> usize {
        i * (2 * self.width + 1) + (j - self.row(i).start)
    }

    fn cells(&self) -> usize {
        self.centres.len() * (2 * self.width + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profiles(lengths: &[usize]) -> Vec<SentenceProfile> {
        lengths.iter().map(|chars| SentenceProfile { chars: *chars, numbers: Vec::new(), names: Vec::new() }).collect()
    }

    fn steps(left: &[usize], right: &[usize]) -> Vec<(usize, usize)> {
        align(&profiles(left), &profiles(right)).iter().map(|bead| (bead.left.len(), bead.right.len())).collect()
    }

    #[test]
    fn merged_split_and_missing_sentences_are_aligned() {
        assert_eq!(steps(&[50, 20, 90], &[55, 22, 95]), [(1, 1), (1, 1), (1, 1)]);
        assert_eq!(steps(&[50, 40, 90, 30], &[95, 95, 31]), [(2, 1), (1, 1), (1, 1)]);
        assert_eq!(steps(&[95, 90, 30], &[50, 46, 95, 31]), [(1, 2), (1, 1), (1, 1)]);
        let whole = [60, 110, 70, 180, 90, 130, 45, 200, 75, 140];
        let mut shorter = whole.map(|chars| chars + chars / 20).to_vec();
        shorter.remove(3);
        let mut expected = vec![(1, 1); 9];
        expected.insert(3, (1, 0));
        assert_eq!(steps(&whole, &shorter), expected);
    }

    #[test]
    fn languages_may_differ_in_length_by_a_factor_of_three() {
        let left = [120, 60, 33, 150, 81, 45, 99];
        let right = left.map(|chars| chars / 3);
        assert_eq!(steps(&left, &right), [(1, 1); 7]);
    }

    #[test]
    fn shared_numbers_align_sentences_of_equal_length() {
        let sentence = |word: &str, figure: &str| {
            SentenceProfile::of(&format!("{} {figure} {}.", word.repeat(12), word.repeat(12)))
        };
        let left =
            [("un ", "1918"), ("deux ", "1945"), ("trois ", "1968"), ("deux ", "1989")].map(|(w, f)| sentence(w, f));
        let right = [("two ", "1945"), ("three ", "1968"), ("eight ", "1989")].map(|(w, f)| sentence(w, f));
        let beads = align(&left, &right);
        let pairs: Vec<_> = beads.iter().map(|bead| (bead.left.clone(), bead.right.clone())).collect();
        assert_eq!(pairs, [(0..1, 0..0), (1..2, 0..1), (2..3, 1..2), (3..4, 2..3)]);
        assert_eq!(SentenceProfile::of("1,5 kg ١٢ und 3.").numbers, [1, 3, 5, 12]);
    }

    #[test]
    fn every_sentence_is_in_one_bead_even_for_extreme_lengths() {
        let cases: [(&[usize], &[usize]); 5] = [
            (&[0, 0, 0], &[0]),
            (&[1], &[10_000]),
            (&[5; 300], &[7; 20]),
            (&[1_000_000, 1], &[1, 1_000_000]),
            (&[9], &[9; 90]),
        ];
        for (left, right) in cases {
            let beads = align(&profiles(left), &profiles(right));
            let (mut i, mut j) = (0, 0);
            for bead in &beads {
                assert_eq!((bead.left.start, bead.right.start), (i, j));
                (i, j) = (bead.left.end, bead.right.end);
            }
            assert!(beads.is_empty() || (i, j) == (left.len(), right.len()), "{beads:?}");
        }
        assert!(align(&[], &profiles(&[1])).is_empty());
    }
}
