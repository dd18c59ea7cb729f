//! Permutation test of the contexts of a word in two parts of a corpus.
//!
//! Both parts have about the same number of contexts in each stratum (a site, say). If the word means the same in both parts,
//! documents of a stratum can be exchanged: the distance of the two parts is compared with its distribution over random
//! exchanges. Whole documents are exchanged and neither hits nor tokens, so that hits of one text, which have much in common,
//! are no independent evidence. Equal numbers of contexts make the variance after exchanges that of the parts, even if the
//! documents of one part are longer than those of the other.
//!
//! The distance is the triangular discrimination Σ (a − b)² / (a + b) (Topsøe 2000), which is the Jensen–Shannon divergence up
//! to a factor between 1 and 2 ln 2. p-values follow Besag and Clifford (1991), who stop as soon as chance is likely, and the
//! Pearson type III approximation of the tail where chance was hardly seen (Mielke and Berry 2001).

use super::special::gamma_p_q;

/// The contexts of a word in the documents of two parts.
#[derive(Debug, Clone, Default)]
pub struct ContextSamples {
    /// The contexts of all documents, document by document: each once for each hit that has it.
    contexts: Vec<u32>,
    /// The end of the contexts of each document.
    ends: Vec<usize>,
    strata: Vec<Stratum>,
}

/// Documents that are exchanged with each other: first those before, then those after.
#[derive(Debug, Clone, Copy)]
struct Stratum {
    before: usize,
    documents: usize,
    contexts: usize,
}

/// The difference of the contexts of a word.
#[derive(Debug, Clone, PartialEq)]
pub struct ContextShift {
    /// The distance of the parts beyond chance: 0 as after random exchanges, 1 if no context is in both parts.
    pub distance: f64,
    /// The probability of such a distance by chance.
    pub p: f64,
    /// The hits with each context before and after.
    pub counts: Vec<(u32, u32)>,
}

/// The hits with a context below which it does not count: a single one is in one part only by necessity.
pub const MIN_HITS: u32 = 3;
/// The most random exchanges.
const EXCHANGES: u32 = 499;
/// The exchanges with as great a distance after which chance is likely.
const ENOUGH_CHANCE: u32 = 20;
/// The least skewness of the approximation; a gamma distribution with less is normal.
const LEAST_SKEWNESS: f64 = 0.05;

impl ContextSamples {
    /// Adds the documents of a stratum: the contexts of each.
    pub fn add_stratum<D: AsRef<[u32]>>(&mut self, before: &[D], after: &[D]) {
        let first = self.contexts.len();
        for document in before.iter().chain(after) {
            self.contexts.extend_from_slice(document.as_ref());
            self.ends.push(self.contexts.len());
        }
        let (documents, contexts) = (before.len() + after.len(), self.contexts.len() - first);
        self.strata.push(Stratum { before: before.len(), documents, contexts });
    }

    /// The contexts of a document.
    fn document(&self, number: u32) -> &[u32] {
        let start = number.checked_sub(1).map_or(0, |last| self.ends[last as usize]);
        &self.contexts[start..self.ends[number as usize]]
    }

    /// Tests contexts, which are numbered below `contexts`. Nothing if `goes_on`, which is asked after each exchange, stops it.
    pub fn test(&self, contexts: usize, seed: u64, mut goes_on: impl FnMut() -> bool) -> Option<ContextShift> {
        let mut together = vec![0u32; contexts];
        self.contexts.iter().for_each(|context| together[*context as usize] += 1);
        let scale = Scale::new(&together);
        let mut before = vec![0u32; contexts];
        let mut order: Vec<u32> = (0..self.ends.len() as u32).collect();
        let found = self.distance(&order, |stratum, _| stratum.before, &scale, &mut before);
        let counts = before.iter().zip(&together).map(|(before, all)| (*before, all - before)).collect();
        let mut shift = ContextShift { distance: 0.0, p: 1.0, counts };
        if scale.most <= 0.0 {
            return Some(shift);
        }
        let mut random = SplitMix(seed);
        let mut moments = Moments::default();
        let mut as_great = 0;
        while moments.count < EXCHANGES && as_great < ENOUGH_CHANCE {
            self.exchange(&mut order, &mut random);
            let distance = self.distance(&order, |stratum, order| self.half(stratum, order), &scale, &mut before);
            as_great += u32::from(distance >= found);
            moments.add(distance);
            if !goes_on() {
                return None;
            }
        }
        let expected = moments.mean();
        shift.distance = (found - expected) / (scale.most - expected).max(f64::MIN_POSITIVE);
        shift.p = match as_great {
            ENOUGH_CHANCE => f64::from(as_great) / f64::from(moments.count),
            _ => moments.tail(found),
        };
        Some(shift)
    }

