//! Seasonality: words that come back every year.
//!
//! Fits a sine wave of one year to the detrended ranks of the rates. Ranks, because otherwise a single peak
//! would be a season.

use super::shift::doubled_ranks;
use std::f64::consts::TAU;

/// The yearly season of a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Season {
    /// The share of the variance of ranks that the wave explains (R²).
    pub strength: f64,
    /// The time of the peak, as a share of the year since the first point.
    pub peak: f64,
    /// The autocorrelation of ranks at a lag of one year.
    pub autocorrelation: f64,
    /// The p-value.
    pub p: f64,
}

/// Fits a wave. `per_year` is the number of points per year, 12 for months. Needs two years.
pub fn season(series: &[f64], per_year: f64) -> Option<Season> {
    let n = series.len();
    if per_year < 3.0 || (n as f64) < 2.0 * per_year {
        return None;
    }
    let ranks: Vec<f64> = doubled_ranks(series).into_iter().map(|rank| rank as f64).collect();
    let residuals = without_line(&ranks);
    let variance: f64 = residuals.iter().map(|x| x * x).sum();
    if variance <= 0.0 {
        return None;
    }
    let wave = |function: fn(f64) -> f64| -> Vec<f64> {
        without_line(&(0..n).map(|i| function(TAU * i as f64 / per_year)).collect::<Vec<_>>())
    };
    let (cos, sin) = (wave(f64::cos), wave(f64::sin));
    // The normal equations of the two amplitudes.
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    let (cc, ss, cs) = (dot(&cos, &cos), dot(&sin, &sin), dot(&cos, &sin));
    let (cr, sr) = (dot(&cos, &residuals), dot(&sin, &residuals));
    let determinant = cc * ss - cs * cs;
    let (a, b) = ((cr * ss - sr * cs) / determinant, (sr * cc - cr * cs) / determinant);
    let strength = ((a * cr + b * sr) / variance).clamp(0.0, 1.0);
    let lag = per_year.round() as usize;
    Some(Season {
        strength,
        peak: (b.atan2(a) / TAU).rem_euclid(1.0),
        autocorrelation: dot(&residuals[..n - lag], &residuals[lag..]) / variance * n as f64 / (n - lag) as f64,
        // The exact distribution of R² for normal noise, with two of n − 2 degrees of freedom.
        p: (1.0 - strength).powf((n as f64 - 4.0) / 2.0),
    })
}

/// Subtracts the mean and the linear trend.
fn without_line(series: &[f64]) -> Vec<f64> {
    let n = series.len() as f64;
    let (middle, mean) = ((n - 1.0) / 2.0, series.iter().sum::<f64>() / n);
    let along: f64 = series.iter().enumerate().map(|(i, x)| (i as f64 - middle) * (x - mean)).sum();
    let square = n * (n * n - 1.0) / 12.0;
    let slope = along / square;
    series.iter().enumerate().map(|(i, x)| x - mean - slope * (i as f64 - middle)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wave_has_a_season_and_a_peak() {
        let series: Vec<f64> = (0..120).map(|month| 5.0 + (TAU * (f64::from(month) - 3.0) / 12.0).cos()).collect();
        let found = season(&series, 12.0).unwrap();
        assert!(found.strength > 0.9 && found.p < 1e-20, "{found:?}");
        assert!((found.peak - 0.25).abs() < 0.02, "{found:?}");
        assert!(found.autocorrelation > 0.9, "{found:?}");
    }

    #[test]
    fn noise_a_trend_or_one_peak_make_no_season() {
        let mut random = fastrand::Rng::with_seed(11);
        let noise: Vec<f64> = (0..120).map(|_| random.f64()).collect();
        assert!(season(&noise, 12.0).unwrap().p > 0.01);
        let trend: Vec<f64> = (0..120).map(|month| f64::from(month) + 5.0 * noise[month as usize]).collect();
        assert!(season(&trend, 12.0).unwrap().p > 0.001);
        let flood: Vec<f64> = noise.iter().enumerate().map(|(i, x)| if i == 50 { 1000.0 } else { *x }).collect();
        assert!(season(&flood, 12.0).unwrap().p > 0.01);
    }

    #[test]
    fn false_positives_are_as_rare_as_stated() {
        let mut random = fastrand::Rng::with_seed(3);
        let chance = (0..4000).filter(|_| {
            let noise: Vec<f64> = (0..48).map(|_| random.f64()).collect();
            season(&noise, 12.0).unwrap().p < 0.05
        });
        let share = chance.count() as f64 / 4000.0;
        assert!((0.03..0.07).contains(&share), "{share}");
    }

    #[test]
    fn one_year_is_too_short_for_a_season() {
        assert_eq!(season(&[1.0, 2.0, 3.0, 4.0, 5.0], 4.0), None);
        assert_eq!(season(&[1.0; 30], 12.0), None);
    }
}
