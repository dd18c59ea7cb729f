//! The yield weight of a feed: how much clean text its entries gave so far.

/// Weight of the prior, in average pages.
const PRIOR_PAGES: f64 = 20.0;
/// Bounds: no feed is abandoned for its yield, and none takes the polls of all others.
const MIN_WEIGHT: f64 = 0.1;
const MAX_WEIGHT: f64 = 4.0;

/// The weight of an entry relative to the average: clean bytes per page, shrunk towards `usual`, the mean of all feeds.
pub fn yield_weight(clean_bytes: u64, pages: u64, usual: f64) -> f64 {
    if usual <= 0.0 {
        return 1.0;
    }
    let mean = (clean_bytes as f64 + PRIOR_PAGES * usual) / (pages as f64 + PRIOR_PAGES);
    (mean / usual).clamp(MIN_WEIGHT, MAX_WEIGHT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_weight_follows_the_yield_once_there_are_enough_pages() {
        assert_eq!(yield_weight(0, 0, 2000.0), 1.0);
        assert!(yield_weight(0, 5, 2000.0) > 0.7);
        assert_eq!(yield_weight(0, 10_000, 2000.0), MIN_WEIGHT);
        assert!((yield_weight(4000 * 1000, 1000, 2000.0) - 1.98).abs() < 0.01);
        assert_eq!(yield_weight(u64::MAX, 1, 2000.0), MAX_WEIGHT);
        assert_eq!(yield_weight(5, 5, 0.0), 1.0);
    }
}
