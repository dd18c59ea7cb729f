//! Multiple testing: of 72,000 words without a trend, 720 have p < 0.01.

/// The q-values of Benjamini and Hochberg (1995), which control the false discovery rate: rows with q ≤ 0.05
/// have about 5 % false positives, however many were tested.
///
/// `tested` may exceed the number of p-values: the rest count as 1.
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

/// The same with weights of any scale (Genovese, Roeder and Wasserman 2006). Weights must not depend on what is
/// tested: the number of documents with a word tells whether a trend could be seen at all, and not whether there
/// is one.
pub fn weighted_discovery(p: &[f64], weights: &[f64]) -> Vec<f64> {
    let mean = weights.iter().sum::<f64>() / weights.len().max(1) as f64;
    let weighted: Vec<f64> = p.iter().zip(weights).map(|(p, weight)| p * mean / weight).collect();
    false_discovery(&weighted, p.len())
}

/// The same for tests that have one p-value below 1 (Heyse 2011): `attainable` has that of every word tested, which is the
/// probability to attain it by chance, and `p` those that were attained. The words expected by chance are thus the sum of
/// what can be attained, and the many rare words that cannot attain a small p-value cost the others nothing.
pub fn discrete_discovery(p: &[f64], attainable: &[f64]) -> Vec<f64> {
    let mut attainable = attainable.to_vec();
    attainable.sort_by(f64::total_cmp);
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|a, b| p[*a].total_cmp(&p[*b]));
    let (mut expected, mut next) = (0.0, 0);
    let mut q = vec![1.0; p.len()];
    for equal in order.chunk_by(|a, b| p[*a] == p[*b]) {
        while next < attainable.len() && attainable[next] <= p[equal[0]] {
            expected += attainable[next];
            next += 1;
        }
        equal.iter().for_each(|word| q[*word] = expected);
    }
    let mut least: f64 = 1.0;
    for (behind, word) in order.iter().rev().enumerate() {
        least = least.min(q[*word] / (p.len() - behind) as f64);
        q[*word] = least;
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
    fn heavier_tests_pass_more_easily() {
        let q = weighted_discovery(&[0.03, 0.03, 0.9, 0.9], &[3.0, 1.0, 2.0, 2.0]);
        assert!(q[0] < 0.1 && q[1] > 0.1, "{q:?}");
        assert_eq!(weighted_discovery(&[0.01, 0.5], &[7.0, 7.0]), false_discovery(&[0.01, 0.5], 2));
    }

    #[test]
    fn tests_without_a_p_value_count() {
        assert_eq!(false_discovery(&[0.001], 10), [0.01]);
        assert!(false_discovery(&[], 10).is_empty());
    }
    #[test]
    fn words_that_cannot_attain_a_small_p_value_cost_the_others_nothing() {
        let rare = vec![0.01; 1000];
        let all: Vec<f64> = rare.iter().copied().chain([1e-6, 1e-4]).collect();
        // Eleven rare words attained their p-value, about as many as expected by chance.
        let attained: Vec<f64> = rare[..11].iter().copied().chain([1e-6, 1e-4]).collect();
        let q = discrete_discovery(&attained, &all);
        assert!(q[0] > 0.7 && q[10] == q[0], "{q:?}");
        assert!((q[11] - 1e-6).abs() < 1e-12 && (q[12] - 1.01e-4 / 2.0).abs() < 1e-12, "{q:?}");
        assert!(discrete_discovery(&[], &all).is_empty());
    }
}
