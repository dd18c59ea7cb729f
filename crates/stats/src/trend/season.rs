//! Seasonality: words that come back every year.
//!
//! Two tests on detrended and clipped scores, because a single peak of a series of rates would be a season otherwise. A
//! sine wave of one year finds summers and winters; differences between twelfths of the year find words of a few weeks, such
//! as those of a feast. The smaller of the two p-values counts, corrected for the choice.

use super::site_series::independent_share;
use crate::measure::special::f_survival;
use std::f64::consts::TAU;

/// The yearly season of a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Season {
    /// The share of the variance of scores that the better of the two models explains (R²).
    pub strength: f64,
    /// The time of the peak, as a share of the year since time 0.
    pub peak: f64,
    /// The p-value.
    pub p: f64,
}

/// The parts of a year that are compared.
const TWELFTHS: usize = 12;

/// The standard deviations at which scores are clipped: an event of one year counts little.
const CLIP: f64 = 2.5;
/// The ratio of the logistic quantile to the normal one, about.
const LOGISTIC: f64 = 1.7;

/// Tests a series for a season. Points are probabilities, see [`super::site_series`]; `when` are the middles of the points' periods, ascending, and `per_year` is the length of a year, 12 for
/// months. Needs two years.
pub fn season(when: &[f64], scores: &[f64], per_year: f64) -> Option<Season> {
    let years = (when.last()? - when.first()? + 1.0) / per_year;
    if per_year < TWELFTHS as f64 || years < 2.0 || (scores.len() as f64) < 1.5 * TWELFTHS as f64 {
        return None;
    }
    let normal = |score: &f64| ((score / (1.0 - score)).ln() / LOGISTIC).clamp(-CLIP, CLIP);
    let residuals = without_line(when, &scores.iter().map(normal).collect::<Vec<f64>>());
    if residuals.iter().map(|x| x * x).sum::<f64>() <= 0.0 {
        return None;
    }
    let phases: Vec<f64> = when.iter().map(|when| (when / per_year).rem_euclid(1.0)).collect();
    let (wave, twelfths) = (wave(when, &phases, &residuals), twelfths(&phases, &residuals));
    let better = if wave.p <= twelfths.p { wave } else { twelfths };
    Some(Season { p: (2.0 * better.p).min(1.0), ..better })
}

/// Fits a sine wave of one year by least squares.
fn wave(when: &[f64], phases: &[f64], residuals: &[f64]) -> Season {
    let along = |function: fn(f64) -> f64| -> Vec<f64> {
        without_line(when, &phases.iter().map(|phase| function(TAU * phase)).collect::<Vec<_>>())
    };
    let (cos, sin) = (along(f64::cos), along(f64::sin));
    // The normal equations of the two amplitudes.
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    let (cc, ss, cs) = (dot(&cos, &cos), dot(&sin, &sin), dot(&cos, &sin));
    let (cr, sr) = (dot(&cos, residuals), dot(&sin, residuals));
    let determinant = (cc * ss - cs * cs).max(f64::MIN_POSITIVE);
    let (a, b) = ((cr * ss - sr * cs) / determinant, (sr * cc - cr * cs) / determinant);
    let strength = ((a * cr + b * sr) / dot(residuals, residuals)).clamp(0.0, 1.0);
    let rest: Vec<f64> = (0..residuals.len()).map(|at| residuals[at] - a * cos[at] - b * sin[at]).collect();
    let points = residuals.len() as f64 * independent_share(&rest);
    Season {
        strength,
        peak: (b.atan2(a) / TAU).rem_euclid(1.0),
        // The exact distribution of R² for normal noise, with two of n − 2 degrees of freedom.
        p: (1.0 - strength).powf((points - 4.0).max(0.0) / 2.0),
    }
}

/// Compares the means of the twelfths of the year (analysis of variance).
fn twelfths(phases: &[f64], residuals: &[f64]) -> Season {
    let part = |phase: &f64| ((phase * TWELFTHS as f64) as usize).min(TWELFTHS - 1);
    let (mut sums, mut counts) = ([0.0; TWELFTHS], [0.0; TWELFTHS]);
    for (phase, residual) in phases.iter().zip(residuals) {
        sums[part(phase)] += residual;
        counts[part(phase)] += 1.0;
    }
    let mean = |part: usize| if counts[part] > 0.0 { sums[part] / counts[part] } else { f64::NEG_INFINITY };
    let rest: Vec<f64> = phases.iter().zip(residuals).map(|(phase, residual)| residual - mean(part(phase))).collect();
    let between: f64 = (0..TWELFTHS).filter(|part| counts[*part] > 0.0).map(|part| mean(part) * sums[part]).sum();
    let strength = (between / residuals.iter().map(|x| x * x).sum::<f64>()).clamp(0.0, 1.0);
    let known = counts.iter().filter(|count| **count > 0.0).count();
    let points = residuals.len() as f64 * independent_share(&rest);
    // The mean and the slope are subtracted already.
    let (degrees, of_rest) = ((known.max(2) - 1) as f64, points - 1.0 - known as f64);
    let explained = strength.min(1.0 - 1e-12) / (1.0 - strength.min(1.0 - 1e-12));
    let highest = (0..TWELFTHS).max_by(|a, b| mean(*a).total_cmp(&mean(*b))).unwrap_or(0);
    Season {
        strength,
        peak: (highest as f64 + 0.5) / TWELFTHS as f64,
        p: f_survival(explained * of_rest / degrees, degrees, of_rest),
    }
}

