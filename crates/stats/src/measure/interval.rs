//! Confidence intervals of counts, rates and shares.
//!
//! The intervals assume independent hits. Words clump in documents, so that the true uncertainty is
//! larger; `spread` widens the interval by the overdispersion that [`bunching`] estimates.

use super::special::gamma_quantile;
use std::sync::OnceLock;

answer! {
    /// The interval of a value, with the confidence that was asked for.
    #[derive(Copy)]
    pub struct Band {
        /// The lower end.
        #[schemars(with = "Option<f64>")]
        pub low: f64,
        /// The upper end.
        #[schemars(with = "Option<f64>")]
        pub high: f64,
    }
}

/// The count from which an approximation replaces the search for quantiles.
const MANY_HITS: f64 = 2_000.0;

/// The exact confidence interval of a Poisson mean (Garwood 1936).
pub fn poisson_band(hits: f64, confidence: f64) -> Band {
    if hits > MANY_HITS {
        // The Wilson–Hilferty approximation: six digits here, and a hundred times faster.
        let z = (2.0 * gamma_quantile(0.5, confidence)).sqrt();
        let end = |shape: f64, z: f64| shape * (1.0 - 1.0 / (9.0 * shape) + z / (3.0 * shape.sqrt())).powi(3);
        return Band { low: end(hits, -z), high: end(hits + 1.0, z) };
    }
    let search = || {
        let outside = (1.0 - confidence) / 2.0;
        let low = if hits > 0.0 { gamma_quantile(hits, outside) } else { 0.0 };
        Band { low, high: gamma_quantile(hits + 1.0, 1.0 - outside) }
    };
    match USUAL_BANDS.get(hits as usize) {
        Some(known) if confidence == USUAL_CONFIDENCE && hits.fract() == 0.0 => *known.get_or_init(search),
        _ => search(),
    }
}

/// A cache: a chart of ten years of weeks has five hundred intervals, nearly all of few hits and of one confidence level.
static USUAL_BANDS: [OnceLock<Band>; MANY_HITS as usize + 1] = [const { OnceLock::new() }; MANY_HITS as usize + 1];
const USUAL_CONFIDENCE: f64 = 0.95;

/// The confidence interval of a rate per million tokens. `spread` is the overdispersion, that is, the ratio of
/// the variance to that of independent hits (1 if unknown); it divides the effective number of hits.
pub fn rate_band(hits: f64, tokens: f64, spread: f64, confidence: f64) -> Option<Band> {
    if tokens <= 0.0 {
        return None;
    }
    let spread = spread.max(1.0);
    let band = poisson_band(hits / spread, confidence);
    let scale = spread * 1e6 / tokens;
    Some(Band { low: band.low * scale, high: band.high * scale })
}

/// The overdispersion of hits if each document with hits has a geometrically distributed number of them:
/// E n² / E n = 2 b − 1 for a mean of b.
pub fn bunching(hits: f64, documents: f64) -> f64 {
    if documents > 0.0 { (2.0 * hits / documents - 1.0).max(1.0) } else { 1.0 }
}

/// The Wilson score interval of a share, such as documents with a hit among all documents.
pub fn wilson_band(part: f64, whole: f64, confidence: f64) -> Option<Band> {
    if whole <= 0.0 {
        return None;
    }
    // The square of a normal variable is a gamma variable of shape ½ and scale 2.
    let z2 = 2.0 * gamma_quantile(0.5, confidence);
    let share = part / whole;
    let centre = share + z2 / (2.0 * whole);
    let half = (z2 * (share * (1.0 - share) / whole + z2 / (4.0 * whole * whole))).max(0.0).sqrt();
    let scale = 1.0 + z2 / whole;
    Some(Band { low: ((centre - half) / scale).max(0.0), high: ((centre + half) / scale).min(1.0) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: Band, low: f64, high: f64) {
        assert!((found.low - low).abs() < 5e-5 && (found.high - high).abs() < 5e-5, "{found:?}, not {low} to {high}");
    }

    #[test]
    fn intervals_of_counts_equal_published_tables() {
        near(poisson_band(0.0, 0.95), 0.0, 3.6889);
        near(poisson_band(1.0, 0.95), 0.0253, 5.5716);
        near(poisson_band(10.0, 0.95), 4.7954, 18.3904);
        near(poisson_band(100.0, 0.95), 81.3640, 121.6268);
    }

    #[test]
    fn the_approximation_for_many_hits_agrees_with_the_exact_interval() {
        let (below, above) = (poisson_band(MANY_HITS, 0.95), poisson_band(MANY_HITS + 0.001, 0.95));
        assert!((below.low / above.low - 1.0).abs() < 2e-6 && (below.high / above.high - 1.0).abs() < 2e-6);
    }

    #[test]
    fn shares_have_wilson_intervals() {
        near(wilson_band(10.0, 100.0, 0.95).unwrap(), 0.05523, 0.17437);
        near(wilson_band(0.0, 10.0, 0.95).unwrap(), 0.0, 0.27753);
        assert_eq!(wilson_band(0.0, 0.0, 0.95), None);
    }

    #[test]
    fn clumped_hits_widen_the_interval() {
        let even = rate_band(100.0, 1e6, 1.0, 0.95).unwrap();
        let bunched = rate_band(100.0, 1e6, bunching(100.0, 40.0), 0.95).unwrap();
        assert_eq!((bunching(100.0, 40.0), bunching(0.0, 0.0)), (4.0, 1.0));
        assert!(bunched.low < even.low && bunched.high > even.high);
        assert_eq!(rate_band(0.0, 0.0, 1.0, 0.95), None);
    }
}
