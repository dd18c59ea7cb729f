//! Draws from the Gamma distribution.

/// Draws from Gamma(shape, scale 1) by the method of Marsaglia and Tsang (2000); shapes below one by the usual power of
/// a uniform variate.
pub fn gamma(rng: &mut fastrand::Rng, shape: f64) -> f64 {
    if shape < 1.0 {
        let power = open(rng).powf(1.0 / shape.max(1e-6));
        return gamma(rng, shape + 1.0) * power;
    }
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let x = normal(rng);
        let v = (1.0 + c * x).powi(3);
        if v > 0.0 && open(rng).ln() < 0.5 * x * x + d - d * v + d * v.ln() {
            return d * v;
        }
    }
}

/// A standard normal variate (polar method).
fn normal(rng: &mut fastrand::Rng) -> f64 {
    loop {
        let (x, y) = (rng.f64() * 2.0 - 1.0, rng.f64() * 2.0 - 1.0);
        let square = x * x + y * y;
        if square > 0.0 && square < 1.0 {
            return x * (-2.0 * square.ln() / square).sqrt();
        }
    }
}

/// A uniform variate above zero.
fn open(rng: &mut fastrand::Rng) -> f64 {
    1.0 - rng.f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_and_variance_are_the_shape() {
        let mut rng = fastrand::Rng::with_seed(7);
        for shape in [0.2, 0.7, 1.0, 3.5, 60.0] {
            let draws: Vec<f64> = (0..40_000).map(|_| gamma(&mut rng, shape)).collect();
            let mean = draws.iter().sum::<f64>() / draws.len() as f64;
            let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / draws.len() as f64;
            assert!((mean / shape - 1.0).abs() < 0.05, "mean {mean} of shape {shape}");
            assert!((variance / shape - 1.0).abs() < 0.12, "variance {variance} of shape {shape}");
        }
    }
}
