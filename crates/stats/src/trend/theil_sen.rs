//! The Theil–Sen estimator: the median of the slopes between all pairs of points.

/// The median slope of points (when, value). `when` ascends strictly. `scratch` is a buffer for the slopes
/// that calls can share.
pub fn theil_sen(when: &[f64], values: &[f64], scratch: &mut Vec<f64>) -> f64 {
    scratch.clear();
    for (i, (from, value)) in when.iter().zip(values).enumerate() {
        let later = when[i + 1..].iter().zip(&values[i + 1..]);
        scratch.extend(later.map(|(to, later)| (later - value) / (to - from)));
    }
    median(scratch)
}

/// The median; of an even number, the mean of the two in the middle; of nothing, 0.
pub fn median(values: &mut [f64]) -> f64 {
    let middle = values.len() / 2;
    if values.is_empty() {
        return 0.0;
    }
    let is_even = values.len().is_multiple_of(2);
    let (below, upper, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    let upper = *upper;
    if is_even { below.iter().copied().fold(f64::NEG_INFINITY, f64::max).midpoint(upper) } else { upper }
}

/// The trend score of Sketch Engine: the tangent of the angle of the growth, rounded to whole degrees. 3.08 is
/// 72°.
pub fn sketch_engine_score(growth: f64) -> f64 {
    growth.atan().to_degrees().round().to_radians().tan()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_outlier_does_not_change_the_slope() {
        let when: Vec<f64> = (0..9).map(f64::from).collect();
        let mut values: Vec<f64> = when.iter().map(|x| 3.0 + 2.0 * x).collect();
        values[4] = 1000.0;
        assert_eq!(theil_sen(&when, &values, &mut Vec::new()), 2.0);
    }

    #[test]
    fn gaps_in_time_count_as_time() {
        assert_eq!(theil_sen(&[0.0, 1.0, 5.0], &[0.0, 1.0, 5.0], &mut Vec::new()), 1.0);
    }

    #[test]
    fn medians_of_even_numbers_lie_between() {
        assert_eq!(median(&mut [4.0, 1.0, 3.0, 2.0]), 2.5);
        assert_eq!(median(&mut [3.0]), 3.0);
        assert_eq!(median(&mut []), 0.0);
        assert_eq!(theil_sen(&[1.0], &[1.0], &mut Vec::new()), 0.0);
    }

    #[test]
    fn scores_are_tangents_of_whole_degrees() {
        assert!((sketch_engine_score(3.1) - 72f64.to_radians().tan()).abs() < 1e-12);
        assert!((sketch_engine_score(2.36) - 67f64.to_radians().tan()).abs() < 1e-12);
        assert_eq!(sketch_engine_score(0.004), 0.0);
        assert!((sketch_engine_score(-1.0) + 1.0).abs() < 1e-12);
    }
}
