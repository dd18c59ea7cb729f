//! Statistics of counts: association, keyness, dispersion, confidence intervals, change of contexts.
//!
//! Pure functions of counts. A count is an `f64` here: whole numbers are exact up to 2^53, and sums of
//! weights fit as well.

pub mod association;
pub mod context_shift;
pub mod dispersion;
pub mod interval;
pub mod keyness;
pub mod special;

pub use association::{Association, Pair};
pub use context_shift::{ContextSamples, ContextShift};
pub use dispersion::{aldf, arf, overdispersion_of_neighbours};
pub use interval::{Band, bunching, poisson_band, rate_band, wilson_band};
pub use keyness::{Contrast, Keyness};

/// x ln x, with 0 ln 0 = 0.
pub(crate) fn x_ln_x(x: f64) -> f64 {
    if x > 0.0 { x * x.ln() } else { 0.0 }
}

/// Hits per million tokens.
pub fn per_million(hits: f64, tokens: f64) -> Option<f64> {
    (tokens > 0.0).then(|| hits / tokens * 1e6)
}

/// The share of a part in a whole; `None` if the whole is nothing.
pub fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

#[cfg(test)]
pub(crate) fn assert_near(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-9 * expected.abs().max(1.0), "{found} instead of {expected}");
}
