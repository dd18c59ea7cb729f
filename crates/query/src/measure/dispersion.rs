//! How evenly hits are spread: a word that fills one article should not outrank one that is everywhere.

/// Average reduced frequency: the number of hits that bunched hits are worth. `positions` ascend.
///
/// The corpus is cut into as many equal stretches as there are hits; the value is the number of
/// stretches with a hit, averaged over all ways to begin cutting. The corpus counts as a ring.
pub fn arf(positions: &[u64], tokens: u64) -> f64 {
    let stretch = tokens as f64 / positions.len() as f64;
    distances(positions, tokens).map(|distance| distance.min(stretch)).sum::<f64>() / stretch
}

/// Average logarithmic distance frequency: the same thought with an entropy in it.
pub fn aldf(positions: &[u64], tokens: u64) -> f64 {
    let entropy: f64 = distances(positions, tokens)
        .map(|distance| distance / tokens as f64)
        .map(|share| if share > 0.0 { -share * share.log2() } else { 0.0 })
        .sum();
    if positions.is_empty() { 0.0 } else { entropy.exp2() }
}

/// From each hit to the one before, for the first around the ring to the last.
fn distances(positions: &[u64], tokens: u64) -> impl Iterator<Item = f64> {
    let around = positions.last().map(|last| tokens as f64 - *last as f64 + positions[0] as f64);
    around.into_iter().chain(positions.windows(2).map(|pair| (pair[1] - pair[0]) as f64))
}

#[cfg(test)]
mod tests {
    use super::super::assert_near;
    use super::*;

    #[test]
    fn even_hits_are_worth_all_of_them() {
        assert_near(arf(&[0, 25, 50, 75], 100), 4.0);
        assert_near(aldf(&[0, 25, 50, 75], 100), 4.0);
    }

    #[test]
    fn bunched_hits_are_worth_little_more_than_one() {
        // Stretches of 25; distances 97, 1, 1, 1: (25 + 3) / 25.
        assert_near(arf(&[10, 11, 12, 13], 100), 1.12);
        assert!(aldf(&[10, 11, 12, 13], 100) < 1.3);
    }

    #[test]
    fn no_hits_are_worth_nothing() {
        assert_near(arf(&[], 100), 0.0);
        assert_near(aldf(&[], 100), 0.0);
        assert_near(arf(&[7], 100), 1.0);
    }
}
