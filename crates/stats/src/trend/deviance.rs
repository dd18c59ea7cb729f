//! Deviance of counts: the likelihood ratio against the expected counts, which stays right where counts are few.
//!
//! Six hits where one is expected are five standard deviations, with a normal probability of 3 · 10⁻⁷; the Poisson
//! probability is 6 · 10⁻⁴. The signed root of the deviance is 3.4, which is about right. Counts of a site in a month are
//! mostly that small.

/// y ln (y / m), with 0 for no count.
fn log_term(count: f64, mean: f64) -> f64 {
    if count > 0.0 { count * (count / mean).ln() } else { 0.0 }
}

/// The excess over a Poisson mean whose signed root of the deviance is `root`. Newton's method.
pub fn excess_at(mean: f64, root: f64) -> f64 {
    let half = root * root / 2.0;
    // Above the solution, as the deviance is convex.
    let mut count = mean + root * mean.sqrt() + half;
    for _ in 0..6 {
        let slope = (count / mean).ln();
        if slope <= 0.0 {
            break;
        }
        count -= (log_term(count, mean) - (count - mean) - half) / slope;
    }
    (count - mean).max(0.0)
}

/// The signed root of the deviance of two counts that share a sum, of which one exceeds its expectation. `variance` is that
/// of the excess if hits are independent: a b / (a + b) for expectations of a and b.
pub fn signed_root(expected: f64, variance: f64, excess: f64) -> f64 {
    if expected <= 0.0 || variance <= 0.0 {
        return 0.0;
    }
    let other = expected * variance / (expected - variance).max(1e-9 * expected);
    let half = log_term(expected + excess, expected) + log_term(other - excess, other);
    (2.0 * half).max(0.0).sqrt() * excess.signum()
}

/// The share of an excess whose signed root has at most this size. Bisection.
pub fn excess_within(expected: f64, variance: f64, excess: f64, root: f64) -> f64 {
    if signed_root(expected, variance, excess).abs() <= root {
        return excess;
    }
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..40 {
        let middle = (low + high) / 2.0;
        match signed_root(expected, variance, excess * middle).abs() <= root {
            true => low = middle,
            false => high = middle,
        }
    }
    excess * low
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::special::normal_two_sided;

    #[test]
    fn few_hits_have_about_their_poisson_probability() {
        // P(y ≥ 6 | 1) = 5.9e-4.
        let root = signed_root(1.0, 1.0, 5.0);
        let p = normal_two_sided(root) / 2.0;
        assert!((3e-4..7e-4).contains(&p), "{p}");
        // Many counts have the normal one.
        assert!((signed_root(1e6, 5e5, 1000.0) - 1000.0 / 5e5f64.sqrt()).abs() < 1e-3);
        assert!((signed_root(1e6, 5e5, -1000.0) + signed_root(1e6, 5e5, 1000.0)).abs() < 1e-6);
    }

    #[test]
    fn an_excess_is_found_by_its_root() {
        for (mean, root) in [(1e-3, 2.5), (0.5, 4.0), (30.0, 2.5), (1e4, 8.0)] {
            let excess = excess_at(mean, root);
            assert!((signed_root(mean, mean, excess) / root - 1.0).abs() < 1e-3, "{mean} {root} {excess}");
        }
        let limited = excess_within(2.0, 1.5, 40.0, 2.5);
        assert!((signed_root(2.0, 1.5, limited) - 2.5).abs() < 1e-6, "{limited}");
        assert_eq!(excess_within(2.0, 1.5, 0.5, 2.5), 0.5);
        assert!(excess_within(2.0, 1.5, -1.9, 1.0) > -1.9);
    }

    #[test]
    fn nothing_expected_has_no_deviance() {
        assert_eq!((signed_root(0.0, 0.0, 1.0), excess_at(0.0, 2.5)), (0.0, 0.0));
        assert!(signed_root(3.0, 2.0, -3.0).is_finite() && signed_root(3.0, 3.0, 9.0).is_finite());
    }
}