    /// The distance of the first documents of each stratum of an order, so many as `first_part` says, from the others. Sums
    /// whole numbers as long as it can, so that it does not depend on the numbers of contexts. `before` gets the hits of the
    /// first documents.
    fn distance(
        &self,
        order: &[u32],
        first_part: impl Fn(&Stratum, &[u32]) -> usize,
        scale: &Scale,
        before: &mut [u32],
    ) -> f64 {
        before.fill(0);
        let mut first = 0;
        for stratum in &self.strata {
            let documents = &order[first..first + stratum.documents];
            for document in &documents[..first_part(stratum, documents)] {
                self.document(*document).iter().for_each(|context| before[*context as usize] += 1);
            }
            first += stratum.documents;
        }
        let mut sum = 0.0;
        for (together, contexts) in &scale.levels {
            let squares = contexts.iter().map(|context| {
                let difference = 2 * i64::from(before[*context as usize]) - i64::from(*together);
                difference * difference
            });
            sum += squares.sum::<i64>() as f64 / f64::from(*together);
        }
        sum
    }

    /// The number of first documents that have about half of the contexts of a stratum.
    fn half(&self, stratum: &Stratum, order: &[u32]) -> usize {
        first_with(order.iter().map(|document| self.document(*document).len()), stratum.contexts / 2)
    }

    /// Puts the documents of each stratum into random order (Fisher and Yates).
    fn exchange(&self, order: &mut [u32], random: &mut SplitMix) {
        let mut first = 0;
        for stratum in &self.strata {
            let documents = &mut order[first..first + stratum.documents];
            for at in 1..documents.len() {
                documents.swap(at, random.below(at + 1));
            }
            first += stratum.documents;
        }
    }
}

/// The number of first documents whose contexts are together nearest to a number.
pub fn first_with(contexts: impl IntoIterator<Item = usize>, wanted: usize) -> usize {
    let mut sum = 0;
    let is_nearer = |contexts: &usize| {
        sum += 2 * contexts;
        // With half of its contexts more than wanted a document makes the sum worse.
        sum <= 2 * wanted + contexts
    };
    contexts.into_iter().take_while(is_nearer).count()
}

/// Contexts by the number of hits with them.
struct Scale {
    levels: Vec<(u32, Vec<u32>)>,
    /// The greatest distance.
    most: f64,
}

impl Scale {
    fn new(together: &[u32]) -> Scale {
        let mut counted: Vec<u32> = (0..together.len() as u32).collect();
        counted.retain(|context| together[*context as usize] >= MIN_HITS);
        counted.sort_unstable_by_key(|context| (together[*context as usize], *context));
        let same = |a: &u32, b: &u32| together[*a as usize] == together[*b as usize];
        let levels: Vec<(u32, Vec<u32>)> =
            counted.chunk_by(same).map(|level| (together[level[0] as usize], level.to_vec())).collect();
        let most = levels.iter().map(|(together, contexts)| f64::from(*together) * contexts.len() as f64).sum();
        Scale { levels, most }
    }
}

/// Sums of powers of distances.
#[derive(Default)]
struct Moments {
    count: u32,
    values: Vec<f64>,
}

impl Moments {
    fn add(&mut self, value: f64) {
        self.count += 1;
        self.values.push(value);
    }

    fn mean(&self) -> f64 {
        self.values.iter().sum::<f64>() / f64::from(self.count.max(1))
    }

    fn central(&self, power: i32) -> f64 {
        let mean = self.mean();
        self.values.iter().map(|value| (value - mean).powi(power)).sum::<f64>() / f64::from(self.count.max(1))
    }

