//! Many tests at once: of 72,000 words that do nothing, 720 do it with p < 0.01.

/// Benjamini and Hochberg: for each p the smallest share of false ones among everything at least as
/// sure. Rows with q ≤ 0.05 hold about 5 % false ones, however many were tested.
///
/// `tested` may exceed the number of given p: those left out count as 1.
pub fn false_discovery(p: &[f64], tested: usize) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|a, b| p[*b].total_cmp(&p[*a]));
    let tested = tested.max(p.len()) as f64;
    let mut q = vec![1.0; p.len()];
    let mut least: f64 = 1.0;
    for (behind, &i) in order.iter().enumerate() {
        let rank = (p.len() - behind) as f64;
        least = least.min(p[i] * tested / rank);
        q[i] = least;
    }
    q
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q_is_p_times_tests_by_rank_and_never_falls() {
        let q = false_discovery(&[0.01, 0.04, 0.03, 0.005], 4);
        let expected = [0.02, 0.04, 0.04, 0.02];
        assert!(q.iter().zip(expected).all(|(q, e)| (q - e).abs() < 1e-12), "{q:?}");
    }

    #[test]
    fn tests_that_found_nothing_count() {
        assert_eq!(false_discovery(&[0.001], 10), [0.01]);
        assert!(false_discovery(&[], 10).is_empty());
    }
}