/// Subtracts the mean and the linear trend.
fn without_line(when: &[f64], series: &[f64]) -> Vec<f64> {
    let n = series.len() as f64;
    let (middle, mean) = (when.iter().sum::<f64>() / n, series.iter().sum::<f64>() / n);
    let along: f64 = when.iter().zip(series).map(|(when, x)| (when - middle) * (x - mean)).sum();
    let square: f64 = when.iter().map(|when| (when - middle).powi(2)).sum();
    let slope = along / square.max(f64::MIN_POSITIVE);
    when.iter().zip(series).map(|(when, x)| x - mean - slope * (when - middle)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_months(scores: &[f64]) -> Option<Season> {
        let when: Vec<f64> = (0..scores.len()).map(|month| month as f64 + 0.5).collect();
        season(&when, scores, 12.0)
    }

    #[test]
    fn a_wave_has_a_season_and_a_peak() {
        let scores: Vec<f64> =
            (0..120).map(|month| 0.5 + 0.4 * (TAU * (f64::from(month) - 3.0) / 12.0).cos()).collect();
        let found = of_months(&scores).unwrap();
        assert!(found.strength > 0.9 && found.p < 1e-15, "{found:?}");
        assert!((found.peak - 3.5 / 12.0).abs() < 0.02, "{found:?}");
    }

    #[test]
    fn one_month_of_every_year_is_a_season_also_with_gaps() {
        let mut random = fastrand::Rng::with_seed(4);
        let all: Vec<(f64, f64)> = (0..72)
            .filter(|month| month % 31 != 7)
            .map(|month| (f64::from(month) + 0.5, if month % 12 == 11 { 0.99 } else { 0.3 + 0.3 * random.f64() }))
            .collect();
        let (when, scores): (Vec<f64>, Vec<f64>) = all.into_iter().unzip();
        let found = season(&when, &scores, 12.0).unwrap();
        assert!(found.p < 1e-3 && (found.peak * 12.0) as u32 == 11, "{found:?}");
    }

    #[test]
    fn noise_a_trend_or_one_peak_make_no_season() {
        let mut random = fastrand::Rng::with_seed(11);
        let noise: Vec<f64> = (0..120).map(|_| random.f64()).collect();
        assert!(of_months(&noise).unwrap().p > 0.01);
        let trend: Vec<f64> = (0..120).map(|month| (f64::from(month) + 5.0 * noise[month as usize]) / 126.0).collect();
        assert!(of_months(&trend).unwrap().p > 0.001);
        let flood: Vec<f64> = noise.iter().enumerate().map(|(i, x)| if i == 50 { 1.0 } else { *x }).collect();
        assert!(of_months(&flood).unwrap().p > 0.01);
    }

    /// The share of random series with p < 5 %; each point is the mean of `lasting` random numbers.
    fn by_chance(months: usize, lasting: usize) -> f64 {
        let mut random = fastrand::Rng::with_seed(3);
        let chance = (0..2000).filter(|_| {
            let noise: Vec<f64> = (0..months + lasting).map(|_| random.f64()).collect();
            let series: Vec<f64> =
                noise.windows(lasting).take(months).map(|window| window.iter().sum::<f64>() / lasting as f64).collect();
            of_months(&series).unwrap().p < 0.05
        });
        chance.count() as f64 / 2000.0
    }

    #[test]
    fn false_positives_are_no_more_frequent_than_stated() {
        for (months, lasting) in [(24, 1), (48, 1), (120, 1), (120, 3)] {
            let share = by_chance(months, lasting);
            assert!(share < 0.06, "{months} {lasting}: {share}");
        }
        assert!(by_chance(120, 1) > 0.01, "the test has no power");
    }

    #[test]
    fn one_year_is_too_short_for_a_season() {
        assert_eq!(of_months(&[0.2; 20]), None);
        assert_eq!(of_months(&[0.5; 30]), None);
        assert_eq!(of_months(&[]), None);
    }
}
