//! Dispersion: a word that fills one article should not outrank one that is everywhere.

/// Average reduced frequency (ARF; Savický and Hlaváčová 2002): the frequency corrected for clumping. `positions` ascend.
///
/// The corpus, taken as a ring, is cut into as many equal segments as there are hits; ARF is the number of
/// segments with a hit, averaged over all offsets of the cut.
pub fn arf(positions: &[u64], tokens: u64) -> f64 {
    let stretch = tokens as f64 / positions.len() as f64;
    distances(positions, tokens).map(|distance| distance.min(stretch)).sum::<f64>() / stretch
}

/// Average logarithmic distance frequency (ALDF): the exponential of the entropy of the distances.
pub fn aldf(positions: &[u64], tokens: u64) -> f64 {
    let entropy: f64 = distances(positions, tokens)
        .map(|distance| distance / tokens as f64)
        .map(|share| if share > 0.0 { -share * share.log2() } else { 0.0 })
        .sum();
    if positions.is_empty() { 0.0 } else { entropy.exp2() }
}

/// The distance of each hit from the one before; of the first, around the ring, from the last.
fn distances(positions: &[u64], tokens: u64) -> impl Iterator<Item = f64> {
    let around = positions.last().map(|last| tokens as f64 - *last as f64 + positions[0] as f64);
    around.into_iter().chain(positions.windows(2).map(|pair| (pair[1] - pair[0]) as f64))
}

#[cfg(test)]
mod tests {
    use super::super::assert_near;
    use super::*;

    #[test]
    fn evenly_spread_hits_keep_their_frequency() {
        assert_near(arf(&[0, 25, 50, 75], 100), 4.0);
        assert_near(aldf(&[0, 25, 50, 75], 100), 4.0);
    }

    #[test]
    fn clumped_hits_count_little_more_than_one() {
        // Segments of 25; distances 97, 1, 1, 1: (25 + 3) / 25.
        assert_near(arf(&[10, 11, 12, 13], 100), 1.12);
        assert!(aldf(&[10, 11, 12, 13], 100) < 1.3);
    }

    #[test]
    fn no_hits_have_frequency_zero() {
        assert_near(arf(&[], 100), 0.0);
        assert_near(aldf(&[], 100), 0.0);
        assert_near(arf(&[7], 100), 1.0);
    }
}
