//! Level shifts: Pettitt's change-point test (1979), based on ranks like Mann–Kendall.
//!
//! A trend has a change point, too: [`super::sharpness`] tells a step from a gradual change. Points that depend on each other
//! are fewer observations, which makes the p-value larger.

use super::site_series::independent_share;

/// A change point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shift {
    /// The first point of the new level.
    pub at: usize,
    /// Pettitt's K, positive if the later level is the higher.
    pub k: i64,
    /// The approximate p-value, an upper bound.
    pub p: f64,
}

/// Finds the most likely change point; `None` in a constant series.
pub fn shift(series: &[f64]) -> Option<Shift> {
    let n = series.len();
    let doubled_ranks = doubled_ranks(series);
    // U_t = t (n + 1) − 2 Σ ranks of the first t: how much the first t lie below the others.
    let (mut sum, mut best) = (0i64, (0, 0i64));
    for (t, rank) in doubled_ranks.iter().enumerate().take(n.saturating_sub(1)) {
        sum += rank;
        let u = (t as i64 + 1) * (n as i64 + 1) - sum;
        if u.abs() > best.1.abs() {
            best = (t + 1, u);
        }
    }
    let (at, k) = best;
    if at == 0 {
        return None;
    }
    let size = n as f64;
    let ranks: Vec<f64> = doubled_ranks.iter().map(|rank| *rank as f64 - (size + 1.0)).collect();
    let levels = [&ranks[..at], &ranks[at..]].map(|part| part.iter().sum::<f64>() / part.len() as f64);
    let rest: Vec<f64> = ranks.iter().enumerate().map(|(i, rank)| rank - levels[usize::from(i >= at)]).collect();
    let exponent = 6.0 * (k * k) as f64 / (size.powi(3) + size.powi(2));
    let p = 2.0 * (-exponent * independent_share(&rest)).exp();
    Some(Shift { at, k, p: p.min(1.0) })
}

/// Twice the rank of each value, so that the mean ranks of ties are whole numbers.
pub(super) fn doubled_ranks(series: &[f64]) -> Vec<i64> {
    let mut order: Vec<usize> = (0..series.len()).collect();
    order.sort_by(|a, b| series[*a].total_cmp(&series[*b]));
    let mut ranks = vec![0; series.len()];
    let mut below = 0;
    for group in order.chunk_by(|a, b| series[*a] == series[*b]) {
        let doubled_mean = (2 * below + group.len() + 1) as i64;
        group.iter().for_each(|i| ranks[*i] = doubled_mean);
        below += group.len();
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_of_ties_are_shared() {
        assert_eq!(doubled_ranks(&[3.0, 1.0, 3.0, 2.0]), [7, 2, 7, 4]);
    }

    #[test]
    fn the_change_point_is_found() {
        let series: Vec<f64> = (0..40).map(|i| if i < 15 { 1.0 } else { 2.0 }).collect();
        let found = shift(&series).unwrap();
        // Every one of 15 lies below every one of 25.
        assert_eq!((found.at, found.k), (15, 375));
        assert!((found.p - 2.0 * (-6.0 * 375.0f64.powi(2) / 65_600.0).exp()).abs() < 1e-15);
        let falling: Vec<f64> = series.iter().map(|x| -x).collect();
        assert_eq!(shift(&falling).unwrap().k, -375);
    }

    #[test]
    fn a_constant_series_has_no_change_point() {
        assert_eq!(shift(&[1.0; 20]), None);
        assert_eq!(shift(&[]), None);
        assert_eq!(shift(&[1.0]), None);
    }

    #[test]
    fn a_line_has_a_change_point_with_little_evidence() {
        let mut random = fastrand::Rng::with_seed(8);
        let line: Vec<f64> = (0..60).map(|i| f64::from(i) + 8.0 * random.f64()).collect();
        let found = shift(&line).unwrap();
        // What two levels leave of a line depends on its neighbours, so that it is little evidence, too.
        assert!(found.k > 600 && found.p > 0.05, "{found:?}");
    }

    #[test]
    fn false_positives_are_no_more_frequent_than_stated_also_if_events_last() {
        let mut random = fastrand::Rng::with_seed(5);
        for lasting in [1, 3] {
            let chance = (0..2000).filter(|_| {
                let noise: Vec<f64> = (0..40 + lasting).map(|_| random.f64()).collect();
                let series: Vec<f64> = noise.windows(lasting).take(40).map(|window| window.iter().sum()).collect();
                shift(&series).unwrap().p < 0.05
            });
            let share = chance.count() as f64 / 2000.0;
            assert!(share < 0.055, "{lasting}: {share}");
        }
    }
}
