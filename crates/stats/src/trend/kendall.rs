//! The Mann–Kendall test for a monotonic trend.
//!
//! The statistic is the number of rising pairs less the number of falling pairs. It assumes nothing about the
//! distribution, so that one bursting week does not make a trend. Inversions are counted by merge sort in n log n
//! steps.

use crate::measure::special::normal_two_sided;

/// The result of the test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Kendall {
    /// Rising pairs less falling pairs.
    pub s: i64,
    /// The z-score with continuity correction; negative if falling.
    pub z: f64,
}

impl Kendall {
    /// The two-sided p-value.
    pub fn p(&self) -> f64 {
        normal_two_sided(self.z)
    }
}

/// Tests a series. `scratch` is a buffer that calls can share.
pub fn mann_kendall(series: &[f64], scratch: &mut Vec<f64>) -> Kendall {
    let n = series.len();
    scratch.clear();
    scratch.extend_from_slice(series);
    scratch.resize(2 * n, 0.0);
    let (sorted, spare) = scratch.split_at_mut(n);
    let falling = sort_counting_falls(sorted, spare);

    let (mut tied_pairs, mut tie_correction) = (0, 0.0);
    for group in sorted.chunk_by(|a, b| a == b).filter(|group| group.len() > 1) {
        tied_pairs += pairs(group.len());
        tie_correction += variance_term(group.len());
    }
    let s = pairs(n) - tied_pairs - 2 * falling;
    let variance = (variance_term(n) - tie_correction) / 18.0;
    let distance = (s.abs() - 1).max(0) as f64;
    let z = if variance > 0.0 { distance / variance.sqrt() * s.signum() as f64 } else { 0.0 };
    Kendall { s, z }
}

fn pairs(n: usize) -> i64 {
    (n * n.saturating_sub(1) / 2) as i64
}

fn variance_term(n: usize) -> f64 {
    let n = n as f64;
    n * (n - 1.0) * (2.0 * n + 5.0)
}

/// The length below which insertion sort is faster than merging.
const SHORT: usize = 12;

/// Sorts, and counts inversions.
fn sort_counting_falls(values: &mut [f64], spare: &mut [f64]) -> i64 {
    let n = values.len();
    let mut falls = 0;
    if n <= SHORT {
        for i in 1..n {
            let value = values[i];
            let mut to = i;
            while to > 0 && values[to - 1] > value {
                values[to] = values[to - 1];
                to -= 1;
            }
            values[to] = value;
            falls += (i - to) as i64;
        }
        return falls;
    }
    let middle = n / 2;
    let (left, right) = values.split_at_mut(middle);
    falls += sort_counting_falls(left, &mut spare[..middle]) + sort_counting_falls(right, &mut spare[middle..]);
    spare[..n].copy_from_slice(values);
    let (left, right) = spare[..n].split_at(middle);
    let (mut i, mut j) = (0, 0);
    for slot in values {
        if j == right.len() || (i < left.len() && left[i] <= right[j]) {
            *slot = left[i];
            i += 1;
        } else {
            *slot = right[j];
            j += 1;
            falls += (left.len() - i) as i64;
        }
    }
    falls
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition.
    fn s_by_pairs(series: &[f64]) -> i64 {
        let later = |i: usize| series[i + 1..].iter().map(move |later| later.partial_cmp(&series[i]));
        (0..series.len()).flat_map(later).map(|order| order.map_or(0, |order| order as i64)).sum()
    }

    #[test]
    fn merge_sort_counts_inversions_like_the_definition() {
        let mut random = fastrand::Rng::with_seed(5);
        for n in 0..90 {
            let series: Vec<f64> = (0..n).map(|_| f64::from(random.u32(0..20))).collect();
            assert_eq!(mann_kendall(&series, &mut Vec::new()).s, s_by_pairs(&series), "{series:?}");
        }
    }

    #[test]
    fn z_and_p_follow_the_formula() {
        // n = 10 without ties: Var = 10·9·25/18 = 125; S = 45 for a rising series.
        let rising: Vec<f64> = (0..10).map(f64::from).collect();
        let found = mann_kendall(&rising, &mut Vec::new());
        assert_eq!(found.s, 45);
        assert!((found.z - 44.0 / 125f64.sqrt()).abs() < 1e-12);
        let falling: Vec<f64> = rising.iter().rev().copied().collect();
        assert_eq!(mann_kendall(&falling, &mut Vec::new()).z, -found.z);
    }

    #[test]
    fn ties_reduce_the_variance() {
        // Ties of 3 and 2 in n = 8: Var = (8·7·21 − 3·2·11 − 2·1·9) / 18.
        let found = mann_kendall(&[1.0, 1.0, 1.0, 2.0, 3.0, 3.0, 4.0, 5.0], &mut Vec::new());
        assert_eq!(found.s, 24);
        assert!((found.z - 23.0 / (1092f64 / 18.0).sqrt()).abs() < 1e-12);
    }

    #[test]
    fn a_constant_series_has_no_trend() {
        for series in [&[][..], &[1.0], &[2.0; 30]] {
            let found = mann_kendall(series, &mut Vec::new());
            assert_eq!((found.s, found.z, found.p()), (0, 0.0, 1.0));
        }
    }
}
