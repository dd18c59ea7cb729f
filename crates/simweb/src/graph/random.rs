//! Distributions of the graph, on top of the reproducible generator.

use crate::rng::{Rng, mix};

/// Folds names into one key, for texts and pages.
pub fn key(names: &[u64]) -> u64 {
    Rng::named(names).bits()
}

/// The key of a string (FNV-1a, mixed).
pub fn text_key(text: &str) -> u64 {
    let hash = text
        .bytes()
        .fold(0xCBF2_9CE4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3));
    mix(hash)
}

/// A standard normal number (Box-Muller transform).
pub fn normal(rng: &mut Rng) -> f64 {
    let radius = (-2.0 * (1.0 - rng.unit()).ln()).sqrt();
    radius * (std::f64::consts::TAU * rng.unit()).cos()
}

/// A lognormal number with this mean and this standard deviation of its logarithm.
pub fn lognormal(rng: &mut Rng, mean: f64, sigma: f64) -> f64 {
    mean * (sigma * normal(rng) - sigma * sigma / 2.0).exp()
}

/// A number of the Beta distribution (Jöhnk's method).
pub fn beta(rng: &mut Rng, a: f64, b: f64) -> f64 {
    loop {
        let (x, y) = (rng.unit().powf(1.0 / a), rng.unit().powf(1.0 / b));
        if x + y <= 1.0 && x + y > 0.0 {
            return x / (x + y);
        }
    }
}

/// A number of the Pareto distribution with minimum 1.
pub fn pareto(rng: &mut Rng, exponent: f64) -> f64 {
    (1.0 - rng.unit()).powf(-1.0 / exponent)
}

/// The index of a draw by weights, which must not be all zero.
pub fn weighted(rng: &mut Rng, weights: impl Iterator<Item = u64> + Clone) -> usize {
    let mut left = rng.below(weights.clone().sum());
    for (index, weight) in weights.enumerate() {
        if left < weight {
            return index;
        }
        left -= weight;
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean(draw: impl Fn(&mut Rng) -> f64) -> f64 {
        let mut rng = Rng::named(&[3]);
        (0..20_000).map(|_| draw(&mut rng)).sum::<f64>() / 20_000.0
    }

    #[test]
    fn the_distributions_have_their_means() {
        assert!(mean(normal).abs() < 0.03);
        assert!((mean(|rng| lognormal(rng, 5.0, 1.0)) - 5.0).abs() < 0.3);
        assert!((mean(|rng| beta(rng, 1.2, 2.0)) - 0.375).abs() < 0.01);
        assert!((mean(|rng| pareto(rng, 3.0)) - 1.5).abs() < 0.05);
    }

    #[test]
    fn a_draw_by_weights_never_takes_a_weight_of_zero() {
        let mut rng = Rng::named(&[4]);
        assert!((0..1000).all(|_| [0, 2].contains(&weighted(&mut rng, [3, 0, 1].into_iter()))));
    }
}