    /// The probability of a value or a greater one, by the gamma distribution with the same mean, variance and skewness.
    fn tail(&self, value: f64) -> f64 {
        let deviation = self.central(2).sqrt();
        if deviation <= 1e-9 * value.abs() {
            return 1.0;
        }
        let skewness = (self.central(3) / deviation.powi(3)).max(LEAST_SKEWNESS);
        let shape = 4.0 / (skewness * skewness);
        gamma_p_q(shape, shape + (value - self.mean()) / deviation * shape.sqrt()).1
    }
}

/// The generator SplitMix64 (Steele, Lea and Flood 2014).
struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below another.
    fn below(&mut self, end: usize) -> usize {
        ((u128::from(self.next()) * end as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Documents = Vec<Vec<u32>>;

    /// Documents with some hits, each of which has six of the contexts from `first` to `first + 40`.
    fn documents(random: &mut SplitMix, count: usize, hits: usize, first: u32) -> Documents {
        let document = |random: &mut SplitMix| {
            // Hits of one document have one context in common.
            let common = first + random.below(40) as u32;
            let rest = (0..5 * hits).map(|_| first + random.below(40) as u32);
            (0..hits).map(|_| common).chain(rest).collect()
        };
        (0..count).map(|_| document(random)).collect()
    }

    fn test(before: &Documents, after: &Documents, seed: u64) -> ContextShift {
        let mut samples = ContextSamples::default();
        samples.add_stratum(before, after);
        samples.test(100, seed, || true).expect("nothing stops it")
    }

    #[test]
    fn p_values_without_a_change_are_uniform_also_where_documents_are_longer() {
        for (count, hits) in [(40, 1), (13, 3)] {
            let mut random = SplitMix(5);
            let mut small = [0; 3];
            for seed in 0..400 {
                let before = documents(&mut random, 40, 1, 0);
                let found = test(&before, &documents(&mut random, count, hits, 0), seed);
                small.iter_mut().zip([0.01, 0.1, 0.5]).for_each(|(small, p)| *small += i32::from(found.p <= p));
            }
            // Expected are 4, 40 and 200; the bounds are four standard deviations away.
            assert!(small[0] <= 12 && (16..64).contains(&small[1]) && (160..240).contains(&small[2]), "{small:?}");
        }
    }

    #[test]
    fn other_contexts_are_a_distance_of_one() {
        let mut random = SplitMix(6);
        let before = documents(&mut random, 30, 1, 0);
        let found = test(&before, &documents(&mut random, 30, 1, 50), 1);
        assert!((found.distance - 1.0).abs() < 1e-12 && found.p < 1e-9, "{found:?}");
        assert!(found.counts[..40].iter().all(|(_, after)| *after == 0));
        let mut half = documents(&mut random, 15, 1, 0);
        half.extend(documents(&mut random, 15, 1, 50));
        let found = test(&before, &half, 1);
        assert!((0.2..0.6).contains(&found.distance) && found.p < 1e-4, "{found:?}");
    }

    #[test]
    fn differences_between_strata_are_none_between_parts() {
        let mut random = SplitMix(7);
        let mut samples = ContextSamples::default();
        for (count, first) in [(30, 0), (10, 50)] {
            let [before, after] = [(); 2].map(|()| documents(&mut random, count, 1, first));
            samples.add_stratum(&before, &after);
        }
        let found = samples.test(100, 3, || true).expect("nothing stops it");
        assert!(found.p > 0.01, "{found:?}");
        assert_eq!(samples.test(100, 3, || false), None);
    }

    #[test]
    fn nothing_to_compare_is_no_change() {
        let empty = ContextSamples::default().test(4, 1, || true).expect("nothing stops it");
        assert_eq!((empty.p, empty.distance), (1.0, 0.0));
        let same = vec![vec![1, 2]; 5];
        assert_eq!(test(&same, &same, 1).p, 1.0);
    }

    #[test]
    fn documents_are_taken_until_their_contexts_are_nearest() {
        assert_eq!(first_with([1, 1, 1, 1], 2), 2);
        assert_eq!((first_with([1, 5, 1], 3), first_with([1, 5, 1], 4), first_with([5], 2)), (1, 2, 0));
    }
}
